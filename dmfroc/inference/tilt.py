"""The least favourable weights of independent units: a double saddlepoint, without draws.

Units have Dirichlet weights with the given masses, within each stratum. Among the weights whose sum
of influences is a given quantile of that law, those of largest likelihood are tilted: each is
``mass / (level - s influence)``, as in Owen's empirical likelihood. Skovgaard's formula gives the
probability of what lies beyond. It is that of the beta distribution to three digits where
influences have two values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from dmfroc._kit.arrays import divide

PerUnit = Float[np.ndarray, " u"]
IntPerUnit = Int[np.ndarray, " u"]
"""One number for each unit."""
PerStratum = Float[np.ndarray, " s"]
IntPerStratum = Int[np.ndarray, " s"]
"""One number for each stratum."""
StratumOfUnit = IntPerUnit
"""The stratum of each unit, from 0."""

_MANY, _BINS = 4_000, 1_000  # units that are counted in bins of their influences, of each stratum
_STEPS, _CLOSE = 80, 1e-6  # of the search for s, and of its quantile
_CONVERGED = 1e-12
_INNER_STEPS, _LAST_STEP = 100, 1e-7  # of Newton's method, whose next step would be the square
_NOTHING, _FAR = 1e-300, 1e15


class Atoms(NamedTuple):
    """Influences, of how many units each is, and their strata."""

    influences: PerUnit
    masses: PerUnit
    stratum: StratumOfUnit

    def binned(self) -> Atoms:
        """Return the means of narrow bins of each stratum, if there are many."""
        x = self.influences
        low, high = (x.min(), x.max()) if len(x) > _MANY else (0.0, 0.0)
        if not high > low:
            return self.merged()
        return self._means(((x - low) * ((_BINS - 1) / (high - low))).astype(int), _BINS)

    def merged(self) -> Atoms:
        """Return each influence once, if most units have one in common, as those of hard labels."""
        ordered = np.sort(self.influences)
        values = ordered[np.diff(ordered, prepend=-np.inf) > 0]
        if 2 * (len(values) - 1) > len(ordered):
            return self
        return self._means(values.searchsorted(self.influences), len(values))

    def _means(self, place: IntPerUnit, n_places: int) -> Atoms:
        x, masses, stratum = self
        place = place + stratum * n_places
        mass = np.bincount(place, masses)
        full = np.flatnonzero(mass)
        means = np.bincount(place, masses * x)[full] / mass[full]
        return Atoms(means, mass[full], full // n_places)

    def beside(self, other: Atoms) -> Atoms:
        """Return both."""
        return Atoms(*(np.append(a, b) for a, b in zip(self, other, strict=True)))

    def times(self, factor: float) -> Atoms:
        """Return multiples of the influences."""
        return self._replace(influences=self.influences * factor)

    def centred(self) -> PerUnit:
        """Return influences about the mean of their stratum."""
        x, masses, stratum = self
        means = divide(np.bincount(stratum, masses * x), np.bincount(stratum, masses), np)
        return x - means[stratum]


class Tilt(NamedTuple):
    """What makes the least favourable weights: s, and the level of each stratum."""

    s: float
    levels: PerStratum

    def weights(self, atoms: Atoms) -> PerUnit:
        """Return the weights; in each stratum they have the sum of the masses."""
        x, masses, stratum = atoms
        levels = self.levels if len(self.levels) == 1 else self.levels[stratum]
        return masses / np.maximum(levels - self.s * x, _NOTHING)


def tilt(atoms: Atoms, quantile: float) -> Tilt:
    """Return the least favourable weights at a quantile of the normal distribution.

    Parameters
    ----------
    atoms : Atoms
        The influences of the units, up to a constant in each stratum, and their masses: positive
        parameters of the Dirichlet distribution in each stratum, 1 for a unit.
    quantile : float
        -1.96 for the lower limit of a 95 % interval.

    Returns
    -------
    Tilt
        What makes the weights.

    References
    ----------
    Skovgaard (1987), Saddlepoint expansions for conditional distributions; Owen (2001), Empirical
    likelihood; Rubin (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import betaincinv
    >>> is_right = np.array([1.0] * 9 + [0.0])
    >>> atoms = Atoms(is_right, np.ones(10), np.zeros(10, int))
    >>> weights = tilt(atoms, -1.959964).weights(atoms)
    >>> round(float(weights @ is_right) / 10, 3), round(float(betaincinv(9, 1, 0.025)), 3)
    (0.662, 0.664)
    """
    centred, means, totals, scale = _standardized(atoms)
    if scale <= 0 or quantile == 0:
        return Tilt(0.0, np.ones(len(totals)))
    factor = np.sign(quantile) / scale
    with np.errstate(all="ignore"):  # far out
        s, levels, _ = _saddlepoint(centred.times(factor), totals, abs(quantile))
    return Tilt(s * factor, levels + s * factor * means)


def quantile_of(atoms: Atoms, total: float) -> float:
    """Return the quantile at which the least favourable weights have this sum of influences."""
    centred, means, totals, scale = _standardized(atoms)
    moved = total - means @ totals
    sign, largest = np.sign(moved), np.zeros(len(totals))
    if moved == 0:
        return 0.0
    np.maximum.at(largest, atoms.stratum, sign * centred.influences)
    if abs(moved) >= largest @ totals:  # of the weights that are all on the largest influence
        return float(sign) * np.inf
    with np.errstate(all="ignore"):  # far out
        found = _saddlepoint(centred.times(sign / scale), totals, abs(moved) / scale, of_sum=True)
    return float(sign * found[2])


def _standardized(atoms: Atoms) -> tuple[Atoms, PerStratum, PerStratum, float]:
    """Return influences about the means of their strata, these, sums of masses, and the scale."""
    x, masses, stratum = atoms
    totals = np.bincount(stratum, masses)
    means = divide(np.bincount(stratum, masses * x), totals, np)
    centred = atoms._replace(influences=x - means[stratum])
    variance = float(masses @ centred.influences**2)
    return centred, means, totals, np.sqrt(variance) if variance > _NOTHING else 0.0


def _saddlepoint(
    atoms: Atoms, totals: PerStratum, target: float, *, of_sum: bool = False
) -> tuple[float, Any, float]:
    """Return s > 0, at which the normal quantile is the target, the level of each stratum, and it.

    Or s at which the sum of influences is the target, of as large a scale: by Newton's method. The
    influences are about the mean of their stratum, with a variance of 1 under the weights. A single
    stratum has numbers instead of arrays, which take several times as long.
    """
    x, masses, stratum = atoms
    n, s, low, high = len(totals), target, 0.0, np.inf
    totals = totals[0] if n == 1 else totals
    levels, slopes, before, last, x_squared = np.float64(1), 0.0, 0.0, -np.inf, x**2
    quantile = target
    for _ in range(_STEPS):
        levels = _levels(atoms, totals, s, levels + slopes * (s - before), n)
        margins = (levels if n == 1 else levels[stratum]) - s * x
        squares = masses / margins**2
        b, d = _sums(squares, stratum, n), _sums(squares * x, stratum, n)
        slopes = d / b
        between = d * slopes if n == 1 else d @ slopes
        variance = max(float(squares @ x_squared - between), 0.0)
        r = np.sqrt(2 * max(float(masses @ np.log(margins)), 0.0))
        u = s * np.sqrt((b / totals if n == 1 else np.prod(b / totals)) * variance)
        quantile = r + np.log(u / r) / r if r > 1e-4 and u > 0 else u
        excess = (float(masses @ (x / margins)) if of_sum else quantile) - target
        if abs(excess) < _CLOSE or low >= high * (1 - _CONVERGED):
            break
        low, high = (s, high) if excess < 0 else (low, s)
        # The secant, at first the tangent
        slope = s * variance / r if before == 0 else (excess - last) / (s - before)
        before, last, s = s, excess, s - excess / (variance if of_sum else slope)
        if not low < s < high:
            s = (low + high) / 2 if np.isfinite(high) else 4 * low
        if not s <= _FAR:
            return before, levels, quantile
    return s, levels, quantile


def _levels(atoms: Atoms, totals: Any, s: float, start: Any, n: int) -> Any:
    """Return the level of each stratum, with which its weights have their sum (Newton)."""
    x, masses, stratum = atoms
    moved = s * x
    if n == 1:
        least: Any = (moved + masses / totals).max()
        larger: Any = max
    else:
        least, larger = np.full(n, -np.inf), np.maximum
        np.maximum.at(least, stratum, moved + masses / totals[stratum])
    levels = larger(start, least)
    for _ in range(_INNER_STEPS):
        weights = 1 / ((levels if n == 1 else levels[stratum]) - moved)
        of_masses = masses * weights
        sums = _sums(of_masses, stratum, n)
        step = (sums / totals - 1) * sums / _sums(of_masses * weights, stratum, n)
        levels = larger(levels + step, least)
        is_last = abs(step) <= _LAST_STEP * (1 + abs(levels))
        if is_last if n == 1 else is_last.all():
            break
    return levels


def _sums(numbers: PerUnit, stratum: StratumOfUnit, n: int) -> Any:
    return np.add.reduce(numbers) if n == 1 else np.bincount(stratum, numbers, n)


def residual_freedom(seen: Atoms, centred: PerUnit, variance: float) -> float:
    """Return the degrees of freedom of the variance, as far as the mean does not determine it.

    That is ``2 V^2 / (sum x^4 - sum_c V_c^2 / n_c - (sum x^3)^2 / sum x^2)``. The variance of zeros
    and ones follows from their mean: infinitely many. Normal influences have about as many as there
    are units. ``variance`` is that with the unseen units.
    """
    squares, (_, masses, stratum) = centred**2, seen
    of_strata = np.bincount(stratum, masses * squares)
    total = float(of_strata.sum())
    if total <= _NOTHING:
        return np.inf
    between = divide(of_strata**2, np.bincount(stratum, masses), np).sum()
    fourth, third = masses @ squares**2, (masses * squares) @ centred
    left = float(fourth - between - third**2 / total)
    return max(2 * variance**2 / left, 1.0) if left > 1e-9 * variance**2 else np.inf


def quantile_of_t(freedom: float, error: float) -> float:
    """Return the two-sided quantile of t, for a variance with the unseen unit among the others."""
    if not np.isfinite(freedom):
        return float(-ndtri(error / 2))
    return float(-stdtrit(freedom, error / 2) * np.sqrt(1 + 2 / freedom))


def error_of_t(freedom: float, quantile: float) -> float:
    """Return the error probability with this quantile, see `quantile_of_t`."""
    if not np.isfinite(freedom):
        return 2 * float(ndtr(-quantile))
    return 2 * float(stdtr(freedom, -quantile / np.sqrt(1 + 2 / freedom)))
