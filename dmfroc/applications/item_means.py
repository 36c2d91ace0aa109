"""Scores of items by model, as users hand them in: arrays and tables, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import comb, stdtrit

from dmfroc import Judge
from dmfroc.applications.plan_design import smallest
from dmfroc.extend import (
    IN_MEMORY,
    Contrast,
    Influences,
    Interval,
    IntPerRow,
    JudgedLabels,
    Limits,
    PerRow,
    Rows,
    Slopes,
    Unseen,
    as_array,
    as_floats,
    check_ids,
    columns_of,
    contrast_of_intervals,
    counts_rows,
    integer,
    judged,
    kish_sizes,
    number,
    order_of_ids,
    probabilities,
    row_index,
    selection_message,
    unit_of_rows,
)
from dmfroc.results import Estimate

FEWEST_ITEMS = 2

Covariance = Float[np.ndarray, "m m"]
"""Of m models."""

PerUnseen = Float[np.ndarray, " v"]
PerAttempt = Float[np.ndarray, "n r"]
"""One number for each unit that was not seen, or for each item and attempt."""

PerUnit = Float[np.ndarray, " u"]
"""One number for each independent unit of the items."""


@dataclass(frozen=True, eq=False)
class MeanOfUnits:
    """A weighted mean of scores: sums and weights of each unit, and scores of unseen units."""

    sums: PerUnit
    weights: PerUnit
    of_unseen: PerUnseen
    size: float  # weight of an unseen unit

    def value(self, units: PerUnit, unseen: PerUnseen) -> float:
        """Return the value."""
        return self.slopes(units, unseen).value

    def slopes(self, units: PerUnit, unseen: PerUnseen) -> Slopes:
        """Return the value and its derivatives."""
        total = units @ self.weights + self.size * unseen.sum()
        value = float(units @ self.sums + self.size * (unseen @ self.of_unseen)) / total
        of_unseen = self.size * (self.of_unseen - value) / total
        return Slopes(value, (self.sums - value * self.weights) / total, of_unseen)


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
    index : pandas.Index or None
        Index of the rows.
    attempts : dict of str to numpy.ndarray of shape (n, repeats)
        The scores themselves.
    """

    scores: dict[str, PerRow]
    judge: dict[str, PerRow] | None
    probability: PerRow
    unit: IntPerRow
    bounds: tuple[float, float]
    index: Any
    attempts: dict[str, PerAttempt]

    @property
    def n_repeats(self) -> int:
        """Largest number of scores that a model has of an item."""
        return max(x.shape[1] for x in self.attempts.values())

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.unit)

    def of_best(self, k: int, *, worst: bool = False) -> ScoredItems:
        """Return the expected best, or worst, of k attempts at each item, drawn from those made."""
        k = integer("k", k, 1)
        if self.judge is not None:
            raise ValueError("attempts are compared by their own scores: leave judge= out")
        scores = {}
        for name, x in self.attempts.items():
            m = x.shape[1]
            if k > m:
                raise ValueError(f"k is {k}, but {name!r} has {m} attempts at each item: give more")
            # The best of k is the i-th smallest of m with this probability
            weights = comb(np.arange(m), k - 1) / comb(m, k)
            means = np.sort(x, axis=1) @ (weights[::-1] if worst else weights)
            scores[name] = np.clip(means, *self.bounds)  # but for rounding
        return replace(self, scores=scores)

    def rows(self, chosen: Any) -> ScoredItems:
        """Return some of the items."""
        scores, judge, attempts = (
            of and {name: x[chosen] for name, x in of.items()}
            for of in (self.scores, self.judge, self.attempts)
        )
        unit = np.unique(self.unit[chosen], return_inverse=True)[1]
        given: Any = {"scores": scores, "judge": judge, "attempts": attempts, "unit": unit}
        return replace(self, probability=self.probability[chosen], **given)


def scored_items(
    scores: Any, of_items: Judge | None, groups: Any, bounds: Any, id: Any
) -> ScoredItems:
    """Check what the user handed in."""
    judge, probability = None, None
    if of_items is not None:
        judge, probability = of_items.labels, of_items.probability
        if of_items.strata is not None:
            raise ValueError("judge of items has no strata: give the probability of each item")
    rows, of_models = Rows(what="scores"), _named(scores)
    read = {name: _matrix(values, f"scores[{name!r}]", rows) for name, values in of_models.items()}
    n_items = {len(x) for x in read.values()}
    if len(n_items) > 1:
        sizes = ", ".join(f"{name!r} {len(x)}" for name, x in read.items())
        raise ValueError(f"the models have scores of different numbers of items: {sizes}")
    [n] = n_items
    named, of_judge, whole, what = {}, None, read, "scores"
    remedy = "leave these items out for all models, or give a judge's scores of all items as judge="
    if judge is not None:
        by_name = isinstance(judge, Mapping) or columns_of(judge, "judge") is not None
        if not by_name and len(read) > 1:
            raise TypeError("judge must be a dict with the judge's scores of each model")
        named = _named(judge) if by_name else {next(iter(read)): judge}
        if set(named) != set(read):
            raise ValueError(
                f"judge has scores of {list(named)}, but scores has the models {list(read)}: use "
                "the same names"
            )
        of_judge = {name: _matrix(named[name], f"judge[{name!r}]", rows) for name in read}
        whole, what, remedy = of_judge, "judge", "a judge must score all items"
    for name, x in whole.items():
        if len(x) != n:
            raise ValueError(f"judge[{name!r}] has {len(x)} items, but scores has {n}")
        is_missing = np.isnan(x).any(axis=1)
        if is_missing.any():
            raise ValueError(
                f"{what}[{name!r}] is missing in {int(is_missing.sum())} of {n} items, first in "
                f"row {int(is_missing.argmax())} (counting from 0): {remedy}"
            )
    if id is None:
        _check_one_table({"scores": of_models, "judge": named})
    else:
        places = _places(id, read)
        read = {name: x[places[name]] for name, x in read.items()}
        of_judge = of_judge and {name: x[places[name]] for name, x in of_judge.items()}
    given = ScoredItems(
        # An item that lacks one of its repeats has no mean
        {name: x.mean(axis=1) for name, x in read.items()},
        of_judge and {name: x.mean(axis=1) for name, x in of_judge.items()},
        probabilities(probability, n, rows),
        unit_of_rows(groups, n, rows),
        _bounds(bounds, [*read.values(), *(of_judge or {}).values()]),
        rows.index,
        read,
    )
    check_scored(given, "scores")
    return given


def _named(scores: Any) -> dict[str, Any]:
    scores = columns_of(scores, "scores") or scores
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


def _check_one_table(scores: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse columns of different tables whose indexes do not name the items."""
    of_all = {f"{what}[{name!r}]": x for what, of in scores.items() for name, x in of.items()}
    indexes = {what: row_index(x) for what, x in of_all.items()}
    counting = {what: x for what, x in indexes.items() if x is not None and counts_rows(x)}
    first = next(iter(counting), "")
    for what, index in counting.items():
        if not index.is_(counting[first]):
            raise ValueError(
                f"{first} and {what} are of different tables, whose indexes only count the items: "
                "match these by id=, a dict of ids by name of the model. If they match by "
                "position, pass them with .to_numpy()"
            )


def _places(id: Any, scores: Mapping[str, Float[np.ndarray, "n _"]]) -> dict[str, IntPerRow]:
    """Return where each model has the items, in the order of the first one's."""
    if not isinstance(id, Mapping) or set(id) != set(scores):
        raise TypeError(f"id must be a dict with the ids of the items of each of {list(scores)}")
    first = next(iter(scores))
    ids = {name: check_ids(id[name], len(x), IN_MEMORY) for name, x in scores.items()}
    return {name: order_of_ids(first, ids[first], name, x) for name, x in ids.items()}


def _matrix(values: Any, what: str, rows: Rows) -> PerAttempt:
    """Return scores by item and repeat; missing ones are NaN."""
    array = as_floats(as_array(values, what), what).astype(np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{what} must have shape (n,) or (n, repeats), not {array.shape}")
    is_wrong = np.isinf(array).any(axis=1)
    if is_wrong.any():
        raise ValueError(f"{what} is infinite in row {is_wrong.argmax()} (counting from 0)")
    return rows.arranged(array, values, what)


def check_scored(given: ScoredItems, what: str) -> None:
    """Refuse a model with scores of too few items."""
    for name, x in given.scores.items():
        n = len(np.unique(given.unit[~np.isnan(x)]))
        if n < FEWEST_ITEMS:
            raise ValueError(
                f"{what} has {n} independent items with a score of {name!r}: at least "
                f"{FEWEST_ITEMS} are needed to see how scores vary"
            )


def _bounds(given: Any, scores: list[PerAttempt]) -> tuple[float, float]:
    values = np.concatenate([x.ravel() for x in scores])
    least, most = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
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


MEASURE, TITLE = "mean_score", "Mean score"
_PER_SKEWNESS = 60  # items per squared skewness, below which t intervals cover too little
_ROUNDING = 1e-14  # of the largest score, which equal means of groups can differ by
_ONE_SIGMA = 0.31731  # error probability of an interval of one standard error


@dataclass(frozen=True)
class LimitsOfT:
    """The limits of a value by Student's t, inside of its range."""

    value: float
    standard_error: float
    degrees_of_freedom: float
    bounds: tuple[float, float]

    def interval_at(self, error: float) -> Interval:
        """Return the interval with this error probability."""
        half = stdtrit(self.degrees_of_freedom, error / 2) * self.standard_error
        return Interval(*np.clip([self.value + half, self.value - half], *self.bounds).tolist())

    def at_size(self, times: float) -> LimitsOfT:
        """Return the limits of a sample so many times as large."""
        error = self.standard_error / times**0.5
        return LimitsOfT(self.value, error, self.degrees_of_freedom * times, self.bounds)


@dataclass(frozen=True, eq=False)
class ItemMean:
    """The mean of one series of scores: the arguments are those of `ScoredItems`."""

    scores: PerRow
    judge: PerRow | None
    probability: PerRow
    unit: IntPerRow
    bounds: tuple[float, float]
    is_difference: bool = False

    @cached_property
    def verified(self) -> Influences:
        """The mean of the items with scores, and the influence of each unit."""
        return self._mean_of(np.nan_to_num(self.scores), self._weight)

    def _mean_of(self, values: PerRow, weights: PerRow) -> Influences:
        total = weights.sum()
        value = float(weights @ values / total)  # exact for zeros and ones of weight 1
        return Influences(value, self._by_unit(weights * (values - value) / total))

    @cached_property
    def _weight(self) -> PerRow:
        return np.where(np.isnan(self.scores), 0.0, 1 / self.probability)

    @cached_property
    def _weight_of_unit(self) -> PerUnit:
        return self._by_unit(self._weight)

    @cached_property
    def _n_effective(self) -> Float[np.ndarray, 1]:
        return kish_sizes(np.zeros(len(self._weight_of_unit), int), self._weight_of_unit)

    def _by_unit(self, values: PerRow) -> PerUnit:
        return np.bincount(self.unit, values)

    @cached_property
    def _combined(self) -> tuple[float, PerUnit, float]:
        if self.judge is None:
            return self.verified.value, self.verified.influences, 0.0
        on_all, on_verified = (
            self._mean_of(self.judge, weight) for weight in (np.ones(len(self.judge)), self._weight)
        )
        is_verified = self._weight_of_unit > 0
        stratum, n_labels = np.zeros(len(is_verified), int), self._n_effective
        found = judged(self.verified, on_all, on_verified, is_verified, stratum, n_labels)
        return found.value, found.influences, found.weight

    @property
    def influences(self) -> PerUnit:
        """The influence of each unit on the mean."""
        return self._combined[1]

    @cached_property
    def n_units(self) -> int:
        """Number of units with scores."""
        return int((self._weight_of_unit > 0).sum())

    @cached_property
    def variance(self) -> float:
        """The sum of squared influences; 0 if equal means of groups differ by rounding alone."""
        variance = float(self.influences @ self.influences)
        return variance * (variance > (_ROUNDING * float(np.nanmax(np.abs(self.scores)))) ** 2)

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return float(np.sqrt(self.variance * self._lost))

    @property
    def _freedom(self) -> float:
        return max(self.n_units - 1.0, 1.0)

    @property
    def _lost(self) -> float:
        """By what the squares of the influences are too small, since the mean is that of them."""
        return self.n_units / self._freedom

    @cached_property
    def limits(self) -> Limits | LimitsOfT:
        """The limits of the mean: the unseen unit is at either end of the range.

        If the scores have no bounds, the limits are those of a t test.
        """
        if not np.isfinite(self.bounds[1] - self.bounds[0]):
            value, error = float(self._combined[0]), self.standard_error
            return LimitsOfT(value, error, self._freedom, self.bounds)
        value = float(np.clip(self._combined[0], *self.bounds))
        # All units count if there is a judge, else those with scores
        counts = (self._weight_of_unit > 0) | (self.judge is not None)
        influences = self.influences[counts] * (self.variance > 0)
        limits = Limits(
            value=value,
            influences=influences,
            stratum=(self._weight_of_unit[counts] == 0).astype(int),
            bounds=self.bounds,
            masses=np.ones(len(influences)),
            error_share=0.5 if self.is_difference else 0.75,
            lost=self._lost,
        )
        ends, n_items = np.array(self.bounds), self._independent_items
        function = None
        if self.judge is None:
            sums = self._by_unit(np.nan_to_num(self.scores) * self._weight)[counts]
            weights = self._weight_of_unit[counts]
            function = MeanOfUnits(sums, weights, ends, float(weights.sum()) / n_items)
        none = np.zeros(2, int)
        return replace(
            limits,
            function=function,
            unseen=Unseen(none, np.arange(2), none, none, none > 0),
            of_unseen=(ends - value) / n_items,
        )

    @property
    def _independent_items(self) -> float:
        """As how many independent items these are: fewer than items where groups vary together.

        One of them is not seen. If nothing varies, they are as many as there are groups.
        """
        weight, mean = self._weight, self.verified.value
        n_units, n_items = float(self._n_effective[0]), float(weight.sum() ** 2 / (weight @ weight))
        if not self.variance:
            return n_units
        square = float(weight @ (np.nan_to_num(self.scores) - mean) ** 2 / weight.sum())
        alone = float(np.sum(self.verified.influences**2))
        return min(max(square / max(alone, _ROUNDING * square), n_units), max(n_items, n_units))

    def units_for(self, half_width: float, error: float) -> int:
        """Return how many such units have an interval of this half-width."""

        def suffices(n: int) -> bool:
            low, high = self.limits.at_size(n / self.n_units).interval_at(error)
            return high - low <= 2 * half_width

        return smallest(suffices, FEWEST_ITEMS)

    @cached_property
    def labels(self) -> JudgedLabels | None:
        """What the judge has added."""
        if self.judge is None:
            return None
        n, n_verified = len(self.scores), int((self._weight > 0).sum())
        before, after = float(np.sum(self.verified.influences**2)), self.variance
        return JudgedLabels(
            lambda_=self._combined[2] * (1 - n_verified / n),
            n_verified=n_verified,
            n_rows=n,
            effective_labels=n_verified * before / after if after > 0 else n_verified,
            verified_value=self.verified.value,
            verified_error=float(np.sqrt(before * self._lost)),
            judge_value=float(self.judge.mean()),
        )

    @property
    def error(self) -> float:
        """Standard deviation of the mean that its 68 % interval shows, 0 of nothing alone."""
        low, high = self.limits.interval_at(_ONE_SIGMA)
        return (high - low) / 2

    def estimate(self, level: float) -> Estimate:
        """Return the mean with its interval."""
        return Estimate(
            measure=MEASURE,
            title=TITLE,
            value=self.limits.value,
            standard_error=self.standard_error,
            interval=self.limits.interval_at(1 - level)[:2],
            level=level,
            method="jackknife",
            warnings=tuple(filter(None, self._remarks())),
            judge=self.labels,
        )

    def _remarks(self) -> Iterator[str | None]:
        """Say whether verified items are a selection, and why the interval may be wrong."""
        if self.judge is not None and np.ptp(self.probability) == 0:
            yield selection_message(~np.isnan(self.scores), {"the judge's score": self.judge})
        if np.isfinite(self.bounds[1] - self.bounds[0]):
            if self.variance == 0 and np.nanmax(self.scores) > np.nanmin(self.scores):
                yield (
                    "all groups have the same mean score, so that its standard error is 0, and the "
                    "interval rests on their number alone: check that groups are no strata"
                )
        elif self.variance == 0:
            yield (
                "all scores are the same and have no bounds: this says nothing of other items, and "
                "the interval is empty. Give the bounds= of the scores"
            )
        else:
            x = self.influences[self._weight_of_unit > 0]
            skewness = (x**3).mean() / (x**2).mean() ** 1.5
            if skewness**2 * _PER_SKEWNESS >= self.n_units:
                yield (
                    "the scores are skewed and have no bounds: few large ones decide the mean, and "
                    "the interval may cover up to 20 points less than it states. Compare their "
                    "logarithms, or give the bounds= of the scores"
                )

    @property
    def contrast(self) -> Contrast:
        """What is known of the mean if it is the difference of two models."""
        of, error = self.limits, self.standard_error
        known = of if isinstance(of, Limits) else None
        return contrast_of_intervals(of.value, error, of.interval_at, self._freedom, limits=known)


def mean_of(items: ScoredItems, name: str, minus: str | None = None) -> ItemMean:
    """Return a model's mean score, or by how much it exceeds that of another."""
    x, (low, high) = items.scores[name], items.bounds
    judge = None if items.judge is None else items.judge[name]
    if minus is not None:
        x = x - items.scores[minus]
        low, high = low - high, high - low
        if items.judge is not None:
            judge = items.judge[name] - items.judge[minus]
        if len(np.unique(items.unit[~np.isnan(x)])) < FEWEST_ITEMS:
            raise ValueError(
                f"{name!r} and {minus!r} have fewer than {FEWEST_ITEMS} verified items in common: "
                "verify the same items for both"
            )
    return ItemMean(x, judge, items.probability, items.unit, (low, high), minus is not None)


def with_errors(covariance: Covariance, errors: PerRow) -> Covariance:
    """Return a covariance with the same correlations, and these standard errors."""
    own = np.sqrt(covariance.diagonal())
    factor = np.divide(errors, own, out=np.zeros_like(own), where=own > 0)
    joint: Covariance = covariance * np.outer(factor, factor)
    np.fill_diagonal(joint, errors**2)
    return joint
