"""The rank-one model of rates under other links than the logit: probit and complementary log-log.

The logit has its own solver, `dmfroc.multiclass.center`, whose steps need no trial.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray
from dmfroc.multiclass.rank_one import Center, drawn_in

Link = Literal["logit", "probit", "cloglog"]

_TOLERANCE = 1e-9  # of derivatives, relative to the weight of their row or column
_MAX_SWEEPS = 1000
_MAX_HALVINGS = 60
_ROUNDING = 1e-13  # by which an objective may rise

type _Cells = Float[AnyArray, " *cells"]


def _special(xp: Any) -> Any:
    """Return the special functions of the namespace; importing those of SciPy takes long."""
    if xp is np:
        from scipy import special
    else:
        from jax.scipy import special
    return special


def link_of(rates: _Cells, link: Link, xp: Any = np) -> _Cells:
    """Return the rates on the scale of the link."""
    match link:
        case "logit":
            return _special(xp).logit(rates)
        case "probit":
            return _special(xp).ndtri(rates)
        case "cloglog":
            return xp.log(-xp.log1p(-rates))


def log_rates(eta: _Cells, link: Link, xp: Any = np) -> tuple[_Cells, _Cells]:
    """Return the logarithms of the rates and of one minus them, accurate in both tails."""
    match link:
        case "logit":
            return -xp.logaddexp(0, -eta), -xp.logaddexp(0, eta)
        case "probit":
            return _special(xp).log_ndtr(eta), _special(xp).log_ndtr(-eta)
        case "cloglog":
            hazard = xp.exp(xp.minimum(eta, 700))
            return xp.log(-xp.expm1(-hazard)), -hazard


def log_slope(eta: _Cells, link: Link, xp: Any = np) -> _Cells:
    """Return the logarithm of the derivative of the rates."""
    match link:
        case "logit":
            return -xp.logaddexp(0, -eta) - xp.logaddexp(0, eta)
        case "probit":
            return -(eta**2) / 2 - np.log(2 * np.pi) / 2
        case "cloglog":
            return eta - xp.exp(xp.minimum(eta, 700))


def fit_with_link(
    rates: Float[np.ndarray, " q *row"],
    weights: Float[np.ndarray, " #q *#row"],
    shrinkage: float,
    link: Link,
) -> Center:
    """Fit ``link(E[M]) = row_effect * column_effect`` by alternating Fisher scoring.

    Minimises what `dmfroc.multiclass.center.center` does, under another link: convex in the row
    effects and in the column effects, whose steps are halved until none makes it rise.

    Parameters
    ----------
    rates, weights, shrinkage
        As for `dmfroc.multiclass.center.center`; the shrinkage must be positive.
    link : {"logit", "probit", "cloglog"}
        Link function.

    Returns
    -------
    Center
        Effects on the scale of the link.
    """
    rates = drawn_in(rates)
    weights = np.broadcast_to(weights, rates.shape)
    rows = tuple(range(1, rates.ndim))

    def as_columns(x: Float[np.ndarray, " q"]) -> _Cells:
        return x.reshape(-1, *(1,) * (rates.ndim - 1))

    def losses(eta: _Cells) -> _Cells:
        log_p, log_q = log_rates(eta, link)
        return -weights * (rates * log_p + (1 - rates) * log_q)

    def of_row_effect(
        v: Float[np.ndarray, " q *ones"], row_effect: Float[np.ndarray, "*row"]
    ) -> Float[np.ndarray, "*row"]:
        return losses(row_effect * v).sum(axis=0)

    def of_column_effect(
        row_effect: Float[np.ndarray, "*row"], v: Float[np.ndarray, " q"]
    ) -> Float[np.ndarray, " q"]:
        derivative: np.ndarray = losses(row_effect * as_columns(v)).sum(axis=rows)
        return derivative + shrinkage * (v - np.log(v))

    def derivatives(eta: _Cells) -> tuple[_Cells, _Cells]:
        log_p, log_q = log_rates(eta, link)
        slope = log_slope(eta, link)
        gradient = weights * ((1 - rates) * np.exp(slope - log_q) - rates * np.exp(slope - log_p))
        return gradient, weights * np.exp(2 * slope - log_p - log_q)

    mean = (weights * rates).sum(axis=0) / weights.sum(axis=0)
    row_effect, column_effect = link_of(mean, link), np.ones(len(rates))
    row_weight, column_weight = weights.sum(axis=0), weights.sum(axis=rows) + shrinkage
    gradient_norm, n_sweeps = np.inf, 0
    while gradient_norm > _TOLERANCE and n_sweeps < _MAX_SWEEPS:
        v = as_columns(column_effect)
        of_cells, curvature = derivatives(row_effect * v)
        of_rows = (v * of_cells).sum(axis=0)
        row_effect = _descended(
            row_effect, of_rows / (v**2 * curvature).sum(axis=0), partial(of_row_effect, v)
        )
        of_cells, curvature = derivatives(row_effect * v)
        of_columns = (row_effect * of_cells).sum(axis=rows) + shrinkage * (1 - 1 / column_effect)
        steepness = (row_effect**2 * curvature).sum(axis=rows) + shrinkage / column_effect**2
        column_effect = _descended(
            column_effect,
            of_columns / steepness,
            partial(of_column_effect, row_effect),
            column_effect / 2,
        )
        scale = column_effect.mean()  # leaves the fit as it is, and the prior is least
        row_effect, column_effect = row_effect * scale, column_effect / scale
        gradient_norm = max(
            float((np.abs(of_rows) / row_weight).max()),
            float((np.abs(of_columns) / column_weight).max()),
        )
        n_sweeps += 1
    return Center(row_effect, column_effect, np.asarray(gradient_norm), np.asarray(n_sweeps))


def _descended(
    x: _Cells, step: _Cells, objective: Callable[[_Cells], _Cells], longest: _Cells | float = np.inf
) -> _Cells:
    """Return where separate convex objectives are no larger, going back along a descent."""
    step, start = np.clip(step, -longest, longest), objective(x)
    for _ in range(_MAX_HALVINGS):
        rises = objective(x - step) > start + _ROUNDING * np.abs(start)
        if not rises.any():
            break
        step = np.where(rises, step / 2, step)
    return x - step
