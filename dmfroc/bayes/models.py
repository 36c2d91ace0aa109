"""NumPyro models of pairwise rates: what is drawn a priori, and how likely counts are.

A column is an ordered pair of classes; it has two halves, the positives and the negatives. Both
models describe a column by transforming the curve of the average pair on the logit scale, and
both likelihoods see the same counts of scores at or above each threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float

from dmfroc._kit.options import positive
from dmfroc.bayes.average_curve import AverageCurve, sample_curve
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE

Structure = Literal["rank_one", "hierarchical"]
Likelihood = Literal["ordinal", "binomial"]
Model = Callable[["ThresholdCounts"], None]

_KNOWN = 0.01  # standard deviation of the logarithm of a spread that is given


class ThresholdCounts(NamedTuple):
    """The data of the likelihood.

    Attributes
    ----------
    above
        Observations at or above each threshold, most extreme threshold first; ties and weights
        make them fractions.
    sizes
        Observations of the class that each half counts.
    tempering
        Power of the likelihood, kappa.
    """

    above: Float[Array, "q 2 t"]
    sizes: Float[Array, "q 2"]
    tempering: Float[Array, ""]

    @property
    def between(self) -> Float[Array, "q 2 t_plus_1"]:
        """Observations between successive thresholds, and beyond the first and the last."""
        edges = jnp.concatenate([self.above, self.sizes[..., None]], axis=2)
        return jnp.diff(edges, axis=2, prepend=0.0)


@dataclass(frozen=True)
class Priors:
    """Scales of the prior distributions.

    The rates of the average pair halve the probability of a score again and again: above or
    below the median threshold, above or below the quartile, and so on. Each of these splits has
    the logit that two normal distributions of equal variance would give it, and a normal
    deviation. A curve and its mirror image are alike.

    Attributes
    ----------
    discrimination_scale : float
        Standard deviation of the distance d' between the two normal distributions, in units of
        theirs. The area is then ``Phi(d' / sqrt(2))``: 0.983 for the default 3.
    split_scale : float
        Standard deviation of the deviation of the first split's logit, the one at the median.
        The variance of a later one is proportional to the share of the scores that it splits.
    shrinkage : float
        With the binomial likelihood, the strength of the fit that is the posterior mode. The
        standard deviation tau of the log pair effects is ``(shrinkage * m) ** -0.5``, m being the
        information of a column: tempering times thresholds times observations of a class.
    pair_spread : float
        With the ordinal likelihood, the median of tau.
    intercept_spread : float
        Median of the standard deviation of a pair's shifts of the true and of the false positive
        rate on the logit scale; hierarchical structure only.
    spread_log_scale : float
        Standard deviation of the logarithm of every spread that the data determine.
    correlation_concentration : float
        Concentration of the LKJ prior of the correlations between a pair's effects; 1 is uniform,
        more favours independence. Hierarchical structure only.
    """

    discrimination_scale: float = 3.0
    split_scale: float = 2.0
    shrinkage: float = DEFAULT_SHRINKAGE
    pair_spread: float = 0.3
    intercept_spread: float = 0.3
    spread_log_scale: float = 0.7
    correlation_concentration: float = 2.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            positive(name, value)


@cache
def model_of(structure: Structure, likelihood: Likelihood, priors: Priors) -> Model:
    """Return a NumPyro model of `ThresholdCounts`; the same object for the same arguments."""
    log_likelihood = {"ordinal": ordinal_log_likelihood, "binomial": binomial_log_likelihood}
    sample_pairs = {"rank_one": _proportional_pairs, "hierarchical": _random_pairs}

    def model(counts: ThresholdCounts) -> None:
        n_pairs, _, n_thresholds = counts.above.shape
        information, between = counts.tempering * n_thresholds * counts.sizes.mean(), counts.between
        of_pairs: tuple[Any, float] = priors.pair_spread, priors.spread_log_scale
        if likelihood == "binomial":
            of_pairs = (priors.shrinkage * information) ** -0.5, _KNOWN
            between = between * n_thresholds / 3  # cells say about as much as so many bins
        total = counts.tempering * between.sum(axis=0)
        curve = sample_curve(total, priors.discrimination_scale, priors.split_scale)
        scale, shift = sample_pairs[structure](n_pairs, of_pairs, priors)
        of_columns = counts.tempering * log_likelihood[likelihood](counts, curve, scale, shift)
        numpyro.factor("log_likelihood", of_columns.sum())
        numpyro.deterministic("log_likelihood_of_counts", of_columns)
        tpr, fpr = jnp.pad(
            jax.nn.sigmoid(curve.logits), ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))
        )
        numpyro.deterministic("threshold_effect", curve.logits)
        numpyro.deterministic("pair_effect", scale)
        numpyro.deterministic("pair_shift", shift)
        numpyro.deterministic("tpr", tpr)
        numpyro.deterministic("fpr", fpr)
        numpyro.deterministic("auc", jnp.trapezoid(tpr, fpr))

    return model


def _proportional_pairs(
    n_pairs: int, of_pairs: tuple[Any, float], priors: Priors
) -> tuple[Array, Array]:
    """Draw pair effects: logit rates of a pair are those of the average pair times its effect.

    ``of_pairs`` has the median of their spread, and the standard deviation of its logarithm.
    """
    median, log_scale = of_pairs
    spread = numpyro.sample("spread", dist.LogNormal(jnp.log(median), log_scale))
    effect = numpyro.sample("effect", dist.Normal(0, 1).expand([n_pairs]).to_event(1))
    return _with_mean_one(spread * effect), jnp.zeros((n_pairs, 2))


def _random_pairs(n_pairs: int, of_pairs: tuple[Any, float], priors: Priors) -> tuple[Array, Array]:
    """Draw pair effects and, correlated with them, shifts of both rates on the logit scale."""
    of_shifts = priors.intercept_spread, priors.spread_log_scale
    medians, log_scales = map(jnp.array, zip(of_pairs, of_shifts, of_shifts, strict=True))
    spread = numpyro.sample("spread", dist.LogNormal(jnp.log(medians), log_scales).to_event(1))
    correlation = numpyro.sample(
        "correlation", dist.LKJCholesky(3, priors.correlation_concentration)
    )
    effect = numpyro.sample("effect", dist.Normal(0, 1).expand([n_pairs, 3]).to_event(2))
    correlated = effect @ (spread[:, None] * correlation).T
    shift = correlated[:, 1:]
    return _with_mean_one(correlated[:, 0]), shift - shift.mean(axis=0)


def _with_mean_one(log_effect: Float[Array, " q"]) -> Float[Array, " q"]:
    return len(log_effect) * jax.nn.softmax(log_effect)


def _logits_of_pairs(
    curve: AverageCurve, scale: Float[Array, " q"], shift: Float[Array, "q 2"]
) -> Float[Array, "q 2 t"]:
    return scale[:, None, None] * curve.logits + shift[..., None]


def _log_sigmoid(x: Float[Array, "*cells"]) -> Float[Array, "*cells"]:
    """Return log s(x) at half the cost of `jax.nn.log_sigmoid`; below -700, where it is x, as x."""
    return jnp.minimum(x + 700.0, 0.0) - jnp.log1p(jnp.exp(jnp.minimum(-x, 700.0)))


def ordinal_log_likelihood(
    counts: ThresholdCounts,
    curve: AverageCurve,
    scale: Float[Array, " q"],
    shift: Float[Array, "q 2"],
) -> Float[Array, "q 2"]:
    """Return the log-likelihood of multinomial counts between successive thresholds, by column."""
    distance = scale[:, None, None] * curve.distances
    return log_likelihood_of_bins(counts.between, _logits_of_pairs(curve, scale, shift), distance)


def log_likelihood_of_bins(
    between: Float[Array, "*columns t_plus_1"],
    logits: Float[Array, "*columns t"],
    distances: Float[Array, "*columns t_minus_1"],
) -> Float[Array, " *columns"]:
    """Return the log-likelihood of multinomial counts in bins between thresholds, by column.

    ``log(s(b) - s(a)) = log s(b) + log s(-a) + log(1 - exp(a - b))``, s being the logistic
    function, so that each threshold needs a single logarithm for the bins on both of its sides.
    ``logits`` are those of being at or above a threshold, ``distances`` their differences.
    """
    before, after = between[..., :-1], between[..., 1:]
    at_thresholds = (before + after) * _log_sigmoid(logits) - after * logits
    inside = before[..., 1:] * jnp.log(-jnp.expm1(-distances))
    return at_thresholds.sum(axis=-1) + inside.sum(axis=-1)


def binomial_log_likelihood(
    counts: ThresholdCounts,
    curve: AverageCurve,
    scale: Float[Array, " q"],
    shift: Float[Array, "q 2"],
) -> Float[Array, "q 2"]:
    """Return the log-likelihood by column if every cell were an independent binomial count."""
    eta = _logits_of_pairs(curve, scale, shift)
    sizes = counts.sizes[..., None]
    return (sizes * _log_sigmoid(eta) - (sizes - counts.above) * eta).sum(axis=-1)
