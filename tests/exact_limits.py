"""The exact limits of a value that is better when greater, from their definition."""

import numpy as np
from scipy import optimize, stats

from dmfroc.measures import get_measure


def with_errors(measure, classes, taken_for, share):
    """Return a measure where a share of some classes is scored as a case of another one."""
    sizes = np.bincount(classes).astype(float)
    missed, labels = np.array(list(taken_for)), np.arange(len(sizes))
    predicted = [*labels, *taken_for.values()]
    return get_measure(measure)(
        [*labels, *missed],
        np.eye(len(sizes))[predicted],
        y_pred=predicted,
        sample_weight=np.append(
            np.where(np.isin(labels, missed), 1 - share, 1) * sizes, share * sizes[missed]
        ),
    )


def limit_of_no_errors(measure, classes, error):
    """Return how bad a classifier without errors may be: the worst of what may go unobserved."""
    sizes = np.bincount(classes)
    lightest, heaviest = (list(np.argsort(x, kind="stable")) for x in (sizes, -sizes))
    values = []
    for missed in ([lightest[0]], [heaviest[0]], range(len(sizes))):
        share = 1 - error ** (1 / sizes[list(missed)].sum())
        for order in (lightest, heaviest):
            taken_for = {c: next(x for x in order if x != c) for c in missed}
            values.append(with_errors(measure, classes, taken_for, share))
    return min(values)


def exact_limit(value, variance, bounds, of_no_errors, error, tail):
    """Return the limit of a value in a bounded range, with one more failure in n trials.

    In n trials a sample without failures has the limit ``of_no_errors`` at this error probability.
    """
    low, high = bounds
    share, variance = (high - value) / (high - low), variance / (high - low) ** 2
    unseen = (high - of_no_errors) / (high - low)
    n = optimize.brentq(lambda x: stats.beta(1, x).ppf(1 - error) - unseen, 1e-3, 1e9)
    # The moments that Beta(x + 1, n - x) has if the variance is that of x of n
    mean = (n * share + 1) / (n + 1)
    spread = (variance * n**3 + (1 - share) * n) / ((n + 1) ** 2 * (n + 2))
    trials = mean * (1 - mean) / spread - 1
    return high - (high - low) * stats.beta(mean * trials, (1 - mean) * trials).ppf(1 - tail)


def clipped(ends, measure, classes, value, scale, bounds, error):
    """Return an interval whose lower end is within the exact limits."""
    of_no_errors = limit_of_no_errors(measure, classes, error)
    least, most = (
        exact_limit(value, scale**2, bounds, of_no_errors, error, tail)
        for tail in (error, error / 2)
    )
    return np.array([min(max(ends[0], most), least, value), ends[1]])
