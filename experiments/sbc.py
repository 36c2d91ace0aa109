"""Simulation-based calibration: whether the samplers draw from the posterior they claim to.

Parameters drawn from the prior, data drawn given them, and posterior draws given the data: then
the rank of each true value among its draws is uniform (Talts et al. 2018). The data come from the
model itself, with independent columns and an untempered likelihood.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from _study import DOCS, arguments, markdown_table, write_page
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import chisquare

from dmfroc.uncertainty.bayes.models import (
    Counts,
    Likelihood,
    Priors,
    model_of,
    reestimated_spread,
)
from dmfroc.uncertainty.bayes.sampling import (
    approximate,
    default_kernel,
    draw_from_posterior,
    draw_from_prior,
    problem_of,
)

PRIORS = Priors()
N_PAIRS, N_THRESHOLDS, CLASS_SIZE = 6, 7, 40
N_DRAWS, N_WARMUP, THINNING = 441, 200, 7
N_BINS = 8  # divides the number of possible ranks, 64
QUANTITIES = ("auc", "spread", "first pair's effect", "first TPR logit")


def simulate_counts(
    generator: np.random.Generator, sites: dict[str, np.ndarray], likelihood: Likelihood
) -> np.ndarray:
    """Draw the counts at or above each threshold given one draw from the prior."""
    logits = sites["pair_effect"][:, None, None] * sites["threshold_effect"]
    rates = expit(logits)
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
            sites["spread"],
            sites["pair_effect"][..., 0],
            sites["threshold_effect"][..., 0, 0],
        ],
        axis=-1,
    )


def ranks(likelihood: Likelihood, n_replications: int) -> np.ndarray:
    """Return the rank of each quantity's true value among thinned draws, one row per data set."""
    generator = np.random.default_rng(1)
    sizes = jnp.full((N_PAIRS, 2), float(CLASS_SIZE))
    empty = Counts(jnp.zeros((N_PAIRS, 2, N_THRESHOLDS)), sizes, jnp.ones(()))
    model = model_of("rank_one", likelihood, PRIORS)
    problem = problem_of(
        model, partial(reestimated_spread, structure="rank_one", priors=PRIORS), empty
    )
    prior = draw_from_prior(model, empty, n_replications, seed=1).sites
    found = []
    for index in range(n_replications):
        truth = {name: values[0, index] for name, values in prior.items()}
        counts = empty._replace(above=jnp.asarray(simulate_counts(generator, truth, likelihood)))
        approximation = approximate(problem, counts)
        draws = draw_from_posterior(
            problem, counts, approximation, (1, N_DRAWS), index, N_WARMUP, default_kernel
        )
        kept = {name: values[0, ::THINNING] for name, values in draws.sites.items()}
        found.append((quantities(kept) < quantities(truth)).sum(axis=0))
    return np.array(found)


def study(n_replications: int) -> tuple[str, Figure]:
    """Rank, test and draw."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots(2, len(QUANTITIES), sharey=True)
    rows = []
    for likelihood, row_of_axes in zip(("binomial", "ordinal"), axes, strict=True):
        found = ranks(likelihood, n_replications)
        for quantity, ax, of_quantity in zip(QUANTITIES, row_of_axes, found.T, strict=True):
            n_ranks = N_DRAWS // THINNING + 1
            counts, _ = np.histogram(of_quantity, bins=N_BINS, range=(-0.5, n_ranks - 0.5))
            p_value = chisquare(counts).pvalue
            rows.append([likelihood, quantity, " ".join(map(str, counts)), f"{p_value:.3f}"])
            ax.bar(np.arange(N_BINS), counts, width=0.95, color="tab:blue")
            ax.axhline(n_replications / N_BINS, color="black", linewidth=1)
            ax.set(title=f"{likelihood}: {quantity}", xlabel="bin of ranks", xticks=[])
    table = markdown_table(["likelihood", "quantity", "data sets per bin of ranks", "p"], rows)
    return table, figure


def page(n_replications: int, table: str) -> str:
    """Report the study."""
    return f"""# Calibration of the samplers

Made by `experiments/sbc.py`: {n_replications} data sets for each likelihood, drawn from the model
with parameters drawn from its default prior ({N_PAIRS} pairs, {N_THRESHOLDS} thresholds,
{CLASS_SIZE} observations per class, no tempering). If the sampler is right, the rank of a true
value among {N_DRAWS // THINNING} posterior draws (every {THINNING}th of {N_DRAWS}) is uniform;
*p* is that of a chi-square test over {N_BINS} bins.

![Histograms of ranks](../images/sbc.png)

{table}

This says that the draws are from the posterior of the model, not that the model holds for real
scores, whose columns share their observations: see [tempering](../bayes.md).
"""


if __name__ == "__main__":
    with jax.enable_x64(True):
        if arguments(__doc__).quick:
            print(study(n_replications=3)[0])
        else:
            table, figure = study(n_replications=120)
            figure.savefig(DOCS / "images" / "sbc.png", dpi=90)
            write_page("sbc", page(120, table))
