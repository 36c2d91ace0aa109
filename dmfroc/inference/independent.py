"""Differences between independent samples, from the intervals of each.

MOVER is the method of variance estimates recovery (Zou and Donner 2008; Newcombe 1998). The
distance of an end of a difference from its value is a root of a sum of squares: those of the
distances of the ends of the single intervals. So the difference has the skewness that near-perfect
values have, and the range of the measure. It is for independent values only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import Interval
from dmfroc.results.difference import Difference

IntervalAt = Callable[[float], Interval]
"""Takes the error probability, 0.05 for 95 %, and returns an interval of one sample's value."""

_GRID = np.concatenate([np.geomspace(1e-9, 0.01, 30)[:-1], np.linspace(0.01, 1.0, 67)])


def ends_of_contrast(
    factors: Sequence[float], values: Sequence[float], intervals: Sequence[Interval]
) -> tuple[float, float]:
    """Return the interval of a sum of multiples of independent values."""
    parts = [
        (f * x, *sorted((f * ends.low, f * ends.high)))
        for f, x, ends in zip(factors, values, intervals, strict=True)
    ]
    value, low, high = np.array(parts).T
    total = value.sum()
    below, above = (float(np.linalg.norm(x - value)) for x in (low, high))
    return float(total - below), float(total + above)


def compared(
    values: Mapping[str, tuple[float, IntervalAt]],
    error_of: Callable[[str, str], float],
    hypothesis: Hypothesis,
    level: float,
    *,
    greater_is_better: bool = True,
    tested: Mapping[str, tuple[float, IntervalAt]] | None = None,
) -> tuple[dict[tuple[str, str], Difference], Callable[[str, str, float], tuple[float, float]]]:
    """Return the differences of every two independent values, and their intervals at any level.

    Parameters
    ----------
    values : dict of str to tuple
        Each value with its intervals, by name.
    error_of : callable
        Takes two names and returns the standard error of their difference.
    hypothesis : Hypothesis
        What is tested.
    level : float
        Level of the intervals in the differences.
    greater_is_better : bool
        Whether greater values are better.
    tested : dict of str to tuple, optional
        The values with the intervals that ends and tests follow from, if those are others.
    """
    tested = tested or values

    def ends_at(
        whose: Mapping[str, tuple[float, IntervalAt]], pair: tuple[str, str], error: float
    ) -> tuple[float, float]:
        (first, first_at), (second, second_at) = (whose[name] for name in pair)
        return ends_of_contrast((1.0, -1.0), (first, second), (first_at(error), second_at(error)))

    def interval_of(first: str, second: str, level: float) -> tuple[float, float]:
        return hypothesis.opened(ends_at(tested, (first, second), hypothesis.error(level)))

    differences = {
        pair: hypothesis.difference(
            pair,
            values[pair[0]][0] - values[pair[1]][0],
            error_of(*pair),
            partial(ends_at, values, pair),
            level,
            greater_is_better=greater_is_better,
            tested_at=partial(ends_at, tested, pair),
        )
        for pair in itertools.combinations(values, 2)
    }
    return differences, interval_of


def exact_tails(interval_at: IntervalAt) -> IntervalAt:
    """Return intervals each of whose ends has half of the error probability.

    The interval of a value without variation spends all of it on one end.
    """

    def at(error: float) -> Interval:
        found = interval_at(error)
        return interval_at(error / 2) if found.is_degenerate else found

    return at


def draws_of(
    value: float, interval_at: IntervalAt, n_draws: int, generator: np.random.Generator
) -> Float[np.ndarray, " draws"]:
    """Draw from the distribution whose quantiles are the ends of one sample's intervals."""
    ends = [interval_at(float(error)) for error in _GRID[:-1]]
    lows, highs = ([getattr(x, end) for x in ends] for end in ("low", "high"))
    half = _GRID / 2
    tails = np.concatenate([half, 1 - half[-2::-1]])
    quantiles = np.array([*lows, value, *highs[::-1]])
    return np.interp(generator.random(n_draws), tails, quantiles)
