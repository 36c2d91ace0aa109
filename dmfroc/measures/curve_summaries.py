"""Summaries of the curves of one class against the rest: areas, a maximum, a hull, Hand's H.

Each takes true and false positives above each threshold, from none to all, with the points on the
last axis, and returns one number for each curve. Points may be repeated: steps of no length add
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, after, before, constant, divide, last, take
from dmfroc.measures.hull import upper_hulls
from dmfroc.measures.statistics.curves import CurvePoints

# Closer to 0 than this, log1p(z)/z and what follows from it come from their series.
_SMALL = 4e-3
_NEAR_END = -1 + 1e-6
_ROUNDING = 1e-9  # of a rate
_ROUNDING_OF_SUMS = 1e-12  # relative


class _Steps(NamedTuple):
    """The weights above two neighbouring thresholds, and of all positives and negatives."""

    tp: Any
    tp_end: Any
    fp: Any
    fp_end: Any
    positives: Any
    negatives: Any

    @property
    def rise(self) -> Any:
        return self.tp_end - self.tp

    @property
    def width(self) -> Any:
        return self.fp_end - self.fp


def _steps(points: CurvePoints) -> _Steps:
    tp, fp = points.tp, points.fp
    return _Steps(before(tp), after(tp), before(fp), after(fp), last(tp), last(fp))


def _total(parts: Float[AnyArray, "*curves steps"], divisor: Any = 1.0) -> Any:
    """Add up what the steps contribute, then divide: whole numbers have exact sums."""
    return (parts.sum(-1, keepdims=True) / divisor)[..., 0]


def roc_area(points: CurvePoints, xp: Any, ties: float = 0.5) -> Any:
    """Area under the true over the false positive rate; ties count 0, 1/2 or 1."""
    steps = _steps(points)
    return _total((steps.tp + ties * steps.rise) * steps.width, steps.positives * steps.negatives)


def gini(points: CurvePoints, xp: Any) -> Any:
    """Twice the area under the ROC curve, less one."""
    return 2 * roc_area(points, xp) - 1


def lift_area(points: CurvePoints, xp: Any, ties: float = 0.5) -> Any:
    """Area under the true positive over the predicted positive rate."""
    steps = _steps(points)
    heights, widths = steps.tp + ties * steps.rise, steps.width + steps.rise
    return _total(heights * widths, steps.positives * (steps.negatives + steps.positives))


def partial_area(points: CurvePoints, xp: Any, max_fpr: float) -> Any:
    """McClish's standardised area up to a false positive rate."""
    steps = _steps(points)
    left, width = max_fpr * steps.negatives - steps.fp, steps.width
    inside = xp.where(left <= 0, 0.0, xp.where(left > width, width, left))
    # Two steps that meet at the limit, but for rounding, have half of the derivative each: between
    # them the curve may rise. `clip` would share it out to steps of no width, too.
    for end in (0.0, width):
        meets = (width > 0) & (xp.abs(left - end) <= _ROUNDING_OF_SUMS * steps.negatives)
        inside = xp.where(meets, (left + end) / 2, inside)
    heights = steps.tp + steps.rise * divide(inside, width, xp) / 2
    area, chance = _total(inside * heights, steps.positives * steps.negatives), max_fpr**2 / 2
    return 1 / 2 + (area - chance) / (2 * (max_fpr - chance))


def _mean_ratio(top: Any, top_end: Any, start: Any, end: Any, xp: Any) -> Any:
    """Return the mean, from start to end of a step, of a ratio whose two terms are linear.

    Where the divisor starts at 0 the numerator must do so too: the ratio is constant.
    """
    from_origin = start == 0
    inverse = 1 / xp.where(from_origin, 1.0, start)
    z = (end - start) * inverse
    is_small = xp.abs(z) < _SMALL
    large, small = xp.where(is_small, 1.0, z), xp.where(is_small, z, 0.0)
    # The means over u in [0, 1] of 1/(1 + uz) and of u/(1 + uz). The series does not use Horner's
    # rule: XLA takes many seconds to compile its long chain.
    square = small * small
    series = (1 / 2 - small / 3) + square * (1 / 4 - small / 5)
    series = series + square * square * (1 / 6 - small / 7 + square / 8)
    # Near z = -1, where a heavy class ends, the ratio of the ends has the digits that z lacks
    is_near_end = large < _NEAR_END
    logarithm = xp.where(
        is_near_end,
        xp.log(xp.where(is_near_end, end * inverse, 1.0)),
        xp.log1p(xp.where(is_near_end, 0.0, large)),
    )
    mean = logarithm / large
    linear = xp.where(is_small, series, (1 - mean) / large)
    mean = xp.where(is_small, 1 - small * series, mean)
    ratio = (top * mean + (top_end - top) * linear) * inverse
    return xp.where(from_origin, divide(top_end, end, xp), ratio)


def _mean_of_ends(top: Any, top_end: Any, start: Any, end: Any, xp: Any) -> Any:
    """Return the mean of the ratios at the start and at the end of a step."""
    return (divide(top, start, xp) + divide(top_end, end, xp)) / 2


def _at_end(top: Any, top_end: Any, start: Any, end: Any, xp: Any) -> Any:
    """Return the ratio at the end of a step."""
    return divide(top_end, end, xp)


def kappa_area(points: CurvePoints, xp: Any, method: str = "exact", kappa: str = "cohen") -> Any:
    """Area under Cohen's kappa or Scott's pi over the false positive rate.

    Exact, it follows the interpolated ROC curve; by trapezoids, the points of kappa are joined.
    """
    under = _under_kappa if kappa == "cohen" else _under_scott
    if method == "exact":
        return under(points, xp, _mean_ratio)
    return under(points, xp, _mean_of_ends)


def _under_kappa(points: CurvePoints, xp: Any, ratio: Callable[..., Any]) -> Any:
    steps = _steps(points)
    totals = steps.positives, steps.negatives
    top, start = kappa_terms(steps.tp, steps.fp, *totals)
    top_end, end = kappa_terms(steps.tp_end, steps.fp_end, *totals)
    return _total(ratio(top, top_end, start, end, xp) * steps.width, steps.negatives)


def kappa_terms(tp: Any, fp: Any, positives: Any, negatives: Any) -> tuple[Any, Any]:
    """Return what Cohen's kappa is the ratio of, when so many are predicted positive."""
    # Of the margins' products, without differences of sums that a heavy class would dominate
    rejected = (positives - tp) + (negatives - fp)
    return 2 * (tp * negatives - fp * positives), positives * rejected + (tp + fp) * negatives


def _under_scott(points: CurvePoints, xp: Any, ratio: Callable[..., Any]) -> Any:
    """Integrate 1 - e / 2m(1 - m), as two ratios: errors e, and m the mean of both margins."""
    steps = _steps(points)
    positives, negatives = steps.positives, steps.negatives
    ends = ((steps.tp, steps.fp), (steps.tp_end, steps.fp_end))
    errors, errors_end = (positives - tp + fp for tp, fp in ends)
    margin, margin_end = (positives + tp + fp for tp, fp in ends)
    rest, rest_end = ((positives - tp) + (negatives - fp) + negatives for tp, fp in ends)
    lost = ratio(errors, errors_end, margin, margin_end, xp) + ratio(
        errors, errors_end, rest, rest_end, xp
    )
    return _total((1 - lost) * steps.width, steps.negatives)


def max_informedness(points: CurvePoints, xp: Any) -> Any:
    """Largest difference of true and false positive rate (Youden's J)."""
    gaps = points.tp / last(points.tp) - points.fp / last(points.fp)
    known = constant(gaps, xp)
    # Thresholds that are all the best, but for rounding, have equal parts of the derivative
    is_best = known >= known.max(axis=-1, keepdims=True) - _ROUNDING_OF_SUMS
    return xp.sum(xp.where(is_best, gaps, 0.0), axis=-1) / is_best.sum(axis=-1)


def _under_precision(points: CurvePoints, xp: Any, ratio: Callable[..., Any]) -> Any:
    steps = _steps(points)
    predicted, predicted_end = steps.tp + steps.fp, steps.tp_end + steps.fp_end
    heights = ratio(steps.tp, steps.tp_end, predicted, predicted_end, xp)
    return _total(heights * steps.rise, steps.positives)


def precision_recall_area(points: CurvePoints, xp: Any) -> Any:
    """Area under the precision-recall curve with counts, not rates, linear between points."""
    return _under_precision(points, xp, _mean_ratio)


def average_precision(points: CurvePoints, xp: Any) -> Any:
    """Mean over the positives of the precision at their score."""
    return _under_precision(points, xp, _at_end)


def leave_one_out_average_precision(points: CurvePoints, xp: Any) -> Any:
    """Mean over the positives of the precision at their score, by the rates of all others.

    A positive has the mean weight of the positives. Where no negative is above, precision is 1.
    """
    steps = _steps(points)
    own = steps.positives / xp.reshape(points.n_positives, (-1, 1))
    others = steps.positives - own
    is_alone = others <= 0
    recalled = xp.where(steps.tp_end > own, steps.tp_end - own, 0.0)
    recall = xp.where(is_alone, 1.0, recalled / xp.where(is_alone, 1.0, others))
    hits, alarms = recall * steps.positives, steps.fp_end
    precision = xp.where(alarms > 0, hits / xp.where(alarms > 0, hits + alarms, 1.0), 1.0)
    return _total(precision * steps.rise, steps.positives)


def precision_recall_gain_area(points: CurvePoints, xp: Any, clip: bool = False) -> Any:
    """Area under the precision-recall-gain curve from recall gain 0 to 1.

    If clipped, negative precision gain counts as 0.
    """
    is_inside, steps = _with_recall_gain(points, xp)
    positives, odds = steps.positives, steps.positives / steps.negatives
    inverse, inverse_end = (
        xp.where(is_inside, 1 / xp.where(is_inside, x, 1.0), 0.0) for x in (steps.tp, steps.tp_end)
    )
    gain, gain_end = 1 - odds * steps.fp * inverse, 1 - odds * steps.fp_end * inverse_end
    heights = (_mean_above_zero if clip else _mean)(gain, gain_end, xp)
    return _total(heights * positives * odds * (inverse - inverse_end))


def _with_recall_gain(points: CurvePoints, xp: Any) -> tuple[Any, _Steps]:
    """Return which steps have a positive recall gain, and their parts that have one."""
    steps = _steps(points)
    positives = steps.positives
    crossing = positives * positives / (positives + steps.negatives)  # true positives at gain 0
    # A point at the crossing ends the step that leads to it, whatever rounding has made of it.
    is_inside = steps.tp_end >= crossing * (1 - _ROUNDING_OF_SUMS)
    is_cut = steps.tp < crossing * (1 - _ROUNDING_OF_SUMS)
    tp = xp.where(is_cut, crossing, steps.tp)
    skipped = xp.where(is_cut, divide(tp - steps.tp, steps.rise, xp), 0.0)
    return is_inside, steps._replace(tp=tp, fp=steps.fp + skipped * steps.width)


def crossing_gain(points: CurvePoints, xp: Any) -> Any:
    """Return the precision gain where the recall is the prevalence, its own gain 0."""
    is_inside, steps = _with_recall_gain(points, xp)
    first = np.argmax(constant(is_inside, xp), axis=-1)[..., None]
    positives, negatives = steps.positives[..., 0], steps.negatives[..., 0]
    false_positives = take(steps.fp, first, xp)[..., 0]
    return 1 - false_positives * (positives + negatives) / (negatives * positives)


def expected_f_gain(points: CurvePoints, xp: Any, beta: float = 1.0) -> Any:
    """Mean F-gain over operating conditions from recall gain 0 to the largest one.

    Flach and Kull's theorem 3, in which ``beta`` is 1; NaN if there is no range of conditions.
    """
    positives, negatives = last(points.tp)[..., 0], last(points.fp)[..., 0]
    rate = positives / (positives + negatives)
    area, height = precision_recall_gain_area(points, xp), crossing_gain(points, xp)
    rejected = 1 - rate * (1 - height)
    is_empty = rejected <= _ROUNDING
    precision = (1 - rate) * area + rate * height**2 / 2
    recall = (1 - rate) / 2 + rate * area
    mean = (precision + beta**2 * recall) / ((1 + beta**2) * xp.where(is_empty, 1.0, rejected))
    return xp.where(is_empty, xp.nan, mean)


def _mean(gain: Any, gain_end: Any, xp: Any) -> Any:
    return (gain + gain_end) / 2


def _mean_above_zero(gain: Any, gain_end: Any, xp: Any) -> Any:
    """Return the mean, along a step, of what of the gain exceeds 0."""
    positive, positive_end = (xp.where(x > 0, x, 0.0) for x in (gain, gain_end))
    crosses = gain * gain_end < 0
    fall = xp.where(crosses, gain_end - gain, 1.0)
    mean = (gain + gain_end) / 2
    part = (positive_end**2 - positive**2) / (2 * fall)
    return xp.where(crosses, part, xp.where(mean > 0, mean, 0.0))


def hull(points: CurvePoints, xp: Any) -> CurvePoints:
    """Return the vertices of the upper convex hulls; the last one is repeated where there are few.

    The choice of the vertices has no derivative: it changes where it does not matter.
    """
    tp, fp = constant(points.tp, xp), constant(points.fp, xp)
    vertices = upper_hulls(fp, tp)
    return points._replace(tp=take(points.tp, vertices, xp), fp=take(points.fp, vertices, xp))


def hull_area(points: CurvePoints, xp: Any) -> Any:
    """Area under the convex hull of the ROC curve."""
    return roc_area(hull(points, xp), xp)


def h_measure(points: CurvePoints, xp: Any, alpha: float = 2.0, beta: float = 2.0) -> Any:
    """Hand's H, for costs from a Beta distribution.

    They are those of a false positive, as a share of the costs of both errors.
    """
    steps = _steps(hull(points, xp))
    # Differences of the weights are exactly 0 where a vertex is repeated.
    total = steps.positives + steps.negatives
    gain, loss = steps.rise / total, steps.width / total

    def expected(gain: Any, loss: Any, fixed_gain: Any, fixed_loss: Any) -> Any:
        """Return the expected loss of steps, each taken at all costs at which it pays.

        Up to a cost it pays and costs false positives, from there on it costs misses. That cost
        minimises the sum of both: it has no first-order effect.
        """
        miss_cost, alarm_cost = _expected_costs(fixed_gain, fixed_loss, alpha, beta)
        return (gain * miss_cost + loss * alarm_cost).sum(-1)

    prevalence, rest = steps.positives / total, steps.negatives / total
    blind = expected(prevalence, rest, constant(prevalence, xp), constant(rest, xp))
    return 1 - expected(gain, loss, constant(gain, xp), constant(loss, xp)) / blind


def _expected_costs(
    gain: Float[np.ndarray, "*x"], loss: Float[np.ndarray, "*x"], alpha: float, beta: float
) -> tuple[Float[np.ndarray, "*x"], Float[np.ndarray, "*x"]]:
    """Return the integrals of the cost of a miss from x to 1, of that of a false positive to x.

    The costs, 1 - c and c, have a Beta density; x is the share of the gain.
    """
    # Imported where it is used: with it the package would take a sixth of a second longer.
    from scipy.special import betainc

    # Rounding exceeds 1. Each integral from its own end: next to it the other is exact, too.
    share, rest = (np.clip(divide(x, gain + loss, np), 0, 1) for x in (gain, loss))
    miss_cost = beta / (alpha + beta) * betainc(beta + 1, alpha, rest)
    return miss_cost, alpha / (alpha + beta) * betainc(alpha + 1, beta, share)
