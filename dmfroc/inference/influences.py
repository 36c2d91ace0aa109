"""Influences: standard errors and intervals of any function of the weights.

The gradient of a measure with respect to the weight of an observation, times that weight, is the
observation's influence. Observations are independent, so that the variance given the class sizes is
a sum over classes. For Hand and Till's M it is DeLong's variance. Where a measure depends on how
frequent the classes are, the influences of a class do not add up to zero: that is what random class
sizes add to the variance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri, stdtr, stdtrit

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.interval import Interval
from dmfroc.inference.lending import lending
from dmfroc.inference.rare_errors import RareErrors
from dmfroc.inference.scale import IDENTITY, Scale, scale_of
from dmfroc.inference.units import EstimatedWeights, Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, within
from dmfroc.results.estimate import ClassSizes, ExactLimit

# Rounding leaves a perfect classifier with influences of about 1e-13 instead of none.
NO_VARIATION = 1e-10
_ROUNDING = 1e-14  # relative to a variance
PERFECT = 1e-6  # the centre of the rates is fitted, and no better than that at its end
_NO_DIFFERENCE = Hypothesis()
_NO_ROOM = 1e-300  # beyond a threshold, where the range ends; not 0, by which nothing is divided


class PartInfluences(NamedTuple):
    """The influences of parts drawn at random, without replacement, from so many."""

    influences: Float[np.ndarray, " u"]
    n_parts: float | int

    def minus(self, other: PartInfluences) -> PartInfluences:
        """Return the influences on the difference of two values, of the same parts."""
        return self._replace(influences=self.influences - other.influences)

    def products(self, other: PartInfluences) -> float:
        """Return the covariance that the draw of the parts gives two values.

        That of totals in a simple random sample, with the correction for a finite population
        (Cochran 1977, Sampling Techniques, section 2.6).
        """
        n = len(self.influences)
        a, b = (x.influences - x.influences.mean() for x in (self, other))
        return float((1 - n / self.n_parts) * n / (n - 1) * (a @ b))


class Influences(NamedTuple):
    """A measure's value and what each observation contributes to it, and each part drawn."""

    value: float
    influences: Float[np.ndarray, " n"]
    of_parts: PartInfluences | None = None


def influences_of(
    measures: Sequence[Measure],
    bound: BoundMeasures,
    predictions: Predictions,
    *,
    allows_for_parts: bool = False,
) -> list[Influences]:
    """Return the value of each of the measures that are bound, and all influences on it.

    Raises
    ------
    ValueError
        If parts of a measure were drawn at random and the caller does not account for that.
    """
    weights = predictions.sample_weight
    parts = bound.sampled_parts(weights)
    if parts is not None and not allows_for_parts:
        raise ValueError(
            f"{measures[0].name} counts a sample of the pairs of classes, whose error is known to "
            "method='jackknife' of evaluate, estimate and compare alone: leave n_pairs out"
        )
    values, gradients = bound.values_and_gradients(weights)
    of_parts: list[PartInfluences | None] = [None] * len(values)
    if parts is not None:
        of_parts = [PartInfluences(x, parts.n_parts) for x in parts.derivatives]
    return [
        Influences(float(within(value, measure.range_in(predictions))), gradient * weights, of_one)
        for measure, value, gradient, of_one in zip(
            measures, values, gradients, of_parts, strict=True
        )
    ]


def through_weights(found: Influences, weights: EstimatedWeights | None) -> Influences:
    """Return influences that also work through estimated weights, beside those of the target."""
    if weights is None:
        return found
    if found.of_parts is not None:
        raise ValueError(
            "estimated weights and a sample of the pairs of classes do not go together: leave "
            "n_pairs out"
        )
    of_rows, of_target = weights.through(found.influences)
    return Influences(found.value, of_rows, PartInfluences(of_target, math.inf))


class Spread(NamedTuple):
    """Scale and degrees of freedom of the t distribution on which intervals rest."""

    scale: float
    degrees_of_freedom: float


def _none() -> Float[np.ndarray, " 0"]:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of units, variance and excess kurtosis of the influences in each stratum.

    If the sizes of the strata are random, also what they add to the variance of the value, of each
    sample, and its degrees of freedom. Likewise if parts of the measure were drawn at random.
    """

    sizes: Int[np.ndarray, " s"]
    variances: Float[np.ndarray, " s"]
    kurtoses: Float[np.ndarray, " s"]
    n_complete_sets: float | int
    of_sizes: Float[np.ndarray, " r"] = field(default_factory=_none)
    freedom_of_sizes: Float[np.ndarray, " r"] = field(default_factory=_none)
    n_means: Int[np.ndarray, " s"] | int = 1
    of_parts: Float[np.ndarray, " p"] = field(default_factory=_none)
    freedom_of_parts: Float[np.ndarray, " p"] = field(default_factory=_none)

    @cached_property
    def own(self) -> Int[np.ndarray, " s"]:
        """Degrees of freedom of each stratum's variance: less than its size by its means."""
        return np.maximum(self.sizes - self.n_means, 0)

    @cached_property
    def freedom(self) -> Float[np.ndarray, " s"]:
        """Degrees of freedom of each stratum's variance, as uncertain as the kurtosis makes it."""
        own, excess = self.own, np.maximum(self.kurtoses, 0)
        return np.where(own > 0, 2 / (excess / self.sizes + 2 / np.maximum(own, 1)), 0.0)

    @cached_property
    def lent(self) -> Float[np.ndarray, " s"]:
        """What the variances of the others say of each stratum's.

        A stratum in which no rare event has occurred is as uncertain as that kurtosis makes it that
        the others have, each as far as it has variance.
        """
        squares, excess = self.own * self.variances, np.maximum(self.kurtoses, 0)
        total = squares.sum()
        common = squares @ excess / total if total > 0 else 0.0
        most_excess = replace(self, kurtoses=np.maximum(excess, common))
        return lending(self.sizes, self.own, self.variances, most_excess.freedom)(self.variances)

    @cached_property
    def spread(self) -> Spread:
        """Scale and degrees of freedom of the t distribution on which intervals rest.

        Every stratum's variance is drawn by one pseudo-observation towards what it borrows from the
        others, `dmfroc.inference.lending`. Without that, a class of three cases has an interval
        that covers 65 % instead of 95 %. The degrees of freedom are Satterthwaite's, each variance
        being as uncertain as the kurtosis of its influences makes it; the pseudo-observation adds
        one. But what few units borrow from each other does not make them more: there are no more
        than those of the variances.
        """
        sizes, own = self.sizes, self.own
        variances = (own * self.variances + self.lent) / (own + 1)
        parts = np.concatenate([variances / sizes, self.of_sizes, self.of_parts])
        total = parts.sum()
        if total == 0:
            return Spread(0.0, np.inf)
        # Without excess kurtosis n^2 / (n - 1): the own variance's share is only (n - 1) / n.
        of_strata = (1 + self.freedom) * (own + 1) / np.maximum(own, 1)
        added = np.concatenate([self.freedom_of_sizes, self.freedom_of_parts])
        found = float(total**2 / (parts**2 / np.concatenate([of_strata, added])).sum())
        at_most = max(own.sum(), 1) + added[parts[len(own) :] > _ROUNDING * total].sum()
        return Spread(float(np.sqrt(total)), float(min(found, at_most)))

    def scaled(self, factor: float) -> Moments:
        """Return the moments of a multiple of the influences."""
        return replace(
            self,
            variances=self.variances * factor**2,
            of_sizes=self.of_sizes * factor**2,
            of_parts=self.of_parts * factor**2,
        )

    def with_parts(self, parts: PartInfluences | None) -> Moments:
        """Return the moments with the variance that the draw of the parts adds."""
        if parts is None:
            return self
        n, variance = len(parts.influences), parts.products(parts)
        fourth = ((parts.influences - parts.influences.mean()) ** 4).mean()
        square = parts.influences.var()
        excess = max(fourth / square**2 - 3, 0.0) if square > 0 else 0.0
        freedom = 2 / (excess / n + 2 / (n - 1))
        return replace(self, of_parts=np.array([variance]), freedom_of_parts=np.array([freedom]))

    def beside(self, other: Moments) -> Moments:
        """Return the moments of a difference between two independent samples."""
        return Moments(
            np.concatenate([self.sizes, other.sizes]),
            np.concatenate([self.variances, other.variances]),
            np.concatenate([self.kurtoses, other.kurtoses]),
            min(self.n_complete_sets, other.n_complete_sets),
            np.concatenate([self.of_sizes, other.of_sizes]),
            np.concatenate([self.freedom_of_sizes, other.freedom_of_sizes]),
            np.concatenate([np.broadcast_to(m.n_means, m.sizes.shape) for m in (self, other)]),
            np.concatenate([self.of_parts, other.of_parts]),
            np.concatenate([self.freedom_of_parts, other.freedom_of_parts]),
        )

    @property
    def given_sizes(self) -> Moments:
        """The same moments if the sizes of the strata are not random."""
        return replace(self, of_sizes=_none(), freedom_of_sizes=_none())

    @cached_property
    def standard_error(self) -> float:
        """The standard error; a stratum with one unit borrows the pooled variance."""
        variances, borrows = self.variances, self.own == 0
        if borrows.any():
            variances = np.where(borrows, self.lent, variances)
        added = self.of_sizes.sum() + self.of_parts.sum()
        return float(np.sqrt((variances / self.sizes).sum() + added))

    @property
    def varies_within_strata(self) -> bool:
        """Whether the influences vary within the strata, beyond rounding."""
        # Borrowing from other classes leaves at least half of each variance
        square = (self.variances / self.sizes).sum() / 2
        return bool(square > NO_VARIATION**2) or self.given_sizes.spread.scale > NO_VARIATION

    @cached_property
    def depends_on_sizes(self) -> bool:
        """Whether random sizes of the strata make a difference, beyond rounding."""
        of_sizes = self.of_sizes.sum()
        return bool(of_sizes > max(_ROUNDING * self.standard_error**2, NO_VARIATION**2))


def moments_of(influence: Float[np.ndarray, " n"], units: Units) -> Moments:
    """Return the moments of one measure's influences, scaled to single units.

    A stratum with one unit has no variance of its own; it is 0 here.
    """
    order = units.by_stratum  # found before the sums, beside which it would take more memory
    return moments_of_sums(units.sums(influence)[None, order], units)[0]


def moments_of_sums(sums: Float[np.ndarray, "r u"], units: Units) -> list[Moments]:
    """Return the moments of several influences, summed over each unit's rows and by stratum."""
    sizes = units.sizes
    shape = (len(sums), len(sizes))
    second, fourth = np.empty(shape), np.empty(shape)
    for stratum, (size, scaled) in enumerate(zip(sizes, units.centred_parts(sums), strict=True)):
        scaled *= size
        scaled *= scaled
        second[:, stratum] = scaled.mean(axis=1)
        fourth[:, stratum] = np.einsum("ru,ru->r", scaled, scaled) / size
    return moments_from_means(second, fourth, units.totals(sums), units)


def moments_from_means(
    second: Float[np.ndarray, "r s"],
    fourth: Float[np.ndarray, "r s"],
    totals: Float[np.ndarray, "r d"],
    units: Units,
) -> list[Moments]:
    """Return the moments of several influences from what is known of them by stratum.

    These are the means of their squares and fourth powers about the mean, scaled to single units,
    and their totals, in each fold where there are folds.
    """
    sizes = units.sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtoses = np.where(second > 0, fourth / second**2 - 3, 0.0)
    own = np.maximum(sizes - units.n_means, 0)
    variances = np.where(own > 0, second * (sizes / np.maximum(own, 1)), 0.0)
    of_sizes, freedom = _moments_of_sizes(totals, units)
    return [
        Moments(sizes, *of_row, units.n_means)
        for of_row in zip(
            variances, kurtoses, itertools.repeat(units.n_complete_sets), of_sizes, freedom
        )
    ]


def _moments_of_sizes(
    totals: Float[np.ndarray, "r d"], units: Units
) -> tuple[Float[np.ndarray, "r k"], Float[np.ndarray, "r k"]]:
    """Return the variance that random sizes of the strata add, and its degrees of freedom.

    Each unit's stratum is drawn: what a unit adds on average is the mean of its stratum, in its
    fold where there are folds.
    """
    if not units.sizes_are_random or len(units.sizes) == 1:
        return np.zeros((len(totals), 0)), np.zeros((len(totals), 0))
    sizes = units.drawn[1]
    n = sizes.sum()
    means = totals / sizes * n
    means -= (means @ sizes)[:, None] / n
    square, fourth = ((means**power @ sizes / n)[:, None] for power in (2, 4))
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtosis = np.where(square > 0, np.maximum(fourth / square**2 - 3, 0), 0.0)
    return square / n, 2 / (kurtosis / n + 2 / (n - 1))


def class_sizes_of(moments: Moments, units: Units) -> ClassSizes:
    """Say whether the error of a value includes the chance in the class sizes."""
    return "random" if moments.depends_on_sizes or len(units.sizes) == 1 else "fixed"


def quantile_in_standard_errors(moments: Moments, level: float) -> float:
    """Return the half-width of an interval in standard errors: 1.96 or more for 95 %."""
    scale, freedom = moments.spread
    error = moments.standard_error
    if error == 0:
        return float(ndtri((1 + level) / 2))
    return float(stdtrit(freedom, (1 + level) / 2)) * scale / error


def interval(
    value: float,
    moments: Moments,
    error: float,
    bounds: tuple[float, float],
    range_of_sizes: tuple[float, float] | None = None,
    *,
    symmetric_on_line: bool = True,
    rare: RareErrors | None = None,
) -> Interval:
    """Return the confidence interval of a measure with the given ``bounds``.

    ``error`` is the probability that it does not cover, 0.05 for 95 %. The interval is symmetric
    on the scale where the range has no ends (`scale_of`), or on the scale of the measure itself
    (differences).

    If the sizes of the strata are random, ``bounds`` are those given the sizes, and
    ``range_of_sizes`` those of any sizes. The interval given the sizes is widened by what these
    add. On the scale where that range has no ends, the squares of the distances of the ends from
    the value are added up (Zou and Donner 2008).

    With ``rare`` the worse limit accounts for errors that the sample does not show, see
    `with_rare_errors`.
    """
    if range_of_sizes is not None and moments.depends_on_sizes:
        given = interval(
            value,
            moments.given_sizes,
            error,
            bounds,
            symmetric_on_line=symmetric_on_line,
            rare=rare,
        )
        [variance], [freedom] = moments.of_sizes, moments.freedom_of_sizes
        low, high = range_of_sizes
        is_inside = symmetric_on_line and low < value < high
        to_scale = scale_of(range_of_sizes) if is_inside else IDENTITY
        added = -stdtrit(freedom, error / 2) * np.sqrt(variance) * to_scale.slope(value)
        place = to_scale.to_line(value)
        with np.errstate(divide="ignore"):  # an end of the range is infinitely far away
            distances = np.hypot(to_scale.to_line([given.low, given.high]) - place, added)
        ends = to_scale.from_line(place + np.array([-1, 1]) * distances)
        return replace(given, low=max(float(ends[0]), low), high=min(float(ends[1]), high))
    low, high = bounds
    if moments.spread.scale <= NO_VARIATION * (
        high - low if np.isfinite(high - low) else max(1, abs(value))
    ):
        return without_variation(value, moments.n_complete_sets, error, bounds, rare)
    to_scale = scale_of(bounds) if symmetric_on_line and low < value < high else IDENTITY
    found = _symmetric(value, moments, error, to_scale, bounds)
    return with_rare_errors(found, value, moments, error, rare)


def _symmetric(
    value: float, moments: Moments, error: float, scale: Scale, bounds: tuple[float, float]
) -> Interval:
    """Return the t interval that is symmetric on a scale."""
    of_value, freedom = moments.spread
    half_width = -stdtrit(freedom, error / 2) * of_value * scale.slope(value)
    ends = scale.from_line(scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), bounds[0]), min(float(ends[1]), bounds[1]))


def with_rare_errors(
    found: Interval, value: float, moments: Moments, error: float, rare: RareErrors | None
) -> Interval:
    """Return an interval whose worse limit accounts for errors that the sample does not show.

    It lies between the exact limits, for one more gross error than was observed, at the error
    probability of a one-sided and of a two-sided interval.
    """
    if rare is None:
        return found
    variance = moments.spread.scale**2
    least, most = rare.worse_limits(value, variance, (error, error / 2))
    if rare.worst < rare.best:
        low = min(max(found.low, most), least, value)
        return replace(found, low=low, exact_limit="lower" if found.low > least else None)
    high = max(min(found.high, most), least, value)
    return replace(found, high=high, exact_limit="upper" if found.high < least else None)


def interval_below(
    value: float, moments: Moments, error: float, bounds: tuple[float, float]
) -> Interval:
    """Return the interval of a value that may lie at the lower end of its range.

    It is symmetric on the logarithmic scale of the distance from the upper end.
    """
    if moments.spread.scale <= NO_VARIATION:
        return without_variation(value, moments.n_complete_sets, error, bounds)
    scale = scale_of((-np.inf, bounds[1])) if value < bounds[1] else IDENTITY
    return _symmetric(value, moments, error, scale, bounds)


def without_variation(
    value: float,
    n_sets: float | int,
    error: float,
    bounds: tuple[float, float],
    rare: RareErrors | None = None,
) -> Interval:
    """Return an interval where every observation has the same influence.

    Take disjoint sets of units with every class, as many as there are units with the rarest
    (weighted ones count by Kish's effective number): each showed exactly ``value``. By Clopper and
    Pearson's exact bound the probability p of such a set is at least error^(1/m); in the
    remaining 1 - p the measure may be anywhere in its range. For a perfect classifier this is
    one-sided: close to 1 - 3/m, the rule of three; with ``rare`` it is the limit of a sample
    without errors.
    """
    low, high = bounds
    if rare is not None and abs(value - rare.best) <= PERFECT:
        ends = np.clip(sorted((*rare.worse_limits(rare.best, 0.0, [error]), value)), *bounds)
        side: ExactLimit = "lower" if rare.worst < rare.best else "upper"
        return Interval(float(ends[0]), float(ends[1]), is_degenerate=True, exact_limit=side)
    p = error ** (1 / n_sets)
    low_end, high_end = (p * value + (1 - p) * end for end in bounds)
    return Interval(low_end, high_end, is_degenerate=low < high)


def p_value_of_difference(
    difference: float, moments: Moments, width: float, hypothesis: Hypothesis = _NO_DIFFERENCE
) -> float:
    """Return the p-value of a difference between two values whose range has this width."""
    scale, freedom = moments.spread
    excess = difference - hypothesis.threshold
    towards = abs(excess) if hypothesis.is_two_sided else hypothesis.sign * excess
    if scale <= NO_VARIATION:
        return _p_value_without_variation(towards, moments, width - hypothesis.margin)
    return float((2 if hypothesis.is_two_sided else 1) * stdtr(freedom, -towards / scale))


def _p_value_without_variation(excess: float, moments: Moments, room: float) -> float:
    """Return the error at which the interval without variation would just reach a threshold.

    ``room`` is how far beyond the threshold the range ends.
    """
    return float((1 / (1 + max(excess, 0.0) / max(room, _NO_ROOM))) ** moments.n_complete_sets)


def probability_above(threshold: float, difference: float, moments: Moments, width: float) -> float:
    """Return the probability that the true difference exceeds the threshold."""
    scale, freedom = moments.spread
    excess = difference - threshold
    if scale <= NO_VARIATION:
        p_value = _p_value_without_variation(abs(excess), moments, width - abs(threshold))
        return 0.5 + 0.5 * float(np.sign(excess)) * (1 - p_value)
    return float(stdtr(freedom, excess / scale))
