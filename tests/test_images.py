"""Displays look as they did: small images without any text, compared pixel by pixel.

After a wanted change run ``python tests/test_images.py``, and look at what it writes.
"""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

from dmfroc import plots

IMAGES = Path(__file__).parent / "reference" / "images"
# Root mean square difference of the pixels, of 255. There is none between matplotlib 3.10 and 3.11.
# A missing line, hull, rug or band, or classes in each other's colours, make 4 to 20.
TOLERANCE = 3.0

CLASSES = np.arange(150) % 3
ANGLES = np.outer(np.arange(150), [0.7, 1.9, 3.1]) ** 1.1  # any scores that look random
LOGITS = 1.5 * np.sin(ANGLES) + 1.6 * np.eye(3)[CLASSES]
SCORES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
POSITIVE, PROBABILITY = (CLASSES == 1).astype(int), SCORES[:, 1].round(3)

DRAW = {
    "roc": lambda ax: plots.ROCDisplay.from_predictions(CLASSES, SCORES, plot_hull=True, ax=ax),
    "multiclass_roc": lambda ax: plots.MulticlassROCDisplay.from_predictions(
        CLASSES, SCORES, plot_pairs=True, ax=ax
    ),
    "calibration": lambda ax: plots.CalibrationDisplay.from_predictions(
        POSITIVE, PROBABILITY, n_bins=6, ax=ax
    ),
    "prg": lambda ax: plots.PRGDisplay.from_predictions(
        POSITIVE, PROBABILITY, plot_hull=True, ax=ax
    ),
    "det": lambda ax: plots.DETDisplay.from_predictions(CLASSES, SCORES, ax=ax),
    "lift": lambda ax: plots.LiftDisplay.from_predictions(
        CLASSES, SCORES, plot_fallout=True, scale="recall", ax=ax
    ),
}


def draw(name, path):
    """Draw a display without its text, which other fonts would change."""
    with style.context("default"):
        figure = Figure(figsize=(3, 3), dpi=80)
        ax = figure.add_axes((0.05, 0.05, 0.9, 0.9))
        DRAW[name](ax)
        ax.get_legend().remove()
        for text in list(ax.texts):
            text.remove()
        ax.set(xlabel="", ylabel="", title="")
        ax.tick_params(labelbottom=False, labelleft=False)
        figure.savefig(path, dpi=80, metadata={"Software": None})


@pytest.mark.parametrize("name", DRAW)
def test_image(name, tmp_path):
    drawn = tmp_path / f"{name}.png"
    draw(name, drawn)
    difference = compare_images(str(IMAGES / f"{name}.png"), str(drawn), TOLERANCE)
    assert difference is None, difference


if __name__ == "__main__":
    for display in DRAW:
        draw(display, IMAGES / f"{display}.png")
