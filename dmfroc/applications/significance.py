"""Tests of whether predictions and classes are independent, and what a p-value is worth.

Tests need counts of independent observations: they have no meaning for weighted tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import stats
from scipy.special import chdtrc, xlogy

from dmfroc.extend import AttributeTables, PerClass, choice, flag, integer, numbers, warn
from dmfroc.measures import ContingencyTable

Alternative = Literal["two-sided", "greater", "less"]
Reference = Literal["chi2_as_published"]


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(AttributeTables):
    """A test of independence.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic : float
        Value of the test statistic, >= 0; for Fisher's test the odds ratio.
    degrees_of_freedom : int or None
        Of the chi-square distribution; None for an exact test.
    p_value : float
        Probability of a statistic at least as extreme if prediction and class are independent;
        NaN if one class alone occurs or is predicted.
    """

    __test__ = False  # pytest takes the name for that of a test

    test: str
    statistic: float
    degrees_of_freedom: int | None
    p_value: float


def chi_squared_test(table: ContingencyTable, *, correction: bool = False) -> TestResult:
    """Test independence by Pearson's chi-square.

    Parameters
    ----------
    table : ContingencyTable
        Of counts. Classes that never occur and classes that are never predicted are left out.
    correction : bool
        Whether to apply Yates' continuity correction, to two-by-two tables only.

    Returns
    -------
    TestResult
        For two classes the statistic without correction is N times informedness times
        markedness. If nothing can be tested because one class alone occurs or is predicted, it is
        0 on 0 degrees of freedom and the p-value is NaN, with a warning.

    Examples
    --------
    >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
    >>> result = chi_squared_test(table)
    >>> round(result.statistic, 4), result.degrees_of_freedom, round(result.p_value, 4)
    (3.9409, 1, 0.0471)
    """
    return _chi_squared(table, "chi-square", "pearson", flag("correction", correction))


def likelihood_ratio_test(table: ContingencyTable) -> TestResult:
    """Test independence by the likelihood ratio G2, 2 N times the mutual information.

    Parameters
    ----------
    table : ContingencyTable
        Of counts. Classes that never occur and classes that are never predicted are left out.

    Returns
    -------
    TestResult
        As for `chi_squared_test`.

    Examples
    --------
    >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
    >>> round(likelihood_ratio_test(table).p_value, 4)
    0.0452
    """
    return _chi_squared(table, "likelihood ratio", "log-likelihood", False)


def _chi_squared(
    table: ContingencyTable, test: str, statistic: str, correction: bool
) -> TestResult:
    if not _holds_counts(table):
        warn(["the table holds weights, not counts: its p-value has no meaning"])
    counts = table.counts
    occupied = counts[np.ix_(counts.any(axis=1), counts.any(axis=0))]
    if 1 in occupied.shape:
        warn([f"one class alone occurs or is predicted: the {test} test says nothing"])
        return TestResult(test, 0.0, 0, np.nan)
    result = stats.chi2_contingency(occupied, correction=correction, lambda_=statistic)
    return TestResult(test, float(result.statistic), int(result.dof), float(result.pvalue))


def fisher_exact_test(
    table: ContingencyTable, *, alternative: Alternative = "two-sided"
) -> TestResult:
    """Test independence in a two-by-two table by Fisher's exact test.

    Parameters
    ----------
    table : ContingencyTable
        Of two classes and of counts.
    alternative : {"two-sided", "greater", "less"}
        Greater: more true positives than by chance. Two-sided: the probability of all tables with
        the same margins that are not more probable than this one.

    Returns
    -------
    TestResult
        The p-value is 1 if a margin is empty, since there is one such table only.

    Raises
    ------
    ValueError
        If there are more than two classes, the table holds fractions, or the alternative is
        unknown.

    Examples
    --------
    >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
    >>> round(fisher_exact_test(table, alternative="greater").p_value, 4)
    0.0369
    """
    choice("alternative", alternative, get_args(Alternative))
    _check_table(table)
    if table.n_classes != 2:
        raise ValueError(
            f"table has {table.n_classes} classes, but Fisher's exact test is for two: take "
            "table.one_vs_rest(label), or chi_squared_test"
        )
    if not _holds_counts(table):
        raise ValueError("table holds fractions, but Fisher's exact test needs counts")
    result = stats.fisher_exact(table.counts.astype(np.int64), alternative=alternative)
    return TestResult("Fisher", float(result.statistic), None, float(result.pvalue))


def _holds_counts(table: ContingencyTable) -> bool:
    _check_table(table)
    return bool((table.counts == np.round(table.counts)).all())


def _check_table(table: Any) -> None:
    if not isinstance(table, ContingencyTable):
        raise TypeError(
            f"table must be a ContingencyTable, but it is of type {type(table).__name__}: build "
            "one with ContingencyTable.from_matrix"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PowersStatistics(AttributeTables):
    """The chi-square statistics of Powers (2011), as descriptions of a table.

    None of them is chi-square distributed under independence. For two classes each is Pearson's
    statistic times a factor below one (the third column), so that a test against the chi-square
    distribution is far too conservative. At a nominal 5 % the K forms reject in 0.6 % of
    independent tables of 100 with even margins, and in none with rare classes or for K = 4.

    Attributes
    ----------
    plus_p, plus_r : numpy.ndarray of shape (K,)
        For each class as the positive one: its predictions alone, N B^2 p (1 - p) / bias (equation
        30), (1 - bias) times Pearson's for K = 2. Or its observations alone, N M^2 q (1 - q) /
        prevalence (equation 33 with the square that is missing there), (1 - prevalence) times
        Pearson's. NaN if the class is never predicted or never occurs.
    half_g2_plus_p : numpy.ndarray of shape (K,)
        The likelihood ratio of the predictions of each class (equation 31).
    kb, km, kbm : float
        K N B^2 R, K N M^2 P and K N B M G from informedness B (by bias), markedness M (by
        prevalence) and the evenness R, P and G of classes, predictions and both. For K = 2 they are
        twice P, R and G times Pearson's. `kbm` is negative where B and M differ in sign.
    """

    plus_p: PerClass
    plus_r: PerClass
    half_g2_plus_p: PerClass
    kb: float
    km: float
    kbm: float

    def p_values(
        self, *, reference: Reference, degrees_of_freedom: int | None = None
    ) -> dict[str, Any]:
        """Return the p-values that the paper gives, which are not p-values.

        Parameters
        ----------
        reference : {"chi2_as_published"}
            Has to be spelled out, because the statistics do not have this distribution.
        degrees_of_freedom : int, optional
            Of `kb`, `km` and `kbm`: by default (K - 1)^2; the paper proposes K - 1 for the power.
            `plus_p` and `plus_r` always have 1.

        Returns
        -------
        dict of str to float, or to numpy.ndarray of shape (K,) for `plus_p` and `plus_r`
            Tails of the chi-square distribution, with a warning. For tests take
            `chi_squared_test`, `likelihood_ratio_test` or `fisher_exact_test`.

        Raises
        ------
        TypeError, ValueError
            If the reference is unknown or the degrees of freedom are no positive integer.

        Examples
        --------
        >>> import warnings
        >>> statistics = powers_statistics(ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28))
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     p_values = statistics.p_values(reference="chi2_as_published")
        >>> round(p_values["kb"], 4)
        0.1659
        """
        choice("reference", reference, get_args(Reference))
        freedom = (len(self.plus_p) - 1) ** 2 if degrees_of_freedom is None else degrees_of_freedom
        integer("degrees_of_freedom", freedom, 1)
        warn(
            [
                "these statistics are not chi-square distributed under independence: the "
                "published p-values are far too large; test with chi_squared_test"
            ]
        )
        return {
            "plus_p": chdtrc(1, self.plus_p),
            "plus_r": chdtrc(1, self.plus_r),
            "kb": float(chdtrc(freedom, self.kb)),
            "km": float(chdtrc(freedom, self.km)),
            "kbm": float(chdtrc(freedom, max(self.kbm, 0.0))),
        }


def powers_statistics(table: ContingencyTable) -> PowersStatistics:
    """Return the chi-square statistics of Powers (2011), for description, not for tests.

    Parameters
    ----------
    table : ContingencyTable
        Of counts.

    Returns
    -------
    PowersStatistics
        Its documentation says why these are no test statistics.

    References
    ----------
    Powers (2011), Evaluation: from precision, recall and F-measure to ROC, informedness,
    markedness and correlation, equations 30 to 35 and section 5, with their misprints mended.

    Examples
    --------
    >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
    >>> round(powers_statistics(table).kb, 12)
    1.92
    """
    _check_table(table)
    n, k = table.total, table.n_classes
    scalar, per_class = table.values, table.class_values
    bias, prevalence = per_class["bias"], per_class["prevalence"]
    bet_terms = n * per_class["informedness"] ** 2 * per_class["evenness_real"]
    mark_terms = n * per_class["markedness"] ** 2 * per_class["evenness_predicted"]
    informedness, markedness = scalar["informedness"], scalar["markedness"]
    with np.errstate(invalid="ignore", divide="ignore"):
        plus_p, plus_r = bet_terms / bias, mark_terms / prevalence
        recall, fallout = per_class["recall"], per_class["fallout"]
        half_g2 = n * (
            xlogy(recall * prevalence, recall / bias)
            + xlogy(fallout * (1 - prevalence), fallout / bias)
        )
    return PowersStatistics(
        plus_p=plus_p,
        plus_r=plus_r,
        half_g2_plus_p=half_g2,
        kb=k * n * informedness**2 * scalar["evenness_real"],
        km=k * n * markedness**2 * scalar["evenness_predicted"],
        kbm=k * n * informedness * markedness * scalar["evenness_global"],
    )


class EvidenceBound(NamedTuple):
    """How little a p-value can mean.

    Attributes
    ----------
    bayes_factor : float or numpy.ndarray
        Smallest Bayes factor of the hypothesis against the alternative, in [0, 1].
    alpha : float or numpy.ndarray
        Smallest posterior probability of the hypothesis if it had 1/2 before, in [0, 1/2].
    beta : float or numpy.ndarray
        Largest posterior probability of the alternative, 1 - alpha.
    """

    bayes_factor: Any
    alpha: Any
    beta: Any


def sellke_bayarri_berger(p_value: Any) -> EvidenceBound:
    """Return bounds on the evidence that a p-value gives against a hypothesis.

    Parameters
    ----------
    p_value : float or array-like
        In [0, 1], or NaN.

    Returns
    -------
    EvidenceBound
        Of numbers for a number, of arrays otherwise; NaN for NaN. The Bayes factor is at least
        -e p ln p for p < 1/e, and 1 from there on.

    Raises
    ------
    ValueError
        If a p-value is outside [0, 1].

    References
    ----------
    Sellke, Bayarri and Berger (2001), Calibration of p values for testing precise null
    hypotheses; Powers (2011), equations 36 to 38.

    Examples
    --------
    >>> round(sellke_bayarri_berger(0.05).alpha, 3)
    0.289
    """
    p = numbers("p_value", p_value)
    if ((p < 0) | (p > 1)).any():
        raise ValueError(f"p_value must be in [0, 1], but it is {p_value}")
    factor = np.where(p < 1 / math.e, -math.e * xlogy(p, p), np.where(np.isnan(p), np.nan, 1.0))
    bounds = factor, factor / (1 + factor), 1 / (1 + factor)
    return EvidenceBound(*(float(x) if x.ndim == 0 else x for x in bounds))
