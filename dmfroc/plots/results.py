"""Pictures of results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc._kit.later import Axes, Line2D, PolyCollection, Self
from dmfroc._kit.options import flag
from dmfroc._kit.text import legend_text
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evaluation import Evaluation
from dmfroc.analyses.horizons import HorizonCurves
from dmfroc.analyses.ranks import Ranks
from dmfroc.analyses.subgroups import SubgroupComparison
from dmfroc.analyses.training_runs import RunsComparison
from dmfroc.curves.curve import Curve
from dmfroc.measures.contingency_table import ContingencyTable
from dmfroc.multiclass.band import BandKind, check_kind
from dmfroc.multiclass.curve import mean_curve_of
from dmfroc.plots._base import CurveDisplay
from dmfroc.plots._kinds import CHARTS
from dmfroc.plots._style import CURVE_ID, Display, Style, draw_band, draw_legend, style_of
from dmfroc.plots.comparison import ComparisonDisplay
from dmfroc.plots.forest import (
    ForestRow,
    IntervalDisplay,
    difference_rows,
    group_rows,
    rank_rows,
    value_rows,
)
from dmfroc.plots.multiclass_roc import MulticlassROCDisplay
from dmfroc.results.difference import Difference
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import renders

_MOST_TICKS = 10
_MOST_COUNTS, _MOST_LETTERS = 12, 40  # of a table: classes with numbers, letters on one line
_BEST_FIRST = "from the best down"

if TYPE_CHECKING:
    from dmfroc.bayes.posterior import Posterior


@renders("Evaluation.plot")
def plot_evaluation(
    evaluation: Evaluation, *, plot_band: bool = True, band: BandKind = "pointwise", **kwargs: Any
) -> MulticlassROCDisplay:
    """Draw the multiclass ROC curve with its band and area; of folds the mean curve."""
    around = evaluation.band(band) if flag("plot_band", plot_band) else None
    sample = evaluation.predictions
    curve = (
        evaluation.curve
        if sample.folds is None
        else mean_curve_of(sample.counted, evaluation.curve_options)
    )
    area = evaluation.area_estimate
    return MulticlassROCDisplay(curve, band=around, estimate=area).plot(**kwargs)


@renders("Estimate.plot")
def plot_estimate(estimate: Estimate, **options: Any) -> IntervalDisplay:
    """Draw the value with its interval."""
    rows = [ForestRow(estimate.title, estimate.value, estimate.interval)]
    xlabel = f"{100 * estimate.level:g} % interval"
    return IntervalDisplay(rows, xlabel=xlabel).plot(**options)


@renders("Curve.plot")
def plot_curve(curve: Curve, **options: Any) -> CurveDisplay:
    """Draw a curve."""
    display = getattr(import_module("dmfroc.plots"), CHARTS[curve.kind.replace("_", "-")])
    return display(curve).plot(**options)


@renders("ContingencyTable.plot")
def plot_table(table: ContingencyTable, **options: Any) -> Any:
    """Draw the counts, with scikit-learn's display; of many classes without the numbers."""
    from matplotlib import pyplot
    from sklearn.metrics import ConfusionMatrixDisplay

    n, names = len(table.labels), [legend_text(label) for label in table.labels]
    longest = max(map(len, names))
    defaults: Style = {"include_values": n <= _MOST_COUNTS}
    if n * longest > _MOST_LETTERS:
        defaults["xticks_rotation"] = "vertical"
    if options.get("ax") is None:
        side = 0.16 * n  # inches: a line of its own for each name
        size = max(6.4, side + 0.085 * longest + 2), max(4.8, side + 0.085 * longest)
        options["ax"] = pyplot.subplots(figsize=size, layout="constrained")[1]
    display = ConfusionMatrixDisplay(table.counts.T, display_labels=names)
    return display.plot(**defaults | options)


@renders("Comparison.plot")
def plot_comparison(comparison: Comparison, **options: Any) -> ComparisonDisplay | IntervalDisplay:
    """Draw the differences, or the value of a classifier that is alone."""
    if comparison.differences:
        return ComparisonDisplay(comparison).plot(**options)
    xlabel = f"{comparison.title}, {100 * comparison.level:g} % interval"
    return IntervalDisplay(value_rows(comparison), xlabel=xlabel).plot(**options)


@renders("Comparison.plot_best_set")
def plot_best_set(comparison: Comparison, **options: Any) -> IntervalDisplay:
    """Draw the classifiers in the order of their values; filled if they may be the best."""
    kind = "simultaneous" if comparison.value_intervals else "separate"
    percent = f"{100 * comparison.level:g} %"
    xlabel = f"{comparison.title}\n(filled: may be the best; {percent}, {kind})"
    rows = value_rows(comparison)
    return IntervalDisplay(rows, xlabel=xlabel, ylabel=_BEST_FIRST).plot(**options)


@renders("Ranks.plot")
def plot_ranks(ranks: Ranks, **options: Any) -> IntervalDisplay:
    """Draw the ranks with their intervals, best first; every other tier is filled."""
    xlabel = f"Rank in {ranks.title} ({100 * ranks.level:g} %, all at once)"
    rows = rank_rows(ranks)
    display = IntervalDisplay(rows, xlabel=xlabel, ylabel=_BEST_FIRST).plot(**options)
    display.ax_.locator_params("x", integer=True)
    return display


@renders("SubgroupComparison.plot")
def plot_subgroups(comparison: SubgroupComparison, **options: Any) -> IntervalDisplay:
    """Draw each group's value and interval, and a line at their mean."""
    xlabel = f"{comparison.title}, {100 * comparison.level:g} % intervals"
    rows, mean = group_rows(comparison), comparison.mean
    return IntervalDisplay(rows, xlabel=xlabel, reference=mean).plot(**options)


@renders("RunsComparison.plot")
def plot_runs(comparison: RunsComparison, **options: Any) -> IntervalDisplay:
    """Draw the differences of the learners; filled for new cases and new runs."""
    xlabel = f"difference in {comparison.title}, {100 * comparison.level:g} % intervals"
    rows = run_rows(comparison)
    return IntervalDisplay(rows, xlabel=xlabel, reference=0.0).plot(**options)


def run_rows(comparison: RunsComparison) -> list[ForestRow]:
    """Return the differences of learners, each with what it holds for."""
    frame = comparison.tables()[1]
    titles = [str(row[0]) for row in frame.rows]
    first = titles[0]
    rows = difference_rows([row[3] for row in frame.rows])
    named = [
        ForestRow(f"{row.name}: {title}", row.value, row.interval, is_filled=title == first)
        for title, row in zip(titles, rows, strict=True)
    ]
    n = len(named) // len(set(titles))  # differences; those of one pair stand together
    return [row for place in range(n) for row in named[place::n]]


renders("Posterior.plot")(MulticlassROCDisplay.from_posterior)


@renders("Posterior.plot_pairs")
def plot_posterior_pairs(posterior: Posterior, **options: Any) -> IntervalDisplay:
    """Draw the areas of the pairs of classes, the worst pair on top, and those in the sample."""
    pairs = posterior.pairs().sort_values("value", kind="stable")
    intervals = zip(pairs["low"], pairs["high"], strict=True)
    rows = [ForestRow(*row) for row in zip(pairs.index, pairs["value"], intervals, strict=True)]
    xlabel = f"A(i|j), {100 * posterior.level:g} % intervals; hollow: in the sample"
    mean = float(pairs["value"].mean())
    ylabel = f"{len(rows)} pairs of classes, the worst on top"
    display = IntervalDisplay(rows, xlabel=xlabel, reference=mean, ylabel=ylabel).plot(**options)
    observed, places = pairs["observed"], range(len(pairs))
    display.ax_.plot(observed, places, "o", color="0.4", markerfacecolor="none")
    return display


@renders("HorizonCurves.plot")
class HorizonDisplay(Display):
    """Values of measures or classifiers over horizons, or their differences, with bands.

    Parameters
    ----------
    curves : HorizonCurves
        What `dmfroc.estimate`, `dmfroc.evaluate` or `dmfroc.compare` found at several horizons.

    Attributes
    ----------
    lines_ : dict of matplotlib.lines.Line2D
        The values by name.
    bands_ : dict of matplotlib.collections.PolyCollection
        Their intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import dmfroc
    >>> rng = np.random.default_rng(0)
    >>> risk, time = rng.normal(size=200), rng.exponential(size=200)
    >>> died = rng.random(200) < 0.7
    >>> follow_up = dmfroc.FollowUp(time, [0.2, 0.5, 1])
    >>> found = dmfroc.estimate("hand_till", died, risk - time, follow_up=follow_up)
    >>> HorizonDisplay(found).plot(band="simultaneous").lines_["hand_till"].get_xdata()
    array([0.2, 0.5, 1. ])
    """

    lines_: dict[str, Line2D]
    bands_: dict[str, PolyCollection]

    def __init__(self, curves: HorizonCurves) -> None:
        self.curves = curves.shown

    def plot(
        self,
        ax: Axes | None = None,
        *,
        band: BandKind | None = "simultaneous",
        difference: bool = False,
        plot_legend: bool = True,
        **options: Any,
    ) -> Self:
        """Draw the values with their intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        band : {"simultaneous", "pointwise"} or None
            Which intervals to draw.
        difference : bool
            Whether to draw the differences of classifiers instead.
        plot_legend : bool
            Whether to draw the legend.
        **options
            For the `matplotlib.lines.Line2D` of the values.

        Returns
        -------
        HorizonDisplay
            This display.
        """
        if band is not None:
            check_kind("band", band)
        chosen = self._checked(options)
        axes = self._draws_on(ax, height=4.8, difference=difference, plot_legend=plot_legend)
        self.lines_, self.bands_, t = {}, {}, self.curves.horizons
        titles = {
            name: f"{title}"
            for name, title in self.curves.titles.items()
            if isinstance(self.curves.points[name][0], Difference) == difference
        }
        for place, (name, title) in enumerate(titles.items()):
            points = self.curves.points[name]
            style: Style = style_of(place) | {"marker": "o", "label": legend_text(title)}
            style |= chosen | {"gid": CURVE_ID}
            (self.lines_[name],) = axes.plot(t, [x.value for x in points], **style)
            if band is not None:
                ends: Any = self.curves.simultaneous[name]
                low, high = np.transpose(
                    ends if band == "simultaneous" else [x.interval for x in points]
                )
                color = self.lines_[name].get_color()
                self.bands_[name] = draw_band(axes, t, low, high, color)
        if difference:
            axes.axhline(0, color="0.5", linewidth=1)
        shown = [self.curves.points[name][0] for name in titles]
        measures = [x.title for x in shown if isinstance(x, Estimate)]
        if len(titles) == 1:
            measures = [*titles.values()]
        one = measures[0] if len(set(measures)) == 1 else "Value"
        of_band = "" if band is None else f" ({100 * self.curves.level:g} % {band} intervals)"
        axes.set(xlabel=f"Horizon{of_band}", ylabel="Difference" if difference else one)
        if len(t) <= _MOST_TICKS:
            axes.set_xticks(t, [f"{x:g}" for x in t])
        if plot_legend:
            draw_legend(axes, "lower right")
        return self
