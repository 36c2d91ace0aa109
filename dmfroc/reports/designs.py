"""The reports of results of designs: subgroups, several training runs, plans, and any other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc.analyses.calibration_tests import CalibrationTests
from dmfroc.analyses.decision_curve import DecisionCurve
from dmfroc.analyses.planning import Plan
from dmfroc.analyses.subgroups import SubgroupComparison
from dmfroc.analyses.training_runs import RunsComparison
from dmfroc.decisions.threshold_choice import ThresholdChoice
from dmfroc.inputs.subgroups import THE_OTHERS
from dmfroc.plots.forest import ForestRow, difference_rows, group_rows
from dmfroc.plots.results import run_rows
from dmfroc.reports import figures
from dmfroc.reports.rendering import page
from dmfroc.reports.tables import page_table
from dmfroc.reports.verdict import (
    against_chance,
    better_first,
    ends_text,
    interval_text,
    joined,
    lead,
    listed,
    number,
    which_is_better,
)
from dmfroc.results.difference import Difference
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import Result, renders
from dmfroc.results.table import Column, Table
from dmfroc.results.text import equals_p_value, in_words

if TYPE_CHECKING:
    from dmfroc.meta_analysis.result import SummaryROC

_FEW_RUNS = 4


@renders("Result.page")
def result_page(result: Result, title: str | None = None) -> str:
    """Return the report of any result: its tables and warnings."""
    parts = map(page_table, result.tables())
    heading = in_words(type(result).__name__)
    return page(result, title, heading, result_verdict(result), parts)


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
            parts.append(figures.forest(rows, f"{caption}intervals; hollow: the mean study."))
    question = f"How accurate is the test in {len(summary.studies.names)} studies?"
    provenance = [("Data", summary.head()[0])]
    verdict = summary_verdict(summary)
    return page(summary, title, question, verdict, [*parts, heterogeneity], provenance)


@renders("SubgroupComparison.page")
def subgroups_page(comparison: SubgroupComparison, title: str | None = None) -> str:
    """Return the report of a classifier in several subgroups."""
    percent = f"{100 * comparison.level:g} %"
    groups, differences = map(page_table, comparison.tables())
    parts = [
        groups,
        figures.forest(
            group_rows(comparison),
            f"{comparison.title} with {percent} intervals; the dashed line is the mean of the "
            "groups by size.",
            reference=comparison.mean,
        ),
        differences,
        figures.forest(
            difference_rows(comparison.differences),
            f"Differences with simultaneous {percent} intervals; one that holds 0 leaves open "
            "which group is better.",
            reference=0.0,
        ),
    ]
    n = sum(comparison.sizes.values())
    omnibus = f"all groups equal: {comparison.omnibus}; Wald, F approximation (Welch)"
    provenance = [
        # The difference of two groups has its p-value, of the same hypothesis
        *([("Test of all groups", omnibus)] if len(comparison.sizes) > 2 else []),
        ("Observations", f"{n:,}, in {len(comparison.sizes)} groups"),
        ("Intervals", f"{percent}, {comparison.method}; of differences simultaneous (max-T)"),
        *([("Seed", str(comparison.seed))] if len(comparison.sizes) > 2 else []),
    ]
    return page(
        comparison,
        title,
        f"Is {comparison.title} the same in {len(comparison.sizes)} groups?",
        subgroups_verdict(comparison),
        parts,
        provenance,
        subgroups_watch_out(comparison),
    )


@renders("RunsComparison.page")
def runs_page(comparison: RunsComparison, title: str | None = None) -> str:
    """Return the report of several training runs of each learner."""
    percent = f"{100 * comparison.level:g} %"
    n_runs = len(next(iter(comparison.values.values())))
    runs, differences, tests = comparison.tables()
    *known, of_runs = runs.columns
    every_run = [
        Column(f"run_{run}", f"run {run}", cells)
        for run, cells in enumerate(zip(*of_runs.cells, strict=True), 1)
    ]
    runs = replace(runs, columns=[*known, *every_run])
    components = comparison.mean_squares | {
        f"error {name.replace('_', ' ')}": value
        for name, value in comparison.covariances._asdict().items()
        if np.isfinite(value)
    }
    sources = Table(
        "components",
        "Mean squares, and variance and covariances of the values' errors",
        [
            Column("source", "source", [x.replace(":", " by ") for x in components], "name"),
            Column("value", "value", components.values(), "error"),
        ],
    )
    parts = [
        page_table(runs),
        page_table(differences),
        figures.forest(
            run_rows(comparison),
            f"Differences with unadjusted {percent} intervals; filled: for new cases and new "
            "runs. An interval that holds 0 leaves open which learner is better.",
            reference=0.0,
        ),
        page_table(tests),
        page_table(sources),
    ]
    design = "crossed" if comparison.crossed else "nested in the learners"
    provenance = [
        ("Observations", f"{comparison.n_observations:,}"),
        ("Design", f"{len(comparison.values)} learners, {n_runs} runs of each, {design}"),
        ("Intervals", f"{percent}, Obuchowski and Rockette, degrees of freedom of Hillis"),
        ("Covariances of the errors", comparison.method.replace("_", " ")),
    ]
    few = [f"{n_runs} runs of each learner tell little of how runs vary."]
    return page(
        comparison,
        title,
        which_is_better(list(comparison.values), "learners"),
        runs_verdict(comparison),
        parts,
        provenance,
        few if n_runs < _FEW_RUNS else [],
    )


@renders("Plan.page")
def plan_page(plan: Plan, title: str | None = None) -> str:
    """Return the report of a plan."""
    _, classes, curve, *targets = plan.tables()
    frame = plan.curve()
    is_power = plan.difference is not None
    what = "power" if is_power else "half-width"
    values = frame[what.replace("-", "_")].to_numpy()
    at_n = plan.power(plan.n) if is_power else plan.half_width(plan.n)
    chart = figures.line_chart(
        frame.index.to_numpy(float),
        values,
        marked=(float(plan.n), at_n),
        around=(float(plan.n_interval[0]), float(plan.n_interval[1])),
        y_range=(0.0, 1.0 if is_power else 1.05 * float(values.max())),
        axes=("cases", what),
        caption=f"{what.capitalize()} against the number of cases. Marked: {plan.n:,} cases; "
        f"shaded: the {100 * plan.level:g} % interval of that number, by what the pilot tells.",
    )
    measured = f"difference in {plan.title}" if plan.n_classifiers == 2 else plan.title
    provenance = [
        ("Pilot", f"{plan.n_pilot or 'no'} observations; {measured} {number(plan.value)}"),
        ("Aim", plan.aim),
        ("Method", "influence variances of the pilot's classes, by the number of cases"),
        *([("Seed of the simulated pilot", str(plan.seed))] if plan.seed is not None else []),
    ]
    return page(
        plan,
        title,
        f"{plan.title}: {plan.n:,} cases",
        plan_verdict(plan),
        [page_table(classes), chart, page_table(curve), *map(page_table, targets)],
        provenance,
        plan_watch_out(plan),
    )


_MOST_DIFFERENCES = 6
_SIGNIFICANT = 0.05
_FEWER = 0.95  # of the cases, to be worth other shares of the classes
_WIDE = 2.0  # ratio of the ends of a number's interval


def result_verdict(result: Result) -> list[str]:
    """Say what a result without a report of its own shows."""
    match result:
        case Estimate():
            return [against_chance(result)]
        case CalibrationTests():
            least = min(result.tests.values(), key=lambda test: test.p_value)
            adjusted = min(len(result.tests) * least.p_value, 1.0)
            claim = "contradict" if adjusted < _SIGNIFICANT else "do not contradict"
            return [
                f"The data {claim} calibrated probabilities: the smallest of {len(result.tests)} "
                f"p-values is that of the test of the {least.title}, {equals_p_value(adjusted)} "
                "after Bonferroni's adjustment."
            ]
        case DecisionCurve():
            ranges = result.better_text()
            return [
                f"The classifier is better than the better baseline at {ranges} "
                f"({100 * result.level:g} %, all at once)."
                if ranges
                else "The data show no threshold at which the classifier beats both baselines."
            ]
        case ThresholdChoice():
            return [
                f"Predict {result.label} at a score of at {result.side} "
                f"{number(result.threshold.value)}. "
                f"For new observations, {result.maximized} is then {number(result.corrected)} "
                f"({100 * result.level:g} % interval {ends_text(result.value.interval)})."
            ]
    return [*result.head(), *result.foot()]


def summary_verdict(summary: SummaryROC) -> list[str]:
    """Say how accurate a test is on average, and in a further study."""
    percent = f"{100 * summary.level:g} %"
    table = summary.tables()[0]
    values = [row[1] for row in table.rows]
    means = joined([f"{e.title} {number(e.value)} ({interval_text(e)})" for e in values])
    sentences = [f"In the mean study: {means}, with {percent} intervals."]
    new = summary.heterogeneity
    expected = [
        f"{name} between {number(new['low'][key])} and {number(new['high'][key])}"
        for name in ("sensitivity", "specificity")
        if (key := f"{name} of a new study") in new.index
    ]
    if expected:
        sentences.append(f"Studies differ: a new one is expected to have {joined(expected)}.")
    return sentences


def subgroups_verdict(groups: SubgroupComparison) -> list[str]:
    """Say whether the groups differ, which ones do, and how large a difference stays possible."""
    percent = f"{100 * groups.level:g} %"
    sign = 1 if groups.greater_is_better else -1
    ordered = sorted(groups.estimates, key=lambda name: sign * groups.estimates[name].value)
    worst, best = (
        f"{name}, {number(e.value, e.standard_error)} ({percent} interval {interval_text(e)})"
        for name in (ordered[0], ordered[-1])
        for e in [groups.estimates[name]]
    )
    n = len(ordered)
    p_value = groups.omnibus.p_value
    ends = f"best in {best}, worst in {worst}"
    if not math.isfinite(p_value):
        sentences = [
            f"{groups.title} is {ends}; whether all {n} groups are equal cannot be tested, because "
            "a group shows no variation."
        ]
    elif p_value < 1 - groups.level:
        sentences = [
            f"{groups.title} differs between the {n} groups: it is {ends} "
            f"({equals_p_value(p_value)})."
        ]
    else:
        sentences = [
            f"The data do not show that {groups.title} differs between the {n} groups "
            f"({equals_p_value(p_value)}): it is {ends}."
        ]
    decided = [d for d in groups.differences if d.adjusted_p_value < 1 - groups.level]
    decided.sort(key=lambda d: d.adjusted_p_value)
    sentences += [_group_sentence(groups, d) for d in decided[:_MOST_DIFFERENCES]]
    if (more := len(decided) - _MOST_DIFFERENCES) > 0:
        sentences.append(f"{more} more differences are decided, see the table.")
    undecided = [d for d in groups.differences if d not in decided]
    if undecided:
        largest = max(undecided, key=lambda d: max(map(abs, d.interval)))
        which = "Of the other differences" if decided else "This does not show that they are equal"
        sentences.append(
            f"{which}: a difference of up to {number(max(map(abs, largest.interval)))}, between "
            f"{largest.first} and {largest.second}, is not excluded."
        )
    if len(groups.differences) > 1:
        sentences.append(
            f"Intervals and p-values are adjusted for all {len(groups.differences)} differences: "
            f"with probability {groups.level:g} all intervals of differences hold at once."
        )
    return sentences


def _group_sentence(groups: SubgroupComparison, d: Difference) -> str:
    is_better = (d.value > 0) == groups.greater_is_better
    if not is_better and d.second != THE_OTHERS:
        d, is_better = d.turned_around(), True
    return (
        f"{groups.title} is {'better' if is_better else 'worse'} in {d.first} than in {d.second}: "
        f"difference {number(d.value, d.standard_error)} (simultaneous {100 * groups.level:g} % "
        f"interval {interval_text(d)})."
    )


def subgroups_watch_out(groups: SubgroupComparison) -> list[str]:
    """Say what is not known, and what a difference does not say."""
    remarks = [f"Left out: {name}, {reason}." for name, reason in groups.left_out.items()]
    return [
        *remarks,
        "A difference between groups does not say why: some may have harder cases than others.",
    ]


def runs_verdict(runs: RunsComparison) -> list[str]:
    """Say which learner is better, and for which cases and runs that holds."""
    test, percent = runs.random_runs, f"{100 * runs.level:g} %"
    significance = 1 - runs.level
    sign = 1 if runs.greater_is_better else -1
    means = {name: float(values.mean()) for name, values in runs.values.items()}
    best_first = sorted(means, key=lambda name: sign * means[name], reverse=True)
    decided = {d for d in test.differences if d.adjusted_p_value < significance}
    turned = {better_first(d): d in decided for d in test.differences}
    n_runs = len(next(iter(runs.values.values())))
    sentence, _ = lead(
        f"mean {runs.title} of {n_runs} runs",
        {name: number(means[name]) for name in best_first},
        {(d.first, d.second) for d, is_decided in turned.items() if is_decided},
    )
    sentences = [sentence, "This holds for new cases and new training runs."] + [
        f"{d.first} {'is better than' if is_decided else 'may be no better than'} {d.second}: "
        f"difference {number(d.value, d.standard_error)} ({percent} interval {interval_text(d)})."
        for d, is_decided in turned.items()
    ]
    if (more := len(sentences) - _MOST_DIFFERENCES) > 0:
        sentences = [*sentences[:_MOST_DIFFERENCES], f"{more} more differences: see the table."]
    only_models = [
        f"{better.first} than {better.second}"
        for d, whole in zip(runs.fixed_runs.differences, test.differences, strict=True)
        for better in [better_first(d)]
        if d.adjusted_p_value < significance and whole not in decided
    ]
    if only_models:
        sentences.append(
            "For new cases and these trained models only, on average, better are: "
            f"{listed(only_models)}. Other training runs may reverse that."
        )
    if len(test.differences) > 1:
        sentences.append(
            f"P-values are Holm-adjusted for {len(test.differences)} comparisons; intervals are "
            "not adjusted."
        )
    return sentences


def plan_verdict(plan: Plan) -> list[str]:
    """Say how many cases are needed, how certain that is, and what would need fewer."""
    low, high = plan.n_interval
    counts = listed([f"{count:,} of class {label}" for label, count in plan.class_counts.items()])
    sentences = [
        f"The test set needs {plan.n:,} cases ({counts}) for {plan.aim}, judged by {plan.title}.",
        f"It then shows such a difference in {100 * plan.power(plan.n):.0f} % of studies."
        if plan.difference is not None
        else f"The half-width of the interval is then about {number(plan.half_width(plan.n))}.",
        f"The pilot of {plan.n_pilot:,} observations determines that number only roughly: it is "
        f"between {low:,} and {high:,} ({100 * plan.level:g} % interval)."
        if plan.n_pilot
        else "The number follows from published figures, as if these were exact.",
    ]
    shares = listed([f"{100 * s:.0f} % of class {k}" for k, s in plan.optimal_prevalence.items()])
    if plan.n_optimal < _FEWER * plan.n:
        sentences.append(
            f"With the shares of the classes that need fewest cases ({shares}), "
            f"{plan.n_optimal:,} are enough."
        )
    else:
        sentences.append(f"Other shares of the classes, at best {shares}, hardly need fewer.")
    return sentences


def plan_watch_out(plan: Plan) -> list[str]:
    """Say where the plan rests on little."""
    low, high = plan.n_interval
    remarks = ["The plan holds for a classifier and cases like those of the pilot."]
    if high > _WIDE * low:
        remarks.append(
            "The pilot leaves the number wide open: plan for the upper end, or extend the pilot."
        )
    return remarks
