"""Points that none dominates, repaired concavities, profits, summary curves, least precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.figure import Figure
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.calibration import calibration_curve as sklearn_calibration

from dmfroc import plots
from dmfroc.applications import (
    expected_profits,
    moses_littenberg_roc,
    optimal_operating_points,
    pareto_points,
    repair_concavities,
)
from dmfroc.curves import (
    calibration_curve,
    convex_hull,
    det_curve,
    least_precision,
    lift_curve,
    operating_points,
    precision_recall_curve,
    prg_curve,
    roc_curve,
)
from dmfroc.measures import ContingencyTable

CLASSES = np.repeat([0, 1], [13, 11])
tied_scores = hnp.arrays(float, 24, elements=st.integers(0, 8).map(float))


def test_rounded_sums_of_weights_make_no_pareto_points():
    y, generator = np.arange(40) % 2, np.random.default_rng(0)
    for _ in range(100):
        scores = np.round(generator.normal(size=40) + 0.8 * y, 1)
        whole, tenths = (
            pareto_points(precision_recall_curve(y, scores, sample_weight=[weight] * 40))
            for weight in (1, 0.1)
        )
        assert tenths.thresholds.tolist() == whole.thresholds.tolist()


@settings(max_examples=40)
@given(tied_scores)
def test_pareto_points_are_those_that_none_dominates(scores):
    for draw in (roc_curve, prg_curve, precision_recall_curve):
        curve = draw(CLASSES, scores)
        sign = -1 if curve.kind == "roc" else 1
        x, y = sign * curve.x, curve.y
        exist = np.isfinite(x) & np.isfinite(y)
        expected = [
            threshold
            for threshold, a, b in zip(curve.thresholds[exist], x[exist], y[exist], strict=True)
            if not ((x >= a) & (y >= b) & ((x > a) | (y > b)))[exist].any()
        ]
        found = pareto_points(curve)
        assert found.thresholds.tolist() == expected
        if curve.kind != "pr":
            inner = convex_hull(curve).thresholds[1:-1]
            assert set(inner) <= set(found.thresholds)


@settings(max_examples=40)
@given(tied_scores)
def test_repaired_curves_are_reflected_above_their_hull(scores):
    curve = roc_curve(CLASSES, scores)
    repaired = roc_curve(CLASSES, repair_concavities(curve, scores))
    hull = convex_hull(curve).area
    # What was below the hull is as far above it, unless it lay on it
    assert repaired.area == pytest.approx(2 * hull - curve.area, abs=1e-12)
    again = repair_concavities(roc_curve(CLASSES, CLASSES), CLASSES)
    np.testing.assert_array_equal(again, CLASSES)


@settings(max_examples=25)
@given(tied_scores, hnp.arrays(float, (2, 2), elements=st.integers(-9, 9).map(float)))
def test_profits_are_those_of_each_table(scores, benefits):
    points = operating_points(CLASSES, scores)
    expected = []
    for threshold in points.thresholds:
        table = ContingencyTable.from_labels(CLASSES, (scores >= threshold).astype(int))
        expected.append((table.counts * benefits).sum() / 24)
    found = expected_profits(points, benefits)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    same = expected_profits(points, benefits, prevalence=11 / 24)
    np.testing.assert_allclose(found, same, atol=1e-12)


def test_summary_curves_of_logistic_scores_are_recovered():
    # Logits of the rates of shifted logistic scores are a straight line of slope one
    fpr = np.linspace(0.05, 0.95, 15)
    tpr, n = expit(logit(fpr) + 1.7), 1e9
    curve = moses_littenberg_roc(n * tpr, n * fpr, n * (1 - tpr), n * (1 - fpr))
    assert (curve.intercept, curve.slope) == pytest.approx((1.7, 0), abs=1e-6)
    np.testing.assert_allclose(curve.tpr(fpr), tpr, rtol=1e-6)
    odds = np.exp(1.7)
    assert curve.auc == pytest.approx(odds * (odds - 1 - 1.7) / (odds - 1) ** 2, abs=1e-6)
    assert curve.q_star == pytest.approx(expit(0.85), abs=1e-6)
    assert curve.tpr([0, 1]).tolist() == [0, 1]


def test_what_is_no_summary_curve_is_refused():
    with pytest.raises(ValueError, match=r"slope must be in \(-1, 1\) .* but it is"):
        moses_littenberg_roc([10, 20, 80], [10, 10, 10], [90, 80, 20], [90, 90, 90])
    with pytest.raises(ValueError, match="two points that differ"):
        moses_littenberg_roc([1, 1], [1, 1], [1, 1], [1, 1])
    with pytest.raises(ValueError, match="fp must hold finite counts >= 0"):
        moses_littenberg_roc([1, 1], [1, -1], [1, 1], [1, 1])
    with pytest.raises(ValueError, match="vectors of one length"):
        moses_littenberg_roc([1, 1], [1], [1, 1], [1, 1])
    same_rates = [10, 20.5], [3, 6.5], [5, 10.5], [40, 80.5]  # with half a case in each cell
    for cells in (([], [], [], []), same_rates):
        with pytest.raises(ValueError, match="needs two points that differ"):
            moses_littenberg_roc(*cells)
    line = moses_littenberg_roc([10, 20], [3, 9], [5, 4], [40, 30])
    for rate in (1.5, -0.5, np.nan):
        with pytest.raises(ValueError, match=r"fpr must lie in \[0, 1\]"):
            line.tpr(rate)


@settings(max_examples=25)
@given(tied_scores)
def test_no_precision_is_below_the_least(scores):
    points = operating_points(CLASSES, scores)
    least = least_precision(points.true_positive_rate, points.prevalence)
    predicted = points.bias > 0
    assert (points.precision >= least - 1e-12)[predicted].all()


def test_decisions_are_marked_where_their_tables_are():
    generator = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], [20, 15, 10])
    scores = generator.normal(size=(45, 3)) + np.eye(3)[classes]
    table = ContingencyTable.from_labels(classes, scores.argmax(axis=1))
    ax = Figure().subplots()
    display = plots.BPRDDisplay.from_predictions(classes, scores, s=0, ax=ax)
    display.plot_decisions(table)
    for k, marker in display.decisions_.items():
        hits, predicted, observed = table.counts[k, k], table.counts[k].sum(), (classes == k).sum()
        recall, fallout = hits / observed, (predicted - hits) / (45 - observed)
        assert marker.get_xdata() == pytest.approx([predicted / observed])
        assert marker.get_ydata() == pytest.approx([recall - fallout])
    two = ContingencyTable.from_labels([0, 1], [0, 1])
    with pytest.raises(ValueError, match="decisions need counts of the class 2"):
        display.plot_decisions(two)


def test_tangents_touch_the_hull_where_the_operating_point_is_best():
    scores = np.random.default_rng(1).normal(size=24) + CLASSES
    ax = Figure().subplots()
    display = plots.ROCDisplay.from_predictions(CLASSES, scores, ax=ax, plot_hull=True)
    best = optimal_operating_points(CLASSES, scores, cost_fp=2)
    line = display.plot_tangent(best.slope).tangents_[1]
    x, y = line.get_xy1()
    hull = convex_hull(roc_curve(CLASSES, scores))
    assert (hull.y - y <= best.slope * (hull.x - x) + 1e-12).all()
    assert any(x == point.fpr and y == point.tpr for point in best.points)
    texts = [text.get_text() for text in display.ax_.texts]
    assert f"{hull.scores[np.argmax(np.hypot(np.diff(hull.x), np.diff(hull.y)))]:.2f}" in texts
    with pytest.raises(ValueError, match="slope must be finite"):
        display.plot_tangent(np.inf)


@settings(max_examples=60)
@given(tied_scores, hnp.arrays(float, 24, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
def test_curves_unpack_like_those_of_scikit_learn(scores, weights):
    weights[[0, -1]] = 1.0  # both classes count
    for ours, theirs in (
        (roc_curve, metrics.roc_curve),
        (precision_recall_curve, metrics.precision_recall_curve),
        (det_curve, metrics.det_curve),
    ):
        counted = weights > 0  # scikit-learn keeps thresholds of observations without weight
        expected = theirs(
            CLASSES[counted],
            scores[counted],
            sample_weight=weights[counted],
            drop_intermediate=False,
        )
        unpacked = tuple(ours(CLASSES, scores, sample_weight=weights))
        assert len(unpacked) == 3
        for one, other in zip(unpacked, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    curve = calibration_curve(CLASSES, scores / 8, n_bins=4)
    for one, other in zip(curve, sklearn_calibration(CLASSES, scores / 8, n_bins=4), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert [x.tolist() for x in lift_curve(CLASSES, scores)] == [
        getattr(lift_curve(CLASSES, scores), name).tolist() for name in ("x", "y", "thresholds")
    ]
