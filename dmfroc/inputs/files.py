"""Readers of CSV, TSV, Parquet and NumPy files."""

from __future__ import annotations

import difflib
import fnmatch
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.memory import check_memory
from dmfroc.inputs.checks import Inputs
from dmfroc.inputs.messages import Source, listing, repeated


class Names(NamedTuple):
    """Where in a file the inputs are; only `labels` is given as such."""

    label: str
    scores: str | Sequence[str] | None
    labels: Any
    sample_weight: str | None
    y_pred: str | None
    other_columns: tuple[str, ...] = ()
    frequency_weight: str | None = None
    id: str | None = None


def read_columns(file: Path, names: Sequence[str]) -> dict[str, Any]:
    """Read columns (``.npz``: arrays) that say something of the rows but are no scores."""
    if file.name.lower().endswith(".npz"):
        with file.open("rb") as stream, _reading():
            archive = np.load(stream, allow_pickle=False)
            return {name: archive[name] for name in names}
    if file.name.lower().endswith(".parquet"):
        from pyarrow import parquet

        with _reading():
            table = parquet.read_table(file, columns=list(names))
    else:
        from pyarrow import csv

        is_tsv = ".tsv" in (suffix.lower() for suffix in file.suffixes)
        options = csv.ConvertOptions(include_columns=list(names), strings_can_be_null=True)
        with _reading():
            table = csv.read_csv(
                file,
                parse_options=csv.ParseOptions(delimiter="\t" if is_tsv else ","),
                convert_options=options,
            )
    return {name: table[name].to_pandas().to_numpy() for name in names}


def read(file: Path, names: Names) -> Inputs:
    """Read what is to be checked."""
    if file.is_dir():
        raise ValueError("this is a directory; name one file in it")
    if not file.is_file():
        raise ValueError("this is a pipe or a device; write its contents to a file first")
    for suffix, reader in _READERS.items():
        if file.name.lower().endswith(suffix):
            return reader(file, names)
    raise ValueError(f"unsupported kind of file; supported are {', '.join(_READERS)}")


def _read_csv(file: Path, names: Names) -> Inputs:
    import pyarrow
    from pyarrow import csv

    is_tsv = ".tsv" in (suffix.lower() for suffix in file.suffixes)
    parse = csv.ParseOptions(delimiter="\t" if is_tsv else ",")
    # An empty field is a missing label, not the label ""
    convert = csv.ConvertOptions(strings_can_be_null=True)
    with _reading():
        with csv.open_csv(file, parse_options=parse, convert_options=convert) as reader:
            guessed = reader.schema
        # Types are guessed from the first megabyte, where all of a class's scores may be whole
        is_class = {names.label, names.y_pred}
        convert.column_types = {
            field.name: pyarrow.string() if field.name in is_class else pyarrow.float64()
            for field in guessed
            if pyarrow.types.is_integer(field.type)
        }
        table = csv.read_csv(file, parse_options=parse, convert_options=convert)
    spelled = [name for name in is_class if name in convert.column_types]
    if all(_spells_integers(table[name]) for name in spelled):
        for name in spelled:
            place = table.column_names.index(name)
            table = table.set_column(place, name, table[name].cast(pyarrow.int64()))
    return table_inputs(table, names)


def _spells_integers(column: Any) -> bool:
    """Whether texts are integers of 64 bits as Python writes them, so that 01 and 1 stay apart."""
    texts = [text for text in column.unique().to_pylist() if text is not None]
    return all(
        re.fullmatch("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63 for text in texts
    )


def _read_parquet(file: Path, names: Names) -> Inputs:
    from pyarrow import parquet

    with _reading(), parquet.ParquetFile(file) as reader:
        table = reader.read()
    return table_inputs(table, names)


def table_inputs(table: Any, names: Names) -> Inputs:
    """Return what is to be checked of a table of pyarrow."""
    available = table.column_names
    twice = repeated(available)
    if twice:
        raise ValueError(f"duplicate column names: {listing(twice)}; rename them")
    taken = _names_taken(names, available, "column")
    if names.scores is None:
        index = (table.schema.pandas_metadata or {}).get("index_columns", ())
        columns = [name for name in available if name not in taken and name not in index]
    else:
        listed = [names.scores] if isinstance(names.scores, str) else list(names.scores)
        columns = _matching(listed, [name for name in available if name not in taken])
        for name in columns:
            _check_available(name, available, "scores", "column")
    if not columns and (names.y_pred is None or names.scores is not None):
        raise ValueError(f"there is no score column; the columns are {listing(available)}")
    return Inputs(
        table[names.label],
        table.select(columns),
        names.labels,
        None if names.sample_weight is None else table[names.sample_weight],
        None if names.y_pred is None else table[names.y_pred],
        None if names.frequency_weight is None else table[names.frequency_weight],
        None if names.id is None else table[names.id],
        table.drop_columns([name for name in available if name in {*columns, *taken}]),
        Source(
            f"label column {names.label!r}",
            "score",
            f"weight column {names.sample_weight!r}",
            f"count column {names.frequency_weight!r}",
            f"id column {names.id!r}",
            f"column {names.y_pred!r} of hard labels",
            is_table_file=True,
            has_chosen_scores=names.scores is not None,
        ),
    )


def _read_npz(file: Path, names: Names) -> Inputs:
    scores = "y_score" if names.scores is None else names.scores
    if not isinstance(scores, str):
        raise ValueError("scores= must name the one array of an .npz file that holds all scores")
    with file.open("rb") as stream:  # np.load would leave a damaged file open
        with _reading():
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it holds one array without a name")
        available = archive.files
        taken = _names_taken(names, available, "array")
        _check_available(scores, available, "scores", "array")
        labels = names.labels
        wanted = [*taken, scores]
        if labels is None and "labels" in available:
            wanted.append("labels")
        for name in wanted:
            _check_size(archive.zip, name)
        with _reading():
            arrays = {name: archive[name] for name in wanted}
        if labels is None:
            labels = arrays.get("labels") if "labels" not in [*taken, scores] else None
    return Inputs(
        arrays[names.label],
        arrays[scores],
        labels,
        None if names.sample_weight is None else arrays[names.sample_weight],
        None if names.y_pred is None else arrays[names.y_pred],
        None if names.frequency_weight is None else arrays[names.frequency_weight],
        None if names.id is None else arrays[names.id],
        None,
        Source(
            f"array {names.label!r}",
            f"array {scores!r}",
            f"array {names.sample_weight!r}",
            f"array {names.frequency_weight!r}",
            f"array {names.id!r}",
            f"array {names.y_pred!r}",
        ),
    )


_READERS: dict[str, Callable[[Path, Names], Inputs]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".tsv.gz": _read_csv,
    ".parquet": _read_parquet,
    ".npz": _read_npz,
}


def _check_size(archive: Any, name: str) -> None:
    """Refuse an array that is larger than memory, as small files can hold by compression."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    size = sizes.get(f"{name}.npy", sizes.get(name, 0))
    check_memory(2 * size, f"reading the array {name!r}", "take a part of it")


# All that zipfile, zlib, lzma, NumPy and pyarrow raise on files that are damaged, encrypted or odd
_UNREADABLE = (
    *(OSError, ValueError, TypeError, EOFError, RuntimeError, MemoryError, LookupError),
    *(ArithmeticError, SyntaxError, AttributeError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"the file cannot be read: {reason}") from error


def _names_taken(names: Names, available: Sequence[str], noun: str) -> list[str]:
    """Names of the columns of labels, weights and hard labels, once they are known to exist."""
    taken = {"label": names.label, "sample_weight": names.sample_weight, "y_pred": names.y_pred}
    taken |= {"frequency_weight": names.frequency_weight, "id": names.id}
    given = {argument: name for argument, name in taken.items() if name is not None}
    for argument, name in given.items():
        _check_available(name, available, argument, noun)
    others = _matching(names.other_columns, available)
    for name in others:
        _check_available(name, available, "other_columns", noun)
    return [*given.values(), *others]


def _matching(names: Sequence[str], available: Sequence[str]) -> list[str]:
    """Put the columns that fit a pattern such as ``prob_*`` in its place."""
    found = []
    for name in names:
        fits = [x for x in available if fnmatch.fnmatchcase(x, name)]
        found += [name] if name in available or not fits else fits
    return list(dict.fromkeys(found))


def _check_available(name: str, available: Sequence[str], argument: str, noun: str) -> None:
    if name not in available:
        close = difflib.get_close_matches(name, available, n=1)
        raise ValueError(
            f"there is no {noun} {name!r}, which {argument}= names"
            + (f" (did you mean {close[0]!r}?)" if close else "")
            + f"; the {noun}s are {listing(available)}"
        )
