"""Doubts about rows: warnings that they may be several test sets, or not independent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.messages import listing

_FEWEST_CASES = 20  # of several rows each; fewer values are rather those of a setting
_FEWEST_ROWS = 10  # of each value of a setting
_FEWEST_CELLS = 6  # of two columns that cross evenly, as hardly happens by chance
_FEWEST_CHANGES = 8  # from row to row, in a sequence of labels that is there several times
_OF_FITTING = re.compile(r"(train|learn|fit|in.?sample)\w*", re.IGNORECASE)
_OF_JUDGING = re.compile(r"(test|val|dev|eval|hold|held|out|external|oof)[\w .-]*", re.IGNORECASE)
_OF_FITS = re.compile(r"fold|split|resampl|rep|iter|id|seed|run|boot", re.IGNORECASE)


class _Coded(NamedTuple):
    """A column: its values, which of them each row has, and how often each is there."""

    name: str
    values: list[Any]
    codes: NDArray[np.int64]
    sizes: NDArray[np.int64]


def row_doubt(unused: Any, others: Any, true: NDArray[np.int32]) -> str | None:
    """Say which column of a file shows that its rows are not one test set, or not independent.

    Parameters
    ----------
    unused, others : pyarrow.Table
        Columns without a use, and those that the user has named, such as folds.
    true : numpy.ndarray of int32, shape (n,)
        The classes.
    """
    n, columns, used = len(true), list(_coded(unused)), list(_coded(others))
    keys = [x for x in (*columns, *used) if x.sizes.min() > 1]  # which may name observations
    keys = [x for x in keys if _n_pairs(x.codes, true) == len(x.values)]
    for column in columns:
        if len(column.values) < 2 or column.sizes.min() < _FEWEST_ROWS:
            continue
        name, values = column.name, column.values
        judged = [x for x in values if not _OF_FITTING.fullmatch(str(x))]
        if judged != values and judged and all(_OF_JUDGING.fullmatch(str(x)) for x in judged):
            return (
                f"column {name!r} has the values {listing(values)}: scores of rows on which a "
                "model was fitted are too good. Keep the rows to be judged, as with "
                f"where={ {name: judged[-1]} }"
            )
        names = [
            x for x in keys if len(values) * len(x.values) == _n_pairs(column.codes, x.codes) == n
        ]
        folds = [x for x in (*used, *columns) if _OF_FITS.search(x.name)]
        folds = [x for x in folds if _cross_evenly(column, x)]
        is_same = bool(names) or _has_same_labels(column, true)
        if is_same or (folds and _OF_FITS.search(name)):
            what = f"all values of column {folds[0].name!r}" if folds else "the same labels"
            what = f"the same rows by column {names[0].name!r}" if names else what
            remedy = ""
            if folds:
                both = [name, folds[0].name]
                remedy = f"; if they are repeats of a cross-validation, name both, folds={both}"
            elif names:
                remedy = f"; if {names[0].name!r} is a patient, pass groups={names[0].name!r}"
            return (
                f"column {name!r} has {len(values)} values, each with {what}. If they are models "
                f"or seeds, judge one at a time, where={ {name: values[0]} }{remedy}"
            )
    for key in keys:
        if len(key.values) < _FEWEST_CASES:
            continue
        folds = [x.codes for x in used if x is not key]
        cell = np.unique(folds, axis=1, return_inverse=True)[1] if folds else np.zeros(n, int)
        if len(key.values) < _n_pairs(key.codes, cell) < n:
            return (
                f"rows with the same {key.name!r} are in several of the folds or groups, and some "
                "twice in one. If they are repeats of a cross-validation, name both the repeat and "
                "the fold, such as folds=['repeat', 'fold']"
            )
        if key in columns:
            low, high = key.sizes.min(), key.sizes.max()
            rows = f"{low} rows" if low == high else f"{low} to {high} rows"
            return (
                f"column {key.name!r} has each of its {len(key.values)} values in {rows}, all of "
                "one class. If these rows are of one observation or patient, standard errors are "
                "too small: pass groups= for it, or keep one row of each"
            )
    return None


def _coded(table: Any) -> Iterator[_Coded]:
    """Yield the columns of a table, but those of real numbers, and of lists or objects."""
    import pyarrow.compute as pc
    from pyarrow import types

    for name in table.column_names if len(table) else ():
        column = table[name]
        if types.is_nested(column.type) or (
            types.is_floating(column.type)
            and not pc.all(pc.equal(column, pc.floor(column))).as_py()
        ):
            continue
        coded = column.combine_chunks().dictionary_encode("encode")
        codes = coded.indices.to_numpy().astype(np.int64)
        values = coded.dictionary.to_pylist()
        values = [int(x) if isinstance(x, float) and x.is_integer() else x for x in values]
        yield _Coded(name, values, codes, np.bincount(codes))


def _n_pairs(first: NDArray[Any], second: NDArray[Any]) -> int:
    return len(np.unique(first * (int(second.max()) + 1) + second))


def _cross_evenly(column: _Coded, other: _Coded) -> bool:
    """Whether each value of a column has nearly as many rows with each value of another one."""
    n_cells = len(column.values) * len(other.values)
    if column is other or not _FEWEST_CELLS <= n_cells <= len(column.codes) / 4:
        return False
    cells = np.bincount(column.codes * len(other.values) + other.codes, minlength=n_cells)
    return bool(cells.min() > 0 and np.ptp(cells) <= 2)


def _has_same_labels(column: _Coded, true: NDArray[np.int32]) -> bool:
    """Whether the rows of each value have the same labels in a row, neither sorted nor a cycle."""
    if np.ptp(column.sizes):
        return False
    rows = true[np.argsort(column.codes, kind="stable")].reshape(len(column.sizes), -1)
    first = rows[0]
    is_cycle = any(
        (first[lag:] == first[:-lag]).all() for lag in range(1, len(first) // 2 + 1)[:20]
    )
    n_changes = np.count_nonzero(np.diff(first))
    return bool(n_changes >= _FEWEST_CHANGES and (rows == first).all() and not is_cycle)
