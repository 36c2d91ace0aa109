"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.class_weights import ClassWeights, select_class_weights
    from dmfroc.evaluation import Evaluation, evaluate
    from dmfroc.factorization import Factorization, dmf
    from dmfroc.measures import Measure
    from dmfroc.measures.auc_mu import auc_mu, auc_mu_score
    from dmfroc.measures.contingency import (
        cohen_kappa_score,
        correlation_score,
        gorodkin_correlation_score,
        informedness,
        informedness_score,
        markedness,
        markedness_score,
    )
    from dmfroc.measures.contingency_table import ContingencyTable, contingency_measures
    from dmfroc.measures.costs import majority_costs
    from dmfroc.measures.multiclass_roc import MulticlassROC, dmf_auc, dmf_auc_score, multiclass_roc
    from dmfroc.measures.precision_recall import (
        average_precision_score,
        precision_recall_area_score,
        precision_recall_gain_area,
        precision_recall_gain_area_score,
    )
    from dmfroc.measures.ranking import (
        hand_till_score,
        one_vs_one_auc_score,
        one_vs_rest_auc_per_class,
        one_vs_rest_auc_score,
        pairwise_auc_matrix,
    )
    from dmfroc.measures.roc_areas import (
        convex_hull_auc_score,
        gini_score,
        h_measure,
        h_measure_score,
        kappa_area,
        kappa_area_score,
        lift_area,
        lift_area_score,
        max_informedness_score,
        partial_auc,
        partial_auc_score,
        roc_area,
        roc_area_score,
    )
    from dmfroc.measures.significance import (
        chi_squared_test,
        fisher_exact_test,
        likelihood_ratio_test,
        powers_statistics,
        sellke_bayarri_berger,
    )
    from dmfroc.measures.vus import ordinal_vus_score, vus_score
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
    "ContingencyTable": "measures.contingency_table",
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
    "auc_mu": "measures.auc_mu",
    "auc_mu_score": "measures.auc_mu",
    "average_precision_score": "measures.precision_recall",
    "chi_squared_test": "measures.significance",
    "cohen_kappa_score": "measures.contingency",
    "compare": "uncertainty.compare",
    "contingency_measures": "measures.contingency_table",
    "convex_hull_auc_score": "measures.roc_areas",
    "correlation_score": "measures.contingency",
    "dmf": "factorization",
    "dmf_auc": "measures.multiclass_roc",
    "dmf_auc_score": "measures.multiclass_roc",
    "estimate": "uncertainty.estimate",
    "evaluate": "evaluation",
    "fisher_exact_test": "measures.significance",
    "gini_score": "measures.roc_areas",
    "gorodkin_correlation_score": "measures.contingency",
    "h_measure": "measures.roc_areas",
    "h_measure_score": "measures.roc_areas",
    "hand_till_score": "measures.ranking",
    "informedness": "measures.contingency",
    "informedness_score": "measures.contingency",
    "kappa_area": "measures.roc_areas",
    "kappa_area_score": "measures.roc_areas",
    "lift_area": "measures.roc_areas",
    "lift_area_score": "measures.roc_areas",
    "likelihood_ratio_test": "measures.significance",
    "majority_costs": "measures.costs",
    "markedness": "measures.contingency",
    "markedness_score": "measures.contingency",
    "max_informedness_score": "measures.roc_areas",
    "multiclass_roc": "measures.multiclass_roc",
    "nested_class_weights": "threshold_selection",
    "nested_threshold_selection": "threshold_selection",
    "one_vs_one_auc_score": "measures.ranking",
    "one_vs_rest_auc_per_class": "measures.ranking",
    "one_vs_rest_auc_score": "measures.ranking",
    "operating_point": "operating_points",
    "optimal_operating_points": "operating_points",
    "ordinal_vus_score": "measures.vus",
    "pairwise_auc_matrix": "measures.ranking",
    "partial_auc": "measures.roc_areas",
    "partial_auc_score": "measures.roc_areas",
    "powers_statistics": "measures.significance",
    "precision_recall_area_score": "measures.precision_recall",
    "precision_recall_gain_area": "measures.precision_recall",
    "precision_recall_gain_area_score": "measures.precision_recall",
    "randomized_threshold": "operating_points",
    "roc_area": "measures.roc_areas",
    "roc_area_score": "measures.roc_areas",
    "select_class_weights": "class_weights",
    "sellke_bayarri_berger": "measures.significance",
    "skew_sensitive_accuracy": "operating_points",
    "vus_score": "measures.vus",
}

__all__ = [
    "ClassWeights",
    "ClassWeightsClassifierCV",
    "Comparison",
    "ContingencyTable",
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
    "auc_mu",
    "auc_mu_score",
    "average_precision_score",
    "chi_squared_test",
    "cohen_kappa_score",
    "compare",
    "contingency_measures",
    "convex_hull_auc_score",
    "correlation_score",
    "dmf",
    "dmf_auc",
    "dmf_auc_score",
    "estimate",
    "evaluate",
    "fisher_exact_test",
    "gini_score",
    "gorodkin_correlation_score",
    "h_measure",
    "h_measure_score",
    "hand_till_score",
    "informedness",
    "informedness_score",
    "kappa_area",
    "kappa_area_score",
    "lift_area",
    "lift_area_score",
    "likelihood_ratio_test",
    "majority_costs",
    "markedness",
    "markedness_score",
    "max_informedness_score",
    "multiclass_roc",
    "nested_class_weights",
    "nested_threshold_selection",
    "one_vs_one_auc_score",
    "one_vs_rest_auc_per_class",
    "one_vs_rest_auc_score",
    "operating_point",
    "optimal_operating_points",
    "ordinal_vus_score",
    "pairwise_auc_matrix",
    "partial_auc",
    "partial_auc_score",
    "powers_statistics",
    "precision_recall_area_score",
    "precision_recall_gain_area",
    "precision_recall_gain_area_score",
    "randomized_threshold",
    "roc_area",
    "roc_area_score",
    "select_class_weights",
    "sellke_bayarri_berger",
    "skew_sensitive_accuracy",
    "vus_score",
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
