"""Displays of curves: what is drawn is what was computed."""

import itertools
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from bands import curve_band
from matplotlib import style
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import dmfroc
from dmfroc import applications, curves, plots
from dmfroc.inputs.predictions import Predictions
from dmfroc.plots._style import COLORS
from dmfroc.plots.forest import ForestRow, IntervalDisplay
from dmfroc.reports.figures import forest

RNG = np.random.default_rng(4)
TRUE = RNG.integers(0, 2, 120)
PROBABILITY = 1 / (1 + np.exp(-(RNG.normal(size=120) + 2 * TRUE - 1).round(1)))
NAMES = np.array(["ant", "bee", "cat", "dog"])[RNG.integers(0, 4, 200)]
LOGITS = RNG.normal(size=(200, 4)) + 2 * (np.unique(NAMES) == NAMES[:, None])
MANY = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)

OTHERS = {
    *("ComparisonDisplay", "MulticlassROCDisplay", "PairwiseAUCDisplay"),
    *("ReliabilityDisplay", "HorizonDisplay"),
}
DISPLAYS = {
    plots.AccuracyDisplay: curves.accuracy_curve,
    plots.BIFTDisplay: curves.bift_curve,
    plots.BIRDDisplay: curves.bird_curve,
    plots.BOCDisplay: curves.boc_curve,
    plots.BPRDDisplay: curves.bprd_curve,
    plots.CalibrationDisplay: curves.calibration_curve,
    plots.CostDisplay: curves.cost_curve,
    plots.CumulativeGainsDisplay: curves.cumulative_gains_curve,
    plots.DETDisplay: curves.det_curve,
    plots.DeltaPNDisplay: curves.delta_pn_curve,
    plots.LiftDisplay: partial(curves.lift_curve, scale="factor"),
    plots.LogPrecisionRecallDisplay: curves.log_precision_recall_curve,
    plots.PNDisplay: curves.pn_curve,
    plots.PRGDisplay: curves.prg_curve,
    plots.PrecisionRecallDisplay: curves.precision_recall_curve,
    plots.ROCDisplay: curves.roc_curve,
    plots.ReciprocalPrecisionRecallDisplay: curves.reciprocal_precision_recall_curve,
}
AREAS = {
    plots.AccuracyDisplay: "mean",
    plots.BIFTDisplay: "area",
    plots.BOCDisplay: "area",
    plots.CostDisplay: "mean",
    plots.CumulativeGainsDisplay: "area",
    plots.PRGDisplay: "AUPRG",
    plots.PrecisionRecallDisplay: "area",
    plots.ROCDisplay: "AUC",
}
# The least of both coordinates and the largest of each that a chart shows, where it does not show
# all that its curve has
CUT = {
    plots.BPRDDisplay: (-np.inf, 3, np.inf),
    plots.LogPrecisionRecallDisplay: (-np.inf, 3, 3),
    plots.PRGDisplay: (0, np.inf, np.inf),
    plots.ReciprocalPrecisionRecallDisplay: (-np.inf, 4, 4),
}
CASES = pytest.mark.parametrize(
    ("display", "function"), DISPLAYS.items(), ids=[d.__name__ for d in DISPLAYS]
)


@pytest.fixture
def ax():
    return Figure(figsize=(6.4, 6.4), layout="constrained").subplots()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def is_covered(display):
    """Return whether the legend hides points of the curve."""
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    points = display.ax_.transData.transform(display.line_.get_xydata())
    return any(box.contains(x, y) for x, y in points)


def thresholds_of(line, kind=None):
    """Return the points of a drawn curve that are thresholds: a marker would be on them."""
    # That of gains has a point more, on the vertical axis
    is_whole = line.get_markevery() is None or kind == "prg"
    at = slice(None) if is_whole else line.get_markevery()
    return line.get_xdata()[at], line.get_ydata()[at]


def axis_names(ax):
    """Return the names of the axes, on which a minus is one."""
    return tuple(x.replace("\N{MINUS SIGN}", "-") for x in (ax.get_xlabel(), ax.get_ylabel()))


def expected_data(curve):
    """Return the points that a display can draw, from the curve alone."""
    x, y = curve.x, curve.y
    if curve.kind == "det":
        inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
        return norm.ppf(x[inside]), norm.ppf(y[inside])
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if curve.kind == "prg":
        before = int(np.sum(x < 0))
        x = np.concatenate([x[:before], [0], x[before:]])
        y = np.concatenate([y[:before], [curves.crossing_gain(curve.points)], y[before:]])
    return x, y


# Data


def test_all_displays_of_curves_are_tested():
    assert {d.__name__ for d in DISPLAYS} | OTHERS | {"overview"} == {*plots.__all__}


@CASES
def test_line_is_the_curve(display, function, ax):
    drawn = display.from_predictions(TRUE, PROBABILITY, ax=ax)
    x, y = expected_data(function(TRUE, PROBABILITY))
    drawn_x, drawn_y = thresholds_of(drawn.line_, drawn.curves[1].kind)
    assert drawn_x == pytest.approx(x)
    assert drawn_y == pytest.approx(y)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert list(drawn.lines_.values()) == [drawn.line_]


@CASES
def test_lines_are_the_curves_of_the_classes(display, function, ax):
    drawn = display.from_predictions(NAMES, MANY, ax=ax)
    expected = function(NAMES, MANY, multi_class="ovr")
    assert list(drawn.lines_) == list(expected) == ["ant", "bee", "cat", "dog"]
    for label, line in drawn.lines_.items():
        x, y = expected_data(expected[label])
        drawn_x, drawn_y = thresholds_of(line, expected[label].kind)
        assert drawn_x == pytest.approx(x)
        assert drawn_y == pytest.approx(y)
    assert axis_names(ax) == (expected["ant"].x_name, expected["ant"].y_name)


@CASES
def test_legend_gives_each_class_its_area_beside_its_line(display, function, ax):
    drawn = display.from_predictions(NAMES, MANY, ax=ax)
    area = AREAS.get(display)
    expected = {
        label: f"{label}: {area} {curve.area:.3f}" if area else label
        for label, curve in function(NAMES, MANY, multi_class="ovr").items()
    }
    texts = legend_texts(ax)
    assert texts[:4] == list(expected.values())
    others = {
        "chance",
        "break-even",
        "perfect calibration",
        "F1 of always positive",
        "lines: LOESS",
    }
    isometric = next((x for x in texts if x.startswith("equal ")), None)
    assert {*texts[4:]} <= {*others, isometric}
    # The numbers at the isometrics are those of a measure, which the legend names
    has_isometrics = display.look.isometric_values and display.look.shares_isometrics
    has_isometrics = has_isometrics and display is not plots.ROCDisplay  # unless asked for
    assert (isometric is None) == (not has_isometrics)
    if isometric is not None:  # and says which numbers these are
        written = [float(x.get_text()) for x in ax.texts]
        assert isometric.endswith(f" ({min(written):g} to {max(written):g})")
    colors = [handle.get_color() for handle in ax.get_legend().legend_handles[:4]]
    assert colors == [drawn.lines_[label].get_color() for label in expected]


@pytest.mark.slow
@pytest.mark.parametrize("scores", [MANY, MANY[::-1]], ids=["good", "guessing"])
@CASES
def test_axes_show_the_curves(display, function, scores, ax):
    display.from_predictions(NAMES, scores, ax=ax)
    curves_data = [*map(expected_data, function(NAMES, scores, multi_class="ovr").values())]
    room = 1.5 * max(np.maximum(*data).min() for data in curves_data)  # for the best compromise
    x, y = np.concatenate([np.stack(data) for data in curves_data], axis=1)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    lowest, x_highest, y_highest = CUT.get(display, (-np.inf, np.inf, np.inf))
    shown = (np.minimum(x, y) >= lowest) & (x <= x_highest) & (y <= y_highest)
    assert left <= x[shown].min()
    assert x[shown].max() <= right <= max(x_highest, room)
    assert bottom <= y[shown].min()
    assert y[shown].max() <= top <= max(y_highest, room)


@CASES
def test_a_figure_can_be_rendered(display, function, ax):
    display.from_predictions(NAMES, MANY, ax=ax, sample_weight=np.linspace(0.5, 2, 200))
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    figure = ax.figure.bbox
    assert figure.x0 <= box.x0 < box.x1 <= figure.x1
    assert figure.y0 <= box.y0 < box.y1 <= figure.y1


@pytest.mark.slow
@CASES
def test_legend_leaves_the_curve_uncovered(display, function, ax):
    assert not is_covered(display.from_predictions(TRUE, PROBABILITY, ax=ax))


def test_legend_leaves_the_lift_factor_uncovered(ax):
    cases = np.arange(100)
    display = plots.LiftDisplay.from_predictions(cases < 5, -cases, ax=ax)
    assert not is_covered(display)


def test_options_reach_the_curves(ax):
    bird = plots.BIRDDisplay.from_predictions(
        TRUE, PROBABILITY, s=2, smoothing="proportional", ax=ax
    )
    expected = curves.bird_curve(TRUE, PROBABILITY, s=2, smoothing="proportional")
    assert np.array_equal(thresholds_of(bird.line_)[1], expected.y)
    pair = plots.ROCDisplay.from_predictions(NAMES, MANY, multi_class="ovo", ax=ax)
    assert len(pair.lines_) == 12
    one = plots.ROCDisplay.from_predictions(NAMES, MANY, pos_label="cat", ax=ax)
    assert list(one.lines_) == ["cat"]
    weights = np.linspace(0.5, 2, 120)
    weighted = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, sample_weight=weights, ax=ax)
    expected = curves.roc_curve(TRUE, PROBABILITY, sample_weight=weights)
    assert np.array_equal(weighted.line_.get_ydata(), expected.y)


def test_from_estimator_is_from_predictions(ax):
    features = LOGITS[:, :2]
    model = LogisticRegression().fit(features, NAMES)
    drawn = plots.PRGDisplay.from_estimator(model, features, NAMES, ax=ax)
    expected = curves.prg_curve(NAMES, model.predict_proba(features), multi_class="ovr")
    for label, curve in drawn.curves.items():
        assert np.array_equal(curve.y, expected[label].y, equal_nan=True)
    assert legend_texts(ax)[0].startswith("LogisticRegression, ant: AUPRG")


def test_from_curves_and_predictions(ax):
    predictions = Predictions.from_arrays(NAMES, MANY)
    by_hand = plots.BOCDisplay(curves.boc_curve(predictions, multi_class="ovr")).plot(ax)
    computed = plots.BOCDisplay.from_predictions(predictions, ax=Figure().subplots())
    assert np.array_equal(by_hand.line_.get_ydata(), computed.line_.get_ydata())
    single = plots.BOCDisplay(curves.boc_curve(predictions, pos_label="bee"), name="bees").plot(ax)
    assert single.line_.get_label().startswith("bees: area ")


# Between thresholds

FEW = {
    2: (np.repeat([1, 1, 0, 0], [85, 15, 19, 881]), np.repeat([1, 0, 1, 0], [85, 15, 19, 881])),
    3: (np.arange(90) % 3 == 0, np.arange(90) % 7 % 3),
    5: (np.arange(90) % 4 == 0, np.arange(90) * 7 % 9 % 5),
}
LOESS = {plots.CalibrationDisplay: {"plot_loess": False}}  # which needs more cases
PLACES = {  # of rates and prevalence, by formulas of their own
    plots.BIRDDisplay: lambda tpr, fpr, rate: (
        np.log2((1 + 1000 * (rate * tpr + (1 - rate) * fpr)) / (1 + 1000 * rate)),
        np.log2((1 + 1000 * (1 - rate) * fpr) / (1 + 1000 * (1 - rate)))
        - np.log2((1 + 1000 * rate * tpr) / (1 + 1000 * rate)),
    ),
    plots.DETDisplay: lambda tpr, fpr, rate: (norm.ppf(fpr), norm.ppf(1 - tpr)),
    plots.LogPrecisionRecallDisplay: lambda tpr, fpr, rate: (
        -np.log2(tpr),
        np.log2(1 + (1 - rate) * fpr / (rate * tpr)),
    ),
    plots.PrecisionRecallDisplay: lambda tpr, fpr, rate: (
        tpr,
        1 / (1 + (1 - rate) * fpr / (rate * tpr)),
    ),
    plots.ReciprocalPrecisionRecallDisplay: lambda tpr, fpr, rate: (
        1 / tpr,
        1 + (1 - rate) * fpr / (rate * tpr),
    ),
}


@pytest.mark.parametrize("n_scores", FEW)
@pytest.mark.parametrize("display", PLACES, ids=lambda display: display.__name__)
def test_curves_between_thresholds_are_those_of_mixtures(display, n_scores, ax):
    """Between two thresholds both rates are linear; what is drawn is their image on the chart."""
    classes, scores = FEW[n_scores]
    weights = 1000 / len(classes) * np.ones(len(classes))
    drawn = display.from_predictions(classes, scores, sample_weight=weights, ax=ax)
    points = curves.operating_points(classes, scores)
    assert len(points.thresholds) == n_scores + 1
    line = drawn.line_.get_xydata()
    inside = (line >= np.array([ax.get_xlim(), ax.get_ylim()])[:, 0]).all(axis=1)
    inside &= (line <= np.array([ax.get_xlim(), ax.get_ylim()])[:, 1]).all(axis=1)
    line = line[inside]
    steps = np.linspace(0, n_scores, 100 * n_scores + 1)[1:-1]
    rates = (
        np.interp(steps, range(n_scores + 1), values)
        for values in (points.true_positive_rate, points.false_positive_rate)
    )
    with np.errstate(divide="ignore"):
        expected = np.stack(PLACES[display](*rates, points.prevalence), axis=1)
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    for place in expected[np.isfinite(expected).all(axis=1)]:
        if ((place > line.min(axis=0)) & (place < line.max(axis=0))).all():
            apart, along = (place - line[:-1]) / size, np.diff(line, axis=0) / size
            share = np.clip((apart * along).sum(1) / (along**2).sum(1), 0, 1)
            assert np.hypot(*(apart - share[:, None] * along).T).min() < 2e-3


@pytest.mark.parametrize("n_scores", FEW)
def test_precision_recall_curve_encloses_the_area_that_is_printed(n_scores, ax):
    display = plots.PrecisionRecallDisplay.from_predictions(*FEW[n_scores], ax=ax)
    recall, precision = display.line_.get_data()
    assert recall[0] == pytest.approx(0, abs=1e-6)
    area = np.trapezoid(precision, recall)
    assert area == pytest.approx(next(iter(display.curves.values())).area, abs=1e-3)


def test_precision_half_way_from_the_only_threshold_to_all(ax):
    display = plots.PrecisionRecallDisplay.from_predictions(*FEW[2], ax=ax)
    recall, precision = display.line_.get_data()
    # 92.5 true and 459.5 false positives; on a straight line it would be 0.459
    assert np.interp(0.925, recall, precision) == pytest.approx(92.5 / 552, abs=2e-3)
    assert precision[recall < 0.85] == pytest.approx(85 / 104)


@pytest.mark.parametrize("n_scores", FEW)
def test_detection_error_tradeoffs_leave_the_chart_at_both_ends(n_scores, ax):
    display = plots.DETDisplay.from_predictions(*FEW[n_scores], ax=ax)
    x, y = display.line_.get_data()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert x[0] < left or y[0] > top
    assert x[-1] > right or y[-1] < bottom


@CASES
def test_straight_segments_have_no_points_between_their_ends(display, function, ax):
    classes, scores = FEW[3]
    options = {"scale": "recall"} if display is plots.LiftDisplay else LOESS.get(display, {})
    line = display.from_predictions(classes, scores / 2, ax=ax, **options).line_
    is_straight = display not in PLACES
    assert len(thresholds_of(line, "prg" if is_straight else None)[0]) < 6
    assert (len(line.get_xdata()) < 6) == is_straight


@pytest.mark.slow
@pytest.mark.parametrize("scores", [[3, 2, 1, 0], [0, 0, 0, 0], [0, 1, 2, 3]])
@CASES
def test_perfect_useless_and_reversed_scores_can_be_drawn(display, function, scores, ax):
    probabilities = np.array(scores) / 4
    options = LOESS.get(display, {})
    drawn = display.from_predictions([1, 1, 0, 0], probabilities, ax=ax, **options)
    ax.figure.draw_without_rendering()
    assert np.isfinite(drawn.line_.get_xydata()).all()


def test_a_curve_of_many_thresholds_needs_few_points_more(ax):
    classes, scores = np.arange(20_000) % 2, np.sin(np.arange(20_000.0)) + np.arange(20_000) % 2
    line = plots.PrecisionRecallDisplay.from_predictions(classes, scores, ax=ax).line_
    assert len(line.get_xdata()) < 20_000 + 200


# Style


def test_a_class_has_the_same_colour_and_dashes_on_all_charts():
    styles = {
        tuple(
            (line.get_color(), line.get_linestyle())
            for line in display.from_predictions(
                NAMES, MANY, ax=Figure().subplots()
            ).lines_.values()
        )
        for display in DISPLAYS
        if display is not plots.CalibrationDisplay
    }
    assert len(styles) == 1
    calibration = plots.CalibrationDisplay.from_predictions(NAMES, MANY, ax=Figure().subplots())
    assert tuple(line.get_color() for line in calibration.lines_.values()) == tuple(
        color for color, _ in styles.pop()
    )


def test_classes_take_the_colours_in_their_order(ax):
    display = plots.ROCDisplay.from_predictions(NAMES, MANY, ax=ax)
    expected = dict(zip(["ant", "bee", "cat", "dog"], COLORS, strict=False))
    assert {name: line.get_color() for name, line in display.lines_.items()} == expected


def test_pairs_are_named_positive_class_first(ax):
    display = plots.ROCDisplay.from_predictions(NAMES, MANY, multi_class="ovo", ax=ax)
    assert display.lines_["bee", "ant"].get_label().startswith("bee against ant: AUC ")


def test_up_to_twenty_classes_look_different(ax):
    classes = np.arange(400) % 20
    display = plots.ROCDisplay.from_predictions(classes, RNG.normal(size=(400, 20)), ax=ax)
    looks = {
        (to_hex(x.get_color()), str(x._unscaled_dash_pattern)) for x in display.lines_.values()
    }
    assert len(looks) == 20
    assert len(legend_texts(ax)) == 21  # and chance


def test_of_a_hundred_classes_the_legend_names_the_ten_worst(ax):
    classes = np.arange(1000) % 100
    scores = RNG.normal(size=(1000, 100)) + np.linspace(0, 3, 100) * np.eye(100)[classes]
    display = plots.PrecisionRecallDisplay.from_predictions(classes, scores, ax=ax)
    texts = legend_texts(ax)
    of_classes = curves.roc_curve(classes, scores, multi_class="ovr")
    areas = {label: curve.area for label, curve in of_classes.items()}
    worst = sorted(areas, key=areas.get)[:10]
    assert {text.split(":")[0] for text in texts[:10]} == {f"class {label}" for label in worst}
    isometrics = "equal mean of precision and recall (0.2 to 0.8)"
    assert texts[10:] == ["90 other classes", isometrics, "chance", "break-even"]
    assert {to_hex(display.lines_[c].get_color()) for c in areas if c not in worst} == {"#bfbfbf"}


def test_of_ten_classes_the_calibration_chart_names_the_five_of_the_largest_error(ax):
    classes = np.arange(400) % 10
    scores = RNG.dirichlet(np.ones(10), size=400)
    display = plots.CalibrationDisplay.from_predictions(classes, scores, ax=ax)
    worst = sorted(display.curves, key=lambda c: -display.curves[c].expected_error)[:5]
    assert legend_texts(ax)[:5] == [f"class {label}" for label in sorted(worst)]
    others = "5 other classes, better calibrated"
    assert {*legend_texts(ax)[5:]} == {others, "lines: LOESS", "perfect calibration"}
    for lines in (display.lines_, display.smooth_):
        grey = [label for label, x in lines.items() if to_hex(x.get_color()) == "#bfbfbf"]
        assert grey == [label for label in range(10) if label not in worst]


def test_a_legend_leaves_intervals_and_the_smooth_curve_uncovered():
    rng = np.random.default_rng(0)
    risk = rng.beta(2, 1, size=300)
    outcome = (rng.random(300) < risk + 0.1).astype(int)
    name = "a name that is as long as those of classifiers are"
    display = plots.CalibrationDisplay.from_predictions(outcome, risk, name=name)
    display.figure_.canvas.draw()
    box = display.ax_.get_legend().get_window_extent()
    ends = np.concatenate(display.intervals_.get_segments())
    [smooth] = display.smooth_.values()
    for xy in (ends, smooth.get_xydata()):
        places = display.ax_.transData.transform(xy)
        assert not ((places > box.min) & (places < box.max)).all(axis=1).any()


@pytest.mark.parametrize("kind", ["ReciprocalPrecisionRecall", "LogPrecisionRecall"])
def test_the_best_compromise_of_a_rare_class_is_inside_the_chart(kind):
    classes = np.r_[np.ones(10), np.zeros(990)].astype(int)
    scores = np.random.default_rng(0).normal(size=1000) + classes / 2
    display = getattr(plots, f"{kind}Display").from_predictions(classes, scores)
    worse = np.max(display.line_.get_data(), axis=0)
    assert worse.min() > display.look.xlim[1]
    assert display.ax_.get_xlim()[1] == display.ax_.get_ylim()[1] > worse.min()


def test_classifiers_are_overlaid_in_different_colours(ax):
    first = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, name="one", ax=ax)
    n_guides = len(first.guides_)
    second = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY**2, name="two", ax=ax)
    assert first.line_.get_color() != second.line_.get_color()
    assert (n_guides > 0, second.guides_) == (True, [])
    assert [text.split(":")[0] for text in legend_texts(ax)] == [
        "one",
        "two",
        "chance",
    ]


def test_line_arguments(ax):
    display = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, color="black", lw=3, ax=ax)
    assert (display.line_.get_color(), display.line_.get_linewidth()) == ("black", 3)


def test_areas_next_to_one_do_not_read_as_one(ax):
    truth = np.arange(2000) >= 1000
    scores = np.arange(2000.0)
    scores[[990, 1010]] = scores[[1010, 990]]
    plots.ROCDisplay.from_predictions(truth, scores, ax=ax)
    assert legend_texts(ax)[0] == "class True: AUC >0.999"


# Guides


def guides(display, style):
    return [line for line in display.guides_ if line.get_label() == style]


def test_chance_and_break_even_lines_are_those_of_the_curve(ax):
    display = plots.PrecisionRecallDisplay.from_predictions(TRUE, PROBABILITY, ax=ax)
    curve = curves.precision_recall_curve(TRUE, PROBABILITY)
    for name, line in (("chance", curve.chance), ("break-even", curve.break_even)):
        (drawn,) = guides(display, name)
        assert np.array_equal(drawn.get_xdata(), line.x)
        assert np.array_equal(drawn.get_ydata(), line.y)


def test_guides_that_differ_have_the_colours_of_the_classes(ax):
    display = plots.PrecisionRecallDisplay.from_predictions(NAMES, MANY, ax=ax)
    chance = [line for line in display.guides_ if len(line.get_ydata()) == 2]
    heights = {line.get_color(): line.get_ydata()[0] for line in chance if line.get_alpha()}
    assert heights == {
        display.lines_[label].get_color(): np.mean(label == NAMES) for label in display.lines_
    }
    # Break-even is the same for all, and drawn once
    assert len(guides(display, "break-even")) == 1


def test_a_guide_that_classes_share_reaches_as_far_as_the_longest(ax):
    display = plots.ReciprocalPrecisionRecallDisplay.from_predictions(NAMES, MANY, ax=ax)
    (drawn,) = guides(display, "break-even")
    ends = [curve.break_even.x.max() for curve in display.curves.values()]
    assert len({*ends}) > 1
    assert drawn.get_xdata().max() == max(ends)


def test_normal_deviates_are_labelled_with_their_rates(ax):
    plots.DETDisplay.from_predictions(TRUE, PROBABILITY, ax=ax)
    for axis in (ax.xaxis, ax.yaxis):
        texts = [text.get_text() for text in axis.get_ticklabels()]
        rates = [float(text.removesuffix(" %")) / 100 for text in texts]
        assert norm.cdf(axis.get_ticklocs()) == pytest.approx(rates)


def test_guides_can_be_left_out(ax):
    display = plots.ROCDisplay.from_predictions(
        TRUE,
        PROBABILITY,
        plot_chance_level=False,
        plot_break_even=False,
        plot_isometrics=False,
        plot_legend=False,
        ax=ax,
    )
    assert display.guides_ == []
    assert list(ax.lines) == [display.line_]
    assert ax.get_legend() is None


def test_isometrics_are_those_of_the_curve(ax):
    display = plots.ROCDisplay.from_predictions(
        TRUE, PROBABILITY, plot_chance_level=False, plot_isometrics=True, ax=ax
    )
    expected = curves.isometrics(
        curves.roc_curve(TRUE, PROBABILITY), values=display.look.isometric_values
    )
    assert len(display.guides_) == len(expected) == 4
    for line, isometric in zip(display.guides_, expected, strict=True):
        assert np.array_equal(line.get_ydata(), isometric.y)


def test_isometrics_that_differ_between_classes_are_not_drawn(ax):
    display = plots.PNDisplay.from_predictions(
        NAMES, MANY, plot_chance_level=False, plot_break_even=False, ax=ax
    )
    assert display.guides_ == []


def test_gain_isometrics_are_of_round_gains(ax):
    display = plots.PRGDisplay.from_predictions(
        TRUE, PROBABILITY, plot_chance_level=False, plot_break_even=False, ax=ax
    )
    sums = [np.unique((line.get_xdata() + line.get_ydata()).round(9)) for line in display.guides_]
    assert np.concatenate(sums) == pytest.approx([0.4, 0.8, 1.2, 1.6])


def test_reciprocal_isometrics_are_of_round_f_measures(ax):
    display = plots.ReciprocalPrecisionRecallDisplay.from_predictions(
        NAMES, MANY, plot_chance_level=False, plot_break_even=False, ax=ax
    )
    sums = [np.unique((line.get_xdata() + line.get_ydata()).round(9)) for line in display.guides_]
    assert 2 / np.concatenate(sums) == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])


@pytest.mark.parametrize(
    ("classes", "scores", "aspect"),
    [
        (TRUE, PROBABILITY, 1),
        (TRUE, np.roll(PROBABILITY, 7), 1),
        (TRUE, 1 - PROBABILITY, "auto"),  # equal scales would leave a narrow strip
        (np.arange(12) < 3, np.arange(12), "auto"),
    ],
    ids=["good", "guessing", "reversed", "reversed and rare"],
)
def test_gains_are_shown_down_to_minus_one(ax, classes, scores, aspect):
    display = plots.PRGDisplay.from_predictions(classes, scores, ax=ax)
    x, y = display.line_.get_data()
    assert ax.get_ylim()[0] == pytest.approx(max(y[x >= 0].min(), -1), abs=0.02)
    assert ax.get_aspect() == aspect


def test_rates_of_a_boc_chart_end_at_one(ax):
    plots.BOCDisplay.from_predictions(TRUE, PROBABILITY, ax=ax)
    assert ax.get_ylim()[1] == pytest.approx(1, abs=0.02)


def test_hulls(ax):
    for display, function in (
        (plots.ROCDisplay, curves.roc_curve),
        (plots.PRGDisplay, curves.prg_curve),
    ):
        drawn = display.from_predictions(NAMES, MANY, plot_hull=True, ax=ax)
        for label, curve in function(NAMES, MANY, multi_class="ovr").items():
            hull = curves.convex_hull(curve)
            assert np.array_equal(drawn.hulls_[label].get_xdata(), hull.x)
            assert np.array_equal(drawn.hulls_[label].get_ydata(), hull.y)
        assert display.from_predictions(NAMES, MANY, ax=ax).hulls_ == {}
    assert "convex hull (calibrated scores)" not in legend_texts(ax)
    plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, plot_hull=True, ax=ax)
    assert "convex hull (calibrated scores)" in legend_texts(ax)


def test_the_grid_of_the_other_chart():
    points = curves.operating_points(TRUE, PROBABILITY)
    odds, steps = points.positives / points.negatives, np.linspace(0, 1, 21)

    def gains(fpr, tpr):
        return 1 - odds * (1 - tpr) / tpr, 1 - fpr / tpr

    roc = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, plot_grid=True)
    recall_gain, precision_gain = gains(*map(np.asarray, roc.guides_[-1].get_data()))
    for gain in (recall_gain, precision_gain):
        np.testing.assert_allclose(np.unique(gain.round(12)), steps, atol=1e-12)
    prg = plots.PRGDisplay.from_predictions(TRUE, PROBABILITY, plot_grid=True)
    fpr, tpr = (x.ravel() for x in np.meshgrid(steps, steps[1:]))
    expected = np.array(gains(fpr, tpr))
    expected = expected[:, (expected >= 0).all(axis=0)]
    np.testing.assert_allclose(prg.guides_[-1].get_data(), expected, atol=1e-12)
    with pytest.raises(ValueError, match="single curve"):
        plots.ROCDisplay.from_predictions(NAMES, MANY, plot_grid=True)


@pytest.mark.parametrize("beta", [0.5, 2])
def test_isometrics_of_f_beta(beta):
    for display in (plots.PrecisionRecallDisplay, plots.PRGDisplay):
        drawn = display.from_predictions(
            TRUE, PROBABILITY, beta=beta, plot_chance_level=False, plot_break_even=False
        )
        lines = [line for line in drawn.guides_ if len(line.get_xdata()) > 100]
        values = []
        for line in lines[-4:]:
            recall, precision = map(np.asarray, line.get_data())
            if display is plots.PRGDisplay:  # whose F-gain is a weighted mean
                gain = (precision + beta**2 * recall) / (1 + beta**2)
            else:
                weight = 1 + beta**2
                gain = weight * precision * recall / (beta**2 * precision + recall)
            assert np.ptp(gain) < 1e-9
            values.append(gain[0])
        np.testing.assert_allclose(values, [0.2, 0.4, 0.6, 0.8])
    with pytest.raises(ValueError, match="beta"):
        plots.PRGDisplay.from_predictions(TRUE, PROBABILITY, beta=0)


def test_fallout_on_the_lift_chart(ax):
    options = {"plot_fallout": True, "ax": ax}
    with pytest.raises(ValueError, match="plot_fallout is about rates"):
        plots.LiftDisplay.from_predictions(TRUE, PROBABILITY, **options)
    options["scale"] = "recall"
    display = plots.LiftDisplay.from_predictions(TRUE, PROBABILITY, **options)
    points = curves.operating_points(TRUE, PROBABILITY)
    assert np.array_equal(display.guides_[-1].get_ydata(), points.false_positive_rate)


# Calibration


def test_calibration_has_intervals_loess_and_rug(ax):
    display = plots.CalibrationDisplay.from_predictions(
        TRUE, PROBABILITY, n_bins=5, span=0.6, degree=2, level=0.9, ax=ax
    )
    curve = curves.calibration_curve(TRUE, PROBABILITY, n_bins=5)
    assert np.array_equal(display.line_.get_ydata(), curve.fraction_positive)
    low, high = curve.intervals(0.9)
    for segment, x, a, b in zip(display.intervals_.get_segments(), curve.x, low, high, strict=True):
        assert segment == pytest.approx(np.array([[x, a], [x, b]]))
    smooth = curves.loess_calibration_curve(TRUE, PROBABILITY, span=0.6, degree=2)
    assert np.array_equal(display.smooth_[1].get_ydata(), np.clip(smooth.y, 0, 1))
    positives, negatives = display.rug_
    marks = np.array([segment[0, 0] for segment in positives.get_segments()])
    assert marks == pytest.approx(np.unique(PROBABILITY[TRUE == 1]), abs=0.002)
    assert positives.get_segments()[0][0, 1] == ax.get_ylim()[1]
    assert negatives.get_segments()[0][0, 1] == ax.get_ylim()[0]
    assert legend_texts(ax) == [
        "class 1",
        "LOESS",
        "90 % Wilson interval",
        "perfect calibration",
    ]


def test_calibration_with_exchanged_axes_and_without_extras(ax):
    display = plots.CalibrationDisplay.from_predictions(
        TRUE, PROBABILITY, axes="vuk_curk", plot_loess=False, ax=ax
    )
    curve = curves.calibration_curve(TRUE, PROBABILITY)
    assert np.array_equal(display.line_.get_xdata(), curve.fraction_positive)
    assert (display.smooth_, display.intervals_, display.rug_) == ({}, None, [])


# Overview


@pytest.mark.slow
def test_roc_bands_are_those_of_each_class_against_the_rest(ax):
    weights = np.linspace(0.5, 2, 200)
    display = plots.ROCDisplay.from_predictions(
        NAMES, MANY, sample_weight=weights, plot_band=True, level=0.8, ax=ax
    )
    assert set(display.bands_) == set(display.lines_) == set(display.curves)
    for position, label in enumerate(sorted(set(NAMES))):
        binary = Predictions.from_arrays(
            (label == NAMES).astype(int), MANY[:, position], sample_weight=weights
        )
        expected = curve_band(binary, level=0.8)
        np.testing.assert_array_equal(display.bands[label].low, expected.low)
        np.testing.assert_array_equal(display.bands[label].high, expected.high)
        drawn = display.bands_[label]
        assert to_hex(drawn.get_facecolor()[0]) == to_hex(display.lines_[label].get_color())
        corners = {tuple(corner) for corner in drawn.get_paths()[0].vertices}
        assert corners >= set(zip(expected.fpr, expected.low, strict=True))
        assert corners >= set(zip(expected.fpr, expected.high, strict=True))
    assert plots.ROCDisplay.from_predictions(NAMES, MANY, ax=ax).bands_ == {}


def test_band_of_one_curve_contains_it(ax):
    display = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, plot_band=True, ax=ax)
    assert legend_texts(ax) == [f"class 1: AUC {display.curves[1].area:.3f}, 95 % band", "chance"]
    band = display.bands[1]
    assert (band.low <= band.tpr).all()
    assert (band.tpr <= band.high).all()
    again = plots.ROCDisplay(display.curves[1], band).plot(ax)
    assert again.bands_.keys() == {1}
    beneath = [*display.guides_, *display.bands_.values()]
    assert max(part.get_zorder() for part in beneath) < display.line_.get_zorder()


def test_overview_has_nine_charts_and_one_legend():
    predictions = Predictions.from_arrays(NAMES, MANY)
    figure = plots.overview(predictions, figure=Figure(figsize=(9, 9), layout="constrained"))
    charts = {
        "ROC": curves.roc_curve,
        "Informedness by false alarms (BOC)": curves.boc_curve,
        "Lift, fallout (thin)": curves.lift_curve,
        "Precision-recall": curves.precision_recall_curve,
        "Precision-recall, reciprocal": curves.reciprocal_precision_recall_curve,
        "Precision-recall, logarithmic": curves.log_precision_recall_curve,
        "Informedness by share predicted (BIFT)": curves.bift_curve,
        "Informedness by relative drift (BPRD)": curves.bprd_curve,
        "Information by drift, in bits (BIRD)": curves.bird_curve,
    }
    assert [ax.get_title() for ax in figure.axes] == [*charts]
    for ax, function in zip(figure.axes, charts.values(), strict=True):
        drawn = [thresholds_of(line)[1] for line in ax.lines]
        for curve in function(predictions, multi_class="ovr").values():
            assert axis_names(ax) == (curve.x_name, curve.y_name)
            assert any(np.array_equal(expected_data(curve)[1], y) for y in drawn)
            if ax.get_title() == "Lift, fallout (thin)":
                fallout = curve.points.false_positive_rate
                assert any(np.array_equal(fallout, y) for y in drawn)
        assert ax.get_legend() is None
    [legend] = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:4] == [f"{name} (n = {np.sum(name == NAMES)})" for name in np.unique(NAMES)]
    assert [handle.get_color() for handle in legend.legend_handles[:4]] == [*COLORS[:4]]
    assert {*texts[4:]} == {"chance", "break-even"}
    figure.canvas.draw()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "width"),
    [
        ([f"the {name} among the classes" for name in NAMES], 9),
        ([f"{name} among all of the classes that have fur" for name in NAMES], 7),
    ],
)
def test_overview_keeps_a_legend_of_long_names_inside_the_figure(names, width):
    """Also in a narrow one: columns are as wide as their longest text."""
    figure = Figure(figsize=(width, 9), layout="constrained")
    plots.overview(np.array(names), MANY, figure=figure).canvas.draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width


@pytest.mark.parametrize("n_classes", [2, 4])
def test_overview_counts_classes_that_are_called_classes(n_classes):
    names = np.array([f"class {x}" for x in range(n_classes)])[np.arange(40) % n_classes]
    scores = np.random.default_rng(0).random((40, n_classes))
    figure = plots.overview(names, scores, figure=Figure(figsize=(9, 9)))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    first = 1 if n_classes == 2 else 0
    assert texts[0] == f"class {first} (n = {40 // n_classes})"


def test_overview_of_two_classes_and_a_new_figure():
    figure = plots.overview(TRUE, PROBABILITY)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[0] == f"class 1 (n = {TRUE.sum()})"


def test_a_new_figure_where_no_axes_are_given():
    one = plots.ROCDisplay.from_predictions(TRUE, PROBABILITY)
    assert one.figure_ is not plots.ROCDisplay.from_predictions(TRUE, PROBABILITY).figure_


# Errors and imports


CLASSIFIER_DISPLAYS = ["ROC", "DET", "Calibration", "Reliability", "Decision", "RiskCoverage"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIER_DISPLAYS)
def test_displays_take_the_same_options_and_refuse_others_in_words(ax, name):
    kind = getattr(
        applications if name in ("Decision", "RiskCoverage") else plots, f"{name}Display"
    )
    given = {"name": "forest", "curve_kwargs": {"lw": 3}, "color": "red", "label": "own", "ax": ax}
    display = kind.from_predictions(TRUE, PROBABILITY, **given)
    [line] = display.lines_.values()
    assert (line.get_color(), line.get_linewidth(), line.get_label()) == ("red", 3, "own")
    for option, answer in {
        "title": "call .ax_.set_title() of the display",
        "xlim": "call .ax_.set_xlim() of the display",
        "figsize": "pass ax= of matplotlib.pyplot.subplots",
        "line_kw": "pass curve_kwargs=",
        "response_method": "pass y_score=model.predict_proba(X)",
        "despine": f"help({name}Display.plot) lists its arguments",
    }.items():
        with pytest.raises(TypeError, match=re.escape(answer)):
            kind.from_predictions(TRUE, PROBABILITY, **{option: 1})
    if name not in ("Reliability",):
        with pytest.raises(TypeError, match=r"from_predictions\(y_true, y_score\)"):
            kind(TRUE)


def test_images_refuse_options_in_words():
    with pytest.raises(TypeError, match=r"call .ax_.set_title\(\)"):
        plots.PairwiseAUCDisplay.from_predictions(NAMES, MANY, title="x")
    display = plots.PairwiseAUCDisplay.from_predictions(NAMES, MANY, cmap="viridis", alpha=0.5)
    assert display.image_.get_cmap().name == "viridis"


def many_classes(k):
    y = np.arange(30 * k) % k
    names = [f"Papillary neoplasm of low malignant potential {x}" for x in range(k)]
    scores = RNG.normal(size=(len(y), k)) + 2 * np.eye(k)[y]
    return Predictions.from_arrays(np.array(names)[y], scores, labels=names)


@pytest.mark.parametrize("k", [10, 25])
def test_named_curves_stand_out_on_a_dark_ground(k):
    with style.context("dark_background"):
        display = plots.ROCDisplay.from_predictions(many_classes(k), ax=Figure().subplots())
    light = {x: np.dot(to_rgb(y.get_color()), [0.3, 0.59, 0.11]) for x, y in display.lines_.items()}
    others = [light[x] for x, y in display.lines_.items() if y.get_zorder() < 2]
    assert len(others) == (15 if k == 25 else 0)
    assert min(x for x in light.values() if x not in others) > max([0.3, *others])


def test_a_legend_leaves_room_for_the_chart_of_a_small_figure():
    figure = Figure(figsize=(3.6, 3.6), layout="constrained")
    ax = figure.subplots()
    plots.AccuracyDisplay.from_predictions(many_classes(10), ax=ax)
    figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert ax.get_window_extent().width > 0.7 * figure.bbox.width
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width
    assert legend.y0 >= -1
    texts = legend_texts(ax)
    assert len({*texts}) == 12  # shortened names are still told apart
    assert all(re.search(r"\N{HORIZONTAL ELLIPSIS}.* \d: mean 0\.\d{3}$", x) for x in texts[:10])


@pytest.mark.parametrize("k", [4, 10])
def test_names_of_pairs_fit_a_small_figure(k):
    figure = Figure(figsize=(3.6, 3.6), layout="constrained")
    display = plots.PairwiseAUCDisplay.from_predictions(many_classes(k), ax=figure.subplots())
    figure.draw_without_rendering()
    for label in (*display.ax_.get_yticklabels(), display.ax_.yaxis.label, display.ax_.xaxis.label):
        assert label.get_window_extent().x0 >= 0
        assert label.get_window_extent().x1 <= figure.bbox.width
    cell = display.ax_.get_window_extent().width / k
    assert len(display.texts_) == (12 if k == 4 else 0)  # values that would overlap are left out
    assert all(x.get_window_extent().width < cell for x in display.texts_)


def test_unknown_options_and_bad_input(ax):
    answer = r"ROCDisplay.plot\(\) got an unexpected .* 'colour' \(did you mean 'color'"
    with pytest.raises(TypeError, match=answer):
        plots.ROCDisplay.from_predictions(TRUE, PROBABILITY, colour="red", ax=ax)
    with pytest.raises(ValueError, match="the probabilities of class 1 must be in"):
        plots.CalibrationDisplay.from_predictions(TRUE, 3 * PROBABILITY, ax=ax)
    with pytest.raises(TypeError, match="LogisticRegression lacks classes_"):
        plots.LiftDisplay.from_estimator(LogisticRegression(), LOGITS, NAMES, ax=ax)


def test_displays_of_curves_do_without_jax():
    code = (
        "import sys, dmfroc; from dmfroc import plots, curves; plots.ROCDisplay; plots.overview; "
        "assert 'jax' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names():
    """Displays and curves are in packages of their own, and not at the top level."""
    displays = {name: "plots" for name in plots.__all__ if name != "overview"}
    charts = {name: "curves" for name in curves.__all__ if name.endswith("_curve")}
    for name, package in (displays | charts).items():
        assert callable(getattr(getattr(dmfroc, package), name))
        assert not hasattr(dmfroc, name)


def test_isometrics_are_drawn_in_equal_steps():
    looks = (getattr(getattr(plots, name), "look", None) for name in plots.__all__)
    values = [look.isometric_values for look in looks if look and look.isometric_values]
    assert values
    for of_chart in values:
        steps = np.diff(of_chart)
        assert steps == pytest.approx(steps[:1].repeat(len(steps)))


def test_long_names_do_not_squeeze_charts():
    """Ten classes with names of 40 letters, in figures of the displays' own."""
    rng = np.random.default_rng(0)
    labels = [f"{i} with a name that is rather a long one" for i in range(10)]
    y = np.arange(300) % 10
    scores = rng.normal(size=(300, 10)) + 1.5 * np.eye(10)[y]
    named = (np.array(labels)[y], scores)
    for display in (plots.PairwiseAUCDisplay, plots.DETDisplay, plots.ROCDisplay):
        shown = display.from_predictions(*named, labels=labels)
        shown.figure_.canvas.draw()
        box = shown.ax_.get_window_extent()
        assert min(box.width, box.height) > 0.7 * shown.figure_.bbox.height
        for axis in (shown.ax_.xaxis, shown.ax_.yaxis):
            boxes = [text.get_window_extent() for text in axis.get_ticklabels() if text.get_text()]
            assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    figure = plots.overview(*named, labels=labels)
    assert figure.legends[0].get_title().get_text().startswith("6 of 10 classes: the 3 hardest")


@pytest.mark.parametrize("display", [plots.ROCDisplay, plots.PRGDisplay])
def test_scores_on_a_hull_are_written_inside_the_chart(display):
    rng = np.random.default_rng(7)
    y = rng.random(300) < 0.3
    figure = Figure(figsize=(6, 6))
    shown = display.from_predictions(
        y, rng.normal(size=300) + 1.5 * y, plot_hull=True, ax=figure.add_subplot()
    )
    figure.canvas.draw()
    border = shown.ax_.get_window_extent()
    texts = [x.get_window_extent() for x in shown.ax_.texts if "." in x.get_text()]
    assert len(texts) > 3
    assert all(border.x0 <= x.x0 and x.x1 <= border.x1 for x in texts)


def test_names_of_two_break_between_them():
    rows = [
        ForestRow(f"douglas fir {x} lodgepole pine", 1.0, (0.9, 1.1)) for x in "/\N{MINUS SIGN}"
    ]
    ax = Figure(figsize=(4, 4)).subplots()
    IntervalDisplay(rows, xlabel="Accuracy").plot(ax)
    assert [x.get_text() for x in ax.get_yticklabels()] == [
        "douglas fir\n/ lodgepole pine",
        "douglas fir\n\N{MINUS SIGN} lodgepole pine",
    ]
    parts = [bar["parts"] for bar in forest(rows, "")["bars"]]
    assert parts[0] == ["douglas fir", "/ lodgepole pine"]


def test_a_calibration_chart_of_many_classifiers_has_intervals_of_two():
    ax = Figure().subplots()
    draw = partial(plots.CalibrationDisplay.from_predictions, ax=ax)
    shown = [draw(TRUE, PROBABILITY ** (1 + i / 4), name=f"m{i}") for i in range(4)]
    assert [x.intervals_ is not None for x in shown] == [True, True, False, False]
    assert [len(x.rug_) for x in shown] == [2, 2, 0, 0]
    names = ["m0", "LOESS", "95 % Wilson interval", "m1", "m2", "m3", "perfect calibration"]
    assert sorted(legend_texts(ax)) == sorted(names)
    looks = {(x.smooth_[1].get_color(), x.smooth_[1].get_linestyle()) for x in shown}
    assert len(looks) == 4
    labels = [x.smooth_[1].get_label() for x in shown]
    assert labels == ["LOESS", "m1", "m2", "m3"]  # whose lines the legend shows


def test_a_class_that_is_called_class_1_is_not_called_one_twice(ax):
    labels = np.array(["class 0", "class 1"])[TRUE]
    for display in (plots.ROCDisplay, applications.DecisionDisplay):
        found = display.from_predictions(labels, PROBABILITY, ax=Figure().subplots())
        assert legend_texts(found.ax_)[0].split(":")[0] == "class 1"
