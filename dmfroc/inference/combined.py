"""Values that are put together from several: a mean over labels, or verified rows and a judge.

What is known of each part is carried over. Biases add up as the values do. Thresholds are chosen by
others in each part. An error that a part may lack is counted on the side to which it would move the
value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dmfroc.inference.bias import biases_of
from dmfroc.inference.evidence import (
    AtThreshold,
    FactsInMemory,
    JointFacts,
    Term,
    around,
    joint_facts,
)
from dmfroc.inference.influences import NO_VARIATION, Influences, Moments, Spread, moments_of
from dmfroc.inference.rare_errors import RareErrors
from dmfroc.inference.sign_flips import has_large_strata
from dmfroc.inference.units import Sample, Units
from dmfroc.results.estimate import JudgedLabels

_FEW_ERRORS = 10  # of a part or of a judge, from which on one more makes little difference
Gather = Callable[[Sequence[Influences]], tuple[Influences, Moments]]
"""Puts together the values of the parts, and the influences on them, and finds the moments."""


def combined(
    terms: Sequence[Term],
    units: Units,
    gather: Gather,
    remarks: tuple[str, ...] = (),
    judge: JudgedLabels | None = None,
    judge_errors: float = math.inf,
) -> FactsInMemory:
    """Return what is known of the value of these parts; it is put into the range.

    ``gather`` puts them together. A judge errs on ``judge_errors`` verified rows; infinitely many
    are those of none.
    """
    first, own = terms[0].facts, tuple(t.facts for t in terms if t.is_own)
    still = sum(x.moments.spread.scale <= NO_VARIATION for x in own)
    if 0 < still < len(own):
        remarks += (
            f"{still} of the {len(own)} values whose mean this is show no variation: it may be "
            "further off than its interval says",
        )
    whole, moments = gather([t.facts.influences for t in terms])
    low, high = np.mean([x.bounds_of_any_sizes for x in own], axis=0)
    bounds = float(low), float(high)
    value = float(np.clip(whole.value, *bounds))
    chosen = [x for t in terms if (x := t.facts.chosen_by_others) is not None]
    of_others = gather(chosen)[0] if len(chosen) == len(terms) else None
    possible = np.array([t.coefficient for t in terms]) @ [t.facts.biases.possible for t in terms]
    return FactsInMemory(
        measure=first.measure,
        predictions=first.predictions,
        units=units,
        value=value,
        moments=moments,
        bounds=bounds,
        bounds_of_any_sizes=first.bounds_of_any_sizes,
        rare=_rare(terms, moments.spread, judge_errors),
        biases=biases_of(first.measure, Sample(first.predictions, units), possible.tolist()),
        caveats=tuple(dict.fromkeys(itertools.chain(*(x.caveats for x in own)))),
        cross_fitted=None if of_others is None else around(of_others, moments, units, bounds),
        at_threshold=_at_threshold(terms, units, gather),
        parts=own,
        can_redraw=False,
        remarks=remarks,
        judge=judge,
        has_all_scores=True,
        influences=whole._replace(value=value),
        chosen_by_others=of_others,
        terms=tuple(terms),
    )


def _rare(terms: Sequence[Term], whole: Spread, judge_errors: float) -> RareErrors | None:
    """Return what parts without errors would show, if errors of a part, or a judge's, are rare.

    An error counts on the side of its part's coefficient. The limit of a weighted sum of
    independent counts that are all 0 is that of the dearest one (Fay and Feuer 1997). But a row
    can err in several own parts at once.
    """
    known = [(x, t) for t in terms if (x := t.facts.rare) is not None]
    own = [x for x, t in known if t.is_own]
    judge_errs_rarely = judge_errors < _FEW_ERRORS
    are_rare = any(x.n_errors(t.facts.value) < _FEW_ERRORS for x, t in known if t.is_own)
    if len(own) < sum(t.is_own for t in terms) or not (judge_errs_rarely or are_rare):
        return None
    best, worst = (float(np.mean([x[end] for x in own])) for end in (0, 1))
    unseen = [abs(t.coefficient * (x.limit - x.best)) for x, t in known]
    of_own = unseen[: len(own)]
    dearest = max(min(max(of_own) * _parts_at_once(terms, whole), sum(of_own)), *unseen)
    limit = best + math.copysign(dearest, worst - best) if are_rare else best
    of_judge = max(unseen[len(own) :], default=0.0) if judge_errs_rarely else 0.0
    return RareErrors(best, worst, limit, max(x.gross_errors for x in own), of_judge)


def _parts_at_once(terms: Sequence[Term], whole: Spread) -> float:
    """Return in how many own parts a row errs: as dependent as they are, and one more row."""
    of_own = [t.coefficient * t.facts.moments.spread.scale for t in terms if t.is_own]
    apart, n = np.linalg.norm(of_own), len(of_own)
    at_once = min(max((whole.scale / apart) ** 2, 1.0), n) if apart > NO_VARIATION else n
    return float(at_once + (n - at_once) / (1 + whole.degrees_of_freedom))


def _at_threshold(terms: Sequence[Term], units: Units, gather: Gather) -> AtThreshold | None:
    """Return what is known with a threshold that does not vary, if the measure is read at one.

    The squares of the distances at the limits of the thresholds add up as the variances of what
    thresholds move do.
    """
    known = [(t, x) for t in terms if (x := t.facts.at_threshold) is not None]
    if len(known) < len(terms):
        return None
    moved = [t.facts.influences.minus(x.fixed.influences) for t, x in known]
    errors = [
        t.coefficient * moments_of(x.influences, t.facts.units).standard_error
        for x, (t, _) in zip(moved, known, strict=True)
    ]
    apart = np.linalg.norm(errors)
    factor = gather(moved)[1].standard_error / apart if apart > NO_VARIATION else 1.0

    def distances(error: float) -> tuple[float, float]:
        ends = [
            np.multiply(t.coefficient, x.distances(error)[:: 1 if t.coefficient > 0 else -1])
            for t, x in known
        ]
        below, above = factor * np.linalg.norm(ends, axis=0)
        return float(below), float(above)

    return AtThreshold(
        combined([t._replace(facts=x.fixed) for t, x in known], units, gather), distances
    )


def joint_combined(
    facts: Mapping[str, FactsInMemory], gather_of: Callable[[Sequence[Influences]], Gather]
) -> JointFacts:
    """Return what is known of several classifiers, whose differences are put together likewise.

    ``gather_of`` takes the differences of the influences on each part, and returns what puts them
    together.
    """
    joint, moments, values = joint_facts(facts), {}, {}
    for a, b in itertools.combinations(facts, 2):
        parts = zip(facts[a].terms, facts[b].terms, strict=False)
        pair_influences = [x.facts.influences.minus(y.facts.influences) for x, y in parts]
        whole, moments[a, b] = gather_of(pair_influences)(pair_influences)
        most = facts[a].measure.largest_difference
        values[a, b] = min(max(whole.value, -most), most)
    own = (part.units for f in facts.values() for part in f.parts)
    flips = joint.sign_flips if all(map(has_large_strata, own)) else {}
    return joint._replace(differences=moments, values=values, sign_flips=flips)
