"""Tables of what the papers have and where it is, from `papers.csv`: a directive of Sphinx.

``{paper} 003`` lists the rows of one paper. A row has a call, whose value is its number. For what
an experiment found, the call is that of `cell`, which looks the number up in a table of a page, or
of `figure`. ``python docs/paper_table.py`` computes all numbers anew; the tests compare them.
"""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dmfroc

DOCS = Path(__file__).parent
FILE = DOCS / "papers.csv"
VERDICTS = ("yes", "partly", "no", "other")


class Row(NamedTuple):
    """One method, measure, chart, experiment, figure or claim of a paper."""

    paper: str
    item: str
    call: str
    where: str
    number: str
    here: str
    found: str

    def names(self) -> list[str]:
        """Return the names of the package in code type, without its name."""
        named = re.findall(r"`([\w.]+)`", self.where + self.found)
        return [name for name in named if hasattr(dmfroc, name.split(".")[0])]

    def pages(self) -> list[Path]:
        """Return the pages to which it refers."""
        return [DOCS / page for page in re.findall(r"\]\(([^)]+)\)", self.where + self.found)]


def cell(page: str, *row: str, column: int | None = None, nth: int | None = None) -> str:
    """Return a cell of a table in a page of experiments, by default the first after its row's head.

    The first cells of the row begin with ``row``. Of several such rows, ``nth`` chooses one.
    """
    found = []
    for line in (DOCS / "experiments" / f"{page}.md").read_text().splitlines():
        cells = [text.strip() for text in line.strip("|").split(" | ")]
        is_row = line.startswith("| ") and len(cells) > len(row)
        if is_row and all(map(str.startswith, cells, row)):
            found.append(cells[len(row) if column is None else column])
    if nth is None and len(found) != 1:
        raise ValueError(f"{page}.md has {len(found)} cells for {row}, not one")
    return found[(nth or 1) - 1]


def figure(page: str, name: str) -> str:
    """Return "shown" if a page shows a figure that exists."""
    text = (DOCS / "experiments" / f"{page}.md").read_text()
    if f"](../images/{name}.png)" not in text or not (DOCS / "images" / f"{name}.png").exists():
        raise ValueError(f"{page}.md does not show {name}.png")
    return "shown"


@functools.cache
def examples() -> dict[str, Any]:
    """Return the package's names and the data sets of the calls."""
    found = {name: getattr(dmfroc, name) for name in dir(dmfroc)}
    scores = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505]
    scores += [0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1]
    fawcett = ([1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0], scores)
    table1 = ([*fawcett[0][:13], 1, *fawcett[0][14:]], scores)
    probabilities = [0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 0, 0.1, 0.6, 0.9, 0.26]
    three = [[7, 2, 1], [4, 4, 2], [5, 3, 2], [2, 6, 2], [3, 3, 4], [1, 3, 6], [3, 2, 5]]
    generator = np.random.default_rng(0)
    simulated = generator.integers(3, size=90)
    table = dmfroc.measures.ContingencyTable
    return found | {
        "np": np,
        "cell": cell,
        "figure": figure,
        "E1": table.from_cells(tp=30, fp=12, fn=30, tn=28),
        "E2": table.from_matrix([[50, 10, 5], [3, 20, 2], [2, 5, 3]], rows="predicted"),
        "LOWER": table.from_cells(tp=56, fp=20, fn=12, tn=12),
        "E3": ([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]),
        "TABLE2": ([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]),
        "E4": fawcett,
        "E5": ([0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0], probabilities),
        "E6": ([0, 0, 1, 1, 2, 2, 1], np.array(three) / 10),
        "E7": (simulated, generator.normal(size=(90, 3)) + np.eye(3)[simulated]),
        "TABLE1": table1,
        "HULL": dmfroc.curves.convex_hull(dmfroc.curves.roc_curve(*fawcett)).calibrate(scores),
    }


def number_of(call: str) -> str:
    """Return the value of a call as text, with four digits."""
    return _text(eval(call, dict(examples())))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list | np.ndarray):
        return ", ".join(map(_text, value))
    if isinstance(value, bool | np.bool):
        return str(value).lower()
    return f"{float(f'{value:.4g}') + 0.0:g}"


def read_rows() -> list[Row]:
    """Read the table."""
    with FILE.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write_rows(rows: list[Row]) -> None:
    """Write the table with the numbers of the calls as they are now."""
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in rows:
            writer.writerow(row._replace(number=number_of(row.call)) if row.call else row)


def summary() -> list[str]:
    """Return the lines of a table that counts the verdicts of each paper."""
    rows = read_rows()
    header = ["paper", "rows", *VERDICTS, "claims that do not hold"]
    lines = ["| " + " | ".join(header) + " |", "| --- " * len(header) + "|"]
    for paper in sorted({row.paper for row in rows}):
        chosen = [row for row in rows if row.paper == paper]
        verdicts = [row.here for row in chosen]
        refuted = sum(row.found.startswith("does not hold") for row in chosen)
        counts = [len(chosen), *map(verdicts.count, VERDICTS), refuted]
        lines.append(f"| {paper} | " + " | ".join(map(str, counts)) + " |")
    return lines


def paper_table(paper: str) -> list[str]:
    """Return the lines of a table in Markdown: one row for each of the paper's."""
    chosen = [row for row in read_rows() if row.paper == paper]
    if not chosen:
        raise ValueError(f"there is no paper {paper!r}")
    lines = ["| in the paper | call or page | number | here | what was found |", "| --- " * 5 + "|"]
    for row in chosen:
        where = ", ".join(part for part in (row.call and f"`{row.call}`", row.where) if part)
        cells = row.item, where, row.number, row.here, row.found
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


class PaperDirective(SphinxDirective):
    """List what one paper has, or count the rows of all."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive is."""
        container = nodes.container()
        paper = self.arguments[0]
        lines = StringList(summary() if paper == "all" else paper_table(paper), "papers.csv")
        self.env.note_dependency(str(FILE))
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("paper", PaperDirective)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    write_rows(read_rows())
