"""What every result of an analysis can do: print, convert, draw itself, write a report.

The tables of a result of plain numbers and arrays are its attributes. Several results of one kind
are a result by name. The functions that draw results and write them as HTML are in rooms above.
"""

from __future__ import annotations

import operator as op
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from dmfroc._kit.habits import Hinted, measure_called, measure_near, unclear
from dmfroc._kit.later import DataFrame
from dmfroc._kit.text import did_you_mean, in_percent, printable, width
from dmfroc.inputs.messages import shortened
from dmfroc.results.table import Column, Name, Table, spread
from dmfroc.results.text import design_lines, in_words, known, paragraphs, warning_lines
from dmfroc.results.writers import (
    as_frame,
    as_json,
    as_latex,
    as_markdown,
    as_text,
    json_text,
    opened_page,
)

if TYPE_CHECKING:
    from dmfroc.inputs.predictions import Predictions

_ARITHMETIC: tuple[Callable[..., Any], ...] = (op.add, op.sub, op.mul, op.truediv)
_ALONE: tuple[Callable[..., Any], ...] = (op.neg, abs, round)
_NEEDED = (
    ": a Result needs tables(), main_table, the key of one of them, and warnings, a tuple of str "
    "such as ()"
)
_RENDERERS: dict[str, Callable[..., Any]] = {}
_N_PRINTED, _N_STACKED = 10, 20  # rows of a curve, and of those of all names, in print
_N_LISTED = 8  # names in an error
_TITLES = {
    "at_least": "least rate asked for",
    "auc": "AUC",
    "fpr": "FPR",
    "tpr": "TPR",
    "n_iter": "iterations",
}  # of attributes


def renders[F: Callable[..., Any]](*names: str) -> Callable[[F], F]:
    """Return the decorator of a function, or a display, that draws or writes results.

    ``names`` are the classes of the results with the methods that call it: ``"Plan.plot"``.
    """

    def decorate(function: F) -> F:
        _RENDERERS.update(dict.fromkeys(names, getattr(function, "_from_result", function)))
        return function

    return decorate


def renderer(result: Any, purpose: str) -> Callable[..., Any]:
    """Return the function that draws a result, or writes it as HTML."""
    room = import_module("dmfroc.reports" if purpose in ("page", "notebook") else "dmfroc.plots")
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        import_module(module.name)  # where it is defined, it is entered
    if drawn_by := getattr(result, "drawn_by", ""):
        import_module(drawn_by)
    names = [f"{base.__name__}.{purpose}" for base in type(result).__mro__]
    for name in names:
        if name in _RENDERERS:
            return _RENDERERS[name]
    kind = type(result)
    remedy = "dmfroc.plots draws curves"
    if not kind.__module__.startswith("dmfroc."):
        remedy = (
            f'decorate a function with @renders("{kind.__name__}.{purpose}"), from dmfroc.extend, '
            "in the module that drawn_by names"
        )
    if isinstance(result, dict):
        remedy = f"type [{next(iter(result))!r}].{purpose}()"
    raise TypeError(f"{kind.__name__} has no {purpose}(): {remedy}")


def sample_attributes(predictions: Predictions) -> dict[str, Any]:
    """Return the number of observations, in all and by class, and what a single score means."""
    counts = predictions.class_counts.tolist()
    direction = {} if predictions.direction is None else {"direction": predictions.direction}
    return {
        "n_observations": predictions.n_observations,
        "classes": [
            {"label": label, "count": count}
            for label, count in zip(predictions.labels, counts, strict=True)
        ],
    } | direction


def attributed(remarks: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return each warning once, with the classifiers that it concerns unless that is all."""
    concerned: dict[str, dict[str, None]] = {}
    for name, of_classifier in remarks.items():
        for remark in of_classifier:
            concerned.setdefault(remark, {})[printable(name)] = None
    return tuple(
        remark if len(names) == len(remarks) else f"{shortened([*names])}: {remark}"
        for remark, names in concerned.items()
    )


def _on_values(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation on numbers as one on values with intervals."""
    return lambda *x: operation(*(float(part) if isinstance(part, Valued) else part for part in x))


def _reversed(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda second, first: operation(first, second)


class Valued(Hinted):
    """A value with its interval; in arithmetic and where it is ordered, the value alone."""

    value: float
    interval: tuple[float, float]

    __lt__, __le__, __gt__, __ge__ = map(_on_values, (op.lt, op.le, op.gt, op.ge))
    __neg__, __abs__, __round__ = map(_on_values, _ALONE)
    __add__, __sub__, __mul__, __truediv__ = map(_on_values, _ARITHMETIC)
    __radd__, __rsub__, __rmul__, __rtruediv__ = map(_on_values, map(_reversed, _ARITHMETIC))

    @property
    def ci(self) -> tuple[float, float]:
        """The interval."""
        return self.interval

    def __float__(self) -> float:
        return self.value


class UnknownName(KeyError):
    """A name that a result lacks."""

    def __str__(self) -> str:
        """Return the message, which other errors of this kind show in quotes."""
        return str(self.args[0])


def unknown_name(what: str, name: Any, known: Sequence[Any], hint: str = "") -> UnknownName:
    """Return the error about a name: which ones there are, and how to compute a measure."""
    text, names = str(name), [x for x in known if isinstance(x, str)]
    called = told = meant = ""
    if what != "class":
        called = measure_called(text)
        told = "" if called else unclear(text)
        meant = called if called or told else measure_near(text)
    near = f" (did you mean {meant!r}?)" if meant in names else did_you_mean(text, names) or told
    how = "; list(result) has all" * (len(known) > _N_LISTED)
    if meant and not near:
        how += f"; to compute it pass measures={(text if called else meant)!r}"
    elif any(map(measure_called, names)) and not near:
        how += "; dmfroc.measures.measure_table() lists all measures"
    listed = shortened([repr(x) for x in known], _N_LISTED)
    return UnknownName(f"there is no {what} {name!r}{hint or near}, but {listed}{how}")


class ByName[V](dict[Any, V]):
    """Estimates by name, which say what there is if a name is missing."""

    def __missing__(self, name: Any) -> V:
        raise unknown_name("estimate", name, [*self])


class Result(Hinted, ABC):
    """A result of an analysis.

    It is printed, shown in notebooks and converted from its tables, see `tables`. Two results are
    equal if they are of one kind and their JSON is the same.

    A class of one's own needs ``tables()``, ``main_table`` and ``warnings``; all else has a
    default.
    """

    _needed = dict.fromkeys(("main_table", "warnings"), _NEEDED)

    main_table: ClassVar[str]
    """The key of the table that `to_pandas` returns by default."""

    json_names: ClassVar[tuple[str, ...]] = ()
    """The attributes that JSON holds besides the tables."""

    drawn_by: ClassVar[str] = ""
    """The module of its pictures and its page, if they are not in these rooms."""

    if TYPE_CHECKING:

        @property
        def design(self) -> Mapping[str, Any]:
            """What of the design changes the meaning of the values, by name."""

        @property
        def has_all_scores(self) -> bool:
            """Whether all scores that a report draws are in memory."""

        @property
        def warnings(self) -> tuple[str, ...]:
            """What a careful reader has to know."""

    else:
        design, has_all_scores = MappingProxyType({}), True

    @property
    def printed_warnings(self) -> tuple[str, ...]:
        """The warnings as people read them, where they are not the same."""
        return self.warnings

    def attributes(self) -> Mapping[str, Any]:
        """Return what JSON holds besides the tables."""
        return {name: getattr(self, name) for name in self.json_names}

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """Return what was computed, as titled tables with typed columns."""

    def head(self) -> list[str]:
        """Return the lines before the tables in print."""
        return []

    def foot(self) -> list[str]:
        """Return the lines after the tables in print."""
        return []

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return in_words(type(self).__name__)

    def verdict_text(self) -> list[str]:
        """Return the sentences with which a report begins."""
        return [*self.head(), *self.foot()]

    def summary(self) -> str:
        """Return what is printed."""
        return str(self)

    def to_markdown(self, table: str | None = None) -> str:
        """Return a table as Markdown, with the digits that are printed; see `to_pandas`."""
        return as_markdown(self._table(table))

    def to_latex(self, table: str | None = None) -> str:
        """Return a table for LaTeX's package booktabs, as printed; see `to_pandas`."""
        return as_latex(self._table(table))

    def to_pandas(self, table: str | None = None) -> DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : str, optional
            The key of one of `tables`; by default the one that matters most.

        Raises
        ------
        ValueError
            If there is no such table.
        """
        return as_frame(self._table(table))

    def _table(self, key: str | None) -> Table:
        tables = {t.key: t for t in self.tables()}
        key = self.main_table if key is None else key
        if key not in tables:
            hint = f": write what is returned to {key}" if "." in str(key) else ""
            raise ValueError(f"table must be one of {list(tables)}, but it is {key!r}{hint}")
        return tables[key]

    def as_text(self, *, warnings: bool = True, all_rows: bool = False) -> str:
        """Return the tables as plain text, with or without warnings and all rows of long tables."""
        head = paragraphs([*self.head(), *design_lines(self.design)])
        parts = ["\n".join(head), *self._body(all_rows=all_rows)]
        if warnings:
            parts.append("\n".join(warning_lines(self.printed_warnings)))
        return "\n\n".join(filter(None, parts))

    def printed_tables(self) -> Sequence[Table]:
        """Return the tables as they are printed."""
        return self.tables()

    def _body(self, *, all_rows: bool) -> list[str]:
        """Return the tables as plain text, and what stands below them."""
        shown, hidden = list[str](), list[str]()
        for t in self.printed_tables():
            if t.n_printed or all_rows:
                shown.append(as_text(t, all_rows=all_rows))
            else:
                what = t.key.replace("_", " ")
                hidden.append(f"{len(t.rows)} {what}: see to_pandas({t.key!r})")
        return [*shown, "\n".join(hidden), "\n".join(paragraphs(self.foot()))]

    def as_json(self) -> dict[str, Any]:
        """Return everything but large arrays, for `json.dump`."""
        design = {"design": known(self.design)} if self.design else {}
        found = as_json({**self.attributes(), **design}, self.tables())
        return found | {"warnings": list(self.warnings)}

    def to_json(self) -> str:
        """Return everything but large arrays as JSON text; null stands for what has no number."""
        return json_text(self.as_json())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result; the options are those of the display that is returned.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            As for the ``plot`` of the display.

        Returns
        -------
        display
            With the artists in ``ax_`` and ``figure_``.
        """
        return renderer(self, "plot")(self, ax=ax, **options)

    def to_html(
        self, path: str | PathLike[str] | None = None, title: str | None = None
    ) -> str | None:
        """Write a report for the browser: one file that needs nothing else.

        It says in sentences what was found and what to watch out for, and shows all tables,
        pictures of them, and all warnings. The numbers can be downloaded from it.

        Parameters
        ----------
        path : str or path-like, optional
            A file named ``.html``. It appears whole, or not at all. Without it the page is
            returned as text.
        title : str, optional
            The heading; by default the question that the report answers.

        Raises
        ------
        ValueError
            If the file cannot be written, or scores are counted in bins.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from dmfroc import evaluate
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(3, size=60)
        >>> evaluation = evaluate(y, rng.normal(size=(60, 3)) + 1.5 * np.eye(3)[y])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "report.html")
        ...     evaluation.to_html(path)
        ...     path.stat().st_size < 200_000
        True
        """
        if not self.has_all_scores:
            raise ValueError(
                f"{path or 'to_html'}: a report needs all scores in memory, and these are counted "
                "in bins: use rows drawn at random, held as Predictions, for one"
            )
        if path is None:
            return str(renderer(self, "page")(self, title=title))
        # Before the page is made: a bad name should not cost the time that it takes.
        with opened_page(path) as stream:
            stream.write(renderer(self, "page")(self, title=title).encode("utf-8"))
        return None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def _repr_html_(self) -> str:
        return renderer(self, "notebook")(self)

    def __repr__(self) -> str:
        """Show the tables at a prompt, not all arrays behind them."""
        return str(self)

    def __str__(self) -> str:
        return self.as_text()


class AttributeTables(Result):
    """A result with a table of its single values, and one of the arrays of each length.

    A table of arrays has the name of its first one. Arrays of two dimensions are in no table.
    """

    main_table: ClassVar[str] = "values"
    warnings: ClassVar[tuple[str, ...]] = ()

    def tables(self) -> list[Table]:
        """Return the public attributes and properties as tables."""
        single: list[Column] = []
        by_length: dict[int, list[Column]] = {}
        for name, value in _shown(self):
            columns = by_length.setdefault(len(value), []) if isinstance(value, list) else single
            columns.append(_column(name, value if isinstance(value, list) else [value]))
        tables = [Table("values", in_words(type(self).__name__), single)] if single else []
        return tables + [
            Table(
                x[0].key,
                _TITLES.get(x[0].key, in_words(x[0].key)),
                sorted(x, key=lambda column: column.kind != "name"),
                n_printed=_N_PRINTED,
                order=spread(range(n), _N_PRINTED),
            )
            for n, x in by_length.items()
        ]


def _shown(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object that fit into a table: single values, and lists."""
    import numpy as np  # here, since the help of commands loads this file

    names = [field.name for field in fields(result)]
    for kind in type(result).__mro__:
        properties = (name for name, x in vars(kind).items() if isinstance(x, property))
        names += [name for name in properties if not hasattr(Result, name)]
    for name in dict.fromkeys(names):
        value = getattr(result, name)
        if isinstance(value, Enum):
            yield name, value.name.lower().replace("_", " ")
        elif name == "label" or isinstance(value, str | int | float | None):
            yield name, str(value) if isinstance(value, tuple) else value
        elif isinstance(value, np.ndarray) and value.ndim == 1:
            yield name, value.tolist()
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            parts = [dict(_shown(part)) for part in value]
            of_parts = {key: [part[key] for part in parts] for key in parts[0]}
            yield from ((k, x) for k, x in of_parts.items() if not isinstance(x[0], list))
        elif isinstance(value, tuple) and value and isinstance(value[0], tuple):
            yield name, [Name(x, " against ".join(map(str, x))) for x in value]
        elif isinstance(value, tuple) and all(isinstance(x, Hashable) for x in value):
            yield name, list(value)


def _column(name: str, cells: list[Any]) -> Column:
    kinds = {type(x) for x in cells}
    title = _TITLES.get(name, name.replace("_", " ")) if kinds != {type(None)} else ""
    if kinds == {int} and not name.startswith("label"):
        return Column(name, title, cells, "count")
    return Column(name, title, cells, "number" if kinds == {float} else "name")


class ResultsByName[R: Result](Result, dict[Hashable, R]):
    """Results of one kind by name: a dict, with the tables of all.

    Parameters
    ----------
    results : mapping
        By class, each against the rest, or by measure.
    of : {"class", "measure"}
        What the names are.
    level : float, optional
        The coverage of the intervals of all names at once, if they are such.
    """

    main_table: ClassVar[str] = ""
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, results: Mapping[Hashable, R], of: str = "class", level: float | None = None
    ) -> None:
        super().__init__(results)
        self.of, self.level = of, level

    def __missing__(self, name: Any) -> R:
        raise unknown_name(self.of, name, [*self])

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        design = next(iter(self.values())).design
        return {
            x: fact for x, fact in design.items() if (x, self.of) != ("positive_class", "class")
        }

    def attributes(self) -> Mapping[str, Any]:
        """Return the level at which the intervals of all names hold at once, if they do."""
        return {} if self.level is None else {"level": self.level}

    def head(self) -> list[str]:
        """Return that level in a line."""
        if self.level is None:
            return []
        return [f"Intervals hold for all {len(self)} classes at once with {in_percent(self.level)}"]

    @property
    def shown(self) -> dict[str, Any]:
        """The results in print, by the names that people read: titles of measures, each once."""
        return {printable(self._title_of(name)): one for name, one in self.items()}

    def _title_of(self, name: Hashable) -> Hashable:
        return getattr(self[name], "title", name) if self.of == "measure" else name

    def foot(self) -> list[str]:
        """Return what stands below the tables, and for which names."""
        return list(attributed({name: one.foot() for name, one in self.shown.items()}))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, and for which names."""
        return attributed({str(name): one.warnings for name, one in self.items()})

    @property
    def printed_warnings(self) -> tuple[str, ...]:
        """The warnings, with titles of measures for their names."""
        return attributed({name: one.printed_warnings for name, one in self.shown.items()})

    def _body(self, *, all_rows: bool) -> list[str]:
        """Return one table of all results, or the tables of each below its name."""
        if len(next(iter(self.values())).tables()) == 1:
            return super()._body(all_rows=all_rows)
        parts = list[str]()
        for name, one in self.shown.items():
            head = name if self.of == "measure" else f"class {name}"
            parts += [f"{head}\n{'═' * width(head)}", *one._body(all_rows=all_rows)]
        return parts

    def tables(self) -> list[Table]:
        """Return the tables of the results, with the name in front of each row."""
        tables = zip(*(one.tables() for one in self.values()), strict=True)
        names, key = list[Hashable](self), "label" if self.of == "class" else self.of
        if self.of == "measure":
            names = [Name(x, str(self._title_of(x))) for x in self]
        return [_stacked(key, self.of, names, of_names) for of_names in tables]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return f"{in_words(type(next(iter(self.values()))).__name__)}, by {self.of}"

    def _table(self, key: str | None) -> Table:
        return super()._table(next(iter(self.values())).main_table if key is None else key)


def _stacked(key: str, title: str, names: list[Hashable], tables: tuple[Table, ...]) -> Table:
    sizes = [len(table.rows) for table in tables]
    result_of_row = [name for name, n in zip(names, sizes, strict=True) for _ in range(n)]
    by_key = [{column.key: column for column in table.columns} for table in tables]
    columns = []
    for own in {x: None for of_one in by_key for x in of_one}:  # one result may have more of them
        same = [of_one[own] for of_one in by_key if own in of_one]
        cells = [
            cell
            for n, of_one in zip(sizes, by_key, strict=True)
            for cell in (of_one[own].cells if own in of_one else [None] * n)
        ]
        columns.append(replace(same[0], cells=cells, title=_common(own, [x.title for x in same])))
    read = tuple(table.as_printed or table for table in tables)
    printed = _stacked(key, title, names, read) if any(t.as_printed for t in tables) else None
    order: list[int] = []
    for i, own_rows in enumerate(t.order[: t.n_printed] for t in tables):
        start = sum(sizes[:i])
        order += [start + row for row in spread(own_rows, max(1, _N_STACKED // len(tables)))]
    notes = {str(x): (t.note,) * bool(t.note) for x, t in zip(names, tables, strict=True)}
    return replace(
        tables[0],
        title=_common(tables[0].key, [table.title for table in tables]),
        columns=[Column(key, title, result_of_row, "name"), *columns],
        is_by_name=False,
        as_printed=printed,
        note="; ".join(attributed(notes)),
        order=order,
        n_printed=len(order) or tables[0].n_printed,
    )


def _common(key: str, titles: list[str]) -> str:
    return titles[0] if len(set(titles)) == 1 else in_words(key)
