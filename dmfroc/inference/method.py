"""What a method of intervals is: one object for each, with its options; and what it returns."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri

from dmfroc._kit.arrays import Covariance, PerDraw
from dmfroc.inference.evidence import Facts
from dmfroc.inference.hypothesis import Contrast, Contrasts, Hypothesis, contrast_of_intervals
from dmfroc.inference.limits import Interval, IntervalAt
from dmfroc.inference.options import DEFAULT_LEVEL
from dmfroc.inference.simultaneous import square_root
from dmfroc.inference.units import Sample, Samples
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure
from dmfroc.results.difference import TestOf
from dmfroc.results.estimate import Estimate

Method = Literal["jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"]
N_DRAWS = 100_000  # behind the probabilities of the orders
_QUANTILES = np.array([0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4])  # of the normal distribution
_NUMBERS_IN_JOINT_DRAWS = 1 << 20  # of many classifiers there are fewer
_NO_ORDER = 1e-9  # normal quantile of a tail of a half, but for rounding
_WIDTH_OF_95 = 2 * float(ndtri(0.975))  # of a normal distribution, in standard deviations
_FEWEST_IN_TAIL = 5  # draws beyond the end of an interval

USE_BOOTSTRAP = "use method='bootstrap', or leave it out"
"""What is said of most options that a method does not use."""


class JointEstimates(NamedTuple):
    """What is known of the values of several classifiers.

    Attributes
    ----------
    estimates : dict of str to Estimate
        Of each classifier by itself.
    contrasts : dict of tuple of str to Contrast
        The differences of every two classifiers, in the order of ``estimates``.
    draw : callable
        Returns draws from the joint distribution of the values, of shape (draws, m); where smaller
        ones are better, of their negatives.
    covariance : numpy.ndarray of shape (m, m)
        Of the values.
    intervals_of_values : dict of str to callable
        The intervals of each classifier's value, by their error probability.
    """

    estimates: dict[str, Estimate]
    contrasts: Contrasts
    draw: Callable[[], Float[np.ndarray, "draws m"]]
    covariance: Covariance
    intervals_of_values: Mapping[str, IntervalAt]


@dataclass(frozen=True)
class IntervalMethod(ABC):
    """A way to obtain standard errors, intervals and comparisons of any bound measure.

    Attributes
    ----------
    name : str
        What users call it.
    remedies : mapping of str to str
        The options that it does not use, and what to do instead of giving them.
    warns_itself : bool
        Whether it warns of what a reader has to know, so that its caller need not.
    level : float
        Nominal coverage of the intervals.
    seed : int
        Seed of whatever is drawn.
    """

    name: ClassVar[str]
    remedies: ClassVar[Mapping[str, str]] = {}
    warns_itself: ClassVar[bool] = False

    level: float = field(default=DEFAULT_LEVEL, init=False, repr=False)
    seed: int = field(default=0, init=False, repr=False)

    def at[M: IntervalMethod](self: M, level: float, seed: int = 0) -> M:
        """Return the method at a level, with a seed of whatever is drawn."""
        found = copy(self)
        vars(found).update(level=level, seed=seed)
        return found

    @abstractmethod
    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate one measure, or several that ``bind`` binds together, see `bind_in_groups`."""

    def estimate_of(self, facts: Facts, error: float, ends: Interval, **others: Any) -> Estimate:
        """Return the value of a sample with this standard error and interval."""
        return Estimate(
            measure=facts.measure.name,
            title=facts.measure.title,
            value=facts.value,
            standard_error=error,
            interval=ends[:2],
            level=self.level,
            method=self.name,
            class_sizes=facts.class_sizes,
            caveats=facts.caveats,
            **others,
        )

    @abstractmethod
    def joint_estimates(
        self, measure: Measure, samples: Samples, hypothesis: Hypothesis
    ) -> JointEstimates:
        """Estimate a measure of several classifiers, and their differences.

        Parameters
        ----------
        measure : Measure
            What to compare.
        samples : mapping of str to Sample
            By name of the classifier. Those of the same observations have their units in common,
            see `are_paired`; others are independent.
        hypothesis : Hypothesis
            What is tested of every difference. Intervals are limits if it is one-sided.

        Raises
        ------
        ValueError
            If the value of a classifier is not finite.
        """


def check_finite(
    measure: Measure, values: Mapping[str, float], of: Mapping[str, Predictions] | None = None
) -> None:
    """Refuse to compare classifiers if one has no finite value; say why, if predictions show it."""
    for name, value in values.items():
        if not np.isfinite(value):
            reason = measure.undefined(of[name]) if of else None
            raise ValueError(
                f"{measure.name} is {value} for {name!r}, which cannot be compared"
                f"{f', since {reason}' if reason else ''}: choose another measure"
            )


def check_comparable(measure: Measure, predictions: Mapping[str, Predictions]) -> None:
    """Refuse to compare samples if the value of one is infinite but for a floor."""
    for name, one in predictions.items():
        if (reason := measure.infinite(one)) is not None:
            raise ValueError(
                f"{measure.name} of {name!r} cannot be compared: {reason}. Choose another measure, "
                "such as 'brier_score', or keep all probabilities above 0"
            )


def joint_normal_estimates(
    estimates: dict[str, Estimate],
    contrasts: Contrasts,
    covariance: Covariance,
    intervals: Mapping[str, IntervalAt],
    hypothesis: Hypothesis,
    seed: int,
) -> JointEstimates:
    """Return what is known of values that are drawn together from a normal distribution.

    There two values are in order as often as the tail of their difference says. Tails of values
    that hardly differ say little of their spread: it is at most that of the interval.
    """

    def draw() -> Float[np.ndarray, "draws m"]:
        values = np.array([estimate.value for estimate in estimates.values()])
        squares = np.zeros_like(covariance)  # variances of the differences
        places = {name: place for place, name in enumerate(estimates)}
        for (first, second), contrast in contrasts.items():
            pair, error = [places[first], places[second]], contrast.standard_error
            spread = abs(contrast.value) / max(-float(ndtri(contrast.tail(0.0))), _NO_ORDER)
            if spread > 1.5 * error:
                low, high = contrast.interval_at(0.05)[:2]
                spread = min(spread, (high - low) / _WIDTH_OF_95)
            squares[pair, pair[::-1]] = max(spread, error / 2) ** 2 if spread > 0 else error**2
        # Values with these variances of their differences, about their mean (classical scaling)
        centred = (
            -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
        )
        generator, m = np.random.default_rng(seed), len(values)
        n_draws = min(N_DRAWS, _NUMBERS_IN_JOINT_DRAWS // m)
        drawn = values + generator.standard_normal((n_draws, m)) @ square_root(centred)
        return drawn if hypothesis.greater_is_better else -drawn

    return JointEstimates(estimates, contrasts, draw, covariance, intervals)


def joint_estimates(
    estimates: dict[str, Estimate],
    intervals: Mapping[str, IntervalAt],
    found: Contrasts,
    errors: Mapping[str, float],
    hypothesis: Hypothesis,
    seed: int,
) -> JointEstimates:
    """Return what is known of independent values with these intervals and differences."""
    generator = np.random.default_rng(seed)
    drawn = [draws_of(e.value, intervals[name], generator) for name, e in estimates.items()]
    draws = np.stack(drawn, axis=1)
    return JointEstimates(
        estimates,
        found,
        lambda: draws if hypothesis.greater_is_better else -draws,
        np.diag([x**2 for x in errors.values()]),
        intervals,
    )


def draws_of(
    value: float, interval_at: IntervalAt, generator: np.random.Generator, n_draws: int = N_DRAWS
) -> PerDraw:
    """Draw from the distribution whose quantiles are about the ends of one sample's intervals."""
    ends = [interval_at(2 * float(ndtr(-z))) for z in _QUANTILES]
    lows, highs = ([getattr(x, end) for x in ends] for end in ("low", "high"))
    places = np.concatenate([-_QUANTILES[::-1], [0.0], _QUANTILES])
    return np.interp(generator.standard_normal(n_draws), places, [*lows[::-1], value, *highs])


Pair = tuple[str, str | None]
"""Two classifiers that are compared, or one by itself and None."""
IntervalOfDraws = Callable[[Pair, PerDraw, float], Interval]
"""Takes the draws of a pair's difference, or of one value; and the error probability."""


def compare_draws(
    measure: Measure,
    estimates: dict[str, Estimate],
    draws: Mapping[str, PerDraw],
    interval_of: IntervalOfDraws,
    hypothesis: Hypothesis,
    level: float,
    few_decide: Collection[Pair] = (),
    tested_by: IntervalOfDraws | None = None,
) -> JointEstimates:
    """Compare classifiers by equally many joint draws of each.

    Draws know no errors that the sample lacks: where few observations ``few_decide``, the p-value
    of a difference is that of the intervals ``tested_by``.
    """
    n_draws = len(next(iter(draws.values())))

    def drawn(pair: Pair) -> PerDraw:
        first, second = pair
        return draws[first] if second is None else draws[first] - draws[second]

    def interval_at(pair: Pair, error: float) -> Interval:
        if error < 1 - level and error / 2 * n_draws < _FEWEST_IN_TAIL:
            needed = int(np.ceil(2 * _FEWEST_IN_TAIL / error))
            raise ValueError(
                f"to hold all at once, each interval must be taken at {100 * (1 - error):.4g} %, "
                f"and {n_draws} draws are too few for that: method=Bootstrap({needed}) or "
                "'jackknife'"
            )
        return interval_of(pair, drawn(pair), error)

    contrasts = {}
    for pair in itertools.combinations(estimates, 2):
        value, differences = estimates[pair[0]].value - estimates[pair[1]].value, drawn(pair)
        error, least = float(differences.std(ddof=1)), 2 / (n_draws + 1)
        tail = partial(_share_beyond, differences=differences, value=value)
        beyond = tail(0.0)
        p_value = two_sided = min(1.0, 2 * (min(beyond, 1 - beyond) * n_draws + 1) / (n_draws + 1))
        test: TestOf = "share of draws"
        inverted, tested = (
            contrast_of_intervals(value, error, partial(find, pair, differences), least=least).tail
            for find in (interval_of, tested_by or interval_of)
        )
        if pair in few_decide:
            p_value = two_sided = 2 * tested(0.0)
            test = "tail of the limits"
        if not hypothesis.is_two_sided:
            p_value, test = hypothesis.p_value_of_tail(value, inverted), "tail of the limits"
        at = partial(interval_at, pair)
        contrasts[pair] = Contrast(value, error, at, tail, p_value, two_sided, test)
    joint = np.stack(list(draws.values()), axis=1)
    return JointEstimates(
        estimates,
        contrasts,
        lambda: joint if measure.greater_is_better else -joint,
        np.cov(joint, rowvar=False),
        {name: partial(interval_at, (name, None)) for name in estimates},
    )


def _share_beyond(threshold: float, differences: PerDraw, value: float) -> float:
    """Return the share of draws on the other side of a threshold than the value.

    Those at 0 count by half; those at the ends of a region of equivalence are in it.
    """
    at_threshold = np.mean(differences == threshold) * (1 - np.sign(threshold)) / 2
    above = float(np.mean(differences > threshold) + at_threshold)
    return 1 - above if value > threshold else above
