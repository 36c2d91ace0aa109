"""Tables of what the papers have and where it is, from `papers.csv`: a directive of Sphinx.

``{paper} 003`` lists the rows of one paper. A row has a call, whose value is its number. For what
an experiment found, the call is that of `cell`, which looks the number up in a table of a page, or
of `figure`. Its check is an expression without dmfroc, with the names of `paper_checks.py`: what
the value has to be, or, with the value as ``x``, whether it is right. The check of what does not
hold is the claim. ``python docs/paper_table.py`` computes all numbers anew, and the part of
`papers.md` that is made of them; the tests compare both, and run the checks.
"""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.image
import numpy as np
import paper_checks
from docutils import nodes
from docutils.statemachine import StringList
from scipy.stats import halfnorm, logistic, norm
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dmfroc

DOCS = Path(__file__).parent
FILE, PAGE = DOCS / "papers.csv", DOCS / "papers.md"
BEGIN, END = "<!-- python docs/paper_table.py writes what follows -->", "<!-- to here -->"
VERDICTS = (
    *("here", "partly here", "other", "not here"),
    *("holds", "holds in part", "does not hold"),
)
TITLES = {
    "003": "Wang and Carvalho (2024), Multiclass ROC",
    "002": "Powers (2011), Evaluation: from precision, recall and F-measure to ROC",
    "000": "Powers, Visualization of tradeoff in evaluation",
    "001": "Flach and Kull (2015), Precision-recall-gain curves",
    "004": "Vuk and Curk (2006), ROC curve, lift chart and calibration plot",
}


class Row(NamedTuple):
    """One method, measure, chart, experiment, figure or claim of a paper."""

    paper: str
    item: str
    verdict: str
    found: str
    call: str
    number: str
    check: str
    where: str

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
    """Return "shown" if a page shows a figure that is there and not blank."""
    text = (DOCS / "experiments" / f"{page}.md").read_text()
    file = DOCS / "images" / f"{name}.png"
    if f"](../images/{name}.png)" not in text or not file.exists():
        return "missing"
    return "shown" if np.ptp(matplotlib.image.imread(file)[..., :3]) > 0 else "blank"


@functools.cache
def examples() -> dict[str, Any]:
    """Return the package's names and the data sets of the calls."""
    found = {name: getattr(dmfroc, name) for name in dir(dmfroc)}
    table = dmfroc.measures.ContingencyTable
    tables = {
        name: table.from_cells(**dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True)))
        for name, cells in (("E1", paper_checks.UPPER), ("LOWER", paper_checks.LOWER))
    }
    data = {
        name: getattr(paper_checks, name)
        for name in ("E3", "TABLE2", "E4", "TABLE1", "E5", "E6", "E7")
    }
    hull = dmfroc.curves.convex_hull(dmfroc.curves.roc_curve(*data["E4"]))
    even = (np.arange(999) + 0.5) / 999
    rated = [1e9 * logistic.sf([-2, -1, 0, 1, 2], mean) for mean in (1.3, 0)]
    return (
        found
        | tables
        | data
        | {
            "np": np,
            "cell": cell,
            "figure": figure,
            "E2": table.from_matrix(100 * paper_checks.C, rows="predicted"),
            "HULL": hull.calibrate(data["E4"][1]),
            "normal": norm.ppf(even),
            "half": halfnorm.ppf(even),
            "ratings": (*rated, *(1e9 - x for x in rated)),
        }
    )


def value_of(call: str) -> Any:
    """Return the value of a call; None if there is no call."""
    return eval(call, dict(examples())) if call else None


def expected_of(check: str, value: Any) -> Any:
    """Return what a check expects of a value, or whether the value is right."""
    return eval(check, vars(paper_checks) | {"x": value})


def text_of(value: Any) -> str:
    """Return a value as text, with four digits."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list | np.ndarray):
        return ", ".join(map(text_of, value))
    if isinstance(value, bool | np.bool):
        return str(value).lower()
    return f"{float(f'{value:.4g}') + 0.0:g}"


def read_rows() -> list[Row]:
    """Read the table."""
    with FILE.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write_rows(rows: list[Row]) -> None:
    """Write the table with the numbers of the calls as they are now."""
    renewed = [row._replace(number=text_of(value_of(row.call))) for row in rows]
    with FILE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([Row._fields, *renewed])


def _table(header: list[str], rows: list[list[Any]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "| --- " * len(header) + "|"]
    escaped = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return lines + ["| " + " | ".join(cells) + " |" for cells in escaped]


def summary(rows: list[Row]) -> list[str]:
    """Return the lines of what `papers.md` says of the rows: verdicts, and what does not hold."""
    counts = []
    for paper, title in (*TITLES.items(), ("", "all")):
        verdicts = [row.verdict for row in rows if paper in ("", row.paper)]
        counts.append([title, len(verdicts), *map(verdicts.count, VERDICTS)])
    lines = _table(["paper", "rows", *VERDICTS], counts)
    lines += ["", f"## {VERDICTS[-1].capitalize()}"]
    for paper, title in TITLES.items():
        chosen = [row for row in rows if (row.paper, row.verdict) == (paper, VERDICTS[-1])]
        cells = [[row.item, row.found, row.number, row.where] for row in chosen]
        lines += ["", f"{title}:", "", *_table(["in the paper", "found", "number", "page"], cells)]
    return lines


def page_with(lines: list[str]) -> str:
    """Return `papers.md` with other lines between its two comments."""
    start, _, rest = PAGE.read_text().partition(BEGIN)
    return "\n".join([start + BEGIN, "", *lines, "", END + rest.partition(END)[2]])


def paper_table(paper: str) -> list[str]:
    """Return the lines of a table in Markdown: one row for each of the paper's."""
    chosen = [row for row in read_rows() if row.paper == paper]
    if not chosen:
        raise ValueError(f"there is no paper {paper!r}")
    cells = []
    for row in chosen:
        found = f"**{row.verdict}**" + (f": {row.found}" if row.found else "")
        parts = (row.call and f"`{row.call}`", row.where, f"check: `{row.check}`")
        cells.append([row.item, found, row.number, "; ".join(filter(None, parts))])
    return _table(["in the paper", "verdict", "number", "call or page, and check"], cells)


class PaperDirective(SphinxDirective):
    """List what one paper has."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive is."""
        container = nodes.container(classes=["papers"])
        lines = StringList(paper_table(self.arguments[0]), "papers.csv")
        self.env.note_dependency(str(FILE))
        self.state.nested_parse(lines, self.content_offset, container)
        return [container]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("paper", PaperDirective)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    write_rows(read_rows())
    PAGE.write_text(page_with(summary(read_rows())))
