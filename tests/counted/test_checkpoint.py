"""A checkpoint answers for the data that it was made of, and passes read the same data or stop."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest
from simulations import normal_scores

import dmfroc

A, B = (normal_scores(seed, 500, 3, 1.0) for seed in (0, 1))
COLUMNS = {"label": "y", "scores": ["0", "1", "2"]}
WEIGHTED = {"y_true": A[0], "y_score": A[1], "sample_weight": np.ones(500)}
CHANGED = "the data have changed since an earlier pass"
OTHER = "is of another scan"


def estimate(source, measure="hand_till", **options):
    return dmfroc.estimate(measure, dmfroc.scan(source, **({"n_bins": 64} | options)))


def to_parquet(path, batch, **more):
    y, scores = batch
    table = pd.DataFrame({"y": y} | {str(k): scores[:, k] for k in range(3)} | more)
    table.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["batches", "function", "dask"])
def test_checkpoint_of_other_batches_is_refused(tmp_path, kind):
    if kind == "dask":
        dataframe = pytest.importorskip("dask.dataframe")
        frames = [pd.DataFrame({"y": y} | {str(k): s[:, k] for k in range(3)}) for y, s in (A, B)]
        first, second = (dataframe.from_pandas(frame, npartitions=2) for frame in frames)
    elif kind == "function":
        first, second = (lambda: [A]), (lambda: [B])
    else:
        first, second = [A], [B]
    options = {"checkpoint": tmp_path} | (COLUMNS if kind == "dask" else {})
    found = estimate(first, **options)
    assert estimate(first, **options) == found
    with pytest.raises(ValueError, match=CHANGED):
        estimate(second, **options)


@pytest.mark.parametrize(
    "other",
    [
        [WEIGHTED],
        [(A[0], A[1][::-1])],
        [(A[0], A[1] + 1e-9)],
        [A[::1], A],
        [{"y_true": A[0], "y_score": A[1], "y_pred": A[0]}],
        [{"y_true": A[0], "y_score": A[1], "groups": A[0]}],
        [(A[0], A[1].astype(np.float32))],
        [(np.array(list("abc"))[A[0]], A[1])],
        [(np.where(np.arange(500) < 9, 3, A[0]), np.column_stack([A[1], A[1][:, 0]]))],
    ],
)
def test_checkpoint_of_like_batches_is_refused(tmp_path, other):
    estimate([A], checkpoint=tmp_path)
    with pytest.raises(ValueError, match=f"{CHANGED}|{OTHER}"):
        estimate(other, checkpoint=tmp_path)


def grouped(groups):
    return [{"y_true": A[0], "y_score": A[1], "groups": groups}]


@pytest.mark.parametrize("kind", [int, str, "datetime64[s]"])
def test_other_groups_are_refused(tmp_path, kind):
    groups, others = ((np.arange(500) // n).astype(kind) for n in (5, 50))
    found = estimate(grouped(groups), checkpoint=tmp_path)
    assert estimate(grouped(groups), checkpoint=tmp_path) == found
    with pytest.raises(ValueError, match=f"{CHANGED}.*groups"):
        estimate(grouped(others), checkpoint=tmp_path)
    calls = itertools.count()
    with pytest.raises(ValueError, match=f"{CHANGED}.*groups"):
        estimate(lambda: grouped(groups if next(calls) < 4 else others))


def test_order_of_grouped_rows_does_not_matter():
    order, groups = np.random.default_rng(0).permutation(500), np.arange(500) // 5
    found = estimate(grouped(groups.astype(str)))
    rows = np.array_split(order, [100, 350])
    parts = [{"y_true": A[0][r], "y_score": A[1][r], "groups": groups[r].astype(str)} for r in rows]
    again = estimate(parts)
    assert again.value == found.value
    assert again.standard_error == pytest.approx(found.standard_error, rel=1e-12)


@pytest.mark.parametrize("kind", ["overwritten", "grown", "touched", "weights", "elsewhere"])
def test_checkpoint_of_other_files_is_refused(tmp_path, monkeypatch, kind):
    kept, options = tmp_path / "kept", COLUMNS
    path = to_parquet(tmp_path / "a.parquet", A, w=np.arange(500) % 3 + 1.0)
    monkeypatch.chdir(tmp_path)
    estimate("a.parquet", checkpoint=kept, **options)
    before = path.stat()
    match kind:
        case "overwritten":
            to_parquet(path, B)
        case "grown":
            to_parquet(path, [np.concatenate([x, y]) for x, y in zip(A, B, strict=True)])
        case "touched":
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        case "weights":
            options = COLUMNS | {"sample_weight": "w"}
        case "elsewhere":
            (tmp_path / "b").mkdir()
            to_parquet(tmp_path / "b" / "a.parquet", B)
            os.utime(tmp_path / "b" / "a.parquet", ns=(before.st_atime_ns, before.st_mtime_ns))
            monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(ValueError, match=OTHER):
        estimate("a.parquet", checkpoint=kept, **options)


def test_same_size_and_time_do_not_hide_other_scores(tmp_path):
    """The footer has statistics of columns; without them the sum of the rows' hashes tells."""
    path = tmp_path / "a.parquet"
    tables = [pd.DataFrame({"y": A[0], "0": s, "1": -s}) for s in (A[1][:, 0], A[1][:, 0][::-1])]
    options = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
    tables = [table[table["y"] < 2] for table in tables]
    tables[0].to_parquet(path, index=False, **options)
    before = path.stat()
    columns = {"label": "y", "scores": ["0", "1"], "checkpoint": tmp_path / "kept"}
    estimate(path, **columns)
    tables[1].to_parquet(path, index=False, **options)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(ValueError, match="changed"):
        estimate(path, **columns)


def test_long_cuts_and_labels_are_told_apart(tmp_path):
    cuts = np.linspace(-3, 4, 2000)
    others = cuts.copy()
    others[1000] += 1e-9
    estimate([A], cuts=cuts, n_bins=None, checkpoint=tmp_path / "cuts")
    estimate([A], cuts=cuts.tolist(), n_bins=None, checkpoint=tmp_path / "cuts")
    with pytest.raises(ValueError, match="another n_bins or cuts"):
        estimate([A], cuts=others, n_bins=None, checkpoint=tmp_path / "cuts")
    k = 1200
    batch = np.arange(2 * k) % k, np.random.default_rng(0).normal(size=(2 * k, k))
    labels = np.arange(k)
    swapped = labels.copy()
    swapped[[600, 601]] = [601, 600]
    options = {"n_bins": 2, "checkpoint": tmp_path / "labels"}
    _ = dmfroc.scan([batch], labels=labels, **options).reader
    with pytest.raises(ValueError, match="another labels"):
        _ = dmfroc.scan([batch], labels=swapped, **options).reader


def test_other_version_is_refused(tmp_path, monkeypatch):
    estimate([A], checkpoint=tmp_path)
    monkeypatch.setattr("dmfroc.counted.scan.package_version", lambda: "0.0.1")
    with pytest.raises(ValueError, match="another version of dmfroc"):
        estimate([A], checkpoint=tmp_path)


def damage(path, how):
    """Change what a file holds: as an editor of arrays does, or a disk."""
    with np.load(path) as archive:
        arrays = dict(archive)
    names = [name for name in arrays if name != "header"]
    match how:
        case "cut":
            path.write_bytes(path.read_bytes()[:-40])
            return
        case "header":
            arrays["header"] = np.array(str(arrays["header"]).replace("1", "2"))
        case "added":
            arrays["more"] = np.zeros(3)
        case "dropped":
            del arrays[names[0]]
        case "swapped":
            arrays[names[0]], arrays[names[1]] = arrays[names[1]], arrays[names[0]]
        case "zeroed":
            arrays |= {name: np.zeros_like(arrays[name]) for name in names[:1]}
        case "negated":
            arrays |= {name: -arrays[name].astype(float) for name in names[-1:]}
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *itertools.product(["labels", "sample", "counts"], ["cut", "header", "added"]),
        # The labels have no arrays but their header
        *itertools.product(["sample", "counts"], ["dropped", "swapped", "zeroed", "negated"]),
    ],
)
def test_damaged_checkpoints_are_refused(tmp_path, name, how):
    estimate([A], checkpoint=tmp_path)
    damage(tmp_path / f"{name}.npz", how)
    with pytest.raises(ValueError, match=f"{name}.npz.*(damaged|no file of counts)"):
        estimate([A], checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("checkpoint", "kind", "message"),
    [
        (5, TypeError, "checkpoint must be a path, but it is 5"),
        (b"x", TypeError, "checkpoint must be a path"),
        ("", ValueError, "checkpoint must be a path, but it is empty"),
        ("/dev/null", ValueError, "checkpoint /dev/null is no directory"),
        ("/dev/null/x", ValueError, "checkpoint /dev/null/x is no directory"),
        ("a\0b", ValueError, "is no directory"),
    ],
)
def test_unusable_checkpoints(checkpoint, kind, message):
    with pytest.raises(kind, match=message):
        dmfroc.scan([A], checkpoint=checkpoint)


def test_pipe_in_the_place_of_a_checkpoint(tmp_path):
    os.mkfifo(tmp_path / "labels.npz")
    with pytest.raises(ValueError, match="a pipe or a device"):
        estimate([A], checkpoint=tmp_path)


# Data that change between passes


@pytest.mark.parametrize("change", ["twice", "none", "other", "order of scores"])
@pytest.mark.parametrize("when", range(2, 8))
def test_function_that_changes_is_noticed(change, when):
    """Whenever the change comes, the value is that of the same batches in all passes, or none."""
    later = {
        "twice": [A, A],
        "none": [],
        "other": [(A[0], B[1])],
        "order of scores": [(A[0], A[1][:, [1, 0, 2]])],
    }[change]
    calls = itertools.count()
    found, told = None, CHANGED
    try:
        found = estimate(lambda: [A] if next(calls) < when else later, n_bins=8)
    except ValueError as error:
        told = str(error)
    assert CHANGED in told
    n_calls = next(calls)
    if n_calls <= when:  # not reached
        assert found == estimate([A], n_bins=8)
    elif found is not None:  # the pass of labels sees no scores
        assert when <= 3
        assert change in ("other", "order of scores")
        assert found == estimate(later, n_bins=8)


@pytest.mark.parametrize("change", ["replaced", "deleted", "directory", "no Parquet"])
@pytest.mark.parametrize("after", ["scan", "labels", "sample", "counts"])
def test_file_that_changes_is_noticed(tmp_path, change, after):
    path = to_parquet(tmp_path / "a.parquet", A)
    scan = dmfroc.scan(path, n_bins=64, **COLUMNS)
    if after != "scan":
        getattr(scan, after)
    path.unlink()
    if change == "replaced":
        to_parquet(path, B)
    elif change == "directory":
        path.mkdir()
    elif change == "no Parquet":
        path.write_text("y,0,1,2\n")
    with pytest.raises(ValueError, match=r"this file (has changed|cannot be read any more)"):
        dmfroc.estimate("hand_till", scan)


def test_exhausted_iterator_is_noticed():
    batches = iter([A, B])
    with pytest.raises(ValueError, match=CHANGED):
        estimate(lambda: batches)
