"""Tables of the options that go together, from `option_pairs.csv`: a directive of Sphinx.

``{option_pairs} estimate`` shows which pairs of options of a function are right and which are
refused, and ``{option_inputs} estimate`` the same of each option and each kind of input.
``python tests/option_analyses.py > docs/option_pairs.csv`` finds all pairs, `make fuzz` compares.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FILE = Path(__file__).parent / "option_pairs.csv"


class Pair(NamedTuple):
    """Two options of a function with a kind of input, and what comes of them."""

    function: str
    input: str
    first: str
    second: str
    verdict: str
    message: str


def read_pairs() -> list[Pair]:
    """Read the table."""
    with FILE.open(newline="") as file:
        return [Pair(**row) for row in csv.DictReader(file)]


def _kinds(function: str) -> dict[str, list[Pair]]:
    """Return the pairs of a function by its kind of input."""
    kinds: dict[str, list[Pair]] = {}
    for pair in read_pairs():
        if pair.function == function:
            kinds.setdefault(pair.input, []).append(pair)
    if not kinds:
        raise ValueError(f"there is no function {function!r}")
    return kinds


def _are_pairs(pairs: list[Pair]) -> bool:
    return any(pair.first != pair.second for pair in pairs)


class _Refusals:
    """The messages of refusals, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def cell(self, pair: Pair | None) -> str:
        """Return what a table shows of a pair."""
        if pair is None:
            return ""
        if pair.verdict == "right":
            return "✓"
        return str(self.numbers.setdefault(pair.message, len(self.numbers) + 1))

    def lines(self) -> list[str]:
        """Return the list of the messages."""
        escaped = (message.replace("*", "\\*").replace("<", "&lt;") for message in self.numbers)
        return ["", *(f"{number}. {text}" for number, text in enumerate(escaped, 1))]


def pairs_table(function: str) -> list[str]:
    """Return the lines in Markdown: each option of a function with each other one."""
    [pairs] = [x for x in _kinds(function).values() if _are_pairs(x)]
    options = list(dict.fromkeys(pair.first for pair in pairs))
    found = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    refusals = _Refusals()
    numbers = range(1, len(options) + 1)
    lines = ["| | | " + " | ".join(map(str, numbers)) + " |", "| --- " * (len(options) + 2) + "|"]
    for number, row in zip(numbers, options, strict=True):
        cells = [refusals.cell(found.get(frozenset((row, x)))) for x in options[:number]]
        lines.append(
            f"| {number} | `{row}` | " + " | ".join(cells) + " |" * (len(options) - number + 1)
        )
    return lines + refusals.lines()


def inputs_table(function: str) -> list[str]:
    """Return the lines in Markdown: each option of a function with each kind of input."""
    kinds = {x: pairs for x, pairs in _kinds(function).items() if not _are_pairs(pairs)}
    options = list(dict.fromkeys(pair.first for pairs in kinds.values() for pair in pairs))
    refusals = _Refusals()
    lines = ["| | " + " | ".join(kinds) + " |", "| --- " * (len(kinds) + 1) + "|"]
    for option in options:
        own = [{pair.first: pair for pair in pairs}.get(option) for pairs in kinds.values()]
        lines.append(f"| `{option}` | " + " | ".join(map(refusals.cell, own)) + " |")
    return lines + refusals.lines()


class _TableDirective(SphinxDirective):
    """Show a table of one function."""

    required_arguments = 1
    table: ClassVar[Callable[[str], list[str]]]

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive is."""
        container = nodes.container()
        lines = StringList(type(self).table(self.arguments[0]), FILE.name)
        self.env.note_dependency(str(FILE))
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


class PairsDirective(_TableDirective):
    """Show which pairs of options go together."""

    table = staticmethod(pairs_table)


class InputsDirective(_TableDirective):
    """Show which options go with which inputs."""

    table = staticmethod(inputs_table)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("option_pairs", PairsDirective)
    app.add_directive("option_inputs", InputsDirective)
    return {"parallel_read_safe": True}
