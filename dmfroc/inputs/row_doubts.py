"""Doubts about rows: warnings that they may be several test sets, or not independent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from dmfroc.inputs.arrays import Array, Codes, whole_as_int
from dmfroc.inputs.messages import listing

_FEWEST_CASES = 20  # of several rows each; fewer values are rather those of a setting
_FEWEST_ROWS = 10  # of each value of a setting
_FEWEST_CELLS = 6  # of two columns that cross evenly, as hardly happens by chance
_FEWEST_CHANGES = 8  # from row to row, in a sequence of labels that is there several times
_LONGEST_CYCLE = 20  # rows
_OF_FITTING = re.compile(r"(train|learn|fit|in.?sample)\w*", re.IGNORECASE)
_OF_JUDGING = re.compile(r"(test|val|dev|eval|hold|held|out|external|oof)[\w .-]*", re.IGNORECASE)
_OF_FLAGS = re.compile(
    r"(is|in)?[_. ]?train\w*|(is|in)[_. ]?(test|valid|holdout)\w*", re.IGNORECASE
)
_FLAGS = {"0", "1"}, {"false", "true"}
_OF_FITS = re.compile(r"fold|split|resampl|rep|iter|id|seed|run|boot", re.IGNORECASE)
_OF_FOLDS = re.compile(r"fold|split|resampl|rep(?!ort)|cv", re.IGNORECASE)
_OF_PEOPLE = re.compile(
    r"patient|subject(?!ive)|person(?!al)|participant|individual(?!ly)|respondent"
    r"|^(mrn|pid|user|donor|(case|user|client|customer|donor|study)[ _.-]?(id|no|nr|number))$",
    re.IGNORECASE,
)
_OF_MODELS = re.compile(
    r"model|learner|flow|algo|method|seed|run|trial|epoch|config", re.IGNORECASE
)


def row_doubt(unused: Any, others: Any, true: Codes) -> str | None:
    """Say which column of a file shows that its rows are not one test set, or not independent.

    Parameters
    ----------
    unused, others : pyarrow.Table
        Columns without a use, and those that the user has named, such as folds.
    true : numpy.ndarray of int32, shape (n,)
        The classes.
    """
    n, columns, used = len(true), _coded(unused), _coded(others)
    coded = {name: codes for name, (codes, _) in (used | columns).items()}
    keys = [x for x, codes in coded.items() if np.bincount(codes).min() > 1]
    keys = [x for x in keys if len(_pairs(coded[x], true)) == coded[x].max() + 1]
    cell = _cells(coded[x] for x in used)
    for name, (codes, values) in columns.items():
        is_told = len(_pairs(cell, codes)) == cell.max() + 1  # by what the user has named
        if is_told or len(values) < 2 or np.bincount(codes).min() < _FEWEST_ROWS:
            continue
        judged = [x for x in values if not _OF_FITTING.fullmatch(str(x))]
        are_judged = judged and all(_OF_JUDGING.fullmatch(str(x)) for x in judged)
        flags = {str(x).casefold(): x for x in values}
        flag = _OF_FLAGS.fullmatch(name) if flags.keys() in _FLAGS else None
        if flag:  # such as is_train
            judged = [flags[min(flags) if "train" in flag[0].casefold() else max(flags)]]
        if flag or (judged != values and are_judged):
            return (
                f"keep the rows to be judged, as with where={ {name: judged[-1]} }: column "
                f"{name!r} has the values {listing(values)}, and scores of rows on which a model "
                "was fitted are too good"
            )
        named = [x for x in keys if len(values) * (coded[x].max() + 1) == n]
        named = [x for x in named if len(_pairs(codes, coded[x])) == n]
        folds = [x for x in coded if x != name and _OF_FITS.search(x)]
        folds = [x for x in folds if _cross_evenly(codes, coded[x])]
        if named or (folds and _OF_FITS.search(name)) or _has_same_labels(name, codes, true):
            what = f"all values of column {folds[0]!r}" if folds else "the same labels"
            what = f"the same rows by column {named[0]!r}" if named else what
            remedy = f"; pass groups={named[0]!r} if that is a patient" if named else ""
            if folds:
                both = [name, folds[0]]
                remedy = f"; name both, folds={both}, if they are repeats of a cross-validation"
                remedy += f" (and groups={named[0]!r})" if named else ""
            return (
                f"judge one at a time, where={ {name: values[0]} }, if column {name!r} has models "
                f"or seeds{remedy}: each of its {len(values)} values has {what}"
            )
    for key in keys:
        sizes = np.bincount(coded[key])
        if len(sizes) < _FEWEST_CASES or key in used:
            continue
        if pooled := pooled_message(f"values of column {key!r}", coded[key], cell):
            return pooled
        low, high = sizes.min(), sizes.max()
        rows = f"{low} rows" if low == high else f"{low} to {high} rows"
        return (
            f"pass groups={key!r}, or keep one row of each, if rows with the same one are of "
            "one observation or patient: standard errors are too small without. Each of its "
            f"{len(sizes)} values is in {rows}, all of one class"
        )
    others = [len(values) for name, (_, values) in used.items() if not _OF_FOLDS.search(name)]
    if max(others, default=0) >= _FEWEST_CASES:  # this one may be that of the groups
        return None
    for name, (codes, values) in columns.items():
        if _OF_PEOPLE.search(name) and _FEWEST_CASES <= len(values) < len(codes):
            return (
                f"pass groups={name!r} if rows with the same one are of one person: standard "
                f"errors are too small without, and the column has {len(values)} values in {n} rows"
            )
    return None


def pooled_message(what: str, unit: Array, fold: Array) -> str | None:
    """Say that rows of one unit are in several folds, and several of them in one."""
    n_units = unit.max() + 1
    pairs, n_folds = _pairs(unit, fold), int(fold.max()) + 1
    if not n_units < len(pairs) < len(unit):
        return None
    n_several = np.count_nonzero(np.bincount(pairs // n_folds) > 1)
    return (
        f"{n_several} of {n_units} {what} have rows in several folds: if one fit was trained on "
        "some of these and judged on others, values are biased upwards. Keep them in one fold, and "
        "fit again. If they are one observation in repeats of a cross-validation, name both the "
        "repeat and the fold, such as folds=['repeat', 'fold']"
    )


def _coded(table: Any) -> dict[str, tuple[Array, list[Any]]]:
    """Return codes and values by column, but for real numbers, and for lists and objects."""
    import pyarrow.compute as pc
    from pyarrow import types

    coded = {}
    for name in table.column_names:
        column = table[name]
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        is_real = False
        if types.is_floating(column.type):
            column = column.cast("float64")
            is_real = pc.any(pc.not_equal(column, pc.floor(column))).as_py()
        if not types.is_nested(column.type) and not is_real:
            encoded = column.combine_chunks().dictionary_encode("encode")
            values = list(map(whole_as_int, encoded.dictionary.to_pylist()))
            coded[name] = encoded.indices.to_numpy().astype(np.int64), values
    return coded


def _cells(codes: Iterable[Array]) -> Array:
    """Return one code for each combination; 0 for all rows without columns."""
    cell: Any = np.array([0])
    for more in codes:
        cell = np.unique(cell * (int(more.max()) + 1) + more, return_inverse=True)[1]
    return cell


def _pairs(first: Array, second: Array) -> Array:
    return np.unique(first * (int(second.max()) + 1) + second)


def _cross_evenly(first: Array, second: Array) -> bool:
    """Whether each value of a column has nearly as many rows with each value of another one."""
    n_second = int(second.max()) + 1
    n_cells = (int(first.max()) + 1) * n_second
    if not _FEWEST_CELLS <= n_cells <= len(first) / 4:
        return False
    cells = np.bincount(first * n_second + second, minlength=n_cells)
    return bool(cells.min() > 0 and np.ptp(cells) <= 2)


def _has_same_labels(name: str, codes: Array, true: Codes) -> bool:
    """Whether the rows of each value have the same labels in a row, neither sorted nor a cycle.

    Of columns that are named so, several values with the same number of labels suffice.
    """
    n_values = int(codes.max()) + 1
    counts = np.bincount(true * n_values + codes, minlength=(true.max() + 1) * n_values)
    if np.ptp(counts.reshape(-1, n_values), axis=1).any():
        return False
    if n_values > 2 and _OF_MODELS.search(name):
        return True
    rows = true[np.argsort(codes, kind="stable")].reshape(n_values, -1)
    first, lags = rows[0], range(1, min(rows.shape[1] // 2, _LONGEST_CYCLE) + 1)
    is_cycle = any((first[lag:] == first[:-lag]).all() for lag in lags)
    n_changes = np.count_nonzero(np.diff(first))
    return bool(n_changes >= _FEWEST_CHANGES and (rows == first).all() and not is_cycle)
