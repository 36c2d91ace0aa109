"""The posterior of the multiclass ROC curve."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import arviz_base
import jax.numpy as jnp
import numpy as np
import xarray
from jaxtyping import Float, Int
from scipy.special import ndtri

from dmfroc._kit.arrays import value_and_derivatives, value_and_pull_back
from dmfroc._kit.compiled import double_precision
from dmfroc._kit.options import RandomState, check_level, choice, seed_of
from dmfroc._kit.threads import interruptible
from dmfroc.bayes.models import Likelihood, Priors, Structure, ThresholdCounts, model_of
from dmfroc.bayes.pairs import areas, rates_of_pairs, replicated_counts
from dmfroc.bayes.posterior import (
    MOST_LIKELIHOODS,
    Posterior,
    check_priors,
    check_size,
    sampling_problems,
    summarize,
)
from dmfroc.bayes.sampling import (
    Chains,
    Draws,
    Gaussian,
    Kernel,
    Sampler,
    approximate,
    default_kernel,
    draw_from_gaussian,
    draw_from_posterior,
    sampler_of,
)
from dmfroc.inference.influences import NO_VARIATION, influences_on, moments_of
from dmfroc.inference.remarks import few_decide_message
from dmfroc.inference.units import kish_sizes, units_of
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import (
    Measure,
    absent_classes_message,
    sample_message,
    warn_of_absent_classes,
)
from dmfroc.measures.statistics.statistic import Sums
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.curve import area as area_of_curve
from dmfroc.multiclass.measure import dmf_auc
from dmfroc.multiclass.rates import CurveOptions, RateCounts, RateTable
from dmfroc.multiclass.thresholds import grid_levels

Tempering = Literal["overlap", "none"]
Algorithm = Literal["mcmc", "laplace"]

DEFAULT_PRIORS = Priors()
DEFAULT_N_THRESHOLDS = 49
_MONITORED = ["auc", "spread", "pair_effect", "threshold_effect"]
_REPLICATES_PER_CHAIN = 100
_PERFECT = 1e-12
_ERROR = 0.05  # share of samples from the model that get a warning of unequal pairs
_FEW_DEGREES_OF_FREEDOM = 8
_FEW_ERRORS = 1.0  # below, intervals cover 86 to 95 % where they say 95 %
_DIMENSIONS = {
    "threshold_effect": ["rate", "threshold"],
    "pair_effect": ["pair"],
    "pair_shift": ["pair", "rate"],
    "tpr": ["point"],
    "fpr": ["point"],
    "pairwise_auc": ["pair"],
    "counts": ["pair", "rate", "threshold"],
    "rates": ["pair", "rate", "threshold"],
    "sizes": ["pair", "rate"],
    "counts_of_pairs": ["pair", "rate"],
    "observations": ["observation"],
    "classification_class": ["pair"],
    "reference_class": ["pair"],
}


@double_precision
def bayesian_roc(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    structure: Structure = "rank_one",
    likelihood: Likelihood | None = None,
    tempering: Tempering = "overlap",
    priors: Priors = DEFAULT_PRIORS,
    algorithm: Algorithm = "mcmc",
    kernel: Kernel = default_kernel,
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    n_chains: int = 4,
    n_draws: int = 1000,
    n_warmup: int = 200,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> Posterior:
    """Return the posterior of the multiclass ROC curve and of its area.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `Predictions.from_arrays`. Weighted classes count for as many observations as
        Kish's effective size says.
    pair_weights : {"equal", "prevalence"}, (K, K) costs, or a tuple of two such matrices
        What the rates of each pair weigh, as for `multiclass_roc`: the power of their part of the
        likelihood, on average one. The tempering makes up for what that adds to, or takes from,
        the spread.
    structure : {"rank_one", "hierarchical"}
        How pairs differ from the average pair on the logit scale: by a factor, as in the DMF-ROC,
        or by a factor and a shift of either rate. The three are correlated: this is the multiclass
        sROC with random pair effects.
    likelihood : {"binomial", "ordinal"}, optional
        By default binomial, and ordinal for two classes, which are one pair. ``"binomial"``
        takes every cell of the rates as an independent binomial count, as the fit and the paper do,
        and so has their average of pairs. ``"ordinal"`` takes the counts between successive
        thresholds of a column as multinomial. It gives easy pairs less weight. The mean of its
        pairs is near Hand and Till's M, for which ``method="bayes"`` uses it.
    tempering : {"overlap", "none"}
        Power of the likelihood. An observation is counted once per threshold, or once in the bins
        of a column, and in K - 1 columns in either role, which say much the same. ``"overlap"``
        measures how much: the variance that the area would have if cells, or columns, were
        independent, over the one it has. ``"none"`` is 1: with binomial cells, as in the paper,
        its intervals are several times too narrow.
    priors : Priors
        Scales of the prior.
    algorithm : {"mcmc", "laplace"}
        Markov chains, or independent draws from the normal approximation that the chains start
        from.
    kernel : callable
        What makes the chains from a NumPyro model: a kernel class, or a function such as
        ``lambda model: NUTS(model, target_accept_prob=0.95)``.
    n_thresholds : int
        Number of quantile levels, the median besides; see `multiclass_roc`.
    n_chains, n_draws, n_warmup : int
        Number of chains, of draws kept per chain, and of those before.
    level : float
        Posterior probability of the interval, in (0, 1).
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws.

    Returns
    -------
    Posterior
        Of the area: in (0, 1), 1/2 for guessing. The tree of draws also holds the curve (``fpr``,
        ``tpr``), ``threshold_effect``, ``pair_effect`` (mean one), ``pair_shift`` and ``spread``
        (tau), and posterior predictive areas of every pair beside the observed ones. A perfect
        classifier has an area below 1, by as much as sample size and prior leave open.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option out of its range.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, sections 3.3 and 3.5, equation 18; Tosteson and Begg
    (1988); Reitsma et al. (2005); Rutter and Gatsonis (2001).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(90) % 3
    >>> scores = rng.normal(size=(90, 3)) + 1.5 * np.eye(3)[y]
    >>> bayesian_roc(y, scores, algorithm="laplace").interval[0] > 0.7
    True
    """
    check_choices(structure=structure, tempering=tempering, algorithm=algorithm)
    if likelihood is not None:
        check_choices(likelihood=likelihood)
    level = check_level(level)
    check_size(n_chains=n_chains, n_draws=n_draws, n_warmup=n_warmup)
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    predictions = predictions.counted
    warn_of_absent_classes(predictions)
    seed = seed_of(random_state)
    check_priors(priors, Priors)
    if not callable(kernel):
        raise TypeError(
            "kernel must be a kernel of NumPyro or a function that makes one of a model, but it is "
            f"of type {type(kernel).__name__}"
        )
    chains = Chains(kernel, n_chains, n_draws, n_warmup) if algorithm == "mcmc" else None

    @interruptible
    @double_precision
    def fitted() -> tuple[Approximated, xarray.DataTree]:
        options = pair_weights, structure, likelihood, tempering, priors, chains
        fit = approximated(predictions, n_thresholds, *options)
        given = fit.sampler, fit.counts, fit.approximation
        if chains is None:
            draws = draw_from_gaussian(*given, (n_chains, n_draws), seed)
        else:
            draws = draw_from_posterior(*given, chains, seed)
        return fit, _tree(draws, fit.bound, fit.counts, predictions, n_thresholds, seed)

    fit, posterior = fitted()
    if chains is None:
        remarks = ["the draws are from a normal approximation of the posterior"]
    else:
        remarks = sampling_problems(posterior, _MONITORED)
    remarks += _warnings(posterior, predictions, fit, tempering)
    return summarize("dmf_auc", "DMF-AUC", posterior, level, seed, remarks, "auc")


class Approximated(NamedTuple):
    """The data of the model, and the normal approximation from which chains start."""

    bound: RateCounts
    area: Measure
    likelihood: Likelihood
    sampler: Sampler
    counts: ThresholdCounts
    approximation: Gaussian


def approximated(
    predictions: Predictions,
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    pair_weights: PairWeights = "equal",
    structure: Structure = "rank_one",
    likelihood: Likelihood | None = None,
    tempering: Tempering = "overlap",
    priors: Priors = DEFAULT_PRIORS,
    chains: Chains | None = None,
) -> Approximated:
    """Approximate the posterior that the options of `bayesian_roc` define.

    ``chains``, if there are any, are compiled meanwhile.
    """
    bound = CurveOptions(pair_weights, n_thresholds)(predictions)
    counts = pairwise_counts(bound, predictions)
    area = dmf_auc(pair_weights=pair_weights, n_thresholds=n_thresholds)
    likelihood = likelihood or ("binomial" if len(predictions.present) > 2 else "ordinal")
    sampler = sampler_of(model_of(structure, likelihood, priors), counts)
    if chains is not None:
        sampler.programs(chains, counts)  # are compiled meanwhile
    if tempering == "overlap":
        overlap_of = {"binomial": _overlap_of_cells, "ordinal": _overlap_of_columns}
        overlap = overlap_of[likelihood](bound, counts, predictions)
        counts = counts._replace(tempering=jnp.asarray(overlap))
    return Approximated(bound, area, likelihood, sampler, counts, approximate(sampler, counts))


def pairwise_counts(bound: RateCounts, predictions: Predictions) -> ThresholdCounts:
    """Return the counts of all pairs, not tempered.

    The size of every half of a column is in proportion to its weight, so that all pairs have their
    weight of the point estimate, and their average is as precise as one over classes. The only
    column of two classes has its own sizes.
    """
    rates = bound.count(predictions.sample_weight, np).rates(np)
    sizes, weights = _sizes_of_halves(bound, predictions), bound.cell_weights[..., 0]
    if len(weights) > 1:
        sizes = weights * weights.sum() / (weights / sizes).sum()
    # Rounding of cumulative sums must not make a count between thresholds negative.
    above = np.maximum.accumulate(rates.clip(0, 1), axis=2) * sizes[..., None]
    return ThresholdCounts(*map(jnp.asarray, (above, sizes, 1.0)))


def _sizes_of_halves(bound: RateCounts, predictions: Predictions) -> Float[np.ndarray, "q 2"]:
    """Return the sizes of the positive and of the negative class of each pair."""
    sizes = kish_sizes(predictions.true, predictions.sample_weight, predictions.n_classes)[
        predictions.present
    ]
    return sizes[_classes_of_halves(bound)]


def _classes_of_halves(bound: RateCounts) -> Int[np.ndarray, "q 2"]:
    return np.asarray(bound.counted).reshape(-1, 2)[-len(bound.cell_weights) :]


def _overlap_of_cells(
    bound: RateCounts, counts: ThresholdCounts, predictions: Predictions
) -> float:
    """Return the power that makes up for cells that share observations.

    That is the variance that the area would have if cells were independent, over the one it has.
    Both depend on the same errors of the classifier, and their ratio is therefore more stable than
    either. If all observations have the same influence, as under a perfect classifier, nothing
    shows how cells overlap: they count as a third as many bins, in the columns of one class.
    """
    weights, table = predictions.sample_weight, bound.count(predictions.sample_weight, np)
    _, derivatives = value_and_derivatives(area_of_curve, table)
    influences = weights * bound.pull_back(weights, table, derivatives)
    by_count = np.stack([derivatives.counts[group] for group in range(len(table.counted))])
    by_rate = by_count * table.totals[table.counted][..., None]
    sizes = np.asarray(counts.sizes)[..., None]
    rates = np.asarray(counts.above) / sizes
    slopes = by_rate.reshape(-1, *rates.shape[1:])[-len(rates) :]
    together = float(influences @ influences)
    if together <= NO_VARIATION**2:
        return 3 / (rates.shape[2] * (len(bound.totals) - 1))
    return float((slopes**2 * rates * (1 - rates) / sizes).sum()) / together


def _overlap_of_columns(
    bound: RateCounts, counts: ThresholdCounts, predictions: Predictions
) -> float:
    """Return the power that makes up for columns that share observations.

    An observation whose influences agree from column to column makes the variance of their sum
    larger than the sum of their variances. Both depend on the same errors of the classifier, and
    their ratio is therefore more stable than either. Columns of weight w have precision w: the
    variances in their weighted sum are too small by this factor.
    """
    weights, pair_weights = predictions.sample_weight, bound.cell_weights[..., 0]
    table = bound.count(weights, np)
    rates, to_table = value_and_pull_back(RateTable.rates, table)
    _, to_rates = value_and_pull_back(lambda pairs, xp: areas(pairs.values, xp), Sums(rates))
    [slopes] = to_rates(np.ones(len(pair_weights)))

    def square(factors: Float[np.ndarray, "q 2"]) -> float:
        """Return the sum of squares of the influences on a weighted sum of all halves."""
        derivatives = to_table(factors[..., None] * slopes)
        influences = weights * bound.pull_back(weights, table, derivatives)
        return float(influences @ influences)

    # Pairs without a class in common have influences of different observations.
    positive, negative = _classes_of_halves(bound).T
    rounds = 2 * ((positive + negative) % len(bound.totals)) + (positive < negative)
    apart = sum(
        square(np.where(rounds[:, None] == one, np.sqrt(pair_weights), 0.0))
        for one in np.unique(rounds)
    )
    together = square(pair_weights)
    return float(apart / together) if together > NO_VARIATION**2 else 1 / (len(bound.totals) - 1)


def _warnings(
    posterior: xarray.DataTree, predictions: Predictions, fit: Approximated, tempering: Tempering
) -> list[str]:
    """Return what limits the posterior: the model, the prior, or a sample with few errors."""
    remarks, area = [], fit.area
    if fit.likelihood == "binomial" and tempering == "none":
        remarks.append(
            "cells were taken for independent binomial counts, which they are not: the interval "
            "is too narrow"
        )
    is_perfect = bool((posterior["observed_data"]["pairwise_auc"] > 1 - _PERFECT).all())
    if is_perfect:
        remarks.append(
            "the classifier is perfect in this sample: how far its area may be below 1 follows "
            "from sample size and prior"
        )
    remarks += filter(None, [absent_classes_message(predictions), sample_message(predictions)])
    if is_perfect:
        return remarks
    value, influences, _ = influences_on(area, predictions)
    moments = moments_of(influences, units_of(predictions))
    drawn = posterior["posterior"]["auc"]
    mean = float(drawn.mean())
    # With bins of several pairs, the area is that of another average of them
    is_of_fit = fit.likelihood == "binomial" or fit.counts.above.shape[0] == 1
    if is_of_fit and abs(mean - value) > float(drawn.std()):
        remarks.append(
            f"the model draws the area from {value:.4f} in the sample to {mean:.4f}, by more than "
            "a posterior standard deviation. It does not expect such pairs or such a curve: try "
            "priors=Priors(split_scale=5), or use the jackknife"
        )
    remarks += filter(None, [_unequal_pairs_message(posterior)])
    few_errors = (1 - value) * moments.sizes.min() < _FEW_ERRORS
    if few_errors or moments.spread.degrees_of_freedom < _FEW_DEGREES_OF_FREEDOM:
        remarks.append(few_decide_message("ten points (the jackknife adjusts for that) below"))
    return remarks


def _unequal_pairs_message(posterior: xarray.DataTree) -> str | None:
    """Say which pair's area in the sample is far from those that the model replicates.

    The model has seen the sample, so that areas differ by half as much as those of a new one would.
    """
    observed = posterior["observed_data"]["pairwise_auc"].to_numpy()
    replicated = posterior["posterior_predictive"]["pairwise_auc"].to_numpy()
    mean, spread = replicated.mean(axis=(0, 1)), replicated.std(axis=(0, 1))
    gaps = np.abs(observed - mean) / np.maximum(spread, _PERFECT)
    worst = int(gaps.argmax())
    if gaps[worst] <= -ndtri(_ERROR / (2 * len(gaps))) / 2:
        return None
    pair = posterior["observed_data"]["pair"].to_numpy().tolist()[worst]
    return (
        f"pairs of classes differ by more than the model expects: it draws the area of {pair!r} "
        f"from {observed[worst]:.4f} in the sample to {mean[worst]:.4f}. Intervals of pairs may "
        "hold in less than half of the samples. Use the jackknife, or structure='hierarchical' if "
        "that gets no such warning"
    )


def _tree(
    draws: Draws,
    bound: RateCounts,
    counts: ThresholdCounts,
    predictions: Predictions,
    n_thresholds: int,
    seed: int,
) -> xarray.DataTree:
    """Name all dimensions, and add replicated areas of the pairs beside the observed ones."""
    names = {*_DIMENSIONS, "auc", "spread", "correlation"}
    sites = {name: x for name, x in draws.sites.items() if name in names}
    numerators, denominator = grid_levels(n_thresholds)
    classes = [predictions.labels[index] for index in predictions.present]
    pairs = [(i, j) for i in classes for j in classes if i != j][-len(bound.cell_weights) :]
    rates = bound.count(predictions.sample_weight, np).rates(np)
    sizes = _sizes_of_halves(bound, predictions)
    observed = {"pairwise_auc": areas(rates, np), "counts": rates * sizes[..., None]}
    sizes = np.maximum(np.rint(sizes), 1).astype(int)
    dimensions = dict(_DIMENSIONS)
    if sites["spread"].ndim > 2:
        dimensions |= {"spread": ["effect"], "correlation": ["effect", "effect_2"]}
    groups = {
        "posterior": sites,
        "posterior_predictive": _replicate(draws, sizes, seed),
        "observed_data": observed,
        "constant_data": {
            "classification_class": np.array([i for i, _ in pairs]),
            "reference_class": np.array([j for _, j in pairs]),
            "rates": np.asarray(counts.above) / np.asarray(counts.sizes)[..., None],
            "sizes": np.asarray(counts.sizes),
            "tempering": np.asarray(counts.tempering),
        },
        "log_likelihood": _log_likelihoods(draws, counts),
        "log_prior": {"parameters": draws.sites["log_prior"]},
    }
    if draws.sample_stats:
        groups["sample_stats"] = draws.sample_stats
    return arviz_base.from_dict(
        groups,
        dims=dimensions,
        coords={
            "rate": ["tpr", "fpr"],
            "threshold": numerators / denominator,
            "pair": [f"{i} from {j}" for i, j in pairs],
            "effect": ["factor", "tpr", "fpr"],
        },
    )


def _log_likelihoods(draws: Draws, counts: ThresholdCounts) -> dict[str, np.ndarray]:
    """Return those of columns; of two classes those of observations in bins."""
    if len(counts.sizes) > 1:
        return {"counts_of_pairs": draws.sites["log_likelihood_of_counts"]}
    rates = np.concatenate(list(rates_of_pairs(draws.sites)), axis=1)
    shares = np.maximum(np.diff(rates, prepend=0.0, append=1.0), np.finfo(float).tiny)
    between = np.asarray(counts.between)
    is_bin = between > 0
    in_bin = between[is_bin]  # fractions, if scores tie or have weights
    n_parts = np.ceil(in_bin).astype(int)
    if n_parts.sum() * shares[..., 0, 0, 0].size > MOST_LIKELIHOODS:
        n_parts[:] = 1
    of_one = float(counts.tempering) * in_bin / n_parts * np.log(shares[..., is_bin])
    return {"observations": np.repeat(of_one, n_parts, axis=-1)}


def _replicate(draws: Draws, sizes: Int[np.ndarray, "q 2"], seed: int) -> dict[str, np.ndarray]:
    """Draw the counts above thresholds, and areas, of all pairs in data sets like the observed."""
    step = max(1, draws.sites["auc"].shape[1] // _REPLICATES_PER_CHAIN)
    generator = np.random.default_rng(seed)
    counts, parts = [], []
    for rates in rates_of_pairs(draws.sites, step):
        above = replicated_counts(rates, sizes, generator)
        counts.append(above.astype(np.min_scalar_type(sizes.max())))
        parts.append(areas(above / sizes[..., None], np))
    return {"pairwise_auc": np.concatenate(parts, axis=1), "counts": np.concatenate(counts, axis=1)}


def check_choices(**options: str) -> None:
    """Refuse an option that is none of those known."""
    choices = {
        "structure": Structure,
        "likelihood": Likelihood,
        "tempering": Tempering,
        "algorithm": Algorithm,
    }
    for name, value in options.items():
        choice(name, value, get_args(choices[name]))
