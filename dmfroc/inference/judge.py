"""Few verified labels and a judge of all rows: the combination of least variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr

_SELECTED = 0.01  # p-values below say that rows were not drawn at random
_FEWEST_FOR_TEST = 5


class Part(NamedTuple):
    """A value, and the influence of every row on it; rows without a part in it have none."""

    value: float
    influences: Float[np.ndarray, " n"]


class Judged(NamedTuple):
    """A value that a judge has made more precise.

    Attributes
    ----------
    value : float
        ``verified + weight * (judge on all rows - judge on verified rows)``.
    influences : numpy.ndarray of shape (n,)
        Of every row on it.
    weight : float
        The weight of least variance, 0 if the judge says nothing of the verified labels.
    """

    value: float
    influences: Float[np.ndarray, " n"]
    weight: float


def judged(
    verified: Part, judge_on_all: Part, judge_on_verified: Part, n_rows_per_label: float
) -> Judged:
    """Return the combination with the least variance.

    The judge's variance comes from all rows. Verified rows are a random part of them, so that its
    two values differ by ``n_rows_per_label - 1`` times the variance on all rows: that is known more
    precisely than from the verified rows alone.

    Parameters
    ----------
    verified : Part
        The value by the verified labels.
    judge_on_all, judge_on_verified : Part
        The value by the judge's labels, on all rows and on those that were verified.
    n_rows_per_label : float
        Number of rows over the effective number of verified ones.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: efficient prediction-powered inference; their
    lambda multiplies the difference to the rows that were not verified, and is smaller by the share
    of these.
    """
    difference = judge_on_all.influences - judge_on_verified.influences
    n = len(difference)
    labels = max(n / n_rows_per_label, 2)
    variance = (n_rows_per_label - 1) * (judge_on_all.influences @ judge_on_all.influences)
    variance *= n / max(n - 1, 1)
    covariance = verified.influences @ difference * labels / (labels - 1)
    weight = -float(covariance / variance) if variance > 0 else 0.0
    return Judged(
        verified.value + weight * (judge_on_all.value - judge_on_verified.value),
        verified.influences + weight * difference,
        weight,
    )


def selection_message(
    is_verified: Bool[np.ndarray, " n"], columns: Mapping[str, Float[np.ndarray, " n"]]
) -> str | None:
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
        f"verified and other rows differ in {name} (p = {p_value:.2g}): if rows were not drawn at "
        "random, the value is biased. Give the probability with which each row was drawn as "
        "label_probability="
    )
