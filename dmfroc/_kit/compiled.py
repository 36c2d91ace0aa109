"""The one entry to JAX: everything that it compiles runs in double precision.

The user's global configuration stays as it is, and does not touch what is computed here.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

_process = {"is_orphan": False}


def _notice_fork() -> None:
    """Note that this process has JAX's state and none of its threads, for which it would wait."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    _process["is_orphan"] = bool(getattr(bridge, "_backends", True))


os.register_at_fork(after_in_child=_notice_fork)


@functools.cache
def _start() -> None:
    """Let JAX look for its devices, and say what to do if there are none."""
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        platforms, reason = os.environ.get("JAX_PLATFORMS", ""), str(error) or "it gives no reason"
        raise RuntimeError(
            f"JAX found no device to compute on (JAX_PLATFORMS={platforms!r}): unset the variable "
            f"or set it to 'cpu', or install what the platform needs ({reason})"
        ) from error


@contextmanager
def in_double_precision() -> Iterator[None]:
    """Let JAX compute in double precision, by its default rules whatever the user has set.

    Raises
    ------
    RuntimeError
        In a process that was forked after its parent had used JAX: it would wait for ever. Or if
        JAX finds no device.
    """
    if _process["is_orphan"]:
        raise RuntimeError(
            "this process was forked from one that had used JAX, whose threads it lacks, so that "
            "computing would never end: start processes by multiprocessing.get_context('spawn') "
            "or 'forkserver'"
        )
    _start()
    with (
        jax.enable_x64(True),
        jax.numpy_rank_promotion("allow"),
        jax.numpy_dtype_promotion("standard"),
        jax.transfer_guard("allow"),
        jax.debug_nans(False),
        np.errstate(under="ignore"),
    ):
        yield


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


def lowered(function: Callable[..., Any], *arguments: Any, **options: Any) -> jax.stages.Lowered:
    """Trace a function for arguments of these shapes; any thread may compile what it returns."""
    with in_double_precision():
        return jax.jit(function, **options).lower(*arguments)


def is_traceable(function: Callable[[Any], Any], size: int) -> bool:
    """Whether JAX can trace a user's function of a vector of this size."""
    with in_double_precision():
        try:
            jax.eval_shape(function, jax.ShapeDtypeStruct((size,), np.float64))
        except Exception:  # whatever other libraries raise where they are handed a tracer
            return False
    return True


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
