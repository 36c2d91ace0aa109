"""What the displays of curves share: one line per class, with the lines that help to read it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.later import Axes, Line2D, PolyCollection, Self
from dmfroc._kit.options import instance, number
from dmfroc._kit.text import class_name, legend_text
from dmfroc.curves.curve import Curve, Line
from dmfroc.curves.hull import convex_hull
from dmfroc.curves.isometric_lines import Isometric, isometrics
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.columns import Direction
from dmfroc.inputs.estimators import held_out
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.contingency_table import ContingencyTable
from dmfroc.multiclass.band import CurveBand
from dmfroc.plots._style import (
    BASELINE_ID,
    CURVE_ID,
    GUIDE_ID,
    ChartStyle,
    ClassifierDisplay,
    LinesByClass,
    Style,
    Styles,
    checked_name,
    curves_by_label,
    draw_band,
    draw_legend,
    legend_entries,
    next_style,
    rate_texts,
    styles_of,
)
from dmfroc.plots._trace import finite, trace

_ISOMETRIC = "#6F93B5"
_MOST_GUIDES = 7  # of lines of each class that help to read; more would hide the curves
_NAMED_SEGMENT = 0.07  # least length of a hull's segment that bears its score
_TEXT: dict[str, Any] = {"fontsize": "x-small", "color": "0.46", "zorder": 2.6}
_VALUE: Style = _TEXT | {
    "color": _ISOMETRIC,
    "zorder": 1.1,
    "ha": "center",
    "va": "center",
}
_DECISION: Style = {"marker": "o", "markersize": 8, "markeredgecolor": "black"}
_DECISION |= {"linestyle": "none", "zorder": 3.0, "label": "_decision"}


class CurveDisplay(ClassifierDisplay):
    """Curves of the classes of one classifier, ready to be drawn.

    Build it with `from_predictions`, `from_estimator` or `from_cv_results`; draw it again, or
    elsewhere, with `plot`. Each class has the same colour and dashes on every chart.

    Parameters
    ----------
    curves : Curve or dict
        One curve, or curves by class or pair of classes.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    curves : dict
        The curves by class or pair of classes.
    line_ : matplotlib.lines.Line2D
        The curve, or the first of several.
    lines_ : dict
        All of them, by class or pair of classes.
    guides_ : list of matplotlib.lines.Line2D
        Chance and break-even lines, and isometrics.
    bands_ : dict of matplotlib.collections.PolyCollection
        The confidence bands, by class, where they are drawn.
    hulls_ : dict
        The hulls as lines, by class, where they are drawn.
    decisions_ : dict
        The markers of `plot_decisions`, by class, once they are drawn.
    tangents_ : dict
        The lines of `plot_tangent`, by class, once they are drawn.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where the curves were drawn last.
    """

    line_: Line2D
    lines_: LinesByClass
    guides_: list[Line2D]
    bands_: dict[Hashable, PolyCollection]
    hulls_: LinesByClass
    decisions_: LinesByClass
    tangents_: LinesByClass

    look: ClassVar[ChartStyle]

    def __init__(
        self, curves: Curve | Mapping[Hashable, Curve], *, name: str | None = None
    ) -> None:
        self.curves: dict[Hashable, Any] = curves_by_label(curves, Curve)
        self.bands: dict[Hashable, CurveBand] = {}
        self.name = checked_name(name)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        multi_class: Literal["ovr", "ovo"] | None = None,
        direction: Direction | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Compute the curves of a classifier's scores, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight, pos_label, multi_class, direction
            As for `operating_points`; but of more than two classes, all are drawn against
            the rest by default.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the function that computes the curves, those that the class names, and those of
            `plot`.

        Returns
        -------
        CurveDisplay
            Already drawn. Pass its ``ax_`` as ``ax`` to overlay another classifier.

        Raises
        ------
        TypeError, ValueError
            As for the function that computes the curves.
        """
        own = cls.look.taken_from(options)
        given: Any = {"pos_label": pos_label, "direction": direction, "against_rest": True}
        given |= {"labels": labels, "sample_weight": sample_weight}
        predictions = as_predictions(y_true, y_score, **given)
        if multi_class is None and pos_label is None and predictions.n_classes > 2:
            multi_class = "ovr"
        display = cls._compute(
            predictions, name=name, pos_label=pos_label, multi_class=multi_class, **own
        )
        return display.plot(ax, **options)

    @classmethod
    def _compute(cls, predictions: Predictions, *, name: str | None = None, **options: Any) -> Self:
        """Compute what the display stores."""
        return cls(cls.look.compute(predictions, **options), name=name)

    @classmethod
    def from_cv_results(
        cls, cv_results: Mapping[str, Any], X: Any, y: Any, *, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw the curve of each classifier of a cross-validation on the rows that it did not see.

        Parameters
        ----------
        cv_results : dict
            Of scikit-learn's ``cross_validate`` with ``return_estimator=True`` and
            ``return_indices=True``.
        X : array-like or table of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        pos_label : hashable, optional
            The class whose curves are drawn; of two by default the second.
        **options
            As for `from_predictions`, except ``labels``.

        Returns
        -------
        CurveDisplay
            Already drawn.

        Raises
        ------
        TypeError, ValueError
            If the results lack classifiers or indices, more than two classes have no `pos_label`,
            or as for `from_predictions`.
        """
        own = cls.look.taken_from(options)
        name, ax = options.pop("name", None), options.pop("ax", None)
        curves: dict[Hashable, Any] = {}
        for number_of_fold, (true, scores, labels) in enumerate(held_out(cv_results, X, y)):
            predictions = as_predictions(true, scores, labels=labels)
            if pos_label is None and predictions.n_classes > 2:
                raise ValueError("pos_label must name the class whose curves of folds are drawn")
            of_fold = cls._compute(predictions, pos_label=pos_label, multi_class=None, **own)
            [curves[f"fold {number_of_fold}"]] = of_fold.curves.values()
        return cls(curves, name=name).plot(ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = True,
        plot_break_even: bool = True,
        plot_isometrics: bool = True,
        plot_baselines: bool = True,
        plot_hull: bool = False,
        plot_legend: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        **line_kwargs: Any,
    ) -> Self:
        """Draw the curves.

        Between two thresholds the curve is that of their random mixtures, as in its area. That is
        curved on some charts, where markers (``marker="o"``) show the thresholds.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure. What is on it stays, and a single curve takes
            the next colour.
        name : str, optional
            Name of the classifier in the legend, in place of the display's own.
        plot_chance_level, plot_break_even, plot_isometrics, plot_baselines : bool
            See `plot_legend`.
        plot_hull, plot_legend : bool
            Whether to draw the lines of chance (dashed) and break-even (dotted), each in the colour
            of its class where classes differ. The isometrics are long dashes with the values of
            their measure (without a hull), if they are the same for all curves. Baselines are where
            F1 is that of predicting everything positive (precision-recall and its gains), and
            beneath a single precision-recall curve the precisions that no classifier can have.
            Convex hulls are those of ROC and PRG. The legend is in a corner without curves, else
            beside the axes. Of more than twenty classes, it names the ten of the smallest AUC, and
            the others are grey.
        curve_kwargs : dict, optional
            For the `matplotlib.lines.Line2D` of all curves.
        **line_kwargs
            The same by name, such as ``color="black"``.

        Returns
        -------
        CurveDisplay
            This display.
        """
        chosen = self._checked(line_kwargs | {"curve_kwargs": curve_kwargs})
        name = checked_name(name)
        ax = self._draws_on(
            ax,
            plot_chance_level=plot_chance_level,
            plot_break_even=plot_break_even,
            plot_isometrics=plot_isometrics,
            plot_baselines=plot_baselines,
            plot_hull=plot_hull,
            plot_legend=plot_legend,
        )
        self.guides_, self.hulls_ = [], {}
        if plot_baselines and not ax.lines:
            self._draw_baselines(ax)
        is_first = not any(line.get_gid() == GUIDE_ID for line in ax.lines)
        if plot_isometrics and is_first:
            self._draw_isometrics(ax, has_values=not (plot_hull and self.look.has_hull))
        styles = self._styles(ax)
        if plot_chance_level and is_first:
            self._draw_guides(ax, "chance", styles, (0, (4, 3)))
        if plot_break_even and is_first:
            self._draw_guides(ax, "break_even", styles, (0, (1, 2)))
        self._draw_curves(ax, styles, self.name if name is None else name, chosen)
        self.bands_ = {
            label: draw_band(ax, band.fpr, band.low, band.high, self.lines_[label].get_color())
            for label, band in self.bands.items()
        }
        if plot_hull and self.look.has_hull:
            self._draw_hulls(ax)
        self._decorate(ax)
        if plot_legend:
            draw_legend(ax, self._legend_location())
        return self

    def plot_decisions(self, table: ContingencyTable, **marker_kwargs: Any) -> Self:
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
        instance("table", table, ContingencyTable)
        chosen = self._checked(marker_kwargs)
        self.decisions_ = {}
        for label, curve in self.curves.items():
            if label not in table.labels or curve.projection is None:
                raise ValueError(
                    f"decisions need counts of the class {label!r}, but the table has the classes "
                    f"{table.labels} and the curve is of kind {curve.kind!r}"
                )
            position, scale = table.labels.index(label), curve.points.total / table.counts.sum()
            row = table.counts[position]
            hits = row[[position]]
            counts = hits * scale, (row.sum() - hits) * scale
            place = curve.projection(curve.points.with_counts(*counts))
            style = _DECISION | {"color": self.lines_[label].get_color()} | chosen
            (self.decisions_[label],) = self.ax_.plot(*self.guide_data(Line(*place)), **style)
        return self

    def plot_tangent(self, slope: float, **line_kwargs: Any) -> Self:
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
        slope, chosen = number("slope", slope), self._checked(line_kwargs)
        if not np.isfinite(slope):
            raise ValueError(f"slope must be finite, but it is {slope!r}")
        self.tangents_ = {}
        for label, curve in self.curves.items():
            hull, color = convex_hull(curve), self.lines_[label].get_color()
            best = int(np.argmax(hull.y - slope * hull.x))
            style = {
                "color": color,
                "linewidth": 0.9,
                "linestyle": (0, (8, 2, 1, 2)),
                "zorder": 2.2,
            }
            touched = hull.x[best], hull.y[best]
            self.tangents_[label] = self.ax_.axline(touched, slope=slope, **(style | chosen))
        return self

    # Parts

    def _legend_location(self) -> str:
        return self.look.legend

    def _draw_baselines(self, ax: Axes) -> None:
        """Draw what the curve is compared with; most charts have nothing but chance."""

    def scale(self, line: Line) -> Line:
        """Return points of a chart on the scales of its axes."""
        return line

    def guide_data(self, guide: Line) -> Line:
        """Return the points of a chance line, break-even line or isometric that can be drawn."""
        return finite(self.scale(guide))

    def line_data(self, curve: Curve) -> Line:
        """Return the points of a curve that can be drawn, close enough together to be joined."""
        return trace(curve, self.scale, self.look.has_tails)

    def _styles(self, ax: Axes) -> Styles:
        """Return the line style of each class; of many, only some are told apart."""
        labels = list(self.curves)
        if len(labels) == 1:
            return {labels[0]: next_style(ax) | {"linewidth": 2.0}}

        def auc(label: Hashable) -> float:
            points = self.curves[label].points
            return 0.0 if points is None else points.summarise(curve_summaries.roc_area)

        return styles_of(labels, auc)

    def _draw_curves(
        self,
        ax: Axes,
        styles: Styles,
        name: str | None,
        chosen: dict[str, Any],
    ) -> None:
        self.lines_ = {}
        own = {label: self._label(label, name) for label in self.curves}
        texts = legend_entries(own, styles, self.look.others)
        for label, curve in self.curves.items():
            style: Style = {"label": texts[label], "solid_joinstyle": "round"}
            style["zorder"] = 2.5
            x, y = self.line_data(curve)
            thresholds = finite(self.scale(Line(curve.x, curve.y)))
            if len(x) > len(thresholds.x):  # markers are for thresholds alone
                is_threshold = np.isin(x + 1j * y, thresholds.x + 1j * thresholds.y)
                style["markevery"] = np.flatnonzero(is_threshold).tolist()
            style |= styles[label] | chosen | {"gid": CURVE_ID}
            (self.lines_[label],) = ax.plot(x, y, **style)
        self.line_ = next(iter(self.lines_.values()))

    def _label(self, label: Hashable, name: str | None) -> str:
        """Return the legend's text: classifier, class and area."""
        curve, look = self.curves[label], self.look
        if len(self.curves) == 1:
            of = "" if name is not None else class_name(label, is_alone=True)
        else:
            of = f"{label[0]} against {label[1]}" if isinstance(label, tuple) else class_name(label)
        text = legend_text(", ".join(part for part in (name, of) if part))
        if look.area is None or curve.area is None:
            return text
        area = rate_texts([curve.area], 3)[0] if 0 <= curve.area <= 1 else f"{curve.area:.4g}"
        return f"{text}: {look.area} {area}"

    def _draw_isometrics(self, ax: Axes, has_values: bool) -> None:
        look, curve = self.look, next(iter(self.curves.values()))
        if not look.isometric_values or (len(self.curves) > 1 and not look.shares_isometrics):
            return
        lines = self._isometrics(curve)
        measure = lines[0].measure.replace("_", " ").replace("f beta", "F-beta")
        least, most = min(look.isometric_values), max(look.isometric_values)
        label = f"equal {measure} ({least:g} to {most:g})"
        box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6}
        low, high = np.array([look.xlim, look.ylim], float).T[..., None]  # NaN has nothing beyond
        for value, isometric in zip(look.isometric_values, lines, strict=True):
            line = self.guide_data(Line(isometric.x, isometric.y))
            style = {"linewidth": 0.8, "linestyle": (0, (6, 4)), "zorder": 1.0, "label": label}
            self._guide(ax, line, color=_ISOMETRIC, **style)
            label = "_guide"
            below, above = np.array(line) < low, np.array(line) > high
            inside = ~(below | above).any(axis=0)
            if has_values and inside.any():  # else a hull has numbers of its own
                middle = np.flatnonzero(inside)[inside.sum() // 2]
                place = line.x[middle], line.y[middle]
                ax.text(*place, f"{value:g}", clip_on=True, bbox=box, **_VALUE)

    def _isometrics(self, curve: Curve) -> list[Isometric]:
        """Return the isometrics of the values of the look, in their order."""
        return isometrics(curve, values=self.look.isometric_values)

    def _draw_guides(
        self,
        ax: Axes,
        which: Literal["chance", "break_even"],
        styles: Styles,
        dashes: Any,
    ) -> None:
        of_curves = ((label, getattr(curve, which)) for label, curve in self.curves.items())
        lines = {label: line for label, line in of_curves if line is not None}
        if not lines:
            return
        text = getattr(self.look, which)
        shared = _longest_if_same(list(lines.values()))
        if shared is not None:
            line = self.guide_data(shared)
            self._guide(ax, line, color="0.5", linestyle=dashes, linewidth=1, label=text)
        elif len(lines) <= _MOST_GUIDES:
            for label, line in lines.items():
                style = {"color": styles[label]["color"], "linewidth": 0.9, "alpha": 0.8}
                self._guide(ax, self.guide_data(line), linestyle=dashes, **style)
            # The legend explains the dashes once, in no class's colour
            self._guide(
                ax, Line(np.empty(0), np.empty(0)), color="0.4", linestyle=dashes, label=text
            )

    def _draw_always_positive(self, ax: Axes, line: Line) -> None:
        """Draw where F1 is that of predicting everything positive."""
        style: Style = {"color": "0.46", "linestyle": (0, (5, 2, 1, 2)), "linewidth": 1}
        ax.plot(*line, zorder=1.2, label="F1 of always positive", gid=BASELINE_ID, **style)

    def _guide(self, ax: Axes, line: Line, **style: Any) -> None:
        defaults: Style = {"zorder": 1.2, "label": "_guide", "gid": GUIDE_ID}
        self.guides_ += ax.plot(line.x, line.y, **(defaults | style))

    def _draw_hulls(self, ax: Axes) -> None:
        is_single = len(self.curves) == 1
        for label, curve in self.curves.items():
            hull, color = convex_hull(curve), self.lines_[label].get_color()
            style: Style = {"linestyle": (0, (2, 1)), "linewidth": 1, "zorder": 2.4}
            text = "convex hull (calibrated scores)" if is_single else "_"
            style |= {"marker": "o", "markersize": 3, "label": text}
            (self.hulls_[label],) = ax.plot(hull.x, hull.y, color=color, **style)
            # The longer segments of a single hull bear the calibrated score of their cases
            for x, y, score in zip(pairwise(hull.x), pairwise(hull.y), hull.scores, strict=True):
                if is_single and np.hypot(np.ptp(x), np.ptp(y)) >= _NAMED_SEGMENT:
                    middle = np.mean(x), np.mean(y)
                    # Outside of the curve, which is beneath, but not beyond the border
                    outward = -1 if hull.kind == "roc" else 1
                    is_inside = middle[0] > 0.06 if outward == -1 else middle[0] < 0.94
                    offset = 3 * outward if is_inside else -9 * outward
                    side = "left" if offset > 0 else "right"
                    style = {"textcoords": "offset points", "ha": side} | _TEXT
                    text = f"{score:.2f}" if score == 0 or abs(score) >= 0.01 else f"{score:.2g}"
                    ax.annotate(text, middle, (offset, 3), **style)

    def _decorate(self, ax: Axes) -> None:
        curve, look = next(iter(self.curves.values())), self.look
        names = [x.replace("-log", "\N{MINUS SIGN}log") for x in (curve.x_name, curve.y_name)]
        ax.set(xlabel=names[0], ylabel=names[1], xlim=look.xlim, ylim=look.ylim)
        if look.ylim[0] is None and look.ylim[1] is not None:
            # Room for the curves, and not for where their break-even lines go
            drawn = [np.asarray(x.get_ydata()) for x in ax.lines if x.get_gid() == CURVE_ID]
            ax.set_ylim(bottom=min(float(y.min()) for y in drawn) - 0.02)
        if look.is_square:
            ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)


def _longest_if_same(lines: list[Line]) -> Line | None:
    """Return the longest of lines that lie on each other; None if they do not."""
    longest = max(lines, key=lambda line: float(np.hypot(np.ptp(line.x), np.ptp(line.y))))
    (x, next_x, *_), (y, next_y, *_) = longest

    def beside(line: Line) -> Any:
        """Return how far points are beside the line through the first two of the longest."""
        return (next_x - x) * (line.y - y) - (next_y - y) * (line.x - x)

    is_same = all(np.allclose(beside(line), beside(longest)) for line in lines)
    return longest if is_same else None
