"""Choices on a curve: what is worth choosing, what it brings, where concavities are repaired."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dmfroc.curves import Curve, OperatingPoints
from dmfroc.extend import PerRow, PerThreshold, check_curve, instance, numbers, proportion

_ROUNDING = 1e-12  # of precision from sums of weights


def pareto_points(curve: Curve) -> OperatingPoints:
    """Return the points of a ROC, precision-recall or gain curve that no other point dominates.

    Parameters
    ----------
    curve : Curve
        Of kind ``"roc"``, ``"pr"`` or ``"prg"``.

    Returns
    -------
    OperatingPoints
        Those for which no other point of the curve is at least as good in both coordinates and
        better in one; of equal points the first. The vertices of the hull are among them.

    Raises
    ------
    ValueError
        If the curve is of another kind.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation; Flach and Kull (2015), figure 1.

    Examples
    --------
    >>> from dmfroc.curves import roc_curve
    >>> curve = roc_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> pareto_points(curve).thresholds
    array([0.6, 0.4])
    """
    check_curve(curve)
    if curve.points is None or curve.kind not in ("roc", "pr", "prg"):
        raise ValueError(
            f"Pareto points are those of ROC, PR and PRG curves, not of kind {curve.kind!r}"
        )
    place = np.flatnonzero(np.isfinite(curve.x) & np.isfinite(curve.y))
    across = -curve.x[place] if curve.kind == "roc" else curve.x[place]
    order = np.lexsort((place, -curve.y[place], -across))  # from the best x on, the best y first
    height = curve.y[place][order]
    best_before = np.maximum.accumulate(np.append(-np.inf, height[:-1]))
    return curve.points.at(np.sort(place[order[height > best_before + _ROUNDING]]))


def repair_concavities(curve: Curve, y_score: Any) -> PerRow:
    """Return scores whose order is reversed between the vertices of the curve's convex hull.

    What of the curve lies below a segment of its hull is reflected to the other side.

    Parameters
    ----------
    curve : Curve
        The ROC curve of a sample by which to decide what to reverse.
    y_score : array-like of shape (m,)
        Scores of the positive class, of that or, to be judged fairly, of other cases.

    Returns
    -------
    numpy.ndarray, shape (m,)
        Within a segment from score ``low`` to ``high`` a score s becomes ``low + high - s``; all
        others are as they were.

    Raises
    ------
    ValueError
        If the curve is no ROC curve.

    References
    ----------
    Flach and Wu (2005), Repairing concavities in ROC curves; Powers (2011), section 3.

    Examples
    --------
    >>> from dmfroc.curves import roc_curve
    >>> classes, scores = [1, 0, 0, 1, 1, 0], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]
    >>> curve = roc_curve(classes, scores)
    >>> repaired = repair_concavities(curve, scores)
    >>> repaired.round(1)
    array([0.9, 0.3, 0.5, 0.6, 0.8, 0.1])
    >>> round(curve.area, 3), round(roc_curve(classes, repaired).area, 3)
    (0.556, 1.0)
    """
    check_curve(curve)
    if curve.points is None or curve.kind != "roc":
        raise ValueError(f"concavities are those of a ROC curve, not of kind {curve.kind!r}")
    scores = numbers("y_score", y_score)
    repaired, thresholds = scores.copy(), curve.points.thresholds
    vertices = curve.points.hull_vertices()
    for start, end in pairwise(vertices):
        low, high = sorted(thresholds[[start + 1, end]].tolist())
        inside = (scores >= low) & (scores <= high)
        repaired[inside] = low + high - scores[inside]
    return repaired


def operating_conditions(points: OperatingPoints) -> np.ndarray:
    r"""Return the :math:`\alpha` of each threshold, the scale on which E[FG] is uniform.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.

    Returns
    -------
    numpy.ndarray, shape (t,)
        :math:`recG/\pi-precG/(1-\pi)=1/\pi-tnr/((1-\pi)tpr)`, rising from minus infinity to
        :math:`1/\pi`.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves, theorem 3.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> operating_conditions(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    array([-inf,  -2.,   1.,   2.])
    """
    instance("points", points, OperatingPoints)
    rejected = (points.negatives - points.false_positives) / points.negatives
    rate = points.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(points.true_positives > 0, rejected / points.true_positive_rate, np.inf)
    return 1 / rate - ratio / (1 - rate)


def expected_profits(
    points: OperatingPoints, benefits: Any, *, prevalence: float | int | None = None
) -> PerThreshold:
    """Return the expected profit per case at each threshold.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    benefits : array-like of shape (2, 2)
        What a case brings, negative for a cost: in the rows predicted negative and positive, in
        the columns observed negative and positive, as in `ContingencyTable`.
    prevalence : float, optional
        Share of positives where the classifier is used, in (0, 1); by default that of the sample.

    Returns
    -------
    numpy.ndarray, shape (t,)
        ``points.maximum(expected_profits(points, benefits))`` has the largest profit and its
        thresholds. Where no more than a share b of the cases can be acted on, it is the maximum
        over ``points.at(np.flatnonzero(points.bias <= b))``.

    Raises
    ------
    ValueError
        If the benefits are no finite matrix of two rows and columns, or the prevalence is not in
        (0, 1).

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, sections 4.2 and 5.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> points = operating_points([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> points.maximum(expected_profits(points, [[0, 0], [-1, 4]]))  # letters that cost 1, bring 5
    Maximum(value=1.6666666666666667, thresholds=array([0.4]))
    """
    instance("points", points, OperatingPoints)
    matrix = numbers("benefits", benefits)
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(f"benefits must be a finite matrix of shape (2, 2), not {benefits!r}")
    share = points.prevalence if prevalence is None else prevalence
    share = proportion("prevalence", share, "(0, 1)")
    (rejection, miss), (alarm, hit) = matrix
    positive = miss + points.true_positive_rate * (hit - miss)
    negative = rejection + points.false_positive_rate * (alarm - rejection)
    return share * positive + (1 - share) * negative
