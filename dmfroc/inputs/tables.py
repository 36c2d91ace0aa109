"""Tables of pyarrow: the columns that have names, and the labels that their text spells."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.text import did_you_mean
from dmfroc.inputs.checks import Inputs
from dmfroc.inputs.columns import match_columns
from dmfroc.inputs.delimited import MISSING, Format
from dmfroc.inputs.labels import Factor, factorize
from dmfroc.inputs.messages import IN_MEMORY, Source, listing, repeated
from dmfroc.inputs.score_doubts import are_shares
from dmfroc.inputs.scores import columns_without_scores, names_folds

_FIELDS = {"label": "true", "sample_weight": "weight", "frequency_weight": "frequency", "id": "id"}
_FIELDS |= {"y_pred": "predicted"}
_COLUMNS = {"label": "label column {}", "sample_weight": "weight column {}", "id": "id column {}"}
_COLUMNS |= {"frequency_weight": "count column {}", "y_pred": "column {} of hard labels"}


class Names(NamedTuple):
    """Where in a file the inputs are; only `labels`, `drop_label`, `where` are given as such."""

    columns: Mapping[str, str]  # by argument: label, sample_weight, y_pred, frequency_weight, id
    scores: str | Sequence[str] | None = None
    labels: Any = None
    other_columns: tuple[str, ...] = ()
    format: Format = Format()
    truth: Any = None  # path of another file, with the labels of the same ids
    drop_label: Any = None  # of rows to be left out; a missing one if it is empty
    where: Mapping[str, Any] = {}  # by column: the values of the rows that are kept
    drop_missing: bool | Sequence[str] = False  # or further columns that may lack a value

    def beside(self, columns: Any) -> dict[str, Any]:
        """Return weights, hard labels, counts and ids, those that have a name."""
        return {x: columns[name] for x, name in self.columns.items() if x != "label"}

    def source(self, scores: str, called: Mapping[str, str], **others: Any) -> Source:
        """Return what messages call the inputs."""
        fields: dict[str, Any] = {
            _FIELDS[x]: called[x].format(repr(name)) for x, name in self.columns.items()
        }
        chosen = {"where": self.where or None, "drop_label": self.drop_label}
        design = {name: x for name, x in chosen.items() if x is not None}
        return Source(scores=scores, design=design, **fields, **others)


def with_labels(table: Any, names: Names) -> Any:
    """Return a table whose labels are of one kind; a word for missing may be a class."""
    columns = [names.columns[x] for x in ("label", "y_pred") if x in names.columns]
    given = [str(label) for label in listed_labels(names.labels) or []]
    words = {*table.column_names, *given}  # and their parts, one of them perhaps a class
    words |= {part for name in words for part in re.split(r"[^0-9A-Za-z/#<>]+", name)}
    spelled = spelled_labels(
        [table[name] for name in columns], [x for x in MISSING if x and x in words]
    )
    if (ids := names.columns.get("id")) is not None:
        columns, spelled = [*columns, ids], [*spelled, *spelled_labels([table[ids]])]
    for name, column in zip(columns, spelled, strict=True):
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def listed_labels(labels: Any) -> list[Any] | None:
    """Return what the user gave as labels as a list, to be checked later."""
    return None if labels is None else np.ravel(np.array(labels, dtype=object)).tolist()


def spelled_labels(columns: Sequence[Any], classes: Collection[str] = ()) -> list[Any]:
    """Return columns of text as integers, booleans or numbers, if all of them spell such."""
    import pyarrow
    import pyarrow.compute as pc

    if not all(pyarrow.types.is_string(column.type) for column in columns):
        return list(columns)
    missing = pyarrow.array([text for text in MISSING if text not in classes])
    columns = [pc.if_else(pc.is_in(column, missing), None, column) for column in columns]
    trimmed = [pc.utf8_trim_whitespace(column) for column in columns]
    columns = trimmed if len(_distinct(trimmed)) == len(_distinct(columns)) else list(columns)
    kind = _kind_of(_distinct(columns))
    return [column if kind is None else column.cast(kind) for column in columns]


def _distinct(columns: Sequence[Any]) -> set[str]:
    return {x for column in columns for x in column.unique().to_pylist() if x is not None}


def _kind_of(texts: set[str]) -> str | None:
    """Return the type that all texts have, as Python writes it, so that 01 and 1 stay apart."""
    if all(
        re.fullmatch("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63 for text in texts
    ):
        return "int64"
    if {text.lower() for text in texts} <= {"true", "false"}:
        return "bool"
    if all(re.fullmatch(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?(e[+-][0-9]+)?", x) for x in texts):
        return "float64"
    if all(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) for text in texts):
        return "date32"
    return None


def labels_of_table(table: Any, label: str) -> Factor:
    """Return the labels of a table of pyarrow."""
    source = Names({"label": label}).source("score", _COLUMNS, is_table_file=True)
    return factorize(table[label], source.true, source)


def table_inputs(table: Any, names: Names) -> Inputs:
    """Return what is to be checked of a table of pyarrow."""
    available = table.column_names
    if twice := repeated(available):
        raise ValueError(f"duplicate column names: {listing(twice)}; rename them")
    taken = names_taken(names, available, "column")
    free = [name for name in available if name not in taken]
    if names.scores is None:
        index = (table.schema.pandas_metadata or {}).get("index_columns", ())
        columns = [name for name in free if name not in index]
        if any(map(names_folds, taken)):  # others that tell them say nothing more
            columns = [name for name in columns if not names_folds(name)]
    else:
        columns = matching(np.ravel(names.scores).tolist(), free)
        for name in columns:
            check_available(name, available, "scores", "column")
    if not columns and ("y_pred" not in names.columns or names.scores is not None):
        raise ValueError(f"there is no score column; the columns are {listing(available)}")
    source = names.source(
        "score", _COLUMNS, is_table_file=True, has_chosen_scores=names.scores is not None
    )
    true = table[names.columns["label"]]
    scores = table.select(columns)
    of_lists = [name for name in free if _holds_lists(table[name])]
    chosen = [name for name in columns if name in of_lists]
    if chosen and (names.scores is None or columns == chosen):
        distinct = factorize(true, source.true, source).distinct
        if columns_without_scores(scores.drop_columns(chosen), distinct, source) is not None:
            raise ValueError(
                f"column {chosen[-1]!r} holds lists or objects, but each class needs a column: "
                f'save "frame.join(pd.DataFrame(frame.pop({chosen[-1]!r}).tolist(), '
                'columns=classes))" of a data frame of pandas; cells of text become lists by '
                ".map(ast.literal_eval)"
            )
    _check_wide(table.drop_columns([*of_lists, names.columns["label"]]), true)
    unused = table.select(free)
    of_use = {*free, *names.columns.values(), *names.where}
    others = table.select([name for name in available if name not in of_use])
    given = names.beside(table)
    return Inputs(true, scores, names.labels, unused=unused, source=source, others=others, **given)


def _holds_lists(column: Any) -> bool:
    """Whether the cells of a column of pyarrow are lists or objects, or texts of such."""
    from pyarrow import types

    if types.is_string(column.type) or types.is_large_string(column.type):
        first = next((x for x in column[:100].to_pylist() if x is not None), "")
        return bool(re.match(r"\s*(\w+\()?[\[{]", first))
    return bool(types.is_nested(column.type))


def _check_wide(table: Any, true: Any) -> None:
    """Refuse a table with a row for each class of an observation, whose scores sum to one."""
    from pyarrow import types

    k = len(true.unique())
    if k < 2 or len(true) % k or len(true) == k:
        return
    numbers = [name for name in table.column_names if types.is_floating(table[name].type)]
    labels, rows = true.to_numpy(), np.arange(len(true))
    # The classes are in adjacent rows, or one after the other
    for cases in (rows.reshape(-1, k), rows.reshape(k, -1).T):
        # A look at some cases spares most tables the look at all.
        if not all((labels[x] == labels[x[:, :1]]).all() for x in (cases[:9], cases)):
            continue
        scores = [name for name in numbers if are_shares(table[name].to_numpy()[cases.T])]
        for name in table.column_names:
            first = set(table[name].take(cases[0]).to_pylist())
            if scores and len(first) == k and first.issuperset(table[name].unique().to_pylist()):
                raise ValueError(
                    f"column {name!r} names one class after the other for each observation, with "
                    f"its score in {scores[-1]!r}: give each class a column of its own, as by "
                    f"frame.pivot(index=[id, label], columns={name!r}, values={scores[-1]!r}) in "
                    "pandas"
                )


def columns_of_use(table: Any, names: Names) -> list[str]:
    """Return the columns of labels, weights and scores, and those that the user adds to them."""
    from pyarrow import types

    taken = names_taken(names, table.column_names, "column")
    free = [name for name in table.column_names if name not in taken]
    scores: list[str] = []
    if names.scores is not None:
        scores = matching(np.ravel(names.scores).tolist(), free)
    elif "label" in names.columns:
        label = names.columns["label"]
        classes = (
            listed_labels(names.labels)
            or labels_of_table(table.filter(~lacks_value(table[label])), label).distinct
        )
        match = match_columns(free, classes, IN_MEMORY)
        scores = [x for x in free if types.is_floating(table[x].type)]
        scores = scores if match is None else [free[place] for place in match.positions]
    more = () if isinstance(names.drop_missing, bool) else names.drop_missing
    for argument, columns in (("scores", scores), ("drop_missing", more)):
        for name in columns:
            check_available(name, table.column_names, argument, "column")
    return [*names.columns.values(), *scores, *more]


def lacks_value(column: Any) -> np.ndarray:
    """Return which rows of a column have no value."""
    import pyarrow
    import pyarrow.compute as pc

    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if pyarrow.types.is_string(column.type):
        missing |= pc.is_in(column, pyarrow.array(MISSING)).to_numpy()
    return np.asarray(missing)


def names_taken(names: Names, available: Sequence[str], noun: str) -> list[str]:
    """Names of the columns of labels, weights and hard labels, once they are known to exist."""
    named = list(names.columns.items())
    named += [("other_columns", name) for name in matching(names.other_columns, available)]
    named += [("where", name) for name in names.where]
    for argument, name in named:
        check_available(name, available, argument, noun)
    return [name for _, name in named]


def matching(names: Sequence[str], available: Sequence[str]) -> list[str]:
    """Put the columns that fit a pattern such as ``prob_*`` in its place."""
    matching = []
    for name in names:
        fits = [x for x in available if fnmatch.fnmatchcase(x, name)]
        matching += [name] if name in available or not fits else fits
    return list(dict.fromkeys(matching))


def check_available(name: str, available: Sequence[str], argument: str, noun: str) -> None:
    """Refuse a name that no column has."""
    if name not in available:
        raise ValueError(
            f"there is no {noun} {name!r}, which {argument}= names{did_you_mean(name, available)}; "
            f"the {noun}s are {listing(available)}"
        )
