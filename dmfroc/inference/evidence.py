"""Evidence: what a sample says of a measure, each fact found once, whatever kind of sample it is.

Observations in memory, with or without folds, are one kind; a sample whose scores are counted in
bins is another (`dmfroc.counted.estimates`). An interval method takes the facts, and asks neither
which measure nor which kind of sample they are about.

No standard error shows a bias, and some are large enough to matter. Chance in the many cells of a
table raises what a prediction seems to tell of the class. With many classes of few observations
each, so does chance in their curves. And an observation that is ranked among others raises its own
precision. An interval is extended by that much, on the side of the truth.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import Covariance, PerPresentClass, divide
from dmfroc._kit.threads import parallel
from dmfroc.inference.bias import bias_of_halves, excess_of_folds, notable_bias
from dmfroc.inference.influences import (
    NO_VARIATION,
    Influences,
    Moments,
    influences_of,
    influences_on,
    moments_from_means,
    moments_of,
    moments_of_sums,
    through_weights,
)
from dmfroc.inference.interval import Interval
from dmfroc.inference.limits import interval, interval_below, with_rare_errors, without_variation
from dmfroc.inference.rare_errors import RareErrors, is_of_sizes, pools_classes, rare_errors
from dmfroc.inference.sign_flips import SignFlips, sign_flips, uses_sign_flips
from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bare_value_of, bind, caveats
from dmfroc.results.estimate import ClassSizes, JudgedLabels

_NUMBERS_AT_ONCE = 1 << 20  # influences whose powers are held
_LOST = 1e-3  # of the squares of two influences; from less the fourth powers lose six digits


@dataclass(frozen=True, eq=False)
class Facts(ABC):
    """What a sample says of one measure; what is not given is found when it is first asked for.

    Attributes
    ----------
    measure : Measure
        What is estimated.
    predictions : Predictions
        The sample: at least classes, their weights and hard labels are at hand.
    units : Units
        The independent units: at least the strata are known.
    value : float
        Value of the measure.
    moments : Moments
        Moments of the influences on the value.
    error_bound : float
        By how much the value differs at most from that of all scores.
    n_drawn : numpy.ndarray of shape (c,), optional
        How many units of each class were drawn if rows count less where errors are more frequent,
        as when uncertain rows were verified more often. Errors that may be missed are then counted
        among so many units, not among the effective number.
    can_redraw : bool
        Whether the user can ask for a bootstrap instead.
    remarks : tuple of str
        What else limits the estimate.
    judge : JudgedLabels or None
        What a judge has added.
    has_all_scores : bool
        Whether all scores are at hand, so that thresholds can be chosen on some of them.
    bounds_are_given_sizes : bool
        Whether the bounds are those of these class sizes, and not of any.
    """

    has_all_scores: ClassVar[bool] = False
    bounds_are_given_sizes: ClassVar[bool] = True

    measure: Measure
    predictions: Predictions
    units: Units
    value: float
    moments: Moments
    error_bound: float = field(default=0.0, kw_only=True)
    n_drawn: PerPresentClass | None = field(default=None, kw_only=True)
    can_redraw: bool = field(default=True, kw_only=True)
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    judge: JudgedLabels | None = field(default=None, kw_only=True)

    @property
    def own_parts(self) -> Sequence[Facts]:
        """What the value is the mean of."""
        return (self,)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What has to be known of the value whatever its interval, in any part of the sample."""
        return tuple(caveats([self.measure], *(part.predictions for part in self.own_parts)))

    @abstractmethod
    def value_of(self, other: Measure) -> float:
        """Return the value of another measure in the same sample."""

    @property
    def cross_fitted(self) -> tuple[float, Moments] | None:
        """The value where others choose the thresholds, and the moments of its influences."""
        return None

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The range of the measure, given the class sizes; a point for those of these alone."""
        # Units that are drawn from one stratum are of random classes; shares may be estimated
        are_fixed = len(self.units.sizes) > 1 and self.units.weights is None
        bounds = self.measure.range_in(self.predictions, sizes_are_fixed=are_fixed)
        if self.moments.varies_within_strata or not np.isfinite(self.value):
            return bounds
        is_point = is_of_sizes(self.measure, self.predictions)
        return (self.value, self.value) if is_point else bounds

    @cached_property
    def bounds_of_any_sizes(self) -> tuple[float, float]:
        """The range of the measure, whatever the class sizes."""
        return self.measure.range_in(self.predictions)

    @property
    def reach(self) -> tuple[float, float]:
        """The range of the measure, given the class sizes unless they add to its error."""
        return self.bounds_of_any_sizes if self.moments.depends_on_sizes else self.bounds

    @cached_property
    def rare(self) -> RareErrors | None:
        """What a sample without errors would show."""
        if self.bounds[0] == self.bounds[1]:
            return None
        sizes = self.units.effective_sizes if self.n_drawn is None else self.n_drawn
        return rare_errors(self.measure, self.predictions, sizes, self.bounds)

    @property
    def gross_errors(self) -> int:
        """As how many typical errors an exact limit counts one that the sample lacks."""
        return 1 if self.rare is None else self.rare.gross_errors

    @property
    def class_sizes(self) -> ClassSizes:
        """Whether the error of the value includes the chance in the class sizes."""
        is_random = self.moments.depends_on_sizes or len(self.units.sizes) == 1
        return "random" if is_random else "fixed"

    @cached_property
    def possible_biases(self) -> Sequence[float]:
        """The biases that show; the first notable one counts. They are 0 where none shows."""
        return self._bias_of_chance, self._bias_beside_another

    @property
    def _bias_of_chance(self) -> float:
        """The bias by chance in the table of hard labels, or in each fold's."""
        n_effective, folds = self.units.effective_sizes, self.predictions.folds
        bias_of_chance = self.measure.interval.bias_of_chance
        if n_effective is None or bias_of_chance is None:
            return 0.0
        n_of_each = float(n_effective.sum()) / (1 if folds is None else len(np.unique(folds)))
        return bias_of_chance(self.value, len(self.predictions.present)) / n_of_each

    @property
    def _bias_beside_another(self) -> float:
        """By how much the value exceeds that of a less biased measure."""
        less_biased = self.measure.interval.less_biased
        return 0.0 if less_biased is None else self.value - self.value_of(less_biased)

    @cached_property
    def bias(self) -> float:
        """The bias for which `interval_at` allows."""
        if self.cross_fitted or not np.isfinite(self.value) or not any(self.possible_biases):
            return 0.0
        return notable_bias(self.possible_biases, self.moments.standard_error)

    def without_bias(self, bias: float) -> float | None:
        """Return the value less a bias, inside of the range; None if there is no such value.

        What remains of a choice of thresholds only cross-fitting shows. A bias that is estimated
        from halves of a small sample, and is larger than the range allows, shows nothing.
        """
        if not bias or self.measure.interval.cross_fit is not None:
            return None
        corrected = float(np.clip(self.value - bias, *self.reach))
        is_known = self.measure.interval.bias_of_chance is not None
        return corrected if is_known or corrected not in self.reach else None

    @property
    def deciding_moments(self) -> Moments:
        """The moments on which `interval_at` rests."""
        return self.moments if self.cross_fitted is None else self.cross_fitted[1]

    def unbiased_interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability as if the value were not biased."""
        is_widened = self.bounds_are_given_sizes and self.moments.depends_on_sizes
        return interval(
            self.value,
            self.moments,
            error,
            self.bounds,
            self.bounds_of_any_sizes if is_widened else None,
            symmetric_on_line=not self.measure.interval.is_flat_at_ends,
            rare=self.rare,
        )

    def interval_at(self, error: float) -> Interval:
        """Return the interval that follows from the moments, with this error probability."""
        if self.cross_fitted is None:
            ends = self.unbiased_interval_at(error)
            return ends if self.bias == 0 else ends.reaching(-self.bias, self.reach)
        bounds, (corrected, larger) = self.bounds, self.cross_fitted
        if self.moments.spread.scale <= NO_VARIATION:
            n_sets = self.moments.n_complete_sets
            return without_variation(self.value, n_sets, error, bounds, self.rare)
        ends = interval_below(corrected, larger, error, bounds)
        ends = with_rare_errors(ends, corrected, larger, error, self.rare)
        # What is chosen on fewer observations is too small as the value is too large, less or more.
        # The middle is that on the scale of the interval.
        room = math.sqrt((bounds[1] - corrected) * max(bounds[1] - self.value, 0.0))
        halfway = interval_below(bounds[1] - room, larger, error, bounds)
        return ends._replace(high=max(ends.high, halfway.high, self.value))


@dataclass(frozen=True, eq=False)
class FactsInMemory(Facts):
    """What observations in memory, with or without folds, say of a measure.

    Attributes
    ----------
    influences : Influences
        The value, and what each observation contributes to it.
    """

    has_all_scores: ClassVar[bool] = True

    influences: Influences

    def value_of(self, other: Measure) -> float:
        """Return the value of another measure in the same sample."""
        return bare_value_of(other, self.predictions)

    @cached_property
    def chosen_by_others(self) -> Influences | None:
        """The value where others choose the thresholds, and the influences on it."""
        cross_fit = self.measure.interval.cross_fit
        if cross_fit is None or self.predictions.folds is not None:
            return None
        plain, weights = self.influences, self.units.weights
        if weights or self.units.shares:  # those that do not work through the weights yet
            plain = influences_on(self.measure, self.predictions)
        judged = cross_fit(self.predictions, self.units.unit_of_known_row, plain[:2])
        if judged is None:
            return None
        cross_fitted = Influences(judged[0], self.units.centred(judged[1]))
        return cross_fitted if weights is None else through_weights(cross_fitted, weights)

    @cached_property
    def cross_fitted(self) -> tuple[float, Moments] | None:
        """The value where others choose the thresholds, and the moments of its influences."""
        chosen = self.chosen_by_others
        if chosen is None:
            return None
        moments = moments_of(chosen.influences, self.units).with_parts(chosen.parts)
        moments = replace(moments, most_freedom=self.moments.most_freedom)
        larger = max(self.moments, moments, key=lambda x: x.standard_error)
        return float(np.clip(chosen.value, *self.bounds)), larger

    @cached_property
    def possible_biases(self) -> Sequence[float]:
        """The biases that show; the first notable one counts. They are 0 where none shows."""
        if self.measure.interval.threshold is not None:  # halves have other thresholds, a step away
            return (self._bias_beside_another,)
        sample = Sample(self.predictions, self.units)
        of_halves = bias_of_halves(self.measure, self.value, sample)
        # Halves have other bins and other ties, and may show less than a measure without the bias
        in_tables = max(self._bias_of_chance, self._bias_of_folds, key=abs)
        return in_tables, max(of_halves, self._bias_beside_another, key=abs)

    @property
    def _bias_of_folds(self) -> float:
        """By how much the mean over folds, which can lack errors, exceeds the value of all rows."""
        if self.predictions.folds is None or self.measure.needs != "labels":
            return 0.0
        return excess_of_folds(self.measure, self.value, self.predictions)

    @cached_property
    def at_fixed_threshold(self) -> FactsInMemory | None:
        """The same with a threshold that does not vary, if the measure is read at one."""
        threshold, predictions = self.measure.interval.threshold, self.predictions
        if threshold is None or predictions.folds is not None or self.units.effective_sizes is None:
            return None
        return facts_in(Sample(predictions, self.units), threshold.fixed)

    def distances_of_threshold(self, error: float) -> tuple[float, float]:
        """Return how far below and above the value those at the limits of the threshold are."""
        measure, n_effective = self.measure, self.units.effective_sizes
        threshold = measure.interval.threshold
        assert threshold
        assert measure.statistic
        assert n_effective is not None
        table = measure.statistic(self.predictions).count(self.predictions.sample_weight, np)
        return threshold.distances(table, n_effective, error)

    def unbiased_interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability as if the value were not biased.

        Where a threshold is estimated, the squares of the distances of the ends from the value add
        up, for a fixed threshold and for those at the limits of the threshold.
        """
        fixed = self.at_fixed_threshold
        if fixed is None:
            return super().unbiased_interval_at(error)
        ends = fixed.unbiased_interval_at(error)
        below, above = self.distances_of_threshold(error)
        if below == above == 0:
            return ends
        low = self.value - math.hypot(self.value - ends.low, below)
        high = self.value + math.hypot(ends.high - self.value, above)
        return Interval(max(low, self.bounds[0]), min(high, self.bounds[1]))


def facts_of(
    measures: Sequence[Measure],
    bound: BoundMeasures,
    sample: Sample,
    *,
    allows_for_parts: bool = False,
) -> list[FactsInMemory]:
    """Return what observations say of each of the measures that are bound; see `influences_of`."""
    predictions, units = sample
    shared = influences_of(measures, bound, predictions, allows_for_parts=allows_for_parts)
    if units.shares is not None:
        shared = [x._replace(influences=units.centred(x.influences)) for x in shared]
    if units.weights is not None:
        shared = [through_weights(x, units.weights) for x in shared]
    facts = []
    for measure, influences in zip(measures, shared, strict=True):
        of_measure = units
        may_pool = units.sizes_are_random and measure.interval.pools_classes is not False
        if may_pool and pools_classes(measure, predictions):
            of_measure = units.in_one_stratum
        moments = moments_of(influences.influences, of_measure).with_parts(influences.parts)
        given = measure, predictions, of_measure, influences.value, moments, influences
        can_redraw = units.weights is None or "bootstrap" in units.weights.methods
        facts.append(FactsInMemory(*given, can_redraw=can_redraw))
    return facts


def facts_in(sample: Sample, measure: Measure, *, allows_for_parts: bool = False) -> FactsInMemory:
    """Return what a sample says of one measure."""
    bound = bind(measure, sample.predictions)
    return facts_of([measure], bound, sample, allows_for_parts=allows_for_parts)[0]


class JointFacts(NamedTuple):
    """What a sample says of several classifiers.

    Attributes
    ----------
    facts : mapping of str to Facts
        Of each classifier by itself.
    differences : mapping of tuple of str to Moments
        Moments of the influences on the difference of every two.
    covariance : numpy.ndarray of shape (m, m)
        Of the values.
    sign_flips : mapping of tuple of str to numpy.ndarray
        Of every two whose difference rests on few observations, see `sign_flips`.
    values : mapping of tuple of str to float, optional
        Of the differences; by default they are those of the values.
    """

    facts: Mapping[str, Facts]
    differences: Mapping[tuple[str, str], Moments]
    covariance: Covariance
    sign_flips: Mapping[tuple[str, str], SignFlips] = {}
    values: Mapping[tuple[str, str], float] | None = None


def facts_of_classifiers(
    measure: Measure, samples: Mapping[str, Sample]
) -> dict[str, FactsInMemory]:
    """Return what is known of each classifier, of many large ones side by side."""
    by_name: dict[str, FactsInMemory] = {}

    def find(name: str) -> None:
        predictions, units = samples[name]
        # What is sorted of many classifiers would take more memory than they do: a copy's goes.
        copy = Sample(replace(predictions), units)
        facts = facts_in(copy, measure, allows_for_parts=True)
        by_name[name] = replace(facts, predictions=predictions)

    parallel(find, list(samples), sum(p.scores.size for p, _ in samples.values()))
    return {name: by_name[name] for name in samples}


def common_sums(
    with_units: Sequence[tuple[Influences, Units]],
) -> tuple[Float[np.ndarray, "m u"], Units]:
    """Return the influences on each value, summed over units that all share, by stratum."""
    # Classes are pooled only where an error of each classifier costs alike: no order matters
    units = max((of_one for _, of_one in with_units), key=lambda x: len(x.sizes))
    return np.stack([units.sums(x.influences)[units.by_stratum] for x, _ in with_units]), units


def joint_facts(facts: Mapping[str, FactsInMemory]) -> JointFacts:
    """Return what the same observations say of several classifiers."""
    influences = [f.influences for f in facts.values()]
    sums, units = common_sums([(f.influences, f.units) for f in facts.values()])
    pairs = itertools.combinations(influences, 2)
    moments = [
        difference.with_parts(a.parts.minus(b.parts) if a.parts and b.parts else None)
        for (a, b), difference in zip(pairs, _moments_of_differences(sums, units), strict=True)
    ]
    covariance = joint_covariance(sums, units)
    parts = [x.parts for x in influences if x.parts is not None]
    if parts:
        covariance += np.array([[a.products(b) for b in parts] for a in parts])
    differences = dict(zip(itertools.combinations(facts, 2), moments, strict=True))
    if parts:
        return JointFacts(facts, differences, covariance)
    few = [pair for pair, x in differences.items() if uses_sign_flips(x, units)]
    place = {name: row for row, name in enumerate(facts)}
    first, second = ([place[pair[end]] for pair in few] for end in (0, 1))
    values = [facts[a].value - facts[b].value for a, b in few]
    flips = sign_flips(sums[first] - sums[second], values, units)
    return JointFacts(facts, differences, covariance, dict(zip(few, flips, strict=True)))


def _moments_of_differences(sums: Float[np.ndarray, "m u"], units: Units) -> list[Moments]:
    """Return the moments of every two rows' difference, in the order of the combinations.

    Those of all differences follow from products of powers of the rows, (a - b)^4 = a^4 - 4 a^3 b
    + 6 a^2 b^2 - 4 a b^3 + b^4, which are m^2 sums by three products of matrices. Where hardly
    anything is left of the squares, as between copies of a classifier, the difference is formed.
    """
    first, second = np.triu_indices(len(sums), 1)
    shape = (len(first), len(units.sizes))
    squares, fourths = np.empty(shape), np.empty(shape)
    is_lost = np.zeros(len(first), bool)
    for stratum, (size, part) in enumerate(
        zip(units.sizes, units.centred_parts(sums), strict=True)
    ):
        part *= size
        of_powers = _products_of_powers(part) / size
        of_square, of_cube, of_both = (x[first, second] for x in of_powers)
        whole = np.diag(of_powers[0])[first] + np.diag(of_powers[0])[second]
        squares[:, stratum] = whole - 2 * of_square
        of_cube += of_powers[1][second, first]
        fourth = np.diag(of_powers[2])
        fourths[:, stratum] = fourth[first] + fourth[second] - 4 * of_cube + 6 * of_both
        is_lost |= squares[:, stratum] < _LOST * whole
    totals = units.totals(sums)
    moments = moments_from_means(squares, fourths, totals[first] - totals[second], units)
    for place in np.flatnonzero(is_lost):
        difference = sums[first[place]] - sums[second[place]]
        [moments[place]] = moments_of_sums(difference[None], units)
    return moments


def _products_of_powers(x: Float[np.ndarray, "m u"]) -> Float[np.ndarray, "3 m m"]:
    """Return the sums over the units of a b, a^3 b and a^2 b^2 of every two rows a and b."""
    products = np.zeros((3, len(x), len(x)))
    for part in _pieces(x):
        square = part * part
        products[0] += part @ part.T
        products[1] += (square * part) @ part.T
        products[2] += square @ square.T
    return products


def _pieces(x: Float[np.ndarray, "m u"]) -> Iterator[Float[np.ndarray, "m _"]]:
    """Yield some columns after the other: BLAS ends for an interrupt between two products only."""
    at_once = max(_NUMBERS_AT_ONCE // len(x), 1)
    for start in range(0, x.shape[1], at_once):
        yield x[:, start : start + at_once]


def joint_covariance(sums: Float[np.ndarray, "m u"], units: Units) -> Covariance:
    """Return the covariance of the values, with `Moments.spread`'s care for rare classes."""
    own = np.maximum(units.sizes - units.n_means, 0)
    products = np.zeros((len(own), len(sums), len(sums)))
    for stratum, part in zip(products, units.centred_parts(sums), strict=True):
        for piece in _pieces(part):
            stratum += piece @ piece.T
    products *= (units.sizes**2 * (own > 0))[:, None, None]
    moments = moments_of_sums(sums, units)
    return covariance_from_products(products, units.totals(sums), units, moments)


def covariance_from_products(
    products: Float[np.ndarray, "s m m"],
    totals: Float[np.ndarray, "m d"],
    units: Units,
    moments: Sequence[Moments],
) -> Covariance:
    """Return the covariance of values from what is known of their influences by stratum.

    These are the sums of their products about the mean, scaled to single units, and their totals.
    Correlations come from products in which all classes borrow alike. Each variance is that of the
    value by itself, whose ``moments`` these are: its classes may borrow by their sizes, which no
    covariance could do.
    """
    sizes = units.sizes
    own = np.maximum(sizes - units.n_means, 0)
    pooled = products.sum(axis=0) / max(own.sum(), 1)
    covariance: Covariance = ((products + pooled) / ((own + 1) * sizes)[:, None, None]).sum(axis=0)
    if units.sizes_are_random:
        covariance += (totals / units.drawn[1]) @ totals.T
    alike = np.sqrt(covariance.diagonal())
    factor = divide([m.spread.scale for m in moments], alike, np)
    return covariance * np.outer(factor, factor)
