"""The fit by products is the fit by cells, to rounding."""

import numpy as np
import pytest
from scipy.special import expit

import dmfroc
from dmfroc.multiclass import center, rates
from dmfroc.multiclass.by_products import Products, _nodes_for
from dmfroc.multiclass.rank_one import Center, adjoint, alternate, drawn_in, first_guess


def rates_of(q, spread, seed=0, t=15):
    """Draw proportions of 50 observations about a rank-one model."""
    rng = np.random.default_rng(seed)
    rows = np.stack([np.linspace(-2, 4, t), np.linspace(-5, 2, t)])
    columns = np.exp(spread * rng.normal(size=q))
    expected = 1 / (1 + np.exp(-rows * columns[:, None, None]))
    rates = np.sort(rng.binomial(50, expected) / 50, axis=-1)
    rates[:2] = [[np.ones(t), np.zeros(t)]]  # separated columns
    return rates


def products_of(rates, weights, shrinkage):
    """Return the products of rates, as if each were counted of one observation."""
    return Products(rates, np.ones(rates.shape[:2]), weights[..., 0], shrinkage)


@pytest.fixture(params=[(60, 0.1, 1.0), (5000, 0.4, 0.3), (200, 1.5, 0.02)])
def problem(request):
    q, spread, shrinkage = request.param
    rates = rates_of(q, spread)
    weights = np.random.default_rng(1).uniform(0.1, 2, size=(q, 2, 1)) / rates.shape[-1]
    start = first_guess(drawn_in(rates), weights, shrinkage, np)
    return rates, weights, shrinkage, start


def test_fit(problem):
    rates, weights, shrinkage, start = problem
    expected = alternate(drawn_in(rates), weights, shrinkage, start, 1000, np)
    found = products_of(rates, weights, shrinkage).fit(start, 1000)
    assert found.converged
    assert found.n_sweeps == expected.n_sweeps
    np.testing.assert_allclose(found.row_effect, expected.row_effect, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.column_effect, expected.column_effect, rtol=1e-10)


def test_pull_back(problem):
    rates, weights, shrinkage, start = problem
    inner = drawn_in(rates)
    solution = alternate(inner, weights, shrinkage, start, 1000, np)
    rng = np.random.default_rng(2)
    fitted = 1 / (1 + np.exp(-solution.row_effect))
    d_rows = rng.normal(size=fitted.shape) * fitted * (1 - fitted)
    d_solution = Center(d_rows, rng.normal(size=len(rates)) / len(rates), 0.0, 0.0)
    of_cells = adjoint(inner, weights, shrinkage, solution, np).pull_back(d_solution, np)
    products = products_of(rates, weights, shrinkage)
    expected = of_cells.columns()
    found = products.adjoint(solution).pull_back(d_solution, np).columns()
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10 * abs(expected).max())


def test_counts_are_rates_times_sizes(problem):
    rates, weights, shrinkage, start = problem
    sizes = np.random.default_rng(3).integers(5, 50, size=rates.shape[:2]).astype(float)
    products = Products(rates * sizes[..., None], sizes, weights[..., 0], shrinkage)
    expected = products_of(rates, weights, shrinkage)
    rows = np.random.default_rng(4).normal(size=rates.shape[1:])
    np.testing.assert_allclose(products.times(rows), expected.times(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        products.times(rows), np.einsum("qht,ht->qh", drawn_in(rates), rows), rtol=0, atol=1e-12
    )
    for found, wanted in zip(products.first_guess(), start, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    solution = products.fit(start, 1000)
    fitted = 1 / (1 + np.exp(-solution.row_effect * solution.column_effect[:, None, None]))
    np.testing.assert_allclose(
        products.fitted_times(solution, rows),
        np.einsum("qht,ht->qh", fitted, rows),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("half", [0.5, 1.0, 2.0])  # of the range of log v
def test_interpolation_loses_no_digit(half):
    """Three quarters of the nodes lose one: sigmoid has its poles pi/2 off the real line."""
    column_effect = np.exp(np.linspace(-half, half, 401))
    row_effect = np.linspace(0.05, 12, 200)[:, None]
    nodes = _nodes_for(column_effect)
    at_nodes, expected = (
        p * (1 - p) for p in (expit(row_effect * v) for v in (nodes.effects, column_effect))
    )
    found = nodes.basis(column_effect) @ at_nodes.T
    np.testing.assert_allclose(found, expected.T, rtol=0, atol=3e-15)


def test_counts_that_are_made_block_by_block_are_those_that_are_stored(monkeypatch):
    generator = np.random.default_rng(5)
    y = np.arange(300) % 6
    scores = np.round(generator.normal(size=(300, 6)) + np.eye(6)[y], 1)
    monkeypatch.setattr(center, "FEW_CELLS", 0)
    stored = dmfroc.estimate("dmf_auc", y, scores)
    monkeypatch.setattr(rates, "_MOST_STORED", 0)
    made = dmfroc.estimate("dmf_auc", y, scores)
    assert made.value == stored.value
    assert made.standard_error == stored.standard_error


def test_folds_with_two_rows_of_each_of_many_classes_have_an_area():
    """Halves of such a sample leave folds without a class."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 8)
    scores = rng.normal(size=(320, 40)) + 1.5 * np.eye(40)[y]
    found = dmfroc.estimate("dmf_auc", y, scores, folds=np.tile(np.repeat(np.arange(4), 2), 40))
    low, high = found.interval
    assert 0.5 < low < found.value < high < 1
