"""Sums of arrays: by NumPy and by JAX the same, and exact for whole and half numbers."""

import jax.numpy as jnp
import numpy as np
import pytest

from dmfroc._kit.arrays import cumulative_sum, map_rows, sum_at
from dmfroc._kit.compiled import in_double_precision
from dmfroc.measures.statistics.pairs import segment_sum

generator = np.random.default_rng(0)


def by_both(function, *arrays):
    """Return what NumPy and what JAX make of a function, as arrays of NumPy."""
    with in_double_precision():
        by_jax = np.asarray(function(*map(jnp.asarray, arrays), jnp))
    return function(*arrays, np), by_jax


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1,), (5,), (256,), (257,), (3, 1000), (2, 3, 40), (100_000,)])
def test_cumulative_sums_are_exact_for_half_numbers(shape):
    x = generator.integers(0, 9, size=shape) / 2
    found, by_jax = by_both(cumulative_sum, x)
    expected = np.concatenate([np.zeros((*shape[:-1], 1)), np.cumsum(x, axis=-1)], axis=-1)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(by_jax, expected)


def test_cumulative_sums_of_any_numbers_agree():
    found, by_jax = by_both(cumulative_sum, generator.normal(size=(2, 3000)))
    np.testing.assert_allclose(found, by_jax, rtol=0, atol=1e-11)


def test_numbers_of_a_place_are_added_and_others_left_out():
    places, numbers = np.array([[2, 0, 2], [5, 1, 4]]), np.array([[1.0, 2, 3], [4, 5, 6]])
    for found in by_both(lambda p, x, xp: sum_at(p, x, 4, xp), places, numbers):
        np.testing.assert_array_equal(found, [2, 5, 4, 0])


def test_segments_are_added():
    x, starts, segment = np.arange(6.0), np.array([0, 1, 4]), np.array([0, 1, 1, 1, 2, 2])
    for found in by_both(segment_sum, x, starts, segment):
        np.testing.assert_array_equal(found, [0, 6, 9])


def test_rows_are_mapped_in_order():
    x, y = generator.normal(size=(4, 3)), generator.normal(size=4)

    def double(x, y, xp):
        return map_rows(lambda rows: xp.sort(rows[0]) * rows[1], x, y, xp=xp)

    for found in by_both(double, x, y):
        np.testing.assert_allclose(found, np.sort(x) * y[:, None], rtol=1e-15)
