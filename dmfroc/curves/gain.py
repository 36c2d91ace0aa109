"""Precision-recall-gain: tables, curves, their area and the expected F-gain.

All equations are those of Flach and Kull (2015), Precision-recall-gain curves: PR analysis done
right. A gain compares precision, recall or F with the prevalence pi on a harmonic scale.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmfroc.curves.cases import Cases, MultiClass, Number, for_each_class
from dmfroc.curves.charts import Coordinates, draw, line
from dmfroc.curves.curve import Curve
from dmfroc.curves.points import Maximum, OperatingPoints, count_points

# Gains of one table


def precision_gain(tp: Number, fp: Number, fn: Number, tn: Number) -> float:
    """Return the precision gain of a table of counts.

    Parameters
    ----------
    tp, fp, fn, tn : float
        Counts or weights >= 0, with a positive and a negative case.

    Returns
    -------
    float
        At most 1; 0 under chance. Minus infinity without true positives, NaN if nothing is
        predicted positive.

    Raises
    ------
    ValueError
        If a count is negative or infinite, or a class is empty.

    References
    ----------
    Equation 3.

    Examples
    --------
    >>> precision_gain(30, 12, 30, 28)
    0.4
    """
    points = _table(tp, fp, fn, tn)
    return float(_gain(points, points.false_positives)[0])


def recall_gain(tp: Number, fp: Number, fn: Number, tn: Number) -> float:
    """Return the recall gain of a table of counts.

    Parameters
    ----------
    tp, fp, fn, tn : float
        Counts or weights >= 0, with a positive and a negative case.

    Returns
    -------
    float
        At most 1, where every positive is found; 0 where recall is the prevalence. Minus
        infinity without true positives.

    Raises
    ------
    ValueError
        If a count is negative or infinite, or a class is empty.

    References
    ----------
    Equation 4.

    Examples
    --------
    >>> recall_gain(30, 12, 30, 28)
    -0.5
    """
    points = _table(tp, fp, fn, tn)
    return float(_gain(points, points.positives - points.true_positives)[0])


def f_gain(tp: Number, fp: Number, fn: Number, tn: Number, *, beta: Number = 1.0) -> float:
    r"""Return the F-gain of a table of counts, :math:`FG_\beta`.

    The weighted mean of precision gain and, with weight :math:`\beta^2`, recall gain.

    Parameters
    ----------
    tp, fp, fn, tn : float
        Counts or weights >= 0, with a positive and a negative case.
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    float
        At most 1. Predicting everything positive has :math:`\beta^2/(1+\beta^2)`. Minus infinity
        without true positives, NaN if beta is 0 and nothing is predicted positive.

    Raises
    ------
    ValueError
        If a count is negative or infinite, a class is empty, or `beta` is negative.

    References
    ----------
    Theorem 2.

    Examples
    --------
    >>> round(f_gain(30, 12, 30, 28), 4), round(f_gain(30, 12, 30, 28, beta=2), 4)
    (-0.05, -0.32)
    """
    return float(f_gains(_table(tp, fp, fn, tn), beta=beta)[0])


def _table(tp: Number, fp: Number, fn: Number, tn: Number) -> OperatingPoints:
    for name, count in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn)):
        if not (0 <= count < np.inf):
            raise ValueError(f"{name} must be a finite count >= 0, but it is {count}")
    for name, total in (("positive", tp + fn), ("negative", fp + tn)):
        if total == 0:
            raise ValueError(f"gains need a {name} case, but the table has none")
    return OperatingPoints(
        label=1,
        thresholds=np.full(1, np.nan),
        true_positives=np.array([float(tp)]),
        false_positives=np.array([float(fp)]),
        positives=float(tp + fn),
        negatives=float(fp + tn),
    )


def _gain(points: OperatingPoints, errors: np.ndarray) -> np.ndarray:
    # Products first: of counts they are exact, so that equal gains are equal numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - (points.positives * errors) / (points.negatives * points.true_positives)


def _prg(points: OperatingPoints) -> Coordinates:
    misses = points.positives - points.true_positives
    return _gain(points, misses), _gain(points, points.false_positives)


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
    if not (0 <= beta < np.inf):
        raise ValueError(f"beta must be a finite number >= 0, but it is {beta}")
    misses = points.positives - points.true_positives
    errors = points.false_positives + beta**2 * misses
    return _gain(points, errors / (1 + beta**2))


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
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must be in (0, 1), but it is {prevalence}")
    if not gain <= 1:
        raise ValueError(f"a gain is at most 1, but it is {gain}")
    return prevalence / (1 - (1 - prevalence) * gain)


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
    Theorem 3.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> operating_conditions(operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]))
    array([-inf,  -2.,   1.,   2.])
    """
    rejected = (points.negatives - points.false_positives) / points.negatives
    rate = points.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(points.true_positives > 0, rejected / points.true_positive_rate, np.inf)
    return 1 / rate - ratio / (1 - rate)


# The curve


class _Crossing(NamedTuple):
    """Where the curve crosses recall gain 0."""

    following: int  # the first point at or beyond
    false_positives: float
    precision_gain: float


def _crossing(points: OperatingPoints) -> _Crossing:
    """Interpolate the counts where the recall is the prevalence."""
    true, false = points.true_positives, points.false_positives
    target = points.positives**2  # of TP (P + N), so that counts stay exact
    following = int(np.argmax(true * points.total >= target))
    before = following - 1
    share = (target - true[before] * points.total) / (
        (true[following] - true[before]) * points.total
    )
    crossing = float(false[before] + share * (false[following] - false[before]))
    gain = 1 - crossing * points.total / (points.negatives * points.positives)
    return _Crossing(following, crossing, gain)


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
    return _crossing(points).precision_gain


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
    crossing = _crossing(points)
    x, y = (values[crossing.following :] for values in _prg(points))
    x = np.concatenate([[0.0], np.maximum(x, 0.0)])  # not below 0 by rounding
    y = np.append(crossing.precision_gain, y)
    low, high = np.minimum(y[1:], y[:-1]), np.maximum(y[1:], y[:-1])
    heights = (low + high) / 2
    if clip:
        above = np.maximum(high, 0)
        # Of a segment that crosses the axis, a triangle is left
        with np.errstate(divide="ignore", invalid="ignore"):
            heights = np.where(low < 0, above**2 / (2 * (above - low)), heights)
    return float(np.sum(heights * np.diff(x)))


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
    if not (0 <= beta < np.inf):
        raise ValueError(f"beta must be a finite number >= 0, but it is {beta}")
    crossing = _crossing(points)
    # 1 - pi (1 - y0), without its cancellation
    rejected = (points.negatives - crossing.false_positives) / points.negatives
    if rejected <= 0:
        return float("nan")
    rate, area, height = points.prevalence, gain_area(points), crossing.precision_gain
    precision = (1 - rate) * area + rate * height**2 / 2
    recall = (1 - rate) / 2 + rate * area
    return (precision + beta**2 * recall) / ((1 + beta**2) * rejected)


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
    rate = points.prevalence
    return (1 - (1 - rate) * expected_f_gain(points, beta=beta)) / rate


def draw_prg(points: OperatingPoints) -> Curve:
    """Put points on the precision-recall-gain chart."""
    return draw(
        "prg",
        points,
        _prg,
        ("Recall gain", "Precision gain"),
        chance=line((0, 1), (0, 0)),
        break_even=line((0, 1), (0, 1)),
        area=gain_area(points),
    )


def prg_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> Curve | dict[Hashable, Curve]:
    """Return the precision-recall-gain curve.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class
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
    return for_each_class(
        _prg_of_cases, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )


def _prg_of_cases(cases: Cases) -> Curve:
    return draw_prg(count_points(cases))


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
    return points.maximum(f_gains(points, beta=beta))


# Theorems


class Interpolation(NamedTuple):
    """A mixture of two tables: its share on the gain scale, and its gains."""

    mu: float
    precision_gain: float
    recall_gain: float


def interpolate_gains(
    first: Sequence[Number], second: Sequence[Number], share: Number
) -> Interpolation:
    r"""Return the gains of a mixture of two tables of the same cases.

    Parameters
    ----------
    first, second : sequence of 4 floats
        Tables TP, FP, FN, TN with the same number of positives and of negatives, each with
        true positives.
    share : float
        The share :math:`\lambda` of `first` in the mixture, in [0, 1].

    Returns
    -------
    Interpolation
        The gains of the mixture are :math:`\mu` times those of `first` plus :math:`1-\mu` times
        those of `second`, where
        :math:`\mu=\lambda TP_1/(\lambda TP_1+(1-\lambda)TP_2)`.

    Raises
    ------
    ValueError
        If a table has no true positives, the tables differ in their classes' totals, or `share`
        is not in [0, 1].

    References
    ----------
    Theorem 1.

    Examples
    --------
    >>> interpolate_gains((30, 12, 30, 28), (56, 30, 4, 10), 0.25).recall_gain.__round__(4)
    0.6818
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be in [0, 1], but it is {share}")
    for name, table in (("first", first), ("second", second)):
        if len(table) != 4:
            raise ValueError(f"{name} must be TP, FP, FN, TN, but it has {len(table)} cells")
        if not table[0] > 0:
            raise ValueError(f"{name} must have true positives, but its TP is {table[0]}")
    one, other = _table(*first), _table(*second)
    if (one.positives, one.negatives) != (other.positives, other.negatives):
        raise ValueError(
            "the tables must be of the same cases, but first has "
            f"{one.positives:g} positives and {one.negatives:g} negatives, and second "
            f"{other.positives:g} and {other.negatives:g}"
        )
    of_first, of_second = share * first[0], (1 - share) * second[0]
    mu = of_first / (of_first + of_second)
    return Interpolation(
        mu,
        mu * precision_gain(*first) + (1 - mu) * precision_gain(*second),
        mu * recall_gain(*first) + (1 - mu) * recall_gain(*second),
    )


class SameF(NamedTuple):
    """The weight for which two points have the same F, and that F."""

    beta_squared: float
    d: float
    f_beta: Number


def same_f_beta(precision1: Number, recall1: Number, precision2: Number, recall2: Number) -> SameF:
    r"""Return the weight of recall for which two points have the same F.

    Parameters
    ----------
    precision1, recall1 : float
        The more precise point, in (0, 1].
    precision2, recall2 : float
        The point with the larger recall, in (0, 1].

    Returns
    -------
    SameF
        :math:`\beta^2`, the F-calibrated score :math:`d=1/(1+\beta^2)` of the segment between the
        points, and their :math:`F_\beta`.

    Raises
    ------
    ValueError
        If a rate is not in (0, 1], or the first point is not the more precise one of smaller
        recall.

    References
    ----------
    Equations 6 and 7 and theorem 4.

    Examples
    --------
    >>> round(same_f_beta(0.8, 0.4, 0.5, 0.9).beta_squared, 4)
    0.54
    """
    for name, rate in (
        ("precision1", precision1),
        ("recall1", recall1),
        ("precision2", precision2),
        ("recall2", recall2),
    ):
        if not 0 < rate <= 1:
            raise ValueError(f"{name} must be in (0, 1], but it is {rate}")
    if not (precision1 > precision2 and recall1 < recall2):
        raise ValueError(
            "the first point must have the larger precision and the smaller recall, but the "
            f"points are ({precision1}, {recall1}) and ({precision2}, {recall2})"
        )
    beta_squared = (1 / precision2 - 1 / precision1) / (1 / recall1 - 1 / recall2)
    f_beta = (1 + beta_squared) / (1 / precision1 + beta_squared / recall1)
    return SameF(beta_squared, 1 / (1 + beta_squared), f_beta)
