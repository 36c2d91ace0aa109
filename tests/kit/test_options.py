"""Checks of options: what passes comes back plain, an error names the option."""

import re

import numpy as np
import pytest

from dmfroc._kit.options import choice, nonnegative, proportion


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ("(0, 1)", (1e-300, 0.5, 1 - 1e-16), (0, 1)),
        ("(0, 1]", (1e-300, 1), (0, np.nextafter(1, 2))),
        ("[0, 1]", (0, -0.0, 1), (-1e-300, np.nextafter(1, 2))),
    ],
)
def test_proportions_are_in_their_interval(interval, inside, outside):
    for value in inside:
        checked = proportion("share", np.float64(value), interval)
        assert type(checked) is float
        assert checked == value
    for value in (*outside, np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=re.escape(f"share must be in {interval}, but it is")):
            proportion("share", value, interval)
    with pytest.raises(TypeError, match="share must be a number, but it is True"):
        proportion("share", True, interval)


def test_numbers_from_zero_on_are_finite():
    assert nonnegative("weight", np.int8(3)) == 3.0
    assert nonnegative("weight", 0) == 0.0
    for value in (-1e-300, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"weight must be a finite number >= 0, but it is"):
            nonnegative("weight", value)


@pytest.mark.parametrize("value", ["c", 1, None, ["a"], np.array(["a", "b"])])
def test_words_are_among_those_that_are_known(value):
    assert choice("kind", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"kind must be one of \('a', 'b'\), but it is"):
        choice("kind", value, ("a", "b"))
