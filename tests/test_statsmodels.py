"""Agreement with statsmodels, wherever it computes the same thing."""

import numpy as np
import pytest
from statsmodels.nonparametric.smoothers_lowess import lowess
from statsmodels.stats.contingency_tables import Table, Table2x2
from statsmodels.stats.gof import powerdiscrepancy
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from dmfroc import Predictions, compare, estimate
from dmfroc.applications import chi_squared_test, fisher_exact_test, likelihood_ratio_test
from dmfroc.curves import calibration_curve, loess
from dmfroc.measures import ContingencyTable

COUNTS = {
    "two classes": [[30, 12], [7, 51]],
    "three classes": [[50, 10, 5], [3, 20, 2], [2, 5, 3]],
    "five classes": np.random.default_rng(3).integers(1, 30, (5, 5)).tolist(),
}
TABLES = pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)


@TABLES
def test_kappa_and_its_standard_error(counts):
    """Fleiss, Cohen and Everitt's asymptotic error is the jackknife's, with n instead of n - 1."""
    counts = np.array(counts)
    cells = np.indices(counts.shape).reshape(2, -1)
    predicted, true = (np.repeat(classes, counts.ravel()) for classes in cells)
    predictions = Predictions.from_labels(true, predicted)
    found = estimate("cohen_kappa", predictions, stratify=False)
    expected = cohens_kappa(counts)
    n = counts.sum()
    assert found.value == pytest.approx(expected.kappa, rel=0, abs=1e-12)
    error = found.standard_error * np.sqrt((n - 1) / n)
    assert error == pytest.approx(expected.std_kappa, rel=1e-10)


@TABLES
def test_tests_of_independence(counts):
    table = ContingencyTable.from_matrix(counts, rows="predicted")
    found, expected = chi_squared_test(table), Table(counts).test_nominal_association()
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.degrees_of_freedom == expected.df
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-15)
    observed = np.array(counts, float).ravel()
    fitted = Table(counts).fittedvalues.ravel()
    statistic, _ = powerdiscrepancy(observed, fitted, lambd="loglikeratio")
    assert likelihood_ratio_test(table).statistic == pytest.approx(statistic, rel=1e-12)


def test_odds_ratio():
    counts = COUNTS["two classes"]
    table = ContingencyTable.from_matrix(counts, rows="predicted")
    assert fisher_exact_test(table).statistic == pytest.approx(Table2x2(counts).oddsratio)


@pytest.mark.parametrize("span", [0.3, 0.75])
def test_local_regression(span):
    """Statsmodels takes weights of the nearest thousandth for one: agreement to six digits."""
    generator = np.random.default_rng(1)
    x = np.sort(generator.random(80))
    y, at = np.sin(6 * x) + generator.normal(size=80) / 4, np.linspace(0.05, 0.95, 15)
    expected = lowess(y, x, frac=span, it=0, xvals=at)
    np.testing.assert_allclose(loess(x, y, at, span=span).fitted, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_of_proportions(level):
    generator = np.random.default_rng(2)
    probability = generator.random(300)
    outcome = (generator.random(300) < probability).astype(int)
    curve = calibration_curve(outcome, probability, n_bins=5)
    sizes = np.histogram(probability, np.linspace(0, 1, 6))[0]
    hits = np.histogram(probability[outcome == 1], np.linspace(0, 1, 6))[0]
    expected = proportion_confint(hits, sizes, alpha=1 - level, method="wilson")
    np.testing.assert_allclose(curve.intervals(level), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [20, 50, 200])
def test_limits_of_a_perfect_sample_lie_between_those_of_jeffreys_and_clopper_and_pearson(n):
    """They are nearly the rule of three at every level: Clopper and Pearson's one-sided limits."""
    right = np.arange(n) % 2
    for level in (0.9, 0.95):
        low = estimate("accuracy", Predictions.from_labels(right, right), level=level).interval[0]
        lows = {
            method: proportion_confint(n, n, alpha=1 - level, method=method)[0]
            for method in ("jeffreys", "beta")
        }
        assert lows["beta"] < low < lows["jeffreys"]
        one_sided, _ = proportion_confint(n, n, alpha=2 * (1 - level), method="beta")
        assert 1 - low == pytest.approx(1 - one_sided, rel=0.1)


def test_adjusted_p_values():
    generator = np.random.default_rng(4)
    true = generator.integers(0, 3, 150)
    scores = {
        name: generator.normal(size=(150, 3)) + strength * np.eye(3)[true]
        for name, strength in {"a": 1.0, "b": 1.3, "c": 1.4, "d": 2.0}.items()
    }
    found = compare(true, scores, measures="hand_till").to_pandas()
    expected = multipletests(found["p_value"], method="holm")[1]
    np.testing.assert_allclose(found["adjusted_p_value"], expected, rtol=1e-12)
