"""Pages of experiments whose code has changed since their numbers were computed say so."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "experiments"))
from _code import changed, note, now, stamps

PACKAGE = now()


def pages_by_age() -> str:
    """Return a sentence and a table: which pages have numbers of earlier code."""
    ages = {page: changed(page, PACKAGE) for page in sorted(stamps())}
    new = ", ".join(f"[{page}]({page}.md)" for page, (old, _) in ages.items() if not old)
    rows = "".join(
        f"| [{page}]({page}.md) | {len(old)} of {n} |\n" for page, (old, n) in ages.items() if old
    )
    return (
        f"\n\nNumbers of the present code: {new or 'none'}. Of earlier code:\n\n"
        f"| page | functions that have changed since |\n| --- | --- |\n{rows}"
    )


def add_note(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the note to the end of a page, and the table to the index."""
    folder, _, page = docname.rpartition("/")
    if folder == "experiments" and page == "index":
        source[0] = source[0].replace("{ages}", pages_by_age())
    elif folder == "experiments" and (text := note(page, PACKAGE)) is not None:
        source[0] += f"\n\n:::{{note}}\n{text}\n:::\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("source-read", add_note)
    return {"parallel_read_safe": True}
