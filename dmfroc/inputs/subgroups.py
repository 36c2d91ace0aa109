"""The fold, the subgroup and the independent unit of each row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dmfroc.inputs.arrays import (
    Array,
    Codes,
    Flags,
    Numbers,
    Rows,
    as_scalar,
    columns_of,
    row_names,
)
from dmfroc.inputs.messages import shortened

THE_OTHERS = "all others"
"""In differences: the mean of the other groups, by their numbers of observations."""


def lacks_class(codes: Array, true: Array, n_classes: int, counted: Flags) -> Flags:
    """Return by fold and class which folds lack a class that other folds have in counted rows."""
    counts = np.zeros((int(codes.max()) + 1, n_classes), int)
    np.add.at(counts, (codes, true), counted)
    return (counts == 0) & (counts.sum(axis=0) > 0)


def lacking_folds(
    names: Sequence[str],
    codes: Array,
    true: Codes,
    labels: Sequence[Hashable],
    weight: Numbers,
) -> str | None:
    """Refuse a single fold; return why a measure that needs all classes has no value in folds."""
    if len(names) < 2:
        raise ValueError(
            f"folds has one fold only, {names[0]}: leave it out where all scores come from one fit"
        )
    lacks = lacks_class(codes, true, len(labels), weight > 0)
    if not lacks.any():
        return None
    fold, label = np.argwhere(lacks)[0]
    what = (
        f"fold {names[fold]} lacks class {labels[label]!r}, so that the measure has no value there"
    )
    if 2 * len(names) > len(true):
        return (
            f"{what}: nearly every fold is one row. Of leave-one-out no measure of ranks can be "
            "told, as no two scores come from one fit, and pooled ones rank the rows against their "
            "classes. Take measures of single rows without folds=, such as brier_score, or "
            "cross-validate again with five or ten folds, stratified by class"
        )
    total = int(((true == label) & (weight > 0)).sum())
    return (
        f"{what}: stratify the folds by class, and have at most as many as the {total} "
        f"observations of the class (folds: {shortened(names)}). If a fold is one subject, judge "
        "the scores of all folds together, with groups= for the subjects instead of folds=, or "
        "keep only the rows of folds that have all classes"
    )


def unit_of_rows(groups: Any, n: int, rows: Rows) -> Array:
    """Return the independent unit of each observation: one of n rows, or the group of the row."""
    if groups is None:
        return np.arange(n)
    names, group = np.unique(row_names(groups, "groups", n, rows, "a group"), return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups has one group only, {names.tolist()[0]!r}: two are needed")
    return group


def crossed(
    by: Any, n: int, rows: Rows, what: str = "by", noun: str = "a subgroup"
) -> tuple[list[str], Array]:
    """Return the names of the groups, sorted, and the group of each observation.

    Parameters
    ----------
    by : array-like of shape (n,), table or matrix of n rows, or several columns in a list or dict
        Several columns cross: each combination that occurs is a group.
    n : int
        Number of rows.
    rows : Rows
        Those of the other inputs.
    what, noun : str
        The argument, and what it names.

    Raises
    ------
    ValueError
        If there is no column, or one has another length or missing values.
    """
    import pandas as pd

    if by is None:
        raise ValueError(f"{what} is missing: pass {noun} for each observation")
    if isinstance(by, np.ndarray) and by.ndim == 2:
        by = dict(enumerate(by.T))
    elif (
        isinstance(by, list | tuple)
        and len(by) < n
        and all(not isinstance(x, str) and hasattr(x, "__len__") and len(x) == n for x in by)
    ):
        by = dict(enumerate(by))
    columns = by if isinstance(by, Mapping) else columns_of(by, what) or {what: by}
    if not columns:
        raise ValueError(f"{what} has no column: pass {noun} for each observation")
    named = {
        str(name): row_names(
            values, what if len(columns) == 1 else f"{what}[{name!r}]", n, rows, noun
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
