"""What all displays look like: colours, line styles and numbers in legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from dmfroc.inference.band import CurveBand

# Okabe and Ito's colours, told apart with any kind of colour vision; yellow is too faint.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Longer dashes than those of chance and break-even lines; as many as have no divisor in common with
# the number of colours, so that 28 curves are told apart.
LINE_STYLES = ("-", (0, (6, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (2.2, 0.9)))


def style_of(position: int) -> dict[str, Any]:
    """Return colour and dashes of the class at a position among all, on whichever chart."""
    return {
        "color": COLORS[position % len(COLORS)],
        "linestyle": LINE_STYLES[position % len(LINE_STYLES)],
    }


def new_axes() -> Axes:
    """Return the axes of a new square figure."""
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(6.4, 6.4), layout="constrained")
    return ax


def draw_band(ax: Axes, band: CurveBand, color: Any) -> PolyCollection:
    """Draw a confidence band beneath its curve."""
    return ax.fill_between(
        band.fpr, band.low, band.high, color=color, alpha=0.18, linewidth=0, zorder=1.5
    )


def rate_texts(rates: Sequence[float], digits: int) -> list[str]:
    """Return rates as text in which only 0 and 1 (up to rounding) read as 0 and 1."""
    step = 10.0**-digits
    texts = []
    for rate in rates:
        if 1e-6 < rate < step / 2:
            texts.append(f"<{step:.{digits}f}")
        elif 1 - step / 2 < rate < 1 - 1e-6:
            texts.append(f">{1 - step:.{digits}f}")
        else:
            texts.append(f"{rate:.{digits}f}")
    return texts


Corner = Literal["upper left", "upper right", "lower left", "lower right"]
CORNERS: tuple[Corner, ...] = ("lower right", "upper left", "upper right", "lower left")
HANDLE_LENGTH = 3.0  # letters: within the default's two, dashes of two kinds look alike
_MARGIN = 0.02  # of the axes, between a legend and what it must not cover


def place_legend(ax: Axes, first_choice: str, lines: Sequence[Line2D], **legend: Any) -> None:
    """Draw the legend in a corner that is free of the lines, else beside the axes."""

    def draw(**place: Any) -> Legend:
        return ax.legend(**(legend | place))

    found = draw(loc=first_choice)
    if first_choice not in CORNERS:
        return
    extent = found.get_window_extent()
    width, height = extent.width / ax.bbox.width, extent.height / ax.bbox.height
    places = [_places(ax, line) for line in lines]
    for corner in dict.fromkeys([first_choice, *CORNERS]):
        if not any(_meets(xy, corner, width + _MARGIN, height + _MARGIN) for xy in places):
            draw(loc=corner)
            return
    draw(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _places(ax: Axes, line: Line2D) -> Float[np.ndarray, "points 2"]:
    """Return points along a line, closer together than a legend is high, as parts of the axes."""
    xy = ax.transData.transform(np.column_stack(line.get_data(orig=False)))
    xy = ax.transAxes.inverted().transform(xy)
    steps = np.linspace(0, 1, 50, endpoint=False)[:, None]
    between = xy[:-1, None] + steps * np.diff(xy, axis=0)[:, None]
    return np.concatenate([between.reshape(-1, 2), xy[-1:]])


def _meets(xy: Float[np.ndarray, "points 2"], corner: str, width: float, height: float) -> bool:
    x, y = xy[((xy >= 0) & (xy <= 1)).all(axis=1)].T
    across = x < width if "left" in corner else x > 1 - width
    along = y > 1 - height if "upper" in corner else y < height
    return bool((across & along).any())
