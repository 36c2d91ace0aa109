"""Results as what JSON can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.comparison import Comparison, Difference
    from dmfroc.evaluation import Evaluation
    from dmfroc.predictions import Predictions
    from dmfroc.uncertainty.estimate import Estimate


def evaluation_as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the contents of an evaluation but for its curve."""
    first = next(iter(evaluation.estimates.values()))
    return sample_as_json(evaluation.predictions) | {
        "method": first.method,
        "level": first.level,
        "estimates": {name: _estimate_as_json(e) for name, e in evaluation.estimates.items()},
    }


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the contents of a comparison."""
    return {
        "measure": comparison.measure,
        "method": comparison.method,
        "level": comparison.level,
        "estimates": {name: _estimate_as_json(e) for name, e in comparison.estimates.items()},
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                **_estimate_as_json(d),
                "p_value": d.p_value,
                "probability_better": d.probability_better,
            }
            for d in comparison.differences
        ],
        "order_probabilities": [
            {"order": list(order), "probability": probability}
            for order, probability in comparison.order_probabilities.items()
        ],
        "n_draws": comparison.n_draws,
        "seed": comparison.seed,
    }


def sample_as_json(predictions: Predictions) -> dict[str, Any]:
    """Return the number of observations, in all and by class."""
    counts = predictions.class_counts.tolist()
    return {
        "n_observations": predictions.n_observations,
        "classes": [
            {"label": label, "count": count}
            for label, count in zip(predictions.labels, counts, strict=True)
        ],
    }


def _estimate_as_json(estimate: Estimate | Difference) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "standard_error": estimate.standard_error,
        "interval": list(estimate.interval),
    }


def strict(value: Any) -> Any:
    """Replace what JSON has no number for by null."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
