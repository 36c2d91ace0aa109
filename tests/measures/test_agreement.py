"""Weighted kappa: published values, scikit-learn's, identities, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from dmfroc import Predictions, compare, estimate, scan
from dmfroc.extend import influences
from dmfroc.measures import get_measure, krippendorff_alpha, weighted_kappa

FIRST = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4]
SECOND = [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
RATINGS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("cohen_kappa", 0.552239),
        ("weighted_kappa_values", 0.806452),
        ("weighted_kappa_linear_values", 0.701493),
    ],
)
@pytest.mark.parametrize("kind", [int, float, str])
def test_ratings_whose_values_count(measure, expected, kind):
    """Agreement of two raters, as the package irrCAC prints it."""
    first, second = (list(map(kind, ratings)) for ratings in (FIRST, SECOND))
    found = estimate(measure, first, y_pred=second)
    assert found.value == pytest.approx(expected, abs=5e-7)
    assert found.interval[0] < found.value < found.interval[1] <= 1


@given(RATINGS)
@pytest.mark.filterwarnings("ignore")
def test_positions_are_scikit_learns(ratings):
    true, predicted = np.array(ratings).T
    if len(np.unique(ratings)) < 2:
        return
    for name, weights in (("weighted_kappa", "quadratic"), ("weighted_kappa_linear", "linear")):
        expected = cohen_kappa_score(true, predicted, weights=weights)
        if np.isfinite(expected):
            found = get_measure(name)(true, y_pred=predicted)
            assert found == pytest.approx(expected, abs=1e-12)


def test_a_matrix_of_costs_is_any_weighting():
    places = np.array([1, 2, 4])
    distances = np.abs(places[:, None] - places)
    predictions = Predictions.from_labels(FIRST, SECOND)
    for costs, name in (
        (1 - np.eye(3), "cohen_kappa"),
        (5 * distances, "weighted_kappa_linear_values"),
        (distances**2, "weighted_kappa_values"),
    ):
        own = weighted_kappa(costs)
        assert own.name == "weighted_kappa(weights=...)"
        expected = get_measure(name)
        assert own(predictions) == pytest.approx(expected(predictions), abs=1e-12)
        np.testing.assert_allclose(
            influences(own, predictions), influences(expected, predictions), atol=1e-12
        )


def test_rows_of_the_matrix_are_observed_classes():
    """Only confounding an observed 0 with 1 costs: 1 of 4, of which 1/2 by 1/4 are expected."""
    costs = [[0, 1], [0, 0]]
    assert weighted_kappa(costs)([0, 0, 1, 1], y_pred=[0, 1, 1, 1]) == pytest.approx(
        1 - 0.25 / (0.5 * 0.75)
    )


def error_of_fleiss(first, second):
    """Return the standard error of quadratic kappa (Fleiss, Cohen and Everitt 1969, eq. 8)."""
    values = np.unique(first)
    cells = np.array([[np.mean((first == i) & (second == j)) for j in values] for i in values])
    weights = 1 - (values[:, None] - values) ** 2 / np.ptp(values) ** 2
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    expected = rows @ weights @ columns
    kappa = ((weights * cells).sum() - expected) / (1 - expected)
    means = (weights @ columns)[:, None] + rows @ weights
    spread = (cells * (weights - means * (1 - kappa)) ** 2).sum()
    spread -= (kappa - expected * (1 - kappa)) ** 2
    return np.sqrt(spread / len(first)) / (1 - expected)


def test_the_standard_error_is_that_of_fleiss():
    rng = np.random.default_rng(2)
    true = rng.choice([1, 2, 4, 9], size=300)
    rating = np.where(rng.random(300) < 0.6, true, rng.choice(true, 300))
    found = estimate("weighted_kappa_values", true, y_pred=rating, stratify=False)
    expected = error_of_fleiss(true, rating) * np.sqrt(300 / 299)
    assert found.standard_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["jackknife", "bootstrap", "bayes"])
def test_intervals_and_comparisons(method):
    rng = np.random.default_rng(0)
    true = rng.choice([1, 2, 4, 9], size=400)
    good, poor = (np.where(rng.random(400) < p, true, rng.choice(true, 400)) for p in (0.8, 0.3))
    found = estimate("weighted_kappa_values", true, y_pred=good, method=method)
    assert found.interval[0] < found.value < found.interval[1]
    assert found.standard_error == pytest.approx(error_of_fleiss(true, good), rel=0.1)
    result = compare(
        true, y_pred={"good": good, "poor": poor}, measures="weighted_kappa_values", method=method
    )
    assert result.differences[0].probability_better > 0.999


def test_counts_of_a_scan_have_the_values_of_their_classes(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(1)
    true, scores = rng.choice([1, 2, 4], size=200), rng.random((200, 3))
    frame = pd.DataFrame(scores, columns=["1", "2", "4"]).assign(y=true)
    frame.to_parquet(tmp_path / "data.parquet")
    counted = scan(tmp_path / "data.parquet", label="y")
    in_memory = Predictions.from_arrays(true, scores)
    for name in ("weighted_kappa_values", "weighted_kappa_linear_values"):
        expected, found = estimate(name, in_memory), estimate(name, counted)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


def test_uneven_gaps_and_alphabetical_order_are_told():
    with pytest.warns(UserWarning, match=r"\[1, 2, 4\] have uneven gaps"):
        get_measure("weighted_kappa")(FIRST, y_pred=SECOND)
    words = ["high", "low", "medium"]
    true, predicted = words * 3, words * 2 + words[::-1]
    with pytest.warns(UserWarning, match="if it is not alphabetical"):
        get_measure("weighted_kappa")(true, y_pred=predicted)
    ordered = Predictions.from_labels(true, predicted, labels=["low", "medium", "high"])
    estimate("weighted_kappa", ordered)  # warnings are errors


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("cubic", ValueError, "weights must be one of .*, but it is 'cubic'"),
        (np.ones((3, 3)) - np.triu(np.ones((3, 3)), 1), ValueError, "pass 1 - weights"),
        (np.diag([1.0, 0, 0]), ValueError, "zeros on the diagonal"),
        (np.zeros((3, 3)), ValueError, "and some of them positive"),
        ([[0, -1], [1, 0]], ValueError, "finite costs >= 0"),
        ([[0, np.nan], [1, 0]], ValueError, "finite costs >= 0"),
        (np.ones((2, 3)), ValueError, r"square matrix, but its shape is \(2, 3\)"),
        ([["a", "b"], ["c", "d"]], TypeError, "weights must hold real numbers"),
    ],
)
def test_wrong_weights_are_refused(weights, error, message):
    with pytest.raises(error, match=message):
        weighted_kappa(weights)


def test_what_cannot_be_bound_is_refused():
    with pytest.raises(ValueError, match="has weights for 2 classes, but there are 3"):
        weighted_kappa([[0, 1], [1, 0]])(FIRST, y_pred=SECOND)
    with pytest.raises(ValueError, match="needs classes that are numbers"):
        weighted_kappa(by="values")(list("aab"), y_pred=list("abb"))
    with pytest.raises(ValueError, match="numbers: take krippendorff_alpha_ordinal"):
        krippendorff_alpha("interval")(list("aab"), y_pred=list("abb"))
    with pytest.raises(ValueError, match="weights is a matrix: leave by out"):
        weighted_kappa([[0, 1], [1, 0]], by="values")
    with pytest.raises(ValueError, match="by must be one of"):
        weighted_kappa(by="ranks")
