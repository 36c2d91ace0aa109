"""Rehearsals: how often intervals and verdicts hold in samples like the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from scipy.spatial import KDTree
from scipy.stats import binomtest, rankdata

from dmfroc import FollowUp, Importance, Judge, Predictions
from dmfroc.extend import (
    DEFAULT_LEVEL,
    BoolPerRow,
    Column,
    IntPerRow,
    Name,
    Options,
    RandomState,
    Result,
    Table,
    collected_remarks,
    evidence_of,
    integer,
    joint_evidence,
    parallel_map,
    warn,
)
from dmfroc.results import Estimate

_ROWS = 30_000  # of the population, by copies of the given rows
_FEWEST_COPIES, _MOST_COPIES = 10, 400
_UNSEEN = 0.5  # of a unit in all: errors that the sample may lack, as in Jeffreys' rule
_NEIGHBOURS = 5
_DENSE = 2000  # rows of a class, from which on they need no smoothing
_ERROR = 0.05  # of the exact limits of shares
_OF_ROWS = ("labels", "pos_label", "y_pred", "sample_weight", "frequency_weight")
_OF_DESIGN = ("groups", "stratify", "folds", "judge", "follow_up")
type _Arguments = dict[str, Any]


class Share(NamedTuple):
    """A share of the samples.

    Attributes
    ----------
    value : float
        In [0, 1].
    low, high : float
        Its exact 95 % limits (Clopper and Pearson 1934).
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, is_so: BoolPerRow) -> Share:
        """Return in which share of the samples something is so."""
        n, k = len(is_so), int(is_so.sum())
        if n == 0:
            return cls(math.nan, 0.0, 1.0)
        low, high = binomtest(k, n).proportion_ci(1 - _ERROR)
        return cls(k / n, float(low), float(high))

    def __str__(self) -> str:
        """Return the share with its limits, in percent."""
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True)
class Rehearsed:
    """How often an interval held, or a verdict was right, in samples with a known true value.

    Attributes
    ----------
    name : str
        Of the measure, classifier, difference or rule.
    true_value : float
        The value in the population; NaN of all rules together.
    n : int
        Number of samples with an interval.
    held : Share
        In which share of them the interval held the true value.
    above : float
        In which share the true value was above the interval.
    length : float
        Mean length of the intervals.
    wrong : Share or None
        In which share the verdict contradicts the true value. The verdict on a difference is
        whether its adjusted p-value is below one minus the level, and its sign; that on a rule is
        pass or fail. None of estimates.
    undecided : float or None
        In which share there was no verdict.
    """

    name: str
    true_value: float
    n: int
    held: Share
    above: float
    length: float
    wrong: Share | None = None
    undecided: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal(Result):
    """An analysis, and how often its intervals and verdicts hold in data like these.

    Attributes
    ----------
    result : Result
        The analysis of the user's own data.
    rehearsed : tuple of Rehearsed
        Of each interval and each verdict.
    n_samples : int
        Number of samples that were drawn.
    level : float
        Nominal coverage of the intervals.
    """

    main_table = "rehearsed"
    json_names = ("n_samples", "level")

    result: Result
    rehearsed: tuple[Rehearsed, ...]
    n_samples: int
    level: float

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        return self.result.design

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the analysis, and which intervals and verdicts do not hold, beyond chance."""
        found = list(self.result.warnings)
        for x in self.rehearsed:
            if x.n < self.n_samples / 2:
                n = f"{x.n} of {self.n_samples}"
                found.append(f"{x.name}: in data like these {n} samples have an interval")
            if x.held.high < self.level:
                interval = f"the {100 * self.level:g} % interval"
                found.append(f"{x.name}: in data like these {interval} holds in {x.held}")
            if x.wrong and x.wrong.low > 1 - self.level:
                found.append(f"{x.name}: in data like these the verdict is wrong in {x.wrong}")
        return tuple(found)

    def head(self) -> list[str]:
        """Return the lines before the tables of the analysis."""
        return self.result.head()

    def foot(self) -> list[str]:
        """Return the lines after the tables of the analysis, and how often an interval holds."""
        x, interval = self.rehearsed[0], f"the {100 * self.level:g} % interval"
        told = f"In data like these {interval} of {x.name} holds in {x.held}."
        is_warned = x.held.high < self.level  # a warning says the same
        return [*self.result.foot(), *([] if is_warned else [told])]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return f"Do {100 * self.level:g} % intervals hold in samples like these?"

    def verdict_text(self) -> list[str]:
        """Say how often intervals hold, how often verdicts are wrong, and what this cannot show."""
        known = [x for x in self.rehearsed if not math.isnan(x.true_value)]
        worst = min(known, key=lambda x: x.held.value)
        holds = "hold as they should" if worst.held.high >= self.level else "do not all hold"
        sentences = [
            f"Intervals {holds}: in {self.n_samples} samples like these, whose true values are "
            f"known, that of {worst.name} holds least often, in {worst.held}."
        ]
        if decided := [x for x in self.rehearsed if x.wrong is not None]:
            wrong = max(decided, key=lambda x: x.wrong.value if x.wrong else 0)
            open_one = max(decided, key=lambda x: x.undecided or 0)
            sentences.append(
                f"The verdict on {wrong.name} is wrong most often, in {wrong.wrong}; that on "
                f"{open_one.name} is open most often, in {100 * (open_one.undecided or 0):.1f} %."
            )
        return [
            *sentences,
            "The samples are drawn from a smoothed version of these data. They show what few rows, "
            "few groups, rare classes and ties do, but not a shift between this sample and future "
            "cases.",
        ]

    def tables(self) -> list[Table]:
        """Return the tables of the analysis, and what holds in samples like these."""
        verdict = {"wrong": "verdict wrong", "undecided": "undecided"}
        if not any(x.wrong for x in self.rehearsed):
            verdict = dict.fromkeys(verdict, "")
        titles = {"name": "value", "true_value": "true value", "held": "interval holds"}
        titles |= {"above": "truth above", "length": "length", **verdict, "n": "samples"}
        kinds: dict[str, Any] = {"name": "name", "above": "percent", "n": "count"}
        kinds["undecided"] = "percent"
        columns = []
        for key, title in titles.items():
            cells = [getattr(x, key) for x in self.rehearsed]
            if key in ("held", "wrong"):
                columns.append(Column(key, title, [x and Name(x, str(x)) for x in cells], "name"))
            else:
                columns.append(Column(key, title, cells, kinds.get(key, "number")))
        title = "In samples like these, whose true values are known"
        return [*self.result.tables(), Table("rehearsed", title, columns)]


def rehearse(
    analysis: Callable[..., Any],
    y_true: Any,
    y_score: Any = None,
    *,
    n_samples: int = 200,
    random_state: RandomState = 0,
    **options: Any,
) -> Rehearsal:
    """Say how often intervals and verdicts hold in samples like these, with known true values.

    The population is a smoothed version of your data: each row many times, moved towards others of
    its class, and errors of each class that the sample may lack, half an observation in all. From
    it samples of the same size and design are drawn and analysed.

    Parameters
    ----------
    analysis : callable
        `estimate` or `gate` with their first argument, ``partial(estimate, "hand_till")``,
        `evaluate`, `compare`, or any other that takes what they take.
    y_true, y_score
        As for the analysis; rows in memory.
    n_samples : int
        Number of samples. With 200, a coverage of 95 % is known to about 3 points.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the samples, and of the analysis.
    **options
        All further options of the analysis. With ``groups`` whole groups are drawn, with ``folds``
        rows within folds, with ``stratify=True`` rows within classes. Rows with a ``judge`` or
        ``follow_up`` are verified, or censored, at random as often as yours were.

    Returns
    -------
    Rehearsal
        The analysis of your data, and the share of samples in which each interval held and each
        verdict was right, with exact limits.

    Raises
    ------
    TypeError, ValueError
        As the analysis does for your data, or if it has neither estimates nor rules. Some designs
        cannot be drawn again: folds whose target is the learner, independent samples, subgroups,
        several horizons, a model of censoring, a population of rows. Nor can groups be, beside a
        judge or times.

    Notes
    -----
    What holds in these samples holds in your data as far as the population is like yours. A
    rehearsal finds what goes wrong with few rows, few groups, rare classes and ties. It cannot find
    a shift between your sample and future cases.

    References
    ----------
    Efron (1979), Bootstrap methods, section 2, for the smoothed version; Chawla, Bowyer, Hall and
    Kegelmeyer (2002) for neighbours of the same class; Clopper and Pearson (1934).

    Examples
    --------
    >>> import numpy as np
    >>> from dmfroc import evaluate
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(90) % 3
    >>> scores = rng.normal(size=(90, 3)) + 1.5 * np.eye(3)[y]
    >>> found = rehearse(evaluate, y, scores, measures=["hand_till", "accuracy"], n_samples=20)
    >>> [(x.name, x.n, x.held.value >= 0.8) for x in found.rehearsed]
    [('Hand-Till M', 20, True), ('Accuracy', 20, True)]
    """
    integer("n_samples", n_samples, least=1)
    if not callable(analysis):
        raise TypeError(f"analysis must be a function such as evaluate, but it is {analysis!r}")
    own_design: Any = {x: options.get(x) for x in _OF_DESIGN}
    design = Options(**own_design, seed=random_state)
    _check(design, options)
    result = analysis(y_true=y_true, y_score=y_score, random_state=random_state, **options)
    own = [x for x in _claims(result) if x.title]
    if not own:
        raise TypeError(
            f"analysis must return estimates, differences or rules, not a {type(result).__name__}: "
            "pass evaluate, compare, partial(estimate, measure) or partial(gate, rules)"
        )
    seeds = np.random.SeedSequence(design.seed).spawn(n_samples + 1)
    generator = np.random.default_rng(seeds.pop())
    everybody, draw = _population(y_true, y_score, design, options, generator)
    others = {x: v for x, v in options.items() if x not in (*_OF_ROWS, *_OF_DESIGN)}
    with collected_remarks():
        of_all = others | {"method": None} if "method" in others else others
        true = {x.name: x for x in _claims(analysis(**everybody, **of_all))}

    def analysed(seed: np.random.SeedSequence) -> dict[str, _Claim]:
        with collected_remarks():
            try:
                sample = draw(np.random.default_rng(seed))
                found = analysis(**sample, random_state=random_state, **others)
            except ValueError:  # it lacks a class
                return {}
        return {x.name: x for x in _claims(found)}

    samples = [x for x in parallel_map(analysed, seeds, "Rehearsing") if x]
    rehearsed = tuple(
        _rehearsed(true[x.name]._replace(title=x.title), [one[x.name] for one in samples])
        for x in own
    )
    found = Rehearsal(result, rehearsed, n_samples, options.get("level", DEFAULT_LEVEL))
    warn(found.warnings[len(result.warnings) :])
    return found


class _Claim(NamedTuple):
    """What a result says of a value: its interval, and on which side of something it is.

    The side is 1 or -1, 0 if that is undecided; ``own_side`` is that of the value itself. Without a
    title it is not shown: of two classes the DMF-AUC and M are the same.
    """

    name: str
    value: float
    title: str
    interval: tuple[float, float] = (math.nan, math.nan)
    side: float | None = None
    own_side: float | None = None


def _claims(result: Any, of: str = "") -> Iterator[_Claim]:
    """Yield the intervals of a result and its verdicts."""
    estimates = {"": result} if isinstance(result, Estimate) else getattr(result, "estimates", {})
    if isinstance(result, Mapping) and not estimates:  # results by name
        for name, one in result.items():
            yield from _claims(one, f"{of}{name}: ")
    titles = {e.measure: e.title for e in getattr(result, "shown", estimates.values())}
    for name, e in estimates.items():
        title = titles.get(e.measure, "") if name in ("", e.measure) else str(name)
        yield _Claim(f"{of}{name}", e.value, title and of + title, e.interval)
    for d in getattr(result, "differences", ()):
        own = float(np.sign(d.value - getattr(result, "tested_value", 0.0)))
        claimed = (result.hypothesis.sign if hasattr(result, "hypothesis") else 0) or own
        side = claimed if d.adjusted_p_value <= 1 - result.level else 0.0
        yield _Claim(of + d.name, d.value, of + d.name, d.interval, side, own)
    sides, all_met = {"pass": 1.0, "fail": -1.0}, 1.0
    for r in getattr(result, "rules", ()):
        own = 1.0 if r.region[0] <= r.value <= r.region[1] else -1.0
        name, all_met = f"{r.name} {r.rule.split(': ')[0]}", min(own, all_met)
        yield _Claim(name, r.value, name, r.interval, sides.get(r.verdict, 0.0), own)
    if len(getattr(result, "rules", ())) > 1:
        verdict = sides.get(result.verdict, 0.0)
        yield _Claim("all rules", math.nan, "all rules", side=verdict, own_side=all_met)


def _rehearsed(truth: _Claim, claims: Sequence[_Claim]) -> Rehearsed:
    """Count in which samples an interval held, and a verdict was wrong."""
    ends = np.array([x.interval for x in claims]).reshape(-1, 2)
    ends = ends[~np.isnan(ends).any(axis=1)]
    rounding = 1e-9 * max(abs(truth.value), 1.0)
    above = truth.value > ends[:, 1] + rounding
    held = Share.of(~above & (truth.value >= ends[:, 0] - rounding))
    n = len(claims) if math.isnan(truth.value) else len(ends)  # of all rules, or of a value
    length, of_above = (float(x.sum() / max(n, 1)) for x in (np.ptp(ends, axis=1), above))
    found = Rehearsed(truth.title, truth.value, n, held, of_above, length)
    if truth.side is None:
        return found
    sides = np.array([x.side for x in claims])
    wrong = Share.of((sides != 0) & (sides != truth.own_side))
    return replace(found, wrong=wrong, undecided=float((sides == 0).mean()))


class _Population(NamedTuple):
    """A smoothed version of the rows: copies of all units, then units with errors.

    Attributes
    ----------
    own : dict of str to Predictions
        The rows by name of the classifier, "" for one alone.
    row : numpy.ndarray of int, shape (n,)
        The given row whose class, fold and time each has.
    first, size : numpy.ndarray of int, shape (u,)
        Where the rows of each unit begin, and how many they are.
    """

    own: dict[str, Predictions]
    row: IntPerRow
    first: Int[np.ndarray, " u"]
    size: Int[np.ndarray, " u"]


def _smoothed(
    given: dict[str, Predictions], unit: IntPerRow, generator: np.random.Generator
) -> _Population:
    """Return a smoothed version of rows that belong to units.

    Each row is moved towards a neighbour of its class, and fold, or away from it, the same for all
    classifiers. In a unit with errors one of the classifiers takes the rows of one class for rows
    of others.
    """
    one = next(iter(given.values()))
    n, fold = len(one.true), np.zeros(len(one.true), int) if one.folds is None else one.folds
    scores = [np.asarray(p.scores) for p in given.values()]
    neighbour = np.repeat(np.arange(n)[:, None], _NEIGHBOURS, axis=1)
    for c, f in set(zip(one.true.tolist(), fold.tolist(), strict=True)):
        rows = np.flatnonzero((one.true == c) & (fold == f))
        if 1 < len(rows) <= _DENSE:
            ranks = np.column_stack([rankdata(x[rows], axis=0) for x in scores])
            k = min(_NEIGHBOURS, len(rows) - 1)
            near = KDTree(ranks).query(ranks, k + 1)[1][:, 1:]
            neighbour[rows] = rows[near[:, np.arange(_NEIGHBOURS) % k]]
    n_copies = int(np.clip(_ROWS // n, _FEWEST_COPIES, _MOST_COPIES))
    of_unit = np.split(
        by_unit := np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1]
    )
    row, size = [by_unit] * n_copies, [np.bincount(unit)] * n_copies
    source = [np.tile(by_unit, (len(given), 1))] * n_copies
    for _ in range(round(_UNSEEN * n_copies)):
        c = generator.choice(one.present)
        rows = of_unit[unit[generator.choice(np.flatnonzero(one.true == c))]]
        sources = np.tile(rows, (len(given), 1))
        for place in np.flatnonzero(one.true[rows] == c):
            others = np.flatnonzero((one.true != c) & (fold == fold[rows[place]]))
            if len(others):
                sources[generator.integers(len(given)), place] = generator.choice(others)
        row, size, source = [*row, rows], [*size, np.array([len(rows)])], [*source, sources]
    label, sizes, sources = np.concatenate(row), np.concatenate(size), np.hstack(source)
    step = generator.uniform(-0.5, 0.5, (len(label), 1))
    which = generator.integers(_NEIGHBOURS, size=len(label))
    own = {}
    for (name, p), x, start in zip(given.items(), scores, sources, strict=True):
        way = x[neighbour[start, which]] - x[start]
        # As far in either direction, within the range of each column
        back = x[start] - np.abs(step) * way
        is_out = ((back < x.min(axis=0)) | (back > x.max(axis=0))).any(axis=1)
        if len(np.unique(x, axis=0)) < n / 2:  # ties, which moves would do away with
            is_out[:] = True
        moved = (x[start] + np.where(is_out[:, None], 0.0, step) * way).astype(x.dtype)
        hard = p.predicted
        if hard is not None:
            is_largest = np.array_equal(hard, x.argmax(axis=1))
            hard = moved.argmax(axis=1).astype(np.int32) if is_largest else hard[start]
        fields = {"scores": moved, "predicted": hard, "index": None, "ids": None, "design": {}}
        own[name] = replace(p.rows(label), **fields)
    return _Population(own, label, np.cumsum(sizes) - sizes, sizes)


def _population(
    y_true: Any,
    y_score: Any,
    design: Options,
    options: Mapping[str, Any],
    generator: np.random.Generator,
) -> tuple[_Arguments, Callable[[np.random.Generator], _Arguments]]:
    """Return the arguments of the analysis of a population, and what draws those of a sample."""
    given = {x: options.get(x) for x in _OF_ROWS}
    by_name = [x for x in (y_score, given["y_pred"], y_true) if isinstance(x, Mapping)]
    own: dict[str, Predictions] = {}
    if by_name:
        joint = joint_evidence(y_true, y_score, design, "labels", paired=True, given=given)
        own = {x: p.counted for x, p in joint.predictions.items()}
        # The design is that of any classifier that is no baseline
        name = next(x for x, v in by_name[0].items() if v is not None and not isinstance(v, str))
        y_true, y_score, given["y_pred"] = (
            x.get(name) if isinstance(x, Mapping) else x for x in (y_true, y_score, given["y_pred"])
        )
    evidence: Any = evidence_of(y_true, y_score, design, given, needs="labels")
    whole, judge, follow_up = evidence.predictions, design.judge, design.follow_up
    if not whole.has_all_scores:
        raise TypeError("rehearse draws rows in memory: pass arrays instead of what counts scores")
    units = evidence.sample.units
    one, is_counted = whole.counted, whole.sample_weight > 0
    unit = np.unique(units.unit_of_row_with_class, return_inverse=True)[1]
    people = _smoothed(own or {"": one}, unit, generator)
    leading, by_weight = people.row[people.first], judge is not None or follow_up is not None
    cell = np.zeros(len(leading), int)
    if (design.stratify or options.get("population") is not None) and len(units.sizes) > 1:
        cell = cell + one.true[leading]
    if one.folds is not None and units.cell is not None:
        cell = cell + one.n_classes * one.folds[leading]
    n_drawn = np.bincount(cell[: len(units.stratum)])
    if judge is not None:
        judge = _arranged(judge, evidence.rows.given)
        is_counted, n_drawn = evidence.rows.is_verified, np.array([len(evidence.rows.is_verified)])
        chance = evidence.rows.given.sample_weight[is_counted] / one.sample_weight
    elif follow_up is not None:
        follow_up = _arranged(follow_up, whole)
        n_drawn = np.array([len(units.stratum)])
    given_row = np.flatnonzero(is_counted)

    def draw(generator: np.random.Generator) -> _Arguments:
        weights, chosen = one.sample_weight[leading] if by_weight else np.ones(len(leading)), []
        for which in np.flatnonzero(n_drawn):
            share = weights * (cell == which)
            chosen.append(generator.choice(len(share), n_drawn[which], p=share / share.sum()))
        drawn = np.concatenate(chosen)
        size = people.size[drawn]
        rows = np.arange(size.sum()) + np.repeat(people.first[drawn] - np.cumsum(size) + size, size)
        own, row = {x: p.rows(rows) for x, p in people.own.items()}, people.row[rows]
        if by_weight:
            own = {x: p.reweighted(np.ones(len(rows))) for x, p in own.items()}
        if judge is not None:
            is_verified = generator.random(len(rows)) < chance[row]
            return _with_judge(own, is_verified, judge[given_row[row]])
        if follow_up is not None:
            return _censored(own, whole, follow_up, given_row[row], generator)
        groups = {} if design.groups is None else {"groups": np.repeat(np.arange(len(drawn)), size)}
        return {"y_true": own.get("", own)} | groups

    return {"y_true": people.own.get("", people.own)}, draw


def _arranged(option: Any, given: Predictions) -> Any:
    """Return what is given of each row in the order of the predictions."""
    of_rows = {x: v for x in option.per_row if np.ndim(v := getattr(option, x))}
    rows = given.given_rows
    return replace(option, **{x: rows.arranged(np.asarray(v), v, x) for x, v in of_rows.items()})


def _check(design: Options, options: Mapping[str, Any]) -> None:
    """Refuse designs that cannot be drawn again."""
    times: Any = design.follow_up
    population: Any = options.get("population")
    shares = population.values() if isinstance(population, Mapping) else [population]
    refused = {
        "folds whose target is the learner": design.is_of_learner,
        "independent samples": not options.get("paired", True),
        "by": options.get("by") is not None,
        "several horizons": design.at_horizons,
        "a model of censoring": times is not None
        and (np.ndim(times.censoring) > 0 or times.by is not None),
        "groups beside a judge or follow_up": design.groups is not None
        and (design.judge is not None or times is not None),
        "a population of rows": any(np.ndim(x) or isinstance(x, Importance) for x in shares),
    }
    if names := [x for x, is_given in refused.items() if is_given]:
        raise ValueError(f"rehearse cannot draw samples again with {', '.join(names)}")


def _with_judge(own: dict[str, Predictions], is_verified: BoolPerRow, judge: Judge) -> _Arguments:
    """Return rows with the labels of a judge, of whom some are verified."""
    one = next(iter(own.values()))
    labels = np.array([*one.labels, None], object)
    scores: Any = {x: p.scores for x, p in own.items()} if one.has_scores else None
    hard = {x: labels[p.predicted] for x, p in own.items() if p.predicted is not None}
    return {
        "y_true": labels[np.where(is_verified, one.true, -1)],
        "y_score": scores.get("", scores) if scores else None,
        "y_pred": hard.get("", hard or None),
        "labels": list(one.labels),
        "judge": judge,
    }


def _censored(
    own: dict[str, Predictions],
    whole: Predictions,
    follow_up: FollowUp[float],
    row: IntPerRow,
    generator: np.random.Generator,
) -> _Arguments:
    """Return rows that are censored anew, at times by Kaplan and Meier."""
    time, none = np.asarray(follow_up.time, float), int(whole.is_turned)
    is_gone = (whole.sample_weight == 0) & (time < follow_up.horizon)
    times, n_gone = np.unique(time[is_gone], return_counts=True)
    n_stay = len(time) - np.searchsorted(np.sort(time), times, "right")
    chance = np.cumprod(n_stay / (n_stay + n_gone))
    end = np.append(times, np.inf)[np.searchsorted(-chance, -generator.random(len(row)), "right")]
    drawn = {}
    for name, p in own.items():
        true = np.where(end < time[row], none, p.true).astype(np.int32)
        drawn[name] = replace(p, true=true)
    again = replace(follow_up[row], time=np.minimum(time[row], end), censored=whole.labels[none])
    return {"y_true": drawn.get("", drawn), "follow_up": again}
