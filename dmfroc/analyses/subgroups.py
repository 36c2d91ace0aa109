"""One classifier in several subgroups of the observations: values, differences, and one test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray
from scipy.linalg import orth
from scipy.special import stdtrit

from dmfroc._kit.arrays import BoolPerRow, Covariance, IntPerRow
from dmfroc._kit.later import Nothing
from dmfroc._kit.options import RandomState, flag, integer
from dmfroc._kit.remarks import warn
from dmfroc._kit.text import in_percent
from dmfroc._kit.threads import parallel
from dmfroc.analyses.catalogue import Measures, get_measure
from dmfroc.analyses.each_class import for_each_measure
from dmfroc.analyses.evidence import choose_methods, estimates_of
from dmfroc.analyses.population import with_estimated
from dmfroc.inference.censoring import predictions_at
from dmfroc.inference.evidence import Facts, FactsInMemory, facts_in, joint_covariance
from dmfroc.inference.hypothesis import Contrast, Hypothesis, contrast_of_limits
from dmfroc.inference.influences import NO_VARIATION, Moments, moments_of_sums
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.limits import Part, limits_of_contrast, limits_of_sum
from dmfroc.inference.method import IntervalMethod, Method, check_comparable, check_finite
from dmfroc.inference.options import DEFAULT_LEVEL, Options, stated
from dmfroc.inference.random_effects import RandomEffects, on_line
from dmfroc.inference.scales import IDENTITY, scale_of
from dmfroc.inference.simultaneous import largest_statistic, pairwise_differences
from dmfroc.inference.units import Units, units_of
from dmfroc.inputs.arrays import columns_of, row_names
from dmfroc.inputs.horizon import FollowUp
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.subgroups import THE_OTHERS, crossed, lacks_class
from dmfroc.measures.measure import Measure
from dmfroc.results.difference import Difference, OmnibusTest, differences_table, p_value_of_f
from dmfroc.results.estimate import Estimate, NamedEstimates, remarked, title_for
from dmfroc.results.result import ResultsByName, attributed
from dmfroc.results.table import Column, Table

_MANY = 20  # groups: a warning names the first alone
_ERROR = 0.05  # of the intervals whose half-widths stand for the errors of groups
_STEPS = 20  # towards the common value, as errors differ between the sides of a group's value


class ShrunkenGroups(NamedTuple):
    """The groups, each drawn towards what its margins say.

    The true values are normal around the sums of effects of the columns, on the scale where the
    range of the measure has no ends. Intervals are quantiles of their joint distribution.

    Attributes
    ----------
    estimates : dict of str to Estimate
        By group.
    largest_gap, smallest : Estimate
        Difference of the largest and the smallest true value, and the smallest true value. Both
        account for not knowing which groups these are, but of 60 groups they covered 92 and 87 %
        where 95 are stated; the simultaneous intervals of differences hold.
    tau : float
        Standard deviation of the groups around their margins, on that scale.
    """

    estimates: dict[str, Estimate]
    largest_gap: Estimate
    smallest: Estimate
    tau: float


@dataclass(frozen=True, eq=False, repr=False)
class SubgroupComparison(NamedEstimates):
    """One classifier in several groups of observations.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    estimates : dict of str to Estimate
        Value and interval in each group, each taken alone.
    sizes : dict of str to int
        Number of observations in each group.
    differences : tuple of Difference
        Signed: of every two groups, and, of more than two, of each and the mean of the others
        (`THE_OTHERS`), with intervals and adjusted p-values that hold all at once.
    omnibus : OmnibusTest
        Whether the groups differ at all: Welch's test of the logits of the values in their range.
        The standard error of a group is how far its 95 % interval extends towards the weighted
        mean, over the 97.5 % quantile of t. The degrees of freedom are Satterthwaite's over the
        classes, less by the kurtosis of their influences. Of two groups, F is the one with the
        p-value of their difference.
    left_out : dict of str to str
        Groups without an estimate, and why.
    level : float
        Nominal coverage.
    method : str
        How the uncertainty was obtained.
    seed : int
        Seed of the draws.
    greater_is_better : bool
        Whether greater values of the measure are better.
    warnings : tuple of str
        What a careful reader has to know, each warning with the groups that it concerns.
    shrunken : ShrunkenGroups or None
        With ``shrink=True``: better values of many small groups.
    """

    main_table: ClassVar[str] = "groups"
    json_names: ClassVar[tuple[str, ...]] = ("measure", "method", "level", "omnibus", "left_out")

    measure: str
    title: str
    estimates: dict[str, Estimate]
    sizes: dict[str, int]
    differences: tuple[Difference, ...]
    omnibus: OmnibusTest
    left_out: dict[str, str]
    level: float
    method: str
    seed: int
    greater_is_better: bool
    warnings: tuple[str, ...]
    shrunken: ShrunkenGroups | None = None

    def tables(self) -> list[Table]:
        """Return the groups, and their differences."""
        percent = in_percent(self.level)
        estimates, interval = self.estimates.values(), f"{percent} interval"
        columns = [
            Column("group", "group", self.estimates, "name"),
            Column("n", "n", self.sizes.values(), "count"),
            Column("value", self.title, estimates, "estimate", interval),
        ]
        if (shrunken := self.shrunken) is not None:
            closer = [shrunken.estimates.get(name, e) for name, e in self.estimates.items()]
            columns.append(Column("shrunken", "shrunken", closer, "estimate", interval))
        title = f"{self.title} in each group, each with its own {percent} interval"
        groups = Table("groups", title, columns, is_by_name=True)
        differences = differences_table(
            self.differences,
            f"Differences in {self.title}, A minus B; all intervals hold at once",
            f"simultaneous {percent} interval",
            simultaneous=True,
            with_probabilities=False,
        )
        clearest = sorted(range(len(self.differences)), key=lambda i: self.differences[i].p_value)
        return [groups, replace(differences, n_printed=20, order=clearest)]

    def foot(self) -> list[str]:
        """Return the test of all groups, and what was left out."""
        left_out = [f"left out: {name}, {reason}" for name, reason in self.left_out.items()]
        extremes = () if self.shrunken is None else self.shrunken[1:3]
        lines = [e.as_text(warnings=False) for e in extremes]
        if len(self.estimates) > 2:
            gap = self.largest_gap
            low, high = (f"{x:.4f}" for x in gap.interval)
            of = f"largest gap: {gap.first} minus {gap.second} = {gap.value:.4f}"
            lines.insert(0, f"{of}, {in_percent(self.level)} interval {low} to {high}")
        return [f"all groups equal: {self.omnibus}", *lines, *super().foot(), *left_out]

    @property
    def largest_gap(self) -> Difference:
        """The largest value of a group less the smallest, with the interval of that gap.

        All pairs of groups are within their intervals at once. So the gap is at least the largest
        of their lower limits, and at most the largest of the upper ones, whichever pair it is.
        """
        pairs = [d for d in self.differences if d.second != THE_OTHERS]
        pairs += [d.turned_around() for d in pairs]
        lows, highs = zip(*(d.interval for d in pairs), strict=True)
        widest = max(pairs, key=float)
        return replace(widest, interval=(max(0.0, *lows), max(highs)))

    @property
    def mean(self) -> float:
        """The mean of the groups, by their numbers of observations."""
        values = [e.value for e in self.estimates.values()]
        return float(np.average(values, weights=[*self.sizes.values()]))


def compare_subgroups(
    y_true: Any,
    y_score: Any = None,
    by: Any = None,
    *,
    measures: Measures = "dmf_auc",
    min_class_size: int = 5,
    shrink: bool = False,
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    groups: Any = None,
    stratify: bool | None = None,
    folds: Any = None,
    follow_up: FollowUp[float] | None = None,
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
    **others: Nothing,
) -> SubgroupComparison | ResultsByName[SubgroupComparison]:
    """Compare a classifier's performance between subgroups of the observations.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores.
    by : array-like of shape (n,), table of n rows, or dict of str to array-like of shape (n,)
        The subgroup of each observation. Several columns cross: each combination is a group.
    measures : str or Measure, or a list of them
        What to compare, see `estimate`.
    min_class_size : int
        A group with fewer observations of a class is left out, with a warning; at least 2. A
        group that lacks a class always is: its value would be one of other pairs of classes.
    shrink : bool
        Whether to give better values of many small groups too, by random effects: each is drawn
        towards the sum of the effects of its columns. Also the largest gap between two groups and
        the smallest value, with intervals that account for the search; see `ShrunkenGroups`.
    labels, sample_weight, frequency_weight, y_pred, pos_label
        As for `Predictions.from_arrays`.
    groups : array-like of shape (n,), optional
        Patient, document, ... of each observation, as for `estimate`. They may have observations in
        several subgroups, whose values are then correlated; only the jackknife accounts for that.
    folds : array-like of shape (n,), optional
        Fold of each row, as for `estimate`: values are means over the folds. A group that lacks a
        class in a fold is left out.
    follow_up : FollowUp, optional
        As for `estimate`, with one horizon. The weights are common to all subgroups.
    stratify
        As for `estimate`.
    method : str, Bootstrap or BayesianBootstrap, optional
        As for `estimate`. Where draws give the standard errors, those of differences follow from
        them, with the jackknife's degrees of freedom.
    level : float
        Nominal coverage, in (0, 1): of each group's interval, and of all those of differences at
        once.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of whatever is drawn.

    Returns
    -------
    SubgroupComparison
        Prints as tables and has a ``plot()``. Of several measures `ResultsByName`, one of each.

    Raises
    ------
    TypeError, ValueError
        If fewer than two groups are left, `by` is missing, has missing values or another length
        than the sample, or as for `estimate`.

    References
    ----------
    Welch (1951), On the comparison of several mean values, for the test of all groups; Hothorn,
    Bretz and Westfall (2008) for the simultaneous intervals.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(3, size=600), rng.choice(["north", "south"], size=600)
    >>> scores = rng.normal(size=(600, 3)) + (1 + (site == "north"))[:, None] * np.eye(3)[y]
    >>> found = compare_subgroups(y, scores, site, measures="hand_till")
    >>> [difference] = found.differences
    >>> difference.first, difference.second, difference.interval[0] > 0
    ('north', 'south', True)
    """
    call = locals()
    intervals, given = Options.taken(compare_subgroups, call)
    if (of_measure := for_each_measure(compare_subgroups, call)) is not None:
        return of_measure
    measure = get_measure(measures)
    given |= {"needs": measure.needs, "by_fold": True}
    predictions, weights = predictions_at(y_true, y_score, follow_up, given)
    predictions = stated(predictions, intervals)
    if folds is not None:
        predictions = predictions.in_folds(folds)
    min_class_size = integer("min_class_size", min_class_size, 2)
    rows, n = predictions.given_rows, predictions.n_given
    names, group_of_row = crossed(by, n, rows)
    if intervals.groups is not None:
        of_rows = row_names(intervals.groups, "groups", n, rows, "a group")
        intervals = replace(intervals, groups=of_rows)
    clusters, intervals = intervals.groups, with_estimated(intervals, weights)
    [chosen] = choose_methods([measure], predictions, intervals)
    members, left_out = _members(measure, predictions, names, group_of_row, min_class_size)
    if len(members) < 2:
        raise ValueError(
            f"Need at least two groups with {min_class_size} observations of each class; found "
            f"{len(members)} of {len(names)}. Cut numbers, as pandas.qcut(by, 4) does."
        )
    each = [f"left out: {name}, {reason}" for name, reason in left_out.items()]
    warn(each if len(each) <= _MANY else [f"{each[0]}; in all {len(each)} of {len(names)} groups"])
    results = parallel(
        lambda rows: _estimated(measure, chosen, predictions, rows, intervals),
        list(members.values()),
        predictions.scores.size,
    )
    found, of_groups = zip(*results, strict=True)
    facts = dict(zip(members, of_groups, strict=True))
    each_estimate = zip(members, found, strict=True)
    estimates = {name: remarked(e, predictions) for name, e in each_estimate}
    warn(attributed({name: e.caveats for name, e in estimates.items()}))
    of_each = {name: x.predictions for name, x in facts.items()}
    check_finite(measure, {name: x.value for name, x in facts.items()}, of_each)
    check_comparable(measure, of_each)
    is_apart = clusters is None or _are_apart(clusters, list(members.values()))
    if is_apart and weights is None:
        joint = _independent(of_groups)
    elif chosen.name == Jackknife.name:
        if weights is None:
            used = np.logical_or.reduce(list(members.values()))
            units = units_of(predictions.rows(used), clusters[used], stratify=False)
            own_rows = [rows[used] for rows in members.values()]
        else:
            units = of_groups[0].units.in_one_stratum
            own_rows = [np.ones(len(units.unit_of_row), bool)] * len(facts)
        joint = _correlated(of_groups, units, own_rows)
    else:
        raise ValueError(
            "groups has members in several subgroups, or follow_up has weights that they share, so "
            "that their values are correlated: use method='jackknife'"
        )
    sizes = {name: int(rows.sum()) for name, rows in members.items()}
    closer = None
    if flag("shrink", shrink):
        columns = by if isinstance(by, Mapping) else columns_of(by, "by") or {"by": by}
        levels = [crossed({name: x}, n, rows)[1] for name, x in columns.items()]
        of_each_group = np.array([[x[own.argmax()] for x in levels] for own in members.values()])
        closer = shrunken(measure, estimates, joint.covariance, of_each_group, intervals)
    differences = _differences(sizes, joint, intervals, measure.greater_is_better)
    omnibus = joint.omnibus
    if len(sizes) == 2:  # one hypothesis, and one p-value: that of the difference
        p_value, freedom = differences[0].p_value, omnibus.degrees_of_freedom
        statistic = float(stdtrit(freedom[1], p_value / 2)) ** 2
        omnibus = OmnibusTest(statistic, freedom, p_value)
    return SubgroupComparison(
        measure=measure.name,
        title=title_for(measure.title, predictions),
        estimates=estimates,
        sizes=sizes,
        differences=differences,
        omnibus=omnibus,
        left_out=left_out,
        level=intervals.level,
        method=chosen.name,
        seed=intervals.seed,
        greater_is_better=measure.greater_is_better,
        warnings=attributed({name: e.warnings for name, e in estimates.items()}),
        shrunken=closer,
    )


def shrunken(
    measure: Measure,
    estimates: Mapping[str, Estimate],
    covariance: Covariance,
    levels: Int[np.ndarray, "g columns"],
    options: Options,
) -> ShrunkenGroups:
    """Return the groups that have a standard error, drawn towards the margins."""
    bounds = measure.range_on_line
    points = np.array([on_line(e, bounds) for e in estimates.values()])
    has_error = np.isfinite(points).all(axis=1) & (points[:, 1] > 0)
    names = [name for name, is_known in zip(estimates, has_error, strict=True) if is_known]
    if len(names) < 3:
        raise ValueError(
            f"shrink=True needs at least three groups with a standard error; found {len(names)}"
        )
    values, errors = points[has_error].T
    joint = covariance[np.ix_(has_error, has_error)]
    own = np.sqrt(joint.diagonal())
    correlation = joint / np.maximum(np.outer(own, own), NO_VARIATION**2)
    np.fill_diagonal(correlation, 1.0)
    design = np.ones((len(names), 1))
    if levels.shape[1] > 1:
        effects = [x[:, None] == np.unique(x) for x in levels[has_error].T]
        design = orth(np.hstack([design, *effects]))
    if len(names) - design.shape[1] < 2:
        design = np.ones((len(names), 1))
    model = RandomEffects(values, correlation * np.outer(errors, errors), design)
    draws = np.asarray(scale_of(bounds).from_line(model.draws(options.seed)))
    tails = [(1 - options.level) / 2, (1 + options.level) / 2]

    def found(of_draws: Float[np.ndarray, " draws"], title: str) -> Estimate:
        value, error = float(of_draws.mean()), float(of_draws.std())
        low, high = np.quantile(of_draws, tails).tolist()
        return Estimate(title, title, value, error, (low, high), options.level, "shrunken")

    return ShrunkenGroups(
        {name: found(x, measure.name) for name, x in zip(names, draws.T, strict=True)},
        found(np.ptp(draws, axis=1), f"largest gap in {measure.name}"),
        found(draws.min(axis=1), f"smallest {measure.name}"),
        model.tau2**0.5,
    )


def _members(
    measure: Measure,
    predictions: Predictions,
    names: Sequence[str],
    group_of_row: IntPerRow,
    smallest: int,
) -> tuple[dict[str, BoolPerRow], dict[str, str]]:
    """Return the rows of each group, and the groups that are left out with the reason."""
    members, left_out = {}, {}
    counts, labels, folds = predictions.sample_weight > 0, predictions.labels, predictions.folds
    for place, name in enumerate(names):
        rows = (group_of_row == place) & counts
        sizes = np.bincount(predictions.true[rows], minlength=predictions.n_classes)
        present = predictions.present
        if not measure.needs_all_classes and rows.any():
            present = np.flatnonzero(sizes)
        sizes = sizes[present]
        label, lacks = labels[present[sizes.argmin()]], np.zeros(1, bool)
        if measure.needs_all_classes and folds is not None:
            lacks = lacks_class(folds, predictions.true, len(labels), rows).any(axis=0)
        if sizes.min() == 0:
            left_out[name] = f"which lacks class {label!r}"
        elif lacks.any():
            left_out[name] = f"which lacks class {labels[lacks.argmax()]!r} in a fold"
        elif sizes.min() < smallest:
            left_out[name] = (
                f"whose class {label!r} has size {sizes.min()}, below min_class_size={smallest}"
            )
        else:
            members[name] = rows
    return members, left_out


def _estimated(
    measure: Measure,
    method: IntervalMethod,
    predictions: Predictions,
    rows: BoolPerRow,
    options: Options,
) -> tuple[Estimate, FactsInMemory]:
    """Estimate the measure in one group; its facts have the standard error of the method."""
    of_group = np.where(rows, predictions.sample_weight, 0.0)
    own = replace(predictions, sample_weight=of_group, frequency=None, index=None)
    sample = options.sample_of(own)
    facts = facts_in(sample, measure)
    if method.name == Jackknife.name:
        return cast(Jackknife, method).estimate(facts), facts
    [estimate] = estimates_of([measure], [method], sample)
    if (error := facts.moments.standard_error) > 0:
        moments = facts.moments.scaled(estimate.standard_error / error)
        facts = replace(facts, moments=moments)
    return estimate, facts


def _are_apart(clusters: NDArray[Any], members: Sequence[BoolPerRow]) -> bool:
    """Say whether no cluster has observations in two of the groups."""
    of_groups = [np.unique(clusters[rows]) for rows in members]
    return sum(map(len, of_groups)) == len(np.unique(np.concatenate(of_groups)))


class _Joint(NamedTuple):
    """What is known of the values of all groups: of their sums with factors, and of all equal."""

    covariance: Covariance
    contrast: Callable[[Float[np.ndarray, " g"]], Contrast]
    omnibus: OmnibusTest


def _independent(facts: Sequence[Facts]) -> _Joint:
    """Return what is known of independent groups."""
    width = facts[0].measure.largest_difference

    def contrast(factors: Float[np.ndarray, " g"]) -> Contrast:
        scaled = [x.moments.scaled(c) for x, c in zip(facts, factors, strict=True) if c]
        limits = limits_of_contrast(factors.tolist(), [x.limits for x in facts], width)
        return contrast_of_limits(limits, reduce(Moments.beside, scaled), Hypothesis())

    errors = np.array([x.moments.spread.scale for x in facts])
    return _Joint(np.diag(errors**2), contrast, _welch_test(facts))


def _welch_test(facts: Sequence[Facts]) -> OmnibusTest:
    """Return Welch's test of equal values, on the scale where their range has no ends.

    Each variance is that of the group's interval, on the side where the common value is: near
    perfection a group may be far worse than its errors show.
    """
    values, measure, n = np.array([x.value for x in facts]), facts[0].measure, len(facts)
    ends = [x.interval_at(_ERROR) for x in facts]
    if np.diff(ends).min() <= NO_VARIATION:
        return OmnibusTest(np.nan, (float(n - 1), np.nan), np.nan)
    low, high = measure.bounds
    inside = low < values.min() and values.max() < high
    to_line = (scale_of(measure.range_on_line) if inside else IDENTITY).to_line
    freedoms = np.array([x.moments.spread.degrees_of_freedom for x in facts])
    quantiles = stdtrit(freedoms, 1 - _ERROR / 2)
    with np.errstate(divide="ignore"):  # an end of the range is infinitely far away
        lows, highs = to_line(np.array(ends)).T
    values = to_line(values)
    mean = values.mean()
    for _ in range(_STEPS):
        errors = np.where(mean < values, values - lows, highs - values) / quantiles
        weights = np.clip(errors, NO_VARIATION, 1 / NO_VARIATION) ** -2
        mean = weights @ values / weights.sum()
    doubt = ((1 - weights / weights.sum()) ** 2 / freedoms).sum()
    statistic = (weights @ (values - mean) ** 2) / (n - 1)
    statistic /= 1 + 2 * (n - 2) / (n**2 - 1) * doubt
    freedom = float(n - 1), float((n**2 - 1) / (3 * doubt)) if doubt > 0 else np.inf
    return OmnibusTest(float(statistic), freedom, p_value_of_f(float(statistic), freedom))


def _correlated(facts: Sequence[FactsInMemory], units: Units, rows: Sequence[BoolPerRow]) -> _Joint:
    """Return what is known of groups that have clusters in common."""
    values, width = np.array([x.value for x in facts]), facts[0].measure.largest_difference
    sums, together = np.empty((len(facts), len(units.stratum))), np.zeros(len(units.stratum), int)
    for of_group, x, own in zip(sums, facts, rows, strict=True):
        influences = np.zeros(len(own))
        influences[own] = x.influences.influences
        of_group[:] = units.sums(influences)
    places = [np.unique(units.unit_of_row[own]) for own in rows]

    def contrast(factors: Float[np.ndarray, " g"]) -> Contrast:
        [moments] = moments_of_sums((factors @ sums)[None], units)
        each = zip(factors.tolist(), facts, places, strict=True)
        parts = [Part(c, x.limits, place) for c, x, place in each if c]
        limits = limits_of_sum(parts, float(factors @ values), (-width, width), together)
        return contrast_of_limits(limits, moments, Hypothesis())

    covariance = joint_covariance(sums, units)
    return _Joint(covariance, contrast, _hotelling_test(values, covariance, len(together)))


def _hotelling_test(
    values: Float[np.ndarray, " g"], covariance: Covariance, n_units: int
) -> OmnibusTest:
    """Return Hotelling's test of equal values."""
    contrasts = pairwise_differences(len(values))[: len(values) - 1]
    differences, n, freedom = contrasts @ values, len(contrasts), n_units - 1
    try:
        solved = np.linalg.solve(contrasts @ covariance @ contrasts.T, differences)
    except np.linalg.LinAlgError:
        return OmnibusTest(np.nan, (float(n), np.nan), np.nan)
    both = float(n), float(freedom - n + 1)
    statistic = float(differences @ solved) * both[1] / (freedom * n)
    return OmnibusTest(statistic, both, p_value_of_f(statistic, both))


def _differences(
    sizes: Mapping[str, int],
    joint: _Joint,
    options: Options,
    greater_is_better: bool,
) -> tuple[Difference, ...]:
    """Return all differences with intervals and p-values that hold at once."""
    n = len(sizes)
    pairs, vectors = list(itertools.combinations(sizes, 2)), pairwise_differences(n)
    if n > 2:
        pairs += [(name, THE_OTHERS) for name in sizes]
        shares = np.tile(np.array([*sizes.values()], float), (n, 1))
        np.fill_diagonal(shares, 0)  # of the others, by their sizes
        against = np.eye(n) - shares / shares.sum(axis=1, keepdims=True)
        vectors = np.concatenate([vectors, against])
    largest = largest_statistic(joint.covariance, vectors, options.seed)
    level = largest.level_of_each(options.level)
    hypothesis = Hypothesis(greater_is_better=greater_is_better)
    found = [
        hypothesis.difference(pair, joint.contrast(vector), level)
        for pair, vector in zip(pairs, vectors, strict=True)
    ]
    return tuple(replace(d, adjusted_p_value=largest.adjusted(d.p_value)) for d in found)
