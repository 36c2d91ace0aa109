"""The points of a binary ROC curve and their upper convex hull, exact where weights are counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from dmfroc.predictions import Predictions

ROUNDING = 1e-12
"""Differences this small, relative to the range of a quantity, are rounding of weights or costs."""


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
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    last_of_tie = np.append(scores[1:] != scores[:-1], True)
    positive, negative = (
        np.concatenate([[0], np.cumsum(np.where(chosen, weights, 0)[order])[last_of_tie]])
        for chosen in (is_positive, ~is_positive)
    )
    return ROCPoints(np.concatenate([[np.inf], scores[last_of_tie]]), positive, negative)


def hull_vertices(points: ROCPoints) -> Int[np.ndarray, " v"]:
    """Return the positions of the vertices of the upper convex hull, from (0, 0) to (1, 1).

    Points on an edge are no vertices.
    """
    x, y = points.false_positives.tolist(), points.true_positives.tolist()
    is_exact = points.true_positives.dtype.kind == "i"  # Python's integers do not overflow
    slack = 0 if is_exact else ROUNDING * points.positives * points.negatives
    vertices: list[int] = []
    for new in range(len(x)):
        while len(vertices) > 1:
            before, last = vertices[-2], vertices[-1]
            rise = (y[last] - y[before]) * (x[new] - x[last])
            if rise - (y[new] - y[last]) * (x[last] - x[before]) > slack:
                break
            vertices.pop()
        vertices.append(new)
    return np.array(vertices)
