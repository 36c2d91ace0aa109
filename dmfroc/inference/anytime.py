"""Limits that hold at all times at once, however often one looks.

A nonnegative martingale that starts at 1 exceeds ``1 / error`` with probability ``error`` at most,
at any time (Ville 1939). A mixture over alternatives is such a martingale. Of zeros and ones it is
exact; of values with influences it is asymptotic.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, ndtr

_BEST_AT = 500  # rows at which limits are shortest
_MIXING = 8.1 / _BEST_AT  # variance of the mixture, by which they are so for 95 %
_JEFFREYS = 0.5
_BETS = 2.0 ** -np.arange(1, 9)  # shares of what may be lost; small ones for many rows


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


def limits_of_mean(total: float, squares: float, n: int, error: float) -> tuple[float, float]:
    """Return limits of a mean of numbers in [0, 1] that hold at all times at once, exactly.

    The e-value against a mean of at most m is the mean over bets b of
    exp(b e - (-log(1 - b) - b) q). Here e is the sum of what exceeds m, and q that of its squares.

    References
    ----------
    Fan, Grama and Liu (2015), Exponential inequalities for martingales with applications; Howard,
    Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence
    sequences.
    """
    from scipy.optimize import brentq

    if n == 0:
        return 0.0, 1.0
    threshold = np.log(2 / error)

    def lower_limit(total: float, squares: float) -> float:
        def excess(mean: float) -> float:
            above, squared = total - n * mean, squares - 2 * mean * total + n * mean**2
            logs = _BETS * above + (np.log1p(-_BETS) + _BETS) * squared
            return float(np.logaddexp.reduce(logs) - np.log(len(_BETS)) - threshold)

        return float(brentq(excess, 0.0, total / n)) if excess(0.0) > 0 else 0.0

    return lower_limit(total, squares), 1 - lower_limit(n - total, n - 2 * total + squares)
