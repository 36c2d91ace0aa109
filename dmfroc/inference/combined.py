"""Values that are put together from several: a mean over labels, or verified rows and a judge.

What is known of each part is carried over. Thresholds are chosen by others in each part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dmfroc.inference.bias import Bias
from dmfroc.inference.evidence import FactsInMemory, JointFacts, PartOf, flips_of, joint_moments
from dmfroc.inference.influences import NO_VARIATION, Influences, Moments
from dmfroc.inference.limits import Limits, limits_of_difference
from dmfroc.inference.sign_flips import has_large_strata
from dmfroc.inference.units import Units
from dmfroc.results.estimate import JudgedLabels

Gather = Callable[[Sequence[Influences]], tuple[Influences, Moments]]
"""Puts together the values of the parts, and the influences on them, and finds the moments."""
LimitsOf = Callable[[Influences, tuple[float, float]], Limits]
"""Takes the value with all influences, and its range."""


def combined(
    terms: Sequence[PartOf],
    units: Units,
    gather: Gather,
    limits_of: LimitsOf,
    remarks: tuple[str, ...] = (),
    judge: JudgedLabels | None = None,
) -> FactsInMemory:
    """Return what is known of the value of these parts; it is put into the range.

    ``gather`` puts them together, ``limits_of`` finds the limits.
    """
    first, own = terms[0].facts, tuple(t.facts for t in terms if t.is_own)
    still = sum(x.moments.standard_error <= NO_VARIATION for x in own)
    if 0 < still < len(own):
        remarks += (
            f"{still} of the {len(own)} values whose mean this is show no variation: it may be "
            "further off than its interval says",
        )
    whole, moments = gather([t.facts.influences for t in terms])
    low, high = np.mean([x.limits.bounds for x in own], axis=0)
    bounds = float(low), float(high)
    whole = whole._replace(value=float(np.clip(whole.value, *bounds)))
    chosen = [x for t in terms if (x := t.facts.chosen_by_others) is not None]
    of_others = gather(chosen)[0] if len(chosen) == len(terms) else None
    limits = limits_of(whole, bounds)
    if of_others is not None:
        limits = replace(limits, value=float(np.clip(of_others.value, *bounds)), function=None)
    bias, allowed = (
        float(sum(t.coefficient * t.facts.bias[place] for t in terms)) for place in (0, 1)
    )
    return FactsInMemory(
        measure=first.measure,
        predictions=first.predictions,
        units=units,
        value=whole.value,
        moments=moments,
        limits=replace(limits, bias=allowed),
        bias=Bias(bias, allowed, *(any(x) for x in zip(*(y.bias[2:] for y in own), strict=True))),
        caveats=tuple(dict.fromkeys(itertools.chain(*(x.caveats for x in own)))),
        cross_fitted=None if of_others is None else limits.value,
        parts=own,
        can_redraw=False,
        remarks=remarks,
        judge=judge,
        has_all_scores=True,
        influences=whole,
        chosen_by_others=of_others,
        terms=tuple(terms),
    )


def joint_combined(
    facts: Mapping[str, FactsInMemory], gather_of: Callable[[Sequence[Influences]], Gather]
) -> JointFacts:
    """Return what is known of several classifiers, whose differences are put together likewise.

    ``gather_of`` takes the differences of the influences on each part, and returns what puts them
    together.
    """
    joint, moments, limits = joint_moments(facts), {}, {}
    for a, b in itertools.combinations(facts, 2):
        first, second = facts[a], facts[b]
        parts = zip(first.terms, second.terms, strict=False)
        pair_influences = [x.facts.influences.minus(y.facts.influences) for x, y in parts]
        whole, moments[a, b] = gather_of(pair_influences)(pair_influences)
        width = first.measure.largest_difference
        value = min(max(whole.value, -width), width)
        of_pair = limits_of_difference(first.limits, second.limits, value, width, first.limits.lost)
        if abs(value - first.value + second.value) > NO_VARIATION:  # weights of its own
            of_pair = replace(of_pair, function=None)
        limits[a, b] = of_pair
    own = (part.units for f in facts.values() for part in f.parts)
    flips = flips_of(facts, joint.differences) if all(map(has_large_strata, own)) else {}
    return joint._replace(differences=moments, limits=limits, sign_flips=flips)
