"""What a scan takes: files that are data, batches of one form, and words for all else."""

import os
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from simulations import normal_scores

import dmfroc
from dmfroc.counted import sources

Y, S = normal_scores(0, 600, 3, 1.0)
ROWS = np.arange(600)
COLUMNS = {"label": "y", "scores": ["0", "1", "2"]}
TABLE = pd.DataFrame({"y": Y} | {str(k): S[:, k] for k in range(3)})
EMPTY = (Y[:0], S[:0])


def estimate(source, **options):
    return dmfroc.estimate("hand_till", dmfroc.scan(source, **({"n_bins": 64} | options)))


EXPECTED = estimate([(Y, S)])


@pytest.fixture
def spark(tmp_path):
    """A directory as Spark leaves it when a job was retried."""
    folder = tmp_path / "scores.parquet"
    (folder / "_temporary" / "0").mkdir(parents=True)
    (folder / ".spark-staging").mkdir()
    (folder / "day=2").mkdir()
    TABLE[:300].to_parquet(folder / "part-0.snappy.parquet", index=False)
    TABLE[300:].to_parquet(folder / "day=2" / "part-1.snappy.parquet", index=False)
    for name in ("_temporary/0/part-0.parquet", ".spark-staging/a.parquet", "_a.parquet"):
        TABLE[:300].to_parquet(folder / name, index=False)
    TABLE[:300].to_parquet(folder / ".part-0.parquet", index=False)
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("pattern", ["", "*.parquet", "**/*.parquet", "**", "[dp]*"])
def test_folders_of_spark(spark, pattern, monkeypatch):
    """What pyarrow's data sets skip is skipped, and no file is read twice."""
    pyarrow_dataset = pytest.importorskip("pyarrow.dataset")
    files = pyarrow_dataset.dataset(spark, format="parquet").files
    parts = dmfroc.scan(spark, **COLUMNS).parts
    assert sorted(part.path for part in parts) == sorted(files)
    expected = [str(spark / "part-0.snappy.parquet")] if pattern == "*.parquet" else sorted(files)
    found = dmfroc.scan(str(spark / pattern), **COLUMNS)
    assert [part.path for part in found.parts] == expected
    for source in (str(spark.parent / "*.parquet"), "./**/*.parquet"):
        found = estimate(source, **COLUMNS)
        assert found.interval == pytest.approx(EXPECTED.interval, abs=1e-12)  # in another order
        assert replace(found, interval=EXPECTED.interval) == EXPECTED
        monkeypatch.chdir(spark)
    monkeypatch.chdir(spark / "_temporary")  # where the user is counts for nothing
    assert dmfroc.scan("./0/*.parquet", **COLUMNS).parts
    assert dmfroc.scan("0", **COLUMNS).parts


def test_what_is_named_is_read(spark):
    for pattern in ("_temporary/*/*.parquet", "_*.parquet", ".part*.parquet", "_a.parquet"):
        assert len(dmfroc.scan(str(spark / pattern), **COLUMNS).parts) == 1


def test_dangling_link(tmp_path):
    (tmp_path / "a.parquet").symlink_to("nowhere")
    for source in (tmp_path / "a.parquet", tmp_path, str(tmp_path / "*")):
        with pytest.raises(FileNotFoundError, match="there is no such"):
            dmfroc.scan(source, **COLUMNS)


def test_file_that_is_named_twice(spark, tmp_path):
    (tmp_path / "link.parquet").symlink_to(spark / "part-0.snappy.parquet")
    (tmp_path / "hard.parquet").hardlink_to(spark / "part-0.snappy.parquet")
    links = [[tmp_path / "link.parquet"], [tmp_path / "hard.parquet"]]
    for others in ([spark / "part-0.snappy.parquet"], *links):
        with pytest.raises(ValueError, match="more than once"):
            dmfroc.scan([spark, *others], **COLUMNS)


@pytest.mark.parametrize("place", ["path", "list", "pattern", "directory", "dataset"])
def test_pipes_are_refused(tmp_path, place):
    pipe = tmp_path / "a.parquet"
    os.mkfifo(pipe)
    source = {"path": pipe, "list": [pipe], "pattern": str(tmp_path / "*"), "directory": tmp_path}
    if place == "dataset":
        dataset = pytest.importorskip("pyarrow.dataset")
        whole = tmp_path / "b.parquet"
        TABLE.to_parquet(whole, index=False)
        source[place] = dataset.dataset(whole)
        whole.unlink()
        os.mkfifo(whole)
    with pytest.raises(ValueError, match="a pipe or a device"):
        dmfroc.scan(source[place], **COLUMNS)


def test_corrupt_page_is_told(tmp_path):
    """The file is named, whether its pages have checksums or not."""
    path = tmp_path / "a.parquet"
    TABLE.to_parquet(
        path, index=False, write_page_checksum=True, compression="none", use_dictionary=False
    )
    scan = dmfroc.scan(path, n_bins=64, **COLUMNS)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"{path}: a part of this file is damaged"):
        dmfroc.estimate("hand_till", scan)


@pytest.mark.parametrize("place", range(4))
def test_empty_batches_count_for_nothing(place):
    parts = [(Y[:200], S[:200]), (Y[200:], S[200:])]
    expected = estimate(parts)
    for empty in (EMPTY, ([], []), {"y_true": [], "y_score": S[:0], "groups": []}):
        assert estimate([*parts[:place], empty, empty, *parts[place:]]) == expected
        assert estimate(lambda e=empty: iter([*parts[:place], e, *parts[place:]])) == expected


def test_empty_files_and_partitions(tmp_path):
    dataframe = pytest.importorskip("dask.dataframe")
    delayed = pytest.importorskip("dask").delayed
    for i, rows in enumerate([[], ROWS[:300], [], [], ROWS[300:], []]):
        TABLE.iloc[rows].to_parquet(tmp_path / f"{i}.parquet", index=False)
    expected = estimate([(Y[:300], S[:300]), (Y[300:], S[300:])])
    assert estimate(tmp_path, **COLUMNS) == expected
    parts = [TABLE[:0], TABLE[:300], TABLE[:0], TABLE[300:], TABLE[:0]]
    frame = dataframe.from_delayed([delayed(part) for part in parts], meta=TABLE[:0])
    assert estimate(frame, **COLUMNS) == expected
    nothing = dataframe.from_delayed([delayed(TABLE[:0])] * 2, meta=TABLE[:0])
    with pytest.raises(ValueError, match="source is empty"):
        estimate(nothing, **COLUMNS)


def test_nothing_but_empty_batches():
    for source in ([EMPTY], [EMPTY, EMPTY], lambda: [], lambda: [EMPTY]):
        with pytest.raises(ValueError, match="source is empty"):
            estimate(source)


def halves(first, second):
    """Return two batches, of which each has more than scores."""
    return [
        {"y_true": Y[rows], "y_score": S[rows]} | {key: x[rows] for key, x in more.items()}
        for rows, more in ((ROWS[:300], first), (ROWS[300:], second))
    ]


ONES, GROUPS = np.ones(600), ROWS // 5


@pytest.mark.parametrize("kind", ["list", "function"])
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({}, {"groups": GROUPS}, "groups are integers, but missing in"),
        ({"sample_weight": ONES}, {}, "weights are missing, but given in"),
        ({"y_pred": Y}, {}, "hard labels are missing, but given in"),
        ({"groups": GROUPS}, {"groups": GROUPS.astype(str)}, "groups are text, but integers in"),
        ({"groups": GROUPS}, {"groups": GROUPS.astype(float)}, "groups are float64, but"),
        ({}, {"y_true": Y.astype(str)}, "are of type int, those of .* of type str: convert"),
        ({}, {"y_true": Y == 1}, "are of type int, those of .* of type bool: convert"),
        ({}, {"y_score": S.astype("f4")}, "scores are float32, but float64 in"),
        ({}, {"y_score": np.c_[S, S[:, 0]]}, "y_score has 4 columns"),
    ],
)
def test_batches_of_different_forms_are_refused(kind, first, second, message):
    for a, b in ((first, second), (second, first)):
        source = halves(a, b)
        with pytest.raises((ValueError, TypeError)) as caught:
            estimate((lambda s=source: s) if kind == "function" else source)
        if a is first:
            assert caught.match(message)


def test_one_column_and_two():
    y = Y % 2
    with pytest.raises(ValueError, match="columns are one for each class, but one in"):
        estimate([(y[:300], S[:300, 1]), (y[300:], S[300:, :2])])


def test_groups_of_several_kinds():
    with pytest.raises(TypeError, match="groups mixes names of several kinds"):
        estimate([{"y_true": Y, "y_score": S, "groups": [1, "1"] * 300}])
    masked = np.ma.masked_array(GROUPS, mask=ROWS < 9)
    with pytest.raises(ValueError, match="groups has a missing value"):
        estimate([{"y_true": Y, "y_score": S, "groups": masked}])


@pytest.mark.parametrize(
    ("names", "like"),
    [
        ([True, 1, 1.0, 2, 2.0], [1, 1, 1, 2, 2]),
        ([Decimal("1"), Decimal("1.0"), Decimal("2.00")], [1, 1, 2]),
        ([("a", 1), ("a", 1.0), ("b", 1)], ["a1", "a1", "b1"]),
        ([date(2024, 5, day) for day in (1, 1, 2)], ["1", "1", "2"]),
        (["a", "b", "c"], [3, 4, 5]),
    ],
)
def test_groups_that_are_equal_are_one_group(names, like):
    """Neither their kind nor how they are written matters, nor how batches divide them."""
    place = ROWS // 5 % len(names)

    def grouped(groups, kind):
        values = np.fromiter((groups[i] for i in place), kind, len(ROWS))
        return estimate(halves({"groups": values}, {"groups": values}))

    found = grouped(names, object).standard_error
    assert found == pytest.approx(grouped(like, np.asarray(like).dtype).standard_error, rel=1e-12)
    assert found != pytest.approx(EXPECTED.standard_error, rel=0.01)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (0 * ONES, "sample_weight is zero in every row"),
        (1.0 * (Y > 0), "sample_weight is zero in all rows of class 0"),
        (1e300 * ONES, "those of batches must be between 1e-50 and 1e[+]50"),
        (1e-300 * ONES, "those of batches must be between 1e-50 and 1e[+]50"),
    ],
)
def test_weights_that_are_of_no_use(weights, message):
    with pytest.raises(ValueError, match=message):
        estimate(halves({"sample_weight": weights}, {"sample_weight": weights}))


def test_rows_are_counted_with_those_of_weight_zero():
    bad = S.copy()
    bad[450] = np.nan
    batches = halves({"sample_weight": 1.0 * (ROWS % 3 > 0)}, {"sample_weight": ONES})
    batches[1]["y_score"] = bad[300:]
    with pytest.raises(ValueError, match="the batch from row 300 on"):
        estimate(lambda: iter(batches))


@pytest.mark.parametrize("row", [5, 140, 330, 599])
@pytest.mark.parametrize("column", ["y", "1"])
def test_rows_of_files_are_counted_from_their_beginning(tmp_path, monkeypatch, row, column):
    """Whatever row groups, parts and batches a file is read in, and in whichever pass."""
    monkeypatch.setattr(sources, "ROWS_AT_ONCE", 70)
    monkeypatch.setattr(sources, "_ROWS_OF_PART", 200)
    table = TABLE.astype({"y": "Int64"})
    table.loc[row, column] = pd.NA if column == "y" else np.nan
    table.to_parquet(tmp_path / "a.parquet", index=False, row_group_size=100)
    with pytest.raises(ValueError, match=r"a\.parquet") as caught:
        estimate(tmp_path / "a.parquet", **COLUMNS)
    first = re.search(r"the batch from row (\d+) on", str(caught.value))
    in_batch = re.search(r"at data row (\d+)", str(caught.value))
    assert (int(first[1]) if first else 0) + int(in_batch[1]) == row + 1


def test_errors_of_the_first_batch_name_it():
    bad = S.copy()
    bad[0] = np.nan
    with pytest.raises(ValueError, match=r"^batch 0 \(counting from 0\): y_score must be numbers"):
        estimate([(Y, bad), (Y, S)])


@pytest.mark.parametrize("bad", [None, 5, "x", (1,), {"y_true": Y}, pd.DataFrame({"a": [1]})])
def test_what_is_no_batch(bad):
    for source in (lambda: [bad], lambda: [(Y, S), bad], [(Y, S), bad]):
        with pytest.raises((TypeError, ValueError), match="batch must"):
            estimate(source)


@pytest.mark.parametrize("found", [None, 5])
def test_function_that_returns_no_batches(found):
    with pytest.raises(TypeError, match="source must be a function that returns an iterator"):
        estimate(lambda: found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuts": {}}, "cuts must be an array, but it is a dict"),
        ({"cuts": {"a": [1.0]}}, "cuts must be an array, but it is a dict"),
        ({"cuts": "x"}, "cuts must hold real numbers"),
        ({"cuts": [[1], [1, 2]]}, "cuts must be an array of numbers, not ragged"),
        ({"cuts": 5}, "cuts must have one row for each"),
        ({"scheduler": 5}, "scheduler must be the address"),
        ({"scheduler": ""}, "scheduler must be the address"),
        ({"n_bins": 2.5}, "n_bins must be an integer >= 2"),
        ({"n_bins": True}, "n_bins must be an integer >= 2"),
        ({"labels": 5}, "labels must be a one-dimensional array"),
    ],
)
def test_unusable_options(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        dmfroc.estimate("hand_till", dmfroc.scan([(Y, S)], **options))
