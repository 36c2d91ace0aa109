"""The tables of reports and notebooks: what stands in them, as text and as what it sorts by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dmfroc.reports.verdict import ends_text, interval_text, number
from dmfroc.results.text import format_p_value, format_probability

if TYPE_CHECKING:
    from dmfroc.results.comparison_result import Comparison, Difference
    from dmfroc.results.estimate import Estimate

_MOST_DIFFERENCES = 200
_MOST_ORDERS = 10
A_MINUS_B = "A \N{MINUS SIGN} B"


class Column(NamedTuple):
    """The head of a column."""

    title: str
    is_number: bool = True
    sorts: bool = True


class Cell(NamedTuple):
    """A text, the number that it stands for, and whose line is drawn before it."""

    text: str
    sort: float | None = None
    position: int | None = None


@dataclass(frozen=True)
class Table:
    """A table; the first column names the rows."""

    kind: ClassVar = "table"
    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def words(title: str) -> Column:
    """Return the head of a column of names."""
    return Column(title, is_number=False)


def interval_column(percent: str, kind: str = "") -> Column:
    """Return the head of a column of intervals, which do not sort."""
    return Column(f"{kind} {percent} interval".strip(), sorts=False)


def number_cell(x: float, standard_error: float = math.nan) -> Cell:
    """Return a number with as many digits as its standard error asks for."""
    return Cell(number(x, standard_error), x if math.isfinite(x) else None)


def p_cell(p_value: float) -> Cell:
    """Return a p-value."""
    return Cell(format_p_value(p_value), p_value if math.isfinite(p_value) else None)


def probability_cell(probability: float) -> Cell:
    """Return a probability, never rounded to a certainty."""
    return Cell(format_probability(probability), probability)


def estimates_table(estimates: Iterable[Estimate], caption: str) -> Table:
    """Return measures with their intervals."""
    columns = [
        words("Measure"),
        Column("Value"),
        Column("Std. error"),
        Column("Interval", sorts=False),
        words("Method"),
    ]
    rows = [
        [
            Cell(e.title),
            number_cell(e.value, e.standard_error),
            number_cell(e.standard_error, e.standard_error),
            Cell(f"{interval_text(e)} ({100 * e.level:g} %)"),
            Cell(e.method),
        ]
        for e in estimates
    ]
    return Table("Measures", caption, columns, rows)


def classifiers_table(
    comparison: Comparison, caption: str, beside: Mapping[str, Sequence[Estimate]] | None = None
) -> Table:
    """Return each classifier's value and interval, with those of other measures beside it."""
    percent = f"{100 * comparison.level:g} %"
    others = {name: beside[name] if beside else [] for name in comparison.estimates}
    best, several = comparison.best_set(), len(comparison.estimates) > 2
    together = comparison.value_intervals
    columns = [words("Classifier"), Column(comparison.title), interval_column(percent)]
    columns += [interval_column(percent, "simultaneous")] * (together is not None)
    columns += [words("May be best")] * several
    for e in next(iter(others.values())):
        columns += [Column(e.title), interval_column(percent)]
    rows = []
    for position, (name, estimate) in enumerate(comparison.estimates.items()):
        row = [Cell(name, position=position if beside else None), *_value_and_interval(estimate)]
        if together is not None:
            row.append(Cell(ends_text(together[name], estimate.standard_error)))
        if several:
            row.append(Cell("yes" if name in best else "no"))
        rows.append([*row, *(cell for e in others[name] for cell in _value_and_interval(e))])
    return Table("Classifiers", caption, columns, rows)


def _value_and_interval(estimate: Estimate | Difference) -> list[Cell]:
    e = estimate
    return [number_cell(e.value, e.standard_error), Cell(interval_text(e))]


def differences_table(
    differences: Sequence[Difference],
    caption: str,
    kind_of_interval: str,
    *,
    simultaneous: bool,
    with_probabilities: bool = True,
    rope: float = 0.0,
) -> Table:
    """Return differences with intervals and p-values."""
    several = len(differences) > 1
    columns = [
        words("A"),
        words("B"),
        Column(A_MINUS_B),
        Column(kind_of_interval, sorts=False),
        Column("p-value"),
    ]
    columns += [Column(f"p adjusted ({'max-T' if simultaneous else 'Holm'})")] * several
    columns += [Column("P(A better)")] * with_probabilities
    columns += [Column(f"P(differ by at most {rope:g})")] * (rope > 0)
    rows = [
        [
            Cell(d.first),
            Cell(d.second),
            *_value_and_interval(d),
            p_cell(d.p_value),
            *[p_cell(d.adjusted_p_value)] * several,
            *[probability_cell(d.probability_better)] * with_probabilities,
            *[probability_cell(d.probability_equivalent)] * (rope > 0),
        ]
        for d in differences[:_MOST_DIFFERENCES]
    ]
    if len(differences) > _MOST_DIFFERENCES:
        caption += f"; the first {len(rows)} of {len(differences)}, all are among the numbers"
    return Table("Differences", caption, columns, rows)


def differences_of(comparison: Comparison) -> Table:
    """Return the differences of classifiers."""
    caption = f"Differences in {comparison.title}, A minus B"
    if not comparison.hypothesis.is_two_sided:
        caption += f". {comparison.tested}"
    return differences_table(
        comparison.differences,
        caption,
        comparison.kind_of_interval,
        simultaneous=comparison.simultaneous,
        rope=comparison.rope,
    )


def orders_table(comparison: Comparison) -> Table:
    """Return the most probable orders of the classifiers."""
    columns = [words("Order"), Column("Probability", sorts=False)]
    orders = itertools.islice(comparison.order_probabilities.items(), _MOST_ORDERS)
    rows = [[Cell(" > ".join(order)), probability_cell(share)] for order, share in orders]
    return Table("Orders", "Order of the classifiers, best first", columns, rows)
