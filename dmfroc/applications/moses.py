"""Moses, Shapiro and Littenberg's summary ROC curve: one straight line of logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc.extend import AttributeTables, numbers, numbers_of_rows

_CORRECTION = 0.5  # added to every cell, so that all logits are finite
_ROUNDING = 1e-12  # of sums of logits, relative to the largest


@dataclass(frozen=True, eq=False, repr=False)
class MosesLittenbergROC(AttributeTables):
    """A summary ROC curve, ``D = intercept + slope S``.

    Attributes
    ----------
    intercept, slope : float
        Of the regression of D, the logarithm of the diagnostic odds ratio, on S, which grows as the
        threshold falls: difference and sum of the logits of the true and false positive rates.
    """

    intercept: float
    slope: float

    def tpr(self, fpr: Any) -> Float[np.ndarray, "*points"]:
        """Return the true positive rates of the curve at false positive rates in [0, 1]."""
        from scipy.special import expit, logit  # where it is used: importing it takes long

        rates = numbers("fpr", fpr)
        if not ((rates >= 0) & (rates <= 1)).all():
            raise ValueError(f"fpr must lie in [0, 1], but it is {fpr}")
        line = self.intercept + (1 + self.slope) * logit(rates)
        return np.asarray(expit(line / (1 - self.slope)))

    @property
    def auc(self) -> float:
        """Area under the curve, in [0, 1]; 1/2 where intercept and slope are 0."""
        from scipy.integrate import quad

        return float(quad(lambda x: float(self.tpr(x)), 0, 1)[0])

    @property
    def q_star(self) -> float:
        """The true positive rate where it equals the true negative rate, in [0, 1]."""
        from scipy.special import expit

        return float(expit(self.intercept / 2))


def moses_littenberg_roc(tp: Any, fp: Any, fn: Any, tn: Any) -> MosesLittenbergROC:
    """Fit a straight line to the logits of rates at several thresholds, or of several studies.

    Parameters
    ----------
    tp, fp, fn, tn : array-like of shape (t,)
        Counts or weights >= 0: of the thresholds of one curve, ``points.cells`` of
        `operating_points`, or of different studies. Half a case is added to each cell.

    Returns
    -------
    MosesLittenbergROC
        By ordinary least squares. Points of one curve depend on each other, which the line takes
        no account of, and neither does it of their different precision: `multiclass_roc` and
        `bayesian_roc` do.

    Raises
    ------
    ValueError
        If shapes differ, a count is negative or not finite, there are fewer than two different
        points, or the line is no ROC curve: its slope is not in (-1, 1).

    References
    ----------
    Moses, Shapiro and Littenberg (1993), Combining independent studies of a diagnostic test into a
    summary ROC curve; Wang and Carvalho (2024), Multiclass ROC, equation 15.

    Examples
    --------
    >>> from dmfroc.curves import operating_points
    >>> cells = operating_points([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]).cells
    >>> curve = moses_littenberg_roc(cells.tp, cells.fp, cells.fn, cells.tn)
    >>> round(curve.auc, 3), round(curve.q_star, 3)
    (0.668, 0.628)
    """
    cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    counts = numbers_of_rows(**cells)
    if counts[0].ndim != 1 or len({x.shape for x in counts}) > 1:
        shapes = ", ".join(str(x.shape) for x in counts)
        raise ValueError(
            f"tp, fp, fn and tn must be vectors of one length, but have shapes {shapes}"
        )
    for name, count in zip(cells, counts, strict=True):
        if not (np.isfinite(count) & (count >= 0)).all():
            raise ValueError(f"{name} must hold finite counts >= 0, but it is {count}")
    hits, alarms, misses, rejected = (np.log(x + _CORRECTION) for x in counts)
    difference, total = (hits - misses) - (alarms - rejected), (hits - misses) + (alarms - rejected)
    if not len(total) or np.ptp(total) <= _ROUNDING * np.abs(total).max():
        raise ValueError("a line needs two points that differ, but all have the same S")
    slope, intercept = np.polyfit(total, difference, 1)
    if not -1 < slope < 1:
        raise ValueError(
            f"the slope must be in (-1, 1) for a ROC curve, but it is {slope:.4g}: the points do "
            "not lie on one"
        )
    return MosesLittenbergROC(float(intercept), float(slope))
