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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import Covariance, PerPresentClass, divide
from dmfroc._kit.threads import parallel
from dmfroc.inference.bias import Biases, biases_in_memory, notable_bias, without_bias
from dmfroc.inference.influences import (
    NO_VARIATION,
    Influences,
    Moments,
    influences_from,
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
from dmfroc.measures.measure import Measure, bind
from dmfroc.measures.measured import Declared, measured
from dmfroc.results.estimate import ClassSizes, JudgedLabels

_NUMBERS_AT_ONCE = 1 << 20  # influences whose powers are held
_LOST = 1e-3  # of the squares of two influences; from less the fourth powers lose six digits


class InSample(NamedTuple):
    """The value of a measure in a sample, and how it varies.

    Attributes
    ----------
    measure : Measure
        What is estimated.
    predictions : Predictions
        The sample.
    units : Units
        The independent units, in one stratum where the classes are pooled.
    influences : Influences
        The value, and what each observation contributes to it.
    moments : Moments
        Moments of the influences on the value.
    declared : Declared
        What the measure says of the sample.
    """

    measure: Measure
    predictions: Predictions
    units: Units
    influences: Influences
    moments: Moments
    declared: Declared


class AtThreshold(NamedTuple):
    """What is known of a measure that is read at an estimated threshold.

    Attributes
    ----------
    fixed : FactsInMemory
        The same with a threshold that does not vary.
    distances : callable
        Takes an error probability. Returns how far below and above the value those at the limits
        of the threshold are.
    """

    fixed: FactsInMemory
    distances: Callable[[float], tuple[float, float]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts:
    """What a sample says of one measure: all that its interval and its warnings are made of.

    Whoever makes the facts finds each of them, once: `facts_of` in memory, `combined` from those
    of parts, `dmfroc.counted.estimates` from counts. Nothing here asks the sample again.

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
    bounds : tuple of float
        The range of the measure, given the class sizes; a point for those of these alone.
    bounds_of_any_sizes : tuple of float
        The range of the measure, whatever the class sizes.
    rare : RareErrors or None
        What a sample without errors would show.
    biases : Biases
        What is known of the bias of the value.
    caveats : tuple of str
        What has to be known of the value whatever its interval, in any part of the sample.
    cross_fitted : tuple of float and Moments, optional
        The value where others choose the thresholds, and the moments of its influences.
    at_threshold : AtThreshold, optional
        What is known of a measure that is read at an estimated threshold.
    parts : tuple of Facts
        What the value is the mean of; nothing if it is the value of one sample.
    error_bound : float
        By how much the value differs at most from that of all scores.
    can_redraw : bool
        Whether the user can ask for a bootstrap instead.
    remarks : tuple of str
        What else limits the estimate.
    judge : JudgedLabels or None
        What a judge has added.
    has_all_scores : bool
        Whether all scores are at hand, so that thresholds can be chosen on some of them.
    """

    measure: Measure
    predictions: Predictions
    units: Units
    value: float
    moments: Moments
    bounds: tuple[float, float]
    bounds_of_any_sizes: tuple[float, float]
    rare: RareErrors | None
    biases: Biases
    caveats: tuple[str, ...]
    cross_fitted: tuple[float, Moments] | None = None
    at_threshold: AtThreshold | None = None
    parts: tuple[Facts, ...] = ()
    error_bound: float = 0.0
    can_redraw: bool = True
    remarks: tuple[str, ...] = ()
    judge: JudgedLabels | None = None
    has_all_scores: bool = False

    @property
    def reach(self) -> tuple[float, float]:
        """The range of the measure, given the class sizes unless they add to its error."""
        return self.bounds_of_any_sizes if self.moments.depends_on_sizes else self.bounds

    @property
    def class_sizes(self) -> ClassSizes:
        """Whether the error of the value includes the chance in the class sizes."""
        is_random = self.moments.depends_on_sizes or len(self.units.sizes) == 1
        return "random" if is_random else "fixed"

    @cached_property
    def bias(self) -> float:
        """The bias for which `interval_at` allows."""
        if self.cross_fitted or not any(self.biases.possible):
            return 0.0
        return notable_bias(self.biases.possible, self.moments.standard_error)

    @cached_property
    def corrected(self) -> float | None:
        """The value that the interval is about, if it is not the value itself."""
        if self.cross_fitted is not None:
            return self.cross_fitted[0]
        return without_bias(self.measure, self.value, self.bias, self.reach)

    @property
    def deciding_moments(self) -> Moments:
        """The moments on which `interval_at` rests."""
        return self.moments if self.cross_fitted is None else self.cross_fitted[1]

    def unbiased_interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability as if the value were not biased.

        Where a threshold is estimated, the squares of the distances of the ends from the value add
        up, for a fixed threshold and for those at the limits of the threshold.
        """
        if self.at_threshold is not None:
            ends = self.at_threshold.fixed.unbiased_interval_at(error)
            below, above = self.at_threshold.distances(error)
            if below == above == 0:
                return ends
            low = self.value - math.hypot(self.value - ends.low, below)
            high = self.value + math.hypot(ends.high - self.value, above)
            return Interval(max(low, self.bounds[0]), min(high, self.bounds[1]))
        is_widened = not self.parts and self.moments.depends_on_sizes
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
            ends, bias = self.unbiased_interval_at(error), self.bias
            return ends if bias == 0 else ends.reaching(-bias, self.reach)
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


@dataclass(frozen=True, eq=False, kw_only=True)
class FactsInMemory(Facts):
    """What observations in memory, with or without folds, say of a measure.

    Attributes
    ----------
    influences : Influences
        The value, and what each observation contributes to it.
    chosen_by_others : Influences, optional
        The value where others choose the thresholds, and the influences on it.
    terms : tuple of Term
        What the value is put together from; nothing if it is that of one sample.
    """

    influences: Influences
    chosen_by_others: Influences | None = None
    terms: tuple[Term, ...] = ()


class Term(NamedTuple):
    """What is known of a part, and its coefficient.

    The value is the mean of the own parts. The others cancel on average.
    """

    facts: FactsInMemory
    coefficient: float
    is_own: bool = True


def in_sample(
    measures: Sequence[Measure],
    bound: BoundMeasures,
    sample: Sample,
    *,
    allows_for_parts: bool = False,
) -> list[InSample]:
    """Return the values of measures that are bound, and how they vary; see `influences_of`."""
    predictions, units = sample
    known = []
    for measure, x in zip(measures, measured(measures, bound, predictions), strict=True):
        influences = influences_from(x, measure, predictions, allows_for_parts=allows_for_parts)
        if units.shares is not None:
            influences = influences._replace(influences=units.centred(influences.influences))
        if units.weights is not None:
            influences = through_weights(influences, units.weights)
        of_measure = units
        may_pool = units.sizes_are_random and measure.interval.pools_classes is not False
        if may_pool and pools_classes(measure, predictions):
            of_measure = units.in_one_stratum
        moments = moments_of(influences.influences, of_measure).with_parts(influences.parts)
        known.append(InSample(measure, predictions, of_measure, influences, moments, x.declared))
    return known


def facts_of(
    measures: Sequence[Measure],
    bound: BoundMeasures,
    sample: Sample,
    *,
    allows_for_parts: bool = False,
) -> list[FactsInMemory]:
    """Return what observations say of each of the measures that are bound; see `influences_of`."""
    known = in_sample(measures, bound, sample, allows_for_parts=allows_for_parts)
    return [facts_from(x) for x in known]


def facts_in(sample: Sample, measure: Measure, *, allows_for_parts: bool = False) -> FactsInMemory:
    """Return what a sample says of one measure."""
    bound = bind(measure, sample.predictions)
    return facts_of([measure], bound, sample, allows_for_parts=allows_for_parts)[0]


def facts_from(
    known: InSample, n_drawn: PerPresentClass | None = None, *, can_redraw: bool = True
) -> FactsInMemory:
    """Return all facts about a measure whose value and moments are known.

    ``n_drawn`` is how many units of each class were drawn if rows count less where errors are more
    frequent, as when uncertain rows were verified more often. Errors that may be missed are then
    counted among so many units, not among the effective number.
    """
    measure, predictions, units, influences, moments, said = known
    value = influences.value
    bounds = bounds_in(known.declared, measure, Sample(predictions, units), value, moments)
    chosen = _chosen_by_others(known)
    return FactsInMemory(
        measure=measure,
        predictions=predictions,
        units=units,
        value=value,
        moments=moments,
        bounds=bounds,
        bounds_of_any_sizes=said.bounds,
        rare=rare_errors(
            measure, predictions, units.effective_sizes if n_drawn is None else n_drawn, bounds
        ),
        biases=biases_in_memory(measure, value, Sample(predictions, units)),
        caveats=said.caveats,
        cross_fitted=None if chosen is None else around(chosen, moments, units, bounds),
        at_threshold=_at_threshold(known),
        can_redraw=can_redraw and (units.weights is None or "bootstrap" in units.weights.methods),
        has_all_scores=True,
        influences=influences,
        chosen_by_others=chosen,
    )


def bounds_in(
    said: Declared, measure: Measure, sample: Sample, value: float, moments: Moments
) -> tuple[float, float]:
    """Return the range of a measure given the class sizes; a point if it is of these alone."""
    predictions, units = sample
    varies = moments.varies_within_strata or not np.isfinite(value)
    if not varies and is_of_sizes(measure, predictions):
        return value, value
    # Units that are drawn from one stratum are of random classes; shares may be estimated
    are_fixed = len(units.sizes) > 1 and units.weights is None
    return said.bounds_of_sizes if are_fixed else said.bounds


def around(
    chosen: Influences, moments: Moments, units: Units, bounds: tuple[float, float]
) -> tuple[float, Moments]:
    """Return a value with thresholds that others choose, and the larger of both moments."""
    own = moments_of(chosen.influences, units).with_parts(chosen.parts)
    own = replace(own, most_freedom=moments.most_freedom)
    larger = max(moments, own, key=lambda x: x.standard_error)
    return float(np.clip(chosen.value, *bounds)), larger


def _chosen_by_others(known: InSample) -> Influences | None:
    measure, predictions, units, plain = known[:4]
    cross_fit, weights = measure.interval.cross_fit, units.weights
    if cross_fit is None or predictions.folds is not None:
        return None
    if weights or units.shares:  # those that do not work through the weights yet
        plain = influences_on(measure, predictions)
    judged = cross_fit(predictions, units.unit_of_known_row, plain[:2])
    if judged is None:
        return None
    cross_fitted = Influences(judged[0], units.centred(judged[1]))
    return cross_fitted if weights is None else through_weights(cross_fitted, weights)


def _at_threshold(known: InSample) -> AtThreshold | None:
    measure, predictions, units = known[:3]
    threshold, n_effective = measure.interval.threshold, units.effective_sizes
    if threshold is None or predictions.folds is not None or n_effective is None:
        return None
    assert measure.statistic
    table = measure.statistic(predictions).count(predictions.sample_weight, np)
    fixed = facts_in(Sample(predictions, units), threshold.fixed)
    return AtThreshold(fixed, partial(threshold.distances, table, n_effective))


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
