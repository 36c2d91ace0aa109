"""The area under the multiclass ROC curve as a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dmfroc.measures.measure import (
    BoundMeasures,
    Measure,
    SummariesOfCounts,
    value_of,
)
from dmfroc.measures.ranking import mean_pairwise_area
from dmfroc.measures.registry import registered
from dmfroc.measures.statistics.pairs import pair_counts_of
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.curve import area
from dmfroc.multiclass.rates import (
    DEFAULT_N_THRESHOLDS,
    DEFAULT_SHRINKAGE,
    CurveOptions,
    ThresholdPool,
)
from dmfroc.predictions import Predictions, as_predictions


@dataclass(frozen=True)
class BindArea:
    """Binds the area to predictions: the curve's, or of two classes the ordinary one."""

    options: CurveOptions

    def __call__(self, predictions: Predictions) -> BoundMeasures:
        if predictions.n_classes == 2:
            of_second = pair_counts_of(predictions, np.array([1]))
            return SummariesOfCounts(of_second, (mean_pairwise_area,))
        return SummariesOfCounts(self.options(predictions), (area,))


@registered()
def dmf_auc(
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float | int = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "balanced",
) -> Measure:
    """Return the area under the multiclass ROC curve as a measure.

    Parameters
    ----------
    pair_weights, n_thresholds, shrinkage, threshold_pool
        As for `multiclass_roc`.

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
    options = CurveOptions(pair_weights, n_thresholds, shrinkage, threshold_pool)
    return Measure(
        name="dmf_auc",
        title="DMF-AUC",
        bind=BindArea(options),
        bounds=(0.0, 1.0),
        chance=0.5,
        family="multiclass ROC",
    )


def dmf_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float | int = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "balanced",
) -> float:
    """Return the area under the multiclass ROC curve of Wang and Carvalho.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pair_weights, n_thresholds, shrinkage,
    threshold_pool
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
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    measure = dmf_auc(
        pair_weights=pair_weights,
        n_thresholds=n_thresholds,
        shrinkage=shrinkage,
        threshold_pool=threshold_pool,
    )
    return value_of(measure, predictions)
