"""Rows of several inputs: matched by their index, with one name for each."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.arrays import as_array, check_length, is_missing, plain, read_only
from dmfroc.inputs.messages import IN_MEMORY, Source


def row_index(values: Any) -> Any:
    """Return the index of the rows as one of pandas; None if there is none."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    xarray = sys.modules.get("xarray")
    if xarray is not None and isinstance(values, xarray.DataArray):
        index = values.indexes.get(values.dims[0]) if values.ndim else None
    else:
        native = values.to_native() if hasattr(values, "to_native") else values
        index = getattr(native, "index", None)
    return index if isinstance(index, pandas.Index) else None


def positions(keys: Any, wanted: Any) -> NDArray[np.intp] | None:
    """Return where each of the wanted keys is among the keys.

    Both are indexes of pandas. None unless both hold the same keys, each once.
    """
    if len(keys) != len(wanted) or not (keys.is_unique and wanted.is_unique):
        return None
    try:
        order: NDArray[np.intp] = keys.get_indexer(wanted)
    except (TypeError, ValueError):  # keys of kinds that do not compare
        return None
    return None if (order < 0).any() else order


class Rows:
    """The index that the rows of all inputs so far have, if any.

    An index that merely counts the rows names nothing. Its input is matched by position, as one
    without index is, unless another input has the same numbers in another order.
    """

    def __init__(self, index: Any = None, what: str = "y_true") -> None:
        self.index = index
        self._what = what

    def arranged(self, array: NDArray[Any], values: Any, what: str) -> NDArray[Any]:
        """Return what was made of ``values``, with the rows in the order of earlier inputs."""
        order = self.order(row_index(values), what)
        return array if order is None else array[order]

    def order(self, index: Any, what: str) -> NDArray[np.intp] | None:
        """Return the rows of an index in the order of earlier inputs; None for as they are."""
        if index is None or (self.index is not None and index.equals(self.index)):
            return None
        if self.index is None:
            self.index, self._what = index, what
            return None
        order = positions(index, self.index)
        if _counts_rows(self.index) or _counts_rows(index):
            if order is not None:
                raise self._mismatch(
                    index,
                    what,
                    "hold the same values in another order, and one of them only counts the rows",
                )
            if _counts_rows(self.index):
                self.index, self._what = index, what
            return None
        if order is None:
            raise self._mismatch(index, what, "do not name the same rows, each once")
        return order

    def check_same(self, index: Any, what: str) -> None:
        """Refuse an index whose rows are in another order."""
        if self.order(index, what) is not None:
            raise self._mismatch(index, what, "hold the same values in another order")

    def _mismatch(self, index: Any, what: str, how: str) -> ValueError:
        n = min(len(index), len(self.index))
        differs = [a != b for a, b in zip(index[:n].tolist(), self.index[:n].tolist(), strict=True)]
        row = differs.index(True) if True in differs else n - 1
        return ValueError(
            f"the indexes of {self._what} and {what} {how}: at {IN_MEMORY.row(row)} they are "
            f"{plain(self.index[row])!r} and {plain(index[row])!r}. Match the rows first, as in "
            "b.loc[a.index], or drop the index with .to_numpy() if the rows match by position"
        )


def _counts_rows(index: Any) -> bool:
    """Whether an index has the values 0, 1, ..., n - 1, as one has that nobody chose."""
    if index.nlevels > 1 or index.dtype.kind not in "iu":
        return False
    return bool((index.to_numpy() == np.arange(len(index))).all())


def row_names(values: Any, what: str, n: int, index: Any, noun: str) -> NDArray[Any]:
    """Check one name for each of n rows, none missing, all of one kind.

    Parameters
    ----------
    values : array-like of shape (n,)
        Names of whatever kind that can be sorted.
    what : str
        The argument.
    n : int
        Number of rows.
    index : pandas.Index or None
        Index of the other inputs.
    noun : str
        What is named, as in "a group".
    """
    array: NDArray[Any]
    if isinstance(values, list | tuple) and not _holds_arrays(values):
        # NumPy would turn 1 and "1" into the same, NaN into "nan", and pairs into rows
        array = np.fromiter(values, object, len(values))
    else:
        array = as_array(values, what)
    if array.shape != (n,):
        raise ValueError(
            f"{what} must have one entry for each of the {n} observations, but its shape is "
            f"{array.shape}"
        )
    if array.dtype.kind in "OT":
        array = _of_one_kind(array, what, noun)
    elif (array != array).any():  # NaN or NaT
        raise _missing(what, int((array != array).argmax()), noun)
    return Rows(index).arranged(array, values, what)


def _holds_arrays(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether some of the values are lists, or arrays of no dimension of another library."""
    return any(
        kind is list
        or (hasattr(kind, "__array__") and not issubclass(kind, np.generic | np.ma.MaskedArray))
        for kind in set(map(type, values))
    )


def check_ids(values: Any, n: int, source: Source) -> NDArray[Any]:
    """Return the names of n rows, which must differ."""
    array = as_array(values, source.id)
    if array.ndim != 1:
        raise ValueError(f"{source.id} has shape {array.shape}, but must be one id per row")
    check_length(source.id, len(array), n, source)
    rows: dict[Any, int] = {}
    for row, item in enumerate(array.tolist()):
        if is_missing(item):
            raise ValueError(f"{source.id} has a missing value at {source.row(row)}")
        if rows.setdefault(item, row) != row:
            raise ValueError(
                f"{source.id} has {item!r} at {source.row(rows[item])} and {source.row(row)}, but "
                "an id must name one row: combine columns to one id if need be"
            )
    return read_only(array)


def _of_one_kind(array: NDArray[Any], what: str, noun: str) -> NDArray[Any]:
    items = [plain(item) for item in array.tolist()]
    kinds = set(map(type, items))
    if kinds == {str}:
        return array.astype(object)
    if kinds == {int} and (numbers := np.array(items)).dtype.kind in "iu":
        return numbers
    rows: dict[type, int] = {}
    for row, item in enumerate(items):
        if is_missing(item):
            raise _missing(what, row, noun)
        rows.setdefault(type(item), row)
    if len(rows) > 1 and not set(rows) <= {bool, int, float}:
        each = ", ".join(f"{kind.__name__} at {IN_MEMORY.row(row)}" for kind, row in rows.items())
        raise TypeError(f"{what} mixes names of several kinds: {each}; convert them to one")
    try:
        sorted(items)
        set(items)
    except TypeError as error:
        raise TypeError(
            f"{what} holds a {type(items[0]).__name__} at {IN_MEMORY.row(0)}, which cannot name "
            f"{noun}: convert the names to text"
        ) from error
    return np.fromiter(items, object, len(items))


def _missing(what: str, row: int, noun: str) -> ValueError:
    return ValueError(
        f"{what} has a missing value in {IN_MEMORY.row(row)}: name {noun} for every observation"
    )
