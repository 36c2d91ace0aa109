"""Values that are put together from several: a mean over labels, or verified rows and a judge.

What is known of each part is carried over. Biases add up as the values do. Thresholds are chosen by
others in each part. An error that a part may lack is counted on the side to which it would move the
value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from dmfroc.inference.evidence import FactsInMemory, JointFacts, joint_facts
from dmfroc.inference.influences import NO_VARIATION, Influences, Moments, moments_of
from dmfroc.inference.rare_errors import RareErrors
from dmfroc.inference.sign_flips import has_large_strata
from dmfroc.inference.units import Units
from dmfroc.results.estimate import JudgedLabels

_FEW_ERRORS = 10  # of a part or of a judge, from which on one more makes little difference
Gather = Callable[[Sequence[Influences]], tuple[Influences, Moments]]
"""Puts together the values of the parts, and the influences on them, and finds the moments."""


class Term(NamedTuple):
    """What is known of a part, and its coefficient.

    The value is the mean of the own parts. The others cancel on average.
    """

    facts: FactsInMemory
    coefficient: float
    is_own: bool = True


@dataclass(frozen=True, eq=False)
class CombinedFacts(FactsInMemory):
    """What is known of a value that is put together.

    Attributes
    ----------
    terms : tuple of Term
        The parts.
    gather : callable
        What puts them together.
    judge_errors : float
        On how many verified rows a judge errs; infinite without one.
    """

    bounds_are_given_sizes: ClassVar[bool] = False

    terms: tuple[Term, ...]
    gather: Gather
    judge_errors: float

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The range of the measure, whatever the class sizes."""
        return range_of(self.terms)

    @property
    def own_parts(self) -> Sequence[FactsInMemory]:
        """What the value is the mean of, but for differences that are 0 on average."""
        return [t.facts for t in self.terms if t.is_own]

    @cached_property
    def chosen_by_others(self) -> Influences | None:
        """The value where others choose the thresholds, and the influences on it."""
        influences = [x for t in self.terms if (x := t.facts.chosen_by_others) is not None]
        return self.gather(influences)[0] if len(influences) == len(self.terms) else None

    @cached_property
    def rare(self) -> RareErrors | None:
        """What parts without errors would show, if errors of a part are rare, or those of a judge.

        An error counts on the side of its part's coefficient. The limit of a weighted sum of
        independent counts that are all 0 is that of the dearest one (Fay and Feuer 1997). But a row
        can err in several own parts at once.
        """
        known = [(x, t) for t in self.terms if (x := t.facts.rare) is not None]
        own = [x for x, t in known if t.is_own]
        judge_errs_rarely = self.judge_errors < _FEW_ERRORS
        are_rare = any(x.n_errors(t.facts.value) < _FEW_ERRORS for x, t in known if t.is_own)
        if len(own) < len(self.own_parts) or not (judge_errs_rarely or are_rare):
            return None
        best, worst = (float(np.mean([x[end] for x in own])) for end in (0, 1))
        unseen = [abs(t.coefficient * (x.limit - x.best)) for x, t in known]
        of_own = unseen[: len(own)]
        dearest = max(min(max(of_own) * self._parts_at_once, sum(of_own)), *unseen)
        limit = best + math.copysign(dearest, worst - best) if are_rare else best
        of_judge = max(unseen[len(own) :], default=0.0) if judge_errs_rarely else 0.0
        return RareErrors(best, worst, limit, max(x.gross_errors for x in own), of_judge)

    @property
    def _parts_at_once(self) -> float:
        """In how many own parts a row errs: as dependent as they are, and one more row in all."""
        (scale, freedom), n = self.moments.spread, len(self.own_parts)
        of_own = [t.coefficient * t.facts.moments.spread.scale for t in self.terms if t.is_own]
        apart = np.linalg.norm(of_own)
        at_once = min(max((scale / apart) ** 2, 1.0), n) if apart > NO_VARIATION else n
        return float(at_once + (n - at_once) / (1 + freedom))

    @cached_property
    def possible_biases(self) -> Sequence[float]:
        """The biases that show, combined as the values are."""
        biases = np.array([t.facts.possible_biases for t in self.terms])
        return list((np.array([t.coefficient for t in self.terms]) @ biases).tolist())

    @cached_property
    def at_fixed_threshold(self) -> FactsInMemory | None:
        """The same with a threshold that does not vary, if the measure is read at one."""
        fixed = [(x, t) for t in self.terms if (x := t.facts.at_fixed_threshold) is not None]
        if len(fixed) < len(self.terms):
            return None
        return combined([t._replace(facts=x) for x, t in fixed], self.units, self.gather)

    def distances_of_threshold(self, error: float) -> tuple[float, float]:
        """Return how far below and above the value those at the limits of the thresholds are.

        Their squares add up as the variances of what thresholds move do.
        """
        weights, parts = zip(*((t.coefficient, t.facts) for t in self.terms), strict=True)
        moved = [x.influences.minus(x.at_fixed_threshold.influences) for x in parts]
        spreads = (
            moments_of(x.influences, part.units) for x, part in zip(moved, parts, strict=True)
        )
        apart = np.linalg.norm(np.multiply(weights, [x.standard_error for x in spreads]))
        factor = self.gather(moved)[1].standard_error / apart if apart > NO_VARIATION else 1.0
        ends = [
            x.distances_of_threshold(error)[:: 1 if w > 0 else -1]
            for w, x in zip(weights, parts, strict=True)
        ]
        below, above = factor * np.linalg.norm(np.multiply(weights, np.transpose(ends)), axis=1)
        return float(below), float(above)


def range_of(terms: Sequence[Term]) -> tuple[float, float]:
    """Return the mean range of the own parts, whatever the class sizes."""
    low, high = np.mean([t.facts.bounds_of_any_sizes for t in terms if t.is_own], axis=0)
    return float(low), float(high)


def combined(
    terms: Sequence[Term],
    units: Units,
    gather: Gather,
    remarks: tuple[str, ...] = (),
    judge: JudgedLabels | None = None,
    judge_errors: float = math.inf,
) -> CombinedFacts:
    """Return what is known of the value of these parts; it is put into the range."""
    first, own = terms[0].facts, [t.facts for t in terms if t.is_own]
    still = sum(x.moments.spread.scale <= NO_VARIATION for x in own)
    if 0 < still < len(own):
        remarks += (
            f"{still} of the {len(own)} values whose mean this is show no variation: it may be "
            "further off than its interval says",
        )
    whole, moments = gather([t.facts.influences for t in terms])
    value = float(np.clip(whole.value, *range_of(terms)))
    return CombinedFacts(
        first.measure,
        first.predictions,
        units,
        value,
        moments,
        whole._replace(value=value),
        tuple(terms),
        gather,
        judge_errors,
        can_redraw=False,
        remarks=remarks,
        judge=judge,
    )


def joint_combined(
    facts: Mapping[str, CombinedFacts], gather_of: Callable[[Sequence[Influences]], Gather]
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
    own = (part.units for f in facts.values() for part in f.own_parts)
    flips = joint.sign_flips if all(map(has_large_strata, own)) else {}
    return joint._replace(differences=moments, values=values, sign_flips=flips)
