"""Sums of powers of influences, from which their moments follow; those of two parts are added."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from dmfroc._kit.arrays import IntPerClass, IntPerRow, begins, divide
from dmfroc.counted.batches import Batch
from dmfroc.counted.counts import Counts
from dmfroc.counted.engine import merged
from dmfroc.inference.influences import Moments, moments_from_means, moments_of_sums
from dmfroc.inference.tilt import PerUnit, StratumOfUnit
from dmfroc.inference.units import Units, units_of_parts

_POWERS = np.arange(1, 5)

type Means = Float[np.ndarray, "*values"]


class GroupSums(NamedTuple):
    """Sums of weights, and of influences on each value, by group, then class."""

    names: NDArray[np.generic]  # of each part
    classes: Int[np.ndarray, " parts"]
    sums: Float[np.ndarray, "values_plus_1 parts"]

    def added_up(self) -> GroupSums:
        """Add up the parts of each group and class."""
        order = np.lexsort((self.classes, self.names))
        names, classes = self.names[order], self.classes[order]
        starts = np.flatnonzero((begins(names) | begins(classes))[: len(order)])
        sums = np.add.reduceat(self.sums[:, order], starts, axis=1)
        return GroupSums(names[starts], classes[starts], sums)

    def merged(self, other: GroupSums) -> GroupSums:
        """Return the sums of both."""
        both = zip(self, other, strict=True)
        return GroupSums(*(np.concatenate(x, axis=-1) for x in both)).added_up()


@dataclass(frozen=True, eq=False)
class InfluenceSums:
    """Sums of the first four powers of influences by class, and sums by group."""

    powers: Float[np.ndarray, "4 values k"]
    by_group: GroupSums | None = None

    @classmethod
    def from_batch(
        cls,
        influences: Float[np.ndarray, "values n"],
        batch: Batch,
        n_classes: int,
        times: IntPerRow | None = None,
    ) -> InfluenceSums:
        """Add up the influences of a batch, in which rows may stand for several."""
        powers = np.empty((len(_POWERS), len(influences), n_classes))
        product = np.ones(influences.shape)
        if times is not None:
            product *= times
        for of_power in powers:
            product *= influences
            of_power[:] = [np.bincount(batch.true, row, n_classes) for row in product]
        if batch.groups is None:
            return cls(powers)
        rows = np.vstack([batch.unit_weights, influences])
        return cls(powers, GroupSums(batch.groups, batch.true, rows).added_up())

    def merged(self, other: InfluenceSums) -> InfluenceSums:
        """Return the sums of both."""
        return InfluenceSums(self.powers + other.powers, merged([self.by_group, other.by_group]))


def strata_of(counts: Counts, *, stratify: bool | None) -> Units:
    """Return what is said of rows as units without the rows: their strata."""
    occurs = counts.sizes > 0
    sizes, n_effective = counts.sizes[occurs], counts.totals[occurs] ** 2 / counts.squares[occurs]
    if stratify is False:
        sizes = sizes.sum(keepdims=True)
    nobody = np.zeros(0, int)
    return Units(nobody, nobody, sizes, n_effective, stratify is None)


@dataclass(frozen=True, eq=False)
class Spreads:
    """What is known of how the influences of a sample vary, row by row or group by group.

    Attributes
    ----------
    sums : InfluenceSums
        Of the sample, or of rows drawn from it.
    drawn : numpy.ndarray of int, shape (K,)
        How many rows of each class the sums are of.
    totals : numpy.ndarray of shape (values, K)
        The sums of all rows' influences, by class.
    counts : Counts
        Of the sample.
    stratify : bool, optional
        As of `dmfroc.estimate`.
    """

    sums: InfluenceSums
    drawn: IntPerClass
    totals: Float[np.ndarray, "values k"]
    counts: Counts
    stratify: bool | None = None

    @cached_property
    def units(self) -> Units:
        """The units: groups, or rows with known strata and nothing else."""
        if self.sums.by_group is not None:
            names, classes, sums = self.sums.by_group
            names, unit = np.unique(names, return_inverse=True)
            if len(names) < 2:
                raise ValueError(
                    f"groups has one group only, {names.tolist()[0]!r}: at least two are needed to "
                    "see how the measure varies"
                )
            place = np.unique(classes, return_inverse=True)[1]
            return units_of_parts(unit, unit, place, sums[0], stratify=self.stratify)
        return strata_of(self.counts, stratify=self.stratify)

    @cached_property
    def moments(self) -> list[Moments]:
        """The moments of the influences on each of the values."""
        units = self.units
        if self.sums.by_group is not None:
            return moments_of_sums(self._sums_of_groups, units)
        sizes = self.counts.sizes
        occurs = sizes > 0
        raw = self.sums.powers[:, :, occurs] * (sizes[occurs] / self.drawn[occurs])
        if len(units.sizes) < raw.shape[2]:
            raw = raw.sum(axis=2, keepdims=True)
        means = raw / units.sizes * units.sizes.astype(float) ** _POWERS[:, None, None]
        variance, _, fourth = _about_mean(*means)
        return moments_from_means(variance, fourth, self.totals_of_strata, units)

    def atoms(self, place: int) -> tuple[PerUnit, PerUnit, StratumOfUnit]:
        """Return influences on one of the values, of how many units they are, and their strata.

        They are those of the groups, or three of each class with the first four moments of its
        rows.
        """
        units = self.units
        are_strata = units.has_fixed_sizes
        if self.sums.by_group is not None:
            of_groups = self._sums_of_groups[place]
            order = units.stratum[units.by_stratum] if are_strata else np.zeros(len(of_groups), int)
            return of_groups, np.ones(len(of_groups)), order
        occurs = self.counts.sizes > 0
        sizes = self.counts.sizes[occurs].astype(float)
        influences, shares = three_points(self.sums.powers[:, place, occurs] / self.drawn[occurs])
        stratum = np.repeat(np.arange(len(sizes)) * are_strata, 3)
        return influences.ravel(), (shares * sizes[:, None]).ravel(), stratum

    @cached_property
    def totals_of_strata(self) -> Float[np.ndarray, "values s"]:
        """The sums of the influences, by stratum."""
        if self.sums.by_group is not None:
            return self.units.totals(self._sums_of_groups)
        totals = self.totals[:, self.counts.sizes > 0]
        if len(self.units.sizes) < totals.shape[1]:
            totals = totals.sum(axis=1, keepdims=True)
        return totals

    @cached_property
    def _sums_of_groups(self) -> Float[np.ndarray, "values u"]:
        assert self.sums.by_group is not None
        units, influences = self.units, self.sums.by_group.sums[1:]
        return np.stack([units.sums(x)[units.by_stratum] for x in influences])


def _about_mean(first: Means, second: Means, third: Means, fourth: Means) -> list[Means]:
    """Return the means of the powers 2 to 4 about the mean from those of the powers 1 to 4."""
    return [
        np.maximum(second - first**2, 0.0),
        third - 3 * first * second + 2 * first**3,
        np.maximum(fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4, 0.0),
    ]


def three_points(
    means: Float[np.ndarray, "4 k"],
) -> tuple[Float[np.ndarray, "k 3"], Float[np.ndarray, "k 3"]]:
    """Return three values and their shares that have these means of powers, one the mean itself."""
    variance, third, fourth = _about_mean(*means)
    sd = np.sqrt(variance)
    skewness = divide(third, sd**3, np)
    kurtosis = divide(fourth, variance**2, np)
    product = np.maximum(kurtosis - skewness**2, 1.0)  # Pearson's inequality, but for rounding
    above = (skewness + np.sqrt(skewness**2 + 4 * product)) / 2
    below = above - skewness
    shares = [1 / (below * (above + below)), 1 - 1 / product, 1 / (above * (above + below))]
    places = np.stack([-below, 0 * sd, above], axis=1)
    return means[0][:, None] + sd[:, None] * places, np.maximum(np.stack(shares, axis=1), 1e-12)
