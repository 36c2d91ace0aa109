"""Batches of observations: what one of them holds, and how it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from jaxtyping import Int, Shaped
from numpy.typing import NDArray

from dmfroc._kit.arrays import IntPerClass
from dmfroc._kit.remarks import warn
from dmfroc.inputs.arrays import Array, Codes, Floats, Rows, row_names
from dmfroc.inputs.checks import (
    Inputs,
    check_totals,
    hard_labels,
    one_class_message,
    real_weights,
    stated_order,
)
from dmfroc.inputs.labels import Factor, Label, encode, factorize, label_order
from dmfroc.inputs.messages import listing, shortened
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import are_complements, difference, difference_message
from dmfroc.inputs.scores import class_scores
from dmfroc.inputs.tables import Names, labels_of_table, table_inputs

ONLY = ""
"""The name of a classifier that is alone."""

_BATCH_KEYS = ("y_true", "y_score", "sample_weight", "y_pred", "groups")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
_CHECKSUMS = 1 << 64
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-50, 1e50  # their fourth powers are finite and not zero

type Hashes = NDArray[np.uint64]
"""A number of each row, which depends on what it holds."""


class Batch(NamedTuple):
    """Checked observations that have a weight; of each classifier its scores and hard labels."""

    hashes: Hashes  # of the contents of each row, but for its group
    true: Codes
    scores: dict[str, Floats]  # of shape (K, n)
    predicted: dict[str, Codes | None]
    weights: NDArray[np.float64] | None  # None: all are one
    groups: Array | None

    @property
    def unit_weights(self) -> NDArray[np.float64]:
        """The weights, ones where there are none."""
        return np.ones(len(self.true)) if self.weights is None else self.weights

    def predictions(self, classifier: str, labels: Sequence[Label]) -> Predictions:
        """Return the rows as predictions of one classifier."""
        rows = self.true, self.scores[classifier].T, self.unit_weights, self.predicted[classifier]
        return Predictions(tuple(labels), *rows, single=self.single(classifier))

    def single(self, classifier: str) -> int | None:
        """Return the class of a single score, if a classifier has one; the other has minus it."""
        scores = self.scores[classifier]
        return 1 if len(scores) == 2 and np.array_equal(scores[0], -scores[1]) else None

    def some(self, rows: Int[np.ndarray, " m"]) -> Batch:
        """Return some of the rows."""
        return self._with_arrays(lambda x: x.take(rows, axis=-1))

    def joined(self, *others: Batch) -> Batch:
        """Return the rows of all, which have the same kinds of contents."""
        return self._with_arrays(lambda *x: np.concatenate(x, axis=-1), *others)

    def _with_arrays(self, function: Callable[..., np.ndarray], *others: Batch) -> Batch:
        """Return a function of each of its arrays and the corresponding ones of others."""

        def applied(array: Any, *of_others: Any) -> Any:
            if isinstance(array, dict):
                return {
                    name: applied(x, *(other[name] for other in of_others))
                    for name, x in array.items()
                }
            return None if array is None else function(array, *of_others)

        return Batch(*map(applied, self, *others))


class Form(NamedTuple):
    """What all batches have in common."""

    classes: tuple[Label, ...]
    scores: tuple[str, ...]  # the type of each classifier's
    columns: tuple[str, ...]
    weights: str
    hard_labels: tuple[str, ...]
    groups: str

    @property
    def has_groups(self) -> bool:
        """Whether rows belong together."""
        return self.groups != _MISSING

    @property
    def has_classes_of_rows(self) -> tuple[bool, ...]:
        """Whether each classifier chooses a class: it is given, or that of the largest score."""
        return tuple(
            given != _MISSING or columns == _ONE_EACH
            for given, columns in zip(self.hard_labels, self.columns, strict=True)
        )

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self.weights != _MISSING


_GIVEN, _MISSING = "given", "missing"
_ONE_EACH = "one for each class"
_REMEDIES = {
    "classes": "give all batches the same columns",
    "scores": "give all of them one type",
    "columns": "give all batches the same number",
}
_REMEDY = "give them in all batches, of one type, or in none"


@dataclass(frozen=True)
class Content:
    """What identifies the rows that were read, in whatever order and however divided.

    Attributes
    ----------
    where : str
        The part in which the form was seen first.
    form : Form
    rows : tuple of int, length K
        Rows of each class, with those of weight zero.
    checksum : int
        A sum over all rows that depends on what each of them holds, its group too.
    """

    where: str
    form: Form
    rows: tuple[int, ...]
    checksum: int

    def merged(self, other: Content) -> Content:
        """Return the content of both.

        Raises
        ------
        ValueError
            If one of them has something that the other lacks.
        """
        for name, here, there in zip(Form._fields, self.form, other.form, strict=True):
            if here != there:
                raise ValueError(
                    f"{other.where}: {name.replace('_', ' ')} are {_in_words(there)}, but "
                    f"{_in_words(here)} in {self.where}: {_REMEDIES.get(name, _REMEDY)}"
                )
        rows = tuple(a + b for a, b in zip(self.rows, other.rows, strict=True))
        return Content(self.where, self.form, rows, (self.checksum + other.checksum) % _CHECKSUMS)

    def check_same(self, other: Content) -> None:
        """Refuse other rows than these, which an earlier pass has read."""
        check_rows(self.form.classes, self.rows, other.rows)
        if (self.form, self.checksum) != (other.form, other.checksum):
            raise changed_error("it read other scores, weights, hard labels or groups")

    def check_weights(self, sizes: IntPerClass) -> None:
        """Refuse classes that have rows, but none with a weight."""
        check_totals(np.array(self.rows), sizes, self.form.classes, "sample_weight")


def check_rows(labels: Sequence[Label], before: Sequence[int], now: Sequence[int]) -> None:
    """Refuse other numbers of rows than those that an earlier pass has read of each class."""
    differ = [
        f"{a} of class {label!r}, now {b}"
        for label, a, b in zip(labels, before, now, strict=True)
        if a != b
    ]
    if differ:
        raise changed_error(f"it read other numbers of rows: {shortened(differ)}")


def changed_error(how: str) -> ValueError:
    """Return the error that says that the passes have read different data."""
    return ValueError(
        f"the data have changed since an earlier pass: {how}. Results would mix both. Make the "
        "scan again, of data that stay the same, with another checkpoint; a function must return "
        "the same batches at each call"
    )


def _in_words(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return listing(value) if len(set(value)) > 1 else str(value[0])


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
        wanted = set(names)
        return [name for name in available if name in wanted]


def has_rows(raw: Any, fields: Fields) -> bool:
    """Whether a batch is not empty."""
    if hasattr(raw, "num_rows"):  # a table of pyarrow
        return bool(raw.num_rows)
    all_inputs, _ = _inputs_of(raw, fields)
    return any(_length(column) != 0 for x in all_inputs.values() for column in x[:2])


def _length(column: Any) -> int | None:
    try:
        return len(column)
    except TypeError:
        return None  # that it is no column is said when it is read


def rows_by_label(raw: Any, fields: Fields) -> dict[Label, int]:
    """Return how many rows of a batch have each label."""
    if fields.label is not None and raw.column_names == [fields.label]:
        factor = labels_of_table(raw, fields.label)
    else:
        factor = _observed(_first_inputs(raw, fields))
    return dict(zip(factor.distinct, np.bincount(factor.codes).tolist(), strict=True))


def stated_order_of_batch(raw: Any, fields: Fields) -> tuple[Label, ...]:
    """Return the categories of a batch's labels in the order that their column states, if any."""
    inputs = _first_inputs(raw, fields)
    return tuple(stated_order(inputs, _observed(inputs)))


def _first_inputs(raw: Any, fields: Fields) -> Inputs:
    return next(iter(_inputs_of(raw, fields)[0].values()))


def _observed(inputs: Inputs) -> Factor:
    return factorize(inputs.y_true, inputs.source.true, inputs.source)


@dataclass(frozen=True)
class BatchReader:
    """What turns raw batches into checked ones, once the labels of all of them are known."""

    fields: Fields
    distinct: tuple[Label, ...]  # sorted, of all batches
    order: Any = None  # as the user gave it
    stated: tuple[Label, ...] = ()  # the order of categories
    are_of_earlier_pass: bool = True  # or the user's; batches may lack some
    of_differences: frozenset[str] = frozenset()  # classifiers: their two columns make one score
    classes: tuple[Label, ...] = ()  # in column order, once a batch was taken as an example

    def informed(self, raw: Any) -> BatchReader:
        """Return a reader that takes a batch as an example.

        Two columns that are no complements there are those of one score in all batches.
        """
        batch, content = self.read(raw, "")
        labels, sources = content.form.classes, _inputs_of(raw, self.fields)[0]
        of_two = batch.scores.items() if len(labels) == 2 else ()
        unlike = [name for name, x in of_two if not are_complements(x.T)]
        warn(difference_message(labels, None, sources[name].source) for name in unlike)
        return replace(self, of_differences=frozenset(unlike), classes=labels)

    def read(self, raw: Any, where: str) -> tuple[Batch, Content]:
        """Check a batch; rows of weight zero are left out."""
        all_inputs, groups = _inputs_of(raw, self.fields)
        first, rows, distinct = next(iter(all_inputs.values())), Rows(), list(self.distinct)
        source, observed = first.source, _observed(first)
        rows.order(first.y_true, source.true)
        new = [label for label in observed.distinct if label not in distinct]
        if new and self.are_of_earlier_pass:
            raise changed_error(f"it read no labels {listing(new)}")
        if len(distinct) < 2:
            raise ValueError(one_class_message(source.true, distinct[0]))
        order = None if self.order is None else label_order(self.order, observed.kind, source)
        n, labels = len(observed.codes), list[Label]()
        scores: dict[str, Floats] = {}
        is_alone: list[bool] = []
        predicted: dict[str, Codes | None] = {}
        for name, inputs in all_inputs.items():
            given: Any = {"stated": self.stated, "has_all": False}
            found = class_scores(inputs.y_score, n, distinct, order, inputs.source, **given)
            warn(found.remarks)
            labels = labels or found.labels
            if found.labels != labels:
                raise ValueError(
                    f"the classifier {name!r} has the classes {listing(found.labels)}, but another "
                    f"has {listing(labels)}: name their score columns alike, or pass labels="
                )
            matrix = rows.arranged(found.scores, inputs.y_score, inputs.source.scores)
            if name in self.of_differences:
                matrix = difference(matrix)
            columns: Any = np.ascontiguousarray(matrix.T)
            scores[name] = columns
            scores[name] += 0  # turns -0 into 0
            is_alone.append(found.single is not None)
            predicted[name] = None if is_alone[-1] else _largest(scores[name])
            if inputs.y_pred is not None:
                hard = hard_labels(inputs, n, rows)
                predicted[name] = encode(hard, labels, inputs.source.predicted, inputs.source)
        true, weights = encode(observed, labels, source.true, source), None
        if first.sample_weight is not None:
            weights = _moderate(real_weights(first.sample_weight, n, source, rows))
        of_rows = _checked_groups(groups, len(true), rows)
        form = Form(
            tuple(labels),
            tuple(x.dtype.name for x in scores.values()),
            tuple("one" if x else _ONE_EACH for x in is_alone),
            _MISSING if weights is None else _GIVEN,
            tuple(_MISSING if x.y_pred is None else _GIVEN for x in all_inputs.values()),
            _MISSING if of_rows is None else _kind_of(of_rows),
        )
        sizes = np.bincount(true, minlength=len(labels))
        batch = Batch(np.zeros(len(true), np.uint64), true, scores, predicted, weights, of_rows)
        if weights is not None and not weights.all():
            batch = batch.some(np.flatnonzero(weights))
        batch = batch._replace(hashes=row_hashes(batch, len(labels)))
        checksum = _checksum(batch.hashes, batch.groups)
        return batch, Content(where, form, tuple(sizes.tolist()), checksum)


_KINDS = {"i": "integers", "u": "unsigned integers", "U": "text", "b": "True or False"}


def _kind_of(groups: Array) -> str:
    """Return what groups are, which must be the same in all batches: kinds may not compare."""
    if groups.dtype.kind != "O":
        return _KINDS.get(groups.dtype.kind, groups.dtype.name)
    kinds = set(map(type, groups))
    return kinds.pop().__name__ if len(kinds) == 1 else "numbers"


def _moderate(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Refuse weights whose powers overflow; those of the other batches are not known."""
    largest = weights.max(initial=0)
    least = weights.min(initial=np.inf, where=weights > 0)
    if largest > _LARGEST_WEIGHT or least < _LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight has positive weights from {least} to {largest}: those of batches must "
            f"be between {_LEAST_WEIGHT} and {_LARGEST_WEIGHT}, rescale all of them"
        )
    return weights


def _largest(scores: Floats) -> Codes:
    """Return the first column of the largest score in each row, by columns, which is faster."""
    columns = np.zeros(scores.shape[1], np.int32)
    largest = scores[0].copy()
    for column in range(1, len(scores)):
        is_larger = scores[column] > largest
        # Masks take eight times as long
        np.maximum(columns, is_larger * np.int32(column), out=columns)
        np.maximum(largest, scores[column], out=largest)
    return columns


def row_hashes(batch: Batch, n_classes: int) -> Hashes:
    """Return a hash of each row's contents; its first bits are the class."""
    hashes = np.zeros(len(batch.true), np.uint64)
    for matrix in batch.scores.values():
        for column in matrix:
            _mix(hashes, column.view(f"u{column.itemsize}"))
    for predicted in batch.predicted.values():
        if predicted is not None:
            _mix(hashes, predicted.view(np.uint32))
    if batch.weights is not None:
        _mix(hashes, batch.weights.view(np.uint64))
    n_bits = n_classes.bit_length()
    hashes >>= np.uint64(n_bits)
    hashes |= batch.true.astype(np.uint64) << np.uint64(64 - n_bits)
    return hashes


def hashes_by_place(hashes: Hashes, n_classes: int, where: str, first_row: int) -> Hashes:
    """Return hashes of rows and of their places; their first bits are the class as before."""
    places = np.arange(first_row, first_row + len(hashes), dtype=np.uint64)
    mixed = hashes.copy()
    for numbers in (np.uint64(crc32(where.encode())), places):
        _mix(mixed, numbers)
    n_bits = n_classes.bit_length()
    is_of_class = ~(np.uint64(_CHECKSUMS - 1) >> np.uint64(n_bits))
    return (hashes & is_of_class) | (mixed >> np.uint64(n_bits))


def _mix(hashes: Hashes, numbers: Shaped[np.ndarray, " n"] | np.uint64) -> None:
    """Have the hashes depend on further numbers, in place."""
    np.bitwise_xor(hashes, numbers, out=hashes)
    np.multiply(hashes, _MULTIPLIER, out=hashes)
    np.bitwise_xor(hashes, hashes >> _SHIFT, out=hashes)


def _checksum(hashes: Hashes, groups: Array | None) -> int:
    """Return a sum in which no part of a hash, such as its class, is a term of its own."""
    mixed = hashes.copy()
    if groups is not None:
        from pandas.util import hash_array

        _mix(mixed, hash_array(groups.astype(object) if groups.dtype.kind == "U" else groups))
    for _ in range(2):
        _mix(mixed, _MULTIPLIER)
    return int(mixed.sum(dtype=np.uint64))


def _checked_groups(groups: Any, n: int, rows: Rows) -> Array | None:
    if groups is None:
        return None
    array = row_names(groups, "groups", n, rows, "a group")
    is_text = array.dtype.kind == "O" and isinstance(array[0], str)
    return array.astype(np.str_) if is_text else array


def items_of(raw: Any) -> list[Any]:
    """Return what a batch in memory has for each of its keys, None where there is nothing."""
    if isinstance(raw, Mapping):
        strange = [key for key in raw if key not in _BATCH_KEYS]
        if strange or "y_true" not in raw or "y_score" not in raw:
            raise ValueError(
                f"a batch must have y_true and y_score, and may have {_BATCH_KEYS[2:]}, but it has "
                f"{list(raw)}"
            )
        return [raw.get(key) for key in _BATCH_KEYS]
    if isinstance(raw, tuple | list) and len(raw) == 2:
        return [*raw, None, None, None]
    raise TypeError(
        "a batch must be (labels, scores) or a dict with y_true, y_score and, if need be, "
        f"{_BATCH_KEYS[2:]}, but it is a {type(raw).__name__}"
    )


def _inputs_of(raw: Any, fields: Fields) -> tuple[dict[str, Inputs], Any]:
    """Return what is to be checked of each classifier, and the groups."""
    if fields.label is not None:
        return _inputs_of_table(raw, fields, fields.label)
    y_true, y_score, weight, y_pred, groups = items_of(raw)
    if fields.classifiers == (ONLY,):
        return {ONLY: Inputs(y_true, y_score, None, weight, y_pred)}, groups
    if not isinstance(y_score, Mapping) or set(y_score) != set(fields.classifiers):
        raise ValueError(
            "the scores of a batch must be a dict of scores by the names of the classifiers, "
            f"{list(fields.classifiers)}, as in the first batch"
        )
    hard = {} if y_pred is None else y_pred
    if not isinstance(hard, Mapping) or set(hard) - set(fields.classifiers):
        raise TypeError("y_pred must be a dict by the names of classifiers, as the scores are")
    return {
        name: Inputs(y_true, y_score[name], None, weight, hard.get(name))
        for name in fields.classifiers
    }, groups


def _inputs_of_table(table: Any, fields: Fields, label: str) -> tuple[dict[str, Inputs], Any]:
    groups = None
    named = [("groups", fields.groups), *(("predicted", x) for x in fields.predicted)]
    for argument, name in named:
        if name is not None and name not in table.schema.names:
            raise ValueError(
                f"there is no column {name!r}, which {argument}= names; the columns are "
                f"{listing(table.schema.names)}"
            )
    if fields.groups is not None:
        groups = table[fields.groups]
        if any(scores is None for scores in fields.scores):  # all the others are scores
            table = table.drop_columns([fields.groups])
    inputs = {}
    several = zip(fields.classifiers, fields.scores, fields.predicted, strict=True)
    for name, scores, predicted in several:
        given = {"label": label, "sample_weight": fields.sample_weight, "y_pred": predicted}
        names = Names({x: name for x, name in given.items() if name is not None}, scores)
        inputs[name] = table_inputs(table, names)
    return inputs, groups
