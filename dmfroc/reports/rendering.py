"""A page of a template: style, script and numbers in one file."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from dmfroc._kit.text import printable
from dmfroc._kit.version import package_version
from dmfroc.results.writers import strict

_TEMPLATES = files("dmfroc.reports") / "templates"


def versions() -> tuple[str, str]:
    """Return what the numbers were computed with."""
    found = [f"dmfroc {package_version()}", f"Python {platform.python_version()}"]
    found += [f"{name} {version(name)}" for name in ("numpy", "scipy", "jax")]
    return "Versions", ", ".join(found)


def visible(value: Any) -> Any:
    """Return what a template inserts; text with escapes for characters that cannot be seen."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(value) if is_text else value


def page(context: dict[str, Any], remarks: Sequence[str], result: dict[str, Any]) -> str:
    """Return the page of what the template draws, with the warnings and numbers of a result."""
    notes = list(dict.fromkeys(remarks))
    data = strict(
        {"dmfroc_version": package_version(), "verdict": context["verdict"]}
        | result
        | {"warnings": notes}
    )
    return _render(context | {"warnings": notes, "data": data})


def _render(context: dict[str, Any]) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    def source(name: str) -> str:
        return (_TEMPLATES / name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "ensure_ascii": True,  # so that no name can turn the direction of writing
        "allow_nan": False,
    }
    script = source("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    rendered: str = environment.get_template("report.html.j2").render(
        context
        | {"style": Markup(source("report.css")), "script": Markup(script), "digest": digest}
    )
    return rendered
