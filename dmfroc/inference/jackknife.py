"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from dmfroc.inference import independent
from dmfroc.inference.evidence import (
    Facts,
    FactsInMemory,
    JointFacts,
    facts_of,
    facts_of_classifiers,
    joint_facts,
)
from dmfroc.inference.hypothesis import Contrast, Hypothesis
from dmfroc.inference.influences import NO_VARIATION, Moments
from dmfroc.inference.interval import Interval, IntervalAt
from dmfroc.inference.limits import interval, tail_of_difference
from dmfroc.inference.method import (
    USE_BOOTSTRAP,
    IntervalMethod,
    JointEstimates,
    check_finite,
    joint_t_estimates,
)
from dmfroc.inference.options import Options
from dmfroc.inference.remarks import warnings_of
from dmfroc.inference.sign_flips import SignFlips, p_value_of_flips
from dmfroc.inference.units import Sample, are_paired
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure
from dmfroc.results.estimate import Estimate

SYMMETRIC_FROM = 30  # degrees of freedom, from which on a t limit misses 7 % at a level of 5 %


@dataclass(frozen=True)
class Jackknife(IntervalMethod):
    """Influences of single observations: their squares add up to the variance."""

    name: ClassVar[str] = "jackknife"
    remedies: ClassVar[Mapping[str, str]] = {
        "interval_type": f"it has one kind of interval; {USE_BOOTSTRAP}",
        "n_draws": f"it draws nothing; {USE_BOOTSTRAP}",
    }

    @classmethod
    def from_options(cls, options: Options) -> Jackknife:
        """Return the jackknife with the level and the seed."""
        return cls(options.level, options.seed)

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their influences."""
        return [
            self.estimate(facts)
            for facts in facts_of(measures, bind(), sample, allows_for_parts=True)
        ]

    def estimate(self, facts: Facts) -> Estimate:
        """Return the estimate that follows from what a sample says of a measure."""
        moments = facts.deciding_moments
        ends, error = Interval(np.nan, np.nan), np.nan
        if np.isfinite(facts.value):
            ends = facts.interval_at(1 - self.level)
            has_error = moments.depends_on_sizes or not ends.is_degenerate
            error = moments.standard_error if has_error else 0.0
        return self.estimate_of(
            facts,
            error,
            ends,
            bias_corrected=facts.corrected,
            warnings=warnings_of(facts, ends),
            error_bound=facts.error_bound,
            judge=facts.judge,
        )

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], hypothesis: Hypothesis
    ) -> JointEstimates:
        """Compare by the differences of influences, or by the intervals of independent samples."""
        facts = facts_of_classifiers(measure, samples)
        of_each = {name: x.predictions for name, x in samples.items()}
        check_finite(measure, {name: f.value for name, f in facts.items()}, of_each)
        if are_paired(samples):
            return self.paired_estimates(joint_facts(facts), hypothesis)
        return self._independent(measure, facts, hypothesis)

    def paired_estimates(self, joint: JointFacts, hypothesis: Hypothesis) -> JointEstimates:
        """Compare by the moments of the differences' influences and the values' covariance."""
        facts, contrasts = joint.facts, {}
        measure = next(iter(facts.values())).measure
        for (a, b), moments in joint.differences.items():
            value = joint.values[a, b] if joint.values else facts[a].value - facts[b].value
            limits, few = None, moments.spread.degrees_of_freedom < SYMMETRIC_FROM
            if hypothesis.margin > 0 and few:
                limits = partial(_limits_of_values, joint, (a, b), value)
            flips = joint.sign_flips.get((a, b))
            contrasts[a, b] = contrast_of_moments(
                measure, value, moments, hypothesis, flips, limits
            )
        freedoms = (x.spread.degrees_of_freedom for x in joint.differences.values())
        return joint_t_estimates(
            {name: self.estimate(f) for name, f in facts.items()},
            contrasts,
            joint.covariance,
            min(freedoms, default=np.inf),
            {name: f.interval_at for name, f in facts.items()},
            hypothesis,
            self.seed,
        )

    def _independent(
        self, measure: Measure, facts: Mapping[str, FactsInMemory], hypothesis: Hypothesis
    ) -> JointEstimates:
        if any(f.influences.parts is not None for f in facts.values()):
            raise ValueError(
                f"{measure.name} counts the same sample of pairs of classes for all classifiers, "
                "which are then not independent: leave n_pairs out, or compare paired"
            )

        def error_of(first: str, second: str) -> float:
            return facts[first].moments.beside(facts[second].moments).standard_error

        return independent.joint_estimates(
            {name: self.estimate(f) for name, f in facts.items()},
            {name: f.interval_at for name, f in facts.items()},
            {name: (f.value, f.unbiased_interval_at) for name, f in facts.items()},
            error_of,
            np.diag([f.moments.spread.scale**2 for f in facts.values()]),
            hypothesis,
            self.seed,
        )


def contrast_of_moments(
    measure: Measure,
    value: float,
    moments: Moments,
    hypothesis: Hypothesis,
    flips: SignFlips | None = None,
    limits: IntervalAt | None = None,
) -> Contrast:
    """Return what the moments of its influences show of a difference.

    Its p-value is by ``flips`` of signs, where they are given and there is no margin, or by
    ``limits`` of their own.
    """
    width, is_two_sided = measure.largest_difference, hypothesis.is_two_sided
    tail = partial(tail_of_difference, value=value, moments=moments, width=width)
    two_sided, p_value = 2 * tail(0.0), hypothesis.p_value_of_tail(value, tail)
    if moments.spread.scale <= NO_VARIATION and not is_two_sided:
        p_value = min(2 * p_value, 1.0)  # all of the error is on one side
    if flips is not None:
        two_sided = p_value_of_flips(flips, Hypothesis(), two_sided)
        if hypothesis.margin == 0:
            p_value = p_value_of_flips(flips, hypothesis, p_value)
    if limits is not None:
        p_value = hypothesis.one_sided_p_value(value, limits)
    else:
        bounds = (-width, width)
        limits = partial(interval, value, moments, bounds=bounds, symmetric_on_line=False)
        limits = limits if is_two_sided else independent.exact_tails(limits)
    return Contrast(value, moments.standard_error, limits, tail, p_value, two_sided)


def _limits_of_values(
    joint: JointFacts, pair: tuple[str, str], value: float, error: float
) -> Interval:
    """Return the interval of a difference that is as skewed as the worse of its values is.

    That is so with a margin. Without one, the classifiers are alike, and so is the distribution of
    their difference if they change places.
    """
    facts, places = [joint.facts[x] for x in pair], [list(joint.facts).index(x) for x in pair]
    covariance = joint.covariance[np.ix_(places, places)]
    errors = np.sqrt(covariance.diagonal().prod())
    correlation = float(np.clip(covariance[0, 1] / errors, -1, 1)) if errors > 0 else 0.0
    values = [x.value for x in facts]
    intervals = [independent.exact_tails(x.unbiased_interval_at)(error) for x in facts]
    ends = independent.interval_of_contrast((1.0, -1.0), values, intervals, correlation)
    shift = value - values[0] + values[1]
    return Interval(ends.low + shift, ends.high + shift)
