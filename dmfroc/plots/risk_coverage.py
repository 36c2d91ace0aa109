"""The risk-coverage curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dmfroc._kit.options import check_level
from dmfroc._kit.text import legend_text
from dmfroc.curves.risk_coverage import RiskCoverageCurve, risk_coverage_curve
from dmfroc.plots._style import (
    BASELINE_ID,
    CURVE_ID,
    ClassifierDisplay,
    Self,
    draw_band,
    draw_legend,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

_MOST_BANDS = 3


class RiskCoverageDisplay(ClassifierDisplay):
    """Risk-coverage curves of one or several classifiers.

    Parameters
    ----------
    curves : RiskCoverageCurve or dict
        One curve, or curves by name of the classifier.

    Attributes
    ----------
    lines_ : dict of matplotlib.lines.Line2D
        The curves by name.
    bands_ : dict of matplotlib.collections.PolyCollection
        Wilson intervals at each threshold, of at most three curves.

    Examples
    --------
    >>> display = RiskCoverageDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3])
    >>> display.lines_["classifier"].get_ydata()
    array([0.  , 0.  , 0.  , 0.25])
    """

    lines_: dict[str, Line2D]
    bands_: dict[str, PolyCollection]

    def __init__(self, curves: RiskCoverageCurve | Mapping[str, RiskCoverageCurve]) -> None:
        self.curves: dict[str, RiskCoverageCurve] = (
            {"classifier": curves} if isinstance(curves, RiskCoverageCurve) else dict(curves)
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the risk-coverage curve of a classifier, or of several by name.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like, table, or dict of str to such
            Probabilities of the classes.
        labels, sample_weight
            As for `Predictions.from_arrays`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            As for `plot`.

        Returns
        -------
        RiskCoverageDisplay
            Already drawn.
        """
        given = {"labels": labels, "sample_weight": sample_weight}
        if isinstance(y_score, Mapping):
            curves = {k: risk_coverage_curve(y_true, s, **given) for k, s in y_score.items()}
            return cls(curves).plot(ax, **options)
        return cls(risk_coverage_curve(y_true, y_score, **given)).plot(ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_band: bool = True,
        level: float = 0.95,
        plot_legend: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_band : bool
            Whether to draw the interval of each error rate.
        level : float
            Nominal coverage of each interval.
        plot_legend : bool
            Whether to draw the legend.
        **options
            For the `matplotlib.lines.Line2D` of the curves.

        Returns
        -------
        RiskCoverageDisplay
            This display.
        """
        level = check_level(level)
        axes = self._draws_on(ax, height=4.8, plot_band=plot_band, plot_legend=plot_legend)
        self.lines_, self.bands_ = {}, {}
        is_single = len(self.curves) == 1
        for place, (name, curve) in enumerate(self.curves.items()):
            style = style_of(place) | {"linewidth": 1.8} | options
            (self.lines_[name],) = axes.plot(
                curve.coverage,
                curve.risk,
                label=legend_text(f"{name}: area {curve.area:.4f}"),
                gid=CURVE_ID,
                **style,
            )
            color = self.lines_[name].get_color()
            if plot_band and len(self.curves) <= _MOST_BANDS:
                text = f"{100 * level:g} % Wilson interval" if is_single else None
                low, high = curve.intervals(level)
                self.bands_[name] = draw_band(axes, curve.coverage, low, high, color, label=text)
            axes.axhline(
                curve.risk[-1],
                color="0.5" if is_single else color,
                linestyle=(0, (1, 1.5)),
                linewidth=1,
                gid=BASELINE_ID,
                label="error rate of all" if is_single else f"_{name}",
            )
        highest = max(float(curve.risk[-1]) for curve in self.curves.values())
        axes.set(xlim=(0, 1.01), xlabel="Coverage", ylabel="Error rate of the decisions")
        axes.set_ylim(0, max(min(2.2 * highest, 1.0), 0.02))
        if plot_legend:
            draw_legend(axes, "upper left")
        return self
