"""ROC curves and their relatives: every chart is a map from counts to the plane.

The charts are those of Powers (Visualization of tradeoff in evaluation, sidebar 1) and Vuk and
Curk (ROC curve, lift chart and calibration plot).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from dmfroc.curves.cases import Cases, MultiClass, Number, for_each_class
from dmfroc.curves.curve import Curve, Line, Projection, integrate
from dmfroc.curves.points import OperatingPoints, count_points

LiftScale = Literal["recall", "counts", "factor"]
Smoothing = Literal["laplace", "proportional"]
Coordinates = tuple[np.ndarray, np.ndarray]


def draw(
    kind: str,
    points: OperatingPoints,
    projection: Projection,
    names: tuple[str, str],
    *,
    chance: Line | None = None,
    break_even: Line | None = None,
    area: float | Literal["trapezoids"] | None = "trapezoids",
) -> Curve:
    """Put points on a chart."""
    x, y = projection(points)
    return Curve(
        kind=kind,
        label=points.label,
        x=x,
        y=y,
        thresholds=points.thresholds,
        x_name=names[0],
        y_name=names[1],
        area=integrate(x, y, "trapezoid") if area == "trapezoids" else area,
        chance=chance,
        break_even=break_even,
        points=points,
        projection=projection,
    )


def line(x: tuple[Number, Number], y: tuple[Number, Number]) -> Line:
    """Return the line between two points."""
    return Line(np.array(x, np.float64), np.array(y, np.float64))


def _break_even(points: OperatingPoints, projection: Projection) -> Line:
    """Return the image of all that predicts P cases positive, from no error to the most."""
    mistakes = np.array([0.0, min(points.positives, points.negatives)])
    ends = OperatingPoints(
        points.label,
        np.full(2, np.nan),
        points.positives - mistakes,
        mistakes,
        points.positives,
        points.negatives,
    )
    return Line(*projection(ends))


# The maps


def _pn(points: OperatingPoints) -> Coordinates:
    return points.false_positives, points.true_positives


def _delta_pn(points: OperatingPoints) -> Coordinates:
    return points.false_positives, points.true_positives - points.false_positives


def _roc(points: OperatingPoints) -> Coordinates:
    return points.false_positive_rate, points.true_positive_rate


def _boc(points: OperatingPoints) -> Coordinates:
    return points.false_positive_rate, points.informedness


def _det(points: OperatingPoints) -> Coordinates:
    misses = (points.positives - points.true_positives) / points.positives
    return points.false_positive_rate, misses


def _accuracy(points: OperatingPoints) -> Coordinates:
    return points.bias, points.accuracy


def _bift(points: OperatingPoints) -> Coordinates:
    return points.bias, points.informedness


def _lift(points: OperatingPoints, *, scale: LiftScale) -> Coordinates:
    if scale == "counts":
        return points.bias, points.true_positives
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
    of_positives, of_negatives = (s, s) if smoothing == "laplace" else (s * rate, s * (1 - rate))
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = (of_positives + points.true_positives) / (of_positives + points.positives)
        alarms = (of_negatives + points.false_positives) / (of_negatives + points.negatives)
        return np.log2(_relative_drift(points, s)), np.log2(alarms) - np.log2(hits)


# The charts


def _draw_pn(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "pn",
        points,
        _pn,
        ("False positives", "True positives"),
        chance=line((0, points.negatives), (0, points.positives)),
        break_even=_break_even(points, _pn),
    )


def pn_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the PN curve: true against false positives as counts.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(_draw_pn, y_true, y_score, labels, sample_weight, pos_label, multi_class)


def _draw_delta_pn(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "delta_pn",
        points,
        _delta_pn,
        ("False positives", "True - false positives"),
        break_even=_break_even(points, _delta_pn),
    )


def delta_pn_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the curve of the difference of true and false positives against false positives.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _draw_delta_pn, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def draw_roc(points: OperatingPoints) -> Curve:
    """Put points on the ROC chart."""
    return draw(
        "roc",
        points,
        _roc,
        ("False positive rate", "True positive rate"),
        chance=line((0, 1), (0, 1)),
        break_even=_break_even(points, _roc),
    )


def roc_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the receiver operating characteristic: true against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    >>> curve
    Curve(roc of 1: 6 points, area 0.8333)
    >>> round(curve.integral("left"), 4), round(curve.integral("right"), 4)
    (0.7778, 0.8889)
    """
    return for_each_class(
        _roc_of_cases, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def _roc_of_cases(cases: Cases) -> Curve:
    return draw_roc(count_points(cases))


def _draw_boc(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "boc",
        points,
        _boc,
        ("False positive rate", "Informedness"),
        chance=line((0, 1), (0, 0)),
        break_even=_break_even(points, _boc),
    )


def boc_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the Bookmaker operating characteristic: informedness against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(_draw_boc, y_true, y_score, labels, sample_weight, pos_label, multi_class)


def _draw_det(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "det",
        points,
        _det,
        ("False positive rate", "False negative rate"),
        chance=line((0, 1), (1, 0)),
        break_even=_break_even(points, _det),
    )


def det_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the detection error tradeoff: false negative against false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(_draw_det, y_true, y_score, labels, sample_weight, pos_label, multi_class)


def _draw_accuracy(cases: Cases) -> Curve:
    points = count_points(cases)
    rate = points.prevalence
    return draw(
        "accuracy",
        points,
        _accuracy,
        ("Share predicted positive", "Accuracy"),
        chance=line((0, 1), (1 - rate, rate)),
        break_even=_break_even(points, _accuracy),
    )


def accuracy_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    r"""Return accuracy against the share of cases that is predicted positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _draw_accuracy, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def _draw_lift(cases: Cases, *, scale: LiftScale, kind: str = "lift") -> Curve:
    points = count_points(cases)
    names = {
        "recall": "True positive rate",
        "counts": "True positives",
        "factor": "Lift",
    }
    heights = {"recall": (0, 1), "counts": (0, points.positives), "factor": (1, 1)}
    projection = partial(_lift, scale=scale)
    return draw(
        kind,
        points,
        projection,
        ("Share predicted positive", names[scale]),
        chance=line((0, 1), heights[scale]),
        break_even=_break_even(points, projection),
        area=None if scale == "factor" else "trapezoids",
    )


def lift_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
    scale: LiftScale = "recall",
) -> Curve | dict[Hashable, Curve]:
    r"""Return the lift chart: what is found by predicting a share of the cases positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    _check_choice("scale", scale, get_args(LiftScale))
    return for_each_class(
        partial(_draw_lift, scale=scale),
        y_true,
        y_score,
        labels,
        sample_weight,
        pos_label,
        multi_class,
    )


def cumulative_gains_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the cumulative gains curve: the share of positives found in the best-scored cases.

    Marketing's name for the lift chart on Powers' scale.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        partial(_draw_lift, scale="recall", kind="gains"),
        y_true,
        y_score,
        labels,
        sample_weight,
        pos_label,
        multi_class,
    )


def _draw_bift(cases: Cases) -> Curve:
    points = count_points(cases)
    return draw(
        "bift",
        points,
        _bift,
        ("Share predicted positive", "Informedness"),
        chance=line((0, 1), (0, 0)),
        break_even=_break_even(points, _bift),
    )


def bift_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the Bookmaker lift chart, BIFT: informedness against the share predicted positive.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _draw_bift, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def _draw_bprd(cases: Cases, *, s: Number) -> Curve:
    points = count_points(cases)
    projection = partial(_bprd, s=s)
    lowest, highest = 0.0, float(_relative_drift(points, s)[-1])
    return draw(
        "bprd",
        points,
        projection,
        ("Relative drift", "Informedness"),
        chance=line((lowest, highest), (0, 0)),
        break_even=_break_even(points, projection),
        area=None,
    )


def bprd_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
    s: Number = 1.0,
) -> Curve | dict[Hashable, Curve]:
    """Return Bookmaker probability against relative drift, BPRD.

    Relative drift is how many cases are predicted positive for each that is: curves of classes
    of different frequency have their break-even points in the same place, 1.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    _check_constant(s)
    return for_each_class(
        partial(_draw_bprd, s=s),
        y_true,
        y_score,
        labels,
        sample_weight,
        pos_label,
        multi_class,
    )


def _draw_bird(cases: Cases, *, s: Number, smoothing: Smoothing) -> Curve:
    points = count_points(cases)
    projection = partial(_bird, s=s, smoothing=smoothing)
    x, y = projection(points)
    finite = x[np.isfinite(x)]
    return draw(
        "bird",
        points,
        projection,
        ("Relative drift [bits]", "Bookmaker information [bits]"),
        chance=line((float(finite.min()), float(finite.max())), (0, 0)),
        break_even=line((0, 0), (min(0.0, float(np.min(y, where=np.isfinite(y), initial=0))), 0)),
        area=None,
    )


def bird_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
    s: Number = 1.0,
    smoothing: Smoothing = "laplace",
) -> Curve | dict[Hashable, Curve]:
    """Return Bookmaker information against relative drift, both in bits, BIRD.

    The information is -log2 of the smoothed likelihood ratio TPR/FPR: the deeper the curve, the
    more a prediction says. The drift is log2 of (s + TP + FP)/(s + P).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
        As for `operating_points`.
    s : float
        Smoothing constant, >= 0. Without smoothing, points with FP = 0 are at minus infinity
        and the first one is NaN.
    smoothing : {"laplace", "proportional"}
        Whether s is added to each count and its total as Powers prints it, so that predicting
        nothing has log2((s + P)/(s + N)) bits instead of none; or in proportion to the classes
        (s P/(P + N) to TP and P, s N/(P + N) to FP and N), which has 0 bits at both ends.

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
    _check_constant(s)
    _check_choice("smoothing", smoothing, get_args(Smoothing))
    return for_each_class(
        partial(_draw_bird, s=s, smoothing=smoothing),
        y_true,
        y_score,
        labels,
        sample_weight,
        pos_label,
        multi_class,
    )


def _check_constant(s: Number) -> None:
    if not (0 <= s < np.inf):
        raise ValueError(f"s must be a finite number >= 0, but it is {s}")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, but it is {value!r}")
