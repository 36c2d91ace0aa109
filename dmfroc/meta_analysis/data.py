"""Published counts of studies: read from a table, checked, and laid out for the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from jaxtyping import Float

from dmfroc._inputs.messages import listing

_LEAST_STUDIES = 3
_FEW_STUDIES = 5
_AT_ONCE = 8  # shapes are multiples of it, so that models are compiled for few of them
_LARGEST_COUNT = 2**53


class Counts(NamedTuple):
    """What a model sees of studies.

    Attributes
    ----------
    positives
        True and false positives.
    sizes
        Cases and non-cases.
    """

    positives: Float[Any, "s 2"]
    sizes: Float[Any, "s 2"]


@dataclass(frozen=True, eq=False)
class Studies:
    """Checked counts of all studies.

    Attributes
    ----------
    names : tuple of str
        Of the studies, in the order of the table.
    counts : Counts
        By study, without padding.
    remarks : tuple of str
        What a careful reader has to know of the table.
    """

    names: tuple[str, ...]
    counts: Counts
    remarks: tuple[str, ...]

    def without(self, study: int) -> Counts:
        """Return the counts as if one study had none."""
        kept = np.arange(len(self.names))[:, None] != study
        return Counts(*(field * kept for field in self.counts))


def padded(counts: Counts) -> Counts:
    """Add studies without observations up to a multiple of eight."""
    missing = -len(counts.sizes) % _AT_ONCE
    return Counts(*(np.pad(field, ((0, missing), (0, 0))) for field in counts))


def read_studies(table: Any, columns: Mapping[str, str | None]) -> Studies:
    """Read counts from the columns of a table; `columns` gives the name of each role's."""
    found = _columns_of(table, columns)
    tp, fn, fp, tn = (_counts(found[role], columns[role]) for role in ("tp", "fn", "fp", "tn"))
    names = [str(x) for x in found.get("study", range(1, len(tp) + 1))]
    for name, n_rows in Counter(names).items():
        if n_rows > 1:
            raise ValueError(f"study {name!r} has {n_rows} rows: keep one row per study")
    counts = Counts(np.stack([tp, fp], axis=1), np.stack([tp + fn, fp + tn], axis=1))
    for name, n_people in zip(names, counts.sizes.sum(axis=1), strict=True):
        if n_people == 0:
            raise ValueError(f"study {name!r} has no observations: leave it out")
    if len(names) < _LEAST_STUDIES:
        raise ValueError(
            f"the table has {len(names)} studies ({listing(names)}): a meta-analysis needs "
            f"{_LEAST_STUDIES} studies at least"
        )
    return Studies(tuple(names), counts, _remarks(len(names)))


def _columns_of(table: Any, columns: Mapping[str, str | None]) -> dict[str, Sequence[Any]]:
    if isinstance(table, Mapping):
        import pandas as pd

        table = pd.DataFrame(dict(table))
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError as error:
        raise TypeError(
            "table must be a data frame or a mapping from names to columns, but it is "
            f"{type(table).__name__}"
        ) from error
    wanted = {role: name for role, name in columns.items() if name is not None}
    for role, name in wanted.items():
        if name not in frame.columns:
            raise ValueError(
                f"{role}={name!r} is no column of the table, which has {listing(frame.columns)}: "
                f"name the column of {role}, {role}="
            )
    if len(frame) == 0:
        raise ValueError("table has no rows: give one row per study")
    return {role: frame[name].to_list() for role, name in wanted.items()}


def _counts(column: Sequence[Any], name: str | None) -> Float[np.ndarray, " rows"]:
    for row, x in enumerate(column):
        is_number = isinstance(x, int | float | np.number) and not isinstance(x, bool)
        if not (is_number and 0 <= x <= _LARGEST_COUNT and x == int(x)):
            raise ValueError(
                f"column {name!r} must hold numbers of people, but row {row} (counting from 0) "
                f"has {x!r}: leave the row out, or correct it"
            )
    return np.array(column, dtype=float)


def _remarks(n_studies: int) -> tuple[str, ...]:
    if n_studies >= _FEW_STUDIES:
        return ()
    return (
        f"there are only {n_studies} studies: how much studies differ is mostly what the prior "
        "says, priors=SummaryPriors(spread_scale=...)",
    )
