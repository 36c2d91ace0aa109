"""Results whose tables are their attributes, and several results of one kind by class."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from dmfroc.results.result import Result, attributed
from dmfroc.results.table import Column, Name, Table
from dmfroc.results.text import in_words

_N_PRINTED = 10  # rows of a curve, in print


class AttributeTables(Result):
    """A result with a table of its single values, and one of the arrays of each length.

    A table of arrays has the name of its first one. Arrays of two dimensions are in no table.
    """

    main_table: ClassVar[str] = "values"
    warnings: ClassVar[tuple[str, ...]] = ()

    def tables(self) -> list[Table]:
        """Return the public attributes and properties as tables."""
        single: list[Column] = []
        by_length: dict[int, list[Column]] = {}
        for name, value in _shown(self):
            columns = by_length.setdefault(len(value), []) if isinstance(value, list) else single
            columns.append(_column(name, value if isinstance(value, list) else [value]))
        tables = [Table("values", in_words(type(self).__name__), single)] if single else []
        return tables + [
            Table(columns[0].key, in_words(columns[0].key), columns, n_printed=_N_PRINTED)
            for columns in by_length.values()
        ]


def _shown(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object that fit into a table: single values, and lists."""
    names = [field.name for field in fields(result)]
    for kind in type(result).__mro__:
        properties = (name for name, x in vars(kind).items() if isinstance(x, property))
        names += [name for name in properties if not hasattr(Result, name)]
    for name in dict.fromkeys(names):
        value = getattr(result, name)
        if isinstance(value, Enum):
            yield name, value.value
        elif name == "label" or isinstance(value, str | int | float | None):
            yield name, str(value) if isinstance(value, tuple) else value
        elif isinstance(value, np.ndarray) and value.ndim == 1:
            yield name, value.tolist()
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            parts = [dict(_shown(part)) for part in value]
            of_parts = {key: [part[key] for part in parts] for key in parts[0]}
            yield from ((k, x) for k, x in of_parts.items() if not isinstance(x[0], list))
        elif isinstance(value, tuple) and value and isinstance(value[0], tuple):
            yield name, [Name(x, " against ".join(map(str, x))) for x in value]
        elif isinstance(value, tuple) and all(isinstance(x, Hashable) for x in value):
            yield name, list(value)


def _column(name: str, cells: list[Any]) -> Column:
    is_number = all(isinstance(x, float) for x in cells)
    return Column(name, name.replace("_", " "), cells, "number" if is_number else "name")


class ResultsByClass[R: Result](Result, dict[Hashable, R]):
    """Results of one kind, each of a class against the rest: a dict, with the tables of all."""

    main_table: ClassVar[str] = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, and for which classes."""
        return attributed({str(label): one.warnings for label, one in self.items()})

    def tables(self) -> list[Table]:
        """Return the tables of the results, with the class in front of each row."""
        tables = zip(*(one.tables() for one in self.values()), strict=True)
        return [_stacked(list(self), of_classes) for of_classes in tables]

    def _table(self, key: str | None) -> Table:
        return super()._table(next(iter(self.values())).main_table if key is None else key)


def _stacked(labels: list[Hashable], tables: tuple[Table, ...]) -> Table:
    of_row = [label for label, table in zip(labels, tables, strict=True) for _ in table.rows]
    rows = [row for table in tables for row in table.rows]
    columns = [
        replace(column, cells=cells)
        for column, cells in zip(tables[0].columns, zip(*rows, strict=True), strict=True)
    ]
    names = Column("label", "class", of_row, "name")
    return replace(tables[0], columns=[names, *columns], is_by_name=False)
