"""The curve of a posterior: its mean, and a credible interval at each false positive rate."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import xarray
from jaxtyping import Float

from dmfroc.bayes.pairs import rates_of_pairs
from dmfroc.multiclass.band import DEFAULT_N_POINTS, CurveBand, grid_of_band
from dmfroc.results.result import AttributeTables


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorCurve(AttributeTables):
    """The posterior mean of the multiclass ROC curve.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray of shape (m,)
        The mean of the true positive rates of all draws at each false positive rate, from (0, 0)
        to (1, 1); both coordinates non-decreasing.
    auc : float
        Posterior mean of the area, in [0, 1]; 1/2 for guessing.
    pairs : tuple of (label, label), length q
        The ordered pairs (classification class, reference class).
    pairwise_fpr, pairwise_tpr : numpy.ndarray of shape (q, T)
        Posterior means of the rates of each pair at the thresholds.
    """

    fpr: Float[np.ndarray, " m"]
    tpr: Float[np.ndarray, " m"]
    auc: float
    pairs: tuple[tuple[Hashable, Hashable], ...]
    pairwise_fpr: Float[np.ndarray, "q t"]
    pairwise_tpr: Float[np.ndarray, "q t"]


def mean_curve(tree: xarray.DataTree, n_points: int = DEFAULT_N_POINTS) -> PosteriorCurve:
    """Return the mean of the curves of all draws."""
    fpr, drawn = _drawn_curves(tree, n_points)
    posterior = tree["posterior"]
    sums = [rates.sum(axis=(0, 1)) for rates in rates_of_pairs(tree)]
    tpr_of_pairs, fpr_of_pairs = np.moveaxis(np.sum(sums, axis=0) / len(drawn), 1, 0)
    classes = (
        tree["constant_data"][name].to_numpy().tolist()
        for name in ("classification_class", "reference_class")
    )
    return PosteriorCurve(
        fpr,
        drawn.mean(axis=0),
        float(posterior["auc"].mean()),
        tuple(zip(*classes, strict=True)),
        fpr_of_pairs,
        tpr_of_pairs,
    )


def credible_band(tree: xarray.DataTree, level: float, n_points: int) -> CurveBand:
    """Return the quantiles, at each false positive rate, of the true ones of all draws."""
    fpr, drawn = _drawn_curves(tree, n_points)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return CurveBand(fpr, drawn.mean(axis=0), low, high, level, "bayes")


def _drawn_curves(
    tree: xarray.DataTree, n_points: int
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "draws m"]]:
    """Return false positive rates, denser at both ends, and the true ones of every draw there."""
    fpr = grid_of_band(n_points)
    rates = (tree["posterior"][name].to_numpy() for name in ("fpr", "tpr"))
    curves = zip(*(x.reshape(-1, x.shape[2]) for x in rates), strict=True)
    return fpr, np.stack([np.interp(fpr, x, y) for x, y in curves])
