"""Combinations of observations, one of each of any number of classes: which are put in order.

Like triples, but all combinations are gone through: what that takes grows with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.triples import VolumeCounts, class_rows

_MOST_SUMS = 2**28  # of scores: a few seconds


def too_many_tuples(predictions: Predictions) -> str | None:
    """Say so if the sums of all combinations are too many, or of classes that do not occur."""
    n_classes = predictions.n_classes
    if len(predictions.present) < n_classes:
        return f"needs observations of all {n_classes} classes; pick those that occur"
    n_sums = prod(map(int, predictions.class_counts)) * factorial(n_classes)
    if n_sums <= _MOST_SUMS:
        return None
    return (
        f"of {n_classes} classes goes through all combinations of one observation of each class "
        f"and all assignments of them to the classes, {n_sums:,} sums of scores here, and at most "
        f"{_MOST_SUMS:,} are allowed: take a sample of the observations, or use auc_mu or "
        "hand_till, which have no limit"
    )


@dataclass(frozen=True, eq=False)
class TupleCounts(VolumeCounts):
    """Which combinations are assigned to the right classes; those that tie count their share."""

    credit: Float[np.ndarray, " *sizes"]

    def won(self, *weights: Float[np.ndarray, " _m"]) -> Any:
        return weights[0] @ next(iter(self.derivatives(*weights)))

    def derivatives(self, *weights: Float[np.ndarray, " _m"]) -> Iterator[np.ndarray]:
        for place in range(len(weights)):
            won = np.moveaxis(self.credit, place, 0)
            for other in reversed([x for k, x in enumerate(weights) if k != place]):
                won = won @ other
            yield won


def tuple_counts(predictions: Predictions) -> TupleCounts:
    """Bind the combinations assigned by their sums of scores."""
    n_classes = predictions.n_classes
    rows = class_rows(predictions)
    scores = [
        predictions.scores[members]
        .astype(float)
        .reshape(*(-1 if k == axis else 1 for axis in range(n_classes)), n_classes)
        for k, members in enumerate(rows)
    ]

    def sums(assignment: tuple[int, ...]) -> Float[np.ndarray, " *sizes"]:
        total = scores[0][..., assignment[0]]
        for members, assigned in zip(scores[1:], assignment[1:], strict=True):
            total = total + members[..., assigned]
        return total

    right = sums(tuple(range(n_classes)))
    n_best, is_best = np.zeros(right.shape), np.ones(right.shape, bool)
    for assignment in permutations(range(n_classes)):
        total = sums(assignment)
        is_best &= total <= right
        n_best += total == right
    return TupleCounts(rows, is_best / n_best)
