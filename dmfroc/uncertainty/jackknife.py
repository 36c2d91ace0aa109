"""Infinitesimal jackknife: standard errors and intervals of any function of the weights.

The gradient of a measure with respect to the weight of an observation, times that weight, is the
observation's influence. Observations are independent and the class sizes are taken as fixed, so
that the variance is a sum over classes. For Hand and Till's M it is DeLong's variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int
from scipy.special import stdtr, stdtrit

from dmfroc._backend import double_precision, share
from dmfroc.measures.base import BoundMeasure
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.scale import IDENTITY, scale_of

_COTANGENTS_PER_BATCH = 8
# Rounding leaves a perfect classifier with influences of about 1e-13 instead of none.
_NO_VARIATION = 1e-10


class Influences(NamedTuple):
    """A measure's values and what each observation contributes to them."""

    values: Float[np.ndarray, "*value"]
    influences: Float[np.ndarray, "*value n"]


@double_precision
def influences_of(bound: BoundMeasure, predictions: Predictions) -> Influences:
    """Return the values of a bound measure and the influence of every observation on each."""
    values, influences = _influences(bound, share(predictions.sample_weight))
    return Influences(np.asarray(values), np.asarray(influences))


@jax.jit
def _influences(
    bound: BoundMeasure, weights: Float[Array, " n"]
) -> tuple[Float[Array, "*value"], Float[Array, "*value n"]]:
    values, pull_back = jax.vjp(bound, weights)
    if values.ndim == 0:
        return values, pull_back(jnp.ones(()))[0] * weights
    # Full batches only: a smaller last one would be compiled for itself.
    n_batches = -(-values.size // _COTANGENTS_PER_BATCH)
    directions = jnp.eye(n_batches * _COTANGENTS_PER_BATCH, values.size)
    gradients = lax.map(
        jax.vmap(lambda direction: pull_back(direction)[0]),
        directions.reshape(n_batches, _COTANGENTS_PER_BATCH, *values.shape),
    )
    gradients = gradients.reshape(-1, len(weights))[: values.size]
    return values, gradients.reshape(*values.shape, -1) * weights


class ClassMoments(NamedTuple):
    """Sample size, variance and excess kurtosis of the influences within each class."""

    sizes: Int[np.ndarray, " c"]
    variances: Float[np.ndarray, " c"]
    kurtoses: Float[np.ndarray, " c"]

    @property
    def pooled(self) -> float:
        """Variance over all classes, each about its own mean."""
        return float((self.sizes - 1) @ self.variances / max((self.sizes - 1).sum(), 1))


def class_moments(influence: Float[np.ndarray, " n"], predictions: Predictions) -> ClassMoments:
    """Return the moments of one measure's influences, scaled to single observations.

    A class with one observation has no variance of its own; it is 0 here.
    """
    classes = predictions.true
    sizes = predictions.class_counts
    scaled = influence * sizes[classes]

    def mean(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
        return np.bincount(classes, x, minlength=len(sizes)) / np.maximum(sizes, 1)

    squares = (scaled - mean(scaled)[classes]) ** 2
    second, fourth = mean(squares), mean(squares**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtoses = np.where(second > 0, fourth / second**2 - 3, 0.0)
    present = predictions.present
    variances = second * sizes / np.maximum(sizes - 1, 1)
    return ClassMoments(sizes[present], variances[present], kurtoses[present])


def standard_error(moments: ClassMoments) -> float:
    """Return the standard error; a class with one observation lends the pooled variance."""
    variances = np.where(moments.sizes == 1, moments.pooled, moments.variances)
    return float(np.sqrt((variances / moments.sizes).sum()))


class Spread(NamedTuple):
    """Scale and degrees of freedom of the t distribution on which intervals rest."""

    scale: float
    degrees_of_freedom: float


def spread(moments: ClassMoments) -> Spread:
    """Return the t distribution's scale and degrees of freedom.

    Every class variance is drawn towards the pooled one by one pseudo-observation, without which
    a class of three cases has an interval that covers 65 % instead of 95 %. The degrees of
    freedom are Satterthwaite's, each class variance being as uncertain as the kurtosis of its
    influences makes it.
    """
    sizes = moments.sizes
    variances = ((sizes - 1) * moments.variances + moments.pooled) / sizes
    parts = variances / sizes
    total = parts.sum()
    if total == 0:
        return Spread(0.0, np.inf)
    excess = np.maximum(moments.kurtoses, 0)
    freedom = 1 + np.where(sizes > 1, 2 / (excess / sizes + 2 / np.maximum(sizes - 1, 1)), 0.0)
    return Spread(float(np.sqrt(total)), float(total**2 / (parts**2 / freedom).sum()))


@dataclass(frozen=True)
class Interval:
    """A confidence interval and whether the sample showed any variation at all."""

    low: float
    high: float
    is_degenerate: bool = False


def interval(
    value: float,
    moments: ClassMoments,
    level: float,
    bounds: tuple[float, float],
    *,
    symmetric_on_line: bool = True,
) -> Interval:
    """Return the confidence interval of a measure with the given ``bounds``.

    Symmetric on the scale where the range has no ends (`scale_of`), or on the scale of the
    measure itself (differences).
    """
    scale, freedom = spread(moments)
    low, high = bounds
    if scale <= _NO_VARIATION * (high - low if np.isfinite(high - low) else max(1, abs(value))):
        return _without_variation(value, int(moments.sizes.min()), level, bounds)
    quantile = stdtrit(freedom, (1 + level) / 2)
    to_scale = scale_of(bounds) if symmetric_on_line and low < value < high else IDENTITY
    half_width = quantile * scale * to_scale.slope(value)
    ends = to_scale.from_line(to_scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), low), min(float(ends[1]), high))


def _without_variation(
    value: float, smallest_class: int, level: float, bounds: tuple[float, float]
) -> Interval:
    """Return an interval where every observation has the same influence.

    Take disjoint sets of one observation per class: as many as the smallest class has members,
    and each showed exactly ``value``. By Clopper and Pearson's exact bound the probability p of
    such a set is at least (1 - level)^(1/m); in the remaining 1 - p the measure may be anywhere
    in its range. For a perfect classifier this is one-sided: close to 1 - 3/m, the rule of three.
    """
    low, high = bounds
    p = (1 - level) ** (1 / smallest_class)
    return Interval(p * value + (1 - p) * low, p * value + (1 - p) * high, is_degenerate=True)


def two_sided_p_value(difference: float, moments: ClassMoments) -> float:
    """Return the p-value of a difference of zero."""
    scale, freedom = spread(moments)
    if scale <= _NO_VARIATION:
        # The level at which the interval without variation would just reach zero.
        return float((1 / (1 + abs(difference))) ** moments.sizes.min())
    return float(2 * stdtr(freedom, -abs(difference) / scale))


def probability_positive(difference: float, moments: ClassMoments) -> float:
    """Return the probability that the true difference is positive, 1/2 where nothing is known."""
    scale, freedom = spread(moments)
    if scale <= _NO_VARIATION:
        p_value = two_sided_p_value(difference, moments)
        return 0.5 + 0.5 * float(np.sign(difference)) * (1 - p_value)
    return float(stdtr(freedom, difference / scale))
