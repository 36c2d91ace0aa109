"""What a curve is: its exact points, and the lines that help to read it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerThreshold
from dmfroc._kit.options import choice
from dmfroc.curves.points import Maximum, OperatingPoints
from dmfroc.results.result import AttributeTables

Rule = Literal["left", "trapezoid", "right"]
Projection = Callable[[OperatingPoints], tuple[PerThreshold, PerThreshold]]
"""Where a chart puts operating points: one x and one y for each."""

PerPoint = Float[np.ndarray, " p"]
"""One number for each point of a line."""


class Line(NamedTuple):
    """A line on a chart, through the given points."""

    x: PerPoint
    y: PerPoint


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve(AttributeTables):
    """A curve of one class, with one point per threshold.

    It unpacks in the order and with the conventions of scikit-learn's functions of the same name,
    which then keep all points (``drop_intermediate=False``). They are ``fpr, tpr, thresholds``;
    ``precision, recall, thresholds``, from the lowest threshold on, with the precision 1 at recall
    0, which has no threshold; and ``fpr, fnr, thresholds`` of a DET curve. These go from the
    highest threshold without misses to the lowest without false alarms. Other charts unpack as
    ``x, y, thresholds``.

    Attributes
    ----------
    kind : str
        The chart: ``"roc"``, ``"pr"``, ``"lift"``, ...
    label : Hashable
        The positive class, or the pair (positive class, negative class).
    x, y : numpy.ndarray, shape (t,)
        Coordinates, exact, with one point per distinct score: collinear points are kept.
        Coordinates that do not exist are NaN, such as the precision of no prediction.
    thresholds : numpy.ndarray, shape (t,)
        A case is predicted positive if its score is at least the threshold, or at most, see
        `direction`. The first is infinite.
    x_name, y_name : str
        Names of the axes.
    area : float or None
        The chart's own area, as its function says; None where an area means nothing.
    chance, break_even : Line or None
        Where predictions that know nothing lie, and where as many cases are predicted positive
        as there are positives; None where there is no such line.
    points : OperatingPoints or None
        The counts behind the curve.
    projection : callable or None
        The map from counts to the chart, from which isometrics and hulls are drawn.
    """

    kind: str
    label: Hashable
    x: PerThreshold
    y: PerThreshold
    thresholds: PerThreshold
    x_name: str
    y_name: str
    area: float | None = None
    chance: Line | None = None
    break_even: Line | None = None
    points: OperatingPoints | None = None
    projection: Projection | None = None

    @property
    def direction(self) -> str | None:
        """Whether a score must be at least (>=) or at most (<=) the threshold; None without."""
        return None if self.points is None else self.points.direction

    def integral(self, rule: Rule = "trapezoid") -> float:
        """Return the area between the points that exist and the x axis.

        Parameters
        ----------
        rule : {"left", "trapezoid", "right"}
            Whether y between two points is that of the first, changes evenly, or is that of the
            second. For a ROC curve these are P(s+ > s-), the same plus half of P(s+ = s-), and
            P(s+ >= s-).

        Returns
        -------
        float
            In the units of x times y.
        """
        return integrate(self.x, self.y, rule)

    def maximum(self) -> Maximum:
        """Return the largest y and all thresholds that attain it, the fewest positives first."""
        return Maximum.of(self.y, self.thresholds)

    def __iter__(self) -> Iterator[Float[np.ndarray, " _"]]:
        x, y, thresholds = self.x, self.y, self.thresholds
        if self.kind == "pr":
            x, y, thresholds = np.append(y[:0:-1], 1.0), x[::-1], thresholds[:0:-1]
        elif self.kind == "det":
            kept = slice(np.flatnonzero(x == x[0])[-1], np.flatnonzero(y == y[-1])[0] + 1)
            x, y, thresholds = (values[kept][::-1] for values in (x, y, thresholds))
        return iter((x, y, thresholds))


def integrate(x: PerThreshold, y: PerThreshold, rule: Rule) -> float:
    """Return the integral of y over x; stretches without an area count for nothing."""
    left, right = y[:-1], y[1:]
    heights = {"left": left, "trapezoid": (left + right) / 2, "right": right}
    pieces = heights[choice("rule", rule, tuple(heights))] * np.diff(x)
    return float(np.sum(pieces[np.isfinite(pieces)]))


def wilson_intervals(
    shares: Float[np.ndarray, " m"], n: Float[np.ndarray, " m"], level: float
) -> Float[np.ndarray, "2 m"]:
    """Return Wilson's intervals of shares of so many observations each."""
    # Imported where it is used, as nothing else here needs SciPy
    from scipy.special import ndtri

    z2 = ndtri((1 + level) / 2) ** 2
    center = (shares + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (shares * (1 - shares) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.clip(np.array([center - half, center + half]), 0, 1)


def check_curve(curve: Any) -> None:
    """Refuse what is no curve."""
    if not isinstance(curve, Curve):
        raise TypeError(
            f"curve must be a Curve, but it is of type {type(curve).__name__}: compute one, such "
            "as by roc_curve"
        )
