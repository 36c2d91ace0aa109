"""What the displays of curves share: one line per class, with the lines that help to read it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.text import legend_text
from dmfroc.curves.curve import Curve, Line
from dmfroc.curves.hull import Hull, convex_hull
from dmfroc.curves.isometrics import Isometric, isometrics
from dmfroc.inputs.estimators import scores_of
from dmfroc.inputs.predictions import Predictions, as_predictions
from dmfroc.plots._marks import Marks
from dmfroc.plots._style import (
    COLORS,
    HANDLE_LENGTH,
    new_axes,
    place_legend,
    rate_texts,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_CURVE_ID, _GUIDE_ID, BASELINE_ID = "dmfroc-class-curve", "dmfroc-guide", "dmfroc-baseline"
_ISOMETRIC = "#6F93B5"
_MOST_GUIDES = 7  # of lines of each class that help to read; more would hide the curves
_MOST_NAMED = 20  # classes in a legend
_NAMED_OF_MANY = 10
_MOST_INSIDE = 9  # legend entries within the axes
_NAMED_SEGMENT = 0.07  # least length of a hull's segment that bears its score
_OTHERS = 2.0  # drawing order of the classes that the legend does not name

type Limits = tuple[float | None, float | None]


@dataclass(frozen=True)
class Look:
    """How a chart is drawn.

    Attributes
    ----------
    area : str or None
        What the legend calls the area; None where it has none.
    legend : str
        Where curves leave room for the legend.
    xlim, ylim : tuple
        Limits of the axes, None for those of the data.
    is_square : bool
        Whether both axes have the same scale.
    shares_isometrics : bool
        Whether the isometrics are the same for classes of any frequency.
    isometric_values : tuple of float
        Values at which to draw isometrics; none for no isometrics.
    break_even : str
        What the legend calls the line of as many predicted as actual positives.
    """

    area: str | None = None
    legend: str = "best"
    xlim: Limits = (-0.01, 1.01)
    ylim: Limits = (-0.01, 1.01)
    is_square: bool = False
    shares_isometrics: bool = False
    isometric_values: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
    break_even: str = "break-even"


class CurveDisplay(Marks):
    """Curves of the classes of one classifier, ready to be drawn.

    Build it with `from_predictions` or `from_estimator`; draw it again, or elsewhere, with `plot`.
    Each class has the same colour and dashes on every chart.

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
    hulls_ : dict
        The hulls as lines, by class, where they are drawn.
    decisions_ : dict
        The markers of `plot_decisions`, by class, once they are drawn.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where the curves were drawn last.
    """

    line_: Line2D
    lines_: dict[Hashable, Line2D]
    guides_: list[Line2D]
    hulls_: dict[Hashable, Line2D]
    decisions_: dict[Hashable, Line2D]
    ax_: Axes
    figure_: Any

    look: ClassVar[Look]
    _compute: ClassVar[Callable[..., Any]]
    _options: ClassVar[tuple[str, ...]] = ()  # of what computes the curves
    _draws_hull: ClassVar[bool] = False

    def __init__(
        self, curves: Curve | Mapping[Hashable, Curve], *, name: str | None = None
    ) -> None:
        self.curves: dict[Hashable, Any] = (
            {curves.label: curves} if isinstance(curves, Curve) else dict(curves)
        )
        self.name = name

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
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> CurveDisplay:
        """Compute the curves of a classifier's scores, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight, pos_label, multi_class
            As for `dmfroc.operating_points`; but of more than two classes, all are drawn against
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
        own = {option: options.pop(option) for option in cls._options if option in options}
        predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
        if multi_class is None and pos_label is None and predictions.n_classes > 2:
            multi_class = "ovr"
        display = cls._of_predictions(
            predictions, name=name, pos_label=pos_label, multi_class=multi_class, **own
        )
        return display.plot(ax, **options)

    @classmethod
    def _of_predictions(
        cls, predictions: Predictions, *, name: str | None, **options: Any
    ) -> CurveDisplay:
        """Compute what the display stores."""
        return cls(cls._compute(predictions, **options), name=name)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **options: Any
    ) -> CurveDisplay:
        """Let a fitted classifier score observations, and draw its curves.

        Parameters
        ----------
        estimator : scikit-learn classifier
            Fitted, with ``predict_proba`` or else ``decision_function``.
        X : array-like of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        name : str, optional
            Name of the classifier; by default that of its Python class.
        **options
            As for `from_predictions`, except ``labels``: the classes are those of the estimator.

        Returns
        -------
        CurveDisplay
            Already drawn.

        Raises
        ------
        TypeError
            If the estimator is not a fitted classifier or gives no score to each class.
        ValueError
            As for `from_predictions`.
        """
        scores = scores_of(estimator, X, y)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores, labels=estimator.classes_, name=name, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_chance: bool = True,
        plot_break_even: bool = True,
        plot_isometrics: bool = True,
        plot_hull: bool = False,
        plot_legend: bool = True,
        **line_kwargs: Any,
    ) -> CurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure. What is on it stays, and a single curve takes
            the next colour.
        name : str, optional
            Name of the classifier in the legend, in place of the display's own.
        plot_chance, plot_break_even, plot_isometrics, plot_hull, plot_legend : bool
            Whether to draw the lines of chance (dashed) and break-even (dotted), each in the
            colour of its class where classes differ; the isometrics (long dashes, with the values
            of their measure), where they are the same for all curves; the convex
            hulls (ROC and PRG); and the legend, in a corner without curves, else beside the axes.
            Of more than twenty classes, it names the ten of the smallest AUC, and the others are
            grey.
        **line_kwargs
            For the `matplotlib.lines.Line2D` of all curves.

        Returns
        -------
        CurveDisplay
            This display.
        """
        ax = new_axes() if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self.guides_, self.hulls_ = [], {}
        is_first = not _has(ax, _GUIDE_ID)
        if plot_isometrics and is_first:
            self._draw_isometrics(ax)
        styles = self._styles(ax)
        if plot_chance and is_first:
            self._draw_guides(ax, "chance", styles, (0, (4, 3)))
        if plot_break_even and is_first:
            self._draw_guides(ax, "break_even", styles, (0, (1, 2)))
        self._draw_curves(ax, styles, self.name if name is None else name, line_kwargs)
        if plot_hull and self._draws_hull:
            self._draw_hulls(ax, styles)
        self._decorate(ax)
        if plot_legend:
            draw_legend(ax, self._legend_location())
        return self

    # Parts

    def _legend_location(self) -> str:
        return self.look.legend

    def line_data(self, curve: Curve) -> Line:
        """Return the points of a curve that can be drawn."""
        exist = np.isfinite(curve.x) & np.isfinite(curve.y)
        return Line(curve.x[exist], curve.y[exist])

    def _styles(self, ax: Axes) -> dict[Hashable, dict[str, Any]]:
        """Return the line style of each class; of many, only some are told apart."""
        labels = list(self.curves)
        if len(labels) == 1:
            n_drawn = sum(line.get_gid() == _CURVE_ID for line in ax.lines)
            return {labels[0]: style_of(n_drawn) | {"linewidth": 2.0}}
        if len(labels) <= _MOST_NAMED:
            width = 1.8 if len(labels) <= len(COLORS) else 1.3
            return {
                label: style_of(position) | {"linewidth": width}
                for position, label in enumerate(labels)
            }
        named = sorted(labels, key=lambda label: _auc(self.curves[label]))[:_NAMED_OF_MANY]
        return {
            label: style_of(named.index(label)) | {"linewidth": 1.5}
            if label in named
            else {"color": "0.75", "linewidth": 0.6, "zorder": _OTHERS}
            for label in labels
        }

    def _draw_curves(
        self,
        ax: Axes,
        styles: dict[Hashable, dict[str, Any]],
        name: str | None,
        line_kwargs: dict[str, Any],
    ) -> None:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        chosen = normalize_kwargs(line_kwargs, Line2D)
        is_many = len(self.curves) > _MOST_NAMED
        n_others = len(self.curves) - _NAMED_OF_MANY
        self.lines_ = {}
        for label, curve in self.curves.items():
            is_other = is_many and "zorder" in styles[label]
            text = f"{n_others} other classes" if is_other else self._label(label, name)
            if is_other and any(line.get_label() == text for line in self.lines_.values()):
                text = "_"
            style: dict[str, Any] = {
                "label": text,
                "solid_joinstyle": "round",
                "zorder": 2.5,
            } | styles[label]
            (self.lines_[label],) = ax.plot(
                *self.line_data(curve), **(style | chosen | {"gid": _CURVE_ID})
            )
        self.line_ = next(iter(self.lines_.values()))

    def _label(self, label: Hashable, name: str | None) -> str:
        """Return the legend's text: classifier, class and area."""
        curve, look = self.curves[label], self.look
        if len(self.curves) == 1:
            of_class = "" if name is not None else f"class {label}"
        else:
            of_class = f"{label[0]} against {label[1]}" if isinstance(label, tuple) else str(label)
        parts = [part for part in (name, of_class) if part]
        text = legend_text(", ".join(parts))
        if look.area is None or curve.area is None:
            return text
        return f"{text}: {look.area} {_area_text(curve.area)}"

    def _draw_isometrics(self, ax: Axes) -> None:
        look, curve = self.look, next(iter(self.curves.values()))
        if not look.isometric_values or (len(self.curves) > 1 and not look.shares_isometrics):
            return
        found = self._isometrics(curve)
        for value, isometric in zip(look.isometric_values, found, strict=True):
            line = self.guide_data(Line(isometric.x, isometric.y))
            self._guide(
                ax, line, color=_ISOMETRIC, linewidth=0.8, linestyle=(0, (6, 4)), zorder=1.0
            )
            self._name_isometric(ax, line, f"{value:g}")

    def _isometrics(self, curve: Curve) -> list[Isometric]:
        """Return the isometrics of the values of the look, in their order."""
        return isometrics(curve, values=self.look.isometric_values)

    def _name_isometric(self, ax: Axes, line: Line, text: str) -> None:
        """Write the value on the middle of what of an isometric is within the axes."""
        limits = zip(line, (self.look.xlim, self.look.ylim), strict=True)
        inside = np.ones(len(line.x), bool)
        for places, (low, high) in limits:
            inside &= places >= (-np.inf if low is None else low)
            inside &= places <= (np.inf if high is None else high)
        if inside.any():
            middle = np.flatnonzero(inside)[inside.sum() // 2]
            ax.text(
                line.x[middle],
                line.y[middle],
                text,
                color=_ISOMETRIC,
                fontsize="x-small",
                ha="center",
                va="center",
                clip_on=True,
                zorder=1.1,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )

    def _draw_guides(
        self,
        ax: Axes,
        which: Literal["chance", "break_even"],
        styles: dict[Hashable, dict[str, Any]],
        dashes: Any,
    ) -> None:
        lines = {label: getattr(curve, which) for label, curve in self.curves.items()}
        lines = {label: line for label, line in lines.items() if line is not None}
        if not lines:
            return
        shared = _longest_if_same(list(lines.values()))
        text = "chance" if which == "chance" else self.look.break_even
        if shared is not None:
            line = self.guide_data(shared)
            self._guide(ax, line, color="0.5", linestyle=dashes, linewidth=1, label=text)
        elif len(lines) <= _MOST_GUIDES:
            for label, line in lines.items():
                color = styles[label]["color"]
                self._guide(
                    ax,
                    self.guide_data(line),
                    color=color,
                    linestyle=dashes,
                    linewidth=0.9,
                    alpha=0.8,
                )
            # The legend explains the dashes once, in no class's colour
            self._guide(
                ax, Line(np.empty(0), np.empty(0)), color="0.4", linestyle=dashes, label=text
            )

    def _draw_always_positive(self, ax: Axes, line: Line) -> None:
        """Draw where F1 is that of predicting everything positive."""
        ax.plot(
            line.x,
            line.y,
            color="0.35",
            linestyle=(0, (5, 2, 1, 2)),
            linewidth=1,
            zorder=1.2,
            label="F1 of always positive",
            gid=BASELINE_ID,
        )

    def _guide(self, ax: Axes, line: Line, **style: Any) -> None:
        defaults: dict[str, Any] = {"zorder": 1.2, "label": "_guide", "gid": _GUIDE_ID}
        self.guides_ += ax.plot(line.x, line.y, **(defaults | style))

    def _draw_hulls(self, ax: Axes, styles: dict[Hashable, dict[str, Any]]) -> None:
        for label, curve in self.curves.items():
            hull: Hull = convex_hull(curve)
            (self.hulls_[label],) = ax.plot(
                hull.x,
                hull.y,
                color=styles[label]["color"],
                linestyle=(0, (2, 1)),
                linewidth=1,
                marker="o",
                markersize=3,
                zorder=2.4,
                label="convex hull" if len(self.curves) == 1 else "_hull",
            )
            if len(self.curves) == 1:
                _name_segments(ax, hull)

    def _decorate(self, ax: Axes) -> None:
        curve = next(iter(self.curves.values()))
        ax.set(xlabel=curve.x_name, ylabel=curve.y_name, xlim=self.look.xlim, ylim=self.look.ylim)
        if self.look.ylim[0] is None and self.look.ylim[1] is not None:
            # Room for the curves, and not for where their break-even lines go
            drawn = [
                np.asarray(line.get_ydata()) for line in ax.lines if line.get_gid() == _CURVE_ID
            ]
            ax.set_ylim(bottom=min(float(y.min()) for y in drawn) - 0.02)
        if self.look.is_square:
            ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)


def draw_legend(ax: Axes, location: str) -> None:
    """Draw the legend anew, chance and break-even last; beside the axes if it is long."""
    handles, texts = ax.get_legend_handles_labels()
    if not handles:
        return
    # First the classes by name, then the grey rest, then the lines that help to read
    order = sorted(
        range(len(handles)),
        key=lambda index: (
            handles[index].get_gid() in (_GUIDE_ID, BASELINE_ID),
            handles[index].get_zorder() == _OTHERS,
        ),
    )
    is_inside = len(handles) <= _MOST_INSIDE
    legend = {
        "handles": [handles[index] for index in order],
        "labels": [texts[index] for index in order],
        "fontsize": "small",
        "framealpha": 0.85,
        "edgecolor": "none",
        "handlelength": HANDLE_LENGTH,
    }
    if is_inside:
        place_legend(ax, location, [x for x in ax.lines if x.get_gid() == _CURVE_ID], **legend)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **legend)


def _name_segments(ax: Axes, hull: Hull) -> None:
    """Write on the longer segments of a hull the calibrated score of their cases."""
    outward = -1 if hull.kind == "roc" else 1  # of the curve, which is beneath
    ends = zip(pairwise(hull.x), pairwise(hull.y), hull.scores, strict=True)
    for x, y, score in ends:
        if np.hypot(np.ptp(x), np.ptp(y)) >= _NAMED_SEGMENT:
            ax.annotate(
                f"{score:.2f}",
                (np.mean(x), np.mean(y)),
                xytext=(3 * outward, 3),
                ha="left" if outward == 1 else "right",
                textcoords="offset points",
                fontsize="x-small",
                color="0.3",
                zorder=2.6,
            )


def _has(ax: Axes, gid: str) -> bool:
    return any(line.get_gid() == gid for line in ax.lines)


def _longest_if_same(lines: list[Line]) -> Line | None:
    """Return the longest of lines that lie on each other; None if they do not."""
    longest = max(lines, key=lambda line: float(np.hypot(np.ptp(line.x), np.ptp(line.y))))
    x, y = longest
    for line in lines:
        if len(line.x) == 2 == len(x):
            apart = (x[1] - x[0]) * (line.y - y[0]) - (y[1] - y[0]) * (line.x - x[0])
            is_same = np.allclose(apart, 0)
        else:
            is_same = all(np.array_equal(a, b) for a, b in zip(line, longest, strict=True))
        if not is_same:
            return None
    return longest


def _auc(curve: Curve) -> float:
    points = curve.points
    if points is None:
        return 0.0
    return points.summarise(curve_summaries.roc_area)


def _area_text(area: float) -> str:
    return rate_texts([area], 3)[0] if 0 <= area <= 1 else f"{area:.4g}"
