"""Results whose tables are their attributes, and several results of one kind by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
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
            yield name, value.name.lower().replace("_", " ")
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


class ResultsByName[R: Result](Result, dict[Hashable, R]):
    """Results of one kind by name: a dict, with the tables of all.

    Parameters
    ----------
    results : mapping
        By class, each against the rest, or by measure.
    of : {"class", "measure"}
        What the names are.
    """

    main_table: ClassVar[str] = ""
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, results: Mapping[Hashable, R], of: str = "class") -> None:
        super().__init__(results)
        self.of = of

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, and for which names."""
        return attributed({str(name): one.warnings for name, one in self.items()})

    def tables(self) -> list[Table]:
        """Return the tables of the results, with the name in front of each row."""
        tables = zip(*(one.tables() for one in self.values()), strict=True)
        key = "label" if self.of == "class" else self.of
        return [_stacked(key, self.of, list(self), of_names) for of_names in tables]

    def _table(self, key: str | None) -> Table:
        return super()._table(next(iter(self.values())).main_table if key is None else key)


def _stacked(key: str, title: str, names: list[Hashable], tables: tuple[Table, ...]) -> Table:
    result_of_row = [name for name, table in zip(names, tables, strict=True) for _ in table.rows]
    rows = [row for table in tables for row in table.rows]
    columns = [
        replace(same[0], cells=cells, title=_common(same[0].key, [x.title for x in same]))
        for same, cells in zip(
            zip(*(table.columns for table in tables), strict=True),
            zip(*rows, strict=True),
            strict=True,
        )
    ]
    common = _common(tables[0].key, [table.title for table in tables])
    named = Column(key, title, result_of_row, "name")
    return replace(tables[0], title=common, columns=[named, *columns], is_by_name=False)


def _common(key: str, titles: list[str]) -> str:
    return titles[0] if len(set(titles)) == 1 else in_words(key)
