"""The decision curve: what decisions by a classifier gain, at every threshold or cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dmfroc import FollowUp
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    Direction,
    FactsInMemory,
    Hypothesis,
    Interval,
    Options,
    PerThreshold,
    Result,
    Sample,
    Scaled,
    Table,
    best_of,
    contrast_of_limits,
    facts_in,
    function_of,
    labels_message,
    leads_at,
    no_probabilities,
    numbers,
    one_blas_thread,
    predictions_at,
    printable,
    ranges_above_zero,
    ranges_text,
    refuse,
    simultaneous_ends,
    spread,
    stated,
)
from dmfroc.measures import expected_utility, net_benefit
from dmfroc.results import ResultsByName

_THRESHOLDS, _N_PRINTED = np.arange(1, 100) / 100, 20
_FEWEST_OF_RANGE = 9  # thresholds that stand for those between them
_GREATER = Hypothesis("greater")


class Bands(NamedTuple):
    """Values with their standard errors, and the ends of two bands of the same level.

    Attributes
    ----------
    value, standard_error : numpy.ndarray of shape (t,)
        At each threshold.
    low, high : numpy.ndarray of shape (t,)
        Ends of the intervals, each by itself.
    simultaneous_low, simultaneous_high : numpy.ndarray of shape (t,)
        Ends of a band around all values at once.
    probability_positive : numpy.ndarray of shape (t,)
        How certain it is that the value is above 0: 1 minus the one-sided p-value.
    """

    value: PerThreshold
    standard_error: PerThreshold
    low: PerThreshold
    high: PerThreshold
    simultaneous_low: PerThreshold
    simultaneous_high: PerThreshold
    probability_positive: PerThreshold


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit or expected utility at every threshold, and beyond the better baseline.

    Attributes
    ----------
    label : hashable
        The class that is treated; None for costs of all classes.
    thresholds : numpy.ndarray of shape (t,)
        Threshold probabilities, or what the costs depend on.
    direction : {">=", "<="}
        ``"<="`` for probabilities of the other class: the class is treated if they are at most the
        threshold, which stands for a threshold probability of 1 minus it.
    benefit : Bands
        Net benefit (expected utility) of the classifier.
    baselines : dict of str to numpy.ndarray of shape (t,)
        That of treating all and of treating none, or of every constant decision.
    difference : Bands
        The classifier's value less that of the better baseline, on the same observations. Its ends
        are the least of those over all baselines that may be the better one, as is the certainty.
    level : float
        Nominal coverage of the bands.
    warnings : tuple of str
        What a careful reader has to know.
    design : dict of str to object
        What of the design changes the meaning of the values.
    """

    drawn_by = "dmfroc.applications.decision_display"
    main_table = "thresholds"
    json_names = ("level", "direction")

    label: Hashable
    thresholds: PerThreshold
    benefit: Bands
    baselines: dict[str, PerThreshold]
    difference: Bands
    level: float
    warnings: tuple[str, ...] = ()
    direction: Direction = ">="
    design: Mapping[str, Any] = field(default_factory=dict)

    def better_range(self, *, simultaneous: bool = True) -> list[tuple[float, float]]:
        """Return the ranges of thresholds at which the classifier is better than both baselines.

        Parameters
        ----------
        simultaneous : bool
            Whether the band of the differences is above 0 there, so that all ranges hold at once
            with the level of the band; otherwise the intervals of single thresholds are.

        Returns
        -------
        list of tuple of float
            The first and the last threshold of each range.
        """
        low = self.difference.simultaneous_low if simultaneous else self.difference.low
        return ranges_above_zero(self.thresholds, low)

    def better_text(self) -> str:
        """Return the ranges in which the classifier is better than both baselines, in words.

        Of few thresholds it names each: nothing is known of those between them.
        """
        found = self.better_range()
        if len(self.thresholds) < _FEWEST_OF_RANGE:
            found = [(t, t) for t in self.thresholds.tolist() for a, b in found if a <= t <= b]
        return ranges_text(found)

    def tables(self) -> list[Table]:
        """Return the values at all thresholds, one row each."""
        value, more = self.benefit, self.difference
        title = "expected utility" if self.label is None else "net benefit"
        columns = [
            Column("threshold", "threshold", self.thresholds),
            Column("value", title, value.value),
            Column("standard_error", "", value.standard_error),
            Column("low", "low", value.low),
            Column("high", "high", value.high),
            Column("difference", "lead", more.value),
            Column("difference_error", "", more.standard_error),
            Column("difference_low", "low of lead", more.simultaneous_low),
            Column("difference_high", "high of lead", more.simultaneous_high),
            Column("probability_better", "", more.probability_positive, "probability"),
            *(Column(name, name, values) for name, values in self.baselines.items()),
        ]
        rows = spread(range(len(self.thresholds)), _N_PRINTED)
        return [Table("thresholds", "Decision curve", columns, n_printed=_N_PRINTED, order=rows)]

    def head(self) -> list[str]:
        """Return which rows are treated if small scores speak for the class."""
        rule = "is treated if the score is at most the threshold, 1 minus its threshold probability"
        return [f"Class {printable(self.label)} {rule}."] * (self.direction == "<=")

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return "At which thresholds is it of use to decide by the score?"

    def verdict_text(self) -> list[str]:
        """Return at which thresholds deciding by the score is shown to be of use."""
        if not (ranges := self.better_text()):
            return [
                "The data show no threshold at which deciding by the score is better than "
                "treating everybody and than treating nobody."
            ]
        return [
            f"At thresholds {ranges}, deciding by the score is better than treating everybody "
            f"and than treating nobody ({100 * self.level:g} %, all at once)."
        ]

    def foot(self) -> list[str]:
        """Return where the classifier is better, and how certain that is."""
        ranges = self.better_text()
        percent = f"{100 * self.level:g} %"
        limits = (
            f"Low and high are {percent} limits at each threshold by itself; those of the lead "
            "over the better baseline hold at all thresholds at once."
        )
        claim = (
            f"Better than the better baseline at thresholds {ranges}"
            if ranges
            else "At no threshold is the classifier shown to be better than both"
        )
        return [limits, f"{claim} (all at once, {percent})."]


@one_blas_thread()
def decision_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    thresholds: Any = None,
    prevalence: float | None = None,
    costs: Callable[[float], Any] | None = None,
    labels: Any = None,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    pos_label: Any = None,
    direction: Direction | None = None,
    groups: Any = None,
    stratify: bool | None = None,
    level: float = DEFAULT_LEVEL,
    follow_up: FollowUp[float] | None = None,
) -> DecisionCurve | ResultsByName[DecisionCurve]:
    """Return the decision curve of a classifier, with bands and its lead over the baselines.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities of the classes.
    thresholds : array-like of shape (t,), optional
        Threshold probabilities between 0 and 1; by default .01 to .99. With ``direction="<="``
        those of the given scores, which are 1 minus the probability of the class.
    prevalence : float, optional
        Of the treated class where the classifier will be used, as for
        `dmfroc.measures.net_benefit`.
    costs : callable, optional
        For any number of classes: takes a threshold and returns a cost matrix as
        `dmfroc.measures.expected_utility` does. The curve is then that of the expected utility, and
        the baselines are all constant decisions.
    labels, sample_weight, frequency_weight
        As for `Predictions.from_arrays`.
    pos_label : hashable, optional
        The class to treat, by default the second of two.
    direction : {">=", "<="}, optional
        Of a one-dimensional score: ``"<="`` if it is the probability of the other class.
    groups, stratify, level
        As for `dmfroc.estimate`.
    follow_up : FollowUp, optional
        As for `dmfroc.estimate`, with one horizon.

    Returns
    -------
    DecisionCurve or ResultsByName
        Draws with ``plot()``. With more than two classes and neither ``pos_label`` nor ``costs``, a
        dict with the curve of each class against the rest.

    Raises
    ------
    TypeError, ValueError
        If the scores are no probabilities, or an option is out of its range.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis: a novel method for evaluating prediction
    models; Vickers, Cronin, Elkin and Gonen (2008), Extensions to decision curve analysis, on
    intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, size=500)
    >>> y = (rng.random(500) < p).astype(int)
    >>> curve = decision_curve(y, p, thresholds=[0.1, 0.3, 0.5])
    >>> curve.benefit.value.round(3)
    array([0.219, 0.11 , 0.032])
    """
    given = {"labels": labels, "sample_weight": sample_weight, "frequency_weight": frequency_weight}
    given |= {"pos_label": pos_label, "direction": direction, "needs": "probabilities"}
    given |= {"by_fold": True}
    predictions, weights = predictions_at(y_true, y_score, follow_up, given)
    options = Options(groups=groups, stratify=stratify, level=level, weights=weights)
    refuse("decision_curve", no_probabilities(predictions))
    predictions = predictions.warned(labels_message(predictions))
    at = _THRESHOLDS if thresholds is None else numbers("thresholds", thresholds)
    if at.ndim != 1 or not len(at) or (np.diff(at) <= 0).any():
        raise ValueError("thresholds must be one or more numbers in rising order")
    if costs is not None:
        if prevalence is not None or pos_label is not None:
            raise ValueError("costs are those of all classes: leave prevalence and pos_label out")
        function_of("costs", costs, "of a threshold", 0.5)
        predictions = predictions.as_given
        design = {**stated(predictions, options).design, "costs": "as given"}
        sample = options.sample_of(predictions)
        points = [_point_of_costs(sample, costs(float(t))) for t in at]
        return _curve(points, at, None, options, warnings=predictions.remarks, design=design)
    if not ((at > 0) & (at < 1)).all():
        raise ValueError(f"thresholds must be probabilities between 0 and 1, but they are {at}")
    of_prevalence = {} if prevalence is None else {"prevalence": prevalence}
    design = {**stated(predictions, options).design, **of_prevalence}
    known: dict[str, Any] = {"warnings": predictions.remarks, "design": design}
    classes: list[Any] = [pos_label]
    if pos_label is None:
        classes = [predictions.labels[1]] if predictions.n_classes == 2 else [*predictions.labels]
    curves: dict[Hashable, DecisionCurve] = {}
    side = predictions.direction or ">="
    risks = at if side == ">=" else 1 - at.astype(predictions.scores.dtype)
    for label in classes:
        against_rest = predictions.with_positive_class(label) if len(classes) > 1 else predictions
        first = net_benefit(float(risks[0]), prevalence, label)
        refuse(first.name, first.obstacle(against_rest))
        sample = options.sample_of(against_rest)
        points = [_point_at(sample, float(t), prevalence, label) for t in risks]
        curves[label] = _curve(points, at, label, options, direction=side, **known)
    return ResultsByName(curves) if len(classes) > 1 else curves[classes[0]]


class _Point(NamedTuple):
    """What the sample says at one threshold: the value, and its leads over the best baselines."""

    benefit: FactsInMemory
    leads: list[Scaled]
    baselines: dict[str, float]


def _point_at(sample: Sample, t: float, prevalence: float | None, label: Hashable) -> _Point:
    leads, of_all = leads_at(sample, t, prevalence, label)
    measure = net_benefit(t, prevalence, label)
    known = (x for x, _ in leads if x.measure.name == measure.name)
    benefit = next(known, None) or facts_in(sample, measure)
    return _Point(benefit, leads, {"treat all": of_all, "treat none": 0.0})


def _point_of_costs(sample: Sample, cost_matrix: Any) -> _Point:
    measure, predictions = expected_utility(cost_matrix), sample.predictions
    refuse(measure.name, measure.obstacle(predictions))
    costs = np.asarray(cost_matrix, float)
    constant, places = best_of(sample, -costs[predictions.true])
    # Costs beyond those of one decision lead to the same decisions, and their mean is the lead.
    leads = [(facts_in(sample, expected_utility(costs - costs[:, [x]])), 1.0) for x in places]
    k = len(constant)
    names = predictions.labels if k == predictions.n_classes else range(k)
    baselines = {f"always {name}": float(x) for name, x in zip(names, constant, strict=True)}
    return _Point(facts_in(sample, measure), leads, baselines)


def _curve(
    points: list[_Point], thresholds: PerThreshold, label: Hashable, options: Options, **known: Any
) -> DecisionCurve:
    @cache  # a classifier that is better than to treat nobody leads by its benefit
    def by_itself(facts: FactsInMemory) -> tuple[Interval, float]:
        tail = contrast_of_limits(facts.limits, facts.moments, _GREATER).tail
        positive = 1 - _GREATER.p_value_of_tail(facts.value, tail)
        return facts.interval_at(1 - options.level), positive

    benefit = _bands([[(point.benefit, 1.0)] for point in points], by_itself, options.level)
    difference = _bands([point.leads for point in points], by_itself, options.level)
    baselines = {
        name: np.array([point.baselines[name] for point in points]) for name in points[0].baselines
    }
    return DecisionCurve(label, thresholds, benefit, baselines, difference, options.level, **known)


def _bands(
    scaled: list[list[Scaled]],
    by_itself: Callable[[FactsInMemory], tuple[Interval, float]],
    level: float,
) -> Bands:
    """Return the bands of the least of some multiples of values, at each threshold.

    ``by_itself`` returns the interval of a value, and how certain it is that the value is above 0.
    """
    least = [min(at, key=lambda x: x[1] * x[0].value) for at in scaled]
    known = [[(*by_itself(x), factor) for x, factor in at] for at in scaled]
    return Bands(
        np.array([factor * x.value for x, factor in least]),
        np.array([factor * x.moments.standard_error for x, factor in least]),
        np.array([min(factor * ends.low for ends, _, factor in at) for at in known]),
        np.array([min(factor * ends.high for ends, _, factor in at) for at in known]),
        *simultaneous_ends(scaled, level),
        np.array([min(positive for _, positive, _ in at) for at in known]),
    )
