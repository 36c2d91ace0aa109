"""Volumes of more than three classes: assignment problems, triples, and what is too many."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from simulations import normal_scores

from dmfroc import Predictions, estimate
from dmfroc.measures import auc_mu, vus
from dmfroc.measures.measure import bind
from dmfroc.measures.statistics.layout import scores_to_add
from dmfroc.measures.statistics.tuples import nominal_triple_counts, tuple_counts

CLASSES, SCORES = normal_scores(4, 22, 4, 1.0)
PREDICTIONS = Predictions.from_arrays(CLASSES, SCORES)
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, size=22)
ORDERS = list(permutations(range(3)))


def test_four_classes_are_assignment_problems():
    members = [np.flatnonzero(k == CLASSES) for k in range(4)]
    right = [
        (linear_sum_assignment(SCORES[list(rows)], maximize=True)[1] == np.arange(4)).all()
        for rows in product(*members)
    ]
    assert vus()(CLASSES, SCORES) == pytest.approx(np.mean(right), rel=1e-12)
    assert vus()(CLASSES, np.zeros((22, 4))) == pytest.approx(1 / 24, rel=1e-12)
    assert vus()(CLASSES, np.eye(4)[CLASSES]) == 1


@pytest.mark.parametrize("steps", [2, 2**20], ids=["tied", "continuous"])
def test_three_classes_are_the_triples(steps):
    classes, scores = normal_scores(5, 25, 3, 1.0)
    predictions = Predictions.from_arrays(classes, np.round(scores * steps) / steps)
    weights = np.random.default_rng(2).uniform(0.5, 2, size=25)
    one, other = (bound(predictions) for bound in (nominal_triple_counts, tuple_counts))
    tables = [counts.count(weights, np) for counts in (one, other)]
    assert tables[0].won == pytest.approx(tables[1].won, rel=1e-12)
    derivatives = tables[0]._replace(won=np.asarray(1.0), totals=np.array([0.3, 0.2, 0.1]))
    np.testing.assert_allclose(
        one.pull_back(weights, tables[0], derivatives),
        other.pull_back(weights, tables[1], derivatives),
        rtol=1e-12,
    )


def test_derivatives_are_finite_differences():
    bound = bind(vus(), PREDICTIONS)
    _, [gradient] = bound.values_and_gradients(WEIGHTS)
    shifts = 1e-6 * np.eye(22)
    expected = (bound.values(WEIGHTS + shifts) - bound.values(WEIGHTS - shifts))[:, 0] / 2e-6
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-8)
    assert estimate("vus", PREDICTIONS).standard_error > 0.01


def test_too_many_combinations_are_counted_and_refused():
    classes = np.arange(240) % 4
    with pytest.raises(ValueError, match=r"vus of 4 classes .* 311,040,000 sums of scores, and"):
        estimate("vus", classes, np.eye(4)[classes])
    with pytest.raises(ValueError, match="vus needs observations of all 5 classes"):
        estimate("vus", CLASSES, np.pad(SCORES, ((0, 0), (0, 1))), labels=range(5))


@pytest.mark.parametrize("name", ["ordinal_vus", "vus", "auc_mu"])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_sums_of_decimals_tie_like_those_of_whole_numbers(name, n_classes):
    """In floating point .1 + .2 is above .3."""
    rng = np.random.default_rng(n_classes)
    classes = np.arange(32) % n_classes
    tenths = rng.multinomial(10, np.ones(n_classes) / n_classes, size=32)
    found, expected = (
        estimate(name, classes, scores, method=None).value for scores in (tenths / 10, tenths)
    )
    assert found == pytest.approx(expected, abs=1e-14)


def test_four_classes_have_an_interval():
    scores = np.random.default_rng(0).normal(size=(12, 4))
    low, high = estimate("vus", np.arange(12) % 4, scores).interval
    assert 0 <= low < high <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("denominators", [[10], [7], [20], [3, 21], [100], [128], [2, 3, 5, 6, 7]])
def test_sums_of_shares_that_differ_by_rounding_tie(dtype, denominators):
    rng = np.random.default_rng(3)
    n, k = 18, 3
    classes = np.arange(n) % k
    exact = [
        [Fraction(int(rng.integers(0, 8)), int(d)) for _ in range(k)]
        for d in rng.choice(denominators, n)
    ]
    scores = np.array([[float(x) for x in row] for row in exact]).astype(dtype)
    won = Fraction(0)
    for rows in product(*(np.flatnonzero(classes == c) for c in range(k))):
        sums = {p: sum(exact[row][c] for row, c in zip(rows, p, strict=True)) for p in ORDERS}
        best = max(sums.values())
        if sums[0, 1, 2] == best:
            won += Fraction(1, sum(x == best for x in sums.values()))
    assert vus()(classes, scores) == pytest.approx(float(won / 6**3), rel=1e-12)
    areas = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        gaps = [
            [row[i] - row[j] for row, c in zip(exact, classes, strict=True) if c == own]
            for own in (i, j)
        ]
        areas.append(np.mean([(a > b) + (a == b) / 2 for a, b in product(*gaps)]))
    assert auc_mu()(classes, scores) == pytest.approx(np.mean(areas), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_without_a_common_denominator_stay_as_they_are(dtype):
    rng = np.random.default_rng(4)
    for scores in (rng.normal(size=(3000, 3)), rng.random((2, 3)), 1e300 * rng.random((5, 3))):
        if dtype is np.float32 and scores.max() > 1e30:
            continue
        predictions = Predictions.from_arrays(
            np.arange(len(scores)) % 2, scores.astype(dtype)[:, :2]
        )
        found, given = scores_to_add(predictions), predictions.scores
        ratio = np.median(found[given != 0] / given[given != 0])
        np.testing.assert_allclose(found / ratio, given, rtol=2 * np.finfo(dtype).eps)
