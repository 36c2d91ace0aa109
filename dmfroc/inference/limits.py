"""Limits of any value f(w) of the weights of independent units: one principle for all.

The sample is taken with one more observation that it does not show. For the limit on the side of
errors three quarters of it are errors and a quarter successes. For the other limit it is the other
way round. For a difference it is half an error of either classifier. The units have Dirichlet
weights. A limit is the value at the least favourable weights among those whose linearised value is
the quantile of that law (`dmfroc.inference.tilt`). So it is inside every range, and as lopsided as
the sample makes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dmfroc.inference.bias import NOTABLE_BIAS
from dmfroc.inference.reweighted import (
    LinearValue,
    Reweighted,
    Slopes,
    SumOfValues,
    Term,
    own_of,
    spread,
)
from dmfroc.inference.tilt import (
    Atoms,
    IntPerUnit,
    PerUnit,
    StratumOfUnit,
    error_of_t,
    quantile_of,
    quantile_of_t,
    residual_freedom,
    tilt,
)
from dmfroc.inference.unseen import NOBODY, PerUnseen, Unseen

_NO_VARIATION = 1e-10
# Of the distance of a limit: by how much the value may differ from the linearised one. In large
# samples a hundredth of the length does not matter.
_BENT, _LINEAR = 0.05, 1e-6


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


IntervalAt = Callable[[float], Interval]
"""Takes the error probability, 0.05 for 95 %, and returns a two-sided interval."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of a value at any error probability.

    Attributes
    ----------
    value : float
        The value in the sample.
    influences : numpy.ndarray of shape (u,)
        Of each unit on the value, about the mean of its stratum.
    stratum : numpy.ndarray of int, shape (u,)
        The stratum of each unit.
    bounds : tuple of float
        The range of the value.
    masses : numpy.ndarray of shape (u,)
        1 for each unit, or how many units each one stands for.
    function : Reweighted, optional
        The value at other masses. Without it limits are linear.
    unseen : Unseen
        The units that were not seen, where it is known what they would do.
    of_unseen : numpy.ndarray of shape (p,)
        Their influences, beside the sample.
    error_share : float
        The share of the unseen observation that is on the side of the limit.
    lost : float
        By how much the variance of the influences is too small because of means that are estimated.
    bias : float
        By how much the limit on the side of a bias is moved, from a quarter of the error on.
    is_small : bool
        Whether one observation more changes the influences.
    """

    value: float
    influences: PerUnit
    stratum: StratumOfUnit
    bounds: tuple[float, float]
    masses: PerUnit
    function: Reweighted | None = None
    unseen: Unseen = NOBODY
    of_unseen: PerUnseen = field(default_factory=lambda: np.zeros(0))
    error_share: float = 0.75
    lost: float = 1.0
    bias: float = 0.0
    is_small: bool = True

    @cached_property
    def about_value(self) -> Limits:
        """Those without the bias: no difference is tested about the value, as by t."""
        return replace(self, bias=0.0) if self.bias else self

    def interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability, 0.05 for 95 %."""
        return Interval(self.end_at(-1, error), self.end_at(1, error))

    def end_at(self, side: int, error: float) -> float:
        """Return the lower (-1) or upper (1) end of the interval with this error probability."""
        if not math.isfinite(self.value):
            return math.nan
        end, (least, most) = self.limit(side, error) - self._bias_at(side), self.bounds
        return min(end, most) if side > 0 else max(end, least)

    def error_reaching(self, side: int, threshold: float) -> float:
        """Return the error probability whose lower or upper end is here, if the value is linear."""
        base = self._bases[side]
        at, moved = base.slopes, threshold + self._bias_at(side) - base.slopes.value
        total = moved + at.of_units @ self.masses + at.of_unseen @ base.mass_beside
        quantile = side * quantile_of(base.atoms, total)
        return error_of_t(base.freedom, max(quantile, 0.0) / base.widened)

    def limit(self, side: int, error: float) -> float:
        """Return the lower (-1) or upper (1) limit, with half of the error probability beyond."""
        base = self._bases[side]
        weights = self._tilted(base, side, error)
        moved = weights[0] - self.masses, weights[1] - base.mass_beside
        at = base.slopes
        limit = linear = at.value + at.of_units @ moved[0] + at.of_unseen @ moved[1]
        if self.function is not None:
            limit = self.function.value(*weights)
            bent = _LINEAR if self.is_small else _BENT
            if not abs(limit - linear) <= bent * abs(limit - self.value):
                limit = self._farthest(base, weights, limit, side, error)
            if not math.isfinite(limit):
                limit = linear
        if math.isnan(limit):  # far out
            return self.bounds[1] if side > 0 else self.bounds[0]
        return float(max(limit, self.value) if side > 0 else min(limit, self.value))

    def _farthest(
        self,
        base: _Base,
        weights: tuple[PerUnit, PerUnseen],
        limit: float,
        side: int,
        error: float,
    ) -> float:
        """Return the least favourable value, linearised once more at the first weights, or halfway.

        Beside a maximum it is on the way to them.
        """
        assert self.function is not None
        found, is_beyond = [limit], side * limit < side * self.value
        moved = weights[0] - self.masses, weights[1]
        halfway = self.masses + moved[0] / 2, (base.unseen + weights[1]) / 2
        for masses in (weights, halfway):
            if (there := self.function.slopes(*masses)) is not None:
                again = self._tilted(self._base(there, base.unseen, is_beside=True), side, error)
                found.append(self.function.value(*again))
                rise = there.of_units @ moved[0] + there.of_unseen @ moved[1]
                is_beyond |= masses is weights and side * rise < 0
        if is_beyond:
            found.append(side * self._largest_on_the_way(moved, side))
        return side * max((side * x for x in found if math.isfinite(x)), default=math.nan)

    def _largest_on_the_way(self, moved: tuple[PerUnit, PerUnseen], side: int) -> float:
        from scipy.optimize import minimize_scalar

        def value(share: float) -> float:
            assert self.function is not None
            return -side * self.function.value(self.masses + share * moved[0], share * moved[1])

        return -float(minimize_scalar(value, bounds=(0, 1), method="bounded").fun)

    def _bias_at(self, side: int) -> float:
        bias = self.bias if abs(self.bias) >= NOTABLE_BIAS * math.sqrt(self.square) else 0.0
        return min(bias, 0.0) if side > 0 else max(bias, 0.0)

    @property
    def square(self) -> float:
        """The sum of the squared influences."""
        return float(self.masses @ self.influences**2)

    def at_size(self, times: PerUnit | float) -> Limits:
        """Return the limits of a sample with so many times as many units, which are linear."""
        of_unseen = self.of_unseen / np.mean(times)
        return replace(
            self,
            influences=self.influences / times,
            masses=self.masses * times,
            of_unseen=of_unseen,
            function=None,
        )

    def of_units(self, influences: PerUnit, stratum: StratumOfUnit) -> Limits:
        """Return limits with the influence of each unit, if they are condensed."""
        if len(self.influences) == len(influences):
            return self
        masses = np.ones(len(influences))
        return replace(self, influences=influences, masses=masses, stratum=stratum)

    def condensed(self) -> Limits:
        """Return linear limits, from bins of the influences: they take no memory for each unit."""
        x, masses, stratum = self._bins_of_sample
        return replace(self, influences=x, masses=masses, stratum=stratum, function=None)

    @cached_property
    def _bases(self) -> dict[int, _Base]:
        """What is linearised for either limit: beside the unseen observation in small samples."""
        own = self.error_share
        towards = {x: self.unseen.shares(x * self.of_unseen) for x in (-1, 1)}
        of_sample = Slopes(self.value, self.influences, self.of_unseen)
        bases: dict[int, _Base] = {}
        for side in (-1, 1):
            unseen = own * towards[side] + (1 - own) * towards[-side]
            if side > 0 and np.array_equal(unseen, bases[-1].unseen):  # of a difference
                return bases | {1: bases[-1]}
            slopes = None
            if self.function is not None and self.is_small:
                slopes = self.function.slopes(self.masses, unseen)
            bases[side] = self._base(slopes or of_sample, unseen, is_beside=slopes is not None)
        return bases

    def _base(self, slopes: Slopes, unseen: PerUnseen, *, is_beside: bool) -> _Base:
        """Return what the tilt needs of a linearised value."""
        seen = self._atoms_of_sample
        if slopes.of_units is not self.influences:
            seen = seen._replace(influences=slopes.of_units).binned()
        else:
            seen = self._bins_of_sample
        of_unseen = self.unseen.at_few_places(slopes.of_unseen, unseen)
        massive = (x[unseen != 0] for x in (of_unseen, unseen, self.unseen.stratum))
        atoms = seen.beside(Atoms(*massive)).merged()
        centred = seen.centred()
        square, variance = seen.masses @ centred**2, atoms.masses @ atoms.centred() ** 2
        freedom, widened = residual_freedom(seen, centred, variance), 1.0
        if variance > 0 and math.isfinite(freedom):  # else the variance follows from the mean
            widened = math.sqrt(1 + (self.lost - 1) * square / variance)
        beside = unseen if is_beside else np.zeros(len(unseen))
        return _Base(slopes, unseen, beside, of_unseen, atoms, freedom, widened)

    @cached_property
    def _atoms_of_sample(self) -> Atoms:
        return Atoms(self.influences, self.masses, self.stratum)

    @cached_property
    def _bins_of_sample(self) -> Atoms:
        return self._atoms_of_sample.binned()

    def _tilted(self, base: _Base, side: int, error: float) -> tuple[PerUnit, PerUnseen]:
        """Return the least favourable masses of the units and of the unseen ones."""
        found = tilt(base.atoms, side * base.widened * quantile_of_t(base.freedom, error))
        seen = self._atoms_of_sample._replace(influences=base.slopes.of_units)
        unseen = Atoms(base.of_unseen, base.unseen, self.unseen.stratum)
        weights, of_unseen = found.weights(seen), found.weights(unseen)
        if len(found.levels) > 1:  # sizes of strata are as given
            totals = np.bincount(self.stratum, self.masses)
            sums = np.bincount(unseen.stratum, of_unseen, len(totals))
            factor = totals / (sums + np.bincount(self.stratum, weights))
            weights, of_unseen = weights * factor[self.stratum], of_unseen * factor[unseen.stratum]
        return weights, of_unseen


class _Base(NamedTuple):
    """A linearised value, and what a tilt needs of it.

    Attributes
    ----------
    slopes : Slopes
        The value and its derivatives.
    unseen, mass_beside : numpy.ndarray of shape (p,)
        The masses of the unseen units, and those beside which the derivatives are.
    of_unseen : numpy.ndarray of shape (p,)
        Their influences, as the tilt takes them.
    atoms : Atoms
        The influences of the units, in bins if they are many, and of the unseen ones.
    freedom, widened : float
        Degrees of freedom of the quantile, and its factor for means that are estimated.
    """

    slopes: Slopes
    unseen: PerUnseen
    mass_beside: PerUnseen
    of_unseen: PerUnseen
    atoms: Atoms
    freedom: float
    widened: float


class Part(NamedTuple):
    """Limits of a value in a sum, and its coefficient.

    The places are those of its units among the sum's, the stratum is the first of its own there.
    """

    coefficient: float
    limits: Limits
    places: IntPerUnit | None = None
    stratum: int = 0


def limits_of_sum(
    parts: Sequence[Part],
    value: float,
    bounds: tuple[float, float],
    stratum: StratumOfUnit,
) -> Limits:
    """Return the limits of a sum of multiples of values, each with unseen units of its own.

    A difference has errors of either side, half an observation each. Two classifiers on the same
    rows enter as their difference (`joint_facts`): a row errs for both at once.
    """
    n, is_difference = len(stratum), any(p.coefficient < 0 for p in parts)
    influences, unseen, chosen = np.zeros(n), NOBODY, []
    for p in parts:
        known = p.limits.unseen
        influences += p.coefficient * spread(p.limits.influences, p.places, n)
        places = known.errors if is_difference else np.arange(len(known.success))
        unseen = unseen.beside(known.some(places), stratum=p.stratum)
        chosen.append(places)
    are_apart = any(p.stratum > 0 for p in parts)
    # Rows err in several values at once as often as in the sample, if their units are alike
    together = 0.0 if is_difference or are_apart else _together(parts, influences)
    n_own, everywhere = [len(x) for x in chosen], np.concatenate(chosen)
    of_part, terms, costs = np.repeat(np.arange(len(parts)), n_own), [], np.zeros(len(everywhere))
    for number, p in enumerate(parts):
        own, beside = (np.where(x, everywhere, -1) for x in (of_part == number, of_part != number))
        n_unseen = len(p.limits.of_unseen)
        shared = (beside, together) if together and max(n_own) <= n_unseen else (None, 0.0)
        function = p.limits.function or LinearValue(p.limits.influences)
        term = Term(p.coefficient, function, p.places, own, n_unseen, *shared)
        costs += term.costs(p.limits.of_unseen)
        terms.append(term)
    has_functions = all(p.limits.function is not None for p in parts)
    return Limits(
        value=value,
        influences=influences,
        stratum=stratum,
        bounds=bounds,
        masses=np.ones(n),
        function=SumOfValues(terms) if has_functions else None,
        unseen=unseen,
        of_unseen=costs,
        error_share=0.5 if is_difference else 0.75,
        bias=sum(p.coefficient * p.limits.bias for p in parts),
        is_small=any(p.limits.is_small for p in parts),
    )


def limits_of_contrast(factors: Sequence[float], limits: Sequence[Limits], width: float) -> Limits:
    """Return the limits of a sum of multiples of independent values, in the range +-width."""
    parts, strata, start, first = [], [], 0, 0
    for factor, one in zip(factors, limits, strict=True):
        if factor != 0:
            parts.append(Part(factor, one, start + np.arange(len(one.influences)), first))
            strata.append(one.stratum + first)
            start, first = start + len(one.influences), first + int(one.stratum.max()) + 1
    value = sum(p.coefficient * p.limits.value for p in parts)
    squares = np.array([p.coefficient**2 * p.limits.square for p in parts])
    lost = squares @ [p.limits.lost for p in parts] / squares.sum() if squares.any() else 1.0
    found = limits_of_sum(parts, value, (-width, width), np.concatenate(strata))
    masses = np.concatenate([p.limits.masses for p in parts])
    return replace(found, masses=masses, lost=float(lost))


def _together(parts: Sequence[Part], influences: PerUnit) -> float:
    """Return the mean correlation of the influences on several values; 1 if none of them varies."""
    apart = sum(p.coefficient**2 * p.limits.square for p in parts)
    if len(parts) < 2 or apart <= _NO_VARIATION**2:
        return float(len(parts) > 1)
    ratio = float(influences @ influences) / apart
    return min(max((ratio - 1) / (len(parts) - 1), 0.0), 1.0)


def limits_of_difference(
    first: Limits, second: Limits, value: float, width: float, lost: float, factor: float = 1.0
) -> Limits:
    """Return the limits of a paired difference: where one errs unseen, the other is right.

    The second may count by a ``factor``, such as the weight of a judge.
    """
    known, other, function = first.unseen, second.unseen, None
    of_first, unseen = np.arange(len(known.success)), known
    of_second = np.full(len(of_first), -1)  # a judge may say one class alone
    if len(other.success) == len(known.success):
        own, of_other = known.errors, other.errors
        of_first = np.append(own, known.success[of_other])
        of_second = np.append(other.success[own], of_other)
        unseen = known.some(own).beside(other.some(of_other))
    if first.function is not None and second.function is not None:
        terms = [
            Term(1.0, first.function, None, of_first, len(first.of_unseen)),
            Term(-factor, second.function, None, of_second, len(second.of_unseen)),
        ]
        function = SumOfValues(terms)
    return replace(
        first,
        value=value,
        influences=first.influences - factor * second.influences,
        bounds=(-width, width),
        function=function,
        unseen=unseen,
        of_unseen=own_of(first.of_unseen, of_first) - factor * own_of(second.of_unseen, of_second),
        error_share=0.5 if math.isfinite(width) else 0.75,
        lost=lost,
        bias=first.bias - factor * second.bias,
    )


def with_linear(limits: Limits, influences: PerUnit) -> Limits:
    """Return limits with further units, in a stratum of their own, that act in proportion."""
    n, anywhere = len(influences), (-math.inf, math.inf)
    linear = LinearValue(influences)
    further = Limits(0.0, influences, np.zeros(n, int), anywhere, np.ones(n), linear)
    both = limits_of_contrast((1.0, 1.0), (limits, further), math.inf)
    of_units = {x: getattr(both, x) for x in ("influences", "stratum", "masses", "function")}
    return replace(limits, **of_units)
