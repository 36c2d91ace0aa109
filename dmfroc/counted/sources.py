"""Where batches come from: Parquet files, Dask's data frames, or memory."""

from __future__ import annotations

import glob
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.options import function_of
from dmfroc._kit.text import on_one_line
from dmfroc.counted.batches import Fields
from dmfroc.inputs.messages import listing, repeated

ROWS_AT_ONCE = 1 << 18  # of a part that is read; with 10 classes 10 MB
_ROWS_OF_PART = 1 << 20
_TAIL = 8  # bytes of a Parquet file: the length of its footer, and four letters
_IGNORED = ("_", ".")  # prefixes of what is no data, as for data sets of pyarrow


class SourcePart(ABC):
    """Some of the batches; it can be sent to a worker."""

    first_row: int = 0  # among those of its file

    @abstractmethod
    def batches(self, fields: Fields) -> Iterator[Any]:
        """Return its batches, unchecked: tables of pyarrow, or what the user gave."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where it comes from, for messages."""

    @property
    @abstractmethod
    def identity(self) -> Sequence[Any]:
        """What tells it from parts of other sources, as far as that is known without reading it."""


class FileIdentity(NamedTuple):
    """What changes when a Parquet file is written again."""

    size: int
    footer: str  # its digest: the footer has the places and statistics of all columns
    modified: int  # in nanoseconds; copies on other machines differ

    @classmethod
    def at(cls, path: str, filesystem: Any) -> FileIdentity:
        """Return the identity of a file as it is now."""
        files, info = _regular_file(path, filesystem)
        with files.open_input_file(path) as stream:
            stream.seek(max(info.size - _TAIL, 0))
            n_bytes = int.from_bytes(stream.read(_TAIL)[:4], "little")
            stream.seek(max(info.size - _TAIL - n_bytes, 0))
            footer = hashlib.sha256(stream.read()).hexdigest()
        return cls(info.size, footer, info.mtime_ns or 0)


@dataclass(frozen=True)
class ParquetPart(SourcePart):
    """Row groups of a Parquet file."""

    path: str
    row_groups: tuple[int, ...]
    file: FileIdentity
    filesystem: Any = None
    first_row: int = 0

    @property
    def name(self) -> str:
        return self.path

    @property
    def identity(self) -> Sequence[Any]:
        place = os.path.abspath(self.path) if self.filesystem is None else self.path
        return place, *self.file, self.row_groups, getattr(self.filesystem, "type_name", "local")

    def batches(self, fields: Fields) -> Iterator[Any]:
        import pyarrow

        self._check_unchanged()
        with self._reading(), _parquet_file(self.path, self.filesystem) as file:
            columns = fields.columns(file.schema_arrow.names) or None
            for batch in file.iter_batches(
                ROWS_AT_ONCE, row_groups=list(self.row_groups), columns=columns, use_threads=False
            ):
                yield pyarrow.Table.from_batches([batch])
        self._check_unchanged()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        from pyarrow import ArrowException

        try:
            yield
        except (ArrowException, OSError) as error:
            self._check_unchanged()
            reason = on_one_line(error)
            raise ValueError(
                f"{self.path}: a part of this file is damaged ({reason}): write it again"
            ) from error

    def _check_unchanged(self) -> None:
        try:
            is_same = FileIdentity.at(self.path, self.filesystem)[:2] == self.file[:2]
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{self.path}: this file cannot be read any more ({error}); results would lack "
                "its rows: put it back, or make the scan again"
            ) from error
        if not is_same:
            raise ValueError(
                f"{self.path}: this file has changed since the scan was made, and results would "
                "mix old and new rows: make the scan again"
            )


@dataclass(frozen=True)
class FramePart(SourcePart):
    """A partition of a Dask DataFrame: a delayed table, or on a worker the table itself."""

    table: Any
    number: int

    @property
    def name(self) -> str:
        return f"partition {self.number} (counting from 0)"

    @property
    def identity(self) -> Sequence[Any]:
        return (self.name,)

    def batches(self, fields: Fields) -> Iterator[Any]:
        import pyarrow

        table = self.table
        if hasattr(table, "compute"):
            table = table.compute(scheduler="synchronous")
        yield pyarrow.Table.from_pandas(table, preserve_index=False)


@dataclass(frozen=True)
class MemoryPart(SourcePart):
    """Batches that a function returns, one after the other, whenever it is called."""

    function: Callable[[], Iterable[Any]]
    name: str = "the batches"

    @property
    def identity(self) -> Sequence[Any]:
        return (self.name,)

    def batches(self, fields: Fields) -> Iterator[Any]:
        batches = self.function()
        if not isinstance(batches, Iterable):
            raise TypeError(
                "source must be a function that returns an iterator of batches, but it has "
                f"returned {'None' if batches is None else f'a {type(batches).__name__}'}"
            )
        yield from batches


def parts_of(source: Any) -> list[SourcePart]:
    """Divide a source into parts.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If the source is of another kind, can be read only once, or is empty.
    """
    if isinstance(source, str | os.PathLike):
        return _parts_of_files(files_named(str(source)), None)
    if hasattr(source, "get_fragments"):  # a dataset of pyarrow
        if not hasattr(source, "files") or source.format.default_extname != "parquet":
            raise ValueError("source is a dataset, but not one of Parquet files")
        try:
            source.get_fragments()
        except ValueError as error:  # pyarrow gives the fragments of whole data sets only
            raise ValueError(
                "source is a dataset with a filter or a projection, and files are read whole: "
                "write what it selects to a file, or give batches of its to_batches()"
            ) from error
        return _parts_of_files(source.files, source.filesystem)
    if hasattr(source, "to_delayed"):  # Dask
        return [FramePart(table, number) for number, table in enumerate(source.to_delayed())]
    if callable(source):
        return [MemoryPart(function_of("source", source, "without arguments"))]
    is_frame = hasattr(source, "columns")  # whose iterators are of names
    if is_frame or isinstance(source, Iterator) or not isinstance(source, Iterable):
        raise TypeError(
            "source must be a path, a dataset of pyarrow, a Dask DataFrame, a list of batches or a "
            f"function that returns an iterator of batches, not of type {type(source).__name__}"
            + (", which can be read only once" if isinstance(source, Iterator) else "")
            + (": write it to Parquet, or take Predictions.from_arrays" if is_frame else "")
        )
    if isinstance(source, Sequence):
        if not source:
            raise ValueError("source is empty: it must hold at least one batch")
        if all(isinstance(item, str | os.PathLike) for item in source):
            files = [file for item in source for file in files_named(str(item))]
            return _parts_of_files(files, None)
        return [
            MemoryPart(partial(iter, [batch]), f"batch {number} (counting from 0)")
            for number, batch in enumerate(source)
        ]
    return [MemoryPart(source.__iter__)]


def files_named(path: str) -> list[str]:
    """Return the files that a path, a directory or a pattern names."""
    if os.path.exists(path):
        paths = _files_in(path)
    else:
        matching = [name for name in glob.glob(path, recursive=True) if _is_meant(name, path)]
        paths = [file for name in matching for file in _files_in(name)]
    if not paths:
        raise FileNotFoundError(f"{path}: there is no such Parquet file; check the path")
    return sorted(set(paths))  # a pattern may match a directory and what is in it


def _files_in(path: str) -> list[str]:
    """Return a file, or the data files of a directory without what writers leave beside them."""
    if not os.path.isdir(path):
        return [path]
    return [
        str(file)
        for file in Path(path).rglob("*.parquet")
        if not file.is_dir()
        and not any(name.startswith(_IGNORED) for name in file.relative_to(path).parts)
    ]


def _is_meant(name: str, pattern: str) -> bool:
    """Whether no wildcard has matched what is no data, as in Spark's folders."""
    asked = Path(pattern).parts
    magic = (place for place, part in enumerate(asked) if glob.has_magic(part))
    fixed = next(magic, len(asked))
    first_letters = {part[0] for part in asked[fixed:]}
    return not any(
        part.startswith(_IGNORED) and part[0] not in first_letters
        for part in Path(name).parts[fixed:]
    )


def _parts_of_files(files: Sequence[str], filesystem: Any) -> list[SourcePart]:
    places = list(files) if filesystem else [_place_on_disk(file) for file in files]
    again = repeated(places)
    twice = dict.fromkeys(f for f, place in zip(files, places, strict=True) if place in again)
    if twice:
        raise ValueError(
            f"source has {listing(list(twice))} more than once, whose rows would count as often: "
            "name each file once, by one path or link"
        )
    parts: list[SourcePart] = []
    for path in files:
        identity = FileIdentity.at(path, filesystem)
        with _parquet_file(path, filesystem) as file:
            metadata = file.metadata
            sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        starts = np.cumsum([0, *sizes])[:-1]
        of_part = starts // _ROWS_OF_PART
        for part in np.unique(of_part):
            [groups] = np.nonzero(of_part == part)
            place = tuple(groups.tolist()), identity, filesystem, int(starts[groups[0]])
            parts.append(ParquetPart(path, *place))
    if not parts:
        raise ValueError("source is empty: its files have no rows")
    return parts


def _place_on_disk(path: str) -> Any:
    """Return what tells a file from others, whichever path and link it is named by."""
    if not os.path.exists(path):
        return path
    stat = os.stat(path)
    return (stat.st_dev, stat.st_ino) if stat.st_ino else os.path.realpath(path)


def _regular_file(path: str, filesystem: Any) -> tuple[Any, Any]:
    """Return the file system of a file, and its entry for the file, which stays closed."""
    from pyarrow import fs

    files = fs.LocalFileSystem() if filesystem is None else filesystem
    try:
        info = files.get_file_info(path)
    except UnicodeError as error:
        raise ValueError(f"{path}: this name is not UTF-8: rename it") from error
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{path}: there is no such file")
    if info.type != fs.FileType.File:
        raise ValueError(
            f"{path}: this is a directory, a pipe or a device: write its contents to a file first"
        )
    return files, info


def _parquet_file(path: str, filesystem: Any) -> Any:
    from pyarrow import ArrowException, parquet

    try:
        return parquet.ParquetFile(path, filesystem=filesystem, page_checksum_verification=True)
    except ArrowException as error:
        reason = on_one_line(error)
        raise ValueError(f"{path}: this is no Parquet file ({reason}); convert it first") from error
