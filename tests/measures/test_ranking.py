"""Averages of pairwise areas: stored numbers, other implementations, invariances."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from golden import assert_golden, golden
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax
from simulations import normal_scores, tied_probabilities
from sklearn.metrics import roc_auc_score

from dmfroc import (
    Predictions,
    estimate,
    hand_till_score,
    one_vs_rest_auc_per_class,
    pairwise_auc_matrix,
)
from dmfroc.measures import MEASURES, one_vs_one_auc, one_vs_rest_auc


def areas_by_counting(classes, scores, weights=None):
    """Compare every observation of one class with every observation of another."""
    n_classes = scores.shape[1]
    weights = np.ones(len(classes)) if weights is None else np.asarray(weights, float)
    areas = np.zeros((n_classes, n_classes))
    for i in range(n_classes):
        for j in range(n_classes):
            own, other = classes == i, classes == j
            if i == j or not own.any() or not other.any():
                continue
            left, right = scores[own, i][:, None], scores[other, i]
            won = (left > right) + 0.5 * (left == right)
            areas[i, j] = weights[own] @ won @ weights[other]
            areas[i, j] /= weights[own].sum() * weights[other].sum()
    return areas


def mean_area(areas):
    n_classes = len(areas)
    return areas.sum() / (n_classes * (n_classes - 1))


def assert_counted(classes, scores, weights=None, counted=None):
    expected = areas_by_counting(classes, scores if counted is None else counted, weights)
    areas = pairwise_auc_matrix(classes, scores, sample_weight=weights)
    np.testing.assert_allclose(areas, expected, rtol=0, atol=1e-12)
    m = hand_till_score(classes, scores, sample_weight=weights)
    assert m == pytest.approx(mean_area(expected), rel=0, abs=1e-12)


# Values


@pytest.mark.parametrize("case", golden("multiclass_auc"))
def test_stored_values(case):
    classes, scores = case["inputs"]["y"], case["inputs"]["S"]
    assert_golden(pairwise_auc_matrix(classes, scores), case, "a_given")
    assert_golden(hand_till_score(classes, scores), case, "hand_till_m")
    assert_golden(one_vs_rest_auc_per_class(classes, scores), case, "ovr_auc")
    assert_golden(one_vs_rest_auc()(classes, scores), case, "ovr_macro")
    for weighting in ("prevalence", "bias"):
        value = one_vs_rest_auc(weighting)(classes, scores)
        assert_golden(value, case, f"ovr_{weighting}_weighted")
    assert_golden(one_vs_one_auc()(classes, scores), case, "ovo_prevalence_weighted")


def test_worked_example_in_fractions():
    classes = [0, 0, 1, 1, 2, 2, 1]
    scores = [
        [0.7, 0.2, 0.1],
        [0.4, 0.4, 0.2],
        [0.5, 0.3, 0.2],
        [0.2, 0.6, 0.2],
        [0.3, 0.3, 0.4],
        [0.1, 0.3, 0.6],
        [0.3, 0.2, 0.5],
    ]
    expected = [
        [0, Fraction(5, 6), 1],
        [Fraction(7, 12), 0, Fraction(1, 2)],
        [1, Fraction(5, 6), 0],
    ]
    np.testing.assert_allclose(
        pairwise_auc_matrix(classes, scores), np.array(expected, float), rtol=0, atol=1e-15
    )
    assert hand_till_score(classes, scores) == pytest.approx(19 / 24, rel=0, abs=1e-15)


@pytest.mark.parametrize("prior", [None, "skewed"])
@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_agrees_with_scikit_learn(n_classes, prior):
    if prior == "skewed":
        prior = 0.5 ** np.arange(n_classes)
        prior /= prior.sum()
    classes, scores = tied_probabilities(n_classes, 120, n_classes, prior=prior)
    expected = roc_auc_score(classes, scores, multi_class="ovo")
    assert hand_till_score(classes, scores) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("rounding", [None, 0])
def test_two_classes_agree_with_scikit_learn(rounding):
    classes, scores = normal_scores(2, 60, 2)
    score = scores[:, 1] if rounding is None else np.round(scores[:, 1], rounding)
    expected = roc_auc_score(classes, score)
    assert hand_till_score(classes, score) == pytest.approx(expected, rel=0, abs=1e-12)
    two_columns = np.column_stack([-score, score])
    assert hand_till_score(classes, two_columns) == pytest.approx(expected, rel=0, abs=1e-12)
    areas = pairwise_auc_matrix(classes, score)
    np.testing.assert_allclose(areas, [[0, expected], [expected, 0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
def test_agrees_with_counting_of_pairs(n_classes):
    classes, scores = normal_scores(n_classes + 10, 120, n_classes)
    for some in (scores, np.round(scores)):
        difference = some[:, 1] - some[:, 0]
        counted = np.column_stack([-difference, difference]) if n_classes == 2 else some
        assert_counted(classes, some, counted=counted)


def test_matrix_is_not_symmetric_and_rows_are_the_score_columns():
    # Column 0 tells class 0 from class 1 perfectly, column 1 not at all.
    scores = [[1, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 3], [3, 0, 3]]
    areas = pairwise_auc_matrix([0, 0, 1, 1, 2, 2], scores)
    np.testing.assert_array_equal(areas, [[0, 1, 0.5], [0.5, 0, 0.5], [1, 1, 0]])


@pytest.mark.parametrize("scores", [np.zeros((60, 3)), np.full((60, 3), -7e300)])
def test_constant_scores_are_one_half(scores):
    classes = np.arange(60) % 3
    assert hand_till_score(classes, scores) == pytest.approx(0.5, rel=0, abs=1e-15)
    np.testing.assert_allclose(
        pairwise_auc_matrix(classes, scores), (1 - np.eye(3)) / 2, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(("n", "n_classes"), [(41, 2), (27, 3), (34, 3), (41, 5), (34, 7)])
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_perfect_scores_are_one_and_never_more(n, n_classes):
    classes = np.arange(n) % n_classes
    perfect = np.eye(n_classes)[classes]
    assert 1 - 1e-14 <= hand_till_score(classes, perfect) <= 1
    areas = pairwise_auc_matrix(classes, perfect)[~np.eye(n_classes, dtype=bool)]
    assert 1 - 1e-14 <= areas.min() <= areas.max() <= 1
    assert 0 <= hand_till_score(classes, -perfect) <= 1e-14


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_reversed_scores_give_the_complement():
    classes, scores = normal_scores(0, 60, 3, shift=3.0)
    areas = pairwise_auc_matrix(classes, scores)
    reversed_areas = pairwise_auc_matrix(classes, -scores)
    np.testing.assert_allclose(areas + reversed_areas, 1 - np.eye(3), rtol=0, atol=1e-15)
    assert hand_till_score(classes, -scores) < 0.03


# Weights


@pytest.mark.parametrize("rounding", [0, 8])
def test_integer_weights_repeat_rows(rounding):
    classes, scores = normal_scores(4, 120, 3)
    scores = np.round(scores, rounding)
    weights = np.random.default_rng(5).integers(0, 4, size=120)
    repeated = np.repeat(np.arange(120), weights)
    np.testing.assert_allclose(
        pairwise_auc_matrix(classes, scores, sample_weight=weights),
        pairwise_auc_matrix(classes[repeated], scores[repeated]),
        rtol=0,
        atol=1e-12,
    )
    assert hand_till_score(classes, scores, sample_weight=weights) == pytest.approx(
        hand_till_score(classes[repeated], scores[repeated]), rel=0, abs=1e-12
    )


def test_any_weights_agree_with_counting_of_pairs():
    classes, scores = normal_scores(6, 60, 3)
    weights = np.random.default_rng(7).exponential(size=60)
    assert_counted(classes, np.round(scores, 1), weights)


def test_scale_of_the_weights_of_a_class_does_not_matter():
    classes, scores = normal_scores(8, 60, 3)
    scaled = np.array([1e-6, 1.0, 1e6])[classes]
    np.testing.assert_allclose(
        pairwise_auc_matrix(classes, scores, sample_weight=scaled),
        pairwise_auc_matrix(classes, scores),
        rtol=0,
        atol=1e-9,
    )


# Invariances


@pytest.mark.parametrize("rounding", [1, 8])
def test_order_of_rows_does_not_matter_at_all(rounding):
    classes, scores = normal_scores(9, 120, 3, prior=[0.5, 0.3, 0.2])
    scores = np.round(scores, rounding)
    areas, m = pairwise_auc_matrix(classes, scores), hand_till_score(classes, scores)
    bias = one_vs_rest_auc("bias")(classes, scores)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(120)
        np.testing.assert_array_equal(pairwise_auc_matrix(classes[order], scores[order]), areas)
        assert hand_till_score(classes[order], scores[order]) == m
        assert one_vs_rest_auc("bias")(classes[order], scores[order]) == bias


def test_order_of_classes_does_not_matter():
    classes, scores = normal_scores(11, 120, 5, prior=[0.1, 0.4, 0.2, 0.25, 0.05])
    scores = np.round(scores, 1)
    order = [3, 0, 4, 2, 1]
    areas = pairwise_auc_matrix(classes, scores)
    permuted = pairwise_auc_matrix(classes, scores[:, order], labels=order)
    np.testing.assert_array_equal(permuted, areas[np.ix_(order, order)])
    assert hand_till_score(classes, scores[:, order], labels=order) == pytest.approx(
        hand_till_score(classes, scores), rel=0, abs=1e-15
    )


@pytest.mark.parametrize(
    "increasing",
    [np.exp, lambda x: x**3, lambda x: 1e-300 * x, lambda x: np.argsort(np.argsort(x)) - 1e6],
    ids=["exp", "cube", "tiny", "ranks"],
)
def test_increasing_map_of_one_column_changes_nothing(increasing):
    classes, scores = normal_scores(12, 120, 3)
    mapped = scores.copy()
    mapped[:, 1] = increasing(scores[:, 1])
    np.testing.assert_array_equal(
        pairwise_auc_matrix(classes, mapped), pairwise_auc_matrix(classes, scores)
    )
    assert hand_till_score(classes, mapped) == hand_till_score(classes, scores)


def test_repeating_a_class_changes_nothing():
    classes, scores = normal_scores(13, 60, 3)
    repeated = np.repeat(np.arange(60), np.where(classes == 0, 5, 1))
    np.testing.assert_allclose(
        pairwise_auc_matrix(classes[repeated], scores[repeated]),
        pairwise_auc_matrix(classes, scores),
        rtol=0,
        atol=1e-14,
    )


# Scores at the edge of what floats can hold. Shapes stay fixed, so that JAX compiles once.

CLASSES = np.array([0, 1, 2] * 6 + [0] * 5 + [1])
SHAPE = (24, 3)


def arrays_of(elements, dtype=np.float64):
    return hnp.arrays(dtype, SHAPE, elements=elements)


def neighbours_of(value, dtype):
    """Return the floats within two units in the last place of a value."""
    value = dtype(value)
    up, down = dtype(np.inf), dtype(-np.inf)
    above, below = np.nextafter(value, up), np.nextafter(value, down)
    return [np.nextafter(below, down), below, value, above, np.nextafter(above, up)]


EXTREMES = [
    *[0.0, -0.0, 1.0, -1.0, 1e308, -1e308, np.finfo(float).max, np.finfo(float).min],
    *[1e-307, -1e-307, np.finfo(float).tiny],
]


@settings(max_examples=40)
@given(
    st.one_of(
        arrays_of(st.integers(0, 3).map(float)),
        arrays_of(st.floats(-1, 1, width=32, allow_subnormal=False), np.float32),
        arrays_of(st.sampled_from(neighbours_of(1.0, np.float64))),
        arrays_of(st.sampled_from(neighbours_of(1 / 3, np.float32)), np.float32),
        arrays_of(st.sampled_from(EXTREMES)),
        arrays_of(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)),
    )
)
def test_any_finite_scores_agree_with_counting_of_pairs(scores):
    assert_counted(CLASSES, scores)


@settings(max_examples=20)
@given(
    st.one_of(
        arrays_of(st.integers(-3, 3).map(lambda k: k * 5e-324)),
        arrays_of(st.integers(-3, 3).map(lambda k: np.float32(k * 1e-44)), np.float32),
        arrays_of(st.floats(-1e-300, 1e-300)),
    )
)
@example(np.arange(72).reshape(SHAPE) * 1e-310)
@example(np.exp(-np.arange(72, dtype=np.float32).reshape(SHAPE) - 80))
def test_subnormal_scores_are_not_ties(scores):
    # What a confident softmax underflows to: smaller than any normal float, yet in order.
    assert_counted(CLASSES, scores)


# Averages


@pytest.mark.parametrize("n_classes", [3, 6])
def test_averages_agree_with_scikit_learn(n_classes):
    prior = 0.6 ** np.arange(n_classes)
    classes, scores = tied_probabilities(3, 120, n_classes, prior=prior / prior.sum())
    weights = np.random.default_rng(4).exponential(size=120)
    expected = roc_auc_score(classes, scores, multi_class="ovo", average="weighted")
    assert one_vs_one_auc()(classes, scores) == pytest.approx(expected, rel=0, abs=1e-12)
    macro = one_vs_one_auc("macro")(classes, scores)
    assert macro == hand_till_score(classes, scores)
    for weight in (None, weights):
        for weighting, theirs in (("macro", "macro"), ("prevalence", "weighted")):
            expected = roc_auc_score(
                classes, scores, multi_class="ovr", average=theirs, sample_weight=weight
            )
            value = one_vs_rest_auc(weighting)(classes, scores, sample_weight=weight)
            assert value == pytest.approx(expected, rel=0, abs=1e-12)
        expected = roc_auc_score(
            classes, scores, multi_class="ovr", average=None, sample_weight=weight
        )
        np.testing.assert_allclose(
            one_vs_rest_auc_per_class(classes, scores, sample_weight=weight),
            expected,
            rtol=0,
            atol=1e-12,
        )


def test_bias_of_weighted_predictions():
    classes, scores = tied_probabilities(5, 120, 3)
    weights = np.random.default_rng(6).exponential(size=120)
    per_class = one_vs_rest_auc_per_class(classes, scores, sample_weight=weights)
    bias = np.bincount(scores.argmax(axis=1), weights) / weights.sum()
    value = one_vs_rest_auc("bias")(classes, scores, sample_weight=weights)
    assert value == pytest.approx(bias @ per_class, rel=0, abs=1e-14)


def test_hard_predictions_give_the_mean_of_their_informedness_and_one():
    classes = np.array([0, 0, 0, 1, 1, 2, 2, 2, 1, 0])
    predicted = np.array([0, 1, 0, 1, 2, 2, 2, 0, 1, 0])
    value = one_vs_rest_auc("bias")(classes, np.eye(3)[predicted])
    informedness = estimate("informedness", classes, np.eye(3)[predicted]).value
    assert value == pytest.approx((informedness + 1) / 2, rel=0, abs=1e-14)


def test_only_one_against_the_rest_depends_on_the_class_sizes():
    classes, scores = normal_scores(13, 60, 3)
    repeated = np.repeat(np.arange(60), np.where(classes == 0, 5, 1))
    for weighting in ("macro", "prevalence", "bias"):
        value = one_vs_rest_auc(weighting)(classes, scores)
        again = one_vs_rest_auc(weighting)(classes[repeated], scores[repeated])
        assert abs(value - again) > 1e-4


def test_a_single_score_has_no_bias():
    classes, scores = normal_scores(14, 60, 2)
    with pytest.raises(ValueError, match="one_vs_rest_auc_bias needs hard labels"):
        one_vs_rest_auc("bias")(classes, scores[:, 1])
    predictions = Predictions.from_arrays(classes, scores[:, 1])
    assert not MEASURES["one_vs_rest_auc_bias"].applies_to(predictions)


# Classes that never occur


def test_absent_class_is_left_out_with_one_warning_that_names_it():
    classes, scores = normal_scores(14, 60, 3)
    scores = softmax(scores, axis=1)
    names = np.array(["low", "none", "high"])[classes]
    keep = names != "none"
    labels = ["low", "none", "high"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = hand_till_score(names[keep], scores[keep], labels=labels)
    assert [w.category for w in caught] == [UserWarning]
    assert "'none'" in str(caught[0].message)
    expected = areas_by_counting(classes[keep], scores[keep])
    assert m == pytest.approx(expected.sum() / 2, rel=0, abs=1e-12)
    with pytest.warns(UserWarning, match=re.escape("'none'")):
        areas = pairwise_auc_matrix(names[keep], scores[keep], labels=labels)
    np.testing.assert_allclose(areas, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(areas[1], 0)
    np.testing.assert_array_equal(areas[:, 1], 0)
    with pytest.warns(UserWarning, match=re.escape("'none'")):
        per_class = one_vs_rest_auc_per_class(names[keep], scores[keep], labels=labels)
    assert np.isnan(per_class[1])
    np.testing.assert_allclose(per_class[[0, 2]], expected[[0, 2], [2, 0]], rtol=0, atol=1e-12)
    # What is predicted for the absent class does not count.
    with pytest.warns(UserWarning, match=re.escape("'none'")):
        value = one_vs_rest_auc("bias")(names[keep], scores[keep], labels=labels)
    predicted = scores[keep].argmax(axis=1)
    bias = np.bincount(predicted[predicted != 1], minlength=3)[[0, 2]]
    assert value == pytest.approx(bias @ per_class[[0, 2]] / bias.sum(), rel=0, abs=1e-12)
