"""Limits and e-values that hold at all times at once, however often one looks.

A nonnegative martingale that starts at 1 exceeds ``1 / error`` with probability ``error`` at most,
at any time (Ville 1939). A mixture over alternatives is such a martingale. Of zeros and ones it is
exact; of values with influences it is asymptotic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import betainc, betaln, log_ndtr, ndtr

PerStart = Float[np.ndarray, " s"]
"""One number for each time at which a change may have begun."""

_BEST_AT = 500  # rows at which limits are shortest
_MIXING = 8.1 / _BEST_AT  # variance of the mixture, by which they are so for 95 %
_JEFFREYS = 0.5
_CONCENTRATION = 10.0  # of the mixture of rates after a change, about the baseline
_BETS = 2.0 ** -np.arange(1, 9)  # shares of what may be lost; small ones for many rows
_SPACING, _RELATIVE_SPACING = 50, 20  # rows between possible changes, or their number by this


def error_at_one_time(n: int, error: float) -> float:
    """Return the error of an interval for one time that serves all times.

    Its normal quantile is the boundary of a normal mixture after ``n`` rows.

    References
    ----------
    Robbins (1970); Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central
    limit theory and asymptotic confidence sequences.
    """
    time = 1 + n * _MIXING
    boundary = np.sqrt(time / (n * _MIXING) * (np.log(time) - 2 * np.log(error)))
    return float(2 * ndtr(-boundary))


def limits_of_share(successes: int, n: int, error: float) -> tuple[float, float]:
    """Return limits of a rate that hold at all times at once, exactly, by Jeffreys' mixture.

    They are the rates whose bets on them have not lost, where the bets are those of Krichevsky and
    Trofimov (1981).
    """
    from scipy.optimize import brentq  # here, because a first comparison would wait for it

    if n == 0:
        return 0.0, 1.0
    mixture = betaln(successes + _JEFFREYS, n - successes + _JEFFREYS)
    threshold = mixture - betaln(_JEFFREYS, _JEFFREYS) + np.log(error)

    def excess(rate: float) -> float:
        likelihood = 0.0
        if successes:
            likelihood += successes * np.log(rate)
        if successes < n:
            likelihood += (n - successes) * np.log1p(-rate)
        return float(likelihood - threshold)

    share = successes / n
    least, most = 1e-12, 1 - 1e-12
    low = brentq(excess, least, share) if successes and excess(least) < 0 else 0.0
    high = brentq(excess, share, most) if successes < n and excess(most) < 0 else 1.0
    return float(low), float(high)


def log_e_value_of_shares(successes: PerStart, n: PerStart, baseline: float) -> PerStart:
    """Return the log e-value against rates at or above the baseline, exactly."""
    a, b = _CONCENTRATION * baseline, _CONCENTRATION * (1 - baseline)
    below = betainc(a + successes, b + n - successes, baseline) / betainc(a, b, baseline)
    mixture = betaln(a + successes, b + n - successes) - betaln(a, b)
    null = successes * np.log(baseline) + (n - successes) * np.log1p(-baseline)
    with np.errstate(divide="ignore"):
        log_e_values: PerStart = mixture + np.log(below) - null
    return log_e_values


def log_e_value_of_sums(sums: PerStart, n: PerStart) -> PerStart:
    """Return the log e-value for a negative mean from sums of ``n`` standardized terms."""
    time = 1 + n * _MIXING
    scaled = -sums * np.sqrt(_MIXING / time)
    return np.log(2) - 0.5 * np.log(time) + scaled**2 / 2 + log_ndtr(scaled)


def log_e_value_of_means(
    sums: PerStart, squares: PerStart, n: PerStart, baseline: float
) -> PerStart:
    """Return the log e-value for means of numbers in [0, 1] above a baseline.

    It is the mean over bets of exp(b e - (-log(1 - b) - b) q), where e is the sum of what exceeds
    the baseline and q that of its squares. It is exact.

    References
    ----------
    Fan, Grama and Liu (2015), Exponential inequalities for martingales with applications; Howard,
    Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence
    sequences.
    """
    excess = sums - n * baseline
    squared = squares - 2 * baseline * sums + n * baseline**2
    logs = np.multiply.outer(_BETS, excess) + np.multiply.outer(np.log1p(-_BETS) + _BETS, squared)
    log_e_values: PerStart = np.logaddexp.reduce(logs) - np.log(len(_BETS))
    return log_e_values


def limits_of_mean(total: float, squares: float, n: int, error: float) -> tuple[float, float]:
    """Return limits of a mean of numbers in [0, 1] that hold at all times at once, exactly."""
    from scipy.optimize import brentq

    if n == 0:
        return 0.0, 1.0
    threshold = np.log(2 / error)

    def lower_limit(total: float, squares: float) -> float:
        one, two, rows = (np.array([x], float) for x in (total, squares, n))

        def excess(baseline: float) -> float:
            return float(log_e_value_of_means(one, two, rows, baseline)[0] - threshold)

        return float(brentq(excess, 0.0, total / n)) if excess(0.0) > 0 else 0.0

    return lower_limit(total, squares), 1 - lower_limit(n - total, n - 2 * total + squares)


def next_possible_change(n: int) -> int:
    """Return after how many rows the next change may begin, if one may begin after ``n``.

    They are 50 rows apart, and later a twentieth of all rows: each makes the e-value smaller.
    """
    return n + max(_SPACING, n // _RELATIVE_SPACING)


def log_e_value_of_change(logs: Sequence[float] | PerStart) -> tuple[float, int]:
    """Return the log e-value of a change, and which of its starts explains it best.

    That of each possible start has the weight ``1 / ((j + 1) (j + 2))``; starts still to come
    have the e-value 1 each, and are left out.
    """
    weights = 1 / (np.arange(1, len(logs) + 1) * np.arange(2, len(logs) + 2))
    weighted = np.asarray(logs) + np.log(weights)
    return float(np.logaddexp.reduce(weighted)), int(np.argmax(weighted))
