"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.curves import (
        Curve,
        OperatingPoints,
        accuracy_curve,
        bift_curve,
        bird_curve,
        boc_curve,
        bprd_curve,
        calibration_curve,
        convex_hull,
        cost_curve,
        cumulative_gains_curve,
        delta_pn_curve,
        det_curve,
        isometrics,
        isotonic_calibration_curve,
        lift_curve,
        loess_calibration_curve,
        log_precision_recall_curve,
        operating_points,
        pn_curve,
        precision_recall_curve,
        prg_curve,
        reciprocal_precision_recall_curve,
        roc_curve,
        roc_from_calibration,
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
    from dmfroc.plots import (
        AccuracyDisplay,
        BIFTDisplay,
        BIRDDisplay,
        BOCDisplay,
        BPRDDisplay,
        CalibrationDisplay,
        CostDisplay,
        CumulativeGainsDisplay,
        DeltaPNDisplay,
        DETDisplay,
        LiftDisplay,
        LogPrecisionRecallDisplay,
        MulticlassROCDisplay,
        PNDisplay,
        PrecisionRecallDisplay,
        PRGDisplay,
        ReciprocalPrecisionRecallDisplay,
        ROCDisplay,
    )
    from dmfroc.predictions import Predictions
    from dmfroc.uncertainty.compare import Comparison, compare
    from dmfroc.uncertainty.estimate import Estimate, estimate

# Where each public name lives. It is imported when it is first used, so that `import dmfroc`
# does not wait for JAX.
_HOMES = {
    "AccuracyDisplay": "plots",
    "BIFTDisplay": "plots",
    "BIRDDisplay": "plots",
    "BOCDisplay": "plots",
    "BPRDDisplay": "plots",
    "CalibrationDisplay": "plots",
    "Comparison": "uncertainty.compare",
    "CostDisplay": "plots",
    "CumulativeGainsDisplay": "plots",
    "Curve": "curves",
    "DETDisplay": "plots",
    "DeltaPNDisplay": "plots",
    "Estimate": "uncertainty.estimate",
    "Evaluation": "evaluation",
    "Factorization": "factorization",
    "LiftDisplay": "plots",
    "LogPrecisionRecallDisplay": "plots",
    "Measure": "measures",
    "MulticlassROC": "measures.multiclass_roc",
    "MulticlassROCDisplay": "plots",
    "OperatingPoints": "curves",
    "PNDisplay": "plots",
    "PRGDisplay": "plots",
    "PrecisionRecallDisplay": "plots",
    "Predictions": "predictions",
    "ROCDisplay": "plots",
    "ReciprocalPrecisionRecallDisplay": "plots",
    "accuracy_curve": "curves",
    "bift_curve": "curves",
    "bird_curve": "curves",
    "boc_curve": "curves",
    "bprd_curve": "curves",
    "calibration_curve": "curves",
    "compare": "uncertainty.compare",
    "convex_hull": "curves",
    "cost_curve": "curves",
    "cumulative_gains_curve": "curves",
    "delta_pn_curve": "curves",
    "det_curve": "curves",
    "dmf": "factorization",
    "dmf_auc": "measures.multiclass_roc",
    "dmf_auc_score": "measures.multiclass_roc",
    "estimate": "uncertainty.estimate",
    "evaluate": "evaluation",
    "hand_till_score": "measures.ranking",
    "informedness": "measures.contingency",
    "informedness_score": "measures.contingency",
    "isometrics": "curves",
    "isotonic_calibration_curve": "curves",
    "lift_curve": "curves",
    "loess_calibration_curve": "curves",
    "log_precision_recall_curve": "curves",
    "majority_costs": "measures.costs",
    "multiclass_roc": "measures.multiclass_roc",
    "operating_points": "curves",
    "pairwise_auc_matrix": "measures.ranking",
    "pn_curve": "curves",
    "precision_recall_curve": "curves",
    "prg_curve": "curves",
    "reciprocal_precision_recall_curve": "curves",
    "roc_curve": "curves",
    "roc_from_calibration": "curves",
}

__all__ = [
    "AccuracyDisplay",
    "BIFTDisplay",
    "BIRDDisplay",
    "BOCDisplay",
    "BPRDDisplay",
    "CalibrationDisplay",
    "Comparison",
    "CostDisplay",
    "CumulativeGainsDisplay",
    "Curve",
    "DETDisplay",
    "DeltaPNDisplay",
    "Estimate",
    "Evaluation",
    "Factorization",
    "LiftDisplay",
    "LogPrecisionRecallDisplay",
    "Measure",
    "MulticlassROC",
    "MulticlassROCDisplay",
    "OperatingPoints",
    "PNDisplay",
    "PRGDisplay",
    "PrecisionRecallDisplay",
    "Predictions",
    "ROCDisplay",
    "ReciprocalPrecisionRecallDisplay",
    "accuracy_curve",
    "bift_curve",
    "bird_curve",
    "boc_curve",
    "bprd_curve",
    "calibration_curve",
    "compare",
    "convex_hull",
    "cost_curve",
    "cumulative_gains_curve",
    "delta_pn_curve",
    "det_curve",
    "dmf",
    "dmf_auc",
    "dmf_auc_score",
    "estimate",
    "evaluate",
    "hand_till_score",
    "informedness",
    "informedness_score",
    "isometrics",
    "isotonic_calibration_curve",
    "lift_curve",
    "loess_calibration_curve",
    "log_precision_recall_curve",
    "majority_costs",
    "multiclass_roc",
    "operating_points",
    "pairwise_auc_matrix",
    "pn_curve",
    "precision_recall_curve",
    "prg_curve",
    "reciprocal_precision_recall_curve",
    "roc_curve",
    "roc_from_calibration",
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
