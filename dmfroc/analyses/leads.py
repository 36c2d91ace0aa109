"""How much deciding by the score gains over treating everybody or nobody, at each threshold."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerThreshold
from dmfroc.inference.evidence import FactsInMemory, common_sums, facts_in, joint_covariance
from dmfroc.inference.influences import NO_VARIATION
from dmfroc.inference.simultaneous import largest_statistic
from dmfroc.inference.units import Sample
from dmfroc.measures.benefits import interventions_avoided, net_benefit
from dmfroc.measures.statistics.forecasts import is_positive

_SEED = 0
_FAR = 5  # standard errors behind the best baseline, where another one cannot be better

type Scaled = tuple[FactsInMemory, float]
"""Facts of a value, and the factor of it."""


def drawn_curve(
    sample: Sample, thresholds: PerThreshold, label: Hashable, level: float
) -> tuple[float, PerThreshold, PerThreshold, str]:
    """Return what a chart without bands needs, in a third of the time that these would take.

    That is the share of a class, net benefits at each threshold and those of treating all, and
    where deciding by the score is better.
    """
    leads = [leads_at(sample, float(t), None, label) for t in thresholds]
    error = 1 - level_of_each([x for at, _ in leads for x, _ in at], level)

    def is_above(facts: FactsInMemory) -> bool:
        return facts.value > 0 and facts.limits.end_at(-1, error) > 0

    above = np.array([all(is_above(x) for x, _ in at) for at, _ in leads], float)
    of_all = np.array([x for _, x in leads])
    more = np.array([min(factor * x.value for x, factor in at) for at, _ in leads])
    ranges = ranges_text(ranges_above_zero(thresholds, above))
    is_class = is_positive(sample.predictions, label)
    share = float(np.average(is_class, weights=sample.predictions.sample_weight))
    return share, np.maximum(of_all, 0) + more, of_all, ranges


def ranges_above_zero(thresholds: PerThreshold, low: PerThreshold) -> list[tuple[float, float]]:
    """Return the first and the last threshold of each range where a lower end is above 0."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (low > 0).astype(int), [0]])))
    return [(float(thresholds[a]), float(thresholds[b - 1])) for a, b in edges.reshape(-1, 2)]


def ranges_text(ranges: list[tuple[float, float]]) -> str:
    """Return ranges of thresholds in words."""
    return ", ".join(f"{a:.3g}" if a == b else f"{a:.3g} to {b:.3g}" for a, b in ranges)


def leads_at(
    sample: Sample, t: float, prevalence: float | None, label: Hashable
) -> tuple[list[Scaled], float]:
    """Return the leads over treating all and none, and the net benefit of treating all.

    Of a baseline that is clearly worse than the other there is none.
    """
    odds = t / (1 - t)
    is_class = is_positive(sample.predictions, label).astype(float)
    gains = np.stack([is_class - odds * (1 - is_class), np.zeros_like(is_class)], axis=1)
    means, places = best_of(sample, gains)
    of_all = float(means[0])
    if prevalence is not None:
        of_all = prevalence - (1 - prevalence) * odds
        places = [0 if of_all > 0 else 1]
    choice = (interventions_avoided, odds), (net_benefit, 1.0)
    chosen = [choice[place] for place in places]
    return [(facts_in(sample, m(t, prevalence, label)), factor) for m, factor in chosen], of_all


def best_of(
    sample: Sample, gains: Float[np.ndarray, "n b"]
) -> tuple[Float[np.ndarray, " b"], list[int]]:
    """Return the mean of each baseline, from what it gains by row, and which may be the best.

    Those come in the order of their means, and so in the same one however classes are numbered.
    """
    weights = sample.predictions.sample_weight
    total = weights.sum()
    means = weights @ gains / total
    order = (-means).argsort(kind="stable")
    best = order[0]
    behind = gains[:, [best]] - gains - (means[best] - means)
    sums = [np.bincount(sample.units.unit_of_row_with_class, weights * x) for x in behind.T]
    errors = np.linalg.norm(sums, axis=1) / total
    return means, order[(means[best] - means <= _FAR * errors)[order]].tolist()


def simultaneous_ends(
    scaled: Sequence[Sequence[Scaled]], level: float
) -> tuple[PerThreshold, PerThreshold]:
    """Return the ends of a band around the least of some multiples of values, at each threshold.

    It holds for all of them at once, and so for the least, whichever it is.
    """
    level = level_of_each([x for at in scaled for x, _ in at], level)
    ends = [[factor * np.array(x.interval_at(1 - level)) for x, factor in at] for at in scaled]
    low, high = np.array([np.min(at, axis=0) for at in ends]).T
    return low, high


def level_of_each(facts: Sequence[FactsInMemory], level: float) -> float:
    """Return the level at which intervals must be taken for all of them to hold at once."""
    varies = np.array([x.moments.standard_error > NO_VARIATION for x in facts])
    if not varies.any():
        return level
    covariance = joint_covariance(*common_sums([(x.influences, x.units) for x in facts]))
    return largest_statistic(covariance, np.eye(len(facts))[varies], _SEED).level_of_each(level)
