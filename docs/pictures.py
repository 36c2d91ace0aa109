"""Render the pictures of the README and of the page about curves."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from notebook import notebook_of
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dmfroc import Predictions, cross_validate, plots
from dmfroc.plots import MulticlassROCDisplay

IMAGES = Path(__file__).resolve().parent / "images"

# The chart of each picture, the class to show alone if not all six, and options
CHARTS = {
    "pn": ("PNDisplay", None, {}),
    "roc": ("ROCDisplay", None, {}),
    "roc-hull": ("ROCDisplay", 4, {"plot_hull": True}),
    "delta-pn": ("DeltaPNDisplay", None, {}),
    "boc": ("BOCDisplay", None, {}),
    "det": ("DETDisplay", None, {}),
    "accuracy": ("AccuracyDisplay", None, {}),
    "lift": ("LiftDisplay", None, {"plot_fallout": True, "scale": "recall"}),
    "lift-factor": ("LiftDisplay", None, {}),
    "gains": ("CumulativeGainsDisplay", None, {}),
    "bift": ("BIFTDisplay", None, {}),
    "bprd": ("BPRDDisplay", None, {}),
    "bird": ("BIRDDisplay", None, {}),
    "pr": ("PrecisionRecallDisplay", None, {}),
    "reciprocal-pr": ("ReciprocalPrecisionRecallDisplay", None, {}),
    "log-pr": ("LogPrecisionRecallDisplay", None, {}),
    "prg": ("PRGDisplay", None, {}),
    "prg-hull": ("PRGDisplay", 4, {"plot_hull": True}),
    "calibration": ("CalibrationDisplay", 4, {}),
    "calibration-classes": ("CalibrationDisplay", None, {}),
    "cost": ("CostDisplay", None, {}),
}


COUNTS = {4: 170, 5: 90, 6: 45, 7: 120, 8: 70, 9: 150}


def six_digits() -> Predictions:
    """Return cross-validated probabilities of six handwritten digits, from few of their pixels.

    The digits are made unequally frequent, as classes usually are.
    """
    pixels, digits = load_digits(return_X_y=True)
    chosen = np.concatenate(
        [np.flatnonzero(digits == digit)[:count] for digit, count in COUNTS.items()]
    )
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
    scores = cross_val_predict(
        model, pixels[chosen][:, 17:24], digits[chosen], cv=10, method="predict_proba"
    )
    return Predictions.from_arrays(digits[chosen], scores)


def few_measurements() -> dict[str, Predictions]:
    """Return cross-validated probabilities of wines, by the measurements that are used."""
    X, y = load_wine(return_X_y=True)
    columns = {"alcohol and malic acid": [0, 1], "alcohol": [0], "malic acid": [1]}
    return {
        name: cross_validate(LogisticRegression(), X[:, x], y, measures="hand_till").predictions
        for name, x in columns.items()
    }


def of_getting_started() -> Figure:
    """Return the picture of the comparison on the page "Getting started", by the page's code."""
    page = (IMAGES.parent / "getting_started.md").read_text(encoding="utf-8")
    code = "".join(
        "".join(x["source"]) + "\n" for x in notebook_of(page)["cells"] if "outputs" in x
    )
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(code, names)
    figure: Figure = names["forest"].figure_
    return figure


def main() -> None:
    """Write docs/images/roc.png, overview.png, getting-started.png and curve-*.png."""
    IMAGES.mkdir(exist_ok=True)
    save(of_getting_started(), "getting-started")
    figure = Figure(figsize=(7, 6.8), layout="constrained", dpi=130)
    ax = figure.subplots()
    for name, predictions in few_measurements().items():
        MulticlassROCDisplay.from_predictions(predictions, name=name, ax=ax)
    save(figure, "roc")

    digits = six_digits()
    save(
        plots.overview(digits, figure=Figure((12, 12.8), layout="constrained", dpi=75)), "overview"
    )
    for name, (display, label, options) in CHARTS.items():
        figure = Figure(figsize=(5.6, 5.4), layout="constrained", dpi=90)
        getattr(plots, display).from_predictions(
            digits, pos_label=label, ax=figure.subplots(), **options
        )
        save(figure, f"curve-{name}")


def save(figure: Figure, name: str) -> None:
    """Write a picture as small as PNG allows."""
    figure.savefig(IMAGES / f"{name}.png", pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
