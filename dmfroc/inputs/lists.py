"""Columns whose cells hold the scores of all classes: lists, or scores by class."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from dmfroc.inputs.labels import Label
from dmfroc.inputs.messages import listing

_WRAPPED = re.compile(r"(?:np\.)?(?:float\d+|array|tensor)\(([^()]*?)(?:, \w+=[^()]*)?\)")
_VECTOR = {"type", "size", "indices", "values"}  # fields of a vector of Spark's


def holds_lists(column: Any) -> bool:
    """Whether the cells of a column of pyarrow are lists or objects, or texts of such."""
    from pyarrow import types

    if types.is_string(column.type) or types.is_large_string(column.type):
        first = next((x for x in column[:100].to_pylist() if x is not None), "")
        return bool(re.match(r"\s*(\w+\()?[\[{]", first))  # tensor([...], too
    return bool(types.is_nested(column.type))


def table_of_lists(name: str, column: Any, labels: list[Any] | None, distinct: list[Label]) -> Any:
    """Return the scores in a column of lists as a table of pyarrow with a column for each class.

    Parameters
    ----------
    name
        What errors call the column.
    column
        Lists of numbers, in the order of the classes; or objects or lists of pairs, which name
        them.
    labels
        The classes as the user gave them.
    distinct
        The classes that occur.

    Raises
    ------
    ValueError
        If the lists differ in length, or nothing says which number belongs to which class.
    """
    import pyarrow
    from pyarrow import types

    if types.is_struct(column.type) and {field.name for field in column.type} == _VECTOR:
        raise ValueError(
            f"column {name!r} holds vectors of Spark's: save lists, by "
            "pyspark.ml.functions.vector_to_array"
        )
    cells = column.to_pylist()
    if any(isinstance(cell, str) for cell in cells):
        cells = [_parsed(name, row, cell) for row, cell in enumerate(cells)]
    for row, cell in enumerate(cells):
        if not (isinstance(cell, list | Mapping) and cell):
            raise ValueError(f"column {name!r} has no list of scores at data row {row + 1}")
    if any(
        isinstance(cell, Mapping) or isinstance(cell[0], list | tuple | Mapping) for cell in cells
    ):
        rows = [_by_class(name, row, cell) for row, cell in enumerate(cells)]
    else:
        classes = _classes(name, {len(cell) for cell in cells}, labels, distinct)
        rows = [dict(zip(classes, cell, strict=True)) for cell in cells]
    names = dict.fromkeys(key for row in rows for key in row)
    try:
        return pyarrow.table({key: [row.get(key) for row in rows] for key in names})
    except pyarrow.ArrowException as error:
        raise ValueError(f"column {name!r} lists other things than numbers: {error}") from error


def _parsed(name: str, row: int, text: Any) -> Any:
    """Return the list that JSON, Python, NumPy, which has no commas, or PyTorch has written."""
    text = str(text)
    while (inner := _WRAPPED.sub(r"\1", text)) != text:
        text = inner
    with_commas = re.sub(r"(?<=[\d.])\s+(?=[-+\d.])", ", ", text)
    for reader, given in (
        (json.loads, text),
        (ast.literal_eval, text),
        (ast.literal_eval, with_commas),
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
        if not set(distinct) <= set(range(n_classes)):
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


def _by_class(name: str, row: int, cell: Any) -> dict[str, Any]:
    """Return the scores of one row by class."""
    if isinstance(cell, Mapping):
        lists = [x for x in cell.values() if isinstance(x, list) and x]
        names = [x for x in lists if all(isinstance(item, str) for item in x)]
        if (
            len(lists) == 2 and len(names) == 1 and len(lists[0]) == len(lists[1])
        ):  # of the classes, beside their scores
            [scores] = [x for x in lists if x is not names[0]]
            return dict(zip(names[0], scores, strict=True))
        return {str(key): score for key, score in cell.items()}
    pairs = [tuple(x.values() if isinstance(x, Mapping) else x) for x in cell]
    pairs = [pair[::-1] if isinstance(pair[-1], str) else pair for pair in pairs]
    found = {str(pair[0]): pair[-1] for pair in pairs}
    if len(found) < len(pairs) or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"column {name!r} should list pairs of a class and its score, each class once, but "
            f"holds {cell} at data row {row + 1}: save one column for each class"
        )
    return found
