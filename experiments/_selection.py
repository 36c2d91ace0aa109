"""What selecting a threshold gains, by nested cross-validation as in Vuk and Curk (2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from dmfroc.applications import optimal_operating_points


@dataclass(frozen=True, eq=False)
class ThresholdSelection:
    """What selecting a threshold changes: a row of Vuk and Curk's Table 4.

    Attributes
    ----------
    thresholds : numpy.ndarray of shape (folds,)
        The threshold selected inside each outer fold; infinite where none should be positive.
    default_accuracies, selected_accuracies : numpy.ndarray of shape (folds,)
        Accuracy on each outer fold with the default and with the selected threshold.
    standard_error : float
        Of the difference, from the paired decisions on the n observations. It takes the
        observations as independent, although training sets overlap.
    auc : float
        Area under the ROC curve of the pooled outer scores.
    mean_auc : float
        Mean of the areas of those outer folds that hold both classes.
    """

    thresholds: np.ndarray
    default_accuracies: np.ndarray
    selected_accuracies: np.ndarray
    standard_error: float
    auc: float
    mean_auc: float

    @property
    def default_accuracy(self) -> float:
        """CA_d: mean accuracy over the folds with the default threshold."""
        return float(self.default_accuracies.mean())

    @property
    def selected_accuracy(self) -> float:
        """CA_o: mean accuracy over the folds with the selected thresholds."""
        return float(self.selected_accuracies.mean())

    @property
    def difference(self) -> float:
        """CA_o - CA_d."""
        return self.selected_accuracy - self.default_accuracy

    @property
    def threshold_mean(self) -> float:
        """Mean of the selected thresholds; infinite if one is."""
        return float(self.thresholds.mean())

    @property
    def threshold_sd(self) -> float:
        """Standard deviation of the selected thresholds over the folds; infinite if one is."""
        return float(self.thresholds.std(ddof=1)) if np.isfinite(self.thresholds).all() else np.inf


def nested_threshold_selection(
    estimator: Any, X: pd.DataFrame, y: np.ndarray, pos_label: str, *, folds: int, seed: int
) -> ThresholdSelection:
    """Compare a selected threshold with 0.5 by nested cross-validation.

    In each outer fold the threshold is where the iso-performance tangent touches the ROC curve of
    the merged out-of-fold probabilities of the training rows. It is tested on the other rows.
    """
    generator = np.random.default_rng(seed)

    def division() -> StratifiedKFold:
        return StratifiedKFold(folds, shuffle=True, random_state=int(generator.integers(2**31)))

    column = np.unique(y).tolist().index(pos_label)
    thresholds, tests, scores = [], [], []
    for train, test in division().split(X, y):
        rows = X.iloc[train], y[train]
        merged = cross_val_predict(estimator, *rows, cv=division(), method="predict_proba")
        optimum = optimal_operating_points(y[train] == pos_label, merged[:, column])
        thresholds.append(optimum.threshold("highest", "score"))
        scores.append(clone(estimator).fit(*rows).predict_proba(X.iloc[test])[:, column])
        tests.append(y[test] == pos_label)
    pairs = list(zip(scores, tests, strict=True))
    default = [(score >= 0.5) == is_positive for score, is_positive in pairs]
    selected = [
        (s >= t) == is_positive for (s, is_positive), t in zip(pairs, thresholds, strict=True)
    ]
    gain = np.concatenate(selected).astype(float) - np.concatenate(default)
    areas = [roc_auc_score(test, score) for score, test in pairs if 0 < test.sum() < len(test)]
    return ThresholdSelection(
        thresholds=np.array(thresholds),
        default_accuracies=np.array([fold.mean() for fold in default]),
        selected_accuracies=np.array([fold.mean() for fold in selected]),
        standard_error=float(gain.std(ddof=1) / np.sqrt(len(gain))),
        auc=float(roc_auc_score(np.concatenate(tests), np.concatenate(scores))),
        mean_auc=float(np.mean(areas)),
    )
