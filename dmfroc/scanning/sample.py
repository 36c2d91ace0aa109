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

from dmfroc.scanning.batches import Batch

_MOST_ROWS = 1 << 16  # of a class
_FEWEST_ROWS = 64
_NUMBERS = 1 << 23  # of scores, for many classes
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


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
    def of_batch(cls, batch: Batch, n_classes: int, size: int) -> RowSample:
        """Return the sample of one batch."""
        hashes = _hashes(batch)
        chosen = np.concatenate(
            [_smallest(hashes, np.flatnonzero(batch.true == c), size) for c in range(n_classes)]
        )
        none = np.full(len(chosen), -1, np.int32)
        return cls(
            n_classes,
            size,
            hashes[chosen],
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
            *(
                np.concatenate([getattr(x, name) for x in both])
                for name in ("hashes", "true", "count", "weights")
            ),
            {name: np.concatenate([x.scores[name] for x in both]) for name in self.scores},
            {name: np.concatenate([x.predicted[name] for x in both]) for name in self.predicted},
        )._distinct()

    def _distinct(self) -> RowSample:
        """Add up equal rows, and keep the first of each class."""
        order = np.lexsort((self.hashes, self.true))
        hashes, true = self.hashes[order], self.true[order]
        is_first = np.append(True, (hashes[1:] != hashes[:-1]) | (true[1:] != true[:-1]))
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
            self.true,
            {name: np.ascontiguousarray(x.T) for name, x in self.scores.items()},
            {name: None if (x < 0).any() else x for name, x in self.predicted.items()},
            self.weights,
            None,
        )


def _smallest(
    hashes: NDArray[np.uint64], rows: Int[np.ndarray, " m"], size: int
) -> Int[np.ndarray, " l"]:
    """Return the rows of the smallest hashes; all with the last of them."""
    if len(rows) <= size:
        return rows
    of_rows = hashes[rows]
    limit = np.partition(of_rows, size - 1)[size - 1]
    return rows[of_rows <= limit]


def _hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return a hash of each row's contents."""
    found = np.zeros(len(batch.true), np.uint64)

    def mix(numbers: Shaped[np.ndarray, " n"]) -> None:
        np.bitwise_xor(found, numbers, out=found)
        np.multiply(found, _MULTIPLIER, out=found)
        np.bitwise_xor(found, found >> _SHIFT, out=found)

    for matrix in batch.scores.values():
        for column in matrix:
            mix(column.view(f"u{column.itemsize}"))
    for predicted in batch.predicted.values():
        if predicted is not None:
            mix(predicted.view(np.uint32))
    if batch.weights is not None:
        mix(batch.weights.view(np.uint64))
    mix(batch.true.view(np.uint32))
    return found

