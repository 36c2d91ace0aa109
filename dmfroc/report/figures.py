"""The figures of a report as what its template draws: paths, colours and texts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from dmfroc.report.numbers import Numbers
from dmfroc.report.shapes import (
    MOST_POINTS,
    Shade,
    area_path,
    colors,
    path,
    picture,
    shade,
    thinned,
    zoom_of,
)
from dmfroc.report.verdict import interval_text, number, worst_pairs

if TYPE_CHECKING:
    from dmfroc.comparison_result import Comparison

ROC_SIZE, SMALL_SIZE = 400.0, 120.0  # units of the paths
MOST_CELLS_AS_TEXT = 12  # classes; of more, matrices are pictures
_MOST_SMALL_MULTIPLES, _SHOWN_OF_MANY = 20, 12  # classes
_POINTS_IN_ALL = 9_000  # of the small curves together, which keeps a page small
_N_WORST = 5
_MOST_TICKS = 20
_ROOM = 15  # per cent that a number needs


@dataclass(frozen=True)
class Line:
    """A curve of one classifier; `position` says its colour and dashes."""

    position: int
    name: str
    curve: str
    band: str
    text: str


@dataclass(frozen=True)
class Small:
    """A small chart of one class, with a curve or with points of every classifier."""

    label: Hashable
    zoom: float
    lines: list[Line]
    summary: str


@dataclass(frozen=True)
class Cell:
    """A number in a matrix of few classes, with its colour."""

    text: str
    shade: Shade


@dataclass(frozen=True)
class Matrix:
    """A matrix of a classifier: cells if there are few classes, else a picture."""

    position: int
    name: str
    rows: list[list[Cell]]
    picture: str
    summary: str


@dataclass(frozen=True)
class Bar:
    """The interval of a difference, in per cent of the width of a chart."""

    text: str
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Forest:
    """Differences on a common scale."""

    bars: list[Bar]
    zero: float
    ends: tuple[str, str]  # empty where there is no room beside the zero


def roc_lines(named: Mapping[str, Numbers], texts: Mapping[str, str]) -> list[Line]:
    """Return the multiclass ROC curves with their bands."""
    lines = []
    for position, (name, numbers) in enumerate(named.items()):
        fpr, tpr = (x[thinned(numbers.curve.fpr, numbers.curve.tpr)] for x in _curve(numbers))
        band = numbers.band
        lines.append(
            Line(
                position,
                name,
                path(fpr, tpr, ROC_SIZE),
                area_path(band.fpr, band.low, band.high, ROC_SIZE),
                texts[name],
            )
        )
    return lines


def _curve(numbers: Numbers) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
    return numbers.curve.fpr, numbers.curve.tpr


def by_difficulty(named: Mapping[str, Numbers]) -> list[Hashable]:
    """Return the classes, the one that is hardest to tell from the rest first."""
    first = next(iter(named.values()))
    difficulty = {
        label: float(np.mean([numbers.classes[label].area.value for numbers in named.values()]))
        for label in first.classes
    }
    return sorted(difficulty, key=lambda label: difficulty[label])


def shown_classes(named: Mapping[str, Numbers]) -> list[Hashable]:
    """Return the classes with charts of their own: all, or of many the hardest."""
    classes = by_difficulty(named)
    return classes if len(classes) <= _MOST_SMALL_MULTIPLES else classes[:_SHOWN_OF_MANY]


def one_vs_rest(named: Mapping[str, Numbers], shown: Sequence[Hashable]) -> list[Small]:
    """Return the ROC curve of each class against the rest, the hardest class first."""
    most = max(min(MOST_POINTS, _POINTS_IN_ALL // (len(named) * len(shown))), 20)
    charts = []
    for label in shown:
        curves = {name: numbers.classes[label].curve for name, numbers in named.items()}
        zoom = zoom_of([(curve.x, curve.y) for curve in curves.values()])
        lines = []
        for position, (name, curve) in enumerate(curves.items()):
            points = thinned(curve.x, curve.y, most, zoom)
            x, y = curve.x[points] / zoom, 1 - (1 - curve.y[points]) / zoom
            area = named[name].classes[label].area
            text = f"{number(area.value, area.standard_error)} ({interval_text(area)})"
            lines.append(Line(position, name, path(x, y, SMALL_SIZE), "", text))
        charts.append(Small(label, zoom, lines, "; ".join(f"{x.name}: {x.text}" for x in lines)))
    return charts


def calibration(
    named: Mapping[str, Numbers], shown: Sequence[Hashable], level: float
) -> list[Small]:
    """Return the calibration curve of each class; none where scores are no probabilities."""
    charts = []
    for label in shown:
        lines = []
        for position, (name, numbers) in enumerate(named.items()):
            curve = numbers.classes[label].calibration
            if curve is None:
                continue
            low, high = curve.intervals(level)
            bars = " ".join(
                f"M{SMALL_SIZE * x:.4g},{SMALL_SIZE * (1 - a):.4g}V{SMALL_SIZE * (1 - b):.4g}"
                for x, a, b in zip(curve.mean_predicted, low, high, strict=True)
            )
            text = f"ECE {number(curve.expected_error)}, Brier {number(curve.brier)}"
            line = path(curve.mean_predicted, curve.fraction_positive, SMALL_SIZE)
            lines.append(Line(position, name, line, bars, text))
        if lines:
            summary = "; ".join(f"{line.name}: {line.text}" for line in lines)
            charts.append(Small(label, 1.0, lines, summary))
    return charts


def least_area(named: Mapping[str, Numbers]) -> float:
    """Return where the colours of areas begin: at chance, or at the worst if that is better."""
    worst = min(float(np.nanmin(numbers.areas)) for numbers in named.values())
    return max(0.5, math.floor(worst * 100) / 100) if worst < 1 else 0.5


def heat_maps(named: Mapping[str, Numbers], labels: Sequence[Hashable]) -> list[Matrix]:
    """Return A(i|j) of all pairs, with the worst named."""
    least = least_area(named)
    maps = []
    for position, (name, numbers) in enumerate(named.items()):
        worst = [f"{i} from {j}: {number(a)}" for i, j, a in worst_pairs(numbers, labels, _N_WORST)]
        shares = (numbers.areas - least) / (1 - least)
        texts = [[_area_text(area) for area in row] for row in numbers.areas.tolist()]
        maps.append(_matrix(position, name, shares, texts, "; ".join(worst)))
    return maps


def confusion_matrices(named: Mapping[str, Numbers]) -> list[Matrix]:
    """Return how often each class was predicted for each observed one."""
    matrices = []
    for position, (name, numbers) in enumerate(named.items()):
        if numbers.confusion is None:
            continue
        totals = numbers.confusion.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, numbers.confusion / np.where(totals > 0, totals, 1), np.nan)
        texts = [[f"{count:.6g}" for count in row] for row in numbers.confusion.tolist()]
        right = float(np.trace(numbers.confusion) / totals.sum())
        matrices.append(_matrix(position, name, shares, texts, f"{100 * right:.1f} % are right"))
    return matrices


def _area_text(area: float) -> str:
    return number(area) if math.isfinite(area) else ""


def _matrix(
    position: int,
    name: str,
    shares: Float[np.ndarray, "k k"],
    texts: list[list[str]],
    summary: str,
) -> Matrix:
    if len(shares) > MOST_CELLS_AS_TEXT:
        return Matrix(position, name, [], picture(colors(shares)), summary)
    rows = [
        [Cell(text, shade(share)) for text, share in zip(*row, strict=True)]
        for row in zip(texts, shares.tolist(), strict=True)
    ]
    return Matrix(position, name, rows, "", summary)


def ticks(labels: Sequence[Hashable]) -> list[tuple[float, Hashable]]:
    """Return labels to write beside a picture of a matrix, with their places in per cent."""
    step = math.ceil(len(labels) / _MOST_TICKS)
    return [
        (100 * (index + 0.5) / len(labels), label)
        for index, label in enumerate(labels)
        if index % step == 0
    ]


def forest(comparison: Comparison) -> Forest | None:
    """Return the differences with their intervals on one scale; None where some are undefined."""
    numbers = [x for d in comparison.differences for x in (*d.interval, d.value)]
    if not all(map(math.isfinite, numbers)):
        return None
    low, high = min(*numbers, 0.0), max(*numbers, 0.0)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def place(x: float) -> float:
        return round(100 * (x - low) / (high - low), 2)

    bars = [
        Bar(
            f"{d.first} \N{MINUS SIGN} {d.second}",
            *map(place, (d.interval[0], d.value, d.interval[1])),
        )
        for d in comparison.differences
    ]
    zero = place(0.0)
    ends = (number(low) if zero > _ROOM else "", number(high) if zero < 100 - _ROOM else "")
    return Forest(bars, zero, ends)
