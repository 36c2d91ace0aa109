"""Pictures of comparisons and of pairs of classes: what is drawn is what was computed."""

import io
import itertools

import numpy as np
import pytest
from matplotlib import style
from matplotlib.figure import Figure

import dmfroc
from dmfroc import plots

RNG = np.random.default_rng(1)
TRUE = np.arange(90) % 3
SCORES = {
    name: RNG.normal(size=(90, 3)) + effect * np.eye(3)[TRUE]
    for name, effect in {"strong": 2, "fair": 1, "weak": 0.5}.items()
}


@pytest.fixture(scope="module")
def comparison():
    return dmfroc.compare(TRUE, SCORES, measures="hand_till", test=dmfroc.Equivalence(0.01))


def test_differences_have_their_intervals(comparison):
    display = comparison.plot()
    values = display.differences_.get_xdata()
    assert list(values) == [d.value for d in comparison.differences]
    ends = [tuple(segment[:, 0]) for segment in display.intervals_.get_segments()]
    assert ends == [d.interval for d in comparison.differences]
    assert display.ax_.get_xlabel().endswith("\n(95 % intervals, jackknife)")
    together = dmfroc.compare(TRUE, SCORES, measures="hand_till", simultaneous=True).plot()
    assert together.ax_.get_xlabel().endswith("\n(simultaneous 95 % intervals, jackknife)")


def test_the_better_one_comes_first_whatever_the_order_given():
    given = dict(reversed(SCORES.items()))
    display = dmfroc.compare(TRUE, given, measures="hand_till").plot()
    assert min(display.differences_.get_xdata()) > 0
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "strong \N{MINUS SIGN} weak" in names


def test_orders_have_their_probabilities(comparison):
    display = comparison.plot()
    widths = [bar.get_width() for bar in display.orders_]
    assert widths == list(comparison.order_probabilities.values())[: len(widths)]
    names = [text.get_text() for text in display.ax_orders_.get_yticklabels()]
    assert names[0] == "strong > fair > weak"


def test_small_differences_of_twelve_can_be_read():
    near = {f"m{i}": SCORES["strong"] + i / 300 * SCORES["fair"] for i in range(12)}
    display = dmfroc.compare(TRUE, near, measures="hand_till").plot()
    display.figure_.canvas.draw()
    boxes = [x.get_window_extent() for x in display.ax_.get_xticklabels()]
    gaps = [right.x0 - left.x1 for left, right in itertools.pairwise(boxes)]
    assert len(boxes) > 2
    assert min(gaps) > 10  # pixels
    assert "0.000" not in [x.get_text() for x in display.ax_.texts]


def test_given_axes_are_used(comparison):
    ax = Figure().add_subplot()
    display = comparison.plot(ax=ax)
    assert (display.ax_, display.orders_, display.ax_orders_) == (ax, None, None)


@pytest.mark.parametrize("format", ["pdf", "svg"])
def test_pictures_are_vectors(comparison, format):
    stream = io.BytesIO()
    comparison.plot().figure_.savefig(stream, format=format)
    assert b"/Subtype /Image" not in stream.getvalue()
    assert b"<image" not in stream.getvalue()


def test_the_style_of_the_user_is_respected(comparison):
    with style.context({"font.size": 20, "axes.labelsize": 17}):
        display = comparison.plot()
    assert display.ax_.xaxis.label.get_size() == 17


def test_heat_maps_show_the_pairwise_areas():
    display = dmfroc.plots.PairwiseAUCDisplay.from_predictions(TRUE, SCORES["weak"])
    areas = dmfroc.pairwise_auc_matrix(TRUE, SCORES["weak"])
    drawn = np.ma.filled(display.image_.get_array(), np.nan)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(drawn[off], areas[off])
    assert np.isnan(drawn[~off]).all()
    assert [float(text.get_text()) for text in display.texts_] == [
        round(area, 3) for area in areas[off]
    ]


def test_heat_maps_of_many_classes_have_few_ticks():
    labels = [f"c{i}" for i in range(60)]
    true = np.arange(300) % 60
    ax = Figure().add_subplot()
    scores = np.random.default_rng(0).normal(size=(300, 60)) + 2 * np.eye(60)[true]
    display = dmfroc.plots.PairwiseAUCDisplay.from_predictions(
        np.array(labels)[true], scores, labels=labels, ax=ax
    )
    assert display.texts_ == []
    assert len(ax.get_xticks()) <= 25
    for axis in (ax.xaxis, ax.yaxis):
        assert [x.get_text() for x in axis.get_ticklabels()] == labels[::5]


@pytest.mark.parametrize(("k", "step"), [(25, 1), (60, 5), (125, 5)])
def test_short_names_are_on_both_axes_of_a_heat_map(k, step):
    display = plots.PairwiseAUCDisplay(np.full((k, k), 0.8), range(k)).plot()
    display.figure_.draw_without_rendering()
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        texts = axis.get_ticklabels()
        assert [x.get_text() for x in texts] == [str(label) for label in range(0, k, step)]
        boxes = [x.get_window_extent() for x in texts]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


@pytest.mark.parametrize("k", [3, 20])
@pytest.mark.parametrize("name", ["c", "a class with a long name "])
def test_the_label_of_a_heat_map_is_inside_its_figure(k, name):
    areas = np.full((k, k), 0.8)
    display = plots.PairwiseAUCDisplay(areas, [f"{name}{i}" for i in range(k)]).plot()
    display.figure_.draw_without_rendering()
    assert display.ax_.yaxis.label.get_window_extent().x0 >= 0


def test_overview_of_many_classes_shows_the_hardest_and_the_easiest():
    true = np.arange(160) % 8
    effects = np.linspace(0.2, 4, 8)
    scores = np.random.default_rng(0).normal(size=(160, 8)) + effects * np.eye(8)[true]
    figure = plots.overview(true, scores, figure=Figure(figsize=(9, 9), layout="constrained"))
    areas = dmfroc.one_vs_rest_auc_per_class(true, scores)
    shown = sorted(np.argsort(areas)[[0, 1, 2, -3, -2, -1]])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [name for name in names if "n = 20" in name] == [
        f"class {label} (n = 20)" for label in shown
    ]


def test_orders_of_many_classifiers_are_left_out_of_new_figures():
    y = np.arange(90) % 3
    rng = np.random.default_rng(0)
    scores = {f"{i}{'x' * 40}": rng.normal(size=(90, 3)) + np.eye(3)[y] for i in range(6)}
    display = dmfroc.compare(y, scores, measures="hand_till").plot()
    display.figure_.canvas.draw()
    assert display.orders_ is None
    assert display.figure_.axes == [display.ax_]
    assert display.ax_.get_window_extent().width > 200
