"""Makes a notebook of a page: its text as it is, its examples as cells of code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


def code_of(block: str) -> str:
    """Return the input of an example, without its prompts and output."""
    lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
    return re.sub(r"  # doctest:.*", "", "\n".join(lines))


def notebook_of(page: str) -> dict[str, Any]:
    """Return the notebook of a page in Markdown, in Jupyter's format 4.5."""
    cells: list[dict[str, Any]] = []
    for position, part in enumerate(_BLOCK.split(page)):
        text = code_of(part) if position % 2 else part.strip()
        if not text:
            continue
        cell = {
            "id": f"cell-{len(cells)}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        if position % 2:
            cells.append(cell | {"cell_type": "code", "execution_count": None, "outputs": []})
        else:
            cells.append(cell | {"cell_type": "markdown"})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write_notebook(page: Path, notebook: Path) -> None:
    """Write the notebook of a page."""
    notebook.parent.mkdir(parents=True, exist_ok=True)
    content = notebook_of(page.read_text(encoding="utf-8"))
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
