"""Each class against all others: true and false positives above each score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from dmfroc._kit.arrays import AnyArray, cumulative_sum
from dmfroc._kit.threads import parallel
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import run_ends, score_columns
from dmfroc.measures.statistics.statistic import Statistic, once_per_predictions

_POINTS_AT_ONCE = 1 << 17  # what a processor's cache holds
_LARGEST_ODDS = 1e9  # of the weights of a class and of the rest
_FEWEST_AT_ONCE = 2  # autograd adds up all numbers over an axis of length one, which takes as long


class CurvePoints(NamedTuple):
    """Weights of the true and false positives above each threshold, from none to all.

    Where scores tie, points are repeated. The curves are some of those of a classifier: each has
    its share in their mean, and a number of positive observations, whatever their weights. Weights
    that are integers have integers as sums. Between neighbouring corners there are positives alone,
    negatives alone, or observations that tie; the last corner is repeated.
    """

    tp: Num[AnyArray, "*curves points"]
    fp: Num[AnyArray, "*curves points"]
    share: float = 1.0
    n_positives: Int[AnyArray, " curves"] | None = None
    corners: Int[AnyArray, "curves corners"] | None = None


@dataclass(frozen=True, eq=False)
class CurveCounts(Statistic):
    """Score columns sorted from high to low, for the class of each column against the rest."""

    rows: Int[AnyArray, "columns n"]  # rank -> observation
    is_positive: Bool[AnyArray, "columns n"]
    above: Int[AnyArray, "columns n_plus_1"]  # point -> number of observations that it counts
    has_ties: bool
    share: float  # of a curve in their mean
    n_positives: Int[AnyArray, " columns"]
    corners: Int[np.ndarray, "columns corners"] | None = None  # for `CurvePoints`

    is_batched: ClassVar[bool] = True

    def parts(self) -> list[CurveCounts]:
        n_columns, n = self.rows.shape
        at_once = max(_POINTS_AT_ONCE // n, _FEWEST_AT_ONCE)
        starts = range(0, n_columns, at_once)
        return [self.some(slice(first, first + at_once)) for first in starts]

    def some(self, columns: slice) -> CurveCounts:
        """Return the curves of some of the classes, each with its share in the mean of all."""
        arrays = self.rows[columns], self.is_positive[columns], self.above[columns]
        corners = None if self.corners is None else self.corners[columns]
        return CurveCounts(*arrays, self.has_ties, self.share, self.n_positives[columns], corners)

    def count(self, weights: Num[AnyArray, "*draws n"], xp: Any) -> CurvePoints:
        if xp is np and weights.ndim == 1 and (weights == 1).all():
            tp = cumulative_sum(self.is_positive.astype(weights.dtype), np)
            fp = np.arange(tp.shape[-1], dtype=tp.dtype) - tp
        else:
            ordered = weights[..., self.rows]
            tp, fp = (
                cumulative_sum(xp.where(is_counted, ordered, 0), xp)
                for is_counted in (self.is_positive, ~self.is_positive)
            )
        if self.has_ties:
            above = xp.broadcast_to(self.above, tp.shape)
            tp, fp = (xp.take_along_axis(x, above, axis=-1) for x in (tp, fp))
        return CurvePoints(tp, fp, self.share, self.n_positives, self.corners)

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: CurvePoints, derivatives: CurvePoints
    ) -> Float[np.ndarray, " n"]:
        d_tp, d_fp = (self._to_ranks(d) for d in derivatives[:2])
        d_ordered = np.where(self.is_positive, d_tp, d_fp)
        return np.bincount(self.rows.ravel(), d_ordered.ravel(), len(weights))

    def _to_ranks(
        self, d_points: Float[np.ndarray, "columns n_plus_1"]
    ) -> Float[np.ndarray, "columns n"]:
        """Add up, for each rank, the derivatives with respect to the points that count it."""
        from_each = np.cumsum(d_points[:, :0:-1], axis=1)[:, ::-1]
        if not self.has_ties:
            return from_each
        ranks = np.arange(from_each.shape[1])
        is_first = self.above[:, :-1] == ranks  # of its run of ties, which all its points count
        first = np.maximum.accumulate(np.where(is_first, ranks, 0), axis=1)
        return np.take_along_axis(from_each, first, axis=1)


@once_per_predictions
def curve_counts(predictions: Predictions) -> CurveCounts:
    """Sort the columns of the classes that occur; of two classes, only that of the second.

    The first of two classes is its complement.
    """
    classes = np.array([1]) if predictions.n_classes == 2 else predictions.present
    n = predictions.n_observations
    rows = np.empty((len(classes), n), np.int32)
    is_positive = np.empty((len(classes), n), np.bool_)
    above = np.empty((len(classes), n + 1), np.int32)
    has_ties = np.empty(len(classes), np.bool_)
    columns = score_columns(predictions.scores, classes)

    def sort_column(column: int) -> Int[np.ndarray, " corners"]:
        one = one_curve(columns[column], predictions.true == classes[column])
        rows[column], is_positive[column], above[column] = one.rows, one.is_positive, one.above
        has_ties[column] = one.has_ties
        return _corners(one)

    places = parallel(sort_column, range(len(classes)), rows.size)
    corners = np.full((len(classes), max(map(len, places))), n, np.int32)
    for row, places_of_column in zip(corners, places, strict=True):
        row[: len(places_of_column)] = places_of_column
    n_positives = is_positive.sum(axis=1)
    share = 1 / len(classes)
    return CurveCounts(rows, is_positive, above, bool(has_ties.any()), share, n_positives, corners)


def one_curve(scores: Float[np.ndarray, " n"], is_positive: Bool[np.ndarray, " n"]) -> CurveCounts:
    """Sort the scores of one class against the rest."""
    order = np.argsort(scores)[::-1].astype(np.int32)
    ordered = scores[order]
    above = np.arange(len(order) + 1, dtype=np.int32)
    has_ties = bool((ordered[1:] == ordered[:-1]).any())
    if has_ties:
        above[1:] = run_ends(ordered, np.array([0]))
    ranked = is_positive[order][None]
    return CurveCounts(order[None], ranked, above[None], has_ties, 1.0, ranked.sum(axis=1))


def _corners(curve: CurveCounts) -> Int[np.ndarray, " corners"]:
    """Return the points where the curve may turn."""
    is_positive, above = curve.is_positive[0], curve.above[0]
    points = np.flatnonzero(above == np.arange(len(above)))  # at the ends of runs of ties
    n_positives = np.diff(np.append(0, np.cumsum(is_positive))[points])
    share = n_positives / np.diff(points)
    is_straight = (share[1:] == share[:-1]) & ((share[1:] == 0) | (share[1:] == 1))
    return points[np.concatenate([[True], ~is_straight, [True]])]


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
        least = np.full(predictions.n_classes, np.inf)
        np.minimum.at(least, predictions.true, weights)
        least = least[predictions.present]
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
