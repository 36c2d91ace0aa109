"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc.measures.measure import BoundMeasures, Measure, bind, caveats, undefined_message
from dmfroc.uncertainty import independent
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import (
    Influences,
    Interval,
    class_sizes_of,
    influences_of,
    interval,
    interval_below,
    moments_of,
    probability_above,
    spread,
    standard_error,
    two_sided_p_value,
)
from dmfroc.uncertainty.interval_method import (
    USE_BOOTSTRAP,
    Contrast,
    IntervalMethod,
    JointEstimates,
    Sample,
    check_finite,
)
from dmfroc.uncertainty.options import Options
from dmfroc.uncertainty.remarks import (
    chosen_on_itself_message,
    few_clusters_message,
    few_decide_message,
    kinks_message,
    less_biased_message,
    no_variation_message,
    rare_class_message,
    small_classes_message,
)
from dmfroc.uncertainty.units import Units

_N_JOINT_DRAWS = 100_000  # behind the probabilities of the orders


@dataclass(frozen=True)
class Jackknife(IntervalMethod):
    """Influences of single observations: their squares add up to the variance."""

    name: ClassVar[str] = "jackknife"
    remedies: ClassVar[Mapping[str, str]] = {
        "interval_type": f"it has one kind of interval; {USE_BOOTSTRAP}",
        "n_draws": f"it draws nothing; {USE_BOOTSTRAP}",
    }

    @classmethod
    def from_options(cls, options: Options) -> Jackknife:
        """Return the jackknife with the level and the seed."""
        return cls(options.level, options.seed)

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their influences."""
        found = influences_of(measures, bind(), sample.predictions)
        return [
            self._estimate(measure, of_measure, sample)
            for measure, of_measure in zip(measures, found, strict=True)
        ]

    def _estimate(self, measure: Measure, found: Influences, sample: Sample) -> Estimate:
        predictions, units = sample
        value, corrected = found.value, None
        moments = moments_of(found.influences, units)
        bounds = measure.range_in(predictions, sizes_are_fixed=True)
        judged = None if measure.cross_fit is None else measure.cross_fit(predictions, units.of_row)
        ends, error = Interval(np.nan, np.nan), np.nan
        if np.isfinite(value):
            if judged is None:
                ends = _intervals(measure, found, sample)(1 - self.level)
            else:
                corrected, influences = max(judged[0], bounds[0]), judged[1]
                moments = max(moments, moments_of(influences, units), key=standard_error)
                ends = interval_below(corrected, moments, 1 - self.level, bounds)
            has_error = moments.depends_on_sizes or not ends.is_degenerate
            error = standard_error(moments) if has_error else 0.0
        remarks = [
            *caveats([measure], predictions),
            undefined_message({measure.name: value}),
            kinks_message(measure),
            chosen_on_itself_message(measure, value, corrected, error),
            less_biased_message(measure, value, predictions, error),
            few_clusters_message(units),
            small_classes_message(measure, units, len(predictions.present)),
        ]
        if ends.is_degenerate:
            remarks += [
                rare_class_message(predictions),
                no_variation_message(value, bounds, moments),
            ]
        else:
            remarks.append(
                rare_class_message(predictions)
                or few_decide_message(measure, value, bounds, moments)
            )
        return Estimate(
            measure=measure.name,
            title=measure.title,
            value=value,
            standard_error=error,
            interval=(ends.low, ends.high),
            bias_corrected=corrected,
            level=self.level,
            method=self.name,
            class_sizes=class_sizes_of(moments, units),
            warnings=tuple(remark for remark in remarks if remark is not None),
        )

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], *, paired: bool, rope: float
    ) -> JointEstimates:
        """Compare by the differences of influences, or by the intervals of independent samples."""
        found = {
            name: influences_of([measure], bind(measure, sample.predictions), sample.predictions)[0]
            for name, sample in samples.items()
        }
        check_finite(measure, {name: f.value for name, f in found.items()})
        compare = self._paired if paired else self._independent
        estimates = {name: self._estimate(measure, found[name], samples[name]) for name in samples}
        return JointEstimates(estimates, *compare(measure, found, samples, rope))

    def _paired(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        rope: float,
    ) -> tuple[dict[tuple[str, str], Contrast], Float[np.ndarray, "draws m"]]:
        units = next(iter(samples.values())).units
        sign = 1 if measure.greater_is_better else -1
        low, high = measure.bounds
        contrasts, degrees_of_freedom = {}, []
        for first, second in itertools.combinations(samples, 2):
            value = found[first].value - found[second].value
            moments = moments_of(found[first].influences - found[second].influences, units)
            ends = interval(
                value, moments, 1 - self.level, (low - high, high - low), symmetric_on_line=False
            )
            above, not_below = (probability_above(x, value, moments) for x in (rope, -rope))
            contrasts[first, second] = Contrast(
                value=value,
                standard_error=standard_error(moments),
                interval=(ends.low, ends.high),
                p_value=two_sided_p_value(value, moments),
                probability_better=probability_above(0.0, sign * value, moments),
                probability_equivalent=not_below - above,
            )
            degrees_of_freedom.append(spread(moments).degrees_of_freedom)
        influences = np.stack([f.influences for f in found.values()])
        draws = _joint_draws(
            sign * np.array([f.value for f in found.values()]),
            _joint_covariance(influences, units),
            min(degrees_of_freedom),
            np.random.default_rng(self.seed),
        )
        return contrasts, draws

    def _independent(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        rope: float,
    ) -> tuple[dict[tuple[str, str], Contrast], Float[np.ndarray, "draws m"]]:
        sign = 1 if measure.greater_is_better else -1
        of_name = {
            name: (found[name].value, _intervals(measure, found[name], samples[name]))
            for name in samples
        }
        moments = {
            name: moments_of(found[name].influences, samples[name].units) for name in samples
        }
        contrasts = {}
        for first, second in itertools.combinations(samples, 2):
            both = (*of_name[first], *of_name[second])
            above, not_below, positive = (
                independent.probability_above(x, *both) for x in (rope, -rope, 0.0)
            )
            contrasts[first, second] = Contrast(
                value=found[first].value - found[second].value,
                standard_error=standard_error(moments[first].beside(moments[second])),
                interval=independent.ends_of_difference(*both, 1 - self.level),
                p_value=independent.p_value(0.0, *both),
                probability_better=positive if sign > 0 else 1 - positive,
                probability_equivalent=not_below - above,
            )
        generator = np.random.default_rng(self.seed)
        draws = [independent.draws_of(*x, _N_JOINT_DRAWS, generator) for x in of_name.values()]
        return contrasts, sign * np.stack(draws, axis=1)


def _intervals(measure: Measure, found: Influences, sample: Sample) -> independent.IntervalAt:
    """Return what gives the interval of a value for each error probability."""
    moments = moments_of(found.influences, sample.units)
    bounds = measure.range_in(sample.predictions, sizes_are_fixed=True)
    of_sizes = measure.range_in(sample.predictions)
    on_line = not measure.is_flat_at_ends
    return lambda error: interval(
        found.value, moments, error, bounds, of_sizes, symmetric_on_line=on_line
    )


def _joint_covariance(
    influences: Float[np.ndarray, "m n"], units: Units
) -> Float[np.ndarray, "m m"]:
    """Return the covariance of the classifiers' values, with `spread`'s care for rare classes."""
    sizes = units.sizes
    scaled = np.stack([units.sums(influence) for influence in influences]) * sizes[units.stratum]
    squares = []
    for stratum in range(len(sizes)):
        of_stratum = scaled[:, units.stratum == stratum]
        centred = of_stratum - of_stratum.mean(axis=1, keepdims=True)
        squares.append(centred @ centred.T)
    sums = np.stack(squares)
    pooled = sums.sum(axis=0) / np.maximum((sizes - 1).sum(), 1)
    covariance: Float[np.ndarray, "m m"] = ((sums + pooled) / sizes[:, None, None] ** 2).sum(axis=0)
    if units.sizes_are_random:
        totals = np.stack([np.bincount(units.stratum, x) for x in scaled]) / sizes
        covariance += (totals / sizes) @ totals.T - np.outer(
            *[(totals.sum(axis=1))] * 2
        ) / sizes.sum()
    return covariance


def _joint_draws(
    values: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    degrees_of_freedom: float,
    generator: np.random.Generator,
) -> Float[np.ndarray, "draws m"]:
    """Draw from the joint t distribution of the classifiers' values."""
    noise = generator.multivariate_normal(
        np.zeros(len(values)), covariance, size=_N_JOINT_DRAWS, method="eigh"
    )
    if np.isfinite(degrees_of_freedom):
        chi_squared = generator.chisquare(degrees_of_freedom, size=(_N_JOINT_DRAWS, 1))
        noise /= np.sqrt(chi_squared / degrees_of_freedom)
    return values + noise
