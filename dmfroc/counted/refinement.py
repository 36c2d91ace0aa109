"""Exact values: the scores of those bins that matter, told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Shaped

from dmfroc.counted.batches import Batch
from dmfroc.counted.binned import HALF
from dmfroc.counted.counts import Counts
from dmfroc.counted.cuts import Grid, grid_of_columns

_SCORES_AT_ONCE = 1 << 25  # that are held in memory


@dataclass(frozen=True, eq=False)
class ScoresOfBins:
    """The scores in some bins of each column, with their classes and weights."""

    columns: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]  # of each, in parts

    def add(
        self, batch: Batch, classifier: str, grid: Grid, is_chosen: Bool[np.ndarray, "k bins"]
    ) -> None:
        """Add those of a batch, in place."""
        for column, scores in enumerate(batch.scores[classifier]):
            if is_chosen[column].any():
                rows = np.flatnonzero(is_chosen[column][grid.bins(column, scores)])
                part = scores[rows], batch.true[rows], batch.unit_weights[rows]
                self.columns[column].append(part)

    def merged(self, other: ScoresOfBins) -> ScoresOfBins:
        """Return the scores of both."""
        return ScoresOfBins([a + b for a, b in zip(self.columns, other.columns, strict=True)])

    def distinct(
        self, column: int, n_classes: int
    ) -> tuple[Shaped[np.ndarray, " v"], Float[np.ndarray, "v k"]]:
        """Return a column's distinct scores, ascending, and their weights by class."""
        scores, classes, weights = map(np.concatenate, zip(*self.columns[column], strict=True))
        values, place = np.unique(scores, return_inverse=True)
        place = place * n_classes + classes
        weights = np.bincount(place, weights, len(values) * n_classes)
        return values, weights.reshape(len(values), n_classes)


def portions(
    is_wanted: Bool[np.ndarray, "k bins"], sizes: Float[np.ndarray, "k bins"]
) -> Iterator[Bool[np.ndarray, "k bins"]]:
    """Divide bins such that the scores of each portion fit into memory."""
    up_to = np.cumsum(np.where(is_wanted, sizes, 0).ravel())
    portion = (up_to // _SCORES_AT_ONCE).reshape(is_wanted.shape)
    for number in np.unique(portion[is_wanted]):
        yield is_wanted & (portion == number)


def pairs_beyond_half(
    scores: ScoresOfBins, counts: Counts, grid: Grid, classifier: str
) -> Float[np.ndarray, "k k"]:
    """Return the pairs that are won within the bins, less what half of them would be."""
    k = len(counts.sizes)
    found = np.zeros((k, k))
    for column in range(k):
        if not scores.columns[column]:
            continue
        values, weights = scores.distinct(column, k)
        if not len(values):
            continue
        own, bins = weights[:, column], grid.bins(column, values)
        starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
        of_bins = np.add.reduceat(weights, starts)
        own_of_bins = of_bins[:, column]
        # Own weights above each score but in its bin
        up_to = np.cumsum(own)
        ends = np.repeat(np.cumsum(own_of_bins), np.diff(np.append(starts, len(values))))
        found[column] = (ends - up_to + HALF * own) @ weights - HALF * own_of_bins @ of_bins
    return found


@np.errstate(over="ignore", under="ignore")  # what follows 0 or the largest number
def refined(
    scores: ScoresOfBins,
    is_chosen: Bool[np.ndarray, "k bins"],
    counts: Counts,
    grid: Grid,
    classifier: str,
) -> tuple[Counts, Grid]:
    """Give every distinct score of the chosen bins a bin of its own."""
    k = len(counts.sizes)
    of_columns = [
        scores.distinct(column, k)
        if scores.columns[column]
        else (np.zeros(0, grid.cuts.dtype), np.zeros((0, k)))
        for column in range(k)
    ]
    columns = []
    for (values, _), cuts in zip(of_columns, grid.cuts, strict=True):
        ends = np.nextafter(values, np.inf, dtype=values.dtype)
        columns.append(np.unique(np.concatenate([cuts[np.isfinite(cuts)], values, ends])))
    finer = grid_of_columns(columns, grid.cuts.dtype)
    cells = np.zeros((k, finer.n_bins, k))
    for column, (values, weights) in enumerate(of_columns):
        # What is left lies in the part of the old bin that follows its old cut.
        old = np.where(is_chosen[column][:, None], 0.0, counts.cells[classifier][column])
        cuts = grid.cuts[column]
        n_cuts = np.isfinite(cuts).sum()
        at = np.append(0, finer.bins(column, cuts[:n_cuts]))
        cells[column, at] += old[: n_cuts + 1]
        cells[column, finer.bins(column, values)] += weights
    return replace(counts, cells=counts.cells | {classifier: cells}), finer
