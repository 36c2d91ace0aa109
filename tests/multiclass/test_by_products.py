"""The fit by products is the fit by cells, to rounding."""

import numpy as np
import pytest

from dmfroc.multiclass.by_products import Products
from dmfroc.multiclass.rank_one import Center, adjoint, alternate, drawn_in, first_guess


def rates_of(q, spread, seed=0, t=15):
    """Draw proportions of 50 observations about a rank-one model."""
    rng = np.random.default_rng(seed)
    rows = np.stack([np.linspace(-2, 4, t), np.linspace(-5, 2, t)])
    columns = np.exp(spread * rng.normal(size=q))
    expected = 1 / (1 + np.exp(-rows * columns[:, None, None]))
    rates = np.sort(rng.binomial(50, expected) / 50, axis=-1)
    rates[:2] = [[np.ones(t), np.zeros(t)]]  # separated columns
    return drawn_in(rates)


@pytest.fixture(params=[(60, 0.1, 1.0), (5000, 0.4, 0.3), (200, 1.5, 0.02)])
def problem(request):
    q, spread, shrinkage = request.param
    rates = rates_of(q, spread)
    weights = np.random.default_rng(1).uniform(0.1, 2, size=(q, 2, 1)) / rates.shape[-1]
    start = first_guess(rates, weights, np)
    return rates, weights, shrinkage, start


def test_fit(problem):
    rates, weights, shrinkage, start = problem
    expected = alternate(rates, weights, shrinkage, start, 1000, np)
    found = Products.of(rates, weights, shrinkage).fit(start, 1000)
    assert found.converged
    assert found.n_sweeps == expected.n_sweeps
    np.testing.assert_allclose(found.row_effect, expected.row_effect, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.column_effect, expected.column_effect, rtol=1e-10)


def test_pull_back(problem):
    rates, weights, shrinkage, start = problem
    solution = alternate(rates, weights, shrinkage, start, 1000, np)
    rng = np.random.default_rng(2)
    fitted = 1 / (1 + np.exp(-solution.row_effect))
    d_rows = rng.normal(size=fitted.shape) * fitted * (1 - fitted)
    d_solution = Center(d_rows, rng.normal(size=len(rates)) / len(rates), 0.0, 0.0)
    expected = adjoint(rates, weights, shrinkage, solution, np).pull_back(d_solution, np)
    found = Products.of(rates, weights, shrinkage).adjoint(solution).pull_back(d_solution, np)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10 * abs(expected).max())


def test_even_weights_are_needed():
    rates = rates_of(10, 0.1)
    assert Products.of(rates, np.ones((10, 2, 15)), 1.0) is None
    assert Products.of(rates, np.ones((10, 2, 1)), 0.0) is None
