"""The objective of the rank-one model and its derivatives, each against its definition."""

import autograd
import numpy as np
import pytest
from autograd import numpy as differentiated_numpy
from scipy.special import expit, xlog1py, xlogy

from dmfroc.multiclass import rank_one

GENERATOR = np.random.default_rng(1)
ROWS, COLUMNS = GENERATOR.normal(size=(2, 4)), GENERATOR.uniform(0.3, 2, size=5)
RATES = GENERATOR.uniform(size=(5, 2, 4))
WEIGHTS = GENERATOR.uniform(0.5, 2, size=(5, 2, 1))
SHRINKAGE = 0.7


def test_deviance_is_twice_the_likelihood_ratio_against_the_rates_themselves():
    eta = ROWS * COLUMNS[:, None, None]
    fitted = expit(eta)
    logs = [xlogy(RATES, p) + xlog1py(1 - RATES, -p) for p in (RATES, fitted)]
    expected = 2 * (WEIGHTS * (logs[0] - logs[1])).sum()
    assert rank_one.binomial_deviance(RATES, eta, WEIGHTS) == pytest.approx(expected, rel=1e-10)
    logits = rank_one.logit(rank_one.drawn_in(RATES), np)
    perfect = rank_one.binomial_deviance(RATES, logits, WEIGHTS)
    assert perfect == pytest.approx(0, abs=1e-12)


def objective(rows, columns):
    xp = differentiated_numpy
    eta = rows * columns.reshape(-1, 1, 1)
    loss = (WEIGHTS * (xp.logaddexp(0.0, eta) - RATES * eta)).sum()
    return loss + SHRINKAGE * (columns - xp.log(columns)).sum()


def test_gradients_and_curvatures_are_derivatives_of_the_objective(monkeypatch):
    steps, alternate_with = [], rank_one.alternate_with

    def kept(over_columns, step_columns, *others):
        steps.extend([over_columns, step_columns])
        return alternate_with(over_columns, step_columns, *others)

    monkeypatch.setattr(rank_one, "alternate_with", kept)
    rank_one.alternate(RATES, WEIGHTS, SHRINKAGE, (ROWS, COLUMNS), 1, np)
    by_rows, (by_columns, _) = steps[0](ROWS, COLUMNS), steps[1](ROWS, COLUMNS, np.float64(1))
    for place, found in ((0, by_rows), (1, by_columns)):
        gradient = autograd.grad(objective, place)
        second = autograd.elementwise_grad(gradient, place)  # each effect has cells of its own
        np.testing.assert_allclose(found.gradient, gradient(ROWS, COLUMNS), rtol=1e-10)
        np.testing.assert_allclose(found.curvature, second(ROWS, COLUMNS), rtol=1e-10)
