"""Links of rates, their inverses and derivatives: logit, probit and complementary log-log."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray
from dmfroc.multiclass.rank_one import logit

Link = Literal["logit", "probit", "cloglog"]

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
            return logit(rates, xp)
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
            hazard = xp.exp(xp.clip(eta, -700, 700))
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
