"""Values and derivatives of bound measures at one set of weights.

One value with its derivative, which is all that the jackknife asks for, is computed by NumPy where
a measure knows its derivative: XLA would spend seconds on compiling, for every new number of
observations, what then runs for milliseconds. It compiles the measures for the bootstraps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Float

from dmfroc._backend import double_precision, share

_COTANGENTS_PER_BATCH = 8


@runtime_checkable
class Differentiated(Protocol):
    """A function whose last argument are the weights, and that knows its derivative."""

    def value_and_gradient(
        self, *args: Any
    ) -> tuple[Float[np.ndarray, "*value"], Float[np.ndarray, "*value n"]]:
        """Return values and their derivatives with respect to the weights, by NumPy."""
        ...


@dataclass(frozen=True)
class WithGradient[**P]:
    """A function for JAX together with its value and derivative by NumPy."""

    function: Callable[P, Float[Array, "*value"]]
    value_and_gradient: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Float[Array, "*value"]:
        return self.function(*args, **kwargs)


@double_precision
def value_and_gradient(
    bound: Callable[[Float[Array, " n"]], Float[Array, "*value"]], weights: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "*value"], Float[np.ndarray, "*value n"]]:
    """Return the values of a bound measure and their derivatives at the weights."""
    if isinstance(bound, Partial) and isinstance(bound.func, Differentiated):
        found = bound.func.value_and_gradient(*jax.tree.map(np.asarray, bound.args), weights)
    else:
        found = _compiled(bound, share(weights))
    value, gradient = found
    return np.asarray(value), np.asarray(gradient)


def value_and_jacobian(
    function: Callable[[Float[Array, "*x"]], Float[Array, "*value"]], x: Float[Array, "*x"]
) -> tuple[Float[Array, "*value"], Float[Array, "*value *x"]]:
    """Return what JAX makes of the function's value and derivatives, a few values at a time."""
    values, pull_back = jax.vjp(function, x)
    if values.ndim == 0:
        return values, pull_back(jnp.ones(()))[0]
    # Full batches only: a smaller last one would be compiled for itself.
    n_batches = -(-values.size // _COTANGENTS_PER_BATCH)
    directions = jnp.eye(n_batches * _COTANGENTS_PER_BATCH, values.size)
    gradients = lax.map(
        jax.vmap(lambda direction: pull_back(direction)[0]),
        directions.reshape(n_batches, _COTANGENTS_PER_BATCH, *values.shape),
    )
    gradients = gradients.reshape(-1, *x.shape)[: values.size]
    return values, gradients.reshape(*values.shape, *x.shape)


_compiled = jax.jit(value_and_jacobian)
