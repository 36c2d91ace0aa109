"""Evidence of one classifier, made from what the user hands in."""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import Covariance, IntPerRow
from dmfroc._kit.options import choice
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.threads import one_blas_thread, parallel
from dmfroc.analyses.population import in_population
from dmfroc.counted.estimates import CountedEvidence
from dmfroc.counted.scan import Scan
from dmfroc.inference.bootstrap import BayesianBootstrap, Bootstrap
from dmfroc.inference.combined import combined, joint_combined
from dmfroc.inference.corrected_resampling import CorrectedResampling
from dmfroc.inference.evidence import (
    FactsInMemory,
    PartOf,
    common_sums,
    facts_from,
    facts_in,
    in_sample,
    joint_covariance,
)
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import Influences, Moments, PartInfluences, moments_of
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.judge import judged, selection_message
from dmfroc.inference.limits import (
    Limits,
    Part,
    limits_of_difference,
    limits_of_sum,
    with_linear,
)
from dmfroc.inference.method import IntervalMethod, JointEstimates, check_comparable, check_finite
from dmfroc.inference.options import Options, stated
from dmfroc.inference.tilt import PerUnit
from dmfroc.inference.units import Sample, Units, centred_in, group_names, kish_sizes, sample_of
from dmfroc.inference.unseen import NOBODY
from dmfroc.inputs.arguments import Needs, as_predictions
from dmfroc.inputs.judge import JudgedRows, judged_rows
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import WorseThanChance
from dmfroc.measures.measure import Measure, bind, bind_in_groups
from dmfroc.multiclass.band import BandKind, CurveBand, band_around
from dmfroc.multiclass.curve import MulticlassROC, curve_of
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.papers.paper_bootstrap import PaperBootstrap
from dmfroc.results.estimate import Estimate, JudgedLabels, remarked

METHODS: dict[str, type[IntervalMethod]] = {
    method.name: method for method in (Jackknife, Bootstrap, BayesianBootstrap, PaperBootstrap)
}
_NAMES = (*METHODS, "bayes")  # which imports NumPyro
_WITHOUT_FOLDS = ("paper_bootstrap", "bayes")
_OF_SCANS = ("groups", "stratify", "method")  # options that are refused in their own words, or used
# Scores beyond which measures with kinks use the derivative, which exists almost everywhere: a
# bootstrap of them would take minutes.
_MANY_SCORES = 100_000
_CHANCE_OF_AREAS = 0.5
_FEW_VERIFIED = 100  # of a class; with fewer, beside a good judge, 87 to 93 % are covered
_MOST_WEIGHTS = 5_000_000  # of rows, one of them left out in turn, times classes
_GOOD_JUDGE = 1.5  # times the verified labels are the effective ones


@dataclass(frozen=True, eq=False)
class _RowsInMemory(ABC):
    """What all evidence in memory has."""

    predictions: Predictions
    options: Options

    @property
    @abstractmethod
    def sample(self) -> Sample:
        """The observations that count, and which of them are independent."""

    def possible(self, measures: list[Measure]) -> list[Measure]:
        """Return all measures."""
        return measures

    def curve(self, options: CurveOptions) -> MulticlassROC:
        """Return the multiclass ROC curve."""
        return curve_of(self.predictions, options)

    def band(
        self, curve: MulticlassROC, options: CurveOptions, level: float, kind: BandKind
    ) -> CurveBand:
        """Return the band of a curve."""
        return band_around(curve, self.sample, level, options, kind)


@dataclass(frozen=True, eq=False)
class EvidenceInMemory(_RowsInMemory):
    """Observations in memory, with or without folds."""

    agreement: ClassVar[None] = None

    @cached_property
    def sample(self) -> Sample:
        """The observations that count, and which of them are independent."""
        return self.options.sample_of(self.predictions)

    def methods(self, measures: Sequence[Measure]) -> list[IntervalMethod]:
        """Return the method of each measure."""
        return choose_methods(measures, self.predictions, self.options)

    def estimates(
        self, measures: Sequence[Measure], methods: Sequence[IntervalMethod]
    ) -> list[Estimate]:
        """Estimate measures, each by its method."""
        return estimates_of(measures, methods, self.sample)

    def area(self, options: CurveOptions, level: float) -> Estimate | None:
        """Return the area under the curve with the jackknife's interval."""
        [area] = estimates_of([dmf_auc(options.pair_weights)], [Jackknife().at(level)], self.sample)
        return replace(area, design=self.predictions.design)

    def covariance(self, measures: Sequence[Measure]) -> Covariance:
        """Return the covariance of the values of measures."""
        facts = [facts_in(self.sample, m, allows_for_parts=True) for m in measures]
        return joint_covariance(*common_sums([(x.influences, x.units) for x in facts]))


@dataclass(frozen=True, eq=False)
class JudgedEvidence(_RowsInMemory):
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
        groups, given = self.options.groups, self.rows.given
        return None if groups is None else group_names(groups, given)[given.sample_weight > 0]

    @cached_property
    def _unit(self) -> IntPerRow:
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
            raise ValueError("groups has rows of several strata: a group must be in one")
        return pairs[1]

    @cached_property
    def n_labels(self) -> Float[np.ndarray, " s"]:
        """Effective number of verified units in each stratum."""
        return kish_sizes(self.stratum, self._sums(self.predictions.sample_weight))

    @property
    def jackknife(self) -> Jackknife:
        """The one method that there is."""
        return Jackknife().at(self.options.level, self.options.seed)

    def methods(self, measures: Sequence[Measure]) -> list[IntervalMethod]:
        """Return the jackknife for each measure."""
        return [self.jackknife] * len(measures)

    def parts(self, measure: Measure) -> list[FactsInMemory]:
        """Return what verified rows say, and the judge's labels of all and of verified rows.

        If these do not define the measure, or lack a class, there are the verified rows alone. A
        number of rows among the options is the same share of all rows.
        """
        rows, names, shared = self.rows, self._groups, measure.in_sample(self.predictions)
        some = None if names is None else names[rows.is_verified]
        with collected_remarks():
            facts = [_facts_of_few(measure, self.sample)]
            of_all, classes = (set(x.present) for x in (rows.judge_on_all, rows.judge_on_verified))
            is_of_rows = measure.adds_rows or measure.name == "accuracy"
            if is_of_rows or (of_all == classes and len(classes) > 1):
                with suppress(ValueError):
                    on_all = facts_in(sample_of(rows.judge_on_all, names), shared)
                    on_verified = _facts_of_few(shared, sample_of(rows.judge_on_verified, some))
                    facts += [on_all, on_verified]
        return facts if np.isfinite([x.value for x in facts]).all() else facts[:1]

    def units(self, verified: Units) -> Units:
        """Return the verified units, in the strata within which they were drawn if there are."""
        verified = replace(verified, unit_of_row=np.arange(len(verified.stratum)))
        if len(self.n_labels) == 1:
            return verified
        cell, n_means = self.stratum[self.has_verified], np.array(self.n_labels.shape)
        return replace(verified.in_one_stratum, cell=cell, n_means=n_means)

    def weigh(self, parts: Sequence[Influences]) -> float:
        """Return the judge's weight in the combination of least variance, 0 if there is none."""
        if len(parts) < 3:
            return 0.0
        own, on_all, on_verified = (Influences(x.value, self._sums(x.influences)) for x in parts)
        units = self.has_verified, self.stratum, self.n_labels
        return judged(own, on_all, on_verified, *units).weight

    def _sums(self, of_rows: Float[np.ndarray, " rows"]) -> PerUnit:
        """Add up the numbers of each unit's rows, all of them or the verified ones."""
        is_of_all = len(of_rows) == len(self._unit)
        unit = self._unit if is_of_all else self._unit[self.rows.is_verified]
        return np.bincount(unit, of_rows, len(self.has_verified))

    def gather(
        self, weight: float, units: Units, values: Sequence[Influences]
    ) -> tuple[Influences, Moments]:
        """Put together the value of verified rows and, by its weight, what the judge adds.

        The other units are independent of the verified ones, and vary within their strata. What
        differs between strata varies with their random sizes.
        """
        verified, *of_judge = values
        value, sums, phi = verified.value, np.zeros(len(self.stratum)), verified.influences
        if of_judge:
            on_all, on_verified = of_judge
            value += weight * (on_all.value - on_verified.value)
            phi = phi - weight * on_verified.influences
            sums = weight * self._sums(on_all.influences)
        sums[self.has_verified] += self.sample.units.sums(phi)
        others = ~self.has_verified
        of_rest, _ = centred_in(self.stratum[others], sums[others])
        _, of_strata = centred_in(self.stratum, sums)
        parts = np.concatenate([of_rest, of_strata - of_strata.mean()])
        whole = Influences(value, sums[self.has_verified], PartInfluences(parts, math.inf))
        return whole, moments_of(whole.influences, units).with_parts(whole.parts)

    def facts(self, measure: Measure) -> FactsInMemory:
        """Return what verified rows and the judge say together."""
        verified, *of_judge = parts = self.parts(measure)
        units = self.units(verified.units)
        influences = [x.influences for x in parts]
        weight = self.weigh(influences)
        alone = self.gather(0.0, units, influences[:1])[1]
        both = self.gather(weight, units, influences)[1]
        n, n_verified = len(self.rows.is_verified), int(self.rows.is_verified.sum())
        gain = alone.standard_error / both.standard_error if both.standard_error > 0 else 1.0
        labels = JudgedLabels(
            lambda_=weight * (1 - n_verified / n),
            n_verified=n_verified,
            n_rows=n,
            effective_labels=n_verified * gain**2,
            verified_value=verified.value,
            verified_error=(verified.moments if len(self.n_labels) == 1 else alone).standard_error,
            judge_value=of_judge[0].value if of_judge else math.nan,
        )
        rarest = int(self.predictions.class_counts[self.predictions.present].min())
        remarks = [self.selection_message, few_verified_message(measure, rarest, labels)]
        if not of_judge:
            remarks.append(
                f"the judge's labels of the verified rows lack a class, or leave {measure.name} "
                "undefined: its weight is 0, and the value is that of the verified rows"
            )
        elif weight == 0 and n_verified < n:
            remarks.append(
                "the judge's labels follow from these scores, and do not "
                "show where these err: its weight is 0, and the value is that of the verified rows"
            )
        coefficients = zip(of_judge, (weight, -weight), strict=False)
        terms = [PartOf(verified, 1.0), *(PartOf(*x, is_own=False) for x in coefficients)]
        gather, kept = partial(self.gather, weight, units), tuple(filter(None, remarks))
        return combined(terms, units, gather, partial(self.limits, terms), kept, labels)

    def limits(
        self, terms: Sequence[PartOf], whole: Influences, bounds: tuple[float, float]
    ) -> Limits:
        """Return the limits of the value: the unseen unit is a verified one where the judge errs.

        Verified units and others are strata of their own, within those in which rows were drawn.
        """
        order = np.argsort(~self.has_verified, kind="stable")  # verified ones first
        stratum = (self.stratum + len(self.n_labels) * ~self.has_verified)[order]
        stratum = np.unique(stratum, return_inverse=True)[1]
        own = [t.facts.limits for t in terms]
        if len(own) < 3:
            return replace(own[0], bounds=bounds)
        weight = terms[1].coefficient
        paired = limits_of_difference(own[0], own[2], whole.value, math.inf, 1.0, weight)
        parts = [
            Part(1.0, paired, np.arange(self.has_verified.sum())),
            Part(weight, replace(own[1], unseen=NOBODY), np.argsort(order)),
        ]
        found = limits_of_sum(parts, whole.value, bounds, stratum)
        if len(self.n_labels) > 1:  # what differs between strata varies with their random sizes
            between = np.bincount(self.stratum[order], found.influences) / np.bincount(self.stratum)
            between = between[self.stratum[order]]
            found = with_linear(found, between - between.mean())
        return replace(found, error_share=paired.error_share)

    @cached_property
    def selection_message(self) -> str | None:
        """Say so if rows seem not to have been verified at random."""
        if self.options.judge.is_drawn_unlike:
            return None
        predictions = self.rows.judge_on_all
        columns = {
            f"how often the judge says {predictions.labels[place]!r}": predictions.true == place
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
        """Estimate measures."""
        result = [self.jackknife.estimate(self.facts(measure)) for measure in measures]
        warn([self.selection_message])
        return result

    @property
    def agreement(self) -> tuple[Any, Any]:
        """The verified labels, and the judge's labels of the same rows."""
        names = np.array(self.predictions.labels, object)
        return names[self.predictions.true], names[self.rows.judge_on_verified.true]

    def area(self, options: CurveOptions, level: float) -> Estimate | None:
        """Return nothing: ask for the measure."""
        return None

    def covariance(self, measures: Sequence[Measure]) -> Covariance:
        """Return NaN: it is not known."""
        return np.full((len(measures),) * 2, np.nan)


def _facts_of_few(measure: Measure, sample: Sample) -> FactsInMemory:
    """Return what few rows say, with influences that are changes of the value without each row.

    A derivative does not show that a row changes what others contribute, as it does to average
    precision. Standard errors would be some per cent too small, which shows beside a judge.
    """
    [known] = in_sample([measure], sample)
    predictions, whole, n = sample.predictions, known.influences, len(sample.predictions.true)
    is_small = n**2 * predictions.n_classes <= _MOST_WEIGHTS
    if is_small and measure.family != "operating points":  # which jump from one row to the next
        weights = (1 - np.eye(n)) * predictions.sample_weight
        changes = whole.value - np.ravel(bind(measure, predictions).values_of_each(weights))
        influences = (n - 1) / n * changes  # as the derivatives of a mean
        if np.isfinite(influences).all():
            known = known._replace(influences=whole._replace(influences=influences))
    return facts_from(known, can_redraw=False)


def few_verified_message(measure: Measure, rarest: int, judge: JudgedLabels) -> str | None:
    """Say so if the few verified rows on which a good judge errs decide."""
    gain = judge.effective_labels / judge.n_verified
    if rarest >= _FEW_VERIFIED or gain < _GOOD_JUDGE:
        return None
    return (
        f"verify {_FEW_VERIFIED} rows of each class: the interval of {measure.name} may cover five "
        f"points less than it states. Of the rarest class {rarest} are verified, and it rests on "
        "the few on which the judge errs"
    )


def joint_estimates_with_judge(
    named: Mapping[str, JudgedEvidence], measure: Measure, hypothesis: Hypothesis
) -> JointEstimates:
    """Return values and paired differences, each with a weight of its own for the judge."""
    first = next(iter(named.values()))
    of_each = {name: x.predictions for name, x in named.items()}
    check_comparable(measure, of_each)
    facts = {name: evidence.facts(measure) for name, evidence in named.items()}
    check_finite(measure, {name: x.value for name, x in facts.items()}, of_each)
    units = max((f.units for f in facts.values()), key=lambda x: len(x.sizes))
    joint = joint_combined(
        facts, lambda influences: partial(first.gather, first.weigh(influences), units)
    )
    warn([first.selection_message])
    return first.jackknife.paired_estimates(joint, hypothesis)


Evidence = EvidenceInMemory | JudgedEvidence | CountedEvidence
"""What a sample of one classifier says: all have the same members."""


def counted_sample(
    y_true: Any, y_score: Any, given: Mapping[str, Any], options: Options
) -> Scan | None:
    """Return the scan that the user hands in, if it is one; it has all others already."""
    if not isinstance(y_true, Scan):
        return None
    names = [name for name, x in [("y_score", y_score), *given.items()] if x is not None]
    if names := names + [x for x in options.given if x not in _OF_SCANS]:
        raise TypeError(
            f"{', '.join(names)} cannot be given together with a scan: dmfroc.scan itself takes "
            "scores, predicted, sample_weight, groups and labels, the positive class second. All "
            "else needs rows in memory: pass arrays"
        )
    return y_true


def evidence_of(
    y_true: Any,
    y_score: Any,
    options: Options,
    given: Mapping[str, Any],
    *,
    needs: Needs,
    copy: bool = True,
) -> Evidence:
    """Return the evidence in what the user hands in, see `as_predictions`."""
    check_one_horizon(options)
    given, ended = dict(given), None
    counted = counted_sample(y_true, y_score, given, options)
    if counted is not None:
        return CountedEvidence(counted, options)
    if options.judge is not None:
        check_with_judge(options)
        rows = judged_rows(y_true, y_score, options.judge, needs=needs, **given)
        return JudgedEvidence(stated(rows.verified, options, rows.given), options, rows)
    if options.follow_up is not None:
        y_true, y_score, ended = options.follow_up.classes_of_events(y_true, y_score, given)
    predictions = as_predictions(y_true, y_score, needs=needs, copy=copy, by_fold=True, **given)
    predictions, options = in_population(stated(predictions, options), options, ended)
    return EvidenceInMemory(predictions, options)


def check_one_horizon(options: Options) -> None:
    """Refuse several horizons, which callers take one at a time."""
    if options.at_horizons:
        raise ValueError(
            "follow_up must have one horizon here: call this for each horizon, see "
            "Options.at_horizons"
        )


def check_with_judge(options: Options) -> None:
    """Refuse what a judge excludes."""
    allowed = ("judge", "groups", "method" if options.method_name == Jackknife.name else "")
    if refused := [name for name in options.given if name not in allowed]:
        raise ValueError(
            f"{', '.join(refused)} cannot be given together with judge=, which has "
            "method='jackknife' alone and takes class sizes as random: leave one out"
        )


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
    if (name := options.method_name) is not None:
        choice("method", name, _NAMES)
    if predictions.folds is not None and name in _WITHOUT_FOLDS:
        raise ValueError(
            f"method={name!r} knows no folds: use 'jackknife', 'bootstrap' or 'bayesian_bootstrap'"
        )
    chosen: list[IntervalMethod]
    if options.is_of_learner:
        if predictions.folds is None:
            raise ValueError("target='learner' needs folds, whose values vary as fits do")
        if name is not None:
            raise ValueError(
                f"method={name!r} is about these fits; target='learner' has a method of its own; "
                "leave one out"
            )
        chosen = [CorrectedResampling(options.folds.train_fraction)] * len(measures)
    elif isinstance(options.method, IntervalMethod):
        chosen = [options.method] * len(measures)
    elif name == "bayes":
        from dmfroc.bayes.method import Bayes  # imports NumPyro, which takes seconds

        chosen = [Bayes()] * len(measures)
    elif name is not None:
        chosen = [METHODS[name]()] * len(measures)
    else:
        # The derivative alone accounts for the error of estimated weights, also where it has kinks.
        draws = predictions.scores.size <= _MANY_SCORES and options.weights is None
        with_kinks = Bootstrap() if draws else Jackknife()
        chosen = [with_kinks if x.default_method == "bootstrap" else Jackknife() for x in measures]
        if predictions.folds is None and predictions.n_classes > 2:
            chosen = [
                PaperBootstrap() if measure.options.get("preset") == "paper" else method
                for measure, method in zip(measures, chosen, strict=True)
            ]
    for option in options.given:
        # What the method of one measure does not use, that of another may.
        if all(option in method.remedies for method in chosen):
            raise ValueError(
                f"{option} is no option of method={chosen[0].name!r}: {chosen[0].remedies[option]}"
            )
    return [method.at(options.level, options.seed) for method in chosen]


def remarked_estimates(evidence: Evidence, measures: Sequence[Measure]) -> list[Estimate]:
    """Estimate measures, with the warnings of the inputs and all about the values."""
    methods, rows = evidence.methods(measures), evidence.predictions
    found = [
        remarked(e, rows, below_chance_message(measure, [e], [rows]))
        for measure, e in zip(measures, evidence.estimates(measures, methods), strict=True)
    ]
    # The same method for all, or methods that do not warn themselves
    return [replace(e, caveats=()) for e in found] if methods[0].warns_itself else found


def below_chance_message(
    measure: Measure, estimates: Iterable[Estimate], rows: Iterable[Predictions]
) -> str | None:
    """Say that an area is below chance with its interval, that of each classifier.

    Unless a doubt about the scores says so already.
    """
    if not (
        measure.greater_is_better
        and measure.chance == _CHANCE_OF_AREAS
        and all(e.interval[1] < measure.chance for e in estimates)
    ) or any(isinstance(x, WorseThanChance) for each in rows for x in each.remarks):
        return None
    return (
        "check labels=, direction= and the order of the score columns: "
        f"{measure.name} is below chance with the whole interval. Perhaps the scores are those of "
        "other classes, or small ones speak for the class. If rows were left out of the fits one "
        "by one, do not turn them"
    )


@one_blas_thread()
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
        for group, bind_group in bind_in_groups(own, predictions):
            positions += [places[i] for i in group]
            tasks.append(partial(method.estimates, [own[i] for i in group], bind_group, sample))

    # NumPy and XLA's compiler leave the interpreter to others
    n_numbers = predictions.n_observations * predictions.n_classes * len(tasks)
    estimates = list(itertools.chain(*parallel(operator.call, tasks, n_numbers)))
    return [estimates[place] for place in np.argsort(positions)]
