"""Replicates of any function of the observation weights, and intervals from them.

A replicate is a vector of weights: how often each unit was drawn, or a Dirichlet vector. Draw
number d has a random stream of its own, so that results depend on the seed alone, not on how many
draws are computed at a time. All classifiers of the same sample see the same replicates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri, stdtrit

from dmfroc._kit.arrays import PerDraw, PerRow
from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.threads import check_stopped, parallel_map
from dmfroc.inference.influences import Moments
from dmfroc.inference.tilt import IntPerStratum, PerUnit
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, MeanOverFolds, SummariesOfCounts

WeightsOfDraws = Float[np.ndarray, "draws n"]
Replicates = Float[np.ndarray, "draws values"]
"""In each draw the weights of n rows, and the values of several measures."""
IntervalType = Literal["bca", "percentile"]
INTERVAL_TYPES = get_args(IntervalType)
_NUMBERS_AT_ONCE = 1 << 19  # of the replicates that are computed as one
_NUMBERS_PER_TASK = 1 << 21  # weights that are drawn at a time
_MOST_TRIES = 1000
_MOST_BY_NUMPY = 200_000_000  # numbers of all draws; measured against the first call of JAX
_NUMBERS_OF_COUNTS = 16_000  # as many as a draw without a fit counts
_ROUNDING = 1e-12

_Evaluator = Callable[[WeightsOfDraws], Replicates]


def replicate_values(
    bound: BoundMeasures,
    predictions: Predictions,
    units: Units,
    *,
    bayesian: bool,
    n_draws: int,
    seed: int,
) -> Replicates:
    """Return the values of a bound measure under resampled weights."""
    is_by_class = len(units.stratum) == predictions.n_observations and np.array_equal(
        units.sizes, predictions.class_counts[predictions.present]
    )
    if is_by_class and units.shares is None:
        kind = "bayesian_bootstrap" if bayesian else "bootstrap"
        on_device = bound.drawn(predictions, kind, n_draws, seed)
        if on_device is not None:
            return on_device
    evaluate = _evaluator(bound, predictions, n_draws)
    per_task = max(min(_NUMBERS_PER_TASK // predictions.n_observations, 256), 1)
    starts = range(0, n_draws, per_task)

    def run(first: int) -> Replicates:
        # Always the same number of draws, because XLA compiles for each shape.
        draws = range(first, first + per_task)
        return evaluate(draw_weights(predictions, units, draws, seed, bayesian=bayesian))

    return np.concatenate(parallel_map(run, starts, "bootstrap"))[:n_draws]


def draw_weights(
    predictions: Predictions, units: Units, draws: range, seed: int, *, bayesian: bool
) -> WeightsOfDraws:
    """Return how often (or with which weight) each observation is in some of the replicates."""
    draw = _dirichlet_weights if bayesian else _multinomial_weights
    sizes = units.drawn
    starts = np.cumsum(sizes) - sizes
    counts = np.empty((len(draws), predictions.n_observations))
    of_units = np.empty(len(units.stratum))
    # Only where units are not drawn within classes can a class be missing.
    is_stratified = len(units.sizes) >= len(predictions.present)
    stream = np.random.Philox(key=seed)
    generator, at_start = np.random.Generator(stream), stream.state
    for row, number in enumerate(draws):
        check_stopped()
        at_start["state"]["counter"][3] = number
        stream.state = at_start
        for _ in range(_MOST_TRIES):
            of_units[units.by_stratum] = draw(sizes, starts, generator)
            counts[row] = units.drawn_weights(of_units)
            if is_stratified or _has_all_classes(predictions, counts[row]):
                break
        else:
            raise ValueError(
                f"{_MOST_TRIES} resamples in a row lacked a class, because the sample has too few "
                "units of it: use method='jackknife'"
            )
    return counts


def _has_all_classes(predictions: Predictions, counts: PerRow) -> bool:
    weights = counts * predictions.sample_weight
    totals = np.bincount(predictions.true, weights, minlength=predictions.n_classes)
    return bool((totals[predictions.present] > 0).all())


def _multinomial_weights(
    sizes: IntPerStratum, starts: IntPerStratum, generator: np.random.Generator
) -> PerUnit:
    uniform = generator.random(sizes.sum())
    drawn = (np.repeat(starts, sizes) + np.repeat(sizes, sizes) * uniform).astype(int)
    return np.bincount(drawn, minlength=len(drawn)).astype(float)


def _dirichlet_weights(
    sizes: IntPerStratum, starts: IntPerStratum, generator: np.random.Generator
) -> PerUnit:
    exponential = generator.standard_exponential(sizes.sum())
    means = np.add.reduceat(exponential, starts) / sizes
    return exponential / np.repeat(means, sizes)


def _is_numpy_cheaper(bound: BoundMeasures, n_draws: int, n_folds: int) -> bool:
    """Whether NumPy evaluates all draws before JAX has compiled what evaluates them.

    Draws of fits take NumPy much longer, in proportion to the rates that are fitted; of all other
    statistics hardly. Folds of one shape are compiled once. The choice does not depend on earlier
    calls, which would change the last digit.
    """
    if not isinstance(bound, SummariesOfCounts):
        return False
    numbers = max(n_folds * bound.statistic.n_numbers, _NUMBERS_OF_COUNTS)
    return n_draws * numbers <= _MOST_BY_NUMPY


def _evaluator(
    bound: BoundMeasures, predictions: Predictions, n_draws: int, n_folds: int = 1
) -> _Evaluator:
    base, n_numbers = predictions.sample_weight, predictions.scores.size
    if isinstance(bound, MeanOverFolds):
        parts = [
            (rows, _evaluator(of_fold, predictions.rows(rows), n_draws, len(bound.rows)))
            for rows, of_fold in zip(bound.rows, bound.bound, strict=True)
        ]
        return lambda counts: np.mean([find(counts[:, rows]) for rows, find in parts], axis=0)
    if isinstance(bound, SummariesOfCounts):
        n_numbers = max(n_numbers, bound.statistic.n_numbers)
    at_once = max(_NUMBERS_AT_ONCE // n_numbers, 1)
    if not bound.is_compiled or _is_numpy_cheaper(bound, n_draws, n_folds):

        def evaluate(counts: WeightsOfDraws) -> Replicates:
            parts = range(0, len(counts), at_once)
            return np.concatenate([bound.values(counts[x : x + at_once] * base) for x in parts])

        return evaluate
    with undisturbed():
        from dmfroc.inference.compiled_replicates import replicates_of
    return replicates_of(bound, base, at_once)


def replicate_interval(
    value: float,
    replicates: PerDraw,
    influence: PerUnit,
    moments: Moments,
    level: float,
    bounds: tuple[float, float],
    interval: IntervalType,
    *,
    bayesian: bool = False,
) -> tuple[float, float]:
    """Return the interval that follows from the replicates (Efron and Tibshirani 1993).

    ``influence`` is that of each unit, ``moments`` are theirs. Where replicates are so biased that
    their quantiles exclude the value, the interval extends to it.
    """
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if interval == "bca":
        quantile = float(stdtrit(moments.spread.degrees_of_freedom, (1 + level) / 2))
        quantiles = np.array([-quantile, quantile])
        tails = _corrected_tails(value, replicates, influence, quantiles, bayesian=bayesian)
    low, high = np.clip(np.quantile(replicates, tails), *bounds).tolist()
    return min(low, value), max(high, value)


def _corrected_tails(
    value: float,
    values: PerDraw,
    influence: PerUnit,
    quantiles: Float[np.ndarray, " 2"],
    *,
    bayesian: bool,
) -> Float[np.ndarray, " 2"]:
    """Correct the levels of the percentiles for bias and acceleration.

    The skewness of Dirichlet weights is twice that of multinomial ones: replicates of the Bayesian
    bootstrap have the acceleration in their quantiles already, and too much of it in their median.
    """
    # The value is NumPy's and the replicates are JAX's: equal ones may differ by rounding.
    is_tied = np.isclose(values, value, rtol=_ROUNDING, atol=_ROUNDING)
    below = (np.sum((values < value) & ~is_tied) + np.sum(is_tied) / 2) / len(values)
    bias = ndtri(np.clip(below, 0.5 / len(values), 1 - 0.5 / len(values)))
    squares = (influence**2).sum()
    acceleration = (influence**3).sum() / (6 * squares**1.5) if squares > 0 else 0.0
    if bayesian:
        return ndtr(2 * bias - acceleration + quantiles)
    shifted = bias + quantiles
    return ndtr(bias + shifted / (1 - acceleration * shifted))
