"""Short options, completion, formats, and commands for calibration and decisions."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc.cli import commands as cli

RNG = np.random.default_rng(0)
Y = np.arange(120) % 2
P = 1 / (1 + np.exp(-RNG.normal(2 * Y - 1, 1)))
FRAME = pd.DataFrame({"y": Y, "p": P, "q": RNG.random(120), "fold": np.arange(120) // 2 % 5})


@pytest.fixture
def file(tmp_path):
    FRAME.to_csv(tmp_path / "scores.csv", index=False)
    return str(tmp_path / "scores.csv")


def run(*arguments, code=0):
    found = CliRunner().invoke(cli.app, list(arguments))
    assert found.exit_code == code, found.output
    return found


OF_FILE = ("--label", "y", "--scores", "p")


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_without_a_command(arguments):
    assert "Evaluate one classifier." in run(*arguments).stdout
    assert run("evaluate", "-h").stdout == run("evaluate", "--help").stdout


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [("dmfroc ev", 1, "evaluate"), ("dmfroc plan --pow", 2, "--power")],
)
def test_shells_complete_commands_and_options(monkeypatch, words, place, expected):
    monkeypatch.setenv("_DMFROC_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(place))
    assert run().stdout.strip() == f"plain,{expected}"


def test_the_output_has_a_short_option(file, tmp_path):
    run("report", file, *OF_FILE, "-o", str(tmp_path / "x.html"))
    assert (tmp_path / "x.html").read_text(encoding="utf-8").startswith("<!")


def test_tables_in_formats_of_other_programs(file):
    options = (*OF_FILE, "--measures", "hand_till,brier_score")
    expected = dmfroc.evaluate(Y, P, measures=["hand_till", "brier_score"])
    found = pd.read_csv(io.StringIO(run("evaluate", file, *options, "--csv").stdout), index_col=0)
    numbers = ["value", "standard_error", "low", "high"]
    pd.testing.assert_frame_equal(found[numbers], expected.to_pandas()[numbers], rtol=1e-12)
    assert run("evaluate", file, *options, "--latex").stdout == expected.to_latex() + "\n"
    assert run("evaluate", file, *options, "--markdown").stdout == expected.to_markdown() + "\n"


def test_any_table_and_warnings_beside_it(file):
    found = run("compare", file, file, *OF_FILE, "--markdown", "--table", "differences")
    assert found.stdout.startswith("| A | B | A - B |")
    assert "the same scores in every row" in found.stderr
    wrong = run("compare", file, file, *OF_FILE, "--csv", "--table", "nope", code=2)
    assert "table must be one of ['estimates', 'differences'" in wrong.stderr
    alone = run("evaluate", file, *OF_FILE, "--table", "estimates", code=2)
    assert "--table is for --csv, --latex and --markdown" in alone.stderr


def test_a_column_that_looks_like_folds_is_named(file):
    frame = pd.DataFrame({"y": Y, "0": 1 - P, "1": P, "cv_fold": FRAME["fold"]})
    frame.to_csv(file, index=False)
    told = run("evaluate", file, "--label", "y").stdout
    assert "if 'cv_fold' has folds, name it by --fold" in told
    assert "has folds" not in run("evaluate", file, "--label", "y", "--fold", "cv_fold").stdout


@pytest.mark.parametrize(
    ("command", "options", "analysis"),
    [
        ("calibration", (), lambda: dmfroc.calibration_tests(Y, P)),
        ("threshold", (), lambda: dmfroc.decisions.choose_threshold(Y, P, n_draws=999)),
        (
            "threshold",
            ("--criterion", "cost", "--cost-fp", "1", "--cost-fn", "5", "--n-draws", "200"),
            lambda: dmfroc.decisions.choose_threshold(
                Y, P, by="cost", cost_fp=1.0, cost_fn=5.0, n_draws=200
            ),
        ),
        ("decision", (), lambda: dmfroc.curves.decision_curve(Y, P)),
    ],
)
def test_calibration_thresholds_and_decisions(file, tmp_path, command, options, analysis):
    picture = str(tmp_path / "x.png")
    found = json.loads(run(command, file, *OF_FILE, *options, "--json", "--plot", picture).stdout)
    expected = json.loads(analysis().to_json())
    assert {name: found[name] for name in expected if name != "warnings"} == {
        name: value for name, value in expected.items() if name != "warnings"
    }
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_groups_of_a_decision_curve(file):
    FRAME.assign(patient=np.arange(120) // 4).to_csv(file, index=False)
    found = run("decision", file, *OF_FILE, "--groups", "patient", "--json").stdout
    expected = dmfroc.curves.decision_curve(Y, P, groups=np.arange(120) // 4)
    assert json.loads(found)["thresholds"] == json.loads(expected.to_json())["thresholds"]


def test_decisions_of_several_classes_are_in_one_table(file, tmp_path):
    frame = pd.DataFrame(RNG.dirichlet(np.ones(3), 120), columns=list("abc"))
    y = np.array(list("abc"))[np.arange(120) % 3]
    frame.assign(y=y).to_csv(file, index=False)
    found = pd.read_csv(io.StringIO(run("decision", file, "--label", "y", "--csv").stdout))
    expected = dmfroc.curves.decision_curve(y, frame[["a", "b", "c"]])
    assert list(found["label"].unique()) == ["a", "b", "c"]
    np.testing.assert_allclose(found.iloc[:, -12:], expected.to_pandas().iloc[:, -12:], rtol=1e-9)
    told = run("decision", file, "--label", "y", "--plot", tmp_path / "x.png", code=2).stderr
    assert "has 3 classes, and a picture is about one of two: leave --plot out" in told


def test_standard_input_is_a_file(file):
    arguments = ("evaluate", "-", *OF_FILE, "--json")
    with open(file, encoding="utf-8") as stream:
        found = CliRunner().invoke(cli.app, list(arguments), input=stream.read())
    expected = json.loads(run("evaluate", file, *OF_FILE, "--json").stdout)
    assert json.loads(found.stdout)["estimates"] == expected["estimates"]


def test_pipes_have_all_rows_of_a_table(file):
    lines = run("decision", file, *OF_FILE).stdout.splitlines()
    curve = dmfroc.curves.decision_curve(Y, P).to_pandas()
    assert sum(line.startswith(("0.", "1.")) for line in lines) >= len(curve) > 50


def test_comparisons_by_several_measures(file, tmp_path):
    other = tmp_path / "other.csv"
    FRAME.assign(p=FRAME["q"]).to_csv(other, index=False)
    options = (str(other), *OF_FILE, "--measure", "hand_till,brier_score", "--csv")
    found = pd.read_csv(io.StringIO(run("compare", file, *options).stdout), index_col="measure")
    for name in ("hand_till", "brier_score"):
        expected = dmfroc.compare(Y, {"a": P, "b": FRAME["q"].to_numpy()}, measure=name)
        assert found.loc[name, "difference"] == pytest.approx(expected.differences[0].value)


@pytest.mark.parametrize(
    ("command", "more"), [("decision", ()), ("threshold", ("--n-draws", "1000"))]
)
def test_outcomes_at_a_horizon(tmp_path, command, more):
    file = tmp_path / "followed.csv"
    FRAME.assign(t=1 + np.arange(120) % 7).to_csv(file, index=False)
    options = (*OF_FILE, "--time", "t", "--horizon", "5", *more, "--json")
    found = json.loads(run(command, str(file), *options).stdout)
    analysis = {
        "decision": dmfroc.curves.decision_curve,
        "threshold": dmfroc.decisions.choose_threshold,
    }
    read = dmfroc.Predictions.from_arrays(Y, P)
    expected = analysis[command](read, time=1 + np.arange(120) % 7, horizon=5)
    assert found | expected.as_json() == found


def test_subgroups_in_folds(file):
    by = np.arange(120) % 3
    grouped = file.replace("scores", "grouped")
    FRAME.assign(site=by).to_csv(grouped, index=False)
    options = (*OF_FILE, "--by", "site", "--fold", "fold", "--measure", "hand_till", "--csv")
    found = run("subgroups", grouped, *options).stdout
    expected = dmfroc.compare_subgroups(
        Y, P, by.astype(str), measure="hand_till", folds=FRAME["fold"]
    )
    found = pd.read_csv(io.StringIO(found), index_col="group", dtype={"group": str})
    pd.testing.assert_frame_equal(
        found, expected.to_pandas(), check_dtype=False, check_index_type=False
    )


def test_receipts_of_sites_are_pooled(file, tmp_path):
    receipts = []
    for site in range(3):
        rows = FRAME[FRAME.index % 3 == site]
        rows.to_csv(tmp_path / f"site{site}.csv", index=False)
        receipts.append(str(tmp_path / f"receipt{site}.json"))
        data = str(tmp_path / f"site{site}.csv")
        run("evaluate", data, *OF_FILE, "--measures", "hand_till", "--receipt", receipts[-1])
    with pytest.warns(UserWarning, match="hardly show"):
        expected = dmfroc.pool(receipts, measure="hand_till")
    found = run("pool", *receipts, "--measure", "hand_till", "--csv").stdout
    table = pd.read_csv(io.StringIO(found), index_col=0)
    np.testing.assert_allclose(table.iloc[:, 0], expected.to_pandas().iloc[:, 0])
    line = ("evaluate", data, *OF_FILE, "--receipt", data)
    assert "is an input" in run(*line, code=2).stderr
