"""A quick run of the fuzzer; `make fuzz` has the long one."""

import json
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).with_name("fuzz.py")
STATE = Path(__file__).with_name("persistent_state.py")


def test_generated_calls_give_the_right_number_or_name_what_is_wrong():
    command = [sys.executable, FUZZ, "--cases", "400", "--seed", "15"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["defects"] == []
    assert found["cases"] > 400


def test_persistent_state_gives_the_right_number_or_says_what_is_wrong():
    command = [sys.executable, STATE, "--states", "40", "--sources", "30", "--kills", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["defects"] == []
    assert found["cases"] >= 73
