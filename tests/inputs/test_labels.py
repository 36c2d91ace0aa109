"""Labels of every kind and library, and those that are none."""

import re
from decimal import Decimal

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from prediction_samples import FRAME, LABELS, SCORES, assert_identical, exactly

from dmfroc.inputs.arguments import as_predictions


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([10, 20, 10], (10, 20)),
        (np.array([1, 2, 1], np.uint8), (1, 2)),
        (np.array([-128, 127, -128], np.int8), (-128, 127)),
        (np.array([0, 2**64 - 1, 0], np.uint64), (0, 2**64 - 1)),
        (np.array([2**63, 2**63 + 1, 2**63], np.uint64), (2**63, 2**63 + 1)),
        (np.array([-(2**63), 2**63 - 1, -(2**63)]), (-(2**63), 2**63 - 1)),
        ([3, 10**30, 3], (3, 10**30)),
        ([1.0, 2.0, 1.0], (1, 2)),
        ([1, 2.0, 1], (1, 2)),
        ([False, True, False], (False, True)),
        (np.array([False, True, False]), (False, True)),
        (np.array(["x", "yy", "x"]), ("x", "yy")),
        (np.array(["x", "yy", "x"], np.dtypes.StringDType()), ("x", "yy")),
        (np.array(["x", "yy", "x"], object), ("x", "yy")),
        (np.array([1, np.int8(2), 1], object), (1, 2)),
        (np.array([False, np.True_, False], object), (False, True)),
        ([np.str_("x"), "yy", "x"], ("x", "yy")),
        ([jnp.int32(1), jnp.int32(2), jnp.int32(1)], (1, 2)),
        (("x", "10", "x"), ("10", "x")),
        (range(1, 3), (1, 2)),
        (pd.Categorical(["x", "yy", "x"], ["yy", "x", "unused"]), ("x", "yy")),
        (pd.Series(["x", "yy", "x"]).astype("category"), ("x", "yy")),
        (pd.Series([2, 1, 2], dtype="Int64"), (1, 2)),
        (pd.Series([False, True, False], dtype="boolean"), (False, True)),
        (pd.Index([2, 1, 2]), (1, 2)),
        (pl.Series(["x", "yy", "x"], dtype=pl.Enum(["x", "yy"])), ("x", "yy")),
        (pl.Series(["x", "yy", "x"], dtype=pl.Categorical), ("x", "yy")),
        (pa.array(["x", "yy", "x"]).dictionary_encode(), ("x", "yy")),
        (pa.chunked_array([[1], [2, 1]]), (1, 2)),
    ],
)
def test_label_kinds(labels, expected):
    scores = np.arange(2.0 * len(labels)).reshape(-1, 2)
    predictions = as_predictions(labels, scores)
    assert predictions.labels == expected
    assert [type(label) for label in predictions.labels] == [type(label) for label in expected]
    as_scalar = [label.item() if hasattr(label, "item") else label for label in labels]
    if not isinstance(labels, pa.Array | pa.ChunkedArray):
        assert [predictions.labels[code] for code in predictions.true] == as_scalar


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a", None, "b"], ValueError, "y_true has a missing label at row 1 (counting from 0)"),
        (["a", np.nan, "b"], ValueError, "y_true has a missing label at row 1"),
        ([0, 1, None], ValueError, "y_true has a missing label at row 2"),
        ([0.0, 1.0, np.nan], ValueError, "y_true has a missing label at row 2"),
        (np.array([0.0, 1.0, np.nan]), ValueError, "y_true has a missing label at row 2"),
        (np.array(["a", pd.NA, "b"], object), ValueError, "y_true has a missing label at row 1"),
        (pd.Series(["a", None, "b"]), ValueError, "y_true has a missing label at row 1"),
        (pd.Series([0, None, 1], dtype="Int64"), ValueError, "missing label at row 1"),
        (pd.Series(["a", None, "b"]).astype("category"), ValueError, "missing label at row 1"),
        (pl.Series([True, False, None]), ValueError, "missing label at row 2"),
        (pa.array(["a", None, "b"]).dictionary_encode(), ValueError, "missing label at row 1"),
        (
            pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()]),
            ValueError,
            "missing label at row 1",
        ),
        (np.ma.array([0, 1, 2], mask=[0, 1, 0]), ValueError, "missing label at row 1"),
        (
            ["a", 1, "b"],
            TypeError,
            "y_true mixes labels of several kinds: str at row 0 (counting from 0), int at row 1",
        ),
        ([True, False, 2], TypeError, "bool at row 0 (counting from 0), int at row 2"),
        (["a", 0.5, "b"], TypeError, "str at row 0 (counting from 0), float at row 1"),
        ([0, [1], 2], TypeError, "y_true holds a list at row 1 (counting from 0); labels must be"),
        (np.array([{}, 1, 2], object), TypeError, "y_true holds a dict at row 0"),
        ([Decimal(1), Decimal(2)], TypeError, "y_true holds a Decimal at row 0"),
        (np.array([1j, 2]), TypeError, "y_true holds complex128 values; labels must be int, str"),
        (np.array([b"a", b"b"]), TypeError, "y_true holds |S1 values"),
        (pd.to_datetime(["2020-01-01"] * 3), TypeError, "y_true holds datetime64"),
        ([0, 0.5, 1], ValueError, "y_true has the label 0.5 at row 1 (counting from 0): labels"),
        (np.array([0, np.inf]), ValueError, "y_true has the label inf at row 1"),
        (np.eye(3), ValueError, "y_true has shape (3, 3) but must be one-dimensional, one label"),
        ([[0, 1], [1, 0]], ValueError, "take argmax(axis=1) of one-hot rows"),
        (FRAME[["a"]], ValueError, "y_true has shape (5, 1) but must be one-dimensional"),
        ("abc", TypeError, "y_true must be a one-dimensional array of labels, not str"),
        (pl.LazyFrame({"y": [1]}), TypeError, "array of labels, not LazyFrame"),
        ([], ValueError, "y_true is empty"),
        (np.empty(0, int), ValueError, "y_true is empty"),
        (["a", "a", "a"], ValueError, "y_true holds one class only ('a'): at least two"),
    ],
)
def test_unusable_labels(labels, error, message):
    with pytest.raises(error, match=re.escape(message)):
        as_predictions(labels, np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "b"], "labels names 'b' more than once; name each class once"),
        (["a", "b"], "labels has 2 distinct labels ('a', 'b') but y_score has 3 columns"),
        (["a", "b", "x"], "y_true has labels without a score column: 'c', first at row 2"),
        ([0, 1, 2], "without a score column: 'a', 'b', 'c', first at row 0 (counting from 0)"),
        (["a", "b", None], "labels has a missing label at row 2"),
        ([], "labels is empty"),
    ],
)
def test_unusable_label_order(labels, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_predictions(LABELS, SCORES, labels=labels)


def test_label_order_may_be_an_array_of_classes():
    expected = as_predictions(LABELS, SCORES, labels=("a", "b", "c"))
    for labels in (np.array(["a", "b", "c"]), pd.Index(["a", "b", "c"]), pl.Series(list("abc"))):
        assert_identical(as_predictions(LABELS, SCORES, labels=labels), expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [0, 2, 0],
            "y_true has 2 distinct labels (0, 2) but y_score has 3 columns: pass labels= with the "
            "class of each column, in column order",
        ),
        (
            [0, 1, 2, 3],
            "y_true has 4 distinct labels (0, 1, 2, 3) but y_score has 3 columns: give one column "
            "per class",
        ),
    ],
)
def test_columns_without_names_are_never_guessed(labels, message):
    with pytest.raises(ValueError, match=exactly(message)):
        as_predictions(labels, np.zeros((len(labels), 3)))


@pytest.mark.parametrize(
    ("hard", "error", "message"),
    [
        (list("abcdd"), ValueError, "y_pred has labels without a score column: 'd', first at row"),
        (list("abc"), ValueError, "y_true has 5 rows but y_pred has 3: both must describe"),
        (["a", "b", None, "a", "b"], ValueError, "y_pred has a missing label at row 2"),
        ([0, 1, 2, 0, 1], ValueError, "y_pred has labels without a score column: 0, 1, 2, first"),
        (SCORES, ValueError, "y_pred has shape (5, 3) but must be one-dimensional"),
        (["a", 1, "b", "a", "b"], TypeError, "y_pred mixes labels of several kinds"),
    ],
)
def test_unusable_hard_labels(hard, error, message):
    with pytest.raises(error, match=re.escape(message)):
        as_predictions(LABELS, SCORES, y_pred=hard)
