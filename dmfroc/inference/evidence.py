"""Evidence: what a sample says of a measure, each fact found once, whatever kind of sample it is.

Observations in memory, with or without folds, are one kind; a sample whose scores are counted in
bins is another (`dmfroc.counted.estimates`). An interval method takes the facts, and asks neither
which measure nor which kind of sample they are about.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import Covariance, divide
from dmfroc._kit.threads import parallel
from dmfroc.inference.bias import Bias, bias_of
from dmfroc.inference.influences import (
    NO_VARIATION,
    Influences,
    Moments,
    influences_from,
    influences_on,
    moments_of,
    moments_of_differences,
    moments_of_sums,
    pieces,
    through_weights,
)
from dmfroc.inference.limits import Interval, Limits, limits_of_contrast, limits_of_difference
from dmfroc.inference.reweighted import MeasureOfUnits, function_of_user
from dmfroc.inference.sign_flips import SignFlips, sign_flips, uses_sign_flips
from dmfroc.inference.tilt import PerUnit, StratumOfUnit
from dmfroc.inference.units import Sample, Samples, Units
from dmfroc.inference.unseen import PerUnseen, unseen_rows
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure, bind, bind_together
from dmfroc.measures.measured import Declared, measured
from dmfroc.results.estimate import ClassSizes, JudgedLabels

_SMALL = 50  # units of the rarest class; beside as many, one more hardly changes influences
_MANY_UNITS = 20_000  # from which on differences are linear
_MOST_SCORES = 1 << 26  # of several classifiers, whose sorted scores are kept
_FLAT = 1e-12  # what unseen units add to a value that is the largest there is
_STEP = 1e-3  # of the mass of an unseen unit, for derivatives by differences
_USERS = "user-defined"  # measures that may fail for other rows than those of their users


class InSample(NamedTuple):
    """The value of a measure in a sample, and how it varies.

    Attributes
    ----------
    measure : Measure
        What is estimated.
    sample : Sample
        The predictions, and their independent units.
    influences : Influences
        The value, and what each observation contributes to it.
    moments : Moments
        Moments of the influences on the value.
    declared : Declared
        What the measure says of the sample.
    function : MeasureOfUnits or None
        The value at other masses of the units; None if it is none of the weights alone.
    of_unseen : numpy.ndarray of shape (p,)
        Influences of the units that the sample does not show.
    """

    measure: Measure
    sample: Sample
    influences: Influences
    moments: Moments
    declared: Declared
    function: MeasureOfUnits | None
    of_unseen: PerUnseen


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
        Moments of the influences on the value, or on the one where others choose the thresholds.
    limits : Limits
        Its limits, at any error probability.
    bias : Bias
        What is known of the bias of the value.
    caveats : tuple of str
        What has to be known of the value whatever its interval, in any part of the sample.
    cross_fitted : float, optional
        The value where others choose the thresholds, which the limits are about.
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
    limits: Limits
    bias: Bias
    caveats: tuple[str, ...]
    cross_fitted: float | None = None
    parts: tuple[Facts, ...] = ()
    error_bound: float = 0.0
    can_redraw: bool = True
    remarks: tuple[str, ...] = ()
    judge: JudgedLabels | None = None
    has_all_scores: bool = False

    @property
    def class_sizes(self) -> ClassSizes:
        """Whether the error of the value includes the chance in the class sizes."""
        is_random = self.moments.depends_on_sizes or len(self.units.sizes) == 1
        return "random" if is_random else "fixed"

    @property
    def corrected(self) -> float | None:
        """The value that the interval is about, if it is not the value itself."""
        if self.cross_fitted is not None:
            return self.cross_fitted
        low, high = self.limits.bounds
        corrected = min(max(self.value - self.bias.of_value, low), high)
        return None if corrected == self.value else corrected

    def interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability, 0.05 for 95 %."""
        low, high = self.limits.interval_at(error)
        if self.cross_fitted is None:
            return Interval(low, high)
        # What is chosen on fewer observations is too small as the value is too large, less or more
        halfway = high + max(self.value - self.cross_fitted, 0.0) / 2
        return Interval(low, min(max(halfway, self.value), self.limits.bounds[1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class FactsInMemory(Facts):
    """What observations in memory, with or without folds, say of a measure.

    Attributes
    ----------
    influences : Influences
        The value, and what each observation contributes to it.
    chosen_by_others : Influences, optional
        The value where others choose the thresholds, and the influences on it.
    terms : tuple of PartOf
        What the value is put together from; nothing if it is that of one sample.
    """

    influences: Influences
    chosen_by_others: Influences | None = None
    terms: tuple[PartOf, ...] = ()


class PartOf(NamedTuple):
    """What is known of a part, and its coefficient.

    The value is the mean of the own parts. The others cancel on average.
    """

    facts: FactsInMemory
    coefficient: float
    is_own: bool = True


def in_sample(
    measures: Sequence[Measure], sample: Sample, *, allows_for_parts: bool = False
) -> list[InSample]:
    """Return the values of measures that share a statistic, and how they vary.

    See `influences_from`.
    """
    predictions, units = sample
    rows = unseen_rows(predictions)
    asked = [x.in_sample(predictions) for x in measures]
    is_of_weights = all(x.interval.is_of_weights and x.family != _USERS for x in asked)
    whole, known = rows.predictions if is_of_weights else predictions, []
    try:
        bound = bind_together(asked, whole)
    except ValueError:  # of the sample, or of combinations that are too many with the unseen rows
        bound = None
    if bound is None or (is_of_weights and bound.is_of_user):
        whole, is_of_weights = predictions, False
        bound = bind_together(asked, predictions)
    n = len(predictions.true)
    for place, x in enumerate(measured(measures, bound, predictions, whole.sample_weight)):
        measure = measures[place]
        influences = influences_from(x, predictions, measure, allows_for_parts=allows_for_parts)
        function, derivatives, plain = None, x.derivatives, measure.interval.plain
        if plain is not None and is_of_weights and units.weights is None:
            function = MeasureOfUnits(bind(plain, rows.predictions), sample, rows)
            function = function.corrected(x.value)
            derivatives = derivatives[:n]  # those of unseen rows are not of this function
        elif is_of_weights:
            function = MeasureOfUnits(bound.only(place), sample, rows)
        elif asked[place].interval.is_of_weights:
            function = function_of_user(asked[place], sample, bound, x)
        of_unseen = np.zeros(len(rows.true))
        if function is not None:
            of_unseen = _of_unseen(measure, function, derivatives[n:])
        influences = influences._replace(influences=units.centred(influences.influences))
        if units.weights is not None:
            influences = through_weights(influences, units.weights)
        moments = moments_of(influences.influences, units).with_parts(influences.parts)
        known.append(
            InSample(measure, sample, influences, moments, x.declared, function, of_unseen)
        )
    return known


def _of_unseen(measure: Measure, function: MeasureOfUnits, found: PerUnit) -> PerUnseen:
    """Return what each unseen unit would add, from its derivative if there is one.

    That is beside a little of all others if a ratio is 0 / 0, or if nothing adds anything: at a
    distance of 0 there is no derivative. Nor is there at a share of 0 of an entropy. Beside one
    success alone if these add nothing either, as in the balance of classes to an entropy.
    """
    units, n_unseen = function.sample.units, len(function.rows.true)
    ones, none = np.ones(function.n_units), np.zeros(n_unseen)
    if not function.has_slopes:
        value = function.value(ones, none)
        moved = [function.value(ones, _STEP * unit) for unit in np.eye(n_unseen)]
        return np.nan_to_num((np.array(moved) - value) / _STEP)
    if units.weights is not None and len(found) == n_unseen:
        return np.nan_to_num(found) * function.size
    is_plain = len(found) == n_unseen and np.isfinite(found).all() and units.shares is None
    if is_plain and found.any() and not _is_small(measure, units):
        return found * function.size
    found = none
    for masses in (none + 1 / max(n_unseen, 1), none + (np.arange(n_unseen) == 0)):
        slopes = function.slopes(ones, masses)
        if slopes is not None:
            found = slopes.of_unseen
        if (abs(found) > _FLAT).any():
            break
    return found


def facts_of(
    measures: Sequence[Measure], sample: Sample, *, allows_for_parts: bool = False
) -> list[FactsInMemory]:
    """Return what observations say of measures that share a statistic."""
    return [facts_from(x) for x in in_sample(measures, sample, allows_for_parts=allows_for_parts)]


def facts_in(sample: Sample, measure: Measure, *, allows_for_parts: bool = False) -> FactsInMemory:
    """Return what a sample says of one measure."""
    return facts_of([measure], sample, allows_for_parts=allows_for_parts)[0]


def facts_from(known: InSample, *, can_redraw: bool = True) -> FactsInMemory:
    """Return all facts about a measure whose value and moments are known."""
    measure, (predictions, units), influences, moments, said = known[:5]
    value, chosen = influences.value, _chosen_by_others(known)
    error, sums = moments.standard_error, of_units(influences, units)
    on_sizes = moments.depends_on_sizes or len(units.sizes) == 1
    bias = bias_of(
        *(measure, value, error, known.sample, known.function, sums),
        depends_on_sizes=on_sizes,
        of_rows=influences.influences,
    )
    limits = _limits_of(known, bias, sums)
    if chosen is not None:
        of_choice = moments_of(chosen.influences, units).with_parts(chosen.parts)
        moments = max(moments, of_choice, key=lambda x: x.standard_error)
        own = of_units(chosen, units) if moments is of_choice else limits.influences
        about = float(np.clip(chosen.value, *limits.bounds))  # where limits are linear
        limits = replace(limits, value=about, influences=own, function=None, bias=0.0)
    return FactsInMemory(
        measure=measure,
        predictions=predictions,
        units=units,
        value=value,
        moments=moments,
        limits=limits,
        bias=bias,
        caveats=said.caveats,
        cross_fitted=None if chosen is None else limits.value,
        can_redraw=can_redraw and (units.weights is None or "bootstrap" in units.weights.methods),
        has_all_scores=True,
        influences=influences,
        chosen_by_others=chosen,
    )


def _limits_of(known: InSample, bias: Bias, sums: PerUnit) -> Limits:
    """Return the limits of a value in a sample, with these influences of its units and parts."""
    (predictions, units), function, said = known.sample, known.function, known.declared
    are_fixed = units.has_fixed_sizes and units.weights is None
    stratum = _strata(units, len(sums))
    if len(sums) > len(units.stratum) and units.weights is None:  # parts that were drawn
        function = None
    rows, of_class = unseen_rows(predictions), np.zeros(predictions.n_classes, int)
    of_class[predictions.true] = stratum[units.unit_of_row_with_class]
    return Limits(
        value=known.influences.value,
        influences=sums,
        stratum=stratum,
        bounds=said.bounds_of_sizes if are_fixed else said.bounds,
        masses=np.ones(len(sums)),
        function=function,
        unseen=rows.units(of_class[rows.true]),
        of_unseen=known.of_unseen,
        lost=lost_means(sums, stratum, known.sample),
        bias=bias.allowed,
        is_small=_is_small(known.measure, units),
    )


def of_units(influences: Influences, units: Units) -> PerUnit:
    """Return the influences of the units, followed by those of parts that were drawn at random."""
    sums, parts = units.sums(influences.influences), influences.parts
    return sums if parts is None else np.append(sums, parts.as_independent)


def _is_small(measure: Measure, units: Units) -> bool:
    """Whether one unit more of the rarest class, or a whole group, changes the influences."""
    is_bent = measure.interval.is_flat_at_ends or measure.interval.plain is not None
    return is_bent or units.n_complete_sets < _SMALL or units.groups is not None


def _strata(units: Units, n: int) -> Int[np.ndarray, " n"]:
    """Return the stratum of each of n influences; those of parts are in one of their own."""
    own = units.stratum if units.has_fixed_sizes else np.zeros(len(units.stratum), int)
    return own if n == len(own) else np.append(own, np.full(n - len(own), own.max() + 1))


def lost_means(sums: PerUnit, stratum: StratumOfUnit, sample: Sample) -> float:
    """Return by what the variance must be multiplied because of means that were estimated.

    These are of each class, in each stratum and fold. What varies between them beyond chance is no
    loss: accuracy loses one mean, M one for each class.
    """
    predictions, units = sample
    n = len(units.stratum)
    x, cell = sums[:n], units.stratum
    rows = units.unit_of_row_with_class
    if len(units.unit_of_row) == n or predictions.folds is not None:  # rows, or in a fold each
        cell = np.zeros(n, int)  # of rows without a class
        folds = np.zeros(len(rows), int) if predictions.folds is None else predictions.folds
        order = np.argsort(-folds, kind="stable")  # of repeats the first one
        cell[rows[order]] = (predictions.true + 1 + (predictions.n_classes + 1) * folds)[order]
    sizes = np.bincount(cell)
    means = np.bincount(cell, x) / np.maximum(sizes, 1)
    lost = np.bincount(cell, (x - means[cell]) ** 2) / np.maximum(sizes - 1, 1)
    between, square = float(sizes @ means**2), float(x @ x)
    added = float(lost.sum()) + max(between - float(lost.sum()), 0.0) - between
    if stratum[:n].max(initial=0) > 0:  # the Dirichlet law of a small stratum varies less, too
        added += float(divide(np.bincount(stratum[:n], x**2), np.bincount(stratum[:n]), np).sum())
    return 1 + max(added, 0.0) / square if square > NO_VARIATION**2 else 1.0


def _chosen_by_others(known: InSample) -> Influences | None:
    measure, (predictions, units), plain = known[:3]
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


class JointFacts(NamedTuple):
    """What a sample says of several classifiers.

    Attributes
    ----------
    facts : mapping of str to Facts
        Of each classifier by itself.
    differences : mapping of tuple of str to Moments
        Moments of the influences on the difference of every two.
    limits : mapping of tuple of str to Limits
        The limits of the difference of every two, about its value.
    covariance : numpy.ndarray of shape (m, m)
        Of the values.
    sign_flips : mapping of tuple of str to numpy.ndarray
        Of every two whose difference rests on few observations, see `sign_flips`.
    """

    facts: Mapping[str, Facts]
    differences: Mapping[tuple[str, str], Moments]
    limits: Mapping[tuple[str, str], Limits]
    covariance: Covariance
    sign_flips: Mapping[tuple[str, str], SignFlips] = {}


def facts_of_classifiers(measure: Measure, samples: Samples) -> dict[str, FactsInMemory]:
    """Return what is known of each classifier, of many large ones side by side."""
    n_scores = sum(p.scores.size for p, _ in samples.values())

    def find(sample: Sample) -> FactsInMemory:
        predictions, units = sample
        # What is sorted of many classifiers would take more memory than they do: a copy's goes.
        copy = Sample(replace(predictions), units)
        facts = facts_in(copy, measure, allows_for_parts=True)
        if n_scores > _MOST_SCORES:
            facts = replace(facts, limits=facts.limits.condensed())
        return replace(facts, predictions=predictions)

    return dict(zip(samples, parallel(find, list(samples.values()), n_scores), strict=True))


def common_sums(
    with_units: Sequence[tuple[Influences, Units]],
) -> tuple[Float[np.ndarray, "m u"], Units]:
    """Return the influences on each value, summed over units that all share, by stratum."""
    units = with_units[0][1]
    return np.stack([units.sums(x.influences)[units.by_stratum] for x, _ in with_units]), units


def joint_facts(facts: Mapping[str, FactsInMemory], *, with_flips: bool = True) -> JointFacts:
    """Return what the same observations say of several classifiers."""
    joint = joint_moments(facts)
    limits = {(a, b): paired_limits(facts[a], facts[b]) for a, b in joint.differences}
    flips = flips_of(facts, joint.differences) if with_flips else {}
    return joint._replace(limits=limits, sign_flips=flips)


def independent_facts(facts: Mapping[str, Facts]) -> JointFacts:
    """Return what independent samples say of several classifiers."""
    pairs = list(itertools.combinations(facts, 2))
    moments = {(a, b): facts[a].moments.beside(facts[b].moments) for a, b in pairs}
    width = next(iter(facts.values())).measure.largest_difference
    limits = {
        (a, b): limits_of_contrast((1.0, -1.0), (facts[a].limits, facts[b].limits), width)
        for a, b in pairs
    }
    variances = [x.moments.standard_error**2 for x in facts.values()]
    return JointFacts(facts, moments, limits, np.diag(variances))


def joint_moments(facts: Mapping[str, FactsInMemory]) -> JointFacts:
    """Return what the same observations say of several classifiers, but for limits and flips."""
    influences = [f.influences for f in facts.values()]
    sums, units = common_sums([(f.influences, f.units) for f in facts.values()])
    pairs = itertools.combinations(influences, 2)
    moments = [
        difference.with_parts(a.parts.minus(b.parts) if a.parts and b.parts else None)
        for (a, b), difference in zip(pairs, moments_of_differences(sums, units), strict=True)
    ]
    covariance = joint_covariance(sums, units)
    parts = [x.parts for x in influences if x.parts is not None]
    if parts:
        covariance += np.array([[a.products(b) for b in parts] for a in parts])
    differences = dict(zip(itertools.combinations(facts, 2), moments, strict=True))
    return JointFacts(facts, differences, {}, covariance)


def flips_of(
    facts: Mapping[str, FactsInMemory], differences: Mapping[tuple[str, str], Moments]
) -> dict[tuple[str, str], SignFlips]:
    """Return the sign flips of every two whose difference rests on few observations.

    Those of ratios, and of values that few rows decide at other class shares, are not flipped: they
    are far from sums of what observations contribute.
    """
    known, units = facts.values(), next(iter(facts.values())).units
    few = [pair for pair, x in differences.items() if uses_sign_flips(x, units)]
    is_no_sum = any(f.measure.is_ratio or f.bias.of_few_rows for f in known)
    if not few or is_no_sum or any(f.influences.parts is not None for f in known):
        return {}
    sums, _ = common_sums([(f.influences, f.units) for f in facts.values()])
    own = dict(zip(facts, sums, strict=True))
    gaps = np.stack([own[a] - own[b] for a, b in few])
    values = [facts[a].value - facts[b].value for a, b in few]
    return dict(zip(few, sign_flips(gaps, values, units), strict=True))


def paired_limits(first: FactsInMemory, second: FactsInMemory) -> Limits:
    """Return the limits of the difference of two classifiers of the same observations."""
    a, b = _of_each_unit(first), _of_each_unit(second)
    sample, difference = Sample(first.predictions, first.units), a.influences - b.influences
    lost = lost_means(difference, a.stratum, sample)
    width = first.measure.largest_difference
    found = limits_of_difference(a, b, first.value - second.value, width, lost)
    return found.condensed() if len(difference) > _MANY_UNITS else found


def _of_each_unit(facts: FactsInMemory) -> Limits:
    """Return limits with the influence of each unit, if they are condensed."""
    sums = of_units(facts.influences, facts.units)
    return facts.limits.of_units(sums, _strata(facts.units, len(sums)))


def joint_covariance(sums: Float[np.ndarray, "m u"], units: Units) -> Covariance:
    """Return the covariance of the values."""
    products = np.zeros((len(units.sizes), len(sums), len(sums)))
    for stratum, part in units.centred_parts(sums):
        for piece in pieces(part):
            products[stratum] += piece @ piece.T
    products *= (units.sizes**2 * (units.own > 0))[:, None, None]
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
    Each variance is that of the value by itself, whose ``moments`` these are: a stratum of one unit
    borrows from the others.
    """
    sizes = np.maximum(units.own, 1) * units.sizes
    covariance: Covariance = (products / sizes[:, None, None]).sum(axis=0)
    if units.sizes_are_random:
        covariance += (totals / units.drawn) @ totals.T
    alike = np.sqrt(covariance.diagonal())
    factor = divide([m.standard_error for m in moments], alike, np)
    return covariance * np.outer(factor, factor)
