"""The boundary of `dmfroc.functional`: checked arrays in, derivatives, 64 bits within."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from dmfroc._kit.compiled import compiled, in_double_precision
from dmfroc._kit.options import integer, is_traced
from dmfroc.inputs.arrays import Rows, as_array, as_floats, check_distinct
from dmfroc.inputs.messages import listing
from dmfroc.inputs.score_doubts import are_complements, difference
from dmfroc.inputs.scores import chosen_names
from dmfroc.measures.measure import WithOptions
from dmfroc.measures.statistics.forecasts import is_no_distribution, wrong_probabilities

Classes = Int[Array, " n"]
Weights = Float[Array, " n"]
Scores = Float[Array, "n k"]
Value = Float[Array, ""]

_FORWARD_MODE = (
    "the functions of dmfroc.functional have reverse-mode derivatives: instead of jax.jvp and "
    "jax.jacfwd take jax.grad or jax.jacrev, and instead of jax.hessian(f) take "
    "jax.jacrev(jax.grad(f))"
)
_LARGEST_WEIGHT = 1e60  # products of several, and their sums, must be numbers


class Observations(NamedTuple):
    """Arrays of one data set, which may be traced."""

    y: Classes
    scores: Scores | None
    weights: Weights | None
    check: Callable[[], None] | None = None  # what has not been checked yet


def run_on(function: Callable[..., Any], data: Observations, *others: Any) -> Any:
    """Call `run` on a data set, whose values are checked if a result is NaN.

    Wrong values make it so. Thus a call has one program, and one answer from the device. If the
    result is traced, as under `jax.grad` by another argument, the values are checked at once.
    """
    found = run(function, *data[:3], *others)
    value = getattr(found, "auc", found)
    if data.check is not None and (is_traced(value) or np.isnan(value)):
        data.check()
    return found


def run(function: Callable[..., Any], *arrays: Any) -> Any:
    """Call a function of arrays with 64 bits; its results have the float type that the user set.

    The function must be hashable and equal to every other that does the same, as
    `dmfroc.measures.measure.WithOptions` is.
    """
    program = WithOptions(_of_type, function=function, dtype=jnp.result_type(float))
    with in_double_precision():
        if not any(map(is_traced, jax.tree.leaves(arrays))):
            return _without_derivatives(program)(*arrays)
        try:
            return _program(program)(*arrays)
        except TypeError as error:
            if "forward-mode" not in str(error):
                raise
            raise TypeError(_FORWARD_MODE) from error


@functools.lru_cache(maxsize=256)
def _without_derivatives(function: Callable[..., Any]) -> Callable[..., Any]:
    return compiled(function)


@functools.lru_cache(maxsize=256)  # a program may hold the data of a bootstrap
def _program(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with derivatives of any order, which are computed with 64 bits, too.

    JAX runs a backward pass when the user's configuration is in force again. Each is therefore a
    program of its own; what it repeats of the forward pass, XLA removes.
    """

    def forward(*arrays: Any) -> Any:
        return run(*arrays), arrays

    def backward(arrays: Any, derivatives: Any) -> Any:
        return _program(WithOptions(_pull_back, function=function))(arrays, derivatives)

    def on_leaves(*arrays: Any) -> Any:
        leaves, structure = jax.tree.flatten(arrays)
        program, ended = _mappable(function, structure)
        found = program(*leaves)
        return jax.tree.unflatten(ended[0], found)

    run = jax.custom_vjp(on_leaves)
    run.defvjp(forward, backward)
    return run


@functools.lru_cache(maxsize=256)
def _mappable(function: Callable[..., Any], structure: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return the function of leaves, which returns leaves, and the structure of these once traced.

    After `jax.checkpoint` JAX maps when the user's configuration is in force again, too.
    """
    ended: list[Any] = []

    def of_leaves(*leaves: Any) -> list[Any]:
        found = function(*jax.tree.unflatten(structure, leaves))
        ended[:] = [jax.tree.structure(found)]
        return jax.tree.leaves(found)

    program = jax.custom_batching.custom_vmap(compiled(of_leaves))

    @program.def_vmap
    def map_over(_: int, are_mapped: list[bool], *leaves: Any) -> Any:
        mapped = WithOptions(_mapped, function=of_leaves, are_mapped=tuple(are_mapped))
        with in_double_precision():
            found = _program(mapped)(*leaves)
        return found, [True] * len(found)

    return program, ended


def _mapped(*leaves: Any, function: Any, are_mapped: tuple[bool, ...]) -> Any:
    return jax.vmap(function, tuple(0 if x else None for x in are_mapped))(*leaves)


def _pull_back(arrays: Any, derivatives: Any, *, function: Callable[..., Any]) -> Any:
    """Return the derivatives with respect to the arrays, and None for arrays of integers."""
    _, pull_back = jax.vjp(function, *arrays)
    found = pull_back(derivatives)
    return jax.tree.map(lambda x: None if x.dtype == jax.dtypes.float0 else x, found)


def _of_type(*arrays: Any, function: Callable[..., Any], dtype: Any) -> Any:
    """Call the function, and give its results the float type that the user set."""

    def of_type(x: Array) -> Array:
        return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(of_type, function(*arrays))


def wide(x: Any) -> Array:
    """Return numbers of 64 bits, by which all is computed but the order of scores."""
    return jnp.asarray(x, np.float64)


@jax.custom_jvp
def without_derivative(scores: Any) -> Any:
    """Return the scores; refuse to differentiate with respect to them."""
    return scores


@without_derivative.defjvp
def _refuse(primals: Any, tangents: Any) -> Any:
    raise TypeError(
        "scores have no derivative here: the result depends on their order alone and jumps where "
        "two change places. Differentiate with respect to weights, or wrap the scores in "
        "jax.lax.stop_gradient"
    )


def number_of_classes(n_classes: Any) -> int:
    """Check the number of classes, which fixes shapes."""
    if is_traced(n_classes):
        raise TypeError(
            "n_classes must not be traced: give it to jax.jit by static_argnames='n_classes'"
        )
    return integer("n_classes", n_classes, 2)


def observations(
    y: Any,
    scores: Any,
    weights: Any,
    n_classes: Any,
    *,
    needs_all_classes: bool = True,
    are_probabilities: bool = False,
    names: tuple[str, str] = ("y", "weights"),
    is_checked_later: bool = False,
) -> Observations:
    """Check one data set: shapes always, values where they are not traced.

    Those on a device may be checked after `run_on` instead.
    """
    n_classes = number_of_classes(n_classes)
    of_y, of_weights = names
    rows = Rows(y, of_y)
    for name, given in (("scores", scores), (of_weights, weights)):
        rows.check_same(given, name)
    y = array(of_y, y)
    if y.ndim != 1 or y.dtype.kind not in "iub" or not y.size:
        raise ValueError(
            f"{of_y} must hold the classes 0 to {n_classes - 1} of one data set, integers of shape "
            f"(n,), but it is {y.dtype} of shape {y.shape}: use jax.vmap for several data sets"
        )
    n = y.shape[0]
    if (columns := chosen_names(scores, "scores")) not in (None, list(map(str, range(n_classes)))):
        raise ValueError(
            f"scores has columns named {listing(columns)}, and the classes here are numbers by "
            "position: pass an array whose column k has the scores of class k"
        )
    if scores is not None:
        scores = array("scores", scores)
        xp: Any = np if isinstance(scores, np.ndarray) else jnp
        if scores.dtype.itemsize < 4 or not jnp.issubdtype(scores.dtype, jnp.floating):
            # 32 bits would tie large integers, and hold all of half precision
            is_half = jnp.issubdtype(scores.dtype, jnp.floating)
            with in_double_precision():
                scores = xp.astype(scores, np.float32 if is_half else np.float64)
        if n_classes == 2 and scores.shape == (n,):
            first = 1 - scores if are_probabilities else -scores
            scores = xp.stack([first, scores], axis=1)
        if scores.shape != (n, n_classes):
            raise ValueError(
                f"scores must be real numbers of shape {(n, n_classes)}, but they are "
                f"{scores.dtype} of shape {scores.shape}"
            )
        if not are_probabilities:
            if is_traced(scores):
                scores = without_derivative(scores)
            if n_classes == 2:
                with in_double_precision():
                    scores = xp.where(are_complements(scores, xp), scores, difference(scores, xp))
    if weights is not None:
        weights = array(of_weights, weights)
        if weights.shape != (n,):
            raise ValueError(
                f"{of_weights} must have shape {(n,)}, but their shape is {weights.shape}"
            )
    given = y, scores, weights
    known = [None if is_traced(x) else x for x in given]

    check = functools.partial(
        _check_values, known, names, n_classes, needs_all_classes, are_probabilities
    )
    is_on_device = any(isinstance(x, jax.Array) for x in known)
    if is_checked_later and is_on_device and not any(map(is_traced, given)):
        return Observations(*given, check)
    check()
    return Observations(*given)


def usable(
    y: Classes,
    scores: Scores | None,
    weights: Weights | None,
    n_classes: int,
    *,
    are_probabilities: bool = False,
) -> tuple[Classes, Weights]:
    """Return classes, and weights that can be multiplied: extreme ones relative to the largest.

    They are NaN if arrays that were traced, and could not be checked, have wrong values.
    """
    is_right = ((y >= 0) & (y < n_classes)).all()
    if scores is not None:
        is_right &= jnp.isfinite(scores).all()
        if are_probabilities:
            is_right &= ~is_no_distribution(wide(scores)).any()
    weights = jnp.ones(y.shape) if weights is None else wide(weights)
    is_right &= ((weights >= 0) & jnp.isfinite(weights)).all() & (weights > 0).any()
    largest = weights.max()
    is_extreme = (largest < 1 / _LARGEST_WEIGHT) | (largest > _LARGEST_WEIGHT)
    scale = 1 / jnp.where(is_extreme & (largest > 0), largest, 1.0)
    # By a product derivatives are NaN, too
    scale = lax.stop_gradient(jnp.where(is_right, scale, jnp.nan))
    return y.astype(np.int32), weights * scale


def array(name: str, x: Any) -> Any:
    """Return an array of JAX, or one of NumPy, whose digits the user's configuration leaves.

    Tensors of other libraries, such as torch and CuPy, are used where they are, without a copy.
    """
    if is_traced(x):
        x = jnp.copy(x)  # by `jax.vmap` it may be an array of NumPy, of a type not configured
    elif hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray | np.generic | jax.Array):
        with in_double_precision():
            x = jax.dlpack.from_dlpack(x)
    if not isinstance(x, jax.Array):
        found = as_array(x, name)
        x = found if found.dtype.kind in "iub" else as_floats(found, name)
        check_distinct(found, x, name)
    elif jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise TypeError(f"{name} must be an array of real numbers, but it is {x.dtype}")
    return x


def _check_values(
    known: list[Any],
    names: tuple[str, str],
    n_classes: int,
    needs_all_classes: bool,
    are_probabilities: bool,
) -> None:
    """Refuse values that have no meaning, as far as they are known."""
    y, scores, weights = (None if x is None else np.asarray(x) for x in known)
    if y is not None and not (y.min() >= 0 and y.max() < n_classes):
        row = int(np.argmax((y < 0) | (y >= n_classes)))
        raise ValueError(
            f"{names[0]} must lie between 0 and n_classes - 1 = {n_classes - 1}, but row {row} "
            f"(counting from 0) holds {y[row]}"
        )
    if scores is not None:
        is_finite = np.isfinite(scores).all(axis=1)
        if not is_finite.all():
            row = int(is_finite.argmin())
            raise ValueError(f"scores must be finite, but row {row} (counting from 0) is not")
        if are_probabilities and (wrong := wrong_probabilities(scores)):
            raise ValueError(f"scores: a measure of probabilities {wrong}")
    if weights is not None and not (
        np.isfinite(weights).all() and (weights >= 0).all() and weights.any()
    ):
        raise ValueError(f"{names[1]} must be finite, >= 0 and not all 0")
    if y is not None and needs_all_classes:
        [missing] = np.nonzero(np.bincount(y, weights, n_classes) == 0)
        if len(missing):
            raise ValueError(
                f"class {missing[0]} has no observation of positive weight, so that its pairs have "
                "no value: leave its column out and number the other classes anew"
            )
