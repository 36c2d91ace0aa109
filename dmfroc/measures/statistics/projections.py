"""All pairs of classes, each ranked by a projection of the scores of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import AnyArray, PerRow, cumulative_sum, powers_of_two
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import rows_by_class, runs_of_ties, scores_to_add
from dmfroc.measures.statistics.pairs import segment_sum
from dmfroc.measures.statistics.statistic import Statistic

_PLACES_AT_ONCE = 1 << 16  # what a processor's cache holds


class ProjectedPairTable(NamedTuple):
    """Weights of pairs of observations in the right order, and of both classes of each pair."""

    won: Float[AnyArray, " pairs"]  # ties by half
    first: Float[AnyArray, " pairs"]
    second: Float[AnyArray, " pairs"]
    share: float  # of a pair in the mean of all


@dataclass(frozen=True, eq=False)
class ProjectedPairCounts(Statistic):
    """The observations of every pair of classes, ranked by the pair's projection.

    The pairs lie one after the other; positions count from the start of the first.
    """

    rows: Int[AnyArray, " m"]
    pair: Int[AnyArray, " m"]
    is_first: Bool[AnyArray, " m"]  # of the first class of the pair, which ranks high
    run_start: Int[AnyArray, " m"]  # of equal projections
    run_end: Int[AnyArray, " m"]
    starts: Int[AnyArray, " pairs_plus_1"]
    share: float

    def parts(self) -> list[ProjectedPairCounts]:
        blocks, first = [], 0
        while first < len(self.starts) - 1:
            start = self.starts[first]
            last = int(self.starts.searchsorted(start + _PLACES_AT_ONCE, "right")) - 1
            last = max(last, first + 1)
            places = slice(start, self.starts[last])
            blocks.append(
                ProjectedPairCounts(
                    rows=self.rows[places],
                    pair=self.pair[places] - np.int32(first),
                    is_first=self.is_first[places],
                    run_start=self.run_start[places] - start,
                    run_end=self.run_end[places] - start,
                    starts=self.starts[first : last + 1] - start,
                    share=self.share,
                )
            )
            first = last
        return blocks

    def count(self, weights: Float[AnyArray, " n"], xp: Any) -> ProjectedPairTable:
        first_weights, second_weights = self._by_class(weights, xp)
        first, _ = self._totals_and_below(first_weights, xp)
        second, below = self._totals_and_below(second_weights, xp)
        won = segment_sum(first_weights * below, self.starts[:-1], self.pair, xp)
        # Whole weights have exact sums; those of others can exceed the whole by rounding.
        return ProjectedPairTable(xp.minimum(won, first * second), first, second, self.share)

    def _by_class(
        self, weights: Float[AnyArray, " n"], xp: Any
    ) -> tuple[Float[AnyArray, " m"], Float[AnyArray, " m"]]:
        """Return the weights of the first class of each pair and those of the second, else 0."""
        ordered = weights[self.rows]
        return xp.where(self.is_first, ordered, 0), xp.where(self.is_first, 0, ordered)

    def _totals_and_below(
        self, ordered: Float[AnyArray, " m"], xp: Any
    ) -> tuple[Float[AnyArray, " pairs"], Float[AnyArray, " m"]]:
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
        d_places = derivatives.won[self.pair] * won + d_own
        return np.bincount(self.rows, d_places, len(weights))


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
    present, by_class = predictions.present, rows_by_class(predictions)
    bounds = np.concatenate([[0], np.cumsum(predictions.class_counts[present])])
    rows, is_first, projections, sizes = [], [], [], []
    for place, i in enumerate(present[:-1]):
        # All pairs of class i with a later one: the rows of class i for each, then those of it
        own, later = np.split(by_class[bounds[place] :], [bounds[place + 1] - bounds[place]])
        others, counts = present[place + 1 :], np.diff(bounds[place + 1 :])
        pair = np.repeat(np.arange(len(others), dtype=np.int16), len(own))
        pair = np.append(pair, np.repeat(np.arange(len(others), dtype=np.int16), counts))
        of_pairs = np.append(np.tile(own, len(others)), later)
        if matrix is None:
            projection = scores[of_pairs, i] - scores[of_pairs, others[pair]]
        else:
            slopes = (matrix[others] - matrix[i]).T
            projection = sum(x[of_pairs] * m[pair] for x, m in zip(scores.T, slopes, strict=True))
        order = np.argsort(projection)
        order = order[np.argsort(pair[order], kind="stable")]
        rows.append(of_pairs[order])
        is_first.append(order < len(own) * len(others))
        projections.append(projection[order])
        sizes += (len(own) + counts).tolist()
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
