"""Intervals, and functions that return one for any error probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dmfroc.results.estimate import ExactLimit


class Interval(NamedTuple):
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        The limits.
    is_degenerate : bool
        Whether the observations of a class made no difference at all.
    exact_limit : {"lower", "upper"} or None
        The limit that is exact for one more gross error than was observed, see `with_rare_errors`.
    """

    low: float
    high: float
    is_degenerate: bool = False
    exact_limit: ExactLimit | None = None

    def reaching(self, further: float, bounds: tuple[float, float]) -> Interval:
        """Return the interval with its upper end so much further up, or if negative, the lower."""
        low, high = min(self.low, self.low + further), max(self.high, self.high + further)
        return self._replace(low=max(low, bounds[0]), high=min(high, bounds[1]))


IntervalAt = Callable[[float], Interval]
"""Takes the error probability, 0.05 for 95 %, and returns a two-sided interval."""
