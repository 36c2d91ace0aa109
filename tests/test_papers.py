"""The table of the papers: calls have their numbers, checks hold and can fail, pages exist."""

import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import dmfroc

DOCS = Path(__file__).resolve().parent.parent / "docs"
pytest.importorskip("sphinx", reason="install the extra docs")
sys.path.insert(0, str(DOCS))
from paper_table import (  # noqa: E402
    BEGIN,
    PAGE,
    TITLES,
    VERDICTS,
    cell,
    expected_of,
    figure,
    page_with,
    paper_table,
    read_rows,
    summary,
    text_of,
    value_of,
)

ROWS = read_rows()


def is_right(check, value):
    """Return whether a value is what a check expects, to the four digits that are shown."""
    expected = expected_of(check, value)
    if isinstance(expected, bool | np.bool):
        return bool(expected)
    expected, value = np.asarray(expected, float), np.asarray(value, float)
    return expected.shape == value.shape and np.allclose(value, expected, rtol=5e-5, atol=1e-6)


def variants(row, value):
    """Return other values, of which a check that can fail refuses one: what it expects, turned
    round, and with one number changed, or all.
    """
    expected = expected_of(row.check, value)
    if not isinstance(expected, bool | np.bool):
        yield expected
    if not isinstance(value, str) and np.ndim(value):
        yield value[::-1]
    texts = [value] if isinstance(value, str) else value
    if not np.ndim(texts) or not any(isinstance(x, str) for x in texts):
        numbers = np.array(value, float)
        yield from (2 * numbers + 1, -numbers, 0 * numbers)
        return
    joined = "\n".join(map(text_of, texts))
    places = [found.span() for found in re.finditer(r"\d[\d,]*\.?\d*|shown", joined)]
    for spans in (*([place] for place in places), places[::-1]):
        for other in ("0", "1000"):
            changed = joined
            for start, stop in spans:
                changed = changed[:start] + other + changed[stop:]
            yield changed if isinstance(value, str) else changed.split("\n")


def changes_of_each_number(value):
    """Yield for each number of a value, but not of a text, the value with it halved and doubled."""
    texts = [value] if value is None or isinstance(value, str) else value
    if np.ndim(texts) and any(x is None or isinstance(x, str) for x in texts):
        return
    numbers = np.array(value, float)
    for place in np.ndindex(numbers.shape):
        changes = [numbers.copy() for _ in range(2)]
        finite = np.isfinite(numbers[place]) and not np.isclose(numbers[place], 0, atol=1e-6)
        for changed, factor in zip(changes, (0.5, 2), strict=True):
            changed[place] = factor * numbers[place] if finite else factor
        yield changes


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.paper} {row.item}" for row in ROWS])
def test_each_row_has_a_number_that_is_not_stale_and_a_check_that_can_fail(row):
    assert row.verdict in VERDICTS
    assert row.found or row.verdict in ("here", "holds")
    assert all(page.exists() for page in row.pages())
    for name in row.names():
        functools.reduce(getattr, name.split("."), dmfroc)
    named = re.findall(r'(?:cell|figure)\("(\w+)"', row.call)
    assert {DOCS / "experiments" / f"{page}.md" for page in named} <= set(row.pages())
    value = value_of(row.call)
    assert text_of(value) == row.number
    verdict = is_right(row.check, value)
    assert verdict == (row.verdict != "does not hold")
    if verdict:
        for changes in changes_of_each_number(value):
            assert not all(is_right(row.check, other) for other in changes)
    if row.verdict == "not here":
        assert not row.call
    else:
        assert not all(is_right(row.check, other) == verdict for other in variants(row, value))


def test_a_number_of_a_page_is_a_whole_cell_of_one_row():
    assert cell("powers_tables", "B", column=2) == "20.00"
    for row in (("no such row",), ("0.50",), ("0.60, 0.42", "0.1")):
        with pytest.raises(ValueError, match="cells for"):
            cell("powers_tables", *row)
    assert figure("powers_tables", "weights") == "missing"


def test_all_five_papers_are_listed():
    assert {row.paper for row in ROWS} == set(TITLES)
    assert len({(row.paper, row.item) for row in ROWS}) == len(ROWS)
    assert sum(len(paper_table(paper)) - 2 for paper in TITLES) == len(ROWS)
    with pytest.raises(ValueError, match="there is no paper '005'"):
        paper_table("005")


def test_the_page_counts_the_verdicts_and_needs_no_sphinx():
    text = PAGE.read_text()
    assert text == page_with(summary(ROWS)), "run python docs/paper_table.py"
    counts = re.search(r"^\| all \| (.*) \|$", text, re.M)[1].split(" | ")
    assert [*map(int, counts)] == [
        len(ROWS),
        *(sum(row.verdict == verdict for row in ROWS) for verdict in VERDICTS),
    ]
    assert "```" not in text
    assert text.count(BEGIN) == 1
