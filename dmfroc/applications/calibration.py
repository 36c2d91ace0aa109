"""Tests of calibration: whether the outcomes could come from the probabilities.

Given calibrated probabilities, each outcome is a draw from them. So outcomes are drawn from the
probabilities. The share of draws in which a statistic is at least as large as the observed one is
its p-value, which is exact for independent rows of any number. Ties count by half (Lancaster's
mid-p): a statistic of few outcomes is discrete, and would reject too rarely.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from dmfroc import FollowUp, Predictions
from dmfroc.extend import (
    Column,
    IntPerRow,
    Jackknife,
    Name,
    RandomState,
    Result,
    Scores,
    Table,
    equals_p_value,
    estimates_of,
    impossible_message,
    integer,
    no_probabilities,
    predictions_at,
    probabilities_of,
    refuse,
    sample_of,
    seed_of,
)
from dmfroc.measures import calibration_intercept, calibration_slope, observed_expected_ratio

_FEWEST_DRAWS = 99
_N_GROUPS = 10  # of Hosmer and Lemeshow
_ROUNDING = 1e-9  # relative to a statistic, of those that are equal
_SIGNIFICANT = 0.05  # of the smallest p-value in a report
_NOTHING = 1e-12  # a statistic that is 0 but for rounding

Statistic = Callable[[Int[np.ndarray, " n"]], float]


@dataclass(frozen=True)
class CalibrationTest:
    """One test of calibration.

    Attributes
    ----------
    name, title : str
        What it tests.
    statistic : float
        Its statistic; large values are against calibration, of Spiegelhalter's z also small ones.
    degrees_of_freedom : int or None
        Of the chi-squared distribution that the statistic has in large samples, if it has one.
    p_value : float
        Chance of a statistic that is as extreme, for calibrated probabilities. It is 0, and the
        statistic infinite, if a class of probability 0 has occurred.
    """

    name: str
    title: str
    statistic: float
    degrees_of_freedom: int | None
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTests(Result):
    """Tests of whether probabilities are calibrated.

    Attributes
    ----------
    tests : dict of str to CalibrationTest
        By name: ``"intercept"``, ``"intercept_and_slope"``, ``"spiegelhalter"``, ``"isotonic"`` and
        ``"hosmer_lemeshow"``.
    predictions : Predictions
        What was tested; ``plot()`` draws their `dmfroc.plots.ReliabilityDisplay`.
    n_draws, seed : int
        Number of draws of the outcomes, and their seed.
    warnings : tuple of str
        What a careful reader has to know.
    """

    drawn_by = "dmfroc.applications.pictures"
    main_table = "tests"
    json_names = ("n_observations", "n_draws", "seed")

    tests: dict[str, CalibrationTest]
    predictions: Predictions
    n_draws: int
    seed: int
    warnings: tuple[str, ...] = ()

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the tests, by name."""
        return self.predictions.design

    @property
    def n_observations(self) -> int:
        """Number of independent rows."""
        return self.predictions.n_observations

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return "Are the probabilities calibrated?"

    def verdict_text(self) -> list[str]:
        """Say whether the tests contradict calibration."""
        least = min(self.tests.values(), key=lambda test: test.p_value)
        adjusted = min(len(self.tests) * least.p_value, 1.0)
        claim = "contradict" if adjusted < _SIGNIFICANT else "do not contradict"
        return [
            f"The data {claim} calibrated probabilities: the smallest of {len(self.tests)} "
            f"p-values is that of the test of the {least.title}, {equals_p_value(adjusted)} "
            "after Bonferroni's adjustment."
        ]

    def tables(self) -> list[Table]:
        """Return the tests, one row each."""
        tests = list(self.tests.values())
        p_values, n_draws = [t.p_value for t in tests], self.n_draws
        columns = [
            Column("test", "test", [Name(t.name, t.title) for t in tests], "name"),
            Column("statistic", "statistic", [t.statistic for t in tests]),
            Column("degrees_of_freedom", "df", [t.degrees_of_freedom for t in tests], "freedom"),
            Column("p_value", "p-value", p_values, "p_value", n_draws=n_draws),
        ]
        title = f"Tests of calibration ({self.n_draws:,} draws of the outcomes)"
        note = f"p-values by {n_draws:,} draws of the outcomes" * any(p_values)
        shown = [Table("tests", title, columns, is_by_name=True, note=note)]
        return shown if self.predictions.n_classes == 2 else [*shown, self._by_class()]

    def _by_class(self) -> Table:
        """Return what measures of one class against the rest are, with their intervals."""
        predictions = self.predictions
        labels = [predictions.labels[place] for place in predictions.present]
        columns = [Column("class", "class", labels, "name")]
        for measure in (calibration_intercept, calibration_slope, observed_expected_ratio):
            measures = [measure(pos_label=label) for label in labels]
            if all(x.applies_to(predictions) for x in measures):
                methods = [Jackknife()] * len(labels)
                estimates = estimates_of(measures, methods, sample_of(predictions))
                title, head = measure().title, "95 % interval"
                columns.append(
                    Column(measure.__name__, title, estimates, "estimate", interval=head)
                )
        return Table("classes", "Each class against the rest", columns)


def calibration_tests(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    n_draws: int = 999,
    random_state: RandomState = 0,
    follow_up: FollowUp[float] | None = None,
) -> CalibrationTests:
    """Test whether probabilities are calibrated.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes of independent rows, all of weight 1.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities of the classes.
    labels : array-like of shape (K,), optional
        The classes in column order.
    n_draws : int
        How often outcomes are drawn from the probabilities, at least 99. The smallest p-value is
        1 / (n_draws + 1).
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws.
    follow_up : FollowUp, optional
        As for `dmfroc.estimate`, with one horizon, as long as nobody
        is censored before the horizon.

    Returns
    -------
    CalibrationTests
        Prints as a table, converts with ``to_pandas()``. Five tests of the same hypothesis, against
        different alternatives. ``"intercept"``: probabilities are too large or too small on
        average, by the score test of intercepts of all classes but one. ``"intercept_and_slope"``:
        they may also be too extreme or too moderate, by the score test of a vector recalibration
        with an intercept and a slope of each class but one. ``"spiegelhalter"``: they are too
        extreme or too moderate. ``"isotonic"``: they are wrong in any rising way, by the
        miscalibration of the Brier score. ``"hosmer_lemeshow"``: they are wrong on average in some
        of ten groups, by the probability of any class but the first. It is the most widely known
        one, and depends on the groups. Each p-value holds by itself, in samples of any size; they
        are not adjusted for there being five. With more than two classes
        ``to_pandas("classes")`` has the intercept, the slope and O/E of each. Where a class has
        occurred to which a row gives probability 0, the probabilities are refuted for certain: all
        p-values are 0 and all statistics infinite, with a warning. A row whose first class has
        probability 0 does not count for the slopes.

    Raises
    ------
    TypeError, ValueError
        If the scores are no probabilities, rows have different weights, or an option is out of its
        range.

    References
    ----------
    Hosmer and Lemeshow (1980), Goodness of fit tests for the multiple logistic regression model;
    Cox (1958), Two further applications of a model for binary regression; Spiegelhalter (1986),
    Probabilistic prediction in patient management and clinical trials; Dimitriadis, Gneiting and
    Jordan (2021), Stable reliability diagrams for probabilistic classifiers; Van Hoorde et al.
    (2014), Assessing calibration of multinomial risk prediction models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.05, 0.95, size=300)
    >>> y = (rng.random(300) < p).astype(int)
    >>> right, wrong = calibration_tests(y, p), calibration_tests(y, p**3)
    >>> min(test.p_value for test in right.tests.values()) > 0.05
    True
    >>> wrong.tests["intercept_and_slope"].p_value
    0.001
    """
    n_draws = integer("n_draws", n_draws, _FEWEST_DRAWS)
    seed = seed_of(random_state)
    given = {"labels": labels, "needs": "probabilities"}
    predictions, _ = predictions_at(y_true, y_score, follow_up, given)
    refuse("calibration_tests", no_probabilities(predictions))
    if np.ptp(predictions.sample_weight) > 0:
        raise ValueError(
            "calibration_tests needs rows of equal weight, whose outcomes are independent draws: "
            "leave the weights out; with rows that are censored before a horizon use the intervals "
            "of calibration_intercept and calibration_slope"
        )
    p, true = probabilities_of(predictions), predictions.true
    p = p / p.sum(axis=1, keepdims=True)
    statistics: dict[str, tuple[str, Statistic, int | None]] = {
        "intercept": ("intercept (slope 1)", *_score_test(p, with_slopes=False)),
        "intercept_and_slope": ("intercept and slope", *_score_test(p, with_slopes=True)),
        "spiegelhalter": ("Spiegelhalter's z", _spiegelhalter(p), None),
        "isotonic": ("isotonic miscalibration", _isotonic(p), None),
        "hosmer_lemeshow": ("Hosmer and Lemeshow", *_hosmer_lemeshow(p)),
    }
    values, p_values = np.full(len(statistics), np.inf), np.zeros(len(statistics))
    remarks = predictions.remarks
    if (refutation := impossible_message(predictions)) is not None:
        remark = f"{refutation}: these probabilities are not calibrated, unless they are rounded"
        remarks = (*remarks, remark)
    else:
        generator, sums = np.random.default_rng(seed), p.cumsum(axis=1)[:, :-1]
        draws = ((sums < generator.random((len(p), 1))).sum(axis=1) for _ in range(n_draws))
        outcomes = itertools.chain([true], draws)
        values, *drawn = np.array([[of(y) for _, of, _ in statistics.values()] for y in outcomes])
        sizes = np.abs(values) * (np.abs(values) > _NOTHING)
        beyond = np.abs(drawn) - sizes
        is_tied = np.abs(beyond) <= np.maximum(_ROUNDING * sizes, _NOTHING)
        # Half of the ties (mid-p): sums of few outcomes are discrete
        n_extreme = np.where(is_tied, np.where(sizes == 0, 1.0, 0.5), beyond > 0).sum(axis=0)
        p_values = (1 + n_extreme) / (1 + n_draws)
    each = zip(statistics.items(), values.tolist(), p_values.tolist(), strict=True)
    tests = {
        name: CalibrationTest(name, title, value, freedom, p_value)
        for (name, (title, _, freedom)), value, p_value in each
    }
    return CalibrationTests(tests, predictions, n_draws, seed, remarks)


def _score_test(p: Scores, *, with_slopes: bool) -> tuple[Statistic, int]:
    """Return the score statistic of intercepts of all classes but the first, and of slopes.

    Its degrees of freedom are fewer than these if the probabilities hardly vary.
    """
    logs = np.log(np.where(p > 0, p, 1))
    n, k = p.shape
    logits = np.where(p[:, :1] > 0, logs[:, 1:] - logs[:, :1], 0)
    features = np.stack([np.ones((n, k - 1)), logits], axis=2)[:, :, : 1 + with_slopes]
    rest = p[:, 1:]
    covariance = np.einsum("ni,ij->nij", rest, np.eye(k - 1)) - rest[:, :, None] * rest[:, None]
    size = features.shape[2] * (k - 1)
    information = np.einsum("nia,nij,njb->iajb", features, covariance, features, optimize=True)
    information = information.reshape(size, size)
    inverse = np.linalg.pinv(information, hermitian=True)

    def statistic(true: IntPerRow) -> float:
        residuals = np.eye(k)[true][:, 1:] - rest
        score = np.einsum("ni,nia->ia", residuals, features).ravel()
        return float(score @ inverse @ score)

    return statistic, int(np.linalg.matrix_rank(information, rtol=_NOTHING, hermitian=True))


def _spiegelhalter(p: Scores) -> Statistic:
    squares = (p**2).sum(axis=1)
    variance = np.maximum((p**3).sum(axis=1) - squares**2, 0).sum()
    rows = np.arange(len(p))

    def statistic(true: IntPerRow) -> float:
        excess = (squares - p[rows, true]).sum()
        return float(excess / np.sqrt(variance)) if variance > 0 else 0.0

    return statistic


def _isotonic(p: Scores) -> Statistic:
    """Return the miscalibration of the Brier score, whose forecasts are sorted once."""
    from scipy.optimize import isotonic_regression

    columns = range(1, 2) if p.shape[1] == 2 else range(p.shape[1])
    pools = [np.unique(p[:, k], return_inverse=True, return_counts=True) for k in columns]
    factor = 1.0 if len(pools) == 1 else 0.5

    def statistic(true: IntPerRow) -> float:
        total = 0.0
        for k, (forecast, place, sizes) in zip(columns, pools, strict=True):
            share = np.bincount(place, true == k) / sizes
            fitted = isotonic_regression(share, weights=sizes).x
            # The difference of the squared errors, in which what varies within a pool cancels
            total += sizes @ ((forecast - share) ** 2 - (fitted - share) ** 2)
        return float(factor * total / len(p))

    return statistic


def _hosmer_lemeshow(p: Scores) -> tuple[Statistic, int]:
    """Return the statistic of ten groups of rows, by quantiles, and its degrees of freedom."""
    risk = 1 - p[:, 0]
    limits = np.unique(np.quantile(risk, np.linspace(0, 1, _N_GROUPS + 1)[1:-1]))
    group = np.unique(np.searchsorted(limits, risk), return_inverse=True)[1]
    n_groups, k = int(group.max()) + 1, p.shape[1]
    expected = np.zeros((n_groups, k))
    np.add.at(expected, group, p)

    def statistic(true: IntPerRow) -> float:
        observed = np.bincount(group * k + true, minlength=n_groups * k).reshape(n_groups, k)
        squares = np.divide(
            (observed - expected) ** 2, expected, where=expected > 0, out=0 * expected
        )
        return float(squares.sum())

    return statistic, int(np.count_nonzero(expected)) - n_groups
