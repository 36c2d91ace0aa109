"""Honest limits of a mean of bounded values in small samples, near the ends of the range too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from dmfroc.inference.interval import Interval

_ROUNDING = 1e-12


@dataclass(frozen=True)
class BoundedMean:
    """A mean of values in a range, known as precisely as a share of so many observations.

    Attributes
    ----------
    value : float
        The mean.
    variance : float
        Of the mean, the sum of squared influences: that of n zeros and ones is ``p (1 - p) / n``.
    n_units : int
        Number of independent units.
    n_effective : float
        As how many units of equal weight they count: the number of zeros and ones that would be as
        informative in the worst case, in which a unit's values are all the same.
    bounds : tuple of float
        The range of the values.
    """

    value: float
    variance: float
    n_units: int
    n_effective: float
    bounds: tuple[float, float]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return float(np.sqrt(self.variance * self.n_units / max(self.n_units - 1, 1)))

    def interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability, 0.05 for 95 %.

        A mean with this variance is as precise as a share of ``n`` observations, and gets their
        exact limits (Clopper and Pearson 1934; Korn and Graubard 1998 for samples with weights and
        clusters). Zeros and ones have the largest variance that their mean allows, and no
        correction. Any smaller variance is estimated: it is raised by the squared ratio of the t
        to the normal quantile. It does not show rare units at an end of the range either. So each
        limit is at least as wide as a one-sided limit with one more unit at that end.
        """
        low, high = self.bounds
        if not np.isfinite(high - low):
            half = -stdtrit(max(self.n_units - 1, 1), error / 2) * self.standard_error
            return Interval(max(self.value - half, low), min(self.value + half, high))
        mean = float(np.clip((self.value - low) / (high - low), 0, 1))
        n, largest, share = self.n_effective, mean * (1 - mean), 1.0
        if largest > _ROUNDING:
            tail = min(error, 0.999) / 2  # both quantiles become 0, and their ratio does not
            factor = (stdtrit(max(self.n_units - 1, 1), tail) / ndtri(tail)) ** 2
            observed = min(self.variance / (high - low) ** 2 * n / largest, 1.0)
            raised = factor * observed * self.n_units / max(self.n_units - 1, 1)
            share = min(max(raised, _ROUNDING), 1.0)
        trials = n / share
        successes = mean * trials
        lower = betaincinv(successes, trials - successes + 1, error / 2) if mean > 0 else 0.0
        lower = np.nan_to_num(lower)  # SciPy has no value near 0 for errors below 1e-91
        upper = betaincinv(successes + 1, trials - successes, 1 - error / 2) if mean < 1 else 1.0
        lower = min(lower, 1 - _with_one_more(1 - mean, share * largest, n, error))
        upper = max(upper, _with_one_more(mean, share * largest, n, error))
        return Interval(low + (high - low) * float(lower), low + (high - low) * float(upper))

    def units_for(self, half_width: float, error: float) -> int:
        """Return how many such units have an interval of this half-width."""

        def suffices(n: int) -> bool:
            times = n / self.n_units
            planned = replace(
                self,
                variance=self.variance / times,
                n_units=n,
                n_effective=self.n_effective * times,
            )
            low, high = planned.interval_at(error)[:2]
            return high - low <= 2 * half_width

        low, high = 1, 2
        while not suffices(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return high


def _with_one_more(mean: float, variance: float, n: float, error: float) -> float:
    """Return a one-sided upper limit in (0, 1), as if one of the n + 1 units had the value 1.

    The units have random weights with a flat Dirichlet distribution. A beta distribution with the
    moments of the weighted mean gives the limit.
    """
    if mean == 1:
        return 1.0
    centre = (n * mean + 1) / (n + 1)
    spread = n * ((n + 1) * variance + (1 - mean) ** 2) / ((n + 1) ** 2 * (n + 2))
    total = centre * (1 - centre) / spread - 1
    return float(betaincinv(total * centre, total * (1 - centre), 1 - error))
