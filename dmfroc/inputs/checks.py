"""The whole check: from what was given or read to the fields of `Predictions`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import read_only
from dmfroc.inputs.labels import Factor, Label, encode, factorize, label_order, union
from dmfroc.inputs.messages import IN_MEMORY, Source, check_length
from dmfroc.inputs.rows import Rows, row_index
from dmfroc.inputs.scores import Floats, class_scores
from dmfroc.inputs.weights import check_weights


class Inputs(NamedTuple):
    """What is to be checked, and where it is."""

    y_true: Any
    y_score: Any
    labels: Any
    sample_weight: Any
    y_pred: Any
    source: Source = IN_MEMORY
    copy: bool = True  # scores that need no conversion


class Checked(NamedTuple):
    """The fields of `Predictions`."""

    labels: tuple[Label, ...]
    true: NDArray[np.int32]
    scores: Floats
    sample_weight: NDArray[np.float64]
    predicted: NDArray[np.int32] | None
    folds: None
    index: Any


def check_scores(inputs: Inputs) -> Checked:
    """Check labels with scores, and with hard labels where those are given."""
    source = inputs.source
    observed, order = _observed(inputs)
    rows = Rows(row_index(inputs.y_true), source.true)
    if len(observed.distinct) < 2:
        raise ValueError(one_class_message(source.true, observed.distinct[0]))
    n = len(observed.codes)
    labels, scores, is_single = class_scores(
        inputs.y_score, n, observed.distinct, order, source, copy=inputs.copy
    )
    scores = rows.arranged(scores, inputs.y_score, source.scores)
    true = encode(observed, labels, source.true, source)
    weight = check_weights(inputs.sample_weight, true, labels, source, rows)
    predicted = None
    if inputs.y_pred is not None:
        predicted = read_only(encode(_hard(inputs, n, rows), labels, source.predicted, source))
    elif not is_single:
        predicted = read_only(scores.argmax(axis=1).astype(np.int32))
    return Checked(
        tuple(labels),
        read_only(true),
        read_only(scores),
        read_only(weight),
        predicted,
        None,
        rows.index,
    )


def check_hard_labels(inputs: Inputs) -> Checked:
    """Check labels with hard labels, whose scores are one-hot."""
    source = inputs.source
    observed, labels = _observed(inputs)
    rows = Rows(row_index(inputs.y_true), source.true)
    hard = _hard(inputs, len(observed.codes), rows)
    if labels is None:
        labels = union(observed, hard, source)
    if len(labels) < 2:
        raise ValueError(
            f"{source.true} and {source.predicted} hold one class only ({labels[0]!r}): name all "
            "classes, two or more, in labels="
        )
    true = encode(observed, labels, source.true, source, has_scores=False)
    predicted = encode(hard, labels, source.predicted, source, has_scores=False)
    weight = check_weights(inputs.sample_weight, true, labels, source, rows)
    scores = np.eye(len(labels))[predicted]
    return Checked(
        tuple(labels),
        read_only(true),
        read_only(scores),
        read_only(weight),
        read_only(predicted),
        None,
        rows.index,
    )


def one_class_message(what: str, label: Any) -> str:
    """Say that scores cannot be judged where a single class has observations."""
    return f"{what} holds one class only ({label!r}): at least two must have observations"


def _observed(inputs: Inputs) -> tuple[Factor, list[Label] | None]:
    """Observed labels, and the classes in the order given by the user, if any."""
    source = inputs.source
    observed = factorize(inputs.y_true, source.true, source)
    if inputs.labels is None:
        return observed, None
    return observed, label_order(inputs.labels, observed.kind, source)


def _hard(inputs: Inputs, n: int, rows: Rows) -> Factor:
    what = inputs.source.predicted
    hard = factorize(inputs.y_pred, what, inputs.source)
    check_length(what, len(hard.codes), n, inputs.source)
    return hard._replace(codes=rows.arranged(hard.codes, inputs.y_pred, what))
