"""Gates: whether a classifier meets the rules that its user wrote down, and how certain that is."""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from os import PathLike
from typing import Any, Literal

import numpy as np

from dmfroc import FollowUp, Measure, Predictions
from dmfroc.applications.gate_rules import ItemMeasure, Rule, read_rules
from dmfroc.applications.item_means import ScoredItems, check_scored, mean_of
from dmfroc.applications.item_scores import ItemScores
from dmfroc.applications.planning import plan
from dmfroc.applications.streams import current_of, evidence_of_streams
from dmfroc.counted import Accumulator
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    EvidenceInMemory,
    Interval,
    IntervalMethod,
    JointEvidence,
    Method,
    Name,
    Nothing,
    Options,
    RandomState,
    Result,
    Rows,
    Table,
    attributed,
    collected_remarks,
    common,
    crossed,
    did_you_mean,
    evidence_of,
    flag,
    joint_evidence,
    joint_of_rows,
    printable,
    remarked_estimates,
    rounded,
    row_names,
    warn,
)

Verdict = Literal["pass", "fail", "inconclusive", "unattainable"]
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3, "unattainable": 3}
type _IntervalAt = Callable[[float], Interval]
type _Found = tuple[Verdict, str, float, tuple[float, float]]
_GRAVEST: tuple[Verdict, ...] = ("fail", "unattainable", "inconclusive", "pass")
_WITHOUT_PARTS = ("judge", "follow_up", "population")
_MOST_TIMES = 1e4  # as many rows


@dataclass(frozen=True)
class RuleVerdict:
    """What the data say of one rule.

    Attributes
    ----------
    name, rule : str
        Name of the rule, and what it asks for.
    verdict : {"pass", "fail", "inconclusive", "unattainable"}
        Whether the whole interval is on the right side, on the wrong side, or on both; or whether
        it is on both and would be so for a perfect classifier too. That is not said of measures of
        probabilities.
    value, standard_error : float
        The value, or how much better it is than that of the other classifier; a standard error
        that says how many digits it has.
    interval : tuple of float
        What was held against the rule.
    region : tuple of float
        The values that the rule asks for.
    level : float
        Nominal coverage of the interval.
    reason : str
        What would decide the rule, or why it cannot pass.
    """

    name: str
    rule: str
    verdict: Verdict
    value: float
    standard_error: float
    interval: tuple[float, float]
    region: tuple[float, float]
    level: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """The verdict on each rule, and on all.

    Attributes
    ----------
    verdict : {"pass", "fail", "inconclusive", "unattainable"}
        "pass" if all rules pass, "fail" if any fails.
    rules : tuple of RuleVerdict
        Of each rule.
    adjust : bool
        Whether the intervals of all rules hold at once.
    warnings : tuple of str
        What limits the intervals.
    design : dict of str to object
        What of the design changes the meaning of the values.
    """

    main_table = "rules"
    json_names = ("verdict", "exit_code", "adjust")

    verdict: Verdict
    rules: tuple[RuleVerdict, ...]
    adjust: bool
    warnings: tuple[str, ...]
    design: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """What the command returns: 0 for a pass, 1 for a fail, 3 if the data do not decide."""
        return EXIT_CODES[self.verdict]

    def head(self) -> list[str]:
        """Return the verdict in a line."""
        passed = sum(x.verdict == "pass" for x in self.rules)
        return [f"Gate: {self.verdict} ({passed} of {len(self.rules)} rules pass)"]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return "Does the classifier meet its rules?"

    def tables(self) -> list[Table]:
        """Return the rules with their verdicts."""
        level, *others = {x.level for x in self.rules}
        interval = "interval" if others else f"{100 * level:g} % interval"
        asked = [Name(x.rule, f"{x.name} {x.rule}") for x in self.rules]
        reasons = [Name(x.reason, x.reason.removesuffix(" would decide")) for x in self.rules]
        head = "what would decide" if any(x.reason for x in self.rules) else ""
        columns = [
            Column("name", "", [x.name for x in self.rules], "name"),
            Column("rule", "rule", asked, "name"),
            Column("verdict", "verdict", [x.verdict for x in self.rules], "name"),
            Column("value", "value", self.rules, "estimate", interval),
            Column("level", "level" if others else "", [x.level for x in self.rules], "percent"),
            Column("reason", head, reasons, "name"),
        ]
        return [Table("rules", "Rules", columns)]

    def to_markdown(self, table: str | None = None) -> str:
        """Return the verdict and a table as Markdown, for a summary in continuous integration."""
        return f"**{self.head()[0]}**\n\n{super().to_markdown(table)}"

    def to_junit(self) -> str:
        """Return the verdicts as JUnit's XML: a rule is a test case.

        A rule that the data do not decide is an error there, so that nobody takes it for a pass.
        """
        suite = xml.Element("testsuite", name="dmfroc gate", tests=str(len(self.rules)))
        for kind, which in (("failures", ("fail",)), ("errors", ("inconclusive", "unattainable"))):
            suite.set(kind, str(sum(x.verdict in which for x in self.rules)))
        for x in self.rules:
            title = f"{printable(x.name)} {printable(x.rule)}"
            case = xml.SubElement(suite, "testcase", classname="dmfroc.gate", name=title)
            low, high = (rounded(end, x.standard_error) for end in x.interval)
            text = f"{x.verdict}: {rounded(x.value, x.standard_error)} ({low} to {high})"
            text += f"; {printable(x.reason)}" if x.reason else ""
            if x.verdict != "pass":
                kind = "failure" if x.verdict == "fail" else "error"
                xml.SubElement(case, kind, type=x.verdict, message=text)
        return xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def gate(
    rules: str | PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    y_true: Any,
    y_score: Any = None,
    *,
    by: Any = None,
    paired: bool = True,
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    groups: Any = None,
    stratify: bool | None = None,
    folds: Any = None,
    judge: Any = None,
    follow_up: FollowUp[float] | None = None,
    population: Any = None,
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
    **others: Nothing,
) -> Gate:
    """Hold a classifier against written rules: pass, fail, inconclusive or unattainable.

    A rule passes if the whole interval is on its right side, fails if it is on the wrong side, and
    is inconclusive otherwise. If not even a perfect classifier could pass with these rows, the rule
    is unattainable.

    Parameters
    ----------
    rules : path, dict, or sequence of dict
        A file in TOML with a table ``[[rule]]`` for each, or the same as a dict, or the rules as a
        list. A rule has a ``measure`` (a name with options, as for `estimate`) and one of
        ``at_least`` or ``at_most`` (or both), ``no_worse_than`` or ``better_than`` (the name of
        another classifier, with a ``margin``). ``worst_of`` names a column of ``by``: the rule is
        about the worst of these groups. ``name`` and ``level`` are optional. Beside the rules,
        ``level`` (by default 0.95) is that of all, and ``adjust = true`` makes all intervals hold
        at once (Bonferroni). It is not needed if all rules must hold.
    y_true, y_score
        As for `estimate` of one classifier, or as for `compare` of several by name. The first is
        judged. Also an `Accumulator`, or several by name: then you may look as often as you like.
        Or `ItemScores`, what `items` returns, with the measures ``mean_score``, ``pass_at(k)`` and
        ``pass_all(k)``.
    by : dict or table of array-like of shape (n,), optional
        Columns that ``worst_of`` may name.
    paired : bool
        As for `compare`.
    labels, pos_label, y_pred, sample_weight, frequency_weight, groups, stratify, folds, judge
        As for `estimate`.
    follow_up, population, method
        As for `estimate`; there is one horizon.
    level : float
        Nominal coverage, in (0, 1), if the rules have none.
    random_state : int, numpy.random.Generator, key of jax.random or None
        As for `estimate`. The same seed gives the same verdicts.

    Returns
    -------
    Gate
        With ``verdict``, ``exit_code``, ``to_markdown()`` and ``to_junit()``.

    Raises
    ------
    TypeError, ValueError
        If a rule has an unknown key or lacks one, before the data are looked at; or as for
        `estimate` and `compare`.

    References
    ----------
    Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for rules that must
    all hold.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(3, size=600)
    >>> new = rng.normal(size=(600, 3)) + 1.6 * np.eye(3)[y]
    >>> old = new + rng.normal(size=(600, 3)) / 2
    >>> rules = [
    ...     {"measure": "hand_till", "at_least": 0.8},
    ...     {"measure": "accuracy", "no_worse_than": "old", "margin": 0.05},
    ... ]
    >>> found = gate(rules, y, {"new": new, "old": old})
    >>> found.verdict, found.exit_code
    ('pass', 0)
    """
    intervals, given = Options.taken(gate, locals())
    book, level, adjust = read_rules(rules, intervals.level)
    paired = flag("paired", paired)
    if intervals.at_horizons:
        raise ValueError("follow_up of a gate must have one horizon: write a gate for each horizon")
    given_by_name = (y_true, y_score, y_pred)
    several: Any = next((x for x in given_by_name if isinstance(x, Mapping)), ())
    several = several or getattr(y_true, "classifiers", ())
    is_dict = isinstance(y_true, Mapping)
    are_watched = is_dict and any(isinstance(x, Accumulator) for x in y_true.values())
    of_rows = [name for name, x in given.items() if x is not None]
    if are_watched and (refused := of_rows + intervals.given):
        raise ValueError(
            f"{', '.join(refused)} is no option of a comparison of accumulators, which have "
            "classes, weights and hard labels of their own: leave it out"
        )
    columns = {} if by is None else dict(by.items()) if hasattr(by, "items") else {"by": by}

    @cache
    def evidence(needs: Any) -> _Rows:
        whole: Any = y_true
        names = tuple(several) if len(several) > 1 else ()
        if names:
            if are_watched:
                whole = evidence_of_streams(y_true, level)
            else:
                flags: Any = {"paired": paired, "given": given}
                whole = joint_evidence(y_true, y_score, intervals, needs, **flags)
            warn(attributed({name: p.remarks for name, p in whole.predictions.items()}))
        elif not isinstance(y_true, Accumulator):
            whole = evidence_of(y_true, y_score, intervals, given, needs=needs)
            warn(whole.predictions.remarks)
        return _Rows(whole, names, columns, paired, intervals)

    design: dict[str, Any] = {}
    verdicts, remarks = [], []
    for place, rule in enumerate(book, start=1):
        error = (1 - (rule.level or level)) / (len(book) if adjust else 1)
        measure = rule.measure
        if isinstance(measure, ItemMeasure) != isinstance(y_true, ItemScores):
            kind = (
                "classes"
                if isinstance(measure, Measure)
                else f"items, what {__package__}.items returns"
            )
            raise ValueError(f"rule {place}: {measure.name} is a measure of {kind}")
        with collected_remarks() as of_rule:
            source: _Rows | _Items
            if isinstance(measure, ItemMeasure):
                source = _Items(measure.of(y_true.scored), columns)
            else:
                source = evidence(measure.needs)
                design |= source.design
            _check_named(rule, place, source.names[1:], columns)
            verdicts.append(_judged(rule, source, error))
        remarks += of_rule
    if by is not None and all(rule.worst_of is None for rule in book):
        raise ValueError("by has columns for worst_of, which no rule has: leave it out")
    warn(kept := tuple(dict.fromkeys(remarks)))
    gravest = min((v.verdict for v in verdicts), key=_GRAVEST.index)
    return Gate(gravest, tuple(verdicts), adjust, kept, design)


def _check_named(rule: Rule, place: int, names: Sequence[str], columns: Mapping[str, Any]) -> None:
    """Refuse a rule about a classifier or a column that was not given."""
    for name, known, what in (
        (rule.other, names, "classifier beside the first"),
        (rule.worst_of, columns, "column of by"),
    ):
        if name is not None and name not in known:
            hint = did_you_mean(name, map(str, known)) or f": there are {list(known) or 'none'}"
            raise ValueError(f"rule {place}: {name!r} is no {what}{hint}")


def _judged(rule: Rule, source: _Rows | _Items, error: float) -> RuleVerdict:
    """Return the verdict on a rule, and what would decide it."""
    (verdict, name, value, ends), part = _worst(rule, source, error)
    reason, gap = "", min(abs(value - end) for end in rule.region)
    if verdict == "inconclusive" and gap > 0:
        reach = max(abs(value - end) for end in ends)
        times = 2 * (reach / gap) * (reach / gap)  # by the normal distribution, for a power of 0.8
        reason = "" if times > _MOST_TIMES else f"about {times:.2g} times as many rows would decide"
        # Nothing varies, or no number of rows is large enough
        with suppress(ValueError, ArithmeticError):
            reason = part.plan(rule, gap, error) or reason
    if verdict == "inconclusive":
        # Of a measure that a perfect classifier does not have; its scores are no labels
        with suppress(ValueError), collected_remarks():
            if (perfect := source.perfect(rule)) is not None:
                (best, _, value_of_best, limits), _ = _worst(rule, perfect, error)
                if best != "pass":
                    verdict = "unattainable"
                    reason = "not even a perfect sample of this size passes"
                    room = min(abs(value_of_best - end) for end in rule.region)
                    if room > 0:  # the limits of a perfect sample come closer as its size grows
                        times = (limits[1] - limits[0]) / room
                        reason += f": it would need {times:.2g} times as many"
    return RuleVerdict(
        name=rule.name or rule.measure.name,
        rule=f"{rule}: {name}" if name else str(rule),
        verdict=verdict,
        value=value,
        standard_error=(ends[1] - ends[0]) / 4,
        interval=ends,
        region=rule.region,
        level=1 - error,
        reason=reason,
    )


def _worst(rule: Rule, source: _Rows | _Items, error: float) -> tuple[_Found, Any]:
    """Return what the group that decides says of a rule, and the group.

    All groups must pass, for which no adjustment is needed (an intersection of tests). One that
    fails decides, so that the ends which can show a fail hold for all groups at once.
    """
    low, high = rule.region
    parts: list[tuple[str, Callable[[], Any]]] = [("", lambda: source)]
    if rule.worst_of is not None:
        parts = list(source.parts(rule.worst_of))
    candidates: list[tuple[tuple[int, float], _Found, Any]] = []
    failures = []
    for name, made in parts:
        try:
            value, at = (part := made()).value(rule)
            own, joint = at(error), at(error / len(parts))
        except ValueError as failure:
            failures.append(failure)
            unknown: _Found = "inconclusive", f"{name} ({failure})", math.nan, (math.nan, math.nan)
            candidates.append(((2, -math.inf), unknown, source))
            continue
        ends = joint[0] if high < math.inf else own[0], joint[1] if low > -math.inf else own[1]
        verdict = _verdict(ends, low, high, is_strict=rule.other is not None)
        rank = _GRAVEST.index(verdict), min(ends[0] - low, high - ends[1])
        candidates.append((rank, (verdict, name, value, ends), part))
    if len(failures) == len(parts):  # of an input that no group explains
        raise failures[0]
    return min(candidates, key=lambda x: x[0])[1:]


def _verdict(ends: tuple[float, float], low: float, high: float, *, is_strict: bool) -> Verdict:
    if not ends[0] < ends[1]:  # nothing varies, or nothing is known
        return "inconclusive"
    if is_strict:  # better than by more than that
        low = math.nextafter(low, math.inf)
    if ends[1] < low or ends[0] > high:
        return "fail"
    return "pass" if low <= ends[0] and ends[1] <= high else "inconclusive"


@dataclass(frozen=True, eq=False)
class _Rows:
    """Classified rows: the evidence of the judged classifier, and of others beside it."""

    whole: Any
    names: tuple[str, ...]
    columns: Mapping[str, Any]
    paired: bool
    options: Options

    @property
    def _predictions(self) -> dict[str, Predictions]:
        """Rows in memory by classifier, to take parts from; none of other evidence."""
        if isinstance(self.whole, JointEvidence):
            return {} if self.whole.options is None else dict(self.whole.predictions)
        is_plain = type(self.whole) is EvidenceInMemory and self.options.follow_up is None
        return {"": self.whole.predictions} if is_plain else {}

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        samples = getattr(self.whole, "predictions", {})
        several = samples.values() if isinstance(samples, Mapping) else [samples]
        return common([sample.design for sample in several] or [{}])

    def _of(self, predictions: dict[str, Predictions], options: Options) -> _Rows:
        whole: Any = EvidenceInMemory(next(iter(predictions.values())), options)
        if len(predictions) > 1:
            whole = joint_of_rows(predictions, options, paired=self.paired)
        return replace(self, whole=whole)

    def value(self, rule: Rule) -> tuple[float, _IntervalAt]:
        """Return the value, or how much better it is, and its interval at an error probability."""
        measure, whole = rule.measure, self.whole
        assert isinstance(measure, Measure)
        if isinstance(whole, JointEvidence):
            joint, first = whole.estimates(measure, rule.hypothesis), self.names[0]
            if rule.other is None:
                return joint.estimates[first].value, joint.intervals_of_values[first]
            contrast = joint.contrasts[first, rule.other]
            if measure.greater_is_better:
                return contrast.value, contrast.interval_at
            at = contrast.interval_at
            return -contrast.value, lambda error: Interval(-at(error).high, -at(error).low)
        if isinstance(whole, Accumulator):
            return current_of(whole, measure)[1:3]

        @cache
        def estimate(error: float) -> Any:
            options = replace(whole.options, level=1 - error)
            [found] = remarked_estimates(replace(whole, options=options), [measure])
            warn(found.caveats)
            return found

        return estimate(1 - DEFAULT_LEVEL).value, lambda error: Interval(*estimate(error).interval)

    def parts(self, column: str) -> Iterator[tuple[str, Callable[[], _Rows]]]:
        """Yield the name of each group, and what makes its rows."""
        predictions = self._predictions
        refused = not {*self.options.given}.isdisjoint(_WITHOUT_PARTS)
        if not predictions or refused or not self.paired:
            without = ", ".join(_WITHOUT_PARTS)
            raise ValueError(f"worst_of needs paired rows in memory, without {without}")
        one, groups = next(iter(predictions.values())), self.whole.options.groups
        names, group_of_row = crossed(self.columns[column], one.n_given, one.given_rows)
        if groups is not None:
            groups = row_names(groups, "groups", one.n_given, one.given_rows, "a group")

        def part(rows: Any) -> _Rows:
            members = {name: p.rows(rows) for name, p in predictions.items()}
            present = next(iter(members.values())).present
            if lacking := [one.labels[x] for x in one.present if x not in present]:
                raise ValueError(f"lacks class {lacking[0]!r}")
            own = None if groups is None else groups[rows]
            return self._of(members, replace(self.whole.options, groups=own))

        for place, name in enumerate(names):
            yield name, partial(part, group_of_row == place)

    def perfect(self, rule: Rule) -> _Rows | None:
        """Return the same rows with perfect scores of the first classifier, if these could pass."""
        measure, (low, high) = rule.measure, rule.region
        assert isinstance(measure, Measure)
        is_upper = rule.other is None and not measure.greater_is_better
        # Beside certain probabilities, or scores whose loss has no end, one unseen error costs so
        # much that other scores may have a better limit
        worst = measure.bounds[0 if measure.greater_is_better else 1]
        is_of_ranks = measure.needs == "scores" and math.isfinite(worst)
        has_best = math.isnan(measure.target) and (is_of_ranks or measure.needs == "labels")
        if not self._predictions or not has_best or math.isfinite(low if is_upper else high):
            return None
        predictions = self._predictions
        name, one = next(iter(predictions.items()))
        predicted = None if one.predicted is None else one.true
        better = replace(one, scores=np.eye(one.n_classes)[one.true], predicted=predicted)
        return self._of(predictions | {name: better}, self.whole.options)

    def plan(self, rule: Rule, gap: float, error: float) -> str:
        """Say how many rows of each class would decide, where `plan` can say so."""
        predictions, measure = self._predictions, rule.measure
        units = [p.folds for p in predictions.values()]
        if not predictions or any(x is not None for x in [*units, self.whole.options.groups]):
            return ""
        assert isinstance(measure, Measure)
        pilot = {x: p for x, p in predictions.items() if x in (next(iter(predictions)), rule.other)}
        planned = plan(pilot, measure=measure, difference=gap, level=1 - error)
        sizes = ", ".join(f"{n:,} of {x}" for x, n in planned.class_counts.items())
        return f"about {planned.n:,} rows ({sizes}) would decide"


@dataclass(frozen=True, eq=False)
class _Items:
    """Scored items of the judged model, and of others beside it."""

    items: ScoredItems
    columns: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.items.scores)

    def value(self, rule: Rule) -> tuple[float, _IntervalAt]:
        check_scored(self.items, "the group")
        limits = mean_of(self.items, self.names[0], rule.other).limits
        return limits.value, limits.interval_at

    def parts(self, column: str) -> Iterator[tuple[str, Callable[[], _Items]]]:
        """Yield the name of each group, and what makes its items."""
        names, group_of_row = crossed(self.columns[column], self.items.n_items, Rows(self.items))
        for place, name in enumerate(names):
            yield name, partial(replace, self, items=self.items.rows(group_of_row == place))

    def perfect(self, rule: Rule) -> _Items | None:
        """Return the same items, all with the best score that the rule asks for."""
        low, high = rule.region
        end = self.items.bounds[0 if low == -math.inf else 1]
        if math.isfinite(low + high) or not math.isfinite(end) or self.items.judge:
            return None
        first, scores = self.names[0], self.items.scores
        perfect = scores | {first: np.full_like(scores[first], end)}
        return replace(self, items=replace(self.items, scores=perfect))

    def plan(self, rule: Rule, gap: float, error: float) -> str:
        """Say how many items would decide."""
        mean = mean_of(self.items, self.names[0], rule.other)
        return f"about {mean.units_for(gap, error):,} items would decide"
