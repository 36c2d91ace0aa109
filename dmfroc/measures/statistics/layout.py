"""Rows by class, columns of scores, their order, and runs of equal ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Shaped

from dmfroc._kit.arrays import IntPerRow, Scores, begins
from dmfroc._kit.threads import parallel
from dmfroc.inputs.predictions import Predictions

_NUMBERS_PER_TASK = 1 << 15  # larger temporary arrays may cost page faults, three times the work
_FEWEST_ROWS_PER_TASK = 256
FRACTIONS = {4: (10**6, 2000), 8: (10**12, 10**6)}  # denominators of decimals, and of others
_SOME_ROWS = 1000
LARGEST_WHOLE = 2.0**50  # several such numbers can be added without rounding


class ClassBlocks(NamedTuple):
    """The classes that occur, their rows side by side, one score column per class.

    Rows of the c-th class that occurs are ``starts[c]:starts[c + 1]``. Scores are integers in
    the same order as the floating-point numbers they stand for: only their order matters
    from here on, and integers sort faster.
    """

    row_order: IntPerRow
    starts: Int[np.ndarray, " c_plus_1"]
    scores: Int[np.ndarray, "c n"]

    @property
    def n_classes(self) -> int:
        return len(self.starts) - 1

    @property
    def class_of_row(self) -> IntPerRow:
        """Return the place of each observation's class among those that occur."""
        place = np.empty(len(self.row_order), np.int32)
        places = np.arange(self.n_classes, dtype=np.int32)
        place[self.row_order] = np.repeat(places, np.diff(self.starts))
        return place


class SortedBlocks(NamedTuple):
    """Scores of classes in columns, sorted; the blocks of a row lie one after the other.

    Scores are integers, as in `ClassBlocks`.
    """

    scores: Int[np.ndarray, "g l"]
    rows: Int[np.ndarray, "g l"]  # the observation at each place


def scores_to_add(predictions: Predictions) -> Scores:
    """Return scores whose sums are compared: fractions as multiples of a common denominator.

    Floating-point sums round, so that .1 + .2 and .3 would not tie. Decimals and shares of votes
    have a denominator that gives back every score as it is rounded.
    """
    scores = predictions.scores
    decimals, largest = FRACTIONS[scores.itemsize]
    part, denominator = scores, decimals
    while True:
        with np.errstate(over="ignore"):
            whole = np.round(part.astype(float) * denominator)
            is_exact = (whole / denominator).astype(scores.dtype) == part
        is_exact &= np.abs(whole) < LARGEST_WHOLE
        if is_exact.all():
            if len(part) == len(scores):
                return whole
            part = scores
        elif denominator == decimals:  # a few rows spare most scores the look at all
            part, denominator = scores[:_SOME_ROWS], 1
        else:
            first = Fraction(float(part[~is_exact][0])).limit_denominator(largest).denominator
            if denominator % first == 0:
                return scores.astype(float)
            denominator = math.lcm(denominator, first)


def group_by_class(predictions: Predictions) -> ClassBlocks:
    """Group the rows of ``predictions`` by class; classes that never occur are left out."""
    present = predictions.present
    row_order = rows_by_class(predictions)
    starts = np.concatenate([[0], np.cumsum(predictions.class_counts[present])]).astype(np.int32)
    n = len(row_order)
    scores = np.empty((len(present), n), f"i{predictions.scores.itemsize}")
    all_present = len(present) == predictions.n_classes

    def transpose(some: slice) -> None:
        rows = predictions.scores.take(row_order[some], axis=0)
        columns = rows if all_present else rows[:, present]
        scores[:, some] = to_ordered_integers(np.ascontiguousarray(columns.T))

    parallel(transpose, row_slices(predictions.scores), scores.size)
    return ClassBlocks(row_order, starts, scores)


def to_ordered_integers(scores: Float[np.ndarray, "*shape"]) -> Int[np.ndarray, "*shape"]:
    """Turn floating-point numbers into integers of the same order, in place."""
    scores += 0  # turns -0 into 0
    bits = scores.view(f"i{scores.itemsize}")
    # The larger the bits of a negative number the smaller it is: all but its sign are inverted.
    inverted = bits >> (8 * scores.itemsize - 1)
    inverted &= np.iinfo(bits.dtype).max
    bits ^= inverted
    return bits


def rows_by_class(predictions: Predictions) -> IntPerRow:
    """Return the observations class by class, in their order within each."""
    true = predictions.true
    # Small integers are sorted by their digits, six times faster.
    keys = true.astype(np.int16) if predictions.n_classes < 2**15 else true
    return np.argsort(keys, kind="stable").astype(np.int32)


def sort_rows(
    x: Int[np.ndarray, "rows m"],
) -> tuple[Int[np.ndarray, "rows m"], Int[np.ndarray, "rows m"]]:
    """Return what sorts each row, as places in the flattened array, and the sorted rows.

    Sorting numbers takes a third of the time of finding their order. So the places are put into
    the last bits of the numbers; where that loses the order, it is found after all.
    """
    m = x.shape[1]
    mask = (1 << m.bit_length()) - 1
    firsts = np.arange(0, x.size, m)[:, None]
    order = x.astype(np.int64) << 32 if x.itemsize == 4 else x & ~mask
    order |= np.arange(m)
    order.sort(axis=1)
    order &= mask
    order += firsts
    in_order = x.take(order)
    if (in_order[:, 1:] < in_order[:, :-1]).any():
        order = np.argsort(x, axis=1) + firsts
        in_order = x.take(order)
    return order, in_order


def sort_blocks(
    scores: Sequence[Int[np.ndarray, "_ _"]], rows: Sequence[Int[np.ndarray, "_ _"]]
) -> None:
    """Sort blocks of scores, each in a row, and the observations that have them, in place.

    Blocks of the same length, such as those of a class in several columns, are sorted together.
    """

    def at_once(some: np.ndarray) -> int:
        return max(_NUMBERS_PER_TASK // some.shape[1], 1)

    def sort(task: tuple[int, int]) -> None:
        which, first = task
        some = slice(first, first + at_once(scores[which]))
        order, scores[which][some] = sort_rows(scores[which][some])
        rows[which][some] = rows[which][some].take(order)

    tasks = [
        (which, first) for which, x in enumerate(scores) for first in range(0, len(x), at_once(x))
    ]
    parallel(sort, tasks, sum(x.size for x in scores))


def score_columns(scores: Scores, columns: Int[np.ndarray, " c"]) -> Float[np.ndarray, "c n"]:
    """Return some columns of the scores, each of them contiguous."""
    transposed = np.empty((len(columns), len(scores)), scores.dtype)
    is_all = len(columns) == scores.shape[1]

    def transpose(some: slice) -> None:
        rows = scores[some]
        transposed[:, some] = (rows if is_all else rows[:, columns]).T

    parallel(transpose, row_slices(scores), transposed.size)
    return transposed


def row_slices(scores: Shaped[np.ndarray, "n k"]) -> list[slice]:
    """Return parts of the rows such that each fits a processor's cache."""
    n, k = scores.shape
    at_once = max(_NUMBERS_PER_TASK // k, _FEWEST_ROWS_PER_TASK)
    return [slice(first, first + at_once) for first in range(0, max(n, 1), at_once)]


def runs_of_ties(
    values: Shaped[np.ndarray, " m"], starts: Int[np.ndarray, " c"]
) -> tuple[Int[np.ndarray, " runs"], Int[np.ndarray, " runs"]]:
    """Return the first place of each run of equal values, and the place after its last.

    Runs stop where blocks start.
    """
    is_first = begins(values)
    is_first[starts] = True
    firsts = np.flatnonzero(is_first).astype(np.int32)
    return firsts, np.append(firsts[1:], np.int32(len(values)))
