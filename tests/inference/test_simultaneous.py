"""Several inferences at once: quantiles of the largest statistic, in known cases."""

import numpy as np
import pytest
from scipy import stats

from dmfroc.inference.simultaneous import largest_statistic, pairwise_differences


@pytest.mark.parametrize("n", [2, 5])
def test_independent_statistics_have_sidaks_level(n):
    largest = largest_statistic(np.diag(np.arange(1.0, n + 1)), np.eye(n), 0)
    assert largest.level_of_each(0.95) == pytest.approx(0.95 ** (1 / n), abs=0.002)
    assert largest.adjusted(0.02) == pytest.approx(1 - 0.98**n, abs=0.003)


def test_equal_statistics_need_no_adjustment():
    largest = largest_statistic(np.ones((3, 3)), np.eye(3), 0)
    assert largest.level_of_each(0.95) == pytest.approx(0.95, abs=0.002)
    assert largest.adjusted(0.03) == pytest.approx(0.03, abs=0.002)


def test_all_differences_of_independent_values_have_tukeys_quantile():
    largest = largest_statistic(np.eye(4), pairwise_differences(4), 0)
    quantile = stats.studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    assert largest.level_of_each(0.95) == pytest.approx(1 - 2 * stats.norm.sf(quantile), abs=0.0015)


def test_differences_without_variance_do_not_count():
    covariance = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    largest = largest_statistic(covariance, pairwise_differences(3), 0)
    assert largest.n_statistics == 2
    assert largest_statistic(np.ones((2, 2)), pairwise_differences(2), 0).level_of_each(0.9) == 0.9


def test_one_sided_draws_are_not_symmetric():
    one_sided = largest_statistic(np.eye(3), np.eye(3), 0, two_sided=False)
    assert one_sided.level_of_each(0.95) == pytest.approx(0.95 ** (1 / 3), abs=0.002)
    assert np.median(one_sided.draws) == pytest.approx(stats.norm.ppf(0.5 ** (1 / 3)), abs=0.02)


def test_adjusted_p_values_are_at_least_the_p_value_and_at_most_bonferronis():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    largest = largest_statistic(root @ root.T, pairwise_differences(6), 0)
    p_values = np.geomspace(1e-12, 1, 20)
    adjusted = np.array([largest.adjusted(p) for p in p_values])
    assert (np.diff(adjusted) >= 0).all()
    assert (p_values <= adjusted).all()
    assert (adjusted <= np.minimum(1, 15 * p_values) + 1e-12).all()


def test_levels_and_p_values_agree():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5))
    largest = largest_statistic(root @ root.T, pairwise_differences(5), 0)
    assert largest.adjusted(1 - largest.level_of_each(0.9)) == pytest.approx(0.1, abs=0.001)


def test_levels_hardly_move_with_the_last_bits_of_the_covariance():
    """Its eigenvectors do where eigenvalues are equal, as here of 15 independent blocks."""
    generator = np.random.default_rng(3)
    factor = generator.normal(size=(4, 4))
    covariance = np.kron(np.eye(15), factor @ factor.T)
    moved = covariance * (1 + 1e-14 * generator.normal(size=(60, 60)))
    levels = [
        largest_statistic(x, np.eye(60), 0).level_of_each(0.95)
        for x in (covariance, (moved + moved.T) / 2)
    ]
    assert levels[0] == pytest.approx(levels[1], abs=1e-7)
