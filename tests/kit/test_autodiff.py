"""Linear maps and their transposes, and what is differentiated of a table."""

from typing import NamedTuple

import autograd
import autograd.numpy as differentiated_numpy
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dmfroc._kit.arrays import (
    after,
    before,
    constant,
    last,
    take,
    value_and_derivatives,
    value_and_pull_back,
)
from dmfroc._kit.compiled import in_double_precision

X = np.random.default_rng(0).normal(size=(2, 3, 5))
PLACES = np.array([0, 4, 4, 2])[None, None].repeat(2, 0).repeat(3, 1)

MAPS = {
    "before": lambda x, xp: before(x),
    "after": lambda x, xp: after(x),
    "last": lambda x, xp: last(x),
    "take": lambda x, xp: take(x, PLACES, xp),
}


@pytest.mark.parametrize("name", MAPS)
def test_maps_and_their_transposes_are_those_of_jax(name):
    of = MAPS[name]
    weights = np.random.default_rng(1).normal(size=of(X, np).shape)

    def summary(x, xp):
        return (weights * of(x, xp) ** 2).sum()

    with in_double_precision():
        expected, slope = jax.value_and_grad(lambda x: summary(x, jnp))(jnp.asarray(X))
        expected, slope = float(expected), np.asarray(slope)
    assert summary(X, np) == pytest.approx(expected, rel=1e-14)
    value, found = autograd.value_and_grad(summary)(X, differentiated_numpy)
    assert value == summary(X, np)
    np.testing.assert_allclose(found, slope, rtol=0, atol=1e-14)


def test_constants_have_no_derivative():
    def product(x, xp):
        return (constant(x, xp) * x).sum()

    assert product(X, np) == (X**2).sum()
    np.testing.assert_array_equal(autograd.grad(product)(X, differentiated_numpy), X)
    with in_double_precision():
        np.testing.assert_array_equal(jax.grad(lambda x: product(x, jnp))(jnp.asarray(X)), X)


class Counts(NamedTuple):
    cells: np.ndarray
    totals: np.ndarray
    places: np.ndarray
    share: float


COUNTS = Counts(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([3.0, 7.0]), np.array([1, 0]), 0.5)


def ratio(counts, xp):
    return (counts.cells[counts.places].sum() / counts.totals.sum()) * counts.share


def test_derivatives_are_those_with_respect_to_the_tables_real_numbers():
    value, derivatives = value_and_derivatives(ratio, COUNTS)
    assert value == 0.5
    np.testing.assert_allclose(derivatives.cells, np.full((2, 2), 0.05))
    np.testing.assert_allclose(derivatives.totals, np.full(2, -0.05))
    assert derivatives.places is COUNTS.places
    assert derivatives.share == 0.5


def test_several_numbers_are_pulled_back_one_by_one():
    def both(counts, xp):
        return xp.stack([ratio(counts, xp), counts.cells[0, 1] ** 2])

    values, pull_back = value_and_pull_back(both, COUNTS)
    assert values.tolist() == [0.5, 4.0]
    np.testing.assert_allclose(pull_back(np.array([1.0, 0.0])).cells, np.full((2, 2), 0.05))
    np.testing.assert_allclose(pull_back(np.array([0.0, 1.0])).cells, [[0, 4], [0, 0]])
    np.testing.assert_allclose(pull_back(np.array([0.0, 1.0])).totals, 0)


def test_what_a_summary_does_not_use_has_the_derivative_zero():
    _, derivatives = value_and_derivatives(lambda counts, xp: counts.cells.sum(), COUNTS)
    np.testing.assert_array_equal(derivatives.totals, [0, 0])
