"""Recalibrations: logistic and isotonic regressions of the outcome on what was forecast.

A regression is fitted anew for every set of weights. The derivative of its coefficients with
respect to a weight is the inverse of the information times the score of the observation. What it
minimises has the derivative that it has with the fit held fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray
from dmfroc.measures.statistics.statistic import Statistic, Sums

_MOST_STEPS = 60
_CONVERGED = 1e-7  # of a step, whose square is about the error that is left
_MOST = 1e4  # of a coefficient; beyond, the classes are separated


@dataclass(frozen=True, eq=False)
class LogisticFit(Statistic):
    """A multinomial logistic regression with offsets, for two or more classes.

    The linear predictor of the first class is 0. That of another class is its offset, plus an
    intercept, plus the features of the class times coefficients that the classes share. The table
    has the intercepts of all classes but the first, then these coefficients.
    """

    outcome: Int[np.ndarray, " n"]
    offset: Float[np.ndarray, "others n"]
    features: Float[np.ndarray, "others m n"]

    is_compiled: ClassVar[bool] = False

    def _linear(self, coefficients: Float[np.ndarray, " q"]) -> Float[np.ndarray, "others n"]:
        """Return the intercepts, plus the features times coefficients."""
        intercepts, slopes = np.split(coefficients, [len(self.offset)])
        return slopes @ self.features + intercepts[:, None]

    def predicted(self, coefficients: Float[np.ndarray, " q"]) -> Float[np.ndarray, "k n"]:
        """Return the probabilities of all classes."""
        odds = np.zeros((len(self.offset) + 1, len(self.outcome)))
        np.add(self.offset, self._linear(coefficients), out=odds[1:])
        odds -= odds.max(axis=0)
        np.exp(odds, out=odds)
        odds /= odds.sum(axis=0)
        return odds

    def _residuals(self, p: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "others n"]:
        return (np.arange(1, len(p))[:, None] == self.outcome) - p[1:]

    def _gradient(
        self, p: Float[np.ndarray, "k n"], weights: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, " q"]:
        """Return the derivatives of the log-likelihood."""
        residuals = self._residuals(p) * weights
        d_slopes = np.einsum("kmn,kn->m", self.features, residuals)
        return np.append(residuals.sum(axis=1), d_slopes)

    def information(
        self, p: Float[np.ndarray, "k n"], weights: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, "q q"]:
        """Return minus the second derivatives of the log-likelihood."""
        weighted = p[1:] * weights
        first = np.diag(weighted.sum(axis=1)) - p[1:] @ weighted.T
        centred = self.features - np.einsum("kn,kmn->mn", p[1:], self.features)
        mixed = (centred @ weighted[:, :, None])[:, :, 0]
        last: Any = sum(
            (x * w) @ c.T for x, w, c in zip(self.features, weighted, centred, strict=True)
        )
        return np.block([[first, mixed], [mixed.T, last]])

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Sums:
        return self.fitted(weights)

    def fitted(self, weights: Float[np.ndarray, " n"], start: Sums | None = None) -> Sums:
        """Fit by Newton's method with halved steps; NaN where the classes are separated.

        ``start`` are the coefficients of similar weights.
        """
        n_classes, q = len(self.offset) + 1, len(self.offset) + self.features.shape[1]
        # By default what leaves forecasts as they are: the first feature is their logit
        theta = np.eye(1, q, n_classes - 1)[0] if start is None else start.values
        p = self.predicted(theta)
        loss = self._loss(p, weights)
        undefined = Sums(np.full(q, np.nan))
        for _ in range(_MOST_STEPS):
            try:
                step = np.linalg.solve(self.information(p, weights), self._gradient(p, weights))
            except np.linalg.LinAlgError:
                return undefined
            size, most = 1.0, loss + 1e-12 * abs(loss)
            p = self.predicted(theta + step)
            while (loss := self._loss(p, weights)) > most:
                size /= 2
                if size < 1e-6:
                    return undefined
                p = self.predicted(theta + size * step)
            theta = theta + size * step
            if np.abs(theta).max(initial=0) > _MOST or not np.isfinite(theta).all():
                return undefined
            if np.abs(size * step).max(initial=0) < _CONVERGED * (1 + np.abs(theta).max(initial=0)):
                return Sums(theta)
        return undefined

    @cached_property
    def _places_of_outcome(self) -> Int[np.ndarray, " n"]:
        n = len(self.outcome)
        return self.outcome * n + np.arange(n)

    def _loss(self, p: Float[np.ndarray, "k n"], weights: Float[np.ndarray, " n"]) -> Any:
        p_of_outcome = p.take(self._places_of_outcome)
        with np.errstate(divide="ignore"):
            return -weights @ np.where(weights > 0, np.log(p_of_outcome), 0)

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Sums, derivatives: Sums
    ) -> Float[np.ndarray, " n"]:
        if not np.isfinite(table.values).all():
            return np.full(len(weights), np.nan)
        p = self.predicted(table.values)
        direction = np.linalg.solve(self.information(p, weights), derivatives.values)
        return (self._residuals(p) * self._linear(direction)).sum(axis=0)


class Losses(NamedTuple):
    """Weighted sums over the observations.

    For each event there are the squared errors of the forecasts and of the recalibrated ones, and
    the weight of the event. The last number is the sum of all weights.
    """

    values: Float[AnyArray, " m"]
    recalibrated: tuple[Float[np.ndarray, " n"], ...]  # the squared errors, without derivatives


@dataclass(frozen=True, eq=False)
class IsotonicLosses(Statistic):
    """Squared errors of the forecasts of several events, and of their isotonic recalibrations."""

    forecast: Float[np.ndarray, "events n"]
    outcome: Float[np.ndarray, "events n"]
    regressions: tuple[IsotonicRegression, ...]

    is_compiled: ClassVar[bool] = False

    def recalibrated(self, weights: Float[np.ndarray, " n"]) -> tuple[Float[np.ndarray, " n"], ...]:
        """Return the squared errors of all observations if others have these weights."""
        return tuple(
            (fit.fitted(y, weights)(fit.distinct)[fit.place] - y) ** 2
            for fit, y in zip(self.regressions, self.outcome, strict=True)
        )

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Losses:
        return self.losses(weights, self.recalibrated(weights))

    def losses(
        self, weights: Float[np.ndarray, " n"], recalibrated: tuple[Float[np.ndarray, " n"], ...]
    ) -> Losses:
        """Add up the squared errors, given those of the recalibrated forecasts."""
        sums = [numbers @ weights for numbers in self._numbers(recalibrated)]
        return Losses(np.append(np.concatenate(sums), weights.sum()), recalibrated)

    def _numbers(
        self, recalibrated: tuple[Float[np.ndarray, " n"], ...]
    ) -> Iterator[Float[np.ndarray, "3 n"]]:
        for f, y, squares in zip(self.forecast, self.outcome, recalibrated, strict=True):
            yield np.stack([(f - y) ** 2, squares, y])

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Losses, derivatives: Losses
    ) -> Float[np.ndarray, " n"]:
        by_event = derivatives.values[:-1].reshape(-1, 3)
        gradient = np.full(len(weights), derivatives.values[-1])
        for d, numbers in zip(by_event, self._numbers(table.recalibrated), strict=True):
            gradient += d @ numbers
        return gradient


@dataclass(frozen=True, eq=False)
class IsotonicRegression:
    """Forecasts, sorted once for all outcomes and weights."""

    distinct: Float[np.ndarray, " m"]
    place: Int[np.ndarray, " n"]

    @classmethod
    def on(cls, forecast: Float[np.ndarray, " n"]) -> IsotonicRegression:
        """Sort the forecasts."""
        return cls(*np.unique(forecast, return_inverse=True))

    def fitted(
        self, outcome: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]
    ) -> partial[Float[np.ndarray, " _"]]:
        """Fit the rising function of the forecast of least weighted squared error.

        It is constant over each pool of forecasts, and straight between the pools: `numpy.interp`
        with the distinct forecasts ``xp`` and their values ``fp``.
        """
        from scipy.optimize import isotonic_regression

        size = len(self.distinct)
        total = np.bincount(self.place, weights, size)
        counted = total > 0
        mean = np.bincount(self.place, weights * outcome, size)[counted] / total[counted]
        fit = isotonic_regression(mean, weights=total[counted])
        return partial(np.interp, xp=self.distinct[counted], fp=fit.x)
