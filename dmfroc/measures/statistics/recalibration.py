"""Recalibrations: logistic and isotonic regressions of the outcome on what was forecast.

A regression is fitted anew for every set of weights. The derivative of its coefficients with
respect to a weight is the inverse of the information times the score of the observation. What it
minimises has the derivative that it has with the fit held fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import expit, softmax, xlogy

from dmfroc._kit.arrays import AnyArray, IntPerRow, PerRow
from dmfroc.measures.hull import upper_hulls
from dmfroc.measures.statistics.curves import CurveCounts, at_corners, pool_shares
from dmfroc.measures.statistics.statistic import Statistic, Sums

Coefficients = Float[np.ndarray, " q"]
"""Of a fit, one for each feature."""

CoefficientSets = Float[np.ndarray, "*sets q"]
"""Of a fit with several sets of weights."""

WeightSets = Float[np.ndarray, "*sets n"]

_MOST_STEPS = 60
_CONVERGED = 1e-7  # of a step, whose square is about the error that is left
_ROWS_AT_ONCE = 1 << 15  # what a processor's cache holds
_NUMBERS_AT_ONCE = 1 << 15  # likewise
_MOST = 1e4  # of a coefficient; beyond, the classes are separated
_FLAT = 1e-14  # of a step's gain, by weight; below, rounding would decide


@dataclass(frozen=True, eq=False)
class LogisticFit(Statistic):
    """A multinomial logistic regression on logits, one for each of two or more classes.

    The linear predictor of the first class is 0. That of another class is an intercept, plus its
    logit times a slope that the classes share, or plus the logit. The table has the intercepts of
    all classes but the first, then the slope if there is one.
    """

    outcome: IntPerRow
    logit: Float[np.ndarray, "others n"]
    has_slope: bool
    sample_weight: PerRow

    is_compiled = False

    def predicted(
        self, coefficients: Coefficients, some: slice = slice(None)
    ) -> Float[np.ndarray, "k _"]:
        """Return the probabilities of all classes."""
        slope, intercepts = coefficients[-1] if self.has_slope else 1.0, coefficients[:, None]
        logs = slope * self.logit[:, some] + intercepts[: len(self.logit)]
        return softmax(np.vstack([np.zeros(logs.shape[1]), logs]), axis=0)

    @cached_property
    def _observed(self) -> PerRow:
        """The logit of each outcome."""
        own = np.take_along_axis(self.logit, np.maximum(self.outcome - 1, 0)[None], 0)[0]
        return np.where(self.outcome > 0, own, 0.0)

    def count(self, weights: PerRow, xp: Any) -> Sums:
        """Fit the model; NaN where the classes are separated."""
        if weights is self.sample_weight:
            return self._of_sample
        rows, start = np.flatnonzero(weights), self._of_sample.values
        logit, weights = self.logit.take(rows, axis=1), weights.take(rows)
        some = LogisticFit(self.outcome.take(rows), logit, self.has_slope, weights)
        return some.fitted(start if np.isfinite(start).all() else None)

    @cached_property
    def _of_sample(self) -> Sums:
        return self.fitted()

    def fitted(self, start: Coefficients | None = None) -> Sums:
        """Fit the model to the sample, by default from what leaves forecasts as they are."""
        if start is None:
            start = np.append(np.zeros(len(self.logit)), np.ones(int(self.has_slope)))
        # Each row that is not told from another class costs log(2) or more
        counted = self.sample_weight[self.sample_weight > 0]
        separated = math.log(2) * counted.min() if self.has_slope else 0.0
        derivatives = partial(self._derivatives, self.sample_weight)
        return _by_newton(derivatives, start, counted.sum(), separated)

    def _derivatives(self, weights: PerRow, coefficients: Coefficients) -> _Derivatives:
        k = len(self.logit)
        loss, information = np.zeros(()), np.zeros((k + 1, k + 1))
        of_classes = np.bincount(self.outcome, weights, k + 1)
        gradient = np.append(of_classes[1:], weights @ self._observed)
        at_once = max(_NUMBERS_AT_ONCE // (k + 1), 1)
        for first in range(0, len(weights), at_once):
            some = slice(first, first + at_once)
            p, weight = self.predicted(coefficients, some), weights[some]
            logit = self.logit[:, some]
            own = np.take_along_axis(p, self.outcome[None, some], 0)[0]
            loss -= xlogy(weight, own).sum()
            # The probabilities, and the logit that they expect
            p[0] = np.einsum("kn,kn->n", p[1:], logit)
            p = np.roll(p, -1, axis=0)
            weighted = p * weight
            gradient -= weighted.sum(axis=1)
            information -= p @ weighted.T
            information[range(k), range(k)] += weighted[:-1].sum(axis=1)
            weighted = weighted[:-1] * logit
            of_logit = np.append(weighted.sum(axis=1), np.vdot(weighted, logit))
            information[-1] += of_logit
            information[:-1, -1] += of_logit[:-1]
        size = len(coefficients)
        return _Derivatives(loss, gradient[:size], information[:size, :size])

    def pull_back(self, weights: PerRow, table: Sums, derivatives: Sums) -> PerRow:
        if not np.isfinite(table.values).all():
            return np.full(len(weights), np.nan)
        information = self._derivatives(weights, table.values).information
        direction = np.linalg.solve(information, derivatives.values)
        intercepts, slope = np.split(direction, [len(self.logit)])
        p = self.predicted(table.values)[1:]
        gradient = np.append(0.0, intercepts)[self.outcome] - intercepts @ p
        if self.has_slope:
            gradient += slope * (self._observed - np.einsum("kn,kn->n", p, self.logit))
        return gradient


@dataclass(frozen=True, eq=False)
class BinaryFit:
    """Logistic regressions, each of one event on features; the first is constant."""

    outcome: Float[np.ndarray, "*events n"]
    features: Float[np.ndarray, "*events q n"]

    def predicted(self, coefficients: Coefficients) -> PerRow:
        """Return the probability of the event in each row."""
        return expit(coefficients @ self.features)

    def fitted(
        self, weights: WeightSets, start: CoefficientSets | float = math.nan
    ) -> CoefficientSets:
        """Return the coefficients with each set of weights; NaN where one separates the event.

        There may be a set for each event. ``start`` are those of similar weights. Where it is NaN,
        the second feature is taken as logit.
        """
        first = np.where(np.isfinite(start), start, np.eye(1, self.features.shape[-2], 1)[0])
        rows = np.flatnonzero(weights.reshape(-1, weights.shape[-1]).any(axis=0))
        some = BinaryFit(self.outcome.take(rows, -1), self.features.take(rows, -1))
        first = np.broadcast_to(first, (*weights.shape[:-1], first.shape[-1]))
        derivatives = partial(some._derivatives, weights.take(rows, axis=-1))
        return _by_newton(derivatives, first, weights.sum(axis=-1)).values

    def _derivatives(self, weights: WeightSets, coefficients: CoefficientSets) -> _Derivatives:
        *sets, q = coefficients.shape
        loss, gradient, information = np.zeros(sets), np.zeros((*sets, q)), np.zeros((*sets, q, q))
        against = 1 - 2 * self.outcome  # the sign of what speaks against the outcome
        at_once = max(_ROWS_AT_ONCE // math.prod(sets), 1)
        for first in range(0, weights.shape[-1], at_once):
            some = slice(first, first + at_once)
            x, sign, weight = self.features[..., some], against[..., some], weights[..., some]
            with np.errstate(over="ignore"):
                inverse = np.exp(sign * (coefficients[..., None, :] @ x)[..., 0, :])
            inverse += 1  # of the probability of the outcome
            loss += np.einsum("...n,...n->...", weight, np.log(inverse))
            p = 1 / inverse
            residual = weight * (1 - p)
            of_features = x.swapaxes(-1, -2)
            gradient -= ((sign * residual)[..., None, :] @ of_features)[..., 0, :]
            residual *= p
            information += (x * residual[..., None, :]) @ of_features
        return _Derivatives(loss, gradient, information)

    def pull_back(
        self, weights: PerRow, predicted: PerRow, derivatives: Float[np.ndarray, "*q"]
    ) -> PerRow:
        """Return derivatives with respect to the weights from those by the coefficients."""
        weighted = self.features * (weights * predicted * (1 - predicted))
        direction = np.linalg.solve(weighted @ self.features.T, derivatives)
        return (self.outcome - predicted) * (direction @ self.features)


class _Derivatives(NamedTuple):
    """Minus a log-likelihood, its derivatives and minus the second ones."""

    loss: Any
    gradient: CoefficientSets
    information: Float[np.ndarray, "*sets q q"]


def _by_newton(
    derivatives: Callable[[CoefficientSets], _Derivatives],
    theta: CoefficientSets,
    weight: float | Float[np.ndarray, "*sets"],
    separated: float = 0.0,
) -> Sums:
    """Fit by Newton's method with halved steps; NaN where the classes are separated.

    ``weight`` is that of all rows; a loss below ``separated`` shows that the classes are.
    """
    undefined, at = Sums(np.full(theta.shape, np.nan)), derivatives(theta)
    gain: Any = np.inf
    for _ in range(_MOST_STEPS):
        if (at.loss < separated).any():
            return undefined
        try:
            step = np.linalg.solve(at.information, at.gradient[..., None])[..., 0]
        except np.linalg.LinAlgError:
            return undefined
        largest = np.abs(theta).max(axis=-1, keepdims=True)
        is_small = (np.abs(step) < _CONVERGED * (1 + largest)).all(axis=-1)
        if is_small.all():
            return Sums(theta + step)
        # Near a minimum each step gains about the square of the last gain. Where some of the
        # classes are separated it gains a share of it for ever, until rounding stops it anywhere.
        before, gain = gain, (at.gradient * step).sum(axis=-1)
        if (~is_small & (gain > before / 10) & (gain < _FLAT * weight)).any():
            return undefined
        size, most = 1.0, at.loss + 1e-12 * abs(at.loss)
        while ((at := derivatives(theta + size * step)).loss > most).any():
            size /= 2
            if size < 1e-6:
                return undefined
        theta = theta + size * step
        if np.abs(theta).max() > _MOST or not np.isfinite(theta).all():
            return undefined
    return undefined


class Losses(NamedTuple):
    """Weighted sums over the observations.

    First the squared errors of the forecasts of all events, and of the recalibrated ones, then the
    weight of each event that occurs, and of all observations.
    """

    values: Float[AnyArray, " m"]
    recalibrated: PerRow  # the squared errors, without derivatives


@dataclass(frozen=True, eq=False)
class IsotonicLosses(Statistic):
    """Squared errors of the forecasts of several events, and of their isotonic recalibrations.

    Forecasts that are recalibrated alike lie between two neighbouring vertices of the ROC hull.
    """

    curves: CurveCounts  # of the events that occur
    outcome: Float[np.ndarray, "events n"]  # of all events
    squares: PerRow

    is_compiled = False

    def count(self, weights: PerRow, xp: Any) -> Losses:
        curves = at_corners(self.curves)
        table = curves.count(weights, np)
        fitted = np.zeros(table.tp.shape)
        hulls = upper_hulls(table.fp, table.tp)
        for values, tp, fp, vertices in zip(fitted, table.tp, table.fp, hulls, strict=True):
            ends = np.unique(vertices)
            values[1 : ends[-1] + 1] = np.repeat(pool_shares(tp[ends], fp[ends]), np.diff(ends))
        squares = np.concatenate([fitted**2, (1 - fitted) ** 2], axis=1)
        return self.losses(weights, curves.totals_of_rows(squares))

    def losses(self, weights: PerRow, recalibrated: PerRow) -> Losses:
        """Add up the squared errors, given those of the recalibrated forecasts."""
        sums = weights @ self.squares, weights @ recalibrated
        return Losses(np.array([*sums, *(self.outcome @ weights), weights.sum()]), recalibrated)

    def pull_back(self, weights: PerRow, table: Losses, derivatives: Losses) -> PerRow:
        of_forecasts, of_recalibrated, *of_events, of_all = derivatives.values
        gradient = of_forecasts * self.squares + of_recalibrated * table.recalibrated
        return gradient + np.array(of_events) @ self.outcome + of_all
