"""Thresholds of pairs of classes, and where they fall among the sorted scores of both.

The pool of two classes i and j has four blocks of scores: class i and class j in column i, class j
and class i in column j. A threshold is the smallest score up to which more than the share 1 - u of
the pool's weight lies, u being its level: above or at it lies at least the share u.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Integer, Shaped

from dmfroc._kit.arrays import PerRow, cumulative_sum
from dmfroc._kit.threads import parallel
from dmfroc.measures.statistics.layout import SortedBlocks, sort_rows

_LARGEST_TO_SMALLEST = 1.25  # of classes that are padded to one length
_POOLED_AT_ONCE = 1 << 17  # scores: enough for few calls; one thread at a time begins any
_LARGEST_MERGED = 3 << 9  # scores of a pool, above which bisection is faster than sorting
_CLASS_OF_BLOCK = [0, 1, 1, 0]  # of the pair's two
_OF_CLASS = [0, 3], [1, 2]  # the blocks of each
# One score of each block: four counts of 16 bits lie side by side, and are summed as one number
_ONE_OF_BLOCK = np.eye(4, dtype="<u2").view("<i8")[:, 0]


class Pools(NamedTuple):
    """Pairs of classes: where their four blocks start in the flattened scores, and their sizes."""

    starts: Int[np.ndarray, "u 4"]
    sizes: Int[np.ndarray, "u 2"]

    def of(self, pairs: Int[np.ndarray, " m"]) -> Pools:
        """Return some of the pairs."""
        return Pools(self.starts[pairs], self.sizes[pairs])

    @property
    def block_sizes(self) -> Int[np.ndarray, "u 4"]:
        """The numbers of scores in the blocks."""
        return self.sizes[:, _CLASS_OF_BLOCK]


type Placed = tuple[
    Integer[np.ndarray, "m 4 t"], Integer[np.ndarray, "m 4 t"], Float[np.ndarray, "m t"]
]
"""Scores up to and before each threshold in the four blocks of a pool, and shares of its ties."""

type Levels = tuple[Int[np.ndarray, " t"], int]
"""Shares of a pool above or at the thresholds, as numerators over one denominator."""


def grid_levels(n_thresholds: int) -> Levels:
    """Return the levels t/(T+1), and 1/2.

    The median of the pool is the one threshold that tells a perfectly ranked pair from all
    others; without it a perfect classifier would fall short of 1, or an imperfect one reach it.
    """
    numerators = np.union1d(2 * np.arange(1, n_thresholds + 1), [n_thresholds + 1])
    return numerators, 2 * (n_thresholds + 1)


def place_thresholds(
    blocks: SortedBlocks,
    pools: Pools,
    weights: PerRow | None,
    levels: Levels,
    store: Callable[[Int[np.ndarray, " m"], Placed], None],
    *,
    is_balanced: bool,
) -> None:
    """Find the thresholds of all pairs.

    Parameters
    ----------
    blocks, pools
        The sorted scores, and which of them belong to which pair.
    weights
        Those of the observations in the pools; None where they are equal within a class.
    levels
        Which quantiles the thresholds are.
    store
        Takes the positions of some pairs and their thresholds.
    is_balanced
        Without weights: whether both classes of a pool weigh the same in all.
    """

    def class_weights_in(some: Pools) -> Int[np.ndarray, "m 2"] | None:
        if weights is not None:
            return None
        return some.sizes[:, ::-1].astype(np.int64) if is_balanced else np.ones_like(some.sizes)

    def place(pairs: Int[np.ndarray, " m"]) -> None:
        some = pools.of(pairs)
        is_small = 2 * some.sizes.sum(axis=1).max() <= _LARGEST_MERGED
        place_pools = _by_merging if is_small else _by_bisection
        store(pairs, place_pools(blocks, some, weights, class_weights_in(some), levels))

    parallel(place, _batches(pools), int(pools.sizes.sum()))


def _batches(pools: Pools) -> list[Int[np.ndarray, " m"]]:
    """Divide the pairs into such as are placed at once, with classes of similar sizes."""
    step = np.floor(np.log(pools.sizes) / np.log(_LARGEST_TO_SMALLEST)).astype(int)
    order = np.lexsort((step[:, 1], step[:, 0]))
    changes = np.flatnonzero((np.diff(step[order], axis=0) != 0).any(axis=1)) + 1
    batches = []
    for similar in np.split(order, changes):
        largest = int(2 * pools.sizes[similar].max(axis=0).sum())
        at_once = max(_POOLED_AT_ONCE // largest, 1)
        batches += [similar[first : first + at_once] for first in range(0, len(similar), at_once)]
    return batches


@functools.lru_cache(maxsize=64)
def _pool_columns(*sizes: int) -> tuple[Int[np.ndarray, " l"], Int[np.ndarray, " l"]]:
    """Return the block of each column of padded pools, and the place in the block."""
    block = np.repeat(np.arange(4), sizes)
    return block, np.concatenate([np.arange(size) for size in sizes])


def _by_merging(
    blocks: SortedBlocks,
    pools: Pools,
    weights: PerRow | None,
    class_weights: Int[np.ndarray, "m 2"] | None,
    levels: Levels,
) -> Placed:
    """Sort pools of few scores; sums along them say where any score falls in each block."""
    sizes = pools.block_sizes
    numerators, denominator = levels
    block, position = _pool_columns(*sizes.max(axis=0).tolist())
    places = pools.starts.take(block, axis=1)
    places += position
    is_padding = position >= sizes.take(block, axis=1)
    scores = blocks.scores.ravel().take(places, mode="clip")
    np.copyto(scores, np.iinfo(scores.dtype).max, where=is_padding)
    order, scores = sort_rows(scores)
    m, length = scores.shape
    firsts = np.arange(m)[:, None]
    block = block.take(order - firsts * length)
    if class_weights is None:
        assert weights is not None
        of_scores = weights.take(blocks.rows.ravel().take(places, mode="clip"))
        np.copyto(of_scores, 0, where=is_padding)
        steps = of_scores.take(order)
        mass = np.cumsum(steps, axis=1)
        total = mass[:, -1:]
        limits = total * (denominator - numerators) / denominator
    else:
        steps = class_weights[:, _CLASS_OF_BLOCK].ravel().take(block + 4 * firsts)
        mass = np.cumsum(steps, axis=1)
        total = 2 * (class_weights * pools.sizes).sum(axis=1, keepdims=True)
        limits = total * (denominator - numerators) // denominator
    rows = zip(mass, limits[:, ::-1], strict=True)
    crossings = np.concatenate([sums.searchsorted(limit, "right") for sums, limit in rows])
    crossings = crossings.reshape(m, -1)[:, ::-1]
    first, last = _ends_of_ties(scores, crossings)
    ones = _ONE_OF_BLOCK.take(block)
    counts = np.cumsum(ones, axis=1)
    up_to, before = (
        x.view("<u2").reshape(m, -1, 4).transpose(0, 2, 1)
        for x in (counts.take(last), counts.take(first) - ones.take(first))
    )
    lightest = mass.take(first) - steps.take(first)
    return up_to, before, _share_of_ties(lightest, mass.take(last), total, levels)


def _ends_of_ties(
    scores: Int[np.ndarray, "m l"], places: Int[np.ndarray, "m t"]
) -> tuple[Int[np.ndarray, "m t"], Int[np.ndarray, "m t"]]:
    """Return the first and the last place of the scores equal to those at some places of a row.

    Both are places in the flattened scores.
    """
    m, length = scores.shape
    flat = places + np.arange(0, m * length, length)[:, None]
    is_first = np.ones((m, length + 1), bool)  # of a run of ties; the last is past the row
    np.not_equal(scores[:, 1:], scores[:, :-1], out=is_first[:, 1:-1])
    in_row = flat + np.arange(m)[:, None]
    if is_first.take(in_row).all() and is_first.take(in_row + 1).all():
        return flat, flat
    starts = np.flatnonzero(is_first)
    run = starts.searchsorted(in_row, "right")
    return starts[run - 1] - np.arange(m)[:, None], starts[run] - np.arange(m)[:, None] - 1


def _by_bisection(
    blocks: SortedBlocks,
    pools: Pools,
    weights: PerRow | None,
    class_weights: Int[np.ndarray, "m 2"] | None,
    levels: Levels,
) -> Placed:
    """Find the thresholds of pools of many scores, and look them up in each block."""
    sizes, flat = pools.block_sizes, blocks.scores.ravel()
    numerators, denominator = levels
    parts = [
        [slice(start, start + size) for start, size in zip(*pair_blocks, strict=True)]
        for pair_blocks in zip(pools.starts, sizes, strict=True)
    ]
    if class_weights is None:
        assert weights is not None
        rows = blocks.rows.ravel()
        sums = []
        thresholds = np.empty((len(parts), len(numerators)), flat.dtype)
        for pair, four in enumerate(parts):
            scores = np.concatenate([flat[part] for part in four])
            order = np.argsort(scores, kind="stable")
            pool_rows = np.concatenate([rows[part] for part in four])
            mass = cumulative_sum(weights[pool_rows[order]], np)
            limits = mass[-1] * (denominator - numerators) / denominator
            thresholds[pair] = scores[order[mass[1:].searchsorted(limits, "right")]]
            sums.append(mass)
        total = np.array([mass[-1:] for mass in sums])
    else:
        total = 2 * (class_weights * pools.sizes).sum(axis=1, keepdims=True)
        limits = total * (denominator - numerators) // denominator
        first, second = (_merged(flat, pools.starts[:, two], sizes[:, two]) for two in _OF_CLASS)
        thresholds = _smallest_beyond(limits, first, second, *class_weights.T[..., None])

    def look_up(side: Literal["left", "right"]) -> Int[np.ndarray, "m 4 t"]:
        places = [
            [flat[part].searchsorted(x, side) for part in four]
            for x, four in zip(thresholds, parts, strict=True)
        ]
        return np.array(places)

    def is_threshold(place: Int[np.ndarray, "m 4 t"]) -> Bool[np.ndarray, "m 4 t"]:
        score = flat.take(pools.starts[..., None] + place, mode="clip")
        return (place < sizes[..., None]) & (score == thresholds[:, None])

    before = look_up("left")
    up_to = before + is_threshold(before)
    if is_threshold(up_to).any():
        up_to = look_up("right")
    if class_weights is None:
        ends = [
            np.stack([mass[x.sum(axis=0)] for mass, x in zip(sums, places, strict=True)])
            for places in (before, up_to)
        ]
    else:
        block_weights = class_weights[:, _CLASS_OF_BLOCK, None]
        ends = [(block_weights * places).sum(axis=1) for places in (before, up_to)]
    return up_to, before, _share_of_ties(ends[0], ends[1], total, levels)


def _merged(
    flat: Int[np.ndarray, " l"], starts: Int[np.ndarray, "m 2"], sizes: Int[np.ndarray, "m 2"]
) -> Int[np.ndarray, "m longest_plus_2"]:
    """Return the scores of two sorted blocks in order, a row for each pair.

    Before them is what is smaller than any score; rows are filled up with what is larger.
    """
    ends = np.iinfo(flat.dtype)
    merged = np.full((len(starts), sizes.sum(axis=1).max() + 2), ends.max, flat.dtype)
    merged[:, 0] = ends.min
    for row, (start, other), (size, other_size) in zip(
        merged, starts.tolist(), sizes.tolist(), strict=True
    ):
        row[1 : 1 + size] = flat[start : start + size]
        row[1 + size : 1 + size + other_size] = flat[other : other + other_size]
    merged.sort(axis=1, kind="stable")  # which merges sorted parts
    return merged


def _share_of_ties(
    before: Shaped[np.ndarray, "*m t"],
    with_ties: Shaped[np.ndarray, "*m t"],
    total: Shaped[np.ndarray, "*m 1"],
    levels: Levels,
) -> Float[np.ndarray, "*m t"]:
    """Return the share of the ties that makes the part of the pool above exactly its level."""
    numerators, denominator = levels
    above = denominator * with_ties - total * (denominator - numerators)
    share = above / (denominator * (with_ties - before))
    return np.clip(share, 0, 1, out=share)


def _smallest_beyond(
    limits: Int[np.ndarray, "m t"],
    first: Int[np.ndarray, "m n_first_plus_2"],
    second: Int[np.ndarray, "m n_second_plus_2"],
    first_weight: Int[np.ndarray, "m 1"],
    second_weight: Int[np.ndarray, "m 1"],
) -> Int[np.ndarray, "m t"]:
    """Return the smallest number of two sorted rows up to which they exceed each limit.

    The rows are those of `_merged`. Each number of a row weighs the same. Bisection finds how many
    of the first row stay within a limit together with those of the second that are not larger.
    """
    n_first, n_second = first.shape[1] - 2, second.shape[1] - 2
    row = np.arange(len(first))[:, None]
    start_of_first, start_of_second = row * first.shape[1] + 1, row * second.shape[1] + 1

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
