"""Differences of values of independent samples: the units of all, each in strata of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.special import ndtr

from dmfroc._kit.arrays import PerDraw
from dmfroc.inference.hypothesis import Contrasts, Hypothesis, contrast_of_intervals
from dmfroc.inference.limits import Interval, IntervalAt
from dmfroc.inference.method import N_DRAWS, JointEstimates
from dmfroc.results.estimate import Estimate

_QUANTILES = np.array([0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4])  # of the normal distribution


def contrasts_of_intervals(
    values: Mapping[str, tuple[float, IntervalAt]], errors: Mapping[str, float]
) -> Contrasts:
    """Return the differences of independent values with intervals of any kind.

    Distances of the ends add up as their squares (Zou and Donner 2008).
    """
    found = {}
    for a, b in itertools.combinations(values, 2):
        interval_at = partial(_interval_of_difference, values[a], values[b])
        error, difference = math.hypot(errors[a], errors[b]), values[a][0] - values[b][0]
        found[a, b] = contrast_of_intervals(difference, error, interval_at)
    return found


def _interval_of_difference(
    first: tuple[float, IntervalAt], second: tuple[float, IntervalAt], error: float
) -> Interval:
    (value, at), (other, other_at) = first, second
    (low, high), (other_low, other_high) = at(error), other_at(error)
    below = math.hypot(value - low, other_high - other)
    above = math.hypot(high - value, other - other_low)
    return Interval(value - other - below, value - other + above)


def joint_estimates(
    estimates: dict[str, Estimate],
    intervals: Mapping[str, IntervalAt],
    found: Contrasts,
    errors: Mapping[str, float],
    hypothesis: Hypothesis,
    seed: int,
) -> JointEstimates:
    """Return what is known of independent values with these intervals and differences."""
    generator = np.random.default_rng(seed)
    drawn = [draws_of(e.value, intervals[name], generator) for name, e in estimates.items()]
    draws = np.stack(drawn, axis=1)
    return JointEstimates(
        estimates,
        found,
        draws if hypothesis.greater_is_better else -draws,
        np.diag([x**2 for x in errors.values()]),
        intervals,
    )


def draws_of(
    value: float, interval_at: IntervalAt, generator: np.random.Generator, n_draws: int = N_DRAWS
) -> PerDraw:
    """Draw from the distribution whose quantiles are about the ends of one sample's intervals."""
    ends = [interval_at(2 * float(ndtr(-z))) for z in _QUANTILES]
    lows, highs = ([getattr(x, end) for x in ends] for end in ("low", "high"))
    places = np.concatenate([-_QUANTILES[::-1], [0.0], _QUANTILES])
    return np.interp(generator.standard_normal(n_draws), places, [*lows[::-1], value, *highs])
