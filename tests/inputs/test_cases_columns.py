"""Files whose columns other tools name in their own ways, with their known right answers."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dmfroc
from dmfroc import Predictions
from dmfroc.cli.commands import app

IRIS = {"hand_till": 0.998133, "accuracy": 0.973333}
OWL = {"hand_till": 0.926143, "accuracy": 0.783333}
YES = {"hand_till": 0.924006}


@pytest.fixture
def command(cases_directory):
    """Run the command on files of the directory, which are the arguments with a dot in them."""

    def run(line, *more):
        arguments = [*line.split(), *more]
        paths = [
            str(cases_directory / x) if re.search(r"\w\.(csv|npz)", x) else x for x in arguments
        ]
        return CliRunner().invoke(app, paths)

    return run


@pytest.fixture
def parsed(command):
    """Return a function that gives the JSON of a command."""

    def run(line, *more):
        result = command(f"{line} --json", *more)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture
def failure(command):
    """Return a function that gives the message of a command that is refused."""

    def run(line, *more):
        result = command(line, *more)
        assert result.exit_code == 2, result.stdout
        return result.stderr

    return run


def values(found):
    return {name: estimate["value"] for name, estimate in found["estimates"].items()}


# Names of columns


@pytest.mark.parametrize(
    ("line", "expected", "note"),
    [
        ("extra_entropy.csv --label species", IRIS, "ignored: 'entropy'"),
        ("extra_confidence.csv --label species", IRIS, "ignored: 'confidence'"),
        ("knime.csv --label species", IRIS, "ignored: 'Prediction (species)'"),
        ("azure.csv --label species", IRIS, "ignored: 'Scored Labels'"),
        ("suffix.csv --label species", IRIS, None),
        ("h2o.csv --label truth", IRIS, "ignored: 'predictions', 'fold'"),
        ("h2o.csv --label truth --ignore predictions,fold", IRIS, None),
        ("h2o.csv --label truth --ignore fo* --ignore predictions", IRIS, None),
        ("h2o.csv --label truth --scores Iris-*", IRIS, None),
        ("h2o.csv --label truth --y-pred predictions --ignore fold", IRIS, None),
        ("constant.csv --label truth", {"hand_till": 0.5}, "differ in case: column 'iris-setosa'"),
        ("nfd_columns.csv --label beer", {}, "differ in Unicode form: column"),
        ("float_names.csv --label target", OWL, "ignored: 'pred'"),
        ("float_names.csv --label target --y-pred pred", OWL, None),
        ("int_labels_float_names.csv --label target --y-pred pred", OWL, None),
    ],
)
def test_columns_are_matched_to_classes(parsed, line, expected, note):
    found = parsed(f"evaluate {line} --measures hand_till,accuracy")
    assert values(found) | expected == pytest.approx(values(found), abs=5e-7)
    notes = [x for x in found["warnings"] if not x.startswith("few observations")]
    if note is None:
        assert notes == []
    else:
        assert any(note in x for x in notes)


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("h2o_p0_p1.csv --label label", "--scores p0,p1 --labels No,Yes"),
        ("neg_pos.csv --label label", "--scores prob_neg,prob_pos --labels 0,1"),
        ("score.csv --label label", "--labels No,Yes"),
    ],
)
def test_the_remedy_of_columns_with_other_names_can_be_pasted(parsed, failure, line, remedy):
    assert remedy in failure(f"evaluate {line} --measures hand_till")
    found = parsed(f"evaluate {line} --measures hand_till {remedy}")
    assert values(found) == pytest.approx(YES, abs=5e-7)


def test_percent(parsed):
    found = parsed("evaluate percent.csv --label label --measures hand_till")
    # Rounded to a tenth of a percent, so that there are ties
    assert values(found) == pytest.approx(YES, abs=5e-4)


def test_scores_and_labels_in_one_order_always_belong_together(parsed, failure):
    line = "evaluate h2o_p0_p1.csv --label label --measures hand_till"
    by_pattern = values(parsed(f"{line} --scores p? --labels No,Yes"))
    assert by_pattern == pytest.approx(YES, abs=5e-7)
    assert values(parsed(f"{line} --scores p1,p0 --labels Yes,No")) == by_pattern
    swapped = parsed(f"{line} --scores p0,p1 --labels Yes,No")
    assert values(swapped) == pytest.approx({"hand_till": 1 - 0.924006}, abs=5e-7)
    told = "of class 'No' is larger in class 'Yes'"
    assert any(told in x for x in swapped["warnings"])
    message = failure(
        "evaluate h2o.csv --label truth --scores Iris-setosa,fold,Iris-virginica "
        "--labels Iris-virginica,Iris-versicolor,Iris-setosa"
    )
    assert "column 'Iris-setosa' stands for class 'Iris-virginica' in the order of" in message


# Counts, hard labels, groups


def test_counts_are_told_from_weights(parsed, cases_directory):
    line = "evaluate counts_as_weights.csv --label truth --scores rating --labels normal,abnormal"
    line += " --measures hand_till"
    weighted = parsed(f"{line} --sample-weight count")
    assert any("as --count instead if a row of weight 3" in x for x in weighted["warnings"])
    areas = parsed(f"{line.replace('hand_till', 'dmf_auc,hand_till')} --sample-weight count")
    assert list(areas["estimates"]) == ["hand_till"]  # the DMF-AUC has the same numbers
    counted = parsed(f"{line} --count count")
    estimate = counted["estimates"]["hand_till"]
    assert estimate["value"] == pytest.approx(0.893171, abs=5e-7)
    assert estimate["standard_error"] == pytest.approx(0.0307244, abs=5e-8)
    rows = pd.read_csv(cases_directory / "counts_as_weights.csv")
    expanded = pd.read_csv(cases_directory / "counts_expanded.csv")
    expected = dmfroc.evaluate(
        expanded["truth"], expanded["rating"].to_numpy(), labels=["normal", "abnormal"]
    )
    found = dmfroc.evaluate(
        rows["truth"],
        rows["rating"].to_numpy(),
        labels=["normal", "abnormal"],
        frequency_weight=rows["count"],
    )
    for name, exact in expected.estimates.items():
        one = found.estimates[name]
        assert one.value == pytest.approx(exact.value, abs=1e-12)
        assert one.standard_error == pytest.approx(exact.standard_error, abs=1e-12)
        assert one.interval == pytest.approx(exact.interval, abs=1e-12)


def test_scores_of_the_predicted_class(parsed, cases_directory):
    found = parsed("evaluate score_of_predicted.csv --label target --y-pred prediction_label")
    notes = " ".join(found["warnings"])
    assert re.search(
        r"check that score and .* are of the same classifier: .* differs in 42\.8% of the rows",
        notes,
    )
    assert (
        "subtract score from 1 in the rows with the prediction 0 if it is the probability" in notes
    )
    data = pd.read_csv(cases_directory / "score_of_predicted.csv")
    is_zero = data["prediction_label"] == 0
    score = data["prediction_score"].where(~is_zero, 1 - data["prediction_score"])
    turned = dmfroc.estimate("hand_till", data["target"], score.to_numpy())
    assert turned.value == pytest.approx(0.829608, abs=5e-7)
    assert turned.standard_error == pytest.approx(0.020180, abs=5e-7)


def test_hard_labels_alone(parsed):
    measures = "accuracy,cohen_kappa,gorodkin_correlation"
    found = values(
        parsed(
            "evaluate hard_labels.csv.gz --label actual --y-pred predicted --measures " + measures
        )
    )
    expected = dict(zip(measures.split(","), [0.626854, 0.215839, 0.237030], strict=True))
    assert found == pytest.approx(expected, abs=5e-7)


def test_abstentions(parsed, failure, cases_directory):
    line = "evaluate abstain.csv --label label --y-pred predicted"
    assert "counts them as wrong, or drop their rows" in failure(line)
    found = parsed(f"{line} --ignore cat,dog,owl --measures accuracy")
    assert values(found) == pytest.approx({"accuracy": 0.7})
    data = pd.read_csv(cases_directory / "abstain.csv")
    data = data[data["predicted"] != "abstain"]
    decided = dmfroc.estimate("accuracy", data["label"], y_pred=data["predicted"]).value
    assert decided == pytest.approx(0.857143, abs=5e-7)


def test_top_scores_only(failure):
    message = failure("evaluate top2.csv --label label")
    assert "most rows have the scores of their top 2 classes only" in message
    assert "measures of hard labels (give --y-pred)" in message


def test_groups(parsed):
    line = "evaluate in_game.csv --label result --ignore mins --measures hand_till"
    for options, error in (("--groups match", 0.0231), ("--ignore match", 0.0141)):
        estimate = parsed(f"{line} {options}")["estimates"]["hand_till"]
        assert estimate["value"] == pytest.approx(0.8030, abs=5e-5)
        assert estimate["standard_error"] == pytest.approx(error, abs=5e-5)


def test_one_subject_left_out(parsed, failure, cases_directory):
    line = "evaluate loso.csv --label truth --measures hand_till"
    message = failure(f"{line} --fold subject")
    assert "judge the scores of all folds together, with --groups for the subjects" in message
    pooled = parsed(f"{line} --groups subject")
    assert values(pooled) == pytest.approx({"hand_till": 0.773369}, abs=5e-7)
    data = pd.read_csv(cases_directory / "loso.csv")
    of_subject = data.groupby("subject")["truth"].transform("nunique")
    both = data[of_subject == 2]
    mean = dmfroc.estimate(
        "hand_till", both["truth"], both["p_patient"], folds=both["subject"]
    ).value
    assert mean == pytest.approx(0.713294, abs=5e-7)


# Several files


@pytest.mark.parametrize("scores", ["", " --scores p_1"])
def test_rows_in_another_order(parsed, failure, cases_directory, scores):
    line = f"compare order_a.csv order_b.csv --label y{scores} --measure hand_till"
    message = failure(line)
    assert "column 'id' differs between 'order_a' and 'order_b', first at data row 1" in message
    assert "pass --id id to match them; if it does not, pass --ignore id" in message
    [difference] = parsed(f"{line} --id id")["differences"]
    assert difference["value"] == pytest.approx(0.063944, abs=5e-7)
    assert difference["standard_error"] == pytest.approx(0.017238, abs=5e-7)
    assert difference["p_value"] == pytest.approx(0.00025, abs=5e-5)
    named = {}
    for name in "ab":
        data = pd.read_csv(cases_directory / f"order_{name}.csv")
        named[name] = Predictions.from_arrays(data["y"], data["p_1"].to_numpy(), id=data["id"])
    assert dmfroc.compare(named, measures="hand_till").differences[0].value == pytest.approx(
        difference["value"], abs=1e-14
    )
    [hoped] = parsed(f"{line} --ignore id")["differences"]
    assert hoped["p_value"] == pytest.approx(0.061, abs=5e-4)


@pytest.mark.parametrize(
    ("kind", "is_refused"),
    [
        (lambda n: np.arange(n), True),
        (lambda n: [f"image_{row}.png" for row in range(n)], True),
        (lambda n: pd.date_range("2020-01-01", periods=n), True),
        (lambda n: np.arange(n) % 5 + 0.25, True),
        (lambda n: np.arange(n) % 5, True),
        (lambda n: np.full(n, 0.5), False),
        (lambda n: np.random.default_rng().normal(size=n), False),
        (lambda n: np.random.default_rng().choice(list("abc"), n), False),
    ],
    ids=range(8),
)
@pytest.mark.filterwarnings("ignore:columns that match no class are ignored")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_that_match_no_class_show_the_order(tmp_path, kind, is_refused, suffix):
    rng = np.random.default_rng(1)
    true = np.arange(60) % 3
    order = np.concatenate([rng.permutation(np.flatnonzero(true == label)) for label in range(3)])
    # The observed classes are in the same order, other columns are not
    order = order.reshape(3, -1).T.ravel()
    paths = []
    for rows in (np.arange(60), order):
        scores = rng.dirichlet([1, 1, 1], 60)
        data = pd.DataFrame(scores, columns=list("abc")).assign(key=pd.Series(kind(60)))
        data["y"] = np.array(list("abc"))[true]
        if is_refused:
            data["key"] = data["key"].to_numpy()[rows]
        paths.append(tmp_path / f"{len(paths)}.{suffix}")
        getattr(data, f"to_{suffix}")(paths[-1], index=False)
    named = {path.stem: Predictions.from_file(path, label="y") for path in paths}
    if not is_refused:
        assert len(dmfroc.compare(named, measures="hand_till").differences) == 1
        return
    with pytest.raises(ValueError, match="column 'key' differs between '0' and '1', first at"):
        dmfroc.compare(named, measures="hand_till")


def test_groups_and_folds_in_another_order(tmp_path):
    rng = np.random.default_rng(2)
    paths = []
    for patients in (np.arange(60) // 2, np.arange(60) // 2, np.arange(60) // 2 % 7):
        data = pd.DataFrame({"y": np.arange(60) % 2, "score": rng.normal(size=60)})
        paths.append(str(tmp_path / f"{len(paths)}.csv"))
        data.assign(patient=patients, id=np.arange(60)).to_csv(paths[-1], index=False)
    command = ["compare", *paths[:2], "--label", "y", "--scores", "score", "--groups", "patient"]
    assert CliRunner().invoke(app, command).exit_code == 0
    command[2] = paths[2]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "column 'patient' differs between" in result.stderr
    assert "first at data row 15, which has 7 and 0: rows" in result.stderr
    assert "are matched by --id" in result.stderr
    pd.read_csv(paths[1]).head(58).to_csv(paths[2], index=False)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "'0' has 60 observations and '2' has 58" in result.stderr


def test_files_of_two_hospitals(parsed):
    line = "compare hospital_a.csv hospital_b.csv --label y --scores score --measure hand_till"
    [difference] = parsed(f"{line} --unpaired")["differences"]
    assert difference["value"] == pytest.approx(0.143468, abs=5e-7)
    assert difference["standard_error"] == pytest.approx(0.080884, abs=5e-7)
    # A t distribution gives .041, the normal distribution .0380, a tilt of the two samples .0393
    [one_sided] = parsed(f"{line} --unpaired --alternative greater")["differences"]
    assert one_sided["p_value"] == pytest.approx(0.0393, abs=5e-5)
    assert one_sided["p_value"] == pytest.approx(difference["p_value"] / 2, rel=1e-12)


def test_the_positive_class_of_two(command, parsed, failure, cases_directory):
    measure = "--measure average_precision"
    line = f"compare hospital_a.csv hospital_b.csv --label y --unpaired {measure}"
    data = [pd.read_csv(cases_directory / f"hospital_{name}.csv") for name in "ab"]
    first, second = (
        dmfroc.estimate("average_precision", x["y"] == 0, -x["score"].to_numpy()).value
        for x in data
    )
    [difference] = parsed(f"{line} --pos-label 0 --direction <=")["differences"]
    assert difference["value"] == pytest.approx(first - second, abs=1e-12)
    [other] = parsed(line)["differences"]
    assert other["value"] != pytest.approx(difference["value"], abs=0.01)
    assert "--pos-label must be one of the classes 0, 1, but it is 2" in failure(
        f"{line} --pos-label 2"
    )
    assert "AUC  " in command(line.replace(measure, "")).stdout
    assert "DMF-AUC" not in command(line.replace(measure, "")).stdout
    y, score = data[0]["y"], data[0]["score"].to_numpy()
    options = {"measures": "average_precision", "pos_label": 0}
    with pytest.warns(UserWarning, match="of class 0 is larger in class 1") as told:
        dmfroc.compare(y, {"a": score, "b": -score}, **options)
    assert len(told) == 1  # that of the other one needs no word, since pos_label= says whose it is
    read = {
        name: dmfroc.Predictions.from_arrays(y, s, pos_label=0, direction=side)
        for name, s, side in (("a", score, "<="), ("b", -2 * score, ">="))
    }
    found = dmfroc.compare(read, measures="average_precision")
    assert found.estimates["a"].value == pytest.approx(first, abs=1e-12)
    assert found.estimates["b"].value == pytest.approx(first, abs=1e-12)


def test_one_file_twice(parsed):
    found = parsed("compare h2o.csv h2o.csv --label truth --measure hand_till")
    assert any(x.startswith("the same scores in every row") for x in found["warnings"])


def test_two_studies_of_one_name(cases_directory):
    table = pd.read_csv(cases_directory / "kearon1998.csv")
    with pytest.raises(ValueError, match="a study of its own, whatever its name, pass study=None"):
        dmfroc.applications.summary_roc(table)


# Labels of several columns


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.eye(3)[[0, 1, 2, 1]], r"take argmax\(axis=1\) of one-hot rows$"),
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], r"row 0 .* has 2 ones, .* \(multilabel\)"),
        ([[1, 0, 0], [0, 0, 0], [0, 0, 1]], r"row 1 .* has 0 ones, .* \(multilabel\)"),
        ([[1], [0], [1]], r"take ravel\(\) of a single column$"),
    ],
)
def test_labels_of_several_columns(labels, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.hand_till_score(np.array(labels), np.eye(3)[: len(labels)])


# A newcomer's ten minutes


def test_the_command_typed_first(tmp_path):
    rng = np.random.default_rng(3)
    true = rng.integers(10, size=400)
    scores = rng.normal(size=(400, 10)) + 2 * np.eye(10)[true]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    data = pd.DataFrame(shares, columns=[f"prob_digit {label}" for label in range(10)])
    data.insert(0, "pred", [f"digit {label}" for label in shares.argmax(axis=1)])
    data.insert(0, "split", "test")
    data.insert(0, "id", rng.permutation(400))
    data["label"] = [f"digit {label}" for label in true]
    path = tmp_path / "predictions.csv"
    data.sample(frac=1, axis=1, random_state=1).to_csv(path, index=False)
    expected = dmfroc.evaluate(true, shares)
    result = CliRunner().invoke(app, ["evaluate", str(path), "--label", "label", "--json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    for name, estimate in expected.estimates.items():
        assert found["estimates"][name]["value"] == pytest.approx(estimate.value, abs=1e-12)
    [note] = found["warnings"]
    assert note.startswith("columns that match no class are ignored: ")
    assert {"id", "split", "pred"} == set(re.findall("'(.*?)'", note))
