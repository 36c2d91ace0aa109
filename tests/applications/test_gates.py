"""Gates: verdicts, what decides them, and the workflows of the page as printed."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import dmfroc

RNG = np.random.default_rng(3)
Y = RNG.integers(3, size=300)
SITE = RNG.choice(["north", "south"], size=300)
NEW = softmax(RNG.normal(size=(300, 3)) + 1.7 * np.eye(3)[Y], axis=1)
OLD = softmax(RNG.normal(size=(300, 3)) + 1.5 * np.eye(3)[Y], axis=1)
PAGE = Path(__file__).parents[2] / "docs" / "gates.md"


def one(rule, y=Y, scores=NEW, **options):
    """Return the verdict on one rule."""
    [found] = dmfroc.applications.gate([rule], y, scores, **options).rules
    return found


@pytest.mark.parametrize("measure", ["hand_till", "log_loss", "informedness"])
def test_the_whole_interval_decides(measure):
    low, high = dmfroc.estimate(measure, Y, NEW).interval
    for key, (passes, between, fails) in {
        "at_least": (low, (low + high) / 2, np.nextafter(high, 9)),
        "at_most": (high, (low + high) / 2, np.nextafter(low, -9)),
    }.items():
        for threshold, verdict in ((passes, "pass"), (between, "inconclusive"), (fails, "fail")):
            found = one({"measure": measure, key: threshold})
            assert found.verdict == verdict
            assert found.interval == (low, high)
    both = {"measure": measure, "at_least": low, "at_most": high}
    assert one(both).verdict == "pass"
    assert one(both | {"at_most": (low + high) / 2}).verdict == "inconclusive"


@pytest.mark.parametrize("measure", ["accuracy", "brier_score"])
def test_differences_are_those_of_compare_and_positive_if_better(measure):
    both = {"new": NEW, "old": OLD}
    [difference] = dmfroc.compare(Y, both, measures=measure).differences
    sign = 1 if measure == "accuracy" else -1
    found = one({"measure": measure, "better_than": "old"}, scores=both)
    assert found.value == sign * difference.value > 0
    assert sorted(found.interval) == pytest.approx(sorted(sign * x for x in difference.interval))
    slack = -found.interval[0] if found.interval[0] < 0 else 0.001
    rule = {"measure": measure, "no_worse_than": "old", "margin": slack + 1e-3}
    assert one(rule, scores=both).verdict == "pass"
    assert one(rule | {"margin": 1e-9}, scores={"new": OLD, "old": NEW}).value == -found.value


def test_the_worst_group_needs_no_adjustment_to_pass_and_one_to_fail():
    rule = {"measure": "accuracy", "at_least": 0.5, "worst_of": "site"}
    of_sites = {x: dmfroc.estimate("accuracy", Y[x == SITE], NEW[x == SITE]) for x in set(SITE)}
    worst = min(of_sites, key=lambda x: of_sites[x].interval[0])
    found = one(rule, by={"site": SITE})
    assert found.rule == f"at least 0.5, worst of site: {worst}"
    assert found.interval[0] == of_sites[worst].interval[0]
    rows = worst == SITE
    joint = dmfroc.estimate("accuracy", Y[rows], NEW[rows], level=0.975)
    assert found.interval[1] == joint.interval[1] > of_sites[worst].interval[1]


def test_a_group_without_a_class_or_with_one_patient_is_inconclusive():
    rule = {"measure": "hand_till", "at_least": 0.1, "worst_of": "site"}
    alone = np.where(np.arange(300) == 0, "alone", SITE)
    found = one(rule, by={"site": alone})
    assert found.verdict == "unattainable"
    assert "alone (lacks class" in found.rule
    groups = np.where(SITE == "north", "one patient", np.arange(300).astype(str))
    assert one(rule, by={"site": SITE}, groups=groups).verdict == "unattainable"


def test_adjusted_rules_hold_at_once():
    rules = [{"measure": "accuracy", "at_least": 0.5}, {"measure": "hand_till", "at_least": 0.5}]
    found = dmfroc.applications.gate({"rule": rules, "adjust": True, "level": 0.9}, Y, NEW)
    for x in found.rules:
        assert x.interval == dmfroc.estimate(x.name, Y, NEW, level=0.95).interval


@pytest.mark.parametrize("n", [4, 10, 40])
def test_what_no_perfect_sample_reaches_is_unattainable(n):
    y = np.arange(n) % 2
    low = dmfroc.estimate("accuracy", y, y * 1.0, y_pred=y).interval[0]
    for at_least, verdict in ((low, "inconclusive"), (low + 1e-6, "unattainable")):
        wrong = np.where(np.arange(n) < 2, 1 - y, y)
        found = one({"measure": "accuracy", "at_least": at_least}, y, wrong * 1.0, y_pred=wrong)
        assert found.verdict == verdict
    high = (low + 3) / 4  # a quarter of the loss
    found = one({"measure": "accuracy", "at_least": high}, y, wrong * 1.0, y_pred=wrong)
    assert found.verdict in ("unattainable", "fail")
    if found.verdict == "unattainable":
        assert "it would need 4 times as many" in found.reason


@pytest.mark.filterwarnings("ignore:the same scores", "ignore:all scores are the same")
@pytest.mark.parametrize("scores", [np.arange(6.0) % 2, np.zeros(6)])
def test_identical_answers_are_never_a_verdict(scores):
    y = np.arange(6) % 2
    both = {"a": scores, "b": scores}
    for rule in ({"better_than": "b"}, {"no_worse_than": "b", "margin": 0.1}):
        found = one({"measure": "hand_till", **rule}, y, both)
        assert found.verdict in ("inconclusive", "unattainable")
    unbounded = dmfroc.applications.items(
        {"a": [2.0, 2, 2], "b": [2.0, 2, 2]}, bounds=(-np.inf, np.inf)
    )
    assert (
        one({"measure": "mean_score", "at_least": 1.5}, unbounded, None).verdict == "inconclusive"
    )


def test_identical_input_gives_identical_verdicts():
    rules = [{"measure": "h_measure", "at_least": 0.4}]  # by a bootstrap
    y, s = (Y > 0).astype(int), NEW[:, 0] * -1
    assert dmfroc.applications.gate(rules, y, s) == dmfroc.applications.gate(rules, y, s)


def test_plans_say_what_would_decide():
    estimate = dmfroc.estimate("hand_till", Y, NEW)
    gap = 0.5 * (estimate.value - estimate.interval[0])
    pilot = dmfroc.Predictions.from_arrays(Y, NEW)
    planned = dmfroc.applications.plan(pilot, measure="hand_till", difference=gap)
    found = one({"measure": "hand_till", "at_least": estimate.value - gap})
    assert found.reason.startswith(f"about {planned.n:,} rows ({planned.class_counts[0]:,} of 0")
    folds = one(
        {"measure": "hand_till", "at_least": estimate.value - gap}, folds=np.arange(300) % 3
    )
    assert "times as many rows" in folds.reason


def test_all_kinds_of_evidence(tmp_path):
    rule = {"measure": "hand_till", "at_least": 0.6}
    pd.DataFrame(NEW, columns=["p_0", "p_1", "p_2"]).assign(y=Y).to_parquet(tmp_path / "s.parquet")
    scan = dmfroc.scan(str(tmp_path / "s.parquet"), label="y", scores=["p_0", "p_1", "p_2"])
    new, old = (dmfroc.counted.Accumulator([0, 1, 2]) for _ in range(2))
    new.update(Y, NEW)
    old.update(Y, OLD)
    partly = np.where(np.arange(300) < 200, Y.astype(float), np.nan)
    for y, scores, options in (
        (dmfroc.Predictions.from_arrays(Y, NEW), None, {}),
        (scan, None, {}),
        (new, None, {}),
        (Y, NEW, {"folds": np.arange(300) % 5}),
        (Y, NEW, {"groups": np.arange(300) // 3}),
        (Y, NEW, {"population": [0.2, 0.3, 0.5]}),
        (partly, NEW, {"judge": Y}),
        (Y, {"new": NEW, "old": OLD}, {"method": dmfroc.Bootstrap(200)}),
    ):
        assert one(rule, y, scores, **options).verdict == "pass"
    both = {"new": new, "old": old}
    found = one({"measure": "hand_till", "no_worse_than": "old", "margin": 0.2}, both, None)
    assert found.verdict == "pass"
    unpaired = one(
        {"measure": "hand_till", "better_than": "old"},
        {"new": dmfroc.Predictions.from_arrays(Y, NEW),
         "old": dmfroc.Predictions.from_arrays(Y[:200], NEW[:200])}, None, paired=False,
    )  # fmt: skip
    assert unpaired.verdict == "inconclusive"
    with pytest.raises(ValueError, match="worst_of needs paired rows in memory"):
        one(rule | {"worst_of": "site"}, scan, None, by={"site": SITE})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"measure": "accuracy", "at_leest": 1}], "rule 1 has the key 'at_leest'.*'at_least'"),
        ({"rules": []}, "rules has the key 'rules'.*'rule'"),
        ([{"at_least": 1}], "rule 1 has no measure"),
        ([{"measure": "acuracy", "at_least": 1}], "rule 1: measure must be the name.*accuracy"),
        ([{"measure": "accuracy"}], "rule 1: give one of.*none"),
        ([{"measure": "accuracy", "at_least": 0, "better_than": "b"}], "better_than, at_least"),
        ([{"measure": "accuracy", "no_worse_than": "b"}], "needs a margin above 0"),
        ([{"measure": "accuracy", "at_least": 0.5, "margin": 0.1}], "margin goes with"),
        ([{"measure": "accuracy", "at_least": 0.6, "at_most": 0.5}], "must not be above"),
        ([{"measure": "accuracy", "at_least": float("nan")}], "must not be above"),
        ([{"measure": "accuracy", "at_least": "high"}], "at_least must be a number"),
        ([{"measure": "accuracy", "at_least": 80}], "range of accuracy, 0 to 1, .* at least 80"),
        ([{"measure": "accuracy", "at_most": -0.1}], "range of accuracy, 0 to 1, .* at most -0.1"),
        ([{"measure": "accuracy", "at_least": 0.5, "level": 5}], "level must be between"),
        ([{"measure": "calibration_slope", "better_than": "b"}], "neither a greater nor a smaller"),
        ([{"measure": "accuracy", "no_worse_than": "b", "margin": 1}], "margin must be less than"),
        ([], "rule must hold at least one"),
        ([3], "rule 1 must be a table"),
        (b"x", "rule must be a list"),
    ],
)
def test_rules_are_checked_before_data(rules, message):
    with pytest.raises((ValueError, TypeError), match=message):
        dmfroc.applications.gate(rules, object(), object())


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"measure": "accuracy", "better_than": "ol"}, "'ol' is no classifier.*'old'"),
        ({"measure": "accuracy", "at_least": 0, "worst_of": "sit"}, "is no column of by.*'site'"),
        ({"measure": "pass_at(2)", "at_least": 0}, "is a measure of items"),
    ],
)
def test_what_rules_name_must_be_given(rule, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.applications.gate([rule], Y, {"new": NEW, "old": OLD}, by={"site": SITE})
    found = dmfroc.applications.items({"a": [0, 1, 1]})
    with pytest.raises(ValueError, match="is a measure of classes"):
        dmfroc.applications.gate([{"measure": "accuracy", "at_least": 0}], found)


def test_items():
    right = (RNG.random((80, 4)) < RNG.beta(2, 1, 80)[:, None]) * 1.0
    less = np.where(RNG.random((80, 4)) < 0.3, 0, right)
    found = dmfroc.applications.items({"new": right, "old": less})
    estimate, difference = found.pass_at(2)["new"], found.pass_at(2).differences[0]
    assert (
        one({"measure": "pass_at(k=2)", "at_least": 0}, found, None).interval == estimate.interval
    )
    better = one({"measure": "pass_at(2)", "better_than": "old"}, found, None)
    assert (better.value, better.interval) == (difference.value, difference.interval)
    # The quantile .025 of Beta(n + 1/4, 3/4) is above 0.99 from n = 312 on, and there are 100
    never = one({"measure": "mean_score", "at_least": 0.99, "worst_of": "by"}, found, None,
                by=np.arange(80) % 2)  # fmt: skip
    assert never.verdict == "fail"
    nearly = dmfroc.applications.items({"a": np.append(np.ones(99), 0.5)})
    out_of_reach = one({"measure": "mean_score", "at_least": 0.99}, nearly, None)
    assert out_of_reach.verdict == "unattainable"
    assert "it would need 3.1 times as many" in out_of_reach.reason
    few = one(
        {"measure": "mean_score", "at_most": 0.03},
        dmfroc.applications.items({"a": [0, 0, 1]}),
        None,
    )
    assert few.verdict == "unattainable"


def test_outputs():
    rules = [
        {"measure": "accuracy", "at_least": 0.5, "name": "a|b<c>"},
        {"measure": "accuracy", "at_least": 0.999},
        {"measure": "accuracy", "at_least": round(dmfroc.estimate("accuracy", Y, NEW).value, 3)},
    ]
    found = dmfroc.applications.gate(rules, Y, NEW)
    assert (found.verdict, found.exit_code) == ("fail", 1)
    suite = xml.fromstring(found.to_junit())
    assert [suite.get(x) for x in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert [[kind.tag for kind in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[0].get("name").startswith("a|b<c> at least")
    assert found.to_markdown().startswith("**Gate: fail (1 of 3 rules pass)**\n\n| rule |")
    assert re.search(r"about .* rows", str(found), re.DOTALL)
    assert "more column" not in str(found)
    read = json.loads(found.to_json())
    assert [x["verdict"] for x in read["rules"]] == ["pass", "fail", "inconclusive"]
    assert read["exit_code"] == 1
    [data] = re.findall(r'id="data">(.*?)</script>', found.to_html(), re.DOTALL)
    page = json.loads(data)
    assert page["verdict"] == "fail"
    assert page["sentences"][0].startswith("Gate: fail (1 of 3 rules pass)")


def write_data(folder):
    """Write the files that the workflows of the page read."""
    for name, strength in (("new", 2.0), ("old", 1.9)):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=900)
        scores = np.exp(rng.normal(size=(900, 3)) + strength * np.eye(3)[y])
        table = pd.DataFrame(scores / scores.sum(axis=1, keepdims=True), columns=list("abc"))
        table["species"], table["site"] = np.array(list("abc"))[y], np.arange(900) % 3
        table.assign(patient=np.arange(900) // 3).to_csv(folder / f"{name}.csv", index=False)
        answers = (rng.random((200, 3)) < rng.beta(2, 1, 200)[:, None]) * 1
        table = pd.DataFrame(answers, columns=["try_1", "try_2", "try_3"])
        table["question"] = np.arange(200)
        table.sample(frac=1, random_state=1).to_csv(folder / f"{name}_answers.csv", index=False)


@pytest.mark.slow
def test_the_workflows_of_the_page_run_as_printed(tmp_path, monkeypatch):
    text = PAGE.read_text(encoding="utf-8")
    for name, content in re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    write_data(tmp_path)
    commands = re.findall(r"^(?: *- | *)(dmfroc gate .*)$", text, re.MULTILINE)
    command = f"{sys.executable} -m dmfroc"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    codes = [
        subprocess.run(
            ["bash", "-c", line.replace("dmfroc", command, 1)], cwd=tmp_path, check=False
        ).returncode
        for line in commands
    ]
    assert codes == [0, 1, 3]
    assert (tmp_path / "summary.md").read_text().startswith("**Gate: pass (3 of 3 rules pass)**")
    assert xml.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"
    assert json.loads((tmp_path / "gate.json").read_text())["verdict"] == "inconclusive"


def test_a_limit_next_to_the_value_is_inconclusive():
    none_right = dmfroc.applications.items({"a": [0.0] * 20})
    rule = {"measure": "mean_score", "at_least": 1e-200}
    assert dmfroc.applications.gate([rule], none_right).verdict == "inconclusive"


def test_the_perfect_sample_beside_an_inconclusive_rule_is_not_taken_for_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    found = dmfroc.applications.gate(
        [{"measure": "hand_till", "at_least": 0.8}], y, rng.normal(size=300) + 1.2 * y
    )  # warnings are errors
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("measure", "at_most", "certainty"),
    [("log_loss", 0.6, 0.95), ("brier_score", 0.0257, 0.98), ("d2_log_loss", None, 0.95)],
)
def test_no_rule_about_probabilities_is_unattainable_that_less_certain_ones_pass(
    measure, at_most, certainty
):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    right = np.eye(3)[y]
    drawn = {gain: softmax(rng.normal(size=(120, 3)) + gain * right, axis=1) for gain in (1.5, 3.0)}
    rule = {"measure": measure} | ({"at_least": 0.4} if at_most is None else {"at_most": at_most})
    certain, rest = (one(rule, y, x * right + (1 - x) / 2 * (1 - right)) for x in (1, certainty))
    assert (certain.verdict, rest.verdict) == ("inconclusive", "pass")
    if measure != "brier_score":  # this model fails
        assert one(rule, y, drawn[1.5]).verdict == "inconclusive"
        assert one(rule, y, drawn[3.0]).verdict == "pass"
    margin = {"measure": measure, "better_than": "b", "margin": 0.3}
    both = one(margin, y, {"a": drawn[3.0], "b": drawn[1.5]})
    assert both.verdict != "unattainable"
