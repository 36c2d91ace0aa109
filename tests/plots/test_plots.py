"""Display: what is drawn, where, and what the legend says."""

import dataclasses
import re
import subprocess
import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from bands import curve_band
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from simulations import normal_scores
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dmfroc import Predictions, applications, curves, estimate, multiclass_roc, plots
from dmfroc.measures import ContingencyTable
from dmfroc.plots import MulticlassROCDisplay
from dmfroc.plots.forest import ForestRow, IntervalDisplay
from dmfroc.results import Estimate

CLASSES, SCORES = normal_scores(1, 150, 3, 1.5)
FEATURES = SCORES @ np.array([[1.0, 0.2], [0.1, 1.0], [-1.0, 0.3]])
AREA = estimate("dmf_auc", CLASSES, SCORES)


@pytest.fixture
def ax():
    return Figure(figsize=(6.4, 6.4), layout="constrained").subplots()


@pytest.fixture(scope="module")
def computed():
    """Return a display that has been computed; each test draws it on axes of its own."""
    return MulticlassROCDisplay.from_predictions(
        CLASSES, SCORES, name="forest", ax=Figure().subplots()
    )


def legend_texts(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


# Data


def test_line_is_the_curve(computed, ax):
    display = computed.plot(ax)
    curve = multiclass_roc(CLASSES, SCORES)
    assert np.array_equal(display.line_.get_xdata(), curve.fpr)
    assert np.array_equal(display.line_.get_ydata(), curve.tpr)


def test_band_is_that_of_the_curve(computed, ax):
    band = curve_band(Predictions.from_arrays(CLASSES, SCORES))
    (path,) = computed.plot(ax).band_.get_paths()
    drawn = {tuple(vertex) for vertex in path.vertices}
    assert {*zip(band.fpr, band.low, strict=True), *zip(band.fpr, band.high, strict=True)} <= drawn


def test_pairs_are_the_curves_of_the_pairs(computed, ax):
    display = computed.plot(ax, plot_pairs=True)
    pairs = display.pairs_.get_segments()
    assert display.pairs_.get_zorder() < display.line_.get_zorder()
    curve = multiclass_roc(CLASSES, SCORES)
    assert len(pairs) == 6
    for segment, fpr, tpr in zip(pairs, curve.pairwise_fpr, curve.pairwise_tpr, strict=True):
        assert np.array_equal(segment, np.column_stack([[0, *fpr, 1], [0, *tpr, 1]]))


def test_options_reach_curve_area_and_band(ax):
    options = {"pair_weights": "prevalence", "n_thresholds": 29, "shrinkage": 0.5}
    weight = np.linspace(0.5, 2, 150)
    display = MulticlassROCDisplay.from_predictions(
        CLASSES, SCORES, sample_weight=weight, level=0.8, ax=ax, **options
    )
    predictions = Predictions.from_arrays(CLASSES, SCORES, sample_weight=weight)
    assert np.array_equal(display.curve.tpr, multiclass_roc(predictions, **options).tpr)
    assert np.array_equal(display.band.low, curve_band(predictions, level=0.8, **options).low)
    assert display.estimate.value == pytest.approx(display.curve.auc, abs=1e-12)
    assert (display.estimate.level, display.band.level) == (0.8, 0.8)


def test_predictions_in_place_of_arrays(computed, ax):
    display = MulticlassROCDisplay.from_predictions(Predictions.from_arrays(CLASSES, SCORES), ax=ax)
    assert np.array_equal(display.curve.tpr, computed.curve.tpr)
    assert display.estimate == AREA


# From an estimator


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LogisticRegression(), "predict_proba"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "predict_proba"),
        (Perceptron(), "decision_function"),
        (SVC(), "decision_function"),
    ],
    ids=["probabilities", "pipeline", "perceptron", "svc"],
)
def test_from_estimator_is_from_predictions(estimator, method):
    classes = np.array(["lion", "ant", "bee"])[CLASSES]
    estimator.fit(FEATURES, classes)
    display = MulticlassROCDisplay.from_estimator(
        estimator, FEATURES, classes, plot_band=False, ax=Figure().subplots()
    )
    scores = getattr(estimator, method)(FEATURES)
    expected = multiclass_roc(classes, scores, labels=["ant", "bee", "lion"])
    assert np.array_equal(display.curve.fpr, expected.fpr)
    assert np.array_equal(display.curve.tpr, expected.tpr)
    assert display.line_.get_label().startswith(f"{type(estimator).__name__}: DMF-AUC 0.")


def test_from_estimator_with_two_classes_and_options(ax):
    rows = CLASSES < 2
    classes = np.where(CLASSES[rows] == 0, "ill", "well")
    estimator = SVC().fit(FEATURES[rows], classes)
    display = MulticlassROCDisplay.from_estimator(
        estimator, FEATURES[rows], classes, name="svm", plot_band=False, color="black", ax=ax
    )
    score = estimator.decision_function(FEATURES[rows])
    assert display.curve.auc == multiclass_roc(classes, score).auc
    assert display.line_.get_color() == "black"
    assert display.line_.get_label().startswith("svm: ")
    assert ax.get_xlabel() == "False positive rate (positive class: well)"
    assert ax.get_ylabel() == "True positive rate (positive class: well)"


def test_unfitted_estimator():
    with pytest.raises(TypeError, match=r"LogisticRegression lacks classes_ \(is it fitted\?\)"):
        MulticlassROCDisplay.from_estimator(LogisticRegression(), FEATURES, CLASSES)


def test_estimator_without_scores():
    with pytest.raises(TypeError, match=r"StandardScaler lacks predict_proba and decision_functi"):
        MulticlassROCDisplay.from_estimator(StandardScaler(), FEATURES, CLASSES)


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)], ids=["alone", "pipeline"])
def test_scores_of_pairs_of_classes_are_not_taken_for_scores_of_classes(steps):
    votes = SVC(decision_function_shape="ovo")
    estimator = make_pipeline(*steps, votes).fit(FEATURES, CLASSES)
    estimator = estimator if steps else estimator[-1]
    assert estimator.decision_function(FEATURES).shape == (150, 3)
    with pytest.raises(TypeError, match=r"scores pairs of classes .*set decision_function_shape"):
        MulticlassROCDisplay.from_estimator(estimator, FEATURES, CLASSES)


def test_two_classes_are_one_pair_that_may_be_scored(ax):
    estimator = SVC(decision_function_shape="ovo").fit(FEATURES, CLASSES == 0)
    display = MulticlassROCDisplay.from_estimator(
        estimator, FEATURES, CLASSES == 0, plot_band=False, ax=ax
    )
    assert display.curve.pairs == ((True, False),)


# Axes


def test_given_axes_are_honoured(computed):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = computed.plot(right)
    assert display is computed
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()


def test_without_axes_a_new_figure(computed):
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    first, second = computed.plot().ax_, computed.plot().ax_
    assert first.figure is not second.figure
    assert len(pyplot.get_fignums()) == len(before) + 2
    pyplot.close(first.figure)
    pyplot.close(second.figure)


def test_look_of_the_axes(computed, ax):
    computed.plot(ax)
    assert ax.get_xlabel() == "False positive rate (average pair of classes)"
    assert ax.get_ylabel() == "True positive rate (average pair of classes)"
    assert ax.get_aspect() == 1
    assert ax.get_xlim() == ax.get_ylim() == pytest.approx((0, 1), abs=0.02)


def test_no_global_setting_is_touched(computed):
    from matplotlib import rcParams

    before = dict(rcParams)
    computed.plot(Figure().subplots(), plot_pairs=True)
    assert dict(rcParams) == before


# Parts and their style


def test_parts_can_be_left_out(computed, ax):
    display = computed.plot(ax, plot_band=False, plot_chance_level=False)
    assert (display.band_, display.pairs_, display.chance_) == (None, None, None)
    assert list(ax.lines) == [display.line_]
    assert not ax.collections


def test_band_that_is_not_wanted_is_not_computed(ax):
    display = MulticlassROCDisplay.from_predictions(
        CLASSES, SCORES, plot_band=False, plot_chance_level=False, ax=ax
    )
    assert (display.band, display.chance_) == (None, None)
    assert display.plot(ax).band_ is None


def test_arguments_of_the_line(computed, ax):
    display = computed.plot(ax, c="tab:red", lw=5, ls=":", label="mine")
    line = display.line_
    assert (line.get_color(), line.get_linewidth(), line.get_linestyle()) == ("tab:red", 5, ":")
    assert legend_texts(ax)[0] == "mine"
    band_color = to_hex(display.band_.get_facecolor()[0])
    assert band_color == to_hex("tab:red")


def test_many_pairs_are_fainter_than_few(computed):
    classes, scores = normal_scores(2, 300, 10, 2.0)
    many = MulticlassROCDisplay.from_predictions(
        classes, scores, plot_band=False, plot_pairs=True, ax=Figure().subplots()
    )
    few = computed.plot(Figure().subplots(), plot_pairs=True)
    assert len(many.pairs_.get_segments()) == 90
    assert many.pairs_.get_alpha() < few.pairs_.get_alpha() < 0.5


def test_overlaid_classifiers_share_chance_line_and_legend(computed, ax):
    first = computed.plot(ax, name="forest")
    first_line, first_chance = first.line_, first.chance_
    second = computed.plot(ax, name="tree")
    second_line, second_chance = second.line_, second.chance_
    third_line = computed.plot(ax, name="dice").line_
    colors = {line.get_color() for line in (first_line, second_line, third_line)}
    assert len(colors) == 3
    assert first_chance is not None
    assert second_chance is None
    assert len(ax.lines) == 4
    texts = legend_texts(ax)
    assert [text.split(":")[0] for text in texts] == ["forest", "tree", "dice", "chance"]
    drawn = [first_line, second_line, third_line, first_chance]
    handles = ax.get_legend().legend_handles
    assert [handle.get_color() for handle in handles] == [line.get_color() for line in drawn]


def test_overlay_avoids_colours_that_are_taken(computed, ax):
    first = computed.plot(ax, color="#d55e00").line_.get_color()
    others = [computed.plot(ax, plot_band=False).line_ for _ in range(8)]
    styles = {(to_hex(line.get_color()), str(line._unscaled_dash_pattern)) for line in others}
    assert len(styles) == 8
    assert to_hex(first) not in {to_hex(line.get_color()) for line in others[:6]}


def test_what_is_on_the_axes_stays_and_keeps_its_legend_entry(computed, ax):
    (mine,) = ax.plot([0, 1], [1, 0], label="mine")
    bars = ax.bar([0.5], [0.1], label="bars")
    computed.plot(ax)
    assert mine in ax.lines
    assert legend_texts(ax)[-1] == "chance: AUC 0.5"
    assert {"mine", "bars"} < set(legend_texts(ax))
    assert len(bars) == 1


# Legend


def test_legend_names_classifier_area_interval_and_method(computed, ax):
    computed.plot(ax)
    low, high = AREA.interval
    assert legend_texts(ax) == [
        f"forest: DMF-AUC {AREA.value:.3f} (95 % jackknife interval {low:.3f} to {high:.3f})",
        "chance: AUC 0.5",
    ]


def test_name_of_the_drawing_takes_precedence_for_that_drawing_only(computed, ax):
    assert computed.plot(ax, name="other").line_.get_label().startswith("other: DMF-AUC")
    assert computed.plot(ax).line_.get_label().startswith("forest: DMF-AUC")


def test_legend_without_name_or_interval(computed, ax):
    curve = computed.curve
    assert MulticlassROCDisplay(curve).plot(ax).line_.get_label() == f"DMF-AUC {curve.auc:.3f}"


@pytest.mark.parametrize(
    ("value", "error", "interval", "expected"),
    [
        (0.9124, 0.01, (0.8871, 0.9313), "DMF-AUC 0.912 (95 % jackknife interval 0.887 to 0.931)"),
        (
            0.9124,
            0.00012,
            (0.9121, 0.9127),
            "DMF-AUC 0.9124 (95 % jackknife interval 0.9121 to 0.9127)",
        ),
        (
            0.9997,
            0.004,
            (0.99, 0.99998),
            "DMF-AUC >0.999 (95 % jackknife interval 0.990 to >0.999)",
        ),
        (
            0.0002,
            0.004,
            (0.00001, 0.01),
            "DMF-AUC <0.001 (95 % jackknife interval <0.001 to 0.010)",
        ),
        (1 - 1e-13, 1e-14, (0.95, 1.0), "DMF-AUC 1.000 (95 % exact interval 0.950 to 1.000)"),
        (0.5, 0.0, (0.4, 0.6), "DMF-AUC 0.500 (95 % exact interval 0.400 to 0.600)"),
    ],
)
def test_only_certainty_reads_as_certainty(computed, ax, value, error, interval, expected):
    made_up = Estimate("dmf_auc", "DMF-AUC", value, error, interval, 0.95, "jackknife")
    display = MulticlassROCDisplay(computed.curve, estimate=made_up)
    assert display.plot(ax).line_.get_label() == expected


def test_level_in_the_legend(computed, ax):
    made_up = dataclasses.replace(AREA, level=0.995)
    label = MulticlassROCDisplay(computed.curve, estimate=made_up).plot(ax).line_.get_label()
    assert "(99.5 % jackknife interval" in label


@pytest.mark.parametrize("size", [(3.2, 3.2), (6.4, 6.4), (12, 4)])
def test_legend_stays_within_the_axes(computed, size):
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    computed.plot(ax, name="a rather long name of a classifier in a pipeline")
    figure.draw_without_rendering()
    text = ax.get_legend().get_texts()[0].get_text()
    assert re.search(r"\(95 % jackknife interval [\d.]+ to [\d.]+\)$", text)
    legend, area = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert area.x0 - 1 <= legend.x0
    assert legend.x1 <= area.x1 + 1
    assert area.y0 - 1 <= legend.y0


@pytest.mark.parametrize("sign", [1, -1])
def test_legend_leaves_the_curve_uncovered(sign):
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    ax = figure.subplots()
    display = MulticlassROCDisplay.from_predictions(
        CLASSES, sign * SCORES, name="some classifier", plot_band=False, ax=ax
    )
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    points = ax.transData.transform(display.line_.get_xydata())
    assert not any(box.contains(x, y) for x, y in points)


# Input


def test_missing_scores():
    with pytest.raises(TypeError, match="y_score is missing"):
        MulticlassROCDisplay.from_predictions(CLASSES)


def test_level_outside_0_and_1():
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        MulticlassROCDisplay.from_predictions(CLASSES, SCORES, level=1.0)


def test_class_without_observations_gives_one_warning(ax):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MulticlassROCDisplay.from_predictions(
            CLASSES, np.column_stack([SCORES, SCORES[:, 0] - 1]), labels=[0, 1, 2, 3], ax=ax
        )
    assert [w.category for w in caught] == [UserWarning]
    assert "no observation" in str(caught[0].message)


@pytest.mark.slow
def test_import_is_cheap():
    code = (
        "import dmfroc.plots, sys; first = {'jax', 'matplotlib'} & set(sys.modules); "
        "from dmfroc.plots import MulticlassROCDisplay; "
        "assert not first, first; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_in_the_package():
    import dmfroc.plots

    assert "MulticlassROCDisplay" in dir(dmfroc.plots)
    with pytest.raises(AttributeError, match="has no RocDisplay: type"):
        _ = dmfroc.plots.RocDisplay


def test_from_cv_results_is_the_mean_over_folds():
    found = cross_validate(
        GaussianNB(), FEATURES, CLASSES, cv=3, return_estimator=True, return_indices=True
    )
    display = MulticlassROCDisplay.from_cv_results(found, FEATURES, CLASSES)
    rows = np.concatenate(found["indices"]["test"])
    folds = np.repeat(range(3), [len(test) for test in found["indices"]["test"]])
    scores = np.concatenate(
        [
            model.predict_proba(FEATURES[test])
            for model, test in zip(found["estimator"], found["indices"]["test"], strict=True)
        ]
    )
    expected = estimate("dmf_auc", CLASSES[rows], scores, folds=folds)
    assert display.estimate.interval == pytest.approx(expected.interval)
    label = CLASSES[0]
    drawn = plots.ROCDisplay.from_cv_results(
        found, FEATURES, CLASSES, pos_label=label, curve_kwargs={"linewidth": 0.5}
    )
    assert list(drawn.curves) == ["fold 0", "fold 1", "fold 2"]
    of_first = curves.roc_curve(CLASSES[rows[folds == 0]], scores[folds == 0], pos_label=label)
    assert drawn.curves["fold 0"].area == pytest.approx(of_first.area)
    assert drawn.line_.get_linewidth() == 0.5
    with pytest.raises(ValueError, match="pos_label must name"):
        plots.ROCDisplay.from_cv_results(found, FEATURES, CLASSES)
    with pytest.raises(TypeError, match="return_estimator=True"):
        plots.ROCDisplay.from_cv_results({"test_score": [1]}, FEATURES, CLASSES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "display",
    [plots.ReliabilityDisplay, applications.DecisionDisplay, applications.RiskCoverageDisplay],
)
def test_every_display_of_scores_takes_an_estimator(display):
    model = GaussianNB().fit(FEATURES, CLASSES)
    drawn = display.from_estimator(model, FEATURES, CLASSES)
    expected = display.from_predictions(CLASSES, model.predict_proba(FEATURES))
    found, wanted = (
        [line.get_ydata() for line in x.ax_.lines if len(line.get_ydata()) > 2]
        for x in (drawn, expected)
    )
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("display", "shared"),
    [
        (plots.ReliabilityDisplay, ["95 % consistency band", "95 % confidence band", "calibrated"]),
        (applications.DecisionDisplay, ["95 % pointwise band", "treat all", "treat none"]),
        (applications.RiskCoverageDisplay, ["95 % Wilson interval", "error rate of all"]),
    ],
)
def test_overlaid_classifiers_have_colours_of_their_own_and_share_the_rest(display, shared):
    y, p, ax = np.arange(90) % 2, np.linspace(0.1, 0.9, 90) ** 2, None
    widths = []
    for name in ("one", "two", "three"):
        drawn = display.from_predictions(y, p, name=name, ax=ax)
        ax = drawn.ax_
        widths.append(drawn.figure_.get_figwidth())
    lines = [line for line in ax.lines if line.get_gid() == "dmfroc-curve"]
    assert len({line.get_color() for line in lines}) == len(lines) == 3
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text for text in texts if text in shared] == shared
    assert widths[0] == widths[2]


def test_long_names_widen_forests():
    rows = [ForestRow(f"{'a long name ' * 6}{k}", 0.5, (0.4, 0.6)) for k in range(3)]
    display = IntervalDisplay(rows, xlabel="filled: may be the best; 95 %, simultaneous").plot()
    display.figure_.draw_without_rendering()
    box = display.ax_.xaxis.label.get_window_extent()
    assert display.figure_.bbox.x0 <= box.x0
    assert box.x1 <= display.figure_.bbox.x1


def test_rows_of_a_forest_have_names_up_to_a_hundred():
    rows = [ForestRow(f"site {k}", 0.5, (0.4, 0.6)) for k in range(101)]
    few = IntervalDisplay(rows[:100], xlabel="AUC").plot().ax_
    assert [x.get_text() for x in few.get_yticklabels()] == [row.name for row in rows[:100]]
    assert IntervalDisplay(rows, xlabel="AUC").plot().ax_.get_ylabel() == "in the order given"


def test_tables_of_many_classes_have_names_that_do_not_overlap():
    classes = np.array([f"Papillary neoplasm of kind {k}" for k in range(30)])
    y = np.arange(90) % 30
    table = ContingencyTable.from_labels(classes[y], classes[(y + y // 7) % 30])
    display = table.plot()
    display.figure_.draw_without_rendering()
    assert display.text_ is None
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        boxes = [text.get_window_extent() for text in axis.get_ticklabels()]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_thousands_of_pairs_leave_the_curve_visible():
    y = np.arange(480) % 48
    scores = np.random.default_rng(0).normal(size=(480, 48)) + 2 * np.eye(48)[y]
    drawn = plots.MulticlassROCDisplay.from_predictions(y, scores, plot_band=False, plot_pairs=True)
    assert drawn.pairs_.get_alpha() < 0.03
