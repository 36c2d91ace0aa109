"""What a measure is: a function of observation weights, once it is bound to predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
from jaxtyping import Array, Float

from dmfroc._backend import double_precision, share
from dmfroc.predictions import Predictions

_PACKAGE = str(Path(__file__).parents[1])  # warnings blame the first caller outside of it

BoundMeasure = Callable[[Float[Array, " n"]], Float[Array, "*value"]]
"""A differentiable function of the observation weights; a pytree, so that JAX can compile it."""


def always(predictions: Predictions) -> bool:
    """Say of any predictions that a measure is defined for them."""
    return True


def has_hard_labels(predictions: Predictions) -> bool:
    """Say whether a class is predicted for each observation."""
    return predictions.predicted is not None


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
        The smallest and the largest value, infinite where there is none. They decide on which
        scale an interval is symmetric: logit, logarithm, or the measure's own.
    chance : float
        The value of a classifier that knows nothing; NaN if it depends on the sample.
    family : str
        The heading under which tables list it.
    needs : {"scores", "labels", "probabilities"}
        What it is computed from: any real scores, hard labels, or scores that are probabilities.
    greater_is_better : bool
        False for errors, distances and costs.
    is_smooth : bool
        Whether the derivative with respect to the weights exists, on which the jackknife rests;
        maxima and hulls have kinks, and get their intervals from the bootstrap.
    applies_to : callable
        Whether it is defined for given predictions; those asked for by name are bound all the
        same, and say why not.
    """

    name: str
    title: str
    bind: Callable[[Predictions], BoundMeasure]
    bounds: tuple[float, float]
    chance: float
    family: str
    needs: Literal["scores", "labels", "probabilities"] = "scores"
    greater_is_better: bool = True
    is_smooth: bool = True
    applies_to: Callable[[Predictions], bool] = always


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
        warnings.warn(message, UserWarning, skip_file_prefixes=(_PACKAGE,))
