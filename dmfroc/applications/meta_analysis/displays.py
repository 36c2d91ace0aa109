"""Displays of a meta-analysis: studies and summary in ROC space, and forests of both rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from dmfroc.applications.meta_analysis.result import SummaryROC
from dmfroc.extend import (
    COLORS,
    DataFrame,
    Display,
    ForestRow,
    digits,
    draw_band,
    forest,
    interval_text,
    joined,
    legend_text,
    page,
    page_table,
    renders,
)

_LARGEST_MARKER = 220.0  # square points
_INCHES_PER_STUDY = 0.27


@renders("SummaryROC.plot")
class SummaryROCDisplay(Display):
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

    line_: Any
    band_: Any | None
    studies_: Any | list[Any]
    regions_: dict[str, Any]

    def __init__(self, summary: SummaryROC) -> None:
        self.summary = summary

    def plot(
        self,
        ax: Any | None = None,
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
        ax = self._draws_on(ax, plot_band=plot_band, plot_regions=plot_regions)
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
        pairs = f", {len(studies.pairs)} pairs of classes" if studies.pairs else ""
        largest = _LARGEST_MARKER / max(len(studies.pairs), 1)
        self.studies_ = self.ax_.scatter(
            fpr,
            tpr,
            s=largest * n_people / n_people.max() + 12,
            facecolors="none",
            edgecolors=color,
            alpha=0.7,
            label=f"{len(studies.names)} studies{pairs}, by size",
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
        self.band_ = None
        if plot_band:
            self.band_ = draw_band(self.ax_, curve.fpr, curve.low, curve.high, COLORS[0])

    def _draw_point(self, threshold: float | None, plot_regions: bool) -> None:
        summary, percent = self.summary, f"{100 * self.summary.level:g} %"
        tpr, specificity = summary.point(threshold)[["sensitivity", "specificity"]]
        at = "" if threshold is None else f" at {threshold:g}"
        self.ax_.plot(
            1 - specificity,
            tpr,
            "s",
            color=COLORS[1],
            label=f"summary{at}: sensitivity {tpr:.3f},\nspecificity {specificity:.3f}",
        )
        if summary.studies.pairs:
            fpr, pair_tpr = 1 - summary.pairs["specificity"], summary.pairs["sensitivity"]
            marks: dict[str, Any] = {"color": COLORS[2], "markersize": 4}
            self.ax_.plot(fpr, pair_tpr, "D", label="pairs of classes", **marks)
        styles = {"credible": "-", "prediction": "--"} if plot_regions else {}
        for kind, style in styles.items():
            corners = summary.region(kind, threshold)
            [self.regions_[kind]] = self.ax_.plot(
                *corners.T, style, color=COLORS[1], label=f"{percent} {kind} region"
            )


@renders("SummaryROC.plot_forest")
class ForestDisplay(Display):
    """Sensitivity and specificity of every study, with intervals, above their summary.

    Build it with `SummaryROC.plot_forest`. Squares are the observed rates with Clopper and
    Pearson's exact intervals. Lines below them are the model's estimates of each study, which are
    drawn towards the others. Studies without the threshold or the pair have them, too. The diamond
    is the summary, the broken line beside it where a further study is expected.

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

    axes_: tuple[Any, Any]

    def __init__(self, summary: SummaryROC) -> None:
        self.summary = summary

    def plot(
        self,
        axes: tuple[Any, Any] | None = None,
        *,
        threshold: float | None = None,
        pair: str | None = None,
    ) -> ForestDisplay:
        """Draw both forests.

        Parameters
        ----------
        axes : tuple of two matplotlib.axes.Axes, optional
            Where to draw sensitivity and specificity; by default in a new figure.
        threshold, pair : float, str, optional
            Of several thresholds or pairs of classes, the one whose rates are drawn.

        Returns
        -------
        ForestDisplay
            Itself.
        """
        table, point = self.summary.by_study(threshold, pair), self.summary.point(threshold, pair)
        if axes is None:
            from matplotlib import pyplot

            size = (9.5, _INCHES_PER_STUDY * (len(table) + 4) + 0.6)
            _, (left, right) = pyplot.subplots(1, 2, figsize=size, layout="constrained")
            axes = left, right
        self.axes_, self.figure_ = axes, axes[0].figure
        which = "" if threshold is None else f" at {threshold:g}"
        which += "" if pair is None else f", {legend_text(pair)}"
        for ax, rate in zip(axes, ("sensitivity", "specificity"), strict=True):
            self._draw_rate(ax, rate, table, point)
            ax.set_xlabel(rate.capitalize() + which)
        axes[0].set_yticklabels([*map(legend_text, table.index), "Summary"])
        return self

    def _draw_rate(self, ax: Any, rate: str, table: DataFrame, point: Any) -> None:
        n = len(table)
        correct, wrong = ("tp", "fn") if rate == "sensitivity" else ("tn", "fp")
        for row, counts in enumerate(table[[correct, wrong]].to_numpy().tolist()):
            self._draw_observed(ax, row, *counts)
        for row, ends in enumerate(table[[f"{rate}_low", f"{rate}_high"]].to_numpy()):
            ax.plot(ends, [row + 0.25] * 2, color=COLORS[0], linewidth=2, alpha=0.6)
        value, low, high = point[[rate, f"{rate}_low", f"{rate}_high"]]
        predicted = point[[f"{rate}_predicted_low", f"{rate}_predicted_high"]]
        ax.plot(predicted, [n + 1] * 2, "--", color=COLORS[1], linewidth=1)
        ax.fill([low, value, high, value], [n + 1, n + 0.7, n + 1, n + 1.3], color=COLORS[1])
        ax.axvline(value, color=COLORS[1], linewidth=0.7, alpha=0.5, zorder=0)
        ax.axhline(n, color=COLORS[-1], linewidth=0.5)
        ax.set(xlim=(-0.02, 1.02), ylim=(n + 1.8, -0.8))
        ax.set_yticks([*range(n), n + 1], [])
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)

    def _draw_observed(self, ax: Any, row: int, correct: float, wrong: float) -> None:
        level, size = self.summary.level, correct + wrong
        if not size > 0:  # also NaN
            return
        low = beta.ppf((1 - level) / 2, correct, wrong + 1) if correct > 0 else 0.0
        high = beta.ppf((1 + level) / 2, correct + 1, wrong) if wrong > 0 else 1.0
        ax.plot([low, high], [row, row], color=COLORS[-1], linewidth=1)
        ax.plot(correct / size, row, "s", color=COLORS[-1], markersize=4)
        ax.annotate(
            f"{correct:.0f}/{size:.0f}",
            (1, row),
            (3, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize="x-small",
            va="center",
        )


@renders("SummaryROC.page")
def summary_page(summary: SummaryROC, title: str | None = None) -> str:
    """Return the report of a meta-analysis."""
    rates, heterogeneity, *studies = map(page_table, summary.tables())
    parts: list[Any] = [rates, *studies]
    if studies:
        percent = f"{100 * summary.level:g} %"
        frame = summary.by_study()
        for rate in (summary.sensitivity, summary.specificity):
            columns = frame[[rate.measure, f"{rate.measure}_low", f"{rate.measure}_high"]]
            rows = [
                *(ForestRow(str(name), x, (a, b)) for name, x, a, b in columns.itertuples()),
                ForestRow("Mean study", rate.value, rate.interval, is_filled=False),
            ]
            caption = f"{rate.title} of each study as the model estimates it, with {percent} "
            parts.append(forest(rows, f"{caption}intervals; hollow: the mean study."))
    question = f"How accurate is the test in {len(summary.studies.names)} studies?"
    provenance = [("Data", summary.head()[0])]
    verdict = summary_verdict(summary)
    return page(summary, title, question, verdict, [*parts, heterogeneity], provenance)


def summary_verdict(summary: SummaryROC) -> list[str]:
    """Say how accurate a test is on average, and in a further study."""
    percent = f"{100 * summary.level:g} %"
    table = summary.tables()[0]
    values = [row[1] for row in table.rows]
    means = joined([f"{e.title} {digits(e.value)} ({interval_text(e)})" for e in values])
    sentences = [f"In the mean study: {means}, with {percent} intervals."]
    new = summary.heterogeneity
    expected = [
        f"{name} between {digits(new['low'][key])} and {digits(new['high'][key])}"
        for name in ("sensitivity", "specificity")
        if (key := f"{name} of a new study") in new.index
    ]
    if expected:
        sentences.append(f"Studies differ: a new one is expected to have {joined(expected)}.")
    return sentences
