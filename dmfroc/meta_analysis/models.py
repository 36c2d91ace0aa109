"""NumPyro models of the counts of studies, and what they say of summary curves.

Every model draws the logits of both rates of each study, jointly normal; counts are binomial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float

from dmfroc.meta_analysis.data import Counts

ModelName = Literal["bivariate", "hsroc"]
Model = Callable[[Counts], None]


@dataclass(frozen=True)
class SummaryPriors:
    """Scales of the prior distributions of a meta-analysis.

    Attributes
    ----------
    location_scale : float
        Standard deviation of the mean logit rates (bivariate), of the mean threshold and half of
        the mean accuracy (hsroc).
    spread_scale : float
        Scale of the half-normal standard deviations between studies of the logits; of the
        accuracy it is twice as large.
    shape_scale : float
        Standard deviation of the asymmetry beta (hsroc).
    correlation_concentration : float
        Concentration of the LKJ prior of the correlation between both logits (bivariate); 1 is
        uniform.
    """

    location_scale: float = 3.0
    spread_scale: float = 1.5
    shape_scale: float = 1.0
    correlation_concentration: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive and finite, but it is {value!r}")


class Average(NamedTuple):
    """Mean and covariance of the logits of sensitivity and false positive rate of a study.

    Attributes
    ----------
    location
        The mean.
    factor
        The Cholesky factor of the covariance.
    """

    location: Float[Array, " 2"]
    factor: Float[Array, "2 2"]


def spread_scales(name: ModelName, priors: SummaryPriors) -> Float[np.ndarray, " 2"]:
    """Return the scales of the priors of the standard deviations between studies."""
    ratios = {"bivariate": [1, 1], "hsroc": [1, 2]}
    return priors.spread_scale * np.array(ratios[name], dtype=float)


@cache
def model_of(name: ModelName, priors: SummaryPriors) -> Model:
    """Return a NumPyro model of `Counts`; the same object for the same arguments."""
    sample_average = {"bivariate": _sample_bivariate, "hsroc": _sample_hsroc}[name]

    def model(counts: Counts) -> None:
        average = sample_average(priors)
        logits = _sample_studies(average, _share_of_data(counts))
        negatives = counts.sizes - counts.positives
        log_likelihood = counts.sizes * jax.nn.log_sigmoid(logits) - negatives * logits
        numpyro.factor("log_likelihood", log_likelihood.sum())
        intercept, slope = line_of(average)
        numpyro.deterministic("location", average.location)
        numpyro.deterministic("factor", average.factor)
        numpyro.deterministic("study_effect", logits)
        numpyro.deterministic("curve_intercept", intercept)
        numpyro.deterministic("curve_slope", slope)

    return model


def _sample_studies(average: Average, known: Float[Array, "s 2"]) -> Float[Array, "s 2"]:
    """Draw the effects of studies, which are jointly normal.

    Effects that the counts fix are drawn as such, those that they leave open in standard deviations
    from the mean, and all others by as much in between: each is simple where it is used, and only
    there (Papaspiliopoulos, Roberts and Skold 2007).
    """
    n_studies, n_effects = known.shape
    drawn = _improper("effect", dist.constraints.real_matrix, n_studies, n_effects)
    sd = jnp.sqrt((average.factor**2).sum(axis=1))
    stretch = known + (1 - known) * sd
    effect = (1 - known) * average.location + stretch * drawn
    scaled = _solve_lower(average.factor, effect - average.location)
    log_volume = jnp.log(jnp.diagonal(average.factor)).sum()
    numpyro.factor(
        "log_prior_of_studies",
        jnp.log(stretch).sum() - n_studies * log_volume - (scaled**2).sum() / 2,
    )
    return effect


def _share_of_data(counts: Counts) -> Float[Array, "s 2"]:
    """Return about how much of the information on a logit is the counts' and not the prior's."""
    negatives = counts.sizes - counts.positives
    information = counts.positives * negatives / jnp.maximum(counts.sizes, 1.0)
    return information / (information + 1.0)


def _solve_lower(factor: Float[Array, "2 2"], x: Float[Array, "s 2"]) -> Float[Array, "s 2"]:
    """Return ``x factor'^-1`` for a lower triangular factor, without LAPACK."""
    first = x[:, 0] / factor[0, 0]
    return jnp.stack([first, (x[:, 1] - factor[1, 0] * first) / factor[1, 1]], axis=1)


def _improper(name: str, constraint: Any, *shape: int) -> Array:
    return numpyro.sample(name, dist.ImproperUniform(constraint, (), event_shape=shape))


def _sample_bivariate(priors: SummaryPriors) -> Average:
    """Draw means and covariance, with half-normal standard deviations and LKJ correlation.

    What is drawn of the covariance are the standard deviations of the first logit, and of the
    second given the first, and the slope on it: given the former, the mode of logits and slope
    together is that of a regression, where that of logits and correlation would make them agree.
    """
    center = numpyro.sample("center", dist.Normal(0, 1).expand([2]).to_event(1))
    spread = _improper("spread", dist.constraints.independent(dist.constraints.positive, 1), 2)
    slope = _improper("slope", dist.constraints.real)
    factor = jnp.eye(2).at[1, 0].set(slope) * spread
    sd = jnp.sqrt((factor**2).sum(axis=1))
    root = factor / sd[:, None]
    prior_of_sd = dist.HalfNormal(spread_scales("bivariate", priors)).log_prob(sd).sum()
    prior_of_root = dist.LKJCholesky(2, priors.correlation_concentration).log_prob(root)
    # From standard deviations and correlation to what is drawn.
    volume = jnp.log(root[1, 1]) - jnp.log(sd[1]) + jnp.log(spread[0])
    numpyro.factor("log_prior_of_covariance", prior_of_sd + prior_of_root + volume)
    return Average(priors.location_scale * center, factor)


def _sample_hsroc(priors: SummaryPriors) -> Average:
    """Draw mean threshold and accuracy, their spreads, and the asymmetry of the curve."""
    center = numpyro.sample("center", dist.Normal(0, 1).expand([2]).to_event(1))
    threshold, accuracy = priors.location_scale * center * np.array([1, 2])
    asymmetry = priors.shape_scale * numpyro.sample("asymmetry", dist.Normal(0, 1))
    scales = spread_scales("hsroc", priors)
    spread = numpyro.sample("spread", dist.HalfNormal(scales).to_event(1))
    return bivariate_of_hsroc(threshold, accuracy, asymmetry, spread)


def bivariate_of_hsroc(
    threshold: Float[Array, ""],
    accuracy: Float[Array, ""],
    asymmetry: Float[Array, ""],
    spread: Float[Array, " 2"],
) -> Average:
    """Return the bivariate model that equals Rutter and Gatsonis' (Harbord et al. 2007).

    ``logit p = (theta + alpha x) exp(-beta x)`` with x = 1/2 in cases, -1/2 in non-cases.
    """
    stretch = jnp.exp(-asymmetry * np.array([0.5, -0.5]))
    linear = stretch[:, None] * np.array([[1, 0.5], [1, -0.5]])
    root = linear * spread
    sd = jnp.sqrt((root**2).sum(axis=1))
    shared = (root[0] * root[1]).sum() / sd[0]
    volume = spread.prod()  # the determinant of the root, but for its sign
    factor = jnp.array([[1.0, 0], [0, 0]]) * sd[0] + jnp.array([[0, 0], [1.0, 0]]) * shared
    factor = factor + jnp.array([[0, 0], [0, 1.0]]) * volume / sd[0]
    return Average(linear @ jnp.stack([threshold, accuracy]), factor)


def hsroc_of_bivariate(
    location: Float[np.ndarray, "*draw 2"], covariance: Float[np.ndarray, "*draw 2 2"]
) -> dict[str, Float[np.ndarray, "*draw"]]:
    """Return Rutter and Gatsonis' parameters of a bivariate model, the inverse of the above."""
    variance_tpr, variance_fpr = covariance[..., 0, 0], covariance[..., 1, 1]
    asymmetry = np.log(variance_fpr / variance_tpr) / 2
    stretch = np.exp(asymmetry / 2)
    of_cases, of_others = location[..., 0] * stretch, location[..., 1] / stretch
    product, shared = np.sqrt(variance_tpr * variance_fpr), covariance[..., 0, 1]
    return {
        "threshold": (of_cases + of_others) / 2,
        "accuracy": of_cases - of_others,
        "asymmetry": asymmetry,
        "threshold_sd": np.sqrt(np.maximum(product + shared, 0) / 2),
        "accuracy_sd": np.sqrt(2 * np.maximum(product - shared, 0)),
    }


def line_of(average: Average) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Return intercept and slope of Rutter and Gatsonis' curve.

    That is, of ``logit tpr = intercept + slope logit fpr``.
    """
    covariance = average.factor @ average.factor.T
    slope = jnp.sqrt(covariance[0, 0] / covariance[1, 1])
    return average.location[0] - slope * average.location[1], slope
