"""The posterior distributions as a method of `estimate` and `compare`: ``method="bayes"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import xarray
from jaxtyping import Float

from dmfroc.bayes.pairs import drawn_areas
from dmfroc.bayes.posterior import Posterior, summarize
from dmfroc.bayes.roc import bayesian_roc
from dmfroc.bayes.tables import bayesian_table
from dmfroc.measures.measure import BoundMeasures, Measure, bind
from dmfroc.measures.ranking import hand_till
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.draws import compare_draws
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import NO_VARIATION, influences_of
from dmfroc.uncertainty.interval_method import USE_BOOTSTRAP, IntervalMethod, JointEstimates, Sample
from dmfroc.uncertainty.options import Options


@dataclass(frozen=True)
class Bayes(IntervalMethod):
    """Posteriors of the multiclass area, of M, and of measures of hard labels."""

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

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Return each measure's posterior mean, standard deviation and quantiles."""
        return [self._estimate(measure, sample) for measure in measures]

    def _estimate(self, measure: Measure, sample: Sample) -> Estimate:
        found = self._posterior(measure, sample.predictions).to_estimate()
        return replace(found, measure=measure.name, title=measure.title)

    def _posterior(self, measure: Measure, predictions: Predictions) -> Posterior:
        if measure.name == hand_till().name:
            return of_mean_pair(self._curve(predictions))
        if not _is_curve(measure):
            return bayesian_table(measure, predictions, level=self.level, random_state=self.seed)
        if len(predictions.present) > 2 and not _has_default_options(measure):
            raise ValueError(
                "the posterior of the DMF-AUC knows pair_weights='equal' only, because every "
                "observation counts once, and none of the measure's other options: call "
                "bayesian_roc, which has its own, or use method='bayesian_bootstrap'"
            )
        return self._curve(predictions)

    def _curve(self, predictions: Predictions) -> Posterior:
        return bayesian_roc(predictions, level=self.level, random_state=self.seed)

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], *, paired: bool, rope: float
    ) -> JointEstimates:
        """Compare by the differences of draws.

        Posteriors of independent samples are independent. Those of the same observations have
        ranks that go together as the influences do, by a normal copula (Iman and Conover 1982);
        each by itself stays what it is.
        """
        estimates = {
            name: replace(self, seed=self.seed + (0 if paired else place))._estimate(
                measure, sample
            )
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
        if paired:
            kept = couple(kept, _correlation(measure, samples), self.seed)
        return compare_draws(measure, estimates, kept, interval_of, rope, self.level)


def couple(
    draws: Mapping[str, Float[np.ndarray, " draws"]],
    correlation: Float[np.ndarray, "m m"],
    seed: int,
) -> dict[str, Float[np.ndarray, " draws"]]:
    """Return the draws of each in the order of ranks that are correlated as given."""
    n_draws = len(next(iter(draws.values())))
    normal = np.random.default_rng(seed).multivariate_normal(
        np.zeros(len(correlation)), correlation, n_draws, method="eigh"
    )
    # Rounded, so that those of identical classifiers are the same in spite of rounding errors.
    ranks = normal.round(9).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return {
        name: np.sort(of_one)[of_ranks]
        for (name, of_one), of_ranks in zip(draws.items(), ranks.T, strict=True)
    }


def _correlation(measure: Measure, samples: Mapping[str, Sample]) -> Float[np.ndarray, "m m"]:
    """Return the correlation of the classifiers' influences; none where one has no variation."""
    found = [
        influences_of([measure], bind(measure, sample.predictions), sample.predictions)
        for sample in samples.values()
    ]
    influences = np.stack([of_measure.influences for [of_measure] in found])
    scale = np.sqrt((influences**2).sum(axis=1))
    varies = scale > NO_VARIATION
    unit = influences * (varies / np.where(varies, scale, 1.0))[:, None]
    correlation: Float[np.ndarray, "m m"] = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    return correlation


def of_mean_pair(curve: Posterior) -> Posterior:
    """Return the posterior of Hand and Till's M, the mean area of the pairs, of that of a curve."""
    tree = curve.posterior.copy()
    mean = xarray.DataArray(drawn_areas(tree).mean(axis=2), dims=("chain", "draw"))
    tree["posterior"] = tree["posterior"].to_dataset().assign(hand_till=mean)
    m = hand_till()
    remarks = list(curve.warnings)
    return summarize(m.name, m.title, "hand_till", tree, curve.level, curve.seed, remarks)


def _is_curve(measure: Measure) -> bool:
    return measure.family == dmf_auc().family


def _has_default_options(measure: Measure) -> bool:
    return all(measure.options[name] is value for name, value in dmf_auc().options.items())
