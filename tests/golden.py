"""The stored numbers of tests/reference, ready to parametrise a test."""

import json
from pathlib import Path

import numpy as np
import pytest

REFERENCE = Path(__file__).parent / "reference"


def load(family):
    return json.loads((REFERENCE / f"{family}.json").read_text())


def golden(family):
    """Return one parameter for each case of a family, named after it."""
    return [pytest.param(case, id=case["name"]) for case in load(family)]


def assert_golden(value, case, key):
    """Compare under the rule of the files: relative to the larger of one and the number."""
    expected = np.asarray(case["expected"][key], dtype=float)  # "nan" and "inf" are strings
    found = np.asarray(value, dtype=float)
    with np.errstate(invalid="ignore"):
        difference = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    assert (same | (difference <= case["tolerance"])).all(), (
        f"{key}: {value}, but expected {expected}"
    )
