"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dmfroc.inference.evidence import (
    Facts,
    JointFacts,
    facts_of,
    facts_of_classifiers,
    independent_facts,
    joint_facts,
)
from dmfroc.inference.hypothesis import Contrasts, Hypothesis, contrast_of_limits
from dmfroc.inference.limits import Interval
from dmfroc.inference.method import (
    IntervalMethod,
    JointEstimates,
    check_finite,
    joint_estimates,
    joint_normal_estimates,
)
from dmfroc.inference.remarks import warnings_of
from dmfroc.inference.units import Sample, Samples, are_paired
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure
from dmfroc.results.estimate import Estimate


@dataclass(frozen=True)
class Jackknife(IntervalMethod):
    """Influences of single observations: their squares add up to the variance."""

    name: ClassVar[str] = "jackknife"

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their influences."""
        return [self.estimate(x) for x in facts_of(measures, sample, allows_for_parts=True)]

    def estimate(self, facts: Facts) -> Estimate:
        """Return the estimate that follows from what a sample says of a measure."""
        ends, error = Interval(np.nan, np.nan), np.nan
        if np.isfinite(facts.value):
            ends = facts.interval_at(1 - self.level)
            moments = facts.moments
            error = moments.standard_error
            if not moments.varies_within_strata and not moments.depends_on_sizes:
                error = 0.0
        return self.estimate_of(
            facts,
            error,
            ends,
            bias_corrected=facts.corrected,
            warnings=warnings_of(facts),
            error_bound=facts.error_bound,
            judge=facts.judge,
        )

    def joint_estimates(
        self, measure: Measure, samples: Samples, hypothesis: Hypothesis
    ) -> JointEstimates:
        """Compare by the differences of influences, or those of independent samples."""
        facts = facts_of_classifiers(measure, samples)
        of_each = {name: x.predictions for name, x in samples.items()}
        check_finite(measure, {name: f.value for name, f in facts.items()}, of_each)
        if are_paired(samples):
            return self.paired_estimates(joint_facts(facts), hypothesis)
        if any(f.influences.parts is not None for f in facts.values()):
            raise ValueError(
                f"{measure.name} counts the same sample of pairs of classes for all classifiers, "
                "which are then not independent: leave n_pairs out, or compare paired"
            )
        return joint_estimates(
            {name: self.estimate(f) for name, f in facts.items()},
            {name: f.interval_at for name, f in facts.items()},
            _contrasts(independent_facts(facts), hypothesis),
            {name: f.moments.standard_error for name, f in facts.items()},
            hypothesis,
            self.seed,
        )

    def paired_estimates(self, joint: JointFacts, hypothesis: Hypothesis) -> JointEstimates:
        """Compare by the limits of the differences and the values' covariance."""
        return joint_normal_estimates(
            {name: self.estimate(f) for name, f in joint.facts.items()},
            _contrasts(joint, hypothesis),
            joint.covariance,
            {name: f.interval_at for name, f in joint.facts.items()},
            hypothesis,
            self.seed,
        )


def _contrasts(joint: JointFacts, hypothesis: Hypothesis) -> Contrasts:
    moments, flips = joint.differences, joint.sign_flips
    few_decide = any(f.bias.of_few_rows for f in joint.facts.values())
    return {
        pair: contrast_of_limits(
            limits, moments[pair], hypothesis, flips.get(pair), few_decide=few_decide
        )
        for pair, limits in joint.limits.items()
    }
