"""The area under the multiclass ROC curve as a measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.options import RandomState, is_one_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, SampledParts, SummariesOfCounts
from dmfroc.measures.measure import UNIT, Measure, absent_classes_message
from dmfroc.measures.ranking import mean_pairwise_area, scale_message
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.pairs import pair_counts_of
from dmfroc.multiclass.costs import PairWeights, one_curve_message, weight_matrices
from dmfroc.multiclass.curve import area, area_of
from dmfroc.multiclass.rates import (
    DEFAULT_N_THRESHOLDS,
    DEFAULT_SHRINKAGE,
    CurveOptions,
    Preset,
    RateCounts,
    ThresholdPool,
)


def _bind(options: CurveOptions, predictions: Predictions) -> BoundMeasures:
    if predictions.n_classes == 2:
        weight_matrices(options.pair_weights, predictions)  # refuses what is none
        second = pair_counts_of(predictions, np.array([1]))
        return SummariesOfCounts(second, (mean_pairwise_area,))
    statistic = options(predictions)
    if not statistic.is_sample:
        return SummariesOfCounts(statistic, (area_of(options.rank),))
    if options.rank > 1:
        raise ValueError("dmf_auc of a rank above 1 takes all pairs of classes: leave n_pairs out")
    return AreaOfSampledPairs(statistic, (area,))


@dataclass(frozen=True, eq=False)
class AreaOfSampledPairs(SummariesOfCounts):
    """The area from a random sample of the pairs of classes."""

    def sampled_parts(self, weights: PerRow) -> SampledParts:
        """Return the derivative with respect to the weights of the pairs drawn."""
        assert isinstance(self.statistic, RateCounts)
        ordered = area.derivative_by_pairs(self.statistic.count(weights, np))
        unordered = ordered.reshape(-1, 2).sum(axis=1)
        return unordered[None], self.statistic.n_pairs


@also_called("dmf, dmf_auc_score")
@register()
def dmf_auc(
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float | int = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "column",
    n_pairs: int | None = None,
    random_state: RandomState = 0,
    rank: int = 1,
    preset: Preset = "default",
) -> Measure:
    """Return the area under the multiclass ROC curve as a measure.

    Parameters
    ----------
    pair_weights, n_thresholds, shrinkage, threshold_pool
        As for `multiclass_roc`.
    n_pairs, random_state
        As for `multiclass_roc`: a random sample of the pairs of classes. The jackknife's standard
        error includes what the draw adds, by the derivative of the area with respect to weights of
        the pairs, as in a simple random sample from a finite population. It is a little too large
        where pairs differ because their classes have few observations, whose error counts twice.
        Other methods and the band of the curve refuse samples of pairs.
    rank
        As for `multiclass_roc`. With more than one factor, posteriors, samples counted in bins and
        samples of pairs are refused.
    preset
        As for `multiclass_roc`. With ``"paper"``, three classes or more and no folds, the default
        ``method`` is the paper's bootstrap, whose intervals are far too narrow.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing, 1 only for perfect separation of every pair. For K = 2 the
        ordinary area under the ROC curve of the second class.

    Raises
    ------
    ValueError
        If an option is out of its range.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, equation 22.

    Examples
    --------
    >>> dmf_auc()(["no", "no", "yes", "yes"], [0.1, 0.6, 0.4, 0.9])
    0.75
    """
    options = CurveOptions(
        pair_weights, n_thresholds, shrinkage, threshold_pool, n_pairs, random_state, rank, preset
    )
    caveats, is_plain = (absent_classes_message, scale_message), is_one_of(pair_weights, ("equal",))
    return Measure(
        name="dmf_auc",
        title="DMF-AUC",
        bind=partial(_bind, options),
        bounds=UNIT,
        chance=0.5,
        family="multiclass ROC",
        caveats=caveats if is_plain else (*caveats, one_curve_message),
        is_dmf_auc=True,
    )


def curve_options_of(measure: Measure) -> CurveOptions | None:
    """Return the options of the curve whose area a measure is; None if it is no such area."""
    if not measure.is_dmf_auc:
        return None
    assert isinstance(measure.bind, partial)
    options: CurveOptions = measure.bind.args[0]
    return options


def dmf_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float | int = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "column",
    n_pairs: int | None = None,
    random_state: RandomState = 0,
    preset: Preset = "default",
) -> float:
    """Return the area under the multiclass ROC curve of Wang and Carvalho.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pair_weights, n_thresholds, shrinkage,
    threshold_pool, n_pairs, random_state, preset
        As for `multiclass_roc`.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing, 1 only for perfect separation of every pair. For K = 2 the
        ordinary area under the ROC curve of the second class.

    Raises
    ------
    TypeError, ValueError
        As for `multiclass_roc`.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, equation 22.

    Examples
    --------
    >>> dmf_auc_score(["no", "no", "yes", "yes"], [0.1, 0.6, 0.4, 0.9])
    0.75
    """
    options = pair_weights, n_thresholds, shrinkage, threshold_pool, n_pairs, random_state
    measure = dmf_auc(*options, preset=preset)
    return measure(y_true, y_score, labels=labels, sample_weight=sample_weight)
