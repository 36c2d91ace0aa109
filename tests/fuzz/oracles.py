"""Independent brute force: what measures and curves are, written from their definitions."""

import itertools

import numpy as np

TOLERANCE = 1e-9


class Defect(AssertionError):
    """What was computed is wrong."""


def close(found, expected, what):
    """Raise unless numbers are the same but for rounding."""
    if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        raise Defect(f"{what}: {found!r}, by brute force {expected!r}")


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


def average_precision(is_positive, scores, weights):
    """Mean over the positives of the precision among the rows scored at least as high."""
    total = 0.0
    for place in np.flatnonzero(is_positive):
        called = scores >= scores[place]
        total += (
            weights[place] * weights[called & is_positive].sum() / weights[called].sum()
            if weights[place]
            else 0.0
        )
    return total / weights[is_positive].sum()


def value(name, codes, p, hard, w, positive, costs, threshold):
    """Return a measure of weighted rows; costs have the classes in the order of the columns."""
    k, is_positive = p.shape[1], codes == positive
    if name == "hand_till":
        return hand_till(codes, p, w, k)
    if name == "average_precision":
        return average_precision(is_positive, p[:, positive], w)
    if name == "net_benefit":
        called = p[:, positive] >= threshold
        lost = w[called & ~is_positive].sum() * threshold / (1 - threshold)
        return (w[called & is_positive].sum() - lost) / w.sum()
    if name == "expected_utility":
        return -np.average(costs[codes, (p @ costs).argmin(axis=1)], weights=w)
    if name == "accuracy":
        return np.average(hard == codes, weights=w)
    if name in ("cohen_kappa", "weighted_kappa"):
        table = confusion(codes, hard, w, k)
        return weighted_kappa(table, 1 - np.eye(k) if name == "cohen_kappa" else costs)
    called = hard == positive
    tp, fp, fn = (w[x].sum() for x in (called & is_positive, called & ~is_positive,
                                       ~called & is_positive))  # fmt: skip
    ends = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}
    top, bottom = ends[name]
    return top / bottom if bottom > 0 else np.nan


def rates(called, is_positive, weights):
    """True and false positive rate."""
    return [np.average(called[side], weights=weights[side]) for side in (is_positive, ~is_positive)]


def criterion(by, tpr, fpr, share):
    """What a threshold may be chosen by: costs of 2 and 5, and rates of at least .6."""
    tp, fp, fn = share * tpr, (1 - share) * fpr, share * (1 - tpr)
    return {
        "youden": tpr - fpr,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "accuracy": 1 - fp - fn,
        "cost": -2 * fp - 5 * fn,
        "specificity": tpr if 1 - fpr >= 0.6 - 1e-12 else -np.inf,
        "sensitivity": 1 - fpr if tpr >= 0.6 - 1e-12 else -np.inf,
    }[by]


def standard_error(value_at, weights, codes, stratify):
    """Infinitesimal jackknife by differences: class sizes fixed, or classes not told apart."""
    rows, step = np.flatnonzero(weights > 0), 1e-5
    phi = []
    for row in rows:
        ends = []
        for end in (1 + step, 1 - step):
            changed = weights.copy()
            changed[row] *= end
            ends.append(value_at(changed))
        phi.append((ends[0] - ends[1]) / (2 * step))
    phi, codes = np.array(phi), codes[rows]
    parts = [phi[codes == k] for k in np.unique(codes)] if stratify else [phi]
    return np.sqrt(sum(len(part) * part.var(ddof=1) for part in parts))
