"""Which posterior belongs to which measure, for ``estimate(..., method="bayes")``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmfroc._backend import double_precision
from dmfroc.measures import MEASURES, Measure
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.bayes.posterior import Posterior
from dmfroc.uncertainty.bayes.roc import bayesian_roc
from dmfroc.uncertainty.bayes.tables import bayesian_table

_CURVE = "dmf_auc"


def posterior_of(measure: Measure, predictions: Predictions, level: float, seed: int) -> Posterior:
    """Return the posterior of the multiclass area, or of a measure of hard labels."""
    if measure.name != _CURVE:
        return bayesian_table(measure, predictions, level=level, random_state=seed)
    if len(predictions.present) > 2 and not _weighs_pairs_equally(measure, predictions):
        raise ValueError(
            "the posterior of the DMF-AUC knows pair_weights='equal' only, because every "
            "observation counts once; use method='jackknife' for other weights"
        )
    return bayesian_roc(predictions, level=level, random_state=seed)


@double_precision
def _weighs_pairs_equally(measure: Measure, predictions: Predictions) -> bool:
    bound: list[Any] = [m.bind(predictions) for m in (measure, MEASURES[_CURVE])]
    weights, default = (np.asarray(curve.args[0].cell_weights) for curve in bound)
    return np.array_equal(weights, default)
