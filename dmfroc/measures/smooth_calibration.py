"""Distances of probabilities from a smooth curve of how often they come true.

The curve is a logistic regression of the outcome on a restricted cubic spline of the logit, with
three knots.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import chdtrc

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.calibration import (
    PerEvent,
    all_the_same,
    calibration,
    events,
    no_events,
    no_logits,
)
from dmfroc.measures.cross_fitting import folds_of
from dmfroc.measures.measure import (
    UNIT,
    IntervalProperties,
    Measure,
    ValueAndInfluences,
    WithOptions,
)
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.recalibration import (
    BinaryFit,
    Coefficients,
    CoefficientSets,
    WeightSets,
)
from dmfroc.measures.statistics.statistic import Statistic, once_per_predictions

_ERROR, _QUANTILE = 0.05, 1.96  # of the test that excludes calibration
_KNOTS = np.array([0.1, 0.5, 0.9])  # Harrell's quantiles for three knots
Knots = Float[np.ndarray, " 3"]
_BINS, _NOTHING = 1000, 1e-100  # of distances, and what they are beyond
_NODES = 1024  # of a grid
_PER_NODE = 8  # observations from which on a grid saves time
_LARGEST_STEP = 0.1  # of a linear predictor on a grid: each logarithm is precise to 3e-7
# Row k has the coefficients of t^k in the cubic polynomials that are 1 at one of -1, 0, 1, 2.
_CUBIC = np.linalg.inv(np.vander([-1.0, 0, 1, 2], increasing=True))


def spline_features(logit: PerRow, knots: Knots) -> Float[np.ndarray, "m n"]:
    """Return 1, the logit and, if the knots differ, a cubic term that is linear beyond them."""
    low, middle, high = knots
    if not low < middle < high:
        return np.stack([np.ones_like(logit), logit])

    def cube(knot: float) -> PerRow:
        above = np.maximum(logit - knot, 0)
        return above * above * above

    bend = cube(low) + (cube(high) * (middle - low) - cube(middle) * (high - low)) / (high - middle)
    return np.stack([np.ones_like(logit), logit, bend / (high - low) ** 2])


def _knots(logit: PerRow, weights: PerRow) -> Knots:
    """Return quantiles of the rows, repeated as often as each weighs more than the lightest."""
    counts = weights > 0
    logit, weights = logit[counts], weights[counts]
    unit = weights.min()
    if weights.max() == unit:
        return np.quantile(logit, _KNOTS)
    order = logit.argsort()
    up_to = weights[order].cumsum()
    # From the first to the last copy of a row a quantile is that row, then on the way to the next
    copies = np.stack([np.append(0, up_to[:-1]), up_to - unit], axis=1)
    return np.interp(_KNOTS * (up_to[-1] - unit), copies.ravel(), logit[order].repeat(2))


@dataclass(frozen=True, eq=False)
class SmoothFit(BinaryFit):
    """The smooth curve of one event, fitted on a grid of logits where observations are many."""

    knots: Knots

    @classmethod
    def on(cls, forecast: PerRow, outcome: PerRow, weights: PerRow) -> SmoothFit:
        """Bind the smooth curve of one event, whose knots stay those of these weights."""
        logit = np.log(forecast / (1 - forecast))
        knots = _knots(logit, weights)
        return cls(outcome, spline_features(logit, knots), knots)

    def fitted(self, weights: WeightSets, start: Coefficients | float = np.nan) -> CoefficientSets:
        """Return the coefficients as `BinaryFit` does."""
        if self.has_grid:
            of_nodes = weights @ self.on_grid
            coefficients = self.grid.fitted(of_nodes, start)
            if self.is_precise(coefficients, of_nodes):
                return coefficients
        return super().fitted(weights, start)

    @property
    def has_grid(self) -> bool:
        """Whether there are so many observations that a grid saves time."""
        return len(self.outcome) >= _NODES * _PER_NODE

    def is_precise(
        self,
        coefficients: CoefficientSets,
        of_nodes: Float[np.ndarray, "*sets nodes"],
    ) -> bool:
        """Whether there are curves that change little from node to node of a grid."""
        if not self.has_grid:
            return bool(np.isfinite(coefficients).all())
        steps = np.diff((coefficients @ self.grid.features)[..., :_NODES], append=np.nan)
        weights = np.abs(of_nodes[..., :_NODES]) + np.abs(of_nodes[..., _NODES:])
        errors = (weights * steps**4)[..., :-1].sum(axis=-1) / weights.sum(axis=-1)
        return bool(errors.max() <= _LARGEST_STEP**4)  # false for NaN

    @cached_property
    def grid(self) -> BinaryFit:
        """The fit to as many nodes without the event as with it."""
        nodes = spline_features(self._nodes, self.knots)
        return BinaryFit(np.repeat([0.0, 1.0], _NODES), np.tile(nodes, 2))

    @cached_property
    def _nodes(self) -> Float[np.ndarray, " nodes"]:
        """Equidistant logits, one more at each end than cells."""
        logit = self.features[1]
        step = np.ptp(logit) / (_NODES - 3) or 1.0
        return logit.min() + step * np.arange(-1, _NODES - 1)

    @cached_property
    def on_grid(self) -> Any:
        """Turns weights of the rows into weights of nodes that give cubic functions their sums."""
        from scipy.sparse import csr_array

        first, second = self._nodes[1:3]
        place = (self.features[1] - first) / (second - first)
        cell = np.minimum(place.astype(int), _NODES - 4)
        shares = np.vander(place - cell, 4, increasing=True) @ _CUBIC
        nodes = (cell + np.where(self.outcome == 1, _NODES, 0))[:, None] + np.arange(4)
        ends = np.arange(0, nodes.size + 1, 4)
        return csr_array((shares.ravel(), nodes.ravel(), ends), (len(nodes), 2 * _NODES))


class SmoothGaps(NamedTuple):
    """What the smooth curve of each event adds to the forecasts, and what it follows from."""

    gaps: PerEvent
    weights: PerRow
    coefficients: list[Coefficients]


@dataclass(frozen=True, eq=False)
class SmoothCurves(Statistic):
    """The smooth curves of the events of some predictions."""

    fits: tuple[SmoothFit, ...]
    forecast: PerEvent
    sample_weight: PerRow

    is_compiled = False

    def count(self, weights: PerRow, xp: Any) -> SmoothGaps:
        """Fit the curves; those of the sample's own weights are fitted once."""
        own = _gaps_of_sample(self)
        return own if weights is self.sample_weight else self.fitted(weights, own.coefficients)

    def fitted(self, weights: PerRow, starts: Sequence[Coefficients]) -> SmoothGaps:
        """Fit the curves to weighted observations."""
        found = self._coefficients(weights, starts)
        predicted = [fit.predicted(own) for fit, own in zip(self.fits, found, strict=True)]
        return SmoothGaps(predicted - self.forecast, weights, found)

    def _coefficients(self, weights: PerRow, starts: Sequence[Coefficients]) -> list[Coefficients]:
        """Fit all curves side by side, and each by itself for which that does not do."""
        if self._together is None:
            return [fit.fitted(weights, x) for fit, x in zip(self.fits, starts, strict=True)]
        of_fits = np.array([weights @ x.on_grid if x.has_grid else weights for x in self.fits])
        found = self._together.fitted(of_fits, np.array(starts))
        return [
            own if fit.is_precise(own, nodes) else fit.fitted(weights, start)
            for fit, own, nodes, start in zip(self.fits, found, of_fits, starts, strict=True)
        ]

    @cached_property
    def _together(self) -> BinaryFit | None:
        """The fits of all events at once, on a grid if any; None if some have fewer features."""
        parts = [fit.grid if fit.has_grid else fit for fit in self.fits]
        if len({len(fit.features) for fit in parts}) > 1:
            return None
        outcomes, features = ([getattr(x, y) for x in parts] for y in ("outcome", "features"))
        return BinaryFit(np.array(outcomes), np.array(features))

    def pull_back(self, weights: PerRow, table: SmoothGaps, derivatives: SmoothGaps) -> PerRow:
        gradient = derivatives.weights.copy()
        predicted = self.forecast + table.gaps
        for fit, p, slopes in zip(self.fits, predicted, derivatives.gaps, strict=True):
            gradient += fit.pull_back(weights, p, fit.features @ (slopes * p * (1 - p)))
        return gradient


@dataclass(frozen=True)
class MeanDistance:
    """How far probabilities are from the smooth curves: the mean, or a quantile, over the rows."""

    share: float | None  # of the observations below the quantile

    def __call__(self, table: SmoothGaps, xp: Any) -> float:
        return self.value_and_pull_back(table)[0]

    def value_and_pull_back(self, table: SmoothGaps) -> tuple[float, Callable[[float], SmoothGaps]]:
        """Return the value, and derivatives: of a quantile those of its own observation."""
        distances, total = np.abs(table.gaps), table.weights.sum()
        of_events = np.array([_summary(x, table.weights, self.share) for x in distances])

        def pull_back(derivative: float) -> SmoothGaps:
            slope, rest = derivative / len(of_events), distances - of_events[:, None]
            if self.share is None:
                own, of_weights = table.weights / total, slope / total * rest.sum(axis=0)
            else:
                own, of_weights = np.zeros(rest.shape), np.zeros(rest.shape[1])
                np.put_along_axis(own, np.abs(rest).argmin(axis=1, keepdims=True), 1, axis=1)
            return SmoothGaps(slope * own * np.sign(table.gaps), of_weights, table.coefficients)

        return float(of_events.mean()), pull_back


@once_per_predictions
def _gaps_of_sample(curves: SmoothCurves) -> SmoothGaps:
    unknown = [np.full(len(fit.features), np.nan) for fit in curves.fits]
    return curves.fitted(curves.sample_weight, unknown)


@once_per_predictions
def smooth_curves(predictions: Predictions, pos_label: Hashable) -> SmoothCurves:
    """Bind the smooth curves of the class that is named, or of all."""
    outcome, forecast = events(predictions, pos_label)
    weights = predictions.sample_weight
    fits = tuple(SmoothFit.on(f, y, weights) for f, y in zip(forecast, outcome, strict=True))
    return SmoothCurves(fits, forecast, weights)


def _summary(distances: PerRow, weights: PerRow, share: float | None) -> float:
    """Return the mean of weighted distances, or a quantile: only those of its bin are sorted."""
    largest = distances.max()
    if share is None or not np.isfinite(largest):
        return float(weights @ distances / weights.sum())
    cells = (distances * (_BINS / max(largest, _NOTHING))).astype(int)
    up_to = np.cumsum(np.bincount(cells, weights))
    sought = share * up_to[-1] * (1 - 1e-12)
    cell = np.searchsorted(up_to, sought)
    some = np.flatnonzero((cells == cell) & (weights > 0))
    some = some[np.argsort(distances[some])]
    below = up_to[cell] - weights[some].sum()
    place = np.searchsorted(below + np.cumsum(weights[some]), sought)
    return float(distances[some[min(place, len(some) - 1)]])


def _on_other_sides(
    predictions: Predictions,
    unit_of_row: IntPerRow,
    plain: ValueAndInfluences,
    *,
    pos_label: Hashable,
) -> ValueAndInfluences | None:
    """Return the mean gap of outcome and forecast, on the side where other observations see it.

    The gap of an observation counts as positive where the curve of others is above the forecast. So
    the mean of calibrated forecasts is 0, and that of others the distance, but for the observations
    on whose side the curve is mistaken.
    """
    outcome, forecast = events(predictions, pos_label)
    curves, weights = smooth_curves(predictions, pos_label), predictions.sample_weight
    starts = curves.count(weights, np).coefficients
    if not all(np.isfinite(start).all() for start in starts):
        return None
    folds, gaps = folds_of(predictions, unit_of_row), np.zeros(predictions.n_observations)
    judges, of_others = [np.flatnonzero(fold) for fold in folds], np.where(folds, 0.0, weights)
    for fit, start, y, f in zip(curves.fits, starts, outcome, forecast, strict=True):
        for rows, coefficients in zip(judges, fit.fitted(of_others, start), strict=True):
            if not np.isfinite(coefficients).all():
                return None
            coefficients[1] -= 1  # of the logit of the forecast
            sides = np.sign(coefficients @ fit.features.take(rows, axis=1))
            gaps[rows] += sides * (y - f).take(rows)
    gaps /= folds.mean(axis=1).sum() * len(outcome)
    value = float(weights @ gaps / weights.sum())
    influences = weights * (gaps - value) / weights.sum()
    error = np.sqrt((np.bincount(unit_of_row, influences) ** 2).sum())
    if 0 < error < value / _QUANTILE and not _excludes_calibration(curves, outcome, weights):
        influences *= value / _QUANTILE / error
    return value, influences


def _excludes_calibration(curves: SmoothCurves, outcome: PerEvent, weights: PerRow) -> bool:
    """Whether the likelihood ratio test of all curves, by Bonferroni, excludes calibration.

    The sides that other observations see agree with each other by chance, which their variance
    does not show. So a 95 % interval excludes 0 only if this test excludes calibration.
    """
    scale, p_values, found = weights.sum() / (weights @ weights), [], curves.count(weights, np)
    each = zip(outcome, curves.forecast, found.gaps, found.coefficients, strict=True)
    for y, f, gaps, coefficients in each:
        own, other = (np.log(np.where(y == 1, p, 1 - p)) for p in (f + gaps, f))
        ratio = 2 * scale * (weights @ (own - other))
        p_values.append(chdtrc(len(coefficients), max(ratio, 0.0)))
    return bool(min(p_values) * len(p_values) < _ERROR)


def _distance(title: str, pos_label: Hashable, share: float | None, **attributes: Any) -> Measure:
    return calibration(
        title,
        WithOptions(smooth_curves, pos_label=pos_label),
        MeanDistance(share),
        bounds=UNIT,
        greater_is_better=False,
        obstacle=WithOptions(no_logits, no_events, pos_label),
        undefined=all_the_same,
        **attributes,
    )


@also_called("ici")
@register()
def integrated_calibration_index(pos_label: Any = None) -> Measure:
    """Return the mean distance of the probabilities from a smooth curve of what comes true.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns, against the rest. By default the second of two, or the mean over
        all classes.

    Returns
    -------
    Measure
        In [0, 1]; 0 for calibrated probabilities, and in a sample above, since the curve is fitted
        to the observations that it is compared with. The interval is about the value with curves
        of other observations. The curve is a logistic regression on a restricted cubic spline of
        the logit with knots at its weighted quantiles .1, .5 and .9.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, or to a probability of 0 or 1.

    References
    ----------
    Austin and Steyerberg (2019), The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models; Harrell (2015), Regression modeling
    strategies, section 2.4.5, on the spline.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.05, 0.95, size=500)
    >>> y = (rng.random(500) < p**2).astype(int)
    >>> round(integrated_calibration_index()(y, p), 3)
    0.172
    """
    interval = IntervalProperties(cross_fit=WithOptions(_on_other_sides, pos_label=pos_label))
    title = "Integrated calibration index"
    return _distance(title, pos_label, None, is_smooth=False, interval=interval)


def _never_reaches_zero(predictions: Predictions) -> str:
    return (
        "A quantile of distances from a fitted curve is biased upwards, and no interval of it "
        "reaches 0, the value of calibrated probabilities. integrated_calibration_index has an "
        "interval that accounts for this."
    )


def _quantile(what: str, share: float, pos_label: Hashable) -> Measure:
    return _distance(f"Calibration error, {what}", pos_label, share, caveats=(_never_reaches_zero,))


@register()
def e50(pos_label: Any = None) -> Measure:
    """Return the median distance of the probabilities from the smooth calibration curve.

    Parameters
    ----------
    pos_label : hashable, optional
        As for `integrated_calibration_index`.

    Returns
    -------
    Measure
        In [0, 1]; 0 for calibrated probabilities, and in a sample above, for which its
        interval does not account; a warning says so.

    Raises
    ------
    ValueError
        As for `integrated_calibration_index`.

    References
    ----------
    Austin and Steyerberg (2019), The Integrated Calibration Index (ICI) and related metrics.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     round(e50()((np.arange(200) % 3 == 0).astype(int), p), 3)
    0.233
    """
    return _quantile("median", 0.5, pos_label)


@register()
def e90(pos_label: Any = None) -> Measure:
    """Return the 90 % quantile of the distances from the smooth calibration curve.

    Parameters
    ----------
    pos_label : hashable, optional
        As for `integrated_calibration_index`.

    Returns
    -------
    Measure
        As for `e50`.

    Raises
    ------
    ValueError
        As for `integrated_calibration_index`.

    References
    ----------
    Austin and Steyerberg (2019), The Integrated Calibration Index (ICI) and related metrics.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     round(e90()((np.arange(200) % 3 == 0).astype(int), p), 3)
    0.526
    """
    return _quantile("90 % quantile", 0.9, pos_label)


@register()
def emax(pos_label: Any = None) -> Measure:
    """Return the largest distance of a probability from the smooth calibration curve.

    Parameters
    ----------
    pos_label : hashable, optional
        As for `integrated_calibration_index`.

    Returns
    -------
    Measure
        As for `e50`.

    Raises
    ------
    ValueError
        As for `integrated_calibration_index`.

    References
    ----------
    Austin and Steyerberg (2019), The Integrated Calibration Index (ICI) and related metrics.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     round(emax()((np.arange(200) % 3 == 0).astype(int), p), 3)
    0.611
    """
    return _quantile("maximum", 1.0, pos_label)
