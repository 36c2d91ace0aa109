"""What a judge of all rows adds to few verified labels, and how far it agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped

from dmfroc.results.table import Column, Table

Labels = Shaped[np.ndarray, " n"]


@dataclass(frozen=True)
class JudgedLabels:
    """How a judge made a value more precise.

    Attributes
    ----------
    lambda_ : float
        Weight of the judge, chosen for the least variance: the value is that of the verified rows
        plus ``lambda_`` times the judge's value on the other rows less that on the verified ones.
        0 is the verified sample alone.
    n_verified, n_rows : int
        Number of verified rows, and of all rows.
    effective_labels : float
        Number of verified labels that would be as precise without the judge.
    verified_value, verified_error : float
        Value and standard error by the verified rows alone.
    judge_value : float
        Value if the judge's labels were the truth.
    """

    lambda_: float
    n_verified: int
    n_rows: int
    effective_labels: float
    verified_value: float
    verified_error: float
    judge_value: float


def judge_table(values: Iterable[tuple[str, JudgedLabels | None]]) -> Table:
    """Return what the judge did for each of several values, by name; of some it did nothing."""
    columns = [
        Column("name", "of", "name"),
        Column("lambda", "lambda"),
        Column("n_verified", "verified", "count"),
        Column("effective_labels", "effective labels", "count"),
        Column("verified_value", "verified rows only"),
        Column("verified_error", "std. error", "error"),
        Column("judge_value", "judge only"),
    ]
    rows = [
        [
            name,
            judged.lambda_,
            judged.n_verified,
            round(judged.effective_labels),
            judged.verified_value,
            judged.verified_error,
            judged.judge_value,
        ]
        for name, judged in values
        if judged is not None
    ]
    return Table("judge", "What the judge adds to the verified labels", columns, rows)


def agreement_table(pairs: Mapping[str, tuple[Labels, Labels]]) -> Table:
    """Return how often each verified label goes with each of the judge's, by name of the value."""
    columns = [
        Column("name", "of" if len(pairs) > 1 else "", "name"),
        Column("verified", "verified", "name"),
        Column("judge", "judge", "name"),
        Column("count", "rows", "count"),
        Column("share", "share of the verified label", "percent"),
    ]
    rows: list[list[Any]] = []
    for name, (verified, judge) in pairs.items():
        counts = Counter(zip(verified.tolist(), judge.tolist(), strict=True))
        totals = Counter(verified.tolist())
        rows += [
            [name, _plain(label), _plain(said), count, count / totals[label]]
            for (label, said), count in sorted(counts.items())
        ]
    return Table("agreement", "Agreement of the judge with the verified labels", columns, rows)


def _plain(label: Any) -> Any:
    return f"{label:g}" if isinstance(label, float) else label
