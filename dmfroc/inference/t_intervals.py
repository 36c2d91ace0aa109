"""Intervals and p-values by Student's t, on the scale where the range of a measure has no ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit, ndtri, stdtr, stdtrit

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import NO_VARIATION, Moments
from dmfroc.inference.interval import Interval
from dmfroc.inference.rare_errors import RareErrors
from dmfroc.results.estimate import ExactLimit

PERFECT = 1e-6  # the centre of the rates is fitted, and no better than that at its end
_NO_DIFFERENCE = Hypothesis()
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
        [variance], [freedom] = moments.of_sizes, moments.freedom_of_sizes
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
        return found._replace(low=low, exact_limit="lower" if found.low > least else None)
    high = max(min(found.high, most), least, value)
    return found._replace(high=high, exact_limit="upper" if found.high < least else None)


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
