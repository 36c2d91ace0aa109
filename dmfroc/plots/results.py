"""Pictures of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dmfroc.multiclass.curve import mean_curve_of
from dmfroc.plots._style import COLORS, new_axes
from dmfroc.plots.comparison import ComparisonDisplay
from dmfroc.plots.forest import ForestRow, difference_rows, draw_forest, group_rows, value_rows
from dmfroc.plots.multiclass_roc import MulticlassROCDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dmfroc.analyses.comparison_result import Comparison
    from dmfroc.analyses.evaluation import Evaluation
    from dmfroc.analyses.planning import Plan
    from dmfroc.analyses.subgroups import SubgroupComparison
    from dmfroc.analyses.training_runs import RunsComparison
    from dmfroc.inference.band import BandKind
    from dmfroc.results.estimate import Estimate


def plot_evaluation(
    evaluation: Evaluation,
    *,
    plot_band: bool = True,
    band: BandKind = "pointwise",
    **kwargs: Any,
) -> MulticlassROCDisplay:
    """Draw the multiclass ROC curve with its band and area; of folds the mean curve."""
    around = evaluation.band(band) if plot_band else None
    sample = evaluation.predictions
    curve = (
        evaluation.curve
        if sample.folds is None
        else mean_curve_of(sample.counted, evaluation.curve_options)
    )
    area = evaluation.area_estimate
    return MulticlassROCDisplay(curve, band=around, estimate=area).plot(**kwargs)


def plot_estimate(estimate: Estimate, ax: Axes | None = None) -> Axes:
    """Draw the value with its interval."""
    rows = [ForestRow(estimate.title, estimate.value, estimate.interval)]
    return draw_forest(rows, ax, xlabel=f"{100 * estimate.level:g} % interval")


def plot_comparison(comparison: Comparison, **options: Any) -> ComparisonDisplay:
    """Draw the differences with their intervals, and the probabilities of the orders."""
    return ComparisonDisplay(comparison).plot(**options)


def plot_best_set(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the classifiers in the order of their values; filled if they may be the best."""
    kind = "simultaneous" if comparison.value_intervals else "separate"
    percent = f"{100 * comparison.level:g} %"
    return draw_forest(
        value_rows(comparison),
        ax,
        xlabel=f"{comparison.title} (filled: may be the best; {percent}, {kind})",
    )


def plot_subgroups(comparison: SubgroupComparison, ax: Axes | None = None) -> Axes:
    """Draw each group's value and interval, and a line at their mean."""
    xlabel = f"{comparison.title}, {100 * comparison.level:g} % intervals"
    return draw_forest(group_rows(comparison), ax, xlabel=xlabel, reference=comparison.mean)


def plot_runs(comparison: RunsComparison, ax: Axes | None = None) -> Axes:
    """Draw the differences of the learners; filled for new cases and new runs."""
    return draw_forest(
        run_rows(comparison),
        ax,
        xlabel=f"difference in {comparison.title}, {100 * comparison.level:g} % intervals",
        reference=0.0,
    )


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


def plot_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw power, or half-width, against the number of cases, with the planned one marked."""
    ax = new_axes() if ax is None else ax
    table = plan.curve()
    what = "half_width" if plan.difference is None else "power"
    ax.plot(table.index, table[what], color=COLORS[0])
    ax.axvspan(*plan.n_interval, color=COLORS[0], alpha=0.12, linewidth=0)
    at_n = plan.half_width(plan.n) if plan.difference is None else plan.power(plan.n)
    ax.plot(plan.n, at_n, "o", color=COLORS[1])
    ax.set(xscale="log", xlabel="cases", ylabel=what.replace("_", "-"), title=plan.title)
    return ax
