"""AUC-mu against counting of pairs, its special cases and its invariances."""

from itertools import combinations

import numpy as np
import pytest
from simulations import normal_scores
from sklearn.metrics import roc_auc_score

from dmfroc import Predictions, estimate
from dmfroc.measures import auc_mu
from dmfroc.measures.statistics import projections


def by_pairs(classes, scores, weights=None, partition=None):
    """Score each pair of classes by its own projection with scikit-learn."""
    n_classes = scores.shape[1]
    costs = 1 - np.eye(n_classes) if partition is None else np.asarray(partition)
    weights = np.ones(len(classes)) if weights is None else weights
    areas = []
    for i, j in combinations(range(n_classes), 2):
        of_pair = np.isin(classes, [i, j])
        projection = scores[of_pair] @ (costs[j] - costs[i])
        areas.append(
            roc_auc_score(classes[of_pair] == i, projection, sample_weight=weights[of_pair])
        )
    return np.mean(areas)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("rounding", [0, 8])
def test_agrees_with_each_pair_by_scikit_learn(rounding, is_weighted):
    classes, scores = normal_scores(1, 80, 4, prior=[0.4, 0.3, 0.2, 0.1])
    scores = np.round(scores, rounding)
    weights = np.random.default_rng(2).exponential(size=80) if is_weighted else None
    area = auc_mu()(classes, scores, sample_weight=weights)
    assert area == pytest.approx(by_pairs(classes, scores, weights), rel=0, abs=1e-12)


def test_partition_matrix():
    classes, scores = normal_scores(3, 60, 3)
    costs = [[0, 1, 5], [2, 0, 1], [1, 4, 0]]
    area = auc_mu(costs)(classes, scores)
    assert area == pytest.approx(by_pairs(classes, scores, partition=costs), rel=0, abs=1e-12)
    assert area != pytest.approx(auc_mu()(classes, scores), abs=1e-3)
    even = auc_mu(1 - np.eye(3))(classes, scores)
    assert even == pytest.approx(auc_mu()(classes, scores), rel=0, abs=1e-15)


def test_two_classes_are_the_ordinary_area():
    classes, scores = normal_scores(4, 60, 2)
    expected = roc_auc_score(classes, scores[:, 1] - scores[:, 0])
    assert auc_mu()(classes, scores) == pytest.approx(expected, rel=0, abs=1e-15)


def test_what_shifts_all_scores_of_a_row_does_not_matter():
    classes, scores = normal_scores(5, 60, 3)
    scores = np.round(scores * 8) / 8
    shifted = scores + np.random.default_rng(6).integers(-9, 9, size=60)[:, None]
    assert auc_mu()(classes, shifted) == auc_mu()(classes, scores)


def test_order_of_rows_and_classes_and_their_sizes_do_not_matter():
    classes, scores = normal_scores(7, 60, 3)
    area = auc_mu()(classes, scores)
    rows = np.random.default_rng(8).permutation(60)
    assert auc_mu()(classes[rows], scores[rows]) == area
    columns = [2, 0, 1]
    permuted = auc_mu()(classes, scores[:, columns], labels=columns)
    assert permuted == pytest.approx(area, rel=0, abs=1e-15)
    repeated = np.repeat(np.arange(60), np.where(classes == 0, 5, 1))
    again = auc_mu()(classes[repeated], scores[repeated])
    assert again == pytest.approx(area, rel=0, abs=1e-14)


def test_perfect_constant_and_absent():
    classes = np.arange(30) % 3
    assert auc_mu()(classes, np.eye(3)[classes]) == 1
    assert auc_mu()(classes, np.ones((30, 3))) == 0.5
    with pytest.warns(UserWarning, match="3"):
        absent = auc_mu()(classes, np.eye(4)[classes], labels=[0, 1, 2, 3])
    assert absent == 1
    assert estimate("auc_mu", classes, np.eye(3)[classes]).standard_error == 0


def test_parts_hold_whole_pairs_as_many_as_fit(monkeypatch):
    classes, scores = normal_scores(9, 60, 5, prior=[0.4, 0.3, 0.1, 0.1, 0.1])
    statistic = projections.projected_pair_counts(Predictions.from_arrays(classes, scores))
    n_pairs = len(statistic.starts) - 1
    for at_once in (60, 5):
        monkeypatch.setattr(projections, "_PLACES_AT_ONCE", at_once)
        parts = statistic.parts()
        np.testing.assert_array_equal(np.concatenate([x.rows for x in parts]), statistic.rows)
        pairs = np.array([len(x.starts) - 1 for x in parts])
        sizes = np.array([len(x.rows) for x in parts])
        assert pairs.sum() == n_pairs
        assert (sizes[pairs > 1] <= at_once).all()
        if at_once == 60:
            assert (sizes[:-1] + sizes[1:] > at_once).all()
            assert len(parts) < n_pairs
        else:  # none fits
            assert (pairs == 1).all()


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (np.ones((2, 3)), r"square matrix, but its shape is \(2, 3\)"),
        (np.full((3, 3), np.nan), "must be finite"),
        (np.ones((3, 3)), "two of its rows are equal"),
    ],
)
def test_bad_partition(partition, message):
    with pytest.raises(ValueError, match=message):
        auc_mu(partition)


def test_partition_of_another_size():
    with pytest.raises(ValueError, match=r"per class, 3, but its shape is \(2, 2\)"):
        auc_mu(1 - np.eye(2))([0, 1, 2], np.eye(3))
