"""The table of the papers: calls have their numbers, pages contain theirs, and names exist."""

import functools
import sys
from pathlib import Path

import pytest

import dmfroc

DOCS = Path(__file__).resolve().parent.parent / "docs"
pytest.importorskip("sphinx")
sys.path.insert(0, str(DOCS))
from paper_table import VERDICTS, number_of, paper_table, read_rows, summary  # noqa: E402

ROWS = read_rows()
PAPERS = ("000", "001", "002", "003", "004")


@functools.cache
def text_of(page):
    return " ".join(page.read_text().split())


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.paper} {row.item}" for row in ROWS])
def test_each_row_has_a_number_that_is_not_stale(row):
    assert row.here in VERDICTS
    assert row.number
    assert row.here == "yes" or row.found
    for name in row.names():
        functools.reduce(getattr, name.split("."), dmfroc)
    if row.call:
        assert number_of(row.call) == row.number
        assert all(page.exists() for page in row.pages())
    else:
        text = " ".join(map(text_of, row.pages()))
        assert [part for part in row.number.split("; ") if part not in text] == []


def test_all_five_papers_are_listed_and_nearly_all_is_here():
    assert {row.paper for row in ROWS} == set(PAPERS)
    assert len({(row.paper, row.item) for row in ROWS}) == len(ROWS)
    assert sum(len(paper_table(paper)) - 2 for paper in PAPERS) == len(ROWS)
    assert len(summary()) == 2 + len(PAPERS)
    assert sum(row.here != "yes" for row in ROWS) <= 3
    with pytest.raises(ValueError, match="there is no paper '005'"):
        paper_table("005")
