"""Lending: on which scale the variances of classes are comparable."""

import numpy as np
import pytest

from dmfroc.inference.influences import Moments, pooled_variances, size_exponents

SIZES = np.array([900, 300, 100, 30, 3])


def lent_by(sizes, variances):
    own = sizes - 1
    return pooled_variances(sizes, own, variances, own.astype(float))


def test_classes_of_equal_size_lend_what_they_have_in_common():
    variances = np.array([1.0, 2.0, 4.0, 0.0])
    np.testing.assert_allclose(lent_by(np.full(4, 30), variances), 1.75, rtol=1e-12)


def test_equal_variances_are_pooled_as_they_are():
    np.testing.assert_allclose(lent_by(SIZES, np.full(5, 0.3)), 0.3, rtol=1e-12)


@pytest.mark.parametrize("exponent", [2, -1])
def test_variances_that_follow_the_sizes_are_carried_along(exponent):
    """As those of accuracy are: the prior and the doubt cost some per cent of the exponent."""
    variances = 0.3 * (SIZES / 900) ** exponent
    found = np.log(lent_by(SIZES, variances) / variances)
    assert np.abs(found[:3]).max() < 0.1
    assert np.abs(found[3:]).max() < 0.5


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_not_taken_for_a_scale(seed):
    """Variances of equal truth: only beyond three standard errors is there an exponent."""
    generator = np.random.default_rng(seed)
    variances = generator.chisquare(SIZES - 1) / (SIZES - 1)
    own = SIZES - 1
    assert (size_exponents(SIZES, variances, own.astype(float)) == 0).all()
    found = lent_by(SIZES, variances)
    np.testing.assert_allclose(found, own @ variances / own.sum() * np.ones(5), rtol=1e-12)


def test_what_a_class_borrows_does_not_rest_on_its_own_variance():
    variances = 0.3 * (SIZES / 900) ** 2.0
    own = SIZES - 1
    exponents = [
        size_exponents(SIZES, np.append(variances[:4], last), own.astype(float))[4]
        for last in (0.0, 1.0)
    ]
    assert exponents[0] == exponents[1] > 1.8


@pytest.mark.parametrize("unit", [1e-12, 1e6])
def test_the_scale_does_not_depend_on_the_unit_of_the_variances(unit):
    variances, own = 0.3 * (SIZES / 900) ** 0.4, (SIZES - 1).astype(float)
    exponents = size_exponents(SIZES, variances, own)
    assert (exponents != 0).any()
    np.testing.assert_allclose(size_exponents(SIZES, unit * variances, own), exponents, rtol=1e-6)


def test_a_class_without_a_rare_event_says_nothing_of_the_scale():
    """A few large influences in one class, none in the others: the kurtosis is that of all."""
    sizes = np.array([150, 60, 30, 5])
    kurtoses = np.array([140.0, 0.0, 0.0, 0.0])
    moments = Moments(sizes, np.array([0.01, 0.0, 0.0, 0.0]), kurtoses, 5)
    np.testing.assert_allclose(moments.pooled, 0.01 * 149 / (sizes - 1).sum(), rtol=1e-12)


def test_variances_of_zero_are_lent():
    np.testing.assert_array_equal(lent_by(SIZES, np.zeros(5)), 0)
    assert np.isfinite(lent_by(SIZES, np.array([1.0, 0, 0, 0, 0]))).all()
    single = np.array([1, 1])
    np.testing.assert_array_equal(lent_by(single, np.zeros(2)), 0)
