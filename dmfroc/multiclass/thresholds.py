"""Thresholds of pairs of classes, and where they fall among the sorted scores of both.

The pool of the ordered pair (i, j) has two blocks of scores: class i and class j in column i. The
common pool of (i, j) and (j, i) has four: class j and class i in column j besides. A threshold is
the smallest score up to which more than the share 1 - u of the pool's weight lies, u being its
level: above or at it lies at least the share u.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Integer, Shaped

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.threads import parallel
from dmfroc.measures.statistics.layout import SortedBlocks, sort_rows

_LARGEST_TO_SMALLEST = 1.25  # of classes that are padded to one length
_POOLED_AT_ONCE = 1 << 17  # scores: enough for few calls; one thread at a time begins any
_LARGEST_MERGED = 3 << 8  # scores of a pool, above which bisection is faster than sorting
_CLASS_OF_BLOCK = [0, 1, 1, 0]  # of the pair's two

Places = Int[np.ndarray, "m t"]
"""A place among the scores of each pool for each threshold."""


class Pools(NamedTuple):
    """Pools of scores: where their blocks start, class sizes, and the ordered pairs they are of."""

    starts: Int[np.ndarray, "u blocks"]  # in the flattened scores
    sizes: Int[np.ndarray, "u 2"]
    pairs: Int[np.ndarray, "u directions"]

    @classmethod
    def of(
        cls,
        starts: Int[np.ndarray, "q 2"],
        sizes: Int[np.ndarray, "q 2"],
        counted: Int[np.ndarray, "q 2"],
        *,
        is_common: bool,
    ) -> Pools:
        """Return the pools of ordered pairs, or those common to (i, j) and (j, i)."""
        pairs = np.arange(len(counted))[:, None]
        if is_common:
            i, j = counted.T
            pairs = np.lexsort([i > j, counted.max(axis=1), counted.min(axis=1)]).reshape(-1, 2)
        return cls(starts[pairs].reshape(len(pairs), -1), sizes[pairs[:, 0]], pairs)


type Placed = tuple[
    Integer[np.ndarray, "m blocks t"], Integer[np.ndarray, "m blocks t"], Float[np.ndarray, "m t"]
]
"""Scores up to and before each threshold in the blocks of a pool, and shares of its ties."""

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
    store: Callable[[Int[np.ndarray, "m directions"], Placed], None],
    *,
    is_balanced: bool,
) -> None:
    """Find the thresholds of all pairs.

    Parameters
    ----------
    blocks, pools
        The sorted scores, and which of them belong to which pool.
    weights
        Those of the observations in the pools; None where they are equal within a class.
    levels
        Which quantiles the thresholds are.
    store
        Takes the ordered pairs of some pools and their thresholds.
    is_balanced
        Without weights: whether both classes of a pool weigh the same in all.
    """
    can_bisect = weights is None and pools.starts.shape[1] == 2

    def place(which: Int[np.ndarray, " m"]) -> None:
        some = Pools(*(x[which] for x in pools))
        of_classes = some.sizes[:, ::-1] if is_balanced else np.ones_like(some.sizes)
        if can_bisect and some.sizes.sum(axis=1).max() > _LARGEST_MERGED:
            placed = _by_bisection(blocks, some, of_classes, levels)
        else:
            placed = _by_merging(blocks, some, weights, of_classes, levels)
        store(some.pairs, placed)

    parallel(place, _batches(pools), int(pools.sizes.sum()))


def _batches(pools: Pools) -> list[Int[np.ndarray, " m"]]:
    """Divide the pools into such as are placed at once, with classes of similar sizes."""
    step = np.floor(np.log(pools.sizes) / np.log(_LARGEST_TO_SMALLEST)).astype(int)
    order = np.lexsort((step[:, 1], step[:, 0]))
    changes = np.flatnonzero((np.diff(step[order], axis=0) != 0).any(axis=1)) + 1
    batches = []
    for similar in np.split(order, changes):
        largest = int(pools.sizes[similar].max(axis=0).sum()) * pools.starts.shape[1] // 2
        at_once = max(_POOLED_AT_ONCE // largest, 1)
        batches += [similar[first : first + at_once] for first in range(0, len(similar), at_once)]
    return batches


def _by_merging(
    blocks: SortedBlocks,
    pools: Pools,
    weights: PerRow | None,
    of_classes: Int[np.ndarray, "m 2"],
    levels: Levels,
) -> Placed:
    """Sort each pool; sums along it say where any score falls in each block."""
    numerators, denominator = levels
    n_blocks = pools.starts.shape[1]
    of_blocks = _CLASS_OF_BLOCK[:n_blocks]
    sizes = pools.sizes[:, of_blocks]
    lengths = sizes.max(axis=0).tolist()
    block = np.repeat(np.arange(n_blocks), lengths)  # of the columns of padded pools
    position = np.concatenate([np.arange(length) for length in lengths])
    places = pools.starts.take(block, axis=1)
    places += position
    is_padding = position >= sizes.take(block, axis=1)
    scores = blocks.scores.ravel().take(places, mode="clip")
    np.copyto(scores, np.iinfo(scores.dtype).max, where=is_padding)
    if weights is None:
        of_scores = of_classes[:, of_blocks].take(block, axis=1)
    else:
        of_scores = weights.take(blocks.rows.ravel().take(places, mode="clip"))
    np.copyto(of_scores, 0, where=is_padding)
    order, scores = sort_rows(scores)
    m, length = scores.shape
    block = block.take(order - length * np.arange(m)[:, None])
    steps = of_scores.take(order)
    mass = np.cumsum(steps, axis=1)
    total = mass[:, -1:]
    limits = total * (denominator - numerators)
    limits = limits // denominator if weights is None else limits / denominator
    rows = zip(mass, limits[:, ::-1], strict=True)
    crossings = np.concatenate([sums.searchsorted(limit, "right") for sums, limit in rows])
    crossings = crossings.reshape(m, -1)[:, ::-1]
    first, last = _ends_of_ties(scores, crossings)
    # Two counts of 32 bits lie side by side, and are summed as one number
    ones = np.eye(n_blocks, dtype="<i4").view("<i8").take(block, axis=0)
    counts = np.cumsum(ones, axis=1).reshape(m * length, -1)
    up_to, before = (
        x.view("<i4").reshape(m, -1, n_blocks).transpose(0, 2, 1)
        for x in (counts[last], counts[first] - ones.reshape(m * length, -1)[first])
    )
    lightest = mass.take(first) - steps.take(first)
    return up_to, before, _share_of_ties(lightest, mass.take(last), total, levels)


def _ends_of_ties(scores: Int[np.ndarray, "m l"], places: Places) -> tuple[Places, Places]:
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
    blocks: SortedBlocks, pools: Pools, of_classes: Int[np.ndarray, "m 2"], levels: Levels
) -> Placed:
    """Bisect how many of the first of two blocks lie within each limit of a pool.

    They do so together with those of the second that are not larger.
    """
    numerators, denominator = levels
    flat, ends = blocks.scores.ravel(), np.iinfo(blocks.scores.dtype)
    (n_first, n_second), (first_weight, second_weight), starts = (
        x.T[..., None].astype(np.int64) for x in (pools.sizes, of_classes, pools.starts)
    )
    total = first_weight * n_first + second_weight * n_second
    limits = total * (denominator - numerators) // denominator

    def score(block: int, place: Places) -> Places:
        """Return a score of a block; before and after it less and more than any."""
        size = pools.sizes[:, block, None]
        found = flat.take(starts[block] + place, mode="clip")
        np.copyto(found, ends.max, where=place >= size)
        np.copyto(found, ends.min, where=place < 0)
        return found

    def n_of_second(n_taken: Places) -> Places:
        """Return how many of the second fit if so many of the first are taken."""
        return ((limits - first_weight * n_taken) // second_weight).clip(-1, n_second)

    def bisected(low: Places, high: Places, is_below: Callable[..., Any]) -> Places:
        for _ in range(int((high - low).max()).bit_length()):
            middle = (low + high) // 2
            is_low = is_below(middle)
            low, high = np.where(is_low, middle + 1, low), np.where(is_low, high, middle)
        return low

    first = bisected(
        np.zeros_like(limits),
        np.broadcast_to(n_first, limits.shape),
        lambda place: score(1, n_of_second(place + 1)) > score(0, place),
    )
    threshold = np.minimum(score(0, first), score(1, n_of_second(first)))
    second = bisected(
        n_of_second(first + 1).clip(0), n_of_second(first), lambda x: score(1, x) < threshold
    )
    before = np.stack([first, second], axis=1)
    at = np.stack([score(0, first), score(1, second)], axis=1)
    up_to = before + (at == threshold[:, None])
    ends_of_block = (
        (block, x[:, block] + step) for block in (0, 1) for x, step in ((before, -1), (up_to, 0))
    )
    if any((score(*x) == threshold).any() for x in ends_of_block):  # of more than two scores
        return _by_merging(blocks, pools, None, of_classes, levels)
    lightest, heaviest = ((of_classes[..., None] * x).sum(axis=1) for x in (before, up_to))
    return up_to, before, _share_of_ties(lightest, heaviest, total, levels)


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
