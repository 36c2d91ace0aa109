"""Recalibrations: logistic and isotonic regressions of the outcome on what was forecast.

A regression is fitted anew for every set of weights. The derivative of its coefficients with
respect to a weight is the inverse of the information times the score of the observation; what it
minimises has the derivative that it has with the fit held fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray
from dmfroc.measures.statistics.statistic import Statistic

_MOST_STEPS = 60
_CONVERGED = 1e-7  # of a step, whose square is about the error that is left
_MOST = 1e4  # of a coefficient; beyond, the classes are separated


class Coefficients(NamedTuple):
    """Intercepts of all classes but the first, then the coefficients of the features."""

    values: Float[AnyArray, " q"]


@dataclass(frozen=True, eq=False)
class LogisticFit(Statistic):
    """A multinomial logistic regression with offsets, for two or more classes.

    The linear predictor of the first class is 0. That of another class is its offset, plus an
    intercept, plus the features of the class times coefficients that the classes share.
    """

    outcome: Int[np.ndarray, " n"]
    offset: Float[np.ndarray, "others n"]
    features: Float[np.ndarray, "others m n"]

    is_compiled: ClassVar[bool] = False

    def predicted(self, coefficients: Float[np.ndarray, " q"]) -> Float[np.ndarray, "k n"]:
        """Return the probabilities of all classes."""
        intercepts, slopes = np.split(coefficients, [len(self.offset)])
        odds = np.zeros((len(self.offset) + 1, len(self.outcome)))
        odds[1:] = self.offset + intercepts[:, None] + slopes @ self.features
        odds -= odds.max(axis=0)
        np.exp(odds, out=odds)
        odds /= odds.sum(axis=0)
        return odds

    def scores(self, p: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "q n"]:
        """Return the derivative of each observation's log-likelihood, at these probabilities."""
        residuals = (np.arange(1, len(p))[:, None] == self.outcome) - p[1:]
        of_features = np.einsum("kn,kmn->mn", residuals, self.features)
        return np.concatenate([residuals, of_features])

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

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Coefficients:
        return self.fitted(weights)

    def fitted(
        self, weights: Float[np.ndarray, " n"], start: Coefficients | None = None
    ) -> Coefficients:
        """Fit by Newton's method with halved steps; NaN where the classes are separated.

        ``start`` are the coefficients of similar weights.
        """
        q = len(self.offset) + self.features.shape[1]
        found = np.zeros(q) if start is None else start.values
        p = self.predicted(found)
        loss = self._loss(p, weights)
        undefined = Coefficients(np.full(q, np.nan))
        for _ in range(_MOST_STEPS):
            try:
                step = np.linalg.solve(self.information(p, weights), self.scores(p) @ weights)
            except np.linalg.LinAlgError:
                return undefined
            size, most = 1.0, loss + 1e-12 * abs(loss)
            p = self.predicted(found + step)
            while (loss := self._loss(p, weights)) > most:
                size /= 2
                if size < 1e-6:
                    return undefined
                p = self.predicted(found + size * step)
            found = found + size * step
            if np.abs(found).max(initial=0) > _MOST or not np.isfinite(found).all():
                return undefined
            if np.abs(size * step).max(initial=0) < _CONVERGED * (1 + np.abs(found).max(initial=0)):
                return Coefficients(found)
        return undefined

    def _loss(self, p: Float[np.ndarray, "k n"], weights: Float[np.ndarray, " n"]) -> Any:
        of_outcome = np.take_along_axis(p, self.outcome[None], axis=0)[0]
        with np.errstate(divide="ignore"):
            return -weights @ np.where(weights > 0, np.log(of_outcome), 0)

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Coefficients, derivatives: Coefficients
    ) -> Float[np.ndarray, " n"]:
        if not np.isfinite(table.values).all():
            return np.full(len(weights), np.nan)
        p = self.predicted(table.values)
        direction = np.linalg.solve(self.information(p, weights), derivatives.values)
        found: Float[np.ndarray, " n"] = direction @ self.scores(p)
        return found


class Losses(NamedTuple):
    """Weighted sums over the observations.

    For each event there are the squared errors of the forecasts and of the recalibrated ones, and
    the weight of the event. The last number is the sum of all weights.
    """

    sums: Float[AnyArray, " m"]
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
        """Add up the squared errors, of which those of the recalibrated forecasts are given."""
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
        by_event = derivatives.sums[:-1].reshape(-1, 3)
        gradient = np.full(len(weights), derivatives.sums[-1])
        for d, numbers in zip(by_event, self._numbers(table.recalibrated), strict=True):
            gradient += d @ numbers
        return gradient


@dataclass(frozen=True)
class Isotonic:
    """A rising function: constant over each pool of forecasts, straight between the pools."""

    forecasts: Float[np.ndarray, " m"]
    values: Float[np.ndarray, " m"]

    def __call__(self, forecast: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return np.interp(forecast, self.forecasts, self.values)


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
    ) -> Isotonic:
        """Fit the rising function of the forecast of least weighted squared error."""
        from scipy.optimize import isotonic_regression

        size = len(self.distinct)
        total = np.bincount(self.place, weights, size)
        counted = total > 0
        mean = np.bincount(self.place, weights * outcome, size)[counted] / total[counted]
        fit = isotonic_regression(mean, weights=total[counted])
        return Isotonic(self.distinct[counted], fit.x)
