"""Where batches come from: Parquet files, Dask's data frames, or memory."""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dmfroc.counted.batches import Fields

ROWS_AT_ONCE = 1 << 18  # of a part that is read; with 10 classes 10 MB
_ROWS_OF_PART = 1 << 20


class Part(ABC):
    """Some of the batches; it can be sent to a worker."""

    @abstractmethod
    def batches(self, fields: Fields) -> Iterator[Any]:
        """Return its batches, unchecked: tables of pyarrow, or what the user gave."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where it comes from, for messages."""


@dataclass(frozen=True)
class ParquetPart(Part):
    """Row groups of a Parquet file."""

    path: str
    row_groups: tuple[int, ...]
    filesystem: Any = None

    @property
    def name(self) -> str:
        return self.path

    def batches(self, fields: Fields) -> Iterator[Any]:
        import pyarrow

        with _parquet_file(self.path, self.filesystem) as file:
            columns = fields.columns(file.schema_arrow.names)
            for batch in file.iter_batches(
                ROWS_AT_ONCE, row_groups=list(self.row_groups), columns=columns, use_threads=False
            ):
                yield pyarrow.Table.from_batches([batch])


@dataclass(frozen=True)
class FramePart(Part):
    """A partition of a Dask DataFrame: a delayed table, or on a worker the table itself."""

    table: Any
    number: int

    @property
    def name(self) -> str:
        return f"partition {self.number} (counting from 0)"

    def batches(self, fields: Fields) -> Iterator[Any]:
        import pyarrow

        table = self.table
        if hasattr(table, "compute"):
            table = table.compute(scheduler="synchronous")
        yield pyarrow.Table.from_pandas(table, preserve_index=False)


@dataclass(frozen=True)
class BatchPart(Part):
    """A batch in memory."""

    batch: Any
    number: int

    @property
    def name(self) -> str:
        return f"batch {self.number} (counting from 0)"

    def batches(self, fields: Fields) -> Iterator[Any]:
        yield self.batch


@dataclass(frozen=True)
class StreamPart(Part):
    """All the batches that a function's iterator returns, one after the other."""

    function: Callable[[], Iterable[Any]]

    @property
    def name(self) -> str:
        return "the batches"

    def batches(self, fields: Fields) -> Iterator[Any]:
        yield from self.function()


def parts_of(source: Any) -> list[Part]:
    """Divide a source into parts.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If the source is of another kind, can be read only once, or is empty.
    """
    if isinstance(source, str | os.PathLike):
        return _parts_of_files(_files(str(source)), None)
    if hasattr(source, "get_fragments"):  # a dataset of pyarrow
        if not hasattr(source, "files") or source.format.default_extname != "parquet":
            raise ValueError("source is a dataset, but not one of Parquet files")
        return _parts_of_files(source.files, source.filesystem)
    if hasattr(source, "to_delayed"):  # Dask
        return [FramePart(table, number) for number, table in enumerate(source.to_delayed())]
    if callable(source):
        return [StreamPart(source)]
    if isinstance(source, Iterator) or not isinstance(source, Iterable):
        raise TypeError(
            "source must be a path, a dataset of pyarrow, a Dask DataFrame, a list of batches or a "
            f"function that returns an iterator of batches, but it is a {type(source).__name__}"
            + (", which can be read only once" if isinstance(source, Iterator) else "")
        )
    if isinstance(source, Sequence) and source and all(_is_path(item) for item in source):
        return _parts_of_files([file for item in source for file in _files(str(item))], None)
    if isinstance(source, Sequence):
        parts: list[Part] = [BatchPart(batch, number) for number, batch in enumerate(source)]
        if not parts:
            raise ValueError("source is empty: it must hold at least one batch")
        return parts
    return [StreamPart(source.__iter__)]


def _is_path(item: Any) -> bool:
    return isinstance(item, str | os.PathLike)


def _files(path: str) -> list[str]:
    """Return the files that a path, a directory or a pattern names."""
    if os.path.isdir(path):
        found = [str(file) for file in Path(path).rglob("*.parquet")]
    elif os.path.exists(path):
        found = [path]
    else:
        found = glob.glob(path, recursive=True)
    if not found:
        raise FileNotFoundError(f"{path}: there is no such Parquet file; check the path")
    return sorted(found)


def _parts_of_files(files: Sequence[str], filesystem: Any) -> list[Part]:
    parts: list[Part] = []
    for path in files:
        with _parquet_file(path, filesystem) as file:
            metadata = file.metadata
            sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        groups: list[int] = []
        rows = 0
        for group, size in enumerate(sizes):
            groups.append(group)
            rows += size
            if rows >= _ROWS_OF_PART or group == len(sizes) - 1:
                parts.append(ParquetPart(path, tuple(groups), filesystem))
                groups, rows = [], 0
    if not parts:
        raise ValueError("source is empty: its files have no rows")
    return parts


def _parquet_file(path: str, filesystem: Any) -> Any:
    from pyarrow import ArrowInvalid, parquet

    try:
        return parquet.ParquetFile(path, filesystem=filesystem)
    except ArrowInvalid as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path}: this is no Parquet file ({reason}); convert it first") from error
