"""Plans from published figures against printed sample sizes, quadrature and simulated samples."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, ndtri

import dmfroc
from dmfroc.applications import PublishedFigures

EXAMPLE = PublishedFigures(prevalence=0.018, auc=0.8, risks=("normal", -5, 2.5))
TARGETS = {"observed_expected_ratio": 0.5, "calibration_slope": 0.1, "hand_till": 0.05}


def slope_by_quadrature(density, low, high):
    """Return the cases for a half-width of 0.1, by the information of the logistic regression."""
    information = [
        integrate.quad(lambda x, k=k: density(x) * expit(x) * expit(-x) * x**k, low, high)[0]
        for k in range(3)
    ]
    zero, one, two = information
    return (stats.norm.ppf(0.975) / 0.1) ** 2 * zero / (zero * two - one**2)


def test_printed_example_of_pmvalsampsize():
    with pytest.warns(UserWarning, match="the mean risk is 0.0523 and the prevalence 0.018"):
        plan = dmfroc.applications.plan(EXAMPLE, half_width=TARGETS)
    assert plan.targets["observed_expected_ratio"] == pytest.approx(905, abs=1)
    assert plan.targets["hand_till"] == pytest.approx(4252, abs=1)
    exact = slope_by_quadrature(stats.norm(-5, 2.5).pdf, -25, 15)
    assert exact == pytest.approx(4554, abs=1)
    assert plan.targets["calibration_slope"] == pytest.approx(exact, abs=2)
    assert plan.targets["calibration_slope"] == pytest.approx(4501, rel=0.015)  # they simulate
    assert plan.measure == "calibration_slope"
    assert plan.n == plan.targets["calibration_slope"]
    assert "calibration_slope decides" in str(plan)
    assert "published figures" in plan.to_html()
    assert list(plan.to_pandas("targets").index) == list(TARGETS)


def test_printed_slope_of_beta_risks():
    plan = dmfroc.applications.plan(
        PublishedFigures(risks=("beta", 0.5, 0.5)), measure="calibration_slope", half_width=0.1
    )
    assert plan.n == pytest.approx(1644, abs=2)  # by quadrature; printed 1641, by simulation
    assert plan.prevalence[1] == pytest.approx(0.5, abs=1e-3)


def test_printed_errors_of_presize():
    figures = PublishedFigures(prevalence=0.5, auc=0.85)
    plan = dmfroc.applications.plan(figures, measure="hand_till", half_width=0.05)
    errors = plan.curve([80, 120])["standard_error"].round(4)
    assert errors.tolist() == [0.0437, 0.0356]


@pytest.mark.parametrize(
    "measure", ["brier_score", "net_benefit(threshold=0.2)", "calibration_intercept", "recall"]
)
def test_simulated_samples_have_the_planned_error(measure):
    figures = PublishedFigures(risks=("normal", -1, 1), threshold=0.3)
    plan = dmfroc.applications.plan(figures, measure=measure, half_width=0.1)
    rng, n = np.random.default_rng(0), 500
    values = []
    for _ in range(200):
        risk = expit(rng.normal(-1, 1, n))
        y = rng.random(n) < risk
        hard = (risk >= 0.3).astype(int)
        scores = np.stack([1 - risk, risk], axis=1)
        measured = dmfroc.measures.get_measure(measure)
        sample = dmfroc.Predictions.from_arrays(y.astype(int), scores)
        sample = dataclasses.replace(sample, predicted=hard.astype(np.int32))
        values.append(dmfroc.estimate(measured, sample).value)
    [error] = plan.curve([n])["standard_error"]
    assert error == pytest.approx(np.std(values), rel=0.15)


def test_paired_difference_and_several_classes():
    single = PublishedFigures(prevalence=0.3, auc=0.8)
    paired = PublishedFigures(prevalence=0.3, auc=0.8, correlation=0.6)
    errors = [
        dmfroc.applications.plan(x, measure="hand_till", half_width=0.05)
        .curve([400])["standard_error"]
        .iloc[0]
        for x in (single, paired)
    ]
    assert errors[1] == pytest.approx(errors[0] * np.sqrt(0.8))
    plan = dmfroc.applications.plan(paired, measure="hand_till", margin=0.05)
    z = ndtri(0.975) + ndtri(0.8)
    assert plan.n == pytest.approx(400 * (z * errors[1] / 0.05) ** 2, rel=0.02)
    several = PublishedFigures(prevalence=[0.2, 0.3, 0.5], auc=0.8)
    plan = dmfroc.applications.plan(several, measure="hand_till", half_width=0.03)
    assert plan.value == pytest.approx(0.8, abs=0.005)
    assert list(plan.prevalence.values()) == pytest.approx([0.2, 0.3, 0.5])


def test_quantiles_of_risks_and_a_pilot_with_several_targets():
    levels = np.linspace(0, 1, 2001)
    quantiles = stats.beta(2, 3).ppf(np.clip(levels, 1e-4, 1 - 1e-4))
    given = {"measure": "brier_score", "half_width": 0.02}
    a, b = (
        dmfroc.applications.plan(PublishedFigures(risks=risks), **given).n
        for risks in (("quantiles", levels, quantiles), ("beta", 2, 3))
    )
    assert a == pytest.approx(b, rel=0.01)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    pilot = dmfroc.Predictions.from_arrays(y, rng.normal(size=200) + y)
    widths = {"hand_till": 0.05, "average_precision": 0.05}
    plan = dmfroc.applications.plan(pilot, half_width=widths)
    with warnings.catch_warnings():
        alone = {
            m: dmfroc.applications.plan(pilot, measure=m, half_width=w).n for m, w in widths.items()
        }
    assert plan.targets == alone
    assert plan.n == max(alone.values())


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        ({"prevalence": 0.1}, "give prevalence= and auc=, or risks="),
        ({"prevalence": 1.5, "auc": 0.8}, "prevalence must be a share"),
        ({"prevalence": 0.1, "auc": 0.3}, "auc must be between 0.5 and 1"),
        ({"prevalence": 0.1, "auc": 0.8, "correlation": 2}, "correlation must be between -1 and 1"),
        ({"risks": ("gamma", 1, 2)}, "risks must be"),
        ({"risks": ("beta", 1)}, "risks must be"),
    ],
)
def test_figures_that_cannot_be(figures, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PublishedFigures(**figures)


def test_options_that_are_of_pilots():
    with pytest.raises(TypeError, match="PublishedFigures has its own"):
        dmfroc.applications.plan(
            EXAMPLE, measure="brier_score", half_width=0.1, prevalence="balanced"
        )
    with pytest.raises(TypeError, match="needs one at least, and nothing else"):
        dmfroc.applications.plan(EXAMPLE, half_width={})


@pytest.mark.parametrize(
    "given",
    [
        {"risks": ("normal", 0, -1)},
        {"risks": ("beta", "a", 2)},
        {"risks": ("quantiles", [0, 1], [0.1])},
        {"risks": ("quantiles", [1, 0], [0.1, 0.9])},  # np.interp would take any levels
        {"prevalence": 0.1, "auc": 0.8, "threshold": 50},
    ],
)
def test_figures_that_are_no_distribution_are_refused(given):
    with pytest.raises(ValueError, match=r"(risks|threshold) must be"):
        PublishedFigures(**given)
