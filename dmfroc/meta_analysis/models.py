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
from jax.scipy.linalg import solve_triangular
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
        logits = _sample_studies(average, counts)
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


def _sample_studies(average: Average, counts: Counts) -> Float[Array, "s 2"]:
    """Draw the effects of studies, which are jointly normal.

    What is drawn is standard normal where the counts' likelihood is: effects in standard deviations
    of their posterior given all that studies share. In these coordinates the density has no neck
    where studies hardly differ, and none where the counts say all.
    """
    n_studies, n_effects = counts.sizes.shape
    drawn = _improper("effect", dist.constraints.real_matrix, n_studies, n_effects)
    seen, information = _logits_of(counts)
    factor = average.factor
    precision = jnp.eye(n_effects) + factor.T @ (information[..., None] * factor)
    root = jnp.linalg.cholesky(precision)
    pull = (information * (seen - average.location)) @ factor
    standardized = _solve(root, _solve(root, pull) + drawn, transposed=True)
    log_volume = -jnp.log(jnp.diagonal(root, axis1=1, axis2=2)).sum()
    numpyro.factor("log_prior_of_studies", log_volume - (standardized**2).sum() / 2)
    return average.location + standardized @ factor.T


def _logits_of(counts: Counts) -> tuple[Float[Array, "s 2"], Float[Array, "s 2"]]:
    """Return about where the likelihood of each logit is highest, and its curvature."""
    positives, negatives = counts.positives + 0.5, counts.sizes - counts.positives + 0.5
    information = positives * negatives / (positives + negatives)
    return jnp.log(positives / negatives), jnp.where(counts.sizes > 0, information, 0.0)


def _solve(root: Array, x: Array, transposed: bool = False) -> Array:
    solved = solve_triangular(root, x[..., None], trans=int(transposed), lower=True)
    return solved[..., 0]


def _improper(name: str, constraint: Any, *shape: int) -> Array:
    return numpyro.sample(name, dist.ImproperUniform(constraint, (), event_shape=shape))


def _sample_bivariate(priors: SummaryPriors) -> Average:
    """Draw means and covariance, with half-normal standard deviations and LKJ correlation."""
    center = numpyro.sample("center", dist.Normal(0, 1).expand([2]).to_event(1))
    scales = spread_scales("bivariate", priors)
    spread = numpyro.sample("spread", dist.HalfNormal(scales).to_event(1))
    root = numpyro.sample("root", dist.LKJCholesky(2, priors.correlation_concentration))
    return Average(priors.location_scale * center, spread[:, None] * root)


def _sample_hsroc(priors: SummaryPriors) -> Average:
    """Draw mean threshold and accuracy, their spreads, and the asymmetry of the curve.

    What is drawn of the former two are the mean logits, of which counts tell whatever the asymmetry
    is; the volume of both is the same.
    """
    location = _improper("center", dist.constraints.real_vector, 2)
    asymmetry = priors.shape_scale * numpyro.sample("asymmetry", dist.Normal(0, 1))
    threshold, accuracy = threshold_and_accuracy(location, jnp.exp(asymmetry / 2))
    of_center = dist.Normal(0, priors.location_scale)
    numpyro.factor("prior_of_center", of_center.log_prob(jnp.stack([threshold, accuracy / 2])))
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
    return Average(linear @ jnp.stack([threshold, accuracy]), linear * spread)


def threshold_and_accuracy(location: Any, stretch: Any) -> tuple[Any, Any]:
    """Return Rutter and Gatsonis' means of mean logits; ``stretch`` is ``exp(beta / 2)``."""
    of_cases, of_others = location[..., 0] * stretch, location[..., 1] / stretch
    return (of_cases + of_others) / 2, of_cases - of_others


def hsroc_of_bivariate(
    location: Float[np.ndarray, "*draw 2"], covariance: Float[np.ndarray, "*draw 2 2"]
) -> dict[str, Float[np.ndarray, "*draw"]]:
    """Return Rutter and Gatsonis' parameters of a bivariate model, the inverse of the above."""
    variance_tpr, variance_fpr = covariance[..., 0, 0], covariance[..., 1, 1]
    asymmetry = np.log(variance_fpr / variance_tpr) / 2
    threshold, accuracy = threshold_and_accuracy(location, np.exp(asymmetry / 2))
    product, shared = np.sqrt(variance_tpr * variance_fpr), covariance[..., 0, 1]
    return {
        "threshold": threshold,
        "accuracy": accuracy,
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
