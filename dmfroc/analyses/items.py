"""Items with scores instead of classes: mean scores of models, their differences, the best."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.options import number, numbers
from dmfroc._kit.remarks import warn
from dmfroc.analyses.comparison import compared
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.inference import independent
from dmfroc.inference.bounded_mean import BoundedMean
from dmfroc.inference.hypothesis import Alternative, Hypothesis, error_reaching
from dmfroc.inference.interval_method import JointEstimates, joint_noise
from dmfroc.inference.judge import Part, judged, selection_message
from dmfroc.inference.level import check_level
from dmfroc.inference.options import DEFAULT_LEVEL
from dmfroc.inference.seed import seed_of
from dmfroc.inference.simultaneous import holm
from dmfroc.inputs.arrays import as_array, as_floats
from dmfroc.inputs.indexes import Rows, row_names
from dmfroc.inputs.subgroups import crossed
from dmfroc.results.difference import Difference, differences_table
from dmfroc.results.estimate import Estimate
from dmfroc.results.judge import JudgedLabels, agreement_table, judge_table
from dmfroc.results.result import attributed
from dmfroc.results.table import Column, Table

__all__ = ["ItemScores", "items"]

_FEWEST_ITEMS = 2
_MOST_GRADES = 10  # distinct scores of which a table of agreement is readable
_MEASURE, _TITLE = "mean_score", "Mean score"


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """The scores of models on the same items; NaN where nobody verified.

    Attributes
    ----------
    scores : dict of str to numpy.ndarray of shape (n,)
        Mean over the repeats of each item, by name of the model.
    judge : dict of str to numpy.ndarray of shape (n,), or None
        Scores of all items by a judge.
    probability : numpy.ndarray of shape (n,)
        With which each item was drawn to be verified, up to a factor.
    unit : numpy.ndarray of int, shape (n,)
        The independent unit of each item.
    bounds : tuple of float
        The range of the scores.
    """

    scores: dict[str, Float[np.ndarray, " n"]]
    judge: dict[str, Float[np.ndarray, " n"]] | None
    probability: Float[np.ndarray, " n"]
    unit: Int[np.ndarray, " n"]
    bounds: tuple[float, float]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.unit)

    def rows(self, chosen: Any) -> ScoredItems:
        """Return some of the items."""
        judge = self.judge and {name: x[chosen] for name, x in self.judge.items()}
        scores = {name: x[chosen] for name, x in self.scores.items()}
        return replace(
            self,
            scores=scores,
            judge=judge,
            probability=self.probability[chosen],
            unit=np.unique(self.unit[chosen], return_inverse=True)[1],
        )

    def mean(self, name: str, minus: str | None = None) -> ItemMean:
        """Return a model's mean score, or by how much it exceeds that of another."""
        x, low, high = self.scores[name], *self.bounds
        judge = None if self.judge is None else self.judge[name]
        if minus is not None:
            x = x - self.scores[minus]
            low, high = low - high, high - low
            judge = None if self.judge is None or judge is None else judge - self.judge[minus]
        return ItemMean(x, judge, self.probability, self.unit, (low, high))


@dataclass(frozen=True, eq=False)
class ItemMean:
    """The mean of one series of scores: the arguments are those of `ScoredItems`."""

    scores: Float[np.ndarray, " n"]
    judge: Float[np.ndarray, " n"] | None
    probability: Float[np.ndarray, " n"]
    unit: Int[np.ndarray, " n"]
    bounds: tuple[float, float]

    @cached_property
    def verified(self) -> Part:
        """The mean of the items with scores, and the influence of each."""
        return _weighted_mean(np.nan_to_num(self.scores), self._weight)

    @cached_property
    def _weight(self) -> Float[np.ndarray, " n"]:
        return np.where(np.isnan(self.scores), 0.0, 1 / self.probability)

    @cached_property
    def _n_effective(self) -> float:
        of_units = self._by_unit(self._weight)
        return float(of_units.sum() ** 2 / (of_units @ of_units))

    def _by_unit(self, values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " u"]:
        return np.bincount(self.unit, values)

    @cached_property
    def _combined(self) -> tuple[float, Float[np.ndarray, " n"], float]:
        if self.judge is None:
            return (*self.verified, 0.0)
        on_all, on_verified = (
            self._of_units(_weighted_mean(self.judge, weight))
            for weight in (np.ones(len(self.judge)), self._weight)
        )
        own = self._of_units(self.verified)
        return judged(own, on_all, on_verified, len(own.influences) / self._n_effective)

    def _of_units(self, part: Part) -> Part:
        return Part(part.value, self._by_unit(part.influences))

    @property
    def influences(self) -> Float[np.ndarray, " u"]:
        """The influence of each unit on the mean."""
        found = self._combined[1]
        return self._by_unit(found) if self.judge is None else found

    @cached_property
    def limits(self) -> BoundedMean:
        """The mean with its limits."""
        n_units = int((self._by_unit(self._weight) > 0).sum())
        variance = float(self.influences @ self.influences)
        value = self._combined[0]
        return BoundedMean(value, variance, n_units, self._n_effective, self.bounds)

    @cached_property
    def labels(self) -> JudgedLabels | None:
        """What the judge has added."""
        if self.judge is None:
            return None
        n, n_verified = len(self.scores), int((self._weight > 0).sum())
        alone = self._by_unit(self.verified.influences)
        before, after = float(alone @ alone), self.limits.variance
        return JudgedLabels(
            lambda_=self._combined[2] * (1 - n_verified / n),
            n_verified=n_verified,
            n_rows=n,
            effective_labels=n_verified * before / after if after > 0 else n_verified,
            verified_value=self.verified.value,
            verified_error=replace(self.limits, variance=before).standard_error,
            judge_value=float(self.judge.mean()),
        )

    @property
    def error(self) -> float:
        """Standard deviation of the mean that its 68 % interval shows, 0 of nothing alone."""
        low, high = self.limits.ends_at(_ONE_SIGMA)
        return (high - low) / 2

    def estimate(self, level: float) -> Estimate:
        """Return the mean with its interval."""
        limits = self.limits
        is_bounded = np.isfinite(self.bounds[1] - self.bounds[0])
        return Estimate(
            measure=_MEASURE,
            title=_TITLE,
            value=limits.value,
            standard_error=limits.standard_error,
            interval=limits.ends_at(1 - level),
            level=level,
            method="effective binomial" if is_bounded else "t",
            warnings=tuple(filter(None, [self._selection])),
            judge=self.labels,
        )

    @property
    def _selection(self) -> str | None:
        if self.judge is None or np.ptp(self.probability) > 0:
            return None
        return selection_message(~np.isnan(self.scores), {"the judge's score": self.judge})

    def difference(
        self, first: str, second: str, level: float, hypothesis: Hypothesis
    ) -> Difference:
        """Return the difference of two models with its test."""
        limits = self.limits
        value, ends_at = limits.value, limits.ends_at
        p_value = hypothesis.p_value(value, ends_at)

        def above(threshold: float) -> float:
            tail = error_reaching(threshold, ends_at, upper=value <= threshold) / 2
            return 1 - tail if value > threshold else tail

        return Difference(
            first,
            second,
            value=value,
            standard_error=limits.standard_error,
            interval=hypothesis.opened(ends_at(hypothesis.error(level))),
            p_value=p_value,
            two_sided_p_value=hypothesis.two_sided.p_value(value, ends_at),
            adjusted_p_value=p_value,
            probability_better=above(0.0),
            probability_equivalent=max(above(-hypothesis.rope) - above(hypothesis.rope), 0.0),
        )


_ONE_SIGMA = 0.31731  # error probability of an interval of one standard error


def _weighted_mean(values: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]) -> Part:
    shares = weights / weights.sum()
    value = float(shares @ values)
    return Part(value, shares * (values - value))


@dataclass(frozen=True, repr=False)
class ItemScores(Comparison):
    """Mean scores of one or several models on the same items, and their differences.

    Beside what is said of every `Comparison`:

    Attributes
    ----------
    items : ScoredItems
        The scores.
    n_repeats : int
        Largest number of scores that a model has of an item.
    subgroups : dict of str to dict of str to Estimate
        With ``by``: the mean score in each subgroup, by its name and that of the model.
    subgroup_sizes : dict of str to int
        Number of items in each subgroup.
    subgroup_differences : dict of str to tuple of Difference
        By name of the model: the differences of every two subgroups, with p-values adjusted by
        Holm's method for all of them.
    """

    main_table: ClassVar[str] = "estimates"

    items: ScoredItems = field(kw_only=True, repr=False, compare=False)
    n_repeats: int = field(kw_only=True)
    subgroups: dict[str, dict[str, Estimate]] = field(kw_only=True)
    subgroup_sizes: dict[str, int] = field(kw_only=True)
    subgroup_differences: dict[str, tuple[Difference, ...]] = field(kw_only=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, each warning with the models that it concerns."""
        return attributed({name: e.warnings for name, e in self.estimates.items()})

    def head(self) -> list[str]:
        """Return the number of items, units and repeats in a line."""
        n_units = int(self.items.unit.max()) + 1
        words = [f"{self.items.n_items:,} items"]
        if n_units < self.items.n_items:
            words.append(f"{n_units:,} groups")
        if self.n_repeats > 1:
            words.append(f"{self.n_repeats} repeats")
        return [f"Scores of {len(self.estimates)} models: {', '.join(words)}"]

    def facts(self) -> dict[str, Any]:
        """Return the number of items and repeats, and what every comparison says."""
        return {"n_items": self.items.n_items, "n_repeats": self.n_repeats} | super().facts()

    def tables(self) -> list[Table]:
        """Return the models, their differences, the subgroups, and what a judge adds."""
        estimates, differences, orders = super().tables()
        estimates = replace(
            estimates,
            columns=[replace(c, title="model") if c.key == "classifier" else c
                     for c in estimates.columns],
        )  # fmt: skip
        tables = [estimates, *([differences, orders] if self.differences else [])]
        if self.subgroups:
            tables += self._subgroup_tables()
        if self.items.judge is not None:
            tables += [judge_table(self.estimates), *self._agreement()]
        return tables

    def _subgroup_tables(self) -> list[Table]:
        columns = [
            Column("subgroup", "subgroup", "name"),
            Column("model", "model", "name"),
            Column("n", "items", "count"),
            Column("value", self.title, "estimate", interval=f"{100 * self.level:g} % interval"),
        ]
        rows = [
            [group, model, self.subgroup_sizes[group], estimate]
            for group, of_models in self.subgroups.items()
            for model, estimate in of_models.items()
        ]
        found = [Table("subgroups", f"{self.title} by subgroup", columns, rows)]
        pairs = [(m, d) for m, ds in self.subgroup_differences.items() for d in ds]
        if pairs:
            table = differences_table(
                [d for _, d in pairs],
                "Differences between subgroups, A minus B",
                self.kind_of_interval,
                simultaneous=False,
                with_probabilities=False,
            )
            found.append(
                Table(
                    "subgroup_differences",
                    table.title,
                    [Column("model", "model", "name"), *table.columns],
                    [[m, *row] for (m, _), row in zip(pairs, table.rows, strict=True)],
                )
            )
        return found

    def _agreement(self) -> list[Table]:
        judge, pairs = self.items.judge or {}, {}
        for name, x in self.items.scores.items():
            is_verified = ~np.isnan(x)
            pair = x[is_verified], judge[name][is_verified]
            if max(len(np.unique(values)) for values in pair) <= _MOST_GRADES:
                pairs[name] = pair
        return [agreement_table(pairs)] if pairs else []


def items(
    scores: Any,
    *,
    judge: Any = None,
    label_probability: Any = None,
    groups: Any = None,
    by: Any = None,
    bounds: tuple[float | int, float | int] | None = None,
    alternative: Alternative = "two-sided",
    margin: float | int = 0.0,
    rope: float | int = 0.0,
    simultaneous: bool = False,
    level: float | int = DEFAULT_LEVEL,
    random_state: int | np.random.Generator | None = 0,
) -> ItemScores:
    """Compare models by their scores on the same items: right or wrong, or graded.

    Parameters
    ----------
    scores : dict of str to array-like, or table with a column for each model
        Each model's score of every item, shape (n,) or (n, repeats). Repeats belong to their item:
        their mean counts. The value is the mean over the items.
    judge : dict of str to array-like, or array-like, optional
        Scores of all items by a judge, such as another model, of the same shapes. Then ``scores``
        may be missing (NaN or None) where nobody verified; see the page on few labels. One array
        is for a single model.
    label_probability : array-like of shape (n,), optional
        With a judge: the probability with which each item was drawn to be verified; by default
        the same for all.
    groups : array-like of shape (n,), optional
        Items that belong together, such as questions about one text.
    by : array-like of shape (n,), dict or table of such, optional
        Subgroups of the items, whose means and differences are added.
    bounds : tuple of float, optional
        Smallest and largest possible score; by default (0, 1) if all scores are in between.
        Infinite bounds are allowed: the intervals are then those of a t test.
    alternative, margin, rope, simultaneous, level
        As for `compare`.
    random_state : int, numpy.random.Generator or None
        Seed of the draws behind the probabilities of the orders.

    Returns
    -------
    ItemScores
        A `Comparison` with the mean of each model in ``estimates``, paired ``differences``,
        ``best_set()`` and ``subgroups``.

    Raises
    ------
    TypeError, ValueError
        If scores are missing without a judge, models have different items, scores are outside the
        bounds, or there are fewer than two items.

    Notes
    -----
    Intervals are exact binomial limits of as many observations as the mean is worth. Of zeros and
    ones these are Clopper and Pearson's, which cover at least as often as they say for any true
    rate and any number of items; clusters, grades, repeats and judges change the number.

    References
    ----------
    Clopper and Pearson (1934); Korn and Graubard (1998), Confidence intervals for proportions with
    small expected number of positive counts estimated from survey data; Miller (2024), Adding error
    bars to evals; Bowyer, Aitchison and Ivanova (2025), Don't use the CLT in LLM evals with fewer
    than a few hundred datapoints.

    Examples
    --------
    >>> right = {"small": [0, 1, 0, 1, 0, 0, 1, 0, 1, 0], "large": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1]}
    >>> found = items(right)
    >>> [round(end, 3) for end in found.estimates["large"].interval]
    [0.555, 0.997]
    >>> found.differences[0].value
    -0.5
    """
    check_level(level)
    hypothesis = Hypothesis(alternative, margin, rope)
    seed = seed_of(random_state)
    given, n_repeats, index = _scored_items(scores, judge, label_probability, groups, bounds)
    hypothesis.check(level, given.bounds[1] - given.bounds[0])
    joint = _joint(given, level, seed, hypothesis)
    subgroups, sizes, differences = _in_subgroups(given, by, index, level)
    found = ItemScores(
        measure=_MEASURE,
        title=_TITLE,
        method=next(iter(joint.estimates.values())).method,
        items=given,
        n_repeats=n_repeats,
        subgroups=subgroups,
        subgroup_sizes=sizes,
        subgroup_differences=differences,
        **compared(
            joint,
            hypothesis,
            greater_is_better=True,
            simultaneous=simultaneous,
            level=level,
            seed=seed,
        ),
    )
    warn(found.warnings)
    return found


def _joint(given: ScoredItems, level: float, seed: int, hypothesis: Hypothesis) -> JointEstimates:
    means = {name: given.mean(name) for name in given.scores}
    pairs = {pair: given.mean(*pair) for pair in itertools.combinations(means, 2)}
    influences = np.stack([mean.influences for mean in means.values()])
    covariance = influences @ influences.T
    # Correlations are those of the influences; errors are what the intervals show, never 0.
    plain = np.sqrt(np.diag(covariance))
    scaled = np.divide(1.0, plain, out=np.zeros_like(plain), where=plain > 0)
    errors = np.array([mean.error for mean in means.values()])
    covariance *= np.outer(scaled * errors, scaled * errors)
    np.fill_diagonal(covariance, errors**2)
    values = np.array([mean.limits.value for mean in means.values()])
    freedom = max(min(mean.limits.n_units for mean in means.values()) - 1.0, 1.0)
    noise = joint_noise(covariance, freedom, np.random.default_rng(seed))

    def interval_of_difference(first: str, second: str, at: float) -> tuple[float, float]:
        ends = pairs[first, second].limits.ends_at(hypothesis.error(at))
        return hypothesis.opened(ends)

    return JointEstimates(
        {name: mean.estimate(level) for name, mean in means.items()},
        {pair: mean.difference(*pair, level, hypothesis) for pair, mean in pairs.items()},
        values + noise,
        covariance,
        lambda name, at: means[name].limits.ends_at(1 - at),
        interval_of_difference,
    )


def _in_subgroups(
    given: ScoredItems, by: Any, index: Any, level: float
) -> tuple[dict[str, dict[str, Estimate]], dict[str, int], dict[str, tuple[Difference, ...]]]:
    if by is None:
        return {}, {}, {}
    names, of_row = crossed(by, given.n_items, index)
    parts = {name: given.rows(of_row == place) for place, name in enumerate(names)}
    for name, part in parts.items():
        _check_scored(part, f"the subgroup {name!r} of by")
    n_units = [len(np.unique(part.unit)) for part in parts.values()]
    if sum(n_units) > len(np.unique(given.unit)):
        raise ValueError(
            "groups has items in several subgroups of by, which are then not independent: leave "
            "by out, or groups"
        )
    means = {
        name: {model: part.mean(model) for model in given.scores} for name, part in parts.items()
    }
    estimates = {
        name: {model: mean.estimate(level) for model, mean in of_part.items()}
        for name, of_part in means.items()
    }
    pairs = list(itertools.combinations(names, 2))
    found = {
        model: [
            _independent(a, b, means[a][model].limits, means[b][model].limits, level)
            for a, b in pairs
        ]
        for model in given.scores
    }
    adjusted = iter(holm([d.p_value for ds in found.values() for d in ds]))
    differences = {
        model: tuple(replace(d, adjusted_p_value=float(next(adjusted))) for d in ds)
        for model, ds in found.items()
    }
    return estimates, {name: part.n_items for name, part in parts.items()}, differences


def _independent(
    first: str, second: str, a: BoundedMean, b: BoundedMean, level: float
) -> Difference:
    both = (a.value, a.interval_at, b.value, b.interval_at)
    p_value = independent.p_value(0.0, *both)
    return Difference(
        first,
        second,
        value=a.value - b.value,
        standard_error=float(np.hypot(a.standard_error, b.standard_error)),
        interval=independent.ends_of_difference(*both, 1 - level),
        p_value=p_value,
        two_sided_p_value=p_value,
        adjusted_p_value=p_value,
        probability_better=independent.probability_above(0.0, *both),
        probability_equivalent=0.0,
    )


def _scored_items(
    scores: Any, judge: Any, label_probability: Any, groups: Any, bounds: Any
) -> tuple[ScoredItems, int, Any]:
    """Check what the user handed in."""
    if judge is None and label_probability is not None:
        raise TypeError("label_probability goes with judge=: without one, all items have scores")
    rows = Rows(what="scores")
    read = {
        name: _matrix(values, f"scores[{name!r}]", rows) for name, values in _named(scores).items()
    }
    n_items = {len(x) for x in read.values()}
    if len(n_items) > 1:
        sizes = ", ".join(f"{name!r} {len(x)}" for name, x in read.items())
        raise ValueError(f"the models have scores of different numbers of items: {sizes}")
    [n] = n_items
    if judge is None:
        for name, x in read.items():
            _check_complete(
                x,
                f"scores[{name!r}]",
                ": leave these items out for all models, or give a judge's scores of all items as "
                "judge=",
            )
        of_judge = None
    else:
        by_name = isinstance(judge, Mapping) or hasattr(judge, "columns")
        if not by_name and len(read) > 1:
            raise TypeError("judge must be a dict with the judge's scores of each model")
        named = _named(judge) if by_name else {next(iter(read)): judge}
        if set(named) != set(read):
            raise ValueError(
                f"judge has scores of {list(named)}, but scores has the models {list(read)}: use "
                "the same names"
            )
        of_judge = {name: _matrix(named[name], f"judge[{name!r}]", rows) for name in read}
        for name, x in of_judge.items():
            if len(x) != n:
                raise ValueError(f"judge[{name!r}] has {len(x)} items, but scores has {n}")
            _check_complete(x, f"judge[{name!r}]", ": a judge must score all items")
    unit = np.arange(n)
    if groups is not None:
        named_groups = row_names(groups, "groups", n, rows.index, "a group")
        unit = np.unique(named_groups, return_inverse=True)[1]
        if unit.max() == 0:
            raise ValueError("groups has one group only: at least two are needed")
    given = ScoredItems(
        {name: _item_means(x) for name, x in read.items()},
        of_judge and {name: _item_means(x) for name, x in of_judge.items()},
        _probabilities(label_probability, n),
        unit,
        _bounds(bounds, [*read.values(), *(of_judge or {}).values()]),
    )
    _check_scored(given, "scores")
    return given, max(x.shape[1] for x in read.values()), rows.index


def _named(scores: Any) -> dict[str, Any]:
    if hasattr(scores, "columns"):  # a table
        scores = {name: scores[name] for name in scores.columns}
    if not isinstance(scores, Mapping):
        raise TypeError(
            "scores must be a dict of scores by name of the model, or a table with a column for "
            f"each, but it is a {type(scores).__name__}"
        )
    if not scores:
        raise ValueError("scores has no model: give the scores of at least one")
    for name in scores:
        if not isinstance(name, str):
            raise TypeError(f"scores has the key {name!r}, but names of models must be strings")
    return dict(scores)


def _matrix(values: Any, what: str, rows: Rows) -> Float[np.ndarray, "n r"]:
    """Return scores by item and repeat; missing ones are NaN."""
    array = as_floats(as_array(values, what), what).astype(np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{what} must have shape (n,) or (n, repeats), not {array.shape}")
    if np.isinf(array).any():
        row = int(np.isinf(array).any(axis=1).argmax())
        raise ValueError(f"{what} is infinite in row {row} (counting from 0)")
    return rows.arranged(array, values, what)


def _check_complete(x: Float[np.ndarray, "n r"], what: str, remedy: str) -> None:
    is_missing = np.isnan(x).any(axis=1)
    if is_missing.any():
        raise ValueError(
            f"{what} is missing in {int(is_missing.sum())} of {len(x)} items, first in row "
            f"{int(is_missing.argmax())} (counting from 0){remedy}"
        )


def _item_means(x: Float[np.ndarray, "n r"]) -> Float[np.ndarray, " n"]:
    """Return the mean over each item's repeats; an item of which one is missing has none."""
    found: Float[np.ndarray, " n"] = x.mean(axis=1)
    return found


def _check_scored(given: ScoredItems, what: str) -> None:
    for name, x in given.scores.items():
        n = len(np.unique(given.unit[~np.isnan(x)]))
        if n < _FEWEST_ITEMS:
            raise ValueError(
                f"{what} has {n} independent items with a score of {name!r}: at least "
                f"{_FEWEST_ITEMS} are needed to see how scores vary"
            )


def _probabilities(given: Any, n: int) -> Float[np.ndarray, " n"]:
    if given is None:
        return np.ones(n)
    found = numbers("label_probability", given)
    if found.shape != (n,):
        raise ValueError(f"label_probability must have shape ({n},), but it has {found.shape}")
    if not ((found > 0) & (found <= 1)).all():
        row = int((~((found > 0) & (found <= 1))).argmax())
        raise ValueError(
            f"label_probability must be above 0 and at most 1, but row {row} has {found[row]}"
        )
    return found


def _bounds(given: Any, scores: list[Float[np.ndarray, "n r"]]) -> tuple[float, float]:
    least = min(float(np.nanmin(x, initial=np.inf)) for x in scores)
    most = max(float(np.nanmax(x, initial=-np.inf)) for x in scores)
    if given is None:
        if least < 0 or most > 1:
            raise ValueError(
                f"scores are from {least:g} to {most:g}, outside of [0, 1]: give the smallest and "
                "largest possible score, bounds=(1, 5), or bounds=(-np.inf, np.inf)"
            )
        return 0.0, 1.0
    try:
        low, high = (number("each of bounds", end) for end in given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"bounds must be two numbers, such as (1, 5), not {given!r}") from error
    if not low <= least <= most <= high or not low < high:
        raise ValueError(
            f"bounds are {given!r}, but scores are from {least:g} to {most:g}: give the smallest "
            "and the largest possible score"
        )
    return low, high
