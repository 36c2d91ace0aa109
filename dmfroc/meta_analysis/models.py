"""NumPyro models of the counts of studies, and what they say of summary curves.

Every model draws effects of studies, jointly normal, which give each unit the logits of its rates;
counts between successive thresholds are multinomial, with one threshold binomial.
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

from dmfroc.bayes.models import log_likelihood_of_bins
from dmfroc.meta_analysis.data import CountsOfUnits

ModelName = Literal["bivariate", "hsroc", "ordinal"]
Model = Callable[[CountsOfUnits], None]

_LOG_LOGISTIC_SCALE = np.log(np.sqrt(3) / np.pi)  # of standard deviation one


@dataclass(frozen=True)
class SummaryPriors:
    """Scales of the prior distributions of a meta-analysis.

    Attributes
    ----------
    location_scale : float
        Standard deviation of the mean logit rates (bivariate), of the mean threshold and half of
        the mean accuracy (hsroc), of the mean test result of cases and of non-cases, in standard
        deviations of the thresholds (ordinal).
    spread_scale : float
        Scale of the half-normal standard deviations between studies of the logits; of the
        accuracy it is twice as large, of the logarithm of a test's spread half.
    shape_scale : float
        Standard deviation of the asymmetry beta (hsroc), and of the logarithm of a test's spread
        in each group (ordinal).
    correlation_concentration : float
        Concentration of the LKJ prior of correlations between a study's effects; 1 is uniform.
    pair_scale : float
        Scale of the half-normal standard deviations between pairs of classes, and of pairs within
        studies; where there are several pairs.
    """

    location_scale: float = 3.0
    spread_scale: float = 1.5
    shape_scale: float = 1.0
    correlation_concentration: float = 1.0
    pair_scale: float = 0.7

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive and finite, but it is {value!r}")


class Average(NamedTuple):
    """Mean and covariance of a study's effects.

    Attributes
    ----------
    location
        The mean.
    factor
        The Cholesky factor of the covariance.
    basis
        What turns independent deviations, whose standard deviations are drawn, into these.
    """

    location: Float[Array, " p"]
    factor: Float[Array, "p p"]
    basis: Float[Array, "p p"]


def spread_scales(name: ModelName, priors: SummaryPriors) -> Float[np.ndarray, " p"]:
    """Return the scales of the priors of the standard deviations between studies."""
    ratios = {"bivariate": [1, 1], "hsroc": [1, 2], "ordinal": [1, 1, 0.5, 0.5]}
    return priors.spread_scale * np.array(ratios[name], dtype=float)


@cache
def model_of(name: ModelName, priors: SummaryPriors, n_studies: int, n_pairs: int) -> Model:
    """Return a NumPyro model of `CountsOfUnits`; the same object for the same arguments."""
    sample_average = {
        "bivariate": _sample_bivariate,
        "hsroc": _sample_hsroc,
        "ordinal": _sample_ordinal,
    }[name]

    def model(counts: CountsOfUnits) -> None:
        average = sample_average(priors)
        n_effects = len(average.location)
        of_study = _sample_studies(average, _share_of_data(counts, n_studies, n_effects))
        of_unit = of_study[counts.study]
        of_pair = average.location[None]
        if n_pairs > 1:
            spread = numpyro.sample(
                "pair_spread", dist.HalfNormal(priors.pair_scale).expand([n_effects]).to_event(1)
            )
            of_pair = of_pair + spread * _standard_normal("pair_effect", n_pairs, n_effects)
            within = numpyro.sample("spread_within", dist.HalfNormal(priors.pair_scale))
            residual = _standard_normal("unit_effect", len(counts.study), n_effects)
            of_unit = of_unit + (of_pair - average.location)[counts.pair] + within * residual
        logits = _logits(of_unit, counts.cutoffs)
        apart = counts.between[..., 1:-1] > 0
        distance = jnp.where(apart, jnp.diff(logits, axis=-1), 1.0)
        numpyro.factor("log_likelihood", log_likelihood_of_bins(counts.between, logits, distance))
        intercept, slope = line_of(average, name)
        numpyro.deterministic("location", average.location)
        numpyro.deterministic("factor", average.factor)
        numpyro.deterministic("study_effect", of_study)
        deviation = jnp.linalg.solve(average.basis, (of_study - average.location).T).T
        numpyro.deterministic("deviation", deviation)
        numpyro.deterministic("pair_location", of_pair)
        numpyro.deterministic("logit_rates", logits)
        numpyro.deterministic("curve_intercept", intercept)
        numpyro.deterministic("curve_slope", slope)

    return model


def _sample_studies(average: Average, known: Float[Array, "s p"]) -> Float[Array, "s p"]:
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


def _share_of_data(counts: CountsOfUnits, n_studies: int, n_effects: int) -> Float[Array, "s p"]:
    """Return about how much of the information on an effect is the counts' and not the prior's."""
    n_people = counts.between.sum(axis=-1)
    if n_effects == 2:
        information = counts.between[..., 0] * counts.between[..., 1] / jnp.maximum(n_people, 1.0)
    else:  # of a location, by a third for one person; of a spread, if there are several thresholds
        is_inside = counts.between[..., 1:-1].sum(axis=-1) > 0
        information = jnp.concatenate([n_people, n_people * is_inside], axis=1) / 3
    of_study = jax.ops.segment_sum(information, counts.study, n_studies)
    return of_study / (of_study + 1.0)


def _solve_lower(factor: Float[Array, "p p"], x: Float[Array, "s p"]) -> Float[Array, "s p"]:
    """Return ``x factor'^-1`` for a lower triangular factor of a few rows, without LAPACK."""
    columns: list[Array] = []
    for row in range(len(factor)):
        rest = x[:, row] - sum(factor[row, k] * columns[k] for k in range(row))
        columns.append(rest / factor[row, row])
    return jnp.stack(columns, axis=1)


def _standard_normal(name: str, *shape: int) -> Array:
    return numpyro.sample(name, dist.Normal(0, 1).expand(shape).to_event(len(shape)))


def _sample_correlated(
    name: ModelName, priors: SummaryPriors, location: Float[Array, " p"]
) -> Average:
    """Draw a covariance with half-normal standard deviations and LKJ correlations.

    What is drawn are the standard deviations of each effect given those before it, and its slopes
    on them: given the former, the mode of effects and slopes together is that of a regression,
    where that of effects and correlations would make the effects agree.
    """
    n = len(location)
    spread = _improper("spread", dist.constraints.independent(dist.constraints.positive, 1), n)
    slopes = _improper("slopes", dist.constraints.real_vector, n * (n - 1) // 2)
    places = np.tril_indices(n, -1)
    unit = jnp.eye(n).at[places].set(slopes)
    factor = unit * spread
    sd = jnp.sqrt((factor**2).sum(axis=1))
    root = factor / sd[:, None]
    prior_of_sd = dist.HalfNormal(spread_scales(name, priors)).log_prob(sd).sum()
    prior_of_root = dist.LKJCholesky(n, priors.correlation_concentration).log_prob(root)
    # Polar coordinates of each row of the factor, and the slopes in place of its elements.
    volume = jnp.log(jnp.diagonal(root)).sum() - (np.arange(n) * jnp.log(sd)).sum()
    volume = volume + (np.arange(n)[::-1] * jnp.log(spread)).sum()
    numpyro.factor("log_prior_of_covariance", prior_of_sd + prior_of_root + volume)
    return Average(location, factor, unit)


def _improper(name: str, constraint: Any, *shape: int) -> Array:
    return numpyro.sample(name, dist.ImproperUniform(constraint, (), event_shape=shape))


def _sample_bivariate(priors: SummaryPriors) -> Average:
    """Draw means and covariance of the logits of sensitivity and false positive rate."""
    center = priors.location_scale * _standard_normal("center", 2)
    return _sample_correlated("bivariate", priors, center)


def _sample_hsroc(priors: SummaryPriors) -> Average:
    """Draw mean threshold and accuracy, their spreads, and the asymmetry of the curve."""
    threshold, accuracy = priors.location_scale * _standard_normal("center", 2) * np.array([1, 2])
    asymmetry = priors.shape_scale * numpyro.sample("asymmetry", dist.Normal(0, 1))
    scales = spread_scales("hsroc", priors)
    spread = numpyro.sample("spread", dist.HalfNormal(scales).to_event(1))
    return bivariate_of_hsroc(threshold, accuracy, asymmetry, spread)


def _sample_ordinal(priors: SummaryPriors) -> Average:
    """Draw means and covariance of location and log scale of test results in cases and others."""
    center = _standard_normal("center", 4)
    scale = np.array([priors.location_scale] * 2 + [priors.shape_scale] * 2)
    location = np.array([0, 0, _LOG_LOGISTIC_SCALE, _LOG_LOGISTIC_SCALE]) + scale * center
    return _sample_correlated("ordinal", priors, location)


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
    return Average(linear @ jnp.stack([threshold, accuracy]), factor, linear)


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


def line_of(average: Average, name: ModelName) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Return intercept and slope of the curve, ``logit tpr = intercept + slope logit fpr``.

    Of rates it is Rutter and Gatsonis' curve, of test results that of the mean study.
    """
    if name == "ordinal":
        of_cases, of_others, log_cases, log_others = average.location
        slope = jnp.exp(log_others - log_cases)
        return (of_cases - of_others) * jnp.exp(-log_cases), slope
    covariance = average.factor @ average.factor.T
    slope = jnp.sqrt(covariance[0, 0] / covariance[1, 1])
    return average.location[0] - slope * average.location[1], slope


def _logits(effects: Float[Array, "u p"], cutoffs: Float[Array, "u t"]) -> Float[Array, "u 2 t"]:
    """Return the logits of both rates of each unit at its thresholds."""
    if effects.shape[1] == 2:
        return effects[..., None]
    return (effects[:, :2, None] - cutoffs[:, None]) * jnp.exp(-effects[:, 2:, None])


@cache
def update_of(
    name: ModelName, priors: SummaryPriors
) -> Callable[[dict[str, Array]], Float[Array, " p"]]:
    """Return what estimates the log standard deviations from draws of the studies' effects.

    Their mode under the half-normal prior: with n studies of mean square m and scale a it solves
    ``n m - (n - 1) s^2 - s^4 / a^2 = 0``.
    """
    scales = spread_scales(name, priors)

    def update(sites: dict[str, Array]) -> Float[Array, " p"]:
        deviations = sites["deviation"]
        n, mean_square = deviations.shape[-2], (deviations**2).mean(axis=(0, 1))
        half = scales**2 * (n - 1) / 2
        # As a quotient, without the difference of two nearly equal numbers.
        total = n * mean_square * scales**2
        return jnp.log(total / (half + jnp.sqrt(half**2 + total))) / 2

    return update
