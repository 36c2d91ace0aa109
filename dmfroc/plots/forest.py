"""Forest plots: values with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dmfroc.plots._style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dmfroc.analyses.comparison_result import Comparison
    from dmfroc.analyses.subgroups import SubgroupComparison

_ROW_HEIGHT = 0.32  # inches
_MOST_NAMES = 60  # for more rows there is no room


class ForestRow(NamedTuple):
    """A value with its interval; filled, or hollow."""

    name: str
    value: float
    interval: tuple[float, float]
    is_filled: bool = True


def difference_rows(differences: Iterable[Any]) -> list[ForestRow]:
    """Return the differences, each named by what is subtracted from what."""
    return [
        ForestRow(f"{d.first} \N{MINUS SIGN} {d.second}", d.value, d.interval) for d in differences
    ]


def value_rows(comparison: Comparison) -> list[ForestRow]:
    """Return the classifiers, best first, filled if not excluded as the best.

    The intervals are simultaneous where there are such.
    """
    best = comparison.best_set()
    intervals = comparison.value_intervals or {
        name: e.interval for name, e in comparison.estimates.items()
    }
    sign = -1 if comparison.greater_is_better else 1
    values = {name: e.value for name, e in comparison.estimates.items()}
    return [
        ForestRow(name, values[name], intervals[name], name in best)
        for name in sorted(values, key=lambda name: sign * values[name])
    ]


def group_rows(found: SubgroupComparison) -> list[ForestRow]:
    """Return the subgroups with their sizes."""
    return [
        ForestRow(f"{name} (n={found.sizes[name]})", e.value, e.interval)
        for name, e in found.estimates.items()
    ]


def drawn_ends(rows: Iterable[Any]) -> list[tuple[float, float]]:
    """Return the ends of the intervals to draw: an open one goes as far as anything else."""
    rows = list(rows)
    finite = [x for row in rows for x in (*row.interval, row.value) if math.isfinite(x)]
    least, most = min(finite, default=0.0), max(finite, default=0.0)
    return [(max(row.interval[0], least), min(row.interval[1], most)) for row in rows]


def draw_forest(
    rows: Sequence[ForestRow], ax: Axes | None, *, xlabel: str, reference: float | None = None
) -> Axes:
    """Draw the first row on top; with a dotted line at a reference value."""
    if ax is None:
        from matplotlib import pyplot

        height = 1.2 + _ROW_HEIGHT * min(len(rows), _MOST_NAMES)
        _, ax = pyplot.subplots(figsize=(7.0, height), layout="constrained")
    color = COLORS[0]
    ends = drawn_ends(rows)
    if reference is not None:
        ax.axvline(reference, color="0.5", linewidth=1, linestyle=":", zorder=0)
    for place, (row, drawn) in enumerate(zip(rows, ends, strict=True)):
        ax.plot(drawn, (place, place), color=color, linewidth=1.5, solid_capstyle="butt")
        fill = color if row.is_filled else "white"
        ax.plot(row.value, place, "o", color=color, markerfacecolor=fill, markersize=6)
    if len(rows) <= _MOST_NAMES:
        ax.set_yticks(range(len(rows)), [row.name for row in rows])
    else:
        ax.set_ylabel("rank")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(xlabel)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
