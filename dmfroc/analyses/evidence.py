"""Evidence of one classifier, made from what the user hands in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from dmfroc._kit.remarks import warn
from dmfroc._kit.threads import parallel_map
from dmfroc.analyses.judged import JudgedEvidence, judged_evidence
from dmfroc.analyses.methods import choose_methods
from dmfroc.analyses.population import in_population
from dmfroc.counted.estimates import CountedEvidence
from dmfroc.counted.scan import Scan
from dmfroc.inference.band import BandKind, CurveBand, band_around
from dmfroc.inference.interval_method import IntervalMethod
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.options import Options
from dmfroc.inference.units import Sample
from dmfroc.inputs.predictions import Needs, Predictions, as_predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind, bind_in_groups, caveats, undefined_message
from dmfroc.multiclass.curve import MulticlassROC, curve_of
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import Estimate

_CHANCE_OF_AREAS = 0.5


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
        return choose_methods(self.options.method, measures, self.predictions, self.options)

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


Evidence = EvidenceInMemory | CountedEvidence | JudgedEvidence
"""What a sample of one classifier says: all have the same members."""


def counted_sample(y_true: Any, others: Mapping[str, Any]) -> Scan | None:
    """Return the scan that the user hands in, if it is one; it has all others already."""
    if not isinstance(y_true, Scan):
        return None
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise TypeError(
            f"{', '.join(given)} cannot be given together with a scan, which has its own: name the "
            "columns in dmfroc.scan"
        )
    return y_true


def evidence_of(
    y_true: Any,
    y_score: Any,
    options: Options,
    *,
    needs: Needs,
    copy: bool = True,
    folds: Any = None,
    judge: Any = None,
    label_probability: Any = None,
    label_strata: Any = None,
    target_prevalence: Any = None,
    importance: Any = None,
    **others: Any,
) -> Evidence:
    """Return the evidence in what the user hands in, see `as_predictions`."""
    population = {"target_prevalence": target_prevalence, "importance": importance}
    of_draw = {"label_probability": label_probability, "label_strata": label_strata}
    of_judge = {"judge": judge} | of_draw
    given = {"y_score": y_score, "folds": folds} | others | population | of_judge
    counted = counted_sample(y_true, given)
    if counted is not None:
        return CountedEvidence(counted, options)
    check_judge(judge, of_draw, population | {"folds": folds})
    if judge is not None:
        return judged_evidence(y_true, y_score, options, **of_judge, needs=needs, **others)
    predictions = as_predictions(y_true, y_score, needs=needs, copy=copy, **others)
    predictions, options = in_population(predictions, options, **population)
    return EvidenceInMemory(predictions if folds is None else predictions.in_folds(folds), options)


def check_judge(judge: Any, of_draw: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse options that do not go with a judge, or that need one."""
    for name, value in of_draw.items():
        if judge is None and value is not None:
            raise TypeError(f"{name} goes with judge=: without one, all rows have labels")
    refused = [name for name, value in others.items() if value is not None]
    if judge is not None and refused:
        raise TypeError(f"{', '.join(refused)} cannot be given together with judge=: leave one out")


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
    by_method: dict[IntervalMethod, list[int]] = {}
    for position, method in enumerate(methods):
        by_method.setdefault(method, []).append(position)
    tasks = [
        (method, [positions[index] for index in group], bind)
        for method, positions in by_method.items()
        for group, bind in _groups([measures[p] for p in positions], method, sample.predictions)
    ]

    def run(task: tuple[IntervalMethod, list[int], Callable[[], BoundMeasures]]) -> list[Estimate]:
        method, positions, bind = task
        return method.estimates([measures[p] for p in positions], bind, sample)

    # NumPy and XLA's compiler leave the interpreter to others.
    found: dict[int, Estimate] = {}
    for (_, positions, _), estimates in zip(tasks, parallel_map(run, tasks), strict=True):
        found |= zip(positions, estimates, strict=True)
    return [found[position] for position in range(len(measures))]


def _groups(
    measures: Sequence[Measure], method: IntervalMethod, predictions: Predictions
) -> list[tuple[list[int], Callable[[], BoundMeasures]]]:
    if method.binds_together:
        return bind_in_groups(measures, predictions)
    return [
        ([index], partial(bind, measure, predictions)) for index, measure in enumerate(measures)
    ]
