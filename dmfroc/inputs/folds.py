"""Folds of a cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.indexes import row_names
from dmfroc.inputs.messages import listing

if TYPE_CHECKING:
    from dmfroc.inputs.predictions import Predictions


def fold_codes(folds: Any, predictions: Predictions) -> NDArray[np.int32]:
    """Return the number of each row's fold, once every fold has every class."""
    array = row_names(folds, "folds", predictions.n_observations, predictions.index, "a fold")
    names, codes = np.unique(array, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"folds has one fold only, {names.tolist()[0]!r}: leave it out where all scores come "
            "from one fit"
        )
    counts = np.zeros((len(names), predictions.n_classes), int)
    np.add.at(counts, (codes, predictions.true), predictions.sample_weight > 0)
    lacks = (counts == 0) & (counts.sum(axis=0) > 0)
    if lacks.any():
        fold, label = np.argwhere(lacks)[0]
        total = counts[:, label].sum()
        raise ValueError(
            f"fold {names.tolist()[fold]!r} lacks class {predictions.labels[label]!r}, so that the "
            f"measure has no value there: stratify the folds by class, and have at most as many "
            f"as the {total} observations of the class (folds: {listing(names.tolist())}). If a "
            "fold is one subject, judge the scores of all folds together, with groups= for the "
            "subjects instead of folds=, or keep only the rows of folds that have all classes"
        )
    return codes.astype(np.int32)
