"""Linear maps of arrays that NumPy and JAX compute alike; ``xp`` says which of the two it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Integer, Num, Shaped

from dmfroc._kit.threads import parallel

AnyArray = Any
"""An array of NumPy, of JAX, or one that is being differentiated."""

_BLOCK = 8
_FEW = 256  # numbers whose cumulative sum is one small matrix product


def cumulative_sum(x: Shaped[AnyArray, "*rows m"], xp: Any) -> Num[AnyArray, "*rows m_plus_1"]:
    """Return the sums of the first 0, 1, ..., m numbers of each row.

    By JAX in blocks and matrix products, which XLA compiles and runs in half the time that its
    own cumulative sum takes. Sums of whole and half numbers are exact; by NumPy those of integers
    are integers.
    """
    if xp is np:
        sums = np.zeros((*x.shape[:-1], x.shape[-1] + 1), np.int64 if x.dtype.kind == "i" else None)
        np.cumsum(x, axis=-1, out=sums[..., 1:])
        return sums
    widths = [(0, 0)] * (x.ndim - 1) + [(1, 0)]
    return _up_to_each(xp.pad(x, widths), xp)


def _up_to_each(x: Float[AnyArray, "*rows m"], xp: Any) -> Float[AnyArray, "*rows m"]:
    m = x.shape[-1]
    if m <= _FEW:
        return x @ xp.triu(xp.ones((m, m)))
    n_blocks = -(-m // _BLOCK)
    widths = [(0, 0)] * (x.ndim - 1) + [(0, n_blocks * _BLOCK - m)]
    blocks = xp.pad(x, widths).reshape(*x.shape[:-1], n_blocks, _BLOCK)
    within = blocks @ xp.triu(xp.ones((_BLOCK, _BLOCK)))
    sums = within[..., -1]
    before = _up_to_each(sums, xp) - sums
    return (within + before[..., None]).reshape(*x.shape[:-1], -1)[..., :m]


def exponents_of(
    totals: Float[AnyArray, "*shape"], weights: Float[AnyArray, "*n"], xp: Any
) -> Int[AnyArray, "*shape"] | None:
    """Return powers of two that make totals alike; None if sums of the weights need none.

    Sums over classes that follow one another lose the weights of light classes beside heavy ones.
    Products with powers of two are exact, and so are all sums of whole numbers.
    """
    if xp is np and (weights == 1).all():
        return None
    exponents: Any = xp.frexp(totals)[1]
    return None if xp is np and np.ptp(exponents) == 0 else exponents


def sum_at(
    places: Int[AnyArray, "*shape"], numbers: Float[AnyArray, "*shape"], n_places: int, xp: Any
) -> Float[AnyArray, " n_places"]:
    """Add up the numbers of each place; those of a place from ``n_places`` on are left out."""
    if xp is np:
        return np.bincount(places.ravel(), numbers.ravel(), n_places)[:n_places]
    return xp.zeros(n_places).at[places].add(numbers, mode="drop")


def map_rows(function: Callable[..., Any], *arrays: Any, xp: Any) -> Any:
    """Call ``function`` on the rows of the arrays, one after the other, and stack what it returns.

    What it works on stays in the processor's cache.
    """
    if xp is np:
        first = function(*(x[0] for x in arrays))
        found = np.empty((len(arrays[0]), *first.shape), first.dtype)
        found[0] = first

        def compute(row: int) -> None:
            found[row] = function(*(x[row] for x in arrays))

        parallel(compute, range(1, len(found)), sum(x.size for x in arrays))
        return found
    from jax import lax

    return lax.map(lambda rows: function(*rows), arrays)


def segment_sum(
    x: Float[AnyArray, " n"],
    starts: Int[AnyArray, " segments"],
    segment: Integer[AnyArray, " n"],
    xp: Any,
) -> Float[AnyArray, " segments"]:
    """Add up the numbers of each segment; segments lie one after the other, none is empty."""
    if xp is np:
        return np.add.reduceat(x, starts)
    return xp.zeros(len(starts)).at[segment].add(x, indices_are_sorted=True)
