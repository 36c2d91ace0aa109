"""A sample of rows that does not depend on their order: of each class those of the smallest hash.

The hash is one of the row's contents. Two samples are merged by keeping the smallest of both, so
that any way of dividing the rows gives the same sample. Rows with the same contents have the same
hash and enter together, with their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from dmfroc._kit.arrays import IntPerClass, PerClass, begins
from dmfroc.counted.batches import Batch, Hashes
from dmfroc.inputs.checks import AS_GIVEN
from dmfroc.inputs.labels import Label
from dmfroc.inputs.predictions import Predictions

_MOST_ROWS = 1 << 15  # of a class
_FEWEST_ROWS = 64
_NUMBERS = 1 << 23  # of scores, for many classes


def rows_per_class(n_classes: int) -> int:
    """Return how many distinct rows of a class are kept."""
    return max(_FEWEST_ROWS, min(_MOST_ROWS, _NUMBERS // n_classes**2))


def even_sizes(n: int, sizes: IntPerClass) -> IntPerClass:
    """Divide n rows evenly among the classes; what a small class lacks goes to larger ones."""
    even = np.zeros_like(sizes)
    for place, k in enumerate(np.argsort(sizes)):
        even[k] = min(sizes[k], (n - even.sum()) // (len(sizes) - place))
    return even


@dataclass(frozen=True, eq=False)
class RowSample:
    """Distinct rows, sorted by class and hash, and how often each occurs."""

    n_classes: int
    size: int | IntPerClass  # of each class
    batch: Batch
    count: Int[np.ndarray, " m"]

    @classmethod
    def from_batch(cls, batch: Batch, size: int | IntPerClass, limits: Hashes) -> RowSample:
        """Return the sample of one batch, of rows whose hashes do not exceed their class's limit.

        Whatever exceeds the largest hash of a full sample of other rows cannot be in that of all.
        """
        chosen = np.flatnonzero(batch.hashes <= limits.take(batch.true))
        rows = batch._replace(groups=None).some(chosen)
        return cls(len(limits), size, rows, np.ones(len(chosen), np.int64))._distinct()

    @property
    def sizes(self) -> IntPerClass:
        """How many rows of each class were drawn, the same ones as often as they occur."""
        return np.bincount(self.batch.true, self.count, self.n_classes).astype(int)

    def merged(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both."""
        count = np.concatenate([self.count, other.count])
        return replace(self, batch=self.batch.joined(other.batch), count=count)._distinct()

    def limits(self) -> Hashes:
        """Return the largest hash of each class whose sample is full; else the largest of all."""
        limits = np.full(self.n_classes, np.iinfo(np.uint64).max)
        n_distinct = np.bincount(self.batch.true, minlength=self.n_classes)
        ends = np.cumsum(n_distinct)
        is_full = n_distinct >= self.size
        limits[is_full] = self.batch.hashes[ends[is_full] - 1]
        return limits

    def predictions(
        self, classifier: str, labels: Sequence[Label], totals: PerClass, n_rows: int
    ) -> Predictions:
        """Return the rows in random order, with weights whose totals by class are those given."""
        n_bits = np.uint64(self.n_classes.bit_length())  # of the class
        batch = self.batch.some(np.argsort(self.batch.hashes << n_bits))
        drawn = np.bincount(batch.true, batch.unit_weights, self.n_classes)
        weights = batch.unit_weights * (totals / np.maximum(drawn, 1e-300))[batch.true]
        sampled = batch.predictions(classifier, labels)
        facts: dict[str, Any] = {} if batch.weights is None else {"weights": AS_GIVEN}
        facts |= {"drawn_from": n_rows} if n_rows > len(weights) else {}
        return sampled.reweighted(weights, **facts)

    def _distinct(self) -> RowSample:
        """Add up equal rows, and keep the first of each class."""
        order = np.argsort(self.batch.hashes, kind="stable")  # merges what is sorted already
        hashes, true = self.batch.hashes[order], self.batch.true[order]
        firsts = np.flatnonzero(begins(hashes)[: len(order)])
        if not len(firsts):
            return self
        count = np.add.reduceat(self.count[order], firsts)
        place = np.arange(len(firsts)) - np.searchsorted(true[firsts], true[firsts], "left")
        kept = place < np.broadcast_to(self.size, self.n_classes)[true[firsts]]
        return replace(self, batch=self.batch.some(order[firsts[kept]]), count=count[kept])
