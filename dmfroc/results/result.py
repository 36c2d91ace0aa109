"""What every result of an analysis can do: print, convert, draw itself, write a report."""

from __future__ import annotations

import operator as op
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from dmfroc._kit.habits import Hinted, answering
from dmfroc._kit.text import printable
from dmfroc.results.renderers import renderer
from dmfroc.results.table import Table
from dmfroc.results.text import warning_lines
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
    import pandas as pd

    from dmfroc.inputs.predictions import Predictions

_ARITHMETIC: tuple[Callable[..., Any], ...] = (op.add, op.sub, op.mul, op.truediv)
_ALONE: tuple[Callable[..., Any], ...] = (op.neg, abs, round)


def sample_attributes(predictions: Predictions) -> dict[str, Any]:
    """Return the number of observations, in all and by class."""
    counts = predictions.class_counts.tolist()
    return {
        "n_observations": predictions.n_observations,
        "classes": [
            {"label": label, "count": count}
            for label, count in zip(predictions.labels, counts, strict=True)
        ],
    }


def attributed(remarks: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return each warning once, with the classifiers that it concerns unless that is all."""
    concerned: dict[str, list[str]] = {}
    for name, of_classifier in remarks.items():
        for remark in of_classifier:
            concerned.setdefault(remark, []).append(printable(name))
    return tuple(
        remark if len(names) == len(remarks) else f"{', '.join(names)}: {remark}"
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


@answering
class Result(Hinted, ABC):
    """A result of an analysis.

    It is printed, shown in notebooks and converted from its tables, see `tables`. Two results are
    equal if they are of one kind and their JSON is the same.
    """

    main_table: ClassVar[str]
    """The key of the table that `to_pandas` returns by default."""

    json_names: ClassVar[tuple[str, ...]] = ()
    """The attributes that JSON holds besides the tables."""

    if TYPE_CHECKING:

        @property
        def warnings(self) -> tuple[str, ...]:
            """What a careful reader has to know."""

    @property
    def has_all_scores(self) -> bool:
        """Whether all scores that a report draws are in memory."""
        return True

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

    def summary(self) -> str:
        """Return what is printed."""
        return str(self)

    def to_markdown(self, table: str | None = None) -> str:
        """Return a table as Markdown, with the digits that are printed; see `to_pandas`."""
        return as_markdown(self._table(table))

    def to_latex(self, table: str | None = None) -> str:
        """Return a table for LaTeX's package booktabs, as printed; see `to_pandas`."""
        return as_latex(self._table(table))

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
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
        tables = [as_text(table, all_rows=all_rows) for table in self.tables()]
        parts = ["\n".join(self.head()), *tables, "\n".join(self.foot())]
        if warnings:
            parts.append("\n".join(warning_lines(self.warnings)))
        return "\n\n".join(filter(None, parts))

    def as_json(self) -> dict[str, Any]:
        """Return everything but large arrays, for `json.dump`."""
        return as_json(self.attributes(), self.tables()) | {"warnings": list(self.warnings)}

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
