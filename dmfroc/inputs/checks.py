"""The whole check: from what was given or read to the fields of `Predictions`.

Columns, labels, scores, then all doubts over what is finished, in one list. None is given here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmfroc._kit.memory import check_memory
from dmfroc.inputs.arrays import (
    Array,
    Codes,
    Numbers,
    Rows,
    as_array,
    as_floats,
    categories_in_order,
    check_ids,
    check_length,
    whole_as_int,
)
from dmfroc.inputs.columns import NOTHING_SAID, Positive
from dmfroc.inputs.labels import (
    Factor,
    Label,
    encode,
    factorize,
    label_order,
    look_alikes,
    odd_labels,
    positive_message,
    sorted_labels,
    union,
    unpredicted_message,
)
from dmfroc.inputs.messages import IN_MEMORY, Source, listing
from dmfroc.inputs.row_doubts import row_doubt
from dmfroc.inputs.score_doubts import Checked, are_complements, difference, doubts
from dmfroc.inputs.scores import class_scores, columns_without_scores, ignored_message

AS_GIVEN = "one per row, as given"
_BYTES_OF_ROW = 16  # of its class, hard label and weight
_LARGEST_EXPONENT = 64  # of two; the cube of the sum of a billion such weights is finite
_LARGEST_COUNT = 2**53  # up to here every whole number is a float
_LARGEST_RATIO = 166  # its logarithm to the base two


type Finished = tuple[dict[str, Any], tuple[str, ...]]
"""Fields of `Predictions`, and the warnings about them."""


class Inputs(NamedTuple):
    """What is to be checked, and where it is."""

    y_true: Any
    y_score: Any
    labels: Any
    sample_weight: Any = None
    y_pred: Any = None
    frequency_weight: Any = None
    id: Any = None
    unused: Any = None  # columns of a file that are nothing else, but perhaps scores
    source: Source = IN_MEMORY
    copy: bool = True  # scores that need no conversion
    others: Any = None  # columns of a file that the user names for another use
    positive: Positive = NOTHING_SAID


def check_table(inputs: Inputs) -> Finished:
    """Check the columns of a file, where hard labels may be alone."""
    if inputs.y_pred is None or inputs.source.has_chosen_scores:
        return check_scores(inputs)
    observed, order = _observed(inputs)
    others = columns_without_scores(inputs.y_score, order or observed.distinct, inputs.source)
    if others is None:
        return check_scores(inputs)
    return check_hard_labels(inputs, ignored_message(others))


def check_scores(inputs: Inputs) -> Finished:
    """Check labels with scores, and with hard labels where those are given."""
    source = inputs.source
    observed, order = _observed(inputs)
    stated = [] if order is not None else stated_order(inputs, observed)
    if len(observed.distinct) < 2 and order is None:
        raise ValueError(one_class_message(source.true, observed.distinct[0]))
    n = len(observed.codes)
    try:
        given: Any = {"positive": inputs.positive, "stated": stated, "copy": inputs.copy}
        labels, scores, names, single, remarks = class_scores(
            inputs.y_score, n, observed.distinct, order, source, **given
        )
    except ValueError as error:
        hint = odd_labels(observed, source) if order is None else None
        if hint is None:
            raise
        raise ValueError(f"{error}. Note: {hint}") from error
    if single is None and inputs.positive.direction is not None:
        raise ValueError(f"direction= concerns a single score, but there are {len(labels)} columns")
    rows = Rows(inputs.y_true, source.true)
    scores = rows.arranged(scores, inputs.y_score, source.scores)
    true = encode(observed, labels, source.true, source)
    predicted = None
    if inputs.y_pred is not None:
        predicted = encode(hard_labels(inputs, n, rows), labels, source.predicted, source)
    elif single is None:
        predicted = scores.argmax(axis=1).astype(np.int32)
    fields, of_rows = _completed(inputs, labels, rows, true, scores, predicted, names or ())
    fields["single"] = single
    if order is None and not stated and (single is None or names is None):
        fields["doubtful_positive"] = positive_message(labels)
    given = fields["scores"]
    if len(labels) == 2 and single is None and not are_complements(given):
        fields["scores"] = difference(given)
    finished = fields["true"], given, fields["scores"], fields["predicted"]
    has_hard = inputs.y_pred is not None
    found = Checked(*finished, has_hard, labels, names, single, inputs.positive, source)
    told = [*remarks, of_rows, *doubts(found)]
    return fields, tuple(dict.fromkeys(filter(None, told)))


def check_hard_labels(inputs: Inputs, of_columns: str | None = None) -> Finished:
    """Check labels with hard labels, whose scores are one-hot."""
    source = inputs.source
    if inputs.positive.direction is not None:
        raise ValueError("direction= concerns a single score, but there are hard labels alone")
    observed, labels = _observed(inputs)
    rows = Rows(inputs.y_true, source.true)
    hard, alike, doubt = hard_labels(inputs, len(observed.codes), rows), None, None
    if labels is None:
        labels = union(observed, hard, source)
        alike = look_alikes(labels)
        stated = stated_order(inputs, observed)
        if set(labels) <= set(stated):  # one between others counts for their distance
            used = [place for place, label in enumerate(stated) if label in set(labels)]
            labels = stated[used[0] : used[-1] + 1]
        else:
            doubt = positive_message(labels)
    if len(labels) < 2:
        raise ValueError(
            f"{source.true} and {source.predicted} hold one class only ({labels[0]!r}): name all "
            "classes, two or more, in labels="
        )
    true = encode(observed, labels, source.true, source, has_scores=False)
    predicted = encode(hard, labels, source.predicted, source, has_scores=False)
    scores = np.eye(len(labels))[predicted]
    fields, of_rows = _completed(inputs, labels, rows, true, scores, predicted)
    fields |= {"has_scores": False, "doubtful_positive": doubt}
    unpredicted = unpredicted_message(true, predicted, labels, source)
    told = [of_columns, alike, unpredicted, of_rows]
    return fields, tuple(filter(None, told))


def _completed(
    inputs: Inputs,
    labels: list[Label],
    rows: Rows,
    true: Codes,
    scores: Any,
    predicted: Codes | None,
    names: Sequence[Hashable] = (),
) -> tuple[dict[str, Any], str | None]:
    """Weigh and name the rows, or repeat every row as often as it was observed.

    Returns the fields of `Predictions`, and what is doubtful about the rows. ``names`` are those
    of the score columns.
    """
    source, unused, doubt, ids, counts = inputs.source, inputs.unused, None, None, None
    weight = check_weights(inputs.sample_weight, true, labels, source, rows)
    if unused is not None:
        unused = unused.select([x for x in unused.column_names if x not in names])
        doubt = row_doubt(unused, inputs.others, true)
    design = dict(source.design)
    if inputs.labels is not None and labels != sorted_labels(labels):
        design["labels"] = labels
    if np.ptp(weight[weight > 0]) > 0:
        design["weights"] = AS_GIVEN
    if inputs.y_pred is not None and inputs.y_score is not None:
        design["hard_labels"] = "as given"
    arrays = {"true": true, "scores": scores, "sample_weight": weight, "predicted": predicted}
    if inputs.frequency_weight is None:
        if inputs.id is not None:
            ids = rows.arranged(check_ids(inputs.id, len(true), source), inputs.id, source.id)
    elif inputs.id is not None:
        raise ValueError(
            f"{source.id} names single rows, but {source.frequency} repeats them: leave one of "
            "them out"
        )
    else:
        unused, counts = None, check_counts(inputs.frequency_weight, true, labels, source, rows)
        n = int(counts.sum())
        width = scores.itemsize * len(labels) + _BYTES_OF_ROW
        what = f"repeating the rows {n} times by {source.frequency}"
        check_memory(width * n, what, "add up equal rows, or pass smaller counts")
        arrays = {x: a if a is None else a.repeat(counts, axis=0) for x, a in arrays.items()}
        design["frequency_weight"] = {"rows": len(counts), "observations": n}
    of_rows = {"index": rows.index, "ids": ids, "unused": unused, "frequency": counts}
    return {"labels": tuple(labels), **arrays, **of_rows, "design": design}, doubt


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


def stated_order(inputs: Inputs, observed: Factor) -> list[Label]:
    """Return the categories of the labels in the order that their columns state, if they do."""
    source = inputs.source
    given = ((inputs.y_true, source.true), (inputs.y_pred, source.predicted))
    orders = [order for x, what in given if (order := categories_in_order(x, what))]
    for order in orders[1:]:
        shared = [x for x in order if x in orders[0]]
        if shared != [x for x in orders[0] if x in order]:
            raise ValueError(
                f"{source.true} and {source.predicted} state different orders of their categories, "
                f"{listing(orders[0])} and {listing(order)}: pass labels= in the right order"
            )
    result: list[Any] = max(orders, key=len, default=[])
    result = [whole_as_int(x) for x in result]
    return result if set(observed.distinct) <= set(result) else []


def hard_labels(inputs: Inputs, n: int, rows: Rows) -> Factor:
    """Return the hard labels of n rows, arranged."""
    what = inputs.source.predicted
    hard = factorize(inputs.y_pred, what, inputs.source)
    check_length(what, len(hard.codes), n, inputs.source)
    return hard._replace(codes=rows.arranged(hard.codes, inputs.y_pred, what))


def check_weights(
    values: Any, true: Codes, labels: Sequence[Label], source: Source, rows: Rows
) -> Numbers:
    """Return one weight per observation in a new array; ones where none are given.

    Only their ratios matter, and their products must not overflow.
    """
    if values is None:
        return np.ones(len(true))
    weight = real_weights(values, len(true), source, rows)
    check_totals(np.bincount(true), np.bincount(true, weight), labels, source.weight)
    least, largest = weight[weight > 0].min(), weight.max()
    exponents = np.frexp([least, largest])[1]
    if np.ptp(exponents) > _LARGEST_RATIO:
        raise ValueError(
            f"{source.weight} has positive weights from {least} to {largest}: the largest must not "
            "be more than 1e50 times the smallest; give 0 to those that need not count"
        )
    # By a power of two, which is exact
    is_extreme = abs(exponents[1]) > _LARGEST_EXPONENT
    return np.ldexp(weight, -exponents[1]) if is_extreme else weight


def check_counts(
    values: Any, true: Codes, labels: Sequence[Label], source: Source, rows: Rows
) -> NDArray[np.int64]:
    """Return how often each row was observed."""
    what = source.frequency
    counts = real_weights(values, len(true), replace(source, weight=what), rows)
    is_broken = (counts % 1 != 0) | (counts >= _LARGEST_COUNT)
    if is_broken.any():
        row = int(is_broken.argmax())
        raise ValueError(
            f"{what} is {counts[row]} at {source.row(row)}: it says how often the row was "
            "observed, a whole number; pass weights as sample_weight="
        )
    check_totals(np.bincount(true), np.bincount(true, counts), labels, what)
    return counts.astype(np.int64)


def check_totals(counts: Array, totals: Array, labels: Sequence[Label], what: str) -> None:
    """Refuse weights that are zero in all rows, or in all rows of a class that has some."""
    if not totals.any():
        raise ValueError(f"{what} is zero in every row: some observations must count")
    empty = np.flatnonzero((counts > 0) & (totals == 0)).tolist()
    if empty:
        raise ValueError(
            f"{what} is zero in all rows of class {listing([labels[code] for code in empty])}: "
            "give some of them a positive weight, or drop the rows"
        )


def real_weights(values: Any, n: int, source: Source, rows: Rows) -> Numbers:
    """Return one finite weight >= 0 for each of n rows, arranged, in a new array."""
    what = source.weight
    weight = as_floats(as_array(values, what), what).astype(np.float64)
    if weight.ndim != 1:
        raise ValueError(f"{what} has shape {weight.shape}, but must be one number per row")
    check_length(what, len(weight), n, source)
    unusable = ~(np.isfinite(weight) & (weight >= 0))
    if unusable.any():
        row = int(unusable.argmax())
        raise ValueError(
            f"{what} is {weight[row]} at {source.row(row)}: it must be finite and >= 0"
        )
    return rows.arranged(weight, values, what)
