"""Scans give the numbers of memory: within the printed bound, or exactly."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bands import curve_band
from slow_part import SlowPart

import dmfroc
from dmfroc import measures
from dmfroc.counted.counts import Finder, Grid, default_n_bins
from dmfroc.counted.scan import Scan

MEASURES = (
    *("dmf_auc", "hand_till", "one_vs_rest_auc", "one_vs_one_auc_prevalence", "informedness"),
    *("average_precision", "partial_auc", "gini", "cohen_kappa", "max_informedness"),
)
OF_PAIRS = ["dmf_auc", "hand_till", "one_vs_rest_auc", "informedness"]


def make(n=1200, k=3, seed=0, dtype=np.float32, decimals=None, strength=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    scores = np.exp(rng.normal(size=(n, k)) + strength * np.eye(k)[y])
    scores = (scores / scores.sum(axis=1, keepdims=True)).astype(dtype)
    return y, scores if decimals is None else scores.round(decimals)


Y, SCORES = make()
ENOUGH = 4096  # bins for each of these scores to have one of its own


def batches(n_parts, *arrays, order=None):
    order = np.arange(len(arrays[0])) if order is None else order
    return [tuple(x[rows] for x in arrays) for rows in np.array_split(order, n_parts)]


def numbers(estimate):
    return [estimate.value, estimate.standard_error, *estimate.interval]


def assert_alike(found, expected, rel, of_errors=0.25):
    """Values and errors are the same; limits of counts are linear: beside few groups that shows."""
    for field in ("value", "standard_error"):
        assert getattr(found, field) == pytest.approx(getattr(expected, field), rel=rel)
    error = found.standard_error
    assert found.interval == pytest.approx(expected.interval, abs=of_errors * error + 2e-3)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_table_has_fewer_bins_of_many_classes():
    assert [default_n_bins(k) for k in (2, 64, 200, 1000)] == [65536, 8192, 512, 256]


@pytest.mark.parametrize("n_bins", [4, 64, 1024])
def test_values_are_within_the_bound(n_bins):
    here = dmfroc.evaluate(Y, SCORES, measures=MEASURES, method="jackknife").estimates
    there = dmfroc.evaluate(dmfroc.scan(batches(3, Y, SCORES), n_bins=n_bins), measures=MEASURES)
    for name, estimate in there.estimates.items():
        error = abs(estimate.value - here[name].value)
        assert error <= estimate.error_bound + 1e-12, name
        if name != "max_informedness":  # whose maximum may be at a threshold that is known
            assert (estimate.error_bound > 0) == (name not in HARD), name
    if n_bins == 1024:
        for name, estimate in there.estimates.items():
            assert estimate.standard_error == pytest.approx(here[name].standard_error, rel=0.01)


HARD = {"informedness", "cohen_kappa"}


@pytest.mark.parametrize("is_file", [True, False])
def test_classes_have_the_stated_order_of_their_categories(tmp_path, is_file):
    names = ["low", "mid", "high"]
    rows = pd.DataFrame(SCORES, columns=names)
    rows["y"] = pd.Categorical(np.array(names)[Y], categories=names, ordered=True)
    rows.to_parquet(tmp_path / "ordered.parquet")
    of_batches = [(part["y"], part[names]) for part in (rows[:9], rows[9:])]
    scan = dmfroc.scan(tmp_path, label="y") if is_file else dmfroc.scan(of_batches)
    assert scan.labels == tuple(names)
    for measure in ("quadratic_kappa", "ranked_probability_score"):
        here = dmfroc.estimate(measure, rows["y"], rows[names])
        assert dmfroc.estimate(measure, scan).value == pytest.approx(here.value, rel=1e-6)


@pytest.mark.parametrize("is_named", [True, False])
def test_given_labels_go_before_the_order_of_categories(is_named):
    names = ["low", "mid", "high"]
    y = pd.Series(pd.Categorical(np.array(names)[Y], categories=names, ordered=True))
    order = ["mid", "high", "low"]
    scores = pd.DataFrame(SCORES, columns=names) if is_named else SCORES[:, [1, 2, 0]]
    scan = dmfroc.scan([(y, scores)], labels=order)
    assert scan.labels == tuple(order)
    here = dmfroc.estimate("quadratic_kappa", y, scores, labels=order)
    assert dmfroc.estimate("quadratic_kappa", scan).value == pytest.approx(here.value, rel=1e-6)


def test_columns_without_names_are_refused_where_categories_have_another_order():
    y = pd.Categorical(
        np.array(["low", "mid", "high"])[Y], categories=["low", "mid", "high"], ordered=True
    )
    with pytest.raises(ValueError, match="labels with two orders, and y_score has no column names"):
        dmfroc.scan([(y, SCORES)]).labels  # noqa: B018


def test_bound_is_attained():
    """One bin hides how its scores are ordered: the worst order is as bad as the bound says."""
    y, scores = np.array([0] * 4 + [1] * 4), np.linspace(0.1, 0.8, 8)
    found = dmfroc.estimate("hand_till", dmfroc.scan([(y, scores)], cuts=[[0.05], [0.05]]))
    assert found.value == 0.5
    assert found.error_bound == pytest.approx(0.5)
    assert dmfroc.hand_till_score(y, scores) == 1


@pytest.mark.filterwarnings("ignore:.*rows tie for the largest score:UserWarning")
def test_few_distinct_scores_have_no_error():
    y, scores = make(decimals=1)
    here = dmfroc.evaluate(y, scores, measures=MEASURES, method="jackknife").estimates
    there = dmfroc.evaluate(dmfroc.scan(batches(5, y, scores)), measures=MEASURES).estimates
    for name, estimate in there.items():
        assert estimate.error_bound == 0
        if name == "max_informedness":  # others choose by chance
            assert estimate.value == pytest.approx(here[name].value, rel=1e-12)
            apart = here[name].standard_error / 2
            assert estimate.bias_corrected == pytest.approx(here[name].bias_corrected, abs=apart)
            continue
        assert_alike(estimate, here[name], 1e-10)
        assert estimate.class_sizes == here[name].class_sizes
        # Counts do not show which rows tie
        expected = [x for x in here[name].warnings if "60 rows tie" not in x]
        assert [*estimate.warnings] == expected


def test_a_bias_is_that_of_all_rows_if_they_were_drawn():
    rng = np.random.default_rng(4)
    y = rng.choice(12, 400)
    scores = rng.normal(size=(400, 12)) + np.eye(12)[y]
    for name in ("dmf_auc", "average_precision"):
        here = dmfroc.estimate(name, y, scores)
        there = dmfroc.estimate(name, dmfroc.scan([(y, scores)]))
        assert there.bias_corrected == pytest.approx(here.bias_corrected, rel=1e-9) != here.value


def test_columns_on_several_scales():
    """Pools of the curve mix two columns, of which one has ties and the other none."""
    y, scores = make()
    scores[:, 0] = scores[:, 0].round(1)
    found = dmfroc.estimate("dmf_auc", dmfroc.scan(batches(2, y, scores), n_bins=ENOUGH))
    assert found.error_bound == 0
    assert found.value == pytest.approx(dmfroc.dmf_auc_score(y, scores), rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"pair_weights": "prevalence", "shrinkage": 5.0}])
@pytest.mark.parametrize("pool", ["balanced", "pooled"])
def test_curve_with_options(options, pool):
    y, scores = make(900)
    y[y == 2] = np.where(np.arange((y == 2).sum()) % 4, 0, 2)  # a rare class
    measure = dmfroc.measures.dmf_auc(threshold_pool=pool, n_thresholds=9, **options)
    found = dmfroc.estimate(measure, dmfroc.scan(batches(2, y, scores), n_bins=ENOUGH))
    assert found.error_bound == 0
    assert found.value == pytest.approx(measure(y, scores), rel=1e-12)


@pytest.mark.parametrize("n_parts", [1, 7, 100])
def test_partitions_and_order_change_nothing(n_parts):
    whole = dmfroc.scan([(Y, SCORES)], n_bins=128)
    order = np.random.default_rng(n_parts).permutation(len(Y))
    parts = dmfroc.scan(batches(n_parts, Y, SCORES, order=order), n_bins=128)
    assert_same(whole, parts)


def assert_same(first: Scan, second: Scan) -> None:
    np.testing.assert_array_equal(first.grids[""].cuts, second.grids[""].cuts)
    np.testing.assert_array_equal(first.counts.cells[""], second.counts.cells[""])
    a, b = (dmfroc.evaluate(x).estimates for x in (first, second))
    for name in a:
        assert numbers(a[name]) == pytest.approx(numbers(b[name]), rel=1e-12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parquet files of two classifiers, weights and groups, in which patients have one class."""
    path = tmp_path_factory.mktemp("scores")
    y, a = make(800)
    _, b = make(800, seed=1)
    table = pd.DataFrame({"y": y})
    for prefix, scores in (("a_", a), ("b_", 0.7 * a + 0.3 * b)):
        for k in range(3):
            table[f"{prefix}{k}"] = scores[:, k].astype(np.float32)
    rng = np.random.default_rng(3)
    table["weight"] = rng.integers(0, 3, size=len(y)) / 2
    table["patient"] = y * 100 + rng.integers(80, size=len(y))
    table["site"] = rng.integers(15, size=len(y))
    for part in range(3):
        table[part::3].to_parquet(path / f"{part}.parquet", row_group_size=100, index=False)
    return path, pd.concat([table[part::3] for part in range(3)], ignore_index=True)


A, B = (tuple(f"{prefix}_{k}" for k in range(3)) for prefix in "ab")


@pytest.mark.parametrize("groups", [None, "patient", "site"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_parquet_with_weights_and_groups(folder, groups, weight):
    path, table = folder
    columns = {"label": "y", "scores": A, "sample_weight": weight, "groups": groups}
    columns |= {"n_bins": ENOUGH}
    there = dmfroc.evaluate(dmfroc.scan(path, **columns)).estimates
    arrays = {"sample_weight": weight, "groups": groups}
    arrays = {key: name if name is None else table[name].to_numpy() for key, name in arrays.items()}
    here = dmfroc.evaluate(table["y"], table[list(A)].to_numpy(), **arrays).estimates
    for name in here:
        assert_alike(there[name], here[name], 1e-9, 0.25 if groups is None else 0.75)
        # By how much an unseen error moves a value is as exact as its limits are
        told = (
            [w for w in x.warnings if "not its standard error" not in w]
            for x in (there[name], here[name])
        )
        assert next(told) == next(told)


@pytest.mark.parametrize("kind", ["pattern", "list", "dataset", "function"])
def test_sources(folder, kind):
    import pyarrow.dataset

    path, table = folder
    sources = {
        "pattern": str(path / "*.parquet"),
        "list": sorted(path.glob("*.parquet")),
        "dataset": pyarrow.dataset.dataset(path),
        "function": lambda: iter(batches(4, table["y"].to_numpy(), table[list(A)].to_numpy())),
    }
    columns = {} if kind == "function" else {"label": "y", "scores": A}
    columns |= {"n_bins": ENOUGH}
    found = dmfroc.estimate("hand_till", dmfroc.scan(sources[kind], **columns))
    expected = dmfroc.estimate("hand_till", table["y"], table[list(A)].to_numpy())
    assert_alike(found, expected, 1e-10)


@pytest.mark.parametrize("groups", [None, "patient"])
@pytest.mark.parametrize("measure", ["hand_till", "average_precision"])
def test_comparison_in_one_scan(folder, groups, measure):
    path, table = folder
    scan = dmfroc.scan(path, label="y", scores={"a": A, "b": B}, groups=groups, n_bins=ENOUGH)
    there = dmfroc.compare(scan, measures=measure, simultaneous=True)
    scores = {"a": table[list(A)].to_numpy(), "b": table[list(B)].to_numpy()}
    of_rows = None if groups is None else table[groups]
    here = dmfroc.compare(table["y"], scores, measures=measure, groups=of_rows, simultaneous=True)
    [first], [second] = there.differences, here.differences
    for name in ("value", "standard_error", "p_value", "probability_better"):
        assert getattr(first, name) == pytest.approx(getattr(second, name), rel=1e-8)
    np.testing.assert_allclose(there.covariance, here.covariance, rtol=1e-7)
    assert_alike(first, second, 1e-8, 0.25 if groups is None else 0.75)
    for name in "ab":
        error = second.standard_error
        expected = pytest.approx(here.value_intervals[name], abs=0.25 * error)
        assert there.value_intervals[name] == expected
    expected = here.order_probabilities["a", "b"]
    assert there.order_probabilities["a", "b"] == pytest.approx(expected, abs=0.005)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("groups", [None, np.arange(1200) // 3])
@pytest.mark.parametrize("weights", [None, np.arange(1200) % 4 / 2])
@pytest.mark.parametrize("k", [2, 3])
def test_sums_of_rows_are_those_of_memory(k, weights, groups):
    y, p = make(k=k, dtype=np.float64)
    p = p if k > 2 else p[:, 1]
    predictions = dmfroc.Predictions.from_arrays(y, p, sample_weight=weights)
    registered = measures.MEASURES.values()
    names = [m.name for m in registered if m.adds_rows and m.applies_to(predictions)]
    given = {"y_true": y, "y_score": p, "sample_weight": weights, "groups": groups}
    # A part of one row has one class, and may have no weight.
    parts = [slice(0, 700), slice(700, 701), slice(701, 1200)]
    n_passes = 0

    def read():
        nonlocal n_passes
        n_passes += 1
        return [{key: x[rows] for key, x in given.items() if x is not None} for rows in parts]

    found = dmfroc.evaluate(dmfroc.scan(read, n_bins=16), measures=names).estimates
    # The kind of source, labels, their order, a sample, counts, rows, influences
    assert n_passes <= 7
    expected = dmfroc.evaluate(
        predictions, measures=names, groups=groups, method="jackknife"
    ).estimates
    assert len(names) >= 11
    for name in names:
        assert found[name].error_bound == 0
        for field in ("value", "standard_error"):
            assert getattr(found[name], field) == pytest.approx(
                getattr(expected[name], field), rel=1e-9, abs=1e-12
            ), (name, field)


def test_compared_sums_of_rows_are_those_of_memory():
    y, p = make(dtype=np.float64)
    q = 0.9 * p + 0.1 / 3
    source = [(y[rows], {"p": p[rows], "q": q[rows]}) for rows in (slice(500), slice(500, 1200))]
    [found] = dmfroc.compare(dmfroc.scan(source), measures="log_loss").differences
    [expected] = dmfroc.compare(y, {"p": p, "q": q}, measures="log_loss").differences
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


def test_sums_of_rows_need_the_rows():
    y, p = make(dtype=np.float64)
    accumulator = dmfroc.counted.Accumulator([0, 1, 2], n_bins=16)
    accumulator.update(y, p)
    with pytest.raises(ValueError, match="log_loss needs more of each row"):
        accumulator.compute(measures=["log_loss"])
    p[900] = [0.5, 0.4, 0.3]
    with pytest.raises(ValueError, match=r"sum to one, but a row is \[0.5, 0.4, 0.3\]: calibrate"):
        dmfroc.estimate("log_loss", dmfroc.scan(batches(2, y, p)))


@pytest.mark.parametrize("stratify", [None, True, False])
def test_stratify_and_absent_class(stratify, monkeypatch):
    y, scores = make(k=4)
    y = np.where(y == 3, 0, y)
    measures = ["hand_till", "dmf_auc", "average_precision"]
    told = []  # not by pytest.warns, whose filters the threads of a cluster may change
    monkeypatch.setattr("warnings.warn", lambda text, *_, **__: told.append(str(text)))
    here = dmfroc.evaluate(
        y, scores, labels=range(4), stratify=stratify, measures=measures
    ).estimates
    scan = dmfroc.scan(batches(3, y, scores), labels=range(4), n_bins=ENOUGH)
    there = dmfroc.evaluate(scan, stratify=stratify, measures=measures).estimates
    assert sum("class has a column but no observation" in text for text in told) == 2
    for name in here:
        assert_alike(there[name], here[name], 1e-9)
        assert there[name].class_sizes == here[name].class_sizes


def test_two_classes_with_one_score():
    y, score = Y % 2, SCORES[:, 1] + Y % 2
    names = ["hand_till", "dmf_auc", "average_precision"]
    here = dmfroc.evaluate(y, score, measures=names)
    there = dmfroc.evaluate(dmfroc.scan(batches(3, y, score), n_bins=ENOUGH), measures=names)
    for name in names:
        assert_alike(there.estimates[name], here.estimates[name], 1e-9)
    np.testing.assert_allclose(there.curve.tpr, here.curve.tpr, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_band_is_that_of_memory(n_classes, kind):
    y, scores = make(900, n_classes, decimals=2)
    scan = dmfroc.scan(batches(3, y, scores), n_bins=ENOUGH)
    found = dmfroc.evaluate(scan, measures=["dmf_auc"]).plot(band=kind).band
    expected = curve_band(dmfroc.Predictions.from_arrays(y, scores), kind=kind)
    atol = 1e-12 if kind == "pointwise" else 2e-3  # draws of normal numbers differ
    for name in ("tpr", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=atol)


@pytest.mark.slow
def test_band_of_drawn_rows_is_as_wide_as_that_of_all(monkeypatch):
    y, scores = make(12_000, 3)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, size=len(y))
    monkeypatch.setattr("dmfroc.counted.estimates._ROWS_OF_CLASS", 1000)
    given = [
        {"y_true": a, "y_score": b, "sample_weight": c}
        for a, b, c in batches(4, y, scores, weights)
    ]
    found = dmfroc.evaluate(dmfroc.scan(given), measures=["dmf_auc"]).plot().band
    expected = curve_band(dmfroc.Predictions.from_arrays(y, scores, sample_weight=weights))
    np.testing.assert_allclose(found.tpr, expected.tpr, atol=1e-3)
    inside = slice(10, 60)  # towards the corners few rows decide
    ratio = (found.high - found.low)[inside] / (expected.high - expected.low)[inside]
    assert np.median(ratio) == pytest.approx(1, abs=0.03)
    assert ratio == pytest.approx(1, abs=0.1)


def test_band_of_groups_is_refused():
    groups = np.arange(len(Y)) // 4
    given = [{"y_true": Y, "y_score": SCORES, "groups": groups}]
    found = dmfroc.evaluate(dmfroc.scan(given), measures=["dmf_auc"])
    with pytest.raises(ValueError, match="needs all scores of the groups in memory"):
        found.plot()
    assert found.plot(plot_band=False).band is None


def test_curve_and_table():
    scan = dmfroc.scan(batches(3, Y, SCORES), n_bins=256)
    found = dmfroc.evaluate(scan)
    expected = dmfroc.multiclass_roc(Y, SCORES)
    np.testing.assert_allclose(found.curve.tpr, expected.tpr, atol=2e-3)
    assert found.plot().line_.get_ydata()[-1] == 1
    with pytest.raises(ValueError, match=r"report\.html: a report needs all scores in memory"):
        found.to_html("report.html")
    assert "binning error" in str(found)
    assert found.to_pandas().loc["hand_till", "error_bound"] > 0
    printed = " ".join(str(dmfroc.estimate("hand_till", scan)).split())  # its lines are wrapped
    assert "binning error at most" in printed


def test_checkpoint_is_used_again(folder, tmp_path, monkeypatch):
    path, _ = folder
    options = {"label": "y", "scores": A, "checkpoint": tmp_path / "kept", "n_bins": 64}
    first = dmfroc.estimate("hand_till", dmfroc.scan(path, **options))
    assert {file.name for file in (tmp_path / "kept").iterdir()} == {
        *("labels.npz", "sample.npz", "counts.npz")
    }
    monkeypatch.setattr("dmfroc.counted.counts.Counts.add", None)  # nothing is counted again
    assert dmfroc.estimate("hand_till", dmfroc.scan(path, **options)) == first
    with pytest.raises(ValueError, match="of another scan"):
        dmfroc.estimate("hand_till", dmfroc.scan(path, **(options | {"scores": B})))


def test_command(folder, capsys, tmp_path):
    from dmfroc.cli.commands import app

    path, _ = folder
    picture = tmp_path / "curve.png"
    arguments = ["evaluate", str(path / "*.parquet"), "--label", "y", "--scores", ",".join(A)]
    arguments += ["--scan", "--measures", "hand_till", "--json", "--plot", str(picture)]
    with pytest.raises(SystemExit) as end:
        app(arguments)
    assert end.value.code == 0
    assert '"n_observations": 800' in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: dmfroc.estimate("vus", s), "vus needs more of each row"),
        (lambda s: dmfroc.estimate("auc_mu", s), "auc_mu needs more of each row"),
        (lambda s: dmfroc.estimate("hand_till", s, method="bootstrap"), "needs all scores"),
        (lambda s: dmfroc.estimate("hand_till", s, groups=Y), "groups must be given to the scan"),
        (lambda s: dmfroc.compare(s, measures="hand_till"), "give it the score columns of each"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(dmfroc.scan(batches(2, Y, SCORES)))


def test_user_defined_measure_is_refused():
    measure = dmfroc.Measure(name="own", bind=lambda predictions: lambda weights: weights.sum())
    with pytest.raises(ValueError, match="own is a function of all observations at once"):
        dmfroc.estimate(measure, dmfroc.scan(batches(2, Y, SCORES)))


def test_bad_batches_are_named():
    broken = SCORES.copy()
    broken[700, 1] = np.nan
    with pytest.raises(ValueError, match=r"batch 1 \(counting from 0\): y_score must be numbers"):
        dmfroc.estimate("hand_till", dmfroc.scan(batches(2, Y, broken)))
    mixed = [(Y[:600], SCORES[:600]), (Y[600:], SCORES[600:].astype(float))]
    with pytest.raises(ValueError, match="give all of them one type"):
        dmfroc.estimate("hand_till", dmfroc.scan(mixed))


@pytest.mark.parametrize(
    ("source", "options", "kind", "message"),
    [
        (iter([(Y, SCORES)]), {}, TypeError, "can be read only once"),
        ([], {}, ValueError, "source is empty"),
        ([(Y, SCORES)], {"label": "y"}, TypeError, "label name columns of tables"),
        ([(Y, SCORES)], {"n_bins": 1}, ValueError, "n_bins must be an integer >= 2"),
        ("nowhere/*.parquet", {"label": "y"}, FileNotFoundError, "no such Parquet file"),
        (3, {}, TypeError, "source must be a path"),
    ],
)
def test_unusable_sources(source, options, kind, message):
    with pytest.raises(kind, match=message):
        dmfroc.scan(source, **options)


def test_not_parquet(tmp_path):
    (tmp_path / "scores.csv").write_text("y,a,b\n")
    with pytest.raises(ValueError, match="this is no Parquet file"):
        dmfroc.scan(tmp_path / "scores.csv", label="y")


def test_missing_label():
    with pytest.raises(TypeError, match="label is missing"):
        dmfroc.scan(_Delayed(pd.DataFrame({"y": [0]})))


class _Delayed:
    """Looks like a Dask DataFrame."""

    def __init__(self, table):
        self.table = table

    def to_delayed(self):
        return [self.table]


# Parts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "small", "few"])
def test_finder_bisects(dtype, kind):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=5000)
    numbers = {"normal": numbers, "small": np.exp(9 * numbers), "few": numbers.round(1)}[kind]
    numbers = (numbers + 0).astype(dtype)
    cuts = np.unique(np.concatenate([numbers[:500], np.nextafter(numbers[:9], np.inf)]))
    cuts = cuts.astype(dtype)
    looked_up = np.concatenate([numbers, cuts, np.array([-9e9, 9e9, 0], dtype)])
    expected = cuts.searchsorted(looked_up, "right")
    np.testing.assert_array_equal(Finder.of(np.append(cuts, dtype(np.inf)))(looked_up), expected)


def test_atoms_are_single_numbers():
    one = np.float32(0.5)
    cuts = np.array([[0.25, one, np.nextafter(one, np.float32(1)), np.inf]], np.float32)
    assert Grid(cuts).is_atom().tolist() == [[False, False, True, False, False]]


# Dask


def test_dask_gives_the_same_numbers(folder, cluster):
    path, _ = folder
    columns = {"label": "y", "scores": A, "n_bins": 64}
    here = dmfroc.scan(path, **columns)
    assert_same(here, dmfroc.scan(path, **columns, scheduler=cluster.scheduler_address))


def test_dask_data_frame(folder, cluster):
    dataframe = pytest.importorskip("dask.dataframe")
    path, table = folder
    frame = dataframe.from_pandas(table, npartitions=5)
    columns = {"label": "y", "scores": A, "n_bins": 64}
    here = dmfroc.scan(path, **columns)
    assert_same(here, dmfroc.scan(frame, **columns))
    assert_same(here, dmfroc.scan(frame, **columns, scheduler=cluster.scheduler_address))


@pytest.mark.slow
def test_killed_worker_changes_nothing(tmp_path, cluster):
    log = tmp_path / "log"
    log.touch()
    expected = dmfroc.scan(batches(20, Y, SCORES), n_bins=64)
    parts = [SlowPart(str(log), batch) for batch in batches(20, Y, SCORES)]
    slow = replace(dmfroc.scan([(Y, SCORES)], n_bins=64), parts=parts)
    slow = replace(slow, scheduler=cluster.scheduler_address)
    found = []
    runner = threading.Thread(target=lambda: found.append(dmfroc.evaluate(slow)))
    runner.start()
    deadline = time.monotonic() + 60
    while len(log.read_text().split()) < 27 and time.monotonic() < deadline:
        time.sleep(0.01)
    victim = int(log.read_text().split()[-1])
    os.kill(victim, signal.SIGKILL)
    runner.join()
    np.testing.assert_array_equal(slow.counts.cells[""], expected.counts.cells[""])
    for name, estimate in dmfroc.evaluate(expected).estimates.items():
        assert numbers(found[0].estimates[name]) == pytest.approx(numbers(estimate), rel=1e-12)
