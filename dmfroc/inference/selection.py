"""The best of many: which values may be the best, and an interval for the selected one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtri

from dmfroc._kit.arrays import Covariance
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.method import JointEstimates
from dmfroc.inference.simultaneous import LargestStatistic, largest_statistic, square_root

_SHARE_FOR_RIVALS = 0.1  # of the error probability, spent on who could have won
_DRAWS = 20_000
_NO_VARIANCE = 1e-14


@dataclass(frozen=True)
class Winner:
    """The classifier with the best value of all, and an interval that accounts for its selection.

    Attributes
    ----------
    name : str
        Name of the classifier.
    value : float
        Its value in the sample, which selection makes look better than it is.
    interval : tuple of float
        Holds its true value with probability `level`, selection included.
    limit : float
        Its true value is at least as good with probability `level`, selection included: a one-sided
        limit, lower if greater values are better, else upper.
    level : float
        Nominal coverage.
    rivals : tuple of str
        The others that could have been selected; with none the interval is hardly wider than that
        of a classifier named beforehand.
    """

    name: str
    value: float
    interval: tuple[float, float]
    limit: float
    level: float
    rivals: tuple[str, ...]


def may_be_best(
    qualities: Float[np.ndarray, " m"],
    covariance: Covariance,
    p_values: Float[np.ndarray, "m m"],
    level: float,
    seed: int,
) -> Bool[np.ndarray, " m"]:
    """Return the confidence set of the best of several values.

    The set inverts tests, one for each j, of the hypothesis that no other value is truly greater
    than that of j. With estimates x and standard errors s of differences, j is excluded if the
    largest (x_i - x_j) / s_ij over all i exceeds the limit c_j. The standardized errors of these
    differences are jointly normal; the largest exceeds c_j with probability 1 - level. If all are
    equally correlated, this is Dunnett's one-sided limit.

    Under the hypothesis no statistic exceeds its error. So a best value is in the set with at least
    the given probability, and each of several equal ones with exactly that probability. No further
    adjustment is needed, since only the test of a best one can err. Among 50 equally correlated
    values c is 2.88. A value that is four standard errors worse than a single best is excluded with
    a probability of 87 %. If many are as good as the best, any of them may show it, and it is
    nearly always excluded.

    Parameters
    ----------
    qualities : numpy.ndarray of shape (m,)
        Estimates, greater is better.
    covariance : numpy.ndarray of shape (m, m)
        Of the estimates.
    p_values : numpy.ndarray of shape (m, m)
        Two-sided, of every two values' difference.
    level : float
        Probability with which the best is in the set.
    seed : int
        Seed of the draws.

    References
    ----------
    Hsu (1981), Simultaneous confidence intervals for all distances from the "best"; Hansen, Lunde
    and Nason (2011), The model confidence set, for the aim.
    """
    m = len(qualities)
    is_better = qualities[None, :] > qualities[:, None]
    smallest = np.where(is_better, p_values / 2, 1.0).min(axis=1)
    # Between Bonferroni's bound and that of a single comparison the correlations decide.
    stays = smallest >= 1 - level
    undecided = np.flatnonzero(~stays & (smallest >= (1 - level) / max(m - 1, 1)))
    if len(undecided) == 0:
        return stays
    normal = np.random.default_rng(seed).standard_normal((m, _DRAWS), np.float32)
    draws = square_root(covariance).astype(np.float32) @ normal
    variances = np.diag(covariance)
    for one in undecided:
        of_differences = variances + variances[one] - 2 * covariance[one]
        varies = of_differences > _NO_VARIANCE * (variances + variances[one])
        scaled = draws[varies] - draws[one]
        scaled /= np.sqrt(of_differences[varies], dtype=np.float32)[:, None]
        largest = LargestStatistic(np.sort(scaled.max(axis=0)), int(varies.sum()), two_sided=False)
        stays[one] = smallest[one] >= 1 - largest.level_of_each(level)
    return stays


def winner_of(
    joint: JointEstimates,
    of_differences: LargestStatistic,
    hypothesis: Hypothesis,
    level: float,
    seed: int,
) -> Winner:
    """Return the best of several classifiers with an interval that accounts for its selection.

    A tenth of the error probability goes into the question who could have won: all differences
    have simultaneous intervals, and whoever lies within twice its half-width of the best is a
    rival. With the rest the interval holds for all of these at once, whoever of them wins.

    References
    ----------
    Zrnic and Fithian (2024), Locally simultaneous inference, section 3; Andrews, Kitagawa and
    McCloskey (2024), Inference on winners, for the problem.
    """
    names = list(joint.estimates)
    sign = 1 if hypothesis.greater_is_better else -1
    qualities = sign * np.array([estimate.value for estimate in joint.estimates.values()])
    best = int(np.argmax(qualities))
    error = 1 - level
    level_of_each = of_differences.level_of_each(1 - _SHARE_FOR_RIVALS * error)
    variances = np.diag(joint.covariance)
    of_leads = np.clip(variances + variances[best] - 2 * joint.covariance[best], 0, None)
    half_widths = ndtri((1 + level_of_each) / 2) * np.sqrt(of_leads)
    could_win = qualities[best] - qualities <= 2 * half_widths
    could_win[best] = True
    of_them = joint.covariance[np.ix_(could_win, could_win)]
    two_sided, one_sided = (
        largest_statistic(of_them, np.eye(len(of_them)), seed, two_sided=both).level_of_each(
            1 - (1 - _SHARE_FOR_RIVALS) * error
        )
        for both in (True, False)
    )
    interval_at = joint.intervals_of_values[names[best]]
    low, high = interval_at(min(2 * (1 - one_sided), 1))[:2]
    return Winner(
        names[best],
        joint.estimates[names[best]].value,
        interval_at(1 - two_sided)[:2],
        low if hypothesis.greater_is_better else high,
        level,
        tuple(names[place] for place in np.flatnonzero(could_win) if place != best),
    )
