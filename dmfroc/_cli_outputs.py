"""What the command line writes: tables, JSON, pictures, and progress."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import dmfroc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dmfroc._cli_inputs import PairWeights
    from dmfroc.comparison import Comparison, Difference
    from dmfroc.evaluation import Evaluation
    from dmfroc.predictions import Predictions
    from dmfroc.uncertainty.estimate import Estimate

# What `dmfroc plot` can draw, and with which display of dmfroc.plots
CHARTS = {
    "accuracy": "AccuracyDisplay",
    "bift": "BIFTDisplay",
    "bird": "BIRDDisplay",
    "boc": "BOCDisplay",
    "bprd": "BPRDDisplay",
    "calibration": "CalibrationDisplay",
    "cost": "CostDisplay",
    "delta-pn": "DeltaPNDisplay",
    "det": "DETDisplay",
    "gains": "CumulativeGainsDisplay",
    "lift": "LiftDisplay",
    "log-pr": "LogPrecisionRecallDisplay",
    "multiclass-roc": "MulticlassROCDisplay",
    "pn": "PNDisplay",
    "pr": "PrecisionRecallDisplay",
    "prg": "PRGDisplay",
    "reciprocal-pr": "ReciprocalPrecisionRecallDisplay",
    "roc": "ROCDisplay",
}
KINDS = (*CHARTS, "overview")
_HULLS = ("roc", "prg")

_PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".eps")


# Text


def show(text: str) -> None:
    """Print, with substitutes for characters that stdout cannot represent."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


def show_result(table: str, notes: Iterable[str], picture: Path | None) -> None:
    """Print a table, the notes that it lacks, and where the picture is."""
    lines = [table, *(f"note: {note}" for note in notes)]
    show("\n".join(lines if picture is None else [*lines, "", f"The picture is in {picture}"]))


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Say on stderr what is being done, if somebody is watching."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(message)):
        yield


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Keep warnings off stderr, and list those meant for the user once the block has ended."""
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield remarks
    remarks += [str(w.message) for w in caught if issubclass(w.category, UserWarning)]


def unique(texts: Iterable[str]) -> list[str]:
    """Return each text once, in the order of their first appearance."""
    return list(dict.fromkeys(texts))


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return the remarks about the classifiers, each with whom it concerns unless that is all."""
    concerned: dict[str, list[str]] = {}
    for name, estimate in comparison.estimates.items():
        for remark in estimate.warnings:
            concerned.setdefault(remark, []).append(name)
    everybody = len(comparison.estimates)
    return [
        remark if len(names) == everybody else f"{', '.join(names)}: {remark}"
        for remark, names in concerned.items()
    ]


def package_version() -> str:
    """Return the version of dmfroc."""
    from importlib.metadata import PackageNotFoundError

    try:
        return str(dmfroc.__version__)
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


# JSON


def show_json(value: dict[str, Any]) -> None:
    """Print strict JSON."""
    show(json.dumps(_strict(value), indent=2, allow_nan=False))


def evaluation_as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the contents of an evaluation but for its curve."""
    first = next(iter(evaluation.estimates.values()))
    return sample_as_json(evaluation.predictions) | {
        "method": first.method,
        "level": first.level,
        "estimates": {name: _estimate_as_json(e) for name, e in evaluation.estimates.items()},
    }


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the contents of a comparison."""
    return {
        "measure": comparison.measure,
        "method": comparison.method,
        "level": comparison.level,
        "estimates": {name: _estimate_as_json(e) for name, e in comparison.estimates.items()},
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                **_estimate_as_json(d),
                "p_value": d.p_value,
                "probability_better": d.probability_better,
            }
            for d in comparison.differences
        ],
        "order_probabilities": [
            {"order": list(order), "probability": probability}
            for order, probability in comparison.order_probabilities.items()
        ],
        "n_draws": comparison.n_draws,
        "seed": comparison.seed,
    }


def sample_as_json(predictions: Predictions) -> dict[str, Any]:
    """Return the number of observations, in all and by class."""
    counts = predictions.class_counts.tolist()
    return {
        "n_observations": predictions.n_observations,
        "classes": [
            {"label": label, "count": count}
            for label, count in zip(predictions.labels, counts, strict=True)
        ],
    }


def _estimate_as_json(estimate: Estimate | Difference) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "standard_error": estimate.standard_error,
        "interval": list(estimate.interval),
    } | ({"error_bound": bound} if (bound := getattr(estimate, "error_bound", 0.0)) else {})


def _strict(value: Any) -> Any:
    """Replace what JSON has no number for by null."""
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Pictures


@dataclass(frozen=True)
class Picture:
    """A file, open for writing, and the format that its name promises."""

    stream: BinaryIO
    format: str

    def draw(
        self, classifiers: Mapping[str, Predictions], level: float, pair_weights: PairWeights
    ) -> None:
        """Draw the curves of all classifiers, overlaid."""
        figure = _new_figure(6.0, 6.0)
        axes = figure.add_subplot()
        for name, predictions in classifiers.items():
            dmfroc.MulticlassROCDisplay.from_predictions(
                predictions, name=name, ax=axes, level=level, pair_weights=pair_weights
            )
        figure.savefig(self.stream, format=self.format, dpi=150)

    def draw_chart(self, kind: str, predictions: Predictions) -> None:
        """Draw the curves of all classes on one kind of chart, or on nine of them."""
        from dmfroc import plots

        if kind == "overview":
            figure = plots.overview(predictions, figure=_new_figure(12.0, 12.8))
        else:
            figure = _new_figure(6.0, 6.0)
            options = {"plot_hull": True} if kind in _HULLS and predictions.n_classes == 2 else {}
            getattr(plots, CHARTS[kind]).from_predictions(
                predictions, ax=figure.add_subplot(), **options
            )
        figure.savefig(self.stream, format=self.format, dpi=150)


def _new_figure(width: float, height: float) -> Figure:
    # Not by way of pyplot, which would choose a backend for the whole process
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


@contextmanager
def open_picture(path: Path | None, option: str = "--plot") -> Iterator[Picture | None]:
    """Open a picture for writing; it appears under its name if all goes well, or not at all."""
    if path is None:
        yield None
        return
    suffix = path.suffix.lower()
    if suffix not in _PICTURES:
        raise ValueError(f"{option} must name a file with one of {', '.join(_PICTURES)}: {path}")
    target = Path(os.path.realpath(path))  # a link stays a link
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        if target.exists():
            with target.open("r+b"):  # may it be overwritten?
                pass
        stream = partial.open("wb")
    except OSError as error:
        raise ValueError(f"{option} {path} cannot be written: {error.strerror}") from error
    try:
        with stream:
            yield Picture(stream, suffix.removeprefix("."))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
