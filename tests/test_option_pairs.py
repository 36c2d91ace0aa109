"""Every pair of options is right or refused in words, and the documentation shows the same."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILE = TESTS.parent / "docs" / "option_pairs.csv"


@pytest.mark.slow
def test_every_pair_of_options_is_right_or_refused_in_words():
    command = [sys.executable, TESTS / "option_analyses.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row for row in found if row["verdict"] not in ("right", "refused")] == []
    assert done.stdout == FILE.read_text()
