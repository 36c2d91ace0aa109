"""NumPyro models of pairwise rates: what is drawn a priori, and how likely counts are.

A column is an ordered pair of classes; it has two halves, the positives and the negatives. Both
models describe a column by transforming the curve of the average pair on the logit scale, and
both likelihoods see the same counts of scores at or above each threshold. A priori the average
curve is binormal, and different from it as the data say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float, Int
from scipy.special import log_ndtr, ndtr

from dmfroc._kit.arrays import PerThreshold
from dmfroc._kit.options import positive
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE

Structure = Literal["rank_one", "hierarchical"]
PairEffects = Callable[[int], tuple[Any, Any]]
Likelihood = Literal["ordinal", "binomial"]
Model = Callable[["ThresholdCounts"], None]

_NODE_DISTANCE, _N_NODES = 0.1, 301  # of the tabulated distances between two classes
_NEWTON_STEPS = 12
_BEYOND_ALL_SCORES = 1e3  # standard deviations
_KNOWN = 0.01  # standard deviation of the logarithm of a spread that is given

PerPair = Float[Array, " q"]
"""One number for each pair of classes."""

RatesAtThresholds = Float[Array, "2 t"]
"""One number for the true and for the false positive rate at each threshold."""


class AverageCurve(NamedTuple):
    """The average pair: logits of its rates, and the distances between neighbours.

    The distances are computed apart from the logits, whose differences would lose all digits
    between thresholds that hardly any score separates.
    """

    logits: RatesAtThresholds
    distances: Float[Array, "2 t_minus_1"]


Halvings = Int[np.ndarray, "3 t"]
"""The bins between thresholds, halved until each is alone: start, middle and stop of each split."""

Splits = Float[np.ndarray, "m 2 t"]
"""Of each number, one for either half of each split."""

PerClassOfPair = Float[Array, "q 2"]
"""One number for each class of each pair."""


def sample_curve(
    counts: Float[Array, "2 t_plus_1"], discrimination_scale: float, split_scale: float
) -> AverageCurve:
    """Draw the curve by splitting the thresholds in half again and again.

    Each split's logit is that of a binormal curve and a deviation, whose variance is proportional
    to the share of the bins that are split, as if the log density were a Brownian motion. The
    counts between thresholds only choose coordinates: where they are large they fix the sum of
    the two terms, where they are small only the deviation is as simple as its prior. What is drawn
    goes from the one to the other (Papaspiliopoulos, Roberts and Skold 2007).
    """
    halvings = _halve(counts.shape[1])
    scale = split_scale * np.sqrt((halvings[2] - halvings[0]) / counts.shape[1])
    discrimination = numpyro.sample("discrimination", dist.Normal(0, 1))
    binormal = _binormal_splits(discrimination_scale * discrimination, halvings)
    known = _share_of_data(counts, halvings, scale)
    split = numpyro.sample("split", dist.Normal(known * binormal / scale, 1).to_event(2))
    return _curve_of_splits((1 - known) * binormal + scale * split, halvings)


def _share_of_data(
    counts: Float[Array, "2 t_plus_1"], halvings: Halvings, scale: PerThreshold
) -> RatesAtThresholds:
    """Return the information on each split that is the counts' and not the prior's."""
    first, second = (counts @ is_in.T for is_in in _bins_of_halves(halvings))
    information = first * second / jnp.maximum(first + second, 1e-9)
    return information / (information + 1 / scale**2)


@cache
def _halve(n_bins: int) -> Halvings:
    splits = []
    ranges = [(0, n_bins)]
    while ranges:
        start, stop = ranges.pop(0)
        if stop - start > 1:
            middle = (start + stop) // 2
            splits.append((start, middle, stop))
            ranges += [(start, middle), (middle, stop)]
    return np.array(splits).T


def _bins_of_halves(halvings: Halvings) -> list[Float[np.ndarray, "t t_plus_1"]]:
    """Return which bins are in the first half of each split, and which in the second."""
    bins = np.arange(halvings.shape[1] + 1)
    edges = [edge[:, None] for edge in halvings]
    return [
        ((start <= bins) & (bins < stop)).astype(float) for start, stop in itertools.pairwise(edges)
    ]


def _curve_of_splits(logit: RatesAtThresholds, halvings: Halvings) -> AverageCurve:
    """Return the curve whose splits have the given logits of falling into the first half."""
    is_first, is_second = _bins_of_halves(halvings)
    log_first = jax.nn.log_sigmoid(logit)
    share = jnp.exp(log_first @ is_first + (log_first - logit) @ is_second)
    # Products compile to fewer operations than cumulative sums.
    is_before = np.tri(logit.shape[1], share.shape[1]).T
    before, after = share @ is_before, share @ (1 - is_before)
    between = share[:, 1:-1]
    return AverageCurve(
        jnp.log(before) - jnp.log(after),
        jnp.log1p(between / before[:, :-1]) + jnp.log1p(between / after[:, 1:]),
    )


def _binormal_splits(discrimination: Float[Array, ""], halvings: Halvings) -> RatesAtThresholds:
    """Return the logits of the splits of two unit normal distributions so far apart.

    They are smooth functions of the distance alone, and are interpolated in a table by cubics that
    have the right values and slopes at its nodes. To compute them would take most of the time of
    every step of a chain, and of compiling it. Beyond the table they stay as they are.
    """
    values, slopes = _split_table(halvings.shape[1] + 1)
    distance = jnp.where(discrimination < 0, -discrimination, discrimination)
    place = jnp.minimum(distance / _NODE_DISTANCE, len(values) - 1)
    node = jnp.minimum(place.astype(int), len(values) - 2)
    x = place - node
    left, right = (
        weight * jnp.asarray(values)[at] + slope_weight * jnp.asarray(slopes)[at]
        for at, weight, slope_weight in (
            (node, (1 - x) ** 2 * (1 + 2 * x), x * (1 - x) ** 2),
            (node + 1, x**2 * (3 - 2 * x), x**2 * (x - 1)),
        )
    )
    # Two classes that change places have each other's rates.
    return jnp.where(discrimination < 0, (left + right)[::-1], left + right)


@cache
def _split_table(n_bins: int) -> tuple[Splits, Splits]:
    """Return logits of the splits at the nodes, and their slopes per distance of two nodes."""
    distance = _NODE_DISTANCE * np.arange(_N_NODES)[:, None]
    halvings, quantiles = _halve(n_bins), pooled_quantiles(distance, n_bins - 1)
    slope = np.tanh(quantiles * distance / 2) / 2  # by the derivative of the pool's distribution
    beyond = ((0, 0), (1, 1))
    edges = np.pad(quantiles, beyond, constant_values=(-_BEYOND_ALL_SCORES, _BEYOND_ALL_SCORES))
    slopes = np.pad(slope, beyond)
    halves = np.array([[0.5], [-0.5]])
    shares = [
        _log_normal_share(
            edges[:, None, low] + halves * distance[..., None],
            edges[:, None, high] + halves * distance[..., None],
            slopes[:, None, low] + halves,
            slopes[:, None, high] + halves,
        )
        for low, high in itertools.pairwise(halvings)
    ]
    values, rises = (first - second for first, second in zip(*shares, strict=True))
    return values, _NODE_DISTANCE * rises


def pooled_quantiles(
    distance: Float[np.ndarray, "m 1"], n_thresholds: int
) -> Float[np.ndarray, "m t"]:
    """Return evenly spaced quantiles of two unit normals that are this distance apart, as one.

    Newton's method starts where the pool is densest and so cannot overshoot.
    """
    level = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    upper = 2 * np.maximum(level, 1 - level)
    half = np.abs(distance) / 2
    x = np.broadcast_to(np.sqrt(np.maximum(half**2 - 1, 0)), (len(distance), n_thresholds))
    for _ in range(_NEWTON_STEPS):
        excess = ndtr(x + half) + ndtr(x - half) - upper
        density = np.exp(-((x + half) ** 2) / 2) + np.exp(-((x - half) ** 2) / 2)
        x = x - np.sqrt(2 * np.pi) * excess / density
    return np.where(upper == 1, 0.0, np.sign(level - 0.5) * x)


def _log_normal_share(
    low: Splits, high: Splits, d_low: Splits, d_high: Splits
) -> Float[np.ndarray, "2 m 2 t"]:
    """Return the log probability of a standard normal between two edges, and its derivative."""
    is_upper = low + high > 0
    log_below_low = log_ndtr(np.where(is_upper, -high, low))
    log_below_high = log_ndtr(np.where(is_upper, -low, high))
    share = log_below_high + np.log(-np.expm1(log_below_low - log_below_high))
    at_low, at_high = (np.exp(-(x**2) / 2 - np.log(2 * np.pi) / 2 - share) for x in (low, high))
    return np.stack([share, at_high * d_high - at_low * d_low])


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
    sizes: PerClassOfPair
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


def model(
    rates: Any,
    sizes: Any,
    tempering: Any = 1.0,
    *,
    structure: Structure | PairEffects = "rank_one",
    likelihood: Likelihood = "binomial",
    priors: Priors | None = None,
) -> None:
    """Draw the curve of the average pair and the effects of the pairs: a model of NumPyro.

    It is what `bayesian_roc` samples from. Give it to a kernel of your own, in double precision.

    Parameters
    ----------
    rates : array of shape (q, 2, T)
        True (place 0) and false (place 1) positive rates of q ordered pairs at T thresholds.
    sizes : array of shape (q, 2)
        Observations of the class that each half counts.
    tempering : number
        Power of the likelihood. The three are in the group ``constant_data`` of a posterior.
    structure : {"rank_one", "hierarchical"} or callable
        As for `bayesian_roc`; or what draws the pairs' effects by statements of NumPyro. It takes
        the number of pairs and returns factors of shape (q,) with mean one, and shifts of the
        logits of both rates, of shape (q, 2).
    likelihood, priors
        As for `bayesian_roc`.

    Examples
    --------
    >>> import jax, numpyro
    >>> rates, sizes = np.tile([[0.5, 0.9], [0.1, 0.5]], (6, 1, 1)), np.full((6, 2), 30)
    >>> with numpyro.handlers.seed(rng_seed=0):
    ...     sites = numpyro.handlers.trace(model).get_trace(rates, sizes)
    >>> sites["pair_effect"]["value"].shape
    (6,)
    """
    sizes = jnp.asarray(sizes, float)
    counts = ThresholdCounts(jnp.asarray(rates) * sizes[..., None], sizes, jnp.asarray(tempering))
    model_of(structure, likelihood, priors or Priors())(counts)


@cache
def model_of(structure: Any, likelihood: Likelihood, priors: Priors) -> Model:
    """Return a NumPyro model of `ThresholdCounts`; the same object for the same arguments."""
    log_likelihood = {"ordinal": ordinal_log_likelihood, "binomial": binomial_log_likelihood}
    own: dict[Any, Any] = {"rank_one": _proportional_pairs, "hierarchical": _random_pairs}
    sample_pairs = own.get(structure, lambda n_pairs, *_: structure(n_pairs))

    def model(counts: ThresholdCounts) -> None:
        n_pairs, _, n_thresholds = counts.above.shape
        information, between = counts.tempering * n_thresholds * counts.sizes.mean(), counts.between
        of_pairs: tuple[Any, float] = priors.pair_spread, priors.spread_log_scale
        if likelihood == "binomial":
            of_pairs = (priors.shrinkage * information) ** -0.5, _KNOWN
            between = between * n_thresholds / 3  # cells say about as much as so many bins
        total = counts.tempering * between.sum(axis=0)
        curve = sample_curve(total, priors.discrimination_scale, priors.split_scale)
        scale, shift = sample_pairs(n_pairs, of_pairs, priors)
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


def _with_mean_one(log_effect: PerPair) -> PerPair:
    return len(log_effect) * jax.nn.softmax(log_effect)


def _logits_of_pairs(
    curve: AverageCurve, scale: PerPair, shift: PerClassOfPair
) -> Float[Array, "q 2 t"]:
    return scale[:, None, None] * curve.logits + shift[..., None]


def _log_sigmoid(x: Float[Array, "*cells"]) -> Float[Array, "*cells"]:
    """Return log s(x) at half the cost of `jax.nn.log_sigmoid`; below -700, where it is x, as x."""
    return jnp.minimum(x + 700.0, 0.0) - jnp.log1p(jnp.exp(jnp.minimum(-x, 700.0)))


def ordinal_log_likelihood(
    counts: ThresholdCounts, curve: AverageCurve, scale: PerPair, shift: PerClassOfPair
) -> PerClassOfPair:
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
    counts: ThresholdCounts, curve: AverageCurve, scale: PerPair, shift: PerClassOfPair
) -> PerClassOfPair:
    """Return the log-likelihood by column if every cell were an independent binomial count."""
    eta = _logits_of_pairs(curve, scale, shift)
    sizes = counts.sizes[..., None]
    return (sizes * _log_sigmoid(eta) - (sizes - counts.above) * eta).sum(axis=-1)
