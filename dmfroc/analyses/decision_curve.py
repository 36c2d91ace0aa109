"""The decision curve: what decisions by a classifier gain, at every threshold or cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr, stdtrit

from dmfroc._kit.options import function_of, numbers
from dmfroc.inference.evidence import joint_covariance
from dmfroc.inference.influences import NO_VARIATION, moments_of_sums
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inference.simultaneous import largest_statistic
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions, as_predictions
from dmfroc.measures.benefits import (
    checked_costs,
    expected_utility,
    interventions_avoided,
    net_benefit,
)
from dmfroc.measures.measure import bind
from dmfroc.measures.statistics.forecasts import no_probabilities, single_class
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table

_THRESHOLDS = np.arange(1, 100) / 100
_SEED = 0
_FEWEST_OTHERWISE = 10  # decisions; fewer without an error do not show that errors are rare


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

    value: Float[np.ndarray, " t"]
    standard_error: Float[np.ndarray, " t"]
    low: Float[np.ndarray, " t"]
    high: Float[np.ndarray, " t"]
    simultaneous_low: Float[np.ndarray, " t"]
    simultaneous_high: Float[np.ndarray, " t"]
    probability_positive: Float[np.ndarray, " t"]


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit or expected utility at every threshold, and beyond the better baseline.

    Attributes
    ----------
    label : hashable
        The class that is treated; None for costs of all classes.
    thresholds : numpy.ndarray of shape (t,)
        Threshold probabilities, or what the costs depend on.
    benefit : Bands
        Net benefit (expected utility) of the classifier.
    baselines : dict of str to numpy.ndarray of shape (t,)
        That of treating all and of treating none, or of every constant decision.
    difference : Bands
        The classifier's value less that of the better baseline, on the same observations. Where
        fewer than 10 of these are decided otherwise than by the baseline, it is not above 0 for
        sure, whatever its standard error.
    level : float
        Nominal coverage of the bands.
    warnings : tuple of str
        What a careful reader has to know.
    """

    main_table: ClassVar[str] = "thresholds"
    fact_names: ClassVar[tuple[str, ...]] = ("level",)

    label: Hashable
    thresholds: Float[np.ndarray, " t"]
    benefit: Bands
    baselines: dict[str, Float[np.ndarray, " t"]]
    difference: Bands
    level: float
    warnings: tuple[str, ...] = ()

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
        edges = np.flatnonzero(np.diff(np.concatenate([[0], (low > 0).astype(int), [0]])))
        pairs = edges.reshape(-1, 2)
        return [(float(self.thresholds[a]), float(self.thresholds[b - 1])) for a, b in pairs]

    def better_text(self) -> str:
        """Return the ranges in which the classifier is better than both baselines, in words."""
        return ", ".join(
            f"{a:.3g}" if a == b else f"{a:.3g} to {b:.3g}" for a, b in self.better_range()
        )

    def tables(self) -> list[Table]:
        """Return the values at all thresholds, one row each."""
        value, more = self.benefit, self.difference
        columns = [
            Column("threshold", "threshold", self.thresholds.tolist()),
            Column("value", "value", value.value.tolist()),
            Column("standard_error", "std. error", value.standard_error.tolist()),
            Column("low", "low", value.low.tolist()),
            Column("high", "high", value.high.tolist()),
            *(Column(name, name, values.tolist()) for name, values in self.baselines.items()),
            Column("difference", "beyond the better", more.value.tolist()),
            Column("difference_error", "std. error", more.standard_error.tolist()),
            Column("difference_low", "low", more.simultaneous_low.tolist()),
            Column("difference_high", "high", more.simultaneous_high.tolist()),
            Column(
                "probability_better", "P(better)", more.probability_positive.tolist(), "probability"
            ),
        ]
        return [Table("thresholds", "Decision curve", columns)]

    def foot(self) -> list[str]:
        """Return where the classifier is better, and how certain that is."""
        ranges = self.better_text()
        sure = f"(all at once, {100 * self.level:g} %)"
        if not ranges:
            return [f"At no threshold is the classifier shown to be better than both {sure}."]
        return [f"Better than the better baseline at thresholds {ranges} {sure}."]


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
    groups: Any = None,
    stratify: bool | None = None,
    level: float = DEFAULT_LEVEL,
) -> DecisionCurve | dict[Hashable, DecisionCurve]:
    """Return the decision curve of a classifier, with bands and its lead over the baselines.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities of the classes.
    thresholds : array-like of shape (t,), optional
        Threshold probabilities between 0 and 1; by default .01 to .99.
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
    groups, stratify, level
        As for `dmfroc.estimate`.

    Returns
    -------
    DecisionCurve or dict
        Draws with ``plot()``. With more than two classes and neither ``pos_label`` nor ``costs``, a
        dictionary with the curve of each class against the rest.

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
    options = Options(groups=groups, stratify=stratify, level=level)
    predictions = as_predictions(
        y_true,
        y_score,
        labels=labels,
        sample_weight=sample_weight,
        frequency_weight=frequency_weight,
        needs="probabilities",
        by_fold=True,
    )
    if (obstacle := no_probabilities(predictions)) is not None:
        raise ValueError(f"decision_curve {obstacle}")
    at = _THRESHOLDS if thresholds is None else numbers("thresholds", thresholds)
    if at.ndim != 1 or not len(at) or (np.diff(at) <= 0).any():
        raise ValueError("thresholds must be one or more numbers in rising order")
    if costs is not None and (prevalence is not None or pos_label is not None):
        raise ValueError("costs are those of all classes: leave prevalence and pos_label out")
    if costs is not None:
        function_of("costs", costs, "of a threshold", 0.5)
    counted, units = options.sample_of(predictions)
    if costs is not None:
        return _curve([_of_costs(counted, costs(float(t))) for t in at], at, None, units, options)
    classes: list[Any] = [pos_label]
    if pos_label is None:
        classes = [predictions.labels[1]] if predictions.n_classes == 2 else [*predictions.labels]
    curves = {
        label: _curve(
            [_of_threshold(counted, float(t), prevalence, label) for t in at],
            at,
            label,
            units,
            options,
        )
        for label in classes
    }
    return curves if len(classes) > 1 else curves[classes[0]]


class _Point(NamedTuple):
    """What a threshold has: the value, the lead over the better baseline, and their influences."""

    values: Float[np.ndarray, " 2"]
    influences: Float[np.ndarray, "2 n"]
    baselines: dict[str, float]
    n_otherwise: int  # observations decided otherwise than by the better baseline


def _of_threshold(
    predictions: Predictions, t: float, prevalence: float | None, label: Hashable
) -> _Point:
    weights = predictions.sample_weight
    (benefit, of_benefit), (spared, of_spared) = (
        (float(values[0]), weights * gradients[0])
        for values, gradients in (
            bind(measure(t, prevalence, label), predictions).values_and_gradients(weights)
            for measure in (net_benefit, interventions_avoided)
        )
    )
    odds = t / (1 - t)
    of_all = benefit - odds * spared
    lead, of_lead = (odds * spared, odds * of_spared) if of_all > 0 else (benefit, of_benefit)
    baselines = {"treat all": of_all, "treat none": 0.0}
    n_treated = int((single_class(predictions, label)[1] >= t).sum())
    n_otherwise = predictions.n_observations - n_treated if of_all > 0 else n_treated
    influences = np.stack([of_benefit, of_lead])
    return _Point(np.array([benefit, lead]), influences, baselines, n_otherwise)


def _of_costs(predictions: Predictions, cost_matrix: Any) -> _Point:
    measure, weights = expected_utility(cost_matrix), predictions.sample_weight
    if (obstacle := measure.obstacle(predictions)) is not None:
        raise ValueError(f"{measure.name} {obstacle}")
    values, gradients = bind(measure, predictions).values_and_gradients(weights)
    utilities = -np.array(checked_costs(cost_matrix))[predictions.true]
    constant = weights @ utilities / weights.sum()
    best = int(constant.argmax())
    of_best = (utilities[:, best] - constant[best]) / weights.sum()
    k = len(constant)
    names = predictions.labels if k == predictions.n_classes else range(k)
    return _Point(
        np.array([values[0], values[0] - constant[best]]),
        weights * np.stack([gradients[0], gradients[0] - of_best]),
        {f"always {name}": float(x) for name, x in zip(names, constant, strict=True)},
        int(np.count_nonzero(gradients[0] - gradients[0].max() < 0)),
    )


def _curve(
    points: list[_Point],
    thresholds: Float[np.ndarray, " t"],
    label: Hashable,
    units: Units,
    options: Options,
) -> DecisionCurve:
    values = np.stack([point.values for point in points], axis=1)
    benefit, difference = (
        _bands(values[i], [point.influences[i] for point in points], units, options.level)
        for i in range(2)
    )
    few = np.array([point.n_otherwise < _FEWEST_OTHERWISE for point in points])
    difference = difference._replace(
        low=np.where(few, np.minimum(difference.low, 0), difference.low),
        simultaneous_low=np.where(
            few, np.minimum(difference.simultaneous_low, 0), difference.simultaneous_low
        ),
        probability_positive=np.where(few, 0.5, difference.probability_positive),
    )
    baselines = {
        name: np.array([point.baselines[name] for point in points]) for name in points[0].baselines
    }
    return DecisionCurve(label, thresholds, benefit, baselines, difference, options.level)


def _bands(
    values: Float[np.ndarray, " t"],
    influences: list[Float[np.ndarray, " n"]],
    units: Units,
    level: float,
) -> Bands:
    sums = np.stack([units.sums(x)[units.by_stratum] for x in influences])
    spreads = [moments.spread for moments in moments_of_sums(sums, units)]
    error, freedom = (np.array(x) for x in zip(*spreads, strict=True))
    varies = error > NO_VARIATION
    freedom = np.where(varies, freedom, np.inf)
    level_of_each = level
    if varies.any():
        covariance = joint_covariance(sums, units)
        largest = largest_statistic(covariance, np.eye(len(values))[varies], _SEED)
        level_of_each = largest.level_of_each(level)
    pointwise, all_at_once = (
        np.where(varies, -stdtrit(freedom, (1 - x) / 2) * error, 0.0)
        for x in (level, level_of_each)
    )
    t = values / np.where(varies, error, 1)
    sure = np.where(varies, stdtr(freedom, t), 0.5 + 0.5 * np.sign(values))
    return Bands(
        values,
        error,
        values - pointwise,
        values + pointwise,
        values - all_at_once,
        values + all_at_once,
        sure,
    )
