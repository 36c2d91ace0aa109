"""Class weights: brute force over all decisions that weights can make, and identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prediction_samples import exactly
from sklearn.metrics import accuracy_score

from dmfroc.applications import optimal_operating_points, select_class_weights
from dmfroc.applications.class_weights import _line_search, _log_scores


def sample(seed, n, n_classes=3):
    generator = np.random.default_rng(seed)
    true = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n - n_classes)])
    scores = generator.dirichlet(np.ones(n_classes), n)
    costs = generator.integers(0, 6, (n_classes, n_classes)).astype(float)
    np.fill_diagonal(costs, 0)
    return true, scores, costs


def middles(breaks):
    """One point inside each gap between the breaks, and one outside of either end."""
    breaks = np.unique(breaks)
    return np.concatenate([[breaks[0] - 1], (breaks[1:] + breaks[:-1]) / 2, [breaks[-1] + 1]])


def least_cost(true, scores, costs, weights):
    """Try every set of decisions that weights of three classes can make.

    With the third offset 0 decisions change on lines x = a_n, y = b_n and x - y = a_n - b_n. The
    cells between these lines begin and end at crossings; so a vertical line between any two
    neighbouring crossings meets every cell there.
    """
    logs = np.log(scores)
    a, b = logs[:, 2] - logs[:, 0], logs[:, 2] - logs[:, 1]
    best = np.inf
    for x in middles(np.concatenate([a, np.add.outer(b, a - b).ravel()])):
        y = middles(np.concatenate([b, x - (a - b)]))
        offsets = np.stack([np.full(len(y), x), y, np.zeros(len(y))], axis=1)
        decided = (logs + offsets[:, np.newaxis]).argmax(axis=2)
        best = min(best, (weights * costs[true, decided]).sum(axis=1).min())
    return best


@pytest.mark.parametrize("seed", range(12))
def test_global_optimum_by_brute_force(seed):
    true, scores, costs = sample(seed, 4 + seed % 6)
    weights = np.random.default_rng(seed + 100).integers(1, 4, len(true)).astype(float)
    prevalences = np.array([0.5, 0.2, 0.3])
    found = select_class_weights(
        true,
        scores,
        cost_matrix=costs,
        prevalences=prevalences,
        sample_weight=weights,
        n_starts=100,
    )
    deployed = weights * (prevalences / np.bincount(true, weights))[true]
    assert found.expected_cost == pytest.approx(least_cost(true, scores, costs, deployed))
    losses = costs[true, found.predict(scores)]
    assert found.expected_cost == pytest.approx((deployed * losses).sum())
    unweighted = costs[true, scores.argmax(axis=1)]
    assert found.unweighted_cost == pytest.approx((deployed * unweighted).sum())


@pytest.mark.parametrize("seed", range(4))
def test_no_single_weight_improves(seed):
    true, scores, costs = sample(seed, 60, n_classes=5)
    found = select_class_weights(true, scores, cost_matrix=costs, n_starts=3)
    assert found.expected_cost < found.unweighted_cost
    for label in range(5):
        for factor in np.geomspace(0.01, 100, 401):
            weights = found.weights.copy()
            weights[label] *= factor
            cost = costs[true, (scores * weights).argmax(axis=1)].mean()
            assert cost >= found.expected_cost - 1e-12


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 19)), min_size=2, max_size=30).filter(
        lambda rows: len({row[0] for row in rows}) == 2
    ),
    st.integers(1, 5),
)
@settings(max_examples=50)
def test_two_classes_are_one_threshold(rows, cost_fn):
    y, s = (np.array(column) for column in zip(*rows, strict=True))
    s = s / 20 + 0.001  # no score of exactly one half, where equal weights would be a tie
    found = select_class_weights(
        y, np.stack([1 - s, s], axis=1), cost_matrix=[[0, 1], [cost_fn, 0]]
    )
    assert found.expected_cost == pytest.approx(
        optimal_operating_points(y, s, cost_fn=cost_fn).expected_cost
    )
    threshold = found.weights[0] / found.weights.sum()
    np.testing.assert_array_equal(found.predict(np.stack([1 - s, s], axis=1)), s > threshold)


def test_weights_undo_a_change_of_prevalence():
    """Where scores are exact probabilities the best weights are the ratios of prevalences."""
    generator = np.random.default_rng(2)
    n, n_classes = 40_000, 3
    true = generator.integers(0, n_classes, n)
    means = 2 * np.eye(n_classes)
    features = generator.normal(means[true])
    scores = np.exp(features @ means.T)  # proportional to the densities of the classes
    prevalences = np.array([0.6, 0.3, 0.1])
    found = select_class_weights(true, scores, prevalences=prevalences, n_starts=2)
    expected = prevalences / np.exp(np.log(prevalences).mean())
    np.testing.assert_allclose(found.weights, expected, rtol=0.15)
    deployed = (prevalences / np.bincount(true))[true]
    bayes = (deployed * ((scores * prevalences).argmax(axis=1) != true)).sum()
    assert bayes - 0.002 < found.expected_cost <= bayes


def test_equal_weights_stay_where_they_are_optimal():
    scores = np.eye(4)[[0, 1, 2, 3, 0]] * 0.6 + 0.1
    found = select_class_weights([0, 1, 2, 3, 0], scores)
    np.testing.assert_array_equal(found.weights, np.ones(4))
    assert found.expected_cost == 0


def test_permuted_classes_permute_the_decisions():
    true, scores, costs = sample(3, 40, n_classes=4)
    order = np.array([2, 0, 3, 1])
    found = select_class_weights(true, scores, cost_matrix=costs)
    permuted = select_class_weights(
        true, scores[:, order], cost_matrix=costs[np.ix_(order, order)], labels=order
    )
    assert permuted.expected_cost == pytest.approx(found.expected_cost)
    losses = costs[true, permuted.predict(scores[:, order])]
    assert losses.mean() == pytest.approx(found.expected_cost)


def test_utilities_are_negative_costs():
    true, scores, costs = sample(6, 30)
    utility = 7 - costs
    found = select_class_weights(true, scores, cost_matrix=-utility)
    assert found.expected_cost == pytest.approx(
        select_class_weights(true, scores, cost_matrix=costs).expected_cost - 7
    )


def test_scores_of_zero():
    scores = [[1, 0, 0], [0.5, 0.5, 0], [0, 0.4, 0.6], [0.3, 0, 0.7], [0, 0, 1]]
    found = select_class_weights(["a", "b", "b", "a", "b"], scores, labels=["a", "b", "c"])
    assert found.expected_cost == pytest.approx(1 / 5)  # the last can only be c
    assert found.predict(scores).tolist() == ["a", "b", "b", "a", "c"]


def test_integer_weights_are_copied_rows():
    true, scores, costs = sample(8, 25)
    w = np.arange(25) % 3 + 1
    found = select_class_weights(true, scores, cost_matrix=costs, sample_weight=w, n_starts=50)
    copied = select_class_weights(
        np.repeat(true, w), np.repeat(scores, w, axis=0), cost_matrix=costs, n_starts=50
    )
    assert found.expected_cost == pytest.approx(copied.expected_cost)


def test_default_cost_is_the_error_rate():
    true, scores, _ = sample(9, 30)
    found = select_class_weights(true, scores)
    assert 1 - found.expected_cost == pytest.approx(accuracy_score(true, found.predict(scores)))


GOOD = ([0, 1, 2], np.eye(3) + 0.1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ([0, 1, 2], np.eye(3) - 0.5),
            {},
            "y_score must be >= 0 to be multiplied by class weights, but it is -0.5 at row 0 "
            "(counting from 0), column 1; pass probabilities, one column for each class",
        ),
        (
            ([0, 1, 2], np.diag([1.0, 0.0, 1.0])),
            {},
            "y_score is 0 for every class at row 1 (counting from 0): no weights can decide there; "
            "drop such rows",
        ),
        (
            GOOD,
            {"cost_matrix": np.eye(2)},
            "cost_matrix must have shape (3, 3), observed classes in its rows and decisions in "
            "its columns, but its shape is (2, 2)",
        ),
        (
            GOOD,
            {"cost_matrix": np.full((3, 3), np.nan)},
            "cost_matrix must be finite, but it holds NaN or infinite values",
        ),
        (
            GOOD,
            {"prevalences": [0.5, 0.5]},
            "prevalences must hold 3 numbers, one for each class in the order of the labels, but "
            "its shape is (2,)",
        ),
        (
            GOOD,
            {"prevalences": [0.5, 0.7, -0.2]},
            "prevalences must be finite and >= 0, not all 0, but are [0.5, 0.7, -0.2]",
        ),
        (
            ([0, 1, 1], np.eye(3) + 0.1),
            {"prevalences": [0.5, 0.25, 0.25], "labels": [0, 1, 2]},
            "prevalences gives class number 2 (counting from 0) the prevalence 0.25, but it has no "
            "observation: nothing is known about its costs",
        ),
        (GOOD, {"n_starts": 0}, "n_starts must be an integer >= 1, but it is 0"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(ValueError, match=exactly(message)):
        select_class_weights(*arguments, **options)


def test_certain_observations_do_not_hold_up_the_search():
    scores = [[1, 0]] * 5 + [[0, 1]] * 5 + [[0.6, 0.4]]
    assert select_class_weights([0] * 5 + [1] * 6, scores).expected_cost == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_step_gains_what_it_says_where_some_scores_are_zero(seed):
    """Observations that a class wins for certain, or never, cost the same at every step."""
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 3, (12, 3)).astype(float) * (generator.random((12, 3)) + 0.5)
    scores[:4] = np.eye(3)[[0, 1, 2, 0]]
    scores[scores.sum(axis=1) == 0, 0] = 1
    losses = generator.integers(0, 9, (12, 3)).astype(float)
    logs = _log_scores(scores)
    for label in range(3):
        step, gain = _line_search(logs, losses, label)
        costs = [
            losses[np.arange(12), (logs + raised * np.eye(3)[label]).argmax(axis=1)].sum()
            for raised in (0, step)
        ]
        assert gain == pytest.approx(costs[0] - costs[1], rel=0, abs=1e-12)


def test_class_weights_know_the_probability_of_the_other_class():
    one = np.array([0.2, 0.6, 0.7, 0.9, 0.4, 0.3])
    found, expected = (
        select_class_weights([0, 0, 1, 1, 1, 0], score)
        for score in (one, np.stack([1 - one, one], axis=1))
    )
    np.testing.assert_array_equal(found.weights, expected.weights)
