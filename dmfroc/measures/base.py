"""What a measure is: a function of observation weights, once it is bound to predictions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jaxtyping import Array, Float

from dmfroc._backend import double_precision
from dmfroc.measures._gradient import value_and_gradient
from dmfroc.predictions import Predictions

_PACKAGE = str(Path(__file__).parents[1])  # warnings blame the first caller outside of it

BoundMeasure = Callable[[Float[Array, " n"]], Float[Array, "*value"]]
"""A differentiable function of the observation weights; a pytree, so that JAX can compile it.

A `Partial` of a function that knows its derivative (`measures/_gradient.py`) gives it by NumPy.
"""


def always(predictions: Predictions) -> bool:
    """Say of any predictions that a measure is defined for them."""
    return True


def has_hard_labels(predictions: Predictions) -> bool:
    """Say whether a class is predicted for each observation."""
    return predictions.predicted is not None


def absent_classes_message(predictions: Predictions) -> str | None:
    """Say which classes have a column but no observation."""
    return classes_message(
        predictions.absent_labels,
        "class has a column but no observation and every pair with it is left out",
        "classes have columns but no observation and every pair with it is left out",
    )


def classes_message(labels: Sequence[Hashable], one: str, several: str) -> str | None:
    """Say something of one or several classes and name them; nothing of none."""
    if not labels:
        return None
    names = ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    return f"{len(labels)} {one if len(labels) == 1 else several}: {names}"


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
    caveats : tuple of callable
        Each says what a reader has to know of a value from these predictions, or returns None: by
        default, which classes are left out because they never occur.
    bind_together : callable, optional
        Binds several measures as one function with a vector of values. Measures that share it
        are evaluated together, which pays where most of their work is the same.
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
    caveats: tuple[Callable[[Predictions], str | None], ...] = (absent_classes_message,)
    bind_together: Callable[[Sequence[Measure], Predictions], BoundMeasure] | None = None


@double_precision
def value_of(measure: Measure, predictions: Predictions) -> float:
    """Return the value of ``measure`` under the observations' own weights."""
    bound = measure.bind(predictions)
    value = float(value_and_gradient(bound, predictions.sample_weight)[0])
    warn([*caveats([measure], predictions), undefined_message({measure.name: value})])
    return value


def caveats(measures: Iterable[Measure], predictions: Predictions) -> list[str]:
    """Return what has to be known of values of the measures, each remark once."""
    distinct = dict.fromkeys(caveat for measure in measures for caveat in measure.caveats)
    remarks = (caveat(predictions) for caveat in distinct)
    return [remark for remark in remarks if remark is not None]


def undefined_message(values: Mapping[str, float]) -> str | None:
    """Say which measures have no finite value."""
    undefined = [f"{name} is {x}" for name, x in values.items() if not math.isfinite(x)]
    if not undefined:
        return None
    return f"no finite value in this sample: {', '.join(undefined)}"


def warn(remarks: Iterable[str | None]) -> None:
    """Warn of each remark; the first caller outside of the package gets the blame."""
    for remark in remarks:
        if remark is not None:
            warnings.warn(remark, UserWarning, skip_file_prefixes=(_PACKAGE,))


def warn_of_absent_classes(predictions: Predictions) -> None:
    """Warn of classes without observations, whose pairs are left out."""
    warn([absent_classes_message(predictions)])
