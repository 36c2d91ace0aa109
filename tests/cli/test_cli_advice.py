"""What messages advise can be typed: each option is one of the command, or named with another."""

import ast
import html
import json
import re
from functools import cache
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc._kit.text import on_one_line
from dmfroc.cli import commands as cli
from dmfroc.cli.outputs import KINDS, OTHERS, display_of, with_options

COMMANDS = cli.app.commands
FLAGS = {name: {x for y in c.params for x in y.opts} for name, c in COMMANDS.items()}
ELSEWHERE = re.compile(r"(--[a-z][\w-]*)(?: '[^']*'| \S+)? \(which dmfroc (\w+) takes\)")
RNG = np.random.default_rng(0)


def messages():
    """Return all texts of the package, with a value for what it fills in."""
    for file in Path(dmfroc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            parts = getattr(node, "values", ()) if isinstance(node, ast.JoinedStr) else [node]
            if all(isinstance(x, ast.Constant | ast.FormattedValue) for x in parts):
                texts = [getattr(x, "value", "") for x in parts]
                yield "".join(x if isinstance(x, str) else "'a'" for x in texts)


@cache
def advising():
    """Return the texts that name an argument which is an option of some command."""
    arguments = {x.name for c in COMMANDS.values() for x in c.params if isinstance(x, click.Option)}
    named = "|".join(arguments | {OTHERS[x] for x in arguments & OTHERS.keys()})
    found = {x for x in messages() if "\n" not in x and "--" not in x}
    return [x for x in found if re.search(rf"\b({named})=", x)]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_advises_an_option_that_it_lacks(name):
    texts = advising()
    assert len(texts) > 100
    n_elsewhere = 0
    for text in texts:
        said = with_options(text, COMMANDS[name], cli.app)
        for flag, other in ELSEWHERE.findall(said):
            assert flag in FLAGS[other]
            n_elsewhere += 1
        assert set(re.findall(r"--[a-z][\w-]*", ELSEWHERE.sub("", said))) <= FLAGS[name], said
    assert n_elsewhere > 0


OF_PATIENTS = pd.DataFrame({"y": np.repeat([0, 1] * 20, 3), "patient": np.repeat(range(40), 3)})
OF_PATIENTS["p"] = (1 + np.exp(-OF_PATIENTS["y"] - RNG.normal(size=120))) ** -1
TWICE = {"0": 1 - OF_PATIENTS["p"], "1": OF_PATIENTS["p"], "cv_fold": np.arange(120) // 2 % 5}


@pytest.mark.parametrize(
    "command", ["evaluate", "decision", "calibration", "threshold", "plot roc"]
)
def test_advice_about_rows_names_an_option_only_where_the_command_has_it(tmp_path, command):
    file = tmp_path / "x.csv"
    OF_PATIENTS.to_csv(file, index=False)
    line = [*command.split(), str(file), "--label", "y", "-o", str(tmp_path / "x.png")]
    line = line if command == "plot roc" else line[:-2]
    has_groups = command in ("evaluate", "decision")
    told = on_one_line(CliRunner().invoke(cli.app, [*line, "--scores", "p"]).stdout)
    advice = "keep one row of each value of column 'patient' if rows with"
    if has_groups:
        advice = "pass --groups patient, or keep one row of each, if rows with"
    assert f"warning: {advice}" in told
    OF_PATIENTS[["y"]].assign(**TWICE).to_csv(file, index=False)
    told = on_one_line(CliRunner().invoke(cli.app, line).stdout)
    where = "" if command == "evaluate" else " (which dmfroc evaluate takes)"
    assert f"pass --fold cv_fold{where} if it has folds: columns that match no class" in told


def test_an_option_of_another_command_is_named_with_it():
    told = CliRunner().invoke(cli.app, ["calibration", "x.csv", "--label", "y", "--groups", "g"])
    remedy = "leave it out, or use dmfroc evaluate, which takes it (see dmfroc calibration --help)"
    assert f"No such option '--groups': {remedy}" in on_one_line(told.stderr)


def test_a_gate_says_which_argument_lacks_and_how_the_line_is_written():
    for words, lacking, line in (
        ([], "RULES", "rules.toml FILE"),
        (["two.csv"], "RULES", "rules.toml two.csv"),
        (["--label", "y", "my.TOML"], "FILE", "my.TOML FILE"),
    ):
        said = CliRunner().invoke(cli.app, ["gate", *words]).stderr
        assert f"Missing argument '{lacking}': write dmfroc gate {line} --label COLUMN" in said


def test_reports_of_commands_name_options_and_threshold_none_that_it_lacks(tmp_path):
    patients = pd.DataFrame({"patient": np.arange(60) // 2, "y": np.arange(60) % 2})
    patients["score"] = RNG.random(60)
    patients.to_csv(tmp_path / "two.csv", index=False, sep=";")
    words = [str(tmp_path / "two.csv"), "--label", "y", "--scores", "score", "--pos-label", "1"]
    for name, advice in (
        ("evaluate", "Pass --groups patient if rows"),
        ("threshold", "Keep one row of each value of column 'patient' if rows"),
    ):
        report = tmp_path / "x.html"
        done = CliRunner().invoke(cli.app, [name, *words, "-o", str(report)])
        page = html.unescape(report.read_text(encoding="utf-8"))
        assert done.exit_code == 0, done.stderr
        assert advice in page
        assert advice[1:] in on_one_line(done.stdout)
        assert "groups=" not in page


def test_how_a_file_was_read_is_no_warning(tmp_path):
    files = [tmp_path / f"{x}.csv" for x in "ab"]
    for file in files:
        scores = pd.DataFrame({"y": ["no", "yes"] * 120, "score": RNG.random(240)})
        scores.to_csv(file, index=False, sep=";", decimal=",")
    report, of = tmp_path / "x.html", ["--label", "y", "--pos-label", "yes"]
    for name, n in (("evaluate", 1), ("threshold", 1), ("compare", 2), ("report", 2)):
        line = [name, *map(str, files[:n]), *of, "-o", str(report)]
        told = on_one_line(CliRunner().invoke(cli.app, line).stdout)
        for file in files[:n]:
            assert told.count(f"{file}: read with separator ';', decimal comma") == 1
        assert "warning: " not in told
        page = html.unescape(report.read_text(encoding="utf-8"))
        assert "<h3>Warnings</h3>" not in page
        if name != "threshold":
            assert "a.csv: read with separator ';', decimal comma" in page
    read = dmfroc.Predictions.from_file(file, label="y", pos_label="yes")
    printed = on_one_line(dmfroc.applications.choose_threshold(read))
    assert f" note: {file}: read with" in printed
    assert "warning: " not in printed
    told = CliRunner().invoke(cli.app, ["evaluate", str(file), *of, "--json"]).stdout
    assert "read with separator ';'" in json.loads(told)["warnings"][0]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Return a file of two classes, whose score is that of the second."""
    file = tmp_path_factory.mktemp("two") / "two.csv"
    labels, site = np.repeat(["nein", "ja"], 40), np.arange(80) % 3
    scores = RNG.normal(np.repeat([0.3, 0.6], 40), 0.2).clip(0.01, 0.99)
    pd.DataFrame({"y": labels, "score": scores, "site": site}).to_csv(file, index=False)
    return str(file)


def run(name, *words):
    return CliRunner().invoke(cli.app, [name, *words, "--label", "y", "--scores", "score"])


@pytest.mark.parametrize(("typed", "meant"), [("Nein", "nein"), ("JA", "ja"), ("nien", "nein")])
def test_a_class_in_the_wrong_case_is_recognized(two, typed, meant):
    told = run("evaluate", two, "--pos-label", typed).stderr
    assert f"classes 'ja', 'nein', but it is {typed!r} (did you mean {meant!r}?)" in told


def test_compare_says_what_to_type_instead_of_all_measures(two):
    told = run("compare", two, two, "--pos-label", "ja", "--measures", "all").stderr
    assert "'all': evaluate takes it, of one classifier; name what matters, such as" in told
    assert "such as --measures hand_till,brier_score" in told


@pytest.mark.parametrize(
    "line",
    [
        ("evaluate", "--threshold", "0,5"),
        ("decision", "--threshold", "0,5"),
        ("evaluate", "--level", "0,5"),
    ],
)
def test_a_decimal_comma_in_an_option_is_answered_with_a_point(two, line):
    name, option, text = line
    told = run(name, two, "--pos-label", "ja", option, text).stderr
    assert f"Invalid value for '{option}': '0,5'" in told
    assert told.rstrip().endswith(f"write decimals with a point: 0.5 (see dmfroc {name} --help)")


def test_several_thresholds_are_separated_by_commas(two):
    assert run("decision", two, "--pos-label", "ja", "--threshold", "0.2,0.5").exit_code == 0


def test_subgroups_are_drawn(two, tmp_path):
    picture = tmp_path / "x.png"
    done = run("subgroups", two, "--pos-label", "ja", "--by", "site", "--plot", str(picture))
    assert done.exit_code == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"The picture is in {picture}" in on_one_line(done.stdout)
    words = ["--by", "site", "--plot", str(picture), "--measures", "hand_till,brier_score"]
    told = run("subgroups", two, "--pos-label", "ja", *words).stderr
    assert "about one measure, and there are 2: leave --plot out, or name one in --measures" in told


def test_help_describes_each_kind_of_chart():
    full = CliRunner().invoke(cli.app, ["plot", "--help-all"]).stdout
    told = on_one_line(full.partition("Kinds:")[2])
    for kind in KINDS:
        described = (display_of(kind).__doc__ or "").splitlines()[0].partition(";")[0]
        assert f"{kind} {described.rstrip('.')}" in told
