"""AUC-mu: the mean area of all pairs of classes, each along the normal of its own boundary.

A classifier with misclassification costs A decides between the classes i and j by the sign of
(A_i - A_j) p. AUC-mu ranks the observations of both classes by that projection, for each pair
by its own, so that the other classes' scores take no part unless the costs say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int

from dmfroc._backend import AnyArray, share
from dmfroc.measures._blocks import run_ends
from dmfroc.measures._cumulative import cumulative_sum
from dmfroc.measures._gradient import WithGradient
from dmfroc.measures.base import BoundMeasure, Measure, value_of
from dmfroc.predictions import Predictions, as_predictions

_PLACES_AT_ONCE = 1 << 16  # what a processor's cache holds


class RankedPairs(NamedTuple):
    """The observations of every pair of classes, ranked by the pair's projection.

    The pairs lie one after the other; positions count from the start of the first.
    """

    rows: Int[Array, " m"]
    pair: Int[Array, " m"]
    is_first: Bool[Array, " m"]  # of the first class of the pair, which ranks high
    run_start: Int[Array, " m"]  # of equal projections
    run_end: Int[Array, " m"]
    starts: Int[Array, " pairs_plus_1"]


def rank_pairs(
    predictions: Predictions, partition: Float[np.ndarray, "k k"] | None = None
) -> RankedPairs:
    """Sort the projections of every pair of classes that occur."""
    scores = predictions.scores.astype(float)
    rows_of = {
        k: np.flatnonzero(predictions.true == k).astype(np.int32) for k in predictions.present
    }
    rows, is_first, projections = [], [], []
    for i, j in combinations(predictions.present, 2):
        of_pair = np.concatenate([rows_of[i], rows_of[j]])
        if partition is None:
            projection = scores[of_pair, i] - scores[of_pair, j]
        else:
            projection = scores[of_pair] @ (partition[j] - partition[i])
        order = np.argsort(projection)
        rows.append(of_pair[order])
        is_first.append(order < len(rows_of[i]))
        projections.append(projection[order])
    sizes = [len(of_pair) for of_pair in rows]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    ends = run_ends(np.concatenate(projections), starts[:-1])
    firsts = np.flatnonzero(np.append(True, ends[1:] != ends[:-1])).astype(np.int32)
    return RankedPairs(
        rows=share(np.concatenate(rows)),
        pair=share(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)),
        is_first=share(np.concatenate(is_first)),
        run_start=share(np.repeat(firsts, np.diff(np.append(firsts, len(ends))))),
        run_end=share(ends),
        starts=share(starts),
    )


def _mean_area(pairs: RankedPairs, weights: Float[Array, " n"]) -> Float[Array, ""]:
    """Return the mean area of the pairs."""
    ordered = weights[pairs.rows]
    first = jnp.where(pairs.is_first, ordered, 0)
    totals, below = _below(pairs, jnp.stack([first, ordered - first]))
    won = jnp.zeros(totals.shape[1]).at[pairs.pair].add(first * below[1])
    return _areas(won, totals, jnp).mean()


def _below(
    pairs: RankedPairs, of_classes: Float[AnyArray, "2 m"]
) -> tuple[Float[AnyArray, "2 pairs"], Float[AnyArray, "2 m"]]:
    """Return what both classes of each pair weigh, and what of it is below each place.

    Ties count by half.
    """
    sums = cumulative_sum(of_classes)
    bounds = sums[:, pairs.starts]
    middle = (sums[:, pairs.run_start] + sums[:, pairs.run_end]) / 2
    return bounds[:, 1:] - bounds[:, :-1], middle - bounds[:, pairs.pair]


def _areas(won: Float[AnyArray, " pairs"], totals: Float[AnyArray, "2 pairs"], numpy: Any) -> Any:
    # Pairs of observations first, then division: whole and half numbers have exact sums.
    return numpy.clip(won / (totals[0] * totals[1]), 0, 1)  # rounding exceeds 1


def _mean_area_and_gradient(
    pairs: RankedPairs, weights: Float[np.ndarray, " n"]
) -> tuple[float, Float[np.ndarray, " n"]]:
    """Return the mean area and its derivative: what each observation wins, less its share."""
    gradient, of_pairs = np.zeros_like(weights), []
    for some in _in_parts(pairs):
        ordered = weights[some.rows]
        first = np.where(some.is_first, ordered, 0)
        totals, below = _below(some, np.stack([first, ordered - first]))
        areas = _areas(np.add.reduceat(first * below[1], some.starts[:-1]), totals, np)
        of_first, of_second = totals[:, some.pair]
        won = np.where(some.is_first, below[1], of_first - below[0])
        own = np.where(some.is_first, of_first, of_second)
        of_places = (won * own / (of_first * of_second) - areas[some.pair]) / own
        gradient += np.bincount(some.rows, of_places, len(weights))
        of_pairs.append(areas)
    areas = np.concatenate(of_pairs)
    return float(areas.mean()), gradient / len(areas)


def _in_parts(pairs: RankedPairs) -> Iterator[RankedPairs]:
    """Split the pairs such that each part, if of several pairs, fits a processor's cache."""
    first = 0
    while first < len(pairs.starts) - 1:
        start = pairs.starts[first]
        last = max(int(pairs.starts.searchsorted(start + _PLACES_AT_ONCE, "right")) - 1, first + 1)
        places = slice(start, pairs.starts[last])
        yield RankedPairs(
            rows=pairs.rows[places],
            pair=pairs.pair[places] - np.int32(first),
            is_first=pairs.is_first[places],
            run_start=pairs.run_start[places] - start,
            run_end=pairs.run_end[places] - start,
            starts=pairs.starts[first : last + 1] - start,
        )
        first = last


mean_projected_area = WithGradient(_mean_area, _mean_area_and_gradient)


def auc_mu(partition: Any = None) -> Measure:
    """Return AUC-mu as a measure.

    Parameters
    ----------
    partition : array-like of shape (K, K), optional
        The partition matrix: entry (i, j) is the cost of predicting the i-th class where the
        j-th is true. By default every error costs 1, and the pair (i, j) is ranked by the
        difference of the two scores.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing.

    Raises
    ------
    ValueError
        If the matrix is not square and finite, or two of its rows are equal, so that they do not
        tell their classes apart.
    """
    matrix = None if partition is None else _checked_partition(partition)

    def bind(predictions: Predictions) -> BoundMeasure:
        if matrix is not None and len(matrix) != predictions.n_classes:
            raise ValueError(
                f"partition must have one row and column per class, {predictions.n_classes}, but "
                f"its shape is {matrix.shape}"
            )
        return Partial(mean_projected_area, rank_pairs(predictions, matrix))

    return Measure(
        name="auc_mu",
        title="AUC-mu",
        bind=bind,
        bounds=(0.0, 1.0),
        chance=0.5,
        family="ranking",
    )


def _checked_partition(partition: Any) -> Float[np.ndarray, "k k"]:
    matrix = np.array(partition, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"partition must be a square matrix, but its shape is {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("partition must be finite, but it holds NaN or infinity")
    if len(np.unique(matrix, axis=0)) < len(matrix):
        raise ValueError("partition must tell any two classes apart, but two of its rows are equal")
    return matrix


AUC_MU = auc_mu()


def auc_mu_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    partition: Any = None,
) -> float:
    """Return AUC-mu, the mean area of all pairs of classes by the scores' projections.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers, but their differences within a row must have a meaning, as those
        of probabilities do.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    partition : array-like of shape (K, K), optional
        Costs that define the boundary of each pair of classes, see `auc_mu`.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing; for two classes the ordinary area. It does not depend on how
        frequent the classes are. Equal projections count by half; they are differences of
        floating-point numbers, so that 0.3 - 0.1 and 0.4 - 0.2 are not equal. Pairs with a class
        that never occurs are left out, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``partition`` is not a
        finite K x K matrix with different rows.

    References
    ----------
    Kleiman and Page (2019), AUC-mu: a performance metric for multi-class machine learning models,
    equations 4 to 6.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(auc_mu_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.805555555556
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(AUC_MU if partition is None else auc_mu(partition), predictions)
