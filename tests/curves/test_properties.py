"""Identities between curves, on any data with ties, and agreement with scikit-learn."""

import inspect
import itertools

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve as sklearn_calibration_curve
from sklearn.isotonic import IsotonicRegression

from dmfroc import applications, curves
from dmfroc.analyses.catalogue import FACTORIES
from dmfroc.curves.points import Cases
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.hull import _scan

N_MOST = 40


@st.composite
def samples(draw, weighted=False):
    """Return classes 0 and 1, both present, scores with ties, and whole weights."""
    n = draw(st.integers(2, N_MOST))
    classes = draw(
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: len({*y}) == 2)
    )
    scores = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)) if weighted else [1] * n
    return np.array(classes), np.array(scores) / 12, np.array(weights)


def drawn(n=2000, shift=1.0, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    classes = (rng.random(n) < 0.3).astype(int)
    return classes, (rng.normal(size=n) + shift * classes).round(decimals)


CURVES = [
    curves.pn_curve,
    curves.delta_pn_curve,
    curves.roc_curve,
    curves.boc_curve,
    curves.det_curve,
    curves.accuracy_curve,
    curves.lift_curve,
    curves.cumulative_gains_curve,
    curves.bift_curve,
    curves.bprd_curve,
    curves.bird_curve,
    curves.precision_recall_curve,
    curves.reciprocal_precision_recall_curve,
    curves.log_precision_recall_curve,
    curves.prg_curve,
    curves.cost_curve,
    curves.isotonic_calibration_curve,
]
NAMES = [curve.__name__ for curve in CURVES]


def function_of_cases(curve):
    """Return what the public function computes from the cases of a class, without type checks."""
    function = inspect.getclosurevars(inspect.unwrap(curve)).nonlocals["compute"]
    return inspect.unwrap(function)


# Areas


@pytest.mark.slow
@given(samples())
def test_areas_are_those_of_the_drawn_polygons(sample):
    for chart in CURVES:
        curve = chart(*sample[:2])
        if curve.area is not None and curve.kind not in ("pr", "prg"):
            assert curve.area == pytest.approx(curve.integral(), abs=1e-12)
    counts = curves.lift_curve(*sample[:2], scale="counts")
    assert counts.area == pytest.approx(counts.integral())


@pytest.mark.slow
@given(samples(weighted=True))
def test_areas_are_those_of_the_measures(sample):
    classes, scores, weights = sample
    points = curves.operating_points(classes, scores, sample_weight=weights)
    found = {
        "roc_area": curves.roc_curve(classes, scores, sample_weight=weights).area,
        "lift_area": curves.lift_curve(classes, scores, sample_weight=weights).area,
        "precision_recall_area": curves.precision_recall_curve(
            classes, scores, sample_weight=weights
        ).area,
        "precision_recall_gain_area": curves.gain_area(points),
        "convex_hull_auc": curves.convex_hull(
            curves.roc_curve(classes, scores, sample_weight=weights)
        ).area,
        "kappa_area": curves.area_under_kappa(points),
        "max_informedness": points.maximum(points.informedness).value,
    }
    for name, area in found.items():
        measure = FACTORIES[name]()
        assert area == pytest.approx(
            measure(classes, scores, sample_weight=weights), rel=1e-12, abs=1e-14
        )


@given(samples())
def test_areas_of_all_charts_follow_from_the_auc(sample):
    classes, scores, _ = sample
    auc, n_positive = curves.roc_curve(classes, scores).area, classes.sum()
    n = len(classes)
    share = n_positive / n
    assert curves.boc_curve(classes, scores).area == pytest.approx(auc - 0.5, abs=1e-12)
    assert curves.bift_curve(classes, scores).area == pytest.approx(auc - 0.5, abs=1e-12)
    assert curves.det_curve(classes, scores).area == pytest.approx(1 - auc, abs=1e-12)
    assert curves.pn_curve(classes, scores).area == pytest.approx(
        auc * n_positive * (n - n_positive)
    )
    lift = curves.lift_curve(classes, scores, scale="counts")
    of_pairs = n_positive**2 / 2 + n_positive * (n - n_positive) * auc
    assert lift.area == pytest.approx(of_pairs / n)
    points = curves.operating_points(classes, scores)
    hits, alarms = np.diff(points.true_positives), np.diff(points.false_positives)
    ties = np.sum(hits**2 + hits * alarms) / (2 * n)
    assert lift.area - lift.integral("left") == pytest.approx(ties)
    uniform = share * (1 - share) * (2 * auc - 1) + 0.5
    assert curves.accuracy_curve(classes, scores).area == pytest.approx(uniform)


@given(samples())
def test_staircases_straddle_the_trapezoids(sample):
    classes, scores, _ = sample
    roc = curves.roc_curve(classes, scores)
    assert roc.integral("left") + roc.integral("right") == pytest.approx(2 * roc.area)
    positive, negative = scores[classes == 1][:, None], scores[classes == 0]
    assert roc.integral("left") == pytest.approx(np.mean(positive > negative))
    assert roc.integral("right") == pytest.approx(np.mean(positive >= negative))


@given(samples())
def test_certainty_is_the_area_of_the_best_single_threshold(sample):
    classes, scores, _ = sample
    points = curves.operating_points(classes, scores)
    (threshold, *_) = points.maximum(points.informedness).thresholds
    single = curves.roc_curve(classes, (scores >= threshold).astype(float))
    split = curves.certainty_consistency(points)
    assert split.certainty == pytest.approx(single.area)
    assert sum(split) == pytest.approx(curves.roc_curve(classes, scores).area)
    assert curves.certainty_consistency(points, hull=True).consistency >= -1e-12


@given(samples())
def test_area_under_kappa_of_balanced_classes(sample):
    classes, scores, _ = sample
    balanced = np.where(classes == 1, 1 / classes.sum(), 1 / (1 - classes).sum())
    points = curves.operating_points(classes, scores, sample_weight=balanced)
    auc = curves.roc_curve(classes, scores).area
    for method in ("exact", "trapezoid"):
        assert curves.area_under_kappa(points, method=method) == pytest.approx(auc - 0.5, abs=1e-9)


@given(samples())
def test_exact_area_under_kappa_is_that_on_a_fine_grid(sample):
    points = curves.operating_points(*sample[:2])
    fine = np.linspace(0, 1, 4001)
    total = 0.0
    for k in range(len(points.thresholds) - 1):
        true = points.true_positives[k] + fine * np.diff(points.true_positives)[k]
        false = points.false_positives[k] + fine * np.diff(points.false_positives)[k]
        between = curves.OperatingPoints(
            1, np.full(len(fine), np.nan), true, false, points.positives, points.negatives
        )
        total += np.trapezoid(between.cohen_kappa, between.false_positive_rate)
    assert curves.area_under_kappa(points) == pytest.approx(total, abs=1e-6)


def test_kappa_area_is_continuous_where_its_formula_cancels():
    classes, scores, _ = np.array([1, 0, 1, 0, 0, 1]), np.array([5, 4, 3, 3, 2, 1]), None
    areas = [
        curves.area_under_kappa(
            curves.operating_points(
                classes, scores, sample_weight=np.where(classes == 1, 1 + shift, 1.0)
            )
        )
        for shift in (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
    ]
    assert np.all(np.abs(np.diff(areas)) < 1e-3)
    slopes = np.diff(areas) / np.diff([0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3])
    assert slopes == pytest.approx(slopes[-1], rel=0.01)


@given(samples())
def test_hyperbolic_area_is_that_of_fine_steps_in_counts(sample):
    classes, scores, _ = sample
    points = curves.operating_points(classes, scores)
    area = 0.0
    for k in np.flatnonzero(np.diff(points.true_positives)):
        fine = np.linspace(1e-9, 1, 2001)
        true = points.true_positives[k] + fine * np.diff(points.true_positives)[k]
        false = points.false_positives[k] + fine * np.diff(points.false_positives)[k]
        area += np.trapezoid(true / (true + false), true) / points.positives
    assert curves.precision_recall_curve(classes, scores).area == pytest.approx(area, abs=1e-5)


# Hulls


@pytest.mark.slow
@given(samples(weighted=True))
def test_hull_is_isotonic_regression(sample):
    classes, scores, weights = sample
    roc = curves.roc_curve(classes, scores, sample_weight=weights)
    hull = curves.convex_hull(roc)
    pooled = IsotonicRegression().fit(scores, classes, sample_weight=weights).predict(scores)
    assert hull.calibrate(scores) == pytest.approx(pooled, abs=1e-9)
    own = curves.isotonic_calibration_curve(classes, scores, sample_weight=weights)
    assert np.interp(scores, own.x, own.y) == pytest.approx(pooled, abs=1e-9)
    assert np.all(np.diff(hull.scores) < 0)
    assert np.all(np.diff(hull.slopes) < 0)
    assert hull.area >= roc.area - 1e-12
    # Scores that pooling makes equal in theory must be equal numbers to be ties
    after = curves.roc_curve(classes, hull.calibrate(scores) - 1, sample_weight=weights)
    assert after.area == pytest.approx(hull.area)


@given(samples())
def test_no_point_is_above_the_hull(sample):
    roc = curves.roc_curve(*sample[:2])
    hull = curves.convex_hull(roc)
    inside = roc.x > 0
    assert np.all(np.interp(roc.x[inside], hull.x, hull.y) >= roc.y[inside] - 1e-12)


@given(samples())
def test_prg_hull_is_that_of_roc_without_the_origin(sample):
    roc, prg = (
        curves.convex_hull(curve(*sample[:2])) for curve in (curves.roc_curve, curves.prg_curve)
    )
    assert np.array_equal(prg.thresholds, roc.thresholds[1:])
    assert np.all(np.diff(prg.scores) < 0)
    # and it is concave on its own chart
    assert np.all(np.diff(prg.slopes) < 1e-12)
    assert prg.area >= curves.prg_curve(*sample[:2]).area - 1e-12


@given(samples(), st.floats(0.05, 5))
def test_best_f_is_at_the_hull_vertex_that_d_selects(sample, beta):
    prg = curves.prg_curve(*sample[:2])
    hull = curves.convex_hull(prg)
    chosen = int(np.sum(hull.scores > 1 / (1 + beta**2)))
    best = curves.best_f_gain(prg.points, beta=beta)
    assert curves.f_gains(hull.points, beta=beta)[chosen] == pytest.approx(best.value)
    scores = sample[1]
    predicted = hull.calibrate(scores) > 1 / (1 + beta**2)
    by_d = sklearn.metrics.fbeta_score(
        sample[0], predicted | (scores >= hull.thresholds[0]), beta=beta
    )
    rate = prg.points.prevalence
    assert by_d == pytest.approx(curves.f_from_gain(best.value, rate))


@given(samples(), st.floats(0.02, 0.98))
def test_cost_curve_is_the_least_cost_of_any_threshold(sample, x):
    curve = curves.cost_curve(*sample[:2])
    points = curve.points
    costs = (1 - points.true_positive_rate) * x + points.false_positive_rate * (1 - x)
    assert np.interp(x, curve.x, curve.y) == pytest.approx(costs.min(), abs=1e-12)
    threshold = curve.thresholds[np.searchsorted(curve.x, x, "right") - 1]
    assert costs[points.thresholds == threshold] == pytest.approx(costs.min(), abs=1e-12)
    assert np.all(curve.y <= np.interp(curve.x, curve.chance.x, curve.chance.y) + 1e-12)


@given(samples(), st.floats(0.05, 20))
def test_iso_performance_optimum_is_at_a_vertex(sample, cost_ratio):
    """Of accuracy or any costs; the tangent has the same slope in ROC and in lift space."""
    roc, lift = curves.roc_curve(*sample[:2]), curves.lift_curve(*sample[:2], scale="counts")
    points, hull = roc.points, curves.convex_hull(roc)
    gain = points.true_positives - cost_ratio * points.false_positives
    at_vertices = hull.points.true_positives - cost_ratio * hull.points.false_positives
    assert at_vertices.max() == pytest.approx(gain.max())
    slope = points.total * cost_ratio / (1 + cost_ratio)
    in_lift = lift.y - slope * lift.x
    assert in_lift * (1 + cost_ratio) == pytest.approx(gain, abs=1e-9)


def test_hull_of_lift_is_the_image_of_that_of_roc():
    sample = drawn()
    roc, lift = (
        curves.convex_hull(curve(*sample)) for curve in (curves.roc_curve, curves.lift_curve)
    )
    share = np.mean(sample[0])
    assert np.array_equal(roc.thresholds, lift.thresholds)
    assert lift.x == pytest.approx(share * roc.y + (1 - share) * roc.x)
    assert lift.slopes == pytest.approx(lift.scores / share)


def scanned(points):
    """Return the vertices of the hull by the algorithm for data on which the other is slow."""
    n = len(points.thresholds)
    counts = points.false_positives.tolist(), points.true_positives.tolist()
    return _scan(np.arange(n), *counts, [False] * (n - 1) + [True], (0, 0))


def test_hull_where_no_neighbours_help():
    """Points on a circle seen from its outside go one by one; those on its inside stay."""
    n = 400
    angles = np.linspace(0, np.pi / 2, n)
    for counts in (
        (1 - np.cos(angles), np.sin(angles)),  # concave: all are vertices
        (np.sin(angles), 1 - np.cos(angles)),  # convex: only the ends
        (np.linspace(0, 1, n) ** 0.5, np.linspace(0, 1, n) ** 2),
    ):
        false, true = (np.round(1e6 * rate) for rate in counts)
        points = curves.OperatingPoints(
            1, -np.arange(n, dtype=float), true, false, float(true[-1]), float(false[-1])
        )
        assert np.array_equal(points.hull_vertices(), scanned(points))


@given(samples())
def test_both_ways_to_a_hull_agree(sample):
    points = curves.operating_points(*sample[:2])
    assert np.array_equal(points.hull_vertices(), scanned(points))


@pytest.mark.filterwarnings("ignore:.* rows of y_score have scores outside 0 to 1")
@given(samples(weighted=True))
def test_heavy_cases_beyond_all_others_leave_the_fit_of_light_ones(sample):
    classes, scores, weights = sample
    alone = curves.isotonic_calibration_curve(classes, scores, sample_weight=weights)
    among = curves.isotonic_calibration_curve(
        np.append(classes, [0, 1]),
        np.append(scores, [-1, 2]),
        sample_weight=np.append(weights, [3e7 + 0.1, 3e7 + 0.1]),
    )
    assert among.y[1:-1] == pytest.approx(alone.y, abs=1e-6)


def test_hull_of_counts_beyond_what_floats_multiply_exactly():
    """Of neighbouring ratios of Fibonacci numbers, cross products are 1 and -1."""
    small, middle, large = 267914296, 433494437, 701408733

    def n_vertices(*weights):
        roc = curves.roc_curve([0, 1, 0, 1], [2, 2, 1, 1], sample_weight=weights)
        return len(curves.convex_hull(roc).x)

    assert n_vertices(small, middle, middle, large) == 3
    assert n_vertices(middle, large, small, middle) == 2
    assert n_vertices(small, middle, small, middle) == 2


# Gains


@given(samples())
def test_precision_gain_is_informedness_over_recall(sample):
    prg = curves.prg_curve(*sample[:2])
    points = prg.points
    some = points.true_positives > 0
    assert prg.y[some] == pytest.approx(points.informedness[some] / points.true_positive_rate[some])
    assert curves.f_gains(points)[some] == pytest.approx((prg.x + prg.y)[some] / 2)
    f2 = curves.f_gains(points, beta=2)[some]
    assert 5 * f2 == pytest.approx((prg.y + 4 * prg.x)[some])
    alpha = applications.operating_conditions(points)
    rate = points.prevalence
    assert np.all(np.diff(alpha[some]) >= -1e-9)
    assert alpha[-1] == pytest.approx(1 / rate)
    assert alpha[some] == pytest.approx(prg.x[some] / rate - prg.y[some] / (1 - rate))


@pytest.mark.slow
@given(samples())
def test_f_gain_is_the_gain_of_f(sample):
    points = curves.operating_points(*sample[:2])
    for threshold, gain in zip(points.thresholds[1:], curves.f_gains(points)[1:], strict=True):
        f1 = sklearn.metrics.f1_score(sample[0], sample[1] >= threshold)
        assert curves.f_from_gain(gain, points.prevalence) == pytest.approx(f1)


def test_gain_areas_of_perfect_random_and_constant_scores():
    classes = np.arange(10) % 2
    assert curves.prg_curve(classes, classes).area == pytest.approx(1)
    assert curves.prg_curve(classes, np.zeros(10)).area == pytest.approx(0)
    rng = np.random.default_rng(0)
    random = [
        curves.prg_curve(*drawn(shift=0, seed=seed)).area for seed in rng.integers(999, size=9)
    ]
    assert abs(np.mean(random)) < 0.05


@given(samples())
def test_gain_area_is_that_of_the_drawn_polygon(sample):
    prg = curves.prg_curve(*sample[:2])
    exist = np.isfinite(prg.x) & np.isfinite(prg.y)
    x, y = prg.x[exist], prg.y[exist]
    y0 = curves.crossing_gain(prg.points)
    if x[0] < 0:
        before = np.flatnonzero(x < 0)[-1]  # the last point of x < 0 and the first beyond
        assert y0 == pytest.approx(np.interp(0, x[before : before + 2], y[before : before + 2]))
    grid = np.union1d(np.linspace(0, 1, 20001), x[x > 0])
    # Of points one above the other, the polygon leaves from the lowest and arrives at the highest
    ends = np.column_stack([np.append(0.0, x[x >= 0]), np.append(y0, y[x >= 0])])
    signed = clipped = 0.0
    for (x1, y1), (x2, y2) in itertools.pairwise(ends):
        inside = grid[(grid >= x1) & (grid <= x2)]
        if x2 > x1 and len(inside):
            heights = y1 + (y2 - y1) * (inside - x1) / (x2 - x1)
            signed += np.trapezoid(heights, inside)
            clipped += np.trapezoid(np.maximum(heights, 0), inside)
    assert prg.area == pytest.approx(signed, rel=1e-9, abs=1e-9)
    assert curves.gain_area(prg.points, clip=True) == pytest.approx(clipped, abs=1e-4)


@given(samples(), st.floats(0.1, 4))
def test_expected_f_gain_is_its_integral_over_conditions(sample, beta):
    points = curves.operating_points(*sample[:2])
    expected = curves.expected_f_gain(points, beta=beta)
    if np.isnan(expected):
        return
    # The condition alpha is linear along a segment of the curve, and so is FG
    prg = curves.prg_curve(*sample[:2])
    start = int(np.argmax(prg.x > 0)) if np.any(prg.x > 0) else len(prg.x)
    y0 = curves.crossing_gain(points)
    x, y = np.append(0.0, prg.x[start:]), np.append(y0, prg.y[start:])
    if prg.x[start - 1] == 0:  # points straight below the crossing
        below = np.flatnonzero(prg.x == 0)
        x, y = np.append(np.zeros(len(below)), x[1:]), np.append(prg.y[below], y[1:])
    rate = points.prevalence
    alpha = x / rate - y / (1 - rate)
    gains = (y + beta**2 * x) / (1 + beta**2)
    mean = np.trapezoid(gains, alpha) / (alpha[-1] - alpha[0])
    assert expected == pytest.approx(mean, abs=1e-8)
    inverse = curves.expected_inverse_f(points, beta=beta)
    assert inverse == pytest.approx((1 - (1 - rate) * expected) / rate)


@given(
    st.integers(1, 30), st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.floats(0, 1)
)
def test_theorem_1_is_the_gain_of_the_mixed_table(tp1, fp1, tp2, fp2, share):
    first, second = (tp1, fp1, 30 - tp1, 31 - fp1), (tp2, fp2, 30 - tp2, 31 - fp2)
    mixed = [share * a + (1 - share) * b for a, b in zip(first, second, strict=True)]
    found = applications.interpolate_gains(first, second, share)
    assert found.precision_gain == pytest.approx(
        applications.precision_gain(*mixed), rel=1e-6, abs=1e-9
    )
    assert found.recall_gain == pytest.approx(applications.recall_gain(*mixed), rel=1e-6, abs=1e-9)


def test_theorem_4_gives_the_segment_of_the_hull():
    hull = curves.convex_hull(curves.prg_curve(*drawn()))
    for k, d in enumerate(hull.scores[:-1]):
        one, other = hull.points.at(np.array([k])), hull.points.at(np.array([k + 1]))
        if one.precision[0] > other.precision[0]:
            same = applications.same_f_beta(
                one.precision[0],
                one.true_positive_rate[0],
                other.precision[0],
                other.true_positive_rate[0],
            )
            assert same.d == pytest.approx(d)


# Charts


@pytest.mark.slow
@given(samples())
def test_break_even_is_at_drift_one(sample):
    points = curves.operating_points(*sample[:2])
    predicted = points.true_positives + points.false_positives
    at_break_even = predicted == points.positives
    for s in (0, 1, 2.5):
        bprd = curves.bprd_curve(*sample[:2], s=s)
        assert np.array_equal(bprd.x == 1, at_break_even)
    for smoothing in ("laplace", "proportional"):
        bird = curves.bird_curve(*sample[:2], s=1, smoothing=smoothing)
        assert np.array_equal(bird.x == 0, at_break_even)


@given(samples())
def test_proportional_smoothing_has_no_information_at_either_end(sample):
    bird = curves.bird_curve(*sample[:2], smoothing="proportional")
    assert bird.y[[0, -1]] == pytest.approx([0, 0], abs=1e-12)
    laplace = curves.bird_curve(*sample[:2])
    points = laplace.points
    assert laplace.y[0] == pytest.approx(np.log2((1 + points.positives) / (1 + points.negatives)))


@pytest.mark.parametrize(
    ("chart", "options"),
    [
        (chart, {})
        for chart in CURVES[:14]
        if chart not in (curves.delta_pn_curve, curves.bird_curve)
    ]
    + [(curves.lift_curve, {"scale": "counts"}), (curves.lift_curve, {"scale": "factor"})]
    + [(curves.bird_curve, {"smoothing": "proportional"}), (curves.prg_curve, {})],
)
def test_predictions_at_random_are_on_the_chance_line(chart, options):
    curve = chart(*drawn(200), **options)
    if curve.chance is None:
        assert curve.kind in ("reciprocal_pr", "log_pr")
        return
    share = np.array([0.2, 0.5, 0.9])
    points = curve.points
    guessed = curves.OperatingPoints(
        1,
        np.full(3, np.nan),
        share * points.positives,
        share * points.negatives,
        points.positives,
        points.negatives,
    )
    x, y = curve.projection(guessed)
    (x1, x2), (y1, y2) = curve.chance
    assert (x2 - x1) * (y - y1) == pytest.approx((y2 - y1) * (x - x1))


def test_break_even_lines_pass_through_break_even_points():
    classes, scores = np.array([1, 1, 0, 1, 0, 0, 0]), np.arange(7)[::-1]
    charts = [curves.pn_curve, curves.roc_curve, curves.boc_curve, curves.det_curve]
    charts += [curves.lift_curve, curves.bift_curve, curves.bprd_curve, curves.accuracy_curve]
    charts += [curves.delta_pn_curve, curves.precision_recall_curve, curves.prg_curve]
    for chart in charts:
        curve = chart(classes, scores)
        (point,) = np.flatnonzero(curve.points.bias == curve.points.prevalence)
        line = curve.break_even
        perfect = chart(classes, classes)  # the second of its three points has no error
        if curve.kind not in ("pr", "prg"):
            assert (line.x[0], line.y[0]) == pytest.approx((perfect.x[1], perfect.y[1]))
        direction = np.array([np.ptp(line.x), line.y[1] - line.y[0]]) * [
            np.sign(line.x[1] - line.x[0]) or 1,
            1,
        ]
        offset = np.array([curve.x[point] - line.x[0], curve.y[point] - line.y[0]])
        assert direction[0] * offset[1] - direction[1] * offset[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("curve", CURVES, ids=NAMES)
def test_only_the_order_of_scores_matters(curve):
    classes, scores = drawn()
    one, other = curve(classes, scores), curve(classes, np.exp(scores / 2) - 3)
    assert np.array_equal(one.y, other.y, equal_nan=True)


@given(samples())
def test_negated_scores_reverse_the_area(sample):
    classes, scores, _ = sample
    one, other = curves.roc_curve(classes, scores), curves.roc_curve(classes, -scores)
    assert one.area + other.area == pytest.approx(1)


@settings(max_examples=25)  # of each of so many curves
@given(samples(weighted=True))
def test_whole_weights_are_repeated_rows(sample):
    classes, scores, weights = sample
    repeated = np.repeat(classes, weights), np.repeat(scores, weights)
    for curve in [*CURVES, curves.calibration_curve]:
        one = curve(classes, scores, sample_weight=weights)
        other = curve(*repeated)
        assert one.x == pytest.approx(other.x, nan_ok=True)
        assert one.y == pytest.approx(other.y, nan_ok=True)
        if one.area is not None:
            assert one.area == pytest.approx(other.area)


@pytest.mark.parametrize("curve", [*CURVES, curves.calibration_curve])
def test_observations_of_weight_zero_do_not_count(curve):
    classes, scores = drawn(300)
    scores = (scores - scores.min()) / np.ptp(scores)
    weights = np.random.default_rng(0).integers(0, 2, 300)
    kept = weights > 0
    one = curve(classes, scores, sample_weight=weights)
    other = curve(classes[kept], scores[kept])
    assert np.array_equal(one.x, other.x, equal_nan=True)
    assert np.array_equal(one.y, other.y, equal_nan=True)
    assert np.array_equal(one.thresholds, other.thresholds)


@pytest.mark.parametrize("curve", CURVES[:-2], ids=NAMES[:-2])
def test_first_threshold_is_infinite_and_all_fall(curve):
    thresholds = curve(*drawn()).thresholds
    assert thresholds[0] == np.inf
    assert np.all(np.diff(thresholds) < 0)


# Isometrics

MEASURES = {
    "informedness": lambda p: p.informedness,
    "accuracy": lambda p: p.accuracy,
    "precision": lambda p: p.precision,
    "g_measure": lambda p: np.sqrt(p.precision * p.true_positive_rate),
    "mean_of_precision_and_recall": lambda p: (p.precision + p.true_positive_rate) / 2,
    "f_beta": lambda p: 5 / (1 / p.precision + 4 / p.true_positive_rate),
}


@pytest.mark.parametrize("measure", MEASURES)
def test_the_measure_is_constant_along_its_isometrics(measure):
    curve = curves.pn_curve(*drawn(100))
    lines = curves.isometrics(curve, measure, [0.2, 0.5, 0.75], beta=2)
    for value, line in zip([0.2, 0.5, 0.75], lines, strict=True):
        some = line.y > 1e-9
        assert line.value == value
        assert some.sum() > 100
        # From where there are no false positives, or no true ones, to where no positive is missed
        assert min(line.x.min(), line.y.min()) == pytest.approx(0, abs=1e-9)
        assert line.y.max() <= curve.points.positives + 1e-9
        points = curves.OperatingPoints(
            1,
            np.full(some.sum(), np.nan),
            line.y[some],
            line.x[some],
            curve.points.positives,
            curve.points.negatives,
        )
        assert MEASURES[measure](points) == pytest.approx(value)


def test_isometrics_of_f_are_straight_on_the_gain_chart():
    curve = curves.prg_curve(*drawn(200))
    rate = curve.points.prevalence
    for line in curves.isometrics(curve, values=[0.4, 0.6], beta=2):
        gain = (line.value - rate) / ((1 - rate) * line.value)
        assert line.y + 4 * line.x == pytest.approx(5 * gain)


def test_isometrics_of_the_reciprocal_and_log_charts():
    for line in curves.isometrics(curves.reciprocal_precision_recall_curve(*drawn(200))):
        assert line.x + line.y == pytest.approx(2 / line.value)
    for line in curves.isometrics(curves.log_precision_recall_curve(*drawn(200))):
        assert line.x + line.y == pytest.approx(-2 * np.log2(line.value))
    for line in curves.isometrics(curves.precision_recall_curve(*drawn(200))):
        assert line.x + line.y == pytest.approx(2 * line.value)


def test_isometrics_of_unknown_measures_are_refused():
    with pytest.raises(ValueError, match=r"one of \('informedness', .* it is 'kappa'"):
        curves.isometrics(curves.roc_curve(*drawn(50)), "kappa")


@pytest.mark.parametrize("chart", ["pn", "delta_pn", "roc", "boc", "det", "lift"])
def test_usual_isometrics_are_those_of_informedness(chart):
    curve = getattr(curves, f"{chart}_curve")(*drawn(50))
    assert {line.measure for line in curves.isometrics(curve)} == {"informedness"}


@pytest.mark.parametrize("name", [n for n in curves.__all__ if n.endswith("_curve")])
def test_documentation_says_what_curves_refuse(name):
    if "y_true" in inspect.signature(getattr(curves, name)).parameters:
        assert inspect.getdoc(getattr(curves, name)).count("\nRaises\n------\n") == 1


def test_isometrics_of_impossible_values_are_empty():
    pr = curves.precision_recall_curve(*drawn(50))
    assert [len(line.x) for line in curves.isometrics(pr, "f_beta", [-0.5, 1.5])] == [0, 0]
    roc = curves.roc_curve(*drawn(50))
    assert [len(line.x) for line in curves.isometrics(roc, values=[-2.0, 2.0])] == [0, 0]


# Calibration


@pytest.mark.parametrize("n_bins", [1, 4, 10, 33])
def test_bins_are_those_of_scikit_learn(n_bins):
    rng = np.random.default_rng(1)
    probabilities = rng.random(500).round(2)
    classes = (rng.random(500) < probabilities).astype(int)
    curve = curves.calibration_curve(classes, probabilities, n_bins=n_bins)
    share, mean = sklearn_calibration_curve(classes, probabilities, n_bins=n_bins)
    assert curve.y == pytest.approx(share)
    assert curve.x == pytest.approx(mean)
    assert curve.brier == pytest.approx(sklearn.metrics.brier_score_loss(classes, probabilities))
    other = curves.calibration_curve(classes, probabilities, n_bins=n_bins, axes="vuk_curk")
    assert np.array_equal(other.x, curve.y)
    assert (other.x_name, other.y_name) == (curve.y_name, curve.x_name)
    assert other.expected_error == curve.expected_error


def test_wilson_intervals_are_those_of_scipy():
    from scipy.stats import binomtest

    rng = np.random.default_rng(1)
    probabilities = rng.random(200)
    curve = curves.calibration_curve((rng.random(200) < probabilities).astype(int), probabilities)
    for n, share, low, high in zip(
        curve.counts, curve.fraction_positive, *curve.intervals(0.9), strict=True
    ):
        test = binomtest(round(n * share), int(n)).proportion_ci(0.9, method="wilson")
        assert (low, high) == pytest.approx((test.low, test.high))


@given(samples())
def test_roc_of_groups_is_roc_of_their_cases(sample):
    classes, scores, _ = sample
    groups = curves.calibration_curve(classes, scores, n_bins=None)
    density = groups.counts / groups.counts.sum()
    of_groups = applications.roc_from_calibration(groups.fraction_positive, density)
    roc = curves.roc_curve(classes, scores)
    assert of_groups.x == pytest.approx(roc.x)
    assert of_groups.y == pytest.approx(roc.y)


def test_area_of_a_uniform_calibrated_plot():
    """Vuk and Curk's example has 5/6, with a minus that their integrals do not have."""
    n = 4000
    middles = (np.arange(n) + 0.5) / n
    curve = applications.roc_from_calibration(middles, np.full(n, 1 / n))
    assert curve.area == pytest.approx(5 / 6, abs=1e-6)


# Agreement with scikit-learn


def test_roc_of_scikit_learn():
    classes, scores = drawn()
    weights = np.random.default_rng(5).random(len(classes))
    for w in (None, weights):
        fpr, tpr, thresholds = sklearn.metrics.roc_curve(
            classes, scores, sample_weight=w, drop_intermediate=False
        )
        roc = curves.roc_curve(classes, scores, sample_weight=w)
        assert roc.x == pytest.approx(fpr)
        assert roc.y == pytest.approx(tpr)
        assert np.array_equal(roc.thresholds, thresholds)
        auc = sklearn.metrics.roc_auc_score(classes, scores, sample_weight=w)
        assert roc.area == pytest.approx(auc)


def test_precision_recall_of_scikit_learn():
    classes, scores = drawn()
    precision, recall, thresholds = sklearn.metrics.precision_recall_curve(classes, scores)
    pr = curves.precision_recall_curve(classes, scores)
    assert pr.y[1:] == pytest.approx(precision[:-1][::-1])
    assert pr.x[1:] == pytest.approx(recall[:-1][::-1])
    assert np.array_equal(pr.thresholds[1:], thresholds[::-1])
    average = sklearn.metrics.average_precision_score(classes, scores)
    assert pr.integral("right") == pytest.approx(average)


def test_det_of_scikit_learn():
    classes, scores = drawn()
    fpr, fnr, thresholds = sklearn.metrics.det_curve(classes, scores)
    det = curves.det_curve(classes, scores)
    at = np.searchsorted(-det.thresholds, -thresholds)
    assert det.x[at] == pytest.approx(fpr)
    assert det.y[at] == pytest.approx(fnr)


# Classes


def many_classes(n=300, n_classes=4, seed=2):
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % n_classes
    return classes, rng.normal(size=(n, n_classes)) + np.eye(n_classes)[classes]


def test_each_class_against_the_rest():
    classes, scores = many_classes()
    of_classes = curves.roc_curve(classes, scores, multi_class="ovr")
    assert list(of_classes) == [0, 1, 2, 3]
    for label, curve in of_classes.items():
        alone = curves.roc_curve(classes == label, scores[:, label])
        assert curve.label == label
        assert np.array_equal(curve.y, alone.y)
        chosen = curves.roc_curve(classes, scores, pos_label=label)
        assert np.array_equal(curve.x, chosen.x)


def test_each_ordered_pair_of_classes():
    classes, scores = many_classes()
    pairs = curves.roc_curve(classes, scores, multi_class="ovo")
    assert len(pairs) == 12
    for (i, j), curve in pairs.items():
        rows = np.isin(classes, [i, j])
        alone = curves.roc_curve(classes[rows] == i, scores[rows, i])
        assert np.array_equal(curve.y, alone.y)
        assert curve.label == (i, j)


def test_mean_area_of_pairs_is_hand_and_tills_m():
    from dmfroc import hand_till_score

    classes, scores = many_classes()
    pairs = curves.roc_curve(classes, scores, multi_class="ovo")
    areas = [curve.area for curve in pairs.values()]
    assert np.mean(areas) == pytest.approx(hand_till_score(classes, scores))


def test_two_columns_are_the_second_class_against_the_first():
    classes, scores = drawn(100)
    both = np.column_stack([-scores, scores])
    second = curves.roc_curve(classes, scores)
    assert second.label == 1
    assert np.array_equal(curves.roc_curve(classes, both).y, second.y)
    first = curves.roc_curve(classes, both, pos_label=0)
    assert first.area == pytest.approx(second.area)
    assert first.label == 0


@pytest.mark.parametrize(("multi_class", "keys"), [("ovr", [0, 1]), ("ovo", [(0, 1), (1, 0)])])
def test_dictionaries_of_two_classes_have_both(multi_class, keys):
    classes, scores = drawn(100)
    both = np.column_stack([-scores, scores])
    two = curves.roc_curve(classes, both, multi_class=multi_class)
    assert list(two) == keys == [curve.label for curve in two.values()]
    for key, label in zip(keys, [0, 1], strict=True):
        assert np.array_equal(two[key].y, curves.roc_curve(classes, both, pos_label=label).y)


@pytest.mark.parametrize("curve", [*CURVES, curves.operating_points], ids=[*NAMES, "points"])
def test_several_classes_are_asked_for(curve):
    """Whether there is one result or a dictionary depends on the call alone."""
    classes, scores = many_classes()
    with pytest.raises(ValueError, match=r"4 classes, 0, 1, 2, 3: pass pos_label= .* multi_class="):
        curve(classes, scores)
    with pytest.raises(ValueError, match="pos_label is 1 and multi_class 'ovr', but only one"):
        curve(classes, scores, pos_label=1, multi_class="ovr")
    assert curve(classes, scores, pos_label=1).label == 1
    assert len(curve(classes, scores, multi_class="ovo")) == 12


def test_public_functions_say_what_they_share():
    for curve in [*CURVES, curves.calibration_curve, curves.loess_calibration_curve]:
        shared = ["y_true", "y_score", "labels", "sample_weight", "pos_label", "multi_class"]
        shared.append("direction")
        for section in ("Parameters", "Returns", "Raises", "Examples"):
            assert curve.__doc__.count(f"\n{section}\n---") == 1
        first, *own = inspect.signature(function_of_cases(curve)).parameters
        assert list(inspect.signature(curve).parameters) == [*shared, *own]
        assert first == "cases"
        for name in [*shared, *own]:
            assert name in curve.__doc__.split("Returns\n---")[0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'scale'"):
        curves.roc_curve(CLASSES, SCORES, scale="counts")


def test_predictions_in_place_of_arrays():
    classes, scores = many_classes()
    from_arrays = curves.prg_curve(Predictions.from_arrays(classes, scores), pos_label=2)
    assert from_arrays.area == curves.prg_curve(classes, scores, pos_label=2).area


def test_a_class_without_cases_is_left_out_with_a_warning():
    classes, scores = many_classes()
    present = classes < 3
    with pytest.warns(UserWarning, match="no curve is drawn of classes without observations: 3"):
        of_classes = curves.roc_curve(
            classes[present], scores[present], labels=[0, 1, 2, 3], multi_class="ovr"
        )
    assert list(of_classes) == [0, 1, 2]
    with pytest.raises(ValueError, match="pos_label is 3, a class without observations"):
        curves.roc_curve(classes[present], scores[present], labels=[0, 1, 2, 3], pos_label=3)


def test_relevant_scores_of_float32_stay_exact():
    classes, scores = drawn(200)
    narrow = scores.astype(np.float32)
    curve = curves.roc_curve(classes, narrow)
    assert curve.thresholds.dtype == np.float64
    assert {*curve.thresholds[1:]} == {*narrow.astype(float)}


# Bad input

CLASSES, SCORES = drawn(40)
PROBABILITIES = (SCORES - SCORES.min()) / np.ptp(SCORES)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: curves.roc_curve(CLASSES, SCORES, pos_label=7),
            "pos_label= must be one of the classes 0, 1, but it is 7",
        ),
        (lambda: curves.roc_curve(np.ones(40), SCORES), "class"),
        (lambda: curves.roc_curve(CLASSES, SCORES[:-1]), "40 rows but y_score has 39"),
        (
            lambda: curves.bird_curve(CLASSES, SCORES, s=-1),
            "s must be a finite number >= 0, but it is -1",
        ),
        (lambda: curves.bprd_curve(CLASSES, SCORES, s=np.nan), "s must be a finite number >= 0"),
        (
            lambda: curves.calibration_curve(CLASSES, SCORES),
            r"the probabilities of class 1 must be in \[0, 1\], but that of case \d+ .* isotonic",
        ),
        (
            lambda: curves.calibration_curve(CLASSES, PROBABILITIES, n_bins=0),
            "n_bins must be an integer >= 1, but it is 0",
        ),
        (
            lambda: curves.loess([0, 1], [0, 1], [0.5], span=0),
            r"span must be in \(0, 1\], but it is 0",
        ),
        (
            lambda: curves.loess([0, 1], [0, 1], [0.5], degree=3),
            "degree must be 1 or 2, but it is 3",
        ),
        (lambda: curves.loess([0, 1], [0, 1, 1], [0.5]), "of one length, but have 2, 3 and 2"),
        (
            lambda: curves.loess([0, np.inf], [0, 1], [0.5]),
            "x must be a one-dimensional array of finite",
        ),
        (lambda: curves.loess([], [], [0.5]), "there must be observations"),
        (
            lambda: applications.roc_from_calibration([0.1, 2], [0.5, 0.5]),
            r"true_probability must be in \[0, 1\], but that of group 1",
        ),
        (
            lambda: applications.roc_from_calibration([0.1, 0.2], [0.5, 0.6]),
            "density must be >= 0 with sum 1, but its sum is 1.1",
        ),
        (lambda: applications.roc_from_calibration([0.1, 0.2], [1.0]), r"shapes \(2,\) and \(1,\)"),
        (
            lambda: applications.roc_from_calibration([0.0, 0.0], [0.5, 0.5]),
            "cases of both classes",
        ),
        (
            lambda: applications.precision_gain(-1, 2, 3, 4),
            "tp must be a finite number >= 0, but it is -1",
        ),
        (lambda: applications.recall_gain(0, 2, 0, 4), "gains need a positive case"),
        (
            lambda: applications.f_gain(1, 2, 3, 4, beta=-1),
            "beta must be a finite number >= 0, but it is -1",
        ),
        (lambda: curves.f_from_gain(1.5, 0.5), "a gain is at most 1, but it is 1.5"),
        (lambda: curves.f_from_gain(0.5, 1), r"prevalence must be in \(0, 1\), but it is 1"),
        (
            lambda: applications.interpolate_gains((1, 1, 1, 1), (0, 1, 2, 1), 0.5),
            "second must have true positives, but its TP is 0",
        ),
        (
            lambda: applications.interpolate_gains((1, 1, 1, 1), (1, 1, 2, 1), 0.5),
            "of the same cases, but first has 2 positives",
        ),
        (
            lambda: applications.interpolate_gains((1, 1, 1), (1, 1, 2, 1), 0.5),
            "first must be TP, FP, FN, TN, but it has 3 cells",
        ),
        (
            lambda: applications.interpolate_gains((1, 1, 1, 1), (1, 1, 1, 1), 1.5),
            r"share must be in \[0, 1\], but it is 1.5",
        ),
        (
            lambda: applications.same_f_beta(0.5, 0.4, 0.8, 0.9),
            "the first point must have the larger precision",
        ),
        (
            lambda: applications.same_f_beta(0.5, 0.0, 0.3, 0.9),
            r"recall1 must be in \(0, 1\], but it is 0",
        ),
        (
            lambda: curves.convex_hull(curves.precision_recall_curve(CLASSES, SCORES)),
            "a hull needs a ROC or PRG curve",
        ),
        (
            lambda: curves.convex_hull(curves.lift_curve(CLASSES, SCORES, scale="factor")),
            "as rates or counts",
        ),
        (
            lambda: curves.isometrics(curves.cost_curve(CLASSES, SCORES)),
            "there are no isometrics on a chart of kind",
        ),
        (lambda: curves.isometrics(curves.bird_curve(CLASSES, SCORES)), "name a measure"),
        (
            lambda: curves.isometrics(curves.roc_curve(CLASSES, SCORES), beta=0),
            "beta must be positive and finite, but it is 0",
        ),
        (
            lambda: curves.calibration_curve(CLASSES, PROBABILITIES).intervals(1.0),
            r"level must be in \(0, 1\), but it is 1",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("function", "option", "choices"),
    [
        (curves.lift_curve, {"scale": "log"}, "'recall', 'counts', 'factor'"),
        (curves.bird_curve, {"smoothing": "none"}, "'laplace', 'proportional'"),
        (curves.calibration_curve, {"axes": "flipped"}, "'standard', 'vuk_curk'"),
        (curves.isotonic_calibration_curve, {"axes": "flipped"}, "'standard', 'vuk_curk'"),
    ],
)
def test_unknown_choices_name_the_known_ones(function, option, choices):
    ((name, value),) = option.items()
    cases = Cases(1, CLASSES == 1, PROBABILITIES, np.ones(len(CLASSES)), np.dtype(float))
    with pytest.raises(
        ValueError, match=rf"{name} must be one of \({choices}\), but it is {value!r}"
    ):
        function_of_cases(function)(cases, **option)


def test_unknown_choice_of_classes():
    with pytest.raises(ValueError, match=r"multi_class must be one of .*'ovo'\), but it is 'all'"):
        curves.roc_curve(CLASSES, SCORES, multi_class="all")


@pytest.mark.parametrize("excess", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 4e-5, 1e-3, 0.02, 0.3, 2.0])
def test_area_under_kappa_where_classes_are_almost_equally_frequent(excess):
    """With an excess of positives kappa bends along the curve; a series takes over for a small one.

    Kappa itself is integrated by Gauss and Legendre's rule, segment by segment.
    """
    classes = np.array([1, 1, 0, 1, 0, 0, 1, 0])
    weights = np.where(classes == 1, 1 + excess, 1.0)
    points = curves.operating_points(classes, -np.arange(8.0), sample_weight=weights)
    nodes, shares = np.polynomial.legendre.leggauss(40)
    u = (nodes + 1) / 2
    tpr, fpr = points.true_positive_rate, points.false_positive_rate
    y, x = (rate[:-1, None] + np.diff(rate)[:, None] * u for rate in (tpr, fpr))
    p = points.prevalence
    bias = p * y + (1 - p) * x
    kappa = 2 * p * (1 - p) * (y - x) / (p + bias - 2 * p * bias)
    area = (kappa @ shares / 2) @ np.diff(fpr)
    assert curves.area_under_kappa(points) == pytest.approx(area, rel=0, abs=2e-12)


@given(samples(weighted=True))
def test_the_best_threshold_of_calibrated_scores_is_half_of_the_best_f1(sample):
    """Zhao et al. (2013), Lipton et al. (2014); Flach and Kull (2015), section 2."""
    y, scores, weights = sample
    shares = IsotonicRegression().fit(scores, y, weights).predict(scores)

    def f1_from(threshold):
        is_called = shares >= threshold
        return 2 * (weights @ (is_called & (y == 1))) / (weights @ is_called + weights @ y)

    best = max(f1_from(threshold) for threshold in shares)
    assert f1_from(best / 2 - 1e-12) == pytest.approx(best, rel=1e-9)
