"""Cross-fitted values of measures that choose their thresholds: the best, or those of the hull.

A threshold that is chosen on the observations by which it is judged is judged too well, by one to
three standard deviations of the value. Here thresholds are chosen on all folds but one and judged
on that one; the mean over the folds and a few repetitions is the cross-fitted value.

Thresholds that are best at some cost are vertices of the hull. So the hulls of all folds but one,
and between which of their vertices each observation of that one lies, are all that a measure needs:
they are found once for all measures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import BoolPerRow, IntPerRow, PerRow, value_and_derivatives
from dmfroc._kit.threads import parallel_map
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.hull import upper_hulls
from dmfroc.measures.measure import ValueAndInfluences
from dmfroc.measures.statistics.curves import (
    CurveCounts,
    CurvePoints,
    at_corners,
    pool_shares,
    whole_curves,
)
from dmfroc.measures.statistics.statistic import once_per_predictions

Judged = Callable[[CurvePoints, CurvePoints, Any], Any]
"""Takes the hulls of the other folds, the points of the fold that judges at the same thresholds,
and the array namespace; returns one number for each curve."""

_FOLDS, _REPETITIONS = 5, 3
# Observations from which on one division must do, which takes a third of the time. Another would
# change maximal informedness by about a fifth of its standard error, and areas by a thirtieth.
_MANY = 50_000


def cross_fitted(
    judged: Judged,
    predictions: Predictions,
    unit_of_row: IntPerRow,
    plain: ValueAndInfluences,
    *,
    towards_plain: float = 0.0,
) -> ValueAndInfluences | None:
    """Return the cross-fitted value and the influences on it.

    Observations of a unit are in the same fold. Nothing is returned where a fold lacks a class.
    What thresholds lose on other observations is no bias of those that are chosen best for all:
    the value is by some share that of the ``plain`` ones, chosen and judged on the same.
    """
    folds, weights = folds_of(predictions, unit_of_row), predictions.sample_weight
    n_classes, present = predictions.n_classes, predictions.present
    if any(np.bincount(predictions.true[f], minlength=n_classes)[present].min() < 1 for f in folds):
        return None
    value, influences = 0.0, np.zeros(len(weights))
    for judgement in judgements(whole_curves(predictions), weights, folds):

        def summary(points: CurvePoints, xp: Any, hulls: CurvePoints = judgement.hulls) -> Any:
            return judged(hulls, points, xp).sum(-1) * points.share

        fold_value, derivatives = value_and_derivatives(summary, judgement.points)
        value += float(fold_value)
        influences[judgement.judges] += weights[judgement.judges] * judgement.pull_back(derivatives)
    rest = 1 - towards_plain
    return rest * value + towards_plain * plain[0], rest * influences + towards_plain * plain[1]


class Judgement(NamedTuple):
    """The curves of the observations of one fold, at the thresholds of the hulls of all others.

    Of each judge and curve it is known which of the counts between neighbouring thresholds it
    belongs to: they are numbered by curve, false positives first. Of each curve there are the first
    and the last of the others between neighbouring thresholds, and their share of positives.
    """

    hulls: CurvePoints  # of the other folds
    points: CurvePoints  # of the judges, at the same thresholds
    judges: Int[np.ndarray, " judges"]
    cells: Int[np.ndarray, "curves judges"]
    pools: tuple[tuple[Int[np.ndarray, "pools 2"], Float[np.ndarray, " pools"]], ...]

    def pull_back(self, derivatives: CurvePoints) -> Float[np.ndarray, " judges"]:
        """Return the derivatives with respect to the weights of the judges."""
        at_thresholds = np.stack([derivatives.fp, derivatives.tp])
        # An observation is counted at its own threshold and all later ones.
        between = np.cumsum(at_thresholds[..., ::-1], axis=-1)[..., ::-1].ravel()
        return between[self.cells].sum(axis=0)


@once_per_predictions
def judgements(
    curves: CurveCounts, weights: PerRow, folds: Bool[np.ndarray, "folds n"]
) -> list[Judgement]:
    """Return the judgements of all curves by all folds."""
    return parallel_map(partial(_judge, curves, weights, 1 / len(folds)), list(folds))


def _judge(
    curves: CurveCounts, weights: PerRow, share_of_fold: float, is_judge: BoolPerRow
) -> Judgement:
    judged = at_corners(curves).count(np.where(is_judge, 0.0, weights), np)
    vertices = upper_hulls(judged.fp, judged.tp)
    tp, fp, n_above = (
        np.take_along_axis(x, vertices, -1) for x in (judged.tp, judged.fp, judged.above)
    )
    hulls = CurvePoints(tp, fp, curves.share, curves.n_positives)
    judges = np.flatnonzero(is_judge)
    n_curves, n_thresholds = n_above.shape
    cells, pools = np.empty((n_curves, len(judges)), np.int32), []
    place_of_judge = np.cumsum(is_judge, dtype=np.int32) - 1
    thresholds = np.arange(n_thresholds, dtype=np.int32)
    for curve, (rows, is_positive) in enumerate(zip(curves.rows, curves.is_positive, strict=True)):
        ranks = np.flatnonzero(is_judge[rows])
        n_chosen = n_above[curve] - np.searchsorted(ranks, n_above[curve])
        n_before = ranks - np.arange(len(ranks))  # of those that chose, above each judge
        # Those that chose say nothing of where, between two of them, a threshold should be
        first, last = (n_chosen + np.searchsorted(n_before, n_chosen, x) for x in ("left", "right"))
        size = len(np.unique(vertices[curve]))
        pool_ends = np.stack([last[: size - 1], first[1:size] - 1], axis=1)
        pools.append((rows[pool_ends], pool_shares(tp[curve, :size], fp[curve, :size])))
        if curves.above is not None:  # where scores tie, several of the points count the same
            above = curves.above[curve]
            first, last = np.searchsorted(above, first), np.searchsorted(above, last, "right") - 1
        ends = (first + last) // 2 if curves.above is None else above[(first + last) // 2]
        ends[n_chosen == 0] = 0
        ends[n_chosen == n_chosen[-1]] = len(rows)  # rounding may leave light rows behind the last
        n_of_cells = np.diff(np.searchsorted(ranks, ends), prepend=0)
        cell = np.repeat(curve * n_thresholds + thresholds, n_of_cells)
        cell += np.where(is_positive[ranks], n_curves * n_thresholds, 0)
        cells[curve, place_of_judge[rows[ranks]]] = cell
    n_cells = 2 * n_curves * n_thresholds
    counts = np.bincount(cells.ravel(), np.tile(weights[judges], n_curves), n_cells)
    fp, tp = counts.reshape(2, n_curves, n_thresholds).cumsum(axis=-1)
    points = CurvePoints(tp, fp, curves.share * share_of_fold, curves.n_positives)
    return Judgement(hulls, points, judges, cells, tuple(pools))


@once_per_predictions
def folds_of(predictions: Predictions, unit_of_row: IntPerRow) -> Bool[np.ndarray, "folds n"]:
    """Return which observations judge, in folds with about equal shares of each class."""
    generator = np.random.default_rng(0)
    _, first_row = np.unique(unit_of_row, return_index=True)
    class_of_unit, folds = predictions.true[first_row], []
    for _ in range(_REPETITIONS if predictions.n_observations < _MANY else 1):
        fold = np.empty(len(first_row), int)
        start = 0  # the larger folds of a class are not those of the next
        for k in np.unique(class_of_unit):
            units = generator.permutation(np.flatnonzero(class_of_unit == k))
            fold[units] = (start + np.arange(len(units))) % _FOLDS
            start += len(units)
        folds += [fold[unit_of_row] == part for part in range(_FOLDS)]
    return np.array(folds)
