"""The command with outcomes that take time."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc.cli.commands import app

RNG = np.random.default_rng(0)
RISK = RNG.uniform(0.05, 0.9, 150)
EVENT, LOST = RNG.exponential(1.5 - RISK), RNG.exponential(2, 150)
DIED, TIME = (EVENT <= LOST).astype(int), np.minimum(EVENT, LOST)
COLUMNS = ["--label", "status", "--time", "followup", "--scores", "risk"]


@pytest.fixture
def files(tmp_path):
    paths = [str(tmp_path / name) for name in ("old.csv", "new.csv")]
    for path, risk in zip(paths, (RISK, RISK**2), strict=True):
        pd.DataFrame({"status": DIED, "followup": TIME, "risk": risk}).to_csv(path, index=False)
    return paths


def run(*arguments):
    return CliRunner().invoke(app, [str(x) for x in arguments])


def test_one_horizon_and_several(files, tmp_path):
    found = run("evaluate", files[0], *COLUMNS, "--horizon", 1, "--measures", "brier_score",
                "--json")  # fmt: skip
    assert found.exit_code == 0, found.output
    direct = dmfroc.estimate("brier_score", DIED, RISK, follow_up=dmfroc.FollowUp(TIME, 1))
    estimate = json.loads(found.stdout)["estimates"]["brier_score"]
    assert estimate["value"] == pytest.approx(direct.value)
    assert estimate["interval"] == pytest.approx(direct.interval)
    several = ["--horizon", 0.5, "--horizon", 1]
    found = run("compare", *files, *COLUMNS, *several, "--measure", "brier_score", "--json")
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)["horizons"]
    direct = dmfroc.compare(
        DIED,
        {"old": RISK, "new": RISK**2},
        measures="brier_score",
        follow_up=dmfroc.FollowUp(TIME, [0.5, 1]),
    )
    assert [row["name"] for row in rows] == ["old", "old", "new", "new", *["old - new"] * 2]
    assert rows[-1]["value"] == pytest.approx(direct.points["old - new"][1].value)
    found = run("compare", *files, *COLUMNS, "--horizon", "0.5,1", "--measure", "brier_score",
                "--json")  # fmt: skip
    assert json.loads(found.stdout)["horizons"] == rows
    wrong = run("evaluate", files[0], *COLUMNS, "--horizon", "1,year")
    assert wrong.stderr == (
        "dmfroc: error: Invalid value for '--horizon': '1,year': give numbers separated by commas, "
        "such as --horizon 0.2,0.5 (see dmfroc evaluate --help)\n"
    )
    page = tmp_path / "report.html"
    for given in (files[:1], files):
        for horizon in (several, several[:2]):
            found = run("report", *given, *COLUMNS, *horizon, "--measure", "brier_score",
                        "--output", page)  # fmt: skip
            assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("name", "label", "none", "event"),
    [
        ("survival12.csv", "status", "1", "2"),
        ("survival.csv", "vital_status", "Living", "Died of Disease"),
    ],
)
def test_the_value_of_rows_without_event(cases_directory, tmp_path, name, label, none, event):
    third = cases_directory / "third"
    cases = json.loads((third / "expected_handout.json").read_text())
    right = next(x["right"] for x in cases if x["name"] == "survival12.csv")
    call = [third / name, "--label", label, "--time", "months", "--horizon", 36, "--scores", "risk"]
    refused = run("evaluate", *call)
    assert refused.exit_code == 2
    assert f"such as --censored {none}, or pass --censored 0" in refused.output
    measures = ["--measures", ",".join(right), "--json"]
    found = run("evaluate", *call, "--censored", none, *measures)
    values = {k: x["value"] for k, x in json.loads(found.stdout)["estimates"].items()}
    assert values == pytest.approx(right)
    for command in (["threshold"], ["decision"], ["report", "-o", tmp_path / "report.html"]):
        done = run(*command, *call, "--censored", none)
        assert done.exit_code == 0, done.output
    untimed = ["--label", label, "--scores", "risk", "--labels", f"{none},{event}"]
    assert "go together" in run("evaluate", third / name, *untimed, "--censored", none).output


def test_what_is_refused(files):
    assert "go together" in run("evaluate", files[0], *COLUMNS).output
    plot = run("evaluate", files[0], *COLUMNS, "--horizon", 1, "--plot", "x.png")
    assert "with --judge or --time some have no label" in plot.output
