"""What a comparison of classifiers found: differences, orders, the possible best."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import Covariance
from dmfroc._kit.options import check_level
from dmfroc._kit.text import in_percent
from dmfroc.analyses.ranks import Ranks, ranks_of
from dmfroc.inference.hypothesis import Alternative, Hypothesis
from dmfroc.inference.selection import Winner, may_be_best
from dmfroc.inference.simultaneous import holm_adjusted
from dmfroc.inference.units import Sample, Units, sample_of
from dmfroc.inputs.messages import shortened
from dmfroc.inputs.predictions import Predictions
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.difference import ContrastScale, Difference, differences_table, note_of_tests
from dmfroc.results.estimate import Estimate, NamedEstimates, judge_table
from dmfroc.results.result import attributed, renderer, sample_attributes
from dmfroc.results.table import Column, Name, Table, rounded

_MOST_ORDERS = 10  # in tables
_MOST_APART = 20  # names of those for which rules differ
MANY = 6  # classifiers, from which on only the differences from the best are shown


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(NamedEstimates):
    """Several classifiers on the same observations.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    estimates : dict of str to Estimate
        Each classifier's own value and interval.
    differences : tuple of Difference
        One for every two classifiers, in the order in which they were given. `to_pandas`, JSON and
        CSV keep it; prints and reports begin with the better one, if tests are two-sided.
    order_probabilities : dict of tuple of str to float
        Probability of each order of the classifiers, best first; the most probable first. Orders
        with a probability below about 1e-5 are left out, and all but the 1,000 most probable.
    level : float
        Nominal coverage of all intervals, each taken alone; with ``simultaneous=True`` those of the
        differences hold all at once.
    rope : float
        Half-width of the region of practical equivalence.
    method : str
        How the uncertainty was obtained.
    n_draws, seed : int
        Draws from the joint distribution behind `order_probabilities`, and their seed.
    greater_is_better : bool
        Whether greater values of the measure are better.
    covariance : numpy.ndarray of shape (m, m)
        Of the values, in the order of `estimates`.
    simultaneous : bool
        Whether intervals and adjusted p-values of the differences hold all at once.
    value_intervals : dict of str to tuple of float, or None
        With ``simultaneous=True``: an interval of each classifier's value, all at once.
    winner : Winner or None
        With ``simultaneous=True``: the classifier with the best value, and an interval adjusted for
        its selection.
    predictions : dict of str to Predictions
        What was compared.
    units : Units or None
        Which of the observations are independent; None of samples that are so of each other.
    curve_options : CurveOptions or None
        The options of the curves if the measure is the area under them; None if it is another one.
    alternative, margin : str, float
        What the p-values and intervals of the differences are about, see `compare`.
    scale : {"difference", "ratio"}
        With ``"ratio"`` the differences hold ratios: their values and intervals are those of the
        first value over the second, their standard errors those of the logarithms.
    """

    has_joint_errors: ClassVar[bool] = True  # `covariance` shows them all
    main_table: ClassVar[str] = "differences"
    json_names: ClassVar[tuple[str, ...]] = (
        *("measure", "title", "method", "level", "scale", "alternative", "margin", "tested"),
        *("simultaneous", "value_intervals", "best_set", "winner", "n_draws", "seed"),
    )

    measure: str
    title: str
    estimates: dict[str, Estimate]
    differences: tuple[Difference, ...]
    order_probabilities: dict[tuple[str, ...], float]
    level: float
    rope: float
    method: str
    n_draws: int
    seed: int
    greater_is_better: bool
    covariance: Covariance = field(repr=False)
    simultaneous: bool = False
    value_intervals: dict[str, tuple[float, float]] | None = None
    winner: Winner | None = None
    predictions: Mapping[str, Predictions] = field(default_factory=dict, repr=False)
    units: Units | None = field(default=None, repr=False)
    curve_options: CurveOptions | None = field(default=None, repr=False)
    alternative: Alternative = "two-sided"
    margin: float = 0.0
    scale: ContrastScale = "difference"

    def best_set(self, level: float | None = None) -> tuple[str, ...]:
        """Return the classifiers that are not excluded as the best, best first.

        Parameters
        ----------
        level : float, optional
            Probability with which the truly best is among them, by default that of the
            comparison. It holds whether or not the intervals are simultaneous.

        References
        ----------
        Hsu (1981), Simultaneous confidence intervals for all distances from the "best"; Hansen,
        Lunde and Nason (2011), The model confidence set, for the aim.

        Examples
        --------
        >>> import numpy as np
        >>> from dmfroc import compare
        >>> rng = np.random.default_rng(1)
        >>> y = rng.integers(3, size=300)
        >>> shifts = {"poor": 0.5, "good": 2.0, "better": 2.0}
        >>> scores = {k: rng.normal(size=(300, 3)) + s * np.eye(3)[y] for k, s in shifts.items()}
        >>> compare(y, scores, measures="hand_till").best_set()
        ('better', 'good')
        """
        level, qualities, p_values = self._p_values_of_pairs(level)
        stays, names = may_be_best(qualities, self.covariance, p_values, level, self.seed), [*self]
        return tuple(
            names[place] for place in np.argsort(-qualities, kind="stable") if stays[place]
        )

    def _p_values_of_pairs(
        self, level: float | None
    ) -> tuple[float, Float[np.ndarray, " m"], Float[np.ndarray, "m m"]]:
        """Return the level, the values so that more is better, and the p-values of all pairs."""
        level, m = self.level if level is None else level, len(self.estimates)
        check_level(level)
        p_values = np.ones((m, m))
        p_values[np.triu_indices(m, 1)] = [d.two_sided_p_value for d in self.differences]
        return level, self._qualities, np.minimum(p_values, p_values.T)

    def against(self, reference: str) -> tuple[Difference, ...]:
        """Return the differences with one classifier, p-values adjusted for these alone (Holm).

        Each has the direction in which it was compared: that of the others minus the reference if
        the reference was given last.

        Parameters
        ----------
        reference : str
            Name of the classifier, chosen before any result was seen.

        Raises
        ------
        KeyError, ValueError
            If there is no such classifier, or if the intervals are simultaneous, which are those
            of all pairs. With ``level=1 - 0.05 / k`` those of k differences hold at once.

        Examples
        --------
        >>> import numpy as np
        >>> from dmfroc import compare
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(2, size=300)
        >>> scores = {x: rng.normal(size=300) + x * y for x in (1.8, 2.0, 1.0)}
        >>> found = compare(y, {f"{x}": s for x, s in scores.items()}, measures="auc")
        >>> [(d.first, d.second, d.adjusted_p_value < 0.05) for d in found.against("1.0")]
        [('1.8', '1.0', True), ('2.0', '1.0', True)]
        """
        if reference not in self.estimates:
            raise KeyError(f"reference {reference!r} is none of {shortened([*self.estimates])}")
        if self.simultaneous:
            raise ValueError(
                "against() needs intervals that are not those of all pairs at once: compare "
                "without simultaneous=True"
            )
        return holm_adjusted(d for d in self.differences if reference in (d.first, d.second))

    def ranks(self, level: float | None = None) -> Ranks:
        """Return the rank of each classifier, with intervals that hold all at once, and the tiers.

        Parameters
        ----------
        level : float, optional
            Probability with which all true ranks are in their intervals, by default that of the
            comparison.

        Examples
        --------
        >>> from dmfroc.applications import items
        >>> right = {"a": [1] * 38 + [0] * 2, "b": [1] * 20 + [0] * 20, "c": [0] * 20 + [1] * 20}
        >>> found = items(right).ranks()
        >>> found.intervals
        {'a': (1, 1), 'b': (2, 3), 'c': (2, 3)}
        >>> found.tiers
        (('a',), ('b', 'c'))
        """
        level, qualities, p_values = self._p_values_of_pairs(level)
        return ranks_of(
            self.estimates,
            qualities,
            self.covariance,
            p_values,
            seed=self.seed,
            has_joint_errors=self.has_joint_errors,
            title=self.title,
            level=level,
            warnings=self.warnings,
        )

    def tiers(self, level: float | None = None) -> tuple[tuple[str, ...], ...]:
        """Return groups that the data do order, best first, see `ranks`."""
        return self.ranks(level).tiers

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        is_paired = self.units is not None or not (self.predictions and self.has_all_scores)
        return {**super().design, **({} if is_paired else {"samples": "independent"})}

    @property
    def hypothesis(self) -> Hypothesis:
        """What is tested of every difference."""
        return Hypothesis(self.alternative, self.margin, self.rope, self.greater_is_better)

    @property
    def kind_of_interval(self) -> str:
        """What the intervals of the differences are, for the head of a column."""
        kind = "interval" if self.hypothesis.is_two_sided else "limit"
        return f"{'simultaneous ' if self.simultaneous else ''}{in_percent(self.level)} {kind}"

    @property
    def tested(self) -> str:
        """Say in a sentence what the p-values test."""
        hypothesis = self.hypothesis
        if hypothesis.is_two_sided:
            return f"P-values are two-sided: {self._statement}."
        claim = hypothesis.claim("A", "B")
        return f"P-values are one-sided: {self._statement}, that is, {claim}."

    @property
    def tested_value(self) -> float:
        """The difference or ratio against which is tested."""
        return 1.0 if self.scale == "ratio" else self.hypothesis.threshold

    @property
    def _statement(self) -> str:
        statement = self.hypothesis.statement
        return statement.replace(" - ", " / ")[:-1] + "1" if self.scale == "ratio" else statement

    @property
    def has_all_scores(self) -> bool:
        """Whether all scores are in memory."""
        return all(predictions.has_all_scores for predictions in self.predictions.values())

    @property
    def samples(self) -> dict[str, Sample]:
        """The observations of each classifier that count, with their independent units."""
        return {
            name: sample_of(p) if self.units is None else Sample(p.counted, self.units)
            for name, p in self.predictions.items()
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, each warning with the classifiers that it concerns."""
        return attributed({name: e.warnings for name, e in self.estimates.items()})

    @property
    def probability_better(self) -> dict[tuple[str, str], float]:
        """Probability that the first of two classifiers is better, for every ordered pair."""
        forward = {(d.first, d.second): d.probability_better for d in self.differences}
        backward = {(b, a): 1 - probability for (a, b), probability in forward.items()}
        return forward | backward

    def best_first(self) -> Comparison:
        """Return the same comparison with the best classifier first, and differences from it."""
        names, order = list(self.estimates), self._order
        ranked = [names[place] for place in order]
        found = [*self.differences, *(d.turned_around() for d in self.differences)]
        by_pair = {(d.first, d.second): d for d in found}
        return replace(
            self,
            estimates={name: self.estimates[name] for name in ranked},
            differences=tuple(by_pair[pair] for pair in itertools.combinations(ranked, 2)),
            covariance=self.covariance[np.ix_(order, order)],
            predictions={x: self.predictions[x] for x in ranked if x in self.predictions},
        )

    @property
    def _qualities(self) -> Float[np.ndarray, " m"]:
        """The values so that more is better."""
        sign = 1 if self.greater_is_better else -1
        return sign * np.array([e.value for e in self.estimates.values()])

    @property
    def _order(self) -> Int[np.ndarray, " m"]:
        """The places of the classifiers, the best first."""
        return np.argsort(-self._qualities, kind="stable")  # NaN last

    def plot_best_set(self, ax: Any = None, **options: Any) -> Any:
        """Draw the classifiers in the order of their values, with intervals.

        The intervals are those of `value_intervals` if there are any, else those of each taken
        alone. Classifiers that are not excluded as the best, see `best_set`, are filled.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            ``color`` of the rows.
        """
        return renderer(self, "plot_best_set")(self, ax=ax, **options)

    def attributes(self) -> dict[str, Any]:
        """Return the measure, the method, and who may be best."""
        samples = [sample_attributes(p) for p in self.predictions.values()]
        return {**next(iter(samples), {}), **super().attributes(), "best_set": self.best_set()}

    def _classifiers(self) -> list[Column]:
        """Return the columns of the classifiers, in their order."""
        interval = f"{in_percent(self.level)} interval"
        estimates, best = self.estimates.values(), self.best_set()
        may_be_best = "may be best" if len(estimates) > 2 else ""
        of_best = [Name(x in best, "yes" if x in best else "no") for x in self.estimates]
        classifiers = [
            Column("classifier", "classifier", self.estimates, "name"),
            Column("value", self.title, estimates, "estimate", interval),
            Column("may_be_best", may_be_best, of_best, "name"),
        ]
        if (together := self.value_intervals) is not None:
            ends = [(*together[name], e.standard_error) for name, e in self.estimates.items()]
            title = f"simultaneous {interval}"
            classifiers.append(Column("simultaneous_interval", title, ends, "interval"))
        if any(e.error_bound for e in estimates):
            bounds = [e.error_bound for e in estimates]
            classifiers.append(Column("error_bound", "binning error", bounds, "bound"))
        return classifiers

    def _behind_best(self, classifiers: Table) -> Table:
        """Return the same, the best one first, and how far it is ahead of each of the others."""
        ranked = self.best_first()
        behind = ranked.differences[: len(self.estimates) - 1]
        title = f"best {'/' if self.scale == 'ratio' else '-'} row"
        adjusted = f"adjusted p ({'max-T' if self.simultaneous else 'Holm'})"
        p_values = [None, *(d.adjusted_p_value for d in behind)]
        columns = [
            *ranked._classifiers(),
            Column("difference", title, [None, *(d.value for d in behind)]),
            Column("adjusted_p_value", adjusted, p_values, "p_value"),
        ]
        return replace(classifiers, columns=columns, note=note_of_tests(behind))

    def tables(self) -> list[Table]:
        """Return the classifiers, their differences, and their most probable orders."""
        title = f"Differences in {self.title}, A minus B"
        if self.scale == "ratio":
            title = f"Ratios of {self.title}, A over B; standard errors are those of logarithms"
        if not (is_two_sided := self.hypothesis.is_two_sided):
            title += f". {self.tested}"
        differences, as_printed = (
            differences_table(
                of_pairs,
                title,
                self.kind_of_interval + (f" (margin {self.margin:g})" if self.margin else ""),
                simultaneous=self.simultaneous,
                rope=self.rope,
                n_draws=self.n_draws if self.method == "bootstrap" else 0,
            )
            for of_pairs in (
                self.differences,
                [d.better_first() if is_two_sided else d.as_read() for d in self.differences],
            )
        )
        probable = list(self.order_probabilities.items())[:_MOST_ORDERS]
        orders = [
            Column("order", "order, best first", [order for order, _ in probable], "name"),
            Column("probability", "probability", [p for _, p in probable], "probability"),
        ]
        order = Table("order_probabilities", "Order of the classifiers", orders)
        values = f"{self.title}, {self.method}"
        classifiers = Table("estimates", values, self._classifiers(), is_by_name=True)
        if len(self.estimates) >= MANY:
            order = replace(order, n_printed=0)
            as_printed = replace(as_printed, n_printed=_MOST_ORDERS)
            if is_two_sided:
                differences = replace(differences, n_printed=0)
                classifiers = replace(classifiers, as_printed=self._behind_best(classifiers))
        tables = [classifiers, replace(differences, as_printed=as_printed), order]
        if self.has_judge:
            tables.append(judge_table((name, e.judge) for name, e in self.estimates.items()))
        return tables

    @property
    def has_judge(self) -> bool:
        """Whether labels of a judge have made the values more precise."""
        return any(e.judge is not None for e in self.estimates.values())

    def where_rules_differ(self) -> list[str]:
        """Say what to cite if rules differ, and for which differences and classifiers they do."""
        pairs, error, tested = self.differences, 1 - self.level, self.tested_value
        if self.hypothesis.is_two_sided:  # as in print
            n, pairs = len(self.estimates), tuple(d.better_first() for d in pairs)
            pairs = self.best_first().differences[: n - 1] if n >= MANY else pairs
        apart = [
            d.name
            for d in pairs
            for p_value in [d.adjusted_p_value if self.simultaneous else d.p_value]
            for low, high in [d.interval]
            if (p_value < error) != (tested < low or high < tested)
        ]
        differ = list[str]()
        if len(pairs) > 1 and self.hypothesis.is_two_sided:
            best, *others = (list(self.estimates)[place] for place in self._order)
            decided = [{d.first, d.second} for d in pairs if d.adjusted_p_value < error]
            may_be_best = self.best_set()
            differ = [x for x in others if (x in may_be_best) == ({best, x} in decided)]
        adjusted = "adjusted " * (len(pairs) > 1)
        plain = " (not adjusted)" * (len(pairs) > 1 and not self.simultaneous)
        kind = "interval" if self.hypothesis.is_two_sided else "limit"
        rules = {
            f"p-value{plain} and {kind}": apart,
            f'{adjusted}p-value and "may be best"': differ,
        }
        told = [f"{x} for {shortened(names, _MOST_APART)}" for x, names in rules.items() if names]
        line = (
            f"Cite the {adjusted}p-value for whether two differ, the {kind} for how much"
            f"{', "may be best" for who may be the best' * bool(differ)}. They are of different "
            f"methods and disagree: {'; '.join(told)}."
        )
        return [line] * bool(told)

    def foot(self) -> list[str]:
        """Return what draws and one-sided tests are, where rules differ, and who is best."""
        lines = [f"{x} P(A better) is the share of draws." for x in super().foot()]
        lines += [self.tested] * (not self.hypothesis.is_two_sided)
        if len(self.estimates) > 2:
            of_best = f"the {in_percent(self.level)} confidence set for the best classifier"
            lines.append(f"may be best: in {of_best}")
        lines += self.where_rules_differ()
        if self.winner is None:
            return lines
        error = self.estimates[self.winner.name].standard_error
        low, high = (rounded(end, error) for end in self.winner.interval)
        return [
            *lines,
            f"best in this sample: {self.winner.name}, {in_percent(self.level)} interval adjusted "
            f"for its selection {low} to {high}",
        ]
