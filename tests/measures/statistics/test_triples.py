"""Volumes under the ROC surface against all triples."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, estimate
from dmfroc.measures import ordinal_vus, vus
from dmfroc.measures.measure import bind


def over_triples(credit, classes, scores, weights=None):
    """Return the mean credit of the triples with one observation of each class."""
    weights = np.ones(len(classes)) if weights is None else weights
    members = [np.flatnonzero(classes == k) for k in range(3)]
    won = sum(weights[list(t)].prod() * credit(scores[list(t)]) for t in product(*members))
    return won / np.prod([weights[of_class].sum() for of_class in members])


def in_third_column(score):
    """Return the columns that give a single score for all classes."""
    return np.column_stack([np.zeros((len(score), 2)), score])


def credit_of_assignment(triple):
    sums = {p: triple[range(3), p].sum() for p in permutations(range(3))}
    best = [p for p, total in sums.items() if total >= max(sums.values()) - 1e-9]
    return ((0, 1, 2) in best) / len(best)


def credit_of_order(triple):
    orders = [p for p in permutations(range(3)) if (np.diff(triple[list(p)]) >= 0).all()]
    return ((0, 1, 2) in orders) / len(orders)


def some(seed, is_tied):
    classes, scores = normal_scores(seed, 30, 3, prior=[0.3, 0.5, 0.2])
    return classes, np.round(scores * 2) / 4 if is_tied else scores


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_agrees_with_all_triples(seed, is_tied, is_weighted):
    classes, scores = some(seed, is_tied)
    weights = np.random.default_rng(3).exponential(size=30) if is_weighted else None
    expected = over_triples(credit_of_assignment, classes, scores, weights)
    assert vus()(classes, scores, sample_weight=weights) == pytest.approx(expected, abs=1e-12)
    score = scores[:, 2] - scores[:, 0]
    expected = over_triples(credit_of_order, classes, score, weights)
    for given in (in_third_column(score), scores):
        volume = ordinal_vus()(classes, given, sample_weight=weights)
        assert volume == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("name", ["vus", "ordinal_vus"])
def test_influences_are_those_of_the_product_of_three_means(name):
    # Each influence is the mean credit of the triples with the observation, less the mean.
    classes, scores = some(4, is_tied=True)
    credit = credit_of_assignment if name == "vus" else credit_of_order
    values = scores if name == "vus" else scores[:, 2] - scores[:, 0]
    volume = over_triples(credit, classes, values)
    with_it = np.empty(30)
    for row in range(30):
        others = (classes != classes[row]) | (np.arange(30) == row)
        with_it[row] = over_triples(credit, classes[others], values[others])
    variance = 0
    for k in range(3):
        of_class = with_it[classes == k]
        variance += ((of_class - volume) ** 2).sum() / len(of_class) / (len(of_class) - 1)
    found = estimate(name, classes, scores)
    assert found.value == pytest.approx(volume, rel=0, abs=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_offsets_of_the_scores_do_not_matter():
    classes, scores = some(5, is_tied=True)
    volume = vus()(classes, scores)
    assert vus()(classes, scores + np.array([3.0, 0, -8])) == volume
    rows = np.random.default_rng(6).permutation(30)
    assert vus()(classes[rows], scores[rows]) == pytest.approx(volume, rel=0, abs=1e-15)
    columns = [2, 0, 1]
    permuted = vus()(classes, scores[:, columns], labels=columns)
    assert permuted == pytest.approx(volume, rel=0, abs=1e-14)


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_perfect_constant_and_reversed():
    classes = np.arange(30) % 3
    assert vus()(classes, np.eye(3)[classes]) == pytest.approx(1, rel=0, abs=1e-14)
    assert vus()(classes, np.ones((30, 3))) == pytest.approx(1 / 6, rel=0, abs=1e-14)
    assert vus()(classes, -np.eye(3)[classes]) == pytest.approx(0, abs=1e-14)
    assert ordinal_vus()(classes, in_third_column(classes)) == pytest.approx(1, rel=0, abs=1e-14)
    assert ordinal_vus()(classes, in_third_column(np.ones(30))) == pytest.approx(
        1 / 6, rel=0, abs=1e-14
    )
    assert ordinal_vus()(classes, in_third_column(-classes)) == 0


def test_an_increasing_map_does_not_change_the_ordinal_volume():
    classes, scores = some(7, is_tied=True)
    volume = ordinal_vus()(classes, in_third_column(scores[:, 0]))
    assert ordinal_vus()(classes, in_third_column(np.exp(scores[:, 0]))) == volume


def test_other_numbers_of_classes_are_refused_by_name_and_left_out_of_all():
    classes, scores = np.arange(8) % 2, np.random.default_rng(8).normal(size=(8, 2))
    with pytest.raises(ValueError, match="there are 2 classes, 2 of them with"):
        vus()(classes, scores)
    assert not vus().applies_to(Predictions.from_arrays(classes, scores))
    absent = Predictions.from_arrays(classes, np.ones((8, 3)), labels=[0, 1, 2])
    with pytest.raises(ValueError, match="of all 3 classes, but 2 have any"):
        ordinal_vus()(absent)


@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("step", [0.0, 0.5])
def test_ordered_classes_of_any_number(n_classes, step):
    """Against all combinations; those that tie count for one of their permutations."""
    rng = np.random.default_rng(n_classes)
    classes = np.arange(4 * n_classes) % n_classes
    score = rng.normal(size=len(classes)) + 0.8 * classes
    score = np.round(score / step) * step if step else score
    weights = rng.exponential(size=len(classes))
    members = [np.flatnonzero(classes == k) for k in range(n_classes)]
    won = 0.0
    for rows in product(*members):
        values = score[list(rows)]
        if (np.diff(values) >= 0).all():
            ties = np.unique(values, return_counts=True)[1]
            won += weights[list(rows)].prod() / np.prod([factorial(t) for t in ties])
    expected = won / np.prod([weights[rows].sum() for rows in members])
    columns = np.column_stack([np.zeros((len(score), n_classes - 1)), score])
    assert ordinal_vus()(classes, columns, sample_weight=weights) == pytest.approx(expected)
    predictions = Predictions.from_arrays(classes, columns, sample_weight=weights)
    [gradient] = bind(ordinal_vus(), predictions).values_and_gradients(weights)[1]
    for row in range(0, len(classes), 3):
        moved = [weights + x * (np.arange(len(weights)) == row) for x in (1e-5, -1e-5)]
        up, down = (bind(ordinal_vus(), predictions).values(w)[0] for w in moved)
        assert gradient[row] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)


def test_too_many_observations_are_refused():
    classes = np.arange(3 * 11_586) % 3
    with pytest.raises(ValueError, match="134,235,396 entries"):
        vus()(classes, np.eye(3)[classes])
