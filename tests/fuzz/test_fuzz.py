"""A quick run of the fuzzer; `make fuzz` has the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ, ABUSE, STATE, ROWS = (
    Path(__file__).with_name(f"{name}.py") for name in ("fuzz", "abuse", "persistent_state", "rows")
)


@pytest.mark.slow
def test_generated_calls_give_the_right_number_or_name_what_is_wrong():
    command = [sys.executable, FUZZ, "--cases", "400", "--seed", "15"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["defects"] == []
    assert found["cases"] > 400


@pytest.mark.slow
def test_wrong_options_are_errors_that_name_them():
    command = [sys.executable, ABUSE, "--one-in", "7"]  # no divisor of the number of values
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    n, _ = done.stdout.split(maxsplit=1)
    assert int(n) > 900


@pytest.mark.slow
def test_all_arguments_with_rows_are_matched_by_index_and_repeated():
    command = [sys.executable, ROWS, "--few"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    n, _ = done.stdout.split(maxsplit=1)
    assert int(n) > 250


@pytest.mark.slow
def test_persistent_state_gives_the_right_number_or_says_what_is_wrong():
    command = [sys.executable, STATE, "--states", "40", "--sources", "30", "--kills", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["defects"] == []
    assert found["cases"] >= 73
