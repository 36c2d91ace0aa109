"""Curves and matrices for a page: short paths and small pictures."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8

MOST_POINTS = 400
_ZOOMS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
# Five colours of cividis, which reads alike with any kind of colour vision, from dark to light
_SCALE = np.array(
    [[0, 34, 78], [53, 69, 108], [122, 123, 120], [188, 174, 108], [254, 232, 56]], dtype=float
)


def zoom_of(curves: list[tuple[Float[np.ndarray, " _"], Float[np.ndarray, " _"]]]) -> float:
    """Return the side of the square in the upper left corner in which the curves bend.

    The square is at least twice as wide as the knee of the curve that is farthest from the corner
    is away from it; 1 where that is most of the chart.
    """
    distances = []
    for x, y in curves:
        knee = int(np.argmax(y - x))
        distances.append(max(x[knee], 1 - y[knee]))
    return min(side for side in _ZOOMS if side == 1 or side >= 2.5 * max(distances))


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


def round_numbers(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Return round numbers between two, about so many at most, with their texts."""
    least = (high - low) / most
    power = math.floor(math.log10(least))
    step = next(
        digit * 10.0**exponent
        for exponent in (power, power + 1)
        for digit in (1, 2, 5)
        if digit * 10.0**exponent >= least
    )
    digits = max(-math.floor(math.log10(step) + 1e-9), 0)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [
        (place * step, f"{place * step:.{digits}f}".replace("-", "\N{MINUS SIGN}"))
        for place in range(first, last + 1)
    ]


def path(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " m"], size: float) -> str:
    """Return the d of an SVG path through points of the unit square, y upwards."""
    pairs = zip(size * np.asarray(x), size * (1 - np.asarray(y)), strict=True)
    return "M" + " ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in pairs)


def area_path(
    x: Float[np.ndarray, " m"],
    low: Float[np.ndarray, " m"],
    high: Float[np.ndarray, " m"],
    size: float,
) -> str:
    """Return the d of an SVG path around what lies between two curves."""
    return path(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]), size) + "Z"


class Shade(NamedTuple):
    """The colour of a cell, and one in which its text can be read."""

    background: str
    text: str


def colors(shares: Float[np.ndarray, "*cells"]) -> UInt8[np.ndarray, "*cells 3"]:
    """Return the colours of numbers from 0 (dark) to 1 (light); grey where there is none."""
    known = np.where(np.isfinite(shares), np.clip(shares, 0, 1), 0)
    positions = np.linspace(0, 1, len(_SCALE))
    rgb = np.stack([np.interp(known, positions, channel) for channel in _SCALE.T], axis=-1)
    rgb[~np.isfinite(shares)] = 160
    return rgb.round().astype(np.uint8)


def shade(share: float) -> Shade:
    """Return the colour of one number from 0 to 1, with black or white text."""
    rgb = colors(np.array([share]))[0]
    linear = np.where(rgb / 255 <= 0.04045, rgb / 3294.6, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    # Where black and white contrast alike, 4.6 to 1
    return Shade("#{:02x}{:02x}{:02x}".format(*rgb), "#000" if luminance > 0.179 else "#fff")


def picture(rgb: UInt8[np.ndarray, "rows columns 3"]) -> str:
    """Return a picture of one pixel per cell as the address of a PNG that it holds itself."""
    height, width, _ = rgb.shape
    rows = b"".join(b"\0" + row.tobytes() for row in rgb)

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
