"""Tables of the measures for the pages, from the registry: a directive of Sphinx.

``{measures} costs, hand_till`` lists the measures of a family, and one by name. With the option
``:classes: any`` or ``:classes: two`` it lists those that are defined for any number of classes, or
for two classes only, and with ``:definitions:`` their formulas, which are in `measures.tsv`.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dmfroc import Measure, Predictions
from dmfroc.measures import FACTORIES, MEASURES

_SIZES = {math.inf: r"\infty", math.sqrt(2): r"\sqrt 2", 0.25: "1/4", 0.5: "1/2"}
_CHANCES = {0.5: "1/2", 1 / 6: "1/6"}
THREE_CLASSES = Predictions.from_arrays([0, 1, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


class Definition(NamedTuple):
    """What the docstring of a measure leaves to its page; sources only where it has none."""

    name: str
    when: str
    definition: str
    chance: str
    source: str


@functools.cache
def definitions() -> dict[str, Definition]:
    """Return the definitions by the name of the function that makes the measure."""
    with (Path(__file__).parent / "measures.tsv").open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row[0]: Definition(*row) for row in [*rows][1:]}


def measure_table(
    chosen_by: Iterable[str], classes: str | None = None, is_of_definitions: bool = False
) -> list[str]:
    """Return the lines of a table in Markdown: a row for each measure of the families and names.

    A table of definitions has no rows for variants of a measure by its options.
    """
    chosen = [
        measure
        for measure in MEASURES.values()
        if {measure.family, measure.name} & {*chosen_by}
        and (classes is None or measure.applies_to(THREE_CLASSES) == (classes == "any"))
    ]
    if not chosen:
        raise ValueError(f"there is no measure of {chosen_by}")
    if is_of_definitions:
        found = [definitions()[x.name] for x in chosen if x.name in definitions()]
        rows = [f"| `{x.name}` | {x.definition} | {x.chance} |" for x in found]
        return ["| name | definition | chance |", "| --- | --- | --- |", *rows]
    header = "| name | what it is | range | chance | interval |"
    return [header, "| --- | --- | --- | --- | --- |", *map(_row, chosen)]


def _row(measure: Measure) -> str:
    name = f"{{py:func}}`{measure.name} <dmfroc.measures.{factory_of(measure).__name__}>`"
    what = description(measure) + ("" if measure.greater_is_better else " Smaller is better.")
    return (
        f"| {name} | {what} | {range_of(measure)} | "
        f"{chance_of(measure, 'depends')} | {measure.default_method} |"
    )


def range_of(measure: Measure) -> str:
    """Return the ends of the range, as formulas."""
    low, high = (f"${_size(x)}$" for x in measure.bounds)
    return f"{low} to {high}"


def chance_of(measure: Measure, otherwise: str) -> str:
    """Return the value under chance, or ``otherwise`` if it is not the same for all samples."""
    if math.isnan(measure.chance):
        return otherwise
    return _CHANCES.get(measure.chance, f"{measure.chance:g}")


def _size(x: float) -> str:
    return "-" * (x < 0) + _SIZES.get(abs(x), f"{abs(x):.3g}")


def description(measure: Measure) -> str:
    """Return what the function that makes the measure says of it, and its options if it has any."""
    first = (factory_of(measure).__doc__ or "").strip().split("\n\n")[0]
    first = " ".join(first.split()).removeprefix("Return ")
    first = first[0].upper() + first[1:]
    defaults = factory_of(measure)().options
    other = {k: v for k, v in measure.options.items() if v != defaults[k]}
    return first + "".join(f" `{name}={value!r}`." for name, value in other.items())


def factory_of(measure: Measure) -> Callable[..., Measure]:
    """Return the function of `dmfroc.measures` that makes a measure of the registry."""
    names = [name for name in FACTORIES if f"{measure.name}_".startswith(f"{name}_")]
    return FACTORIES[max(names, key=len)]


class MeasuresDirective(SphinxDirective):
    """List the measures of some families, or with some names."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {
        "classes": lambda argument: directives.choice(argument, ("any", "two")),
        "definitions": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive is."""
        names = [name.strip() for name in self.arguments[0].split(",")]
        lines = measure_table(names, self.options.get("classes"), "definitions" in self.options)
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "measures"), self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("measures", MeasuresDirective)
    return {"parallel_read_safe": True}
