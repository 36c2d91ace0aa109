"""What a measure is: a function of observation weights, once it is bound to predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import jax
from jaxtyping import Array, Float

from dmfroc._backend import double_precision, share
from dmfroc.predictions import Predictions

BoundMeasure = Callable[[Float[Array, " n"]], Float[Array, "*value"]]
"""A differentiable function of the observation weights; a pytree, so that JAX can compile it."""


@dataclass(frozen=True)
class Measure:
    """A performance measure, ready to be bound to predictions.

    Attributes
    ----------
    name : str
        The name by which `dmfroc.estimate` and the command line know it.
    title : str
        The name in tables and legends.
    bind : callable
        Sorts and selects once, then returns the measure as a function of the weights: shape
        (n,), non-negative, in the order of the observations.
    bounds : tuple of float
        The smallest and the largest value.
    chance : float
        The value of a classifier that knows nothing.
    """

    name: str
    title: str
    bind: Callable[[Predictions], BoundMeasure]
    bounds: tuple[float, float]
    chance: float


@double_precision
def value_of(measure: Measure, predictions: Predictions) -> float:
    """Return the value of ``measure`` under the observations' own weights."""
    warn_of_absent_classes(predictions)
    bound = measure.bind(predictions)
    return float(_evaluate(bound, share(predictions.sample_weight)))


@jax.jit
def _evaluate(bound: BoundMeasure, weights: Float[Array, " n"]) -> Float[Array, ""]:
    return bound(weights)


def absent_classes_message(predictions: Predictions) -> str | None:
    """Say which classes have a column but no observation."""
    absent = predictions.absent_labels
    if not absent:
        return None
    names = ", ".join(repr(label) for label in absent[:5]) + (", ..." if len(absent) > 5 else "")
    noun = "class has a column" if len(absent) == 1 else "classes have columns"
    return f"{len(absent)} {noun} but no observation and every pair with it is left out: {names}"


def warn_of_absent_classes(predictions: Predictions) -> None:
    """Warn, once per call of the public function, of classes without observations."""
    message = absent_classes_message(predictions)
    if message is not None:
        warnings.warn(message, UserWarning, stacklevel=_user_frame())


def _user_frame() -> int:
    """Return the stack level of the first caller outside the package."""
    import sys

    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dmfroc"):
        level, frame = level + 1, frame.f_back
    return level
