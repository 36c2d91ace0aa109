"""Deviance matrix factorization of a matrix of rates (Wang and Carvalho 2023).

The model is ``link(E[M]) = Lambda V' + offset``, fitted by minimising the weighted binomial
deviance. The rank-one logit model behind the multiclass ROC curve has its own exact solver,
`dmfroc.multiclass.center`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.compiled import compiled, double_precision
from dmfroc._kit.options import choice, integer, numbers
from dmfroc.multiclass.center import center
from dmfroc.multiclass.higher_rank import GRADIENT_TOLERANCE, Problem, by_descent, identified
from dmfroc.multiclass.links import Link, log_rates
from dmfroc.multiclass.rank_one import binomial_deviance, drawn_in
from dmfroc.results.result import AttributeTables

# A fitted probability this close to 0 or 1 is one that the data drive to the boundary.
_BOUNDARY = 1e-9
_LARGEST_WEIGHT = 1e300  # of all cells: sums of what weighs less do not overflow
_LARGEST_OFFSET = 1e6  # squares and exponents of sums with it are far from overflowing
_SMALLEST_WEIGHT = 1e-300  # of a cell: smaller ones have too few digits

Matrix = Float[np.ndarray, "m q"]


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
    gradient_norm : float
        Largest derivative of the deviance with respect to an effect, relative to its weight.
    n_iter : int
        Number of iterations.
    outcome : Outcome
        Whether the fit converged, or why not; its value is a sentence.
    """

    row_effects: Float[np.ndarray, "m rank"]
    column_effects: Float[np.ndarray, " q rank"]
    fitted: Matrix
    deviance: float
    gradient_norm: float
    n_iter: int
    outcome: Outcome

    @property
    def converged(self) -> bool:
        """Whether the gradient vanishes."""
        return self.gradient_norm <= GRADIENT_TOLERANCE

    def foot(self) -> list[str]:
        """Return how the fit ended, in a sentence."""
        return [self.outcome.value]


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
        otherwise by L-BFGS from the singular value decomposition of the transformed rates. In
        programs of JAX take `dmfroc.functional.dmf`, which can be traced.

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
    check_rank_and_link(rank, link, rates.shape)
    max_iter = integer("max_iter", max_iter, 1)
    if rank == 1 and link == "logit" and not offset.any():
        fit: Any = _fit_rank_one(rates, weights, max_iter)
    else:
        problem = Problem(drawn_in(rates.T), weights.T / weights.max(), 0.0, offset.T)
        fit = _compiled_descent(problem, rank, link, max_iter)
    rows, columns, gradient_norm, n_iter = map(np.asarray, fit)
    row_effects, column_effects = map(np.asarray, identified(rows, columns))
    log_p, log_q = log_rates(row_effects @ column_effects.T + offset, link)
    fitted = np.exp(log_p)
    nearest = np.minimum(fitted, np.exp(log_q))[weights > 0].min()
    if nearest < _BOUNDARY:
        outcome = Outcome.SEPARATED
    else:
        is_stationary = gradient_norm <= GRADIENT_TOLERANCE
        outcome = Outcome.CONVERGED if is_stationary else Outcome.NOT_CONVERGED
    return Factorization(
        row_effects=row_effects,
        column_effects=column_effects,
        fitted=fitted,
        deviance=float(binomial_deviance(rates, log_p - log_q, weights)),
        gradient_norm=float(gradient_norm),
        n_iter=int(n_iter),
        outcome=outcome,
    )


def check_rank_and_link(rank: Any, link: Any, shape: tuple[int, ...]) -> None:
    """Refuse a rank that a matrix of this shape cannot have, and links that do not exist."""
    choice("link", link, get_args(Link))
    if not (isinstance(rank, int | np.integer) and 1 <= rank <= min(shape)):
        raise ValueError(f"rank must be an integer from 1 to {min(shape)}, but it is {rank!r}")


def _checked_cells(rates: Any, weights: Any, offset: Any) -> tuple[Matrix, Matrix, Matrix]:
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


def _fit_rank_one(rates: Matrix, weights: Matrix, max_iter: int) -> tuple[AnyArray, ...]:
    n_iter, solution = 0, center(rates.T, weights.T, 0.0, max_sweeps=0)
    while not solution.converged and n_iter < max_iter:
        solution = center(rates.T, weights.T, 0.0, start=solution[:2], max_sweeps=1)
        n_iter += 1
    rows, columns = solution.row_effect[:, None], solution.column_effect[:, None]
    return rows, columns, solution.gradient_norm, n_iter


_compiled_descent: Any = compiled(by_descent, static_argnums=(1, 2, 3))
