"""The reports of results of designs: subgroups, several training runs, plans, and any other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dmfroc._kit.text import in_percent
from dmfroc.analyses.catalogue import MEASURES
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evaluation import Evaluation
from dmfroc.analyses.horizons import HorizonCurves
from dmfroc.analyses.subgroups import SubgroupComparison
from dmfroc.analyses.training_runs import RunsComparison
from dmfroc.inputs.subgroups import THE_OTHERS
from dmfroc.plots.forest import ForestRow, difference_rows, group_rows
from dmfroc.plots.results import run_rows
from dmfroc.reports import figures
from dmfroc.reports.page import meanings
from dmfroc.reports.rendering import chart, page
from dmfroc.reports.tables import as_sentence, page_table
from dmfroc.reports.verdict import (
    adjusted_for,
    against_chance,
    comparison_verdict,
    digits,
    enumerated,
    evaluation_verdict,
    interval_text,
    joined,
    lead,
    p_text,
    value_text,
    which_is_better,
    with_interval,
)
from dmfroc.results.difference import Difference
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import Result, ResultsByName, renders
from dmfroc.results.table import Column, Table

_COUNTS = {
    "n_observations": "Observations",
    "n_samples": "Samples",
    "n_draws": "Draws",
    "seed": "Seed",
}
_FEW_RUNS = 4
_MANY_ROWS = 30  # of a table beside a chart
_DIFFERENCES = "Differences"


@renders("Result.page")
def result_page(result: Result, title: str | None = None) -> str:
    """Return the report of any result: its chart, if it has one, its tables and warnings."""
    parts, drawn = [page_table(table) for table in result.tables()], chart(result)
    if drawn:
        folded = [x | {"is_folded": len(x["rows"]) > _MANY_ROWS} for x in parts]
        parts = [drawn, *folded]
    known, question, meant = result.attributes(), result.question_text(), {}
    if isinstance(result, ResultsByName):
        first = next(iter(result.values()))
        known = {**first.attributes(), **known}
        if isinstance(first, Comparison) and first.differences:
            question = which_is_better(list(first.estimates), "classifiers")
            n_classes = max((x.n_classes for x in first.predictions.values()), default=0)
            meant = {
                "meanings": meanings({str(x): one.title for x, one in result.items()}, n_classes)
            }
            known = {x: y for x, y in known.items() if x not in ("n_draws", "seed")}
    provenance = [
        (x, f"{known[key]:,}") for key, x in _COUNTS.items() if isinstance(known.get(key), int)
    ]
    if isinstance(known.get("level"), float):
        provenance.append(("Intervals", in_percent(known["level"])))
    verdict = result_verdict(result)
    return page(result, title, question, verdict, parts, provenance, drawn=meant)


@renders("SubgroupComparison.page")
def subgroups_page(comparison: SubgroupComparison, title: str | None = None) -> str:
    """Return the report of a classifier in several subgroups."""
    percent = in_percent(comparison.level)
    shown = replace(comparison, differences=tuple(map(_better_group_first, comparison.differences)))
    groups, differences = map(page_table, shown.tables())
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
            difference_rows(shown.differences),
            f"Differences with simultaneous {percent} intervals; one that holds 0 leaves open "
            "which group is better.",
            reference=0.0,
        ),
    ]
    n, n_groups = sum(comparison.sizes.values()), len(comparison.sizes)
    omnibus = f"all groups equal: {comparison.omnibus}; Wald, F approximation (Welch)"
    provenance = [
        # The difference of two groups has its p-value, of the same hypothesis
        *([("Test of all groups", omnibus)] if n_groups > 2 else []),
        ("Observations", f"{n:,}, in {n_groups} groups"),
        ("Intervals", f"{percent}, {comparison.method}; of differences simultaneous (max-T)"),
        *([("Seed", str(comparison.seed))] if n_groups > 2 else []),
    ]
    return page(
        comparison,
        title,
        f"Is {comparison.title} the same in {n_groups} groups?",
        subgroups_verdict(comparison),
        parts,
        provenance,
        [
            *(f"Left out: {name}, {reason}." for name, reason in comparison.left_out.items()),
            "A difference between groups does not say why: some may have harder cases than others.",
        ],
    )


def _better_group_first(d: Difference) -> Difference:
    return d if d.second == THE_OTHERS else d.better_first()


@renders("RunsComparison.page")
def runs_page(comparison: RunsComparison, title: str | None = None) -> str:
    """Return the report of several training runs of each learner."""
    percent = in_percent(comparison.level)
    n_runs = len(next(iter(comparison.values.values())))
    shown = _runs_better_first(comparison)
    runs, differences, tests = shown.tables()
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
            run_rows(shown),
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


def _runs_better_first(comparison: RunsComparison) -> RunsComparison:
    tests = {
        name: replace(test, differences=tuple(d.better_first() for d in test.differences))
        for name in ("random_runs", "fixed_runs", "fixed_cases")
        for test in [getattr(comparison, name)]
    }
    return replace(comparison, **tests)


@renders("HorizonCurves.page")
def horizons_page(curves: HorizonCurves, title: str | None = None) -> str:
    """Return the report of values at several horizons."""
    given, curves = curves.as_json(), _horizons_better_first(curves.shown)
    percent, (first, *_, last) = in_percent(curves.level), curves.horizons
    at_each, means = map(page_table, curves.tables())
    rows: dict[str, list[ForestRow]] = {}
    for name, points in curves.points.items():
        for t, x in zip(curves.horizons, points, strict=True):
            row = ForestRow(f"{curves.titles[name]}, at {t:g}", x.value, x.interval)
            rows.setdefault(getattr(x, "title", _DIFFERENCES), []).append(row)
    caption = f"at each horizon, with separate {percent} intervals"
    charts = [
        figures.forest(own, f"{of} {caption}.", reference=0.0 if of == _DIFFERENCES else None)
        for of, own in rows.items()
    ]
    provenance = [
        ("Means over time", f"of the values from {first:g} to {last:g}, straight between horizons"),
        ("Simultaneous intervals", "hold at all horizons at once, those of differences for all"),
    ]
    question = (
        f"{joined([x for x in rows if x != _DIFFERENCES])} at horizons from {first:g} to {last:g}"
    )
    parts = [*charts, at_each, means]
    verdict = horizons_verdict(curves)
    return page(curves, title, question, verdict, parts, provenance, numbers=given)


def _horizons_better_first(curves: HorizonCurves) -> HorizonCurves:
    """Return the best classifier first, and differences with the better one first."""
    points, bands, means = {}, {}, {}
    turned = [x.better_first() for x in curves.means.values() if isinstance(x, Difference)]
    better = [x.first for x in turned]
    for name in sorted(curves.points, key=better.count, reverse=True):
        own, band = curves.points[name], curves.simultaneous[name]
        mean, key = curves.means[name], name
        if isinstance(mean, Difference) and mean not in turned:
            own = tuple(x.turned_around() for x in own if not isinstance(x, Estimate))
            key, mean = f"{mean.second} - {mean.first}", mean.turned_around()
            band = -band[:, ::-1]
        points[key], bands[key], means[key] = own, band, mean
    return replace(curves, points=points, simultaneous=bands, means=means)


_MOST_DIFFERENCES = 6


def result_verdict(result: Result) -> list[str]:
    """Say what a result without a report of its own shows."""
    match result:
        case Estimate():
            return [against_chance(result)]
        case Evaluation():
            return evaluation_verdict(result)
        case Comparison():
            return comparison_verdict(result)
        case SubgroupComparison():
            return subgroups_verdict(result)
        case ResultsByName():
            of_each = {name: result_verdict(one) for name, one in result.shown.items()}
            of = "" if result.of == "measure" else "{}: "  # sentences name the measure
            first = [of.format(name) + x for name, found in of_each.items() for x in found[:1]]
            return [*first, *result.head()]
    return [as_sentence(x) for x in result.verdict_text()]


def horizons_verdict(curves: HorizonCurves) -> list[str]:
    """Say how good values are over time, and who is better on average."""
    first, *_, last = curves.horizons
    values, differences = [], []
    interval = f"{in_percent(curves.level)} interval"
    measure = next(x.measure for x in curves.means.values() if isinstance(x, Estimate))
    less = measure in MEASURES and not MEASURES[measure].greater_is_better
    for name, (start, *_, end) in curves.points.items():
        mean = curves.means[name]
        if isinstance(mean, Estimate):
            of = curves.titles[name] if mean.measure == name else f"{mean.title} of {name}"
            values.append(
                f"{of} is {value_text(mean)} on average from {first:g} to {last:g} "
                f"({interval} {interval_text(mean)}): {digits(start.value)} at {first:g}, "
                f"{digits(end.value)} at {last:g}."
            )
            continue
        pair = mean.better_first()
        claim = f"{pair.first} is better than {pair.second}"
        if mean.p_value >= 1 - curves.level:
            claim = f"The data do not show whether {pair.first} or {pair.second} is better"
        differences.append(
            f"{claim}, on average from {first:g} to {last:g}: difference "
            f"{with_interval(pair, interval)}{', less is better' * less}."
        )
    return differences[:_MOST_DIFFERENCES] + values


def subgroups_verdict(groups: SubgroupComparison) -> list[str]:
    """Say whether the groups differ, which ones do, and how large a difference stays possible."""
    interval = f"{in_percent(groups.level)} interval"
    sign = 1 if groups.greater_is_better else -1
    ordered = sorted(groups.estimates, key=lambda name: sign * groups.estimates[name].value)
    worst, best = (
        f"{name}, {with_interval(groups.estimates[name], interval)}"
        for name in (ordered[0], ordered[-1])
    )
    n = len(ordered)
    p_value = groups.omnibus.p_value
    ends = f"best in {best}, worst in {worst}"
    if not math.isfinite(p_value):
        sentences = [
            f"{groups.title} is {ends}; whether all {n} groups are equal cannot be tested, because "
            "a group shows no variation."
        ]
    else:
        doubt = "The data do not show that " * (p_value >= 1 - groups.level)
        sentences = [
            f"{doubt}{groups.title} differs between the {n} groups: it is {ends} "
            f"({p_text(p_value)})."
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
            f"{which}: a difference of up to {digits(max(map(abs, largest.interval)))}, between "
            f"{largest.first} and {largest.second}, is not excluded."
        )
    if len(groups.differences) > 1:
        sentences.append(adjusted_for(len(groups.differences), groups.level))
    return sentences


def _group_sentence(groups: SubgroupComparison, d: Difference) -> str:
    d = _better_group_first(d)
    is_better = (d.value > 0) == groups.greater_is_better
    return (
        f"{groups.title} is {'better' if is_better else 'worse'} in {d.first} than in {d.second}: "
        f"difference {with_interval(d, f'simultaneous {in_percent(groups.level)} interval')}."
    )


def runs_verdict(runs: RunsComparison) -> list[str]:
    """Say which learner is better, and for which cases and runs that holds."""
    test, interval = runs.random_runs, f"{in_percent(runs.level)} interval"
    significance = 1 - runs.level
    sign = 1 if runs.greater_is_better else -1
    means = {name: float(values.mean()) for name, values in runs.values.items()}
    best_first = sorted(means, key=lambda name: sign * means[name], reverse=True)
    decided = {d for d in test.differences if d.adjusted_p_value < significance}
    turned = {d.better_first(): d in decided for d in test.differences}
    n_runs = len(next(iter(runs.values.values())))
    sentence, _ = lead(
        f"mean {runs.title} of {n_runs} runs",
        {name: digits(means[name]) for name in best_first},
        {(d.first, d.second) for d, is_decided in turned.items() if is_decided},
    )
    sentences = [sentence, "This holds for new cases and new training runs."] + [
        f"{d.first} {'is better than' if is_decided else 'may be no better than'} {d.second}: "
        f"difference {with_interval(d, interval)}."
        for d, is_decided in turned.items()
    ]
    if (more := len(sentences) - _MOST_DIFFERENCES) > 0:
        sentences = [*sentences[:_MOST_DIFFERENCES], f"{more} more differences: see the table."]
    only_models = [
        f"{better.first} than {better.second}"
        for d, whole in zip(runs.fixed_runs.differences, test.differences, strict=True)
        for better in [d.better_first()]
        if d.adjusted_p_value < significance and whole not in decided
    ]
    if only_models:
        sentences.append(
            "For new cases and these trained models only, on average, better are: "
            f"{enumerated(only_models)}. Other training runs may reverse that."
        )
    if len(test.differences) > 1:
        sentences.append(adjusted_for(len(test.differences)))
    return sentences
