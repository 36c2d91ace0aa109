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
        plus ``lambda_`` times the judge's value on the other rows less that on the verified ones. A
        value outside of the range of the measure is put into it. 0 is the verified sample alone.
    n_verified, n_rows : int
        Number of verified rows, and of all rows.
    effective_labels : float
        Number of verified labels that would be as precise without the judge.
    verified_value, verified_error : float
        Value and standard error by the verified rows alone.
    judge_value : float
        Value if the judge's labels were the truth; NaN if they have no value.
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
    judged = [(name, x) for name, x in values if x is not None]
    of = [x for _, x in judged]
    columns = [
        Column("name", "of", [name for name, _ in judged], "name"),
        Column("lambda", "lambda", [x.lambda_ for x in of]),
        Column("n_verified", "verified", [x.n_verified for x in of], "count"),
        Column(
            "effective_labels", "effective labels", [round(x.effective_labels) for x in of], "count"
        ),
        Column("verified_value", "verified rows only", [x.verified_value for x in of]),
        Column("verified_error", "std. error", [x.verified_error for x in of], "error"),
        Column("judge_value", "judge only", [x.judge_value for x in of]),
    ]
    return Table("judge", "What the judge adds to the verified labels", columns)


def agreement_table(pairs: Mapping[str, tuple[Labels, Labels]]) -> Table:
    """Return how often each verified label goes with each of the judge's, by name of the value."""
    names, labels, of_judge, counts, shares = [], [], [], [], []
    for name, (verified, judge) in pairs.items():
        totals = Counter(verified.tolist())
        together = Counter(zip(verified.tolist(), judge.tolist(), strict=True))
        for (label, said), count in sorted(together.items()):
            names.append(name)
            labels.append(_shown_label(label))
            of_judge.append(_shown_label(said))
            counts.append(count)
            shares.append(count / totals[label])
    columns = [
        Column("name", "of" if len(pairs) > 1 else "", names, "name"),
        Column("verified", "verified", labels, "name"),
        Column("judge", "judge", of_judge, "name"),
        Column("count", "rows", counts, "count"),
        Column("share", "share of the verified label", shares, "percent"),
    ]
    return Table("agreement", "Agreement of the judge with the verified labels", columns)


def _shown_label(label: Any) -> Any:
    return f"{label:g}" if isinstance(label, float) else label
