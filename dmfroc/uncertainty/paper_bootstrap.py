"""The bootstrap of Wang and Carvalho (2024): every cell of the rate matrices drawn by itself.

It is here to reproduce the paper. The rows of one column are cumulative counts of the same
observations, not independent binomials, so that its intervals are far too narrow.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from dmfroc._backend import share
from dmfroc.measures.base import BoundMeasure, Measure
from dmfroc.measures.multiclass_roc import BoundCurve, area_under_curve, curve_points
from dmfroc.predictions import Predictions

CAVEAT = (
    "the paper's bootstrap takes cumulative counts of the same observations for independent: its "
    "nominal 95 % interval covers the truth in about one sample of eight; use it only to "
    "reproduce the paper"
)


def cell_replicates(
    measure: Measure, bound: BoundMeasure, predictions: Predictions, n_draws: int, seed: int
) -> Float[np.ndarray, " draws"]:
    """Return the DMF-AUC of rate matrices whose cells are independent binomial proportions."""
    if getattr(bound, "func", None) is not area_under_curve:
        raise ValueError(
            "method='paper_bootstrap' draws the cells of the rate matrices: it is for 'dmf_auc' "
            f"of three or more classes, not for {measure.name!r} of {predictions.n_classes}"
        )
    curve: BoundCurve = bound.args[0]  # type: ignore[attr-defined]
    rates = curve.rates_at(predictions.sample_weight)
    counted = np.asarray(curve.rates.block_class).reshape(-1, 2)
    sizes = predictions.class_counts[predictions.present][counted][..., None]
    generator = np.random.default_rng(seed)
    drawn = generator.binomial(sizes, np.clip(rates, 0, 1), size=(n_draws, *rates.shape)) / sizes
    return np.asarray(_areas(curve, share(drawn)))


@jax.jit
def _areas(curve: BoundCurve, rates: Float[Array, "draws q 2 t"]) -> Float[Array, " draws"]:
    def area(rates: Float[Array, "q 2 t"]) -> Float[Array, ""]:
        fpr, tpr = curve_points(curve.fit(rates))
        # Independent cells need not rise with the threshold; the paper sums them as they are.
        return jnp.trapezoid(tpr, fpr)

    return lax.map(area, rates)
