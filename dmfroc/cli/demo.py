"""The classifiers that ``dmfroc demo`` compares."""

from __future__ import annotations

from typing import Any

DESCRIPTION = (
    "178 wines of three cultivars, told apart by 13 chemical measurements (the wine data that\n"
    "ship with scikit-learn). Scores come from five-fold cross-validation; values are means over\n"
    "the folds."
)


def demo_classifiers() -> tuple[dict[str, Any], Any, Any]:
    """Return three classifiers of different strength by name, measurements and cultivars.

    All three get the measurements as they are. Nearest neighbours suffer most from that, since
    the measurement with the widest range decides who is near.
    """
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    classifiers = {
        # The default solver does not converge on columns of such different ranges
        "logistic regression": LogisticRegression(solver="newton-cholesky"),
        "decision tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "nearest neighbours": KNeighborsClassifier(n_neighbors=15),
    }
    wine = load_wine()
    return classifiers, wine.data, wine.target_names[wine.target]
