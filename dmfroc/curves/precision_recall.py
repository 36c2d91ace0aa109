"""Precision-recall curves on three scales."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from jaxtyping import Float

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.options import numbers, proportion
from dmfroc.curves.charts import Coordinates, draw
from dmfroc.curves.curve import Curve
from dmfroc.curves.points import Cases, Number, OperatingPoints, compute_by_class, count_points

_PR = attrgetter("true_positive_rate", "precision")


def _reciprocal_pr(points: OperatingPoints) -> Coordinates:
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted = points.true_positives + points.false_positives
        return points.positives / points.true_positives, predicted / points.true_positives


def _log_pr(points: OperatingPoints) -> Coordinates:
    x, y = _reciprocal_pr(points)
    return np.log2(x), np.log2(y)


@compute_by_class
def precision_recall_curve(cases: Cases) -> Curve:
    """Return precision against recall.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        Recall rises from 0, where the precision is NaN because nothing is predicted positive, to
        1, where it is the prevalence, its value under chance. The area is Davis and Goadrich's,
        whose curve is linear in counts between points; ``curve.integral("right")`` is the
        average precision.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves; Powers,
    Visualization of tradeoff in evaluation, sidebar 1.

    Examples
    --------
    >>> curve = precision_recall_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> round(curve.area, 4), round(curve.integral("right"), 4)
    (0.8759, 0.8667)
    """
    points = count_points(cases)
    names, area = ("Recall", "Precision"), points.summarise(curve_summaries.precision_recall_area)
    chance, even = ((0, 1), (points.prevalence, points.prevalence)), ((0, 1), (0, 1))
    return draw("pr", points, _PR, *names, chance=chance, break_even=even, area=area)


@compute_by_class
def reciprocal_precision_recall_curve(cases: Cases) -> Curve:
    r"""Return the reciprocal of precision against that of recall.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        Both at least 1, best at (1, 1); equal values of F1 lie on :math:`x+y=2/F_1`. Without true
        positives, x is infinite, and y infinite or, at the first point, NaN. No area.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, figure 1.

    Examples
    --------
    >>> curve = reciprocal_precision_recall_curve([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> curve.x, curve.y
    (array([inf,  2.,  1.,  1.]), array([nan, 1. , 1.5, 2. ]))
    """
    points = count_points(cases)
    diagonal = (1, points.total / points.positives)
    names = "1 / recall", "1 / precision"
    return draw(
        "reciprocal_pr", points, _reciprocal_pr, *names, break_even=(diagonal, diagonal), area=None
    )


@compute_by_class
def log_precision_recall_curve(cases: Cases) -> Curve:
    r"""Return the information that precision and recall lack, in bits.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        :math:`-\log_2` of precision against that of recall, best at (0, 0); equal geometric means
        G lie on :math:`x+y=-2\log_2 G`. Without true positives, x is infinite, and y infinite or,
        at the first point, NaN. No area.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, figure 1.

    Examples
    --------
    >>> curve = log_precision_recall_curve([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> curve.x, curve.y.round(3)
    (array([inf,  1.,  0.,  0.]), array([  nan, 0.   , 0.585, 1.   ]))
    """
    points = count_points(cases)
    diagonal = (0, float(-np.log2(points.prevalence)))
    names = "-log2 recall [bits]", "-log2 precision [bits]"
    return draw("log_pr", points, _log_pr, *names, break_even=(diagonal, diagonal), area=None)


def least_precision(recall: Any, prevalence: Number) -> Float[np.ndarray, "*r"]:
    r"""Return the smallest precision that a classifier with this recall can have.

    Parameters
    ----------
    recall : array-like
        Recalls, in [0, 1].
    prevalence : float
        Share of positives, in (0, 1).

    Returns
    -------
    numpy.ndarray
        :math:`\pi r/(1-\pi+\pi r)`: all negatives are predicted positive. What is below it on a
        precision-recall chart, an area of :math:`1+(1-\pi)\ln(1-\pi)/\pi`, cannot be reached.

    Raises
    ------
    ValueError
        If a recall is not in [0, 1] or the prevalence not in (0, 1).

    References
    ----------
    Boyd, Santos Costa, Davis and Page (2012), Unachievable region in precision-recall space and
    its effect on empirical evaluation, theorem 1; Flach and Kull (2015), section 2.

    Examples
    --------
    >>> least_precision([0, 0.5, 1], 0.5)
    array([0.        , 0.33333333, 0.5       ])
    """
    recall, prevalence = numbers("recall", recall), proportion("prevalence", prevalence, "(0, 1)")
    if not ((recall >= 0) & (recall <= 1)).all():
        raise ValueError(f"recall must be in [0, 1], but it is {recall}")
    return prevalence * recall / (1 - prevalence + prevalence * recall)
