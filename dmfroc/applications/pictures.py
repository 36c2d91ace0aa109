"""Pictures and pages of the results of applications."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from scipy.special import ndtri

from dmfroc.applications.calibration import CalibrationTests
from dmfroc.applications.planning import Plan
from dmfroc.applications.pooling import PooledSites
from dmfroc.applications.several_labels import MultilabelComparison
from dmfroc.applications.streams import ConfidenceSequence
from dmfroc.applications.thresholds import ThresholdChoice
from dmfroc.extend import (
    COLORS,
    CURVE_ID,
    Display,
    ForestRow,
    IntervalDisplay,
    chart,
    digits,
    draw_legend,
    enumerated,
    legend_text,
    page,
    page_table,
    renders,
    style_of,
)
from dmfroc.plots import ComparisonDisplay, ReliabilityDisplay

_FEWER = 0.95  # of the cases, to be worth other shares of the classes


_WIDE = 2.0  # ratio of the ends of a number's interval


class LineDisplay(Display):
    """A line with what belongs to it.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        The value after each look, the power or half-width of a plan, the criterion of a threshold,
        or the limits of a funnel.
    limits_ : matplotlib.collections.PolyCollection
        The limits of a value that hold at all times.
    point_, interval_ : matplotlib.lines.Line2D, matplotlib.patches.Rectangle
        The planned number of cases, and its interval.
    points_ : matplotlib.collections.PathCollection
        The sites of a funnel, on the scale where the range of the measure has no ends.
    chosen_, corrected_ : matplotlib.container.ErrorbarContainer
        The chosen threshold, and its value without optimism, with their intervals.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where they were drawn.
    """

    line_: Any
    limits_: Any
    point_: Any
    interval_: Any
    points_: Any
    chosen_: Any
    corrected_: Any


@renders("MultilabelComparison.plot")
def plot_labels(comparison: MultilabelComparison, **options: Any) -> Any:
    """Draw the differences of classifiers; of one alone each label, and hollow their mean."""
    if comparison.differences:
        return ComparisonDisplay(comparison).plot(**options)
    of_labels = [(label, e) for label, own in comparison.by_label.items() for e in own.values()]
    rows = [ForestRow(label, e.value, e.interval) for label, e in of_labels]
    [whole] = comparison.estimates.values()
    rows.append(ForestRow(f"{comparison.average} average", whole.value, whole.interval, False))
    xlabel = f"{comparison.title}, {100 * comparison.level:g} % intervals"
    return IntervalDisplay(rows, xlabel=xlabel).plot(**options)


@renders("PooledSites.plot")
def plot_sites(pooled: PooledSites, **options: Any) -> IntervalDisplay:
    """Draw a forest: the sites, their mean, and hollow where a new site is expected."""
    rows = [ForestRow(name, e.value, e.interval) for name, e in pooled.estimates.items()]
    mean = pooled.mean
    rows += [
        ForestRow("fixed effect", pooled.fixed.value, pooled.fixed.interval, False),
        ForestRow("mean", mean.value, mean.interval),
        ForestRow("a new site", mean.value, pooled.prediction, False),
    ]
    xlabel = f"{pooled.title} ({100 * pooled.level:g} % intervals)"
    return IntervalDisplay(rows, xlabel=xlabel, reference=mean.value).plot(**options)


@renders("CalibrationTests.plot")
def plot_tested(tests: CalibrationTests, **options: Any) -> ReliabilityDisplay:
    """Draw the probabilities that were tested."""
    return ReliabilityDisplay(tests.predictions).plot(**options)


@renders("PooledSites.plot_funnel")
def plot_funnel(pooled: PooledSites, ax: Any = None) -> LineDisplay:
    """Draw standard errors of the sites against their values, around the mean.

    Sites between the lines differ from the mean by no more than chance; a lack of small sites on
    one side points to sites that were left out.
    """
    display = LineDisplay()
    ax = display._draws_on(ax, 6.4, 4.8)
    values, errors = np.array([*pooled.points.values()]).T
    center = float(np.average(values, weights=[*pooled.weights.values()]))
    reach, most = -ndtri((1 - pooled.level) / 2), 1.1 * errors.max()
    ends = (center - reach * most, center, center + reach * most)
    [display.line_] = ax.plot(ends, (most, 0, most), color="0.5", linestyle="--", linewidth=1)
    ax.axvline(center, color="0.5", linewidth=1)
    display.points_ = ax.scatter(values, errors, color=COLORS[0], s=22, zorder=3)
    of = pooled.title if pooled.scale == "value" else f"{pooled.scale} of {pooled.title}"
    ax.set(ylim=(most, 0), xlabel=of, ylabel="Standard error")
    ax.spines[["top", "right"]].set_visible(False)
    return display


@renders("ConfidenceSequence.plot")
def plot_sequence(sequence: ConfidenceSequence, ax: Any = None, **line_kwargs: Any) -> LineDisplay:
    """Draw the value after each look, and the limits that hold at all times."""
    display = LineDisplay()
    axes = display._draws_on(ax)
    rows = [look.n_observations for look in sequence.looks]
    low, high = zip(*(look.interval for look in sequence.looks), strict=True)
    values = [look.value for look in sequence.looks]
    [display.line_] = axes.plot(
        rows, values, **({"color": COLORS[0]} | display._checked(line_kwargs))
    )
    shade: dict[str, Any] = {"color": display.line_.get_color(), "alpha": 0.15, "linewidth": 0}
    display.limits_ = axes.fill_between(rows, low, high, **shade)
    axes.set(xlabel="rows", ylabel=sequence.title)
    return display


@renders("Plan.plot")
def plot_plan(plan: Plan, ax: Any = None, **line_kwargs: Any) -> LineDisplay:
    """Draw power, or half-width, against the number of cases, with the planned number marked."""
    from matplotlib.ticker import LogLocator, NullFormatter

    display = LineDisplay()
    axes = display._draws_on(ax, height=4.8)
    what = "half_width" if plan.difference is None else "power"
    planned = plan.half_width(plan.n) if plan.difference is None else plan.power(plan.n)
    table = plan.curve()
    [display.line_] = axes.plot(
        table.index, table[what], **({"color": COLORS[0]} | display._checked(line_kwargs))
    )
    color = display.line_.get_color()
    band = f"{100 * plan.level:g} % interval, by the pilot"
    shade: dict[str, Any] = {"color": color, "alpha": 0.12, "linewidth": 0, "label": band}
    display.interval_ = axes.axvspan(*plan.n_interval, **shade)
    [display.point_] = axes.plot(plan.n, planned, "o", color=COLORS[1], label=f"{plan.n:,} cases")
    axes.set(xscale="log", xlabel="cases", ylabel=what.replace("_", "-"), title=plan.title)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    draw_legend(axes, "best")
    return display


@renders("ThresholdChoice.plot")
def plot_threshold(choice: ThresholdChoice, ax: Any = None, **options: Any) -> LineDisplay:
    """Draw a criterion at all thresholds, and the one that was chosen.

    The bar across is the interval of the threshold. The bar upwards is that of the value for new
    observations; it is about the value without optimism, which is hollow.
    """
    display = LineDisplay()
    chosen = display._checked(options)
    axes = display._draws_on(ax, height=4.8)
    style = {"color": style_of(0)["color"], "linewidth": 1.5, "label": "in this sample"}
    style |= chosen | {"gid": CURVE_ID}
    (display.line_,) = axes.plot(*choice.curve, **style)
    mark = {"color": style_of(1)["color"], "fmt": "o", "capsize": 3}
    (threshold, across), (value, upwards) = choice.threshold, choice.value
    percent = f"{100 * choice.level:g} % interval"
    shown = np.clip(across, *np.sort(choice.curve[0, [0, -1]]))  # a limit may be infinite
    display.chosen_ = axes.errorbar(
        threshold,
        value,
        xerr=np.abs(shown[:, None] - threshold),
        label=f"chosen, {percent}",
        **mark,
    )
    display.corrected_ = axes.errorbar(
        threshold,
        choice.corrected,
        yerr=np.abs(np.array([upwards]).T - choice.corrected),
        markerfacecolor="none",
        label=f"for new data, {percent}",
        **mark,
    )
    for bar in (display.chosen_, display.corrected_):
        for line in (bar[0], *bar[1]):
            line.set_gid(CURVE_ID)  # the legend leaves it uncovered
    criterion = choice.maximized[0].upper() + choice.maximized[1:]
    criterion = textwrap.fill(legend_text(f"{criterion} of class {choice.label}"), 36)
    axes.set(xlabel=f"Threshold (score {choice.direction})", ylabel=criterion)
    draw_legend(axes, "lower left")
    return display


@renders("Plan.page")
def plan_page(plan: Plan, title: str | None = None) -> str:
    """Return the report of a plan."""
    _, *tables = plan.tables()
    measured = f"difference in {plan.title}" if plan.n_classifiers == 2 else plan.title
    low, high = plan.n_interval
    remarks = ["The plan holds for a classifier and cases like those of the pilot."]
    if high > _WIDE * low:
        remarks.append(
            "The pilot leaves the number wide open: plan for the upper end, or extend the pilot."
        )
    provenance = [
        ("Pilot", f"{plan.n_pilot or 'no'} observations; {measured} {digits(plan.value)}"),
        ("Aim", plan.aim),
        ("Method", "influence variances of the pilot's classes, by the number of cases"),
    ]
    return page(
        plan,
        title,
        f"{plan.title}: {plan.n:,} cases",
        plan_verdict(plan),
        [chart(plan), *map(page_table, tables)],
        provenance,
        remarks,
    )


def plan_verdict(plan: Plan) -> list[str]:
    """Say how many cases are needed, how certain that is, and what would need fewer."""
    low, high = plan.n_interval
    counts = enumerated([f"{count:,} of {label}" for label, count in plan.class_counts.items()])
    sentences = [
        f"The test set needs {plan.n:,} cases ({counts}) for {plan.aim}, judged by {plan.title}.",
        f"It then shows such a difference in {100 * plan.power(plan.n):.0f} % of studies."
        if plan.difference is not None
        else f"The half-width of the interval is then about {digits(plan.half_width(plan.n))}.",
        f"The pilot of {plan.n_pilot:,} observations determines that number only roughly: it is "
        f"between {low:,} and {high:,} ({100 * plan.level:g} % interval)."
        if plan.n_pilot
        else "The number follows from published figures, as if these were exact.",
    ]
    shares = enumerated([f"{100 * s:.0f} % of {k}" for k, s in plan.optimal_prevalence.items()])
    if plan.n_optimal < _FEWER * plan.n:
        sentences.append(
            f"With the shares of the classes that need fewest cases ({shares}), "
            f"{plan.n_optimal:,} are enough."
        )
    elif plan.optimal_prevalence != plan.prevalence:
        sentences.append(f"Other shares of the classes, at best {shares}, hardly need fewer.")
    return sentences
