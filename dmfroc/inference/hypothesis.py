"""What is tested of a difference: that there is none, or that it lies on one side of a margin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple, get_args

from scipy.special import ndtr, ndtri, stdtr, stdtrit

from dmfroc._kit.options import choice, positive
from dmfroc.inference.influences import NO_VARIATION, Moments
from dmfroc.inference.limits import Interval, IntervalAt, Limits
from dmfroc.inference.sign_flips import SignFlips, p_value_of_flips
from dmfroc.results.difference import Difference, TestOf

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True)
class NonInferiority:
    """A test that the first classifier is not worse than the second by a margin or more.

    Attributes
    ----------
    margin : float
        How much worse it may be, in units of the measure.

    Examples
    --------
    >>> import dmfroc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> scores = {name: y + rng.normal(size=400) for name in ("new", "old")}
    >>> found = dmfroc.compare(y, scores, measures="auc", test=NonInferiority(0.1))
    >>> found.differences[0].p_value < 0.05
    True
    """

    margin: float

    def __post_init__(self) -> None:
        positive("margin", self.margin)


@dataclass(frozen=True)
class Equivalence:
    """Differences that do not matter: the two-sided test, and the probability of such a difference.

    Attributes
    ----------
    half_width : float
        Half-width of the region of practical equivalence.

    Examples
    --------
    >>> import dmfroc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> scores = {name: y + rng.normal(size=400) for name in ("new", "old")}
    >>> found = dmfroc.compare(y, scores, measures="auc", test=Equivalence(0.1))
    >>> found.differences[0].probability_equivalent > 0.9
    True
    """

    half_width: float

    def __post_init__(self) -> None:
        positive("half_width", self.half_width)


type Test = Alternative | NonInferiority | Equivalence


class Contrast(NamedTuple):
    """What is known of the difference of two values.

    Attributes
    ----------
    value, standard_error : float
        The difference, and its standard error.
    interval_at : callable
        Takes an error probability and returns the interval whose ends are tested.
    tail : callable
        Takes a threshold and returns the probability that the true difference lies beyond it,
        on the other side than the value: at most 1/2.
    p_value, two_sided_p_value : float, optional
        Of the hypothesis and of no difference, if they are not those of the tails.
    test : TestOf
        Where the p-value of the hypothesis comes from.
    degrees_of_freedom : float, optional
        Those of a t test.
    """

    value: float
    standard_error: float
    interval_at: IntervalAt
    tail: Callable[[float], float]
    p_value: float | None = None
    two_sided_p_value: float | None = None
    test: TestOf = "tail of the limits"
    degrees_of_freedom: float | None = None

    def of_test(self, test: TestOf, p_value: float) -> Contrast:
        """Return the same with the p-value of another test, which has no degrees of freedom."""
        return self._replace(p_value=p_value, test=test, degrees_of_freedom=None)


Contrasts = dict[tuple[str, str], Contrast]
"""The differences of every two values, by both names."""


def contrast_of_intervals(
    value: float,
    error: float,
    interval_at: IntervalAt,
    freedom: float | None = None,
    least: float = 0.0,
    limits: Limits | None = None,
) -> Contrast:
    """Return a difference whose tails are those of its intervals of all levels.

    A threshold that no interval reaches has the tail of t, if its degrees of ``freedom`` are given:
    weights of few units end before they reach far values. No interval has an error probability
    below the ``least`` one. ``limits`` return the lower (-1) or upper (1) end alone, and about the
    error probability with which it is somewhere: the search then starts there.
    """
    far = None
    if freedom is not None and error > NO_VARIATION:
        far = contrast_of_t(value, error, freedom).tail

    ends = limits.end_at if limits else lambda side, error: interval_at(error)[side > 0]

    @cache
    def tail(threshold: float) -> float:
        side = 1 if value <= threshold else -1
        start = limits.error_reaching(side, threshold) if limits else _FIRST_ERROR
        found = error_reaching(value, threshold, partial(ends, side), least, start)
        if far is not None and found <= 2 * float(ndtr(-_FARTHEST)):
            return far(threshold)
        return found / 2

    return Contrast(value, error, interval_at, tail)


def contrasts_of_intervals(
    values: Mapping[str, tuple[float, IntervalAt]], errors: Mapping[str, float]
) -> Contrasts:
    """Return the differences of independent values with intervals of any kind.

    Distances of the ends add up as their squares (Zou and Donner 2008).
    """
    found = {}
    for a, b in itertools.combinations(values, 2):
        interval_at = partial(_interval_of_difference, values[a], values[b])
        error, difference = math.hypot(errors[a], errors[b]), values[a][0] - values[b][0]
        found[a, b] = contrast_of_intervals(difference, error, interval_at)
    return found


def _interval_of_difference(
    first: tuple[float, IntervalAt], second: tuple[float, IntervalAt], error: float
) -> Interval:
    (value, at), (other, other_at) = first, second
    (low, high), (other_low, other_high) = at(error), other_at(error)
    below = math.hypot(value - low, other_high - other)
    above = math.hypot(high - value, other - other_low)
    return Interval(value - other - below, value - other + above)


def contrast_of_limits(
    limits: Limits,
    moments: Moments,
    hypothesis: Hypothesis,
    flips: SignFlips | None = None,
    *,
    few_decide: bool = False,
) -> Contrast:
    """Return a difference with these limits, whose influences have these moments.

    If many observations make its variance, the tails are those of t. Else they are those of the
    limits, but the one beyond 0 is by ``flips`` of signs where they are given, as is the p-value,
    unless it is smaller than flips can show. Where ``few_decide`` at other class shares, a bias
    moves the tails as the limits.
    """
    value, (error, freedom) = limits.value, moments.spread
    error = error if error > NO_VARIATION else 0.0  # but for rounding
    of_limits, of_value = (
        contrast_of_intervals(value, error, x.interval_at, freedom, limits=x)
        for x in (limits, limits.about_value)
    )
    are_many = freedom >= MANY_FREEDOM and error > 0 and not few_decide
    of_tails = of_limits if few_decide else of_value
    contrast = contrast_of_t(value, error, freedom) if are_many else of_tails
    contrast = contrast._replace(interval_at=limits.interval_at)
    if hypothesis.margin > 0:
        p_value = hypothesis.p_value_of_tail(value, of_limits.tail)
        contrast = contrast.of_test("tail of the limits", p_value)
    if flips is not None:
        tail = contrast.tail
        if hypothesis.margin == 0:
            of_tail = hypothesis.p_value_of_tail(value, tail)
            flipped = p_value_of_flips(flips, hypothesis.sign, of_tail)
            test: TestOf = "tail of the limits" if flipped < 1 / len(flips) else "sign flips"
            contrast = contrast.of_test(test, flipped)
        beyond = p_value_of_flips(flips, 0, 2 * tail(0.0)) / 2
        contrast = contrast._replace(tail=lambda x: tail(x) if x != 0 else beyond)
    return contrast


def contrast_of_t(value: float, error: float, degrees_of_freedom: float) -> Contrast:
    """Return a difference that has a t distribution, or no error at all."""

    def interval_at(level_of_error: float) -> Interval:
        half = float(stdtrit(degrees_of_freedom, 1 - level_of_error / 2)) * error
        return Interval(value - half, value + half)

    def tail(threshold: float) -> float:
        if error == 0:
            return float(value == threshold) / 2
        return float(stdtr(degrees_of_freedom, -abs(value - threshold) / error))

    return Contrast(value, error, interval_at, tail, None, None, "t test", degrees_of_freedom)


_NEAREST, _FARTHEST = 1e-6, 22.0  # normal quantiles of error probabilities
_FIRST_ERROR = 2 * float(ndtr(-1.0))
MANY_FREEDOM = 60  # degrees of freedom, from which on tails are those of t


@dataclass(frozen=True)
class Hypothesis:
    """What is tested of every difference, and what counts as practically equal.

    Attributes
    ----------
    alternative : {"two-sided", "greater", "less"}
        Whether the difference is not 0, above ``-margin``, or below ``margin``.
    margin : float
        How much worse than the other the first may be, where it is not to be inferior.
    rope : float
        Half-width of the region of practical equivalence.
    greater_is_better : bool
        False for errors and other losses.
    """

    alternative: Alternative = "two-sided"
    margin: float = 0.0
    rope: float = 0.0
    greater_is_better: bool = True

    @classmethod
    def of(cls, test: Test, greater_is_better: bool = True) -> Hypothesis:
        """Return what the user asks to test of a measure."""
        if isinstance(test, NonInferiority):
            side: Alternative = "greater" if greater_is_better else "less"
            return cls(side, float(test.margin), greater_is_better=greater_is_better)
        if isinstance(test, Equivalence):
            return cls(rope=float(test.half_width), greater_is_better=greater_is_better)
        choice("test", test, get_args(Alternative))
        return cls(test, greater_is_better=greater_is_better)

    def check(self, level: float, width: float) -> None:
        """Refuse what no limit at that level or no difference of that size can show."""
        if not self.is_two_sided and level <= 0.5:
            raise ValueError(f"a one-sided limit needs level > 0.5, but it is {level!r}")
        if self.margin >= width:
            raise ValueError(
                f"margin must be less than {width:g}, the largest difference that the measure can "
                f"have, but it is {self.margin!r}"
            )

    @property
    def is_two_sided(self) -> bool:
        """Whether differences of either sign count."""
        return self.alternative == "two-sided"

    @property
    def sign(self) -> int:
        """1 if large differences count, -1 if small ones do, 0 if both do."""
        return {"two-sided": 0, "greater": 1, "less": -1}[self.alternative]

    @property
    def threshold(self) -> float:
        """The difference against which is tested."""
        return -self.sign * self.margin + 0.0

    @property
    def statement(self) -> str:
        """The alternative, of classifiers A and B."""
        relation = {0: "\N{NOT EQUAL TO}", 1: ">", -1: "<"}[self.sign]
        return f"A - B {relation} {self.threshold:g}"

    def claim(self, first: str, second: str) -> str:
        """Say in words what a one-sided test is to show."""
        is_better = (self.sign > 0) == self.greater_is_better
        if self.margin == 0:
            return f"{first} is {'better' if is_better else 'worse'} than {second}"
        opposite = "worse" if is_better else "better"
        return f"{first} is not {opposite} than {second} by {self.margin:g} or more"

    def error(self, level: float) -> float:
        """Return the error probability of the two-sided interval that has the ends asked for."""
        return (1 - level) * (1 if self.is_two_sided else 2)

    def interval(self, interval_at: IntervalAt, level: float) -> tuple[float, float]:
        """Return the interval of a difference; a one-sided test leaves one of its ends open."""
        low, high = interval_at(self.error(level))[:2]
        return (-math.inf if self.sign < 0 else low, math.inf if self.sign > 0 else high)

    def p_value_of_tail(self, value: float, tail: Callable[[float], float]) -> float:
        """Return the p-value of a difference with these tails, see `Contrast`."""
        beyond = tail(self.threshold)
        if self.is_two_sided:
            return min(2 * beyond, 1.0)
        return beyond if self.sign * (value - self.threshold) > 0 else 1 - beyond

    def difference(self, names: tuple[str, str], contrast: Contrast, level: float) -> Difference:
        """Return a difference with its interval at a level, its tests and its probabilities."""
        value, error, interval_at, tail, p_value, two_sided, test, freedom = contrast

        def probability_above(threshold: float) -> float:
            return 1 - tail(threshold) if value > threshold else tail(threshold)

        of_no_difference, equivalent = tail(0.0), 0.0
        two_sided = min(2 * of_no_difference, 1.0) if two_sided is None else two_sided
        if p_value is None:
            p_value = two_sided if self.is_two_sided else self.p_value_of_tail(value, tail)
        if self.rope > 0:
            equivalent = max(probability_above(-self.rope) - probability_above(self.rope), 0.0)
        is_better = (value > 0) == self.greater_is_better
        return Difference(
            *names,
            value=value,
            standard_error=error,
            interval=self.interval(interval_at, level),
            p_value=p_value,
            two_sided_p_value=two_sided,
            adjusted_p_value=p_value,
            probability_better=1 - of_no_difference if is_better else of_no_difference,
            probability_equivalent=equivalent,
            test=test,
            degrees_of_freedom=freedom,
        )

    def differences(self, contrasts: Contrasts, level: float) -> list[Difference]:
        """Return the `difference` of every two; no p-value is adjusted yet."""
        return [self.difference(pair, contrast, level) for pair, contrast in contrasts.items()]


def error_reaching(
    value: float,
    threshold: float,
    end: Callable[[float], float],
    least: float = 0.0,
    start: float = _FIRST_ERROR,
) -> float:
    """Return the error probability whose interval reaches a threshold with this end.

    That is the upper end of a threshold above the value, and the lower end of one below.

    It is 1 if the threshold is inside of all intervals, or on their other side, and never below
    the ``least`` error probability that has an interval, nor below 1e-108. The search begins at
    ``start``, and with another at which a straight line from the value is there.
    """
    from scipy.optimize import brentq  # importing it takes a fifth of a first estimate

    farthest = min(_FARTHEST, -float(ndtri(least / 2))) if least > 0 else _FARTHEST

    @cache  # the search asks for both ends again
    def distance(quantile: float) -> float:
        apart = end(2 * float(ndtr(-quantile))) - threshold
        return -apart if value <= threshold else apart

    apart, first = abs(value - threshold), -float(ndtri(start / 2))
    inner, outer = _NEAREST, min(max(first, 2 * _NEAREST), farthest)
    if abs(distance(outer)) * outer <= _NEAREST * apart:
        return 2 * float(ndtr(-outer))
    if distance(outer) <= 0 and distance(inner) <= 0:
        return 1.0
    while outer < farthest and distance(outer) > 0:
        farther = outer * apart / (apart - distance(outer)) if distance(outer) < apart else math.inf
        inner, outer = outer, min(max(1.1 * farther, 1.1 * outer), 2 * outer, farthest)
    if outer == farthest and not distance(outer) <= 0:
        return 2 * float(ndtr(-farthest))
    return 2 * float(ndtr(-brentq(distance, inner, outer, xtol=_NEAREST)))
