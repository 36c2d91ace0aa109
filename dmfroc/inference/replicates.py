"""Replicates of any function of the observation weights, and intervals from them.

A replicate is a vector of weights: how often each unit was drawn, or a Dirichlet vector. Draw
number d has a random stream of its own, so that results depend on the seed alone, not on how many
draws are computed at a time. All classifiers of the same sample see the same replicates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from dmfroc._kit.arrays import PerDraw, PerRow
from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.threads import check_stopped, parallel_map
from dmfroc.inference.influences import Moments
from dmfroc.inference.scales import quantile_in_standard_errors, scale_of
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, MeanOverFolds, SummariesOfCounts

IntervalType = Literal["bca", "percentile", "basic", "studentized"]
INTERVAL_TYPES = get_args(IntervalType)
_SCORES_AT_ONCE = 1 << 19  # of the replicates that are computed as one
_NUMBERS_PER_TASK = 1 << 21  # weights that are drawn at a time
_MOST_TRIES = 1000
_MOST_BY_NUMPY = 200_000_000  # numbers of all draws; measured against the first call of JAX
_NUMBERS_OF_COUNTS = 16_000  # as many as a draw without a fit counts
_ROUNDING = 1e-12


class Replicates(NamedTuple):
    """The measure's value in every replicate, and its standard error there if asked for."""

    values: Float[np.ndarray, "draws values"]
    standard_errors: PerDraw | None = None


def replicate_values(
    bound: BoundMeasures,
    predictions: Predictions,
    units: Units,
    *,
    bayesian: bool,
    n_draws: int,
    seed: int,
    standard_errors: bool = False,
) -> Replicates:
    """Return the values of a bound measure under resampled weights."""
    is_by_class = len(units.stratum) == predictions.n_observations and np.array_equal(
        units.sizes, predictions.class_counts[predictions.present]
    )
    if is_by_class and units.shares is None and not standard_errors:
        kind = "bayesian_bootstrap" if bayesian else "bootstrap"
        on_device = bound.drawn(predictions, kind, n_draws, seed)
        if on_device is not None:
            return Replicates(on_device)
    evaluate = _evaluator(bound, predictions, units, n_draws, standard_errors=standard_errors)
    per_task = max(min(_NUMBERS_PER_TASK // predictions.n_observations, 256), 1)
    starts = range(0, n_draws, per_task)

    def run(first: int) -> Replicates:
        # Always the same number of draws, because XLA compiles for each shape.
        draws = range(first, first + per_task)
        return evaluate(draw_weights(predictions, units, draws, seed, bayesian=bayesian))

    parts = parallel_map(run, starts, "bootstrap")
    values = np.concatenate([part.values for part in parts])[:n_draws]
    if not standard_errors:
        return Replicates(values)
    return Replicates(values, np.concatenate([part.standard_errors for part in parts])[:n_draws])


def draw_weights(
    predictions: Predictions, units: Units, draws: range, seed: int, *, bayesian: bool
) -> Float[np.ndarray, "draws n"]:
    """Return how often (or with which weight) each observation is in some of the replicates."""
    draw = _dirichlet_weights if bayesian else _multinomial_weights
    stratum, sizes = units.drawn
    order = np.argsort(stratum, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
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
            of_units[order] = draw(sizes, starts, generator)
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
    sizes: Int[np.ndarray, " s"], starts: Int[np.ndarray, " s"], generator: np.random.Generator
) -> Float[np.ndarray, " u"]:
    uniform = generator.random(sizes.sum())
    drawn = (np.repeat(starts, sizes) + np.repeat(sizes, sizes) * uniform).astype(int)
    return np.bincount(drawn, minlength=len(drawn)).astype(float)


def _dirichlet_weights(
    sizes: Int[np.ndarray, " s"], starts: Int[np.ndarray, " s"], generator: np.random.Generator
) -> Float[np.ndarray, " u"]:
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
    bound: BoundMeasures,
    predictions: Predictions,
    units: Units,
    n_draws: int,
    *,
    standard_errors: bool,
    n_folds: int = 1,
) -> Callable[[Float[np.ndarray, "draws n"]], Replicates]:
    base, n_scores = predictions.sample_weight, predictions.scores.size
    if isinstance(bound, MeanOverFolds):
        return _evaluator_of_folds(bound, predictions, units, n_draws, standard_errors)
    if not bound.is_compiled or (
        not standard_errors and _is_numpy_cheaper(bound, n_draws, n_folds)
    ):
        if standard_errors:
            raise ValueError(
                "interval='studentized' needs the derivative in every replicate, which this "
                "measure's bootstrap does without: use 'bca' or 'percentile'"
            )
        at_once = max(_SCORES_AT_ONCE // n_scores, 1)

        def evaluate(counts: Float[np.ndarray, "draws n"]) -> Replicates:
            parts = range(0, len(counts), at_once)
            values = [bound.values(counts[first : first + at_once] * base) for first in parts]
            return Replicates(np.concatenate(values))

        return evaluate
    with undisturbed():
        from dmfroc.inference.compiled_replicates import replicates_of

    find = replicates_of(bound, base, n_scores, units if standard_errors else None)
    return lambda counts: Replicates(*find(counts))


def _evaluator_of_folds(
    bound: MeanOverFolds,
    predictions: Predictions,
    units: Units,
    n_draws: int,
    standard_errors: bool,
) -> Callable[[Float[np.ndarray, "draws n"]], Replicates]:
    if standard_errors:
        raise ValueError("interval='studentized' knows no folds: use 'bca' or 'percentile'")
    common: dict[str, Any] = {"standard_errors": False, "n_folds": len(bound.rows)}
    parts = [
        (rows, _evaluator(of_fold, predictions.rows(rows), units, n_draws, **common))
        for rows, of_fold in zip(bound.rows, bound.bound, strict=True)
    ]

    def evaluate(counts: Float[np.ndarray, "draws n"]) -> Replicates:
        values = [of_fold(counts[:, rows]).values for rows, of_fold in parts]
        return Replicates(np.mean(values, axis=0))

    return evaluate


def replicate_interval(
    value: float,
    replicates: Replicates,
    influence: Float[np.ndarray, " u"],
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
        quantile = quantile_in_standard_errors(moments, level)
        quantiles = np.array([-quantile, quantile])
        tails = _corrected_tails(value, replicates.values, influence, quantiles, bayesian=bayesian)
    if interval in ("bca", "percentile"):
        ends = np.quantile(replicates.values, tails)
    elif interval == "basic":
        ends = 2 * value - np.quantile(replicates.values, tails[::-1])
    else:
        ends = _studentized_ends(value, moments.standard_error, replicates, tails, bounds)
    low, high = np.clip(ends, *bounds).tolist()
    return min(low, value), max(high, value)


def _corrected_tails(
    value: float,
    values: PerDraw,
    influence: Float[np.ndarray, " u"],
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


def _studentized_ends(
    value: float,
    standard_error: float,
    replicates: Replicates,
    tails: Float[np.ndarray, " 2"],
    bounds: tuple[float, float],
) -> Float[np.ndarray, " 2"]:
    """Return the bootstrap-t interval, on the scale where the measure's range has no ends."""
    assert replicates.standard_errors is not None
    scale = scale_of(bounds)
    inside = (replicates.values > bounds[0]) & (replicates.values < bounds[1])
    inside &= replicates.standard_errors > 0
    values, errors = replicates.values[inside], replicates.standard_errors[inside]
    pivots = (scale.to_line(values) - scale.to_line(value)) / (scale.slope(values) * errors)
    low, high = np.quantile(pivots, tails)
    width = scale.slope(value) * standard_error
    return scale.from_line(scale.to_line(value) - np.array([high, low]) * width)
