"""The best of many classifiers: who is excluded, and the interval of the winner."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy import stats

import dmfroc
from dmfroc import compare
from dmfroc.analyses.catalogue import get_measure
from dmfroc.inference.selection import may_be_best


def two_sided(z):
    return 2 * stats.norm.sf(abs(z))


def set_of(qualities, covariance, level=0.95):
    qualities = np.asarray(qualities, float)
    spread = np.sqrt(np.add.outer(np.diag(covariance), np.diag(covariance)) - 2 * covariance)
    gaps = np.subtract.outer(qualities, qualities)
    p_values = np.where(spread > 0, two_sided(gaps / np.where(spread > 0, spread, 1)), 1.0)
    return may_be_best(qualities, covariance, p_values, level, 0).tolist()


def test_of_two_the_worse_is_excluded_by_a_one_sided_test():
    limit = stats.norm.ppf(0.95) * np.sqrt(2)
    assert set_of([0, limit - 0.01], np.eye(2)) == [True, True]
    assert set_of([0, limit + 0.01], np.eye(2)) == [False, True]


def test_of_many_the_limit_is_dunnetts():
    """One-sided comparisons of four with one, equal variances: Dunnett's quantile 2.16."""
    limit = 2.1603 * np.sqrt(2)  # Dunnett (1955), four treatments, infinite degrees of freedom
    assert set_of([0, limit - 0.06, 0, 0, 0], np.eye(5))[0]
    assert not set_of([0, limit + 0.06, 0, 0, 0], np.eye(5))[0]


def test_equal_values_stay():
    assert set_of([1, 1, 1], np.ones((3, 3))) == [True] * 3


def test_each_of_equals_is_excluded_as_often_as_the_level_says():
    """Six values, three of them correlated, of which the last is four standard errors worse."""
    covariance = np.eye(6)
    covariance[:3, :3] += 2
    rng = np.random.default_rng(8)
    draws = rng.multivariate_normal(np.zeros(6), covariance, 400)
    draws[:, 5] -= 4 * np.sqrt(2)
    stays = np.array([set_of(values, covariance) for values in draws])
    # Of 2,000 values 5 % are excluded; those of one draw are correlated: five standard errors.
    assert 1 - stays[:, :5].mean() == pytest.approx(0.05, abs=0.03)
    assert stays[:, 5].mean() < 0.05


def samples(n_classifiers, shift_of, seed, n=300):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    common = rng.normal(size=n)
    return y, {
        f"m{j}": np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=n) + shift_of(j) * y
        for j in range(n_classifiers)
    }


def test_simultaneous_intervals_are_wider_and_agree_with_the_p_values():
    y, scores = samples(6, lambda j: 1 + 0.08 * j, 0)
    alone = compare(y, scores, measures="hand_till")
    at_once = compare(y, scores, measures="hand_till", simultaneous=True)
    for one, other in zip(alone.differences, at_once.differences, strict=True):
        assert (one.value, one.p_value) == (other.value, other.p_value)
        assert other.interval[0] < one.interval[0] < one.interval[1] < other.interval[1]
        assert other.p_value <= other.adjusted_p_value
        excludes_zero = not other.interval[0] <= 0 <= other.interval[1]
        assert excludes_zero == (other.adjusted_p_value < 0.05)
    for name, estimate in at_once.estimates.items():
        low, high = at_once.value_intervals[name]
        assert low < estimate.interval[0] < estimate.interval[1] < high
    assert "simultaneous 95" in str(at_once)
    assert alone.winner is None
    assert alone.value_intervals is None


def test_two_classifiers_need_no_adjustment():
    y, scores = samples(2, lambda j: 1.0, 1)
    [alone] = compare(y, scores, measures="hand_till").differences
    [at_once] = compare(y, scores, measures="hand_till", simultaneous=True).differences
    assert at_once.interval == alone.interval
    assert at_once.adjusted_p_value == alone.p_value


def test_winner_without_rivals_is_hardly_wider_than_alone():
    y, scores = samples(4, lambda j: 2.5 if j == 2 else 0.2, 2)
    found = compare(y, scores, measures="hand_till", simultaneous=True)
    assert (found.winner.name, found.winner.rivals) == ("m2", ())
    assert found.best_set() == ("m2",)
    low, high = found.estimates["m2"].interval
    assert 1 < np.diff(found.winner.interval)[0] / (high - low) < 1.04


def test_winner_among_equals_pays_for_all_of_them():
    y, scores = samples(5, lambda j: 1.0, 3)
    found = compare(y, scores, measures="hand_till", simultaneous=True)
    assert len(found.winner.rivals) == 4
    assert found.winner.name == max(found.estimates, key=lambda n: found.estimates[n].value)
    low, high = found.estimates[found.winner.name].interval
    assert np.diff(found.winner.interval)[0] > 1.1 * (high - low)


def test_limit_of_a_winner_without_rivals_is_that_of_a_classifier_named_beforehand():
    y, scores = samples(4, lambda j: 2.5 if j == 2 else 0.2, 2)
    winner = compare(y, scores, measures="hand_till", simultaneous=True).winner
    level = 1 - 2 * 0.9 * 0.05  # a tenth of the error is spent on who could have won
    alone = compare(y, scores, measures="hand_till", level=level).estimates["m2"].interval
    np.testing.assert_allclose(winner.limit, alone[0], atol=1e-12)


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_limit_of_the_winner_is_inside_of_its_interval_on_the_worse_side(greater_is_better):
    y, scores = samples(5, lambda j: 1.0, 3)
    measure = replace(get_measure("hand_till"), name="m", greater_is_better=greater_is_better)
    winner = compare(y, scores, measures=measure, simultaneous=True).winner
    worse = winner.interval[0 if greater_is_better else 1]
    assert 0.1 < (winner.limit - worse) / (winner.value - worse) < 0.3


def test_errors_have_their_smallest_value_as_the_best():
    rng = np.random.default_rng(4)
    y = np.arange(200) % 2
    scores = {"good": 0.9 * y + 0.05, "poor": rng.random(200), "poorer": 1.0 - y}
    error = replace(get_measure("hand_till"), name="error", greater_is_better=False)
    found = compare(y, scores, measures=error, simultaneous=True)
    assert found.winner.name == "poorer"
    assert found.best_set() == ("poorer",)


def test_bootstrap_agrees_with_the_jackknife():
    y, scores = samples(3, lambda j: 1 + 0.1 * j, 5, n=600)
    options = {"method": dmfroc.Bootstrap(2000, interval="percentile")}
    by_draws = compare(y, scores, measures="hand_till", simultaneous=True, **options)
    by_influences = compare(y, scores, measures="hand_till", simultaneous=True)
    for one, other in zip(by_draws.differences, by_influences.differences, strict=True):
        assert one.interval == pytest.approx(other.interval, abs=0.006)


def test_too_few_draws_for_many_differences_are_refused():
    y, scores = samples(6, lambda j: 1.0, 6, n=60)
    with pytest.raises(ValueError, match=r"each interval must be taken at 99\..*Bootstrap\("):
        compare(y, scores, measures="hand_till", simultaneous=True, method=dmfroc.Bootstrap(200))


def test_picture_marks_the_set():
    y, scores = samples(4, lambda j: 2.5 if j == 2 else 0.2 * j, 7)
    found = compare(y, scores, measures="hand_till", simultaneous=True)
    display = found.plot_best_set()
    assert next(label.get_text() for label in display.ax_.get_yticklabels()) == "m2"
    fills = [to_hex(line.get_markerfacecolor()) for line in display.values_]
    assert fills[1:] == ["#ffffff"] * 3
    assert fills[0] != "#ffffff"
