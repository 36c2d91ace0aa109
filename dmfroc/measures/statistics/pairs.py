"""All ordered pairs of classes: how often class i has the higher score in column i.

Each score has its place among the sorted scores of its column's own class. The weight of the
pairs of observations in the right order follows from cumulative weights of that class. It is
bilinear: linear in the weights of each of the two classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Shaped

from dmfroc._arrays import AnyArray, cumulative_sum, map_rows, segment_sum, sum_at
from dmfroc._threads import parallel
from dmfroc.measures.statistics.layout import group_by_class, run_ends
from dmfroc.measures.statistics.shared import once_per_predictions
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.predictions import Predictions


class PairTable(NamedTuple):
    """Weights of pairs of observations, and of classes; classes are those that occur."""

    won: Float[AnyArray, "columns c"]  # by column's class i and class j, ties by half
    totals: Float[AnyArray, " c"]
    predicted: Float[AnyArray, " c"]  # by hard label; 0 where there are none
    columns: Int[AnyArray, " columns"]  # the class i of each row


@dataclass(frozen=True, eq=False)
class PairCounts(Statistic):
    """Where each score falls among the sorted scores of its column's own class.

    A score between two neighbours, or inside a run of ties, is an entry of one table per class;
    an entry stands for the mean of the cumulative weights at the sorted positions ``lower`` and
    ``upper``, which counts ties by half. Observations lie grouped by class.
    """

    rows: Int[AnyArray, " n"]  # grouped position -> observation
    row_class: Int[AnyArray, " n"]
    sorted_rows: Int[AnyArray, " n"]  # own-class rank -> observation
    starts: Int[AnyArray, " c"]
    stops: Int[AnyArray, " c"]
    lower: Int[AnyArray, " entries"]
    upper: Int[AnyArray, " entries"]
    entry_class: Int[AnyArray, " entries"]
    columns: Int[AnyArray, " columns"]
    entry: Int[AnyArray, "columns n"]
    predicted: Int[AnyArray, " n"]  # place among the classes; past the last for any other

    def count(self, weights: Float[AnyArray, " n"], xp: Any) -> PairTable:
        n_classes, grouped = len(self.starts), weights[self.rows]
        totals = segment_sum(grouped, self.starts, self.row_class, xp)
        above = self._above(weights, xp)

        def of_column(entry: Int[AnyArray, " n"]) -> Float[AnyArray, " c"]:
            return segment_sum(grouped * above[entry], self.starts, self.row_class, xp)

        won = map_rows(of_column, self.entry, xp=xp)
        # Whole weights have exact sums; those of others can exceed the whole by rounding.
        won = xp.minimum(won, totals[self.columns][:, None] * totals)
        predicted = sum_at(self.predicted, weights, n_classes, xp)
        return PairTable(won, totals, predicted, self.columns)

    def _above(self, weights: Float[AnyArray, " n"], xp: Any) -> Float[AnyArray, " entries"]:
        """Return the weight of the own class above each entry."""
        cumulative = cumulative_sum(weights[self.sorted_rows], xp)
        middle = (cumulative[self.lower] + cumulative[self.upper]) / 2
        return cumulative[self.stops][self.entry_class] - middle

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: PairTable, derivatives: PairTable
    ) -> Float[np.ndarray, " n"]:
        """Count an observation as one of j, by what is above it, and of i, by what is below."""
        above, grouped = self._above(weights, np), weights[self.rows]
        sizes, is_counted = self.stops - self.starts, (weights == 1).all()
        d_grouped = np.repeat(derivatives.totals, sizes)
        d_sorted, lock = np.zeros_like(weights), Lock()

        def add_column(position: int) -> None:
            column, entry = self.columns[position], self.entry[position]
            start, stop = self.starts[column], self.stops[column]
            first, last = 2 * start + column, 2 * stop + column + 1  # entries of the own class
            factor = np.repeat(derivatives.won[position], sizes)
            won = factor * above[entry]
            with lock:
                np.add(d_grouped, won, out=d_grouped)
            counted = factor if is_counted else factor * grouped
            half = np.bincount(entry - first, counted, last - first) / 2
            places = (x[first:last] - start for x in (self.lower, self.upper))
            d_below = sum(np.bincount(x, half, stop - start + 1) for x in places)
            d_sorted[start:stop] = np.cumsum(d_below)[:-1]

        parallel(add_column, range(len(self.columns)), self.entry.size)
        gradient = np.empty_like(weights)
        gradient[self.sorted_rows] = d_sorted
        gradient[self.rows] += d_grouped
        return gradient + np.append(derivatives.predicted, 0)[self.predicted]


@once_per_predictions
def pair_counts(predictions: Predictions) -> PairCounts:
    """Bind the pairs of all classes that occur."""
    return pair_counts_of(predictions, np.arange(len(predictions.present)))


def pair_counts_of(predictions: Predictions, columns: Int[np.ndarray, " columns"]) -> PairCounts:
    """Bind the pairs whose first class is one of ``columns``, places among those that occur."""
    blocks, present = group_by_class(predictions), predictions.present
    n, rows, sizes = blocks.n_observations, blocks.row_order, np.diff(blocks.starts)
    starts, stops = blocks.starts[:-1], blocks.starts[1:]
    own_places, own_ends = (np.empty(n, np.int32) for _ in range(2))
    entry = np.empty((len(columns), n), np.int32)
    position = np.full(len(present), -1)
    position[columns] = np.arange(len(columns))

    def rank(place: int) -> None:
        scores, start, stop = blocks.scores[place], starts[place], stops[place]
        order = np.argsort(scores[start:stop])
        own = scores[start:stop][order]
        ends = run_ends(own, np.array([0]))
        own_places[start:stop], own_ends[start:stop] = start + order, start + ends
        if position[place] < 0:
            return
        below = own.searchsorted(scores)  # own scores below each score
        up_to = below.copy()  # and up to the end of those that equal it
        is_tied = np.flatnonzero(own.take(below, mode="clip") == scores)
        up_to[is_tied] = ends[below[is_tied]]
        below += up_to
        below += 2 * start + place
        entry[position[place]] = below

    parallel(rank, range(len(present)), entry.size)
    lower, upper, entry_class = _entries(own_ends, starts, stops)
    return PairCounts(
        rows=rows,
        row_class=np.repeat(np.arange(len(present), dtype=np.int32), sizes),
        sorted_rows=rows[own_places],
        starts=starts,
        stops=stops,
        lower=lower,
        upper=upper,
        entry_class=entry_class,
        columns=columns.astype(np.int32),
        entry=entry,
        predicted=_places_of_predicted(predictions),
    )


def _entries(
    ends: Int[np.ndarray, " n"], starts: Int[np.ndarray, " c"], stops: Int[np.ndarray, " c"]
) -> tuple[Shaped[np.ndarray, " entries"], ...]:
    """Return the two sorted positions that each entry stands for, and its class."""
    n, n_classes = len(ends), len(starts)
    entry_class = np.repeat(np.arange(n_classes, dtype=np.int32), 2 * (stops - starts) + 1)
    doubled = np.arange(2 * n + n_classes, dtype=np.int32) - entry_class
    lower, upper = doubled // 2, (doubled + 1) // 2
    firsts = np.flatnonzero(np.append(True, ends[1:] != ends[:-1]))
    last = ends[firsts]
    of_run = firsts + last + np.searchsorted(starts, firsts, "right") - 1
    lower[of_run], upper[of_run] = firsts, last
    return lower, upper, entry_class


def _places_of_predicted(predictions: Predictions) -> Int[np.ndarray, " n"]:
    n_present = len(predictions.present)
    if predictions.predicted is None:
        return np.full(predictions.n_observations, n_present, np.int32)
    place = np.full(predictions.n_classes, n_present, np.int32)
    place[predictions.present] = np.arange(n_present)
    return place[predictions.predicted]
