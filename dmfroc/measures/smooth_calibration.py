"""Distances of probabilities from a smooth curve of how often they come true.

The curve is a logistic regression of the outcome on a restricted cubic spline of the logit, with
three knots.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import chdtrc

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.calibration import all_the_same, calibration, events, no_events, no_logits
from dmfroc.measures.cross_fitting import folds_of
from dmfroc.measures.measure import (
    UNIT,
    IntervalProperties,
    Measure,
    ValueAndInfluences,
    WithOptions,
)
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.recalibration import BinaryFit
from dmfroc.measures.statistics.statistic import Statistic, Sums, once_per_predictions

_SHARES = (0.5, 0.9, 1.0)  # of the observations below each quantile
_ERROR, _QUANTILE = 0.05, 1.96  # of the test that excludes calibration
_KNOTS = (0.1, 0.5, 0.9)  # Harrell's quantiles for three knots
_NODES = 512  # of a grid
_PER_NODE = 16  # observations from which on a grid saves time
_LARGEST_STEP = 0.1  # of a linear predictor on a grid: each logarithm is precise to 3e-7
# Row k has the coefficients of t^k in the cubic polynomials that are 1 at one of -1, 0, 1, 2.
_CUBIC = np.linalg.inv(np.vander([-1.0, 0, 1, 2], increasing=True))


def spline_features(logit: PerRow, knots: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "m n"]:
    """Return 1, the logit and, if the knots differ, a cubic term that is linear beyond them."""
    low, middle, high = knots
    if not low < middle < high:
        return np.stack([np.ones_like(logit), logit])

    def cube(knot: float) -> PerRow:
        above = np.maximum(logit - knot, 0)
        return above * above * above

    bend = cube(low) + (cube(high) * (middle - low) - cube(middle) * (high - low)) / (high - middle)
    return np.stack([np.ones_like(logit), logit, bend / (high - low) ** 2])


@dataclass(frozen=True, eq=False)
class SmoothFit(BinaryFit):
    """The smooth curve of one event, fitted on a grid of logits where observations are many."""

    knots: Float[np.ndarray, " 3"]

    @classmethod
    def on(cls, forecast: PerRow, outcome: PerRow) -> SmoothFit:
        """Bind the smooth curve of one event."""
        logit = np.log(forecast / (1 - forecast))
        knots = np.quantile(logit, _KNOTS)
        return cls(outcome, spline_features(logit, knots), knots)

    def fitted(
        self,
        weights: Float[np.ndarray, "*sets n"],
        start: Float[np.ndarray, " q"] | None = None,
        folds: Bool[np.ndarray, "folds n"] | None = None,
    ) -> Float[np.ndarray, "*sets_or_folds q"]:
        """Return the coefficients as `BinaryFit` does, or without the rows of each fold."""
        if weights.shape[-1] >= _NODES * _PER_NODE:
            of_nodes = self._weights_on_grid(weights)
            if folds is not None:
                of_folds = [self._weights_on_grid(weights, np.flatnonzero(x)) for x in folds]
                of_nodes = of_nodes - np.array(of_folds)
            coefficients = self._grid.fitted(of_nodes, start)
            predictors = (coefficients @ self._grid.features)[..., :_NODES]
            if np.abs(np.diff(predictors)).max() <= _LARGEST_STEP:  # false for NaN
                return coefficients
        return super().fitted(weights if folds is None else np.where(folds, 0.0, weights), start)

    @cached_property
    def _grid(self) -> BinaryFit:
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
    def _cells(self) -> tuple[IntPerRow, PerRow]:
        """The cell of each observation, those of events last, and its place in the cell."""
        first, second = self._nodes[1:3]
        place = (self.features[1] - first) / (second - first)
        cell = np.minimum(place.astype(np.int32), _NODES - 4)
        return cell + np.where(self.outcome == 1, _NODES, 0), place - cell

    def _weights_on_grid(
        self, weights: Float[np.ndarray, "*sets n"], rows: Int[np.ndarray, " _"] | None = None
    ) -> Float[np.ndarray, "*sets nodes"]:
        """Return the weights of nodes that give cubic functions the sums of the observations."""
        if weights.ndim > 1:
            return np.array([self._weights_on_grid(of_set) for of_set in weights])
        (cells, place), moments = self._cells, []
        if rows is not None:
            cells, place, weights = (x.take(rows) for x in (cells, place, weights))
        for _ in _CUBIC:
            moments.append(np.bincount(cells, weights, 2 * _NODES))
            weights = weights * place
        on_grid, *others = _CUBIC.T @ moments
        for shift, of_nodes in enumerate(others, 1):
            on_grid[shift:] += of_nodes[:-shift]
        return on_grid


class Gap(NamedTuple):
    """The smooth curve of one event, what it adds to the forecasts, and how far it is from them."""

    predicted: PerRow
    gaps: PerRow
    coefficients: Float[np.ndarray, " q"]
    summaries: Float[np.ndarray, " m"]


@dataclass(frozen=True, eq=False)
class SmoothCurves(Statistic):
    """The smooth curves of the events of some predictions, and how far probabilities are from them.

    Its table has the means over the events of the mean distance and of its quantiles.
    """

    fits: tuple[SmoothFit, ...]
    forecast: Float[np.ndarray, "events n"]
    sample_weight: PerRow

    is_compiled: ClassVar[bool] = False

    def gaps(self, weights: PerRow) -> list[Gap]:
        """Fit the curves; those of the sample's own weights are fitted once."""
        if weights is self.sample_weight:
            return _gaps_of_sample(self)
        return self.fitted(weights, [gap.coefficients for gap in _gaps_of_sample(self)])

    def fitted(
        self, weights: PerRow, starts: Sequence[Float[np.ndarray, " q"] | None]
    ) -> list[Gap]:
        """Fit the curves to weighted observations."""
        gaps = []
        for fit, forecast, start in zip(self.fits, self.forecast, starts, strict=True):
            is_fitted = start is not None and np.isfinite(start).all()
            coefficients = fit.fitted(weights, start if is_fitted else None)
            predicted = fit.predicted(coefficients)
            gap = predicted - forecast
            gaps.append(Gap(predicted, gap, coefficients, _summaries(gap, weights)))
        return gaps

    def count(self, weights: PerRow, xp: Any) -> Sums:
        return Sums(np.mean([gap.summaries for gap in self.gaps(weights)], axis=0))

    def pull_back(self, weights: PerRow, table: Sums, derivatives: Sums) -> PerRow:
        """Return the derivatives of the mean; a quantile's are those of its own observation."""
        fits, share = self.fits, weights / weights.sum()
        of_mean, *of_quantiles = derivatives.values / len(fits)
        gradient = np.zeros(len(weights))
        for fit, gap in zip(fits, self.gaps(weights), strict=True):
            p, distances = gap.predicted, np.abs(gap.gaps)
            gradient += of_mean / weights.sum() * (distances - share @ distances)
            slopes = of_mean * share * np.sign(gap.gaps)
            if any(of_quantiles):
                for derivative, quantile in zip(of_quantiles, gap.summaries[1:], strict=True):
                    place = np.abs(distances - quantile).argmin()
                    slopes[place] += derivative * np.sign(gap.gaps[place])
            slopes *= p * (1 - p)
            gradient += fit.pull_back(weights, p, fit.features @ slopes)
        return gradient


@once_per_predictions
def _gaps_of_sample(curves: SmoothCurves) -> list[Gap]:
    return curves.fitted(curves.sample_weight, [None] * len(curves.fits))


@once_per_predictions
def smooth_curves(predictions: Predictions, pos_label: Hashable) -> SmoothCurves:
    """Bind the smooth curves of the class that is named, or of all."""
    outcome, forecast = events(predictions, pos_label)
    fits = tuple(SmoothFit.on(f, y) for f, y in zip(forecast, outcome, strict=True))
    return SmoothCurves(fits, forecast, predictions.sample_weight)


def _summaries(gaps: PerRow, weights: PerRow) -> Float[np.ndarray, " m"]:
    """Return the mean of the distances, and their quantiles."""
    counted = np.flatnonzero(weights)
    distances, weights = np.abs(gaps.take(counted)), weights.take(counted)
    mean = weights @ distances / weights.sum()
    if np.ptp(weights) == 0:
        places = np.ceil(np.array(_SHARES) * len(weights) * (1 - 1e-12)).astype(int) - 1
        return np.append(mean, np.partition(distances, places)[places])
    order = np.argsort(distances)
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.array(_SHARES) * below[-1] * (1 - 1e-12))
    return np.append(mean, distances[order[np.minimum(places, len(below) - 1)]])


def _one_of(table: Sums, xp: Any, place: int) -> Any:
    return (table.values * np.eye(len(_SHARES) + 1)[place]).sum()


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
    starts = [gap.coefficients for gap in curves.gaps(weights)]
    if not all(np.isfinite(start).all() for start in starts):
        return None
    folds, gaps = folds_of(predictions, unit_of_row), np.zeros(predictions.n_observations)
    judges = [np.flatnonzero(fold) for fold in folds]
    for fit, start, y, f in zip(curves.fits, starts, outcome, forecast, strict=True):
        for rows, coefficients in zip(judges, fit.fitted(weights, start, folds), strict=True):
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


def _excludes_calibration(
    curves: SmoothCurves, outcome: Float[np.ndarray, "events n"], weights: PerRow
) -> bool:
    """Whether the likelihood ratio test of all curves, by Bonferroni, excludes calibration.

    The sides that other observations see agree with each other by chance, which their variance
    does not show. So a 95 % interval excludes 0 only if this test excludes calibration.
    """
    scale, p_values = weights.sum() / (weights @ weights), []
    for y, f, gap in zip(outcome, curves.forecast, curves.gaps(weights), strict=True):
        own, other = (np.log(np.where(y == 1, p, 1 - p)) for p in (gap.predicted, f))
        ratio = 2 * scale * (weights @ (own - other))
        p_values.append(chdtrc(len(gap.coefficients), max(ratio, 0.0)))
    return bool(min(p_values) * len(p_values) < _ERROR)


def _distance(title: str, pos_label: Hashable, place: int, **attributes: Any) -> Measure:
    return calibration(
        title,
        WithOptions(smooth_curves, pos_label=pos_label),
        WithOptions(_one_of, place=place),
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
        the logit with knots at the quantiles .1, .5 and .9.

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
    return _distance(title, pos_label, 0, is_smooth=False, interval=interval)


def _never_reaches_zero(predictions: Predictions) -> str:
    return (
        "A quantile of distances from a fitted curve is biased upwards, and no interval of it "
        "reaches 0, the value of calibrated probabilities. integrated_calibration_index has an "
        "interval that accounts for this."
    )


def _quantile(what: str, share: float, pos_label: Hashable) -> Measure:
    title, place = f"Calibration error, {what}", 1 + _SHARES.index(share)
    return _distance(title, pos_label, place, caveats=(_never_reaches_zero,))


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
