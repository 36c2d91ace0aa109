"""Corrected resampling: the performance of a learner, from the values in the folds alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc.inference.evidence import Facts, facts_in, facts_of
from dmfroc.inference.hypothesis import Contrasts, Hypothesis, contrast_of_t
from dmfroc.inference.influences import NO_VARIATION, Spread
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.limits import Interval
from dmfroc.inference.method import (
    IntervalMethod,
    JointEstimates,
    check_finite,
    joint_normal_estimates,
)
from dmfroc.inference.options import OF_ALGORITHM
from dmfroc.inference.scales import t_interval
from dmfroc.inference.units import Sample, Samples
from dmfroc.measures.bound import BoundMeasures, MeanOverFolds
from dmfroc.measures.measure import Measure, bind
from dmfroc.results.estimate import Estimate


@dataclass(frozen=True)
class CorrectedResampling(IntervalMethod):
    """Nadeau and Bengio's variance of a mean over folds whose training sets overlap.

    Attributes
    ----------
    train_fraction : float or None
        Share of the observations in each training set; None for what the folds leave.
    """

    name: ClassVar[str] = OF_ALGORITHM
    remedies: ClassVar[Mapping[str, str]] = {
        "stratify": "target='learner' has a method of its own; leave it out"
    }

    train_fraction: float | None = None

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their values in the folds."""
        values = _fold_values(bind(), sample)
        facts = facts_of(measures, sample, allows_for_parts=True)
        return [self._estimate(x, own, sample) for x, own in zip(facts, values.T, strict=True)]

    def _estimate(
        self, facts: Facts, values: Float[np.ndarray, " folds"], sample: Sample
    ) -> Estimate:
        error, mean = self._error(values, sample), float(values.mean())
        ends = _interval(facts, mean, error, len(values), 1 - self.level)
        found = self.estimate_of(facts, error, ends, warnings=facts.caveats)
        return replace(found, value=mean, class_sizes=None)

    def _error(self, values: Float[np.ndarray, " folds"], sample: Sample) -> float:
        return float(np.sqrt(self._factor(len(values), sample) * values.var(ddof=1)))

    def _factor(self, n_folds: int, sample: Sample) -> float:
        """Return 1/J + n_test/n_train, by which the variance over the folds is multiplied."""
        if self.train_fraction is None:
            assert sample.predictions.folds is not None
            pairs = np.unique(
                np.stack([sample.units.unit_of_row, sample.predictions.folds]), axis=1
            )
            held_out = pairs.shape[1] / n_folds / len(sample.units.stratum)
        else:
            held_out = 1 - self.train_fraction
        return 1 / n_folds + held_out / (1 - held_out)

    def joint_estimates(
        self, measure: Measure, samples: Samples, hypothesis: Hypothesis
    ) -> JointEstimates:
        """Compare by the differences in each fold."""
        of_each = {name: x.predictions for name, x in samples.items()}
        values = {
            name: _fold_values(bind(measure, x.predictions), x)[:, 0] for name, x in samples.items()
        }
        check_finite(measure, {name: float(x.mean()) for name, x in values.items()}, of_each)
        facts = {name: facts_in(sample, measure) for name, sample in samples.items()}
        estimates = {
            name: self._estimate(facts[name], values[name], samples[name]) for name in samples
        }
        sample = next(iter(samples.values()))
        table = np.stack(list(values.values()))
        n_folds = table.shape[1]
        contrasts: Contrasts = {}
        jackknife = Jackknife().at(self.level, self.seed)
        for pair in itertools.combinations(samples, 2):
            gaps = values[pair[0]] - values[pair[1]]
            error = self._error(gaps, sample)
            if error > NO_VARIATION:
                contrasts[pair] = contrast_of_t(float(gaps.mean()), error, n_folds - 1)
            else:
                some = {name: samples[name] for name in pair}
                contrasts |= jackknife.joint_estimates(measure, some, hypothesis).contrasts
        return joint_normal_estimates(
            estimates,
            contrasts,
            self._factor(n_folds, sample) * np.atleast_2d(np.cov(table)),
            {
                name: partial(_interval, facts[name], e.value, e.standard_error, n_folds)
                for name, e in estimates.items()
            },
            hypothesis,
            self.seed,
        )


def _interval(facts: Facts, value: float, spread: float, n_folds: int, error: float) -> Interval:
    """Return the interval of a learner: at least that of these fits."""
    ends = t_interval(value, Spread(spread, n_folds - 1), error, facts.measure.bounds)
    fits = facts.interval_at(error)
    return Interval(min(ends.low, fits.low), max(ends.high, fits.high))


def _fold_values(bound: BoundMeasures, sample: Sample) -> Float[np.ndarray, "folds values"]:
    assert isinstance(bound, MeanOverFolds)  # `choose_methods` sees to it
    return bound.fold_values(sample.predictions.sample_weight)
