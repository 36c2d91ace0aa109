"""The independent units of a sample: its rows, or groups of rows that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units, and the strata within which they are exchangeable.

    Attributes
    ----------
    of_row : numpy.ndarray of int, shape (n,)
        The unit of each observation.
    stratum : numpy.ndarray of int, shape (u,)
        The stratum of each unit.
    sizes : numpy.ndarray of int, shape (s,)
        Number of units in each stratum.
    n_complete_sets : int
        Into how many disjoint sets the units can be divided such that each has every class that
        occurs: the number of units with the rarest class.
    """

    of_row: Int[np.ndarray, " n"]
    stratum: Int[np.ndarray, " u"]
    sizes: Int[np.ndarray, " s"]
    n_complete_sets: int

    def sums(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " u"]:
        """Add up what belongs to each unit."""
        return np.bincount(self.of_row, x, minlength=len(self.stratum))


def units_of(predictions: Predictions, groups: Any = None, *, stratify: bool = True) -> Units:
    """Return the units of ``predictions``: rows, or the groups that ``groups`` names.

    The strata are the classes, as long as no unit has observations of two.

    Parameters
    ----------
    predictions : Predictions
        The sample.
    groups : array-like of shape (n,), optional
        To which patient, document, ... each observation belongs.
    stratify : bool
        Whether to take the class sizes as fixed.

    Raises
    ------
    ValueError
        If ``groups`` has another length than the sample, missing values, or one group only.
    """
    n, true, present = predictions.n_observations, predictions.true, predictions.present
    if groups is None:
        place = np.zeros(predictions.n_classes, int)
        place[present] = np.arange(len(present))
        stratum = place[true] if stratify else np.zeros(n, int)
        smallest = int(predictions.class_counts[present].min())
        return Units(np.arange(n), stratum, np.bincount(stratum), smallest)
    of_row = _group_of_row(groups, n)
    unit_class = np.unique(np.stack([of_row, true]), axis=1)
    n_units = int(unit_class[0, -1]) + 1
    units_per_class = np.bincount(unit_class[1])
    n_complete_sets = int(units_per_class[units_per_class > 0].min())
    if stratify and unit_class.shape[1] == n_units:
        _, stratum = np.unique(unit_class[1], return_inverse=True)
    else:
        stratum = np.zeros(n_units, int)
    return Units(of_row, stratum, np.bincount(stratum), n_complete_sets)


def _group_of_row(groups: Any, n_observations: int) -> Int[np.ndarray, " n"]:
    array = np.asarray(groups)
    if array.shape != (n_observations,):
        raise ValueError(
            f"groups must have one entry for each of the {n_observations} observations, but its "
            f"shape is {array.shape}"
        )
    is_missing = array != array  # NaN
    if array.dtype == object:
        is_missing |= np.array([entry is None for entry in array])
    if is_missing.any():
        raise ValueError(
            f"groups has a missing value in row {int(np.flatnonzero(is_missing)[0])} (counting "
            "from 0): name a group for every observation"
        )
    names, of_row = np.unique(array, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"groups has one group only, {names.tolist()[0]!r}: at least two are needed to see how "
            "the measure varies"
        )
    return of_row
