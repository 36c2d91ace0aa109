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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray, PerRow, Scalar
from dmfroc._kit.threads import check_stopped, interruptible
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import scores_to_add
from dmfroc.measures.statistics.statistic import Statistic

PerMember = Float[np.ndarray, " _m"]
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

    rows: tuple[Int[np.ndarray, " _m"], ...]  # of each class

    is_compiled: ClassVar[bool] = False

    @abstractmethod
    def won(self, *weights: PerMember) -> Any:
        """Return the weight of the combinations in order, from the weights of each class."""

    @abstractmethod
    def derivatives(self, *weights: PerMember) -> Iterable[np.ndarray]:
        """Return the derivatives of that with respect to the weights of each class."""

    def count(self, weights: PerRow, xp: Any) -> TripleTable:
        by_class = [weights[rows] for rows in self.rows]
        totals = np.array([x.sum() for x in by_class])
        return TripleTable(np.asarray(self.won(*by_class)), totals)

    def pull_back(self, weights: PerRow, table: TripleTable, derivatives: TripleTable) -> PerRow:
        gradient = np.zeros_like(weights)
        d_won = self.derivatives(*(weights[rows] for rows in self.rows))
        for rows, d, d_total in zip(self.rows, d_won, derivatives.totals, strict=True):
            gradient[rows] = derivatives.won * d + d_total
        return gradient


def class_rows(predictions: Predictions) -> tuple[Int[np.ndarray, " _m"], ...]:
    """Return the observations of each class."""
    return tuple(np.flatnonzero(predictions.true == k) for k in range(predictions.n_classes))


def not_three_classes(predictions: Predictions) -> str | None:
    """Say so unless there are three classes, all with observations."""
    if predictions.n_classes == len(predictions.present) == 3:
        return None
    return (
        "is a volume under the ROC surface of three classes with observations, but there are "
        f"{predictions.n_classes} classes, {len(predictions.present)} of them with observations; "
        "pick three classes, or use auc_mu or hand_till"
    )


def no_table_of_triples(predictions: Predictions) -> str | None:
    """Say so unless there are three classes, and the table of the smallest one fits."""
    entries = int(predictions.class_counts.min()) ** 2
    if entries <= _LARGEST_TABLE:
        return not_three_classes(predictions)
    return (
        f"needs a table of the square of the smallest class, {entries:,} entries, and at most "
        f"{_LARGEST_TABLE:,} are allowed: take a sample of the observations"
    )


def _runs(values: Float[np.ndarray, " m"], queries: Float[np.ndarray, "*q"]) -> _Runs:
    """Return how many of the sorted values are below each query, and how many are not above."""
    return np.searchsorted(values, queries, "left"), np.searchsorted(values, queries, "right")


@dataclass(frozen=True, eq=False)
class NominalTripleCounts(VolumeCounts):
    """The smallest class c as a grid, and what the pairs of the classes a and b ask of it.

    ``a_to_b`` is by how much the score for a of each member of class a exceeds that for b, and so
    on.
    """

    classes: Int[np.ndarray, 3]  # a, b and c
    a_to_b: Float[np.ndarray, " a"]
    a_to_c: Float[np.ndarray, " a"]
    b_to_a: Float[np.ndarray, " b"]
    b_to_c: Float[np.ndarray, " b"]
    from_a: Float[np.ndarray, " c"]  # sorted: by how much the score for a exceeds that for c
    from_b: Float[np.ndarray, " c"]
    rank_from_a: Int[np.ndarray, " c"]
    rank_from_b: Int[np.ndarray, " c"]

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
        d_c = d_grid[::-1, ::-1][self.rank_from_a + 1, self.rank_from_b + 1]
        by_place = d_a, d_b, d_c
        return [by_place[place] for place in np.argsort(self.classes)]

    def _cumulative(self, c: Float[np.ndarray, " c"]) -> Float[np.ndarray, " entries"]:
        """Return the weight of class c below each pair of bounds."""
        grid = np.zeros((len(c) + 1, len(c) + 1))
        grid[self.rank_from_a + 1, self.rank_from_b + 1] = c
        return grid.cumsum(axis=0).cumsum(axis=1).ravel()

    def _pairs(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Go through the members of class b, some at a time, each with all of class a."""
        at_once = max(1, _PAIRS_AT_ONCE // len(self.a_to_b))
        for first in range(0, len(self.b_to_a), at_once):
            members = slice(first, first + at_once)
            check_stopped()
            yield members, *self._corners(members)

    def _corners(
        self, members: slice
    ) -> tuple[Int[np.ndarray, "4 b a"], Float[np.ndarray, "4 b a"]]:
        """Return what pairs with members of class b count: entries of the table and credits."""
        to_a, to_c = self.b_to_a[members, None], self.b_to_c[members, None]
        surplus = self.a_to_b + to_a
        # What draws a member of c to a, or to b, must not exceed the cheaper of two exchanges.
        # One is with the member that it would replace, the other goes around the circle.
        direct_a, around_a = np.broadcast_arrays(self.a_to_c, self.a_to_b + to_c)
        direct_b, around_b = np.broadcast_arrays(to_c, self.a_to_c + to_a)
        below_a, through_a = _runs(self.from_a, np.minimum(direct_a, around_a))
        below_b, through_b = _runs(self.from_b, np.minimum(direct_b, around_b))
        # Assignments as good as the right one share the credit.
        best = 1.0 + (surplus == 0)
        ties_a, ties_b = 1.0 + (direct_a == around_a), 1.0 + (direct_b == around_b)
        inside, edge_a, edge_b = 1 / best, 1 / (best + ties_a), 1 / (best + ties_b)
        corner = 1 / (best + ties_a + ties_b)
        credits = np.stack(
            [inside - edge_a - edge_b + corner, edge_a - corner, edge_b - corner, corner]
        )
        size = len(self.from_a) + 1
        places = np.stack(
            [
                below_a * size + below_b,
                through_a * size + below_b,
                below_a * size + through_b,
                through_a * size + through_b,
            ]
        )
        return places, np.where(surplus >= 0, credits, 0)


def nominal_triple_counts(predictions: Predictions) -> NominalTripleCounts:
    """Bind the triples assigned by their sums of scores."""
    # The smallest class makes the table, whose size is quadratic.
    classes = np.argsort(predictions.class_counts, kind="stable")[::-1]
    a, b, c = classes
    scores = scores_to_add(predictions)
    rows = class_rows(predictions)
    a_scores, b_scores, c_scores = (scores[rows[k]] for k in classes)
    from_a, from_b = c_scores[:, a] - c_scores[:, c], c_scores[:, b] - c_scores[:, c]

    def rank(x: Float[np.ndarray, " c"]) -> Int[np.ndarray, " c"]:
        return np.argsort(np.argsort(x, kind="stable"), kind="stable")

    return NominalTripleCounts(
        rows=rows,
        classes=classes,
        a_to_b=a_scores[:, a] - a_scores[:, b],
        a_to_c=a_scores[:, a] - a_scores[:, c],
        b_to_a=b_scores[:, b] - b_scores[:, a],
        b_to_c=b_scores[:, b] - b_scores[:, c],
        from_a=np.sort(from_a),
        from_b=np.sort(from_b),
        rank_from_a=rank(from_a),
        rank_from_b=rank(from_b),
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

    places: tuple[Int[np.ndarray, " _m"], ...]  # of each class among the distinct scores, rising
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

    @staticmethod
    def _chains(runs: _WeightsOfRuns, n_classes: int, n_values: int) -> Float[np.ndarray, "c w"]:
        """Return the weight of chains of the first classes below each score, and of all scores."""
        below = np.ones((n_classes + 1, n_values + 1))
        for k in range(1, n_classes + 1):
            ending = sum(below[j, :-1] * runs[j, k] for j in range(k) if (j, k) in runs)
            below[k] = np.append(0, np.cumsum(ending))
        return below

    def won(self, *weights: PerMember) -> Any:
        runs = self._runs(self._at_values(weights))
        return self._chains(runs, len(weights), self.n_values)[-1, -1]

    def derivatives(self, *weights: PerMember) -> Iterator[np.ndarray]:
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
