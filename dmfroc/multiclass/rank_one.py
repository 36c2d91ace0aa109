"""The rank-one logit model of a matrix of rates: its objective, Newton steps and derivative.

Written once for NumPy and JAX; which of the two fits a given matrix is for `center` to choose.
NumPy fits the matrices of several draws at once: rates, effects and numbers of each have the draws
first, and each draw has the digits that it has alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.threads import one_blas_thread

# Rates of exactly 0 and 1 have no finite logit. Drawing them in by this much (about 30 on the
# logit scale) gives every fit a finite optimum. Every rate keeps 13 digits.
INNERMOST_RATE = 1e-13
_TOLERANCE = 1e-9
_SMALL = 1e-2  # gradient norm from which on a sweep gains the same share as the one before
_GUESSES = np.geomspace(0.02, 50.0, 24)  # column effects, between which a start is looked for
_MOST_SHRINKAGE = 1e100  # in guesses; all effects are 1 then

RowEffect = Float[AnyArray, "*draws_and_row"]
"""One number for each row of a column of rates, such as its half and threshold."""

ColumnEffect = Float[AnyArray, "*draws q"]
"""One number for each column."""

CellWeights = Float[AnyArray, " #q *#row"]
"""Of the cells, to which they are broadcast."""

_PerDraw = Float[AnyArray, "*draws"]


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

    row_effect: RowEffect
    column_effect: ColumnEffect
    gradient_norm: _PerDraw
    n_sweeps: Int[AnyArray, "*draws"]

    @property
    def converged(self) -> Any:
        """Whether the gradient vanishes to rounding."""
        return self.gradient_norm <= _TOLERANCE


def logit(rates: Any, xp: Any) -> Any:
    """Return the logits of rates that are neither 0 nor 1."""
    return xp.log(rates) - xp.log1p(-rates)


def drawn_in(rates: Float[AnyArray, "*cells"]) -> Any:
    """Return the rates a little away from 0 and 1."""
    return INNERMOST_RATE + (1 - 2 * INNERMOST_RATE) * rates


def binomial_deviance(
    rates: Float[AnyArray, "*cells"],
    eta: Float[AnyArray, "*cells"],
    weights: Float[AnyArray, "*#cells"],
    xp: Any = np,
) -> Any:
    """Return twice the weighted log-likelihood ratio of the rates against the fit ``eta``."""
    p = drawn_in(rates)
    saturated = p * xp.log(p) + (1 - p) * xp.log1p(-p)
    # Minus the logarithms of the fitted rates and of one minus them
    surprise = p * xp.logaddexp(0, -eta) + (1 - p) * xp.logaddexp(0, eta)
    return 2 * (weights * (saturated + surprise)).sum()


def first_guess(rates: Any, weights: Any, shrinkage: Any, xp: Any) -> tuple[Any, Any]:
    """Return the logits of the weighted row means, and column effects that go with them."""
    [weighted] = _stored((weights * rates,), xp)  # its sum is faster if stored
    ones = xp.ones(rates.shape[: rates.ndim - weights.ndim + 1])
    total = _over_columns_of(weighted, ones)
    row_effect = logit(total / _total_weight(weights, rates.shape, 0, xp), xp)
    sums = _over_rows_of(weighted, row_effect, ones)
    column_effect = guessed_columns(row_effect, weights, sums, shrinkage, xp)
    return in_scale(row_effect, column_effect, shrinkage, xp)


def guessed_columns(
    row_effect: Any, weights: Any, sums: Any, shrinkage: Any, xp: Any
) -> ColumnEffect:
    """Return about the best column effects for given row effects; ones without a prior.

    ``sums`` are those over the rows of weights, rates and row effects. The slope of the objective
    rises with the column effect: its zero is interpolated between the guesses.
    """
    fitted = row_effect[..., None] * sigmoid(row_effect[..., None] * _GUESSES, xp)
    even = tuple(axis - weights.ndim for axis, n in enumerate(weights.shape[1:]) if n == 1)
    fitted = fitted.sum(axis=even, keepdims=True)
    fitted = fitted.reshape(*sums.shape[:-1], -1, len(_GUESSES))
    slope = weights.reshape(len(weights), -1) @ fitted - sums[..., None]
    slope = slope + xp.minimum(shrinkage, _MOST_SHRINKAGE) * (1 - 1 / _GUESSES)
    above = xp.clip((slope < 0).sum(axis=-1), 1, len(_GUESSES) - 1)
    low, high = (xp.take_along_axis(slope, above[..., None] - k, -1)[..., 0] for k in (1, 0))
    share = xp.clip(low / xp.where(shrinkage > 0, low - high, 1.0), 0.0, 1.0)
    guess = _GUESSES[0] * (_GUESSES[1] / _GUESSES[0]) ** (above - 1 + share)
    return xp.where(shrinkage > 0, guess, 1.0)


def in_scale(row_effect: Any, column_effect: Any, shrinkage: Any, xp: Any) -> tuple[Any, Any]:
    """Return effects with the mean column effect one, with which the prior is least, if any.

    The product of the effects, and thus the deviance, does not change.
    """
    scale = _if(shrinkage > 0, column_effect.mean(axis=-1, keepdims=True), xp.ones(1), xp)
    return row_effect * with_axes(scale[..., 0], row_effect.ndim), column_effect / scale


def _stored(cells: tuple[Any, ...], xp: Any) -> tuple[Any, ...]:
    """Keep XLA from computing cells anew for each sum over them, which takes five times longer."""
    if xp is np:
        return cells
    from jax import lax

    return lax.optimization_barrier(cells)


def sigmoid(x: Any, xp: Any) -> Any:
    """Return the rates whose logits are given."""
    with np.errstate(over="ignore"):
        odds = xp.exp(-x)
        odds += 1
        return 1 / odds


def _total_weight(
    weights: Any, shape: tuple[int, ...], axes: int | tuple[int, ...], xp: Any
) -> Any:
    """Sum the weights over some axes of the cells, to which they are broadcast."""
    return xp.broadcast_to(weights, shape[-weights.ndim :]).sum(axis=axes)


class Derivatives(NamedTuple):
    """First and second derivatives of the objective, each by one effect alone."""

    gradient: Any
    curvature: Any


def _residuals(
    rates: Any, weights: Any, row_effect: Any, column_effect: Any, xp: Any
) -> tuple[Any, ...]:
    """Return the cells' first and second derivatives of the deviance with respect to eta."""
    fitted = sigmoid(outer(row_effect, column_effect), xp)
    residual, curvature = fitted - rates, 1 - fitted
    curvature *= fitted
    residual *= weights
    curvature *= weights
    return _stored((residual, curvature), xp)


def with_axes(x: Float[AnyArray, "*shape"], ndim: int) -> Float[AnyArray, "*shape ..."]:
    """Give the numbers of draws, or of columns, as many axes as an array has."""
    return x.reshape(x.shape + (1,) * (ndim - x.ndim))


def outer(
    row_effect: RowEffect, column_effect: ColumnEffect
) -> Float[AnyArray, "*draws_q_and_row"]:
    """Return the products of all pairs of effects."""
    n_axes = column_effect.ndim - 1
    rows = row_effect.reshape(*row_effect.shape[:n_axes], 1, *row_effect.shape[n_axes:])
    return rows * with_axes(column_effect, rows.ndim)


def _over_columns_of(cells: Any, factors: Any) -> Any:
    """Return the sums over the columns of cells times factors, without NumPy's `tensordot`.

    Of few cells that takes four times as long.
    """
    sums = factors[..., None, :] @ cells.reshape(*factors.shape, -1)
    return sums.reshape(*factors.shape[:-1], *cells.shape[factors.ndim :])


def _over_rows_of(cells: Any, factors: Any, columns: Any) -> Any:
    """Return the sums over the rows of cells times factors, in the shape of the columns."""
    factors = factors.reshape(*columns.shape[:-1], -1, 1)
    return (cells.reshape(*columns.shape, -1) @ factors)[..., 0]


def _largest(numbers: Any, columns: Any, xp: Any) -> Any:
    """Return the largest absolute number of each draw; the columns have as many draws."""
    return xp.abs(numbers).reshape(*columns.shape[:-1], -1).max(axis=-1)


def _if(condition: Any, this: Any, that: Any, xp: Any) -> Any:
    """Choose by a number: NumPy takes as long for it as for many numbers."""
    return xp.where(condition, this, that) if xp is not np else this if condition else that


def prior_derivatives(shrinkage: Any, column_effect: Any, xp: Any) -> Derivatives:
    """Return the derivatives of the prior's part of the objective."""
    # Without a prior a column effect may be zero, where 0/0 must not arise.
    has_prior = shrinkage > 0
    inverse = _if(has_prior, 1 / _if(has_prior, column_effect, 1.0, xp), 0.0, xp)
    return Derivatives(shrinkage * (1 - inverse), shrinkage * inverse**2)


def _newton_step(
    derivatives: Derivatives, self_concordance: Any, xp: Any, longest: Any = math.inf
) -> Any:
    """Return a Newton step shortened so far that it cannot increase the objective.

    Where ``|f'''| <= self_concordance * f''`` a step of length ``log(1 + R d) / R`` decreases f,
    d being the length of the full step (Sun and Tran-Dinh 2019, Theorem 2).
    """
    tiny = np.finfo(derivatives.curvature.dtype).tiny
    full = xp.abs(derivatives.gradient) / (derivatives.curvature + tiny)
    length = xp.log1p(self_concordance * full) / self_concordance
    return -xp.sign(derivatives.gradient) * xp.minimum(length, longest)


def alternate(
    rates: Any, weights: Any, shrinkage: Any, start: tuple[Any, Any], max_sweeps: int, xp: Any
) -> Center:
    """Take Newton steps in the row and in the column effects until none is left to take."""
    row_weight = _total_weight(weights, rates.shape, 0, xp)
    of_columns = tuple(range(1, weights.ndim))
    column_weight = shrinkage + _total_weight(weights, rates.shape, of_columns, xp)

    def over_columns(row_effect: Any, column_effect: Any) -> Derivatives:
        residual, curvature = _residuals(rates, weights, row_effect, column_effect, xp)
        v = column_effect
        return Derivatives(_over_columns_of(residual, v), _over_columns_of(curvature, v**2))

    def step_columns(row_effect: Any, column_effect: Any, relaxation: Any) -> Any:
        residual, curvature = _residuals(rates, weights, row_effect, column_effect, xp)
        prior = prior_derivatives(shrinkage, column_effect, xp)
        derivatives = Derivatives(
            _over_rows_of(residual, row_effect, column_effect) + prior.gradient,
            _over_rows_of(curvature, row_effect**2, column_effect) + prior.curvature,
        )
        stepped = stepped_columns(derivatives, row_effect, column_effect, shrinkage, relaxation, xp)
        return derivatives, stepped

    totals = row_weight, column_weight
    return alternate_with(over_columns, step_columns, totals, shrinkage, start, max_sweeps, xp)


def stepped_columns(
    derivatives: Derivatives,
    row_effect: Any,
    column_effect: Any,
    shrinkage: Any,
    relaxation: Any,
    xp: Any,
) -> Any:
    """Return column effects after a Newton step, each by itself."""
    steepness = xp.maximum(_largest(row_effect, column_effect, xp), 1e-3)[..., None]
    # Steps that keep at least half of v see at most twice the barrier's third derivative.
    size = xp.abs(column_effect)
    barrier = _if(shrinkage > 0, 4 / size, 0.0, xp)
    longest = _if(shrinkage > 0, size / 2, math.inf, xp)
    step = _newton_step(derivatives, steepness + barrier, xp, longest)
    return column_effect + relaxation[..., None] * step


def alternate_with(
    over_columns: Callable[[Any, Any], Derivatives],
    step_columns: Callable[[Any, Any, Any], tuple[Derivatives, Any]],
    total_weights: tuple[Any, Any],
    shrinkage: Any,
    start: tuple[Any, Any],
    max_sweeps: int,
    xp: Any,
) -> Center:
    """Take Newton steps, given the derivatives by row effects, and those by column effects.

    What gives the derivatives by column effects takes the step in these, too. Sweeps over two
    blocks gain the same share each time, once the gradient is small: from that share follows the
    factor by which steps are best lengthened (Young 1954, successive over-relaxation). Draws that
    are finished stay as they are.
    """
    row_weight, column_weight = total_weights

    def sweep(state: _Progress) -> _Progress:
        row_effect, column_effect, last_norm, n_sweeps, relaxation, last_share = state
        row_derivatives = over_columns(row_effect, column_effect)
        steepness = _largest(column_effect, column_effect, xp)
        step = _newton_step(row_derivatives, with_axes(steepness, row_effect.ndim), xp)
        row_effect = row_effect + with_axes(relaxation, row_effect.ndim) * step
        column_derivatives, column_effect = step_columns(row_effect, column_effect, relaxation)
        # The two steps leave the common scale almost where it was
        effects = in_scale(row_effect, column_effect, shrinkage, xp)
        gradient_norm = xp.maximum(
            _largest(row_derivatives.gradient / row_weight, column_effect, xp),
            _largest(column_derivatives.gradient / column_weight, column_effect, xp),
        )
        share = gradient_norm / xp.maximum(last_norm, 1e-300)  # which may be 0 of finished draws
        is_steady = (gradient_norm < _SMALL) & (share < 1) & (xp.abs(share - last_share) < 0.1)
        best = xp.where(is_steady, 2 / (1 + xp.sqrt(xp.maximum(1 - share, 0.01))), 1.0)
        relaxation = xp.where((relaxation > 1) & (share < 1.5), relaxation, best)
        return _Progress(*effects, gradient_norm, n_sweeps + 1, relaxation, share)

    def unfinished(state: _Progress) -> Any:
        return (state.gradient_norm > _TOLERANCE) & (state.n_sweeps < max_sweeps)

    if xp is not np:
        from jax import lax

        norm, n_sweeps, one = of_data(start[0], xp.inf, 0, 1.0)
        first = _Progress(*start, norm, n_sweeps, one, one)
        return Center(*lax.while_loop(unfinished, sweep, first)[:4])
    one = np.ones(start[1].shape[:-1])
    state = _Progress(*start, np.inf * one, np.zeros(one.shape, int), one, one)
    while (goes_on := unfinished(state)).any():
        swept = sweep(state)
        if goes_on.all():
            state = swept
        else:
            pairs = zip(swept, state, strict=True)
            state = _Progress(*(np.where(with_axes(goes_on, x.ndim), x, y) for x, y in pairs))
    return Center(*state[:4])


def of_data(data: Any, *numbers: float | int) -> list[Any]:
    """Return numbers as if they depended on data: under `jax.shard_map` loops need such starts."""
    import jax.numpy as jnp

    return [jnp.where(data.ravel()[0] == 0, x, x) for x in numbers]


class _Progress(NamedTuple):
    """The state of a fit."""

    row_effect: RowEffect
    column_effect: ColumnEffect
    gradient_norm: _PerDraw
    n_sweeps: Int[AnyArray, "*draws"]
    relaxation: _PerDraw  # by which steps are lengthened
    share: _PerDraw  # of the gradient that the last sweep left


class RateDerivatives(NamedTuple):
    """Derivatives with respect to the rates: of rank two, so that no matrix need be stored."""

    weights: CellWeights
    row_effect: RowEffect
    column_effect: ColumnEffect
    row_adjoint: RowEffect
    column_adjoint: ColumnEffect

    def columns(self, some: slice = slice(None)) -> Float[AnyArray, " some *row"]:
        """Return the derivatives with respect to the rates of some columns."""
        weights = self.weights[some] if len(self.weights) > 1 else self.weights
        through_rows = outer(self.row_adjoint, self.column_effect[some])
        through_columns = outer(self.row_effect, self.column_adjoint[some])
        return weights * (through_rows + through_columns)


class Adjoint(NamedTuple):
    """The derivative of the fit, by the implicit function theorem.

    It solves ``H d(lambda, v) = -d(gradient)``. H is an arrow: diagonal in lambda and in v;
    the system is reduced to the rows, or to the columns.
    """

    weights: CellWeights
    row_effect: RowEffect
    column_effect: ColumnEffect
    coupling: Any  # a matrix of shape (q, r), or what multiplies vectors as one
    eliminated_curvature: Float[AnyArray, " eliminated"]
    scale: Float[AnyArray, " kept"]
    system: Float[AnyArray, "kept kept"]  # of the scaled effects
    keeps_rows: bool = True

    def pull_back(self, derivatives: Center, xp: Any) -> RateDerivatives:
        """Return derivatives with respect to the rates from those with respect to the effects."""
        d_effects = derivatives.column_effect, derivatives.row_effect.ravel()
        step = 1 if self.keeps_rows else -1
        d_eliminated, d_kept = d_effects[::step]
        coupling = self.coupling if self.keeps_rows else self.coupling.T
        through_eliminated = (d_eliminated / self.eliminated_curvature) @ coupling
        right_side = self.scale * (d_kept - through_eliminated)
        kept = self.scale * xp.linalg.solve(self.system, right_side)
        eliminated = (d_eliminated - coupling @ kept) / self.eliminated_curvature
        column_adjoint, row_adjoint = (eliminated, kept)[::step]
        return RateDerivatives(
            self.weights,
            self.row_effect,
            self.column_effect,
            row_adjoint.reshape(self.row_effect.shape),
            column_adjoint,
        )


def adjoint(rates: Any, weights: Any, shrinkage: Any, solution: Center, xp: Any) -> Adjoint:
    """Differentiate the optimality conditions; the smaller system remains."""
    row_effect, column_effect = solution.row_effect, solution.column_effect
    n_rows = row_effect.size
    residual, curvature = _residuals(rates, weights, row_effect, column_effect, xp)
    row_curvature = _over_columns_of(curvature, column_effect**2).ravel()
    column_curvature = _over_rows_of(curvature, row_effect**2, column_effect)
    column_curvature += xp.where(shrinkage > 0, shrinkage / column_effect**2, 0.0)

    eta = outer(row_effect, column_effect)
    [coupling] = _stored(((curvature * eta + residual).reshape(-1, n_rows),), xp)

    if keeps_rows := n_rows <= len(column_effect):
        matrix, eliminated, kept = coupling, column_curvature, row_curvature
    else:
        matrix, eliminated, kept = coupling.T, row_curvature, column_curvature
    # Scaling by the diagonal keeps saturated rows, whose curvature is near 1e-13, well conditioned.
    scale = 1 / xp.sqrt(kept)
    square = matrix.T @ (matrix * (1 / eliminated)[:, None])
    system = xp.eye(len(kept)) - scale[:, None] * square * scale
    return Adjoint(
        weights, row_effect, column_effect, coupling, eliminated, scale, system, keeps_rows
    )


@dataclass(frozen=True, eq=False)
class CellwiseRates:
    """Few rates, worked on cell by cell."""

    rates: Float[np.ndarray, "*draws_q_and_row"]  # drawn in
    weights: CellWeights
    shrinkage: float | int | Float[np.ndarray, ""]

    def first_guess(self) -> tuple[RowEffect, ColumnEffect]:
        return first_guess(self.rates, self.weights, self.shrinkage, np)

    def fit(self, start: tuple[Any, Any], max_sweeps: int) -> Center:
        with one_blas_thread():
            return alternate(self.rates, self.weights, self.shrinkage, start, max_sweeps, np)

    def adjoint(self, solution: Center) -> Adjoint:
        return adjoint(self.rates, self.weights, self.shrinkage, solution, np)

    def times(
        self, rows: Float[np.ndarray, "halves t *sets"]
    ) -> Float[np.ndarray, "q halves *sets"]:
        return np.einsum("qht,ht...->qh...", self.rates, rows)

    def fitted_times(
        self, solution: Center, rows: Float[np.ndarray, "halves t"]
    ) -> Float[np.ndarray, "q halves"]:
        fitted = sigmoid(outer(solution.row_effect, solution.column_effect), np)
        return np.einsum("qht,ht->qh", fitted, rows)
