"""What the reports of horizons, thresholds, rehearsals and many measures say first."""

import json
import re

import numpy as np
import pytest
from pages import page_parts

import dmfroc
from dmfroc import applications

N = 240


def survival():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    t, c = rng.exponential(5 * np.exp(-x)), rng.exponential(9, size=N)
    risks = {h: 1 - np.exp(-h / (5 * np.exp(-x))) for h in (2, 3, 5)}
    noisy = {h: np.clip(p + 0.3 * rng.normal(size=N), 0, 1) for h, p in risks.items()}
    return np.minimum(t, c), (t <= c).astype(int), risks, noisy


def two_classes():
    rng = np.random.default_rng(3)
    p = rng.beta(1, 2, size=N)
    return np.array(["well", "ill"])[(rng.random(N) < p).astype(int)], p


def first_lines(page):
    """Return the heading, and what stands between it and the links."""
    head = re.search(r"<header>(.*?)</header>", page, re.S)[1]
    heading, rest = re.match(r"\s*<h1>(.*?)</h1>(.*)", head.split("<nav")[0], re.S).groups()
    return heading, page_parts(rest)["text"]


def test_a_report_of_one_horizon_says_who_is_known():
    time, event, risks, _ = survival()
    found = dmfroc.evaluate(event, risks[3], follow_up=dmfroc.FollowUp(time, 3))
    known = (time > 3) | (event == 1) & (time <= 3)
    _, lines = first_lines(found.to_html())
    assert f"Outcomes at 3 (in the unit of the times): of {N} rows {known.sum()} are known" in lines
    assert f"{(~known).sum()} were censored before" in lines


def test_several_horizons_have_a_verdict_titles_and_a_chart_of_each_measure():
    time, event, risks, _ = survival()
    follow_up = dmfroc.FollowUp(time, [2, 3, 5])
    curves = dmfroc.evaluate(event, risks, follow_up=follow_up, measures=["auc", "brier_score"])
    page = curves.to_html()
    parts = page_parts(page)
    heading, lines = first_lines(page)
    assert heading == "AUC and Brier score at horizons from 2 to 5"
    assert lines.startswith("Outcomes at 2 / 3 / 5 (in the unit of the times): of 240 rows ")
    mean = curves.means["brier_score"]
    low, high = mean.interval
    expected = f"Brier score is {mean.value:.3f} on average from 2 to 5 (95 % interval {low:.3f}"
    assert parts["numbers"]["sentences"][1].startswith(f"{expected} to {high:.3f}): ")
    assert page.count('<figure class="forest">') == 2
    assert "brier_score" not in parts["text"]


def test_the_better_one_is_first_at_all_horizons():
    time, event, risks, noisy = survival()
    follow_up = dmfroc.FollowUp(time, [2, 3, 5])
    named = {"noisy": noisy, "full": risks}
    losses = dmfroc.compare(event, named, follow_up=follow_up, measures="brier_score").to_html()
    first, second, third = page_parts(losses)["numbers"]["sentences"]
    assert first.startswith(
        "full is better than noisy, on average from 2 to 5: difference \N{MINUS SIGN}0."
    )
    assert first.endswith("), less is better.")
    assert second.startswith("Brier score of full is ")
    assert third.startswith("Brier score of noisy is ")
    curves = dmfroc.compare(event, named, follow_up=follow_up, measures="auc")
    parts = page_parts(curves.to_html())
    given = json.loads(curves.to_json())["means"]  # JSON keeps the order given
    assert json.dumps(parts["numbers"]["means"]) == json.dumps(given)
    [rows] = [x for title, x in parts["tables.csv"].items() if title == "At each horizon"]
    assert list(dict.fromkeys(row[0] for row in rows[1:])) == ["full", "noisy", "full - noisy"]
    assert parts["numbers"]["sentences"][0].startswith("full is better than noisy, on average")
    [rows] = [x for title, x in parts["tables.csv"].items() if title.startswith("Means over time")]
    [difference] = [row for row in rows if row[0] == "full - noisy"]
    assert float(difference[1]) > 0


def test_a_threshold_has_its_rates_rows_level_and_draws():
    y, p = two_classes()
    choice = applications.choose_threshold(y, p, labels=["well", "ill"], n_draws=150, level=0.9)
    is_ill, is_called = y == "ill", p >= choice.threshold.value
    assert choice.rates["sensitivity"].value == pytest.approx(is_called[is_ill].mean())
    assert choice.rates["specificity"].value == pytest.approx(1 - is_called[~is_ill].mean())
    for rate, x in choice.rates.items():
        assert x.interval[0] < x.value < x.interval[1]
        assert rate in choice.to_pandas().index
    page = choice.to_html()
    heading, lines = first_lines(page)
    assert heading == "At which score to predict ill"
    assert lines == f"Observations: {N}."
    how = page_parts(page)["text"].split("How this was computed")[1]
    assert all(x in how for x in ("Intervals\n90 %", "Draws\n150", "Seed\n0"))


def test_a_rehearsal_says_what_holds_and_what_it_cannot_show():
    y, p = two_classes()
    asked = {"measures": ["auc", "brier"], "labels": ["well", "ill"]}
    found = applications.rehearse(dmfroc.evaluate, y, p, n_samples=20, **asked)
    first, last = found.verdict_text()
    least = min(found.rehearsed, key=lambda x: x.held.value)
    assert f"in 20 samples like these, whose true values are known, that of {least.name}" in first
    assert str(least.held) in first
    assert "not a shift" in last
    assert first_lines(found.to_html())[0] == "Do 95 % intervals hold in samples like these?"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_measures_stand_by_question_and_the_area_once():
    y, p = two_classes()
    evaluation = dmfroc.evaluate(y, p, labels=["well", "ill"], measures="all")
    page = evaluation.to_html()
    tables = page_parts(page)["tables.csv"]
    asked = [title for title in tables if title.endswith("?")]
    assert len(asked) == 4
    shown = [row[0] for title in asked for row in tables[title][1:]]
    assert len(shown) == len(set(shown))
    area = evaluation.estimates["hand_till"].value
    same = [e.title for e in evaluation.shown if abs(e.value - area) < 1e-9]
    assert len(same) > 5
    assert [title for title in same if title in shown] == ["AUC"]
    assert len(shown) == len(evaluation.shown) - len(same) + 1
    assert "integrated_calibration_index" not in page_parts(page)["text"]
    assert '<section id="numbers" aria' in page  # as wide as the page


def test_in_print_the_better_one_of_two_is_first():
    y, p = two_classes()
    noise = np.random.default_rng(0).random(N)
    comparison = dmfroc.compare(y, {"noise": noise, "good": p}, labels=["well", "ill"])
    [difference] = comparison.differences
    assert difference.value < 0
    assert comparison.to_pandas()["difference"].iloc[0] == difference.value
    for text in (str(comparison), comparison.to_markdown()):
        [row] = [x for x in text.splitlines() if re.match(r"[| ]*good[| ]+noise", x)]
        assert f"+{-difference.value:.4f}" in row
    by_class = dmfroc.compare(
        y, {x: np.column_stack([1 - s, s]) for x, s in (("noise", noise), ("good", p))},
        labels=["well", "ill"], pos_label=["well", "ill"],
    )  # fmt: skip
    assert all(f"class {label}\n" in str(by_class) for label in by_class)
    assert len(re.findall(r"^good +noise ", str(by_class), re.MULTILINE)) == 2


def test_a_judge_and_given_shares_are_named_first():
    y, p = two_classes()
    judge = np.where(np.random.default_rng(1).random(N) < 0.9, y, "ill")
    some = np.where(np.arange(N) % 3 == 0, y, None)
    page = dmfroc.evaluate(some, p, judge=judge, labels=["well", "ill"]).to_html()
    assert f"A judge has labelled all {N} rows; {N // 3} of them have a verified label" in page
    shares = {"well": 0.9, "ill": 0.1}
    page = dmfroc.evaluate(y, p, labels=["well", "ill"], population=shares).to_html()
    assert "Values are for given shares of the classes: well 0.9, ill 0.1." in first_lines(page)[1]
    weights = dmfroc.Importance(1 + np.random.default_rng(0).random(N))
    page = dmfroc.evaluate(y, p, labels=["well", "ill"], population=weights).to_html()
    assert "Rows count by how much more frequent such rows are in the" in first_lines(page)[1]


@pytest.mark.slow
def test_results_that_have_a_chart_show_it():
    y, p = two_classes()
    sites = {str(i): dmfroc.evaluate(y[i::6], p[i::6], measures=["brier_score"]) for i in range(6)}
    pooled = applications.pool(sites)
    ranks = dmfroc.compare(y, {"a": p, "b": 1 - p, "c": p**2}, labels=["well", "ill"]).ranks()
    for result in (pooled, ranks, dmfroc.applications.decision_curve(y, p, labels=["well", "ill"])):
        page = result.to_html()
        assert page.count('<img src="data:image/png;base64,') == 1
        heading, _ = first_lines(page)
        assert f'alt="Chart: {heading}"' in page
    assert "<details><summary>Decision curve, 99 rows" in page
    first, second, *_ = pooled.verdict_text()
    low, high = pooled.mean.interval
    mean = f"Brier score is {pooled.mean.value:.3f} on average over the sites"
    assert first == f"{mean} (95 % interval {low:.3f} to {high:.3f})."
    assert second == "At a new site it is expected between {:.3f} and {:.3f} (95 %).".format(
        *pooled.prediction
    )
    assert ranks.tiers == (("a", "c"), ("b",))
    tiers = "By AUC, each of a tier is better than all of the next: a, c; b."
    assert ranks.verdict_text() == [tiers, *ranks.foot()]


def test_a_comparison_by_several_measures_has_the_parts_of_one_by_one_measure():
    y, p = two_classes()
    several = {"good": p, "poor": np.sqrt(p[::-1] * p)}
    compared = dmfroc.compare(y, several, measures=["auc", "brier_score"], pos_label="ill")
    page = compared.to_html()
    heading, lines = first_lines(page)
    assert heading == "Which is better: good or poor?"
    assert lines.startswith(f"Observations: {N}.")
    parts = page_parts(page)
    for name, one in compared.items():
        [first, *_] = page_parts(one.to_html())["numbers"]["sentences"]
        assert first in parts["numbers"]["sentences"], name
    assert "AUC: how often, of two observations of different classes" in parts["text"]


def test_subgroups_by_several_measures_have_a_verdict_for_each():
    y, p = two_classes()
    by, measures = {"site": np.arange(N) % 2}, ["auc", "brier_score"]
    compared = dmfroc.compare_subgroups(y, p, by=by, measures=measures, pos_label="ill")
    said = page_parts(compared.to_html())["numbers"]["sentences"]
    assert ["AUC differs" in said[0], "Brier score differs" in said[1]] == [True, True]
