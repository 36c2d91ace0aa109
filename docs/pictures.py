"""Render the README's picture: three classifiers of wines."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from dmfroc import MulticlassROCDisplay
from dmfroc.demo import demo_predictions

IMAGES = Path(__file__).resolve().parent / "images"


def main() -> None:
    """Write docs/images/roc.png."""
    figure = Figure(figsize=(7, 6.4), layout="constrained", dpi=200)
    ax = figure.subplots()
    for name, predictions in demo_predictions().items():
        MulticlassROCDisplay.from_predictions(predictions, name=name, ax=ax)
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / "roc.png")


if __name__ == "__main__":
    main()
