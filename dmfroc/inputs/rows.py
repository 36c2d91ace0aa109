"""The rows of several classifiers: which of them are the same observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dmfroc.inputs.arrays import Array, Rows, whole_as_int
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions


def matched(named: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """Put the rows of all classifiers in the order of the first, by their ids.

    Raises
    ------
    ValueError
        If some classifiers have ids and others have none, if their ids are not the same, or if
        none has ids but columns of their files name rows and are in different orders.
    """
    (first_name, first), *others = named.items()
    predictions = {first_name: first}
    for name, other in others:
        if (first.ids is None) != (other.ids is None):
            lacking = first_name if first.ids is None else name
            raise ValueError(f"id= is given for some classifiers only: {lacking!r} has none")
        if first.ids is None:
            _check_unused_columns(first_name, first, name, other)
            predictions[name] = other
        else:
            assert other.ids is not None
            rows = other.rows(order_of_ids(first_name, first.ids, name, other.ids))
            predictions[name] = replace(rows, index=first.index)
    return predictions


def order_of_ids(first_name: str, first: Array, name: str, other: Array) -> Array:
    """Return the rows of another classifier, or model, that have the ids of the first."""
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
    """Refuse files whose rows are in different orders, as an unused column shows."""
    if first.unused is None or other.unused is None:
        return
    others = {name.casefold(): name for name in other.unused.column_names}
    for name_of_column in first.unused.column_names:
        if name_of_column.casefold() not in others:
            continue
        columns = [first.unused[name_of_column], other.unused[others[name_of_column.casefold()]]]
        if columns[0].equals(columns[1]) or len(columns[0]) != len(columns[1]):
            continue
        # Whole numbers are alike whatever their type
        items = [[whole_as_int(x) for x in column.to_pylist()] for column in columns]
        a, b = (list(map(str, column)) for column in items)
        if a == b or len({*a}) <= len(first.labels):  # hard labels may differ
            continue
        is_real = any(isinstance(x, float) for column in items for x in column)
        are_ids = len({*a}) == len(a) and len({*b}) == len(b) and not is_real
        if are_ids or sorted(a) == sorted(b):
            row = [x != y for x, y in zip(a, b, strict=True)].index(True)
            raise ValueError(
                f"column {name_of_column!r} differs between {first_name!r} and {name!r}, first at "
                f"data row {row + 1}, which has {a[row]!r} and {b[row]!r}: if it names the rows "
                f"pass id={name_of_column!r} to match them; if it does not, pass "
                f"other_columns={[name_of_column]}"
            )


def checked_same_observations(named: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """Refuse classifiers whose classes, observed labels or weights differ.

    Returns them with one index, if any of them has one.
    """
    (first_name, first), *others = named.items()
    rows = Rows(first, repr(first_name))
    for name, other in others:
        if other.labels != first.labels:
            raise ValueError(
                f"{first_name!r} has the classes {list(first.labels)} and {name!r} has "
                f"{list(other.labels)}: give both the same labels="
            )
        if len(other.true) != len(first.true):
            raise ValueError(
                f"{first_name!r} has {len(first.true)} observations and {name!r} has "
                f"{len(other.true)}: a paired comparison needs the same observations; compare "
                "different ones with paired=False"
            )
        rows.check_same(other, repr(name))
        compared: list[tuple[str, Any, Any]] = [
            ("observed classes", first.true, other.true),
            ("weights", first.sample_weight, other.sample_weight),
            ("folds", first.folds, other.folds),
        ]
        for what, a, b in compared:
            if not np.array_equal(a, b):
                row = int(np.flatnonzero(a != b)[0])
                raise ValueError(
                    f"the {what} of {first_name!r} and {name!r} differ, first in row {row} "
                    "(counting from 0): a paired comparison needs the same observations in the "
                    "same order; compare different ones with paired=False"
                )
    return {name: replace(one, index=rows.index) for name, one in named.items()}
