"""How pairs of classes vary about the average pair, by the posterior of the multiclass curve."""

from __future__ import annotations

import numpy as np
import xarray

from dmfroc.bayes import Posterior
from dmfroc.extend import instance, interval_of_draws


def pair_covariance(posterior: Posterior) -> xarray.Dataset:
    """Return how the pairs of classes vary about the average pair.

    Parameters
    ----------
    posterior : Posterior
        What `dmfroc.bayes.bayesian_roc` returns.

    Returns
    -------
    xarray.Dataset
        Posterior means and ends of the interval (dimension ``summary``: value, low, high) of the
        covariances. ``effects`` are those of the random effects of a pair: its log factor and, in
        the hierarchical model, the shifts of both rates. ``logits`` are those of both rates over
        the pairs at hand, at each threshold. With one factor for each pair these are proportional,
        ``lambda_t lambda_t' var(v)``.

    Raises
    ------
    ValueError
        If the posterior is not that of a curve.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, equations 19 to 21.

    Examples
    --------
    >>> from dmfroc.bayes import bayesian_roc
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> scores = rng.normal(size=(60, 3)) + np.eye(3)[y]
    >>> options = {"n_thresholds": 9, "algorithm": "laplace", "n_draws": 50}
    >>> covariance = pair_covariance(bayesian_roc(y, scores, **options))
    >>> list(covariance.logits.shape)
    [3, 9, 2, 2]
    """
    draws = instance("posterior", posterior, Posterior).posterior["posterior"]
    if "pair_effect" not in draws:
        raise ValueError(f"the posterior of {posterior.measure} has no pairs: take bayesian_roc's")

    def of(name: str) -> np.ndarray:
        """Return the draws of all chains."""
        values = draws[name].to_numpy()
        return values.reshape(-1, *values.shape[2:])

    spread, scale, shift = of("spread"), of("pair_effect"), of("pair_shift")
    logits = of("threshold_effect")
    if spread.ndim == 1:
        covariance = spread[:, None, None] ** 2
    else:
        root = spread[..., None] * of("correlation")
        covariance = root @ root.swapaxes(1, 2)
    effects = np.concatenate([scale[..., None], shift], axis=-1)
    effects = effects - effects.mean(axis=1, keepdims=True)
    between = effects.swapaxes(1, 2) @ effects / effects.shape[1]
    # A rate's logit is its threshold effect times the factor, and its shift.
    slopes = np.zeros((len(logits), logits.shape[2], 2, 3))
    slopes[..., 0] = logits.swapaxes(1, 2)
    slopes[..., [0, 1], [1, 2]] = 1
    of_logits = slopes @ between[:, None] @ slopes.swapaxes(2, 3)
    of_effects, of_logits = (
        np.concatenate([x.mean(axis=0)[None], interval_of_draws(x, posterior.level)])
        for x in (covariance, of_logits)
    )
    effect, rate = ["factor", "tpr", "fpr"][: of_effects.shape[1]], ["tpr", "fpr"]
    return xarray.Dataset(
        {
            "effects": (["summary", "effect", "effect_2"], of_effects),
            "logits": (["summary", "threshold", "rate", "rate_2"], of_logits),
        },
        coords={
            "summary": ["value", "low", "high"],
            "effect": effect,
            "effect_2": effect,
            "threshold": draws["threshold"].to_numpy(),
            "rate": rate,
            "rate_2": rate,
        },
    )
