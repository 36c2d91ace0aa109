"""The least favourable weights: beta quantiles, an independent solution, the Dirichlet law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from dmfroc import estimate
from dmfroc.inference import tilt as module
from dmfroc.inference.tilt import (
    Atoms,
    error_of_t,
    quantile_of,
    quantile_of_t,
    residual_freedom,
    tilt,
)

QUANTILE = stats.norm.ppf(0.975)
PROPORTIONS = [(9, 10), (29, 30), (20, 30), (50, 100), (1, 100), (995, 1000)]
"""How many are right, of how many."""


def one_stratum(influences, masses=None):
    n = len(influences)
    masses = np.ones(n) if masses is None else np.asarray(masses, float)
    return Atoms(np.asarray(influences, float), masses, np.zeros(n, int))


def three_strata(seed, n=40):
    """Return skewed influences, masses around 1, and strata of different sizes."""
    generator = np.random.default_rng(seed)
    stratum = generator.permutation(np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3]))
    masses = generator.choice([0.25, 0.75, 1.0, 1.0, 3.0], n)
    return Atoms(generator.exponential(size=n) * (1 + stratum) + stratum, masses, stratum)


def mean_of(weights, atoms):
    """Return the sum of the influences, about the means of the strata."""
    return float(weights @ atoms.centred())


# Known cases


@pytest.mark.parametrize("own", [0.75, 0.5, 1.0])
@pytest.mark.parametrize("error", [0.2, 0.05, 0.01])
@pytest.mark.parametrize(("right", "n"), PROPORTIONS)
def test_limits_of_a_proportion_are_beta_quantiles(right, n, error, own):
    """Of Clopper and Pearson if the whole unit is an error, of Jeffreys if one half is."""
    x = np.append(np.arange(n) < right, [0.0, 1.0])
    quantile = -stats.norm.ppf(error / 2)
    for side, errors in ((-1, own), (1, 1 - own)):
        masses = np.append(np.ones(n), [errors, 1 - errors])
        atoms = one_stratum(x[masses > 0], masses[masses > 0])
        weights = tilt(atoms, side * quantile).weights(atoms)
        found = weights @ atoms.influences / (n + 1)
        expected = stats.beta(right + 1 - errors, n - right + errors)
        assert found == pytest.approx(expected.ppf(stats.norm.cdf(side * quantile)), abs=1e-3)


@pytest.mark.parametrize("own", [0.75, 0.5, 1.0])
@pytest.mark.parametrize("error", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_limit_of_a_perfect_sample_is_that_of_beta(n, error, own):
    masses = np.append(np.ones(n), [own, 1 - own])
    atoms = one_stratum(np.append(np.ones(n), [0.0, 1.0])[masses > 0], masses[masses > 0])
    lost = 1 - tilt(atoms, stats.norm.ppf(error / 2)).weights(atoms) @ atoms.influences / (n + 1)
    assert lost == pytest.approx(stats.beta(own, n + 1 - own).isf(error / 2), rel=0.02)


def test_one_more_error_and_one_more_success_are_clopper_and_pearsons():
    for right, n in ((7, 20), (19, 20), (3, 200)):
        exact = stats.binomtest(right, n).proportion_ci(0.95, method="exact")
        for side, expected in ((-1, exact.low), (1, exact.high)):
            atoms = one_stratum(np.append(np.arange(n) < right, float(side > 0)))
            weights = tilt(atoms, side * QUANTILE).weights(atoms)
            assert weights @ atoms.influences / (n + 1) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [30, 300])
def test_three_quarters_of_an_error_are_the_rule_of_three(n, level):
    """The two-sided limit of a perfect sample is the exact one-sided one, 3 / n at 95 %."""
    atoms = one_stratum(np.append(np.ones(n), [0.0, 1.0]), np.append(np.ones(n), [0.75, 0.25]))
    weights = tilt(atoms, stats.norm.ppf((1 - level) / 2)).weights(atoms)
    lost = 1 - weights @ atoms.influences / (n + 1)
    assert lost == pytest.approx(1 - (1 - level) ** (1 / n), rel=0.1)


@pytest.mark.parametrize("stratify", [None, False])
@pytest.mark.parametrize(("right", "n"), PROPORTIONS[1:])
def test_accuracy_has_the_limits_of_beta(right, n, stratify):
    classes = np.arange(n) % 2
    wrong = np.random.default_rng(0).permutation(n)[: n - right]
    predicted = np.where(np.isin(np.arange(n), wrong), 1 - classes, classes)
    low, high = estimate("accuracy", classes, y_pred=predicted, stratify=stratify).interval
    assert low == pytest.approx(stats.beta(right + 0.25, n - right + 0.75).ppf(0.025), abs=5e-4)
    assert high == pytest.approx(stats.beta(right + 0.75, n - right + 0.25).ppf(0.975), abs=5e-4)


# Weights


@pytest.mark.parametrize("quantile", [-3.0, -0.5, 1e-3, 2.0])
def test_weights_are_positive_and_have_the_masses_of_their_stratum(quantile):
    atoms = three_strata(1)
    weights = tilt(atoms, quantile).weights(atoms)
    assert (weights > 0).all()
    for stratum in range(3):
        own = atoms.stratum == stratum
        assert weights[own].sum() == pytest.approx(atoms.masses[own].sum(), rel=1e-10)
        ratio = weights[own] / atoms.masses[own]
        order = np.argsort(np.sign(quantile) * atoms.influences[own])
        assert (np.diff(ratio[order]) > 0).all()


def test_there_is_no_tilt_at_the_median_or_without_variation():
    atoms = three_strata(1)
    np.testing.assert_array_equal(tilt(atoms, 0.0).weights(atoms), atoms.masses)
    constant = atoms._replace(influences=2.0 * atoms.stratum)
    np.testing.assert_array_equal(tilt(constant, 1.96).weights(constant), atoms.masses)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), quantile=st.floats(-4, 4))
def test_the_sum_of_influences_grows_with_the_quantile(seed, quantile):
    """Near the median the law's skewness is more than the quantile, and there is no tilt."""
    atoms = three_strata(seed, 12)
    found, more = (
        mean_of(tilt(atoms, q).weights(atoms), atoms) for q in (quantile, quantile + 0.1)
    )
    assert found < more or abs(quantile) < 1
    assert found < more + 1e-6 * np.sqrt(atoms.masses @ atoms.centred() ** 2)
    assert more < atoms.masses @ (atoms.centred() ** 2) * 1e3  # finite, even for twelve units


@pytest.mark.parametrize("quantile", [-1.96, 2.5])
def test_weights_depend_on_no_shift_within_strata_and_no_unit(quantile):
    atoms = three_strata(2)
    expected = tilt(atoms, quantile).weights(atoms)
    shifted = atoms._replace(
        influences=atoms.influences + np.array([5.0, -1.0, 0.3])[atoms.stratum]
    )
    np.testing.assert_allclose(tilt(shifted, quantile).weights(shifted), expected, rtol=1e-6)
    for unit in (1e-9, 1e6):
        scaled = atoms._replace(influences=unit * atoms.influences)
        np.testing.assert_allclose(tilt(scaled, quantile).weights(scaled), expected, rtol=1e-6)
    mirrored = atoms._replace(influences=-atoms.influences)
    np.testing.assert_allclose(tilt(mirrored, -quantile).weights(mirrored), expected, rtol=1e-6)


def test_a_unit_of_mass_two_is_two_units():
    x = np.random.default_rng(3).normal(size=20)
    twice = one_stratum(np.repeat(x, 2))
    heavy = one_stratum(x, np.full(20, 2.0))
    found, expected = (tilt(a, 1.96).weights(a) for a in (heavy, twice))
    np.testing.assert_allclose(found, expected.reshape(20, 2).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("n_strata", [1, 2])
def test_bins_of_many_units_hardly_change_a_limit(n_strata):
    generator, n = np.random.default_rng(4), 20_000
    stratum = generator.integers(n_strata, size=n)
    skewed = generator.exponential(size=n) ** 1.5 * (1 + stratum)
    atoms = Atoms(skewed, np.ones(n), stratum)
    bins = atoms.binned()
    assert len(bins.masses) <= n_strata * module._BINS
    assert bins.masses.sum() == pytest.approx(n, rel=1e-12)
    limits = {
        name: [mean_of(tilt(x, q).weights(atoms), atoms) for q in (-QUANTILE, QUANTILE)]
        for name, x in (("exact", atoms), ("bins", bins))
    }
    length = np.ptp(limits["exact"])
    np.testing.assert_allclose(limits["bins"], limits["exact"], rtol=0, atol=3e-4 * length)
    few = three_strata(1)
    assert few.binned() is few


# Independent solutions


@pytest.mark.parametrize("quantile", [-2.0, 1.0, 2.5])
@pytest.mark.parametrize("seed", [5, 6])
def test_weights_are_the_most_likely_ones_with_their_sum_of_influences(seed, quantile):
    """The maximum of the sum of masses times log weights, by a method that knows nothing of it."""
    atoms = three_strata(seed, 12)
    found = tilt(atoms, quantile).weights(atoms)
    is_of = np.eye(3)[:, atoms.stratum]
    totals = is_of @ atoms.masses
    conditions = np.vstack([is_of, atoms.centred()])
    sides = np.append(totals, mean_of(found, atoms))

    solution = optimize.minimize(
        lambda log_w: -atoms.masses @ log_w,
        np.log(atoms.masses),
        jac=lambda log_w: -atoms.masses,
        method="SLSQP",
        constraints={
            "type": "eq",
            "fun": lambda log_w: conditions @ np.exp(log_w) - sides,
            "jac": lambda log_w: conditions * np.exp(log_w),
        },
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert solution.success
    np.testing.assert_allclose(np.exp(solution.x), found, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("quantile", [-2.0, -1.0, 1.0, 2.0])
@pytest.mark.parametrize("n", [12, 60])
def test_the_quantile_is_that_of_dirichlet_weights(n, quantile):
    """Of products of Dirichlet laws, one in each stratum, by draws."""
    atoms, n_draws = three_strata(7, n), 40_000
    limit = mean_of(tilt(atoms, quantile).weights(atoms), atoms)
    drawn = np.random.default_rng(8).standard_gamma(atoms.masses, (n_draws, n))
    centred, sums = atoms.centred(), np.zeros(n_draws)
    for stratum in range(3):
        own = atoms.stratum == stratum
        total = atoms.masses[own].sum()
        sums += drawn[:, own] @ centred[own] / drawn[:, own].sum(axis=1) * total
    p = stats.norm.cdf(quantile)
    chance = 4 * np.sqrt(p * (1 - p) / n_draws)
    assert (sums <= limit).mean() == pytest.approx(p, abs=chance + 0.15 / n)


@pytest.mark.parametrize("quantile", [-4.0, -1.96, -0.01, 0.5, 3.0])
@pytest.mark.parametrize("atoms", [one_stratum(np.arange(30.0) ** 2), three_strata(5)])
def test_a_sum_of_influences_has_the_quantile_whose_weights_have_that_sum(atoms, quantile):
    total = tilt(atoms, quantile).weights(atoms) @ atoms.influences
    assert quantile_of(atoms, total) == pytest.approx(quantile, abs=1e-5)


def test_sums_of_influences_that_do_not_vary_or_move_have_quantiles():
    equal = one_stratum(np.ones(5))
    assert [quantile_of(equal, x) for x in (4.0, 5.0, 6.0)] == [-np.inf, 0.0, np.inf]
    atoms = three_strata(6)
    assert quantile_of(atoms, atoms.masses @ atoms.influences) == pytest.approx(0, abs=1e-6)
    beyond = one_stratum(np.arange(10) < 5)
    assert [quantile_of(beyond, x) for x in (0.0, 10.0, 11.0)] == [-np.inf, np.inf, np.inf]
    assert 6 < quantile_of(beyond, 9.9999) < np.inf


# Degrees of freedom


@pytest.mark.parametrize("freedom", [1.5, 12.0, np.inf])
@pytest.mark.parametrize("error", [1e-12, 0.05, 0.9, 1.0])
def test_quantiles_of_t_have_the_errors_of_t(freedom, error):
    assert error_of_t(freedom, quantile_of_t(freedom, error)) == pytest.approx(error, rel=1e-9)


def test_normal_influences_have_as_many_degrees_of_freedom_as_units_and_proportions_all():
    x = np.random.default_rng(9).normal(size=2000)
    atoms, centred = one_stratum(x), x - x.mean()
    found = residual_freedom(atoms, centred, float(centred @ centred))
    assert found == pytest.approx(2000, rel=0.1)
    for share in (0.5, 0.01):
        atoms = one_stratum(np.arange(2000) < share * 2000)
        centred = atoms.centred()
        assert residual_freedom(atoms, centred, float(centred @ centred)) == np.inf
    assert residual_freedom(one_stratum(np.ones(5)), np.zeros(5), 0.0) == np.inf
    assert quantile_of_t(np.inf, 0.05) == pytest.approx(QUANTILE)


def test_few_large_influences_leave_few_degrees_of_freedom():
    """Of either sign, so that the mean does not determine their variance."""
    x = np.zeros(500)
    x[:6] = [1, -1, 2, -2, 3, -3]
    atoms = one_stratum(x)
    found = residual_freedom(atoms, x, float(x @ x))
    assert found == pytest.approx(2 * 28**2 / (2 * (1 + 16 + 81) - 28**2 / 500), rel=1e-12)
    assert quantile_of_t(found, 0.05) == pytest.approx(
        stats.t(found).ppf(0.975) * np.sqrt(1 + 2 / found)
    )


@pytest.mark.parametrize("quantile", [-2.5, -0.3, 1.96])
@pytest.mark.parametrize("n_strata", [1, 3])
def test_units_of_equal_influences_are_counted_together(quantile, n_strata):
    generator = np.random.default_rng(n_strata)
    influences = generator.choice([0.0, 0.25, 1.0], 300)
    atoms = Atoms(influences, generator.exponential(size=300), np.arange(300) % n_strata)
    merged = atoms.merged()
    assert len(merged.masses) == 3 * n_strata
    expected, found = tilt(atoms, quantile), tilt(merged, quantile)
    np.testing.assert_allclose(found.weights(atoms), expected.weights(atoms), rtol=1e-9)
