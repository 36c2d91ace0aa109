"""Numbers that condense a curve, besides its own area."""

from __future__ import annotations

from typing import Literal, NamedTuple

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc.curves.points import OperatingPoints


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
    certainty = (1 + points.summarise(curve_summaries.max_informedness)) / 2
    area = points.summarise(curve_summaries.hull_area if hull else curve_summaries.roc_area)
    return CertaintyConsistency(certainty, area - certainty)


def area_under_kappa(
    points: OperatingPoints, *, method: Literal["exact", "trapezoid"] = "exact"
) -> float:
    """Return the area under Cohen's kappa over the false positive rate, AUK.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    method : {"exact", "trapezoid"}
        As for `dmfroc.measures.kappa_area`, the same as a measure.

    Returns
    -------
    float
        0 under chance; AUC - 1/2 where both classes are equally frequent.

    Raises
    ------
    ValueError
        If `method` is unknown.

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
    if method not in ("exact", "trapezoid"):
        raise ValueError(f"method must be 'exact' or 'trapezoid', but it is {method!r}")
    is_exact = method == "exact"
    return points.summarise(
        curve_summaries.kappa_area if is_exact else curve_summaries.interpolated_kappa_area
    )
