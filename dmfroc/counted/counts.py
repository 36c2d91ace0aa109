"""Counts by column, bin and class, between cut points: what every measure of a scan comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from dmfroc._kit.arrays import IntPerClass, IntPerRow, PerClass, PerRow, begins
from dmfroc._kit.memory import check_memory
from dmfroc._kit.threads import parallel_map
from dmfroc.counted.batches import Batch, changed_error
from dmfroc.counted.sample import RowSample
from dmfroc.measures.statistics.layout import to_ordered_integers

_MOST_BINS = 1 << 16
_FEWEST_BINS = 1 << 8
_CELLS = 1 << 25  # of one table, classes by bins by classes, for many classes
_BITS_OF_CELL = 18  # as many cells of first guesses fit a processor's cache
_AT_ONCE = 1 << 14  # scores, likewise

Cuts = Shaped[np.ndarray, " cuts"]
"""Where the bins of one column end, of the type of its scores."""


def default_n_bins(n_classes: int) -> int:
    """Return 65,536 bins, and fewer where a table of them would be large."""
    fitting = max(_CELLS // n_classes**2, 1)
    return max(_FEWEST_BINS, min(_MOST_BINS, 1 << (fitting.bit_length() - 1)))


@dataclass(frozen=True, eq=False)
class Grid:
    """Cut points of the score columns of one classifier.

    Bin b of a column holds the scores from its cut b - 1 up to, but not including, its cut b.
    Where there are fewer cuts, the rest is infinite.

    Attributes
    ----------
    cuts : numpy.ndarray of shape (K, bins - 1)
        Non-decreasing in each row, of the type of the scores.
    """

    cuts: Shaped[np.ndarray, "k cuts"]

    @property
    def n_bins(self) -> int:
        """Number of bins of each column."""
        return self.cuts.shape[1] + 1

    @np.errstate(over="ignore", under="ignore")  # what follows 0 or the largest number
    def is_atom(self) -> Bool[np.ndarray, "k bins"]:
        """Return which bins hold a single number: their scores are truly equal."""
        first, end = self.cuts[:, :-1], self.cuts[:, 1:]
        is_single = (np.nextafter(first, np.inf) == end) & np.isfinite(end)
        return np.pad(is_single, [(0, 0), (1, 1)])

    def bins(self, column: int, scores: PerRow) -> IntPerRow:
        """Return the bin of each score of a column.

        Raises
        ------
        ValueError
            If the scores are of another type than the cuts.
        """
        if scores.dtype != self.cuts.dtype:
            raise changed_error(f"it read scores of type {self.cuts.dtype}, now {scores.dtype}")
        return self._finders[column](scores)

    @cached_property
    def _finders(self) -> list[Finder]:
        return [Finder.of(cuts) for cuts in self.cuts]


def grid_from_sample(sample: RowSample, classifier: str, n_bins: int) -> Grid:
    """Choose cuts at quantiles of a sample in which a column's own class counts by half.

    Then bins are narrow where the scores of both overlap, on which the error of pairs within a
    bin depends. Whatever is as frequent as a bin should be gets a bin of its own.
    """
    scores = sample.batch.scores[classifier]
    sizes = sample.sizes
    others = max(int(np.count_nonzero(sizes)) - 1, 1)

    def cuts_of_column(column: int) -> Cuts:
        share = np.where(np.arange(sample.n_classes) == column, 1.0, 1.0 / others)
        weight = (share / np.maximum(sizes, 1))[sample.batch.true] * sample.count
        return _quantile_cuts(scores[column], weight, n_bins)

    columns = parallel_map(cuts_of_column, range(sample.n_classes))
    most = max(map(len, columns))
    rows = [np.pad(cuts, (0, most - len(cuts)), constant_values=np.inf) for cuts in columns]
    return Grid(np.stack(rows))


@np.errstate(over="ignore", under="ignore")  # what follows 0 or the largest number
def _quantile_cuts(
    values: Float[np.ndarray, " m"], weights: Float[np.ndarray, " m"], n_bins: int
) -> Cuts:
    order = np.argsort(values)
    values, up_to = values[order], np.cumsum(weights[order])
    distinct = values[begins(values)]
    if 2 * len(distinct) <= n_bins:
        chosen = is_heavy = distinct
    else:
        levels = np.arange(1, n_bins) / n_bins * up_to[-1]
        places = np.minimum(up_to.searchsorted(levels), len(values) - 1)
        chosen, times = np.unique(values[places], return_counts=True)
        is_heavy = chosen[times > 1]
    return np.union1d(chosen, np.nextafter(is_heavy, np.inf, dtype=values.dtype))


def grid_from_user(cuts: Any, n_classes: int, dtype: Any) -> Grid:
    """Check cuts that the user gives: for all columns alike, or a row for each.

    Raises
    ------
    ValueError
        If they do not increase up to infinite ones, or there is not one row for each class.
    """
    array = np.asarray(cuts, dtype)
    if array.ndim == 1:
        array = np.broadcast_to(array, (n_classes, len(array)))
    if array.ndim != 2 or len(array) != n_classes or not array.shape[1]:
        raise ValueError(
            f"cuts must have one row for each of the {n_classes} classes, or be one-dimensional "
            f"for all of them, but the shape is {np.shape(cuts)}"
        )
    ends = np.append(array, np.full((n_classes, 1), np.inf, dtype), axis=1)
    with np.errstate(invalid="ignore"):
        is_in_order = (np.diff(ends, axis=1) > 0) | (ends[:, 1:] == np.inf)
    if np.isnan(array).any() or (array == -np.inf).any() or not is_in_order.all():
        raise ValueError(
            "cuts must be finite, or infinite at the end of a row, and increase along each row as "
            f"numbers of the scores' type, {np.dtype(dtype)}"
        )
    return Grid(np.array(array))


@dataclass(frozen=True, eq=False)
class Finder:
    """Cut points, and how many of them lie before each of many cells of numbers.

    A score's cell follows from the first bits of its representation; only the few cut points
    inside the cell are left to be bisected.
    """

    cuts: Cuts  # with infinite ones at the end, as many as are skipped
    before: Int[np.ndarray, " cells"]
    lowest: np.integer
    shift: np.integer
    n_steps: int

    @classmethod
    def of(cls, cuts: Cuts) -> Finder:
        """Prepare to find bins among cut points; infinite ones at their end count for nothing."""
        cuts = cuts[np.isfinite(cuts)]
        if not len(cuts):
            cuts = np.full(1, np.inf, cuts.dtype)
        bits = to_ordered_integers(cuts.copy())
        from_lowest = (bits - bits[0]).view(f"u{bits.itemsize}")
        shift = max(int(from_lowest[-1]).bit_length() - _BITS_OF_CELL, 0)
        cell = from_lowest >> from_lowest.dtype.type(shift)
        before = np.searchsorted(cell, np.arange(int(cell[-1]) + 2, dtype=cell.dtype))
        n_steps = int(np.diff(before).max()).bit_length()
        padded = np.append(cuts, np.full(1 << n_steps, np.inf, cuts.dtype))
        counts = before[:-1].astype(np.int32)
        return cls(padded, counts, bits[0], from_lowest.dtype.type(shift), n_steps)

    def __call__(self, scores: Shaped[np.ndarray, " n"]) -> IntPerRow:
        """Return how many cut points each score reaches."""
        bins = np.empty(len(scores), np.int32)
        last = self.shift.dtype.type(len(self.before) - 1)
        for first in range(0, len(scores), _AT_ONCE):
            some = scores[first : first + _AT_ONCE]
            bits = to_ordered_integers(some.copy())
            np.maximum(bits, self.lowest, out=bits)
            bits -= self.lowest
            cell = bits.view(self.shift.dtype)
            cell >>= self.shift
            np.minimum(cell, last, out=cell)
            place = self.before.take(cell)
            for power in reversed(range(self.n_steps)):
                step = np.int32(1 << power)
                place += (self.cuts.take(place + (step - np.int32(1))) <= some) * step
            bins[first : first + _AT_ONCE] = place
        return bins


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums over observations; those of two parts are added.

    Attributes
    ----------
    sizes : numpy.ndarray of int, shape (K,)
        Observations of each class.
    totals, squares : numpy.ndarray of shape (K,)
        Sums of their weights, and of the squares.
    cells : dict of numpy.ndarray of shape (K, bins, K)
        By classifier: weights by score column, bin and class.
    confusion : dict of numpy.ndarray of shape (K, K)
        Weights by predicted and observed class; zeros where there are no hard labels.
    extent : dict of numpy.ndarray of shape (2, K)
        Smallest and largest score of each column.
    """

    sizes: IntPerClass
    totals: PerClass
    squares: PerClass
    cells: dict[str, Float[np.ndarray, "k bins k"]]
    confusion: dict[str, Float[np.ndarray, "k k"]]
    extent: dict[str, Shaped[np.ndarray, "2 k"]]

    @classmethod
    def empty(cls, grids: dict[str, Grid]) -> Counts:
        """Return the counts of nothing."""
        [k] = {len(grid.cuts) for grid in grids.values()}
        n_bins = sum(grid.n_bins for grid in grids.values())
        check_memory(
            8 * k * k * n_bins, f"the table of {k} classes and {n_bins} bins", "choose fewer n_bins"
        )
        ends = np.array([np.inf, -np.inf])[:, None]
        return cls(
            np.zeros(k, np.int64),
            np.zeros(k),
            np.zeros(k),
            {name: np.zeros((k, grid.n_bins, k)) for name, grid in grids.items()},
            {name: np.zeros((k, k)) for name in grids},
            {name: np.tile(ends, (1, k)).astype(grid.cuts.dtype) for name, grid in grids.items()},
        )

    def add(self, batch: Batch, grids: dict[str, Grid]) -> None:
        """Count a batch, in place."""
        k = len(self.sizes)
        weights: Any = 1.0 if batch.weights is None else batch.weights
        np.add.at(self.sizes, batch.true, 1)
        np.add.at(self.totals, batch.true, weights)
        np.add.at(self.squares, batch.true, np.square(weights))
        for name, grid in grids.items():
            scores, predicted = batch.scores[name], batch.predicted[name]
            for column in range(k):
                place = grid.bins(column, scores[column])
                place *= np.int32(k)
                place += batch.true
                np.add.at(self.cells[name][column].reshape(-1), place, weights)
            if predicted is not None:
                np.add.at(self.confusion[name].reshape(-1), predicted * k + batch.true, weights)
            low, high = self.extent[name]
            np.minimum(low, scores.min(axis=1, initial=np.inf), out=low)
            np.maximum(high, scores.max(axis=1, initial=-np.inf), out=high)

    def merged(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(
            self.sizes + other.sizes,
            self.totals + other.totals,
            self.squares + other.squares,
            {name: x + other.cells[name] for name, x in self.cells.items()},
            {name: x + other.confusion[name] for name, x in self.confusion.items()},
            {
                name: np.stack([np.minimum(x[0], y[0]), np.maximum(x[1], y[1])])
                for name, x in self.extent.items()
                for y in [other.extent[name]]
            },
        )
