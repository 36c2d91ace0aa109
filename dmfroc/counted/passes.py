"""The passes over the data: tasks that turn a part into a state, to be merged."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dmfroc._kit.arrays import IntPerClass, IntPerRow
from dmfroc._kit.threads import check_stopped
from dmfroc.counted.batches import (
    Batch,
    BatchReader,
    Content,
    Fields,
    Hashes,
    has_rows,
    hashes_by_place,
    rows_by_label,
)
from dmfroc.counted.bound import BinnedValue, influences
from dmfroc.counted.counts import Counts, Grid
from dmfroc.counted.engine import State, merged
from dmfroc.counted.influence_sums import InfluenceSums
from dmfroc.counted.sample import RowSample
from dmfroc.counted.sources import SourcePart
from dmfroc.inputs.labels import Label
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.forecasts import (
    is_no_distribution,
    probabilities_message,
    probabilities_of,
)
from dmfroc.measures.statistics.statistic import Statistic

_MANY_TIMES = 4  # as many rows as those that wait were drawn before


@dataclass(frozen=True)
class Read[S: State]:
    """What a pass has found, and what identifies the rows that it has read."""

    content: Content
    state: S

    def merged(self, other: Read[S]) -> Read[S]:
        """Return what was found in both."""
        return Read(self.content.merged(other.content), self.state.merged(other.state))


def read_part[S: State](
    part: SourcePart,
    reader: BatchReader,
    task: Callable[[Iterator[Batch]], S | None],
    *,
    by_place: bool = False,
) -> Read[S] | None:
    """Read and check the batches of a part for a task, which turns them into a state.

    With ``by_place`` the hashes of equal rows differ.
    """
    content: Content | None = None

    def batches() -> Iterator[Batch]:
        nonlocal content
        row = part.first_row
        for raw in part.batches(reader.fields):
            check_stopped()
            with blaming(part, row) as where:
                if not has_rows(raw, reader.fields):
                    continue
                batch, of_batch = reader.read(raw, where)
            if by_place:
                hashes = hashes_by_place(batch.hashes, len(of_batch.rows), part.name, row)
                batch = batch._replace(hashes=hashes)
            content = merged([content, of_batch])
            yield batch
            row += sum(of_batch.rows)

    state = task(batches())
    return None if content is None or state is None else Read(content, state)


@contextmanager
def blaming(part: SourcePart, row: int) -> Iterator[str]:
    """Say in which part, from which row on, something is wrong."""
    where = part.name if row == 0 else f"{part.name}, the batch from row {row} on"
    try:
        yield where
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{where}: {error}") from error


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
        here, there = ({type(label).__name__ for label in x.rows} for x in (self, other))
        if here != there:
            raise TypeError(
                f"the labels of {self.where} are of type {here.pop()}, those of {other.where} of "
                f"type {there.pop()}: convert them to one type"
            )
        both = Counter(self.rows)
        both.update(other.rows)
        return LabelSet(dict(both), self.where)


def labels_of_part(part: SourcePart, fields: Fields) -> LabelSet | None:
    """Find the labels that occur."""
    labels: LabelSet | None = None
    row, label_alone = part.first_row, Fields(label=fields.label, scores=(), predicted=())
    for raw in part.batches(label_alone):
        with blaming(part, row) as where:
            if has_rows(raw, fields):
                counts = LabelSet(rows_by_label(raw, fields), where)
                row += sum(counts.rows.values())
                labels = merged([labels, counts])
    return labels


def draw_rows(
    batches: Iterator[Batch], size: int | IntPerClass, limits: Hashes
) -> RowSample | None:
    """Draw a sample of rows.

    The limits are the largest hashes that may yet enter, by class; they fall while parts are read.
    """
    drawn: RowSample | None = None
    waiting: RowSample | None = None
    for batch in batches:
        sample = RowSample.from_batch(batch, size, limits.copy())
        waiting = sample if waiting is None else waiting.merged(sample)
        # Merging copies all rows: the few of one batch wait for those of others
        if drawn is None or _MANY_TIMES * len(waiting.count) >= len(drawn.count):
            drawn, waiting = waiting if drawn is None else drawn.merged(waiting), None
            np.minimum(limits, drawn.limits(), out=limits)
    return merged([drawn, waiting])


def count(batches: Iterator[Batch], grids: dict[str, Grid]) -> Counts:
    """Count by column, bin and class."""
    counts = Counts.empty(grids)
    for batch in batches:
        counts.add(batch, grids)
    return counts


@dataclass(frozen=True)
class RowTables:
    """Tables of rows, by classifier and statistic."""

    tables: dict[tuple[str, Any], Any]

    def merged(self, other: RowTables) -> RowTables:
        """Return the tables of both."""
        pairs = ((key, x, other.tables[key]) for key, x in self.tables.items())
        return RowTables(
            {key: type(x)(*(a + b for a, b in zip(x, y, strict=True))) for key, x, y in pairs}
        )


def add_rows(
    batches: Iterator[Batch],
    statistics: Sequence[Callable[[Predictions], Statistic]],
    classifiers: Sequence[str],
    labels: Sequence[Label],
) -> RowTables | None:
    """Add up what each row adds to the tables of statistics."""

    def of_batch(batch: Batch) -> RowTables:
        tables = {}
        for name in classifiers:
            predictions = batch.predictions(name, labels)
            _check_probabilities(predictions)
            for bind in statistics:
                tables[name, bind] = bind(predictions).count(predictions.sample_weight, np)
        return RowTables(tables)

    return merged(map(of_batch, batches))


def _check_probabilities(predictions: Predictions) -> None:
    probabilities = probabilities_of(predictions)
    is_wrong = is_no_distribution(probabilities)
    if is_wrong.any():
        example = f"a row is {probabilities[is_wrong.argmax()].tolist()}"
        raise ValueError(f"a measure of the scan {probabilities_message(example, probabilities)}")


def sum_influences(
    batches: Iterator[Batch],
    grids: Mapping[str, Grid],
    values: Mapping[str, Sequence[BinnedValue]],
    labels: Sequence[Label],
    times: IntPerRow | None = None,
) -> InfluenceSums | None:
    """Add up powers of influences on the values of each classifier, then on every two's difference.

    Rows may stand for several, ``times`` as many.
    """
    combinations = _with_differences([len(of_one) for of_one in values.values()])

    def of_batch(batch: Batch) -> InfluenceSums:
        of_rows = [
            influences([x.influence_table for x in of_one], batch, name, grids[name], labels)
            for name, of_one in values.items()
        ]
        of_values = combinations @ np.concatenate(of_rows)
        return InfluenceSums.from_batch(of_values, batch, len(labels), times)

    return merged(map(of_batch, batches))


def _with_differences(n_values: Sequence[int]) -> np.ndarray:
    """Return the combinations of several classifiers' values: each, and differences of two."""
    of_each = np.split(np.eye(sum(n_values)), np.cumsum(n_values)[:-1])
    return np.concatenate([*of_each, *(a - b for a, b in itertools.combinations(of_each, 2))])
