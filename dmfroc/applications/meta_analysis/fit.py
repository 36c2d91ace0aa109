"""Fit the models of a meta-analysis by Markov chains, and name what they draw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import arviz_base
import jax
import jax.numpy as jnp
import numpy as np
import xarray
from numpyro.infer import NUTS
from scipy.special import expit

from dmfroc.applications.meta_analysis.data import Studies, StudyCounts, padded
from dmfroc.applications.meta_analysis.models import (
    ModelData,
    ModelName,
    SummaryPriors,
    area_under_line,
    hsroc_of_bivariate,
    likelihood_of,
    marginal_log_likelihood,
    model_of,
)
from dmfroc.extend import (
    Chains,
    Draws,
    approximate,
    double_precision,
    draw_from_posterior,
    interruptible,
    replicated_counts,
    sampler_of,
    sampling_problems,
)

RATES = ["sensitivity", "fpr"]
_EFFECTS: dict[ModelName, list[str]] = {
    "ordinal": ["cases", "non-cases", "log scale of cases", "log scale of non-cases"]
}  # of the other models both rates
_LESS_OPEN = "smaller scales leave less open, priors=SummaryPriors(spread_scale=0.7)"
_MONITORED = ["location", "sd", "auc"]
_MONITORED_PAIRS = [*_MONITORED, "pair_location", "pair_sd", "within_sd"]


@dataclass(frozen=True)
class Settings:
    """The model, its priors, and the length of the chains."""

    model: ModelName
    priors: SummaryPriors
    n_chains: int
    n_draws: int
    n_warmup: int
    seed: int


careful_kernel = partial(NUTS, target_accept_prob=0.95, max_tree_depth=10)
"""The No-U-Turn sampler with steps that are small enough for few studies."""

_most_careful_kernel = partial(NUTS, target_accept_prob=0.99, max_tree_depth=10)
"""The same with smaller steps still, for a second run."""


def data_of(counts: StudyCounts, model: ModelName, priors: SummaryPriors) -> ModelData:
    """Return what a model takes of counts, those of studies and of padding."""
    filled = jax.tree.map(jnp.asarray, padded(counts))
    return filled, likelihood_of(model, priors, filled)


@double_precision
def draw(counts: StudyCounts, settings: Settings, kernel: Any) -> Draws:
    """Draw from the posterior of counts."""
    data = data_of(counts, settings.model, settings.priors)
    sampler = sampler_of(model_of(settings.model, settings.priors), data)
    chains = Chains(kernel, settings.n_chains, settings.n_draws, settings.n_warmup)
    sampler.programs(chains, data)  # are compiled meanwhile
    approximation = approximate(sampler, data)
    return draw_from_posterior(sampler, data, approximation, chains, settings.seed)


@interruptible
def fit(studies: Studies, settings: Settings) -> tuple[xarray.DataTree, list[str]]:
    """Return draws of everything, and what is wrong with them.

    Chains that diverge or disagree are run again, twice as long and with smaller steps.
    """
    monitored = _MONITORED_PAIRS if studies.pairs else _MONITORED
    longer = replace(settings, n_draws=2 * settings.n_draws, n_warmup=2 * settings.n_warmup)
    for attempt, kernel in ((settings, careful_kernel), (longer, _most_careful_kernel)):
        tree = tree_of(draw(studies.counts, attempt, kernel), studies, settings)
        problems = sampling_problems(tree, monitored, _LESS_OPEN)
        if not problems:
            break
    return tree, problems


@double_precision
def tree_of(draws: Draws, studies: Studies, settings: Settings) -> xarray.DataTree:
    """Name all dimensions, and add new studies, areas, and replicated counts."""
    sites = draws.sites
    factor, location = sites["factor"], sites["location"]
    covariance = factor @ np.swapaxes(factor, -1, -2)
    sd = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    generator = np.random.default_rng(settings.seed)
    noise = generator.normal(size=(*location.shape, 1))
    n_studies = len(studies.names)
    rates = expit(sites["logits"][:, :, :n_studies])
    variables = {
        "location": location,
        "sd": sd,
        "correlation": covariance / (sd[..., :, None] * sd[..., None, :]),
        "new_study": location + (factor @ noise)[..., 0],
        "study_effect": sites["study_effect"][:, :, :n_studies],
        "rates": rates,
        "curve_intercept": sites["curve_intercept"],
        "curve_slope": sites["curve_slope"],
        "auc": area_under_line(sites["curve_intercept"], sites["curve_slope"]),
    }
    if settings.model == "multiclass":
        variables |= {name: sites[name] for name in ("pair_location", "pair_sd", "within_sd")}
    if settings.model in ("bivariate", "hsroc"):
        variables |= {f"hsroc_{k}": x for k, x in hsroc_of_bivariate(location, covariance).items()}
    data = data_of(studies.counts, settings.model, settings.priors)
    flat = (sites[x].reshape(-1, *sites[x].shape[2:]) for x in ("study_location", "study_factor"))
    pointwise = np.asarray(marginal_log_likelihood(settings.model, data, *map(jnp.asarray, flat)))
    pointwise = pointwise[:, :n_studies].reshape(*location.shape[:2], n_studies)
    replicates = replicated_counts(rates, np.rint(studies.sizes).astype(int), generator)
    is_observed = np.isfinite(studies.positives)
    groups: dict[str, Any] = {
        "posterior": variables,
        "posterior_predictive": {"positives": np.where(is_observed, replicates, np.nan)},
        "log_likelihood": {"study_counts": pointwise},
        "log_prior": {"parameters": sites["log_prior"]},
        "observed_data": {"positives": studies.positives},
        "constant_data": {"sizes": studies.sizes, "thresholds": studies.thresholds},
        "sample_stats": draws.sample_stats,
    }
    at_threshold, effects = ["study", "rate", "point"], _EFFECTS.get(settings.model, RATES)
    coords = {
        "effect": effects,
        "effect_2": effects,
        "study": list(studies.names),
        "rate": [f"{rate} of {pair}" for pair in studies.pairs for rate in RATES] or RATES,
    }
    if studies.pairs:
        coords["pair"] = list(studies.pairs)
    tree = arviz_base.from_dict(
        groups,
        dims={
            "location": ["effect"],
            "sd": ["effect"],
            "correlation": ["effect", "effect_2"],
            "new_study": ["effect"],
            "study_effect": ["study", "rate" if studies.pairs else "effect"],
            "pair_location": ["pair", "effect"],
            "pair_sd": ["effect"],
            "rates": at_threshold,
            "positives": at_threshold,
            "study_counts": ["study"],
            "sizes": ["study", "rate"],
            "thresholds": ["study", "point"],
        },
        coords=coords,
    )
    assert isinstance(tree, xarray.DataTree)
    return tree
