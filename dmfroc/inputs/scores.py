"""Scores: one column per class, real, finite and in the order of the classes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.remarks import warn
from dmfroc.inputs.arrays import (
    Array,
    Floats,
    OnDevice,
    as_array,
    as_floats,
    as_scalar,
    check_distinct,
    check_length,
    from_library,
    is_table,
    named_type,
    remedy_for_several,
    series_values,
)
from dmfroc.inputs.columns import (
    NOTHING_SAID,
    Positive,
    check_positions,
    counts_rows,
    match_columns,
    mismatch,
    named_class,
    normalized_numbers,
    single_score_classes,
)
from dmfroc.inputs.labels import Label, check_order, positional_classes
from dmfroc.inputs.messages import Source, argument, listing
from dmfroc.inputs.score_doubts import (
    FEW,
    NEARLY_ALL,
    are_shares,
    cumulative_message,
    names_features,
    outside_message,
    same_values_message,
)

_LEAST = float(np.finfo(np.float32).min)  # as scores of absent classes are filled up
_OF_FOLDS = re.compile(r"(cv|test)?[._ ]?(folds?|resample)([._ ]?id)?", re.IGNORECASE)
_PERCENT = re.compile(r"\s*[-+]?\d+([.,]\d+)?([eE][-+]?\d+)?\s*%\s*")


class _Column:
    """A column that may hold scores; its values are read once they are asked for."""

    def __init__(self, series: Any, source: Source) -> None:
        self._series, self._source, self.name = series, source, as_scalar(series.name)

    @cached_property
    def values(self) -> Array:
        """The scores."""
        what = f"{self._source.scores} column {self.name!r}"
        try:
            values = _without_percent(series_values(self._series))
            floats = as_floats(values, what, name_row=self._source.row)
            check_distinct(values, floats, what)
            return floats
        except TypeError as error:
            if not self._source.is_table_file:
                raise
            raise TypeError(
                f"{error}; name the score columns with scores=, or a column of predicted classes "
                "with y_pred="
            ) from error

    @cached_property
    def is_text(self) -> bool:
        """Whether the column holds no numbers."""
        if not self._series.dtype.is_numeric():
            try:
                return self.values is None
            except TypeError:
                return True
        return False

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers, or missing."""
        return bool(((self.values == np.floor(self.values)) | np.isnan(self.values)).all())

    @property
    def is_identifier(self) -> bool:
        """Whether more than a few values are whole and all differ."""
        values = self.values
        return self.is_whole and len(values) > FEW and len(np.unique(values)) == len(values)


class ClassScores(NamedTuple):
    """Classes in column order and their scores, also those that one column gives to both."""

    labels: list[Label]
    scores: Floats
    names: list[Hashable] | None  # of the columns; None for columns without names
    single: int | None = None  # of a single score: the place of the class of its large values
    remarks: Sequence[str | None] = ()  # what is odd about the columns


def class_scores(
    y_score: Any,
    n: int,
    distinct: list[Label],
    order: list[Label] | None,
    source: Source,
    *,
    positive: Positive = NOTHING_SAID,
    stated: Sequence[Label] = (),
    copy: bool = True,
    has_all: bool = True,
) -> ClassScores:
    """Return the scores of all classes, those of a table in the stated order of the categories.

    What is said of a ``positive`` class concerns a single score.

    Minus infinity, and the least float that stands for it, become a number below all others:
    one that these decide, or, unless these are all scores, the least float.
    """
    there: Any = OnDevice.of(y_score)
    if there is not None:
        check_length(source.scores, len(there), n, source, n_columns=there.shape[1])
        classes = positional_classes(there.shape[1], distinct, order, source)
        _check_stated(classes, stated, source)
        return ClassScores(classes, there, None)
    is_of_objects = getattr(getattr(y_score, "dtype", None), "kind", "") == "O"
    by_class = y_score.tolist() if is_of_objects else y_score
    if isinstance(by_class, list | tuple) and by_class and isinstance(by_class[0], Mapping):
        import pandas

        y_score = pandas.DataFrame([*by_class])
    wrapped = from_library(y_score, source.scores)
    labels: list[Label] = []
    remarks: list[str | None] = []
    names: list[Hashable] | None = None
    columns: Any
    if wrapped is None:
        columns = _score_matrix(y_score, source, copy=copy).T
    else:
        given = wrapped.iter_columns() if is_table(wrapped) else [wrapped]
        read = [_Column(x, source) for x in given]
        if not _are_default(wrapped):
            labels, read, remarks = _chosen_columns(read, distinct, order, stated, source)
            names = [x.name for x in read]
            names = None if names in ([None], [""]) else names
        columns = [x.values for x in read]
    if len(columns):
        check_length(source.scores, len(columns[0]), n, source, n_columns=len(columns))
    if len(columns) == 1:
        name = None if names is None else names[0]
        labels, place = single_score_classes(name, distinct, order, positive, source)
        _check_stated(labels, stated, source)
        if source.is_table_file and not source.has_chosen_scores and read[0].is_identifier:
            raise ValueError(
                f"{source.scores}: column {name!r} is the only one that can hold scores, but all "
                "its values are whole numbers and different, as those of an identifier: pass "
                f"scores={[name]} if these are the scores"
            )
        column = columns[0][:, np.newaxis]
        single = _checked(column, names, [labels[place]], source, has_all)
        remarks.append(outside_message(column, source))
        scores: Any = np.hstack([-single, single] if place else [single, -single])
        return ClassScores(labels, scores, names, place, remarks)
    labels = labels or positional_classes(len(columns), distinct, order, source)
    if names is None:
        _check_stated(labels, stated, source)
    # The batches of a scan are counted column by column
    given = np.column_stack(columns) if has_all and wrapped is not None else np.asarray(columns).T
    scores = _checked(given, names, labels, source, has_all)
    remarks += [
        x(scores, names or labels, source) for x in (same_values_message, cumulative_message)
    ]
    return ClassScores(labels, scores, names, None, [*remarks, outside_message(given, source)])


def _score_matrix(y_score: Any, source: Source, *, copy: bool) -> Floats:
    """Return scores without names of columns as a matrix."""
    try:
        array = as_array(y_score, source.scores)
    except ValueError as error:
        raise ValueError(
            f"{source.scores} is not a matrix; give every row the same number of scores ({error})"
        ) from error
    if array.ndim not in (1, 2):
        problem = f"of shape {array.shape}" if array.ndim else named_type(y_score, source.scores)
        if array.ndim == 3:
            problem += remedy_for_several(array.shape)
        raise ValueError(
            f"{source.scores} must have shape (n, K), or (n,) for two classes, but is {problem}"
        )
    matrix = as_floats(array, source.scores, copy=copy or None, name_row=source.row)
    check_distinct(array, matrix, source.scores)
    return matrix[:, np.newaxis] if matrix.ndim == 1 else matrix


def _check_stated(labels: list[Label], stated: Sequence[Label], source: Source) -> None:
    """Refuse classes by the order of their names where categories state another one."""
    if stated:
        check_order(labels, [x for x in stated if x in labels], "categories", source)


def _chosen_columns(
    read: list[_Column],
    distinct: list[Label],
    order: list[Label] | None,
    stated: Sequence[Label],
    source: Source,
) -> tuple[list[Label], list[_Column], list[str | None]]:
    """Classes, their columns and what is odd about these; a single score has no classes yet."""
    if len(read) == 1:
        return [], read, []
    names = [column.name for column in read]
    labels = order or [x for x in stated if x in distinct] or distinct
    match = match_columns(names, labels, source)
    if stated and (of_all := match_columns(names, stated, source)) is not None:
        labels, match = list(stated), of_all
    if match is None:
        is_open = len(labels) == 2 and not source.has_chosen_scores
        if is_open and (single := _single_score(read, labels)) is not None:
            return [], [single], [ignored_message([x.name for x in read if x is not single])]
        if source.has_chosen_scores and order is not None and len(order) == len(read):
            check_positions(names, labels, source)
            return labels, read, []
        fractions = _fractions(read)
        inside = [x for x in fractions if np.nanmin(x.values) >= 0 and np.nanmax(x.values) <= 1]
        likely = inside or fractions
        sums = bool(likely) and are_shares([x.values for x in likely])
        raise ValueError(mismatch(names, labels, source, [x.name for x in likely], sum_to_one=sums))
    chosen = [read[place] for place in match.positions]
    others = [x for x in read if x not in chosen]
    if others and source.has_chosen_scores:
        raise ValueError(mismatch(names, labels, source, ()))
    if len(labels) == 2:
        _check_no_single_score(others, labels, source)
    rivals = {p: x for p, x in match.rivals.items() if not read[p].is_text}
    if rivals and not are_shares([column.values for column in chosen]):
        raise ValueError(
            _rivals_message([names[p] for p in rivals], labels, rivals.values(), source)
        )
    return labels, chosen, [match.warning, ignored_message([x.name for x in others])]


def chosen_names(table: Any, what: str) -> list[str] | None:
    """Return the names of the columns of a table; None if there are none, or default ones."""
    wrapped = from_library(table, what)
    if wrapped is None or not is_table(wrapped) or _are_default(wrapped):
        return None
    return list(map(str, wrapped.columns))


def by_label(table: Any, labels: Sequence[str] | None, what: str) -> Array:
    """Return a matrix of any library, with columns that have names in the order of the labels."""
    names = chosen_names(table, what)
    if labels is None or names is None or names == labels:
        return as_array(table, what)
    match = match_columns(names, labels, Source(scores=what))
    if match is None or len(names) > len(labels):
        raise ValueError(mismatch(names, labels, Source(scores=what), ()))
    warn([match.warning])
    return as_array(from_library(table, what)[:, match.positions], what)


def columns_without_scores(
    table: Any, classes: list[Label], source: Source
) -> list[Hashable] | None:
    """Return the names of all columns if they can be no scores of the classes, else None."""
    wrapped = from_library(table, source.scores)
    names: list[Hashable] = list(wrapped.columns)
    read = [_Column(x, source) for x in wrapped.iter_columns()]
    numbers = [column for column in read if not column.is_text]
    if names and match_columns(names, classes, source) is not None:
        return None
    if any(named_class(column.name, classes) is not None for column in numbers):
        return None
    if len(classes) == 2 and len(numbers) == 1:
        return names if numbers[0].is_identifier else None
    return names if len(numbers) < len(classes) else None


def _check_no_single_score(others: list[_Column], labels: list[Label], source: Source) -> None:
    """Refuse a score of one class beside the scores of two classes: either may be meant."""
    spelled = [*map(str, labels), *(str(int(x)) for x in labels if isinstance(x, bool))]
    either = "|".join(map(re.escape, spelled))
    for column in others:
        name = column.name
        texts = (str(name), normalized_numbers(str(name)))
        pattern = rf"(^|[\W_])({either})([\W_]|$)|({either})$"
        is_named = any(re.search(pattern, text, re.IGNORECASE) for text in texts)
        if not is_named or column.is_text or column.is_whole:
            continue
        remedy = "choose with scores=" if source.is_table_file else "leave out what is not meant"
        raise ValueError(
            f"{source.scores}: column {name!r} is named after a class, as two others are: {remedy}"
        )


def _single_score(read: list[_Column], labels: list[Label]) -> _Column | None:
    """Return the one column that can be the score of two classes, if there is one.

    Row numbers aside, it is the only column of numbers. Or it is the only one of these that is not
    whole, is named after a class, and no other column is named after the other class.
    """
    numbers = [x for x in read if not (x.is_text or counts_rows(str(x.name)))]
    named = {x: code for x in read if (code := named_class(x.name, labels)) is not None}
    if len(numbers) == 1 and named.keys() <= {*numbers}:
        return numbers[0]
    fractions = _fractions(read)
    if len(fractions) != 1 or len({*named.values()}) != 1:
        return None
    [single] = fractions
    return single if single in named and not names_features(single.name) else None


def _fractions(read: list[_Column]) -> list[_Column]:
    """Return the columns of numbers that are not all whole."""
    return [x for x in read if not (x.is_text or x.is_whole)]


def names_folds(name: Hashable) -> bool:
    """Whether a column has a name such as fold, or that of caret."""
    return _OF_FOLDS.fullmatch(str(name)) is not None


def ignored_message(names: Sequence[Hashable]) -> str | None:
    """Say which columns of a table have no use, and which of them look like folds."""
    if not names:
        return None
    folds = list(filter(names_folds, names))
    hint = f"pass folds={folds[0]!r} if it has folds: " if folds else ""
    return f"{hint}columns that match no class are ignored: {listing(names)}"


def _rivals_message(
    names: Sequence[Hashable], labels: Sequence[Label], rivals: Iterable[Label], source: Source
) -> str:
    it, names_, is_that = (
        ("it", "names", "it is that of a class")
        if len(names) == 1
        else ("them", "name", "they are those of classes")
    )
    remedy = f" with {argument('other_columns', names)}" if source.is_table_file else ""
    return (
        f"{source.scores}: column {listing(names)} {names_} no class of {source.true}, and the "
        f"scores of the classes do not sum to one without {it}: leave {it} out{remedy}, or pass "
        f"{argument('labels', sorted({*labels, *rivals}))} if {is_that} without observations"
    )


def _are_default(wrapped: Any) -> bool:
    """Whether column names only count the columns, as those that nobody chose do."""
    if not is_table(wrapped):
        return False
    native, names = wrapped.to_native(), list(wrapped.columns)
    if hasattr(native, "iloc"):  # of pandas, which chooses this kind of names itself
        return type(native.columns).__name__ == "RangeIndex" and names == list(range(len(names)))
    return names == [f"column_{place}" for place in range(len(names))]  # of polars


def _without_percent(values: Array) -> Array:
    """Read shares of text such as "70.5%"."""
    items = values.tolist() if values.dtype.kind in "OUT" else []
    texts = [x for x in items if isinstance(x, str)]
    if not texts or not all(map(_PERCENT.fullmatch, texts)):
        return values
    # Divided in decimals, 70.5 % is the same number as .705
    numbers = [
        Decimal(x.replace("%", "").replace(",", ".")).scaleb(-2) if isinstance(x, str) else None
        for x in items
    ]
    return np.array(numbers, dtype=object)


def _checked(
    scores: Array,
    names: list[Hashable] | None,
    labels: Sequence[Label],
    source: Source,
    has_all: bool,
) -> Floats:
    """Return finite scores; minus infinity ranks lowest, and infinity highest."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Two passes without a temporary; a sum that overflows only costs the exact look below
        if np.isfinite(scores.sum()) and (not scores.size or scores.min() > _LEAST):
            return scores
    is_lowest = np.isin(scores, [-np.inf, np.finfo(scores.dtype).min, _LEAST])
    is_highest, missing = scores == np.inf, np.isnan(scores)
    if missing.any():
        row, column = divmod(int(missing.argmax()), scores.shape[1])
        name = column if names is None else repr(names[column])
        remedy = (
            "replace them or drop their rows" + " with drop_missing=True" * source.is_table_file
        )
        if missing.any(axis=1).mean() >= NEARLY_ALL and not missing.all(axis=1).any():
            remedy = (
                f"most rows have the scores of their top {(~missing).sum(axis=1).max()} classes "
                "only. These allow measures of hard labels (give y_pred) and top-k accuracy, for "
                "which minus infinity may stand for what is missing; areas under curves need the "
                "scores of all classes"
            )
        raise ValueError(
            f"{source.scores} must be numbers, but {np.count_nonzero(missing)} of {scores.size} "
            f"values are not; the first is nan at {source.row(row)}, column {name} (class "
            f"{labels[column]!r}): {remedy}"
        )
    # Half of the largest float, so that the bins of a scan can end above it
    least, most = np.finfo(scores.dtype).min, np.finfo(scores.dtype).max / 2
    if has_all:
        ranked, width = scores[~(is_lowest | is_highest)], scores.shape[1]
        least, most = _below(ranked, width), -_below(-ranked, width)
    return np.where(is_lowest, least, np.where(is_highest, most, scores))


def _below(scores: Array, width: int) -> Any:
    """Return a number so far below scores that sums over a row do not hide it."""
    if not scores.size:
        return scores.dtype.type(-1)
    low, high = scores.min(), scores.max()
    with np.errstate(over="ignore"):
        below = low - (width + 1) * (high - low) - max(abs(low), 1)
        return max(below, np.finfo(scores.dtype).min)
