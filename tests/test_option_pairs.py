"""Every pair of options is right or refused in words, and the documentation shows the same.

The suite computes each option with itself and every seventh other pair anew, `make fuzz` all pairs.
"""

import csv
from pathlib import Path

import pytest
from option_analyses import COLUMNS, all_pairs

FILE = Path(__file__).parent.parent / "docs" / "option_pairs.csv"
HEAD, *STORED = csv.reader(FILE.read_text(encoding="utf-8").splitlines())


def names_of(pairs):
    return [[analysis.function, analysis.kind, *pair] for analysis, *pair in pairs]


def test_the_table_has_every_pair_of_options():
    assert tuple(HEAD) == COLUMNS
    assert [row[:4] for row in STORED] == names_of(all_pairs())
    assert [row for row in STORED if row[4] not in ("right", "refused")] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pairs_of_options_are_right_or_refused_in_words():
    pairs = all_pairs(one_in=7)
    stored = [row for row in STORED if row[:4] in names_of(pairs)]
    assert [analysis.row(*pair) for analysis, *pair in pairs] == stored
