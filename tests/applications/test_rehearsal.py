"""Rehearsals: the population is like the data, and the counted shares are those of its samples."""

import json
from functools import partial
from subprocess import run
from sys import executable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

import dmfroc
from dmfroc import Folds, FollowUp, Judge, Predictions, compare, estimate, evaluate
from dmfroc.applications import gate, rehearse
from dmfroc.applications.rehearsal import _population, _smoothed
from dmfroc.extend import Options

RNG = np.random.default_rng(4)
Y = np.arange(120) % 3
SCORES = np.exp(RNG.normal(size=(120, 3)) + 1.5 * np.eye(3)[Y])
SCORES /= SCORES.sum(axis=1, keepdims=True)
ACCURACY = partial(estimate, "accuracy")


def sample_of(y_true, y_score=None, **options):
    """Return the arguments of a sample, and of the whole population."""
    design, generator = Options(**options), np.random.default_rng(1)
    everybody, draw = _population(y_true, y_score, design, options, generator)
    return draw(np.random.default_rng(2)), everybody


@pytest.mark.slow
def test_the_share_that_holds_is_the_exact_coverage_of_a_proportion():
    n, right = 40, 35
    y = np.arange(n) % 2
    hard = np.where(np.arange(n) < right, y, 1 - y)
    found = rehearse(ACCURACY, y, y_pred=hard, n_samples=300)
    [x] = found.rehearsed
    assert x.true_value == pytest.approx(right / (n + 0.5), abs=3e-3)
    holds = []
    for k in range(20, n + 1):
        low, high = estimate("accuracy", y, y_pred=np.where(np.arange(n) < k, y, 1 - y)).interval
        holds.append(low <= x.true_value <= high)
    coverage = binom.pmf(np.arange(20, n + 1), n, x.true_value) @ np.array(holds)
    n_held = round(300 * x.held.value)
    assert binomtest(n_held, 300, coverage).pvalue > 0.01
    exact = binomtest(n_held, 300).proportion_ci()
    assert x.held[1:] == pytest.approx((exact.low, exact.high))
    assert found.result == estimate("accuracy", y, y_pred=hard)


def test_smoothed_rows_are_probabilities_of_their_class_and_ties_stay():
    given = {"a": Predictions.from_arrays(Y, SCORES), "b": Predictions.from_arrays(Y, SCORES > 0.4)}
    people = _smoothed(given, np.arange(120), np.random.default_rng(0))
    a, b = people.own["a"], people.own["b"]
    np.testing.assert_allclose(a.scores.sum(axis=1), 1)
    assert a.scores.min() >= SCORES.min()
    assert a.scores.max() <= SCORES.max()
    assert len(np.unique(a.scores[:, 0])) > 25_000
    assert set(np.unique(b.scores)) == {0, 1}
    assert np.array_equal(a.predicted, a.scores.argmax(axis=1))
    n_copies = 30_000 // 120
    assert np.array_equal(np.bincount(a.true[: 120 * n_copies]), [40 * n_copies] * 3)
    assert len(people.first) == 120 * n_copies + n_copies // 2
    first = dmfroc.estimate("hand_till", Predictions.from_arrays(Y, SCORES)).value
    assert abs(dmfroc.estimate("hand_till", a).value - first) < 0.01


@pytest.mark.slow
def test_a_perfect_sample_may_have_errors_in_its_population():
    found = rehearse(partial(estimate, "auc"), Y > 0, 1.0 * (Y > 0) + SCORES[:, 0], n_samples=50)
    assert found.result.value == 1 > found.rehearsed[0].true_value > found.result.interval[0]
    both = {"a": np.eye(3)[Y], "b": 0.4 * np.eye(3)[Y] + 0.2}
    found = rehearse(compare, Y, both, measures="accuracy", n_samples=50)
    assert [x.true_value for x in found.rehearsed[:2]] < [1, 1]


def test_groups_are_drawn_whole_and_folds_and_fixed_classes_keep_their_sizes():
    drawn, everybody = sample_of(Y, SCORES, groups=np.arange(120) // 6)
    p = drawn["y_true"]
    assert np.array_equal(np.bincount(drawn["groups"]), [6] * 20)
    assert np.array_equal(p.class_counts, [40] * 3)
    assert "groups" not in everybody
    folds = np.array([1, 1, 2, 2, 2, 3])[np.arange(120) % 6]
    drawn, _ = sample_of(Y, SCORES, folds=folds)
    assert np.array_equal(np.bincount(drawn["y_true"].folds), [40, 60, 20])
    sizes = [
        sample_of(Y, SCORES, stratify=s)[0]["y_true"].class_counts.tolist() for s in (True, None)
    ]
    assert sizes[0] == [40] * 3 != sizes[1]


def test_as_many_rows_are_verified_and_censored():
    said, truth = np.roll(Y, 1), np.where(np.arange(120) < 60, Y, np.nan)
    strata = np.arange(120) % 2
    drawn, everybody = sample_of(truth, SCORES, judge=Judge(said, strata=strata))
    known = pd.notna(drawn["y_true"])
    assert len(known) == 120
    assert abs(known.sum() - 60) < 20
    assert set(drawn["judge"].strata) == {0, 1}
    assert everybody["y_true"].true.max() == 2
    time = RNG.exponential(size=4000)
    event, risk = RNG.integers(2, size=4000), RNG.random(4000)
    kept = FollowUp(time, 0.8)
    drawn, everybody = sample_of(event, risk, follow_up=kept)
    again = drawn["follow_up"].time
    assert len(again) == 4000
    for at in (0.2, 0.5, 0.8):  # events and censoring are as frequent as they were
        for kind in (0, 1):
            before = ((time < at) & (event == kind)).mean()
            now = ((again < at) & (drawn["y_true"].true == kind)).mean()
            assert now == pytest.approx(before, abs=0.03)


def test_times_and_judges_are_matched_by_index():
    index = RNG.permutation([f"row {place}" for place in range(120)])
    order = RNG.permutation(120)
    time, event = RNG.exponential(size=120), pd.Series(Y > 0, index).astype(int)
    risk = pd.Series(1 / (1 + time) + RNG.normal(size=120) / 9, index)
    design = {"follow_up": FollowUp(time, 0.8)}, {"judge": Judge(np.roll(Y, 1))}
    mixed = (
        {"follow_up": FollowUp(pd.Series(time, index).iloc[order], 0.8)},
        {"judge": Judge(pd.Series(np.roll(Y, 1), index).iloc[order])},
    )
    truth = pd.Series(np.where(np.arange(120) < 90, Y, np.nan), index)
    scores = pd.DataFrame(SCORES, index)
    for analysed, given, by_index in zip(
        ((event, risk), (truth, scores)), design, mixed, strict=True
    ):
        measure = partial(estimate, "auc" if "follow_up" in given else "accuracy")
        a, b = (rehearse(measure, *analysed, **x, n_samples=5) for x in (given, by_index))
        assert a == b


def test_verdicts_of_rules_and_differences():
    rules = [{"measure": "accuracy", "at_least": 0.3}, {"measure": "accuracy", "at_least": 0.99}]
    found = rehearse(partial(gate, rules), Y, SCORES, n_samples=40)
    names = ["accuracy at least 0.3", "accuracy at least 0.99", "all rules"]
    assert [x.name for x in found.rehearsed] == names
    assert [(x.wrong.value, x.undecided) for x in found.rehearsed] == [(0, 0)] * 3
    assert found.result.verdict == "fail"
    twins = {"a": SCORES, "b": RNG.permuted(SCORES, axis=1)}
    found = rehearse(compare, Y, twins, measures="hand_till", n_samples=30)
    assert found.rehearsed[-1].name == "a \N{MINUS SIGN} b"
    assert found.rehearsed[-1].undecided < 0.1
    assert found.rehearsed[-1].wrong.value == 0


@pytest.mark.slow
def test_intervals_that_do_not_hold_are_told_in_text_page_and_command(tmp_path):
    design = {"measures": "dmf_auc", "method": dmfroc.papers.PaperBootstrap(100), "n_samples": 30}
    with pytest.warns(UserWarning, match="DMF-AUC: in data like these the 95 % interval holds in"):
        found = rehearse(evaluate, Y, SCORES, **design)
    assert found.rehearsed[0].held.high < 0.8
    assert "truth above" in str(found)
    assert " ".join(str(found).split()).count("n data like these the 95 % interval") == 1
    assert found.as_json()["rehearsed"][0]["held"] == found.rehearsed[0].held._asdict()
    assert "DMF-AUC: in data like these the 95 % interval holds in" in found.to_html()
    file = tmp_path / "p.csv"
    pd.DataFrame({"y": Y > 0, "p": SCORES[:, 0]}).to_csv(file, index=False)
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\nmeasure = 'auc'\nat_least = 0.3\n")
    for command in (["evaluate", file], ["gate", rules, file], ["compare", file, file]):
        call = [executable, "-m", "dmfroc", *command, "--label", "y", "--rehearse", "5", "--json"]
        printed = json.loads(run(call, capture_output=True, text=True, check=False).stdout)
        assert printed["rehearsed"][0]["n"] == 5


def test_the_one_auc_of_two_classes_is_rehearsed_once():
    found = rehearse(evaluate, Y == 0, SCORES[:, 0], measures=["dmf_auc", "hand_till"], n_samples=4)
    assert [x.name for x in found.rehearsed] == ["AUC"]
    assert found.rehearsed[0].n == 4


@pytest.mark.parametrize(
    ("analysis", "options", "message"),
    [
        (evaluate, {"folds": Folds(Y, target="learner")}, "target is the learner"),
        (dmfroc.compare_subgroups, {"by": Y % 2}, "again with by"),
        (evaluate, {"population": SCORES}, "a population of rows"),
        (dmfroc.multiclass_roc, {}, "analysis must return estimates"),
        (evaluate, {"n_samples": 0}, "n_samples must be an integer"),
    ],
)
def test_designs_that_cannot_be_drawn_again_are_refused(analysis, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rehearse(analysis, Y, SCORES, **{"n_samples": 2} | options)
