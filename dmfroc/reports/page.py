"""The reports of predictions: of one classifier, and of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc._kit.remarks import collected_remarks
from dmfroc.analyses.catalogue import MEASURES
from dmfroc.analyses.estimation import estimates_of
from dmfroc.counted.counts import CountedPredictions
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.units import Sample
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import caveats
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots.forest import difference_rows, value_rows
from dmfroc.reports import figures
from dmfroc.reports.numbers import Numbers, numbers_of
from dmfroc.reports.rendering import page, versions
from dmfroc.reports.shapes import shade, thinned
from dmfroc.reports.tables import page_table
from dmfroc.reports.verdict import (
    comparison_verdict,
    evaluation_verdict,
    interval_text,
    number,
    watch_out,
)
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import sample_facts
from dmfroc.results.table import Column

if TYPE_CHECKING:
    from dmfroc.analyses.comparison_result import Comparison
    from dmfroc.analyses.evaluation import Evaluation

_SHOWN = ("dmf_auc", "hand_till", "informedness")  # what a report shows besides what was asked for
_MEANINGS = {
    "dmf_auc": "DMF-AUC: the area under the one curve that all pairs of classes share; 1/2 is "
    "guessing, 1 is perfect.",
    "hand_till": "Hand-Till M: how often, of two observations of different classes, the scores put "
    "the right one first, averaged over all pairs; 1/2 is guessing, 1 is perfect.",
    "informedness": "Informedness: how much the class of the largest score tells of the observed "
    "class; 0 is guessing, 1 is perfect.",
}
_DIGITS = 6
_MOST_IN_TITLE = 4  # classifiers
_MANY_CLASSES = 30  # of whose pairwise areas three digits must do
_MOST_NUMBERS = 45_000  # of all matrices together; of more, the file would grow too large


def measures_of_report(first: str, predictions: Predictions) -> list[str]:
    """Return the measures that a report shows by default, one of them first."""
    return [
        name
        for name in dict.fromkeys([first, *_SHOWN])
        if name == first or MEASURES[name].applies_to(predictions)
    ]


def evaluation_page(evaluation: Evaluation, name: str = "classifier") -> str:
    """Return the report of one classifier."""
    named = {name: evaluation.sample}
    first = next(iter(evaluation.estimates.values()))
    areas = {name: None if evaluation.area is None else evaluation.estimates[evaluation.area]}
    context = _context(named, evaluation.curve_options, first.level, areas)
    estimates = evaluation.estimates.values()
    context |= {
        "title": f"{first.title} {number(first.value, first.standard_error)}",
        "verdict": evaluation_verdict(evaluation),
        "meanings": _meanings(e.measure for e in evaluation.shown),
        "parts": [page_table(table) for table in evaluation.tables()],
        "provenance": _provenance(evaluation.sample, estimates, evaluation.curve_options)
        + context["band_provenance"],
    }
    known = [MEASURES[measure] for measure in evaluation.estimates if measure in MEASURES]
    remarks = [
        *evaluation.warnings,
        *caveats(known, evaluation.predictions),
        *context["remarks"],
    ]
    return _page(context, remarks, evaluation.as_json())


def comparison_page(comparison: Comparison) -> str:
    """Return the report of several classifiers."""
    if not comparison.predictions:
        raise ValueError("the comparison has no predictions to report on: make it with compare")
    if any(isinstance(p, CountedPredictions) for p in comparison.predictions.values()):
        raise ValueError(
            "a report needs all scores in memory, and these are counted in bins: compare rows "
            "drawn at random, held as Predictions, for one"
        )
    samples = comparison.samples
    beside = {name: _estimates_beside(sample, comparison) for name, sample in samples.items()}
    of_curve = comparison.curve_options
    areas = {
        name: beside[name].get("dmf_auc") if of_curve is None else comparison.estimates[name]
        for name in samples
    }
    curve_options = of_curve or CurveOptions()
    context = _context(samples, curve_options, comparison.level, areas)
    context |= {
        "title": _question(list(comparison.estimates)),
        "verdict": comparison_verdict(comparison),
        "meanings": _meanings(dict.fromkeys([comparison.measure, *next(iter(beside.values()))])),
        "parts": _parts(comparison, {name: list(found.values()) for name, found in beside.items()}),
        "provenance": _provenance(
            next(iter(samples.values())),
            comparison.estimates.values(),
            curve_options,
            comparison.seed,
        )
        + context["band_provenance"],
    }
    own = [MEASURES[comparison.measure]] if comparison.measure in MEASURES else []
    remarks = [
        *comparison.warnings,
        *(remark for p in comparison.predictions.values() for remark in caveats(own, p)),
        *context["remarks"],
    ]
    first = next(iter(comparison.predictions.values()))
    return _page(context, remarks, sample_facts(first) | comparison.as_json())


def _parts(comparison: Comparison, beside: Mapping[str, Sequence[Estimate]]) -> list[Any]:
    """Return tables and pictures of the values and of their differences."""
    percent = f"{100 * comparison.level:g} %"
    classifiers, differences, orders = comparison.tables()
    others = [
        Column(e.measure, e.title, "estimate", interval=f"{percent} interval")
        for e in next(iter(beside.values()))
    ]
    with_others = replace(
        classifiers,
        title=f"Classifiers, with {percent} intervals",
        columns=[*classifiers.columns, *others],
        rows=[[*row, *beside[row[0]]] for row in classifiers.rows],
    )
    parts: list[Any] = [page_table(with_others, has_marks=True)]
    rows = value_rows(comparison)
    if len(rows) > 2:
        kind = "simultaneous" if comparison.value_intervals else "separate"
        caption = (
            f"{comparison.title}, best first, with {kind} {percent} intervals; filled: may be the "
            "best, hollow: excluded as the best."
        )
        parts.append(figures.forest(rows, caption))
    hypothesis = comparison.hypothesis
    caption = f"Differences with their {comparison.kind_of_interval}s; " + (
        "an interval that holds 0 leaves open who is better."
        if hypothesis.is_two_sided
        else f"a limit beyond the line at {hypothesis.threshold:g} shows what was tested."
    )
    parts += [
        page_table(differences),
        figures.forest(
            difference_rows(comparison.differences), caption, reference=hypothesis.threshold
        ),
        page_table(orders),
    ]
    return [part for part in parts if part is not None]


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
    methods = [Jackknife(comparison.level)] * len(measures)
    return {found.measure: found for found in estimates_of(measures, methods, sample)}


def _context(
    named: Mapping[str, Sample],
    curve_options: CurveOptions,
    level: float,
    areas: Mapping[str, Estimate | None],
) -> dict[str, Any]:
    """Return what the template draws of the predictions."""
    first = next(iter(named.values())).predictions
    with collected_remarks() as remarks:
        has_curves = len(first.counted.present) > 1
        numbers = (
            {name: numbers_of(sample, curve_options, level) for name, sample in named.items()}
            if has_curves
            else {}
        )
    labels = first.labels
    shown = figures.shown_classes(numbers) if has_curves else []
    texts = {name: _area_text(of, areas[name]) for name, of in numbers.items()}
    n_band = max((of.n_band_thresholds for of in numbers.values()), default=0)
    return {
        "sections": _sections(numbers),
        "of_predictions": True,
        "has_curves": has_curves,
        "has_folds": first.folds is not None,
        "names": list(named),
        "labels": labels,
        "level": level,
        "percent": f"{100 * level:g} %",
        "roc_size": figures.ROC_SIZE,
        "small_size": figures.SMALL_SIZE,
        "roc": figures.roc_lines(numbers, texts),
        "heat_maps": figures.heat_maps(numbers, labels) if has_curves else [],
        "least_area": figures.least_area(numbers) if has_curves else 0.5,
        "scale": [shade(share).background for share in np.linspace(0, 1, 9)],
        "ticks": figures.ticks(labels),
        "one_vs_rest": figures.one_vs_rest(numbers, shown) if has_curves else [],
        "n_with_curves": len(next(iter(numbers.values())).classes) if has_curves else 0,
        "confusion": figures.confusion_matrices(numbers),
        "calibration": figures.calibration(numbers, shown, level),
        "class_rows": _class_rows(numbers, first),
        "counts": _counts(first),
        "watch_out": watch_out(numbers, first),
        "remarks": remarks,
        "curves": {name: _curve_as_json(of) for name, of in numbers.items()},
        "band_provenance": [("Band of the curve", _band_text(n_band, level))] if n_band else [],
        "has_matrices": 2 * len(labels) ** 2 * len(named) <= _MOST_NUMBERS,
    }


def _question(names: list[str]) -> str:
    if len(names) > _MOST_IN_TITLE:
        return f"Which of {len(names)} classifiers is best?"
    return f"Which is better: {', '.join(names[:-1])} or {names[-1]}?"


def _meanings(measures: Iterable[str]) -> list[str]:
    """Say what the values are, for those who did not ask for them."""
    return [_MEANINGS[name] for name in measures if name in _MEANINGS]


def _sections(named: Mapping[str, Numbers]) -> list[tuple[str, str]]:
    """Return the sections of what is shown of predictions, for the head of the page."""
    of_curves = [("curve", "Curve"), ("pairs", "Pairs"), ("classes", "Classes")]
    has_confusion = any(numbers.confusion is not None for numbers in named.values())
    return [
        *(of_curves if named else []),
        *([("confusion", "Confusion")] if has_confusion else []),
        *([("calibration", "Calibration")] if named else []),
        ("counts", "Counts"),
    ]


def _area_text(numbers: Numbers, area: Estimate | None) -> str:
    if area is None:
        return f"AUC {number(numbers.curve.auc)}"
    return f"AUC {number(area.value, area.standard_error)} ({interval_text(area)})"


def _band_text(n_thresholds: int, level: float) -> str:
    return (
        f"{100 * level:g} % at each false positive rate by itself, jackknife at {n_thresholds} "
        "thresholds, interpolated between them"
    )


def _class_rows(named: Mapping[str, Numbers], predictions: Predictions) -> list[dict[str, Any]]:
    """Return a row for each class and classifier, the hardest class first."""
    if not named:
        return []
    places = {label: place for place, label in enumerate(predictions.labels)}
    rows = []
    for label in figures.by_difficulty(named):
        place = places[label]
        for position, (name, numbers) in enumerate(named.items()):
            area = numbers.classes[label].area
            rates = {key: number(float(of[place])) for key, of in numbers.rates.items()}
            rows.append(
                {
                    "label": label,
                    "n": int(predictions.class_counts[place]),
                    "position": position,
                    "name": name,
                    "area": number(area.value, area.standard_error),
                    "interval": interval_text(area),
                    "rates": rates,
                }
            )
    return rows


def _counts(predictions: Predictions) -> list[tuple[Any, int, float]]:
    """Return the observations of each class, and their part of the most there are of one."""
    counts = predictions.class_counts
    return [
        (label, int(n), round(100 * float(n) / int(counts.max()), 2))
        for label, n in zip(predictions.labels, counts, strict=True)
    ]


def _curve_as_json(numbers: Numbers) -> dict[str, Any]:
    points = thinned(numbers.curve.fpr, numbers.curve.tpr)
    band = numbers.band
    area_digits = 4 if len(numbers.areas) <= _MANY_CLASSES else 3
    return {
        "auc": numbers.curve.auc,
        "fpr": _rounded(numbers.curve.fpr[points]),
        "tpr": _rounded(numbers.curve.tpr[points]),
        "band": None
        if band is None
        else {
            "fpr": _rounded(band.fpr),
            "tpr": _rounded(band.tpr),
            "low": _rounded(band.low),
            "high": _rounded(band.high),
        },
        "pairwise_areas": [_rounded(row, area_digits) for row in numbers.areas],
        "confusion": None
        if numbers.confusion is None
        else [_rounded(row) for row in numbers.confusion],
        "classes": [
            {
                "label": label,
                "area": of.area.value,
                "interval": list(of.area.interval),
            }
            for label, of in numbers.classes.items()
        ],
    }


def _rounded(values: np.ndarray, digits: int = _DIGITS) -> list[float | int]:
    """Return numbers with few digits; whole ones without a point."""
    return [int(x) if x.is_integer() else x for x in map(float, values.round(digits))]


def _provenance(
    sample: Sample,
    estimates: Any,
    curve_options: CurveOptions,
    seed: int | None = None,
) -> list[tuple[str, str]]:
    """Say how the numbers were found."""
    found: Sequence[Estimate] = list(estimates)
    predictions, n_units = sample.predictions, len(sample.units.stratum)
    methods = ", ".join(dict.fromkeys(e.method for e in found))
    seeds = {e.seed for e in found if e.seed is not None} | ({seed} - {None})
    draws = {e.n_draws for e in found if e.n_draws is not None}
    pair_weights = curve_options.pair_weights
    weights = pair_weights if isinstance(pair_weights, str) else "costs"
    rows = [
        ("Observations", f"{predictions.n_observations:,}, of {predictions.n_classes} classes"),
        ("Weights", "one per row, as given" if predictions.is_weighted else "none"),
        ("Intervals", f"{100 * found[0].level:g} %, {methods}"),
        ("Weights of the pairs in curve and DMF-AUC", weights),
    ]
    if n_units < predictions.n_observations:
        rows.append(("Independent units", f"{n_units:,} groups of observations"))
    if predictions.folds is not None:
        rows.append(("Folds", f"{int(predictions.folds.max()) + 1}, of a cross-validation"))
    if draws:
        rows.append(("Draws", ", ".join(f"{n:,}" for n in sorted(draws))))
    if seeds:
        rows.append(("Seed", ", ".join(str(s) for s in sorted(map(int, seeds)))))  # type: ignore[arg-type]
    return [*rows, versions()]


def _page(context: dict[str, Any], remarks: Sequence[str], result: dict[str, Any]) -> str:
    curves = context.pop("curves")
    if not context["has_matrices"]:
        for of in curves.values():
            del of["pairwise_areas"], of["confusion"]
    drawn = {"labels": list(context["labels"]), "classifiers": list(curves), "curves": curves}
    return page(context, remarks, result | drawn)
