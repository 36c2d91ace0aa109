"""What people who know other packages try first is answered in one line."""

import copy
import importlib
import inspect
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys

import jax
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from stored_names import FILE, lines

import dmfroc
from dmfroc._kit.habits import table
from dmfroc.results.result import Result

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
S = RNG.random((90, 3)) + np.eye(3)[Y]
S /= S.sum(axis=1, keepdims=True)
EVALUATION = dmfroc.evaluate(Y, S, measures=["hand_till", "accuracy"])
FRAME = pd.DataFrame({"y": Y > 0, "p": S[:, 1]})
COMPARISON = dmfroc.compare(Y, {"a_1": S, "b": S**3}, measures="hand_till")

NAMES, OPTIONS = table("names"), table("options")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_names_of_other_packages_are_answered_with_a_line_that_runs(name, tmp_path):
    pd.DataFrame({"y": Y > 0, "p": S[:, 1]}).to_csv(tmp_path / "scores.csv", index=False)
    with pytest.raises(AttributeError, match=f"no {name}: type dmfroc") as error:
        getattr(dmfroc, name)
    binary = (Y > 0).astype(int)
    known = {
        "dmfroc": dmfroc, "y_true": binary, "y_score": S[:, 1:].sum(axis=1), "y_pred": binary,
        "scores_a": S[:, 1], "scores_b": S[:, 2], "X": S, "y": Y,
        "labels_a": Y > 0, "labels_b": Y > 1, "site": np.arange(len(Y)) // 3 % 2,
        "pilot": dmfroc.Predictions.from_arrays(Y, S), "path": tmp_path / "scores.csv",
    }  # fmt: skip
    line = str(error.value).partition("type ")[2].partition(", or ")[0]
    if "model" in line:
        from sklearn.naive_bayes import GaussianNB

        known["model"] = GaussianNB()
    if "half_width" not in line:  # which says no size
        eval(line, known)


KNOWN = {name: getattr(dmfroc, name) for name in ("applications", "curves", "measures", "plots")}
PLACES = {
    "dmfroc.log_loss": 'type dmfroc.estimate("log_loss", y_true, y_score)',
    "dmfroc.AUPRC": "which is not clear: use 'average_precision'",
    "dmfroc.matthews_corrcoef": '"gorodkin_correlation", y_true, y_pred=y_pred)',
    "dmfroc.precision_score": 'estimate("precision", y_true, y_pred=y_pred)',
    "dmfroc.fbeta_score": 'type dmfroc.estimate("f_beta", y_true, y_pred=y_pred)',
    "dmfroc.det_curve": "type dmfroc.curves.det_curve",
    "dmfroc.CalibrationDisplay": "type dmfroc.plots.CalibrationDisplay",
    "dmfroc.choose_threshold": "type dmfroc.applications.choose_threshold",
    "dmfroc.to_html": "type dmfroc.evaluate(y_true, y_score).to_html()",
    "dmfroc.cite": "type dmfroc cite, in a shell",
    "dmfroc.jax": "type dmfroc.functional",
    "dmfroc.metrics": "type dmfroc.measures.measure_table()",
    "dmfroc.binormal": "draw with NumPy, as the page on simulation studies shows",
    "dmfroc.simulation": "it left dmfroc: draw with NumPy, as the page on simulation studies shows",
    "applications.SimulatedClassifier": "it left dmfroc: draw with NumPy",
    "dmfroc.Study": "it left dmfroc: call your function by joblib.Parallel",
    "dmfroc.datasets": "it left dmfroc: call sklearn.datasets.fetch_openml",
    "dmfroc.bal_accuracy": 'type dmfroc.estimate("balanced_accuracy", y_true, y_pred=y_pred)',
    "dmfroc.evalute": "did you mean dmfroc.evaluate",
    "plots.RocDisplay": "type dmfroc.plots.ROCDisplay",
    "plots.decision_curve": "type dmfroc.applications.decision_curve",
    "curves.partial_auc": 'type dmfroc.estimate("partial_auc", y_true, y_score)',
    "applications.youden": "use 'informedness'",
    "measures.compare": "type dmfroc.compare",
    "measures.confusion_matrix": "type dmfroc.measures.ContingencyTable.from_labels(",
}


@pytest.mark.parametrize("name", PLACES)
def test_names_are_answered_with_where_they_are(name):
    package, _, attribute = name.partition(".")
    with pytest.raises(AttributeError, match=re.escape(PLACES[name])):
        eval(name, globals() | KNOWN)
    package = package if package == "dmfroc" else f"dmfroc.{package}"
    with pytest.raises(ImportError, match=re.escape(PLACES[name])):
        exec(f"from {package} import {attribute}")


def test_the_stored_list_has_all_names():
    stored = FILE.read_text(encoding="utf-8").splitlines()
    assert stored == lines(), "renew it: python tests/stored_names.py > dmfroc/_kit/names.tsv"


def test_names_are_looked_for_when_their_error_is_printed_and_nothing_is_imported():
    code = """
import sys, time
import dmfroc
from dmfroc import curves
before, begin = {*sys.modules}, time.process_time()
assert not hasattr(dmfroc, "jax") and not hasattr(curves, "matthews_corrcoef")
try:
    dmfroc.evalute
except AttributeError as error:
    caught = error
assert {*sys.modules} == before
assert str(caught) == "dmfroc has no evalute: did you mean dmfroc.evaluate?"
assert time.process_time() - begin < 0.05, time.process_time() - begin
assert not {x for x in {*sys.modules} - before if x.startswith(("dmfroc", "jax", "pandas"))}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_unlike_any_have_no_hint():
    assert not hasattr(dmfroc, "_private")
    with pytest.raises(AttributeError, match=r"^module 'dmfroc' has no attribute 'venkatraman'$"):
        dmfroc.venkatraman  # noqa: B018
    exec("from dmfroc import analyses; from dmfroc.measures import ranking")


ALIKE = {word: group.split() for group in table("alike")["groups"] for word in group.split()}


ARGUMENTS = {dmfroc.cross_validate: (max, S, Y), dmfroc.applications.gate: ([], Y, S)}


@pytest.mark.parametrize(
    "function",
    [
        dmfroc.evaluate,
        dmfroc.compare,
        dmfroc.applications.plan,
        dmfroc.cross_validate,
        dmfroc.applications.gate,
    ],
)
def test_options_of_other_packages_are_answered_with_one_that_the_function_has(function):
    known = inspect.signature(function).parameters
    for name in {*ALIKE, *OPTIONS} - {*known}:
        with pytest.raises(TypeError, match=f"^{function.__name__}.. got an unexpected") as error:
            function(*ARGUMENTS.get(function, (Y, S)), **{name: 1})
        meant = re.findall(r"\b(\w+)=", str(error.value))
        assert not meant or set(meant) & {*known}
        assert meant or name in OPTIONS or not {*ALIKE[name]} & {*known}


CALLS = {
    "dmfroc.applications.plan(Y, S, width=0.1)": "'width': pass half_width=",
    "dmfroc.evaluate(Y, S, partial_auc=1)": "pass measures='partial_auc'",
    "dmfroc.evaluate(Y, S, by=Y)": "pass the subgroups to dmfroc.compare_subgroups",
    "dmfroc.evaluate(Y, S, measures=lambda y, s: 1)": "measures must be a list",
    "dmfroc.estimate(max, Y, S)": "wrap a function of others as dmfroc.Measure(bind=...)",
    "dmfroc.cross_validate(dict, S, Y)": "it is a class: pass dict()",
    "dmfroc.measures.ContingencyTable(Y, Y)": "of classes call ContingencyTable.from_labels",
    "dmfroc.evaluate(Y, S, alpha=0.1)": "pass level=, the coverage, such as level=0.95",
    "dmfroc.compare(Y, a=S, b=S)": 'compare(y, {"a": scores_a, "b": scores_b})',
    "dmfroc.compare_subgroups(Y, S, subgroups=Y)": "pass by=",
    "applications.choose_threshold(Y, S, metric=1)": "choose_threshold() got an unexpected",
    "applications.choose_threshold(Y, S, scoring=1)": "'scoring': pass by=",
    "applications.choose_threshold(Y, S, costs=[1, 5])": "pass cost_fp= or cost_fn=",
    "applications.decision_curve(Y, S, positive=1)": "pass pos_label=",
    "curves.roc_curve(Y > 0, S[:, 1], positive_class=1)": "pass pos_label=",
    "measures.hand_till(Y, S)": "hand_till(): too many positional arguments: call est",
    "measures.partial_auc(fpr=0.2)": "'fpr': call estimate(partial_auc(max_fpr=...), y_true",
    "measures.accuracy(Y, S)": "call estimate(accuracy(), y_true, y_score)",
    "dmfroc.evaluate(FRAME, 'y', 'p')": "1 too many arguments without a name, first 'p', of "
    "type str: evaluate(df['y'], df['p']), or evaluate(y, model.predict_proba(X))",
    "dmfroc.compare(Y, S, S, measures=['hand_till', 'accuracy'])": 'compare(y, {"a": scores_a, ',
    "dmfroc.cross_validate(max, S, Y, n_jobs=2)": "pass nothing instead: threads are used",
    "dmfroc.evaluate(Y, S, ci_prob=0.9)": "pass level=, the coverage",
    "dmfroc.evaluate(Y, S, auc=True)": "pass measures='auc'",
    "applications.plan(Y, S, auc=0.8)": "applications.PublishedFigures(prevalence=0.2, auc=0.8)",
    "applications.gate([], Y, S, min_auc=0.8)": "a rule to dmfroc.applications.gate, such as {",
    "curves.roc_curve(Y > 0, S[:, 1], percent=True)": "nothing instead: shares are between",
    "plots.ROCDisplay.from_predictions(Y > 0, S[:, 1], print_auc=True)": "legends have the area",
    "applications.leaderboard(Y, S)": "leaderboard() takes 1 argument without a name, but 2 were "
    "given: call leaderboard(tasks), where tasks is dict of str to Comparison",
    "applications.pool('auc', Y, S)": "pool(sites), where sites is sequence or dict of str to "
    "Evaluation, Comparison or path, or SubgroupComparison; others have names: measure=,",
    "applications.pool([], measures='auc')": "keyword argument 'measures': pass measure=",
    "applications.summary_roc([9], [1], [2], [8])": "call summary_roc(table), where table is data",
    "applications.rater_agreement(Y, Y)": "where ratings is array-like or table of shape (n, m)",
    "applications.multilabel(Y, S, measures='auc')": "'measures': pass measure=",
    "applications.multilabel(Y, S, 'auc')": "2 arguments without a name, but 3 were given",
    "applications.plan('auc', Y, S)": "plan() takes 2 arguments without a name, but 3 were given",
    "applications.plan(Y, S, measures='auc')": "'measures': pass measure=",
    "applications.gate([], Y, S, measure='auc')": 'pass rules=[{"measure": "hand_till", "at_least',
    "dmfroc.compare_subgroups('auc', Y, S, Y)": "call compare_subgroups(y_true, y_score, by)",
    "dmfroc.scan(Y, S)": "call scan(source), where source is path, sequence of paths",
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_do_not_fit_are_answered_with_the_arguments_that_do(call):
    with pytest.raises(TypeError, match=re.escape(CALLS[call])):
        eval(call, globals() | KNOWN)


def test_public_functions_are_pickled_by_the_name_that_users_type():
    for function in (dmfroc.evaluate, dmfroc.applications.plan, dmfroc.curves.roc_curve):
        assert pickle.loads(pickle.dumps(function)) is function
    assert dmfroc.applications.plan.__module__ == "dmfroc.applications"


def test_errors_inside_of_a_call_that_fits_are_left_alone():
    def value(predictions):
        raise TypeError("no number")

    def bind(predictions):
        return value

    measure = dmfroc.Measure(name="own", title="Own", bind=bind, bounds=(0, 1), chance=0.5)
    with pytest.raises(TypeError, match="no number"):
        dmfroc.estimate(measure, Y, S)


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: dmfroc.evaluate(None, S, Y), "evaluate(y, model.predict_proba(X))"),
        (lambda: dmfroc.estimate(Y, S, "hand_till"), "by position it comes before y_true"),
        (lambda: dmfroc.estimate("hand_till", Y, S, 0.9), 'estimate("hand_till", y_true, y_score)'),
        (lambda: dmfroc.compare(Y, S, S), 'compare(y, {"a": scores_a, "b": scores_b})'),
        (lambda: dmfroc.evaluate(Y, S, level=0.05), "pass level=0.95"),
        (
            lambda: dmfroc.evaluate(Y, S, method="delong"),
            'pass method="jackknife", the default, which is DeLong',
        ),
        (lambda: dmfroc.evaluate(Y, S, folds=5), "it is 5, of type int: pass folds= the fold of"),
        (
            lambda: dmfroc.compare(Y, [S, S], folds=StratifiedKFold(5)),
            "or call dmfroc.cross_validate(",
        ),
        (
            lambda: dmfroc.estimate("hand_till", Y, S, folds=[*StratifiedKFold(5).split(S, Y)]),
            "folds must have one entry for each of the 90 observations, but its shape is (5,)",
        ),
        (lambda: dmfroc.applications.plan(EVALUATION, half_width=0.1), "pass its .predictions"),
        (lambda: dmfroc.compare({"a": EVALUATION}), "of results their .predictions"),
        (lambda: dmfroc.applications.leaderboard(pd.DataFrame({"a": Y})), "items(scores).ranks()"),
        (lambda: EVALUATION.to_latex("x.tex"), "write what is returned to x.tex"),
        (
            lambda: dmfroc.applications.gate(Y, S, [{"measure": "accuracy"}]),
            "rules come first, gate([{",
        ),
        (
            lambda: dmfroc.applications.gate([{"measure": "accuracy", "min": 1}], Y, S),
            "did you mean 'at_least'",
        ),
    ],
)
def test_calls_of_other_packages_are_answered(call, remedy):
    with pytest.raises((TypeError, ValueError), match=re.escape(remedy)):
        call()


REFUSED = {
    "dmfroc.evaluate(S, Y)": "classes come first, scores second",
    "dmfroc.evaluate(S[:, 0], Y)": "Classes come first, scores second",
    "dmfroc.compare(S, [Y, Y])": "classes come first, scores second",
    "dmfroc.evaluate(FRAME['y'], 'p')": "is a str: pass the column, frame['p']",
    "dmfroc.evaluate('y', 'p')": "not str: pass the column, frame['y']",
    "dmfroc.evaluate(Y, np.array(list('abc'))[Y])": "predicted labels as y_pred=",
    "dmfroc.hand_till_score(Y, list('abc') * 30)": "predicted labels as y_pred=",
    "curves.roc_curve(Y > 0, ['a'] * 90)": "predicted labels as y_pred=",
    "dmfroc.estimate('accuracy', Y, pd.DataFrame({'p': ['a'] * 90}))": "labels as y_pred=",
    "dmfroc.evaluate(Y, S, method='BCa')": 'pass method=dmfroc.Bootstrap(interval="bca")',
    "dmfroc.evaluate(Y, S, method='percentile')": 'Bootstrap(interval="percentile")',
    "dmfroc.compare(Y, [S, S], method='basic')": "dmfroc.Bootstrap",
    "dmfroc.evaluate(Y, S, method='youden')": 'pass measures="max_informedness"',
    "dmfroc.applications.gate(Y, S, {'measure': 'accuracy'})": "rules come first, gate([{",
    "dmfroc.applications.gate({'accuracy': 0.8}, Y, S)": "the call is as gate([{",
    "applications.gate('accuracy>=0.8', Y, S)": "is no file: write one of TOML, with a line [[",
    "dmfroc.applications.gate(['accuracy>=0.8'], Y, S)": "rules come first, gate([{",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_meant_is_answered_with_what_can(call):
    with pytest.raises((TypeError, ValueError), match=re.escape(REFUSED[call])):
        eval(call, globals() | KNOWN)


def test_one_rule_is_a_dict():
    rule = {"measure": "hand_till", "at_least": 0.7}
    assert (
        dmfroc.applications.gate(rule, Y, S)
        == dmfroc.applications.gate([rule], Y, S)
        == dmfroc.applications.gate({"rule": [rule]}, Y, S)
    )


TRACED = {
    "hand_till": lambda x: dmfroc.hand_till_score(Y, x),
    "dmf_auc": lambda x: dmfroc.dmf_auc_score(Y, x),
    "average_precision": lambda x: dmfroc.average_precision_score(Y > 0, x[:, 0]),
    "multiclass_roc": lambda x: dmfroc.multiclass_roc(Y, x).auc,
    "accuracy": lambda x: dmfroc.estimate("accuracy", Y, x).value,
    "brier_score": lambda x: KNOWN["measures"].brier_score()(Y, x),
    "log_loss": lambda x: dmfroc.estimate("log_loss", Y, S, sample_weight=x[:, 0]).value,
    "informedness": lambda x: dmfroc.informedness_score(x[:, 0], Y),
    "dmf": lambda x: dmfroc.dmf(x).deviance,
    "hand_till_": lambda x: dmfroc.evaluate(Y, x)["hand_till"].value,
    "hand_till__": lambda x: dmfroc.curves.roc_curve(Y > 0, x[:, 0]).area,
    "hand_till___": lambda x: dmfroc.estimate("hand_till", Y, S, level=x[0, 0]).value,
}


@pytest.mark.parametrize("name", TRACED)
def test_programs_of_jax_are_told_which_function_can_be_traced(name):
    call = TRACED[name]
    known = f"call(, for example)? dmfroc.functional.{name.rstrip('_')}, or call"
    runs = [jax.jit(call), jax.grad(call), lambda x: jax.lax.map(call, x[None])]
    for run in [*runs, lambda x: jax.vmap(call)(x[None])]:
        with pytest.raises(TypeError, match=f"^[a-z_]+ is traced by JAX.*{known}"):
            run(np.float32(S))


@pytest.mark.parametrize(
    "function", [dmfroc.estimate, dmfroc.evaluate, dmfroc.compare, dmfroc.compare_subgroups]
)
def test_signatures_show_options_with_their_defaults(function):
    shown = inspect.signature(function).parameters
    assert "options" not in shown
    assert shown["level"].default == 0.95
    assert shown["random_state"].default == 0
    assert shown["groups"].default is None
    assert "ForwardRef" not in pydoc.render_doc(function)
    if function is not dmfroc.compare_subgroups:
        assert {"labels", "folds", "judge", "follow_up", "population"} <= set(shown)
    explicit = {x: shown[x].default for x in ("level", "random_state", "stratify", "sample_weight")}
    arguments = {
        dmfroc.estimate: ("hand_till", Y, S),
        dmfroc.compare: (Y, {"a": S, "b": S**3}),
        dmfroc.compare_subgroups: (Y, S, np.arange(90) // 3 % 2),
    }.get(function, (Y, S))
    assert str(function(*arguments, **explicit)) == str(function(*arguments))


@pytest.mark.slow
def test_results_answer_to_names_numbers_and_formats():
    estimate = EVALUATION["hand_till"]
    assert estimate is EVALUATION.estimates["hand_till"]
    assert list(EVALUATION) == ["hand_till", "accuracy"]
    assert len(EVALUATION) == 2
    assert COMPARISON["b"].value == dmfroc.estimate("hand_till", Y, S**3).value
    with pytest.raises(KeyError, match=r"no estimate 'hand_til' .did you mean 'hand_till'"):
        EVALUATION["hand_til"]
    assert float(estimate) == estimate.value
    assert f"{estimate:.3f}" == f"{estimate.value:.3f}"
    assert f"{estimate}" == str(estimate)
    assert estimate.ci == estimate.interval
    assert EVALUATION.summary() == str(EVALUATION)
    assert EVALUATION.to_html().startswith("<!")


ATTRIBUTES = {
    "ESTIMATE.lower": "type estimate.interval",
    "ESTIMATE.conf_int": "type estimate.interval",
    "ESTIMATE.std_error": "type estimate.standard_error",
    "ESTIMATE.to_dict": "type estimate.as_json()",
    "ESTIMATE.valu": "did you mean 'value'",
    "ESTIMATE.bse": "type estimate.standard_error",
    "ESTIMATE.item": "type estimate.value",
    "EVALUATION.loc": "type evaluation.to_pandas()",
    "EVALUATION.show": "type evaluation.plot()",
    "COMPARISON.delta": "type comparison.differences",
    "dmfroc.measures.ContingencyTable.from_labels(Y, Y).ravel": "type contingency_table.counts",
    "EVALUATION.ci": "type evaluation['hand_till'].ci",
    "ESTIMATE.pvalue": "type dmfroc.compare(y_true, {",
    "ESTIMATE.gate": "type dmfroc.applications.gate",
    "EVALUATION.accuracy": "type evaluation['accuracy']",
    "EVALUATION.auc": "type evaluation.area_estimate",
    "EVALUATION.to_csv": "type evaluation.to_pandas()",
    "EVALUATION.n": "type evaluation.predictions.n_observations",
    "EVALUATION.classes": "type evaluation.predictions.labels",
    "EVALUATION.standard_error": "type evaluation['hand_till'].standard_error",
    "EVALUATION.mcc": 'dmfroc.estimate("gorodkin_correlation", y_true, y_pred=y_pred)',
    "EVALUATION.confusion_matrix": "type dmfroc.measures.ContingencyTable.from_labels(",
    "COMPARISON.p_value": "type comparison.differences[0].p_value",
    "COMPARISON.best": "type comparison.best_set()",
    "COMPARISON.differences[0].pvalue": "type difference.p_value",
    "curves.roc_curve(Y > 0, S[:, 1]).auc": "type curve.area",
    "plots.ROCDisplay.from_predictions(Y > 0, S[:, 1]).savefig": "roc_display.figure_.savefig()",
    "plots.ROCDisplay.from_predictions(Y > 0, S[:, 1]).set_title": "roc_display.ax_.set_title()",
    "dmfroc.measures.ContingencyTable.from_labels(Y, Y).accuracy": 'dmfroc.estimate("accuracy"',
}
ESTIMATE = EVALUATION["hand_till"]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_attributes_that_are_missing_are_answered_with_where_they_are(attribute):
    with pytest.raises(AttributeError, match=re.escape(ATTRIBUTES[attribute])):
        eval(attribute, globals() | KNOWN)


def test_attributes_that_raise_say_why():
    class Broken(Result):
        @property
        def inner(self):
            return self.nothing.there

        def tables(self):
            return []

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        Broken().inner  # noqa: B018


@pytest.mark.parametrize(
    "result",
    [ESTIMATE, EVALUATION, COMPARISON, dmfroc.curves.roc_curve(Y > 0, S[:, 1])],
    ids=lambda x: type(x).__name__,
)
def test_results_are_equal_by_their_json_after_copies_too(result):
    for other in (copy.deepcopy(result), copy.copy(result), pickle.loads(pickle.dumps(result))):
        assert other == result
        assert hash(other) == hash(result)
    assert result != result.to_json()
    assert not hasattr(result, "__array__")


def test_all_results_are_compared_by_one_rule():
    for module in pkgutil.walk_packages(dmfroc.__path__, "dmfroc."):
        if module.name.startswith(("dmfroc.analyses", "dmfroc.applications", "dmfroc.papers")):
            importlib.import_module(module.name)
    kinds = [Result]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert len(kinds) > 30
    assert {kind.__eq__ for kind in kinds} == {Result.__eq__}
    assert dmfroc.evaluate(Y, S**2, measures=["hand_till"]) != EVALUATION


def test_named_estimates_are_mappings_to_dict():
    assert dict(EVALUATION) == EVALUATION.estimates == dict(EVALUATION.items())
    assert list(COMPARISON.values()) == [COMPARISON["a_1"], COMPARISON["b"]]
    assert EVALUATION["Hand-Till M"] is EVALUATION["hand_till"]
    with pytest.raises(KeyError, match=r"no estimate \('b', 'a_1'\): each pair is in .differences"):
        COMPARISON["b", "a_1"]
    with pytest.raises(KeyError, match="no estimate 'Hand-Till M'"):  # the title of both
        COMPARISON["Hand-Till M"]
    [difference] = COMPARISON.differences
    assert (float(difference), difference.ci) == (difference.value, difference.interval)


def test_lists_of_classifiers_are_numbered():
    named = dmfroc.compare(Y, {"1": S, "2": S**3}, measures="hand_till")
    assert str(dmfroc.compare(Y, [S, S**3], measures="hand_till")) == str(named)
    named = dmfroc.compare(Y, y_pred={"1": Y, "2": Y[::-1]}, measures="accuracy")
    assert str(dmfroc.compare(Y, y_pred=[Y, Y[::-1]], measures="accuracy")) == str(named)
    with pytest.raises(TypeError, match=r'a dict of scores by name .* pass \{"a": scores_a'):
        dmfroc.compare(Y, S.tolist(), measures="accuracy")


def test_columns_of_tables_and_pairs_are_classifiers():
    binary = (Y > 0).astype(int)
    scores = {"a": S[:, 1], "b": S[:, 2]}
    named = dmfroc.compare(binary, scores, measures="hand_till")
    assert dmfroc.compare(binary, pd.DataFrame(scores), measures="hand_till") == named
    assert dmfroc.compare(binary, [*scores.items()], measures="hand_till") == named
    labels = {name: (x > 0.3).astype(int) for name, x in scores.items()}
    named = dmfroc.compare(binary, y_pred=labels)
    assert dmfroc.compare(binary, y_pred=pd.DataFrame(labels)) == named
    with pytest.raises(TypeError, match="must be a dict of scores by name"):
        dmfroc.compare(binary, pd.DataFrame({0: S[:, 0], 1: 1 - S[:, 0]}))


def test_what_is_wrong_with_one_classifier_names_it():
    with pytest.raises(ValueError, match=r"^b: y_true has 90 rows but y_score has 45"):
        dmfroc.compare(Y, {"a": S, "b": S[::2]})
    binary = (Y > 0).astype(int)
    halves = {"a": S[:, 1], "b": (1 + S[:, 2]) / 2}
    with pytest.warns(
        UserWarning, match=r"^b: subtract y_score from 1 in the rows with the prediction"
    ):
        dmfroc.compare(binary, halves, measures="hand_till")
    never = {"a": binary, "b": np.zeros(90, int)}
    with pytest.raises(ValueError, match=r"precision is nan for 'b', .*, since .*: choose another"):
        dmfroc.compare(binary, y_pred=never, measures="precision")


def test_estimates_are_numbers_in_arithmetic():
    a, b = EVALUATION.values()
    x, y = a.value, b.value
    [difference] = COMPARISON.differences
    assert (a - b, a + 1, 1 - a, 2 * a, a / b, 1 / a) == (x - y, x + 1, 1 - x, 2 * x, x / y, 1 / x)
    assert (-a, abs(difference), round(a, 3)) == (-x, abs(difference.value), round(x, 3))
    assert (a > b, a >= 0.5, a > 0.5, a <= b) == (x > y, x >= 0.5, x > 0.5, x <= y)
    assert sorted([a, b], reverse=x > y)[0] is a
    assert sum([a, b]) == x + y
    assert np.mean([a, b]) == pytest.approx((x + y) / 2, rel=1e-15)
    np.testing.assert_array_equal(np.array([1.0, 2.0]) * a, [x, 2 * x])
    assert a == copy.copy(a)
    assert a != x  # an interval is no number


def test_curves_draw_themselves_in_notebooks_too():
    for name in ("roc", "precision_recall", "lift", "det", "calibration", "cumulative_gains"):
        found = getattr(KNOWN["curves"], f"{name}_curve")(Y > 0, S[:, 1])
        display = found.plot(plot_chance_level=False)
        assert display.curves == {found.label: found}
        assert found._repr_html_().startswith('<img alt="chart" src="data:image/png;base64,')
        plt.close(display.figure_)


def test_tables_of_decisions_draw_themselves():
    display = dmfroc.measures.ContingencyTable.from_labels(Y, S.argmax(axis=1)).plot()
    assert display.im_.get_array().sum() == 90
    np.testing.assert_array_equal(display.confusion_matrix.sum(axis=1), [30, 30, 30])
    plt.close(display.figure_)
    several = dmfroc.compare(Y, [S, S**3], measures=["hand_till", "accuracy"])
    with pytest.raises(TypeError, match=r"type \['hand_till'\].plot\(\)"):
        several.plot()


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_a_plan_takes_classes_and_scores():
    pilot = dmfroc.Predictions.from_arrays(Y, S)
    assert str(dmfroc.applications.plan(Y, S, half_width=0.05)) == str(
        dmfroc.applications.plan(pilot, half_width=0.05)
    )
    scores = {"a": S, "b": S[:, [1, 2, 0]]}
    pilots = {name: dmfroc.Predictions.from_arrays(Y, x) for name, x in scores.items()}
    options = {"measure": "brier_score", "difference": 0.1}
    assert str(dmfroc.applications.plan(Y, scores, **options)) == str(
        dmfroc.applications.plan(pilots, **options)
    )


def test_tables_in_markdown_and_latex_have_the_printed_cells():
    for key in ("estimates", "differences"):
        [table] = [t for t in COMPARISON.tables() if t.key == key]
        markdown = COMPARISON.to_markdown(key).splitlines()
        assert len(markdown) == 2 + len(table.rows)
        widths = {line.count(" | ") for line in markdown}
        assert len(widths) == 1
        latex = COMPARISON.to_latex(key)
        assert latex.count(r"\\") == 1 + len(table.rows)
        assert r"a\_1" in latex
        assert latex.startswith(r"\begin{tabular}{l")
        assert latex.endswith(r"\end{tabular}")
    with pytest.raises(ValueError, match="table must be one of"):
        COMPARISON.to_latex("none")


def test_letters_with_a_meaning_stay_themselves():
    names = {"a|b": S, r"50 % \ {x}_#&$~^<>": S**3}
    found = dmfroc.compare(Y, names, measures="hand_till")
    lines = found.to_markdown("estimates").splitlines()
    assert r"a\|b" in lines[2]
    assert r"50 \% \textbackslash{} \{x\}\_\#\&\$\textasciitilde{}" in found.to_latex("estimates")
    assert isinstance(found.to_pandas("estimates"), pd.DataFrame)


def test_names_of_measures_find_their_estimates():
    found = dmfroc.evaluate(Y, S, measures=["roc-auc-ovr", "mcc", "accuracy"])
    assert found["mcc"] is found["gorodkin_correlation"] is found["Gorodkin correlation"]
    assert found["Accuracy"] is found["acc"] is found["accuracy"]
    two = dmfroc.evaluate(Y > 0, S[:, 1])
    assert two["AUC"] is two["roc_auc"] is two["auc"] is two["hand_till"]
    alone = dmfroc.evaluate(Y > 0, S[:, 1], measures="roc_auc")
    assert alone["roc_auc"] is alone["AUC"] is alone.estimates["auc"]


def test_an_unknown_name_of_a_result_says_what_there_is():
    by_measure = dmfroc.compare(Y, {"a": S, "b": S**3}, measures=["hand_till", "accuracy"])
    by_class = dmfroc.evaluate(Y, S, pos_label=[0, 2], measures="accuracy")
    for place, name, told in (
        (EVALUATION, "roc_auc", "estimate 'roc_auc' (did you mean 'hand_till'?), but"),
        (EVALUATION.estimates, "roc_auc", "estimate 'roc_auc' (did you mean 'hand_till'?), but"),
        (EVALUATION.estimates, "f1_macro", "but 'hand_till', 'accuracy'; to compute it pass measu"),
        (EVALUATION, "nonsense", "'accuracy'; dmfroc.measures.measure_table() lists all measures"),
        (EVALUATION, "aucc", "estimate 'aucc' (did you mean 'hand_till'?), but"),
        (EVALUATION, "kapa", "'accuracy'; to compute it pass measures='cohen_kappa'"),
        (EVALUATION, "auprc", "'auprc', which is not clear: use 'average_precision' (steps"),
        (COMPARISON, "nonsense", "there is no estimate 'nonsense', but 'a_1', 'b'"),
        (COMPARISON, "a", "there is no estimate 'a', but 'a_1', 'b'"),
        (COMPARISON.estimates, "mcc", "but 'a_1', 'b'; to compute it pass measures='mcc'"),
        (by_measure, "acc", "measure 'acc' (did you mean 'accuracy'?), but 'hand_till', 'accur"),
        (by_class, "yes", "there is no class 'yes', but 0, 2"),
    ):
        with pytest.raises(KeyError) as error:
            place[name]
        assert told in str(error.value)
        assert str(error.value)[0] != '"'
    assert EVALUATION.estimates.get("roc_auc") is None
    assert "roc_auc" not in EVALUATION
    assert pickle.loads(pickle.dumps(EVALUATION)).estimates == EVALUATION.estimates


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_result_of_many_measures_says_how_to_list_them():
    found = dmfroc.evaluate(Y > 0, S[:, 1], measures="all")
    with pytest.raises(KeyError, match=r"and \d+ more; list\(result\) has all$"):
        found["aucc"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda of: of.from_arrays(Y, y_pred=Y),
            "from_arrays() needs y_score, array-like or table of shape (n, K), or (n,) or (n, 1) "
            "for K = 2: call Predictions.from_arrays(y_true, y_score); hard labels alone are "
            "dmfroc.Predictions.from_labels(y_true, y_pred)",
        ),
        (
            lambda of: of.from_arrays(Y, None, y_pred=Y),
            "hard labels alone are dmfroc.Predictions.f",
        ),
        (
            lambda of: of.from_arrays(Y, S, S, S),
            "takes 2 arguments without a name, but 4 were give",
        ),
        (lambda of: of.from_arrays(Y, S, weights=Y), "'weights': pass sample_weight="),
        (
            lambda of: of.from_labels(Y),
            "needs y_pred: call Predictions.from_labels(y_true, y_pred)",
        ),
        (lambda of: of.from_file("a.csv"), "needs label, str: call Predictions.from_file(path, la"),
        (lambda _: dmfroc.estimate("auc"), "needs y_true, Predictions, Scan, or array-like of sha"),
    ],
)
def test_a_call_that_lacks_an_argument_is_answered_with_the_call(call, told):
    with pytest.raises((TypeError, ValueError)) as error:
        call(dmfroc.Predictions)
    assert told in str(error.value)
    made = dmfroc.Predictions.from_arrays(Y, S)
    assert type(made) is dmfroc.Predictions
    assert pickle.loads(pickle.dumps(dmfroc.Predictions.from_arrays))(Y, S).labels == made.labels


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("delong", 'pass method="jackknife", the default, which is DeLong\'s for areas'),
        ("DeLong", 'pass method="jackknife", the default'),
        ("Hanley-McNeil", 'pass method="jackknife", the default'),
        ("clopper-pearson", 'pass method="jackknife", the default, whose limits are exact'),
        ("percentile", 'pass method=dmfroc.Bootstrap(interval="percentile")'),
        ("BCa", 'pass method=dmfroc.Bootstrap(interval="bca")'),
        ("boot", 'pass method="bootstrap"'),
        ("bayesian", 'pass method="bayes"'),
        ("Jackknife", "(did you mean 'jackknife'?)"),
    ],
)
def test_names_of_methods_are_answered_with_a_line_that_runs(name, line):
    with pytest.raises(ValueError, match="method must be one of") as error:
        dmfroc.estimate("hand_till", Y, S, method=name)
    assert line in str(error.value)
    if found := re.search(r'pass method=("\w+"|dmfroc\.\w+\(.*?\))', str(error.value)):
        dmfroc.estimate("hand_till", Y, S, method=eval(found[1], {"dmfroc": dmfroc}))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_measures_say_which_are_left_out():
    for given, names, why in (
        ({"y_score": S[:, 1]}, "accuracy", "needs hard labels, and a one-dimensional y_score has"),
        ({"y_pred": Y > 1}, "hand_till", "needs scores"),
    ):
        found = dmfroc.evaluate(Y > 0, **given, measures="all")
        [told] = [x for x in found.warnings if x.startswith("measures='all' leaves out ")]
        assert why in told
        assert "\n" not in told
        assert found.as_json()["warnings"][-1] == told
        assert names not in found
    assert not any("leaves out" in x for x in EVALUATION.warnings)


def test_measures_without_commas_are_told():
    with pytest.raises(ValueError, match="write commas between measures, auc,brier_score"):
        dmfroc.evaluate(Y, S, measures="auc brier_score")


@pytest.mark.parametrize("function", [dmfroc.evaluate, dmfroc.estimate, dmfroc.compare])
def test_signatures_show_no_arguments_that_are_refused(function):
    kinds = {x.kind for x in inspect.signature(function).parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("given", ["population", "prevalence", "target_prevalence", "class_shares"])
def test_shares_of_the_population_are_found_by_all_their_names(given):
    y, score = np.arange(60) % 2, np.linspace(0.1, 0.9, 60)
    calls = {"population": "evaluate estimate", "prevalence": "decision_curve plan"}
    for option, names in calls.items():
        for name in names.split() if option != given else ():
            call = getattr(dmfroc, name, None) or getattr(dmfroc.applications, name)
            first = ["accuracy"] * (name == "estimate")
            with pytest.raises(TypeError, match=f"pass {option}="):
                call(*first, y, score, **{given: 0.02})
