"""Combinations of observations, one of each of any number of classes: which are put in order.

Like triples, but all combinations are gone through: what that takes grows with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.measures.statistics.triples import TripleTable

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
class TupleCounts(Statistic):
    """Which combinations are assigned to the right classes; those that tie count their share."""

    rows: tuple[Int[np.ndarray, " _m"], ...]  # of each class
    credit: Float[np.ndarray, " *sizes"]

    is_compiled: ClassVar[bool] = False

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> TripleTable:
        of_classes = [weights[rows] for rows in self.rows]
        totals = np.array([x.sum() for x in of_classes])
        return TripleTable(np.asarray(of_classes[0] @ self._won_beside(0, of_classes)), totals)

    def _won_beside(
        self, place: int, of_classes: list[Float[np.ndarray, " _m"]]
    ) -> Float[np.ndarray, " m"]:
        """Return what each member of a class wins together with all of the others."""
        won = np.moveaxis(self.credit, place, 0)
        for other in reversed([x for k, x in enumerate(of_classes) if k != place]):
            won = won @ other
        return won

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: TripleTable, derivatives: TripleTable
    ) -> Float[np.ndarray, " n"]:
        of_classes = [weights[rows] for rows in self.rows]
        gradient = np.zeros_like(weights)
        for place, rows in enumerate(self.rows):
            won = self._won_beside(place, of_classes)
            gradient[rows] = derivatives.won * won + derivatives.totals[place]
        return gradient


def tuple_counts(predictions: Predictions) -> TupleCounts:
    """Bind the combinations assigned by their sums of scores."""
    n_classes = predictions.n_classes
    rows = tuple(np.flatnonzero(predictions.true == k) for k in range(n_classes))
    scores = [
        predictions.scores[of_class]
        .astype(float)
        .reshape(*(-1 if k == axis else 1 for axis in range(n_classes)), n_classes)
        for k, of_class in enumerate(rows)
    ]

    def sums(assignment: tuple[int, ...]) -> Float[np.ndarray, " *sizes"]:
        total = scores[0][..., assignment[0]]
        for of_class, assigned in zip(scores[1:], assignment[1:], strict=True):
            total = total + of_class[..., assigned]
        return total

    right = sums(tuple(range(n_classes)))
    n_best, is_best = np.zeros(right.shape), np.ones(right.shape, bool)
    for assignment in permutations(range(n_classes)):
        total = sums(assignment)
        is_best &= total <= right
        n_best += total == right
    return TupleCounts(rows, is_best / n_best)
