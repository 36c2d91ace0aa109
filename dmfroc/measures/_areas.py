"""Areas of one class against the rest, from the cumulative weights of its ROC curve.

Each is a function of the operating points of one curve and of three parameters, of which most use
none. JAX evaluates it for many sets of weights, where runs of tied scores are single points that
are repeated, so that steps can have no length. NumPy evaluates it once, with its derivative.

Most add up what the steps between neighbouring points contribute. What a step contributes, and
how that changes, is written once for both: ``numpy`` is NumPy or what JAX has in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dmfroc._backend import AnyArray

Parameters = Float[AnyArray, "3"]

# Closer to 0 than this, log1p(z)/z and what follows from it come from their series.
_SMALL = 1e-3


class OperatingPoints(NamedTuple):
    """Weights of the true and false positives above each threshold, from none to all."""

    tp: Float[AnyArray, "*curves points"]
    fp: Float[AnyArray, "*curves points"]

    @property
    def prevalence(self) -> Any:
        return self.tp[-1] / (self.tp[-1] + self.fp[-1])


@runtime_checkable
class Area(Protocol):
    """A function of the operating points of one curve."""

    def __call__(self, points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
        """Return the value, by JAX."""
        ...

    def value_and_gradient(
        self, points: OperatingPoints, parameters: Parameters
    ) -> tuple[Any, OperatingPoints]:
        """Return the values of curves and their derivatives by the points, by NumPy."""
        ...


def divide(numerator: Any, divisor: Any, numpy: Any) -> Any:
    """Divide; 0 where the divisor is 0."""
    is_empty = divisor == 0
    return numpy.where(is_empty, 0, numerator / numpy.where(is_empty, 1, divisor))


def _means_of_hyperbola(z: Any, numpy: Any) -> tuple[Any, Any, Any, Any]:
    """Return the means over u in [0, 1] of 1/(1 + uz), u/(1 + uz), u/(1 + uz)^2, u^2/(1 + uz)^2."""
    is_small = numpy.abs(z) < _SMALL
    safe = numpy.where(z == 0, 1.0, z)
    constant, small = numpy.log1p(safe) / safe, numpy.where(is_small, z, 0.0)
    # Not by Horner's rule, whose long chain XLA takes many seconds to compile.
    series = (1 / 2 - small / 3) + small**2 * (1 / 4 - small / 5) + small**4 / 6
    constant = numpy.where(is_small, 1 - small * series, constant)
    linear = numpy.where(is_small, series, (1 - constant) / safe)
    # Each loses more digits, and needs a series that reaches further.
    is_small = numpy.abs(z) < 10 * _SMALL
    small = numpy.where(is_small, z, 0.0)
    square = (1 / 2 - 2 / 3 * small) + small**2 * (3 / 4 - 4 / 5 * small)
    last = (1 / 3 - 2 / 4 * small) + small**2 * (3 / 5 - 4 / 6 * small)
    square = square + small**4 * (5 / 6 - 6 / 7 * small)
    last = last + small**4 * (5 / 7 - 6 / 8 * small)
    square = numpy.where(is_small, square, (constant - 1 / (1 + safe)) / safe)
    last = numpy.where(is_small, last, (linear - square) / safe)
    return constant, linear, square, last


class _Ratio(NamedTuple):
    """A mean ratio and its derivatives with respect to both terms at the start and at the end."""

    mean: Any
    top: Any
    top_end: Any
    divisor: Any
    divisor_end: Any


def _mean_ratio(top: Any, top_end: Any, start: Any, end: Any, numpy: Any) -> _Ratio:
    """Return the mean, from start to end of a step, of a ratio whose two terms are linear.

    Where the divisor starts at 0 the numerator must do so too: the ratio is constant.
    """
    from_origin = start == 0
    inverse = 1 / numpy.where(from_origin, 1, start)
    rise = top_end - top
    constant, linear, square, last = _means_of_hyperbola((end - start) * inverse, numpy)
    of_end = divide(1.0, end, numpy)
    at_end = top_end * of_end
    of_divisor_end = (top * square + rise * last) * inverse**2
    of_divisors = (top * start * of_end + rise * square) * inverse**2
    return _Ratio(
        mean=numpy.where(from_origin, at_end, (top * constant + rise * linear) * inverse),
        top=numpy.where(from_origin, 0, (constant - linear) * inverse),
        top_end=numpy.where(from_origin, of_end, linear * inverse),
        divisor=numpy.where(from_origin, 0, of_divisor_end - of_divisors),
        divisor_end=numpy.where(from_origin, -at_end * of_end, -of_divisor_end),
    )


def _mean_of_ends(top: Any, top_end: Any, start: Any, end: Any, numpy: Any) -> _Ratio:
    """Return the mean of the ratios at the start and at the end of a step."""
    of_start, of_end = divide(0.5, start, numpy), divide(0.5, end, numpy)
    half, half_end = top * of_start, top_end * of_end
    return _Ratio(half + half_end, of_start, of_end, -2 * half * of_start, -2 * half_end * of_end)


def _at_end(top: Any, top_end: Any, start: Any, end: Any, numpy: Any) -> _Ratio:
    """Return the ratio at the end of a step."""
    of_end = divide(1.0, end, numpy)
    ratio = top_end * of_end
    return _Ratio(ratio, 0, of_end, 0, -ratio * of_end)


class Step(NamedTuple):
    """The weights above two neighbouring thresholds, and of all positives and negatives."""

    tp: Any
    tp_end: Any
    fp: Any
    fp_end: Any
    positives: Any
    negatives: Any


class Total(NamedTuple):
    """A function of the steps' total and the weights of both classes, and its derivatives."""

    value: Any
    of_total: Any
    of_positives: Any
    of_negatives: Any


@dataclass(frozen=True)
class _SumOfSteps:
    """The area ``finish(total, positives, negatives, parameters)`` from the steps' total.

    ``of_step(step, parameters, numpy)`` returns contributions and their derivatives.
    """

    of_step: Callable[[Step, Any, Any], tuple[Any, Step]]
    finish: Callable[[Any, Any, Any, Any], Total]

    def __call__(self, points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
        steps = _steps(points)
        total = self.of_step(steps, parameters, jnp)[0].sum(axis=-1)
        value: Array = self.finish(total, points.tp[-1], points.fp[-1], parameters).value
        return value

    def value_and_gradient(
        self, points: OperatingPoints, parameters: Parameters
    ) -> tuple[Any, OperatingPoints]:
        steps = _steps(points)
        of_steps, of_step = self.of_step(steps, parameters, np)
        total = self.finish(
            of_steps.sum(axis=-1, keepdims=True), steps.positives, steps.negatives, parameters
        )

        def of_points(start: Any, end: Any, of_all: Any, last: Any) -> np.ndarray:
            gradient = np.zeros(points.tp.shape)
            gradient[..., :-1] = start
            gradient[..., 1:] += end
            gradient *= total.of_total
            of_all = np.sum(of_all, axis=-1, keepdims=True) if np.ndim(of_all) else of_all
            gradient[..., -1:] += last + total.of_total * of_all
            return gradient

        gradient = OperatingPoints(
            of_points(of_step.tp, of_step.tp_end, of_step.positives, total.of_positives),
            of_points(of_step.fp, of_step.fp_end, of_step.negatives, total.of_negatives),
        )
        return total.value[..., 0], gradient


def _steps(points: OperatingPoints) -> Step:
    tp, fp = points
    starts_and_ends = tp[..., :-1], tp[..., 1:], fp[..., :-1], fp[..., 1:]
    return Step(*starts_and_ends, tp[..., -1:], fp[..., -1:])


def _under_line(step: Step, parameters: Any, numpy: Any) -> tuple[Any, Step]:
    ties, of_tp, _ = parameters
    rise, width = step.tp_end - step.tp, step.fp_end - step.fp
    height, width = step.tp + ties * rise, width + of_tp * rise
    return height * width, Step(
        tp=(1 - ties) * width - of_tp * height,
        tp_end=ties * width + of_tp * height,
        fp=-height,
        fp_end=height,
        positives=0,
        negatives=0,
    )


def _linear_area(total: Any, positives: Any, negatives: Any, parameters: Any) -> Total:
    _, of_tp, scale = parameters
    width = negatives + of_tp * positives
    inverse = 1 / (positives * width)
    return Total(
        value=scale * total * inverse + (1 - scale),
        of_total=scale * inverse,
        of_positives=-scale * total * inverse**2 * (width + of_tp * positives),
        of_negatives=-scale * total * inverse**2 * positives,
    )


linear_area = _SumOfSteps(_under_line, _linear_area)
"""Area under the true positive rate, over the false or over all predicted positive ones.

The first parameter is what ties count: 0, 1/2 or 1; the second is 0 for the ROC area and 1 for the
area under the lift curve; the third is 1, or 2 for twice the area less one (Gini).
"""


def _up_to_limit(step: Step, parameters: Any, numpy: Any) -> tuple[Any, Step]:
    limit = parameters[0]
    rise, width = step.tp_end - step.tp, step.fp_end - step.fp
    left = limit * step.negatives - step.fp
    is_cut = (left > 0) & (left <= width)
    # Not `clip`, whose derivative JAX shares out where two steps meet at the limit.
    inside = numpy.where(left <= 0, 0, numpy.where(left > width, width, left))
    share = divide(inside, width, numpy)
    triangle = inside * share / 2
    of_left = numpy.where(is_cut, step.tp + rise * share, 0)
    of_width = numpy.where(is_cut, -rise * share**2 / 2, 0)
    of_width = numpy.where(left > width, step.tp + rise / 2, of_width)
    return inside * step.tp + rise * triangle, Step(
        tp=inside - triangle,
        tp_end=triangle,
        fp=-of_left - of_width,
        fp_end=of_width,
        positives=0,
        negatives=limit * of_left,
    )


def _standardised(total: Any, positives: Any, negatives: Any, parameters: Any) -> Total:
    limit = parameters[0]
    chance = limit**2 / 2
    area, scale = total / (positives * negatives), 1 / (2 * (limit - chance))
    return Total(
        value=1 / 2 + scale * (area - chance),
        of_total=scale / (positives * negatives),
        of_positives=-scale * area / positives,
        of_negatives=-scale * area / negatives,
    )


partial_area = _SumOfSteps(_up_to_limit, _standardised)
"""McClish's standardised area up to the false positive rate of the first parameter."""


def _under_kappa(
    step: Step, parameters: Any, numpy: Any, ratio: Callable[..., _Ratio]
) -> tuple[Any, Step]:
    positives, negatives = step.positives, step.negatives
    both, surplus = positives + negatives, negatives - positives
    width = step.fp_end - step.fp

    def terms(tp: Any, fp: Any) -> tuple[Any, Any]:
        """Return what kappa is the ratio of."""
        return 2 * (tp * negatives - fp * positives), positives * both + (tp + fp) * surplus

    (top, start), (top_end, end) = terms(step.tp, step.fp), terms(step.tp_end, step.fp_end)
    mean, *of_terms = ratio(top, top_end, start, end, numpy)
    of_top, of_top_end, of_start, of_end = (width * of_term for of_term in of_terms)
    return mean * width, Step(
        tp=2 * negatives * of_top + surplus * of_start,
        tp_end=2 * negatives * of_top_end + surplus * of_end,
        fp=-2 * positives * of_top + surplus * of_start - mean,
        fp_end=-2 * positives * of_top_end + surplus * of_end + mean,
        positives=(
            -2 * (step.fp * of_top + step.fp_end * of_top_end)
            + (positives + both - step.tp - step.fp) * of_start
            + (positives + both - step.tp_end - step.fp_end) * of_end
        ),
        negatives=(
            2 * (step.tp * of_top + step.tp_end * of_top_end)
            + (positives + step.tp + step.fp) * of_start
            + (positives + step.tp_end + step.fp_end) * of_end
        ),
    )


def _over_negatives(total: Any, positives: Any, negatives: Any, parameters: Any) -> Total:
    return Total(total / negatives, 1 / negatives, 0, -total / negatives**2)


kappa_area = _SumOfSteps(partial(_under_kappa, ratio=_mean_ratio), _over_negatives)
"""Area under Cohen's kappa over the false positive rate, along the interpolated ROC curve."""

interpolated_kappa_area = _SumOfSteps(partial(_under_kappa, ratio=_mean_of_ends), _over_negatives)
"""The same where kappa itself is interpolated, from point to point."""


class _MaxInformedness:
    """Largest difference of true and false positive rate."""

    def __call__(self, points: OperatingPoints, parameters: Parameters) -> Float[Array, ""]:
        return (points.tp / points.tp[-1] - points.fp / points.fp[-1]).max()

    def value_and_gradient(
        self, points: OperatingPoints, parameters: Parameters
    ) -> tuple[Any, OperatingPoints]:
        (tp, positives), (fp, negatives) = ((x, x[..., -1:]) for x in points)
        informedness = tp / positives - fp / negatives
        value = informedness.max(axis=-1, keepdims=True)
        is_best = informedness == value
        # Where several points are best, each change of weights favours some: take their mean.
        share = is_best / is_best.sum(axis=-1, keepdims=True)
        of_tp, of_fp = share / positives, -share / negatives
        of_tp[..., -1] -= (of_tp * tp / positives).sum(axis=-1)
        of_fp[..., -1] -= (of_fp * fp / negatives).sum(axis=-1)
        return value[..., 0], OperatingPoints(of_tp, of_fp)


max_informedness = _MaxInformedness()
"""Largest difference of true and false positive rate (Youden's J)."""


def _under_precision(
    step: Step, parameters: Any, numpy: Any, ratio: Callable[..., _Ratio]
) -> tuple[Any, Step]:
    rise = step.tp_end - step.tp
    mean, *of_terms = ratio(
        step.tp, step.tp_end, step.tp + step.fp, step.tp_end + step.fp_end, numpy
    )
    of_tp, of_tp_end, of_start, of_end = (rise * of_term for of_term in of_terms)
    return mean * rise, Step(
        tp=of_tp + of_start - mean,
        tp_end=of_tp_end + of_end + mean,
        fp=of_start,
        fp_end=of_end,
        positives=0,
        negatives=0,
    )


def _over_positives(total: Any, positives: Any, negatives: Any, parameters: Any) -> Total:
    return Total(total / positives, 1 / positives, -total / positives**2, 0)


precision_recall_area = _SumOfSteps(partial(_under_precision, ratio=_mean_ratio), _over_positives)
"""Area under the precision-recall curve with counts, not rates, linear between points."""

average_precision = _SumOfSteps(partial(_under_precision, ratio=_at_end), _over_positives)
"""The mean over the positives of the precision at their score."""


def _under_gain(step: Step, parameters: Any, numpy: Any) -> tuple[Any, Step]:
    positives, negatives = step.positives, step.negatives
    both, odds = positives + negatives, positives / negatives
    crossing = positives * positives / both  # true positives at recall gain 0
    is_inside, is_cut = step.tp_end >= crossing, step.tp < crossing
    # The part of the step with a positive recall gain starts at these counts.
    tp = numpy.where(is_cut, crossing, step.tp)
    slope = divide(step.fp_end - step.fp, step.tp_end - step.tp, numpy)
    skipped = numpy.where(is_cut, divide(tp - step.tp, step.tp_end - step.tp, numpy), 0)
    fp = step.fp + skipped * (step.fp_end - step.fp)

    inverse = numpy.where(is_inside, 1 / numpy.where(is_inside, tp, 1), 0)
    inverse_end = numpy.where(is_inside, 1 / numpy.where(is_inside, step.tp_end, 1), 0)
    gain, gain_end = 1 - odds * fp * inverse, 1 - odds * step.fp_end * inverse_end
    height, of_gain, of_gain_end = _mean_gain(gain, gain_end, parameters[0] == 1, numpy)

    width = positives * odds * (inverse - inverse_end)
    of_gain, of_gain_end = width * of_gain, width * of_gain_end
    of_fp = -of_gain * odds * inverse
    of_tp = (of_gain * odds * fp - positives * odds * height) * inverse**2 + of_fp * slope
    of_tp_end = (of_gain_end * odds * step.fp_end + positives * odds * height) * inverse_end**2
    of_odds = (
        positives * (inverse - inverse_end) * height
        - of_gain * fp * inverse
        - of_gain_end * step.fp_end * inverse_end
    )
    of_crossing = numpy.where(is_cut, of_tp, 0)
    return width * height, Step(
        tp=numpy.where(is_cut, 0, of_tp) - of_fp * slope * (1 - skipped),
        tp_end=of_tp_end - of_fp * slope * skipped,
        fp=of_fp * (1 - skipped),
        fp_end=of_fp * skipped - of_gain_end * odds * inverse_end,
        positives=(
            odds * (inverse - inverse_end) * height
            + of_odds / negatives
            + of_crossing * positives * (both + negatives) / both**2
        ),
        negatives=-of_odds * odds / negatives - of_crossing * positives**2 / both**2,
    )


def _mean_gain(gain: Any, gain_end: Any, is_clipped: Any, numpy: Any) -> tuple[Any, Any, Any]:
    """Return the mean precision gain along a step, or of what exceeds 0, and its derivatives."""
    signed = (gain + gain_end) / 2
    positive, positive_end = numpy.maximum(gain, 0), numpy.maximum(gain_end, 0)
    crosses = gain * gain_end < 0
    fall = numpy.where(crosses, gain_end - gain, 1)
    part = (positive_end**2 - positive**2) / (2 * fall)
    of_whole = numpy.where(signed > 0, 0.5, 0)
    return (
        numpy.where(is_clipped, numpy.where(crosses, part, numpy.maximum(signed, 0)), signed),
        numpy.where(is_clipped, numpy.where(crosses, (part - positive) / fall, of_whole), 0.5),
        numpy.where(is_clipped, numpy.where(crosses, (positive_end - part) / fall, of_whole), 0.5),
    )


precision_recall_gain_area = _SumOfSteps(
    _under_gain, lambda total, positives, negatives, parameters: Total(total, 1, 0, 0)
)
"""Area under the precision-recall-gain curve from recall gain 0 to 1.

With a first parameter of 1, negative precision gain counts as 0.
"""
