"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._threads import parallel
from dmfroc.measures.measure import BoundMeasures, Measure, bind, caveats, undefined_message
from dmfroc.uncertainty import independent
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import (
    Influences,
    Interval,
    Moments,
    class_sizes_of,
    influences_of,
    interval,
    interval_below,
    moments_of,
    moments_of_sums,
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
_NUMBERS_IN_JOINT_DRAWS = 1 << 22  # of many classifiers there are fewer
_NUMBERS_AT_ONCE = 1 << 18  # influences of differences, which then stay in the cache


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
            self.estimate_from(measure, of_measure, sample)
            for measure, of_measure in zip(measures, found, strict=True)
        ]

    def estimate_from(self, measure: Measure, found: Influences, sample: Sample) -> Estimate:
        """Return the estimate that follows from a value and its influences."""
        predictions, units = sample
        value = found.value
        corrected, moments, interval_at = _knowledge_of(measure, found, sample)
        bounds = measure.range_in(predictions, sizes_are_fixed=True)
        ends, error = Interval(np.nan, np.nan), np.nan
        if np.isfinite(value):
            ends = interval_at(1 - self.level)
            has_error = moments.depends_on_sizes or not ends.is_degenerate
            error = standard_error(moments) if has_error else 0.0
        of_rare_class = rare_class_message(predictions)
        remarks = [
            *caveats([measure], predictions),
            undefined_message({measure.name: value}),
            kinks_message(measure),
            chosen_on_itself_message(measure, value, corrected, error),
            less_biased_message(measure, value, predictions, error),
            few_clusters_message(units),
            of_rare_class or small_classes_message(measure, units, len(predictions.present)),
        ]
        if ends.is_degenerate:
            remarks.append(no_variation_message(value, bounds, moments))
        elif of_rare_class is None:
            remarks.append(few_decide_message(measure, value, bounds, moments))
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
        found = _influences_of_samples(measure, samples)
        check_finite(measure, {name: f.value for name, f in found.items()})
        compare = self._paired if paired else self._independent
        return compare(measure, found, samples, rope)

    def _paired(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        rope: float,
    ) -> JointEstimates:
        units = next(iter(samples.values())).units
        sums = np.stack([units.sums(f.influences)[units.by_stratum] for f in found.values()])
        pairs = itertools.combinations(samples, 2)
        moments = dict(zip(pairs, _moments_of_differences(sums, units), strict=True))
        covariance = joint_covariance(sums, units)
        contrasts = {
            (a, b): self.contrast(measure, found[a].value - found[b].value, of_difference, rope)
            for (a, b), of_difference in moments.items()
        }
        draws = _joint_draws(
            np.array([f.value for f in found.values()]),
            covariance,
            min(spread(of_difference).degrees_of_freedom for of_difference in moments.values()),
            np.random.default_rng(self.seed),
        )

        def interval_of_difference(first: str, second: str, level: float) -> tuple[float, float]:
            value = contrasts[first, second].value
            return _interval_of_difference(measure, value, moments[first, second], level)

        return self._jointly(
            measure, found, samples, contrasts, draws, covariance, interval_of_difference
        )

    def _independent(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        rope: float,
    ) -> JointEstimates:
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
        covariance = np.diag([spread(m).scale ** 2 for m in moments.values()])

        def interval_of_difference(first: str, second: str, level: float) -> tuple[float, float]:
            both = (*of_name[first], *of_name[second])
            return independent.ends_of_difference(*both, 1 - level)

        return self._jointly(
            measure,
            found,
            samples,
            contrasts,
            np.stack(draws, axis=1),
            covariance,
            interval_of_difference,
        )

    def _jointly(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        contrasts: dict[tuple[str, str], Contrast],
        draws: Float[np.ndarray, "draws m"],
        covariance: Float[np.ndarray, "m m"],
        interval_of_difference: Callable[[str, str, float], tuple[float, float]],
    ) -> JointEstimates:
        def interval_of_value(name: str, level: float) -> tuple[float, float]:
            ends = _knowledge_of(measure, found[name], samples[name]).interval_at(1 - level)
            return ends.low, ends.high

        return JointEstimates(
            {name: self.estimate_from(measure, found[name], samples[name]) for name in samples},
            contrasts,
            draws if measure.greater_is_better else -draws,
            covariance,
            interval_of_value,
            interval_of_difference,
        )

    def contrast(self, measure: Measure, value: float, moments: Moments, rope: float) -> Contrast:
        """Return what the moments of its influences say of a difference."""
        sign = 1 if measure.greater_is_better else -1
        above, not_below = (probability_above(x, value, moments) for x in (rope, -rope))
        return Contrast(
            value=value,
            standard_error=standard_error(moments),
            interval=_interval_of_difference(measure, value, moments, self.level),
            p_value=two_sided_p_value(value, moments),
            probability_better=probability_above(0.0, sign * value, moments),
            probability_equivalent=not_below - above,
        )


class _Knowledge(NamedTuple):
    """What is known of a value: its corrected value, if any, its moments and its intervals."""

    corrected: float | None
    moments: Moments
    interval_at: independent.IntervalAt


def _knowledge_of(measure: Measure, found: Influences, sample: Sample) -> _Knowledge:
    predictions, units = sample
    moments = moments_of(found.influences, units)
    judged = None
    if measure.cross_fit is not None and predictions.folds is None:
        judged = measure.cross_fit(predictions, units.of_row)
    if judged is None:
        return _Knowledge(None, moments, _intervals(measure, found, sample))
    bounds = measure.range_in(predictions, sizes_are_fixed=True)
    corrected, influences = max(judged[0], bounds[0]), judged[1]
    larger = max(moments, moments_of(influences, units), key=standard_error)
    return _Knowledge(
        corrected, larger, lambda error: interval_below(corrected, larger, error, bounds)
    )


def _intervals(measure: Measure, found: Influences, sample: Sample) -> independent.IntervalAt:
    """Return what gives the interval of a value for each error probability."""
    moments = moments_of(found.influences, sample.units)
    bounds = measure.range_in(sample.predictions, sizes_are_fixed=True)
    of_sizes = measure.range_in(sample.predictions)
    on_line = not measure.is_flat_at_ends
    return lambda error: interval(
        found.value, moments, error, bounds, of_sizes, symmetric_on_line=on_line
    )


def _influences_of_samples(
    measure: Measure, samples: Mapping[str, Sample]
) -> dict[str, Influences]:
    """Return the value and the influences of each classifier, many large ones side by side."""
    found: dict[str, Influences] = {}

    def find(name: str) -> None:
        predictions = samples[name].predictions
        [found[name]] = influences_of([measure], bind(measure, predictions), predictions)

    names = list(samples)
    parallel(find, names, sum(sample.predictions.scores.size for sample in samples.values()))
    return {name: found[name] for name in names}


def _interval_of_difference(
    measure: Measure, value: float, moments: Moments, level: float
) -> tuple[float, float]:
    low, high = measure.bounds
    ends = interval(value, moments, 1 - level, (low - high, high - low), symmetric_on_line=False)
    return ends.low, ends.high


def _moments_of_differences(sums: Float[np.ndarray, "m u"], units: Units) -> list[Moments]:
    """Return the moments of every two rows' difference, in the order of the combinations."""
    first, second = np.triu_indices(len(sums), 1)
    at_once = max(_NUMBERS_AT_ONCE // sums.shape[1], 1)
    parts: dict[int, list[Moments]] = {}

    def find(start: int) -> None:
        chosen = slice(start, start + at_once)
        parts[start] = moments_of_sums(sums[first[chosen]] - sums[second[chosen]], units)

    starts = range(0, len(first), at_once)
    parallel(find, starts, len(first) * sums.shape[1])
    return [moments for start in starts for moments in parts[start]]


def joint_covariance(sums: Float[np.ndarray, "m u"], units: Units) -> Float[np.ndarray, "m m"]:
    """Return the covariance of the classifiers' values, with `spread`'s care for rare classes."""
    sizes = units.sizes
    own = np.maximum(sizes - units.n_means, 0)
    squares = []
    for size, is_own, part in zip(sizes, own > 0, units.centred_parts(sums), strict=True):
        squares.append(size**2 * is_own * (part @ part.T))
    products = np.stack(squares)
    pooled = products.sum(axis=0) / max(own.sum(), 1)
    covariance: Float[np.ndarray, "m m"] = (
        (products + pooled) / ((own + 1) * sizes)[:, None, None]
    ).sum(axis=0)
    if units.sizes_are_random:
        totals = units.totals(sums)
        covariance += (totals / units.drawn[1]) @ totals.T
    return covariance


def _joint_draws(
    values: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    degrees_of_freedom: float,
    generator: np.random.Generator,
) -> Float[np.ndarray, "draws m"]:
    """Draw from the joint t distribution of the classifiers' values."""
    n_draws = min(_N_JOINT_DRAWS, _NUMBERS_IN_JOINT_DRAWS // len(values))
    noise = generator.multivariate_normal(
        np.zeros(len(values)), covariance, size=n_draws, method="eigh"
    )
    if np.isfinite(degrees_of_freedom):
        chi_squared = generator.chisquare(degrees_of_freedom, size=(n_draws, 1))
        noise /= np.sqrt(chi_squared / degrees_of_freedom)
    return values + noise
