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
from jaxtyping import Float

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.interval import Interval, IntervalAt
from dmfroc.results.difference import Difference

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


def compared(
    values: Mapping[str, tuple[float, IntervalAt]],
    error_of: Callable[[str, str], float],
    hypothesis: Hypothesis,
    level: float,
    *,
    greater_is_better: bool = True,
) -> tuple[dict[tuple[str, str], Difference], dict[tuple[str, str], IntervalAt]]:
    """Return the differences of every two independent values, and their intervals.

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
    """
    tested = values
    if not hypothesis.is_two_sided:
        tested = {name: (value, exact_tails(at)) for name, (value, at) in values.items()}

    def interval_at(
        whose: Mapping[str, tuple[float, IntervalAt]], pair: tuple[str, str], error: float
    ) -> Interval:
        (first, first_at), (second, second_at) = (whose[name] for name in pair)
        intervals = first_at(error), second_at(error)
        return interval_of_contrast((1.0, -1.0), (first, second), intervals)

    pairs = itertools.combinations(values, 2)
    intervals_of: dict[tuple[str, str], IntervalAt]
    intervals_of = {pair: partial(interval_at, tested, pair) for pair in pairs}
    differences = {
        pair: hypothesis.difference(
            pair,
            values[pair[0]][0] - values[pair[1]][0],
            error_of(*pair),
            partial(interval_at, values, pair),
            level,
            greater_is_better=greater_is_better,
            tested_at=intervals_of[pair],
        )
        for pair in intervals_of
    }
    return differences, intervals_of


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
