"""Data handed in from Python such that the rows, columns or classes are easily confused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import dmfroc

RNG = np.random.default_rng(31)
N = 120
Y = np.repeat([0, 1, 2], N // 3)
S = RNG.normal(size=(N, 3)) + np.eye(3)[Y]
T = RNG.normal(size=(N, 3)) + np.eye(3)[Y]
HARD = S.argmax(axis=1)
WEIGHT = RNG.uniform(0.5, 2, N)
PATIENT = np.arange(N) // 2
SITE = np.arange(N) % 2
NAMES = pd.Index([f"case {row}" for row in range(N)])
ORDER = RNG.permutation(N)


def frame(scores=S, index=NAMES):
    return pd.DataFrame(scores, columns=pd.Index([0, 1, 2]), index=index)


def series(values, index=NAMES):
    return pd.Series(values, index=index)


INPUTS = {
    "y_score": (frame(), S),
    "sample_weight": (series(WEIGHT), WEIGHT),
    "y_pred": (series(T.argmax(axis=1)), T.argmax(axis=1)),
    "groups": (series(PATIENT), PATIENT),
    "folds": (series(SITE), SITE),
}


def estimated(y_true, **inputs):
    folded = dmfroc.estimate("hand_till", y_true, **inputs)
    return folded.value, folded.standard_error


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
@pytest.mark.parametrize("name", INPUTS)
def test_rows_are_matched_by_index(name):
    given, as_scalar = INPUTS[name]
    others = {} if name == "y_score" else {"y_score": S}
    expected = estimated(Y, **others, **{name: as_scalar})
    assert estimated(series(Y), **others, **{name: given.iloc[ORDER]}) == expected


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
def test_rows_of_all_inputs_are_matched_at_once():
    inputs = {name: pair for name, pair in INPUTS.items() if name != "folds"}
    given = {name: pair[0].iloc[RNG.permutation(N)] for name, pair in inputs.items()}
    as_scalar = {name: pair[1] for name, pair in inputs.items()}
    measures = ["hand_till", "accuracy"]
    found = dmfroc.evaluate(series(Y), measures=measures, **given)
    assert str(found) == str(dmfroc.evaluate(Y, measures=measures, **as_scalar))


def test_hard_labels_are_matched_by_index():
    wanted = dmfroc.measures.ContingencyTable.from_labels(Y, HARD).counts
    found = dmfroc.measures.ContingencyTable.from_labels(series(Y), series(HARD).iloc[ORDER])
    np.testing.assert_array_equal(found.counts, wanted)


def test_subgroups_are_matched_by_index():
    expected = dmfroc.compare_subgroups(
        Y, S, {"a": SITE, "b": SITE}, measures="hand_till", groups=PATIENT
    )
    by = pd.DataFrame({"a": SITE, "b": SITE}, index=NAMES).iloc[ORDER]
    groups = series(PATIENT).iloc[ORDER]
    found = dmfroc.compare_subgroups(series(Y), frame(), by, measures="hand_till", groups=groups)
    assert str(found) == str(expected)


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_arrays([PATIENT, SITE]),
        pd.date_range("2020-01-01", periods=N),
        pd.CategoricalIndex(NAMES),
        pd.RangeIndex(5, 5 + N),
        pd.Index(RNG.permutation(1000)[:N]),
        pd.interval_range(0, N),
    ],
    ids=lambda index: type(index).__name__,
)
def test_indexes_of_all_kinds(index):
    expected = dmfroc.hand_till_score(Y, S)
    assert dmfroc.hand_till_score(series(Y, index), frame(S, index)) == expected
    assert dmfroc.hand_till_score(series(Y, index), frame(S, index).iloc[ORDER]) == expected
    # A frame made of what predict_proba returns has no index of its own
    assert dmfroc.hand_till_score(series(Y, index), pd.DataFrame(S)) == expected
    assert dmfroc.hand_till_score(series(Y, index), S) == expected
    assert dmfroc.hand_till_score(Y, frame(S, index)) == expected


def test_coordinates_of_xarray_are_an_index():
    y = xr.DataArray(Y, dims="case", coords={"case": NAMES})
    scores = xr.DataArray(S, dims=("case", "class"), coords={"case": NAMES})
    expected = dmfroc.hand_till_score(Y, S)
    assert dmfroc.hand_till_score(y, scores[ORDER]) == expected
    named = scores.assign_coords({"class": [0, 1, 2]})
    assert dmfroc.hand_till_score(series(Y), named[ORDER]) == expected


def by_position(index):
    return dmfroc.hand_till_score(series(Y, None), frame(S, index))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: by_position(ORDER), "of y_true and y_score hold the same values in another order"),
        (
            lambda: dmfroc.hand_till_score(series(Y, ORDER), frame(S, None)),
            "in another order, and one of them only counts the rows",
        ),
        (
            lambda: dmfroc.hand_till_score(series(Y, NAMES), frame(S, NAMES[[0, *range(N - 1)]])),
            r"do not name the same rows, each once: at row 1 .* are 'case 1' and 'case 0'",
        ),
        (
            lambda: dmfroc.hand_till_score(series(Y, NAMES), frame(S, NAMES + "x")),
            r"\.loc\[a\.index\], or drop the index with \.to_numpy\(\)",
        ),
        (
            lambda: dmfroc.hand_till_score(
                *(
                    make(x, pd.MultiIndex.from_arrays([NAMES] * n_levels))
                    for make, x, n_levels in ((series, Y, 2), (frame, S, 3))
                )
            ),
            "of y_true and y_score do not name the same rows",
        ),
        (
            lambda: dmfroc.estimate("hand_till", Y, frame(), groups=series(PATIENT, NAMES + "x")),
            "of y_true and groups do not name the same rows",
        ),
        (
            lambda: dmfroc.compare(
                Y, {"a": frame(), "b": frame(T).iloc[ORDER]}, measures="hand_till"
            ),
            "of 'a' and 'b' hold the same values in another order",
        ),
        (
            lambda: dmfroc.compare_runs(
                Y, {"a": [frame(), frame().iloc[ORDER]], "b": [S, T]}, measures="hand_till"
            ),
            "run 1 of 'a' hold the same values in another order",
        ),
        (
            lambda: dmfroc.evaluate(
                dmfroc.scan([{"y_true": series(Y, None), "y_score": frame(S, ORDER)}])
            ),
            "hold the same values in another order",
        ),
    ],
)
def test_rows_that_do_not_match_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Labels that have two orders, and names that nobody chose


@pytest.mark.parametrize("pattern", ["{}", "{}.0", "c{}", "c{}x"])
def test_text_with_numbers_needs_named_columns(pattern):
    y = np.repeat(np.arange(12), 5)
    scores = RNG.normal(size=(60, 12)) + np.eye(12)[y]
    labels, text = [pattern.format(x) for x in range(12)], np.array([pattern.format(x) for x in y])
    expected = dmfroc.hand_till_score(y, scores)
    with pytest.raises(ValueError, match=r"in the order of the text .* or of the numbers"):
        dmfroc.hand_till_score(text, scores)
    assert dmfroc.hand_till_score(text, scores, labels=labels) == expected
    named = pd.DataFrame(scores, columns=labels)
    assert dmfroc.hand_till_score(text, named) == pytest.approx(expected, rel=1e-14)


def test_text_of_numbers_is_sorted_as_numbers():
    labels = ["10", "9", "-2", "09", "1.5"]
    assert dmfroc.Predictions.from_labels(labels, labels).labels == ("-2", "1.5", "09", "9", "10")
    assert dmfroc.Predictions.from_labels(["10", "9", "x"], ["9"] * 3).labels == ("10", "9", "x")


def test_single_score_of_text_of_numbers():
    with pytest.raises(ValueError, match=r"\('10', '9'\), as those of"):
        dmfroc.hand_till_score(["9", "10"], [0.1, 0.2])
    assert dmfroc.hand_till_score(["9", "10"], [0.1, 0.2], labels=["9", "10"]) == 1


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_default_column_names_are_no_names(table):
    y, scores = Y[Y < 2] + 1, np.column_stack([-S[:, 1], S[:, 1:]])[Y < 2]
    with pytest.raises(ValueError, match=r"2 distinct labels .* 3 columns: pass labels="):
        dmfroc.hand_till_score(y, table(scores))
    with pytest.warns(UserWarning, match="left out: 3"):
        found = dmfroc.hand_till_score(y, table(scores), labels=[1, 2, 3])
    assert found == dmfroc.hand_till_score(y, scores[:, :2])
    assert dmfroc.hand_till_score(Y, table(S)) == dmfroc.hand_till_score(Y, S)
    chosen = frame(scores, None)
    with pytest.raises(ValueError, match=r"column 0 names no class .* labels=\[0, 1, 2\]"):
        dmfroc.hand_till_score(y, chosen)
    with pytest.warns(UserWarning, match="left out: 0"):
        dmfroc.hand_till_score(y, chosen, labels=[0, 1, 2])


def test_single_default_column():
    y = Y[Y < 2]
    expected = dmfroc.hand_till_score(y, S[Y < 2, 1])
    assert dmfroc.hand_till_score(y, pd.DataFrame(S[Y < 2, 1])) == expected
    assert dmfroc.hand_till_score(y, pl.DataFrame(S[Y < 2, 1:2])) == expected


# Missing values and names of several kinds


MASKED = np.ma.masked_equal(SITE, 1)
TEXT = np.where(SITE == 1, "a", "b").tolist()


@pytest.mark.parametrize(
    "values",
    [
        MASKED,
        [np.ma.masked if row == 1 else x for row, x in enumerate(TEXT)],
        [None if row == 1 else x for row, x in enumerate(TEXT)],
        [np.nan if row == 1 else x for row, x in enumerate(TEXT)],
        np.array([pd.NA if row == 1 else x for row, x in enumerate(TEXT)], object),
        pd.Series([pd.NA if row == 1 else x for row, x in enumerate(TEXT)], dtype="string"),
        pd.Series(SITE, dtype="Int64").where(np.arange(N) != 1),
        pd.Categorical([None if row == 1 else x for row, x in enumerate(TEXT)]),
        pl.Series([None if row == 1 else x for row, x in enumerate(TEXT)]),
        np.where(np.arange(N) == 1, np.datetime64("NaT", "D"), SITE.astype("datetime64[D]")),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("argument", ["groups", "folds", "by"])
def test_missing_names_are_refused(argument, values):
    with pytest.raises(ValueError, match=rf"{argument} has a missing value in row 1 \(counting"):
        named(argument, values)


@pytest.mark.parametrize("argument", ["groups", "folds", "by"])
@pytest.mark.parametrize("other", [1, ("a",), b"a"])
def test_names_of_several_kinds_are_refused(argument, other):
    values = [*TEXT[:-1], other]
    for given in (values, np.fromiter(values, object, N)):
        with pytest.raises(TypeError, match=rf"{argument} mixes .* str at row 0 .* at row {N - 1}"):
            named(argument, given)


@pytest.mark.parametrize("argument", ["groups", "folds", "by"])
def test_names_that_cannot_be_sorted_are_refused(argument):
    for name in ({"a": 1}, 1j):
        with pytest.raises(TypeError, match=rf"{argument} holds a .* convert the names to text"):
            named(argument, [name] * N)
    with pytest.raises(ValueError, match=rf"{argument} must have one entry .* \({N}, 1\)"):
        named(argument, [[1]] * N)


def named(argument, values):
    if argument == "by":
        return dmfroc.compare_subgroups(Y, S, values, measures="hand_till")
    return dmfroc.estimate("hand_till", Y, S, **{argument: values})


@pytest.mark.parametrize("convert", [list, lambda x: np.fromiter(x, object, len(x))])
def test_masked_items_are_missing(convert):
    labels, scores = convert([0, 1, np.ma.masked]), S[:3, :2]
    with pytest.raises(ValueError, match="y_true has a missing label at row 2"):
        dmfroc.hand_till_score(labels, scores)
    with pytest.raises(ValueError, match="y_pred has a missing label at row 2"):
        dmfroc.Predictions.from_labels([0, 1, 1], labels)
    with pytest.raises(ValueError, match="sample_weight is nan at row 2"):
        dmfroc.hand_till_score([0, 1, 1], scores, sample_weight=convert([1, 2, np.ma.masked]))
    with pytest.raises(ValueError, match="y_score must be numbers"):
        dmfroc.hand_till_score([0, 1, 1], convert([0.1, 0.2, np.ma.masked]))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1, 0, 1], [0, 1, 0]], r"row 0 \(counting from 0\) has 2 ones, .*\(multilabel\)"),
        ([[1, 0, 0], [0, 0, 0]], r"row 1 \(counting from 0\) has 0 ones, .*\(multilabel\)"),
        (np.array([[True, False], [True, True]]), r"row 1 .* has 2 ones, .*each column by itself"),
        ([[1, 0, 0], [0, 0, 1]], r"take argmax\(axis=1\) of one-hot rows$"),
        ([[1], [0]], r"take ravel\(\) of a single column$"),
        ([["a", "b"], ["a", "c"]], "pass one of the columns$"),
        ([[0.2, 0.8], [0.5, 0.5]], "of the columns; classes come first, scores second$"),
    ],
)
def test_several_labels_per_row_are_refused(labels, message):
    for function in (
        lambda: dmfroc.hand_till_score(labels, np.eye(3)[:2]),
        lambda: dmfroc.Predictions.from_labels([0, 1], labels),
    ):
        with pytest.raises(ValueError, match=message):
            function()


@pytest.mark.parametrize(
    "order",
    [
        lambda y: pd.Categorical(y, ["low", "mid", "high"], ordered=True),
        lambda y: pd.Series(pd.Categorical(y, ["low", "mid", "high"], ordered=True)),
        lambda y: pl.Series(y, dtype=pl.Enum(["low", "mid", "high"])),
    ],
    ids=["categorical", "series", "polars"],
)
def test_ordered_categories_have_two_orders(order):
    rng = np.random.default_rng(0)
    y = np.array(["high", "low", "mid"])[np.arange(60) % 3]
    scores = pd.DataFrame(rng.random((60, 3)), columns=["high", "low", "mid"])
    with pytest.raises(ValueError, match=r"or of the categories \('low', 'mid', 'high'\)"):
        dmfroc.hand_till_score(order(y), scores.to_numpy())
    with pytest.raises(ValueError, match=r"or of the categories \('mid', 'high'\)"):
        dmfroc.hand_till_score(order(y[y != "low"]), scores["mid"][y != "low"].to_numpy())
    expected = dmfroc.hand_till_score(y, scores.to_numpy())
    assert dmfroc.hand_till_score(order(y), scores) == expected
    assert dmfroc.hand_till_score(order(y), scores.to_numpy(), labels=[*scores]) == expected
