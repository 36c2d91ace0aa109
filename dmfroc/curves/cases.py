"""Two-class problems within a classification: one class against the rest, or against another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any, Literal, Protocol, cast, get_args, overload

import numpy as np
from jaxtyping import Bool, Float

from dmfroc._kit.options import choice
from dmfroc._kit.remarks import warn
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions, as_predictions
from dmfroc.measures.statistics.forecasts import scores_of_class

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


class ByClass[T](Protocol):
    """Computes something for one class, or by class or pair of classes if ``multi_class`` is given.

    Further options are those of `compute_by_class` and of the function that says what to compute.
    """

    @overload
    def __call__(
        self, y_true: Any, y_score: Any = None, *, multi_class: None = None, **options: Any
    ) -> T: ...
    @overload
    def __call__(
        self, y_true: Any, y_score: Any = None, *, multi_class: MultiClass, **options: Any
    ) -> dict[Hashable, T]: ...


def compute_by_class[T](compute: Callable[..., T]) -> ByClass[T]:
    """Make a public function of classes and scores from a function of `Cases` and its options."""

    def compute_for_classes(
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

    # Not `functools.wraps`: it would show the signature of `compute`
    for attribute in ("__module__", "__name__", "__qualname__"):
        setattr(compute_for_classes, attribute, getattr(compute, attribute))
    compute_for_classes.__doc__ = inspect.getdoc(compute)
    signature = inspect.signature(compute_for_classes)
    *shared, _ = signature.parameters.values()
    _, *own = inspect.signature(compute).parameters.values()
    own = [x.replace(kind=x.KEYWORD_ONLY) for x in own]
    vars(compute_for_classes)["__signature__"] = signature.replace(parameters=[*shared, *own])
    return cast(ByClass[T], compute_for_classes)


def for_each_class[T](
    compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any, multi_class: Any
) -> T | dict[Hashable, T]:
    """Compute something for one class, or for each class or pair of classes by name."""
    if multi_class is None:
        return one_class(compute, predictions, pos_label)
    choice("multi_class", multi_class, get_args(MultiClass))
    if pos_label is not None:
        raise ValueError(
            f"pos_label is {pos_label!r} and multi_class {multi_class!r}, but only one of them can "
            "be given: pos_label chooses one class, multi_class asks for all"
        )
    if absent := predictions.absent_labels:
        warn([f"no curve is drawn of classes without observations: {listing(absent)}"])
    present = predictions.present.tolist()
    pairs = [(k, None) for k in present] if multi_class == "ovr" else permutations(present, 2)
    each = (_select_cases(predictions, *pair) for pair in pairs)
    return {cases.label: compute(cases) for cases in each}


def one_class[T](compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any) -> T:
    """Compute something for one class against the rest, by default the second of two."""
    labels = predictions.labels
    if pos_label is None and len(labels) == 2:
        return compute(_select_cases(predictions, 1))
    if pos_label is None:
        raise ValueError(
            f"there are {len(labels)} classes, {listing(labels)}: pass "
            "pos_label= to choose the positive one, or multi_class='ovr' or 'ovo' for a dictionary "
            "by class or by pair of classes"
        )
    if not predictions.has_class(pos_label):
        raise ValueError(
            f"pos_label must be one of the classes {listing(labels)}, but it is {pos_label!r}"
        )
    position = labels.index(pos_label)
    if position not in predictions.present:
        raise ValueError(
            f"pos_label is {pos_label!r}, a class without observations: no curve can be drawn of it"
        )
    return compute(_select_cases(predictions, position))


def _select_cases(predictions: Predictions, positive: int, negative: int | None = None) -> Cases:
    """Return the cases of one class and of another, or of all others."""
    label, rows = predictions.labels[positive], np.ones(predictions.n_observations, bool)
    if negative is not None:
        label = label, predictions.labels[negative]
        rows = np.isin(predictions.true, [positive, negative])
    return Cases(
        label=label,
        is_positive=predictions.true[rows] == positive,
        scores=scores_of_class(predictions, positive)[rows],
        weights=predictions.sample_weight[rows],
    )
