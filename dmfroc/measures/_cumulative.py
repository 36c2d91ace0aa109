"""Cumulative sums, which XLA compiles and runs in half the time that its own ones take."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from dmfroc._backend import AnyArray

_BLOCK = 32
_FEW = 256  # numbers whose cumulative sum is one small matrix product


def cumulative_sum(x: Shaped[AnyArray, "*rows m"]) -> Any:
    """Return the sums of the first 0, 1, ..., m numbers of each row, by NumPy of its arrays.

    By JAX in blocks and matrix products. Sums of whole and half numbers are exact.
    """
    if isinstance(x, np.ndarray):
        sums = np.zeros((*x.shape[:-1], x.shape[-1] + 1))
        np.cumsum(x, axis=-1, out=sums[..., 1:])
        return sums
    widths = [(0, 0)] * (x.ndim - 1) + [(1, 0)]
    return _up_to_each(jnp.pad(x, widths))


def _up_to_each(x: Float[Array, "*rows m"]) -> Float[Array, "*rows m"]:
    m = x.shape[-1]
    if m <= _FEW:
        return x @ jnp.triu(jnp.ones((m, m)))
    n_blocks = -(-m // _BLOCK)
    widths = [(0, 0)] * (x.ndim - 1) + [(0, n_blocks * _BLOCK - m)]
    blocks = jnp.pad(x, widths).reshape(*x.shape[:-1], n_blocks, _BLOCK)
    within = blocks @ jnp.triu(jnp.ones((_BLOCK, _BLOCK)))
    of_blocks = within[..., -1]
    before = _up_to_each(of_blocks) - of_blocks
    return (within + before[..., None]).reshape(*x.shape[:-1], -1)[..., :m]
