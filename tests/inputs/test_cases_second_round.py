"""Inputs whose numbers were wrong without a word: the right value, or an error with the remedy."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from sklearn.metrics import cohen_kappa_score

import dmfroc
from dmfroc import Predictions, measures
from dmfroc._kit.text import split_calls
from dmfroc.applications.calibration import calibration_tests
from dmfroc.applications.meta_analysis.data import read_studies
from dmfroc.cli.commands import app
from dmfroc.reports.verdict import digits
from dmfroc.results.table import rounded

ORDERED = {
    "ranked_probability_score": 0.138357,
    "ordinal_vus": 0.632415,
    "weighted_kappa": 0.627507,
    "weighted_kappa_linear": 0.518156,
}
GRADES = ["low", "medium", "high"]
RNG = np.random.default_rng(0)
GRADE = np.array(GRADES)[np.arange(60) % 3]
SHARES = pd.DataFrame(RNG.dirichlet([1, 1, 1], 60), columns=GRADES)


@pytest.fixture
def command(cases_directory):
    """Run the command on files of the directory, which are the arguments with a suffix."""

    def run(line, *more):
        arguments = [*line.split(), *more]
        paths = [
            str(cases_directory / x) if re.search(r"\w\.(csv|npz|parquet)$", x) else x
            for x in arguments
        ]
        return CliRunner().invoke(app, paths)

    return run


@pytest.fixture
def parsed(command):
    """Return a function that gives the values and the warnings of a command."""

    def run(line, *more):
        result = command(f"{line} --json", *more)
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        values = {name: estimate["value"] for name, estimate in found["estimates"].items()}
        return values, " ".join(found["warnings"])

    return run


@pytest.fixture
def failure(command):
    """Return a function that gives the message of a command that is refused."""

    def run(line, *more):
        result = command(line, *more)
        assert result.exit_code == 2, result.stdout
        return result.stderr

    return run


# Certain probabilities


@pytest.mark.parametrize("file", ["tree.csv", "rf.csv"])
def test_what_has_probability_0_refutes_calibration(cases_directory, file):
    y, p = pd.read_csv(cases_directory / file).to_numpy().T
    found = calibration_tests(y, p, n_draws=99)
    assert {(x.statistic, x.p_value) for x in found.tests.values()} == {(np.inf, 0.0)}
    n_impossible = np.count_nonzero(np.where(y == 1, p, 1 - p) == 0)
    assert f"{n_impossible} rows give the observed class the probability 0" in found.warnings[0]
    assert "<1e-15" in str(found)
    json.loads(found.to_json())


def test_certain_probabilities_that_come_true_are_no_floor():
    # A class of probability 0 that never occurs adds nothing to the tests of two classes
    y, p = np.arange(200) % 2, RNG.uniform(0.2, 0.8, 200)
    y = (RNG.random(200) < p).astype(int)
    found = calibration_tests(np.append(y, [0, 1]), np.append(p, [0.0, 1.0]), n_draws=99)
    without = calibration_tests(y, p, n_draws=99)
    for name in ("intercept", "intercept_and_slope"):
        assert found.tests[name].statistic == pytest.approx(without.tests[name].statistic)
    # A row of three classes has no floor either: 1e-300 instead of 0 changes nothing
    true = np.arange(60) % 3
    shares = RNG.dirichlet([1, 1, 1], 60)
    shares[0] = [0.4, 0.6, 0]
    exact = calibration_tests(true, shares, n_draws=99).tests["intercept_and_slope"]
    shares[0] = [0.4, 0.6, 1e-300]
    tiny = calibration_tests(true, shares, n_draws=99).tests["intercept_and_slope"]
    assert exact.statistic == pytest.approx(tiny.statistic)


def test_one_wrong_row_of_certain_classes():
    y = np.arange(60) % 3
    one_hot = np.eye(3)[y]
    assert calibration_tests(y, one_hot, n_draws=99).warnings == ()
    one_hot[7] = [1, 0, 0]
    found = calibration_tests(y, one_hot, n_draws=99)
    assert {x.p_value for x in found.tests.values()} == {0.0}
    assert "1 row gives the observed class the probability 0, first row 7" in found.warnings[0]


def test_the_log_loss_of_an_impossible_forecast(parsed, failure):
    line = "--label y --labels 0,1 --measure"
    values, notes = parsed(f"evaluate rf.csv --scores p1 {line}s log_loss")
    assert values == pytest.approx({"log_loss": 1.182122}, abs=5e-7)
    assert "2 rows give the observed class the probability 0, first data row 19" in notes
    assert "each counts as 36.04 in the log loss, which is infinite" in notes
    message = failure(f"compare certain_once.csv coin.csv --scores p {line} log_loss")
    assert "log_loss of 'certain_once' cannot be compared: 1 row gives the observed" in message
    assert "such as 'brier_score', or keep all probabilities above 0" in message


@pytest.mark.filterwarnings("ignore:.*each counts as 36.04:UserWarning")
@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_infinite_losses_are_not_compared(method):
    y, p = np.arange(120) % 2, RNG.uniform(0.3, 0.7, 120)
    certain = p.copy()
    certain[0] = 1.0
    match = "cannot be compared: 1 row gives the observed class the probability 0, first row 0"
    options = {"measures": "log_loss"}
    with pytest.raises(ValueError, match=f"log_loss of 'a' {match}"):
        dmfroc.compare(y, {"a": certain, "b": p}, method=method, **options)
    with pytest.raises(ValueError, match="log_loss of 'treat none'"):
        dmfroc.compare(y, {"a": p, "treat none": "treat none"}, **options)
    with pytest.raises(ValueError, match=match):
        dmfroc.compare_runs(y, {"a": [certain, p], "b": [p, p]}, **options)
    with pytest.raises(ValueError, match=match):
        dmfroc.compare_subgroups(y, certain, np.arange(120) // 60, **options)
    # A row of weight 0 counts for nothing
    weight = np.ones(120)
    weight[0] = 0
    found = dmfroc.compare(y, {"a": certain, "b": p}, sample_weight=weight, **options)
    assert len(found.differences) == 1


# Hard labels in another code


@pytest.mark.parametrize(
    ("file", "label", "hard", "strange", "lost"),
    [
        ("one_based.csv", "cover_type", "argmax", "0", "7"),
        ("svm_labels.csv", "label", "pred", "0", "-1"),
        ("encoded.csv", "animal", "code", "'0', '1', '2'", "'ant', 'bee', 'cat'"),
    ],
)
def test_hard_labels_in_another_code(parsed, cases_directory, file, label, hard, strange, lost):
    _, notes = parsed(f"evaluate {file} --label {label} --y-pred {hard} --measures accuracy")
    assert f"if its codes differ from those of label column {label!r}, such as" in notes
    assert f": {strange} never occur, and {lost} are never predicted" in notes
    data = pd.read_csv(cases_directory / file)
    if data[label].dtype == data[hard].dtype:
        for function in (Predictions.from_labels, dmfroc.measures.ContingencyTable.from_labels):
            with pytest.warns(
                UserWarning, match=r"^recode .* never occur, and .* are never predicted"
            ):
                function(data[label], data[hard])
        return
    with pytest.raises(TypeError, match=r"as codes to names by np\.array\(names\)\[codes\]"):
        Predictions.from_labels(data[label], data[hard])


@pytest.mark.parametrize("label", [-100, -1, 255])
def test_labels_to_be_ignored(label):
    y = np.append(np.arange(60) % 4, [label] * 20)
    with pytest.warns(
        UserWarning, match=f"drop the rows of label {label} .* 20 rows, but is never predicted"
    ):
        Predictions.from_labels(y, np.arange(80) % 4)
    Predictions.from_labels(y[:65], np.arange(65) % 4)  # some may never be predicted by chance
    Predictions.from_labels(np.arange(80) % 4, np.arange(80) % 3)  # a class like the others


# Orders of categories


def enum(values):
    return pl.Series(values, dtype=pl.Enum(GRADES))


def ordered(values):
    return pd.Series(pd.Categorical(values, GRADES, ordered=True))


@pytest.mark.parametrize("column", [ordered, enum], ids=["pandas", "polars"])
def test_the_stated_order_of_categories_is_that_of_the_labels(cases_directory, column):
    data = pd.read_csv(cases_directory / "ordered.csv")
    scores = data[["p_low", "p_medium", "p_high"]]
    hard = column(data["pred"].tolist())
    for y, predicted in itertools.product(
        (column(data["grade"].tolist()), data["grade"].tolist()), (hard, data["pred"].tolist())
    ):
        if isinstance(y, list) and isinstance(predicted, list):
            continue
        found = dmfroc.evaluate(y, scores, y_pred=predicted, measures=[*ORDERED])
        values = {name: x.value for name, x in found.estimates.items()}
        assert values == pytest.approx(ORDERED, abs=5e-7)
        assert Predictions.from_labels(y, predicted).labels == tuple(GRADES)
        table = dmfroc.measures.ContingencyTable.from_labels(y, predicted)
        assert table.measures()["weighted_kappa"] == pytest.approx(0.627507, abs=5e-7)


def write_polars(data, path, method):
    frame = pl.from_pandas(data.astype({"grade": str, "pred": str}))
    frame = frame.with_columns(pl.col("grade", "pred").cast(pl.Enum(GRADES)))
    getattr(frame, method)(path)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("parquet", lambda data, path: data.to_parquet(path, row_group_size=7)),
        ("feather", lambda data, path: data.to_feather(path)),
        ("parquet", lambda data, path: write_polars(data, path, "write_parquet")),
        ("feather", lambda data, path: write_polars(data, path, "write_ipc")),
    ],
    ids=["parquet", "feather", "polars parquet", "polars feather"],
)
def test_files_state_the_order_of_categories(cases_directory, tmp_path, suffix, write):
    data = pd.read_csv(cases_directory / "ordered.csv")
    for name in ("grade", "pred"):
        data[name] = ordered(data[name]).to_numpy()
        data[name] = ordered(data[name])
    write(data, tmp_path / f"a.{suffix}")
    options = ["evaluate", str(tmp_path / f"a.{suffix}"), "--label", "grade", "--json"]
    result = CliRunner().invoke(
        app, [*options, "--y-pred", "pred", "--measures", ",".join(ORDERED)]
    )
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    values = {name: estimate["value"] for name, estimate in found["estimates"].items()}
    assert values == pytest.approx(ORDERED, abs=5e-7)
    assert not [x for x in found["warnings"] if "alphabetical" in x]


def test_text_in_alphabetical_order_gets_one_warning_with_any_measure_of_order(parsed):
    told = "if it is not alphabetical: measures of ordered classes take ['high', 'low'"
    for names in (*ORDERED, ",".join(ORDERED)):
        line = f"evaluate ordered.csv --label grade --y-pred pred --measures {names}"
        assert parsed(line)[1].count(told) == 1
    values, notes = parsed(
        "evaluate ordered.csv --label grade --y-pred pred --labels low,medium,high "
        f"--measures {','.join(ORDERED)}"
    )
    assert values == pytest.approx(ORDERED, abs=5e-7)
    assert notes == ""


def test_categories_that_never_occur():
    categories = ["low", "none", "medium", "high", "huge"]
    y = pd.Series(pd.Categorical(GRADE, categories, ordered=True))
    hard = pd.Series(GRADE[RNG.permutation(60)])
    found = dmfroc.measures.weighted_kappa("linear")(y, y_pred=hard)
    expected = cohen_kappa_score(y, hard, labels=categories, weights="linear")
    assert found == pytest.approx(expected, rel=1e-12)
    assert Predictions.from_labels(y, hard).labels == ("low", "none", "medium", "high")
    assert Predictions.from_arrays(y, SHARES).labels == tuple(GRADES)
    wide = SHARES.assign(none=0.0, huge=0.0)
    assert Predictions.from_arrays(y, wide).labels == tuple(categories)
    # Further hard labels have no place among them
    assert Predictions.from_labels(y, ["?", *hard[1:]]).labels == ("?", "high", "low", "medium")


def test_stated_orders_that_cannot_be_used():
    y, hard = ordered(GRADE), pd.Series(pd.Categorical(GRADE, GRADES[::-1], ordered=True))
    with pytest.raises(ValueError, match="state different orders of their categories, 'low', 'me"):
        Predictions.from_labels(y, hard)
    assert Predictions.from_labels(y, hard, labels=GRADES).labels == tuple(GRADES)
    numbers = pd.Series(pd.Categorical([3.0, 1.0, 2.0] * 20, [3.0, 2.0, 1.0], ordered=True))
    found = Predictions.from_arrays(numbers, SHARES.set_axis([3, 2, 1], axis=1))
    assert list(map(repr, found.labels)) == ["3", "2", "1"]
    two = pd.Series(pd.Categorical(["well", "ill"] * 30, ["well", "ill"], ordered=True))
    named = SHARES[["low", "high"]].set_axis(["ill", "well"], axis=1)
    assert Predictions.from_arrays(two, named).labels == ("well", "ill")
    arrow = pa.chunked_array([pa.array(ordered(GRADE))])
    assert Predictions.from_labels(arrow, GRADE).labels == tuple(GRADES)


# Lists in cells


# Small numbers


def test_thresholds_of_rare_events_have_significant_digits(cases_directory):
    data = pd.read_csv(cases_directory / "fraud.csv")
    found = dmfroc.applications.choose_threshold(data["fraud"], data["p"], by="youden")
    low, high = found.threshold.interval
    assert re.search(r"threshold +2\.36e-05 +2\.09e-05 +4\.31e-05", str(found))
    assert (f"{low:.3g}", f"{high:.3g}") == ("2.09e-05", "4.31e-05")
    curve = dmfroc.applications.decision_curve(data["fraud"], data["p"], thresholds=[1e-5, 3.25e-5])
    assert "3.25e-05" in str(curve)


@pytest.mark.parametrize(
    ("x", "error", "text", "in_report"),
    [
        (0.00123, np.nan, "0.0012", "0.001"),
        (2.359e-5, np.nan, "2.36e-05", "2.36e-05"),
        (-0.0004567, np.nan, "-0.000457", "\N{MINUS SIGN}0.000457"),
        (0.0, np.nan, "0.0000", "0.000"),
        (0.00003, 0.01, "0.0000", "0.000"),  # two digits of the standard error
        (3.1e-6, 1.2e-6, "0.0000031", "0.000003"),
        (0.99999, 0.0, "1.0000", "1.000"),
    ],
)
def test_numbers_that_decimals_would_not_show(x, error, text, in_report):
    assert rounded(x, error) == text
    assert digits(x, error) == in_report.replace("e-05", "e\N{MINUS SIGN}05")


# Options of measures in their names


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("marker.csv --label y --scores marker", "partial_auc(max_fpr=0.2)", 0.581481),
        ("risk.csv --label event --scores risk", "net_benefit(threshold=0.07)", 0.196344),
        ("ordered.csv --label grade --ignore pred", "top_k_accuracy(k=1)", None),
        ("marker.csv --label y --scores marker", "dmf_auc(shrinkage=50)", None),
    ],
)
def test_options_of_measures_can_be_typed(parsed, line, name, value):
    values, _ = parsed(f"evaluate {line}", "--measures", f"hand_till,{name}")
    assert list(values) == ["hand_till", name]
    if value is not None:
        assert values[name] == pytest.approx(value, abs=5e-7)


def test_several_options_and_lists_in_names(parsed):
    typed = (
        "expected_calibration_error(20, classes, debiased=True),"
        "expected_utility([[0, 5], [1, 0]]), calibration_slope(pos_label='1')"
    )
    assert split_calls(typed) == [
        "expected_calibration_error(20,classes,debiased=True)",
        "expected_utility([[0,5],[1,0]])",
        "calibration_slope(pos_label='1')",
    ]
    values, _ = parsed(
        "evaluate risk.csv --label event --scores risk",
        "--measures",
        "expected_utility([[0, 5], [1, 0]]),net_benefit(threshold=0.07,pos_label=1)",
    )
    assert values["net_benefit(threshold=0.07, pos_label=1)"] == pytest.approx(0.196344, abs=5e-7)


MADE = [
    measures.net_benefit(threshold=0.07, pos_label="very_ill"),
    measures.calibration_slope(pos_label="ill"),
    measures.calibration_slope(pos_label=True),
    measures.dmf_auc("prevalence", shrinkage=0, threshold_pool="pooled"),
    measures.kappa_area("trapezoid", kappa="scott"),
    measures.expected_calibration_error(20, "classes", True),
    measures.weighted_kappa("linear", "values"),
    measures.h_measure(alpha=3, beta=3),
    measures.one_vs_one_auc("macro"),
    measures.lift_area("upper"),
    measures.precision_recall_gain_area(clip=True),
    measures.top_k_accuracy(4),
    measures.partial_auc(0.3),
]


@pytest.mark.parametrize("measure", MADE, ids=lambda measure: measure.name)
def test_names_of_results_name_their_measure(measure):
    found = measures.get_measure(measure.name)
    assert (found.name, found.options) == (measure.name, measure.options)
    if measure.title.endswith(")") and "Top" not in measure.title:
        assert measures.get_measure(measure.title).options == measure.options


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("partial_auc(fpr=0.2)", "'partial_auc.fpr=0.2.', but its options are max_fpr, written as"),
        ("partial_auc(max_fpr=1/3)", "but its options are max_fpr"),
        ("partial_auc(max_fpr=0.2, max_fpr=0.3)", "but its options are max_fpr"),
        ("partial_auc(max_fpr=0.2)(1)", "but its options are max_fpr"),
        ("partial_auc(__import__('os'))", "but its options are max_fpr"),
        ("expected_utility(cost_matrix=...)", "but its options are cost_matrix"),
        ("accuracy(k=2)", "but its options are none"),
        ("partial_auc(max_fpr=2)", r"max_fpr must be in \(0, 1\]"),
        ("partial_auc(max_fpr=0.2", "must be the name of a measure"),
        ("nothing(x=1)", "must be the name of a measure"),
    ],
)
def test_wrong_options_in_names(name, message):
    with pytest.raises(ValueError, match=message):
        measures.get_measure(name)


# Rows: labels to be ignored, labels in another file, answers that are blank, thresholds


@pytest.mark.parametrize(
    "line",
    [
        "tokens.csv --label label --y-pred pred --ignore logit_*",
        "tokens.csv --label label --ignore pred",
        "token_predictions.npz --label label_ids --scores predictions",
    ],
)
def test_rows_of_a_label_are_dropped(parsed, line):
    expected = {"accuracy": 0.670588, "macro_f1": 0.673972}
    measured = "--measures accuracy,macro_f1 --drop-label -100"
    assert parsed(f"evaluate {line} {measured}")[0] == pytest.approx(expected, abs=5e-7)


def test_a_label_to_be_dropped_that_no_row_has_is_told(parsed):
    line = "evaluate tokens.csv --label label --y-pred pred --ignore logit_*"
    values, notes = parsed(f"{line} --measures accuracy --drop-label -100,-99")
    assert values["accuracy"] == pytest.approx(0.670588, abs=5e-7)
    assert "drop_label: no row has the label '-99'" in notes.replace("--drop-label", "drop_label")
    assert "'-100'" not in notes


def test_a_frequent_label_that_is_never_predicted_is_told(parsed):
    _, notes = parsed("evaluate tokens.csv --label label --y-pred pred --ignore logit_*")
    assert "if it marks rows to be ignored: it has 35 rows, but is never predicted" in notes
    assert "drop the rows of label -100 with --drop-label -100 if it marks" in notes


def test_sequences_are_raveled_by_hand(cases_directory):
    with np.load(cases_directory / "token_predictions.npz") as archive:
        y, logits = archive["label_ids"], archive["predictions"]
    with pytest.raises(ValueError, match=r"y_true\.ravel\(\) and y_score\.reshape\(-1, K\)"):
        dmfroc.evaluate(y, logits)
    kept = y.ravel() != -100
    found = dmfroc.estimate("accuracy", y.ravel()[kept], logits.reshape(-1, 4)[kept])
    assert found.value == pytest.approx(0.670588, abs=5e-7)


def test_dropped_rows_have_no_folds_groups_or_weights(tmp_path):
    data = pd.DataFrame(
        {
            "y": ["1", "0", "unlabeled", "NA", "0", "1"] * 10,
            "p_0": RNG.random(60),
            "p_1": RNG.random(60),
            "w": [1.0, 2.5, np.nan, np.nan, 3.0, 1.0] * 10,
            "g": np.arange(60) // 6,
        }
    )
    data.to_csv(tmp_path / "a.csv", index=False)
    options = {"label": "y", "sample_weight": "w", "other_columns": ["g"]}
    read = Predictions.from_file(tmp_path / "a.csv", drop_label=["unlabeled", ""], **options)
    kept = data[data["y"].isin(["0", "1"])]
    expected = Predictions.from_arrays(
        kept["y"].astype(int), kept[["p_0", "p_1"]], sample_weight=kept["w"]
    )
    assert read.labels == expected.labels == (0, 1)
    np.testing.assert_array_equal(read.scores, expected.scores)
    np.testing.assert_array_equal(read.sample_weight, expected.sample_weight)
    line = ["evaluate", str(tmp_path / "a.csv"), "--label", "y", "--sample-weight", "w", "--json"]
    line += ["--groups", "g", "--drop-label", "unlabeled,", "--measures", "hand_till"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["estimates"]["hand_till"]
    own = dmfroc.estimate("hand_till", expected, groups=kept["g"].to_numpy())
    assert found["standard_error"] == pytest.approx(own.standard_error, rel=1e-12)


def test_labels_in_another_file(parsed, failure, cases_directory, tmp_path):
    values, _ = parsed(
        "evaluate submission.csv --label label --truth solution.csv --id id --measures hand_till"
    )
    assert values == pytest.approx({"hand_till": 0.893709}, abs=5e-7)
    files = {x: cases_directory / f"{x}.csv" for x in ("submission", "solution")}
    options = {"label": "label", "id": "id"}
    read = Predictions.from_file(files["submission"], truth=files["solution"], **options)
    assert dmfroc.estimate("hand_till", read).value == pytest.approx(0.893709, abs=5e-7)
    message = failure("evaluate submission.csv --label label --truth solution.csv")
    assert "--truth needs --id, the column that names the rows in both files" in message
    solution = pd.read_csv(files["solution"])
    for name, wrong, message in (
        ("short", solution[1:], r"short\.csv lacks 'img_068'"),
        ("long", pd.concat([solution, solution[:1].assign(id="x")]), r"submission\.csv lacks 'x'"),
        ("twice", pd.concat([solution, solution[:1]]), r"twice\.csv repeats some"),
        ("other", solution.rename(columns={"id": "key"}), "no column of other.csv 'id'"),
    ):
        wrong.to_csv(tmp_path / f"{name}.csv", index=False)
        with pytest.raises(ValueError, match=message):
            Predictions.from_file(files["submission"], truth=tmp_path / f"{name}.csv", **options)
    with pytest.raises(ValueError, match="there is no such file"):
        Predictions.from_file(files["submission"], truth=tmp_path / "none.csv", **options)


def test_a_threshold_for_one_probability(parsed, failure):
    line = "evaluate rf.csv --label y --scores p1 --measures accuracy,f1"
    assert "pass --threshold 0.5, --y-pred, or the scores of both" in failure(line)
    values, _ = parsed(f"{line} --threshold 0.5")
    assert values == pytest.approx({"accuracy": 0.8250, "f1": 0.8250}, abs=5e-5)
    assert "leave it or --y-pred out" in failure(f"{line} --threshold 0.5 --y-pred y")


def test_blank_answers(failure, cases_directory):
    message = failure("evaluate blank.csv --label gold --y-pred answer --measures accuracy")
    assert (
        "label of their own, such as 'none', which counts as wrong, or drop their rows" in message
    )
    assert "judge=" not in message
    assert "--judge" not in message
    data = pd.read_csv(cases_directory / "blank.csv")
    filled = Predictions.from_labels(data["gold"], data["answer"].fillna("none"))
    assert dmfroc.estimate("accuracy", filled).value == pytest.approx(0.766667, abs=5e-7)
    decided = data.dropna()
    found = dmfroc.estimate("accuracy", decided["gold"], y_pred=decided["answer"])
    assert found.value == pytest.approx(0.841463, abs=5e-7)


def test_small_values_that_mean_the_positive_class(command, parsed):
    line = "evaluate egfr.csv --label ckd --scores egfr"
    assert "pass --direction '<=' if smaller scores mean class 1" in command(line).stdout
    names = "hand_till,average_precision,sensitivity_at"
    values, _ = parsed(f"{line} --direction <= --measures {names}")
    assert values["hand_till"] == pytest.approx(0.770299, abs=5e-7)
    assert values["average_precision"] == pytest.approx(0.649001, abs=5e-7)


def test_repeats_of_folds(parsed):
    line = "evaluate caret_pred.csv --label obs --fold Resample --measures hand_till"
    values, notes = parsed(line)
    assert values == pytest.approx({"hand_till": 0.7700}, abs=5e-5)
    assert "pass --groups rowIndex, or keep one row of each, if rows with the same one" in notes
    assert "name both" not in notes  # as the one column has repeats and folds
    assert "name both, --fold rep,fold" in parsed(line.replace("Resample", "fold"))[1]


# Kinds of arrays


PROBA = [np.column_stack([1 - p, p]) for p in SHARES.to_numpy().T]
CODES = np.arange(60) % 3
TABLE = pl.from_pandas(SHARES)


@pytest.mark.parametrize(
    ("y", "scores", "remedy"),
    [
        (CODES, PROBA, "np.stack([p[:, 1] for p in proba], axis=1)"),
        (CODES, np.stack([SHARES, SHARES], axis=1), "y_score.reshape(-1, 3) with y_true.ravel()"),
        (SHARES, SHARES, "take idxmax(axis=1) of soft labels"),
        (SHARES.to_numpy()[:, 0], SHARES, "of soft labels pass y_true >= 0.5"),
        (CODES, SHARES.to_numpy().T.ravel(), "y_score.reshape(3, 60).T if class follows class"),
        (CODES, TABLE.to_struct(), "pass y_score.struct.unnest()"),
        (CODES, TABLE.to_arrow().to_struct_array(), "pyarrow.Table.from_struct_array(y_score)"),
        (CODES, pl.Series(SHARES.to_numpy().tolist()), "pass np.stack(y_score.to_list())"),
        (CODES, TABLE.lazy(), "pass y_score.collect()"),
        (TABLE.lazy(), SHARES, "pass y_true.collect()"),
        (CODES, csr_array(SHARES.to_numpy()), "pass y_score.toarray()"),
        (csr_array(np.eye(3)), SHARES, "pass y_true.toarray()"),
    ],
    ids=range(12),
)
def test_refusals_have_the_line_that_mends_them(y, scores, remedy):
    for call in (dmfroc.evaluate, dmfroc.hand_till_score, dmfroc.applications.choose_threshold):
        with pytest.raises((TypeError, ValueError), match=re.escape(remedy)):
            call(y, scores)


def test_refusals_of_other_functions_have_it_too():
    several = (SHARES.to_numpy() > 0.3).astype(int)
    with pytest.raises(ValueError, match=re.escape("np.stack([p[:, 1] for p in proba], axis=1)")):
        dmfroc.applications.multilabel(several, PROBA)
    ragged = [PROBA[0], SHARES.to_numpy()]
    for call in (
        lambda: Predictions.from_labels(CODES, ragged),
        lambda: dmfroc.functional.hand_till(CODES, ragged, n_classes=3),
    ):
        with pytest.raises(ValueError, match="must be an array, not ragged lists"):
            call()
    assert dmfroc.hand_till_score(CODES, SHARES.to_numpy().T.ravel().reshape(3, 60).T) == (
        dmfroc.hand_till_score(CODES, SHARES.to_numpy())
    )


# Studies


def test_columns_of_studies_have_any_case(cases_directory):
    table = pd.read_csv(cases_directory / "mada_like.csv")
    roles = {x: x for x in ("study", "tp", "fn", "fp", "tn")}
    expected = read_studies(table.rename(columns=str.lower), roles | {"study": None})
    named = table.rename(columns=str.title).assign(Study=list("abcdef"))
    for given, names in ((table, tuple("123456")), (named, tuple("abcdef"))):
        found = read_studies(given, roles)
        np.testing.assert_array_equal(found.sizes, expected.sizes)
        assert found.names == names
    for more in ({"study": "author"}, {"threshold": "t"}):
        with pytest.raises(ValueError, match="is no column of the table"):
            read_studies(table.assign(t=range(6)), roles | more)
    with pytest.raises(ValueError, match="tp='tp' is no column of the table"):
        read_studies(table.assign(Tp=1), roles)


# Several fits, models and parts of a sample in one file


def test_the_command_takes_some_rows_and_two_columns_of_folds(parsed, failure):
    repeated = "evaluate third/repeated_folds.csv --label y --scores score --labels 0,1"
    repeated += " --measures hand_till --groups row"
    for folds in ("--fold rep,fold", "--fold rep --fold fold"):
        values, notes = parsed(f"{repeated} {folds}")
        assert (values["hand_till"], notes) == (pytest.approx(0.7843406919654694), "")
    values, notes = parsed(f"{repeated} --fold fold")
    assert "name both, --fold rep,fold" in notes
    assert "judge one at a time, --where rep=1, if column 'rep' has models or seeds; name" in notes
    _, notes = parsed(f"{repeated} --fold fold --where rep=1")
    assert notes == ""
    of_models = "evaluate third/workflows.csv --label truth --measures hand_till --ignore .row"
    assert "judge one at a time, --where wflow_id=rf, if column" in parsed(of_models)[1]
    values, notes = parsed(f"{of_models} --where wflow_id=rf")
    assert (values, notes) == ({"hand_till": pytest.approx(0.8910895660203139)}, "")
    of_parts = "evaluate third/train_and_test.csv --label y --measures hand_till --where split="
    assert parsed(f"{of_parts}test") == ({"hand_till": pytest.approx(0.8419070512820513)}, "")
    assert parsed(f"{of_parts}test,train")[0]["hand_till"] > 0.98
    assert "--where must be COLUMN=VALUE, such as split=test, not 'rf'" in failure(
        f"{of_models} --where rf"
    )


@pytest.mark.parametrize("command_line", ["report", "plot roc", "plan", "compare"])
def test_every_command_takes_some_rows(command, tmp_path, command_line):
    more = {"plan": "--half-width .05", "compare": "--scores a,b --labels a,b"}.get(
        command_line, ""
    )
    line = f"{command_line} third/train_and_test.csv --label y --where split=none {more}"
    output = ["-o", str(tmp_path / "out.png")] if "plot" in command_line else []
    found = command(line, *output)
    assert found.exit_code == 2
    assert (
        "--where column 'split' has no row 'none': its values are 'test', 'train'" in found.stderr
    )


def test_leave_one_out_is_told_from_the_shell(parsed, failure):
    line = "evaluate third/loo.csv --label y --scores p --labels 0,1 --measures hand_till"
    values, notes = parsed(line)
    assert values == {"hand_till": 0}
    assert "cross-validate with five or ten folds, and name these by --fold" in notes
    assert "--labels 1,0" not in notes
    assert "Take measures of single rows without --fold" in failure(f"{line} --fold fold")


def test_the_command_leaves_out_rows_without_a_value(tmp_path):
    table = pd.DataFrame({"y": CODES % 2, "new": SHARES.low, "old": SHARES.high, "g": CODES})
    table["g"] = np.arange(60) // 4
    table.loc[5, "new"] = table.loc[9, "old"] = np.nan
    table.to_csv(tmp_path / "a.csv", index=False)
    line = (
        f"compare {tmp_path / 'a.csv'} --label y --scores new,old --labels 0,1 --measure hand_till"
    )
    line += " --groups g --json"
    result = CliRunner().invoke(app, line.split())
    assert "replace them or drop their rows with --drop-missing" in result.stderr
    found = json.loads(CliRunner().invoke(app, [*line.split(), "--drop-missing"]).stdout)
    kept = table.drop(index=[5, 9])
    scores = {"new": kept.new.to_numpy(), "old": kept.old.to_numpy()}
    expected = dmfroc.compare(
        kept.y.to_numpy(), scores, measures="hand_till", groups=kept.g.to_numpy()
    )
    [difference] = found["differences"]
    assert difference["value"] == pytest.approx(expected.differences[0].value)
    assert difference["standard_error"] == pytest.approx(expected.differences[0].standard_error)
    [told] = [x for x in found["warnings"] if "--drop-missing" in x]
    assert "2 of 60 rows are left out, data rows 6, 10: they have no value in column 'new'" in told
