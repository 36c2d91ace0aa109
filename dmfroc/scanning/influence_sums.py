"""Sums of powers of influences, from which their moments follow; those of two parts are added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from dmfroc.scanning.batches import Batch
from dmfroc.uncertainty.influences import Moments, moments_from_means, moments_of
from dmfroc.uncertainty.units import Units, units_of_parts

_POWERS = np.arange(1, 5)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Influences by group, and weights by group and class; sorted by group, then class."""

    names: NDArray[np.generic]  # of each part
    classes: Int[np.ndarray, " parts"]
    weights: Float[np.ndarray, " parts"]
    influences: Float[np.ndarray, "values parts"]

    @classmethod
    def of_rows(
        cls,
        names: NDArray[np.generic],
        classes: Int[np.ndarray, " n"],
        weights: Float[np.ndarray, " n"],
        influences: Float[np.ndarray, "values n"],
    ) -> GroupSums:
        """Add up the rows of each group and class."""
        order = np.lexsort((classes, names))
        names, classes = names[order], classes[order]
        if not len(order):
            return cls(names, classes, weights, influences)
        is_first = np.append(True, (names[1:] != names[:-1]) | (classes[1:] != classes[:-1]))
        starts = np.flatnonzero(is_first)
        return cls(
            names[starts],
            classes[starts],
            np.add.reduceat(weights[order], starts),
            np.add.reduceat(influences[:, order], starts, axis=1),
        )

    def merged(self, other: GroupSums) -> GroupSums:
        """Return the sums of both."""
        return GroupSums.of_rows(
            np.concatenate([self.names, other.names]),
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.influences, other.influences], axis=1),
        )

    def units(self, *, stratify: bool) -> Units:
        """Return the groups as units whose rows are the parts."""
        names, unit = np.unique(self.names, return_inverse=True)
        if len(names) < 2:
            raise ValueError(
                f"groups has one group only, {names.tolist()[0]!r}: at least two are needed to see "
                "how the measure varies"
            )
        place = np.unique(self.classes, return_inverse=True)[1]
        return units_of_parts(unit, unit, place, self.weights, stratify=stratify)


@dataclass(frozen=True, eq=False)
class InfluenceSums:
    """Sums of the first four powers of influences by class, and their sums by group."""

    powers: Float[np.ndarray, "4 values k"]
    groups: GroupSums | None = None

    @classmethod
    def of_batch(
        cls,
        influences: Float[np.ndarray, "values n"],
        batch: Batch,
        n_classes: int,
        times: Int[np.ndarray, " n"] | None = None,
    ) -> InfluenceSums:
        """Add up the influences of a batch, in which rows may stand for several."""
        powers = np.empty((len(_POWERS), len(influences), n_classes))
        product = np.ones(influences.shape)
        if times is not None:
            product *= times
        for of_power in powers:
            product *= influences
            of_power[:] = [np.bincount(batch.true, row, n_classes) for row in product]
        groups = None
        if batch.groups is not None:
            groups = GroupSums.of_rows(
                batch.groups, batch.true.astype(int), batch.unit_weights, influences
            )
        return cls(powers, groups)

    def merged(self, other: InfluenceSums) -> InfluenceSums:
        """Return the sums of both."""
        groups = self.groups
        if groups is not None and other.groups is not None:
            groups = groups.merged(other.groups)
        return InfluenceSums(self.powers + other.powers, groups)


@dataclass(frozen=True, eq=False)
class Spreads:
    """What is known of how the influences of a sample vary, row by row or group by group.

    Attributes
    ----------
    sums : InfluenceSums
        Of the sample, or of rows drawn from it.
    drawn : numpy.ndarray of int, shape (K,)
        How many rows of each class the sums are of.
    sizes : numpy.ndarray of int, shape (K,)
        Rows of each class of the sample.
    n_complete_sets : float
        As of `dmfroc.uncertainty.units.Units`.
    stratify : bool
        Whether the classes are strata.
    """

    sums: InfluenceSums
    drawn: Int[np.ndarray, " k"]
    sizes: Int[np.ndarray, " k"]
    n_complete_sets: float
    stratify: bool = True

    def moments(self, value: int) -> Moments:
        """Return the moments of the influences on one of the values."""
        if self.sums.groups is not None:
            units = self.sums.groups.units(stratify=self.stratify)
            return moments_of(self.sums.groups.influences[value], units)
        occurs = self.sizes > 0
        sizes, drawn = self.sizes[occurs], self.drawn[occurs]
        raw = self.sums.powers[:, value, occurs] * (sizes / drawn)
        if not self.stratify:
            raw, sizes = raw.sum(axis=1, keepdims=True), sizes.sum(keepdims=True)
        first, second, third, fourth = raw / sizes * sizes.astype(float) ** _POWERS[:, None]
        return moments_from_means(
            sizes,
            np.maximum(second - first**2, 0),
            np.maximum(fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4, 0),
            self.n_complete_sets,
        )
