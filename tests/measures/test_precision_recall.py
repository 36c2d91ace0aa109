"""Areas under precision-recall and precision-recall-gain curves."""

import numpy as np
import pytest
import sklearn.metrics
from golden import assert_golden, golden
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from simulations import normal_scores

from dmfroc import (
    average_precision_score,
    precision_recall_area_score,
    precision_recall_gain_area_score,
)

CLASSES = np.repeat([0, 1], [13, 11])
tied_scores = hnp.arrays(float, 24, elements=st.integers(0, 8).map(float))


def finely_interpolated(classes, scores, weights, steps=20_000):
    """Return false and true positives on a fine grid of the straight lines between thresholds."""
    order = np.argsort(-scores, kind="stable")
    ordered, weights, positive = scores[order], weights[order], classes[order] == 1
    ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    tp = np.append(0, np.cumsum(weights * positive)[ends])
    fp = np.append(0, np.cumsum(weights * ~positive)[ends])
    along = np.linspace(0, len(ends), steps * len(ends) + 1)
    return np.interp(along, np.arange(len(tp)), fp), np.interp(along, np.arange(len(tp)), tp)


@pytest.mark.parametrize("case", golden("roc_curves"))
def test_stored_values(case):
    classes, scores = case["inputs"]["labels"], case["inputs"]["scores"]
    assert_golden(average_precision_score(classes, scores), case, "average_precision")
    assert_golden(precision_recall_area_score(classes, scores), case, "aupr_davis_goadrich")


@pytest.mark.parametrize("case", golden("prg_curves"))
def test_stored_values_of_gain(case):
    area = precision_recall_gain_area_score(case["inputs"]["labels"], case["inputs"]["scores"])
    assert_golden(area, case, "auprg")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_average_precision_agrees_with_scikit_learn(is_weighted):
    classes, scores = normal_scores(1, 60, 3, prior=[0.5, 0.3, 0.2])
    scores = np.round(scores, 1)
    weights = np.random.default_rng(2).exponential(size=60) if is_weighted else None
    expected = sklearn.metrics.average_precision_score(
        classes, scores, average="macro", sample_weight=weights
    )
    area = average_precision_score(classes, scores, sample_weight=weights)
    assert area == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("prior", [[0.3, 0.7], [0.9, 0.1]])
def test_areas_agree_with_a_fine_grid(prior):
    classes, scores = normal_scores(3, 40, 2, shift=0.3, prior=prior)
    scores = np.round(scores[:, 1])
    weights = np.random.default_rng(4).exponential(size=40)
    fp, tp = finely_interpolated(classes, scores, weights)
    seen = tp > 0
    fp, tp, positives, negatives = fp[seen], tp[seen], tp[-1], fp[-1]
    area = precision_recall_area_score(classes, scores, sample_weight=weights)
    assert area == pytest.approx(np.trapezoid(tp / (tp + fp), tp / positives), abs=1e-4)
    odds = positives / negatives
    recall_gain, precision_gain = 1 - odds * (positives - tp) / tp, 1 - odds * fp / tp
    inside = recall_gain >= 0
    for clip in (False, True):
        height = np.maximum(precision_gain, 0) if clip else precision_gain
        expected = np.trapezoid(height[inside], recall_gain[inside])
        area = precision_recall_gain_area_score(classes, scores, sample_weight=weights, clip=clip)
        assert area == pytest.approx(expected, abs=1e-3)


@settings(max_examples=30)
@given(tied_scores)
def test_ranges_and_maps(scores):
    signed = precision_recall_gain_area_score(CLASSES, scores)
    clipped = precision_recall_gain_area_score(CLASSES, scores, clip=True)
    assert max(signed, 0) - 1e-14 <= clipped <= 1 + 1e-14
    mapped = np.exp(scores / 3) - 7
    assert precision_recall_gain_area_score(CLASSES, mapped) == signed
    area = precision_recall_area_score(CLASSES, scores)
    assert 0 <= area <= 1 + 1e-14
    assert precision_recall_area_score(CLASSES, mapped) == area


def test_perfect_and_constant_scores():
    prevalence = CLASSES.mean()
    for score, constant in (
        (average_precision_score, prevalence),
        (precision_recall_area_score, prevalence),
        (precision_recall_gain_area_score, 0),
    ):
        assert score(CLASSES, CLASSES * 1.0) == pytest.approx(1, rel=0, abs=1e-14)
        assert score(CLASSES, np.ones(24)) == pytest.approx(constant, rel=0, abs=1e-14)
