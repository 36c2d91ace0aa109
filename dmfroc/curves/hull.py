"""Convex hulls: the best that a classifier offers at each trade-off, and what it calibrates."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
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
            f"as rates or counts), but the curve is of kind {curve.kind!r}"
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
