"""Differences are made in one place, from contrasts of any kind of evidence."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import dmfroc
from dmfroc.inference.hypothesis import Hypothesis, contrast_of_intervals, contrast_of_t
from dmfroc.inference.influences import moments_of
from dmfroc.inference.jackknife import contrast_of_moments
from dmfroc.inference.units import Units, are_paired, sample_of
from dmfroc.measures import get_measure

VALUE, ERROR, FREEDOM = 0.03, 0.02, 7.0
MEASURE = get_measure("hand_till")


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


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_moments_give_the_t_distribution_of_their_spread(alternative):
    influences = np.random.default_rng(0).normal(size=200) / 2000
    units = Units(np.arange(200), np.zeros(200, int), np.array([200]), 200)
    moments, hypothesis = moments_of(influences - influences.mean(), units), Hypothesis(alternative)
    contrasts = (
        contrast_of_moments(MEASURE, 0.001, moments, hypothesis),
        contrast_of_t(0.001, *moments.spread),
    )
    found, expected = differences(hypothesis, *contrasts)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-12)
    assert found.interval == pytest.approx(expected.interval, rel=1e-9)


def test_without_variation_the_whole_error_is_on_the_side_that_is_tested():
    """The probability of m sets that all show the same is at least error^(1/m)."""
    units = Units(np.arange(40), np.arange(40) % 2, np.array([20, 20]), 20)
    moments = moments_of(np.zeros(40), units)
    p_value = (1 / (1 + 0.1)) ** 20
    for alternative, expected in {"two-sided": p_value, "greater": p_value, "less": 1.0}.items():
        hypothesis = Hypothesis(alternative)
        contrast = contrast_of_moments(MEASURE, 0.1, moments, hypothesis)
        [found] = differences(hypothesis, contrast)
        assert found.p_value == pytest.approx(expected, rel=1e-12)
        assert found.two_sided_p_value == pytest.approx(p_value, rel=1e-12)


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
        "JointEstimates": {f"inference/{file}.py" for file in ("independent", "method")},
    }
