"""Sets of one case of each class: how often the case of a class has the largest score for it.

For a case of class i that is the product over all other classes of the share of their cases with a
smaller score in column i, so that no set has to be formed. Cases that tie for the first place share
it. In a random order of cases that tie, the share of a class is that below the case plus u times
that which ties. The mean over u in [0, 1] is a polynomial's, which few points give exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc._kit.threads import parallel_map
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.pairs import PairCounts, pair_counts
from dmfroc.measures.statistics.statistic import Statistic, Sums, once_per_predictions

_NUMBERS_AT_ONCE = 1 << 20

_OfOthers = Float[np.ndarray, "o m"]  # by other class and distinct score

_legendre = lru_cache(np.polynomial.legendre.leggauss)


class _Shares(NamedTuple):
    """What a class shows in its own column: shares of the other classes at its distinct scores."""

    below: _OfOthers
    level: _OfOthers
    weight: Float[np.ndarray, " m"]  # of the cases of the class
    cell: IntPerRow  # of all observations, by class and by what they are below
    sums: Float[np.ndarray, "c cells"]


@dataclass(frozen=True, eq=False)
class WinCounts(Statistic):
    """The places of all scores among those of their column's own class, as pairs have them.

    Its table has the share of the sets that each class wins.
    """

    pairs: PairCounts
    firsts: Int[np.ndarray, " runs"]  # first place of each run of equal scores of a class
    ends: Int[np.ndarray, " runs"]

    is_compiled = False

    def count(self, weights: PerRow, xp: Any) -> Sums:
        def share(place: int) -> float:
            shares = self._shares(weights, place)
            won = shares.below.prod(axis=0)
            for tied, _, w, at_places in _through_ties(shares):
                won[tied] = w @ at_places.prod(axis=1)
            return float(shares.weight @ won / shares.weight.sum())

        return Sums(np.array(parallel_map(share, range(len(self.pairs.starts)))))

    def _runs(self, place: int) -> tuple[IntPerRow, IntPerRow]:
        """Return the first place of each run of a class among its scores, and its end."""
        start, stop = self.pairs.starts[place], self.pairs.stops[place]
        runs = slice(*self.firsts.searchsorted([start, stop]))
        return self.firsts[runs] - start, self.ends[runs] - start

    def _shares(self, weights: PerRow, place: int) -> _Shares:
        pairs = self.pairs
        start, stop, n_classes = pairs.starts[place], pairs.stops[place], len(pairs.starts)
        n_cells, (first, end) = 2 * (stop - start) + 1, self._runs(place)
        cell = pairs.row_class * np.int64(n_cells) + (pairs.entry[place] - 2 * start)
        by_cell = np.bincount(cell, weights[pairs.rows], n_classes * n_cells)
        sums = by_cell.reshape(n_classes, n_cells)
        up_to = np.delete(np.cumsum(sums, axis=1), place, axis=0)
        level = np.delete(sums[:, first + end], place, axis=0)
        weight = np.add.reduceat(weights[pairs.sorted_rows[start:stop]], first)
        return _Shares(
            up_to[:, 2 * first] / up_to[:, -1:], level / up_to[:, -1:], weight, cell, sums
        )

    def pull_back(self, weights: PerRow, table: Sums, derivatives: Sums) -> PerRow:
        parts = parallel_map(lambda place: self._gradient(weights, place), range(len(table.values)))
        return derivatives.values @ np.stack(parts)

    def _gradient(self, weights: PerRow, place: int) -> PerRow:
        shares, (first, end) = self._shares(weights, place), self._runs(place)
        total, won = shares.weight.sum(), shares.below.prod(axis=0)
        of_cases = shares.weight / total
        d_below, d_level = _products_of_others(shares.below[None])[0] * of_cases, 0 * shares.level
        for tied, places, w, at_places in _through_ties(shares):
            rest = _products_of_others(at_places) * of_cases[tied]
            won[tied] = w @ at_places.prod(axis=1)
            d_below[:, tied] = np.tensordot(w, rest, 1)
            d_level[:, tied] = np.tensordot(w * places, rest, 1)
        # A case of another class counts for all cases above it, and for those level with it
        d_cells, others = np.zeros_like(shares.sums), np.arange(len(shares.sums)) != place
        d_cells[np.ix_(others, 2 * first)] = d_below
        d_cells = np.cumsum(d_cells[:, ::-1], axis=1)[:, ::-1]
        d_cells[np.ix_(others, first + end)] += d_level
        d_cells -= ((d_cells * shares.sums).sum(axis=1) / shares.sums.sum(axis=1))[:, None]
        d_cells /= shares.sums.sum(axis=1, keepdims=True)
        d_cells[place] = 0
        gradient, pairs = np.empty(len(weights)), self.pairs
        gradient[pairs.rows] = d_cells.ravel()[shares.cell]
        own = pairs.sorted_rows[pairs.starts[place] : pairs.stops[place]]
        gradient[own] = np.repeat((won - of_cases @ won) / total, end - first)
        return gradient


def _through_ties(
    shares: _Shares,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, Float[np.ndarray, "q o m"]]]:
    """Go through the scores with which other classes tie, some at a time.

    Yield which they are, places in [0, 1], their weights, and the shares of the other classes that
    are below each score, with so much of what is level with it.
    """
    tied = np.flatnonzero(shares.level.any(axis=0))
    if len(tied) == 0:
        return
    nodes = (len(shares.level) + 2) // 2
    x, w = _legendre(nodes)
    places = (x + 1) / 2
    size = max(_NUMBERS_AT_ONCE // (len(shares.level) * nodes), 1)
    for some in np.split(tied, np.arange(size, len(tied), size)):
        yield (
            some,
            places,
            w / 2,
            shares.below[:, some] + places[:, None, None] * shares.level[:, some],
        )


def _products_of_others(shares: Float[np.ndarray, "q o m"]) -> Float[np.ndarray, "q o m"]:
    """Return for each class the product of all shares but its own."""
    before, after = np.ones_like(shares), np.ones_like(shares)
    np.cumprod(shares[:, :-1], axis=1, out=before[:, 1:])
    after[:, :-1] = np.cumprod(shares[:, :0:-1], axis=1)[:, ::-1]
    return before * after


@once_per_predictions
def win_counts(predictions: Predictions) -> WinCounts:
    """Bind the cases of the classes that occur."""
    pairs = pair_counts(predictions)
    is_inside = np.zeros(predictions.n_observations + 1, int)  # a run of equal scores
    is_inside[pairs.tied_from + 1] += 1
    is_inside[pairs.tied_to] -= 1
    bounds = np.flatnonzero(np.cumsum(is_inside) == 0)
    return WinCounts(pairs, bounds[:-1], bounds[1:])
