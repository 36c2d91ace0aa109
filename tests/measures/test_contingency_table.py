"""Tables: stored numbers, the identities of the field, conventions, other packages."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from golden import assert_golden, golden
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

import dmfroc
from dmfroc import Predictions
from dmfroc.measures import MEASURES, ContingencyTable, contingency_measures, markedness

BINARY_NAMES = {
    "prevalence": "prevalence",
    "bias": "bias",
    "recall": "recall",
    "precision": "precision",
    "inverse_recall": "specificity",
    "inverse_precision": "negative_predictive_value",
    "fallout": "fallout",
    "miss_rate": "miss_rate",
    "accuracy": "accuracy",
    "jaccard": "jaccard",
    "f1": "f1",
    "g_measure": "fowlkes_mallows",
    "etp": "expected_true_positives",
    "dtp": "weighted_relative_accuracy",
    "informedness": "informedness",
    "markedness": "markedness",
    "mcc": "correlation",
    "cohen_kappa": "cohen_kappa",
    "scott_pi": "scott_pi",
    "s_coefficient": "s_coefficient",
    "wracc": "weighted_relative_accuracy",
    "wracc_scaled": "scaled_weighted_relative_accuracy",
    "auc_single_point": "single_point_auc",
    "distance_to_01": "distance_to_perfect",
    "skew_prevalence": "class_ratio",
    "skew_bias": "prediction_ratio",
    "odds_prevalence": "prevalence_odds",
    "relative_drift": "relative_drift",
    "evenness_r": "evenness_real",
    "evenness_p": "evenness_predicted",
    "evenness_g": "evenness_global",
    "lr_plus": "positive_likelihood_ratio",
    "lr_minus": "negative_likelihood_ratio",
}
TABLE_NAMES = {
    "informedness_bias_weighted": "informedness",
    "informedness_prevalence_weighted": "informedness_prevalence",
    "informedness_macro": "informedness_macro",
    "markedness_prevalence_weighted": "markedness",
    "markedness_bias_weighted": "markedness_bias",
    "markedness_macro": "markedness_macro",
    "correlation_gm": "correlation",
    "mcc_rk": "gorodkin_correlation",
    "accuracy": "accuracy",
    "cohen_kappa": "cohen_kappa",
    "scott_pi": "scott_pi",
    "s_coefficient": "s_coefficient",
    "evenness_r": "evenness_real",
    "evenness_p": "evenness_predicted",
    "evenness_g": "evenness_global",
    "mi_nats": "mutual_information",
    "h_real_nats": "entropy_real",
    "h_pred_nats": "entropy_predicted",
    "h_real_given_pred_nats": "entropy_real_given_predicted",
    "h_pred_given_real_nats": "entropy_predicted_given_real",
}
CLASS_NAMES = {
    "prevalence": "prevalence",
    "bias": "bias",
    "recall": "recall",
    "precision": "precision",
    "informedness_per_class": "informedness",
    "markedness_per_class": "markedness",
    "f1_per_class": "f1",
}


def table_of(matrix, **options):
    return ContingencyTable.from_matrix(matrix, rows="predicted", **options)


def quietly(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args)


def measures_of(table):
    return quietly(table.measures)


def classes_of(table):
    return quietly(table.per_class)


# Stored numbers


@pytest.mark.parametrize("case", golden("binary_measures"))
def test_binary_measures(case):
    table = ContingencyTable.from_cells(**case["inputs"])
    found, of_positive = measures_of(table), classes_of(table).loc[1]
    f_scores = {f"f{beta:g}": quietly(table.f_score, beta)[1] for beta in (0.5, 1, 2)}
    assert set(case["expected"]) == set(BINARY_NAMES) | set(f_scores)
    for key, name in BINARY_NAMES.items():
        assert_golden(found[name], case, key)
        assert_golden(of_positive[name], case, key)
    for key, value in f_scores.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("multiclass_measures"))
def test_measures_of_any_number_of_classes(case):
    table = table_of(case["inputs"]["C"])
    found, of_classes = measures_of(table), classes_of(table)
    for key, name in TABLE_NAMES.items():
        assert_golden(found[name], case, key)
    assert_golden(found["mutual_information"] / np.log(2), case, "mi_bits")
    for key, name in CLASS_NAMES.items():
        assert_golden(of_classes[name], case, key)


@pytest.mark.parametrize("case", golden("printed_values")[::2])
def test_measures_as_printed(case):
    found = ContingencyTable.from_cells(**case["inputs"]).measures()
    for key in case["expected"]:
        assert_golden(found[BINARY_NAMES[key]], case, key)


def test_measures_are_listed_by_what_they_have_in_common():
    names = list(ContingencyTable.from_cells(tp=3, fp=1, fn=2, tn=4).measures())
    assert names[:4] == [
        "informedness",
        "informedness_prevalence",
        "informedness_macro",
        "markedness",
    ]
    of_classes = table_of([[5, 1, 1], [2, 4, 1], [1, 1, 3]]).per_class()
    margins = ["prevalence", "bias", "class_ratio", "prediction_ratio"]
    assert of_classes.columns[:4].to_list() == margins


# Identities. One table of each size, so that nothing is compiled anew.


def tables(n_classes, smallest=0):
    counts = hnp.arrays(np.int64, (n_classes, n_classes), elements=st.integers(smallest, 40))
    return counts.filter(lambda x: x.any())


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-12)


@settings(max_examples=40)
@given(tables(2, smallest=1))
def test_identities_of_two_by_two_tables(counts):
    table = table_of(counts)
    x = table.measures()
    (tn, fn), (fp, tp) = counts / counts.sum()
    prevalence, bias = tp + fn, tp + fp
    informedness, markedness, dtp = tp / prevalence - fp / (1 - prevalence), None, tp * tn - fp * fn
    markedness = tp / bias - fn / (1 - bias)
    assert x["informedness"] == close(informedness)
    assert x["markedness"] == close(markedness)
    assert x["informedness"] == close((x["recall"] - bias) / (1 - prevalence))
    assert x["markedness"] == close((x["precision"] - prevalence) / (1 - bias))
    assert x["recall"] == close(x["informedness"] * (1 - prevalence) + bias)
    assert x["precision"] == close(x["markedness"] * (1 - bias) + prevalence)
    assert x["correlation"] ** 2 == close(informedness * markedness)
    assert np.sign(x["correlation"]) == np.sign(round(dtp, 12))
    assert x["gorodkin_correlation"] == close(x["correlation"])
    assert x["weighted_relative_accuracy"] == close(tn - (1 - prevalence) * (1 - bias))
    assert x["weighted_relative_accuracy"] == close(prevalence * (x["recall"] - bias))
    assert x["balanced_accuracy"] == close((informedness + 1) / 2)
    assert x["lift"] == close(x["recall"] / bias)
    # Cohen's kappa is the harmonic, the correlation the geometric mean of the same two.
    first, second = dtp / (prevalence * (1 - bias)), dtp / (bias * (1 - prevalence))
    assert x["cohen_kappa"] * (first + second) == close(2 * first * second)
    assert x["correlation"] == close(np.sign(dtp) * np.sqrt(first * second))
    for name in ("informedness", "markedness"):
        for weighting in ("bias", "prevalence", "macro"):
            assert x.get(f"{name}_{weighting}", x[name]) == close(x[name])
    assert x["entropy_real_given_predicted"] == close(x["entropy_real"] - x["mutual_information"])


@settings(max_examples=30)
@given(tables(2, smallest=1))
def test_symmetries_of_two_by_two_tables(counts):
    x = table_of(counts).measures()
    corrected = ["informedness", "markedness", "correlation", "cohen_kappa", "scott_pi"]
    swapped = table_of(counts[::-1, ::-1]).measures()
    assert [swapped[name] for name in corrected] == close([x[name] for name in corrected])
    assert swapped["recall"] == close(x["specificity"])
    assert swapped["precision"] == close(x["negative_predictive_value"])
    dual = table_of(counts.T).measures()
    assert (dual["recall"], dual["prevalence"]) == close((x["precision"], x["bias"]))
    flipped = table_of(counts[::-1]).measures()
    for name in corrected[:3]:
        assert flipped[name] == close(-x[name])


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_break_even(tp, wrong, tn):
    x = ContingencyTable.from_cells(tp=tp, fp=wrong, fn=wrong, tn=tn).measures()
    for name in ("markedness", "correlation", "cohen_kappa", "scott_pi"):
        assert x[name] == close(x["informedness"])
    for name in ("precision", "f1", "fowlkes_mallows"):
        assert x[name] == close(x["recall"])


@settings(max_examples=25)
@given(tables(4), st.integers(0, 3))
def test_tables_of_four_classes(counts, label):
    table = table_of(counts)
    x, of_classes = measures_of(table), classes_of(table)
    transposed = measures_of(table_of(counts.T))
    for name, dual in (
        ("informedness", "markedness"),
        ("informedness_prevalence", "markedness_bias"),
        ("informedness_macro", "markedness_macro"),
        ("evenness_real", "evenness_predicted"),
        ("entropy_real", "entropy_predicted"),
        ("entropy_real_given_predicted", "entropy_predicted_given_real"),
    ):
        assert transposed[name] == close(x[dual])
        assert transposed[dual] == close(x[name])
    for name in ("correlation", "gorodkin_correlation", "mutual_information", "cohen_kappa"):
        assert transposed[name] == pytest.approx(x[name], rel=1e-10, abs=1e-12, nan_ok=True)
    order = np.array([2, 0, 3, 1])
    permuted = measures_of(table_of(counts[np.ix_(order, order)]))
    turned = measures_of(table_of(counts[::-1, ::-1]))
    assert turned == pytest.approx(x, rel=1e-9, abs=1e-10, nan_ok=True)
    for name, value in x.items():
        if not name.startswith("weighted_kappa"):  # of ordered classes
            assert permuted[name] == pytest.approx(value, rel=1e-9, abs=1e-10, nan_ok=True)
    scaled = measures_of(table_of(0.37 * counts))
    assert scaled == pytest.approx(x, rel=1e-9, abs=1e-10, nan_ok=True)
    alone = classes_of(table.one_vs_rest(label)).loc[True]
    assert alone.to_dict() == pytest.approx(
        of_classes.loc[label].to_dict(), rel=1e-12, abs=1e-12, nan_ok=True
    )
    assert x["accuracy"] == close(np.trace(counts) / counts.sum())
    shares = of_classes["bias"]
    assert x["informedness"] == close(shares @ of_classes["informedness"])


def dual_payoff(counts):
    """Return markedness as the payoff of bets on the prediction from the class (dual of eq. 41)."""
    n = int(counts.sum())
    total = Fraction(0)
    for label, column in enumerate(counts.T):
        stake = Fraction(int(column.sum()), n)
        bias = Fraction(int(counts[label].sum()), n)
        for predicted, count in enumerate(column):
            share = Fraction(int(count), int(column.sum()))
            total += stake * share * stake / (bias - (predicted != label))
    return total


@settings(max_examples=30)
@given(tables(3))
def test_prevalence_weighting_of_markedness_is_the_dual_payoff(counts):
    assume((counts.sum(axis=0) > 0).all())
    assume((counts.sum(axis=1) > 0).all())
    assert measures_of(table_of(counts))["markedness"] == close(float(dual_payoff(counts)))


CORRECTED = [
    "informedness",
    "informedness_prevalence",
    "informedness_macro",
    "markedness",
    "markedness_bias",
    "markedness_macro",
    "correlation",
    "gorodkin_correlation",
    "cohen_kappa",
]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_perfect_independent_and_constant_predictions(n_classes):
    real = np.arange(1, n_classes + 1)
    perfect = measures_of(table_of(np.diag(real)))
    assert [perfect[name] for name in [*CORRECTED, "scott_pi", "s_coefficient"]] == close([1] * 11)
    assert perfect["mutual_information"] == close(perfect["entropy_real"])
    independent = measures_of(table_of(np.outer(real[::-1], real)))
    assert [independent[name] for name in CORRECTED] == close([0] * 9)
    assert independent["mutual_information"] == close(0)
    assert independent["scott_pi"] < 0
    # Weights that do not sum exactly: the empty margins must be recognised all the same.
    constant = measures_of(table_of(np.outer(np.eye(n_classes)[0], 0.1 * real + 1e-3)))
    assert [constant[name] for name in CORRECTED] == [0] * 9


def test_signs_of_informedness_and_markedness_can_differ():
    table = table_of([[0, 30, 30], [0, 1, 0], [1, 0, 5]])
    with pytest.warns(UserWarning, match="^no finite value in this sample: correlation is nan$"):
        found = table.measures()
    assert found["informedness"] == pytest.approx(-0.804, abs=5e-4)
    assert found["markedness"] == pytest.approx(0.429, abs=5e-4)
    assert np.isnan(found["correlation"])


# Skew and costs


def test_skew_forms_of_the_worked_example():
    rates = {"tpr": 0.5, "fpr": 0.3}
    names = ["accuracy", "precision", "f1", "scaled_weighted_relative_accuracy"]
    own = ContingencyTable.from_rates(**rates, skew=2 / 3).measures()
    assert [own[name] for name in names] == close([29 / 50, 5 / 7, 10 / 17, 24 / 125])
    even = ContingencyTable.from_rates(**rates).measures()
    assert [even[name] for name in names] == close([3 / 5, 5 / 8, 5 / 9, 1 / 5])
    assert even["informedness"] == close(1 / 5)


@settings(max_examples=30)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 100))
def test_skew_forms(tpr, fpr, c):
    assume(tpr + fpr > 1e-3)
    x = measures_of(ContingencyTable.from_rates(tpr=tpr, fpr=fpr, skew=c))
    assert x["accuracy"] == close((tpr + c * (1 - fpr)) / (1 + c))
    assert x["precision"] == close(tpr / (tpr + c * fpr))
    assert x["f1"] == close(2 * tpr / (tpr + c * fpr + 1))
    assert x["scaled_weighted_relative_accuracy"] == close(4 * c * (tpr - fpr) / (1 + c) ** 2)


def test_another_prevalence_keeps_the_rates():
    table = table_of([[50, 10, 5], [3, 20, 2], [2, 5, 3]])
    other = table.with_prevalence([1, 2, 1])
    assert other.total == close(table.total)
    before, after = table.per_class(), other.per_class()
    assert after["prevalence"].to_list() == close([0.25, 0.5, 0.25])
    assert after["recall"].to_list() == close(before["recall"].to_list())
    assert other.measures()["accuracy"] == close(np.average(before["recall"], weights=[1, 2, 1]))


# Other packages


@settings(max_examples=15)
@given(hnp.arrays(np.int64, (60, 2), elements=st.integers(0, 2)))
def test_scikit_learn_agrees(labels):
    true, predicted = labels.T
    assume(len(np.unique(true)) > 1)
    found = quietly(contingency_measures, true, predicted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {
            "gorodkin_correlation": metrics.matthews_corrcoef(true, predicted),
            "cohen_kappa": np.nan_to_num(metrics.cohen_kappa_score(true, predicted)),
            "accuracy": metrics.accuracy_score(true, predicted),
            "mutual_information": metrics.mutual_info_score(true, predicted),
        }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)
    matrix = metrics.confusion_matrix(true, predicted, labels=[0, 1, 2])
    of_classes = classes_of(ContingencyTable.from_matrix(matrix, rows="true"))
    options = {"labels": [0, 1, 2], "average": None, "zero_division": 0}
    for name, function in (
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
        ("jaccard", metrics.jaccard_score),
    ):
        by_class = function(true, predicted, **options)
        assert np.nan_to_num(of_classes[name]) == pytest.approx(by_class, rel=0, abs=1e-12)


@settings(max_examples=25)
@given(tables(2, smallest=1))
def test_scikit_learn_agrees_for_two_classes(counts):
    (tn, fn), (fp, tp) = counts
    true = np.repeat([0, 1, 0, 1], [tn, fn, fp, tp])
    predicted = np.repeat([0, 0, 1, 1], [tn, fn, fp, tp])
    found = contingency_measures(true, predicted)
    positive, negative = metrics.class_likelihood_ratios(true, predicted)
    expected = {
        "correlation": metrics.matthews_corrcoef(true, predicted),
        "informedness": metrics.balanced_accuracy_score(true, predicted, adjusted=True),
        "balanced_accuracy": metrics.balanced_accuracy_score(true, predicted),
        "positive_likelihood_ratio": positive,
        "negative_likelihood_ratio": negative,
        "fowlkes_mallows": np.sqrt(
            metrics.precision_score(true, predicted) * metrics.recall_score(true, predicted)
        ),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)
    table = ContingencyTable.from_labels(true, predicted)
    by_class = metrics.fbeta_score(true, predicted, beta=2.5, average=None)
    assert table.f_score(2.5).tolist() == close(by_class.tolist())
    # Regression of the prediction on the class, and of the class on the prediction
    assert found["informedness"] == close(np.polyfit(true, predicted, 1)[0])
    assert found["markedness"] == close(np.polyfit(predicted, true, 1)[0])


def test_named_scores_are_the_measures():
    true, predicted = [0, 0, 1, 1, 2, 2, 2], [0, 1, 1, 1, 2, 0, 2]
    weights = [1, 2, 0.5, 1, 3, 1, 1]
    found = contingency_measures(true, predicted, sample_weight=weights)
    for name in ("markedness", "correlation", "gorodkin_correlation", "cohen_kappa"):
        value = MEASURES[name](true, y_pred=predicted, sample_weight=weights)
        assert value == close(found[name])
    for weighting in ("bias", "macro"):
        value = markedness(weighting)(true, y_pred=predicted, sample_weight=weights)
        assert value == close(found[f"markedness_{weighting}"])
    for score in (dmfroc.cohen_kappa_score, dmfroc.informedness_score):
        value = score(true, predicted, sample_weight=weights)
        assert value == close(found[score.__name__.removesuffix("_score")])


# Where tables come from


def test_orientation_is_the_same_from_everywhere():
    true, predicted = ["a", "b", "b", "c"], ["a", "a", "b", "c"]
    table = ContingencyTable.from_labels(true, predicted)
    assert table.counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert table.to_pandas().loc["a", "b"] == 1  # predicted a, observed b
    crossed = pd.crosstab(pd.Series(predicted), pd.Series(true))
    matrix = metrics.confusion_matrix(true, predicted)
    for other in (
        ContingencyTable.from_matrix(crossed, rows="predicted"),
        ContingencyTable.from_matrix(matrix, rows="true", labels=["a", "b", "c"]),
        ContingencyTable.from_predictions(Predictions.from_labels(true, predicted)),
    ):
        assert other.labels == ("a", "b", "c")
        np.testing.assert_array_equal(other.counts, table.counts)


def test_weights_and_labels():
    table = ContingencyTable.from_labels(
        [1, 2, 1], [2, 2, 1], labels=[2, 3, 1], sample_weight=[0.5, 2, 1]
    )
    assert table.labels == (2, 3, 1)
    assert table.counts.tolist() == [[2, 0, 0.5], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], {}, r"matrix has shape \(2, 3\)"),
        ([[1]], {}, r"matrix has shape \(1, 1\)"),
        ([[1, 2], [-3, 4]], {}, r"matrix has -3.0 in row 1, column 0 \(counting from 0\)"),
        ([[1, np.nan], [3, 4]], {}, "matrix has nan in row 0, column 1"),
        ([[0, 0], [0, 0]], {}, "matrix is zero in every cell"),
        ([[1, 2], [3, 4]], {"labels": ["a"]}, "labels must name each of the 2 classes once"),
        ([[1, 2], [3, 4]], {"labels": ["a", "a"]}, "labels must name each of the 2 classes once"),
        (pd.DataFrame([[1, 2], [3, 4]], index=[1, 2]), {}, r"classes \[1, 2\] in its rows"),
    ],
)
def test_bad_matrices_are_told(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        ContingencyTable.from_matrix(matrix, **({"rows": "predicted"} | options))


def test_other_bad_input_is_told():
    table = table_of([[5, 2, 0], [3, 4, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"label must be one of \[0, 1, 2\], but it is 'b'"):
        table.one_vs_rest("b")
    with pytest.raises(ValueError, match="beta must be positive and finite, but it is 0"):
        table.f_score(0)
    with pytest.raises(ValueError, match="prevalence must hold a finite number >= 0 for each of 3"):
        table.with_prevalence([1, 1])
    with pytest.raises(ValueError, match="prevalence must be positive for the classes that occur"):
        table.with_prevalence([1, 1, 1])
    with pytest.raises(ValueError, match=r"tpr must be in \[0, 1\]"):
        ContingencyTable.from_rates(tpr=1.1, fpr=0)
    with pytest.raises(ValueError, match="skew must be positive and finite, but it is 0"):
        ContingencyTable.from_rates(tpr=1, fpr=0, skew=0)
    single = Predictions.from_arrays([0, 1], [0.2, 0.7])
    with pytest.raises(ValueError, match="a table needs hard labels"):
        ContingencyTable.from_predictions(single)


@pytest.mark.parametrize("tp", [0, 3, 5])
def test_one_observed_class(tp):
    """Labels are counted to the same table as its cells, and judged by the same conventions."""
    true, predicted = [1] * 5, [1] * tp + [0] * (5 - tp)
    table = ContingencyTable.from_labels(true, predicted, labels=[0, 1])
    cells = ContingencyTable.from_cells(tp=tp, fp=0, fn=5 - tp, tn=0)
    np.testing.assert_array_equal(table.counts, cells.counts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = contingency_measures(true, predicted, labels=[0, 1])
        n_warnings = len(caught)
        np.testing.assert_equal(found, cells.measures())
    messages = [str(warning.message) for warning in caught]
    assert messages[:n_warnings] == messages[n_warnings:]
    assert messages[0] == "1 class never occurs and its informedness counts as 0: 0"
    assert found["accuracy"] == found["recall"] == tp / 5
    assert np.isnan(found["specificity"])
    for name in ("informedness", "markedness", "correlation", "cohen_kappa"):
        assert found[name] == 0
    np.testing.assert_allclose(found["scott_pi"], -(1 - tp / 5) / (1 + tp / 5), atol=1e-15)


def test_intervals_of_one_observed_class():
    """That of accuracy is that of a proportion."""
    one = Predictions.from_labels([1] * 40, [1] * 30 + [0] * 10)
    accuracy = dmfroc.estimate("accuracy", one)
    assert accuracy.value == 0.75
    assert accuracy.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 39))
    assert dmfroc.evaluate(one, measures=["accuracy"]).estimates["accuracy"] == accuracy
    other = Predictions.from_labels([1] * 40, [1] * 20 + [0] * 20)
    difference = dmfroc.compare({"one": one, "other": other}, measures="accuracy").differences[0]
    assert abs(difference.value) == 0.25


def test_conventions_are_told_with_the_classes():
    table = table_of([[5, 2, 0], [3, 4, 0], [0, 0, 0]], labels=["a", "b", "c"])
    with pytest.warns(UserWarning) as caught:  # noqa: PT030
        table.per_class()
    assert [str(warning.message) for warning in caught] == [
        "1 class never occurs and its informedness counts as 0: 'c'",
        "1 class is never predicted and its markedness counts as 0: 'c'",
        "1 class has measures without a finite value: 'c'",
    ]
    with pytest.warns(UserWarning, match="^no finite value in this sample: F of class 'c' is nan$"):
        table.f_score()


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_one_unusable_prevalence_is_enough(wrong, place):
    prevalence = [1.0, 1.0]
    prevalence[place] = wrong
    with pytest.raises(ValueError, match="a finite number >= 0 for each of 2 classes"):
        ContingencyTable.from_cells(tp=3, fp=1, fn=2, tn=4).with_prevalence(prevalence)


@pytest.mark.parametrize("name", ["tp", "fp", "fn", "tn"])
def test_a_cell_that_cannot_be_is_named(name):
    cells = {"tp": 3, "fp": 1, "fn": 2, "tn": 4} | {name: -1}
    with pytest.raises(ValueError, match=f"^{name} "):
        ContingencyTable.from_cells(**cells)


@pytest.mark.parametrize(
    "names", [("y_true", "y_pred"), ("actual", "Predicted"), ("label", "pred")]
)
def test_crosstabs_say_by_their_names_what_is_in_their_rows(names):
    true, predicted = (
        pd.Series(list(x), name=name)
        for x, name in zip(("aabbccab", "aabbabab"), names, strict=True)
    )
    expected = ContingencyTable.from_labels(true, predicted)
    for table in (pd.crosstab(true, predicted), pd.crosstab(predicted, true)):
        for found in (ContingencyTable(table), ContingencyTable.from_matrix(table)):
            np.testing.assert_array_equal(found.counts, expected.counts)
            assert found.labels == expected.labels
    transposed = ContingencyTable.from_matrix(pd.crosstab(true, predicted), rows="predicted")
    np.testing.assert_array_equal(transposed.counts, expected.counts.T)


def test_crosstabs_that_do_not_say_so_are_refused():
    true, predicted = np.array(list("aabb")), np.array(list("abbb"))
    with pytest.raises(ValueError, match=r"'row_0' and 'col_0', do not say which are predicted"):
        ContingencyTable(pd.crosstab(true, predicted))
    named = pd.crosstab(true, predicted, rownames=["true"], colnames=["pred"])
    assert ContingencyTable(named).counts.tolist() == [[1, 0], [1, 2]]
    sums = pd.crosstab(true, predicted, rownames=["true"], colnames=["pred"], margins=True)
    with pytest.raises(ValueError, match="leave margins out"):
        ContingencyTable(sums)
    swapped = ContingencyTable.from_matrix(named[["b", "a"]].reindex(["a", "b"]))
    np.testing.assert_array_equal(swapped.counts, ContingencyTable(named).counts)
    with pytest.raises(ValueError, match="both must be of the same classes, each once"):
        ContingencyTable(named.rename(columns="predicted {}".format))
    with pytest.raises(ValueError, match="rows='true' or rows='predicted' has to say which"):
        ContingencyTable([[1, 2], [3, 4]])
