"""Rates and areas of single pairs of classes under the posterior of the multiclass curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray
from jaxtyping import Float
from scipy.special import expit

from dmfroc._arrays import AnyArray

_CELLS_AT_ONCE = 20_000_000


def areas(rates: Float[AnyArray, "*draw q 2 t"], xp: Any) -> Float[AnyArray, "*draw q"]:
    """Return the area of each pair by the trapezoid rule."""
    edge = xp.zeros((*rates.shape[:-1], 1))
    padded = xp.concatenate([edge, rates, edge + 1], axis=-1)
    tpr, fpr = padded[..., 0, :], padded[..., 1, :]
    return ((tpr[..., 1:] + tpr[..., :-1]) * (fpr[..., 1:] - fpr[..., :-1])).sum(-1) / 2


def rates_of_pairs(tree: xarray.DataTree) -> Iterator[Float[np.ndarray, "chain some q 2 t"]]:
    """Yield the true and false positive rates of every pair, some draws of all chains at a time."""
    posterior = tree["posterior"]
    scale, shift, logits = (
        posterior[name].to_numpy() for name in ("pair_effect", "pair_shift", "threshold_effect")
    )
    n_chains, n_draws, n_pairs = scale.shape
    step = max(1, _CELLS_AT_ONCE // (n_chains * n_pairs * logits[0, 0].size))
    for first in range(0, n_draws, step):
        part = slice(first, first + step)
        of_pairs = scale[:, part, :, None, None] * logits[:, part, None]
        yield expit(of_pairs + shift[:, part, :, :, None])


def drawn_areas(tree: xarray.DataTree) -> Float[np.ndarray, "chain draw q"]:
    """Return the area of every pair in every draw of the curve."""
    return np.concatenate([areas(rates, np) for rates in rates_of_pairs(tree)], axis=1)
