"""Forest plots: values with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.later import Axes, Line2D
from dmfroc._kit.text import legend_text
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.ranks import Ranks
from dmfroc.analyses.subgroups import SubgroupComparison
from dmfroc.plots._style import COLORS, OWN_FIGURE_ID, Display, Style, fitting

_ROW_HEIGHT, _LEAST_HEIGHT, _ENOUGH = 0.32, 0.16, 8.0  # inches, of a row and of all
_MOST_NAMES = 100  # for more rows there is no room


class ForestRow(NamedTuple):
    """A value with its interval; filled, or hollow."""

    name: str
    value: float
    interval: tuple[float, float]
    is_filled: bool = True


def difference_rows(differences: Iterable[Any]) -> list[ForestRow]:
    """Return the differences, each named by what is subtracted from what."""
    return [ForestRow(d.name, d.value, d.interval) for d in differences]


def value_rows(comparison: Comparison) -> list[ForestRow]:
    """Return the classifiers, best first, filled if not excluded as the best.

    The intervals are simultaneous where there are such.
    """
    best = comparison.best_set()
    intervals = comparison.value_intervals or {}
    rows = [
        ForestRow(name, e.value, intervals.get(name, e.interval), name in best)
        for name, e in comparison.estimates.items()
    ]
    sign = -1 if comparison.greater_is_better else 1
    return sorted(rows, key=lambda row: sign * row.value)


def rank_rows(ranks: Ranks) -> list[ForestRow]:
    """Return the ranks, best first; every other tier is filled."""
    is_filled = [place % 2 == 0 for place, tier in enumerate(ranks.tiers) for _ in tier]
    named = zip(ranks.intervals.items(), is_filled, strict=True)
    return [
        ForestRow(x, float(i), (float(best), float(worst)), fill)
        for i, ((x, (best, worst)), fill) in enumerate(named, start=1)
    ]


def group_rows(comparison: SubgroupComparison) -> list[ForestRow]:
    """Return the subgroups with their sizes."""
    return [
        ForestRow(f"{name} (n={comparison.sizes[name]})", e.value, e.interval)
        for name, e in comparison.estimates.items()
    ]


def drawn_ends(rows: Iterable[Any]) -> list[tuple[float, float]]:
    """Return the ends of the intervals to draw: an open one goes as far as anything else."""
    rows = list(rows)
    finite = [x for row in rows for x in (*row.interval, row.value) if math.isfinite(x)]
    least, most = min(finite, default=0.0), max(finite, default=0.0)
    return [(max(row.interval[0], least), min(row.interval[1], most)) for row in rows]


class IntervalDisplay(Display):
    """Values with their intervals, one below the other: a forest plot.

    Parameters
    ----------
    rows : sequence of ForestRow
        Values with names and intervals; the first is drawn on top.
    xlabel : str
        What the values are.
    reference : float, optional
        Where to draw a dotted line.
    ylabel : str
        What the rows are, if they are too many for their names.

    Attributes
    ----------
    values_, intervals_ : list of matplotlib.lines.Line2D
        A marker and an interval for each row.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where they were drawn last.

    Examples
    --------
    >>> rows = [ForestRow("forest", 0.8, (0.7, 0.9)), ForestRow("tree", 0.6, (0.5, 0.7), False)]
    >>> display = IntervalDisplay(rows, xlabel="Accuracy").plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['forest', 'tree']
    """

    values_: list[Line2D]
    intervals_: list[Line2D]

    def __init__(
        self,
        rows: Sequence[ForestRow],
        *,
        xlabel: str,
        reference: float | None = None,
        ylabel: str = "in the order given",
    ) -> None:
        self.rows, self.xlabel, self.reference = list(rows), xlabel, reference
        self.ylabel = ylabel

    def plot(self, ax: Axes | None = None, *, color: Any = COLORS[0]) -> IntervalDisplay:
        """Draw the values.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        color : optional
            Colour of values and intervals.

        Returns
        -------
        IntervalDisplay
            This display.
        """
        rows, n = self.rows, len(self.rows)
        height = min(_ROW_HEIGHT * n, max(_LEAST_HEIGHT * min(n, _MOST_NAMES), _ENOUGH))
        names = [legend_text(row.name) for row in rows] if n <= _MOST_NAMES else []
        # In inches: names take what they need beside a chart of four
        width = max(7.0, 4.0 + 0.075 * max(map(len, names), default=0))
        ax = self._draws_on(ax, width, 1.2 + height)
        self.values_, self.intervals_ = [], []
        if self.reference is not None:
            ax.axvline(self.reference, color="0.5", linewidth=1, linestyle=":", zorder=0)
        for place, (row, ends) in enumerate(zip(rows, drawn_ends(rows), strict=True)):
            style: Style = {"color": color, "linewidth": 1.5, "solid_capstyle": "butt"}
            self.intervals_ += ax.plot(ends, (place, place), **style)
            fill = color if row.is_filled else ax.get_facecolor()
            style = {"color": color, "markerfacecolor": fill, "markersize": 6}
            self.values_ += ax.plot(row.value, place, "o", **style)
        if names:
            # In points, a row is as high as its letters at least
            size = ax.bbox.height / ax.figure.dpi * 72 / n
            names = fitting(ax, names)
            size *= 0.4 if any("\n" in name for name in names) else 0.75
            ax.set_yticks(range(n), names, fontsize=float(np.clip(size, 4, 10)))
        else:
            ax.set_ylabel(self.ylabel)
        ax.set(ylim=(n - 0.5, -0.5), xlabel=self.xlabel)
        if ax.figure.get_gid() != OWN_FIGURE_ID:
            ax.locator_params("x", nbins=4)
        ax.spines[["top", "right"]].set_visible(False)
        return self
