"""Numbers that condense a curve, besides its own area."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.options import choice, flag, instance
from dmfroc.curves.points import OperatingPoints
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
