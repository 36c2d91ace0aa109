"""Each class against all others as a function of the weights: the curves and their mean area.

The columns are sorted once per predictions. All areas share one compiled program: which one is
meant is data to it. A column's area and derivative are found together, so that nothing of one
column has to be kept while the others follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int

from dmfroc._backend import aligned_empty, parallel, share
from dmfroc.measures import _areas
from dmfroc.measures._areas import Area, OperatingPoints, Parameters
from dmfroc.measures._blocks import run_ends
from dmfroc.measures._cumulative import cumulative_sum
from dmfroc.measures._gradient import with_gradient
from dmfroc.measures._hull import hull_vertices
from dmfroc.measures._once import once_per_predictions
from dmfroc.measures.base import BoundMeasure
from dmfroc.predictions import Predictions

_AREAS: tuple[Area, ...] = (
    _areas.linear_area,
    _areas.partial_area,
    _areas.kappa_area,
    _areas.max_informedness,
    _areas.precision_area,
    _areas.precision_recall_gain_area,
)
_HULL_AREAS: tuple[Area, ...] = (_areas.linear_area, _areas.h_measure)


class Columns(NamedTuple):
    """Score columns sorted from high to low, for the class of each column against the rest."""

    rows: Int[Array, "columns n"]  # rank -> observation
    is_positive: Bool[Array, "columns n"]
    above: Int[Array, "columns n_plus_1"]  # point -> number of observations that it counts
    points_from: Int[Array, "columns n"]  # rank -> number of points that count the observation


@once_per_predictions
def sorted_columns(predictions: Predictions) -> Columns:
    """Sort the columns of the classes that occur; of two classes, only that of the second.

    The first of two classes is its complement.
    """
    classes = np.array([1]) if predictions.n_classes == 2 else predictions.present
    n = predictions.n_observations
    rows, points_from = (aligned_empty((len(classes), n), np.int32) for _ in range(2))
    is_positive = aligned_empty((len(classes), n), np.bool_)
    above = aligned_empty((len(classes), n + 1), np.int32)

    def sort_column(column: int) -> None:
        scores = predictions.scores[:, classes[column]]
        order = np.argsort(scores)[::-1]
        scores = scores[order]
        rows[column] = order
        is_positive[column] = predictions.true[order] == classes[column]
        above[column, 0] = 0
        above[column, 1:] = run_ends(scores, np.array([0]))
        points_from[column] = run_ends(scores[::-1], np.array([0]))[::-1]

    parallel(sort_column, range(len(classes)), rows.size)
    return Columns(share(rows), share(is_positive), share(above), share(points_from))


def _operating_points(column: Columns, weights: Float[Array, " n"]) -> OperatingPoints:
    """Return the points of one column; a run of ties has its last one throughout."""
    ordered = weights.at[column.rows].get(mode="promise_in_bounds")
    classes = jnp.stack([column.is_positive, ~column.is_positive])
    sums = cumulative_sum(jnp.where(classes, ordered, 0))
    return OperatingPoints(*sums.at[:, column.above].get(mode="promise_in_bounds"))


def _add_to_weights(
    gradient: Float[Array, " n"], column: Columns, of_points: OperatingPoints
) -> Float[Array, " n"]:
    """Add what the derivatives with respect to the points of a column mean for the weights."""
    from_last = cumulative_sum(jnp.stack(of_points)[:, ::-1])
    counted = from_last.at[:, column.points_from].get(mode="promise_in_bounds")
    of_ranks = jnp.where(column.is_positive, *counted)
    return gradient.at[column.rows].add(of_ranks, mode="promise_in_bounds", unique_indices=True)


def _mean_area_value(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    def of_column(column: Columns) -> Float[Array, ""]:
        return lax.switch(which, _AREAS, _operating_points(column, weights), parameters)

    return lax.map(of_column, columns).mean()


def _mean_area_and_gradient(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    branches = [jax.value_and_grad(area) for area in _AREAS]

    def add_column(gradient: Array, column: Columns) -> tuple[Array, Array]:
        points = _operating_points(column, weights)
        value, of_points = lax.switch(which, branches, points, parameters)
        return _add_to_weights(gradient, column, of_points), value

    gradient, values = lax.scan(add_column, jnp.zeros_like(weights), columns)
    return values.mean(), gradient / len(values)


_mean_area = with_gradient(_mean_area_value, _mean_area_and_gradient)


def _hulls(columns: Columns, weights: Float[Array, " n"]) -> tuple[OperatingPoints, Array]:
    points = lax.map(lambda column: _operating_points(column, weights), columns)
    vertices = hull_vertices(points)
    take = partial(jnp.take_along_axis, indices=vertices, axis=1)
    return OperatingPoints(take(points.tp), take(points.fp)), vertices


def _mean_hull_area_value(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    def of_column(hull: OperatingPoints) -> Float[Array, ""]:
        return lax.switch(which, _HULL_AREAS, hull, parameters)

    return lax.map(of_column, _hulls(columns, weights)[0]).mean()


def _mean_hull_area_and_gradient(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    branches = [jax.value_and_grad(area) for area in _HULL_AREAS]

    def add_column(
        gradient: Array, of_column: tuple[Columns, OperatingPoints, Array]
    ) -> tuple[Array, Array]:
        column, hull, vertices = of_column
        value, of_hull = lax.switch(which, branches, hull, parameters)
        # The choice of the vertices has no derivative: it changes where it does not matter.
        of_points = jnp.zeros((2, len(vertices))).at[:, vertices].add(jnp.stack(of_hull))
        return _add_to_weights(gradient, column, OperatingPoints(*of_points)), value

    of_columns = (columns, *_hulls(columns, weights))
    gradient, values = lax.scan(add_column, jnp.zeros_like(weights), of_columns)
    return values.mean(), gradient / len(values)


_mean_hull_area = with_gradient(_mean_hull_area_value, _mean_hull_area_and_gradient)


def bind_area(predictions: Predictions, area: Area, parameters: tuple[float, ...]) -> BoundMeasure:
    """Bind the mean of an area over the classes, each against all others."""
    return _bind(_mean_area, _AREAS, predictions, area, parameters)


def bind_hull_area(
    predictions: Predictions, area: Area, parameters: tuple[float, ...]
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
