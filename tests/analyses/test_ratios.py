"""Ratios of the values of two tests of the same cases, against DTComPair's printed results."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dmfroc

_CELLS = {(1, 1, 1): 319, (1, 1, 0): 78, (1, 0, 1): 22, (1, 0, 0): 32} | {
    **{(0, 1, 1): 31, (0, 1, 0): 53, (0, 0, 1): 22, (0, 0, 0): 155}
}
DISEASED, FIRST, SECOND = np.repeat([*_CELLS], [*_CELLS.values()], axis=0).T


def ratio_of(measure, *, second_first=True, **options):
    tests = {"1": FIRST, "2": SECOND}
    tests = dict(reversed(tests.items())) if second_first else tests
    found = dmfroc.compare(DISEASED, y_pred=tests, measures=measure, scale="ratio", **options)
    return found.differences[0]


@pytest.mark.parametrize(
    ("measure", "second_first", "value", "low", "high"),
    [
        ("recall", True, 0.8589421, 0.8143843, 0.9059378),
        ("positive_likelihood_ratio", False, 0.735, 0.566, 0.953),
        ("negative_likelihood_ratio", False, 0.577, 0.441, 0.755),
    ],
)
def test_published_ratios_of_paired_tests(measure, second_first, value, low, high):
    found = ratio_of(measure, second_first=second_first)
    assert found.value == pytest.approx(value, abs=5e-4 if value < 0.8 else 5e-8)
    # They divide by n and take normal quantiles; we divide by n - 1 and take those of t
    assert found.interval == pytest.approx((low, high), abs=2e-3)
    assert found.interval[0] < low + 5e-4


def test_published_relative_predictive_value():
    found = ratio_of("precision")
    assert found.value == pytest.approx(1.04860694, abs=5e-9)
    assert found.standard_error == pytest.approx(0.01991247, rel=2e-3)  # of the logarithm


def test_ratio_follows_from_the_logarithms():
    """The error is that of log A - log B, from the covariance of the values."""
    difference = dmfroc.compare(DISEASED, y_pred={"2": SECOND, "1": FIRST}, measures="precision")
    values = np.array([e.value for e in difference.estimates.values()])
    gradient = np.array([1, -1]) / values
    expected = math.sqrt(gradient @ difference.covariance @ gradient)
    assert ratio_of("precision").standard_error == pytest.approx(expected, rel=1e-3)


def test_turned_around_and_in_print():
    found = dmfroc.compare(
        DISEASED, y_pred={"2": SECOND, "1": FIRST}, measures="recall", scale="ratio"
    )
    [ratio], swapped = found.differences, ratio_of("recall", second_first=False)
    turned = ratio.turned_around()
    assert (turned.first, turned.value) == ("1", pytest.approx(swapped.value))
    assert turned.interval == pytest.approx(swapped.interval)
    assert "A / B" in str(found)
    assert f"{turned.value:.4f}" in str(found)  # the better one first
    assert found.tested.endswith("A / B \N{NOT EQUAL TO} 1.")
    assert "ratio" in found.to_html()
    assert found.best_set() == ("1",)
    display = found.plot()
    assert display.ax_.get_xlabel().startswith("Ratio")


def test_one_sided_limit():
    found = ratio_of("recall", test="less")
    assert found.p_value == pytest.approx(ratio_of("recall").p_value / 2)
    assert found.interval[0] == 0
    tests = {"2": SECOND, "1": FIRST}
    options = {"measures": "recall", "scale": "ratio", "test": "less"}
    whole = dmfroc.compare(DISEASED, y_pred=tests, **options)
    limit = f"{found.interval[1]:.4f}"
    assert f"at most {limit}   " in str(whole)
    assert f"limit: at most {limit[:-1]};" in whole.to_html()
    assert "0.0000" not in str(whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "a method other than 'jackknife'"),
        ({"paired": False}, "paired=False"),
        ({"simultaneous": True}, "simultaneous"),
        ({"test": dmfroc.NonInferiority(0.1)}, "NonInferiority"),
        ({"test": dmfroc.Equivalence(0.1)}, "NonInferiority or Equivalence"),
    ],
)
def test_what_does_not_go_with_ratios(options, message):
    with pytest.raises(ValueError, match=f"scale='ratio' does not go with {message}"):
        ratio_of("recall", **options)


def test_values_without_a_ratio():
    with pytest.raises(ValueError, match="needs values above 0, but recall of 'never' is 0"):
        dmfroc.compare(
            DISEASED, y_pred={"1": FIRST, "never": 0 * FIRST}, measures="recall", scale="ratio"
        )
    with pytest.raises(ValueError, match="scale must be"):
        ratio_of("recall") and dmfroc.compare(DISEASED, y_pred={"1": FIRST, "2": SECOND}, scale="x")


def test_a_one_sided_ratio_below_one_is_printed_and_turned_around():
    """The open end of its interval is 0, and that of the reciprocal infinite."""
    found = dmfroc.compare(
        DISEASED, y_pred={"2": SECOND, "1": FIRST}, measures="recall", scale="ratio", test="less"
    )
    [ratio] = found.differences
    assert "A / B < 1" in str(found)
    assert ratio.interval[0] == 0
    assert ratio.turned_around().interval == (pytest.approx(1 / ratio.interval[1]), math.inf)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scale": "ratio"}, "1 / 2 = 1.1642 (interval 1.1035 to 1.2283), p = 5.1e-08"),
        (
            {"scale": "ratio", "test": "greater"},
            "1 / 2 = 1.1642 (limit at least 1.1131), p = 2.5e-08",
        ),
        ({"scale": "ratio", "test": "less"}, "1 / 2 = 1.1642 (limit at most 1.2177), p > 0.99"),
        ({}, "1 \N{MINUS SIGN} 2 = +0.1242 (interval +0.0820 to +0.1667), p = 1.8e-08"),
    ],
)
def test_a_difference_is_shown_in_one_line(options, text):
    [found] = dmfroc.compare(
        DISEASED, y_pred={"1": FIRST, "2": SECOND}, measures="recall", **options
    ).differences
    assert (str(found), repr((found,))) == (text, f"({text},)")
    assert str(replace(found, adjusted_p_value=1.0)) == f"{text}, adjusted 1"
