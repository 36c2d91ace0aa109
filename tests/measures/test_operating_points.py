"""Values at operating points, selective prediction and ordered classes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_curve

import dmfroc
from dmfroc import Predictions, estimate, measures
from dmfroc.extend import influences
from dmfroc.measures import MEASURES
from dmfroc.measures.measure import bind
from dmfroc.measures.ordered import polytomous_discrimination_per_class

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=150)
SCORE = RNG.normal(size=150) + 1.2 * Y


@pytest.mark.parametrize("share", [0.07, 0.3, 0.5, 0.95])
def test_rates_are_read_off_the_curve(share):
    fpr, tpr, _ = roc_curve(Y, SCORE, drop_intermediate=False)
    found = measures.sensitivity_at(specificity=1 - share)(Y, SCORE)
    assert found == pytest.approx(np.interp(share, fpr, tpr))
    found = measures.specificity_at(sensitivity=share)(Y, SCORE)
    # Of several points of this height the leftmost
    first = np.append(True, np.diff(tpr) > 0)
    assert found == pytest.approx(1 - np.interp(share, tpr[first], fpr[first]))
    assert measures.fpr_at(tpr=share)(Y, SCORE) == pytest.approx(1 - found)


def test_precision_at_recall_of_a_point():
    precision, recall, _ = precision_recall_curve(Y, SCORE)
    place = 60
    best = precision[recall == recall[place]].max()
    found = measures.precision_at(recall=float(recall[place]))(Y, SCORE)
    assert found == pytest.approx(best)


def test_first_k():
    order = np.argsort(-SCORE)
    for k in (1, 10, 100):
        first = Y[order[:k]]
        assert measures.precision_at_k(k=k)(Y, SCORE) == pytest.approx(first.mean())
        assert measures.recall_at(k=k)(Y, SCORE) == pytest.approx(first.sum() / Y.sum())
    assert measures.recall_at(k=0.2)(Y, SCORE) == pytest.approx(measures.recall_at(k=30)(Y, SCORE))
    with pytest.raises(ValueError, match="there are 150 observations"):
        measures.recall_at(k=200)(Y, SCORE)
    with pytest.raises(ValueError, match="whole number"):
        measures.recall_at(k=2.5)
    with pytest.raises(ValueError, match="needs more of each row"):
        estimate(measures.recall_at(), dmfroc.scan([(Y, SCORE)]))


def test_counts_in_bins_have_operating_points():
    scan = dmfroc.scan([(Y, SCORE)])
    for name in ("sensitivity_at", "precision_at", measures.recall_at(k=0.2)):
        counted, exact = estimate(name, scan), estimate(name, Y, SCORE)
        assert counted.value == pytest.approx(exact.value, abs=1e-6)
        assert counted.standard_error == pytest.approx(exact.standard_error, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sensitivity_at", "specificity_at", "precision_at", "recall_at"])
def test_standard_errors_are_those_of_many_samples(name):
    rng, measure = np.random.default_rng(1), MEASURES[name]
    if name == "recall_at":
        measure = measures.recall_at(k=0.2)
    values, errors = [], []
    for _ in range(150):
        y = rng.integers(2, size=300)
        found = estimate(measure, y, rng.normal(size=300) + 1.5 * y)
        values.append(found.value)
        errors.append(found.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


def test_intervals_hold_where_a_few_wrong_labels_decide():
    """The rate jumps from 0 to a half if three of forty positives are negatives.

    No limit says so in advance: 84 % of intervals hold (`docs/uncertainty.md`).
    """
    rng, n_covered = np.random.default_rng(5), 0
    for _ in range(60):
        y, is_wrong = np.repeat([0, 1], 40), rng.random(80) < 0.04
        score = rng.normal(size=80) + 6 * (y ^ is_wrong)
        low, high = estimate("fpr_at", y, score).interval
        truth = 0.04  # the negatives that are positives, but for 1 in 1,000
        n_covered += low < truth < high
    assert n_covered >= 47


def test_intervals_hold_where_thresholds_lie_beyond_the_cases_of_many_classes():
    """The lowest of 10 scores is below the 5 % quantile in 40 % of the classes only."""
    rng, n_covered = np.random.default_rng(5), 0
    y, truth = np.repeat(np.arange(30), 10), norm.cdf(1 - norm.ppf(0.95))
    for _ in range(20):
        scores = rng.normal(size=(300, 30)) + np.eye(30)[y]
        low, high = estimate("specificity_at", y, scores, stratify=True).interval
        n_covered += low < truth < high
    assert n_covered >= 17


def test_risk_and_coverage():
    p = RNG.dirichlet(np.ones(3), size=100)
    y = np.where(RNG.random(100) < 0.6, p.argmax(axis=1), RNG.integers(3, size=100))
    order = np.argsort(-p.max(axis=1))
    is_wrong = (p.argmax(axis=1) != y)[order]
    risks = np.cumsum(is_wrong) / np.arange(1, 101)
    assert measures.risk_coverage_area()(y, p) == pytest.approx(risks.mean())
    assert measures.accuracy_at_coverage(0.3)(y, p) == pytest.approx(1 - risks[29])


def test_published_polytomous_discrimination():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-10).fit(X[:, [2]], y)
    p = model.predict_proba(X[:, [2]])
    found = influences("polytomous_discrimination_index", y, p)
    value = MEASURES["polytomous_discrimination_index"](y, p)
    assert value == pytest.approx(0.9881333, abs=5e-8)
    assert np.sqrt(found @ found) == pytest.approx(0.0064403727, abs=5e-10)
    per_class = polytomous_discrimination_per_class(y, p)
    assert per_class == pytest.approx([1, 0.9822, 0.9822], abs=5e-5)


def test_polytomous_discrimination_goes_through_all_sets():
    y, scores = RNG.integers(4, size=28), np.round(RNG.random((28, 4)), 1)
    won, n = np.zeros(4), 0
    for cases in itertools.product(*(np.flatnonzero(y == k) for k in range(4))):
        n += 1
        for k in range(4):
            column = scores[list(cases), k]
            won[k] += (column[k] == column.max()) / (column == column.max()).sum()
    assert polytomous_discrimination_per_class(y, scores) == pytest.approx(won / n)
    two = MEASURES["polytomous_discrimination_index"](Y, SCORE)
    assert two == pytest.approx(MEASURES["hand_till"](Y, SCORE))


@pytest.mark.parametrize("name", ["precision_at", "sensitivity_at", "equal_error_rate"])
def test_slopes_at_a_point_of_scores_with_few_values_are_those_of_the_curve(name):
    """With 400 rows the chord lies between two of the three values, where the curve is straight."""
    y = np.arange(400) % 2
    score = np.random.default_rng(0).choice(3, size=400, p=[0.15, 0.7, 0.15]) + 0.0
    score[y == 1] = np.random.default_rng(1).choice(3, size=200, p=[0.05, 0.7, 0.25])
    predictions = Predictions.from_arrays(y, score)
    bound = bind(
        MEASURES[name] if name != "sensitivity_at" else measures.sensitivity_at(0.6), predictions
    )
    _, [gradient] = bound.values_and_gradients(np.ones(400))
    shifts = 1e-4 * np.eye(400)[:12]
    expected = [bound.values(1 + s) - bound.values(1 - s) for s in shifts]
    np.testing.assert_allclose(gradient[:12], np.array(expected)[:, 0] / 2e-4, rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize("decimals", [1, 8])
def test_derivatives_of_polytomous_discrimination(decimals):
    y, scores = RNG.integers(3, size=40), np.round(RNG.random((40, 3)), decimals)
    w = RNG.uniform(0.5, 2, size=40)
    predictions = Predictions.from_arrays(y, scores, sample_weight=w)
    bound = bind(MEASURES["polytomous_discrimination_index"], predictions)
    _, [gradient] = bound.values_and_gradients(w)
    shifts = 1e-5 * np.eye(40)
    expected = np.array([bound.values(w + s) - bound.values(w - s) for s in shifts])[:, 0] / 2e-5
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9)


def test_published_ranked_probability_score(external_directory):
    data = pd.read_csv(external_directory / "hpc_cv.csv")
    classes = ["VF", "F", "M", "L"]
    found = estimate("ranked_probability_score", data.obs, data[classes], labels=classes)
    of_rows = influences("ranked_probability_score", data.obs, data[classes], labels=classes)
    n = len(data)
    assert found.value == pytest.approx(0.0856677928, abs=5e-11)
    assert np.sqrt(of_rows @ of_rows * n / (n - 1)) == pytest.approx(0.0022567896, abs=2e-10)
