"""The multiclass ROC curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dmfroc._tables import decimals
from dmfroc.measures.costs import PairWeights
from dmfroc.measures.multiclass_roc import MulticlassROC, dmf_auc, multiclass_roc
from dmfroc.predictions import as_predictions
from dmfroc.uncertainty.band import CurveBand, curve_band
from dmfroc.uncertainty.estimate import Estimate, influences, jackknife_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with any kind of colour vision; yellow is too faint.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_CHANCE_ID = "dmfroc-chance"
_CURVE_ID = "dmfroc-curve"


class MulticlassROCDisplay:
    """A multiclass ROC curve with its band.

    Build it with `from_predictions` or `from_estimator`; draw it, again or elsewhere, with
    `plot`.

    Parameters
    ----------
    curve : MulticlassROC
        The curve.
    estimate : Estimate
        Its area with an interval.
    band : CurveBand
        Pointwise band of the curve.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        The curve.
    band_ : matplotlib.collections.FillBetweenPolyCollection or None
        The band.
    pairs_ : list of matplotlib.lines.Line2D
        Curves of the ordered pairs.
    chance_ : matplotlib.lines.Line2D or None
        The chance line, if this display drew it.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=300)
    >>> scores = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y]
    >>> display = MulticlassROCDisplay.from_predictions(y, scores, name="noisy")
    >>> display.line_.get_label()
    'noisy: AUC 0.852 (95 % jackknife interval 0.822 to 0.878)'
    """

    def __init__(
        self, *, curve: MulticlassROC, estimate: Estimate, band: CurveBand, name: str | None = None
    ) -> None:
        self.curve = curve
        self.estimate = estimate
        self.band = band
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pair_weights: PairWeights = "equal",
        level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        plot_band: bool = True,
        plot_pairs: bool = False,
        plot_chance: bool = True,
        **line_kwargs: Any,
    ) -> MulticlassROCDisplay:
        """Compute the curve, its area and its band, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight
            As for `Predictions.from_arrays`.
        pair_weights
            As for `multiclass_roc`.
        level : float
            Nominal coverage of the interval of the area, and of the band at each point.
        name, ax, plot_band, plot_pairs, plot_chance, **line_kwargs
            As for `plot`.

        Returns
        -------
        MulticlassROCDisplay
            Drawn; call it again with the same ``ax`` to overlay another classifier.

        Raises
        ------
        TypeError, ValueError
            As for `multiclass_roc`.
        """
        predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
        measure = dmf_auc(pair_weights=pair_weights)
        display = cls(
            curve=multiclass_roc(predictions, pair_weights=pair_weights),
            estimate=jackknife_estimate(
                measure, predictions, influences(measure, predictions), level
            ),
            band=curve_band(predictions, level=level, pair_weights=pair_weights),
            name=name,
        )
        return display.plot(
            ax,
            plot_band=plot_band,
            plot_pairs=plot_pairs,
            plot_chance=plot_chance,
            **line_kwargs,
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **kwargs: Any
    ) -> MulticlassROCDisplay:
        """Score ``X`` with a fitted classifier, then do as `from_predictions` does.

        Parameters
        ----------
        estimator
            Fitted scikit-learn classifier with ``predict_proba`` or ``decision_function``.
        X : array-like of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        name : str, optional
            By default the name of the estimator's class.
        **kwargs
            As for `from_predictions`.

        Returns
        -------
        MulticlassROCDisplay
            Drawn.

        Raises
        ------
        TypeError
            If the estimator offers no scores.
        """
        for method in ("predict_proba", "decision_function"):
            if hasattr(estimator, method):
                scores = getattr(estimator, method)(X)
                break
        else:
            raise TypeError(
                f"estimator must have predict_proba or decision_function, but "
                f"{type(estimator).__name__} has neither: use from_predictions with scores"
            )
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores, labels=estimator.classes_, name=name, **kwargs)

    @property
    def label(self) -> str:
        """The legend's text: name, area and interval, and how that was obtained."""
        e = self.estimate
        digits = max(3, decimals(e.standard_error) - 1)
        low, high = e.interval
        area = (
            f"AUC {e.value:.{digits}f} ({100 * e.level:g} % {e.method} interval "
            f"{low:.{digits}f} to {high:.{digits}f})"
        )
        return area if self.name is None else f"{self.name}: {area}"

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
            Where to draw; by default a new figure. What is there already stays: colours go on, and
            the chance line is drawn once.
        name : str, optional
            Name of the classifier in the legend.
        plot_band, plot_pairs, plot_chance : bool
            Whether to draw the band, the faint curves of the ordered pairs, the chance line.
        **line_kwargs
            For the curve's `matplotlib.lines.Line2D`.

        Returns
        -------
        MulticlassROCDisplay
            This display.
        """
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(6.4, 6.4), layout="constrained")
        if name is not None:
            self.name = name
        n_drawn = sum(line.get_gid() == _CURVE_ID for line in ax.lines)
        style: dict[str, Any] = {
            "label": self.label,
            "color": _COLORS[n_drawn % len(_COLORS)],
            "linewidth": 2.0,
            "zorder": 3,
        }
        (self.line_,) = ax.plot(
            self.curve.fpr, self.curve.tpr, gid=_CURVE_ID, **(style | line_kwargs)
        )
        color = self.line_.get_color()
        self.pairs_ = self._plot_pairs(ax, color) if plot_pairs else []
        self.band_ = (
            ax.fill_between(
                self.band.fpr,
                self.band.low,
                self.band.high,
                color=color,
                alpha=0.18,
                linewidth=0,
                zorder=2,
            )
            if plot_band
            else None
        )
        has_chance = any(line.get_gid() == _CHANCE_ID for line in ax.lines)
        self.chance_ = None
        if plot_chance and not has_chance:
            (self.chance_,) = ax.plot(
                [0, 1],
                [0, 1],
                color="0.6",
                linestyle=(0, (4, 3)),
                linewidth=1,
                zorder=1,
                label="chance",
                gid=_CHANCE_ID,
            )
        self._decorate(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_pairs(self, ax: Axes, color: Any) -> list[Any]:
        """Draw the pairs' curves so faintly that ninety of them still let the centre through."""
        alpha = min(0.5, max(0.08, 3 / len(self.curve.pairs)))
        lines = []
        for fpr, tpr in zip(self.curve.pairwise_fpr, self.curve.pairwise_tpr, strict=True):
            lines += ax.plot(
                [0, *fpr, 1], [0, *tpr, 1], color=color, alpha=alpha, linewidth=0.8, zorder=1.5
            )
        return lines

    def _decorate(self, ax: Axes) -> None:
        # A little room, so that a curve along the frame is seen.
        ax.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
            xlabel="False positive rate, centre of all pairs of classes",
            ylabel="True positive rate, centre of all pairs of classes",
        )
        if len(self.curve.pairs) == 1:
            positive = self.curve.pairs[0][0]
            ax.set(
                xlabel=f"False positive rate (positive class: {positive})",
                ylabel=f"True positive rate (positive class: {positive})",
            )
        ax.spines[["top", "right"]].set_visible(False)
        handles, texts = ax.get_legend_handles_labels()
        # Chance is no classifier: it comes last, whenever it was drawn.
        order = sorted(range(len(texts)), key=lambda index: handles[index].get_gid() == _CHANCE_ID)
        ax.legend(
            [handles[index] for index in order],
            [texts[index] for index in order],
            loc="lower right",
            frameon=True,
            framealpha=0.9,
            edgecolor="none",
            fontsize="small",
        )
