"""Factorizations of any rank and link as functions of arrays: `dmf`, differences, many at once."""

import jax
import numpy as np
import pytest

import dmfroc
from dmfroc import functional

GENERATOR = np.random.default_rng(3)
ETA = GENERATOR.normal(size=(9, 2)) @ GENERATOR.normal(size=(2, 6))
RATES = GENERATOR.binomial(20, 0.05 + 0.9 / (1 + np.exp(-ETA))) / 20
WEIGHTS = GENERATOR.uniform(0.5, 2, RATES.shape)


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(("rank", "link"), [(1, "logit"), (2, "probit"), (2, "cloglog")])
def test_it_is_the_factorization(rank, link):
    found = functional.dmf(RATES, WEIGHTS, rank=rank, link=link)
    expected = dmfroc.dmf(RATES, weights=WEIGHTS, rank=rank, link=link)
    assert found.converged
    np.testing.assert_allclose(found.fitted, expected.fitted, atol=1e-6)
    np.testing.assert_allclose(found.column_effects, expected.column_effects, atol=1e-5)
    assert float(found.deviance) == pytest.approx(expected.deviance, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "link"), [(1, "probit"), (2, "logit")])
def test_derivatives_through_the_optimum_are_differences(rank, link):
    def effect(rates, weights, shrinkage):
        found = functional.dmf(rates, weights, rank=rank, link=link, shrinkage=shrinkage)
        return found.row_effects[2, rank - 1] + 3 * found.fitted[4, 1]

    at = np.clip(RATES, 0.05, 0.95), WEIGHTS, np.asarray(0.2)
    gradients = jax.grad(effect, (0, 1, 2))(*at)
    for place, gradient in enumerate(gradients):
        direction = GENERATOR.normal(size=at[place].shape)
        step = 1e-3 * direction
        up, down = (
            effect(*at[:place], at[place] + sign * step, *at[place + 1 :]) for sign in (1, -1)
        )
        np.testing.assert_allclose((gradient * direction).sum(), (up - down) / 2e-3, rtol=2e-3)


def test_many_at_once_are_those_one_by_one():
    others = np.stack([RATES, RATES[::-1], 1 - RATES])
    at_once = jax.jit(jax.vmap(lambda x: functional.dmf(x, rank=2).deviance))(others)
    one_by_one = [functional.dmf(x, rank=2).deviance for x in others]
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-9)


def test_cells_of_weight_zero_are_missing():
    weights = WEIGHTS.copy()
    weights[3, 2] = 0
    moved = RATES.copy()
    moved[3, 2] = 1 - moved[3, 2]
    first, second = (functional.dmf(x, weights, rank=2).fitted for x in (RATES, moved))
    np.testing.assert_allclose(first, second, atol=1e-10)


def test_shrinkage_makes_columns_alike():
    spreads = []
    for shrinkage in (0.0, 1.0, 1e4):
        found = functional.dmf(RATES, rank=2, shrinkage=shrinkage)
        eta = np.asarray(found.row_effects @ found.column_effects.T)
        spreads.append(float(np.std(eta, axis=1).max()))
    assert spreads[0] > spreads[1] > 50 * spreads[2]


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "link"), [(1, "probit"), (2, "logit")])
def test_curves_of_any_rank_and_link_are_those_of_the_package(rank, link):
    y = np.arange(90) % 3
    scores = GENERATOR.normal(size=(90, 3)) + np.eye(3)[y]
    options = {"rank": rank, "link": link, "n_thresholds": 9}
    found = functional.multiclass_roc(y, scores, n_classes=3, **options)
    expected = dmfroc.multiclass_roc(y, scores, **options)
    for name in ("fpr", "tpr", "auc", "pair_effect", "threshold_effect", "deviance"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-8)

    def area(weights):
        return functional.multiclass_roc(
            y, scores, weights, threshold_weights=np.ones(90), n_classes=3, **options
        ).auc

    gradient, step = jax.grad(area)(np.ones(90)), 3e-3 * GENERATOR.normal(size=90)
    difference = area(1 + step) - area(1 - step)
    np.testing.assert_allclose(2 * gradient @ step, difference, rtol=2e-3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rank": 7}, "rank must be an integer from 1 to 6, but it is 7"),
        ({"link": "log"}, "link must be"),
        ({"shrinkage": -1.0}, "shrinkage must be finite and >= 0"),
        ({"weights": np.ones(5)}, r"weights of shape \(5,\) do not broadcast"),
        ({"rates": np.ones(5)}, r"rates must have shape \(m, q\)"),
    ],
)
def test_errors(options, match):
    with pytest.raises(ValueError, match=match):
        functional.dmf(**({"rates": RATES} | options))
