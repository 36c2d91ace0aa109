"""Agreement of ratings on an ordered scale: kappa that counts how far apart two ratings are."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from dmfroc._kit.arrays import Scalar
from dmfroc._kit.options import is_one_of, numbers
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import table as _table  # noqa: F401  # whose measures are listed first
from dmfroc.measures.cells import Proportions, corrected_for_chance
from dmfroc.measures.hard_labels import TABLE_FUNCTIONS, summarise_table
from dmfroc.measures.measure import (
    SIGNED,
    Measure,
    WithOptions,
    alphabetical_message,
    no_hard_labels,
)
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.confusion import confusion_counts, label_values

Growth = Literal["quadratic", "linear"]
Distance = Literal["positions", "values"]
_GROWTHS, _DISTANCES = get_args(Growth), get_args(Distance)
_EVEN = 1e-9  # relative difference of gaps that are taken for equal

type _Costs = tuple[tuple[float, ...], ...]


def _checked(weights: Any) -> _Costs:
    matrix = numbers("weights", weights)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"weights must be a square matrix, but its shape is {matrix.shape}")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and matrix.any()):
        raise ValueError("weights must be finite costs >= 0, and some of them positive")
    if np.diag(matrix).any():
        remedy = "for weights of agreement pass 1 - weights" if np.diag(matrix).all() else "set it"
        raise ValueError(f"weights must have zeros on the diagonal, where both agree: {remedy}")
    return tuple(map(tuple, matrix.tolist()))


def _kappa(table: Proportions, weights: _Costs | Growth, by: Distance) -> Scalar | None:
    """Return weighted kappa; None if classes are to be numbers but are none."""
    if isinstance(weights, str):
        values = label_values(table.labels) if by == "values" else range(len(table.labels))
        if len(values) == 0:
            return None
        places = np.array(values, float)
        distances = np.abs(places[:, None] - places) / (np.ptp(places) or 1.0)
        costs = distances**2 if weights == "quadratic" else distances
    else:
        costs = np.array(weights).T  # predicted classes are in the rows of the table
    error = (costs * table.proportions).sum()
    margins = table.cells.bias[:, None] * table.cells.prevalence
    return corrected_for_chance(error, (costs * margins).sum(), table.xp)


def _obstacle(predictions: Predictions, *, costs: _Costs | None, by: Distance) -> str | None:
    if costs is not None and len(costs) != predictions.n_classes:
        return f"has weights for {len(costs)} classes, but there are {predictions.n_classes}"
    if by == "values" and not label_values(predictions.labels):
        return "needs classes that are numbers: leave by='values' out, to count positions"
    return no_hard_labels(predictions)


def _uneven_gaps(predictions: Predictions) -> str | None:
    gaps = np.diff(label_values(predictions.labels))
    if len(gaps) == 0 or np.ptp(gaps) <= _EVEN * np.abs(gaps).max():
        return None
    return (
        f"The classes {list(predictions.labels)} have uneven gaps, but weighted kappa counts each "
        "gap as 1. weighted_kappa_values counts the distances of the values."
    )


@also_called("quadratic_weighted_kappa, qwk, quadratic_kappa, kappa_quadratic")
@also_called("linear_weighted_kappa, linear_kappa, kappa_linear", of="weighted_kappa_linear")
@register({}, {"weights": "linear"}, {"by": "values"}, {"weights": "linear", "by": "values"})
def weighted_kappa(weights: Any = "quadratic", by: Distance = "positions") -> Measure:
    """Return Cohen's weighted kappa: agreement on an ordered scale, corrected for chance.

    Parameters
    ----------
    weights : {"quadratic", "linear"} or array-like of shape (K, K)
        How much a disagreement counts: the squared distance of the two classes, or the distance.
        Or a matrix of what each disagreement costs, in the order of the labels, observed classes
        in the rows, predicted in the columns, and 0 on the diagonal.
    by : {"positions", "values"}
        Whether the distance of two classes is that of their positions in the order of the labels,
        or that of their values, if they are numbers. Classes 1, 2 and 4 differ in this.

    Returns
    -------
    Measure
        In [-1, 1], or with a matrix at most 1; 0 for guessing, 1 for perfect agreement. By
        positions it is scikit-learn's ``cohen_kappa_score``. A warning says so if classes that are
        numbers have uneven gaps and positions are counted, or if text is in alphabetical order.

    Raises
    ------
    TypeError, ValueError
        If the weights are neither of the two words nor a square matrix of finite costs >= 0 with
        zeros on the diagonal. Bound to predictions of another number of classes, or by values to
        classes that are no numbers.

    References
    ----------
    Cohen (1968), Weighted kappa: nominal scale agreement with provision for scaled disagreement or
    partial credit.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(weighted_kappa(by="values")(first, y_pred=second), 6)
    0.806452
    """
    costs = None if isinstance(weights, str) else _checked(weights)
    if costs is None and not is_one_of(weights, _GROWTHS):
        raise ValueError(
            f"weights must be one of {_GROWTHS} or a matrix of costs, but it is {weights!r}"
        )
    name, title = "weighted_kappa", f"Weighted kappa, {'own weights' if costs else weights}"
    if costs:
        name += "(weights=...)"
    elif weights == "linear":
        name += "_linear"
    if by == "values":
        if costs:
            raise ValueError(
                "by='values' is about distances, but weights is a matrix: leave by out"
            )
        name, title = f"{name}_values", f"{title}, by values"
    return Measure(
        name=name,
        title=title,
        statistic=confusion_counts,
        summary=WithOptions(summarise_table, function=_kappa, weights=costs or weights, by=by),
        bounds=(-math.inf, 1.0) if costs else SIGNED,
        chance=0.0,
        family="contingency",
        needs="labels",
        obstacle=WithOptions(_obstacle, costs=costs, by=by),
        in_given_order=costs is not None,
        caveats=(_uneven_gaps, WithOptions(alphabetical_message, "Weighted kappa"))
        if by == "positions" and not costs
        else (),
    )


for _weights, _by in itertools.product(_GROWTHS, _DISTANCES):
    _name = weighted_kappa(_weights, _by).name
    TABLE_FUNCTIONS[_name] = partial(_kappa, weights=_weights, by=_by)
