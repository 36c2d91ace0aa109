"""The area as a measure: class sizes do not matter, and weights of any size keep it in range."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from simulations import normal_scores

from dmfroc import Predictions, dmf_auc_score, estimate, multiclass_roc
from dmfroc.measures import MEASURES, dmf_auc

# Rows of classes 0, 1 and 2. Each may be repeated; the classes differ in size.
CLASSES = np.repeat([0, 1, 2], [7, 5, 4])
SCORES = st.one_of(
    hnp.arrays(float, (16, 3), elements=st.integers(0, 4).map(float)),  # most are tied
    hnp.arrays(float, (16, 3), elements=st.floats(-3, 3, allow_subnormal=False)),
)


def assert_same_curve(found, expected):
    for field in ("fpr", "tpr", "pairwise_fpr", "pairwise_tpr"):
        np.testing.assert_allclose(
            getattr(found, field), getattr(expected, field), rtol=0, atol=1e-12
        )
    assert found.auc == pytest.approx(expected.auc, rel=0, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(SCORES, st.lists(st.integers(1, 50), min_size=3, max_size=3))
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_repeating_classes_does_not_change_the_curve(scores, times):
    rows = np.repeat(np.arange(16), np.array(times)[CLASSES])
    curve = multiclass_roc(CLASSES, scores)
    assert_same_curve(multiclass_roc(CLASSES[rows], scores[rows]), curve)
    again = dmf_auc_score(CLASSES[rows], scores[rows])
    assert again == pytest.approx(dmf_auc_score(CLASSES, scores), rel=0, abs=1e-12)
    # Weights say the same, though not in whole numbers.
    weights = np.sqrt(np.array(times))[CLASSES]
    weighted = dmf_auc_score(CLASSES, scores, sample_weight=weights)
    assert weighted == pytest.approx(again, rel=0, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*all of it is between 1.2 and 1")
@pytest.mark.filterwarnings("ignore:.* rows of y_score have scores outside 0 to 1")
@settings(max_examples=30)
@given(SCORES, st.lists(st.integers(1, 50), min_size=3, max_size=3))
def test_repeating_classes_does_not_change_the_curve_of_two(scores, times):
    two = CLASSES < 2
    rows = np.repeat(np.arange(16), np.array(times)[CLASSES])
    rows = rows[CLASSES[rows] < 2]
    expected = multiclass_roc(CLASSES[two], scores[two, 1])
    found = multiclass_roc(CLASSES[rows], scores[rows, 1])
    assert_same_curve(found, expected)
    pooled = multiclass_roc(CLASSES[two], scores[two, 1], threshold_pool="pooled")
    assert_same_curve(pooled, expected)


@pytest.mark.parametrize("times", [(1, 1, 1), (1, 10, 100)])
def test_perfect_classifiers_stay_perfect(times):
    rows = np.repeat(np.arange(16), np.array(times)[CLASSES])
    for pool in ("balanced", "pooled"):
        curve = multiclass_roc(CLASSES[rows], np.eye(3)[CLASSES[rows]], threshold_pool=pool)
        assert 1 - 1e-6 <= curve.auc <= 1
    # One error in the pair of the two rarest classes is seen however frequent the third is.
    scores = np.eye(3)[CLASSES]
    scores[[7, 12]] = scores[[12, 7]]
    assert 0.8 < dmf_auc_score(CLASSES[rows], scores[rows]) < 0.99


def test_pools_of_all_observations_depend_on_the_class_sizes():
    classes, scores = normal_scores(1, 60, 3)
    rows = np.repeat(np.arange(60), np.where(classes == 0, 20, 1))
    pooled = dmf_auc(threshold_pool="pooled")
    assert abs(pooled(classes[rows], scores[rows]) - pooled(classes, scores)) > 1e-4
    assert dmf_auc_score(classes, scores, threshold_pool="pooled") == pooled(classes, scores)


def test_prevalence_of_the_pairs_depends_on_the_class_sizes():
    classes, scores = normal_scores(1, 60, 3)
    rows = np.repeat(np.arange(60), np.where(classes == 0, 20, 1))
    by_size = dmf_auc(pair_weights="prevalence")
    assert abs(by_size(classes[rows], scores[rows]) - by_size(classes, scores)) > 1e-4


@pytest.mark.filterwarnings("ignore:.*two classes have one ROC curve")
def test_two_classes_take_any_option():
    classes, scores = normal_scores(2, 60, 2)
    expected = estimate("dmf_auc", classes, scores)
    for pool in ("balanced", "pooled"):
        found = estimate(dmf_auc("prevalence", 9, 50.0, pool), classes, scores)
        assert (found.value, found.interval) == (expected.value, expected.interval)


# Weights of very different sizes


WEIGHTS = hnp.arrays(
    float, 16, elements=st.sampled_from([1e-3, 0.01, 1 / 3, 0.7, 1.0, 7.1, 100.0, 1e3])
)
SCALES = st.sampled_from([1e-9, 0.3, 1.0, 1e9])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # of empty margins of the table
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=25)
@given(scores=SCORES, weights=WEIGHTS, scale=SCALES)
@example(  # a point where the recall is the prevalence, but for rounding
    scores=np.outer(np.array([0] * 9 + [2] + [0] * 4 + [3, 1]), [0, 0, 1.0]),
    weights=np.full(16, 1e-3),
    scale=1e-9,
)
def test_any_weights_leave_all_measures_within_their_bounds(n_classes, scores, weights, scale):
    rows, columns = n_classes > CLASSES, slice(n_classes)
    predictions, scaled = (
        Predictions.from_arrays(CLASSES[rows], scores[rows, columns], sample_weight=w[rows])
        for w in (weights, scale * weights)
    )
    for measure in MEASURES.values():
        if not measure.applies_to(predictions):
            continue
        value = measure(predictions)
        if np.isfinite(value):
            assert measure.bounds[0] <= value <= measure.bounds[1], measure.name
            assert measure(scaled) == pytest.approx(value, rel=1e-9, abs=1e-9), measure.name
        else:
            assert not np.isfinite(measure(scaled))
