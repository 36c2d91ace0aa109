"""Independent brute force: what measures and curves are, written from their definitions."""

import itertools

import numpy as np


def auc(positive, negative, weight_positive, weight_negative):
    """Share of weighted pairs in the right order, ties counting half."""
    positive, negative = np.asarray(positive, float), np.asarray(negative, float)
    right = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    weights = np.outer(weight_positive, weight_negative)
    return float((right * weights).sum() / weights.sum())


def hand_till(codes, scores, weights, n_classes):
    present = [c for c in range(n_classes) if (weights[codes == c] > 0).any()]
    areas = [
        auc(scores[codes == i, i], scores[codes == j, i], weights[codes == i], weights[codes == j])
        for i, j in itertools.permutations(present, 2)
    ]
    return float(np.mean(areas))


def confusion(codes, predicted, weights, n_classes):
    """Weights by predicted class (rows) and observed class (columns)."""
    table = np.zeros((n_classes, n_classes))
    for code, guess, weight in zip(codes, predicted, weights, strict=True):
        table[guess, code] += weight
    return table


def accuracy(table):
    return np.trace(table) / table.sum()


def cohen_kappa(table):
    shares = table / table.sum()
    expected = (shares.sum(axis=0) * shares.sum(axis=1)).sum()
    return (np.trace(shares) - expected) / (1 - expected) if expected < 1 else None


def weighted_kappa(table, costs):
    """Kappa with costs of disagreement, observed classes in their rows."""
    shares = table.T / table.sum()
    expected = (costs * np.outer(shares.sum(axis=1), shares.sum(axis=0))).sum()
    return 1 - (costs * shares).sum() / expected if expected else 0.0


def expected_utility(codes, probabilities, costs):
    """Minus the mean cost of the decisions of least expected cost, the first of equal ones."""
    chosen = [min(range(costs.shape[1]), key=lambda d: row @ costs[:, d]) for row in probabilities]
    return -np.mean([costs[code, d] for code, d in zip(codes, chosen, strict=True)])


def net_benefit(is_positive, is_treated, threshold):
    """True positives less false positives times the odds of the threshold, per observation."""
    false = np.mean(is_treated & ~is_positive)
    return np.mean(is_treated & is_positive) - false * threshold / (1 - threshold)


def roc_points(scores, is_positive, weights):
    """Rates at every distinct threshold, from none to all called positive."""
    points = []
    for threshold in [np.inf, *sorted(set(scores.tolist()), reverse=True)]:
        called = scores >= threshold
        points.append(
            [
                weights[called & side].sum() / weights[side].sum()
                for side in (~is_positive, is_positive)
            ]
        )
    return np.array(points)


def operating_cost(points, prevalence, cost_fp, cost_fn):
    """Smallest expected cost of any threshold."""
    fpr, tpr = points.T
    return float((cost_fp * (1 - prevalence) * fpr + cost_fn * prevalence * (1 - tpr)).min())
