"""Areas and other numbers of curves: stored values, scikit-learn, other formulas, identities."""

from itertools import pairwise

import jax
import numpy as np
import pytest
import sklearn.metrics
from golden import assert_golden, golden
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution
from simulations import normal_scores
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score, roc_curve

from dmfroc import Predictions, average_precision_score, curves, estimate, measures
from dmfroc._kit.compiled import compiled
from dmfroc.curves import operating_points
from dmfroc.extend import influences
from dmfroc.measures import (
    MEASURES,
    average_precision,
    convex_hull_auc,
    gini,
    h_measure,
    kappa_area,
    lift_area,
    max_informedness,
    one_vs_rest_auc,
    partial_auc,
    precision_recall_area,
    precision_recall_gain_area,
    roc_area,
)
from dmfroc.measures.measure import bind

# Two classes of tied scores; the shape is fixed, so that JAX compiles once.
CLASSES = np.repeat([0, 1], [13, 11])
tied_scores = hnp.arrays(float, 24, elements=st.integers(0, 8).map(float))


def binary(seed, n=60, rounding=1, prior=(0.6, 0.4)):
    classes, scores = normal_scores(seed, n, 2, prior=prior)
    return classes, np.round(scores[:, 1], rounding)


@pytest.mark.parametrize("case", golden("roc_curves"))
def test_stored_values(case):
    classes, scores = case["inputs"]["labels"], case["inputs"]["scores"]
    for ties, key in (("lower", "a_roc1"), ("half", "a_roc2"), ("upper", "a_roc_upper")):
        assert_golden(roc_area(ties=ties)(classes, scores), case, key)
    twice = gini()(classes, scores)
    assert_golden(twice, case, "gini")
    for key in ("auboc", "aubift", "auboc_dual"):
        assert_golden(twice / 2, case, key)
    assert_golden(convex_hull_auc()(classes, scores), case, "auch")
    assert_golden(max_informedness()(classes, scores), case, "max_informedness")
    assert_golden(kappa_area()(classes, scores), case, "auk_cohen_exact")
    assert_golden(kappa_area(method="trapezoid")(classes, scores), case, "auk_cohen_trapezoid")


@pytest.mark.parametrize("case", golden("lift_areas"))
def test_stored_values_of_the_lift_chart(case):
    classes, scores = case["inputs"]["labels"], case["inputs"]["scores"]
    lift = lift_area()(classes, scores)
    assert_golden(lift, case, "aulift")
    assert_golden(lift - gini()(classes, scores) / 2, case, "aulift_fallout")
    assert_golden(lift * sum(classes), case, "a_lift2")
    assert_golden(lift_area(ties="lower")(classes, scores) * sum(classes), case, "a_lift1")


@pytest.mark.parametrize("case", golden("h_measure"))
def test_stored_values_of_the_h_measure(case):
    h = h_measure()(case["inputs"]["labels"], case["inputs"]["scores"])
    assert_golden(h, case, "h_measure_beta22")


@pytest.mark.parametrize(("alpha", "beta"), [(2, 2), (2, 5), (0.7, 1.3)])
def test_h_measure_is_the_integral_of_the_least_loss(alpha, beta):
    classes, scores = binary(1)
    fpr, tpr, _ = roc_curve(classes, scores)
    prevalence = classes.mean()

    def mean_loss(fpr, tpr):
        def loss(cost):
            of_points = cost * (1 - prevalence) * fpr + (1 - cost) * prevalence * (1 - tpr)
            return of_points.min() * beta_distribution.pdf(cost, alpha, beta)

        grid = np.linspace(0, 1, 41)
        return sum(quad(loss, *ends)[0] for ends in pairwise(grid))

    blind = mean_loss(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    expected = 1 - mean_loss(fpr, tpr) / blind
    h = h_measure(alpha=alpha, beta=beta)(classes, scores)
    assert h == pytest.approx(expected, rel=0, abs=1e-6)


@pytest.mark.parametrize("factor", [1e-18, 1e18])
def test_h_measure_where_one_class_outweighs_the_other(factor):
    """All that matters is who is best at the cost of the rare class's errors."""
    classes, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.9])
    weights = np.where(classes == 1, factor, 1.0)
    # The rare class costs the other one its first, or last, error: half of it is safe.
    found = h_measure()(classes, scores, sample_weight=weights)
    assert found == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 0.25, 3.0])
def test_h_measure_agrees_with_the_package_of_that_name(ratio):
    hmeasure = pytest.importorskip("hmeasure")
    classes, scores = binary(2)
    scores = 1 / (1 + np.exp(-scores))  # it takes nothing outside of [0, 1]
    expected = hmeasure.h_score(classes, scores, severity_ratio=ratio)
    h = h_measure(alpha=2, beta=1 + 1 / ratio)(classes, scores)
    assert h == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize("max_fpr", [0.05, 0.1, 0.37, 0.9, 1.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_partial_area_agrees_with_scikit_learn(max_fpr, is_weighted):
    classes, scores = binary(3)
    weights = np.random.default_rng(4).exponential(size=60) if is_weighted else None
    expected = roc_auc_score(classes, scores, max_fpr=max_fpr, sample_weight=weights)
    area = partial_auc(max_fpr=max_fpr)(classes, scores, sample_weight=weights)
    assert area == pytest.approx(expected, rel=0, abs=1e-14)


@pytest.mark.parametrize("max_fpr", [0.25, 0.5])
def test_influences_of_a_partial_area_whose_limit_is_a_step(max_fpr):
    """A quarter of the twelve negatives is a whole number: two steps of the curve meet there.

    No positive lies between the two negatives at the limit, so that the derivative exists.
    """
    classes = np.repeat([0, 1], [12, 6])
    scores = np.append(np.arange(12.0), [11.5, 10.5, 9.5, 6.5, 3.5, 0.5])
    predictions = Predictions.from_arrays(classes, scores)
    bound = bind(partial_auc(max_fpr), predictions)
    shifts = 1e-6 * np.eye(18)
    differences = (bound.values(1 + shifts) - bound.values(1 - shifts))[:, 0] / 2e-6
    found = influences(partial_auc(max_fpr), predictions)
    np.testing.assert_allclose(found, differences, rtol=0, atol=1e-9)


def test_where_the_curve_rises_at_the_limit_the_derivative_is_between_those_of_either_side():
    classes = np.repeat([0, 1], [10, 10])
    scores = np.append(np.arange(10.0), [9.5, 8.7, 8.3, 7.6, 7.5, 7.4, 6.5, 5.5, 2.5, 0.5])
    predictions = Predictions.from_arrays(classes, scores)
    bound, shifts = bind(partial_auc(0.2), predictions), 1e-7 * np.eye(20)
    value = bound.values(np.ones(20))[0]
    right, left = ((bound.values(1 + x * shifts)[:, 0] - value) / (x * 1e-7) for x in (1, -1))
    assert np.abs(right - left).max() > 0.01
    found = influences(partial_auc(0.2), predictions)
    np.testing.assert_allclose(found, (left + right) / 2, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        *("partial_auc", "precision_recall_gain_area", "expected_f_gain"),
        *("max_informedness", "convex_hull_auc"),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_influences_do_not_depend_on_rounding(name, seed):
    """A limit of a rate and the recall of gain 0 are on points of the curve, and maxima tie."""
    classes, scores = np.arange(60) % 2, np.random.default_rng(seed).normal(size=60)
    scores, measure = scores + classes, MEASURES[name]
    of_ones = influences(measure, Predictions.from_arrays(classes, scores))
    for weight in (0.1, 0.3, 0.7):
        weights = np.full(60, weight)
        predictions = Predictions.from_arrays(classes, scores, sample_weight=weights)
        found = influences(measure, predictions)
        np.testing.assert_allclose(found, of_ones, rtol=0, atol=1e-9)


def test_lower_bound_of_the_partial_area_is_attained():
    for limit in (0.1, 0.5):
        worst = partial_auc(max_fpr=limit)([0, 0, 1, 1], [3.0, 4.0, 1.0, 2.0])
        assert partial_auc(limit).bounds[0] == pytest.approx(worst, rel=0, abs=1e-15)


def test_scotts_area_is_that_of_pi_along_the_curve():
    classes, scores = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0]), np.array([9, 8, 7, 6, 6, 4, 4, 2, 1.0])
    points = operating_points(classes, scores)
    n, place = len(classes), np.linspace(0, 1, 2001)
    of_grid, of_points = 0.0, []

    def pi(tp, fp):
        margin = (points.positives + tp + fp) / (2 * n)
        return 1 - (points.positives - tp + fp) / n / (2 * margin * (1 - margin))

    for t in range(len(points.thresholds) - 1):
        tp, fp = (
            x[t] + place * (x[t + 1] - x[t])
            for x in (points.true_positives, points.false_positives)
        )
        of_grid += np.trapezoid(pi(tp, fp), fp / points.negatives)
    of_points = pi(points.true_positives, points.false_positives)
    expected = np.trapezoid(of_points, points.false_positive_rate)
    assert kappa_area(kappa="scott")(classes, scores) == pytest.approx(of_grid, abs=1e-6)
    found = kappa_area(method="trapezoid", kappa="scott")(classes, scores)
    assert found == pytest.approx(expected, rel=1e-12)
    assert curves.area_under_kappa(points, kappa="scott") == pytest.approx(of_grid, abs=1e-6)
    # Guessing that does not keep the prevalence is worse than chance by Scott's pi
    assert kappa_area(kappa="scott")(classes, np.zeros(n)) < -0.1


@pytest.mark.parametrize("options", [{}, {"beta": 2}], ids=str)
def test_expected_f_gain_is_that_of_the_curve_averaged_over_the_classes(options):
    classes, scores = normal_scores(3, 40, 3)
    of_curve = {"beta": 1} | options
    by_class = [
        curves.expected_f_gain(operating_points(classes, scores, pos_label=k), **of_curve)
        for k in range(3)
    ]
    assert measures.expected_f_gain(**options)(classes, scores) == pytest.approx(
        np.mean(by_class), rel=1e-12
    )


def test_expected_f_gain_needs_a_weight_of_recall():
    with pytest.raises(ValueError, match="beta must be a finite number >= 0, but it is -1"):
        measures.expected_f_gain(-1)


def test_kappa_area_follows_kappa_at_the_points():
    classes, scores = binary(5)
    fpr, _, thresholds = roc_curve(classes, scores, drop_intermediate=False)
    kappa = [0, *(cohen_kappa_score(classes, scores >= t) for t in thresholds[1:-1]), 0]
    expected = np.trapezoid(kappa, fpr)
    area = kappa_area(method="trapezoid")(classes, scores)
    assert area == pytest.approx(expected, rel=0, abs=1e-12)


def test_several_classes_give_the_mean_against_the_rest():
    classes, scores = normal_scores(6, 90, 3, prior=[0.5, 0.3, 0.2])
    scores = np.round(scores, 1)

    for measure in (
        roc_area(ties="lower"),
        gini(),
        partial_auc(max_fpr=0.3),
        kappa_area(),
        lift_area(),
        max_informedness(),
        convex_hull_auc(),
        h_measure(alpha=3.0),
    ):
        each = [measure((classes == k).astype(int), scores[:, k]) for k in range(3)]
        assert measure(classes, scores) == pytest.approx(np.mean(each), rel=0, abs=1e-12)
    half = roc_area()(classes, scores)
    assert half == pytest.approx(one_vs_rest_auc()(classes, scores), rel=0, abs=1e-14)


def test_integer_weights_repeat_rows():
    classes, scores = binary(7)
    weights = np.random.default_rng(8).integers(0, 4, size=60)
    repeated = np.repeat(np.arange(60), weights)
    for make in (kappa_area, lift_area, max_informedness, convex_hull_auc, h_measure):
        expected = make()(classes[repeated], scores[repeated])
        weighted = make()(classes, scores, sample_weight=weights)
        assert weighted == pytest.approx(expected, rel=0, abs=1e-12)


def test_hull_of_many_points_is_that_of_isotonic_calibration():
    # More points than a block of the hull's first pass, and long concave stretches.
    for seed, rounding in ((9, 8), (10, 2)):
        classes, scores = binary(seed, 3000, rounding)
        calibrated = IsotonicRegression().fit_transform(scores, classes)
        expected = roc_auc_score(classes, calibrated)
        assert convex_hull_auc()(classes, scores) == pytest.approx(expected, rel=0, abs=1e-12)


@settings(max_examples=30)
@given(tied_scores)
def test_identities(scores):
    area = roc_area()(CLASSES, scores)
    lower = roc_area(ties="lower")(CLASSES, scores)
    upper = roc_area(ties="upper")(CLASSES, scores)
    prevalence, n = CLASSES.mean(), len(CLASSES)
    assert (lower + upper) / 2 == pytest.approx(area, rel=0, abs=1e-14)
    pairs = np.equal.outer(scores[CLASSES == 1], scores[CLASSES == 0])
    assert upper - lower == pytest.approx(pairs.mean(), rel=0, abs=1e-14)
    lift = lift_area()(CLASSES, scores)
    assert lift == pytest.approx(prevalence / 2 + (1 - prevalence) * area, rel=0, abs=1e-14)
    positives = CLASSES.sum()
    tied = sum(
        CLASSES[scores == s].sum() * (scores == s).sum() / (2 * n) for s in np.unique(scores)
    )
    left = lift_area(ties="lower")(CLASSES, scores)
    assert (lift - left) * positives == pytest.approx(tied, rel=0, abs=1e-12)
    hull = convex_hull_auc()(CLASSES, scores)
    best = max_informedness()(CLASSES, scores)
    assert hull >= max(area, (1 + best) / 2) - 1e-14
    assert roc_area()(CLASSES, -scores) == pytest.approx(1 - area, rel=0, abs=1e-14)
    assert 0 <= h_measure()(CLASSES, scores) <= 1


@settings(max_examples=20)
@given(tied_scores)
def test_increasing_maps_change_nothing(scores):
    mapped = np.exp(scores / 3) - 7
    for make in (partial_auc, kappa_area, lift_area, h_measure):
        assert make()(CLASSES, mapped) == make()(CLASSES, scores)


@settings(max_examples=20)
@given(hnp.arrays(float, 24, elements=st.integers(0, 8).map(float)))
def test_kappa_area_of_balanced_classes_is_half_of_gini(scores):
    balanced = np.arange(24) % 2
    half = gini()(balanced, scores) / 2
    assert kappa_area()(balanced, scores) == pytest.approx(half, rel=0, abs=1e-14)
    trapezoid = kappa_area(method="trapezoid")(balanced, scores)
    assert trapezoid == pytest.approx(half, rel=0, abs=1e-14)


def test_perfect_and_constant_scores():
    classes = np.repeat([0, 1], [7, 5])
    for make, perfect, constant in (
        (roc_area, 1, 0.5),
        (gini, 1, 0),
        (partial_auc, 1, 0.5),
        (max_informedness, 1, 0),
        (convex_hull_auc, 1, 0.5),
        (h_measure, 1, 0),
    ):
        assert make()(classes, classes * 1.0) == pytest.approx(perfect, rel=0, abs=1e-14)
        assert make()(classes, np.ones(12)) == pytest.approx(constant, rel=0, abs=1e-14)
        assert make().chance == constant


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: partial_auc(0), r"max_fpr must be in \(0, 1\].* it is 0"),
        (lambda: partial_auc(1.1), r"max_fpr must be in \(0, 1\].* it is 1.1"),
        (lambda: h_measure(alpha=0), "alpha must be positive and finite, but it is 0"),
        (lambda: h_measure(beta=float("inf")), "beta must be positive and finite.* inf"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["h_measure", "convex_hull_auc", "partial_auc", "kappa_area"])
@pytest.mark.filterwarnings("ignore:pass the weights, which are whole numbers")
def test_resampled_weights_in_one_program_repeat_rows(name):
    # Compiled without a derivative, and side by side, as the bootstrap does.
    classes, scores = normal_scores(11, 60, 3)
    predictions = Predictions.from_arrays(classes, np.round(scores, 1))
    weights = np.random.default_rng(12).multinomial(60, np.full(60, 1 / 60), size=4)
    bound = bind(MEASURES[name], predictions)
    values_of = compiled(jax.vmap(bound)) if bound.is_compiled else bound.values
    values = np.asarray(values_of(weights.astype(float)))[:, 0]
    for value, counts in zip(values, weights, strict=True):
        expected = estimate(name, classes, np.round(scores, 1), sample_weight=counts).value
        assert float(value) == pytest.approx(expected, rel=0, abs=1e-12)


# Precision and recall


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
def test_stored_values_of_precision_and_recall(case):
    classes, scores = case["inputs"]["labels"], case["inputs"]["scores"]
    assert_golden(average_precision_score(classes, scores), case, "average_precision")
    assert_golden(precision_recall_area()(classes, scores), case, "aupr_davis_goadrich")


@pytest.mark.parametrize("case", golden("prg_curves"))
def test_stored_values_of_gain(case):
    area = precision_recall_gain_area()(case["inputs"]["labels"], case["inputs"]["scores"])
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
    area = precision_recall_area()(classes, scores, sample_weight=weights)
    assert area == pytest.approx(np.trapezoid(tp / (tp + fp), tp / positives), abs=1e-4)
    odds = positives / negatives
    recall_gain, precision_gain = 1 - odds * (positives - tp) / tp, 1 - odds * fp / tp
    inside = recall_gain >= 0
    for clip in (False, True):
        height = np.maximum(precision_gain, 0) if clip else precision_gain
        expected = np.trapezoid(height[inside], recall_gain[inside])
        area = precision_recall_gain_area(clip)(classes, scores, sample_weight=weights)
        assert area == pytest.approx(expected, abs=1e-3)


@settings(max_examples=30)
@given(tied_scores)
def test_ranges_and_maps_of_precision_and_recall(scores):
    signed = precision_recall_gain_area()(CLASSES, scores)
    clipped = precision_recall_gain_area(clip=True)(CLASSES, scores)
    assert max(signed, 0) - 1e-14 <= clipped <= 1 + 1e-14
    mapped = np.exp(scores / 3) - 7
    assert precision_recall_gain_area()(CLASSES, mapped) == signed
    area = precision_recall_area()(CLASSES, scores)
    assert 0 <= area <= 1 + 1e-14
    assert precision_recall_area()(CLASSES, mapped) == area


@pytest.mark.filterwarnings("ignore:.*all of it is between 1.2 and 1")
def test_precision_and_recall_of_perfect_and_constant_scores():
    prevalence = CLASSES.mean()
    for measure, constant in (
        (average_precision(), prevalence),
        (precision_recall_area(), prevalence),
        (precision_recall_gain_area(), 0),
    ):
        assert measure(CLASSES, CLASSES * 1.0) == pytest.approx(1, rel=0, abs=1e-14)
        assert measure(CLASSES, np.ones(24)) == pytest.approx(constant, rel=0, abs=1e-14)
        assert np.isnan(measure.chance) or measure.chance == constant
    assert precision_recall_gain_area().chance == 0
