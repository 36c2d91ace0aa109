"""Readers of files: tables as text, Parquet and JSON lines, and NumPy's archives."""

from __future__ import annotations

import fnmatch
import json
import lzma
import math
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.files import check_readable, checked_path
from dmfroc._kit.memory import check_memory
from dmfroc._kit.remarks import warn
from dmfroc._kit.text import did_you_mean
from dmfroc.inputs.arrays import is_missing
from dmfroc.inputs.checks import Inputs
from dmfroc.inputs.delimited import MISSING, Format, Text, numbers_of, opened, read_delimited
from dmfroc.inputs.labels import factorize
from dmfroc.inputs.lists import holds_lists, table_of_lists
from dmfroc.inputs.messages import Source, listing, repeated
from dmfroc.inputs.score_doubts import are_shares
from dmfroc.inputs.scores import columns_without_scores

_FIELDS = {"label": "true", "sample_weight": "weight", "frequency_weight": "frequency", "id": "id"}
_FIELDS |= {"y_pred": "predicted"}
_COLUMNS = {"label": "label column {}", "sample_weight": "weight column {}", "id": "id column {}"}
_COLUMNS |= {"frequency_weight": "count column {}", "y_pred": "column {} of hard labels"}


class Names(NamedTuple):
    """Where in a file the inputs are; only `labels` and `drop_label` are given as such."""

    columns: Mapping[str, str]  # by argument: label, sample_weight, y_pred, frequency_weight, id
    scores: str | Sequence[str] | None = None
    labels: Any = None
    other_columns: tuple[str, ...] = ()
    format: Format = Format()
    truth: Any = None  # path of another file, with the labels of the same ids
    drop_label: Any = None  # of rows to be left out; a missing one if it is empty

    def beside(self, columns: Any) -> tuple[Any, Any, Any, Any]:
        """Return weights, hard labels, counts and ids by name; None for those without name."""
        weight, hard, count, ids = (
            columns[self.columns[argument]] if argument in self.columns else None
            for argument in ("sample_weight", "y_pred", "frequency_weight", "id")
        )
        return weight, hard, count, ids

    def source(self, scores: str, called: Mapping[str, str], **others: Any) -> Source:
        """Return what messages call the inputs."""
        named = {x: called[x].format(repr(name)) for x, name in self.columns.items()}
        fields: dict[str, Any] = {_FIELDS[argument]: what for argument, what in named.items()}
        return replace(Source(), scores=scores, **fields, **others)


def read_columns(
    file: Path, arguments: Mapping[str, str], given: Format, names: Names | None = None
) -> dict[str, Any]:
    """Read columns (``.npz``: arrays) that are no scores, by the arguments that name them."""
    names = (names or Names({}))._replace(format=given)
    called = {name: argument for argument, name in names.columns.items()} | dict(arguments)

    def chosen(available: Sequence[str], noun: str = "array") -> list[str]:
        for name, argument in called.items():
            _check_available(name, available, argument, noun)
        return [*called]

    check_readable(file)
    if file.name.lower().endswith(".npz"):
        arrays = _kept_arrays(_read_arrays(file, chosen), names)
        return {name: arrays[name] for name in arguments}
    columns = [*called]
    table = _kept_rows(_with_nested(_read_rows(file, names, columns, ()).table, columns), names)
    chosen(table.column_names, "column")
    return {name: _labels([table[name]])[0].to_pandas().to_numpy() for name in arguments}


def read(file: Path, names: Names) -> Inputs:
    """Read what is to be checked."""
    check_readable(file)
    if file.name.lower().endswith(".npz"):
        _check_text(file, names.format)
        return _read_npz(file, names)
    scores = [names.scores] if isinstance(names.scores, str) else names.scores
    weights = {"sample_weight", "frequency_weight"} & names.columns.keys()
    numbers = None if scores is None else [*scores, *map(names.columns.__getitem__, weights)]
    texts = [x for argument, x in names.columns.items() if argument not in weights]
    texts += names.other_columns
    table, note = _read_rows(file, names, texts, numbers)
    if file.name.lower().removesuffix(".gz").endswith(_TEXTS):
        table = _with_labels(_kept_rows(table, names), names)
    else:
        table = _kept_rows(_with_nested(table, [*texts, *(numbers or ())]), names)
    try:
        inputs = table_inputs(table, names)
    except ValueError as error:
        raise ValueError(f"{error} ({note})" if note else str(error)) from error
    return inputs._replace(source=replace(inputs.source, note=note))


def _read_rows(
    file: Path, names: Names, texts: Sequence[str], numbers: Collection[str] | None
) -> Text:
    """Return the table in a file, with what the file of the true labels has besides."""
    found = _read_table(file, names.format, texts, numbers)
    if names.truth is None:
        return found
    import pyarrow.compute as pc

    source = checked_path("truth", names.truth)
    if not source.is_file():
        raise ValueError(f"truth= names {source}, but there is no such file; check the path")
    table, truth = found.table, _read_table(source, names.format, texts, numbers).table
    if (key := names.columns.get("id")) is None:
        raise ValueError("truth= needs id=, the column that names the rows in both files")
    ids, paths = [], (file, source)
    for which, path in zip((table, truth), paths, strict=True):
        _check_available(key, which.column_names, "id", f"column of {path.name}")
        ids.append(which[key].cast("string").combine_chunks())
    for place in (0, 1):
        strange = ids[place].filter(pc.invert(pc.is_in(ids[place], value_set=ids[1 - place])))
        lacks = f"{paths[1 - place]} lacks {listing(strange.to_pylist())}" * bool(len(strange))
        if lacks or len(ids[place].unique()) < len(ids[place]):
            what = lacks or f"{paths[place]} repeats some"
            raise ValueError(f"column {key!r} must have the same ids in both files, once: {what}")
    places = pc.index_in(ids[0], value_set=ids[1])
    for name in truth.column_names:
        if name not in table.column_names and name in {*texts, *(numbers or ())}:
            table = table.append_column(name, truth[name].take(places))
    return found._replace(table=table)


def _kept_rows(table: Any, names: Names) -> Any:
    """Return a table without the rows of the labels to be dropped."""
    if names.drop_label is None:
        return table
    if isinstance(names.drop_label, Mapping):
        raise TypeError("drop_label must be a label or a list of labels, but it is a dict")
    import pyarrow.compute as pc

    label = names.columns["label"]
    _check_available(label, table.column_names, "label", "column")
    texts = pc.utf8_trim_whitespace(pc.fill_null(table[label].cast("string"), ""))
    return table.filter(_is_kept(texts.to_numpy(), names))


def _kept_arrays(arrays: dict[str, np.ndarray], names: Names) -> dict[str, np.ndarray]:
    """Drop rows of some labels; those of shape (n, m), with scores (n, m, K), become rows."""
    if names.drop_label is None:
        return arrays
    kept = _is_kept(arrays[names.columns["label"]], names)
    return {x: a[kept] if a.shape[: kept.ndim] == kept.shape else a for x, a in arrays.items()}


def _is_kept(true: np.ndarray, names: Names) -> np.ndarray:
    dropped = [
        "" if is_missing(x) else str(x).lower() if isinstance(x, bool) else str(x)
        for x in _listed(names.drop_label) or ()
    ]
    return ~np.isin(true.astype(str), [*dropped, *(MISSING if "" in dropped else ())])


def _read_table(
    file: Path, given: Format, texts: Sequence[str], numbers: Collection[str] | None
) -> Text:
    """Return a file as a table of pyarrow, and how it was read."""
    name = file.name.lower()
    kind = next((kind for kind in _TABLES if name.endswith((kind, f"{kind}.gz"))), None)
    if kind is None:
        suffix = file.suffix.lower()
        raise ValueError(
            f"unsupported kind of file; supported are {', '.join([*_TABLES, '.npz'])}, and texts "
            "compressed as .gz" + _REMEDIES.get(suffix, "")
        )
    if kind not in _TEXTS:
        _check_text(file, given)
    with _reading():
        if kind == ".parquet":
            from pyarrow import parquet

            with file.open("rb") as stream, parquet.ParquetFile(stream) as reader:
                table = reader.read()
        elif kind in _READERS:
            table = _READERS[kind](file)
        else:
            return read_delimited(file, given, texts, numbers)
        for place, name in enumerate(table.column_names):
            if name not in texts:
                table = table.set_column(place, name, numbers_of(name, table[name])[0])
        return Text(table, None)


def _with_nested(table: Any, names: Sequence[str]) -> Any:
    """Return a table with columns ``a.b`` for those fields of its objects that are named so."""
    from pyarrow import types

    flat = table
    while any(map(types.is_struct, flat.schema.types)):
        flat = flat.flatten()
    for name in set(names).difference(table.column_names):
        nested = [x for x in flat.column_names if x.endswith(f".{name}")]
        if name in flat.column_names:
            table = table.append_column(name, flat[name])
        elif nested:
            raise ValueError(f"there is no column {name!r}: did you mean {nested[0]!r}?")
    return table


def _read_json(file: Path) -> Any:
    """Read one object per row, each on a line of its own or all in one list, or columns."""
    import pyarrow
    from pyarrow import json as arrow

    with opened(file, file.suffix.lower() == ".gz") as stream:
        content = stream.read()
    text = content.decode(json.detect_encoding(content))
    try:
        found = json.loads(text)
    except ValueError:
        try:
            return arrow.read_json(pyarrow.BufferReader(text.encode()))
        except pyarrow.ArrowInvalid as error:  # as of lists that mix numbers with texts
            try:
                found = [json.loads(line) for line in text.splitlines() if line.strip()]
            except ValueError:
                raise error from None
    rows = _json_rows(found) if isinstance(found, Mapping) else found
    if not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("it holds rows without names: write an object for each row")
    columns = {name: [row.get(name) for row in rows] for row in rows for name in row}
    for name, values in columns.items():
        if any(isinstance(x, list) for x in values):
            columns[name] = [None if x is None else json.dumps(x) for x in values]
    return pyarrow.table(columns)


def _json_rows(found: Mapping[str, Any]) -> list[Any]:
    """Return the rows in an object: under one of its keys, by column, or the object itself."""
    lists = [x for x in found.values() if isinstance(x, list)]
    if {"columns", "data"} <= found.keys():
        return [dict(zip(found["columns"], row, strict=True)) for row in found["data"]]
    if len(lists) == 1 and lists[0] and isinstance(lists[0][0], Mapping):
        return lists[0]
    if not all(isinstance(x, list | Mapping) for x in found.values()):
        return [found]
    if all(map(str.isdigit, found)) and not all(map(str.isdigit, next(iter(found.values())))):
        return list(found.values())  # by row number
    columns = [x.values() if isinstance(x, Mapping) else x for x in found.values()]
    if len(set(map(len, columns))) > 1:
        lengths = listing([len(x) for x in columns])
        raise ValueError(f"columns {listing(list(found))} have different lengths: {lengths}")
    return [dict(zip(found, row, strict=True)) for row in zip(*columns, strict=True)]


def _read_feather(file: Path) -> Any:
    import pyarrow
    from pyarrow import feather, ipc

    with file.open("rb") as source:
        try:
            return feather.read_table(source)
        except pyarrow.ArrowInvalid:
            source.seek(0)
            return ipc.open_stream(source).read_all()


def _read_stata(file: Path) -> Any:
    import pandas as pd
    import pyarrow

    return pyarrow.Table.from_pandas(pd.read_stata(file), preserve_index=False)


def _read_arff(file: Path) -> Any:
    """Read a file of Weka's; SciPy returns its nominal values as bytes."""
    import pyarrow
    from scipy.io import arff

    values, _ = arff.loadarff(file)
    columns = {name: values[name] for name in values.dtype.names}
    return pyarrow.table(
        {name: x.astype("U") if x.dtype.kind == "S" else x for name, x in columns.items()}
    )


_READERS = {
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".json": _read_json,
    ".dta": _read_stata,
    ".feather": _read_feather,
    ".arrow": _read_feather,
    ".arff": _read_arff,
}


def _check_text(file: Path, given: Format) -> None:
    """Refuse to be told how text is written of a file that is none."""
    for argument, value in given._asdict().items():
        if value is not None:
            raise ValueError(f"{argument}= is for files of text, not for {file.suffix.lower()}")


_NAMES_CLASSES = re.compile("(class|label|categor|target_name)").match
_FEWEST_CASES = 20  # of several rows each; fewer values are rather those of a setting
_FIRST = 1000  # cells of a column of lists, in which all classes should occur
_TEXTS = (".csv", ".tsv", ".txt", ".tab")
_TABLES = (*_TEXTS, ".parquet", *_READERS)
_REMEDIES = {
    ".npy": ". An .npy file holds one array without labels: save np.savez('scores.npz', "
    "y_true=labels, y_score=scores) and give label='y_true', scores='y_score'",
    ".xlsx": ". Save the sheet as CSV",
    ".xls": ". Save the sheet as CSV",
}


# Labels


def _with_labels(table: Any, names: Names) -> Any:
    """Return a table whose labels are of one kind; a word for missing may be a class."""
    columns = [names.columns[x] for x in ("label", "y_pred") if x in names.columns]
    columns = [name for name in columns if name in table.column_names]
    given = [str(label) for label in _listed(names.labels) or []]
    listed = [
        str(table[name][:_FIRST].to_pylist())
        for name in table.column_names
        if name not in columns and holds_lists(table[name])
    ]
    words = {text for name in [*table.column_names, *given, *listed] for text in _words(name)}
    found = _labels([table[name] for name in columns], [x for x in MISSING if x and x in words])
    ids = names.columns.get("id", "")
    if ids in table.column_names:
        columns, found = [*columns, ids], [*found, *_labels([table[ids]])]
    for name, column in zip(columns, found, strict=True):
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _listed(labels: Any) -> list[Any] | None:
    """Return what the user gave as labels as a list, to be checked later."""
    return None if labels is None else np.ravel(np.array(labels, dtype=object)).tolist()


def _words(name: str) -> list[str]:
    """Return the parts of a column's name, one of them perhaps a class."""
    return [name, *re.split(r"[^0-9A-Za-z/#<>]+", name)]


def _labels(columns: Sequence[Any], classes: Collection[str] = ()) -> list[Any]:
    """Return columns of text as integers, booleans or numbers, if all of them spell such."""
    import pyarrow
    import pyarrow.compute as pc

    if not all(pyarrow.types.is_string(column.type) for column in columns):
        return list(columns)
    missing = pyarrow.array([text for text in MISSING if text not in classes])
    columns = [pc.if_else(pc.is_in(column, missing), None, column) for column in columns]
    trimmed = [pc.utf8_trim_whitespace(column) for column in columns]
    columns = trimmed if len(_distinct(trimmed)) == len(_distinct(columns)) else list(columns)
    texts = _distinct(columns)
    kind = _kind_of(texts)
    return [column if kind is None else column.cast(kind) for column in columns]


def _distinct(columns: Sequence[Any]) -> set[str]:
    return {x for column in columns for x in column.unique().to_pylist() if x is not None}


def _kind_of(texts: set[str]) -> str | None:
    """Return the type that all texts have, as Python writes it, so that 01 and 1 stay apart."""
    if all(
        re.fullmatch("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63 for text in texts
    ):
        return "int64"
    if {text.lower() for text in texts} <= {"true", "false"}:
        return "bool"
    if all(re.fullmatch(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?(e[+-][0-9]+)?", x) for x in texts):
        return "float64"
    if all(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) for text in texts):
        return "date32"
    return None


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
    if not columns and ("y_pred" not in names.columns or names.scores is not None):
        raise ValueError(f"there is no score column; the columns are {listing(available)}")
    source = names.source(
        "score", _COLUMNS, is_table_file=True, has_chosen_scores=names.scores is not None
    )
    true = table[names.columns["label"]]
    scores = table.select(columns)
    of_lists = {x: table[x] for x in available if x not in taken and holds_lists(table[x])}
    chosen = [name for name in columns if name in of_lists]
    if chosen and (names.scores is None or columns == chosen):
        distinct = factorize(true, source.true, source).distinct
        others = scores.drop_columns(chosen)
        if columns_without_scores(others, distinct, source) is not None:
            scores = table_of_lists(of_lists, chosen, _listed(names.labels), distinct)
    _check_wide(table.drop_columns([*of_lists, names.columns["label"]]), true)
    unused = table.drop_columns([name for name in available if name in taken])
    warn([_repeats_message(unused, true)])
    return Inputs(true, scores, names.labels, *names.beside(table), unused, source)


def _check_wide(table: Any, true: Any) -> None:
    """Refuse a table with a row for each class of an observation, whose scores sum to one."""
    from pyarrow import types

    k = len(true.unique())
    if k < 2 or len(true) % k or len(true) == k:
        return
    numbers = [name for name in table.column_names if types.is_floating(table[name].type)]
    for stride in (1, len(true) // k):  # the classes in adjacent rows, or one after the other

        def by_case(column: Any, stride: int = stride) -> Any:
            values = column.to_numpy()
            return values.reshape(-1, k) if stride == 1 else values.reshape(k, -1).T

        labels = by_case(true)
        # A look at some cases spares most tables the look at all.
        if not all((x == x[:, :1]).all() for x in (labels[:9], labels)):
            continue
        scores = [name for name in numbers if are_shares(by_case(table[name]).T)]
        for name in table.column_names:
            first = set(table[name].take([*range(0, stride * k, stride)]).to_pylist())
            if scores and len(first) == k and first.issuperset(table[name].unique().to_pylist()):
                raise ValueError(
                    f"column {name!r} names one class after the other for each observation, with "
                    f"its score in {scores[-1]!r}: give each class a column of its own, as by "
                    f"frame.pivot(index=[id, label], columns={name!r}, values={scores[-1]!r}) in "
                    "pandas"
                )


def _repeats_message(table: Any, true: Any) -> str | None:
    """Say which column has each value in several rows, all of one class."""
    import pyarrow
    import pyarrow.compute as pc
    from pyarrow import types

    for name in table.column_names:
        column = table[name]
        is_real = (
            types.is_floating(column.type)
            and not pc.all(pc.equal(column, pc.floor(column))).as_py()
        )
        if types.is_nested(column.type) or is_real or not len(column):
            continue
        sizes = column.value_counts().field("counts").to_numpy()
        if len(sizes) < _FEWEST_CASES or sizes[0] == 1 or (sizes != sizes[0]).any():
            continue
        pairs = pyarrow.table({"case": column, "true": true}).group_by(["case", "true"])
        if pairs.aggregate([]).num_rows == len(sizes):
            return (
                f"column {name!r} has each of its {len(sizes)} values in {sizes[0]} rows, all of "
                "one class. If these rows are of one observation or patient, standard errors are "
                "too small: pass groups= for it, or keep one row of each"
            )
    return None


# Arrays


def _read_npz(file: Path, names: Names) -> Inputs:
    scores = "y_score" if names.scores is None else names.scores
    if not isinstance(scores, str):
        raise ValueError("scores= must name the one array of an .npz file that holds all scores")

    def chosen(available: Sequence[str]) -> list[str]:
        taken = _names_taken(names, available, "array")
        _check_available(scores, available, "scores", "array")
        return list(dict.fromkeys([*taken, scores, *filter(_NAMES_CLASSES, available)]))

    arrays = _kept_arrays(_read_arrays(file, chosen), names)
    labels = names.labels
    true = arrays[names.columns["label"]]
    for name in arrays.keys() - {*names.columns.values(), scores} if labels is None else ():
        array = arrays[name]
        width = arrays[scores].shape[1] if arrays[scores].ndim == 2 else 2
        if array.shape == (width,) and {*true.ravel().tolist()} <= {*array.tolist()}:
            labels = array
    source = names.source(f"array {scores!r}", dict.fromkeys(_FIELDS, "array {}"))
    return Inputs(true, arrays[scores], labels, *names.beside(arrays), None, source)


def _read_arrays(
    file: Path, choose: Callable[[Sequence[str]], Sequence[str]]
) -> dict[str, np.ndarray]:
    """Return those arrays of an ``.npz`` file that a function chooses among their names."""
    with file.open("rb") as stream:
        if stream.read(6) == b"\x93NUMPY":
            raise ValueError("the file cannot be read: it holds one array without a name")
        with _reading():
            archive = zipfile.ZipFile(stream)
        chosen = choose([entry.filename.removesuffix(".npy") for entry in archive.infolist()])
        return {name: array_of(archive, name) for name in chosen}


def array_of(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return an array of an ``.npz`` file.

    Raises
    ------
    ValueError
        If the archive is damaged, or declares more numbers than it holds.
    MemoryError
        If it is larger than memory, as small files can be by compression.
    """
    with _reading():
        entry = archive.getinfo(f"{name}.npy")
        with archive.open(entry) as stream:
            version = np.lib.format.read_magic(stream)
            if version == (1, 0):
                shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            else:
                shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
            declared, held = (
                math.prod(shape) * max(dtype.itemsize, 1),
                entry.file_size - stream.tell(),
            )
        if declared != held and not dtype.hasobject:
            raise ValueError(
                f"the array {name!r} should have shape {shape}, which takes {declared:,} bytes, "
                f"but the file holds {held:,} of it"
            )
    check_memory(2 * held, f"reading the array {name!r}", "take a part of it")
    with _reading(), archive.open(entry) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


# All that zipfile, zlib, lzma, NumPy and pyarrow raise on files that are damaged, encrypted or odd
_UNREADABLE = (
    *(OSError, ValueError, TypeError, EOFError, RuntimeError, MemoryError, LookupError),
    *(ArithmeticError, SyntaxError, AttributeError, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)


@contextmanager
def _reading() -> Iterator[None]:
    """Turn all that readers raise into a ValueError that says why a file cannot be read."""
    try:
        yield
    except _UNREADABLE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"the file cannot be read: {reason}") from error


def _names_taken(names: Names, available: Sequence[str], noun: str) -> list[str]:
    """Names of the columns of labels, weights and hard labels, once they are known to exist."""
    for argument, name in names.columns.items():
        _check_available(name, available, argument, noun)
    others = _matching(names.other_columns, available)
    for name in others:
        _check_available(name, available, "other_columns", noun)
    return [*names.columns.values(), *others]


def _matching(names: Sequence[str], available: Sequence[str]) -> list[str]:
    """Put the columns that fit a pattern such as ``prob_*`` in its place."""
    found = []
    for name in names:
        fits = [x for x in available if fnmatch.fnmatchcase(x, name)]
        found += [name] if name in available or not fits else fits
    return list(dict.fromkeys(found))


def _check_available(name: str, available: Sequence[str], argument: str, noun: str) -> None:
    if name not in available:
        raise ValueError(
            f"there is no {noun} {name!r}, which {argument}= names{did_you_mean(name, available)}; "
            f"the {noun}s are {listing(available)}"
        )
