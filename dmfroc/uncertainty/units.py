"""The independent units of a sample: its rows, or groups of rows that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

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
    n_complete_sets : float
        Into how many disjoint sets the units can be divided such that each has every class that
        occurs: the evidence on the class that has least of it.
    evidence : numpy.ndarray of shape (c,), optional
        For each class that occurs, as how many units of equal weight its units count: Kish's
        effective sample size, the squared sum of their weights over the sum of their squares.
    """

    of_row: Int[np.ndarray, " n"]
    stratum: Int[np.ndarray, " u"]
    sizes: Int[np.ndarray, " s"]
    n_complete_sets: float | int
    evidence: Float[np.ndarray, " c"] | None = None

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
        evidence = _evidence(place[true], predictions.sample_weight)
        sizes = np.bincount(stratum)
        return Units(np.arange(n), stratum, sizes, float(evidence.min()), evidence)
    of_row = _group_of_row(groups, n)
    unit_class, part = np.unique(np.stack([of_row, true]), axis=1, return_inverse=True)
    weight = np.bincount(part.ravel(), predictions.sample_weight)
    unit, place = unit_class[0], np.searchsorted(present, unit_class[1])
    return units_of_parts(of_row, unit, place, weight, stratify=stratify)


def units_of_parts(
    of_row: Int[np.ndarray, " n"],
    unit: Int[np.ndarray, " parts"],
    place: Int[np.ndarray, " parts"],
    weight: Float[np.ndarray, " parts"],
    *,
    stratify: bool,
) -> Units:
    """Return units that have parts in several classes.

    A part has its unit, ascending, its class's place among those that occur, and its weight.
    """
    n_units = int(unit[-1]) + 1
    evidence = _evidence(place, weight)
    if stratify and len(unit) == n_units:
        _, stratum = np.unique(place, return_inverse=True)
    else:
        stratum = np.zeros(n_units, int)
    return Units(of_row, stratum, np.bincount(stratum), float(evidence.min()), evidence)


def _evidence(
    place: Int[np.ndarray, " parts"], weight: Float[np.ndarray, " parts"]
) -> Float[np.ndarray, " c"]:
    """Return Kish's effective number of units of each class."""
    found: Float[np.ndarray, " c"] = np.bincount(place, weight) ** 2 / np.bincount(place, weight**2)
    return found


class Sample(NamedTuple):
    """Predictions, and which of them are independent; all of them have a weight."""

    predictions: Predictions
    units: Units


def sample_of(predictions: Predictions, groups: Any = None, *, stratify: bool = True) -> Sample:
    """Return what ``predictions`` say of a classifier: the rows of weight zero say nothing.

    Takes and raises what `units_of` does.
    """
    counted = predictions.counted
    if groups is not None and counted is not predictions:
        groups = _checked(groups, predictions.n_observations)[predictions.sample_weight > 0]
    return Sample(counted, units_of(counted, groups, stratify=stratify))


def _group_of_row(groups: Any, n_observations: int) -> Int[np.ndarray, " n"]:
    array = _checked(groups, n_observations)
    names, of_row = np.unique(array, return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"groups has one group only, {names.tolist()[0]!r}: at least two are needed to see how "
            "the measure varies"
        )
    return of_row


def _checked(groups: Any, n_observations: int) -> NDArray[Any]:
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
    return array
