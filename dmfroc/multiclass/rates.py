"""True and false positive rates of all ordered pairs at common quantile levels: the statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int, Shaped

from dmfroc._arrays import AnyArray, cumulative_sum, map_rows, sum_at
from dmfroc._autodiff import take
from dmfroc._memory import check_memory
from dmfroc._options import integer, is_one_of, number
from dmfroc._threads import parallel
from dmfroc.measures.statistics.layout import ClassBlocks, group_by_class, sort_rows
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.multiclass.costs import PairWeights, cell_weights
from dmfroc.predictions import Predictions

ThresholdPool = Literal["balanced", "pooled"]

DEFAULT_N_THRESHOLDS = 99
# Chosen by experiments/regularization.py: the AUC's largest bias, a sixth of its standard
# deviation, does not fall any further where the penalty is stronger. No strength has the most
# power everywhere: a smaller one sees more of what is easy, a greater one more of what is hard.
DEFAULT_SHRINKAGE = 1.0
_LEAST_SHRINKAGE = 1e-6  # fixes the scale of the pair effects where nothing else does

_BYTES_PER_RATE = 90  # measured with 120 and 200 classes, places and derivatives included
_LARGEST_TO_SMALLEST = 1.25  # of classes that are padded to one length
_POOLED_AT_ONCE = 1 << 18  # scores: what a processor's cache holds


class RateTable(NamedTuple):
    """Weights of the classes of each pair (i, j) above each threshold, and of the classes.

    The first class i has its score column used. An axis of length 2 is the class that is counted:
    class i (true positives), class j (false positives).
    """

    counts: Float[AnyArray, "c c_minus_1 2 t"]
    totals: Float[AnyArray, " c"]
    counted: Int[AnyArray, "c c_minus_1 2"]  # the classes i and j
    cell_weights: Float[AnyArray, "q 2 1"]  # of the pairs that enter the curve
    shrinkage: Float[AnyArray, ""]

    def rates(self, xp: Any) -> Float[AnyArray, "q 2 t"]:
        """Return the true and false positive rates of the pairs that enter the curve."""
        totals = take(self.totals, self.counted.ravel(), xp)
        rates = self.counts / totals.reshape(*self.counted.shape, 1)
        # Two classes have one curve, not two: that of column 1, whose positives are class 1.
        return rates.reshape(-1, *rates.shape[2:])[-len(self.cell_weights) :]


@dataclass(frozen=True, eq=False)
class RateCounts(Statistic):
    """What turns observation weights into the counts above the thresholds of all ordered pairs.

    A column is sorted within classes, which lie one after the other. Pairs are ordered as in
    `reference_classes`.
    """

    sorted_rows: Int[AnyArray, "c n"]  # observation at each place of a sorted column
    class_of_row: Int[AnyArray, " n"]
    counted: Int[AnyArray, "c c_minus_1 2"]
    stops: Int[AnyArray, "c c_minus_1 2"]  # places before the end of the class that is counted
    at_least: Int[AnyArray, "c c_minus_1 2 t"]  # places before the first score >= threshold
    above: Int[AnyArray, "c c_minus_1 2 t"]  # places before the first score > threshold
    tied_share: Float[AnyArray, "c c_minus_1 t"]  # share that counts of the scores at the threshold
    cell_weights: Float[AnyArray, "q 2 1"]
    shrinkage: Float[AnyArray, ""]

    def count(self, weights: Float[AnyArray, " n"], xp: Any) -> RateTable:
        totals = sum_at(self.class_of_row, weights, len(self.sorted_rows), xp)
        places = self.stops, self.above, self.at_least

        # One column after the other: what is summed and looked up stays in the processor's cache.
        def of_column(rows: Any, tied_share: Any, *places: Any) -> Float[AnyArray, "c_minus_1 2 t"]:
            above, tied = self.above_and_tied(weights, xp, rows, *places)
            return above + tied_share[:, None] * tied

        counts = map_rows(of_column, self.sorted_rows, self.tied_share, *places, xp=xp)
        # Whole weights have exact sums; those of others can exceed the whole by rounding.
        counts = xp.clip(counts, 0.0, totals[self.counted][..., None])
        return RateTable(counts, totals, self.counted, self.cell_weights, self.shrinkage)

    @staticmethod
    def above_and_tied(
        weights: Float[AnyArray, " n"],
        xp: Any,
        rows: Int[AnyArray, " n"],
        stops: Int[AnyArray, "c_minus_1 2"],
        above: Int[AnyArray, "c_minus_1 2 t"],
        at_least: Int[AnyArray, "c_minus_1 2 t"],
    ) -> tuple[Shaped[AnyArray, "c_minus_1 2 t"], Shaped[AnyArray, "c_minus_1 2 t"]]:
        """Return the weights of both classes above and at the thresholds of a column."""
        stops = stops[..., None]
        if not (xp is np and (weights == 1).all()):  # else a place is the weight before it
            up_to = cumulative_sum(weights[rows], xp)
            stops, above, at_least = up_to[stops], up_to[above], up_to[at_least]
        return stops - above, above - at_least

    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: RateTable, derivatives: RateTable
    ) -> Float[np.ndarray, " n"]:
        """Each observation adds up what the thresholds below its score say."""
        n = len(weights)
        gradient: np.ndarray = derivatives.totals[self.class_of_row]
        for i, rows in enumerate(self.sorted_rows):
            d_counts = derivatives.counts[i]
            tied = d_counts * self.tied_share[i][:, None]
            places = self.above[i], self.at_least[i], self.stops[i]
            changes = d_counts - tied, tied, -d_counts.sum(axis=-1)
            gradient += np.bincount(rows, np.cumsum(_sum_at(places, changes, n + 1)[:-1]), n)
        return gradient


def _sum_at(
    places: Sequence[AnyArray], numbers: Sequence[AnyArray], n_places: int
) -> Float[np.ndarray, " places"]:
    """Add up the numbers of each place."""
    all_places, all_numbers = (
        np.concatenate([x.ravel() for x in arrays]) for arrays in (places, numbers)
    )
    return np.bincount(all_places, all_numbers, n_places)


@dataclass(frozen=True, eq=False)
class CurveOptions:
    """The options of the curve, checked; called with predictions, the statistic."""

    pair_weights: PairWeights = "equal"
    n_thresholds: int = DEFAULT_N_THRESHOLDS
    shrinkage: float | int = DEFAULT_SHRINKAGE
    threshold_pool: ThresholdPool = "balanced"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_thresholds", integer("n_thresholds", self.n_thresholds, 1))
        shrinkage = number("shrinkage", self.shrinkage)
        if not 0 <= shrinkage < np.inf:
            raise ValueError(f"shrinkage must be finite and >= 0, but it is {self.shrinkage!r}")
        object.__setattr__(self, "shrinkage", shrinkage)
        if not is_one_of(self.threshold_pool, get_args(ThresholdPool)):
            raise ValueError(
                f"threshold_pool must be one of {get_args(ThresholdPool)}, but it is "
                f"{self.threshold_pool!r}"
            )

    def _n_bytes(self, n_classes: int) -> int:
        """Return how much memory the rates of all pairs and their fit take at most."""
        return _BYTES_PER_RATE * 2 * n_classes * (n_classes - 1) * self.n_thresholds

    def __call__(self, predictions: Predictions) -> RateCounts:
        """Sort the columns, choose the thresholds and find every score's side of them."""
        blocks = group_by_class(predictions)
        check_memory(
            self._n_bytes(blocks.n_classes),
            f"the multiclass ROC curve of {blocks.n_classes} classes, with {self.n_thresholds} "
            f"thresholds for each of {blocks.n_classes * (blocks.n_classes - 1)} pairs of them,",
            "ask for fewer thresholds (n_thresholds=), or for other measures alone, such as "
            "measures=['hand_till', 'informedness']",
        )
        weights = predictions.sample_weight if predictions.is_weighted else None
        groups = _group_by_size(blocks)
        columns = _sort_within_classes(blocks, groups)
        share_of_class = self._shares_of_classes(blocks, weights)
        of_rows = None if weights is None else weights * share_of_class[blocks.class_of_row]
        thresholds = _pool_quantiles(
            blocks, groups, columns, of_rows, self.threshold_pool, self.n_thresholds
        )
        at_least, above = _locate_thresholds(blocks, groups, columns, thresholds)
        reference = reference_classes(blocks.n_classes)
        own = np.broadcast_to(np.arange(blocks.n_classes, dtype=np.int32)[:, None], reference.shape)
        counted = np.stack([own, reference], axis=-1)
        counts = RateCounts(
            columns.rows,
            blocks.class_of_row,
            counted,
            blocks.starts[counted + 1],
            at_least,
            above,
            tied_share=np.zeros(thresholds.shape),
            cell_weights=self._cell_weights(predictions),
            shrinkage=np.array(max(float(self.shrinkage), _LEAST_SHRINKAGE)),
        )
        numerators, denominator = grid_levels(self.n_thresholds)
        ones = np.ones(blocks.n_observations)
        tied_share = _split_ties(
            counts, ones if weights is None else weights, share_of_class, numerators / denominator
        )
        return replace(counts, tied_share=tied_share)

    def _cell_weights(self, predictions: Predictions) -> Float[np.ndarray, "q 2 1"]:
        if predictions.n_classes == 2:  # one column is fitted exactly, whatever its weight
            return np.ones((1, 2, 1))
        return cell_weights(self.pair_weights, predictions).reshape(-1, 2, 1)

    def _shares_of_classes(
        self, blocks: ClassBlocks, weights: Float[np.ndarray, " n"] | None
    ) -> Float[np.ndarray, " c"]:
        """Return by what the weights of each class are multiplied in the pools."""
        if self.threshold_pool == "pooled":
            return np.ones(blocks.n_classes)
        return 1 / np.bincount(blocks.class_of_row, weights)


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
    rows = np.empty(blocks.scores.shape, np.int32)
    dtype = blocks.scores.dtype
    scores = [np.empty((blocks.n_classes, *group.places.shape), dtype) for group in groups]

    def sort_column(column: int) -> None:
        unsorted = np.append(blocks.scores[column], np.iinfo(dtype).max)
        for group, sorted_scores in zip(groups, scores, strict=True):
            order, sorted_scores[column] = sort_rows(unsorted[group.places])
            rows[column, group.destination] = group.rows[order.take(group.occupied)]

    parallel(sort_column, range(blocks.n_classes), rows.size)
    return _SortedColumns(rows, scores)


def _pool_quantiles(
    blocks: ClassBlocks,
    groups: list[_SizeGroup],
    columns: _SortedColumns,
    weights: Float[np.ndarray, " n"] | None,
    threshold_pool: ThresholdPool,
    n_thresholds: int,
) -> Shaped[np.ndarray, "c c_minus_1 t"]:
    """Return each pair's thresholds: quantiles of the scores of both classes in both columns.

    A threshold is the smallest score above or at which at least its level of the pool lies.
    ``weights`` are those of the observations in the pools; None where they are equal within a
    class, as ``threshold_pool`` says.
    """
    numerators, denominator = grid_levels(n_thresholds)
    n_classes, sizes = blocks.n_classes, np.diff(blocks.starts).astype(np.int64)
    shape = n_classes, n_classes - 1, len(numerators)
    thresholds = np.empty(shape, blocks.scores.dtype)
    home = _home_of_classes(groups)

    def pool(
        tables: list[np.ndarray], i: int, of_group: int, members: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of class i, and those of class j, in columns i and j, by member j."""
        classes, table = groups[of_group].classes[members], tables[of_group]
        group_of_i, member_i = home[i]
        table_of_i = tables[group_of_i][:, member_i, : sizes[i]]
        own = np.broadcast_to(table_of_i[i], (len(members), sizes[i]))
        of_i = np.concatenate([own, table_of_i[classes]], axis=1)
        return of_i, np.concatenate([table[i, members], table[classes, members]], axis=1)

    def quantiles(i: int, of_group: int, members: np.ndarray) -> np.ndarray:
        of_classes = pool(columns.scores, i, of_group, members)
        if weights is None:
            for scores in of_classes:  # a stable sort merges the two sorted blocks
                scores.sort(axis=1, kind="stable")
            size = sizes[groups[of_group].classes[members]][:, None]
            # In whole numbers, exactly
            weight_i, weight_j = (size, sizes[i]) if threshold_pool == "balanced" else (1, 1)
            total = 2 * (sizes[i] * weight_i + size * weight_j)
            limits = total * (denominator - numerators) // denominator
            return _smallest_beyond(limits, *of_classes, weight_i, weight_j)
        scores = np.concatenate(of_classes, axis=1)
        order = np.argsort(scores, axis=1, kind="stable")  # of four sorted blocks
        of_pool = np.concatenate(pool(sorted_weights, i, of_group, members), axis=1)
        up_to = np.cumsum(np.take_along_axis(of_pool, order, axis=1), axis=1)
        limits = up_to[:, -1:] * (denominator - numerators) / denominator
        rows = zip(up_to, limits, strict=True)
        places = np.stack([sums.searchsorted(limit, "right") for sums, limit in rows])
        found = np.take_along_axis(order, places, axis=1)
        return np.take_along_axis(scores, found, axis=1)

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


def _smallest_beyond(
    limits: Int[np.ndarray, "m t"],
    first: Int[np.ndarray, "m n_first"],
    second: Int[np.ndarray, "m n_second"],
    first_weight: int | Int[np.ndarray, "m 1"],
    second_weight: int | np.integer,
) -> Int[np.ndarray, "m t"]:
    """Return the smallest number of two sorted rows up to which they exceed each limit.

    Each number of a row weighs the same. Bisection finds how many of the first row stay within
    a limit together with those of the second that are not larger.
    """
    (m, n_first), n_second = first.shape, second.shape[1]
    least, largest = np.iinfo(first.dtype).min, np.iinfo(first.dtype).max
    first = np.pad(first, [(0, 0), (0, 1)], constant_values=largest)
    second = np.pad(second, [(0, 0), (1, 1)], constant_values=[(least, largest)])
    row = np.arange(m)[:, None]
    start_of_first, start_of_second = row * first.shape[1], row * second.shape[1] + 1

    def next_of_second(n_taken: Int[np.ndarray, "m t"]) -> Int[np.ndarray, "m t"]:
        """Return the next number of the second row if so many of the first are taken."""
        n_fit = (limits - first_weight * n_taken) // second_weight
        return second.take(n_fit.clip(-1, n_second) + start_of_second)

    low, high = np.zeros_like(limits), np.full_like(limits, n_first)
    for _ in range(n_first.bit_length()):
        middle = (low + high) // 2
        is_beyond = next_of_second(middle + 1) <= first.take(middle + start_of_first)
        low, high = np.where(is_beyond, low, middle + 1), np.where(is_beyond, middle, high)
    return np.minimum(first.take(low + start_of_first), next_of_second(low))


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
    at_least, above = (np.empty(shape, np.int32) for _ in range(2))

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
    counts: RateCounts,
    weights: Float[np.ndarray, " n"],
    share_of_class: Float[np.ndarray, " c"],
    levels: Float[np.ndarray, " t"],
) -> Float[np.ndarray, "c c_minus_1 t"]:
    """Split the ties at a threshold such that the pool above it has exactly its level."""
    n_classes = len(share_of_class)
    reference, own = reference_classes(n_classes), np.arange(n_classes)[:, None]
    # The place of the ordered pair (j, i) in the flattened order of the pairs (i, j).
    swapped = reference * (n_classes - 1) + own - (own > reference)
    above, tied = (np.empty(counts.tied_share.shape) for _ in range(2))

    def weigh(i: int) -> None:
        in_pool = share_of_class[counts.counted[i]][..., None]
        places = counts.stops[i], counts.above[i], counts.at_least[i]
        of_column = counts.above_and_tied(weights, np, counts.sorted_rows[i], *places)
        above[i], tied[i] = ((x * in_pool).sum(axis=1) for x in of_column)

    parallel(weigh, range(n_classes), counts.tied_share.size)
    above, tied = (x + x.reshape(-1, len(levels))[swapped] for x in (above, tied))
    totals = share_of_class * np.bincount(counts.class_of_row, weights)
    of_pool = 2 * (totals[own] + totals[reference])
    of_ties = (levels * of_pool[..., None] - above) / tied
    return np.clip(of_ties, 0, 1)
