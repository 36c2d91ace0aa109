"""All ordered pairs of classes: how often class i has the higher score in column i.

Each score has its place among the sorted scores of its column's own class. The weight of the
pairs of observations in the right order follows from cumulative weights of that class. It is
bilinear: linear in the weights of each of the two classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Integer

from dmfroc._kit.arrays import (
    AnyArray,
    AnyPerRow,
    IntPerRow,
    PerRow,
    cumulative_sum,
    map_rows,
    powers_of_two,
    sum_at,
)
from dmfroc._kit.threads import parallel
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import group_by_class, runs_of_ties
from dmfroc.measures.statistics.statistic import Statistic, once_per_predictions

_PerClass = Float[AnyArray, " c"]  # of those that occur

_ROWS_AT_ONCE = 1 << 15  # what a processor's cache holds
_MOST_ROWS_AT_ONCE = 1 << 20  # which bounds the memory beside the statistic
_PAIRS_AT_ONCE = 1 << 20  # of classes, which bounds that of tables


class PairTable(NamedTuple):
    """Weights of pairs of observations, and of classes; classes are those that occur."""

    won: Float[AnyArray, "columns c"]  # by column's class i and class j, ties by half
    totals: _PerClass
    predicted: _PerClass  # by hard label; 0 where there are none
    columns: Int[AnyArray, " columns"]  # the class i of each row
    n_columns: int  # of this table and of those of other columns, whose summaries are added to its


@dataclass(frozen=True, eq=False)
class PairCounts(Statistic):
    """Where each score falls among the sorted scores of its column's own class.

    Observations lie grouped by class. A score between the places k - 1 and k of the sorted scores
    of all classes has the entry 2k. One that equals that at place k has the entry 2k + 1. One that
    equals those of a run of ties, half of them counted, has the sum of the run's ends.
    """

    rows: Int[AnyArray, " n"]  # grouped position -> observation
    row_class: Integer[AnyArray, " n"]
    sorted_rows: Int[AnyArray, " n"]  # own-class rank -> observation
    starts: Int[AnyArray, " c"]
    stops: Int[AnyArray, " c"]
    tied_from: Int[AnyArray, " runs"]  # first place of each run of ties
    tied_to: Int[AnyArray, " runs"]  # and the place after its last
    columns: Int[AnyArray, " columns"]
    entry: Int[AnyArray, "columns n"]
    predicted: Int[AnyArray, " n"]  # place among the classes; past the last for any other
    n_columns: int  # of all parts

    def parts(self) -> list[PairCounts]:
        at_once = max(_PAIRS_AT_ONCE // len(self.starts), 1)
        if at_once >= len(self.columns):
            return [self]
        some = [slice(first, first + at_once) for first in range(0, len(self.columns), at_once)]
        return [replace(self, columns=self.columns[x], entry=self.entry[x]) for x in some]

    def count(self, weights: AnyPerRow, xp: Any) -> PairTable:
        n_classes, grouped = len(self.starts), weights[self.rows]
        totals = segment_sum(grouped, self.starts, self.row_class, xp)
        powers, below = self._below(weights, totals, xp)
        own_total = _weight_below(below, 2 * self.stops[self.columns], xp)
        grouped = None if below is None else grouped

        def count_column(column: tuple[Any, ...]) -> _PerClass:
            entry, own_total = column
            won = _won(own_total, below, entry, xp)
            if below is not None:
                won *= grouped
            return segment_sum(won, self.starts, self.row_class, xp)

        won = map_rows(count_column, self.entry, own_total, xp=xp)
        if powers is not None:
            won *= powers[self.columns][:, None]
        # Whole weights have exact sums; those of others can exceed the whole by rounding.
        won = xp.minimum(won, totals[self.columns][:, None] * totals)
        predicted = sum_at(self.predicted, weights, n_classes, xp)
        return PairTable(won, totals, predicted, self.columns, self.n_columns)

    def _below(
        self, weights: AnyPerRow, totals: _PerClass, xp: Any
    ) -> tuple[_PerClass | None, Float[AnyArray, " entries"] | None]:
        """Return the weight of all sorted scores below each entry, ties by half, after powers.

        With powers of two, that of each class is divided by its own. Where all weights are one it
        is half the entry, and nothing is returned.
        """
        if xp is np and (weights == 1).all():
            return None, None
        powers = powers_of_two(totals, weights, xp)
        ordered = weights[self.sorted_rows]
        if powers is not None:
            ordered = ordered / powers[self.row_class]
        before = cumulative_sum(ordered, xp)
        tied = (before[self.tied_from] + before[self.tied_to]) / 2
        if xp is not np:
            middle = (before[:-1] + before[1:]) / 2
            both = xp.append(xp.stack([before[:-1], middle], axis=1).ravel(), before[-1])
            return powers, both.at[self.tied_from + self.tied_to].set(tied)
        below = np.empty(2 * len(before) - 1)
        below[::2], below[1::2] = before, before[:-1]
        below[1::2] += before[1:]
        below[1::2] /= 2
        below[self.tied_from + self.tied_to] = tied
        return powers, below

    def pull_back(self, weights: PerRow, table: PairTable, derivatives: PairTable) -> PerRow:
        """Count an observation as one of j, by what is above it, and of i, by what is below."""
        powers, below = self._below(weights, table.totals, np)
        grouped = None if below is None else weights[self.rows]
        d_grouped, lock = np.repeat(derivatives.totals, self.stops - self.starts), Lock()
        n, gradient = len(weights), np.zeros_like(weights)

        def add_column(position: int) -> None:
            column = self.columns[position]
            start, stop = int(self.starts[column]), int(self.stops[column])
            d_won, d_entries = derivatives.won[position], np.zeros(2 * (stop - start) + 1)
            # Several times as many as entries, over which the sums of each part are added up
            at_once = min(max(4 * (stop - start), _ROWS_AT_ONCE), _MOST_ROWS_AT_ONCE)
            for first in range(0, n, at_once):
                some = slice(first, first + at_once)
                entry = self.entry[position, some]
                factor = d_won.take(self.row_class[some])
                won = _won(_weight_below(below, np.array(2 * stop), np), below, entry, np)
                if powers is not None:
                    won *= powers[column]
                won *= factor
                with lock:
                    d_grouped[some] += won
                if grouped is not None:
                    factor *= grouped[some]
                d_entries += np.bincount(entry - np.int32(2 * start), factor, len(d_entries))
            d_places = np.cumsum(self._to_places(d_entries, start, stop))[:-1]
            gradient[self.sorted_rows[start:stop]] = d_places

        parallel(add_column, range(len(self.columns)), self.entry.size)
        of_predicted = np.append(derivatives.predicted, 0)
        for first in range(0, n, _MOST_ROWS_AT_ONCE):
            some = slice(first, first + _MOST_ROWS_AT_ONCE)
            gradient[self.rows[some]] += d_grouped[some]
            gradient[some] += of_predicted[self.predicted[some]]
        return gradient

    def _to_places(
        self, d_entries: Float[np.ndarray, " entries"], start: int, stop: int
    ) -> Float[np.ndarray, " places"]:
        """Give what concerns the entries of a class to the places they are the means of."""
        has_ties = len(self.tied_from) > 0
        if has_ties:
            runs = slice(*self.tied_from.searchsorted([start, stop]))
            tied_from, tied_to = self.tied_from[runs] - start, self.tied_to[runs] - start
            halves = d_entries[tied_from + tied_to] / 2
            d_entries[tied_from + tied_to] = 0
        d_places, between = d_entries[::2].copy(), d_entries[1::2] / 2
        d_places[:-1] += between
        d_places[1:] += between
        if has_ties:
            d_places[tied_from] += halves
            d_places[tied_to] += halves
        return d_places


def _weight_below(
    below: Float[AnyArray, " entries"] | None, entry: Int[AnyArray, "*rows"], xp: Any
) -> Float[AnyArray, "*rows"]:
    if below is None:
        return entry / 2
    return below.take(entry) if xp is np else below[entry]


def _won(own_total: Any, below: Any, entry: AnyArray, xp: Any) -> Float[AnyArray, " rows"]:
    """Return the weight of a column's own class above each entry."""
    lost = _weight_below(below, entry, xp)
    return np.subtract(own_total, lost, out=lost) if xp is np else own_total - lost


def segment_sum(
    x: AnyPerRow,
    starts: Int[AnyArray, " segments"],
    segment: Integer[AnyArray, " n"],
    xp: Any,
) -> Float[AnyArray, " segments"]:
    """Add up the numbers of each segment; segments lie one after the other, none is empty."""
    if xp is np:
        return np.add.reduceat(x, starts)
    return xp.zeros(len(starts)).at[segment].add(x, indices_are_sorted=True)


@once_per_predictions
def pair_counts(predictions: Predictions) -> PairCounts:
    """Bind the pairs of all classes that occur."""
    return pair_counts_of(predictions, np.arange(len(predictions.present)))


def pair_counts_of(predictions: Predictions, columns: Int[np.ndarray, " columns"]) -> PairCounts:
    """Bind the pairs whose first class is one of ``columns``, places among those that occur."""
    blocks, present = group_by_class(predictions), predictions.present
    rows, sizes = blocks.row_order, np.diff(blocks.starts)
    starts, stops, n = blocks.starts[:-1], blocks.starts[1:], len(rows)
    own, own_places = np.empty(n, blocks.scores.dtype), np.empty(n, np.int32)
    # Where they are as long, entries take the place of the scores.
    is_in_place = blocks.scores.itemsize == 4 and len(columns) == len(present)
    entry = blocks.scores if is_in_place else np.empty((len(columns), n), np.int32)

    def sort(place: int) -> None:
        start, stop = starts[place], stops[place]
        order = start + np.argsort(blocks.scores[place, start:stop])
        own_places[start:stop], own[start:stop] = order, blocks.scores[place][order]

    def rank(position: int) -> None:
        place = columns[position]
        scores, start, stop = blocks.scores[place], starts[place], stops[place]
        of_class, ends = own[start:stop], own_ends[start:stop]
        entry[position, own_places[start:stop]] = of_own[start:stop]
        for first in [*range(0, start, _ROWS_AT_ONCE), *range(stop, n, _ROWS_AT_ONCE)]:
            some = slice(first, min(first + _ROWS_AT_ONCE, start if first < start else n))
            below = of_class.searchsorted(scores[some])  # own scores below each score
            up_to = below + start  # and up to the end of those that equal it
            is_tied = np.flatnonzero(of_class.take(below, mode="clip") == scores[some])
            up_to[is_tied] = ends[below[is_tied]]
            below += up_to
            below += start
            entry[position, some] = below

    parallel(sort, range(len(present)), n)
    firsts, ends = runs_of_ties(own, starts)
    own_ends, of_own = (np.repeat(x, ends - firsts) for x in (ends, firsts + ends))
    parallel(rank, range(len(columns)), entry.size)
    is_run = ends - firsts > 1
    return PairCounts(
        rows=rows,
        row_class=np.repeat(np.arange(len(present), dtype=np.min_scalar_type(len(present))), sizes),
        sorted_rows=rows[own_places],
        starts=starts,
        stops=stops,
        tied_from=firsts[is_run],
        tied_to=ends[is_run],
        columns=columns.astype(np.int32),
        entry=entry,
        predicted=_places_of_predicted(predictions),
        n_columns=len(columns),
    )


def _places_of_predicted(predictions: Predictions) -> IntPerRow:
    n_present = len(predictions.present)
    if predictions.predicted is None:
        return np.full(len(predictions.true), n_present, np.int32)
    if n_present == predictions.n_classes:
        return predictions.predicted
    place = np.full(predictions.n_classes, n_present, np.int32)
    place[predictions.present] = np.arange(n_present)
    return place[predictions.predicted]
