"""Functions of arrays that are written once for NumPy, JAX and autograd, and their derivatives.

``xp`` says which of the three computes. A summary may use, besides what they have in common, the
linear maps at the end of this file, each with its transpose. Autograd differentiates a summary over
NumPy, so that nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import autograd.numpy as differentiated_numpy
import numpy as np
from autograd.core import make_vjp
from autograd.extend import defvjp, primitive
from autograd.tracer import getval
from jaxtyping import Bool, Float, Int, Num, Shaped

from dmfroc._kit.threads import parallel

AnyArray = Any
"""An array of NumPy, of JAX, or one that is being differentiated."""

PerRow = Float[np.ndarray, " n"]
IntPerRow = Int[np.ndarray, " n"]
BoolPerRow = Bool[np.ndarray, " n"]
"""One number for each of n rows, such as weights, or derivatives by them."""

PerClass = Float[np.ndarray, " k"]
IntPerClass = Int[np.ndarray, " k"]
"""One number for each of k classes."""

PerPresentClass = Float[np.ndarray, " c"]
"""One number for each of the c classes that occur."""

PerDraw = Float[np.ndarray, " draws"]

Covariance = Float[np.ndarray, "m m"]
"""Of m values, such as those of several classifiers."""

PerThreshold = Float[np.ndarray, " t"]
"""One number for each threshold, from the highest to the lowest."""

Scores = Float[np.ndarray, "n k"]
"""One number for each row and class, such as scores or losses."""

Scalar = Float[AnyArray, ""]

AnyPerRow = Float[AnyArray, " n"]
"""One number for each row, in an array of any kind."""

_BLOCK = 8
_FEW = 256  # numbers whose cumulative sum is one small matrix product


def cumulative_sum(x: Shaped[AnyArray, "*rows m"], xp: Any) -> Num[AnyArray, "*rows m_plus_1"]:
    """Return the sums of the first 0, 1, ..., m numbers of each row.

    By JAX on a CPU in blocks and matrix products, which XLA compiles and runs in half the time of
    its own cumulative sum. Sums of whole and half numbers are exact; by NumPy those of integers are
    integers.
    """
    if xp is np:
        sums = np.zeros((*x.shape[:-1], x.shape[-1] + 1), np.int64 if x.dtype.kind == "i" else None)
        np.cumsum(x, axis=-1, out=sums[..., 1:])
        return sums
    widths = [(0, 0)] * (x.ndim - 1) + [(1, 0)]
    import jax

    padded = xp.pad(x, widths)
    if jax.default_backend() == "cpu":
        return _up_to_each(padded, xp)
    return jax.lax.cumsum(padded, axis=x.ndim - 1)


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


def divide(numerator: Any, divisor: Any, xp: Any, otherwise: Any = 0.0) -> Any:
    """Divide; a number of one's choice where the divisor is 0."""
    # The inner `where` keeps NaN out of the derivative.
    is_empty = divisor == 0
    return xp.where(is_empty, otherwise, numerator / xp.where(is_empty, 1.0, divisor))


def begins(values: Shaped[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return where values begin that differ from the ones before them."""
    return np.append(True, values[1:] != values[:-1])


def powers_of_two(
    totals: Float[AnyArray, "*shape"], weights: Float[AnyArray, "*n"], xp: Any
) -> Float[AnyArray, "*shape"] | None:
    """Return powers of two that make totals alike; None if sums of the weights need none.

    Sums over classes that follow one another lose the weights of light classes beside heavy ones.
    Products and quotients with powers of two are exact, and so are all sums of whole numbers.
    """
    if xp is np and (weights == 1).all():
        return None
    # By their bits: JAX expands its `frexp` when 32 bits may be in force again
    powers = (totals.view(np.uint64) & np.uint64(0x7FF << 52)).view(np.float64)
    powers = xp.where(powers > 0, powers, 1.0)
    return None if xp is np and powers.min() == powers.max() else powers


def sum_at(
    places: Int[AnyArray, "*shape"], numbers: Float[AnyArray, "*sets"], n_places: int, xp: Any
) -> Float[AnyArray, "*draws n_places"]:
    """Add up the numbers of each place; those of a place from ``n_places`` on are left out.

    There may be sets of numbers for each of several draws.
    """
    if numbers.ndim > places.ndim:
        return np.stack([sum_at(places, own, n_places, xp) for own in numbers])
    if xp is np:
        return np.bincount(places.ravel(), numbers.ravel(), n_places)[:n_places]
    return xp.zeros(n_places).at[places].add(numbers, mode="drop")


def map_rows(function: Callable[[tuple[Any, ...]], Any], *arrays: Any, xp: Any) -> Any:
    """Call ``function`` on the rows of the arrays, one after the other, and stack what it returns.

    What it works on stays in the processor's cache.
    """
    if xp is np:
        rows = list(zip(*arrays, strict=True))
        return np.stack(parallel(function, rows, sum(x.size for x in arrays)))
    from jax import lax

    return lax.map(function, arrays)


def value_and_derivatives[T: NamedTuple](
    summary: Callable[[T, Any], Any], table: T
) -> tuple[Any, T]:
    """Return a summary's value and its derivatives with respect to the table's real numbers.

    Fields of the table that hold other things than floating-point arrays come back as they are.
    """
    value, pull_back = value_and_pull_back(summary, table)
    return value, pull_back(np.float64(1))


def value_and_pull_back[T: NamedTuple](
    summary: Callable[[T, Any], Any], table: T
) -> tuple[Any, Callable[[Any], T]]:
    """Return the value, which may be an array, and what turns derivatives of it into a table's.

    A summary that has a method of this name is differentiated by it, the others by autograd.
    """
    own = getattr(summary, "value_and_pull_back", None)
    if own is not None:
        return own(table)
    is_variable = [isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in table]

    def of_variables(variables: Any) -> Any:  # a tuple, which autograd wraps
        return summary(_with_variables(table, is_variable, variables), differentiated_numpy)

    variables = tuple(x for x, is_one in zip(table, is_variable, strict=True) if is_one)
    pull_back, value = make_vjp(of_variables, variables)
    return value, lambda d_value: _with_variables(table, is_variable, pull_back(d_value))


def _with_variables[T: NamedTuple](table: T, is_variable: list[bool], variables: Any) -> T:
    remaining = iter(variables)
    fields = zip(table, is_variable, strict=True)
    return type(table)(*(next(remaining) if is_one else x for x, is_one in fields))


def constant(x: Any, xp: Any) -> Any:
    """Return the numbers without their dependence on what they were computed from."""
    if xp is differentiated_numpy:
        return getval(x)
    if xp is np:
        return x
    from jax import lax

    return lax.stop_gradient(x)


def _placed(shape: tuple[int, ...], place: Any, numbers: Any) -> np.ndarray:
    placed = np.zeros(shape)
    placed[(..., place)] = numbers
    return placed


def _added(shape: tuple[int, ...], places: Any, numbers: Any) -> np.ndarray:
    size = np.prod(shape, dtype=int)
    offsets = np.arange(0, size, shape[-1]).reshape(*shape[:-1], 1)
    return np.bincount((places + offsets).ravel(), numbers.ravel(), size).reshape(shape)


before = primitive(lambda x: x[..., :-1])
"""Returns all numbers of each row but the last: where the steps between them start."""

after = primitive(lambda x: x[..., 1:])
"""Returns all numbers of each row but the first: where the steps between them end."""

last = primitive(lambda x: x[..., -1:])
"""Returns the last number of each row."""

take = primitive(
    lambda x, places, xp: (np if xp is differentiated_numpy else xp).take_along_axis(x, places, -1)
)
"""Returns the numbers at some places of each row."""

# The transpose of each puts the numbers back where they came from.
defvjp(before, lambda found, x: lambda d: _placed(x.shape, slice(None, -1), d))
defvjp(after, lambda found, x: lambda d: _placed(x.shape, slice(1, None), d))
defvjp(last, lambda found, x: lambda d: _placed(x.shape, slice(-1, None), d))
defvjp(take, lambda found, x, places, xp: lambda d: _added(x.shape, places, d), argnums=(0,))
