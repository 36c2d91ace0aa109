"""Columns and tables of any library as NumPy arrays, whose rows are matched by their index."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc._kit.habits import table
from dmfroc._kit.options import found, held, is_number, is_traced, numbers, traced
from dmfroc._kit.text import on_one_line
from dmfroc.inputs.messages import IN_MEMORY, Source, listing

type Array = NDArray[Any]
"""Of any type and shape."""
type Codes = NDArray[np.int32]
"""The label of each row, as its position among others."""
type Numbers = NDArray[np.float64]
type Flags = NDArray[np.bool_]
type Floats = NDArray[np.float32] | Numbers

_UNPACKED = {
    "polars": "{}.struct.unnest()",
    "pandas": "{}.struct.explode()",
    "pyarrow": "pyarrow.Table.from_struct_array({})",
}
# Methods of lazy frames, of sparse matrices and of models
_CONVERTED = {x.partition("(")[0]: x for x in ("collect()", "toarray()", "predict_proba(X)")}
_LABELS = ", or pass predicted labels as y_pred="
_OF_HOST = (1, 3)  # the kinds of device of DLPack that are memory of the host
_LARGEST_EXACT = 2**53  # up to here every integer is a float


def _imported(name: str) -> Any:
    """Return a module that is imported, once another thread that imports it is done; else None."""
    return None if sys.modules.get(name) is None else importlib.import_module(name)


class OnDevice:
    """Scores that lie on a device; whatever asks for an array of NumPy gets a copy, made once.

    Attributes
    ----------
    values : jax.Array of shape (n, K)
        The scores.
    """

    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.ndim = values, values.shape, values.ndim
        self.dtype, self.size, self.itemsize = values.dtype, values.size, values.dtype.itemsize

    @classmethod
    def of(cls, values: Any) -> OnDevice | None:
        """Return a matrix of finite floats on a device; what is wrong with others NumPy finds."""
        found = on_device(values)
        if found is None or found.ndim != 2 or found.shape[1] < 2 or found.dtype.kind in "biuc":
            return None
        with _in_double_precision():
            if not (abs(found) < np.inf).all():
                return None
            return cls(found if found.dtype.itemsize >= 4 else found.astype(np.float32))

    @property
    def room(self) -> Any:
        """The module above that binds measures to such scores, and fits their curve."""
        return importlib.import_module("dmfroc.functional.device")

    @cached_property
    def host(self) -> Array:
        """The copy."""
        return np.asarray(self.values)

    def tobytes(self) -> bytes:
        """Return sums as bytes: but for chance, other scores have others. Nothing is copied."""
        import jax.numpy as jnp

        with _in_double_precision():
            x, places = self.values.astype(np.float64), jnp.arange(self.size).reshape(self.shape)
            return np.stack([(x * f(places)).sum() for f in (jnp.sin, jnp.cos)]).tobytes()

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.host, dtype, copy=copy)

    def __getitem__(self, key: Any) -> Any:
        with _in_double_precision():
            return (OnDevice if isinstance(key, np.ndarray) else np.array)(self.values[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # as of copies that are not built yet
            raise AttributeError(name)
        is_reduced = name in ("argmax", "max", "min", "sum")  # where the scores lie
        return partial(self._reduced, name) if is_reduced else getattr(self.host, name)

    @property
    def has_tie(self) -> Flags:
        """In which rows the largest number is there twice."""
        with _in_double_precision():
            largest = self.values.max(axis=1, keepdims=True)
            return np.asarray((self.values == largest).sum(axis=1) > 1)

    def _reduced(self, name: str, *args: Any, **options: Any) -> Array:
        with _in_double_precision():
            return np.asarray(getattr(self.values, name)(*args, **options))

    def __matmul__(self, other: Array) -> Array:
        return self._reduced("__matmul__", other)


def followed_by(scores: Any, rows: Array) -> Any:
    """Return scores with those of further rows, where they lie."""
    if not isinstance(scores, OnDevice):
        return np.concatenate([scores, rows])
    import jax.numpy as jnp

    with _in_double_precision():
        return OnDevice(jnp.concatenate([scores.values, jnp.asarray(rows)]))


def _in_double_precision() -> Any:
    from dmfroc._kit.compiled import in_double_precision

    return in_double_precision()


def is_on_device(values: Any) -> bool:
    """Whether another library's array lies where NumPy cannot read it in place."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return False
    return values.__dlpack_device__()[0] not in _OF_HOST


def on_device(values: Any) -> Any:
    """Return an array that lies on a device as one of JAX, without a copy; None for any other."""
    if not is_on_device(values):
        return None
    with _in_double_precision():
        import jax

        return values if isinstance(values, jax.Array) else jax.dlpack.from_dlpack(values)


def from_library(values: Any, what: str) -> Any:
    """Wrap a column or table that narwhals knows as its Series or DataFrame; else None."""
    if values is None or isinstance(values, np.ndarray | list | tuple | range):
        return None
    xarray = _imported("xarray")
    if xarray is not None and isinstance(values, xarray.DataArray):
        return _named_columns(values, what)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    pandas = _imported("pandas")
    if pandas is not None and isinstance(values, pandas.Categorical):
        values = pandas.Series(values)
    pyarrow = _imported("pyarrow")
    if pyarrow is not None and isinstance(values, pyarrow.RecordBatch):
        # Unknown to narwhals, and NumPy would drop the column names
        values = pyarrow.Table.from_batches([values])
    try:
        table = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError as error:
        reason = on_one_line(error)
        raise ValueError(f"{what} has duplicate column names; rename them ({reason})") from error
    if not isinstance(table, nw.DataFrame | nw.Series):
        return None
    if isinstance(table, nw.DataFrame) and len(table.columns) == 1:
        [name] = map(str, table.columns)
        if separator := next(filter(name.__contains__, ";\t"), ""):
            raise ValueError(
                f"{what} has a single column, named {name!r}: read its file by "
                f"pandas.read_csv(path, sep={separator!r}), or rename the column"
            )
    kind = type(table.dtype).__name__ if isinstance(table, nw.Series) else ""
    if kind in ("Struct", "Array", "List"):
        library = type(values).__module__.partition(".")[0] if kind == "Struct" else kind
        remedy = _UNPACKED.get(library, "np.stack({}.to_list())").format(what)
        raise TypeError(f"{what} is one column of several values in each row: pass {remedy}")
    return table


def _named_columns(values: Any, what: str) -> Any:
    """Wrap a matrix of xarray's whose last dimension names its columns; else None."""
    if values.ndim != 2 or values.dims[-1] not in values.coords:
        return None
    import pandas

    names = values.coords[values.dims[-1]].to_numpy().tolist()
    columns = dict(zip(names, values.to_numpy().T, strict=True))
    if len(columns) < len(names):
        raise ValueError(f"{what} has duplicate column names; rename them ({listing(names)})")
    return from_library(pandas.DataFrame(columns, row_index(values)), what)


def is_table(wrapped: Any) -> bool:
    """Whether what `from_library` wrapped is a table, not a column."""
    return hasattr(wrapped, "columns")


def columns_of(values: Any, what: str) -> dict[Any, Any] | None:
    """Return the columns of a table by name; None if it is no table."""
    table = from_library(values, what)
    if table is None or not is_table(table):
        return None
    return {column.name: column.to_native() for column in table.iter_columns()}


def series_values(series: Any) -> Array:
    """Values of a column that `from_library` wrapped; those missing are None."""
    values: Array = series.to_numpy()
    missing = series.is_null().to_numpy()
    if missing.any():
        # In pyarrow's dictionary-encoded columns it came out as some other row's value
        values = values.astype(object)
        values[missing] = None
    return values


def categories_in_order(values: Any, what: str) -> list[Any]:
    """Return the categories of a column that has an order of its own; none if it has none."""
    wrapped = from_library(values, what)
    categories = getattr(getattr(wrapped, "dtype", None), "categories", None)
    if categories is None and wrapped is not None and not is_table(wrapped):
        native = wrapped.to_native()
        if getattr(getattr(native, "type", None), "ordered", False):  # of pyarrow
            categories = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return [] if categories is None else [as_scalar(x) for x in categories]


def as_array(values: Any, what: str) -> Array:
    """Anything as an array of whatever type and shape; masked values are None."""
    wrapped = from_library(values, what)
    if wrapped is not None:
        return np.asarray(wrapped.to_numpy() if is_table(wrapped) else series_values(wrapped))
    if isinstance(values, list | tuple) and any(item is np.ma.masked for item in values):
        return np.fromiter((None if x is np.ma.masked else x for x in values), object, len(values))
    array = as_numpy(values, what)
    if np.ma.is_masked(values):
        array = array.astype(object)
        array[np.ma.getmaskarray(values)] = None
    return array


def as_numpy(values: Any, what: str, dtype: Any = None) -> Array:
    """Return what NumPy makes of a value, with words for tensors that it cannot read."""
    if is_traced(values):
        raise traced(what)
    try:
        values = values if (found := on_device(values)) is None else found
        return np.asarray(values, dtype)
    except ValueError as error:
        raise ValueError(f"{what} must be an array, not ragged lists") from error
    except (TypeError, RuntimeError) as error:  # as of tensors that require a gradient
        reason = on_one_line(error).rstrip(".")
        raise TypeError(
            f"{what} cannot be read as an array of NumPy ({reason}): pass a tensor as "
            "tensor.detach().float().cpu()"
        ) from error


def as_floats(
    values: Array,
    what: str,
    *,
    copy: bool | None = None,
    name_row: Callable[[int], str] = IN_MEMORY.row,
) -> Array:
    """Real numbers as a float32 or float64 array in C order; a new one only if need be."""
    kind = values.dtype.kind
    if kind == "O":
        values = _numbers(values, what, name_row)
    elif kind not in "biuf" and values.dtype.name != "bfloat16":
        labels = _LABELS * (kind in "UT" and what.startswith("y_score"))
        raise TypeError(f"{what} holds {held(values)}; convert them to real numbers{labels}")
    is_short = kind not in "biuO" and values.dtype.itemsize <= 4
    return np.array(values, dtype=np.float32 if is_short else np.float64, order="C", copy=copy)


def _numbers(values: Array, what: str, name_row: Callable[[int], str]) -> Numbers:
    numbers = [np.nan if is_missing(item) else item for item in values.ravel().tolist()]
    for kind in set(map(type, numbers)):
        if not issubclass(kind, Real | Decimal | np.bool):  # NumPy would read "0.5" as a number
            places = [place for place, item in enumerate(numbers) if type(item) is kind]
            place = next((x for x in places if not is_number(numbers[x])), places[0])
            row = place // (values[0].size if values.ndim > 1 else 1)
            remedy = "np.stack its rows" if kind in (list, np.ndarray) else "convert it"
            labels = _LABELS * (kind is str and what.startswith("y_score"))
            noun = "text" if kind is str else f"a {kind.__name__}"
            raise TypeError(
                f"{what} holds {noun}, and {name_row(row)} has {numbers[place]!r}: {remedy} to "
                f"real numbers{labels}"
            )
    try:
        floats = np.array(numbers, dtype=np.float64)
    except OverflowError:
        raise ValueError(
            f"{what} holds a number of more than 308 digits, beyond the range of a float: rescale "
            "it"
        ) from None
    return floats.reshape(values.shape)


def check_distinct(values: Array, floats: Array, what: str) -> None:
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


def named_type(values: Any, what: str) -> str:
    """Return the type of what is no array, and how it becomes one."""
    method = next((x for name, x in _CONVERTED.items() if hasattr(values, name)), None)
    remedy = "" if method is None else f": pass {what}.{method}"
    if isinstance(values, dict):
        remedy = ": pass the scores of one classifier; compare takes several"
    remedy = f": pass the column, frame[{values!r}]" if isinstance(values, str) else remedy
    if values is None and what == "y_score":
        remedy = "; hard labels alone are dmfroc.Predictions.from_labels(y_true, y_pred)"
    return f"a {type(values).__name__}{remedy}"


def remedy_for_several(shape: tuple[int, ...]) -> str:
    """Say how the scores of several labels, or of sequences, become a matrix."""
    of_labels = ": of several labels, pass np.stack([p[:, 1] for p in proba], axis=1)"
    of_sequences = f"y_score.reshape(-1, {shape[-1]}) with y_true.ravel()"
    of_classifiers = "; of several classifiers, call compare"
    return (
        f"{of_labels if shape[-1] == 2 else ''}; of sequences, pass {of_sequences}{of_classifiers}"
    )


def check_length(
    what: str, length: int, n: int, source: Source, *, n_columns: int | None = None
) -> None:
    """Raise unless an input has as many rows as there are observed labels."""
    if length != n_columns == n > 1:
        raise ValueError(
            f"{what} has a column for each of the {n} rows of {source.true}: pass {what}.T, with a "
            "row for each"
        )
    if length != n:
        k, rest = divmod(length, n) if n else (0, 0)
        remedy = (
            f". If these are the scores of {k} classes, pass {what}.reshape({n}, {k}) if row "
            f"follows row, {what}.reshape({k}, {n}).T if class follows class"
        )
        raise ValueError(
            f"{source.true} has {n} rows but {what} has {length}: both must describe the same "
            f"observations, in the same order{remedy * (what == source.scores and k > 1 > rest)}"
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


def read_only[A: Array](array: A) -> A:
    """Forbid writing to an array, and return it."""
    array.flags.writeable = False
    return array


def whole_as_int(item: Any) -> Any:
    """Return a float that is a whole number as an integer, and anything else as it is."""
    return int(item) if isinstance(item, float) and item.is_integer() else item


def as_scalar(item: Any) -> Any:
    """Convert the scalars of NumPy and JAX to Python's."""
    is_scalar = getattr(item, "ndim", None) == 0 and item is not np.ma.masked
    return item.item() if is_scalar else item


# The index of the rows, and their names


def row_index(values: Any) -> Any:
    """Return the index of the rows of any input as one of pandas; None if there is none."""
    pandas = _imported("pandas")
    if pandas is None:
        return None
    xarray = _imported("xarray")
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
    except (AssertionError, TypeError, ValueError):  # of other numbers of levels, or other kinds
        return None
    return None if (order < 0).any() else order


class Rows:
    """The index that the rows of all inputs so far have, if any, and how often each row counts.

    An index that merely counts the rows names nothing. Its input is matched by position, as one
    without index is, unless another input has the same numbers in another order.
    """

    def __init__(self, values: Any = None, what: str = "y_true", frequency: Any = None) -> None:
        self.index, self._what, self._frequency = row_index(values), what, frequency

    def arranged(self, array: Array, values: Any, what: str) -> Array:
        """Return what was made of ``values``, in the order and number of the rows of earlier ones.

        That is the order of the first index, with as many copies of a row as were observed.
        """
        order = self.order(values, what)
        array = array if order is None else array[order]
        return array if self._frequency is None else array.repeat(self._frequency, axis=0)

    def indexed(self, array: Any) -> Any:
        """Return an array for the same rows with their index, if there is one, as one of pandas."""
        if self.index is None or not isinstance(array, np.ndarray):
            return array
        import pandas as pd

        return (pd.Series if array.ndim == 1 else pd.DataFrame)(array, self.index)

    def order(self, values: Any, what: str) -> NDArray[np.intp] | None:
        """Return the rows of an input in the order of earlier ones; None for as they are."""
        index = row_index(values)
        if index is None or (self.index is not None and index.equals(self.index)):
            return None
        if self.index is None:
            self.index, self._what = index, what
            return None
        order = positions(index, self.index)
        if counts_rows(self.index) or counts_rows(index):
            if order is not None:
                raise self._mismatch(
                    index,
                    what,
                    "hold the same values in another order, and one of them only counts the rows",
                )
            if counts_rows(self.index):
                self.index, self._what = index, what
            return None
        if order is None:
            raise self._mismatch(index, what, "do not name the same rows, each once")
        return order

    def check_same(self, values: Any, what: str) -> None:
        """Refuse an input whose rows are in another order."""
        if self.order(values, what) is not None:
            raise self._mismatch(row_index(values), what, "hold the same values in another order")

    def _mismatch(self, index: Any, what: str, how: str) -> ValueError:
        n = min(len(index), len(self.index))
        differs = [a != b for a, b in zip(index[:n].tolist(), self.index[:n].tolist(), strict=True)]
        row = differs.index(True) if True in differs else n - 1
        return ValueError(
            f"the indexes of {self._what} and {what} {how}: at {IN_MEMORY.row(row)} they are "
            f"{as_scalar(self.index[row])!r} and {as_scalar(index[row])!r}. Match the rows first, "
            "as in b.loc[a.index], or drop the index with .to_numpy() if the rows match by position"
        )


def counts_rows(index: Any) -> bool:
    """Whether an index has the values 0, 1, ..., n - 1, as one has that nobody chose."""
    if index.nlevels > 1 or index.dtype.kind not in "iu":
        return False
    return bool((index.to_numpy() == np.arange(len(index))).all())


def numbers_of_rows(**given: Any) -> list[Numbers]:
    """Return numbers that belong together, by name, with their rows in one order."""
    rows = Rows(what=next(iter(given)))
    return [rows.arranged(numbers(name, values), values, name) for name, values in given.items()]


def row_names(values: Any, what: str, n: int, rows: Rows, noun: str) -> Array:
    """Check one name for each of n rows, none missing, all of one kind, and arrange them.

    Parameters
    ----------
    values : array-like of shape (n,)
        Names of whatever kind that can be sorted.
    what : str
        The argument.
    n : int
        Number of rows.
    rows : Rows
        Those of the other inputs.
    noun : str
        What is named, as in "a group".
    """
    array: Array
    is_list = isinstance(values, list | tuple)
    if is_list and not any(isinstance(x, list) or getattr(x, "ndim", 0) for x in values):
        # NumPy would turn 1 and "1" into the same, NaN into "nan", and pairs into rows
        array = np.fromiter(values, object, len(values))
    else:
        array = as_array(values, what)
    if array.shape != (n,):
        problem = f"its shape is {array.shape}" if array.ndim else f"it is {found(values)}"
        remedy = f": pass {table('options')['cv']}" if what == "folds" else ""
        raise ValueError(
            f"{what} must have one entry for each of the {n} observations, but {problem}{remedy}"
        )
    if array.dtype.kind in "OT":
        array = _of_one_kind(array, what, noun)
    elif (array != array).any():  # NaN or NaT
        raise _missing(what, int((array != array).argmax()), noun)
    return rows.arranged(array, values, what)


def check_ids(values: Any, n: int, source: Source) -> Array:
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
    return array.copy()


def _of_one_kind(array: Array, what: str, noun: str) -> Array:
    items = [as_scalar(item) for item in array.tolist()]
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
