"""Columns whose cells hold the scores of all classes: lists, or scores by class."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dmfroc.inputs.labels import Label
from dmfroc.inputs.messages import listing
from dmfroc.inputs.score_doubts import ROUNDING

_WRAPPED = re.compile(
    r"(?:np\.)?(?:float\d+|array|tensor|DenseVector)\(([^()]*?)(?:, \w+=[^()]*)?\)"
)
_NO_DECIMALS = re.compile(r"[^'\"]*(\d_\d|\b0[xXoObB]|#)[^'\"]*")  # of Python, and comments
_WEKA = re.compile(r"\*?[\d.eE+-]+(,\*?[\d.eE+-]+)*")
_VECTOR = {"type", "size", "indices", "values"}  # fields of a vector of Spark's


def holds_lists(column: Any) -> bool:
    """Whether the cells of a column of pyarrow are lists or objects, or texts of such.

    Weka writes lists without brackets, and marks the predicted class: ``0.1,*0.8,0.1``.
    """
    from pyarrow import types

    if types.is_string(column.type) or types.is_large_string(column.type):
        first = next((x for x in column[:100].to_pylist() if x is not None), "")
        return bool(re.match(r"\s*(\w+\()?[\[{]|\(\d+,\s*\[|[\d.,]*\*[\d.]+", first))
    return bool(types.is_nested(column.type))


def table_of_lists(
    columns: Mapping[str, Any],
    chosen: Collection[str],
    labels: list[Any] | None,
    distinct: list[Label],
) -> Any:
    """Return the scores in a column of lists as a table of pyarrow with a column for each class.

    Parameters
    ----------
    columns
        All columns of pyarrow with lists of numbers, in the order of the classes; or with objects
        or lists of pairs, which name them. One of them may list the classes of another.
    chosen
        Names of those that may hold the scores.
    labels
        The classes as the user gave them.
    distinct
        The classes that occur.

    Raises
    ------
    ValueError
        If several columns may hold the scores, if the lists differ in length, or if nothing says
        which number belongs to which class.
    """
    import pyarrow

    cells: dict[str, list[Any]] = {}
    errors = []
    for name, column in columns.items():
        try:
            cells[name] = _cells(name, column)
        except ValueError as error:
            errors += [error] * (name in chosen)
    naming = [name for name, lists in cells.items() if _name_classes(lists, distinct)]
    able = [name for name in chosen if name in cells and name not in naming]
    able = [name for name in able if _may_be_scores(cells[name][0])] or able
    if not able:
        raise errors[0] if errors else ValueError(f"columns {listing(naming)} list classes only")
    if len(able) > 1:  # one may be probabilities, others features
        able = [name for name in able if all(map(_sums_to_one, cells[name]))] or able
    if len(able) > 1:
        raise ValueError(f"columns {listing(able)} hold lists: choose the scores with scores=")
    [name] = able
    lists = cells[name]
    if isinstance(lists[0], list) and len(naming) == 1:
        lists = [
            dict(zip(keys, x, strict=len(keys) == len(x)))
            for keys, x in zip(cells[naming[0]], lists, strict=True)
        ]
    if any(isinstance(x, Mapping) or isinstance(x[0], list | tuple | Mapping) for x in lists):
        rows = [_by_class(name, row, cell, distinct) for row, cell in enumerate(lists)]
    else:
        classes = _classes(name, {len(cell) for cell in lists}, labels, distinct)
        rows = [dict(zip(classes, cell, strict=True)) for cell in lists]
    names = dict.fromkeys(key for row in rows for key in row)
    try:
        return pyarrow.table({key: [row.get(key) for row in rows] for key in names})
    except pyarrow.ArrowException as error:
        raise ValueError(f"column {name!r} lists other things than numbers: {error}") from error


def _cells(name: str, column: Any) -> list[Any]:
    """Return the lists or objects in a column, also those spelled as text."""
    from pyarrow import types

    if types.is_struct(column.type) and {field.name for field in column.type} == _VECTOR:
        raise ValueError(
            f"column {name!r} holds vectors of Spark's: save lists, by "
            "pyspark.ml.functions.vector_to_array"
        )
    cells = column.to_pylist()
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            cell = _parsed(name, row, cell)
        if isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], list):
            inner = cell[0]  # of one observation, unless it is a pair of a class and its score
            cell = cell if any(isinstance(x, str) for x in inner) else inner
        if isinstance(cell, list) and all(map(_is_judged, cell)):
            cell = [float(x) for x, _ in cell]
        if not (isinstance(cell, list | Mapping) and cell):
            raise ValueError(
                f"column {name!r} has no list of scores at data row {row + 1}: save one column "
                "for each class"
            )
        cells[row] = cell
    return cells


def _is_judged(item: Any) -> bool:
    """Whether an item is the log-probability of an answer and whether the model would give it."""
    return isinstance(item, list) and len(item) == 2 and str(item[1]) in ("True", "False")


def _may_be_scores(cell: Any) -> bool:
    """Whether a list has no texts, or an object only numbers or, beside others, a list of them."""
    if not isinstance(cell, Mapping):
        return not isinstance(cell[0], str)
    inner = [x for x in cell.values() if isinstance(x, list | Mapping)]
    return any(map(_may_be_scores, filter(None, inner))) or not any(
        isinstance(x, str | Mapping) for x in cell.values()
    )


def _sums_to_one(cell: Any) -> bool:
    is_numbers = isinstance(cell, list) and all(isinstance(x, float | int) for x in cell)
    return is_numbers and abs(sum(cell) - 1) <= ROUNDING


def _name_classes(lists: Sequence[Any], distinct: list[Label]) -> bool:
    """Whether all lists hold different names, and all classes are among these."""
    named: set[str] = set()
    for cell in lists:
        texts = {str(x) for x in cell if isinstance(x, str | int)}
        if not isinstance(cell, list) or len(texts) < len(cell):
            return False
        named |= texts
    return named.issuperset(map(str, distinct))


def _parsed(name: str, row: int, text: Any) -> Any:
    """Return the list that JSON, Python, NumPy, which has no commas, or PyTorch has written."""
    text = str(text)
    while (inner := _WRAPPED.sub(r"\1", text)) != text:
        text = inner
    with_commas = re.sub(r"(?<=[\d.])\s+(?=[-+]?[\d.])", ", ", text)
    for reader, given in (
        (json.loads, text),
        (ast.literal_eval, "" if _NO_DECIMALS.fullmatch(text) else text),
        (ast.literal_eval, "" if "," in text else with_commas),
        (json.loads, f"[{text.replace('*', '')}]" if _WEKA.fullmatch(text) else ""),
    ):
        try:
            return reader(given)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    raise ValueError(
        f"column {name!r} has {str(text)[:60]!r} at data row {row + 1}, which is no list of "
        "scores: save one column for each class"
    )


def _classes(
    name: str, lengths: set[int], labels: list[Any] | None, distinct: list[Label]
) -> list[str]:
    if len(lengths) > 1:
        raise ValueError(
            f"column {name!r} holds lists of {listing(sorted(lengths))} numbers: all must have one "
            "number for each class"
        )
    [n_classes] = lengths
    if labels is None:
        # Sorted names would be a guess: Spark, for one, has the most frequent class first
        places = range(n_classes)
        if not (set(distinct) <= set(places) or set(distinct) <= set(map(str, places))):
            raise ValueError(
                f"column {name!r} holds lists of {n_classes} numbers, which do not say to which "
                "classes they belong: pass labels= with the classes in the order of the lists"
            )
        labels = list(range(n_classes))
    if len(labels) != n_classes:
        raise ValueError(
            f"column {name!r} holds lists of {n_classes} numbers, but labels has {len(labels)} "
            f"classes: {listing(labels)}"
        )
    return [str(label) for label in labels]


def _by_class(name: str, row: int, cell: Any, distinct: list[Label]) -> dict[str, Any]:
    """Return the scores of one row by class."""
    if isinstance(cell, Mapping):
        objects = [x for x in cell.values() if isinstance(x, Mapping)]
        if len(objects) == 1:
            return _by_class(name, row, objects[0], distinct)
        lists = [x for x in cell.values() if isinstance(x, list) and x]
        scores = [x for x in lists if not any(isinstance(item, str) for item in x)]
        names = [x for x in lists if x not in scores or _name_classes([x], distinct)]
        # Beside the classes themselves there may be their numbers
        keys = max(names, key=lambda x: len({*x}.intersection(map(str, distinct))), default=[])
        others = [x for x in scores if x is not keys]
        if len(others) > 1:
            others = [x for x in others if not all(isinstance(item, int) for item in x)]
        if len(others) == 1 and len(keys) == len(others[0]):
            return dict(zip(map(str, keys), others[0], strict=True))
        return {str(key): score for key, score in cell.items()}
    pairs = [tuple(x.values() if isinstance(x, Mapping) else x) for x in cell]
    pairs = [pair[::-1] if isinstance(pair[-1], str) else pair for pair in pairs]
    by_class = {str(pair[0]): pair[-1] for pair in pairs}
    if len(by_class) < len(pairs) or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"column {name!r} should list pairs of a class and its score, each class once, but "
            f"holds {cell} at data row {row + 1}: save one column for each class"
        )
    return by_class
