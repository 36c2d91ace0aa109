"""Scores of every type and layout, and those that are unusable."""

import re
from decimal import Decimal

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from prediction_samples import FRAME, LABELS, SCORES, assert_identical, exactly
from scipy.stats import rankdata

import dmfroc
from dmfroc.inputs.arguments import as_predictions


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.longdouble, np.float64),
        (">f4", np.float32),
        (">f8", np.float64),
        (np.int32, np.float64),
        (np.uint8, np.float64),
        (bool, np.float64),
        (object, np.float64),
        (jnp.bfloat16, np.float32),
    ],
)
def test_score_types(dtype, expected):
    scores = np.array([[0, 1], [1, 0], [1, 0]]).astype(dtype)
    predictions = as_predictions([0, 1, 1], scores)
    assert predictions.scores.dtype == expected
    assert predictions.scores.dtype.isnative
    np.testing.assert_array_equal(predictions.scores, [[0, 1], [1, 0], [1, 0]])


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_rows_of_frames_are_contiguous(names):
    """Rows are gathered part by part: numpy copies a matrix with other strides whole each time."""
    rows = np.random.default_rng(0).random((9000, 3))
    columns = range(3) if names is None else names
    frame = pd.DataFrame({c: rows[:, place].copy() for place, c in enumerate(columns)})
    scores = as_predictions(np.resize(["a", "b", "c"], 9000), frame).scores
    assert scores.flags.c_contiguous
    np.testing.assert_array_equal(scores, rows)


def test_columns_of_several_types_become_double():
    frame = pl.DataFrame({"a": [1, 2], "b": [0.1, 0.2]}, schema={"a": pl.Int8, "b": pl.Float32})
    assert as_predictions(["a", "b"], frame).scores.dtype == np.float64
    single = frame.cast(pl.Float32)
    assert as_predictions(["a", "b"], single).scores.dtype == np.float32


@pytest.mark.parametrize(
    "scores",
    [
        np.asfortranarray(SCORES),
        SCORES[::-1][::-1],
        np.repeat(SCORES, 2, axis=1)[:, ::2],
        [[Decimal(str(value)) for value in row] for row in SCORES],
    ],
)
def test_memory_layout_is_normalised(scores):
    assert_identical(as_predictions(LABELS, scores), as_predictions(LABELS, SCORES))
    assert as_predictions(LABELS, scores).scores.flags.c_contiguous


@pytest.mark.parametrize("scores", [SCORES * 10, SCORES - 3, SCORES * 1e308, -1.7e308 * SCORES])
def test_any_real_score_is_welcome(scores):
    np.testing.assert_array_equal(as_predictions(LABELS, scores).scores, scores)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_scores_must_not_be_missing(dtype):
    scores = SCORES.astype(dtype)
    scores[2, 1] = scores[3, 0] = scores[4, 2] = np.nan
    message = (
        "y_score must be numbers, but 3 of 15 values are not; the first is nan at row 2 "
        "(counting from 0), column 1 (class 'b'): replace them or drop their rows"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        as_predictions(LABELS, scores)


# Minus infinity, and the floats that stand for it
LEAST = {
    np.float16: [-np.inf],
    np.float32: [-np.inf, np.finfo(np.float32).min],
    np.float64: [-np.inf, np.finfo(np.float64).min, float(np.finfo(np.float32).min)],
}


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "value"), [(t, x) for t, xs in LEAST.items() for x in xs])
@pytest.mark.parametrize("seed", range(5))
def test_minus_infinity_ranks_lowest(dtype, value, seed):
    """All measures of ranks are those of a number far below, and no difference overflows."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 4
    scores = (rng.normal(size=(60, 4)) + np.eye(4)[y]).astype(np.float32)
    scores = scores.astype(dtype)  # sums are exact in double precision, so that equal ones tie
    lowest = rng.random(scores.shape) < 0.2
    far = np.where(lowest, -1e4, scores.astype(np.float64))
    scores[lowest] = value
    given = scores.copy()
    for measure in ("hand_till", "auc_mu", "dmf_auc", "accuracy", "one_vs_rest_auc", "vus"):
        found = [dmfroc.estimate(measure, y, x, method="jackknife") for x in (scores, far)]
        assert found[0].value == pytest.approx(found[1].value, abs=1e-12), measure
        assert found[0].interval == pytest.approx(found[1].interval, abs=1e-9), measure
    np.testing.assert_array_equal(scores, given)  # the user's own array
    single = dmfroc.estimate("hand_till", y > 1, scores[:, 3])
    assert single.value == dmfroc.estimate("hand_till", y > 1, far[:, 3]).value


@pytest.mark.parametrize("value", [-np.inf, np.finfo(np.float64).min, np.inf])
def test_infinities_rank_alike_in_every_batch(value):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    scores = rng.normal(size=(90, 3)) * np.repeat([1, 100, 10_000], 30)[:, None]  # of each batch
    scores[rng.random(scores.shape) < 0.2] = value
    batches = [(y[i : i + 30], scores[i : i + 30]) for i in range(0, 90, 30)]
    for measure in ("hand_till", "dmf_auc"):
        scanned = dmfroc.estimate(measure, dmfroc.scan(batches, n_bins=4096)).value
        assert scanned == pytest.approx(dmfroc.estimate(measure, y, scores).value, abs=1e-12)


def test_scores_that_are_all_minus_infinity():
    assert dmfroc.hand_till_score([0, 1, 0, 1], np.full((4, 2), -np.inf)) == 0.5


def test_scores_of_the_top_classes_alone():
    scores = np.array([[0.6, 0.3, np.nan], [np.nan, 0.5, 0.4], [0.1, np.nan, 0.8]] * 4)
    message = "most rows have the scores of their top 2 classes only. These allow measures of hard"
    with pytest.raises(ValueError, match=message):
        as_predictions([0, 1, 2] * 4, scores)
    filled = np.where(np.isnan(scores), -np.inf, scores)
    top = dmfroc.measures.top_k_accuracy(k=2)
    assert top([0, 1, 2] * 4, filled) == 1


class Tensor:
    """As of torch: it knows no NumPy as long as it is on a device or requires a gradient."""

    def __init__(self, values, error=None):
        self.values, self.error = np.asarray(values), error
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        if self.error is not None:
            raise self.error
        return self.values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return Tensor(self.values[place], self.error)

    def detach(self):
        return Tensor(self.values)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Can't call numpy() on Tensor that requires grad."),
        TypeError("can't convert cuda:0 device type tensor to numpy."),
        TypeError("Got unsupported ScalarType BFloat16"),
    ],
)
@pytest.mark.parametrize("argument", ["y_true", "y_score", "sample_weight", "y_pred", "groups"])
def test_tensors_that_numpy_cannot_read(error, argument):
    given = {
        "y_true": np.array([0, 1, 0, 1]),
        "y_score": np.array([0.1, 0.9, 0.3, 0.4]),
        "sample_weight": np.ones(4),
        "y_pred": np.array([0, 1, 1, 1]),
        "groups": np.array([0, 1, 2, 3]),
    }

    def call(tensor):
        arguments = given | {argument: tensor}
        groups = arguments.pop("groups")
        y_true, y_score = arguments.pop("y_true"), arguments.pop("y_score")
        predictions = dmfroc.Predictions.from_arrays(y_true, y_score, **arguments)
        return dmfroc.estimate("hand_till", predictions, groups=groups).value

    message = (
        rf"^{argument} .*{re.escape(str(error).rstrip('.'))}.*\.detach\(\)\.float\(\)\.cpu\(\)"
    )
    with pytest.raises(TypeError, match=message):
        call(Tensor(given[argument], error))
    with pytest.raises(TypeError, match=f"^{argument} .*[Tt]ensor"):
        call([Tensor(x, error) for x in given[argument]])
    assert call(Tensor(given[argument])) == call(given[argument])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_infinity_ranks_highest(dtype):
    rng = np.random.default_rng(0)
    true, scores = np.arange(60) % 3, rng.normal(size=(60, 3)).astype(dtype)
    scores[rng.random((60, 3)) < 0.2] = np.inf
    scores[rng.random((60, 3)) < 0.1] = -np.inf  # which cancel in sums
    read = as_predictions(true, scores)
    assert np.isfinite(read.scores).all()
    assert dmfroc.hand_till_score(true, scores) == dmfroc.hand_till_score(
        true, np.clip(scores, -99, 99)
    )
    for column, given in zip(read.scores.T, scores.T, strict=True):
        np.testing.assert_array_equal(rankdata(column), rankdata(given))
    single = scores[:, 0]
    np.testing.assert_array_equal(
        rankdata(as_predictions(true > 0, single).scores[:, 1]), rankdata(single)
    )


def test_infinity_of_a_p_value(cases_directory):
    table = pd.read_csv(cases_directory / "third/neglog10p.csv")
    found = dmfroc.estimate("hand_till", table.y, table.neglog10p)
    assert found.value == pytest.approx(0.9003868471953579, rel=1e-12)


@pytest.mark.parametrize(
    "scores",
    [
        FRAME.mask(FRAME == 0.5)[["c", "a", "b"]],
        pl.DataFrame(FRAME.mask(FRAME == 0.5)[["c", "a", "b"]]),
        pa.table(FRAME.mask(FRAME == 0.5)[["c", "a", "b"]]),
        FRAME.mask(FRAME == 0.5).astype("Float64"),
    ],
)
def test_missing_score_is_named_by_column(scores):
    message = "2 of 15 values are not; the first is nan at row 2 (counting from 0), column 'c' (cl"
    with pytest.raises(ValueError, match=re.escape(message)):
        as_predictions(LABELS, scores)


def test_masked_score_is_missing():
    with pytest.raises(ValueError, match=r"the first is nan at row 2 .*, column 2 \(class 'c'\)"):
        as_predictions(LABELS, np.ma.masked_array(SCORES, SCORES == 0.5))


def test_missing_score_in_a_list_is_missing():
    with pytest.raises(ValueError, match="the first is nan at row 0"):
        as_predictions([0, 1], [[None, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (SCORES * 1j, TypeError, "y_score holds complex128 values; convert them to real numbers"),
        (
            SCORES.astype(str),
            TypeError,
            "y_score holds text values, such as '0.1'; convert them to real",
        ),
        ([["0.5", "n/a"]] * 5, TypeError, "y_score holds text values, such as 'n/a'; convert them"),
        (SCORES.astype(str).astype(object), TypeError, "y_score holds text, and row 0"),
        (FRAME.assign(b="x"), TypeError, "y_score column 'b' holds text, and row 0"),
        ([[1, 2], [3]], ValueError, "y_score is not a matrix; give every row the same number"),
        (SCORES[None], ValueError, "y_score must have shape (n, K), or (n,) for two classes, but "),
        ({"a": 1}, ValueError, "or (n,) for two classes, but is a dict"),
        (pl.LazyFrame(SCORES), ValueError, "but is a LazyFrame"),
        (SCORES[:4], ValueError, "y_true has 5 rows but y_score has 4: both must describe the sam"),
        (FRAME[:4], ValueError, "y_true has 5 rows but y_score has 4"),
        (SCORES[:, :0], ValueError, "3 distinct labels ('a', 'b', 'c') but y_score has 0 columns"),
        (SCORES[:, 0], ValueError, "y_score has a single column, which is enough for two classes"),
        (SCORES[:, :1], ValueError, "there are 3 ('a', 'b', 'c'): give one column per class"),
    ],
)
def test_unusable_scores(scores, error, message):
    with pytest.raises(error, match=re.escape(message)):
        as_predictions(LABELS, scores)


def test_transposed_scores_are_told_to_be_turned():
    scores = np.random.default_rng(0).dirichlet(np.ones(3), 12)
    with pytest.raises(ValueError, match=r"a column for each of the 12 rows .* pass y_score\.T"):
        dmfroc.evaluate(np.arange(12) % 3, scores.T)
