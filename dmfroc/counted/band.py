"""The band of the multiclass ROC curve from counts: influences of drawn rows stand for all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from dmfroc._kit.arrays import value_and_pull_back
from dmfroc._kit.threads import parallel_map
from dmfroc.counted.batches import Batch
from dmfroc.counted.bound import BoundCounts
from dmfroc.counted.sample import RowSample
from dmfroc.inference.band import CurveRates, class_shares
from dmfroc.inference.units import Units
from dmfroc.multiclass.curve import rates_at_thresholds
from dmfroc.multiclass.rates import CurveOptions

_ROWS_OF_CLASS = 1 << 13  # whose spread is known to one per cent


def rates_of_counts(
    bound: BoundCounts, options: CurveOptions, drawn: RowSample, strata: Units
) -> CurveRates:
    """Return the rates at the thresholds of all pairs, with the influences of drawn rows on them.

    The strata are those of all rows. A row stands for several: the square of its influence counts
    as often as the class has rows for each one drawn.
    """
    statistic = bound.rates(options)[1]
    if len(bound.present) == 2:  # they have one curve
        statistic = replace(statistic, cell_weights=np.ones((1, 2, 1)))
    weights = bound.cells.ravel()
    table = statistic.count(weights, np)
    values, pull_back = value_and_pull_back(rates_at_thresholds(1), table)
    rows = _rows_alike(drawn, bound.counts.sizes)
    batch = drawn.batch
    true = batch.true[rows]
    cells = _cells_of_rows(bound, batch, rows)
    n_drawn = np.bincount(true, minlength=len(bound.counts.sizes))
    factor = batch.unit_weights[rows] * np.sqrt(bound.counts.sizes / np.maximum(n_drawn, 1))[true]
    influences = np.empty((*values.shape, len(rows)))

    def find(place: tuple[int, ...]) -> None:
        d_values = np.zeros_like(values)
        d_values[place] = 1
        of_cells = statistic.pull_back(weights, table, pull_back(d_values))
        influences[place] = of_cells.take(cells).sum(axis=0) * factor

    parallel_map(find, list(np.ndindex(values.shape)), "Band")
    shares = class_shares(statistic.counted, statistic.cell_weights, len(bound.present))
    stratum = np.zeros(len(true), int) if len(strata.sizes) == 1 else _places(bound)[true]
    units = replace(
        strata, of_row=np.arange(len(true)), stratum=stratum, sizes=np.bincount(stratum)
    )
    return CurveRates(values, influences, shares, units)


def _rows_alike(drawn: RowSample, sizes: Int[np.ndarray, " k"]) -> Int[np.ndarray, " m"]:
    """Return places of the distinct rows such that each that is returned stands for as many."""
    found = []
    for k in np.flatnonzero(sizes):
        rows = np.flatnonzero(drawn.batch.true == k)
        up_to = np.cumsum(drawn.count[rows])
        n = min(int(up_to[-1]), _ROWS_OF_CLASS)
        found.append(rows[up_to.searchsorted((np.arange(n) + 0.5) * up_to[-1] / n, "right")])
    return np.concatenate(found)


def _cells_of_rows(
    bound: BoundCounts, batch: Batch, rows: Int[np.ndarray, " m"]
) -> Int[np.ndarray, "c m"]:
    """Return in which of all cells, by column, bin and class, the scores of some rows are."""
    _, n_bins, n_classes = bound.cells.shape
    scores = batch.scores[bound.classifier]
    return np.stack(
        [
            (place * n_bins + bound.grid.bins(column, scores[column][rows])) * n_classes
            + _places(bound)[batch.true[rows]]
            for place, column in enumerate(bound.present.tolist())
        ]
    )


def _places(bound: BoundCounts) -> Int[np.ndarray, " k"]:
    """Return the place of each class among those that occur."""
    return np.cumsum(bound.counts.sizes > 0) - 1
