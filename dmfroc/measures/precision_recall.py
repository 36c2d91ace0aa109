"""Areas of the precision-recall and precision-recall-gain curves, one class against the rest.

Two classes have one curve, in which the second is positive. With more, each class in turn is
positive and its column the score, and the mean over the classes that occur is taken.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dmfroc.measures import _areas
from dmfroc.measures._one_vs_rest import bind_area
from dmfroc.measures.base import Measure, value_of
from dmfroc.predictions import as_predictions

_precision_recall = partial(
    Measure, bounds=(0.0, 1.0), chance=float("nan"), family="precision-recall"
)

AVERAGE_PRECISION = _precision_recall(
    name="average_precision",
    title="Average precision",
    bind=partial(bind_area, area=_areas.average_precision),
)
PRECISION_RECALL_AREA = _precision_recall(
    name="precision_recall_area",
    title="Precision-recall area",
    bind=partial(bind_area, area=_areas.precision_recall_area),
)


def precision_recall_gain_area(clip: bool = False) -> Measure:
    """Return the area under the precision-recall-gain curve as a measure."""
    return Measure(
        name="precision_recall_gain_area",
        title="Precision-recall-gain area",
        bind=partial(bind_area, area=_areas.precision_recall_gain_area, parameters=(float(clip),)),
        bounds=(0.0 if clip else -float("inf"), 1.0),
        chance=0.0,
        family="precision-recall",
    )


PRECISION_RECALL_GAIN_AREA = precision_recall_gain_area()
PRECISION_RECALL_AREAS = (AVERAGE_PRECISION, PRECISION_RECALL_AREA, PRECISION_RECALL_GAIN_AREA)


def average_precision_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the average precision: the mean over the positives of the precision at their score.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers. Of two classes the second is positive; of more, each against
        all others, and the mean is taken.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        In [0, 1]; the prevalence of the positive class for guessing. Equal scores are one
        threshold. Classes that never occur are left out, with a warning. It is scikit-learn's
        ``average_precision_score``.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.

    Examples
    --------
    >>> round(average_precision_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.866667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(AVERAGE_PRECISION, predictions)


def precision_recall_area_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the area under the precision-recall curve, interpolated as it can be attained.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `average_precision_score`.

    Returns
    -------
    float
        In [0, 1]; the prevalence of the positive class for guessing. Between two points true and
        false positives grow together, so that precision follows a hyperbola; a straight line
        would promise too much.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.

    Examples
    --------
    >>> round(precision_recall_area_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.875902
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(PRECISION_RECALL_AREA, predictions)


def precision_recall_gain_area_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    clip: bool = False,
) -> float:
    """Return the area under the precision-recall-gain curve (AUPRG).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `average_precision_score`.
    clip : bool
        Whether parts of the curve with a negative precision gain count as 0.

    Returns
    -------
    float
        In (-inf, 1], or [0, 1] if clipped; 0 for guessing and for a constant score. The area
        runs over recall gains from 0 to 1; where the curve crosses recall gain 0 it is
        interpolated in counts.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves: PR analysis done right, section 3.

    Examples
    --------
    >>> round(
    ...     precision_recall_gain_area_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6
    ... )
    0.708333
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(precision_recall_gain_area(clip), predictions)
