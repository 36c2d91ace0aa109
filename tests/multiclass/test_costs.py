"""What an error of each pair of classes weighs in the multiclass ROC curve."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from simulations import normal_scores

from dmfroc import Predictions, dmf_auc_score, multiclass_roc
from dmfroc.applications import majority_costs

FACTORS = [0.1, 0.25, 0.5, 1, 2, 4, 10]


def naive_majority_classifier(n_classes):
    """Scores that know nothing but that class 0 is frequent."""
    generator = np.random.default_rng(n_classes)
    prior = np.r_[0.5, np.full(n_classes - 1, 0.5 / (n_classes - 1))]
    classes = generator.choice(n_classes, size=10_000, p=prior)
    logits = 0.3 * generator.normal(size=(10_000, n_classes))
    logits[:, 0] += 4
    scores = np.exp(logits)
    return Predictions.from_arrays(classes, scores / scores.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_costs_move_the_naive_majority_classifier(n_classes):
    # Wang and Carvalho, section 5.3, which needs pools of both columns.
    predictions = naive_majority_classifier(n_classes)
    costs = [majority_costs(predictions, factor) for factor in FACTORS]
    aucs = np.array(
        [dmf_auc_score(predictions, pair_weights=x, threshold_pool="balanced") for x in costs]
    )
    assert (np.diff(aucs) > 0).all()
    np.testing.assert_allclose(aucs + aucs[::-1], 1, rtol=0, atol=0.02)
    if n_classes == 3:
        expected = [0.04, 0.12, 0.27, 0.50, 0.73, 0.88, 0.96]
        np.testing.assert_allclose(aucs, expected, rtol=0, atol=0.03)


def test_majority_costs_name_the_majority():
    names = ["a", "b", "b", "c"]
    expected = {("b", "a"): 4, ("a", "b"): 0.25, ("b", "c"): 4, ("c", "b"): 0.25}
    assert majority_costs(names, 4) == expected
    scores = np.arange(12.0).reshape(4, 3)
    assert majority_costs(Predictions.from_arrays(names, scores), 4) == expected
    for factor in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="factor must be positive and finite"):
            majority_costs(names, factor)


NAMES = ["low", "mid", "high"]
COSTS = np.array([[0, 1, 6], [2, 0, 3], [5, 4, 0]])


def named_problem():
    classes, scores = normal_scores(29, 60, 3, 0.5)
    return np.array(NAMES)[classes], scores


def auc_with(pair_weights):
    names, scores = named_problem()
    return dmf_auc_score(names, scores, labels=NAMES, pair_weights=pair_weights)


def test_forms_of_costs_agree():
    auc = auc_with(COSTS)
    assert abs(auc - auc_with("equal")) > 0.001
    table = pd.DataFrame(COSTS, NAMES, NAMES)
    shuffled = table.loc[["high", "low", "mid"], ["mid", "high", "low"]]
    by_pair = {(a, b): table.loc[a, b] for a in NAMES for b in NAMES if a != b}
    equal_forms = [
        COSTS.tolist(),
        7.0 * COSTS,
        COSTS + np.diag([np.nan, 9, -1]),  # the diagonal has no meaning
        table,
        shuffled,
        by_pair,
        dict(reversed(by_pair.items())),
        (COSTS, COSTS.T),
        (shuffled, shuffled.T),
    ]
    for form in equal_forms:
        assert auc_with(form) == pytest.approx(auc, rel=0, abs=1e-9)


def test_costs_weigh_the_rates_of_their_pair():
    # Costs of observed i predicted j: weight of the TPR of (i, j) and of the FPR of (j, i).
    names, scores = named_problem()
    curve = multiclass_roc(names, scores, labels=NAMES, pair_weights=COSTS)
    place = [(NAMES.index(i), NAMES.index(j)) for i, j in curve.pairs]
    tpr_weights = np.array([COSTS[i, j] for i, j in place])
    fpr_weights = np.array([COSTS[j, i] for i, j in place])
    scale = (tpr_weights.mean() + fpr_weights.mean()) / 2
    # Each row of the fit is stationary: the weighted residuals vanish along the pair effects.
    for rates, effect, weights in (
        (curve.pairwise_tpr, curve.threshold_effect[0], tpr_weights),
        (curve.pairwise_fpr, curve.threshold_effect[1], fpr_weights),
    ):
        residual = expit(curve.pair_effect[:, None] * effect) - rates
        gradient = (weights * curve.pair_effect / scale) @ residual
        np.testing.assert_allclose(gradient, 0, rtol=0, atol=1e-6)


def test_missing_pairs_in_a_dict_cost_one():
    costs = np.ones((3, 3))
    costs[0, 2] = 6
    assert auc_with({("low", "high"): 6}) == pytest.approx(auc_with(costs), rel=0, abs=1e-9)


def test_prevalence_weights_are_class_sizes():
    classes, scores = normal_scores(30, 60, 3, prior=[0.7, 0.2, 0.1])
    sizes = np.tile(np.bincount(classes), (3, 1))
    by_name = dmf_auc_score(classes, scores, pair_weights="prevalence")
    by_size = dmf_auc_score(classes, scores, pair_weights=(sizes.T, sizes))
    assert by_name == pytest.approx(by_size, rel=0, abs=1e-9)
    assert abs(by_name - dmf_auc_score(classes, scores)) > 1e-4


def test_costs_of_an_absent_class_do_not_matter():
    names, scores = named_problem()
    keep = names != "mid"
    aucs = []
    for middle in (1, 1000):
        costs = np.array([[0, middle, 6], [middle, 0, middle], [5, middle, 0]])
        with pytest.warns(UserWarning, match="'mid'"):
            aucs.append(dmf_auc_score(names[keep], scores[keep], labels=NAMES, pair_weights=costs))
    assert aucs[0] == pytest.approx(aucs[1], rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("pair_weights", "message"),
    [
        ("even", "pair_weights must be 'equal', 'prevalence', a cost matrix or a pair .* 'even'"),
        ((COSTS,), "must hold two matrices, of TPR and of FPR weights, but it holds 1"),
        (COSTS[:2], r"must have shape \(3, 3\), one row and column per class .* \(2, 3\)"),
        (np.ones(3), r"a cost matrix or a pair of weight matrices, but it is of shape \(3,\)"),
        (-COSTS, "the cost matrix must be finite and >= 0 off its diagonal"),
        (COSTS * np.nan, "the cost matrix must be finite and >= 0 off its diagonal"),
        ((COSTS, -COSTS), "the FPR weights must be finite and >= 0"),
        (0 * COSTS, "gives all true or all false positive rates the weight 0"),
        ((0 * COSTS, COSTS), "gives all true or all false positive rates the weight 0"),
        (pd.DataFrame(COSTS, NAMES, ["low", "mid", "top"]), "lacks .* for class 'high'"),
        (pd.DataFrame(COSTS), "lacks a row or column for class 'low'"),
        ({("low", "top"): 2}, r"the key \('low', 'top'\), which is not a pair of classes"),
        ({"low": 2}, "the key 'low', which is not a pair of classes"),
    ],
)
def test_wrong_pair_weights_are_told(pair_weights, message):
    with pytest.raises(ValueError, match=message):
        auc_with(pair_weights)
