"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.class_weights import (
        ClassWeights,
        select_class_weights,
    )
    from dmfroc.evaluation import Evaluation, evaluate
    from dmfroc.factorization import Factorization, dmf
    from dmfroc.measures import Measure
    from dmfroc.measures.contingency import informedness, informedness_score
    from dmfroc.measures.costs import majority_costs
    from dmfroc.measures.multiclass_roc import (
        MulticlassROC,
        dmf_auc,
        dmf_auc_score,
        multiclass_roc,
    )
    from dmfroc.measures.ranking import hand_till_score, pairwise_auc_matrix
    from dmfroc.operating_points import (
        OperatingPoint,
        OptimalOperatingPoints,
        RandomizedThreshold,
        operating_point,
        optimal_operating_points,
        randomized_threshold,
        skew_sensitive_accuracy,
    )
    from dmfroc.plots import MulticlassROCDisplay
    from dmfroc.predictions import Predictions
    from dmfroc.threshold_selection import (
        ClassWeightsClassifierCV,
        ExpectedCost,
        IsoPerformanceClassifierCV,
        NestedCosts,
        ThresholdSelection,
        nested_class_weights,
        nested_threshold_selection,
    )
    from dmfroc.uncertainty.compare import Comparison, compare
    from dmfroc.uncertainty.estimate import Estimate, estimate

# Where each public name lives. It is imported when it is first used, so that `import dmfroc`
# does not wait for JAX.
_HOMES = {
    "ClassWeights": "class_weights",
    "ClassWeightsClassifierCV": "threshold_selection",
    "Comparison": "uncertainty.compare",
    "Estimate": "uncertainty.estimate",
    "Evaluation": "evaluation",
    "ExpectedCost": "threshold_selection",
    "Factorization": "factorization",
    "IsoPerformanceClassifierCV": "threshold_selection",
    "Measure": "measures",
    "MulticlassROC": "measures.multiclass_roc",
    "MulticlassROCDisplay": "plots",
    "NestedCosts": "threshold_selection",
    "OperatingPoint": "operating_points",
    "OptimalOperatingPoints": "operating_points",
    "Predictions": "predictions",
    "RandomizedThreshold": "operating_points",
    "ThresholdSelection": "threshold_selection",
    "compare": "uncertainty.compare",
    "dmf": "factorization",
    "dmf_auc": "measures.multiclass_roc",
    "dmf_auc_score": "measures.multiclass_roc",
    "estimate": "uncertainty.estimate",
    "evaluate": "evaluation",
    "hand_till_score": "measures.ranking",
    "informedness": "measures.contingency",
    "informedness_score": "measures.contingency",
    "majority_costs": "measures.costs",
    "multiclass_roc": "measures.multiclass_roc",
    "nested_class_weights": "threshold_selection",
    "nested_threshold_selection": "threshold_selection",
    "operating_point": "operating_points",
    "optimal_operating_points": "operating_points",
    "pairwise_auc_matrix": "measures.ranking",
    "randomized_threshold": "operating_points",
    "select_class_weights": "class_weights",
    "skew_sensitive_accuracy": "operating_points",
}

__all__ = [
    "ClassWeights",
    "ClassWeightsClassifierCV",
    "Comparison",
    "Estimate",
    "Evaluation",
    "ExpectedCost",
    "Factorization",
    "IsoPerformanceClassifierCV",
    "Measure",
    "MulticlassROC",
    "MulticlassROCDisplay",
    "NestedCosts",
    "OperatingPoint",
    "OptimalOperatingPoints",
    "Predictions",
    "RandomizedThreshold",
    "ThresholdSelection",
    "compare",
    "dmf",
    "dmf_auc",
    "dmf_auc_score",
    "estimate",
    "evaluate",
    "hand_till_score",
    "informedness",
    "informedness_score",
    "majority_costs",
    "multiclass_roc",
    "nested_class_weights",
    "nested_threshold_selection",
    "operating_point",
    "optimal_operating_points",
    "pairwise_auc_matrix",
    "randomized_threshold",
    "select_class_weights",
    "skew_sensitive_accuracy",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dmfroc")
    if name not in _HOMES:
        raise AttributeError(f"module 'dmfroc' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"dmfroc.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
