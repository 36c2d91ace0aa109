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
_EFFECTS = ("pair_effect", "pair_shift", "threshold_effect")


def areas(rates: Float[AnyArray, "*draw q 2 t"], xp: Any) -> Float[AnyArray, "*draw q"]:
    """Return the area of each pair by the trapezoid rule."""
    edge = xp.zeros((*rates.shape[:-1], 1))
    padded = xp.concatenate([edge, rates, edge + 1], axis=-1)
    tpr, fpr = padded[..., 0, :], padded[..., 1, :]
    return ((tpr[..., 1:] + tpr[..., :-1]) * (fpr[..., 1:] - fpr[..., :-1])).sum(-1) / 2


def rates_of_pairs(drawn: Any, every: int = 1) -> Iterator[Float[np.ndarray, "chain some q 2 t"]]:
    """Yield the true and false positive rates of every pair, some draws of all chains at a time.

    They follow from what was ``drawn``, by name: the effects and shifts of the pairs, and those of
    the thresholds. Draws may be left out, but for one in so many.
    """
    scale, shift, logits = (np.asarray(drawn[name])[:, ::every] for name in _EFFECTS)
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
    return np.concatenate([areas(rates, np) for rates in rates_of_pairs(tree["posterior"])], axis=1)
