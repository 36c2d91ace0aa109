"""DeLong's variance, also for Hand and Till's M, from its definition by placements."""

import numpy as np


def placements(classes, scores):
    """Return each observation's share in M: its mean win as a positive and as a negative.

    Observation n of class c takes part in A(c|j) for every j, as a positive in column c, and in
    A(i|c) for every i, as a negative in column i.
    """
    n_classes = scores.shape[1]
    total = np.zeros(len(classes))
    for i in range(n_classes):
        for j in range(n_classes):
            if i == j:
                continue
            own, other = np.flatnonzero(classes == i), np.flatnonzero(classes == j)
            left, right = scores[own, i][:, None], scores[other, i]
            won = (left > right) + 0.5 * (left == right)
            total[own] += won.mean(axis=1)
            total[other] += won.mean(axis=0)
    return total / (n_classes * (n_classes - 1))


def standard_error(classes, *scores):
    """Return the standard error of M, or of the first M minus the second on the same rows."""
    share = placements(classes, scores[0])
    if len(scores) == 2:
        share = share - placements(classes, scores[1])
    groups = [share[classes == c] for c in np.unique(classes)]
    return np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups))
