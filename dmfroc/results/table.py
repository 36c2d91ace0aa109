"""Tables of results: a title, typed columns, and rows of plain values.

A result says what is in its tables; text, data frames, JSON and HTML are written from them, each in
one place for all results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from dmfroc._kit.text import did_you_mean
from dmfroc.results.text import (
    decimals,
    format_freedom,
    format_interval,
    format_p_value,
    format_probability,
)

_ROUNDING = 1e-12  # smaller numbers are what is left of zero in floating point
_SMALL = 1e-3  # four decimals show one digit or none of smaller numbers

Kind = Literal[
    "name",
    "count",
    "number",
    "error",
    "percent",
    "bound",
    "freedom",
    "estimate",
    "interval",
    "p_value",
    "probability",
]


_YES_OR_NO = {"True": "yes", "False": "no"}
_NUMBERS: tuple[str, Callable[[Any], bool]] = "numbers", lambda x: hasattr(x, "__float__")
_CELLS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("text", lambda _: True),
    "interval": (
        "tuples of two ends and their standard error",
        lambda x: hasattr(x, "__len__") and len(x) == 3,
    ),
    "estimate": ("like Estimate or Difference", lambda x: hasattr(x, "standard_error")),
}


_TEXTS: dict[str, Callable[[Any], str]] = {
    "bound": "<= {:.1e}".format,
    "percent": lambda x: f"{100 * x:.1f} %",
    "freedom": format_freedom,
    "count": "{:,.0f}".format,
    "p_value": format_p_value,
    "probability": format_probability,
}


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    key : str
        Its name in data frames and JSON.
    title : str
        Its head in print; empty if only programs see it.
    cells : iterable
        One for each row.
    kind : {"name", "count", "number", "error", "percent", "bound", "freedom", "estimate", \
"interval", "p_value", "probability"}
        What its cells hold; ``"freedom"`` are degrees of freedom, an error says how many
        digits it has itself. A name is anything with a text, or a list of such; an estimate has
        ``value``, ``standard_error`` and ``interval``. An interval is a tuple of two ends and the
        standard error that says how many digits they have. True and False among numbers print as
        yes and no.
    interval, error : str
        Heads of what stands beside an estimate in print; not printed if empty.
    is_signed : bool
        Whether positive numbers have a sign in print.
    n_draws, n_least : int
        By how many draws p-values are found, if they are, and how many of them the least possible
        p-value counts: it is a bound.
    """

    key: str
    title: str
    cells: Iterable[Any]
    kind: Kind = "number"
    interval: str = ""
    error: str = ""
    is_signed: bool = False
    n_draws: int = 0
    n_least: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"kind of column {self.key!r} must be one of {get_args(Kind)}, but it is "
                f"{self.kind!r}{did_you_mean(self.kind, get_args(Kind))}"
            )
        what, fits = _CELLS.get(self.kind, _NUMBERS)
        for row, cell in enumerate(self.cells):
            if cell is not None and not fits(cell):
                raise TypeError(
                    f"cells of column {self.key!r}, of kind {self.kind!r}, must be {what}, but "
                    f"that of row {row} is {cell!r}, of type {type(cell).__name__}"
                )


@dataclass(frozen=True)
class Table:
    """A table of a result.

    Attributes
    ----------
    key : str
        Its name in JSON, and for ``to_pandas``.
    title : str
        What it shows.
    columns : sequence of Column
        All of one length; the first names the rows.
    is_by_name : bool
        Whether the first column identifies the rows: it is the index of a data frame then.
    n_printed : int
        As many rows are printed of a longer table; of 0 only where they all are.
    order : sequence of int
        The rows that are printed of a longer table, by default the first ones. They may be in the
        order of their importance, or `spread` over a curve.
    as_printed : Table, optional
        What people read instead.
    note : str
        A line beneath it in print.
    is_part : bool
        Whether it is a part of a longer table, and stands below its title in print.
    """

    key: str
    title: str
    columns: Sequence[Column]
    is_by_name: bool = False
    n_printed: int = 50
    order: Sequence[int] = ()
    as_printed: Table | None = None
    note: str = ""
    is_part: bool = False

    def __post_init__(self) -> None:
        lengths = {x.key: len(tuple(x.cells)) for x in self.columns}
        if len({*lengths.values()}) > 1:
            raise ValueError(f"columns of table {self.key!r} must have as many cells: {lengths}")

    @property
    def to_print(self) -> Table:
        """The same table, or of a longer one those rows that are printed."""
        if self.as_printed is not None:
            return self.as_printed.to_print
        if len(rows := self.rows) <= self.n_printed:
            return self
        places = (self.order or range(len(rows)))[: self.n_printed]
        shown = zip(*(rows[i] for i in places), strict=True)
        columns = [replace(x, cells=own) for x, own in zip(self.columns, shown, strict=True)]
        title = f"{self.title}; {len(places)} of {len(rows)}, all are in its JSON"
        return replace(self, columns=columns, order=(), title=title)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """A cell of each column, for each row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


def attribute_columns(things: Sequence[Any], *heads: tuple[str, str, Kind]) -> list[Column]:
    """Return a column of each attribute of some things, with its head and kind."""
    return [
        Column(key, title, [getattr(x, key) for x in things], kind) for key, title, kind in heads
    ]


def spread(rows: Sequence[Any], n_printed: int) -> Sequence[Any]:
    """Return at most so many of some rows, at equal distances.

    >>> spread(range(1, 100), 20)
    range(5, 100, 5)
    """
    step = max(1, -(-len(rows) // n_printed))
    return rows[step - 1 :: step]


class Name(NamedTuple):
    """What a program calls something, and what people read."""

    key: Any
    title: str

    def __str__(self) -> str:
        """Return what people read."""
        return self.title


class Head(NamedTuple):
    """The head of a printed column."""

    title: str
    is_number: bool
    sorts: bool = True


class Cell(NamedTuple):
    """A printed cell, and the number or the two ends that it stands for."""

    text: str
    number: float | None = None
    ends: tuple[float | None, float | None] | None = None


Digits = Callable[[float, float], str]
"""Writes a number with as many digits as its standard error asks for."""


def rounded(x: float | int, standard_error: float = math.nan, *, fewer: int = 0) -> str:
    """Return a number with two digits of its standard error, four decimals at least.

    A number without standard error that these would not show has three digits of its own.
    """
    if math.isnan(x):
        return "undefined"
    if not standard_error > 0 and _ROUNDING < abs(x) < _SMALL:
        return f"{x:.3g}"
    text = f"{x:.{decimals(standard_error) - fewer}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def printed(table: Table, digits: Digits = rounded) -> tuple[list[Head], list[list[Cell]]]:
    """Return heads and cells of a table as people read them."""
    table = table.as_printed or table
    shown = [(i, _of_counts(column)) for i, column in enumerate(table.columns) if column.title]
    heads = [head for _, column in shown for head in _heads(column)]
    rows = [[cell for i, c in shown for cell in _cells(c, row[i], digits)] for row in table.rows]
    return heads, rows


def _of_counts(column: Column) -> Column:
    """Return a column of whole numbers, some of them large, as one of counts."""
    if column.kind != "number" or not all(
        float(x).is_integer() for x in column.cells if x is not None
    ):
        return column
    is_large = any(x is not None and abs(x) > 1 for x in column.cells)
    return replace(column, kind="count") if is_large else column


def _heads(column: Column) -> list[Head]:
    is_number = column.kind != "name"
    heads = [Head(column.title, is_number, sorts=column.kind != "interval")]
    if column.error:
        heads.append(Head(column.error, is_number))
    if column.interval:
        heads.append(Head(column.interval, is_number, sorts=False))
    return heads


def _cells(column: Column, value: Any, digits: Digits) -> list[Cell]:
    if column.kind == "estimate":
        error = value.standard_error
        cells = [_number(value.value, error, digits, column.is_signed)]
        if column.error:  # that the sample shows none does not make it 0
            is_known = error != 0 or value.interval[0] == value.interval[1]
            cells.append(_number(error, error, digits) if is_known else Cell("not known", 0.0))
        if column.interval:
            cells.append(_interval(value.interval, error, digits, column.is_signed))
        return cells
    return [_cell(column, value, digits)]


def _cell(column: Column, value: Any, digits: Digits) -> Cell:
    kind, n_draws = column.kind, column.n_draws
    if value is None:
        return Cell("")
    if kind == "name":
        is_list = isinstance(value, tuple | list) and not isinstance(value, Name)
        return Cell(" > ".join(map(str, value)) if is_list else str(value))
    if kind == "interval":
        return _interval(value[:2], value[2], digits, column.is_signed)
    if kind in _TEXTS:
        text = _TEXTS[kind](value)
        if n_draws and round(value * (n_draws + 1), 6) == column.n_least:
            text = f"<= {text} ({n_draws:,} draws)"
        return Cell(text, _finite(value))
    if str(value) in _YES_OR_NO:  # of Python or NumPy
        return Cell(_YES_OR_NO[str(value)], float(value))
    return _number(value, value if kind == "error" else math.nan, digits, column.is_signed)


def _interval(
    ends: tuple[float, float], error: float, digits: Digits, is_signed: bool = False
) -> Cell:
    text = format_interval(ends, lambda end: _number(end, error, digits, is_signed).text)
    return Cell(text, ends=(_finite(ends[0]), _finite(ends[1])))


def _number(
    value: float | int, error: float | int, digits: Digits, is_signed: bool = False
) -> Cell:
    text = digits(value, error)
    is_plus = is_signed and value > 0 and float(text) > 0  # neither a plus nor a minus at 0.0000
    return Cell(f"+{text}" if is_plus else text, _finite(value))


def _finite(value: float | int) -> float | None:
    return float(value) if math.isfinite(value) else None
