"""The command line: what it prints, what it writes, and how it fails."""

import contextlib
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import expit

import dmfroc
from dmfroc._kit.text import on_one_line
from dmfroc._kit.version import package_version
from dmfroc.cli import commands as cli
from dmfroc.cli import outputs as _cli_outputs
from dmfroc.cli.options import FORMATS

CLASSES = ["ash", "birch", "cedar"]
N = 60
PNG = b"\x89PNG\r\n\x1a\n"
TERM = {"TERM": "xterm-256color"}


def write_scores(path, separation, seed=0, labels=None):
    rng = np.random.default_rng(seed)
    true = np.arange(N) % 3
    scores = expit((rng.normal(size=(N, 3)) + separation * np.eye(3)[true]) / 20)  # no logits
    frame = pd.DataFrame(scores, columns=[f"p_{name}" for name in CLASSES])
    frame.insert(0, "tree", np.array(CLASSES)[true] if labels is None else labels)
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder / "good.csv", 2.0, seed=1)
    write_scores(folder / "fair.csv", 1.5, seed=2)
    write_scores(folder / "poor.csv", 0.5, seed=3)
    write_scores(folder / "perfect.csv", 100.0, seed=4)
    write_scores(folder / "shuffled.csv", 1.0, labels=np.array(CLASSES)[np.arange(N) // 20])
    margins = pd.read_csv(folder / "good.csv").assign(p_ash=lambda frame: 9 * frame.p_ash)
    margins.to_csv(folder / "margins.csv", index=False)
    write_scores(folder / "absent.csv", 2.0, labels=np.array(CLASSES)[np.arange(N) % 2])
    return folder


@pytest.fixture
def good(folder):
    return folder / "good.csv"


@pytest.fixture(scope="module")
def frame(folder):
    return pd.read_csv(folder / "good.csv")


@pytest.fixture
def costs(tmp_path):
    """A function that writes a file of costs."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "costs.csv"
        path.write_text(text, encoding=encoding)
        return path

    return write


def invoke(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.stderr
    assert re.fullmatch(r"(Next: dmfroc .+\n)?", result.stderr)
    return result.stdout


def parsed(*arguments):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(succeed(*arguments, "--json"), parse_constant=refuse)


def failure(*arguments):
    """Return the one line of a failed command."""
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("dmfroc: error: ")
    return result.stderr.removeprefix("dmfroc: error: ").rstrip("\n")


def located(arguments, folder):
    """Put paths for names in capitals."""
    return [folder / f"{a.lower()}.csv" if a.isupper() else a for a in arguments]


def as_json(estimate, **others):
    return {
        "value": estimate.value,
        "standard_error": estimate.standard_error,
        "interval": list(estimate.interval),
        **others,
    }


def measures_as_json(evaluation):
    estimates = evaluation.estimates
    is_corrected = any(e.bias_corrected is not None for e in estimates.values())
    return {
        name: as_json(e, title=e.title, level=e.level, method=e.method)
        | ({"bias_corrected": e.bias_corrected} if is_corrected else {})
        for name, e in estimates.items()
    }


# General


def test_version():
    assert succeed("--version") == f"dmfroc {package_version()}\n"


def test_version_of_a_source_tree(monkeypatch):
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert succeed("--version") == "dmfroc unknown\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["evaluate", "compare", "demo", "--version"]),
        (["evaluate"], ["--label", "--scores", "--measures", "--pair-weights", "[default: 0.95]"]),
        (["compare"], ["--label", "--labels", "--measures ", "--json", "--plot"]),
        (["plot"], ["--label", "--output", "calibration", "overview", "reciprocal-pr"]),
        (["demo"], ["--plot", "dmfroc-demo.png"]),
    ],
)
def test_help(arguments, expected):
    text = succeed(*arguments, "--help-all")
    assert [word for word in expected if word not in text] == []


def test_help_has_sections_and_fits_a_screen():
    shown = succeed("compare", "--help")
    first, more = shown.split("More with --help-all")
    assert len(first.splitlines()) <= 25
    assert more == "\n"
    places = [
        shown.index(x)
        for x in ("Most used:", "--label COLUMN", "\nFile:", "\nDesign:", "\nOutput:")
    ]
    assert places == sorted(places)
    for name, command in cli.app.commands.items():
        short, full = succeed(name, "--help"), succeed(name, "--help-all")
        assert len(short.partition("More with")[0].splitlines()) <= 25, name
        flags = {x.opts[-1] for x in command.params if x.opts[0].startswith("-")}
        assert [x for x in flags if x not in short or x not in full] == [], name


HINTED = [
    "evaluate one.csv --label y --scores p --measures brier_score,auc --where sex=f --level 0.9",
    "evaluate one.csv --label y --scores p --per-class --direction >=",
    "compare one.csv --label y --scores p,q",
    "compare one.csv --label y --scores p,q --margin 0.1 --groups unit",
    "compare one.csv --answers right,wrong",
    "leaderboard one.csv --label y --scores p,q --where sex=m",
    "subgroups one.csv --label y --scores p --by sex",
    "gate rules.toml one.csv --label y --scores p",
    "plan one.csv --label y --scores p --half-width 0.05",
    "agreement one.csv --raters right,wrong",
    "pool p.json q.json --measures auc",
    "calibration one.csv --label y --scores p",
    "threshold one.csv --label y --scores p",
    "decision one.csv --label y --scores p",
]


@pytest.mark.slow
def test_every_command_names_a_line_that_writes_its_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    p, q = (1 / (1 + np.exp(-(rng.normal(size=120) + shift * (2 * y - 1)))) for shift in (1, 0.5))
    table = pd.DataFrame({"y": y, "p": p, "q": q, "right": (p > 0.5) * 1, "wrong": (q > 0.5) * 1})
    table["sex"], table["unit"] = np.repeat(["f", "m"], 60), np.arange(120) // 2
    table.to_csv("one.csv", index=False)
    Path("rules.toml").write_text('[[rule]]\nmeasure = "auc"\nat_least = 0.5\n')
    shared = ["evaluate", "one.csv", "--label", "y", "--measures", "auc", "--receipt"]
    for score in "pq":
        succeed(*shared, f"{score}.json", "--scores", score)
    for line in HINTED:
        done = invoke(*line.split())
        assert done.exit_code == 0, (line, done.stderr)
        assert done.stderr.count("Next: ") == 1
        words = shlex.split(done.stderr.removeprefix("Next: "))
        assert sorted(words) == sorted(["dmfroc", *line.split(), "-o", "dmfroc-report.html"])
        done = invoke(*words[1:])
        assert (done.exit_code, done.stderr) == (0, ""), line
        Path("dmfroc-report.html").unlink()
    told_of = {x.split()[0] for x in HINTED}
    with_output = {x for x, command in cli.app.commands.items() if FORMATS[-1] in command.params}
    assert told_of == with_output


def test_commands_without_a_report_name_another_one(good, tmp_path):
    said = {
        ("measures", "hand_till"): "evaluate FILE --label COLUMN --measures NAME,NAME",
        ("plot", "roc", good, "--label", "tree", "-o", tmp_path / "roc.png"): (
            f"report {good} --label tree -o dmfroc-report.html"
        ),
        ("report", good, "--label", "tree", "-o", tmp_path / "page.html"): "cite",
    }
    for line, following in said.items():
        assert invoke(*line).stderr == f"Next: dmfroc {following}\n"
    assert invoke("measures", "hand_till", "--json").stderr == ""
    named = {x.split()[0] for x in HINTED} | {line[0] for line in said}
    assert named | {"demo", "cite"} == {*cli.app.commands}
    listed = invoke("--help").stdout
    assert "..." not in listed.partition("Commands:")[2]
    assert "First: dmfroc demo. Then, with a file of scores: dmfroc evaluate FILE" in listed


def test_no_line_is_named_where_none_writes_a_report(good, tmp_path):
    for form in ("--json", "--csv"):
        assert invoke("evaluate", good, "--label", "tree", form).stderr == ""
    page = tmp_path / "page.html"
    assert invoke("evaluate", good, "--label", "tree", "-o", page).stderr == ""


def test_help_imports_nothing_slow():
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dmfroc", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    imported = {line.split("|")[-1].strip() for line in run.stderr.splitlines()}
    assert "dmfroc.cli" in imported
    slow = {"jax", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "matplotlib", "rich"}
    assert imported & slow == set()


# Evaluate


def test_evaluate_prints_the_table(good, frame):
    evaluation = dmfroc.evaluate(frame["tree"], frame.drop(columns="tree"))
    text = succeed("evaluate", good, "--label", "tree")
    assert text == f"{evaluation}\n"
    for estimate in evaluation.estimates.values():
        assert f"{estimate.value:.4f}" in text


def test_evaluate_as_json(good, frame):
    evaluation = dmfroc.evaluate(frame["tree"], frame.drop(columns="tree"))
    assert parsed("evaluate", good, "--label", "tree") == {
        "file": str(good),
        "pair_weights": "equal",
        "n_observations": N,
        "classes": [{"label": name, "count": 20} for name in CLASSES],
        "method": "jackknife",
        "level": 0.95,
        "estimates": measures_as_json(evaluation),
        "warnings": [],
        "dmfroc_version": package_version(),
    }


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
def test_evaluate_takes_all_options(frame, tmp_path):
    weight = np.arange(1, N + 1) / 2
    hard = frame["tree"].to_numpy()[::-1]
    path = tmp_path / "scores.csv"
    frame.assign(weight=weight, hard=hard, comment="x").to_csv(path, index=False)
    evaluation = dmfroc.evaluate(
        frame["tree"],
        frame.drop(columns="tree"),
        measures=["informedness", "dmf_auc"],
        level=0.8,
        pair_weights="prevalence",
        labels=CLASSES[::-1],
        sample_weight=weight,
        y_pred=hard,
    )
    found = parsed(
        *("evaluate", path, "--label", "tree"),
        *("--scores", "p_ash, p_birch", "--scores", "p_cedar"),
        *("--labels", "cedar,birch,ash", "--sample-weight", "weight", "--y-pred", "hard"),
        *("--measures", "informedness,dmf_auc", "--level", 0.8, "--pair-weights", "prevalence"),
    )
    assert found["estimates"] == measures_as_json(evaluation)
    assert list(found["estimates"]) == ["informedness", "dmf_auc"]
    assert [c["label"] for c in found["classes"]] == ["cedar", "birch", "ash"]
    assert (found["level"], found["pair_weights"]) == (0.8, "prevalence")


def test_evaluate_reads_one_array_of_scores_from_npz(frame, tmp_path):
    path = tmp_path / "scores.npz"
    scores = frame.drop(columns="tree").to_numpy()
    np.savez(path, y=np.arange(N) % 3, z=scores)
    options = ["--label", "y", "--scores", "z", "--measures", "hand_till"]
    found = parsed("evaluate", path, *options)
    assert found["estimates"]["hand_till"]["value"] == dmfroc.hand_till_score(
        np.arange(N) % 3, scores
    )
    assert [c["label"] for c in found["classes"]] == [0, 1, 2]


def test_a_comma_inside_a_name_is_quoted(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('y,"a,b",c\n"a,b",0.9,0.1\nc,0.2,0.8\n"a,b",0.4,0.6\nc,0.5,0.5\n')
    options = ["--label", "y", "--labels", 'c,"a,b"', "--measures", "hand_till"]
    assert [c["label"] for c in parsed("evaluate", path, *options)["classes"]] == ["c", "a,b"]


COSTS = ",birch,cedar,ash,oak\nash,1,2,,9\n\nbirch,, 3,4 ,9\ncedar,5,,6,9\noak,9,9,9,\n"
MATRIX = [[0, 1, 2], [4, 0, 3], [6, 5, 0]]  # observed by predicted, in the order of the classes


def test_evaluate_reads_costs_by_name(good, frame, costs):
    expected = dmfroc.dmf_auc_score(
        frame["tree"], frame.drop(columns="tree"), pair_weights=np.array(MATRIX)
    )
    options = ["--label", "tree", "--measures", "dmf_auc", "--pair-weights"]
    found = parsed("evaluate", good, *options, costs("\ufeff" + COSTS))
    assert found["estimates"]["dmf_auc"]["value"] == pytest.approx(expected, abs=1e-12)
    assert found["pair_weights"].endswith("costs.csv")


def test_costs_of_boolean_classes(tmp_path, costs):
    path = tmp_path / "scores.csv"
    path.write_text("y,False,True\ntrue,0,1\nfalse,1,0.5\nfalse,0.2,0.4\ntrue,0.3,0.2\n")
    options = ["--label", "y", "--measures", "dmf_auc", "--pair-weights"]
    found = parsed("evaluate", path, *options, costs(",false,true\nfalse,,2\ntrue,3,\n"))
    assert found["estimates"]["dmf_auc"]["value"] == pytest.approx(0.75)  # of the difference


def test_remarks_are_notes(folder, tmp_path):
    path = folder / "absent.csv"
    options = ["--label", "tree", "--measures", "hand_till"]
    refusal = failure("evaluate", path, *options)
    assert "leave it out with --ignore p_cedar, or pass --labels ash,birch,cedar if" in refusal
    options += ["--labels", "ash,birch,cedar"]
    note = "1 class has a column but no observation and every pair with it is left out: 'cedar'"
    printed = succeed("evaluate", path, *options)
    assert max(map(len, printed.splitlines())) <= 80
    assert on_one_line(printed).endswith(f" warning: {note}")
    found = parsed("evaluate", path, *options)
    assert found["warnings"] == [note]
    assert found["classes"][2] == {"label": "cedar", "count": 0}


# Compare


def comparison(folder, *names, measure="hand_till"):
    frames = {name: pd.read_csv(folder / f"{name}.csv") for name in names}
    true = frames[names[0]]["tree"]
    scores = {name: frame.drop(columns="tree") for name, frame in frames.items()}
    return dmfroc.compare(true, scores, measures=measure)


def test_compare_prints_the_tables(folder):
    files = [folder / f"{name}.csv" for name in ("good", "fair", "poor")]
    text = succeed("compare", *files, "--label", "tree", "--measure", "hand_till")
    # As at a prompt: other programs read --csv and --json
    expected = comparison(folder, "good", "fair", "poor").as_text()
    assert text == f"{expected}\n"


def test_compare_as_json(folder):
    files = {name: str(folder / f"{name}.csv") for name in ("good", "fair", "poor")}
    expected = comparison(folder, *files, measure="dmf_auc")
    assert parsed("compare", *files.values(), "--label", "tree") == {
        "files": files,
        "pair_weights": "equal",
        "n_observations": N,
        "classes": [{"label": name, "count": 20} for name in CLASSES],
        "measure": "dmf_auc",
        "title": "DMF-AUC",
        "method": "jackknife",
        "level": 0.95,
        "alternative": "two-sided",
        "scale": "difference",
        "margin": 0.0,
        "tested": "P-values are two-sided: A - B \u2260 0.",
        "simultaneous": False,
        "value_intervals": None,
        "estimates": {
            name: as_json(e, may_be_best=name in expected.best_set())
            for name, e in expected.estimates.items()
        },
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                **as_json(d),
                "p_value": d.p_value,
                "adjusted_p_value": d.adjusted_p_value,
                "probability_better": d.probability_better,
                "probability_equivalent": d.probability_equivalent,
                "test": d.test,
                "degrees_of_freedom": d.degrees_of_freedom,
            }
            for d in expected.differences
        ],
        "order_probabilities": [
            {"order": list(order), "probability": probability}
            for order, probability in expected.order_probabilities.items()
        ],
        "best_set": list(expected.best_set()),
        "winner": None,
        "n_draws": expected.n_draws,
        "seed": 0,
        "warnings": [],
        "dmfroc_version": package_version(),
    }


def test_compare_tests_one_side(folder, tmp_path):
    files = [folder / "good.csv", folder / "fair.csv"]
    options = ["--label", "tree", "--measure", "hand_till", "--margin", "0.05"]
    found = parsed("compare", *files, *options)
    (difference,) = found["differences"]
    frames = {path.stem: pd.read_csv(path) for path in files}
    scores = {name: frame.drop(columns="tree") for name, frame in frames.items()}
    (expected,) = dmfroc.compare(
        frames["good"]["tree"], scores, measures="hand_till", test=dmfroc.NonInferiority(0.05)
    ).differences
    assert difference["p_value"] == expected.p_value
    assert difference["interval"] == [expected.interval[0], None]
    assert found["tested"].startswith("P-values are one-sided: A - B > -0.05")
    page = tmp_path / "report.html"
    succeed("report", *files, *options, "--output", page)
    assert "good is not worse than fair by 0.05 or more" in page.read_text("utf-8")


def test_compare_weighs_pairs(folder, frame):
    files = [folder / "good.csv", folder / "poor.csv"]
    found = parsed("compare", *files, "--label", "tree", "--pair-weights", "prevalence")
    expected = dmfroc.dmf_auc_score(
        frame["tree"], frame.drop(columns="tree"), pair_weights="prevalence"
    )
    assert found["estimates"]["good"]["value"] == pytest.approx(expected, abs=1e-12)
    assert found["pair_weights"] == "prevalence"


def test_compare_says_whom_a_remark_concerns(folder):
    files = [folder / "good.csv", folder / "perfect.csv"]
    options = ["--label", "tree", "--measure", "hand_till"]
    notes = parsed("compare", *files, *options)["warnings"]
    assert len(notes) == 1
    assert notes[0].startswith("perfect: hand_till is perfect in this sample")
    printed = on_one_line(succeed("compare", *files, *options))
    assert printed.endswith(f" warning: {notes[0].replace('hand_till', 'Hand-Till M')}")


def test_compare_says_a_common_remark_once(folder):
    files = [folder / "absent.csv"] * 2
    options = ["--label", "tree", "--labels", "ash,birch,cedar", "--measure", "hand_till"]
    notes = parsed("compare", *files, *options)["warnings"]
    assert len(notes) == 2
    assert sorted(notes)[0].startswith("1 class has a column but no observation")
    assert sorted(notes)[1].startswith("the same scores in every row")


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["x/a.csv", "x/b.v2.csv.gz"], ["a", "b.v2"]),
        (["a.csv", "a.parquet"], ["a.csv", "a.parquet"]),
        (["x/a.csv", "y/a.csv"], ["x/a.csv", "y/a.csv"]),
        (["a.csv", "a.csv"], ["a.csv (1)", "a.csv (2)"]),
    ],
)
def test_classifiers_are_named_after_their_files(files, names):
    from dmfroc.cli.inputs import classifier_names

    assert classifier_names([Path(file) for file in files]) == names


# Pictures


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_plot(folder, tmp_path, command):
    files = [folder / "good.csv", folder / "poor.csv"][: 1 if command == "evaluate" else 2]
    path = tmp_path / "roc.png"
    text = succeed(command, *files, "--label", "tree", "--plot", path)
    assert text.endswith(f"\n\nThe picture is in {path}\n")
    assert path.read_bytes().startswith(PNG)
    assert os.listdir(tmp_path) == ["roc.png"]


def test_plot_leaves_json_alone_and_replaces_the_target_of_a_link(good, tmp_path):
    path, link = tmp_path / "roc.svg", tmp_path / "link.svg"
    path.write_text("old")
    link.symlink_to(path)
    parsed("evaluate", good, "--label", "tree", "--plot", link)
    assert "<svg" in path.read_text()
    assert link.is_symlink()


def test_plot_does_not_touch_the_users_matplotlib(good, tmp_path):
    import matplotlib.pyplot as plt

    backend, figures = plt.get_backend(), plt.get_fignums()
    succeed("evaluate", good, "--label", "tree", "--plot", tmp_path / "roc.png")
    assert (plt.get_backend(), plt.get_fignums()) == (backend, figures)


@pytest.mark.slow
@pytest.mark.parametrize("kind", _cli_outputs.KINDS)
def test_every_chart_is_drawn(good, tmp_path, kind):
    if kind in (
        "calibration",
        "decision",
        "reliability",
        "risk-coverage",
    ):  # the file has scores that are no probabilities
        frame = pd.read_csv(good)
        scores = np.exp(frame.iloc[:, 1:])
        frame.iloc[:, 1:] = scores.div(scores.sum(axis=1), axis=0)
        good = tmp_path / "probabilities.csv"
        frame.to_csv(good, index=False)
    picture = tmp_path / "chart.png"
    stdout = succeed("plot", kind, good, "--label", "tree", "--output", picture)
    assert stdout == f"The picture is in {picture}\n"
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize("n_leaves", [1, 2, 3])
def test_calibration_of_scores_with_few_distinct_values(tmp_path, n_leaves):
    """Those of a decision stump, or of a tree with a leaf for each class."""
    leaf = np.arange(N) * n_leaves // N
    of_leaf = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.1, 0.2, 0.7]])
    frame = pd.DataFrame(of_leaf[leaf], columns=[f"p_{name}" for name in CLASSES])
    frame.insert(0, "tree", np.array(CLASSES)[np.random.default_rng(7).permutation(N) % 3])
    frame.to_csv(tmp_path / "leaves.csv", index=False)
    picture = tmp_path / "chart.png"
    arguments = tmp_path / "leaves.csv", "--label", "tree", "--output", picture
    assert succeed("plot", "calibration", *arguments) == f"The picture is in {picture}\n"
    assert picture.read_bytes().startswith(PNG)
    smooth = dmfroc.curves.loess_calibration_curve(
        frame["tree"], frame.iloc[:, 1:], multi_class="ovr"
    )
    for label, curve in smooth.items():
        found = frame[f"p_{label}"].to_numpy()
        shares = [np.mean(frame["tree"][found == value] == label) for value in np.unique(found)]
        assert curve.y[[0, -1]] == pytest.approx([shares[0], shares[-1]])
        if n_leaves < 3:
            assert min(shares) - 1e-9 <= curve.y.min() <= curve.y.max() <= max(shares) + 1e-9


def test_a_chart_has_a_name_of_its_own(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed("plot", "boc", good, "--label", "tree")
    assert (tmp_path / "dmfroc-boc.png").read_bytes().startswith(PNG)


def test_a_chart_of_classes_of_which_one_is_absent(folder, tmp_path):
    options = ["--label", "tree", "--labels", "ash,birch,cedar", "--output", tmp_path / "a.png"]
    stdout = succeed("plot", "roc", folder / "absent.csv", *options)
    assert stdout.startswith(
        "warning: no curve is drawn of classes without observations: 'cedar'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["pie", "GOOD", "--label", "tree"],
            "Invalid value for 'KIND': 'pie' is not one of 'accuracy', .*",
        ),
        (["roc", "GOOD", "--label", "tree", "--output", "a.txt"], "--output must name a file with"),
        (
            ["calibration", "MARGINS", "--label", "tree"],
            r"the probabilities of class 'ash' must be in",
        ),
        (["roc", "GOOD", "--label", "bush"], "bush"),
    ],
)
def test_charts_that_cannot_be_drawn(folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert re.search(message, failure("plot", *located(arguments, folder)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("roc", r"--plot must name a file with one of \.png, \.pdf, .*: .*roc"),
        ("roc.gif", r"--plot must name a file with one of .*: .*roc\.gif"),
        ("none/roc.png", r"--plot .*none/roc\.png cannot be written: No such file or directory"),
        ("directory.png", r"--plot .*directory\.png cannot be written: Is a directory"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "compare", "demo"])
def test_an_impossible_picture_fails_before_anything_else(tmp_path, command, name, message):
    (tmp_path / "directory.png").mkdir()
    arguments = [] if command == "demo" else ["missing.csv", "--label", "tree"]
    line = failure(command, *arguments, "--plot", tmp_path / name)
    assert re.fullmatch(message, line)
    assert os.listdir(tmp_path) == ["directory.png"]


def test_a_failure_leaves_an_old_picture_alone(tmp_path):
    path = tmp_path / "roc.png"
    path.write_text("old")
    failure("evaluate", "missing.csv", "--label", "tree", "--plot", path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["roc.png"]


# Demo


@pytest.mark.slow
def test_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = succeed("demo")
    for words in (
        "178 wines",
        "LOGISTIC REGRESSION",
        "DECISION TREE",
        "NEAREST NEIGHBOURS",
        "COMPARISON",
        "p-value",
        "logistic regression > decision tree > nearest neighbours",
    ):
        assert words in text
    assert text.count("DMF-AUC") == 4  # thrice evaluated, once compared
    _, of_folds, of_ties = on_one_line(text).split("warning: ")
    assert "the rarest class has 48 observations in all" in of_folds
    assert "nearest neighbours: 6 rows tie for the largest score" in of_ties
    assert text.endswith("\n\nThe picture is in dmfroc-demo.png\n")
    assert os.listdir(tmp_path) == ["dmfroc-demo.png"]
    assert Path("dmfroc-demo.png").read_bytes().startswith(PNG)


# Failures


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], r"No such command 'evalute'.*\(see dmfroc --help\)"),
        (["--what"], r"No such option.*--what.*\(see dmfroc --help\)"),
        (["evaluate"], r"Missing argument 'FILE' \(see dmfroc evaluate --help\)"),
        (["evaluate", "GOOD"], r"Missing option '--label' \(see dmfroc evaluate --help\)"),
        (["evaluate", "GOOD", "--label"], r"Option '--label' requires an argument .*"),
        (["evaluate", "GOOD", "POOR", "--label", "tree"], r"Got unexpected extra argument.*"),
        (["compare", "--label", "tree"], r"Missing argument 'FILES.*' \(see dmfroc compare .*"),
        (
            ["evaluate", "GOOD", "--label", "tree", "--level", "95%"],
            r"Invalid value for '--level': .* \(see dmfroc evaluate --help\)",
        ),
    ],
)
def test_bad_usage(folder, arguments, message):
    assert re.fullmatch(message, failure(*located(arguments, folder)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv", "--label", "tree"], r"missing\.csv: there is no such file; .*"),
        (["two\nlines.csv", "--label", "tree"], r"two lines\.csv: there is no such file; .*"),
        ([".", "--label", "tree"], r"\.: this is a directory; .*"),
        (
            ["GOOD", "--label", "three"],
            r".*good\.csv: there is no column 'three', which --label names \(did you mean 'tree'.*",
        ),
        (
            ["GOOD", "--label", "tree", "--sample-weight", "w"],
            r".*: there is no column 'w', which --sample-weight names; .*",
        ),
        (
            ["GOOD", "--label", "tree", "--y-pred", "h"],
            r".*: there is no column 'h', which --y-pred names; .*",
        ),
        (
            ["GOOD", "--label", "tree", "--scores", "p_ash,p_oak"],
            r".*: there is no column 'p_oak', which --scores names .*",
        ),
        (["GOOD", "--label", "tree", "--scores", ""], r".*: there is no score column; .*"),
        (["GOOD", "--label", "tree", "--labels", ""], r".*: --labels is empty: .*"),
        (
            ["GOOD", "--label", "tree", "--labels", "ash,birch,oak"],
            r".*: no column for class 'oak'; .*, or choose with --scores",
        ),
        (["GOOD", "--label", "tree", "--level", "95"], r"--level must be between 0 and 1.*95\.0"),
        (["GOOD", "--label", "tree", "--level", "nan"], r"--level must be between 0 and 1.*nan"),
        (
            ["GOOD", "--label", "tree", "--measures", ""],
            "--measures must hold at least one value, but it is empty",
        ),
        (
            ["GOOD", "--label", "tree", "--measures", "auc"],
            r"auc is a measure of two classes, and there are 3: use 'hand_till'.*",
        ),
        (
            ["GOOD", "--label", "tree", "--threshold", "0.5"],
            r"--threshold makes hard labels of one score of two classes: leave it out",
        ),
        (
            ["GOOD", "--label", "tree", "--fold", "p_ash"],
            r".* no column for class 'ash'; .*; columns of --fold p_ash are no scores",
        ),
        (
            ["GOOD", "--label", "tree", "--target-prevalence", "0.1"],
            r"--target-prevalence must give .*, such as ash=0\.99,\.\.\., but it is 0\.1",
        ),
        (
            ["GOOD", "--label", "tree", "--pair-weights", "even"],
            r"--pair-weights must be 'equal', 'prevalence' or a CSV file .* it is 'even', .*",
        ),
    ],
)
def test_evaluate_refuses(folder, arguments, message):
    assert re.fullmatch(message, failure("evaluate", *located(arguments, folder)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty, but should hold a matrix of costs"),
        (",ash,birch\nash,0,1\nbirch,1,0\n", "one column of costs .* 'cedar', but there is none"),
        (",ash,birch,cedar\nash,0,1,1\ncedar,1,1,0\n", "one row of costs .* 'birch', .* none"),
        (COSTS + "ash,1,1,1,1", "one row of costs for class 'ash', but there are several"),
        (
            COSTS.replace("ash,1,", "ash,1,7,"),
            "row of class 'ash' has 5 costs, but the header names 4",
        ),
        (COSTS.replace(" 3,", ""), "row of class 'birch' has 3 costs, but the header names 4"),
        (COSTS.replace("3", "x"), "cost in row 'birch', column 'cedar' must be .* it is 'x'"),
        (COSTS.replace("3", ""), "cost in row 'birch', column 'cedar' must be .* it is ''"),
        (COSTS.replace("3", "-3"), r"must be finite and >= 0 off its diagonal"),
        (COSTS.replace("3", "nan"), r"must be finite and >= 0 off its diagonal"),
    ],
)
def test_evaluate_refuses_costs(good, costs, text, message):
    line = failure("evaluate", good, "--label", "tree", "--pair-weights", costs(text))
    assert re.search(message, line)


def test_evaluate_refuses_costs_that_are_not_text(good, costs):
    path = costs("\u00e9", encoding="latin-1")
    line = failure("evaluate", good, "--label", "tree", "--pair-weights", path)
    assert re.fullmatch(r".*costs\.csv: 'utf-8' codec can't decode .*", line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["GOOD", "--label", "tree"], r"name two files or more, or one with .*"),
        (["GOOD", "missing.csv", "--label", "tree"], r"missing\.csv: there is no such file; .*"),
        (
            ["GOOD", "SHUFFLED", "--label", "tree"],
            r"the observed classes .* differ, first in data row 2: .*, or with --id .*",
        ),
        (
            ["GOOD", "POOR", "--label", "tree", "--measure", "auc"],
            r"auc is a measure of two classes, and there are 3: use 'hand_till'.*",
        ),
        (
            ["GOOD", "POOR", "--label=tree", "--measure=hand_till", "--pair-weights=prevalence"],
            r"--pair-weights concerns dmf_auc alone, but --measures is hand_till",
        ),
    ],
)
def test_compare_refuses(folder, arguments, message):
    assert re.fullmatch(message, failure("compare", *located(arguments, folder)))


def test_an_error_of_the_system_names_the_file(good, monkeypatch):
    def denied(self, file):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("dmfroc.cli.inputs.Columns.read", denied)
    assert failure("evaluate", good, "--label", "tree") == f"{good}: Permission denied"


def test_an_error_of_the_program_shows_where(good, monkeypatch):
    def broken(self, file):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("dmfroc.cli.inputs.Columns.read", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        CliRunner().invoke(
            cli.app, ["evaluate", str(good), "--label", "tree"], catch_exceptions=False
        )


def test_interruption(good, monkeypatch, tmp_path):
    def interrupted(self, file):
        raise KeyboardInterrupt

    monkeypatch.setattr("dmfroc.cli.inputs.Columns.read", interrupted)
    result = invoke("evaluate", good, "--label", "tree", "--plot", tmp_path / "roc.png")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "dmfroc: interrupted\n"
    assert os.listdir(tmp_path) == []


# Streams


def test_characters_that_stdout_lacks_are_replaced(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    _cli_outputs.show("a \u2500")
    assert stream.buffer.getvalue() == b"a ?\n"


def test_json_has_null_for_what_is_not_a_number(capsys):
    _cli_outputs.show_json({"a": [1.5, float("nan"), {"b": float("inf")}]})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None, {"b": None}]}


# Report


def test_report_of_one_classifier(good, tmp_path):
    report = tmp_path / "one.html"
    text = succeed("report", good, "--label", "tree", "--output", report)
    assert text == f"The report is in {report}\n"
    page = report.read_text(encoding="utf-8")
    assert "Hand-Till M" in page
    assert f'"{Path(good).stem}"' in page


def test_report_of_several_classifiers(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    title = ["--title", "Trees of <one> forest"]
    succeed("report", folder / "good.csv", folder / "poor.csv", "--label", "tree", *title)
    page = Path("dmfroc-report.html").read_text(encoding="utf-8")
    assert "good is better than poor: DMF-AUC" in page
    assert "<h1>Trees of &lt;one&gt; forest</h1>" in page
    assert "<title>Trees of &lt;one&gt; forest (dmfroc)</title>" in page


def test_report_is_refused_before_anything_is_read(tmp_path):
    message = failure("report", tmp_path / "none.csv", "--label", "x", "--output", "report.pdf")
    assert "--output must name a file with .html" in message


# In a process of its own: streams and exit statuses as the shell sees them


def in_process_of_its_own(*arguments, **options):
    command = [sys.executable, "-m", "dmfroc", *map(str, arguments)]
    return subprocess.run(command, text=True, timeout=300, **options)


@pytest.mark.slow
def test_a_pipe_gets_the_result_and_nothing_else(folder, good, frame):
    options = ["--label", "tree", "--measures", "hand_till", "--json"]
    run = in_process_of_its_own("evaluate", good, *options, capture_output=True)
    assert (run.returncode, run.stderr) == (0, "")
    estimates = dmfroc.evaluate(
        frame["tree"], frame.drop(columns="tree"), measures=["hand_till"]
    ).estimates
    found = json.loads(run.stdout)["estimates"]["hand_till"]
    assert found["value"] == pytest.approx(estimates["hand_till"].value, abs=1e-12)
    assert found["interval"] == pytest.approx(estimates["hand_till"].interval, abs=1e-12)


def test_a_failure_has_one_line_and_status_2():
    run = in_process_of_its_own("compare", "a.csv", "b.csv", "--label", "y", capture_output=True)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "dmfroc: error: a.csv: there is no such file; check the path\n"


def test_a_closed_pipe_is_no_failure_to_talk_about():
    reader, writer = os.pipe()
    os.close(reader)
    run = in_process_of_its_own("--help", stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (run.returncode, run.stderr) == (141, "")


def received(terminal):
    """Read what was written to a terminal that all have closed."""
    with contextlib.suppress(OSError):  # how Linux reports the end
        while data := os.read(terminal, 4096):
            yield data.decode(errors="replace")


@pytest.mark.slow
def test_an_error_is_one_line_for_programs_and_a_paragraph_on_a_terminal(good):
    [terminal, stderr], line = pty.openpty(), ("evaluate", good, "--label", "no_such_column")
    run = in_process_of_its_own(*line, stderr=stderr, env=os.environ | {"NO_COLOR": "1"})
    os.close(stderr)
    shown = "".join(received(terminal)).partition("dmfroc: error: ")[2].splitlines()
    os.close(terminal)
    assert run.returncode == 2
    assert " ".join(x.strip() for x in shown) == failure(*line)
    assert len(shown) > 1
    assert max(map(len, shown)) <= 80


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(good):
    terminal, stderr = pty.openpty()
    options = ["--label", "tree", "--measures", "informedness", "--json"]
    run = in_process_of_its_own(
        "evaluate", good, *options, stdout=subprocess.PIPE, stderr=stderr, env=os.environ | TERM
    )
    os.close(stderr)
    shown = "".join(received(terminal))
    os.close(terminal)
    assert run.returncode == 0
    assert "Computing ..." in shown
    assert json.loads(run.stdout)["n_observations"] == N
