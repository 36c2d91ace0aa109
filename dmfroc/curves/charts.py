"""ROC curves and their relatives: every chart is a map from counts to the plane.

The charts are those of Powers (Visualization of tradeoff in evaluation, sidebar 1) and Vuk and
Curk (ROC curve, lift chart and calibration plot).
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Literal, get_args

import numpy as np

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.options import choice, nonnegative
from dmfroc.curves.curve import Curve, Line, Projection, integrate
from dmfroc.curves.points import Cases, Number, OperatingPoints, compute_by_class, count_points

LiftScale = Literal["recall", "counts", "factor"]
Smoothing = Literal["laplace", "proportional"]
Coordinates = tuple[np.ndarray, np.ndarray]
Ends = tuple[tuple[Number, Number], tuple[Number, Number]]

_FPR, _TPR = "False positive rate", "True positive rate"
_SHARE, _INFORMEDNESS = "Share predicted positive", "Informedness"


def draw(
    kind: str,
    points: OperatingPoints,
    projection: Projection,
    x_name: str,
    y_name: str,
    *,
    chance: Ends | None = None,
    break_even: Ends | None = None,
    area: float | Literal["trapezoids"] | None = "trapezoids",
) -> Curve:
    """Put points on a chart.

    The lines of chance and break-even are given by the two x and the two y of their ends; by
    default break-even is the image of all that predicts as many positives as there are.
    """
    x, y = projection(points)
    if break_even is None:  # from no error to the most
        mistakes = np.array([0.0, min(points.positives, points.negatives)])
        even = Line(*projection(points.with_counts(points.positives - mistakes, mistakes)))
    else:
        even = line(*break_even)
    return Curve(
        kind=kind,
        label=points.label,
        x=x,
        y=y,
        thresholds=points.thresholds,
        x_name=x_name,
        y_name=y_name,
        area=integrate(x, y, "trapezoid") if area == "trapezoids" else area,
        chance=None if chance is None else line(*chance),
        break_even=even,
        points=points,
        projection=projection,
    )


def line(x: tuple[Number, Number], y: tuple[Number, Number]) -> Line:
    """Return the line between two points."""
    return Line(np.array(x, np.float64), np.array(y, np.float64))


# The maps


def _pn(points: OperatingPoints) -> Coordinates:
    return points.false_positives.astype(np.float64), points.true_positives.astype(np.float64)


def _delta_pn(points: OperatingPoints) -> Coordinates:
    false_positives, true_positives = _pn(points)
    return false_positives, true_positives - false_positives


_ROC = attrgetter("false_positive_rate", "true_positive_rate")
_BOC = attrgetter("false_positive_rate", "informedness")
_DET = attrgetter("false_positive_rate", "false_negative_rate")
_ACCURACY = attrgetter("bias", "accuracy")
_BIFT = attrgetter("bias", "informedness")


def _lift(points: OperatingPoints, *, scale: LiftScale) -> Coordinates:
    if scale == "counts":
        return points.bias, points.true_positives.astype(np.float64)
    if scale == "factor":
        return points.bias, points.precision / points.prevalence
    return points.bias, points.true_positive_rate


def _relative_drift(points: OperatingPoints, s: Number) -> np.ndarray:
    predicted = points.true_positives + points.false_positives
    return (s + predicted) / (s + points.positives)


def _bprd(points: OperatingPoints, *, s: Number) -> Coordinates:
    return _relative_drift(points, s), points.informedness


def _bird(points: OperatingPoints, *, s: Number, smoothing: Smoothing) -> Coordinates:
    rate = points.prevalence
    to_positives, to_negatives = (s, s) if smoothing == "laplace" else (s * rate, s * (1 - rate))
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = (to_positives + points.true_positives) / (to_positives + points.positives)
        alarms = (to_negatives + points.false_positives) / (to_negatives + points.negatives)
        return np.log2(_relative_drift(points, s)), np.log2(alarms) - np.log2(hits)


# The charts


@compute_by_class
def pn_curve(cases: Cases) -> Curve:
    """Return the PN curve: true against false positives as counts.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 0) to (N, P); its area is the Mann-Whitney statistic U. Chance is the diagonal.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1. The break-even line is
    TP + FP = P, where the paper prints 1.

    Examples
    --------
    >>> curve = pn_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> curve.x, curve.y
    (array([0., 0., 0., 1., 2., 3.]), array([0., 1., 2., 2., 3., 3.]))
    """
    points = count_points(cases)
    chance = (0, points.negatives), (0, points.positives)
    return draw("pn", points, _pn, "False positives", "True positives", chance=chance)


@compute_by_class
def delta_pn_curve(cases: Cases) -> Curve:
    """Return the curve of the difference of true and false positives against false positives.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 0) to (N, P - N). It is a rescaled BOC curve only if both classes are equally
        frequent, and else has no level of chance: prefer `boc_curve`.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1.

    Examples
    --------
    >>> delta_pn_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).y
    array([0., 1., 2., 1., 1., 0.])
    """
    names = "False positives", "True - false positives"
    return draw("delta_pn", count_points(cases), _delta_pn, *names)


def draw_roc(points: OperatingPoints) -> Curve:
    """Put points on the ROC chart."""
    area = points.summarise(curve_summaries.roc_area)
    return draw("roc", points, _ROC, _FPR, _TPR, chance=((0, 1), (0, 1)), area=area)


@compute_by_class
def roc_curve(cases: Cases) -> Curve:
    """Return the receiver operating characteristic: true against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 0) to (1, 1), collinear points included. Its area is the AUC, 1/2 under chance;
        ``curve.integral("left")`` and ``"right"`` are its values with ties counted as losses and
        as wins. The break-even line is TPR = 1 - FPR N/P.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Vuk and Curk, ROC curve, lift chart and calibration plot, equations 4.4 to 4.7.

    Examples
    --------
    >>> curve = roc_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> round(curve.area, 4)
    0.8333
    >>> round(curve.integral("left"), 4), round(curve.integral("right"), 4)
    (0.7778, 0.8889)
    >>> fpr, tpr, thresholds = curve
    >>> thresholds
    array([inf, 0.9, 0.6, 0.5, 0.4, 0.2])
    """
    return draw_roc(count_points(cases))


@compute_by_class
def boc_curve(cases: Cases) -> Curve:
    """Return the Bookmaker operating characteristic: informedness against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 0) to (1, 0). Its area is AUC - 1/2, half of the Gini coefficient; 0 under chance.
        ``curve.maximum()`` is Youden's index with the thresholds that attain it.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1 and theorem 1A.

    Examples
    --------
    >>> curve = boc_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> best = curve.maximum()
    >>> round(best.value, 4), best.thresholds
    (0.6667, array([0.6]))
    """
    return draw("boc", count_points(cases), _BOC, _FPR, _INFORMEDNESS, chance=((0, 1), (0, 0)))


@compute_by_class
def det_curve(cases: Cases) -> Curve:
    """Return the detection error tradeoff: false negative against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 1) to (1, 0), as rates; the display draws them on normal-deviate axes. Its area
        is 1 - AUC.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Martin et al. (1997), The DET curve in assessment of detection task performance.

    Examples
    --------
    >>> det_curve([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).y
    array([1. , 0.5, 0. , 0. ])
    """
    chance = (0, 1), (1, 0)
    return draw("det", count_points(cases), _DET, _FPR, "False negative rate", chance=chance)


@compute_by_class
def accuracy_curve(cases: Cases) -> Curve:
    r"""Return accuracy against the share of cases that is predicted positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        Its area is the expected accuracy if that share is uniform,
        :math:`\pi(1-\pi)(2 AUC-1)+1/2`; 1/2 under chance.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves, section 1.

    Examples
    --------
    >>> curve = accuracy_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> round(curve.area, 4)
    0.6667
    """
    points = count_points(cases)
    chance = (0, 1), (1 - points.prevalence, points.prevalence)
    return draw("accuracy", points, _ACCURACY, _SHARE, "Accuracy", chance=chance)


@compute_by_class
def lift_curve(cases: Cases, *, scale: LiftScale = "recall") -> Curve:
    r"""Return the lift chart: what is found by predicting a share of the cases positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.
    scale : {"recall", "counts", "factor"}
        The y axis: true positives as a rate (Powers), as a count (Vuk and Curk), or relative to
        chance, precision over prevalence (NaN where nothing is predicted).

    Returns
    -------
    Curve or dict
        Its area is :math:`\pi/2+(1-\pi) AUC` (times P for counts), at most :math:`1-\pi/2` and 1/2
        under chance; None for the factor. The break-even line is where as much is predicted
        positive as is. ``curve.integral("left")`` is Vuk and Curk's staircase area.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`, or if `scale` is unknown.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1; Vuk and Curk, ROC curve, lift
    chart and calibration plot, equations 5.1 to 5.5. A perfect ranking has the area
    :math:`P(1-\pi/2)`, where the latter says P.

    Examples
    --------
    >>> truth, scores = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    >>> round(lift_curve(truth, scores).area, 4), lift_curve(truth, scores, scale="counts").area
    (0.6667, 2.0)
    """
    choice("scale", scale, get_args(LiftScale))
    return _draw_lift("lift", count_points(cases), scale)


@compute_by_class
def cumulative_gains_curve(cases: Cases) -> Curve:
    """Return the cumulative gains curve: the share of positives found in the best-scored cases.

    Marketing's name for the lift chart on Powers' scale.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        As from `lift_curve`.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    Examples
    --------
    >>> curve = cumulative_gains_curve([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> curve.x, curve.y.round(3)
    (array([0. , 0.2, 0.4, 0.6, 1. ]), array([0.   , 0.333, 0.667, 0.667, 1.   ]))
    """
    return _draw_lift("gains", count_points(cases), "recall")


def _draw_lift(kind: str, points: OperatingPoints, scale: LiftScale) -> Curve:
    y_name, chance, height = {
        "recall": (_TPR, (0, 1), 1.0),
        "counts": ("True positives", (0, points.positives), points.positives),
        "factor": ("Lift", (1, 1), None),
    }[scale]
    area = None if height is None else height * points.summarise(curve_summaries.lift_area)
    projection = partial(_lift, scale=scale)
    return draw(kind, points, projection, _SHARE, y_name, chance=((0, 1), chance), area=area)


@compute_by_class
def bift_curve(cases: Cases) -> Curve:
    """Return the Bookmaker lift chart, BIFT: informedness against the share predicted positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        From (0, 0) to (1, 0). Its area is AUC - 1/2, that between recall and fallout on the lift
        chart; 0 under chance.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1 and theorem 1B.

    Examples
    --------
    >>> curve = bift_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> round(curve.area, 4)
    0.3333
    """
    return draw("bift", count_points(cases), _BIFT, _SHARE, _INFORMEDNESS, chance=((0, 1), (0, 0)))


@compute_by_class
def bprd_curve(cases: Cases, *, s: Number = 1.0) -> Curve:
    """Return Bookmaker probability against relative drift, BPRD.

    Relative drift is how many cases are predicted positive for each that is: curves of classes
    of different frequency have their break-even points in the same place, 1.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.
    s : float
        Laplace constant, >= 0: the drift is (s + TP + FP)/(s + P). Powers' sidebar has 1, his
        text 0.

    Returns
    -------
    Curve or dict
        Informedness, 0 under chance, over the drift; its points at break-even have x = 1.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`, or if `s` is negative.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1.

    Examples
    --------
    >>> bprd_curve([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1], s=0).x
    array([0. , 0.5, 1.5, 2. ])
    """
    s = nonnegative("s", s)
    points = count_points(cases)
    chance = (0, float(_relative_drift(points, s)[-1])), (0, 0)
    names = "Relative drift", _INFORMEDNESS
    return draw("bprd", points, partial(_bprd, s=s), *names, chance=chance, area=None)


@compute_by_class
def bird_curve(cases: Cases, *, s: Number = 1.0, smoothing: Smoothing = "laplace") -> Curve:
    """Return Bookmaker information against relative drift, both in bits, BIRD.

    The information is -log2 of the smoothed likelihood ratio TPR/FPR: the deeper the curve, the
    more a prediction says. The drift is log2 of (s + TP + FP)/(s + P).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.
    s : float
        Smoothing constant, >= 0. Without smoothing, points with FP = 0 are at minus infinity
        and the first one is NaN.
    smoothing : {"laplace", "proportional"}
        Whether s is added to each count and its total as Powers prints it, so that predicting
        nothing has log2((s + P)/(s + N)) bits instead of none. Else it is added in proportion to
        the classes (s P/(P + N) to TP and P, s N/(P + N) to FP and N), which has 0 bits at both
        ends.

    Returns
    -------
    Curve or dict
        Its points at break-even have x = 0; y is 0 under chance but for Laplace smoothing.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`, or if `s` is negative or `smoothing` unknown.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, sidebar 1, equations 9 to 12.

    Examples
    --------
    >>> curve = bird_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> curve.x[2].round(4), curve.y[2].round(4)
    (np.float64(-0.415), np.float64(-1.585))
    """
    s = nonnegative("s", s)
    choice("smoothing", smoothing, get_args(Smoothing))
    points = count_points(cases)
    projection = partial(_bird, s=s, smoothing=smoothing)
    x, y = projection(points)
    finite = x[np.isfinite(x)]
    chance = (float(finite.min()), float(finite.max())), (0, 0)
    even = (0, 0), (min(0.0, float(y[np.isfinite(y)].min(initial=0))), 0)
    names = "Relative drift [bits]", "Bookmaker information [bits]"
    return draw("bird", points, projection, *names, chance=chance, break_even=even, area=None)
