"""Differences of values from the intervals of each, first of all between independent samples.

MOVER is the method of variance estimates recovery (Zou and Donner 2008; Newcombe 1998). The
distance of an end of a difference from its value is a root of a sum of squares: those of the
distances of the ends of the single intervals. So the difference has the skewness that near-perfect
values have, and the range of the measure. Of correlated values each distance counts less, as
that of the other value makes up for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from dmfroc._kit.arrays import Covariance, PerDraw
from dmfroc.inference.hypothesis import Contrast, Hypothesis, contrast_of_intervals
from dmfroc.inference.interval import Interval, IntervalAt
from dmfroc.inference.method import N_DRAWS, JointEstimates
from dmfroc.results.estimate import Estimate

_GRID = np.concatenate([np.geomspace(1e-9, 0.01, 30)[:-1], np.linspace(0.01, 1.0, 67)])


def interval_of_contrast(
    factors: Sequence[float],
    values: Sequence[float],
    intervals: Sequence[Interval],
    correlation: float = 0.0,
) -> Interval:
    """Return the interval of a sum of multiples of values.

    The values are independent, or they are two whose difference is taken, with a ``correlation``.
    """
    parts = [
        (f * x, *sorted((f * ends.low, f * ends.high)))
        for f, x, ends in zip(factors, values, intervals, strict=True)
    ]
    value, low, high = np.array(parts).T
    total = value.sum()
    distances = np.stack([value - low, high - value])
    if correlation:
        first, second = distances.T
        rest = np.sqrt(1 - correlation**2) * first
        distances = np.stack([second - correlation * first, rest], axis=1)
    below, above = np.linalg.norm(distances, axis=1).tolist()
    return Interval(float(total - below), float(total + above))


def contrasts(
    values: Mapping[str, tuple[float, IntervalAt]],
    error_of: Callable[[str, str], float],
    hypothesis: Hypothesis,
) -> dict[tuple[str, str], Contrast]:
    """Return the differences of every two independent values.

    Parameters
    ----------
    values : dict of str to tuple
        Each value with its intervals, by name.
    error_of : callable
        Takes two names and returns the standard error of their difference.
    hypothesis : Hypothesis
        What is tested. Each limit of a one-sided test has half of an interval's error.
    """
    with_exact_tails = {name: (value, exact_tails(at)) for name, (value, at) in values.items()}

    def interval_at(
        whose: Mapping[str, tuple[float, IntervalAt]], pair: tuple[str, str], error: float
    ) -> Interval:
        (first, first_at), (second, second_at) = (whose[name] for name in pair)
        intervals = first_at(error), second_at(error)
        return interval_of_contrast((1.0, -1.0), (first, second), intervals)

    by_pair = {}
    for first, second in itertools.combinations(values, 2):
        value, pair = values[first][0] - values[second][0], (first, second)
        at = partial(interval_at, values, pair)
        by_pair[pair] = contrast_of_intervals(value, error_of(*pair), at)
        if not hypothesis.is_two_sided:
            at = partial(interval_at, with_exact_tails, pair)
            p_value = hypothesis.one_sided_p_value(value, at)
            by_pair[pair] = by_pair[pair]._replace(interval_at=at, p_value=p_value)
    return by_pair


def joint_estimates(
    estimates: dict[str, Estimate],
    intervals: Mapping[str, IntervalAt],
    values: Mapping[str, tuple[float, IntervalAt]],
    error_of: Callable[[str, str], float],
    covariance: Covariance,
    hypothesis: Hypothesis,
    seed: int,
) -> JointEstimates:
    """Return what is known of independent values with these ``intervals``.

    Differences follow from ``values``, with intervals of their own; see `contrasts`.
    """
    generator = np.random.default_rng(seed)
    draws = np.stack([draws_of(*x, generator) for x in values.values()], axis=1)
    return JointEstimates(
        estimates,
        contrasts(values, error_of, hypothesis),
        draws if hypothesis.greater_is_better else -draws,
        covariance,
        intervals,
    )


def exact_tails(interval_at: IntervalAt) -> IntervalAt:
    """Return intervals each of whose ends has half of the error probability.

    The interval of a value without variation spends all of it on one end.
    """

    def at(error: float) -> Interval:
        ends = interval_at(error)
        return interval_at(error / 2) if ends.is_degenerate else ends

    return at


def draws_of(
    value: float, interval_at: IntervalAt, generator: np.random.Generator, n_draws: int = N_DRAWS
) -> PerDraw:
    """Draw from the distribution whose quantiles are the ends of one sample's intervals."""
    ends = [interval_at(float(error)) for error in _GRID[:-1]]
    lows, highs = ([getattr(x, end) for x in ends] for end in ("low", "high"))
    half = _GRID / 2
    tails = np.concatenate([half, 1 - half[-2::-1]])
    quantiles = np.array([*lows, value, *highs[::-1]])
    return np.interp(generator.random(n_draws), tails, quantiles)
