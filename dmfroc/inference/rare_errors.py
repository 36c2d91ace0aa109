"""Errors that are rare: what a sample that lacks them says about a measure.

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
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv, chdtri

from dmfroc._kit.arrays import PerPresentClass
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import FunctionOfWeights
from dmfroc.measures.measure import Measure, bare_value_of, bind
from dmfroc.measures.statistics.forecasts import probabilities_of
from dmfroc.measures.statistics.statistic import once_per_predictions

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
        of_one = (1 - share) ** (1 if self.is_linear else 2)
        of_mean = (variance / room**2 * n**3 + of_one * n) / ((n + 1) ** 2 * (n + 2))
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
        shares: PerPresentClass | float,
        order: PerPresentClass | None = None,
        factor: PerPresentClass | float = 1.0,
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


def _predicted_as(order: Sequence[float] | PerPresentClass) -> Int[np.ndarray, " c"]:
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
    n_effective: PerPresentClass | None,
    bounds: tuple[float, float],
) -> RareErrors | None:
    """Return what errors that the sample can lack say about a measure.

    If all errors cost about alike, only the classes of the predictions, their weights and how small
    probabilities are matter; the classes that occur have the effective sizes ``n_effective``. None
    is returned for measures that errors can make better than perfect predictions do.
    """
    if n_effective is None or len(predictions.present) < 2 or bounds[0] == bounds[1]:
        return None
    judge = _judge_of(measure, predictions)
    classes, sizes = _classes_of(judge, predictions), tuple(n_effective.tolist())
    rare = _cached(_rare_errors, judge)(judge, classes, sizes, bounds)
    if rare is None or rare.is_linear:
        return rare
    by_scores = judge.needs != "labels"
    # A scan has no rows beside which errors could be ranked: with equal weights both do as it does
    has_rows = predictions.has_all_scores and len(classes.present) <= _MANY_CLASSES
    if by_scores and not (np.ptp(predictions.sample_weight) > 0 and has_rows):
        return rare
    sample = replace(predictions.counted, folds=None)
    value = _value_of(judge, sample)
    kinds = _kinds_of_errors(judge, classes, n_effective)
    samples = (_with_errors(sample, *kind, by_scores=by_scores) for kind in kinds)
    costs = [abs(_value_of(judge, x) - value) for x in samples]
    cost = float(np.max(costs))  # NaN if a user's function fails
    if not cost > 0:
        return None if cost == 0 else rare
    if np.isfinite(rare.worst):  # a limit takes a share of what is left to be lost
        cost *= abs((rare.worst - rare.best) / ((rare.worst - value) or _ROUNDING))
    return rare._replace(limit=rare.best + float(np.copysign(cost, rare.limit - rare.best)))


def _kinds_of_errors(
    measure: Measure, classes: _Classes, n_effective: PerPresentClass
) -> list[tuple[PerPresentClass, PerPresentClass]]:
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
    sample: Predictions, shares: PerPresentClass, by_weight: PerPresentClass, *, by_scores: bool
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
    values = _values_with(measure, classes, kinds)
    sign = -1 if measure.greater_is_better else 1
    losses = sign * (values - best)
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


def _values_with(
    measure: Measure, classes: _Classes, kinds: Sequence[tuple[PerPresentClass, PerPresentClass]]
) -> Float[np.ndarray, " kinds"]:
    """Return the value with each kind of errors."""
    if measure.family != _DECISIONS:
        return np.array([_value_of(measure, classes.sample(*kind)) for kind in kinds])
    # Many kinds differ by their shares alone, and are bound together
    places: dict[tuple[int, ...], list[int]] = {}
    for place, (_, order) in enumerate(kinds):
        places.setdefault(tuple(_predicted_as(order).tolist()), []).append(place)
    values = np.empty(len(kinds))
    for together in places.values():
        halves = classes.sample(0.5, kinds[together[0]][1])
        shares = [np.append(1 - kinds[place][0], kinds[place][0]) for place in together]
        weights = 2 * halves.sample_weight * np.array(shares)
        values[together] = bind(measure, halves).values_of_each(weights)[:, 0]
    return values


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
