"""The tables of the statistics by JAX, from labels and scores that may be traced.

The statistics of `dmfroc.measures.statistics` sort and group by NumPy, whose shapes depend on the
data. Here all shapes follow from the numbers of observations and classes. The tables are the same,
and so are the summaries. Scores have no derivative; weights have one.

Each column is sorted once. All else are sums along the sorted scores, and sums by class: no array
has more numbers than there are scores, but for a small factor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Array, Bool, Float, Int, UInt

from dmfroc._kit.arrays import cumulative_sum, powers_of_two
from dmfroc.functional.arrays import Classes, Scores, Value, Weights
from dmfroc.measures.statistics.curves import CurveCounts, CurvePoints
from dmfroc.measures.statistics.layout import FRACTIONS, LARGEST_WHOLE
from dmfroc.measures.statistics.pairs import PairTable
from dmfroc.measures.statistics.projections import ProjectedPairTable
from dmfroc.multiclass.rates import RateTable, ThresholdPool, above_with_ties, ordered_pairs
from dmfroc.multiclass.thresholds import grid_levels

_AT_ONCE = 1 << 20, 1 << 25  # scores, by a CPU and by others, which bounds the memory
_FEW_CLASSES = 16  # whose sums are faster one by one than by adding each number to its own
_MOST_TERMS = 30  # of continued fractions: denominators grow like Fibonacci's numbers


class Runs(NamedTuple):
    """The order of each row, and where the run of ties of each place starts and ends."""

    order: Int[Array, "*rows n"]
    first: Int[Array, "*rows n"]
    end: Int[Array, "*rows n"]


def predicted_classes(scores: Scores) -> Classes:
    """Return the column of the largest score, the first of equals.

    It may be part of a program of 32 bits, which cannot compile `jax.numpy.argmax` of 64.
    """
    n_classes = scores.shape[1]
    is_largest = scores == scores.max(axis=1, keepdims=True)
    return jnp.where(is_largest, jnp.arange(n_classes), n_classes).min(axis=1)


def class_totals(y: Classes, weights: Weights, n_classes: int) -> Float[Array, " k"]:
    """Return the weight of each class."""
    return sums_by_class(y[None], weights[None], n_classes)[0]


def sums_by_class(
    classes: Int[Array, "rows n"], numbers: Float[Array, "rows n"], n_classes: int
) -> Float[Array, "rows k"]:
    """Add up the numbers of each row by class."""
    if n_classes <= _FEW_CLASSES:
        classes, numbers = lax.optimization_barrier((classes, numbers))  # each found once
        is_of_class = classes[:, None] == jnp.arange(n_classes, dtype=classes.dtype)[:, None]
        return jnp.where(is_of_class, numbers[:, None], 0.0).sum(axis=-1)
    n_rows = len(classes)
    places = classes + n_classes * jnp.arange(n_rows, dtype=classes.dtype)[:, None]
    return jnp.zeros(n_rows * n_classes).at[places].add(numbers).reshape(n_rows, n_classes)


def by_columns(
    function: Callable[[Int[Array, " columns"]], Any], columns: np.ndarray, n: int
) -> Any:
    """Call a function with some columns at a time, and join what it returns.

    A backward pass has the order and the ties alone from the forward pass, and makes the rest anew.
    """
    most = _AT_ONCE[jax.default_backend() != "cpu"]
    n_parts = min(-(-len(columns) * n // most), len(columns))
    if n_parts == 1:
        return function(jnp.asarray(columns))
    policy = jax.checkpoint_policies.save_only_these_names("order", "changes")
    of_one = jax.checkpoint(lambda x: function(x[None]), policy=policy, prevent_cse=False)
    found = lax.map(of_one, jnp.asarray(columns), batch_size=-(-len(columns) // n_parts))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), found)


def pair_table(
    y: Classes, scores: Scores, weights: Weights, columns: Any, n_columns: int, predicted: Classes
) -> PairTable:
    """Count the pairs of observations in the right order, for some columns' classes and all others.

    Along the sorted scores of a column, the weight of its own class above each score is one
    cumulative sum.
    """
    n_classes = scores.shape[1]
    totals = class_totals(y, weights, n_classes)
    runs = sorted_runs(scores.T[columns])
    classes, ordered = y[runs.order], weights[runs.order]
    own = jnp.where(classes == columns[:, None], ordered, 0.0)
    above = totals[columns][:, None] - below(own, runs)
    won = sums_by_class(classes, above * ordered, n_classes)
    won = _within(won, totals[columns][:, None] * totals)
    predicted_totals = class_totals(predicted, weights, n_classes)
    return PairTable(won, totals, predicted_totals, columns, n_columns)


def projected_pair_table(
    y: Classes, scores: Scores, weights: Weights, partition: Float[np.ndarray, "k k"] | None
) -> ProjectedPairTable:
    """Count the pairs of observations of two classes in the order of the pair's projection."""
    n_classes = scores.shape[1]
    scores = _to_add(scores)
    other = _other_classes(y, n_classes)
    i, j = jnp.minimum(y[:, None], other), jnp.maximum(y[:, None], other)
    if partition is None:
        projections = _at(scores, i) - _at(scores, j)
    else:
        matrix = jnp.asarray(partition)

        def add(column: Any, total: Float[Array, "n k_minus_1"]) -> Float[Array, "n k_minus_1"]:
            return total + scores[:, column][:, None] * (matrix[j, column] - matrix[i, column])

        projections = lax.fori_loop(0, n_classes, add, jnp.zeros(i.shape))
    pair = i * (2 * n_classes - i - 1) // 2 + j - i - 1
    runs, row, pair = _sorted_pools(projections[..., None], pair[..., None])
    is_first = y[row] == i.ravel()[runs.order]
    own = weights[row]
    first_weights, second_weights = jnp.where(is_first, own, 0.0), jnp.where(is_first, 0.0, own)
    totals = class_totals(y, weights, n_classes)
    of_first, of_second = (totals[x] for x in np.triu_indices(n_classes, 1))
    powers: Any = powers_of_two(of_second, weights, jnp)
    scaled = of_second / powers
    before = jnp.cumsum(scaled) - scaled  # of all pairs before
    beaten = (below(second_weights / powers[pair], runs) - before[pair]) * powers[pair]
    won = jnp.zeros(len(of_first)).at[pair].add(first_weights * beaten, indices_are_sorted=True)
    won = _within(won, of_first * of_second)
    return ProjectedPairTable(won, of_first, of_second, 1 / len(won))


def _to_add(scores: Scores) -> Scores:
    """Return scores whose differences tie if those of the fractions do that they stand for.

    As `dmfroc.measures.statistics.layout.scores_to_add` does. They have no derivative.
    """
    scores, n_bytes = lax.stop_gradient(scores), scores.dtype.itemsize
    wide, (decimals, largest) = scores.astype(np.float64), FRACTIONS[n_bytes]

    def multiples_of(denominator: Any) -> tuple[Any, Any]:
        # Hidden from XLA, which would multiply by the reciprocal, and round
        denominators = lax.optimization_barrier(jnp.full(wide.shape, denominator, np.float64))
        whole = jnp.round(wide * denominators)
        is_exact = (whole / denominators).astype(scores.dtype) == scores
        return whole, is_exact & (abs(whole) < LARGEST_WHOLE)

    def with_another(state: tuple[Any, Any]) -> tuple[Any, Any]:
        denominator, _ = state
        inexact = jnp.where(multiples_of(denominator)[1], -np.inf, wide).max()
        found = jnp.lcm(denominator, _denominator(inexact, largest).astype(np.int64))
        is_done = (found == denominator) | multiples_of(found)[1].all()
        return found, is_done | (found > LARGEST_WHOLE)

    start, is_decimal = jnp.int64(decimals), multiples_of(jnp.int64(decimals))[1].all()
    state = jnp.where(is_decimal, start, 1), is_decimal | multiples_of(jnp.int64(1))[1].all()
    denominator, _ = lax.while_loop(lambda state: ~state[1], with_another, state)
    whole, is_exact = multiples_of(denominator)
    return jnp.where(is_exact.all(), whole, wide)


def _denominator(x: Value, largest: int) -> Value:
    """Return that of the last convergent of a continued fraction that is not too large."""

    def with_term(_: Any, state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        rest, before, last = state
        term = jnp.floor(1 / rest)
        new = 1 / rest - term, last, before + term * last
        return jax.tree.map(lambda a, b: jnp.where(new[2] <= largest, a, b), new, state)

    found: Value
    _, _, found = lax.fori_loop(0, _MOST_TERMS, with_term, (x - jnp.floor(x), x * 0, x * 0 + 1))
    return found


def curve_points(
    y: Classes, scores: Scores, weights: Weights, columns: Any, share: float
) -> CurvePoints:
    """Count true and false positives above every score of some classes against all others.

    Each curve has a share in the mean of all.
    """
    order, _, end = sorted_runs(-scores.T[columns])
    above = jnp.pad(end, [(0, 0), (1, 0)])
    is_positive = y[order] == columns[:, None]
    n_positives = is_positive.sum(axis=1)
    counts = CurveCounts(order, is_positive, above, share, n_positives)
    return counts.count(weights, jnp)


def _other_classes(y: Classes, n_classes: int) -> Int[Array, "n k_minus_1"]:
    """Return the classes that are not that of each observation."""
    other = jnp.arange(n_classes - 1, dtype=np.int32)
    return other + (other >= y[:, None]).astype(np.int32)


def _sorted_pools(
    values: Float[Array, "n k_minus_1 items"], pair: Int[Array, "n k_minus_1 items"]
) -> tuple[Runs, Int[Array, " m"], Int[Array, " m"]]:
    """Sort values by pair, and each pair's; return also the observation and the pair of each."""
    per_row, pair = values[0].size, pair.ravel()
    keys = _ordered_integers(values.ravel())
    places = jnp.arange(keys.size, dtype=np.int32)
    if keys.dtype.itemsize == 4:
        packed = (pair.astype(np.uint64) << np.uint64(32)) | keys.astype(np.uint64)
        packed, order = lax.sort((packed, places), num_keys=1)
        changes = packed[1:] != packed[:-1]
        pair = (packed >> np.uint64(32)).astype(np.int32)
    else:  # by the values, then by the pairs
        keys, order = lax.sort((keys, places), num_keys=1)
        pair, again = lax.sort((pair[order], places), num_keys=1, is_stable=True)
        keys, order = keys[again], order[again]
        changes = (keys[1:] != keys[:-1]) | (pair[1:] != pair[:-1])
    return _runs(order, changes), order // per_row, pair


def rate_table(
    y: Classes,
    scores: Scores,
    weights: Weights,
    threshold_weights: Weights,
    cell_weights: Float[Array, "q 2 1"],
    shrinkage: Value,
    n_thresholds: int,
    threshold_pool: ThresholdPool,
) -> RateTable:
    """Count both classes of every ordered pair above the thresholds of the pair.

    Thresholds are levels of the pool of both classes' scores in one column or in both, as in
    `dmfroc.multiclass.thresholds`.
    """
    n_classes, is_common = scores.shape[1], threshold_pool != "column"
    numerators, denominator = grid_levels(n_thresholds)
    groups = ordered_pairs(n_classes)
    counted = groups.reshape(-1, 2)
    numbers = np.zeros((n_classes, n_classes), np.int32)  # of pairs of classes, by their pools
    i, j = np.triu_indices(n_classes, 1) if is_common else counted.T
    numbers[i, j] = np.arange(len(i))
    if is_common:
        numbers[j, i] = numbers[i, j]
    sizes = class_totals(y, threshold_weights, n_classes)
    factors = jnp.stack(
        [jnp.ones(len(i))] * 2 if threshold_pool == "pooled" else [sizes[j], sizes[i]]
    )
    # By powers of two, with which sums of whole weights stay exact
    scale: Any = powers_of_two((factors * jnp.stack([sizes[i], sizes[j]])).sum(axis=0), sizes, jnp)
    factors = factors / scale

    # Of each observation the score in the column of its class, and in that of the other class
    other = _other_classes(y, n_classes)
    others = _at(scores, other)
    own = jnp.broadcast_to(_at(scores, y[:, None]), others.shape)
    of_own, of_other = (y[:, None], other), (other, y[:, None])
    pair = jnp.stack([jnp.asarray(numbers)[x] for x in (of_own, of_other)], axis=-1)
    runs, row, pair = _sorted_pools(jnp.stack([own, others], axis=-1), pair)
    is_first, is_own = y[row] == jnp.asarray(i)[pair], runs.order % 2 == 0
    mass = threshold_weights[row] * jnp.where(is_first, factors[0][pair], factors[1][pair])
    up_to = cumulative_sum(mass, jnp)
    counts = class_totals(y, jnp.ones(y.shape), n_classes)
    lengths = ((1 + is_common) * (counts[i] + counts[j])).astype(np.int32)
    stops = jnp.cumsum(lengths)[:, None]
    starts = stops - lengths[:, None]
    limits = (up_to[stops] - up_to[starts]) * (denominator - numerators)
    place = jnp.searchsorted(
        up_to[1:] * denominator, limits + up_to[starts] * denominator, side="right"
    )
    place = jnp.clip(place, starts, stops - 1)
    first, end = runs.first[place], runs.end[place]
    above = denominator * (up_to[end] - up_to[starts]) - limits
    share = jnp.clip(above / (denominator * (up_to[end] - up_to[first])), 0, 1)

    # In column k of the pair (k, m) its class, whose own the column is, and the other one
    k, m = counted.T
    powers: Any = powers_of_two(class_totals(y, weights, n_classes), weights, jnp)
    ordered = weights[row] / powers[y[row]]
    sums = jnp.stack(
        [
            cumulative_sum(jnp.where((is_first == of_i) & (is_own == of_own), ordered, 0.0), jnp)
            for of_i, of_own in ((True, True), (False, False), (False, True), (True, False))
        ][: 2 + 2 * is_common]
    ).reshape(1 + is_common, 2, -1)
    pool, column = numbers[k, m], (k > m).astype(int) * is_common
    whole, start, up_to_end, up_to_first = (
        jnp.moveaxis(sums[:, :, places], 2, 0)[pool, column]
        for places in (stops, starts, end, first)
    )
    found = _within(above_with_ties(whole, up_to_end, up_to_first, share[pool]), whole - start)
    by_group = (found * powers[counted][..., None]).reshape(*groups.shape, -1)
    totals = class_totals(y, weights, n_classes)
    return RateTable(by_group, totals, groups, cell_weights, shrinkage)


def sorted_runs(x: Float[Array, "rows n"]) -> Runs:
    """Sort each row."""
    places = jnp.broadcast_to(jnp.arange(x.shape[1], dtype=np.int32), x.shape)
    keys, order = lax.sort((_ordered_integers(x), places), num_keys=1)
    return _runs(order, keys[:, 1:] != keys[:, :-1])


def _runs(order: Int[Array, "*rows n"], changes: Bool[Array, "*rows n_minus_1"]) -> Runs:
    """Return where the runs of ties start and end, given whether each place but the first does."""
    order, changes = checkpoint_name(order, "order"), checkpoint_name(changes, "changes")
    # Runs are numbered, and each number has the place of its start; the rows lie one after another
    size, n = order.size, order.shape[-1]
    edge = [(0, 0)] * (order.ndim - 1)
    is_first = jnp.pad(changes, [*edge, (1, 0)], constant_values=True).ravel()
    run = cumulative_sum(is_first.astype(np.float64), jnp)[:-1].astype(np.int32) - ~is_first
    places = jnp.arange(size, dtype=np.int32)
    starts = jnp.full(size + 1, size, np.int32)
    starts = starts.at[jnp.where(is_first, run, size + 1 + places)].set(
        places, mode="drop", unique_indices=True
    )
    offsets = places - places % n
    first, end = (starts[x] - offsets for x in (run, run + 1))
    return Runs(order, first.reshape(order.shape), end.reshape(order.shape))


@jax.custom_vjp
def below(x: Float[Array, "*rows n"], runs: Runs) -> Float[Array, "*rows n"]:
    """Return the sums of the numbers at lower scores, those of ties by half.

    Its transpose is the sum at higher scores, so that no derivative adds to single places.
    """
    sums = cumulative_sum(x, jnp)
    return (_at(sums, runs.first) + _at(sums, runs.end)) / 2


def _below_forward(x: Any, runs: Runs) -> tuple[Any, Runs]:
    return below(x, runs), runs


def _below_backward(runs: Runs, d: Any) -> tuple[Any, None]:
    return d.sum(axis=-1, keepdims=True) - below(d, runs), None


below.defvjp(_below_forward, _below_backward)


def _within(sums: Float[Array, "*shape"], whole: Float[Array, "*shape_"]) -> Any:
    """Put sums into their range; rounding exceeds it, and the derivative ignores that."""
    return sums + lax.stop_gradient(jnp.clip(sums, 0.0, whole) - sums)


def _at(x: Float[Array, "*rows m"], places: Int[Array, "*rows k"]) -> Float[Array, "*rows k"]:
    return jnp.take_along_axis(x, places, axis=-1)


def _ordered_integers(x: Float[Array, "*shape"]) -> UInt[Array, "*shape"]:
    """Turn numbers into unsigned integers of the same order.

    XLA sorts them in half the time on a CPU. On a GPU it has a radix sort for them alone if they
    have 64 bits, and takes nine times as long for others.
    """
    x = x if x.dtype.itemsize >= 4 else x.astype(np.float32)
    kind = np.int64 if x.dtype.itemsize == 8 else np.int32
    bits = lax.bitcast_convert_type(jnp.where(x == 0, 0.0, x), kind)
    # All bits of a negative number are turned, of another the sign alone
    turned = bits ^ ((bits >> (8 * x.dtype.itemsize - 1)) | np.iinfo(kind).min)
    return lax.bitcast_convert_type(turned, f"u{x.dtype.itemsize}")
