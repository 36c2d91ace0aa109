"""What the reference shows beyond a docstring: an extension of Sphinx.

Every measure has the same headings, see `sections_of`. What a docstring explains by "As for
`estimate`" is explained in place.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from measure_tables import chance_of, definitions, description, factory_of, range_of
from numpydoc.docscrape import NumpyDocString, Parameter
from sphinx.application import Sphinx

import dmfroc
from dmfroc.measures import FACTORIES, MEASURES
from dmfroc.measures.registry import SYNONYMS

_ELSEWHERE = re.compile(r"As for `([\w.]+)`[.,:;]\s*")
_TRUE, _PREDICTED = [1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0]
_PAGES = {
    **dict.fromkeys(("contingency", "agreement"), "measures/contingency"),
    **dict.fromkeys(("ranking", "costs", "precision-recall"), "measures/ranking"),
    **dict.fromkeys(
        ("decisions", "operating points", "selective prediction"), "measures/decisions"
    ),
    "calibration": "measures/calibration",
    "probabilities": "measures/probabilities",
    "multiclass ROC": "method",
}


def sections_of(name: str) -> dict[str, list[str]]:
    """Return the lines in reStructuredText below each heading of a measure's page."""
    factory, stated = FACTORIES[name], definitions()[name]
    found = NumpyDocString(inspect.getdoc(factory) or "")
    variants = [x for x in MEASURES.values() if factory_of(x) is factory]
    chance = chance_of(variants[0], "see below" if found["Returns"] else stated.chance)
    family = f":doc:`/{_PAGES[variants[0].family]}`"
    called = [f"``{x.name}``" for x in variants]
    called += [x for v in variants for x in SYNONYMS.get(v.name, "").split(", ") if x]
    return {
        "What it is": [
            description(FACTORIES[name]()),
            "",
            *found["Extended Summary"],
            *found["Notes"],
            "",
            f"Names: {', '.join(called)}.",
        ],
        "Range and chance": [
            _math(f"From {range_of(variants[0])}. Under chance: {chance}."),
            *(["Smaller is better."] if not variants[0].greater_is_better else []),
            f"Default interval: {variants[0].default_method}.",
            "",
            *(line for x in found["Returns"] for line in x.desc),
        ],
        "When": [stated.when],
        "Formula": [
            _math(stated.definition) + ".",
            "",
            f"Words and symbols are those of {family}.",
        ],
        "Options": _options(factory, found),
        "Example": found["Examples"] or _example(name),
        "Source": found["References"] or [stated.source],
    }


def _math(text: str) -> str:
    return re.sub(r"\$([^$]+)\$", r":math:`\1`", text)


def _options(factory: Callable[..., Any], found: NumpyDocString) -> list[str]:
    explained = parameters_of(factory)
    lines = []
    for name, parameter in inspect.signature(factory).parameters.items():
        kind, text = explained.get(name, ("", ["See the formula."]))
        default = f"by default ``{parameter.default!r}``"
        lines += [f"``{name}`` : {kind}, {default}" if kind else f"``{name}`` : {default}"]
        lines += [f"    {line}" for line in text]
    for x in found["Raises"]:
        lines += ["", f"{x.type}: {' '.join(x.desc)}"]
    return lines or ["None."]


def _example(name: str) -> list[str]:
    value = FACTORIES[name]()(_TRUE, y_pred=_PREDICTED)
    call = f"dmfroc.measures.{name}()({_TRUE}, y_pred={_PREDICTED})"
    return [f">>> round({call}, 4)", f"{round(value, 4)}"]


def parameters_of(function: Callable[..., Any]) -> dict[str, tuple[str, list[str]]]:
    """Return the type of each parameter and its explanation, wherever that is written."""
    text = re.sub(r"(?<=,)\n(?=\w+$)", " ", inspect.getdoc(function) or "", flags=re.M)  # names
    found: dict[str, tuple[str, list[str]]] = {}
    for parameter in NumpyDocString(text)["Parameters"]:
        text = "\n".join(parameter.desc)
        other = _ELSEWHERE.match(text)
        named = other and _named(other[1], function)
        there = parameters_of(named) if named else {}
        for name in re.split(r",\s*", parameter.name):
            kind, lines = parameter.type, parameter.desc
            if other and name in there:
                kind = kind or there[name][0]
                own = text[other.end() :]
                lines = [*there[name][1], *(own[:1].upper() + own[1:]).splitlines()]
            found[name] = kind, lines
    return found


def _named(path: str, function: Callable[..., Any]) -> Any:
    """Return what a docstring names: a function of its own module or of the package."""
    if path.startswith("dmfroc."):
        return functools.reduce(getattr, path.split(".")[1:], dmfroc)
    first, *parts = path.split(".")
    own = inspect.unwrap(function).__globals__
    rooms = (dmfroc, dmfroc.curves, dmfroc.bayes, dmfroc.measures)
    value = own.get(first) or next((getattr(x, first) for x in rooms if hasattr(x, first)), None)
    return functools.reduce(getattr, parts, value) if value else None  # of the same class


def explained(function: Callable[..., Any], lines: list[str]) -> list[str]:
    """Return a docstring whose parameters are explained in place."""
    found = NumpyDocString("\n".join(lines))
    parameters = parameters_of(function).items()
    found["Parameters"] = [Parameter(name, kind, text) for name, (kind, text) in parameters]
    return str(found).splitlines()


def rewrite(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Give a measure its headings, and a function the explanations of its parameters."""
    module, _, last = name.rpartition(".")
    if module == "dmfroc.measures" and last in FACTORIES:
        lines.clear()
        for heading, text in sections_of(last).items():
            lines += [f".. rubric:: {heading}", "", *text, ""]
    elif what in ("function", "method") and any(_ELSEWHERE.search(line) for line in lines):
        lines[:] = explained(obj, lines)


def strip_examples(app: Sphinx, doctree: nodes.document) -> None:
    """Leave out the empty last line of an example, which doctest needs in a page."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if block.rawsource == block.astext():  # no parsed literal
            block.rawsource, block.children = text, [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both, before numpydoc reads the docstrings."""
    app.connect("autodoc-process-docstring", rewrite, priority=400)
    app.connect("doctree-read", strip_examples)
    return {"parallel_read_safe": True}
