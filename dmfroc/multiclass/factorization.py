"""Deviance matrix factorization of a matrix of rates (Wang and Carvalho 2023).

The model is ``link(E[M]) = Lambda V' + offset``, fitted by minimising the weighted binomial
deviance. The rank-one logit model behind the multiclass ROC curve has its own exact solver,
`dmfroc.multiclass.center`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float
from scipy import special

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.compiled import compiled, double_precision
from dmfroc._kit.options import choice, integer, numbers
from dmfroc.multiclass.center import center
from dmfroc.multiclass.links import Link, link_of, log_rates
from dmfroc.multiclass.rank_one import Center, binomial_deviance
from dmfroc.results.attributes import AttributeTables

# A fitted probability this close to 0 or 1 is one that the data drive to the boundary.
_BOUNDARY = 1e-9
_LARGEST_WEIGHT = 1e300  # of all cells: sums of what weighs less do not overflow
_LARGEST_OFFSET = 1e6  # squares and exponents of sums with it are far from overflowing
_SMALLEST_WEIGHT = 1e-300  # of a cell: smaller ones have too few digits
_GRADIENT_TOLERANCE = 1e-7
_MEMORY = 20


class Outcome(Enum):
    """How a factorization ended, in words."""

    CONVERGED = "the fit converged: the gradient of the deviance vanishes"
    SEPARATED = (
        "some fitted rates are 0 or 1 to nine digits: there the data separate perfectly, and the "
        "effects behind these rates could be any large number"
    )
    NOT_CONVERGED = (
        "the fit stopped at max_iter before the gradient of the deviance vanished; raise "
        "max_iter, or lower the rank"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Factorization(AttributeTables):
    """A deviance matrix factorization ``link(E[M]) = row_effects @ column_effects.T + offset``.

    Attributes
    ----------
    row_effects : numpy.ndarray of shape (m, rank)
        Orthogonal columns, the longest first.
    column_effects : numpy.ndarray of shape (q, rank)
        Orthonormal columns, each with a non-negative sum.
    fitted : numpy.ndarray of shape (m, q)
        Fitted rates, in (0, 1).
    deviance : float
        Weighted binomial deviance at the end, >= 0.
    deviance_path : numpy.ndarray of shape (n_iter + 1,)
        Deviance at the start and after every iteration; it never increases.
    gradient_norm : float
        Largest derivative of the deviance with respect to an effect, relative to its weight.
    n_iter : int
        Number of iterations.
    outcome : Outcome
        Whether the fit converged, or why not; its value is a sentence.
    """

    row_effects: Float[np.ndarray, "m rank"]
    column_effects: Float[np.ndarray, " q rank"]
    fitted: Float[np.ndarray, " m q"]
    deviance: float
    deviance_path: Float[np.ndarray, " iterations"]
    gradient_norm: float
    n_iter: int
    outcome: Outcome

    @property
    def converged(self) -> bool:
        """Whether the gradient vanishes."""
        return self.gradient_norm <= _GRADIENT_TOLERANCE


@double_precision
def dmf(
    rates: Any,
    *,
    rank: int = 1,
    weights: Any = None,
    link: Link = "logit",
    offset: Any = None,
    max_iter: int = 2000,
) -> Factorization:
    """Factorize a matrix of rates by minimising the binomial deviance.

    Parameters
    ----------
    rates : array-like of shape (m, q)
        Observed rates, in [0, 1]. Where the weight is 0 they are missing and may be NaN.
    rank : int
        Number of factors, at most min(m, q).
    weights : array-like, broadcast to (m, q), optional
        Weights of the cells, for example numbers of trials; 0 or from 1e-300, by default 1.
    link : {"logit", "probit", "cloglog"}
        Link function.
    offset : array-like, broadcast to (m, q), optional
        Known part of the linear predictor, between -1e6 and 1e6.
    max_iter : int
        Iterations after which to give up, see `Factorization.outcome`.

    Returns
    -------
    Factorization
        For rank one with the logit link and without offset by alternating exact Newton steps;
        otherwise by L-BFGS from the singular value decomposition of the transformed rates.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1], a weight is negative or not finite, shapes do not fit, or
        an option is out of its range.

    References
    ----------
    Wang and Carvalho (2023), Deviance matrix factorization, Electronic Journal of Statistics 17.

    Examples
    --------
    >>> import numpy as np
    >>> effects = np.outer([-2, -1, 0, 1, 2], [0.5, 1, 1.5])
    >>> fit = dmf(1 / (1 + np.exp(-effects)))
    >>> fit.converged, bool(np.allclose(fit.row_effects @ fit.column_effects.T, effects))
    (True, True)
    """
    rates, weights, offset = _checked_cells(rates, weights, offset)
    choice("link", link, ("logit", "probit", "cloglog"))
    if not (isinstance(rank, int | np.integer) and 1 <= rank <= min(rates.shape)):
        raise ValueError(
            f"rank must be an integer from 1 to {min(rates.shape)}, but it is {rank!r}"
        )
    max_iter = integer("max_iter", max_iter, 1)
    if rank == 1 and link == "logit" and not offset.any():
        rows, columns, path, gradient_norm = _fit_rank_one(rates, weights, max_iter)
    else:
        rows, columns, path, gradient_norm = _fit_any_rank(
            rates, weights, offset, rank, link, max_iter
        )
    row_effects, column_effects = _identified(rows, columns)
    log_p, log_q = log_rates(row_effects @ column_effects.T + offset, link)
    fitted = np.exp(log_p)
    nearest = np.minimum(fitted, np.exp(log_q))[weights > 0].min()
    if nearest < _BOUNDARY:
        outcome = Outcome.SEPARATED
    else:
        is_stationary = gradient_norm <= _GRADIENT_TOLERANCE
        outcome = Outcome.CONVERGED if is_stationary else Outcome.NOT_CONVERGED
    return Factorization(
        row_effects=row_effects,
        column_effects=column_effects,
        fitted=fitted,
        deviance=float(path[-1]),
        deviance_path=path,
        gradient_norm=float(gradient_norm),
        n_iter=len(path) - 1,
        outcome=outcome,
    )


def _checked_cells(
    rates: Any, weights: Any, offset: Any
) -> tuple[Float[np.ndarray, "m q"], Float[np.ndarray, "m q"], Float[np.ndarray, "m q"]]:
    values = numbers("rates", rates)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"rates must be a matrix, but its shape is {values.shape}")
    cells = []
    for name, given, default in (("weights", weights, 1.0), ("offset", offset, 0.0)):
        array = numbers(name, default if given is None else given)
        try:
            cells.append(np.broadcast_to(array, values.shape))
        except ValueError:
            raise ValueError(
                f"{name} has shape {array.shape}, which does not broadcast to the shape "
                f"{values.shape} of rates"
            ) from None
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite")
    weight = cells[0]
    if abs(cells[1]).max() > _LARGEST_OFFSET:
        raise ValueError(
            f"offset must be between {-_LARGEST_OFFSET:g} and {_LARGEST_OFFSET:g}: it is on the "
            "scale of the link, on which 10 is close to certainty"
        )
    if (weight < 0).any() or not weight.any():
        raise ValueError("weights must be >= 0 and not all 0")
    with np.errstate(over="ignore"):
        if weight.sum() > _LARGEST_WEIGHT:
            raise ValueError(f"weights must not add up to more than {_LARGEST_WEIGHT:g}")
    if (smallest := weight[weight > 0].min()) < _SMALLEST_WEIGHT:
        raise ValueError(
            f"weights must be 0 or at least {_SMALLEST_WEIGHT:g}, but one is {smallest:g}: "
            "multiply all by the same factor, or give 0 to cells that need not count"
        )
    wrong = (weight > 0) & ~((values >= 0) & (values <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"rates must lie in [0, 1], but row {row}, column {column} (counting from 0) holds "
            f"{values[row, column]}; give missing cells the weight 0"
        )
    values[weight == 0] = 0.5
    return values, weight, cells[1]


def _fit_rank_one(
    rates: Float[np.ndarray, "m q"], weights: Float[np.ndarray, "m q"], max_iter: int
) -> tuple[AnyArray, AnyArray, Float[np.ndarray, " iterations"], float]:
    columns, column_weights = rates.T, weights.T
    sweep = partial(center, max_sweeps=1)

    def deviance(solution: Center) -> float:
        eta = solution.row_effect * solution.column_effect[:, None]
        return float(binomial_deviance(columns, eta, column_weights))

    solution = center(columns, column_weights, 0.0, max_sweeps=0)
    path = [deviance(solution)]
    while not solution.converged and len(path) <= max_iter:
        solution = sweep(columns, column_weights, 0.0, start=solution[:2])
        path.append(deviance(solution))
    rows = solution.row_effect[:, None], solution.column_effect[:, None]
    return *rows, np.array(path), float(solution.gradient_norm)


def _fit_any_rank(
    rates: Float[np.ndarray, "m q"],
    weights: Float[np.ndarray, "m q"],
    offset: Float[np.ndarray, "m q"],
    rank: int,
    link: Link,
    max_iter: int,
) -> tuple[Array, Array, Float[np.ndarray, " iterations"], float]:
    """Minimise the deviance over both matrices of effects by L-BFGS, which never lets it rise."""
    rows_start, columns_start = _start(rates, weights, offset, rank, link)
    start = jnp.asarray(rows_start), jnp.asarray(columns_start)
    cells = jnp.asarray(rates), jnp.asarray(weights / weights.sum()), jnp.asarray(offset)
    (rows, columns), losses, n_iter, gradient_norm = _minimise(start, cells, link, max_iter)
    saturated = 2 * (weights * (special.entr(rates) + special.entr(1 - rates))).sum()
    path = 2 * weights.sum() * np.asarray(losses[: int(n_iter) + 1]) - saturated
    return rows, columns, path, float(gradient_norm)


def _start(
    rates: Float[np.ndarray, "m q"],
    weights: Float[np.ndarray, "m q"],
    offset: Float[np.ndarray, "m q"],
    rank: int,
    link: Link,
) -> tuple[Float[np.ndarray, "m rank"], Float[np.ndarray, "q rank"]]:
    """Decompose the transformed rates, drawn in towards their mean so that they are finite."""
    mean = np.average(rates, weights=weights)
    relative = weights / weights[weights > 0].mean()
    drawn_in = (relative * rates + 0.1 * mean) / (relative + 0.1)
    eta = link_of(np.clip(drawn_in, 0.01, 0.99), link) - offset
    left, lengths, right = np.linalg.svd(eta, full_matrices=False)
    scale = np.sqrt(lengths[:rank])
    return left[:, :rank] * scale, right[:rank].T * scale


_Effects = tuple[Array, Array]
_Progress = tuple[_Effects, Any, Array, Array, Array]


@partial(compiled, static_argnums=(2, 3))
def _minimise(
    start: _Effects, cells: tuple[Array, Array, Array], link: Link, max_iter: int
) -> tuple[_Effects, Array, Array, Array]:
    """Return the effects, the loss at each iteration, their number and the gradient's norm."""
    import optax

    rates, weights, offset = cells

    def loss(effects: _Effects) -> Array:
        return cell_losses(rates, weights, effects[0] @ effects[1].T + offset, link).sum()

    solver = optax.lbfgs(memory_size=_MEMORY)
    value_and_grad = optax.value_and_grad_from_state(loss)

    def gradient_norm(gradient: _Effects) -> Array:
        return jnp.maximum(jnp.abs(gradient[0]).max(), jnp.abs(gradient[1]).max())

    def step(carry: _Progress) -> _Progress:
        effects, state, losses, n_iter, _ = carry
        value, gradient = value_and_grad(effects, state=state)
        updates, state = solver.update(
            gradient, state, effects, value=value, grad=gradient, value_fn=loss
        )
        effects = optax.apply_updates(effects, updates)
        latest = optax.tree.get(state, "value"), optax.tree.get(state, "grad")
        losses = losses.at[n_iter + 1].set(latest[0])
        return effects, state, losses, n_iter + 1, gradient_norm(latest[1])

    def unfinished(carry: _Progress) -> Array:
        return (carry[4] > _GRADIENT_TOLERANCE / max(rates.shape)) & (carry[3] < max_iter)

    first = loss(start)
    losses = jnp.full(max_iter + 1, first)
    carry = start, solver.init(start), losses, jnp.asarray(0), jnp.asarray(jnp.inf)
    effects, _, losses, n_iter, norm_of_gradient = lax.while_loop(unfinished, step, carry)
    return effects, losses, n_iter, norm_of_gradient * max(rates.shape)


def cell_losses(
    rates: Float[Array, "*cells"], weights: Float[Array, "*#cells"], eta: Array, link: Link
) -> Float[Array, "*cells"]:
    """Return the weighted surprise of each cell."""
    log_p, log_q = log_rates(eta, link, jnp)
    # A missing cell, and a rate of 0 or 1, must not turn an infinite logarithm into NaN.
    return -(
        jnp.where(weights * rates > 0, weights * rates * log_p, 0.0)
        + jnp.where(weights * (1 - rates) > 0, weights * (1 - rates) * log_q, 0.0)
    )


def _identified(
    rows: Float[AnyArray, "m rank"], columns: Float[AnyArray, "q rank"]
) -> tuple[Float[np.ndarray, "m rank"], Float[np.ndarray, "q rank"]]:
    """Return the same product with orthogonal rows and orthonormal columns of effects."""
    row_basis, row_part = np.linalg.qr(np.asarray(rows))
    column_basis, column_part = np.linalg.qr(np.asarray(columns))
    left, lengths, right = np.linalg.svd(row_part @ column_part.T)
    unit_columns = column_basis @ right.T
    sign = np.where(unit_columns.sum(axis=0) < 0, -1.0, 1.0)
    return row_basis @ left * lengths * sign, unit_columns * sign
