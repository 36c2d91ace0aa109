"""The bin of each score, five times as fast as by bisection among many cut points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Shaped, UInt

_CELLS = 1 << 18  # of the table of first guesses, which fits a processor's cache
_AT_ONCE = 1 << 14  # scores, likewise


@dataclass(frozen=True, eq=False)
class Finder:
    """Cut points, and how many of them lie before each of many cells of numbers.

    A score's cell follows from the first bits of its representation; only the few cut points
    inside the cell are left to be bisected.
    """

    cuts: Shaped[np.ndarray, " cuts"]  # with infinite ones at the end, as many as are skipped
    before: Int[np.ndarray, " cells"]
    lowest: np.integer
    shift: int
    n_steps: int

    @classmethod
    def of(cls, cuts: Shaped[np.ndarray, " cuts"]) -> Finder:
        """Prepare to find bins among cut points; infinite ones at their end count for nothing."""
        cuts = cuts[np.isfinite(cuts)]
        if not len(cuts):
            cuts = np.full(1, np.inf, cuts.dtype)
        bits = _ordered_bits(cuts)
        span = int(bits[-1]) - int(bits[0])
        shift = max(span.bit_length() - (_CELLS.bit_length() - 1), 0)
        cell = (bits - bits[0]) >> bits.dtype.type(shift)
        n_cells = int(cell[-1]) + 1
        before = np.searchsorted(cell, np.arange(n_cells + 1, dtype=cell.dtype))
        n_steps = int(np.diff(before).max()).bit_length()
        padded = np.append(cuts, np.full(1 << n_steps, np.inf, cuts.dtype))
        return cls(padded, before[:-1].astype(np.int32), bits[0], shift, n_steps)

    def __call__(self, scores: Shaped[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """Return how many cut points each score reaches."""
        found = np.empty(len(scores), np.int32)
        last = self.lowest.dtype.type(len(self.before) - 1)
        for first in range(0, len(scores), _AT_ONCE):
            some = scores[first : first + _AT_ONCE]
            cell = _ordered_bits(some)
            np.maximum(cell, self.lowest, out=cell)
            cell -= self.lowest
            cell >>= self.lowest.dtype.type(self.shift)
            np.minimum(cell, last, out=cell)
            place = self.before.take(cell)
            for power in reversed(range(self.n_steps)):
                step = np.int32(1 << power)
                place += (self.cuts.take(place + (step - np.int32(1))) <= some) * step
            found[first : first + _AT_ONCE] = place
        return found


def _ordered_bits(numbers: Shaped[np.ndarray, " n"]) -> UInt[np.ndarray, " n"]:
    """Return unsigned integers in the order of the floating-point numbers they stand for."""
    n_bits = 8 * numbers.itemsize
    bits = numbers.view(f"i{numbers.itemsize}")
    # All bits of a negative number are inverted, and of others the sign.
    mask = bits >> (n_bits - 1)
    mask |= np.iinfo(bits.dtype).min
    mask ^= bits
    return mask.view(f"u{numbers.itemsize}")
