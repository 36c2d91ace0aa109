"""Score columns with the rows grouped by class: what all pairwise measures start from."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Shaped

from dmfroc._backend import aligned_empty, parallel, share
from dmfroc.predictions import Predictions

_ROWS_PER_TASK = 4096
_FEW_ROWS = 1 << 14  # so few that some more halvings take no time


class ClassBlocks(NamedTuple):
    """The classes that occur, their rows side by side, one score column per class.

    Rows of the c-th class that occurs are ``starts[c]:starts[c + 1]``. Scores are integers in
    the same order as the floating-point numbers they stand for: only their order matters from
    here on, and XLA would take all subnormal numbers for zero.
    """

    row_order: Int[np.ndarray, " n"]
    starts: Int[np.ndarray, " c_plus_1"]
    scores: Int[np.ndarray, "c n"]

    @property
    def n_classes(self) -> int:
        return len(self.starts) - 1

    @property
    def n_observations(self) -> int:
        return len(self.row_order)

    def slices(self) -> list[slice]:
        return [slice(*bounds) for bounds in zip(self.starts[:-1], self.starts[1:], strict=True)]


def group_by_class(predictions: Predictions) -> ClassBlocks:
    """Group the rows of ``predictions`` by class; classes that never occur are left out."""
    present = predictions.present
    row_order = np.argsort(predictions.true, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(predictions.class_counts[present])]).astype(np.int32)
    n = predictions.n_observations
    scores = aligned_empty((len(present), n), f"i{predictions.scores.itemsize}")
    all_present = len(present) == predictions.n_classes

    def transpose_rows(first: int) -> None:
        rows = predictions.scores[row_order[first : first + _ROWS_PER_TASK]]
        columns = rows if all_present else rows[:, present]
        scores[:, first : first + _ROWS_PER_TASK] = _to_ordered_integers(columns).T

    parallel(transpose_rows, range(0, n, _ROWS_PER_TASK), scores.size)
    return ClassBlocks(row_order, starts, scores)


def _to_ordered_integers(scores: Float[np.ndarray, "n k"]) -> Int[np.ndarray, "n k"]:
    """Turn floating-point numbers into integers of the same order, in place."""
    scores += 0  # turns -0 into 0
    bits = scores.view(f"i{scores.itemsize}")
    # The larger the bits of a negative number the smaller it is: all but its sign are inverted.
    inverted = bits >> (8 * scores.itemsize - 1)
    inverted &= np.iinfo(bits.dtype).max
    bits ^= inverted
    return bits


def count_below(
    values: Shaped[Array, " m"],
    starts: Int[Array, "*block"],
    stops: Int[Array, "*block"],
    queries: Shaped[Array, "*query"],
    n_steps: int,
    *,
    or_equal: bool = False,
) -> Int[Array, "*query"]:
    """Return the position after the elements of a block that are below (or equal to) the query.

    ``values[start:stop]`` is sorted ascending; ``starts`` and ``stops`` broadcast against
    ``queries``. The search adds falling powers of two without a branch, so that XLA fuses all
    ``n_steps`` (enough for the largest block: ``block_steps``) into one loop.
    """
    position = jnp.broadcast_to(starts, queries.shape)
    for step in reversed(range(n_steps)):
        candidate = position + (1 << step)
        inside = candidate <= stops
        value = values.at[candidate - 1].get(mode="clip")
        smaller = value <= queries if or_equal else value < queries
        position = jnp.where(inside & smaller, candidate, position)
    return position


def block_steps(starts: Int[np.ndarray, " c_plus_1"]) -> int:
    """Return a number of halvings that is enough for a search in the largest block.

    JAX compiles anew for each number. For few observations it is therefore the same whatever the
    sizes of the blocks.
    """
    n = int(starts[-1])
    return (n if n <= _FEW_ROWS else int(np.diff(starts).max())).bit_length()


def run_ends(values: Shaped[np.ndarray, " m"], starts: Int[np.ndarray, " c"]) -> np.ndarray:
    """Return for each position the end of its run of equal values; runs stop at block starts."""
    is_first = np.empty(len(values), bool)
    is_first[0] = True
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    is_first[starts] = True
    firsts = np.flatnonzero(is_first)
    lengths = np.diff(np.append(firsts, len(values)))
    return np.repeat((firsts + lengths).astype(np.int32), lengths)


def per_row(blocks: ClassBlocks) -> jax.Array:
    """Return the class position (0 .. number of classes - 1) of each grouped row."""
    return share(np.repeat(np.arange(blocks.n_classes, dtype=np.int32), np.diff(blocks.starts)))
