"""Each class against all others as a function of the weights: the curves and their mean area.

The columns are sorted once per predictions. All areas share one compiled program: which one is
meant is data to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int

from dmfroc._backend import AnyArray, aligned_empty, parallel, share
from dmfroc._roc_points import upper_hull
from dmfroc.measures import _areas
from dmfroc.measures._areas import Area, OperatingPoints, Parameters
from dmfroc.measures._blocks import run_ends
from dmfroc.measures._cumulative import cumulative_sum
from dmfroc.measures._gradient import WithGradient
from dmfroc.measures._h_measure import h_measure
from dmfroc.measures._hull import hull_vertices
from dmfroc.measures._once import once_per_predictions
from dmfroc.measures.base import BoundMeasure
from dmfroc.predictions import Predictions

_POINTS_AT_ONCE = 1 << 17  # what a processor's cache holds

_AREAS: tuple[Area, ...] = (
    _areas.linear_area,
    _areas.partial_area,
    _areas.kappa_area,
    _areas.interpolated_kappa_area,
    _areas.max_informedness,
    _areas.precision_recall_area,
    _areas.average_precision,
    _areas.precision_recall_gain_area,
)
_HULL_AREAS: tuple[Area, ...] = (_areas.linear_area, h_measure)


class Columns(NamedTuple):
    """Score columns sorted from high to low, for the class of each column against the rest."""

    rows: Int[AnyArray, "columns n"]  # rank -> observation
    is_positive: Bool[AnyArray, "columns n"]
    above: Int[AnyArray, "columns n_plus_1"]  # point -> number of observations that it counts


@once_per_predictions
def sorted_columns(predictions: Predictions) -> Columns:
    """Sort the columns of the classes that occur; of two classes, only that of the second.

    The first of two classes is its complement.
    """
    classes = np.array([1]) if predictions.n_classes == 2 else predictions.present
    n = predictions.n_observations
    rows = aligned_empty((len(classes), n), np.int32)
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

    parallel(sort_column, range(len(classes)), rows.size)
    return Columns(share(rows), share(is_positive), share(above))


def _operating_points(column: Columns, weights: Float[Array, " n"]) -> OperatingPoints:
    """Return the points of one column; a run of ties has its last one throughout."""
    ordered = weights.at[column.rows].get(mode="promise_in_bounds")
    classes = jnp.stack([column.is_positive, ~column.is_positive])
    sums = cumulative_sum(jnp.where(classes, ordered, 0))
    return OperatingPoints(*sums.at[:, column.above].get(mode="promise_in_bounds"))


def _mean_area(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    def of_column(column: Columns) -> Float[Array, ""]:
        return lax.switch(which, _AREAS, _operating_points(column, weights), parameters)

    return lax.map(of_column, columns).mean()


def _mean_hull_area(
    columns: Columns, which: Int[Array, ""], parameters: Parameters, weights: Float[Array, " n"]
) -> Float[Array, ""]:
    points = lax.map(lambda column: _operating_points(column, weights), columns)
    # The choice of the vertices has no derivative: it changes where it does not matter.
    vertices = hull_vertices(lax.stop_gradient(points))
    hulls = OperatingPoints(*(jnp.take_along_axis(x, vertices, axis=1) for x in points))

    def of_column(hull: OperatingPoints) -> Float[Array, ""]:
        return lax.switch(which, _HULL_AREAS, hull, parameters)

    return lax.map(of_column, hulls).mean()


# The same with derivatives, by NumPy

type _ValuesAndGradient = tuple[Float[np.ndarray, " columns"], OperatingPoints]


def _mean_and_gradient(
    of_curves: Callable[[OperatingPoints], _ValuesAndGradient],
    columns: Columns,
    weights: Float[np.ndarray, " n"],
) -> tuple[float, Float[np.ndarray, " n"]]:
    """Return the mean over the columns of a function of their curves, and its derivative."""
    gradient, values, is_counted = np.zeros_like(weights), [], (weights == 1).all()
    at_once = max(_POINTS_AT_ONCE // len(weights), 1)
    for first in range(0, len(columns.rows), at_once):
        rows, is_positive, above = (np.asarray(x[first : first + at_once]) for x in columns)
        of_positives = is_positive if is_counted else np.where(is_positive, weights[rows], 0)
        of_negatives = ~is_positive if is_counted else np.where(is_positive, 0, weights[rows])
        points = OperatingPoints(
            *(
                np.take_along_axis(cumulative_sum(of_class), above, axis=1)
                for of_class in (of_positives, of_negatives)
            )
        )
        of_columns, of_points = of_curves(points)
        of_ranks = np.where(is_positive, *(_of_ranks(np.asarray(x), above) for x in of_points))
        gradient += np.bincount(rows.ravel(), of_ranks.ravel(), len(weights))
        values.append(of_columns)
    mean = np.concatenate(values).mean()
    return float(mean), gradient / len(columns.rows)


def _of_ranks(
    of_points: Float[np.ndarray, "columns points"], above: Int[np.ndarray, "columns points"]
) -> Float[np.ndarray, "columns n"]:
    """Add up, for each rank, the derivatives with respect to the points that count it."""
    from_each = np.cumsum(of_points[:, :0:-1], axis=1)[:, ::-1]
    ranks = np.arange(from_each.shape[1])
    is_first = above[:, :-1] == ranks  # of its run of ties, which all points of the run count
    if is_first.all():
        return from_each
    first = np.maximum.accumulate(np.where(is_first, ranks, 0), axis=1)
    return np.take_along_axis(from_each, first, axis=1)


def _mean_area_and_gradient(
    columns: Columns, which: Int[np.ndarray, ""], parameters: Parameters, weights: np.ndarray
) -> tuple[float, Float[np.ndarray, " n"]]:
    area = _AREAS[int(which)]
    return _mean_and_gradient(
        lambda points: area.value_and_gradient(points, parameters), columns, weights
    )


def _mean_hull_area_and_gradient(
    columns: Columns, which: Int[np.ndarray, ""], parameters: Parameters, weights: np.ndarray
) -> tuple[float, Float[np.ndarray, " n"]]:
    area = _HULL_AREAS[int(which)]

    def of_curves(points: OperatingPoints) -> _ValuesAndGradient:
        values, of_points = [], OperatingPoints(*(np.zeros_like(x) for x in points))
        for tp, fp, *of_curve in zip(*points, *of_points, strict=True):
            distinct = np.flatnonzero((np.diff(tp, prepend=-1) > 0) | (np.diff(fp, prepend=-1) > 0))
            vertices = distinct[upper_hull(fp[distinct], tp[distinct])]
            value, of_hull = area.value_and_gradient(
                OperatingPoints(tp[vertices], fp[vertices]), parameters
            )
            values.append(value)
            for x, of_x in zip(of_curve, of_hull, strict=True):
                x[vertices] = of_x
        return np.array(values), of_points

    return _mean_and_gradient(of_curves, columns, weights)


_MEAN_AREA = WithGradient(_mean_area, _mean_area_and_gradient)
_MEAN_HULL_AREA = WithGradient(_mean_hull_area, _mean_hull_area_and_gradient)


def bind_area(
    predictions: Predictions, area: Area, parameters: tuple[float, ...] = ()
) -> BoundMeasure:
    """Bind the mean of an area over the classes, each against all others."""
    return _bind(_MEAN_AREA, _AREAS, predictions, area, parameters)


def bind_hull_area(
    predictions: Predictions, area: Area, parameters: tuple[float, ...]
) -> BoundMeasure:
    """Bind the mean over the classes of an area under the convex hull of the ROC curve."""
    return _bind(_MEAN_HULL_AREA, _HULL_AREAS, predictions, area, parameters)


def _bind(
    mean: WithGradient[...],
    areas: tuple[Area, ...],
    predictions: Predictions,
    area: Area,
    parameters: tuple[float, ...],
) -> BoundMeasure:
    padded = np.zeros(3)
    padded[: len(parameters)] = parameters
    which = np.array(areas.index(area), np.int32)
    return Partial(mean, sorted_columns(predictions), share(which), share(padded))
