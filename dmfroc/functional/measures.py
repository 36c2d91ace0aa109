"""Measures as functions of arrays, from the summaries of `dmfroc.measures`."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from dmfroc.functional.arrays import Value, observations, run_on, usable, wide
from dmfroc.functional.counts import (
    by_columns,
    curve_points,
    pair_table,
    predicted_classes,
    projected_pair_table,
)
from dmfroc.functional.roc import dmf_auc
from dmfroc.measures import curve_areas, probabilities, ranking
from dmfroc.measures.measure import Measure, WithOptions
from dmfroc.measures.ranking import Weighting
from dmfroc.measures.registry import FACTORIES
from dmfroc.measures.statistics.confusion import ConfusionCounts, confusion_counts
from dmfroc.measures.statistics.curves import CURVES
from dmfroc.measures.statistics.forecasts import RowSums, loss_numbers, probability_losses
from dmfroc.measures.statistics.pairs import pair_counts
from dmfroc.measures.statistics.projections import projected_pair_counts
from dmfroc.measures.table import Weighting as OfTable

_STATISTICS = (confusion_counts, *CURVES, pair_counts, probability_losses)


def value(
    measure: Measure,
    y: Any,
    scores: Any = None,
    weights: Any = None,
    *,
    n_classes: int,
    y_pred: Any = None,
) -> Value:
    """Return the value of any smooth measure of `dmfroc.measures` by JAX.

    Parameters
    ----------
    measure : Measure
        Such as ``dmfroc.measures.cohen_kappa()``.
    y : array of shape (n,)
        True classes, integers from 0 to ``n_classes - 1``.
    scores : array of shape (n, n_classes)
        One column per class; for two classes also those of the second, shape (n,). Measures of
        hard labels take the column of the largest.
    weights : array of shape (n,), optional
        Weights of the observations, >= 0; by default 1.
    n_classes : int
        Number of classes.
    y_pred : array of shape (n,), optional
        Predicted classes, for measures of hard labels, instead of ``scores``.

    Returns
    -------
    jax.Array
        A number; in the range of the measure. If the arrays are traced, NaN where a class that the
        measure needs has no weight.

    Raises
    ------
    ValueError, TypeError
        If a shape does not fit, a value that is not traced has no meaning, or the measure has no
        form in JAX.

    Examples
    --------
    >>> import dmfroc
    >>> y, scores = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    >>> print(f"{value(dmfroc.measures.gini(), y, scores, n_classes=2):.3f}")
    0.500
    """
    if measure.is_dmf_auc:
        options = dict(measure.options)
        if options.pop("n_pairs") is not None:
            raise ValueError("dmf_auc by JAX takes all pairs of classes: leave n_pairs out")
        if options.pop("rank") != 1:
            raise ValueError("dmf_auc by JAX has rank 1: leave rank out")
        del options["random_state"]
        return dmf_auc(y, scores, weights, n_classes=n_classes, **options)
    statistic = measure.statistic
    is_projected = isinstance(statistic, WithOptions) and statistic.func is projected_pair_counts
    if not measure.is_smooth or not (statistic in _STATISTICS or is_projected):
        raise ValueError(
            f"{measure.name} has no form in JAX: take dmfroc.estimate, or a smooth measure of "
            "pairs, curves, hard labels or probabilities"
        )
    is_hard = statistic is confusion_counts
    if (scores is None) == (y_pred is None) or (y_pred is not None and not is_hard):
        what = "scores or y_pred" if is_hard else "scores"
        raise TypeError(f"{measure.name} needs {what}, and nothing else")
    data = observations(
        y,
        scores,
        weights,
        n_classes,
        needs_all_classes=not is_hard and statistic is not probability_losses,
        are_probabilities=statistic is probability_losses,
        is_checked_later=True,
    )
    if y_pred is not None:
        y_pred = observations(
            y_pred, None, None, n_classes, needs_all_classes=False, names=("y_pred", "")
        ).y
        if y_pred.shape != data.y.shape:
            raise ValueError(f"y_pred must have shape {data.y.shape}, not {y_pred.shape}")
    function = WithOptions(
        summarise, statistic=statistic, summary=measure.summary, n_classes=n_classes
    )
    return run_on(function, data, y_pred)


def summarise(
    y: Any, scores: Any, weights: Any, y_pred: Any, *, statistic: Any, summary: Any, n_classes: int
) -> Any:
    """Count by JAX what the statistic counts, and summarise it."""
    table: Any
    is_probability = statistic is probability_losses
    y, weights = usable(y, scores, weights, n_classes, are_probabilities=is_probability)
    if statistic is confusion_counts:
        if y_pred is None:
            predicted = predicted_classes(scores)
        else:
            predicted, weights = usable(y_pred, None, weights, n_classes)
        cells = ConfusionCounts(predicted * n_classes + y, tuple(range(n_classes)))
        table = cells.count(weights, jnp)
    elif is_probability:
        table = RowSums(loss_numbers(wide(scores), y, jnp)).count(weights, jnp)
    elif statistic in CURVES:
        # Two classes have one curve, that of the second
        columns = np.arange(int(n_classes == 2), n_classes)
        count: Any = partial(curve_points, share=1 / len(columns))
        return _sum_over_columns(count, summary, y, scores, weights, columns)
    elif statistic is pair_counts:
        predicted = predicted_classes(scores) if y_pred is None else y_pred
        count = partial(pair_table, n_columns=n_classes, predicted=predicted)
        return _sum_over_columns(count, summary, y, scores, weights, np.arange(n_classes))
    else:
        partition = statistic.keywords["partition"]
        table = projected_pair_table(
            y, scores, weights, None if partition is None else np.array(partition)
        )
    return summary(table, jnp)


def _sum_over_columns(
    count: Any, summary: Any, y: Any, scores: Any, weights: Any, columns: np.ndarray
) -> Any:
    """Add up the summaries of tables of some columns each."""

    def of_some(some: Any) -> Any:
        return jnp.reshape(summary(count(y, scores, weights, some), jnp), (1, -1))

    return jnp.squeeze(by_columns(of_some, columns, len(y)).sum(axis=0))


def hand_till(y: Any, scores: Any, weights: Any = None, *, n_classes: int) -> Value:
    """Return Hand and Till's M, the mean area under the ROC curves of all ordered pairs.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 1/2 for guessing. Ties count by half.

    Raises
    ------
    ValueError, TypeError
        As for `value`.

    References
    ----------
    Hand and Till (2001), equation 7.

    Examples
    --------
    >>> print(f"{hand_till([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.2f}")
    0.75
    """
    return value(ranking.hand_till(), y, scores, weights, n_classes=n_classes)


def one_vs_one_auc(
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    weighting: Literal["prevalence", "macro"] = "prevalence",
) -> Value:
    """Return the average area under the ROC curves of all pairs of classes.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.
    weighting : {"prevalence", "macro"}
        As for `dmfroc.measures.one_vs_one_auc`.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 1/2 for guessing. Ties count by half.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if ``weighting`` is another.

    References
    ----------
    Ferri, Hernández-Orallo and Modroiu (2009) (AU1P).

    Examples
    --------
    >>> print(f"{one_vs_one_auc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.2f}")
    0.75
    """
    measure = ranking.one_vs_one_auc(weighting)
    return value(measure, y, scores, weights, n_classes=n_classes)


def one_vs_rest_auc(
    y: Any, scores: Any, weights: Any = None, *, n_classes: int, weighting: Weighting = "macro"
) -> Value:
    """Return the average area under the ROC curves of every class against all others.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.
    weighting : {"macro", "prevalence", "bias"}
        As for `dmfroc.measures.one_vs_rest_auc`.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 1/2 for guessing. Ties count by half.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if ``weighting`` is another.

    References
    ----------
    Provost and Domingos (2003), Tree induction for probability-based ranking.

    Examples
    --------
    >>> print(f"{one_vs_rest_auc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.2f}")
    0.75
    """
    measure = ranking.one_vs_rest_auc(weighting)
    return value(measure, y, scores, weights, n_classes=n_classes)


def auc_mu(
    y: Any, scores: Any, weights: Any = None, *, n_classes: int, partition: Any = None
) -> Value:
    """Return AUC-mu, the mean area of all pairs of classes by the scores' projections.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.
    partition : array-like of shape (K, K), optional
        As for `dmfroc.measures.auc_mu`; it cannot be traced.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 1/2 for guessing. Equal projections count by half.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if the matrix does not fit.

    References
    ----------
    Kleiman and Page (2019), AUC-mu, equations 4 to 6.

    Examples
    --------
    >>> print(f"{auc_mu([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.2f}")
    0.75
    """
    measure = ranking.auc_mu(partition)
    if partition is not None and len(partition) != n_classes:
        raise ValueError(
            f"partition must have one row and column per class, {n_classes}, but it has "
            f"{len(partition)} rows"
        )
    return value(measure, y, scores, weights, n_classes=n_classes)


def average_precision(y: Any, scores: Any, weights: Any = None, *, n_classes: int) -> Value:
    """Return the average precision of each class against the rest, averaged over the classes.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.

    Returns
    -------
    jax.Array
        A number in (0, 1]; of two classes that of the second.

    Raises
    ------
    ValueError, TypeError
        As for `value`.

    References
    ----------
    As for `dmfroc.measures.average_precision`.

    Examples
    --------
    >>> print(f"{average_precision([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.4f}")
    0.8333
    """
    measure = curve_areas.average_precision()
    return value(measure, y, scores, weights, n_classes=n_classes)


def accuracy(
    y: Any, scores: Any = None, weights: Any = None, *, n_classes: int, y_pred: Any = None
) -> Value:
    """Return the share of right predictions.

    Parameters
    ----------
    y, scores, weights, n_classes, y_pred
        As for `value`.

    Returns
    -------
    jax.Array
        A number in [0, 1]. Its derivative is that by the weights.

    Raises
    ------
    ValueError, TypeError
        As for `value`.

    Examples
    --------
    >>> print(f"{accuracy([0, 0, 1, 1], y_pred=[0, 1, 1, 1], n_classes=2):.2f}")
    0.75
    """
    return value(FACTORIES["accuracy"](), y, scores, weights, n_classes=n_classes, y_pred=y_pred)


def informedness(
    y: Any,
    scores: Any = None,
    weights: Any = None,
    *,
    n_classes: int,
    y_pred: Any = None,
    weighting: OfTable = "bias",
) -> Value:
    """Return multiclass Bookmaker informedness: how far predictions are informed, above chance.

    Parameters
    ----------
    y, scores, weights, n_classes, y_pred
        As for `value`.
    weighting : {"bias", "prevalence", "macro"}
        As for `dmfroc.measures.informedness`.

    Returns
    -------
    jax.Array
        A number in [-1, 1]; 0 for guessing.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if ``weighting`` is another.

    References
    ----------
    Powers (2011), equation 41.

    Examples
    --------
    >>> print(f"{informedness([0, 0, 1, 1], y_pred=[0, 1, 1, 1], n_classes=2):.2f}")
    0.50
    """
    measure = FACTORIES["informedness"](weighting=weighting)
    return value(measure, y, scores, weights, n_classes=n_classes, y_pred=y_pred)


def gorodkin_correlation(
    y: Any, scores: Any = None, weights: Any = None, *, n_classes: int, y_pred: Any = None
) -> Value:
    """Return Gorodkin's multiclass correlation, for two classes Matthews's.

    Parameters
    ----------
    y, scores, weights, n_classes, y_pred
        As for `value`.

    Returns
    -------
    jax.Array
        A number in [-1, 1]; 0 for guessing.

    Raises
    ------
    ValueError, TypeError
        As for `value`.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient.

    Examples
    --------
    >>> print(f"{gorodkin_correlation([0, 0, 1, 1], y_pred=[0, 1, 1, 1], n_classes=2):.4f}")
    0.5774
    """
    return value(
        FACTORIES["gorodkin_correlation"](), y, scores, weights, n_classes=n_classes, y_pred=y_pred
    )


def brier_score(y: Any, scores: Any, weights: Any = None, *, n_classes: int) -> Value:
    """Return the Brier score: half the mean squared distance of the forecast from the outcome.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`; the scores are probabilities, and have a derivative.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 0 for certain and right forecasts.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if scores that are not traced are no probabilities.

    References
    ----------
    Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> print(f"{brier_score([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3], n_classes=2):.3f}")
    0.075
    """
    return value(probabilities.brier_score(), y, scores, weights, n_classes=n_classes)


def log_loss(y: Any, scores: Any, weights: Any = None, *, n_classes: int) -> Value:
    """Return the mean of minus the logarithm of the probability of the observed class, in nats.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`; the scores are probabilities, and have a derivative.

    Returns
    -------
    jax.Array
        A number >= 0; 0 for certain and right forecasts. A probability of 0 counts as 2e-16.

    Raises
    ------
    ValueError, TypeError
        As for `value`, or if scores that are not traced are no probabilities.

    References
    ----------
    Good (1952), Rational decisions.

    Examples
    --------
    >>> print(f"{log_loss([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3], n_classes=2):.3f}")
    0.299
    """
    return value(probabilities.log_loss(), y, scores, weights, n_classes=n_classes)
