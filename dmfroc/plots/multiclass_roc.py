"""The multiclass ROC curve as a picture."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.text import legend_text
from dmfroc.analyses.estimation import estimates_of
from dmfroc.analyses.methods import choose_methods
from dmfroc.inference.band import BandKind, CurveBand, band_around, check_kind
from dmfroc.inference.interval_method import IntervalMethod
from dmfroc.inference.options import Options
from dmfroc.inference.units import Sample
from dmfroc.inputs.estimators import scores_of
from dmfroc.inputs.predictions import as_predictions
from dmfroc.measures.measure import warn_of_absent_classes
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.curve import MeanROC, MulticlassROC, curve_of, mean_curve_of
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import (
    DEFAULT_N_THRESHOLDS,
    DEFAULT_SHRINKAGE,
    CurveOptions,
    ThresholdPool,
)
from dmfroc.papers.paper_bootstrap import PAPER_DRAWS, PaperBootstrap, paper_band
from dmfroc.plots._style import (
    COLORS,
    HANDLE_LENGTH,
    draw_band,
    new_axes,
    place_legend,
    rate_texts,
    style_of,
)
from dmfroc.results.estimate import Estimate
from dmfroc.results.text import decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.lines import Line2D

    from dmfroc.bayes.curve import PosteriorCurve
    from dmfroc.bayes.posterior import Posterior

_BandMethod = Literal["jackknife", "paper_bootstrap"]
_CURVE_ID, _CHANCE_ID = "dmfroc-curve", "dmfroc-chance"
_WIDEST = len("(99.9 % jackknife interval 0.9999 to 0.9999)")
_NO_VARIATION = 1e-9  # of standard errors that are zero but for rounding


class MulticlassROCDisplay:
    """A multiclass ROC curve with its band, ready to be drawn.

    Build it with `from_predictions`, `from_estimator` or `from_posterior`; draw it again, or
    elsewhere, with `plot`.

    Parameters
    ----------
    curve : MulticlassROC, MeanROC or PosteriorCurve
        The curve, or the mean of those of the folds of a cross-validation, or of a posterior.
    band : CurveBand, optional
        Its confidence band, or credible band.
    estimate : Estimate, optional
        Its area with an interval.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        The curve.
    band_ : matplotlib.collections.PolyCollection or None
        The band.
    pairs_ : matplotlib.collections.LineCollection or None
        The curves of the ordered pairs of classes.
    folds_ : matplotlib.collections.LineCollection or None
        The curves of the folds of a cross-validation.
    chance_ : matplotlib.lines.Line2D or None
        The chance line; None if it was there already.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where the curve was drawn last.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=300)
    >>> scores = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y]
    >>> display = MulticlassROCDisplay.from_predictions(y, scores, name="noisy")
    >>> display.line_.get_label()
    'noisy: AUC 0.835 (95 % jackknife interval 0.804 to 0.861)'
    """

    line_: Line2D
    band_: PolyCollection | None
    pairs_: LineCollection | None
    folds_: LineCollection | None
    chance_: Line2D | None
    ax_: Axes
    figure_: Any

    def __init__(
        self,
        curve: MulticlassROC | MeanROC | PosteriorCurve,
        *,
        band: CurveBand | None = None,
        estimate: Estimate | None = None,
        name: str | None = None,
    ) -> None:
        self.curve = curve
        self.band = band
        self.estimate = estimate
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **kwargs: Any
    ) -> MulticlassROCDisplay:
        """Let a fitted classifier score observations, and draw its curve.

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
        **kwargs
            As for `from_predictions`, except ``labels``: the classes are those of the estimator.

        Returns
        -------
        MulticlassROCDisplay
            Already drawn.

        Raises
        ------
        TypeError
            If the estimator is not a fitted classifier or gives no score to each class.
        ValueError
            As for `from_predictions`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LogisticRegression().fit(X[::2, :2], y[::2])
        >>> display = MulticlassROCDisplay.from_estimator(model, X[1::2, :2], y[1::2])
        >>> print(display.estimate)
        dmf_auc 0.9441 (95 % jackknife interval 0.9008 to 0.9692)
        """
        scores = scores_of(estimator, X, y)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores, labels=estimator.classes_, name=name, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pair_weights: PairWeights = "equal",
        n_thresholds: int = DEFAULT_N_THRESHOLDS,
        shrinkage: float | int = DEFAULT_SHRINKAGE,
        threshold_pool: ThresholdPool = "balanced",
        folds: Any = None,
        groups: Any = None,
        stratify: bool | None = None,
        method: _BandMethod = "jackknife",
        level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        plot_band: bool = True,
        band: BandKind = "pointwise",
        plot_pairs: bool = False,
        plot_chance: bool = True,
        **line_kwargs: Any,
    ) -> MulticlassROCDisplay:
        """Compute the curve of a classifier's scores, its area and its band, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight
            As for `Predictions.from_arrays`.
        pair_weights, n_thresholds, shrinkage, threshold_pool
            As for `multiclass_roc`.
        folds : array-like of shape (n,), optional
            As for `estimate`: the curve is then the mean of those of the folds, which are drawn
            faintly, without a band. Its area is the mean of theirs.
        groups, stratify
            As for `estimate`.
        method : {"jackknife", "paper_bootstrap"}
            How interval and band are obtained. ``"paper_bootstrap"``, of three or more classes, is
            that of Wang and Carvalho, 100 draws, as their figure 8 has it; both are too narrow.
        level : float
            Nominal coverage of the interval of the area and of the band.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_band : bool
            Whether to compute and draw the band. That takes by far the longest; for a hundred
            classes and more, seconds to minutes.
        band : {"pointwise", "simultaneous"}
            Whether the band holds at each false positive rate by itself, or the whole curve at
            once, for which it is about half as wide again.
        plot_pairs, plot_chance, **line_kwargs
            As for `plot`.

        Returns
        -------
        MulticlassROCDisplay
            Already drawn. Pass its ``ax_`` as ``ax`` to overlay another classifier.

        Raises
        ------
        TypeError, ValueError
            As for `multiclass_roc`, if ``level`` is not in (0, 1), a fold lacks a class, with
            folds the pairs are asked for, or with the paper's bootstrap a simultaneous band.
        """
        if method not in get_args(_BandMethod):
            raise ValueError(f"method must be one of {get_args(_BandMethod)}, but it is {method!r}")
        check_kind("band", band)
        if band != "pointwise" and method != "jackknife":
            raise ValueError(f"band={band!r} is the jackknife's: leave out method={method!r}")
        predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
        if folds is not None:
            predictions = predictions.in_folds(folds)
        options = CurveOptions(pair_weights, n_thresholds, shrinkage, threshold_pool)
        area = dmf_auc(pair_weights, n_thresholds, shrinkage, threshold_pool)
        warn_of_absent_classes(predictions)
        n_draws = PAPER_DRAWS if method == "paper_bootstrap" else None
        of_interval = Options(groups=groups, stratify=stratify, level=level, n_draws=n_draws)
        [chosen] = choose_methods(method, [area], predictions, of_interval)
        sample = of_interval.sample_of(predictions)
        [estimate] = estimates_of([area], [chosen], sample)
        curve: MulticlassROC | MeanROC
        if predictions.folds is None:
            curve = curve_of(predictions, options)
            around = _band(curve, sample, options, chosen, band) if plot_band else None
        else:
            curve, around = mean_curve_of(sample.predictions, options), None
        display = cls(curve, band=around, estimate=estimate, name=name)
        return display.plot(ax, plot_pairs=plot_pairs, plot_chance=plot_chance, **line_kwargs)

    @classmethod
    def from_posterior(
        cls,
        posterior: Posterior,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        plot_band: bool = True,
        plot_pairs: bool = False,
        plot_chance: bool = True,
        **line_kwargs: Any,
    ) -> MulticlassROCDisplay:
        """Draw the mean curve of a posterior, its area and its credible band.

        Parameters
        ----------
        posterior : Posterior
            What `bayesian_roc` returns.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_band, plot_pairs, plot_chance, **line_kwargs
            As for `plot`.

        Returns
        -------
        MulticlassROCDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        band = posterior.band() if plot_band else None
        display = cls(posterior.curve, band=band, estimate=posterior.to_estimate(), name=name)
        return display.plot(ax, plot_pairs=plot_pairs, plot_chance=plot_chance, **line_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_band: bool = True,
        plot_pairs: bool = False,
        plot_chance: bool = True,
        **line_kwargs: Any,
    ) -> MulticlassROCDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure. What is on it stays: the next curve takes the
            next colour, and there is one chance line and one legend.
        name : str, optional
            Name of the classifier in the legend, in place of the display's own.
        plot_band, plot_pairs, plot_chance : bool
            Whether to draw the band (if it was computed), the faint curves of the ordered pairs
            of classes, and the chance line.
        **line_kwargs
            For the curve's `matplotlib.lines.Line2D`. The band takes the colour of the curve.

        Returns
        -------
        MulticlassROCDisplay
            This display.
        """
        ax = new_axes() if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self.line_ = self._draw_curve(ax, self.name if name is None else name, line_kwargs)
        color = self.line_.get_color()
        band = self.band if plot_band else None
        self.band_ = None if band is None else draw_band(ax, band, color)
        self.pairs_ = self._draw_pairs(ax, color) if plot_pairs else None
        self.folds_ = self._draw_folds(ax, color)
        self.chance_ = _draw_chance(ax) if plot_chance and not _drawn(ax, _CHANCE_ID) else None
        self._decorate(ax)
        return self

    def _draw_curve(self, ax: Axes, name: str | None, line_kwargs: dict[str, Any]) -> Line2D:
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        defaults = {
            "linewidth": 2,
            "solid_joinstyle": "round",
            "label": self._label(name),
            "zorder": 2.5,
            **_next_style(_drawn(ax, _CURVE_ID)),
        }
        style = defaults | normalize_kwargs(line_kwargs, Line2D) | {"gid": _CURVE_ID}
        (line,) = ax.plot(self.curve.fpr, self.curve.tpr, **style)
        return line

    def _draw_pairs(self, ax: Axes, color: Any) -> LineCollection:
        if isinstance(self.curve, MeanROC):
            raise ValueError("plot_pairs draws the pairs of one curve, not of several folds")
        rates = np.stack([self.curve.pairwise_fpr, self.curve.pairwise_tpr], axis=-1)
        pinned = np.pad(rates, ((0, 0), (1, 1), (0, 0)), constant_values=((0, 0), (0, 1), (0, 0)))
        return _draw_faintly(ax, list(pinned), color)

    def _draw_folds(self, ax: Axes, color: Any) -> LineCollection | None:
        if not isinstance(self.curve, MeanROC):
            return None
        curves = [np.stack([curve.fpr, curve.tpr], axis=-1) for curve in self.curve.folds]
        return _draw_faintly(ax, curves, color)

    def _label(self, name: str | None) -> str:
        """Return the legend's text: name, area, interval, and how the interval was obtained."""
        if self.estimate is None:
            area = f"AUC {rate_texts([self.curve.auc], 3)[0]}"
        else:
            area = _area_text(self.estimate)
        return area if name is None else legend_text(f"{name}: {area}")

    def _decorate(self, ax: Axes) -> None:
        pairs = self.curve.pairs
        of = (
            legend_text(f"positive class: {pairs[0][0]}")
            if len(pairs) == 1
            else "average pair of classes"
        )
        of += ", mean over folds" if isinstance(self.curve, MeanROC) else ""
        ax.set(
            xlabel=f"False positive rate ({of})",
            ylabel=f"True positive rate ({of})",
            # A little room, so that a curve along the frame is seen at its full width.
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
        )
        ax.spines[["top", "right"]].set_visible(False)
        _draw_legend(ax)


def _band(
    curve: MulticlassROC,
    sample: Sample,
    options: CurveOptions,
    method: IntervalMethod,
    kind: BandKind,
) -> CurveBand:
    if isinstance(method, PaperBootstrap):
        return paper_band(curve, sample.predictions, options, method)
    return band_around(curve, sample, method.level, options, kind)


def _draw_faintly(
    ax: Axes, curves: Sequence[Float[np.ndarray, "_ 2"]], color: Any
) -> LineCollection:
    """Draw curves so faintly that ninety of them leave the one in the centre visible."""
    from matplotlib.collections import LineCollection

    alpha = float(np.clip(4 / len(curves), 0.12, 0.4))
    drawn = LineCollection(curves, colors=color, linewidths=0.8, alpha=alpha, zorder=1.8)
    ax.add_collection(drawn)
    return drawn


def _drawn(ax: Axes, gid: str) -> list[Line2D]:
    """Return the lines of one kind that are on the axes, from whichever display."""
    return [line for line in ax.lines if line.get_gid() == gid]


def _next_style(curves: Sequence[Line2D]) -> dict[str, Any]:
    """Return the first colour that no curve has yet, if there is one, and the next dashes."""
    from matplotlib.colors import to_hex

    taken = {to_hex(curve.get_color()).upper() for curve in curves}
    free = [color for color in COLORS if color not in taken]
    return style_of(len(curves)) | ({"color": free[0]} if free else {})


def _draw_chance(ax: Axes) -> Line2D:
    (line,) = ax.plot(
        [0, 1],
        [0, 1],
        color="0.55",
        linestyle=(0, (4, 3)),
        linewidth=1,
        zorder=1.2,
        label="chance: AUC 0.5",
        gid=_CHANCE_ID,
    )
    return line


def _draw_legend(ax: Axes) -> None:
    """Draw the legend anew: long entries wrapped, chance last, in a corner free of curves."""
    from matplotlib.font_manager import FontProperties

    chance = _drawn(ax, _CHANCE_ID)
    handles, texts = ax.get_legend_handles_labels()
    order = sorted(range(len(handles)), key=lambda index: handles[index] in chance)
    # In the size of the letters: one is 0.53 wide on average, a line of them 1.5 high, the symbol
    # with its paddings 8 wide. At most so large that an interval fits on one line.
    side = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72
    size = min(FontProperties(size="small").get_size_in_points(), side / (0.53 * _WIDEST + 8))
    wrapped = [_wrapped(texts[index], int((side / size - 8) / 0.53)) for index in order]
    place_legend(
        ax,
        "lower right",
        _drawn(ax, _CURVE_ID),
        handles=[handles[index] for index in order],
        labels=wrapped,
        fontsize=size,
        framealpha=0.85,
        edgecolor="none",
        handlelength=HANDLE_LENGTH,
    )


def _wrapped(text: str, width: int) -> str:
    """Wrap a legend entry that is too long, first of all before its interval."""
    if len(text) <= width:
        return text
    parts = re.sub(r" \((?=[^(]*$)", "\n(", text).split("\n")
    return "\n".join(textwrap.fill(part, width) for part in parts)


def _area_text(estimate: Estimate) -> str:
    varies = estimate.standard_error > _NO_VARIATION
    digits = max(3, decimals(estimate.standard_error) - 1) if varies else 3
    value, low, high = rate_texts([estimate.value, *estimate.interval], digits)
    # Without variation the interval is not the jackknife's, see `estimate`.
    method = estimate.method if varies else "exact"
    return f"AUC {value} ({100 * estimate.level:g} % {method} interval {low} to {high})"
