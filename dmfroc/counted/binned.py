"""Statistics whose observations are the cells of counts: by column, bin and class.

They have the tables of the statistics of single observations, so that every summary applies
to them, and pull derivatives back to the cells: a row's influence is a look-up in each column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc.measures.statistics.curves import CurveCounts
from dmfroc.measures.statistics.pairs import PairTable
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.multiclass.rates import RateTable

PerCell = Float[np.ndarray, " cells"]
"""One number for each cell of counts."""

HALF = 0.5  # what a pair of equal scores counts


def above_each(cells: Float[np.ndarray, " bins *c"]) -> Float[np.ndarray, " bins *c"]:
    """Return the sums over the bins above each."""
    return cells.sum(axis=0) - np.cumsum(cells, axis=0)


@dataclass(frozen=True, eq=False)
class BinnedPairs(Statistic):
    """Pairs of classes from counts; the weights are those of the cells, then of the hard labels.

    ``ties`` is what a pair within a bin counts, by column and bin.
    """

    shape: tuple[int, int, int]  # columns of classes that occur, bins, classes that occur
    columns: Int[np.ndarray, " columns"]
    is_present: Bool[np.ndarray, " k"]
    ties: Float[np.ndarray, "columns bins"]

    def _parts(
        self, weights: PerCell
    ) -> tuple[Float[np.ndarray, "c bins c"], Float[np.ndarray, "k k"]]:
        n_cells, k = int(np.prod(self.shape)), len(self.is_present)
        return weights[:n_cells].reshape(self.shape), weights[n_cells:].reshape(k, k)

    def count(self, weights: PerCell, xp: Any) -> PairTable:
        cells, hard = self._parts(weights)
        totals = cells[self.columns[0]].sum(axis=0)
        won = np.stack([self._credit(cells, p) @ cells[i] for p, i in enumerate(self.columns)])
        won = np.clip(won, 0, totals[self.columns][:, None] * totals)
        predicted = hard.sum(axis=1)[self.is_present]
        return PairTable(won, totals, predicted, self.columns, len(self.columns))

    def _credit(
        self, cells: Float[np.ndarray, "c bins c"], position: int
    ) -> Float[np.ndarray, " bins"]:
        """Return the weight of a column's own class above each bin, and its share within."""
        own = cells[self.columns[position], :, self.columns[position]]
        return above_each(own) + self.ties[position] * own

    def pull_back(self, weights: PerCell, table: PairTable, derivatives: PairTable) -> PerCell:
        (cells, _), gradient = self._parts(weights), np.zeros_like(weights)
        d_cells, d_hard = self._parts(gradient)
        for position, i in enumerate(self.columns):
            d_won = derivatives.won[position]
            d_cells[i] += self._credit(cells, position)[:, None] * d_won
            d_credit = cells[i] @ d_won
            d_cells[i, :, i] += np.cumsum(d_credit) - (1 - self.ties[position]) * d_credit
        d_cells[self.columns[0]] += derivatives.totals
        d_hard[self.is_present] += derivatives.predicted[:, None]
        return gradient


def curves_of_cells(
    is_atom: Bool[np.ndarray, "columns bins"],
    n_positives: Int[np.ndarray, " columns"],
    positives_first: bool | None = None,
) -> CurveCounts:
    """Return the curves of counts by column, bin, and positives (first) or negatives.

    Scores of a bin are one threshold. If ``positives_first`` is given they are not, unless equal:
    the best (True) and the worst (False) curve that the counts allow.
    """
    n_columns, n_bins = is_atom.shape
    rows = np.arange(n_columns * 2 * n_bins, dtype=np.int32).reshape(n_columns, n_bins, 2)[:, ::-1]
    if positives_first is False:
        rows = rows[..., ::-1]
    rows = rows.reshape(n_columns, -1)  # from the highest bin to the lowest
    points = np.arange(2 * n_bins + 1, dtype=np.int32)
    above = np.tile(points + points % 2, (n_columns, 1))
    if positives_first is not None:
        above[:, 1::2] -= ~is_atom[:, ::-1]
    return CurveCounts(rows, rows % 2 == 0, above, 1 / n_columns, n_positives)


@dataclass(frozen=True, eq=False)
class BinnedRates(Statistic):
    """Rates of all pairs from counts: whole bins above each threshold, and a share of its own.

    Pairs are those of all columns or of the last ones, ordered as in
    `dmfroc.multiclass.rates.reference_classes`. Places of thresholds are numbers of bins below
    them, with the share of a bin as a fraction.
    """

    shape: tuple[int, int, int]  # columns, bins, classes; all of classes that occur
    counted: Int[np.ndarray, "c c_minus_1 2"]
    places: Float[np.ndarray, "c c_minus_1 #2 t"]  # for both classes, or for each
    cell_weights: Float[np.ndarray, "q 2 1"]
    shrinkage: Float[np.ndarray, ""]

    def _places(self, i: int) -> tuple[Int[np.ndarray, "c_minus_1 2 t"], Any]:
        """Return the cells of a column's thresholds, by bin and class, and their shares below."""
        bins = np.minimum(self.places[i].astype(int), self.shape[1] - 1)
        return bins * self.shape[2] + self.counted[i][..., None], self.places[i] - bins

    def count(self, weights: PerCell, xp: Any) -> RateTable:
        cells = weights.reshape(self.shape)
        counts = np.empty((*self.counted.shape, self.places.shape[-1]))
        for i, of_column in enumerate(cells[-len(counts) :]):
            place, below = self._places(i)
            counts[i] = above_each(of_column).take(place) + (1 - below) * of_column.take(place)
        totals = cells[0].sum(axis=0)
        counts = np.clip(counts, 0.0, totals[self.counted][..., None])
        return RateTable(counts, totals, self.counted, self.cell_weights, self.shrinkage)

    def pull_back(self, weights: PerCell, table: RateTable, derivatives: RateTable) -> PerCell:
        gradient = np.zeros(self.shape)
        own = gradient[-len(self.counted) :]
        for i, (of_column, d_counts) in enumerate(zip(own, derivatives.counts, strict=True)):
            place, below = self._places(i)
            at, cut = (
                np.bincount(place.ravel(), x.ravel(), of_column.size).reshape(self.shape[1:])
                for x in (d_counts, below * d_counts)
            )
            of_column[:] = np.cumsum(at, axis=0) - cut
        gradient[0] += derivatives.totals
        return gradient.ravel()
