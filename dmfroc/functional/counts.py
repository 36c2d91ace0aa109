"""The tables of the statistics by JAX, from labels and scores that may be traced.

The statistics of `dmfroc.measures.statistics` sort and group by NumPy, whose shapes depend on the
data. Here all shapes follow from the numbers of observations and classes. The tables are the same,
and so are the summaries. Scores have no derivative; weights have one.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from dmfroc._kit.arrays import cumulative_sum
from dmfroc.measures.statistics.confusion import ConfusionCounts, ConfusionMatrix
from dmfroc.measures.statistics.curves import CurveCounts, CurvePoints
from dmfroc.measures.statistics.pairs import PairTable
from dmfroc.measures.statistics.projections import ProjectedPairTable
from dmfroc.multiclass.rates import RateTable, above_with_ties, ordered_pairs
from dmfroc.multiclass.thresholds import grid_levels

_SCORES_AT_ONCE = 1 << 18  # of the pairs of classes that are counted at once


def predicted_classes(scores: Float[Array, "n k"]) -> Int[Array, " n"]:
    """Return the column of the largest score, the first of equals.

    It may be part of a program of 32 bits, which cannot compile `jax.numpy.argmax` of 64.
    """
    n_classes = scores.shape[1]
    is_largest = scores == scores.max(axis=1, keepdims=True)
    return jnp.where(is_largest, jnp.arange(n_classes), n_classes).min(axis=1)


def class_weights(
    y: Int[Array, " n"], weights: Float[Array, " n"], n_classes: int
) -> Float[Array, "n k"]:
    """Return each observation's weight in the column of its class, and 0 elsewhere."""
    return jnp.where(y[:, None] == jnp.arange(n_classes), weights[:, None], 0.0)


def confusion_matrix(
    y: Int[Array, " n"], predicted: Int[Array, " n"], weights: Float[Array, " n"], n_classes: int
) -> ConfusionMatrix:
    """Count predicted against observed classes, which have the numbers 0, 1, ... as values."""
    values = tuple(map(float, range(n_classes)))
    counts = ConfusionCounts(predicted * n_classes + y, n_classes, values)
    return counts.count(weights, jnp)


def pair_table(
    y: Int[Array, " n"], scores: Float[Array, "n k"], weights: Float[Array, " n"], columns: Any
) -> PairTable:
    """Count the pairs of observations in the right order, for each column's class and all others.

    Along the sorted scores of a column, the weight of its own class above each score is one
    cumulative sum.
    """
    n_classes = scores.shape[1]
    by_class = class_weights(y, weights, n_classes)
    totals = by_class.sum(axis=0)
    order, first, end = _sorted_runs(scores.T[columns])
    own = jnp.where(y[order] == columns[:, None], weights[order], 0.0)
    below = cumulative_sum(own, jnp)
    tied = (_at(below, first) + _at(below, end)) / 2
    # The weights by class in the order of each column
    won = jnp.einsum("cn,cnk->ck", below[:, -1:] - tied, by_class[order])
    won = _within(won, totals[columns][:, None] * totals)
    predicted = class_weights(predicted_classes(scores), weights, n_classes).sum(axis=0)
    return PairTable(won, totals, predicted, columns)


def projected_pair_table(
    y: Int[Array, " n"],
    scores: Float[Array, "n k"],
    weights: Float[Array, " n"],
    partition: Float[np.ndarray, "k k"] | None,
) -> ProjectedPairTable:
    """Count the pairs of observations of two classes in the order of the pair's projection."""
    pairs = np.array(list(combinations(range(scores.shape[1]), 2)))
    i, j = pairs.T
    if partition is None:
        projections = (scores[:, i] - scores[:, j]).T
    else:
        projections = (partition[j] - partition[i]) @ scores.T
    order, first, end = _sorted_runs(projections)
    first_weights, second_weights = (
        jnp.where(y[order] == class_of_pair[:, None], weights[order], 0.0)
        for class_of_pair in (i, j)
    )
    below = cumulative_sum(second_weights, jnp)
    won = (first_weights * (_at(below, first) + _at(below, end)) / 2).sum(axis=1)
    first_total, second_total = first_weights.sum(axis=1), below[:, -1]
    won = _within(won, first_total * second_total)
    return ProjectedPairTable(won, first_total, second_total, 1 / len(pairs))


def curve_points(
    y: Int[Array, " n"], scores: Float[Array, "n k"], weights: Float[Array, " n"], columns: Any
) -> CurvePoints:
    """Count true and false positives above every score of some classes against all others."""
    order, _, end = _sorted_runs(-scores.T[columns])
    above = jnp.pad(end, [(0, 0), (1, 0)])
    is_positive = y[order] == columns[:, None]
    n_positives = is_positive.sum(axis=1)
    counts = CurveCounts(order, is_positive, above, 1 / len(columns), n_positives)
    return counts.count(weights, jnp)


def rate_table(
    y: Int[Array, " n"],
    scores: Float[Array, "n k"],
    weights: Float[Array, " n"],
    threshold_weights: Float[Array, " n"],
    cell_weights: Float[Array, "q 2 1"],
    shrinkage: Float[Array, ""],
    n_thresholds: int,
    *,
    is_balanced: bool,
) -> RateTable:
    """Count both classes of every ordered pair above the thresholds of the pair.

    Thresholds are levels of the pool of both classes' scores in both columns, each class
    with the same weight in all if balanced, as in `dmfroc.multiclass.thresholds`.
    """
    n, n_classes = scores.shape
    numerators, denominator = grid_levels(n_thresholds)
    i, j = np.triu_indices(n_classes, 1)
    by_class = class_weights(y, threshold_weights, n_classes).T
    sizes = by_class.sum(axis=1)

    def count_pair(i: Any, j: Any) -> Float[Array, "2 2 t"]:
        # Each class times the total of the other: sums of whole weights are exact
        factors = (sizes[j], sizes[i]) if is_balanced else (1.0, 1.0)
        mass = factors[0] * by_class[i] + factors[1] * by_class[j]
        is_member = (y == i) | (y == j)
        pool = jnp.where(is_member, jnp.stack([scores[:, i], scores[:, j]]), jnp.inf)
        order, first, end = _sorted_runs(pool.reshape(1, -1))
        order, first, end = order[0], first[0], end[0]
        row, is_second_column = order % n, order >= n
        up_to = cumulative_sum(mass[row], jnp)
        limits = up_to[-1] * (denominator - numerators)
        place = _n_within(up_to[1:] * denominator, limits)
        first, end = first[place], end[place]
        above = denominator * up_to[end] - limits
        share = jnp.clip(above / (denominator * (up_to[end] - up_to[first])), 0, 1)

        ordered, class_of_row = weights[row], y[row]
        # Of (i, j), whose column is the first, both classes; then of (j, i)
        blocks = jnp.stack(
            [
                jnp.where((is_second_column == is_second) & (class_of_row == of), ordered, 0.0)
                for is_second, of in ((False, i), (False, j), (True, j), (True, i))
            ]
        )
        below = cumulative_sum(blocks, jnp).reshape(2, 2, -1)
        counts: Float[Array, "2 2 t"] = above_with_ties(
            below[..., -1:], below[..., end], below[..., first], jnp.stack([share, share])
        )
        return _within(counts, below[..., -1:])

    totals = class_weights(y, weights, n_classes).sum(axis=0)
    at_once = max(_SCORES_AT_ONCE // n, 1)
    pairs = jnp.asarray(i), jnp.asarray(j)
    by_pair = lax.map(lambda pair: count_pair(*pair), pairs, batch_size=at_once)
    counted = ordered_pairs(n_classes)
    unordered = np.zeros((n_classes, n_classes), int)
    unordered[i, j] = unordered[j, i] = np.arange(len(i))
    k, m = counted[..., 0], counted[..., 1]
    counts = by_pair[unordered[k, m], (k > m).astype(int)]
    return RateTable(counts, totals, counted, cell_weights, shrinkage)


def _iota(n_rows: int, n: int) -> Int[Array, "rows n"]:
    return jnp.broadcast_to(jnp.arange(n, dtype=jnp.int32), (n_rows, n))


def _sorted_runs(
    x: Float[Array, "rows n"],
) -> tuple[Int[Array, "rows n"], Int[Array, "rows n"], Int[Array, "rows n"]]:
    """Return each row's order, and where the run of ties of each place starts and ends."""
    n = x.shape[1]
    keys, order = lax.sort((_ordered_integers(x), _iota(*x.shape)), num_keys=1)
    changes: Bool[Array, "rows n_minus_1"] = keys[:, 1:] != keys[:, :-1]
    places = jnp.arange(n, dtype=jnp.int32)
    edge = [(0, 0), (1, 0)], [(0, 0), (0, 1)]
    is_first, is_last = (jnp.pad(changes, width, constant_values=True) for width in edge)
    first = lax.cummax(jnp.where(is_first, places, 0), axis=1)
    last = lax.cummin(jnp.where(is_last, places, n), axis=1, reverse=True)
    return order, first, last + 1


def _within(sums: Float[Array, "*shape"], whole: Float[Array, "*shape_"]) -> Any:
    """Put sums into their range; rounding exceeds it, and the derivative ignores that."""
    return sums + lax.stop_gradient(jnp.clip(sums, 0.0, whole) - sums)


def _at(x: Float[Array, "rows m"], places: Int[Array, "rows k"]) -> Float[Array, "rows k"]:
    return jnp.take_along_axis(x, places, axis=1)


def _ordered_integers(x: Float[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Turn numbers into integers of the same order, which XLA sorts in half the time."""
    bits = lax.bitcast_convert_type(jnp.where(x == 0, 0.0, x), jnp.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def _n_within(sums: Float[Array, " m"], limits: Float[Array, " t"]) -> Int[Array, " t"]:
    """Return how many of growing sums do not exceed each limit, but not all."""
    m = len(sums)
    return jnp.minimum(jnp.searchsorted(sums, limits, side="right"), m - 1)
