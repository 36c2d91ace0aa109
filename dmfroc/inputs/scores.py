"""Scores: one column per class, real, finite and in the order of the classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import (
    as_array,
    as_floats,
    check_distinct,
    from_library,
    is_table,
    plain,
    series_values,
)
from dmfroc.inputs.columns import match_columns, positional_classes, single_score_classes
from dmfroc.inputs.labels import Label
from dmfroc.inputs.messages import Source, check_length

type Floats = NDArray[np.float32] | NDArray[np.float64]


def class_scores(
    y_score: Any,
    n: int,
    distinct: list[Label],
    order: list[Label] | None,
    source: Source,
    *,
    copy: bool = True,
) -> tuple[list[Label], Floats, bool]:
    """Classes in column order, their scores, and whether one column had to serve both classes."""
    names, columns = _score_columns(y_score, source, copy=copy)
    if len(columns):
        check_length(source.scores, len(columns[0]), n, source)
    if len(columns) == 1:
        name = None if names is None else names[0]
        labels, positive = single_score_classes(name, distinct, order, source)
        _check_finite(columns[0][:, np.newaxis], names, [labels[positive]], source)
        scores = np.empty((n, 2), columns[0].dtype)
        scores[:, positive] = columns[0]
        scores[:, 1 - positive] = -columns[0]
        return labels, scores, True
    if names is None:
        labels = positional_classes(len(columns), distinct, order, source)
        scores = np.asarray(columns).T
    else:
        labels, positions = match_columns(names, distinct, order, source)
        names = [names[position] for position in positions]
        scores = np.empty((n, len(labels)), np.result_type(*columns))
        for column, position in enumerate(positions):
            scores[:, column] = columns[position]
        if order is None:
            _check_absent(scores, names, labels, distinct, source)
    _check_finite(scores, names, labels, source)
    return labels, scores, False


def _check_absent(
    scores: NDArray[Any],
    names: list[Hashable],
    labels: list[Label],
    distinct: list[Label],
    source: Source,
) -> None:
    """Refuse a column that names no observed class and does not look like scores of one."""
    observed = set(distinct)
    absent = [position for position, label in enumerate(labels) if label not in observed]
    if not absent or _is_whole(np.delete(scores, absent, axis=1)):
        return
    for position in absent:
        if _is_whole(scores[:, position]) and len(np.unique(scores[:, position])) > 2:
            remedy = "choose with scores=" if source.is_table_file else "leave it out"
            raise ValueError(
                f"{source.scores}: column {names[position]!r} names no class of {source.true} and "
                "holds whole numbers beside scores that are not, as an identifier does: "
                f"{remedy}, or pass labels= with all classes if it is one"
            )


def _is_whole(values: NDArray[Any]) -> bool:
    return bool((values == np.floor(values)).all())


def _score_columns(
    y_score: Any, source: Source, *, copy: bool
) -> tuple[list[Hashable] | None, Sequence[NDArray[Any]] | NDArray[Any]]:
    """Column names, if there are any, and the columns; those without names are one array's."""
    wrapped = from_library(y_score, source.scores)
    if wrapped is not None:
        series = list(wrapped.iter_columns()) if is_table(wrapped) else [wrapped]
        columns = [_score_column(column, source) for column in series]
        names = [plain(column.name) for column in series]
        return (None if names in ([None], [""]) or _are_default(wrapped) else names), columns
    try:
        array = as_array(y_score, source.scores)
    except ValueError as error:
        raise ValueError(
            f"{source.scores} is not a matrix; give every row the same number of scores ({error})"
        ) from error
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{source.scores} must have shape (n, K), or (n,) for two classes, but is "
            f"{f'of shape {array.shape}' if array.ndim else f'a {type(y_score).__name__}'}"
        )
    matrix = as_floats(array, source.scores, copy=copy or None, name_row=source.row)
    check_distinct(array, matrix, source.scores)
    return None, (matrix[:, np.newaxis] if matrix.ndim == 1 else matrix).T


def _are_default(wrapped: Any) -> bool:
    """Whether column names only count the columns, as those that nobody chose do."""
    if not is_table(wrapped):
        return False
    native, names = wrapped.to_native(), list(wrapped.columns)
    if hasattr(native, "iloc"):  # of pandas, which chooses this kind of names itself
        return type(native.columns).__name__ == "RangeIndex" and names == list(range(len(names)))
    return names == [f"column_{place}" for place in range(len(names))]  # of polars


def _score_column(column: Any, source: Source) -> NDArray[Any]:
    what = f"{source.scores} column {plain(column.name)!r}"
    try:
        values = series_values(column)
        floats = as_floats(values, what, name_row=source.row)
        check_distinct(values, floats, what)
        return floats
    except TypeError as error:
        if not source.is_table_file:
            raise
        raise TypeError(f"{error}; name the score columns with scores=") from error


def _check_finite(
    scores: NDArray[Any], names: list[Hashable] | None, labels: Sequence[Label], source: Source
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary; a sum that overflows only costs the exact look below
        if np.isfinite(scores.sum()):
            return
    unusable = ~np.isfinite(scores)
    if unusable.any():
        row, column = divmod(int(unusable.argmax()), scores.shape[1])
        name = column if names is None else repr(names[column])
        raise ValueError(
            f"{source.scores} must be finite, but {np.count_nonzero(unusable)} of {scores.size} "
            f"values are not; the first is {scores[row, column]} at {source.row(row)}, column "
            f"{name} (class {labels[column]!r}): replace them or drop their rows"
        )
