"""Cross-fitted values of measures that choose their thresholds: the best, or those of the hull.

A threshold that is chosen on the observations by which it is judged is judged too well, by one to
three standard deviations of the value. Here thresholds are chosen on all folds but one and judged
on that one; the mean over the folds and a few repetitions is the cross-fitted value.

Thresholds that are best at some cost are vertices of the hull. So the hulls of all folds but one,
and between which of their vertices each observation of that one lies, are all that a measure needs:
they are found once for all measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import value_and_derivatives
from dmfroc._kit.hull import upper_hulls
from dmfroc._kit.threads import parallel_map
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import ValueAndInfluences
from dmfroc.measures.statistics.curves import CurveCounts, CurvePoints, curve_counts
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
    unit_of_row: Int[np.ndarray, " n"],
    plain: ValueAndInfluences,
    *,
    towards_plain: float = 0.0,
) -> ValueAndInfluences | None:
    """Return the cross-fitted value and the influences on it.

    Observations of a unit are in the same fold. Nothing is returned where a fold lacks a class.
    What thresholds lose on other observations is no bias of those that are chosen best for all:
    the value is by some share that of the ``plain`` ones, chosen and judged on the same.
    """
    judgements = _judgements(predictions, unit_of_row)
    if judgements is None:
        return None
    weights = predictions.sample_weight
    value, influences = 0.0, np.zeros(len(weights))
    for judgement in judgements:

        def summary(points: CurvePoints, xp: Any, hulls: CurvePoints = judgement.hulls) -> Any:
            return judged(hulls, points, xp).sum(-1) * points.share

        fold_value, derivatives = value_and_derivatives(summary, judgement.points)
        value += float(fold_value)
        influences[judgement.judges] += weights[judgement.judges] * judgement.pull_back(derivatives)
    rest = 1 - towards_plain
    return rest * value + towards_plain * plain[0], rest * influences + towards_plain * plain[1]


class _Judgement(NamedTuple):
    """The curves of the observations of one fold, at the thresholds of the hulls of all others.

    Of each judge and curve it is known which of the counts between neighbouring thresholds it
    belongs to: they are numbered by curve, false positives first.
    """

    hulls: CurvePoints  # of the other folds
    points: CurvePoints  # of the judges, at the same thresholds
    judges: Int[np.ndarray, " judges"]
    cells: Int[np.ndarray, "curves judges"]

    def pull_back(self, derivatives: CurvePoints) -> Float[np.ndarray, " judges"]:
        """Return the derivatives with respect to the weights of the judges."""
        at_thresholds = np.stack([derivatives.fp, derivatives.tp])
        # An observation is counted at its own threshold and all later ones.
        between = np.cumsum(at_thresholds[..., ::-1], axis=-1)[..., ::-1].ravel()
        return between[self.cells].sum(axis=0)


@once_per_predictions
def _judgements(
    predictions: Predictions, unit_of_row: Int[np.ndarray, " n"]
) -> list[_Judgement] | None:
    """Return the judgements of all curves by all folds; nothing if a fold lacks a class."""
    folds = list(folds_of(predictions, unit_of_row))
    n_classes, present = predictions.n_classes, predictions.present
    sizes = [np.bincount(predictions.true[f], minlength=n_classes)[present].min() for f in folds]
    if min(sizes) < 1:
        return None

    def judge(is_judge: Bool[np.ndarray, " n"]) -> _Judgement:
        curves = curve_counts(predictions)
        return _judge(curves, is_judge, predictions.sample_weight, 1 / len(folds))

    return parallel_map(judge, folds)


def _judge(
    curves: CurveCounts,
    is_judge: Bool[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
    share_of_fold: float,
) -> _Judgement:
    rest = np.where(is_judge, 0.0, weights)
    found = [_hulls(part, rest) for part in curves.parts()]
    places = np.arange(max(tp.shape[1] for tp, *_ in found))
    tp, fp, n_above = (
        np.concatenate([x[:, np.minimum(places, x.shape[1] - 1)] for x in of_parts])
        for of_parts in zip(*found, strict=True)
    )
    hulls = CurvePoints(tp, fp, curves.share, curves.n_positives)
    judges = np.flatnonzero(is_judge)
    n_curves, n_thresholds = n_above.shape
    cells = np.empty((n_curves, len(judges)), np.int32)
    place_of_judge = np.cumsum(is_judge, dtype=np.int32) - 1
    thresholds = np.arange(n_thresholds, dtype=np.int32)
    for curve, (rows, is_positive, ends) in enumerate(
        zip(curves.rows, curves.is_positive, n_above, strict=True)
    ):
        ranks = np.flatnonzero(is_judge[rows])
        n_of_cells = np.diff(np.searchsorted(ranks, ends), prepend=0)
        cell = np.repeat(curve * n_thresholds + thresholds, n_of_cells)
        cell += np.where(is_positive[ranks], n_curves * n_thresholds, 0)
        cells[curve, place_of_judge[rows[ranks]]] = cell
    n_cells = 2 * n_curves * n_thresholds
    counts = np.bincount(cells.ravel(), np.tile(weights[judges], n_curves), n_cells)
    fp, tp = counts.reshape(2, n_curves, n_thresholds).cumsum(axis=-1)
    points = CurvePoints(tp, fp, curves.share * share_of_fold, curves.n_positives)
    return _Judgement(hulls, points, judges, cells)


def _hulls(
    curves: CurveCounts, weights: Float[np.ndarray, " n"]
) -> tuple[
    Float[np.ndarray, "curves v"], Float[np.ndarray, "curves v"], Int[np.ndarray, "curves v"]
]:
    """Return true and false positives at the vertices, and how many observations are above them."""
    points = curves.count(weights, np)
    vertices = upper_hulls(points.fp, points.tp)
    tp, fp = (np.take_along_axis(x, vertices, -1) for x in points[:2])
    return tp, fp, np.take_along_axis(curves.above, _between(points, vertices), -1)


def folds_of(
    predictions: Predictions, unit_of_row: Int[np.ndarray, " n"]
) -> Iterator[Bool[np.ndarray, " n"]]:
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


def _between(
    points: CurvePoints, places: Int[np.ndarray, "curves places"]
) -> Int[np.ndarray, "curves places"]:
    """Return the places halfway between neighbouring observations of those that chose.

    At all places of a run the points are the same, so that the ones that chose say nothing of where
    in the run a threshold should be.
    """
    moved = np.empty_like(places)
    for curve, curve_places in enumerate(places):
        sums = points.tp[curve] + points.fp[curve]
        first = np.searchsorted(sums, sums[curve_places], "left")
        last = np.searchsorted(sums, sums[curve_places], "right") - 1
        moved[curve] = (first + last) // 2
        moved[curve][sums[curve_places] == 0] = 0
        moved[curve][sums[curve_places] == sums[-1]] = len(sums) - 1
    return moved
