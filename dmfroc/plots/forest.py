"""Forest plots: values with their intervals, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dmfroc.plots._style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_HEIGHT = 0.32  # inches
_MOST_NAMES = 60  # for more rows there is no room


class ForestRow(NamedTuple):
    """A value with its interval; filled, or hollow."""

    name: str
    value: float
    interval: tuple[float, float]
    is_filled: bool = True


def draw_forest(
    rows: Sequence[ForestRow], ax: Axes | None, *, xlabel: str, reference: float | None = None
) -> Axes:
    """Draw the first row on top; with a dotted line at a reference value."""
    if ax is None:
        from matplotlib import pyplot

        height = 1.2 + _ROW_HEIGHT * min(len(rows), _MOST_NAMES)
        _, ax = pyplot.subplots(figsize=(7.0, height), layout="constrained")
    color = COLORS[0]
    if reference is not None:
        ax.axvline(reference, color="0.5", linewidth=1, linestyle=":", zorder=0)
    for place, row in enumerate(rows):
        ax.plot(row.interval, (place, place), color=color, linewidth=1.5, solid_capstyle="butt")
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
