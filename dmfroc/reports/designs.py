"""The reports of results of designs: subgroups, several training runs, and plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc.plots.forest import ForestRow, difference_rows, group_rows
from dmfroc.reports import figures
from dmfroc.reports.design_verdicts import (
    plan_verdict,
    plan_watch_out,
    runs_verdict,
    subgroups_verdict,
    subgroups_watch_out,
)
from dmfroc.reports.rendering import page, versions
from dmfroc.reports.tables import (
    A_MINUS_B,
    Cell,
    Column,
    Table,
    differences_table,
    interval_column,
    number_cell,
    p_cell,
    probability_cell,
    words,
)
from dmfroc.reports.verdict import interval_text, number
from dmfroc.results.as_json import plan_as_json, runs_as_json, subgroups_as_json

if TYPE_CHECKING:
    from dmfroc.analyses.planning import Plan
    from dmfroc.analyses.subgroups import SubgroupComparison
    from dmfroc.analyses.training_runs import RunsComparison

_INFERENCES = {
    "random_runs": "new cases, new runs",
    "fixed_runs": "new cases, these runs",
    "fixed_cases": "these cases, new runs",
}
_FEW_RUNS = 4


def subgroups_page(found: SubgroupComparison) -> str:
    """Return the report of a classifier in several subgroups."""
    percent = f"{100 * found.level:g} %"
    groups = Table(
        "Groups",
        f"{found.title} in each group, each with its own {percent} interval",
        [words("Group"), Column("n"), Column(found.title), interval_column(percent)],
        [
            [
                Cell(name),
                Cell(f"{found.sizes[name]:,}", found.sizes[name]),
                number_cell(e.value, e.standard_error),
                Cell(interval_text(e)),
            ]
            for name, e in found.estimates.items()
        ],
    )
    differences = differences_table(
        found.differences,
        f"Differences in {found.title}, A minus B; all intervals hold at once",
        f"simultaneous {percent} interval",
        simultaneous=True,
        with_probabilities=False,
    )
    omnibus = found.omnibus
    test = _tests_table(
        "Test that all groups are equal",
        [("all groups equal", omnibus.statistic, omnibus.degrees_of_freedom, omnibus.p_value)],
    )
    left_out = [
        Table(
            "Left out",
            "Groups that were left out",
            [words("Group"), words("Reason")],
            [[Cell(name), Cell(reason)] for name, reason in found.left_out.items()],
        )
    ] * bool(found.left_out)
    parts = [
        groups,
        figures.forest(
            group_rows(found),
            f"{found.title} with {percent} intervals; the dashed line is the mean of the groups by "
            "size.",
            reference=found.mean,
        ),
        differences,
        figures.forest(
            difference_rows(found.differences),
            f"Differences with simultaneous {percent} intervals; one that holds 0 leaves open "
            "which group is better.",
            reference=0.0,
        ),
        test,
        *left_out,
    ]
    n = sum(found.sizes.values())
    provenance = [
        ("Observations", f"{n:,}, in {len(found.sizes)} groups"),
        ("Intervals", f"{percent}, {found.method}; of differences simultaneous (max-T)"),
        ("Test of all groups", "Wald, F approximation (Welch)"),
        ("Seed", str(found.seed)),
    ]
    return _page(
        f"{found.title} in {len(found.sizes)} groups",
        subgroups_verdict(found),
        subgroups_watch_out(found),
        parts,
        provenance,
        found.warnings,
        subgroups_as_json(found),
    )


def runs_page(found: RunsComparison) -> str:
    """Return the report of several training runs of each learner."""
    percent = f"{100 * found.level:g} %"
    n_runs = len(next(iter(found.values.values())))
    runs = Table(
        "Runs",
        f"{found.title} in {n_runs} runs of each learner",
        [
            words("Learner"),
            Column("Mean"),
            Column("SD of runs"),
            *(Column(f"Run {run + 1}") for run in range(n_runs)),
        ],
        [
            [
                Cell(name),
                number_cell(float(values.mean())),
                number_cell(float(values.std(ddof=1)), float(values.std(ddof=1))),
                *(number_cell(value) for value in values.tolist()),
            ]
            for name, values in found.values.items()
        ],
    )
    tests = {what: getattr(found, inference) for inference, what in _INFERENCES.items()}
    differences = Table(
        "Differences",
        f"Differences of the means of {found.title}, A minus B, and what they hold for",
        [
            words("A"),
            words("B"),
            words("Holds for"),
            Column(A_MINUS_B),
            interval_column(percent),
            Column("df"),
            Column("p-value"),
        ],
        [
            [
                Cell(d.first),
                Cell(d.second),
                Cell(what),
                number_cell(d.value, d.standard_error),
                Cell(interval_text(d)),
                Cell(*_degrees(d.degrees_of_freedom)),
                p_cell(d.p_value),
            ]
            for what, test in tests.items()
            for d in test.differences
        ],
    )
    rows = [
        ForestRow(f"{row.name}: {what}", row.value, row.interval, is_filled=not place)
        for pair in zip(*(difference_rows(t.differences) for t in tests.values()), strict=True)
        for place, (what, row) in enumerate(zip(tests, pair, strict=True))
    ]
    components = found.mean_squares | {
        f"error {name.replace('_', ' ')}": value
        for name, value in found.covariances._asdict().items()
        if np.isfinite(value)
    }
    parts = [
        runs,
        differences,
        figures.forest(
            rows,
            f"Differences with {percent} intervals, each for itself; filled: for new cases and new "
            "runs. An interval that holds 0 leaves open which learner is better.",
            reference=0.0,
        ),
        _tests_table(
            "Tests that all learners are equal",
            [(what, t.statistic, t.degrees_of_freedom, t.p_value) for what, t in tests.items()],
        ),
        Table(
            "Components",
            "Mean squares, and variance and covariances of the values' errors",
            [words("Source"), Column("Value")],
            [
                [
                    Cell(name.replace(":", " by ")),
                    Cell(f"{value:.3g}".replace("-", "\N{MINUS SIGN}"), value),
                ]
                for name, value in components.items()
            ],
        ),
    ]
    design = "crossed" if found.crossed else "nested in the learners"
    provenance = [
        ("Observations", f"{found.n_observations:,}"),
        ("Design", f"{len(found.values)} learners, {n_runs} runs of each, {design}"),
        ("Intervals", f"{percent}, Obuchowski and Rockette, degrees of freedom of Hillis"),
        ("Covariances of the errors", found.method.replace("_", " ")),
    ]
    few = [f"{n_runs} runs of each learner tell little of how runs vary."]
    return _page(
        " / ".join(found.values),
        runs_verdict(found),
        few if n_runs < _FEW_RUNS else [],
        parts,
        provenance,
        found.warnings,
        runs_as_json(found),
    )


def plan_page(found: Plan) -> str:
    """Return the report of a plan."""
    curve = found.to_pandas().reset_index().to_dict("list")
    rows = [dict(zip(curve, row, strict=True)) for row in zip(*curve.values(), strict=True)]
    is_power = found.difference is not None
    what = "power" if is_power else "half-width"
    values = np.array(curve["power" if is_power else "half_width"])
    at_n = found.power(found.n) if is_power else found.half_width(found.n)
    classes = Table(
        "Classes",
        "Cases of each class, and the shares with which fewest cases are needed",
        [words("Class"), Column("Cases"), Column("Share"), Column("Best share")],
        [
            [
                Cell(str(label)),
                Cell(f"{count:,}", count),
                *(
                    Cell(f"{100 * shares[label]:.1f} %", shares[label])
                    for shares in (found.prevalence, found.optimal_prevalence)
                ),
            ]
            for label, count in found.class_counts.items()
        ],
    )
    chart = figures.line_chart(
        np.array(curve["n"], float),
        values,
        marked=(float(found.n), at_n),
        around=(float(found.n_interval[0]), float(found.n_interval[1])),
        y_range=(0.0, 1.0 if is_power else 1.05 * float(values.max())),
        axes=("cases", what),
        caption=f"{what.capitalize()} against the number of cases. Marked: {found.n:,} cases; "
        f"shaded: the {100 * found.level:g} % interval of that number, by what the pilot tells.",
    )
    numbers = Table(
        "Curve",
        "What other numbers of cases would give",
        [
            words("Cases"),
            Column("Std. error"),
            Column(f"Half-width of the {100 * found.level:g} % interval"),
            *[Column("Power")] * is_power,
        ],
        [
            [
                Cell(f"{row['n']:,}", row["n"]),
                number_cell(row["standard_error"], row["standard_error"]),
                number_cell(row["half_width"], row["half_width"]),
                *([probability_cell(row["power"])] if is_power else []),
            ]
            for row in rows
        ],
    )
    measured = f"difference in {found.title}" if found.n_classifiers == 2 else found.title
    provenance = [
        ("Pilot", f"{found.n_pilot:,} observations; {measured} {number(found.value)}"),
        ("Aim", found.aim),
        ("Method", "influence variances of the pilot's classes, by the number of cases"),
        *([("Seed of the simulated pilot", str(found.seed))] if found.seed is not None else []),
    ]
    return _page(
        f"{found.title}: {found.n:,} cases",
        plan_verdict(found),
        plan_watch_out(found),
        [classes, chart, numbers],
        provenance,
        found.warnings,
        plan_as_json(found) | {"curve": rows},
    )


def _tests_table(
    caption: str, tests: Sequence[tuple[str, float, tuple[float, float], float]]
) -> Table:
    columns = [words("Hypothesis"), Column("F"), Column("df"), Column("df of error")]
    rows = [
        [
            Cell(name),
            number_cell(statistic),
            *(Cell(*_degrees(df)) for df in freedom),
            p_cell(p_value),
        ]
        for name, statistic, freedom, p_value in tests
    ]
    return Table("Tests", caption, [*columns, Column("p-value")], rows)


def _degrees(freedom: float) -> tuple[str, float | None]:
    if np.isfinite(freedom):
        return (f"{freedom:g}" if freedom == round(freedom) else f"{freedom:.1f}"), freedom
    return "\N{INFINITY}", None


def _page(
    title: str,
    verdict: list[str],
    watch_out: list[str],
    parts: Sequence[Any],
    provenance: list[tuple[str, str]],
    remarks: Sequence[str],
    result: dict[str, Any],
) -> str:
    context = {
        "title": title,
        "verdict": verdict,
        "watch_out": watch_out,
        "parts": [part for part in parts if part is not None],
        "provenance": [*provenance, versions()],
        "sections": [],
        "of_predictions": False,
    }
    return page(context, remarks, result)
