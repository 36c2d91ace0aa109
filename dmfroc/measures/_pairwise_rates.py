"""True and false positive rates of all ordered pairs at common quantile levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int, Shaped

from dmfroc._backend import AnyArray, aligned_empty, parallel, share
from dmfroc.measures._blocks import ClassBlocks, per_row
from dmfroc.measures._cumulative import cumulative_sum

_LARGEST_TO_SMALLEST = 1.25  # of classes that are padded to one length
_POOLED_AT_ONCE = 1 << 18  # scores: what a processor's cache holds


class PairwiseRates(NamedTuple):
    """What turns observation weights into the rates of all ordered pairs.

    Arrays of shape (c, c - 1, ...) hold the ordered pairs (i, j): first the classification class
    i, whose score column is used, then the reference class j (`reference_classes`). An axis of
    length 2 is the class that is counted: class i (true positives), class j (false positives).
    A column is sorted within classes, which lie one after the other.
    """

    sorted_rows: Int[AnyArray, "c n"]  # observation at each place of a sorted column
    class_of_row: Int[AnyArray, " n"]
    block_class: Int[AnyArray, "c c_minus_1 2"]
    stops: Int[AnyArray, "c c_minus_1 2"]  # places before the end of the class that is counted
    at_least: Int[AnyArray, "c c_minus_1 2 t"]  # places before the first score >= threshold
    above: Int[AnyArray, "c c_minus_1 2 t"]  # places before the first score > threshold
    tied_share: Float[AnyArray, "c c_minus_1 t"]  # share that counts of the scores at the threshold


def reference_classes(n_classes: int) -> Int[np.ndarray, "c c_minus_1"]:
    """Return the classes j != i, ascending, for each class i."""
    position = np.arange(n_classes - 1, dtype=np.int32)
    return position + (position >= np.arange(n_classes)[:, None])


def grid_levels(n_thresholds: int) -> tuple[Int[np.ndarray, " t"], int]:
    """Return the levels t/(T+1), and 1/2, as numerators over one denominator.

    The median of the pool is the one threshold that tells a perfectly ranked pair from all
    others; without it a perfect classifier would fall short of 1, or an imperfect one reach it.
    """
    numerators = np.union1d(2 * np.arange(1, n_thresholds + 1), [n_thresholds + 1])
    return numerators, 2 * (n_thresholds + 1)


def pairwise_rates(rates: PairwiseRates, weights: Float[Array, " n"]) -> Float[Array, "q 2 t"]:
    """Return the true and false positive rates of the ordered pairs at the thresholds."""
    totals = jnp.zeros(len(rates.sorted_rows)).at[rates.class_of_row].add(weights)
    by_column = _weight_above(rates, weights) / totals[rates.block_class][..., None]
    by_column = jnp.clip(by_column, 0, 1)  # rounding exceeds 1
    return by_column.reshape(-1, *by_column.shape[2:])


@jax.custom_vjp
def _weight_above(
    rates: PairwiseRates, weights: Float[Array, " n"]
) -> Float[Array, "c c_minus_1 2 t"]:
    """Return the weight of each class above each threshold, with its share of the ties."""

    # One column after the other: what is summed and looked up stays in the processor's cache.
    def of_column(column: PairwiseRates) -> Float[Array, "c_minus_1 2 t"]:
        up_to = cumulative_sum(weights.at[column.sorted_rows].get(mode="promise_in_bounds"))
        before_tied, before_greater = (
            up_to.at[places].get(mode="promise_in_bounds")
            for places in (column.at_least, column.above)
        )
        greater = up_to[column.stops][..., None] - before_greater
        return greater + column.tied_share[:, None] * (before_greater - before_tied)

    return lax.map(of_column, _by_column(rates))


def _by_column(rates: PairwiseRates) -> PairwiseRates:
    """Leave what has one entry per column on its first axis."""
    return rates._replace(class_of_row=rates.sorted_rows[:, :0])


def _weight_above_forward(
    rates: PairwiseRates, weights: Float[Array, " n"]
) -> tuple[Array, PairwiseRates]:
    return _weight_above(rates, weights), rates


def _weight_above_backward(rates: PairwiseRates, cotangent: Array) -> tuple[None, Array]:
    """Add up, for each observation, the cotangents of the thresholds below its score."""
    n = len(rates.class_of_row)

    def add_column(total: Array, column: tuple[PairwiseRates, Array]) -> tuple[Array, None]:
        rates, cotangent = column
        tied = cotangent * rates.tied_share[:, None]
        changes = jnp.zeros(n + 1)
        for places, change in (
            (rates.above, cotangent - tied),
            (rates.at_least, tied),
            (rates.stops, -cotangent.sum(axis=-1)),
        ):
            changes = changes.at[places].add(change, mode="promise_in_bounds")
        of_places = cumulative_sum(changes[:-1])[1:]
        return total.at[rates.sorted_rows].add(
            of_places, mode="promise_in_bounds", unique_indices=True
        ), None

    return None, lax.scan(add_column, jnp.zeros(n), (_by_column(rates), cotangent))[0]


_weight_above.defvjp(_weight_above_forward, _weight_above_backward)


# The same by NumPy


def rates_at(rates: PairwiseRates, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "q 2 t"]:
    """Return what `pairwise_rates` does."""
    totals = np.bincount(rates.class_of_row, weights)
    above_and_tied = _weighed(rates, weights)
    found = aligned_empty(rates.above.shape, np.float64)

    def of_column(i: int) -> None:
        above, tied = above_and_tied(i)
        weight = above + rates.tied_share[i][:, None] * tied
        of_all = totals[rates.block_class[i]][..., None]
        np.clip(weight / of_all, 0, 1, out=found[i])  # rounding exceeds 1

    parallel(of_column, range(len(found)), found.size)
    return found.reshape(-1, *found.shape[2:])


type _Weights = Shaped[AnyArray, "c_minus_1 2 t"]


def _weighed(
    rates: PairwiseRates, weights: Float[np.ndarray, " n"]
) -> Callable[[int], tuple[_Weights, _Weights]]:
    """Return the weights of each class above and at the thresholds of a column.

    Whole numbers if all weights are one.
    """
    is_counted = (weights == 1).all()

    def above_and_tied(i: int) -> tuple[_Weights, _Weights]:
        stops, above, at_least = rates.stops[i][..., None], rates.above[i], rates.at_least[i]
        if not is_counted:
            up_to = cumulative_sum(weights[rates.sorted_rows[i]])
            stops, above, at_least = up_to[stops], up_to[above], up_to[at_least]
        return stops - above, above - at_least

    return above_and_tied


def pull_back_rates(
    rates: PairwiseRates,
    weights: Float[np.ndarray, " n"],
    found: Float[np.ndarray, "q 2 t"],
    of_rates: Float[np.ndarray, "q 2 t"],
) -> Float[np.ndarray, " n"]:
    """Return the derivative with respect to the weights from that with respect to the rates.

    ``found`` are the rates. Each observation adds up what the thresholds below its score say.
    """
    n, shape = len(weights), rates.above.shape
    totals = np.bincount(rates.class_of_row, weights)
    found, of_rates = found.reshape(shape), of_rates.reshape(shape)
    of_scores, of_totals = np.zeros(n), np.zeros_like(totals)
    for i, rows in enumerate(rates.sorted_rows):
        counted = rates.block_class[i]
        of_weight = of_rates[i] / totals[counted][..., None]
        of_totals -= _sum_at([counted], [(of_weight * found[i]).sum(axis=-1)], len(totals))
        tied = of_weight * rates.tied_share[i][:, None]
        places = rates.above[i], rates.at_least[i], rates.stops[i]
        changes = of_weight - tied, tied, -of_weight.sum(axis=-1)
        of_scores += np.bincount(rows, np.cumsum(_sum_at(places, changes, n + 1)[:-1]), n)
    return of_scores + of_totals[rates.class_of_row]


def _sum_at(
    places: Sequence[AnyArray], numbers: Sequence[AnyArray], n_places: int
) -> Float[np.ndarray, " places"]:
    """Add up the numbers of each place."""
    all_places, all_numbers = (
        np.concatenate([x.ravel() for x in arrays]) for arrays in (places, numbers)
    )
    return np.bincount(all_places, all_numbers, n_places)


def bind_rates(
    blocks: ClassBlocks, weights: Float[np.ndarray, " n"] | None, n_thresholds: int
) -> PairwiseRates:
    """Sort the columns, choose the thresholds and find every score's side of them.

    ``weights`` are those under which the thresholds are quantiles; None where all are equal.
    """
    groups = _group_by_size(blocks)
    sorted_columns = _sort_within_classes(blocks, groups)
    thresholds = _pool_quantiles(blocks, groups, sorted_columns, weights, n_thresholds)
    at_least, above = _locate_thresholds(blocks, groups, sorted_columns, thresholds)
    reference = reference_classes(blocks.n_classes)
    own = np.broadcast_to(np.arange(blocks.n_classes, dtype=np.int32)[:, None], reference.shape)
    class_of_row = np.empty(blocks.n_observations, np.int32)
    class_of_row[blocks.row_order] = per_row(blocks)
    block_class = np.stack([own, reference], axis=-1)
    rates = PairwiseRates(
        sorted_columns.rows,
        class_of_row,
        block_class,
        blocks.starts[block_class + 1],
        at_least,
        above,
        tied_share=np.empty(0),
    )
    numerators, denominator = grid_levels(n_thresholds)
    ones = np.ones(blocks.n_observations)
    tied_share = _split_ties(rates, ones if weights is None else weights, numerators / denominator)
    shared: PairwiseRates = jax.tree.map(share, rates._replace(tied_share=tied_share))
    return shared


class _SizeGroup(NamedTuple):
    """Classes of similar size, padded to one length, so that one call sorts them all."""

    classes: Int[np.ndarray, " m"]  # ascending
    places: Int[np.ndarray, "m longest"]  # grouped positions, then n, where nothing is
    rows: Int[np.ndarray, " m_longest"]  # the observations there
    occupied: Int[np.ndarray, " of_group"]  # where something is, in the flattened places
    destination: Int[np.ndarray, " of_group"]  # the same places in grouped order


def _group_by_size(blocks: ClassBlocks) -> list[_SizeGroup]:
    sizes = np.diff(blocks.starts)
    by_size = np.argsort(sizes, kind="stable")
    groups = []
    while len(by_size):
        is_similar = sizes[by_size] <= _LARGEST_TO_SMALLEST * sizes[by_size[0]]
        classes = np.sort(by_size[is_similar])
        by_size = by_size[~is_similar]
        position = np.arange(sizes[classes].max())
        places = blocks.starts[classes][:, None] + position
        is_real = position < sizes[classes][:, None]
        destination = places[is_real]
        places[~is_real] = blocks.n_observations
        rows = np.append(blocks.row_order, -1)[places].ravel()
        groups.append(_SizeGroup(classes, places, rows, np.flatnonzero(is_real), destination))
    return groups


class _SortedColumns(NamedTuple):
    """Every column sorted within every class."""

    rows: Int[np.ndarray, "c n"]
    scores: list[Shaped[np.ndarray, "c m longest"]]  # by group; larger ones where nothing is


def _sort_within_classes(blocks: ClassBlocks, groups: list[_SizeGroup]) -> _SortedColumns:
    rows = aligned_empty(blocks.scores.shape, np.int32)
    dtype = blocks.scores.dtype
    scores = [np.empty((blocks.n_classes, *group.places.shape), dtype) for group in groups]

    def sort_column(column: int) -> None:
        unsorted = np.append(blocks.scores[column], np.iinfo(dtype).max)
        for group, sorted_scores in zip(groups, scores, strict=True):
            padded = unsorted[group.places]
            order = np.argsort(padded, axis=1)
            order += np.arange(0, padded.size, padded.shape[1])[:, None]
            np.take(padded, order, out=sorted_scores[column], mode="clip")
            rows[column, group.destination] = group.rows[order.take(group.occupied)]

    parallel(sort_column, range(blocks.n_classes), rows.size)
    return _SortedColumns(rows, scores)


def _pool_quantiles(
    blocks: ClassBlocks,
    groups: list[_SizeGroup],
    columns: _SortedColumns,
    weights: Float[np.ndarray, " n"] | None,
    n_thresholds: int,
) -> Shaped[np.ndarray, "c c_minus_1 t"]:
    """Return each pair's thresholds: quantiles of the scores of both classes in both columns.

    A threshold is the smallest score above or at which at least its level of the pool lies.
    """
    numerators, denominator = grid_levels(n_thresholds)
    n_classes, sizes = blocks.n_classes, np.diff(blocks.starts)
    shape = n_classes, n_classes - 1, len(numerators)
    thresholds = np.empty(shape, blocks.scores.dtype)
    home = _home_of_classes(groups)

    def pool(tables: list[np.ndarray], i: int, of_group: int, members: np.ndarray) -> np.ndarray:
        """Return the entries of classes i and j in columns i and j, for each member j."""
        classes, table = groups[of_group].classes[members], tables[of_group]
        group_of_i, member_i = home[i]
        table_of_i = tables[group_of_i][:, member_i, : sizes[i]]
        own = np.broadcast_to(table_of_i[i], (len(members), sizes[i]))
        parts = own, table[i, members], table[classes, members], table_of_i[classes]
        return np.concatenate(parts, axis=1)

    def quantiles(i: int, of_group: int, members: np.ndarray) -> np.ndarray:
        scores = pool(columns.scores, i, of_group, members)
        if weights is None:
            # A stable sort merges the four sorted blocks, at a third of the cost.
            scores.sort(axis=1, kind="stable")
            n_pooled = 2 * (sizes[i] + sizes[groups[of_group].classes[members]])[:, None]
            n_above = -(-numerators * n_pooled // denominator)
            return np.take_along_axis(scores, n_pooled - n_above, axis=1)
        order = np.argsort(scores, axis=1, kind="stable")[:, ::-1]
        scores = np.take_along_axis(scores, order, axis=1)
        pool_weights = np.take_along_axis(pool(sorted_weights, i, of_group, members), order, axis=1)
        cumulative = np.cumsum(pool_weights, axis=1)
        found = [np.searchsorted(sums * denominator, numerators * sums[-1]) for sums in cumulative]
        return np.take_along_axis(scores, np.stack(found), axis=1)

    def quantiles_with_first(i: int) -> None:
        for of_group, group in enumerate(groups):
            later = np.flatnonzero(group.classes > i)
            at_once = max(_POOLED_AT_ONCE // (2 * (sizes[i] + group.places.shape[1])), 1)
            for first in range(0, len(later), at_once):
                members = later[first : first + at_once]
                found = quantiles(i, of_group, members)
                classes = group.classes[members]
                thresholds[i, classes - 1] = thresholds[classes, i] = found

    if weights is not None:
        grouped = np.append(weights[columns.rows], np.zeros((n_classes, 1)), axis=1)
        sorted_weights = [grouped[:, group.places] for group in groups]
    parallel(quantiles_with_first, range(n_classes - 1), columns.rows.size)
    return thresholds


def _home_of_classes(groups: list[_SizeGroup]) -> dict[int, tuple[int, int]]:
    """Return for each class its group and its place among the group's classes."""
    return {
        int(label): (of_group, member)
        for of_group, group in enumerate(groups)
        for member, label in enumerate(group.classes)
    }


def _locate_thresholds(
    blocks: ClassBlocks,
    groups: list[_SizeGroup],
    columns: _SortedColumns,
    thresholds: Shaped[np.ndarray, "c c_minus_1 t"],
) -> tuple[Int[np.ndarray, "c c_minus_1 2 t"], Int[np.ndarray, "c c_minus_1 2 t"]]:
    """Count the places before the first score >= and before the first score > each threshold."""
    n_classes, slices = blocks.n_classes, blocks.slices()
    reference = reference_classes(n_classes)
    shape = n_classes, n_classes - 1, 2, thresholds.shape[-1]
    at_least, above = (aligned_empty(shape, np.int32) for _ in range(2))

    def locate(i: int) -> None:
        scores = np.empty(blocks.n_observations + 1, thresholds.dtype)
        for group, of_group in zip(groups, columns.scores, strict=True):
            scores[group.places] = of_group[i]
        starts = np.where([True, False], blocks.starts[i], blocks.starts[reference[i]][:, None])
        stops = np.where(
            [True, False], blocks.starts[i + 1], blocks.starts[reference[i] + 1][:, None]
        )[..., None]

        def find(places: np.ndarray, side: Literal["left", "right"]) -> None:
            places[:, 0] = scores[slices[i]].searchsorted(thresholds[i], side)
            for position, j in enumerate(reference[i]):
                places[position, 1] = scores[slices[j]].searchsorted(thresholds[i, position], side)
            places += starts[..., None]

        def is_tied(places: np.ndarray) -> np.ndarray:
            return (places < stops) & (scores[places] == thresholds[i][:, None])

        find(at_least[i], "left")
        above[i] = at_least[i] + is_tied(at_least[i])
        if is_tied(above[i]).any():
            find(above[i], "right")

    parallel(locate, range(n_classes), columns.rows.size)
    return at_least, above


def _split_ties(
    rates: PairwiseRates, weights: Float[np.ndarray, " n"], levels: Float[np.ndarray, " t"]
) -> Float[np.ndarray, "c c_minus_1 t"]:
    """Split the ties at a threshold such that the pool above it has exactly its level."""
    totals, above_and_tied = np.bincount(rates.class_of_row, weights), _weighed(rates, weights)
    n_classes = len(totals)
    reference, own = reference_classes(n_classes), np.arange(n_classes)[:, None]
    # The place of the ordered pair (j, i) in the flattened order of the pairs (i, j).
    swapped = reference * (n_classes - 1) + own - (own > reference)
    shape = n_classes, n_classes - 1, len(levels)
    dtype = above_and_tied(0)[0].dtype
    above, tied = (np.empty(shape, dtype) for _ in range(2))
    shares = aligned_empty(shape, np.float64)

    def weigh(i: int) -> None:
        above[i], tied[i] = (x.sum(axis=1) for x in above_and_tied(i))

    def split(i: int) -> None:
        over_pool = (x[i] + x.reshape(-1, len(levels))[swapped[i]] for x in (above, tied))
        of_pool = 2 * (totals[i] + totals[reference[i]])
        of_ties = (levels * of_pool[:, None] - next(over_pool)) / next(over_pool)
        np.clip(of_ties, 0, 1, out=shares[i])

    for task in (weigh, split):
        parallel(task, range(n_classes), shares.size)
    return shares
