"""Precision-recall-gain curves, their area and the expected F-gain.

All equations are those of Flach and Kull (2015), Precision-recall-gain curves: PR analysis done
right. A gain compares precision, recall or F with the prevalence pi on a harmonic scale.
"""

from __future__ import annotations

import numpy as np

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.options import flag, instance, nonnegative, number, proportion
from dmfroc.curves.charts import Coordinates, draw
from dmfroc.curves.curve import Curve
from dmfroc.curves.points import (
    Cases,
    Maximum,
    Number,
    OperatingPoints,
    compute_by_class,
    count_points,
)
from dmfroc.measures.binary import f_gain, gain


def gain_of_errors(points: OperatingPoints, errors: np.ndarray) -> np.ndarray:
    """Return the gain of a rate whose complement counts some errors per true positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return gain(points.cells, errors.astype(np.float64))


def _prg(points: OperatingPoints) -> Coordinates:
    misses = points.positives - points.true_positives
    return gain_of_errors(points, misses), gain_of_errors(points, points.false_positives)


def f_gains(points: OperatingPoints, *, beta: Number = 1.0) -> np.ndarray:
    r"""Return :math:`FG_\beta` at each threshold.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    numpy.ndarray, shape (t,)
        At most 1, minus infinity without true positives. ``points.maximum(f_gains(points))`` has
        the best value and its thresholds.

    Raises
    ------
    ValueError
        If `beta` is negative.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> points = operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> points.maximum(f_gains(points))
    Maximum(value=0.75, thresholds=array([0.4]))
    """
    beta = nonnegative("beta", beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        return f_gain(instance("points", points, OperatingPoints).cells, beta)


def f_from_gain(gain: Number, prevalence: Number) -> float:
    """Return F for an F-gain; likewise precision and recall for their gains.

    Parameters
    ----------
    gain : float
        At most 1, or minus infinity.
    prevalence : float
        Share of the positive class, in (0, 1).

    Returns
    -------
    float
        In [0, 1]; the prevalence for a gain of 0.

    Raises
    ------
    ValueError
        If `gain` is above 1 or `prevalence` not in (0, 1).

    Examples
    --------
    >>> round(f_from_gain(0.5625, 0.5), 4)
    0.6957
    """
    gain, prevalence = number("gain", gain), proportion("prevalence", prevalence, "(0, 1)")
    if not gain <= 1:
        raise ValueError(f"a gain is at most 1, but it is {gain}")
    return prevalence / (1 - (1 - prevalence) * gain)


def crossing_gain(points: OperatingPoints) -> float:
    r"""Return the precision gain :math:`y_0` at recall gain 0.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold, interpolated where no threshold has that recall.

    Returns
    -------
    float
        At most 1. Of several points with recall gain 0, the highest.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> crossing_gain(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    1.0
    """
    return instance("points", points, OperatingPoints).summarise(curve_summaries.crossing_gain)


def gain_area(points: OperatingPoints, *, clip: bool = False) -> float:
    """Return the area under the precision-recall-gain curve from recall gain 0 to 1.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    clip : bool
        Whether negative precision gains count as 0; else they count as they are.

    Returns
    -------
    float
        At most 1; 0 under chance. Without clipping, possibly negative.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> gain_area(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    0.75
    """
    instance("points", points, OperatingPoints)
    clip = flag("clip", clip)
    return points.summarise(curve_summaries.precision_recall_gain_area, clip=clip)


def expected_f_gain(points: OperatingPoints, *, beta: Number = 1.0) -> float:
    r"""Return the expected F-gain if the operating condition is uniform.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    float
        :math:`E[FG_\beta]` over :math:`\alpha` uniform from the crossing of recall gain 0 to
        :math:`1/\pi`. For beta = 1 and :math:`y_0=1` it is AUPRG/2 + 1/4. NaN if no true
        negative is left at the crossing, where the range of conditions is empty.

    Raises
    ------
    ValueError
        If `beta` is negative.

    References
    ----------
    Theorem 3 for beta = 1; for other weights the same integral.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> expected_f_gain(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    0.625
    """
    beta = nonnegative("beta", beta)
    instance("points", points, OperatingPoints)
    return points.summarise(curve_summaries.expected_f_gain, beta=beta)


def expected_inverse_f(points: OperatingPoints, *, beta: Number = 1.0) -> float:
    r"""Return the expectation of :math:`1/F_\beta` if the operating condition is uniform.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    float
        At least 1; NaN where `expected_f_gain` is.

    Raises
    ------
    ValueError
        If `beta` is negative.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> expected_inverse_f(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    1.375
    """
    rate = instance("points", points, OperatingPoints).prevalence
    return (1 - (1 - rate) * expected_f_gain(points, beta=beta)) / rate


@compute_by_class
def prg_curve(cases: Cases) -> Curve:
    """Return the precision-recall-gain curve.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.

    Returns
    -------
    Curve or dict
        Recall gain rises from minus infinity to 1, and the precision gain, NaN where nothing is
        predicted positive, ends at 0, its value under chance. Between points the curve is
        straight. Its area AUPRG is that over recall gains from 0 to 1, see `gain_area`.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`.

    References
    ----------
    Definition 1 and theorems 1 and 2. Negative gains count, as in the paper's experiments.

    Examples
    --------
    >>> curve = prg_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> round(curve.area, 4)
    0.7083
    """
    points = count_points(cases)
    names, area = ("Recall gain", "Precision gain"), gain_area(points)
    chance, even = ((0, 1), (0, 0)), ((0, 1), (0, 1))
    return draw("prg", points, _prg, *names, chance=chance, break_even=even, area=area)


def best_f_gain(points: OperatingPoints, *, beta: Number = 1.0) -> Maximum:
    r"""Return the largest :math:`FG_\beta` and all thresholds that attain it.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    Maximum
        At most 1; at least :math:`\beta^2/(1+\beta^2)`, which predicting everything positive has.

    Raises
    ------
    ValueError
        If `beta` is negative.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> best_f_gain(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    Maximum(value=0.75, thresholds=array([0.4]))
    """
    return instance("points", points, OperatingPoints).maximum(f_gains(points, beta=beta))
