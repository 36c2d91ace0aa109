"""Influences: derivatives, what leaving an observation out changes, DeLong's placements."""

import itertools
import tracemalloc

import delong
import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, estimate, hand_till_score
from dmfroc.extend import influences
from dmfroc.inference import evidence
from dmfroc.inference import influences as of_influences
from dmfroc.inference.influences import moments_of_sums
from dmfroc.inference.units import units_of
from dmfroc.measures import MEASURES as MEASURES_BY_NAME
from dmfroc.measures import dmf_auc, get_measure, informedness, precision_at_k, recall_at
from dmfroc.measures.measure import bind

MEASURES = ["dmf_auc", "hand_till", "informedness"]
SKEWED = [0.6, 0.3, 0.1]


@pytest.mark.filterwarnings("ignore:.*rows tie for the largest score:UserWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "measure",
    [*MEASURES, informedness("prevalence"), dmf_auc(pair_weights="prevalence", shrinkage=0.1)],
    ids=[*MEASURES, "informedness-prevalence", "dmf_auc-prevalence"],
)
def test_influences_are_finite_differences(measure, weighted):
    classes, scores = normal_scores(8, 60, 3)
    weights = np.random.default_rng(9).uniform(0.5, 2, size=60) if weighted else np.ones(60)
    predictions = Predictions.from_arrays(classes, np.round(scores, 1), sample_weight=weights)
    found = influences(measure, predictions)
    step = 1e-3
    value = bind(get_measure(measure), predictions).values
    moved = step * np.diag(weights)[::3]
    differences = [(value(weights + x) - value(weights - x))[0] / (2 * step) for x in moved]
    scale = np.abs(found).max()
    np.testing.assert_allclose(found[::3], differences, rtol=0, atol=1e-4 * scale)
    assert scale > 1e-4


@pytest.mark.parametrize("measure", MEASURES[:2])
def test_influences_vanish_in_total_within_each_class(measure):
    # Rescaling the weights of a class changes neither area.
    classes, scores = normal_scores(10, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences(measure, predictions)
    totals = np.bincount(classes, found)
    np.testing.assert_allclose(totals, 0, rtol=0, atol=1e-10)


def leave_one_out(function, classes, scores, rows):
    """Return the change of a measure when single rows get no weight."""
    weights = np.ones(len(classes))
    whole = function(classes, scores, sample_weight=weights)
    changes = []
    for row in rows:
        weights[row] = 0
        changes.append(whole - function(classes, scores, sample_weight=weights))
        weights[row] = 1
    return np.array(changes)


def test_influences_on_m_are_exactly_what_leaving_one_out_changes():
    # M is linear in the shares of each class: the true jackknife differs by n_c / (n_c - 1).
    classes, scores = normal_scores(11, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences("hand_till", predictions)
    sizes = np.bincount(classes)[classes]
    changes = leave_one_out(hand_till_score, classes, scores, range(60))
    np.testing.assert_allclose(found * sizes / (sizes - 1), changes, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["dmf_auc", "informedness"])
def test_influences_are_nearly_what_leaving_one_out_changes(measure):
    classes, scores = normal_scores(12, 600, 3)
    predictions = Predictions.from_arrays(classes, scores)
    rows = np.arange(0, 600, 10)

    def value(classes, scores, sample_weight):
        return estimate(measure, classes, scores, sample_weight=sample_weight).value

    changes = leave_one_out(value, classes, scores, rows)
    found = influences(measure, predictions)[rows]
    # Leaving a row out also moves the thresholds and is a large step for the rate of a rare cell.
    assert np.corrcoef(found, changes)[0, 1] > 0.98
    assert np.sqrt((found**2).sum()) == pytest.approx(np.sqrt((changes**2).sum()), rel=0.05)


# In public


def test_influences_on_the_area_of_two_classes_are_delongs_placements():
    classes, scores = normal_scores(13, 60, 2, prior=[0.7, 0.3])
    scores = np.round(scores, 1)
    scores = np.stack([-scores[:, 1], scores[:, 1]], axis=1)  # two columns are one score
    found = influences("hand_till", classes, scores)
    share = delong.placements(classes, scores)
    value = hand_till_score(classes, scores)
    sizes = np.bincount(classes)[classes]
    np.testing.assert_allclose(found, (share - value) / sizes, rtol=0, atol=1e-15)
    # Of one score: what a positive wins, or a negative is won over, less the area.
    score = scores[:, 1]
    positive, negative = score[classes == 1], score[classes == 0]
    won = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    expected = np.empty(60)
    expected[classes == 1] = (won.mean(axis=1) - won.mean()) / len(positive)
    expected[classes == 0] = (won.mean(axis=0) - won.mean()) / len(negative)
    for measure in ("hand_till", "dmf_auc"):
        found = influences(measure, classes, score)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_influences_of_several_classes_are_placements_too():
    classes, scores = normal_scores(14, 60, 4, prior=[0.4, 0.3, 0.2, 0.1])
    found = influences("hand_till", classes, np.round(scores, 1))
    share = delong.placements(classes, np.round(scores, 1))
    sizes = np.bincount(classes)
    centred = share - (np.bincount(classes, share) / sizes)[classes]
    np.testing.assert_allclose(found, centred / sizes[classes], rtol=0, atol=1e-15)


FREE_OF_CLASS_SIZES = [
    *("dmf_auc", "hand_till", "auc_mu", "vus", "ordinal_vus", "balanced_accuracy"),
    *("polytomous_discrimination_index", "gmean", "recall_macro"),
]


@pytest.mark.filterwarnings("ignore:A class has 8 cases, and the threshold:UserWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_influences_sum_to_zero_where_they_should(weighted):
    classes, scores = normal_scores(15, 60, 3, prior=SKEWED)
    weights = np.random.default_rng(16).uniform(0.5, 2, size=60) if weighted else None
    predictions = Predictions.from_arrays(classes, scores, sample_weight=weights)
    for measure in MEASURES_BY_NAME.values():
        if not measure.applies_to(predictions) or measure.name == "correlation":
            continue
        found = influences(measure, predictions)
        scale = np.abs(found).sum()
        assert found.sum() == pytest.approx(0, abs=1e-9 * scale), measure.name
        of_classes = np.abs(np.bincount(classes, found)).max()
        is_free = of_classes <= 1e-9 * scale
        assert is_free == (measure.name in FREE_OF_CLASS_SIZES), measure.name


@pytest.mark.parametrize("measure", [*MEASURES, "macro_f1", "cohen_kappa"])
def test_standard_errors_follow_from_influences(measure):
    """The variance within classes, each times n / (n - 1), and of the sizes of the classes."""
    classes, scores = normal_scores(17, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences(measure, classes, scores)
    given_sizes = of_sizes = 0
    for k in range(3):
        of_class = found[classes == k]
        n = len(of_class)
        given_sizes += ((of_class - of_class.mean()) ** 2).sum() * n / (n - 1)
        of_sizes += of_class.sum() ** 2 / n
    given = estimate(measure, predictions, stratify=True)
    assert given.standard_error == pytest.approx(np.sqrt(given_sizes), rel=1e-10)
    both = estimate(measure, predictions)
    assert both.standard_error == pytest.approx(np.sqrt(given_sizes + of_sizes), rel=1e-10)
    assert given.class_sizes == "fixed"
    assert both.class_sizes == ("fixed" if measure in FREE_OF_CLASS_SIZES else "random")


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class", "ignore:check columns")
def test_influences_take_what_estimate_takes():
    classes, scores = normal_scores(18, 60, 3)
    names = np.array(["b", "c", "a"])[classes]
    labels = ["b", "c", "a"]
    expected = influences("informedness", classes, scores)
    np.testing.assert_array_equal(
        influences("informedness", names, scores, labels=labels), expected
    )
    predicted = scores.argmax(axis=1)
    for other in (
        influences("informedness", classes, y_pred=predicted),
        influences(informedness(), Predictions.from_arrays(classes, scores)),
        influences("informedness", classes, scores[:, [1, 0, 2]], y_pred=predicted),
    ):
        np.testing.assert_array_equal(other, expected)
    with pytest.raises(ValueError, match="recall is a measure of two classes"):
        influences("recall", classes, scores)
    with pytest.warns(UserWarning, match="1 class has a column but no observation .* out: 3"):
        influences("gini", classes, np.column_stack([scores, scores[:, 0]]), labels=range(4))


def test_perfect_values_have_a_limit_though_the_range_goes_on():
    """Perfect scores have an expected F-gain of 3/4, and a net benefit of the prevalence."""
    classes = np.repeat([0, 1], [60, 40])
    for name, perfect in (("expected_f_gain", 0.75), ("net_benefit", 0.4)):
        found = estimate(name, classes, classes, stratify=True)
        assert found.value == pytest.approx(perfect, abs=1e-12)
        assert perfect - 0.1 < found.interval[0] < perfect - 0.01
        assert found.interval[1] == pytest.approx(perfect, abs=1e-12)


@pytest.mark.parametrize("k", [30, 10, 0.1])
def test_an_unobserved_error_may_be_among_the_first_k(k):
    """A share of errors among all 180 is one among the first k of any number."""
    classes = np.repeat([0, 1, 2], 60)
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    for measure in (precision_at_k(k), recall_at(k)):
        found = estimate(measure, predictions, stratify=True)
        assert found.value <= found.interval[1] <= found.value + 1e-12
        share = 1 - found.interval[0] / found.value
        assert share == pytest.approx(1 - 0.05 ** (1 / 180), rel=0.1)


@pytest.mark.slow
def test_what_many_classes_lose_at_the_top_takes_little_memory():
    classes = np.repeat(np.arange(500), 2)  # 2 MB of scores
    predictions = Predictions.from_arrays(classes, np.eye(500, dtype=np.float32)[classes])
    tracemalloc.start()
    lows = [estimate(name, predictions).interval[0] for name in ("average_precision", "hand_till")]
    assert 0.98 < lows[0] < lows[1] < 1
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()


@pytest.mark.parametrize("at_once", [16, 1 << 20])
def test_moments_of_differences_are_those_of_the_differences(monkeypatch, at_once):
    """However many influences are multiplied at once; those of two copies are nothing."""
    monkeypatch.setattr(of_influences, "_NUMBERS_AT_ONCE", at_once)
    classes, scores = normal_scores(3, 90, 3)
    units = units_of(Predictions.from_arrays(classes, scores))
    sums = np.random.default_rng(4).standard_exponential((4, 90)) / 90
    sums = np.concatenate([sums, sums[:1]])
    found = of_influences.moments_of_differences(sums, units)
    pairs = itertools.combinations(range(5), 2)
    for (first, second), moments in zip(pairs, found, strict=True):
        [expected] = moments_of_sums((sums[first] - sums[second])[None], units)
        for name in ("variances", "kurtoses", "variances_of_sizes"):
            np.testing.assert_allclose(
                getattr(moments, name), getattr(expected, name), rtol=1e-9, atol=1e-15
            )
    covariance = evidence.joint_covariance(sums, units)
    for row, moments in enumerate(moments_of_sums(sums, units)):
        assert covariance[row, row] == pytest.approx(moments.standard_error**2, rel=1e-12)
    assert covariance[0] == pytest.approx(covariance[4], rel=1e-12)


def test_recalibration_does_not_tell_unobserved_errors_from_right_forecasts():
    """Their probabilities tie, so that errors in a share u of 50 cases of 200 cost about u / 5."""
    classes = np.repeat([0, 1], [200, 50])
    forecast = np.where(classes == 1, 0.95, 0.04)
    found = estimate("brier_discrimination", classes, forecast, stratify=True)
    assert found.value == pytest.approx(0.16, abs=1e-12)
    unobserved = 1 - 0.05 ** (1 / 50)
    assert 0.16 - found.interval[0] == pytest.approx(unobserved / 5, rel=0.1)
