"""The command line: folds, many classifiers, subgroups and plans."""

import json
import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pages import page_parts

import dmfroc
from dmfroc._kit.text import on_one_line
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
    return result.exit_code, result.stdout, re.sub(r"^Next: dmfroc .*\n", "", result.stderr)


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "good", "--measures", "hand_till", "--groups", "group"],
        ["evaluate", "good", "--measures", "hand_till", "--fold", "fold"],
        ["evaluate", "good", "--measures", "accuracy", "--judge", "judge"],
        ["compare", "good", "fair", "--measure", "accuracy", "--groups", "group"],
        ["compare", "good", "fair", "--measure", "accuracy", "--fold", "fold"],
        ["compare", "good", "fair", "--measure", "accuracy", "--judge", "judge"],
        ["subgroups", "good", "--measure", "accuracy", "--by", "site", "--groups", "group"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-2]}",
)
def test_counted_rows_are_rows_repeated(folder, tmp_path, arguments):
    generator = np.random.default_rng(1)
    group, counts = generator.integers(40, size=120), generator.integers(4, size=120)
    for name in ("good", "fair"):
        table = pd.read_csv(folder / f"{name}.csv").assign(group=group, judge="a", n=counts)
        if "--judge" in arguments:
            table["judge"] = np.where(np.arange(120) % 5, table["tree"], "b")
            table.loc[group > 25, "tree"] = None
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        repeated = table.loc[np.repeat(table.index, counts)].assign(n=1)
        repeated.to_csv(tmp_path / f"{name}-repeated.csv", index=False)
    options = ["--label", "tree", "--scores", ",".join(SCORES), "--count", "n", "--json"]

    def numbers(suffix):
        files = {name: tmp_path / f"{name}{suffix}.csv" for name in ("good", "fair")}
        status, out, error = run(*(files.get(x, x) for x in arguments), *options)
        assert (status, error) == (0, "")
        out = re.sub(r'"frequency_weight": {[^}]*"rows": [0-9]+', "", out)
        return re.sub(r"(?m)^.*[.]csv.*$|good-repeated|fair-repeated|good|fair", "", out)

    assert numbers("") == numbers("-repeated")


def test_plan(folder):
    file = folder / "good.csv"
    status, out, _ = run("plan", file, *OPTIONS, "--half-width", "0.02", "--json")
    found = json.loads(out)
    assert status == 0
    assert sum(of_class["count"] for of_class in found["classes"]) == found["n"]
    _, text, _ = run(
        "plan", file, folder / "fair.csv", *OPTIONS, "--difference", "0.05", "--power", "0.9"
    )
    assert "for a difference of 0.05 (power 0.9, tests at 0.05)" in on_one_line(text)
    assert max(map(len, text.splitlines())) <= 80


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


def texts_of(picture):
    """Return what is written on a picture, which Matplotlib keeps as comments beside its shapes."""
    return re.findall(r"<!-- (.*?) -->", picture.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_pictures_have_the_level_and_the_weights(folder, tmp_path, command):
    files = [folder / "good.csv", folder / "poor.csv"][: 1 + (command == "compare")]
    shared = ["--label", "tree", "--scores", ",".join(SCORES), "--level", "0.5"]
    picture = tmp_path / "curve.svg"
    given = [*shared, "--pair-weights", "prevalence", "--plot", picture, "--json"]
    status, out, _ = run(command, *files, *given)
    assert status == 0
    for file in files:
        table = pd.read_csv(file)
        area = dmfroc.measures.dmf_auc("prevalence")
        expected = dmfroc.estimate(area, table["tree"], table[SCORES], level=0.5)
        low, high = expected.interval
        text = f"{file.stem}: DMF-AUC {expected.value:.3f} (50 % jackknife interval {low:.3f} to"
        assert any(x.startswith(text) and f"{high:.3f}" in x for x in texts_of(picture))
    assert json.loads(out)["level"] == 0.5


def test_scans_print_the_bound_of_their_bins(tmp_path):
    rng = np.random.default_rng(1)
    true = np.arange(40_000) % 3
    table = pd.DataFrame(rng.normal(size=(40_000, 3)) + np.eye(3)[true], columns=SCORES)
    table.assign(tree=np.array(["a", "b", "c"])[true]).to_parquet(tmp_path / "many.parquet")
    scanned = dmfroc.scan(str(tmp_path / "many.parquet"), label="tree", scores=SCORES)
    expected = dmfroc.estimate("dmf_auc", scanned)
    given = ["--label", "tree", "--scores", ",".join(SCORES), "--measures", "dmf_auc,informedness"]
    status, out, _ = run("evaluate", tmp_path / "many.parquet", *given, "--scan", "--json")
    assert status == 0
    found = json.loads(out)["estimates"]
    assert found["dmf_auc"] == {
        "title": "DMF-AUC",
        "value": expected.value,
        "standard_error": expected.standard_error,
        "interval": list(expected.interval),
        "level": 0.95,
        "method": "jackknife",
        "error_bound": expected.error_bound,
    }
    assert expected.error_bound > 0
    assert found["informedness"]["error_bound"] == 0


@pytest.mark.parametrize(("kind", "has_hull"), [("roc", True), ("prg", True), ("pr", False)])
def test_hulls_are_drawn_of_two_classes(tmp_path, kind, has_hull):
    rng = np.random.default_rng(1)
    true = np.arange(60) % 2
    table = pd.DataFrame({"tree": true, "score": rng.normal(size=60) + true})
    table.to_csv(tmp_path / "two.csv", index=False)
    given = ["--label", "tree", "--scores", "score", "--output", tmp_path / "chart.svg"]
    status, _, error = run("plot", kind, tmp_path / "two.csv", *given)
    assert (status, error) == (0, "")
    assert ("convex hull (calibrated scores)" in texts_of(tmp_path / "chart.svg")) == has_hull


@pytest.mark.slow
def test_the_overview_is_of_a_page(folder, tmp_path):
    given = ["--label", "tree", "--scores", ",".join(SCORES), "--output", tmp_path / "all.png"]
    status, _, error = run("plot", "overview", folder / "fair.csv", *given)
    assert (status, error) == (0, "")
    assert matplotlib.image.imread(tmp_path / "all.png").shape[:2] == (1920, 1800)


def test_json_and_report_of_a_command_hold_the_same_numbers(folder, tmp_path):
    file = folder / "good.csv"
    for command, *given in (
        ("subgroups", "--by", "site", "--by", "old"),
        ("plan", "--half-width", "0.02"),
    ):
        page = tmp_path / "report.html"
        status, out, _ = run(command, file, *OPTIONS, *given, "--json", "--output", page)
        assert status == 0
        printed, embedded = json.loads(out), page_parts(page.read_text("utf-8"))["numbers"]
        shared = (set(printed) & set(embedded)) - {"warnings"}
        assert shared >= {"measure", "level"}
        assert {name: printed[name] for name in shared} == {k: embedded[k] for k in shared}


def test_cite_prints_bibtex_of_this_version():
    code, text, _ = run("cite")
    assert code == 0
    assert f"version = {{{dmfroc.__version__}}}" in text
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.M)
    assert keys[:3] == ["dmfroc", "wang2024multiclass", "hand2001simple"]
    assert len(set(keys)) == len(keys) == text.count("author ")
    assert text.count("{") == text.count("}")
    # The sources of limits are those of the page that derives them
    page = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text("utf-8")
    for author, year in (("Skovgaard", 1987), ("Owen", 2001)):
        assert f"{author.lower()}{year}" in text
        assert re.search(rf"{author}.* \({year}\)", page)
    assert "Feuer" not in text


def test_a_baseline_beside_one_file_and_several(folder):
    table = pd.read_csv(folder / "good.csv")
    status, out, _ = run("compare", folder / "good.csv", *OPTIONS, "--against", "chance", "--json")
    expected = dmfroc.compare(
        table["tree"], {"good": table[SCORES], "chance": "chance"}, measures="hand_till"
    )
    assert status == 0
    assert json.loads(out)["differences"][0]["p_value"] == expected.differences[0].p_value
    files = [folder / f"{name}.csv" for name in ("good", "fair")]
    status, out, _ = run("compare", *files, *OPTIONS, "--against", "always b")
    assert status == 0
    assert re.search(r"^good +always", out, re.MULTILINE)
    status, _, error = run("compare", *files, *OPTIONS, "--against", "luck")
    assert status == 2
    assert "'luck'" in error


def test_agreement_of_raters(tmp_path):
    ratings = [["a", "a", ""], ["b", "b", "c"], ["c", "c", "c"], ["", "b", "b"]] * 5
    pd.DataFrame(ratings, columns=["r_1", "r_2", "r_3"]).to_csv(tmp_path / "r.csv", index=False)
    measures = "krippendorff_alpha(scale='ordinal'),gwet_ac1"
    call = ["agreement", tmp_path / "r.csv", "--raters", "r_*", "--measures", measures]
    status, out, _ = run(*call, "--labels", "a,b,c", "--json")
    assert status == 0
    with pytest.warns(UserWarning, match="if it is not alphabetical"):
        expected = dmfroc.applications.rater_agreement(
            [[x or None for x in row] for row in ratings],
            measures=["krippendorff_alpha(scale='ordinal')", "gwet_ac1"],
        )
    found = json.loads(out)
    assert found["n_ratings"] == 50
    values = [x["value"] for x in found["estimates"].values()]
    assert values == [e.value for e in expected.values()]
