"""Input on which other packages fail or, worse, give a wrong number: a right number or an error.

One test per kind of input. All start from one good sample of 60 observations of 3 classes.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, softmax
from scipy.stats import rankdata
from simulations import normal_scores
from sklearn.metrics import roc_auc_score

from dmfroc import (
    Predictions,
    compare,
    dmf_auc_score,
    estimate,
    evaluate,
    hand_till_score,
    multiclass_roc,
)
from dmfroc.inference.bias import _bias_of_halves
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.units import sample_of
from dmfroc.measures import dmf_auc

CLASSES, LOGITS = normal_scores(0, 60, 3, 2.0)
SCORES = softmax(LOGITS, axis=1)
M = roc_auc_score(CLASSES, SCORES, multi_class="ovo")
AUC = dmf_auc_score(CLASSES, SCORES)
NAMES = ["low", "mid", "high"]


def assert_values(y_true, y_score, m=M, auc=AUC, abs=1e-9, **options):
    """Compare all that a user may call with the known M, and the area with the good sample's."""
    assert hand_till_score(y_true, y_score, **options) == pytest.approx(m, rel=0, abs=abs)
    assert dmf_auc_score(y_true, y_score, **options) == pytest.approx(auc, rel=0, abs=abs)
    found = evaluate(y_true, y_score, measures=["dmf_auc", "hand_till"], **options).estimates
    assert found["hand_till"].value == pytest.approx(m, rel=0, abs=abs)
    assert found["dmf_auc"].value == pytest.approx(auc, rel=0, abs=abs)
    for e in found.values():
        assert 0 <= e.interval[0] < e.value < e.interval[1] <= 1
    return found


def assert_refused(y_true, y_score, message, error=ValueError, **options):
    for function in (hand_till_score, dmf_auc_score, evaluate):
        with pytest.raises(error, match=message):
            function(y_true, y_score, **options)


def altered(row, column, value):
    scores = SCORES.copy()
    scores[row, column] = value
    return scores


def test_good_sample():
    assert 0.8 < M < 0.99
    assert_values(CLASSES, SCORES)


# Scores


def test_one_nan_score():
    message = r"y_score must be numbers.* nan at row 4 \(counting from 0\), column 1"
    assert_refused(CLASSES, altered(4, 1, np.nan), message)


@pytest.mark.filterwarnings("ignore:.* 1 of \\d+ rows of y_score have scores outside 0 to 1")
def test_one_infinite_score_ranks_highest():
    largest = hand_till_score(CLASSES, altered(4, 1, 1e300))
    assert hand_till_score(CLASSES, altered(4, 1, np.inf)) == largest


def test_logits():
    # One real number per class: no normalisation is asked for, and none is done.
    expected = np.mean(
        [
            roc_auc_score(CLASSES[keep] == i, LOGITS[keep, i])
            for i in range(3)
            for j in range(3)
            if i != j
            for keep in [np.isin(CLASSES, [i, j])]
        ]
    )
    assert_values(CLASSES, LOGITS, m=expected, auc=dmf_auc_score(CLASSES, expit(LOGITS)))


def test_positive_scores_that_are_not_normalised():
    assert_values(CLASSES, 10 * SCORES)


def test_range_of_the_scores_changes_nothing():
    inside = (LOGITS - LOGITS.min()) / np.ptp(LOGITS)
    expected = hand_till_score(CLASSES, LOGITS), dmf_auc_score(CLASSES, LOGITS)
    assert_values(CLASSES, inside, *expected)
    assert_values(CLASSES, inside + 1, *expected)


@pytest.mark.parametrize("decimals", [3, 4, 5])
def test_probabilities_rounded_so_that_they_do_not_sum_to_one(decimals):
    classes, logits = normal_scores(1, 120, 10, 2.0)
    exact = softmax(logits, axis=1)
    rounded = np.round(exact, decimals)
    assert abs(rounded.sum(axis=1) - 1).max() > 0.1**decimals
    # Few ties arise: the value barely moves from that of the exact probabilities.
    m = roc_auc_score(classes, exact, multi_class="ovo")
    assert hand_till_score(classes, rounded) == pytest.approx(m, abs=0.01)
    auc = dmf_auc_score(classes, exact)
    assert dmf_auc_score(classes, rounded) == pytest.approx(auc, abs=0.01)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_short_floats(dtype):
    short = SCORES.astype(dtype)
    as_double = short.astype(float)
    m, auc = hand_till_score(CLASSES, as_double), dmf_auc_score(CLASSES, as_double)
    found = assert_values(CLASSES, short, m=m, auc=auc, abs=1e-12)
    assert m == pytest.approx(M, abs=0.002)
    assert type(found["hand_till"].value) is float  # the answer has double precision
    assert type(hand_till_score(CLASSES, short)) is float


def test_scores_of_object_dtype():
    assert_values(CLASSES, SCORES.astype(object))
    assert_refused(CLASSES, altered(0, 0, 0).astype(str), "holds .*; convert", TypeError)


def test_all_scores_tied():
    constant = np.full((60, 3), 1 / 3)
    assert hand_till_score(CLASSES, constant) == pytest.approx(0.5, abs=1e-12)
    assert dmf_auc_score(CLASSES, constant) == pytest.approx(0.5, abs=1e-9)
    for e in evaluate(CLASSES, constant).estimates.values():
        low, high = e.interval
        assert low + 0.02 < e.value < high - 0.02  # never (0.5, 0.5)
        assert len(e.warnings) == 1


@pytest.mark.filterwarnings("ignore:.* below chance")
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_reversed_classifier():
    m, auc = 1 - M, dmf_auc_score(CLASSES, -SCORES)
    assert m < 0.15
    assert auc < 0.15
    assert_values(CLASSES, -SCORES, m=m, auc=auc)


def test_perfect_classifier_is_not_certain():
    scores = np.eye(3)[CLASSES] + SCORES / 1000
    for e in evaluate(CLASSES, scores).estimates.values():
        low, high = e.interval
        assert e.value == pytest.approx(1, abs=1e-6)
        # Never (1, 1): 60 hits show no higher share of hits than this (Clopper and Pearson). An
        # error is ranked in the midst of another class.
        assert low < 1 - (1 - 0.05 ** (1 / 60)) / 2
        assert high == pytest.approx(1, abs=1e-6)
        assert high <= 1
        assert "perfect in this sample" in e.warnings[0]


def test_limits_stay_inside_the_range():
    for shift in (1.5, 2.0, 2.5):
        classes, scores = normal_scores(2, 60, 3, shift)
        for name, e in evaluate(classes, scores).estimates.items():
            low, high = e.interval
            assert 0 < e.value < 1
            assert (-1 if name == "informedness" else 0) < low < e.value < high < 1


# Classes


def test_one_class_only():
    assert_refused(np.zeros(60, int), SCORES, "y_true holds one class only .0.: at least two")
    assert_refused(np.zeros(60, int), SCORES, "y_true holds one class only .0.", labels=[0, 1, 2])


def test_absent_class():
    keep = CLASSES != 1
    classes, scores = CLASSES[keep], SCORES[keep]
    truth = np.mean(
        [roc_auc_score(classes == 0, scores[:, 0]), roc_auc_score(classes == 2, scores[:, 2])]
    )
    for function in (hand_till_score, dmf_auc_score, evaluate):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(classes, scores, labels=[0, 1, 2])
        messages = [str(warning.message) for warning in caught]
        assert messages[0].endswith("every pair with it is left out: 1")
        of_informedness = ["1 class never occurs and its informedness counts as 0: 1"]
        assert messages[1:] == (of_informedness if function is evaluate else [])
        if function is hand_till_score:
            assert result == pytest.approx(truth, rel=0, abs=1e-12)
        if function is dmf_auc_score:
            assert result == pytest.approx(truth, rel=0, abs=0.03)
    assert_refused(classes, scores, r"y_true has 2 distinct labels \(0, 2\) but .* 3 columns")


def test_label_without_a_column():
    classes = CLASSES.copy()
    classes[7] = 3
    assert_refused(classes, SCORES, r"y_true has 4 distinct labels \(0, 1, 2, 3\) but .* 3 columns")
    message = r"y_true has labels without a score column: 3, first at row 7"
    assert_refused(classes, SCORES, message, labels=[0, 1, 2])


@pytest.mark.parametrize("factor", [1, 10, -5])
def test_labels_that_do_not_count_from_zero(factor):
    labels = [factor * (k + 1) for k in range(3)]
    assert_values(np.array(labels)[CLASSES], SCORES, labels=labels)
    if factor > 0:
        assert_values(np.array(labels)[CLASSES], SCORES)


def test_columns_in_an_order_of_the_users():
    named = np.array(NAMES)[CLASSES]
    assert_values(named, SCORES, labels=NAMES)


def test_columns_by_name():
    named = np.array(NAMES)[CLASSES]
    for order in (NAMES, ["high", "low", "mid"]):
        table = pd.DataFrame(SCORES, columns=NAMES)[order]
        assert_values(named, table)
        assert_values(named, table.add_prefix("p_"))
        assert_values(named, pl.from_pandas(table))
        assert_values(named, table, labels=NAMES)
    wrong = pd.DataFrame(SCORES, columns=["low", "mid", "top"])
    assert_refused(named, wrong, "columns and classes do not match by name")


def test_two_classes_in_two_columns():
    classes, scores = normal_scores(3, 40, 2)
    probabilities = softmax(scores, axis=1)
    auc = roc_auc_score(classes, probabilities[:, 1])
    assert_values(classes, probabilities, m=auc, auc=auc)
    assert_values(classes, probabilities[:, 1], m=auc, auc=auc)


def test_object_labels():
    assert_values(np.array(NAMES, dtype=object)[CLASSES], SCORES, labels=NAMES)
    assert_values(CLASSES.astype(object), SCORES)
    assert_refused(np.array([0, "a", 1.5] * 20, dtype=object), SCORES, "mixes labels", TypeError)


def test_missing_label():
    classes = CLASSES.astype(float)
    classes[11] = np.nan
    message = r"y_true has a missing label at row 11 \(counting from 0\): give it a label or drop"
    assert_refused(classes, SCORES, message)
    classes = np.array(NAMES, dtype=object)[CLASSES]
    classes[11] = None
    assert_refused(classes, SCORES, message)


def test_class_with_a_single_case():
    classes = np.where(CLASSES == 2, 0, CLASSES)
    classes[np.flatnonzero(CLASSES == 2)[0]] = 2
    m = roc_auc_score(classes, SCORES, multi_class="ovo")
    assert hand_till_score(classes, SCORES) == pytest.approx(m, rel=0, abs=1e-12)
    for name, e in evaluate(classes, SCORES).estimates.items():
        low, high = e.interval
        assert np.isfinite([e.standard_error, low, high]).all()
        assert e.standard_error > 0
        assert high - low > 0.02, name
        assert any(remark.startswith("class 2 has a single observation") for remark in e.warnings)


# Shapes


def test_empty_input():
    assert_refused([], np.empty((0, 3)), "y_true is empty")
    assert_refused(CLASSES, np.empty((0, 3)), "y_true has 60 rows but y_score has 0")


def test_lengths_differ():
    assert_refused(CLASSES[:-1], SCORES, "y_true has 59 rows but y_score has 60: both must")
    assert_refused(CLASSES, SCORES[:-1], "y_true has 60 rows but y_score has 59: both must")
    assert_refused(
        CLASSES, SCORES, "y_true has 60 rows but sample_weight has 59", sample_weight=np.ones(59)
    )


def test_more_pairs_than_32_bits_can_count():
    generator = np.random.default_rng(4)
    classes = np.arange(200_000) % 2
    score = np.round(generator.normal(size=200_000) + classes, 3)
    assert (classes == 0).sum() * (classes == 1).sum() > 2**31
    auc = roc_auc_score(classes, score)
    found = estimate("hand_till", classes.astype(np.int8), score)
    assert found.value == pytest.approx(auc, rel=0, abs=1e-12)
    # DeLong's placements from midranks.
    variance, ranks = 0, rankdata(score)
    for c in (0, 1):
        own = classes == c
        share = (ranks[own] - rankdata(score[own])) / (~own).sum()
        variance += share.var(ddof=1) / own.sum()
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_tables_with_an_index_of_their_own():
    order = np.random.default_rng(5).permutation(60)
    classes = pd.Series(CLASSES, index=order)
    scores = pd.DataFrame(SCORES, columns=[0, 1, 2], index=order)
    assert_values(classes, scores)
    assert_values(classes, scores[::-1])  # rows are matched by index
    assert_values(pl.Series(CLASSES), pl.DataFrame(SCORES, schema=["0", "1", "2"]))


# Silent wrong answers


@pytest.mark.parametrize("measure", ["dmf_auc", "hand_till"])
@pytest.mark.parametrize(
    "other", [SCORES, 2 * SCORES + 1, 10 * SCORES], ids=["same", "2s+1", "10s"]
)
@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_identical_classifiers_have_p_value_one(other, measure):
    (difference,) = compare(CLASSES, {"a": SCORES, "b": other}, measures=measure).differences
    assert (difference.value, difference.p_value) == (0, 1)


def test_tied_classifiers_have_p_value_one():
    tied = {"a": np.ones((60, 3)), "b": np.zeros((60, 3))}
    for measure in ("dmf_auc", "hand_till", "informedness"):
        assert compare(CLASSES, tied, measures=measure).differences[0].p_value == 1


@pytest.mark.parametrize("score", [hand_till_score, dmf_auc_score])
def test_noise_averages_one_half(score):
    values = []
    for seed in range(200):
        classes, scores = normal_scores(seed, 60, 3, 0)
        values.append(score(classes, scores))
    # Five standard errors, so that a sound measure fails once in a million seeds.
    error = np.std(values) / np.sqrt(len(values))
    assert np.mean(values) == pytest.approx(0.5, rel=0, abs=5 * error)
    assert error < 0.005
    assert min(values) < 0.45


@pytest.mark.parametrize("measure", ["dmf_auc", "hand_till"])
def test_marker_differs_from_its_reverse(measure):
    classes, scores = normal_scores(6, 150, 2)
    marker = scores[:, 1]
    result = compare(classes, {"marker": marker, "reverse": -marker}, measures=measure)
    assert result.differences[0].value > 0.4
    assert result.differences[0].p_value < 1e-6


def test_class_order_is_not_that_of_the_alphabet():
    generator = np.random.default_rng(7)
    classes = generator.integers(3, size=300)
    scores = generator.normal(size=(300, 3)) + 2 * np.eye(3)[classes]
    named = np.array(NAMES)[classes]
    truth = hand_till_score(classes, scores)
    assert truth > 0.9
    table = pd.DataFrame(scores, columns=NAMES)
    assert hand_till_score(named, table) == pytest.approx(truth, rel=0, abs=1e-12)
    assert hand_till_score(named, scores, labels=NAMES) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("rounding", [0, 1, 8])
def test_drawn_area_is_the_area(rounding):
    # No vertical step of the curve is cut off.
    classes, logits = normal_scores(8, 60, 3)
    curve = multiclass_roc(classes, np.round(logits, rounding))
    drawn = np.trapezoid(curve.tpr, curve.fpr)
    assert drawn == pytest.approx(curve.auc, rel=0, abs=1e-14)
    expected = dmf_auc_score(classes, np.round(logits, rounding))
    assert drawn == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.slow
def test_area_is_not_above_the_mean_of_the_pairs():
    """Macro-averaged curves of other packages are, by 0.01 at n = 60, in every sample.

    Pairs that are alike in the population have the area M there. In a sample they differ by
    chance, and easy pairs count more: the area is larger by a bias, which halves show.
    """
    rise, corrected = [], []
    for seed in range(40):
        classes, scores = normal_scores(100 + seed, 60, 3)
        m = hand_till_score(classes, scores)
        sample = sample_of(Predictions.from_arrays(classes, scores))
        limits = facts_in(sample, dmf_auc()).limits
        rise.append([dmf_auc_score(classes, scores, shrinkage=s) - m for s in (1, 0.05)])
        bias = _bias_of_halves(limits.function, limits.value, limits.influences, 0.0)
        corrected.append(rise[-1][1] - bias)
    strong, default = np.transpose(rise)
    assert abs(np.mean(strong)) < 0.003
    assert abs(np.mean(corrected)) < 0.003
    assert 0.003 < np.mean(default) < 0.008
    assert min(default) < 0.001


def test_order_of_tied_rows_does_not_matter():
    classes, logits = normal_scores(9, 60, 3)
    scores = np.round(logits)
    for order in (np.argsort(classes), np.argsort(-classes)):
        assert dmf_auc_score(classes[order], scores[order]) == pytest.approx(
            dmf_auc_score(classes, scores), rel=0, abs=1e-9
        )
        assert hand_till_score(classes[order], scores[order]) == pytest.approx(
            hand_till_score(classes, scores), rel=0, abs=1e-12
        )


def test_interval_is_that_of_the_sample_not_of_a_mean_of_draws():
    classes, scores = normal_scores(10, 60, 3, 0.5)
    found = estimate("hand_till", classes, scores)
    low, high = found.interval
    assert high - low == pytest.approx(2 * 1.96 * found.standard_error, rel=0.15)
