"""Columns that name the group of each observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from dmfroc.inputs.arrays import plain, row_names

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
    import pandas as pd

    if by is None:
        raise ValueError("by is missing: pass the subgroup of each observation")
    columns = _columns(by)
    if not columns:
        raise ValueError("by has no column: pass the subgroup of each observation")
    named = {
        name: row_names(
            values, "by" if len(columns) == 1 else f"by[{name!r}]", n, index, "a subgroup"
        )
        for name, values in columns.items()
    }
    of_row = pd.DataFrame(named).groupby(list(named)).ngroup().to_numpy()
    _, first_rows = np.unique(of_row, return_index=True)
    names = []
    for row in first_rows:
        entries = [(name, str(plain(values[row]))) for name, values in named.items()]
        names.append(", ".join(map("=".join, entries)) if len(columns) > 1 else entries[0][1])
    return names, of_row


def _columns(by: Any) -> dict[str, Any]:
    if isinstance(by, Mapping):
        return {str(name): values for name, values in by.items()}
    if hasattr(by, "columns"):  # a table of pandas or polars
        return {str(name): by[name] for name in by.columns}
    return {"by": by}
