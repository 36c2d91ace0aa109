"""Measures as scorers of scikit-learn, for its cross-validation and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from dmfroc.analyses.catalogue import MEASURES, get_measure
from dmfroc.analyses.evaluation import DEFAULT_MEASURES, Measures, listed_measures
from dmfroc.inputs.arrays import Rows
from dmfroc.inputs.estimators import scores_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure


class MeasureScorer(BaseEstimator):  # type: ignore[misc]
    """A measure as a scorer: called with a fitted classifier, features and classes.

    Make it with `scorers`. It knows all classes of the classifier, also those that a fold lacks.
    With scikit-learn's metadata routing, ``set_score_request(sample_weight=True)`` lets it take
    weights.

    Parameters
    ----------
    measure : Measure
        What to compute; where it is an error, its negative is the score.
    """

    _MeasureScorer__metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(self, measure: Measure) -> None:
        self.measure = measure

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the measure of a fitted classifier.

        Parameters
        ----------
        estimator : scikit-learn classifier
            Fitted; for measures of scores with ``predict_proba`` or else ``decision_function``.
        X : array-like of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        sample_weight : array-like of shape (n,), optional
            Weights of the observations.

        Returns
        -------
        float
            Greater is better.

        Raises
        ------
        TypeError, ValueError
            If the classifier gives no score to each class, or as in `Predictions.from_arrays`.
        """
        if self.measure.needs == "labels":
            rows = Rows(X, "X")
            rows.check_same(y, "y")
            y_pred = rows.indexed(estimator.predict(X))
            predictions = Predictions.from_labels(
                y, y_pred, labels=estimator.classes_, sample_weight=sample_weight
            )
        else:
            predictions = Predictions.from_arrays(
                y,
                scores_of(estimator, X, y),
                labels=estimator.classes_,
                sample_weight=sample_weight,
            )
        value = self.measure(predictions)
        return value if self.measure.greater_is_better else -value

    __call__ = score


def scorers(measures: Measures = DEFAULT_MEASURES) -> dict[str, MeasureScorer]:
    """Return measures as scorers, for ``scoring=`` of scikit-learn's functions.

    Parameters
    ----------
    measures : sequence of str or Measure, or one of them, or "all"
        Names of measures, or measures; all are those for any number of classes and of rows.

    Returns
    -------
    dict of str to MeasureScorer
        By name of the measure; errors as negative scores, ``"neg_..."``.

    Raises
    ------
    TypeError, ValueError
        If there is no such measure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> result = cross_validate(GaussianNB(), X, y, scoring=scorers(["hand_till", "informedness"]))
    >>> result["test_hand_till"].round(3)
    array([1.   , 0.999, 0.994, 0.999, 1.   ])
    """
    named = listed_measures(measures)
    if not isinstance(named, list):
        three_classes = Predictions.from_arrays([0, 1, 2], np.eye(3))
        named = [m for m in MEASURES.values() if m.applies_to(three_classes)]
    chosen = map(get_measure, named)
    return {
        measure.name if measure.greater_is_better else f"neg_{measure.name}": MeasureScorer(measure)
        for measure in chosen
    }
