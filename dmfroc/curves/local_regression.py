"""Local regression, LOESS, of 0/1 responses: a smooth calibration curve."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.options import integer, numbers, proportion
from dmfroc.curves.points import Number
from dmfroc.inputs.arrays import Rows

# Numbers that differ by less are tied. The first is a share of the farthest neighbour's distance:
# weights of less are lost in rounding. The second is one of the largest x, by which sums of
# probabilities may be off.
_TIED_IN_WIDTHS, _TIED_IN_X = 1e-6, 1e-12
_LEAST_SPREAD = 1e-40  # of the weighted x, below which numbers are no more than rounding

PerNeighbor = Float[np.ndarray, " k"]
"""One number for each of the k nearest observations."""


class LoessFit(NamedTuple):
    """Fitted values, and how many neighbours each is fitted to."""

    fitted: Float[np.ndarray, " m"]
    n_neighbors: int


def loess(
    x: Any, y: Any, at: Any, *, span: Number = 0.75, degree: int = 1, sample_weight: Any = None
) -> LoessFit:
    r"""Fit polynomials to the neighbours of each point, nearer ones weighing more.

    Of the k nearest observations, those at distance d have the tricube weight
    :math:`(1-(d/h)^3)^3`, h being the distance of the farthest.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Observations.
    at : array-like of shape (m,)
        Where to fit.
    span : float
        Share of the observations in a neighbourhood, in (0, 1]: k is the largest whole number
        within span n, and at least degree + 1.
    degree : {1, 2}
        Of the polynomials.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0, by which the tricube weights are multiplied.

    Returns
    -------
    LoessFit
        Not limited to the range of `y`. Where all neighbours are as far as the farthest, and none
        has a weight, it is their mean. Where those with a weight have too few distinct x to
        determine the polynomial, its degree is lower: a line through two, the weighted mean at
        one. Distances that differ by less than a millionth of the farthest are equal, x that
        differ by rounding too. There are no robustness passes, which would discard the rarer
        class.

    Raises
    ------
    ValueError
        If an input is not one-dimensional and finite, lengths differ, or an option is out of
        range.

    References
    ----------
    Cleveland (1979), Robust locally weighted regression and smoothing scatterplots; Vuk and Curk,
    ROC curve, lift chart and calibration plot, section 6.

    Examples
    --------
    >>> fit = loess([0, 0.2, 0.4, 0.6, 0.8, 1], [0, 0, 0, 1, 1, 1], at=[0.4, 0.5])
    >>> fit.fitted.round(3), fit.n_neighbors
    (array([0.286, 0.5  ]), 4)
    """
    rows, points = Rows(), _finite("at", at, Rows())
    xs, ys = _finite("x", x, rows), _finite("y", y, rows)
    given = np.ones(len(xs)) if sample_weight is None else sample_weight
    weights = _finite("sample_weight", given, rows)
    if not len(xs) == len(ys) == len(weights):
        raise ValueError(
            f"x, y and sample_weight must be of one length, but have {len(xs)}, {len(ys)} and "
            f"{len(weights)}"
        )
    if len(xs) == 0 or not weights.min() >= 0 or weights.max() == 0:
        raise ValueError("there must be observations, with weights >= 0 that are not all 0")
    span = proportion("span", span, "(0, 1]")
    if integer("degree", degree, 1) not in (1, 2):
        raise ValueError(f"degree must be 1 or 2, but it is {degree}")
    counts = weights > 0
    order = np.flatnonzero(counts)[np.argsort(xs[counts], kind="stable")]
    x_sorted = _with_ties(xs[order])
    observations = x_sorted, ys[order], weights[order]
    # A whole product may fall short of itself by rounding: 0.7 of 10 observations are 7
    n_neighbors = min(len(order), max(degree + 1, int(np.floor(span * len(order) + 1e-9))))
    fitted = [_fit(observations, float(point), n_neighbors, degree) for point in points]
    return LoessFit(np.array(fitted, np.float64), n_neighbors)


def _with_ties(x: PerRow) -> PerRow:
    """Return sorted x; numbers that differ by rounding become the same.

    Left apart, they would have a slope of their own, next to that of observations of small weight.
    """
    is_new = np.diff(x, prepend=-np.inf) > _TIED_IN_X * max(abs(x[0]), abs(x[-1]))
    return x[is_new][np.cumsum(is_new) - 1]


def _finite(name: str, values: Any, rows: Rows) -> PerRow:
    array = numbers(name, values)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise ValueError(
            f"{name} must be a one-dimensional array of finite numbers, but it has the shape "
            f"{array.shape}" + ("" if array.ndim != 1 else " and others among them")
        )
    return rows.arranged(array, values, name)


def _fit(
    observations: tuple[np.ndarray, ...], point: float, n_neighbors: int, degree: int
) -> float:
    """Return the fit at one point."""
    x, y, weights = observations
    starts = range(len(x) - n_neighbors)  # of windows; the first near enough counts
    start = bisect_left(starts, True, key=lambda i: point - x[i] <= x[i + n_neighbors] - point)
    width = max(point - x[start], x[start + n_neighbors - 1] - point)
    # Only what is nearer than the farthest neighbour has a weight
    tie = _TIED_IN_WIDTHS * width + _TIED_IN_X * max(abs(x[0]), abs(x[-1]))
    inner, outer = width - tie, width + tie
    low = int(np.searchsorted(x, point - inner, "right"))
    high = int(np.searchsorted(x, point + inner, "left"))
    if low >= high:  # no neighbour is nearer: all of them are tied with the farthest
        tied = slice(np.searchsorted(x, point - outer), np.searchsorted(x, point + outer, "right"))
        return float(np.average(y[tied], weights=weights[tied]))
    distance = (x[low:high] - point) / width
    local = _cubed(1 - _cubed(np.abs(distance))) * weights[low:high]
    return _polynomial_at_zero(distance, y[low:high], local, degree, tie / width)


def _cubed(x: PerNeighbor) -> PerNeighbor:
    return x * x * x


def _inner(one: PerNeighbor, other: PerNeighbor) -> float:
    # Unlike np.dot, without threads: for one pass over memory they are no help, and on a busy
    # machine they wait for each other
    return float(np.einsum("i,i->", one, other))


def _polynomial_at_zero(
    x: PerNeighbor, y: PerNeighbor, w: PerNeighbor, degree: int, tie: float
) -> float:
    """Return the weighted least-squares polynomial at 0, by orthogonal polynomials.

    Their degree is lower where the x are too few, those closer than `tie` counting once. The x are
    sorted and in [-1, 1]; they are overwritten.
    """
    if x[-1] - x[0] <= tie:
        degree = 0
    elif np.searchsorted(x, x[0] + tie, "right") >= np.searchsorted(x, x[-1] - tie, "left"):
        degree = 1
    squares = x * x if degree == 2 else None
    total = w.sum()
    slope = fit = _inner(w, y) / total
    power: Any = 1.0
    found = [(power, w, total, 1.0)]
    for exponent in range(1, degree + 1):
        y = y - slope * power
        power, at_zero = x if exponent == 1 else squares, 0.0
        # Twice, as one x may have nearly all the weight: then the first time is inexact
        for values, weighted, norm, value_at_zero in 2 * found:
            share = _inner(weighted, power) / norm
            power -= share * values
            at_zero -= share * value_at_zero
        weighted = w * power
        norm = _inner(weighted, power)
        if norm <= _LEAST_SPREAD * total:
            break
        slope = _inner(weighted, y) / norm
        fit += slope * at_zero
        found.append((power, weighted, norm, at_zero))
    return float(fit)
