"""Predictions: every way in gives the same thing, checked and immutable."""

import re
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from prediction_samples import FRAME, LABELS, SCORES, assert_identical

from dmfroc import dmf_auc_score, estimate, evaluate, hand_till_score
from dmfroc.curves import roc_curve
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.labels import look_alikes, natural_order
from dmfroc.inputs.predictions import Predictions


def test_fields_of_plain_arrays():
    predictions = as_predictions(LABELS, SCORES)
    assert predictions.labels == ("a", "b", "c")
    np.testing.assert_array_equal(predictions.true, [1, 0, 2, 1, 0])
    np.testing.assert_array_equal(predictions.scores, SCORES)
    np.testing.assert_array_equal(predictions.sample_weight, np.ones(5))
    np.testing.assert_array_equal(predictions.predicted, [1, 0, 2, 0, 0])
    assert predictions.true.dtype == predictions.predicted.dtype == np.int32
    assert predictions.scores.dtype == predictions.sample_weight.dtype == np.float64
    assert predictions.scores.flags.c_contiguous
    assert (predictions.n_observations, predictions.n_classes) == (5, 3)
    assert predictions.class_counts.tolist() == [2, 2, 1]
    assert predictions.class_counts.dtype == np.int64
    assert predictions.present.tolist() == [0, 1, 2]
    assert predictions.absent_labels == ()
    assert predictions.is_weighted is False


def test_columns_follow_explicit_labels():
    predictions = as_predictions(LABELS, SCORES, labels=["c", "a", "b"])
    assert predictions.labels == ("c", "a", "b")
    np.testing.assert_array_equal(predictions.true, [2, 1, 0, 2, 1])
    np.testing.assert_array_equal(predictions.scores, SCORES)


def test_absent_class_is_kept():
    predictions = as_predictions([0, 2, 2], np.eye(3), labels=[0, 1, 2])
    assert predictions.absent_labels == (1,)
    assert predictions.present.tolist() == [0, 2]
    assert predictions.class_counts.tolist() == [1, 0, 2]
    frame = pd.DataFrame(np.eye(3), columns=["p_0", "p_1", "p_2"])
    assert_identical(predictions, as_predictions([0, 2, 2], frame, labels=[0, 1, 2]))


def test_given_hard_labels_win_over_scores():
    message = r"y_pred is not the class of the largest score in 100\.0% of the rows"
    with pytest.warns(UserWarning, match=message):
        predictions = as_predictions(LABELS, SCORES, y_pred=["c", "c", "a", "b", "b"])
    assert predictions.predicted.tolist() == [2, 2, 0, 1, 1]
    assert predictions.predicted.dtype == np.int32


def test_hard_label_of_tied_scores_is_the_first():
    scores = [[1, 1, 0], [0, 2, 2]]
    assert as_predictions([0, 1], scores, labels=[0, 1, 2]).predicted.tolist() == [0, 1]


def test_immutable_and_independent_of_its_inputs():
    true, scores, weight = np.array([0, 1, 2]), np.eye(3), np.ones(3)
    predictions = as_predictions(true, scores, sample_weight=weight, y_pred=true)
    true[:], scores[:], weight[:] = 0, 7, 7
    assert predictions.true.tolist() == predictions.predicted.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(predictions.scores, np.eye(3))
    np.testing.assert_array_equal(predictions.sample_weight, np.ones(3))
    for name in ("true", "scores", "sample_weight", "predicted", "class_counts", "present"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(predictions, name)[0] = 0
    with pytest.raises(AttributeError, match="cannot assign"):
        predictions.labels = ()


def test_names_of_rows_are_immutable_and_independent_of_what_was_given():
    names = np.array([7, 8, 9])
    predictions = Predictions.from_arrays([0, 1, 2], np.eye(3), id=names)
    names[:] = 0
    assert predictions.ids.tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="read-only"):
        predictions.ids[0] = 0


def test_arrays_of_others_stay_writeable():
    weights = np.ones(3)
    predictions = Predictions.from_arrays([0, 1, 2], np.eye(3)).reweighted(weights)
    weights += 1
    with pytest.raises(ValueError, match="read-only"):
        predictions.sample_weight[0] = 0


def test_independent_of_a_table():
    frame = FRAME.copy()
    predictions = as_predictions(LABELS, frame)
    frame.iloc[:, :] = 7.0
    np.testing.assert_array_equal(predictions.scores, SCORES)


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        (
            (LABELS, SCORES),
            {},
            "Predictions(5 observations, 3 classes: a 2, b 2, c 1)",
        ),
        (
            ([0, 0, 2], np.eye(3)),
            {"labels": [0, 1, 2], "sample_weight": [1, 2, 3]},
            "Predictions(3 observations, 3 classes: 0 2, 2 1; absent: 1; weighted)",
        ),
        (
            (range(9), np.eye(9)),
            {},
            "Predictions(9 observations, 9 classes: 0 1, 1 1, 2 1, 3 1, 4 1, 5 1 and 3 more)",
        ),
    ],
)
def test_repr(arguments, options, expected):
    assert repr(as_predictions(*arguments, **options)) == expected


def test_as_predictions_returns_predictions_unchanged():
    predictions = as_predictions(LABELS, SCORES)
    assert as_predictions(predictions) is predictions


@pytest.mark.parametrize("argument", ["y_score", "labels", "sample_weight", "y_pred"])
def test_as_predictions_refuses_further_arguments(argument):
    predictions = as_predictions(LABELS, SCORES)
    with pytest.raises(TypeError, match=rf"^{argument} cannot be given together with a Pred"):
        as_predictions(predictions, **{argument: LABELS})


def test_as_predictions_needs_scores():
    with pytest.raises(TypeError, match=r"of a file pass Predictions\.from_file\('a\.csv', label"):
        as_predictions(Path("a.csv"))
    with pytest.raises(TypeError, match=r"^y_score is missing: pass y_true with y_score or y_pred"):
        as_predictions(LABELS)


def test_import_is_light():
    heavy = {"jax", "pandas", "polars", "pyarrow", "sklearn", "narwhals", "jaxtyping"}
    code = f"import sys, dmfroc.inputs.predictions; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Hard labels without scores


def test_fields_of_hard_labels():
    predictions = Predictions.from_labels(["b", "a", "b"], ["b", "c", "a"])
    assert predictions.labels == ("a", "b", "c")
    assert predictions.absent_labels == ("c",)
    assert predictions.true.tolist() == [1, 0, 1]
    assert predictions.predicted.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(predictions.scores, [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert predictions.true.dtype == predictions.predicted.dtype == np.int32
    assert predictions.scores.dtype == predictions.sample_weight.dtype == np.float64
    assert predictions.scores.flags.c_contiguous
    assert predictions.is_weighted is False


def test_hard_labels_follow_explicit_labels():
    predictions = Predictions.from_labels(
        [2, 0, 2], [0, 0, 2], labels=[2, 1, 0], sample_weight=[1, 2, 3]
    )
    assert predictions.labels == (2, 1, 0)
    assert predictions.absent_labels == (1,)
    assert predictions.true.tolist() == [0, 2, 0]
    assert predictions.predicted.tolist() == [2, 2, 0]
    np.testing.assert_array_equal(predictions.scores, [[0, 0, 1], [0, 0, 1], [1, 0, 0]])
    assert predictions.sample_weight.tolist() == [1, 2, 3]


def test_hard_labels_are_immutable_and_independent_of_their_inputs():
    labels = np.array([0, 1, 2])
    predictions = Predictions.from_labels(labels, labels, sample_weight=np.ones(3))
    labels[:] = 0
    assert predictions.true.tolist() == predictions.predicted.tolist() == [0, 1, 2]
    for name in ("true", "scores", "sample_weight", "predicted"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(predictions, name)[0] = 0


@pytest.mark.parametrize(
    ("true", "hard", "expected"),
    [
        ([0, 1, 1], [False, True, False], (0, 1)),
        ([False, True, True], [0, 1, 0], (False, True)),
        ([1, 2, 2], [1.0, 2.0, 1.0], (1, 2)),
        (pd.Categorical(["x", "y", "y"]), pl.Series(["x", "y", "x"]), ("x", "y")),
    ],
)
def test_hard_labels_may_differ_in_form(true, hard, expected):
    predictions = Predictions.from_labels(true, hard)
    assert predictions.labels == expected
    assert [type(label) for label in predictions.labels] == [type(label) for label in expected]
    assert predictions.predicted.tolist() == [0, 1, 0]


@pytest.mark.filterwarnings("ignore:1 class")
@pytest.mark.parametrize(
    ("hard", "options"), [(["a", "b", "b"], {}), (["a", "a", "a"], {"labels": ["a", "b"]})]
)
def test_hard_labels_of_one_observed_class_are_no_ranking(hard, options):
    predictions = Predictions.from_labels(["a", "a", "a"], hard, **options)
    assert predictions.absent_labels == ("b",)
    assert as_predictions(predictions, needs="labels") is predictions
    message = re.escape("y_true holds one class only ('a'): at least two must have observations")
    for judge in (as_predictions, hand_till_score, dmf_auc_score, roc_curve):
        with pytest.raises(ValueError, match=message + ", except for measures of hard labels"):
            judge(predictions)
    assert "dmf_auc" not in evaluate(predictions).estimates


@pytest.mark.parametrize(
    ("true", "hard", "options", "error", "message"),
    [
        (
            ["a", "a"],
            ["a", "a"],
            {},
            ValueError,
            "y_true and y_pred hold one class only ('a'): name all classes, two or more, in labels",
        ),
        ([], [], {}, ValueError, "y_true is empty"),
        (["a", None], ["a", "b"], {}, ValueError, "y_true has a missing label at row 1"),
        (["a", "b"], ["a", None], {}, ValueError, "y_pred has a missing label at row 1"),
        (["a", "b"], ["a"], {}, ValueError, "y_true has 2 rows but y_pred has 1: both must"),
        (["a", "b"], np.eye(2), {}, ValueError, "y_pred has shape (2, 2) but must be one-dim"),
        (["a", "b"], ["a", 1], {}, TypeError, "y_pred mixes labels of several kinds"),
        ([0, 1], [0.5, 1], {}, ValueError, "y_pred has the label 0.5 at row 0 (counting from 0)"),
        (
            [1, 2],
            ["1", "2"],
            {},
            TypeError,
            "y_true holds int labels (1, 2) but y_pred holds str labels ('1', '2'); convert to one",
        ),
        ([0, 2], [False, True], {}, TypeError, "y_pred holds bool labels (False, True); convert"),
        ([False, True], [0, 2], {}, TypeError, "y_pred holds int labels (0, 2); convert to one"),
        (
            ["a", "b", "b"],
            ["a", "d", "c"],
            {"labels": ["b", "a"]},
            ValueError,
            "y_pred has labels not in labels=: 'c', 'd', first at row 1 (counting from 0); the "
            "classes are 'b', 'a'",
        ),
        (
            [1, 2],
            [1, 1],
            {"labels": [1, 3]},
            ValueError,
            "y_true has labels not in labels=: 2",
        ),
        ([1, 2], [1, 1], {"labels": [1, 2, 1]}, ValueError, "labels names 1 more than once"),
        ([1, 2], [1, 1], {"labels": [1, None]}, ValueError, "labels has a missing label at row 1"),
        ([1, 2], [1, 1], {"sample_weight": [1, 0]}, ValueError, "zero in all rows of class 2: giv"),
        ([1, 2], [1, 1], {"sample_weight": [1]}, ValueError, "2 rows but sample_weight has 1"),
    ],
)
def test_unusable_hard_labels_without_scores(true, hard, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Predictions.from_labels(true, hard, **options)


# Properties


@st.composite
def inputs(draw):
    k = draw(st.integers(2, 5))
    names = st.one_of(
        st.lists(st.integers(-50, 50), min_size=k, max_size=k, unique=True),
        st.lists(st.text("abcxyz_ 1", min_size=1, max_size=4), min_size=k, max_size=k, unique=True)
        # Others are refused without names of columns, or bring a warning.
        .filter(lambda names: natural_order(names) == sorted(names) and not look_alikes(names)),
    )
    classes = sorted(draw(names))
    extra = draw(st.lists(st.sampled_from(classes), max_size=10))
    labels = draw(st.permutations(classes + extra))
    finite = st.floats(-1e6, 1e6, width=32)
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    scores = draw(hnp.arrays(dtype, (len(labels), k), elements=finite))
    weight = draw(hnp.arrays(np.float64, len(labels), elements=st.floats(0.5, 3)))
    return classes, labels, scores, weight


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:pass an array with labels= if they are scores")
@given(inputs(), st.sampled_from(["", "score_", "p: "]), st.randoms(use_true_random=False))
def test_order_of_named_columns_does_not_matter(drawn, prefix, random):
    classes, labels, scores, weight = drawn
    expected = as_predictions(labels, scores, sample_weight=weight)
    order = random.sample(range(len(classes)), len(classes))
    names = [f"{prefix}{classes[column]}" for column in order]
    frame = pd.DataFrame(scores[:, order], columns=names)
    assert_identical(as_predictions(labels, frame, sample_weight=weight), expected)
    assert_identical(as_predictions(labels, pl.DataFrame(frame), sample_weight=weight), expected)


@pytest.mark.slow
@given(inputs())
def test_every_kind_of_container_gives_the_same(drawn):
    classes, labels, scores, weight = drawn
    expected = as_predictions(np.array(labels), scores, sample_weight=weight)
    assert expected.labels == tuple(classes)
    assert [expected.labels[code] for code in expected.true] == labels
    frame = pd.DataFrame(scores, columns=[str(label) for label in classes])
    for others in (
        (pd.Series(labels), frame, pd.Series(weight)),
        (pl.Series(labels), pl.DataFrame(frame), pl.Series(weight)),
        (pa.array(labels), pa.Table.from_pandas(frame), pa.array(weight)),
        (pd.Series(labels).astype("category"), scores, weight.tolist()),
        (labels, jnp.asarray(scores) if scores.dtype == np.float32 else scores, weight),
    ):
        assert_identical(as_predictions(*others[:2], sample_weight=others[2]), expected)
    in_lists = as_predictions(labels, scores.tolist(), sample_weight=weight.tolist())
    if scores.dtype == np.float64:
        assert_identical(in_lists, expected)
    in_double = as_predictions(labels, scores.astype(float), sample_weight=weight)
    assert_identical(in_lists, in_double)
    if len(classes) > 2:
        np.testing.assert_array_equal(in_lists.scores, scores)
    if isinstance(labels[0], int):
        assert_identical(
            as_predictions(jnp.asarray(labels), scores, sample_weight=weight), expected
        )
        assert_identical(
            as_predictions(np.array(labels, float), scores, sample_weight=weight), expected
        )


@pytest.mark.filterwarnings("ignore:.* rows of y_score have scores outside 0 to 1")
@given(inputs(), st.randoms(use_true_random=False))
def test_permuted_labels_permute_everything(drawn, random):
    classes, labels, scores, weight = drawn
    order = random.sample(range(len(classes)), len(classes))
    expected = as_predictions(labels, scores, sample_weight=weight)
    permuted = as_predictions(
        labels,
        scores[:, order],
        labels=[classes[column] for column in order],
        sample_weight=weight,
    )
    np.testing.assert_array_equal(np.array(order)[permuted.true], expected.true)
    np.testing.assert_array_equal(permuted.scores, expected.scores[:, order])
    np.testing.assert_array_equal(permuted.class_counts, expected.class_counts[order])


@given(inputs(), st.data())
def test_hard_labels_alone_equal_those_with_one_hot_scores(drawn, data):
    classes, labels, _, weight = drawn
    size = len(labels)
    hard = data.draw(st.lists(st.sampled_from(classes), min_size=size, max_size=size))
    one_hot = np.array([[float(label == name) for name in classes] for label in hard])
    expected = Predictions.from_arrays(labels, one_hot, sample_weight=weight)
    assert_identical(Predictions.from_labels(labels, hard, sample_weight=weight), expected)


@given(inputs(), st.data())
def test_any_missing_score_is_found(drawn, data):
    _, labels, scores, _ = drawn
    row = data.draw(st.integers(0, scores.shape[0] - 1))
    column = data.draw(st.integers(0, scores.shape[1] - 1))
    scores[row, column] = np.nan
    with pytest.raises(ValueError, match=rf"1 of .* at row {row} .*, column {column} \(class"):
        as_predictions(labels, scores)


def test_a_column_of_identifiers_is_no_class():
    scores = pd.DataFrame(np.random.default_rng(0).random((30, 3)), columns=list("abc"))
    true = np.array(list("abc"))[np.arange(30) % 3]
    for name, column in (("id", np.arange(30)), ("d", 0.0)):
        with pytest.raises(ValueError, match=f"column '{name}' names no class of y_true, and the"):
            Predictions.from_arrays(true, scores.assign(**{name: column}))
    named = Predictions.from_arrays(true, scores.assign(d=0.0), labels=list("abcd"))
    assert named.absent_labels == ("d",)


@pytest.mark.parametrize("kind", ["int64", "uint64", "object"])
@pytest.mark.parametrize(("first", "is_lost"), [(2**53, True), (2**53 - 2, False)])
def test_whole_numbers_that_doubles_cannot_tell_apart_are_refused(kind, first, is_lost):
    scores = np.array([first, first + 1, 3, 4], dtype=kind)
    if not is_lost:
        assert Predictions.from_arrays([0, 1, 0, 1], scores).scores[1, 1] == first + 1
        return
    with pytest.raises(ValueError, match="in double precision they would be ties"):
        Predictions.from_arrays([0, 1, 0, 1], scores)


def test_long_values_are_not_repeated_in_messages():
    level = [0.95] * 12
    with pytest.raises(TypeError, match=r"^level must be a number, but it is of type list$"):
        estimate("accuracy", [0, 1], y_pred=[0, 1], level=level)
    with pytest.raises(TypeError, match=r"^level must be a number, but it is \[0.95\], of"):
        estimate("accuracy", [0, 1], y_pred=[0, 1], level=level[:1])
