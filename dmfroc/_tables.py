"""Tables and numbers as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO

_DECIMALS = 4
_MOST_DECIMALS = 12


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain-text table; the first column is flush left, all others flush right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, title in enumerate(header):
        table.add_column(title, justify="left" if index == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    text = StringIO()
    Console(file=text, width=200, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines())


def format_probability(probability: float) -> str:
    """Return a probability with three digits, never rounded to a certainty."""
    if 0 < probability < 0.001:
        return "<0.001"
    if 0.999 < probability < 1:
        return ">0.999"
    return f"{probability:.3f}"


def decimals(standard_error: float) -> int:
    """Return how many decimals show two digits of the standard error, four at least.

    With these a value near its bound does not read as the bound itself.
    """
    if not standard_error > 0:  # also if it is not a number
        return _DECIMALS
    needed = 1 - math.floor(math.log10(standard_error))
    return min(max(_DECIMALS, needed), _MOST_DECIMALS)
