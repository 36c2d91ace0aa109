"""Whatever shows a result shows its numbers: JSON, tables, frames, text and drawings agree."""

import dataclasses
import json
import re
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from pages import page_parts

import dmfroc
from dmfroc._kit.text import on_one_line
from dmfroc.results.table import Column, Table
from dmfroc.results.writers import as_frame, as_records

LABELS = ["ash", "fir", "oak"]
N = 120
RNG = np.random.default_rng(3)
TRUE = np.arange(N) % 3
FOLDS = np.arange(N) // 3 % 4
GROUPS = np.arange(N) // 3
# One group has no weight at all, and of others some rows have none.
WEIGHTS = np.where(GROUPS == 7, 0.0, np.array([1.0, 0.5, 2.0, 0.0])[np.arange(N) % 4])
SHARED = RNG.normal(size=(N, 3))
EFFECTS = {"good": 2.0, "fair": 1.3, "poor": 0.4}


def probabilities(effect):
    scores = np.exp(SHARED + 0.5 * RNG.normal(size=(N, 3)) + effect * np.eye(3)[TRUE])
    return scores / scores.sum(axis=1, keepdims=True)


SCORES = {name: probabilities(effect) for name, effect in EFFECTS.items()}
Y = np.array(LABELS)[TRUE]
KINDS = {
    "rows": {},
    "folds": {"folds": FOLDS},
    "groups": {"groups": GROUPS, "sample_weight": WEIGHTS},
}
SITE = np.repeat(["north", "south", "east", "west"], [50, 40, 28, 2])


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=KINDS)
def evaluation(request):
    return dmfroc.evaluate(Y, SCORES["fair"], level=0.9, **KINDS[request.param])


@pytest.fixture(scope="module", params=[*KINDS, "bootstrap", "together"])
def comparison(request):
    options = KINDS.get(request.param, {})
    if request.param == "together":
        options = {"simultaneous": True, "level": 0.8, "random_state": 5}
    if request.param == "bootstrap":
        options = {
            "method": dmfroc.Bootstrap(100),
            "test": dmfroc.Equivalence(0.05),
            "random_state": 7,
        }
    return dmfroc.compare(Y, SCORES, measures="hand_till", **options)


@pytest.fixture(scope="module")
def subgroups():
    with pytest.warns(UserWarning, match="left out: west"):
        return dmfroc.compare_subgroups(Y, SCORES["fair"], SITE, measures="hand_till", level=0.9)


@pytest.fixture(scope="module", params=[True, False])
def runs(request):
    several = {
        name: [0.8 * SCORES[name] + 0.2 * np.roll(SHARED, k, axis=1) for k in range(4)]
        for name in EFFECTS
    }
    return dmfroc.compare_runs(Y, several, measures="hand_till", crossed=request.param, level=0.9)


@pytest.fixture(scope="module", params=["half-width", "power"])
def plan(request):
    pilot = np.r_[0:60:3, 1:90:3, 2:120:3]
    named = {
        name: dmfroc.Predictions.from_arrays(Y[pilot], SCORES[name][pilot])
        for name in ("good", "poor")
    }
    if request.param == "power":
        return dmfroc.applications.plan(
            named, measure="hand_till", difference=0.05, power=0.9, level=0.9
        )
    return dmfroc.applications.plan(named["good"], measure="hand_till", half_width=0.02)


PAGES = {}  # by the identity of the results, which are kept as long


def report(result):
    if id(result) not in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "report.html")
            result.to_html(page)
            PAGES[id(result)] = result, page_parts(page.read_text("utf-8"))
    return PAGES[id(result)][1]


def columns(parts, caption):
    """Return a table's columns by header, and check that all rows are whole."""
    [(title, [header, *rows])] = [
        (title, rows) for title, rows in parts["tables.csv"].items() if caption in title
    ]
    assert {len(row) for row in rows} == {len(header)}, title
    return header, dict(zip(header, zip(*rows, strict=True), strict=True))


def floats(cells):
    return [float(cell) for cell in cells]


def ends(text):
    """Return both ends of an interval, as far as it is written out."""
    return [
        float(x)
        for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.replace("\N{MINUS SIGN}", "-"))
    ][:2]


def assert_interval(text, interval):
    for shown, end in zip(ends(text), interval, strict=True):
        assert shown == pytest.approx(end, abs=6e-4)


def estimate_json(e):
    return {"value": e.value, "standard_error": e.standard_error, "interval": list(e.interval)}


def measured_json(e):
    return estimate_json(e) | {
        "level": e.level,
        "method": e.method,
        "title": e.title,
    }


# JSON


@pytest.mark.slow
def test_json_of_an_evaluation(evaluation):
    numbers = report(evaluation)["numbers"]
    predictions = evaluation.predictions
    corrected = {name: e.bias_corrected for name, e in evaluation.estimates.items()}
    found = {name: e.pop("bias_corrected", None) for name, e in numbers["estimates"].items()}
    assert {name: x or None for name, x in found.items()} == corrected
    assert numbers["estimates"] == {
        name: measured_json(e) for name, e in evaluation.estimates.items()
    }
    assert (numbers["level"], numbers["method"]) == (0.9, "jackknife")
    assert numbers["n_observations"] == predictions.n_observations
    counts = {c["label"]: c["count"] for c in numbers["classes"]}
    assert counts == dict(zip(LABELS, predictions.class_counts.tolist(), strict=True))
    assert numbers["warnings"][: len(evaluation.warnings)] == list(evaluation.warnings)


@pytest.mark.slow
def test_json_of_a_comparison(comparison):
    numbers = report(comparison)["numbers"]
    intervals = comparison.value_intervals
    assert numbers["estimates"] == {
        name: estimate_json(e)
        | {"may_be_best": name in comparison.best_set()}
        | ({"simultaneous_interval": list(intervals[name])} if intervals else {})
        for name, e in comparison.estimates.items()
    }
    assert numbers["differences"] == [
        {"first": d.first, "second": d.second}
        | estimate_json(d)
        | {
            "p_value": d.p_value,
            "adjusted_p_value": d.adjusted_p_value,
            "probability_better": d.probability_better,
            "probability_equivalent": d.probability_equivalent,
            "test": d.test,
            "degrees_of_freedom": d.degrees_of_freedom,
        }
        for d in comparison.differences
    ]
    orders = {tuple(o["order"]): o["probability"] for o in numbers["order_probabilities"]}
    assert orders == comparison.order_probabilities
    assert numbers["best_set"] == list(comparison.best_set())
    assert numbers["simultaneous"] == comparison.simultaneous
    for name in ("measure", "title", "method", "level", "n_draws", "seed"):
        assert numbers[name] == getattr(comparison, name)
    assert numbers["value_intervals"] == (
        intervals and {name: list(interval) for name, interval in intervals.items()}
    )
    winner = comparison.winner
    assert numbers["winner"] == (
        winner
        and {
            "name": winner.name,
            "value": winner.value,
            "interval": list(winner.interval),
            "limit": winner.limit,
            "level": comparison.level,
            "rivals": list(winner.rivals),
        }
    )


def test_json_in_a_report_keeps_the_order_given():
    found = dmfroc.compare(Y, {x: SCORES[x] for x in ("poor", "good", "fair")})
    numbers, given = report(found)["numbers"], json.loads(found.to_json())
    for name in ("estimates", "differences"):
        assert json.dumps(numbers[name]) == json.dumps(given[name])


def test_json_of_subgroups(subgroups):
    numbers = report(subgroups)["numbers"]
    assert numbers["groups"] == {
        name: {"n": subgroups.sizes[name]} | estimate_json(e)
        for name, e in subgroups.estimates.items()
    }
    assert {name: g["n"] for name, g in numbers["groups"].items()} == {
        "north": 50, "south": 40, "east": 28
    }  # fmt: skip
    assert numbers["differences"] == [
        {"first": d.first, "second": d.second}
        | estimate_json(d)
        | {"p_value": d.p_value, "adjusted_p_value": d.adjusted_p_value}
        | {"test": d.test, "degrees_of_freedom": d.degrees_of_freedom}
        for d in subgroups.differences
    ]
    omnibus = dataclasses.asdict(subgroups.omnibus)
    freedom = list(subgroups.omnibus.degrees_of_freedom)
    assert numbers["omnibus"] == omnibus | {"degrees_of_freedom": freedom}
    assert numbers["omnibus"]["degrees_of_freedom"][0] == len(subgroups.estimates) - 1
    assert list(numbers["left_out"]) == ["west"]
    assert numbers["left_out"] == subgroups.left_out
    assert numbers["level"] == 0.9


def test_json_of_runs(runs):
    numbers = report(runs)["numbers"]
    for name, values in runs.values.items():
        shown = numbers["runs"][name]
        assert (shown["runs"], shown["values"]) == (len(values), values.tolist())
        spread = values.mean(), values.std(ddof=1)
        assert (shown["mean"], shown["sd"]) == pytest.approx(spread, rel=1e-12)
    assert list(numbers["runs"]) == list(runs.values)
    assert numbers["crossed"] == runs.crossed
    for name in ("measure", "method", "level", "n_observations", "mean_squares"):
        assert numbers[name] == getattr(runs, name)
    covariances = {k: x if np.isfinite(x) else None for k, x in runs.covariances._asdict().items()}
    assert numbers["covariances"] == covariances
    assert list(numbers["tests"]) == ["random_runs", "fixed_runs", "fixed_cases"]
    for name, shown in numbers["tests"].items():
        test = getattr(runs, name)
        assert (shown["statistic"], shown["p_value"]) == (test.statistic, test.p_value)
        freedom = [x if np.isfinite(x) else None for x in test.degrees_of_freedom]
        assert [shown["df"], shown["df_of_error"]] == freedom
        differences = [d for d in numbers["differences"] if d["inference"] == name]
        for d, of_d in zip(test.differences, differences, strict=True):
            keys = ("first", "second", "value", "standard_error", "p_value")
            given = {key: getattr(d, key) for key in keys} | {
                "inference": name,
                "interval": list(d.interval),
                "degrees_of_freedom": test.degrees_of_freedom[1],
            }
            assert of_d == {
                k: None if isinstance(x, float) and not np.isfinite(x) else x
                for k, x in given.items()
            }


def test_json_of_a_plan(plan):
    numbers = report(plan)["numbers"]
    for name in ("measure", "aim", "value", "n", "n_optimal", "level"):
        assert numbers[name] == getattr(plan, name)
    assert numbers["n_interval"] == list(plan.n_interval)
    assert numbers["classes"] == [
        {
            "label": label,
            "count": plan.class_counts[label],
            "share": plan.prevalence[label],
            "optimal_share": plan.optimal_prevalence[label],
        }
        for label in LABELS
    ]
    assert [c["share"] for c in numbers["classes"]] == pytest.approx([2 / 9, 3 / 9, 4 / 9])
    assert numbers["curve"] == {
        str(n): row.to_dict() for n, row in plan.to_pandas("curve").iterrows()
    }


def test_curves_of_a_report(evaluation):
    parts = report(evaluation)
    curve = parts["numbers"]["curves"]["classifier"]
    sample = evaluation.sample.predictions
    confusion = np.zeros((3, 3))
    np.add.at(confusion, (sample.true, sample.predicted), sample.sample_weight)
    assert np.abs(confusion - confusion.T).max() > 1
    np.testing.assert_allclose(curve["confusion"], confusion, atol=1e-6)
    by_fold = [slice(None)] if sample.folds is None else [sample.folds == k for k in range(4)]
    areas = [
        dmfroc.pairwise_auc_matrix(
            sample.true[rows], sample.scores[rows], sample_weight=sample.sample_weight[rows]
        )
        for rows in by_fold
    ]
    shown = np.array(curve["pairwise_areas"], float)
    off_diagonal = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(shown[off_diagonal], np.mean(areas, axis=0)[off_diagonal], atol=6e-5)
    assert np.isnan(np.diagonal(shown)).all()
    if sample.folds is not None:
        assert curve["band"] is None
        assert {len(row) for row in parts["curves.csv"]} == {3}
        return
    assert curve["auc"] == evaluation.curve.auc
    band = curve["band"]
    low, tpr, high = (np.array(band[key]) for key in ("low", "tpr", "high"))
    assert (low <= tpr).all()
    assert (tpr <= high).all()
    assert (low < high).sum() > len(low) / 2
    [axes] = evaluation.plot().figure_.axes
    vertices = np.concatenate([p.vertices for c in axes.collections for p in c.get_paths()])
    for x, a, b in list(zip(band["fpr"], low, high, strict=True))[5:-5:10]:
        at_x = vertices[np.abs(vertices[:, 0] - x).argsort()[:6], 1]
        assert at_x.min() - 0.05 < a < b < at_x.max() + 0.05
    assert [row[3] for row in parts["curves.csv"]] == band["low"]
    assert [row[4] for row in parts["curves.csv"]] == band["high"]


# Tables of a report


def test_tables_of_an_evaluation(evaluation):
    kind = "90 % interval (jackknife)"
    _, shown = columns(report(evaluation), "Measures")
    found = list(evaluation.estimates.values())
    assert list(shown["Measure"]) == [e.title for e in found]
    assert floats(shown["Value"]) == [e.value for e in found]
    assert floats(shown["Std. error"]) == [e.standard_error for e in found]
    for text, e in zip(shown[kind], found, strict=True):
        assert_interval(text, e.interval)
        assert kind == f"{100 * e.level:g} % interval ({e.method})"


def assert_differences(shown, differences, interval):
    assert list(shown["A"]) == [d.first for d in differences]
    assert list(shown["B"]) == [d.second for d in differences]
    assert floats(shown["A - B"]) == [d.value for d in differences]
    for text, d in zip(shown[interval], differences, strict=True):
        assert_interval(text, d.interval)
    assert floats(shown["p-value"]) == [d.p_value for d in differences]


def test_tables_of_a_comparison(comparison):
    parts = report(comparison)
    comparison = comparison.best_first()  # as pages are
    percent = f"{100 * comparison.level:g} %"
    [header] = [rows[0] for t, rows in parts["tables.csv"].items() if t.startswith("Classifiers")]
    [rows] = [rows[1:] for t, rows in parts["tables.csv"].items() if t.startswith("Classifiers")]
    together = comparison.value_intervals
    for row, (name, e) in zip(rows, comparison.estimates.items(), strict=True):
        assert (row[0], float(row[1])) == (name, e.value)
        assert_interval(row[2], e.interval)
        if together is not None:
            assert_interval(row[4], together[name])
        assert header[3] == "May be best"
        assert row[3] == ("yes" if name in comparison.best_set() else "no")
        place = 3 if together is None else 4
        others = dict(zip(header[place + 1 :: 2], row[place + 1 :: 2], strict=True))
        assert set(others) == {"DMF-AUC", "Informedness"}
        sample = comparison.samples[name].predictions
        if sample.folds is None:
            expected = dmfroc.dmf_auc_score(sample)
            assert float(others["DMF-AUC"]) == pytest.approx(expected, rel=1e-12)
    header, shown = columns(parts, "Differences in Hand-Till M")
    differences, kind, method = comparison.differences, f"{percent} interval", "Holm"
    if comparison.simultaneous:
        kind, method = f"Simultaneous {kind}", "max-T"
    assert_differences(shown, differences, kind)
    assert floats(shown[f"Adjusted ({method})"]) == [d.adjusted_p_value for d in differences]
    assert floats(shown["P(A better)"]) == [d.probability_better for d in comparison.differences]
    if comparison.rope:
        equivalent = [d.probability_equivalent for d in comparison.differences]
        assert floats(shown["P(|A - B| <= 0.05)"]) == equivalent
    _, shown = columns(parts, "Order of the classifiers")
    orders = {
        tuple(order.split(" > ")): float(p)
        for order, p in zip(shown["Order, best first"], shown["Probability"], strict=True)
    }
    assert orders == comparison.order_probabilities


def test_how_a_comparison_was_computed(comparison):
    text = report(comparison)["text"].split("How this was computed")[1]
    samples = comparison.samples
    assert f"Seed\n{comparison.seed}" in text
    draws = {e.n_draws for e in comparison.estimates.values()} - {None}
    assert ("Draws\n" in text) == bool(draws)
    n_units = {len(s.units.stratum) for s in samples.values()}
    assert ("Independent units" in text) == (n_units != {N})
    first = next(iter(samples.values())).predictions
    assert ("one per row, as given" in text) == bool(first.is_weighted)
    assert ("Folds\n4\n" in text) == (first.folds is not None)


def test_tables_of_subgroups(subgroups):
    parts = report(subgroups)
    header, shown = columns(parts, "in each group")
    assert list(shown["Group"]) == list(subgroups.estimates)
    assert floats(shown["n"]) == list(subgroups.sizes.values())
    found = subgroups.estimates.values()
    assert floats(shown["Hand-Till M"]) == [e.value for e in found]
    for text, e in zip(shown[header[3]], found, strict=True):
        assert_interval(text, e.interval)
    header, shown = columns(parts, "Differences in Hand-Till M")
    turned = [d if d.second == "all others" else d.better_first() for d in subgroups.differences]
    assert_differences(shown, turned, header[3])
    assert floats(shown[header[5]]) == [d.adjusted_p_value for d in turned]
    # Of several groups the test of all is among the facts
    assert str(subgroups.omnibus) in parts["text"]
    for name, reason in subgroups.left_out.items():
        assert f"Left out: {name}, {reason}." in parts["text"]


def test_tables_of_runs(runs):
    parts = report(runs)
    header, shown = columns(parts, "runs of each learner")
    values = np.stack(list(runs.values.values()))
    assert list(shown["Learner"]) == list(runs.values)
    np.testing.assert_allclose(floats(shown["Mean Hand-Till M"]), values.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(floats(shown["sd of runs"]), values.std(axis=1, ddof=1), rtol=1e-12)
    for run in range(4):
        assert floats(shown[f"Run {run + 1}"]) == values[:, run].tolist()
    tests = {
        "new cases, new runs": runs.random_runs,
        "new cases, these runs": runs.fixed_runs,
        "these cases, new runs": runs.fixed_cases,
    }
    header, shown = columns(parts, "Differences of the means")
    assert_differences(shown, [d for t in tests.values() for d in t.differences], header[4])
    assert list(shown["Holds for"]) == [what for what in tests for _ in range(3)]
    freedom = [t.degrees_of_freedom[1] for t in tests.values() for _ in t.differences]
    assert [np.inf if x == "∞" else float(x) for x in shown["df"]] == freedom
    _, shown = columns(parts, "all learners are equal")
    assert list(shown["All equal, for"]) == list(tests)
    assert floats(shown["F"]) == [t.statistic for t in tests.values()]
    assert floats(shown["p-value"]) == [t.p_value for t in tests.values()]
    _, shown = columns(parts, "Mean squares")
    expected = list(runs.mean_squares.values())
    expected += [x for x in runs.covariances if np.isfinite(x)]
    assert floats(shown["Value"]) == expected


def test_tables_of_a_plan(plan):
    parts = report(plan)
    _, shown = columns(parts, "Cases of each class")
    assert list(shown["Class"]) == LABELS
    assert floats(shown["Cases"]) == [plan.class_counts[label] for label in LABELS]
    assert floats(shown["Share"]) == [plan.prevalence[label] for label in LABELS]
    assert floats(shown["Best share"]) == [plan.optimal_prevalence[label] for label in LABELS]
    frame = plan.to_pandas("curve")
    header, shown = columns(parts, "other numbers of cases")
    assert floats(shown["Cases"]) == frame.index.tolist()
    assert floats(shown["Std. error"]) == frame["standard_error"].tolist()
    assert floats(shown[header[2]]) == frame["half_width"].tolist()
    if "Power" in header:
        assert floats(shown["Power"]) == frame["power"].tolist()


# Drawings of a report


def small_charts(page):
    """Return label, ends of the axes and points, in the unit square, of each small chart."""
    for figure in re.findall(r'<figure class="small">(.*?)</figure>', page, re.S):
        label = re.search(r"<strong>(.*?)</strong>", figure)[1]
        size = float(re.search(r'<rect class="frame" width="([\d.]+)"', figure)[1])
        ticks = r'class="tick {}" x="[^"]*" y="[^"]*">([\d.]+)<'
        right = float(re.findall(ticks.format("middle"), figure)[-1])
        bottom = float(re.findall(ticks.format("end"), figure)[0])
        path = re.search(r'<path class="(?:line|dots) [^"]*" d="M(\d[^"]* [^"]*)"', figure)[1]
        path = path.replace("h0.01", "").replace("M", "")  # of dots
        x, y = np.array([[float(x) for x in point.split(",")] for point in path.split()]).T / size
        yield label, (right, bottom), (right * x, 1 - (1 - bottom) * y)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good", "poor"])
def test_small_charts_show_each_class(name):
    page = report(dmfroc.evaluate(Y, SCORES[name]))["source"]
    charts = list(small_charts(page))
    assert sorted(label for label, *_ in charts[:3]) == LABELS
    for label, (right, bottom), (x, y) in charts[:3]:
        assert right == pytest.approx(1 - bottom)
        curve = dmfroc.curves.roc_curve(label == Y, SCORES[name][:, LABELS.index(label)])
        for point in zip(x, y, strict=True):
            assert np.hypot(curve.x - point[0], curve.y - point[1]).min() < 1e-3
    for label, (right, bottom), (x, y) in charts[3:6]:
        assert (right, bottom) == (1, 0)
        curve = dmfroc.curves.calibration_curve(label == Y, SCORES[name][:, LABELS.index(label)])
        np.testing.assert_allclose(x, curve.mean_predicted, atol=1e-3)
        np.testing.assert_allclose(y, curve.fraction_positive, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("lacking", [0, 1])
def test_matrices_are_left_out_of_large_files(monkeypatch, lacking):
    """Two matrices of each classifier have 2 x 4 x 4 x 2 numbers."""
    n_classes = 4
    y = np.arange(24) % n_classes
    noise = np.random.default_rng(0)
    named = {k: noise.normal(size=(len(y), n_classes)) + 2.0 * np.eye(n_classes)[y] for k in "ab"}
    monkeypatch.setattr("dmfroc.reports.page._MOST_NUMBERS", 64 - lacking)
    measure = dmfroc.measures.dmf_auc(n_thresholds=9)
    curves = report(dmfroc.compare(y, named, measures=measure))["numbers"]["curves"]
    assert list(curves) == list(named)
    for curve in curves.values():
        assert len({"confusion", "pairwise_areas"} & set(curve)) == (0 if lacking else 2)


@pytest.mark.slow
def test_only_classes_that_never_occur_are_said_not_to():
    assert "Never observed" not in report(dmfroc.evaluate(Y, SCORES["fair"]))["text"]


# Frames


def test_frame_of_an_evaluation(evaluation):
    frame = evaluation.to_pandas()
    assert list(frame.index) == list(evaluation.estimates)
    for name, e in evaluation.estimates.items():
        row = frame.loc[name]
        assert (row["value"], row["standard_error"]) == (e.value, e.standard_error)
        assert (row["low"], row["high"]) == e.interval
        assert (row["level"], row["method"]) == (e.level, e.method)


def test_frame_of_a_comparison(comparison):
    for row, d in zip(comparison.to_pandas().itertuples(), comparison.differences, strict=True):
        assert (row.first, row.second, row.difference) == (d.first, d.second, d.value)
        assert (row.standard_error, (row.low, row.high)) == (d.standard_error, d.interval)
        assert (row.p_value, row.adjusted_p_value) == (d.p_value, d.adjusted_p_value)
        assert row.probability_better == d.probability_better
        assert row.probability_equivalent == d.probability_equivalent


def test_frames_of_subgroups(subgroups):
    assert any(d.adjusted_p_value != d.p_value for d in subgroups.differences)
    frame = subgroups.to_pandas("differences")
    for row, d in zip(frame.itertuples(), subgroups.differences, strict=True):
        assert (row.first, row.second, row.difference) == (d.first, d.second, d.value)
        assert (row.standard_error, (row.low, row.high)) == (d.standard_error, d.interval)
        assert (row.p_value, row.adjusted_p_value) == (d.p_value, d.adjusted_p_value)
    frame = subgroups.to_pandas()
    for name, e in subgroups.estimates.items():
        row = frame.loc[name]
        assert (row["value"], row["standard_error"]) == (e.value, e.standard_error)
        assert (row["low"], row["high"]) == e.interval


def test_the_mean_of_subgroups_is_by_size(subgroups):
    values = [e.value for e in subgroups.estimates.values()]
    expected = np.dot(values, list(subgroups.sizes.values())) / sum(subgroups.sizes.values())
    assert abs(expected - np.mean(values)) > 1e-4
    assert subgroups.mean == pytest.approx(expected, rel=1e-12)


# Text


def rows_of(text):
    """Return the cells of each line of a printed table by its first one."""
    cells = (re.split(r"\s{2,}", line.strip()) for line in text.splitlines())
    return {first: rest for first, *rest in cells if rest}


def test_text_of_an_evaluation(evaluation):
    shown = rows_of(str(evaluation))
    for e in evaluation.estimates.values():
        value, error, interval, *_ = shown[e.title]
        assert float(value) == pytest.approx(e.value, abs=6e-4)
        assert float(error) == pytest.approx(e.standard_error, abs=6e-4)
        assert_interval(interval, e.interval)


def test_text_of_a_comparison(comparison):
    text = str(comparison)
    for name, e in comparison.estimates.items():
        line = next(x for x in text.splitlines() if x.startswith(f"{name} "))
        numbers = re.findall(r"-?\d\.\d+", line)
        assert float(numbers[0]) == pytest.approx(e.value, abs=6e-4)
    if comparison.winner is None:
        return
    name, interval = comparison.winner.name, comparison.winner.interval
    line = next(x for x in text.splitlines() if x.startswith(f"{name} "))
    digits = len(re.search(r"\d\.(\d+)", line)[1])
    assert digits > 2
    low, high = (f"{end:.{digits}f}" for end in interval)
    assert on_one_line(text).endswith(f"adjusted for its selection {low} to {high}")


@pytest.mark.slow
def test_no_p_value_and_no_probability_is_shown_as_certain():
    found = dmfroc.compare(
        np.arange(40000) % 2,
        {"good": np.arange(40000) % 2 + RNG.normal(size=40000), "noise": RNG.normal(size=40000)},
        measures="auc",
    )
    [difference] = found.differences
    assert difference.p_value < 1e-300
    assert rows_of(str(found).split("\n\n")[1])["good"][-2:] == ["<1e-15", ">0.999"]
    text = report(found)["text"]
    assert "<1e-15" in text
    assert ">0.999" in text


def test_text_of_a_scan_has_the_bounds():
    scores = {"coarse": SCORES["poor"], "exact": np.round(SCORES["good"])}
    counted = dmfroc.compare(dmfroc.scan([(Y, scores)], n_bins=8), measures="hand_till")
    bounds = {name: e.error_bound for name, e in counted.estimates.items()}
    assert bounds["exact"] < bounds["coarse"]
    shown = rows_of(str(counted).split("\n\n")[0])
    for name, bound in bounds.items():
        assert shown[name][-1] == f"<= {bound:.1e}"


# Pictures


@pytest.mark.parametrize("kind", ["separate", "simultaneous"])
def test_the_drawing_of_the_best_says_which_intervals_it_has(kind):
    options = {"simultaneous": kind == "simultaneous", "level": 0.9}
    axes = dmfroc.compare(Y, SCORES, measures="hand_till", **options).plot_best_set().ax_
    assert (
        " ".join(axes.get_xlabel().split())
        == f"Hand-Till M (filled: may be the best; 90 %, {kind})"
    )


def test_the_drawing_of_a_plan(plan):
    axes = plan.plot(ax=Figure().add_subplot()).ax_
    frame = plan.to_pandas("curve")
    what = "half_width" if plan.difference is None else "power"
    curve, mark = axes.lines
    assert curve.get_xdata().tolist() == frame.index.tolist()
    assert curve.get_ydata().tolist() == frame[what].tolist()
    assert mark.get_xdata() == [plan.n]
    assert mark.get_ydata() == [getattr(plan, what)(plan.n)]
    assert axes.get_ylabel() == what.replace("_", "-")


@pytest.mark.parametrize("pair_weights", ["equal", "prevalence"])
def test_the_curve_has_the_weights_of_the_evaluation(pair_weights):
    kept = np.r_[0:120:3, 1:60:3, 2:30:3]
    found = dmfroc.evaluate(
        Y[kept], SCORES["poor"][kept], measures=["hand_till"], pair_weights=pair_weights
    )
    expected = dmfroc.multiclass_roc(Y[kept], SCORES["poor"][kept], pair_weights=pair_weights)
    assert found.curve.auc == expected.auc
    assert found.plot().line_.get_label().count(f"{expected.auc:.3f}") == 1


def test_samples_of_a_comparison_have_the_rows_that_count():
    found = dmfroc.compare(Y, SCORES, measures="hand_till", **KINDS["groups"])
    for name, sample in found.samples.items():
        assert sample.predictions.n_observations == (WEIGHTS > 0).sum()
        assert len(sample.units.groups) == (WEIGHTS > 0).sum()
        assert sample.predictions.scores.tolist() == SCORES[name][WEIGHTS > 0].tolist()


def test_bands_of_scans_have_the_level_of_the_evaluation():
    def width(level):
        found = dmfroc.evaluate(dmfroc.scan([(Y, SCORES["poor"])], n_bins=16), level=level)
        band = found.plot().band
        assert band.level == level
        return (band.high - band.low).sum()

    assert width(0.5) < 0.6 * width(0.95)


def test_draws_carry_their_seed():
    found = dmfroc.estimate(
        "hand_till", Y, SCORES["poor"], method=dmfroc.Bootstrap(100), random_state=12
    )
    attributes = found.to_datatree()["posterior"].attrs
    assert (attributes["seed"], attributes["level"], attributes["method"]) == (
        12, 0.95, "bootstrap"
    )  # fmt: skip


def test_json_is_strict(runs):
    numbers = report(runs)["numbers"]
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers


@pytest.mark.parametrize("name", sorted(set(dmfroc.plots.__all__) | {"ROCDisplay"}))
def test_every_display_is_there(name):
    assert getattr(dmfroc.plots, name).__name__ == name


def test_two_estimates_in_a_row_have_names_of_their_own():
    one, other = (dmfroc.estimate(name, Y, SCORES["good"]) for name in ("hand_till", "accuracy"))
    columns = [
        Column("name", "name", ["good"], "name"),
        Column("value", "M", [one], "estimate"),
        Column("accuracy", "accuracy", [other], "estimate"),
    ]
    table = Table("classifiers", "Classifiers", columns, is_by_name=True)
    assert as_records(table)["good"] == {
        "value": one.value,
        "standard_error": one.standard_error,
        "interval": list(one.interval),
        "accuracy_value": other.value,
        "accuracy_standard_error": other.standard_error,
        "accuracy_interval": list(other.interval),
    }
    row = as_frame(table).loc["good"]
    assert (row["low"], row["high"]) == one.interval
    assert (row["accuracy"], row["accuracy_low"]) == (other.value, other.interval[0])
