"""Batches of observations: what one of them holds, and how it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.checks import Inputs, one_class_message
from dmfroc.inputs.files import Names, table_inputs
from dmfroc.inputs.labels import Label, encode, factorize, label_order
from dmfroc.inputs.messages import check_length, listing
from dmfroc.inputs.rows import Rows, row_index, row_names
from dmfroc.inputs.scores import Floats, class_scores
from dmfroc.inputs.weights import real_weights

ONLY = ""
"""The name of a classifier that is alone."""

_BATCH_KEYS = ("y_true", "y_score", "sample_weight", "y_pred", "groups")


class Batch(NamedTuple):
    """Checked observations that have a weight; of each classifier its scores and hard labels."""

    true: NDArray[np.int32]
    scores: dict[str, Floats]  # of shape (K, n)
    predicted: dict[str, NDArray[np.int32] | None]
    weights: NDArray[np.float64] | None  # None: all are one
    groups: NDArray[Any] | None

    @property
    def unit_weights(self) -> NDArray[np.float64]:
        """The weights, ones where there are none."""
        return np.ones(len(self.true)) if self.weights is None else self.weights


@dataclass(frozen=True)
class Fields:
    """Where in a table the inputs are, by the names of its columns.

    Of batches in memory nothing but the names of the classifiers is used.
    """

    classifiers: tuple[str, ...] = (ONLY,)
    label: str | None = None
    scores: tuple[str | tuple[str, ...] | None, ...] = (None,)
    predicted: tuple[str | None, ...] = (None,)
    sample_weight: str | None = None
    groups: str | None = None

    def columns(self, available: Sequence[str]) -> list[str] | None:
        """Return the columns that are read; None for all."""
        if any(scores is None for scores in self.scores):
            return None
        names = [self.label, self.sample_weight, self.groups, *self.predicted]
        for scores in self.scores:
            names += [scores] if isinstance(scores, str) else list(scores or ())
        wanted = {name for name in names if name is not None}
        return [name for name in available if name in wanted]


def observed_labels(raw: Any, fields: Fields) -> list[Label]:
    """Return the distinct labels of a batch."""
    inputs = next(iter(_inputs_of(raw, fields)[0].values()))
    return factorize(inputs.y_true, inputs.source.true, inputs.source).distinct


@dataclass(frozen=True)
class BatchReader:
    """What turns raw batches into checked ones, once the labels of all of them are known."""

    fields: Fields
    distinct: tuple[Label, ...]  # sorted, of all batches
    order: Any = None  # as the user gave it

    def labels(self, raw: Any) -> tuple[Label, ...]:
        """Return the classes in column order, as a batch's columns tell them."""
        return self._read(raw)[0]

    def read(self, raw: Any) -> Batch:
        """Check a batch; rows of weight zero are left out."""
        return self._read(raw)[1]

    def _read(self, raw: Any) -> tuple[tuple[Label, ...], Batch]:
        scores: dict[str, Floats] = {}
        predicted: dict[str, NDArray[np.int32] | None] = {}
        labels, true, weights = None, None, None
        all_inputs, groups = _inputs_of(raw, self.fields)
        rows = Rows()
        for name, inputs in all_inputs.items():
            source, distinct = inputs.source, list(self.distinct)
            if true is None:
                observed = factorize(inputs.y_true, source.true, source)
                rows.order(row_index(inputs.y_true), source.true)
            if len(distinct) < 2:
                raise ValueError(one_class_message(source.true, distinct[0]))
            order = None if self.order is None else label_order(self.order, observed.kind, source)
            n = len(observed.codes)
            found, matrix, is_single = class_scores(
                inputs.y_score, n, distinct, order, source, has_all=False
            )
            matrix = rows.arranged(matrix, inputs.y_score, source.scores)
            if labels is not None and found != labels:
                raise ValueError(
                    f"the classifier {name!r} has the classes {listing(found)}, but another has "
                    f"{listing(labels)}: name their score columns alike, or pass labels="
                )
            if true is None:
                labels, true = found, encode(observed, found, source.true, source)
                if inputs.sample_weight is not None:
                    weights = real_weights(inputs.sample_weight, n, source)
                    weights = rows.arranged(weights, inputs.sample_weight, source.weight)
            columns: Any = np.ascontiguousarray(matrix.T)
            scores[name] = columns
            scores[name] += 0  # turns -0 into 0
            if inputs.y_pred is not None:
                hard = factorize(inputs.y_pred, source.predicted, source)
                check_length(source.predicted, len(hard.codes), n, source)
                codes = encode(hard, found, source.predicted, source)
                predicted[name] = rows.arranged(codes, inputs.y_pred, source.predicted)
            else:
                predicted[name] = None if is_single else _largest(scores[name])
        assert labels is not None
        assert true is not None
        batch = Batch(true, scores, predicted, weights, _checked_groups(groups, len(true), rows))
        return tuple(labels), _counted(batch)


def _largest(scores: Floats) -> NDArray[np.int32]:
    """Return the first column of the largest score in each row, by columns, which is faster."""
    found = np.zeros(scores.shape[1], np.int32)
    largest = scores[0].copy()
    for column in range(1, len(scores)):
        is_larger = scores[column] > largest
        np.copyto(found, np.int32(column), where=is_larger)
        np.copyto(largest, scores[column], where=is_larger)
    return found


def _counted(batch: Batch) -> Batch:
    if batch.weights is None or batch.weights.all():
        return batch
    counts = batch.weights > 0
    return Batch(
        batch.true[counts],
        {name: scores[:, counts] for name, scores in batch.scores.items()},
        {name: x if x is None else x[counts] for name, x in batch.predicted.items()},
        batch.weights[counts],
        None if batch.groups is None else batch.groups[counts],
    )


def _checked_groups(groups: Any, n: int, rows: Rows) -> NDArray[Any] | None:
    if groups is None:
        return None
    array = row_names(groups, "groups", n, rows.index, "a group")
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def _inputs_of(raw: Any, fields: Fields) -> tuple[dict[str, Inputs], Any]:
    """Return what is to be checked of each classifier, and the groups."""
    if hasattr(raw, "schema"):  # a table of pyarrow
        return _inputs_of_table(raw, fields)
    if isinstance(raw, Mapping):
        strange = [key for key in raw if key not in _BATCH_KEYS]
        if strange or "y_true" not in raw or "y_score" not in raw:
            raise ValueError(
                f"a batch must have y_true and y_score, and may have {_BATCH_KEYS[2:]}, but it has "
                f"{list(raw)}"
            )
        y_true, y_score, weight, y_pred, groups = (raw.get(key) for key in _BATCH_KEYS)
    elif isinstance(raw, tuple | list) and len(raw) == 2:
        (y_true, y_score), weight, y_pred, groups = raw, None, None, None
    else:
        raise TypeError(
            "a batch must be (labels, scores) or a dict with y_true, y_score and, if need be, "
            f"{_BATCH_KEYS[2:]}, but it is a {type(raw).__name__}"
        )
    if fields.classifiers == (ONLY,):
        return {ONLY: Inputs(y_true, y_score, None, weight, y_pred)}, groups
    if not isinstance(y_score, Mapping) or set(y_score) != set(fields.classifiers):
        raise ValueError(
            "the scores of a batch must be a dict of scores by the names of the classifiers, "
            f"{list(fields.classifiers)}, as in the first batch"
        )
    hard = {} if y_pred is None else y_pred
    return {
        name: Inputs(y_true, y_score[name], None, weight, hard.get(name))
        for name in fields.classifiers
    }, groups


def _inputs_of_table(table: Any, fields: Fields) -> tuple[dict[str, Inputs], Any]:
    assert fields.label is not None
    groups = None
    if fields.groups is not None:
        if fields.groups not in table.schema.names:
            raise ValueError(
                f"there is no column {fields.groups!r}, which groups= names; the columns are "
                f"{listing(table.schema.names)}"
            )
        groups = table[fields.groups]
        table = table.drop_columns([fields.groups])
    found = {}
    several = zip(fields.classifiers, fields.scores, fields.predicted, strict=True)
    for name, scores, predicted in several:
        names = Names(fields.label, scores, None, fields.sample_weight, predicted)
        found[name] = table_inputs(table, names)
    return found, groups
