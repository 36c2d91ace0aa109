"""Combinations of observations, one of each of any number of classes: which are put in order.

By sums of scores, like triples, but all combinations are gone through: what that takes grows with
their number. By a single score that increases from class to class they are counted along it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import scores_to_add
from dmfroc.measures.statistics.triples import VolumeCounts, class_rows

_MOST_SUMS = 2**28  # of scores: a few seconds

type Runs = dict[tuple[int, int], Float[np.ndarray, " v"]]


def too_many_tuples(predictions: Predictions) -> str | None:
    """Say so if the sums of all combinations are too many, or of classes that do not occur."""
    n_classes = predictions.n_classes
    if (absent := absent_classes(predictions)) is not None:
        return absent
    n_sums = prod(map(int, predictions.class_counts)) * factorial(n_classes)
    if n_sums <= _MOST_SUMS:
        return None
    return (
        f"of {n_classes} classes goes through all combinations of one observation of each class "
        f"and all assignments of them to the classes. These are {n_sums:,} sums of scores, and "
        f"at most {_MOST_SUMS:,} are allowed: take a sample of the observations, or use auc_mu or "
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
    to_add = scores_to_add(predictions)
    scores = [
        to_add[members].reshape(*(-1 if k == axis else 1 for axis in range(n_classes)), n_classes)
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


@dataclass(frozen=True, eq=False)
class OrderedCounts(VolumeCounts):
    """Which combinations have scores in the order of their classes.

    Members that tie are in order for one of their permutations. So combinations are counted as
    chains of runs: classes j to k - 1 tie at a score and count ``1 / (k - j)!``.
    """

    places: tuple[Int[np.ndarray, " _m"], ...]  # of each class among the distinct scores, rising
    n_values: int

    def _runs(self, at: Float[np.ndarray, "k v"]) -> Runs:
        """Return the weight of every run of classes at each score, where there are any."""
        runs: Runs = {}
        for first in range(len(at)):
            product = np.ones(self.n_values)
            for last in range(first + 1, len(at) + 1):
                product = product * at[last - 1] / (last - first)
                if not product.any():
                    break
                runs[first, last] = product
        return runs

    def _at_values(self, weights: tuple[Float[np.ndarray, " _m"], ...]) -> Float[np.ndarray, "k v"]:
        pairs = zip(self.places, weights, strict=True)
        return np.stack([np.bincount(places, w, self.n_values) for places, w in pairs])

    @staticmethod
    def _chains(runs: Runs, n_classes: int, n_values: int) -> Float[np.ndarray, "c w"]:
        """Return the weight of chains of the first classes below each score, and of all scores."""
        below = np.ones((n_classes + 1, n_values + 1))
        for k in range(1, n_classes + 1):
            ending = sum(below[j, :-1] * runs[j, k] for j in range(k) if (j, k) in runs)
            below[k] = np.append(0, np.cumsum(ending))
        return below

    def won(self, *weights: Float[np.ndarray, " _m"]) -> Any:
        runs = self._runs(self._at_values(weights))
        return self._chains(runs, len(weights), self.n_values)[-1, -1]

    def derivatives(self, *weights: Float[np.ndarray, " _m"]) -> Iterator[np.ndarray]:
        k, at = len(weights), self._at_values(weights)
        runs = self._runs(at)
        below = self._chains(runs, k, self.n_values)[:, :-1]
        mirrored = {(k - last, k - j): run[::-1] for (j, last), run in runs.items()}
        above = self._chains(mirrored, k, self.n_values)[::-1, :-1][:, ::-1]
        for c, places in enumerate(self.places):
            derivative = np.zeros(self.n_values)
            for j, last in runs:
                if j <= c < last:
                    others = np.delete(at[j:last], c - j, axis=0).prod(axis=0)
                    derivative += below[j] * above[last] * others / factorial(last - j)
            yield derivative[places]


def ordered_counts(predictions: Predictions) -> OrderedCounts:
    """Bind the combinations that are ordered by the sum of the scores, times the class's place."""
    k = predictions.n_classes
    factors = np.arange(k) - (k - 1) / 2  # of three classes that of the middle one is 0
    used = factors != 0
    value = sum(
        f * x for f, x in zip(factors[used], scores_to_add(predictions).T[used], strict=True)
    )
    distinct, place = np.unique(value, return_inverse=True)
    rows = class_rows(predictions)
    return OrderedCounts(rows, tuple(place[members] for members in rows), len(distinct))


def absent_classes(predictions: Predictions) -> str | None:
    """Say so unless all classes have observations."""
    n_classes, n_present = predictions.n_classes, len(predictions.present)
    if n_present == n_classes:
        return None
    return (
        f"needs observations of all {n_classes} classes, but {n_present} have any: leave out the "
        "labels and score columns of the others"
    )
