"""Tests of independence: stored numbers, SciPy, Powers' statistics, what a p-value is worth."""

import numpy as np
import pytest
from golden import assert_golden, golden
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from dmfroc.applications import (
    chi_squared_test,
    fisher_exact_test,
    likelihood_ratio_test,
    powers_statistics,
    sellke_bayarri_berger,
)
from dmfroc.measures import ContingencyTable

AS_PUBLISHED = {"reference": "chi2_as_published"}


def table_of(matrix):
    return ContingencyTable.from_matrix(matrix, rows="predicted")


def published(statistics, **options):
    with pytest.warns(UserWarning, match="not chi-square distributed"):
        return statistics.p_values(**AS_PUBLISHED, **options)


# Stored numbers


@pytest.mark.parametrize("case", golden("binary_significance"))
def test_tests_of_two_classes(case):
    table = ContingencyTable.from_cells(**case["inputs"])
    pearson, g2 = chi_squared_test(table), likelihood_ratio_test(table)
    yates = chi_squared_test(table, correction=True)
    bound = sellke_bayarri_berger(pearson.p_value)
    found = {
        "chi2_pearson": pearson.statistic,
        "chi2_pearson_p": pearson.p_value,
        "chi2_yates": yates.statistic,
        "chi2_yates_p": yates.p_value,
        "g2": g2.statistic,
        "g2_p": g2.p_value,
        "mi_nats": table.values["mutual_information"],
        "sellke_l": bound.bayes_factor,
        "sellke_alpha": bound.alpha,
        "sellke_beta": bound.beta,
    }
    for alternative in ("greater", "less", "two-sided"):
        result = fisher_exact_test(table, alternative=alternative)
        found[f"fisher_{alternative.replace('-', '_')}"] = result.p_value
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("binary_significance"))
def test_powers_statistics_of_two_classes(case):
    table = ContingencyTable.from_cells(**case["inputs"])
    x = powers_statistics(table)
    p = published(x)
    found = {
        "chi2_plus_p": x.plus_p[1],
        "chi2_minus_p": x.plus_p[0],
        "chi2_plus_r": x.plus_r[1],
        "chi2_minus_r": x.plus_r[0],
        "chi2_kb": x.kb,
        "chi2_km": x.km,
        "chi2_kbm": x.kbm,
        "g2_plus_p_half": x.half_g2_plus_p[1],
        "chi2_plus_p_p": p["plus_p"][1],
        "chi2_plus_r_p": p["plus_r"][1],
        "chi2_kb_p": p["kb"],
        "chi2_km_p": p["km"],
        "chi2_kbm_p": p["kbm"],
    }
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("printed_values")[1::2])
def test_statistics_as_printed(case):
    table = ContingencyTable.from_cells(**case["inputs"])
    x, measures = powers_statistics(table), table.measures()
    # The paper's chi-square of the positive class puts the evenness and margin of predictions
    # where those of the classes belong, and the other way round.
    misprinted = table.total * measures["markedness"] ** 2 * measures["evenness_real"]
    found = {
        "chi2_plus_p": x.plus_p[1],
        "chi2_plus_r_as_tabled": misprinted / measures["bias"],
        "chi2_kb": x.kb,
        "chi2_km": x.km,
        "chi2_kbm": x.kbm,
    }
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.filterwarnings("ignore:no finite value in this sample:UserWarning")
@pytest.mark.parametrize("case", golden("multiclass_measures"))
def test_any_number_of_classes(case):
    table = table_of(case["inputs"]["C"])
    pearson, g2 = chi_squared_test(table), likelihood_ratio_test(table)
    x = powers_statistics(table)
    alpha = published(x)
    beta = published(x, degrees_of_freedom=table.n_classes - 1)
    found = {
        "chi2_pearson": pearson.statistic,
        "df": pearson.degrees_of_freedom,
        "chi2_pearson_p": pearson.p_value,
        "g2": g2.statistic,
        "g2_p": g2.p_value,
        "chi2_kb_sum": np.nansum(table.class_values["bias"] * x.plus_p),
        "chi2_km_sum": np.nansum(table.class_values["prevalence"] * x.plus_r),
    }
    for name in ("kb", "km", "kbm"):
        found[f"chi2_{name}"] = getattr(x, name)
        found[f"chi2_{name}_p_df_alpha"] = alpha[name]
        found[f"chi2_{name}_p_df_beta"] = beta[name]
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("sellke_bayarri_berger"))
def test_bounds_of_evidence(case):
    bound = sellke_bayarri_berger(case["inputs"]["p"])
    for key, value in zip(("l", "alpha", "beta"), bound, strict=True):
        assert_golden(value, case, key)
    for index, p in enumerate(case["inputs"]["p"]):
        assert sellke_bayarri_berger(p).alpha == bound.alpha[index]


# Identities


@settings(max_examples=40)
@given(hnp.arrays(np.int64, (2, 2), elements=st.integers(1, 60)))
def test_parts_of_the_chi_square(counts):
    table = table_of(counts)
    measures, x = table.measures(), powers_statistics(table)
    total, n = chi_squared_test(table).statistic, table.total
    bias, prevalence = measures["bias"], measures["prevalence"]
    factors = {
        "kb": 2 * measures["evenness_predicted"],
        "km": 2 * measures["evenness_real"],
        "kbm": 2 * measures["evenness_global"],
    }
    for name, factor in factors.items():
        assert getattr(x, name) == pytest.approx(factor * total, rel=1e-9, abs=1e-9)
    assert x.plus_p == pytest.approx(total * np.array([bias, 1 - bias]), rel=1e-9, abs=1e-9)
    rest = np.array([prevalence, 1 - prevalence])
    assert x.plus_r == pytest.approx(total * rest, rel=1e-9, abs=1e-9)
    of_measures = n * measures["informedness"] * measures["markedness"]
    assert of_measures == pytest.approx(total, rel=1e-9, abs=1e-9)
    g2 = likelihood_ratio_test(table).statistic
    assert g2 == pytest.approx(2 * n * measures["mutual_information"], rel=1e-9, abs=1e-9)
    assert 2 * x.half_g2_plus_p.sum() == pytest.approx(g2, rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(hnp.arrays(np.int64, (3, 3), elements=st.integers(0, 20)))
def test_scipy_agrees(counts):
    if not (counts.any(axis=0).all() and counts.any(axis=1).all()):
        counts = counts + 1
    table = table_of(counts)
    for test, function in (
        ("pearson", chi_squared_test),
        ("log-likelihood", likelihood_ratio_test),
    ):
        expected = stats.chi2_contingency(counts, lambda_=test)
        found = function(table)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12, abs=1e-12)


def test_likelihood_ratio_approaches_the_chi_square_near_chance():
    ratios = []
    for dtp in (1e-2, 1e-3, 1e-4):
        cells = {"tp": 0.252 + dtp, "fp": 0.168 - dtp, "fn": 0.348 - dtp, "tn": 0.232 + dtp}
        x = powers_statistics(ContingencyTable.from_cells(**cells))
        ratios.append(2 * x.half_g2_plus_p[1] / x.plus_p[1])
    gaps = np.abs(1 - np.array(ratios))
    assert gaps[0] < 0.02
    assert gaps[1:] == pytest.approx(gaps[:-1] / 10, rel=0.1)


def test_perfect_prediction_of_even_classes():
    k, n = 4, 40
    table = table_of(np.eye(k) * n / k)
    assert powers_statistics(table).kb == pytest.approx(n * (k - 1) / k)
    assert chi_squared_test(table).statistic == pytest.approx(n * (k - 1))


def test_powers_statistics_are_not_chi_square_distributed():
    # What the warning says: under independence they reject far too rarely.
    generator = np.random.default_rng(0)
    cells = generator.multinomial(100, [0.25] * 4, size=400)
    statistics = [
        powers_statistics(ContingencyTable.from_cells(tp=a, fp=b, fn=c, tn=d)).kb
        for a, b, c, d in cells
    ]
    rejected = np.mean(np.array(statistics) > stats.chi2.isf(0.05, 1))
    assert rejected < 0.03  # 5 % would be 20 of 400, with a standard deviation of 4.4


# Degenerate tables and bad input


def test_a_constant_prediction_cannot_be_tested():
    table = table_of([[4, 5], [0, 0]])
    with pytest.warns(UserWarning, match="one class alone occurs or is predicted: the chi-square"):
        found = chi_squared_test(table)
    assert (found.statistic, found.degrees_of_freedom) == (0, 0)
    assert np.isnan(found.p_value)
    assert fisher_exact_test(table).p_value == 1
    x = powers_statistics(table)
    assert np.isnan(x.plus_p[1])
    assert x.kb == 0


def test_weights_are_no_counts():
    table = table_of([[4.5, 5], [3, 8]])
    with pytest.warns(UserWarning, match="weights, not counts"):
        chi_squared_test(table)
    with pytest.raises(ValueError, match="table holds fractions"):
        fisher_exact_test(table)
    with pytest.raises(ValueError, match="table has 3 classes, but Fisher's exact test is for two"):
        fisher_exact_test(table_of(np.eye(3)))


def test_bad_options_are_told():
    x = powers_statistics(table_of([[4, 5], [3, 8]]))
    for freedom in (0, np.nan, np.inf, 1.5):
        with pytest.raises((TypeError, ValueError), match="degrees_of_freedom must be an integer"):
            x.p_values(**AS_PUBLISHED, degrees_of_freedom=freedom)
    with pytest.raises(TypeError, match="reference"):
        x.p_values()
    with pytest.raises(ValueError, match=r"p_value must be in \[0, 1\], but it is 1.2"):
        sellke_bayarri_berger(1.2)
    assert np.isnan(sellke_bayarri_berger(np.nan).alpha)
