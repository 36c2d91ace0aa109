"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc._threads import parallel
from dmfroc.measures.measure import BoundMeasures, Measure, bind, caveats, undefined_message
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import (
    Influences,
    Interval,
    Moments,
    influences_of,
    interval,
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
    few_decide_message,
    kinks_message,
    no_variation_message,
    rare_class_message,
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
        moments = moments_of(found.influences, units)
        if np.isfinite(value):
            ends = interval(value, moments, self.level, measure.bounds)
            error = 0.0 if ends.is_degenerate else standard_error(moments)
        else:
            ends, error = Interval(np.nan, np.nan), np.nan
        remarks = [
            *caveats([measure], predictions),
            undefined_message({measure.name: value}),
            kinks_message(measure),
        ]
        if ends.is_degenerate:
            remarks += [
                rare_class_message(predictions),
                no_variation_message(value, measure, units),
            ]
        else:
            remarks.append(
                rare_class_message(predictions) or few_decide_message(measure, value, moments)
            )
        return Estimate(
            measure=measure.name,
            title=measure.title,
            value=value,
            standard_error=error,
            interval=(ends.low, ends.high),
            level=self.level,
            method=self.name,
            warnings=tuple(remark for remark in remarks if remark is not None),
        )

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], *, paired: bool, rope: float
    ) -> JointEstimates:
        """Compare by the differences of influences, or by the sum of the variances."""
        found = _influences_of_samples(measure, samples)
        check_finite(measure, {name: f.value for name, f in found.items()})
        units = {name: sample.units for name, sample in samples.items()}
        pairs = list(itertools.combinations(samples, 2))
        if paired:
            shared = next(iter(units.values()))
            sums = np.stack([shared.sums(f.influences)[shared.by_stratum] for f in found.values()])
            moments = dict(zip(samples, moments_of_sums(sums, shared), strict=True))
            of_differences = dict(zip(pairs, _moments_of_differences(sums, shared), strict=True))
            covariance = joint_covariance(sums, shared)
        else:
            moments = {name: moments_of(found[name].influences, units[name]) for name in samples}
            of_differences = {(a, b): moments[a].beside(moments[b]) for a, b in pairs}
            covariance = np.diag([spread(m).scale ** 2 for m in moments.values()])
        contrasts = {
            (a, b): self.contrast(measure, found[a].value - found[b].value, of_difference, rope)
            for (a, b), of_difference in of_differences.items()
        }

        def interval_of_value(name: str, level: float) -> tuple[float, float]:
            ends = interval(found[name].value, moments[name], level, measure.bounds)
            return ends.low, ends.high

        def interval_of_difference(first: str, second: str, level: float) -> tuple[float, float]:
            value = contrasts[first, second].value
            return _interval_of_difference(measure, value, of_differences[first, second], level)

        sign = 1 if measure.greater_is_better else -1
        return JointEstimates(
            {name: self.estimate_from(measure, found[name], samples[name]) for name in samples},
            contrasts,
            _joint_draws(
                sign * np.array([f.value for f in found.values()]),
                covariance,
                min(spread(moments).degrees_of_freedom for moments in of_differences.values()),
                np.random.default_rng(self.seed),
            ),
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
    ends = interval(value, moments, level, (low - high, high - low), symmetric_on_line=False)
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
    return ((products + pooled) / ((own + 1) * sizes)[:, None, None]).sum(axis=0)


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
