"""Divisions of rows into training and test rows, as scikit-learn makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from jaxtyping import Int
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from dmfroc._kit.arrays import BoolPerRow
from dmfroc._kit.options import integer, listed, unmasked
from dmfroc.inputs.arrays import Rows, as_array, as_scalar, is_missing
from dmfroc.inputs.messages import IN_MEMORY


def check_estimator(estimator: Any) -> None:
    """Refuse what cannot be fitted."""
    is_class, kind = isinstance(estimator, type), type(estimator).__name__
    if is_class or not hasattr(estimator, "fit"):
        raise TypeError(
            "estimator must be one classifier of scikit-learn's kind, with a method fit, but it is "
            + (f"a class: pass {estimator.__name__}()" if is_class else f"a {kind}")
            + ": compare the scores of several by dmfroc.compare(y, scores, folds=)"
            * isinstance(estimator, Mapping)
        )


def splits_of(
    cv: Any, X: Any, y: Any, seed: Any, groups: Any = None
) -> list[tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]]:
    """Return the training rows and the test rows of each split, once no row counts twice.

    They are given as scikit-learn takes them: by a number of folds, what has ``split``, or pairs.
    """
    if isinstance(cv, Integral):  # shuffled, which scikit-learn would not do
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(integer("cv", cv, 2, 2**31), shuffle=True, random_state=seed)
    elif isinstance(cv, str | bytes) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise TypeError(
            f"cv must be a number of folds, a splitter or pairs of training and test rows, but "
            f"it is of type {type(cv).__name__}"
        )
    elif not hasattr(cv, "split"):
        cv = listed("cv", cv, least=0)
        for split in cv:
            if not isinstance(split, tuple | list) or len(split) != 2:
                raise TypeError(
                    f"cv must yield pairs of training rows and test rows, but it yields a "
                    f"{type(split).__name__}"
                )
    splits = [
        (_rows(train, len(y)), _rows(test, len(y)))
        for train, test in check_cv(cv, y, classifier=True).split(X, y, groups)
    ]
    if len(splits) < 2:
        raise ValueError(
            f"cv yields {len(splits) or 'no'} split: give two or more, or a number of folds"
        )
    tested_by: dict[bytes, BoolPerRow] = {}  # training rows
    for place, (train, test) in enumerate(splits):
        counts = np.bincount(test, minlength=len(y))
        if counts.max() > 1:
            raise ValueError(
                f"cv names test row {counts.argmax()} twice in split {place} (counting from 0): "
                "a row counts once in each test set"
            )
        if counts[train].any():
            raise ValueError(
                f"cv has row {train[counts[train].argmax()]} (counting from 0) among both the "
                f"training and the test rows of split {place}: what was trained on cannot be judged"
            )
        is_tested = tested_by.setdefault(np.sort(train).tobytes(), np.zeros(len(y), bool))
        if is_tested[test].any():
            raise ValueError(
                f"cv has the training rows of split {place} (counting from 0) and test row "
                f"{test[is_tested[test].argmax()]} in an earlier split, too: a repeat must be "
                "another division of the rows"
            )
        is_tested[test] = True
    return splits


def _rows(rows: Any, n: int) -> Int[np.ndarray, " rows"]:
    """Return the places of rows, which may be given as a mask."""
    array = np.asarray(unmasked("a split of cv", rows))
    if array.dtype == bool and array.shape == (n,):
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not len(array):
        raise TypeError(
            "cv must yield pairs of training rows and test rows, as integers or as masks of "
            f"{n} rows, but it yields {array.dtype} values of shape {array.shape}"
        )
    if (wrong := array[(array < 0) | (array >= n)]).size:
        farthest = wrong[abs(wrong).argmax()]
        raise ValueError(f"cv yields row {farthest}, but rows are counted from 0 to {n - 1}")
    return array.astype(np.intp)


def checked(X: Any, y: Any) -> tuple[Any, Any]:
    """Return features and labels of the same rows."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        X, y = indexable(X, y)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X and y must have one row per observation: {error}") from error
    rows, of_rows = Rows(unmasked("X", X), "X"), y
    values = as_array(y, "y")
    if values.dtype.kind == "O":
        missing = [row for row, item in enumerate(values.tolist()) if is_missing(item)]
        if missing:
            raise ValueError(
                f"y has a missing label at {IN_MEMORY.row(missing[0])}: give it a label or drop "
                "the row"
            )
    y = rows.arranged(column_or_1d(y, warn=True), of_rows, "y")
    check_classification_targets(y)
    labels = np.unique(y)
    if len(labels) < 2:
        problem = f"holds one class only ({as_scalar(labels[0])!r})" if len(labels) else "is empty"
        raise ValueError(f"y must hold at least two classes, but it {problem}")
    return X, y
