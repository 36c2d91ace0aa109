"""What analyses return, and how it is written: text, data frames, JSON."""

from importlib import import_module
from typing import Any

# Results are defined with the analyses that return them, in rooms above, and imported when they are
# first used. The stub `__init__.pyi` repeats this table for type checkers.
_HOMES = {
    "CalibrationTests": "analyses.calibration_tests",
    "Comparison": "analyses.comparison_result",
    "ConfidenceSequence": "analyses.sequences",
    "Drift": "analyses.sequences",
    "Estimate": "results.estimate",
    "Evaluation": "analyses.evaluation",
    "Factorization": "multiclass.factorization",
    "HorizonCurves": "analyses.horizons",
    "ItemScores": "analyses.items",
    "MulticlassROC": "multiclass.curve",
    "MultilabelComparison": "analyses.multilabel",
    "NestedCrossValidation": "analyses.cross_validation",
    "Plan": "analyses.planning",
    "Posterior": "bayes.posterior",
    "ResultsByClass": "results.attributes",
    "RunsComparison": "analyses.training_runs",
    "SubgroupComparison": "analyses.subgroups",
    "SummaryROC": "meta_analysis.result",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"No dmfroc.results attribute {name}")
    return getattr(import_module(f"dmfroc.{_HOMES[name]}"), name)
