"""Several intervals or tests that hold together, by the largest of their statistics (max-T).

Standardized estimation errors are about jointly normal. The largest of them is simulated from their
correlations; its quantile says at which higher level each interval has to be taken, whatever the
distribution on which that interval itself rests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri

from dmfroc._kit.arrays import Covariance, PerDraw
from dmfroc.results.difference import Difference

_MOST_DRAWS = 50_000
_FEWEST_DRAWS = 10_000
_NUMBERS = 1 << 25  # statistics in all draws; many differences leave fewer for each
_NUMBERS_AT_ONCE = 1 << 17  # which stay in the processor's cache
_NO_VARIANCE = 1e-14  # of a contrast, relative to the variances of what it contrasts


@dataclass(frozen=True, eq=False)
class LargestStatistic:
    """The distribution of the largest of several correlated standard normal statistics.

    Attributes
    ----------
    draws : numpy.ndarray of shape (draws,)
        Ascending; empty if no contrast varies.
    n_statistics : int
        Number of the contrasts that vary.
    two_sided : bool
        Whether the draws are of absolute values.
    """

    draws: PerDraw
    n_statistics: int
    two_sided: bool = True

    def level_of_each(self, level: float) -> float:
        """Return the level at which intervals must be taken for all of them to hold at once."""
        if self.n_statistics < 2:
            return level
        tail = float(ndtr(-np.quantile(self.draws, level)))
        # Bonferroni's level bounds it, also where the quantile is that of few draws.
        least = max((1 - level) / self.n_statistics, (2 if self.two_sided else 1) * tail)
        return 1 - min(least, 1 - level)

    def adjusted(self, p_value: float) -> float:
        """Return the probability that the smallest p-value of all is as small as this one."""
        if self.n_statistics < 2:
            return p_value
        statistic = -ndtri(p_value / 2 if self.two_sided else p_value)
        n_draws = len(self.draws)
        as_large = n_draws - int(np.searchsorted(self.draws, statistic))
        share = (as_large + 1) / (n_draws + 1)
        return float(max(p_value, min(share, self.n_statistics * p_value, 1.0)))


def largest_statistic(
    covariance: Covariance,
    contrasts: Float[np.ndarray, "k m"],
    seed: int,
    *,
    two_sided: bool = True,
) -> LargestStatistic:
    """Simulate the largest of the standardized contrasts of jointly normal values.

    Parameters
    ----------
    covariance : numpy.ndarray of shape (m, m)
        Of the values.
    contrasts : numpy.ndarray of shape (k, m)
        Each row is a linear combination of the values; those without variance are left out.
    seed : int
        Seed of the draws.
    two_sided : bool
        Whether large negative contrasts count as large.

    References
    ----------
    Hothorn, Bretz and Westfall (2008), Simultaneous inference in general parametric models.

    Examples
    --------
    >>> import numpy as np
    >>> independent = largest_statistic(np.eye(2), np.eye(2), 0)
    >>> round(independent.level_of_each(0.95), 2)  # Sidak: the square root of 0.95
    0.97
    """
    variances = np.einsum("km,mn,kn->k", contrasts, covariance, contrasts, optimize=True)
    varies = variances > _NO_VARIANCE * (contrasts**2 @ np.diag(covariance))
    n_statistics = int(varies.sum())
    if n_statistics == 0:
        return LargestStatistic(np.empty(0), 0, two_sided)
    standardized = contrasts[varies] / np.sqrt(variances[varies])[:, None]
    # Seven digits of a draw are more than its quantiles have, and take half the time.
    to_statistics = (square_root(covariance) @ standardized.T).astype(np.float32)
    n_draws = int(np.clip(_NUMBERS // n_statistics, _FEWEST_DRAWS, _MOST_DRAWS))
    normal = _normal(seed, n_draws, len(covariance))
    at_once = max(_NUMBERS_AT_ONCE // n_statistics, 1)
    parts = []
    for first in range(0, n_draws, at_once):
        statistics = to_statistics.T @ normal[first : first + at_once].T
        if two_sided:
            np.abs(statistics, out=statistics)
        parts.append(statistics.max(axis=0))
    return LargestStatistic(np.sort(np.concatenate(parts)), n_statistics, two_sided)


@lru_cache(maxsize=2)
def _normal(seed: int, n_draws: int, n: int) -> Float[np.ndarray, "draws n"]:
    """Return standard normal draws, which the curves of several classes share, in two charts."""
    return np.random.default_rng(seed).standard_normal((n_draws, n), np.float32)


def square_root(covariance: Covariance) -> Float[np.ndarray, "m m"]:
    """Return the symmetric A such that A A is the covariance, which may be singular.

    It moves little with the covariance, as eigenvectors of equal eigenvalues do not.
    """
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.clip(eigenvalues, 0, None)) @ vectors.T


def holm(p_values: Sequence[float]) -> Float[np.ndarray, " tests"]:
    """Return p-values adjusted by Holm's method, whatever the correlations of the tests."""
    given = np.asarray(p_values, float)
    order = np.argsort(given, kind="stable")
    multiplied = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1)
    return adjusted


def holm_adjusted(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return differences with p-values adjusted for all of them by Holm's method."""
    given = list(differences)
    adjusted = holm([d.p_value for d in given]).tolist()
    return tuple(replace(d, adjusted_p_value=p) for d, p in zip(given, adjusted, strict=True))


def pairwise_differences(n: int) -> Float[np.ndarray, "pairs n"]:
    """Return the contrasts of every two of n values, in the order of `itertools.combinations`."""
    first, second = np.triu_indices(n, 1)
    identity = np.eye(n)
    return identity[first] - identity[second]
