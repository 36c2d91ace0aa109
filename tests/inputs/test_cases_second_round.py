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
from sklearn.metrics import cohen_kappa_score

import dmfroc
from dmfroc import Predictions
from dmfroc.analyses.calibration_tests import calibration_tests
from dmfroc.cli.commands import app
from dmfroc.reports.verdict import number
from dmfroc.results.table import plain

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
    assert "<1e-300" in str(found)
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
    assert "2 rows give the observed class the probability 0, first row 18" in notes
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
    options = {"measure": "log_loss"}
    with pytest.raises(ValueError, match=f"log_loss of 'a' {match}"):
        dmfroc.compare(y, {"a": certain, "b": p}, method=method, n_draws=None, **options)
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
    assert f"has labels that never occur in label column {label!r} ({strange})" in notes
    assert f"has others that are never predicted ({lost}). Recode one of them" in notes
    data = pd.read_csv(cases_directory / file)
    if data[label].dtype == data[hard].dtype:
        for function in (Predictions.from_labels, dmfroc.ContingencyTable.from_labels):
            with pytest.warns(UserWarning, match=r"never occur in y_true .* Recode one of them"):
                function(data[label], data[hard])
        return
    with pytest.raises(TypeError, match=r"as codes to names by np\.array\(names\)\[codes\]"):
        Predictions.from_labels(data[label], data[hard])


@pytest.mark.parametrize("label", [-100, -1, 255])
def test_labels_to_be_ignored(label):
    y = np.append(np.arange(60) % 4, [label] * 20)
    with pytest.warns(UserWarning, match=f"class {label} has 20 rows, but is never predicted: if"):
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
        table = dmfroc.ContingencyTable.from_labels(y, predicted)
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
        ("dta", lambda data, path: data.to_stata(path, write_index=False)),
        ("parquet", lambda data, path: write_polars(data, path, "write_parquet")),
        ("feather", lambda data, path: write_polars(data, path, "write_ipc")),
    ],
    ids=["parquet", "feather", "stata", "polars parquet", "polars feather"],
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


def test_text_in_alphabetical_order_gets_a_warning_in_every_measure_of_order(parsed):
    _, notes = parsed(
        f"evaluate ordered.csv --label grade --y-pred pred --measures {','.join(ORDERED)}"
    )
    for title in ("Ranked probability score", "Ordinal VUS", "Weighted kappa"):
        assert f"{title} takes the classes in alphabetical order, ['high', 'low'" in notes
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


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "[0.1*3,0.2,0.5]",
            "[0.1 + 0.2, 0.7]",
            "[0.1 +0.2, 0.7]",
            "[0.3 - 0.2 0.9]",
            "[1-1,.3,.7]",
        ),
        *("[1/3,1/3,1/3]", "[2**-1,0.25,0.25]", "tensor([0.1*3, 0.2, 0.5])", "[0.2,0.3,0.5]*1"),
        *("[1_0,2,3]", "[0x10,2,3]", "[0.2,0.3,0.5] # sum 1", "[np.float64(0.2*2),0.3,0.3]"),
    ],
)
def test_expressions_are_no_scores(tmp_path, cell):
    rows = [("y", "p"), ("a", cell), *((label, "[0.2,0.3,0.5]") for label in "abcabc")]
    (tmp_path / "a.csv").write_text("".join(f'{label},"{p}"\n' for label, p in rows))
    with pytest.raises(ValueError, match="at data row 1, which is no list of scores"):
        Predictions.from_file(tmp_path / "a.csv", label="y", labels=["a", "b", "c"])


@pytest.mark.parametrize(
    "cell", ["0.2,*0.3,0.5", "[0.2 0.3 0.5]", "[0.2\n 0.3  5.e-1]", "[.2,.3,.5,]"]
)
def test_lists_as_tools_write_them(tmp_path, cell):
    rows = [("y", "p"), *((label, cell) for label in "abcabc")]
    (tmp_path / "a.csv").write_text("".join(f'{label},"{p}"\n' for label, p in rows))
    found = Predictions.from_file(tmp_path / "a.csv", label="y", labels=["a", "b", "c"])
    assert found.scores[0].tolist() == [0.2, 0.3, 0.5]


# Small numbers


def test_thresholds_of_rare_events_have_significant_digits(cases_directory):
    data = pd.read_csv(cases_directory / "fraud.csv")
    found = dmfroc.decisions.choose_threshold(data["fraud"], data["p"], by="youden")
    low, high = found.threshold.interval
    assert re.search(r"threshold +2\.36e-05 +2\.09e-05 +4\.31e-05", str(found))
    assert (f"{low:.3g}", f"{high:.3g}") == ("2.09e-05", "4.31e-05")
    curve = dmfroc.curves.decision_curve(data["fraud"], data["p"], thresholds=[1e-5, 3.25e-5])
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
    assert plain(x, error) == text
    assert number(x, error) == in_report.replace("e-05", "e\N{MINUS SIGN}05")
