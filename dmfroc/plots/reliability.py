"""The reliability diagram: isotonic calibration with bands, and the parts of the Brier score."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.later import Axes, PolyCollection, Self
from dmfroc._kit.options import RandomState, check_level, generator_of, integer, refuse
from dmfroc._kit.text import class_name, legend_text
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.calibration import (
    brier_discrimination,
    brier_miscalibration,
    brier_uncertainty,
    events,
    no_events,
)
from dmfroc.measures.measure import bare_value_of
from dmfroc.plots._style import (
    BASELINE_ID,
    CURVE_ID,
    ClassifierDisplay,
    LinesByClass,
    checked_name,
    draw_band,
    draw_legend,
    legend_entries,
)

_GRID = np.linspace(0, 1, 201)
_N_BINS = 20  # of the histogram
_HIGHEST = 0.16  # of the axes, that the histogram takes


class ReliabilityDisplay(ClassifierDisplay):
    """Reliability diagrams of isotonic recalibrations.

    The consistency band around the diagonal holds the recalibrated probability of a calibrated
    classifier, at each forecast, in so many of all samples: outcomes are drawn from the forecasts.
    The confidence band around the curve holds the true one: outcomes are drawn from the
    recalibrated probabilities. Both are drawn for one class; with several classes there are only
    the curves. The legend has the parts of the Brier score: miscalibration, discrimination and
    uncertainty; with several classes the first alone.

    Parameters
    ----------
    predictions : Predictions
        Probabilities of the classes, and the observed ones.
    pos_label : hashable, optional
        The class to draw; by default the second of two, or all.
    name : str, optional
        Name of the classifier.
    level : float
        Nominal coverage of the bands at each forecast.
    n_draws : int
        Number of draws behind the bands, at least 99.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Their seed.

    Attributes
    ----------
    lines_ : dict of matplotlib.lines.Line2D
        The curves by class.
    consistency_band_, confidence_band_ : matplotlib.collections.PolyCollection or None
        The bands of a single curve.
    histogram_ : matplotlib.container.BarContainer or None
        The histogram of its forecasts.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic
    classifiers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(200)
    >>> display = ReliabilityDisplay.from_predictions((rng.random(200) < p).astype(int), p)
    >>> list(display.lines_)
    [1]
    """

    lines_: LinesByClass
    consistency_band_: PolyCollection | None
    confidence_band_: PolyCollection | None
    histogram_: Any

    def __init__(
        self,
        predictions: Predictions,
        *,
        pos_label: Any = None,
        name: str | None = None,
        level: float = 0.95,
        n_draws: int = 200,
        random_state: RandomState = 0,
    ) -> None:
        refuse("a reliability diagram", no_events(pos_label, predictions))
        self.predictions, self.pos_label = predictions.counted, pos_label
        self.name = checked_name(name)
        self.level, self.n_draws = check_level(level), integer("n_draws", n_draws, 99)
        self.random_state = random_state

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        plot_bands: bool = True,
        plot_histogram: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the reliability diagram of a classifier's probabilities.

        Parameters
        ----------
        y_true, y_score, labels, sample_weight
            As for `Predictions.from_arrays`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_bands, plot_histogram
            As for `plot`.
        **options
            As for the class, and for `plot`.

        Returns
        -------
        ReliabilityDisplay
            Already drawn.
        """
        predictions = as_predictions(
            y_true, y_score, labels=labels, sample_weight=sample_weight, needs="probabilities"
        )
        own = {k: options.pop(k) for k in signature(cls).parameters if k in options}
        display = cls(predictions, **own)
        return display.plot(ax, plot_bands=plot_bands, plot_histogram=plot_histogram, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_bands: bool = True,
        plot_histogram: bool = True,
        plot_legend: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_bands, plot_histogram : bool
            Whether to draw the bands and the histogram of a single curve.
        plot_legend : bool
            Whether to draw the legend.
        **options
            For the `matplotlib.lines.Line2D` of the curves, also as a dict ``curve_kwargs``.

        Returns
        -------
        ReliabilityDisplay
            This display.
        """
        chosen = self._checked(options)
        axes = self._draws_on(
            ax, plot_bands=plot_bands, plot_histogram=plot_histogram, plot_legend=plot_legend
        )
        self.lines_ = {}
        self.consistency_band_ = self.confidence_band_ = self.histogram_ = None
        labels = self.predictions.labels
        classes: list[Any] = [self.pos_label]
        if self.pos_label is None:
            classes = (
                [labels[1]] if len(labels) == 2 else [labels[k] for k in self.predictions.present]
            )
        is_single = len(classes) == 1
        curves = {label: self._curve(label) for label in classes}
        form = "{}: miscalibration {:.4f}"
        form += ",\ndiscrimination {:.4f},\nuncertainty {:.4f}" * is_single
        texts = {
            label: form.format(
                legend_text((self.name if is_single else None) or class_name(label)),
                *parts,
            )
            for label, (*_, parts) in curves.items()
        }
        styles = self._styles_of(classes, lambda label: -curves[label][3][0])
        texts = legend_entries(texts, styles)
        for label, (forecast, recalibrated, weights, _) in curves.items():
            style = {"label": texts[label]} | styles[label] | chosen | {"gid": CURVE_ID}
            if is_single and plot_bands:
                self._draw_bands(label, style["color"])
            (self.lines_[label],) = axes.plot(forecast, recalibrated, **style)
            if is_single and plot_histogram:
                heights = _HIGHEST * weights / weights.max()
                edges = np.arange(_N_BINS) / _N_BINS
                self.histogram_ = axes.bar(
                    edges, heights, 1 / _N_BINS, align="edge", color="0.5", alpha=0.35, zorder=0.5
                )
        label = self._once("calibrated")
        axes.plot([0, 1], [0, 1], color="0.5", linewidth=1, gid=BASELINE_ID, label=label)
        axes.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
            xlabel="Forecast probability",
            ylabel="Recalibrated probability",
        )
        if plot_legend:
            draw_legend(axes, "upper left")
        return self

    def _event(self, label: Hashable) -> tuple[Any, Any, Any]:
        outcome, forecast = events(self.predictions, label)
        return outcome[0], forecast[0], self.predictions.sample_weight

    def _curve(self, label: Hashable) -> tuple[Any, Any, Float[np.ndarray, " bins"], list[float]]:
        """Return the recalibrated forecasts, the weight in each bin, and the parts of the score."""
        outcome, forecast, weights = self._event(label)
        fit = _isotonic_regression(forecast)(outcome, weights)
        parts = [
            bare_value_of(part(label), self.predictions)
            for part in (brier_miscalibration, brier_discrimination, brier_uncertainty)
        ]
        bins = np.minimum((forecast * _N_BINS).astype(int), _N_BINS - 1)
        return fit.keywords["xp"], fit.keywords["fp"], np.bincount(bins, weights, _N_BINS), parts

    def _draw_bands(self, label: Hashable, color: Any) -> None:
        outcome, forecast, weights = self._event(label)
        fitted = _isotonic_regression(forecast)
        fit = fitted(outcome, weights)
        grid = np.clip(_GRID, forecast.min(), forecast.max())
        generator = generator_of(self.random_state)
        tail = (1 - self.level) / 2
        ends = []
        for chances in (forecast, fit(forecast)):
            drawn = np.empty((self.n_draws, len(grid)))
            for row in drawn:
                resampled = (generator.random(len(chances)) < chances).astype(float)
                row[:] = fitted(resampled, weights)(grid)
            ends.append(np.quantile(drawn, [tail, 1 - tail], axis=0))
        (low, high), (below, above) = ends
        percent = f"{100 * self.level:g} %"
        style = {"alpha": 0.22, "label": self._once(f"{percent} consistency band")}
        self.consistency_band_ = draw_band(self.ax_, grid, low, high, "0.5", **style)
        # Errors of the drawn curve about the recalibrated one, taken to the other side of it
        middle = fit(grid)
        low = np.clip(np.minimum(2 * middle - above, middle), 0, 1)
        high = np.clip(np.maximum(2 * middle - below, middle), 0, 1)
        style = {"alpha": 0.2, "label": self._once(f"{percent} confidence band")}
        self.confidence_band_ = draw_band(self.ax_, grid, low, high, color, **style)


def _isotonic_regression(
    forecast: PerRow,
) -> Callable[[PerRow, PerRow], partial[Any]]:
    """Sort forecasts once for the outcomes and weights to which curves are fitted.

    A curve is the rising function of the forecast of least weighted squared error. It is constant
    over each pool of forecasts, and straight between the pools: `numpy.interp` with the distinct
    forecasts ``xp`` and their values ``fp``.
    """
    from scipy.optimize import isotonic_regression

    distinct, place = np.unique(forecast, return_inverse=True)

    def fitted(outcome: PerRow, weights: PerRow) -> partial[Any]:
        total = np.bincount(place, weights, len(distinct))
        counted = np.flatnonzero(total)
        total = total.take(counted)
        mean = np.bincount(place, weights * outcome, len(distinct)).take(counted) / total
        fit = isotonic_regression(mean, weights=total)
        return partial(np.interp, xp=distinct.take(counted), fp=fit.x)

    return fitted
