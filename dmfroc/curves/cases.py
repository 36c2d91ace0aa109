"""Two-class problems within a classification: one class against the rest, or against another."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Literal, Protocol, cast, get_args, overload

import numpy as np
from jaxtyping import Bool, Float

from dmfroc._kit.options import is_one_of
from dmfroc._kit.remarks import warn
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions, as_predictions

MultiClass = Literal["ovr", "ovo"]
Number = float | int | np.number


@dataclass(frozen=True, eq=False)
class Cases:
    """Scored observations of a positive and a negative class.

    Attributes
    ----------
    label : Hashable
        The positive class, or the pair (positive class, negative class).
    is_positive : numpy.ndarray of bool, shape (n,)
        Which observations are of the positive class.
    scores : numpy.ndarray of float64, shape (n,)
        Larger for a more likely positive class.
    weights : numpy.ndarray of float64, shape (n,)
        Weights of the observations, all > 0.
    """

    label: Hashable
    is_positive: Bool[np.ndarray, " n"]
    scores: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, " n"]

    def __post_init__(self) -> None:
        counted = self.weights > 0
        if not counted.all():
            for name in ("is_positive", "scores", "weights"):
                object.__setattr__(self, name, getattr(self, name)[counted])


# Functions of classes and scores


class OfClasses[T](Protocol):
    """Computes something for one class, or by class or pair of classes if ``multi_class`` is given.

    Options that are not named here are those of the function that says what to compute.
    """

    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        multi_class: None = None,
        **options: Any,
    ) -> T: ...
    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: None = None,
        multi_class: MultiClass,
        **options: Any,
    ) -> dict[Hashable, T]: ...


_PARAMETERS = """\
y_true, y_score, labels, sample_weight, pos_label, multi_class
    As for `operating_points`.
"""
_RAISES = """\
Raises
------
TypeError, ValueError
    As for `operating_points`.

"""


def of_classes[T](compute: Callable[..., T]) -> OfClasses[T]:
    """Make a public function of classes and scores of what computes something of `Cases`.

    What all these functions share is added to its signature, and to its docstring if that does not
    say it.
    """

    def of_arrays(
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        multi_class: Any = None,
        **options: Any,
    ) -> Any:
        predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
        return for_each_class(partial(compute, **options), predictions, pos_label, multi_class)

    *shared, _ = inspect.signature(of_arrays).parameters.values()
    _, *own = inspect.signature(compute).parameters.values()
    public = wraps(compute)(of_arrays)
    public.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    public.__doc__ = _completed(inspect.getdoc(compute) or "")
    return cast(OfClasses[T], public)


def _completed(doc: str) -> str:
    if "y_true" not in doc:
        title = "Parameters\n----------\n"
        if title in doc:
            doc = doc.replace(title, title + _PARAMETERS)
        else:
            doc = doc.replace("Returns\n-------", f"{title}{_PARAMETERS}\nReturns\n-------")
    if "Raises\n------" not in doc:
        doc = re.sub(r"(References|Examples)\n-", rf"{_RAISES}\g<0>", doc, count=1)
    return doc


def for_each_class[T](
    compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any, multi_class: Any
) -> T | dict[Hashable, T]:
    """Compute something for one class, or for each class or pair of classes by name."""
    if multi_class is None:
        return one_class(compute, predictions, pos_label)
    if not is_one_of(multi_class, get_args(MultiClass)):
        raise ValueError(f"multi_class must be 'ovr' or 'ovo', but it is {multi_class!r}")
    if pos_label is not None:
        raise ValueError(
            f"pos_label is {pos_label!r} and multi_class {multi_class!r}, but only one of them can "
            "be given: pos_label chooses one class, multi_class asks for all"
        )
    _warn_of_absent_classes(predictions)
    split = _each_against_rest if multi_class == "ovr" else _pairs
    return {cases.label: compute(cases) for cases in split(predictions)}


def one_class[T](compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any) -> T:
    """Compute something for one class against the rest, by default the second of two."""
    return compute(_against_rest(predictions, _positive_class(predictions, pos_label)))


def _positive_class(predictions: Predictions, pos_label: Any) -> int:
    if pos_label is None:
        if predictions.n_classes == 2:
            return 1
        raise ValueError(
            f"there are {predictions.n_classes} classes, {listing(predictions.labels)}: pass "
            "pos_label= to choose the positive one, or multi_class='ovr' or 'ovo' for a dictionary "
            "by class or by pair of classes"
        )
    if not (isinstance(pos_label, Hashable) and pos_label in set(predictions.labels)):
        raise ValueError(
            f"pos_label must be one of the classes {listing(predictions.labels)}, but it is "
            f"{pos_label!r}"
        )
    position = predictions.labels.index(pos_label)
    if position not in predictions.present:
        raise ValueError(
            f"pos_label is {pos_label!r}, a class without observations: no curve can be drawn of it"
        )
    return position


def _each_against_rest(predictions: Predictions) -> Iterator[Cases]:
    for positive in predictions.present:
        yield _against_rest(predictions, int(positive))


def _against_rest(predictions: Predictions, positive: int) -> Cases:
    everybody = np.ones(predictions.n_observations, bool)
    return _cases(predictions, predictions.labels[positive], positive, everybody)


def _pairs(predictions: Predictions) -> Iterator[Cases]:
    for positive in predictions.present:
        for negative in predictions.present:
            if positive != negative:
                pair = (predictions.labels[positive], predictions.labels[negative])
                of_pair = np.isin(predictions.true, [positive, negative])
                yield _cases(predictions, pair, int(positive), of_pair)


def _cases(
    predictions: Predictions, label: Hashable, positive: int, chosen: Bool[np.ndarray, " n"]
) -> Cases:
    return Cases(
        label=label,
        is_positive=predictions.true[chosen] == positive,
        scores=predictions.scores[chosen, positive].astype(np.float64),
        weights=predictions.sample_weight[chosen],
    )


def _warn_of_absent_classes(predictions: Predictions) -> None:
    absent = predictions.absent_labels
    if absent:
        warn([f"no curve is drawn of classes without observations: {listing(absent)}"])
