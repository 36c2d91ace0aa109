"""Checks of options: what passes comes back plain, an error names the option."""

import re

import jax
import numpy as np
import pytest

import dmfroc
from dmfroc._kit.options import choice, listed, nonnegative, proportion


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


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
def test_a_key_of_jax_is_a_random_state_everywhere(make):
    y = np.arange(60) % 3
    scores = np.random.default_rng(0).normal(size=(60, 3)) + np.eye(3)[y]
    calls = (
        lambda key: (
            dmfroc.estimate(
                "accuracy", y, scores, method=dmfroc.Bootstrap(100), random_state=key
            ).standard_error
        ),
        lambda key: dmfroc.multiclass_roc(y, scores, n_pairs=2, random_state=key).pairs,
        lambda key: (
            dmfroc.bayes.bayesian_table("accuracy", y, scores, n_draws=50, random_state=key).value
        ),
    )
    for call in calls:
        first, again, other = call(make(7)), call(make(7)), call(make(8))
        assert first == again
        assert first != other or isinstance(first, tuple)
    with pytest.raises(TypeError, match=r"^random_state is traced .* dmfroc.functional.accuracy,"):
        jax.jit(calls[0])(make(0))


@pytest.mark.parametrize(
    ("values", "least", "told"),
    [([], 1, "one value, but it is empty"), ([1], 2, "2 values, but it holds 1")],
)
def test_lists_say_how_many_values_they_need(values, least, told):
    with pytest.raises(ValueError, match=f"horizons must hold at least {told}"):
        listed("horizons", values, least)


def test_percent_is_told_as_a_share():
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\), such as 0\.9, but it is 90"):
        proportion("share", 90, "(0, 1)")
    with pytest.raises(ValueError, match="share must be a number that a float can hold"):
        proportion("share", 10**400, "(0, 1)")
