"""The points of a curve that must be drawn so that it is seen as it is between thresholds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from dmfroc.curves.curve import Curve, Line, PerPoint

# Segments are cut until the curve is this close to its chords, in widths of the chart. The cuts are
# not in the middle, where an S-shaped segment may meet its chord.
_CLOSE, _CUT, _MOST_CUTS = 1e-3, 0.382, 20

_Points = Float[np.ndarray, "2 p"]
"""Both coordinates of points."""


def finite(line: Line) -> Line:
    """Return the points of a line that exist."""
    exist = np.isfinite(line.x) & np.isfinite(line.y)
    return Line(line.x[exist], line.y[exist])


def trace(curve: Curve, scale: Callable[[Line], Line], has_tails: bool) -> Line:
    """Return points of a curve that are close enough together to be joined.

    A point between two thresholds mixes both: its counts lie on a straight line, but on some charts
    its place does not.

    Parameters
    ----------
    curve : Curve
        A curve; without counts and projection, only its own points are returned.
    scale : callable
        The scales of the axes.
    has_tails : bool
        Whether to follow segments that start or end at infinity, or where there is no point.
    """
    points, project = curve.points, curve.projection
    x, y = finite(scale(Line(curve.x, curve.y)))
    if points is None or project is None:
        return Line(x, y)
    sizes = np.array([[float(np.ptp(values)) or 1.0 if len(x) else 1.0] for values in (x, y)])
    thresholds = np.arange(len(curve.x), dtype=float)

    def place(at: PerPoint) -> _Points:
        counts = points.true_positives, points.false_positives
        mixed = points.with_counts(*(np.interp(at, thresholds, count) for count in counts))
        return np.array(scale(Line(*project(mixed))))

    at, low, high = thresholds, thresholds[:-1], thresholds[1:]
    for _ in range(_MOST_CUTS):
        cut = low + _CUT * (high - low)
        start, middle, end = (place(t) / sizes for t in (low, cut, high))
        is_curved = np.isfinite(middle).all(axis=0) & ~(_distance(start, middle, end) < _CLOSE)
        if not has_tails:
            is_curved &= np.isfinite([start, end]).all(axis=(0, 1))
        low, cut, high = low[is_curved], cut[is_curved], high[is_curved]
        if not len(cut):
            break
        at = np.append(at, cut)
        low, high = np.append(low, cut), np.append(cut, high)
    return Line(x, y) if at is thresholds else finite(Line(*place(np.sort(at))))


def _distance(start: _Points, point: _Points, end: _Points) -> PerPoint:
    """Return the distances of points from the chords between others; NaN at infinity."""
    with np.errstate(invalid="ignore", divide="ignore"):
        (dx, dy), (x, y) = end - start, point - start
        length = np.hypot(dx, dy)
        return np.where(length > 0, np.abs(dx * y - dy * x) / length, np.hypot(x, y))
