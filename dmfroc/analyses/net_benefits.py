"""Net benefits at many thresholds at once, from counts, where each row counts as much.

The rows of a class are treated at a threshold or not, so that there are two kinds of rows for each
class. What `FactsInMemory` finds for one threshold from all rows follows from their numbers. The
formulas are those of `dmfroc.inference.influences`, `dmfroc.inference.evidence` and
`dmfroc.inference.limits`, in arrays with a row for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from dmfroc._kit.arrays import Covariance, divide, value_and_pull_back
from dmfroc.inference.evidence import SMALL, covariance_from_products, facts_in
from dmfroc.inference.hypothesis import FARTHEST, MANY_FREEDOM, NEAREST
from dmfroc.inference.influences import NO_VARIATION, Moments, moments_from_means
from dmfroc.inference.limits import BENT, Limits
from dmfroc.inference.tilt import tilted
from dmfroc.inference.units import Sample
from dmfroc.inference.unseen import unseen_rows
from dmfroc.measures.benefits import interventions_avoided, net_benefit, net_benefits
from dmfroc.measures.statistics.forecasts import single_class
from dmfroc.measures.statistics.statistic import Sums

PerValue = Float[np.ndarray, " v"]
"""One number for each value."""
_OWN = 0.75  # share of the unseen observation on the side of the limit
_KINDS = np.array([[0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 1, 0]])
"""What a row adds to `net_benefits`: of others untreated and treated, and of the class likewise."""


def are_alike(sample: Sample) -> bool:
    """Whether all rows count alike, by themselves, in large classes of random sizes."""
    predictions, units = sample
    weights = predictions.sample_weight
    is_plain = units.weights is None and units.shares is None and predictions.folds is None
    is_plain &= len(units.stratum) == len(units.unit_of_row) and units.sizes_are_random
    is_plain &= isinstance(predictions.scores, np.ndarray)
    return is_plain and units.n_complete_sets >= SMALL and bool((weights == weights[0]).all())


@dataclass(frozen=True, eq=False)
class NetBenefits:
    """Net benefits of treating a class at thresholds, or interventions that they avoid.

    Attributes
    ----------
    sample : Sample
        Of rows that are alike.
    label : hashable
        The class that is treated.
    thresholds : numpy.ndarray of shape (v,)
        Of each value.
    is_avoided : numpy.ndarray of shape (v,)
        Which values are of interventions avoided.
    prevalence : float, optional
        Of the class.
    """

    sample: Sample
    label: Hashable
    thresholds: PerValue
    is_avoided: Bool[np.ndarray, " v"]
    prevalence: float | None

    # What is counted

    @cached_property
    def _treated(
        self,
    ) -> tuple[Float[np.ndarray, "v k"], Float[np.ndarray, " k"], Int[np.ndarray, " k"]]:
        """How many rows of each class are treated, are there, and the outcome of the class."""
        predictions = self.sample.predictions
        outcome, probability = single_class(predictions, self.label)
        place = np.searchsorted(np.sort(self.thresholds), probability, side="right")
        n, k = len(self.thresholds) + 1, predictions.n_classes
        cells = np.bincount(predictions.true * n + place, minlength=k * n).reshape(k, n)
        at_least = cells[:, ::-1].cumsum(axis=1)[:, -2::-1].T.astype(float)
        rank = np.empty(n - 1, int)
        rank[np.argsort(self.thresholds, kind="stable")] = np.arange(n - 1)
        of_class = np.zeros(k, int)
        of_class[predictions.true] = outcome
        present = predictions.present
        return (
            at_least[rank][:, present],
            cells.sum(axis=1)[present].astype(float),
            of_class[present],
        )

    @cached_property
    def masses(self) -> Float[np.ndarray, "v 4"]:
        """How many rows of each kind there are."""
        treated, sizes, outcome = self._treated
        both = np.stack([sizes - treated, treated], axis=-1)
        return np.concatenate([both[:, outcome == y].sum(axis=1) for y in (0, 1)], axis=1)

    @cached_property
    def _unseen_kind(self) -> Int[np.ndarray, "v p"]:
        """The kind of each unseen row."""
        whole = unseen_rows(self.sample.predictions).predictions
        n = len(self.sample.predictions.true)
        outcome, probability = (x[n:] for x in single_class(whole, self.label))
        return 2 * outcome.astype(int) + (probability >= self.thresholds[:, None])

    # Values, and what rows do to them

    def _values(self, sums: Sums, xp: object = None) -> PerValue:
        odds = self.thresholds / (1 - self.thresholds)
        benefit, of_all, _ = net_benefits(sums.values, odds, self.prevalence)
        return benefit + self.is_avoided * ((benefit - of_all) / odds - benefit)

    @cached_property
    def bounds(self) -> tuple[PerValue, float]:
        """The range of each value."""
        odds = self.thresholds / (1 - self.thresholds)
        return np.where(self.is_avoided, -1 / odds, -odds), 1.0

    @cached_property
    def _value_and_influences(self) -> tuple[PerValue, Float[np.ndarray, "v 4"]]:
        values, pull_back = value_and_pull_back(self._values, Sums(self.masses @ _KINDS))
        return np.clip(values, *self.bounds), pull_back(np.ones(len(values))).values @ _KINDS.T

    @property
    def values(self) -> PerValue:
        """The values."""
        return self._value_and_influences[0]

    @cached_property
    def _of_class(
        self,
    ) -> tuple[Float[np.ndarray, "v k"], Float[np.ndarray, "v k"], Float[np.ndarray, "v k"]]:
        """Of the influences in each class: the mean, the step to the treated, and their share."""
        treated, sizes, outcome = self._treated
        x = self._value_and_influences[1]
        low, step = x[:, 2 * outcome], x[:, 2 * outcome + 1] - x[:, 2 * outcome]
        share = treated / sizes
        return low + step * share, step, share

    @cached_property
    def moments(self) -> list[Moments]:
        """The moments of the influences on each value."""
        mean, step, share = self._of_class
        sizes = self._treated[1]
        both = share * (1 - share)
        second, fourth = (sizes * step) ** 2 * both, (sizes * step) ** 4 * both * (1 - 3 * both)
        return moments_from_means(second, fourth, sizes * mean, self.sample.units)

    @cached_property
    def errors(self) -> PerValue:
        """The standard errors."""
        return np.array([x.standard_error for x in self.moments])

    def covariance(self) -> Covariance:
        """Return the covariance of the values: who is treated at one threshold is below it."""
        mean, step, share = self._of_class
        sizes = self._treated[1]
        scaled, share = (step * sizes).T, share.T
        both = np.minimum(share[:, :, None], share[:, None]) - share[:, :, None] * share[:, None]
        products = scaled[:, :, None] * scaled[:, None] * both * sizes[:, None, None]
        return covariance_from_products(products, sizes * mean, self.sample.units, self.moments)

    # Limits

    @cached_property
    def _lost(self) -> PerValue:
        mean, step, share = self._of_class
        sizes = self._treated[1]
        within_class = sizes * step**2 * share * (1 - share)
        lost = (within_class / np.maximum(sizes - 1, 1)).sum(axis=1)
        between = (sizes * mean**2).sum(axis=1)
        square = within_class.sum(axis=1) + between
        added = np.maximum(lost + np.maximum(between - lost, 0.0) - between, 0.0)
        return np.where(square > NO_VARIATION**2, 1 + divide(added, square, np), 1.0)

    @cached_property
    def _bases(self) -> dict[int, tuple[Float[np.ndarray, "v 4"], PerValue, PerValue]]:
        """For either side: masses with the unseen rows, degrees of freedom, and what widens."""
        x, m = self._value_and_influences[1], self.masses
        kinds, rows = self._unseen_kind, unseen_rows(self.sample.predictions)
        costs = np.take_along_axis(x, kinds, axis=1)
        unseen = rows.units(np.zeros(len(rows.true), int))
        towards = {s: unseen.shares(s * costs) for s in (-1, 1)}
        centred = x - (m * x).sum(axis=1, keepdims=True) / m.sum(axis=1, keepdims=True)
        square, third, fourth = ((m * centred**power).sum(axis=1) for power in (2, 3, 4))
        bases = {}
        for side in (-1, 1):
            each = _OWN * towards[side] + (1 - _OWN) * towards[-side]
            masses = m + np.stack([(each * (kinds == kind)).sum(axis=1) for kind in range(4)], 1)
            mean = (masses * x).sum(axis=1) / masses.sum(axis=1)
            variance = (masses * (x - mean[:, None]) ** 2).sum(axis=1)
            left = fourth - square**2 / m.sum(axis=1) - divide(third**2, square, np)
            is_known = (square <= 1e-300) | (left <= 1e-9 * variance**2)
            freedom = np.maximum(divide(2 * variance**2, left, np), 1.0)
            freedom[is_known] = np.inf
            widened = np.sqrt(1 + (self._lost - 1) * divide(square, variance, np))
            widened[is_known | (variance <= 0)] = 1.0
            bases[side] = masses, freedom, widened
        return bases

    def ends(
        self,
        side: int | Int[np.ndarray, " w"],
        error: float | Float[np.ndarray, " w"],
        which: Int[np.ndarray, " w"] | None = None,
    ) -> Float[np.ndarray, " w"]:
        """Return the lower (-1) or upper (1) ends of intervals with these error probabilities."""
        which = np.arange(len(self.thresholds)) if which is None else which
        side = np.broadcast_to(side, which.shape)
        upper = side > 0
        masses, freedom, widened = (
            np.where(upper.reshape(-1, *[1] * (a.ndim - 1)), b[which], a[which])
            for a, b in zip(self._bases[-1], self._bases[1], strict=True)
        )
        value, x = (y[which] for y in self._value_and_influences)
        with np.errstate(invalid="ignore"):
            of_t = -stdtrit(freedom, np.divide(error, 2)) * np.sqrt(1 + 2 / freedom)
        quantile = np.where(np.isfinite(freedom), of_t, -ndtri(np.divide(error, 2)))
        weights = tilted(x, masses, side * widened * quantile)
        own = NetBenefits(
            self.sample, self.label, self.thresholds[which], self.is_avoided[which], self.prevalence
        )
        limit = own._values(Sums(weights @ _KINDS))
        linear = value + (x * (weights - self.masses[which])).sum(axis=1)
        is_bent = ~(np.abs(limit - linear) <= BENT * np.abs(limit - value))
        limit = np.where(upper, np.maximum(limit, value), np.minimum(limit, value))
        limit = np.clip(limit, *own.bounds)
        for place in np.flatnonzero(is_bent):
            of_error = float(np.broadcast_to(error, len(x))[place])
            limit[place] = self._limits(int(which[place])).end_at(int(side[place]), of_error)
        return limit

    @cached_property
    def _limits(self) -> Callable[[int], Limits]:
        """What finds the limits of one value from all rows."""

        @cache
        def limits(place: int) -> Limits:
            measure = interventions_avoided if self.is_avoided[place] else net_benefit
            of_value = measure(float(self.thresholds[place]), self.prevalence, self.label)
            return facts_in(self.sample, of_value).limits

        return limits

    def certainty_above_zero(self) -> PerValue:
        """Return 1 minus the p-value of each value being above 0, see `contrast_of_limits`."""
        value, error = self.values, self.errors
        freedom = np.array([x.spread.degrees_of_freedom for x in self.moments])
        tail = stdtr(freedom, -np.abs(value) / np.maximum(error, NO_VARIATION))
        few = np.flatnonzero((freedom < MANY_FREEDOM) | (error <= NO_VARIATION))
        if len(few):
            reached = self._error_reaching_zero(few)
            is_far = (reached <= 2 * ndtr(-FARTHEST)) & (error[few] > NO_VARIATION)
            tail[few] = np.where(is_far, tail[few], reached / 2)
        return np.where(value > 0, 1 - tail, tail)

    def _error_reaching_zero(self, which: Int[np.ndarray, " w"]) -> Float[np.ndarray, " w"]:
        """Return the error probability whose interval ends at 0, see `error_reaching`."""
        from scipy.optimize.elementwise import find_root

        side = np.where(self.values[which] <= 0, 1, -1)

        def distance(quantile: PerValue, place: PerValue) -> PerValue:
            own = place.astype(int)
            return -side[own] * self.ends(side[own], 2 * ndtr(-quantile), which[own])

        every = np.arange(len(which))
        inner, outer = np.full(len(which), NEAREST), np.ones(len(which))
        is_inside = distance(inner, every) <= 0
        found, rest = np.where(is_inside, 1.0, 2 * ndtr(-FARTHEST)), every[~is_inside]
        between = every[:0]
        while len(rest):
            is_beyond = distance(outer[rest], rest) <= 0
            between = np.append(between, rest[is_beyond])
            rest = rest[~is_beyond & (outer[rest] < FARTHEST)]
            inner[rest], outer[rest] = outer[rest], np.minimum(2 * outer[rest], FARTHEST)
        if len(between):
            ends, near = (inner[between], outer[between]), {"xatol": 1e-6}
            root = find_root(distance, ends, args=(between,), tolerances=near)
            found[between] = 2 * ndtr(-root.x)
        return found
