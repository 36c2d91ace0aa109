"""Short options, completion, formats, and commands for calibration and decisions."""

import io
import json
from typing import get_args

import click
import matplotlib.image as mpl_image
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc._kit.text import on_one_line
from dmfroc.cli import commands as cli
from dmfroc.cli.outputs import with_options
from dmfroc.inference.hypothesis import Alternative
from dmfroc.inference.method import Method
from dmfroc.measures.registry import SYNONYMS

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
AT_TWO = ("--threshold", "0.2,0.5")


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_without_a_command(arguments):
    assert "Evaluate one classifier." in run(*arguments).stdout
    assert run("evaluate", "-h").stdout == run("evaluate", "--help").stdout


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [
        ("dmfroc ev", 1, "evaluate"),
        ("dmfroc plan --pow", 2, "--power"),
        ("dmfroc evaluate --method jack", 3, "jackknife"),
        ("dmfroc compare --measures hand_till,kappa_area_s", 3, "hand_till,kappa_area_scott"),
        ("dmfroc plot over", 2, "overview"),
    ],
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


def test_files_of_different_rows_are_compared_unpaired(file, tmp_path):
    other = str(tmp_path / "other.csv")
    FRAME[:100].to_csv(other, index=False)
    refused = on_one_line(run("compare", file, other, *OF_FILE, code=2).stderr)
    assert refused.endswith("same observations; compare different ones with --unpaired")
    assert "A - B" in run("compare", file, other, *OF_FILE, "--unpaired").stdout


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
    told = on_one_line(run("evaluate", file, "--label", "y").stdout)
    assert "pass --fold cv_fold if it has folds: columns that match no class are ignored" in told
    assert "has folds" not in run("evaluate", file, "--label", "y", "--fold", "cv_fold").stdout
    # That of caret tells the same folds
    frame.assign(Resample="Fold" + frame["cv_fold"].astype(str)).to_csv(file, index=False)
    assert "Resample" not in run("evaluate", file, "--label", "y", "--fold", "cv_fold").stdout


@pytest.mark.parametrize(
    ("command", "options", "analysis"),
    [
        ("calibration", (), lambda: dmfroc.applications.calibration_tests(Y, P)),
        ("threshold", (), lambda: dmfroc.applications.choose_threshold(Y, P)),
        (
            "threshold",
            ("--criterion", "cost", "--cost-fp", "1", "--cost-fn", "5", "--n-draws", "200"),
            lambda: dmfroc.applications.choose_threshold(
                Y, P, by="cost", cost_fp=1.0, cost_fn=5.0, n_draws=200
            ),
        ),
        ("decision", (), lambda: dmfroc.applications.decision_curve(Y, P)),
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
    found = run("decision", file, *OF_FILE, *AT_TWO, "--groups", "patient", "--json").stdout
    expected = dmfroc.applications.decision_curve(
        Y, P, thresholds=[0.2, 0.5], groups=np.arange(120) // 4
    )
    assert json.loads(found)["thresholds"] == json.loads(expected.to_json())["thresholds"]


def test_decisions_of_several_classes_are_in_one_table(file, tmp_path):
    frame = pd.DataFrame(RNG.dirichlet(np.ones(3), 120), columns=list("abc"))
    y = np.array(list("abc"))[np.arange(120) % 3]
    frame.assign(y=y).to_csv(file, index=False)
    found = pd.read_csv(io.StringIO(run("decision", file, "--label", "y", *AT_TWO, "--csv").stdout))
    expected = dmfroc.applications.decision_curve(y, frame[["a", "b", "c"]], thresholds=[0.2, 0.5])
    assert list(found["label"].unique()) == ["a", "b", "c"]
    np.testing.assert_allclose(found.iloc[:, -12:], expected.to_pandas().iloc[:, -12:], rtol=1e-9)
    more = ("--pos-label", "c", "--csv")
    of_c = pd.read_csv(io.StringIO(run("decision", file, "--label", "y", *AT_TWO, *more).stdout))
    alone = expected["c"].to_pandas()
    np.testing.assert_allclose(of_c.iloc[:, -12:], alone.iloc[:, -12:], rtol=1e-9)
    told = run(
        "decision", file, "--label", "y", *AT_TWO, "--plot", tmp_path / "x.png", code=2
    ).stderr
    assert "a picture is about one class, and there are 3: leave --plot out" in told


def test_standard_input_is_a_file(file):
    arguments = ("evaluate", "-", *OF_FILE, "--json")
    with open(file, encoding="utf-8") as stream:
        found = CliRunner().invoke(cli.app, list(arguments), input=stream.read())
    expected = json.loads(run("evaluate", file, *OF_FILE, "--json").stdout)
    assert json.loads(found.stdout) == expected | {"file": "-"}


def test_a_long_table_ends_after_20_rows_and_says_how_to_get_all(file, tmp_path):
    def n_rows(text):
        return sum(line.lstrip().startswith(("0.", "1.")) for line in text.splitlines())

    printed = run("decision", file, *OF_FILE).stdout
    assert n_rows(printed) == 19
    assert "and 80 more rows: see --csv --table thresholds" in printed
    run("decision", file, *OF_FILE, "-o", tmp_path / "all.txt")
    curve = dmfroc.applications.decision_curve(Y, P).to_pandas()
    assert n_rows((tmp_path / "all.txt").read_text()) == len(curve) == 99


def test_comparisons_by_several_measures(file, tmp_path):
    other = tmp_path / "other.csv"
    FRAME.assign(p=FRAME["q"]).to_csv(other, index=False)
    options = (str(other), *OF_FILE, "--measure", "hand_till,brier_score", "--csv")
    found = pd.read_csv(io.StringIO(run("compare", file, *options).stdout), index_col="measure")
    for name in ("hand_till", "brier_score"):
        expected = dmfroc.compare(Y, {"a": P, "b": FRAME["q"].to_numpy()}, measures=name)
        assert found.loc[name, "difference"] == pytest.approx(expected.differences[0].value)


@pytest.mark.parametrize("command", ["decision", "threshold"])
def test_outcomes_at_a_horizon(tmp_path, command):
    file = tmp_path / "followed.csv"
    followed = FRAME.assign(t=1 + np.arange(120) % 7)
    followed.to_csv(file, index=False)
    options = (*OF_FILE, "--time", "t", "--horizon", "5", "--json")
    found = json.loads(run(command, str(file), *options).stdout)
    analysis = {
        "decision": dmfroc.applications.decision_curve,
        "threshold": dmfroc.applications.choose_threshold,
    }
    read = dmfroc.Predictions.from_arrays(Y, P)
    expected = analysis[command](read, follow_up=dmfroc.FollowUp(followed["t"], 5))
    assert found | expected.as_json() == found


def test_subgroups_in_folds(file):
    by = np.arange(120) % 3
    grouped = file.replace("scores", "grouped")
    FRAME.assign(site=by).to_csv(grouped, index=False)
    options = (*OF_FILE, "--by", "site", "--fold", "fold", "--measure", "hand_till", "--csv")
    found = run("subgroups", grouped, *options).stdout
    expected = dmfroc.compare_subgroups(
        Y, P, by.astype(str), measures="hand_till", folds=FRAME["fold"]
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
    expected = dmfroc.applications.pool(receipts, measure="hand_till")
    assert "hardly show" in expected.warnings[-1]
    assert "hardly show" in run("pool", *receipts, "--measure", "hand_till").stdout
    found = run("pool", *receipts, "--measure", "hand_till", "--csv").stdout
    table = pd.read_csv(io.StringIO(found), index_col=0)
    np.testing.assert_allclose(table.iloc[:, 0], expected.to_pandas().iloc[:, 0])
    line = ("evaluate", data, *OF_FILE, "--receipt", data)
    assert "is an input" in run(*line, code=2).stderr


OPTIONS = [
    (command, option)
    for command in cli.app.commands.values()
    for option in command.params
    if isinstance(option, click.Option) and option.opts[0].startswith("--") and option.expose_value
]


def test_messages_name_each_option_as_it_is_typed():
    assert len(OPTIONS) > 100
    for command, option in OPTIONS:
        flag = option.opts[0]
        value = "" if option.is_flag else " 'a b'"
        said = with_options(
            f"f.csv: {option.name} must be so: pass {option.name}='a b'.", command, cli.app
        )
        assert said == f"f.csv: {flag} must be so: pass {flag}{value}."
        in_data = f"column '{option.name}=1' and \"the {option.name}\""
        assert with_options(in_data, command, cli.app) == in_data


def test_what_python_shall_do_is_not_spelled_as_options(tmp_path):
    np.save(tmp_path / "s.npy", P)
    told = run("evaluate", str(tmp_path / "s.npy"), "--label", "y", code=2).stderr
    assert "save \"np.savez('scores.npz', y_true=y, y_score=s)\"" in told
    assert "--label y_true and --scores y_score" in told


def test_classes_of_booleans_are_spelled_as_programs_do(tmp_path):
    file = tmp_path / "booleans.csv"
    FRAME.assign(y=Y == 1)[["y", "p"]].to_csv(file, index=False)
    wanted = json.loads(run("evaluate", str(file), "--label", "y", "--json").stdout)["estimates"]
    for spelled in ("True", "true", "TRUE"):
        for option in (("--pos-label", spelled), ("--target-prevalence", f"{spelled}=0.5")):
            found = json.loads(run("evaluate", str(file), "--label", "y", *option, "--json").stdout)
            assert found["estimates"]["hand_till"]["value"] == pytest.approx(
                wanted["hand_till"]["value"], rel=1e-12
            )
    told = run("evaluate", str(file), "--label", "y", "--labels", "True,False").stdout
    told = on_one_line(told)
    assert (
        "pass --direction '<=' if smaller scores mean class False, or --labels False,True" in told
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("decide x", "No such command 'decide' (did you mean decision?)"),
        ("help", "No such command 'help' (did you mean --help?)"),
        ("roc F", "No such command 'roc' (did you mean plot roc?)"),
        ("x.csv", "No such command 'x.csv' (did you mean evaluate x.csv --label COLUMN?)"),
        ("sample-size F", "No such command 'sample-size' (did you mean plan?)"),
        ("list", "No such command 'list' (did you mean measures?)"),
        ("evaluate F --label y --cv 5", "No such option '--cv': give --fold the fold of each row"),
        ("evaluate F --label y --by y", "give the subgroups to dmfroc subgroups --by"),
        ("evaluate F --label y --cutoff .5", "No such option '--cutoff': give --threshold"),
        ("evaluate F --label y --html", "No such option '--html' (did you mean --output?)"),
        ("evaluate F --label y --measures f1 ppv", "Values of one option are separated by commas"),
        (
            "evaluate F --label y --method DeLong",
            "give --method jackknife, the default, which is DeLong's for areas",
        ),
        (
            "compare F F --label y --names a,b",
            "No such option '--names': give --labels for classes",
        ),
        ("evaluate F --label y --auc", "No such option '--auc': give --measures auc"),
        ("compare F F --label y --brier-score", "give --measures brier_score"),
        (
            "plan F --label y --auc .8",
            "'dmfroc.applications.plan(dmfroc.applications.PublishedFigures(prev",
        ),
        ("evaluate F --label y --min-auc .8", "give a file of TOML to dmfroc gate, with lines [["),
        ("gate F --label y --rule auc=.8", "give a file of TOML to dmfroc gate, with lines [["),
        ("evaluate F --label y --levels a,b", "(did you mean --labels or --level?)"),
        ("evaluate F --label y --time t --times 5", "(did you mean --horizon or --time?)"),
        ("evaluate F --label y --prob p", "(did you mean --scores?)"),
        ("evaluate F --label y --truth F --on i", "give --id the column that names the rows"),
        ("evaluate F --label y --direction <", "give --direction '>=' if large scores speak"),
        ("compare F F --label y --paired", "give nothing instead: rows are paired by default"),
        ("compare F F --label y --test non-inferiority", "test or --margin for non-inferiority"),
        ("threshold F --label y --method youden", "give --criterion youden"),
        ("threshold F --label y --by youden", "(did you mean --criterion?)"),
        ("leaderboard F --answers y", "ranks are of two models or more, by one measure: name two"),
        ("evaluate F --label y --quiet", "give nothing instead: write the output into a file"),
        ("cite --bibtex", "give nothing instead: the output is BibTeX"),
        ("evaluate F --label y --method youden", "give --measures max_informedness, or choose"),
        ("evaluate F --label y --method BCA", "give --method bootstrap"),
        ("evaluate F --label y --method basic", "give in Python method=dmfroc.Bootstrap("),
        ("evaluate F --label y --n-boot 9", "give --method bootstrap --n-draws 2000"),
        ("compare F F --label y --noninferiority .1", "give --margin 0.05"),
        ("gate accuracy>=0.8 F --label y", "is no file: write one of TOML, with a line [[rule]]"),
        ("version", "No such command 'version' (did you mean --version?)"),
        (
            "plan F --label y --target .1",
            "No such option '--target' (did you mean --label or --truth?)",
        ),
        ("evaluate F --label y --target .1", "--label or --truth or --target-prevalence?)"),
        ("evaluate F --label y --population .1", "(did you mean --target-prevalence?)"),
        ("evaluate F --label y --prevalence .1", "(did you mean --target-prevalence?)"),
        ("evaluate F --label y -l p", "(did you mean --label or --labels or --level or --latex?)"),
        ("evaluate F --label y --format csv", "--json or --csv or --latex or --markdown?)"),
        ("evaluate F --label y --seed 1", "No such option '--seed' (did you mean --random-state?)"),
        (
            "evaluate F --label y --metrics f1",
            "No such option '--metrics' (did you mean --measures?)",
        ),
        ("evaluate F F --label y", "it takes one FILE; dmfroc compare and dmfroc report take"),
        ("plot F --label y", "Invalid value for 'KIND': 'F' is not one of 'accuracy'"),
        ("compare - - --label y", "standard input can be read once only"),
        ("evaluate - --label y", "error: -: the file cannot be read: it is empty"),
        ("evaluate /dev/stdin --label y", "error: -: the file cannot be read: it is empty"),
        ("threshold F --label y --criterion f2", "Invalid value for '--criterion': 'f2' is not"),
        (
            "evaluate F --label y --scores p --n-draws 9",
            "--n-draws goes with --method bootstrap or bayesian_bootstrap",
        ),
        (
            "evaluate F --label y --scores p --measures aic",
            "--measures must be the name of a measure, but it is 'aic'",
        ),
        (
            "compare F F --label y --scores p --margin .1 --alternative less",
            "--alternative, --margin and --rope are three tests: give one of them",
        ),
        (
            "evaluate F --label y --scores p --target-prevalence 2",
            "or, of two classes, a number between 0 and 1, such as 0.2 for 20 %, not '2'",
        ),
        ("gate F --label y --measure f1", "give a file of TOML before FILE, with lines [[rule]]"),
        ("decision F --label y --scores p --threshold 2", "--threshold must be prob"),
        ("subgroups F --label y --scores p --by q", "--by must have at least two groups with 5"),
        ("evaluate F --label y --scores p --where y=1", "rows are those of --where y=1"),
        ("compare F F --label y --names a,b", "; classifiers are named after their files"),
        ("pool F", "FILES has the columns 'y', "),
        ("measures auprc", "no measure has 'auprc', which is not clear: use 'average_precision'"),
        ("measures hosmer_lemeshow", "tests of calibration are in dmfroc calibration, that of"),
        ("evaluate F --label p", "if these are scores name them by --scores, and the classes by -"),
        ("decision F --label y --scores fold", "error: dmfroc decision needs probabilities"),
        ("calibration F --label y --scores fold", "error: dmfroc calibration needs probabilities"),
        ("measures noninferior", "or family: use --margin 0.05 (which dmfroc compare takes)"),
        ("measures p-value", "in its name, title or family: use dmfroc compare"),
        ("measures sample size", "in its name, title or family: use dmfroc plan"),
        ("measures hosmer", "in its name, title or family: use dmfroc calibration"),
        ("evaluate F --label y --method boot", "'bayes': give --method bootstrap (see"),
        ("evaluate F --label y --method jack", "'bayes' (did you mean jackknife?)"),
        ("evaluate F --label y --level abc", "Invalid value for '--level': 'abc' is no number"),
        ("evaluate F --label y --n-draws 1.5", "'1.5' is no whole number"),
        ("measures sensivity", "or family (did you mean 'sensitivity_at'?)"),
    ],
)
def test_what_is_meant(file, line, told):
    words = [file if word == "F" else word for word in line.split()]
    assert told.replace("'F'", repr(file)) in run(*words, code=2).stderr


def test_one_option_for_one_measure_and_several(file):
    for command, more in (("evaluate", ()), ("compare", (file,))):
        line = (command, file, *more, *OF_FILE, "--csv")
        assert run(*line, "--measure", "brier_score").stdout == (
            run(*line, "--measures", "brier_score").stdout
        )


def test_words_of_options_are_those_of_the_package():
    words = {
        (command.name, option.name): set(option.type.choices)
        for command, option in OPTIONS
        if isinstance(option.type, click.Choice)
    }
    assert words["evaluate", "method"] == set(get_args(Method))
    assert words["compare", "alternative"] == set(get_args(Alternative))
    with pytest.raises(ValueError, match="by must be one of") as error:
        dmfroc.applications.choose_threshold(Y, P, by="?")
    assert all(repr(word) in str(error.value) for word in words["threshold", "by"])
    assert str(error.value).count("'") == 2 * len(words["threshold", "by"]) + 2


def test_an_error_about_one_score_has_all_remedies_and_each_works(tmp_path):
    """Labels of text beside a column that names neither: predicted classes, or a score."""
    file = tmp_path / "risk.csv"
    pd.DataFrame({"y": np.where(Y, "ill", "healthy"), "risk": P}).to_csv(file, index=False)
    told = run("evaluate", str(file), "--label", "y", code=2).stderr
    assert (
        "if its values are predicted classes, name it in --y-pred; else give the class of large "
        "values as --pos-label, or both classes, the negative one first, as --labels healthy,ill"
    ) in told
    tables = {
        run("evaluate", str(file), "--label", "y", *more, "--csv").stdout
        for more in (("--pos-label", "ill"), ("--labels", "healthy,ill"))
    }
    assert len(tables) == 1


def wide(tmp_path):
    file = tmp_path / "wide.csv"
    FRAME.rename(columns={"p": "m,1", "q": "m2"}).to_csv(file, index=False)
    return str(file)


@pytest.mark.parametrize("scores", [("--scores", '"m,1",m2'), ("--scores", "m*")])
def test_columns_of_one_file_are_classifiers_of_two_classes(tmp_path, scores):
    line = (wide(tmp_path), "--label", "y", *scores, "--measure", "hand_till", "--json")
    found = json.loads(run("compare", *line).stdout)
    classifiers = {"m,1": P, "m2": FRAME["q"].to_numpy()}
    expected = dmfroc.compare(Y, classifiers, measures="hand_till")
    assert found["differences"] == expected.as_json()["differences"]
    assert found["files"] == dict.fromkeys(classifiers, line[0])
    ranks = json.loads(run("leaderboard", *line).stdout)["ranks"]
    assert ranks == expected.ranks().as_json()["ranks"]


def test_one_file_is_several_classifiers_only_by_name(tmp_path):
    file = wide(tmp_path)
    for command in ("compare", "leaderboard"):
        told = run(command, file, "--label", "y", code=2).stderr
        assert "name two files or more, or one with two classes and, in --scores a,b" in told
        assert "If a column names the model of each row, make a column of every model" in told
        told = run(command, file, "--label", "fold", "--scores", "m*", code=2).stderr
        assert "which is enough for two classes only, but there are 5" in told
    line = ("compare", file, "--label", "y", "--scores", "m*", "--y-pred", "y")
    assert "a column of scores for each" in run(*line, code=2).stderr


def test_answers_are_named_by_a_pattern(tmp_path):
    file = tmp_path / "answers.csv"
    FRAME.assign(a=Y, b=1 - Y).to_csv(file, index=False)
    found = [
        run("leaderboard", str(file), "--answers", given, "--csv").stdout
        for given in ("[ab]", "a,b")
    ]
    assert found[0] == found[1]


def test_models_have_a_file_of_answers_each(cases_directory, tmp_path):
    folder = cases_directory / "third"
    handed = json.loads((folder / "expected_handout.json").read_text(encoding="utf-8"))
    [right] = [x["right"] for x in handed if x["name"] == "samples_*.jsonl"]
    files = [str(folder / f"samples_model_{x}.jsonl") for x in "ab"]
    line = (*files, "--answers", "acc", "--id", "doc_id", "--json")
    found = json.loads(run("compare", *line).stdout)
    assert [x["value"] for x in found["estimates"].values()] == pytest.approx(right["acc"])
    [difference] = found["differences"]
    assert difference["value"] == pytest.approx(right["difference"])
    assert difference["standard_error"] == pytest.approx(right["se_paired"], rel=1e-4)
    ranks = json.loads(run("leaderboard", *line).stdout)["ranks"]
    assert [x["value"] for x in ranks.values()] == pytest.approx(right["acc"])
    told = run("compare", *line, "--measure", "accuracy", code=2).stderr
    assert "--measures is about classes: leave it or --answers out" in told
    assert "give either --label" in run("compare", *files, code=2).stderr


def test_answers_of_several_files_are_matched_by_id_in_each_task(tmp_path):
    ids, task = np.arange(40), np.arange(40) % 2
    scores = {x: RNG.integers(2, size=40) for x in ("first", "second", "third")}
    for place, (name, score) in enumerate(scores.items()):
        frame = pd.DataFrame({"item": ids, "task": task, "right": score, "also": 1 - score})
        frame.sample(frac=1, random_state=place).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / f"{name}.csv") for name in scores]
    line = (*files, "--answers", "right", "--id", "item", "--json")
    found = json.loads(run("compare", *line, "--simultaneous").stdout)
    expected = dmfroc.applications.items(scores, simultaneous=True).as_json()
    for one, other in zip(found["differences"], expected["differences"], strict=True):
        assert [one["first"], one["second"]] == [other["first"], other["second"]]
        assert one["interval"] == pytest.approx(other["interval"])
    found = json.loads(run("leaderboard", *line, "--task", "task").stdout)["ranks"]
    expected = {
        str(t): dmfroc.applications.items({x: s[task == t] for x, s in scores.items()})
        for t in (0, 1)
    }
    expected = dmfroc.applications.leaderboard(expected).ranks().as_json()["ranks"]
    values = {name: x["value"] for name, x in expected.items()}
    assert {name: x["value"] for name, x in found.items()} == pytest.approx(values)
    both = ("compare", *files, "--answers", "right,also", "--id", "item", "--json")
    values = [x["value"] for x in json.loads(run(*both).stdout)["estimates"].values()]
    assert values == pytest.approx([0.5] * 3)
    frame = pd.DataFrame({"item": ids[1:], "right": 1})
    frame.to_csv(files[2], index=False)
    assert "do not name the same rows, each once" in run("compare", *line, code=2).stderr
    told = run("compare", *files, "--answers", "right", code=2).stderr
    assert "--answers of several files are matched by --id: name its column" in told


def test_columns_of_one_file_are_classifiers_of_three_classes(cases_directory, tmp_path):
    folder = cases_directory / "third"
    handed = json.loads((folder / "expected_handout.json").read_text(encoding="utf-8"))
    [right] = [x["right"] for x in handed if x["name"] == "orange.csv"]
    line = (str(folder / "orange.csv"), "--label", "stage", "--measure", "hand_till")
    models = ("--models", "Random Forest (*", "--models", "Naive Bayes (*", "--json")
    found = json.loads(run("compare", *line, *models).stdout)
    values = {name: x["value"] for name, x in found["estimates"].items()}
    assert values == pytest.approx(right["M"], abs=1e-9)
    assert found["differences"][0]["value"] == pytest.approx(right["difference"], abs=1e-9)
    both = ("--models", "Random Forest (*,Naive Bayes (*", "--json")
    ranks = json.loads(run("leaderboard", *line, *both).stdout)["ranks"]
    assert list(ranks) == list(right["M"])
    assert "--models 'a_*,b_*' names the columns of each" in run("compare", *line, code=2).stderr


@pytest.mark.parametrize("form", ["{}_{}", "{1}_{0}", "{} [{}]", "P({1}|{0})"])
def test_patterns_of_models_name_them(form, tmp_path):
    y = np.arange(90) % 3
    scores = {m: np.eye(3)[y] + RNG.random((90, 3)) for m in ("rf", "nb")}
    columns = {form.format(m, c): s[:, k] for m, s in scores.items() for k, c in enumerate("xyz")}
    file, page = tmp_path / "wide.csv", tmp_path / "x.html"
    pd.DataFrame({"y": np.array(list("xyz"))[y], **columns}).to_csv(file, index=False)
    patterns = [form.format(m, "*").replace("[", "[[]") for m in scores]
    line = (str(file), "--label", "y", "--measure", "hand_till")
    models = ("--models", patterns[0], "--models", patterns[1])
    found = json.loads(run("compare", *line, *models, "--json").stdout)
    expected = dmfroc.compare(y, scores, measures="hand_till")
    values = [x["value"] for x in found["estimates"].values()]
    assert values == pytest.approx([expected[m].value for m in scores])
    run("report", *line, *models, "-o", str(page))
    assert page.read_text(encoding="utf-8").startswith("<!")
    told = run("compare", *line, *models, "--scores", "a", code=2).stderr
    assert "--models are columns of one file: leave --scores and --y-pred out" in told
    told = run("compare", *line, "--models", *patterns, code=2).stderr
    assert "write a comma between models, as in --models 'a_*,b_*'" in told


def test_thresholds_of_a_decision_are_chosen(file):
    found = run("decision", file, *OF_FILE, "--threshold", ".2,.1", "--csv")
    expected = dmfroc.applications.decision_curve(Y, P, thresholds=[0.1, 0.2]).to_pandas()
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(found.stdout)), expected, rtol=1e-9)
    assert (
        "No such option '--threshold'"
        in run("calibration", file, "--threshold", ".1", code=2).stderr
    )


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        ("txt", ()),
        ("csv", ("--csv",)),
        ("json", ("--json",)),
        ("tex", ("--latex",)),
        ("md", ("--markdown",)),
    ],
)
def test_output_goes_to_a_file_of_its_form(file, tmp_path, suffix, form):
    target = tmp_path / f"x.{suffix}"
    line = ("evaluate", file, *OF_FILE, "--measures", "hand_till")
    told = run(*line, "-o", str(target))
    assert told.stdout == f"The output is in {target}\n"
    assert target.read_text(encoding="utf-8") == run(*line, *form).stdout
    assert run(*line, *form, "-o", str(target)).stdout == told.stdout


def test_reports_beside_the_output(file, tmp_path):
    page = tmp_path / "x.html"
    told = run("compare", file, file, *OF_FILE, "--measure", "hand_till", "-o", str(page)).stdout
    assert told.endswith(f"The report is in {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!")
    found = run("evaluate", file, *OF_FILE, "--csv", "-o", str(page)).stdout
    assert found == run("evaluate", file, *OF_FILE, "--csv").stdout


def test_an_output_that_cannot_be_is_refused_before_anything_is_computed(file, tmp_path):
    line = ("evaluate", file, *OF_FILE)
    for given, told in (
        (("-o", file), "is an input"),
        (("-o", "x.xls"), "--output must name a file with one of .html, .htm, .txt, .csv, .json"),
        (("-o", str(tmp_path / "none" / "x.txt")), "cannot be written: No such file or directory"),
        (("--csv", "-o", "x.json"), "--output x.json is no file for --csv: leave one out"),
        (("--latex", "--csv"), "--latex and --csv are two forms: give one"),
    ):
        assert told in run(*line, *given, code=2).stderr
    target = tmp_path / "x.txt"
    run("evaluate", file, "--label", "none", "-o", str(target), code=2)
    assert not target.exists()


def test_verdicts_go_to_a_file_whatever_they_are(file, tmp_path):
    rules, target = tmp_path / "rules.toml", tmp_path / "x.json"
    rules.write_text('[[rule]]\nmeasure = "hand_till"\nat_least = 0.999\n', encoding="utf-8")
    run("gate", str(rules), file, *OF_FILE, "-o", str(target), code=1)
    assert json.loads(target.read_text(encoding="utf-8"))["rules"]
    assert "RULES come first: dmfroc gate" in run("gate", file, str(rules), *OF_FILE, code=2).stderr


def test_tables_for_programs_have_no_row_numbers(file):
    for line in (("compare", file, file), ("decision", file), ("threshold", file)):
        assert not run(*line, *OF_FILE, "--csv").stdout.startswith(",")


def test_measures_are_found_by_a_text():
    found = json.loads(run("measures", "AUC", "ranking", "--json").stdout)["measures"]
    expected = dmfroc.measures.measure_table().query("family == 'ranking'")
    named = expected["title"].str.contains("AUC") | expected.index.str.contains("auc")
    names = {x["measure"] for x in found}
    assert names >= {"hand_till", *expected.index[named]}
    assert "Hand-Till M, AUC of two classes" in run("measures", "auc").stdout
    for name in names - {*expected.index[named]}:
        assert "auc" in SYNONYMS[name]
    line = next(x for x in run("measures", "vus").stdout.splitlines() if x.startswith("vus"))
    assert line.split() == ["vus", "VUS", "0", "1"]  # its value under chance has no number
    assert run("measures", "concordance").stdout.splitlines()[2].startswith("hand_till ")
    assert "no measure has 'nothing'" in run("measures", "nothing", code=2).stderr


def test_columns_of_subgroups_cross_at_commas(file):
    line = ("subgroups", file, *OF_FILE, "--measure", "accuracy", "--threshold", "0.5", "--json")
    FRAME.assign(site=np.arange(120) // 2 % 2, sex=np.arange(120) // 60).to_csv(file, index=False)
    assert run(*line, "--by", "site,sex").stdout == run(*line, "--by", "site", "--by", "sex").stdout


def test_the_answer_of_a_plan_is_in_its_tables(file):
    line = ("plan", file, *OF_FILE, "--half-width", ".05", "--measure", "hand_till")
    expected = dmfroc.applications.plan(
        dmfroc.Predictions.from_arrays(Y, P), measure="hand_till", half_width=0.05
    )
    [row] = pd.read_csv(io.StringIO(run(*line, "--csv").stdout)).to_dict("records")
    assert (row["n"], row["low"], row["high"]) == (expected.n, *expected.n_interval)
    assert f"hand\\_till & {expected.n} &" in run(*line, "--latex").stdout
    told = run(*line[:6], "--half-width", "5", code=2).stderr
    assert "do you mean --half-width 0.05?" in told


def test_thresholds_and_measures_name_the_rate_that_they_are_at(file):
    options = ("--criterion", "sensitivity", "--at-least", ".9", "--n-draws", "200")
    assert "specificity at sensitivity 0.9 " in run("threshold", file, *OF_FILE, *options).stdout
    line = ("evaluate", file, *OF_FILE, "--measures", "sensitivity_at,fpr_at(0.8),recall_at(k=5)")
    told = run(*line).stdout
    for title in ("Sensitivity at specificity 0.95 ", "FPR at TPR 0.8 ", "Recall at 5 "):
        assert f"\n{title}" in told


def test_one_warning_for_all_measures_that_it_concerns(tmp_path):
    file = tmp_path / "perfect.csv"
    pd.DataFrame({"y": Y, "p": Y + RNG.random(120) / 2}).to_csv(file, index=False)
    options = (*OF_FILE, "--measures", "hand_till,dmf_auc,average_precision,partial_auc", "--json")
    notes = json.loads(run("evaluate", str(file), *options).stdout)["warnings"]
    perfect = [note for note in notes if "perfect in this sample" in note]
    assert len(perfect) == 1
    assert perfect[0].startswith("each of AUC, average_precision, partial_auc is perfect")


def test_two_columns_of_two_classes_that_agree_are_two_classifiers(tmp_path):
    file = tmp_path / "two.csv"
    FRAME.assign(q=P + RNG.random(120) / 9).to_csv(file, index=False)
    both = ("--label", "y", "--scores", "q,p", "--labels", "0,1")
    told = on_one_line(run("evaluate", str(file), *both).stdout)
    assert "if they are the scores of two classifiers" in told
    FRAME.assign(q=1 - P).to_csv(file, index=False)
    assert "two classifiers" not in run("evaluate", str(file), *both).stdout


def test_rows_of_one_match_are_found_whatever_their_number(tmp_path):
    file = tmp_path / "matches.csv"
    match = np.repeat(np.arange(48), np.tile([2, 3], 24))
    frame = pd.DataFrame({"match": match, "y": match % 2, "p": RNG.random(120)})
    frame.to_csv(file, index=False)
    told = on_one_line(run("evaluate", str(file), *OF_FILE).stdout)
    assert "Each of its 48 values is in 2 to 3 rows, all of one class" in told
    assert "pass --groups match, or keep one row of each, if rows" in told


@pytest.mark.parametrize("kind", ["decision", "pairs", "reliability", "risk-coverage"])
def test_pictures_of_calibration_and_decisions(file, tmp_path, kind):
    run("plot", kind, file, *OF_FILE, "-o", str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_of_long_names_are_as_large_as_displays(tmp_path):
    labels = [f"{k} carcinoma of the left upper lobe" for k in range(10)]
    y = np.arange(100) % 10
    scores = np.eye(10)[y] + RNG.random((100, 10))
    frame = pd.DataFrame(scores, columns=labels).assign(y=np.array(labels)[y])
    frame.to_csv(tmp_path / "long.csv", index=False)
    for kind in ("pairs", "roc"):
        picture = tmp_path / f"{kind}.png"
        run("plot", kind, str(tmp_path / "long.csv"), "--label", "y", "--output", str(picture))
        height, width, _ = mpl_image.imread(picture).shape
        assert width > 1.3 * height
