"""The rank-one model: descent, one optimum from any start, exact derivatives."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from dmfroc._kit.arrays import value_and_pull_back
from dmfroc._kit.compiled import in_double_precision
from dmfroc.multiclass import center as module

center = functools.partial(module.center, xp=jnp)

Q, T = 6, 12
INNERMOST = 1e-13  # the documented distance of saturated rates from 0 and 1


@pytest.fixture(autouse=True)
def double_precision():
    with in_double_precision():
        yield


def rates_and_weights(kind="smooth"):
    """Return rates of q columns of shape (2, T), as the ROC curve has, and cell weights."""
    generator = np.random.default_rng(1)
    level = np.linspace(-3, 3, T)
    shape = np.stack([level + 1, level - 1])
    effect = np.linspace(0.6, 1.5, Q)[:, None, None]
    rates = expit(effect * shape + 0.2 * generator.normal(size=(Q, 2, T)))
    weights = generator.uniform(0.5, 2, size=(Q, 2, 1)) / T
    if kind == "saturated":
        rates[:2] = (shape > 0) * 1.0  # two columns separate perfectly
        rates[:, 0, -3:] = 1  # three rows are full, one is empty
        rates[:, 1, 0] = 0
    return jnp.asarray(rates), jnp.asarray(weights)


def objective(rates, weights, shrinkage, row_effect, column_effect):
    """What the docstring says is minimised, written out anew."""
    rates = INNERMOST + (1 - 2 * INNERMOST) * rates
    eta = jnp.einsum("...,q->q...", row_effect, column_effect)
    loss = jnp.logaddexp(0.0, eta) - rates * eta
    prior = 0.0
    if shrinkage:
        prior = shrinkage * (column_effect - jnp.log(column_effect)).sum()
    return (weights * loss).sum() + prior


def random_start(seed, spread=1.0):
    generator = np.random.default_rng(seed)
    rows = jnp.asarray(2 * spread * generator.normal(size=(2, T)))
    return rows, jnp.asarray(np.exp(spread * generator.normal(size=Q)))


@functools.partial(jax.jit, static_argnames="max_sweeps")
def solve(rates, weights, shrinkage, start, max_sweeps=1000):
    return center(rates, weights, shrinkage, start, max_sweeps)


def fitted_rates(solution):
    return expit(np.einsum("...,q->q...", solution.row_effect, solution.column_effect))


KINDS = ["smooth", "saturated"]


@pytest.mark.slow
@pytest.mark.parametrize("shrinkage", [1.0, 1e-6])
@pytest.mark.parametrize("kind", KINDS)
def test_objective_never_increases(kind, shrinkage):
    rates, weights = rates_and_weights(kind)
    starts = [random_start(seed, spread) for seed in range(4) for spread in (0.3, 1.0, 2.0)]
    values = [[float(objective(rates, weights, shrinkage, *start)) for start in starts]]
    for max_sweeps in (1, 2, 3, 4, 6, 9, 15, 30):
        solutions = [solve(rates, weights, shrinkage, start, max_sweeps) for start in starts]
        assert all(int(s.n_sweeps) <= max_sweeps for s in solutions)
        values.append(
            [
                float(objective(rates, weights, shrinkage, s.row_effect, s.column_effect))
                for s in solutions
            ]
        )
    values = np.array(values)
    assert np.isfinite(values).all()
    assert (np.diff(values, axis=0) <= 1e-12 * np.abs(values[:-1])).all()
    assert (values[-1] < values[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_any_start_reaches_the_same_optimum(kind):
    rates, weights = rates_and_weights(kind)
    expected = center(rates, weights, 1.0)
    assert bool(expected.converged)
    mean_effect = float(expected.column_effect.mean())
    for seed in range(20):
        solution = solve(rates, weights, 1.0, random_start(seed))
        assert bool(solution.converged)
        np.testing.assert_allclose(
            solution.column_effect, expected.column_effect, rtol=0, atol=1e-8
        )
        np.testing.assert_allclose(
            expit(np.asarray(solution.row_effect) * float(solution.column_effect.mean())),
            expit(np.asarray(expected.row_effect) * mean_effect),
            rtol=0,
            atol=1e-8,
        )


@pytest.mark.parametrize("shrinkage", [1.0, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_vanishes_at_the_solution(kind, shrinkage):
    rates, weights = rates_and_weights(kind)
    solution = center(rates, weights, shrinkage)
    assert bool(solution.converged)
    assert float(solution.gradient_norm) <= 1e-9
    gradient = jax.grad(functools.partial(objective, rates, weights, shrinkage), (0, 1))(
        solution.row_effect, solution.column_effect
    )
    for part in gradient:
        np.testing.assert_allclose(part, 0, rtol=0, atol=1e-8)
    assert (np.asarray(solution.column_effect) > 0).all()


def test_prior_sets_the_mean_of_the_column_effects_to_one():
    # The objective's derivative along the scale (lambda / c, c v) leaves only the prior.
    for kind in KINDS:
        solution = center(*rates_and_weights(kind), 1.0)
        assert float(solution.column_effect.mean()) == pytest.approx(1, rel=0, abs=1e-7)


@pytest.mark.parametrize("shrinkage", [1.0, 0.05])
@pytest.mark.parametrize("kind", KINDS)
def test_another_optimiser_finds_nothing_better(kind, shrinkage):
    rates, weights = rates_and_weights(kind)

    def of_vector(x):
        rows, columns = x[: 2 * T].reshape(2, T), jnp.exp(x[2 * T :])
        return objective(rates, weights, shrinkage, rows, columns)

    value_and_gradient = jax.jit(jax.value_and_grad(of_vector))
    found = optimize.minimize(
        lambda x: tuple(map(np.asarray, value_and_gradient(x))),
        np.zeros(2 * T + Q),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )
    solution = center(rates, weights, shrinkage)
    value = float(objective(rates, weights, shrinkage, solution.row_effect, solution.column_effect))
    assert value <= found.fun + 1e-10
    assert value == pytest.approx(found.fun, rel=0, abs=1e-8)
    np.testing.assert_allclose(solution.column_effect, np.exp(found.x[2 * T :]), rtol=0, atol=1e-4)
    rows = found.x[: 2 * T].reshape(2, T)
    np.testing.assert_allclose(
        expit(np.asarray(solution.row_effect)), expit(rows), rtol=0, atol=1e-4
    )


def test_exact_rank_one_rates_are_recovered():
    rows = np.linspace(-4, 4, 2 * T).reshape(2, T)
    columns = np.linspace(0.5, 1.5, Q)  # with mean one
    rates = jnp.asarray(expit(columns[:, None, None] * rows))
    solution = center(rates, jnp.ones((Q, 2, T)), 0.0)
    np.testing.assert_allclose(fitted_rates(solution), rates, rtol=0, atol=1e-7)
    ratio = np.asarray(solution.column_effect) / columns
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_without_prior_column_effects_may_be_negative():
    rows = np.linspace(-3, 3, 2 * T).reshape(2, T)
    columns = np.array([-1.0, 1.5, 0.8, 1.2, 0.5, 1.0])
    rates = jnp.asarray(expit(columns[:, None, None] * rows))
    solution = center(rates, jnp.ones((Q, 2, T)), 0.0)
    assert bool(solution.converged)
    np.testing.assert_allclose(fitted_rates(solution), rates, rtol=0, atol=1e-7)


def test_without_prior_random_starts_agree():
    rates, weights = rates_and_weights()
    expected = fitted_rates(center(rates, weights, 0.0))
    for seed in range(5):
        solution = solve(rates, weights, 0.0, random_start(seed))
        assert bool(solution.converged)
        np.testing.assert_allclose(fitted_rates(solution), expected, rtol=0, atol=1e-7)


def test_saturated_rates_stay_finite_and_rows_at_their_bounds():
    rates, weights = rates_and_weights("saturated")
    solution = center(rates, weights, 1.0)
    for effect in (solution.row_effect, solution.column_effect):
        assert np.isfinite(effect).all()
    fitted = fitted_rates(solution)
    assert (fitted[:, 0, -3:] > 1 - 1e-6).all()
    assert (fitted[:, 1, 0] < 1e-6).all()
    perfect = jnp.asarray(np.tile([[1.0] * T, [0.0] * T], (Q, 1, 1)))
    solution = center(perfect, weights, 1.0)
    assert bool(solution.converged)
    np.testing.assert_allclose(solution.column_effect, 1, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fitted_rates(solution), perfect, rtol=0, atol=1e-6)


def test_too_few_sweeps_are_told():
    rates, weights = rates_and_weights()
    solution = center(rates, weights, 1.0, random_start(0), 1)
    assert int(solution.n_sweeps) == 1
    assert not bool(solution.converged)


@pytest.mark.slow
@pytest.mark.parametrize("shrinkage", [1.0, 1e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_the_optimality_conditions(kind, shrinkage):
    """Solve the dense system of all second derivatives, written down by JAX."""
    rates, weights = rates_and_weights(kind)
    generator = np.random.default_rng(2)
    of_rows = jnp.asarray(generator.normal(size=(2, T)))
    of_columns = jnp.asarray(generator.normal(size=Q))

    def summary(rows, columns):
        # Rates, as the curve has: bounded where the effects themselves run to the boundary.
        return (of_rows * jax.nn.sigmoid(rows)).sum() + of_columns @ columns

    def by_solver(rates):
        solution = center(rates, weights, shrinkage)
        return summary(solution.row_effect, solution.column_effect)

    found = jax.jit(jax.grad(by_solver))(rates)

    solution = center(rates, weights, shrinkage)
    x = jnp.concatenate([solution.row_effect.ravel(), solution.column_effect])

    def split(x):
        return x[: 2 * T].reshape(2, T), x[2 * T :]

    def gradient(x, rates):
        return jax.grad(lambda x: objective(rates, weights, shrinkage, *split(x)))(x)

    hessian, mixed = jax.jit(jax.jacobian(gradient, argnums=(0, 1)))(x, rates)
    slope = jax.grad(lambda x: summary(*split(x)))(x)
    # Saturated rows have curvatures near 1e-13: scale them to one before the system is solved.
    scale = 1 / jnp.sqrt(jnp.diag(hessian))
    adjoint = scale * jnp.linalg.solve(scale[:, None] * hessian * scale, scale * slope)
    expected = -jnp.tensordot(adjoint, mixed, axes=1)
    # In a row that is full or empty the curvature itself is rounding; no weight moves its rates.
    moving = ~np.isin(rates, [0, 1]).all(axis=0)
    np.testing.assert_allclose(found[:, moving], expected[:, moving], rtol=1e-6, atol=1e-9)


def test_derivatives_with_very_many_columns():
    # More columns than one block of the linear algebra holds.
    generator = np.random.default_rng(4)
    q, n_rows = 1100, 3
    rates = jnp.asarray(generator.uniform(0.1, 0.9, size=(q, n_rows)))
    weights = jnp.asarray(generator.uniform(0.5, 2, size=(q, 1)))
    direction = jnp.asarray(generator.normal(size=(q, n_rows)))

    @jax.jit
    def first_row(rates):
        return center(rates, weights, 1.0).row_effect @ jnp.arange(1.0, 4.0)

    found = jnp.vdot(jax.jit(jax.grad(first_row))(rates), direction)
    step = 1e-3
    rise = first_row(rates + step * direction) - first_row(rates - step * direction)
    assert float(found) == pytest.approx(float(rise) / (2 * step), rel=1e-3)
    assert abs(float(found)) > 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_finite_differences(kind):
    rates, weights = rates_and_weights(kind)
    generator = np.random.default_rng(3)
    # Saturated rates stay where they are: beyond 0 and 1 there is no model.
    inside = (np.asarray(rates) > 0) & (np.asarray(rates) < 1)
    upwards = generator.uniform(0.2, 1, size=rates.shape) * np.array([1, -1])[:, None]
    direction = jnp.asarray(upwards * inside) * jnp.minimum(rates, 1 - rates)

    @jax.jit
    def area(rates):
        solution = center(rates, weights, 1.0)
        tpr, fpr = jax.nn.sigmoid(solution.row_effect * solution.column_effect.mean())
        return jnp.trapezoid(tpr, fpr)

    step = 1e-3
    expected = (area(rates + step * direction) - area(rates - step * direction)) / (2 * step)
    found = jnp.vdot(jax.grad(area)(rates), direction)
    assert float(found) == pytest.approx(float(expected), rel=1e-4, abs=1e-6)
    assert abs(float(found)) > 1e-3


# By NumPy


@pytest.mark.slow
@pytest.mark.parametrize("few_cells", [0, module.FEW_CELLS], ids=["many", "few"])
@pytest.mark.parametrize("shrinkage", [1.0, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_numpy_finds_what_jax_does(monkeypatch, kind, shrinkage, few_cells):
    """Few rates are worked on cell by cell, many by products."""
    monkeypatch.setattr(module, "FEW_CELLS", few_cells)
    rates, weights = rates_and_weights(kind)
    generator = np.random.default_rng(5)
    of_rows, of_columns = generator.normal(size=(2, T)), generator.normal(size=Q)

    def of_center(solution, xp):
        fitted = 1 / (1 + xp.exp(-solution.row_effect))
        return (of_rows * fitted).sum() + (of_columns * solution.column_effect).sum()

    given, of_cells = np.asarray(rates), np.asarray(weights)
    assert module.center(given, of_cells, shrinkage).converged
    problem = module.problem_of_counts(given, np.ones((Q, 2)), of_cells, shrinkage)
    solution = module.fit_problem(problem)
    value, to_center = value_and_pull_back(of_center, solution)
    d_center = to_center(np.float64(1))
    gradient = problem.adjoint(solution).pull_back(d_center, np).columns()

    def by_jax(rates):
        return of_center(module.center(rates, weights, shrinkage, xp=jnp), jnp)

    expected, expected_gradient = jax.jit(jax.value_and_grad(by_jax))(rates)
    of_given = of_center(module.center(given, of_cells, shrinkage), np)
    assert [of_given, value] == pytest.approx([float(expected)] * 2, rel=0, abs=1e-9)
    moving = ~np.isin(given, [0, 1]).all(axis=0)
    np.testing.assert_allclose(
        gradient[:, moving], expected_gradient[:, moving], rtol=1e-6, atol=1e-9
    )
