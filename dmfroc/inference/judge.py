"""Few verified labels and a judge of all rows: the combination of least variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from dmfroc._kit.arrays import BoolPerRow, IntPerRow, PerRow
from dmfroc.inference.influences import NO_VARIATION, Influences

_SELECTED = 0.01  # p-values below say that rows were not drawn at random
_FEWEST_FOR_TEST = 5
_MOST_APART = 2.0  # times the variance on all rows, up to which it counts beside verified ones


class Judged(NamedTuple):
    """A value that a judge has made more precise.

    Attributes
    ----------
    value : float
        ``verified + weight * (judge on all rows - judge on verified rows)``.
    influences : numpy.ndarray of shape (n,)
        Of every row on it.
    weight : float
        The weight of least variance, 0 if the judge says nothing of the verified labels, or if its
        difference does not vary.
    """

    value: float
    influences: PerRow
    weight: float


def judged(
    verified: Influences,
    judge_on_all: Influences,
    judge_on_verified: Influences,
    is_verified: BoolPerRow,
    stratum: IntPerRow,
    n_labels: Float[np.ndarray, " s"],
) -> Judged:
    """Return the combination with the least variance.

    Verified rows are a random part of their stratum. So the variance of the difference of the
    judge's two values is that on all rows, times the number of rows per label, less 1. It is known
    more precisely than from the verified rows alone. But if these vary far more, as by a large loss
    that happened to be drawn, the weight follows them.

    Parameters
    ----------
    verified : Influences
        The value by the verified labels, and the influence of every row on it; 0 of other rows.
    judge_on_all, judge_on_verified : Influences
        The value by the judge's labels, on all rows and on those that were verified.
    is_verified : numpy.ndarray of bool, shape (n,)
        Which rows are verified.
    stratum : numpy.ndarray of int, shape (n,)
        The stratum of each row, within which verified rows were drawn.
    n_labels : numpy.ndarray of shape (s,)
        Effective number of verified rows in each stratum.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: efficient prediction-powered inference; their
    lambda multiplies the difference to the rows that were not verified, and is smaller by the share
    of these.
    """
    difference = judge_on_all.influences - judge_on_verified.influences
    variance = covariance = 0.0
    for place, labels in enumerate(n_labels):
        rows = stratum == place
        both = rows & is_verified
        n, inverse = int(rows.sum()), max(labels, 2) / (max(labels, 2) - 1)
        own, of_judge = (x.influences[both] for x in (verified, judge_on_verified))
        of_all = (n / labels - 1) * judge_on_all.influences[rows].var() * n**2 / max(n - 1, 1)
        of_some = (1 - labels / n) * of_judge.var() * len(own) * inverse
        variance += max(of_all, of_some / _MOST_APART)
        covariance += (own - own.mean()) @ difference[both] * inverse
    least = (NO_VARIATION * max(abs(verified.value), 1)) ** 2
    weight = -float(covariance / variance) if variance > least else 0.0
    return Judged(
        verified.value + weight * (judge_on_all.value - judge_on_verified.value),
        verified.influences + weight * difference,
        weight,
    )


def selection_message(is_verified: BoolPerRow, columns: Mapping[str, PerRow]) -> str | None:
    """Say so if verified and other rows differ in what is known of all rows (Welch's test)."""
    p_values = {}
    for name, values in columns.items():
        parts = [values[is_verified], values[~is_verified]]
        if min(map(len, parts)) < _FEWEST_FOR_TEST:
            continue
        variances = [part.var(ddof=1) / len(part) for part in parts]
        error = np.sqrt(sum(variances))
        if error > 0:
            statistic = abs(parts[0].mean() - parts[1].mean()) / error
            p_values[name] = min(2 * float(ndtr(-statistic)) * len(columns), 1.0)
    if not p_values:
        return None
    name, p_value = min(p_values.items(), key=lambda item: item[1])
    if p_value >= _SELECTED:
        return None
    return (
        "give the probability with which each row was drawn, judge=Judge(labels, probability=...), "
        f"if it was not the same: verified and other rows differ in {name} (p = {p_value:.2g}). "
        "The value is biased if rows were not drawn at random. If so many rows of each true class "
        "were verified, judged_shares finds the shares of the classes"
    )
