"""Comparison of classifiers by draws of their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

from dmfroc.measures.measure import Measure
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.interval_method import Contrast, JointEstimates

IntervalOfDifference = Callable[[str, str, float, Float[np.ndarray, " draws"]], tuple[float, float]]
"""Takes two names, the difference of the values and its draws, and returns an interval."""


def compare_draws(
    measure: Measure,
    estimates: dict[str, Estimate],
    draws: Mapping[str, Float[np.ndarray, " draws"]],
    interval_of: IntervalOfDifference,
    rope: float,
) -> JointEstimates:
    """Compare classifiers by equally many joint draws of each."""
    sign = 1 if measure.greater_is_better else -1
    contrasts = {}
    for first, second in itertools.combinations(estimates, 2):
        value = estimates[first].value - estimates[second].value
        differences = draws[first] - draws[second]
        better = _share_above_zero(sign * differences)
        n_draws = len(differences)
        contrasts[first, second] = Contrast(
            value=value,
            standard_error=float(differences.std(ddof=1)),
            interval=interval_of(first, second, value, differences),
            p_value=min(1.0, 2 * (min(better, 1 - better) * n_draws + 1) / (n_draws + 1)),
            probability_better=better,
            probability_equivalent=float(np.mean(np.abs(differences) <= rope)),
        )
    return JointEstimates(estimates, contrasts, sign * np.stack(list(draws.values()), axis=1))


def _share_above_zero(draws: Float[np.ndarray, " draws"]) -> float:
    """Return the share of positive draws; those at zero count by half."""
    return float(np.mean(draws > 0) + np.mean(draws == 0) / 2)
