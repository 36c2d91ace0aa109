"""Means over classes, and over some of them: scikit-learn, identities, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from dmfroc import Predictions, compare, estimate, measures
from dmfroc.measures import MEASURES, get_measure

RATINGS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30)
SCORES = {
    "recall": sklearn_metrics.recall_score,
    "precision": sklearn_metrics.precision_score,
    "f1": sklearn_metrics.f1_score,
    "jaccard": sklearn_metrics.jaccard_score,
}
AVERAGES = ["macro", "weighted", "micro"]


def sample(seed=0, n=200, shares=(0.1, 0.3, 0.6), right=0.7):
    rng = np.random.default_rng(seed)
    true = rng.choice(len(shares), size=n, p=shares)
    return true, np.where(rng.random(n) < right, true, rng.integers(len(shares), size=n))


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", [*SCORES, "f_beta"])
@given(RATINGS, st.sets(st.integers(0, 3), min_size=1))
@pytest.mark.filterwarnings("ignore")
def test_they_are_scikit_learns(name, average, ratings, classes):
    true, predicted = np.array(ratings).T
    given = {"labels": sorted(classes), "average": average, "zero_division": 0}
    options = {"average": average, "classes": sorted(classes)}
    if name == "f_beta":
        expected = sklearn_metrics.fbeta_score(true, predicted, beta=0.5, **given)
        options["beta"] = 0.5
    else:
        expected = SCORES[name](true, predicted, **given)
    measure = measures.FACTORIES[name](**options)
    found = measure(true, y_pred=predicted, labels=range(4))
    assert found == pytest.approx(expected, abs=1e-12)


def test_printed_values():
    """The examples in the documentation of scikit-learn 1.9."""
    true, predicted = [0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1]
    printed = {
        "precision_macro": 0.2222,
        "precision_weighted": 0.2222,
        "precision_micro": 0.3333,
        "recall_macro": 0.3333,
        "recall_weighted": 0.3333,
        "recall_micro": 0.3333,
        "f1_macro": 0.2667,
        "f1_weighted": 0.2667,
        "f1_micro": 0.3333,
        "f_beta_macro(beta=0.5)": 0.2381,
        "f_beta_weighted(beta=0.5)": 0.2381,
        "f_beta_micro(beta=0.5)": 0.3333,
    }
    assert {x: round(get_measure(x)(true, y_pred=predicted), 4) for x in printed} == printed


def test_specificity_is_recall_of_the_rest():
    true, predicted = sample()
    of_each = [np.mean(predicted[true != k] != k) for k in range(3)]
    found = measures.specificity(average="macro")(true, y_pred=predicted)
    assert found == pytest.approx(np.mean(of_each))
    shares = np.bincount(true) / len(true)
    weighted = get_measure("weighted_specificity")(true, y_pred=predicted)
    assert weighted == pytest.approx(shares @ of_each)
    chosen = get_measure("specificity_macro(classes=[0, 2])")(true, y_pred=predicted)
    assert chosen == pytest.approx((of_each[0] + of_each[2]) / 2)


def test_one_class_is_that_class_against_the_rest():
    true, predicted = sample()
    for average in AVERAGES:
        for name in ("recall", "precision", "f1", "negative_predictive_value", "lift"):
            measure = measures.FACTORIES[name](average=average, classes=[1])
            two = MEASURES[name](true == 1, y_pred=predicted == 1)
            assert measure(true, y_pred=predicted) == pytest.approx(two)
    one = estimate("recall_macro(classes=[1])", true, y_pred=predicted)
    two = estimate("recall", true == 1, y_pred=predicted == 1)
    assert one.standard_error == pytest.approx(two.standard_error, rel=1e-3)
    assert one.interval == pytest.approx(two.interval, abs=2e-3)


def test_identities():
    true, predicted = sample()
    labels = {"y_pred": predicted}
    for name in ("recall_weighted", "precision_micro", "recall_micro", "f1_micro(classes=[0,1,2])"):
        assert get_measure(name)(true, **labels) == pytest.approx(np.mean(true == predicted))
    assert get_measure("recall_macro")(true, **labels) == pytest.approx(
        MEASURES["balanced_accuracy"](true, **labels)
    )
    recalls = [np.mean(predicted[true == k] == k) for k in range(3)]
    assert MEASURES["gmean"](true, **labels) == pytest.approx(np.prod(recalls) ** (1 / 3))
    assert MEASURES["gmean"]([0, 1, 2, 2], y_pred=[0, 1, 1, 1]) == 0
    for beta in (0.5, 1, 3):
        p, r = (MEASURES[x](true == 1, y_pred=predicted == 1) for x in ("precision", "recall"))
        expected = (1 + beta**2) * p * r / (beta**2 * p + r)
        found = measures.f_beta(beta=beta)(true == 1, y_pred=predicted == 1)
        assert found == pytest.approx(expected)


def test_names_that_people_type():
    for typed, name in {
        "macro_precision": "precision_macro",
        "weighted_jaccard": "jaccard_weighted",
        "micro_f1": "accuracy",
        "Macro F1": "macro_f1",
        "macro_f1(classes=['a', 'b'])": "f1_macro(classes=['a', 'b'])",
        "f_beta_macro(beta=0.5)": "f_beta_macro(beta=0.5)",
        "fbeta_score": "f_beta",
        "g-mean": "gmean",
    }.items():
        assert get_measure(typed).name == name
        assert get_measure(name).name == name


def test_they_are_compared_and_grouped_like_any_measure():
    true, predicted = sample()
    other = np.where(np.arange(200) % 5 == 0, 1, predicted)
    measure = "macro_precision(classes=[0, 1])"
    compared = compare(true, y_pred={"one": predicted, "other": other}, measures=measure)
    assert compared.estimates["one"].value > compared.estimates["other"].value
    grouped = estimate(measure, true, y_pred=predicted, groups=np.arange(200) // 4)
    assert grouped.standard_error > 0
    folds = estimate(measure, true, y_pred=predicted, folds=np.arange(200) % 3)
    values = [
        get_measure(measure)(
            true[np.arange(200) % 3 == k], y_pred=predicted[np.arange(200) % 3 == k]
        )
        for k in range(3)
    ]
    assert folds.value == pytest.approx(np.mean(values))


def test_conventions_are_warned_of():
    with pytest.warns(UserWarning, match=r"1 class has no Precision \(0 / 0\), which counts as 0"):
        assert MEASURES["precision_macro"]([0, 1, 2, 2], y_pred=[0, 1, 1, 1]) == pytest.approx(
            4 / 9
        )
    # No class that is chosen
    assert get_measure("precision_macro(classes=[0, 1])")([0, 1, 2, 2], y_pred=[0, 1, 1, 1]) == (
        pytest.approx(2 / 3)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": [0]}, "classes are those of a mean: say which"),
        ({"average": "macro", "classes": "ab"}, "classes must be a list"),
        ({"average": "macro", "classes": []}, "at least one value"),
        ({"average": "samples"}, "average"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        measures.precision(**options)


def test_unknown_classes_are_refused():
    predictions = Predictions.from_labels([0, 1, 2], [0, 1, 1])
    with pytest.raises(ValueError, match=r"has classes=\[0, 3\], but 3 is none of"):
        measures.recall(average="macro", classes=[0, 3])(predictions)
    with pytest.raises(ValueError, match=r"recall is a measure of two classes, and there are 3"):
        measures.recall()(predictions)
