"""How a function of the confusion matrix becomes a measure of hard labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.options import number
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.cells import Table
from dmfroc.measures.measure import (
    Measure,
    WithOptions,
    classes_message,
    no_hard_labels,
)
from dmfroc.measures.registry import register
from dmfroc.measures.statistics.confusion import (
    ConfusionMatrix,
    confusion_counts,
    label_values,
)

SIGNED = (-1.0, 1.0)
UNIT = (0.0, 1.0)
POSITIVE = (0.0, np.inf)

TableFunction = Callable[..., Float[AnyArray, ""]]
CellsFunction = Callable[..., Float[AnyArray, "*k"]]

TABLE_FUNCTIONS: dict[str, Callable[..., Float[AnyArray, ""] | None]] = {}
"""Every number of a table of any size, by name; None where classes are to be numbers."""

CLASS_FUNCTIONS: dict[str, CellsFunction] = {}
"""Every number of one class against the rest, by name."""


@dataclass(frozen=True)
class _OfTable:
    function: TableFunction

    def __call__(self, matrix: ConfusionMatrix, xp: Any, **options: Any) -> Any:
        return self.function(Table(matrix.cells / matrix.cells.sum(), xp), **options)


@dataclass(frozen=True)
class _OfPositiveClass:
    function: CellsFunction

    def __call__(self, matrix: ConfusionMatrix, xp: Any, **options: Any) -> Any:
        table = Table(matrix.cells / matrix.cells.sum(), xp)
        return self.function(table.positive_class, **options)


def of_table(
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
        name = function.__name__
        for options in variants:
            TABLE_FUNCTIONS["_".join([name, *options.values()])] = partial(function, **options)
        if title is not None:
            _register(name, function, _OfTable(function), title, bounds, variants, attributes)
        return function

    return decorate


def of_each_class(function: CellsFunction) -> CellsFunction:
    """Make a function of the four cells a number of each class of a table."""
    CLASS_FUNCTIONS[function.__name__] = function
    return function


def of_positive_class(
    title: str, bounds: tuple[float, float], **attributes: Any
) -> Callable[[CellsFunction], CellsFunction]:
    """Make a function of the four cells a number of each class, and a measure of two classes."""

    def decorate(function: CellsFunction) -> CellsFunction:
        summary, attributes["obstacle"] = _OfPositiveClass(function), _not_two_classes
        _register(function.__name__, function, summary, title, bounds, ({},), attributes)
        return of_each_class(function)

    return decorate


def _register(
    name: str,
    function: Callable[..., Any],
    summary: Callable[..., Any],
    title: str,
    bounds: tuple[float, float],
    variants: Sequence[Mapping[str, Any]],
    attributes: Mapping[str, Any],
) -> None:
    others: dict[str, Any] = {"obstacle": no_hard_labels, "caveats": (), **attributes}
    range_of_shares = others.pop("range_of_shares", None)

    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    of_numbers = [p.name for p in parameters if isinstance(p.default, float)]

    def make(**options: Any) -> Measure:
        for option in of_numbers:
            if not np.isfinite(number(option, options.get(option, 1.0))):
                raise ValueError(f"{option} must be finite, but it is {options[option]!r}")
        return Measure(
            name=name,
            title=title,
            statistic=confusion_counts,
            summary=WithOptions(summary, tuple(options.items())),
            bounds=bounds,
            range_of_shares=range_of_shares
            and WithOptions(range_of_shares, tuple(options.items())),
            family="contingency",
            needs="labels",
            **others,
        )

    make.__name__, make.__module__, make.__doc__ = name, function.__module__, function.__doc__
    # Its options are those of the function, all but the table
    make.__wrapped__ = partial(function, None)  # type: ignore[attr-defined]
    register(*variants)(make)


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


def values_of(
    counts: Float[np.ndarray, "k k"], labels: Sequence[Hashable]
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Return all numbers of a table by name, and those of each class."""
    table = Table(counts / counts.sum(), np, label_values(labels))
    with np.errstate(all="ignore"):
        found = {name: function(table) for name, function in TABLE_FUNCTIONS.items()}
        values = {name: x for name, x in found.items() if x is not None}
        of_classes = {name: function(table.cells) for name, function in CLASS_FUNCTIONS.items()}
        if len(counts) == 2:
            values |= {name: x[1] for name, x in of_classes.items() if name not in values}
    return {name: float(value) for name, value in values.items()}, of_classes
