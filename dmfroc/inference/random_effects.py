"""Random effects: sites or groups whose values differ by more than chance.

A value is measured with an error of known covariance. The true values are normal around what a
design says of them, by default one mean, with a standard deviation tau between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import null_space
from scipy.special import chdtri

from dmfroc.inference.scales import scale_of
from dmfroc.results.estimate import Estimate

PerTau = Float[np.ndarray, " j"]
"""One number for each value of tau, or of its square."""

_N_NODES = 400  # values of tau that stand for its distribution
_N_DRAWS = 200  # of the true values, for each fourth of these
_HALVINGS = 60
_LEAST = 1e-300  # of a variance that is divided by


class OnLine(NamedTuple):
    """A value and its standard error on the scale where its range has no ends."""

    value: float
    error: float


def on_line(estimate: Estimate, bounds: tuple[float, float]) -> OnLine:
    """Return an estimate on the scale where the range has no ends.

    A value at an end of a bounded range has no place there. We add half an error, as is usual for
    counts; several such values together have one half, see `dmfroc.applications.pool`.
    """
    (low, high), value, scale = bounds, estimate.value, scale_of(bounds)
    if low < value < high:
        return OnLine(
            float(scale.to_line(value)), float(scale.slope(value)) * estimate.standard_error
        )
    if not np.isfinite(high - low + value):
        return OnLine(np.nan, np.nan)
    n = cases_without_error(estimate, bounds)
    odds = np.log((n + 0.5) / 0.5) * (1 if value == high else -1)
    return OnLine(float(odds), float(np.sqrt(1 / (n + 0.5) + 2)))


def cases_without_error(estimate: Estimate, bounds: tuple[float, float]) -> float:
    """Return of how many cases without an error the limit is, by the rule of three."""
    reach = max(estimate.value - estimate.interval[0], estimate.interval[1] - estimate.value)
    unseen = reach / (bounds[1] - bounds[0])
    return float(np.log(1 - estimate.level) / np.log1p(-unseen)) if 0 < unseen < 1 else np.nan


def _last(holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Return the last numbers between two, up to which something holds."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = np.where(holds(middle), [middle, high], [low, middle])
    return (low + high) / 2


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """Values with errors, and true values that are normal around what a design says.

    Attributes
    ----------
    values : numpy.ndarray of shape (k,)
        On the scale where their range has no ends.
    covariance : numpy.ndarray of shape (k, k)
        Of their errors.
    design : numpy.ndarray of shape (k, p)
        Of the means; a column of ones for one mean.
    """

    values: Float[np.ndarray, " k"]
    covariance: Float[np.ndarray, "k k"]
    design: Float[np.ndarray, "k p"]

    @property
    def freedom(self) -> int:
        """How many more values than means there are."""
        return len(self.values) - self.design.shape[1]

    @cached_property
    def _contrasts(self) -> tuple[Float[np.ndarray, " f"], Float[np.ndarray, " f"]]:
        """Variances and squares of independent contrasts that do not depend on the means."""
        basis = null_space(self.design.T)
        variances, rotation = np.linalg.eigh(basis.T @ self.covariance @ basis)
        return np.maximum(variances, _LEAST), (rotation.T @ (basis.T @ self.values)) ** 2

    def statistic(self, tau2: PerTau | float) -> PerTau:
        """Return Cochran's Q, which is chi-squared at the true variance between sites."""
        variances, squares = self._contrasts
        total: PerTau
        total = (squares / (variances + np.atleast_1d(tau2)[:, None])).sum(axis=1)
        return total

    def log_likelihood(self, tau2: PerTau) -> PerTau:
        """Return the logarithm of the restricted likelihood, up to a constant."""
        variances, squares = self._contrasts
        total = variances + tau2[:, None]
        logs: PerTau = -(np.log(total) + squares / total).sum(axis=1) / 2
        return logs

    @cached_property
    def tau2(self) -> float:
        """The variance between sites, by restricted maximum likelihood."""
        variances, squares = self._contrasts
        nodes = squares.max() * np.append(0.0, np.geomspace(1e-9, 1, _N_NODES))
        best = int(self.log_likelihood(nodes).argmax())
        low, high = nodes[max(best - 1, 0)], nodes[min(best + 1, _N_NODES)]

        def rises(tau2: float) -> bool:
            total = variances + tau2
            return bool((squares / total**2 - 1 / total).sum() > 0)

        return float(_last(rises, low, high)) if low > 0 or rises(0.0) else 0.0

    def tau2_at(self, probabilities: PerTau) -> PerTau:
        """Return quantiles of the confidence distribution of tau^2, which inverts Cochran's Q."""
        wanted = chdtri(self.freedom, probabilities)
        low, high = np.zeros(len(wanted)), self._contrasts[1].sum() / wanted
        found = _last(lambda tau2: self.statistic(tau2) > wanted, low, high)
        return np.where(self.statistic(0.0) > wanted, found, 0.0)

    @cached_property
    def nodes(self) -> PerTau:
        """Equally probable variances between sites, of the confidence distribution."""
        return self.tau2_at((np.arange(_N_NODES) + 0.5) / _N_NODES)

    @cached_property
    def _rotated(self) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k p"], Any]:
        """Variances of independent combinations of the values, their design, and the rotation."""
        variances, rotation = np.linalg.eigh(self.covariance)
        return np.maximum(variances, _LEAST), rotation.T @ self.design, rotation

    def fits(self, tau2: PerTau) -> tuple[Float[np.ndarray, "j p"], Float[np.ndarray, "j p p"]]:
        """Return the means and their covariance for each variance between sites."""
        variances, design, rotation = self._rotated
        weighted = design / (variances + tau2[:, None])[..., None]
        covariances = np.linalg.inv(np.swapaxes(weighted, 1, 2) @ design)
        pulls = np.swapaxes(weighted, 1, 2) @ (rotation.T @ self.values)
        return (covariances @ pulls[..., None])[..., 0], covariances

    def fit(self, tau2: float) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, "p p"]]:
        """Return the means and their covariance if the variance between sites is known."""
        means, covariances = self.fits(np.array([tau2]))
        return means[0], covariances[0]

    def _precision(self, tau2: float) -> Float[np.ndarray, "k k"]:
        variances, _, rotation = self._rotated
        return rotation / (variances + tau2) @ rotation.T

    def weights(self) -> Float[np.ndarray, " k"]:
        """Return the share of each value in the means."""
        of_each = (self._precision(self.tau2) @ self.design).sum(axis=1)
        return of_each / of_each.sum()

    def corrected(self) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, "p p"]]:
        """Return the means with the covariance of Hartung, Knapp, Sidik and Jonkman.

        It is never smaller than without their factor. With few sites of unlike precision the
        factor alone gives intervals that cover 91 to 93 %.
        """
        means, covariance = self.fit(self.tau2)
        factor = float(self.statistic(self.tau2)[0]) / self.freedom
        return means, covariance * max(factor, 1.0)

    def draws(self, seed: int) -> Float[np.ndarray, "draws k"]:
        """Draw the true values, jointly: over tau, over the means, and given these.

        Let V be the covariance of the errors, and P the precision of the values less what the means
        explain. With a flat prior on the means, errors given the values have the mean V P y and
        the covariance V - V P V, as in best linear prediction.
        """
        generator, v, x = np.random.default_rng(seed), self.covariance, self.design
        parts = []
        for tau2 in self.nodes[2::4].tolist():
            precision = self._precision(tau2)
            explained = precision @ x
            left = precision - explained @ np.linalg.solve(x.T @ explained, explained.T)
            roots, vectors = np.linalg.eigh(v - v @ left @ v)
            normal = generator.standard_normal((_N_DRAWS, len(v)))
            noise = normal * np.sqrt(np.maximum(roots, 0)) @ vectors.T
            parts.append(self.values - v @ left @ self.values + noise)
        return np.concatenate(parts)
