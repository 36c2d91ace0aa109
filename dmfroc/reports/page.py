"""The reports of predictions: of one classifier, and of several."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from inspect import getdoc
from typing import Any

import numpy as np

from dmfroc._kit.remarks import collected_remarks
from dmfroc._kit.text import class_name, in_percent
from dmfroc.analyses.catalogue import FACTORIES, MEASURES
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evaluation import Evaluation
from dmfroc.analyses.evidence import estimates_of
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.units import Sample
from dmfroc.inputs.predictions import Predictions
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots.forest import difference_rows, rank_rows, value_rows
from dmfroc.reports import figures
from dmfroc.reports.numbers import Numbers, numbers_of
from dmfroc.reports.rendering import page
from dmfroc.reports.shapes import shade, thinned
from dmfroc.reports.tables import page_table
from dmfroc.reports.thresholds import MOST_CLASSES, at_thresholds, place_of, thresholds_table
from dmfroc.reports.verdict import (
    MOST_NAMED,
    against_chance,
    comparison_verdict,
    digits,
    evaluation_verdict,
    footnote,
    hardest,
    interval_text,
    joined,
    value_text,
    watch_out,
    which_is_better,
)
from dmfroc.results.estimate import Estimate, about_draws
from dmfroc.results.result import attributed, renders
from dmfroc.results.table import Column, Table

_SHOWN = ("dmf_auc", "hand_till", "informedness")  # what a report shows besides what was asked for
_MEANINGS = {
    "dmf_auc": "the area under the one curve that all pairs of classes share; 1/2 is "
    "guessing, 1 is perfect. Pairs count by what they show of its shape, so that easy pairs count "
    "more.",
    "hand_till": "how often, of two observations of different classes, the scores put "
    "the right one first, averaged over all pairs, which count alike; 1/2 is guessing, 1 is "
    "perfect.",
    "auc": "how often, of two observations of different classes, the score puts the right one "
    "first; 1/2 is guessing, 1 is perfect.",
    "informedness": "how much better than guessing the decisions are; 0 is guessing, 1 is perfect.",
}
_LONGEST_HEADING = 80
_UNNAMED = "classifier"
_LIMITS = " (limits of the sample and one more, unseen observation)"
_DIGITS = 6
_MOST_ROWS = 200  # of the table of classes; else it has the first few classifiers
_MANY_CLASSES = 30  # of whose pairwise areas three digits must do
_MOST_NUMBERS = 45_000  # of all matrices together; of more, the file would grow too large


def meanings(titles: Mapping[str, str], n_classes: int) -> list[str]:
    """Return what the measures of these titles mean, each once: of two classes the areas are one.

    Others than those of most reports mean what their docstrings say.
    """
    areas_of_two = {"dmf_auc": "auc", "hand_till": "auc"} if n_classes == 2 else {}
    meant: dict[str, dict[str, None]] = {}
    for name, title in titles.items():
        text = _MEANINGS.get(areas_of_two.get(name, name), "")
        if not text:
            text = _meaning(name.split("(")[0])
            default = MEASURES[name].options.items() if name in MEASURES else ()
            own = [f"{k}={x:g}" for k, x in default if type(x) is float and f"{x:g}" not in title]
            title += f" ({', '.join(own)})" * bool(own)
        meant.setdefault(text, {})[title] = None
    return [f"{'; '.join(of)}: {text}" for text, of in meant.items() if text]


def _meaning(name: str) -> str:
    """Return what a measure means by the first line of its docstring; of a user's own nothing."""
    if name not in MEASURES:
        return ""
    measure, maker = MEASURES[name], max(filter(name.startswith, FACTORIES), key=len)
    line = (getdoc(FACTORIES[maker]) or "").split("\n\n")[0].replace("\n", " ").replace("``", "")
    sentence, _, noun = line.partition("Return ")
    notes = [(noun or sentence[0].lower() + sentence[1:]).rstrip(".")]
    notes += [f"{measure.chance:g} is guessing"] * (measure.chance in (0, 0.5, 1))
    notes += ["less is better"] * (not measure.greater_is_better)
    return "; ".join(notes + [f"{measure.target:g} is best"] * math.isfinite(measure.target)) + "."


def measures_of_report(first: str, predictions: Predictions) -> list[str]:
    """Return the measures that a report shows by default, one of them first."""
    return [
        name
        for name in dict.fromkeys([first, *_SHOWN])
        if name == first or MEASURES[name].applies_to(predictions)
    ]


@renders("Evaluation.page")
def evaluation_page(evaluation: Evaluation, name: str = _UNNAMED, title: str | None = None) -> str:
    """Return the report of one classifier."""
    predictions, titles = evaluation.predictions, {e.title: e for e in evaluation.shown}
    area = evaluation.estimates.get(evaluation.area or "", titles.get("AUC"))
    if area is None and predictions.has_scores:
        area = evaluation.area_estimate
    return _page(
        evaluation,
        title,
        f"How well are {_named(predictions.labels)} told apart?",
        verdict=evaluation_verdict(evaluation),
        parts=[page_table(table) for table in evaluation.printed_tables()],
        samples={name: evaluation.sample},
        given=evaluation.as_json(),
        curve_options=evaluation.curve_options,
        areas={name: area},
        measures={e.measure: e.title for e in evaluation.shown},
    )


@renders("Comparison.page")
def comparison_page(comparison: Comparison, title: str | None = None) -> str:
    """Return the report of several classifiers."""
    given = comparison.as_json()
    if comparison.hypothesis.is_two_sided:
        comparison = comparison.best_first()
    samples, names = comparison.samples, list(comparison.estimates)
    provenance = [("Data", line) for line in comparison.head()]
    if len(names) == 1:  # of items or several labels
        verdict = [against_chance(comparison.estimates[names[0]])]
        question, tables = f"{comparison.title} of {names[0]}", map(page_table, comparison.tables())
        return page(comparison, title, question, verdict, tables, provenance, numbers=given)
    question = which_is_better(names, "classifiers")
    if not samples:  # of items or several labels
        parts = _parts(comparison, dict.fromkeys(names, ()))
        verdict = comparison_verdict(comparison)
        return page(comparison, title, question, verdict, parts, provenance, numbers=given)
    beside = {name: _estimates_beside(sample, comparison) for name, sample in samples.items()}
    shared = [x for x in beside[names[0]] if all(x in others for others in beside.values())]
    beside = {name: {x: others[x] for x in shared} for name, others in beside.items()}
    areas = {name: others.get("dmf_auc") for name, others in beside.items()}
    has_area = comparison.curve_options is not None or comparison.title == "AUC"
    return _page(
        comparison,
        title,
        question,
        verdict=comparison_verdict(comparison, beside),
        given=given,
        parts=_parts(comparison, {name: list(x.values()) for name, x in beside.items()}),
        samples=samples,
        curve_options=comparison.curve_options or CurveOptions(),
        areas=comparison.estimates if has_area else areas,
        measures={comparison.measure: comparison.title}
        | {x: e.title for x, e in beside[names[0]].items()},
        seed=comparison.seed if len(names) > 2 else None,  # of two nothing is drawn
        beside=attributed(
            {x: [w for e in own.values() for w in e.warnings] for x, own in beside.items()}
        ),
    )


def _named(labels: Sequence[Hashable]) -> str:
    """Return the names of the classes if they fit into a heading, else their number."""
    named = f"the classes {joined([str(label) for label in labels])}"
    return named if len(named) <= _LONGEST_HEADING else f"{len(labels)} classes"


def _page(
    result: Evaluation | Comparison,
    title: str | None,
    question: str,
    *,
    verdict: list[str],
    parts: list[Any],
    samples: Mapping[str, Sample],
    given: Mapping[str, Any],
    curve_options: CurveOptions,
    areas: Mapping[str, Estimate | None],
    measures: Mapping[str, str],
    seed: int | None = None,
    beside: Sequence[str] = (),
) -> str:
    """Return the page of what was found, with the curves of all classifiers."""
    predictions, level = next(iter(samples.values())).predictions, result.level
    labels = predictions.labels
    best = next(iter(result.best_first().estimates)) if isinstance(result, Comparison) else ""
    with collected_remarks():  # the result has its own
        numbers = {}
        if len(predictions.counted.present) > 1:
            numbers = {name: numbers_of(x, curve_options, level) for name, x in samples.items()}
    provenance = _provenance(samples, list(result.estimates.values()), seed)
    if files := dict.fromkeys(x.predictions.file for x in samples.values() if x.predictions.file):
        provenance.insert(0, ("Files", "; ".join(files)))
    has_curves = bool(numbers) and predictions.has_scores
    if has_curves and (n_band := max(of.n_band_thresholds for of in numbers.values())):
        band = (
            f"{in_percent(level)} at each false positive rate by itself, jackknife at {n_band} "
            "thresholds, interpolated between them"
        )
        provenance.append(("Band of the curve", band))
    has_matrices = 2 * len(labels) ** 2 * len(samples) <= _MOST_NUMBERS
    curves = {name: _curve_as_json(of, has_matrices) for name, of in numbers.items()}
    drawn = {"labels": list(labels), "classifiers": list(curves), "curves": curves}
    hardest_first = figures.by_difficulty(numbers)
    shown = figures.shown_classes(hardest_first) if has_curves else []
    is_tried = has_curves and isinstance(result, Evaluation)
    classes = hardest_first[:MOST_CLASSES] if is_tried else []
    tried = [at_thresholds(of.classes[x], level) for of in numbers.values() for x in classes]
    drawn["thresholds"] = [x.as_json() for x in tried]
    asked: list[Mapping[str, Any]] = []
    if isinstance(result, Evaluation) and not result.notes:  # nobody asks for each of all measures
        asked = [x.options for x in result.measures]
    hard_labels = str(predictions.design.get("hard_labels", ""))
    return page(
        result,
        title,
        question,
        [*verdict, *(hardest(numbers, predictions) if len(samples) == 1 else [])],
        parts,
        provenance,
        watch_out({best: numbers[best]} if len(samples) > 1 and numbers else {}, predictions),
        {**given, **drawn},
        {
            "named": numbers,
            "tabled": dict(list(numbers.items())[: max(_MOST_ROWS // len(labels), 1)]),
            "has_curves": has_curves,
            "is_multiclass": len(labels) > 2,
            "few": MOST_NAMED,
            "has_folds": predictions.folds is not None,
            "labels": labels,
            "counts": list(zip(labels, predictions.class_counts.tolist(), strict=True)),
            "percent": in_percent(level),
            "roc_size": figures.ROC_SIZE,
            "small_size": figures.SMALL_SIZE,
            "roc": figures.roc_lines(
                numbers, {name: _area_text(of, areas[name]) for name, of in numbers.items()}
            ),
            "heat_maps": figures.heat_maps(numbers, labels),
            "scale": [shade(share).background for share in np.linspace(0, 1, 9)],
            "short": figures.short_labels(labels),
            "ticks": figures.ticks(labels),
            "hardest_first": hardest_first,
            "one_vs_rest": figures.one_vs_rest(numbers, shown),
            "confusion": figures.confusion_matrices(numbers),
            "calibration": figures.calibration(numbers, shown, level),
            "decisions": figures.decisions(samples, shown, level),
            "names": list(samples),
            "has_matrices": has_matrices,
            "tried": tried,
            "tried_first": place_of(tried[0], asked, hard_labels) if tried else 0,
            "is_long": len(parts) > 1,
            "tried_table": tried and page_table(thresholds_table(tried, level)),
            "meanings": meanings(measures, len(labels)),
            "is_named": list(samples) != [_UNNAMED],
        },
        beside,
    )


def _parts(comparison: Comparison, beside: Mapping[str, Sequence[Estimate]]) -> list[Any]:
    """Return tables and pictures of the values and of their differences."""
    percent = in_percent(comparison.level)
    classifiers, differences, orders, *of_judge = comparison.tables()
    names, interval = classifiers.columns[0].cells, f"{percent} interval"
    others = [
        Column(of[0].measure, of[0].title, of, "estimate", interval)
        for of in zip(*(beside[name] for name in names), strict=True)
    ]
    with_others = replace(
        classifiers,
        title=f"Classifiers, with {percent} intervals",
        columns=[*classifiers.columns, *others],
        as_printed=None,
    )
    rows, pictures = value_rows(comparison), []
    if len(rows) > 2:
        kind = "simultaneous" if comparison.value_intervals else "separate"
        caption = (
            f"{comparison.title}, best first, with {kind} {percent} intervals; filled: may be the "
            "best, hollow: excluded as the best."
        )
        pictures.append(figures.forest(rows, caption))
        ranks = comparison.ranks()
        tiers = "tiers filled and hollow by turns" if len(ranks.tiers) > 1 else "in one tier"
        caption = f"Ranks, {percent} intervals, all at once; {tiers}."
        pictures.append(figures.forest(rank_rows(ranks), caption))
        of_ranks, *of_tasks = ranks.tables()
        columns = [x for x in of_ranks.columns if x.key != "value"]  # which stand above
        of_judge = [replace(of_ranks, columns=columns), *of_tasks, *of_judge]
    hypothesis, drawn = comparison.hypothesis, comparison.differences
    # Of two classifiers the order is P(A better)
    folded = [page_table(orders, is_folded=len(rows) > MOST_NAMED)] if len(rows) > 2 else []
    if len(rows) > MOST_NAMED and hypothesis.is_two_sided:
        drawn = drawn[: len(rows) - 1]
        rest = _rows(differences, slice(len(drawn), None), "Differences of the others")
        folded.insert(0, page_table(replace(rest, key="others"), is_folded=True))
        title = f"{differences.title}: the best against the others"
        differences = _rows(differences, slice(len(drawn)), title)
    tested = comparison.tested_value
    at = f"{tested:g}".replace("-", "\N{MINUS SIGN}")
    but = ", if its p-value does, too" * bool(comparison.where_rules_differ())
    caption = f"{comparison.scale.capitalize()}s with their {comparison.kind_of_interval}s; " + (
        f"an interval that holds {tested:g} leaves open who is better{but}."
        if hypothesis.is_two_sided
        else f"a limit beyond the line at {at} shows what was tested."
    )
    pictures.append(figures.forest(difference_rows(drawn), caption, reference=tested))
    of_pairs = page_table(differences, note=footnote(comparison))
    tables = [page_table(with_others, has_lines=True), of_pairs]
    parts = [*tables, *pictures, *map(page_table, of_judge), *folded]
    return [part for part in parts if part is not None]


def _rows(table: Table, which: slice, title: str) -> Table:
    columns = [replace(column, cells=tuple(column.cells)[which]) for column in table.columns]
    return replace(table, columns=columns, title=title, as_printed=None)


def _estimates_beside(sample: Sample, comparison: Comparison) -> dict[str, Estimate]:
    """Estimate the measures that nobody asked for, but that every reader wants to see."""
    # Of two classes one area is enough
    left_out = "hand_till" if sample.predictions.n_classes == 2 else ""
    measures = [
        MEASURES[name]
        for name in measures_of_report(_SHOWN[0], sample.predictions)
        if name not in (comparison.measure, left_out)
        # The area under the curve is shown with the weights of the curve or not at all
        and (comparison.curve_options is None or not MEASURES[name].is_dmf_auc)
        and not (left_out and name == "dmf_auc" and comparison.measure in (left_out, "auc"))
    ]
    methods = [Jackknife().at(comparison.level)] * len(measures)
    return {estimate.measure: estimate for estimate in estimates_of(measures, methods, sample)}


def _area_text(numbers: Numbers, area: Estimate | None) -> str:
    if area is None:
        return f"AUC {digits(numbers.curve.auc)}"
    return f"{area.title} {value_text(area)} ({interval_text(area)})"


def _curve_as_json(numbers: Numbers, has_matrices: bool) -> dict[str, Any]:
    curve, band, confusion = numbers.curve, numbers.band, numbers.confusion
    points = thinned(curve.fpr, curve.tpr)
    area_digits = 4 if len(numbers.areas) <= _MANY_CLASSES else 3
    content: dict[str, Any] = {
        "auc": curve.auc,
        "fpr": _rounded(curve.fpr[points]),
        "tpr": _rounded(curve.tpr[points]),
        "band": band and {x: _rounded(getattr(band, x)) for x in ("fpr", "tpr", "low", "high")},
    }
    if has_matrices:
        content["pairwise_areas"] = [_rounded(row, area_digits) for row in numbers.areas]
        content["confusion"] = None if confusion is None else [_rounded(row) for row in confusion]
    content["classes"] = [
        {"label": label, "area": x.area.value, "interval": [*np.round(x.area.interval, 9)]}
        for label, x in numbers.classes.items()
    ]
    return content


def _rounded(values: np.ndarray, digits: int = _DIGITS) -> list[float | int]:
    """Return numbers with few digits; whole ones without a point."""
    return [int(x) if x.is_integer() else x for x in map(float, values.round(digits))]


def _provenance(
    samples: Mapping[str, Sample], estimates: Sequence[Estimate], seed: int | None
) -> list[tuple[str, str]]:
    """Say how the numbers were found."""
    sizes = {name: _size(x.predictions) for name, x in samples.items()}
    size, *others = dict.fromkeys(sizes.values())
    if others:  # unpaired
        size = "; ".join(f"{name} {x}" for name, x in sizes.items())
    methods = ", ".join(dict.fromkeys(e.method for e in estimates))
    seeds = {int(s) for s in (seed, *(e.seed for e in estimates)) if s is not None}
    draws = {e.n_draws for e in estimates if e.n_draws is not None}
    of_draws = about_draws(estimates)
    rows = [
        ("Observations", size),
        (
            "Intervals",
            f"{in_percent(estimates[0].level)}, {methods}{_LIMITS * ('jack' in methods)}"
            f"{of_draws and f' ({of_draws})'}",
        ),
    ]
    if draws:
        rows.append(("Draws", ", ".join(f"{n:,}" for n in sorted(draws))))
    if seeds:
        rows.append(("Seed", ", ".join(map(str, sorted(seeds)))))
    return rows


def _size(predictions: Predictions) -> str:
    """Return the numbers of observations of all and of each class; of many classes the range."""
    sizes = zip(predictions.class_counts.tolist(), predictions.labels, strict=True)
    counts = [(n, f"{n:,} of {class_name(label)}") for n, label in sizes]
    named, whole = [x for _, x in counts], f"{predictions.n_observations:,}"
    if len(named) == 2:
        return f"{whole}, {joined(named)} (positive)"
    if len(named) > MOST_CLASSES:
        return f"{whole}, of {len(named)} classes: from {min(counts)[1]} to {max(counts)[1]}"
    return f"{whole}, of {len(named)} classes: {joined(named)}"
