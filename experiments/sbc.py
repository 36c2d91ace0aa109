"""Simulation-based calibration: whether samplers draw from the posterior that they claim to.

Parameters drawn from the prior, data drawn given them, and posterior draws given the data: then
the rank of each true value among its draws is uniform (Talts et al. 2018). The data come from the
model itself, with independent columns and an untempered likelihood. Then the default posterior, of
scores of observations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import (
    RESULTS,
    arguments,
    markdown_table,
    run_studies,
    simulate,
    write_figure,
    write_page,
)
from matplotlib.figure import Figure
from numpyro.infer import Predictive
from scipy.special import expit
from scipy.stats import binom, chisquare

from dmfroc import Predictions, dmf_auc_score
from dmfroc.bayes import bayesian_roc
from dmfroc.bayes.models import (
    Likelihood,
    Priors,
    Structure,
    ThresholdCounts,
    model_of,
)
from dmfroc.bayes.sampling import (
    Chains,
    Sampler,
    approximate,
    default_kernel,
    draw_from_posterior,
    sampler_of,
)

PRIORS = Priors()
N_PAIRS, N_THRESHOLDS, CLASS_SIZE = 6, 7, 40
N_DRAWS, N_WARMUP, THINNING = 495, 200, 5
CHAINS = Chains(default_kernel, n_chains=1, n_draws=N_DRAWS, n_warmup=N_WARMUP)
N_RANKS = N_DRAWS // THINNING + 1
N_BINS = 25  # divides the number of ranks
MODELS: dict[str, tuple[Structure, Likelihood]] = {
    "binomial": ("rank_one", "binomial"),
    "ordinal": ("rank_one", "ordinal"),
    "hierarchical": ("hierarchical", "ordinal"),
}
CLASSES, CASES, POPULATION, LEVEL = (2, 3, 5), 40, 30_000, 0.95
SPREAD = 1.5  # of the distances of the classes from all others
N_TENTHS = 10
QUANTITIES = ("auc", "spread", "first pair's effect", "first pair's first TPR logit")


def logits_of_pairs(sites: dict[str, np.ndarray]) -> np.ndarray:
    """Return the logits of both rates of every pair at every threshold."""
    of_average = sites["threshold_effect"][..., None, :, :]
    return sites["pair_effect"][..., None, None] * of_average + sites["pair_shift"][..., None]


def simulate_counts(
    generator: np.random.Generator, sites: dict[str, np.ndarray], likelihood: Likelihood
) -> np.ndarray:
    """Draw the counts at or above each threshold given one draw from the prior."""
    rates = expit(logits_of_pairs(sites))
    if likelihood == "binomial":
        return generator.binomial(CLASS_SIZE, rates).astype(float)
    edge = np.zeros((*rates.shape[:2], 1))
    shares = np.diff(np.concatenate([edge, rates, edge + 1], axis=2), axis=2)
    between = generator.multinomial(CLASS_SIZE, shares / shares.sum(axis=2, keepdims=True))
    return between.cumsum(axis=2)[..., :-1].astype(float)


def quantities(sites: dict[str, np.ndarray]) -> np.ndarray:
    """Return the quantities that are ranked, in the last axis."""
    return np.stack(
        [
            sites["auc"],
            sites["spread"].reshape(*sites["auc"].shape, -1)[..., -1],
            sites["pair_effect"][..., 0],
            logits_of_pairs(sites)[..., 0, 0, 0],
        ],
        axis=-1,
    )


def problem(model: str) -> tuple[Callable[[Any], None], ThresholdCounts, Sampler]:
    """Return a model, data of its shape, and what samples it."""
    structure, likelihood = MODELS[model]
    sizes = jnp.full((N_PAIRS, 2), float(CLASS_SIZE))
    empty = ThresholdCounts(jnp.zeros((N_PAIRS, 2, N_THRESHOLDS)), sizes, jnp.ones(()))
    of_counts = model_of(structure, likelihood, PRIORS)
    return of_counts, empty, sampler_of(of_counts, empty)


def ranks(generator: np.random.Generator, model: str) -> dict[str, int]:
    """Return the rank of each quantity's true value among thinned draws given one data set."""
    of_prior, of_posterior = generator.integers(2**31, size=2).tolist()
    with jax.enable_x64(True):
        of_counts, empty, sampled = problem(model)
        prior = Predictive(of_counts, num_samples=1)(jax.random.PRNGKey(of_prior), empty)
        truth = {name: np.asarray(values)[0] for name, values in prior.items()}
        above = simulate_counts(generator, truth, MODELS[model][1])
        counts = empty._replace(above=jnp.asarray(above))
        approximation = approximate(sampled, counts)
        draws = draw_from_posterior(sampled, counts, approximation, CHAINS, of_posterior)
    kept = {name: values[0, ::THINNING] for name, values in draws.sites.items()}
    found = (quantities(kept) < quantities(truth)).sum(axis=0)
    return dict(zip(QUANTITIES, found.tolist(), strict=True))


def posterior_of_a_sample(generator: np.random.Generator, n_classes: int) -> list[dict]:
    """Draw a population and a sample of it; return where its area is among the draws."""
    means = np.diag(np.abs(generator.normal(0, SPREAD, n_classes)))
    population = simulate(generator, POPULATION, means)
    true = dmf_auc_score(Predictions.from_arrays(*population, labels=range(n_classes)))
    y, scores = simulate(generator, CASES * n_classes, means)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bayesian_roc(y, scores, algorithm="laplace", n_draws=250, level=LEVEL)
    drawn = found.posterior["posterior"]["auc"].to_numpy()
    low, high = found.interval
    return [
        {
            "rank": float((drawn < true).mean()),
            "covers": low <= true <= high,
            "error": found.value - true,
            "deviation": float(drawn.std()),
        }
    ]


def real_scores_table(table: pd.DataFrame) -> str:
    """Return how ranks and intervals of the default posterior turned out."""
    found = []
    for n_classes, x in table.groupby("n_classes"):
        counts = np.histogram(x["rank"], bins=N_TENTHS, range=(0, 1))[0]
        found.append(
            [
                n_classes,
                len(x),
                f"{100 * x['covers'].mean():.1f}",
                f"{x['error'].mean():+.4f}",
                f"{x['error'].std():.4f}",
                f"{x['deviation'].mean():.4f}",
                " ".join(map(str, counts)),
                f"{chisquare(counts).pvalue:.3f}",
            ]
        )
    header = ["classes", "data sets", f"coverage of {100 * LEVEL:g} %", "mean error"]
    header += ["its standard deviation", "mean posterior deviation", "ranks in tenths", "p"]
    return markdown_table(header, found)


def studies(models: list[str]) -> dict[str, Study]:
    settings, of_classes = grid(model=models), grid(n_classes=list(CLASSES))
    return {
        "sbc": Study("sbc", ranks, settings, replications=500, seed=1, directory=RESULTS),
        "scores": Study(
            "posterior_calibration",
            posterior_of_a_sample,
            of_classes,
            replications=200,
            seed=8,
            directory=RESULTS,
        ),
    }


def report(table: pd.DataFrame) -> tuple[str, Figure]:
    """Test the ranks and draw their histograms."""
    shape = table["model"].nunique(), len(QUANTITIES)
    figure = Figure(figsize=(11, 2.5 * shape[0]), layout="constrained")
    axes = figure.subplots(*shape, sharey=True, squeeze=False)
    rows = []
    for (model, part), row_of_axes in zip(table.groupby("model", sort=False), axes, strict=True):
        for quantity, ax in zip(QUANTITIES, row_of_axes, strict=True):
            counts, _ = np.histogram(part[quantity], bins=N_BINS, range=(-0.5, N_RANKS - 0.5))
            p_value = chisquare(counts).pvalue
            rows.append([model, quantity, len(part), f"{p_value:.3f}"])
            low, high = binom.interval(0.99, len(part), 1 / N_BINS)
            ax.axhspan(low, high, color="0.85", zorder=0, label="99 % of bins, if uniform")
            ax.bar(np.arange(1, N_BINS + 1), counts, width=0.9, color="tab:blue", alpha=0.8)
            ax.axhline(len(part) / N_BINS, color="black", linewidth=1, label="expected")
            ax.set_title(f"{model}: {quantity}", fontsize="small")
            ax.set(xlabel="bin of ranks, lowest first")
            ax.set(xticks=range(5, N_BINS + 1, 5), xlim=(0.4, N_BINS + 0.6), ylim=(0, 1.25 * high))
        row_of_axes[0].set_ylabel("data sets in the bin")
    axes[0, 0].legend(loc="upper left", fontsize="x-small", framealpha=1)
    header = ["model", "quantity", "data sets", "p"]
    return markdown_table(header, rows), figure


def page(n_replications: int, table: str, of_scores: str) -> str:
    """Report the study."""
    return f"""# Calibration of posteriors

Made by `experiments/sbc.py`.

## The samplers

Each model has {n_replications} data sets, drawn with parameters from its default prior ({N_PAIRS}
pairs, {N_THRESHOLDS} thresholds, {CLASS_SIZE} observations per class, no tempering). If the sampler
is right, the rank of a true value among {N_RANKS - 1} posterior draws is uniform; *p* is that of a
chi-square test over {N_BINS} bins.

![Histograms of ranks](../images/sbc.png)

{table}

The binomial and the ordinal model are of rank one. The spread of the hierarchical model is that of
the shifts of the false positive rate. The draws are from the posterior of the model; whether the
model holds for real scores is another question, which comes next.

## The default posterior of scores

Each data set has {CASES} cases of each class, from a population of its own: logits are normal, and
those of class k are larger in its column by the absolute value of a normal number with standard
deviation {SPREAD:g}. The true area is that of {POPULATION:,} observations. The posterior is that of
`bayesian_roc(y, scores, algorithm="laplace")`: thresholds of one column, binomial cells, tempered.
*Ranks in tenths* counts the data sets by the share of draws below the true area; *p* is that of a
chi-square test of uniformity. The populations are not drawn from the prior of the model, which has
no distribution of scores, so these ranks need only be about uniform.

{of_scores}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    found = run_studies(studies(["ordinal"] if options.quick else list(MODELS)), options)
    table, figure = report(found["sbc"])
    of_scores = real_scores_table(found["scores"])
    if options.quick:
        print(table, of_scores, sep="\n\n")
    else:
        write_figure("sbc", figure)
        write_page("sbc", page(found["sbc"]["replication"].nunique(), table, of_scores))
