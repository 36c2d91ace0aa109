"""Confidence band of the multiclass ROC curve, at each point or around the whole curve.

The true positive rate at a given false positive rate is uncertain for two reasons: the true
positive rate at a threshold is, and so is the threshold that has this false positive rate. Both
parts are read off the intervals of the curve's own points. The textbook way instead needs the
slope of the curve, which few observations show so badly that intervals at small false positive
rates cover 60 % instead of 95 %.

A band around the whole curve is the pointwise one of a higher level: that at which the largest of
the errors at all thresholds, which are about jointly normal, stays within the band.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, stdtrit

from dmfroc._kit.arrays import PerPresentClass, PerRow, PerThreshold
from dmfroc._kit.options import choice
from dmfroc._kit.threads import parallel_map
from dmfroc.inference.evidence import joint_covariance
from dmfroc.inference.influences import NO_VARIATION, Moments, moments_of
from dmfroc.inference.replicates import draw_weights
from dmfroc.inference.simultaneous import largest_statistic
from dmfroc.inference.units import Sample, Units, Weights
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import Summary, values_and_influences
from dmfroc.multiclass.costs import PairsOfClasses
from dmfroc.multiclass.curve import MulticlassROC, Rates, rates_at_thresholds
from dmfroc.multiclass.rates import CurveOptions, RateCounts
from dmfroc.results.result import AttributeTables

PerPoint = Float[np.ndarray, " m"]
"""One number for each point of a band."""

BothRates = Float[np.ndarray, "2 t"]
"""The false (row 0) and true (row 1) positive rates at the thresholds of a curve."""

BandKind = Literal["pointwise", "simultaneous"]

GRID: PerPoint = np.insert((1 - np.cos(np.linspace(0, np.pi, 101))) / 2, -1, np.nextafter(1, 0))
"""False positive rates from 0 to 1, denser at both ends, also next to 1: curves end vertically."""

_DRAWS = 1000
_DRAWS_AT_ONCE = 64
_FEW_EVENTS = 5
_ROUNDING = 1e-10  # of standard errors that are zero in exact arithmetic
_SEED = 0  # of draws so many that others hardly matter


@dataclass(frozen=True, eq=False, repr=False)
class CurveBand(AttributeTables):
    """Confidence intervals of the true positive rate, one for each false positive rate.

    Attributes
    ----------
    fpr : numpy.ndarray of shape (m,)
        False positive rates from 0 to 1, denser at both ends, where curves are steep or flat.
    tpr : numpy.ndarray of shape (m,)
        The curve: true positive rates from 0 to 1; under chance equal to ``fpr``.
    low, high : numpy.ndarray of shape (m,)
        Ends of the intervals: non-decreasing, in [0, 1], on either side of the curve. Both are 1 at
        1, where every curve ends, but ``low`` only there, and ``high`` does not fall to (0, 0):
        curves may start and end vertically. (By bootstraps: quantiles of drawn curves.)
    level : float
        Nominal coverage of each interval by itself, or of all of them if they are simultaneous.
    method : str
        How the intervals were obtained.
    kind : {"pointwise", "simultaneous"}
        Of what the level is the coverage: of each interval, or of the whole curve.
    """

    fpr: PerPoint
    tpr: PerPoint
    low: PerPoint
    high: PerPoint
    level: float
    method: str
    kind: BandKind = "pointwise"


def bootstrap_band(
    curve: MulticlassROC, sample: Sample, level: float, options: CurveOptions, kind: BandKind
) -> CurveBand:
    """Return the band between quantiles of the curves of resampled observations.

    It does not account for what a small sample cannot show: at the corners, and for near-perfect
    classifiers, it is too narrow.
    """
    predictions, units = sample
    statistic, summary = _rates_and_summary(options, predictions)

    def rates(weights: PerRow) -> BothRates:
        table = statistic.count(weights * predictions.sample_weight, np)
        return summary(table, np)

    def drawn() -> Iterator[BothRates]:
        for first in range(0, _DRAWS, _DRAWS_AT_ONCE):
            draws = range(first, min(first + _DRAWS_AT_ONCE, _DRAWS))
            weights = draw_weights(predictions, units, draws, _SEED, bayesian=False)
            yield from parallel_map(rates, list(weights), "bootstrap")

    return band_of_draws(curve, drawn(), level, "bootstrap", kind)


def band_of_draws(
    curve: MulticlassROC,
    drawn: Iterable[BothRates],
    level: float,
    method: str,
    kind: BandKind = "pointwise",
) -> CurveBand:
    """Return the band between quantiles of drawn false (row 0) and true (row 1) positive rates."""
    fpr = GRID
    padded = (np.pad(rates, [(0, 0), (1, 1)], constant_values=(0, 1)) for rates in drawn)
    tpr = np.array([np.interp(fpr, *np.maximum.accumulate(x, axis=1)) for x in padded])
    tails = (1 - level) / 2
    if kind == "simultaneous":
        from scipy.stats import rankdata  # importing it takes long

        # The share of draws that are beyond each curve where it is most extreme
        rank = np.minimum(rankdata(tpr, "max", axis=0), rankdata(-tpr, "max", axis=0))
        tails = np.quantile(rank[:, 1:-2].min(axis=1), 1 - level) / len(tpr) / 2
    low, high = np.quantile(tpr, [tails, 1 - tails], axis=0)
    return CurveBand(
        fpr=fpr,
        tpr=np.interp(fpr, curve.fpr, curve.tpr),
        low=low,
        high=high,
        level=level,
        method=method,
        kind=kind,
    )


def band_around(
    curve: MulticlassROC,
    sample: Sample,
    level: float,
    options: CurveOptions,
    kind: BandKind = "pointwise",
) -> CurveBand:
    """Return the band of a curve that is at hand, computed with the same options.

    Both rates get the interval of a proportion at every threshold, by Wilson's method from the
    variance of the infinitesimal jackknife. Of fewer than five cases the limit is Clopper and
    Pearson's. Zou and Donner's method makes of the two an interval of the true positive rate at a
    given false positive rate. No rate is taken to be known better than by the rule of three: of a
    class of m observations without an error, 3/m may yet be misjudged. The width thus depends on
    the number of observations also for a perfect classifier.

    With ``kind="simultaneous"`` the whole curve lies within the band in that share of all samples,
    and the band is about half as wide again.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference,
    doi:10.1080/01621459.1927.10502953; Zou and Donner (2008), Construction of confidence limits
    about effect measures: a general approach, doi:10.1002/sim.3095; Hanley and Lippman-Hand (1983),
    If nothing goes wrong, is everything all right?, doi:10.1001/jama.1983.03330370053031; Hothorn,
    Bretz and Westfall (2008), Simultaneous inference in general parametric models,
    doi:10.1002/bimj.200810425.
    """
    predictions, units = sample
    statistic, summary = _rates_and_summary(options, predictions)
    values, influences = values_and_influences(statistic, summary, predictions.sample_weight)
    shares = class_shares(statistic.counted, statistic.cell_weights, len(predictions.present))
    if units.weights is not None:
        influences, units = _with_target(influences, units, units.weights)
    return band_from_rates(curve, CurveRates(values, influences, shares, units), level, kind)


def band_from_rates(
    curve: MulticlassROC, rates: CurveRates, level: float, kind: BandKind = "pointwise"
) -> CurveBand:
    """Return the band of a curve from its rates and the influences on them."""
    interior = GRID[1:-1]
    tpr = np.interp(interior, curve.fpr, curve.tpr)
    points = _points(rates, level)
    if kind == "simultaneous":
        points = _points(rates, _level_of_each(rates, points, level))
    below, above = _distances(interior, tpr, points)
    low, high = _widened_to_monotone(np.maximum(tpr - below, 0), np.minimum(tpr + above, 1))
    return CurveBand(
        fpr=GRID,
        tpr=np.concatenate([[0], tpr, [1]]),
        low=np.concatenate([[0], low, [1]]),
        high=np.concatenate([high[:1], high, [1]]),
        level=level,
        method="jackknife",
        kind=kind,
    )


def check_kind(name: str, kind: Any) -> None:
    """Refuse what is no kind of band."""
    choice(name, kind, get_args(BandKind))


class CurveRates(NamedTuple):
    """The false (0) and true (1) positive rates at the thresholds, and who has a share in them."""

    values: BothRates
    influences: Float[np.ndarray, "2 t n"]
    class_shares: Float[np.ndarray, "2 c"]
    units: Units


def _rates_and_summary(
    options: CurveOptions, predictions: Predictions
) -> tuple[RateCounts, Summary]:
    statistic = options(predictions)
    if statistic.is_sample:
        raise ValueError("a band of the curve needs all pairs of classes: leave n_pairs out")
    return statistic, rates_at_thresholds(options.rank if len(predictions.present) > 2 else 1)


def _with_target(
    influences: Float[np.ndarray, "2 t n"], units: Units, weights: Weights
) -> tuple[Float[np.ndarray, "2 t total"], Units]:
    """Return influences also through estimated weights; the target's rows are a stratum more."""
    if units.sizes_are_random:
        units = units.in_one_stratum  # the class sizes move the weights too
    influences_of_rows, influences_of_target = weights.through(influences)
    influences_of_rows -= influences_of_rows.mean(axis=-1, keepdims=True)  # which correlations need
    n_units, n_target = len(units.stratum), influences_of_target.shape[-1]
    if n_target == 0:
        return influences_of_rows, units
    influences_of_target -= influences_of_target.mean(axis=-1, keepdims=True)
    joined = replace(
        units,
        unit_of_row=np.append(units.unit_of_row, n_units + np.arange(n_target)),
        stratum=np.append(units.stratum, np.full(n_target, len(units.sizes))),
        sizes=np.append(units.sizes, n_target),
    )
    return np.concatenate([influences_of_rows, influences_of_target], axis=-1), joined


class _Points(NamedTuple):
    """The points of a curve from (0, 0) to (1, 1), each rate with its interval."""

    fpr: Rates
    fpr_low: Rates
    fpr_high: Rates
    tpr: Rates
    tpr_low: Rates
    tpr_high: Rates
    correlation: Rates  # of the two rates at a threshold


def _points(rates: CurveRates, level: float) -> _Points:
    """Return the curve's points with their jackknife intervals."""
    (fpr_low, fpr_high), (tpr_low, tpr_high) = (
        rate_intervals(values, influences, shares, rates.units, level)
        for values, influences, shares in zip(*rates[:3], strict=True)
    )
    fpr, tpr, fpr_low, fpr_high = (
        np.concatenate([[0], rate, [1]]) for rate in (*rates.values, fpr_low, fpr_high)
    )
    return _Points(
        fpr=fpr,
        fpr_low=fpr_low,
        fpr_high=fpr_high,
        tpr=tpr,
        # Beyond the outermost thresholds nothing is known but that the curve is monotone.
        tpr_low=np.concatenate([[0], tpr_low, tpr_low[-1:]]),
        tpr_high=np.concatenate([tpr_high[:1], tpr_high, [1]]),
        correlation=np.pad(_correlation(*rates.influences), 1, mode="edge"),
    )


def _level_of_each(rates: CurveRates, points: _Points, level: float) -> float:
    """Return the level that intervals need to hold at all thresholds in ``level`` of all samples.

    The error at a false positive rate is that of the true positive rate at its threshold, less the
    error of the other rate times the slope of the curve. Here it is the slope of the chord above
    its interval.
    """
    low, high = points.fpr_low[1:-1], points.fpr_high[1:-1]
    rise = np.interp(high, points.fpr, points.tpr) - np.interp(low, points.fpr, points.tpr)
    of_fpr, of_tpr = rates.influences
    errors = of_tpr - (rise / (high - low))[:, None] * of_fpr
    units = rates.units
    sums = np.stack([units.sums(influence)[units.by_stratum] for influence in errors])
    covariance = joint_covariance(sums, units)
    varying = np.eye(len(sums))[np.sqrt(covariance.diagonal()) > _ROUNDING]
    return largest_statistic(covariance, varying, _SEED).level_of_each(level)


def class_shares(
    counted: PairsOfClasses, cell_weights: Float[np.ndarray, "q 2 1"], n_classes: int
) -> Float[np.ndarray, "2 c"]:
    """Return each class's share in the curve's false (row 0) and true (row 1) positive rates."""
    shares = [
        np.bincount(counted[..., i].ravel(), cell_weights[:, i, 0], n_classes) for i in (1, 0)
    ]
    return np.stack([share / share.sum() for share in shares])


def rate_intervals(
    rates: PerThreshold,
    influences: Iterable[PerRow],
    shares: PerPresentClass,
    units: Units,
    level: float,
) -> tuple[PerThreshold, PerThreshold]:
    """Return the lower and upper ends of the intervals of rates that do not fall.

    Wilson's interval of a proportion, of as many observations as give it the same variance: on
    the logit scale one error of many would reach further than ten. The quantile is that without
    kurtosis, as the influences of rare events look heavy-tailed.
    """
    counted = shares > 0
    n_effective = units.effective_sizes[counted]
    # Where the strata are not the classes, or weights are estimated, all of them count.
    are_classes = units.weights is None and len(units.sizes) == len(counted)
    strata = counted if are_classes else np.ones(len(units.sizes), bool)
    sizes = units.sizes[strata]
    # The rate that may go unseen is that of the class that hides the largest part of it
    unseen = float((shares[counted] * (1 - (1 - level) ** (1 / n_effective))).max())
    low, high = np.empty_like(rates), np.empty_like(rates)
    for t, (rate, influence) in enumerate(zip(rates, influences, strict=True)):
        variances = moments_of(influence, units).variances[strata]
        scale, freedom = Moments(sizes, variances, np.zeros(len(sizes))).spread
        if min(scale, rate, 1 - rate) <= NO_VARIATION:
            low[t], high[t] = (1 - unseen) * rate, (1 - unseen) * rate + unseen
        else:
            n = rate * (1 - rate) / scale**2
            ends = _wilson(rate, n, -stdtrit(freedom, (1 - level) / 2))
            exact = [_exact_lower(x * n, n, level) for x in (rate, 1 - rate)]
            low[t] = min(ends[0], 1 - unseen, exact[0])
            high[t] = max(ends[1], unseen, 1 - exact[1])
    return _widened_to_monotone(low, high)


def _wilson(proportion: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the interval of a proportion of n observations (Wilson 1927)."""
    squared = quantile**2 / n
    centre = (proportion + squared / 2) / (1 + squared)
    distance = np.sqrt(squared * (proportion * (1 - proportion) + squared / 4)) / (1 + squared)
    return centre - distance, centre + distance


def _exact_lower(events: float, n: float, level: float) -> float:
    """Return Clopper and Pearson's lower limit for few events; 1 for others.

    Wilson's limit for one event in n is .18/n at 95 %, which one sample in six exceeds.
    """
    few = events < _FEW_EVENTS
    return float(betaincinv(events, n - events + 1, (1 - level) / 2)) if few else 1.0


def _correlation(a: Float[np.ndarray, "t n"], b: Float[np.ndarray, "t n"]) -> PerThreshold:
    """Return the correlations of estimates with these influences, 0 where one does not vary.

    Influences add up to zero within each class, so that no mean has to be subtracted.
    """
    aa, bb, ab = (np.einsum("tn,tn->t", x, y) for x, y in ((a, a), (b, b), (a, b)))
    varies = np.minimum(aa, bb) > _ROUNDING**2
    return np.where(varies, ab / np.sqrt(np.where(varies, aa * bb, 1)), 0)


def _widened_to_monotone(low: PerPoint, high: PerPoint) -> tuple[PerPoint, PerPoint]:
    """Make both ends non-decreasing, as every curve is; no interval becomes narrower."""
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def _distances(fpr: PerPoint, tpr: PerPoint, points: _Points) -> tuple[PerPoint, PerPoint]:
    """Return how far the interval of the true positive rate extends below and above the curve.

    The curve of two classes has more points than there are thresholds with intervals. Between two
    of these it may rise at once, so that distances are those from the curve itself.
    """
    correlation = np.interp(fpr, points.fpr, points.correlation)

    def combine(at_threshold: PerPoint, of_threshold: PerPoint) -> PerPoint:
        at_threshold, of_threshold = np.maximum(at_threshold, 0), np.maximum(of_threshold, 0)
        squared = at_threshold**2 + of_threshold**2 - 2 * correlation * at_threshold * of_threshold
        return np.sqrt(np.maximum(squared, 0))

    # With higher false positive rates the curve lies further to the right, that is lower.
    below = combine(
        tpr - np.interp(fpr, points.fpr, points.tpr_low),
        tpr - np.interp(fpr, points.fpr_high, points.tpr),
    )
    above = combine(
        np.interp(fpr, points.fpr, points.tpr_high) - tpr,
        np.interp(fpr, points.fpr_low, points.tpr) - tpr,
    )
    return below, above
