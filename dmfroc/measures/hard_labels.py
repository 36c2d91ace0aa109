"""How a function of the confusion matrix becomes a measure of hard labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, Scalar
from dmfroc._kit.options import number
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.cells import Proportions
from dmfroc.measures.measure import (
    UNIT,
    Caveat,
    Measure,
    WithOptions,
    classes_message,
    no_hard_labels,
)
from dmfroc.measures.ranges import RangeOfShares
from dmfroc.measures.registry import register
from dmfroc.measures.statistics.confusion import ConfusionMatrix, confusion_counts, label_values

TableFunction = Callable[..., Scalar]
CellsFunction = Callable[..., Float[AnyArray, "*k"]]

TABLE_FUNCTIONS: dict[str, Callable[..., Scalar | None]] = {}
"""Every number of a table of any size, by name; None where classes are to be numbers."""

CLASS_FUNCTIONS: dict[str, CellsFunction] = {}
"""Every number of one class against the rest, by name."""


def summarise_table(
    matrix: ConfusionMatrix, xp: Any, function: TableFunction, **options: Any
) -> Any:
    """Return a number of a table, from the weights of its cells."""
    return function(Proportions(matrix.cells / matrix.cells.sum(), xp, matrix.values), **options)


def _summarise_positive_class(
    matrix: ConfusionMatrix, xp: Any, function: CellsFunction, **options: Any
) -> Any:
    return function(Proportions(matrix.cells / matrix.cells.sum(), xp).positive_class, **options)


def register_table_number(
    title: str | None = None,
    bounds: tuple[float, float] = UNIT,
    *,
    variants: Sequence[Mapping[str, Any]] = ({},),
    **attributes: Any,
) -> Callable[[TableFunction], TableFunction]:
    """Make a function of the table a number of tables; with a title also a measure.

    Its further parameters are options of the measure; ``variants`` are those under which it is
    listed, the first being the default.
    """

    def decorate(function: TableFunction) -> TableFunction:
        for options in variants:
            name = "_".join([function.__name__, *options.values()])
            TABLE_FUNCTIONS[name] = partial(function, **options)
        if title is not None:
            _register(function, summarise_table, title, bounds, variants, **attributes)
        return function

    return decorate


def register_class_number(function: CellsFunction) -> CellsFunction:
    """Make a function of the four cells a number of each class of a table."""
    CLASS_FUNCTIONS[function.__name__] = function
    return function


def register_properties(*names: str) -> None:
    """Make properties of the four cells numbers of each class of a table."""
    CLASS_FUNCTIONS.update({name: attrgetter(name) for name in names})


def register_class_measure(
    title: str, bounds: tuple[float, float], **attributes: Any
) -> Callable[[CellsFunction], CellsFunction]:
    """Make a function of the four cells a number of each class, and a measure of two classes."""

    def decorate(function: CellsFunction) -> CellsFunction:
        attributes["obstacle"] = _not_two_classes
        _register(function, _summarise_positive_class, title, bounds, ({},), **attributes)
        return register_class_number(function)

    return decorate


def _register(
    function: Callable[..., Any],
    summarise: Callable[..., Any],
    title: str,
    bounds: tuple[float, float],
    variants: Sequence[Mapping[str, Any]],
    *,
    caveats: tuple[Caveat, ...] = (),
    undefined: Caveat | None = None,
    range_of_shares: RangeOfShares | None = None,
    **attributes: Any,
) -> None:
    signature = inspect.signature(function, eval_str=True)
    _, *parameters = signature.parameters.values()  # all but the table are options
    numeric = [p.name for p in parameters if isinstance(p.default, float)]

    def make(**options: Any) -> Measure:
        for option in numeric:
            if not np.isfinite(number(option, options.get(option, 1.0))):
                raise ValueError(f"{option} must be finite, but it is {options[option]!r}")
        return Measure(
            name=function.__name__,
            title=title,
            statistic=confusion_counts,
            summary=WithOptions(summarise, function=function, **options),
            bounds=bounds,
            range_of_shares=range_of_shares and WithOptions(range_of_shares, **options),
            family="contingency",
            needs="labels",
            caveats=caveats,
            undefined=undefined or _empty_places,
            **attributes,
        )

    for attribute in ("__name__", "__module__", "__doc__"):
        setattr(make, attribute, getattr(function, attribute))
    shown = signature.replace(parameters=parameters, return_annotation=Measure)
    vars(make)["__signature__"] = shown
    made = register(*variants)(make)  # found in the package, as the module has the function
    made.__module__, made.__qualname__ = "dmfroc.measures", function.__name__


def _not_two_classes(predictions: Predictions) -> str | None:
    if predictions.n_classes == 2:
        return no_hard_labels(predictions)
    return (
        f"is a measure of two classes, and there are {predictions.n_classes}: "
        "ContingencyTable.per_class gives it for each class against the rest; means over the "
        "classes are macro_f1, weighted_f1 and balanced_accuracy"
    )


# Conventions for empty margins


def never_observed_message(labels: Sequence[Hashable]) -> str | None:
    """Say by which convention classes that never occur enter informedness."""
    return classes_message(
        labels,
        "class never occurs and its informedness counts as 0",
        "classes never occur and their informedness counts as 0",
    )


def never_predicted_message(labels: Sequence[Hashable]) -> str | None:
    """Say by which convention classes that are never predicted enter markedness."""
    return classes_message(
        labels,
        "class is never predicted and its markedness counts as 0",
        "classes are never predicted and their markedness counts as 0",
    )


def never_observed(predictions: Predictions) -> str | None:
    """Say so of classes that never occur."""
    return never_observed_message(predictions.absent_labels)


def never_recalled(predictions: Predictions) -> str | None:
    """Say by which convention classes that never occur enter a mean of recalls."""
    return classes_message(
        predictions.absent_labels,
        "class never occurs and is left out of the mean recall",
        "classes never occur and are left out of the mean recall",
    )


def never_predicted(predictions: Predictions) -> str | None:
    """Say so of classes that are never predicted."""
    return never_predicted_message(_not_predicted(predictions))


def unused(predictions: Predictions) -> str | None:
    """Say by which convention classes that neither occur nor are predicted enter a mean of F1."""
    absent = predictions.absent_labels
    return classes_message(
        [label for label in _not_predicted(predictions) if label in absent],
        "class is neither observed nor predicted and its F1 counts as 0",
        "classes are neither observed nor predicted and their F1 counts as 0",
    )


def _not_predicted(predictions: Predictions) -> list[Hashable]:
    matrix = confusion_counts(predictions).count(predictions.sample_weight, np).cells
    return [predictions.labels[k] for k in np.flatnonzero(matrix.sum(axis=1) == 0)]


def _empty_places(predictions: Predictions) -> str | None:
    """Say which margins of the table are empty, or else which cells, as divisors may be."""
    cells = confusion_counts(predictions).count(predictions.sample_weight, np).cells
    labels = predictions.labels
    margins = {"predicted": cells.sum(axis=1), "observed": cells.sum(axis=0)}
    empty = [
        f"class {labels[k]!r} is never {what}"
        for what, margin in margins.items()
        for k in np.flatnonzero(margin == 0)
    ]
    empty += [
        f"no row of class {labels[observed]!r} is predicted as {labels[predicted]!r}"
        for predicted, observed in np.argwhere(cells == 0)
        if not empty
    ]
    return " and ".join(empty) or None


def table_values(
    counts: Float[np.ndarray, "k k"], labels: Sequence[Hashable]
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Return all numbers of a table by name, and those of each class."""
    table = Proportions(counts / counts.sum(), np, label_values(labels))
    with np.errstate(all="ignore"):
        values = {name: function(table) for name, function in TABLE_FUNCTIONS.items()}
        by_class = {name: function(table.cells) for name, function in CLASS_FUNCTIONS.items()}
    if len(counts) == 2:
        values |= {name: x[1] for name, x in by_class.items() if name not in values}
    return {name: float(x) for name, x in values.items() if x is not None}, by_class
