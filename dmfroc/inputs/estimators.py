"""Scores from fitted scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import unmasked
from dmfroc.inputs.arrays import Array, Rows

_MOST_CONTRADICTIONS = 0.05  # share of rows; classifiers with thresholds of their own have some


@np.errstate(under="ignore")  # in probabilities near 0
def scores_of(estimator: Any, X: Any, y: Any = None) -> Any:
    """Return the scores of each class that a fitted classifier gives, with the index of features.

    If there are labels, their index must not be that of the features in another order.
    """
    rows = Rows(X, "X")
    rows.check_same(y, "y")
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
    is_decision = method == "decision_function" and len(estimator.classes_) > 2
    if is_decision and _votes_by_pairs(estimator):
        raise _pairs_error(kind, "scores pairs of classes (decision_function_shape='ovo')")
    scores = unmasked(f"y_score, from {kind},", getattr(estimator, method)(X))
    if is_decision and hasattr(estimator, "predict"):
        _check_decisions(np.asarray(scores), estimator, X, kind)
    return rows.indexed(scores)


def held_out(cv_results: Mapping[str, Any], X: Any, y: Any) -> list[tuple[Array, Array, Any]]:
    """Return the rows that each classifier of ``cross_validate`` of scikit-learn did not see.

    They are their classes, the classifier's scores of them, and the labels of its columns.
    """
    from sklearn.utils import _safe_indexing

    if not isinstance(cv_results, Mapping) or not {"estimator", "indices"} <= set(cv_results):
        raise TypeError(
            "cv_results must be those of sklearn's cross_validate with return_estimator=True and "
            "return_indices=True"
        )
    folds = []
    for estimator, rows in zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True):
        scores = scores_of(estimator, _safe_indexing(X, rows))
        folds.append((np.asarray(y)[rows], np.asarray(scores), estimator.classes_))
    return folds


def _votes_by_pairs(estimator: Any) -> bool:
    """Whether the classifier that a search or a pipeline ends in scores pairs of classes."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif getattr(estimator, "steps", None):
            estimator = estimator.steps[-1][1]
        else:
            return getattr(estimator, "decision_function_shape", None) == "ovo"


def _check_decisions(scores: Array, estimator: Any, X: Any, kind: str) -> None:
    """Refuse scores that do not belong to the classes.

    There are as many pairs of three classes as classes, so that the shape shows nothing then. But
    the largest score does not lead to the predicted class.
    """
    classes = np.asarray(estimator.classes_)
    n_classes = len(classes)
    if scores.ndim != 2 or scores.shape[1] != n_classes:
        raise _pairs_error(kind, f"has a decision function of shape {scores.shape}")
    is_predicted = np.asarray(estimator.predict(X))[:, np.newaxis] == classes
    of_predicted = np.where(is_predicted, scores, -np.inf).max(axis=1)
    differs = of_predicted < scores.max(axis=1)
    # Support vector machines add less than 1/2 to votes, and decide between equal votes otherwise
    votes = np.round(scores)
    is_vote = votes.sum(axis=1) == n_classes * (n_classes - 1) / 2
    is_tie = is_vote & (np.round(of_predicted) == votes.max(axis=1))
    share = np.mean(differs & ~is_tie)
    if share > _MOST_CONTRADICTIONS:
        raise _pairs_error(
            kind,
            f"predicts another class than that of the largest score in {share:.0%} of the rows, as "
            "if it scored pairs of classes",
        )


def _pairs_error(kind: str, what: str) -> TypeError:
    return TypeError(
        f"estimator must give one score per class, but {kind} {what}; set "
        "decision_function_shape='ovr', or use a classifier with predict_proba"
    )


def class_scores_of(fitted: Any, X: Any, labels: Any) -> Float[np.ndarray, "*n_and_k"]:
    """Return the scores in the order of the labels; the training set must have all labels."""
    scores: Float[np.ndarray, "*n_and_k"] = np.asarray(scores_of(fitted, X), float)
    place = {label: column for column, label in enumerate(np.asarray(fitted.classes_).tolist())}
    lacking = [label for label in labels.tolist() if label not in place]
    if lacking:
        raise ValueError(
            f"a training set lacks class {lacking[0]!r}: stratify the folds by class, or use fewer"
        )
    columns = [place[label] for label in labels.tolist()]
    if scores.ndim == 1:  # of the second of two classes
        return scores if columns == [0, 1] else -scores
    if scores.shape[1:] != (len(place),):
        raise TypeError(
            f"estimator must give one score per class, but the scores of {type(fitted).__name__} "
            f"have shape {scores.shape} for {len(place)} classes"
        )
    return scores[:, columns]
