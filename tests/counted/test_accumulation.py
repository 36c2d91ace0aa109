"""Batches that come one after the other: the same counts as of a scan, and files."""

import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from simulations import normal_scores

import dmfroc
from dmfroc.counted import Accumulator, storage

Y, SCORES = normal_scores(0, 900, 3, 1.5)
CUTS = np.linspace(-3, 4, 200)


def fed(accumulator, rows, size=50):
    for first in range(0, len(rows), size):
        some = rows[first : first + size]
        accumulator.update(Y[some], SCORES[some])
    return accumulator


def estimates(accumulator):
    found = accumulator.compute().estimates
    return {
        name: [e.value, e.standard_error, *e.interval, e.error_bound] for name, e in found.items()
    }


@pytest.fixture(scope="module")
def whole():
    return estimates(fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(900)))


def test_counts_are_those_of_a_scan(whole):
    there = dmfroc.evaluate(dmfroc.scan([(Y, SCORES)], cuts=CUTS)).estimates
    here = dmfroc.evaluate(Y, SCORES).estimates
    for name, found in whole.items():
        assert found[0] == pytest.approx(there[name].value, rel=1e-12)
        # The sample has every row, so that the standard error is that of all
        assert found[1] == pytest.approx(there[name].standard_error, rel=1e-12)
        assert abs(found[0] - here[name].value) <= found[-1] + 1e-12


def test_merged_parts_are_the_whole(whole, tmp_path):
    order = np.random.default_rng(1).permutation(900)
    yesterday = fed(Accumulator([0, 1, 2], cuts=CUTS), order[:400], size=7)
    yesterday.save(tmp_path / "yesterday.npz")
    yesterday = Accumulator.load(tmp_path / "yesterday.npz")
    today = fed(Accumulator([0, 1, 2], cuts=yesterday), order[400:])
    merged = yesterday.merge(today)
    assert merged.n_observations == 900
    assert today.n_observations == 500
    for name, found in estimates(merged).items():
        assert found == pytest.approx(whole[name], rel=1e-12)


@pytest.mark.parametrize("learned", [0, 1, 2])
def test_merging_before_and_after_cuts_are_learned(learned):
    """A batch that waits for cut points is counted with those of the other."""
    first, second = (
        fed(Accumulator([0, 1, 2], n_bins=64, learn_from=limit), rows)
        for limit, rows in (
            (100 if learned == 1 else 10_000, np.arange(300)),
            (100 if learned == 2 else 10_000, np.arange(300, 900)),
        )
    )
    first.merge(second)
    counts = first.bound[""].counts if learned else None
    evaluation = first.compute(["hand_till", "informedness"])
    assert evaluation.predictions.n_observations == 900
    if counts is not None:
        assert counts.cells[""].sum() == 3 * 900
    for name, expected in dmfroc.evaluate(Y, SCORES).estimates.items():
        if name in evaluation.estimates:
            found = evaluation.estimates[name]
            assert abs(found.value - expected.value) <= found.error_bound + 1e-12


def test_standard_error_from_a_sample(monkeypatch):
    monkeypatch.setattr("dmfroc.counted.sample._MOST_ROWS", 100)
    found = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(900)).compute(["hand_till"])
    expected = dmfroc.estimate("hand_till", Y, SCORES).standard_error
    assert found.estimates["hand_till"].standard_error == pytest.approx(expected, rel=0.15)
    # What the class sizes add is known from all rows, not from the sample
    assert found.estimates["hand_till"].class_sizes == "fixed"


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class of the largest score")
def test_weights_and_hard_labels():
    weights, hard = np.tile([0.0, 1.0, 2.5], 300), (Y + (np.arange(900) % 5 == 0)) % 3
    accumulator = Accumulator([0, 1, 2], cuts=CUTS)
    for rows in np.array_split(np.arange(900), 9):
        accumulator.update(Y[rows], SCORES[rows], sample_weight=weights[rows], y_pred=hard[rows])
    expected = dmfroc.estimate("informedness", Y, SCORES, sample_weight=weights, y_pred=hard)
    found = accumulator.compute(["informedness"]).estimates["informedness"]
    assert accumulator.n_observations == 600
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


# Errors


def test_different_cuts_cannot_be_merged():
    first = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300))
    second = fed(Accumulator([0, 1, 2], cuts=CUTS + 0.1), np.arange(300))
    with pytest.raises(ValueError, match=r"give one .* Accumulator\(labels, cuts=other\)"):
        first.merge(second)
    with pytest.raises(ValueError, match="the classes differ"):
        first.merge(Accumulator([0, 1]))


@pytest.mark.parametrize(
    ("labels", "options", "kind", "message"),
    [
        ([0], {}, ValueError, "labels must name two classes or more"),
        ([0, 0, 1], {}, ValueError, "each once"),
        ([0, 1], {"cuts": [0.5, 0.2]}, ValueError, "cuts must be finite, or infinite at the end"),
        ([0, 1], {"cuts": np.zeros((3, 1))}, ValueError, "one row for each of the 2 classes"),
        ([0, 1], {"cuts": [0.5], "n_bins": 9}, TypeError, "cannot both be given"),
        ([0, 1], {"n_bins": 1}, ValueError, "n_bins must be an integer >= 2"),
        ([0, 1], {"learn_from": 0}, ValueError, "learn_from must be an integer >= 1"),
    ],
)
def test_unusable_options(labels, options, kind, message):
    with pytest.raises(kind, match=message):
        Accumulator(labels, **options)


def test_nothing_accumulated():
    with pytest.raises(ValueError, match="nothing has been accumulated"):
        Accumulator([0, 1]).compute()


def test_unknown_label():
    with pytest.raises(ValueError, match="labels without a score column: 3"):
        Accumulator([0, 1, 2]).update([0, 3], SCORES[:2])


def test_unusable_files(tmp_path):
    path = tmp_path / "saved.npz"
    fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300)).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header | {"version": 99}))}))
    with pytest.raises(ValueError, match="its version is 99"):
        Accumulator.load(path)
    np.savez(path, y=Y)
    with pytest.raises(ValueError, match="no file of counts that dmfroc has saved"):
        Accumulator.load(path)
    np.savez(path, header=np.array({"a": 1}, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="no file of counts"):
        Accumulator.load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="this is a directory, a pipe or a device"):
        Accumulator.load(tmp_path / "pipe")


def with_header(path, name, header):
    """Change the header of an array in a file to one of the same length."""
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    array = members[f"{name}.npy"]
    length = 10 + int.from_bytes(array[8:10], "little")
    members[f"{name}.npy"] = (
        array[:10] + header.encode().ljust(length - 11) + b"\n" + array[length:]
    )
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)


@pytest.mark.parametrize("name", ["sizes", "cells_0", "sample_true", "cuts", "header"])
@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ("(100000000000000,)", "<f8"),
        ("(10000000, 10000000)", "<i4"),
        ("(100000000000000,)", "|V0"),
        ("(100000000000000,)", "<U0"),
        ("(3,)", "<U400000000"),
        ("(-1,)", "<f8"),
    ],
)
def test_files_that_declare_more_than_they_hold(tmp_path, name, shape, kind):
    """The error comes before memory is asked for."""
    path = tmp_path / "saved.npz"
    fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300)).save(path)
    with_header(path, name, f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}")
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=rf"saved\.npz: this is no .*, or it is damaged \(.*{name}"
    ):
        Accumulator.load(path)
    assert tracemalloc.get_traced_memory()[1] < 5e7
    tracemalloc.stop()


def test_files_that_compression_makes_small(tmp_path):
    """An archive may declare a size that no memory has, and be consistent in all else."""
    path = tmp_path / "saved.npz"
    fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300)).save(path)
    shape = 10**14
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape},), }}"
    with_header(path, "sizes", header)
    original = zipfile.ZipFile.getinfo

    def declared(archive, name):
        entry = original(archive, name)
        if name == "sizes.npy":
            entry.file_size += 8 * shape - 24
        return entry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "getinfo", declared)
        with pytest.raises(MemoryError, match=r"saved\.npz: reading the array 'sizes' takes about"):
            Accumulator.load(path)


def test_a_table_that_memory_does_not_hold_is_refused(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.memory.available_memory", lambda: 4 * 10**9)
    accumulator = Accumulator(range(1000), cuts=np.linspace(0, 1, 511))
    with pytest.raises(MemoryError, match=r"1000 classes and 512 bins takes about 4\.1 GB, but 4"):
        accumulator.update(np.arange(2), np.eye(1000)[:2])


# What is lost or kept

DAMAGED = r"a\.npz.*(damaged|no accumulator)"


def learning(**options):
    return Accumulator([0, 1, 2], **({"n_bins": 64, "learn_from": 1000} | options))


@pytest.mark.parametrize("options", [{}, {"learn_from": 100}, {"cuts": CUTS, "n_bins": None}])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"y_score": SCORES.astype("f4")}, "scores are float32, but float64 in the batches before"),
        ({"sample_weight": np.ones(900)}, "weights are given, but missing in the batches before"),
        ({"y_pred": Y}, "hard labels are given, but missing in the batches before"),
    ],
)
def test_batch_of_another_form_changes_nothing(options, more, message):
    """Whenever it comes, it is refused at once, and what was seen before is all there."""
    accumulator = fed(learning(**options), np.arange(300))
    batch = {"y_true": Y, "y_score": SCORES} | more
    with pytest.raises(ValueError, match=message):
        accumulator.update(**{key: value[300:400] for key, value in batch.items()})
    fed(accumulator, np.arange(300, 900))
    assert accumulator.n_observations == 900
    assert estimates(accumulator) == estimates(fed(learning(**options), np.arange(900)))


def test_other_scores_than_cuts_allow_change_nothing():
    accumulator = Accumulator([0, 1, 2], cuts=[0.5, np.nextafter(0.5, 1)])
    with pytest.raises(ValueError, match="cuts must be finite"):
        accumulator.update(Y[:50], SCORES[:50].astype("f4"))
    accumulator.update(Y, SCORES)
    assert accumulator.n_observations == 900


@pytest.mark.parametrize("limit", [100, 10_000])
@pytest.mark.parametrize("limit_of_other", [100, 10_000])
def test_merging_adds_all_or_nothing(limit, limit_of_other):
    first, second = (
        fed(learning(learn_from=n), rows)
        for n, rows in ((limit, np.arange(300)), (limit_of_other, np.arange(300, 900)))
    )
    before = estimates(fed(learning(learn_from=limit), np.arange(300)))
    other = learning(learn_from=limit_of_other)
    other.update(Y[300:], SCORES[300:].astype("f4"))
    with pytest.raises(ValueError, match="the other accumulator: scores are float32, but float64"):
        first.merge(other)
    assert first.n_observations == 300
    if limit == limit_of_other == 100:
        with pytest.raises(ValueError, match="the cut points differ"):
            first.merge(second)
        assert estimates(first) == before
        return
    assert first.merge(second).n_observations == 900
    assert second.n_observations == 600


def test_merging_keeps_own_cuts(whole):
    """An accumulator that has seen nothing has cut points nevertheless."""
    learned = fed(learning(learn_from=100), np.arange(300))
    with pytest.raises(ValueError, match="the cut points differ"):
        Accumulator([0, 1, 2], cuts=CUTS).merge(learned)
    waiting = fed(learning(), np.arange(900))
    mine = Accumulator([0, 1, 2], cuts=CUTS).merge(waiting)
    np.testing.assert_array_equal(mine.cuts, np.tile(CUTS, (3, 1)))
    for name, found in estimates(mine).items():
        assert found == pytest.approx(whole[name], rel=1e-12)
    theirs = fed(learning(), np.arange(300)).merge(
        fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300, 900))
    )
    np.testing.assert_array_equal(theirs.cuts, mine.cuts)
    empty = Accumulator([0, 1, 2], cuts=CUTS)
    assert fed(learning(), np.arange(300)).merge(empty).n_observations == 300


def test_merging_what_is_no_other_accumulator():
    accumulator = fed(learning(), np.arange(300))
    for other in (None, 5, "x", SCORES):
        with pytest.raises(TypeError, match="other must be an Accumulator"):
            accumulator.merge(other)
    with pytest.raises(ValueError, match="its rows would count twice"):
        accumulator.merge(accumulator)


def test_interrupted_update_is_remembered(monkeypatch, tmp_path):
    accumulator = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dmfroc.counted.counts.Grid.bins", interrupted)
    with pytest.raises(KeyboardInterrupt):
        accumulator.update(Y[:50], SCORES[:50])
    monkeypatch.undo()
    for call in (
        accumulator.compute,
        lambda: accumulator.save(tmp_path / "a.npz"),
        lambda: accumulator.update(Y[:50], SCORES[:50]),
        lambda: Accumulator([0, 1, 2], cuts=CUTS).merge(accumulator),
    ):
        with pytest.raises(ValueError, match="an update was interrupted"):
            call()


def test_form_is_saved(tmp_path):
    path = tmp_path / "a.npz"
    accumulator = learning()
    accumulator.update(Y, SCORES.astype("f4"), sample_weight=np.ones(900), y_pred=Y)
    accumulator.save(path)
    again = Accumulator.load(path)
    assert estimates(again) == estimates(accumulator)
    for batch in ({"y_score": SCORES}, {"sample_weight": None}, {"y_pred": None}):
        given = {"y_score": SCORES.astype("f4"), "sample_weight": np.ones(900), "y_pred": Y}
        with pytest.raises(ValueError, match="in what was saved"):
            again.update(Y, **(given | batch))


def test_one_class_and_no_weights():
    one = learning()
    one.update(Y[Y == 0], SCORES[Y == 0])
    with pytest.raises(ValueError, match="one class only"):
        one.compute()
    nothing = learning()
    nothing.update(Y, SCORES, sample_weight=np.zeros(900))
    with pytest.raises(ValueError, match="sample_weight is zero in every row"):
        nothing.compute()
    some = learning()
    some.update(Y, SCORES, sample_weight=1.0 * (Y > 0))
    with pytest.raises(ValueError, match="sample_weight is zero in all rows of class 0"):
        some.compute()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["zeroed", "negated", "nan", "type", "shape", "dropped"])
def test_damaged_accumulators_are_refused(tmp_path, how):
    path = tmp_path / "a.npz"
    fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(900)).save(path)
    header, whole_arrays = storage.read(path)
    for name, value in whole_arrays.items():
        changed = {
            "zeroed": np.zeros_like(value),
            "negated": -value if value.dtype.kind in "if" else value.astype(np.int64),
            "nan": np.full(value.shape, np.nan),
            "type": value.astype(np.complex128),
            "shape": value[..., None],
        }
        arrays = {key: x for key, x in whole_arrays.items() if key != name}
        arrays |= {} if how == "dropped" else {name: changed[how]}
        np.savez(path, header=np.array(json.dumps(header)), **arrays)
        with pytest.raises(ValueError, match=DAMAGED):
            Accumulator.load(path)


@pytest.mark.parametrize(
    "header",
    [
        "[" * 100_000,
        '{"a":' * 5000,
        "[]",
        "null",
        '{"format": "dmfroc counts"}',
        '{"format": "dmfroc counts", "version": 2, "labels": {}}',
        "\ud800",
        "NaN",
    ],
)
def test_odd_headers_are_refused(tmp_path, header):
    path = tmp_path / "a.npz"
    np.savez(path, header=np.array(header), cuts=np.zeros(3))
    with pytest.raises(ValueError, match=r"a\.npz"):
        Accumulator.load(path)


@pytest.mark.parametrize("nested", ["(" * 5000 + ")" * 5000, "(" * 5000, "[" * 900, "-" * 3000])
def test_nested_headers_of_arrays_are_refused(tmp_path, nested):
    path = tmp_path / "a.npz"
    text = "{'descr': " + nested + ", 'fortran_order': False, 'shape': ()}"
    array = b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", array)
    with pytest.raises(ValueError, match=r"a\.npz"):
        Accumulator.load(path)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/null", "/dev/zero"):
        with pytest.raises(ValueError, match="a pipe or a device"):
            Accumulator.load(path)
    with pytest.raises(FileNotFoundError):
        Accumulator.load(tmp_path / "nowhere")


def test_what_was_merged_before_is_merged_on(whole):
    """Rows behind the standard errors are those of all, in whichever order parts were added."""
    a, b, c = (
        fed(Accumulator([0, 1, 2], cuts=CUTS), rows)
        for rows in (np.arange(100), np.arange(100, 500), np.arange(500, 900))
    )
    for part in (a, b, c):
        part.compute()  # each has a sample of its own
    for name, found in estimates(a.merge(c.merge(b))).items():
        assert found == pytest.approx(whole[name], rel=1e-12)
    both = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(100, 900))
    for name, found in estimates(c).items():
        assert found == pytest.approx(estimates(both)[name], rel=1e-12)


def test_empty_batches_count_for_nothing():
    accumulator = Accumulator(range(3))
    accumulator.update([], np.zeros((0, 3)))
    y, scores = normal_scores(0, 30, 3, 1.0)
    accumulator.update(y, scores)
    accumulator.update(y[:0], scores[:0])
    assert accumulator.n_observations == 30
    with pytest.raises(ValueError, match="y_true"):
        accumulator.update([], scores)


@pytest.mark.parametrize(
    ("measures", "message"),
    [(5, "measures must be a list"), (b"x", "measures must be a list"), ([], "measures must hold")],
)
def test_unusable_measures(measures, message):
    accumulator = Accumulator(range(3))
    accumulator.update(*normal_scores(0, 30, 3, 1.0))
    with pytest.raises((TypeError, ValueError), match=message):
        accumulator.compute(measures)
    for several in (pd.Series(["hand_till"]), iter(["hand_till"])):
        assert list(accumulator.compute(several).estimates) == ["hand_till"]


def test_unusable_paths(tmp_path):
    accumulator = Accumulator(range(3))
    accumulator.update(*normal_scores(0, 30, 3, 1.0))
    for path in (5, None, b"x", ""):
        for function in (accumulator.save, Accumulator.load):
            with pytest.raises((TypeError, ValueError), match="path must be a path"):
                function(path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ValueError, match="loop"):
        Accumulator.load(tmp_path / "loop")
