"""The decision curve as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from dmfroc.applications.decision_curves import DecisionCurve, decision_curve
from dmfroc.extend import (
    BASELINE_ID,
    CURVE_ID,
    BandKind,
    ClassifierDisplay,
    check_kind,
    checked_name,
    class_name,
    curves_by_label,
    draw_band,
    draw_legend,
    joined,
    legend_entries,
    legend_text,
    renders,
)

_MOST_BANDS = 3  # curves with bands; more would hide each other
_LEAST_SHOWN = 0.35  # of the highest curve: how far below 0 baselines are drawn


@renders("DecisionCurve.plot")
class DecisionDisplay(ClassifierDisplay):
    """Decision curves with their bands, and the baselines.

    Parameters
    ----------
    curves : DecisionCurve or dict
        One curve, or curves by class.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    curves : dict of DecisionCurve
        The curves by class.
    lines_ : dict of matplotlib.lines.Line2D
        They as lines.
    bands_ : dict of matplotlib.collections.PolyCollection
        Their bands, of at most three curves.
    baselines_ : list of matplotlib.lines.Line2D
        The lines of the baselines; those of several classes in the colour of the class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, size=300)
    >>> y = (rng.random(300) < p).astype(int)
    >>> display = DecisionDisplay.from_predictions(y, p, band="simultaneous")
    >>> len(display.baselines_)
    2
    """

    lines_: dict[Hashable, Any]
    bands_: dict[Hashable, Any]
    baselines_: list[Any]

    def __init__(
        self, curves: DecisionCurve | Mapping[Hashable, DecisionCurve], *, name: str | None = None
    ) -> None:
        self.curves: dict[Hashable, DecisionCurve] = curves_by_label(curves, DecisionCurve)
        self.name = checked_name(name)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        name: str | None = None,
        ax: Any = None,
        band: BandKind | None = "pointwise",
        difference: bool = False,
        **options: Any,
    ) -> DecisionDisplay:
        """Compute the decision curves of a classifier, and draw them.

        Parameters
        ----------
        y_true, y_score
            As for `dmfroc.applications.decision_curve`.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        band, difference
            As for `plot`.
        **options
            As for `dmfroc.applications.decision_curve`, and for `plot`.

        Returns
        -------
        DecisionDisplay
            Already drawn.
        """
        own = {k: options.pop(k) for k in signature(decision_curve).parameters if k in options}
        curves = decision_curve(y_true, y_score, **own)
        return cls(curves, name=name).plot(ax, band=band, difference=difference, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        band: BandKind | None = "pointwise",
        difference: bool = False,
        plot_legend: bool = True,
        **options: Any,
    ) -> DecisionDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        band : {"pointwise", "simultaneous"} or None
            Which bands to draw.
        difference : bool
            Whether to draw, instead of the values, how far they are beyond the better baseline.
        plot_legend : bool
            Whether to draw the legend.
        **options
            For the `matplotlib.lines.Line2D` of the curves, also as a dict ``curve_kwargs``.

        Returns
        -------
        DecisionDisplay
            This display.

        Raises
        ------
        ValueError
            If there is no such band.
        """
        if band is not None:
            check_kind("band", band)
        chosen = self._checked(options)
        axes = self._draws_on(ax, height=4.8, difference=difference, plot_legend=plot_legend)
        self.lines_, self.bands_, self.baselines_ = {}, {}, []
        is_single = len(self.curves) == 1
        highest = 0.0
        styles = self._styles_of(list(self.curves), lambda x: -self.curves[x].benefit.value.max())
        prefix = f"{self.name}: " if self.name else ""
        own = {x: f"{prefix}{x}" for x in self.curves}
        if is_single:
            own = {
                x: self.name or ("decisions" if x is None else class_name(x, is_alone=True))
                for x in own
            }
        texts = legend_entries({x: legend_text(text) for x, text in own.items()}, styles)
        for label, curve in self.curves.items():
            bands = curve.difference if difference else curve.benefit
            highest = max(highest, float(np.nanmax(bands.value)))
            style: dict[str, Any] = {"label": texts[label], "linewidth": 1.8, **styles[label]}
            style |= chosen | {"gid": CURVE_ID}
            (self.lines_[label],) = axes.plot(curve.thresholds, bands.value, **style)
            if band is not None and len(self.curves) <= _MOST_BANDS:
                low, high = bands.low, bands.high
                if band == "simultaneous":
                    low, high = bands.simultaneous_low, bands.simultaneous_high
                of_band = f"{100 * curve.level:g} % {band} band"
                of_band = self._once(of_band) if is_single else "_"
                color = self.lines_[label].get_color()
                self.bands_[label] = draw_band(
                    axes, curve.thresholds, low, high, color, label=of_band
                )
            if not difference:
                self._draw_baselines(curve, self.lines_[label].get_color(), is_single)
        if difference:
            of = legend_text(joined(list(next(iter(self.curves.values())).baselines)))
            line = axes.axhline(0, color="0.5", linewidth=1, label=f"better of {of}")
            line.set_gid(BASELINE_ID)
            self.baselines_.append(line)
        self._label(axes, difference, highest)
        if plot_legend:
            draw_legend(axes, "upper right")
        return self

    def _draw_baselines(self, curve: DecisionCurve, color: Any, is_single: bool) -> None:
        """Draw the baselines: grey for one curve, else in the colour of its class."""
        dashes = [(0, (4, 2)), (0, (1, 1.5)), (0, (4, 2, 1, 2)), (0, (7, 2))]
        for place, (name, values) in enumerate(curve.baselines.items()):
            if not is_single and not values.any() and place:
                continue  # 0 is drawn once, for all classes
            (line,) = self.ax_.plot(
                curve.thresholds,
                values,
                color="0.5" if is_single else color,
                alpha=1.0 if is_single else 0.55,
                linestyle=dashes[place % len(dashes)],
                linewidth=1.1,
                label=self._once(name) if is_single else f"_{name}",
                gid=BASELINE_ID,
            )
            self.baselines_.append(line)
        if not is_single and len(self.lines_) == len(self.curves):
            line = self.ax_.axhline(0, color="0.5", linewidth=1, linestyle=dashes[1])
            line.set(label="treat all (thin, dashed), none (dotted)", gid=BASELINE_ID)
            self.baselines_.append(line)

    def _label(self, axes: Any, difference: bool, highest: float) -> None:
        is_benefit = "treat all" in next(iter(self.curves.values())).baselines
        what = "Net benefit" if is_benefit else "Expected utility"
        axes.set_xlabel("Threshold probability" if is_benefit else "Costs at")
        axes.set_ylabel(f"{what} beyond the better baseline" if difference else what)
        if is_benefit and not difference and highest > 0:
            bottom, top = axes.get_ylim()
            axes.set_ylim(max(bottom, -_LEAST_SHOWN * highest), min(top, 1.6 * highest))
