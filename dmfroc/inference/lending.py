"""What classes say of each other's variance: one with few cases borrows from the others.

The influences of a case, scaled to single cases, vary alike in all classes if the measure gives
every class the same weight, as Hand and Till's M does. They vary by the square of the class size if
it gives every case the same, as accuracy does. In between, the variance of class c is taken to be
proportional to n_c^b. The exponent is that which fits the other classes best, if it differs from
zero by more than three standard errors. It is drawn towards zero by a part that falls with that
distance (the positive part of James and Stein's estimator).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

_NOTABLE = 9.0  # square of an exponent in standard errors
_LARGEST = 4.0  # exponent that is thought of, with a prior standard deviation of 1
_UNSUSPICIOUS = 1.0  # square of a score in standard errors; below it no exponent is notable
_STEPS, _CONVERGED = 20, 1e-9  # of Newton's method, for a convex function
_MOST_LEFT_OUT = 30  # classes; of more than these one makes no difference to the exponent


class Lending(NamedTuple):
    """How much of each class's variance goes into that which another borrows."""

    sizes: Int[np.ndarray, " s"]
    own: Int[np.ndarray, " s"]
    exponents: Float[np.ndarray, " s"]

    def __call__(self, variances: Float[np.ndarray, " s"]) -> Float[np.ndarray, " s"]:
        """Return what each class borrows."""
        shares = self.own / max(self.own.sum(), 1)
        if not self.exponents.any():
            return np.full(len(variances), shares @ variances)
        logs = np.log(self.sizes)
        powers = self.exponents[:, None] * (logs[:, None] - logs)
        return (shares * np.exp(powers)) @ variances


def lending(
    sizes: Int[np.ndarray, " s"],
    own: Int[np.ndarray, " s"],
    variances: Float[np.ndarray, " s"],
    freedom: Float[np.ndarray, " s"],
) -> Lending:
    """Return how classes of these sizes borrow.

    ``own`` are the degrees of freedom of the variances.
    ``freedom`` is less than that where the kurtosis makes a variance more uncertain.
    """
    n_classes = len(sizes)
    weights = freedom[None, :]
    if n_classes <= _MOST_LEFT_OUT:
        weights = np.where(np.eye(n_classes, dtype=bool), 0.0, weights)
    total = weights.sum(axis=1)
    logs = np.log(sizes)
    means = (weights @ logs) / np.where(total > 0, total, 1)
    logs = logs - means[:, None]
    information = (weights * logs**2).sum(axis=1) / 2
    exponents = np.zeros(len(weights))
    is_known = (information * _LARGEST**2 > _NOTABLE) & ((weights @ variances) > 0)
    is_known &= _score(logs, variances, weights) ** 2 > _UNSUSPICIOUS * information
    if is_known.any():
        fitted = _fit(logs[is_known], variances, weights[is_known])
        square = fitted**2 * information[is_known]
        exponents[is_known] = fitted * np.maximum(1 - _NOTABLE / np.maximum(square, _NOTABLE), 0)
    return Lending(sizes, own, np.broadcast_to(exponents, n_classes))


def _score(
    logs: Float[np.ndarray, "r s"],
    variances: Float[np.ndarray, " s"],
    weights: Float[np.ndarray, "r s"],
) -> Float[np.ndarray, " r"]:
    """Return the derivative of the likelihood at an exponent of zero."""
    of_class = weights * variances
    total = of_class.sum(axis=1)
    mean = (of_class * logs).sum(axis=1) / np.where(total > 0, total, 1)
    return weights.sum(axis=1) / 2 * mean


def _fit(
    logs: Float[np.ndarray, "r s"],
    variances: Float[np.ndarray, " s"],
    weights: Float[np.ndarray, "r s"],
) -> Float[np.ndarray, " r"]:
    """Return the exponents that fit variances best, by the likelihood of chi-squared ones.

    Unlike a regression of their logarithms it takes a variance of zero.
    """
    half = weights.sum(axis=1) / 2
    exponents = np.zeros(len(weights))
    for _ in range(_STEPS):
        parts = weights * variances * np.exp(-exponents[:, None] * logs)
        parts /= parts.sum(axis=1, keepdims=True)
        mean = (parts * logs).sum(axis=1)
        spread = (parts * logs**2).sum(axis=1) - mean**2
        step = (exponents - half * mean) / (half * spread + 1)
        exponents = np.clip(exponents - np.clip(step, -0.5, 0.5), -_LARGEST, _LARGEST)
        if np.abs(step).max() < _CONVERGED:
            break
    return exponents
