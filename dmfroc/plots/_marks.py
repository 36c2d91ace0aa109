"""What can be marked on curves once they are drawn: decisions, and lines of equal performance."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc.curves.curve import Line
from dmfroc.curves.hull import convex_hull

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from dmfroc.measures.contingency_table import ContingencyTable


class Marks:
    """Marks on the curves of a display."""

    curves: dict[Hashable, Any]
    lines_: dict[Hashable, Line2D]
    decisions_: dict[Hashable, Line2D]
    tangents_: dict[Hashable, Line2D]
    ax_: Axes

    def guide_data(self, guide: Line) -> Line:
        """Return the points of a chance line, break-even line or isometric that can be drawn."""
        return guide

    def plot_decisions(self, table: ContingencyTable, **marker_kwargs: Any) -> Marks:
        """Mark on drawn curves where decisions that assign each case to one class put the classes.

        Thresholds of one class against the rest can be chosen for each class by itself, but then a
        case may have no class, or several. A table of decisions, such as those of
        `select_class_weights`, has points that are attained together.

        Parameters
        ----------
        table : ContingencyTable
            Of predicted and observed classes.
        **marker_kwargs
            For the `matplotlib.lines.Line2D` of all markers.

        Returns
        -------
        CurveDisplay
            This display, with the markers by class in ``decisions_``.

        Raises
        ------
        ValueError
            If the table lacks a class of the curves, or a curve has no counts to place it by.
        """
        self.decisions_ = {}
        for label, curve in self.curves.items():
            if label not in table.labels or curve.projection is None:
                raise ValueError(
                    f"decisions need counts of the class {label!r}, but the table has the classes "
                    f"{table.labels} and the curve is {curve!r}"
                )
            row = table.counts[table.labels.index(label)]
            hits = row[table.labels.index(label)]
            scale = curve.points.total / table.counts.sum()
            place = curve.projection(
                curve.points.with_counts(
                    np.array([hits * scale]), np.array([(row.sum() - hits) * scale])
                )
            )
            style: dict[str, Any] = {
                "color": self.lines_[label].get_color(),
                "marker": "o",
                "markersize": 8,
                "markeredgecolor": "black",
                "linestyle": "none",
                "zorder": 3.0,
                "label": "_decision",
            }
            (self.decisions_[label],) = self.ax_.plot(
                *self.guide_data(Line(*place)), **(style | marker_kwargs)
            )
        return self

    def plot_tangent(self, slope: float, **line_kwargs: Any) -> Marks:
        """Draw the line of equal performance that touches the hull of each drawn curve.

        Parameters
        ----------
        slope : float
            Slope of the line on the chart, finite: ``slope`` of `optimal_operating_points` for ROC,
            ``lift_slope`` for a lift chart.
        **line_kwargs
            For the `matplotlib.lines.Line2D` of all tangents.

        Returns
        -------
        CurveDisplay
            This display, with the tangents by class in ``tangents_``.

        Raises
        ------
        ValueError
            If the slope is not finite, or the chart has no hull.

        References
        ----------
        Vuk and Curk (2006), ROC curve, lift chart and calibration plot, equations 4.8, 4.9, 5.6 and
        5.7, figures 4 and 8.
        """
        if not np.isfinite(slope):
            raise ValueError(f"slope must be finite, but it is {slope!r}")
        self.tangents_ = {}
        for label, curve in self.curves.items():
            hull = convex_hull(curve)
            best = int(np.argmax(hull.y - slope * hull.x))
            style: dict[str, Any] = {
                "color": self.lines_[label].get_color(),
                "linewidth": 0.9,
                "linestyle": (0, (8, 2, 1, 2)),
                "zorder": 2.2,
            }
            self.tangents_[label] = self.ax_.axline(
                (hull.x[best], hull.y[best]), slope=slope, **(style | line_kwargs)
            )
        return self
