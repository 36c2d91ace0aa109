"""Comparison of classifiers by draws of their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from jaxtyping import Float

from dmfroc.inference.hypothesis import Contrast, Hypothesis
from dmfroc.inference.interval import Interval
from dmfroc.inference.interval_method import JointEstimates
from dmfroc.measures.measure import Measure
from dmfroc.results.estimate import Estimate

IntervalOfDraws = Callable[
    [str, str | None, Float[np.ndarray, " draws"], float], tuple[float, float]
]
"""Takes two names and the draws of the difference, or a name, None and its draws; and the level."""

_FEWEST_IN_TAIL = 5  # draws beyond the end of an interval


def compare_draws(
    measure: Measure,
    estimates: dict[str, Estimate],
    draws: Mapping[str, Float[np.ndarray, " draws"]],
    interval_of: IntervalOfDraws,
    hypothesis: Hypothesis,
    level: float,
) -> JointEstimates:
    """Compare classifiers by equally many joint draws of each."""
    n_draws = len(next(iter(draws.values())))

    def interval_at(first: str, second: str | None, error: float) -> Interval:
        drawn = draws[first] if second is None else draws[first] - draws[second]
        return Interval(*interval_of(first, second, drawn, 1 - error))

    def far_interval_at(first: str, second: str | None, error: float) -> Interval:
        if error < 1 - level and error / 2 * n_draws < _FEWEST_IN_TAIL:
            needed = int(np.ceil(2 * _FEWEST_IN_TAIL / error))
            raise ValueError(
                f"to hold all at once, each interval must be taken at {100 * (1 - error):.4g} %, "
                f"and {n_draws} draws are too few for that: n_draws={needed} or method='jackknife'"
            )
        return interval_at(first, second, error)

    contrasts = {}
    for pair in itertools.combinations(estimates, 2):
        value = estimates[pair[0]].value - estimates[pair[1]].value
        differences = draws[pair[0]] - draws[pair[1]]
        tail = partial(_share_beyond, differences=differences, value=value)
        beyond = tail(0.0)
        p_value = two_sided = min(1.0, 2 * (min(beyond, 1 - beyond) * n_draws + 1) / (n_draws + 1))
        if not hypothesis.is_two_sided:
            p_value = hypothesis.one_sided_p_value(
                value, partial(interval_at, *pair), least=2 / (n_draws + 1)
            )
        error = float(differences.std(ddof=1))
        at = partial(far_interval_at, *pair)
        contrasts[pair] = Contrast(value, error, at, tail, p_value, two_sided)
    joint = np.stack(list(draws.values()), axis=1)
    return JointEstimates(
        estimates,
        contrasts,
        joint if measure.greater_is_better else -joint,
        np.cov(joint, rowvar=False),
        {name: partial(far_interval_at, name, None) for name in estimates},
    )


def _share_beyond(
    threshold: float, differences: Float[np.ndarray, " draws"], value: float
) -> float:
    """Return the share of draws on the other side of a threshold than the value.

    Those at 0 count by half; those at the ends of a region of equivalence are in it.
    """
    at_threshold = np.mean(differences == threshold) * (1 - np.sign(threshold)) / 2
    above = float(np.mean(differences > threshold) + at_threshold)
    return 1 - above if value > threshold else above
