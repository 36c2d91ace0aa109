"""The bootstrap of Wang and Carvalho (2024): every cell drawn from the fitted model by itself.

It is here to reproduce the paper. The rows of one column are cumulative counts of the same
observations, not independent binomials, so that its intervals are far too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc.measures.measure import BoundMeasures, Measure, SummariesOfCounts
from dmfroc.multiclass.curve import fit
from dmfroc.multiclass.rank_one import sigmoid
from dmfroc.multiclass.rates import RateCounts
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.interval_method import USE_BOOTSTRAP, Sample
from dmfroc.uncertainty.options import IntervalType
from dmfroc.uncertainty.replicates import Replicates
from dmfroc.uncertainty.resampling import Resampling


@dataclass(frozen=True)
class PaperBootstrap(Resampling):
    """Replicates of the rate matrices' cells, for the DMF-AUC only."""

    name: ClassVar[str] = "paper_bootstrap"
    remedies: ClassVar[Mapping[str, str]] = {
        "groups": f"its observations are independent; {USE_BOOTSTRAP}",
        "stratify": f"it takes the class sizes as fixed; {USE_BOOTSTRAP}",
    }
    caveat: ClassVar[str | None] = (
        "the paper's bootstrap takes cumulative counts of the same observations for independent: "
        "its nominal 95 % interval covers the truth in about one sample of eight; use it only to "
        "reproduce the paper"
    )

    interval_type: IntervalType = "percentile"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval_type != "percentile":
            raise ValueError("the paper's bootstrap has the interval_type 'percentile' only")

    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the areas of rate matrices drawn cell by cell."""
        return Replicates(_areas(measure, bound, sample.predictions, self.n_draws, self.seed))


def _areas(
    measure: Measure, bound: BoundMeasures, predictions: Predictions, n_draws: int, seed: int
) -> Float[np.ndarray, "draws 1"]:
    """Return the DMF-AUC of matrices of independent proportions, binomial with the fitted rates."""
    if not (isinstance(bound, SummariesOfCounts) and isinstance(bound.statistic, RateCounts)):
        raise ValueError(
            "method='paper_bootstrap' draws the cells of the rate matrices: it is for 'dmf_auc' "
            f"of three or more classes, not for {measure.name!r} of {predictions.n_classes}"
        )
    table = bound.statistic.count(predictions.sample_weight, np)
    solution = fit(table, np)
    effects = solution.row_effect * solution.column_effect[:, None, None]
    fitted = sigmoid(effects, np).reshape(table.counts.shape)
    totals = table.totals[table.counted][..., None]
    sizes = predictions.class_counts[predictions.present][table.counted][..., None]
    generator = np.random.default_rng(seed)
    [summary] = bound.summaries

    def area() -> float:
        # Independent cells need not rise with the threshold; the paper sums them as they are.
        drawn = generator.binomial(sizes, fitted) / sizes
        return float(summary(table._replace(counts=drawn * totals), np))

    return np.array([[area()] for _ in range(n_draws)])
