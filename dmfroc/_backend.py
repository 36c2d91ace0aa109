"""The few things every numerical module needs from NumPy and JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Any

import jax
import numpy as np

AnyArray = jax.Array | np.ndarray
"""What a function takes that JAX and NumPy both evaluate; often with the module to compute by."""

_ALIGNMENT = 64  # bytes; what XLA asks of a buffer that it is to use without a copy
_FEW_NUMBERS = 100_000  # for fewer, starting threads takes longer than the work


def double_precision[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Run ``function`` in 64-bit JAX, leaving the user's global configuration alone."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return wrapper


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an uninitialised array that `share` can hand to JAX without a copy."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.empty(n_bytes + _ALIGNMENT, np.uint8)
    offset = -buffer.ctypes.data % _ALIGNMENT
    return buffer[offset : offset + n_bytes].view(dtype).reshape(shape)


def share(array: np.ndarray) -> jax.Array:
    """Hand ``array`` to JAX, without a copy where its memory allows; never write to it after."""
    return jax.device_put(array, may_alias=True)


def parallel[T](function: Callable[[T], None], items: Sequence[T], n_numbers: int) -> None:
    """Call ``function`` on every item, on all cores if there are many numbers to work on.

    NumPy's sorts and copies release the GIL.
    """
    if n_numbers < _FEW_NUMBERS:
        for item in items:
            function(item)
        return
    with ThreadPoolExecutor(cpu_count()) as executor:
        for _ in executor.map(function, items):
            pass
