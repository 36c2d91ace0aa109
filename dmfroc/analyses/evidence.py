"""Evidence of one classifier, made from what the user hands in."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.options import choice
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.threads import parallel_map
from dmfroc.analyses.population import in_population
from dmfroc.counted.estimates import CountedEvidence
from dmfroc.counted.scan import Scan
from dmfroc.inference.band import BandKind, CurveBand, band_around
from dmfroc.inference.bootstrap import BayesianBootstrap, Bootstrap
from dmfroc.inference.combined import CombinedFacts, CombinedJackknife, combined
from dmfroc.inference.corrected_resampling import CorrectedResampling
from dmfroc.inference.evidence import FactsInMemory, JointFacts, facts_of, joint_facts
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import (
    NO_VARIATION,
    Influences,
    Moments,
    PartInfluences,
    influences_of,
    moments_of,
)
from dmfroc.inference.interval_method import IntervalMethod, JointEstimates, check_finite
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.judge import Judged, Part, judged, selection_message
from dmfroc.inference.options import Method, Options
from dmfroc.inference.units import Sample, Units, effective_sizes, group_names, sample_of
from dmfroc.inputs.judge import JudgedRows, judged_rows
from dmfroc.inputs.predictions import Needs, Predictions, as_predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind, bind_in_groups, caveats, undefined_message
from dmfroc.multiclass.curve import MulticlassROC, curve_of
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.papers.paper_bootstrap import PaperBootstrap
from dmfroc.results.estimate import Estimate
from dmfroc.results.judge import JudgedLabels

METHODS: tuple[str, ...] = get_args(Method)
_CLASSES: dict[str, type[IntervalMethod]] = {
    method.name: method for method in (Jackknife, Bootstrap, BayesianBootstrap, PaperBootstrap)
}
_WITHOUT_FOLDS = ("paper_bootstrap", "bayes")
# Scores beyond which measures with kinks use the derivative, which exists almost everywhere: a
# bootstrap of them would take minutes.
_MANY_SCORES = 100_000
_CHANCE_OF_AREAS = 0.5
_FEW_VERIFIED = 100  # of a class; with fewer, beside a good judge, 87 to 93 % are covered
_MOST_WEIGHTS = 5_000_000  # of rows, one of them left out in turn, times classes
_GOOD_JUDGE = 1.5  # times the verified labels are the effective ones


@dataclass(frozen=True, eq=False)
class EvidenceInMemory:
    """Observations in memory, with or without folds."""

    predictions: Predictions
    options: Options

    @cached_property
    def sample(self) -> Sample:
        """The observations that count, and which of them are independent."""
        return self.options.sample_of(self.predictions)

    def possible(self, measures: list[Measure]) -> list[Measure]:
        """Return all measures."""
        return measures

    def methods(self, measures: Sequence[Measure]) -> list[IntervalMethod]:
        """Return the method of each measure."""
        return choose_methods(measures, self.predictions, self.options)

    def estimates(
        self, measures: Sequence[Measure], methods: Sequence[IntervalMethod]
    ) -> list[Estimate]:
        """Estimate measures, each by its method."""
        return estimates_of(measures, methods, self.sample)

    def curve(self, options: CurveOptions) -> MulticlassROC:
        """Return the multiclass ROC curve."""
        return curve_of(self.predictions, options)

    def area(self, options: CurveOptions, level: float) -> Estimate | None:
        """Return the area under the curve with the jackknife's interval."""
        [area] = estimates_of([dmf_auc(options.pair_weights)], [Jackknife(level)], self.sample)
        return area

    def band(
        self, curve: MulticlassROC, options: CurveOptions, level: float, kind: BandKind
    ) -> CurveBand:
        """Return the band of a curve."""
        return band_around(curve, self.sample, level, options, kind)


@dataclass(frozen=True, eq=False)
class JudgedEvidence(EvidenceInMemory):
    """Verified rows of one classifier, and a judge's labels of all rows."""

    rows: JudgedRows

    @cached_property
    def sample(self) -> Sample:
        """The verified rows, and which of them are independent."""
        names = self._groups
        return sample_of(self.predictions, None if names is None else names[self.rows.is_verified])

    @cached_property
    def _groups(self) -> Any:
        """The group of each of all rows, if there are groups."""
        groups = self.options.groups
        return None if groups is None else group_names(groups, self.rows.judge_on_all)

    @cached_property
    def units(self) -> Units:
        """All independent units: those with verified rows, and the others, of each stratum."""
        return self._units_in(2 * self.stratum + ~self.has_verified)

    def _units_in(self, stratum: Int[np.ndarray, " u"] | Bool[np.ndarray, " u"]) -> Units:
        place = np.unique(stratum, return_inverse=True)[1]
        n_sets = self.sample.units.n_complete_sets
        return Units(self._unit, place, np.bincount(place), n_sets)

    @cached_property
    def _unit(self) -> Int[np.ndarray, " n"]:
        if self._groups is None:
            return np.arange(len(self.rows.is_verified))
        return np.unique(self._groups, return_inverse=True)[1]

    @cached_property
    def has_verified(self) -> Bool[np.ndarray, " u"]:
        """Which units have verified rows."""
        return np.bincount(self._unit, self.rows.is_verified) > 0

    @cached_property
    def stratum(self) -> Int[np.ndarray, " u"]:
        """The stratum of each unit, within which verified rows were drawn."""
        pairs = np.unique(np.stack([self._unit, self.rows.stratum]), axis=1)
        if pairs.shape[1] > len(self.has_verified):
            raise ValueError("groups has rows of several label_strata: a group must be in one")
        return pairs[1]

    @cached_property
    def n_labels(self) -> Float[np.ndarray, " s"]:
        """Effective number of verified units in each stratum."""
        weights = self.of_all(self.predictions.sample_weight)
        return effective_sizes(self.stratum, np.bincount(self._unit, weights))

    def of_strata(self, influences: Float[np.ndarray, " n"]) -> PartInfluences | None:
        """Return what each unit adds because strata have random sizes: the mean of its stratum.

        What varies about that mean is the variance within `units`.
        """
        if len(self.n_labels) == 1:
            return None
        sums = np.bincount(self.stratum[self._unit], influences)
        return PartInfluences((sums / np.bincount(self.stratum))[self.stratum], math.inf)

    def methods(self, measures: Sequence[Measure]) -> list[IntervalMethod]:
        """Return the one method that there is."""
        allowed = ("groups", "method" if self.options.method == "jackknife" else None)
        if given := [name for name in self.options.given if name not in allowed]:
            raise ValueError(
                f"{', '.join(given)} cannot be given together with judge=, which has "
                "method='jackknife' alone and takes class sizes as random: leave one out"
            )
        return [CombinedJackknife(self.options.level, self.options.seed)] * len(measures)

    def parts(self, measure: Measure) -> tuple[FactsInMemory, Part, Part]:
        """Return what verified rows say, and the judge's values on all and on verified rows."""
        bound = bind(measure, self.predictions)
        with collected_remarks():
            [facts] = facts_of([measure], bound, self.sample)
            judges = []
            for predictions in (self.rows.judge_on_all, self.rows.judge_on_verified):
                of_judge = bind(measure, predictions)
                [found] = influences_of([measure], of_judge, predictions)
                judges.append(Part(found.value, found.influences))
            left_out = _left_out(bound, self.predictions, facts.influences)
            facts = replace(facts, influences=left_out)
            judges[1] = _left_out(of_judge, self.rows.judge_on_verified, judges[1])
        check_finite(measure, {"the verified rows": facts.value})
        check_finite(measure, {"the judge": judges[0].value, "the judge on them": judges[1].value})
        return facts, judges[0], judges[1]._replace(influences=self.of_all(judges[1].influences))

    def of_all(self, influences: Float[np.ndarray, " v"]) -> Float[np.ndarray, " n"]:
        """Return the influences of verified rows among those of all rows."""
        found = np.zeros(len(self.rows.is_verified))
        found[self.rows.is_verified] = influences
        return found

    def _of_units(self, part: Part) -> Part:
        return Part(part.value, np.bincount(self._unit, part.influences))

    def judged(self, verified: Part, on_all: Part, on_verified: Part, moments: Moments) -> Judged:
        """Return the combination of least variance.

        The verified part has the variance that ``moments`` say: they have the care for rare classes
        that strata of verified rows lack.
        """
        own, of_all, of_some = map(self._of_units, (verified, on_all, on_verified))
        found = judged(own, of_all, of_some, self.has_verified, self.stratum, self.n_labels)
        alike = self._units_in(~self.has_verified)
        plain = moments_of(verified.influences, alike).standard_error
        factor = max(moments.spread.scale / plain, 1.0) if plain > NO_VARIATION else 1.0
        difference = on_all.influences - on_verified.influences
        influences = factor * verified.influences + found.weight * difference
        return found._replace(influences=influences * found.inflation[self._unit])

    def facts(self, measure: Measure) -> CombinedFacts:
        """Return what verified rows and the judge say together."""
        return self.facts_of_parts(*self.parts(measure))

    def facts_of_parts(
        self, facts: FactsInMemory, on_all: Part, on_verified: Part
    ) -> CombinedFacts:
        """Return what the parts say together."""
        measure = facts.measure
        verified = Part(facts.value, self.of_all(facts.influences.influences))
        found = self.judged(verified, on_all, on_verified, facts.moments)
        n, n_verified = len(self.rows.is_verified), int(self.rows.is_verified.sum())
        of_strata = self.of_strata(found.influences)
        after = moments_of(found.influences, self.units).with_parts(of_strata).spread.scale
        alone = facts.moments
        if of_strata is not None:
            of_sizes = self.of_strata(verified.influences)
            alone = moments_of(verified.influences, self.units).with_parts(of_sizes)
        before = max(alone.spread.scale, moments_of(verified.influences, self.units).spread.scale)
        labels = JudgedLabels(
            lambda_=found.weight * (1 - n_verified / n),
            n_verified=n_verified,
            n_rows=n,
            effective_labels=n_verified * (before / after) ** 2 if after > 0 else n_verified,
            verified_value=facts.value,
            verified_error=alone.standard_error,
            judge_value=on_all.value,
        )
        rarest = int(self.predictions.class_counts[self.predictions.present].min())
        messages = (self.selection_message, few_verified_message(measure, rarest, labels))
        remarks = tuple(message for message in messages if message)
        influences = Influences(found.value, found.influences, of_strata)
        return combined(measure, self.predictions, self.units, influences, remarks, labels)

    @cached_property
    def selection_message(self) -> str | None:
        """Say so if rows seem not to have been verified at random."""
        if self.rows.drawn_unlike:
            return None
        predictions = self.rows.judge_on_all
        columns = {
            f"how often the judge says {predictions.labels[place]!r}": 1.0
            * (predictions.true == place)
            for place in predictions.present
        }
        if predictions.has_scores:
            columns["the largest score"] = predictions.scores.max(axis=1)
        n_rows = np.bincount(self._unit)
        means = {name: np.bincount(self._unit, x) / n_rows for name, x in columns.items()}
        return selection_message(self.has_verified, means)

    def estimates(
        self, measures: Sequence[Measure], methods: Sequence[IntervalMethod]
    ) -> list[Estimate]:
        """Estimate measures, each by its method."""
        found = []
        for measure, method in zip(measures, methods, strict=True):
            assert isinstance(method, CombinedJackknife)
            found.append(method.estimate(self.facts(measure)))
        warn([self.selection_message])
        return found

    @property
    def agreement(self) -> tuple[Any, Any]:
        """The verified labels, and the judge's labels of the same rows."""
        names = np.array(self.predictions.labels, object)
        return names[self.predictions.true], names[self.rows.judge_on_verified.true]

    def area(self, options: CurveOptions, level: float) -> Estimate | None:
        """Return nothing: ask for the measure."""
        return None


def _left_out[T: (Part, Influences)](bound: BoundMeasures, predictions: Predictions, found: T) -> T:
    """Return the influences of few rows as the changes of the value without each of them.

    A derivative does not show that a row changes what others contribute, as it does to average
    precision. Standard errors would be some per cent too small, which shows beside a judge.
    """
    n = predictions.n_observations
    if n**2 * predictions.n_classes > _MOST_WEIGHTS:
        return found
    weights = (1 - np.eye(n)) * predictions.sample_weight
    changes = found.value - np.ravel(bound.values_of_each(weights))
    influences = (n - 1) / n * changes  # as the derivatives of a mean
    return found._replace(influences=influences) if np.isfinite(influences).all() else found


def few_verified_message(measure: Measure, rarest: int, judge: JudgedLabels) -> str | None:
    """Say so if the few verified rows on which a good judge errs decide."""
    gain = judge.effective_labels / judge.n_verified
    if rarest >= _FEW_VERIFIED or gain < _GOOD_JUDGE:
        return None
    return (
        f"{rarest} rows of the rarest class are verified, and the interval of {measure.name} rests "
        "on the few on which the judge errs: it may cover five points less than it states. Verify "
        f"{_FEW_VERIFIED} rows of each class"
    )


def joint_estimates_with_judge(
    measure: Measure, named: Mapping[str, JudgedEvidence], hypothesis: Hypothesis
) -> JointEstimates:
    """Return values and paired differences, each with a weight of its own for the judge."""
    first = next(iter(named.values()))
    [method] = first.methods([measure])
    assert isinstance(method, CombinedJackknife)
    parts = {name: evidence.parts(measure) for name, evidence in named.items()}
    facts = {name: evidence.facts_of_parts(*parts[name]) for name, evidence in named.items()}
    moments, values = {}, {}
    for a, b in itertools.combinations(named, 2):
        (verified, all_a, some_a), (other, all_b, some_b) = parts[a], parts[b]
        phi = first.of_all(verified.influences.influences - other.influences.influences)
        [of_verified] = joint_facts({a: verified, b: other}).differences.values()
        difference = Part(verified.value - other.value, phi)
        found = first.judged(difference, _minus(all_a, all_b), _minus(some_a, some_b), of_verified)
        moments[a, b] = moments_of(found.influences, first.units).with_parts(
            first.of_strata(found.influences)
        )
        values[a, b] = found.value
    joint = joint_facts(facts)
    warn([first.selection_message])
    return method.paired_estimates(
        JointFacts(facts, moments, joint.covariance, values=values), hypothesis
    )


def _minus(a: Part, b: Part) -> Part:
    return Part(a.value - b.value, a.influences - b.influences)


Evidence = EvidenceInMemory | CountedEvidence
"""What a sample of one classifier says: both have the same members."""


def counted_sample(y_true: Any, others: Mapping[str, Any]) -> Scan | None:
    """Return the scan that the user hands in, if it is one; it has all others already."""
    if not isinstance(y_true, Scan):
        return None
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise TypeError(
            f"{', '.join(given)} cannot be given together with a scan: dmfroc.scan itself takes "
            "scores, predicted, sample_weight, groups and labels, the positive class second. All "
            "else needs rows in memory: pass arrays"
        )
    return y_true


def evidence_of(
    y_true: Any, y_score: Any, options: Options, *, needs: Needs, copy: bool = True, **given: Any
) -> Evidence:
    """Return the evidence in what the user hands in, see `as_predictions` and `take_judge`."""
    counted = counted_sample(y_true, {"y_score": y_score} | given)
    if counted is not None:
        return CountedEvidence(counted, options)
    if (judge := take_judge(given)) is not None:
        rows = judged_rows(y_true, y_score, needs=needs, **judge, **given)
        return JudgedEvidence(rows.verified, options, rows)
    population = take_population(given)
    predictions = as_predictions(y_true, y_score, needs=needs, copy=copy, by_fold=True, **given)
    return EvidenceInMemory(*in_population(predictions, options, **population))


def take_judge(given: dict[str, Any]) -> dict[str, Any] | None:
    """Take the judge, if there is one, out of what the user gave, and refuse what it excludes."""
    of_draw = {name: given.pop(name, None) for name in ("label_probability", "label_strata")}
    judge = {"judge": given.pop("judge", None)} | of_draw
    if judge["judge"] is None:
        for name, value in of_draw.items():
            if value is not None:
                raise TypeError(f"{name} goes with judge=: without one, all rows have labels")
        return None
    excluded = ("target_prevalence", "importance", "folds")
    refused = [name for name in excluded if given.pop(name, None) is not None]
    if refused:
        raise TypeError(f"{', '.join(refused)} cannot be given together with judge=: leave one out")
    return judge


def take_population(given: dict[str, Any]) -> dict[str, Any]:
    """Take folds and another population, None for what there is not, out of what the user gave."""
    return {name: given.pop(name, None) for name in ("folds", "target_prevalence", "importance")}


def choose_methods(
    measures: Sequence[Measure], predictions: Predictions, options: Options
) -> list[IntervalMethod]:
    """Return the method of each measure: the one that was asked for, or the measure's default.

    Raises
    ------
    ValueError
        If there is no such method, an option is out of its range, or an option was given that no
        measure's method uses.
    """
    name = options.method
    if name is not None:
        choice("method", name, METHODS)
    if options.target == "learner":
        if predictions.folds is None:
            raise ValueError("target='learner' needs folds=, whose values vary as fits do")
        if name is not None:
            raise ValueError(
                f"method={name!r} is about these fits; target='learner' has a method of its own; "
                "leave one out"
            )
    if predictions.folds is not None and name in _WITHOUT_FOLDS:
        raise ValueError(
            f"method={name!r} knows no folds: use 'jackknife', 'bootstrap' or 'bayesian_bootstrap'"
        )
    chosen: list[type[IntervalMethod]]
    if options.target == "learner":
        chosen = [CorrectedResampling] * len(measures)
    elif name == "bayes":
        from dmfroc.bayes.method import Bayes  # imports NumPyro, which takes seconds

        chosen = [Bayes] * len(measures)
    elif name is not None:
        chosen = [_CLASSES[name]] * len(measures)
    else:
        # The derivative alone accounts for the error of estimated weights, also where it has kinks.
        draws = predictions.scores.size <= _MANY_SCORES and options.weights is None
        with_kinks = Bootstrap if draws else Jackknife
        defaults = [measure.default_method for measure in measures]
        chosen = [with_kinks if x == "bootstrap" else Jackknife for x in defaults]
        if predictions.folds is None and predictions.n_classes > 2:
            chosen = [
                PaperBootstrap if measure.options.get("preset") == "paper" else method
                for measure, method in zip(measures, chosen, strict=True)
            ]
    for option in options.given:
        # What the method of one measure does not use, that of another may.
        if all(option in method.remedies for method in chosen):
            raise ValueError(
                f"{option} is no option of method={chosen[0].name!r}: {chosen[0].remedies[option]}"
            )
    with_options = {method: method.from_options(options) for method in dict.fromkeys(chosen)}
    return [with_options[method] for method in chosen]


def warned_estimates(evidence: Evidence, measures: Sequence[Measure]) -> list[Estimate]:
    """Estimate measures, and warn of what has to be known of the values."""
    methods = evidence.methods(measures)
    estimates = evidence.estimates(measures, methods)
    if not methods[0].warns_itself:  # the same method for all, or methods that do not
        values = {estimate.measure: estimate.value for estimate in estimates}
        below = below_chance_message(measures, [[estimate] for estimate in estimates])
        warn([*caveats(measures, evidence.predictions), undefined_message(values), below])
    return estimates


def below_chance_message(
    measures: Sequence[Measure], estimates: Sequence[Sequence[Estimate]]
) -> str | None:
    """Say which areas are below chance with their intervals, those of all classifiers.

    Every measure has the estimates of one or several classifiers.
    """
    below = [
        measure.name
        for measure, of_measure in zip(measures, estimates, strict=True)
        if measure.greater_is_better
        and measure.chance == _CHANCE_OF_AREAS
        and all(estimate.interval[1] < measure.chance for estimate in of_measure)
    ]
    if not below:
        return None
    return (
        f"{', '.join(below)} below chance with the whole interval: perhaps the scores are those of "
        "other classes, or smaller ones mean that the class is more likely; check labels= and the "
        "order of the score columns"
    )


def estimates_of(
    measures: Sequence[Measure], methods: Sequence[IntervalMethod], sample: Sample
) -> list[Estimate]:
    """Estimate measures, each by its method, side by side on all cores."""
    predictions = sample.predictions
    positions: list[int] = []
    tasks: list[Callable[[], list[Estimate]]] = []
    for method in dict.fromkeys(methods):
        places = [place for place, own in enumerate(methods) if own == method]
        own = [measures[place] for place in places]
        groups: list[tuple[list[int], Callable[[], BoundMeasures]]]
        groups = [([i], partial(bind, measure, predictions)) for i, measure in enumerate(own)]
        if method.binds_together:
            groups = bind_in_groups(own, predictions)
        for group, bind_group in groups:
            positions += [places[i] for i in group]
            tasks.append(partial(method.estimates, [own[i] for i in group], bind_group, sample))

    # NumPy and XLA's compiler leave the interpreter to others.
    estimates = itertools.chain(*parallel_map(operator.call, tasks))
    found = dict(zip(positions, estimates, strict=True))
    return [found[position] for position in range(len(measures))]
