"""Convex hulls: the best that a classifier offers at each trade-off, and what it calibrates."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import numbers
from dmfroc.curves.curve import Curve, Line, check_curve, integrate
from dmfroc.curves.gain import gain_area
from dmfroc.curves.points import Cases, OperatingPoints, compute_by_class, count_points
from dmfroc.results.result import AttributeTables

# Charts that are affine images of the counts, and so share their hull
_AFFINE = ("pn", "roc", "boc", "det", "lift", "gains", "bift", "accuracy")


@dataclass(frozen=True, eq=False, repr=False)
class Hull(AttributeTables):
    r"""The convex hull of a curve.

    Attributes
    ----------
    kind : str
        The chart.
    label : Hashable
        The positive class, or the pair of classes.
    x, y, thresholds : numpy.ndarray, shape (v,)
        The vertices; no three are collinear.
    slopes : numpy.ndarray, shape (v - 1,)
        Slope of each segment on the chart, infinite where it is vertical.
    scores : numpy.ndarray, shape (v - 1,)
        Falling. The calibrated score of the cases between two vertices: the share of positives
        among them; for PRG the F-calibrated score d, with which predicting positive where
        :math:`d>1/(1+\beta^2)` maximises :math:`F_\beta`.
    area : float
        The area under the hull.
    points : OperatingPoints
        The counts at the vertices.
    """

    kind: str
    label: Hashable
    x: Float[np.ndarray, " v"]
    y: Float[np.ndarray, " v"]
    thresholds: Float[np.ndarray, " v"]
    slopes: Float[np.ndarray, " s"]
    scores: Float[np.ndarray, " s"]
    area: float
    points: OperatingPoints

    def calibrate(self, y_score: Any) -> Float[np.ndarray, " m"]:
        """Return the calibrated score of the segment into which each score falls.

        Parameters
        ----------
        y_score : array-like of shape (m,)
            Scores of the positive class, of the same or other cases.

        Returns
        -------
        numpy.ndarray, shape (m,)
            In [0, 1]. Above the first vertex of a PRG hull it is 1; below all scores of the
            curve, that of the last segment.

        Examples
        --------
        >>> from dmfroc.curves import roc_curve
        >>> hull = convex_hull(roc_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]))
        >>> hull.calibrate([0.7, 0.5, 0.1]).round(3)
        array([1.   , 0.333, 0.   ])
        """
        sign, scores = self.points.sign, numbers("y_score", y_score)
        rising = sign * self.thresholds[::-1]
        n_above = len(rising) - np.searchsorted(rising, sign * scores, "right")
        return np.append(1.0, self.scores)[np.minimum(n_above, len(self.scores))]

    def __repr__(self) -> str:
        return f"Hull({self.kind} of {self.label!r}: {len(self.x)} vertices, area {self.area:.4g})"


def convex_hull(curve: Curve) -> Hull:
    """Return the upper convex hull of a curve.

    Every point on it is reached by a random mixture of the classifiers at two vertices.

    Parameters
    ----------
    curve : Curve
        A ROC curve or an affine image of one (PN, BOC, DET, lift as rate or count, cumulative
        gains, BIFT, accuracy), or a PRG curve. For DET it is the lower hull.

    Returns
    -------
    Hull
        From (0, 0) to (1, 1) for ROC; from the largest precision gain to (1, 0) for PRG, whose
        vertices are those of ROC without the origin. Collinear points are no vertices; with
        whole weights this is decided exactly.

    Raises
    ------
    ValueError
        If the curve is of another kind.

    References
    ----------
    Provost and Fawcett (2001), Robust classification for imprecise environments; Flach and Kull
    (2015), Precision-recall-gain curves, theorem 4.

    Examples
    --------
    >>> from dmfroc.curves import roc_curve
    >>> hull = convex_hull(roc_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]))
    >>> hull.thresholds, hull.slopes
    (array([inf, 0.6, 0.4, 0.2]), array([inf, 0.5, 0. ]))
    """
    check_curve(curve)
    is_affine = curve.kind in _AFFINE and curve.area is not None
    if curve.points is None or curve.projection is None or not (is_affine or curve.kind == "prg"):
        raise ValueError(
            f"a hull needs a ROC or PRG curve, or an affine image of ROC ({', '.join(_AFFINE)} "
            f"as rates or counts), but the curve is {curve!r}"
        )
    vertices = curve.points.at(curve.points.hull_vertices())
    if is_affine:
        x, y = curve.projection(vertices)
        hits, alarms = np.diff(vertices.true_positives), np.diff(vertices.false_positives)
        scores = hits / (hits + alarms)
        area = integrate(x, y, "trapezoid")
    else:
        area = gain_area(vertices)
        vertices = vertices.at(np.arange(1, len(vertices.thresholds)))
        x, y = curve.projection(vertices)
        # d = rise of recG / (rise of recG - rise of precG), multiplied out
        true, false = vertices.true_positives, vertices.false_positives
        misses = vertices.positives - true
        recall = misses[:-1] * true[1:] - misses[1:] * true[:-1]
        scores = recall / (recall + (false[1:] * true[:-1] - false[:-1] * true[1:]))
    with np.errstate(divide="ignore"):
        slopes = np.diff(y) / np.diff(x)
    thresholds = vertices.thresholds
    return Hull(curve.kind, curve.label, x, y, thresholds, slopes, scores, area, vertices)


# Cost curves


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
        raise ValueError(f"Pareto points are those of ROC, PR and PRG curves, not of {curve!r}")
    place = np.flatnonzero(np.isfinite(curve.x) & np.isfinite(curve.y))
    across = -curve.x[place] if curve.kind == "roc" else curve.x[place]
    order = np.lexsort((place, -curve.y[place], -across))  # from the best x on, the best y first
    height = curve.y[place][order]
    best_before = np.maximum.accumulate(np.append(-np.inf, height[:-1]))
    return curve.points.at(np.sort(place[order[height > best_before]]))


def repair_concavities(curve: Curve, y_score: Any) -> Float[np.ndarray, " m"]:
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
        raise ValueError(f"concavities are those of a ROC curve, not of {curve!r}")
    scores = numbers("y_score", y_score)
    repaired, thresholds = scores.copy(), curve.points.thresholds
    vertices = curve.points.hull_vertices()
    for start, end in pairwise(vertices):
        low, high = sorted(thresholds[[start + 1, end]].tolist())
        inside = (scores >= low) & (scores <= high)
        repaired[inside] = low + high - scores[inside]
    return repaired


@compute_by_class
def cost_curve(cases: Cases) -> Curve:
    r"""Return the cost curve: the least expected cost under every operating condition.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        Over the share :math:`x=\pi c_{FN}/(\pi c_{FN}+(1-\pi)c_{FP})` of positives in the cost,
        the cost :math:`x FNR+(1-x)FPR` of the best threshold, relative to that of being always
        wrong. Its breakpoints are the segments of the ROC hull; from each ``x`` on, the threshold
        beside it is the best. Chance, always one class, costs the smaller of x and 1 - x. The
        area is the expected cost if x is uniform, in [0, 1/4].

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Drummond and Holte (2006), Cost curves: an improved method for visualizing classifier
    performance.

    Examples
    --------
    >>> curve = cost_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> curve.x.round(3), curve.y.round(3)
    (array([0.   , 0.   , 0.667, 1.   , 1.   ]), array([0.   , 0.   , 0.222, 0.   , 0.   ]))
    """
    points = count_points(cases)
    vertices = points.at(points.hull_vertices())
    hits = np.diff(vertices.true_positive_rate)
    alarms = np.diff(vertices.false_positive_rate)
    # Neighbours on the hull cost the same where one's tangent becomes the other's
    x = np.concatenate([[0.0], alarms / (alarms + hits), [1.0]])
    best = np.append(np.arange(len(vertices.thresholds)), -1)
    misses, false_alarms = 1 - vertices.true_positive_rate, vertices.false_positive_rate
    y = misses[best] * x + false_alarms[best] * (1 - x)
    return Curve(
        kind="cost",
        label=cases.label,
        x=x,
        y=y,
        thresholds=vertices.thresholds[best],
        x_name="Probability cost of the positive class",
        y_name="Normalised expected cost",
        area=integrate(x, y, "trapezoid"),
        chance=Line(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.0])),
        points=points,
    )
