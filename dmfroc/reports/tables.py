"""Tables of results as pages show them: as text, with what columns sort by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dmfroc.reports.verdict import number
from dmfroc.results.table import Cell, Head, Table, printed

_MOST_ROWS = 200


@dataclass(frozen=True)
class PageTable:
    """A table on a page; the first column names the rows.

    With marks, the line of each row's classifier stands before its name.
    """

    kind: ClassVar = "table"
    name: str
    caption: str
    columns: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    has_marks: bool = False


def _capitalized(title: str) -> str:
    # Symbols keep their case: n, df, p-value
    is_symbol = len(re.split(r"\W", title)[0]) < 3
    return title if is_symbol else title[0].upper() + title[1:]


def page_table(table: Table, *, has_marks: bool = False) -> PageTable:
    """Return a table as a page shows it, the first rows of a long one."""
    heads, rows = printed(table, number)
    caption = table.title
    if len(rows) > _MOST_ROWS:
        caption += f"; the first {_MOST_ROWS} of {len(rows)}, all are among the numbers"
    name = table.key.replace("_", " ").capitalize()
    columns = [head._replace(title=_capitalized(head.title)) for head in heads]
    return PageTable(name, caption, columns, rows[:_MOST_ROWS], has_marks)
