"""Bootstraps: estimates and comparisons from replicates.

The bootstrap draws units, the Bayesian one weights them (Rubin 1981).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dmfroc._kit.arrays import PerDraw
from dmfroc._kit.options import choice, integer
from dmfroc.inference.evidence import Facts, facts_in, facts_of, independent_facts, joint_facts
from dmfroc.inference.hypothesis import MANY_FREEDOM, Hypothesis
from dmfroc.inference.influences import NO_VARIATION, Moments
from dmfroc.inference.limits import Interval, Limits
from dmfroc.inference.method import (
    IntervalMethod,
    JointEstimates,
    Pair,
    check_finite,
    compare_draws,
)
from dmfroc.inference.remarks import (
    bias_message,
    few_units_message,
    no_variation_message,
    not_resampled_message,
    undefined_draws_message,
)
from dmfroc.inference.replicates import (
    INTERVAL_TYPES,
    IntervalType,
    Replicates,
    replicate_interval,
    replicate_values,
)
from dmfroc.inference.units import Sample, Samples, are_paired
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind, undefined_message, within
from dmfroc.results.estimate import Estimate

DEFAULT_N_DRAWS = 2000
_FEWEST_DRAWS = 100


@dataclass(frozen=True)
class Resampling(IntervalMethod):
    """A method that draws replicates of a measure's value.

    Attributes
    ----------
    n_draws : int
        Number of replicates, at least 100.
    interval : {"bca", "percentile"}
        ``"bca"`` is bias-corrected and accelerated, with the jackknife's t quantile.
        ``"percentile"`` are the quantiles of the draws. Both are extended to the limits of the
        jackknife if these are wider, unless ``is_plain``.
    is_bayesian : bool
        Whether the weights are Dirichlet ones, whose replicates are skewed differently.
    is_plain : bool
        Whether intervals are the percentiles of the replicates and nothing else.
    caveat : str or None
        What has to be known of every estimate by this method.
    """

    is_bayesian: ClassVar[bool] = False
    is_plain: ClassVar[bool] = False
    caveat: ClassVar[str | None] = None

    n_draws: int = DEFAULT_N_DRAWS
    interval: IntervalType = "bca"

    def __post_init__(self) -> None:
        choice("interval", self.interval, INTERVAL_TYPES)
        integer("n_draws", self.n_draws, _FEWEST_DRAWS)

    @abstractmethod
    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the values of a bound measure in all replicates.

        The measure is the first of several, if several are bound together.
        """

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their replicates."""
        bound = bind()
        facts = facts_of(measures, sample)
        estimates: dict[int, Estimate] = {}
        for drawn, kind in ((sample, "fixed"), (_in_one_stratum(sample), "random")):
            places = [place for place, x in enumerate(facts) if x.class_sizes == kind]
            if places:
                values = self.replicates(measures[places[0]], bound.only(*places), drawn)
                for place, column in zip(places, values.T, strict=True):
                    estimates[place] = self._estimate(facts[place], column)
        return [estimates[place] for place in range(len(measures))]

    def _estimate(self, facts: Facts, replicates: PerDraw) -> Estimate:
        measure, units = facts.measure, facts.units
        value, moments, bounds = facts.value, facts.moments, facts.limits.bounds
        is_defined = np.isfinite(replicates)
        replicates = within(replicates[is_defined], bounds)
        error = float(np.std(replicates, ddof=1)) if len(replicates) > 1 else np.nan
        corrected = None
        remarks = [
            *facts.caveats,
            self.caveat,
            undefined_message({measure: value}, facts.predictions),
            few_units_message(units),
            undefined_draws_message(int((~is_defined).sum()), self.n_draws),
        ]
        if not np.isfinite([value, error]).all():
            error, ends = np.nan, Interval(np.nan, np.nan)
        elif self.is_plain:
            tails = (1 - self.level) / 2, (1 + self.level) / 2
            ends = Interval(*np.quantile(replicates, tails).tolist())
        else:
            ends = self._interval_of(facts.limits, moments, replicates, 1 - self.level)
            corrected = facts.corrected
            remarks += [not_resampled_message(measure), bias_message(facts)]
            if error <= NO_VARIATION * max(abs(value), 1):
                error = 0.0
                remarks.append(no_variation_message(facts))
        return self.estimate_of(
            facts,
            error,
            ends,
            bias_corrected=corrected,
            n_draws=self.n_draws,
            seed=self.seed,
            warnings=tuple(filter(None, remarks)),
            draws=replicates,
        )

    def joint_estimates(
        self, measure: Measure, samples: Samples, hypothesis: Hypothesis
    ) -> JointEstimates:
        """Compare by the differences of replicates, which are the same for paired classifiers."""
        facts = {name: facts_in(sample, measure) for name, sample in samples.items()}
        of_each = {name: x.predictions for name, x in samples.items()}
        check_finite(measure, {name: x.value for name, x in facts.items()}, of_each)
        estimates: dict[str, Estimate] = {}
        draws: dict[str, PerDraw] = {}
        paired = are_paired(samples)
        is_random = any(x.class_sizes == "random" for x in facts.values())
        for place, (name, sample) in enumerate(samples.items()):
            # Independent samples have replicates of their own.
            method = self if paired else self.at(self.level, self.seed + place)
            drawn = _in_one_stratum(sample) if is_random else sample
            bound = bind(measure, sample.predictions)
            draws[name] = method.replicates(measure, bound, drawn)[:, 0]
            estimates[name] = method._estimate(facts[name], draws[name])
        joint = joint_facts(facts, with_flips=False) if paired else independent_facts(facts)
        known: dict[Pair, tuple[Limits, Moments]] = {}
        known.update({(name, None): (x.limits, x.moments) for name, x in facts.items()})
        known.update({pair: (joint.limits[pair], joint.differences[pair]) for pair in joint.limits})

        def reported(pair: Pair, drawn: PerDraw, error: float) -> Interval:
            return self._interval_of(*known[pair], drawn, error)

        def tested(pair: Pair, drawn: PerDraw, error: float) -> Interval:
            limits, moments = known[pair]
            return self._interval_of(limits.about_value, moments, drawn, error)

        # Draws know no errors that the sample lacks, where few observations make a difference
        freedom = {pair: x.spread.degrees_of_freedom for pair, x in joint.differences.items()}
        few_decide = [pair for pair, of_pair in freedom.items() if of_pair < MANY_FREEDOM]
        return compare_draws(
            measure, estimates, draws, reported, hypothesis, self.level, few_decide, tested
        )

    def _interval_of(
        self, limits: Limits, moments: Moments, replicates: PerDraw, error: float
    ) -> Interval:
        """Return the interval of replicates, which reaches at least as far as the tilted one.

        Replicates show no error that the sample lacks, those of few units have few values, and
        those of a biased value are as biased again: hardly any lie on the side of the truth.
        """
        value, tilted = limits.value, limits.interval_at(error)
        if np.ptp(replicates) <= NO_VARIATION * max(abs(value), 1):
            return tilted
        low, high = replicate_interval(
            value,
            replicates,
            limits.influences,
            moments,
            1 - error,
            limits.bounds,
            self.interval,
            bayesian=self.is_bayesian,
        )
        return Interval(min(low, tilted.low), max(high, tilted.high))


def _in_one_stratum(sample: Sample) -> Sample:
    return sample._replace(units=sample.units.in_one_stratum)


@dataclass(frozen=True)
class Bootstrap(Resampling):
    """Replicates under multinomial weights: units drawn with replacement (Efron 1979).

    Attributes
    ----------
    n_draws : int
        Number of replicates, at least 100.
    interval : {"bca", "percentile"}
        How the interval follows from them. It reaches at least as far as that of the jackknife.

    Examples
    --------
    >>> import dmfroc
    >>> y, score = np.arange(40) % 2, np.arange(40) % 2 + np.arange(40) % 7
    >>> found = dmfroc.estimate("auc", y, score, method=Bootstrap(500, "percentile"))
    >>> found.n_draws, found.method
    (500, 'bootstrap')
    """

    name: ClassVar[str] = "bootstrap"

    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the values under resampled units."""
        return replicate_values(
            bound, *sample, bayesian=self.is_bayesian, n_draws=self.n_draws, seed=self.seed
        )


@dataclass(frozen=True)
class BayesianBootstrap(Bootstrap):
    """Replicates under Dirichlet weights (Rubin 1981); its intervals are credible intervals.

    Attributes
    ----------
    n_draws : int
        Number of replicates, at least 100.
    interval : {"bca", "percentile"}
        How the interval follows from them.

    Examples
    --------
    >>> import dmfroc
    >>> y, score = np.arange(40) % 2, np.arange(40) % 2 + np.arange(40) % 7
    >>> dmfroc.estimate("auc", y, score, method=BayesianBootstrap(500)).method
    'bayesian_bootstrap'
    """

    name: ClassVar[str] = "bayesian_bootstrap"
    is_bayesian: ClassVar[bool] = True
