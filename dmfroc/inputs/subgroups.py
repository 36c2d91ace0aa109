"""The fold, the subgroup and the independent unit of each row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import Rows, as_scalar, columns_of, row_names
from dmfroc.inputs.messages import listing

THE_OTHERS = "all others"
"""In differences: the mean of the other groups, by their numbers of observations."""


def lacks_class(
    codes: NDArray[Any], true: NDArray[Any], n_classes: int, counted: NDArray[np.bool]
) -> NDArray[np.bool]:
    """Return by fold and class which folds lack a class that other folds have in counted rows."""
    counts = np.zeros((int(codes.max()) + 1, n_classes), int)
    np.add.at(counts, (codes, true), counted)
    return (counts == 0) & (counts.sum(axis=0) > 0)


def fold_codes(
    folds: NDArray[Any],
    true: NDArray[np.int32],
    labels: Sequence[Hashable],
    weight: NDArray[np.float64],
) -> NDArray[np.int32]:
    """Return the number of each observation's fold, once every fold has every class."""
    names, codes = np.unique(folds, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"folds has one fold only, {names.tolist()[0]!r}: leave it out where all scores come "
            "from one fit"
        )
    lacks = lacks_class(codes, true, len(labels), weight > 0)
    if lacks.any():
        fold, label = np.argwhere(lacks)[0]
        total = int(((true == label) & (weight > 0)).sum())
        raise ValueError(
            f"fold {names.tolist()[fold]!r} lacks class {labels[label]!r}, so that the "
            f"measure has no value there: stratify the folds by class, and have at most as many "
            f"as the {total} observations of the class (folds: {listing(names.tolist())}). If a "
            "fold is one subject, judge the scores of all folds together, with groups= for the "
            "subjects instead of folds=, or keep only the rows of folds that have all classes"
        )
    return codes.astype(np.int32)


def unit_of_rows(groups: Any, n: int, rows: Rows) -> NDArray[Any]:
    """Return the independent unit of each observation: one of n rows, or the group of the row."""
    if groups is None:
        return np.arange(n)
    names, group = np.unique(row_names(groups, "groups", n, rows, "a group"), return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups has one group only, {names.tolist()[0]!r}: two are needed")
    return group


def crossed(by: Any, n: int, rows: Rows) -> tuple[list[str], NDArray[Any]]:
    """Return the names of the groups, sorted, and the group of each observation.

    Parameters
    ----------
    by : array-like of shape (n,), table of n rows, or dict of str to array-like of shape (n,)
        Several columns cross: each combination that occurs is a group.
    n : int
        Number of rows.
    rows : Rows
        Those of the other inputs.

    Raises
    ------
    ValueError
        If there is no column, or one has another length or missing values.
    """
    import pandas as pd

    if by is None:
        raise ValueError("by is missing: pass the subgroup of each observation")
    columns = by if isinstance(by, Mapping) else columns_of(by, "by") or {"by": by}
    if not columns:
        raise ValueError("by has no column: pass the subgroup of each observation")
    named = {
        str(name): row_names(
            values, "by" if len(columns) == 1 else f"by[{name!r}]", n, rows, "a subgroup"
        )
        for name, values in columns.items()
    }
    group = pd.DataFrame(named).groupby(list(named)).ngroup().to_numpy()
    _, first_rows = np.unique(group, return_index=True)
    names = []
    for row in first_rows:
        entries = [(name, str(as_scalar(values[row]))) for name, values in named.items()]
        names.append(", ".join(map("=".join, entries)) if len(columns) > 1 else entries[0][1])
    return names, group
