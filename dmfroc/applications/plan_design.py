"""What a pilot, or published figures, say of test sets of any size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import nctdtr, ndtri, stdtrit

from dmfroc import Measure, Predictions
from dmfroc.applications.published import PublishedFigures
from dmfroc.extend import (
    NO_VARIATION,
    Influences,
    IntPerClass,
    IntPerRow,
    Limits,
    Moments,
    PerClass,
    Sample,
    Units,
    facts_in,
    in_class_shares,
    influences_on,
    limits_of_difference,
    moments_of,
    number,
    positive,
    units_of,
    uses_sign_flips,
)

_AREAS = ("hand_till", "dmf_auc")  # of two classes the same
_MOST_CASES = 10**9
_LEAST_OF_CLASS = 2
_LEAST_SQUARE = 1e-6  # of a variance


@dataclass(frozen=True)
class Aim:
    """What the planned test set shall show: a half-width, a difference, or non-inferiority."""

    half_width: float | int | None
    difference: float | int | None
    margin: float | int | None
    power: float | int
    level: float

    def __post_init__(self) -> None:
        difference, margin = self.difference, self.margin
        if (self.half_width is None) == (difference is None and margin is None):
            raise TypeError("give either half_width=, or difference= (or margin=) with power=")
        for name, value in (("half_width", self.half_width), ("margin", margin)):
            if value is not None:
                positive(name, value)
        if difference is not None:
            number("difference", difference)
            if margin is None and difference == 0:
                raise ValueError(
                    "difference must not be 0: no number of cases shows what is not there"
                )
            if margin is not None and difference <= -margin:
                raise ValueError(
                    f"difference is {difference!r}, which is not above -margin = {-margin!r}: no "
                    "number of cases shows that the first classifier is not inferior"
                )
        if not 0 < number("power", self.power) < 1:
            raise ValueError(
                f"power must be between 0 and 1, such as 0.8, but it is {self.power!r}"
            )

    @property
    def true_difference(self) -> float | None:
        """The difference that there is; signed for non-inferiority."""
        if self.margin is not None:
            return float(self.difference or 0)
        return None if self.difference is None else abs(float(self.difference))

    def in_words(self, n_classifiers: int) -> str:
        """Say what is to be shown of one classifier or two."""
        if self.half_width is not None:
            return f"a {100 * self.level:g} % interval of half-width {self.half_width:g}"
        chance = f"power {self.power:g}, tests at {1 - self.level:.3g}"
        if self.margin is None:
            fixed = " from a fixed value" if n_classifiers == 1 else ""
            return f"a difference of {self.true_difference:g}{fixed} ({chance})"
        return (
            f"non-inferiority by {self.margin:g} if the difference is {self.true_difference:g} "
            f"({chance})"
        )

    def smallest_size(self, design: Design) -> int:
        """Return the number of cases with which the aim is reached."""
        difference = self.true_difference

        def is_reached(n: int) -> bool:
            if self.half_width is not None:
                return design.half_width(n) <= self.half_width
            assert difference is not None
            return design.power(n, difference, self.margin) >= self.power

        return smallest(is_reached, design.least_n)


def smallest(suffices: Callable[[int], bool], least: int) -> int:
    """Return the smallest number of cases that suffices, by bisection, from the least on."""
    low, high = least - 1, least
    while not suffices(high):
        low, high = high, 2 * high
        if high > _MOST_CASES:
            raise ValueError(
                f"more than {_MOST_CASES:,} cases would be needed: ask for less, a wider interval "
                "or a larger difference"
            )
    return bisect_left(range(high), True, low + 1, key=suffices)


@dataclass(frozen=True, eq=False)
class Design:
    """What a pilot says of a test set of any size with given class shares."""

    value: float
    limits: Limits  # of the pilot
    moments: Moments
    shares: PerClass
    level: float
    measure: Measure
    units: Units

    @property
    def least_n(self) -> int:
        """The fewest cases with which every class can have two."""
        return int(np.ceil(_LEAST_OF_CLASS / self.shares.min()))

    def counts(self, n: int) -> IntPerClass:
        """Return the class sizes of n cases, which add up to n."""
        exact = n * self.shares
        counts = np.floor(exact).astype(int)
        rest = n - int(counts.sum())
        counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
        return np.maximum(counts, _LEAST_OF_CLASS)

    def times(self, n: int) -> Float[np.ndarray, " s"]:
        """Return how many times as many units of each stratum n cases have, in groups as large."""
        if self.units.groups is None and len(self.units.sizes) == len(self.shares):
            return self.counts(n) / self.units.sizes
        return np.full(len(self.units.sizes), n / len(self.units.unit_of_row))

    def planned(self, n: int) -> Moments:
        """Return the moments of the influences of n cases."""
        pilot, times = self.moments, self.times(n)
        sizes = np.maximum(np.rint(pilot.sizes * times).astype(int), _LEAST_OF_CLASS)
        whole = sizes.sum() / pilot.sizes.sum()
        return replace(
            pilot,
            sizes=sizes,
            variances_of_sizes=pilot.variances_of_sizes / whole,
            freedom_of_sizes=pilot.freedom_of_sizes * whole,
        )

    def standard_error(self, n: int) -> float:
        """Return the standard error that n cases will have."""
        return self.planned(n).standard_error

    def half_width(self, n: int) -> float:
        """Return half the width of the interval that n cases will have."""
        low, high = self.limits.at_size(self.times(n)[self.units.stratum]).interval_at(
            1 - self.level
        )
        return (high - low) / 2

    def power(self, n: int, difference: float, margin: float | int | None) -> float:
        """Return the probability that a t test rejects: of no difference, or of inferiority.

        Where `compare` flips signs instead, that has the power of a test whose variance is known.
        """
        planned = self.planned(n)
        scale, freedom = planned.spread
        if margin is None and uses_sign_flips(planned, planned):
            scale, freedom = planned.standard_error, np.inf
        freedom = min(freedom, 1e6)  # beyond, the t distribution is normal
        critical = stdtrit(freedom, (1 + self.level) / 2)
        if margin is not None:
            return 1 - float(nctdtr(freedom, (difference + margin) / scale, critical))
        shift = difference / scale
        return (
            1 - float(nctdtr(freedom, shift, critical)) + float(nctdtr(freedom, shift, -critical))
        )

    def inflated(self, end: int) -> Design:
        """Return the design with the variance at the lower (0) or upper (1) end of its interval.

        The variance is a sum over the units, which has limits as any value has.
        """
        own = self.limits
        square = float(own.influences @ own.influences)
        of_variance = replace(
            own,
            value=square,
            influences=own.influences**2 - square / len(own.influences),
            of_unseen=own.of_unseen**2,
            bounds=(0.0, np.inf),
            function=None,
            bias=0.0,
            lost=1.0,
        )
        limit = of_variance.interval_at(1 - self.level)[end]
        factor = float(np.sqrt(max(limit, square * _LEAST_SQUARE) / square))
        limits = replace(own, influences=own.influences * factor, function=None)
        return replace(self, moments=self.moments.scaled(factor), limits=limits)


def make_design(
    measure: Measure,
    pilots: list[Predictions],
    shares: PerClass,
    level: float,
    judge: IntPerRow | None = None,
    groups: Any = None,
) -> Design:
    """Find the value and the influences under the class shares of the planned test set.

    With a judge of many more rows the influences are those that its labels leave unexplained.
    """
    of_each, by_judge, units = [], [], units_of(pilots[0].counted, groups)
    for pilot in pilots:
        target = np.zeros(pilot.n_classes)
        target[pilot.present] = shares
        weighted = in_class_shares(pilot.counted, target)
        of_each.append(facts_in(Sample(weighted, units), measure))
        if judge is not None:
            judged = replace(weighted, true=judge[pilot.sample_weight > 0])
            by_judge.append(influences_on(measure, judged))
    value, phi, _ = reduce(Influences.minus, [x.influences for x in of_each])
    if by_judge:
        psi = reduce(Influences.minus, by_judge).influences
        phi = phi - psi * ((phi @ psi) / max(float(psi @ psi), NO_VARIATION**2))
    moments, limits = moments_of(phi, units), of_each[0].limits
    if len(pilots) > 1:
        both = limits, of_each[1].limits
        limits = limits_of_difference(*both, value, measure.largest_difference, limits.lost)
    limits = replace(limits, influences=units.sums(phi), function=None, bias=0.0)
    if not np.isfinite(value) or moments.standard_error <= NO_VARIATION:
        raise ValueError(
            f"{measure.name} is {value:g} in the pilot and does not vary there, as if a "
            "classifier or a judge is perfect. This says nothing about other samples: use a larger "
            "pilot"
        )
    return Design(value, limits, moments, shares, level, measure, units)


@dataclass(frozen=True, eq=False)
class FiguresDesign(Design):
    """The same from published figures: intervals are normal, on the log scale if one end is open.

    So are the formulas that are in use. No kurtosis is published, and no pilot varies.
    """

    auc: float | None
    factor: float  # of the standard error of one classifier

    def planned(self, n: int) -> Moments:
        """Return the moments for the power, scaled to the standard error."""
        planned = super().planned(n)
        return planned.scaled(self.standard_error(n) / planned.standard_error)

    def standard_error(self, n: int) -> float:
        """Return the standard error, of an AUC of two classes Newcombe's (2006).

        Numbers of cases of each class are not rounded.
        """
        if self.auc is None:
            n_pilot = int(self.moments.sizes.sum())
            return self.factor * super().planned(n_pilot).standard_error * (n_pilot / n) ** 0.5
        a, cases = self.auc, n * self.shares.prod()
        share = (1 - a) / (2 - a) + a / (1 + a)
        return self.factor * float(a * (1 - a) * (share / 2 + (1 - share) / n) / cases) ** 0.5

    def half_width(self, n: int) -> float:
        """Return half the width of the normal interval."""
        reach = ndtri((1 + self.level) / 2) * self.standard_error(n)
        is_ratio = np.isfinite(self.limits.bounds).sum() == 1 and self.factor == 1
        return float(self.value * np.sinh(reach / self.value) if is_ratio else reach)

    def inflated(self, end: int) -> Design:
        """Return the design itself: there is no pilot whose variance is uncertain."""
        return self


def design_of_figures(design: Design, figures: PublishedFigures, pilot: Predictions) -> Design:
    """Return the design that published figures give, from that of their population."""
    is_area = pilot.n_classes == 2 and design.measure.name in _AREAS
    r = figures.correlation
    factor = 1.0 if r is None else float(np.sqrt(2 * (1 - r)))
    fields = vars(design) | {"value": design.value if r is None else 0.0}
    return FiguresDesign(**fields, auc=figures.auc if is_area else None, factor=factor)
