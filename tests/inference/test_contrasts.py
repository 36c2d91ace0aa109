"""Differences are made in one place, from contrasts of any kind of evidence."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import dmfroc
from dmfroc.inference.hypothesis import (
    Hypothesis,
    contrast_of_intervals,
    contrast_of_limits,
    contrast_of_t,
)
from dmfroc.inference.influences import moments_of
from dmfroc.inference.limits import Limits
from dmfroc.inference.units import Units, are_paired, sample_of

VALUE, ERROR, FREEDOM = 0.03, 0.02, 7.0


def differences(hypothesis, *contrasts):
    named = {("a", str(place)): contrast for place, contrast in enumerate(contrasts)}
    return hypothesis.differences(named, 0.9)


@pytest.mark.parametrize("greater_is_better", [True, False])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_t_distribution_gives_the_t_test(alternative, greater_is_better):
    margin = 0.0 if alternative == "two-sided" else 0.01
    hypothesis = Hypothesis(alternative, margin, 0.005, greater_is_better)
    exact = contrast_of_t(VALUE, ERROR, FREEDOM)
    inverted = contrast_of_intervals(VALUE, ERROR, exact.interval_at)
    t = stats.t(FREEDOM, VALUE, ERROR)
    p_values = {"greater": t.cdf(-margin), "less": t.sf(margin)}
    p_values["two-sided"] = 2 * min(t.cdf(0), t.sf(0))
    low, high = t.ppf([0.05, 0.95]) if alternative == "two-sided" else t.ppf([0.1, 0.9])
    ends = {"two-sided": (low, high), "greater": (low, np.inf), "less": (-np.inf, high)}
    for found in differences(hypothesis, exact, inverted):
        assert found.p_value == pytest.approx(p_values[alternative], rel=1e-6)
        assert found.two_sided_p_value == pytest.approx(p_values["two-sided"], rel=1e-6)
        assert found.interval == pytest.approx(ends[alternative], rel=1e-6)
        better = t.sf(0) if greater_is_better else t.cdf(0)
        assert found.probability_better == pytest.approx(better, rel=1e-6)
        equivalent = t.cdf(0.005) - t.cdf(-0.005)
        assert found.probability_equivalent == pytest.approx(equivalent, rel=1e-5)


@pytest.mark.parametrize("value", [0.2, -0.2, 0.0])
def test_without_error_a_difference_is_certain(value):
    [found] = differences(Hypothesis(), contrast_of_t(value, 0.0, FREEDOM))
    assert found.p_value == (value == 0)
    assert found.probability_better == (np.sign(value) + 1) / 2
    assert found.interval == (value, value)


def linear(value, influences):
    """Return the limits and the moments of a difference of which nothing else is known."""
    n = len(influences)
    units = Units(np.arange(n), np.zeros(n, int), np.array([n]), np.array([float(n)]))
    limits = Limits(value, influences, units.stratum, (-1.0, 1.0), np.ones(n), lost=n / (n - 1))
    return limits, moments_of(influences, units)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_many_observations_give_the_t_distribution_of_their_spread(alternative):
    influences = np.random.default_rng(0).normal(size=200) / 2000
    limits, moments = linear(0.001, influences - influences.mean())
    hypothesis = Hypothesis(alternative)
    contrasts = (
        contrast_of_limits(limits, moments, hypothesis),
        contrast_of_t(0.001, *moments.spread),
    )
    found, expected = differences(hypothesis, *contrasts)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-12)
    assert found.interval == pytest.approx(expected.interval, rel=0.02)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_few_observations_are_tested_by_the_ends_of_their_limits(alternative):
    """Ten of 60 differ: an interval whose level is that of the p-value just reaches zero."""
    differs = np.repeat([1.0, -1.0, 0.0], [8, 2, 50])
    hypothesis, (limits, moments) = Hypothesis(alternative), linear(0.1, (differs - 0.1) / 60)
    assert moments.spread.degrees_of_freedom < 60
    [found] = differences(hypothesis, contrast_of_limits(limits, moments, hypothesis))
    tail = min(found.p_value, 1 - found.p_value)
    error = found.p_value if alternative == "two-sided" else 2 * tail
    assert limits.limit(-1, error) == pytest.approx(0, abs=1e-7)
    assert (found.p_value > 0.5) == (alternative == "less")


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_margin_is_tested_by_the_limit(alternative):
    influences = np.random.default_rng(0).normal(size=200) / 2000
    limits, moments = linear(0.001, influences - influences.mean())
    side = 1 if alternative == "greater" else -1
    margin = -side * limits.limit(-side, 0.1)
    hypothesis = Hypothesis(alternative, margin)
    [found] = differences(hypothesis, contrast_of_limits(limits, moments, hypothesis))
    assert found.p_value == pytest.approx(0.05, rel=1e-6)


def test_two_perfect_classifiers_differ_by_what_the_sample_does_not_show():
    """By half an error of either: in both directions alike, less the more rows there are."""
    lengths = []
    for n in (30, 300):
        y = np.arange(n) % 2
        both = {"a": 0.1 + 0.8 * y, "b": 0.2 + 0.6 * y}
        p = {name: np.column_stack([1 - x, x]) for name, x in both.items()}
        found = dmfroc.compare(y, p, measures="accuracy").differences[0]
        assert found.value == 0
        assert found.p_value == found.two_sided_p_value == 1
        assert found.interval[0] == pytest.approx(-found.interval[1], rel=1e-6)
        lengths.append(np.ptp(found.interval))
        # One error in n rows has the limit 3 / n, and half of one less
        assert 2 / n < found.interval[1] < 4 / n
    assert lengths[0] / lengths[1] == pytest.approx(10, rel=0.1)


def test_samples_are_paired_if_they_share_their_units():
    y, scores = np.arange(30) % 3, np.random.default_rng(0).normal(size=(30, 3))
    one, other = (sample_of(dmfroc.Predictions.from_arrays(y, scores)) for _ in range(2))
    assert not are_paired({"a": one, "b": other})
    assert are_paired({"a": one, "b": other._replace(units=one.units)})


@pytest.mark.slow
def test_one_place_makes_differences_and_no_analysis_makes_joint_estimates():
    made = {"Difference": set(), "JointEstimates": set()}
    root = Path(dmfroc.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.func.id if isinstance(node, ast.Call) and hasattr(node.func, "id") else ""
            if name in made:
                made[name].add(path.relative_to(root).as_posix())
    assert made == {
        "Difference": {"inference/hypothesis.py"},
        "JointEstimates": {"inference/method.py"},
    }


@pytest.mark.parametrize(("square", "most"), [(0.0, 2), (2.0, 9)])
def test_a_tail_is_found_with_few_limits(square, most):
    """With one where the value is linear. Another's limits are found as well by a wide search."""
    influences = np.random.default_rng(3).exponential(size=50)
    influences = (influences - influences.mean()) / 500
    asked = []

    class Counted(Limits):
        def end_at(self, side, error):
            asked.append(error)
            end = super().end_at(side, error)
            return end + square * (end - self.value) ** 2

    limits = Counted(0.03, influences, np.zeros(50, int), (-1.0, 1.0), np.ones(50))
    found = contrast_of_intervals(0.03, 0.01, limits.interval_at, limits=limits).tail(0.0)
    assert len(asked) < most
    assert limits.end_at(-1, 2 * found) == pytest.approx(0, abs=1e-7)
    wide = contrast_of_intervals(0.03, 0.01, limits.interval_at).tail(0.0)
    assert found == pytest.approx(wide, rel=1e-5)


def test_what_no_limit_reaches_has_the_tail_of_t():
    """Weights of 30 units change a value of .5 by .3 at most."""
    influences = np.repeat([-0.01, 0.01], 15)
    limits = Limits(0.5, influences, np.zeros(30, int), (-1.0, 1.0), np.ones(30))
    error = float(np.linalg.norm(influences))
    without = contrast_of_intervals(0.5, error, limits.interval_at)
    assert without.tail(0.0) < 1e-100
    found = contrast_of_intervals(0.5, error, limits.interval_at, 29)
    assert found.tail(0.0) == pytest.approx(stats.t.sf(0.5 / error, 29), rel=1e-9)
    assert found.tail(0.45) == without.tail(0.45) > 0.1
    for margin in (0.0, 0.1):
        hypothesis = Hypothesis("greater", margin)
        [found] = differences(hypothesis, contrast_of_limits(*linear(0.5, influences), hypothesis))
        expected = stats.t.sf((0.5 + margin) / error, 29)
        assert expected / 20 < found.p_value < 20 * expected
