"""What reviewers ask for: IDI, NRI, D2, equal error rate, odds ratio, Hosmer and Lemeshow."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

import dmfroc
from dmfroc import compare, estimate
from dmfroc.applications import calibration_tests
from dmfroc.measures import MEASURES, get_measure

RNG = np.random.default_rng(5)
Y = RNG.integers(2, size=400)
RISK = 1 / (1 + np.exp(-RNG.normal(size=400) - Y))


def test_values_of_two_risks(cases_directory):
    """As the file's author computed them in NumPy."""
    table = pd.read_csv(cases_directory / "third" / "two_risks.csv")
    both = {"new": table["new"], "old": table["old"]}
    [idi] = compare(table["y"], both, measures="discrimination_slope").differences
    assert idi.value == pytest.approx(0.1201558371040724)
    assert idi.standard_error == pytest.approx(0.04247902311244101)
    nri = estimate("nri", table["y"], table["new"] - table["old"])
    assert nri.value == pytest.approx(0.3493212669683257)
    # Without categories, shares of a sign have a variance of their own in each class
    signs = np.sign(table["new"] - table["old"])
    parts = [signs[table["y"] == k] for k in (0, 1)]
    error = np.sqrt(sum(x.var() / (len(x) - 1) for x in parts))
    assert nri.standard_error == pytest.approx(error, rel=0.01)


def test_nri_of_categories_counts_rows():
    old, new = RISK, np.clip(RISK + RNG.normal(scale=0.2, size=400), 0, 1)
    before, after = (np.digitize(x, [0.3, 0.6]) for x in (old, new))
    up, down = after > before, after < before
    ill, well = Y == 1, Y == 0
    expected = up[ill].mean() - down[ill].mean() + down[well].mean() - up[well].mean()
    assert get_measure("nri")(Y, after - before) == pytest.approx(expected)
    with pytest.raises(ValueError, match="pass one score for each row, the new risk minus"):
        get_measure("nri")(Y, np.column_stack([1 - RISK, RISK]))
    with pytest.raises(ValueError, match="no score is negative"):
        get_measure("nri")(Y, RISK)


def test_discrimination_slope_is_a_difference_of_means():
    slope = MEASURES["discrimination_slope"]
    assert slope(Y, RISK) == pytest.approx(RISK[Y == 1].mean() - RISK[Y == 0].mean())
    several = np.column_stack([RISK, (1 - RISK) / 3, (1 - RISK) * 2 / 3])
    true = RNG.integers(3, size=400)
    found = estimate(slope, true, several, pos_label=2).value
    assert found == pytest.approx(several[true == 2, 2].mean() - several[true != 2, 2].mean())


@pytest.mark.parametrize("weights", [None, RNG.random(400)])
def test_d2_is_scikit_learns(weights):
    true = RNG.integers(3, size=400)
    scores = RNG.dirichlet([1, 1, 1], size=400) / 2 + np.eye(3)[true] / 2
    expected = sklearn_metrics.d2_log_loss_score(true, scores, sample_weight=weights)
    found = MEASURES["d2_log_loss"](true, scores, sample_weight=weights)
    assert found == pytest.approx(expected)


def test_equal_error_rate():
    """Both rates at the crossing; of equal normal distributions it is known."""
    e = estimate("eer", Y, RISK)
    fpr, tpr, _ = sklearn_metrics.roc_curve(Y, RISK)
    grid = np.linspace(0, 1, 200_001)
    crossing = grid[np.argmin(np.abs(np.interp(grid, fpr, tpr) + grid - 1))]
    assert e.value == pytest.approx(crossing, abs=1e-5)
    assert e.value == pytest.approx(estimate("eer", 1 - Y, -RISK).value)
    draws = estimate("eer", Y, RISK, method=dmfroc.Bootstrap(400))
    assert e.standard_error == pytest.approx(draws.standard_error, rel=0.15)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 4000)
    x = rng.normal(size=8000) + 2 * y
    found = estimate("eer", y, x)
    assert found.value == pytest.approx(stats.norm.cdf(-1), abs=3 * found.standard_error)
    # Of a line through the crossing the error is that of a mean of both rates
    share = stats.norm.cdf(-1)
    assert found.standard_error == pytest.approx(np.sqrt(share * (1 - share) / 8000), rel=0.1)
    assert MEASURES["equal_error_rate"]([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]) == 0
    assert MEASURES["equal_error_rate"]([0, 0, 1, 1], [0.3, 0.3, 0.3, 0.3]) == 0.5


def test_rates_and_odds_of_a_table():
    predicted = (RISK > 0.6).astype(int)
    labels = {"y_pred": predicted}
    (tn, fp), (fn, tp) = sklearn_metrics.confusion_matrix(Y, predicted)
    found = {x: get_measure(x)(Y, **labels) for x in ("dor", "fdr", "false_omission_rate")}
    assert found == pytest.approx(
        {"dor": tp * tn / (fp * fn), "fdr": fp / (tp + fp), "false_omission_rate": fn / (fn + tn)}
    )
    ratio = MEASURES["positive_likelihood_ratio"], MEASURES["negative_likelihood_ratio"]
    assert found["dor"] == pytest.approx(ratio[0](Y, **labels) / ratio[1](Y, **labels))
    # The logarithm of an odds ratio has the variance of Woolf (1955)
    error = estimate("dor", Y, **labels).standard_error / found["dor"]
    assert error == pytest.approx(np.sqrt(1 / tp + 1 / tn + 1 / fp + 1 / fn), rel=0.01)


def test_hosmer_and_lemeshow():
    """The statistic of an independent implementation, and its distribution in large samples."""
    rng = np.random.default_rng(1)
    risk = rng.uniform(0.05, 0.95, size=1000)
    y = (rng.random(1000) < risk).astype(int)
    test = calibration_tests(y, risk).tests["hosmer_lemeshow"]
    rows = pd.DataFrame({"y": y, "p": risk, "g": pd.qcut(risk, 10)}).groupby("g", observed=True)
    observed, expected, n = rows["y"].sum(), rows["p"].sum(), rows.size()
    statistic = ((observed - expected) ** 2 / (expected * (1 - expected / n))).sum()
    assert test.statistic == pytest.approx(statistic)
    assert test.degrees_of_freedom == 10
    assert test.p_value == pytest.approx(stats.chi2.sf(statistic, 10), abs=0.06)
    assert calibration_tests(y, risk**3).tests["hosmer_lemeshow"].p_value == 0.001
    three = rng.dirichlet([1, 1, 1], size=500)
    of_three = [rng.choice(3, p=p) for p in three]
    test = calibration_tests(of_three, three).tests["hosmer_lemeshow"]
    assert test.degrees_of_freedom == 20
    assert test.p_value > 0.01
