"""The figures of a report: paths, colours and texts for its template."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerThreshold, divide
from dmfroc._kit.text import class_name
from dmfroc.analyses.leads import drawn_curve
from dmfroc.inference.units import Sample, sample_of
from dmfroc.measures.statistics.forecasts import no_probabilities
from dmfroc.multiclass.curve import MeanROC
from dmfroc.plots._style import BETWEEN_NAMES
from dmfroc.plots.forest import ForestRow
from dmfroc.reports.numbers import ByClassifier
from dmfroc.reports.shapes import (
    MOST_POINTS,
    Shade,
    colors,
    path,
    picture,
    round_numbers,
    shade,
    side_of,
    thinned,
    zoom_of,
)
from dmfroc.reports.verdict import (
    digits,
    ends_text,
    interval_text,
    share_of_right,
    value_text,
    worst_pairs,
)

ROC_SIZE, SMALL_SIZE = 400.0, 120.0  # units of the paths
MOST_CELLS_AS_TEXT = 10  # classes; of more, matrices are pictures
_MOST_SMALL_MULTIPLES, _SHOWN_OF_MANY = 20, 12  # classes
_POINTS_IN_ALL = 2_000  # of the small curves together, which keeps a page small
_N_WORST = 3
_MOST_TICKS = 12
_SHORT, _FIT, _FEW = 4, 12, 5  # characters that always fit, and that do with few classes
_MOST_BARS = 60
_MOST_WITH_BARS = 3  # classifiers with intervals in a chart of calibration
_POINTS_OF_FOLDS = 4_000  # of their curves together
_MOST_FOLD_CURVES = 100
_DIAGONAL = f"M0,{SMALL_SIZE:g}L{SMALL_SIZE:g},0"
_MANY_SCORES, _FEW_ROWS = 200_000, 5_000
_FEW_CURVES = 4  # of decisions, which take a third of a second each with all thresholds
_LEAST_BENEFIT = 0.01  # standardized: from which on a chart of decisions shows something


@dataclass(frozen=True)
class ChartLine:
    """A curve of one classifier; `position` says its colour and dashes."""

    position: int
    name: str
    curve: str
    band: str
    text: str
    folds: str = ""  # their curves, of a mean


@dataclass(frozen=True)
class Small:
    """A small chart of one class, with a curve or with points of every classifier.

    It shows the part of the unit square between two corners, the lower left one first.
    """

    label: Hashable
    lines: list[ChartLine]
    reference: str = _DIAGONAL  # the path of what is no better than guessing
    low: tuple[float, float] = (0.0, 0.0)
    high: tuple[float, float] = (1.0, 1.0)

    @property
    def summary(self) -> str:
        """What the chart shows, in words."""
        return "; ".join(f"{line.name}: {line.text}" for line in self.lines)


@dataclass(frozen=True)
class Matrix:
    """A matrix of a classifier: cells if there are few classes, else a picture."""

    position: int
    name: str
    rows: list[list[tuple[str, Shade]]]
    picture: str
    summary: str


def roc_lines(named: ByClassifier, texts: Mapping[str, str]) -> list[ChartLine]:
    """Return the multiclass ROC curves with their bands."""
    lines = []
    for position, (name, numbers) in enumerate(named.items()):
        curve, band = numbers.curve, numbers.band
        around = ""
        if band is not None:
            x, y = np.append(band.fpr, band.fpr[::-1]), np.append(band.low, band.high[::-1])
            around = path(x, y, ROC_SIZE) + "Z"
        folds = _fold_paths(curve, len(named)) if isinstance(curve, MeanROC) else ""
        lines.append(
            ChartLine(position, name, _thin_path(curve.fpr, curve.tpr), around, texts[name], folds)
        )
    return lines


def _thin_path(fpr: PerThreshold, tpr: PerThreshold, most: int = MOST_POINTS) -> str:
    points = thinned(fpr, tpr, most)
    return path(fpr[points], tpr[points], ROC_SIZE)


def _fold_paths(mean: MeanROC, n_classifiers: int) -> str:
    """Return the curves of the folds, unless there are so many that nobody could follow them."""
    n_curves = len(mean.folds) * n_classifiers
    if n_curves > _MOST_FOLD_CURVES:
        return ""
    most = min(_POINTS_OF_FOLDS // n_curves, MOST_POINTS)
    return " ".join(_thin_path(curve.fpr, curve.tpr, most) for curve in mean.folds)


def by_difficulty(named: ByClassifier) -> list[Hashable]:
    """Return the classes, the one that is hardest to tell from the rest first."""
    several = [numbers.classes for numbers in named.values()]
    return sorted(
        several[0] if several else (),
        key=lambda label: float(np.mean([classes[label].area.value for classes in several])),
    )


def shown_classes(classes: list[Hashable]) -> list[Hashable]:
    """Return the classes with charts of their own: all, or of many the first."""
    return classes if len(classes) <= _MOST_SMALL_MULTIPLES else classes[:_SHOWN_OF_MANY]


def one_vs_rest(named: ByClassifier, shown: Sequence[Hashable]) -> list[Small]:
    """Return the ROC curve of each class against the rest, the hardest class first."""
    n_curves = max(len(named) * len(shown), 1)
    most = max(min(MOST_POINTS, _POINTS_IN_ALL // n_curves), 20)
    charts = []
    curves_of_all = [x.classes[label].curve for label in shown for x in named.values()]
    zoom = zoom_of([(curve.x, curve.y) for curve in curves_of_all])
    for label in shown:
        curves = {name: numbers.classes[label].curve for name, numbers in named.items()}
        lines = []
        for position, (name, curve) in enumerate(curves.items()):
            points = thinned(curve.x, curve.y, most, zoom)
            x, y = curve.x[points] / zoom, 1 - (1 - curve.y[points]) / zoom
            area = named[name].classes[label].area
            text = f"{value_text(area)} ({interval_text(area)})"
            lines.append(ChartLine(position, name, path(x, y, SMALL_SIZE), "", text))
        reference = _DIAGONAL if zoom == 1 else ""
        charts.append(Small(label, lines, reference, (0.0, round(1 - zoom, 4)), (zoom, 1.0)))
    return charts


def calibration(named: ByClassifier, shown: Sequence[Hashable], level: float) -> list[Small]:
    """Return the calibration curve of each class; none where scores are no probabilities."""
    charts = []
    all_of = [x.classes[label].calibration for label in shown for x in named.values()]
    points = [p for x in all_of if x is not None for p in (x.mean_predicted, x.fraction_positive)]
    zoom = side_of(np.concatenate([[0.0], *points]))
    size = SMALL_SIZE / zoom
    for label in shown:
        lines: list[ChartLine] = []
        curves = [
            (position, name, curve)
            for position, (name, numbers) in enumerate(named.items())
            if (curve := numbers.classes[label].calibration) is not None
        ]
        if not curves:
            continue
        for position, name, curve in curves:
            low, high = curve.intervals(level)
            bars = " ".join(
                f"M{size * x:.4g},{SMALL_SIZE - size * a:.4g}V{SMALL_SIZE - size * b:.4g}"
                for x, a, b in zip(curve.mean_predicted, low, high, strict=True)
            )
            text = (
                f"ECE {curve.expected_error:.3f}, Brier {curve.brier:.3f}, of {class_name(label)}"
            )
            places = size * curve.mean_predicted, SMALL_SIZE - size * curve.fraction_positive
            line = " ".join(f"M{x:.4g},{y:.4g}h0.01" for x, y in zip(*places, strict=True))
            if lines and len(curves) > _MOST_WITH_BARS:  # more would hide each other
                line = path(curve.mean_predicted / zoom, curve.fraction_positive / zoom, SMALL_SIZE)
                bars = ""
            lines.append(ChartLine(position, name, line, bars, text))
        charts.append(Small(label, lines, high=(zoom, zoom)))
    return charts


def decisions(
    samples: Mapping[str, Sample], shown: Sequence[Hashable], level: float
) -> list[Small]:
    """Return the standardized net benefit of treating each class, and that of treating all.

    There is none where scores are no probabilities, nor where no decision gains anything.
    """
    wholes = {name: sample_of(replace(p, folds=None), u.groups) for name, (p, u) in samples.items()}
    found, seen = [], [np.zeros((2, 1))]
    for label in shown:
        curves, treat_all = [], None
        for position, (name, (predictions, _)) in enumerate(samples.items()):
            if no_probabilities(predictions) is not None:
                continue
            n_steps = 20 if predictions.scores.size <= _MANY_SCORES else 10
            if len(wholes) * len(shown) <= _FEW_CURVES and len(predictions.true) <= _FEW_ROWS:
                n_steps = 100  # as decision_curve, with the same ranges
            thresholds = np.arange(1, n_steps) / n_steps
            share, benefit, of_all, ranges = drawn_curve(wholes[name], thresholds, label, level)
            treat_all = thresholds, of_all / share
            steps = f"better at {ranges}, of {n_steps - 1} thresholds at once"
            text = steps if ranges else "nowhere shown to be better"
            curves.append((position, name, thresholds, benefit / share, text))
        own = [np.array([x, y])[:, y > _LEAST_BENEFIT] for _, _, x, y, _ in curves]
        if treat_all is not None and any(x.size for x in own):
            found.append((label, curves, treat_all))
            seen += own
    high = side_of(np.concatenate(seen, axis=1)[0]), side_of(np.concatenate(seen, axis=1)[1])
    charts = []
    for label, curves, (x, of_all) in found:
        reference = path(x / high[0], of_all / high[1], SMALL_SIZE)
        lines = [
            ChartLine(position, name, path(x / high[0], y / high[1], SMALL_SIZE), "", text)
            for position, name, x, y, text in curves
        ]
        charts.append(Small(label, lines, reference, high=high))
    return charts


def heat_maps(named: ByClassifier, labels: Sequence[Hashable]) -> list[Matrix]:
    """Return A(i|j) of all pairs, with the worst named."""
    maps = []
    for position, (name, numbers) in enumerate(named.items()):
        n_worst = _N_WORST if len(named) == 1 else 1  # captions are beside each other
        worst = [
            f"{i} from {j}: {digits(a)}" for i, j, a in worst_pairs(numbers.areas, labels, n_worst)
        ]
        shares = 2 * numbers.areas - 1  # dark is guessing, whatever the data
        areas = numbers.areas.tolist()
        texts = [[digits(x) if math.isfinite(x) else "" for x in row] for row in areas]
        maps.append(_matrix(position, name, shares, texts, "; ".join(worst)))
    return maps


def confusion_matrices(named: ByClassifier) -> list[Matrix]:
    """Return how often each class was predicted for each observed one."""
    matrices = []
    for position, (name, numbers) in enumerate(named.items()):
        if numbers.confusion is None:
            continue
        totals = numbers.confusion.sum(axis=1, keepdims=True)
        shares = divide(numbers.confusion, totals, np, np.nan)
        texts = [[f"{count:.6g}" for count in row] for row in numbers.confusion.tolist()]
        summary = f"{100 * share_of_right(numbers.confusion):.1f} % are right"
        if len(shares) == 2:
            recall, precision = (digits(numbers.rates[x][1]) for x in ("recall", "precision"))
            specificity = digits(numbers.rates["recall"][0])
            label = next(iter(numbers.classes), "the second class")
            summary += (
                f"; of {class_name(label)}, sensitivity (recall) is {recall}, specificity "
                f"{specificity}, and positive predictive value (precision) {precision}"
            )
        matrices.append(_matrix(position, name, shares, texts, summary))
    return matrices


def _matrix(
    position: int, name: str, shares: Float[np.ndarray, "k k"], texts: list[list[str]], summary: str
) -> Matrix:
    if len(shares) > MOST_CELLS_AS_TEXT:
        return Matrix(position, name, [], picture(colors(shares)), summary)
    rows = [
        [(text, shade(share)) for text, share in zip(*row, strict=True)]
        for row in zip(texts, shares.tolist(), strict=True)
    ]
    return Matrix(position, name, rows, "", summary)


def short_labels(labels: Sequence[Hashable]) -> list[Hashable]:
    """Return numbers of the classes if their names are too long for the columns of a matrix."""
    longest = max(len(str(label)) for label in labels)
    if longest <= _SHORT or (longest <= _FIT and len(labels) <= _FEW):
        return []
    return list(range(1, len(labels) + 1))


def ticks(labels: Sequence[Hashable]) -> list[tuple[float, Hashable]]:
    """Return what to write beside a picture of a matrix, with the places in per cent."""
    step = math.ceil(len(labels) / _MOST_TICKS)
    texts = short_labels(labels) or labels
    return [
        (100 * (index + 0.5) / len(labels), text)
        for index, text in enumerate(texts)
        if index % step == 0
    ]


def forest(
    rows: Sequence[ForestRow], caption: str, reference: float | None = None
) -> dict[str, Any] | None:
    """Return values with their intervals on one scale; None where some are undefined.

    Places are in per cent of the width.
    """
    rows, n_rows = rows[:_MOST_BARS], len(rows)
    if n_rows > len(rows):
        caption += f" The first {len(rows)} of {n_rows}."
    numbers = [x for row in rows for x in (*row.interval, row.value)]
    if any(map(math.isnan, numbers)) or not all(math.isfinite(row.value) for row in rows):
        return None
    numbers = [x for x in numbers if math.isfinite(x)]  # the open end of a limit is at the edge
    marks = numbers if reference is None else [*numbers, reference]
    low, high = min(marks), max(marks)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def place(x: float) -> float:
        return round(100 * (min(max(x, low), high) - low) / (high - low), 2)

    bars = [
        {
            "name": row.name,
            "parts": BETWEEN_NAMES.split(row.name),
            "text": f"{digits(row.value)} ({ends_text(row.interval)})",
            "interval": "M{:g},5H{:g}".format(*map(place, row.interval))
            + "".join(f"M{place(end):g},2V8" for end in row.interval if math.isfinite(end)),
            "value": place(row.value),
            "is_filled": row.is_filled,
        }
        for row in rows
    ]
    # Close to the ends there is no room for a number
    ends, whole = (low + margin / 2, high - margin / 2), all(x.is_integer() for x in numbers)
    ticks = [(place(x), text) for x, text in round_numbers(*ends, whole=whole)]
    reference = None if reference is None else place(reference)
    return dict(kind="forest", caption=caption, bars=bars, reference=reference, ticks=ticks)
