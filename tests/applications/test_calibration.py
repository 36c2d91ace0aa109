"""Tests of calibration: their size, their power, and that they are the known statistics."""

import numpy as np
import pytest

import dmfroc
from dmfroc.applications import calibration_tests
from dmfroc.measures import MEASURES
from dmfroc.results.table import rounded

RNG = np.random.default_rng(0)


def sample(n, k, sharpness, rng=RNG):
    p = rng.dirichlet(np.ones(k), size=n)
    y = (p.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1)
    return y, p**sharpness / (p**sharpness).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3])
def test_statistics_are_those_of_the_measures(k):
    y, p = sample(120, k, 1.5)
    tests = calibration_tests(y, p, n_draws=99).tests
    for name, measure in (
        ("spiegelhalter", "spiegelhalter_z"),
        ("isotonic", "brier_miscalibration"),
    ):
        assert tests[name].statistic == pytest.approx(MEASURES[measure](y, p))
    if k == 2:
        residual = (y - p[:, 1]).sum()
        z = residual / np.sqrt((p[:, 1] * p[:, 0]).sum())
        assert tests["intercept"].statistic == pytest.approx(z**2)
    assert [t.degrees_of_freedom for t in tests.values()] == [
        k - 1,
        2 * k - 2,
        None,
        None,
        10 * (k - 1),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(40, 2), (60, 3)])
def test_level_holds_in_small_samples(n, k):
    rng, n_samples = np.random.default_rng(1), 200
    found = [calibration_tests(*sample(n, k, 1, rng), n_draws=99) for _ in range(n_samples)]
    for name in found[0].tests:
        share = np.mean([x.tests[name].p_value <= 0.05 for x in found])
        assert 0.01 < share < 0.10


def test_miscalibration_is_noticed():
    for k, sharpness in ((2, 2.5), (3, 2.5), (2, 0.3)):
        tests = calibration_tests(*sample(400, k, sharpness), n_draws=199).tests
        assert tests["intercept_and_slope"].p_value == 1 / 200
        assert tests["spiegelhalter"].p_value < 0.05
        assert tests["isotonic"].p_value < 0.05


def test_result_is_a_table():
    y, p = sample(50, 2, 1)
    found = calibration_tests(y, p[:, 1], n_draws=99)
    assert list(found.to_pandas().index) == list(found.tests)
    assert "Spiegelhalter's z" in str(found)
    assert "p-values by 99 draws" in str(found)
    assert found.as_json()["n_draws"] == 99


def test_classes_have_their_measures():
    y, p = sample(150, 3, 1.5)
    tests = calibration_tests(y, p, n_draws=99)
    found = tests.to_pandas("classes").set_index("class")
    for label in range(3):
        expected = dmfroc.estimate(dmfroc.measures.calibration_slope(pos_label=label), y, p)
        assert found.loc[label, "calibration_slope"] == expected.value
        one = dmfroc.estimate(MEASURES["observed_expected_ratio"], y == label, p[:, label])
        assert found.loc[label, "observed_expected_ratio"] == pytest.approx(one.value)
    certain = calibration_tests(y, np.eye(3)[y], n_draws=99).to_pandas("classes")
    assert "observed_expected_ratio" in certain
    assert "calibration_intercept" not in certain  # which takes logits
    assert [t.key for t in calibration_tests(*sample(50, 2, 1), n_draws=99).tables()] == ["tests"]


def test_certain_forecasts():
    y = np.repeat([0, 1], 20)
    assert calibration_tests(y, y.astype(float), n_draws=99).tests["isotonic"].p_value == 1
    wrong = calibration_tests(1 - y, y.astype(float), n_draws=99)
    assert {test.p_value for test in wrong.tests.values()} == {0.0}


def test_refusals():
    with pytest.raises(ValueError, match="needs probabilities"):
        calibration_tests([0, 1, 1], [0.2, 3.0, 1.0])
    weighted = dmfroc.Predictions.from_arrays([0, 1, 1], [0.2, 0.3, 1.0], sample_weight=[1, 2, 1])
    with pytest.raises(ValueError, match="rows of equal weight"):
        calibration_tests(weighted)


def test_picture_is_the_reliability_diagram():
    rng = np.random.default_rng(0)
    p = rng.random(80)
    y = (rng.random(80) < p).astype(int)
    display = calibration_tests(y, p, n_draws=99).plot(plot_bands=False)
    low, high = display.lines_[1].get_xdata()[[0, -1]]
    assert (low, high) == (p.min(), p.max())


@pytest.mark.parametrize("place", [0, 5, 9])
def test_statistics_of_zero_tie_whatever_the_order_of_the_rows(place):
    y = np.eye(10, dtype=int)[place]  # one event of ten, as the forecasts expect
    found = calibration_tests(y, np.full(10, 0.1), n_draws=99)
    assert [test.p_value for test in found.tests.values()] == [1.0] * 5


def test_the_least_p_value_of_draws_is_printed_as_a_bound_and_no_zero_has_a_sign():
    rng = np.random.default_rng(0)
    tests = dmfroc.applications.calibration_tests(
        rng.integers(2, size=300), rng.random(300), n_draws=199
    )
    text = str(tests)
    assert sum(t.p_value == 1 / 200 for t in tests.tests.values()) >= 1
    assert text.count("<= 0.0050 (199 draws)") == text.count("draws)")
    assert "<= 0.0050 (199 draws)" in text
    assert rounded(-1e-9, 0.01) == "0.0000"
    assert rounded(-0.2, 0.01) == "-0.2000"


def test_probabilities_that_hardly_vary_have_fewer_degrees_of_freedom():
    """All tests of one constant probability are the same test, of one degree of freedom."""
    tests = calibration_tests([0, 1] * 20, [0.4] * 40, n_draws=99).tests
    for name in ("intercept", "intercept_and_slope", "hosmer_lemeshow"):
        assert (tests[name].statistic, tests[name].degrees_of_freedom) == (pytest.approx(5 / 3), 1)
    y, p = sample(60, 2, 1.0)
    given = {"labels": range(3), "n_draws": 99}
    of_two = calibration_tests(y, p, n_draws=99).tests
    of_three = calibration_tests(y, np.c_[p, np.zeros(60)], **given).tests
    for name, test in of_two.items():
        assert of_three[name].degrees_of_freedom == test.degrees_of_freedom
