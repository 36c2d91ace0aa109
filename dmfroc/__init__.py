"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.evaluation import Evaluation, evaluate
    from dmfroc.factorization import Factorization, dmf
    from dmfroc.measures import Measure
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
    from dmfroc.measures.ranking import hand_till_score, pairwise_auc_matrix
    from dmfroc.measures.significance import (
        chi_squared_test,
        fisher_exact_test,
        likelihood_ratio_test,
        powers_statistics,
        sellke_bayarri_berger,
    )
    from dmfroc.plots import MulticlassROCDisplay
    from dmfroc.predictions import Predictions
    from dmfroc.uncertainty.compare import Comparison, compare
    from dmfroc.uncertainty.estimate import Estimate, estimate

# Where each public name lives. It is imported when it is first used, so that `import dmfroc`
# does not wait for JAX.
_HOMES = {
    "Comparison": "uncertainty.compare",
    "ContingencyTable": "measures.contingency_table",
    "Estimate": "uncertainty.estimate",
    "Evaluation": "evaluation",
    "Factorization": "factorization",
    "Measure": "measures",
    "MulticlassROC": "measures.multiclass_roc",
    "MulticlassROCDisplay": "plots",
    "Predictions": "predictions",
    "chi_squared_test": "measures.significance",
    "cohen_kappa_score": "measures.contingency",
    "compare": "uncertainty.compare",
    "contingency_measures": "measures.contingency_table",
    "correlation_score": "measures.contingency",
    "dmf": "factorization",
    "dmf_auc": "measures.multiclass_roc",
    "dmf_auc_score": "measures.multiclass_roc",
    "estimate": "uncertainty.estimate",
    "evaluate": "evaluation",
    "fisher_exact_test": "measures.significance",
    "gorodkin_correlation_score": "measures.contingency",
    "hand_till_score": "measures.ranking",
    "informedness": "measures.contingency",
    "informedness_score": "measures.contingency",
    "likelihood_ratio_test": "measures.significance",
    "majority_costs": "measures.costs",
    "markedness": "measures.contingency",
    "markedness_score": "measures.contingency",
    "multiclass_roc": "measures.multiclass_roc",
    "pairwise_auc_matrix": "measures.ranking",
    "powers_statistics": "measures.significance",
    "sellke_bayarri_berger": "measures.significance",
}

__all__ = [
    "Comparison",
    "ContingencyTable",
    "Estimate",
    "Evaluation",
    "Factorization",
    "Measure",
    "MulticlassROC",
    "MulticlassROCDisplay",
    "Predictions",
    "chi_squared_test",
    "cohen_kappa_score",
    "compare",
    "contingency_measures",
    "correlation_score",
    "dmf",
    "dmf_auc",
    "dmf_auc_score",
    "estimate",
    "evaluate",
    "fisher_exact_test",
    "gorodkin_correlation_score",
    "hand_till_score",
    "informedness",
    "informedness_score",
    "likelihood_ratio_test",
    "majority_costs",
    "markedness",
    "markedness_score",
    "multiclass_roc",
    "pairwise_auc_matrix",
    "powers_statistics",
    "sellke_bayarri_berger",
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
