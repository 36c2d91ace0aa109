"""Comparison of classifiers by draws of their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from jaxtyping import Float

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.interval import Interval
from dmfroc.inference.interval_method import JointEstimates
from dmfroc.measures.measure import Measure
from dmfroc.results.difference import Difference
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
    sign = 1 if measure.greater_is_better else -1
    compared = {}
    for first, second in itertools.combinations(estimates, 2):
        value = estimates[first].value - estimates[second].value
        differences = draws[first] - draws[second]
        better = _share_above_zero(sign * differences)
        n_draws = len(differences)
        two_sided = min(1.0, 2 * (min(better, 1 - better) * n_draws + 1) / (n_draws + 1))

        def interval_at(
            error: float,
            first: str = first,
            second: str = second,
            differences: Float[np.ndarray, " draws"] = differences,
        ) -> Interval:
            return Interval(*interval_of(first, second, differences, 1 - error))

        p_value = two_sided
        if not hypothesis.is_two_sided:
            p_value = hypothesis.p_value(value, interval_at, least=2 / (n_draws + 1))
        compared[first, second] = Difference(
            first,
            second,
            value=value,
            standard_error=float(differences.std(ddof=1)),
            interval=hypothesis.interval(interval_at, level),
            p_value=p_value,
            two_sided_p_value=two_sided,
            adjusted_p_value=p_value,
            probability_better=better,
            probability_equivalent=float(np.mean(np.abs(differences) <= hypothesis.rope)),
        )

    def far_interval_at(first: str, second: str | None, error: float) -> Interval:
        n_draws = len(draws[first])
        if error / 2 * n_draws < _FEWEST_IN_TAIL:
            needed = int(np.ceil(2 * _FEWEST_IN_TAIL / error))
            raise ValueError(
                f"to hold all at once, each interval must be taken at {100 * (1 - error):.4g} %, "
                f"and {n_draws} draws are too few for that: n_draws={needed} or method='jackknife'"
            )
        drawn = draws[first] if second is None else draws[first] - draws[second]
        return Interval(*interval_of(first, second, drawn, 1 - error))

    joint = np.stack(list(draws.values()), axis=1)
    return JointEstimates(
        estimates,
        compared,
        sign * joint,
        np.cov(joint, rowvar=False),
        {name: partial(far_interval_at, name, None) for name in estimates},
        {pair: partial(far_interval_at, *pair) for pair in compared},
        hypothesis,
    )


def _share_above_zero(draws: Float[np.ndarray, " draws"]) -> float:
    """Return the share of positive draws; those at zero count by half."""
    return float(np.mean(draws > 0) + np.mean(draws == 0) / 2)
