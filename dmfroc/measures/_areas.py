"""Areas of one class against the rest, from the cumulative weights of its ROC curve.

Each is a function of the operating points of one curve and of three parameters, of which most use
none. Runs of tied scores are single points that are repeated, so that steps can have no length.

Most add up what the steps between neighbouring points contribute. Their derivative is that of one
step, taken for all steps at once, which XLA compiles several times faster than that of the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import xlog1py, xlogy
from jaxtyping import Array, Bool, Float, Int

Parameters = Float[Array, "3"]
Area = Callable[["OperatingPoints", Parameters], Float[Array, ""]]

# Closer to 0 than this, log1p(z)/z and what follows from it come from their series.
_SMALL = 1e-3
_BETA_TOLERANCE = 1e-15
_BETA_MOST_TERMS = 1000


class OperatingPoints(NamedTuple):
    """Weights of the true and false positives above each threshold, from none to all."""

    tp: Float[Array, " points"]
    fp: Float[Array, " points"]

    @property
    def prevalence(self) -> Float[Array, ""]:
        return self.tp[-1] / (self.tp[-1] + self.fp[-1])


@jax.custom_jvp
def _divide(numerator: Float[Array, "*x"], divisor: Float[Array, "*x"]) -> Float[Array, "*x"]:
    """Divide; 0 where the divisor is 0."""
    return jnp.where(divisor == 0, 0, numerator / jnp.where(divisor == 0, 1, divisor))


@_divide.defjvp
def _divide_jvp(
    terms: tuple[Array, Array], changes: tuple[Array, Array]
) -> tuple[Float[Array, "*x"], Float[Array, "*x"]]:
    """Return the quotient and its change, for which the inverse is computed once."""
    numerator, divisor = terms
    inverse = jnp.where(divisor == 0, 0, 1 / jnp.where(divisor == 0, 1, divisor))
    quotient = _divide(numerator, divisor)
    return quotient, (changes[0] - quotient * changes[1]) * inverse


def _means_of_hyperbola(z: Float[Array, "*x"]) -> tuple[Float[Array, "*x"], Float[Array, "*x"]]:
    """Return the means over u in [0, 1] of 1/(1 + uz) and of u/(1 + uz)."""
    is_small = jnp.abs(z) < _SMALL
    large = jnp.where(is_small, 1.0, z)
    constant = _divide(jnp.log1p(large), large)
    linear = _divide(1 - constant, large)
    small = jnp.where(is_small, z, 0.0)
    square = small**2
    # Not by Horner's rule, whose long chain XLA takes many seconds to compile.
    series = (1 / 2 - small / 3) + square * (1 / 4 - small / 5) + square**2 / 6
    return (
        jnp.where(is_small, 1 - small * series, constant),
        jnp.where(is_small, series, linear),
    )


def _mean_ratio(
    numerator: tuple[Float[Array, "*x"], Float[Array, "*x"]],
    divisor: tuple[Float[Array, "*x"], Float[Array, "*x"]],
    ratio_at_end: Float[Array, "*x"],
) -> Float[Array, "*x"]:
    """Return the mean, from start to end of a step, of a ratio whose two terms are linear.

    Where the divisor starts at 0 the numerator must do so too: the ratio is constant.
    """
    (top, top_end), (start, end) = numerator, divisor
    constant, linear = _means_of_hyperbola(_divide(end - start, start))
    inside = _divide(top * constant + (top_end - top) * linear, start)
    return jnp.where(start == 0, ratio_at_end, inside)


class Step(NamedTuple):
    """The weights above two neighbouring thresholds, and of all positives and negatives."""

    tp: Float[Array, "*x"]
    tp_end: Float[Array, "*x"]
    fp: Float[Array, "*x"]
    fp_end: Float[Array, "*x"]
    positives: Float[Array, "*x"]
    negatives: Float[Array, "*x"]


def _steps(points: OperatingPoints) -> Step:
    tp, fp = points
    return Step(tp[:-1], tp[1:], fp[:-1], fp[1:], tp[-1], fp[-1])


_OverSteps = Step(0, 0, 0, 0, None, None)  # type: ignore[arg-type]  # axes for vmap
_Contribution = Callable[[Step, Parameters], Float[Array, ""]]
_Finish = Callable[[Array, Array, Array, Parameters], Float[Array, ""]]


@dataclass(frozen=True)
class _SumOfSteps:
    """The area ``finish(total, positives, negatives, parameters)`` from the steps' total."""

    of_step: _Contribution
    finish: _Finish

    def __call__(self, points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
        return _sum_of_steps(self, points, parameters)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sum_of_steps(
    area: _SumOfSteps, points: OperatingPoints, parameters: Parameters
) -> Float[Array, ""]:
    steps = _steps(points)
    total = jax.vmap(area.of_step, (_OverSteps, None))(steps, parameters).sum()
    return area.finish(total, steps.positives, steps.negatives, parameters)


def _sum_of_steps_forward(
    area: _SumOfSteps, points: OperatingPoints, parameters: Parameters
) -> tuple[Float[Array, ""], tuple[OperatingPoints, Parameters]]:
    steps = _steps(points)
    of_steps, of_step = jax.vmap(jax.value_and_grad(area.of_step), (_OverSteps, None))(
        steps, parameters
    )
    value, (of_total, of_positives, of_negatives) = jax.value_and_grad(area.finish, (0, 1, 2))(
        of_steps.sum(), steps.positives, steps.negatives, parameters
    )

    def of_points(start: Array, end: Array, of_all: Array, last: Array) -> Array:
        last = last + of_total * of_all.sum()
        return of_total * (jnp.append(start, 0) + jnp.append(0, end)) + jnp.append(
            jnp.zeros(len(start)), last
        )

    gradient = OperatingPoints(
        of_points(of_step.tp, of_step.tp_end, of_step.positives, of_positives),
        of_points(of_step.fp, of_step.fp_end, of_step.negatives, of_negatives),
    )
    return value, (gradient, jnp.zeros_like(parameters))


def _sum_of_steps_backward(
    area: _SumOfSteps, gradient: tuple[OperatingPoints, Parameters], cotangent: Float[Array, ""]
) -> Any:
    del area
    return jax.tree.map(lambda leaf: cotangent * leaf, gradient)


_sum_of_steps.defvjp(_sum_of_steps_forward, _sum_of_steps_backward)


def _under_line(step: Step, parameters: Parameters) -> Float[Array, ""]:
    height = step.tp + parameters[0] * (step.tp_end - step.tp)
    return height * ((step.fp_end - step.fp) + parameters[1] * (step.tp_end - step.tp))


def _linear_area(
    total: Array, positives: Array, negatives: Array, parameters: Parameters
) -> Float[Array, ""]:
    area = total / (positives * (negatives + parameters[1] * positives))
    return parameters[2] * area + (1 - parameters[2])


linear_area = _SumOfSteps(_under_line, _linear_area)
"""Area under the true positive rate, over the false or over all predicted positive ones.

The first parameter is what ties count: 0, 1/2 or 1; the second is 0 for the ROC area and 1 for the
area under the lift curve; the third is 1, or 2 for twice the area less one (Gini).
"""


def _up_to_limit(step: Step, parameters: Parameters) -> Float[Array, ""]:
    rise, width = step.tp_end - step.tp, step.fp_end - step.fp
    left = parameters[0] * step.negatives - step.fp
    # Not `clip`: one of the steps that meet at the limit has the derivative with respect to it.
    inside = jnp.where(left <= 0, 0, jnp.where(left > width, width, left))
    return inside * (step.tp + _divide(rise * inside, width) / 2)


def _standardised(
    total: Array, positives: Array, negatives: Array, parameters: Parameters
) -> Float[Array, ""]:
    limit = parameters[0]
    area, chance = total / (positives * negatives), limit**2 / 2
    return (1 + (area - chance) / (limit - chance)) / 2


partial_area = _SumOfSteps(_up_to_limit, _standardised)
"""McClish's standardised area up to the false positive rate of the first parameter."""


def _under_kappa(step: Step, parameters: Parameters) -> Float[Array, ""]:
    positives, negatives = step.positives, step.negatives

    def terms(tp: Array, fp: Array) -> tuple[Array, Array]:
        """Return what kappa is the ratio of."""
        informed = tp * negatives - fp * positives
        expected = positives * (positives + negatives) + (tp + fp) * (negatives - positives)
        return 2 * informed, expected

    (top, start), (top_end, end) = terms(step.tp, step.fp), terms(step.tp_end, step.fp_end)
    at_end = _divide(top_end, end)
    between = (_divide(top, start) + at_end) / 2
    along = _mean_ratio((top, top_end), (start, end), at_end)
    return jnp.where(parameters[0] == 1, between, along) * (step.fp_end - step.fp)


kappa_area = _SumOfSteps(
    _under_kappa, lambda total, positives, negatives, parameters: total / negatives
)
"""Area under Cohen's kappa over the false positive rate, along the interpolated ROC curve.

With a first parameter of 1 kappa itself is interpolated, from point to point.
"""


def max_informedness(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Largest difference of true and false positive rate (Youden's J)."""
    return (points.tp / points.tp[-1] - points.fp / points.fp[-1]).max()


def _under_precision(step: Step, parameters: Parameters) -> Float[Array, ""]:
    start, end = step.tp + step.fp, step.tp_end + step.fp_end
    at_end = _divide(step.tp_end, end)
    along = _mean_ratio((step.tp, step.tp_end), (start, end), at_end)
    return jnp.where(parameters[0] == 1, at_end, along) * (step.tp_end - step.tp)


precision_area = _SumOfSteps(
    _under_precision, lambda total, positives, negatives, parameters: total / positives
)
"""Area under the precision-recall curve with counts, not rates, linear between points.

With a first parameter of 1, average precision: the mean over the positives of the precision at
their score.
"""


def _under_gain(step: Step, parameters: Parameters) -> Float[Array, ""]:
    all_positive = step.positives
    odds = all_positive / step.negatives
    # True positives at recall gain 0
    crossing = all_positive * all_positive / (all_positive + step.negatives)
    first = jnp.clip(crossing, step.tp, step.tp_end)
    skipped = _divide((first - step.tp) * (step.fp_end - step.fp), step.tp_end - step.tp)
    is_inside = first >= crossing
    of_first = _divide(odds, jnp.where(is_inside, first, all_positive))
    of_last = _divide(odds, jnp.where(is_inside, step.tp_end, all_positive))
    first_gain = 1 - of_first * (step.fp + skipped)
    last_gain = 1 - of_last * step.fp_end
    width = all_positive * (of_first - of_last)
    signed = (first_gain + last_gain) / 2
    squares = jnp.maximum(last_gain, 0) ** 2 - jnp.maximum(first_gain, 0) ** 2
    crosses = first_gain * last_gain < 0
    fall = jnp.where(crosses, last_gain - first_gain, 1)
    clipped = jnp.where(crosses, _divide(squares, 2 * fall), jnp.maximum(signed, 0))
    height = jnp.where(parameters[0] == 1, clipped, signed)
    return jnp.where(is_inside, width * height, 0)


precision_recall_gain_area = _SumOfSteps(
    _under_gain, lambda total, positives, negatives, parameters: total
)
"""Area under the precision-recall-gain curve from recall gain 0 to 1.

With a first parameter of 1, negative precision gain counts as 0.
"""


def h_measure(hull: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Hand's H from the vertices of the convex hull, for costs from a Beta distribution.

    The first two parameters are those of the distribution of the cost of a false positive, as a
    share of the costs of both errors; the third is the logarithm of their beta function.
    """
    prevalence, mean = hull.prevalence, parameters[0] / (parameters[0] + parameters[1])
    # Differences of the weights, which are exactly 0 where a vertex is repeated; compiled
    # differences of rates need not be.
    total = hull.tp[-1] + hull.fp[-1]
    gain, loss = jnp.diff(hull.tp) / total, jnp.diff(hull.fp) / total
    # Rounding in the sums of real weights can leave a step of the size of itself.
    slopes = jnp.clip(_divide(gain, gain + loss), 0, 1)
    costs = lax.stop_gradient(jnp.append(slopes, prevalence))
    # The cost at which a step starts to pay minimises the loss: it has no first-order effect.
    below, cost_below = _beta_moments(costs, parameters)

    def expected_loss(gain: Array, loss: Array, below: Array, cost_below: Array) -> Array:
        # Without any positive prediction the loss is that of all misses; each step of the hull
        # reduces it where false positives cost less than the step gains.
        saved = gain * (below - cost_below) - loss * cost_below
        return prevalence * (1 - mean) - saved.sum()

    found = expected_loss(gain, loss, below[:-1], cost_below[:-1])
    blind = expected_loss(prevalence, 1 - prevalence, below[-1], cost_below[-1])
    return 1 - found / blind


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
