"""Names and labels as text that can be printed: whatever they hold comes from data."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import Any

# Control, format (which turns the direction of writing), surrogate, private and unassigned
# characters, and the separators of lines and paragraphs
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # part of how some scripts are written, and harmless


def printable(value: Any) -> str:
    r"""Return a value as text on one line, with escapes for what would act on a terminal.

    >>> print(printable("\x1b[31mred\nline"))
    \x1b[31mred\nline
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        x
        if x in _JOINERS or unicodedata.category(x) not in _UNPRINTABLE
        else x.encode("unicode_escape", "backslashreplace").decode()
        for x in text
    )


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> width("ab"), width("日本"), width("e\u0301")
    (2, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character) or character in _JOINERS
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def on_one_line(text: object) -> str:
    """Return a text, such as an error's, without its line breaks."""
    return " ".join(str(text).split())


def class_name(label: Any, *, is_alone: bool = False) -> str:
    """Return a class as texts name it: a number says that it is one, as all do that stand alone.

    >>> class_name(2), class_name("cat"), class_name("cat", is_alone=True)
    ('class 2', 'cat', 'class cat')
    >>> class_name("class 2", is_alone=True)
    'class 2'
    """
    text = str(label)
    says_it = is_alone and not text.startswith("class ")
    return f"class {text}" if says_it or text.lstrip("+-.")[:1].isdigit() else text


def in_percent(share: float) -> str:
    """Return a share, such as a level, in per cent.

    >>> in_percent(0.95)
    '95 %'
    """
    return f"{100 * share:g} %"


def legend_text(value: Any) -> str:
    r"""Return a text that matplotlib draws as it is written.

    A dollar sign begins a formula, and an underscore at the beginning hides the entry.

    >>> print(legend_text("_price in $"))
    ​_price in \$
    """
    text = printable(value).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def split_calls(text: str) -> list[str]:
    """Split a text at its commas, but not at those between the options of a name.

    >>> split_calls("accuracy, recall_at(k=5, label=1)")
    ['accuracy', 'recall_at(k=5,label=1)']
    """
    if "\n" in text:
        raise ValueError(f"{text[:80]!r} is no list on one line")
    items: list[str] = []
    for item in text.split(",") if text.strip() else ():
        if items and items[-1].count("(") > items[-1].count(")"):
            items[-1] += f",{item.strip()}"
        else:
            items.append(item.strip())
    return items


def normalized(name: str) -> str:
    """Return a name without regard to case, spaces, hyphens and other marks.

    >>> normalized("Youden's J"), normalized("LR+")
    ('youdenj', 'lrplus')
    """
    folded = (
        name.casefold().strip().replace("'s", "").replace("\N{RIGHT SINGLE QUOTATION MARK}s", "")
    )
    for sign, word in (("+", "plus"), ("-", "minus")):  # of likelihood ratios
        folded = folded.removesuffix(sign) + word * folded.endswith(sign)
    return "".join(filter(str.isalnum, folded))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known name that is most like a wrong one, if one is like it.

    >>> "there is no column 'trees'" + did_you_mean("trees", ["tree", "site"])
    "there is no column 'trees' (did you mean 'tree'?)"
    """
    alike = {x.casefold(): x for x in known}
    close = difflib.get_close_matches(name.casefold(), alike, n=1)
    return f" (did you mean {alike[close[0]]!r}?)" if close else ""
