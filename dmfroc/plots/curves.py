"""Displays of the curves in `dmfroc.curves`, one for each chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc import curves
from dmfroc.curves.curve import Curve, Line
from dmfroc.curves.isometrics import Isometric, isometrics
from dmfroc.plots._base import BASELINE_ID, CurveDisplay, Limits, Look
from dmfroc.plots._style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DATA: Limits = (None, None)


class PNDisplay(CurveDisplay):
    """PN curves: the counts of true and false positives.

    Examples
    --------
    >>> display = PNDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_ydata()
    array([0., 1., 2., 2., 3.])
    """

    look = Look(legend="lower right", xlim=_DATA, ylim=_DATA)
    _compute = staticmethod(curves.pn_curve)


class DeltaPNDisplay(CurveDisplay):
    """Curves of true minus false positives.

    Examples
    --------
    >>> display = DeltaPNDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_ydata()
    array([0., 1., 2., 1., 1.])
    """

    look = Look(legend="lower left", xlim=_DATA, ylim=_DATA, isometric_values=())
    _compute = staticmethod(curves.delta_pn_curve)


class BOCDisplay(CurveDisplay):
    """Bookmaker operating characteristics: informedness against false positive rate.

    Examples
    --------
    >>> display = BOCDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.250'
    """

    look = Look("area", "upper right", ylim=(None, 1.01), isometric_values=())
    _compute = staticmethod(curves.boc_curve)


class DETDisplay(CurveDisplay):
    """Detection error tradeoffs, on axes where normal scores give straight lines.

    Examples
    --------
    >>> display = DETDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_xdata()  # the standard normal deviate of a rate of 1/2
    array([0.])
    """

    look = Look(legend="upper right", xlim=_DATA, ylim=_DATA, isometric_values=(), is_square=True)
    _compute = staticmethod(curves.det_curve)

    def line_data(self, curve: Curve) -> Line:
        """Return the normal deviates of the rates between 0 and 1."""
        return self.guide_data(Line(curve.x, curve.y))

    def guide_data(self, guide: Line) -> Line:
        """Return the normal deviates of the rates between 0 and 1."""
        from scipy.special import ndtri

        if len(guide.x) == 2:  # a straight line of rates is curved here
            guide = Line(*(np.linspace(ends[0], ends[1], 501) for ends in guide))
        inside = (guide.x > 0) & (guide.x < 1) & (guide.y > 0) & (guide.y < 1)
        return Line(ndtri(guide.x[inside]), ndtri(guide.y[inside]))

    def _decorate(self, ax: Axes) -> None:
        from scipy.special import ndtri

        super()._decorate(ax)
        ticks = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])
        texts = [f"{100 * tick:g} %" for tick in ticks]
        ax.set_xticks(ndtri(ticks), texts)
        ax.set_yticks(ndtri(ticks), texts)
        values = np.concatenate(
            [np.concatenate(self.line_data(curve)) for curve in self.curves.values()]
        )
        reach = max(1.8, float(np.abs(values).max(initial=0)) + 0.1)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))


class AccuracyDisplay(CurveDisplay):
    """Accuracy against the share predicted positive.

    Examples
    --------
    >>> display = AccuracyDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: mean 0.620'
    """

    look = Look("mean", "lower left", isometric_values=())
    _compute = staticmethod(curves.accuracy_curve)


class LiftDisplay(CurveDisplay):
    """Lift charts; ``scale`` is that of `dmfroc.lift_curve`.

    Examples
    --------
    >>> display = LiftDisplay.from_predictions(
    ...     [1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4], scale="counts"
    ... )
    >>> display.line_.get_ydata()
    array([0., 1., 2., 2., 3.])
    """

    look = Look("area", "lower right", ylim=(0.0, None), isometric_values=())
    _compute = staticmethod(curves.lift_curve)
    _options = ("scale",)

    def plot(
        self, ax: Axes | None = None, *, plot_fallout: bool = False, **options: Any
    ) -> LiftDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_fallout : bool
            Whether to draw the false positive rate too, thin: the area between both is that of
            BIFT. Only for a lift chart of rates.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        LiftDisplay
            This display.
        """
        super().plot(ax, **options)
        if plot_fallout:
            for label, line in self.lines_.items():
                points = self.curves[label].points
                self.guides_ += self.ax_.plot(
                    points.bias,
                    points.false_positive_rate,
                    color=line.get_color(),
                    linewidth=0.7,
                    zorder=2.0,
                )
        return self

    def _legend_location(self) -> str:
        falls = any(curve.area is None for curve in self.curves.values())  # as the factor does
        return "upper right" if falls else super()._legend_location()


class CumulativeGainsDisplay(CurveDisplay):
    """Cumulative gains: the share of positives found in a share of all cases.

    Examples
    --------
    >>> display = CumulativeGainsDisplay.from_predictions([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.4])
    >>> display.line_.get_xdata()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    look = Look("area", "lower right", isometric_values=())
    _compute = staticmethod(curves.cumulative_gains_curve)


class BIFTDisplay(CurveDisplay):
    """Bookmaker lift charts: informedness against the share predicted positive.

    Examples
    --------
    >>> display = BIFTDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.250'
    """

    look = Look("area", "upper right", ylim=(None, 1.01), isometric_values=())
    _compute = staticmethod(curves.bift_curve)


class BPRDDisplay(CurveDisplay):
    """Bookmaker probability against relative drift; ``s`` is that of `dmfroc.bprd_curve`.

    Examples
    --------
    >>> display = BPRDDisplay.from_predictions([1, 1, 0, 0], [0.9, 0.6, 0.5, 0.4], s=0)
    >>> display.line_.get_xdata()
    array([0. , 0.5, 1. , 1.5, 2. ])
    """

    look = Look(legend="upper left", xlim=_DATA, ylim=(None, 1.01), isometric_values=())
    _compute = staticmethod(curves.bprd_curve)
    _options = ("s",)

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        # Beyond three times the right number of predictions there is nothing to see
        largest = max(curve.x[-1] for curve in self.curves.values())
        ax.set_xlim(0, min(3.0, 1.02 * largest))


class BIRDDisplay(CurveDisplay):
    """Bookmaker information against relative drift; ``s``, ``smoothing`` as `dmfroc.bird_curve`.

    Examples
    --------
    >>> display = BIRDDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.ax_.get_ylabel()
    'Bookmaker information [bits]'
    """

    look = Look(legend="lower right", xlim=_DATA, ylim=_DATA, isometric_values=())
    _compute = staticmethod(curves.bird_curve)
    _options = ("s", "smoothing")


class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves, with lines of equal mean of both.

    Examples
    --------
    >>> display = PrecisionRecallDisplay.from_predictions([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.4])
    >>> display.line_.get_label()
    'class 1: area 0.904'
    """

    look = Look("area", "lower left", is_square=True, shares_isometrics=True)
    _compute = staticmethod(curves.precision_recall_curve)

    def plot(
        self, ax: Axes | None = None, *, plot_baselines: bool = True, **options: Any
    ) -> PrecisionRecallDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_baselines : bool
            Whether to shade, beneath a single curve, the precisions that no classifier can have,
            and to draw where F1 is that of predicting everything positive.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        PrecisionRecallDisplay
            This display.
        """
        ax = new_axes() if ax is None else ax
        if plot_baselines and len(self.curves) == 1 and not ax.lines:
            [curve] = self.curves.values()
            assert curve.points is not None
            rate, recall = curve.points.prevalence, np.linspace(0, 1, 201)
            least = curves.least_precision(recall, rate)
            ax.fill_between(
                recall,
                0,
                least,
                color="0.85",
                linewidth=0,
                zorder=0.9,
                label="unachievable",
                gid=BASELINE_ID,
            )
            f1 = 2 * rate / (1 + rate)
            [same] = isometrics(curve, "f_beta", [f1])
            self._draw_always_positive(ax, Line(same.x, same.y))
        super().plot(ax, **options)
        return self


class ReciprocalPrecisionRecallDisplay(CurveDisplay):
    """Reciprocals of precision and recall, with lines of equal F1.

    Examples
    --------
    >>> display = ReciprocalPrecisionRecallDisplay.from_predictions([1, 0, 1], [0.9, 0.6, 0.5])
    >>> display.line_.get_xdata()
    array([2., 2., 1.])
    """

    look = Look(
        legend="upper right",
        xlim=(0.97, 4.0),
        ylim=(0.97, 4.0),
        is_square=True,
        shares_isometrics=True,
        isometric_values=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    )
    _compute = staticmethod(curves.reciprocal_precision_recall_curve)


class LogPrecisionRecallDisplay(CurveDisplay):
    """The bits that precision and recall lack, with lines of equal geometric mean.

    Examples
    --------
    >>> display = LogPrecisionRecallDisplay.from_predictions([1, 0, 1], [0.9, 0.6, 0.5])
    >>> display.line_.get_xdata()
    array([1., 1., 0.])
    """

    look = Look(
        legend="upper right",
        xlim=(-0.03, 3.0),
        ylim=(-0.03, 3.0),
        is_square=True,
        shares_isometrics=True,
        isometric_values=(0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    )
    _compute = staticmethod(curves.log_precision_recall_curve)


class PRGDisplay(CurveDisplay):
    """Precision-recall-gain curves, with lines of equal F1-gain, and convex hulls on request.

    Examples
    --------
    >>> display = PRGDisplay.from_predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.3])
    >>> display.line_.get_label()
    'class 1: AUPRG 0.531'
    """

    look = Look("AUPRG", "lower left", is_square=True, shares_isometrics=True)
    _compute = staticmethod(curves.prg_curve)
    _draws_hull = True

    def plot(
        self, ax: Axes | None = None, *, plot_baselines: bool = True, **options: Any
    ) -> PRGDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_baselines : bool
            Whether to draw the diagonal on which F1 is that of predicting everything positive.
        **options
            As for `CurveDisplay.plot`.

        Returns
        -------
        PRGDisplay
            This display.
        """
        ax = new_axes() if ax is None else ax
        if plot_baselines and not ax.lines:
            self._draw_always_positive(ax, Line(np.array([0.0, 1.0]), np.array([1.0, 0.0])))
        super().plot(ax, **options)
        return self

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
        return isometrics(curve, values=values)

    def _decorate(self, ax: Axes) -> None:
        super()._decorate(ax)
        lowest = 0.0
        for curve in self.curves.values():
            x, y = self.line_data(curve)
            lowest = min(lowest, float(y[x >= 0].min()))
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

    look = Look("mean", "upper right", ylim=(-0.005, 0.52), isometric_values=())
    _compute = staticmethod(curves.cost_curve)
