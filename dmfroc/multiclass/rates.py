"""True and false positive rates of ordered pairs at common quantile levels: the statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int, Integer, Shaped

from dmfroc._kit.arrays import (
    AnyArray,
    IntPerRow,
    PerRow,
    Scalar,
    cumulative_sum,
    map_rows,
    powers_of_two,
    sum_at,
    take,
)
from dmfroc._kit.memory import check_memory
from dmfroc._kit.options import (
    RandomState,
    choice,
    generator_of,
    integer,
    is_one_of,
    nonnegative,
    seed_of,
)
from dmfroc._kit.threads import parallel, tasks_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import (
    SortedBlocks,
    group_by_class,
    rows_by_class,
    sort_blocks,
    to_ordered_integers,
)
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.multiclass.center import FEW_CELLS
from dmfroc.multiclass.costs import (
    PairsOfClasses,
    PairWeights,
    TimesSizes,
    cell_weights,
    check_kind,
)
from dmfroc.multiclass.thresholds import Placed, Pools, grid_levels, place_thresholds

ThresholdPool = Literal["column", "balanced", "pooled"]
Preset = Literal["default", "paper", "unweighted"]

DEFAULT_N_THRESHOLDS = 99
FEWEST_THRESHOLDS = 9  # with fewer, or less shrinkage, many tiny classes get a false area of 1
# By the rule of experiments/threshold_pools.py. No strength has the most power everywhere.
DEFAULT_SHRINKAGE = 0.05
LEAST_SHRINKAGE = 1e-6  # fixes the scale of the pair effects where nothing else does

_MOST_STORED = 1 << 26  # counts, half a gigabyte
_CELLS_AT_ONCE = 1 << 15  # what is made of them fits a processor's cache
_BYTES_PER_RATE = 24  # measured with 200 and 1,000 classes, places and derivatives included


class RateTable(NamedTuple):
    """Weights of the classes of each pair (i, j) above each threshold, and of the classes.

    The first class i has its score column used. Pairs come in groups of as many each, such as those
    of one column. An axis of length 2 is the class that is counted: class i (true positives),
    class j (false positives).
    """

    counts: Float[AnyArray, "*draws g p 2 t"]  # or `CountsOfPlaces`
    totals: Float[AnyArray, "*draws c"]
    counted: PairsOfClasses  # the classes i and j
    cell_weights: Float[AnyArray, "q 2 1"]
    shrinkage: Scalar

    def rates(self, xp: Any) -> Float[AnyArray, "q 2 t"]:
        """Return the true and false positive rates of the pairs."""
        totals = take(self.totals, self.counted.ravel(), xp)
        counts = np.asarray(self.counts) if xp is np else self.counts
        rates = counts / totals.reshape(*self.counted.shape, 1)
        return rates.reshape(-1, *rates.shape[2:])


@dataclass(frozen=True, eq=False)
class RateCounts(Statistic):
    """What turns observation weights into the counts above the thresholds of pairs of classes.

    The scores of a pair are blocks of sorted ones, by column and class. Places are counted from
    the start of a block, so that small classes need a byte each. All pairs of classes are grouped
    by column, ordered as in `reference_classes`; those of a sample are one group.
    """

    sorted_rows: Int[AnyArray, "g l"]  # observation at each place of the blocks
    class_of_row: Int[AnyArray, " n"]
    counted: PairsOfClasses
    starts: PairsOfClasses  # of the block of the class that is counted
    stops: PairsOfClasses
    at_least: Integer[AnyArray, "g p 2 t"]  # places in the block before a score >= threshold
    above: Integer[AnyArray, "g p 2 t"]  # places in the block before a score > threshold
    tied_share: Float[AnyArray, "g p t"]  # share that counts of the scores at the threshold
    cell_weights: Float[AnyArray, "q 2 1"]
    shrinkage: Scalar
    totals: Float[AnyArray, " c"]  # zeros, one for each class
    n_pairs: int  # of classes
    is_sample: bool  # whether those here are some of them only

    @property
    def n_numbers(self) -> int:
        """How many numbers a replicate takes: several for each rate."""
        return 16 * self.at_least.size

    @property
    def is_batched(self) -> bool:
        return self.at_least.size <= FEW_CELLS

    def count(self, weights: Float[AnyArray, "*draws n"], xp: Any) -> RateTable:
        totals = sum_at(self.class_of_row, weights, len(self.totals), xp)
        if xp is np and (weights == 1).all():
            # Numbers of another type would be converted one by one
            sizes = (self.stops - self.starts)[..., None].astype(self.above.dtype)
            counts: Any = CountsOfPlaces(sizes, self.above, self.at_least, self.tied_share)
            if self.above.size <= _MOST_STORED:
                counts = np.asarray(counts)
        else:
            powers = powers_of_two(totals, weights, xp)
            summed = weights
            if powers is not None:
                summed = weights / powers[..., self.class_of_row]

            # One group after the other: what is summed and looked up stays in the cache.
            def count_group(group: tuple[Any, ...]) -> Float[AnyArray, "*draws p 2 t"]:
                rows, starts, stops, at_least, above, share, of = group
                up_to, starts = cumulative_sum(summed[..., rows], xp), starts[..., None]
                before_high, before_low = up_to[..., starts + above], up_to[..., starts + at_least]
                counts = above_with_ties(up_to[..., stops, None], before_high, before_low, share)
                if powers is not None:
                    counts *= powers[..., of, None]
                # Whole weights have exact sums; those of others can exceed the whole by rounding.
                return xp.clip(counts, 0.0, totals[..., of, None])

            places = self.starts, self.stops, self.at_least, self.above, self.tied_share
            counts = map_rows(count_group, self.sorted_rows, *places, self.counted, xp=xp)
            counts = xp.moveaxis(counts, 0, weights.ndim - 1)
        return RateTable(counts, totals, self.counted, self.cell_weights, self.shrinkage)

    def pull_back(self, weights: PerRow, table: RateTable, derivatives: RateTable) -> PerRow:
        """Each observation adds up what the thresholds below its score say."""
        n, length = len(weights), self.sorted_rows.shape[1]
        powers = powers_of_two(table.totals, weights, np)

        def through_groups(groups: range) -> PerRow:
            gradient = np.zeros(n)
            for i in groups:
                d_counts = derivatives.counts[i]
                if powers is not None:  # derivatives are the larger the less a class weighs
                    d_counts = d_counts * powers[self.counted[i]][..., None]
                tied = d_counts * self.tied_share[i][:, None]
                starts = self.starts[i][..., None]
                above_each = sum_at(starts + self.above[i], d_counts - tied, length + 1, np)
                above_each += sum_at(starts + self.at_least[i], tied, length + 1, np)
                above_each -= sum_at(self.stops[i], d_counts.sum(axis=-1), length + 1, np)
                np.cumsum(above_each, out=above_each)
                gradient += np.bincount(self.sorted_rows[i], above_each[:-1], n)
            return gradient

        tasks = tasks_of(range(len(self.sorted_rows)), 1)
        through_counts: Any = sum(parallel(through_groups, tasks, self.sorted_rows.size))
        if powers is not None:
            through_counts /= powers[self.class_of_row]
        return derivatives.totals[self.class_of_row] + through_counts


@dataclass(frozen=True, eq=False)
class CountsOfPlaces:
    """Counts where all weights are one, and a place is the weight before it.

    Blocks of them are made when they are asked for: floats take eight times the memory of places.
    """

    sizes: Integer[np.ndarray, "*pairs 2 1"]
    above: Integer[np.ndarray, "*pairs 2 t"]
    at_least: Integer[np.ndarray, "*pairs 2 t"]
    tied_share: Float[np.ndarray, "*pairs t"]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.above.shape

    def __len__(self) -> int:
        return len(self.above)

    @property
    def by_pair(self) -> CountsOfPlaces:
        """The same with one axis of pairs."""
        n_axes = self.tied_share.ndim - 1
        return CountsOfPlaces(*(x.reshape(-1, *x.shape[n_axes:]) for x in vars(self).values()))

    def __getitem__(self, some: slice) -> Float[np.ndarray, "some 2 t"]:
        return above_with_ties(*(x[some] for x in vars(self).values()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        flat, counts = self.by_pair, np.empty(self.shape)
        flat_counts = counts.reshape(flat.shape)
        at_once = max(_CELLS_AT_ONCE // flat_counts[0].size, 1)

        def count(first: int) -> None:
            some = slice(first, first + at_once)
            flat_counts[some] = flat[some]

        parallel(count, range(0, len(flat), at_once), counts.size)
        return counts


def above_with_ties(
    total: Shaped[AnyArray, "p c 1"],
    up_to: Shaped[AnyArray, "p c t"],
    before: Shaped[AnyArray, "p c t"],
    tied_share: Float[AnyArray, "p t"],
) -> Float[AnyArray, "p c t"]:
    """Return the weights above thresholds with a share of those at them.

    Given are the weights of the classes, of their scores up to, and of those before each threshold.
    """
    return (total - up_to) + tied_share[..., None, :] * (up_to - before)


@dataclass(frozen=True, eq=False)
class CurveOptions:
    """The options of the curve, checked; called with predictions, the statistic."""

    pair_weights: PairWeights = "equal"
    n_thresholds: int = DEFAULT_N_THRESHOLDS
    shrinkage: float | int = DEFAULT_SHRINKAGE
    threshold_pool: ThresholdPool = "column"
    n_pairs: int | None = None
    random_state: RandomState = 0
    rank: int = 1
    preset: Preset = "default"

    def __post_init__(self) -> None:
        check_kind(self.pair_weights)
        pools = get_args(ThresholdPool)
        checked = {
            "n_thresholds": integer("n_thresholds", self.n_thresholds, FEWEST_THRESHOLDS),
            "shrinkage": nonnegative("shrinkage", self.shrinkage),
            "threshold_pool": choice("threshold_pool", self.threshold_pool, pools),
            "n_pairs": None if self.n_pairs is None else integer("n_pairs", self.n_pairs, 2),
            "random_state": seed_of(self.random_state),
            "rank": integer("rank", self.rank, 1),
        }
        if choice("preset", self.preset, get_args(Preset)) != "default":
            checked |= self._options_of_paper(checked)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _options_of_paper(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the options of the paper's estimators, which must not be given otherwise."""
        own: dict[str, Any] = {"shrinkage": 0.0, "threshold_pool": "pooled"}
        for name, value in own.items():
            if given[name] not in (value, getattr(CurveOptions, name)):
                raise ValueError(
                    f"preset={self.preset!r} has {name}={value!r}, but {name} is {given[name]!r}: "
                    "leave one of the two out"
                )
        if self.preset == "paper":
            if is_one_of(self.pair_weights, ("prevalence",)):
                raise ValueError(
                    "preset='paper' multiplies pair_weights by the class sizes, which "
                    "pair_weights='prevalence' would do again: leave pair_weights out"
                )
            own["pair_weights"] = TimesSizes(self.pair_weights)
        return own

    def __call__(self, predictions: Predictions) -> RateCounts:
        """Sort the columns, choose the thresholds and find every score's side of them."""
        n_classes = len(predictions.present)
        n_pairs = n_classes * (n_classes - 1) // 2
        n_drawn = min(self.n_pairs or n_pairs, n_pairs)
        most = min(2 * n_drawn, 2 * self.n_thresholds)
        if self.rank > most and n_classes > 2:
            raise ValueError(
                f"rank must be at most {most}, the smaller number of rows and columns of the "
                f"rates, but it is {self.rank}"
            )
        check_memory(
            _BYTES_PER_RATE * 4 * n_drawn * self.n_thresholds,  # with the fit, at most
            f"the multiclass ROC curve of {n_classes} classes, with {self.n_thresholds} "
            f"thresholds for each of {n_classes * (n_classes - 1)} pairs of them,",
            "ask for fewer thresholds (n_thresholds=), for a sample of the pairs (n_pairs=), or "
            "for other measures alone, such as measures=['hand_till', 'informedness']",
        )
        if n_drawn == n_pairs:
            layout = _all_pairs(predictions)
        else:
            layout = _sampled_pairs(predictions, self._drawn(n_drawn, n_pairs))
        of_row, is_balanced = layout.class_of_row, self.threshold_pool != "pooled"
        weights = predictions.sample_weight if predictions.is_weighted else None
        if weights is not None and is_balanced:
            weights = weights / np.bincount(of_row, weights)[of_row]
        levels = grid_levels(self.n_thresholds)
        shape = *layout.counted.shape, len(levels[0])
        sizes = (layout.stops - layout.starts).astype(np.int64)
        at_least, above = (np.empty(shape, np.min_scalar_type(sizes.max())) for _ in range(2))
        tied_share = np.empty((*shape[:2], shape[3]))
        by_pair = [x.reshape(-1, *x.shape[2:]) for x in (above, at_least, tied_share)]

        def store(pairs: Int[np.ndarray, "m directions"], placed: Placed) -> None:
            *places, share = placed
            for x, found in zip(by_pair, (*places, share[:, None]), strict=True):
                x[pairs] = found.reshape(len(pairs), -1, *x.shape[1:])

        first_places = np.arange(0, layout.blocks.scores.size, layout.blocks.scores.shape[1])
        starts = layout.starts + first_places[:, None, None]
        pools = Pools.of(
            *(x.reshape(-1, 2) for x in (starts, sizes, layout.counted)),
            is_common=self.threshold_pool != "column",
        )
        place_thresholds(layout.blocks, pools, weights, levels, store, is_balanced=is_balanced)
        cells = cell_weights(self.pair_weights, predictions, layout.counted).reshape(-1, 2, 1)
        # Two classes have one curve, not two, whatever its weight: that of column 1
        groups = slice(1, None) if (is_binary := predictions.n_classes == 2) else slice(None)
        return RateCounts(
            layout.blocks.rows[groups],
            layout.class_of_row,
            layout.counted[groups],
            layout.starts[groups],
            layout.stops[groups],
            at_least[groups],
            above[groups],
            tied_share[groups],
            np.ones((1, 2, 1)) if is_binary else cells,
            shrinkage=np.array(max(float(self.shrinkage), LEAST_SHRINKAGE)),
            totals=np.zeros(n_classes),
            n_pairs=n_pairs,
            is_sample=n_drawn < n_pairs,
        )

    def _drawn(self, n_drawn: int, n_pairs: int) -> Int[np.ndarray, " u"]:
        """Draw a simple random sample of the numbers of all pairs, without replacement."""
        generator = generator_of(self.random_state)
        return np.sort(generator.choice(n_pairs, n_drawn, replace=False, shuffle=False))


def reference_classes(n_classes: int) -> Int[np.ndarray, "c c_minus_1"]:
    """Return the classes j != i, ascending, for each class i."""
    position = np.arange(n_classes - 1, dtype=np.int32)
    return position + (position >= np.arange(n_classes)[:, None])


def ordered_pairs(n_classes: int) -> Int[np.ndarray, "c c_minus_1 2"]:
    """Return all ordered pairs (i, j), by i."""
    reference = reference_classes(n_classes)
    own = np.broadcast_to(np.arange(n_classes, dtype=np.int32)[:, None], reference.shape)
    return np.stack([own, reference], axis=-1)


class _PairScores(NamedTuple):
    """The sorted scores of pairs of classes, and where those of each pair are."""

    blocks: SortedBlocks
    class_of_row: IntPerRow
    counted: PairsOfClasses
    starts: PairsOfClasses
    stops: PairsOfClasses


def _all_pairs(predictions: Predictions) -> _PairScores:
    """Sort all columns within classes."""
    by_class = group_by_class(predictions)
    n_classes, starts = by_class.n_classes, by_class.starts
    blocks = SortedBlocks(by_class.scores, np.tile(by_class.row_order, (n_classes, 1)))
    sort_blocks(*(np.split(x, starts[1:-1], axis=1) for x in blocks))
    counted = ordered_pairs(n_classes)
    return _PairScores(blocks, by_class.class_of_row, counted, starts[counted], starts[counted + 1])


def _sampled_pairs(predictions: Predictions, numbers: Int[np.ndarray, " u"]) -> _PairScores:
    """Sort the scores of some pairs i < j, which are numbered by j, then by i."""
    j = ((1 + np.sqrt(1 + 8 * numbers.astype(float))) // 2).astype(np.int64)
    i = numbers - j * (j - 1) // 2
    present, row_order = predictions.present, rows_by_class(predictions)
    place_of_class = np.cumsum(predictions.class_counts > 0, dtype=np.int32) - np.int32(1)
    class_sizes = predictions.class_counts[present]
    firsts = np.cumsum(class_sizes) - class_sizes
    # Pairs share blocks; those of a class follow one another
    places = len(present) * np.stack([i, j, j, i], axis=1) + np.stack([i, i, j, j], axis=1)
    needed, block_of_pair = np.unique(places, return_inverse=True)
    block_class, column = np.divmod(needed, len(present))
    sizes = class_sizes[block_class]
    starts = np.append(0, np.cumsum(sizes))
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    names = row_order[np.repeat(firsts[block_class], sizes) + within]
    scores = predictions.scores[names, np.repeat(present[column], sizes)]
    blocks = SortedBlocks(to_ordered_integers(scores)[None], names[None])
    firsts_of_class = np.flatnonzero(np.diff(block_class, prepend=-1))
    lengths = sizes[firsts_of_class]
    by_class = (np.split(x[0], starts[firsts_of_class[1:]]) for x in blocks)
    sort_blocks(*([x.reshape(-1, m) for x, m in zip(y, lengths, strict=True)] for y in by_class))
    ordered_starts = starts[block_of_pair].reshape(1, -1, 2)  # (i, j), then (j, i)
    counted = np.stack([i, j, j, i], axis=1).reshape(1, -1, 2).astype(np.int32)
    return _PairScores(
        blocks,
        place_of_class[predictions.true],
        counted,
        ordered_starts.astype(np.int32),
        (ordered_starts + class_sizes[counted]).astype(np.int32),
    )
