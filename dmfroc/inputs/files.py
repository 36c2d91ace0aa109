"""Readers of files: tables as text, Parquet and JSON lines, and NumPy's archives."""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from dmfroc._kit.files import check_readable, checked_path
from dmfroc._kit.memory import check_memory
from dmfroc._kit.remarks import Note, warn
from dmfroc._kit.text import on_one_line
from dmfroc.inputs.arrays import is_missing
from dmfroc.inputs.checks import Finished, Inputs, check_scores, check_table
from dmfroc.inputs.columns import Positive
from dmfroc.inputs.delimited import MISSING, Format, Text, numbers_of, opened, read_delimited
from dmfroc.inputs.messages import listing, shortened
from dmfroc.inputs.tables import (
    Names,
    check_available,
    columns_of_use,
    lacks_value,
    listed_labels,
    matching,
    names_taken,
    spelled_labels,
    table_inputs,
    with_labels,
)


def read_columns(file: Path, arguments: Mapping[str, str], names: Names) -> dict[str, Any]:
    """Read columns (``.npz``: arrays), by the arguments that name them or a pattern of them."""
    called = {name: argument for argument, name in names.columns.items()}
    called |= dict.fromkeys(names.where, "where") | dict(arguments)

    found: dict[str, str] = {}

    def chosen(available: Sequence[str], noun: str = "array") -> list[str]:
        free = [name for name in available if name not in called]
        for given, argument in called.items():
            for name in matching([given], free):
                check_available(name, available, argument, noun)
                found[name] = given
        return [*found]

    check_readable(file)
    if file.name.lower().endswith(".npz"):
        arrays = _kept_arrays(_read_arrays(file, chosen), names)
        return {name: arrays[name] for name, given in found.items() if given in arguments}
    columns = [*called]
    (table, _), names = _read_rows(file, names, columns, None if names.drop_missing else ())
    table = _kept_rows(file, _with_nested(table, columns), names)
    chosen(table.column_names, "column")
    return {
        name: spelled_labels([table[name]])[0].to_pandas().to_numpy()
        for name, given in found.items()
        if given in arguments
    }


def read(file: Path, names: Names, positive: Positive) -> Finished:
    """Read and check predictions."""
    check_readable(file)
    if file.name.lower().endswith(".npz"):
        _check_text(file, names.format)
        if names.drop_missing:
            raise ValueError("drop_missing= is for tables: save arrays without these rows")
        return check_scores(_read_npz(file, names)._replace(positive=positive))
    scores = [names.scores] if isinstance(names.scores, str) else names.scores
    weights = {"sample_weight", "frequency_weight"} & names.columns.keys()
    numbers = None
    if scores is not None and not any("*" in name for name in scores):
        numbers = [*scores, *map(names.columns.__getitem__, weights)]
    texts = [x for argument, x in names.columns.items() if argument not in weights]
    texts += [*names.other_columns, *names.where]
    (table, as_read), names = _read_rows(file, names, texts, numbers)
    try:
        table = _kept_rows(file, _with_nested(table, [*texts, *(numbers or ())]), names)
        fields, remarks = check_table(table_inputs(table, names)._replace(positive=positive))
    except (TypeError, ValueError) as error:
        if as_read:
            error.args = (f"{error} ({as_read})",)
        raise
    return fields, (*remarks, *([Note(f"{file}: {as_read}")] if as_read else []))


def _read_rows(
    file: Path, names: Names, texts: Sequence[str], numbers: Collection[str] | None
) -> tuple[Text, Names]:
    """Return the table in a file, with what the file of the true labels has besides.

    Also the names with that of the column of the true labels, if the first file has it, too.
    """
    if names.truth is None:
        return read_table(file, names.format, texts, numbers), names
    import pyarrow.compute as pc

    source = checked_path("truth", names.truth)
    if not source.is_file():
        raise ValueError(f"truth= names {source}, but there is no such file; check the path")
    truth, label = read_table(source, names.format, texts, numbers).table, names.columns["label"]
    texts = [x for x in texts if x != label or label not in truth.column_names]
    table, as_read = read_table(file, names.format, texts, numbers)
    if (key := names.columns.get("id")) is None:
        raise ValueError("truth= needs id=, the column that names the rows in both files")
    ids, paths = [], (file, source)
    for which, path in zip((table, truth), paths, strict=True):
        check_available(key, which.column_names, "id", f"column of {path.name}")
        ids.append(which[key].cast("string").combine_chunks())
    for place in (0, 1):
        strange = ids[place].filter(pc.invert(pc.is_in(ids[place], value_set=ids[1 - place])))
        lacks = f"{paths[1 - place]} lacks {listing(strange.to_pylist())}" * bool(len(strange))
        if lacks or len(ids[place].unique()) < len(ids[place]):
            what = lacks or f"{paths[place]} repeats some"
            raise ValueError(f"column {key!r} must have the same ids in both files, once: {what}")
    truth = truth.take(pc.index_in(ids[0], value_set=ids[1]))
    for name in truth.column_names:
        if name not in table.column_names and name in {*texts, *(numbers or ())}:
            table = table.append_column(name, truth[name])
    if label in truth.column_names:
        own = label if label not in table.column_names else f"{label} of {source.name}"
        several = names.scores is None or not {label}.issuperset(np.ravel(names.scores))
        of_classes = _one_hot(truth.drop_columns(key), label) if several else None
        table = table.append_column(own, truth[label] if of_classes is None else of_classes)
        names = names._replace(columns={**names.columns, "label": own})
    return Text(table, as_read), names


def _one_hot(table: Any, label: str) -> Any:
    """Return the names of the columns that are 1, if exactly one is in every row, ``label`` too."""
    import pyarrow

    columns = {name: numbers_of(name, table[name])[0] for name in table.column_names}
    flags = {x: y for x, y in columns.items() if {0, 1}.issuperset(y.unique().to_pylist())}
    ones = np.array([x.to_numpy() for x in flags.values()])
    if label not in flags or (ones.sum(axis=0) != 1).any():
        return None
    warn([Note(f"the true class is the one of the columns {listing([*flags])} that is 1")])
    return pyarrow.chunked_array([np.array([*flags])[ones.argmax(axis=0)]])


def _kept_rows(file: Path, table: Any, names: Names) -> Any:
    """Return a table without the rows that the user leaves out, and labels of one kind."""
    import pyarrow.compute as pc

    # Whoever reads other columns knows which arguments name them
    names_taken(names._replace(other_columns=()), table.column_names, "column")

    def texts(name: str) -> np.ndarray:
        column = pc.fill_null(table[name].cast("string"), "")
        return pc.utf8_trim_whitespace(column).to_numpy()

    kept = np.ones(len(table), bool) & _are_kept(texts, names)
    table = table.filter(kept)
    if file.name.lower().removesuffix(".gz").endswith(_TEXTS):
        table = with_labels(table, names)
    if not names.drop_missing:
        return table
    lacks = {name: lacks_value(table[name]) for name in columns_of_use(table, names)}
    is_left_out = np.logical_or.reduce([*lacks.values()])
    if is_left_out.any():
        rows = shortened([str(row + 1) for row in np.flatnonzero(kept)[is_left_out]])
        columns = listing(sorted(name for name, x in lacks.items() if x.any()))
        what = f"{is_left_out.sum()} of {len(table)} rows are left out, data rows {rows}"
        warn([f"drop_missing: {what}: they have no value in column {columns}"])
    return table.filter(~is_left_out)


def _kept_arrays(arrays: dict[str, np.ndarray], names: Names) -> dict[str, np.ndarray]:
    """Drop rows of some labels; those of shape (n, m), with scores (n, m, K), become rows."""
    rows = _are_kept(arrays.__getitem__, names)
    if rows is True:
        return arrays
    return {x: a[rows] if a.shape[: rows.ndim] == rows.shape else a for x, a in arrays.items()}


def _are_kept(column: Callable[[str], np.ndarray], names: Names) -> Any:
    """Return which rows the user keeps; True for all."""
    kept: Any = True
    for name, values in names.where.items():
        kept = kept & _has_one(column(name), values, name)
    if names.drop_label is not None:
        kept = kept & ~_has_one(column(names.columns["label"]), names.drop_label)
    return kept


def _has_one(column: np.ndarray, values: Any, name: str | None = None) -> np.ndarray:
    """Return which rows of a named column, or else of the labels, have one of the values."""
    if isinstance(values, Mapping):
        raise TypeError("drop_label must be a label or a list of labels, but it is a dict")
    texts = column.astype(str)
    found = np.zeros(texts.shape, bool)
    for value in listed_labels(values) or ():
        spelled = {str(value)}
        if str(value).lower() in ("true", "false"):  # as other programs write them, too
            spelled |= {str(value).lower(), str(value).capitalize(), str(value).upper()}
        has_it = np.isin(texts, MISSING if is_missing(value) or value == "" else [*spelled])
        if not has_it.any() and name is not None:
            others = listing(np.unique(texts).tolist())
            raise ValueError(
                f"where= column {name!r} has no row {value!r}: its values are {others}"
            )
        if not has_it.any():
            warn([f"drop_label: no row has the label {value!r}"])
        found |= has_it
    return found


def read_table(
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
        data = json.loads(text)
    except ValueError:
        try:
            return arrow.read_json(pyarrow.BufferReader(text.encode()))
        except pyarrow.ArrowInvalid as error:  # as of lists that mix numbers with texts
            try:
                data = [json.loads(line) for line in text.splitlines() if line.strip()]
            except ValueError:
                raise error from None
    columns = _json_columns(data)
    for name, values in columns.items():
        if any(isinstance(x, list) for x in values):
            columns[name] = [None if x is None else json.dumps(x) for x in values]
    return pyarrow.table(columns)


def _json_columns(data: Any) -> dict[str, list[Any]]:
    """Return the columns of a list of rows, or of an object.

    An object has columns, rows under one of its keys or by number, or is the only row.
    """
    rows = data
    if isinstance(data, Mapping):
        lists = [x for x in data.values() if isinstance(x, list)]
        if {"columns", "data"} <= data.keys():
            rows = [dict(zip(data["columns"], row, strict=True)) for row in data["data"]]
        elif len(lists) == 1 and lists[0] and isinstance(lists[0][0], Mapping):
            rows = lists[0]
        elif not all(isinstance(x, list | Mapping) for x in data.values()):
            rows = [data]
        elif all(map(str.isdigit, data)) and not all(map(str.isdigit, next(iter(data.values())))):
            rows = data.values()
        else:
            columns = {x: [*(v.values() if isinstance(v, Mapping) else v)] for x, v in data.items()}
            lengths = [len(x) for x in columns.values()]
            if len(set(lengths)) > 1:
                raise ValueError(
                    f"columns {listing([*data])} have different lengths: {listing(lengths)}"
                )
            return columns
    if not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("it holds rows without names: write an object for each row")
    return {x: [row.get(x) for row in rows] for x in dict.fromkeys(x for row in rows for x in row)}


def _read_feather(file: Path) -> Any:
    import pyarrow
    from pyarrow import feather, ipc

    with file.open("rb") as source:
        try:
            return feather.read_table(source)
        except pyarrow.ArrowInvalid:
            source.seek(0)
            return ipc.open_stream(source).read_all()


_READERS = {
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".json": _read_json,
    ".feather": _read_feather,
    ".arrow": _read_feather,
}


def _check_text(file: Path, given: Format) -> None:
    """Refuse to be told how text is written of a file that is none."""
    for argument, value in given._asdict().items():
        if value is not None:
            raise ValueError(f"{argument}= is for files of text, not for {file.suffix.lower()}")


_NAMES_CLASSES = re.compile("(class|label|categor|target_name)").match
_TEXTS = (".csv", ".tsv", ".txt", ".tab")
_TABLES = (*_TEXTS, ".parquet", *_READERS)
_REMEDIES = {
    ".npy": ". An .npy file holds one array without labels: save \"np.savez('scores.npz', "
    "y_true=y, y_score=s)\", and pass that file, label='y_true' and scores='y_score'",
    ".arff": ". Save it as CSV: \"pd.DataFrame(scipy.io.arff.loadarff('a.arff')[0]).map(lambda x: "
    "x.decode() if isinstance(x, bytes) else x).to_csv('a.csv', index=False)\"",
    ".dta": ". Save it as CSV: \"pd.read_stata('a.dta').to_csv('a.csv', index=False)\"",
    ".xlsx": ". Save the sheet as CSV",
    ".xls": ". Save the sheet as CSV",
}


# Arrays


def _read_npz(file: Path, names: Names) -> Inputs:
    scores = "y_score" if names.scores is None else names.scores
    if not isinstance(scores, str):
        raise ValueError("scores= must name the one array of an .npz file that holds all scores")

    def chosen(available: Sequence[str]) -> list[str]:
        taken = names_taken(names, available, "array")
        check_available(scores, available, "scores", "array")
        return list(dict.fromkeys([*taken, scores, *filter(_NAMES_CLASSES, available)]))

    arrays = _kept_arrays(_read_arrays(file, chosen), names)
    labels = names.labels
    true = arrays[names.columns["label"]]
    for name in arrays.keys() - {*names.columns.values(), scores} if labels is None else ():
        array = arrays[name]
        width = arrays[scores].shape[1] if arrays[scores].ndim == 2 else 2
        if array.shape == (width,) and {*true.ravel().tolist()} <= {*array.tolist()}:
            labels = array
    source = names.source(f"array {scores!r}", dict.fromkeys(names.columns, "array {}"))
    return Inputs(true, arrays[scores], labels, source=source, **names.beside(arrays))


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
            is_first = npy.read_magic(stream) == (1, 0)
            header = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
            shape, _, dtype = header(stream)
            declared = math.prod(shape) * max(dtype.itemsize, 1)
            held = entry.file_size - stream.tell()
        if declared != held and not dtype.hasobject:
            raise ValueError(
                f"the array {name!r} should have shape {shape}, which takes {declared:,} bytes, "
                f"but the file holds {held:,} of it"
            )
    check_memory(2 * held, f"reading the array {name!r}", "take a part of it")
    with _reading(), archive.open(entry) as stream:
        return npy.read_array(stream, allow_pickle=False)


@contextmanager
def _reading() -> Iterator[None]:
    """Turn all that readers raise into a ValueError that says why a file cannot be read.

    That is nearly everything, of files that are damaged, encrypted or odd.
    """
    try:
        yield
    except Exception as error:
        reason = on_one_line(error) or type(error).__name__
        raise ValueError(f"the file cannot be read: {reason}") from error
