"""Differences of classifiers or subgroups, and their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import chdtrc, fdtrc

from dmfroc._kit.text import printable
from dmfroc.inputs.messages import shortened
from dmfroc.results.result import Valued
from dmfroc.results.table import Column, Table, attribute_columns, printed
from dmfroc.results.text import equals_p_value, format_freedom, format_p_value

ContrastScale = Literal["difference", "ratio"]
TestOf = Literal["t test", "sign flips", "tail of the limits", "share of draws"]


@dataclass(frozen=True, repr=False)
class Difference(Valued):
    """How much better the first classifier is than the second.

    Attributes
    ----------
    first, second : str
        Names of the classifiers.
    value, standard_error : float
        Value of the first minus that of the second, and its standard error. Of ratios the first
        over the second, and the standard error of the logarithm.
    interval : tuple of float
        Lower and upper end. Of a one-sided test it is a limit, and the other end is infinite.
    p_value : float
        Of the alternative and the margin that the comparison tests; by default two-sided, of no
        difference, and 1 for identical classifiers.
    two_sided_p_value : float
        Two-sided, of no difference, whatever is tested.
    adjusted_p_value : float
        `p_value`, adjusted for all differences of the comparison: by Holm's method, or with
        ``simultaneous=True`` by the distribution of the largest of all statistics.
    probability_better : float
        Probability that the first is truly better (where the measure is an error, smaller); 1/2
        if nothing speaks for either. Of a jackknife, half of the two-sided p-value is that of the
        worse one; of draws, their share.
    probability_equivalent : float
        Probability that the two differ by no more than the region of practical equivalence.
    scale : {"difference", "ratio"}
        Whether the second value is subtracted, or divided by.
    test : {"t test", "sign flips", "tail of the limits", "share of draws"}
        Where `p_value` comes from. The tail of the limits is the error probability of the interval
        that ends at the tested value, and stands for flips below 1e-4, the least that they show.
    degrees_of_freedom : float or None
        Those of a t test.
    """

    first: str
    second: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    two_sided_p_value: float
    adjusted_p_value: float
    probability_better: float
    probability_equivalent: float
    scale: ContrastScale = "difference"
    test: TestOf = "tail of the limits"
    degrees_of_freedom: float | None = None

    @property
    def name(self) -> str:
        """Both names, with the sign of the operation between them."""
        return f"{self.first} {'/' if self.scale == 'ratio' else '\N{MINUS SIGN}'} {self.second}"

    def __repr__(self) -> str:
        """Return the difference in one line."""
        is_ratio, shown = self.scale == "ratio", self.as_read()
        column = Column("", "A - B", [shown], "estimate", "interval", is_signed=not is_ratio)
        _, [[value, ends]] = printed(Table("", "", [column]))
        kind = "limit" if np.isinf(shown.interval).any() else "interval"
        adjusted = f", adjusted {format_p_value(self.adjusted_p_value)}"
        return (
            f"{printable(self.name)} = {value.text} ({kind} {ends.text}), "
            f"{equals_p_value(self.p_value)}{adjusted * (self.adjusted_p_value > self.p_value)}"
        )

    def as_read(self) -> Difference:
        """Return the same with 0, which is no limit of a ratio, as an open end."""
        low, high = self.interval
        is_open = self.scale == "ratio" and low == 0
        return replace(self, interval=(-np.inf, high)) if is_open else self

    def turned_around(self) -> Difference:
        """Return the difference or the ratio the other way round."""
        low, high = self.interval
        if self.scale == "ratio":
            value, low, high = (1 / x if x else np.inf for x in (self.value, high, low))
        else:
            value, low, high = -self.value, -high, -low
        return replace(
            self,
            first=self.second,
            second=self.first,
            value=value,
            interval=(low, high),
            probability_better=1 - self.probability_better,
        )

    def better_first(self) -> Difference:
        """Turn the difference around, if the second one is more likely to be the better one."""
        return self if self.probability_better >= 0.5 else self.turned_around()


@dataclass(frozen=True)
class OmnibusTest:
    """A test that all values are equal.

    Attributes
    ----------
    statistic : float
        Approximately F distributed if they are; NaN if a group shows no variation.
    degrees_of_freedom : tuple of float
        Those of the numerator, one less than there are values, and of the denominator, infinite
        for an error that is known.
    p_value : float
        Probability of a statistic at least as large.
    """

    statistic: float
    degrees_of_freedom: tuple[float, float]
    p_value: float

    def __str__(self) -> str:
        numerator, denominator = self.degrees_of_freedom
        ratio = f"F({numerator:g}, {denominator:.1f}) = {self.statistic:.3f}"
        return f"{ratio}, {equals_p_value(self.p_value)}"


def p_value_of_f(statistic: float, degrees_of_freedom: tuple[float, float]) -> float:
    """Return the probability of an F statistic at least as large."""
    numerator, denominator = degrees_of_freedom
    if np.isinf(denominator):
        return float(chdtrc(numerator, numerator * statistic))
    return float(fdtrc(numerator, denominator, statistic))


def differences_table(
    differences: Sequence[Difference],
    title: str,
    interval: str,
    *,
    simultaneous: bool,
    with_probabilities: bool = True,
    rope: float = 0.0,
    n_draws: int = 0,
) -> Table:
    """Return differences with their kind of intervals and p-values, those of draws two-sided.

    What nobody asked for is not printed.
    """
    are_adjusted = len(differences) > 1 or any(d.adjusted_p_value > d.p_value for d in differences)
    adjusted = f"adjusted ({'max-T' if simultaneous else 'Holm'})" if are_adjusted else ""
    equivalent = f"P(|A - B| <= {rope:g})" if rope > 0 else ""
    of_two = Column("difference", "A - B", differences, "estimate", interval, is_signed=True)
    if differences and differences[0].scale == "ratio":
        of_two = replace(of_two, key="ratio", title="A / B", is_signed=False)
    p_values = [d.p_value for d in differences]
    columns = [
        *attribute_columns(differences, ("first", "A", "name"), ("second", "B", "name")),
        of_two,
        Column("p_value", "p-value", p_values, "p_value", n_draws=n_draws, n_least=2),
        *attribute_columns(
            differences,
            ("adjusted_p_value", adjusted, "p_value"),
            ("test", "", "name"),
            ("degrees_of_freedom", "", "freedom"),
        ),
    ]
    if with_probabilities:
        columns += attribute_columns(
            differences,
            ("probability_better", "P(A better)", "probability"),
            ("probability_equivalent", equivalent, "probability"),
        )
    return Table("differences", title, columns, note=note_of_tests(differences))


def note_of_tests(differences: Sequence[Difference]) -> str:
    """Say in a line which tests p-values are of, the most frequent one first."""
    texts = list[str]()
    for test, _ in Counter(d.test for d in differences).most_common():
        own = [d for d in differences if d.test == test]
        of = f"{shortened([d.name for d in own], 3)} by " if texts else ""
        freedoms = [np.round(f) for d in own if (f := d.degrees_of_freedom) is not None]
        ends = {format_freedom(end(freedoms)): None for end in (min, max) if freedoms}
        freedom = f", {' to '.join(ends)} degrees of freedom" if ends else ""
        texts.append(f"{of}{test}{freedom}")
    return f"p-value by {'; '.join(texts)}" if texts else ""


def differences_by(
    what: str,
    key: str,
    differences: Mapping[str, Sequence[Difference]],
    title: str,
    interval: str,
    *,
    with_probabilities: bool = True,
) -> list[Table]:
    """Return a table of differences of several kinds, such as labels, or none if there are none."""
    named = [(name, d) for name, several in differences.items() for d in several]
    if not named:
        return []
    table = differences_table(
        [d for _, d in named],
        title,
        interval,
        simultaneous=False,
        with_probabilities=with_probabilities,
    )
    names = Column(what, what, [name for name, _ in named], "name")
    return [replace(table, key=key, columns=[names, *table.columns])]
