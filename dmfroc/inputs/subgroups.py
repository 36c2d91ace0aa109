"""Columns that name the group of each observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from dmfroc.inputs.indexes import row_names

THE_OTHERS = "all others"
"""In differences: the mean of the other groups, by their numbers of observations."""


def crossed(by: Any, n: int, index: Any) -> tuple[list[str], Int[np.ndarray, " n"]]:
    """Return the names of the groups, sorted, and the group of each row.

    Parameters
    ----------
    by : array-like of shape (n,), table of n rows, or dict of str to array-like of shape (n,)
        Several columns cross: each combination that occurs is a group.
    n : int
        Number of rows.
    index : pandas.Index or None
        Index of the other inputs, see `Predictions`.

    Raises
    ------
    ValueError
        If there is no column, or one has another length or missing values.
    """
    if by is None:
        raise ValueError("by is missing: pass the subgroup of each observation")
    columns = _columns(by)
    if not columns:
        raise ValueError("by has no column: pass the subgroup of each observation")
    codes = []
    for name, values in columns.items():
        what = "by" if len(columns) == 1 else f"by[{name!r}]"
        distinct, of_column = np.unique(
            row_names(values, what, n, index, "a subgroup"), return_inverse=True
        )
        codes.append((distinct.tolist(), of_column))
    of_row = codes[0][1]
    for distinct, of_column in codes[1:]:
        _, of_row = np.unique(of_row * len(distinct) + of_column, return_inverse=True)
    _, first_rows = np.unique(of_row, return_index=True)
    names = []
    for row in first_rows:
        entries = [str(distinct[of_column[row]]) for distinct, of_column in codes]
        if len(columns) > 1:
            entries = [f"{name}={entry}" for name, entry in zip(columns, entries, strict=True)]
        names.append(", ".join(entries))
    return names, of_row


def _columns(by: Any) -> dict[str, Any]:
    if isinstance(by, Mapping):
        return {str(name): values for name, values in by.items()}
    if hasattr(by, "columns"):  # a table of pandas or polars
        return {str(name): by[name] for name in by.columns}
    return {"by": by}
