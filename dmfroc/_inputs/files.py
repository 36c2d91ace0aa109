"""Readers of CSV, TSV, Parquet and NumPy files."""

from __future__ import annotations

import difflib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dmfroc._inputs.checks import Inputs
from dmfroc._inputs.messages import Source, listing, repeated


class Names(NamedTuple):
    """Where in a file the inputs are; only `labels` is given as such."""

    label: str
    scores: str | Sequence[str] | None
    labels: Any
    sample_weight: str | None
    y_pred: str | None


def read(file: Path, names: Names) -> Inputs:
    """Read what is to be checked."""
    if file.is_dir():
        raise ValueError("this is a directory; name one file in it")
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
        convert.column_types = {
            field.name: pyarrow.float64()
            for field in guessed
            if pyarrow.types.is_integer(field.type)
            and field.name not in (names.label, names.y_pred)
        }
        table = csv.read_csv(file, parse_options=parse, convert_options=convert)
    return table_inputs(table, names)


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
        columns = [names.scores] if isinstance(names.scores, str) else list(names.scores)
        for name in columns:
            _check_available(name, available, "scores", "column")
    if not columns:
        raise ValueError(f"there is no score column; the columns are {listing(available)}")
    return Inputs(
        table[names.label],
        table.select(columns),
        names.labels,
        None if names.sample_weight is None else table[names.sample_weight],
        None if names.y_pred is None else table[names.y_pred],
        Source(
            f"label column {names.label!r}",
            "score",
            f"weight column {names.sample_weight!r}",
            f"column {names.y_pred!r} of hard labels",
            is_table_file=True,
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
        with _reading():
            arrays = {name: archive[name] for name in [*taken, scores]}
            if labels is None and "labels" in available and "labels" not in arrays:
                labels = archive["labels"]
    return Inputs(
        arrays[names.label],
        arrays[scores],
        labels,
        None if names.sample_weight is None else arrays[names.sample_weight],
        None if names.y_pred is None else arrays[names.y_pred],
        Source(
            f"array {names.label!r}",
            f"array {scores!r}",
            f"array {names.sample_weight!r}",
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


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"the file cannot be read: {reason}") from error


def _names_taken(names: Names, available: Sequence[str], noun: str) -> list[str]:
    """Names of the columns of labels, weights and hard labels, once they are known to exist."""
    taken = {"label": names.label, "sample_weight": names.sample_weight, "y_pred": names.y_pred}
    given = {argument: name for argument, name in taken.items() if name is not None}
    for argument, name in given.items():
        _check_available(name, available, argument, noun)
    return list(given.values())


def _check_available(name: str, available: Sequence[str], argument: str, noun: str) -> None:
    if name not in available:
        close = difflib.get_close_matches(name, available, n=1)
        raise ValueError(
            f"there is no {noun} {name!r}, which {argument}= names"
            + (f" (did you mean {close[0]!r}?)" if close else "")
            + f"; the {noun}s are {listing(available)}"
        )
