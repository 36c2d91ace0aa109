"""The passes over the data: tasks that turn a part into a state, to be merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

from dmfroc.counted.batches import Batch, BatchReader, Fields, observed_labels
from dmfroc.counted.bound import LookUp, influences
from dmfroc.counted.counts import Counts
from dmfroc.counted.cuts import Grid
from dmfroc.counted.influence_sums import InfluenceSums
from dmfroc.counted.refinement import ScoresOfBins
from dmfroc.counted.sample import RowSample
from dmfroc.counted.sources import Part
from dmfroc.inputs.labels import Label


def batches_of(part: Part, reader: BatchReader) -> Iterator[Batch]:
    """Yield the checked batches of a part; errors say where they are."""
    row = 0
    for raw in part.batches(reader.fields):
        with _blaming(part, row):
            batch = reader.read(raw)
        yield batch
        row += len(batch.true)


class _blaming:
    """Say in which part, from which row on, something is wrong."""

    def __init__(self, part: Part, row: int) -> None:
        self._where = part.name if row == 0 else f"{part.name}, the batch from row {row} on"

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TypeError | ValueError):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self._where}: {error}") from error


@dataclass(frozen=True)
class LabelSet:
    """The distinct labels."""

    labels: frozenset[Label]

    def merged(self, other: LabelSet) -> LabelSet:
        """Return the labels of both."""
        return LabelSet(self.labels | other.labels)


@dataclass(frozen=True)
class FindLabels:
    """Finds the labels that occur."""

    fields: Fields

    def __call__(self, part: Part) -> LabelSet:
        found: set[Label] = set()
        for raw in part.batches(self.fields):
            with _blaming(part, 0):
                found.update(observed_labels(raw, self.fields))
        return LabelSet(frozenset(found))


@dataclass(frozen=True)
class DrawRows:
    """Draws the sample of rows from which the cut points are found.

    Attributes
    ----------
    limits : numpy.ndarray of uint64, shape (K,)
        The largest hash that may yet enter, by class; it falls while parts are read.
    """

    reader: BatchReader
    n_classes: int
    size: int
    limits: NDArray[np.uint64]

    def __call__(self, part: Part) -> RowSample:
        found: RowSample | None = None
        for batch in batches_of(part, self.reader):
            of_batch = RowSample.of_batch(batch, self.n_classes, self.size, self.limits.copy())
            found = of_batch if found is None else found.merged(of_batch)
            np.minimum(self.limits, found.limits(), out=self.limits)
        if found is None:
            raise ValueError(f"{part.name} has no rows")
        return found


@dataclass(frozen=True)
class Count:
    """Counts by column, bin and class."""

    reader: BatchReader
    grids: dict[str, Grid]

    def __call__(self, part: Part) -> Counts:
        found = Counts.empty(self.grids)
        for batch in batches_of(part, self.reader):
            found.add(batch, self.grids)
        return found


@dataclass(frozen=True)
class SumInfluences:
    """Adds up powers of influences, and of sums and differences of them.

    Attributes
    ----------
    look_ups : dict of list of LookUp
        Of each classifier, in the order in which ``combinations`` has them in its columns.
    combinations : numpy.ndarray of shape (values, look-ups)
        What the sums are of.
    """

    reader: BatchReader
    grids: dict[str, Grid]
    look_ups: dict[str, list[LookUp]]
    combinations: Float[np.ndarray, "values look_ups"]
    n_classes: int

    def __call__(self, part: Part) -> InfluenceSums:
        found: InfluenceSums | None = None
        for batch in batches_of(part, self.reader):
            of_batch = self.of_batch(batch)
            found = of_batch if found is None else found.merged(of_batch)
        assert found is not None
        return found

    def of_batch(self, batch: Batch, times: np.ndarray | None = None) -> InfluenceSums:
        """Return the sums of one batch, in which rows may stand for several."""
        of_rows = np.concatenate(
            [influences(x, batch, name, self.grids[name]) for name, x in self.look_ups.items()]
        )
        return InfluenceSums.of_batch(self.combinations @ of_rows, batch, self.n_classes, times)


@dataclass(frozen=True)
class CollectScores:
    """Collects the scores of some bins."""

    reader: BatchReader
    grid: Grid
    classifier: str
    is_chosen: Bool[np.ndarray, "k bins"]

    def __call__(self, part: Part) -> ScoresOfBins:
        found = ScoresOfBins.empty(len(self.is_chosen))
        for batch in batches_of(part, self.reader):
            found.add(batch, self.classifier, self.grid, self.is_chosen)
        return found
