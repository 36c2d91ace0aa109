"""Numbers of one ROC curve: stored values, scikit-learn, other formulas, identities."""

from itertools import pairwise

import jax
import numpy as np
import pytest
from golden import assert_golden, golden
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution
from simulations import normal_scores
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score, roc_curve

from dmfroc import (
    Predictions,
    convex_hull_auc_score,
    estimate,
    gini_score,
    h_measure,
    h_measure_score,
    kappa_area_score,
    lift_area_score,
    max_informedness_score,
    one_vs_rest_auc_score,
    partial_auc,
    partial_auc_score,
    roc_area_score,
)
from dmfroc.measures import MEASURES
from dmfroc.measures._areas import _means_of_hyperbola
from dmfroc.uncertainty.jackknife import influences_of

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
        assert_golden(roc_area_score(classes, scores, ties=ties), case, key)
    gini = gini_score(classes, scores)
    assert_golden(gini, case, "gini")
    for key in ("auboc", "aubift", "auboc_dual"):
        assert_golden(gini / 2, case, key)
    assert_golden(convex_hull_auc_score(classes, scores), case, "auch")
    assert_golden(max_informedness_score(classes, scores), case, "max_informedness")
    assert_golden(kappa_area_score(classes, scores), case, "auk_cohen_exact")
    assert_golden(
        kappa_area_score(classes, scores, method="trapezoid"), case, "auk_cohen_trapezoid"
    )


@pytest.mark.parametrize("case", golden("lift_areas"))
def test_stored_values_of_the_lift_chart(case):
    classes, scores = case["inputs"]["labels"], case["inputs"]["scores"]
    lift = lift_area_score(classes, scores)
    assert_golden(lift, case, "aulift")
    assert_golden(lift - gini_score(classes, scores) / 2, case, "aulift_fallout")
    assert_golden(lift * sum(classes), case, "a_lift2")
    assert_golden(lift_area_score(classes, scores, ties="lower") * sum(classes), case, "a_lift1")


@pytest.mark.parametrize("case", golden("h_measure"))
def test_stored_values_of_the_h_measure(case):
    h = h_measure_score(case["inputs"]["labels"], case["inputs"]["scores"])
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
    h = h_measure_score(classes, scores, alpha=alpha, beta=beta)
    assert h == pytest.approx(expected, rel=0, abs=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 0.25, 3.0])
def test_h_measure_agrees_with_the_package_of_that_name(ratio):
    hmeasure = pytest.importorskip("hmeasure")
    classes, scores = binary(2)
    scores = 1 / (1 + np.exp(-scores))  # it takes nothing outside of [0, 1]
    expected = hmeasure.h_score(classes, scores, severity_ratio=ratio)
    h = h_measure_score(classes, scores, alpha=2, beta=1 + 1 / ratio)
    assert h == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize("max_fpr", [0.05, 0.1, 0.37, 0.9, 1.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_partial_area_agrees_with_scikit_learn(max_fpr, is_weighted):
    classes, scores = binary(3)
    weights = np.random.default_rng(4).exponential(size=60) if is_weighted else None
    expected = roc_auc_score(classes, scores, max_fpr=max_fpr, sample_weight=weights)
    area = partial_auc_score(classes, scores, max_fpr=max_fpr, sample_weight=weights)
    assert area == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0.25, 0.5])
def test_influences_of_a_partial_area_whose_limit_is_a_step(max_fpr):
    """A quarter of the twelve negatives is a whole number: two steps of the curve meet there.

    No positive lies between the two negatives at the limit, so that the derivative exists.
    """
    classes = np.repeat([0, 1], [12, 6])
    scores = np.append(np.arange(12.0), [11.5, 10.5, 9.5, 6.5, 3.5, 0.5])
    predictions = Predictions.from_arrays(classes, scores)
    with jax.enable_x64(True):
        bound = partial_auc(max_fpr).bind(predictions)
        found = influences_of(bound, predictions).influences
        shifts = 1e-6 * jax.numpy.eye(18)
        value = jax.jit(bound)
        differences = [float(value(1 + shift) - value(1 - shift)) / 2e-6 for shift in shifts]
    np.testing.assert_allclose(found, differences, rtol=0, atol=1e-9)


def test_lower_bound_of_the_partial_area_is_attained():
    for limit in (0.1, 0.5):
        worst = partial_auc_score([0, 0, 1, 1], [3.0, 4.0, 1.0, 2.0], max_fpr=limit)
        assert partial_auc(limit).bounds[0] == pytest.approx(worst, rel=0, abs=1e-15)


def test_kappa_area_follows_kappa_at_the_points():
    classes, scores = binary(5)
    fpr, _, thresholds = roc_curve(classes, scores, drop_intermediate=False)
    kappa = [0, *(cohen_kappa_score(classes, scores >= t) for t in thresholds[1:-1]), 0]
    expected = np.trapezoid(kappa, fpr)
    area = kappa_area_score(classes, scores, method="trapezoid")
    assert area == pytest.approx(expected, rel=0, abs=1e-12)


def test_several_classes_give_the_mean_against_the_rest():
    classes, scores = normal_scores(6, 90, 3, prior=[0.5, 0.3, 0.2])
    scores = np.round(scores, 1)

    def mean(score, **options):
        return np.mean(
            [score((classes == k).astype(int), scores[:, k], **options) for k in range(3)]
        )

    for score, options in (
        (roc_area_score, {"ties": "lower"}),
        (gini_score, {}),
        (partial_auc_score, {"max_fpr": 0.3}),
        (kappa_area_score, {}),
        (lift_area_score, {}),
        (max_informedness_score, {}),
        (convex_hull_auc_score, {}),
        (h_measure_score, {"alpha": 3.0}),
    ):
        expected = mean(score, **options)
        assert score(classes, scores, **options) == pytest.approx(expected, rel=0, abs=1e-12)
    half = roc_area_score(classes, scores)
    assert half == pytest.approx(one_vs_rest_auc_score(classes, scores), rel=0, abs=1e-14)


def test_integer_weights_repeat_rows():
    classes, scores = binary(7)
    weights = np.random.default_rng(8).integers(0, 4, size=60)
    repeated = np.repeat(np.arange(60), weights)
    for score in (
        kappa_area_score,
        lift_area_score,
        max_informedness_score,
        convex_hull_auc_score,
        h_measure_score,
    ):
        expected = score(classes[repeated], scores[repeated])
        weighted = score(classes, scores, sample_weight=weights)
        assert weighted == pytest.approx(expected, rel=0, abs=1e-12)


def test_hull_of_many_points_is_that_of_isotonic_calibration():
    # More points than a block of the hull's first pass, and long concave stretches.
    for seed, rounding in ((9, 8), (10, 2)):
        classes, scores = binary(seed, 3000, rounding)
        calibrated = IsotonicRegression().fit_transform(scores, classes)
        expected = roc_auc_score(classes, calibrated)
        assert convex_hull_auc_score(classes, scores) == pytest.approx(expected, rel=0, abs=1e-12)


@settings(max_examples=30)
@given(tied_scores)
def test_identities(scores):
    area = roc_area_score(CLASSES, scores)
    lower = roc_area_score(CLASSES, scores, ties="lower")
    upper = roc_area_score(CLASSES, scores, ties="upper")
    prevalence, n = CLASSES.mean(), len(CLASSES)
    assert (lower + upper) / 2 == pytest.approx(area, rel=0, abs=1e-14)
    pairs = np.equal.outer(scores[CLASSES == 1], scores[CLASSES == 0])
    assert upper - lower == pytest.approx(pairs.mean(), rel=0, abs=1e-14)
    lift = lift_area_score(CLASSES, scores)
    assert lift == pytest.approx(prevalence / 2 + (1 - prevalence) * area, rel=0, abs=1e-14)
    positives = CLASSES.sum()
    tied = sum(
        CLASSES[scores == s].sum() * (scores == s).sum() / (2 * n) for s in np.unique(scores)
    )
    left = lift_area_score(CLASSES, scores, ties="lower")
    assert (lift - left) * positives == pytest.approx(tied, rel=0, abs=1e-12)
    hull = convex_hull_auc_score(CLASSES, scores)
    best = max_informedness_score(CLASSES, scores)
    assert hull >= max(area, (1 + best) / 2) - 1e-14
    assert roc_area_score(CLASSES, -scores) == pytest.approx(1 - area, rel=0, abs=1e-14)
    assert 0 <= h_measure_score(CLASSES, scores) <= 1


@settings(max_examples=20)
@given(tied_scores)
def test_increasing_maps_change_nothing(scores):
    mapped = np.exp(scores / 3) - 7
    for score in (partial_auc_score, kappa_area_score, lift_area_score, h_measure_score):
        assert score(CLASSES, mapped) == score(CLASSES, scores)


@settings(max_examples=20)
@given(hnp.arrays(float, 24, elements=st.integers(0, 8).map(float)))
def test_kappa_area_of_balanced_classes_is_half_of_gini(scores):
    balanced = np.arange(24) % 2
    half = gini_score(balanced, scores) / 2
    assert kappa_area_score(balanced, scores) == pytest.approx(half, rel=0, abs=1e-14)
    trapezoid = kappa_area_score(balanced, scores, method="trapezoid")
    assert trapezoid == pytest.approx(half, rel=0, abs=1e-14)


def test_perfect_and_constant_scores():
    classes = np.repeat([0, 1], [7, 5])
    for score, perfect, constant in (
        (roc_area_score, 1, 0.5),
        (gini_score, 1, 0),
        (partial_auc_score, 1, 0.5),
        (max_informedness_score, 1, 0),
        (convex_hull_auc_score, 1, 0.5),
        (h_measure_score, 1, 0),
    ):
        assert score(classes, classes * 1.0) == pytest.approx(perfect, rel=0, abs=1e-14)
        assert score(classes, np.ones(12)) == pytest.approx(constant, rel=0, abs=1e-14)


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
def test_resampled_weights_in_one_program_repeat_rows(name):
    # Compiled without a derivative, and side by side, as the bootstrap does.
    classes, scores = normal_scores(11, 60, 3)
    predictions = Predictions.from_arrays(classes, np.round(scores, 1))
    weights = np.random.default_rng(12).multinomial(60, np.full(60, 1 / 60), size=4)
    with jax.enable_x64(True):
        bound = MEASURES[name].bind(predictions)
        values = jax.jit(jax.vmap(bound))(weights.astype(float))
    for value, counts in zip(values, weights, strict=True):
        expected = estimate(name, classes, np.round(scores, 1), sample_weight=counts).value
        assert float(value) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("sign", [-1, 1])
def test_means_of_a_hyperbola_near_a_straight_line(sign):
    """Near 0 a series takes over from the closed form, which cancels there."""
    z = sign * np.geomspace(1e-12, 0.5, 200)
    nodes, shares = np.polynomial.legendre.leggauss(40)
    u = (nodes + 1) / 2
    expected = [
        u**a / (1 + np.outer(z, u)) ** b @ shares / 2 for a, b in [(0, 1), (1, 1), (1, 2), (2, 2)]
    ]
    found = _means_of_hyperbola(z, np)
    for mean, exact, rounding in zip(found, expected, [1e-14, 1e-12, 1e-11, 1e-11], strict=True):
        np.testing.assert_allclose(mean, exact, rtol=rounding)
