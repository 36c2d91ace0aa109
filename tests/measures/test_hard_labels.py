"""Measures of hard labels as functions of weights: influences, intervals, conventions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from simulations import normal_scores

from dmfroc import Measure, Predictions, compare, estimate, evaluate
from dmfroc.inference.influences import influences_of
from dmfroc.measures import MEASURES, ContingencyTable, markedness
from dmfroc.measures.measure import bind, bind_in_groups

CONTINGENCY = tuple(m for m in MEASURES.values() if m.family == "contingency")
THREE = Predictions.from_labels([0, 1, 2], [0, 1, 2])
OF_ANY = [measure for measure in CONTINGENCY if measure.applies_to(THREE)]


def influences(measure, predictions):
    return influences_of([measure], bind(measure, predictions), predictions)[0]


def influences_of_all(measures, predictions):
    """Return the influences as `evaluate` finds them: of all measures bound together at once."""
    found = {}
    for positions, bind_group in bind_in_groups(measures, predictions):
        group = [measures[position] for position in positions]
        found |= zip(positions, influences_of(group, bind_group(), predictions), strict=True)
    return [found[position] for position in range(len(measures))]


def chosen(n_classes):
    return list(CONTINGENCY) if n_classes == 2 else OF_ANY


def predictions_of(counts):
    """One observation per cell, weighted by its count."""
    predicted, true = np.indices(np.shape(counts)).reshape(2, -1)
    labels = range(len(counts))
    return Predictions.from_labels(true, predicted, labels=labels, sample_weight=np.ravel(counts))


def simulated(n_classes, seed=0, n=120):
    classes, scores = normal_scores(seed, n, n_classes)
    return Predictions.from_arrays(classes, scores)


# The registry


def test_names():
    assert {measure.name for measure in CONTINGENCY} < set(MEASURES)
    assert {m.name for m in MEASURES.values() if m.needs == "labels"} == {
        m.name for m in MEASURES.values() if m.family in ("contingency", "agreement")
    }
    assert {m.needs for m in CONTINGENCY} == {"labels"}
    assert markedness() == MEASURES["markedness"]
    assert markedness("bias") == MEASURES["markedness_bias"]
    errors = {m.name for m in CONTINGENCY if not m.greater_is_better}
    assert errors == {
        "fallout",
        "miss_rate",
        "false_discovery_rate",
        "false_omission_rate",
        "negative_likelihood_ratio",
        "distance_to_perfect",
        "entropy_real_given_predicted",
        "entropy_predicted_given_real",
    }


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ranges_and_chance(n_classes):
    independent = predictions_of(np.outer(np.arange(1, n_classes + 1), np.arange(n_classes, 0, -1)))
    measures = chosen(n_classes)
    for measure, found in zip(measures, influences_of_all(measures, independent), strict=True):
        if not np.isnan(measure.chance):
            assert found.value == pytest.approx(measure.chance, abs=1e-12), measure.name
    for seed in range(2):
        for measure, found in zip(
            measures, influences_of_all(measures, simulated(n_classes, seed)), strict=True
        ):
            low, high = measure.bounds
            assert low <= found.value <= high, measure.name


@pytest.mark.slow
def test_all_measures_that_suit():
    for n_classes in (2, 3):
        found = evaluate(simulated(n_classes), measures="all").estimates
        expected = {measure.name for measure in chosen(n_classes)}
        assert {name for name in found if MEASURES[name].family == "contingency"} == expected
        assert ("recall" in expected) == (n_classes == 2)
    classes, scores = normal_scores(0, 60, 2)
    no_labels = evaluate(classes, scores[:, 1], measures="all").estimates
    assert not {measure.name for measure in CONTINGENCY} & set(no_labels)


def test_measures_of_two_classes_refuse_three():
    message = "recall is a measure of two classes, and there are 3: name one, such as"
    with pytest.raises(ValueError, match=message):
        estimate("recall", simulated(3))
    with pytest.raises(ValueError, match=message):
        evaluate(simulated(3), measures=["accuracy", "recall"])


# Values and influences


@pytest.mark.parametrize("n_classes", [2, 3])
def test_together_is_one_by_one(n_classes):
    predictions, measures = simulated(n_classes), chosen(n_classes)
    table = ContingencyTable.from_predictions(predictions).measures()
    together = influences_of_all(measures, predictions)
    for measure, found in zip(measures, together, strict=True):
        assert found.value == pytest.approx(table[measure.name], rel=0, abs=1e-12)
    for measure, found in zip(measures, together, strict=True):
        alone = influences(measure, predictions)
        assert found.value == pytest.approx(alone.value, rel=0, abs=1e-12)
        np.testing.assert_allclose(found.influences, alone.influences, rtol=0, atol=1e-12)


def test_order_of_measures_is_kept():
    names = ["accuracy", "hand_till", "informedness", "dmf_auc", "cohen_kappa"]
    found = evaluate(simulated(3), measures=names).estimates
    assert list(found) == names
    for name in names:
        assert found[name] == estimate(name, simulated(3))


@pytest.mark.parametrize(
    "counts",
    [
        [[40, 9], [5, 25]],
        [[40, 0], [5, 25]],
        [[50, 10, 5], [3, 20, 2], [2, 5, 3]],
        [[50, 10, 0], [0, 20, 2], [2, 0, 3]],
        [[40, 9, 6], [5, 25, 9], [0, 0, 0]],
    ],
    ids=["two", "two-with-zero", "three", "three-with-zeros", "never-predicted"],
)
def test_influences_are_derivatives(counts):
    counts = np.array(counts, float)
    occupied = counts > 0
    predicted, true = np.nonzero(occupied)
    weights = counts[occupied]
    labels = range(len(counts))
    predictions = Predictions.from_labels(true, predicted, labels=labels, sample_weight=weights)
    measures = chosen(len(counts))
    found = influences_of_all(measures, predictions)

    def values(change):
        moved = counts.copy()
        moved[occupied] += change
        return ContingencyTable(moved, tuple(labels)).values

    step = 1e-4
    for row, weight in enumerate(weights):
        change = step * (np.arange(len(weights)) == row)
        above, below = values(change), values(-change)
        for measure, of_measure in zip(measures, found, strict=True):
            if np.isfinite(of_measure.value):
                slope = (above[measure.name] - below[measure.name]) / (2 * step)
                assert of_measure.influences[row] == pytest.approx(
                    slope * weight, rel=1e-5, abs=1e-6
                ), measure.name


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=25)
@given(data=st.data())
def test_influences_are_finite_whatever_the_table(n_classes, data):
    counts = hnp.arrays(np.int64, (n_classes, n_classes), elements=st.integers(0, 3))
    table = data.draw(counts.filter(lambda x: (x.sum(axis=0) > 0).sum() > 1))
    present = table.sum(axis=0) > 0
    predicted, true = np.indices(table.shape).reshape(2, -1)
    # Classes without weight are given none, so that they have no observations at all.
    weights = np.where(present[true], table.ravel(), 0)
    true = np.where(present[true], true, np.flatnonzero(present)[0])
    predictions = Predictions.from_labels(
        true, predicted, labels=range(n_classes), sample_weight=weights
    )
    for measure, found in zip(
        chosen(n_classes), influences_of_all(chosen(n_classes), predictions), strict=True
    ):
        assert np.isfinite(found.influences).all(), measure.name
        assert not found.influences[weights == 0].any(), measure.name


# Intervals


def test_rates_have_the_errors_of_proportions():
    table = np.array([[60, 12], [15, 33]])
    (tn, fn), (fp, tp) = table
    true = np.repeat([0, 1, 0, 1], table.ravel())
    predicted = np.repeat([0, 0, 1, 1], table.ravel())
    predictions = Predictions.from_labels(true, predicted)
    n_negative, n_positive = tn + fp, fn + tp
    tpr, fpr = tp / n_positive, fp / n_negative
    of_recall, of_fallout = tpr * (1 - tpr) / (n_positive - 1), fpr * (1 - fpr) / (n_negative - 1)
    shares = np.array([n_negative, n_positive]) / len(true)
    expected = {
        "recall": of_recall,
        "miss_rate": of_recall,
        "fallout": of_fallout,
        "specificity": of_fallout,
        "informedness": of_recall + of_fallout,
        "balanced_accuracy": (of_recall + of_fallout) / 4,
        "accuracy": shares**2 @ [of_fallout, of_recall],
        # The delta method for the logarithm of a ratio of two proportions
        "positive_likelihood_ratio": (tpr / fpr) ** 2 * (of_recall / tpr**2 + of_fallout / fpr**2),
    }
    found = evaluate(predictions, measures=list(expected), stratify=True).estimates
    for name, variance in expected.items():
        assert found[name].standard_error == pytest.approx(np.sqrt(variance), rel=1e-10), name
    low, high = np.log(found["positive_likelihood_ratio"].interval)
    error = np.sqrt(of_recall / tpr**2 + of_fallout / fpr**2)  # of the logarithm
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.1)
    assert low < np.log(tpr / fpr) - 1.7 * error < np.log(tpr / fpr) + 1.7 * error < high


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_samples():
    generator = np.random.default_rng(5)
    true = np.repeat([0, 1, 2], [150, 100, 50])
    chances = np.array([[0.7, 0.2, 0.1], [0.25, 0.6, 0.15], [0.2, 0.3, 0.5]])
    names = ["markedness", "correlation", "gorodkin_correlation", "cohen_kappa", "scott_pi"]
    names += ["mutual_information", "entropy_predicted", "informedness_macro"]
    values, errors = [], []
    for _ in range(200):
        predicted = (generator.random(300)[:, None] > chances[true].cumsum(axis=1)).sum(axis=1)
        predictions = Predictions.from_labels(true, predicted)
        found = evaluate(predictions, measures=names).estimates
        values.append([found[name].value for name in names])
        errors.append([found[name].standard_error for name in names])
    # A standard deviation of 200 values is known to 5 %: four times that.
    assert np.mean(errors, axis=0) == pytest.approx(np.std(values, axis=0), rel=0.2)


def test_a_value_that_does_not_exist_has_no_interval():
    classes = [0, 1, 0, 1, 1, 0]
    with pytest.warns(UserWarning, match="^no finite value in this sample: precision is nan, "):
        found = estimate("precision", Predictions.from_labels(classes, [0] * 6))
    assert np.isnan([found.value, found.standard_error, *found.interval]).all()
    message = "precision is nan, since class 1 is never predicted"
    assert found.warnings == (f"no finite value in this sample: {message}",)
    assert "precision undefined" in str(found)
    with pytest.warns(UserWarning, match="^no finite value .* positive_likelihood_ratio is inf, "):
        evaluation = evaluate(
            Predictions.from_labels(classes, [0, 1, 0, 1, 0, 0]),
            measures=["positive_likelihood_ratio", "recall"],
        )
    assert np.isnan(evaluation.estimates["positive_likelihood_ratio"].interval).all()
    assert np.isfinite(evaluation.estimates["recall"].interval).all()


def test_a_perfect_classifier_is_not_certain():
    classes = np.arange(60) % 3
    found = evaluate(Predictions.from_labels(classes, classes), measures=OF_ANY).estimates
    assert found["cohen_kappa"].value == 1
    # No sample of 60 hits shows more of a share of hits than this (Clopper and Pearson).
    assert found["cohen_kappa"].interval[0] < 0.05 ** (1 / 60)
    assert found["entropy_real_given_predicted"].value == pytest.approx(0, abs=1e-12)


# Conventions


def caught_from(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(warning.message) for warning in caught]


def test_values_tell_only_their_own_conventions():
    true, predicted = ["a", "b", "b", "a"], ["a", "b", "c", "a"]
    never_observed = "1 class never occurs and its informedness counts as 0: 'c'"
    never_predicted = "1 class is never predicted and its markedness counts as 0: 'c'"
    assert caught_from(lambda: MEASURES["informedness"](true, y_pred=predicted)) == [never_observed]
    assert caught_from(lambda: MEASURES["markedness"](true, y_pred=predicted)) == []
    assert caught_from(lambda: MEASURES["correlation"](true, y_pred=predicted)) == [never_observed]
    assert caught_from(lambda: MEASURES["markedness"](predicted, y_pred=true)) == [never_predicted]
    assert caught_from(lambda: MEASURES["informedness"](predicted, y_pred=true)) == []
    assert caught_from(lambda: MEASURES["correlation"](predicted, y_pred=true)) == [never_predicted]
    for name in ("gorodkin_correlation", "cohen_kappa"):
        assert caught_from(lambda name=name: MEASURES[name](true, y_pred=predicted)) == []


def test_evaluate_tells_each_remark_once():
    predictions = Predictions.from_labels([0, 1, 0, 1, 1], [0, 1, 1, 2, 1])
    names = ["informedness", "informedness_macro", "markedness", "accuracy", "hand_till"]
    remarks = [
        "1 class never occurs and its informedness counts as 0: 2",
        "1 class has a column but no observation and every pair with it is left out: 2",
    ]
    assert caught_from(lambda: evaluate(predictions, measures=names)) == remarks
    assert caught_from(lambda: evaluate(predictions, measures=["accuracy"])) == []
    named = {"a": predictions, "b": Predictions.from_labels([0, 1, 0, 1, 1], [0, 1, 2, 1, 1])}
    assert caught_from(lambda: compare(named, measures="informedness")) == remarks[:1]


def test_a_measure_of_ones_own_is_not_bound_together():
    own = Measure(
        name="own",
        title="Own",
        bind=lambda predictions: bind(MEASURES["accuracy"], predictions),
        bounds=(0.0, 1.0),
        chance=0.5,
        family="mine",
    )
    found = influences_of_all([own, MEASURES["accuracy"]], simulated(3))
    assert found[0].value == found[1].value


def test_the_smaller_error_is_better():
    classes, good = normal_scores(0, 120, 2)
    poor = good + 2 * np.random.default_rng(1).normal(size=good.shape)
    scores = {"good": good, "poor": poor}
    of_error, of_rate = (compare(classes, scores, measures=name) for name in ("miss_rate", "recall"))
    assert of_error.differences[0].value == pytest.approx(-of_rate.differences[0].value)
    better = of_rate.probability_better["good", "poor"]
    assert better > 0.6
    assert of_error.probability_better["good", "poor"] == pytest.approx(better)
    assert of_error.order_probabilities == pytest.approx(of_rate.order_probabilities, abs=0.01)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_what_does_not_exist_is_not_compared(method):
    never = np.tile([1.0, 0.0], (120, 1))
    classes, scores = normal_scores(0, 120, 2)
    with pytest.raises(ValueError, match="precision is nan for 'never', which cannot be compared"):
        compare(classes, {"some": scores, "never": never}, measures="precision", method=method)


def test_a_value_that_does_not_exist_is_told():
    predictions = predictions_of([[0, 30, 30], [0, 1, 0], [1, 0, 5]])
    reason = "since informedness and markedness differ in sign"
    with pytest.warns(UserWarning, match=f"^no finite .* correlation is nan, {reason}$"):
        assert np.isnan(MEASURES["correlation"](predictions))


@pytest.mark.parametrize(
    ("predicted", "name", "reason"),
    [
        ([0, 0, 0, 0], "lift", "class 1 is never predicted"),
        ([1, 1, 1, 1], "negative_likelihood_ratio", "class 0 is never predicted"),
        ([0, 0, 1, 0], "positive_likelihood_ratio", "no row of class 0 is predicted as 1"),
        ([1, 0, 0, 0], "f_gain", "no row of class 1 is predicted as 1"),
    ],
)
def test_a_value_that_does_not_exist_has_its_reason(predicted, name, reason):
    with pytest.warns(UserWarning, match=f"^no finite .*: {name} is (nan|-?inf), since {reason}$"):
        found = evaluate(Predictions.from_labels([0, 0, 1, 1], predicted), measures=[name])
    assert any(reason in warning for warning in found.estimates[name].warnings)


def test_probabilities_that_are_all_the_same_are_the_reason():
    with pytest.warns(UserWarning, match="calibration_slope is nan, since .* are all the same"):
        estimate("calibration_slope", [0, 1, 2] * 10, np.full((30, 3), 1 / 3))


def test_abstentions_are_wrong_or_left_out(cases_directory):
    """The label of an abstention is a class that never occurs; or its rows are left out."""
    frame = pd.read_csv(cases_directory / "abstain.csv")
    wrong = estimate("accuracy", frame["label"], y_pred=frame["predicted"])
    assert wrong.value == pytest.approx(0.7)
    decided = frame[frame["predicted"] != "abstain"]
    found = estimate("accuracy", decided["label"], y_pred=decided["predicted"])
    assert found.value == pytest.approx(0.857143, abs=5e-7)
    scores = frame[["cat", "dog", "owl"]]
    with pytest.raises(ValueError, match="without a score column: 'abstain'"):
        evaluate(frame["label"], scores, y_pred=frame["predicted"])
