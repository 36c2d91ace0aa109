"""The decision curve: its values, bands, baselines and display."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dmfroc import Predictions, estimate
from dmfroc.analyses.leads import drawn_curve
from dmfroc.applications import DecisionDisplay, decision_curve
from dmfroc.inference.units import sample_of
from dmfroc.measures import expected_utility, interventions_avoided, net_benefit

RNG = np.random.default_rng(0)
Z = RNG.normal(size=400) - 1
Y, P = (RNG.random(400) < expit(Z)).astype(int), expit(1.3 * Z)
Q = RNG.dirichlet(np.ones(3), size=200)
T = (Q.cumsum(axis=1)[:, :-1] < RNG.random((200, 1))).sum(axis=1)


def test_values_and_errors_are_those_of_the_measure():
    curve = decision_curve(Y, P, thresholds=[0.1, 0.3, 0.6])
    for i, t in enumerate(curve.thresholds):
        found = estimate(net_benefit(t), Y, P)
        assert curve.benefit.value[i] == pytest.approx(found.value)
        assert curve.benefit.standard_error[i] == pytest.approx(found.standard_error, rel=0.02)
    of_all = Y.mean() - (1 - Y.mean()) * curve.thresholds / (1 - curve.thresholds)
    assert curve.baselines["treat all"] == pytest.approx(of_all)
    lead = curve.benefit.value - np.maximum(of_all, 0)
    assert curve.difference.value == pytest.approx(lead)


def test_a_lead_is_over_both_baselines_whichever_is_better_in_the_sample():
    """Near the share of the class either may be. Here the lead over treating all is 0 in truth."""
    rng, n_better, thresholds = np.random.default_rng(0), 0, [0.25]
    for _ in range(60):
        y = (rng.random(200) < 0.26).astype(int)
        treated = (rng.random(200) < 0.0512) & (y == 1)
        curve = decision_curve(y, np.where(treated, 0.9, 0.1), thresholds=thresholds)
        n_better += bool(curve.better_range())
        of_each = [
            estimate(net_benefit(0.25), y, np.where(treated, 0.9, 0.1)).interval[0],
            estimate(interventions_avoided(0.25), y, np.where(treated, 0.9, 0.1)).interval[0] / 3,
        ]
        assert curve.difference.low == pytest.approx([min(of_each)])
    assert n_better <= 4  # 26 with the lead over the baseline that is better in the sample


@pytest.mark.slow
def test_simultaneous_bands_are_wider_and_ranges_follow():
    curve = decision_curve(Y, P)
    for bands in (curve.benefit, curve.difference):
        assert (bands.simultaneous_low <= bands.low).all()
        assert (bands.low <= bands.value).all()
    inner, outer = curve.better_range(), curve.better_range(simultaneous=False)
    assert all(any(a <= c <= d <= b for a, b in outer) for c, d in inner)
    shown = [f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in inner]
    assert f"thresholds {', '.join(shown)} (" in str(curve)


def test_published_curve(external_directory):
    data = pd.read_csv(external_directory / "dcurves_binary.csv")
    curve = decision_curve(data.cancer, data.cancerpredmarker, thresholds=[0.1, 0.25])
    assert curve.benefit.value == pytest.approx([0.0874074, 0.0640000], abs=5e-8)
    assert curve.difference.value == pytest.approx([0.042963, 0.0640000], abs=5e-7)


def test_several_classes():
    curves = decision_curve(T, Q, thresholds=[0.2, 0.5])
    assert list(curves) == [0, 1, 2]
    found = decision_curve(T, Q, thresholds=[0.2, 0.5], pos_label=1)
    assert found.benefit.value == pytest.approx(curves[1].benefit.value)
    assert found.benefit.value[0] == pytest.approx(net_benefit(0.2)(T == 1, Q[:, 1]))


@pytest.mark.parametrize(
    "options", [{}, {"groups": np.arange(len(T)) // 3}], ids=["rows", "groups"]
)
def test_a_class_of_several_has_the_errors_of_its_class_against_the_rest(options):
    curves = decision_curve(T, Q, thresholds=[0.2, 0.42], **options)
    for label in range(3):
        against_rest = Predictions.from_arrays(label == T, Q[:, label])
        own = decision_curve(T, Q, thresholds=[0.2, 0.42], pos_label=label, **options)
        expected = decision_curve(against_rest, thresholds=[0.2, 0.42], **options)
        for curve in (own, curves[label]):
            assert curve.label == label
            for found, bands in (
                (curve.benefit, expected.benefit),
                (curve.difference, expected.difference),
            ):
                assert np.array(found) == pytest.approx(np.array(bands), rel=1e-9, abs=1e-12)
        of_estimate = estimate(net_benefit(0.42), T, Q, pos_label=label, **options)
        assert own.benefit.standard_error[1] == pytest.approx(of_estimate.standard_error)
        assert (own.benefit.low[1], own.benefit.high[1]) == pytest.approx(of_estimate.interval)


def test_family_of_costs():
    def costs(t):
        return [[0, t, t], [1, 0, t], [2, 1, 0]]

    curve = decision_curve(T, Q, costs=costs, thresholds=[0.5, 1.0, 3.0])
    assert list(curve.baselines) == ["always 0", "always 1", "always 2"]
    for t, value in zip(curve.thresholds, curve.benefit.value, strict=True):
        assert value == pytest.approx(expected_utility(costs(t))(T, Q))
    best = np.max(list(curve.baselines.values()), axis=0)
    assert curve.difference.value == pytest.approx(curve.benefit.value - best)


def test_drawn_curve_is_that_with_bands():
    thresholds = np.arange(1, 10) / 10
    for label in range(3):
        curve = decision_curve(T, Q, thresholds=thresholds, pos_label=label)
        sample = sample_of(Predictions.from_arrays(T, Q, pos_label=label))
        share, benefit, of_all, better = drawn_curve(sample, thresholds, label, 0.95)
        assert share == (label == T).mean()
        assert benefit == pytest.approx(curve.benefit.value)
        assert of_all == pytest.approx(curve.baselines["treat all"])
        assert better == curve.better_text()


def test_nothing_is_said_of_thresholds_between_few():
    curve = decision_curve(Y, P, thresholds=[0.28, 0.34])
    assert curve.better_range() == [(0.28, 0.34)]
    assert curve.better_text() == "0.28, 0.34"


def test_few_decisions_show_nothing():
    p = np.where(np.arange(400) < 3, 0.01, 0.3)
    y = np.where(np.arange(400) < 3, 0, Y)
    curve = decision_curve(y, p, thresholds=[0.05])
    assert curve.difference.simultaneous_low[0] <= 0
    assert curve.better_range() == []


def test_display():
    curve = decision_curve(Y, P, thresholds=[0.1, 0.2, 0.4])
    display = curve.plot(band="simultaneous")
    [line] = display.lines_.values()
    assert line.get_ydata() == pytest.approx(curve.benefit.value)
    assert len(display.baselines_) == 2
    several = DecisionDisplay.from_predictions(T, Q, thresholds=[0.1, 0.2], difference=True)
    assert len(several.lines_) == 3
    with pytest.raises(ValueError, match="band must be"):
        curve.plot(band="wide")


def test_nobody_treated_is_no_certainty():
    p = np.full(200, 0.1)
    y = (np.arange(200) < 20).astype(int)
    bands = decision_curve(y, p, thresholds=[0.5]).benefit
    unseen = 1 - 0.05 ** (1 / 200)  # the rule of three for none of 200 rows
    assert [bands.low[0], bands.high[0]] == pytest.approx([-unseen, unseen], rel=1e-3)
    assert bands.probability_positive[0] == 0.5


@pytest.mark.slow
def test_bands_hold_where_treatments_are_rare():
    generator, held, false = np.random.default_rng(1), 0, 0
    t = np.arange(0.1, 1, 0.1)
    z = generator.normal(size=1_000_000) * 1.5 - 4
    risk = expit(z)
    treated = risk >= t[:, None]
    truth = (treated * (risk - t[:, None] / (1 - t[:, None]) * (1 - risk))).mean(axis=1)
    lead = truth - np.maximum(risk.mean() - (1 - risk.mean()) * t / (1 - t), 0)
    for _ in range(40):
        rows = generator.choice(risk, size=300)
        y = (generator.random(300) < rows).astype(int)
        curve = decision_curve(y, rows, thresholds=t)
        low, high = curve.benefit.simultaneous_low, curve.benefit.simultaneous_high
        held += bool(((low <= truth) & (truth <= high)).all())
        false += bool(((curve.difference.simultaneous_low > 0) & (lead <= 0)).any())
    assert held >= 36  # 0 with intervals of length 0 where nobody is treated
    assert false == 0


@pytest.mark.parametrize("k", [2, 3])
def test_a_decision_curve_is_printed_at_twenty_thresholds(k):
    y = np.arange(150) % k
    p = np.random.default_rng(0).dirichlet(np.ones(k), size=150) / 2 + np.eye(k)[y] / 2
    table = str(decision_curve(y, p)).split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert 15 <= len(table) <= 23
    assert " more rows" in table[-1]
    assert table[-1].endswith(": see to_pandas('thresholds')")


@pytest.mark.parametrize("direction", [">=", "<="])
def test_probabilities_of_single_precision_meet_round_thresholds(direction):
    twentieths = np.arange(1, 20) / 20
    y, p = np.arange(95) % 3 // 2, np.repeat(twentieths, 5)
    found, expected = (
        decision_curve(y, x, thresholds=twentieths, direction=direction)
        for x in (p.astype("f4"), p)
    )
    assert found.benefit.value == pytest.approx(expected.benefit.value, abs=1e-5)


@pytest.mark.parametrize("thresholds", [[0.5, 1], [0, 0.5], [0.3, np.nan]])
@pytest.mark.parametrize("direction", [None, "<="])
def test_every_threshold_must_be_a_probability(thresholds, direction):
    with pytest.raises(ValueError, match="thresholds must be"):
        decision_curve(Y, P, thresholds=thresholds, direction=direction)
