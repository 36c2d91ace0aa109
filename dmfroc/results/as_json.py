"""Results as what JSON can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.analyses.evaluation import Evaluation
    from dmfroc.analyses.planning import Plan
    from dmfroc.analyses.subgroups import SubgroupComparison
    from dmfroc.analyses.training_runs import RunsComparison
    from dmfroc.inputs.predictions import Predictions
    from dmfroc.results.comparison_result import Comparison, Difference
    from dmfroc.results.estimate import Estimate


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
                "adjusted_p_value": d.adjusted_p_value,
                "probability_better": d.probability_better,
            }
            for d in comparison.differences
        ],
        "order_probabilities": [
            {"order": list(order), "probability": probability}
            for order, probability in comparison.order_probabilities.items()
        ],
        "alternative": comparison.alternative,
        "margin": comparison.margin,
        "tested": comparison.tested,
        "simultaneous": comparison.simultaneous,
        "value_intervals": None
        if comparison.value_intervals is None
        else {name: list(ends) for name, ends in comparison.value_intervals.items()},
        "best_set": list(comparison.best_set()),
        "winner": None
        if comparison.winner is None
        else {
            "name": comparison.winner.name,
            "value": comparison.winner.value,
            "interval": list(comparison.winner.interval),
            "rivals": list(comparison.winner.rivals),
        },
        "n_draws": comparison.n_draws,
        "seed": comparison.seed,
    }


def subgroups_as_json(found: SubgroupComparison) -> dict[str, Any]:
    """Return the contents of a comparison of subgroups."""
    return {
        "measure": found.measure,
        "method": found.method,
        "level": found.level,
        "groups": {
            name: {"n": found.sizes[name]} | _estimate_as_json(e)
            for name, e in found.estimates.items()
        },
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                **_estimate_as_json(d),
                "p_value": d.p_value,
                "adjusted_p_value": d.adjusted_p_value,
            }
            for d in found.differences
        ],
        "omnibus": {
            "statistic": found.omnibus.statistic,
            "degrees_of_freedom": list(found.omnibus.degrees_of_freedom),
            "p_value": found.omnibus.p_value,
        },
        "left_out": found.left_out,
    }


def runs_as_json(found: RunsComparison) -> dict[str, Any]:
    """Return the contents of a comparison of training runs."""
    return {
        "measure": found.measure,
        "method": found.method,
        "level": found.level,
        "n_observations": found.n_observations,
        "crossed": found.crossed,
        "runs": {name: values.tolist() for name, values in found.values.items()},
        "tests": {
            name: {
                "statistic": test.statistic,
                "degrees_of_freedom": list(test.degrees_of_freedom),
                "p_value": test.p_value,
                "differences": [
                    d._asdict() | {"interval": list(d.interval)} for d in test.differences
                ],
            }
            for name, test in (
                ("random_runs", found.random_runs),
                ("fixed_runs", found.fixed_runs),
                ("fixed_cases", found.fixed_cases),
            )
        },
        "mean_squares": found.mean_squares,
        "covariances": found.covariances._asdict(),
    }


def plan_as_json(found: Plan) -> dict[str, Any]:
    """Return the contents of a plan."""
    return {
        "measure": found.measure,
        "aim": found.aim,
        "value": found.value,
        "n": found.n,
        "n_interval": list(found.n_interval),
        "classes": [
            {
                "label": label,
                "count": count,
                "share": found.prevalence[label],
                "optimal_share": found.optimal_prevalence[label],
            }
            for label, count in found.class_counts.items()
        ],
        "n_optimal": found.n_optimal,
        "level": found.level,
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
    } | ({"error_bound": bound} if (bound := getattr(estimate, "error_bound", 0.0)) else {})


def strict(value: Any) -> Any:
    """Replace what JSON has no number for by null."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
