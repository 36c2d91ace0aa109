"""Class shares by a judge whose errors are known from rows verified by their true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy.special import ndtri

from dmfroc.extend import (
    DEFAULT_LEVEL,
    IN_MEMORY,
    IntPerClass,
    NamedEstimates,
    PerClass,
    Table,
    agreement_table,
    check_level,
    encode,
    estimates_table,
    factorize,
    listing,
    verified_labels,
    warn,
)
from dmfroc.results import Estimate

_FEWEST_OF_CLASS = 2
_MOST_CONDITION = 1e4  # of the judge's confusion matrix
_METHOD = "inverted confusion matrix"


@dataclass(frozen=True, eq=False, repr=False)
class JudgedShares(NamedEstimates):
    """Shares of the classes among rows that only a judge has labelled.

    Attributes
    ----------
    estimates : dict of label to Estimate
        The share of each class.
    n_verified, n_rows : int
        Number of verified rows, and of the rows whose shares are estimated.
    level : float
        Nominal coverage of each interval.
    agreement : tuple of numpy.ndarray
        The labels of the verified rows, and the judge's.
    warnings : tuple of str
        What limits the shares.
    """

    main_table = "estimates"
    json_names = ("n_verified", "n_rows", "level")

    estimates: dict[Any, Estimate]
    n_verified: int
    n_rows: int
    level: float
    agreement: tuple[Shaped[np.ndarray, " v"], Shaped[np.ndarray, " v"]]
    warnings: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return the shares, and how often the judge agrees with each verified label."""
        return [estimates_table(self.estimates.values()), agreement_table({"": self.agreement})]


def judged_shares(y_true: Any, judge: Any, *, level: float = DEFAULT_LEVEL) -> JudgedShares:
    """Estimate class shares from a judge's labels, if rows of each true class were verified.

    So many rows of each class are known, such as 200 of each; they need not come from the
    population. They show how often the judge takes one class for another. The judge's labels of
    the other rows then say how frequent the classes are among these.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Verified labels, missing (None, NaN) in the rows whose class shares are asked about.
    judge : array-like of shape (n,)
        The judge's labels of all rows. Within a class it must err alike on verified and other rows.
    level : float
        Nominal coverage of each interval, in (0, 1).

    Returns
    -------
    JudgedShares
        An estimate by label. Shares below 0 are put to 0, and their sum to 1.

    Raises
    ------
    TypeError, ValueError
        If labels of the judge are missing, a class has fewer than two verified rows or no row is
        unverified, or the judge does not tell the classes apart.

    References
    ----------
    Rogan and Gladen (1978), Estimating prevalence from the results of a screening test; Lang and
    Reiczigel (2014), for the intervals.

    Examples
    --------
    A judge that is right on 140 of 200 bad answers and on 180 of 200 good ones finds 400 good ones
    among 1,000 others:

    >>> y = ["bad"] * 200 + ["good"] * 200 + [None] * 1000
    >>> judge = ["bad"] * 140 + ["good"] * 60 + ["good"] * 180 + ["bad"] * 20
    >>> judge += ["good"] * 400 + ["bad"] * 600
    >>> found = judged_shares(y, judge)["good"]
    >>> f"{found.value:.5f} ({found.interval[0]:.5f} to {found.interval[1]:.5f})"
    '0.16667 (0.05635 to 0.26273)'
    """
    check_level(level)
    true, said, is_verified, _ = verified_labels(y_true, judge)
    if is_verified.all():
        raise ValueError("y_true has a label in every row: leave it missing in the rows to judge")
    verified = factorize(true[is_verified], "y_true", IN_MEMORY)
    labels, k = verified.distinct, len(verified.distinct)
    codes = encode(
        factorize(said, "judge", IN_MEMORY), labels, "judge", IN_MEMORY, has_scores=False
    )
    counts = np.bincount(verified.codes * k + codes[is_verified], minlength=k * k).reshape(k, k)
    if k < 2 or counts.sum(axis=1).min() < _FEWEST_OF_CLASS:
        few = [labels[c] for c in np.flatnonzero(counts.sum(axis=1) < _FEWEST_OF_CLASS)]
        raise ValueError(
            f"y_true needs {_FEWEST_OF_CLASS} verified rows of each of two classes or more, but "
            + (f"{listing(few)} has fewer" if few else f"all are {labels[0]!r}")
        )
    if np.linalg.cond(counts / counts.sum(axis=1, keepdims=True)) > _MOST_CONDITION:
        raise ValueError(
            "judge does not tell the classes apart on the verified rows, so that its labels say "
            "nothing of their shares: merge classes, or verify rows drawn at random"
        )
    others = np.bincount(codes[~is_verified], minlength=k)
    shares, errors, intervals, is_outside = inverted_shares(counts, others, level)
    warnings: tuple[str, ...] = ()
    if is_outside.any():
        outside = listing([labels[c] for c in np.flatnonzero(is_outside)])
        warnings = (
            f"the judge's labels imply a share of {outside} outside of 0 to 1, beyond chance: it "
            "errs otherwise on the other rows than on the verified ones. Verify some of them",
        )
        warn(warnings)
    rows = zip(labels, shares, errors, intervals, strict=True)
    estimates: dict[Any, Estimate] = {
        label: Estimate(
            f"share of {label}",
            f"share of {label}",
            float(share),
            float(error),
            (float(min(ends[0], share)), float(max(ends[1], share))),
            level,
            _METHOD,
            warnings=warnings,
        )
        for label, share, error, ends in rows
    }
    return JudgedShares(
        estimates,
        int(is_verified.sum()),
        int(others.sum()),
        level,
        (true[is_verified], said[is_verified]),
        warnings,
    )


def inverted_shares(
    verified: Int[np.ndarray, "k k"], others: IntPerClass, level: float
) -> tuple[
    PerClass,
    PerClass,
    Float[np.ndarray, "k 2"],
    Bool[np.ndarray, " k"],
]:
    """Return the class shares that explain how often the judge says each class.

    Beside them are their standard errors, intervals in [0, 1], and which of these lay outside.

    With C the shares of the judge's labels in each true class, and q those in all other rows, the
    class shares p solve ``q = p C``. Rows of each class and the other rows are independent
    multinomial samples. For two classes the intervals are those of Lang and Reiczigel. Counts are
    increased, by 2 in each class and by the squared quantile in the others, divided evenly among
    the labels. The centre is moved because the variance depends on the share. With more classes the
    others give up equally what a class gains.

    Parameters
    ----------
    verified : numpy.ndarray of int, shape (K, K)
        Number of verified rows by true class and the judge's label.
    others : numpy.ndarray of int, shape (K,)
        Number of other rows by the judge's label.
    level : float
        Nominal coverage of each interval.

    References
    ----------
    Rogan and Gladen (1978), Estimating prevalence from the results of a screening test; Lang and
    Reiczigel (2014), Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity.
    """
    n_classes, z = len(others), float(ndtri((1 + level) / 2))
    raw = (others / others.sum()) @ np.linalg.inv(verified / verified.sum(axis=1, keepdims=True))
    shares = np.clip(raw, 0, None)
    of_class, said = verified + 2 / n_classes, others + z**2 / n_classes
    sizes, n = of_class.sum(axis=1), said.sum()
    confusion, said = of_class / sizes[:, None], said / n
    inverse = np.linalg.inv(confusion)
    centre = said @ inverse
    of_classes = (confusion @ inverse**2 - np.eye(n_classes)) / sizes[:, None]  # by class, share
    errors = np.sqrt((said @ inverse**2 - centre**2) / n + centre**2 @ of_classes)
    gains = np.eye(n_classes) - (1 - np.eye(n_classes)) / (n_classes - 1)
    moved = 2 * z**2 * (centre @ (gains * of_classes)) / np.ptp(inverse, axis=0) ** 2
    ends = (centre + moved)[:, None] + z * np.outer(errors, [-1, 1])
    is_outside = (ends[:, 1] < 0) | (ends[:, 0] > 1)
    return shares / shares.sum(), errors, np.clip(ends, 0, 1), is_outside
