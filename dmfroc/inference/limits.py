"""Limits: by Student's t, where the range of a measure has no ends; and for errors that are rare.

A perfect sample shows that errors are rare, not that there are none. Among n observations of a
class, a proportion 1 - error^(1/n) of errors can go unobserved (Clopper and Pearson's exact limit;
the rule of three). The same holds for a sample whose observed errors are all small. So we count one
more error than was observed, of the size of a typical gross one: an observation that is scored, and
predicted, as a case of another class. The first errors can be the dearest: where one case in a
hundred is positive, the first false positives halve the precision, and later ones hardly lower it.
An error then costs what it does in the sample at hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv, chdtri, expit, logit, ndtri, stdtr, stdtrit

from dmfroc.inference.influences import NO_VARIATION, Moments, Spread
from dmfroc.inference.interval import Interval
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import FunctionOfWeights
from dmfroc.measures.measure import Measure, bare_value_of, bind
from dmfroc.measures.statistics.forecasts import probabilities_of
from dmfroc.measures.statistics.statistic import once_per_predictions
from dmfroc.results.estimate import ExactLimit

_USERS = "user-defined"  # measures that may fail for other samples than those of their users
_DECISIONS = "decisions"  # measures whose errors cost what the user says
_MANY_CLASSES = 50  # whose pairs take longer than the sample itself
_FEW_TO_TRY = 12  # classes; with more, only some errors are tried
_ERROR = 0.05  # error probability at which errors are counted; other limits follow
_TOLERANCE = 1e-6  # of a value that is fitted
_ROUNDING = 1e-12  # of a value
_LEAST_PROBABILITY = float(np.finfo(float).eps)  # as which the log loss counts less
_SHARE = 0.01  # of errors, for comparing classes: small, so that losses are nearly linear
_NOTABLE = 1e-3  # of a loss; a value that is fitted differs by less
_N_CACHED = 512  # that are kept
_N_RANKS = 64  # of cases that are predicted right, to see what it costs to rank ahead of them
_TYPICAL_RANK = 1 - np.exp(-1)  # the share below an error of average cost to average precision
_N_SAMPLES, _FEW_CLASSES = 64, 100  # samples that are kept, and the most classes of such a one
_HEAVIEST = 2.0  # times the average loss per observation, up to which classes are pooled
PERFECT = 1e-6  # the centre of the rates is fitted, and no better than that at its end
_NO_ROOM = 1e-300  # beyond a threshold, where the range ends; not 0, by which nothing is divided
_Map = Callable[[Any], Float[np.ndarray, "*x"]]


class RareErrors(NamedTuple):
    """What errors that a sample can lack say about a measure.

    Attributes
    ----------
    best, worst : float
        The value without errors, which is an end of the range for most measures, and the worse end.
    limit : float
        The 95 % confidence limit of a sample without errors, if they cost what they do in the
        sample at hand.
    gross_errors : int
        As how many typical errors one counts that the sample lacks: more than 1 if errors cost far
        more when they rank ahead of all cases.
    of_judge : float
        The 95 % limit of what errors of a judge change that is right on all verified rows.
    is_linear : bool
        Whether later errors cost as much as the first ones.
    """

    best: float
    worst: float
    limit: float
    gross_errors: int = 1
    of_judge: float = 0.0
    is_linear: bool = True

    def n_errors(self, value: float) -> float:
        """Return how many gross errors a value has lost."""
        return float(abs((value - self.best) / (self.limit - self.best)) * -np.log(_ERROR))

    def worse_limits(self, value: float, variance: float, errors: Sequence[float]) -> list[float]:
        """Return one-sided limits of a value with this variance, counting one more gross error.

        No limit is better than that of a sample without errors. There, errors that cost more at the
        top of the ranking count as several, because small errors do not show that cost.
        """
        limits = self._limits(value, variance, errors)
        if self.gross_errors == 1:
            return limits
        low, high = sorted((self.best, self.worst))
        unseen = np.array(self._limits(self.best, 0.0, errors)) - self.best
        perfect = self.best + self.gross_errors * unseen
        farther = np.minimum if self.worst < self.best else np.maximum
        return list(np.clip(farther(limits, perfect), low, high).tolist())

    def beyond(self, variance: float, error: float) -> float:
        """Return how far one more error of a judge than was observed moves a value either way.

        It follows from the limit of a Poisson count of such errors with this variance, at twice the
        error probability: errors of one kind move the value one way.
        """
        of_one = self.of_judge / -np.log(_ERROR)
        count = variance / of_one**2 if of_one else np.inf
        return float(of_one * (chdtri(2 * count + 2, 2 * error) / 2 - count)) if of_one else 0.0

    def _limits(self, value: float, variance: float, errors: Sequence[float]) -> list[float]:
        """Return the limits if every error costs about as much.

        The loss is a weighted sum of counts of rare errors. Fay and Feuer (1997) bound the mean of
        such a sum by the gamma distribution with the moments that the sum would have with one more
        of the largest error. In a bounded range we use the beta distribution instead, with moments
        such that the limit of a proportion is Clopper and Pearson's.
        """
        sign = 1 if self.worst > self.best else -1
        losses = (sign * (x - self.best) for x in (self.worst, self.limit, value))
        room, unseen, lost = (max(loss, 0.0) for loss in losses)
        if unseen == 0:  # even gross errors make no difference, and give no limit
            return [np.nan] * len(errors)
        if unseen >= room or errors[0] == 0:
            return [self.worst] * len(errors)
        if not np.isfinite(room):
            largest = -unseen / np.log(_ERROR)
            mean, variance = lost + largest, variance + largest**2
            shape = 2 * mean**2 / variance
            limits = self.best + sign * variance / (2 * mean) * chdtri(shape, errors)
            return list(limits.tolist())
        # As a proportion of n trials with one more failure.
        n = np.log(_ERROR) / np.log1p(-unseen / room)
        share = min(lost / room, 1.0)
        mean = (n * share + 1) / (n + 1)
        of_mean = (variance / room**2 * n**3 + (1 - share) * n) / ((n + 1) ** 2 * (n + 2))
        if mean >= 1:
            return [self.worst] * len(errors)
        trials = max(mean * (1 - mean) / of_mean - 1, _TOLERANCE)
        # SciPy has no value near 0 for errors below 1e-91
        tails = np.nan_to_num(betaincinv(trials * (1 - mean), trials * mean, errors))
        return list((self.best + sign * room * (1 - tails)).tolist())


class _Classes(NamedTuple):
    """What perfect predictions need of a sample: its classes, those that occur and their weights.

    An error gives all classes but the predicted one the probability ``floor``.
    """

    labels: tuple[Hashable, ...]
    present: tuple[int, ...]
    weights: tuple[float, ...]
    floor: float
    is_turned: bool = False

    def some(self) -> _Classes:
        """Return those of few classes, from the lightest to the heaviest, which take less time."""
        if len(self.present) <= _FEW_CLASSES:
            return self
        steps = np.linspace(0, len(self.present) - 1, _FEW_CLASSES).astype(int)
        some = np.sort(np.argsort(self.weights, kind="stable")[steps])
        labels = tuple(self.labels[self.present[x]] for x in some)
        weights = tuple(self.weights[x] for x in some)
        return _Classes(labels, tuple(range(len(some))), weights, self.floor)

    def sample(
        self,
        shares: Float[np.ndarray, " c"] | float,
        order: Float[np.ndarray, " c"] | None = None,
        factor: Float[np.ndarray, " c"] | float = 1.0,
        n_ranks: int = 1,
        height: float = 1.0,
    ) -> Predictions:
        """Have shares of the classes predicted as the first other one, by default the heaviest.

        ``factor`` multiplies the weights of the classes. With several ``n_ranks`` the cases
        predicted right have so many different scores, down to 0.5, and the errors one, by default
        ahead of them all.
        """
        by_weight = self.weights if order is None else order
        given = np.broadcast_arrays(self.weights, shares, by_weight, factor)
        rows = (tuple(row.tolist()) for row in given[1:])
        # Many measures ask for the same few samples, which are then sorted once
        few = len(self.labels) <= _FEW_CLASSES
        return (_sample if few else _sample.__wrapped__)(self, *rows, n_ranks, height)


def _predicted_as(order: Sequence[float] | Float[np.ndarray, " c"]) -> Int[np.ndarray, " c"]:
    """Return as which class each one is predicted: the first other one in this order."""
    first, second = np.argsort(-np.array(order), kind="stable")[:2]
    return np.where(np.arange(len(order)) == first, second, first)


@lru_cache(_N_SAMPLES)
def _sample(
    classes: _Classes,
    shares: tuple[float, ...],
    order: tuple[float, ...],
    factors: tuple[float, ...],
    n_ranks: int,
    height: float,
) -> Predictions:
    share, weight = np.array(shares), np.array(classes.weights) * factors
    present, n_classes = np.array(classes.present), len(classes.labels)
    true = np.tile(present, n_ranks + 1).astype(np.int32)  # the last of each are errors
    predicted = np.append(true[: -len(present)], present[_predicted_as(order)]).astype(np.int32)
    sample_weight = np.append(np.tile(weight * (1 - share) / n_ranks, n_ranks), weight * share)
    heights = 1 - np.arange(1, n_ranks + 1) / (2 * n_ranks) if n_ranks > 1 else [1.0]
    largest = np.repeat([*heights, height - (n_classes - 1) * classes.floor], len(present))
    rows = np.flatnonzero(sample_weight > 0)
    is_small = classes.floor > 0 or n_classes <= _FEW_CLASSES  # of many the memory counts
    scores = np.zeros((len(rows), n_classes), np.float64 if is_small else np.float32)
    scores[rows >= n_ranks * len(present)] = classes.floor
    scores[np.arange(len(rows)), predicted[rows]] = largest[rows]
    return Predictions(
        classes.labels,
        true[rows],
        scores,
        sample_weight[rows],
        predicted[rows],
        is_turned=classes.is_turned,
    )


def rare_errors(
    measure: Measure,
    predictions: Predictions,
    n_effective: Float[np.ndarray, " c"] | None,
    bounds: tuple[float, float],
) -> RareErrors | None:
    """Return what errors that the sample can lack say about a measure.

    If all errors cost about alike, only the classes of the predictions, their weights and how small
    probabilities are matter; the classes that occur have the effective sizes ``n_effective``. None
    is returned for measures that errors can make better than perfect predictions do.
    """
    if n_effective is None or len(predictions.present) < 2:
        return None
    judge = _judge_of(measure, predictions)
    classes, sizes = _classes_of(judge, predictions), tuple(n_effective.tolist())
    rare = _cached(_rare_errors, judge)(judge, classes, sizes, bounds)
    if rare is None or rare.is_linear:
        return rare
    by_scores = judge.needs != "labels"
    if by_scores and not (predictions.has_all_scores and len(classes.present) <= _MANY_CLASSES):
        return rare
    sample = replace(predictions.counted, folds=None)
    value = _value_of(judge, sample)
    kinds = _kinds_of_errors(judge, classes, n_effective)
    samples = (_with_errors(sample, *kind, by_scores=by_scores) for kind in kinds)
    costs = [abs(_value_of(judge, x) - value) for x in samples]
    of_first = rare.limit - rare.best
    cost = float(np.copysign(min(abs(of_first), np.max(costs)), of_first))
    return rare._replace(limit=rare.best + cost) if cost else None


def _kinds_of_errors(
    measure: Measure, classes: _Classes, n_effective: Float[np.ndarray, " c"]
) -> list[tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]]:
    """Return the share of each class that may be missed unseen, and the order of the classes.

    The errors are in the class of the smallest size, in the heaviest class, or in all alike. They
    are predicted as the lightest or the heaviest of the other classes.
    """
    weights = np.array(classes.weights)
    places = np.arange(len(weights))
    missed_classes = [places == n_effective.argmin(), places == weights.argmax(), places >= 0]
    orders = [weights, -weights]
    if measure.family == _DECISIONS and len(places) <= _FEW_TO_TRY:  # any error may be the dearest
        missed_classes += [places == x for x in places]
        orders += [*np.eye(len(places))]
    unseen = [(1 - _ERROR ** (1 / n_effective[x].sum())) * x for x in missed_classes]
    return list(itertools.product(unseen, orders))


def _with_errors(
    sample: Predictions,
    shares: Float[np.ndarray, " c"],
    by_weight: Float[np.ndarray, " c"],
    *,
    by_scores: bool,
) -> Predictions:
    """Have shares of the classes scored like a typical case of another; see `_Classes.sample`."""
    present, n_classes = sample.present, sample.n_classes
    taken_for = present[_predicted_as(by_weight)]
    scores = np.broadcast_to(0.0, (len(sample.true) + len(present), n_classes))  # that none needs
    if by_scores:
        of_rows, typical = np.asarray(sample.scores), np.zeros(len(present), int)
        for label in np.unique(taken_for):
            cases = np.flatnonzero(sample.true == label)
            order = np.argsort(of_rows[cases, label])
            typical[taken_for == label] = cases[order[int(_TYPICAL_RANK * len(cases))]]
        scores = np.concatenate([of_rows, of_rows[typical]])
    of_class = np.zeros(n_classes)
    of_class[present] = shares
    weights = sample.sample_weight * (1 - of_class[sample.true]), sample.class_totals * of_class
    predicted = sample.predicted
    if predicted is not None:
        predicted = np.append(predicted, taken_for).astype(np.int32)
    return replace(
        sample,
        true=np.append(sample.true, present).astype(np.int32),
        scores=scores,
        sample_weight=np.append(weights[0], weights[1][present]),
        predicted=predicted,
    )


@lru_cache(_N_CACHED)
def _rare_errors(
    measure: Measure, classes: _Classes, sizes: tuple[float, ...], bounds: tuple[float, float]
) -> RareErrors | None:
    worst, end = bounds if measure.greater_is_better else bounds[::-1]
    perfect = classes.sample(0.0)
    if not np.isnan(measure.target) or not measure.applies_to(perfect):
        return None
    best = _value_of(measure, perfect)
    is_end = abs(best - end) <= _TOLERANCE  # as of a user's measure, whose scale is unknown
    if not (is_end if measure.family == _USERS else np.isfinite(best)):
        return None
    kinds = _kinds_of_errors(measure, classes, np.array(sizes))
    values = [_value_of(measure, classes.sample(*kind)) for kind in kinds]
    sign = -1 if measure.greater_is_better else 1
    losses = sign * (np.array(values) - best)
    if not (np.isfinite(losses).all() and losses.min() >= -_ROUNDING and losses.max() > _ROUNDING):
        return None
    share, order = kinds[losses.argmax()]
    most, of_half = (
        losses.max(),
        sign * (_value_of(measure, classes.sample(share / 2, order)) - best),
    )
    gross_errors = _gross_errors(measure, classes, best) if _is_of_ranks(measure) else 1
    is_linear = measure.is_dmf_auc or bool(of_half <= (1 + _SHARE) * most / 2)
    return RareErrors(best, worst, best + sign * float(most), gross_errors, is_linear=is_linear)


def _judge_of(measure: Measure, predictions: Predictions) -> Measure:
    """Return the measure that shows what rare errors in such predictions cost."""
    is_fast = measure.is_dmf_auc and len(predictions.present) <= _MANY_CLASSES
    if is_fast or measure.interval.of_rare_errors is None:
        return measure if measure.of_sample is None else measure.in_sample(predictions)
    return measure.interval.of_rare_errors


def _is_of_ranks(measure: Measure) -> bool:
    """Whether only the order of scores or of probabilities matters, maybe once recalibrated."""
    is_recalibrated = measure.interval.cross_fit is not None
    return is_recalibrated or measure.needs == "scores" or measure.family == "selective prediction"


def _gross_errors(measure: Measure, classes: _Classes, best: float) -> int:
    """Return as how many typical errors one counts that may rank ahead of all cases.

    That is the mean cost of errors that are drawn by their sizes, in typical ones. It is 2 for
    average precision, where the cost is exponentially distributed over the ranks, and the ratio of
    both costs where errors cost something at the top only, as in precision at k.
    """
    classes = classes.some()
    share = _SHARE / len(classes.weights)  # so that few are predicted as any class
    samples = [classes.sample(share, n_ranks=n) for n in (1, _N_RANKS)]
    if not all(map(measure.applies_to, samples)):  # volumes have a limit of their own
        return 1
    typical, ahead = (abs(_value_of(measure, sample) - best) for sample in samples)
    if not ahead > 2 * typical > 0:
        return 1
    halfway = abs(_value_of(measure, classes.sample(share, n_ranks=_N_RANKS, height=0.75)) - best)
    return 2 if halfway > _NOTABLE * ahead else round(ahead / typical)


def pools_classes(measure: Measure, predictions: Predictions) -> bool:
    """Whether the observations of all classes are exchangeable for a measure.

    That is so if its value depends on how frequent the classes are, and an error in the rarest
    class costs no more than twice as much as the average error. It is so for accuracy, not for
    macro F1 with rare classes. Then the units form one stratum. A number of observations does not
    grow with the sample, so that neither do what it finds of a class and what an error costs.
    """
    if len(predictions.present) < 2 or measure.of_sample is not None:
        return False
    if measure.interval.pools_classes is not None:
        return measure.interval.pools_classes
    judge = _judge_of(measure, predictions)
    return _cached(_pools_classes, judge)(judge, _classes_of(judge, predictions).some())


@lru_cache(_N_CACHED)
def _pools_classes(measure: Measure, classes: _Classes) -> bool:
    perfect, weights = classes.sample(0.0), np.array(classes.weights)
    if not measure.applies_to(perfect):
        return False
    rarest = np.arange(len(weights)) == weights.argmin()
    uneven = _SHARE * (1 + rarest)
    best, some, other, of_all, of_rarest = (
        _value_of(measure, predictions)
        for predictions in (
            perfect,
            classes.sample(uneven),
            classes.sample(uneven, factor=1 + rarest * weights.sum() / weights.min()),
            classes.sample(_SHARE * np.ones(len(weights))),
            classes.sample(_SHARE * rarest),
        )
    )
    if not abs(other - some) > _NOTABLE * abs(some - best):  # false for NaN too
        return False
    loss = abs(of_all - best)
    of_average = loss * weights.min() / weights.sum()
    return bool(loss > _ROUNDING and abs(of_rarest - best) <= _HEAVIEST * of_average)


def is_of_sizes(measure: Measure, predictions: Predictions) -> bool:
    """Whether a measure is one of the class sizes alone, such as a prevalence.

    It is the same for perfect predictions as if half or all are taken for the first class, or last.
    """
    if len(predictions.present) < 2:
        return False
    classes = _classes_of(measure, predictions)
    if not measure.applies_to(classes.sample(0.0)):
        return False
    perfect = _value_of(measure, classes.sample(0.0))
    orders = np.eye(len(classes.weights))[[0, -1]]
    wrong = (classes.sample(share, order) for order in orders for share in (0.5, 1.0))
    return all(abs(_value_of(measure, x) - perfect) <= _TOLERANCE for x in wrong)


def _cached(function: Any, measure: Measure) -> Any:
    """Return a function that caches its values, or the uncached one for a measure of a user.

    Such a measure may hold data, which the cache would keep in memory.
    """
    return function.__wrapped__ if measure.family == _USERS else function


def _value_of(measure: Measure, predictions: Predictions) -> float:
    """Return the value for predictions that we make up; NaN if a user's function fails."""
    if measure.family != _USERS:
        return bare_value_of(measure, predictions)
    try:
        bound = bind(measure, predictions)
        if not isinstance(bound, FunctionOfWeights):
            return bare_value_of(measure, predictions)
        # Compiling it for each of these samples would take longer than all else.
        from dmfroc._kit.compiled import in_double_precision  # here, because it waits for JAX

        with in_double_precision():
            return float(bound.function(predictions.sample_weight))
    except Exception:  # of any kind, since it may expect as many rows as its user has
        return np.nan


def _classes_of(measure: Measure, predictions: Predictions) -> _Classes:
    present, weights = predictions.present, predictions.class_totals[predictions.present]
    shares = tuple(weights.tolist())
    places, is_turned = tuple(present.tolist()), predictions.is_turned
    classes = _Classes(tuple(predictions.labels), places, shares, 0.0, is_turned)
    takes_sizes = measure.needs == "probabilities" and measure.family != _DECISIONS
    if not takes_sizes or _is_of_ranks(measure):  # an error is as dear, whatever its probability
        return classes
    return classes._replace(floor=typical_probability_of_others(predictions))


@once_per_predictions
def typical_probability_of_others(predictions: Predictions) -> float:
    """Return the geometric mean of the probabilities that were given to unobserved classes."""
    logs = np.log(np.maximum(probabilities_of(predictions), _LEAST_PROBABILITY))
    observed = np.take_along_axis(logs, predictions.true[:, None], axis=1)[:, 0]
    means = (logs.sum(axis=1) - observed) / (predictions.n_classes - 1)
    return float(np.exp(np.average(means, weights=predictions.sample_weight)))


class Scale(NamedTuple):
    """An increasing map of a measure's range onto the real line."""

    to_line: _Map
    from_line: _Map
    slope: _Map  # derivative of to_line


IDENTITY = Scale(np.asarray, np.asarray, lambda x: np.ones(np.shape(x)))


def scale_of(bounds: tuple[float, float]) -> Scale:
    """Return the logit for a range with two ends, a logarithm for one end, or the identity."""
    low, high = bounds
    if np.isfinite(low) and np.isfinite(high):
        width = high - low
        return Scale(
            to_line=lambda x: logit((np.asarray(x) - low) / width),
            from_line=lambda y: low + width * expit(np.asarray(y)),
            slope=lambda x: width / ((np.asarray(x) - low) * (high - np.asarray(x))),
        )
    if np.isfinite(low):
        return Scale(
            to_line=lambda x: np.log(np.asarray(x) - low),
            from_line=lambda y: low + _exp(y),
            slope=lambda x: 1 / (np.asarray(x) - low),
        )
    if np.isfinite(high):
        return Scale(
            to_line=lambda x: -np.log(high - np.asarray(x)),
            from_line=lambda y: high - _exp(-np.asarray(y)),
            slope=lambda x: 1 / (high - np.asarray(x)),
        )
    return IDENTITY


def _exp(x: Any) -> Any:
    """Return exp(x), infinite where no number can hold it: an end of the range is cut there."""
    with np.errstate(over="ignore"):
        return np.exp(x)


def quantile_in_standard_errors(moments: Moments, level: float) -> float:
    """Return the half-width of an interval in standard errors: 1.96 or more for 95 %."""
    scale, freedom = moments.spread
    error = moments.standard_error
    if error == 0:
        return float(ndtri((1 + level) / 2))
    return float(stdtrit(freedom, (1 + level) / 2)) * scale / error


def interval(
    value: float,
    moments: Moments,
    error: float,
    bounds: tuple[float, float],
    range_of_sizes: tuple[float, float] | None = None,
    *,
    symmetric_on_line: bool = True,
    rare: RareErrors | None = None,
) -> Interval:
    """Return the confidence interval of a measure with the given ``bounds``.

    ``error`` is the probability that it does not cover, 0.05 for 95 %. The interval is symmetric
    on the scale where the range has no ends (`scale_of`), or on the scale of the measure itself
    (differences).

    If the moments depend on random sizes of the strata, ``bounds`` are those given the sizes, and
    ``range_of_sizes`` those of any sizes. The interval given the sizes is widened by what these
    add. On the scale where that range has no ends, the squares of the distances of the ends from
    the value are added up (Zou and Donner 2008).

    With ``rare`` the worse limit accounts for errors that the sample does not show, see
    `with_rare_errors`.
    """
    if range_of_sizes is not None:
        given = interval(
            value,
            moments.given_sizes,
            error,
            bounds,
            symmetric_on_line=symmetric_on_line,
            rare=rare,
        )
        [variance], [freedom] = moments.variances_of_sizes, moments.freedom_of_sizes
        low, high = range_of_sizes
        is_inside = symmetric_on_line and low < value < high
        to_scale = scale_of(range_of_sizes) if is_inside else IDENTITY
        added = -stdtrit(freedom, error / 2) * np.sqrt(variance) * to_scale.slope(value)
        place = to_scale.to_line(value)
        with np.errstate(divide="ignore"):  # an end of the range is infinitely far away
            distances = np.hypot(to_scale.to_line([given.low, given.high]) - place, added)
        ends = to_scale.from_line(place + np.array([-1, 1]) * distances)
        return given._replace(low=max(float(ends[0]), low), high=min(float(ends[1]), high))
    low, high = bounds
    if moments.spread.scale <= NO_VARIATION * (
        high - low if np.isfinite(high - low) else max(1, abs(value))
    ):
        return without_variation(value, moments.n_complete_sets, error, bounds, rare)
    to_scale = IDENTITY
    if symmetric_on_line and low < value < high:
        least = moments.spread.scale  # distance from an end whose logarithm has a meaning
        to_scale = scale_of((min(low, value - least), max(high, value + least)))
    by_moments = t_interval(value, moments.spread, error, bounds, to_scale)
    return with_rare_errors(by_moments, value, moments, error, rare)


def t_interval(
    value: float,
    spread: Spread,
    error: float,
    bounds: tuple[float, float],
    scale: Scale | None = None,
) -> Interval:
    """Return the t interval that is symmetric on a scale, by default one without ends."""
    if scale is None:
        scale = scale_of(bounds) if bounds[0] < value < bounds[1] else IDENTITY
    half_width = -stdtrit(spread.degrees_of_freedom, error / 2) * spread.scale * scale.slope(value)
    ends = scale.from_line(scale.to_line(value) + np.array([-half_width, half_width]))
    return Interval(max(float(ends[0]), bounds[0]), min(float(ends[1]), bounds[1]))


def with_rare_errors(
    ends: Interval, value: float, moments: Moments, error: float, rare: RareErrors | None
) -> Interval:
    """Return an interval whose worse limit accounts for errors that the sample does not show.

    It lies between the exact limits, for one more gross error than was observed, at the error
    probability of a one-sided and of a two-sided interval.
    """
    if rare is None:
        return ends
    variance = moments.spread.scale**2
    least, most = rare.worse_limits(value, variance, (error, error / 2))
    if moments.spread.scale > abs(value - rare.best) + abs(rare.limit - rare.best):
        most = np.nan  # a value that was put into its range varies more than its loss can
    (first, last), beyond = sorted((rare.best, rare.worst)), rare.beyond(variance, error)
    low, high = max(value - beyond, first), min(value + beyond, last)
    ends = ends._replace(low=min(ends.low, low), high=max(ends.high, high))
    if rare.worst < rare.best:
        low = min(max(ends.low, most), least, value)
        return ends._replace(low=low, exact_limit="lower" if ends.low > least else None)
    high = max(min(ends.high, most), least, value)
    return ends._replace(high=high, exact_limit="upper" if ends.high < least else None)


def interval_below(
    value: float, moments: Moments, error: float, bounds: tuple[float, float]
) -> Interval:
    """Return an interval that is symmetric in the logarithm of the distance from the upper end."""
    if moments.spread.scale <= NO_VARIATION:
        return without_variation(value, moments.n_complete_sets, error, bounds)
    scale = scale_of((-np.inf, bounds[1])) if value < bounds[1] else IDENTITY
    return t_interval(value, moments.spread, error, bounds, scale)


def without_variation(
    value: float,
    n_sets: float | int,
    error: float,
    bounds: tuple[float, float],
    rare: RareErrors | None = None,
) -> Interval:
    """Return an interval where every observation has the same influence.

    Take disjoint sets of units with every class, as many as there are units with the rarest
    (weighted ones count by Kish's effective number): each showed exactly ``value``. By Clopper and
    Pearson's exact bound the probability p of such a set is at least error^(1/m); in the
    remaining 1 - p the measure may be anywhere in its range. For a perfect classifier this is
    one-sided: close to 1 - 3/m, the rule of three; with ``rare`` it is the limit of a sample
    without errors.
    """
    low, high = bounds
    if rare is not None and abs(value - rare.best) <= PERFECT:
        ends = np.clip(sorted((*rare.worse_limits(rare.best, 0.0, [error]), value)), *bounds)
        side: ExactLimit = "lower" if rare.worst < rare.best else "upper"
        return Interval(float(ends[0]), float(ends[1]), is_degenerate=True, exact_limit=side)
    p = error ** (1 / n_sets)
    low_end, high_end = (p * value + (1 - p) * end for end in bounds)
    return Interval(low_end, high_end, is_degenerate=low < high)


def tail_of_difference(threshold: float, value: float, moments: Moments, width: float) -> float:
    """Return the probability that a true difference lies beyond a threshold.

    It is on the other side than the value, and the values range over this ``width``. Without
    variation twice the probability is the error at which the interval would reach the threshold.
    """
    scale, freedom = moments.spread
    distance = abs(value - threshold)
    if scale <= NO_VARIATION:
        room = max(width - abs(threshold), _NO_ROOM)  # how far beyond the threshold the range ends
        return float((1 / (1 + distance / room)) ** moments.n_complete_sets) / 2
    return float(stdtr(freedom, -distance / scale))
