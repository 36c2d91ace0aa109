"""Gains of single tables, and theorems about them.

All equations are those of Flach and Kull (2015), Precision-recall-gain curves: PR analysis done
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dmfroc.curves import OperatingPoints, f_gains
from dmfroc.extend import gain_of_errors, listed, nonnegative, number, proportion

Number = float | int | np.number


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
    return _precision_gain(_table(tp, fp, fn, tn))


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
    return _recall_gain(_table(tp, fp, fn, tn))


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
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    tp, fp, fn, tn = (nonnegative(name, count) for name, count in cells.items())
    for name, total in (("positive", tp + fn), ("negative", fp + tn)):
        if total == 0:
            raise ValueError(f"gains need a {name} case, but the table has none")
    counts = np.array([tp]), np.array([fp])
    return OperatingPoints(1, np.full(1, np.nan), *counts, tp + fn, fp + tn)


def _precision_gain(points: OperatingPoints) -> float:
    return float(gain_of_errors(points, points.false_positives)[0])


def _recall_gain(points: OperatingPoints) -> float:
    return float(gain_of_errors(points, points.positives - points.true_positives)[0])


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
    share = proportion("share", share, "[0, 1]")
    tables = []
    for name, table in (("first", first), ("second", second)):
        cells = [number(f"each cell of {name}", cell) for cell in listed(name, table)]
        if len(cells) != 4:
            raise ValueError(f"{name} must be TP, FP, FN, TN, but it has {len(cells)} cells")
        if not cells[0] > 0:
            raise ValueError(f"{name} must have true positives, but its TP is {cells[0]}")
        tables.append(_table(*cells))
    one, other = tables
    if (one.positives, one.negatives) != (other.positives, other.negatives):
        raise ValueError(
            "the tables must be of the same cases, but first has "
            f"{one.positives:g} positives and {one.negatives:g} negatives, and second "
            f"{other.positives:g} and {other.negatives:g}"
        )
    hits = share * one.true_positives, (1 - share) * other.true_positives
    mu = (hits[0] / sum(hits)).item()
    gains = ([_precision_gain(x), _recall_gain(x)] for x in tables)
    return Interpolation(mu, *(mu * x + (1 - mu) * y for x, y in zip(*gains, strict=True)))


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
    rates = {"precision1": precision1, "recall1": recall1}
    rates |= {"precision2": precision2, "recall2": recall2}
    precision1, recall1, precision2, recall2 = (
        proportion(name, rate, "(0, 1]") for name, rate in rates.items()
    )
    if not (precision1 > precision2 and recall1 < recall2):
        raise ValueError(
            "the first point must have the larger precision and the smaller recall, but the "
            f"points are ({precision1}, {recall1}) and ({precision2}, {recall2})"
        )
    beta_squared = (1 / precision2 - 1 / precision1) / (1 / recall1 - 1 / recall2)
    f_beta = (1 + beta_squared) / (1 / precision1 + beta_squared / recall1)
    return SameF(beta_squared, 1 / (1 + beta_squared), f_beta)
