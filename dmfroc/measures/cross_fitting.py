"""Cross-fitted values of measures that choose their thresholds: the best, or those of the hull.

A threshold that is chosen on the observations by which it is judged is judged too well, by one to
three standard deviations of the value. Here thresholds are chosen on all folds but one and judged
on that one; the mean over the folds and a few repetitions is the cross-fitted value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc._autodiff import value_and_derivatives
from dmfroc.measures.measure import SummariesOfCounts, Summary
from dmfroc.measures.statistics.curves import CurvePoints, curve_counts
from dmfroc.predictions import Predictions

Judged = Callable[[CurvePoints, CurvePoints, Any], Any]
"""Takes the points of the other folds, those of the fold that judges, and the array namespace."""

_FOLDS, _REPETITIONS = 5, 3
# Observations from which on one division must do, which takes a third of the time. Another would
# change maximal informedness by about a fifth of its standard error, and areas by a thirtieth.
_MANY = 50_000


def cross_fitted(
    judged: Judged,
    predictions: Predictions,
    unit_of_row: Int[np.ndarray, " n"],
    *,
    halfway_to: Summary | None = None,
) -> tuple[float, Float[np.ndarray, " n"]] | None:
    """Return the cross-fitted value and the influences on it.

    Observations of a unit are in the same fold. Nothing is returned where a fold lacks a class.
    If thresholds for all costs lose as much on other observations as they gain on their own, the
    value is ``halfway_to`` the summary that chooses and judges on the same ones.
    """
    folds = list(_folds(predictions, unit_of_row))
    sizes = [
        np.bincount(predictions.true[f], minlength=predictions.n_classes)[predictions.present].min()
        for f in folds
        if f.any()
    ]
    if len(sizes) < len(folds) or min(sizes) < 1:
        return None
    statistic, weights = curve_counts(predictions), predictions.sample_weight
    value, influences = 0.0, np.zeros(len(weights))
    n_parts = len(folds)
    for is_judge in folds:
        chosen_on = statistic.count(np.where(is_judge, 0.0, weights), np)
        own = np.where(is_judge, weights, 0.0)
        judged_on = statistic.count(own, np)

        def summary(points: CurvePoints, xp: Any, chosen_on: CurvePoints = chosen_on) -> Any:
            return judged(chosen_on, points, xp).sum(-1) * points.share

        of_fold, derivatives = value_and_derivatives(summary, judged_on)
        value += float(of_fold) / n_parts
        influences += own * statistic.pull_back(own, judged_on, derivatives) / n_parts
    if halfway_to is None:
        return value, influences
    together = SummariesOfCounts(statistic, (halfway_to,))
    [of_all], [gradient] = together.values_and_gradients(weights)
    return (value + of_all) / 2, (influences + gradient * weights) / 2


def _folds(predictions: Predictions, unit_of_row: Int[np.ndarray, " n"]) -> Iterator[Any]:
    """Yield which observations judge, in folds with about equal shares of each class."""
    generator = np.random.default_rng(0)
    _, first_row = np.unique(unit_of_row, return_index=True)
    class_of_unit = predictions.true[first_row]
    for _ in range(_REPETITIONS if predictions.n_observations < _MANY else 1):
        fold = np.empty(len(first_row), int)
        start = 0  # the larger folds of a class are not those of the next
        for k in np.unique(class_of_unit):
            units = generator.permutation(np.flatnonzero(class_of_unit == k))
            fold[units] = (start + np.arange(len(units))) % _FOLDS
            start += len(units)
        for part in range(_FOLDS):
            yield fold[unit_of_row] == part


def between(
    points: CurvePoints, places: Int[np.ndarray, "curves places"]
) -> Int[np.ndarray, "curves places"]:
    """Return the places halfway between neighbouring observations of those that chose.

    At all places of a run the points are the same, so that the ones that chose say nothing of where
    in the run a threshold should be.
    """
    moved = np.empty_like(places)
    for curve, of_curve in enumerate(places):
        sums = points.tp[curve] + points.fp[curve]
        first = np.searchsorted(sums, sums[of_curve], "left")
        last = np.searchsorted(sums, sums[of_curve], "right") - 1
        moved[curve] = (first + last) // 2
        moved[curve][sums[of_curve] == 0] = 0
        moved[curve][sums[of_curve] == sums[-1]] = len(sums) - 1
    return moved
