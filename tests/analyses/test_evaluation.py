"""Evaluation, and the package as a whole: tables, options, one warning, what is imported."""

import dataclasses
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from bands import curve_band
from simulations import normal_scores

import dmfroc
from dmfroc import (
    Predictions,
    dmf_auc_score,
    estimate,
    evaluate,
    hand_till_score,
    informedness_score,
    multiclass_roc,
)
from dmfroc._kit.text import on_one_line
from dmfroc.measures import dmf_auc, informedness
from dmfroc.plots import MulticlassROCDisplay
from dmfroc.results import Estimate, MulticlassROC

CLASSES, SCORES = normal_scores(1, 60, 3)
ALL = ["dmf_auc", "hand_till", "informedness"]


# What it holds


def test_values_are_those_of_the_plain_functions():
    found = evaluate(CLASSES, SCORES).estimates
    assert list(found) == ALL
    assert found["dmf_auc"].value == pytest.approx(dmf_auc_score(CLASSES, SCORES), abs=1e-12)
    assert found["hand_till"].value == pytest.approx(hand_till_score(CLASSES, SCORES), abs=1e-12)
    assert found["informedness"].value == pytest.approx(
        informedness_score(CLASSES, SCORES.argmax(axis=1)), abs=1e-12
    )
    for name in ALL:
        assert found[name] == estimate(name, CLASSES, SCORES)


def test_curve_is_that_of_the_plain_function():
    curve = evaluate(CLASSES, SCORES).curve
    assert isinstance(curve, MulticlassROC)
    expected = multiclass_roc(CLASSES, SCORES)
    np.testing.assert_array_equal(curve.tpr, expected.tpr)
    np.testing.assert_array_equal(curve.fpr, expected.fpr)
    assert evaluate(CLASSES, SCORES).estimates["dmf_auc"].value == pytest.approx(
        curve.auc, rel=0, abs=1e-12
    )


def test_pair_weights_reach_the_curve_and_its_area():
    costs = [[0, 1, 5], [1, 0, 1], [2, 1, 0]]
    result = evaluate(CLASSES, SCORES, pair_weights=costs)
    expected = dmf_auc_score(CLASSES, SCORES, pair_weights=costs)
    assert result.curve.auc == pytest.approx(expected, rel=0, abs=1e-12)
    assert result.estimates["dmf_auc"].value == pytest.approx(expected, rel=0, abs=1e-12)
    assert expected != pytest.approx(dmf_auc_score(CLASSES, SCORES), abs=1e-4)


OPTIONS = {"n_thresholds": 9, "shrinkage": 30.0, "threshold_pool": "pooled"}


def test_all_options_of_a_measure_reach_the_curve():
    curve = evaluate(CLASSES, SCORES, measures=["hand_till", dmf_auc(**OPTIONS)]).curve
    expected = multiclass_roc(CLASSES, SCORES, **OPTIONS)
    np.testing.assert_array_equal(curve.tpr, expected.tpr)
    np.testing.assert_array_equal(curve.pair_effect, expected.pair_effect)


def test_curve_is_that_of_the_first_area():
    measures = [dmf_auc(n_thresholds=9), "dmf_auc"]
    assert len(evaluate(CLASSES, SCORES, measures=measures).curve.pairwise_tpr[0]) == 9
    assert len(evaluate(CLASSES, SCORES, measures=measures[::-1]).curve.pairwise_tpr[0]) == 99


@pytest.mark.parametrize("stratify", [None, False])
def test_plot_agrees_with_the_table(stratify):
    groups = np.arange(len(CLASSES)) // 2
    area = dataclasses.replace(dmf_auc(**OPTIONS), name="mine")
    result = evaluate(CLASSES, SCORES, measures=[area], groups=groups, stratify=stratify, level=0.8)
    display = result.plot()
    assert display.estimate is result.estimates["mine"]
    assert display.curve is result.curve
    options = OPTIONS | {"groups": groups, "level": 0.8}
    expected = curve_band(result.predictions, **options, stratify=stratify)
    np.testing.assert_array_equal(display.band.high, expected.high)
    drawn = MulticlassROCDisplay.from_predictions(result.predictions, **options, stratify=stratify)
    np.testing.assert_array_equal(drawn.band.low, expected.low)
    assert drawn.estimate.interval == result.estimates["mine"].interval
    assert result.plot(plot_band=False).band_ is None


def test_curve_without_an_area_asked_for_has_the_same_units():
    groups = np.arange(len(CLASSES)) // 2
    display = evaluate(CLASSES, SCORES, measures=["hand_till"], groups=groups, level=0.8).plot()
    expected = estimate("dmf_auc", CLASSES, SCORES, groups=groups, level=0.8)
    assert display.estimate == expected


# Extreme weights


def test_weights_of_any_size_say_the_same_in_all_measures():
    plain = evaluate(CLASSES, SCORES, measures="all").estimates
    weights = np.full(len(CLASSES), 2.0**540)
    found = evaluate(CLASSES, SCORES, measures="all", sample_weight=weights).estimates
    for name, expected in plain.items():
        numbers = [found[name].value, found[name].standard_error, *found[name].interval]
        wanted = [expected.value, expected.standard_error, *expected.interval]
        assert numbers == pytest.approx(wanted, rel=1e-9, abs=1e-12), name


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("factor", [1e18, 1e-18])
def test_weights_far_apart_give_numbers(factor):
    weights = np.where(np.arange(len(CLASSES)) % 7 == 0, factor, 1.0)
    found = evaluate(CLASSES, SCORES, measures="all", sample_weight=weights)
    for name, found_one in found.estimates.items():
        low, high = found_one.interval
        assert low <= high, name  # thus no NaN
        assert np.isfinite([found_one.value, found_one.standard_error]).all(), name


def test_finished_predictions_and_weights():
    weights = np.random.default_rng(2).uniform(0.5, 2, size=60)
    predictions = Predictions.from_arrays(CLASSES, SCORES, sample_weight=weights)
    result = evaluate(predictions)
    assert result.predictions is predictions
    assert result.estimates == evaluate(CLASSES, SCORES, sample_weight=weights).estimates
    assert result.estimates != evaluate(CLASSES, SCORES).estimates
    assert evaluate(predictions, level=0.8).estimates["hand_till"].level == 0.8


def test_results_are_frozen():
    result = evaluate(CLASSES, SCORES, measures=["hand_till"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.predictions = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.estimates["hand_till"].value = 1.0


# How it shows


def test_table():
    result = evaluate(CLASSES, SCORES, level=0.9)
    table = result.to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "measure"
    assert list(table.index) == ALL
    columns = ["value", "standard_error", "low", "high", "level", "method", "title"]
    assert list(table.columns) == columns
    for name, e in result.estimates.items():
        row = [e.value, e.standard_error, *e.interval, 0.9, "jackknife", e.title]
        assert table.loc[name].tolist() == row


def test_text():
    result = evaluate(CLASSES, SCORES)
    text = str(result)
    assert "60 observations, 3 classes" in text
    assert "95 % interval (jackknife)" in text
    for title, e in zip(
        ["DMF-AUC", "Hand-Till M", "Informedness"], result.estimates.values(), strict=True
    ):
        (line,) = (line for line in text.splitlines() if line.startswith(title))
        low, high = e.interval
        corrected = [] if e.bias_corrected is None else [f"{e.bias_corrected:.4f}"]
        assert line.split() == [
            *title.split(),
            *[f"{e.value:.4f}", f"{e.standard_error:.4f}", f"{low:.4f}", "to", f"{high:.4f}"],
            *corrected,
        ]
        more = "".join(f"; bias-corrected {x}" for x in corrected)
        assert str(e) == (
            f"{e.measure} {e.value:.4f} (95 % jackknife interval {low:.4f} to {high:.4f}{more})"
        )
    assert "note:" not in text
    html = result._repr_html_()
    for e in result.estimates.values():
        low, high = e.interval
        interval = f"{low:.3f} to {high:.3f}"
        numbers = [f"{e.value:.3f}", f"{e.standard_error:.3f}"]
        row = "".join(f"<td>{cell}</td>" for cell in [*numbers, interval])
        assert f'<th scope="row">{e.title}</th>{row}' in html


def test_estimates_become_json():
    for e in evaluate(CLASSES, SCORES).estimates.values():
        assert isinstance(e, Estimate)
        record = dataclasses.asdict(e)
        read = json.loads(json.dumps(record))
        assert read.pop("interval") == list(e.interval)
        assert read.pop("warnings") == read.pop("caveats") == []
        assert read == {
            k: v for k, v in record.items() if k not in ("interval", "warnings", "caveats")
        }
        for number in (e.value, e.standard_error, *e.interval):
            assert type(number) is float


def test_plain_functions_return_plain_floats():
    for value in (
        dmf_auc_score(CLASSES, SCORES),
        hand_till_score(CLASSES, SCORES),
        informedness_score(CLASSES, SCORES.argmax(axis=1)),
        multiclass_roc(CLASSES, SCORES).auc,
    ):
        assert type(value) is float


# Options


def test_chosen_measures():
    assert list(evaluate(CLASSES, SCORES, measures=["hand_till"]).estimates) == ["hand_till"]
    chosen = ["informedness", "dmf_auc"]
    assert list(evaluate(CLASSES, SCORES, measures=chosen).estimates) == chosen
    assert evaluate(CLASSES, SCORES, measures="informedness, dmf_auc") == evaluate(
        CLASSES, SCORES, measures=chosen
    )
    for one in ("informedness", informedness()):
        found = evaluate(CLASSES, SCORES, measures=one)
        assert found == evaluate(CLASSES, SCORES, measures=["informedness"])


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["hand_tull"], "the name of a measure, but it is 'hand_tull'; near it are hand_till"),
        (["hand_till", "M"], "measures has 2 of the name 'hand_till'"),
        ([], "measures must hold at least one value, but it is empty"),
        ("hand_tull", "the name of a measure, but it is 'hand_tull'; near it are hand_till"),
    ],
)
def test_wrong_measures_are_told(measures, message):
    with pytest.raises(ValueError, match=message):
        evaluate(CLASSES, SCORES, measures=measures)


def test_two_measures_of_one_name_are_told():
    with pytest.raises(ValueError, match="measures has 2 of the name 'hand_till', by which"):
        evaluate(CLASSES, SCORES, measures=["hand_till", "informedness", "hand_till"])
    own = informedness("prevalence")
    assert own.name != "informedness"
    renamed = dataclasses.replace(own, name="informedness")
    with pytest.raises(ValueError, match="measures has 2 of the name 'informedness'"):
        evaluate(CLASSES, SCORES, measures=["informedness", renamed])


def test_a_measure_keeps_its_own_options():
    own = dmf_auc(shrinkage=50.0, n_thresholds=9)
    costs = [[0, 1, 5], [1, 0, 1], [2, 1, 0]]
    expected = dmf_auc_score(CLASSES, SCORES, shrinkage=50.0, n_thresholds=9)
    for pair_weights in ("equal", costs):
        result = evaluate(CLASSES, SCORES, measures=[own], pair_weights=pair_weights)
        assert result.estimates[own.name].value == pytest.approx(expected, rel=0, abs=1e-12)
    assert expected != pytest.approx(dmf_auc_score(CLASSES, SCORES), abs=1e-4)
    everything = evaluate(CLASSES, SCORES, measures="all", method="jackknife", pair_weights=costs)
    of_costs = dmf_auc_score(CLASSES, SCORES, pair_weights=costs)
    found = next(iter(everything.estimates.values()))
    assert found.measure == "dmf_auc"
    assert found.value == pytest.approx(of_costs, rel=0, abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
def test_given_hard_labels_only_move_informedness():
    other = np.roll(CLASSES, 1)
    plain = evaluate(CLASSES, SCORES).estimates
    given = evaluate(CLASSES, SCORES, y_pred=other).estimates
    for name in ("dmf_auc", "hand_till"):
        assert given[name].interval == plain[name].interval
        assert "y_pred is not the class" in given[name].warnings[0]
    expected = informedness_score(CLASSES, other)
    assert given["informedness"].value == pytest.approx(expected, rel=0, abs=1e-12)


def test_one_score_has_no_informedness():
    classes, scores = normal_scores(2, 60, 2)
    score = scores[:, 1]
    assert list(evaluate(classes, score).estimates) == ["dmf_auc", "hand_till"]
    assert list(evaluate(classes, scores).estimates) == ALL
    with_labels = evaluate(classes, score, y_pred=(score > 0.5).astype(int))
    assert list(with_labels.estimates) == ALL
    with pytest.raises(ValueError, match="informedness needs hard labels"):
        evaluate(classes, score, measures=["informedness"])


def test_missing_scores_are_told():
    with pytest.raises(TypeError, match="y_score is missing"):
        evaluate(CLASSES)
    predictions = Predictions.from_arrays(CLASSES, SCORES)
    with pytest.raises(TypeError, match="labels cannot be given together with a Predictions"):
        evaluate(predictions, labels=[0, 1, 2])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        evaluate(predictions, level=95.0)


# Warnings


def test_absent_class_is_told_once():
    keep = CLASSES != 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = evaluate(CLASSES[keep], SCORES[keep], labels=[0, 1, 2])
        assert result.curve.pairs == ((0, 2), (2, 0))
    messages = (
        "1 class has a column but no observation and every pair with it is left out: 1",
        "1 class never occurs and its informedness counts as 0: 1",
    )
    assert tuple(str(warning.message) for warning in caught) == messages
    assert result.warnings == messages
    printed = " ".join(str(result).split())  # its lines are wrapped
    assert f"warning: DMF-AUC, Hand-Till M: {messages[0]} warning: {messages[1]}" in printed


def test_the_curve_leaves_the_filters_of_warnings_alone(monkeypatch):
    """They belong to the whole process: another thread would miss a warning."""
    keep = CLASSES != 1
    with pytest.warns(UserWarning, match="left out"):
        result = evaluate(CLASSES[keep], SCORES[keep], labels=[0, 1, 2], measures=["dmf_auc"])
    monkeypatch.setattr(warnings, "catch_warnings", None)
    assert result.curve.pairs == ((0, 2), (2, 0))


def test_remarks_of_all_measures_appear_once():
    classes = np.repeat([0, 1, 2], [30, 29, 1])
    result = evaluate(classes, SCORES)
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("class 2 has a single observation")
    assert str(result).count("warning: ") == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_prints_name_each_warning_by_the_title_of_its_measures():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [11, 8, 6])
    scores = rng.dirichlet(np.ones(3), len(y)) + np.eye(3)[y]
    names = ["accuracy", "e50", "e90", "brier_uncertainty", "fpr_at"]
    found = evaluate(y, scores / scores.sum(axis=1, keepdims=True), measures=names)
    text = on_one_line(str(found))
    about = "A quantile of distances from a fitted curve"
    assert f"Calibration error, median, Calibration error, 90 % quantile: {about}" in text
    assert "FPR at TPR 0.95: A class has 6 cases" in text
    assert "show that Brier uncertainty is too small" in text
    assert "Integrated calibration index has an interval" not in text  # it is not in the table
    assert any(x.startswith(about) for x in found.warnings)  # as programs read them
    for way in (found._repr_html_(), found.to_html()):
        assert f"Calibration error, 90 % quantile: {about}" in way
    alone = evaluate(y, scores / scores.sum(axis=1, keepdims=True), measures=["e50", "e90"])
    assert f"warning: {about}" in str(alone)


def test_no_error_is_printed_if_no_observation_shows_any():
    found = evaluate([0, 1, 1], [0.1, 0.8, 0.9])
    assert re.search(r"AUC +1.0000 +not known +0\.3\d+ to 1.0000", str(found))
    assert found["auc"].standard_error == 0


# The package


def run_python(code):
    """Run code in a Python of its own, without the type checks of the tests."""
    environment = os.environ | {"PYTHONPATH": str(Path(dmfroc.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(done.stdout)


def test_import_does_not_load_the_heavy_libraries():
    heavy = ["jax", "jaxlib", "numpy", "scipy", "pandas", "matplotlib", "sklearn", "narwhals"]
    code = "import dmfroc, json, sys; dir(dmfroc); print(json.dumps(list(sys.modules)))"
    assert not set(heavy) & set(run_python(code))


def test_a_curve_does_not_load_what_only_intervals_need():
    code = """
import json, sys
import dmfroc

dmfroc.multiclass_roc([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.3])
print(json.dumps(list(sys.modules)))
"""
    loaded = set(run_python(code))
    assert "dmfroc.multiclass.center" in loaded
    assert not {"scipy.special", "pandas", "sklearn", "matplotlib"} & loaded


@pytest.mark.slow
def test_users_are_told_about_wrong_choices_and_where_a_warning_comes_from():
    code = """
import json, sys, warnings
import numpy as np
import dmfroc

classes = np.arange(60) % 3
scores = np.random.default_rng(0).normal(size=(60, 3))
calls = {
    "method": lambda: dmfroc.evaluate(classes, scores, method="delong"),
    "estimate": lambda: dmfroc.estimate("hand_till", classes, scores, method="delong"),
    "compare": lambda: dmfroc.compare(classes, {"a": scores, "b": scores}, method="delong"),
    "weighting": lambda: dmfroc.measures.informedness("micro"),
    "score": lambda: dmfroc.informedness_score(classes, classes, weighting="micro"),
    "rows": lambda: dmfroc.measures.ContingencyTable.from_matrix([[1, 2], [3, 4]], rows="columns"),
    "alternative": lambda: dmfroc.applications.fisher_exact_test(
        dmfroc.measures.ContingencyTable.from_cells(tp=1, fp=2, fn=3, tn=4), alternative="more"
    ),
    "thresholds": lambda: dmfroc.dmf_auc_score(classes, scores, n_thresholds=1.5),
    "flag": lambda: dmfroc.multiclass_roc(classes, scores, shrinkage=-1),
    "pair": lambda: dmfroc.dmf_auc_score(classes, scores, pair_weights={"a": 1}),
}
told = {}
for name, call in calls.items():
    try:
        call()
    except Exception as error:
        told[name] = [type(error).__name__, str(error)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    keep = classes != 1
    dmfroc.hand_till_score(classes[keep], scores[keep], labels=[0, 1, 2])
    dmfroc.evaluate(classes[keep], scores[keep], labels=[0, 1, 2])
told["files"] = [warning.filename for warning in caught]
print(json.dumps(told))
"""
    told = run_python(code)
    assert told.pop("files") == ["<string>"] * 3
    expected = {
        "method": "method must be one of ",
        "estimate": "method must be one of ",
        "compare": "method must be one of ",
        "weighting": "weighting must be one of ('bias', 'prevalence', 'macro'), but it is 'micro'",
        "score": "weighting must be one of ('bias', 'prevalence', 'macro'), but it is 'micro'",
        "rows": "rows must be one of ('predicted', 'true'), but it is 'columns'",
        "alternative": "alternative must be one of ('two-sided', 'greater', 'less'), but it is",
        "thresholds": "n_thresholds must be an integer >= 9, but it is 1.5",
        "flag": "shrinkage must be a finite number >= 0, but it is -1",
        "pair": "pair_weights: the cost matrix has the key 'a', which is not a pair of classes",
    }
    assert set(told) == set(expected)
    for name, (kind, message) in told.items():
        assert kind == ("TypeError" if name == "thresholds" else "ValueError")
        assert message.startswith(expected[name])


def test_every_public_name_is_found():
    for name in dmfroc.__all__:
        assert getattr(dmfroc, name).__name__ in (name, f"dmfroc.{name}")
    assert set(dmfroc.__all__) <= set(dir(dmfroc))
    assert sorted(dmfroc.__all__) == sorted(set(dmfroc.__all__))
    with pytest.raises(AttributeError, match="module 'dmfroc' has no attribute 'rocs'"):
        _ = dmfroc.rocs


def test_configuration_of_jax_is_left_alone():
    before = jnp.asarray(1.0).dtype
    evaluate(CLASSES, SCORES, measures=["hand_till"])
    multiclass_roc(CLASSES, SCORES)
    assert jnp.asarray(1.0).dtype == before == jnp.float32


def test_hard_labels_alone_need_no_ceremony():
    labels = SCORES.argmax(axis=1)
    found = evaluate(CLASSES, y_pred=labels)
    names = ["informedness", "markedness", "gorodkin_correlation", "accuracy"]
    assert list(found.estimates) == names
    with_scores = evaluate(CLASSES, SCORES, measures=names)
    pd.testing.assert_frame_equal(found.to_pandas(), with_scores.to_pandas())
    assert estimate("informedness", CLASSES, y_pred=labels) == found.estimates["informedness"]
    everything = evaluate(CLASSES, y_pred=labels, measures="all").estimates
    assert {"balanced_accuracy", "macro_f1", *names} < set(everything)
    assert "hand_till" not in everything
    with pytest.warns(UserWarning, match="1 class never occurs"):
        of_one_class = evaluate([1, 1, 1], y_pred=[1, 1, 0])
    assert of_one_class.estimates["accuracy"].value == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_probabilities_of_one_class_and_of_both_give_the_same_table():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=90)
    one = 1 / (1 + np.exp(-2 * (rng.normal(size=90) + 2 * true - 1)))
    both, predicted = np.stack([1 - one, one], axis=1), (one > 0.5).astype(int)
    tables = [
        evaluate(true, score, y_pred=predicted, measures="all").to_pandas() for score in (one, both)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9, atol=1e-12)


def test_scores_of_one_class_are_judged_by_hard_labels_alone():
    predictions = dmfroc.Predictions.from_labels(["a", "a"], ["a", "b"])
    assert dmfroc.evaluate(predictions, measures=["accuracy"]).estimates["accuracy"].value == 0.5
    with pytest.raises(ValueError, match=r"one class only .* except for measures of hard labels"):
        dmfroc.evaluate(predictions, measures=["accuracy", "hand_till"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_many_measures_are_printed_by_the_questions_they_answer_each_value_once():
    y, scores = normal_scores(0, 200, 2, 1.0)
    found = evaluate(y, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), measures="all")
    text = found.as_text(warnings=False)
    questions = ["in order?", "thresholds give?", "probabilities right?", "decisions right?"]
    places = [text.index(x) for x in questions]
    assert places == sorted(places)
    assert text.index("\nAUC ") < places[1] < text.index("\nBrier score") < places[3]
    assert "AUC-mu" not in text
    assert found["auc_mu"].value == found["hand_till"].value
    assert {"auc_mu", "hand_till"} <= set(found.as_json()["estimates"])
