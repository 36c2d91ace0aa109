"""The scale on which a measure's interval is symmetric: where its range has no ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit

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
