"""How a function of the confusion matrix becomes a measure of hard labels."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, Scalar, divide
from dmfroc._kit.options import listed, number
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.cells import Cells, Proportions, one_vs_rest
from dmfroc.measures.measure import (
    UNIT,
    Measure,
    WithOptions,
    classes_message,
    no_hard_labels,
)
from dmfroc.measures.ranges import RangeOfShares
from dmfroc.measures.registry import register
from dmfroc.measures.statistics.confusion import ConfusionMatrix, confusion_counts

TableFunction = Callable[..., Scalar]
CellsFunction = Callable[..., Float[AnyArray, "*k"]]
Average = Literal["binary", "macro", "weighted", "micro"]
Classes = Sequence[Hashable] | None

TABLE_FUNCTIONS: dict[str, Callable[..., Scalar | None]] = {}
"""Every number of a table of any size, by name; None where classes are to be numbers."""

CLASS_MEANS: dict[str, Callable[..., Scalar]] = {}
"""The listed means over classes of numbers of one class, by name."""

CLASS_FUNCTIONS: dict[str, CellsFunction] = {}
"""Every number of one class against the rest, by name."""


def summarise_table(
    matrix: ConfusionMatrix, xp: Any, function: TableFunction, **options: Any
) -> Any:
    """Return a number of a table, from the weights of its cells."""
    return function(Proportions(matrix.cells / matrix.cells.sum(), xp, matrix.labels), **options)


def of_classes(
    table: Proportions, of: CellsFunction, average: Average, classes: Classes = None, **options: Any
) -> Scalar:
    """Return a number of the positive class, or its mean over classes, each against the rest."""
    if average == "binary":
        return of(table.positive_class, **options)
    cells, xp = table.cells, table.xp
    chosen = np.array([classes is None or label in classes for label in table.labels], float)
    if average == "micro":
        each = cells.tp, cells.fp, cells.fn, cells.tn
        tp, fp, fn, tn = (chosen @ x / chosen.sum() for x in each)
        cells, chosen = Cells(tp, fp, fn, tn, xp), np.ones(())
    values = of(cells, **options)
    weights = chosen * cells.prevalence if average == "weighted" else chosen
    defined = xp.where(xp.isnan(values), 0.0, values)
    return divide((weights * defined).sum(), weights.sum(), xp)


def register_table_number(
    title: str | None = None,
    bounds: tuple[float, float] = UNIT,
    *,
    variants: Sequence[Mapping[str, Any]] = ({},),
    range_of_shares: RangeOfShares | None = None,
    **attributes: Any,
) -> Callable[[TableFunction], TableFunction]:
    """Make a function of the table a number of tables; with a title also a measure.

    Its further parameters are options of the measure; ``variants`` are those under which it is
    listed, the first being the default.
    """

    def decorate(function: TableFunction) -> TableFunction:
        def attributes_of(**options: Any) -> dict[str, Any]:
            summary = WithOptions(summarise_table, function=function, **options)
            shares = range_of_shares and WithOptions(range_of_shares, **options)
            return {**attributes, "summary": summary, "range_of_shares": shares}

        for options in variants:
            name = "_".join([function.__name__, *options.values()])
            TABLE_FUNCTIONS[name] = partial(function, **options)
        if title is not None:
            _register(function, attributes_of, title, bounds, variants)
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
    title: str,
    bounds: tuple[float, float],
    *,
    averages: Sequence[Average] = (),
    range_of_shares: RangeOfShares | None = None,
    chance: float = math.nan,
    **attributes: Any,
) -> Callable[[CellsFunction], CellsFunction]:
    """Make a function of the four cells a number of each class, and a measure of two classes.

    It is also a mean over any number of classes; ``averages`` are the means that are listed.
    """

    def decorate(function: CellsFunction) -> CellsFunction:
        def attributes_of(average: Average, classes: Any, **options: Any) -> dict[str, Any]:
            if classes is not None and average == "binary":
                raise ValueError("classes are those of a mean: say which, as average='macro'")
            chosen = None if classes is None else tuple(listed("classes", classes))
            of: Any = {"of": function, "average": average, "classes": chosen}
            own: Any = {
                "summary": WithOptions(summarise_table, function=of_classes, **of, **options),
                "obstacle": WithOptions(_no_classes, average=average, classes=chosen),
                "chance": math.nan if average == "micro" else chance,
            }
            if average == "binary":
                own["range_of_shares"] = range_of_shares
            if average == "macro":
                own["caveats"] = (WithOptions(as_zero, title=title, **of, **options),)
            return attributes | own

        for average in averages:
            mean = partial(of_classes, of=function, average=average)
            CLASS_MEANS[f"{function.__name__}_{average}"] = mean
        variants = ({}, *({"average": x} for x in averages))
        _register(function, attributes_of, title, bounds, variants, _mean_over_classes)
        return register_class_number(function)

    return decorate


def _mean_over_classes(average: Average = "binary", classes: Classes = None) -> None:
    """Have the options that all measures of a class have.

    Parameters
    ----------
    average : {"binary", "macro", "weighted", "micro"}
        Of two classes the second one, the default, or a mean over classes, each against the rest:
        even, by how often the classes occur, or that of the sums of their cells. Where a class has
        no value (0 / 0), it counts as 0 in a mean, as in scikit-learn, with a warning if it is
        even.
    classes : sequence of labels, optional
        The classes of the mean, such as all but the background; by default all.
    """


def _register(
    function: Callable[..., Any],
    attributes_of: Callable[..., dict[str, Any]],
    title: str,
    bounds: tuple[float, float],
    variants: Sequence[Mapping[str, Any]],
    *others: Callable[..., None],
) -> None:
    """Register a measure with the options of the function, and those of others."""
    signature = inspect.signature(function, eval_str=True)
    _, *parameters = signature.parameters.values()  # all but the table are options
    numeric = [p.name for p in parameters if isinstance(p.default, float)]
    documented = [inspect.getdoc(function) or ""]
    for other in others:
        parameters += inspect.signature(other, eval_str=True).parameters.values()
        documented += (inspect.getdoc(other) or "").split("\n\n")[1:]

    def make(**options: Any) -> Measure:
        for option in numeric:
            if not np.isfinite(number(option, options.get(option, 1.0))):
                raise ValueError(f"{option} must be finite, but it is {options[option]!r}")
        attributes = {"caveats": (), "undefined": _empty_places, **attributes_of(**options)}
        return Measure(
            name=function.__name__,
            title=title,
            statistic=confusion_counts,
            bounds=bounds,
            family="contingency",
            needs="labels",
            **attributes,
        )

    make.__name__, make.__module__ = function.__name__, function.__module__
    make.__doc__ = "\n\n".join(documented)
    shown = signature.replace(parameters=parameters, return_annotation=Measure)
    vars(make)["__signature__"] = shown
    made = register(*variants)(make)  # found in the package, as the module has the function
    made.__module__, made.__qualname__ = "dmfroc.measures", function.__name__


def _no_classes(predictions: Predictions, *, average: Average, classes: Classes) -> str | None:
    if average == "binary" and predictions.n_classes > 2:
        return (
            f"is a measure of two classes, and there are {predictions.n_classes}: name one, such "
            f"as pos_label={predictions.labels[-1]!r}, for that class against the rest, several "
            "in a list, or a mean over classes, such as 'precision_macro'"
        )
    if unknown := [x for x in classes or () if not predictions.has_class(x)]:
        labels = listing(predictions.labels)
        return f"has classes={[*(classes or ())]}, but {unknown[0]!r} is none of {labels}"
    return no_hard_labels(predictions)


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
    matrix = confusion_counts(predictions).count(predictions.sample_weight, np).cells
    never = np.flatnonzero(matrix.sum(axis=1) == 0)
    return never_predicted_message([predictions.labels[k] for k in never])


def as_zero(
    predictions: Predictions,
    *,
    title: str,
    of: CellsFunction,
    average: Average = "macro",
    classes: Classes = None,
    **options: Any,
) -> str | None:
    """Say which classes have no value, and count as 0 in a mean."""
    matrix = confusion_counts(predictions).count(predictions.sample_weight, np).cells
    is_undefined = np.isnan(of(one_vs_rest(matrix, np), **options))
    undefined = [predictions.labels[k] for k in np.flatnonzero(is_undefined)]
    return classes_message(
        [label for label in undefined if classes is None or label in classes],
        f"class has no {title} (0 / 0), which counts as 0 in the mean",
        f"classes have no {title} (0 / 0), which counts as 0 in the mean",
    )


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
    table = Proportions(counts / counts.sum(), np, tuple(labels))
    functions: dict[str, Callable[..., Scalar | None]] = {**TABLE_FUNCTIONS, **CLASS_MEANS}
    with np.errstate(all="ignore"):
        values = {name: function(table) for name, function in functions.items()}
        by_class = {name: function(table.cells) for name, function in CLASS_FUNCTIONS.items()}
    if len(counts) == 2:
        values |= {name: x[1] for name, x in by_class.items() if name not in values}
    return {name: float(x) for name, x in values.items() if x is not None}, by_class
