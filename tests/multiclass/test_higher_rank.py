"""Centres of a higher rank than one: against `dmf`, differences, and the model of rank one."""

import jax
import numpy as np
import pytest

import dmfroc
from dmfroc import functional, measures
from dmfroc.multiclass.higher_rank import fit_center, jacobian_of_curve

N, K, T = 60, 3, 9
GENERATOR = np.random.default_rng(0)
Y = GENERATOR.permutation(np.arange(N) % K)
SCORES = GENERATOR.normal(size=(N, K)) * [1, 1, 2] + np.eye(K)[Y] * [1, 2, 1.5]
OPTIONS = {"n_thresholds": T}


def smooth_rates():
    logits = np.sort(GENERATOR.normal([[1], [-1]], size=(6, 2, T)), axis=-1)
    return 1 / (1 + np.exp(-logits))


RATES, ONES = smooth_rates(), np.ones((6, 2, 1))


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_without_prior_it_is_the_mean_of_the_fitted_pairs(link):
    """Equation 13: the projection on the vector of ones is the mean over the columns."""
    found = fit_center(RATES, ONES, 1e-9, 2, link)
    assert found.converged
    general = dmfroc.dmf(RATES.reshape(6, -1).T, rank=2, link=link)
    expected = (general.row_effects @ general.column_effects.T).mean(axis=1).reshape(2, T)
    np.testing.assert_allclose(found.row_effect, expected, atol=1e-4)
    np.testing.assert_allclose(found.pair_effect.mean(), 1)


def test_rank_one_is_the_center():
    without = fit_center(RATES, ONES, 1e-9, 1, "logit")
    with jax.enable_x64(True):
        expected = functional.center(RATES, ONES, 0.0)
    np.testing.assert_allclose(without.row_effect, expected.threshold_effect, atol=1e-4)
    # The priors are the same to second order: where pairs differ little, so are the fits.
    alike = 1 / (
        1 + np.exp(-np.outer(1 + 0.02 * GENERATOR.normal(size=6), np.linspace(-2, 2, 2 * T)))
    )
    alike = np.sort(alike.reshape(6, 2, T), axis=-1)
    found = fit_center(alike, ONES, 1.0, 1, "logit")
    expected = functional.center(alike, ONES, 1.0)
    np.testing.assert_allclose(found.pair_effect, expected.pair_effect, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_derivatives_are_differences(link):
    def area(points, xp):
        fpr, tpr = points
        return ((tpr[1:] + tpr[:-1]) * (fpr[1:] - fpr[:-1])).sum() / 2

    arguments = ONES, np.asarray(0.3), 2, link, area
    found = np.asarray(jacobian_of_curve(RATES, *arguments))
    direction = GENERATOR.normal(size=RATES.shape)

    def moved(step):
        solution = fit_center(RATES + step * direction, *arguments[:-1])
        return np.trapezoid(*solution.points[::-1])

    expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
    np.testing.assert_allclose((found * direction).sum(), expected, rtol=1e-4)


def test_the_curve_fits_better_and_rises():
    curves = [dmfroc.multiclass_roc(Y, SCORES, rank=rank, **OPTIONS) for rank in (1, 2)]
    assert curves[1].deviance < curves[0].deviance
    assert curves[1].converged
    assert np.all(np.diff(curves[1].fpr) >= 0)
    assert np.all(np.diff(curves[1].tpr) >= 0)
    assert abs(curves[1].auc - curves[0].auc) < 0.02
    probit = dmfroc.multiclass_roc(Y, SCORES, rank=2, link="probit", **OPTIONS)
    assert abs(probit.auc - curves[1].auc) < 0.01
    score = measures.dmf_auc(rank=2, **OPTIONS)(Y, SCORES)
    assert score == pytest.approx(curves[1].auc, abs=1e-12)


def test_influences_are_differences():
    measure = measures.dmf_auc(rank=2, **OPTIONS)
    found = dmfroc.extend.influences(measure, Y, SCORES)
    step, rows = 1e-4, [0, 7, 31]
    from dmfroc.measures.measure import bind

    bound = bind(measure, dmfroc.Predictions.from_arrays(Y, SCORES))
    for row in rows:
        moved = np.ones((2, N))
        moved[:, row] += [step, -step]
        up, down = (bound.values(weights)[0] for weights in moved)
        np.testing.assert_allclose(np.ravel(found)[row], (up - down) / (2 * step), atol=1e-7)


@pytest.mark.slow
def test_a_perfect_classifier_has_the_area_one():
    estimate = dmfroc.estimate(measures.dmf_auc(rank=2, **OPTIONS), Y, np.eye(K)[Y])
    assert estimate.value == pytest.approx(1, abs=1e-8)
    assert estimate.standard_error < 1e-8


@pytest.mark.slow
def test_bands_and_replicates_follow():
    measure = measures.dmf_auc(rank=2, **OPTIONS)
    jackknife, bootstrap = (
        dmfroc.estimate(measure, Y, SCORES, **options)
        for options in ({}, {"method": dmfroc.Bootstrap(100)})
    )
    assert 0.7 < bootstrap.standard_error / jackknife.standard_error < 1.4
    band = dmfroc.evaluate(Y, SCORES, measures=[measure]).plot().band
    assert np.all(band.low <= band.tpr)
    assert np.all(band.tpr <= band.high)


def test_two_classes_have_one_curve_whatever_the_rank():
    two = (Y > 0).astype(int), SCORES[:, 1]
    assert dmfroc.multiclass_roc(*two, rank=3).auc == dmfroc.multiclass_roc(*two).auc
    assert measures.dmf_auc(rank=3)(*two) == measures.dmf_auc()(*two)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rank": 0}, "rank must be an integer"),
        ({"rank": 7}, "rank must be at most 6"),
        ({"rank": 2, "n_pairs": 2}, "leave n_pairs out"),
        ({"rank": 2, "n_thresholds": 2000}, "take fewer thresholds"),
    ],
)
def test_ranks_that_cannot_be_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        measures.dmf_auc(**options)(Y, SCORES)


@pytest.mark.slow
def test_methods_that_have_rank_one_say_so():
    measure = measures.dmf_auc(rank=2)
    with pytest.raises(ValueError, match="pair_weights alone"):
        dmfroc.estimate(measure, Y, SCORES, method="bayes")
    with pytest.raises(ValueError, match="leave rank out"):
        dmfroc.estimate(measure, dmfroc.scan([(Y, SCORES)], n_bins=8))
    with pytest.raises(ValueError, match="leave rank out"):
        functional.value(measure, Y, SCORES, n_classes=K)
    with pytest.raises(ValueError, match="rank 1"):
        dmfroc.estimate(measure, Y, SCORES, method=dmfroc.papers.PaperBootstrap(100))
    assert not jax.config.jax_enable_x64


@pytest.mark.slow
def test_separated_classes_have_a_value_without_shrinkage():
    """As of rank one: predictors that could grow for ever stay where rates are next to 0 and 1."""
    rng = np.random.default_rng(4)
    y = np.arange(75) % 3
    scores = rng.normal(size=(75, 3)) + 2.2 * np.eye(3)[y]
    scores[y == 0, 0] += 8
    one, two = (measures.dmf_auc(rank=rank, shrinkage=0)(y, scores) for rank in (1, 2))
    assert 0.9 < one < two < 1
