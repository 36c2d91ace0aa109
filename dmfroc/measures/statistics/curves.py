"""Each class against all others: true and false positives above each score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from dmfroc._kit.arrays import AnyArray, BoolPerRow, PerRow, cumulative_sum
from dmfroc._kit.threads import parallel
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import runs_of_ties, score_columns
from dmfroc.measures.statistics.statistic import Statistic, once_per_predictions

_POINTS_AT_ONCE = 1 << 17  # what a processor's cache holds
_LARGEST_ODDS = 1e9  # of the weights of a class and of the rest
_FEWEST_AT_ONCE = 2  # autograd adds up all numbers over an axis of length one, which takes as long


class CurvePoints(NamedTuple):
    """Weights of the true and false positives above each threshold, from none to all.

    Points may be repeated. The curves are some of those of a classifier: each has its share in
    their mean, and a number of positive observations, whatever their weights. Weights that are
    integers have integers as sums.
    """

    tp: Num[AnyArray, "*curves points"]
    fp: Num[AnyArray, "*curves points"]
    share: float = 1.0
    n_positives: Int[AnyArray, " curves"] | None = None
    above: Int[AnyArray, "curves points"] | None = None  # as `CurveCounts` has it


@dataclass(frozen=True, eq=False)
class CurveCounts(Statistic):
    """Score columns sorted from high to low, for the class of each column against the rest."""

    rows: Int[AnyArray, "columns n"]  # rank -> observation
    is_positive: Bool[AnyArray, "columns n"]
    above: Int[AnyArray, "columns points"] | None  # how many a point counts; None: 0, 1, ..., n
    share: float  # of a curve in their mean
    n_positives: Int[AnyArray, " columns"]

    is_batched: ClassVar[bool] = True

    def parts(self) -> list[CurveCounts]:
        return self._parts

    @cached_property
    def _parts(self) -> list[CurveCounts]:
        n_columns, n = self.rows.shape
        n_points = n if self.above is None else self.above.shape[1]
        at_once = max(_POINTS_AT_ONCE // n_points, _FEWEST_AT_ONCE)
        return [self.some(slice(first, first + at_once)) for first in range(0, n_columns, at_once)]

    def some(self, columns: slice) -> CurveCounts:
        """Return the curves of some of the classes, each with its share in the mean of all."""
        above = None if self.above is None else self.above[columns]
        arrays = self.rows[columns], self.is_positive[columns], above
        return CurveCounts(*arrays, self.share, self.n_positives[columns])

    def ends(self, column: int) -> Int[np.ndarray, " points"]:
        """Return how many observations the distinct points of a curve count."""
        n = self.rows.shape[1]
        return np.arange(n + 1) if self.above is None else np.unique(self.above[column])

    def only(self, some: Callable[[CurveCounts, int], Int[np.ndarray, " _"]]) -> CurveCounts:
        """Return the same curves with some of the points of each."""
        n_columns, n = self.rows.shape
        selected = parallel(partial(some, self), range(n_columns), self.rows.size)
        above = np.full((n_columns, max(map(len, selected))), n, np.int32)
        for row, points in zip(above, selected, strict=True):
            row[: len(points)] = points
        return replace(self, above=above)

    @cached_property
    def _cells(self) -> Int[np.ndarray, "columns n"]:
        """The first point that counts each observation, numbered on for the positives."""
        assert self.above is not None
        cells, n_points = np.empty(self.rows.shape, np.int32), self.above.shape[1]
        points = np.arange(n_points, dtype=np.int32)
        columns = zip(cells, self.rows, self.is_positive, self.above, strict=True)
        for of_row, rows, is_positive, above in columns:
            of_row[rows] = np.repeat(points, np.diff(above, prepend=0)) + n_points * is_positive
        return cells

    def _has_cells(self, weights: Num[AnyArray, "*draws n"]) -> bool:
        is_one_set = isinstance(weights, np.ndarray) and weights.shape == self.rows.shape[1:]
        return self.above is not None and is_one_set and weights.dtype.kind == "f"

    def count(self, weights: Num[AnyArray, "*draws n"], xp: Any) -> CurvePoints:
        above = self.above
        if above is not None and self._has_cells(weights):
            shape = (len(self.rows), 2, above.shape[1])
            sums = np.array([np.bincount(cells, weights, 2 * shape[2]) for cells in self._cells])
            fp, tp = np.moveaxis(sums.reshape(shape).cumsum(axis=-1), 1, 0)
            return CurvePoints(tp, fp, self.share, self.n_positives, above)
        if xp is np and weights.ndim == 1 and (weights == 1).all():
            tp = cumulative_sum(self.is_positive.astype(weights.dtype), np)
            fp = np.arange(tp.shape[-1], dtype=tp.dtype) - tp
        else:
            ordered = weights[..., self.rows]
            tp, fp = (
                cumulative_sum(xp.where(is_counted, ordered, 0), xp)
                for is_counted in (self.is_positive, ~self.is_positive)
            )
        if above is not None:
            places = xp.broadcast_to(above, (*tp.shape[:-1], above.shape[-1]))
            tp, fp = (xp.take_along_axis(x, places, axis=-1) for x in (tp, fp))
        return CurvePoints(tp, fp, self.share, self.n_positives, above)

    def totals_of_rows(self, numbers: Float[np.ndarray, "columns cells"]) -> PerRow:
        """Add up the numbers of each observation's cells.

        A cell has a curve's negatives, or after all of these its positives, that a point counts and
        the point before it does not.
        """
        total = np.zeros(self.rows.shape[1])
        for of_column, cells in zip(numbers, self._cells, strict=True):
            total += of_column.take(cells)
        return total

    def pull_back(self, weights: PerRow, table: CurvePoints, derivatives: CurvePoints) -> PerRow:
        # A point counts what an earlier one does
        d_fp, d_tp = (
            np.cumsum(d[:, ::-1], axis=1)[:, ::-1] for d in (derivatives.fp, derivatives.tp)
        )
        if self._has_cells(weights):
            return self.totals_of_rows(np.concatenate([d_fp, d_tp], axis=1))
        d_fp, d_tp = d_fp[:, 1:], d_tp[:, 1:]
        if self.above is not None:
            lengths = np.diff(self.above, axis=1).ravel()
            d_fp, d_tp = (np.repeat(d, lengths).reshape(self.rows.shape) for d in (d_fp, d_tp))
        d_ordered = np.where(self.is_positive, d_tp, d_fp)
        return np.bincount(self.rows.ravel(), d_ordered.ravel(), len(weights))


@once_per_predictions
def whole_curves(predictions: Predictions) -> CurveCounts:
    """Sort the columns of the classes that occur; of two classes, only that of the second.

    The first of two classes is its complement.
    """
    classes = np.array([1]) if predictions.n_classes == 2 else predictions.present
    columns = score_columns(predictions.scores, classes)

    def sort_column(column: int) -> CurveCounts:
        return one_curve(columns[column], predictions.true == classes[column])

    curves, above = parallel(sort_column, range(len(classes)), columns.size), None
    if any(x.above is not None for x in curves):
        all_ranks = np.arange(columns.shape[1] + 1, dtype=np.int32)
        above = np.stack([all_ranks if x.above is None else x.above[0] for x in curves])
    rows, is_positive = (
        np.concatenate([getattr(x, name) for x in curves]) for name in ("rows", "is_positive")
    )
    counts = predictions.sample_weight > 0  # rows of no weight say nothing, as the unseen ones
    n_positives = np.bincount(predictions.true[counts], minlength=predictions.n_classes)[classes]
    return CurveCounts(rows, is_positive, above, 1 / len(classes), n_positives)


@once_per_predictions
def at_corners(curves: CurveCounts) -> CurveCounts:
    """Return the curves with the points alone where they may turn.

    Between neighbours there are positives alone, negatives alone, or observations that tie.
    """
    return curves.only(_corners)


def curve_counts(predictions: Predictions) -> CurveCounts:
    """Bind the points where the curves may turn."""
    return at_corners(whole_curves(predictions))


@once_per_predictions
def counts_at_positives(predictions: Predictions) -> CurveCounts:
    """Bind the points at the scores of the positives."""
    return whole_curves(predictions).only(_rises)


CURVES = (curve_counts, counts_at_positives, whole_curves)


def one_curve(scores: PerRow, is_positive: BoolPerRow) -> CurveCounts:
    """Sort the scores of one class against the rest."""
    order = np.argsort(scores)[::-1].astype(np.int32)
    ordered = scores[order]
    above = None
    if (ordered[1:] == ordered[:-1]).any():
        firsts, ends = runs_of_ties(ordered, np.array([0]))
        above = np.append(np.int32(0), np.repeat(ends, ends - firsts))[None]
    ranked = is_positive[order][None]
    return CurveCounts(order[None], ranked, above, 1.0, ranked.sum(axis=1))


def pool_shares(
    tp: Float[np.ndarray, " points"], fp: Float[np.ndarray, " points"]
) -> Float[np.ndarray, " pools"]:
    """Return the share of positives between neighbouring points."""
    positives = np.diff(tp)
    return positives / (positives + np.diff(fp))


def _corners(curves: CurveCounts, column: int) -> Int[np.ndarray, " corners"]:
    points = curves.ends(column)  # of runs of ties
    n_positives = np.diff(np.append(0, np.cumsum(curves.is_positive[column]))[points])
    share = n_positives / np.diff(points)
    is_straight = (share[1:] == share[:-1]) & ((share[1:] == 0) | (share[1:] == 1))
    return points[np.concatenate([[True], ~is_straight, [True]])]


def _rises(curves: CurveCounts, column: int) -> Int[np.ndarray, " rises"]:
    ranks = np.flatnonzero(curves.is_positive[column]) + 1
    ends = ranks if curves.above is None else np.unique(curves.above[column][ranks])
    return np.concatenate([[0], ends, [curves.rows.shape[1]]])


def _lost_beside(predictions: Predictions, *, alike: bool) -> str | None:
    """Say so if rounding would decide, because a class or the rest is so heavy.

    Sums from one end of a curve lack the digits of what is light beyond what is heavy. They matter
    beside a light class. If ``alike``, they do not for weights that are alike.
    """
    weights = np.where(predictions.sample_weight > 0, predictions.sample_weight, np.inf)
    totals = predictions.class_totals[predictions.present]
    rest = totals.sum() - totals
    is_lost = [totals > _LARGEST_ODDS * rest, rest > _LARGEST_ODDS * totals]
    if alike and np.any(is_lost):
        least = np.array([weights[predictions.true == k].min() for k in predictions.present])
        least_of_rest = [np.delete(least, place).min() for place in range(len(least))]
        is_lost[0] &= totals > _LARGEST_ODDS * least
        is_lost[1] &= rest > _LARGEST_ODDS * np.array(least_of_rest)
    if not np.any(is_lost):
        return None
    return (
        f"needs classes whose weights differ by a factor of {_LARGEST_ODDS:.0e} at most, but they "
        f"sum to {totals.min():.3g} and {totals.max():.3g}, so that rounding would decide: give "
        "smaller weights to the heavy observations"
    )


no_lost_sums = partial(_lost_beside, alike=True)
no_lost_gain = partial(_lost_beside, alike=False)  # of recall, which begins at the prevalence
