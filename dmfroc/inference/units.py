"""The independent units of a sample: its rows, or groups of rows that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from dmfroc._kit.arrays import IntPerRow, PerClass, PerPresentClass, PerRow, divide
from dmfroc.inference.censoring import CensoringWeights
from dmfroc.inference.tilt import IntPerStratum, IntPerUnit, PerUnit
from dmfroc.inputs.arrays import row_names
from dmfroc.inputs.class_shares import Cells
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.subgroups import unit_of_rows

SumsOfUnits = Float[np.ndarray, "r u"]
"""Of each of r values, one number for each unit, those of the first stratum first."""
OfStrata = Float[np.ndarray, "r s"]
TotalsOfStrata = Float[np.ndarray, "r d"]
"""Of each of r values, one number for each stratum, and for each fold of it where there are."""


@dataclass(frozen=True, eq=False)
class EstimatedWeights:
    """Weights of rows that were estimated from these rows and another sample.

    Attributes
    ----------
    slopes : numpy.ndarray of shape (n, q)
        Derivatives of the logarithm of each row's weight with respect to the parameters.
    influences_of_rows : numpy.ndarray of shape (n, q)
        Influence of each row on the parameters.
    influences_of_target : numpy.ndarray of shape (m, q)
        Influence of each row of the other sample on them.
    """

    methods: ClassVar[tuple[str, ...]] = ("jackknife",)

    slopes: Float[np.ndarray, "n q"]
    influences_of_rows: Float[np.ndarray, "n q"]
    influences_of_target: Float[np.ndarray, "m q"]

    def through(
        self, influences: Float[np.ndarray, "*values n"]
    ) -> tuple[Float[np.ndarray, "*values n"], Float[np.ndarray, "*values m"]]:
        """Return influences that also work through the weights, and those of the other sample."""
        slope = influences @ self.slopes
        return influences + slope @ self.influences_of_rows.T, slope @ self.influences_of_target.T


type Weights = EstimatedWeights | CensoringWeights


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """Independent units, and the strata within which they are exchangeable.

    Attributes
    ----------
    unit_of_row : numpy.ndarray of int, shape (n,)
        The unit of each observation, and of each whose class is not known.
    stratum : numpy.ndarray of int, shape (u,)
        The stratum of each unit.
    sizes : numpy.ndarray of int, shape (s,)
        Number of units in each stratum.
    effective_sizes : numpy.ndarray of shape (c,)
        For each class that occurs, as how many units of equal weight its units count: Kish's
        effective sample size, the squared sum of their weights over the sum of their squares.
    sizes_are_random : bool
        Whether the sizes of the strata are a matter of chance, as those of classes are in most test
        sets: then what they do to a value belongs to its error.
    cell : numpy.ndarray of int, shape (u,), optional
        Where the strata have folds: the stratum and fold of each unit, about whose mean it varies.
    n_means : numpy.ndarray of int, shape (s,), or 1
        How many means are estimated in each stratum: one, or one for each fold.
    weights : EstimatedWeights or CensoringWeights, optional
        How the weights of the rows were estimated, unless they are given.
    shares : tuple of two numpy.ndarray of shape (n,), optional
        If the class shares are given: a number of each row's class and fold, and the row's share in
        their weight.
    """

    unit_of_row: IntPerRow
    stratum: IntPerUnit
    sizes: IntPerStratum
    effective_sizes: PerPresentClass
    sizes_are_random: bool = False
    cell: IntPerUnit | None = None
    n_means: IntPerStratum | int = 1
    weights: Weights | None = None
    shares: Cells | None = None

    def __repr__(self) -> str:
        sizes = len(self.stratum), len(self.unit_of_row), len(self.sizes)
        return "Units({} units of {} rows in {} strata)".format(*sizes)

    @cached_property
    def n_complete_sets(self) -> float:
        """Into how many disjoint sets the units can be divided, each with every class."""
        return float(np.min(self.effective_sizes))

    @property
    def has_fixed_sizes(self) -> bool:
        """Whether the sizes of the classes, or their shares, are given."""
        return len(self.sizes) > 1 and (self.shares is not None or not self.sizes_are_random)

    def centred(self, influences: PerRow) -> PerRow:
        """Return influences on the value with the given class shares, whatever the weights."""
        if self.shares is None:
            return influences
        cell, share = self.shares
        return influences - share * np.bincount(cell, influences)[cell]

    @property
    def unit_of_row_with_class(self) -> IntPerRow:
        """The unit of each observation whose class is known."""
        if isinstance(self.weights, CensoringWeights):
            return self.unit_of_row[self.weights.known]
        return self.unit_of_row

    @cached_property
    def unit_of_known_row(self) -> IntPerRow:
        """The unit of each observation whose class is known, counted without the others."""
        return np.unique(self.unit_of_row_with_class, return_inverse=True)[1]

    def drawn_weights(self, of_units: PerUnit, *, keeps_shares: bool = True) -> PerRow:
        """Return how much rows count if each unit is drawn so often.

        The classes keep given shares, and the chances to stay uncensored are estimated again.
        """
        weights = of_units[self.unit_of_row]
        if isinstance(self.weights, CensoringWeights):
            weights = self.weights.drawn(weights)
        if self.shares is None or not keeps_shares:
            return weights
        cell, share = self.shares
        return weights / np.maximum(np.bincount(cell, share * weights)[cell], 1e-300)

    @cached_property
    def in_one_stratum(self) -> Units:
        """The same units, drawn without regard to their strata, whose sizes are then random.

        With folds they stay in their strata: a draw whose fold lacks a class has no value.
        """
        if np.ndim(self.n_means) > 0:
            return self
        stratum = np.zeros(len(self.stratum), int)
        sizes = np.array([len(self.stratum)])
        return replace(self, stratum=stratum, sizes=sizes, sizes_are_random=False)

    @property
    def groups(self) -> IntPerRow | None:
        """The unit of each observation where units have several, as `units_of` takes them."""
        return self.unit_of_known_row if len(self.stratum) < len(self.unit_of_row) else None

    def sums(self, influence: PerRow) -> PerUnit:
        """Add up the influences of each unit's rows."""
        return np.bincount(self.unit_of_row, influence, minlength=len(self.stratum))

    @cached_property
    def by_stratum(self) -> IntPerUnit:
        """Places of the units, those of the first stratum first, and of its first fold."""
        keys = self.stratum if self.cell is None else self.cell
        if len(self.drawn) < 2**15:  # small integers are sorted by their digits, six times faster
            keys = keys.astype(np.int16)
        return np.argsort(keys, kind="stable").astype(np.int32)

    @property
    def own(self) -> IntPerStratum:
        """Degrees of freedom of each stratum's variance: less than its size by its means."""
        return np.maximum(self.sizes - self.n_means, 0)

    def totals(self, sums: SumsOfUnits) -> TotalsOfStrata:
        """Add up what is in the order of `by_stratum`, by stratum, and by fold where there are."""
        return np.add.reduceat(sums, np.cumsum(self.drawn) - self.drawn, axis=1)

    def centred_parts(self, sums: SumsOfUnits) -> Iterator[tuple[int, Float[np.ndarray, "r part"]]]:
        """Yield each stratum, or fold of it, and its part of the sums about their means."""
        for size, end in zip(self.drawn, np.cumsum(self.drawn), strict=True):
            part = sums[:, end - size : end]
            yield self.stratum[self.by_stratum[end - 1]], part - part.mean(axis=1, keepdims=True)

    def means_of_powers(self, sums: SumsOfUnits) -> tuple[OfStrata, OfStrata, TotalsOfStrata]:
        """Return the second and fourth moments of each stratum, scaled to single units, and totals.

        Takes what is in the order of `by_stratum`.
        """
        begins, drawn = np.cumsum(self.drawn) - self.drawn, self.drawn
        stratum = self.stratum[self.by_stratum[begins]]
        powers = sums - (np.add.reduceat(sums, begins, axis=1) / drawn).repeat(drawn, axis=1)
        powers *= self.sizes[stratum].repeat(drawn)
        of_strata = []
        for _ in ("second", "fourth"):
            powers *= powers
            of_parts = np.add.reduceat(powers, begins, axis=1)
            of_strata.append(np.stack([np.bincount(stratum, x) for x in of_parts]) / self.sizes)
        return *of_strata, self.totals(sums)

    @cached_property
    def drawn(self) -> Int[np.ndarray, " d"]:
        """The sizes of the strata, or of their folds, within which a bootstrap draws."""
        return self.sizes if self.cell is None else np.bincount(self.cell)


def units_of(
    predictions: Predictions, groups: Any = None, *, stratify: bool | None = None
) -> Units:
    """Return the units of ``predictions``: rows, or the groups that ``groups`` names.

    The strata are the classes, as long as no unit has observations of two.

    Parameters
    ----------
    predictions : Predictions
        The sample.
    groups : array-like of shape (n,), optional
        To which patient, document, ... each observation belongs.
    stratify : bool, optional
        Whether to take the class sizes as fixed. If not, there is one stratum; by default the
        classes are strata of random sizes.

    Raises
    ------
    ValueError
        If ``groups`` has another length than the sample, missing values, or one group only.
    """
    true, present = predictions.true, predictions.present
    if groups is None:
        place = np.zeros(predictions.n_classes, np.int32)
        place[present] = np.arange(len(present))
        classes = true if len(present) == predictions.n_classes else place[true]
        each = np.arange(len(true), dtype=np.int32)
        parts = each, each, classes, predictions.sample_weight
    else:
        unit_of_row = unit_of_rows(groups, predictions.n_given, predictions.given_rows)
        unit_class, part = np.unique(np.stack([unit_of_row, true]), axis=1, return_inverse=True)
        weight = np.bincount(part.ravel(), predictions.sample_weight)
        parts = unit_of_row, unit_class[0], np.searchsorted(present, unit_class[1]), weight
    units = units_of_parts(*parts, stratify=stratify)
    return units if predictions.folds is None else _in_folds(units, predictions.folds)


def _in_folds(units: Units, folds: IntPerRow) -> Units:
    """Have the folds of a cross-validation cost a mean each, in each stratum."""
    pairs = np.unique(np.stack([units.unit_of_row, folds]), axis=1)
    n_units, n_folds = len(units.stratum), int(folds.max()) + 1
    if pairs.shape[1] == n_units:
        of_unit = np.stack([units.stratum, pairs[1]])
        (stratum, _), cell = np.unique(of_unit, axis=1, return_inverse=True)
        n_means = np.bincount(stratum, minlength=len(units.sizes))
        return replace(units, cell=cell.ravel(), n_means=n_means)
    # Repeated: every unit is in as many folds as there are repeats.
    per_repeat = max(round(n_folds * n_units / pairs.shape[1]), 1)
    return replace(units, n_means=np.full(len(units.sizes), per_repeat))


def units_of_parts(
    unit_of_row: IntPerRow,
    unit: Int[np.ndarray, " parts"],
    place: Int[np.ndarray, " parts"],
    weight: Float[np.ndarray, " parts"],
    *,
    stratify: bool | None,
) -> Units:
    """Return units that have parts in several classes.

    A part has its unit, ascending, its class's place among those that occur, and its weight.
    """
    n_units = int(unit[-1]) + 1
    is_by_class = stratify is not False and len(unit) == n_units
    stratum = place if is_by_class else np.zeros(n_units, int)
    if len(unit) > n_units and stratify:
        raise ValueError(
            "stratify=True fixes the class sizes, but groups have rows of several classes: "
            "leave it out, or give the class shares as population="
        )
    n_effective = kish_sizes(place, weight)
    return Units(unit_of_row, stratum, np.bincount(stratum), n_effective, stratify is None)


def kish_sizes(classes: IntPerRow, weights: PerRow, n_classes: int = 0) -> PerClass:
    """Return Kish's effective number of units of each class, ``(sum w)^2 / sum w^2``.

    It is rounded, so that 50 units of weight 0.1 are no fewer than 50.
    """
    total = np.bincount(classes, weights, minlength=n_classes)
    squares = np.bincount(classes, weights**2, minlength=n_classes)
    return divide(total**2, squares, np).round(9)


class Sample(NamedTuple):
    """Predictions, and which of them are independent; all of them have a weight."""

    predictions: Predictions
    units: Units


Samples = Mapping[str, Sample]
"""Those of classifiers, by name; of the same observations they have their units in common."""


def are_paired(samples: Samples) -> bool:
    """Whether samples are of the same observations, whose units they then have in common."""
    return len({id(sample.units) for sample in samples.values()}) == 1


def centred_in(
    stratum: Int[np.ndarray, " u"], sums: Float[np.ndarray, " u"]
) -> tuple[Float[np.ndarray, " u"], Float[np.ndarray, " u"]]:
    """Return numbers about the mean of their stratum, and this mean.

    Those about it have the variance of one unit more.
    """
    sizes = np.bincount(stratum)
    means = (np.bincount(stratum, sums) / np.maximum(sizes, 1))[stratum]
    return (sums - means) * np.sqrt(sizes / np.maximum(sizes - 1, 1))[stratum], means


def sample_of(
    predictions: Predictions, groups: Any = None, *, stratify: bool | None = None
) -> Sample:
    """Return what ``predictions`` say of a classifier: the rows of weight zero say nothing.

    Takes and raises what `units_of` does.
    """
    counted = predictions.counted
    if groups is not None and counted is not predictions:
        groups = group_names(groups, predictions)[predictions.sample_weight > 0]
    return Sample(counted, units_of(counted, groups, stratify=stratify))


def sample_at_horizon(
    whole: Predictions, weights: CensoringWeights, groups: Any, *, stratify: bool | None
) -> Sample:
    """Return the rows whose class is known; those where it is not are units, too."""
    rows = whole.rows(weights.counted)
    known, unknown = rows.sample_weight > 0, len(rows.labels)
    everybody = replace(
        rows,
        labels=(*rows.labels, None),
        true=np.where(known, rows.true, unknown),
        sample_weight=np.where(known, rows.sample_weight, weights.given),
    )
    if groups is not None:
        groups = group_names(groups, whole)[weights.counted]
    units = units_of(everybody, groups, stratify=stratify)
    n_effective = units.effective_sizes[: len(rows.counted.present)]
    if len(units.sizes) > len(n_effective) and units.cell is None:
        # The units of unknown classes are in the largest stratum, as most may be
        largest = int(units.sizes[:-1].argmax())
        stratum = np.where(units.stratum == len(units.sizes) - 1, largest, units.stratum)
        units = replace(units, stratum=stratum, sizes=np.bincount(stratum))
    weights = replace(weights, known=known)
    return Sample(rows.counted, replace(units, effective_sizes=n_effective, weights=weights))


def group_names(groups: Any, predictions: Predictions) -> NDArray[Any]:
    """Check the names of the groups, one for each observation, in the order of the predictions."""
    return row_names(groups, "groups", predictions.n_given, predictions.given_rows, "a group")
