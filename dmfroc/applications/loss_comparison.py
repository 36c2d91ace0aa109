"""Adams and Hand's comparison of two classifiers when costs are uncertain: the LC index."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc.curves import convex_hull, roc_curve
from dmfroc.extend import as_predictions, checked_same_observations, number


def lc_index(
    y_true: Any,
    first_score: Any,
    second_score: Any,
    *,
    most_likely_cost: Any = 0.5,
    lowest_cost: Any = 0.0,
    highest_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return how often the first of two classifiers has the smaller loss, minus the second.

    A missed positive costs c, a false alarm 1 - c. The belief about c is a triangular
    distribution, and each classifier has the threshold that is best for c.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes, two of them.
    first_score, second_score : array-like of shape (n,)
        Scores of the second of the sorted labels by either classifier, whichever is positive.
    most_likely_cost, lowest_cost, highest_cost : float
        Mode and ends of the belief about c, ``0 <= lowest <= most likely <= highest <= 1``.
    pos_label : label, optional
        The positive class; by default the second of the sorted labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        In [-1, 1]: the probability under the belief that the first loses less, minus the
        probability that the second does. 0 for equal classifiers.

    Raises
    ------
    ValueError
        If the costs are not in order, or the data are not those of two classes.

    References
    ----------
    Adams and Hand (1999), Comparing classifiers when the misallocation costs are uncertain, Pattern
    Recognition 32, 1139-1147.

    Examples
    --------
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> lc_index(y, [0.1, 0.2, 0.6, 0.5, 0.8, 0.9], [0.3, 0.6, 0.7, 0.4, 0.5, 0.9])
    1.0
    """
    from scipy.stats import triang  # where it is used: importing it takes long

    lowest, highest = number("lowest_cost", lowest_cost), number("highest_cost", highest_cost)
    mode = number("most_likely_cost", most_likely_cost)
    if not (0 <= lowest <= mode <= highest <= 1 and lowest < highest):
        raise ValueError(
            "Costs must satisfy 0 <= lowest_cost <= most_likely_cost <= highest_cost <= 1 with "
            f"lowest_cost < highest_cost, but they are {lowest}, {mode} and {highest}."
        )
    hulls, named = [], {}
    for name, score in (("first_score", first_score), ("second_score", second_score)):
        try:
            given: Any = {"sample_weight": sample_weight, "pos_label": pos_label}
            named[name] = as_predictions(y_true, score, against_rest=True, **given)
            curve = roc_curve(named[name], pos_label=pos_label)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} and y_true make no ROC curve: {error}") from error
        hulls.append(convex_hull(curve))
    checked_same_observations(named)
    prevalence = hulls[0].points.prevalence

    def loss(hull: Any, cost: Float[np.ndarray, " c"]) -> Float[np.ndarray, " c"]:
        missed, alarms = prevalence * (1 - hull.y), (1 - prevalence) * hull.x
        return np.min(np.outer(cost, missed) + np.outer(1 - cost, alarms), axis=1)

    # Neighbours on a hull lose the same where the cost is the share of errors between them
    corners = np.concatenate([[lowest, highest], *(1 - hull.scores for hull in hulls)])
    cost = np.unique(corners.clip(lowest, highest))
    difference = loss(hulls[1], cost) - loss(hulls[0], cost)
    # Between its corners the difference is a straight line, which may cross zero once
    left, right = difference[:-1], difference[1:]
    crosses = left * right < 0
    crossing = cost[:-1] - left * np.diff(cost) / np.where(crosses, right - left, 1.0)
    cost = np.union1d(cost, crossing[crosses])
    middle = (cost[:-1] + cost[1:]) / 2
    winner = loss(hulls[1], middle) - loss(hulls[0], middle)
    winner = np.where(np.abs(winner) < 1e-15, 0.0, np.sign(winner))
    width = highest - lowest
    belief = triang.cdf(cost, (mode - lowest) / width, lowest, width)
    return float(winner @ np.diff(belief))
