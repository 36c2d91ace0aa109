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
    """Compare under the rule of the files: relative to the larger of one and the number.

    Numbers that JSON lacks are the strings nan, inf and -inf.
    """
    expected = np.asarray(case["expected"][key]).astype(float)
    value = np.asarray(value, float)
    assert value.shape == expected.shape, f"{key}: shape {value.shape}, not {expected.shape}"
    same = (value == expected) | (np.isnan(value) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(value - expected) / np.maximum(1, np.abs(expected))
    assert np.all(same | (difference <= case["tolerance"])), f"{key}: {value}, not {expected}"
