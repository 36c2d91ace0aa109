"""The centre of the rates of pairs by a model of higher rank than one, and under any link.

The model is ``link(E[M]) = Lambda V'``. Its centre is the mean over the pairs, which remains of the
product when the columns of V are projected on the vector of ones (Wang and Carvalho 2024, equations
12 and 13). For rank one it is the centre of `dmfroc.multiclass.center` except for the prior, which
is quadratic here.
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

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.compiled import compiled
from dmfroc.multiclass.center import center
from dmfroc.multiclass.factorization import cell_losses
from dmfroc.multiclass.links import Link, link_of, log_rates, log_slope
from dmfroc.multiclass.rank_one import INNERMOST_RATE, drawn_in

_TOLERANCE = 1e-8  # of the derivatives, relative to the weight of their row or column
_MOST_SWEEPS = 5000
_ROUNDING = 1e-12
_WALL, _NEAR = 1e-4, 2 / 3  # what curves where no rate does, and from which share of its distance
_SIZE_OF_LINK = {"logit": 1.0, "probit": 0.6, "cloglog": 0.7}  # of its values, beside logits
_OUTERMOST = 0.02  # rates from which the fit starts: those of 0 and 1 have no finite link


class HigherRankCenter(NamedTuple):
    """The centre of a fit, the linear predictor of the pairs, and how the fit ended."""

    row_effect: Float[AnyArray, "2 t"]
    eta: Float[AnyArray, "q 2 t"]
    gradient_norm: Float[AnyArray, ""]
    n_iter: Int[AnyArray, ""]

    @property
    def converged(self) -> Bool[AnyArray, ""]:
        """Whether the gradient vanishes."""
        return self.gradient_norm <= _TOLERANCE

    @property
    def pair_effect(self) -> Float[AnyArray, " q"]:
        """How far each pair's predictor goes along the centre; the mean is one."""
        return (self.eta * self.row_effect).sum(axis=(1, 2)) / (self.row_effect**2).sum()


class _Problem(NamedTuple):
    """What is fitted: rates of q pairs in their rows, with the weights of the cells."""

    rates: Float[Array, "q r"]
    weights: Float[Array, "q r"]
    penalty: Float[Array, ""]  # of a squared deviation from the mean of the pairs


def _loss(effects: tuple[Array, Array], problem: _Problem, link: Link) -> Array:
    rows, columns = effects
    eta = columns @ rows.T
    deviations = ((eta - eta.mean(axis=0)) ** 2).sum()
    losses = cell_losses(problem.rates, problem.weights, eta, link)
    losses += problem.weights * _WALL * _outside(eta, link) ** 2 / 2
    return losses.sum() + problem.penalty * deviations / 2


def _outside(eta: Array, link: Link, share: float = 1.0) -> Array:
    """Return how far values are beyond those of rates next to 0 and 1, or beyond a share of them.

    Without shrinkage the predictors of separated pairs would grow for ever, and no rate with them.
    """
    low, high = link_of(np.array([INNERMOST_RATE, 1 - INNERMOST_RATE]), link)
    return eta - jnp.clip(eta, share * low, share * high)


def _start(rates: Float[Array, "q r"], rank: int, link: Link) -> tuple[Array, Array]:
    """Decompose the transformed rates."""
    inner = jnp.clip(rates, _OUTERMOST, 1 - _OUTERMOST)
    eta = link_of(inner, link, jnp)
    left, lengths, right = jnp.linalg.svd(eta, full_matrices=False)
    scale = jnp.sqrt(lengths[:rank])
    return right[:rank].T * scale, left[:, :rank] * scale


_State = tuple[Array, Array, Array, Array]  # effects of rows, of columns, gradient, sweeps


def _fit(problem: _Problem, rank: int, link: Link) -> tuple[tuple[Array, Array], Array, Array]:
    """Take damped steps of Fisher scoring in the rows, then in the columns, until none is left."""
    row_weights, column_weights = problem.weights.sum(axis=0), problem.weights.sum(axis=1)

    def derivatives(eta: Array) -> tuple[Array, Array]:
        log_p, log_q = log_rates(eta, link, jnp)
        slope = jnp.exp(log_slope(eta, link, jnp))
        gradient = (1 - problem.rates) * slope / jnp.exp(log_q)
        gradient -= problem.rates * slope / jnp.exp(log_p)
        gradient += _WALL * _outside(eta, link)
        curvature = slope**2 / jnp.exp(log_p + log_q)
        curvature += _WALL * (_outside(eta, link, _NEAR) != 0)  # a step may reach the wall
        return problem.weights * gradient, problem.weights * curvature

    def step(state: _State) -> _State:
        rows, columns, _, n_sweeps = state
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
        norm_of_rows = jnp.abs(of_rows).max(axis=1) / row_weights
        norm_of_columns = jnp.abs(of_columns).max(axis=1) / column_weights
        gradient_norm = jnp.maximum(norm_of_rows.max(), norm_of_columns.max())
        return left * scale, columns @ right.T * scale, gradient_norm, n_sweeps + 1

    def unfinished(state: _State) -> Array:
        return (state[2] > _TOLERANCE) & (state[3] < _MOST_SWEEPS)

    start = *_start(problem.rates, rank, link), jnp.asarray(jnp.inf), jnp.asarray(0)
    rows, columns, gradient_norm, n_sweeps = lax.while_loop(unfinished, step, start)
    return (rows, columns), gradient_norm, n_sweeps


def _damped(hessian: Array, gradient: Array, others: Array) -> Array:
    """Return Newton steps, each so short that the logistic loss cannot rise.

    A step that changes a logit by at most d is taken by log(1 + d)/d (Sun and Tran-Dinh 2019).
    """
    trace = jnp.trace(hessian, axis1=1, axis2=2)[:, None, None]
    ridge = _ROUNDING * trace * jnp.eye(hessian.shape[1])
    step = jnp.linalg.solve(hessian + ridge, gradient[..., None])[..., 0]
    change = jnp.abs(step @ others.T).max(axis=1, keepdims=True)
    return step * jnp.where(change > 0, jnp.log1p(change) / jnp.where(change > 0, change, 1.0), 1.0)


@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def _effects(problem: _Problem, rank: int, link: Link) -> tuple[tuple[Array, Array], Array, Array]:
    """Return the effects, the norm of the gradient and the number of sweeps."""
    return _fit(problem, rank, link)


def _forward(problem: _Problem, rank: int, link: Link) -> Any:
    solution = _fit(problem, rank, link)
    return solution, (problem, solution[0])


def _backward(rank: int, link: Link, residuals: Any, cotangents: Any) -> Any:
    """Differentiate the optimality conditions.

    The effects are known up to a matrix of rank squared numbers; no function of the product sees
    these directions, in which the second derivatives vanish.
    """
    problem, effects = residuals
    flat, unravel = ravel_pytree(effects)
    slope, _ = ravel_pytree(cotangents[0])

    def gradient(x: Array, problem: _Problem) -> Array:
        return jax.grad(lambda x: _loss(unravel(x), problem, link))(x)

    hessian = jax.jacfwd(gradient)(flat, problem)
    # Scaling by the diagonal keeps rows of rates near 0 and 1, which hardly curve, well conditioned
    scale = 1 / jnp.sqrt(jnp.diagonal(hessian))
    values, vectors = jnp.linalg.eigh(scale[:, None] * hessian * scale)
    inverse = jnp.where(jnp.arange(len(flat)) < rank**2, 0.0, 1 / values)
    adjoint = scale * (vectors @ (inverse * (vectors.T @ (scale * slope))))
    _, pull_back = jax.vjp(lambda problem: gradient(flat, problem), problem)
    return pull_back(-adjoint)


_effects.defvjp(_forward, _backward)


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
    problem = _Problem(
        drawn_in(rates).reshape(len(rates), -1),
        jnp.broadcast_to(weights / rates.shape[-1], rates.shape).reshape(len(rates), -1),
        shrinkage / size,
    )
    effects, gradient_norm, n_iter = _effects(problem, rank, link)
    eta = (effects[1] @ effects[0].T).reshape(rates.shape)
    return HigherRankCenter(eta.mean(axis=0), eta, gradient_norm, n_iter)


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


def points_of_effects(row_effect: Float[Array, "2 t"], link: Link) -> Float[Array, "2 points"]:
    """Return the false (row 0) and true (row 1) positive rates, from (0, 0) to (1, 1).

    Means over the pairs need not rise at every threshold, as rates do: each is at least the last.
    """
    rates = jnp.exp(log_rates(row_effect[::-1], link, jnp)[0])
    rising = lax.cummax(rates, axis=1)
    return jnp.pad(jnp.pad(rising, [(0, 0), (1, 0)]), [(0, 0), (0, 1)], constant_values=1.0)


compiled_points = compiled(points_of_effects, static_argnums=1)


@partial(compiled, static_argnums=(3, 4, 5))
def numbers_of_curve(
    rates: Array,
    weights: Array,
    shrinkage: Array,
    rank: int,
    link: Link,
    numbers_of: Callable[[Array], Array],
) -> Array:
    """Return numbers of the curve's points."""
    center = center_of_rank(rates, weights, shrinkage, rank, link)
    return numbers_of(points_of_effects(center.row_effect, link))


@partial(compiled, static_argnums=(3, 4, 5))
def jacobian_of_curve(rates: Array, *arguments: Any) -> Array:
    """Return the derivatives of numbers of the curve with respect to the rates."""
    return jax.jacrev(lambda rates: numbers_of_curve(rates, *arguments))(rates)
