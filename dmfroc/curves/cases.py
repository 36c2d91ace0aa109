"""Two-class problems within a classification: one class against the rest, or against another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float

from dmfroc._inputs.messages import listing
from dmfroc.predictions import Predictions, as_predictions

MultiClass = Literal["ovr", "ovo"]
Number = float | int | np.number

_PACKAGE = str(Path(__file__).parents[1])  # warnings blame the first caller outside of it


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


def for_each_class[T](
    compute: Callable[[Cases], T],
    y_true: Any,
    y_score: Any,
    labels: Any,
    sample_weight: Any,
    pos_label: Any,
    multi_class: MultiClass,
) -> T | dict[Hashable, T]:
    """Compute something for the positive class, or for each class or pair of classes by name."""
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    if multi_class not in get_args(MultiClass):
        raise ValueError(f"multi_class must be 'ovr' or 'ovo', but it is {multi_class!r}")
    if pos_label is not None:
        return compute(_against_rest(predictions, _position(predictions, pos_label)))
    if predictions.n_classes == 2:
        return compute(_against_rest(predictions, 1))
    _warn_of_absent_classes(predictions)
    split = _each_against_rest if multi_class == "ovr" else _pairs
    return {cases.label: compute(cases) for cases in split(predictions)}


def _position(predictions: Predictions, pos_label: Any) -> int:
    if pos_label not in predictions.labels:
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
    chosen = chosen & (predictions.sample_weight > 0)
    return Cases(
        label=label,
        is_positive=predictions.true[chosen] == positive,
        scores=predictions.scores[chosen, positive].astype(np.float64),
        weights=predictions.sample_weight[chosen],
    )


def _warn_of_absent_classes(predictions: Predictions) -> None:
    absent = predictions.absent_labels
    if absent:
        warnings.warn(
            f"no curve is drawn of classes without observations: {listing(absent)}",
            UserWarning,
            skip_file_prefixes=(_PACKAGE,),
        )
