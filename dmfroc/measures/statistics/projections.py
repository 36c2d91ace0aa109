"""All pairs of classes, each ranked by a projection of the scores of its own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import AnyArray, AnyPerRow, PerRow, cumulative_sum, powers_of_two
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import rows_by_class, runs_of_ties, scores_to_add
from dmfroc.measures.statistics.pairs import segment_sum
from dmfroc.measures.statistics.statistic import Statistic

Places = Int[AnyArray, " m"]
"""One number for each place among the observations of all pairs."""

PerPlace = Float[AnyArray, " m"]
PerPair = Float[AnyArray, " pairs"]

_PLACES_AT_ONCE = 1 << 16  # what a processor's cache holds


class ProjectedPairTable(NamedTuple):
    """Weights of pairs of observations in the right order, and of both classes of each pair."""

    won: PerPair  # ties by half
    first: PerPair
    second: PerPair
    share: float  # of a pair in the mean of all


@dataclass(frozen=True, eq=False)
class ProjectedPairCounts(Statistic):
    """The observations of every pair of classes, ranked by the pair's projection.

    The pairs lie one after the other; positions count from the start of the first.
    """

    rows: Places
    pair: Places
    is_first: Bool[AnyArray, " m"]  # of the first class of the pair, which ranks high
    run_start: Places  # of equal projections
    run_end: Places
    starts: Int[AnyArray, " pairs_plus_1"]
    share: float

    def parts(self) -> list[ProjectedPairCounts]:
        bounds = [0]
        while (first := bounds[-1]) < len(self.starts) - 1:
            last = int(self.starts.searchsorted(self.starts[first] + _PLACES_AT_ONCE, "right")) - 1
            bounds.append(max(last, first + 1))
        return [self._some(first, last) for first, last in itertools.pairwise(bounds)]

    def _some(self, first: int, last: int) -> ProjectedPairCounts:
        start, stop = self.starts[[first, last]]
        each = self.rows, self.pair, self.is_first, self.run_start, self.run_end
        rows, pair, is_first, *runs = (x[start:stop] for x in each)
        run_start, run_end, starts = (x - start for x in (*runs, self.starts[first : last + 1]))
        pair = pair - np.int32(first)
        return ProjectedPairCounts(rows, pair, is_first, run_start, run_end, starts, self.share)

    def count(self, weights: AnyPerRow, xp: Any) -> ProjectedPairTable:
        first_weights, second_weights = self._by_class(weights, xp)
        first, _ = self._totals_and_below(first_weights, xp)
        second, below = self._totals_and_below(second_weights, xp)
        won = segment_sum(first_weights * below, self.starts[:-1], self.pair, xp)
        # Whole weights have exact sums; those of others can exceed the whole by rounding.
        return ProjectedPairTable(xp.minimum(won, first * second), first, second, self.share)

    def _by_class(self, weights: AnyPerRow, xp: Any) -> tuple[PerPlace, PerPlace]:
        """Return the weights of the first class of each pair and those of the second, else 0."""
        ordered = weights[self.rows]
        return xp.where(self.is_first, ordered, 0), xp.where(self.is_first, 0, ordered)

    def _totals_and_below(self, ordered: PerPlace, xp: Any) -> tuple[PerPair, PerPlace]:
        """Return what each pair weighs, and what of it is below each place, ties by half."""
        totals = segment_sum(ordered, self.starts[:-1], self.pair, xp)
        powers = powers_of_two(totals, ordered, xp)
        if powers is not None:
            ordered = ordered / powers[self.pair]
        sums = cumulative_sum(ordered, xp)
        middle = (sums[self.run_start] + sums[self.run_end]) / 2
        below = middle - sums[self.starts][self.pair]
        return totals, below if powers is None else below * powers[self.pair]

    def pull_back(
        self, weights: PerRow, table: ProjectedPairTable, derivatives: ProjectedPairTable
    ) -> PerRow:
        """Add what one of the first class wins below it, and one of the second loses above it."""
        first_weights, second_weights = self._by_class(weights, np)
        first, first_below = self._totals_and_below(first_weights, np)
        _, second_below = self._totals_and_below(second_weights, np)
        won = np.where(self.is_first, second_below, first[self.pair] - first_below)
        d_own = np.where(self.is_first, derivatives.first[self.pair], derivatives.second[self.pair])
        return np.bincount(self.rows, derivatives.won[self.pair] * won + d_own, len(weights))


def projected_pair_counts(
    predictions: Predictions, partition: tuple[tuple[float, ...], ...] | None = None
) -> ProjectedPairCounts:
    """Sort the projections of every pair of classes, by a partition matrix or by differences."""
    matrix = None if partition is None else np.array(partition)
    if matrix is not None and len(matrix) != predictions.n_classes:
        raise ValueError(
            f"partition must have one row and column per class, {predictions.n_classes}, but "
            f"its shape is {matrix.shape}"
        )
    scores = scores_to_add(predictions)
    by_class = np.split(rows_by_class(predictions), np.cumsum(predictions.class_counts))
    rows, is_first, projections = [], [], []
    for first, second in itertools.combinations(predictions.present.tolist(), 2):
        of_pair = np.append(by_class[first], by_class[second])
        if matrix is None:
            projection = scores[of_pair, first] - scores[of_pair, second]
        else:
            slopes = matrix[second] - matrix[first]
            projection = sum(x[of_pair] * slope for x, slope in zip(scores.T, slopes, strict=True))
        order = np.argsort(projection)
        rows.append(of_pair[order])
        is_first.append(order < len(by_class[first]))
        projections.append(projection[order])
    sizes = list(map(len, rows))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    runs = runs_of_ties(np.concatenate(projections), starts[:-1])
    run_start, run_end = (np.repeat(x, runs[1] - runs[0]) for x in runs)
    return ProjectedPairCounts(
        rows=np.concatenate(rows),
        pair=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        is_first=np.concatenate(is_first),
        run_start=run_start,
        run_end=run_end,
        starts=starts,
        share=1 / len(sizes),
    )
