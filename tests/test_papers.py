"""The table of the papers: what it names exists, and nothing lacks a verdict or a reason."""

import functools
import sys
from pathlib import Path

import pytest

import dmfroc

DOCS = Path(__file__).resolve().parent.parent / "docs"
pytest.importorskip("sphinx")
sys.path.insert(0, str(DOCS))
from paper_table import VERDICTS, paper_table, read_rows  # noqa: E402

ROWS = read_rows()


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.paper} {row.item}" for row in ROWS])
def test_each_row_is_somewhere_or_says_why_not(row):
    assert row.here in VERDICTS
    assert row.where if row.here == "yes" else row.found
    for name in row.names():
        functools.reduce(getattr, name.split("."), dmfroc)
    for page in row.pages():
        assert (DOCS / page).exists()


def test_all_five_papers_are_listed():
    assert {row.paper for row in ROWS} == {"000", "001", "002", "003", "004"}
    assert sum(len(paper_table(paper)) - 2 for paper in {row.paper for row in ROWS}) == len(ROWS)
    with pytest.raises(ValueError, match="there is no paper '005'"):
        paper_table("005")
