"""Influences: standard errors and intervals of any function of the weights.

The gradient of a measure with respect to the weight of an observation, times that weight, is the
observation's influence. Observations are independent and the class sizes are taken as fixed, so
that the variance is a sum over classes. For Hand and Till's M it is DeLong's variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri, stdtr, stdtrit

from dmfroc.measures.measure import BoundMeasures, Measure, within
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.scale import IDENTITY, scale_of
from dmfroc.uncertainty.units import Units

# Rounding leaves a perfect classifier with influences of about 1e-13 instead of none.
NO_VARIATION = 1e-10


class Influences(NamedTuple):
    """A measure's value and what each observation contributes to it."""

    value: float
    influences: Float[np.ndarray, " n"]


def influences_of(
    measures: Sequence[Measure], bound: BoundMeasures, predictions: Predictions
) -> list[Influences]:
    """Return the value of each of the measures that are bound, and all influences on it."""
    weights = predictions.sample_weight
    values, gradients = bound.values_and_gradients(weights)
    return [
        Influences(float(within(value, measure.bounds)), gradient * weights)
        for measure, value, gradient in zip(measures, values, gradients, strict=True)
    ]


class Moments(NamedTuple):
    """Number of units, variance and excess kurtosis of the influences in each stratum."""

    sizes: Int[np.ndarray, " s"]
    variances: Float[np.ndarray, " s"]
    kurtoses: Float[np.ndarray, " s"]
    n_complete_sets: float | int

    @property
    def pooled(self) -> float:
        """Variance over all strata, each about its own mean."""
        return float((self.sizes - 1) @ self.variances / max((self.sizes - 1).sum(), 1))

    def beside(self, other: Moments) -> Moments:
        """Return the moments of a difference between two independent samples."""
        return Moments(
            np.concatenate([self.sizes, other.sizes]),
            np.concatenate([self.variances, other.variances]),
            np.concatenate([self.kurtoses, other.kurtoses]),
            min(self.n_complete_sets, other.n_complete_sets),
        )


def moments_of(influence: Float[np.ndarray, " n"], units: Units) -> Moments:
    """Return the moments of one measure's influences, scaled to single units.

    A stratum with one unit has no variance of its own; it is 0 here.
    """
    sizes, stratum = units.sizes, units.stratum
    scaled = units.sums(influence) * sizes[stratum]

    def mean(x: Float[np.ndarray, " u"]) -> Float[np.ndarray, " s"]:
        return np.bincount(stratum, x) / sizes

    squares = (scaled - mean(scaled)[stratum]) ** 2
    return moments_from_means(sizes, mean(squares), mean(squares**2), units.n_complete_sets)


def moments_from_means(
    sizes: Int[np.ndarray, " s"],
    second: Float[np.ndarray, " s"],
    fourth: Float[np.ndarray, " s"],
    n_complete_sets: float | int,
) -> Moments:
    """Return moments from the means of the second and fourth powers about the mean."""
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtoses = np.where(second > 0, fourth / second**2 - 3, 0.0)
    variances = second * sizes / np.maximum(sizes - 1, 1)
    return Moments(sizes, variances, kurtoses, n_complete_sets)


def standard_error(moments: Moments) -> float:
    """Return the standard error; a stratum with one unit lends the pooled variance."""
    variances = np.where(moments.sizes == 1, moments.pooled, moments.variances)
    return float(np.sqrt((variances / moments.sizes).sum()))


class Spread(NamedTuple):
    """Scale and degrees of freedom of the t distribution on which intervals rest."""

    scale: float
    degrees_of_freedom: float


def spread(moments: Moments) -> Spread:
    """Return the t distribution's scale and degrees of freedom.

    Every stratum's variance is drawn towards the pooled one by one pseudo-observation, without
    which a class of three cases has an interval that covers 65 % instead of 95 %. The degrees of
    freedom are Satterthwaite's, each variance being as uncertain as the kurtosis of its
    influences makes it; the pseudo-observation adds one.
    """
    sizes = moments.sizes
    variances = ((sizes - 1) * moments.variances + moments.pooled) / sizes
    parts = variances / sizes
    total = parts.sum()
    if total == 0:
        return Spread(0.0, np.inf)
    others = np.maximum(sizes - 1, 1)
    excess = np.maximum(moments.kurtoses, 0)
    own_freedom = np.where(sizes > 1, 2 / (excess / sizes + 2 / others), 0.0)
    # Without excess kurtosis n^2 / (n - 1), because the own variance's share is only (n - 1) / n.
    freedom = (1 + own_freedom) * sizes / others
    return Spread(float(np.sqrt(total)), float(total**2 / (parts**2 / freedom).sum()))


def quantile_in_standard_errors(moments: Moments, level: float) -> float:
    """Return the half-width of an interval in standard errors: 1.96 or more for 95 %."""
    scale, freedom = spread(moments)
    error = standard_error(moments)
    if error == 0:
        return float(ndtri((1 + level) / 2))
    return float(stdtrit(freedom, (1 + level) / 2)) * scale / error


@dataclass(frozen=True)
class Interval:
    """A confidence interval and whether the sample showed any variation at all."""

    low: float
    high: float
    is_degenerate: bool = False


def interval(
    value: float,
    moments: Moments,
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
    if scale <= NO_VARIATION * (high - low if np.isfinite(high - low) else max(1, abs(value))):
        return without_variation(value, moments.n_complete_sets, level, bounds)
    quantile = stdtrit(freedom, (1 + level) / 2)
    to_scale = scale_of(bounds) if symmetric_on_line and low < value < high else IDENTITY
    half_width = quantile * scale * to_scale.slope(value)
    ends = to_scale.from_line(to_scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), low), min(float(ends[1]), high))


def without_variation(
    value: float, n_sets: float | int, level: float, bounds: tuple[float, float]
) -> Interval:
    """Return an interval where every observation has the same influence.

    Take disjoint sets of units with every class, as many as there are units with the rarest
    (weighted ones count by Kish's effective number): each showed exactly ``value``. By Clopper and
    Pearson's exact bound the probability p of such a set is at least (1 - level)^(1/m); in the
    remaining 1 - p the measure may be anywhere in its range. For a perfect classifier this is
    one-sided: close to 1 - 3/m, the rule of three.
    """
    low, high = bounds
    p = (1 - level) ** (1 / n_sets)
    return Interval(p * value + (1 - p) * low, p * value + (1 - p) * high, is_degenerate=True)


def two_sided_p_value(difference: float, moments: Moments) -> float:
    """Return the p-value of a difference of zero."""
    scale, freedom = spread(moments)
    if scale <= NO_VARIATION:
        # The level at which the interval without variation would just reach zero.
        return float((1 / (1 + abs(difference))) ** moments.n_complete_sets)
    return float(2 * stdtr(freedom, -abs(difference) / scale))


def probability_above(threshold: float, difference: float, moments: Moments) -> float:
    """Return the probability that the true difference exceeds the threshold."""
    scale, freedom = spread(moments)
    excess = difference - threshold
    if scale <= NO_VARIATION:
        p_value = two_sided_p_value(excess, moments)
        return 0.5 + 0.5 * float(np.sign(excess)) * (1 - p_value)
    return float(stdtr(freedom, excess / scale))
