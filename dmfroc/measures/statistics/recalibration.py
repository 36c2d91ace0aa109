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

    The linear predictor of class k is its offset, plus an intercept, 0 for the first class, plus
    the features of the class times coefficients that the classes share.
    """

    outcome: Int[np.ndarray, " n"]
    offset: Float[np.ndarray, "n k"]
    features: Float[np.ndarray, "n k m"]

    is_compiled: ClassVar[bool] = False

    def predicted(self, coefficients: Float[np.ndarray, " q"]) -> Float[np.ndarray, "n k"]:
        """Return the probabilities of all classes."""
        n_intercepts = self.offset.shape[1] - 1
        intercepts = np.append(0.0, coefficients[:n_intercepts])
        eta = self.offset + intercepts + self.features @ coefficients[n_intercepts:]
        eta = np.exp(eta - eta.max(axis=1, keepdims=True))
        found: Float[np.ndarray, "n k"] = eta / eta.sum(axis=1, keepdims=True)
        return found

    def scores(self, p: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n q"]:
        """Return the derivative of each observation's log-likelihood, at these probabilities."""
        residuals = np.eye(p.shape[1])[self.outcome] - p
        of_features = np.einsum("nk,nkm->nm", residuals, self.features)
        return np.concatenate([residuals[:, 1:], of_features], axis=1)

    def information(
        self, p: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, "q q"]:
        """Return minus the second derivatives of the log-likelihood."""
        weighted = p * weights[:, None]
        centred = self.features - np.einsum("nk,nkm->nm", p, self.features)[:, None]
        first = np.diag(weighted.sum(axis=0)) - p.T @ weighted
        mixed = np.einsum("nk,nkm->km", weighted, centred)[1:]
        flat = centred.reshape(p.size, centred.shape[2])
        last = (flat * weighted.reshape(-1, 1)).T @ flat
        return np.block([[first[1:, 1:], mixed], [mixed.T, last]])

    def count(self, weights: Float[np.ndarray, " n"], xp: Any) -> Coefficients:
        return self.fitted(weights)

    def fitted(
        self, weights: Float[np.ndarray, " n"], start: Coefficients | None = None
    ) -> Coefficients:
        """Fit by Newton's method with halved steps; NaN where the classes are separated.

        ``start`` are the coefficients of similar weights.
        """
        q = self.offset.shape[1] - 1 + self.features.shape[2]
        found = np.zeros(q) if start is None else start.values
        p = self.predicted(found)
        loss = self._loss(p, weights)
        undefined = Coefficients(np.full(q, np.nan))
        for _ in range(_MOST_STEPS):
            try:
                step = np.linalg.solve(self.information(p, weights), weights @ self.scores(p))
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

    def _loss(self, p: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"]) -> Any:
        of_outcome = np.take_along_axis(p, self.outcome[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return -weights @ np.where(weights > 0, np.log(of_outcome), 0)

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Coefficients, derivatives: Coefficients
    ) -> Float[np.ndarray, " n"]:
        if not np.isfinite(table.values).all():
            return np.full(len(weights), np.nan)
        p = self.predicted(table.values)
        direction = np.linalg.solve(self.information(p, weights), derivatives.values)
        found: Float[np.ndarray, " n"] = self.scores(p) @ direction
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
