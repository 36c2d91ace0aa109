"""Recalibrations: logistic and isotonic regressions of the outcome on what was forecast.

A regression is fitted anew for every set of weights. The derivative of its coefficients with
respect to a weight is the inverse of the information times the score of the observation; what it
minimises has the derivative that it has with the fit held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray
from dmfroc.measures.statistics.forecasts import Sums
from dmfroc.measures.statistics.statistic import Statistic

_MOST_STEPS = 60
_CONVERGED = 1e-10  # of a step of the coefficients
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
        weighted = p * weights
        first = np.diag(weighted[1:].sum(axis=1)) - p[1:] @ weighted[1:].T
        mean = np.einsum("kn,kmn->mn", p[1:], self.features)
        last = (mean * weighted[0]) @ mean.T
        mixed = np.empty((len(first), len(mean)))
        for k, features in enumerate(self.features):
            centred = features - mean
            mixed[k] = centred @ weighted[k + 1]
            last += (centred * weighted[k + 1]) @ centred.T
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


@dataclass(frozen=True, eq=False)
class IsotonicLosses(Statistic):
    """Squared errors of the forecasts of several events, and of their isotonic recalibrations.

    The table has, for each event, the sums of both and the weight of the event; the last number is
    that of all weights.
    """

    forecast: Float[np.ndarray, "events n"]
    outcome: Float[np.ndarray, "events n"]

    is_compiled: ClassVar[bool] = False

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Sums:
        return Sums(np.append((self.numbers(weights) @ weights).ravel(), weights.sum()))

    def numbers(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "events 3 n"]:
        """Return both squared errors and the outcome of every observation."""
        return np.stack(
            [
                np.stack([(f - y) ** 2, (isotonic(f, y, weights)(f) - y) ** 2, y])
                for f, y in zip(self.forecast, self.outcome, strict=True)
            ]
        )

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Sums, derivatives: Sums
    ) -> Float[np.ndarray, " n"]:
        numbers = self.numbers(weights).reshape(-1, len(weights))
        found: Float[np.ndarray, " n"] = derivatives.sums[:-1] @ numbers + derivatives.sums[-1]
        return found


@dataclass(frozen=True)
class Isotonic:
    """A rising function: constant over each pool of forecasts, straight between the pools."""

    forecasts: Float[np.ndarray, " m"]
    values: Float[np.ndarray, " m"]

    def __call__(self, forecast: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return np.interp(forecast, self.forecasts, self.values)


def isotonic(
    forecast: Float[np.ndarray, " n"],
    outcome: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
) -> Isotonic:
    """Fit the rising function of the forecast of least weighted squared error."""
    from scipy.optimize import isotonic_regression

    counted = weights > 0
    distinct, place = np.unique(forecast[counted], return_inverse=True)
    total = np.bincount(place, weights[counted])
    mean = np.bincount(place, (weights * outcome)[counted]) / total
    return Isotonic(distinct, isotonic_regression(mean, weights=total).x)
