"""Tables of text, however they are laid out, hold the same numbers, or are refused."""

import ast
import contextlib
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmfroc
from dmfroc import Predictions
from dmfroc._kit.remarks import collected_remarks

CLASSES = ["Köln", "NA", "x y"]
SAMPLE = np.random.default_rng(0)
TRUE = np.arange(30) % 3
SCORES = SAMPLE.dirichlet(np.ones(3), size=30).round(6)
EXPECTED = dmfroc.hand_till_score(TRUE, SCORES)


def written(path, names, rows, *, separator=",", decimal=".", encoding="utf-8", **layout):
    """Write a table of text, and return its path."""

    def cell(x):
        text = str(x) if isinstance(x, str) else f"{x:.6f}".replace(".", decimal)
        quotes = layout.get("quotes") or separator in text or '"' in text
        return f'"{text}"' if quotes else text

    gap = separator + " " * layout.get("n_spaces", 0)
    end = separator if layout.get("ends_with_separator") else ""
    lines = [gap.join(map(cell, names)) + end]
    for number, row in enumerate(rows):
        index = [str(number)] if layout.get("has_row_names") else []
        lines.append(gap.join(map(cell, [*index, *row])) + end)
    lines = [*layout.get("before", []), *lines, *layout.get("after", [])]
    content = layout.get("newline", "\n").join([*lines, ""]).encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def table(true=TRUE, scores=SCORES, classes=CLASSES):
    """Return the header and the rows of a file of predictions."""
    return ["label", *classes], [[classes[t], *s] for t, s in zip(true, scores, strict=True)]


LAYOUTS = {
    "separator": [",", ";", "\t", "|", " "],
    "decimal": [".", ","],
    "encoding": ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"],
    "newline": ["\n", "\r\n"],
    "quotes": [False, True],
    "n_spaces": [0, 1],
    "has_row_names": [False, True],
    "ends_with_separator": [False, True],
    "before": [[], ["# made by a tool", "# in 2024"], ["Report of today", ""], ["a;b,c"]],
    "suffix": [".csv", ".tsv", ".txt", ".csv.gz"],
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the file is not UTF-8")
@settings(max_examples=300)
@given(st.fixed_dictionaries({key: st.sampled_from(values) for key, values in LAYOUTS.items()}))
def test_any_layout_holds_the_same_numbers(tmp_path_factory, layout):
    suffix = layout.pop("suffix")
    if layout["separator"] == layout["decimal"]:
        layout["quotes"] = True
    if layout["separator"] == " ":
        layout |= {"ends_with_separator": False, "n_spaces": 0}
    layout["ends_with_separator"] &= not layout["has_row_names"]
    path = tmp_path_factory.mktemp("layout") / f"scores{suffix}"
    written(path, *table(), **layout)
    found = Predictions.from_file(path, label="label")
    assert found.labels == tuple(sorted(CLASSES))
    np.testing.assert_array_equal(found.scores, SCORES[:, np.argsort(CLASSES)])
    said = {key: layout[key] for key in ("separator", "decimal", "encoding")}
    if layout["separator"] != layout["decimal"]:
        again = Predictions.from_file(path, label="label", **said)
        np.testing.assert_array_equal(again.scores, found.scores)


def read(tmp_path, text, name="s.csv", **arguments):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Predictions.from_file(path, **({"label": "y"} | arguments))


@pytest.mark.parametrize("name", ["tab", "\\t", "\t"])
def test_a_tab_is_named_or_given(tmp_path, name):
    found = read(tmp_path, "y\ta\tb\na\t0.5\t0.25\nb\t0.1\t0.3\n", separator=name)
    assert found.scores.tolist() == [[0.5, 0.25], [0.1, 0.3]]


# Where the table begins and ends


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\ny;a;b\na;0,5;0,25\nb;0,1;0,3\n",
        '"sep=;"\r\ny;a;b\r\na;0.5;0.25\r\nb;0.1;0.3\r\n',
        "SEP=\t\ny\ta\tb\na\t0.5\t0.25\nb\t0.1\t0.3\n",
        "sep=,\ny,a,b\na,0.5,0.25\nb,0.1,0.3",
        "# by NumPy\n# y,a,b\na,0.5,0.25\nb,0.1,0.3\n",
        "#id,y,a,b\n1,a,0.5,0.25\n2,b,0.1,0.3\n",
        "# y\n# a, b\ny,a,b\na,0.5,0.25\nb,0.1,0.3\n",
        "# one\n#two,three\ny,a,b\na,0.5,0.25\n# between\nb,0.1,0.3\n",
        "Exported,by,somebody,else\n\ny,a,b\na,0.5,0.25\nb,0.1,0.3\n",
        "\n\n\ny,a,b\na,0.5,0.25\n\nb,0.1,0.3\n\n",
        '"y" "a" "b"\n"1" "a" 0.5 0.25\n"2" "b" 0.1 0.3\n',
        '"","y","a","b"\n"1","a",0.5,0.25\n"2","b",0.1,0.3\n',
        '"y", "a", "b"\n"a", 0.5, 0.25\n"b", 0.1, 0.3\n',
        "y ,a ,b \na ,0.5 ,0.25 \nb ,0.1 ,0.3 \n",
        "y,a,b,\na,0.5,0.25,\nb,0.1,0.3,\n",
        "y,a,b\na,0.5,0.25,\nb,0.1,0.3,\n",
        "y  a  b\na  0.5  0.25\nb  0.1  0.3\n",
        "y|a|b\na|.5|2.5e-1\nb|+0.1|0.3\n",
        "y\ta\tb\na\t50%\t25 %\nb\t10%\t30%\n",
        "y;a;b\na;50,0 %;25,0 %\nb;10,0 %;30,0 %\n",
        "\ufeffy,a,b\na,0.5,0.25\nb,0.1,0.3\n",
    ],
)
def test_where_a_table_begins(tmp_path, text):
    arguments = {"scores": ["a", "b"]} if text.startswith(('"",', "#id")) else {}
    found = read(tmp_path, text, **arguments)
    assert found.labels == ("a", "b")
    np.testing.assert_array_equal(found.scores, [[0.5, 0.25], [0.1, 0.3]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,a,b\na,1,2\nb,3\n", "with the separator ',' a row has 2 cells, but the header has 3"),
        (
            "y;a;b\na;1;2\nb;3;4;5\n",
            "with the separator ';' a row has 4 cells, but the header has 3",
        ),
        ("y;a;a\na;1;2\nb;3;4\n", "duplicate column names: 'a'; rename them"),
        ("y;z;b\na;1;2\nb;3;4\n", r"no column for class 'a'.*\(read with separator ';'\)"),
        (
            "q;a;b\na;0,1;0,2\n",
            "no column 'y', which label= names; the columns are 'q', 'a', 'b' \\(read",
        ),
        ("", "it is empty"),
        (" \n\n", "it is empty"),
        ("PK\x03\x04...", "it is Excel or zip, not text"),
        ("PAR1....", "it is Parquet, not text"),
        ('y,a,b\na,0.5,1\nb,"0,25",1\nb,0.25,1\n', "column a' holds|holds text"),
        (
            "y;a;b\na;0,5;0.5\nb;0,25;0.25\n",
            "'a' has decimal commas, but column 'b' has decimal poi",
        ),
        ("y;a;b\na;1,234;0,5\nb;2,345;0,25\n", "numbers such as 1,234, whose ',' may be a decimal"),
        ("y;a;b\na;1.234,5;1\nb;1,234.5;1\n", "holds text"),
        ("y,a,b\na,5%,1\nb,0.5,1\n", "holds text"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read(tmp_path, text)


def test_what_is_not_asked_for_may_be_ambiguous(tmp_path):
    text = "y;a;b;n;when;note\na;0,5;0,1;1,234;2024-01-01;-\nb;0,2;0,3;2,345;2024-01-02;-\n"
    found = read(tmp_path, text, scores=["a", "b"])
    np.testing.assert_array_equal(found.scores, [[0.5, 0.1], [0.2, 0.3]])


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (["1,234,567.5", "12"], None, [1234567.5, 12]),
        (["1.234.567,5", "12"], None, [1234567.5, 12]),
        (["1,234,567", "12"], None, [1234567, 12]),
        (["1,234", "12"], ".", [1234, 12]),
        (["1,234", "12"], ",", [1.234, 12]),
        (["1.234", "1.5"], None, [1.234, 1.5]),
        (["1.234", "1.567"], ",", None),
        (["1'234.5", "1\u2019000"], None, [1234.5, 1000]),
        (["1 234,5", "1\u00a0000"], None, [1234.5, 1000]),
        (["1\u202f234", "12"], None, [1234, 12]),
        (["\u22120.5", "-1"], None, [-0.5, -1]),
        (["0,123", "1,234"], None, [0.123, 1.234]),
        (["-Inf", "1,5"], None, [-np.inf, 1.5]),
        (["1e-5", "1,5E+2"], None, [1e-5, 150]),
    ],
)
def test_numbers(tmp_path, cells, decimal, numbers):
    """Weights are numbers, too; their ratio is kept whatever they are."""
    from dmfroc.inputs.delimited import Format, read_delimited

    path = tmp_path / "s.csv"
    path.write_text("y;w\n" + "".join(f"a;{cell}\n" for cell in cells))
    column = read_delimited(path, Format(None, decimal, None), ["y"], None).table["w"]
    if numbers is None:  # thousands
        numbers = [float(cell.replace(".", "")) for cell in cells]
    assert column.to_pylist() == numbers


# Encodings


@pytest.mark.filterwarnings("ignore:.*the file is not UTF-8")
def test_a_letter_after_the_first_megabyte(tmp_path, capsys):
    rows = [["a", 0.5, 0.5], ["b", 0.25, 0.5]] * 40_000
    path = written(
        tmp_path / "s.csv", ["y", "a", "b"], [*rows, ["é", 0.1, 0.2]], encoding="latin-1"
    )
    assert path.stat().st_size > 1 << 20
    with pytest.raises(ValueError, match=r"no column for class 'é'.*\(read with encoding cp1252\)"):
        Predictions.from_file(path, label="y")
    path = written(tmp_path / "s.csv", ["y", "a", "b", "note"], [[*row, "é"] for row in rows])
    assert Predictions.from_file(path, label="y", scores=["a", "b"]).n_observations == 80_000


@pytest.mark.slow
def test_numbers_written_in_another_way_after_the_first_megabyte(tmp_path):
    rows = [["a", "1", "0"], ["b", "0", "1"]] * 150_000
    for cell, value in (("0,5", 0.5), ("50%", None), ("1e-3", 1e-3), ("NA", None)):
        path = written(
            tmp_path / "s.csv", ["y", "a", "b"], [*rows, ["b", "0", cell]], separator=";"
        )
        if value is None:
            with pytest.raises((ValueError, TypeError)):
                Predictions.from_file(path, label="y")
        else:
            assert Predictions.from_file(path, label="y").scores[-1, 1] == value


# Labels


@pytest.mark.parametrize("word", ["NA", "nan", "NULL", "null", "N/A", "n/a", "NaN", "#N/A"])
def test_a_word_for_missing_is_a_class_where_a_column_is_called_so(tmp_path, word):
    for name in (word, f"p_{word}", f"{word}_prob", f"P (y={word})"):
        names = [name, name.replace(word, "b")] if word != name else [word, "b"]
        text = f"y,{names[0]},{names[1]}\n{word},0.9,0.1\nb,0.2,0.8\n"
        scores = {"scores": names, "labels": [word, "b"]} if name[0] == "P" else {}
        with contextlib.suppress(ValueError):  # if columns cannot be matched with classes
            found = read(tmp_path, text, **scores)
            assert word in found.labels
            assert found.class_counts.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"missing label at data row 1"):
        read(tmp_path, f"y,a,b\n{word},0.9,0.1\nb,0.2,0.8\na,0.1,0.2\n")
    with pytest.raises(ValueError, match=r"missing label at data row 2"):
        read(tmp_path, "y,NA,b\nNA,0.9,0.1\n,0.2,0.8\n")
    with pytest.raises(ValueError, match=r"missing label at data row 3"):
        read(tmp_path, "y,0,1\n0,0.9,0.1\n1,0.2,0.8\nNA,0.2,0.8\n")


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["1", "0"], (0, 1)),
        (["01", "1"], ("01", "1")),
        (["1.0", "0.0"], (0, 1)),
        (["True", "FALSE"], (False, True)),
        (["1", "b"], ("1", "b")),
        (["99999999999999999999", "1"], ("1", "99999999999999999999")),
    ],
)
def test_what_labels_spell(tmp_path, texts, labels):
    text = f"y,h\n{texts[0]},{texts[1]}\n{texts[1]},{texts[0]}\n"
    from dmfroc.inputs.files import read_columns
    from dmfroc.inputs.tables import Names

    path = tmp_path / "s.csv"
    path.write_text(text)
    assert tuple(sorted(read_columns(path, {"y": "label"}, Names({}))["y"])) == labels


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ('p_a,p_b,y,"a\nnote"', None),
        ('"p\na","p\r\nb",y,z', None),
        ("a title\np_a,p_b,y,z", 2),
        ('"a title\nof two lines"\np_a,p_b,y,z', 3),
        ('"a title"\n\np_a,p_b,y,"a\nnote"', 3),
    ],
)
def test_the_line_in_which_a_header_begins(tmp_path, head, line):
    path = tmp_path / "s.csv"
    path.write_bytes(f"{head}\n.7,.3,a,1\n.2,.8,b,2\n.6,.4,a,3\n".encode())
    with collected_remarks() as remarks:
        Predictions.from_file(path, label="y", scores="p*")
    said = f"{path}: read with header in line {line}"
    assert [text for text in map(str, remarks) if "header" in text] == ([said] if line else [])


# JSON lines, lists


def test_json_lines(tmp_path):
    frame = pd.DataFrame(SCORES, columns=CLASSES).assign(label=[CLASSES[t] for t in TRUE])
    for name in ("s.jsonl", "s.ndjson", "s.jsonl.gz"):
        frame.to_json(tmp_path / name, orient="records", lines=True)
        found = Predictions.from_file(tmp_path / name, label="label")
        np.testing.assert_array_equal(found.scores, SCORES[:, np.argsort(CLASSES)])
    (tmp_path / "s.jsonl").write_text('{"label": "a", "p": ')
    with pytest.raises(ValueError, match="the file cannot be read: JSON parse error"):
        Predictions.from_file(tmp_path / "s.jsonl", label="label")
    with pytest.raises(ValueError, match="the file cannot be read: JSON parse error"):
        Predictions.from_file(written(tmp_path / "s.json", *table()), label="label")


@pytest.mark.parametrize(
    "spelled", [list, str, json.dumps, lambda row: dict(zip(CLASSES, row, strict=True))]
)
def test_lists_in_cells_are_refused_with_the_line_that_makes_columns(tmp_path, spelled):
    frame = pd.DataFrame({"y": [CLASSES[t] for t in TRUE], "s": map(spelled, SCORES.tolist())})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 's' holds lists or objects") as caught:
        Predictions.from_file(tmp_path / "a.parquet", label="y")
    if isinstance(frame["s"][0], str):
        frame["s"] = frame["s"].map(ast.literal_eval)
    line = re.search('"(.*)"', str(caught.value))[1]
    eval(line, {"frame": frame, "pd": pd, "classes": CLASSES}).to_parquet(tmp_path / "a.parquet")
    found = Predictions.from_file(tmp_path / "a.parquet", label="y")
    np.testing.assert_array_equal(found.scores, SCORES[:, np.argsort(CLASSES)])


# What the user says


@pytest.mark.parametrize(
    "separator", ['"', "\n", "\r", "é", "a", "", ";;", 5, b",", "\0", [], ".", "'"]
)
def test_separators_that_separate_nothing(tmp_path, separator):
    with pytest.raises(ValueError, match=r"separator|cannot be read|no column 'y'"):
        read(tmp_path, "y,a,b\na,0.5,0.25\nb,0.1,0.2\n", separator=separator)


@pytest.mark.parametrize(
    "encoding",
    ["hex", "rot13", "zlib", "undefined", "punycode", "", "x" * 500, 5, b"utf-8", "a\0b", "utf-16"],
)
def test_encodings_that_are_none(tmp_path, encoding):
    with pytest.raises(ValueError, match=r"encoding|cannot be read"):
        read(tmp_path, "y,a,b\na,0.5,0.25\nb,0.1,0.2\n", encoding=encoding)
