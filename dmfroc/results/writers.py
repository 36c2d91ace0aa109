"""What is written from the tables of a result: text, data frames and JSON."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass, replace
from os import PathLike
from typing import Any, BinaryIO

from dmfroc._kit.files import checked_path, written
from dmfroc._kit.later import DataFrame
from dmfroc._kit.text import width
from dmfroc.results.table import Column, Name, Table, printed
from dmfroc.results.text import LINE, format_table, paragraphs

_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)
_SIGN = re.compile(r"(?<![\w.])[+-](?=[\d ]|inf)")  # of numbers and differences, not of words
_MARKDOWN = re.compile(r"[\\|<*`\[]")


def as_text(table: Table, *, all_rows: bool = False) -> str:
    """Return a table as plain text, the first rows of a long one unless all are wanted.

    Then what does not fit into lines is left out: standard errors beside intervals, last columns.
    Two names that need more than two lines each share a column.
    """
    shown, most = (table, math.inf) if all_rows else (table.to_print, LINE)
    columns = [x for x in shown.columns if x.title]
    n_rows = len(shown.rows)
    text = _formatted(shown, columns, most)
    if text.count("\n") > n_rows + 1:  # heads or names take several lines
        columns = [replace(x, error="") for x in columns]
        text = _formatted(shown, columns, most)
    is_long = text.rpartition("─\n")[2].count("\n") >= 2 * n_rows
    if is_long and [x.key for x in columns[:2]] == ["first", "second"]:
        pairs = zip(columns[0].cells, columns[1].cells, strict=True)
        columns[:2] = [Column("pair", "A vs. B", [f"{a} vs. {b}" for a, b in pairs], "name")]
        text = _formatted(shown, columns, most)
    titles = [x.title for x in columns]
    while max(map(width, text.split("\n"))) > most and len(columns) > 1:
        columns.pop()
        text = _formatted(shown, columns, most)
    k, hidden = len(table.rows) - n_rows, ", ".join(titles[len(columns) :])
    more = [f"{k} more row{'s' * (k > 1)}"] * bool(k) + [f"columns of {hidden}"] * bool(hidden)
    if more:
        text += f"\nand {' and '.join(more)}: see to_pandas({table.key!r})"
    heading = [table.title, ""] * table.is_part
    return "\n".join([*heading, text, *paragraphs([shown.note] if shown.note else [])])


def _formatted(table: Table, columns: list[Column], most: float) -> str:
    heads, rows = printed(replace(table, columns=columns))
    texts = [[cell.text for cell in row] for row in rows]
    return format_table([x.title for x in heads], texts, [x.is_number for x in heads], most)


def as_csv(frame: DataFrame) -> str:
    """Return a data frame as comma-separated values, without row numbers."""
    stream = io.StringIO()
    frame.to_csv(stream, lineterminator="\n", index=frame.index.name is not None)
    return stream.getvalue()


def as_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    heads, rows = printed(table)
    lines = [[head.title for head in heads], ["--:" if head.is_number else "---" for head in heads]]
    lines += [[cell.text for cell in row] for row in rows]
    lines = [[_MARKDOWN.sub(r"\\\g<0>", text) for text in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_latex(table: Table) -> str:
    """Return a table for LaTeX's package booktabs."""
    heads, rows = printed(table)
    lines = [[head.title for head in heads], *([cell.text for cell in row] for row in rows)]
    head, *body = (
        " & ".join(_SIGN.sub(r"$\g<0>$", text.translate(_LATEX)) for text in line) + r" \\"
        for line in lines
    )
    kinds = "".join("r" if head.is_number else "l" for head in heads)
    parts = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*parts, r"\bottomrule", r"\end{tabular}"])


def as_frame(table: Table) -> DataFrame:
    """Return a table as a data frame; the lower and upper end of an interval are two columns."""
    import pandas as pd

    fields = _fields_of(table, splits_intervals=True)
    frame = pd.DataFrame(fields)
    return frame.set_index(next(iter(fields))) if table.is_by_name else frame


def as_records(table: Table) -> Any:
    """Return a table for JSON: objects by name, or a list of objects."""
    fields = _fields_of(table, splits_intervals=False)
    records = [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
    if table.is_by_name:
        name = table.columns[0].key
        return {str(record.pop(name)): record for record in records}
    return records


def _fields_of(table: Table, *, splits_intervals: bool) -> dict[str, list[Any]]:
    """Return the values of a table by name; a second estimate or interval has names of its own."""
    fields: dict[str, list[Any]] = {}
    for column in table.columns:
        own = _fields(column, splits_intervals)
        fields |= {f"{column.key}_{x}" if x in fields else x: own[x] for x in own}
    return fields


def _fields(column: Column, splits_intervals: bool) -> dict[str, list[Any]]:
    cells, key, own = column.cells, column.key, {}
    if column.kind not in ("estimate", "interval"):
        return {key: [x.key if isinstance(x, Name) else x for x in cells]}
    ends = [list(x[:2]) if column.kind == "interval" else list(x.interval) for x in cells]
    if column.kind == "estimate":
        own[key if splits_intervals else "value"] = [x.value for x in cells]
        own["standard_error"] = [x.standard_error for x in cells]
        key = "interval"
    if not splits_intervals:
        return own | {key: ends}
    return own | {"low": [low for low, _ in ends], "high": [high for _, high in ends]}


def as_json(attributes: Mapping[str, Any], tables: Sequence[Table]) -> dict[str, Any]:
    """Return attributes and tables for JSON; None stands for undefined numbers."""
    if hidden := attributes.keys() & {table.key for table in tables}:
        raise ValueError(
            f"attributes {sorted(hidden)} have the key of a table: rename these tables"
        )
    return strict(dict(attributes) | {table.key: as_records(table) for table in tables})


@contextmanager
def opened_page(path: str | PathLike[str], name: str = "path") -> Iterator[BinaryIO]:
    """Open an HTML file for writing; it appears under its name if all goes well, or not at all."""
    file = checked_path(name, path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{name} must name a file with .html, but it is {str(path)!r}")
    with written(file, name) as stream:
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
