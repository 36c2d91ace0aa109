"""What all displays look like: colours, line styles and numbers in legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from dmfroc.multiclass.band import CurveBand

# Okabe and Ito's colours, told apart with any kind of colour vision; yellow is too faint.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINE_STYLES = ("-", "--", "-.", ":")  # for more lines than colours


def style_of(position: int) -> dict[str, Any]:
    """Return colour and dashes of the class at a position among all, on whichever chart."""
    turn, color = divmod(position, len(COLORS))
    return {"color": COLORS[color], "linestyle": LINE_STYLES[turn % len(LINE_STYLES)]}


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
