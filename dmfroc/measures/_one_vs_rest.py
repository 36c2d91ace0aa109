"""Each class against all others as a function of the weights: the curves and their mean area.

The columns are sorted once per predictions. All areas share one compiled program: which one is
meant is data to it, and derivatives are taken inside of the chosen branch, so that what the
others would have to store for theirs is never made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int

from dmfroc._backend import aligned_empty, parallel, share
from dmfroc.measures import _areas
from dmfroc.measures._areas import OperatingPoints, Parameters
from dmfroc.measures._blocks import run_ends
from dmfroc.measures._hull import upper_hull
from dmfroc.measures._once import once_per_predictions
from dmfroc.measures.base import BoundMeasure
from dmfroc.predictions import Predictions

Area = Callable[[OperatingPoints, Parameters], Float[Array, ""]]

_AREAS: tuple[Area, ...] = (
    _areas.roc_area,
    _areas.gini,
    _areas.partial_area,
    _areas.kappa_area,
    _areas.max_informedness,
    _areas.average_precision,
    _areas.precision_recall_area,
    _areas.precision_recall_gain_area,
    _areas.lift_area,
)
_HULL_AREAS: tuple[Area, ...] = (_areas.roc_area, _areas.h_measure)


class Columns(NamedTuple):
    """Score columns sorted from high to low, for the class of each column against the rest."""

    rows: Int[Array, "columns n"]  # rank -> observation
    run_last: Int[Array, "columns n"]  # rank -> last rank with the same score
    is_positive: Bool[Array, "columns n"]


@once_per_predictions
def sorted_columns(predictions: Predictions) -> Columns:
    """Sort the columns of the classes that occur; of two classes, only that of the second.

    The first of two classes is its complement.
    """
    classes = np.array([1]) if predictions.n_classes == 2 else predictions.present
    n = predictions.n_observations
    rows = aligned_empty((len(classes), n), np.int32)
    run_last = aligned_empty((len(classes), n), np.int32)
    is_positive = aligned_empty((len(classes), n), np.bool_)

    def sort_column(column: int) -> None:
        scores = predictions.scores[:, classes[column]]
        order = np.argsort(scores)[::-1]
        rows[column] = order
        run_last[column] = run_ends(scores[order], np.array([0])) - 1
        is_positive[column] = predictions.true[order] == classes[column]

    parallel(sort_column, range(len(classes)), rows.size)
    return Columns(share(rows), share(run_last), share(is_positive))


def _operating_points(column: Columns, weights: Float[Array, " n"]) -> OperatingPoints:
    """Return the points of one column; a run of ties has its last one throughout."""
    ordered = weights[column.rows]
    positive = jnp.where(column.is_positive, ordered, 0)
    above = jnp.cumsum(jnp.stack([positive, ordered - positive]), axis=1)
    above = jnp.pad(above[:, column.run_last], ((0, 0), (1, 0)))
    return OperatingPoints(above[0], above[1])


def _area(
    areas: Sequence[Area], which: Int[Array, ""], points: OperatingPoints, parameters: Parameters
) -> Float[Array, ""]:
    """Return one of the areas, the choice of which is not static, with its own derivative."""

    @jax.custom_vjp
    def area(points: OperatingPoints) -> Float[Array, ""]:
        return lax.switch(which, areas, points, parameters)

    def forward(points: OperatingPoints) -> tuple[Float[Array, ""], OperatingPoints]:
        return lax.switch(which, [jax.value_and_grad(a) for a in areas], points, parameters)

    def backward(gradient: OperatingPoints, cotangent: Float[Array, ""]) -> tuple[Any]:
        return (jax.tree.map(lambda leaf: cotangent * leaf, gradient),)

    area.defvjp(forward, backward)
    return area(points)


def _mean_area(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    def of_column(column: Columns) -> Float[Array, ""]:
        return _area(_AREAS, which, _operating_points(column, weights), parameters)

    return lax.map(of_column, columns).mean()


def _mean_hull_area(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    def of_columns(batch: Columns) -> Float[Array, " columns"]:
        points = jax.vmap(_operating_points, (0, None))(batch, weights)
        hulls = upper_hull(points)
        return lax.map(lambda hull: _area(_HULL_AREAS, which, hull, parameters), hulls)

    return of_columns(columns).mean()


def bind_area(
    predictions: Predictions, area: Area, parameters: tuple[float, ...] = (0.5,)
) -> BoundMeasure:
    """Bind the mean of an area over the classes, each against all others."""
    return _bind(_mean_area, _AREAS, predictions, area, parameters)


def bind_hull_area(
    predictions: Predictions, area: Area, parameters: tuple[float, ...] = (0.5,)
) -> BoundMeasure:
    """Bind the mean over the classes of an area under the convex hull of the ROC curve."""
    return _bind(_mean_hull_area, _HULL_AREAS, predictions, area, parameters)


def _bind(
    mean: Callable[..., Float[Array, ""]],
    areas: tuple[Area, ...],
    predictions: Predictions,
    area: Area,
    parameters: tuple[float, ...],
) -> BoundMeasure:
    padded = np.zeros(3)
    padded[: len(parameters)] = parameters
    which = np.array(areas.index(area), np.int32)
    return Partial(mean, sorted_columns(predictions), share(which), share(padded))
