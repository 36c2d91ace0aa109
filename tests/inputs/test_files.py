"""A file gives the same predictions as the arrays in it, or the reason why not."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from prediction_samples import FRAME, LABELS, SCORES, assert_identical, exactly
from pyarrow import parquet

import dmfroc
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions

TABLE = FRAME.rename(columns="score_{}".format).assign(
    species=LABELS, weight=[1.0, 2, 1, 1, 1], hard=["b", "a", "a", "b", "c"]
)
COLUMNS = {"label": "species", "sample_weight": "weight", "y_pred": "hard"}


def write(table, path):
    if path.name.endswith(".npz"):
        np.savez(
            path,
            species=np.array(table["species"], str),
            weight=table["weight"],
            hard=np.array(table["hard"], str),
            y_score=table.filter(like="score").to_numpy(),
        )
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


@pytest.fixture
def csv(tmp_path):
    """Write a CSV file from its lines."""

    def write_lines(*lines, name="scores.csv"):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write_lines


@pytest.mark.parametrize(
    "name", ["s.csv", "s.csv.gz", "s.tsv", "s.tsv.gz", "s.parquet", "s.npz", "S.CSV"]
)
@pytest.mark.filterwarnings("ignore:.* not the class of the largest score")
def test_files_equal_arrays(tmp_path, name):
    path = write(TABLE[["weight", *TABLE.columns.drop("weight")]], tmp_path / name)
    expected = as_predictions(LABELS, SCORES, sample_weight=TABLE["weight"], y_pred=TABLE["hard"])
    assert_identical(Predictions.from_file(path, **COLUMNS), expected)
    assert_identical(Predictions.from_file(str(path), **COLUMNS), expected)


def test_score_columns_of_a_file_are_matched_by_name(tmp_path):
    path = write(TABLE[["score_c", "hard", "score_a", "species", "score_b"]], tmp_path / "s.csv")
    names = ["score_b", "score_c", "score_a"]
    expected = as_predictions(LABELS, SCORES)
    assert_identical(Predictions.from_file(path, label="species", scores=names), expected)
    reordered = Predictions.from_file(path, label="species", scores=names, labels=["c", "b", "a"])
    np.testing.assert_array_equal(reordered.scores, SCORES[:, ::-1])


def test_other_numbers_next_to_columns_named_like_text_labels(csv):
    path = csv("y,a,b,fold", "a,1,2,1", "b,3,4,2")
    message = (
        "score: column 'fold' names no class of label column 'y', and the scores of the classes do "
        "not sum to one without it: leave it out with other_columns=['fold'], or pass labels="
    )
    for labels in (None, ["a", "b"]):
        with pytest.raises(ValueError, match=re.escape(message)):
            Predictions.from_file(path, label="y", labels=labels)
    asked = Predictions.from_file(path, label="y", labels=["a", "b", "fold"])
    assert asked.absent_labels == ("fold",)
    expected = as_predictions(["a", "b"], [[1, 2], [3, 4]])
    for options in ({"scores": ["a", "b"]}, {"other_columns": ["fold"]}):
        assert_identical(Predictions.from_file(path, label="y", **options), expected)


@pytest.mark.parametrize(
    ("header", "labels", "column"),
    [
        ("y,0,1,fold", ("0", "1"), "fold"),
        ("y,fold,1,0", ("0", "1"), "fold"),
        ("y,p_0,p_1,fold", ("0", "1"), "fold"),
        ("y,p_0,p_1,fold_2", ("0", "1"), "fold_2"),
        ("y,p_0,p_1,2", ("0", "1"), "2"),
        ("y,0,1,1.5", ("0", "1"), "1.5"),
        ("y,false,true,fold", ("false", "true"), "fold"),
        ("y,p_False,p_True,2", ("false", "true"), "2"),
    ],
)
def test_other_numbers_next_to_columns_named_like_other_labels(csv, header, labels, column):
    path = csv(header, f"{labels[0]},1,2,1", f"{labels[1]},3,4,2")
    hint = "pass folds='fold' if it has folds: " if column == "fold" else ""
    message = exactly(f"{hint}columns that match no class are ignored: {column!r}")
    with pytest.warns(UserWarning, match=message):
        found = Predictions.from_file(path, label="y")
    names = [name for name in header.split(",")[1:] if name != column]
    assert_identical(found, Predictions.from_file(path, label="y", scores=names))


def test_integer_and_boolean_labels_of_a_file(csv):
    integers = csv("y,p_10,p_9", "9,1,4", "10,3,2")
    assert Predictions.from_file(integers, label="y").labels == (9, 10)
    np.testing.assert_array_equal(
        Predictions.from_file(integers, label="y").scores, [[4, 1], [2, 3]]
    )
    assert Predictions.from_file(integers, label="y", labels=["10", "9"]).labels == (10, 9)
    assert Predictions.from_file(integers, label="y", labels=[10, 9]).labels == (10, 9)
    with pytest.raises(ValueError, match="no column for class 'x'"):
        Predictions.from_file(integers, label="y", labels=["10", "x"])
    booleans = csv("y,true,false", "true,1,4", "false,3,2")
    assert Predictions.from_file(booleans, label="y").labels == (False, True)
    reversed_order = Predictions.from_file(booleans, label="y", labels=["True", "False"])
    assert reversed_order.labels == (True, False)
    np.testing.assert_array_equal(
        Predictions.from_file(booleans, label="y").scores, [[4, 1], [2, 3]]
    )


@pytest.mark.parametrize(
    ("labels", "name", "given", "expected", "positive"),
    [
        (["no", "yes"], "yes", None, ("no", "yes"), 1),
        (["no", "yes"], "score_no", None, ("yes", "no"), 1),
        (["no", "yes"], "risk", ["yes", "no"], ("yes", "no"), 1),
        (["no", "yes"], "p_yes", ["yes", "no"], ("yes", "no"), 0),
        (["b", "a_b"], "p_a_b", None, ("b", "a_b"), 1),
        ([0, 1], "risk", None, (0, 1), 1),
        ([0, 1], "p0", None, (0, 1), 0),
        ([True, False], "risk", None, (False, True), 1),
        ([True, False], "p_false", None, (False, True), 0),
        ([3, 7], "7", None, (3, 7), 1),
        ([3, 7], "risk17", ["3", "7"], (3, 7), 1),
    ],
)
def test_single_score_column_of_a_file(csv, labels, name, given, expected, positive):
    path = csv(f"y,{name}", f"{labels[0]},0.25", f"{labels[1]},0.5")
    predictions = Predictions.from_file(path, label="y", labels=given)
    assert predictions.labels == expected
    np.testing.assert_array_equal(predictions.scores[:, positive], [0.25, 0.5])
    np.testing.assert_array_equal(predictions.scores[:, 1 - positive], [-0.25, -0.5])
    assert predictions.predicted is None


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2]])
def test_single_score_column_that_names_no_class(csv, labels):
    path = csv("y,risk", f"{labels[0]},0.25", f"{labels[1]},0.5")
    message = (
        f"{path}: score column 'risk' names neither {labels[0]!r} nor {labels[1]!r}: name it "
        "after the class with the larger scores, or pass the negative class followed by the "
        f"positive one, such as labels={labels}"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        Predictions.from_file(path, label="y")


def test_whole_scores_at_the_start_of_a_large_csv(csv):
    lines = [f"{row % 2},0,1" for row in range(300_000)] + ["1,0.5,0.25"]
    predictions = Predictions.from_file(csv("y,p_0,p_1", *lines), label="y")
    np.testing.assert_array_equal(predictions.scores[[0, -1]], [[0, 1], [0.5, 0.25]])


def test_saved_pandas_index_is_no_score(tmp_path):
    table = TABLE[["species", "score_a", "score_b", "score_c"]]
    path = tmp_path / "s.parquet"
    table.set_index(pd.Index([4, 2, 3, 1, 0], name="id")).to_parquet(path)
    assert_identical(Predictions.from_file(path, label="species"), as_predictions(LABELS, SCORES))


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        (
            ["y,a,b", "a,1,2", ",3,4"],
            ValueError,
            "label column 'y' has a missing label at data row",
        ),
        (
            ["y,a,b", "a,1,2", "b,,4"],
            ValueError,
            "score must be numbers, but 1 of 4 values are not; the first is nan at data row 2, "
            "column 'a' (class 'a')",
        ),
        (["y,a,b", "a,1,2", "b,3,nan"], ValueError, "the first is nan at data row 2, column 'b'"),
        (["y,a,b", "a,1,2", "c,3,4"], ValueError, "no column for class 'c'"),
        (["y,p_a,q_b,id", "a,1,2,3", "b,3,4,5"], ValueError, "no class for column 'q_b', 'id'"),
        (["y,p_a,q_b,id", "a,1,2,3", "b,3,4,5"], ValueError, "or choose with scores="),
        (["y,,a,q_b", "a,0,1,2", "b,1,3,4"], ValueError, "save without (index=False)"),
        (
            ["y,p_a,p_b,q_a,q_b", "a,1,2,3,4", "b,3,4,5,6"],
            ValueError,
            "choose with scores= those of one classifier, which are named like one of 'p_*', "
            "'q_*', or save a file for each",
        ),
        (
            ["y,a,b", "a,1,2", "b,n/a?,4"],
            TypeError,
            "data row 2 has 'n/a?': convert it to real numbers",
        ),
        (["y,a,b", "a,1,2", "a,3,4"], ValueError, "label column 'y' holds one class only ('a')"),
        (["y,a,b"], ValueError, "label column 'y' is empty"),
        (["y,a,a", "a,1,2", "b,3,4"], ValueError, "duplicate column names: 'a'; rename them"),
        (["y", "a", "b"], ValueError, "there is no score column; the columns are 'y'"),
        (["y,p_a", "a,1", "b,3", "c,4"], ValueError, "score has a single column, which is enough"),
        (
            ["y,a,b", "a,1,x", "b,3,y"],
            TypeError,
            "score column 'b' holds text, and data row 1 has 'x': convert it to real numbers; name "
            "the score columns with scores=",
        ),
        (
            ["y,a,b", "2020-01-01,1,2", "2020-01-02,3,4"],
            TypeError,
            "label column 'y' holds datetime64[D] values",
        ),
        (["y,a,b", "a,1", "b,3,4"], ValueError, "the file cannot be read: CSV parse error"),
        ([], ValueError, "the file cannot be read: "),
    ],
)
def test_unusable_tables(csv, lines, error, message):
    path = csv(*lines)
    if not lines:
        path.write_text("")
    with pytest.raises(error, match=f"^{re.escape(f'{path}: ')}.*{re.escape(message)}"):
        Predictions.from_file(path, label="y")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"label": "specie"},
            "there is no column 'specie', which label= names (did you mean 'species'?); the "
            "columns are 'score_a', 'score_b', 'score_c', 'species', 'weight', 'hard'",
        ),
        ({"label": "q"}, "no column 'q', which label= names; the columns are 'score_a'"),
        ({"label": "species", "scores": ["score_a", "score_x"]}, "'score_x', which scores= names"),
        ({"label": "species", "scores": []}, "there is no score column; the columns are"),
        ({"label": "species", "sample_weight": "wait"}, "'wait', which sample_weight= names (did"),
        ({"label": "species", "y_pred": "soft"}, "no column 'soft', which y_pred= names"),
    ],
)
def test_unknown_columns(tmp_path, arguments, message):
    path = write(TABLE, tmp_path / "s.csv")
    with pytest.raises(ValueError, match=re.escape(message)):
        Predictions.from_file(path, **arguments)


def test_weights_and_hard_labels_of_a_file_are_named(csv):
    path = csv("y,a,b,w,h", "a,1,2,1,a", "b,3,4,-1,c")
    scores = ["a", "b"]
    with pytest.raises(
        ValueError, match=r"weight column .w. is -1\.0 at data row 2: it must be finite"
    ):
        Predictions.from_file(path, label="y", scores=scores, sample_weight="w")
    with pytest.raises(ValueError, match="column 'h' of hard labels has labels without a score"):
        Predictions.from_file(path, label="y", scores=scores, y_pred="h")


def test_missing_file(tmp_path):
    path = tmp_path / "nowhere.csv"
    message = exactly(f"{path}: there is no such file; check the path")
    with pytest.raises(FileNotFoundError, match=message):
        Predictions.from_file(path, label="y")


def test_directory(tmp_path):
    message = f"{tmp_path}: this is a directory; name one file in it"
    with pytest.raises(ValueError, match=exactly(message)):
        Predictions.from_file(tmp_path, label="y")


def test_unsupported_kind_of_file(csv):
    path = csv("y,a,b", name="scores.xlsx")
    message = (
        f"{path}: unsupported kind of file; supported are .csv, .tsv, .txt, .tab, .parquet, "
        ".jsonl, .ndjson, .json, .feather, .arrow, .npz, and texts compressed as "
        ".gz. Save the sheet as CSV"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        Predictions.from_file(path, label="y")


@pytest.mark.parametrize("name", ["s.parquet", "s.npz", "s.csv.gz"])
@pytest.mark.parametrize("damage", ["truncated", "garbage"])
def test_damaged_files(tmp_path, name, damage):
    path = write(TABLE, tmp_path / name)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"nonsense" * 9)
    with pytest.raises(ValueError, match=re.escape(f"{path}: the file cannot be read: ")) as caught:
        Predictions.from_file(path, **COLUMNS)
    assert caught.value.__cause__.__cause__ is not None
    assert "\n" not in str(caught.value)


# NumPy archives


@pytest.fixture
def npz(tmp_path):
    """Write an .npz file from its arrays."""

    def save(**arrays):
        np.savez(tmp_path / "s.npz", **arrays)
        return tmp_path / "s.npz"

    return save


def test_npz_with_class_order(npz):
    path = npz(truth=[0, 2, 2], p=np.eye(3), labels=[2, 1, 0])
    predictions = Predictions.from_file(path, label="truth", scores="p")
    assert predictions.labels == (2, 1, 0)
    assert predictions.absent_labels == (1,)
    assert Predictions.from_file(path, label="truth", scores="p", labels=list("012")).labels == (
        0,
        1,
        2,
    )


def test_npz_array_called_labels_may_hold_the_observations(npz):
    path = npz(labels=["b", "a", "a"], y_score=np.eye(3)[:, :2].astype(np.float32))
    predictions = Predictions.from_file(path, label="labels")
    assert predictions.labels == ("a", "b")
    assert predictions.scores.dtype == np.float32


def test_npz_single_score(npz):
    predictions = Predictions.from_file(npz(y=[0, 1], y_score=[0.25, 0.5]), label="y")
    np.testing.assert_array_equal(predictions.scores, [[-0.25, 0.25], [-0.5, 0.5]])


@pytest.mark.parametrize(
    ("arrays", "arguments", "message"),
    [
        ({"y": [0, 1]}, {}, "there is no array 'y_score', which scores= names"),
        (
            {"y": [0, 1], "p": np.eye(2)},
            {"label": "z"},
            "no array 'z', which label= names; the arr",
        ),
        ({"y": [0, 1]}, {"scores": ["y"]}, "scores= must name the one array of an .npz file that"),
        (
            {"y": np.array(["a", None], object), "y_score": np.eye(2)},
            {},
            "the file cannot be read: Object arrays cannot be loaded",
        ),
        (
            {"y": [0, 1, 1], "y_score": np.eye(2)},
            {},
            "array 'y' has 3 rows but array 'y_score' has",
        ),
        ({"y": [0, np.nan], "y_score": np.eye(2)}, {}, "array 'y' has a missing label at row 1 (c"),
        (
            {"y": [0, 1], "y_score": np.diag([1, np.nan])},
            {},
            "array 'y_score' must be numbers, but 1 of 4 values are not; the first is nan at row 1 "
            "(counting from 0), column 1 (class 1)",
        ),
    ],
)
def test_unusable_npz(npz, arrays, arguments, message):
    path = npz(**arrays)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: ')}.*{re.escape(message)}"):
        Predictions.from_file(path, **({"label": "y"} | arguments))


def test_npz_that_is_one_bare_array(tmp_path):
    path = tmp_path / "s.npz"
    with path.open("wb") as stream:
        np.save(stream, np.eye(2))
    with pytest.raises(ValueError, match="cannot be read: it holds one array without a name"):
        Predictions.from_file(path, label="y")


def test_parquet_keeps_categories_and_nulls(tmp_path):
    path = tmp_path / "s.parquet"
    label = pa.array(LABELS).dictionary_encode()
    parquet.write_table(pa.table({"y": label, **{name: FRAME[name] for name in "cba"}}), path)
    assert_identical(Predictions.from_file(path, label="y"), as_predictions(LABELS, SCORES))
    broken = pa.array([*LABELS[:4], None]).dictionary_encode()
    parquet.write_table(pa.table({"y": broken, **{name: FRAME[name] for name in "cba"}}), path)
    with pytest.raises(ValueError, match="label column 'y' has a missing label at data row 5"):
        Predictions.from_file(path, label="y")


def test_columns_that_the_first_json_row_lacks_are_read(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text('[{"y": "a", "p_a": 0.9}, {"y": "b", "p_a": 0.3, "p_b": 0.7}]')
    with pytest.raises(ValueError, match="column 'p_b'"):
        Predictions.from_file(file, label="y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[["a", 0.9], ["b", 0.2]]', "rows without names"),
        ('{"y": ["a", "b"], "a": [1, 2, 3], "b": [1, 2, 3]}', "different lengths: 2, 3, 3"),
    ],
)
def test_json_without_rows_is_refused_in_words(tmp_path, content, message):
    file = tmp_path / "rows.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=message):
        Predictions.from_file(file, label="y")


# Other rows, and labels in another file


def test_rows_of_some_values_are_kept_in_every_kind_of_file(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"y": np.arange(60) % 2, "p": rng.random(60).round(6), "part": np.arange(60) % 3}
    )
    table["split"] = np.where(table.index < 20, "a", np.where(table.index < 40, "b", "c"))
    table.loc[table.split == "a", "y"] = 7  # a label that others do not have
    kept = table[table.split.isin(["b", "c"]) & (table.part == 1)]
    expected = Predictions.from_arrays(kept.y, kept.p.to_numpy())
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    np.savez(tmp_path / "a.npz", **{name: np.array(x.tolist()) for name, x in table.items()})
    where = {"split": ["b", "c"], "part": 1}
    for suffix in ("csv", "parquet", "jsonl", "npz"):
        path = tmp_path / f"a.{suffix}"
        read = Predictions.from_file(path, label="y", scores="p", where=where)
        np.testing.assert_array_equal(read.true, expected.true)
        np.testing.assert_array_equal(read.scores, expected.scores)
        with pytest.raises(
            ValueError, match="where= column 'split' has no row 'd': its values are"
        ):
            Predictions.from_file(path, label="y", scores="p", where={"split": "d"})
        with pytest.raises(ValueError, match="'splits', which where= names"):
            Predictions.from_file(path, label="y", scores="p", where={"splits": "b"})
    with pytest.raises(TypeError, match="where must be of type dict"):
        Predictions.from_file(path, label="y", scores="p", where="split=b")


def test_a_file_of_labels_with_the_names_of_the_scores(tmp_path):
    rng = np.random.default_rng(1)
    names, ids = ["cat", "dog", "eel"], [f"i{x}" for x in range(60)]
    codes, shares = np.arange(60) % 3, rng.dirichlet([1, 1, 1], 60)
    order = rng.permutation(60)
    pd.DataFrame(shares, ids, names).iloc[order].to_csv(tmp_path / "a.csv", index_label="id")
    one_hot = pd.DataFrame(np.eye(3)[codes], ids, names)
    expected = Predictions.from_arrays(np.array(names)[codes], shares)
    options = {"truth": tmp_path / "truth.csv", "id": "id"}
    for truth in (one_hot, one_hot.astype(int)[["eel", "cat", "dog"]], one_hot.assign(note="x")):
        truth.to_csv(tmp_path / "truth.csv", index_label="id")
        read = Predictions.from_file(tmp_path / "a.csv", label="dog", **options)
        np.testing.assert_array_equal(read.true, expected.true[order])
        np.testing.assert_array_equal(read.scores, expected.scores[order])
    # One class against the others
    read = Predictions.from_file(tmp_path / "a.csv", label="dog", scores="dog", **options)
    assert read.labels == (0, 1)
    np.testing.assert_array_equal(read.true, codes[order] == 1)
    np.testing.assert_array_equal(read.scores[:, 1], shares[order, 1])


@pytest.mark.parametrize("scores", [None, "y"])
def test_two_files_with_the_same_two_columns(tmp_path, scores):
    y, p = np.arange(40) % 2, np.random.default_rng(2).random(40)
    for name, column in (("scores", p), ("truth", y)):
        pd.DataFrame({"id": np.arange(40), "y": column}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    truth = {"truth": tmp_path / "truth.csv", "id": "id"}
    read = Predictions.from_file(tmp_path / "scores.csv", label="y", scores=scores, **truth)
    np.testing.assert_array_equal(read.true, y)
    np.testing.assert_array_equal(read.scores[:, 1], p)


@pytest.mark.parametrize(
    ("file", "truth", "options", "expected"),
    [
        ("binary_submission", "solution", {"id": "id", "label": "y"}, 0.8884285714285715),
        ("submission", "ground_truth", {"id": "image", "label": "MEL"}, 0.8840761999244142),
    ],
)
def test_submissions_and_their_truth(cases_directory, file, truth, options, expected):
    paths = (cases_directory / f"third/{x}.csv" for x in (file, truth))
    read = Predictions.from_file(next(paths), truth=next(paths), **options)
    assert dmfroc.hand_till_score(read) == pytest.approx(expected)


# Rows that lack a value


def lacking():
    rng = np.random.default_rng(0)
    labels = np.array(list("abc"))[np.arange(90) % 3].astype(object)
    table = pd.DataFrame(rng.dirichlet([1, 1, 1], 90).round(6), columns=["p_a", "p_b", "p_c"])
    table = table.assign(y=labels, age=rng.random(90).round(3), group=np.arange(90) // 3)
    table.loc[[3, 50], "p_b"] = np.nan
    table.loc[17, "y"] = None
    table.loc[60:70, "age"] = np.nan  # which has no use
    return table, table.drop(index=[3, 17, 50])


@pytest.mark.filterwarnings("ignore:columns that match no class:UserWarning")
@pytest.mark.parametrize("scores", [None, "p_*", ["p_a", "p_b", "p_c"]])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_rows_without_a_value_are_left_out(tmp_path, scores, suffix):
    table, kept = lacking()
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False, na_rep="NA")
    elif suffix == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)
    options = {"label": "y", "scores": scores, "other_columns": ["group"]}
    with pytest.raises(ValueError, match="drop the row with drop_missing=True"):
        Predictions.from_file(path, **options)
    told = "drop_missing: 3 of 90 rows are left out, data rows 4, 18, 51: .* in column 'p_b', 'y'"
    with pytest.warns(UserWarning, match=told):
        read = Predictions.from_file(path, drop_missing=True, **options)
    expected = as_predictions(kept.y.tolist(), kept[["p_a", "p_b", "p_c"]].to_numpy())
    np.testing.assert_array_equal(read.true, expected.true)
    np.testing.assert_array_equal(read.scores, expected.scores)
    table[table.index != 17].to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="drop their rows with drop_missing=True"):
        Predictions.from_file(tmp_path / "a.csv", **options)


def test_a_column_that_lacks_nothing_drops_nothing(tmp_path):
    _, kept = lacking()
    kept[["y", "p_a", "p_b", "p_c"]].to_csv(tmp_path / "a.csv", index=False)
    options = {"label": "y", "drop_missing": True}
    assert Predictions.from_file(tmp_path / "a.csv", **options).n_observations == 87
    np.savez(tmp_path / "a.npz", y=[0, 1], y_score=[0.1, 0.2])
    with pytest.raises(ValueError, match="drop_missing= is for tables"):
        Predictions.from_file(tmp_path / "a.npz", **options)
