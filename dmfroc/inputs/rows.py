"""The rows of several classifiers: which of them are the same observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import as_array, is_missing, read_only
from dmfroc.inputs.messages import Source, check_length, listing

if TYPE_CHECKING:
    from dmfroc.inputs.predictions import Predictions


def check_ids(values: Any, n: int, source: Source) -> NDArray[Any]:
    """Return the names of n rows, which must differ."""
    array = as_array(values, source.id)
    if array.ndim != 1:
        raise ValueError(f"{source.id} has shape {array.shape}, but must be one id per row")
    check_length(source.id, len(array), n, source)
    rows: dict[Any, int] = {}
    for row, item in enumerate(array.tolist()):
        if is_missing(item):
            raise ValueError(f"{source.id} has a missing value at {source.row(row)}")
        if rows.setdefault(item, row) != row:
            raise ValueError(
                f"{source.id} has {item!r} at {source.row(rows[item])} and {source.row(row)}, but "
                "an id must name one row: combine columns to one id if need be"
            )
    return read_only(array)


def matched(named: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """Put the rows of all classifiers in the order of the first, by their ids.

    Raises
    ------
    ValueError
        If some classifiers have ids and others have none, if their ids are not the same, or if
        none has ids but columns of their files name rows and are in different orders.
    """
    (first_name, first), *others = named.items()
    found = {first_name: first}
    for name, other in others:
        if (first.ids is None) != (other.ids is None):
            lacking = first_name if first.ids is None else name
            raise ValueError(f"id= is given for some classifiers only: {lacking!r} has none")
        if first.ids is None:
            _check_unused_columns(first_name, first, name, other)
            found[name] = other
        else:
            rows = other.rows(_order(first_name, first.ids, name, other.ids))
            found[name] = replace(rows, index=first.index)
    return found


def _order(
    first_name: str, first: NDArray[Any], name: str, other: NDArray[Any] | None
) -> NDArray[np.int64]:
    assert other is not None
    wanted, row_of = first.tolist(), {item: row for row, item in enumerate(other.tolist())}
    for of_first, lacking in (
        (True, [item for item in wanted if item not in row_of]),
        (False, list(set(row_of).difference(wanted))),
    ):
        if lacking:
            owner, lacks = (first_name, name) if of_first else (name, first_name)
            raise ValueError(
                f"{len(lacking)} ids of {owner!r} are none of {lacks!r}: {listing(lacking)}; a "
                "paired comparison needs the same observations, so keep the rows that both have"
            )
    return np.array([row_of[item] for item in wanted], np.int64)


def _check_unused_columns(
    first_name: str, first: Predictions, name: str, other: Predictions
) -> None:
    """Refuse files of which a column without use shows that their rows are in different orders."""
    if first.unused is None or other.unused is None:
        return
    labels = set(map(str, first.labels))
    for column in first.unused.column_names:
        if column not in other.unused.column_names:
            continue
        a, b = _names(first.unused[column]), _names(other.unused[column])
        if a is None or b is None or a == b or len(a) != len(b):
            continue
        are_predictions = set(map(str, a)) <= labels
        are_ids = len(set(a)) == len(a) and len(set(b)) == len(b)
        if not are_predictions and (are_ids or sorted(map(str, a)) == sorted(map(str, b))):
            row = next(row for row, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
            raise ValueError(
                f"column {column!r} differs between {first_name!r} and {name!r}, first at data row "
                f"{row + 1}, which has {a[row]!r} and {b[row]!r}: if it names the rows pass "
                f"id={column!r} to match them; if it does not, pass other_columns={[column]}"
            )


def _names(column: Any) -> list[Any] | None:
    """Return the values of a column of pyarrow that can name rows: texts or whole numbers."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_floating(kind):
        values = column.to_numpy()
        is_whole = np.isfinite(values).all() and (values == np.floor(values)).all()
        return values.astype(np.int64).tolist() if is_whole else None
    is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
    return column.to_pylist() if is_text or pyarrow.types.is_integer(kind) else None
