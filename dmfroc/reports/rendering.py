"""A page of a template: style, script and numbers in one file."""

from __future__ import annotations

import base64
import datetime
import hashlib
import io
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from dmfroc._kit.remarks import wording
from dmfroc._kit.text import class_name, printable
from dmfroc._kit.version import package_version
from dmfroc.analyses.catalogue import MEASURES
from dmfroc.curves.curve import Curve
from dmfroc.plots._style import OWN_FIGURE_ID
from dmfroc.reports.tables import as_sentence, page_table
from dmfroc.reports.verdict import digits, interval_text, known_first
from dmfroc.results.result import Result, renderer, renders
from dmfroc.results.text import design_lines, facts
from dmfroc.results.writers import strict

_TEMPLATES = files("dmfroc.reports") / "templates"
_P_BETTER = "; P(A better): 1 - p/2 of the two-sided p-value, of draws their share"


def versions() -> list[tuple[str, str]]:
    """Return when the report was written, and what the numbers were computed with."""
    software = [f"dmfroc {package_version()}", f"Python {platform.python_version()}"]
    software += [f"{name} {version(name)}" for name in ("numpy", "scipy", "jax")]
    program, *arguments = sys.argv
    is_command = Path(program).stem == "dmfroc" or program.endswith("dmfroc/__main__.py")
    return [
        *([("Command", shlex.join(["dmfroc", *arguments]))] if is_command else []),
        ("Date", f"{datetime.date.today():%Y-%m-%d}"),
        ("Versions", ", ".join(software)),
    ]


def visible(value: Any) -> Any:
    """Return what a template inserts; text with escapes for characters that cannot be seen."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(value) if is_text else value


def page(
    result: Result,
    title: str | None,
    question: str,
    verdict: Sequence[str],
    parts: Iterable[Any],
    provenance: Sequence[tuple[str, str]] = (),
    watch_out: Sequence[str] = (),
    numbers: Mapping[str, Any] | None = None,
    drawn: Mapping[str, Any] | None = None,
    beside: Sequence[str] = (),
) -> str:
    """Return the page of a result: sentences, tables and figures, and its numbers as JSON.

    ``question`` is the heading without a ``title``; ``numbers`` stand for its JSON where there are
    more; ``drawn`` is what the template draws of predictions. ``beside`` are warnings of values
    that are shown beside those of the result.
    """
    notes = list(dict.fromkeys(map(wording.get(), result.warnings)))
    shown = dict.fromkeys(map(wording.get(), [*result.printed_warnings, *beside]))
    tables, better = result.tables(), _P_BETTER * hasattr(result, "order_probabilities")
    provenance = [*provenance, *(("Tests", f"{t.note}{better}") for t in tables if t.note)]
    # What concerns some classifiers begins with their names, which stand as they are
    named: Any = result if isinstance(result, Mapping) else getattr(result, "estimates", ())
    names = tuple(str(x) for x in named if x not in MEASURES)
    data = {"dmfroc_version": package_version(), "sentences": verdict}
    data |= result.as_json() if numbers is None else numbers
    context = {
        "title": title or question,
        "about": [
            *(f"{x}: {text}." for x, text in provenance if x in ("Observations", "Data")),
            *known_first(result.design),
        ],
        "verdict": verdict,
        "watch_out": watch_out,
        "warnings": [x if x.startswith(names) else as_sentence(x) for x in shown],
        "parts": [part for part in parts if part is not None],
        "provenance": {**dict(provenance), **facts(result.design), **dict(versions())}.items(),
        "data": strict(data | {"warnings": notes}),
        "of_predictions": "named" in (drawn or {}),
    }
    script = _source("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    context |= {"style": _source("report.css"), "script": script, "digest": digest}
    return _render("report.html.j2", context | dict(drawn or {}))


@renders("Result.notebook")
def result_as_html(result: Result) -> str:
    """Return the tables of a result with its warnings, for a notebook."""
    shown = [x.to_print for x in result.tables() if x.n_printed]
    context = {
        "tables": [page_table(x) for x in shown],
        "head": [*result.head(), *design_lines(result.design)],
        "foot": [*filter(None, (x.note for x in shown)), *result.foot()],
        "warnings": result.printed_warnings,
    }
    return _render("notebook.html.j2", context)


@renders("Curve.notebook")
def curve_as_html(curve: Curve) -> str:
    """Return a picture of a curve, and folded beneath it the tables, for a notebook."""
    picture = f'<img alt="chart" src="{(chart(curve) or {})["address"]}">'
    return f"{picture}<details><summary>Numbers</summary>{result_as_html(curve)}</details>"


def chart(result: Result) -> dict[str, str] | None:
    """Return the chart of a result as a part of a page, a PNG that it holds itself, if it has one.

    It is as large as the display asks for.
    """
    from matplotlib.figure import Figure

    try:
        draw = renderer(result, "plot")
    except TypeError:
        return None
    figure, stream = Figure((1.0, 1.0), layout="constrained", gid=OWN_FIGURE_ID), io.BytesIO()
    draw(result, ax=figure.add_subplot())
    figure.savefig(stream, format="png")
    encoded = base64.b64encode(stream.getvalue()).decode("ascii")
    name = result.question_text()
    return {"kind": "chart", "name": name, "address": f"data:image/png;base64,{encoded}"}


def _source(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _render(template: str, context: dict[str, Any]) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": digits, "interval": interval_text, "class_name": class_name}
    environment.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "ensure_ascii": True,  # so that no name can turn the direction of writing
        "allow_nan": False,
    }
    return environment.get_template(template).render(context)
