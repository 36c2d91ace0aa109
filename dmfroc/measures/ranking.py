"""Hand and Till's M: the mean of the pairwise areas A(i|j).

Every A(i|j) compares the scores in column i of the classes i and j. For one column the sum over
all reference classes j is a single Mann-Whitney statistic in which each class has total weight
one, so that K searches replace K(K-1) sorts.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Shaped

from dmfroc._backend import aligned_empty, double_precision, share
from dmfroc.measures._blocks import (
    ClassBlocks,
    block_steps,
    count_below,
    group_by_class,
    per_row,
    run_ends,
)
from dmfroc.measures.base import BoundMeasure, Measure, value_of, warn_of_absent_classes
from dmfroc.predictions import Predictions, as_predictions


class Placements(NamedTuple):
    """Where each score falls among the sorted scores of its column's own class.

    A score between two neighbours, or inside a run of ties, is an entry of one table per class;
    entry ``lower + upper`` of the table stands for the mean of the cumulative weights at the
    sorted positions ``lower`` and ``upper``, which counts ties by half.
    """

    rows: Int[Array, " n"]  # grouped position -> observation
    row_class: Int[Array, " n"]
    sorted_rows: Int[Array, " n"]  # own-class rank -> observation
    starts: Int[Array, " c"]
    stops: Int[Array, " c"]
    lower: Int[Array, " entries"]
    upper: Int[Array, " entries"]
    entry_class: Int[Array, " entries"]
    entry: Int[Array, "columns n"]


def place(blocks: ClassBlocks, columns: Int[np.ndarray, " columns"]) -> Placements:
    """Find the placement of every score of ``columns`` among the scores of the column's class."""
    n, starts = blocks.n_observations, blocks.starts
    own_order = np.empty(n, np.int32)
    own_scores = aligned_empty((n,), blocks.scores.dtype)
    for column, block in enumerate(blocks.slices()):
        order = np.argsort(blocks.scores[column, block])
        own_order[block] = order + block.start
        own_scores[block] = blocks.scores[column, block][order]
    ends = run_ends(own_scores, starts[:-1])
    lower, upper, entry_class = _placement_table(ends, starts)
    all_columns = len(columns) == blocks.n_classes
    scores = blocks.scores if all_columns else blocks.scores[columns]
    return Placements(
        rows=share(blocks.row_order),
        row_class=per_row(blocks),
        sorted_rows=share(blocks.row_order[own_order]),
        starts=share(starts[:-1]),
        stops=share(starts[1:]),
        lower=share(lower),
        upper=share(upper),
        entry_class=share(entry_class),
        entry=_find_entries(
            share(own_scores),
            share(ends),
            share(starts),
            share(columns.astype(np.int32)),
            share(scores),
            n_steps=block_steps(starts),
        ),
    )


def _placement_table(
    ends: Int[np.ndarray, " n"], starts: Int[np.ndarray, " c_plus_1"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, n_classes = len(ends), len(starts) - 1
    entry_class = np.repeat(np.arange(n_classes, dtype=np.int32), 2 * np.diff(starts) + 1)
    doubled = np.arange(2 * n + n_classes, dtype=np.int32) - entry_class
    lower, upper = doubled // 2, (doubled + 1) // 2
    firsts = np.flatnonzero(np.append(True, ends[1:] != ends[:-1]))
    last = ends[firsts]
    of_run = firsts + last + np.searchsorted(starts, firsts, "right") - 1
    lower[of_run], upper[of_run] = firsts, last
    return lower, upper, entry_class


@partial(jax.jit, static_argnames="n_steps")
def _find_entries(
    own_scores: Shaped[Array, " n"],
    ends: Int[Array, " n"],
    starts: Int[Array, " c_plus_1"],
    columns: Int[Array, " columns"],
    scores: Shaped[Array, "columns n"],
    n_steps: int,
) -> Int[Array, "columns n"]:
    column = columns[:, None]
    stop = starts[column + 1]
    lower = count_below(own_scores, starts[column], stop, scores, n_steps)
    is_tied = (lower < stop) & (own_scores.at[lower].get(mode="clip") == scores)
    upper = jnp.where(is_tied, ends.at[lower].get(mode="clip"), lower)
    return lower + upper + column


def _fraction_above(placements: Placements, weights: Float[Array, " n"]) -> Float[Array, " e"]:
    """Return for each table entry the share of its class that scores higher, ties by half."""
    cumulative = jnp.concatenate([jnp.zeros(1), jnp.cumsum(weights[placements.sorted_rows])])
    start, stop = cumulative[placements.starts], cumulative[placements.stops]
    total = (stop - start)[placements.entry_class]
    middle = (cumulative[placements.lower] + cumulative[placements.upper]) / 2
    return (stop[placements.entry_class] - middle) / total


def _share_of_class(placements: Placements, weights: Float[Array, " n"]) -> Float[Array, " n"]:
    """Return each grouped row's share of the total weight of its class."""
    grouped = weights[placements.rows]
    totals = jnp.zeros(len(placements.starts)).at[placements.row_class].add(grouped)
    return grouped / totals[placements.row_class]


def mean_pairwise_area(placements: Placements, weights: Float[Array, " n"]) -> Float[Array, ""]:
    """Return the mean of A(i|j) over the placed columns i and all other classes j."""
    above = _fraction_above(placements, weights)
    total_above = above.at[placements.entry].get(mode="promise_in_bounds").sum(axis=0)
    area = jnp.vdot(_share_of_class(placements, weights), total_above)
    n_columns, n_classes = len(placements.entry), len(placements.starts)
    # A class against itself has area 1/2 whatever the weights: it is summed, then taken off.
    mean = (area - n_columns / 2) / (n_columns * (n_classes - 1))
    return jnp.clip(mean, 0, 1)  # rounding can go beyond


@jax.jit
def _area_matrix(placements: Placements, weights: Float[Array, " n"]) -> Float[Array, "c c"]:
    above = _fraction_above(placements, weights)
    share_of_class = _share_of_class(placements, weights)

    def areas_of_column(entry: Int[Array, " n"]) -> Float[Array, " c"]:
        areas = jnp.zeros(len(placements.starts))
        areas = areas.at[placements.row_class].add(share_of_class * above[entry])
        return jnp.clip(areas, 0, 1)

    return lax.map(areas_of_column, placements.entry)


def bind_areas(
    predictions: Predictions, columns: Int[np.ndarray, " columns"] | None = None
) -> BoundMeasure:
    """Bind the mean of A(i|j) over some columns (positions among the classes that occur)."""
    blocks = group_by_class(predictions)
    if columns is None:
        columns = np.arange(blocks.n_classes)
    return Partial(mean_pairwise_area, place(blocks, columns))


HAND_TILL = Measure(
    name="hand_till",
    title="Hand-Till M",
    bind=bind_areas,
    bounds=(0.0, 1.0),
    chance=0.5,
    family="ranking",
)


def hand_till_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return Hand and Till's M, the mean area under the ROC curves of all ordered pairs.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers, rows need not sum to one.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing. It does not depend on how frequent the classes are. Ties
        count by half. Pairs with a class that never occurs are left out, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Hand and Till (2001), A simple generalisation of the area under the ROC curve for multiple
    class classification problems, equation 7.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(hand_till_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.791666666667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(HAND_TILL, predictions)


@double_precision
def pairwise_auc_matrix(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> Float[np.ndarray, "k k"]:
    """Return the matrix of A(i|j): how well column i tells class i from class j.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.

    Returns
    -------
    numpy.ndarray of shape (K, K)
        In row i and column j the probability that a random observation of class i has a higher
        score in column i than one of class j, ties by half; in [0, 1], 1/2 for guessing. The
        diagonal is 0, as in the paper, and so are the rows and columns of classes that never
        occur. The matrix is not symmetric for K > 2.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Hand and Till (2001), equation 3.

    Examples
    --------
    >>> pairwise_auc_matrix([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent_classes(predictions)
    blocks = group_by_class(predictions)
    placements = place(blocks, np.arange(blocks.n_classes))
    areas = np.array(_area_matrix(placements, share(predictions.sample_weight)))
    np.fill_diagonal(areas, 0)
    matrix = np.zeros((predictions.n_classes, predictions.n_classes))
    matrix[np.ix_(predictions.present, predictions.present)] = areas
    return matrix
