"""Tables and numbers as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmfroc._kit.text import printable, width

_DECIMALS = 4
_MOST_DECIMALS = 12
_GAP = "   "


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain-text table; the first column is flush left, all others flush right.

    It is as wide as what it says.
    """
    table = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        gaps = [" " * (size - width(cell)) for size, cell in zip(widths, row, strict=True)]
        rest = [gap + cell for gap, cell in zip(gaps[1:], row[1:], strict=True)]
        lines.append(_GAP.join([row[0] + gaps[0], *rest]).rstrip())
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return "\n".join([lines[0], rule, *lines[1:]])


def format_probability(probability: float) -> str:
    """Return a probability with three digits, never rounded to a certainty."""
    if 0 < probability < 0.001:
        return "<0.001"
    if 0.999 < probability < 1:
        return ">0.999"
    return f"{probability:.3f}"


def format_p_value(p_value: float) -> str:
    """Return a p-value with two digits."""
    return f"{p_value:.2g}" if math.isfinite(p_value) else "undefined"


def format_freedom(freedom: float) -> str:
    """Return degrees of freedom: whole ones without a point, others with one digit."""
    if math.isinf(freedom):
        return "\N{INFINITY}"
    return f"{freedom:g}" if freedom == round(freedom) else f"{freedom:.1f}"


def decimals(standard_error: float) -> int:
    """Return how many decimals show two digits of the standard error, four at least.

    With these a value near its bound does not read as the bound itself.
    """
    if not standard_error > 0:  # also if it is not a number
        return _DECIMALS
    needed = 1 - math.floor(math.log10(standard_error))
    return min(max(_DECIMALS, needed), _MOST_DECIMALS)
