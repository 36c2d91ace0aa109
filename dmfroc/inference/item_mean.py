"""The mean score of a model, or the difference of two, with its limits and what a judge adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc.inference.bounded_mean import BoundedMean
from dmfroc.inference.hypothesis import Contrast, contrast_of_intervals
from dmfroc.inference.influences import Influences
from dmfroc.inference.judge import judged, selection_message
from dmfroc.inference.units import kish_sizes
from dmfroc.inputs.item_scores import FEWEST_ITEMS, ScoredItems
from dmfroc.results.estimate import Estimate, JudgedLabels

MEASURE, TITLE = "mean_score", "Mean score"
_PER_SKEWNESS = 60  # items per squared skewness, below which t intervals cover too little
_ROUNDING = 1e-14  # of the largest score, which equal means of groups can differ by
_ONE_SIGMA = 0.31731  # error probability of an interval of one standard error


@dataclass(frozen=True, eq=False)
class ItemMean:
    """The mean of one series of scores: the arguments are those of `ScoredItems`."""

    scores: PerRow
    judge: PerRow | None
    probability: PerRow
    unit: IntPerRow
    bounds: tuple[float, float]

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
        return combination.value, combination.influences * combination.inflation, combination.weight

    def _summed_by_unit(self, part: Influences) -> Influences:
        return Influences(part.value, self._by_unit(part.influences))

    @property
    def influences(self) -> Float[np.ndarray, " u"]:
        """The influence of each unit on the mean."""
        by_item = self._combined[1]
        return self._by_unit(by_item) if self.judge is None else by_item

    @cached_property
    def limits(self) -> BoundedMean:
        """The mean with its limits."""
        n_units = int((self._weight_of_unit > 0).sum())
        variance = float(self.influences @ self.influences)
        variance *= variance > (_ROUNDING * float(np.nanmax(np.abs(self.scores)))) ** 2
        value = float(np.clip(self._combined[0], *self.bounds))
        return BoundedMean(value, variance, n_units, float(self._n_effective[0]), self.bounds)

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
        low, high = self.limits.interval_at(_ONE_SIGMA)[:2]
        return (high - low) / 2

    def estimate(self, level: float) -> Estimate:
        """Return the mean with its interval."""
        limits = self.limits
        is_bounded = np.isfinite(self.bounds[1] - self.bounds[0])
        return Estimate(
            measure=MEASURE,
            title=TITLE,
            value=limits.value,
            standard_error=limits.standard_error,
            interval=limits.interval_at(1 - level)[:2],
            level=level,
            method="effective binomial" if is_bounded else "t",
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
        if self.limits.variance > 0:
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
        if np.isfinite(self.bounds[1] - self.bounds[0]) or self.limits.variance == 0:
            return None
        x, n = self.influences[self._weight_of_unit > 0], self.limits.n_units
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
        return contrast_of_intervals(limits.value, limits.standard_error, limits.interval_at)


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
    return ItemMean(x, judge, items.probability, items.unit, (low, high))
