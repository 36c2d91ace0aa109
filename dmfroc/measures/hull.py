"""Upper convex hulls, of many curves at once or, of counts, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int, Num, Shaped

from dmfroc._kit.arrays import divide

ROUNDING = 1e-12
"""Differences this small, relative to the range of a quantity, are rounding of weights or costs."""

_ROUNDS = 30

type Rounding = tuple[float | int, float | int]  # of the coordinates on the x and on the y axis

Counts = Num[np.ndarray, " t"]
"""Cumulated weights at each threshold."""

Vertices = Int[np.ndarray, " v"]
"""Positions of the vertices of a hull."""


def upper_hulls(
    x: Num[np.ndarray, "*curves points"], y: Num[np.ndarray, "*curves points"]
) -> Int[np.ndarray, "*curves vertices"]:
    """Return the positions of the vertices of each curve's upper hull, in order.

    Both coordinates grow from point to point, or stay. Points that are on an edge but for rounding
    are no vertices. The last vertex is repeated for curves that have fewer than another.
    """
    n_points = x.shape[-1]
    flat_x, flat_y = x.reshape(-1, n_points), y.reshape(-1, n_points)
    runs, rises = (z[:, 1:] > z[:, :-1] for z in (flat_x, flat_y))
    ends = runs & (flat_x[:, 1:] == flat_x[:, -1:]) & (flat_y[:, 1:] == flat_y[:, -1:])
    is_candidate = np.ones(flat_x.shape, bool)
    is_candidate[:, 1:] = rises | ends
    is_candidate[:, 1:-1] &= runs[:, 1:] | ~rises[:, 1:]
    curve, place = np.nonzero(is_candidate)
    is_end = np.append(curve[1:] != curve[:-1], True)
    across, up = (divide(z[curve, place], z[curve, -1], np) for z in (flat_x, flat_y))
    kept = _vertices(across, up, is_end, (0.1 * ROUNDING, 0.1 * ROUNDING))
    curve, place = curve[kept], place[kept]
    counts = np.bincount(curve, minlength=len(flat_x))
    rank = np.arange(len(curve)) - np.repeat(np.cumsum(counts) - counts, counts)
    lasts = place[np.cumsum(counts) - 1]
    vertices = np.repeat(lasts[:, None], counts.max(), axis=1)
    vertices[curve, rank] = place
    return vertices.reshape(*x.shape[:-1], -1)


def hull_of_counts(x: Counts, y: Counts) -> Vertices:
    """Return the positions of the vertices of the upper hull of cumulated weights.

    Points on an edge are no vertices; for whole counts of any size this is decided exactly, for
    others but for rounding.
    """
    if not all((counts == np.floor(counts)).all() for counts in (x, y)):
        # Sums of weights that are equal but for rounding
        return upper_hull(x, y, (0.1 * ROUNDING * float(x[-1]), 0.1 * ROUNDING * float(y[-1])))
    if max(x[-1], y[-1]) < 2**31:
        return upper_hull(x.astype(np.int64), y.astype(np.int64))
    # Python's integers do not overflow
    across, up = (np.array([int(n) for n in counts.tolist()], object) for counts in (x, y))
    return upper_hull(across, up)


def upper_hull(
    x: Shaped[np.ndarray, " t"], y: Shaped[np.ndarray, " t"], rounding: Rounding = (0, 0)
) -> Vertices:
    """Return the positions of the vertices of the upper hull of distinct points.

    Both coordinates grow from point to point. Integers of Python, in arrays of objects, are exact.
    """
    is_end = np.zeros(len(x), bool)
    is_end[-1] = True
    return _vertices(x, y, is_end, rounding)


def _vertices(x: np.ndarray, y: np.ndarray, is_end: np.ndarray, rounding: Rounding) -> Vertices:
    """Return the positions of the vertices of curves that lie one after the other."""
    index = np.arange(len(x))
    for _ in range(_ROUNDS):
        # A point on or below the line between its neighbours is no vertex, whichever of them go
        run, rise, last = np.diff(x[index]), np.diff(y[index]), is_end[index]
        is_vertex = np.ones(len(index), bool)
        is_vertex[1:-1] = _is_above(run[:-1], rise[:-1], run[1:], rise[1:], rounding)
        is_vertex[last] = is_vertex[0] = True
        is_vertex[1:][last[:-1]] = True
        if is_vertex.all():
            return index
        index = index[is_vertex]
    return _scan(index, x.tolist(), y.tolist(), is_end.tolist(), rounding)


def _is_above(run: Any, rise: Any, next_run: Any, next_rise: Any, rounding: Rounding) -> Any:
    """Return whether a point is above the line between its neighbours, beyond rounding."""
    of_x, of_y = rounding
    slack = of_x * (rise + next_rise) + of_y * (run + next_run)
    return rise * next_run - next_rise * run > slack


def _scan(
    index: Int[np.ndarray, " t"], x: list[Any], y: list[Any], is_end: list[bool], rounding: Rounding
) -> Vertices:
    """Find the vertices from left to right, for data on which the rounds above make no headway."""
    vertices: list[int] = []
    start = 0  # of the curve's vertices
    for new in index.tolist():
        while len(vertices) > start + 1:
            before, last = vertices[-2:]
            run, rise = x[last] - x[before], y[last] - y[before]
            if _is_above(run, rise, x[new] - x[last], y[new] - y[last], rounding):
                break
            vertices.pop()
        vertices.append(new)
        if is_end[new]:
            start = len(vertices)
    return np.array(vertices)
