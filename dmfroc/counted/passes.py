"""The passes over the data: tasks that turn a part into a state, to be merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

from dmfroc._kit.threads import check_stopped
from dmfroc.counted.batches import (
    Batch,
    BatchReader,
    Content,
    Fields,
    has_rows,
    rows_by_label,
)
from dmfroc.counted.bound import LookUp, influences
from dmfroc.counted.counts import Counts
from dmfroc.counted.cuts import Grid
from dmfroc.counted.engine import State
from dmfroc.counted.influence_sums import InfluenceSums
from dmfroc.counted.refinement import ScoresOfBins
from dmfroc.counted.sample import RowSample
from dmfroc.counted.sources import Part
from dmfroc.inputs.labels import Label


@dataclass(frozen=True)
class Read[S: State]:
    """What a pass has found, and what identifies the rows that it has read; None without rows."""

    content: Content | None
    state: S | None

    def merged(self, other: Read[S]) -> Read[S]:
        """Return what was found in both."""
        if self.content is None or other.content is None:
            return self if other.content is None else other
        assert self.state is not None
        return Read(self.content.merged(other.content), self.state.merged(other.state))


@dataclass(frozen=True)
class Reading[S: State]:
    """Reads and checks the batches of a part for a task."""

    reader: BatchReader
    task: Callable[[Iterator[Batch]], S | None]

    def __call__(self, part: Part) -> Read[S]:
        content: Content | None = None

        def batches() -> Iterator[Batch]:
            nonlocal content
            row = 0
            for raw in part.batches(self.reader.fields):
                check_stopped()
                with _blaming(part, row) as where:
                    if not has_rows(raw, self.reader.fields):
                        continue
                    batch, of_batch = self.reader.read(raw, where)
                content = of_batch if content is None else content.merged(of_batch)
                yield batch
                row += sum(of_batch.rows)

        state = self.task(batches())
        return Read(content, None if content is None else state)


class _blaming:
    """Say in which part, from which row on, something is wrong."""

    def __init__(self, part: Part, row: int) -> None:
        self._where = part.name if row == 0 else f"{part.name}, the batch from row {row} on"

    def __enter__(self) -> str:
        return self._where

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TypeError | ValueError):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self._where}: {error}") from error


@dataclass(frozen=True)
class LabelSet:
    """The distinct labels, how many rows have each, and where the first of them are."""

    rows: dict[Label, int]
    where: str

    def merged(self, other: LabelSet) -> LabelSet:
        """Return the labels of both.

        Raises
        ------
        TypeError
            If they are of different types.
        """
        if not self.rows or not other.rows:
            return self if self.rows else other
        here, there = ({type(label).__name__ for label in x.rows} for x in (self, other))
        if here != there:
            raise TypeError(
                f"the labels of {self.where} are of type {here.pop()}, those of {other.where} of "
                f"type {there.pop()}: convert them to one type"
            )
        both = Counter(self.rows)
        both.update(other.rows)
        return LabelSet(dict(both), self.where)


@dataclass(frozen=True)
class FindLabels:
    """Finds the labels that occur."""

    fields: Fields

    def __call__(self, part: Part) -> LabelSet:
        found = LabelSet({}, part.name)
        for number, raw in enumerate(part.batches(self.fields)):
            with _blaming(part, 0) as where:
                if has_rows(raw, self.fields):
                    where += f", batch {number}" * (number > 0)
                    found = found.merged(LabelSet(rows_by_label(raw, self.fields), where))
        return found


@dataclass(frozen=True)
class DrawRows:
    """Draws the sample of rows from which the cut points are found.

    Attributes
    ----------
    limits : numpy.ndarray of uint64, shape (K,)
        The largest hash that may yet enter, by class; it falls while parts are read.
    """

    n_classes: int
    size: int
    limits: NDArray[np.uint64]

    def __call__(self, batches: Iterator[Batch]) -> RowSample | None:
        found: RowSample | None = None
        for batch in batches:
            of_batch = RowSample.of_batch(batch, self.n_classes, self.size, self.limits.copy())
            found = of_batch if found is None else found.merged(of_batch)
            np.minimum(self.limits, found.limits(), out=self.limits)
        return found


@dataclass(frozen=True)
class Count:
    """Counts by column, bin and class."""

    grids: dict[str, Grid]

    def __call__(self, batches: Iterator[Batch]) -> Counts:
        found = Counts.empty(self.grids)
        for batch in batches:
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

    grids: dict[str, Grid]
    look_ups: dict[str, list[LookUp]]
    combinations: Float[np.ndarray, "values look_ups"]
    n_classes: int

    def __call__(self, batches: Iterator[Batch]) -> InfluenceSums | None:
        found: InfluenceSums | None = None
        for batch in batches:
            of_batch = self.of_batch(batch)
            found = of_batch if found is None else found.merged(of_batch)
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

    grid: Grid
    classifier: str
    is_chosen: Bool[np.ndarray, "k bins"]

    def __call__(self, batches: Iterator[Batch]) -> ScoresOfBins:
        found = ScoresOfBins.empty(len(self.is_chosen))
        for batch in batches:
            found.add(batch, self.classifier, self.grid, self.is_chosen)
        return found
