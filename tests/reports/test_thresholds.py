"""What the slider of a report says at each threshold."""

import re

import numpy as np
import pytest
from pages import page_parts
from scipy.stats import binomtest

import dmfroc
from dmfroc.applications import decision_curve
from dmfroc.inference.units import sample_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.reports import page
from dmfroc.reports.numbers import numbers_of
from dmfroc.reports.thresholds import at_thresholds, place_of

LABELS = ["well", "ill"]


def two_classes(n=300):
    rng = np.random.default_rng(3)
    p = rng.beta(1, 2, size=n)
    return np.array(LABELS)[(rng.random(n) < p).astype(int)], p


def tried(predictions, groups=None):
    numbers = numbers_of(sample_of(predictions, groups), CurveOptions(), 0.95)
    return [at_thresholds(of, 0.95) for of in numbers.classes.values()]


def test_rates_are_counts_with_limits_of_proportions():
    y, p = two_classes()
    [found] = tried(dmfroc.Predictions.from_arrays(y, p, labels=LABELS))
    assert found.share == np.mean(y == "ill")
    for rates, is_counted in ((found.found, y == "ill"), (found.false_alarms, y == "well")):
        n = is_counted.sum()
        for t, rate, low, high in zip(found.threshold, *rates, strict=True):
            events = (p[is_counted] >= t).sum()
            assert rate == pytest.approx(events / n, abs=6e-4)
            exact = binomtest(int(events), int(n)).proportion_ci()
            assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.015)
    curve = decision_curve(y, p, labels=LABELS)
    np.testing.assert_allclose(found.net_benefit, curve.benefit.value, atol=6e-4)


def test_groups_make_limits_wider_and_repeated_rows_do_not_make_them_narrower():
    y, p = two_classes()
    alone = tried(dmfroc.Predictions.from_arrays(y, p, labels=LABELS))[0]
    twice = dmfroc.Predictions.from_arrays(np.tile(y, 2), np.tile(p, 2), labels=LABELS)
    grouped = tried(twice, np.tile(np.arange(len(y)), 2))[0]
    width, as_rows = (np.ptp(x.found[1:], axis=0)[49] for x in (alone, tried(twice)[0]))
    assert np.ptp(grouped.found[1:], axis=0)[49] == pytest.approx(width, rel=0.02)
    assert as_rows < 0.8 * width


def test_small_scores_that_speak_for_a_class_have_their_own_thresholds():
    y, p = two_classes()
    small = dmfroc.Predictions.from_arrays(y, 5 - 9 * p, labels=LABELS, direction="<=")
    [found] = tried(small)
    assert found.direction == "<="
    assert found.net_benefit is None
    middle = found.threshold[49]
    np.testing.assert_allclose(middle, np.median(5 - 9 * p), atol=0.1)
    is_ill = y == "ill"
    assert found.found[0][49] == pytest.approx(np.mean(5 - 9 * p[is_ill] <= middle), abs=6e-4)
    text = page_parts(dmfroc.evaluate(small).to_html())["text"]
    assert "Cases whose score is at most the threshold are taken for ill." in text


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 10, 40])
def test_the_slider_adds_at_most_40_kilobytes(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(12 * n_classes) % n_classes
    scores = np.exp(rng.normal(size=(len(y), n_classes)) + 2 * np.eye(n_classes)[y])
    shares = scores / scores.sum(axis=1, keepdims=True)
    evaluation = dmfroc.evaluate(y, shares, measures=["accuracy"])
    size = len(evaluation.to_html())
    monkeypatch.setattr(page, "MOST_CLASSES", 0)
    own_script_and_style = 4_000
    assert size - len(evaluation.to_html()) + own_script_and_style <= 40_000


@pytest.mark.filterwarnings("ignore:A quantile")
def test_the_slider_starts_at_the_threshold_that_was_asked_for():
    y, p = two_classes()
    [at] = tried(dmfroc.Predictions.from_arrays(y, p, labels=LABELS))
    for measure, threshold in (
        ("auc", 0.5),
        ("net_benefit(threshold=0.2)", 0.2),
        ("sensitivity_at(specificity=0.8)", np.quantile(p[y == "well"], 0.8)),
        ("specificity_at(sensitivity=0.9)", np.quantile(p[y == "ill"], 0.1)),
        ("all", 0.5),
    ):
        page = dmfroc.evaluate(y, p, labels=LABELS, measures=measure).to_html()
        value = int(re.search(r'max="98" value="(\d+)"', page)[1])
        assert at.threshold[value] == pytest.approx(threshold, abs=0.02), measure
    assert at.threshold[place_of(at, [{"threshold": 0.2}], "score >= 0.3")] == 0.3
    small = dmfroc.Predictions.from_arrays(y, 5 - 9 * p, labels=LABELS, direction="<=")
    [at] = tried(small)
    assert at.threshold[place_of(at, [], "score <= 2")] == pytest.approx(2, abs=0.1)


def test_what_has_no_threshold_has_no_slider():
    y = np.array(["a", "b", "c"] * 20)
    assert 'id="threshold"' not in dmfroc.evaluate(y, y_pred=np.roll(y, 1)).to_html()


def test_probabilities_of_single_precision_meet_round_thresholds():
    y, p = two_classes()
    found, expected = (
        tried(dmfroc.Predictions.from_arrays(y, p.round(2).clip(0.01, 0.99).astype(x)))[0]
        for x in ("f4", "f8")
    )
    assert np.array_equal(found.found, expected.found)
    assert np.array_equal(found.false_alarms, expected.false_alarms)
