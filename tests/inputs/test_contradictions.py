"""Scores that the data contradict: features, several classifiers, the other direction."""

import contextlib
import json
import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc import Predictions
from dmfroc._kit.text import on_one_line
from dmfroc.cli.commands import app

pytestmark = pytest.mark.filterwarnings(
    "error", "ignore:.*if the scores are logits, pass the softmax:UserWarning"
)

CODES = np.arange(120) % 3


def frame_of(prefix, scores, first):
    names = [f"{prefix}{first + code}" for code in range(np.shape(scores)[1])]
    return pd.DataFrame(scores, columns=names)


@pytest.mark.parametrize(("prefix", "first"), [("x", 1), ("feature_", 0), ("V", 1), ("q", 0)])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_features_are_no_scores_because_they_are_numbered(tmp_path, load, prefix, first):
    X, y = load(return_X_y=True)
    frame = frame_of(prefix, X[:, :3], first)
    with pytest.warns(UserWarning, match="match classes only by the numbers in their names"):
        dmfroc.hand_till_score(y + first, frame)
    frame.assign(y=y + first).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=rf"pass scores=\['{prefix}{first}', "):
        Predictions.from_file(tmp_path / "x.csv", label="y")
    names = list(frame)
    read = Predictions.from_file(tmp_path / "x.csv", label="y", scores=names)
    assert (read.scores == X[:, :3]).all()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    ("classifier", "method"),
    [
        (LogisticRegression(max_iter=5000), "predict_proba"),
        (LogisticRegression(max_iter=5000), "decision_function"),
        (LogisticRegression(C=1e-4), "decision_function"),
        (LinearDiscriminantAnalysis(), "decision_function"),
        (GaussianNB(), "predict_joint_log_proba"),
    ],
)
def test_scores_of_classifiers_are_not_doubted(tmp_path, load, classifier, method):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = getattr(classifier.fit(X[::2], y[::2]), method)(X[1::2])
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
    for prefix in ("x", "feature_", "V", "model_", "", "logit_", "prob"):
        frame = frame_of(prefix, scores, 0).assign(y=y[1::2])
        frame.to_csv(tmp_path / "x.csv", index=False)
        is_joint = method == "predict_joint_log_proba" and len(scores.T) == 2
        told = pytest.warns(match="as of logits") if is_joint else contextlib.nullcontext()
        with told:  # otherwise without a warning
            read = Predictions.from_file(tmp_path / "x.csv", label="y")
        excess = scores[:, -1] - scores[:, 0]
        expected = np.stack([-excess, excess], axis=1) if is_joint else scores
        assert read.scores == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("prefix", "is_doubted"), [("rf_", True), ("prob_", False)])
def test_scores_at_chance_are_doubted_unless_their_names_speak_of_scores(prefix, is_doubted):
    scores = frame_of(prefix, np.random.default_rng(0).normal(size=(120, 3)), 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dmfroc.hand_till_score(CODES, scores)
    assert len(caught) == is_doubted


def test_a_numbered_feature_is_not_the_single_score_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    y = CODES % 2
    frame = pd.DataFrame({"y": y, "x1": rng.normal(size=120), "age": rng.integers(20, 90, 120)})
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"the one score for both classes pass scores=\['x1'\]"):
        Predictions.from_file(tmp_path / "x.csv", label="y")


def test_the_first_advice_for_two_classes_is_one_score_that_works(tmp_path):
    rng, y = np.random.default_rng(0), np.arange(120) % 2
    table = pd.DataFrame({"patient_id": np.arange(1000, 1120), "age": rng.integers(30, 90, 120)})
    table["risk_model"] = (0.5 * rng.random(120) + 0.4 * y).round(3)
    for others in ({}, {"time_years": rng.exponential(3, 120)}, {"other_risk": rng.random(120)}):
        for names in ((0, 1), ("alive", "dead")):
            frame = table.assign(**others, outcome=np.array(names)[y])
            frame.to_csv(tmp_path / "x.csv", index=False)
            line = ["evaluate", str(tmp_path / "x.csv"), "--label", "outcome"]
            refused = CliRunner().invoke(app, line)
            if not refused.exit_code:  # the only score there is
                continue
            advice = re.search(r"pass (--scores risk_model --pos-label \w+)", refused.output)[1]
            assert "time_years --labels" not in refused.output
            found = CliRunner().invoke(app, [*line, *advice.split(), "--json"])
            value = json.loads(found.stdout)["estimates"]["hand_till"]["value"]
            assert value == pytest.approx(dmfroc.hand_till_score(y, table["risk_model"].to_numpy()))
    pair = table.assign(p_neg=1 - table["risk_model"], y=y).rename(columns={"risk_model": "p_pos"})
    pair.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"pass scores=\['p_pos', 'p_neg'\], labels=\[0, 1\]"):
        Predictions.from_file(tmp_path / "x.csv", label="y")


# The other direction


@pytest.mark.parametrize(
    "call",
    [
        dmfroc.hand_till_score,
        dmfroc.applications.choose_threshold,
        dmfroc.applications.optimal_operating_points,
        dmfroc.curves.roc_curve,
        dmfroc.curves.precision_recall_curve,
        dmfroc.multiclass_roc,
        dmfroc.plots.ROCDisplay.from_predictions,
        Predictions.from_arrays,
    ],
)
def test_every_entry_tells_of_a_score_in_the_other_direction(call):
    rng = np.random.default_rng(0)
    y = CODES % 2
    score = rng.normal(size=120) - y
    with pytest.warns(
        UserWarning, match=r"direction='<='.* or labels=\[1, 0\] if larger .* larger in class 0, "
    ):
        call(y, score)
    with pytest.warns(UserWarning, match="check labels= and the order of the score columns"):
        call(y, np.stack([-score, score], axis=1))
    call(y, -score)  # without a warning
    call(y, rng.normal(size=120))


# Warnings of a call are in its result, once, in the names of the user

TURNED = np.eye(3)[CODES] + np.random.default_rng(0).random((120, 3))
PAIR, SMALL = CODES % 2, np.random.default_rng(1).normal(size=120) - CODES % 2
IMPOSSIBLE = np.eye(3)[CODES] * 0.4 + 0.2
IMPOSSIBLE[[4, 9]] = 0.5 - np.eye(3)[CODES[[4, 9]]] / 2
EXCHANGED = CODES, TURNED[:, [1, 0, 2]]
JUDGED = np.where(np.arange(120) % 3, PAIR.astype(object), None)
BY = {"by": np.arange(120) // 60, "measures": "hand_till"}
NOTED = {
    "evaluate": lambda: dmfroc.evaluate(*EXCHANGED),
    "evaluate of two": lambda: dmfroc.evaluate(PAIR, SMALL),
    "all measures": lambda: dmfroc.evaluate(CODES, IMPOSSIBLE, measures="all"),
    "estimate": lambda: dmfroc.estimate("hand_till", PAIR, SMALL),
    "log loss": lambda: dmfroc.estimate("log_loss", CODES, IMPOSSIBLE),
    "bootstrap": lambda: dmfroc.estimate("accuracy", *EXCHANGED, method=dmfroc.Bootstrap(100)),
    "folds": lambda: dmfroc.evaluate(*EXCHANGED, folds=np.arange(120) // 3 % 4),
    "population": lambda: dmfroc.estimate(
        "accuracy", *EXCHANGED, population=dmfroc.Importance(0.01 + CODES**9)
    ),
    "judge": lambda: dmfroc.evaluate(JUDGED, SMALL, judge=PAIR, measures="hand_till"),
    "compare": lambda: dmfroc.compare(CODES, {"a": EXCHANGED[1], "b": TURNED}),
    "compare labels": lambda: dmfroc.compare(
        CODES, y_pred={"a": CODES + 3, "b": CODES}, measures="accuracy"
    ),
    "compare measures": lambda: dmfroc.compare(
        PAIR, {"a": SMALL, "b": SMALL * 2}, measures=["hand_till", "average_precision"]
    ),
    "compare a baseline": lambda: dmfroc.compare(
        PAIR, {"a": SMALL, "all": "treat all"}, measures="hand_till"
    ),
    "compare judged": lambda: dmfroc.compare(
        JUDGED, {"a": SMALL, "b": -SMALL}, judge=PAIR, measures="hand_till"
    ),
    "finished": lambda: dmfroc.compare(
        {"a": Predictions.from_arrays(*EXCHANGED), "b": Predictions.from_arrays(CODES, TURNED)}
    ),
    "runs": lambda: dmfroc.compare_runs(
        PAIR, {"a": [SMALL, SMALL / 2], "b": [SMALL * 3, -SMALL]}, measures="hand_till"
    ),
    "subgroups": lambda: dmfroc.compare_subgroups(*EXCHANGED, **BY),
    "gate": lambda: dmfroc.applications.gate(
        [{"measure": "hand_till", "at_least": 0.8}], PAIR, SMALL
    ),
    "plan": lambda: dmfroc.applications.plan(PAIR, SMALL, measure="hand_till", half_width=0.05),
    "threshold": lambda: dmfroc.applications.choose_threshold(PAIR, SMALL, n_draws=100),
    "decision": lambda: dmfroc.applications.decision_curve(PAIR, 1 / (1 + np.exp(-SMALL))),
    "calibration": lambda: dmfroc.applications.calibration_tests(
        CODES, IMPOSSIBLE[:, [1, 0, 2]], n_draws=99
    ),
}


@pytest.mark.parametrize("name", NOTED)
def test_the_warnings_of_a_call_are_in_its_result_once(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = NOTED[name]()
    given = [str(w.message) for w in caught]
    if name == "finished":  # which were read before
        given = [f"a: {text}" for text in given]
    assert given
    assert len(set(given)) == len(given)
    assert set(given) <= set(found.warnings)
    assert len(set(found.warnings)) == len(found.warnings)
    assert json.loads(found.to_json())["warnings"] == list(found.warnings)
    assert len(found.printed_warnings) == len(found.warnings)
    for text in found.printed_warnings:
        assert on_one_line(f"warning: {text}") in on_one_line(str(found))
    bare = [x.removeprefix("a: ") for x in found.warnings]
    assert len(set(bare)) == len(bare)


@pytest.mark.slow
def test_a_report_has_the_warnings_of_its_result_alone():
    for name in ("evaluate", "evaluate of two", "log loss", "compare", "compare a baseline"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = NOTED[name]()
        shown = re.findall(r'"warnings":(\[.*?\])[,}]', found.to_html())
        told = found.best_first() if isinstance(found, dmfroc.results.Comparison) else found
        assert list(told.warnings) in [json.loads(x) for x in shown]
        assert not any("class 1 is larger in class 0" in x for x in shown if name == "evaluate")


def test_the_command_prints_the_warnings_of_the_result(tmp_path):
    for name, score in (("a", SMALL), ("b", -SMALL)):
        frame = pd.DataFrame({"tree": np.array(["ash", "oak"])[PAIR], "marker": score})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    columns = ["--label", "tree", "--scores", "marker", "--pos-label", "oak"]
    for command, files in (("evaluate", "a"), ("compare", "ab"), ("report", "a"), ("report", "ab")):
        paths = [str(tmp_path / f"{x}.csv") for x in files]
        more = ["-o", str(tmp_path / "page.html")] if command == "report" else []
        shown = on_one_line(CliRunner().invoke(app, [command, *paths, *columns, *more]).output)
        assert shown.count("of class 'oak' is larger in class 'ash'") == 1
        assert "below chance" not in shown  # one warning of one inversion
        assert ("a: pass --direction '<=' if" in shown) == (len(files) == 2)


def test_the_direction_counts_how_often_rows_were_observed():
    with pytest.warns(UserWarning, match="y_score of class 1 is larger in class 0"):
        Predictions.from_arrays([0, 0, 1, 1], [1, 2, 1, 2], frequency_weight=[1, 30, 30, 1])
    Predictions.from_arrays([0, 0, 1, 1], [1, 2, 1, 2], frequency_weight=[30, 1, 1, 30])


def test_predicted_labels_are_no_scores():
    y = np.arange(40) % 2
    score = np.linspace(0, 1, 40)
    with pytest.warns(UserWarning, match="if they are predicted labels"):
        dmfroc.estimate("hand_till", y, score > 0.5)
    dmfroc.estimate("hand_till", y, np.where(score > 0.5, 0.9, 0.2))


HARD = np.random.default_rng(0).permutation(np.arange(60) % 3)
OF_THREE = np.arange(60) % 3
OF_TWO = np.arange(60) % 2
COIN = (HARD > 0).astype(int)
NOISE = {(): np.linspace(0, 1, 60), (2,): np.linspace([0, 1], [1, 0], 60)}
NOISE |= {(3,): np.random.default_rng(1).normal(size=(60, 3))}


@pytest.mark.parametrize(
    ("y", "scores"),
    [
        (OF_THREE, np.eye(3)[HARD]),
        (OF_THREE, pd.DataFrame(2 * np.eye(3)[HARD] - 1)),
        (OF_TWO, np.eye(2)[COIN]),
        (OF_TWO, COIN),
        (OF_TWO, 2 * COIN - 1),
        (OF_TWO, pd.Series(COIN + 1, name="predicted")),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        dmfroc.hand_till_score,
        dmfroc.multiclass_roc,
        dmfroc.plots.MulticlassROCDisplay.from_predictions,
        lambda y, s: dmfroc.compare(y, {"a": s, "b": NOISE[np.shape(s)[1:]]}, measures="hand_till"),
    ],
)
def test_predicted_labels_are_no_scores_in_any_function(y, scores, function):
    with pytest.warns(
        UserWarning, match="if they are predicted labels.*are -?[01] or [12]"
    ) as found:
        function(y, scores)
    assert sum("predicted labels" in str(x.message) for x in found) == 1


@pytest.mark.parametrize(
    ("y", "function"),
    [
        (OF_TWO, dmfroc.applications.choose_threshold),
        (OF_TWO, dmfroc.applications.decision_curve),
        (OF_TWO, dmfroc.curves.roc_curve),
    ],
)
def test_predicted_labels_have_no_thresholds(y, function):
    with pytest.warns(UserWarning, match="if they are predicted labels.*all are 0 or 1"):
        function(y, COIN)


def test_predicted_labels_as_text_are_no_scores():
    for y, scores in ((OF_TWO, COIN.astype(str)), (OF_THREE, np.array(list("abc"))[HARD])):
        with pytest.raises(TypeError, match=r"text values.*or pass predicted labels as y_pred="):
            dmfroc.hand_till_score(y, scores)


def test_predicted_labels_in_files_are_no_scores(cases_directory):
    files = (cases_directory / f"third/{x}.csv" for x in ("one_hot_predictions", "svm_sign"))
    one_hot, signs = map(pd.read_csv, files)
    scores = one_hot.filter(like="pred_")
    with pytest.warns(UserWarning, match="if they are predicted.*0 or 1, with 1 once in every row"):
        value = dmfroc.hand_till_score(one_hot.truth, scores)
    assert value == pytest.approx(0.8335629902744596)
    with pytest.warns(UserWarning, match="if they are predicted labels.*-1 or 1"):
        value = dmfroc.hand_till_score(*signs.to_numpy().T)
    assert value == pytest.approx(0.7370629370629371)


@pytest.mark.parametrize("total", [1, 100])
@pytest.mark.parametrize("order", [["low", "mid", "top"], ["top", "mid", "low"]])
def test_cumulative_probabilities_are_told(total, order):
    rng = np.random.default_rng(0)
    y = np.array(["low", "mid", "top"])[np.arange(90) % 3]
    shares = rng.dirichlet([1, 1, 1], 90)
    columns = dict(zip(order, total * shares.cumsum(axis=1).T, strict=True))
    scores = pd.DataFrame(columns)
    match = f"in the order '{order[0]}'.*Column '{order[-1]}' of y_score is {total} in every row"
    with pytest.warns(UserWarning, match=match):
        dmfroc.hand_till_score(y, scores)
    with pytest.warns(UserWarning, match=match):
        dmfroc.Predictions.from_arrays(y, scores.to_numpy(), labels=order)
    with pytest.warns(UserWarning, match="cumulative"):
        dmfroc.estimate("hand_till", dmfroc.scan([(y, scores)]))
    dmfroc.hand_till_score(y, pd.DataFrame(dict(zip(order, shares.T, strict=True))))
    constant = scores.assign(**{order[0]: rng.random(90) * total})  # which does not ascend
    dmfroc.hand_till_score(y, constant)


def test_a_file_of_cumulative_probabilities(cases_directory):
    path, labels = cases_directory / "third/cumulative.csv", ["low", "mid", "top"]
    with pytest.warns(UserWarning, match="in the order 'CP_low', 'CP_mid', 'CP_top'.*cumulative"):
        read = dmfroc.Predictions.from_file(path, label="grade", labels=labels)
    shares = np.diff(read.scores, axis=1, prepend=0)
    found = dmfroc.evaluate(
        np.array(labels)[read.true], shares, labels=labels, measures="hand_till,accuracy"
    )
    values = [x.value for x in found.estimates.values()]
    assert values == pytest.approx([0.9752486772486773, 0.8785714285714286])


def test_objects_are_scores_by_class(cases_directory):
    rows = pd.read_json(cases_directory / "third/zipmap.json")
    y, texts = rows.label, rows.probabilities
    numbers = [{int(key): x for key, x in row.items()} for row in texts]
    for scores in (texts, texts.tolist(), numbers, tuple(numbers), texts.to_numpy()):
        assert dmfroc.hand_till_score(y, scores) == pytest.approx(0.8305172413793104)
    found = dmfroc.evaluate(y, texts, measures="hand_till")
    assert found.estimates["hand_till"].value == pytest.approx(0.8305172413793104)
    numbers[5].pop(2)
    with pytest.raises(ValueError, match=r"1 of 270 values are not; the first is nan at row 5 .*2"):
        dmfroc.hand_till_score(y, numbers)


def test_flat_scores_may_have_two_orders(cases_directory):
    y, flat = np.load(cases_directory / "third/flat.npz").values()
    ways = (
        r"3 classes, pass y_score.reshape\(90, 3\) if row .*, y_score.reshape\(3, 90\).T if class"
    )
    for scores in (flat, flat.reshape(90, 3).T.ravel(), np.log(flat).tolist()):
        with pytest.raises(ValueError, match=ways):
            dmfroc.hand_till_score(y, scores)
    assert dmfroc.hand_till_score(y, flat.reshape(90, 3)) == pytest.approx(0.8305172413793104)
    with pytest.raises(ValueError, match=r"in the same order$"):
        dmfroc.hand_till_score(y, flat[:200])


def test_labels_in_a_frame_are_the_names_of_its_columns(cases_directory):
    frames = (cases_directory / f"third/{x}.csv" for x in ("ground_truth", "submission"))
    truth, scores = (pd.read_csv(x).set_index("image") for x in frames)
    with pytest.raises(ValueError, match=r"take idxmax\(axis=1\) of one-hot rows"):
        dmfroc.hand_till_score(truth, scores)
    assert dmfroc.hand_till_score(truth.idxmax(axis=1), scores) == pytest.approx(0.8840761999244142)
    with pytest.raises(ValueError, match=r"take argmax\(axis=1\) of one-hot rows"):
        dmfroc.hand_till_score(truth.to_numpy(), scores)


@pytest.mark.parametrize("line", ["evaluate FILE", "threshold FILE"])
def test_small_scores_of_the_class_that_is_named_have_one_remedy(cases_directory, line):
    file = cases_directory / "third" / "egfr.csv"
    words = [str(file) if x == "FILE" else x for x in line.split()]
    words += ["--label", "ckd", "--scores", "egfr", "--labels", "1,0", "--pos-label", "1"]
    told = " ".join(CliRunner().invoke(app, words).output.split())  # its lines are wrapped
    assert (
        "pass --direction '<=' if smaller scores mean class 1, or --pos-label 0 if larger" in told
    )
    found = CliRunner().invoke(app, [*words, "--direction", "<=", "--json"]).output
    assert json.loads(found)["warnings"] == [
        x for x in json.loads(found)["warnings"] if "direction" not in x
    ]


def test_two_columns_that_do_not_disagree_may_be_two_classifiers(tmp_path):
    rng = np.random.default_rng(0)
    y, noise = np.arange(200) % 2, rng.normal(size=(200, 2))
    message = "if they are the scores of two classifiers: .* less that of "
    with pytest.warns(UserWarning, match=message):
        Predictions.from_arrays(y, noise + 1.5 * y[:, None])
    markers = pd.DataFrame(noise, columns=["s100b", "ndka"]).assign(y=np.array(["bad", "good"])[y])
    markers.to_csv(tmp_path / "markers.csv", index=False)
    with pytest.warns(UserWarning, match=message):
        Predictions.from_file(
            tmp_path / "markers.csv", label="y", scores=["s100b", "ndka"], labels=["bad", "good"]
        )
    shares = rng.random(200)
    Predictions.from_arrays(y, np.column_stack([100 - 100 * shares, 100 * shares]) + 50)


def test_logits_of_two_classes_are_no_single_score(cases_directory):
    table = pd.read_csv(cases_directory / "third" / "logits2.csv")
    y, logits = table["label"], table[["logit_no", "logit_yes"]]
    message = "The score is that of class 'yes' less that of 'no', as of logits"
    with pytest.warns(UserWarning, match=message):
        of_both = dmfroc.hand_till_score(y, logits)
    with pytest.warns(UserWarning, match=message):
        dmfroc.compare(y, {"logits": logits, "softmax": softmax(logits, axis=1)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            dmfroc.hand_till_score(y, scores)
            for scores in (
                (logits["logit_yes"] - logits["logit_no"]).to_numpy(),
                softmax(logits, axis=1),
                softmax(logits.astype("float32"), axis=1),
                log_softmax(logits, axis=1),
                softmax(logits.astype("float32"), axis=1).astype("float16"),
            )
        ]
    assert of_both == found[0]
    assert found == pytest.approx([0.7647503445822774] * 5, abs=1e-3)
    assert found[:4] == pytest.approx([0.7647503445822774] * 4)


def test_scores_come_second_also_if_they_have_columns():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    scores = rng.normal(size=(90, 3)) + np.eye(3)[y]
    for swapped in (lambda: dmfroc.evaluate(scores, y), lambda: dmfroc.hand_till_score(scores, y)):
        with pytest.raises(ValueError, match="these are scores, and classes come first"):
            swapped()


def test_names_of_classes_that_labels_count_can_be_looked_up():
    y, names = np.arange(90) % 3, ["ant", "bee", "cat"]
    scores = np.random.default_rng(0).normal(size=(90, 3)) + np.eye(3)[y]
    with pytest.raises(ValueError, match=r"pass np.array\(\['ant', 'bee', 'cat'\]\)\[y_true\]"):
        dmfroc.hand_till_score(y, scores, labels=names)
    with pytest.raises(ValueError, match=r"pass np.array\(\['ant', 'bee', 'cat'\]\)\[y_pred\]"):
        dmfroc.evaluate(np.array(names)[y], scores, y_pred=y)
    with pytest.raises(ValueError, match=r"there are columns for 'ant', 'bee', 'cat'$"):
        dmfroc.hand_till_score(y + 7, scores, labels=names)
    found = dmfroc.hand_till_score(np.array(names)[y], scores, labels=names)
    assert found == dmfroc.hand_till_score(y, scores)


@pytest.mark.parametrize("n_ties", [1, 4])
def test_rows_that_tie_for_the_largest_score_are_told_if_they_matter(n_ties):
    y = np.arange(300) % 3
    scores = np.random.default_rng(0).normal(size=(300, 3)) + np.eye(3)[y]
    scores = softmax(scores, axis=1)
    scores[:n_ties] = [0.5, 0.5, 0]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dmfroc.evaluate(y, scores, measures=["accuracy", "informedness", "hand_till"])
    assert [str(x.message)[:43] for x in told] == [
        "pass y_pred= if you know better: 4 rows tie"
    ] * (n_ties == 4)
    assert dmfroc.estimate("hand_till", y, scores).warnings == ()
    own = np.where(np.arange(300) < n_ties, 1, scores.argmax(axis=1))
    assert dmfroc.estimate("accuracy", y, scores, y_pred=own).warnings == ()


@pytest.mark.parametrize(
    ("names", "exchanged"),
    [("abcd", None), ("acbd", "'b', 'c'"), ("bcda", "'a', 'b', 'c', 'd'")],
)
def test_unnamed_columns_in_another_order_than_the_sorted_classes(names, exchanged):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 4, 200)
    scores = generator.normal(size=(200, 4)) + 2 * np.eye(4)[y]
    labels = np.array(list(names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Predictions.from_arrays(labels[y], scores)
        Predictions.from_arrays(labels[y], scores, labels=list(names))
    messages = [str(one.message) for one in caught]
    expected = [] if exchanged is None else [exchanged]
    assert [
        text.split(" have their")[0].partition("most rows of the classes ")[2] for text in messages
    ] == expected


def test_a_weak_classifier_does_not_look_like_exchanged_columns():
    generator = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(200):
            y = generator.integers(0, 3, 60)
            Predictions.from_arrays(y, generator.normal(size=(60, 3)))
    assert caught == []


# Rows that are not one test set

ROWS = np.random.default_rng(3)
CODES_OF_ROWS = ROWS.integers(2, size=120)


def of_models(n_models, order=None, **columns):
    """A file with the rows of several models one after the other, in the same or another order."""
    parts = []
    for model in range(n_models):
        score = CODES_OF_ROWS + ROWS.normal(size=120)
        part = pd.DataFrame({"y": CODES_OF_ROWS, "score": score, "row": np.arange(120)})
        part = part.assign(**{name: values[model] for name, values in columns.items()})
        parts.append(part.sample(frac=1, random_state=model) if order == "other" else part)
    return pd.concat(parts, ignore_index=True)


def told_by(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return " ".join(str(x.message) for x in found)


def warnings_of(table, path, **options):
    table.to_csv(path, index=False)
    return told_by(Predictions.from_file, path, label="y", scores="score", **options)


@pytest.mark.parametrize("values", [["rf", "nb"], [1, 2, 3], [True, False]])
def test_rows_of_several_models_are_told(tmp_path, values):
    path = tmp_path / "a.csv"
    table = of_models(len(values), "other", model=values)
    told = f"each of its {len(values)} values has the same rows by column 'row'"
    assert told in warnings_of(table, path)
    assert f"where={{'model': {str(table.model[0])!r}}}".replace("'", "") in warnings_of(
        table, path
    ).replace("'", "")
    table = of_models(len(values), model=values).drop(columns="row")
    assert f"each of its {len(values)} values has the same labels" in warnings_of(table, path)
    if len(values) > 2:
        assert f"each of its {len(values)} values has the same labels" in warnings_of(
            table.sample(frac=1), path
        )
    kept = {"where": {"model": values[1]}}
    assert warnings_of(table, path, **kept) == ""
    read = Predictions.from_file(path, label="y", scores="score", **kept)
    np.testing.assert_array_equal(read.scores[:, 1], table.score[table.model == values[1]])
    assert warnings_of(table, path, other_columns=["model"]) == ""


def test_columns_of_any_type_are_looked_at(tmp_path):
    table = of_models(3, "other", model=[1, 2, 3]).drop(columns="row")
    half = pa.array(table.model.to_numpy(np.float16))
    for model in (table.model.astype(str).astype("category"), half, table.model.astype("Int8")):
        columns = {
            "y": table.y,
            "score": table.score,
            "model": pa.array(model),
            "no": pa.nulls(360),
        }
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        options = {"label": "y", "scores": "score"}
        told = told_by(Predictions.from_file, tmp_path / "a.parquet", **options)
        assert (
            "if column 'model' has models or seeds: each of its 3 values has the same labels"
            in told
        )


def test_subgroups_of_other_rows_are_no_models(tmp_path):
    table = of_models(1, site=["a"]).assign(site=np.arange(120) % 3, sex=ROWS.integers(2, size=120))
    assert warnings_of(table, tmp_path / "a.csv") == ""
    sorted_rows = table.sort_values(["site", "y"])  # equal sequences are no evidence if sorted
    assert warnings_of(sorted_rows.groupby(["site", "y"]).head(15), tmp_path / "a.csv") == ""


@pytest.mark.parametrize("words", [("train", "test"), ("Training", "Validation"), ("fit", "oof")])
def test_rows_of_training_are_told(tmp_path, words):
    table = of_models(1, split=["x"]).assign(split=np.repeat(words, 60))
    told = warnings_of(table, tmp_path / "a.csv")
    assert f"where={{'split': '{words[1]}'}}" in told
    assert "fitted are too good" in told
    for name, kept in (("is_test", True), ("in_train", False)):
        told = warnings_of(
            table[["y", "score"]].assign(**{name: table.index < 60}), tmp_path / "a.csv"
        )
        assert f"where={{'{name}': '{kept}'}}" in told
        assert warnings_of(table, tmp_path / "a.csv", where={"split": words[1]}) == ""
    table["split"] = np.repeat(["train", "elsewhere"], 60)
    assert warnings_of(table, tmp_path / "a.csv") == ""


def repeated(key):
    """Three repeats of four folds, in the order of the folds."""
    table = of_models(3, "other", rep=[1, 2, 3])
    table["fold"] = table.groupby(["rep", "y"]).cumcount() % 4
    return table.sort_values(["rep", "fold"]).drop(columns=[] if key else "row")


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("named", [[], ["fold"], ["rep"]])
def test_pooled_repeats_of_a_cross_validation_are_told(tmp_path, key, named):
    table, path = repeated(key), tmp_path / "a.csv"
    told = warnings_of(table, path, other_columns=named)
    assert "; name both, folds=[" in told
    assert "], if they are repeats of a cross-validation" in told
    told = warnings_of(table, path, other_columns=["rep", "fold"])
    assert told == "" or "if rows with the same one are of one observation" in told
    if key:  # without a column of the repeats
        told = warnings_of(table.drop(columns="rep"), path, other_columns=["fold"])
        assert "of 120 values of column 'row' have rows in several folds: if one fit" in told


def test_rows_that_are_not_one_test_set(cases_directory):
    def message(file, **options):
        return told_by(Predictions.from_file, cases_directory / f"third/{file}.csv", **options)

    assert "where={'wflow_id': 'rf'}" in message("workflows", label="truth")
    assert "where={'split': 'test'}" in message("train_and_test", label="y")
    of_folds = {"label": "y", "scores": "score", "labels": [0, 1]}
    told = message("repeated_folds", **of_folds, other_columns=["fold"])
    assert "name both, folds=['rep', 'fold']" in told


@pytest.mark.parametrize(
    ("file", "label", "where", "expected"),
    [
        ("workflows", "truth", {"wflow_id": "rf"}, 0.8910895660203139),
        ("workflows", "truth", {"wflow_id": ["glmnet"]}, 0.7748775847113798),
        ("train_and_test", "y", {"split": "test"}, 0.8419070512820513),
    ],
)
def test_the_rows_of_one_test_set(cases_directory, file, label, where, expected):
    path = cases_directory / f"third/{file}.csv"
    others = [".row"] if file == "workflows" else []
    read = Predictions.from_file(path, label=label, where=where, other_columns=others)
    assert dmfroc.hand_till_score(read) == pytest.approx(expected)


# Leave-one-out


def left_out(y, to_score):
    n, counts = len(y), np.bincount(y)
    shares = (counts - np.eye(len(counts))[y]) / (n - 1)
    return to_score(shares)


@pytest.mark.parametrize(
    "to_score",
    [
        lambda p: p[:, 1],
        lambda p: p,
        lambda p: np.log(p[:, 1] / p[:, 0]),
        lambda p: (p * len(p) + 1) / (len(p) + 2),
        lambda p: np.log(p),
    ],
    ids=range(5),
)
def test_leave_one_out_is_not_turned(to_score):
    y = (np.arange(80) % 5 < 2).astype(int)
    with pytest.warns(UserWarning, match="leave-one-out.*Do not turn such scores") as found:
        assert dmfroc.hand_till_score(y, left_out(y, to_score)) == 0
    assert not any("worse than chance" in str(x.message) for x in found)


def test_leave_one_out_of_three_classes():
    y = np.random.default_rng(0).integers(3, size=80)
    with pytest.warns(UserWarning, match="leave-one-out.*Do not turn such scores"):
        dmfroc.hand_till_score(y, left_out(y, lambda p: p))
    scores = np.random.default_rng(1).dirichlet([9, 9, 9], size=80)
    dmfroc.hand_till_score(y, scores)  # without information, but not of leave-one-out


def test_a_file_of_leave_one_out(cases_directory):
    table = pd.read_csv(cases_directory / "third/loo.csv")
    told = told_by(dmfroc.estimate, "hand_till", table.y, table.p)
    assert "cross-validate with five or ten folds, and name these by folds=. y_score" in told
    assert "pass labels=" not in told
    read = Predictions.from_file(
        cases_directory / "third/folds.csv", label="stage", other_columns=["fold"]
    )
    with pytest.raises(ValueError, match=r"nearly every fold is one row. Of leave-one-out"):
        dmfroc.estimate("hand_till", read, folds=np.arange(read.n_observations))


@pytest.mark.parametrize("name", ["patient_id", "Subject", "participant", "MRN", "case_id", "user"])
def test_rows_of_the_same_patients_are_told_whatever_their_classes(tmp_path, name):
    rng = np.random.default_rng(0)
    y, patient = rng.integers(2, size=120), rng.integers(40, size=120)
    file = tmp_path / "visits.csv"
    pd.DataFrame({name: patient, "y": y, "p": rng.normal(size=120) + y}).to_csv(file, index=False)
    line = ["evaluate", str(file), "--label", "y", "--scores", "p"]
    told = on_one_line(CliRunner().invoke(app, line).output)
    assert f"the column has {len(set(patient))} values in 120 rows" in told
    assert f"pass --groups {name}" in told
    assert "warning" not in CliRunner().invoke(app, [*line, "--groups", name]).output
    pd.DataFrame({name: np.arange(120), "y": y, "p": rng.normal(size=120) + y}).to_csv(
        file, index=False
    )
    assert "warning" not in CliRunner().invoke(app, line).output


def test_shares_of_hard_labels_count_how_often_rows_were_observed():
    y, scores, counts = [0, 1, 1, 0], np.eye(2)[[0, 1, 0, 0]], [1, 6, 2, 1]
    expected = r"y_pred is not the class of the largest score in 20\.0% of the rows"
    with pytest.warns(UserWarning, match=expected):
        Predictions.from_arrays(y, scores, y_pred=y, frequency_weight=counts)
    with pytest.warns(UserWarning, match=expected):
        Predictions.from_arrays(
            *(np.repeat(x, counts, axis=0) for x in (y, scores)), y_pred=np.repeat(y, counts)
        )


def test_a_baseline_is_not_taken_for_predicted_labels():
    y, scores = np.arange(60) % 2, np.random.default_rng(0).random(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dmfroc.compare(y, {"model": scores, "all": "treat all"}, measures="auc")
    assert not any("predicted labels" in x for x in found.warnings)


@pytest.mark.parametrize("constant", [0.5, 0.8, 1.0])
def test_a_constant_score_is_not_that_of_the_predicted_class(constant):
    told = dmfroc.evaluate(np.arange(60) % 2, np.full(60, constant)).warnings
    assert told
    assert not any("between 1/2 and 1" in x for x in told)


@pytest.mark.parametrize("spell", ["{:.6f}", "{:.1%}", "{:.3e}"])
@pytest.mark.parametrize("classes", [["no", "yes"], [0, 1]])
def test_scores_are_no_hard_labels_however_they_are_written(tmp_path, spell, classes):
    scores = [spell.format(x) for x in np.random.default_rng(0).random(60)]
    true = np.array(classes)[CODES[:60] % 2]
    pd.DataFrame({"ill": true, "risk": scores}).to_csv(tmp_path / "x.csv", index=False)
    told = CliRunner().invoke(
        app, ["evaluate", f"{tmp_path}/x.csv", *["--label", "ill", "--y-pred", "risk"]]
    )
    assert told.exit_code != 0
    found = on_one_line(told.stderr)
    assert "column 'risk' of hard labels has the label" in found
    assert "at data row 1: labels that are numbers must be whole" in found
    assert "name them by --scores, in a command also --threshold" in found
    if classes == ["no", "yes"]:
        with pytest.raises(ValueError, match=r"whole; pass scores as y_score=$"):
            dmfroc.estimate("accuracy", true, y_pred=scores)


def test_texts_of_numbers_are_hard_labels_of_such_classes():
    doses = ["0.5", "2.5", "0.5", "1.5"]
    assert dmfroc.measures.accuracy()(doses, y_pred=[*doses[:3], "0.5"]) == 0.75


SCORE = np.random.default_rng(0).random(200) * 0.6 + 0.3 * (np.arange(200) % 4 == 0)


@pytest.mark.parametrize(
    ("scores", "threshold", "told"),
    [
        (100 * SCORE, "0.5", "divide the scores by 100 if percent"),
        (1000 * SCORE, "0.5", "or give the threshold on the scale of the scores"),
        (-100 * SCORE, "0.5", "or give the threshold on the scale of the scores"),
        (SCORE, "50", "divide the threshold by 100 if percent"),
        (SCORE, "0.5", None),
        (SCORE, "0.99", None),
        (100 * SCORE, "50", None),
        (100 * SCORE, "0", None),
        (8 * SCORE - 5, "0.5", None),
    ],
)
def test_a_threshold_on_another_scale_than_the_scores_is_told(tmp_path, scores, threshold, told):
    path = tmp_path / "x.csv"
    pd.DataFrame({"y": (np.arange(200) % 4 == 0) * 1, "p": scores}).to_csv(path, index=False)
    for direction in ((), ("--direction", "<=")):
        called = ["evaluate", f"{path}", "--label", "y", "--threshold", threshold, *direction]
        found = on_one_line(CliRunner().invoke(app, called).stdout)
        assert ("rows on one side, and the scores are" in found) == (told is not None)
        assert (told or "") in found


@pytest.mark.parametrize(
    ("event", "none"), [("Yes", "no"), ("case", "control"), ("disease", "no disease")]
)
def test_a_positive_class_of_absence_is_told_where_it_matters(tmp_path, event, none):
    is_event, hard = np.arange(60) % 3 == 0, np.arange(60) % 4 == 0
    y, y_pred = (np.where(x, event, none) for x in (is_event, hard))
    both, told = (
        np.stack([hard, ~hard], axis=1) + 0.5,
        f"class {none!r} is taken for it, since it is the last",
    )
    named = {"pos_label": none}, {"labels": [event, none]}

    def warned(function, *args, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(told in x for x in function(*args, **options).warnings)

    for given in ({"y_pred": y_pred}, {"y_score": both}):
        assert warned(dmfroc.estimate, "recall", y, **given) == 1
        assert warned(dmfroc.estimate, "accuracy", y, **given) == 0
        assert [warned(dmfroc.estimate, "recall", y, **given, **x) for x in named] == [0, 0]
    found = dmfroc.compare, y, {"a": both, "b": both[:, ::-1]}
    assert [warned(*found, measures=x) for x in ("recall", "accuracy")] == [1, 0]
    found = dmfroc.compare_subgroups, y, both, np.arange(60) // 30
    assert [warned(*found, measures=x) for x in ("recall", "accuracy")] == [1, 0]
    ordered = pd.Categorical(y, [event, none], ordered=True)
    assert warned(dmfroc.estimate, "recall", ordered, y_pred=y_pred) == 0
    assert warned(dmfroc.estimate, "recall", y == none, y_pred=y_pred == none) == 0
    score = pd.Series(~hard, name=f"p_{none}", dtype=float)
    assert warned(dmfroc.estimate, "recall", y, score, y_pred=y_pred) == 0
    pd.DataFrame({"y": y, "hard": y_pred}).to_csv(tmp_path / "x.csv", index=False)
    called = ["evaluate", f"{tmp_path}/x.csv", "--label", "y", "--y-pred", "hard"]
    shown = on_one_line(CliRunner().invoke(app, [*called, "--measures", "recall"]).stdout)
    assert f"is the positive class, else {none!r}: {told} in sorted order" in shown
    assert "warning: pass --pos-label " in shown


def test_persons_are_told_beside_a_column_of_subgroups(tmp_path):
    table = of_models(1, site=["a"]).assign(patient=np.arange(120) // 2)
    table = table.assign(sex=table["patient"] % 2, clinic=table["patient"] // 2)
    path, told = tmp_path / "a.csv", "pass groups='patient' if rows with the same one are of one"
    assert told in warnings_of(table, path, other_columns=["sex"])
    assert told not in warnings_of(table, path, other_columns=["clinic"])  # may be the groups
