"""Numbers that condense a curve, besides its own area."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from dmfroc.curves.charts import draw_roc
from dmfroc.curves.curve import integrate
from dmfroc.curves.hull import convex_hull
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
    roc = draw_roc(points)
    certainty = (1 + points.maximum(points.informedness).value) / 2
    area = convex_hull(roc).area if hull else roc.integral()
    return CertaintyConsistency(certainty, area - certainty)


def kappa_area(
    points: OperatingPoints, *, method: Literal["exact", "trapezoid"] = "exact"
) -> float:
    """Return the area under Cohen's kappa over the false positive rate, AUK.

    Parameters
    ----------
    points : OperatingPoints
        Counts at each threshold.
    method : {"exact", "trapezoid"}
        Whether kappa is integrated along the straight segments of the ROC curve, where it is
        curved, or taken to be straight itself, as is usual.

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
    >>> round(kappa_area(points), 4), round(kappa_area(points, method="trapezoid"), 4)
    (0.3122, 0.3165)
    """
    if method not in ("exact", "trapezoid"):
        raise ValueError(f"method must be 'exact' or 'trapezoid', but it is {method!r}")
    x = points.false_positive_rate
    if method == "trapezoid":
        return integrate(x, points.cohen_kappa, "trapezoid")
    # On a segment kappa is a ratio of linear functions: (j + u dj)/(c + u dc) for u in [0, 1]
    rate, informedness, bias = points.prevalence, points.informedness, points.bias
    j, dj = informedness[:-1], np.diff(informedness)
    c, dc = rate / 2 + bias[:-1] * (0.5 - rate), np.diff(bias) * (0.5 - rate)
    relative = dc / c
    with np.errstate(divide="ignore", invalid="ignore"):
        curved = (dj + (j - dj / relative) * np.log1p(relative)) / dc
    # For small changes the closed form cancels: there a few terms of its series do
    straight = (j + dj / 2 - (j / 2 + dj / 3) * relative + (j / 3 + dj / 4) * relative**2) / c
    mean = np.where(np.abs(relative) < 1e-4, straight, curved)
    return float(rate * (1 - rate) * np.sum(mean * np.diff(x)))
