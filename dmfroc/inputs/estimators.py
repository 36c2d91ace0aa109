"""Scores from fitted scikit-learn classifiers."""

from __future__ import annotations

from typing import Any


def scores_of(estimator: Any, X: Any) -> Any:
    """Return the scores of each class that a fitted classifier gives."""
    kind = type(estimator).__name__
    method = next(
        (m for m in ("predict_proba", "decision_function") if hasattr(estimator, m)), None
    )
    if method is None or not hasattr(estimator, "classes_"):
        lacking = "classes_ (is it fitted?)" if method else "predict_proba and decision_function"
        raise TypeError(
            f"estimator must be a fitted classifier that gives scores, but {kind} lacks {lacking}; "
            "if you have scores, use from_predictions"
        )
    if method == "decision_function" and len(estimator.classes_) > 2 and _votes_by_pairs(estimator):
        # For three classes there are as many pairs as classes: nothing else would notice.
        raise TypeError(
            f"estimator must give one score per class, but {kind} scores pairs of classes "
            "(decision_function_shape='ovo'); set decision_function_shape='ovr'"
        )
    return getattr(estimator, method)(X)


def _votes_by_pairs(estimator: Any) -> bool:
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return any(
        name.endswith("decision_function_shape") and value == "ovo"
        for name, value in parameters.items()
    )
