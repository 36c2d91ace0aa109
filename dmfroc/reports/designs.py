"""The reports of results of designs: subgroups, several training runs, plans, and any other."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc.analyses.planning import Plan
from dmfroc.analyses.subgroups import SubgroupComparison
from dmfroc.analyses.training_runs import RunsComparison
from dmfroc.plots.forest import ForestRow, difference_rows, group_rows
from dmfroc.plots.results import run_rows
from dmfroc.reports import figures
from dmfroc.reports.design_verdicts import (
    plan_verdict,
    plan_watch_out,
    result_verdict,
    runs_verdict,
    subgroups_verdict,
    subgroups_watch_out,
    summary_verdict,
)
from dmfroc.reports.rendering import page, versions
from dmfroc.reports.tables import page_table
from dmfroc.reports.verdict import number, which_is_better
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table

if TYPE_CHECKING:
    from dmfroc.meta_analysis.result import SummaryROC

_FEW_RUNS = 4


def result_page(result: Result, title: str | None = None) -> str:
    """Return the report of any result: its tables and warnings."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(result).__name__).capitalize()
    parts = map(page_table, result.tables())
    return page(result, title, words, result_verdict(result), parts, versions())


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
    provenance = [("Data", summary.head()[0]), *versions()]
    verdict = summary_verdict(summary)
    return page(summary, title, question, verdict, [*parts, heterogeneity], provenance)


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
        ("Seed", str(comparison.seed)),
    ]
    return page(
        comparison,
        title,
        f"Is {comparison.title} the same in {len(comparison.sizes)} groups?",
        subgroups_verdict(comparison),
        parts,
        [*provenance, *versions()],
        subgroups_watch_out(comparison),
    )


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
        [*provenance, *versions()],
        few if n_runs < _FEW_RUNS else [],
    )


def plan_page(plan: Plan, title: str | None = None) -> str:
    """Return the report of a plan."""
    classes, curve = plan.tables()
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
        ("Pilot", f"{plan.n_pilot:,} observations; {measured} {number(plan.value)}"),
        ("Aim", plan.aim),
        ("Method", "influence variances of the pilot's classes, by the number of cases"),
        *([("Seed of the simulated pilot", str(plan.seed))] if plan.seed is not None else []),
    ]
    return page(
        plan,
        title,
        f"{plan.title}: {plan.n:,} cases",
        plan_verdict(plan),
        [page_table(classes), chart, page_table(curve)],
        [*provenance, *versions()],
        plan_watch_out(plan),
    )
