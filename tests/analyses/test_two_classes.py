"""Two classes: which is positive is said and can be chosen, and equal areas are shown once."""

import numpy as np
import pytest
from simulations import normal_scores
from sklearn import metrics

from dmfroc import (
    Predictions,
    compare,
    compare_runs,
    compare_subgroups,
    dmf_auc_score,
    estimate,
    evaluate,
    multiclass_roc,
    scan,
)
from dmfroc.applications import operating_point, optimal_operating_points
from dmfroc.counted import Accumulator

CLASSES, SCORES = normal_scores(1, 80, 2, prior=[0.7, 0.3])
EXCESS = SCORES - SCORES[:, ::-1]  # over the other class: the one score that two columns make


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        ("recall", metrics.recall_score),
        ("precision", metrics.precision_score),
        ("f1", metrics.f1_score),
    ],
)
@pytest.mark.parametrize("positive", [0, 1])
def test_measures_of_one_class_are_of_the_positive_one(measure, function, positive):
    predicted = SCORES.argmax(axis=1)
    expected = function(CLASSES, predicted, pos_label=positive)
    for arguments in ({"y_score": SCORES}, {"y_pred": predicted}):
        found = estimate(measure, CLASSES, **arguments, pos_label=positive)
        assert found.value == pytest.approx(expected, abs=1e-12)
    evaluation = evaluate(CLASSES, SCORES, measures=[measure], pos_label=positive)
    assert evaluation.estimates[measure].value == pytest.approx(expected, abs=1e-12)
    assert f"{positive} {np.sum(positive == CLASSES)} (positive)" in str(evaluation)


def test_average_precision_and_area_of_either_class():
    for positive in (0, 1):
        is_positive, score = positive == CLASSES, EXCESS[:, positive]
        ap = estimate("average_precision", CLASSES, SCORES, pos_label=positive).value
        auc = estimate("auc", CLASSES, SCORES, pos_label=positive).value
        assert ap == pytest.approx(metrics.average_precision_score(is_positive, score))
        assert auc == pytest.approx(metrics.roc_auc_score(is_positive, score))


def test_turned_around_twice_is_the_same():
    predictions = Predictions.from_arrays(CLASSES, SCORES)
    turned = predictions.with_positive_class(0)
    assert turned.labels == (1, 0)
    again = turned.with_positive_class(1)
    for name in ("true", "scores", "predicted"):
        np.testing.assert_array_equal(getattr(again, name), getattr(predictions, name))


def test_advice_is_about_the_positive_class():
    for positive in (0, 1):
        found = optimal_operating_points(CLASSES, SCORES, pos_label=positive, cost_fn=3)
        expected = optimal_operating_points(positive == CLASSES, EXCESS[:, positive], cost_fn=3)
        np.testing.assert_array_equal(found.thresholds, expected.thresholds)
        threshold = found.thresholds[0]
        one = operating_point(CLASSES, SCORES, threshold, pos_label=positive)
        assert one.tpr == np.mean(EXCESS[positive == CLASSES, positive] >= threshold)


def test_labels_are_the_order_of_the_columns_and_choose_no_class():
    for function in (optimal_operating_points, lambda *a, **k: operating_point(*a, 0.5, **k)):
        with pytest.raises(ValueError, match=r"labels=\[1, 0\] says that the first column"):
            function(CLASSES, SCORES, labels=[1, 0])
        meant = function(CLASSES, SCORES[:, ::-1], labels=[1, 0], pos_label=1)
        assert str(meant) == str(function(CLASSES, SCORES))
        function(CLASSES, SCORES[:, 0], labels=[1, 0])  # a score of class 0


@pytest.mark.parametrize("positive", ["b", {1}, np.nan])
def test_no_other_class_is_positive(positive):
    with pytest.raises(ValueError, match="pos_label= must be one of the classes 0, 1"):
        estimate("recall", CLASSES, SCORES, pos_label=positive)


def test_of_several_classes_one_is_positive_against_the_rest():
    classes, scores = normal_scores(1, 60, 3)
    found = evaluate(classes, scores, pos_label=1)
    expected = evaluate((classes == 1).astype(int), scores[:, 1])
    for name, one in expected.items():
        assert found[name].interval == one.interval
    with pytest.raises(ValueError, match="pos_label= must be one of the classes 0, 1, 2"):
        evaluate(classes, scores, pos_label=3)


@pytest.mark.parametrize("weights", [np.ones((5, 7)), np.ones((3, 3)), [[0, -1], [1, 0]], "even"])
def test_weights_that_are_none_are_refused(weights):
    for function in (dmf_auc_score, multiclass_roc, evaluate):
        with pytest.raises(ValueError, match="pair_weights"):
            function(CLASSES, SCORES, pair_weights=weights)
    batches = scan([{"y_true": CLASSES, "y_score": SCORES}])
    with pytest.raises(ValueError, match="pair_weights"):
        evaluate(batches, pair_weights=weights)


def test_costs_that_cannot_move_the_curve_are_told():
    with pytest.warns(UserWarning, match="pair_weights cannot move"):
        weighted = dmf_auc_score(CLASSES, SCORES, pair_weights=[[0, 1], [5, 0]])
    assert weighted == dmf_auc_score(CLASSES, SCORES)
    with pytest.warns(UserWarning, match="pair_weights cannot move"):
        curve = multiclass_roc(CLASSES, SCORES, pair_weights=[[0, 1], [5, 0]])
    assert curve.auc == multiclass_roc(CLASSES, SCORES).auc


def test_equal_areas_are_shown_once():
    one = evaluate(CLASSES, SCORES[:, 1])
    assert str(one).count("AUC") == 1
    assert "Hand-Till" not in str(one) + one._repr_html_()
    assert {"dmf_auc", "hand_till"} <= set(one.estimates)
    assert str(evaluate(CLASSES, SCORES)).count("AUC") == 1  # of two columns, too


def titles_of(found):
    return {e.title for e in found.estimates.values()}


@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc"])
def test_both_areas_of_two_classes_have_one_title(measure):
    score, folds = SCORES[:, 1], np.arange(len(CLASSES)) % 2
    both = np.column_stack([-score, score])
    labels = sorted(set(CLASSES))
    plain = evaluate(CLASSES, score, measures=measure)
    assert titles_of(plain) == {"AUC"}
    assert evaluate(CLASSES, score, measures="max_informedness").area_estimate.title == "AUC"
    assert estimate(measure, CLASSES, score).title == "AUC"
    each = evaluate(CLASSES, both, measures=measure, pos_label=labels)
    assert all(titles_of(of_class) == {"AUC"} for of_class in each.values())
    found = compare(CLASSES, {"a": score, "b": -score}, measures=measure)
    groups = compare_subgroups(CLASSES, score, folds, measures=measure)
    assert {found.title, *titles_of(found), groups.title, *titles_of(groups)} == {"AUC"}
    if measure == "hand_till":
        shares = dict.fromkeys(labels, 0.5)
        shifted = evaluate(CLASSES, score, measures=measure, population=shares)
        assert titles_of(shifted) == {"AUC"}
        noise = np.random.default_rng(0).normal(size=(6, len(score)))
        both_runs = {"a": [*(score + noise[:3])], "b": [*(score + noise[3:])]}
        assert compare_runs(CLASSES, both_runs, measures=measure).title == "AUC"
    counts = Accumulator(labels)
    counts.update(CLASSES, score)
    assert [e.title for e in counts.compute().shown][:1] == ["AUC"]
    assert str(counts.compute()).count("AUC") == 1


def test_three_classes_keep_the_titles_of_the_areas():
    rng = np.random.default_rng(0)
    found = evaluate(np.arange(60) % 3, rng.normal(size=(60, 3)))
    assert {"DMF-AUC", "Hand-Till M"} <= titles_of(found)
