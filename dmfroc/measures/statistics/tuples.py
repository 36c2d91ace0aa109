"""Combinations of observations, one of each class: which of them are put in order.

A triple of three classes is put in order if the assignment of its members to the classes with the
largest sum of scores is the right one. That is so exactly if some offsets of the three scores
classify all three members correctly (the sums are those of an assignment problem, and offsets are
its dual prices). For two fixed members of a triple that condition bounds two coordinates of the
third: members of the third class below both bounds are counted from a table of cumulative weights.

Of more classes all combinations are gone through: what that takes grows with their number. By a
single score that increases from class to class they are counted along it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray, PerRow, Scalar
from dmfroc._kit.threads import check_stopped, interruptible
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import scores_to_add
from dmfroc.measures.statistics.statistic import Statistic

PerMember = Float[np.ndarray, " _m"]
IntPerMember = Int[np.ndarray, " _m"]
"""Numbers of the members of a class, one for each."""

_LARGEST_TABLE = 2**27  # entries: one GiB
_PAIRS_AT_ONCE = 2**17  # what a processor's cache holds
_MOST_SUMS = 2**28  # of scores: a few seconds

type _Runs = tuple[Int[np.ndarray, " *q"], Int[np.ndarray, " *q"]]


class TripleTable(NamedTuple):
    """Weight of the triples in order, with a share of those that tie, and of classes."""

    won: Scalar
    totals: Float[AnyArray, " classes"]


@dataclass(frozen=True, eq=False)
class VolumeCounts(Statistic):
    """Combinations of one member of each class: their weight in order is linear in each class."""

    rows: tuple[IntPerMember, ...]  # of each class

    is_compiled = False

    @abstractmethod
    def won(self, *weights: PerMember) -> Any:
        """Return the weight of the combinations in order, from the weights of each class."""

    @abstractmethod
    def derivatives(self, *weights: PerMember) -> Iterable[np.ndarray]:
        """Return the derivatives of that with respect to the weights of each class."""

    def count(self, weights: PerRow, xp: Any) -> TripleTable:
        by_class = [weights[rows] for rows in self.rows]
        return TripleTable(np.asarray(self.won(*by_class)), np.array([x.sum() for x in by_class]))

    def pull_back(self, weights: PerRow, table: TripleTable, derivatives: TripleTable) -> PerRow:
        gradient = np.zeros_like(weights)
        d_won = self.derivatives(*(weights[rows] for rows in self.rows))
        for rows, d, d_total in zip(self.rows, d_won, derivatives.totals, strict=True):
            gradient[rows] = derivatives.won * d + d_total
        return gradient


def class_rows(predictions: Predictions) -> tuple[IntPerMember, ...]:
    """Return the observations of each class."""
    return tuple(np.flatnonzero(predictions.true == k) for k in range(predictions.n_classes))


def no_table_of_triples(predictions: Predictions) -> str | None:
    """Say so unless there are three classes, and the table of the smallest one fits."""
    entries = int(predictions.class_counts.min()) ** 2
    if entries > _LARGEST_TABLE:
        return (
            f"needs a table of the square of the smallest class, {entries:,} entries, and at most "
            f"{_LARGEST_TABLE:,} are allowed: take a sample of the observations"
        )
    if predictions.n_classes == len(predictions.present) == 3:
        return None
    return (
        "is a volume under the ROC surface of three classes with observations, but there are "
        f"{predictions.n_classes} classes, {len(predictions.present)} of them with observations; "
        "pick three classes, or use auc_mu or hand_till"
    )


def _runs(values: Float[np.ndarray, " m"], queries: Float[np.ndarray, "*q"]) -> _Runs:
    """Return how many of the sorted values are below each query, and how many are not above."""
    return np.searchsorted(values, queries, "left"), np.searchsorted(values, queries, "right")


@dataclass(frozen=True, eq=False)
class NominalTripleCounts(VolumeCounts):
    """The smallest class c as a grid, and what the pairs of the classes a and b ask of it.

    ``of_a`` is the score for a of each member of class a, less those for b and c. ``of_b`` is the
    score for b of the members of b, less those for a and c. ``of_c`` are the scores for a and b of
    the members of c, less that for c, both sorted; ``ranks`` are the places of the members.
    """

    classes: Int[np.ndarray, 3]  # a, b and c
    of_a: Float[np.ndarray, "2 a"]
    of_b: Float[np.ndarray, "2 b"]
    of_c: Float[np.ndarray, "2 c"]
    ranks: Int[np.ndarray, "2 c"]

    @interruptible
    def won(self, *weights: PerMember) -> Any:
        a, b, c = (weights[k] for k in self.classes)
        cumulative = self._cumulative(c)
        return sum(
            b[members] @ (credits * cumulative[places]).sum(axis=0) @ a
            for members, places, credits in self._pairs()
        )

    @interruptible
    def derivatives(self, *weights: PerMember) -> Iterable[np.ndarray]:
        a, b, c = (weights[k] for k in self.classes)
        cumulative, size = self._cumulative(c), len(c) + 1
        d_a, d_b, d_cumulative = np.zeros_like(a), np.zeros_like(b), np.zeros(size**2)
        for members, places, credits in self._pairs():
            share_won = (credits * cumulative[places]).sum(axis=0)
            d_a += b[members] @ share_won
            d_b[members] = share_won @ a
            d_pairs = b[members][:, None] * a * credits
            d_cumulative += np.bincount(places.ravel(), d_pairs.ravel(), size**2)
        d_grid = d_cumulative.reshape(size, size)[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)
        by_place = d_a, d_b, d_grid[::-1, ::-1][tuple(self.ranks + 1)]
        return [by_place[place] for place in np.argsort(self.classes)]

    def _cumulative(self, c: PerMember) -> Float[np.ndarray, " entries"]:
        """Return the weight of class c below each pair of bounds."""
        grid = np.zeros((len(c) + 1, len(c) + 1))
        grid[tuple(self.ranks + 1)] = c
        return grid.cumsum(axis=0).cumsum(axis=1).ravel()

    def _pairs(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Go through the members of class b, some at a time, each with all of class a."""
        at_once = max(1, _PAIRS_AT_ONCE // self.of_a.shape[1])
        for first in range(0, self.of_b.shape[1], at_once):
            members = slice(first, first + at_once)
            check_stopped()
            yield members, *self._corners(members)

    def _corners(
        self, members: slice
    ) -> tuple[Int[np.ndarray, "4 b a"], Float[np.ndarray, "4 b a"]]:
        """Return what pairs with members of class b count: entries of the table and credits."""
        (a_to_b, a_to_c), (b_to_a, b_to_c) = self.of_a, self.of_b[:, members, None]
        surplus = a_to_b + b_to_a
        # What draws a member of c to a, or to b, must not exceed the cheaper of two exchanges.
        # One is with the member that it would replace, the other goes around the circle.
        exchanges = (a_to_c, a_to_b + b_to_c), (b_to_c, a_to_c + b_to_a)
        cheaper = [np.minimum(*both) for both in exchanges]
        of_a, of_b = (_runs(x, most) for x, most in zip(self.of_c, cheaper, strict=True))
        # Assignments as good as the right one share the credit.
        best = 1.0 + (surplus == 0)
        ties_a, ties_b = (1.0 + (direct == around) for direct, around in exchanges)
        inside, edge_a, edge_b = 1 / best, 1 / (best + ties_a), 1 / (best + ties_b)
        corner = 1 / (best + ties_a + ties_b)
        credits = np.stack(
            [inside - edge_a - edge_b + corner, edge_a - corner, edge_b - corner, corner]
        )
        size = self.of_c.shape[1] + 1
        places = np.stack([x * size + y for y in of_b for x in of_a])
        return places, np.where(surplus >= 0, credits, 0)


def nominal_triple_counts(predictions: Predictions) -> NominalTripleCounts:
    """Bind the triples assigned by their sums of scores."""
    # The smallest class makes the table, whose size is quadratic.
    classes = np.argsort(predictions.class_counts, kind="stable")[::-1]
    a, b, c = classes
    scores, rows = scores_to_add(predictions), class_rows(predictions)
    of_a, of_b, of_c = (scores[rows[k]].T for k in classes)
    above_c = of_c[[a, b]] - of_c[c]
    order = np.argsort(above_c, axis=1, kind="stable")
    return NominalTripleCounts(
        rows=rows,
        classes=classes,
        of_a=of_a[a] - of_a[[b, c]],
        of_b=of_b[b] - of_b[[a, c]],
        of_c=np.take_along_axis(above_c, order, axis=1),
        ranks=np.argsort(order, axis=1, kind="stable"),
    )


type _WeightsOfRuns = dict[tuple[int, int], Float[np.ndarray, " v"]]


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

    def won(self, *weights: PerMember) -> Any:
        return weights[0] @ next(iter(self.derivatives(*weights)))

    def derivatives(self, *weights: PerMember) -> Iterator[np.ndarray]:
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

    places: tuple[IntPerMember, ...]  # of each class among the distinct scores, rising
    n_values: int

    def _runs(self, at: Float[np.ndarray, "k v"]) -> _WeightsOfRuns:
        """Return the weight of every run of classes at each score, where there are any."""
        runs: _WeightsOfRuns = {}
        for first in range(len(at)):
            product = np.ones(self.n_values)
            for last in range(first + 1, len(at) + 1):
                product = product * at[last - 1] / (last - first)
                if not product.any():
                    break
                runs[first, last] = product
        return runs

    def _at_values(self, weights: tuple[PerMember, ...]) -> Float[np.ndarray, "k v"]:
        pairs = zip(self.places, weights, strict=True)
        return np.stack([np.bincount(places, w, self.n_values) for places, w in pairs])

    def _chains(self, runs: _WeightsOfRuns) -> Float[np.ndarray, "c w"]:
        """Return the weight of chains of the first classes below each score, and of all scores."""
        below = np.ones((len(self.places) + 1, self.n_values + 1))
        for k in range(1, len(below)):
            ending = sum(below[j, :-1] * runs[j, k] for j in range(k) if (j, k) in runs)
            below[k] = np.append(0, np.cumsum(ending))
        return below

    def won(self, *weights: PerMember) -> Any:
        return self._chains(self._runs(self._at_values(weights)))[-1, -1]

    def derivatives(self, *weights: PerMember) -> Iterator[np.ndarray]:
        k, at = len(weights), self._at_values(weights)
        runs = self._runs(at)
        below = self._chains(runs)[:, :-1]
        mirrored = {(k - last, k - j): run[::-1] for (j, last), run in runs.items()}
        above = self._chains(mirrored)[::-1, :-1][:, ::-1]
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
