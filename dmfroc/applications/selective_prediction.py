"""Selective prediction: the error rate where a classifier may decline to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc.extend import (
    BASELINE_ID,
    CURVE_ID,
    AttributeTables,
    ClassifierDisplay,
    PerThreshold,
    as_predictions,
    check_level,
    curves_by_label,
    draw_band,
    draw_legend,
    instance,
    legend_entries,
    legend_text,
    no_probabilities,
    probabilities_of,
    refuse,
    renders,
    wilson_intervals,
)
from dmfroc.measures import risk_coverage_area

_MOST_BANDS = 3


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverageCurve(AttributeTables):
    """Error rates of a classifier's most certain decisions.

    Attributes
    ----------
    coverage : numpy.ndarray of shape (m,)
        Share of the observations that are decided, rising to 1; one for each distinct certainty.
    risk : numpy.ndarray of shape (m,)
        Error rate among them.
    thresholds : numpy.ndarray of shape (m,)
        The least certainty of a decision, its largest probability.
    area : float
        Area under the curve, `dmfroc.measures.risk_coverage_area`.
    n_effective : float
        As how many observations of equal weight the sample counts (Kish).
    """

    coverage: PerThreshold
    risk: PerThreshold
    thresholds: PerThreshold
    area: float
    n_effective: float

    def intervals(self, level: float = 0.95) -> Float[np.ndarray, "2 m"]:
        """Return Wilson's interval of the error rate at each threshold.

        Parameters
        ----------
        level : float
            Nominal coverage of each interval by itself.

        Returns
        -------
        numpy.ndarray of shape (2, m)
            Lower and upper limits, in [0, 1].

        References
        ----------
        Wilson (1927), Probable inference, the law of succession, and statistical inference.
        """
        return wilson_intervals(self.risk, self.coverage * self.n_effective, check_level(level))


def risk_coverage_curve(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> RiskCoverageCurve:
    """Return the error rate of the most certain decisions, by their share of all.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities of the classes; the largest one is the certainty of a decision.
    labels, sample_weight
        As for `Predictions.from_arrays`.

    Returns
    -------
    RiskCoverageCurve
        Observations of equal certainty are decided together. For a certainty that tells nothing
        the risk is the error rate of all, at every coverage.

    Raises
    ------
    TypeError, ValueError
        If the scores are no probabilities.

    References
    ----------
    El-Yaniv and Wiener (2010), On the foundations of noise-free selective classification.

    Examples
    --------
    >>> curve = risk_coverage_curve([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25]))
    """
    predictions = as_predictions(
        y_true, y_score, labels=labels, sample_weight=sample_weight, needs="probabilities"
    )
    refuse("risk_coverage_curve", no_probabilities(predictions))
    predictions = predictions.as_given.counted
    weights, probabilities = predictions.sample_weight, probabilities_of(predictions)
    certainty, group = np.unique(-probabilities.max(axis=1), return_inverse=True)
    is_wrong = probabilities.argmax(axis=1) != predictions.true
    decided = np.bincount(group, weights).cumsum()
    return RiskCoverageCurve(
        decided / decided[-1],
        np.bincount(group, weights * is_wrong).cumsum() / decided,
        -certainty,
        risk_coverage_area()(predictions),
        float(weights.sum() ** 2 / (weights**2).sum()),
    )


@renders("RiskCoverageCurve.plot")
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

    lines_: dict[str, Any]
    bands_: dict[str, Any]

    def __init__(self, curves: RiskCoverageCurve | Mapping[str, RiskCoverageCurve]) -> None:
        self.curves: dict[Any, RiskCoverageCurve] = curves_by_label(curves, RiskCoverageCurve)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        name: str = "classifier",
        ax: Any = None,
        **options: Any,
    ) -> RiskCoverageDisplay:
        """Draw the risk-coverage curve of a classifier, or of several by name.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like, table, or dict of str to such
            Probabilities of the classes.
        labels, sample_weight
            As for `Predictions.from_arrays`.
        name : str
            Name of a single classifier.
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
        named = y_score if isinstance(y_score, Mapping) else {instance("name", name, str): y_score}
        curves = {k: risk_coverage_curve(y_true, s, **given) for k, s in named.items()}
        return cls(curves).plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        plot_band: bool = True,
        plot_chance_level: bool = True,
        level: float = 0.95,
        plot_legend: bool = True,
        **options: Any,
    ) -> RiskCoverageDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_band : bool
            Whether to draw the interval of each error rate.
        plot_chance_level : bool
            Whether to draw the error rate of all decisions, that of any ranking by chance.
        level : float
            Nominal coverage of each interval.
        plot_legend : bool
            Whether to draw the legend.
        **options
            For the `matplotlib.lines.Line2D` of the curves, also as a dict ``curve_kwargs``.

        Returns
        -------
        RiskCoverageDisplay
            This display.
        """
        level = check_level(level)
        chosen = self._checked(options)
        flags = {"plot_band": plot_band, "plot_chance_level": plot_chance_level}
        axes = self._draws_on(ax, height=4.8, plot_legend=plot_legend, **flags)
        self.lines_, self.bands_ = {}, {}
        is_single = len(self.curves) == 1
        texts = {x: legend_text(f"{x}: area {curve.area:.4f}") for x, curve in self.curves.items()}
        styles = self._styles_of(list(self.curves), lambda name: -self.curves[name].area)
        texts = legend_entries(texts, styles)
        for name, curve in self.curves.items():
            style = styles[name] | {"label": texts[name]} | chosen | {"gid": CURVE_ID}
            (self.lines_[name],) = axes.plot(curve.coverage, curve.risk, **style)
            color = self.lines_[name].get_color()
            if plot_band and len(self.curves) <= _MOST_BANDS:
                text = self._once(f"{100 * level:g} % Wilson interval") if is_single else None
                low, high = curve.intervals(level)
                self.bands_[name] = draw_band(axes, curve.coverage, low, high, color, label=text)
            if plot_chance_level:
                axes.axhline(
                    curve.risk[-1],
                    color=color,
                    linestyle=(0, (1, 1.5)),
                    linewidth=1,
                    gid=BASELINE_ID,
                    label=self._once("error rate of all") if is_single else f"_{name}",
                )
        highest = max(float(curve.risk[-1]) for curve in self.curves.values())
        axes.set(xlim=(0, 1.01), xlabel="Coverage", ylabel="Error rate of the decisions")
        axes.set_ylim(0, max(min(2.2 * highest, 1.0), 0.02))
        if plot_legend:
            draw_legend(axes, "upper left")
        return self
