"""Hand's H as a function of the vertices of the convex hull of a ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import xlog1py, xlogy
from jaxtyping import Array, Bool, Float, Int

from dmfroc.measures._areas import OperatingPoints, Parameters, divide

_BETA_TOLERANCE = 1e-15
_BETA_MOST_TERMS = 1000


class _HMeasure:
    """Hand's H from the vertices of the convex hull, for costs from a Beta distribution."""

    def __call__(self, points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
        steps = _hull_steps(points, jnp)
        # The cost at which a step starts to pay minimises the loss: it has no first-order effect.
        costs = lax.stop_gradient(jnp.append(steps.costs, points.prevalence))
        below, cost_below = _beta_moments(costs, parameters)
        mean = parameters[0] / (parameters[0] + parameters[1])
        found = _expected_loss(points.prevalence, mean, steps, below[:-1], cost_below[:-1])
        return 1 - found / _blind_loss(points.prevalence, mean, below[-1], cost_below[-1])

    def value_and_gradient(
        self, points: OperatingPoints, parameters: Parameters
    ) -> tuple[Any, OperatingPoints]:
        from scipy.special import betainc

        a, b = parameters[:2]
        mean, prevalence = a / (a + b), points.prevalence
        steps, total = _hull_steps(points, np), points.tp[-1] + points.fp[-1]
        costs = np.append(steps.costs, prevalence)
        below, cost_below = betainc(a, b, costs), mean * betainc(a + 1, b, costs)
        found = _expected_loss(prevalence, mean, steps, below[:-1], cost_below[:-1])
        blind = _blind_loss(prevalence, mean, below[-1], cost_below[-1])
        of_found, of_blind = -1 / blind, found / blind**2
        of_prevalence = of_found * (1 - mean) + of_blind * (1 - mean - below[-1])
        of_gain = of_found * (cost_below - below)[:-1] / total
        of_loss = of_found * cost_below[:-1] / total
        of_total = -(of_gain @ steps.gain + of_loss @ steps.loss)
        of_tp, of_fp = (-np.diff(x, prepend=0, append=0) for x in (of_gain, of_loss))
        of_tp[-1] += of_total + of_prevalence * (1 - prevalence) / total
        of_fp[-1] += of_total - of_prevalence * prevalence / total
        return float(1 - found / blind), OperatingPoints(of_tp, of_fp)


h_measure = _HMeasure()
"""Hand's H from the vertices of the convex hull, for costs from a Beta distribution.

The first two parameters are those of the distribution of the cost of a false positive, as a
share of the costs of both errors; the third is the logarithm of their beta function.
"""


class _HullSteps(NamedTuple):
    gain: Any  # in proportions of all observations
    loss: Any
    costs: Any  # from which on a step does not pay


def _hull_steps(hull: OperatingPoints, numpy: Any) -> _HullSteps:
    # Differences of the weights, which are exactly 0 where a vertex is repeated; compiled
    # differences of rates need not be.
    total = hull.tp[-1] + hull.fp[-1]
    gain, loss = numpy.diff(hull.tp) / total, numpy.diff(hull.fp) / total
    # Rounding in the sums of real weights can leave a step of the size of itself.
    return _HullSteps(gain, loss, numpy.clip(divide(gain, gain + loss, numpy), 0, 1))


def _expected_loss(
    prevalence: Any, mean: Any, steps: _HullSteps, below: Any, cost_below: Any
) -> Any:
    """Return the loss at the best threshold for each cost.

    Without any positive prediction it is that of all misses; each step of the hull reduces it
    where false positives cost less than the step gains.
    """
    saved = steps.gain * (below - cost_below) - steps.loss * cost_below
    return prevalence * (1 - mean) - saved.sum()


def _blind_loss(prevalence: Any, mean: Any, below: Any, cost_below: Any) -> Any:
    """Return the loss of predicting the same class for all."""
    only_step = _HullSteps(prevalence, 1 - prevalence, prevalence)
    return _expected_loss(prevalence, mean, only_step, below, cost_below)


def _beta_moments(
    x: Float[Array, " x"], parameters: Parameters
) -> tuple[Float[Array, " x"], Float[Array, " x"]]:
    """Return the integrals from 0 to x of a Beta density and of its argument times the density."""
    a, b, log_beta = parameters
    term = jnp.exp(xlogy(a, x) + xlog1py(b, -x) - log_beta)
    # The continued fraction converges fast on this side of the mean, and mirrored on the other.
    is_low = x < (a + 1) / (a + b + 2)
    first, second = jnp.where(is_low, a, b), jnp.where(is_low, b, a)
    tail = term / first * _beta_fraction(first, second, jnp.where(is_low, x, 1 - x))
    below = jnp.where(is_low, tail, 1 - tail)
    return below, (a * below - term) / (a + b)


def _beta_fraction(
    a: Float[Array, " x"], b: Float[Array, " x"], x: Float[Array, " x"]
) -> Float[Array, " x"]:
    """Return the continued fraction of the incomplete beta function (Lentz's method).

    JAX's own function takes several times longer to compile and to run.
    """

    class State(NamedTuple):
        fraction: Float[Array, " x"]
        c: Float[Array, " x"]
        d: Float[Array, " x"]
        m: Int[Array, ""]
        is_changing: Bool[Array, ""]

    def advance(state: State, numerator: Array) -> State:
        c, d = 1 + numerator / state.c, 1 / (1 + numerator * state.d)
        return state._replace(fraction=state.fraction * c * d, c=c, d=d)

    def two_terms(state: State) -> State:
        m = state.m
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        new = advance(advance(state, even), odd)
        change = jnp.abs(new.c * new.d - 1)
        return new._replace(m=m + 1, is_changing=(change > _BETA_TOLERANCE).any())

    def goes_on(state: State) -> Array:
        return state.is_changing & (state.m < _BETA_MOST_TERMS)

    ones = jnp.ones_like(x)
    d = 1 / (1 - (a + b) * x / (a + 1))
    start = State(d, ones, d, jnp.asarray(1), jnp.asarray(True))
    return lax.while_loop(goes_on, two_terms, start).fraction
