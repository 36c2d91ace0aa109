"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from dmfroc.measures.measure import BoundMeasures, Measure, bind, caveats, undefined_message
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import (
    Interval,
    Moments,
    influences_of,
    interval,
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
    few_decide_message,
    kinks_message,
    no_variation_message,
    rare_class_message,
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
            self.estimate(
                measure, x.value, moments_of(x.influences, sample.units), sample.predictions
            )
            for measure, x in zip(measures, found, strict=True)
        ]

    def estimate(
        self, measure: Measure, value: float, moments: Moments, predictions: Predictions
    ) -> Estimate:
        """Estimate a measure from its value and the moments of the influences on it."""
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
                no_variation_message(value, measure, moments.n_complete_sets),
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
        found = {
            name: influences_of([measure], bind(measure, sample.predictions), sample.predictions)[0]
            for name, sample in samples.items()
        }
        check_finite(measure, {name: f.value for name, f in found.items()})
        units = {name: sample.units for name, sample in samples.items()}
        moments = {name: moments_of(found[name].influences, units[name]) for name in samples}

        def moments_of_difference(first: str, second: str) -> Moments:
            if not paired:
                return moments[first].beside(moments[second])
            return moments_of(found[first].influences - found[second].influences, units[first])

        if paired:
            influences = np.stack([f.influences for f in found.values()])
            covariance = _joint_covariance(influences, next(iter(units.values())))
        else:
            covariance = np.diag([spread(m).scale ** 2 for m in moments.values()])
        return self.joint_estimates_of(
            measure,
            {name: f.value for name, f in found.items()},
            {
                name: self.estimate(measure, f.value, moments[name], samples[name].predictions)
                for name, f in found.items()
            },
            {pair: moments_of_difference(*pair) for pair in itertools.combinations(samples, 2)},
            covariance,
            rope,
        )

    def joint_estimates_of(
        self,
        measure: Measure,
        values: Mapping[str, float],
        estimates: dict[str, Estimate],
        moments_of_differences: Mapping[tuple[str, str], Moments],
        covariance: Float[np.ndarray, "m m"],
        rope: float,
    ) -> JointEstimates:
        """Compare classifiers whose values have these moments, of every two their difference."""
        contrasts = {
            (first, second): self._contrast(measure, values[first] - values[second], moments, rope)
            for (first, second), moments in moments_of_differences.items()
        }
        freedom = min(spread(m).degrees_of_freedom for m in moments_of_differences.values())
        sign = 1 if measure.greater_is_better else -1
        return JointEstimates(
            estimates,
            contrasts,
            _joint_draws(
                sign * np.array(list(values.values())),
                covariance,
                freedom,
                np.random.default_rng(self.seed),
            ),
        )

    def _contrast(self, measure: Measure, value: float, moments: Moments, rope: float) -> Contrast:
        low, high = measure.bounds
        sign = 1 if measure.greater_is_better else -1
        ends = interval(
            value, moments, self.level, (low - high, high - low), symmetric_on_line=False
        )
        above, not_below = (probability_above(x, value, moments) for x in (rope, -rope))
        return Contrast(
            value=value,
            standard_error=standard_error(moments),
            interval=(ends.low, ends.high),
            p_value=two_sided_p_value(value, moments),
            probability_better=probability_above(0.0, sign * value, moments),
            probability_equivalent=not_below - above,
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
    return pooled_covariance(np.stack(squares), sizes)


def pooled_covariance(
    sums: Float[np.ndarray, "s m m"], sizes: Int[np.ndarray, " s"]
) -> Float[np.ndarray, "m m"]:
    """Return the covariance of values from the products of their influences in each stratum."""
    pooled = sums.sum(axis=0) / np.maximum((sizes - 1).sum(), 1)
    found: Float[np.ndarray, "m m"] = ((sums + pooled) / sizes[:, None, None] ** 2).sum(axis=0)
    return found


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
