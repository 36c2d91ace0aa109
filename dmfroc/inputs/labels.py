"""Labels and their encoding: as positions among their distinct values, then among the classes."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import Array, Codes, as_array, as_numpy, as_scalar, is_missing, named_type
from dmfroc.inputs.messages import IN_MEMORY, Source, listing, repeated

type Label = int | str | bool

_ROUNDING = 1e-3  # of the sum of soft labels
_MANY, _NOTABLE = 20, 0.05  # rows, and share of rows, of a class that is predicted at times
_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


_REMEDY_OF_ABSTENTIONS = (
    "; if they mean that no class was chosen, judge the hard labels without scores, which counts "
    "them as wrong, or drop their rows; if they count from 1, subtract 1"
)
ABSENT = re.compile(
    r"(?i)(alive|living|censored|survived|event-free|none|not?|non|neg|negative|controls?|healthy"
    r"|normal|unaffected|absent|false|benign)(?![^\W_])"
)
"""Words for what has not happened, or is not there."""
_REMEDIES_OF_NUMBERS = {
    "y_true": "; of soft labels pass y_true >= 0.5. Classes come first, scores second",
    "y_pred": "; pass scores as y_score=",
}
_DECIMAL = re.compile(r"(?i)\s*[+-]?([0-9]{1,15}|[0-9]*[.,][0-9]+)(e[+-]?[0-9]+)?\s*%?\s*")


class Factor(NamedTuple):
    """A label column: its sorted distinct labels, and each row's position among them."""

    distinct: list[Label]
    codes: Codes

    @property
    def kind(self) -> type:
        """Type that all the labels share."""
        return type(self.distinct[0])


def factorize(values: Any, what: str, source: Source) -> Factor:
    """Check a label column: one-dimensional, not empty, nothing missing, all of one kind."""
    array = _label_array(values, what)
    if array.dtype.kind == "f":
        array = _whole_numbers(array, what, source)
    if array.dtype.kind in "biu":
        return _factorize_integers(array)
    if array.dtype.kind in "OUT":
        return _factorize_objects(array.tolist(), what, source)
    raise TypeError(f"{what} holds {array.dtype} values; labels must be int, str or bool")


def _label_array(values: Any, what: str) -> Array:
    if isinstance(values, list | tuple):
        # Left to itself NumPy would turn [1, "a"] into two strings and [True, 2] into two integers
        array = as_numpy(values, what, object)
    else:
        array = as_array(values, what)
    if array.ndim == 0:
        raise TypeError(
            f"{what} must be a one-dimensional array of labels, not "
            + named_type(values, what).removeprefix("a ")
        )
    if array.ndim > 1:
        raise ValueError(
            f"{what} has shape {array.shape} but must be one-dimensional, one label per row: "
            + _remedy_for_columns(array, values)
        )
    if not len(array):
        raise ValueError(f"{what} is empty: at least two classes need observations")
    return array


def _remedy_for_columns(array: Array, values: Any) -> str:
    """Say what to do with labels of several columns."""
    largest = "argmax(axis=1)"
    if hasattr(values, "columns"):  # whose names are the classes
        largest = "to_pandas()." * (not hasattr(values, "idxmax")) + "idxmax(axis=1)"
    if array.ndim != 2 or array.shape[1] < 2:
        return "take ravel() of a single column"
    try:
        flags = array.astype(float)
    except (TypeError, ValueError):
        return "pass one of the columns"
    if not np.isin(flags, (0, 1)).all():
        if (abs(flags.sum(axis=1) - 1) < _ROUNDING).all():
            columns = "or pass one of the columns; classes come first, scores second"
            return f"take {largest} of soft labels, {columns}"
        if (flags % 1).any():
            return "these are scores, and classes come first, as in evaluate(y_true, y_score)"
        return (
            "of sequences pass y_true.ravel() and y_score.reshape(-1, K), without the rows to be "
            "ignored; or pass one of the columns"
        )
    n_ones = flags.sum(axis=1)
    if (n_ones == 1).all():
        return f"take {largest} of one-hot rows"
    row = int((n_ones != 1).argmax())
    return (
        f"{IN_MEMORY.row(row)} has {int(n_ones[row])} ones, so that these are several labels per "
        "row (multilabel): evaluate each column by itself, as a problem of two classes, or all by "
        "dmfroc.applications.multilabel"
    )


def _whole_numbers(values: Array, what: str, source: Source) -> NDArray[np.int64]:
    missing = np.isnan(values)
    if missing.any():
        raise _missing_label(what, int(missing.argmax()), source)
    with np.errstate(invalid="ignore"):  # an infinite or huge label is reported below
        whole = values.astype(np.int64)
    broken = whole != values
    if broken.any():
        row = int(broken.argmax())
        remedy = _REMEDIES_OF_NUMBERS.get(what, "")
        if source.is_table_file:
            is_hard = what == source.predicted
            remedy = "in a command also --threshold" if is_hard else "and the classes by label="
            remedy = f"; if these are scores name them by scores=, {remedy}"
        raise ValueError(
            f"{what} has the label {values[row]} at {source.row(row)}: labels that are numbers "
            f"must be whole{remedy}"
        )
    return whole


def _factorize_integers(values: Array) -> Factor:
    kind = bool if values.dtype.kind == "b" else int
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * values.size + 1024 and high <= np.iinfo(np.int64).max:
        # Looking labels up in a table of their range is ten times as fast as sorting them
        offsets = values.astype(np.int64) - low
        seen = np.zeros(high - low + 1, bool)
        seen[offsets] = True
        distinct = np.flatnonzero(seen) + low
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[offsets]
    else:
        distinct, codes = np.unique(values, return_inverse=True)
    return Factor([kind(label) for label in distinct.tolist()], codes.astype(np.int32))


def _factorize_objects(items: list[Any], what: str, source: Source) -> Factor:
    kinds = set(map(type, items))
    if not kinds <= {str, int, bool, float}:
        items = [as_scalar(item) for item in items]
        kinds = set(map(type, items))
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        missing = [is_missing(item) for item in items]
        if any(missing):
            raise _missing_label(what, missing.index(True), source)
        if kinds <= {int, float}:
            return factorize(np.array(items, dtype=np.float64), what, source)
        raise _unusable_labels(items, what, source)
    distinct = sorted_labels(set(items))
    position = {label: code for code, label in enumerate(distinct)}
    return Factor(distinct, np.fromiter(map(position.__getitem__, items), np.int32, len(items)))


def _missing_label(what: str, row: int, source: Source) -> ValueError:
    dropped = " with drop_missing=True" * source.is_table_file
    remedy = (
        f"give it a label or drop the row{dropped}, or pass labels of a judge for all as judge="
    )
    if what == source.predicted:
        remedy = (
            "fill such cells with a label of their own, such as 'none', which counts as wrong, or "
            f"drop their rows{dropped} to judge the decided ones alone"
        )
    return ValueError(f"{what} has a missing label at {source.row(row)}: {remedy}")


def _unusable_labels(items: list[Any], what: str, source: Source) -> TypeError:
    first_rows: dict[type, int] = {}
    for row, item in enumerate(items):
        first_rows.setdefault(type(item), row)
    for kind, row in first_rows.items():
        if kind not in {str, int, bool, float}:
            return TypeError(
                f"{what} holds a {kind.__name__} at {source.row(row)}; labels must be int, str "
                "or bool"
            )
    kinds = [f"{kind.__name__} at {source.row(row)}" for kind, row in first_rows.items()]
    return TypeError(f"{what} mixes labels of several kinds: {', '.join(kinds)}; convert to one")


def label_order(labels: Any, kind: type, source: Source) -> list[Label]:
    """Check the order given by the user; `kind` is that of the observed labels."""
    factor = factorize(labels, "labels", IN_MEMORY)
    order = [factor.distinct[code] for code in factor.codes]
    twice = repeated(order)
    if twice:
        raise ValueError(f"labels names {listing(twice)} more than once; name each class once")
    if source is IN_MEMORY or factor.kind is not str:
        return order
    # On a command line every label is text
    spelled = [spelled_label(str(label), kind) for label in order]
    return [label if value is None else value for label, value in zip(order, spelled, strict=True)]


def is_among(labels: Sequence[Hashable], label: Any) -> bool:
    """Whether this is one of the labels; it may be anything."""
    # A set compares hashes first: comparing pandas.NA with a label has no truth value
    return isinstance(label, Hashable) and label in set(labels)


def place_of_class(pos_label: Any, labels: Sequence[Hashable]) -> int:
    """Return the position of the class ``pos_label``, or that it spells; refuse what is none."""
    is_text = isinstance(pos_label, str)
    label = spelled_label(pos_label, type(labels[0])) if is_text else pos_label
    if not is_among(labels, label):
        given = pos_label if label is None else label
        raise ValueError(
            f"pos_label= must be one of the classes {listing(labels)}, but it is {given!r}"
        )
    return list(labels).index(label)


def spelled_label(text: str, kind: type) -> Label | None:
    """Return the label of a kind that a text spells, None if it spells none."""
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower())
    if kind is int:
        return int(text) if re.fullmatch("-?[0-9]+", text) else None
    return text or None


def union(observed: Factor, hard: Factor, source: Source) -> list[Label]:
    """Sorted distinct labels of two columns, which must be of one kind or equal as True and 1.

    Raises
    ------
    ValueError
        If the hard labels are texts of scores.
    """
    are_numbers = all(isinstance(x, str) and _DECIMAL.fullmatch(x) for x in hard.distinct)
    if are_numbers and not set(observed.distinct) & set(hard.distinct):
        numbers = [float(str(x).strip("% ").replace(",", ".")) for x in hard.distinct]
        _whole_numbers(np.array(numbers)[hard.codes], source.predicted, source)
    if hard.kind is not observed.kind and not set(hard.distinct) <= set(observed.distinct):
        raise TypeError(
            f"{source.true} holds {observed.kind.__name__} labels ({listing(observed.distinct)}) "
            f"but {source.predicted} holds {hard.kind.__name__} labels ({listing(hard.distinct)}); "
            "convert to one kind, as codes to names by np.array(names)[codes]"
        )
    return sorted_labels({*observed.distinct, *hard.distinct})


def unpredicted_message(
    true: Codes, predicted: Codes, labels: Sequence[Label], source: Source
) -> str | None:
    """Say which classes are never predicted if others never occur, or if it may be no class."""
    counts, n_predicted = (np.bincount(x, minlength=len(labels)) for x in (true, predicted))
    only_one = (counts > 0) & (n_predicted == 0), (counts == 0) & (n_predicted > 0)
    lost, strange = ([labels[code] for code in np.flatnonzero(x).tolist()] for x in only_one)
    if lost and strange and np.count_nonzero(counts) > 1:
        return (
            f"recode {source.predicted} if its codes differ from those of {source.true}, such as "
            f"predictions that count from 0 and classes that count from 1: {listing(strange)} "
            f"never occur, and {listing(lost)} are never predicted"
        )
    for label in lost:
        n, others = counts[labels.index(label)], [x for x in labels if x != label]
        is_code = isinstance(label, str) or label < 0 or label > max(map(int, others)) + 1
        if is_code and max(_MANY, _NOTABLE * len(true)) <= n:
            remedy = f" with drop_label={[label]}" if source.is_table_file else ""
            return (
                f"drop the rows of label {label!r}{remedy} if it marks rows to be ignored: it has "
                f"{n} rows, but is never predicted"
            )
    return None


def look_alikes(labels: Collection[Hashable]) -> str | None:
    """Say which labels differ only in case or in spaces around them."""
    of_form: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            of_form.setdefault(label.strip().casefold(), []).append(label)
    alike = next((x for x in of_form.values() if len(x) > 1), None)
    if alike is None:
        return None
    return (
        f"write labels {listing(sorted(alike))} alike if they are one class: they differ only in "
        "case or in spaces, but are taken for different classes"
    )


def positive_message(labels: Sequence[Hashable]) -> str | None:
    """Say that a word of absence is the second of two classes, and only that."""
    absent = [ABSENT.match(str(x).strip()) is not None for x in labels]
    remedy = f"pass pos_label={labels[0]!r} if that is the positive class, else {labels[-1]!r}"
    last = f"class {labels[-1]!r} is taken for it, since it is the last in sorted order"
    return f"{remedy}: {last}" if absent == [False, True] else None


def odd_labels(factor: Factor, source: Source) -> str | None:
    """Say which labels may be no classes: look-alikes of others, or one in a row of totals."""
    if (alike := look_alikes(factor.distinct)) or not source.is_table_file:
        return alike
    counts = np.bincount(factor.codes)
    if (counts == 1).sum() == 1 and len(counts) > 2:
        code = int((counts == 1).argmax())
        return (
            f"label {factor.distinct[code]!r} occurs only once, at "
            f"{source.row(int((factor.codes == code).argmax()))}: if this is a row of totals, or "
            "the header again, take it out"
        )
    return None


def sorted_labels(labels: Collection[Label]) -> list[Label]:
    """Sort labels; texts that are all numbers in the order of the numbers."""
    if all(isinstance(label, str) and _NUMBER.fullmatch(label) for label in labels):
        return sorted(labels, key=lambda label: (float(label), label))
    return sorted(labels)


def natural_order(labels: Collection[Label]) -> list[Label]:
    """Sort labels such that digits within texts count as numbers."""
    if all(isinstance(label, str) and not _NUMBER.fullmatch(label) for label in labels):
        return sorted(labels, key=lambda x: re.sub("[0-9]+", lambda y: y[0].zfill(20), str(x)))
    return sorted_labels(labels)


def positional_classes(
    width: int, distinct: list[Label], order: list[Label] | None, source: Source
) -> list[Label]:
    """Classes of columns without names."""
    labels = distinct if order is None else order
    if len(labels) == width:
        if order is None:
            check_order(labels, natural_order(labels), "numbers", source)
        return labels
    if order is not None:
        remedy = "name one class per column"
    elif len(labels) > width:
        remedy = "give one column per class"
    else:
        remedy = "pass labels= with the class of each column, in column order"
    raise ValueError(
        f"{source.true if order is None else 'labels'} has {len(labels)} distinct labels "
        f"({listing(labels)}) but {source.scores} has {width} columns: {remedy}"
    )


def check_order(labels: list[Label], other: list[Label], of: str, source: Source) -> None:
    """Refuse labels that have two orders, since columns without names may have either."""
    if sorted(labels) != other:
        raise ValueError(
            f"{source.true} holds labels with two orders, and {source.scores} has no column names: "
            f"the columns may be in the order of the text ({listing(sorted(labels))}), as those of "
            f"scikit-learn are, or of the {of} ({listing(other)}). Pass labels= with the class of "
            "each column, in column order, such as labels=classifier.classes_"
        )


def encode(
    factor: Factor,
    labels: Sequence[Hashable],
    what: str,
    source: Source,
    *,
    has_scores: bool = True,
) -> Codes:
    """Codes into `labels` instead of into the distinct labels of one column."""
    position: dict[Any, int] = {label: code for code, label in enumerate(labels)}
    unknown = [code for code, label in enumerate(factor.distinct) if label not in position]
    if unknown:
        first = int(np.isin(factor.codes, unknown).argmax())
        strange = listing([factor.distinct[code] for code in unknown])
        lack, others = "without a score column", "there are columns for"
        if not has_scores:
            lack, others = "not in labels=", "the classes are"
        remedy = _REMEDY_OF_ABSTENTIONS if what == source.predicted and has_scores else ""
        are_codes = factor.kind is int and set(factor.distinct) <= set(range(len(labels)))
        if source is IN_MEMORY and are_codes and isinstance(labels[0], str):
            remedy = f"; if they count the classes, pass np.array({[*labels]})[{what}]"
        if alike := look_alikes({*factor.distinct, *position}):
            remedy = f". Note: {alike}"
        raise ValueError(
            f"{what} has labels {lack}: {strange}, first at {source.row(first)}; "
            f"{others} {listing(labels)}{remedy}"
        )
    return np.array([position[label] for label in factor.distinct], np.int32)[factor.codes]
