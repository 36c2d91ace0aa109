"""Net benefit and expected utility: published values and identities."""

import numpy as np
import pandas as pd
import pytest

from dmfroc import compare, estimate, measures
from dmfroc.extend import influences
from dmfroc.measures import (
    expected_utility,
    interventions_avoided,
    net_benefit,
    standardized_net_benefit,
)

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=120)
P = np.clip(0.3 * Y + RNG.uniform(0, 0.7, size=120), 0.01, 0.99)


def standard_error(measure, y, p):
    """Divisor n, as dcurves has it."""
    found = influences(measure, y, p)
    return np.sqrt(found @ found)


@pytest.mark.parametrize(
    ("threshold", "benefit", "error", "beyond_all", "paired_error"),
    [
        (0.10, 0.0874074, 0.012195, 0.042963, 0.006282),
        (0.25, 0.0640000, 0.011694, 0.210667, 0.010615),
    ],
)
def test_published_net_benefit(
    external_directory, threshold, benefit, error, beyond_all, paired_error
):
    data = pd.read_csv(external_directory / "dcurves_binary.csv")
    y, p = data.cancer, data.cancerpredmarker
    measure, avoided = net_benefit(threshold), interventions_avoided(threshold)
    odds = threshold / (1 - threshold)
    assert measure(y, p) == pytest.approx(benefit, abs=5e-8)
    assert standard_error(measure, y, p) == pytest.approx(error, abs=5e-7)
    assert odds * avoided(y, p) == pytest.approx(beyond_all, abs=5e-7)
    assert odds * standard_error(avoided, y, p) == pytest.approx(paired_error, abs=5e-7)
    compared = compare(y, {"model": p, "treat all": "treat all"}, measures=measure)
    difference = compared.differences[0]
    assert difference.value == pytest.approx(beyond_all, abs=5e-7)
    assert difference.standard_error == pytest.approx(paired_error, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.1, 0.25, 0.6])
def test_interventions_avoided_range_from_no_treatment_of_the_ill_to_none_of_the_well(threshold):
    measure, y = interventions_avoided(threshold), np.array([0, *[1] * 10**6])
    lowest, highest = measure.bounds
    assert measure(y, np.zeros(len(y))) == pytest.approx(lowest, rel=1e-5)
    assert measure(1 - y, np.zeros(len(y))) == pytest.approx(highest, rel=1e-4)


def test_published_interventions_avoided(external_directory):
    data = pd.read_csv(external_directory / "dcurves_binary.csv")
    found = interventions_avoided(0.25)(data.cancer, data.cancerpredmarker)
    assert found == pytest.approx(0.632, abs=5e-7)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8])
def test_net_benefit_is_a_utility(threshold):
    costs = [[0, threshold / (1 - threshold)], [1, 0]]
    found = net_benefit(threshold)(Y, P) - Y.mean()
    assert found == pytest.approx(expected_utility(costs)(Y, P))


def test_prevalence_of_the_sample_changes_nothing():
    for name in ("net_benefit", "standardized_net_benefit", "interventions_avoided"):
        measure = getattr(measures, name)
        assert measure(0.3, prevalence=Y.mean())(Y, P) == pytest.approx(measure(0.3)(Y, P))
    # A case-control sample with the true prevalence is a weighted cohort.
    weights = np.where(Y == 1, 0.1 / Y.mean(), 0.9 / (1 - Y.mean()))
    expected = net_benefit(0.2)(Y, P, sample_weight=weights)
    assert net_benefit(0.2, prevalence=0.1)(Y, P) == pytest.approx(expected)


@pytest.mark.parametrize("prevalence", [None, 0.1])
@pytest.mark.parametrize("measure", [net_benefit, standardized_net_benefit, interventions_avoided])
def test_influences_are_what_a_little_more_weight_changes(measure, prevalence):
    step, of_rows = 1e-6, measure(0.3, prevalence=prevalence)
    moved = [
        of_rows(Y, P, sample_weight=1 + step * (np.arange(len(Y)) == row))
        - of_rows(Y, P, sample_weight=1 - step * (np.arange(len(Y)) == row))
        for row in range(len(Y))
    ]
    expected = np.array(moved) / (2 * step)
    np.testing.assert_allclose(influences(of_rows, Y, P), expected, rtol=1e-6, atol=1e-9)


def test_baselines_are_classifiers():
    found = compare(
        Y, {"model": P, "all": "treat all", "none": "treat none"}, measures=net_benefit(0.3)
    )
    assert found.estimates["all"].value == pytest.approx(Y.mean() - (1 - Y.mean()) * 3 / 7)
    assert found.estimates["none"].value == 0
    same = compare(Y, {"model": P, "treat none": None}, measures=net_benefit(0.3))
    assert same.differences[0].value == pytest.approx(found.estimates["model"].value)
    with pytest.raises(ValueError, match=r"'treat some'.* no baseline"):
        compare(Y, {"model": P, "b": "treat some"}, measures=net_benefit(0.3))
    with pytest.raises(ValueError, match="scores of at least one classifier"):
        compare(Y, {"a": "treat all", "b": "treat none"}, measures=net_benefit(0.3))


def test_constant_decisions_of_several_classes():
    y = RNG.integers(3, size=90)
    p = RNG.dirichlet(np.ones(3), size=90)
    found = compare(y, {"model": p, "two": "always 2"}, measures=expected_utility())
    assert found.estimates["two"].value == pytest.approx((y == 2).mean() - 1)
    found = compare(y, {"model": p, "two": "always 2"}, measures="accuracy")
    assert found.estimates["two"].value == pytest.approx((y == 2).mean())
    with pytest.raises(ValueError, match="two classes"):
        compare(y, {"model": p, "all": "treat all"}, measures=expected_utility())


def test_class_of_several_is_one_against_the_rest():
    y = RNG.integers(3, size=90)
    p = RNG.dirichlet(np.ones(3), size=90)
    with pytest.raises(ValueError, match="needs observations both of the class and of the rest"):
        estimate(net_benefit(0.4, pos_label=2), y % 2, p, labels=[0, 1, 2])
    found = estimate(net_benefit(0.4, pos_label=1), y, p)
    assert found.value == pytest.approx(net_benefit(0.4)(y == 1, p[:, 1]))


@pytest.mark.parametrize("threshold", [0, 1, 1.2, -0.1])
def test_thresholds_are_probabilities(threshold):
    with pytest.raises(ValueError, match="threshold must be a probability between 0 and 1"):
        net_benefit(threshold)


def test_costs_fit_the_classes():
    with pytest.raises(ValueError, match="cost_matrix of 3 rows"):
        expected_utility(1 - np.eye(3))(Y, P)
    with pytest.raises(ValueError, match="all are the same"):
        expected_utility(np.ones((2, 2)))


def test_limits_count_the_dearest_error_although_only_cheap_ones_were_seen():
    y = np.repeat([0, 1, 2], [50, 30, 40])
    costs = np.array([[0, 1, 1], [1, 0, 20], [1, 1, 0]])  # a 1 that is taken for a 2
    scores = np.full((120, 3), 0.005) + 0.985 * np.eye(3)[y]
    scores[50:55] = [0.99, 0.005, 0.005]  # some of them are taken for a 0
    found = estimate(expected_utility(costs), y, scores)
    assert found.value == pytest.approx(-5 / 120)
    assert found.interval[0] < -20 * (1 - 0.05 ** (1 / 30)) * 30 / 120


def test_interval_holds_where_the_dear_error_is_rare():
    generator, measure, held = np.random.default_rng(2), expected_utility([[0, 1], [50, 0]]), 0
    truth = -(0.7 * 0.4 + 0.3 * 0.01 * 50)  # 40 % of the 0 are treated, 1 % of the 1 are missed
    for _ in range(40):
        y = (generator.random(150) < 0.3).astype(int)
        treated = np.where(y == 1, generator.random(150) >= 0.01, generator.random(150) < 0.4)
        low, high = estimate(measure, y, np.where(treated, 0.5, 0.001)).interval
        held += low <= truth <= high
    assert held >= 37
