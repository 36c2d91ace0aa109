"""The table of the papers: calls have their numbers, and names and pages exist."""

import functools
import re
import sys
from pathlib import Path

import pytest

import dmfroc

DOCS = Path(__file__).resolve().parent.parent / "docs"
pytest.importorskip("sphinx", reason="install the extra docs")
sys.path.insert(0, str(DOCS))
from paper_table import (  # noqa: E402
    VERDICTS,
    cell,
    figure,
    number_of,
    paper_table,
    read_rows,
    summary,
)

ROWS = read_rows()
PAPERS = ("000", "001", "002", "003", "004")


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.paper} {row.item}" for row in ROWS])
def test_each_row_has_a_number_that_is_not_stale(row):
    assert row.here in VERDICTS
    assert row.here == "yes" or row.found
    assert all(page.exists() for page in row.pages())
    for name in row.names():
        functools.reduce(getattr, name.split("."), dmfroc)
    if row.here == "no":
        assert (row.call, row.number) == ("", "")
    else:
        assert number_of(row.call) == row.number
        named = re.findall(r'(?:cell|figure)\("(\w+)"', row.call)
        assert {DOCS / "experiments" / f"{page}.md" for page in named} <= set(row.pages())


def test_a_number_of_a_page_is_a_whole_cell_of_one_row():
    assert cell("powers_tables", "B", column=2) == "20.00"
    for row in (("no such row",), ("0.50",), ("0.60, 0.42", "0.1")):
        with pytest.raises(ValueError, match="cells for"):
            cell("powers_tables", *row)
    with pytest.raises(ValueError, match="does not show"):
        figure("powers_tables", "weights")


def test_all_five_papers_are_listed():
    assert {row.paper for row in ROWS} == set(PAPERS)
    assert len({(row.paper, row.item) for row in ROWS}) == len(ROWS)
    assert sum(len(paper_table(paper)) - 2 for paper in PAPERS) == len(ROWS)
    assert len(summary()) == 2 + len(PAPERS)
    with pytest.raises(ValueError, match="there is no paper '005'"):
        paper_table("005")
