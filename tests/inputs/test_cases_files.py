"""Files as other tools write them: the right value, or an error that names the cause."""

import json
import re

import numpy as np
import pytest

import dmfroc
from dmfroc import Predictions


def estimated(measure, path, **arguments):
    return dmfroc.estimate(measure, Predictions.from_file(path, **arguments))


@pytest.mark.parametrize(
    "name", ["csv2.csv", "semicolon_point.csv", "space_after_comma.csv", "excel_unicode.tsv"]
)
def test_separators_decimals_and_encodings(cases_directory, name):
    path = cases_directory / name
    assert estimated("hand_till", path, label="species").value == pytest.approx(0.998133, abs=5e-7)
    assert estimated("accuracy", path, label="species").value == pytest.approx(0.973333, abs=5e-7)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("csv2.csv", {"separator": ","}, "with the separator ',' a row has 4 cells, but the heade"),
        (
            "csv2.csv",
            {"decimal": "."},
            "has '0,994695': convert it to real numbers; .* (read with separator ';')",
        ),
        ("excel_unicode.tsv", {"encoding": "utf-8"}, "say how it is encoded by encoding="),
        (
            "semicolon_point.csv",
            {"decimal": ","},
            "holds text, and data row 1 has '0.9946953997563966': convert it to real numbers",
        ),
        ("csv2.csv", {"separator": ";;"}, "separator= must be one character, or 'tab', but it is"),
        ("csv2.csv", {"decimal": ";"}, "decimal= must be '.' or ','"),
        ("csv2.csv", {"separator": ",", "decimal": ","}, "cannot both be ','"),
        ("csv2.csv", {"encoding": "utf-9"}, "encoding= is 'utf-9', which is unknown"),
        ("spark.parquet", {"decimal": ","}, "decimal= is for files of text, not for .parquet"),
        ("predictions.npz", {"separator": ";"}, "separator= is for files of text, not for .npz"),
    ],
)
def test_what_the_user_says_is_not_guessed(cases_directory, name, given, message):
    pattern = ".*".join(map(re.escape, message.split(".*")))
    with pytest.raises((ValueError, TypeError), match=pattern):
        Predictions.from_file(cases_directory / name, label="species", **given)


def test_a_class_may_be_called_na(cases_directory):
    found = estimated("hand_till", cases_directory / "regions.csv", label="region")
    assert found.value == pytest.approx(0.926143, abs=5e-7)


def test_percentages(cases_directory):
    path = cases_directory / "percent.csv"
    found = estimated("hand_till", path, label="label", scores="percent", labels=[0, 1])
    assert found.value == pytest.approx(0.924006, abs=5e-7)
    assert Predictions.from_file(path, label="label", scores="percent").scores[0, 1] == 0.705


def test_lists_are_refused_with_the_line_that_makes_columns(cases_directory):
    message = r"'\w*prob\w*' holds lists or objects.*frame\.join\(pd\.DataFrame\("
    for name in ("spark.parquet", "bigquery.csv"):
        with pytest.raises(ValueError, match=message):
            Predictions.from_file(cases_directory / name, label="label")


def test_arrays(cases_directory):
    path = cases_directory / "predictions.npz"
    found = estimated("hand_till", path, label="label_ids", scores="predictions")
    assert found.value == pytest.approx(0.858503, abs=5e-7)
    with pytest.raises(
        ValueError, match=r"one array without labels: save .np\.savez\('scores\.npz'"
    ):
        Predictions.from_file(cases_directory / "logits.npy", label="y")


@pytest.mark.filterwarnings("ignore:auc_mu below chance")
@pytest.mark.parametrize("fill", [None, -1e6, -np.inf, np.finfo(np.float32).min])
def test_scores_of_classes_that_a_fold_lacked(cases_directory, fill):
    with np.load(cases_directory / "decision.npz") as archive:
        y, scores = archive["y_true"], archive["y_score"]
    if fill is not None:
        scores = np.where(scores < -1e300, fill, scores)
    found = dmfroc.estimate("hand_till", y, scores)
    assert found.value == pytest.approx(0.536528, abs=5e-7)
    auc_mu = dmfroc.measures.auc_mu()
    assert auc_mu(y, scores) == auc_mu(y, np.where(scores < -1e5, -1e6, scores))


def test_scores_of_the_top_classes(cases_directory):
    path = cases_directory / "top2.csv"
    with pytest.raises(ValueError, match=r"top 2 classes only.*top-k accuracy.*minus infinity"):
        Predictions.from_file(path, label="label")


# The command


def command(capsys, *arguments):
    from dmfroc.cli.commands import app

    with pytest.raises(SystemExit) as end:
        app([str(x) for x in arguments])
    output = capsys.readouterr()
    return end.value.code, output.out + output.err


def test_the_command_names_what_was_detected(cases_directory, capsys):
    path = cases_directory / "csv2.csv"
    options = ("--label", "species", "--measures", "hand_till")
    status, text = command(capsys, "evaluate", path, *options)
    assert status == 0
    assert "0.9981" in text
    unwrapped = " ".join(text.split())  # A long path moves the rest to the next line.
    assert f"{path}: read with separator ';', decimal comma " in unwrapped
    assert "warning: " not in unwrapped
    status, text = command(capsys, "evaluate", path, *options, "--separator", ",")
    assert status == 2
    assert "with the separator ',' a row has 4 cells" in text
    given = ("--separator", ";", "--decimal", ",", "--encoding", "utf-8")
    status, text = command(capsys, "evaluate", path, *options, *given, "--json")
    assert json.loads(text)["estimates"]["hand_till"]["value"] == pytest.approx(0.998133, abs=5e-7)
    status, text = command(capsys, "evaluate", path, *options, "--decimal", ";")
    assert (status, text) == (
        2,
        f"dmfroc: error: {path}: --decimal must be '.' or ',', but it is ';'\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compare", "report", "subgroups", "plan", "plot"])
def test_every_command_reads_the_same_files(cases_directory, capsys, name, tmp_path):
    path = tmp_path / "scores.csv"
    copy = tmp_path / "copy.csv"
    text = (cases_directory / "regions.csv").read_text().replace(",", ";").replace(".", ",")
    path.write_text(text)
    lines = text.splitlines()
    groups = ["group", *(i % 2 for i in range(1, len(lines)))]
    copy.write_text("\n".join(f"{line};{x}" for line, x in zip(lines, groups, strict=True)))
    scores = "p_EU,p_NA,p_SA"
    measure = ("--measure", "hand_till")
    arguments = {
        "compare": ("compare", path, copy, *measure),
        "report": ("report", path, *measure, "--output", tmp_path / "x.html"),
        "subgroups": ("subgroups", copy, "--by", "group", *measure),
        "plan": ("plan", path, "--half-width", 0.01, *measure),
        "plot": ("plot", "roc", path, "--output", tmp_path / "x.png"),
    }[name]
    status, text = command(capsys, *arguments, "--label", "region", "--scores", scores)
    assert status == 0, text
    status, text = command(capsys, *arguments, "--label", "region", "--separator", "|")
    assert status == 2
    assert "there is no column 'region'" in text or "a row has" in text
