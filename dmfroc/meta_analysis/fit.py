"""Fit the models of a meta-analysis by Markov chains, and name what they draw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import arviz
import jax.numpy as jnp
import numpy as np
import xarray
from jaxtyping import Float
from numpyro.infer import NUTS
from scipy.special import expit

from dmfroc._compiled import double_precision
from dmfroc.bayes.posterior import sampling_problems
from dmfroc.bayes.sampling import Draws, approximate, draw_from_posterior, problem_of
from dmfroc.meta_analysis.curve import area_under_line
from dmfroc.meta_analysis.data import CountsOfUnits, Studies, n_padded, padded, pair_name
from dmfroc.meta_analysis.models import (
    ModelName,
    SummaryPriors,
    hsroc_of_bivariate,
    model_of,
    update_of,
)

RATES = ["sensitivity", "fpr"]
_EFFECTS: dict[str, list[str]] = {
    "bivariate": RATES,
    "hsroc": RATES,
    "ordinal": ["cases", "non-cases", "log scale of cases", "log scale of non-cases"],
}
_MONITORED = ["location", "sd", "auc"]


@dataclass(frozen=True)
class Settings:
    """What is fitted, and how long the chains are."""

    model: ModelName
    priors: SummaryPriors
    n_chains: int
    n_draws: int
    n_warmup: int
    seed: int


def careful_kernel(model: Any) -> NUTS:
    """Return the No-U-Turn sampler with steps that are small enough for few studies."""
    return NUTS(model, target_accept_prob=0.9, max_tree_depth=8)


def most_careful_kernel(model: Any) -> NUTS:
    """Return it with steps half as long, for a second try."""
    return NUTS(model, target_accept_prob=0.98, max_tree_depth=10)


@double_precision
def draw(studies: Studies, counts: CountsOfUnits, settings: Settings, kernel: Any) -> Draws:
    """Draw from the posterior of counts, those of `studies` or some of them."""
    n_studies = n_padded(len(studies.names))
    model = model_of(settings.model, settings.priors, n_studies, len(studies.pairs))
    data = CountsOfUnits(*(jnp.asarray(field) for field in padded(counts)))
    problem = problem_of(model, update_of(settings.model, settings.priors), data)
    return draw_from_posterior(
        problem,
        data,
        approximate(problem, data),
        (settings.n_chains, settings.n_draws),
        settings.seed,
        settings.n_warmup,
        kernel,
    )


def fit(studies: Studies, settings: Settings) -> tuple[xarray.DataTree, list[str]]:
    """Return draws of everything, and what is wrong with them.

    Chains that diverge or disagree are run again, twice as long and with smaller steps.
    """
    tree = tree_of(draw(studies, studies.counts, settings, careful_kernel), studies, settings)
    if sampling_problems(tree, _MONITORED):
        longer = replace(settings, n_draws=2 * settings.n_draws, n_warmup=2 * settings.n_warmup)
        drawn = draw(studies, studies.counts, longer, most_careful_kernel)
        tree = tree_of(drawn, studies, settings)
    return tree, sampling_problems(tree, _MONITORED)


def tree_of(draws: Draws, studies: Studies, settings: Settings) -> xarray.DataTree:
    """Name all dimensions, and add new studies, areas, and replicated counts."""
    sites = draws.sites
    factor, location = sites["factor"], sites["location"]
    covariance = factor @ np.swapaxes(factor, -1, -2)
    sd = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    generator = np.random.default_rng(settings.seed)
    noise = generator.normal(size=(*location.shape, 1))
    n_units, n_studies = len(studies.counts.study), len(studies.names)
    variables = {
        "location": location,
        "sd": sd,
        "correlation": covariance / (sd[..., :, None] * sd[..., None, :]),
        "new_study": location + (factor @ noise)[..., 0],
        "study_effect": sites["study_effect"][:, :, :n_studies],
        "curve_intercept": sites["curve_intercept"],
        "curve_slope": sites["curve_slope"],
        "auc": area_under_line(sites["curve_intercept"], sites["curve_slope"]),
    }
    if settings.model != "ordinal":
        variables |= {f"hsroc_{k}": x for k, x in hsroc_of_bivariate(location, covariance).items()}
    if studies.has_pairs:
        variables |= {
            "pair_location": sites["pair_location"],
            "pair_sd": sites["pair_spread"],
            "sd_within": sites["spread_within"],
        }
    rates = expit(sites["logit_rates"][:, :, :n_units])
    variables["unit_rates"] = rates
    groups: dict[str, Any] = {
        "posterior": variables,
        "posterior_predictive": {"positives": _replicate(rates, studies, generator)},
        "observed_data": {
            "positives": np.stack([studies.true_positives, studies.false_positives], axis=1)
        },
        "constant_data": {"sizes": studies.sizes, "thresholds": studies.thresholds},
        "sample_stats": draws.sample_stats,
    }
    unit_rate_point = ["unit", "rate", "point"]
    tree = arviz.from_dict(
        groups,
        dims={
            "location": ["effect"],
            "sd": ["effect"],
            "correlation": ["effect", "effect_2"],
            "new_study": ["effect"],
            "study_effect": ["study", "effect"],
            "pair_location": ["pair", "effect"],
            "pair_sd": ["effect"],
            "unit_rates": unit_rate_point,
            "positives": unit_rate_point,
            "sizes": ["unit", "rate"],
            "thresholds": ["unit", "point"],
        },
        coords={
            "effect": _EFFECTS[settings.model],
            "effect_2": _EFFECTS[settings.model],
            "study": list(studies.names),
            "unit": studies.unit_names,
            "rate": RATES,
            "pair": [pair_name(pair) for pair in studies.pairs],
        },
    )
    assert isinstance(tree, xarray.DataTree)
    return tree


def _replicate(
    rates: Float[np.ndarray, "chain draw u 2 t"], studies: Studies, generator: np.random.Generator
) -> Float[np.ndarray, "chain draw u 2 t"]:
    """Draw the positives of studies like those observed; NaN beyond the thresholds of each."""
    edge = np.zeros((*rates.shape[:-1], 1))
    shares = np.diff(np.concatenate([edge, rates, edge + 1], axis=-1), axis=-1).clip(0)
    drawn = generator.multinomial(
        np.rint(studies.sizes).astype(int), shares / shares.sum(axis=-1, keepdims=True)
    )
    positives = np.cumsum(drawn, axis=-1)[..., :-1].astype(float)
    return np.where(np.isnan(studies.thresholds)[:, None], np.nan, positives)
