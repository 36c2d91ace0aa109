"""Limits by Student's t where the range has no ends, and limits for errors that are rare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit, ndtri, stdtr, stdtrit

from dmfroc.inference.influences import NO_VARIATION, Moments, Spread
from dmfroc.inference.interval import Interval
from dmfroc.inference.rare_errors import RareErrors
from dmfroc.results.estimate import ExactLimit

PERFECT = 1e-6  # the centre of the rates is fitted, and no better than that at its end
_NO_ROOM = 1e-300  # beyond a threshold, where the range ends; not 0, by which nothing is divided
_Map = Callable[[Any], Float[np.ndarray, "*x"]]


class Scale(NamedTuple):
    """An increasing map of a measure's range onto the real line."""

    to_line: _Map
    from_line: _Map
    slope: _Map  # derivative of to_line


IDENTITY = Scale(np.asarray, np.asarray, lambda x: np.ones(np.shape(x)))


def scale_of(bounds: tuple[float, float]) -> Scale:
    """Return the logit for a range with two ends, a logarithm for one end, or the identity."""
    low, high = bounds
    if np.isfinite(low) and np.isfinite(high):
        width = high - low
        return Scale(
            to_line=lambda x: logit((np.asarray(x) - low) / width),
            from_line=lambda y: low + width * expit(np.asarray(y)),
            slope=lambda x: width / ((np.asarray(x) - low) * (high - np.asarray(x))),
        )
    if np.isfinite(low):
        return Scale(
            to_line=lambda x: np.log(np.asarray(x) - low),
            from_line=lambda y: low + _exp(y),
            slope=lambda x: 1 / (np.asarray(x) - low),
        )
    if np.isfinite(high):
        return Scale(
            to_line=lambda x: -np.log(high - np.asarray(x)),
            from_line=lambda y: high - _exp(-np.asarray(y)),
            slope=lambda x: 1 / (high - np.asarray(x)),
        )
    return IDENTITY


def _exp(x: Any) -> Any:
    """Return exp(x), infinite where no number can hold it: an end of the range is cut there."""
    with np.errstate(over="ignore"):
        return np.exp(x)


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

    If the moments depend on random sizes of the strata, ``bounds`` are those given the sizes, and
    ``range_of_sizes`` those of any sizes. The interval given the sizes is widened by what these
    add. On the scale where that range has no ends, the squares of the distances of the ends from
    the value are added up (Zou and Donner 2008).

    With ``rare`` the worse limit accounts for errors that the sample does not show, see
    `with_rare_errors`.
    """
    if range_of_sizes is not None:
        given = interval(
            value,
            moments.given_sizes,
            error,
            bounds,
            symmetric_on_line=symmetric_on_line,
            rare=rare,
        )
        [variance], [freedom] = moments.variances_of_sizes, moments.freedom_of_sizes
        low, high = range_of_sizes
        is_inside = symmetric_on_line and low < value < high
        to_scale = scale_of(range_of_sizes) if is_inside else IDENTITY
        added = -stdtrit(freedom, error / 2) * np.sqrt(variance) * to_scale.slope(value)
        place = to_scale.to_line(value)
        with np.errstate(divide="ignore"):  # an end of the range is infinitely far away
            distances = np.hypot(to_scale.to_line([given.low, given.high]) - place, added)
        ends = to_scale.from_line(place + np.array([-1, 1]) * distances)
        return given._replace(low=max(float(ends[0]), low), high=min(float(ends[1]), high))
    low, high = bounds
    if moments.spread.scale <= NO_VARIATION * (
        high - low if np.isfinite(high - low) else max(1, abs(value))
    ):
        return without_variation(value, moments.n_complete_sets, error, bounds, rare)
    to_scale = IDENTITY
    if symmetric_on_line and low < value < high:
        least = moments.spread.scale  # distance from an end whose logarithm has a meaning
        to_scale = scale_of((min(low, value - least), max(high, value + least)))
    by_moments = t_interval(value, moments.spread, error, bounds, to_scale)
    return with_rare_errors(by_moments, value, moments, error, rare)


def t_interval(
    value: float,
    spread: Spread,
    error: float,
    bounds: tuple[float, float],
    scale: Scale | None = None,
) -> Interval:
    """Return the t interval that is symmetric on a scale, by default one without ends."""
    if scale is None:
        scale = scale_of(bounds) if bounds[0] < value < bounds[1] else IDENTITY
    half_width = -stdtrit(spread.degrees_of_freedom, error / 2) * spread.scale * scale.slope(value)
    ends = scale.from_line(scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), bounds[0]), min(float(ends[1]), bounds[1]))


def with_rare_errors(
    ends: Interval, value: float, moments: Moments, error: float, rare: RareErrors | None
) -> Interval:
    """Return an interval whose worse limit accounts for errors that the sample does not show.

    It lies between the exact limits, for one more gross error than was observed, at the error
    probability of a one-sided and of a two-sided interval.
    """
    if rare is None:
        return ends
    variance = moments.spread.scale**2
    least, most = rare.worse_limits(value, variance, (error, error / 2))
    if moments.spread.scale > abs(value - rare.best) + abs(rare.limit - rare.best):
        most = np.nan  # a value that was put into its range varies more than its loss can
    (first, last), beyond = sorted((rare.best, rare.worst)), rare.beyond(variance, error)
    low, high = max(value - beyond, first), min(value + beyond, last)
    ends = ends._replace(low=min(ends.low, low), high=max(ends.high, high))
    if rare.worst < rare.best:
        low = min(max(ends.low, most), least, value)
        return ends._replace(low=low, exact_limit="lower" if ends.low > least else None)
    high = max(min(ends.high, most), least, value)
    return ends._replace(high=high, exact_limit="upper" if ends.high < least else None)


def interval_below(
    value: float, moments: Moments, error: float, bounds: tuple[float, float]
) -> Interval:
    """Return an interval that is symmetric in the logarithm of the distance from the upper end."""
    if moments.spread.scale <= NO_VARIATION:
        return without_variation(value, moments.n_complete_sets, error, bounds)
    scale = scale_of((-np.inf, bounds[1])) if value < bounds[1] else IDENTITY
    return t_interval(value, moments.spread, error, bounds, scale)


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


def tail_of_difference(threshold: float, value: float, moments: Moments, width: float) -> float:
    """Return the probability that a true difference lies beyond a threshold.

    It is on the other side than the value, and the values range over this ``width``. Without
    variation twice the probability is the error at which the interval would reach the threshold.
    """
    scale, freedom = moments.spread
    distance = abs(value - threshold)
    if scale <= NO_VARIATION:
        room = max(width - abs(threshold), _NO_ROOM)  # how far beyond the threshold the range ends
        return float((1 / (1 + distance / room)) ** moments.n_complete_sets) / 2
    return float(stdtr(freedom, -distance / scale))
