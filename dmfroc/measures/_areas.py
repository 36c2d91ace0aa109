"""Areas of one class against the rest, from the cumulative weights of its ROC curve.

Each is a function of the operating points of one curve and of three parameters, of which most use
none. Runs of tied scores are single points that are repeated, so that steps can have no length.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy.special import betainc, betaln, xlog1py, xlogy
from jaxtyping import Array, Float

Parameters = Float[Array, "3"]

# Closer to 0 than this, log1p(z)/z and what follows from it come from their series.
_SMALL = 1e-3


class OperatingPoints(NamedTuple):
    """Weights of the true and false positives above each threshold, from none to all."""

    tp: Float[Array, " points"]
    fp: Float[Array, " points"]

    @property
    def prevalence(self) -> Float[Array, ""]:
        return self.tp[-1] / (self.tp[-1] + self.fp[-1])


def _divide(numerator: Float[Array, "*x"], divisor: Float[Array, "*x"]) -> Float[Array, "*x"]:
    """Divide; 0 where the divisor is 0."""
    return jnp.where(divisor == 0, 0, numerator / jnp.where(divisor == 0, 1, divisor))


def _means_of_hyperbola(z: Float[Array, "*x"]) -> tuple[Float[Array, "*x"], Float[Array, "*x"]]:
    """Return the means over u in [0, 1] of 1/(1 + uz) and of u/(1 + uz)."""
    is_small = jnp.abs(z) < _SMALL
    large = jnp.where(is_small, 1.0, z)
    constant = jnp.log1p(large) / large
    linear = (1 - constant) / large
    small = jnp.where(is_small, z, 0.0)
    square = small**2
    # Not by Horner's rule, whose long chain XLA takes many seconds to compile.
    series = (1 / 2 - small / 3) + square * (1 / 4 - small / 5) + square**2 / 6
    return (
        jnp.where(is_small, 1 - small * series, constant),
        jnp.where(is_small, series, linear),
    )


def _mean_ratio(
    numerator: Float[Array, " points"], divisor: Float[Array, " points"]
) -> Float[Array, " steps"]:
    """Return the mean, along each step, of a ratio whose two terms are linear.

    Where the divisor starts at 0 the numerator must do so too: the ratio is constant.
    """
    start, rise = divisor[:-1], jnp.diff(divisor)
    constant, linear = _means_of_hyperbola(_divide(rise, start))
    inside = _divide(numerator[:-1] * constant + jnp.diff(numerator) * linear, start)
    return jnp.where(start == 0, _divide(jnp.diff(numerator), rise), inside)


def roc_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Area under the ROC curve; ties count by the first parameter: 0, 1/2 or 1."""
    tp, fp = points
    height = tp[:-1] + parameters[0] * jnp.diff(tp)
    return (height * jnp.diff(fp)).sum() / (tp[-1] * fp[-1])


def gini(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Twice the area between the ROC curve and the diagonal; ties as in `roc_area`."""
    return 2 * roc_area(points, parameters) - 1


def partial_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """McClish's standardised area up to the false positive rate of the first parameter."""
    limit = parameters[0]
    tpr, fpr = points.tp / points.tp[-1], points.fp / points.fp[-1]
    rise, width = jnp.diff(points.tp) / points.tp[-1], jnp.diff(points.fp) / points.fp[-1]
    inside = jnp.clip(limit - fpr[:-1], 0, width)
    heights = tpr[:-1] + _divide(rise * inside, width) / 2
    area = (inside * heights).sum()
    chance = limit**2 / 2
    return (1 + (area - chance) / (limit - chance)) / 2


def kappa_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Area under Cohen's kappa over the false positive rate, along the interpolated ROC curve.

    With a first parameter of 1 kappa itself is interpolated, from point to point.
    """
    tp, fp = points
    prevalence = points.prevalence
    informedness = tp / tp[-1] - fp / fp[-1]
    bias = (tp + fp) / (tp[-1] + fp[-1])
    covariance = prevalence * (1 - prevalence) * informedness
    divisor = prevalence / 2 + bias * (0.5 - prevalence)
    kappa = covariance / divisor
    between = (kappa[:-1] + kappa[1:]) / 2
    along = _mean_ratio(covariance, divisor)
    mean = jnp.where(parameters[0] == 1, between, along)
    return (mean * jnp.diff(fp)).sum() / fp[-1]


def max_informedness(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Largest difference of true and false positive rate (Youden's J)."""
    return (points.tp / points.tp[-1] - points.fp / points.fp[-1]).max()


def average_precision(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Mean over the positives of the precision at their score."""
    tp, fp = points
    precision = _divide(tp[1:], tp[1:] + fp[1:])
    return (precision * jnp.diff(tp)).sum() / tp[-1]


def precision_recall_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Area under the precision-recall curve with counts, not rates, linear between points."""
    tp, fp = points
    return (_mean_ratio(tp, tp + fp) * jnp.diff(tp)).sum() / tp[-1]


def precision_recall_gain_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Area under the precision-recall-gain curve from recall gain 0 to 1.

    With a first parameter of 1, negative precision gain counts as 0.
    """
    tp, fp = points
    odds = tp[-1] / fp[-1]
    crossing = points.prevalence * tp[-1]  # true positives at recall gain 0
    first = jnp.clip(crossing, tp[:-1], tp[1:])
    skipped = _divide((first - tp[:-1]) * jnp.diff(fp), jnp.diff(tp))
    is_inside = first >= crossing
    first_tp = jnp.where(is_inside, first, tp[-1])
    first_gain = 1 - odds * (fp[:-1] + skipped) / first_tp
    last_tp = jnp.where(is_inside, tp[1:], tp[-1])
    last_gain = 1 - odds * fp[1:] / last_tp
    width = odds * (tp[-1] / first_tp - tp[-1] / last_tp)
    signed = (first_gain + last_gain) / 2
    squares = jnp.maximum(last_gain, 0) ** 2 - jnp.maximum(first_gain, 0) ** 2
    crosses = first_gain * last_gain < 0
    fall = jnp.where(crosses, last_gain - first_gain, 1)
    clipped = jnp.where(crosses, squares / (2 * fall), jnp.maximum(signed, 0))
    height = jnp.where(parameters[0] == 1, clipped, signed)
    return (width * height).sum(where=is_inside)


def lift_area(points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Area under recall over the predicted positive rate; ties as in `roc_area`."""
    tp, fp = points
    height = tp[:-1] + parameters[0] * jnp.diff(tp)
    return (height * jnp.diff(tp + fp)).sum() / (tp[-1] * (tp[-1] + fp[-1]))


def h_measure(hull: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
    """Hand's H from the vertices of the convex hull, for costs from a Beta distribution.

    The first two parameters are those of the distribution of the cost of a false positive, as a
    share of the costs of both errors; the third is its mean.
    """
    prevalence = hull.prevalence
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
        return prevalence * (1 - parameters[2]) - saved.sum()

    found = expected_loss(gain, loss, below[:-1], cost_below[:-1])
    blind = expected_loss(prevalence, 1 - prevalence, below[-1], cost_below[-1])
    return 1 - found / blind


def _beta_moments(
    x: Float[Array, " x"], parameters: Parameters
) -> tuple[Float[Array, " x"], Float[Array, " x"]]:
    """Return the integrals from 0 to x of a Beta density and of its argument times the density."""
    a, b, mean = parameters
    below = betainc(a, b, x)
    step = jnp.exp(xlogy(a, x) + xlog1py(b, -x) - betaln(a, b)) / a
    return below, mean * (below - step)
