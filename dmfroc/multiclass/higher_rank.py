"""Factorizations of rates of any rank and under any link by JAX, and the centre of one.

The model is ``link(E[M]) = Lambda V'``. Its centre is the mean over the pairs, which remains of the
product when the columns of V are projected on the vector of ones (Wang and Carvalho 2024, equations
12 and 13). For rank one with the logit it is the centre of `dmfroc.multiclass.center` except for
the prior, which is quadratic here.

Two solvers minimise the same loss. With a prior, alternating between rows and columns takes a third
to a tenth of the steps of L-BFGS. Without one, and with missing cells or many factors, L-BFGS takes
far fewer. Curves therefore alternate, and `dmfroc.dmf` takes L-BFGS, by optax.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from dmfroc._kit.arrays import AnyArray, Scalar
from dmfroc._kit.compiled import compiled
from dmfroc.multiclass.center import center
from dmfroc.multiclass.links import Link, link_of, log_rates, log_slope
from dmfroc.multiclass.rank_one import INNERMOST_RATE, drawn_in, of_data

GRADIENT_TOLERANCE = 1e-7  # by L-BFGS, relative to the mean weight of a row or column
_MEMORY = 20  # of L-BFGS
_TOLERANCE = 1e-8  # of the derivatives, relative to the weight of their row or column
_MOST_SWEEPS = 5000
_ROUNDING, _TINY = 1e-12, 1e-300
_WALL, _NEAR = 1e-4, 2 / 3  # what curves where no rate does, and from which share of its distance
_SIZE_OF_LINK = {"logit": 1.0, "probit": 0.6, "cloglog": 0.7}  # of its values, beside logits
_OUTERMOST = 0.02  # rates from which the fit starts: those of 0 and 1 have no finite link


class HigherRankCenter(NamedTuple):
    """The centre of a fit, the linear predictor of the pairs, and how the fit ended."""

    row_effect: Float[AnyArray, "2 t"]
    eta: Float[AnyArray, "q 2 t"]
    logits: Float[AnyArray, "q 2 t"]  # of the fitted rates, whatever the link
    points: Float[AnyArray, "2 points"]  # false (row 0) and true positive rates of the curve
    gradient_norm: Scalar
    n_sweeps: Int[AnyArray, ""]

    @property
    def converged(self) -> Bool[AnyArray, ""]:
        """Whether the gradient vanishes."""
        return self.gradient_norm <= _TOLERANCE

    @property
    def pair_effect(self) -> Float[AnyArray, " q"]:
        """How far each pair's predictor goes along the centre; the mean is one."""
        return (self.eta * self.row_effect).sum(axis=(1, 2)) / (self.row_effect**2).sum()


class Problem(NamedTuple):
    """What is fitted: rates of q pairs in their rows, with the weights of the cells."""

    rates: Float[AnyArray, "q r"]  # drawn in
    weights: Float[AnyArray, "q r"]
    penalty: Scalar | float  # of a squared deviation from the mean of the pairs
    offset: Float[AnyArray, "*#cells"] | float = 0.0


class Effects(NamedTuple):
    """Effects with ``link(rates) = columns @ rows.T + offset``, and how far their fit is."""

    rows: Float[Array, "r rank"]
    columns: Float[Array, "q rank"]
    gradient_norm: Float[Array, ""]  # largest derivative, relative to its row's or column's weight
    n_iter: Int[Array, ""]


def _loss(effects: tuple[Array, Array], problem: Problem, link: Link) -> Array:
    rows, columns = effects
    eta = columns @ rows.T
    deviations = ((eta - eta.mean(axis=0)) ** 2).sum()
    log_p, log_q = log_rates(eta + problem.offset, link, jnp)
    surprise = -problem.rates * log_p - (1 - problem.rates) * log_q
    losses = problem.weights * (surprise + _WALL * _outside(eta, link) ** 2 / 2)
    return losses.sum() + problem.penalty * deviations / 2


def _outside(eta: Array, link: Link, share: float = 1.0) -> Array:
    """Return how far values are beyond those of rates next to 0 and 1, or beyond a share of them.

    Without shrinkage the predictors of separated pairs would grow for ever, and no rate with them.
    """
    low, high = link_of(np.array([INNERMOST_RATE, 1 - INNERMOST_RATE]), link)
    return eta - jnp.clip(eta, share * low, share * high)


def start_of(problem: Problem, rank: int, link: Link) -> Effects:
    """Decompose the transformed rates; those of missing cells are the mean."""
    rates, weights = problem.rates, problem.weights
    mean = (weights * rates).sum() / weights.sum()
    inner = jnp.clip(jnp.where(weights > 0, rates, mean), _OUTERMOST, 1 - _OUTERMOST)
    eta = link_of(inner, link, jnp) - problem.offset
    left, lengths, right = jnp.linalg.svd(eta, full_matrices=False)
    scale = jnp.sqrt(lengths[:rank])
    rows, columns = right[:rank].T * scale, left[:, :rank] * scale
    return Effects(rows, columns, *of_data(rows, jnp.inf, 0))


def _sweep(problem: Problem, effects: Effects, link: Link) -> Effects:
    """Take damped steps of Fisher scoring in the rows, then in the columns."""
    rows, columns, _, n_iter = effects

    def derivatives(eta: Array) -> tuple[Array, Array]:
        (log_p, log_q), slope = log_rates(eta, link, jnp), log_slope(eta, link, jnp)
        gradient = (1 - problem.rates) * jnp.exp(slope - log_q)
        gradient -= problem.rates * jnp.exp(slope - log_p)
        gradient += _WALL * _outside(eta, link)
        curvature = jnp.exp(2 * slope - log_p - log_q)
        curvature += _WALL * (_outside(eta, link, _NEAR) != 0)  # a step may reach the wall
        return problem.weights * gradient, problem.weights * curvature

    centred = columns - columns.mean(axis=0)
    spread = problem.penalty * centred.T @ centred
    slope, curvature = derivatives(columns @ rows.T)
    of_rows = slope.T @ columns + rows @ spread
    hessian = jnp.einsum("qr,qa,qb->rab", curvature, columns, columns) + spread
    rows = rows - _damped(hessian, of_rows, columns)

    slope, curvature = derivatives(columns @ rows.T)
    size = problem.penalty * rows.T @ rows
    of_columns = slope @ rows + (columns - columns.mean(axis=0)) @ size
    hessian = jnp.einsum("qr,ra,rb->qab", curvature, rows, rows) + size
    columns = columns - _damped(hessian, of_columns, rows)
    # Orthogonal columns of alike length: the product, and so the loss, stay
    columns, mixed = jnp.linalg.qr(columns)
    left, lengths, right = jnp.linalg.svd(rows @ mixed.T, full_matrices=False)
    scale = jnp.sqrt(lengths)
    row_weights, column_weights = (
        jnp.maximum(problem.weights.sum(axis=axis), _TINY) for axis in (0, 1)
    )
    gradient_norm = jnp.maximum(
        (jnp.abs(of_rows).max(axis=1) / row_weights).max(),
        (jnp.abs(of_columns).max(axis=1) / column_weights).max(),
    )
    return Effects(left * scale, columns @ right.T * scale, gradient_norm, n_iter + 1)


def _damped(hessian: Array, gradient: Array, others: Array) -> Array:
    """Return Newton steps, each so short that the logistic loss cannot rise.

    A step that changes a logit by at most d is taken by log(1 + d)/d (Sun and Tran-Dinh 2019).
    """
    trace = jnp.trace(hessian, axis1=1, axis2=2)[:, None, None]
    ridge = (_ROUNDING * trace + _TINY) * jnp.eye(hessian.shape[1])
    step = jnp.linalg.solve(hessian + ridge, gradient[..., None])[..., 0]
    change = jnp.abs(step @ others.T).max(axis=1, keepdims=True)
    return step * jnp.where(change > 0, jnp.log1p(change) / jnp.where(change > 0, change, 1.0), 1.0)


def alternate(problem: Problem, rank: int, link: Link) -> Effects:
    """Sweep over rows and columns until the gradient vanishes."""

    def unfinished(effects: Effects) -> Array:
        return (effects.gradient_norm > _TOLERANCE) & (effects.n_iter < _MOST_SWEEPS)

    start = start_of(problem, rank, link)
    return lax.while_loop(unfinished, lambda effects: _sweep(problem, effects, link), start)


_Progress = tuple[tuple[Array, Array], Any, Array, Array]


def by_descent(problem: Problem, rank: int, link: Link, max_iter: int = 2000) -> Effects:
    """Minimise the loss by L-BFGS, which never lets it rise."""
    import optax

    total, longest = problem.weights.sum(), max(problem.rates.shape)

    def loss(effects: tuple[Array, Array]) -> Array:
        return _loss(effects, problem, link) / total

    solver = optax.lbfgs(memory_size=_MEMORY)
    value_and_grad = optax.value_and_grad_from_state(loss)

    def step(carry: _Progress) -> _Progress:
        effects, state, n_iter, _ = carry
        value, gradient = value_and_grad(effects, state=state)
        updates, state = solver.update(
            gradient, state, effects, value=value, grad=gradient, value_fn=loss
        )
        effects = optax.apply_updates(effects, updates)
        of_rows, of_columns = (jnp.abs(x).max() for x in optax.tree.get(state, "grad"))
        return effects, state, n_iter + 1, jnp.maximum(of_rows, of_columns) * longest

    def unfinished(carry: _Progress) -> Array:
        return (carry[3] > GRADIENT_TOLERANCE) & (carry[2] < max_iter)

    rows, columns, norm, n_iter = start_of(problem, rank, link)
    start = rows, columns
    carry = start, solver.init(start), n_iter, norm
    effects, _, n_iter, norm = lax.while_loop(unfinished, step, carry)
    return Effects(*effects, norm, n_iter)


@partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3))
def fit_effects(
    problem: Problem, rank: int, link: Link, solver: Callable[[Problem, int, Link], Effects]
) -> Effects:
    """Fit; differentiable with respect to the problem by the implicit function theorem."""
    return solver(problem, rank, link)


def _forward(problem: Problem, rank: int, link: Link, solver: Any) -> Any:
    effects = solver(problem, rank, link)
    return effects, (problem, effects)


def _backward(rank: int, link: Link, solver: Any, residuals: Any, cotangents: Any) -> Any:
    """Differentiate the optimality conditions.

    The effects are known up to a matrix of rank squared numbers; no function of the product sees
    these directions, in which the second derivatives vanish.
    """
    del solver
    problem, effects = residuals
    flat, unravel = ravel_pytree(effects[:2])
    slope, _ = ravel_pytree(cotangents[:2])

    def gradient(x: Array, problem: Problem) -> Array:
        return jax.grad(lambda x: _loss(unravel(x), problem, link))(x)

    hessian = jax.jacfwd(gradient)(flat, problem)
    # Scaling by the diagonal keeps rows of rates near 0 and 1, which hardly curve, well conditioned
    scale = 1 / jnp.sqrt(jnp.diagonal(hessian))
    values, vectors = jnp.linalg.eigh(scale[:, None] * hessian * scale)
    inverse = jnp.where(jnp.arange(len(flat)) < rank**2, 0.0, 1 / values)
    adjoint = scale * (vectors @ (inverse * (vectors.T @ (scale * slope))))
    _, pull_back = jax.vjp(lambda problem: gradient(flat, problem), problem)
    return pull_back(-adjoint)


fit_effects.defvjp(_forward, _backward)


def center_of_rank(
    rates: Float[Array, "q 2 t"],
    weights: Float[Array, "q 2 1"],
    shrinkage: Float[Array, ""],
    rank: int,
    link: Link,
) -> HigherRankCenter:
    """Fit the model of some rank by JAX, with derivatives; weights have the mean one.

    Deviations of the pairs from the centre count relative to its size in the model of rank one, so
    that the prior is the same as there, v - log v, to second order.
    """
    first = center(rates, weights / rates.shape[-1], shrinkage, xp=jnp)
    size = ((first.row_effect * first.column_effect.mean()) ** 2).sum() * _SIZE_OF_LINK[link] ** 2
    problem = Problem(
        drawn_in(rates).reshape(len(rates), -1),
        jnp.broadcast_to(weights / rates.shape[-1], rates.shape).reshape(len(rates), -1),
        shrinkage / size,
    )
    effects = fit_effects(problem, rank, link, alternate)
    eta = (effects.columns @ effects.rows.T).reshape(rates.shape)
    row_effect = eta.mean(axis=0)
    log_p, log_q = log_rates(eta, link, jnp)
    # Means over the pairs need not rise at every threshold, as rates do: each is at least the last
    rising = lax.cummax(jnp.exp(log_rates(row_effect[::-1], link, jnp)[0]), axis=1)
    points = jnp.pad(jnp.pad(rising, [(0, 0), (1, 0)]), [(0, 0), (0, 1)], constant_values=1.0)
    return HigherRankCenter(row_effect, eta, log_p - log_q, points, *effects[2:])


_compiled_center: Any = compiled(center_of_rank, static_argnums=(3, 4))


def fit_center(
    rates: Float[np.ndarray, "q 2 t"],
    weights: Float[np.ndarray, "q 2 1"],
    shrinkage: float | Float[np.ndarray, ""],
    rank: int,
    link: Link,
) -> HigherRankCenter:
    """Fit arrays of NumPy; return such arrays."""
    fitted = _compiled_center(rates, weights, np.asarray(shrinkage, float), rank, link)
    return HigherRankCenter(*map(np.asarray, fitted))


@partial(compiled, static_argnums=(3, 4, 5))
def numbers_of_curve(
    rates: Array,
    weights: Array,
    shrinkage: Array,
    rank: int,
    link: Link,
    numbers_of: Callable[[Array, Any], Array],
) -> Array:
    """Return numbers of the curve's points."""
    return numbers_of(center_of_rank(rates, weights, shrinkage, rank, link).points, jnp)


def identified(rows: Float[AnyArray, "m rank"], columns: Float[AnyArray, "q rank"]) -> Any:
    """Return the same product with orthogonal rows and orthonormal columns of effects."""
    row_basis, row_part = jnp.linalg.qr(rows)
    column_basis, column_part = jnp.linalg.qr(columns)
    left, lengths, right = jnp.linalg.svd(row_part @ column_part.T)
    unit_columns = column_basis @ right.T
    sign = jnp.where(unit_columns.sum(axis=0) < 0, -1.0, 1.0)
    return row_basis @ left * lengths * sign, unit_columns * sign


@partial(compiled, static_argnums=(3, 4, 5))
def jacobian_of_curve(rates: Array, *arguments: Any) -> Array:
    """Return the derivatives of numbers of the curve with respect to the rates."""
    return jax.jacrev(lambda rates: numbers_of_curve(rates, *arguments))(rates)
