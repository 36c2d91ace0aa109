"""Measures of ordered classes, and of sets of one case of each class."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmfroc._kit.arrays import PerClass
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import (
    UNBIASED,
    Measure,
    alphabetical_message,
    warn_of_absent_classes,
)
from dmfroc.measures.probabilities import forecasts
from dmfroc.measures.ranking import ranking
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.forecasts import RowSums, mean_of_rows, probabilities_of, row_means
from dmfroc.measures.statistics.statistic import Sums
from dmfroc.measures.statistics.wins import win_counts


def _rank_scores(predictions: Predictions) -> RowSums:
    below = probabilities_of(predictions).cumsum(axis=1)[:, :-1]
    is_below = predictions.true[:, None] <= np.arange(below.shape[1])
    return row_means(((below - is_below) ** 2).mean(axis=1))


@also_called("rps")
@register()
def ranked_probability_score() -> Measure:
    """Return the ranked probability score of ordered classes, divided by K - 1.

    Returns
    -------
    Measure
        In [0, 1]; 0 for certain and right forecasts. The mean over the K - 1 divisions of the
        classes into lower and higher ones, in the order of the labels, of the Brier score of
        "lower". A forecast of a class next to the observed one is better than one far away. Of two
        classes it is the Brier score. It is proper. A warning says so if text is in alphabetical
        order.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Epstein (1969), A scoring system for probability forecasts of ranked categories; Murphy (1971),
    A note on the ranked probability score.

    Examples
    --------
    >>> scores = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    >>> round(ranked_probability_score()(["high", "low", "mid"], scores,
    ...     labels=["low", "mid", "high"]), 4)
    0.3783
    """
    caveats = (alphabetical_message,)
    return forecasts("Ranked probability score", _rank_scores, mean_of_rows, caveats=caveats)


def _mean_share(table: Sums, xp: Any) -> Any:
    return table.values.mean()


@also_called("pdi")
@register()
def polytomous_discrimination_index() -> Measure:
    """Return the polytomous discrimination index, PDI.

    Returns
    -------
    Measure
        In [0, 1]; 1 / K for guessing. Take one case of each of the K classes: the chance that the
        case of class i has the largest score of class i among them, as a mean over the classes. Of
        two classes it is the area under the ROC curve. Cases that tie share the first place. It
        takes time proportional to n K log n, for any number of classes. Classes that never occur
        are left out, with a warning.

    References
    ----------
    Van Calster et al. (2012), Extending the c-statistic to nominal polytomous outcomes: the
    Polytomous Discrimination Index; Dover, Islam and Owzar (2021), Computing the polytomous
    discrimination index, on the product of shares.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(polytomous_discrimination_index()([0, 0, 1, 1, 2, 2, 1], scores), 4)
    0.6944
    """
    title = "Polytomous discrimination index"
    return ranking(title, win_counts, _mean_share, chance=math.nan, interval=UNBIASED)


def polytomous_discrimination_per_class(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> PerClass:
    """Return how often the case of each class wins among one case of every class.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.

    Returns
    -------
    numpy.ndarray of shape (K,)
        In [0, 1]; 1 / K for guessing. Their mean is the `polytomous_discrimination_index`. NaN for
        a class that never occurs, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Van Calster et al. (2012), Extending the c-statistic to nominal polytomous outcomes: the
    Polytomous Discrimination Index.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> polytomous_discrimination_per_class([0, 0, 1, 1, 2, 2, 1], scores).round(4)
    array([0.8333, 0.4167, 0.8333])
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent_classes(predictions)
    counted = predictions.counted
    shares = np.full(predictions.n_classes, np.nan)
    shares[predictions.present] = win_counts(counted).count(counted.sample_weight, np).values
    return shares
