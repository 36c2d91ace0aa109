"""The command with a judge, and with other class shares."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc.cli.commands import app

RNG = np.random.default_rng(0)
NAMES = np.array(["ash", "elm", "fir"])
CLASS = RNG.integers(3, size=400)
SCORES = RNG.normal(size=(400, 3)) + 1.5 * np.eye(3)[CLASS]
JUDGE = NAMES[np.where(RNG.random(400) < 0.8, CLASS, RNG.integers(3, size=400))]
HIDDEN = np.where(np.arange(400) < 80, NAMES[CLASS].astype(object), None)


@pytest.fixture
def file(tmp_path):
    table = pd.DataFrame(SCORES, columns=NAMES)
    table = table.assign(tree=HIDDEN, judge=JUDGE, all=NAMES[CLASS])
    path = tmp_path / "trees.csv"
    table.to_csv(path, index=False)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_judge(file):
    found = run("evaluate", file, "--label", "tree", "--judge", "judge", "--ignore", "all",
                "--measures", "hand_till", "--json")  # fmt: skip
    assert found.exit_code == 0, found.output
    value = json.loads(found.stdout)["estimates"]["hand_till"]["value"]
    direct = dmfroc.estimate("hand_till", HIDDEN, SCORES, judge=JUDGE)
    assert value == pytest.approx(direct.value)
    without = run("evaluate", file, "--label", "tree", "--ignore", "all,judge")
    assert without.exit_code != 0
    assert "judge=" in without.output or "--judge" in without.output


@pytest.mark.slow
def test_judge_of_several_classifiers(file, tmp_path):
    table = pd.read_csv(file)
    table[NAMES] += np.random.default_rng(1).normal(size=(400, 3))
    path = str(tmp_path / "other.csv")
    table.to_csv(path, index=False)
    others = ["--label", "tree", "--judge", "judge", "--ignore", "all", "--measure", "hand_till"]
    found = run("compare", file, path, *others, "--json")
    assert found.exit_code == 0, found.output
    scores = {"trees": SCORES, "other": table[NAMES].to_numpy()}
    direct = dmfroc.compare(HIDDEN, scores, judge=JUDGE, measures="hand_till")
    [difference] = json.loads(found.stdout)["differences"]
    assert difference["value"] == pytest.approx(direct.differences[0].value)
    for files in ([file], [file, path]):
        report = run("report", *files, *others, "--output", str(tmp_path / "report.html"))
        assert report.exit_code == 0, report.output
        assert "Effective labels" in (tmp_path / "report.html").read_text()
    table.iloc[::-1].to_csv(path, index=False)
    wrong = run("compare", file, path, *others)
    assert wrong.exit_code != 0
    assert "must have the same rows in the same order" in " ".join(wrong.output.split())


def test_target_prevalence(file):
    others = ["--label", "all", "--ignore", "tree,judge", "--measures", "accuracy", "--json"]
    shares = "ash=0.5,elm=0.3,fir=0.2"
    found = run("evaluate", file, *others, "--target-prevalence", shares)
    assert found.exit_code == 0, found.output
    value = json.loads(found.stdout)["estimates"]["accuracy"]["value"]
    named = {"ash": 0.5, "elm": 0.3, "fir": 0.2}
    direct = dmfroc.estimate("accuracy", NAMES[CLASS], SCORES, population=named)
    assert value == pytest.approx(direct.value)
    wrong = run("evaluate", file, *others, "--target-prevalence", "ash:0.5")
    assert wrong.exit_code != 0
    assert "--target-prevalence must be shares" in wrong.output


def test_target_prevalence_of_comparisons(file, tmp_path):
    other = pd.read_csv(file)
    other[NAMES] += RNG.normal(size=(400, 3))
    path = str(tmp_path / "second.csv")
    other.to_csv(path, index=False)
    found = run("compare", file, path, "--label", "all", "--ignore", "tree,judge", "--measure",
                "accuracy", "--target-prevalence", "ash=0.5,elm=0.3,fir=0.2", "--json")  # fmt: skip
    assert found.exit_code == 0, found.output
