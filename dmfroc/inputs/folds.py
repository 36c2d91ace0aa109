"""Folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.messages import listing


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
