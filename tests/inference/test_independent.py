"""Differences of independent samples: the intervals of each, put together."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr, stdtrit
from simulations import normal_scores

from dmfroc import Predictions, compare, estimate, influences
from dmfroc.inference import independent
from dmfroc.inference.hypothesis import Hypothesis, error_reaching
from dmfroc.inference.influences import moments_of
from dmfroc.inference.interval import Interval
from dmfroc.inference.units import units_of


def wald(value, error_of_one):
    return lambda error: Interval(
        *(value + error_of_one * stats.norm.ppf([error / 2, 1 - error / 2]))
    )


def test_symmetric_intervals_give_the_test_of_two_means():
    first, second = (0.8, wald(0.8, 0.03)), (0.7, wald(0.7, 0.04))
    z = 0.1 / 0.05
    hypothesis = Hypothesis(rope=0.02)
    contrasts = independent.contrasts({"a": first, "b": second}, lambda *_: 0.05, hypothesis)
    [found] = hypothesis.differences(contrasts, 0.95)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-6)
    assert found.probability_better == pytest.approx(stats.norm.cdf(z), rel=1e-6)
    assert found.probability_equivalent == pytest.approx(
        stats.norm.cdf(0.12 / 0.05) - stats.norm.cdf(0.08 / 0.05), rel=1e-6
    )
    expected = pytest.approx((0.1 - 1.959964 * 0.05, 0.1 + 1.959964 * 0.05), rel=1e-6)
    assert found.interval == contrasts["a", "b"].interval_at(1 - 0.95)[:2] == expected
    drawn = independent.draws_of(*first, np.random.default_rng(1), 20_000)
    assert drawn.mean() == pytest.approx(0.8, abs=1e-3)
    assert drawn.std() == pytest.approx(0.03, rel=0.03)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.7, 1.0])
def test_correlated_values_have_the_interval_of_their_difference(correlation):
    """Zou (2007), equation 15: u^2 becomes u1^2 + u2^2 - 2 r u1 u2."""
    found = independent.interval_of_contrast(
        (1.0, -1.0), (0.9, 0.8), (Interval(0.7, 0.95), Interval(0.75, 0.9)), correlation
    )
    low = np.sqrt(0.2**2 + 0.1**2 - 2 * correlation * 0.2 * 0.1)
    high = np.sqrt(0.05**2 + 0.05**2 - 2 * correlation * 0.05 * 0.05)
    assert found[:2] == pytest.approx((0.1 - low, 0.1 + high), abs=1e-12)


@pytest.mark.parametrize("measure", ["hand_till", "average_precision", "brier_score"])
def test_a_margin_beside_a_perfect_classifier_has_the_limit_of_the_other_one(measure):
    """It was a t limit, which missed 10 to 25 % where few observations decide."""
    y, scores = normal_scores(3, 60, 2, 2.5)
    probabilities = np.exp(scores) / np.exp(scores).sum(1)[:, None]
    both = {"a": probabilities, "perfect": np.eye(2)[y]}
    single = estimate(measure, y, probabilities, level=0.9)
    perfect, is_loss = estimate(measure, y, both["perfect"]).value, measure == "brier_score"
    side = "less" if is_loss else "greater"
    [found] = compare(y, both, measure=measure, alternative=side, margin=0.01).differences
    expected = single.interval[int(is_loss)] - perfect
    assert found.interval[int(is_loss)] == pytest.approx(expected, rel=1e-9)
    at = compare(y, both, measure=measure, alternative=side, margin=abs(expected)).differences[0]
    assert at.p_value == pytest.approx(0.05, rel=1e-6)


def test_differences_of_near_perfect_classifiers_are_skewed():
    samples = {
        "few": Predictions.from_arrays(*normal_scores(1, 60, 2, 2.5)),
        "many": Predictions.from_arrays(*normal_scores(2, 240, 2, 2.5)),
    }
    few, many = (estimate("hand_till", sample) for sample in samples.values())
    [found] = compare(samples, measure="hand_till", paired=False).differences
    low, high = found.interval
    value = few.value - many.value
    assert found.value == pytest.approx(value, rel=1e-12)
    assert value - low == pytest.approx(
        np.hypot(few.value - few.interval[0], many.interval[1] - many.value), rel=1e-9
    )
    assert value - low > 1.3 * (high - value)
    assert (found.p_value < 0.05) == (not low <= 0 <= high)
    # An interval whose level is that of the p-value just reaches zero.
    same = compare(samples, measure="hand_till", paired=False, level=1 - found.p_value)
    assert np.abs(same.differences[0].interval).min() == pytest.approx(0, abs=1e-8)
    swapped = {name: samples[name] for name in ("many", "few")}
    [other] = compare(swapped, measure="hand_till", paired=False).differences
    assert other.interval == pytest.approx((-high, -low), rel=1e-9)
    assert other.p_value == pytest.approx(found.p_value, rel=1e-6)
    assert other.probability_better == pytest.approx(1 - found.probability_better, rel=1e-6)


def test_several_independent_samples_at_once():
    samples = {
        name: Predictions.from_arrays(*normal_scores(seed, 60 + 40 * seed, 2))
        for seed, name in enumerate("abc")
    }
    alone = compare(samples, measure="hand_till", paired=False)
    variances = [
        moments_of(influences("hand_till", sample), units_of(sample)).spread.scale ** 2
        for sample in samples.values()
    ]
    np.testing.assert_allclose(alone.covariance, np.diag(variances), rtol=1e-12)
    at_once = compare(samples, measure="hand_till", paired=False, simultaneous=True)
    # Each at the same higher level; of uncorrelated values it is below Bonferroni's.
    bonferronis = compare(samples, measure="hand_till", paired=False, level=1 - 0.05 / 3)
    ends = [np.array([d.interval for d in x.differences]) for x in (alone, at_once, bonferronis)]
    low, high = np.moveaxis(np.stack(ends), -1, 0)
    assert (np.diff(low, axis=0) < 0).all()
    assert (np.diff(high, axis=0) > 0).all()


@pytest.mark.parametrize("freedom", [1.5, 2.1784330613433047, 3, 10, 100])
@pytest.mark.parametrize("threshold", [1.0, 1e3])
def test_the_error_that_reaches_a_threshold_is_that_of_the_t_test(freedom, threshold):
    """At errors smaller than exp(-250), SciPy's quantiles are NaN for the second one."""

    def interval_at(error):
        half_width = -stdtrit(freedom, error / 2)
        return Interval(-half_width, half_width)

    expected = max(2 * stdtr(freedom, -threshold), np.exp(-250))
    for upper, side in ((True, 1), (False, -1)):
        found = error_reaching(side * threshold, interval_at, upper=upper)
        assert found == pytest.approx(expected, rel=1e-6)


def test_the_error_that_reaches_a_threshold_where_some_errors_have_no_interval():
    def interval_at(error):
        half_width = -stdtrit(3, error / 2) if error > 1e-40 else np.nan
        return Interval(-half_width, half_width)

    found = error_reaching(8.0, interval_at, upper=True)
    assert found == pytest.approx(2 * stdtr(3, -8.0), rel=1e-6)
