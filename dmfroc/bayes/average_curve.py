"""Prior of the average pair's ROC curve: binormal, and different from it as the data say."""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float, Int
from scipy.special import log_ndtr, ndtr

_NODE_DISTANCE, _N_NODES = 0.1, 301  # of the tabulated distances between two classes
_NEWTON_STEPS = 12
_BEYOND_ALL_SCORES = 1e3  # standard deviations


class AverageCurve(NamedTuple):
    """The average pair: logits of its rates, and the distances between neighbours.

    The distances are computed apart from the logits, whose differences would lose all digits
    between thresholds that hardly any score separates.
    """

    logits: Float[Array, "2 t"]
    distances: Float[Array, "2 t_minus_1"]


Halvings = Int[np.ndarray, "3 t"]
"""The bins between thresholds, halved until each is alone: start, middle and stop of each split."""


def sample_curve(
    counts: Float[Array, "2 t_plus_1"], discrimination_scale: float, split_scale: float
) -> AverageCurve:
    """Draw the curve by splitting the thresholds in half again and again.

    Each split's logit is that of a binormal curve and a deviation, whose variance is proportional
    to the share of the bins that are split, as if the log density were a Brownian motion. The
    counts between thresholds only choose coordinates: where they are large they fix the sum of
    the two terms, where they are small only the deviation is as simple as its prior. What is drawn
    goes from the one to the other (Papaspiliopoulos, Roberts and Skold 2007).
    """
    halvings = _halve(counts.shape[1])
    scale = split_scale * np.sqrt((halvings[2] - halvings[0]) / counts.shape[1])
    discrimination = numpyro.sample("discrimination", dist.Normal(0, 1))
    binormal = _binormal_splits(discrimination_scale * discrimination, halvings)
    known = _share_of_data(counts, halvings, scale)
    split = numpyro.sample("split", dist.Normal(known * binormal / scale, 1).to_event(2))
    return _curve_of_splits((1 - known) * binormal + scale * split, halvings)


def _share_of_data(
    counts: Float[Array, "2 t_plus_1"], halvings: Halvings, scale: Float[np.ndarray, " t"]
) -> Float[Array, "2 t"]:
    """Return the information on each split that is the counts' and not the prior's."""
    first, second = (counts @ is_in.T for is_in in _bins_of_halves(halvings))
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
    return np.array(splits).T


def _bins_of_halves(halvings: Halvings) -> list[Float[np.ndarray, "t t_plus_1"]]:
    """Return which bins are in the first half of each split, and which in the second."""
    bins = np.arange(halvings.shape[1] + 1)
    edges = [edge[:, None] for edge in halvings]
    return [
        ((start <= bins) & (bins < stop)).astype(float) for start, stop in itertools.pairwise(edges)
    ]


def _curve_of_splits(logit: Float[Array, "2 t"], halvings: Halvings) -> AverageCurve:
    """Return the curve whose splits have the given logits of falling into the first half."""
    is_first, is_second = _bins_of_halves(halvings)
    log_first = jax.nn.log_sigmoid(logit)
    share = jnp.exp(log_first @ is_first + (log_first - logit) @ is_second)
    # Products compile to fewer operations than cumulative sums.
    is_before = np.tri(logit.shape[1], share.shape[1]).T
    before, after = share @ is_before, share @ (1 - is_before)
    between = share[:, 1:-1]
    return AverageCurve(
        jnp.log(before) - jnp.log(after),
        jnp.log1p(between / before[:, :-1]) + jnp.log1p(between / after[:, 1:]),
    )


def _binormal_splits(discrimination: Float[Array, ""], halvings: Halvings) -> Float[Array, "2 t"]:
    """Return the logits of the splits of two unit normal distributions so far apart.

    They are smooth functions of the distance alone, and are interpolated in a table by cubics that
    have the right values and slopes at its nodes. To compute them would take most of the time of
    every step of a chain, and of compiling it. Beyond the table they stay as they are.
    """
    values, slopes = _split_table(halvings.shape[1] + 1)
    distance = jnp.where(discrimination < 0, -discrimination, discrimination)
    place = jnp.minimum(distance / _NODE_DISTANCE, len(values) - 1)
    node = jnp.minimum(place.astype(int), len(values) - 2)
    x = place - node
    left, right = (
        weight * jnp.asarray(values)[at] + slope_weight * jnp.asarray(slopes)[at]
        for at, weight, slope_weight in (
            (node, (1 - x) ** 2 * (1 + 2 * x), x * (1 - x) ** 2),
            (node + 1, x**2 * (3 - 2 * x), x**2 * (x - 1)),
        )
    )
    # Two classes that change places have each other's rates.
    return jnp.where(discrimination < 0, (left + right)[::-1], left + right)


@cache
def _split_table(n_bins: int) -> tuple[Float[np.ndarray, "m 2 t"], Float[np.ndarray, "m 2 t"]]:
    """Return logits of the splits at the nodes, and their slopes per distance of two nodes."""
    distance = _NODE_DISTANCE * np.arange(_N_NODES)[:, None]
    halvings, quantiles = _halve(n_bins), pooled_quantiles(distance, n_bins - 1)
    slope = np.tanh(quantiles * distance / 2) / 2  # by the derivative of the pool's distribution
    beyond = ((0, 0), (1, 1))
    edges = np.pad(quantiles, beyond, constant_values=(-_BEYOND_ALL_SCORES, _BEYOND_ALL_SCORES))
    slopes = np.pad(slope, beyond)
    halves = np.array([[0.5], [-0.5]])
    shares = [
        _log_normal_share(
            edges[:, None, low] + halves * distance[..., None],
            edges[:, None, high] + halves * distance[..., None],
            slopes[:, None, low] + halves,
            slopes[:, None, high] + halves,
        )
        for low, high in itertools.pairwise(halvings)
    ]
    values, rises = (first - second for first, second in zip(*shares, strict=True))
    return values, _NODE_DISTANCE * rises


def pooled_quantiles(
    distance: Float[np.ndarray, "m 1"], n_thresholds: int
) -> Float[np.ndarray, "m t"]:
    """Return evenly spaced quantiles of two unit normals that are this distance apart, as one.

    Newton's method starts where the pool is densest and so cannot overshoot.
    """
    level = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    upper = 2 * np.maximum(level, 1 - level)
    half = np.abs(distance) / 2
    x = np.broadcast_to(np.sqrt(np.maximum(half**2 - 1, 0)), (len(distance), n_thresholds))
    for _ in range(_NEWTON_STEPS):
        excess = ndtr(x + half) + ndtr(x - half) - upper
        density = np.exp(-((x + half) ** 2) / 2) + np.exp(-((x - half) ** 2) / 2)
        x = x - np.sqrt(2 * np.pi) * excess / density
    return np.where(upper == 1, 0.0, np.sign(level - 0.5) * x)


def _log_normal_share(
    low: Float[np.ndarray, "m 2 t"],
    high: Float[np.ndarray, "m 2 t"],
    d_low: Float[np.ndarray, "m 2 t"],
    d_high: Float[np.ndarray, "m 2 t"],
) -> Float[np.ndarray, "2 m 2 t"]:
    """Return the log probability of a standard normal between two edges, and its derivative."""
    is_upper = low + high > 0
    log_below_low = log_ndtr(np.where(is_upper, -high, low))
    log_below_high = log_ndtr(np.where(is_upper, -low, high))
    share = log_below_high + np.log(-np.expm1(log_below_low - log_below_high))
    at_low, at_high = (np.exp(-(x**2) / 2 - np.log(2 * np.pi) / 2 - share) for x in (low, high))
    return np.stack([share, at_high * d_high - at_low * d_low])
