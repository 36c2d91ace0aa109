"""Values with standard errors, of one data set or of thousands at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from dmfroc._kit.compiled import compiled
from dmfroc._kit.options import integer, is_traced
from dmfroc._kit.threads import parallel_map
from dmfroc.functional.arrays import array, run, wide
from dmfroc.functional.counts import class_totals
from dmfroc.measures.measure import Measure, WithOptions

_SCORES_AT_ONCE = 1 << 16  # of the data sets that are computed as one
_BATCHES_PER_TASK = 8


class ValueWithError(NamedTuple):
    """The value of a measure and its standard error.

    Attributes
    ----------
    value : array
        One for each data set.
    standard_error : array
        By the infinitesimal jackknife.
    """

    value: Float[Any, "*sets"]
    standard_error: Float[Any, "*sets"]


def estimate(
    function: Callable[..., Any],
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    **options: Any,
) -> ValueWithError:
    """Return a measure's value and its standard error, which is that of `dmfroc.estimate`.

    Parameters
    ----------
    function : callable
        Such as `hand_till` or `dmf_auc`: takes ``y, scores, weights, n_classes=`` and the options
        and returns a number.
    y, scores, weights, n_classes
        As for `value`. Rows are independent observations.
    **options
        Options of the function.

    Returns
    -------
    ValueWithError
        The standard error is NaN if a class has a single observation.

    Raises
    ------
    ValueError, TypeError
        As the function does.

    Examples
    --------
    >>> from dmfroc.functional import hand_till
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=90)
    >>> scores = rng.normal(size=(90, 3)) + np.eye(3)[y]
    >>> found = estimate(hand_till, y, scores, n_classes=3)
    >>> print(f"{found.value:.3f} +- {found.standard_error:.3f}")
    0.734 +- 0.033
    """
    arrays, options = (y, scores, weights), {"n_classes": n_classes, **options}
    program = _hashable(function, options)
    is_array = (x is None or hasattr(x, "__dlpack__") for x in arrays)
    if program is not None and all(is_array) and y is not None and scores is not None:
        # As one program, which returns NaN if an array has wrong values; then the slow path raises
        known = [None if x is None else array("scores", x) for x in arrays]
        if not any(map(is_traced, known)):
            found: ValueWithError = run(program, *known)
            if not np.isnan(found.value):
                return found
    return _estimate(*arrays, function=function, **options)


def _hashable(function: Any, options: dict[str, Any]) -> WithOptions | None:
    """Return the program of a function of this package; None if it would be compiled anew."""
    kind = function
    if isinstance(function, functools.partial):
        kind, options = function.func, function.keywords | options
        function = WithOptions(kind, *function.args)
    if not getattr(kind, "__module__", "").startswith("dmfroc.functional"):
        return None
    program = WithOptions(_estimate, function=function, **options)
    try:
        hash(program)
    except TypeError:
        return None
    return program


def _estimate(
    y: Any, scores: Any, weights: Any = None, *, function: Any, n_classes: int, **options: Any
) -> ValueWithError:
    if isinstance(function, Measure):
        raise TypeError(
            f"function must be one of arrays: take functools.partial(functional.value, measure), "
            f"where the measure is {function.name}"
        )
    y = array("y", y)
    weights = jnp.ones(y.shape) if weights is None else jnp.asarray(weights)

    def weighted_value(weights: Array) -> Array:
        return function(y, scores, weights, n_classes=n_classes, **options)

    value, gradient = jax.value_and_grad(weighted_value)(weights)
    error = WithOptions(_standard_error, n_classes=n_classes)
    return ValueWithError(value, run(error, y, weights, gradient))


def _standard_error(y: Array, weights: Array, gradient: Array, *, n_classes: int) -> Array:
    y, influences, counts = y.astype(np.int32), wide(weights) * wide(gradient), wide(weights > 0)
    sizes = class_totals(y, counts, n_classes)
    totals = class_totals(y, influences, n_classes)
    means = totals / jnp.maximum(sizes, 1)
    squares = class_totals(y, counts * (influences - means[y]) ** 2, n_classes)
    parts = sizes * squares / (sizes - 1)
    given_sizes = jnp.where(sizes > 0, parts, 0.0).sum()
    # What an observation adds on average varies with its class, which is drawn, too.
    n = sizes.sum()
    spread = n * (means - totals.sum() / n)
    return jnp.sqrt(given_sizes + (sizes * spread**2).sum() / n**2)


def estimate_many(
    function: Callable[..., Any],
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    batch_size: int | None = None,
    **options: Any,
) -> ValueWithError:
    """Return the values and standard errors of many data sets of the same shape.

    The data sets are evaluated in batches by `jax.vmap`, on all cores, with 64 bits.

    Parameters
    ----------
    function : callable
        As for `estimate`.
    y : array of shape (B, n)
        True classes of B data sets.
    scores : array of shape (B, n, n_classes)
        Scores of each data set.
    weights : array of shape (B, n), optional
        Weights of the observations.
    n_classes : int
        Number of classes.
    batch_size : int, optional
        Data sets per batch, which bounds the memory; by default so many that a batch fits a
        processor's cache.
    **options
        Options of the function, which must be hashable: give matrices as tuples of tuples.

    Returns
    -------
    ValueWithError
        Arrays of NumPy of shape (B,). NaN where a class is missing from a data set.

    Raises
    ------
    ValueError, TypeError
        If a shape does not fit, a value has no meaning, or an option is not hashable.

    Examples
    --------
    >>> from dmfroc.functional import hand_till
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile(np.arange(60) % 3, (1000, 1))
    >>> scores = rng.normal(size=(1000, 60, 3)) + np.eye(3)[y]
    >>> found = estimate_many(hand_till, y, scores, n_classes=3)
    >>> print(f"{found.value.std():.3f} {found.standard_error.mean():.3f}")
    0.038 0.038
    """
    y, scores = np.asarray(y), np.asarray(scores)
    if y.ndim != 2 or scores.shape[:2] != y.shape or not y.size:
        raise ValueError(
            "y and scores must have shapes (B, n) and (B, n, n_classes), but their shapes are "
            f"{y.shape} and {scores.shape}"
        )
    if not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(f"y must lie between 0 and n_classes - 1 = {n_classes - 1}")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    arrays = [y, scores]
    if weights is not None:
        arrays.append(np.asarray(weights, float))
        if arrays[2].shape != y.shape or not (arrays[2] >= 0).all():
            raise ValueError(f"weights must have shape {y.shape} and be >= 0")
    if batch_size is None:
        batch_size = max(_SCORES_AT_ONCE // scores[0].size, 1)
    batch_size = min(integer("batch_size", batch_size, 1), len(y))
    for name, option in options.items():
        if not isinstance(option, Hashable):
            raise TypeError(
                f"{name} must be hashable, such as a number or a tuple, but it is of type "
                f"{type(option).__name__}"
            )
    program = WithOptions(_estimate, function=function, n_classes=n_classes, **options)
    evaluate = _batches(program, batch_size)
    at_once = batch_size * _BATCHES_PER_TASK

    def run(first: int) -> list[np.ndarray]:
        # Always as many, because XLA compiles for each shape
        rows = np.minimum(np.arange(first, first + at_once), len(y) - 1)
        return [np.asarray(x) for x in evaluate(tuple(x[rows] for x in arrays))]

    parts = parallel_map(run, range(0, len(y), at_once), "data sets")
    values, errors = (np.concatenate(part)[: len(y)] for part in zip(*parts, strict=True))
    return ValueWithError(values, errors)


@functools.cache
def _batches(program: WithOptions, batch_size: int) -> Callable[[Any], Any]:
    return compiled(lambda sets: lax.map(lambda x: program(*x), sets, batch_size=batch_size))
