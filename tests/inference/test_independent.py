"""Differences of independent samples: the units of all, each in strata of its own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr, stdtrit
from simulations import normal_scores

import dmfroc
from dmfroc import Predictions, compare, estimate
from dmfroc.extend import influences
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.hypothesis import Hypothesis, contrast_of_limits, error_reaching
from dmfroc.inference.influences import Moments, moments_of
from dmfroc.inference.limits import Interval, Limits, limits_of_contrast
from dmfroc.inference.method import draws_of
from dmfroc.inference.units import sample_of, units_of
from dmfroc.inference.unseen import NOBODY
from dmfroc.measures import get_measure


def wald(value, error_of_one):
    return lambda error: Interval(
        *(value + error_of_one * stats.norm.ppf([error / 2, 1 - error / 2]))
    )


def normal_limits(value, error, seed, n=2000):
    """Return the limits of a value with so many normal influences."""
    x = np.random.default_rng(seed).normal(size=n)
    x -= x.mean()
    x *= error / np.linalg.norm(x)
    return Limits(value, x, np.zeros(n, int), (-np.inf, np.inf), np.ones(n))


def normal_moments(error, n=2000):
    """Return the moments of such influences."""
    return Moments(np.array([n]), np.array([n * error**2]), np.zeros(1))


def test_normal_values_have_the_test_of_two_means():
    limits = {"a": normal_limits(0.8, 0.03, 1), "b": normal_limits(0.7, 0.04, 2)}
    z, hypothesis = 0.1 / 0.05, Hypothesis(rope=0.02)
    moments = {"a": normal_moments(0.03), "b": normal_moments(0.04)}
    both = limits_of_contrast((1.0, -1.0), (limits["a"], limits["b"]), np.inf)
    contrast = contrast_of_limits(both, moments["a"].beside(moments["b"]), hypothesis)
    contrasts = {("a", "b"): contrast}
    [found] = hypothesis.differences(contrasts, 0.95)
    assert found.value == pytest.approx(0.1, rel=1e-12)
    assert found.standard_error == pytest.approx(0.05, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), rel=0.05)
    assert found.probability_better == pytest.approx(stats.norm.cdf(z), rel=0.01)
    assert found.probability_equivalent == pytest.approx(
        stats.norm.cdf(0.12 / 0.05) - stats.norm.cdf(0.08 / 0.05), rel=0.05
    )
    expected = pytest.approx((0.1 - 1.959964 * 0.05, 0.1 + 1.959964 * 0.05), abs=0.001)
    assert found.interval == contrasts["a", "b"].interval_at(1 - 0.95)[:2] == expected


def test_draws_have_the_quantiles_of_the_intervals():
    drawn = draws_of(0.8, wald(0.8, 0.03), np.random.default_rng(1), 20_000)
    assert drawn.mean() == pytest.approx(0.8, abs=1e-3)
    assert drawn.std() == pytest.approx(0.03, rel=0.03)


@pytest.mark.parametrize("measure", ["hand_till", "average_precision", "brier_score"])
def test_a_margin_beside_a_perfect_classifier_has_a_limit_with_unseen_errors_of_both(measure):
    """Half an error of either: farther than without, less far than three quarters of the one."""
    y, scores = normal_scores(3, 60, 2, 2.5)
    probabilities = np.exp(scores) / np.exp(scores).sum(1)[:, None]
    both = {"a": probabilities, "perfect": np.eye(2)[y]}
    single = estimate(measure, y, probabilities, level=0.9)
    perfect, is_loss = estimate(measure, y, both["perfect"]).value, measure == "brier_score"
    end = 1 if is_loss else 0
    [found] = compare(y, both, measures=measure, test=dmfroc.NonInferiority(0.01)).differences
    limit = found.interval[end]
    seen = facts_in(sample_of(Predictions.from_arrays(y, probabilities)), get_measure(measure))
    unseen = {"function": None, "unseen": NOBODY, "of_unseen": np.zeros(0)}
    seen = replace(seen.limits, **unseen).interval_at(0.1)
    nearer, farther = (abs(x[end] - single.value) for x in (seen, single.interval))
    assert nearer < abs(limit - found.value) < farther
    assert found.value == pytest.approx(single.value - perfect, rel=1e-9)
    at = compare(y, both, measures=measure, test=dmfroc.NonInferiority(abs(limit))).differences[0]
    assert at.p_value == pytest.approx(0.05, rel=1e-6)


def test_differences_of_near_perfect_classifiers_are_skewed():
    samples = {}
    for seed, (name, n) in enumerate({"few": 60, "many": 240}.items(), 1):
        classes, scores = normal_scores(seed, n, 2, 2.5)
        samples[name] = Predictions.from_arrays(classes, scores[:, 1])
    few, many = (estimate("hand_till", sample) for sample in samples.values())
    [found] = compare(samples, measures="hand_till", paired=False).differences
    low, high = found.interval
    value = few.value - many.value
    assert found.value == pytest.approx(value, rel=1e-12)
    of_both = np.hypot(few.value - few.interval[0], many.interval[1] - many.value)
    assert 0.7 * of_both < value - low < of_both  # with half of an unseen error, not 3/4
    assert value - low > 1.3 * (high - value)
    assert (found.p_value < 0.05) == (not low <= 0 <= high)
    # An interval whose level is that of the p-value just reaches zero.
    same = compare(samples, measures="hand_till", paired=False, level=1 - found.p_value)
    assert np.abs(same.differences[0].interval).min() == pytest.approx(0, abs=1e-8)
    swapped = {name: samples[name] for name in ("many", "few")}
    [other] = compare(swapped, measures="hand_till", paired=False).differences
    assert other.interval == pytest.approx((-high, -low), rel=1e-9)
    assert other.p_value == pytest.approx(found.p_value, rel=1e-6)
    assert other.probability_better == pytest.approx(1 - found.probability_better, rel=1e-6)


def test_several_independent_samples_at_once():
    samples = {
        name: Predictions.from_arrays(*normal_scores(seed, 60 + 40 * seed, 2))
        for seed, name in enumerate("abc")
    }
    alone = compare(samples, measures="hand_till", paired=False)
    variances = [
        moments_of(influences("hand_till", sample), units_of(sample)).spread.scale ** 2
        for sample in samples.values()
    ]
    np.testing.assert_allclose(alone.covariance, np.diag(variances), rtol=1e-12)
    at_once = compare(samples, measures="hand_till", paired=False, simultaneous=True)
    # Each at the same higher level; of uncorrelated values it is below Bonferroni's.
    bonferronis = compare(samples, measures="hand_till", paired=False, level=1 - 0.05 / 3)
    ends = [np.array([d.interval for d in x.differences]) for x in (alone, at_once, bonferronis)]
    low, high = np.moveaxis(np.stack(ends), -1, 0)
    assert (np.diff(low, axis=0) < 0).all()
    assert (np.diff(high, axis=0) > 0).all()


@pytest.mark.parametrize("freedom", [1.5, 2.1784330613433047, 3, 10, 100])
@pytest.mark.parametrize("threshold", [1.0, 1e3])
def test_the_error_that_reaches_a_threshold_is_that_of_the_t_test(freedom, threshold):
    """It is not below that of 22 standard errors: far beyond, quantiles of SciPy are NaN."""

    expected = max(2 * stdtr(freedom, -threshold), 2 * stats.norm.sf(22))
    for side in (1, -1):

        def end(error, side=side):
            return -side * stdtrit(freedom, error / 2)

        found = error_reaching(0.0, side * threshold, end)
        assert found == pytest.approx(expected, rel=1e-6)


def test_the_error_that_reaches_a_threshold_where_some_errors_have_no_interval():
    def upper_end(error):
        return -stdtrit(3, error / 2) if error > 1e-40 else np.nan

    found = error_reaching(0.0, 8.0, upper_end)
    assert found == pytest.approx(2 * stdtr(3, -8.0), rel=1e-6)


def test_a_difference_of_large_samples_is_linear_as_their_values_are():
    def limits_of(n):
        each = [sample_of(Predictions.from_arrays(*normal_scores(x, n, 2, 1.5))) for x in (0, 1)]
        parts = [facts_in(sample, get_measure("auc")).limits for sample in each]
        both = limits_of_contrast((1.0, -1.0), parts, 1.0)
        assert both.is_small == any(x.is_small for x in parts)
        return both.is_small

    assert limits_of(60)
    assert not limits_of(400)
