"""A quick run of the generated files; `make fuzz` has the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).with_name("files.py")


@pytest.mark.slow
def test_generated_files_give_the_right_number_or_are_refused():
    command = [sys.executable, FILES, "--cases", "60", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["defects"] == []
    assert found["refused"] < 40
