"""One list of facts about a design: what changes the meaning of a value is in every output."""

import json
from html import escape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from option_names import option_names

import dmfroc
from dmfroc._kit.text import on_one_line
from dmfroc.applications import choose_threshold, decision_curve
from dmfroc.cli.commands import app
from dmfroc.results.text import facts

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(0)
N = 120
Y = np.arange(N) % 2
P = np.clip(0.3 + 0.4 * Y + RNG.normal(size=N) / 4, 0.02, 0.98)
TIME = pd.Series(RNG.exponential(2 - P), name="months")


def at(**others):
    return {"follow_up": dmfroc.FollowUp(TIME, 1.5, **others)}


AT = at()
KNOWN = (TIME >= 1.5) | (Y == 1)
OF_HORIZON = {
    "at": 1.5, "time": "months", "rows": N, "known": int(KNOWN.sum()),
    "censored": int((~KNOWN).sum()),
}  # fmt: skip
FOLDS, WEIGHTS, GROUPS = np.arange(N) // 2 % 3, 1 + np.arange(N) % 3, np.arange(N) // 4
IS_VERIFIED = RNG.random(N) < 0.6
OF_JUDGE = {"rows": N, "verified": int(IS_VERIFIED.sum()), "others": int((~IS_VERIFIED).sum())}
JUDGE = np.where(RNG.random(N) < 0.9, Y, 1 - Y)
HIDDEN = {"y_true": np.where(IS_VERIFIED, Y, None)}

# Each option, in a call of it, with the facts that it adds to the list; None: no option of its own
OPTIONS = {
    "labels": ({"labels": [1, 0]}, {"labels": [1, 0]}),
    "sample_weight": ({"sample_weight": WEIGHTS}, {"weights": "one per row, as given"}),
    "frequency_weight": (
        {"frequency_weight": WEIGHTS},
        {"frequency_weight": {"rows": N, "observations": int(WEIGHTS.sum())}},
    ),
    "y_pred": ({"y_pred": (P > 0.4).astype(int)}, {"hard_labels": "as given"}),
    "pos_label": ({"pos_label": 0}, {"positive_class": 0}),
    "pos_label of all": None,  # in whose results the names of the classes are
    "folds": ({"folds": FOLDS}, {"folds": 3}),
    "folds of the learner": (
        {"folds": dmfroc.Folds(FOLDS, "learner")},
        {"folds": 3, "target": "learner"},
    ),
    "folds of a share": (
        {"folds": dmfroc.Folds(FOLDS, "learner", 0.5)},
        {"folds": 3, "target": "learner", "train_fraction": 0.5},
    ),
    "judge": (HIDDEN | {"judge": JUDGE}, {"judge": OF_JUDGE | {"drawn": "alike"}}),
    "judge with probability": (
        HIDDEN | {"judge": dmfroc.Judge(JUDGE, probability=np.full(N, 0.6))},
        {"judge": OF_JUDGE | {"drawn": "as given"}},
    ),
    "judge with strata": (
        HIDDEN | {"judge": dmfroc.Judge(JUDGE, strata=Y)},
        {"judge": OF_JUDGE | {"drawn": "as given"}},
    ),
    "population": ({"population": 0.1}, {"class_shares": {"0": 0.9, "1": 0.1}}),
    "population of importance": (
        {"population": dmfroc.Importance(WEIGHTS)},
        {"importance": "as given"},
    ),
    "follow_up": (AT, {"horizon": OF_HORIZON | {"censoring": "kaplan-meier"}}),
    "follow_up of censored": (
        at(censored=1) | {"y_true": Y + 1},
        {"horizon": OF_HORIZON | {"censoring": "kaplan-meier"}},
    ),
    "follow_up with chances": (
        at(censoring=np.full(N, 0.9)),
        {"horizon": OF_HORIZON | {"censoring": "given"}},
    ),
    "follow_up in strata": (
        at(censoring="strata", by=Y),
        {"horizon": OF_HORIZON | {"censoring": "strata"}},
    ),
    "follow_up with ties": (
        at(ties="left_out"),
        {"horizon": OF_HORIZON | {"ties": "left_out", "censoring": "kaplan-meier"}},
    ),
    "groups": ({"groups": GROUPS}, {"independent_units": N // 4}),
    "stratify": ({"stratify": True}, {"class_sizes": "fixed"}),
    "method": None,  # which all outputs name
    "method with interval": (
        {"method": dmfroc.Bootstrap(100, "percentile")},
        {"interval_type": "percentile, extended to the limits of the jackknife if these are wider"},
    ),
    "level": None,
    "random_state": None,  # changes no meaning
}


def assert_says(result, expected, with_report=True):
    printed, content = on_one_line(str(result)), json.loads(result.to_json())
    assert content["design"] == json.loads(json.dumps(expected))
    page = result.to_html() if with_report else None
    for title, text in facts(expected).items():
        assert f"{title}: {text}" in printed
        assert page is None or f"<dt>{title}</dt><dd>{escape(text)}</dd>" in page


def test_no_option_is_forgotten():
    own = {"measure", "y_true", "y_score"}
    assert {x.split()[0] for x in OPTIONS} == set(option_names(dmfroc.estimate)) - own


def call(function, given):
    given = dict(given)
    y = given.pop("y_true", Y)
    two = {"a": P, "b": P**2}
    match function:
        case "estimate":
            return dmfroc.estimate("brier_score", y, P, **given)
        case "evaluate":
            return dmfroc.evaluate(y, P, measures=["hand_till", "brier_score"], **given)
        case "gate":
            rules = [{"measure": "brier_score", "at_most": 0.5}]
            return dmfroc.applications.gate(rules, y, P, **given)
    if "y_pred" in given:
        given["y_pred"] = dict.fromkeys(two, given["y_pred"])
    return dmfroc.compare(y, two, measures="brier_score", **given)


@pytest.mark.parametrize("option", [x for x in OPTIONS if OPTIONS[x] is not None])
def test_each_option_is_in_all_outputs(option):
    given, expected = OPTIONS[option]
    for function in ("estimate", "evaluate", "compare", "gate"):
        assert_says(call(function, given), expected, with_report=function == "estimate")


@pytest.mark.parametrize("function", ["evaluate", "compare", "gate"])
def test_reports_of_many_options(function):
    given = {"sample_weight": WEIGHTS, "groups": GROUPS, "stratify": False, "pos_label": 1} | AT
    found = call(function, given)
    assert list(found.design) == [
        *("weights", "positive_class", "independent_units", "class_sizes", "horizon")
    ]
    assert_says(found, found.design)
    plain = call(function, {})
    assert "design" not in plain.as_json()
    page = plain.to_html()
    for title in ("Weights", "Horizon", "Folds", "Independent units"):
        assert f"{title}:" not in str(plain)
        assert f"<dt>{title}" not in page


def test_known_rows_are_told_from_all_rows(cases_directory):
    """The report says that of 220 rows 42 are censored before 36 months."""
    table = pd.read_csv(cases_directory / "third" / "survival12.csv")
    given = table.status, table.risk.to_numpy()
    found = dmfroc.evaluate(*given, follow_up=dmfroc.FollowUp(table.months, 36, censored=1))
    n_censored = ((table.status == 1) & (table.months < 36)).sum()
    of_horizon = {"at": 36, "time": "months", "rows": len(table), "censored": n_censored}
    of_horizon |= {"known": len(table) - n_censored, "censoring": "kaplan-meier"}
    assert found.design["horizon"] == of_horizon
    assert "one per row, as given" not in found.to_html()
    at_both = dmfroc.FollowUp(table.months, [12, 36], censored=1)
    several = dmfroc.evaluate(*given, follow_up=at_both)
    assert_says(several, several.design)
    assert several.design["horizon"]["at"] == [12, 36]
    assert several.design["horizon"]["rows"] == len(table)
    assert several.points["hand_till"][1].design == found["hand_till"].design


def test_facts_of_independent_samples_and_of_several_measures():
    samples = {
        "a": dmfroc.Predictions.from_arrays(Y, P, sample_weight=WEIGHTS),
        "b": dmfroc.Predictions.from_arrays(Y[:80], P[:80]),
    }
    found = dmfroc.compare(samples, paired=False, measures="hand_till")
    weights = ["one per row, as given", None]
    assert_says(found, {"weights": weights, "samples": "independent"}, with_report=False)
    assert "Weights: one per row, as given / None; Samples: independent" in str(found)
    two = dmfroc.compare(Y, {"a": P, "b": P**2}, measures="hand_till,brier_score", folds=FOLDS)
    assert_says(two, {"folds": 3}, with_report=False)


def of_other_analyses():
    by, y3 = np.arange(N) // 2 % 2, RNG.integers(3, size=N)
    shares = {0: 0.8, 1: 0.2}
    scores, two = np.eye(3)[y3] + RNG.normal(size=(N, 3)), np.stack([Y, 1 - Y], 1)
    return {
        "subgroups": (
            lambda: dmfroc.compare_subgroups(Y, P, by, measures="hand_till", groups=GROUPS,
                                             sample_weight=WEIGHTS),
            {"weights": "one per row, as given", "independent_units": N // 4},
        ),
        "subgroups in folds": (
            lambda: dmfroc.compare_subgroups(Y, P, by, measures="hand_till", folds=by * 0 + FOLDS),
            {"folds": 3},
        ),
        "decision curve": (
            lambda: decision_curve(Y, P, thresholds=[0.3], prevalence=0.1, groups=GROUPS),
            {"independent_units": N // 4, "prevalence": 0.1},
        ),
        "decision curve of costs": (
            lambda: decision_curve(Y, P, thresholds=[0.3], costs=lambda t: [[0, t], [1 - t, 0]]),
            {"costs": "as given"},
        ),
        "decision curve at a horizon": (
            lambda: decision_curve(Y, P, thresholds=[0.3], **AT),
            {"horizon": OF_HORIZON | {"censoring": "kaplan-meier"}},
        ),
        "threshold": (
            lambda: choose_threshold(Y, P, n_draws=100, by="cost", cost_fp=2,
                                     population=shares),
            {"class_shares": {"0": 0.8, "1": 0.2}, "cost_fp": 2, "cost_fn": 1},
        ),
        "thresholds of three classes": (
            lambda: choose_threshold(y3, scores, n_draws=100, by="specificity", at_least=0.5,
                                     sample_weight=WEIGHTS),
            {"weights": "one per row, as given", "at_least": 0.5},
        ),
        "calibration": (
            lambda: dmfroc.applications.calibration_tests(Y, 1 - P, n_draws=99, labels=[1, 0]),
            {"labels": [1, 0]},
        ),
        "several labels": (
            lambda: dmfroc.applications.multilabel(two, np.stack([P, 1 - P], 1), groups=GROUPS),
            {"rows": N, "labels": 2, "average": "macro", "independent_units": N // 4},
        ),
        "several labels of two classifiers": (
            lambda: dmfroc.applications.multilabel(
                two, {"a": two + P[:, None], "b": two * P[:, None]}, average="micro"
            ),
            {"rows": N, "labels": 2, "average": "micro"},
        ),
        "importance by features": (
            lambda: dmfroc.estimate(
                "hand_till", Y, P, population=dmfroc.Importance(P[:, None], P[:60, None])
            ),
            {"importance": "estimated from 60 rows of the target"},
        ),
        "curve weights": (
            lambda: dmfroc.evaluate(y3, scores, pair_weights="prevalence"),
            {"pair_weights": "prevalence"},
        ),
    }  # fmt: skip


@pytest.mark.parametrize("analysis", of_other_analyses())
def test_other_analyses(analysis):
    function, expected = of_other_analyses()[analysis]
    assert_says(function(), expected)


def test_counted_samples(tmp_path):
    names = {"y": Y, "p_0": 1 - P, "p_1": P, "w": WEIGHTS, "patient": GROUPS}
    pd.DataFrame(names).to_parquet(tmp_path / "x.parquet")
    options = {"label": "y", "scores": ["p_0", "p_1"], "sample_weight": "w", "groups": "patient"}
    scan = dmfroc.scan(tmp_path / "x.parquet", **options)
    expected = {"weights": "one per row, as given", "independent_units": "groups of rows"}
    assert_says(dmfroc.evaluate(scan, measures="hand_till"), expected, with_report=False)
    assert_says(dmfroc.estimate("hand_till", scan), expected)


def test_the_command_names_columns(tmp_path):
    file = tmp_path / "x.csv"
    table = pd.DataFrame({"y": Y, "p": P, "months": TIME, "patient": GROUPS})
    table.to_csv(file, index=False)
    call = ["evaluate", str(file), "--label", "y", "--scores", "p", "--groups", "patient"]
    table["split"] = np.where(np.arange(N) < 100, "test", "train")
    table.to_csv(file, index=False)
    for columns, expected in (
        (["--where", "split=test"], "Where: split test"),
        (["--drop-label", "5", "--ignore", "split"], "Drop label: 5"),
        (["--time", "months", "--horizon", "1.5"], "Horizon: at 1.5, time months, rows 120"),
        (["--threshold", "0.4", "--measures", "accuracy"], "Hard labels: score >= 0.4"),
    ):
        found = CliRunner().invoke(app, [*call, *columns])
        assert expected in found.output
        assert "Independent units: " in found.output
        content = json.loads(CliRunner().invoke(app, [*call, *columns, "--json"]).output)
        assert content["design"]["independent_units"] == (25 if "--where" in columns else 30)
