"""Rates and areas of single pairs of classes under the posterior of the multiclass curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray
from jaxtyping import Float, Int
from scipy.special import expit

from dmfroc._kit.arrays import AnyArray

_CELLS_AT_ONCE = 20_000_000
EFFECTS = ("pair_effect", "pair_shift", "threshold_effect")


def areas(rates: Float[AnyArray, "*draw q 2 t"], xp: Any) -> Float[AnyArray, "*draw q"]:
    """Return the area of each pair by the trapezoid rule."""
    edge = xp.zeros((*rates.shape[:-1], 1))
    padded = xp.concatenate([edge, rates, edge + 1], axis=-1)
    tpr, fpr = padded[..., 0, :], padded[..., 1, :]
    return ((tpr[..., 1:] + tpr[..., :-1]) * (fpr[..., 1:] - fpr[..., :-1])).sum(-1) / 2


def rates_of_pairs(tree: xarray.DataTree) -> Iterator[Float[np.ndarray, "chain some q 2 t"]]:
    """Yield the true and false positive rates of every pair, some draws of all chains at a time."""
    posterior = tree["posterior"]
    yield from rates_in_parts(*(posterior[name].to_numpy() for name in EFFECTS))


def rates_in_parts(
    scale: Float[np.ndarray, "chain draw q"],
    shift: Float[np.ndarray, "chain draw q 2"],
    logits: Float[np.ndarray, "chain draw 2 t"],
) -> Iterator[Float[np.ndarray, "chain some q 2 t"]]:
    """Yield the rates that these effects give the pairs, some draws of all chains at a time."""
    n_chains, n_draws, n_pairs = scale.shape
    step = max(1, _CELLS_AT_ONCE // (n_chains * n_pairs * logits[0, 0].size))
    for first in range(0, n_draws, step):
        part = slice(first, first + step)
        scaled = scale[:, part, :, None, None] * logits[:, part, None]
        yield expit(scaled + shift[:, part, :, :, None])


def replicated_counts(
    rates: Float[np.ndarray, "... t"], sizes: Int[np.ndarray, ...], generator: np.random.Generator
) -> Int[np.ndarray, "... t"]:
    """Draw how many of ``sizes`` observations are at or above each threshold, given the rates."""
    edge = np.zeros((*rates.shape[:-1], 1))
    shares = np.diff(np.concatenate([edge, rates, edge + 1], axis=-1), axis=-1).clip(0)
    shares /= shares.sum(axis=-1, keepdims=True)
    drawn = generator.multinomial(np.broadcast_to(sizes, shares.shape[:-1]), shares)
    return np.cumsum(drawn, axis=-1)[..., :-1]


def drawn_areas(tree: xarray.DataTree) -> Float[np.ndarray, "chain draw q"]:
    """Return the area of every pair in every draw of the curve."""
    return np.concatenate([areas(rates, np) for rates in rates_of_pairs(tree)], axis=1)


def drawn_covariances(
    tree: xarray.DataTree,
) -> tuple[Float[np.ndarray, "chain draw e e"], Float[np.ndarray, "chain draw t 2 2"]]:
    """Return the covariances of the effects of pairs, and of the logits of their rates.

    The effects are the random ones of the model: the log factor and, if there are any, the shifts.
    The logits are those of the pairs at hand, at every threshold.
    """
    posterior = tree["posterior"]
    spread, scale, shift, logits = (
        posterior[name].to_numpy()
        for name in ("spread", "pair_effect", "pair_shift", "threshold_effect")
    )
    if spread.ndim == 2:
        covariance = spread[..., None, None] ** 2
    else:
        root = spread[..., None] * posterior["correlation"].to_numpy()
        covariance = root @ np.swapaxes(root, -1, -2)
    effects = np.concatenate([scale[..., None], shift], axis=-1)
    effects = effects - effects.mean(axis=2, keepdims=True)
    between = np.swapaxes(effects, -1, -2) @ effects / effects.shape[2]
    # A rate's logit is its threshold effect times the factor, and its shift.
    slopes = np.zeros((*logits.shape[:2], logits.shape[3], 2, 3))
    slopes[..., 0] = np.swapaxes(logits, -1, -2)
    slopes[..., [0, 1], [1, 2]] = 1
    return covariance, slopes @ between[:, :, None] @ np.swapaxes(slopes, -1, -2)
