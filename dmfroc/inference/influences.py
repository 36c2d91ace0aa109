"""Influences: standard errors of any function of the weights.

The gradient of a measure with respect to the weight of an observation, times that weight, is the
observation's influence. Observations are independent, so that the variance given the class sizes is
a sum over classes. For Hand and Till's M it is DeLong's variance. Where a measure depends on how
frequent the classes are, the influences of a class do not add up to zero: that is what random class
sizes add to the variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerRow, divide
from dmfroc.inference.tilt import IntPerStratum, PerStratum, PerUnit
from dmfroc.inference.units import OfStrata, SumsOfUnits, TotalsOfStrata, Units, Weights
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind
from dmfroc.measures.measured import Measured, measured

# Rounding leaves a perfect classifier with influences of about 1e-13 instead of none.
NO_VARIATION = 1e-10
_ROUNDING = 1e-14  # relative to a variance
_NUMBERS_AT_ONCE = 1 << 20  # influences whose powers are held
_LOST = 1e-3  # of the squares of two influences; from less the fourth powers lose six digits


class PartInfluences(NamedTuple):
    """The influences of parts drawn at random, without replacement, from so many."""

    influences: PerUnit
    n_parts: float | int

    @property
    def as_independent(self) -> PerUnit:
        """Influences of as many independent units that have the same variance."""
        n = len(self.influences)
        factor = np.sqrt((1 - n / self.n_parts) * n / (n - 1))
        return (self.influences - self.influences.mean()) * factor

    def minus(self, other: PartInfluences) -> PartInfluences:
        """Return the influences on the difference of two values, of the same parts."""
        return self._replace(influences=self.influences - other.influences)

    def products(self, other: PartInfluences) -> float:
        """Return the covariance that the draw of the parts gives two values.

        That of totals in a simple random sample, with the correction for a finite population
        (Cochran 1977, Sampling Techniques, section 2.6).
        """
        n = len(self.influences)
        a, b = (x.influences - x.influences.mean() for x in (self, other))
        return float((1 - n / self.n_parts) * n / (n - 1) * (a @ b))


class Influences(NamedTuple):
    """A measure's value and what each observation contributes to it, and each part drawn."""

    value: float
    influences: PerRow
    parts: PartInfluences | None = None

    def minus(self, other: Influences) -> Influences:
        """Return the difference of two values that are of the same observations."""
        return Influences(self.value - other.value, self.influences - other.influences)


def influences_of(
    measures: Sequence[Measure], bound: BoundMeasures, predictions: Predictions
) -> list[Influences]:
    """Return the value of each of the measures that are bound, and all influences on it."""
    found = measured(measures, bound, predictions)
    return [influences_from(x, predictions, m) for m, x in zip(measures, found, strict=True)]


def influences_from(
    found: Measured, predictions: Predictions, measure: Measure, *, allows_for_parts: bool = False
) -> Influences:
    """Return the influences of the observations on what a measure finds, bound to more rows.

    Raises
    ------
    ValueError
        If parts of a measure were drawn at random and the caller does not account for that.
    """
    if found.parts is not None and not allows_for_parts:
        raise ValueError(
            f"{measure.name} counts a sample of the pairs of classes, whose error is known to "
            "method='jackknife' of evaluate, estimate and compare alone: leave n_pairs out"
        )
    parts = None if found.parts is None else PartInfluences(*found.parts)
    derivatives = found.derivatives[: len(predictions.true)]
    return Influences(found.value, derivatives * predictions.sample_weight, parts)


def influences_on(measure: Measure, predictions: Predictions) -> Influences:
    """Return the value of one measure, and all influences on it."""
    return influences_of([measure], bind(measure, predictions), predictions)[0]


def through_weights(own: Influences, weights: Weights) -> Influences:
    """Return influences that also work through estimated weights, beside those of the target."""
    if own.parts is not None:
        raise ValueError(
            "estimated weights and a sample of the pairs of classes do not go together: leave "
            "n_pairs out"
        )
    influences_of_rows, influences_of_target = weights.through(own.influences)
    parts = PartInfluences(influences_of_target, math.inf) if len(influences_of_target) else None
    return Influences(own.value, influences_of_rows, parts)


class Spread(NamedTuple):
    """Scale and degrees of freedom of the t distribution on which intervals rest."""

    scale: float
    degrees_of_freedom: float


def _none() -> Float[np.ndarray, " 0"]:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of units, variance and excess kurtosis of the influences in each stratum.

    If the sizes of the strata are random, also what they add to the variance of the value, of each
    sample, and its degrees of freedom. Likewise if parts of the measure were drawn at random. The
    degrees of freedom may be known to be no more than some number.
    """

    sizes: IntPerStratum
    variances: PerStratum
    kurtoses: PerStratum
    variances_of_sizes: Float[np.ndarray, " r"] = field(default_factory=_none)
    freedom_of_sizes: Float[np.ndarray, " r"] = field(default_factory=_none)
    n_means: IntPerStratum | int = 1
    variances_of_parts: Float[np.ndarray, " p"] = field(default_factory=_none)
    freedom_of_parts: Float[np.ndarray, " p"] = field(default_factory=_none)
    most_freedom: float = np.inf

    @cached_property
    def own(self) -> IntPerStratum:
        """Degrees of freedom of each stratum's variance: less than its size by its means."""
        return np.maximum(self.sizes - self.n_means, 0)

    @cached_property
    def freedom(self) -> PerStratum:
        """Degrees of freedom of each stratum's variance, as uncertain as the kurtosis makes it."""
        own, excess = self.own, np.maximum(self.kurtoses, 0)
        return np.where(own > 0, 2 / (excess / self.sizes + 2 / np.maximum(own, 1)), 0.0)

    @cached_property
    def spread(self) -> Spread:
        """The standard error, and its degrees of freedom (Satterthwaite).

        Each variance is as uncertain as the kurtosis of its influences makes it.
        """
        added = np.concatenate([self.variances_of_sizes, self.variances_of_parts])
        parts = np.concatenate([self.variances / self.sizes, added])
        total, error = float(parts.sum()), self.standard_error
        if total == 0:
            return Spread(error, np.inf if error == 0 else 1.0)
        free = np.concatenate([self.freedom, self.freedom_of_sizes, self.freedom_of_parts])
        doubt = divide(parts**2, free, np).sum()
        freedom = total**2 / doubt if doubt > 0 else np.inf
        return Spread(error, float(min(max(freedom, 1.0), self.most_freedom)))

    def scaled(self, factor: float) -> Moments:
        """Return the moments of a multiple of the influences."""
        return replace(
            self,
            variances=self.variances * factor**2,
            variances_of_sizes=self.variances_of_sizes * factor**2,
            variances_of_parts=self.variances_of_parts * factor**2,
        )

    def with_parts(self, parts: PartInfluences | None) -> Moments:
        """Return the moments with the variance that the draw of the parts adds."""
        if parts is None:
            return self
        n, variance = len(parts.influences), parts.products(parts)
        fourth = ((parts.influences - parts.influences.mean()) ** 4).mean()
        excess = np.maximum(divide(fourth, parts.influences.var() ** 2, np) - 3, 0)
        freedom = 2 / (excess / n + 2 / (n - 1))
        return replace(
            self, variances_of_parts=np.array([variance]), freedom_of_parts=np.array([freedom])
        )

    def beside(self, other: Moments) -> Moments:
        """Return the moments of a difference between two independent samples."""
        both = [
            replace(m, n_means=np.broadcast_to(m.n_means, m.sizes.shape)) for m in (self, other)
        ]
        joined: dict[str, Any] = {}
        for name in (x.name for x in fields(self)):
            values = [getattr(moments, name) for moments in both]
            is_array = isinstance(values[0], np.ndarray)
            joined[name] = np.concatenate(values) if is_array else min(values)
        return Moments(**joined)

    @cached_property
    def standard_error(self) -> float:
        """The standard error; a stratum with one unit borrows the pooled variance."""
        variances, borrows = self.variances, self.own == 0
        if borrows.any():
            variances = np.where(borrows, self.own @ variances / max(self.own.sum(), 1), variances)
        added = self.variances_of_sizes.sum() + self.variances_of_parts.sum()
        return float(np.sqrt((variances / self.sizes).sum() + added))

    @property
    def varies_within_strata(self) -> bool:
        """Whether the influences vary within the strata, beyond rounding."""
        return bool((self.variances / self.sizes).sum() > NO_VARIATION**2)

    @cached_property
    def depends_on_sizes(self) -> bool:
        """Whether random sizes of the strata make a difference, beyond rounding."""
        variances_of_sizes = self.variances_of_sizes.sum()
        return bool(variances_of_sizes > max(_ROUNDING * self.standard_error**2, NO_VARIATION**2))


def moments_of(influence: PerRow, units: Units) -> Moments:
    """Return the moments of one measure's influences, scaled to single units.

    A stratum with one unit has no variance of its own; it is 0 here.
    """
    order = units.by_stratum  # found before the sums, beside which it would take more memory
    return moments_of_sums(units.sums(influence)[None, order], units)[0]


def moments_of_sums(sums: SumsOfUnits, units: Units) -> list[Moments]:
    """Return the moments of several influences, summed over each unit's rows and by stratum."""
    return moments_from_means(*units.means_of_powers(sums), units)


def moments_from_means(
    second: OfStrata,
    fourth: OfStrata,
    totals: TotalsOfStrata,
    units: Units,
) -> list[Moments]:
    """Return the moments of several influences from what is known of them by stratum.

    These are the means of their squares and fourth powers about the mean, scaled to single units,
    and their totals, in each fold where there are folds.
    """
    sizes, own = units.sizes, units.own
    kurtoses = divide(fourth, second**2, np) - 3
    variances = np.where(own > 0, second * (sizes / np.maximum(own, 1)), 0.0)
    each = zip(variances, kurtoses, *_moments_of_sizes(totals, units), strict=True)
    return [Moments(sizes, *of_row, units.n_means) for of_row in each]


def _moments_of_sizes(
    totals: TotalsOfStrata, units: Units
) -> tuple[Float[np.ndarray, "r k"], Float[np.ndarray, "r k"]]:
    """Return the variance that random sizes of the strata add, and its degrees of freedom.

    Each unit's stratum is drawn: what a unit adds on average is the mean of its stratum, in its
    fold where there are folds.
    """
    if not units.sizes_are_random or len(units.sizes) == 1:
        return np.zeros((len(totals), 0)), np.zeros((len(totals), 0))
    sizes = units.drawn
    n = sizes.sum()
    means = totals / sizes * n
    means -= (means @ sizes)[:, None] / n
    square, fourth = ((means**power @ sizes / n)[:, None] for power in (2, 4))
    excess = np.maximum(divide(fourth, square**2, np) - 3, 0)
    return square / n, 2 / (excess / n + 2 / (n - 1))


def moments_of_differences(sums: SumsOfUnits, units: Units) -> list[Moments]:
    """Return the moments of every two rows' difference, in the order of the combinations.

    Those of all differences follow from products of powers of the rows, (a - b)^4 = a^4 - 4 a^3 b
    + 6 a^2 b^2 - 4 a b^3 + b^4, which are m^2 sums by three products of matrices. Where hardly
    anything is left of the squares, as between copies of a classifier, the difference is formed.
    """
    first, second = np.triu_indices(len(sums), 1)
    of_powers = np.zeros((3, len(sums), len(sums), len(units.sizes)))
    for stratum, part in units.centred_parts(sums):
        part *= units.sizes[stratum]
        of_powers[..., stratum] += _products_of_powers(part) / units.sizes[stratum]
    of_square, of_cube, of_both = of_powers[:, first, second]
    whole, _, fourth = of_powers[:, first, first] + of_powers[:, second, second]
    squares = whole - 2 * of_square
    fourths = fourth - 4 * (of_cube + of_powers[1, second, first]) + 6 * of_both
    totals = units.totals(sums)
    moments = moments_from_means(squares, fourths, totals[first] - totals[second], units)
    for place in np.flatnonzero((squares < _LOST * whole).any(axis=1)):
        difference = sums[first[place]] - sums[second[place]]
        [moments[place]] = moments_of_sums(difference[None], units)
    return moments


def _products_of_powers(x: Float[np.ndarray, "m u"]) -> Float[np.ndarray, "3 m m"]:
    """Return the sums over the units of a b, a^3 b and a^2 b^2 of every two rows a and b."""
    products = np.zeros((3, len(x), len(x)))
    for part in pieces(x):
        square = part * part
        products[0] += part @ part.T
        products[1] += (square * part) @ part.T
        products[2] += square @ square.T
    return products


def pieces(x: Float[np.ndarray, "m u"]) -> Iterator[Float[np.ndarray, "m _"]]:
    """Yield some columns after the other: BLAS ends for an interrupt between two products only."""
    at_once = max(_NUMBERS_AT_ONCE // len(x), 1)
    for start in range(0, x.shape[1], at_once):
        yield x[:, start : start + at_once]
