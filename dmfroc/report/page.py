"""One self-contained page for the browser."""

from __future__ import annotations

import base64
import hashlib
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from dmfroc._as_json import comparison_as_json, evaluation_as_json, sample_as_json, strict
from dmfroc._files import written
from dmfroc._remarks import collected_remarks
from dmfroc._tables import format_probability
from dmfroc._version import package_version
from dmfroc.catalogue import MEASURES
from dmfroc.estimation import estimates_of
from dmfroc.measures.measure import caveats
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.predictions import Predictions
from dmfroc.report import figures
from dmfroc.report.numbers import Numbers, numbers_of
from dmfroc.report.shapes import shade, thinned
from dmfroc.report.verdict import (
    comparison_verdict,
    evaluation_verdict,
    interval_text,
    number,
    watch_out,
)
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.jackknife import Jackknife
from dmfroc.uncertainty.units import Sample, sample_of

if TYPE_CHECKING:
    from dmfroc.comparison_result import Comparison
    from dmfroc.evaluation import Evaluation

_TEMPLATES = files("dmfroc.report") / "templates"
_SHOWN = ("dmf_auc", "hand_till", "informedness")  # what a report shows besides what was asked for
_DIGITS = 6
_MANY_CLASSES = 30  # of whose pairwise areas three digits must do
_MOST_NUMBERS = 45_000  # of all matrices together; of more, the file would grow too large


@contextmanager
def opened(path: str | PathLike[str], name: str = "path") -> Iterator[BinaryIO]:
    """Open a report for writing; it appears under its name if all goes well, or not at all."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{name} must name a file with .html, but it is {str(path)!r}")
    with written(Path(path), name) as stream:
        yield stream


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
    areas = {name: _area(evaluation.estimates)}
    context = _context(named, evaluation.curve_options, first.level, areas)
    context |= {
        "title": f"{first.title} {number(first.value, first.standard_error)}",
        "verdict": evaluation_verdict(evaluation),
        "estimates": [_estimate_row(e) for e in evaluation.estimates.values()],
        "comparison": None,
        "provenance": _provenance(
            evaluation.predictions, evaluation.estimates.values(), evaluation.curve_options
        )
        + context["band_provenance"],
    }
    known = [MEASURES[measure] for measure in evaluation.estimates if measure in MEASURES]
    remarks = [
        *evaluation.warnings,
        *caveats(known, evaluation.predictions),
        *context["remarks"],
    ]
    return _page(context, remarks, evaluation_as_json(evaluation))


def comparison_page(comparison: Comparison) -> str:
    """Return the report of several classifiers."""
    if not comparison.predictions:
        raise ValueError("the comparison has no predictions to report on: make it with compare")
    predictions = comparison.predictions
    beside = {
        name: _estimates_beside(of_classifier, comparison)
        for name, of_classifier in predictions.items()
    }
    areas = {
        name: _area({comparison.measure: comparison.estimates[name]} | beside[name])
        for name in predictions
    }
    samples = {name: sample_of(p) for name, p in predictions.items()}
    context = _context(samples, comparison.curve_options, comparison.level, areas)
    first = next(iter(predictions.values()))
    titles = [comparison.title, *(e.title for e in next(iter(beside.values())).values())]
    context |= {
        "title": " / ".join(comparison.estimates),
        "verdict": comparison_verdict(comparison),
        "estimates": None,
        "comparison": {
            "titles": titles,
            "rows": [
                {
                    "name": name,
                    "cells": [_estimate_row(e) for e in (estimate, *beside[name].values())],
                }
                for name, estimate in comparison.estimates.items()
            ],
            "differences": [_difference_row(d) for d in comparison.differences],
            "several": len(comparison.differences) > 1,
            "rope": comparison.rope,
            "orders": [
                (" > ".join(order), format_probability(probability))
                for order, probability in list(comparison.order_probabilities.items())[:10]
            ],
            "forest": figures.forest(comparison),
        },
        "provenance": _provenance(
            first, comparison.estimates.values(), comparison.curve_options, comparison.seed
        )
        + context["band_provenance"],
    }
    own = [MEASURES[comparison.measure]] if comparison.measure in MEASURES else []
    remarks = [
        *comparison.warnings,
        *(remark for p in predictions.values() for remark in caveats(own, p)),
        *context["remarks"],
    ]
    return _page(context, remarks, sample_as_json(first) | comparison_as_json(comparison))


def _estimates_beside(predictions: Predictions, comparison: Comparison) -> dict[str, Estimate]:
    """Estimate the measures that nobody asked for, but that every reader wants to see."""
    measures = [
        MEASURES[name]
        for name in measures_of_report(_SHOWN[0], predictions)
        if name != comparison.measure
        # The area under the curve is shown with the weights of the curve or not at all
        and not (name == "dmf_auc" and comparison.measure.startswith("dmf_auc"))
    ]
    methods = [Jackknife(comparison.level)] * len(measures)
    found = estimates_of(measures, methods, sample_of(predictions))
    return {estimate.measure: estimate for estimate in found}


def _area(estimates: Mapping[str, Estimate]) -> Estimate | None:
    """Return the estimate of the area under the curve, if there is one."""
    return next((e for name, e in estimates.items() if name.startswith("dmf_auc")), None)


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
        "has_curves": has_curves,
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
        "band_provenance": [("Band of the curve", _band_text(n_band, level))] if has_curves else [],
        "has_matrices": 2 * len(labels) ** 2 * len(named) <= _MOST_NUMBERS,
    }


def _area_text(numbers: Numbers, area: Estimate | None) -> str:
    if area is None:
        return f"AUC {number(numbers.curve.auc)}"
    return f"AUC {number(area.value, area.standard_error)} ({interval_text(area)})"


def _band_text(n_thresholds: int, level: float) -> str:
    return (
        f"{100 * level:g} % at each false positive rate by itself, jackknife at {n_thresholds} "
        "thresholds, interpolated between them"
    )


def _estimate_row(e: Estimate) -> dict[str, Any]:
    return {
        "title": e.title,
        "value": number(e.value, e.standard_error),
        "sort": e.value if math.isfinite(e.value) else -math.inf,
        "standard_error": number(e.standard_error, e.standard_error),
        "interval": interval_text(e),
        "method": e.method,
    }


def _difference_row(d: Any) -> dict[str, Any]:
    return {
        "first": d.first,
        "second": d.second,
        "value": number(d.value, d.standard_error),
        "sort": d.value,
        "interval": interval_text(d),
        "p_value": f"{d.p_value:.2g}",
        "p_sort": d.p_value,
        "adjusted": f"{d.adjusted_p_value:.2g}",
        "adjusted_sort": d.adjusted_p_value,
        "better": format_probability(d.probability_better),
        "better_sort": d.probability_better,
        "equivalent": format_probability(d.probability_equivalent),
        "equivalent_sort": d.probability_equivalent,
    }


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
        "band": {
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
    predictions: Predictions,
    estimates: Any,
    curve_options: CurveOptions,
    seed: int | None = None,
) -> list[tuple[str, str]]:
    """Say how the numbers were found."""
    found: Sequence[Estimate] = list(estimates)
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
    if draws:
        rows.append(("Draws", ", ".join(f"{n:,}" for n in sorted(draws))))
    if seeds:
        rows.append(("Seed", ", ".join(str(s) for s in sorted(map(int, seeds)))))  # type: ignore[arg-type]
    versions = [f"dmfroc {package_version()}", f"Python {platform.python_version()}"]
    versions += [f"{name} {version(name)}" for name in ("numpy", "scipy", "jax")]
    return [*rows, ("Versions", ", ".join(versions))]


def _page(context: dict[str, Any], remarks: Sequence[str], result: dict[str, Any]) -> str:
    notes = list(dict.fromkeys(remarks))
    curves = context.pop("curves")
    if not context["has_matrices"]:
        for of in curves.values():
            del of["pairwise_areas"], of["confusion"]
    data = strict(
        {"dmfroc_version": package_version(), "verdict": context["verdict"]}
        | result
        | {"labels": list(context["labels"]), "curves": curves, "warnings": notes}
    )
    return _render(context | {"warnings": notes, "data": data})


def _render(context: dict[str, Any]) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    def source(name: str) -> str:
        return (_TEMPLATES / name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "ensure_ascii": False,
        "allow_nan": False,
    }
    script = source("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    page: str = environment.get_template("report.html.j2").render(
        context
        | {"style": Markup(source("report.css")), "script": Markup(script), "digest": digest}
    )
    return page
