"""Ranges that depend on the number of classes and on their shares.

Each function takes the shares of the K classes among the observations, and whether these are fixed.
If they are, it returns the smallest and the largest value of all predictions of such observations;
otherwise those of all samples of K classes. The extremes are found where no prediction is right and
nearly all are of two classes, among the largest or the smallest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerClass
from dmfroc.measures import curve_summaries
from dmfroc.measures.statistics.curves import CurvePoints

_ROUNDING = 1e-13  # of a value, which may not leave its range
Shares = PerClass
Bounds = tuple[float, float]
RangeOfShares = Callable[[Shares, bool], Bounds]


def _two_largest(shares: Shares) -> tuple[float, float]:
    second, first = np.sort(shares)[-2:]
    return float(first), float(second)


def _pairs(shares: Shares) -> Iterator[tuple[float, float, Any]]:
    """Go through the pairs that can be extreme: their shares, and those of the other classes."""
    order = np.argsort(-shares).tolist()
    extreme = dict.fromkeys([*order[:2], *order[-2:]])
    for first, second in itertools.permutations(extreme, 2):
        others = np.delete(shares, [first, second])
        if shares[first] < 1:
            yield float(shares[first]), float(shares[second]), others


def informedness(shares: Shares, is_fixed: bool, weighting: str = "bias") -> Bounds:
    """-1 to 1 over all samples, for K > 2 only as a limit; by the even mean -2/K to 1."""
    k = len(shares)
    if not is_fixed:
        return (-2 / k if weighting == "macro" else -1.0, 1.0)
    if weighting == "bias":
        # All are taken for class i, those of class i for the next: -5/6 of three even classes.
        return _down_to(max(1 - p + p**2 / (1 - q) for q, p, _ in _pairs(shares)))
    first, second = _two_largest(shares)
    if first == 1:
        return -1.0, 1.0
    if weighting == "prevalence":
        return _down_to(first / (1 - second))
    return _down_to((1 + first / (1 - second)) / k)


def markedness(shares: Shares, is_fixed: bool, weighting: str = "prevalence") -> Bounds:
    """-1 to 1 over all samples; by the even mean -2/K to 1."""
    k = len(shares)
    if not is_fixed:
        return (-2 / k if weighting == "macro" else -1.0, 1.0)
    if weighting == "bias":
        return _down_to(max(1 - p + p * q / (1 - p) for p, q, _ in _pairs(shares)))
    if weighting == "prevalence":
        # Classes that are hardly ever predicted, and never rightly, add their share.
        return _down_to(max(p + q**2 / (1 - p) + (r**2).sum() for p, q, r in _pairs(shares)))
    return _down_to(max(1 + q / (1 - p) + r.sum() for p, q, r in _pairs(shares)) / k)


def _down_to(size: float) -> Bounds:
    return max(-size, -1.0), 1.0  # which rounding exceeds


def _chance_corrected(largest_chance: float) -> Bounds:
    return _down_to(largest_chance / (1 - largest_chance) if largest_chance < 1 else 1.0)


def cohen_kappa(shares: Shares, is_fixed: bool) -> Bounds:
    """-1 to 1 over all samples."""
    if not is_fixed:
        return -1.0, 1.0
    first, second = _two_largest(shares)
    return _chance_corrected(first * (1 - first + second))


def scott_pi(shares: Shares, is_fixed: bool) -> Bounds:
    """-1 to 1 over all samples."""
    if not is_fixed:
        return -1.0, 1.0
    *others, second, first = np.sort(shares).tolist()
    return _chance_corrected((1 + (first + second) ** 2 + sum(p**2 for p in others)) / 4)


def s_coefficient(shares: Shares, is_fixed: bool) -> Bounds:
    """-1/(K - 1), if no prediction is right, to 1."""
    return -1 / (len(shares) - 1), 1.0


def evenness_predicted(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to that of even predictions, (K - 1)/K^2."""
    k = len(shares)
    return 0.0, (k - 1) / k**2


def evenness_global(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to that of even predictions of even classes."""
    k = len(shares)
    even = (k - 1) / k**2
    if not is_fixed:
        return 0.0, even
    variances = shares * (1 - shares)
    real = 1 / (1 / variances).mean() if (variances > 0).all() else 0.0
    return 0.0, float(np.sqrt(real * even)) or even


def entropy_predicted(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to ln K, also of the predictions of one class."""
    return 0.0, float(np.log(len(shares)))


def entropy_real(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to the entropy of the class, which is at most ln K."""
    occurring = shares[shares > 0]
    entropy = float(-(occurring * np.log(occurring)).sum())
    return 0.0, entropy if is_fixed and entropy > 0 else float(np.log(len(shares)))


def lift(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to one over the share of the positive class."""
    return 0.0, 1 / float(shares[1]) if is_fixed and shares[1] > 0 else np.inf


def weighted_relative_accuracy(shares: Shares, is_fixed: bool) -> Bounds:
    """From minus to plus the variance of the class, which is at most 1/4."""
    largest = float(shares[0] * shares[1]) if is_fixed else 0.0
    return (-largest, largest) if largest > 0 else (-0.25, 0.25)


def _positive_shares(shares: Shares) -> Float[np.ndarray, " curves"]:
    """Return the shares of the positives of each curve: of two classes there is one."""
    return shares[1:] if len(shares) == 2 else shares[shares > 0]


def lift_area(shares: Shares, is_fixed: bool, ties: str = "half") -> Bounds:
    """p/2 to 1 - p/2, p being the share of the positives; 0 or 1 where ties can reach it."""
    if not is_fixed:
        return 0.0, 1.0
    half = float(_positive_shares(shares).mean()) / 2
    return half if ties != "lower" else 0.0, 1 - half if ties != "upper" else 1.0


def precision_recall(shares: Shares, is_fixed: bool) -> Bounds:
    """0 to 1; not below the area where all negatives come first (Boyd et al. 2012)."""
    if not is_fixed:
        return 0.0, 1.0
    p = _positive_shares(shares)
    return float((1 + np.log1p(-p) * (1 - p) / p).mean()), 1.0


def brier_resolution(shares: Shares, is_fixed: bool, least: float = -1.0) -> Bounds:
    """Up to the uncertainty, half the sum of p (1 - p) over the classes."""
    most = float(shares @ (1 - shares)) + _ROUNDING if is_fixed else 1 - 1 / len(shares)
    return least, most / 2


def at_first(shares: Shares, is_fixed: bool, share: float, value: str) -> Bounds:
    """0 to 1; with fixed shares, what the first ones can have of each class."""
    if not is_fixed:
        return 0.0, 1.0
    p = _positive_shares(shares)
    divisor = p if value == "tpr" else share
    least, most = np.maximum(share - (1 - p), 0) / divisor, np.minimum(share, p) / divisor
    return float(least.mean()), min(float(most.mean()) + _ROUNDING, 1.0)


def kappa_area(shares: Shares, is_fixed: bool, method: str = "exact") -> Bounds:
    """Between the areas of a perfect classifier and of one that ranks all negatives first."""
    if method != "exact":
        return -1.0, 1.0
    if not is_fixed:
        return -0.509, 2 - 2 * float(np.log(2))
    p, first, second = _positive_shares(shares)[:, None], np.array([0, 1, 1]), np.array([0, 0, 1])
    worst, perfect = (
        float(curve_summaries.kappa_area(CurvePoints(p * tp, (1 - p) * fp), np).mean())
        for tp, fp in ((second, first), (first, second))
    )
    return worst - _ROUNDING, perfect + _ROUNDING
