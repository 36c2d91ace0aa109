"""Reliability diagrams."""

import numpy as np
import pytest
from scipy.special import expit

from dmfroc.curves import isotonic_calibration_curve
from dmfroc.measures import MEASURES
from dmfroc.plots import ReliabilityDisplay

RNG = np.random.default_rng(0)
Z = RNG.normal(size=300)
Y, P = (RNG.random(300) < expit(Z)).astype(int), expit(Z)
Q = RNG.dirichlet(np.ones(3), size=90)
T = RNG.integers(3, size=90)


def test_reliability_of_one_class():
    display = ReliabilityDisplay.from_predictions(Y, P, n_draws=99)
    curve = isotonic_calibration_curve(Y, P)
    line = display.lines_[1]
    assert line.get_ydata() == pytest.approx(curve.y)
    for ends in (display.ax_.get_xlim(), display.ax_.get_ylim()):
        assert ends == pytest.approx((0, 1), abs=0.05)
    names = ("miscalibration", "discrimination", "uncertainty")
    parts = [f"{x} {MEASURES[f'brier_{x}'](Y, P):.4f}" for x in names]
    assert line.get_label().replace("\n", " ") == f"class 1: {', '.join(parts)}"
    heights = [bar.get_height() for bar in display.histogram_]
    assert max(heights) == pytest.approx(0.16)
    # Calibrated: the curve stays inside the consistency band nearly everywhere
    band = display.consistency_band_.get_paths()[0]
    middle = np.column_stack([curve.x, curve.y])[20:-20]
    assert band.contains_points(middle, radius=0.02).mean() > 0.85


@pytest.mark.parametrize(("label", "named"), [("class 1", "class 1"), ("ill", "ill")])
def test_the_legend_names_a_class_once(label, named):
    y = np.where(Y == 1, label, "b")
    display = ReliabilityDisplay.from_predictions(y, P, pos_label=label, n_draws=99)
    assert display.lines_[label].get_label().startswith(f"{named}: miscalibration")


def test_reliability_of_several_classes():
    display = ReliabilityDisplay.from_predictions(T, Q)
    assert list(display.lines_) == [0, 1, 2]
    for label, line in display.lines_.items():
        value = MEASURES["brier_miscalibration"](label == T, Q[:, label])
        assert line.get_label() == f"class {label}: miscalibration {value:.4f}"
    assert display.consistency_band_ is None
    single = ReliabilityDisplay.from_predictions(T, Q, pos_label=1, plot_bands=False)
    drawn = single.lines_[1].get_ydata()
    assert drawn == pytest.approx(display.lines_[1].get_ydata())
    with pytest.raises(ValueError, match="none of the classes"):
        ReliabilityDisplay.from_predictions(T, Q, pos_label=7)
