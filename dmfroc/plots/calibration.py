"""The calibration plot."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from dmfroc import curves
from dmfroc._kit.later import Axes, LineCollection, Self
from dmfroc._kit.options import check_level
from dmfroc.curves.calibration import CalibrationCurve
from dmfroc.curves.curve import Curve
from dmfroc.inputs.predictions import Predictions
from dmfroc.plots._base import CurveDisplay
from dmfroc.plots._style import (
    COLORS,
    CURVE_ID,
    ChartStyle,
    Style,
    Styles,
    draw_legend,
    style_of,
    styles_of,
)

_RUG_STEPS = 500  # more marks than pixels would only take time
_RUG_HEIGHT = 0.03
_MOST_WITH_INTERVALS = 2  # curves; more intervals would hide each other


class CalibrationDisplay(CurveDisplay):
    """Calibration plots: what comes true of predicted probabilities.

    Groups of cases as points with Wilson intervals, a LOESS curve, and a rug with the
    predictions of positives at the top and of negatives at the bottom. Of more than two classes
    only the curves are drawn, as of the third and further classifiers on the same axes. Of more
    than seven, the legend names the five of the largest error; the others are grey.
    `from_predictions` and `from_estimator` have the options ``n_bins`` and ``axes`` of
    `dmfroc.curves.calibration_curve`, ``span`` and ``degree`` of `loess_calibration_curve`, and
    ``plot_loess``, whether to compute and draw the LOESS curve (True).

    Parameters
    ----------
    curves : CalibrationCurve or dict
        One curve, or curves by class or pair of classes.
    smooth : Curve or dict, optional
        The LOESS curves of the same classes.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    smooth_ : dict
        The LOESS curves as lines, by class.
    intervals_ : matplotlib.collections.LineCollection or None
        The intervals of a single curve.
    rug_ : list of matplotlib.collections.LineCollection
        Marks at the predictions of positives and of negatives.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.random(200)
    >>> outcome = (rng.random(200) < probability).astype(int)
    >>> display = CalibrationDisplay.from_predictions(outcome, probability, n_bins=5)
    >>> display.line_.get_xdata().round(2)
    array([0.09, 0.31, 0.51, 0.7 , 0.91])
    """

    look = ChartStyle(
        curves.calibration_curve,
        legend="upper left",
        xlim=(-0.02, 1.02),
        ylim=(-0.05, 1.05),
        is_square=True,
        options=("n_bins", "axes", "span", "degree", "plot_loess"),
        break_even="perfect calibration",
        others="other classes, better calibrated",
    )

    smooth_: dict[Hashable, Any]
    intervals_: LineCollection | None
    rug_: list[LineCollection]

    def __init__(
        self,
        curves: CalibrationCurve | Mapping[Hashable, CalibrationCurve],
        smooth: Curve | Mapping[Hashable, Curve] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(curves, name=name)
        if isinstance(smooth, Curve):
            smooth = {smooth.label: smooth}
        self.smooth: dict[Hashable, Curve] = dict(smooth or {})

    @classmethod
    def _compute(
        cls,
        predictions: Predictions,
        *,
        name: str | None = None,
        plot_loess: bool = True,
        **options: Any,
    ) -> Self:
        loess = {option: options.pop(option) for option in ("span", "degree") if option in options}
        binned = curves.calibration_curve(predictions, **options)
        smooth = None
        if plot_loess:
            options.pop("n_bins", None)
            smooth = curves.loess_calibration_curve(predictions, **loess, **options)
        return cls(binned, smooth, name=name)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        level: float = 0.95,
        plot_legend: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        level : float
            Nominal coverage of each interval of a single curve on standard axes.
        plot_legend : bool
            Whether to draw the legend.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        CalibrationDisplay
            This display.
        """
        from matplotlib import rc_context

        level = check_level(level)
        ax = self._draws_on(ax, plot_legend=plot_legend)
        is_single = len(self.curves) == 1
        n_before = sum(line.get_gid() == CURVE_ID for line in ax.lines)
        size = 5 if is_single and not n_before else 3
        groups: Style = {"marker": "o", "markersize": size}
        if self.smooth:  # which joins the points
            groups["linestyle"] = "none"
        super().plot(ax, plot_isometrics=False, plot_legend=False, **(groups | options))
        self.smooth_, self.intervals_, self.rug_ = {}, None, []
        for label, curve in self.smooth.items():
            points = self.lines_[label]
            style = style_of(n_before) if is_single else self._styles(self.ax_)[label]
            text = "LOESS" if is_single else "_loess" if self.smooth_ else "lines: LOESS"
            if is_single and n_before:  # in the legend its LOESS stands for a further classifier
                text = str(points.get_label())
                points.set_label("_points")
            (self.smooth_[label],) = self.ax_.plot(
                curve.x,
                curve.y,
                color=points.get_color(),
                linestyle=style.get("linestyle", "-"),
                linewidth=1.8 if is_single else min(style["linewidth"], 1.3),
                zorder=style.get("zorder", 2.2),
                label=text,
            )
        first = next(iter(self.curves.values()))
        if is_single and first.x is first.mean_predicted and n_before < _MOST_WITH_INTERVALS:
            self.intervals_ = self.ax_.vlines(
                first.x,
                *first.intervals(level),
                color=self.line_.get_color(),
                linewidth=1,
                alpha=0.6,
                zorder=2.1,
                gid=CURVE_ID,
                label="_" if n_before else f"{100 * level:g} % Wilson interval",
            )
            self._draw_rug(first)
        if plot_legend:
            with rc_context({"legend.borderaxespad": 2.0} if self.rug_ else {}):  # below the rug
                draw_legend(self.ax_, self.look.legend)
        return self

    def _styles(self, ax: Axes) -> Styles:
        if len(self.curves) <= len(COLORS):
            return super()._styles(ax)
        return styles_of(list(self.curves), lambda label: -self.curves[label].expected_error, 5)

    def _draw_rug(self, curve: CalibrationCurve) -> None:
        points, (bottom, top) = curve.points, self.ax_.get_ylim()
        assert points is not None
        style: Style = {"color": self.line_.get_color(), "linewidth": 0.6, "alpha": 0.6}
        for counts, edge, height in (
            (points.true_positives, top, -_RUG_HEIGHT),
            (points.false_positives, bottom, _RUG_HEIGHT),
        ):
            scores = points.thresholds[1:][np.diff(counts) > 0]
            marks = np.unique(np.round(scores * _RUG_STEPS) / _RUG_STEPS)
            self.rug_.append(self.ax_.vlines(marks, edge, edge + height, **style))
