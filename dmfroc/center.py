"""The centre of a matrix of rates: its rank-one logit model, exact, fast and differentiable.

This is the case of deviance matrix factorization on which the multiclass ROC curve rests; the
general one is in `dmfroc.factorization`. Both know matrices and weights, nothing about classes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, ArrayLike, Float, Int

from dmfroc._backend import AnyArray

# Rates of exactly 0 and 1 have no finite logit. Drawing them in by this much (about 30 on the
# logit scale) gives every fit a finite optimum and leaves every rate unchanged to 13 digits.
_INNERMOST_RATE = 1e-13
_TOLERANCE = 1e-9
_MAX_SWEEPS = 1000
_COLUMNS_PER_BLOCK = 1024


class Center(NamedTuple):
    """Solution of the rank-one model: ``logit E[M] = row_effect * column_effect``.

    Attributes
    ----------
    row_effect
        Shape of one column of the rates.
    column_effect
        Shape (q,).
    gradient_norm
        Largest absolute derivative of the objective, relative to the weight of its row (column).
    n_sweeps
        Number of passes over rows and columns.
    """

    row_effect: Float[AnyArray, "*row"]
    column_effect: Float[AnyArray, " q"]
    gradient_norm: Float[AnyArray, ""]
    n_sweeps: Int[AnyArray, ""]

    @property
    def converged(self) -> Any:
        """Whether the gradient vanishes to rounding."""
        return self.gradient_norm <= _TOLERANCE


def logit_of_rates(rates: Float[np.ndarray, "*cells"]) -> Float[np.ndarray, "*cells"]:
    """Return the logits of rates, finite (about +-30) also for rates of 0 and 1."""
    logits: np.ndarray = _logit(_inner(rates), np)
    return logits


def _logit(rates: Any, numpy: Any) -> Any:
    return numpy.log(rates) - numpy.log1p(-rates)


def _inner(rates: Float[AnyArray, "*cells"]) -> Any:
    return _INNERMOST_RATE + (1 - 2 * _INNERMOST_RATE) * rates


def binomial_deviance(
    rates: Float[AnyArray, "*cells"],
    eta: Float[AnyArray, "*cells"],
    weights: Float[ArrayLike, "*#cells"],
    numpy: Any = jnp,
) -> Any:
    """Return twice the weighted log-likelihood ratio of the rates against the fit ``eta``."""
    inner = _inner(rates)
    saturated = inner * numpy.log(inner) + (1 - inner) * numpy.log1p(-inner)
    # Minus the logarithms of the fitted rates and of one minus them
    surprise = inner * numpy.logaddexp(0, -eta) + (1 - inner) * numpy.logaddexp(0, eta)
    return 2 * (weights * (saturated + surprise)).sum()


def center(
    rates: Float[AnyArray, " q *row"],
    weights: Float[AnyArray, " #q *#row"],
    shrinkage: Float[ArrayLike, ""],
    start: tuple[Float[AnyArray, "*row"], Float[AnyArray, " q"]] | None = None,
    max_sweeps: int = _MAX_SWEEPS,
    numpy: Any = jnp,
) -> Center:
    """Fit the rank-one logit model by alternating safeguarded Newton steps.

    Minimises ``sum w [log(1 + e^eta) - M eta] + shrinkage * sum_g (v_g - log v_g)`` with
    ``eta = lambda_t v_g``. The second sum is a Gamma prior with mean one on the column effects:
    it keeps them positive, sets their mean to one, and stops a column that separates perfectly
    from running away. The objective is convex in lambda and in v. The length of every step
    follows from a bound on the third derivative, so that no step can increase the objective.

    Parameters
    ----------
    rates
        The q columns first; within a column, any shape. In [0, 1].
    weights
        Cell weights, broadcast against ``rates``; non-negative.
    shrinkage
        Strength of the prior, in the unit of the weights; with 0 the column effects may have any
        sign and their scale is left at that of the start.
    start
        Row and column effects to start from; by default the logits of the weighted row means.
    max_sweeps
        Passes after which to give up; then ``gradient_norm`` tells how far the fit is.
    numpy
        What to compute by: JAX, or NumPy, which needs no compilation but is slower where there
        are many cells.

    Returns
    -------
    Center
        By JAX differentiable with respect to ``rates`` by the implicit function theorem, at the
        cost of one linear system with as many unknowns as a column has rows; by NumPy see
        `pull_back_center`.
    """
    rates = _inner(rates)
    if start is None:
        [weighted] = _stored((weights * rates,), numpy)  # its sum is faster if stored
        ones = numpy.ones(len(rates))
        total = numpy.tensordot(ones, weighted, axes=1)
        start = _logit(total / _total_weight(weights, rates.shape, axes=(0,)), numpy), ones
    solve = _solve if numpy is jnp else partial(_alternate, numpy=numpy)
    return solve(rates, weights, numpy.asarray(shrinkage, float), start, max_sweeps)


def _stored(cells: tuple[Any, ...], numpy: Any) -> tuple[Any, ...]:
    """Keep XLA from computing cells anew for each sum over them, which takes five times longer."""
    return lax.optimization_barrier(cells) if numpy is jnp else cells


def sigmoid(x: Any, numpy: Any) -> Any:
    """Return the rates whose logits are given."""
    if numpy is jnp:
        return jax.nn.sigmoid(x)
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _total_weight(
    weights: Float[AnyArray, " #q *#row"], shape: tuple[int, ...], axes: tuple[int, ...]
) -> Any:
    """Sum the weights over some axes of the cells, to which they are broadcast."""
    n_repeats = math.prod(shape[axis] // weights.shape[axis] for axis in axes)
    return n_repeats * weights.sum(axis=axes)


class _Derivatives(NamedTuple):
    gradient: Any
    curvature: Any


def _residuals(
    rates: Any, weights: Any, row_effect: Any, column_effect: Any, numpy: Any
) -> tuple[Any, ...]:
    """Return the cells' first and second derivatives of the deviance with respect to eta."""
    fitted = sigmoid(row_effect * _as_columns(column_effect, rates.ndim), numpy)
    return _stored((weights * (fitted - rates), weights * fitted * (1 - fitted)), numpy)


def _as_columns(x: Float[AnyArray, " q"], ndim: int) -> Float[AnyArray, "q ..."]:
    return x.reshape(-1, *(1,) * (ndim - 1))


def _over_columns(
    rates: Any, weights: Any, row_effect: Any, column_effect: Any, numpy: Any
) -> _Derivatives:
    """Return the derivatives of the objective with respect to the row effects."""
    residual, curvature = _residuals(rates, weights, row_effect, column_effect, numpy)
    v = column_effect
    return _Derivatives(
        numpy.tensordot(v, residual, axes=1), numpy.tensordot(v**2, curvature, axes=1)
    )


def _over_rows(
    rates: Any, weights: Any, shrinkage: Any, row_effect: Any, column_effect: Any, numpy: Any
) -> _Derivatives:
    """Return the derivatives of the objective with respect to the column effects."""
    residual, curvature = _residuals(rates, weights, row_effect, column_effect, numpy)
    # Without a prior a column effect may be zero, where 0/0 must not arise.
    inverse = numpy.where(shrinkage > 0, 1 / column_effect, 0.0)
    return _Derivatives(
        numpy.tensordot(residual, row_effect, axes=row_effect.ndim) + shrinkage * (1 - inverse),
        numpy.tensordot(curvature, row_effect**2, axes=row_effect.ndim) + shrinkage * inverse**2,
    )


def _newton_step(
    derivatives: _Derivatives, self_concordance: Any, numpy: Any, longest: Any = math.inf
) -> Any:
    """Return a Newton step shortened so far that it cannot increase the objective.

    Where ``|f'''| <= self_concordance * f''`` a step of length ``log(1 + R d) / R`` decreases f,
    d being the length of the full step (Sun and Tran-Dinh 2019, Theorem 2).
    """
    tiny = np.finfo(derivatives.curvature.dtype).tiny
    full = numpy.abs(derivatives.gradient) / (derivatives.curvature + tiny)
    length = numpy.log1p(self_concordance * full) / self_concordance
    return -numpy.sign(derivatives.gradient) * numpy.minimum(length, longest)


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def _solve(
    rates: Float[Array, " q *row"],
    weights: Float[Array, " #q *#row"],
    shrinkage: Float[Array, ""],
    start: tuple[Float[Array, "*row"], Float[Array, " q"]],
    max_sweeps: int,
) -> Center:
    return _alternate(rates, weights, shrinkage, start, max_sweeps, jnp)


def _alternate(
    rates: Any, weights: Any, shrinkage: Any, start: tuple[Any, Any], max_sweeps: int, numpy: Any
) -> Center:
    """Take Newton steps in the row and in the column effects until none is left to take."""
    row_weight = _total_weight(weights, rates.shape, axes=(0,))
    column_weight = shrinkage + _total_weight(
        weights, rates.shape, axes=tuple(range(1, rates.ndim))
    )

    def sweep(state: Center) -> Center:
        row_effect, column_effect = state.row_effect, state.column_effect
        of_rows = _over_columns(rates, weights, row_effect, column_effect, numpy)
        row_effect = row_effect + _newton_step(of_rows, numpy.abs(column_effect).max(), numpy)
        of_columns = _over_rows(rates, weights, shrinkage, row_effect, column_effect, numpy)
        steepness = numpy.maximum(numpy.abs(row_effect).max(), 1e-3)
        # Steps that keep at least half of v see at most twice the barrier's third derivative.
        barrier = numpy.where(shrinkage > 0, 4 / numpy.abs(column_effect), 0.0)
        longest = numpy.where(shrinkage > 0, numpy.abs(column_effect) / 2, math.inf)
        column_effect = column_effect + _newton_step(
            of_columns, steepness + barrier, numpy, longest
        )
        # The two steps leave the common scale almost where it was; with mean one the prior is
        # least, and the product of the effects, thus the deviance, does not change.
        scale = numpy.where(shrinkage > 0, column_effect.mean(), 1.0)
        row_effect, column_effect = row_effect * scale, column_effect / scale
        gradient_norm = numpy.maximum(
            (numpy.abs(of_rows.gradient) / row_weight).max(),
            (numpy.abs(of_columns.gradient) / column_weight).max(),
        )
        return Center(row_effect, column_effect, gradient_norm, state.n_sweeps + 1)

    def unfinished(state: Center) -> Any:
        return (state.gradient_norm > _TOLERANCE) & (state.n_sweeps < max_sweeps)

    state = Center(*start, numpy.asarray(numpy.inf), numpy.asarray(0))
    if numpy is jnp:
        return lax.while_loop(unfinished, sweep, state)
    while unfinished(state):
        state = sweep(state)
    return state


_Residuals = tuple[Any, ...]  # rates, weights, shrinkage, start, solution


def _solve_forward(
    rates: Array, weights: Array, shrinkage: Array, start: tuple[Array, Array], max_sweeps: int
) -> tuple[Center, _Residuals]:
    solution = _solve(rates, weights, shrinkage, start, max_sweeps)
    return solution, (rates, weights, shrinkage, start, solution)


def _solve_backward(
    max_sweeps: int, residuals: _Residuals, cotangent: Center
) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    del max_sweeps
    rates, weights, shrinkage, start, solution = residuals
    return (
        _pull_back(rates, weights, shrinkage, solution, cotangent, jnp),
        jnp.zeros_like(weights),
        jnp.zeros_like(shrinkage),
        jax.tree.map(jnp.zeros_like, start),
    )


def _pull_back(
    rates: Any, weights: Any, shrinkage: Any, solution: Center, cotangent: Center, numpy: Any
) -> Any:
    """Differentiate the optimality conditions: ``H d(lambda, v) = -d(gradient)``.

    H is an arrow: diagonal in lambda, diagonal in v. The system is reduced to the rows.
    """
    row_effect, column_effect = solution.row_effect, solution.column_effect
    n_rows = row_effect.size
    residual, curvature = _residuals(rates, weights, row_effect, column_effect, numpy)
    row_curvature = numpy.tensordot(column_effect**2, curvature, axes=1)
    column_curvature = numpy.tensordot(curvature, row_effect**2, axes=row_effect.ndim)
    column_curvature += numpy.where(shrinkage > 0, shrinkage / column_effect**2, 0.0)

    eta = row_effect * _as_columns(column_effect, rates.ndim)
    [coupling] = _stored(((curvature * eta + residual).reshape(-1, n_rows),), numpy)

    eliminated = _weighted_square(coupling, 1 / column_curvature, numpy)
    from_columns = (cotangent.column_effect / column_curvature) @ coupling
    # Scaling by the diagonal keeps saturated rows, whose curvature is near 1e-13, well conditioned.
    scale = 1 / numpy.sqrt(row_curvature.ravel())
    system = numpy.eye(n_rows) - scale[:, None] * eliminated * scale
    right_side = scale * (cotangent.row_effect.ravel() - from_columns)
    row_adjoint = scale * numpy.linalg.solve(system, right_side)
    column_adjoint = (cotangent.column_effect - coupling @ row_adjoint) / column_curvature

    through_rows = row_adjoint.reshape(row_effect.shape) * _as_columns(column_effect, rates.ndim)
    through_columns = row_effect * _as_columns(column_adjoint, rates.ndim)
    return weights * (through_rows + through_columns)


def pull_back_center(
    rates: Float[np.ndarray, " q *row"],
    weights: Float[np.ndarray, " #q *#row"],
    shrinkage: Float[ArrayLike, ""],
    solution: Center,
    of_effects: tuple[Float[np.ndarray, "*row"], Float[np.ndarray, " q"]],
) -> Float[np.ndarray, " q *row"]:
    """Return the derivative by the rates from that by the row and column effects, by NumPy."""
    cotangent = solution._replace(row_effect=of_effects[0], column_effect=of_effects[1])
    of_inner = _pull_back(_inner(rates), weights, shrinkage, solution, cotangent, np)
    of_rates: np.ndarray = (1 - 2 * _INNERMOST_RATE) * of_inner
    return of_rates


_solve.defvjp(_solve_forward, _solve_backward)


def _weighted_square(
    matrix: Float[AnyArray, "q r"], weights: Float[AnyArray, " q"], numpy: Any
) -> Any:
    """Return ``matrix' diag(weights) matrix`` without a weighted copy of a tall matrix."""
    q = len(matrix)
    if q <= _COLUMNS_PER_BLOCK or numpy is not jnp:
        return matrix.T @ (matrix * weights[:, None])
    n_whole = q // _COLUMNS_PER_BLOCK

    def add_block(index: Array, total: Array) -> Array:
        first = index * _COLUMNS_PER_BLOCK
        block = lax.dynamic_slice_in_dim(matrix, first, _COLUMNS_PER_BLOCK)
        weight = lax.dynamic_slice_in_dim(weights, first, _COLUMNS_PER_BLOCK)
        return total + block.T @ (block * weight[:, None])

    rest = matrix[n_whole * _COLUMNS_PER_BLOCK :]
    last = rest.T @ (rest * weights[n_whole * _COLUMNS_PER_BLOCK :, None])
    return lax.fori_loop(0, n_whole, add_block, last)
