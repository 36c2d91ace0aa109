"""Names that come from data: printed and drawn as they are written, and never acted on."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot
from scipy.special import softmax

from dmfroc import Predictions, compare, evaluate
from dmfroc._kit.text import legend_text, on_one_line, printable, width
from dmfroc.plots import MulticlassROCDisplay, ROCDisplay
from dmfroc.results.result import attributed
from dmfroc.results.table import Column, Table, printed
from dmfroc.results.text import format_table, paragraphs, warning_lines
from dmfroc.results.writers import as_latex, as_markdown, as_text

RNG = np.random.default_rng(0)
TRUE = np.repeat([0, 1, 2], 20)
GOOD = softmax(RNG.normal(size=(60, 3)) + 2 * np.eye(3)[TRUE], axis=1)
POOR = softmax(RNG.normal(size=(60, 3)) + np.eye(3)[TRUE], axis=1)
NASTY = ["forest [a]", "[/]", ":smile:", "[bold]x", "日本", "a\\[b", "$x", "_hidden", "50% $ of"]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_printed_as_they_are_written(name):
    estimates, differences, orders = str(
        compare(TRUE, {name: GOOD, f"{name}'": POOR}, measures="hand_till")
    ).split("\n\n")
    assert f"\n{name}  " in estimates
    assert f"\n{name}'  " in estimates
    assert f"\n{name}   {name}'   " in differences
    assert f"\n{name} > {name}'   " in orders


def test_lines_beside_tables_break_between_words():
    lines = ["short", "a-long-name " * 8 + "x" * 90, "日本 " * 20]
    first, second, third = paragraphs(lines)
    assert first == "short"
    words = second.split("\n")
    assert [len(x) for x in words] == [71, 25, 92]
    assert words[1].startswith("  a-long-name")
    assert on_one_line(second) == lines[1]
    assert 60 < max(map(width, third.split("\n"))) <= 80
    warned = warning_lines(["one", "two " * 30])
    assert warned[0] == "warning: one"
    assert warned[1].splitlines()[1] == "  two" + " two" * 11


def test_a_warning_names_each_of_a_few_classifiers_once():
    told = {f"m{i}": ["few rows", "few rows"] for i in range(9)} | {"other": ["few rows"] * 0}
    assert attributed(told) == ("m0, m1, m2, m3, m4, m5 and 3 more: few rows",)


def test_control_characters_cannot_reach_a_terminal():
    assert printable("a\x1b[31m\nb\u202e\u2028\ud800\0é日 \u200d") == (
        r"a\x1b[31m\nb\u202e\u2028\ud800\x00é日" + " \u200d"
    )
    predictions = Predictions.from_arrays(["a\x1b[2J", "b\n", "b\n"], [0.1, 0.2, 0.3])
    for text in [repr(predictions), str(evaluate(predictions, measures=["hand_till"]))]:
        assert r"a\x1b[2J 1, b\n 2" in text
        assert "\x1b" not in text


def test_tables_are_as_wide_as_their_contents():
    long = "x" * 60
    lines = format_table(
        ["name", "n"], [[long, "1"], ["日本", "22"], ["e\u0301", "3"]], [False, True]
    ).splitlines()
    assert lines[2] == f"{long}    1"
    assert [width(line) for line in lines[1:]] == [65] * 4
    with pytest.raises(ValueError, match="zip"):
        format_table(["name", "n"], [["a", "1"], ["b"]], [False, True])


def test_tables_wider_than_a_terminal_have_several_lines_a_row():
    names = ["a forest of random trees", "a boosted tree", "日本" * 30]
    rows = [[*pair, "+0.0123 to +0.0456", "0.012"] for pair in itertools.permutations(names, 2)]
    head = ["the first one", "the second one", "simultaneous 95 % interval", "p-value"]
    lines = format_table(head, rows, [False, False, True, True]).splitlines()
    assert max(map(width, lines)) <= 80
    assert "".join(lines).count("+0.0123 to +0.0456") == len(rows)
    assert "simultaneous 95 %" in lines[0]
    assert "interval" in lines[1]


@pytest.mark.parametrize(("longest", "indent"), [("precision", "  "), ("precisions-of", "")])
def test_further_lines_of_a_name_are_indented_if_those_of_its_column_fit(longest, indent):
    rows = [[f"the average {longest}", "1"], ["the area of all", "2"], ["short", "3"]]
    lines = format_table(["measure", "n"], rows, [False, True], 16).splitlines()[2:]
    assert [line.split()[0] for line in lines if line[-1].isdigit()] == ["the", "the", "short"]
    further = [line for line in lines if not line[-1].isdigit()]
    assert further
    assert all(line.startswith("  ") == bool(indent) for line in further)


def test_text_is_flush_left_and_numbers_are_flush_right():
    head, _, *rows = format_table(
        ["n", "title", "x"], [["1", "b", "2"], ["10", "long", "30"]], [True, False, True]
    ).splitlines()
    assert [head, *rows] == [" n   title    x", " 1   b        2", "10   long    30"]


def test_whole_numbers_are_counts_and_an_exact_zero_has_no_sign():
    table = Table(
        "t",
        "T",
        [
            Column("name", "name", ["<b>|\\", "a - b"], "name"),
            Column("n", "n", [77.0, 1825.0]),
            Column("x", "x", [4.33e-14, 0.25]),
            Column("share", "share", [0.0, 1.0]),
            Column("d", "A - B", [1e-17, -0.5], is_signed=True),
            Column("e", "+ x", [0.5, 1.5], is_signed=True),
        ],
    )
    _, cells = printed(table)
    assert [[cell.text for cell in row[1:]] for row in cells] == [
        ["77", "0.0000", "0.0000", "0.0000", "+0.5000"],
        ["1,825", "0.2500", "1.0000", "-0.5000", "+1.5000"],
    ]
    assert as_markdown(table).splitlines()[2].startswith(r"| \<b>\|\\ | 77 |")
    latex = as_latex(table).splitlines()
    assert latex[2] == r"name & n & x & share & A $-$ B & $+$ x \\"
    assert latex[4].startswith(r"\textless{}b\textgreater{}\textbar{}\textbackslash{} & 77 &")
    assert latex[5] == r"a $-$ b & 1,825 & 0.2500 & 1.0000 & $-$0.5000 & $+$1.5000 \\"
    assert as_latex(replace(table, columns=[Column("x", "x", ["Hand-Till M"], "name")])).count(
        "Hand-Till M"
    )


def test_names_of_classifiers_must_be_strings():
    for name in (None, 1, ("a", 1)):
        # The annotation, checked in tests only, says the same
        with pytest.raises(TypeError, match=r"y_score|name"):
            compare(TRUE, {name: GOOD, "b": POOR}, measures="hand_till")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$x", "_hidden", r"\$a$", "$a_{$", "a$b$c"])
def test_legends_draw_what_is_written(name):
    labels = [name, f"{name}2", f"{name}3"]
    predictions = Predictions.from_arrays(np.array(labels)[TRUE], GOOD, labels=labels)
    for display in (
        ROCDisplay.from_predictions(predictions),
        MulticlassROCDisplay.from_predictions(predictions, name=name, plot_band=False),
    ):
        texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert sum(text.startswith(legend_text(name)) for text in texts) >= 1
        assert len(texts) == len(display.ax_.get_legend_handles_labels()[0])
        display.figure_.canvas.draw()
        pyplot.close(display.figure_)
    assert len([text for text in texts if name.strip("_") in text.replace(r"\$", "$")]) == 1


def test_a_dollar_sign_begins_no_formula():
    from matplotlib.cbook import is_math_text

    for text in ("$x$", r"\$x$", "$", "a$b$c", r"\\$x$"):
        assert not is_math_text(legend_text(text))


def test_words_are_broken_only_where_no_text_can_take_more_lines():
    name, title = "polytomous_discrimination_index", "Polytomous discrimination index of all"
    lines = format_table(["measure", "title"], [[name, title]], [False, False], 50).splitlines()
    assert [x.split() for x in lines[2:]] == [
        [name, "Polytomous"],
        ["discrimination"],
        ["index", "of", "all"],
    ]


@pytest.mark.parametrize(("n_printed", "more"), [(2, "1 more row"), (1, "2 more rows")])
def test_what_is_not_printed_is_counted(n_printed, more):
    table = Table("t", "", [Column("x", "x", ["a", "b", "c"], "name")], n_printed=n_printed)
    assert as_text(table).endswith(f"\nand {more}: see to_pandas('t')")


def test_columns_that_are_not_printed_are_named():
    columns = [Column(x, x * 30, [0.5], "number") for x in "xyz"]
    assert as_text(Table("t", "", columns)).endswith(
        f"\nand columns of {'z' * 30}: see to_pandas('t')"
    )
