"""The mean score of a model, or the difference of two, with its limits and what a judge adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from dmfroc._kit.arrays import BoolPerRow, IntPerRow, PerRow
from dmfroc.inference.hypothesis import Contrast, contrast_of_intervals
from dmfroc.inference.influences import Influences
from dmfroc.inference.judge import judged, selection_message
from dmfroc.inference.limits import Interval, Limits
from dmfroc.inference.reweighted import MeanOfUnits
from dmfroc.inference.units import kish_sizes
from dmfroc.inference.unseen import Unseen
from dmfroc.inputs.item_scores import FEWEST_ITEMS, ScoredItems
from dmfroc.results.estimate import Estimate, JudgedLabels

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
        half = -float(stdtrit(self.degrees_of_freedom, error / 2)) * self.standard_error
        return Interval(
            max(self.value - half, self.bounds[0]), min(self.value + half, self.bounds[1])
        )

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
        """The mean of the items with scores, and the influence of each."""
        return _weighted_mean(np.nan_to_num(self.scores), self._weight)

    @cached_property
    def _weight(self) -> PerRow:
        return np.where(np.isnan(self.scores), 0.0, 1 / self.probability)

    @cached_property
    def _weight_of_unit(self) -> Float[np.ndarray, " u"]:
        return self._by_unit(self._weight)

    @cached_property
    def _n_effective(self) -> Float[np.ndarray, 1]:
        return kish_sizes(np.zeros(len(self._weight_of_unit), int), self._weight_of_unit)

    def _by_unit(self, values: PerRow) -> Float[np.ndarray, " u"]:
        return np.bincount(self.unit, values)

    @cached_property
    def _combined(self) -> tuple[float, PerRow, float]:
        if self.judge is None:
            return self.verified.value, self.verified.influences, 0.0
        on_all, on_verified = (
            self._summed_by_unit(_weighted_mean(self.judge, weight))
            for weight in (np.ones(len(self.judge)), self._weight)
        )
        own, is_verified = self._summed_by_unit(self.verified), self._weight_of_unit > 0
        stratum = np.zeros(len(is_verified), int)
        combination = judged(own, on_all, on_verified, is_verified, stratum, self._n_effective)
        return combination.value, combination.influences, combination.weight

    def _summed_by_unit(self, part: Influences) -> Influences:
        return Influences(part.value, self._by_unit(part.influences))

    @property
    def influences(self) -> Float[np.ndarray, " u"]:
        """The influence of each unit on the mean."""
        by_item = self._combined[1]
        return self._by_unit(by_item) if self.judge is None else by_item

    @cached_property
    def has_weight(self) -> BoolPerRow:
        """Which units count: all of them if there is a judge, else those with scores."""
        return self._weight_of_unit > 0 if self.judge is None else self._weight_of_unit >= 0

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
        return float(np.sqrt(self.variance * self.n_units / max(self.n_units - 1, 1)))

    @cached_property
    def limits(self) -> Limits | LimitsOfT:
        """The limits of the mean: the unseen unit is at either end of the range.

        If the scores have no bounds, the limits are those of a t test.
        """
        if not np.isfinite(self.bounds[1] - self.bounds[0]):
            freedom, error = max(self.n_units - 1, 1), self.standard_error
            return LimitsOfT(float(self._combined[0]), error, freedom, self.bounds)
        value, counts = float(np.clip(self._combined[0], *self.bounds)), self.has_weight
        influences = self.influences[counts] * (self.variance > 0)
        limits = Limits(
            value=value,
            influences=influences,
            stratum=(self._weight_of_unit[counts] == 0).astype(int),
            bounds=self.bounds,
            masses=np.ones(len(influences)),
            error_share=0.5 if self.is_difference else 0.75,
            lost=self.n_units / max(self.n_units - 1, 1),
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
        alone = float(np.sum(self._by_unit(self.verified.influences) ** 2))
        return min(max(square / max(alone, _ROUNDING * square), n_units), max(n_items, n_units))

    def units_for(self, half_width: float, error: float) -> int:
        """Return how many such units have an interval of this half-width."""

        def suffices(n: int) -> bool:
            low, high = self.limits.at_size(n / self.n_units).interval_at(error)
            return high - low <= 2 * half_width

        low, high = 1, 2
        while not suffices(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return high

    @cached_property
    def labels(self) -> JudgedLabels | None:
        """What the judge has added."""
        if self.judge is None:
            return None
        n, n_verified = len(self.scores), int((self._weight > 0).sum())
        alone = self._by_unit(self.verified.influences)
        before, after = float(alone @ alone), self.variance
        return JudgedLabels(
            lambda_=self._combined[2] * (1 - n_verified / n),
            n_verified=n_verified,
            n_rows=n,
            effective_labels=n_verified * before / after if after > 0 else n_verified,
            verified_value=self.verified.value,
            verified_error=float(np.sqrt(before * self.n_units / max(self.n_units - 1, 1))),
            judge_value=float(self.judge.mean()),
        )

    @property
    def error(self) -> float:
        """Standard deviation of the mean that its 68 % interval shows, 0 of nothing alone."""
        low, high = self.limits.interval_at(_ONE_SIGMA)[:2]
        return (high - low) / 2

    def estimate(self, level: float) -> Estimate:
        """Return the mean with its interval."""
        return Estimate(
            measure=MEASURE,
            title=TITLE,
            value=self.limits.value,
            standard_error=self.standard_error,
            interval=self.limits.interval_at(1 - level),
            level=level,
            method="jackknife",
            warnings=tuple(filter(None, [self._selection, self._no_variation, self._skewed])),
            judge=self.labels,
        )

    @property
    def _selection(self) -> str | None:
        if self.judge is None or np.ptp(self.probability) > 0:
            return None
        return selection_message(~np.isnan(self.scores), {"the judge's score": self.judge})

    @property
    def _no_variation(self) -> str | None:
        if self.variance > 0:
            return None
        if np.isfinite(self.bounds[1] - self.bounds[0]):
            return (
                "all groups have the same mean score, so that its standard error is 0, and the "
                "interval rests on their number alone: check that groups are no strata"
                if np.nanmax(self.scores) > np.nanmin(self.scores)
                else None
            )
        return (
            "all scores are the same and have no bounds: this says nothing of other items, and the "
            "interval is empty. Give the bounds= of the scores"
        )

    @property
    def _skewed(self) -> str | None:
        if np.isfinite(self.bounds[1] - self.bounds[0]) or self.variance == 0:
            return None
        x, n = self.influences[self._weight_of_unit > 0], self.n_units
        skewness = (x**3).mean() / (x**2).mean() ** 1.5
        if skewness**2 * _PER_SKEWNESS < n:
            return None
        return (
            "the scores are skewed and have no bounds: few large ones decide the mean, and the "
            "interval may cover up to 20 points less than it states. Compare their logarithms, or "
            "give the bounds= of the scores"
        )

    @property
    def contrast(self) -> Contrast:
        """What is known of the mean if it is the difference of two models."""
        limits = self.limits
        return contrast_of_intervals(limits.value, self.standard_error, limits.interval_at)


def _weighted_mean(values: PerRow, weights: PerRow) -> Influences:
    total = weights.sum()
    value = float(weights @ values / total)  # exact for zeros and ones of weight 1
    return Influences(value, weights * (values - value) / total)


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
