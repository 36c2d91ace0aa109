"""Render the README's picture: the classifiers of wines that ``dmfroc demo`` compares."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from dmfroc import MulticlassROCDisplay
from dmfroc.demo import demo_predictions

IMAGES = Path(__file__).resolve().parent / "images"


def main() -> None:
    """Write docs/images/roc.png."""
    figure = Figure(figsize=(7, 6.8), layout="constrained", dpi=200)
    ax = figure.subplots()
    for name, predictions in demo_predictions().items():
        MulticlassROCDisplay.from_predictions(predictions, name=name, ax=ax)
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / "roc.png", pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
