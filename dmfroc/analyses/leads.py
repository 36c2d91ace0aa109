"""How much deciding by the score gains over treating everybody or nobody, at each threshold."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from dmfroc._kit.arrays import PerThreshold
from dmfroc.inference.evidence import FactsInMemory, common_sums, facts_in, joint_covariance
from dmfroc.inference.influences import NO_VARIATION
from dmfroc.inference.simultaneous import largest_statistic
from dmfroc.inference.units import Sample
from dmfroc.measures.benefits import interventions_avoided, net_benefit
from dmfroc.measures.statistics.forecasts import is_positive

_SEED = 0


def drawn_curve(
    sample: Sample, thresholds: PerThreshold, label: Hashable, level: float
) -> tuple[float, PerThreshold, PerThreshold, str]:
    """Return what a chart without bands needs, in a third of the time that these would take.

    That is the share of a class, net benefits at each threshold and those of treating all, and
    where deciding by the score is better.
    """
    share = share_of(sample, None, label)
    leads = [lead_at(sample, float(t), None, label, share) for t in thresholds]
    low, _ = simultaneous_ends([(facts, factor) for facts, factor, _ in leads], level)
    return (
        share,
        np.array([max(of_all, 0.0) + factor * x.value for x, factor, of_all in leads]),
        np.array([of_all for *_, of_all in leads]),
        ranges_text(ranges_above_zero(thresholds, low)),
    )


def ranges_above_zero(thresholds: PerThreshold, low: PerThreshold) -> list[tuple[float, float]]:
    """Return the first and the last threshold of each range where a lower end is above 0."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (low > 0).astype(int), [0]])))
    return [(float(thresholds[a]), float(thresholds[b - 1])) for a, b in edges.reshape(-1, 2)]


def ranges_text(ranges: list[tuple[float, float]]) -> str:
    """Return ranges of thresholds in words."""
    return ", ".join(f"{a:.3g}" if a == b else f"{a:.3g} to {b:.3g}" for a, b in ranges)


def share_of(sample: Sample, prevalence: float | None, label: Hashable) -> float:
    """Return the share of a class where decisions are made, by default that in the sample."""
    if prevalence is not None:
        return prevalence
    is_class = is_positive(sample.predictions, label)
    return float(np.average(is_class, weights=sample.predictions.sample_weight))


def lead_at(
    sample: Sample, t: float, prevalence: float | None, label: Hashable, share: float
) -> tuple[FactsInMemory, float, float]:
    """Return the lead over the better baseline, a factor of it, and the benefit of treating all."""
    odds = t / (1 - t)
    of_all = share - (1 - share) * odds
    measure, factor = (interventions_avoided, odds) if of_all > 0 else (net_benefit, 1.0)
    return facts_in(sample, measure(t, prevalence, label)), factor, of_all


def simultaneous_ends(
    scaled: list[tuple[FactsInMemory, float]], level: float
) -> tuple[PerThreshold, PerThreshold]:
    """Return the ends of a band around multiples of values in the same sample."""
    facts = [x for x, _ in scaled]
    varies = np.array([x.moments.standard_error > NO_VARIATION for x in facts])
    if varies.any():
        covariance = joint_covariance(*common_sums([(x.influences, x.units) for x in facts]))
        largest = largest_statistic(covariance, np.eye(len(facts))[varies], _SEED)
        level = largest.level_of_each(level)
    ends = [(factor, x.interval_at(1 - level)) for x, factor in scaled]
    return np.array([f * x.low for f, x in ends]), np.array([f * x.high for f, x in ends])
