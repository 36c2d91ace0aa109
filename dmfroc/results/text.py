"""Tables and numbers as text."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from dmfroc._kit.remarks import Note
from dmfroc._kit.text import printable, width

_DECIMALS = 4
_MOST_DECIMALS = 12
_GAP = "   "
LINE = 80.0  # columns of a terminal
_NARROW, _LONGEST = 10, 20  # text in several lines, and words in one
_BREAKS = re.compile(r"\s|(?<=\w{3}-)(?=\w{3})")
_BREAKS_OF_NAMES = re.compile(r"\s+|(?<=\w{3}[-_])(?=\w{3})")
_SMALLEST_P_VALUE = 1e-15  # no assumption of a test holds so far out in the tails


class _NameWrapper(textwrap.TextWrapper):
    """Breaks lines behind underscores, too."""

    wordsep_re = re.compile(f"({_BREAKS_OF_NAMES.pattern})")


def warning_lines(warnings: Iterable[str]) -> list[str]:
    """Return each warning, and each note, as a paragraph of its own."""
    return paragraphs(f"{'note' if isinstance(x, Note) else 'warning'}: {x}" for x in warnings)


def paragraphs(lines: Iterable[str]) -> list[str]:
    """Return each line with breaks between words where a terminal ends."""
    how: Any = dict(subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [
        textwrap.fill(x, int(LINE) * len(x) // size, **how) if (size := width(x)) > LINE else x
        for x in lines
    ]


def common(facts: Sequence[Any]) -> Any:
    """Return facts about the designs of several samples: in a list what is not the same."""
    if all(x == facts[0] for x in facts):
        return facts[0]
    if all(isinstance(x, Mapping) for x in facts):
        names = dict.fromkeys(name for x in facts for name in x)
        return {name: common([x.get(name) for x in facts]) for name in names}
    return list(facts)


def known(design: Any) -> Any:
    """Return the facts about a design without those that are None."""
    if isinstance(design, Mapping):
        return {name: known(value) for name, value in design.items() if value is not None}
    return design


def facts(design: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about a design by their title, as text.

    >>> facts({"folds": 5, "horizon": {"at": 12.0, "time": None, "known": [226, 1226]}})
    {'Folds': '5', 'Horizon': 'at 12, known 226 / 1,226'}
    """
    return {in_words(name): _fact(value) for name, value in known(design).items()}


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_fact(x)}" for k, x in value.items())
    if isinstance(value, list):
        return " / ".join(map(_fact, value))
    if isinstance(value, bool | str | None):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def design_lines(design: Mapping[str, Any]) -> list[str]:
    """Return the facts about a design in a line, if there are any."""
    shown = [f"{title}: {text}" for title, text in facts(design).items()]
    return [printable("; ".join(shown))] if shown else []


def format_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    are_numbers: Sequence[bool],
    most: float = LINE,
) -> str:
    """Return a plain-text table, with text flush left and numbers flush right.

    It is as wide as its text; if that is wider than ``most``, heads and text take several lines.
    """
    table = [[printable(cell) for cell in row] for row in (header, *rows)]
    columns = list(zip(*table, strict=True))
    widths, gap, n_gaps = [max(map(width, column)) for column in columns], _GAP, len(columns) - 1
    if sum(widths) + len(gap) * n_gaps > most:
        gap = _GAP[1:]
        most -= len(gap) * n_gaps
        words, pieces = (
            [[max(map(width, breaks.split(x))) for x in column] for column in columns]
            for breaks in (_BREAKS, _BREAKS_OF_NAMES)
        )
        cells = [max([x[0], *map(width, y[1:])]) for x, y in zip(words, columns, strict=True)]
        whole, split, least = (
            [
                x if is_number else min(x, max(_NARROW, min(max(y), longest)))
                for is_number, x, y in zip(are_numbers, cells, of_text, strict=True)
            ]
            for of_text, longest in ((words, most), (pieces, most), (pieces, _LONGEST))
        )
        # Heads in several lines, then text, then names, then words
        for limits in (cells, whole, split, least):
            while sum(widths) > most and widths != limits:
                wider = [i for i, (x, y) in enumerate(zip(widths, limits, strict=True)) if x > y]
                widths[max(wider, key=widths.__getitem__)] -= 1
    indents = [
        "  " * all(max(map(width, _parts(x, size))) + 2 <= size for x in cells if width(x) > size)
        for size, (_, *cells) in zip(widths, columns, strict=True)
    ]
    lines = []
    for row in table:
        parts = [
            [x] if width(x) <= size else _wrapped(x, size, indent * (row is not table[0]))
            for size, x, indent in zip(widths, row, indents, strict=True)
        ]
        for line in zip_longest(*parts, fillvalue=""):
            gaps = [" " * (size - width(x)) for size, x in zip(widths, line, strict=True)]
            filled = zip(are_numbers, gaps, line, strict=True)
            text = gap.join(y + x if is_number else x + y for is_number, y, x in filled)
            lines.append(text.rstrip())
        if row is table[0]:
            lines.append("─" * (sum(widths) + len(gap) * n_gaps))
    return "\n".join(lines)


def _has_long_name(text: str, size: int) -> bool:
    return max(map(width, _BREAKS.split(text))) > size


def _parts(text: str, size: int) -> list[str]:
    """Return what is not broken: names are, behind underscores, if they are longer than a line."""
    return (_BREAKS_OF_NAMES if _has_long_name(text, size) else _BREAKS).split(text)


def _wrapped(text: str, size: int, indent: str) -> list[str]:
    """Return a text in lines, and all but the first with an indent."""
    wrapper = _NameWrapper if _has_long_name(text, size) else textwrap.TextWrapper
    return wrapper(size * len(text) // width(text), subsequent_indent=indent).wrap(text)


def format_probability(probability: float) -> str:
    """Return a probability with three digits, never as a certainty.

    It is estimated: also one that is 1 in floating point, or in all draws, may be a little less.

    >>> format_probability(1.0), format_probability(0.25), format_probability(1e-9)
    ('>0.999', '0.250', '<0.001')
    """
    if probability < 0.001:
        return "<0.001"
    if probability > 0.999:
        return ">0.999"
    return f"{probability:.3f}"


def format_p_value(p_value: float) -> str:
    """Return a p-value with two digits, neither rounded to 1 nor below what a test can show.

    >>> format_p_value(0.0), format_p_value(0.0301), format_p_value(0.998), format_p_value(1.0)
    ('<1e-15', '0.030', '>0.99', '1')
    """
    if math.isnan(p_value):
        return "undefined"
    if p_value < _SMALLEST_P_VALUE:
        return f"<{_SMALLEST_P_VALUE:g}"
    text = f"{p_value:#.2g}"
    return "1" if p_value == 1 else ">0.99" if text == "1.0" else text


def equals_p_value(p_value: float) -> str:
    """Return a p-value for a sentence: ``p = 0.012`` or ``p < 1e-15``.

    >>> equals_p_value(0.01234), equals_p_value(0.0)
    ('p = 0.012', 'p < 1e-15')
    """
    text = format_p_value(p_value)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def format_interval(interval: tuple[float, float], write: Callable[[float], str]) -> str:
    """Return an interval, or the one limit of an interval that is open on a side.

    >>> format_interval((-0.01, 0.2), "{:+.2f}".format)
    '-0.01 to +0.20'
    >>> format_interval((-0.01, math.inf), "{:+.2f}".format)
    'at least -0.01'
    """
    low, high = interval
    if math.isnan(low) and math.isnan(high):
        return write(low)
    if high == math.inf:
        return f"at least {write(low)}"
    return f"at most {write(high)}" if low == -math.inf else f"{write(low)} to {write(high)}"


def format_freedom(freedom: float | int) -> str:
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


def in_words(name: str) -> str:
    """Return the name of a class or an attribute as the title of a table: "Multiclass ROC"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").split()
    text = " ".join(word if word.isupper() else word.lower() for word in words)
    return text[:1].upper() + text[1:]
