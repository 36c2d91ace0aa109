"""Columns and tables of any library as NumPy arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc.inputs.messages import IN_MEMORY, Source

type Floats = NDArray[np.float32] | NDArray[np.float64]

_LARGEST_EXACT = 2**53  # up to here every integer is a float


def from_library(values: Any, what: str) -> Any:
    """Wrap a column or table that narwhals knows as its Series or DataFrame; else None."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return None
    xarray = sys.modules.get("xarray")
    if xarray is not None and isinstance(values, xarray.DataArray):
        return _named_columns(values, what)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Categorical):
        values = pandas.Series(values)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(values, pyarrow.RecordBatch):
        # Unknown to narwhals, and NumPy would drop the column names
        values = pyarrow.Table.from_batches([values])
    try:
        table = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{what} has duplicate column names; rename them ({reason})") from error
    return table if isinstance(table, nw.DataFrame | nw.Series) else None


def _named_columns(values: Any, what: str) -> Any:
    """Wrap a matrix of xarray's whose last dimension names its columns; else None."""
    if values.ndim != 2 or values.dims[-1] not in values.coords:
        return None
    import pandas

    names = values.coords[values.dims[-1]].to_numpy().tolist()
    columns = dict(zip(names, values.to_numpy().T, strict=True))
    if len(columns) < len(names):
        raise ValueError(f"{what} has duplicate column names; rename them ({names})")
    return from_library(pandas.DataFrame(columns), what)


def is_table(wrapped: Any) -> bool:
    """Whether what `from_library` wrapped is a table, not a column."""
    return hasattr(wrapped, "columns")


def series_values(series: Any) -> NDArray[Any]:
    """Values of a column that `from_library` wrapped; those missing are None."""
    values: NDArray[Any] = series.to_numpy()
    missing = series.is_null().to_numpy()
    if missing.any():
        # In pyarrow's dictionary-encoded columns it came out as some other row's value
        values = values.astype(object)
        values[missing] = None
    return values


def categories_in_order(values: Any, what: str) -> list[Any] | None:
    """Return the categories of a column that has an order of its own, None if it has none."""
    categories = getattr(getattr(from_library(values, what), "dtype", None), "categories", None)
    return None if categories is None else list(categories)


def as_array(values: Any, what: str) -> NDArray[Any]:
    """Anything as an array of whatever type and shape; masked values are None."""
    wrapped = from_library(values, what)
    if wrapped is not None:
        return np.asarray(wrapped.to_numpy() if is_table(wrapped) else series_values(wrapped))
    if isinstance(values, list | tuple) and any(item is np.ma.masked for item in values):
        return np.fromiter((None if x is np.ma.masked else x for x in values), object, len(values))
    try:
        array = as_numpy(values, what)
    except ValueError as error:
        raise ValueError(f"{what} must be an array, not ragged lists") from error
    if np.ma.is_masked(values):
        array = array.astype(object)
        array[np.ma.getmaskarray(values)] = None
    return array


def as_numpy(values: Any, what: str, dtype: Any = None) -> NDArray[Any]:
    """Return what NumPy makes of a value, with words for tensors that it cannot read."""
    try:
        return np.asarray(values, dtype)
    except (TypeError, RuntimeError) as error:  # as of tensors that require a gradient
        reason = " ".join(str(error).split()).rstrip(".")
        raise TypeError(
            f"{what} cannot be read as an array of NumPy ({reason}): pass a tensor as "
            "tensor.detach().float().cpu()"
        ) from error


def as_floats(
    values: NDArray[Any],
    what: str,
    *,
    copy: bool | None = None,
    name_row: Callable[[int], str] = IN_MEMORY.row,
) -> NDArray[Any]:
    """Real numbers as a float32 or float64 array in C order; a new one only if need be."""
    kind = values.dtype.kind
    if kind == "O":
        values = _numbers(values, what, name_row)
    elif kind not in "biuf" and values.dtype.name != "bfloat16":
        raise TypeError(f"{what} holds {values.dtype} values; convert them to real numbers")
    is_short = kind not in "biuO" and values.dtype.itemsize <= 4
    return np.array(values, dtype=np.float32 if is_short else np.float64, order="C", copy=copy)


def _numbers(
    values: NDArray[Any], what: str, name_row: Callable[[int], str]
) -> NDArray[np.float64]:
    numbers = [np.nan if is_missing(item) else item for item in values.ravel().tolist()]
    for kind in set(map(type, numbers)):
        if not issubclass(kind, Real | Decimal | np.bool):  # NumPy would read "0.5" as a number
            place = _first_of(kind, numbers)
            row = place // (values[0].size if values.ndim > 1 else 1)
            remedy = "np.stack its rows" if kind in (list, np.ndarray) else "convert it"
            raise TypeError(
                f"{what} holds a {kind.__name__}; {remedy} to real numbers: {name_row(row)} has "
                f"{numbers[place]!r}"
            )
    try:
        floats = np.array(numbers, dtype=np.float64)
    except OverflowError:
        raise ValueError(
            f"{what} holds a number of more than 308 digits, beyond the range of a float: rescale "
            "it"
        ) from None
    return floats.reshape(values.shape)


def _first_of(kind: type, items: list[Any]) -> int:
    """Return the place of the first item of a kind, of text the first that is not of a number."""
    places = [place for place, item in enumerate(items) if type(item) is kind]
    if kind is not str:
        return places[0]
    return next((place for place in places if not _is_number(items[place])), places[0])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_distinct(
    values: NDArray[Any], floats: NDArray[np.float32] | NDArray[np.float64], what: str
) -> None:
    """Refuse numbers that differ and whose order is lost where they are floats."""
    kind = values.dtype.kind
    if kind == "O":
        exact = [x for x in values.ravel().tolist() if isinstance(x, int | Fraction | Decimal)]
        is_lost = len(set(exact)) > len({float(x) for x in exact})
    else:
        is_large = kind in "iu" and values.size > 0 and np.abs(floats).max() >= _LARGEST_EXACT
        is_longer = kind == "f" and values.dtype.itemsize > 8
        is_lost = (is_large or is_longer) and len(np.unique(values)) > len(np.unique(floats))
    if is_lost:
        raise ValueError(
            f"{what} holds numbers that differ by so little that in double precision they would be "
            "ties: subtract what they share, or replace them by their ranks"
        )


def score_matrix(y_score: Any, source: Source, *, copy: bool) -> Floats:
    """Return scores without names of columns as a matrix."""
    try:
        array = as_array(y_score, source.scores)
    except ValueError as error:
        raise ValueError(
            f"{source.scores} is not a matrix; give every row the same number of scores ({error})"
        ) from error
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{source.scores} must have shape (n, K), or (n,) for two classes, but is "
            f"{f'of shape {array.shape}' if array.ndim else f'a {type(y_score).__name__}'}"
        )
    matrix = as_floats(array, source.scores, copy=copy or None, name_row=source.row)
    check_distinct(array, matrix, source.scores)
    return matrix[:, np.newaxis] if matrix.ndim == 1 else matrix


def check_length(what: str, found: int, n: int, source: Source) -> None:
    """Raise unless an input has as many rows as there are observed labels."""
    if found != n:
        raise ValueError(
            f"{source.true} has {n} rows but {what} has {found}: both must describe the same "
            "observations, in the same order"
        )


def is_missing(item: Any) -> bool:
    """Whether an object stands for a missing value."""
    # pandas' missing values are recognised by name because pandas need not be imported
    return (
        item is None
        or item is np.ma.masked
        or type(item).__name__ in {"NAType", "NaTType"}
        or (isinstance(item, float) and item != item)
    )


def plain(item: Any) -> Any:
    """Convert the scalars of NumPy and JAX to Python's."""
    is_scalar = getattr(item, "ndim", None) == 0 and item is not np.ma.masked
    return item.item() if is_scalar else item


def read_only[Array: NDArray[Any]](array: Array) -> Array:
    """Forbid writing to an array, and return it."""
    array.flags.writeable = False
    return array
