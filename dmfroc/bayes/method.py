"""The posterior distributions as a method of `estimate` and `compare`: ``method="bayes"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc.bayes.posterior import Posterior
from dmfroc.bayes.roc import bayesian_roc
from dmfroc.bayes.tables import bayesian_table
from dmfroc.measures.measure import BoundMeasures, Measure
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.draws import compare_draws
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.interval_method import USE_BOOTSTRAP, IntervalMethod, JointEstimates, Sample
from dmfroc.uncertainty.options import Options


@dataclass(frozen=True)
class Bayes(IntervalMethod):
    """Posteriors of the multiclass area and of measures of hard labels."""

    name: ClassVar[str] = "bayes"
    remedies: ClassVar[Mapping[str, str]] = {
        "groups": f"its observations are independent; {USE_BOOTSTRAP}",
        "stratify": (
            "it takes the class sizes as fixed; call bayesian_table with given='nothing', or leave "
            "it out"
        ),
        "interval_type": f"its intervals are quantiles; {USE_BOOTSTRAP}",
        "n_draws": "call bayesian_roc or bayesian_table, which have it, or leave it out",
    }
    warns_itself: ClassVar[bool] = True

    @classmethod
    def from_options(cls, options: Options) -> Bayes:
        """Return the method with the level and the seed."""
        return cls(options.level, options.seed)

    def refusal_to_compare(self, *, paired: bool) -> str | None:
        """Refuse samples that are not independent."""
        if not paired:
            return None
        return (
            "a posterior knows its own classifier only, not how the errors of several on the same "
            "observations go together: use method='bayesian_bootstrap', or paired=False for "
            "independent samples"
        )

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Return each measure's posterior mean, standard deviation and quantiles."""
        return [self._estimate(measure, sample) for measure in measures]

    def _estimate(self, measure: Measure, sample: Sample) -> Estimate:
        found = self._posterior(measure, sample.predictions).to_estimate()
        return replace(found, measure=measure.name, title=measure.title)

    def _posterior(self, measure: Measure, predictions: Predictions) -> Posterior:
        if not _is_curve(measure):
            return bayesian_table(measure, predictions, level=self.level, random_state=self.seed)
        if len(predictions.present) > 2 and not _has_default_options(measure):
            raise ValueError(
                "the posterior of the DMF-AUC knows pair_weights='equal' only, because every "
                "observation counts once, and none of the measure's other options: call "
                "bayesian_roc, which has its own, or use method='jackknife'"
            )
        return bayesian_roc(predictions, level=self.level, random_state=self.seed)

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], *, paired: bool, rope: float
    ) -> JointEstimates:
        """Compare by the differences of draws from independent posteriors."""
        estimates = {
            name: replace(self, seed=self.seed + place)._estimate(measure, sample)
            for place, (name, sample) in enumerate(samples.items())
        }
        draws = {name: e.draws for name, e in estimates.items() if e.draws is not None}
        shortest = min(map(len, draws.values()))

        def interval_of(
            first: str, second: str | None, draws: Float[np.ndarray, " draws"], level: float
        ) -> tuple[float, float]:
            low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)

        kept = {name: of_classifier[:shortest] for name, of_classifier in draws.items()}
        return compare_draws(measure, estimates, kept, interval_of, rope, self.level)


def _is_curve(measure: Measure) -> bool:
    return measure.family == dmf_auc().family


def _has_default_options(measure: Measure) -> bool:
    return all(measure.options[name] is value for name, value in dmf_auc().options.items())
