"""What is written from the tables of a result: text, data frames and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dmfroc._kit.files import written
from dmfroc.results.table import Column, Name, Table, printed
from dmfroc.results.text import format_table

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 50  # in print


def as_text(table: Table) -> str:
    """Return a table as plain text, the first rows of a long one."""
    heads, rows = printed(table)
    texts = [[cell.text for cell in row] for row in rows[:_MOST_ROWS]]
    text = format_table([head.title for head in heads], texts)
    if (more := len(rows) - _MOST_ROWS) > 0:
        text += f"\nand {more} more {table.key}: see to_pandas({table.key!r})"
    return text


def as_frame(table: Table) -> pd.DataFrame:
    """Return a table as a data frame; the lower and upper end of an interval are two columns."""
    import pandas as pd

    names: list[str] = []
    for column in table.columns:
        # A second interval has names of its own
        names += [f"{column.key}_{x}" if x in names else x for x in _field_names(column)]
    rows = [
        [
            cell
            for column, value in zip(table.columns, row, strict=True)
            for cell in _fields(column, value)
        ]
        for row in table.rows
    ]
    frame = pd.DataFrame(rows, columns=names)
    return frame.set_index(names[0]) if table.is_by_name else frame


def _field_names(column: Column) -> list[str]:
    if column.kind == "estimate":
        return [column.key, "standard_error", "low", "high"]
    return ["low", "high"] if column.kind == "interval" else [column.key]


def _fields(column: Column, value: Any) -> list[Any]:
    if column.kind == "estimate":
        return [value.value, value.standard_error, *value.interval]
    if column.kind == "interval":
        return list(value[:2])
    return [value.key if isinstance(value, Name) else value]


def as_records(table: Table) -> Any:
    """Return a table for JSON: objects by name, or a list of objects."""
    records = [
        {
            key: cell
            for column, value in zip(table.columns, row, strict=True)
            for key, cell in _entries(column, value).items()
        }
        for row in table.rows
    ]
    if table.is_by_name:
        name = table.columns[0].key
        return {str(record.pop(name)): record for record in records}
    return records


def _entries(column: Column, value: Any) -> dict[str, Any]:
    if column.kind == "estimate":
        return {
            "value": value.value,
            "standard_error": value.standard_error,
            "interval": list(value.interval),
        }
    if column.kind == "interval":
        return {column.key: list(value[:2])}
    return {column.key: value.key if isinstance(value, Name) else value}


def as_json(facts: Mapping[str, Any], tables: Sequence[Table]) -> dict[str, Any]:
    """Return facts and tables for JSON; None stands for undefined numbers."""
    if hidden := facts.keys() & {table.key for table in tables}:
        raise ValueError(f"facts {sorted(hidden)} have the key of a table: rename these tables")
    return strict(dict(facts) | {table.key: as_records(table) for table in tables})


@contextmanager
def opened_page(path: str | PathLike[str], name: str = "path") -> Iterator[BinaryIO]:
    """Open an HTML file for writing; it appears under its name if all goes well, or not at all."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{name} must name a file with .html, but it is {str(path)!r}")
    with written(Path(path), name) as stream:
        yield stream


def strict(value: Any) -> Any:
    """Return a value in types of strict JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return strict(asdict(value))
    if hasattr(value, "_asdict"):  # a named tuple
        return strict(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [strict(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return strict(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)


def json_text(value: Any) -> str:
    """Return strict JSON."""
    return json.dumps(strict(value), indent=2, allow_nan=False)
