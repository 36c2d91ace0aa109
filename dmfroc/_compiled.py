"""The one entry to JAX: everything that it compiles runs in double precision.

The user's global configuration stays as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np


def in_double_precision() -> Any:
    """Return a context in which JAX computes in double precision."""
    return jax.enable_x64(True)


def double_precision[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Run a function that calls JAX by itself, or lets NumPyro do so, in double precision."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with in_double_precision():
            return function(*args, **kwargs)

    return call


def compiled[**P, R](function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Compile ``function`` in double precision; takes the options of `jax.jit`."""
    return double_precision(jax.jit(function, **options))


def share(array: np.ndarray) -> jax.Array:
    """Hand ``array`` to JAX, without a copy where its memory allows; never write to it after."""
    with in_double_precision():
        return jax.device_put(array, may_alias=True)


def value_and_gradient(
    function: Callable[[Any], Any], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what JAX makes of a function's value and derivative."""
    with in_double_precision():
        value, gradient = jax.value_and_grad(function)(share(x))
        return np.asarray(value), np.asarray(gradient)
