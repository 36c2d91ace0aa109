"""Recalibrations that are fitted to other observations than judge them: all folds but one.

A step function of what comes true is the hull of the ROC curve: between two of its vertices the
share of positives is the same.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import BoolPerRow, IntPerRow, PerRow
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.hull import upper_hulls
from dmfroc.measures.statistics.curves import CurveCounts, at_corners, pool_shares
from dmfroc.measures.statistics.statistic import once_per_predictions

_FOLDS, _REPETITIONS = 5, 3
_MANY = 50_000  # observations from which on one division must do, which takes a third of the time


def pools_of_others(
    curves: CurveCounts, weights: PerRow, is_judge: BoolPerRow
) -> list[tuple[Int[np.ndarray, "pools 2"], Float[np.ndarray, " pools"]]]:
    """Return the hull of the others on each curve.

    Between neighbouring vertices these are the first and the last of them, and their share of
    positives.
    """
    counted, pools = at_corners(curves).count(np.where(is_judge, 0.0, weights), np), []
    assert counted.above is not None  # at corners it is known
    hulls = upper_hulls(counted.fp, counted.tp)
    each = curves.rows, counted.tp, counted.fp, counted.above, hulls
    for rows, tp, fp, above, vertices in zip(*each, strict=True):
        chosen, is_other = np.unique(vertices), ~is_judge[rows]
        others, n = rows[is_other], np.append(0, np.cumsum(is_other))[above[chosen]]
        ends = np.stack([others[n[:-1]], others[n[1:] - 1]], axis=1)
        pools.append((ends, pool_shares(tp[chosen], fp[chosen])))
    return pools


@once_per_predictions
def scores_of_units(
    predictions: Predictions, unit_of_row: IntPerRow, n_units: int
) -> Float[np.ndarray, "3 u"]:
    """Return sums over each unit's rows: of all scores, the largest, and that for their own class.

    They give the units of a class an order whatever that of the rows: unequal rows with the same
    last two differ in the first, whose scores count differently. Scores on a device stay there.
    """
    scores = predictions.scores
    own = scores[np.arange(len(scores)), predictions.true]
    with np.errstate(invalid="ignore", over="ignore"):  # of huge scores
        of_all = scores @ np.sqrt(np.arange(1.0, scores.shape[1] + 1)).astype(scores.dtype)
    rows = (np.asarray(x, np.float64) for x in (of_all, scores.max(axis=1), own))
    return np.array([np.bincount(unit_of_row, x, n_units) for x in rows])


def class_of_units(
    predictions: Predictions, unit_of_row: IntPerRow, n_units: int
) -> Int[np.ndarray, " u"]:
    """Return the last of the classes of each unit's rows; -1 if it has none."""
    classes = np.full(n_units, -1)
    np.maximum.at(classes, unit_of_row, predictions.true)
    return classes


@once_per_predictions
def folds_of(predictions: Predictions, unit_of_row: IntPerRow) -> Bool[np.ndarray, "folds n"]:
    """Return which observations judge, in folds with about equal shares of each class."""
    generator = np.random.default_rng(0)
    n_units, folds = int(unit_of_row.max()) + 1, []
    class_of_unit = class_of_units(predictions, unit_of_row, n_units)
    by_scores = np.lexsort(scores_of_units(predictions, unit_of_row, n_units))
    present = predictions.present
    present = present[np.argsort(predictions.class_counts[present], kind="stable")]
    for _ in range(_REPETITIONS if predictions.n_observations < _MANY else 1):
        fold = np.empty(n_units, int)
        start = 0  # the larger folds of a class are not those of the next
        for k in present:
            units = generator.permutation(by_scores[class_of_unit[by_scores] == k])
            fold[units] = (start + np.arange(len(units))) % _FOLDS
            start += len(units)
        folds += [fold[unit_of_row] == part for part in range(_FOLDS)]
    return np.array(folds)
