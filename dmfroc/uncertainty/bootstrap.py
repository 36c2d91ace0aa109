"""Bootstrap and Bayesian bootstrap of any function of the observation weights.

A replicate is a vector of weights: how often each unit was drawn, or a Dirichlet vector. Draw
number d has a random stream of its own, so that results depend on the seed alone, not on how many
draws are computed at a time, and all classifiers of the same sample see the same replicates.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int
from scipy.special import ndtr, ndtri

from dmfroc._backend import double_precision, share
from dmfroc._progress import track
from dmfroc.measures.base import BoundMeasure
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.jackknife import Moments, quantile_in_standard_errors, standard_error
from dmfroc.uncertainty.scale import scale_of
from dmfroc.uncertainty.units import Units

IntervalType = Literal["bca", "percentile", "basic", "studentized"]
INTERVAL_TYPES = get_args(IntervalType)
_SCORES_AT_ONCE = 1 << 19  # of the replicates that are computed as one
_SCORES_AT_ONCE_WITH_ERRORS = 1 << 16
_NUMBERS_PER_TASK = 1 << 21  # weights that are drawn at a time
_MOST_TRIES = 1000
_ROUNDING = 1e-12


class Replicates(NamedTuple):
    """The measure's value in every replicate, and its standard error there if asked for."""

    values: Float[np.ndarray, " draws *value"]
    standard_errors: Float[np.ndarray, " draws"] | None = None


@double_precision
def replicate_values(
    bound: BoundMeasure,
    predictions: Predictions,
    units: Units,
    *,
    bayesian: bool,
    n_draws: int,
    seed: int,
    standard_errors: bool = False,
) -> Replicates:
    """Return the values of a bound measure under resampled weights."""
    evaluate = _evaluator(bound, predictions, units, standard_errors)
    per_task = max(min(_NUMBERS_PER_TASK // predictions.n_observations, 256), 1)
    starts = range(0, n_draws, per_task)

    def run(first: int) -> Replicates:
        # Always the same number of draws, because XLA compiles for each shape.
        draws = range(first, first + per_task)
        return evaluate(draw_weights(predictions, units, draws, seed, bayesian=bayesian))

    with ThreadPoolExecutor(cpu_count()) as executor:
        parts = list(track(executor.map(run, starts), len(starts), "bootstrap"))
    values = np.concatenate([part.values for part in parts])[:n_draws]
    if not standard_errors:
        return Replicates(values)
    return Replicates(values, np.concatenate([part.standard_errors for part in parts])[:n_draws])


def draw_weights(
    predictions: Predictions, units: Units, draws: range, seed: int, *, bayesian: bool
) -> Float[np.ndarray, "draws n"]:
    """Return how often (or with which weight) each observation is in some of the replicates."""
    draw = _dirichlet_weights if bayesian else _multinomial_weights
    order = np.argsort(units.stratum, kind="stable")
    starts = np.concatenate([[0], np.cumsum(units.sizes)[:-1]])
    counts = np.empty((len(draws), predictions.n_observations))
    of_units = np.empty(len(units.stratum))
    # Only where units are not drawn within classes can a class be missing.
    is_stratified = len(units.sizes) == len(predictions.present)
    for row, number in enumerate(draws):
        generator = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, number]))
        for _ in range(_MOST_TRIES):
            of_units[order] = draw(units.sizes, starts, generator)
            counts[row] = of_units[units.of_row]
            if is_stratified or _has_all_classes(predictions, counts[row]):
                break
        else:
            raise ValueError(
                f"{_MOST_TRIES} resamples in a row lacked a class, of which the sample has too few "
                "units: use method='jackknife'"
            )
    return counts


def _has_all_classes(predictions: Predictions, counts: Float[np.ndarray, " n"]) -> bool:
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


def _evaluator(
    bound: BoundMeasure, predictions: Predictions, units: Units, standard_errors: bool
) -> Callable[[Float[np.ndarray, "draws n"]], Replicates]:
    at_once = _SCORES_AT_ONCE_WITH_ERRORS if standard_errors else _SCORES_AT_ONCE
    batch_size = max(at_once // predictions.scores.size, 1)
    arrays = share(units.of_row), share(units.stratum), share(units.sizes)
    base = share(predictions.sample_weight)

    @double_precision
    def evaluate(counts: np.ndarray) -> Replicates:
        if standard_errors:
            found = _values_and_errors(bound, share(counts), base, *arrays, batch_size)
            return Replicates(*(np.asarray(column) for column in found))
        return Replicates(np.asarray(_values(bound, share(counts), base, batch_size)))

    return evaluate


@jax.jit(static_argnames="batch_size")
def _values(
    bound: BoundMeasure,
    counts: Float[Array, "draws n"],
    base: Float[Array, " n"],
    batch_size: int,
) -> Float[Array, " draws *value"]:
    return lax.map(lambda count: bound(count * base), counts, batch_size=batch_size)


@jax.jit(static_argnames="batch_size")
def _values_and_errors(
    bound: BoundMeasure,
    counts: Float[Array, "draws n"],
    base: Float[Array, " n"],
    unit_of_row: Int[Array, " n"],
    stratum: Int[Array, " u"],
    sizes: Int[Array, " s"],
    batch_size: int,
) -> tuple[Float[Array, " draws"], Float[Array, " draws"]]:
    """Return each replicate's value and infinitesimal jackknife standard error."""

    def replicate(count: Float[Array, " n"]) -> tuple[Array, Array]:
        value, gradient = jax.value_and_grad(bound)(count * base)
        influence = jnp.zeros(len(stratum)).at[unit_of_row].add(gradient * base)
        count_of_unit = jnp.zeros(len(stratum)).at[unit_of_row].max(count)
        squares = jnp.zeros(len(sizes)).at[stratum].add(count_of_unit * influence**2)
        return value, jnp.sqrt((squares * sizes / jnp.maximum(sizes - 1, 1)).sum())

    return lax.map(replicate, counts, batch_size=batch_size)


def replicate_interval(
    value: float,
    replicates: Replicates,
    influence: Float[np.ndarray, " u"],
    moments: Moments,
    level: float,
    bounds: tuple[float, float],
    interval_type: IntervalType,
    *,
    bayesian: bool = False,
) -> tuple[float, float]:
    """Return the interval that follows from the replicates (Efron and Tibshirani 1993).

    ``influence`` is that of each unit, ``moments`` are theirs.
    """
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if interval_type == "bca":
        quantile = quantile_in_standard_errors(moments, level)
        quantiles = np.array([-quantile, quantile])
        tails = _corrected_tails(value, replicates.values, influence, quantiles, bayesian=bayesian)
    if interval_type in ("bca", "percentile"):
        ends = np.quantile(replicates.values, tails)
    elif interval_type == "basic":
        ends = 2 * value - np.quantile(replicates.values, tails[::-1])
    else:
        ends = _studentized_ends(value, standard_error(moments), replicates, tails, bounds)
    return max(float(ends[0]), bounds[0]), min(float(ends[1]), bounds[1])


def _corrected_tails(
    value: float,
    values: Float[np.ndarray, " draws"],
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


def seed_of(random_state: int | np.random.Generator | None) -> int:
    """Return the seed of the replicates' random streams."""
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, but it is {random_state}")
        return int(random_state)
    return int(np.random.default_rng(random_state).integers(2**31))
