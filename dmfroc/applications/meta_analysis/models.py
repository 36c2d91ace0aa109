"""NumPyro models of the counts of studies, and their summary curves.

Every model draws effects of studies, jointly normal, which are or give the logits of their rates;
counts between successive thresholds are multinomial, with one threshold binomial.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import scipy.optimize
from jax.scipy.linalg import cho_solve, solve_triangular
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, logit

from dmfroc.applications.meta_analysis.data import StudyCounts
from dmfroc.extend import PerDraw, compiled, log_likelihood_of_bins, positive

ModelName = Literal["bivariate", "hsroc", "ordinal", "multiclass"]

_DRAWS_AT_ONCE = 50
_LOG_LOGISTIC_SCALE = np.log(np.sqrt(3) / np.pi)  # of standard deviation one
_LOGITS = np.arange(-40.0, 40.001, 0.25)  # the density of the logistic is below 1e-17 beyond
_N_CORNERS = 200


@dataclass(frozen=True)
class SummaryPriors:
    """Scales of the prior distributions of a meta-analysis.

    Attributes
    ----------
    location_scale : float
        Standard deviation of the mean logit rates (bivariate, multiclass), or of the mean threshold
        and half of the mean accuracy (hsroc). Ordinal: of the mean test result of cases and of
        non-cases, in standard deviations of the thresholds.
    spread_scale : float
        Scale of the half-normal standard deviations between studies of the logits or of the mean
        test results; of the accuracy it is twice as large, of the logarithm of a test's spread
        half.
    shape_scale : float
        Standard deviation of the asymmetry beta (hsroc), and of the logarithm of a test's spread
        in each group (ordinal).
    correlation_concentration : float
        Concentration of the LKJ prior of the correlations between a study's effects (bivariate,
        ordinal, multiclass); 1 is uniform.
    pair_scale : float
        Scale of the half-normal standard deviations of the logits between pairs of classes, and
        between studies of a pair beyond those of all pairs (multiclass).
    """

    location_scale: float = 3.0
    spread_scale: float = 1.5
    shape_scale: float = 1.0
    correlation_concentration: float = 1.0
    pair_scale: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            positive(name, value)


Effect = Float[Array, " p"]
"""The effects of one study, or numbers that go with them."""

Effects = Float[Any, "s p"]
Squares = Float[Any, "s p p"]
"""Those of each study, and a matrix of them for each."""


class Average(NamedTuple):
    """Mean and covariance of the effects of a study.

    Attributes
    ----------
    location
        The mean.
    factor
        A triangular root of the covariance.
    """

    location: Effect
    factor: Float[Array, "p p"]


class Likelihood(NamedTuple):
    """Normal approximation of the likelihood of the effects of each study.

    Attributes
    ----------
    mean
        About the maximum of the likelihood.
    precision
        Its curvature there; zero in directions without information in the counts.
    """

    mean: Effects
    precision: Squares


ModelData = tuple[StudyCounts, Likelihood]
"""Data of a model: counts, and the approximate likelihood of the effects."""

Model = Callable[[ModelData], None]

Number = Float[Array, ""]


def spread_scales(name: ModelName, priors: SummaryPriors) -> Float[np.ndarray, " p"]:
    """Return the scales of the priors of the standard deviations between studies."""
    ratios = {"hsroc": [1, 2], "ordinal": [1, 1, 0.5, 0.5]}.get(name, [1, 1])
    scales = priors.spread_scale * np.array(ratios, dtype=float)
    return np.append(scales, [priors.pair_scale] * 3) if name == "multiclass" else scales


def prior_of_effects(
    name: ModelName, priors: SummaryPriors, n_rates: int = 2
) -> tuple[Float[np.ndarray, " p"], Float[np.ndarray, " p"]]:
    """Return mean and standard deviation, before any count is seen, of the mean effects."""
    location = [priors.location_scale] * n_rates
    if name != "ordinal":
        return np.zeros(n_rates), np.array(location)
    mean = np.array([0, 0, _LOG_LOGISTIC_SCALE, _LOG_LOGISTIC_SCALE])
    return mean, np.array(location + [priors.shape_scale] * 2)


@cache
def model_of(name: ModelName, priors: SummaryPriors) -> Model:
    """Return a NumPyro model of `ModelData`; the same object for the same arguments."""

    def model(data: ModelData) -> None:
        counts, likelihood = data
        if name == "multiclass":
            average, study = _sample_pairs(priors, likelihood)
        else:
            spread = _sample_spread(name, priors)
            average = study = (
                _sample_hsroc(priors, spread)
                if name == "hsroc"
                else _correlated(name, priors, spread)
            )
        sample = _sample_locations_and_scales if name == "ordinal" else _sample_normal
        effects = sample("effect", study, likelihood)
        numpyro.factor("log_likelihood", _log_likelihood(name, counts, effects).sum())
        intercept, slope = line_of(name, average)
        found = {
            "study_location": study.location,
            "study_factor": study.factor,
            "location": average.location,
            "factor": average.factor,
            "study_effect": effects,
            "logits": logits_at(name, effects, counts.cutoffs),
            "curve_intercept": intercept,
            "curve_slope": slope,
        }
        for site, value in found.items():
            numpyro.deterministic(site, value)

    return model


def logits_at(
    name: ModelName, effects: Effects, cutoffs: Float[Any, "#s t"], xp: Any = jnp
) -> Float[Any, "s r t"]:
    """Return the logits of the rates at cutoffs: the effects, or those of logistic test results.

    Effects of test results are two locations and two logarithms of scales, of cases and of others.
    """
    if name != "ordinal":
        return effects[..., None]
    return (effects[:, :2, None] - cutoffs[:, None]) * xp.exp(-effects[:, 2:, None])


def _log_likelihood(name: ModelName, counts: StudyCounts, effects: Effects) -> Float[Array, " s"]:
    logits = logits_at(name, effects, counts.cutoffs)
    is_bin = counts.between[..., 1:-1] > 0  # thresholds that are repeated are no distance apart
    distances = jnp.where(is_bin, jnp.diff(logits, axis=-1), 1.0)
    return log_likelihood_of_bins(counts.between, logits, distances).sum(axis=-1)


@partial(compiled, static_argnames="name")
def marginal_log_likelihood(
    name: ModelName,
    data: ModelData,
    locations: Float[Array, "draw p"],
    factors: Float[Array, "draw p p"],
) -> Float[Array, "draw s"]:
    """Return the log-likelihood of each study, integrated over its effects, for each draw.

    By five by five nodes of Gauss and Hermite about the normal approximation of two effects; of
    more, by a single node, which is Laplace's approximation.
    """
    (counts, likelihood), n_effects = data, locations.shape[1]
    x, weight = hermegauss(5 if n_effects == 2 else 1)
    grid = jnp.asarray(list(itertools.product(x, repeat=n_effects)))
    weights = jnp.asarray(list(itertools.product(weight, repeat=n_effects))).prod(axis=1)
    log_weights = jnp.log(weights) + (grid**2).sum(axis=1) / 2

    def log_likelihood_of_draw(draw: tuple[Array, Array]) -> Float[Array, " s"]:
        average = Average(*draw)
        precision, pull = _standardized(average, likelihood)
        root = jnp.linalg.cholesky(precision)
        mean = cho_solve((root, True), pull[..., None])[..., 0]
        eye = jnp.broadcast_to(jnp.eye(n_effects), root.shape)
        spread = solve_triangular(root, eye, trans="T", lower=True)

        def at(node: Effect) -> Float[Array, " s"]:
            standard = mean + spread @ node
            effects = average.location + standard @ average.factor.T
            prior = dist.Normal().log_prob(standard).sum(axis=1)
            return _log_likelihood(name, counts, effects) + prior

        log_volume = -jnp.log(jnp.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return logsumexp(jax.vmap(at)(grid) + log_weights[:, None], axis=0) + log_volume

    return jax.lax.map(log_likelihood_of_draw, (locations, factors), batch_size=_DRAWS_AT_ONCE)


def likelihood_of(name: ModelName, priors: SummaryPriors, counts: StudyCounts) -> Likelihood:
    """Return the normal approximation of the likelihood of each study's effects.

    If the counts leave an effect open, it is near its prior.
    """
    prior = prior_of_effects(name, priors, counts.between.shape[1])
    mean, sd = (np.broadcast_to(x, (len(counts.cutoffs), len(x))) for x in prior)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _value_and_gradient(flat.reshape(mean.shape), counts, name)
        deviation = (flat - mean.ravel()) / sd.ravel()
        penalty = deviation @ deviation / 2
        return float(penalty - value), deviation / sd.ravel() - np.ravel(gradient)

    optimum = scipy.optimize.minimize(
        objective, mean.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000}
    )
    effects = optimum.x.reshape(mean.shape)
    curvature, directions = np.linalg.eigh(-np.asarray(_curvature(effects, counts, name)))
    precision = (directions * curvature.clip(0)[:, None]) @ directions.swapaxes(1, 2)
    return Likelihood(effects, precision)


_value_and_gradient = compiled(
    jax.value_and_grad(lambda x, counts, name: _log_likelihood(name, counts, x).sum()),
    static_argnames="name",
)


@partial(compiled, static_argnames="name")
def _curvature(effects: Effects, counts: StudyCounts, name: ModelName) -> Squares:
    def log_likelihood(effect: Effect, study: StudyCounts) -> Number:
        return _log_likelihood(name, jax.tree.map(lambda x: x[None], study), effect[None])[0]

    return jax.vmap(jax.hessian(log_likelihood))(effects, counts)


def _sample_normal(site: str, average: Average, likelihood: Likelihood) -> Effects:
    """Draw the effects of studies (or of pairs of classes), which are jointly normal.

    What is drawn is standard normal where the likelihood is: effects in standard deviations of
    their posterior given all that studies share. In these coordinates the density has no neck
    where studies hardly differ, and none where the counts say all.
    """
    drawn = _improper(site, dist.constraints.real_matrix, *likelihood.mean.shape)
    location, factor = average
    precision, pull = _standardized(average, likelihood)
    standard, log_volume = _draw(precision, pull, drawn)
    numpyro.factor(f"prior_of_{site}", dist.Normal().log_prob(standard).sum() + log_volume)
    return location + standard @ factor.T


def _sample_locations_and_scales(
    site: str, average: Average, likelihood: Likelihood
) -> Float[Array, "s 4"]:
    """Draw the logarithms of the scales of test results, and then their locations.

    Counts at one threshold determine its distance from the location in units of the scale, for any
    scale. The likelihood is therefore curved, and normal only for locations given scales.
    """
    drawn = _improper(site, dist.constraints.real_matrix, *likelihood.mean.shape)
    location, factor = average
    precision, pull = _standardized(average, likelihood)
    shared = precision[:, :2, 2:]
    regression = jnp.linalg.solve(
        precision[:, :2, :2], jnp.concatenate([shared, pull[:, :2, None]], axis=2)
    )
    explained = shared.swapaxes(1, 2) @ regression
    scales, volume_of_scales = _draw(
        precision[:, 2:, 2:] - explained[..., :2], pull[:, 2:] - explained[..., 2], drawn[:, 2:]
    )
    log_scale = location[2:] + scales @ factor[2:, 2:].T
    given = Average(location[:2] + scales @ factor[:2, 2:].T, factor[:2, :2])
    locations, volume = _draw(
        *_standardized(given, _likelihood_given(log_scale, likelihood)), drawn[:, :2]
    )
    standard = jnp.concatenate([locations, scales], axis=1)
    log_density = dist.Normal().log_prob(standard).sum() + volume_of_scales + volume
    numpyro.factor(f"prior_of_{site}", log_density)
    return location + standard @ factor.T


def _likelihood_given(log_scale: Float[Array, "s 2"], likelihood: Likelihood) -> Likelihood:
    """Return the likelihood of the locations of test results that have given scales.

    At some threshold the rate does not depend on the scale. The location is a fixed number of
    scales from this threshold.
    """
    mean, log_scale_mean = likelihood.mean[:, :2], likelihood.mean[:, 2:]
    group = np.arange(2)
    precision, shared = (likelihood.precision[:, group, group + k] for k in (0, 2))
    distance = -shared / jnp.where(precision > 0, precision, 1.0)
    stretch = jnp.exp(log_scale - log_scale_mean)
    return Likelihood(
        mean + distance * (stretch - 1), (precision / stretch**2)[..., None] * jnp.eye(2)
    )


def _standardized(average: Average, likelihood: Likelihood) -> tuple[Squares, Effects]:
    """Return precision, and precision times mean, of effects in prior standard deviations."""
    location, factor = average
    precision = jnp.eye(len(factor)) + factor.T @ likelihood.precision @ factor
    pull = factor.T @ likelihood.precision @ (likelihood.mean - location)[..., None]
    return precision, pull[..., 0]


def _draw(precision: Squares, pull: Effects, drawn: Effects) -> tuple[Effects, Number]:
    """Return draws of such a normal distribution, and the log volume, from standard normal ones.

    The upper root of the precision makes that of the posterior lower triangular, as that of the
    prior is. It then does not turn with the correlation where one effect is known much better than
    another.
    """
    root = jnp.linalg.cholesky(precision[:, ::-1, ::-1])[:, ::-1, ::-1]
    moved = solve_triangular(root, pull[..., None]) + drawn[..., None]
    log_volume = -jnp.log(jnp.diagonal(root, axis1=1, axis2=2)).sum()
    return solve_triangular(root, moved, trans="T")[..., 0], log_volume


def _improper(name: str, constraint: Any, *shape: int) -> Array:
    return numpyro.sample(name, dist.ImproperUniform(constraint, (), event_shape=shape))


def _sample_spread(name: ModelName, priors: SummaryPriors) -> Float[Array, " scales"]:
    scales = spread_scales(name, priors)
    return numpyro.sample("spread", dist.HalfNormal(scales).to_event(1))


def _correlated(name: ModelName, priors: SummaryPriors, sd: Effect) -> Average:
    """Draw means, and correlations for the standard deviations of a study's effects."""
    mean, sd_of_mean = prior_of_effects(name, priors)
    center = numpyro.sample("center", dist.Normal(0, 1).expand([len(mean)]).to_event(1))
    prior_of_root = dist.LKJCholesky(len(mean), priors.correlation_concentration)
    root = numpyro.sample("root", prior_of_root)
    if name == "ordinal":  # the scales, which are drawn first, come last
        root = root[::-1, ::-1]
    return Average(mean + sd_of_mean * center, sd[:, None] * root)


def _sample_pairs(priors: SummaryPriors, likelihood: Likelihood) -> tuple[Average, Average]:
    """Draw the logit rates of the average pair of classes, and those of all pairs together.

    A rate of a pair in a study is that of the average pair plus three effects. They are those of
    the pair, of the study (the same for all its pairs), and of the pair in this study.
    """
    spread = _sample_spread("multiclass", priors)
    average = _correlated("multiclass", priors, spread[:2])
    shared = average.factor @ average.factor.T
    single = shared + spread[4] ** 2 * jnp.eye(2)  # covariance of one pair
    between_pairs = average._replace(factor=jnp.diag(spread[2:4]))
    pairs = _sample_normal("pair_effect", between_pairs, _likelihood_of_pairs(likelihood, single))
    joint = covariance_of_pairs(shared, spread[4] ** 2, len(pairs))
    numpyro.deterministic("pair_location", pairs)
    numpyro.deterministic("pair_sd", spread[2:4])
    numpyro.deterministic("within_sd", spread[4])
    return (
        average._replace(factor=jnp.linalg.cholesky(single)),
        Average(pairs.ravel(), jnp.linalg.cholesky(joint)),
    )


def covariance_of_pairs(
    shared: Float[Any, "2 2"], within: Any, n_pairs: int, xp: Any = jnp
) -> Float[Any, "r r"]:
    """Return the covariance of the rates of all pairs of a study: shared plus within pairs."""
    return xp.tile(shared, (n_pairs, n_pairs)) + within * xp.eye(2 * n_pairs)


def _likelihood_of_pairs(likelihood: Likelihood, covariance: Float[Array, "2 2"]) -> Likelihood:
    """Return the approximate likelihood of each pair over studies that have a covariance."""
    n_studies, n_effects = likelihood.mean.shape
    mean = likelihood.mean.reshape(n_studies, -1, 2, 1)
    pair = np.arange(n_effects // 2)
    blocks = likelihood.precision.reshape(n_studies, len(pair), 2, len(pair), 2)
    precision = blocks[:, pair, :, pair]  # pair by study
    marginal = jnp.linalg.solve(jnp.eye(2) + precision @ covariance, precision)
    total = marginal.sum(axis=1)
    pull = (marginal @ mean.swapaxes(0, 1)).sum(axis=1)
    return Likelihood(jnp.linalg.solve(total + 1e-9 * jnp.eye(2), pull)[..., 0], total)


def _sample_hsroc(priors: SummaryPriors, spread: Float[Array, " 2"]) -> Average:
    """Draw mean threshold and accuracy, and the asymmetry of the curve, for their spreads.

    The mean logits are drawn in place of threshold and accuracy, because the counts determine them
    for any asymmetry. The volume of both is the same.
    """
    location = _improper("center", dist.constraints.real_vector, 2)
    asymmetry = priors.shape_scale * numpyro.sample("asymmetry", dist.Normal(0, 1))
    threshold, accuracy = threshold_and_accuracy(location, jnp.exp(asymmetry / 2))
    prior = dist.Normal(0, priors.location_scale)
    numpyro.factor("prior_of_center", prior.log_prob(jnp.stack([threshold, accuracy / 2])))
    return bivariate_of_hsroc(threshold, accuracy, asymmetry, spread)


def bivariate_of_hsroc(
    threshold: Number, accuracy: Number, asymmetry: Number, spread: Float[Array, " 2"]
) -> Average:
    """Return the bivariate model that equals Rutter and Gatsonis' (Harbord et al. 2007).

    ``logit p = (theta + alpha x) exp(-beta x)`` with x = 1/2 in cases, -1/2 in non-cases.
    """
    stretch = jnp.exp(-asymmetry * np.array([0.5, -0.5]))
    linear = stretch[:, None] * np.array([[1, 0.5], [1, -0.5]])
    root = linear * spread
    _, upper = jnp.linalg.qr(root.T)
    return Average(linear @ jnp.stack([threshold, accuracy]), upper.T)


def threshold_and_accuracy(location: Any, stretch: Any) -> tuple[Any, Any]:
    """Return Rutter and Gatsonis' means of mean logits; ``stretch`` is ``exp(beta / 2)``."""
    cases, others = location[..., 0] * stretch, location[..., 1] / stretch
    return (cases + others) / 2, cases - others


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


def line_of(name: ModelName, average: Average) -> tuple[Number, Number]:
    """Return intercept and slope of the curve, ``logit tpr = intercept + slope logit fpr``.

    Of rates it is Rutter and Gatsonis' curve, of test results that of the mean study.
    """
    if name == "ordinal":
        cases, others, log_cases, log_others = average.location
        return (cases - others) * jnp.exp(-log_cases), jnp.exp(log_others - log_cases)
    covariance = average.factor @ average.factor.T
    slope = jnp.sqrt(covariance[0, 0] / covariance[1, 1])
    return average.location[0] - slope * average.location[1], slope


@np.errstate(under="ignore")
def area_under_line(
    intercept: Float[np.ndarray, "*draw"], slope: Float[np.ndarray, "*draw"]
) -> Float[np.ndarray, "*draw"]:
    """Return the area under ``logit tpr = intercept + slope logit fpr``.

    By the trapezoid rule over the logit of the false positive rate, which converges faster than
    any power of the step where the integrand and all its derivatives vanish at both ends.
    """
    density = 0.25 * expit(_LOGITS) * expit(-_LOGITS)
    lines = zip(np.ravel(intercept), np.ravel(slope), strict=True)
    areas = [expit(a + b * _LOGITS) @ density for a, b in lines]
    return np.reshape(areas, np.shape(intercept))


def line_at(
    fpr: Float[np.ndarray, " points"], intercept: PerDraw, slope: PerDraw
) -> Float[np.ndarray, "draws points"]:
    """Return the curve of each draw at false positive rates inside (0, 1)."""
    return expit(intercept[:, None] + slope[:, None] * logit(fpr))


def region_around(
    logits: Float[np.ndarray, "draws 2"], level: float
) -> Float[np.ndarray, "corners 2"]:
    """Return the corners of the ellipse of logits that holds a share of the draws, as rates."""
    center = logits.mean(axis=0)
    root = np.linalg.cholesky(np.cov(logits.T))
    distance = np.linalg.norm(np.linalg.solve(root, (logits - center).T), axis=0)
    angle = np.linspace(0, 2 * np.pi, _N_CORNERS)
    circle = np.quantile(distance, level) * np.stack([np.cos(angle), np.sin(angle)])
    return expit(center + (root @ circle).T)
