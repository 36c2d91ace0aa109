"""The points of a binary ROC curve and their upper convex hull, exact where weights are counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from dmfroc.predictions import Predictions

ROUNDING = 1e-12
"""Differences this small, relative to the range of a quantity, are rounding of weights or costs."""

_EXACT = 2.0**53  # up to here floats count exactly
_ROUNDS = 30

type Rounding = tuple[float | int, float | int]  # of the counts on the x and on the y axis


class ROCPoints(NamedTuple):
    """What is counted at or above each threshold, from the strictest threshold down.

    The first threshold is infinite; the others are the distinct scores. Counts are int64 if all
    weights are whole numbers, else float64.
    """

    thresholds: Float[np.ndarray, " t"]
    true_positives: Num[np.ndarray, " t"]
    false_positives: Num[np.ndarray, " t"]

    @property
    def positives(self) -> float:
        """Weight of the positive class."""
        return float(self.true_positives[-1])

    @property
    def negatives(self) -> float:
        """Weight of the negative class."""
        return float(self.false_positives[-1])

    @property
    def tpr(self) -> Float[np.ndarray, " t"]:
        """True positive rates."""
        return self.true_positives / self.positives

    @property
    def fpr(self) -> Float[np.ndarray, " t"]:
        """False positive rates."""
        return self.false_positives / self.negatives


def binary_points(predictions: Predictions) -> ROCPoints:
    """Return the points of predictions of two observed classes; the second is positive."""
    if predictions.n_classes != 2:
        raise ValueError(
            f"y_true and y_score have {predictions.n_classes} classes, but an operating point on "
            "a ROC curve needs two; pass one class against the rest, or select class weights "
            "with select_class_weights"
        )
    return roc_points(
        predictions.scores[:, 1].astype(float), predictions.true == 1, predictions.sample_weight
    )


def roc_points(
    scores: Float[np.ndarray, " n"],
    is_positive: Bool[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
) -> ROCPoints:
    """Return one point for each distinct score of an observation with weight, and the origin."""
    counted = weights > 0
    scores, is_positive, weights = scores[counted], is_positive[counted], weights[counted]
    if (weights == np.round(weights)).all():
        weights = weights.astype(np.int64)
    order = np.argsort(-scores)
    scores = scores[order]
    last_of_tie = np.append(scores[1:] != scores[:-1], True)
    positive, negative = (
        np.concatenate([[0], np.cumsum(np.where(chosen, weights, 0)[order])[last_of_tie]])
        for chosen in (is_positive, ~is_positive)
    )
    return ROCPoints(np.concatenate([[np.inf], scores[last_of_tie]]), positive, negative)


@runtime_checkable
class Counted(Protocol):
    """What is counted at each threshold, from none to all."""

    @property
    def true_positives(self) -> Num[np.ndarray, " t"]: ...
    @property
    def false_positives(self) -> Num[np.ndarray, " t"]: ...


def hull_vertices(points: Counted) -> Int[np.ndarray, " v"]:
    """Return the positions of the vertices of the upper convex hull, from (0, 0) to (1, 1).

    Points on an edge are no vertices; for whole counts of any size this is decided exactly.
    """
    x, y = points.false_positives, points.true_positives
    largest = max(x[-1], y[-1])
    if not all((counts == np.floor(counts)).all() for counts in (x, y)):
        # Sums of weights that are equal but for rounding
        return upper_hull(x, y, (0.1 * ROUNDING * float(x[-1]), 0.1 * ROUNDING * float(y[-1])))
    if largest < 2**31:
        dtype = np.float64 if largest**2 < _EXACT else np.int64
        return upper_hull(x.astype(dtype), y.astype(dtype))
    # Python's integers do not overflow
    across, up = ([int(count) for count in counts.tolist()] for counts in (x, y))
    return _scan(np.arange(len(x)), across, up, (0, 0))


def upper_hull(
    x: Num[np.ndarray, " t"], y: Num[np.ndarray, " t"], rounding: Rounding = (0, 0)
) -> Int[np.ndarray, " v"]:
    """Return the positions of the vertices of the upper hull of distinct points.

    Both coordinates grow from point to point.
    """
    index = np.arange(len(x))
    for _ in range(_ROUNDS):
        # A point on or below the line between its neighbours is no vertex, whichever of them go
        is_vertex = np.ones(len(index), bool)
        run, rise = np.diff(x[index]), np.diff(y[index])
        is_vertex[1:-1] = _is_above(run[:-1], rise[:-1], run[1:], rise[1:], rounding)
        if is_vertex.all():
            return index
        index = index[is_vertex]
    return _scan(index, x.tolist(), y.tolist(), rounding)


def _is_above(run: Any, rise: Any, next_run: Any, next_rise: Any, rounding: Rounding) -> Any:
    """Return whether a point is above the line between its neighbours, beyond rounding."""
    of_x, of_y = rounding
    slack = of_x * (rise + next_rise) + of_y * (run + next_run)
    return rise * next_run - next_rise * run > slack


def _scan(
    index: Int[np.ndarray, " t"], x: Sequence[Any], y: Sequence[Any], rounding: Rounding
) -> Int[np.ndarray, " v"]:
    """Find the vertices from left to right, for data on which the rounds above make no headway."""
    vertices: list[int] = []
    for new in index.tolist():
        while len(vertices) > 1:
            before, last = vertices[-2:]
            run, rise = x[last] - x[before], y[last] - y[before]
            if _is_above(run, rise, x[new] - x[last], y[new] - y[last], rounding):
                break
            vertices.pop()
        vertices.append(new)
    return np.array(vertices)
