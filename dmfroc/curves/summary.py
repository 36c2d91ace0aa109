"""Numbers that condense a curve, besides its own area."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.arrays import PerThreshold
from dmfroc._kit.options import choice, flag, instance, numbers, proportion
from dmfroc.curves.points import Number, OperatingPoints
from dmfroc.measures.curve_areas import Kappa


class CertaintyConsistency(NamedTuple):
    """The AUC split: certainty at the best threshold, consistency over the others."""

    certainty: float
    consistency: float


def certainty_consistency(points: OperatingPoints, *, hull: bool = False) -> CertaintyConsistency:
    """Split the AUC into the certainty of the best decision and the consistency of the others.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    hull : bool
        Whether to split the area under the convex hull instead of that under the curve.

    Returns
    -------
    CertaintyConsistency
        Certainty, (1 + max J)/2, is the area under the curve of the best single threshold, in
        [1/2, 1]; consistency is the rest of the area, which may be negative without `hull`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, "certainty and consistency".

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> points = operating_points([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> split = certainty_consistency(points, hull=True)
    >>> round(split.certainty, 4), round(split.consistency, 4)
    (0.8333, 0.0556)
    """
    instance("points", points, OperatingPoints)
    area_of = curve_summaries.hull_area if flag("hull", hull) else curve_summaries.roc_area
    certainty = (1 + points.summarise(curve_summaries.max_informedness)) / 2
    return CertaintyConsistency(certainty, points.summarise(area_of) - certainty)


def area_under_kappa(
    points: OperatingPoints,
    *,
    method: Literal["exact", "trapezoid"] = "exact",
    kappa: Kappa = "cohen",
) -> float:
    """Return the area under a kappa over the false positive rate, AUK.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    method : {"exact", "trapezoid"}
        As for `dmfroc.measures.kappa_area`, the same as a measure.
    kappa : {"cohen", "scott"}
        Likewise.

    Returns
    -------
    float
        Of Cohen's kappa 0 under chance, and AUC - 1/2 where both classes are equally frequent.

    Raises
    ------
    ValueError
        If `method` or `kappa` is unknown.

    References
    ----------
    Kaymak, Ben-David and Potharst (2012), The AUK: a simple alternative to the AUC.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> points = operating_points([1, 1, 0, 0, 0], [0.9, 0.4, 0.5, 0.2, 0.1])
    >>> round(area_under_kappa(points), 4), round(area_under_kappa(points, method="trapezoid"), 4)
    (0.3122, 0.3165)
    """
    instance("points", points, OperatingPoints)
    choice("method", method, ("exact", "trapezoid"))
    choice("kappa", kappa, get_args(Kappa))
    return points.summarise(curve_summaries.kappa_area, method=method, kappa=kappa)


def expected_profits(
    points: OperatingPoints, benefits: Any, *, prevalence: Number | None = None
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
