"""Tables of results as pages show them: as text, with what columns sort by."""

from __future__ import annotations

import re
from typing import Any

from dmfroc.analyses.catalogue import MEASURES
from dmfroc.reports.verdict import digits
from dmfroc.results.estimate import Estimate
from dmfroc.results.table import Table, printed

_MOST_ROWS = 200
_LOPSIDED = 3.0  # ratio of the sides of an interval


def _capitalized(title: str) -> str:
    # Symbols keep their case: n, df, p-value
    is_symbol = len(re.split(r"\W", title)[0]) < 3
    return title if is_symbol else title[0].upper() + title[1:]


def page_table(
    table: Table, *, has_lines: bool = False, is_folded: bool = False, note: str = ""
) -> dict[str, Any]:
    """Return a table as a part of a page, with the first rows of a long one.

    The first column names the rows. Notes are what has to be known of single cells, each with a
    number that is among the marks of these cells, by row and column; or ``note``, of all of them.
    With lines, that of each row's classifier stands before its name.
    """
    heads, rows = printed(table, digits)
    caption = table.title
    if len(rows) > _MOST_ROWS:
        caption += f"; the first {_MOST_ROWS} of {len(rows)}, all are in its JSON"
    columns = [head._replace(title=_capitalized(head.title)) for head in heads]
    notes: dict[str, str] = {}
    marks: dict[tuple[int, int], list[str]] = {}
    at = -1
    for column in table.columns:
        at += bool(column.title) * (1 + bool(column.error) + bool(column.interval))
        estimates = [(row, e) for row, e in enumerate(column.cells) if isinstance(e, Estimate)]
        for row, e in estimates[:_MOST_ROWS]:
            if text := _unusual(e):
                marks[row, at] = [notes.setdefault(text, str(len(notes) + 1))]
    return {
        "kind": "table",
        "key": table.key,
        "caption": caption,
        "columns": columns,
        "rows": rows[:_MOST_ROWS],
        "marks": marks,
        "notes": [("", note)] if note else [(mark, text) for text, mark in notes.items()],
        "has_lines": has_lines,
        "is_folded": is_folded,
    }


def as_sentence(text: str) -> str:
    """Return a text with a capital and a full stop, and with titles of measures for their names.

    What no word follows is the name of a file or a column, and stands as it is.
    """

    def title_of(name: re.Match[str]) -> str:
        return MEASURES[name[0]].title if name[0] in MEASURES else name[0]

    text = re.sub(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", title_of, text)
    first = text[:1].upper() if re.match(r"[\w-]+,? ", text) else text[:1]
    return f"{first}{text[1:].rstrip('.')}."


def _unusual(e: Estimate) -> str:
    """Say what is unusual about an interval, if anything is."""
    below, above = e.value - e.interval[0], e.interval[1] - e.value
    if e.bias_corrected is not None:
        side = "upwards" if e.bias_corrected < e.value else "downwards"
        return f"The value is biased {side}. The interval accounts for that."
    if max(below, above) > _LOPSIDED * min(below, above):
        return (
            f"The interval is longer {'below' if below > above else 'above'} the value, as is "
            "usual close to the end of a measure's range."
        )
    return ""
