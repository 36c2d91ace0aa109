"""The bootstrap of Wang and Carvalho (2024): every cell drawn from the fitted model by itself.

It is here to reproduce the paper. The rows of one column are cumulative counts of the same
observations, not independent binomials, so that its intervals are far too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc.inference.bootstrap import Resampling
from dmfroc.inference.method import USE_BOOTSTRAP
from dmfroc.inference.replicates import IntervalType
from dmfroc.inference.units import Sample
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, SummariesOfCounts
from dmfroc.measures.measure import Measure
from dmfroc.multiclass.band import CurveBand, band_of_draws
from dmfroc.multiclass.curve import MulticlassROC, SummaryOfRank, fit, rates_at_thresholds
from dmfroc.multiclass.rank_one import sigmoid
from dmfroc.multiclass.rates import CurveOptions, RateCounts, RateTable

PAPER_DRAWS = 100
"""Draws of a curve: "we bootstrap with binomial weight 100 times" (section 5.4)."""


@dataclass(frozen=True)
class PaperBootstrap(Resampling):
    """Replicates of the rate matrices' cells, for the DMF-AUC only (Wang and Carvalho 2024).

    Attributes
    ----------
    n_draws : int
        Number of replicates, at least 100.

    Examples
    --------
    >>> import dmfroc
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(90) % 3
    >>> scores = np.eye(3)[y] + rng.normal(size=(90, 3))
    >>> found = dmfroc.estimate("dmf_auc", y, scores, method=PaperBootstrap(100))
    >>> found.n_draws
    100
    """

    name = "paper_bootstrap"
    remedies: ClassVar[Mapping[str, str]] = {
        "groups": f"its observations are independent; {USE_BOOTSTRAP}",
        "stratify": f"it takes the class sizes as fixed; {USE_BOOTSTRAP}",
    }
    is_plain = True
    caveat = (
        "the paper's bootstrap takes cumulative counts of the same observations for independent: "
        "its nominal 95 % interval covers the truth in about one sample of five; use it only to "
        "reproduce the paper"
    )

    interval: IntervalType = field(default="percentile", init=False)

    def replicates(
        self, measure: Measure, bound: BoundMeasures, sample: Sample
    ) -> Float[np.ndarray, "draws 1"]:
        """Return the areas of matrices of independent proportions with the fitted rates."""
        predictions = sample.predictions
        if not (isinstance(bound, SummariesOfCounts) and isinstance(bound.statistic, RateCounts)):
            raise ValueError(
                "method='paper_bootstrap' draws the cells of the rate matrices: it is for "
                f"'dmf_auc' of three or more classes, not for {measure.name!r} of "
                f"{predictions.n_classes}"
            )
        [summary] = bound.summaries
        if isinstance(summary, SummaryOfRank):
            raise ValueError(
                "method='paper_bootstrap' draws from the model of rank 1: leave rank out"
            )
        tables = _tables(bound.statistic, predictions, self.n_draws, self.seed)
        return np.array([[float(summary(table, np))] for table in tables])


def _tables(
    statistic: RateCounts, predictions: Predictions, n_draws: int, seed: int
) -> Iterator[RateTable]:
    """Draw every cell of the rate matrices from the fitted model by itself."""
    table = statistic.count(predictions.sample_weight, np)
    solution = fit(table, np)
    effects = solution.row_effect * solution.column_effect[:, None, None]
    fitted = sigmoid(effects, np).reshape(table.counts.shape)
    totals = table.totals[table.counted][..., None]
    sizes = predictions.class_counts[predictions.present][table.counted][..., None]
    generator = np.random.default_rng(seed)
    for _ in range(n_draws):
        # Independent cells need not rise with the threshold; the paper sums them as they are.
        drawn = generator.binomial(sizes, fitted) / sizes
        yield table._replace(counts=drawn * totals)


def paper_band(
    curve: MulticlassROC, predictions: Predictions, options: CurveOptions, method: PaperBootstrap
) -> CurveBand:
    """Return the band of a curve by the paper's bootstrap: quantiles of the drawn curves.

    Parameters
    ----------
    curve : MulticlassROC
        The curve of the predictions with these options, of three or more classes.
    predictions : Predictions
        What was predicted and observed.
    options : CurveOptions
        The options of the curve.
    method : PaperBootstrap
        Level, number of draws and seed, with which its intervals of the area are those of the same
        draws.

    Returns
    -------
    CurveBand
        As all drawn curves do, it begins at (0, 0) and ends at (1, 1). It is too narrow.
    """
    tables = _tables(options(predictions), predictions, method.n_draws, method.seed)
    summary = rates_at_thresholds(1)
    drawn = (summary(table, np) for table in tables)
    return band_of_draws(curve, drawn, method.level, method.name)
