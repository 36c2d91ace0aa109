"""Displays of a meta-analysis: studies and summary in ROC space, and forests of both rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from dmfroc.plots._style import COLORS, draw_band, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.lines import Line2D

    from dmfroc.meta_analysis import SummaryROC

_LARGEST_MARKER = 220.0  # square points
_INCHES_PER_STUDY = 0.27


class SummaryROCDisplay:
    """Studies, summary point with its regions, and summary curve in ROC space.

    Build it with `SummaryROC.plot`; draw it again, or elsewhere, with `plot`.

    Parameters
    ----------
    summary : SummaryROC
        The meta-analysis.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        The summary curve over the false positive rates of the studies.
    band_ : matplotlib.collections.PolyCollection or None
        Its band.
    studies_ : matplotlib.collections.PathCollection or list of matplotlib.lines.Line2D
        The studies, or their pairs of classes, by their size; of several thresholds, one line for
        each study.
    regions_ : dict of str to matplotlib.lines.Line2D
        Outlines of the credible and of the prediction region.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where it was drawn last.
    """

    line_: Line2D
    band_: PolyCollection | None
    studies_: PathCollection | list[Line2D]
    regions_: dict[str, Line2D]
    ax_: Axes
    figure_: Any

    def __init__(self, summary: SummaryROC) -> None:
        self.summary = summary

    def plot(
        self,
        ax: Axes | None = None,
        *,
        threshold: float | None = None,
        plot_band: bool = False,
        plot_regions: bool = True,
    ) -> SummaryROCDisplay:
        """Draw the meta-analysis.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        threshold : float, optional
            Of several, the one whose summary point and regions are drawn.
        plot_band : bool
            Whether to draw the pointwise band of the curve.
        plot_regions : bool
            Whether to draw the regions of the summary point.

        Returns
        -------
        SummaryROCDisplay
            Itself.
        """
        ax = new_axes() if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_studies()
        self._draw_curve(plot_band)
        self.regions_ = {}
        if threshold is not None or self.summary.settings.model != "ordinal":
            self._draw_point(threshold, plot_regions)
        ax.set(
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            xlabel="False positive rate (1 - specificity)",
            ylabel="True positive rate (sensitivity)",
            aspect="equal",
        )
        ax.legend(loc="lower right", fontsize="small")
        return self

    def _draw_studies(self) -> None:
        studies, color = self.summary.studies, COLORS[-1]
        with np.errstate(invalid="ignore"):  # a study may have no cases, or nothing but cases
            rates = studies.positives / studies.sizes[..., None]
        tpr, fpr = (rates[:, which::2].reshape(-1, rates.shape[2]) for which in (0, 1))
        if self.summary.settings.model == "ordinal":
            self.studies_ = [
                self.ax_.plot(x, y, "o-", color=color, alpha=0.35, markersize=3, linewidth=0.8)[0]
                for x, y in zip(fpr, tpr, strict=True)
            ]
            self.studies_[0].set_label(f"{len(fpr)} studies, by threshold")
            return
        n_people = studies.sizes[:, ::2].ravel() + studies.sizes[:, 1::2].ravel()
        of_pairs = f", {len(studies.pairs)} pairs of classes" if studies.pairs else ""
        largest = _LARGEST_MARKER / max(len(studies.pairs), 1)
        self.studies_ = self.ax_.scatter(
            fpr,
            tpr,
            s=largest * n_people / n_people.max() + 12,
            facecolors="none",
            edgecolors=color,
            alpha=0.7,
            label=f"{len(studies.names)} studies{of_pairs}, by size",
        )

    def _draw_curve(self, plot_band: bool) -> None:
        curve, (low, high) = self.summary.curve, self.summary.observed_range
        inside = (curve.fpr >= low) & (curve.fpr <= high)
        area, percent = self.summary.auc, f"{100 * self.summary.level:g} %"
        self.ax_.plot(curve.fpr, curve.tpr, ":", color=COLORS[0], linewidth=1)
        [self.line_] = self.ax_.plot(
            curve.fpr[inside],
            curve.tpr[inside],
            color=COLORS[0],
            linewidth=2,
            label=f"summary curve, AUC {area.value:.3f}\n({percent} interval "
            f"{area.interval[0]:.3f} to {area.interval[1]:.3f})",
        )
        self.band_ = draw_band(self.ax_, curve, COLORS[0]) if plot_band else None

    def _draw_point(self, threshold: float | None, plot_regions: bool) -> None:
        summary, percent = self.summary, f"{100 * self.summary.level:g} %"
        at = "" if threshold is None else f" at {threshold:g}"
        if threshold is None:
            tpr, specificity = summary.sensitivity.value, summary.specificity.value
        else:
            tpr, specificity = summary.at(threshold)[["sensitivity", "specificity"]].iloc[0]
        self.ax_.plot(
            1 - specificity,
            tpr,
            "s",
            color=COLORS[1],
            label=f"summary{at}: sensitivity {tpr:.3f},\nspecificity {specificity:.3f}",
        )
        self._draw_pairs()
        styles = {"credible": "-", "prediction": "--"} if plot_regions else {}
        for kind, style in styles.items():
            corners = summary.region(kind, threshold)
            [self.regions_[kind]] = self.ax_.plot(
                *corners.T, style, color=COLORS[1], label=f"{percent} {kind} region"
            )

    def _draw_pairs(self) -> None:
        if not self.summary.studies.pairs:
            return
        pairs = self.summary.pairs
        fpr, tpr = 1 - pairs["specificity"], pairs["sensitivity"]
        self.ax_.plot(fpr, tpr, "D", color=COLORS[2], markersize=4, label="pairs of classes")


class ForestDisplay:
    """Sensitivity and specificity of every study, with intervals, above their summary.

    Build it with `SummaryROC.plot_forest`. Squares are the observed rates with Clopper and
    Pearson's exact intervals; small lines below them what the model makes of each study, which is
    drawn towards the others. The diamond is the summary, the broken line beside it where a further
    study is expected.

    Parameters
    ----------
    summary : SummaryROC
        The meta-analysis.

    Attributes
    ----------
    axes_ : tuple of matplotlib.axes.Axes
        Of sensitivity and of specificity.
    figure_ : matplotlib.figure.Figure
        Where they were drawn last.
    """

    axes_: tuple[Axes, Axes]
    figure_: Any

    def __init__(self, summary: SummaryROC) -> None:
        self.summary = summary

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> ForestDisplay:
        """Draw both forests.

        Parameters
        ----------
        axes : tuple of two matplotlib.axes.Axes, optional
            Where to draw sensitivity and specificity; by default in a new figure.

        Returns
        -------
        ForestDisplay
            Itself.
        """
        if self.summary.settings.model in ("ordinal", "multiclass"):
            several = "pairs of classes" if self.summary.studies.pairs else "thresholds"
            raise ValueError(
                f"a forest has one row per study, but there are several {several}: keep one row "
                "per study, or draw plot()"
            )
        names, sizes = self.summary.studies.names, self.summary.studies.sizes
        positives, n = self.summary.studies.positives[..., 0], len(names)
        if axes is None:
            from matplotlib import pyplot

            size = (9.5, _INCHES_PER_STUDY * (n + 4) + 0.6)
            _, (left, right) = pyplot.subplots(1, 2, figsize=size, layout="constrained")
            axes = left, right
        self.axes_, self.figure_ = axes, axes[0].figure
        correct = positives[:, 0], sizes[:, 1] - positives[:, 1]
        rates = self.summary.posterior["posterior"]["rates"].to_numpy()[..., 0]
        shrunk = rates.reshape(-1, *rates.shape[2:])
        summaries = [self.summary.sensitivity, self.summary.specificity]
        heterogeneity = self.summary.heterogeneity
        for column, (ax, name) in enumerate(zip(axes, ("Sensitivity", "Specificity"), strict=True)):
            of_model = shrunk[..., column] if column == 0 else 1 - shrunk[..., column]
            self._draw_studies(ax, correct[column], sizes[:, column], of_model)
            predicted = heterogeneity.loc[f"{name.lower()} of a new study", ["low", "high"]]
            self._draw_summary(ax, summaries[column], predicted.to_numpy(), n)
            ax.set(xlim=(-0.02, 1.02), ylim=(n + 1.8, -0.8), xlabel=name)
            ax.set_yticks([*range(n), n + 1])
            ax.set_yticklabels([*names, "Summary"] if column == 0 else [])
            ax.spines[["top", "right", "left"]].set_visible(False)
            ax.tick_params(axis="y", length=0)
        return self

    def _draw_studies(self, ax: Axes, positive: Any, size: Any, of_model: Any) -> None:
        level = self.summary.level
        low = np.where(positive > 0, beta.ppf((1 - level) / 2, positive, size - positive + 1), 0.0)
        high = np.where(
            positive < size, beta.ppf((1 + level) / 2, positive + 1, size - positive), 1.0
        )
        tails = np.quantile(of_model, [(1 - level) / 2, (1 + level) / 2], axis=0)
        for row in np.flatnonzero(size > 0):
            ax.plot([low[row], high[row]], [row, row], color=COLORS[-1], linewidth=1)
            ax.plot(positive[row] / size[row], row, "s", color=COLORS[-1], markersize=4)
            ax.plot(tails[:, row], [row + 0.25] * 2, color=COLORS[0], linewidth=2, alpha=0.6)
            text = f"{positive[row]:.0f}/{size[row]:.0f}"
            ax.annotate(
                text,
                (1, row),
                (3, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize="x-small",
                va="center",
            )

    def _draw_summary(self, ax: Axes, found: Any, predicted: Any, n: int) -> None:
        low, high = found.interval
        ax.plot(predicted, [n + 1, n + 1], "--", color=COLORS[1], linewidth=1)
        ax.fill(
            [low, found.value, high, found.value],
            [n + 1, n + 0.7, n + 1, n + 1.3],
            color=COLORS[1],
        )
        ax.axvline(found.value, color=COLORS[1], linewidth=0.7, alpha=0.5, zorder=0)
        ax.axhline(n, color=COLORS[-1], linewidth=0.5)
