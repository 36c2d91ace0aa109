"""Columns find their classes by name, or are told why not."""

import itertools
import re

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from prediction_samples import FRAME, LABELS, SCORES, assert_identical, exactly

from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions

BINARY = [0, 1, 1, 0]
SCORE = np.array([0.1, 0.7, 0.4, 0.5])


# One score for two classes


@pytest.mark.parametrize(
    "score",
    [
        SCORE,
        SCORE[:, None],
        SCORE.tolist(),
        jnp.asarray(SCORE.tolist(), jnp.float32),
        pd.Series(SCORE),
        pd.Series(SCORE, name="score"),
        pd.Series(SCORE, name="score_1"),
        pl.Series(SCORE),
        pa.array(SCORE),
        pd.DataFrame({"risk": SCORE}),
    ],
)
def test_single_score_belongs_to_the_second_class(score):
    predictions = as_predictions(BINARY, score)
    assert predictions.labels == (0, 1)
    np.testing.assert_allclose(predictions.scores, np.stack([-SCORE, SCORE], axis=1), rtol=1e-7)
    assert predictions.predicted is None


@pytest.mark.filterwarnings("ignore:check that y_score and y_pred are")
def test_single_score_with_labels_and_hard_labels():
    predictions = as_predictions(BINARY, SCORE, labels=[1, 0], y_pred=[1, 1, 0, 0])
    assert predictions.labels == (1, 0)
    assert predictions.true.tolist() == [1, 0, 0, 1]
    np.testing.assert_array_equal(predictions.scores, np.stack([-SCORE, SCORE], axis=1))
    assert predictions.predicted.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "score",
    [
        pd.Series(SCORE, name="no"),
        pd.Series(SCORE, name="p_no"),
        pl.Series("no", SCORE),
        pl.DataFrame({"p_no": SCORE}),
    ],
)
def test_single_score_must_not_name_the_first_class(score):
    labels = ["no", "yes", "yes", "no"]
    message = (
        r"^y_score is named '(p_)?no', but a single score is that of the positive class, 'yes'"
    )
    with pytest.raises(ValueError, match=message):
        as_predictions(labels, score)
    predictions = as_predictions(labels, score, labels=["yes", "no"])
    np.testing.assert_array_equal(predictions.scores[:, 1], SCORE)


def test_single_score_must_be_finite():
    with pytest.raises(ValueError, match=r"1 of 4 values .* column 0 \(class 1\)"):
        as_predictions(BINARY, [0.1, np.nan, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"1 of 4 values .* column 'p_1' \(class 1\)"):
        as_predictions(BINARY, pd.Series([0.1, np.nan, 0.2, 0.3], name="p_1"))


# Columns by name


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a", "b", "c"], ["score_a", "score_b", "score_c"]),
        (["a", "b", "c"], [".pred_a", ".pred_b", ".pred_c"]),
        (["a", "ba", "a_b"], ["p_a", "p_ba", "p_a_b"]),
        (["x_a", "x_b", "x_c"], ["x_a", "x_b", "x_c"]),
        (["1", "2", "10"], [1, 2, 10]),
        ([1, 2, 10], ["1", "2", "10"]),
        ([1, 2, 10], [1, 2, 10]),
        ([1, 2, 10], [1.0, 2.0, 10.0]),
        ([1, 2, 10], ["p1", "p2", "p10"]),
        ([-1, 0, 1], ["prob_-1", "prob_0", "prob_1"]),
        ([False, True], [False, True]),
        ([False, True], [0, 1]),
        ([0, 1], [False, True]),
        ([False, True], ["score_false", "score_true"]),
        ([False, True], ["False", "True"]),
    ],
)
def test_columns_are_matched_by_name(labels, names):
    k = len(labels)
    scores = np.arange(k * k, dtype=float).reshape(k, k)
    scores[1:, 0] *= -1  # of two classes complements
    by_position = as_predictions(labels, scores, labels=labels)
    for order in (np.arange(k), np.arange(k)[::-1], np.roll(np.arange(k), 1)):
        frame = pd.DataFrame(scores[:, order], columns=[names[column] for column in order])
        assert_identical(as_predictions(labels, frame, labels=labels), by_position)
        by_name = as_predictions(labels, frame)
        is_number = labels == ["1", "2", "10"]
        assert by_name.labels == tuple(sorted(labels, key=int if is_number else None))
        for code, label in enumerate(by_name.labels):
            np.testing.assert_array_equal(by_name.scores[:, code], scores[:, labels.index(label)])


@pytest.mark.parametrize(
    ("labels", "names", "message"),
    [
        (
            ["a", "b", "c"],
            ["p_a", "p_b", "p_d"],
            "y_score: columns and classes do not match by name: no column for class 'c'; no class "
            "for column 'p_d'; the columns are 'p_a', 'p_b', 'p_d'. Name each column after its "
            "class, with one prefix for all if need be, or pass an array and labels=",
        ),
        (
            ["a", "b", "c"],
            ["p_a", "p_b", "q_c"],
            "no column for class 'c'; no class for column 'q_c'; the columns are 'p_a', 'p_b', 'q",
        ),
        (["a", "b", "c"], [0, 1, 2], "no column for class 'a', 'b', 'c'; no class for column 0"),
        ([1, 2, 3], [0, 1, 2], "no column for class 3; no class for column 0; the col"),
        ([0, 1], ["p10", "p11"], "no column for class 0, 1; no class for column 'p10', 'p11'"),
        (["a", "b"], ["xa", "xb"], "no column for class 'a', 'b'"),
        ([False, True], [0, 2], "no column for class False, True; no class for column 0, 2"),
        (["", "b"], ["", "b", "c"], "or pass labels=['', 'b', 'c'] if it is that of a class witho"),
        (["a", "b"], ["P_A", "P_B", "P_C"], "column 'P_C' names no class of y_true, and the score"),
        ([0, 1], ["p_0", "p_1", "p_2.0"], "or pass labels=[0, 1, 2] if it is that of a class with"),
        ([1, 2], ["1", "2", "02"], "y_score has several columns for one class: '1', '2', '02'"),
        (["a", "b"], ["a", "a"], "y_score has duplicate column names; rename them (Expected uniq"),
        (["a", "b"], pd.MultiIndex.from_tuples([("p", "a"), ("q", "b")]), "no column for class "),
    ],
)
def test_columns_that_do_not_match(labels, names, message):
    frame = pd.DataFrame(np.zeros((len(labels), len(names))), columns=names)
    with pytest.raises(ValueError, match=re.escape(message)):
        as_predictions(labels, frame)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["a", "b"], ["p_a", "p_b", "id"]),
        (["a", "b"], ["p_a", "p_b", "q_c"]),
        (["a", "b"], ["a", "b", ""]),
        (["a", "b"], ["a", "b", "Unnamed: 0"]),
        ([0, 1], ["p_0", "p_1", "2"]),
        ([0, 1], [0, 1, "x"]),
        ([0, 1], [0.0, 1.0, np.inf]),
        ([False, True], ["p_False", "p_True", "p_2"]),
    ],
)
def test_columns_that_can_be_of_no_class_are_ignored_with_a_warning(labels, names):
    scores = np.array([[1.0, 5.0, 7.0], [4.0, 2.0, 9.0]])
    expected = as_predictions(labels, scores[:, :2])
    for order in itertools.permutations(range(3)):
        frame = pd.DataFrame(scores[:, order], columns=[names[place] for place in order])
        message = f"columns that match no class are ignored: {names[2]!r}"
        with pytest.warns(UserWarning, match=exactly(message)):
            assert_identical(as_predictions(labels, frame), expected)


def test_a_column_beside_scores_that_sum_to_one_is_ignored_with_a_warning():
    entropy = FRAME.assign(entropy=[1.0, 2.0, 0.5, 3.0, 0.0], text="x")
    rounded = pd.DataFrame({"a": [0.33, 0.5], "b": [0.67, 0.51], "fold": [1, 2]})
    message = exactly("columns that match no class are ignored: 'entropy', 'text'")
    with pytest.warns(UserWarning, match=message):
        assert_identical(as_predictions(LABELS, entropy), as_predictions(LABELS, SCORES))
    for factor in (1, 100):
        with pytest.warns(UserWarning, match="ignored: 'fold'"):
            assert as_predictions(["a", "b"], rounded * [factor, factor, 1]).labels == ("a", "b")
    with pytest.raises(ValueError, match="'fold' names no class of y_true, and the scores of the"):
        as_predictions(["a", "b"], rounded * [1, 2, 1])


def test_columns_beyond_the_given_labels():
    with pytest.raises(ValueError, match="column 'c' names no class of y_true, and the scores"):
        as_predictions(["a", "b"] * 2 + ["a"], FRAME, labels=["a", "b"])
    with pytest.raises(ValueError, match="y_true has labels without a score column: 'c'"):
        as_predictions(LABELS, FRAME[["a", "b"]], labels=["a", "b"])


def test_record_batch_is_matched_by_name():
    batch = pa.RecordBatch.from_pandas(FRAME[["c", "b", "a"]])
    assert_identical(as_predictions(LABELS, batch), as_predictions(LABELS, SCORES))


def test_equal_indexes_may_have_duplicates():
    index = pd.Index([7, 3, 3, 0, 1])
    labels = pd.Series(LABELS, index=index)
    assert_identical(as_predictions(labels, FRAME.set_index(index)), as_predictions(LABELS, SCORES))


def test_a_single_score_beside_a_pair_is_refused_however_numbers_are_written(
    tmp_path,
):
    """Either the pair or the single score may be meant."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((40, 3)), columns=["other 01", "other 02", "confidence(02)"])
    frame.assign(y=np.arange(40) % 2 + 1).to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(ValueError, match=r"column 'confidence\(02\)' is named after a class"):
        Predictions.from_file(tmp_path / "two.csv", label="y")
