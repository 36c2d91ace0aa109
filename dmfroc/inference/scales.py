"""Scales on which a range has no ends, and intervals by Student's t on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit, stdtrit

from dmfroc.inference.influences import Spread
from dmfroc.inference.limits import Interval

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
    if not (np.isfinite(low) or np.isfinite(high)):
        return IDENTITY
    end, sign = (low, 1) if np.isfinite(low) else (high, -1)
    return Scale(
        to_line=lambda x: sign * np.log(sign * (np.asarray(x) - end)),
        from_line=lambda y: end + sign * _exp(sign * np.asarray(y)),
        slope=lambda x: sign / (np.asarray(x) - end),
    )


def _exp(x: Any) -> Any:
    """Return exp(x), infinite where no number can hold it: an end of the range is cut there."""
    with np.errstate(over="ignore"):
        return np.exp(x)


def t_interval(value: float, spread: Spread, error: float, bounds: tuple[float, float]) -> Interval:
    """Return the t interval that is symmetric on the scale where the range has no ends."""
    scale = scale_of(bounds) if bounds[0] < value < bounds[1] else IDENTITY
    half_width = -stdtrit(spread.degrees_of_freedom, error / 2) * spread.scale * scale.slope(value)
    ends = scale.from_line(scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), bounds[0]), min(float(ends[1]), bounds[1]))
