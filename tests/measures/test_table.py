"""Multiclass informedness: stored numbers, Powers' payoffs, identities, weights."""

from fractions import Fraction

import numpy as np
import pytest
from golden import assert_golden, golden
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from simulations import normal_scores
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    matthews_corrcoef,
    roc_auc_score,
)

from dmfroc import estimate, informedness_score, measures
from dmfroc.measures import contingency_measures, informedness

WEIGHTINGS = ["bias", "prevalence", "macro"]


def labels_of(table):
    """Return observed and predicted classes that give a table with predictions in its rows."""
    predicted, true = np.indices(np.shape(table)).reshape(2, -1)
    counts = np.ravel(table)
    return np.repeat(true, counts), np.repeat(predicted, counts)


def informedness_of(table, weighting="bias", **options):
    true, predicted = labels_of(table)
    options.setdefault("labels", range(len(table)))
    return informedness_score(true, predicted, weighting=weighting, **options)


def payoff(table):
    """Return Powers' equation 41: the stakes, odds and outcomes of every bet, cell by cell."""
    n = int(np.sum(table))
    total = Fraction(0)
    for label, row in enumerate(table):
        n_predicted = int(np.sum(row))
        prevalence = Fraction(int(np.sum(np.array(table)[:, label])), n)
        stake = Fraction(n_predicted, n)
        for real, count in enumerate(row):
            given_prediction = Fraction(int(count), n_predicted)
            odds = stake / (prevalence - (real != label))
            total += stake * given_prediction * odds
    return total


# Values


@pytest.mark.parametrize("case", golden("multiclass_tables"))
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.filterwarnings(
    "ignore:1 class never occurs and its informedness counts as 0:UserWarning"
)
def test_stored_values(case, weighting):
    key = "informedness_macro" if weighting == "macro" else f"informedness_{weighting}_weighted"
    assert_golden(informedness_of(case["inputs"]["C"], weighting), case, key)


TABLE = [[50, 10, 5], [3, 20, 2], [2, 5, 3]]


def test_worked_example_in_fractions():
    assert informedness_of(TABLE, "bias") == pytest.approx(9371 / 18018, abs=1e-15)
    assert informedness_of(TABLE, "prevalence") == pytest.approx(599 / 1170, abs=1e-15)
    assert informedness_of(TABLE, "macro") == pytest.approx(11644 / 27027, abs=1e-15)
    true, predicted = labels_of(TABLE)
    assert informedness_score(true, predicted) == informedness_of(TABLE, "bias")


def test_rows_are_predictions():
    # The transposed table has another informedness (it swaps it with markedness).
    assert informedness_of(np.transpose(TABLE)) == pytest.approx(0.57672771672771, abs=1e-12)


def test_weightings_can_disagree_completely():
    table = [[0, 50, 500], [1, 1, 0], [0, 0, 1]]
    assert informedness_of(table, "bias") == pytest.approx(-0.9909, abs=5e-5)
    assert informedness_of(table, "prevalence") == pytest.approx(0.0016, abs=5e-5)


def tables(n_classes):
    return hnp.arrays(np.int64, (n_classes, n_classes), elements=st.integers(0, 30))


@settings(max_examples=60)
@given(st.integers(2, 5).flatmap(tables))
def test_bias_weighting_is_the_payoff_of_fair_bets(table):
    assume((table.sum(axis=0) > 0).all())
    assume((table.sum(axis=1) > 0).all())
    # One observation per cell, weighted, so that no shape depends on the counts.
    predicted, true = np.indices(table.shape).reshape(2, -1)
    found = informedness_score(true, predicted, sample_weight=table.ravel())
    assert found == pytest.approx(float(payoff(table)), rel=0, abs=1e-12)


# Identities


@settings(max_examples=40)
@given(hnp.arrays(np.int64, (2, 2), elements=st.integers(1, 50)))
def test_two_classes(table):
    (tn, fn), (fp, tp) = table
    weights, predicted, true = table.ravel(), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    expected = tp / (tp + fn) - fp / (fp + tn)
    for weighting in WEIGHTINGS:
        found = informedness_score(true, predicted, sample_weight=weights, weighting=weighting)
        assert found == pytest.approx(expected, rel=0, abs=1e-12)
        flipped = informedness_score(
            true, 1 - predicted, sample_weight=weights, weighting=weighting
        )
        assert flipped == pytest.approx(-expected, rel=0, abs=1e-12)
    # (Recall - Bias) / (1 - Prevalence), twice the area of the one point less one, and
    # balanced accuracy without chance.
    n = table.sum()
    recall, bias, prevalence = tp / (tp + fn), (tp + fp) / n, (tp + fn) / n
    assert (recall - bias) / (1 - prevalence) == pytest.approx(expected, rel=0, abs=1e-12)
    area = roc_auc_score(true, predicted, sample_weight=weights)
    assert 2 * area - 1 == pytest.approx(expected, rel=0, abs=1e-12)
    balanced = balanced_accuracy_score(true, predicted, sample_weight=weights, adjusted=True)
    assert balanced == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.filterwarnings("ignore:no finite value in this sample. correlation is nan")
@settings(max_examples=25)
@given(
    hnp.arrays(np.int64, (3, 3), elements=st.integers(0, 9)).filter(
        lambda x: x.sum(0).all() and x.sum(1).all()
    )
)
def test_scikit_learns_averages_over_the_classes(table):
    predicted, true = (np.repeat(places.ravel(), table.ravel()) for places in np.indices((3, 3)))
    found = contingency_measures(true, predicted, labels=[0, 1, 2])
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    for average in ("macro", "weighted"):
        expected = f1_score(true, predicted, labels=[0, 1, 2], average=average, zero_division=0)
        assert found[f"{average}_f1"] == pytest.approx(expected, rel=1e-12)


def test_averages_say_what_they_do_with_classes_that_are_not_there():
    labels = {"labels": ["a", "b", "c", "d"], "y_pred": ["a", "a", "b", "c"]}
    with pytest.warns(UserWarning, match="left out of the mean recall: 'c', 'd'"):
        found = measures.balanced_accuracy()(["a", "b", "b", "a"], **labels)
    assert found == pytest.approx((1 / 2 + 1 / 2) / 2, rel=1e-12)
    with pytest.warns(UserWarning, match=r"no F1 \(0 / 0\), which counts as 0 in the mean: 'd'"):
        found = measures.macro_f1()(["a", "b", "b", "a"], **labels)
    assert found == pytest.approx((1 / 2 + 2 / 3 + 0 + 0) / 4, rel=1e-12)


@settings(max_examples=25)
@given(hnp.arrays(np.int64, (2, 2), elements=st.integers(0, 30)), st.sampled_from([0, 0.5, 1, 2]))
def test_f_gain_is_the_gain_of_f(table, beta):
    (tn, fn), (fp, tp) = table + np.eye(2, dtype=int)
    cells = [tn, fn, fp, tp]
    f = (1 + beta**2) * tp / ((1 + beta**2) * tp + fp + beta**2 * fn)
    rate = (tp + fn) / sum(cells)
    true, predicted = np.repeat([0, 1, 0, 1], cells), np.repeat([0, 0, 1, 1], cells)
    found = measures.f_gain(beta)(true, y_pred=predicted)
    assert found == pytest.approx((f - rate) / ((1 - rate) * f), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_perfect_and_independent_tables(weighting):
    assert informedness_of(np.diag([5, 20, 1]), weighting) == pytest.approx(1, abs=1e-14)
    independent = np.outer([6, 3, 1], [1, 2, 3])
    assert informedness_of(independent, weighting) == pytest.approx(0, abs=1e-14)
    constant = [[7, 3, 2], [0, 0, 0], [0, 0, 0]]
    assert informedness_of(constant, weighting) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_order_of_classes_and_rows_does_not_matter(weighting):
    expected = informedness_of(TABLE, weighting)
    order = [2, 0, 1]
    permuted = np.array(TABLE)[np.ix_(order, order)]
    assert informedness_of(permuted, weighting) == pytest.approx(expected, rel=0, abs=1e-15)
    true, predicted = labels_of(TABLE)
    rows = np.random.default_rng(0).permutation(len(true))
    shuffled = informedness_score(true[rows], predicted[rows], weighting=weighting)
    assert shuffled == pytest.approx(expected, rel=0, abs=1e-15)


def test_break_even_makes_bias_and_prevalence_alike():
    table = [[20, 4, 6], [5, 30, 5], [5, 6, 19]]  # row sums equal column sums
    by_bias = informedness_of(table, "bias")
    assert by_bias == pytest.approx(informedness_of(table, "prevalence"), rel=0, abs=1e-15)
    assert by_bias == pytest.approx(8 / 15, rel=0, abs=1e-15)
    binary = [[30, 12], [12, 46]]
    assert informedness_of(binary) == pytest.approx(
        matthews_corrcoef(*labels_of(binary)), rel=0, abs=1e-12
    )


def test_bias_weighted_areas_of_hard_labels():
    # The area of class l against the rest with 0/1 scores is (B_l + 1) / 2.
    true, predicted = labels_of(TABLE)
    areas = [roc_auc_score(true == k, predicted == k) for k in range(3)]
    mean = np.average(areas, weights=np.bincount(predicted))
    assert informedness_of(TABLE) == pytest.approx(2 * mean - 1, rel=0, abs=1e-12)


# Weights, labels, options


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_integer_weights_repeat_rows(weighting):
    true, predicted = labels_of(TABLE)
    weights = np.random.default_rng(1).integers(0, 4, size=len(true))
    found = informedness_score(true, predicted, sample_weight=weights, weighting=weighting)
    repeated = informedness_score(
        np.repeat(true, weights), np.repeat(predicted, weights), weighting=weighting
    )
    assert found == pytest.approx(repeated, rel=0, abs=1e-12)
    scaled = informedness_score(true, predicted, sample_weight=0.3 * weights, weighting=weighting)
    assert scaled == pytest.approx(found, rel=0, abs=1e-12)


def test_names_of_classes_do_not_matter():
    true, predicted = labels_of(TABLE)
    names = np.array(["low", "mid", "high"])
    assert informedness_score(names[true], names[predicted]) == pytest.approx(
        informedness_of(TABLE), rel=0, abs=1e-15
    )


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
def test_hard_labels_are_the_largest_scores_unless_given():
    classes, scores = normal_scores(2, 60, 3)
    largest, other = scores.argmax(axis=1), np.roll(classes, 1)

    def value(measure="informedness", **options):
        return estimate(measure, classes, scores, **options).value

    assert value() == pytest.approx(informedness_score(classes, largest), rel=0, abs=1e-15)
    assert value(y_pred=other) == pytest.approx(
        informedness_score(classes, other), rel=0, abs=1e-15
    )
    assert value(informedness("prevalence")) == pytest.approx(
        informedness_score(classes, largest, weighting="prevalence"), rel=0, abs=1e-15
    )


def test_one_score_has_no_hard_labels():
    classes, scores = normal_scores(3, 60, 2)
    score, positive = scores[:, 1], (scores[:, 1] > 0.5).astype(int)
    with pytest.raises(ValueError, match=r"informedness needs hard labels, .* pass y_pred"):
        estimate("informedness", classes, score)
    found = estimate("informedness", classes, score, y_pred=positive).value
    assert found == pytest.approx(informedness_score(classes, positive), rel=0, abs=1e-15)
