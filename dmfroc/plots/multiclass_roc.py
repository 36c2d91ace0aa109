"""The multiclass ROC curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dmfroc._kit.later import Axes, Line2D, LineCollection, PolyCollection, Self
from dmfroc._kit.options import choice, flag
from dmfroc._kit.remarks import warn
from dmfroc._kit.text import legend_text
from dmfroc.analyses.evidence import EvidenceInMemory
from dmfroc.curves.curve import Curve, Line
from dmfroc.inference.options import Options
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.estimators import held_out
from dmfroc.inputs.score_doubts import labels_message
from dmfroc.measures.measure import warn_of_absent_classes
from dmfroc.multiclass.band import BandKind, CurveBand, bootstrap_band, check_kind
from dmfroc.multiclass.curve import MeanROC, MulticlassROC, mean_curve_of, multiclass_roc
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.papers.paper_bootstrap import PAPER_DRAWS, PaperBootstrap, paper_band
from dmfroc.plots._base import CurveDisplay
from dmfroc.plots._style import ChartStyle, rate_texts, shortened
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import renders
from dmfroc.results.text import decimals

if TYPE_CHECKING:
    import dmfroc.bayes.posterior

type PosteriorCurve = "dmfroc.bayes.posterior.PosteriorCurve"
type Posterior = "dmfroc.bayes.posterior.Posterior"
_BandMethod = Literal["jackknife", "bootstrap", "paper_bootstrap"]
_NO_VARIATION = 1e-9  # of standard errors that are zero but for rounding


@renders("MulticlassROC.plot", "MeanROC.plot")
class MulticlassROCDisplay(CurveDisplay):
    """A multiclass ROC curve with its band, ready to be drawn.

    Build it with `from_predictions`, `from_estimator`, `from_cv_results` or `from_posterior`; draw
    it again, or elsewhere, with `plot`.

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
    'noisy: DMF-AUC 0.836 (95 % jackknife interval 0.805 to 0.863)'
    """

    band_: PolyCollection | None
    pairs_: LineCollection | None
    folds_: LineCollection | None
    chance_: Line2D | None

    look = ChartStyle(
        multiclass_roc,
        "AUC",
        "lower right",
        is_square=True,
        options=("pair_weights", "n_thresholds", "shrinkage", "threshold_pool", "preset"),
        chance="chance: AUC 0.5",
    )

    def __init__(
        self,
        curve: MulticlassROC | MeanROC | PosteriorCurve,
        *,
        band: CurveBand | None = None,
        estimate: Estimate | None = None,
        name: str | None = None,
    ) -> None:
        self.curve, self.band, self.estimate = curve, band, estimate
        label = curve.pairs[0][0] if len(curve.pairs) == 1 else None
        which = (
            "average pair of classes"
            if label is None
            else f"positive class: {shortened(str(label), 30)}"
        )
        which = legend_text(which) + (", mean over folds" if isinstance(curve, MeanROC) else "")
        as_curve = Curve(
            kind="multiclass_roc",
            label=label,
            x=curve.fpr,
            y=curve.tpr,
            thresholds=np.full(len(curve.fpr), np.nan),
            x_name=f"False positive rate ({which})",
            y_name=f"True positive rate ({which})",
            area=curve.auc,
            chance=Line(np.array([0.0, 1.0]), np.array([0.0, 1.0])),
        )
        super().__init__(as_curve, name=name)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        folds: Any = None,
        groups: Any = None,
        stratify: bool | None = None,
        method: _BandMethod | None = None,
        level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        plot_band: bool = True,
        band: BandKind = "pointwise",
        **options: Any,
    ) -> Self:
        """Compute the curve of a classifier's scores, its area and its band, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight
            As for `Predictions.from_arrays`.
        folds : array-like of shape (n,), optional
            As for `estimate`: the curve is then the mean of those of the folds, which are drawn
            faintly, without a band. Its area is the mean of theirs.
        groups, stratify
            As for `estimate`.
        method : {"jackknife", "bootstrap", "paper_bootstrap"}, optional
            How interval and band are obtained; by default by the jackknife, with ``preset="paper"``
            by the paper's bootstrap. ``"bootstrap"`` has a band that is too narrow at
            the corners, and for near-perfect classifiers. ``"paper_bootstrap"``, of three or more
            classes, is that of Wang and Carvalho, 100 draws, as their figure 8 has it; its interval
            and its band are too narrow.
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
        **options
            ``pair_weights``, ``n_thresholds``, ``shrinkage``, ``threshold_pool`` and ``preset`` as
            for `multiclass_roc`; others, such as ``plot_pairs``, as for `plot`.

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
        if method is not None:
            choice("method", method, get_args(_BandMethod))
        plot_band = flag("plot_band", plot_band)
        check_kind("band", band)
        own = cls.look.taken_from(options)
        predictions = as_predictions(
            y_true, y_score, labels=labels, sample_weight=sample_weight, by_fold=True
        )
        if folds is not None:
            predictions = predictions.in_folds(folds)
        area, curve_options = dmf_auc(**own), CurveOptions(**own)
        warn_of_absent_classes(predictions)
        warn([labels_message(predictions)])
        of_intervals = Options(groups, stratify, method=method, level=level)
        evidence = EvidenceInMemory(predictions, of_intervals)
        [chosen] = evidence.methods([area])
        if isinstance(chosen, PaperBootstrap):
            chosen = PaperBootstrap(PAPER_DRAWS).at(chosen.level, chosen.seed)
            if band != "pointwise":
                raise ValueError(
                    f"band={band!r} needs another method than {chosen.name!r}: take method="
                    "'jackknife' or 'bootstrap'"
                )
        [estimate] = evidence.estimates([area], [chosen])
        if predictions.folds is not None:
            mean = mean_curve_of(evidence.sample.predictions, curve_options)
            return cls(mean, estimate=estimate, name=name).plot(ax, **options)
        curve, around = evidence.curve(curve_options), None
        if plot_band and isinstance(chosen, PaperBootstrap):
            around = paper_band(curve, evidence.sample.predictions, curve_options, chosen)
        elif plot_band and method == "bootstrap":
            around = bootstrap_band(curve, evidence.sample, chosen.level, curve_options, band)
        elif plot_band:
            around = evidence.band(curve, curve_options, chosen.level, band)
        return cls(curve, band=around, estimate=estimate, name=name).plot(ax, **options)

    @classmethod
    def from_cv_results(cls, cv_results: Mapping[str, Any], X: Any, y: Any, **options: Any) -> Self:
        """Draw the mean curve of a cross-validation's classifiers on the rows they did not see.

        Parameters
        ----------
        cv_results : dict
            Of scikit-learn's ``cross_validate`` with ``return_estimator=True`` and
            ``return_indices=True``.
        X : array-like or table of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        **options
            As for `from_predictions`, except ``labels`` and ``folds``.

        Returns
        -------
        MulticlassROCDisplay
            Already drawn.

        Raises
        ------
        TypeError, ValueError
            If the results lack classifiers or indices, or as for `from_predictions`.
        """
        true, scores, labels = zip(*held_out(cv_results, X, y), strict=True)
        folds = np.repeat(np.arange(len(true)), [len(x) for x in true])
        rows = np.concatenate(true), np.concatenate(scores)
        return cls.from_predictions(*rows, labels=labels[0], folds=folds, **options)

    @classmethod
    def from_posterior(
        cls,
        posterior: Posterior,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the mean curve of a posterior, its area and its credible band.

        Parameters
        ----------
        posterior : Posterior
            What `bayesian_roc` returns.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
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
        band = posterior.band() if options.get("plot_band", True) else None
        display = cls(posterior.curve, band=band, estimate=posterior.to_estimate(), name=name)
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_band: bool = True,
        plot_pairs: bool = False,
        **options: Any,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure. What is on it stays: the next curve takes the
            next colour, and there is one chance line and one legend.
        plot_band, plot_pairs : bool
            Whether to draw the band (if it was computed), in the colour of the curve, and the faint
            curves of the ordered pairs of classes.
        **options
            ``name``, ``plot_chance_level``, ``plot_legend`` and ``curve_kwargs`` as for
            `CurveDisplay.plot`; others are for the curve's `matplotlib.lines.Line2D`.

        Returns
        -------
        MulticlassROCDisplay
            This display.

        Raises
        ------
        ValueError
            If the pairs of several folds are asked for.
        """
        curve, [label] = self.curve, self.curves
        plot_band, plot_pairs = flag("plot_band", plot_band), flag("plot_pairs", plot_pairs)
        if plot_pairs and isinstance(curve, MeanROC):
            raise ValueError("plot_pairs draws the pairs of one curve, not of several folds")
        self.bands = {label: self.band} if plot_band and self.band is not None else {}
        super().plot(ax, **options)
        self.band_ = self.bands_.get(label)
        self.chance_ = self.guides_[0] if self.guides_ else None
        self.pairs_ = self.folds_ = None
        if isinstance(curve, MeanROC):
            self.folds_ = self._draw_faintly([(fold.fpr, fold.tpr) for fold in curve.folds])
        elif plot_pairs:
            ends = ((0, 0), (1, 1))
            rates = (
                np.pad(pairs, ends, constant_values=((0, 0), (0, 1)))
                for pairs in (curve.pairwise_fpr, curve.pairwise_tpr)
            )
            self.pairs_ = self._draw_faintly(list(zip(*rates, strict=True)))
        return self

    def _draw_faintly(self, curves: list[tuple[Any, Any]]) -> LineCollection:
        """Draw curves so faintly that thousands leave the one in the centre visible."""
        from matplotlib.collections import LineCollection

        lines = [np.stack(curve, axis=-1) for curve in curves]
        alpha, color = min(0.4, 1.1 / len(lines) ** 0.5), self.line_.get_color()
        drawn = LineCollection(lines, colors=color, linewidths=0.8, alpha=alpha, zorder=1.8)
        self.ax_.add_collection(drawn)
        return drawn

    def _label(self, label: Any, name: str | None) -> str:
        """Return the legend's text: name, area, interval, and how the interval was obtained."""
        estimate, title = self.estimate, "AUC" if len(self.curve.pairs) == 1 else "DMF-AUC"
        if estimate is None:
            area = f"{title} {rate_texts([self.curve.auc], 3)[0]}"
        else:
            varies = estimate.standard_error > _NO_VARIATION
            digits = max(3, decimals(estimate.standard_error) - 1) if varies else 3
            value, low, high = rate_texts([estimate.value, *estimate.interval], digits)
            # Without variation the interval is not the jackknife's, see `estimate`.
            interval = f"{estimate.method if varies else 'exact'} interval {low} to {high}"
            area = f"{title} {value} ({100 * estimate.level:g} % {interval})"
        return area if name is None else legend_text(f"{name}: {area}")
