"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from dmfroc.plots import MulticlassROCDisplay
    from dmfroc.predictions import Predictions
    from dmfroc.uncertainty.bayes import (
        Posterior,
        Priors,
        bayesian_roc,
        bayesian_roc_prior,
        bayesian_table,
    )
    from dmfroc.uncertainty.compare import Comparison, compare
    from dmfroc.uncertainty.estimate import Estimate, estimate

# Where each public name lives. It is imported when it is first used, so that `import dmfroc`
# does not wait for JAX.
_HOMES = {
    "Comparison": "uncertainty.compare",
    "Estimate": "uncertainty.estimate",
    "Evaluation": "evaluation",
    "Factorization": "factorization",
    "Measure": "measures",
    "MulticlassROC": "measures.multiclass_roc",
    "MulticlassROCDisplay": "plots",
    "Posterior": "uncertainty.bayes",
    "Predictions": "predictions",
    "Priors": "uncertainty.bayes",
    "bayesian_roc": "uncertainty.bayes",
    "bayesian_roc_prior": "uncertainty.bayes",
    "bayesian_table": "uncertainty.bayes",
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
    "pairwise_auc_matrix": "measures.ranking",
}

__all__ = [
    "Comparison",
    "Estimate",
    "Evaluation",
    "Factorization",
    "Measure",
    "MulticlassROC",
    "MulticlassROCDisplay",
    "Posterior",
    "Predictions",
    "Priors",
    "bayesian_roc",
    "bayesian_roc_prior",
    "bayesian_table",
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
    "pairwise_auc_matrix",
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
