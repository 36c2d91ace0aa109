"""Precision-recall curves on three scales, and two areas below them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dmfroc.curves.cases import Cases, MultiClass, for_each_class
from dmfroc.curves.charts import Coordinates, draw, line
from dmfroc.curves.curve import Curve
from dmfroc.curves.points import OperatingPoints, count_points


def _pr(points: OperatingPoints) -> Coordinates:
    return points.true_positive_rate, points.precision


def _reciprocal_pr(points: OperatingPoints) -> Coordinates:
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted = points.true_positives + points.false_positives
        return points.positives / points.true_positives, predicted / points.true_positives


def _log_pr(points: OperatingPoints) -> Coordinates:
    with np.errstate(divide="ignore", invalid="ignore"):
        # The logarithm of one is 0, and not -0
        return tuple(0.0 - np.log2(rate) for rate in _pr(points))  # type: ignore[return-value]


def hyperbolic_area(points: OperatingPoints) -> float:
    """Return the area below the precision-recall curve that is linear in counts between points.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.

    Returns
    -------
    float
        In [0, 1]; the prevalence under chance.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.
    """
    true, false = points.true_positives, points.false_positives
    rises = np.diff(true) > 0
    start, stop = true[:-1][rises], true[1:][rises]
    slope = np.diff(false)[rises] / (stop - start)
    # Of the false positives, those that do not grow with the true ones
    offset = false[:-1][rises] - slope * start
    area = (stop - start) / (1 + slope)
    low, high = (1 + slope) * start + offset, (1 + slope) * stop + offset
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.where(offset == 0, 0.0, offset * np.log(high / low))
    # From no prediction at all, low is the offset: 0 only if the curve starts with a true positive
    return float(np.sum(area - logarithm / (1 + slope) ** 2) / points.positives)


def _draw_pr(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "pr",
        points,
        _pr,
        ("Recall", "Precision"),
        chance=line((0, 1), (points.prevalence, points.prevalence)),
        break_even=line((0, 1), (0, 1)),
        area=hyperbolic_area(points),
    )


def precision_recall_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return precision against recall.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(_draw_pr, y_true, y_score, labels, sample_weight, pos_label, multi_class)


def _draw_reciprocal_pr(cases: Cases) -> Curve:
    points = count_points(cases)
    worst = points.total / points.positives
    return draw(
        "reciprocal_pr",
        points,
        _reciprocal_pr,
        ("1 / recall", "1 / precision"),
        break_even=line((1, worst), (1, worst)),
        area=None,
    )


def reciprocal_precision_recall_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    r"""Return the reciprocal of precision against that of recall.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _draw_reciprocal_pr, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def _draw_log_pr(cases: Cases) -> Curve:
    points = count_points(cases)
    worst = float(-np.log2(points.prevalence))
    return draw(
        "log_pr",
        points,
        _log_pr,
        ("-log2 recall [bits]", "-log2 precision [bits]"),
        break_even=line((0, worst), (0, worst)),
        area=None,
    )


def log_precision_recall_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    r"""Return the information that precision and recall lack, in bits.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _draw_log_pr, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )
