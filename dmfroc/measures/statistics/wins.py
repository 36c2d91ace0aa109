"""Sets of one case of each class: how often the case of a class has the largest score for it.

For a case of class i that is the product over all other classes of the share of their cases with a
smaller score in column i, so that no set has to be formed. Cases that tie for the first place share
it. In a random order of cases that tie, the share of a class is that below the case plus u times
that which ties. The mean over u in [0, 1] is a polynomial's, which few points give exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.threads import parallel_map
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import Statistic, Sums, once_per_predictions

_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class WinCounts(Statistic):
    """Cases of the classes that occur, sorted by the score of each class in turn.

    Its table has the share of the sets that each class wins.
    """

    scores: Float[np.ndarray, "n c"]
    rows: tuple[Int[np.ndarray, " _m"], ...]

    is_compiled: ClassVar[bool] = False

    @cached_property
    def orders(self) -> list[list[Int[np.ndarray, " _m"]]]:
        """The rows of each class, by rising scores of each column."""
        return [
            [rows[np.argsort(column[rows], kind="stable")] for rows in self.rows]
            for column in self.scores.T
        ]

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Sums:
        def share(place: int) -> float:
            own = self.orders[place][place]
            blocks = self._blocks(weights, place)
            won = np.concatenate([w @ shares.prod(axis=1) for _, w, shares in blocks])
            return float(weights[own] @ won / weights[own].sum())

        return Sums(np.array(parallel_map(share, range(len(self.rows)))))

    def _blocks(
        self, weights: Float[np.ndarray, " n"], place: int
    ) -> Iterator[
        tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"], Float[np.ndarray, "q o m"]]
    ]:
        """Go through the cases of a class, some at a time.

        Yield places in [0, 1], their weights, and the shares of the other classes that are below
        each case, with so much of what is level with it.
        """
        own, column = self.orders[place][place], self.scores[:, place]
        others = [order for k, order in enumerate(self.orders[place]) if k != place]
        sums = [np.append(0.0, np.cumsum(weights[order])) for order in others]
        nodes = (len(others) + 2) // 2
        size = max(_NUMBERS_AT_ONCE // (len(others) * nodes), 1)
        for start in range(0, len(own), size):
            cases = column[own[start : start + size]]
            below, upto = (
                np.stack(
                    [
                        s[np.searchsorted(column[order], cases, side)] / s[-1]
                        for order, s in zip(others, sums, strict=True)
                    ]
                )
                for side in ("left", "right")
            )
            level = upto - below
            if not level.any():
                yield np.zeros(1), np.ones(1), below[None]
                continue
            x, w = np.polynomial.legendre.leggauss(nodes)
            places = (x + 1) / 2
            yield places, w / 2, below + places[:, None, None] * level

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Sums, derivatives: Sums
    ) -> Float[np.ndarray, " n"]:
        parts = parallel_map(lambda place: self._gradient(weights, place), range(len(self.rows)))
        return derivatives.values @ np.stack(parts)

    def _gradient(self, weights: Float[np.ndarray, " n"], place: int) -> Float[np.ndarray, " n"]:
        own, column = self.orders[place][place], self.scores[:, place]
        others = [order for k, order in enumerate(self.orders[place]) if k != place]
        total = weights[own].sum()
        won, by_below, by_level = [], [], []
        start = 0
        for places, w, shares in self._blocks(weights, place):
            end = start + shares.shape[2]
            won.append(w @ shares.prod(axis=1))
            rest = _products_of_others(shares) * weights[own[start:end]]
            by_below.append(np.tensordot(w, rest, 1))
            by_level.append(np.tensordot(w * places, rest, 1))
            start = end
        wins, d_below, d_level = (
            np.concatenate(x, axis=-1) / total for x in (won, by_below, by_level)
        )
        value = weights[own] @ wins
        gradient = np.zeros(len(weights))
        gradient[own] = wins - value / total
        cases = column[own]
        for order, below, level in zip(others, d_below, d_level, strict=True):
            # A case of another class counts for all cases above it, and for those level with it
            sums = np.append(0.0, np.cumsum(below))
            sums_level = np.append(0.0, np.cumsum(level))
            first, last = (np.searchsorted(cases, column[order], x) for x in ("left", "right"))
            d_others = sums[-1] - sums[last] + sums_level[last] - sums_level[first]
            size = weights[order].sum()
            gradient[order] = (d_others - weights[order] @ d_others / size) / size
        return gradient


def _products_of_others(shares: Float[np.ndarray, "q o m"]) -> Float[np.ndarray, "q o m"]:
    """Return for each class the product of all shares but its own."""
    before, after = np.ones_like(shares), np.ones_like(shares)
    np.cumprod(shares[:, :-1], axis=1, out=before[:, 1:])
    after[:, :-1] = np.cumprod(shares[:, :0:-1], axis=1)[:, ::-1]
    return before * after


@once_per_predictions
def win_counts(predictions: Predictions) -> WinCounts:
    """Bind the cases of the classes that occur."""
    present = predictions.present
    rows = tuple(np.flatnonzero(predictions.true == k) for k in present)
    return WinCounts(predictions.scores[:, present].astype(np.float64), rows)
