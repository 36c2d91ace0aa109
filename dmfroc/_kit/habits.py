"""What people who know other packages type first, and the line to type here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dmfroc._kit.text import did_you_mean

_AREA = 'estimate("hand_till", y_true, y_score), or hand_till_score for the number alone'
_TEST = 'compare(y_true, {"a": scores_a, "b": scores_b}, measure="hand_till")'
_BOOTSTRAP = 'estimate("hand_till", y_true, y_score, method="bootstrap")'
_PLOT = "evaluate(y_true, y_score).plot(), or plots.ROCDisplay.from_predictions(y_true, y_score)"

NAMES = {
    **dict.fromkeys(("auc", "AUC", "auroc", "roc_auc", "roc_auc_score", "ci", "ci_auc"), _AREA),
    **dict.fromkeys(("roc", "roc_curve"), "curves.roc_curve(y_true, y_score)"),
    **dict.fromkeys(("plot_roc", "plot_roc_curve", "RocCurveDisplay"), _PLOT),
    **dict.fromkeys(("roc_test", "delong", "delong_test", "delong_roc_test"), _TEST),
    **dict.fromkeys(("bootstrap", "bootstrap_ci", "auc_ci"), _BOOTSTRAP),
    "accuracy_score": 'estimate("accuracy", y_true, y_pred=y_pred)',
    "brier_score_loss": 'estimate("brier_score", y_true, y_score)',
    "calibration_curve": "curves.calibration_curve(y_true, y_score)",
    "classification_report": "evaluate(y_true, y_pred=y_pred)",
    "confusion_matrix": "ContingencyTable.from_labels(y_true, y_pred)",
    "cross_val_score": "cross_validate(model, X, y)",
    "f1_score": 'estimate("f1", y_true, y_pred=y_pred), or "macro_f1" for more than two classes',
    "multiclass_roc_auc": 'estimate("dmf_auc", y_true, y_score)',
    "precision_recall_curve": "curves.precision_recall_curve(y_true, y_score)",
    "sample_size": "plan(pilot)",
}
"""Names of other packages: what to type after ``dmfroc.`` instead."""

_LEVEL = "level=, the coverage, such as level=0.95"
_MEASURES = "measures of that name, such as 'one_vs_rest_auc', 'hand_till' or 'macro_f1'"
OPTIONS = {
    **dict.fromkeys(("alpha", "ci", "confidence", "confidence_level", "conf_level"), _LEVEL),
    **dict.fromkeys(
        ("n_boot", "n_bootstrap", "n_bootstraps", "n_resamples", "bootstrap"),
        'method="bootstrap", n_draws=',
    ),
    **dict.fromkeys(("seed", "random_seed", "rng", "key"), "random_state="),
    **dict.fromkeys(("y_prob", "y_proba", "y_pred_proba", "probas", "scores"), "y_score="),
    **dict.fromkeys(("average", "multi_class"), _MEASURES),
    **dict.fromkeys(("positive", "positive_class", "event_level"), "pos_label="),
    **dict.fromkeys(("clusters", "cluster", "subject", "id"), "groups="),
    "classes": "labels=",
    "delong": "no method: the default is DeLong's for areas",
    "cv": "folds= the fold of each row, or dmfroc.cross_validate(model, X, y, cv=...)",
    "metric": "measure=, or measures= of evaluate",
    "metrics": "measures=",
    "threshold": "y_pred=score >= threshold, or dmfroc.decisions.operating_point",
    "weights": "sample_weight=",
}
"""Options of other packages: what to pass instead."""


def unknown_option(function: str, name: str, known: Mapping[str, Any]) -> str:
    """Say that a function has no such option, and which one may be meant."""
    hint = f": pass {OPTIONS[name]}" if name in OPTIONS else did_you_mean(name, known)
    return f"{function}() got an unexpected keyword argument {name!r}{hint}"
