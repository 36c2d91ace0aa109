"""Observation weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import as_array, as_floats
from dmfroc.inputs.indexes import Rows
from dmfroc.inputs.labels import Label
from dmfroc.inputs.messages import Source, check_length, listing

_LARGEST_EXPONENT = 64  # of two; the cube of the sum of a billion such weights is finite
_LARGEST_COUNT = 2**53  # up to here every whole number is a float
_LARGEST_RATIO = 166  # its logarithm to the base two


def check_weights(
    values: Any, true: NDArray[np.int32], labels: Sequence[Label], source: Source, rows: Rows
) -> NDArray[np.float64]:
    """Return one weight per observation in a new array; ones where none are given."""
    if values is None:
        return np.ones(len(true))
    weight = real_weights(values, len(true), source)
    weight = rows.arranged(weight, values, source.weight)
    _check_classes(weight, true, labels, source.weight)
    return _scaled(weight, source.weight)


def check_counts(
    values: Any, true: NDArray[np.int32], labels: Sequence[Label], source: Source, rows: Rows
) -> NDArray[np.int64]:
    """Return how often each row was observed."""
    what = source.frequency
    counts = real_weights(values, len(true), replace(source, weight=what))
    counts = rows.arranged(counts, values, what)
    is_broken = (counts % 1 != 0) | (counts >= _LARGEST_COUNT)
    if is_broken.any():
        row = int(is_broken.argmax())
        raise ValueError(
            f"{what} is {counts[row]} at {source.row(row)}: it says how often the row was "
            "observed, a whole number; pass weights as sample_weight="
        )
    _check_classes(counts, true, labels, what)
    return counts.astype(np.int64)


def _check_classes(
    weight: NDArray[np.float64], true: NDArray[np.int32], labels: Sequence[Label], what: str
) -> None:
    if not weight.any():
        raise ValueError(f"{what} is zero in every row: some observations must count")
    counts, totals = np.bincount(true), np.bincount(true, weight)
    empty = np.flatnonzero((counts > 0) & (totals == 0)).tolist()
    if empty:
        raise ValueError(
            f"{what} is zero in all rows of class {listing([labels[code] for code in empty])}: "
            "give some of them a positive weight, or drop the rows"
        )


def real_weights(values: Any, n: int, source: Source) -> NDArray[np.float64]:
    """Return one finite weight >= 0 for each of n observations, in a new array."""
    what = source.weight
    weight = as_floats(as_array(values, what), what).astype(np.float64)
    if weight.ndim != 1:
        raise ValueError(f"{what} has shape {weight.shape}, but must be one weight per row")
    check_length(what, len(weight), n, source)
    unusable = ~(np.isfinite(weight) & (weight >= 0))
    if unusable.any():
        row = int(unusable.argmax())
        raise ValueError(
            f"{what} is {weight[row]} at {source.row(row)}: weights must be finite and >= 0"
        )
    return weight


def _scaled(weight: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Return weights whose products do not overflow: only their ratios matter."""
    least, largest = weight[weight > 0].min(), weight.max()
    exponents = np.frexp([least, largest])[1]
    if np.ptp(exponents) > _LARGEST_RATIO:
        raise ValueError(
            f"{what} has positive weights from {least} to {largest}: the largest must not be more "
            "than 1e50 times the smallest; give 0 to those that need not count"
        )
    # By a power of two, which is exact
    is_extreme = abs(exponents[1]) > _LARGEST_EXPONENT
    return np.ldexp(weight, -exponents[1]) if is_extreme else weight
