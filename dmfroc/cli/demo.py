"""The classifiers that ``dmfroc demo`` compares."""

from __future__ import annotations

import numpy as np

from dmfroc.inputs.predictions import Predictions

DESCRIPTION = (
    "178 wines of three cultivars, told apart by 13 chemical measurements (the wine data that\n"
    "ship with scikit-learn). Scores come from five-fold cross-validation; values are means over\n"
    "the folds."
)


def demo_predictions() -> dict[str, Predictions]:
    """Return cross-validated scores of three classifiers of different strength, by name.

    All three get the measurements as they are. Nearest neighbours suffer most from that, since
    the measurement with the widest range decides who is near.
    """
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    classifiers = {
        # The default solver does not converge on columns of such different ranges
        "logistic regression": LogisticRegression(solver="newton-cholesky"),
        "decision tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "nearest neighbours": KNeighborsClassifier(n_neighbors=15),
    }
    wine = load_wine()
    folds = PredefinedSplit(demo_folds())
    return {
        name: Predictions.from_arrays(
            wine.target_names[wine.target],
            cross_val_predict(classifier, wine.data, wine.target, cv=folds, method="predict_proba"),
            labels=wine.target_names,
        )
        for name, classifier in classifiers.items()
    }


def demo_folds() -> np.ndarray:
    """Return the fold of each wine."""
    from sklearn.datasets import load_wine
    from sklearn.model_selection import StratifiedKFold

    X, y = load_wine(return_X_y=True)
    folds = np.empty(len(y), dtype=int)
    splits = StratifiedKFold(n_splits=5, shuffle=True, random_state=0).split(X, y)
    for fold, (_, test) in enumerate(splits):
        folds[test] = fold
    return folds
