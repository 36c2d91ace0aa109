"""The general factorization: optimality, identification, missing cells, outcomes, errors."""

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit, xlogy

from dmfroc import dmf
from dmfroc._kit.text import on_one_line
from dmfroc.multiclass.factorization import Outcome

M, Q = 14, 8


def rates_of_rank(rank, seed=0, n_trials=25, scale=1.0):
    generator = np.random.default_rng(seed)
    eta = scale * generator.normal(size=(M, rank)) @ generator.normal(size=(rank, Q))
    return generator.binomial(n_trials, expit(eta)) / n_trials


def deviance_of(rates, fitted, weights=1.0):
    loss = xlogy(rates, fitted) + xlogy(1 - rates, 1 - fitted)
    best = xlogy(rates, rates) + xlogy(1 - rates, 1 - rates)
    return 2 * (weights * (best - loss)).sum()


INVERSE = {
    "logit": expit,
    "probit": stats.norm.cdf,
    "cloglog": lambda eta: -np.expm1(-np.exp(eta)),
}


@pytest.mark.slow
@pytest.mark.parametrize("link", list(INVERSE))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_outcome_is_consistent_with_its_effects(rank, link):
    rates = rates_of_rank(2)
    fit = dmf(rates, rank=rank, link=link)
    eta = fit.row_effects @ fit.column_effects.T
    np.testing.assert_allclose(fit.fitted, INVERSE[link](eta), rtol=1e-9)
    np.testing.assert_allclose(fit.deviance, deviance_of(rates, fit.fitted), rtol=1e-8)
    assert fit.converged
    assert fit.gradient_norm <= 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("link", list(INVERSE))
@pytest.mark.parametrize("rank", [1, 2])
def test_deviance_never_increases(rank, link):
    rates = rates_of_rank(3, seed=4)
    found = [dmf(rates, rank=rank, link=link, max_iter=n) for n in (1, 2, 3, 4, 2000)]
    path = [fit.deviance for fit in found]
    assert np.diff(path).max() <= 1e-12 * path[0]
    assert path[-1] < path[0]
    assert found[-1].n_iter > 3


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_effects_are_identified(rank):
    fit = dmf(rates_of_rank(3, seed=2), rank=rank)
    gram = fit.row_effects.T @ fit.row_effects
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8 * gram.max())
    assert (np.diff(np.diag(gram)) <= 0).all()
    np.testing.assert_allclose(fit.column_effects.T @ fit.column_effects, np.eye(rank), atol=1e-10)
    assert (fit.column_effects.sum(axis=0) >= 0).all()


def test_rank_one_solvers_agree():
    rates = rates_of_rank(1, seed=3)
    exact = dmf(rates)
    # The smallest offset that is one sends the same problem to the solver of any rank.
    general = dmf(rates, offset=1e-300)
    np.testing.assert_allclose(exact.fitted, general.fitted, atol=1e-6)
    np.testing.assert_allclose(exact.deviance, general.deviance, rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 2])
def test_no_other_optimiser_finds_better(rank):
    rates = rates_of_rank(2, seed=5)
    generator = np.random.default_rng(0)

    def objective(effects):
        rows, columns = effects[: M * rank].reshape(M, rank), effects[M * rank :].reshape(Q, rank)
        eta = rows @ columns.T
        return (np.logaddexp(0, eta) - rates * eta).sum()

    found = min(
        optimize.minimize(objective, generator.normal(size=(M + Q) * rank), method="BFGS").fun
        for _ in range(3)
    )
    saturated = -(xlogy(rates, rates) + xlogy(1 - rates, 1 - rates)).sum()
    assert dmf(rates, rank=rank).deviance <= 2 * (found - saturated) + 1e-4


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 2])
def test_weight_zero_means_missing(seed, rank):
    generator = np.random.default_rng(seed)
    rates = rates_of_rank(2, seed=1)
    weights = (generator.random(rates.shape) > 0.1).astype(float)
    other = np.where(weights > 0, rates, np.where(generator.random(rates.shape) > 0.5, 1.0, np.nan))
    first, second = (dmf(x, rank=rank, weights=weights) for x in (rates, other))
    np.testing.assert_allclose(first.fitted, second.fitted, atol=1e-12)


def test_weights_are_numbers_of_trials():
    rates = rates_of_rank(2)
    doubled = dmf(rates, rank=2, weights=np.full(rates.shape, 2.0))
    np.testing.assert_allclose(doubled.deviance, 2 * dmf(rates, rank=2).deviance, rtol=1e-7)


def test_exact_low_rank_is_recovered_through_an_offset():
    generator = np.random.default_rng(8)
    product = generator.normal(size=(M, 2)) @ generator.normal(size=(2, Q))
    offset = generator.normal(size=(M, 1))
    fit = dmf(expit(product + offset), rank=2, offset=offset)
    np.testing.assert_allclose(fit.row_effects @ fit.column_effects.T, product, atol=1e-4)
    assert fit.deviance < 1e-8


def test_separation_is_said():
    rates = rates_of_rank(1)
    rates[:, 0] = 1
    fit = dmf(rates, max_iter=300)
    assert fit.outcome is Outcome.SEPARATED
    assert np.isfinite(fit.row_effects).all()
    assert "separate" in fit.outcome.value


def test_stopping_early_is_said():
    fit = dmf(rates_of_rank(3, seed=6), rank=3, max_iter=2)
    assert fit.outcome is Outcome.NOT_CONVERGED
    assert not fit.converged
    assert fit.n_iter == 2
    assert "max_iter" in fit.outcome.value
    table, sentence = str(fit).split("\n\n")[0], str(fit).split("\n\n")[-1]
    assert "not converged" in table
    assert on_one_line(sentence) == fit.outcome.value
    assert max(map(len, table.splitlines())) < 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rates": [0.1, 0.2]}, r"rates must be a matrix, but its shape is \(2,\)"),
        ({"rates": [[0.1, 1.2]]}, r"\[0, 1\], but row 0, column 1 .* holds 1.2"),
        ({"rates": [[0.1, np.nan]]}, "give missing cells the weight 0"),
        ({"weights": -np.ones((2, 2))}, "weights must be >= 0"),
        ({"weights": np.zeros((2, 2))}, "not all 0"),
        ({"weights": np.ones(3)}, r"weights has shape \(3,\), which does not broadcast"),
        ({"offset": np.array([[np.inf]])}, "offset must be finite"),
        ({"rank": 3}, "rank must be an integer from 1 to 2, but it is 3"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        dmf(**({"rates": [[0.1, 0.2], [0.3, 0.4]]} | arguments))
