"""Tables of what the papers have and where it is, from `papers.csv`: a directive of Sphinx.

``{paper} 003`` lists the rows of one paper. Names in code type must exist in the package, and
pages in the documentation.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FILE = Path(__file__).with_name("papers.csv")
VERDICTS = ("yes", "partly", "no", "other")


class Row(NamedTuple):
    """One method, measure, chart, experiment, figure or claim of a paper."""

    paper: str
    item: str
    where: str
    here: str
    found: str

    def names(self) -> list[str]:
        """Return the names in code type of where it is, without the package's."""
        return re.findall(r"`([\w.]+)`", self.where)

    def pages(self) -> list[str]:
        """Return the pages to which it refers, relative to the documentation."""
        return re.findall(r"\]\(([^)]+)\)", self.where + self.found)


def read_rows() -> list[Row]:
    """Read the table."""
    with FILE.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def paper_table(paper: str) -> list[str]:
    """Return the lines of a table in Markdown: one row for each of the paper's."""
    chosen = [row for row in read_rows() if row.paper == paper]
    if not chosen:
        raise ValueError(f"there is no paper {paper!r}")
    header = "| in the paper | where it lives | here | what was found |"
    rows = [f"| {row.item} | {row.where} | {row.here} | {row.found} |" for row in chosen]
    return [header, "| --- | --- | --- | --- |", *rows]


class PaperDirective(SphinxDirective):
    """List what one paper has."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive is."""
        container = nodes.container()
        lines = StringList(paper_table(self.arguments[0]), "papers.csv")
        self.env.note_dependency(str(FILE))
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("paper", PaperDirective)
    return {"parallel_read_safe": True}
