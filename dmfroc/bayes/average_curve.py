"""Prior of the average pair's ROC curve: binormal, and different from it as the data say."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import lax
from jax.scipy.special import log_ndtr, ndtr
from jaxtyping import Array, Float, Int

_NEWTON_STEPS = 12
_BEYOND_ALL_SCORES = 1e3  # standard deviations


class Curve(NamedTuple):
    """The average pair: logits of its rates, and the distances between neighbours.

    The distances are computed apart from the logits, whose differences would lose all digits
    between thresholds that hardly any score separates.
    """

    logits: Float[Array, "2 t"]
    distances: Float[Array, "2 t_minus_1"]


class Halvings(NamedTuple):
    """The bins between thresholds, halved until each is alone; a split per threshold."""

    start: Int[np.ndarray, " t"]
    middle: Int[np.ndarray, " t"]
    stop: Int[np.ndarray, " t"]


def sample_curve(
    counts: Float[Array, "2 t_plus_1"], discrimination_scale: float, split_scale: float
) -> Curve:
    """Draw the curve by splitting the thresholds in half again and again.

    Each split's logit is that of a binormal curve and a deviation, whose variance is proportional
    to the share of the bins that are split, as if the log density were a Brownian motion. The
    counts between thresholds only choose coordinates: where they are large they fix the sum of
    the two terms, where they are small only the deviation is as simple as its prior. What is drawn
    goes from the one to the other (Papaspiliopoulos, Roberts and Skold 2007).
    """
    halvings = _halve(counts.shape[1])
    scale = split_scale * np.sqrt((halvings.stop - halvings.start) / counts.shape[1])
    discrimination = numpyro.sample("discrimination", dist.Normal(0, 1))
    binormal = _binormal_splits(discrimination_scale * discrimination, halvings)
    known = _share_of_data(counts, halvings, scale)
    split = numpyro.sample("split", dist.Normal(known * binormal / scale, 1).to_event(2))
    return _curve_of_splits((1 - known) * binormal + scale * split, halvings)


def _share_of_data(
    counts: Float[Array, "2 t_plus_1"], halvings: Halvings, scale: Float[np.ndarray, " t"]
) -> Float[Array, "2 t"]:
    """Return the information on each split that is the counts' and not the prior's."""
    up_to = jnp.pad(jnp.cumsum(counts, axis=1), ((0, 0), (1, 0)))
    at_start, at_middle, at_stop = (up_to[:, edge] for edge in halvings)
    first, second = at_middle - at_start, at_stop - at_middle
    information = first * second / jnp.maximum(first + second, 1e-9)
    return information / (information + 1 / scale**2)


@cache
def _halve(n_bins: int) -> Halvings:
    splits = []
    ranges = [(0, n_bins)]
    while ranges:
        start, stop = ranges.pop(0)
        if stop - start > 1:
            middle = (start + stop) // 2
            splits.append((start, middle, stop))
            ranges += [(start, middle), (middle, stop)]
    return Halvings(*np.array(splits).T)


def _curve_of_splits(logit: Float[Array, "2 t"], halvings: Halvings) -> Curve:
    """Return the curve whose splits have the given logits of falling into the first half."""
    start, middle, stop = (edge[:, None] for edge in halvings)
    bins = np.arange(logit.shape[1] + 1)
    is_first, is_second = (
        ((first <= bins) & (bins < last)).astype(float)
        for first, last in ((start, middle), (middle, stop))
    )
    log_first = jax.nn.log_sigmoid(logit)
    share = jnp.exp(log_first @ is_first + (log_first - logit) @ is_second)
    before = jnp.cumsum(share, axis=1)[:, :-1]
    after = jnp.cumsum(share[:, ::-1], axis=1)[:, -2::-1]
    between = share[:, 1:-1]
    return Curve(
        jnp.log(before) - jnp.log(after),
        jnp.log1p(between / before[:, :-1]) + jnp.log1p(between / after[:, 1:]),
    )


def _binormal_splits(discrimination: Float[Array, ""], halvings: Halvings) -> Float[Array, "2 t"]:
    """Return the logits of the splits of two unit normal distributions so far apart."""
    quantiles = _pooled_quantiles(discrimination, len(halvings.middle))
    beyond = (-_BEYOND_ALL_SCORES, _BEYOND_ALL_SCORES)
    edges = jnp.pad(quantiles, 1, constant_values=beyond)
    edges = edges + discrimination / 2 * np.array([[1.0], [-1.0]])
    of_halves = _log_normal_share(edges[:, halvings[:2]], edges[:, halvings[1:]])
    return of_halves[:, 0] - of_halves[:, 1]


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _pooled_quantiles(distance: Float[Array, ""], n_thresholds: int) -> Float[Array, " t"]:
    """Return evenly spaced quantiles of two unit normals that are this distance apart, as one.

    Newton's method starts where the pool is densest and so cannot overshoot.
    """
    level = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    upper = 2 * np.maximum(level, 1 - level)
    half = jnp.abs(distance) / 2

    def newton_step(_: Any, x: Array) -> Array:
        excess = ndtr(x + half) + ndtr(x - half) - upper
        density = jnp.exp(-((x + half) ** 2) / 2) + jnp.exp(-((x - half) ** 2) / 2)
        return x - np.sqrt(2 * np.pi) * excess / density

    start = jnp.full(n_thresholds, jnp.sqrt(jnp.maximum(half**2 - 1, 0)))
    found = lax.fori_loop(0, _NEWTON_STEPS, newton_step, start)
    return jnp.where(upper == 1, 0.0, np.sign(level - 0.5) * found)


@_pooled_quantiles.defjvp
def _pooled_quantiles_jvp(
    n_thresholds: int, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    [distance], [tangent] = primals, tangents
    quantiles = _pooled_quantiles(distance, n_thresholds)
    return quantiles, jnp.tanh(quantiles * distance / 2) / 2 * tangent


@jax.custom_jvp
def _log_normal_share(
    low: Float[Array, "*splits"], high: Float[Array, "*splits"]
) -> Float[Array, "*splits"]:
    """Return the log probability of a standard normal between two edges, in either tail.

    Its derivative is given, since that of `log_ndtr` takes most of the time of compiling a model.
    """
    is_upper = low + high > 0
    low, high = jnp.where(is_upper, -high, low), jnp.where(is_upper, -low, high)
    log_below_low, log_below_high = log_ndtr(jnp.stack([low, high]))
    return log_below_high + jnp.log(-jnp.expm1(log_below_low - log_below_high))


@_log_normal_share.defjvp
def _log_normal_share_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    share = _log_normal_share(*primals)
    log_densities = -jnp.square(jnp.stack(primals)) / 2 - np.log(2 * np.pi) / 2
    at_low, at_high = jnp.exp(log_densities - share)
    return share, at_high * tangents[1] - at_low * tangents[0]
