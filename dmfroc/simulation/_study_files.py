"""The files of studies: Parquet with provenance, written whole, and known when they are damaged."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from dmfroc._kit.files import written_whole
from dmfroc._kit.later import DataFrame
from dmfroc._kit.text import on_one_line
from dmfroc.simulation._study_workers import Rows

PROVENANCE = b"dmfroc_study"  # key in the metadata of the Parquet file
REPLICATION = "replication"


def write(path: Path, rows: DataFrame | Rows, provenance: Any) -> None:
    """Write a Parquet file as a whole or not at all."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False)
    metadata = {**table.schema.metadata, PROVENANCE: json.dumps(provenance).encode()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as stream:
        pq.write_table(table.replace_schema_metadata(metadata), stream)


def checked_schema(columns: Mapping[str, list[Any]], what: str) -> Any:
    """Return the schema of columns, and refuse what a file cannot hold as it is, by column."""
    import pyarrow as pa

    schema = pa.schema([])
    for name, values in columns.items():
        try:
            array = pa.array(values, from_pandas=True)
            schema = schema.append(pa.field(name, array.type))
            while pa.types.is_list(array.type):
                array = array.flatten()
            if pa.types.is_struct(array.type):
                raise TypeError("a cell cannot hold values with names")
            if pa.types.is_integer(array.type) and array.null_count:
                array.cast("float64")  # as readers do, where large integers change
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            reason = on_one_line(error)
            raise ValueError(f"{what}, in the column {name!r}: {reason}") from error
    return schema


class DamagedError(ValueError):
    """A file of a study that cannot be read."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(f"{path} is damaged: {on_one_line(reason)}")
        self.path = path


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    """Open a file by Python, since Arrow takes no names that are not UTF-8."""
    import pyarrow as pa

    with path.open("rb") as stream:
        try:
            yield stream
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
            # What the system refuses has a number, what Arrow finds in a file has none
            if isinstance(error, OSError) and error.errno is not None:
                raise
            stream.seek(0)
            if stream.read(4) not in (b"PAR1", b""):
                message = f"{path} was not written by a study: it is no Parquet file"
                raise ValueError(message) from error
            raise DamagedError(path, error) from error


def set_aside(damage: DamagedError) -> None:
    """Remove a damaged file, so that its replications count as missing."""
    warnings.warn(f"{damage}; it is computed again", UserWarning, stacklevel=3)
    damage.path.unlink(missing_ok=True)


def schema_of(path: Path) -> Any:
    import pyarrow.parquet as pq

    with _reading(path) as stream:
        return pq.read_schema(stream)


def kinds_of(schema: Any) -> dict[str, str]:
    """Return what the columns hold, in words; those of missing values alone say nothing."""
    from pyarrow import types

    tests = {
        "booleans": types.is_boolean,
        "numbers": lambda kind: types.is_integer(kind) or types.is_floating(kind),
        "text": lambda kind: types.is_string(kind) or types.is_large_string(kind),
    }
    return {
        field.name: next(
            (word for word, test in tests.items() if test(field.type)), str(field.type)
        )
        for field in schema
        if field.name != REPLICATION and not types.is_null(field.type)
    }


def read(path: Path) -> tuple[DataFrame, Any]:
    import pyarrow.parquet as pq

    with _reading(path) as stream:
        table = pq.read_table(stream)
        if REPLICATION not in table.column_names:
            raise KeyError(REPLICATION)
        return table.to_pandas(), json.loads(table.schema.metadata[PROVENANCE])
