"""Curves and matrices for a page: short paths and small pictures."""

from __future__ import annotations

import base64
import io
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8
from matplotlib import colormaps
from matplotlib.image import imsave
from matplotlib.ticker import MaxNLocator

MOST_POINTS = 400
_COLORS = colormaps["cividis"].with_extremes(bad="#ffffff")
_ZOOMS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


def zoom_of(curves: list[tuple[Float[np.ndarray, " _"], Float[np.ndarray, " _"]]]) -> float:
    """Return the side of the square in the upper left corner in which the curves bend.

    The square is at least twice as wide as the knee of the curve that is farthest from the corner
    is away from it; 1 where that is most of the chart.
    """
    distances = []
    for x, y in curves:
        knee = int(np.argmax(y - x))
        distances.append(max(x[knee], 1 - y[knee]))
    return side_of(np.array(distances), 2.5)


def side_of(values: Float[np.ndarray, " _"], margin: float = 1.1) -> float:
    """Return the side of the square in the lower left corner that holds all values."""
    return min(side for side in _ZOOMS if side == 1 or side >= margin * values.max(initial=0.0))


def thinned(
    x: Float[np.ndarray, " t"],
    y: Float[np.ndarray, " t"],
    most: int = MOST_POINTS,
    side: float = 1.0,
) -> Int[np.ndarray, " m"]:
    """Return which points of a curve to draw: all, or so many that are about equally far apart.

    Of a square in the upper left corner with the given side, those in it and the next ones.
    """
    if side < 1:
        # From the last point below the square to the first one to its right
        first = max(int(np.searchsorted(y, 1 - side)) - 1, 0)
        last = min(int(np.searchsorted(x, side, side="right")) + 1, len(x))
    else:
        first, last = 0, len(x)
    if last - first <= most:
        return np.arange(first, last)
    way = np.minimum(x[first:last], side) + np.maximum(y[first:last], 1 - side)
    steps = np.linspace(way[0], way[-1], most)
    return first + np.unique(np.minimum(np.searchsorted(way, steps), last - first - 1))


def round_numbers(low: float, high: float, *, whole: bool = False) -> list[tuple[float, str]]:
    """Return a handful of round numbers between two, or of whole ones, with their texts."""
    places = MaxNLocator(6, steps=[1, 2, 5, 10], integer=whole).tick_values(low, high)
    digits = max(-math.floor(math.log10(places[1] - places[0]) + 1e-9), 0)
    return [
        (float(place), f"{place:.{digits}f}".replace("-", "\N{MINUS SIGN}"))
        for place in places
        if low <= place <= high
    ]


def path(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " m"], size: float) -> str:
    """Return the d of an SVG path through points of the unit square, y upwards."""
    pairs = zip(size * np.asarray(x), size * (1 - np.asarray(y)), strict=True)
    return "M" + " ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in pairs)


class Shade(NamedTuple):
    """The colour of a cell, and one in which its text can be read."""

    background: str
    text: str


def colors(shares: Float[np.ndarray, "*cells"]) -> UInt8[np.ndarray, "*cells 3"]:
    """Return the colours of numbers from 0 (dark) to 1 (light); white where there is none."""
    return _COLORS(np.clip(shares, 0, 1), bytes=True)[..., :3]


def shade(share: float) -> Shade:
    """Return the colour of one number from 0 to 1, with black or white text."""
    rgb = colors(np.array([share]))[0]
    linear = np.where(rgb / 255 <= 0.04045, rgb / 3294.6, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    # Where black and white contrast alike, 4.6 to 1
    return Shade("#{:02x}{:02x}{:02x}".format(*rgb), "#000" if luminance > 0.179 else "#fff")


def picture(rgb: UInt8[np.ndarray, "rows columns 3"]) -> str:
    """Return a picture of one pixel per cell as the address of a PNG that it holds itself."""
    stream = io.BytesIO()
    imsave(stream, rgb, format="png")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
