"""Exports of other tools with a totals row, a second header, look-alikes or codes for missing."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
from click.testing import CliRunner

import dmfroc
from dmfroc import Predictions
from dmfroc.cli.commands import app
from dmfroc.inputs.messages import IN_MEMORY, listing
from dmfroc.inputs.score_doubts import percent_message

CLASSES = ["cat", "dog", "owl"]
TRUE = np.arange(60) % 3
SHARES = np.random.default_rng(7).dirichlet([1, 1, 1], 60) * 0.5 + np.eye(3)[TRUE] * 0.5
EXPECTED = dmfroc.hand_till_score(TRUE, SHARES)
LABELS = np.array(CLASSES)[TRUE]


def text(frame=None):
    frame = pd.DataFrame(SHARES, columns=CLASSES).assign(y=LABELS) if frame is None else frame
    return frame.to_csv(index=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x + "20,20,20,Total\n", "label 'Total' occurs only once, at data row 61"),
        (lambda x: x + "20,20,20,\n", "has a missing label at data row 61"),
        (lambda x: x + "cat,dog,owl,y\n", "label 'y' occurs only once, at data row 61"),
        (
            lambda x: x.replace(",cat\n", ",Cat\n", 9),
            "labels 'Cat', 'cat' alike if they are one class: they differ only in case",
        ),
        (
            lambda x: x.replace(",cat\n", ",cat \n", 9),
            "labels 'cat', 'cat ' alike if they are one class: they differ only in case",
        ),
    ],
)
def test_rows_that_are_no_observations_and_labels_that_look_alike(tmp_path, change, message):
    path = tmp_path / "export.csv"
    path.write_text(change(text()))
    with pytest.raises(ValueError, match=message):
        Predictions.from_file(path, label="y")


def test_hard_labels_that_look_alike():
    with pytest.warns(
        UserWarning,
        match="labels 'Cat', 'cat' alike if they are one class: they differ only in case",
    ):
        Predictions.from_labels(["cat", "dog", "cat"], ["Cat", "dog", "cat"])


@pytest.mark.parametrize("code", [-999, -1, 9])
def test_codes_for_missing_values(code):
    scores = SHARES.copy()
    scores[4, 1] = code
    told = r"1 of \d+ rows of y_score have scores outside 0 to 1.* row 4 "
    with pytest.warns(UserWarning, match=told):
        dmfroc.hand_till_score(TRUE, scores)
    dmfroc.hand_till_score(TRUE, np.log(SHARES))  # no warning
    dmfroc.hand_till_score(TRUE, 100 * SHARES)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_percent_among_probabilities(n_columns):
    rng = np.random.default_rng(0)
    y = rng.integers(0, max(n_columns, 2), 300)
    scores = rng.dirichlet(np.ones(max(n_columns, 2)), 300)
    scores = scores[:, 0] if n_columns == 1 else scores
    is_percent = np.arange(300) % 3 == 1
    mixed = np.where(is_percent if n_columns == 1 else is_percent[:, None], 100 * scores, scores)
    first = listing(mixed[1:2].ravel().tolist())
    told = "divide 100 of 300 rows of y_score by 100 if they are percent, first row 1 (counting "
    with pytest.warns(UserWarning, match=re.escape(f"{told}from 0) with {first}")):
        Predictions.from_arrays(y, mixed)
    Predictions.from_arrays(y, scores)  # no warning
    Predictions.from_arrays(y, 100 * scores)


def test_other_positive_scores_are_no_mixture_with_percent():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        several = [rng.lognormal(0, 3, 100), 10 ** rng.uniform(-3, 2, 100), rng.exponential(5, 100)]
        several += [
            100 * rng.beta(0.5, 0.5, 100),
            rng.gamma(0.3, 10, 100),
            rng.integers(0, 50, 100),
        ]
        assert not [x for x in several if percent_message(np.array([x], float).T, IN_MEMORY)]


def test_percent_among_probabilities_gets_one_warning():
    mixed = SHARES * np.where(TRUE == 1, 100, 1)[:, None]
    with pytest.warns(UserWarning, match="divide 20 of 60 rows of y_score by 100") as told:
        dmfroc.evaluate(LABELS, mixed)
    assert not [x for x in told if "softmax" in str(x.message)]


def test_a_table_that_was_not_split_says_how_to_read_it(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("label;a;b\na;.1;.9\nb;.2;.8\n")
    table = pd.read_csv(path)
    told = "has a single column, named 'label;a;b': read its file by pandas.read_csv(path, sep=';')"
    for call in (lambda: dmfroc.evaluate([0, 1], table), lambda: dmfroc.applications.items(table)):
        with pytest.raises(ValueError, match=re.escape(told)):
            call()


@pytest.mark.parametrize(("code", "n"), [(-1, 35), (-999, 1), (np.inf, 1), (99, 140)])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_codes_among_probabilities(code, n, n_columns):
    rng = np.random.default_rng(0)
    y = rng.integers(0, max(n_columns, 2), 300)
    shares = rng.dirichlet(np.ones(max(n_columns, 2)), 300)
    scores = shares[:, 0] if n_columns == 1 else shares.copy()
    scores[5 : 5 + n] = code
    with pytest.warns(UserWarning, match=rf"{n} of 300 rows .* outside 0 to 1, .* row 5 ") as told:
        dmfroc.hand_till_score(y, scores)
    assert not [x for x in told if "do not rank the rows" in str(x.message)]


@pytest.mark.parametrize("kind", ["regression", "ratings", "log-odds", "normal"])
def test_scores_that_leave_the_range_of_probabilities_have_no_codes(kind, recwarn):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.normal(size=300) + y
    dmfroc.hand_till_score(
        y,
        {
            "regression": 0.3 + 0.25 * x,
            "ratings": np.clip(np.round(x), 0, 2),
            "log-odds": 2 * x - 1,
            "normal": x,
        }[kind],
    )
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore:columns that match no class are ignored")
def test_one_column_of_lists_beside_others(tmp_path):
    frame = pd.DataFrame(SHARES, columns=CLASSES).assign(label=LABELS)
    frame["raw"] = [str(row.tolist()) for row in -SHARES]
    path = tmp_path / "raw.csv"
    frame.to_csv(path, index=False)
    assert dmfroc.hand_till_score(Predictions.from_file(path, label="label")) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "remedy"),
    [
        (["proba", "pred"], r"pass scores=\['proba'\], pos_label=1 for the class of its large"),
        (["pred", "proba"], r"pass scores=\['proba'\], pos_label=1 for the class of its large"),
        (["proba", "other"], r"pass scores=\['proba'\], pos_label=1 for the class of its large"),
        (["pred", "id"], "or choose with scores=$"),
        (["Unnamed: 0", "pred", "proba"], r"pass scores=\['proba'\], pos_label=1 for the class"),
    ],
)
def test_hard_labels_are_no_proposed_scores(tmp_path, columns, remedy):
    rng = np.random.default_rng(1)
    values = {"proba": rng.random(40), "other": rng.random(40), "pred": np.arange(40) // 2 % 2}
    values["id"] = values["Unnamed: 0"] = np.arange(40)
    frame = pd.DataFrame({name: values[name] for name in columns}).assign(y=np.arange(40) % 2)
    path = tmp_path / "two.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=remedy):
        Predictions.from_file(path, label="y")


def written_by_orange(path, frame):
    names, *rows = frame.to_csv(index=False, sep="\t").splitlines()
    kinds, role = ["continuous"] * 3 + ["discrete"], "class"
    if path.stem == "short":
        kinds, role = ["c", "c", "c", ""], "c"
    path.write_text("\n".join([names, "\t".join(kinds), f"\t\t\t{role}", *rows, ""]))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.tab", written_by_orange),
        ("short.tab", written_by_orange),
        ("a.feather", lambda path, frame: frame.to_feather(path)),
        ("a.json", lambda path, frame: frame.to_json(path, orient="records")),
        ("b.json", lambda path, frame: frame.to_json(path, orient="records", lines=True)),
    ],
)
def test_kinds_of_files(tmp_path, name, write):
    write(tmp_path / name, pd.DataFrame(SHARES, columns=CLASSES).assign(y=LABELS))
    found = dmfroc.hand_till_score(Predictions.from_file(tmp_path / name, label="y"))
    assert found == pytest.approx(EXPECTED, abs=1e-12)


def test_files_of_stata_and_weka_become_csv_by_the_line_in_the_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    WIDE.to_stata("a.dta", write_index=False)
    kinds = dict.fromkeys(CLASSES, "numeric") | {"y": f"{{{','.join(CLASSES)}}}"}
    head = "".join(f"@attribute {name} {kinds[name]}\n" for name in WIDE)
    body = WIDE.to_csv(index=False, header=False)
    Path("a.arff").write_text(f"@relation r\n{head}@data\n{body}")
    for name in ("a.dta", "a.arff"):
        with pytest.raises(ValueError, match="Save it as CSV") as caught:
            Predictions.from_file(name, label="y")
        exec(re.search('"(.*)"', str(caught.value))[1], {"pd": pd, "scipy": scipy})
        found = dmfroc.hand_till_score(Predictions.from_file("a.csv", label="y"))
        assert found == pytest.approx(EXPECTED, abs=1e-12)


def by_class(order):
    """Return one row for each observation and class."""
    cases = pd.DataFrame(SHARES, columns=CLASSES).assign(y=LABELS, case=np.arange(60))
    long = cases.melt(id_vars=["y", "case"], var_name="class", value_name="p")
    return long.sort_values("case", kind="stable") if order == "rows" else long


def test_rows_that_only_begin_as_one_for_each_class_are_others(tmp_path):
    table = by_class("rows")
    table.iloc[90:, table.columns.get_loc("y")] = CLASSES * 30
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="score") as refused:
        Predictions.from_file(tmp_path / "a.csv", label="y")
    assert "one class after the other" not in str(refused.value)


WEKA = [
    ",".join([str(row + 1), f"{code + 1}:{CLASSES[code]}", "", "", *map(str, SHARES[row])])
    for row, code in enumerate(TRUE)
]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (text(by_class("rows")), r"names one class after the other .*frame.pivot\(.*values='p'"),
        (text(by_class("blocks")), "'class' names one class after the other .* score in 'p'"),
        (text().partition("\n")[2], "first line holds numbers, .* write a line with the names"),
        (text().replace("cat,dog,owl,y", "PRB_1,PRB_2,PRB_3,y"), r"=\['PRB_1', 'PRB_2', 'PRB_3'\]"),
        ("y,score\n" + "0,0,25\n1,0,05\n" * 9, "a row has 3 cells.*such as decimal commas"),
        ("y,PRE_1\n" + "1,0.25\n2,0.5\n" * 9, r"pass labels=\[1, 2\] if .* mean class 2"),
        (
            "\n".join(["inst#,y,predicted,error,distribution,,", *WEKA]),
            r"pass scores=\['distribution_1', .*\], labels=\['1:cat', '2:dog', '3:owl'\]",
        ),
    ],
)
def test_refusals_name_the_remedy(tmp_path, content, message):
    path = tmp_path / "export.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Predictions.from_file(path, label="y")


WIDE = pd.DataFrame(SHARES, columns=CLASSES).assign(y=LABELS)


@pytest.mark.filterwarnings("ignore:columns that match no class are ignored")
@pytest.mark.parametrize(
    ("found", "label"),
    [
        ([{"in": {"y": row.pop("y")}, **row} for row in WIDE.to_dict("records")], "in.y"),
        ({"model": "m", "rows": WIDE.to_dict("records")}, "y"),
        (WIDE.to_dict("list"), "y"),
        (WIDE.to_dict("split"), "y"),
    ],
)
def test_json_in_other_forms(tmp_path, found, label):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(found))
    assert dmfroc.hand_till_score(Predictions.from_file(path, label=label)) == EXPECTED


@pytest.mark.filterwarnings("ignore:columns that match no class are ignored")
def test_rows_that_are_repeated(tmp_path):
    path = tmp_path / "export.csv"
    frame = WIDE.assign(case=np.arange(60))
    pd.concat([frame, frame.iloc[::-1]]).to_csv(path, index=False)
    with pytest.warns(
        UserWarning, match="groups='case'.* of its 60 values is in 2 rows, all of one"
    ):
        Predictions.from_file(path, label="y")


def test_columns_of_several_classifiers_are_no_classes(tmp_path):
    path = tmp_path / "export.csv"
    score = SHARES[:, 0]
    pd.DataFrame({"y": TRUE % 2, "model0": score, "model1": score**2}).to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"if they are scores, .* or the scores of several classifiers"
    ):
        Predictions.from_file(path, label="y")


AS_TEXT = WIDE.astype(str)


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_stream(path):
    table = pa.Table.from_pandas(WIDE)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("datasets.arrow", write_stream),
        ("text.parquet", AS_TEXT.to_parquet),
        ("text.json", lambda path: AS_TEXT.to_json(path, orient="records")),
        ("index.json", lambda path: WIDE.to_json(path, orient="index")),
        (
            "powershell.jsonl",
            lambda path: path.write_text(lines(WIDE.to_dict("records")), encoding="utf-16"),
        ),
        (
            "scientific.csv",
            lambda path: np.savetxt(
                path, np.column_stack([TRUE, SHARES]), delimiter=",", header="y,0,1,2", fmt="%.18e"
            ),
        ),
        (
            "classes.npz",
            lambda path: np.savez(
                path, y=LABELS, y_score=SHARES[:, ::-1], classes_=CLASSES[::-1], target=LABELS
            ),
        ),
    ],
)
def test_files_of_other_kinds(tmp_path, name, write):
    write(tmp_path / name)
    found = Predictions.from_file(tmp_path / name, label="y")
    assert dmfroc.hand_till_score(found) == pytest.approx(EXPECTED, abs=1e-12)


def test_an_unknown_separator_is_asked_for(tmp_path):
    WIDE.to_csv(tmp_path / "caret.csv", sep="^", index=False)
    with pytest.raises(ValueError, match=r"no character separates .* say which one does by separ"):
        Predictions.from_file(tmp_path / "caret.csv", label="y")
    found = Predictions.from_file(tmp_path / "caret.csv", label="y", separator="^")
    assert dmfroc.hand_till_score(found) == EXPECTED


def test_ids_in_another_order_are_found_whatever_the_case_of_their_name(tmp_path):
    frame = WIDE.sort_values("y", ignore_index=True)
    frame.assign(ID=np.arange(60)).to_csv(tmp_path / "a.csv", index=False)
    frame.assign(id=np.arange(60)[::-1]).to_csv(tmp_path / "b.csv", index=False)
    with pytest.warns(UserWarning, match="columns that match no class are ignored"):
        read = {x: Predictions.from_file(tmp_path / f"{x}.csv", label="y") for x in "ab"}
    with pytest.raises(ValueError, match="column 'ID' differs between 'a' and 'b', first at data"):
        dmfroc.compare(read)


@pytest.mark.slow
def test_reports_show_warnings_about_their_input(tmp_path):
    WIDE.assign(note="x").to_csv(tmp_path / "a.csv", index=False)
    arguments = ["report", str(tmp_path / "a.csv"), "--label", "y"]
    done = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "r.html")])
    assert "columns that match no class are ignored: 'note'" in done.stdout


SPACED = np.where(np.arange(60) == 4, "dog ", LABELS)
TABLE = pd.DataFrame(SHARES, columns=CLASSES)


@pytest.mark.parametrize(
    "given",
    [
        (SPACED, SHARES),
        (SPACED, TABLE),
        (LABELS, TABLE, SPACED),
    ],
)
def test_spaces_around_labels_are_told(given):
    told = r"\. Note: write labels 'dog', 'dog ' alike if they are one class: they differ only in"
    with pytest.raises(ValueError, match=told):
        dmfroc.estimate("accuracy", *given[:2], y_pred=given[2] if given[2:] else None)


def test_a_space_is_told_before_a_label_that_occurs_once(tmp_path):
    TABLE.assign(y=SPACED).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"Note: write labels 'dog', 'dog ' alike"):
        Predictions.from_file(tmp_path / "x.csv", label="y", scores=CLASSES)


def test_a_space_in_all_labels_of_a_class_is_matched_with_a_warning():
    spaced = np.where(LABELS == "dog", "dog ", LABELS)
    with pytest.warns(UserWarning, match="column 'dog' is taken for class 'dog '"):
        assert dmfroc.hand_till_score(spaced, TABLE) == EXPECTED
