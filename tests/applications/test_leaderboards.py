"""Ranks, tiers and leaderboards over tasks."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dmfroc
from dmfroc.inference.simultaneous import largest_statistic, pairwise_differences

RNG = np.random.default_rng(4)
SKILLS = {"a": 0.9, "b": 0.7, "c": 0.68, "d": 0.4, "e": 0.38, "f": 0.36}


def answers(n, rng=RNG, skills=SKILLS):
    """Return the answers of models to the same items."""
    luck = rng.uniform(size=n)
    return {x: (luck + rng.normal(size=n) / 4 < p) * 1.0 for x, p in skills.items()}


FOUND = dmfroc.applications.items(answers(300))


def test_ranks_count_who_is_certainly_better_and_worse():
    ranks = FOUND.ranks()
    values = {x: e.value for x, e in FOUND.estimates.items()}
    assert list(ranks.estimates) == sorted(values, key=values.get, reverse=True)
    # One step of max-T: the pairs that it orders are ordered by the steps too
    largest = largest_statistic(FOUND.covariance, pairwise_differences(6), 0)
    error = 1 - largest.level_of_each(0.95)
    certain = {
        (d.first, d.second) if d.value > 0 else (d.second, d.first)
        for d in FOUND.differences
        if d.two_sided_p_value <= error
    }
    for name, (low, high) in ranks.intervals.items():
        assert low >= 1 + sum(worse == name for _, worse in certain)
        assert high <= 6 - sum(better == name for better, _ in certain)
    assert ranks.intervals["a"] == (1, 1)


def test_tiers_are_the_most_groups_whose_members_are_all_in_order():
    ranks = FOUND.ranks()
    assert tuple(itertools.chain(*ranks.tiers)) == tuple(ranks.estimates)
    assert ranks.tiers == FOUND.tiers() == (("a",), ("b", "c"), ("f", "d", "e"))
    for place, tier in enumerate(ranks.tiers):
        before = sum(map(len, ranks.tiers[:place]))
        for name in tier:
            low, high = ranks.intervals[name]
            assert before < low <= high <= before + len(tier)


def test_a_print_says_what_a_tier_is():
    ranks = FOUND.ranks()
    told = (
        "Best to worst rank is a 95 % interval, all at once. A new tier begins where the data show "
        'all above to be better than all below. All pairs are tested at once here: "may be best" '
        "of a comparison can exclude more."
    )
    assert ranks.foot() == [told]
    one = replace(ranks, tiers=(tuple("abcdef"),))
    assert one.foot() == [told.replace("below.", "below, which is nowhere here.")]
    claim = f"By {ranks.title}, the data do not divide these into tiers: a, b, c, d, e, f."
    assert one.verdict_text() == [claim, *one.foot()]


def test_a_higher_level_gives_wider_ranks_and_fewer_tiers():
    widths, tiers = [], []
    for level in (0.5, 0.9, 0.999999):
        ranks = FOUND.ranks(level)
        widths.append([high - low for low, high in ranks.intervals.values()])
        tiers.append(len(ranks.tiers))
    assert np.all(np.diff(widths, axis=0) >= 0)
    assert tiers == sorted(tiers, reverse=True)


def test_ranks_do_not_depend_on_the_order_of_the_models_or_the_direction():
    turned = dmfroc.applications.items(
        {x: FOUND.scored.scores[x] for x in reversed(FOUND.scored.scores)}
    )
    assert turned.ranks().intervals == FOUND.ranks().intervals
    y = RNG.integers(2, size=200)
    scores = {x: np.clip(y * s + RNG.uniform(size=200) / 2, 0, 1) / 2 for x, s in SKILLS.items()}
    errors = dmfroc.compare(y, scores, measures="brier_score").ranks()
    values = [e.value for e in errors.estimates.values()]
    assert values == sorted(values)
    assert errors.intervals[next(iter(errors.estimates))][0] == 1


@pytest.mark.filterwarnings("ignore:the same scores")
def test_identical_and_constant_models_share_all_ranks():
    x = FOUND.scored.scores["b"]
    same = dmfroc.applications.items({"one": x, "two": x, "three": x}).ranks()
    assert same.tiers == (("one", "two", "three"),)
    assert set(same.intervals.values()) == {(1, 3)}
    ones = dmfroc.applications.items({"one": np.ones(5), "two": np.ones(5), "zero": np.zeros(5)})
    assert ones.ranks(0.95).intervals["one"][0] == 1


def test_streams_are_ordered_by_bonferroni():
    streams = {}
    for name, strength in {"good": 3.0, "fair": 1.0, "same": 1.0}.items():
        streams[name] = dmfroc.counted.Accumulator([0, 1])
        y = RNG.integers(2, size=800)
        streams[name].update(y, RNG.normal(size=(800, 2)) + strength * np.eye(2)[y])
    found = dmfroc.applications.compare_streams(streams, measure="accuracy")
    certain = [d for d in found.differences if d.two_sided_p_value <= 0.05 / 3]
    assert len(certain) == 2
    assert found.ranks().intervals == {"good": (1, 1), "fair": (2, 3), "same": (2, 3)} or (
        found.tiers()[0] == ("good",)
    )


@pytest.mark.slow
def test_equal_models_are_in_no_order_in_95_percent():
    rng, n_wrong = np.random.default_rng(0), 0
    for _ in range(200):
        found = dmfroc.applications.items(answers(200, rng, dict.fromkeys("abcde", 0.6)))
        n_wrong += set(found.ranks().intervals.values()) != {(1, 5)}
    assert n_wrong <= 18  # 5 % of 200, and 2.6 standard errors


TASKS = {
    task: dmfroc.applications.items(answers(n))
    for task, n in {"law": 100, "maths": 200, "art": 50}.items()
}


def test_a_leaderboard_is_about_means_over_tasks():
    board = dmfroc.applications.leaderboard(TASKS)
    for name, e in board.estimates.items():
        own = [x[name] for x in TASKS.values()]
        assert e.value == pytest.approx(np.mean([x.value for x in own]))
        assert e.standard_error == pytest.approx(np.sqrt(sum(x.standard_error**2 for x in own)) / 3)
        below = np.sqrt(sum((x.value - x.interval[0]) ** 2 for x in own)) / 3
        assert e.interval[0] == pytest.approx(e.value - below)
    for d in board.differences:
        assert d.value == pytest.approx(board[d.first].value - board[d.second].value)
        assert (d.p_value < 0.05) == (d.interval[0] > 0 or d.interval[1] < 0)
    assert board.covariance == pytest.approx(sum(x.covariance for x in TASKS.values()) / 9)
    assert board.ranks().tiers[0] == ("a",)
    assert board.best_set() == ("a",)


def test_leaving_a_task_out():
    tasks = {
        "one": dmfroc.applications.items({"a": [1, 1, 1, 0], "b": [1, 1, 0, 0], "c": [0, 0, 0, 1]}),
        "two": dmfroc.applications.items({"a": [1, 0, 0, 0], "b": [1, 1, 1, 1], "c": [0, 0, 1, 0]}),
    }
    # Means: a .5, b .75, c .25; without "two" a .75, b .5, c .25
    left_out = dmfroc.applications.leaderboard(tasks).ranks().left_out
    assert left_out == {"one": (0.0, 0), "two": (pytest.approx(1 / 3), 1)}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"one": FOUND}, "tasks must be a dict of two comparisons or more"),
        ([FOUND, FOUND], "tasks must be a dict"),
        ({"one": FOUND, "two": 3}, "each of tasks must be of type Comparison"),
        (
            {"one": FOUND, "two": dmfroc.applications.items({"a": [0, 1], "x": [1, 1]})},
            r"tasks\['two'\]",
        ),
        (
            {"one": FOUND, "two": dmfroc.applications.items(answers(50), level=0.9)},
            "same models.*level",
        ),
        (
            {"one": FOUND, "two": dmfroc.applications.items(answers(50), simultaneous=True)},
            "not simultaneous",
        ),
    ],
)
def test_tasks_must_be_alike(tasks, message):
    with pytest.raises((ValueError, TypeError), match=message):
        dmfroc.applications.leaderboard(tasks)


@pytest.mark.parametrize("n", [5, 30])
def test_pictures_and_reports_show_the_ranks(n):
    skills = {f"a rather long name of model {i}": p for i, p in enumerate(np.linspace(0.3, 0.9, n))}
    found = dmfroc.applications.items(answers(60, RNG, skills))
    ranks = found.ranks()
    display = ranks.plot()
    assert [line.get_xdata()[0] for line in display.values_] == list(range(1, n + 1))
    ends = [tuple(line.get_xdata()) for line in display.intervals_]
    assert ends == list(ranks.intervals.values())
    page = found.to_html()
    tiers = "tiers filled and hollow" if len(ranks.tiers) > 1 else "in one tier"
    assert f"intervals, all at once; {tiers}" in page
    assert "best rank" in page.casefold()
    assert json.loads(ranks.to_json())["ranks"][next(iter(skills))]["best_rank"] >= 1


def test_the_command(tmp_path, monkeypatch, capsys):
    from dmfroc.cli.commands import main

    monkeypatch.chdir(tmp_path)
    parts = [x.scored.scores for x in TASKS.values()]
    table = pd.concat(
        [pd.DataFrame(x).assign(task=task) for task, x in zip(TASKS, parts, strict=True)]
    )
    table.to_csv("answers.csv", index=False)
    line = ["leaderboard", "answers.csv", "--answers", "a,b,c,d,e,f", "--task", "task", "--json"]
    monkeypatch.setattr("sys.argv", ["dmfroc", *line, "--output", "board.html"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    shown = json.loads(capsys.readouterr().out)
    board = dmfroc.applications.leaderboard({task: TASKS[task] for task in sorted(TASKS)}).ranks()
    assert {
        x: (r["best_rank"], r["worst_rank"]) for x, r in shown["ranks"].items()
    } == board.intervals
    assert (tmp_path / "board.html").stat().st_size > 10_000
    y = RNG.integers(3, size=240)
    for name, s in {"good": 3, "poor": 1}.items():
        scores = pd.DataFrame(RNG.normal(size=(240, 3)) + s * np.eye(3)[y], columns=[0, 1, 2])
        scores.assign(y=y, task=np.arange(240) // 3 % 2).to_csv(f"{name}.csv", index=False)
    line = [
        "leaderboard",
        "good.csv",
        "poor.csv",
        "--label",
        "y",
        "--task",
        "task",
        "--plot",
        "r.png",
    ]
    monkeypatch.setattr("sys.argv", ["dmfroc", *line, "--measure", "accuracy"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "Accuracy, mean over " in capsys.readouterr().out


def test_p_values_of_a_leaderboard_are_by_the_side_of_the_interval_where_the_null_is():
    rng, rates = np.random.default_rng(9), {"a": 0.97, "b": 0.9, "c": 0.85}
    tasks = {
        task: dmfroc.applications.items({x: (rng.random(40) < p) * 1.0 for x, p in rates.items()})
        for task in ("law", "maths")
    }
    asymmetric = 0.0
    for d in dmfroc.applications.leaderboard(tasks).differences:
        below, above = d.value - d.interval[0], d.interval[1] - d.value
        side = below if d.value > 0 else above
        assert d.p_value == pytest.approx(2 * stats.norm.sf(1.959964 * abs(d.value) / side))
        asymmetric = max(asymmetric, abs(below / above - 1))
    assert asymmetric > 0.05


def test_tables_of_ranks_have_what_their_titles_say():
    ranks = dmfroc.applications.leaderboard(TASKS).ranks()
    frame = ranks.to_pandas("ranks")
    places = {name: place for place, tier in enumerate(ranks.tiers, 1) for name in tier}
    assert frame["tier"].to_dict() == places
    assert frame["rank"].tolist() == list(range(1, 7))
    assert dict(
        zip(frame.index, zip(frame.best_rank, frame.worst_rank, strict=True), strict=True)
    ) == (ranks.intervals)
    ranks = dmfroc.applications.leaderboard(
        {
            "one": dmfroc.applications.items(
                {"a": [1, 1, 1, 0], "b": [1, 1, 0, 0], "c": [0, 0, 0, 1]}
            ),
            "two": dmfroc.applications.items(
                {"a": [1, 0, 0, 0], "b": [1, 1, 1, 1], "c": [0, 0, 1, 0]}
            ),
        }
    ).ranks()
    frame = ranks.to_pandas("left_out")
    assert frame["flipped"].tolist() == [0, pytest.approx(1 / 3)]
    assert frame["largest_move"].tolist() == [0, 1]
