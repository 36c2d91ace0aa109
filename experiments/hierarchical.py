"""Where random shifts of the pairs say more than one factor for each: pairs' areas and fit."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_study, write_page

import dmfroc
from dmfroc import Predictions
from dmfroc.bayes.models import Structure
from dmfroc.bayes.pairs import areas
from dmfroc.bayes.roc import bind_pairs

bayesian_roc = functools.partial(dmfroc.bayes.bayesian_roc, likelihood="ordinal")  # that of pairs
N_CLASSES, SIZE = 4, 400
N_THRESHOLDS = 15
REPLICATIONS = 100
N_POPULATION = 400_000
STRUCTURES: tuple[Structure, ...] = ("rank_one", "hierarchical")
DESIGNS = {
    "pairs alike": (np.full(N_CLASSES, 1.5), 0.0),
    "pairs of different difficulty": (np.array([2.8, 2.2, 1.0, 0.6]), 0.0),
    "biased towards a class": (np.full(N_CLASSES, 1.5), 1.5),
}


def draw(generator: np.random.Generator, design: str, n: int) -> Predictions:
    """Draw normal scores; each class has a shift of its own, and the first column another."""
    shifts, bias = DESIGNS[design]
    y = np.arange(n) % N_CLASSES
    scores = generator.normal(size=(n, N_CLASSES))
    scores[np.arange(n), y] += shifts[y]
    scores[:, 0] += bias
    return Predictions.from_arrays(y, scores)


@functools.cache
def truth(design: str) -> np.ndarray:
    """Return the pairs' areas, between as many thresholds, in a sample of negligible error."""
    large = draw(np.random.default_rng(0), design, N_POPULATION)
    table = bind_pairs(large, N_THRESHOLDS).count(large.sample_weight, np)
    return areas(table.rates(np), np)


def predictive_p_value(replicated: np.ndarray, observed: np.ndarray) -> float:
    """Return how often replicated areas are as far from their means as the observed ones are."""
    replicated = replicated.reshape(-1, len(observed))
    mean, sd = replicated.mean(axis=0), replicated.std(axis=0)
    distances = (((x - mean) / sd) ** 2 for x in (replicated, observed[None]))
    of_replicated, of_observed = (x.sum(axis=1) for x in distances)
    return float((of_replicated >= of_observed).mean())


def fit(generator: np.random.Generator, design: str) -> list[dict]:
    """Fit both models to a sample; return how far the pairs' areas are from the true ones."""
    sample, true_areas = draw(generator, design, SIZE), truth(design)
    seed = int(generator.integers(2**31))
    rows = []
    for structure in STRUCTURES:
        found = bayesian_roc(
            sample,
            structure=structure,
            algorithm="laplace",
            n_thresholds=N_THRESHOLDS,
            n_draws=500,
            random_state=seed,
        )
        pairs = found.pairs()
        covers = (pairs["low"] <= true_areas) & (true_areas <= pairs["high"])
        predictive = found.posterior["posterior_predictive"]["pairwise_auc"]
        rows.append(
            {
                "structure": structure,
                "sample_squared_error": float(((pairs["observed"] - true_areas) ** 2).mean()),
                "squared_error": float(((pairs["value"] - true_areas) ** 2).mean()),
                "covered": float(covers.mean()),
                "width": float((pairs["high"] - pairs["low"]).mean()),
                "p_value": predictive_p_value(predictive.to_numpy(), pairs["observed"].to_numpy()),
            }
        )
    return rows


def study(designs: list[str]) -> Study:
    return Study(
        "hierarchical",
        fit,
        grid(design=designs),
        replications=REPLICATIONS,
        seed=1,
        directory=RESULTS,
    )


def report(table: pd.DataFrame) -> str:
    """Return a row for each design and model."""
    rows = []
    for (design, structure), part in table.groupby(["design", "structure"], sort=False):
        error, in_sample = (
            np.sqrt(part[name].mean()) for name in ("squared_error", "sample_squared_error")
        )
        rows.append(
            [
                design,
                structure.replace("_", " "),
                f"{in_sample:.4f}",
                f"{error:.4f}",
                f"{100 * part['covered'].mean():.1f}",
                f"{part['width'].mean():.3f}",
                f"{part['p_value'].median():.2f}",
                f"{100 * (part['p_value'] < 0.05).mean():.0f}",
            ]
        )
    header = [
        "design",
        "model",
        "error of A(i\\|j) in the sample",
        "error of its posterior mean",
        "its 95 % interval covers (%)",
        "width",
        "median predictive p",
        "p below .05 (% of samples)",
    ]
    return markdown_table(header, rows)


def page(table: pd.DataFrame) -> str:
    """Report the study."""
    return f"""# Pairs that differ by more than a factor

Made by `experiments/hierarchical.py`: {table["replication"].nunique()} samples of {SIZE}
observations of {N_CLASSES} classes for each design, {N_THRESHOLDS} thresholds,
`likelihood="ordinal"` and `algorithm="laplace"`. Errors are root mean squares over the
{N_CLASSES * (N_CLASSES - 1)} pairs and the samples. The predictive p-value is
that of the posterior predictive check: how often areas
replicated from the posterior are, taken together, as far from their means as the observed ones are.
It is small where a model cannot have such pairs; near 1 it says that the tempered posterior is
cautious about single pairs.

{report(table)}

The rank-one model of the DMF-ROC lets a pair differ by one factor on the logit scale, which is
enough where pairs are alike. Where scores favour a class, or those of some classes are higher than
those of others, the rates of its pairs at a common threshold are shifted, which a factor cannot
say; the [hierarchical model](../bayes.md) has a random shift of either rate.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    found = run_study(study(list(DESIGNS)[-1:] if options.quick else list(DESIGNS)), options)
    if options.quick:
        print(report(found))
    else:
        write_page("hierarchical", page(found))
