"""Pages of experiments whose code has changed since their numbers were computed say so."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "experiments"))
from _code import note


def add_note(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the note to the end of a page."""
    folder, _, page = docname.rpartition("/")
    if folder == "experiments" and (text := note(page)) is not None:
        source[0] += f"\n\n:::{{note}}\n{text}\n:::\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("source-read", add_note)
    return {"parallel_read_safe": True}
