"""Values as functions of the masses of independent units, seen and unseen, and their derivatives.

This is the one form in which limits know a value: of a measure in a sample, of a difference, of a
mean of several, or of what a judge adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import PerRow, divide
from dmfroc.inference.tilt import IntPerUnit, PerUnit
from dmfroc.inference.units import EstimatedWeights, Sample
from dmfroc.inference.unseen import IntPerUnseen, PerUnseen, UnseenRows, unseen_rows
from dmfroc.inputs.class_shares import shares_in_cells
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind
from dmfroc.measures.measured import Measured

_MOST_TRIED = 1000  # rows
_ROUNDING = 1e-9  # of a value that does not depend on how many rows have weight 0


class Slopes(NamedTuple):
    """A value at some masses, and its derivatives with respect to these."""

    value: float
    of_units: PerUnit
    of_unseen: PerUnseen


@runtime_checkable
class Reweighted(Protocol):
    """A value as a function of the masses of units, 1 each in the sample, and of unseen units."""

    def value(self, units: PerUnit, unseen: PerUnseen) -> float:
        """Return the value."""

    def slopes(self, units: PerUnit, unseen: PerUnseen) -> Slopes | None:
        """Return the value and its derivatives; None if they are only known in the sample."""


@dataclass(frozen=True, eq=False)
class MeasureOfUnits:
    """A measure in a sample with the rows that it does not show.

    Estimated weights follow: the chances to stay uncensored are estimated again, and so are the
    shares of classes that are given. Weights by a model change by their derivatives.
    """

    bound: BoundMeasures
    sample: Sample
    rows: UnseenRows
    has_slopes: bool = True
    correction: float = 0.0  # that is added to the value

    def value(self, units: PerUnit, unseen: PerUnseen) -> float:
        """Return the value."""
        with np.errstate(all="ignore"):
            value = self.bound.values(self._weights(units, unseen)[0])[0]
        return float(value) + self.correction

    def slopes(self, units: PerUnit, unseen: PerUnseen) -> Slopes | None:
        """Return the value and its derivatives, unless weights are estimated."""
        if self.sample.units.weights is not None or not self.has_slopes:
            return None
        weights, factor = self._weights(units, unseen)
        with np.errstate(all="ignore"):
            [value], [gradient] = self.bound.values_and_gradients(weights)
        slopes = gradient * factor
        slopes = np.where(np.isfinite(slopes), slopes, 0.0)  # in a fifth of the time of nan_to_num
        predictions, own = self.sample
        if own.shares is not None:
            cell = self._cells
            own_sums = np.bincount(cell, weights * slopes), np.bincount(cell, weights)
            slopes -= divide(*own_sums, np)[cell]
        n = len(predictions.true)
        of_units = own.sums(slopes[:n] * predictions.sample_weight)
        return Slopes(float(value) + self.correction, of_units, slopes[n:] * self.size)

    def corrected(self, value: float) -> MeasureOfUnits:
        """Return it with this corrected value in the sample, and as much more or less elsewhere."""
        found = self.value(np.ones(self.n_units), np.zeros(len(self.rows.true)))
        return replace(self, correction=value - found)

    @property
    def n_units(self) -> int:
        """Number of units, and of those of the sample by which weights were estimated."""
        weights = self.sample.units.weights
        n = len(self.sample.units.stratum)
        if isinstance(weights, EstimatedWeights):
            return n + len(weights.influences_of_target)
        return n

    @cached_property
    def size(self) -> PerUnseen:
        """The weight of an average unit in the class of each unseen one."""
        predictions, units = self.sample
        of_class = np.ones(predictions.n_classes)
        totals = predictions.class_totals[predictions.present]
        of_class[predictions.present] = totals / units.effective_sizes
        return of_class[self.rows.true]

    @cached_property
    def _cells(self) -> Int[np.ndarray, " rows"]:
        """The class, and fold, of each row whose share is given."""
        return shares_in_cells(self.rows.predictions)[0]

    def _weights(self, units: PerUnit, unseen: PerUnseen) -> tuple[PerRow, PerRow | float]:
        """Return the weights of all rows, and by how much given shares of classes change them."""
        (predictions, own), n = self.sample, len(self.sample.units.stratum)
        rows = predictions.sample_weight * own.drawn_weights(units[:n], keeps_shares=False)
        if isinstance(own.weights, EstimatedWeights):
            moved = (units[own.unit_of_row] - 1) @ own.weights.influences_of_rows
            if len(units) > n:
                moved = moved + (units[n:] - 1) @ own.weights.influences_of_target
            rows = rows * np.exp(own.weights.slopes @ moved)
        weights = np.append(rows, unseen * self.size)
        if own.shares is None:
            return weights, 1.0
        cell, whole = self._cells, self.rows.predictions.sample_weight
        factor = (np.bincount(cell, whole) / np.maximum(np.bincount(cell, weights), 1e-300))[cell]
        return weights * factor, factor


def function_of_user(
    measure: Measure, sample: Sample, bound: BoundMeasures, found: Measured
) -> MeasureOfUnits | None:
    """Return a user's measure as a function of masses; None if it depends on more than weights.

    Raises
    ------
    ValueError
        If it does not depend on the weights. Seen rows alone do not show that of a perfect value.
    """
    rows, value = unseen_rows(sample.predictions), found.value
    try:
        whole = bind(measure, rows.predictions)
        function = MeasureOfUnits(whole, sample, rows, whole.is_compiled)
        again = function.value(np.ones(len(sample.units.stratum)), np.zeros(len(rows.true)))
        is_fixed = _is_fixed(found, whole, rows.predictions.sample_weight)
    except Exception:  # of any kind, since it may expect as many rows as its user has
        again, weights = np.nan, sample.predictions.sample_weight
        is_fixed = value not in measure.bounds and _is_fixed(found, bound, weights)
    if is_fixed:
        raise ValueError(
            f"the measure {measure.name!r} is {value:.4g} whatever the weights of rows are, from "
            "which its interval follows: pass them on to what it calls, as sample_weight= of a "
            "metric of scikit-learn"
        )
    return function if abs(again - value) <= _ROUNDING * max(abs(value), 1) else None


def _is_fixed(found: Measured, bound: BoundMeasures, weights: PerRow) -> bool:
    """Whether a value stays what it is, to the last bit, though any one row outweighs the others.

    The last rows, which are tried first, are those that the sample does not show. Of many rows the
    last thousand are tried.
    """
    if found.derivatives.any():
        return False
    value, added = bound.values(weights), 2 * weights.sum()
    others = (
        bound.values(weights + added * (np.arange(len(weights)) == row))
        for row in reversed(range(len(weights))[-_MOST_TRIED:])
    )
    return all(np.array_equal(value, other) for other in others)


@dataclass(frozen=True, eq=False)
class LinearValue:
    """What units add to a value, in proportion to their masses; 0 in the sample."""

    influences: PerUnit

    def value(self, units: PerUnit, unseen: PerUnseen) -> float:
        """Return the value."""
        return float(self.influences @ (units - 1))

    def slopes(self, units: PerUnit, unseen: PerUnseen) -> Slopes:
        """Return the value and its derivatives."""
        return Slopes(self.value(units, unseen), self.influences, np.zeros(len(unseen)))


class Term(NamedTuple):
    """A value in a sum of several.

    Attributes
    ----------
    coefficient : float
        By which it is multiplied.
    function : Reweighted
        The value.
    units : numpy.ndarray of int, shape (u,), or None
        The place of each of its units among those of the sum; None if they are the same.
    unseen : numpy.ndarray of int, shape (p,)
        As which of its unseen units each of the sum's counts in it; -1 for none.
    n_unseen : int
        Number of its unseen units.
    beside : numpy.ndarray of int, shape (p,), optional
        As which of its unseen units each of the sum's also counts, by the share ``together``.
    together : float
        How often units err in several values at once.
    """

    coefficient: float
    function: Reweighted
    units: IntPerUnit | None
    unseen: IntPerUnseen
    n_unseen: int
    beside: IntPerUnseen | None = None
    together: float = 0.0

    def masses(
        self, units: PerUnit, unseen: PerUnseen
    ) -> tuple[Float[np.ndarray, " v"], Float[np.ndarray, " q"]]:
        """Return the masses of its own units."""
        own = at_places(unseen, self.unseen, self.n_unseen)
        if self.beside is not None:
            own = own + self.together * at_places(unseen, self.beside, self.n_unseen)
        return units if self.units is None else units[self.units], own

    def costs(self, of_unseen: PerUnseen) -> Float[np.ndarray, " q"]:
        """Return what each of the sum's unseen units does to the value."""
        costs = own_of(of_unseen, self.unseen)
        if self.beside is not None:
            costs = costs + self.together * own_of(of_unseen, self.beside)
        return self.coefficient * costs


@dataclass(frozen=True, eq=False)
class SumOfValues:
    """A sum of multiples of values."""

    terms: Sequence[Term]

    def value(self, units: PerUnit, unseen: PerUnseen) -> float:
        """Return the value."""
        return sum(t.coefficient * t.function.value(*t.masses(units, unseen)) for t in self.terms)

    def slopes(self, units: PerUnit, unseen: PerUnseen) -> Slopes | None:
        """Return the value and its derivatives."""
        value, of_units, of_unseen = 0.0, np.zeros(len(units)), np.zeros(len(unseen))
        for t in self.terms:
            found = t.function.slopes(*t.masses(units, unseen))
            if found is None:
                return None
            value += t.coefficient * found.value
            of_units += t.coefficient * spread(found.of_units, t.units, len(units))
            of_unseen += t.costs(found.of_unseen)
        return Slopes(value, of_units, of_unseen)


def spread(numbers: PerUnit, places: IntPerUnit | None, n: int) -> Float[np.ndarray, " n"]:
    """Return numbers of some units at their places among n."""
    return numbers if places is None else np.bincount(places, numbers, n)


def at_places(numbers: PerUnseen, places: IntPerUnseen, n: int) -> Float[np.ndarray, " n"]:
    """Add up numbers at their places among n; those at -1 have none."""
    # Of no numbers it would be an array of integers
    return np.bincount(places + 1, numbers, n + 1)[1:].astype(float, copy=False)


def own_of(numbers: PerUnseen, places: Int[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
    """Return the numbers at some places, 0 where there is none."""
    return np.append(numbers, 0.0)[places]
