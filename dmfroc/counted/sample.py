"""A sample of rows that does not depend on their order: of each class those of the smallest hash.

The hash is one of the row's contents. Two samples are merged by keeping the smallest of both, so
that any way of dividing the rows gives the same sample. Rows with the same contents have the same
hash and enter together, with their number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int, Shaped
from numpy.typing import NDArray

from dmfroc.counted.batches import Batch

_MOST_ROWS = 1 << 15  # of a class
_FEWEST_ROWS = 64
_NUMBERS = 1 << 23  # of scores, for many classes


def rows_per_class(n_classes: int) -> int:
    """Return how many distinct rows of a class are kept."""
    return max(_FEWEST_ROWS, min(_MOST_ROWS, _NUMBERS // n_classes**2))


@dataclass(frozen=True, eq=False)
class RowSample:
    """Distinct rows, sorted by class and hash, and how often each occurs."""

    n_classes: int
    size: int
    hashes: NDArray[np.uint64]
    true: NDArray[np.int32]
    count: NDArray[np.int64]
    weights: NDArray[np.float64]
    scores: dict[str, Shaped[np.ndarray, "m k"]]
    predicted: dict[str, NDArray[np.int32]]  # -1 where there is none

    @classmethod
    def of_batch(
        cls, batch: Batch, n_classes: int, size: int, limits: NDArray[np.uint64]
    ) -> RowSample:
        """Return the sample of one batch, of rows whose hashes do not exceed their class's limit.

        Whatever exceeds the largest hash of a full sample of other rows cannot be in that of all.
        """
        chosen = np.flatnonzero(batch.hashes <= limits.take(batch.true))
        none = np.full(len(chosen), -1, np.int32)
        return cls(
            n_classes,
            size,
            batch.hashes[chosen],
            batch.true[chosen],
            np.ones(len(chosen), np.int64),
            batch.unit_weights[chosen],
            {name: np.ascontiguousarray(x[:, chosen].T) for name, x in batch.scores.items()},
            {name: none if x is None else x[chosen] for name, x in batch.predicted.items()},
        )._distinct()

    def merged(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both."""
        both = self, other
        return RowSample(
            self.n_classes,
            self.size,
            np.concatenate([x.hashes for x in both]),
            np.concatenate([x.true for x in both]),
            np.concatenate([x.count for x in both]),
            np.concatenate([x.weights for x in both]),
            {name: np.concatenate([x.scores[name] for x in both]) for name in self.scores},
            {name: np.concatenate([x.predicted[name] for x in both]) for name in self.predicted},
        )._distinct()

    def limits(self) -> NDArray[np.uint64]:
        """Return the largest hash of each class whose sample is full; else the largest of all."""
        found = np.full(self.n_classes, np.iinfo(np.uint64).max)
        sizes = np.bincount(self.true, minlength=self.n_classes)
        ends = np.cumsum(sizes)
        is_full = sizes >= self.size
        found[is_full] = self.hashes[ends[is_full] - 1]
        return found

    def _distinct(self) -> RowSample:
        """Add up equal rows, and keep the first of each class."""
        order = np.argsort(self.hashes, kind="stable")  # merges what is sorted already
        hashes, true = self.hashes[order], self.true[order]
        is_first = np.append(True, hashes[1:] != hashes[:-1])
        firsts = np.flatnonzero(is_first[: len(order)])
        if not len(firsts):
            return self
        count = np.add.reduceat(self.count[order], firsts)
        place = np.arange(len(firsts)) - np.searchsorted(true[firsts], true[firsts], "left")
        kept = place < self.size
        return self._some(order[firsts[kept]], count[kept])

    def _some(self, rows: Int[np.ndarray, " m"], count: Int[np.ndarray, " m"]) -> RowSample:
        return replace(
            self,
            hashes=self.hashes[rows],
            true=self.true[rows],
            count=count,
            weights=self.weights[rows],
            scores={name: x[rows] for name, x in self.scores.items()},
            predicted={name: x[rows] for name, x in self.predicted.items()},
        )

    def as_batch(self) -> Batch:
        """Return the distinct rows as a batch."""
        return Batch(
            self.hashes,
            self.true,
            {name: np.ascontiguousarray(x.T) for name, x in self.scores.items()},
            {name: None if (x < 0).any() else x for name, x in self.predicted.items()},
            self.weights,
            None,
        )
