"""The command line: folds, many classifiers, subgroups and plans."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dmfroc
from dmfroc.cli import commands as cli

SCORES = ["p_a", "p_b", "p_c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("designs")
    rng = np.random.default_rng(0)
    true = np.arange(120) % 3
    for name, separation in (("good", 2.0), ("fair", 1.2), ("poor", 0.4)):
        table = pd.DataFrame(rng.normal(size=(120, 3)) + separation * np.eye(3)[true])
        table.columns = SCORES
        table["tree"] = np.array(["a", "b", "c"])[true]
        table["fold"] = np.arange(120) // 3 % 4
        table["site"] = np.where(np.arange(120) < 60, "north", "south")
        table["old"] = np.arange(120) % 2 == 0
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def run(*arguments):
    result = CliRunner().invoke(cli.app, [*map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


OPTIONS = ["--label", "tree", "--scores", ",".join(SCORES), "--measure", "hand_till"]


def test_folds(folder):
    file = folder / "good.csv"
    table = pd.read_csv(file)
    status, out, _ = run(
        "evaluate",
        file,
        "--label",
        "tree",
        "--scores",
        ",".join(SCORES),
        "--fold",
        "fold",
        "--measures",
        "hand_till",
        "--json",
    )
    expected = dmfroc.estimate("hand_till", table["tree"], table[SCORES], folds=table["fold"])
    assert status == 0
    assert json.loads(out)["estimates"]["hand_till"]["value"] == expected.value


def test_columns_of_folds_are_no_scores(folder, tmp_path):
    table = pd.read_csv(folder / "good.csv")[[*SCORES, "tree", "fold"]]
    table.to_parquet(tmp_path / "good.parquet")
    status, out, error = run(
        "evaluate", tmp_path / "good.parquet", "--label", "tree", "--fold", "fold"
    )
    assert (status, error) == (0, "")
    assert "Hand-Till M" in out


def test_simultaneous(folder):
    files = [folder / f"{name}.csv" for name in ("good", "fair", "poor")]
    status, out, _ = run("compare", *files, *OPTIONS, "--simultaneous", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["winner"]["name"] == "good"
    assert found["best_set"] == ["good"]
    assert all(d["adjusted_p_value"] >= d["p_value"] for d in found["differences"])
    _, text, _ = run("compare", *files, *OPTIONS, "--simultaneous", "--fold", "fold")
    assert "adjusted for its selection" in text


def test_picture_of_folds(folder, tmp_path):
    files = [folder / "good.csv", folder / "fair.csv"]
    options = [*OPTIONS, "--fold", "fold", "--plot", tmp_path / "folds.svg"]
    status, _, error = run("compare", *files, *options)
    assert (status, error) == (0, "")
    assert "mean over folds" in (tmp_path / "folds.svg").read_text()


def test_subgroups(folder):
    file = folder / "good.csv"
    status, out, _ = run("subgroups", file, *OPTIONS, "--by", "site", "--by", "old", "--json")
    found = json.loads(out)
    assert status == 0
    assert next(iter(found["groups"])) == "site=north, old=False"
    assert len(found["differences"]) == 6 + 4
    _, text, _ = run("subgroups", file, *OPTIONS, "--by", "site")
    assert "all groups equal: F(1," in text


def test_plan(folder):
    file = folder / "good.csv"
    status, out, _ = run("plan", file, *OPTIONS, "--half-width", "0.02", "--json")
    found = json.loads(out)
    assert status == 0
    assert sum(of_class["count"] for of_class in found["classes"]) == found["n"]
    _, text, _ = run(
        "plan", file, folder / "fair.csv", *OPTIONS, "--difference", "0.05", "--power", "0.9"
    )
    assert "for a difference of 0.05 (power 0.9, level 0.05)" in text


@pytest.mark.parametrize(
    ("command", "extra", "message"),
    [
        ("plan", [], "give either --half-width, or --difference"),
        ("subgroups", ["--by", "sight"], "there is no column 'sight'.*did you mean 'site'"),
    ],
)
def test_refusals(folder, command, extra, message):
    status, _, error = run(command, folder / "good.csv", *OPTIONS, *extra)
    assert status == 2
    assert re.search(message, error)
