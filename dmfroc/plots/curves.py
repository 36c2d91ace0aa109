"""Displays of the curves in `dmfroc.curves`, one for each chart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dmfroc import curves
from dmfroc._kit.later import Axes, Self
from dmfroc._kit.options import check_level, flag, positive
from dmfroc.curves.curve import Curve, Line
from dmfroc.curves.isometric_lines import Isometric, isometrics
from dmfroc.curves.points import Cases, for_each_class
from dmfroc.inference.units import sample_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.multiclass.band import CurveBand, band_around
from dmfroc.multiclass.curve import curve_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots._base import CurveDisplay
from dmfroc.plots._style import BASELINE_ID, CURVE_ID, ChartStyle, Limits, Style

_DATA: Limits = (None, None)
_NARROW = 3.0  # inches, of axes with few ticks
_FIFTHS = (0.2, 0.4, 0.6, 0.8)
_TENTHS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_RATES: Style = {  # charts on which isometrics are the same for classes of any frequency
    "is_square": True,
    "isometric_values": _FIFTHS,
    "shares_isometrics": True,
}


class _WithGrid(CurveDisplay):
    """A chart of ROC or PRG, on which the regular grid of the other chart can be shown."""

    def plot(self, ax: Axes | None = None, *, plot_grid: bool = False, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_grid : bool
            Whether to draw dots that are a regular grid of the precision-recall-gain chart on the
            ROC chart, or the other way round, as figure 3 of Flach and Kull (2015). Of a single
            curve only, since their places depend on the prevalence.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        CurveDisplay
            This display.

        Raises
        ------
        ValueError
            If the grid of several curves is asked for.
        """
        super().plot(ax, **options)
        if flag("plot_grid", plot_grid):
            if len(self.curves) > 1:
                raise ValueError("plot_grid needs a single curve: its dots depend on prevalence")
            [curve] = self.curves.values()
            x, y = _grid_of_other_chart(curve)
            style: Style = {"linestyle": "", "marker": ".", "markersize": 3, "zorder": 1.1}
            self.guides_ += self.ax_.plot(x, y, color="tab:green", label="_", **style)
        return self


def _grid_of_other_chart(curve: Curve) -> Line:
    points = curve.points
    assert points is not None
    assert curve.projection is not None
    steps = np.linspace(0, 1, 21)
    fpr, tpr = (x.ravel() for x in np.meshgrid(steps, steps))
    if curve.kind == "roc":
        odds = points.positives / points.negatives
        precision_gain, recall_gain = fpr, tpr
        tpr = odds / (odds + 1 - recall_gain)
        fpr = tpr * (1 - precision_gain)
    grid = points.with_counts(tpr * points.positives, fpr * points.negatives)
    x, y = curve.projection(grid)
    is_inside = (x >= 0) & (y >= 0)
    return Line(x[is_inside], y[is_inside])


class ROCDisplay(_WithGrid):
    """ROC curves; on request with bands, convex hulls and lines of equal informedness.

    For one summarising curve of all classes, or the curve of two with an interval of its area and
    `groups`, see `MulticlassROCDisplay`. `from_predictions` and
    `from_estimator` have the options ``plot_band``, whether to compute and draw the bands by the
    method of `MulticlassROCDisplay` (False), and ``level``, their nominal coverage at each point
    (0.95).

    Parameters
    ----------
    curves : Curve or dict
        One curve, or curves by class or pair of classes.
    bands : CurveBand or dict, optional
        Their pointwise confidence bands, by the same names.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    bands : dict
        The bands by class or pair of classes.
    bands_ : dict
        The bands as drawn.

    Examples
    --------
    >>> display = ROCDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: AUC 0.750'
    """

    look = ChartStyle(
        curves.roc_curve,
        "AUC",
        "lower right",
        has_hull=True,
        options=("plot_band", "level"),
        **_RATES,
    )

    def __init__(
        self,
        curves: Curve | Mapping[Hashable, Curve],
        bands: CurveBand | Mapping[Hashable, CurveBand] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(curves, name=name)
        if bands is not None and not isinstance(bands, Mapping):
            bands = dict.fromkeys(self.curves, bands)
        self.bands = dict(bands or {})

    @classmethod
    def _compute(
        cls,
        predictions: Predictions,
        *,
        name: str | None = None,
        plot_band: bool = False,
        level: float = 0.95,
        **options: Any,
    ) -> Self:
        bands = None
        if flag("plot_band", plot_band):
            which = options["pos_label"], options["multi_class"]
            bands = for_each_class(partial(_band, level=check_level(level)), predictions, *which)
        return cls(curves.roc_curve(predictions, **options), bands, name=name)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_break_even: bool = False,
        plot_isometrics: bool = False,
        **options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_break_even, plot_isometrics : bool
            Whether to draw where as many cases are predicted positive as there are (dotted), and
            lines of equal informedness (long dashes).
        **options
            As for `PRGDisplay.plot`, except ``beta``.

        Returns
        -------
        ROCDisplay
            This display.
        """
        guides = {"plot_break_even": plot_break_even, "plot_isometrics": plot_isometrics}
        return super().plot(ax, **guides, **options)

    def _label(self, label: Hashable, name: str | None) -> str:
        band = self.bands.get(label)
        text = super()._label(label, name)
        return text if band is None else f"{text}, {100 * band.level:g} % band"


def _band(cases: Cases, level: float) -> CurveBand:
    """Return the band of one curve: with two classes the multiclass curve is the ROC curve."""
    both = np.column_stack([-cases.scores, cases.scores])
    true = cases.is_positive.astype(np.int32)
    predictions = Predictions((0, 1), true, both, cases.weights, None, single=1)
    options = CurveOptions()
    return band_around(curve_of(predictions, options), sample_of(predictions), level, options)


class PNDisplay(CurveDisplay):
    """PN curves: the counts of true and false positives.

    Examples
    --------
    >>> display = PNDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_ydata()
    array([0., 1., 2., 2., 3.])
    """

    look = ChartStyle(
        curves.pn_curve, None, "lower right", xlim=_DATA, ylim=_DATA, isometric_values=_FIFTHS
    )


class DeltaPNDisplay(CurveDisplay):
    """Curves of true minus false positives.

    Examples
    --------
    >>> display = DeltaPNDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_ydata()
    array([0., 1., 2., 1., 1.])
    """

    look = ChartStyle(curves.delta_pn_curve, None, "lower left", xlim=_DATA, ylim=_DATA)


class BOCDisplay(CurveDisplay):
    """Bookmaker operating characteristics: informedness against false positive rate.

    Examples
    --------
    >>> display = BOCDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.250'
    """

    look = ChartStyle(curves.boc_curve, "area", "upper right", ylim=(None, 1.01))


class DETDisplay(CurveDisplay):
    """Detection error tradeoffs, on axes where normal scores give straight lines.

    Examples
    --------
    >>> display = DETDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> x = display.line_.get_xdata()  # standard normal deviates: 0 is a rate of 1/2
    >>> bool(x.min() < -3), bool(x.max() > 3), x[display.line_.get_markevery()]
    (True, True, array([0.]))
    """

    look = ChartStyle(curves.det_curve, None, "upper right", is_square=True, has_tails=True)

    def scale(self, line: Line) -> Line:
        """Return the normal deviates of rates, infinite for 0 and 1."""
        from scipy.special import ndtri

        return Line(ndtri(line.x), ndtri(line.y))

    def guide_data(self, guide: Line) -> Line:
        """Return the normal deviates of the rates between 0 and 1."""
        if len(guide.x) == 2:  # a straight line of rates is curved here
            guide = Line(*(np.linspace(ends[0], ends[1], 501) for ends in guide))
        return super().guide_data(guide)

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        rates = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])
        ticks = self.scale(Line(rates, rates)).x
        step = 3 if ax.bbox.width / ax.figure.dpi < _NARROW else 1
        texts = [f"{100 * x:g} %" if i % step == step // 2 else "" for i, x in enumerate(rates)]
        ax.set_xticks(ticks, texts)
        ax.set_yticks(ticks, texts)
        # All thresholds are shown, and of the tails as much as there is room for
        places = [self.guide_data(Line(c.x, c.y)) for c in self.curves.values()]
        reach = max(1.8, *(float(np.abs(place).max(initial=0)) + 0.1 for place in places))
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))


class AccuracyDisplay(CurveDisplay):
    """Accuracy against the share predicted positive.

    Examples
    --------
    >>> display = AccuracyDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: mean 0.620'
    """

    look = ChartStyle(curves.accuracy_curve, "mean", "lower left")


class LiftDisplay(CurveDisplay):
    """Lift: how many times as many positives as by chance are among those of the largest scores.

    ``scale`` is that of `dmfroc.curves.lift_curve`, here by default ``"factor"``. For the share of
    positives that are found see `CumulativeGainsDisplay`.

    Examples
    --------
    >>> display = LiftDisplay.from_predictions(
    ...     [1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4], scale="counts"
    ... )
    >>> display.line_.get_ydata()
    array([0., 1., 2., 2., 3.])
    """

    look = ChartStyle(
        curves.lift_curve, "area", "lower right", ylim=(0, None), has_tails=True, options=("scale",)
    )

    @classmethod
    def _compute(cls, predictions: Predictions, **options: Any) -> Self:
        return super()._compute(predictions, **{"scale": "factor"} | options)

    def plot(self, ax: Axes | None = None, *, plot_fallout: bool = False, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_fallout : bool
            Whether to draw the false positive rate too, thin: the area between both is that of
            BIFT. Only for ``scale="recall"``.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        LiftDisplay
            This display.
        """
        if flag("plot_fallout", plot_fallout) and self._has_factor():
            raise ValueError('plot_fallout is about rates: compute the lift with scale="recall"')
        super().plot(ax, **options)
        for label, line in self.lines_.items() if plot_fallout else ():
            points, color = self.curves[label].points, line.get_color()
            x, y = points.bias, points.false_positive_rate
            self.guides_ += self.ax_.plot(x, y, color=color, linewidth=0.7, zorder=2.0)
        return self

    def _legend_location(self) -> str:
        return "upper right" if self._has_factor() else self.look.legend

    def _has_factor(self) -> bool:
        return any(curve.area is None for curve in self.curves.values())


class CumulativeGainsDisplay(CurveDisplay):
    """Cumulative gains: the recall of predicting a share of all cases positive.

    Examples
    --------
    >>> display = CumulativeGainsDisplay.from_predictions([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.4])
    >>> display.line_.get_xdata()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    look = ChartStyle(curves.cumulative_gains_curve, "area", "lower right")


class BIFTDisplay(CurveDisplay):
    """Bookmaker lift charts: informedness against the share predicted positive.

    Examples
    --------
    >>> display = BIFTDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.250'
    """

    look = ChartStyle(curves.bift_curve, "area", "upper right", ylim=(None, 1.01))


class BPRDDisplay(CurveDisplay):
    """Bookmaker probability against relative drift; ``s`` is that of `dmfroc.curves.bprd_curve`.

    Examples
    --------
    >>> display = BPRDDisplay.from_predictions([1, 1, 0, 0], [0.9, 0.6, 0.5, 0.4], s=0)
    >>> display.line_.get_xdata()
    array([0. , 0.5, 1. , 1.5, 2. ])
    """

    look = ChartStyle(
        curves.bprd_curve, None, "upper left", xlim=_DATA, ylim=(None, 1.01), options=("s",)
    )

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        # Beyond three times the right number of predictions there is nothing to see
        largest = max(curve.x[-1] for curve in self.curves.values())
        ax.set_xlim(0, min(3.0, 1.02 * largest))


class BIRDDisplay(CurveDisplay):
    """Bookmaker information against relative drift; ``s``, ``smoothing`` as `bird_curve`.

    Examples
    --------
    >>> display = BIRDDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.ax_.get_ylabel()
    'Bookmaker information [bits]'
    """

    look = ChartStyle(
        curves.bird_curve, None, "lower right", _DATA, _DATA, options=("s", "smoothing")
    )


class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves, with lines of equal mean of both.

    Examples
    --------
    >>> display = PrecisionRecallDisplay.from_predictions([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.904'
    """

    look = ChartStyle(curves.precision_recall_curve, "area", "lower left", has_tails=True, **_RATES)
    _beta: float | None = None

    def plot(
        self, ax: Axes | None = None, *, beta: float | int | None = None, **options: Any
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        beta : float, optional
            Weight of recall in F-beta, whose isometrics are drawn instead of those of the mean of
            precision and recall.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        PrecisionRecallDisplay
            This display.
        """
        self._beta = None if beta is None else positive("beta", beta)
        return super().plot(ax, **options)

    def _isometrics(self, curve: Curve) -> list[Isometric]:
        if self._beta is None:
            return super()._isometrics(curve)
        return isometrics(curve, "f_beta", self.look.isometric_values, beta=self._beta)

    def _draw_baselines(self, ax: Axes) -> None:
        if len(self.curves) > 1:
            return
        [curve] = self.curves.values()
        rate, recall = curve.points.prevalence, np.linspace(0, 1, 201)
        style: Style = {
            "color": "0.5",
            "alpha": 0.3,
            "linewidth": 0,
            "label": "unachievable",
        }
        least = curves.least_precision(recall, rate)
        ax.fill_between(recall, 0, least, zorder=0.9, gid=BASELINE_ID, **style)
        [same] = isometrics(curve, "f_beta", [2 * rate / (1 + rate)])
        self._draw_always_positive(ax, Line(same.x, same.y))


class _ToLowerLeft(CurveDisplay):
    """A chart on which the best point is the lower left one."""

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        # Room for the best compromise of each curve, which of a rare class is far away
        drawn = [np.stack(x.get_data()) for x in ax.lines if x.get_gid() == CURVE_ID]
        reach = max(ax.get_xlim()[1], *(1.5 * float(xy.max(axis=0).min()) for xy in drawn))
        ax.set(xlim=(None, reach), ylim=(None, reach))


class ReciprocalPrecisionRecallDisplay(_ToLowerLeft):
    """Reciprocals of precision and recall, with lines of equal F1.

    Examples
    --------
    >>> display = ReciprocalPrecisionRecallDisplay.from_predictions([1, 0, 1], [0.9, 0.6, 0.5])
    >>> x = display.line_.get_xdata()
    >>> x[display.line_.get_markevery()], bool(x.max() > 1e6)
    (array([2., 2., 1.]), True)
    """

    look = ChartStyle(
        curves.reciprocal_precision_recall_curve,
        legend="upper right",
        has_tails=True,
        **(_RATES | {"xlim": (0.97, 4.0), "ylim": (0.97, 4.0), "isometric_values": _TENTHS[1:]}),
    )


class LogPrecisionRecallDisplay(_ToLowerLeft):
    """The bits that precision and recall lack, with lines of equal geometric mean.

    Examples
    --------
    >>> display = LogPrecisionRecallDisplay.from_predictions([1, 0, 1], [0.9, 0.6, 0.5])
    >>> display.line_.get_xdata()[display.line_.get_markevery()]
    array([1., 1., 0.])
    """

    look = ChartStyle(
        curves.log_precision_recall_curve,
        legend="upper right",
        has_tails=True,
        **(_RATES | {"xlim": (-0.03, 3.0), "ylim": (-0.03, 3.0), "isometric_values": _TENTHS}),
    )


class PRGDisplay(_WithGrid):
    """Precision-recall-gain curves, with lines of equal F1-gain, and convex hulls on request.

    Examples
    --------
    >>> display = PRGDisplay.from_predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3])
    >>> display.line_.get_label()
    'class 1: AUPRG 0.531'
    """

    look = ChartStyle(curves.prg_curve, "AUPRG", "lower left", has_hull=True, **_RATES)
    _beta: float = 1.0

    def plot(self, ax: Axes | None = None, *, beta: float | int = 1.0, **options: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        beta : float
            Weight of recall in the F-beta-gain, whose isometrics are drawn.
        **options
            ``plot_grid`` as for `ROCDisplay.plot`; others as for `CurveDisplay.plot`.

        Returns
        -------
        PRGDisplay
            This display.
        """
        self._beta = positive("beta", beta)
        return super().plot(ax, **options)

    def _draw_baselines(self, ax: Axes) -> None:
        self._draw_always_positive(ax, Line(np.array([0.0, 1.0]), np.array([1.0, 0.0])))

    def line_data(self, curve: Curve) -> Line:
        """Return the finite points, and where the curve crosses recall gain 0."""
        x, y = super().line_data(curve)
        assert curve.points is not None
        start = int(np.searchsorted(x, 0))
        return Line(
            np.insert(x, start, 0.0), np.insert(y, start, curves.crossing_gain(curve.points))
        )

    def _isometrics(self, curve: Curve) -> list[Isometric]:
        assert curve.points is not None
        rate = curve.points.prevalence
        values = [curves.f_from_gain(gain, rate) for gain in self.look.isometric_values]
        return isometrics(curve, values=values, beta=self._beta)

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        lines = map(self.line_data, self.curves.values())
        lowest = min(0.0, *(float(line.y[line.x >= 0].min()) for line in lines))
        ax.set_ylim(max(lowest, -1.0) - 0.01, 1.01)
        if lowest < -0.25:
            ax.set_aspect("auto")  # equal scales would leave a narrow strip


class CostDisplay(CurveDisplay):
    """Cost curves: the least expected cost under every operating condition.

    Examples
    --------
    >>> display = CostDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: mean 0.125'
    """

    look = ChartStyle(curves.cost_curve, "mean", "upper right", ylim=(-0.005, 0.62))
