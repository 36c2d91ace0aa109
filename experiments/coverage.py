"""Measure how often intervals cover the truth and tests reject it, in every kind of sample."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from unittest import mock

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

from dmfroc import Bootstrap, Predictions, compare, estimate
from dmfroc.analyses.evidence import METHODS
from dmfroc.bayes import bayesian_roc
from dmfroc.inference import replicates
from dmfroc.measures import MEASURES

GRID_MEASURES = ("dmf_auc", "hand_till", "one_vs_rest_auc", "informedness")
BOOTSTRAP_MEASURES = ("dmf_auc", "hand_till")
STRENGTHS = {"weak": 0.6, "good": 1.5, "near-perfect": 3.0}
LEVEL = 0.95
POPULATION = 400_000
GRID_SAMPLES = 100
SAMPLES_PER_BATCH = 50  # of the grid, whose single samples would be a large file
ENOUGH = 20  # observations of the rarest class, from which on all must be well
RANKED, RANKING_DRAWS, RANKED_SETS = 1000, 300, 5
LIMITS, FEW_LIMITS = (0.935, 0.965), (0.91, 0.98)  # of coverage, from there on and below


@dataclass(frozen=True)
class Design:
    """A population and a sample size: the hard cases of the literature."""

    n: int
    means: np.ndarray
    prevalence: tuple[float, ...] | None = None


DESIGNS = {
    "K=4, balanced": Design(600, 1.5 * np.eye(4)),
    "K=4, balanced, n=200": Design(200, 1.5 * np.eye(4)),
    "K=4, strong classifier": Design(600, 3.0 * np.eye(4)),
    "K=4, strong classifier, n=200": Design(200, 3.0 * np.eye(4)),
    "A: K=3, balanced": Design(300, 0.95 * np.eye(3), (1 / 3, 1 / 3, 1 / 3)),
    "B: K=5, imbalanced": Design(300, 1.5 * np.eye(5), (0.5, 0.25, 0.15, 0.07, 0.03)),
    "C: K=4, near-perfect": Design(300, 2.8 * np.eye(4), (0.25, 0.25, 0.25, 0.25)),
    "D: K=3, about 3 rare cases": Design(300, 1.5 * np.eye(3), (0.6, 0.39, 0.01)),
}


def class_sizes(n_classes: int, n: int, skew: str) -> np.ndarray:
    """Return the class sizes of a cell: equal, or one draw of Dirichlet(1) with at least 5 each."""
    if skew == "balanced":
        return np.bincount(np.arange(n) % n_classes)
    generator = np.random.default_rng([n_classes, n])
    while True:
        sizes = np.floor(generator.dirichlet(np.ones(n_classes)) * n).astype(int)
        sizes[sizes.argmax()] += n - sizes.sum()
        if sizes.min() >= 5:
            return sizes


def draw(
    generator: np.random.Generator, sizes: np.ndarray, strength: str, ties: bool
) -> Predictions:
    """Draw softmax scores of normal logits, rounded to tenths for heavy ties."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    shift = STRENGTHS[strength]
    odds = np.exp(generator.normal(size=(len(y), len(sizes))) + shift * np.eye(len(sizes))[y])
    scores = odds / odds.sum(axis=1, keepdims=True)
    return Predictions.from_arrays(y, np.round(scores, 1) if ties else scores)


@functools.cache
def truth(
    n_classes: int, n: int, skew: str, strength: str, ties: bool, measures: tuple[str, ...]
) -> dict[str, float]:
    """Return the measures in a large sample with the same class proportions."""
    sizes = class_sizes(n_classes, n, skew)
    large = draw(np.random.default_rng(0), sizes * (POPULATION // n), strength, ties)
    return {name: estimate(name, large).value for name in measures}


def cell(
    generator: np.random.Generator, n_classes: int, n: int, skew: str, strength: str, ties: bool
) -> dict:
    """Estimate all measures of a batch of samples by the jackknife; return the batch's means."""
    sizes = class_sizes(n_classes, n, skew)
    true_values = truth(n_classes, n, skew, strength, ties, GRID_MEASURES)
    rows = []
    for _ in range(SAMPLES_PER_BATCH):
        predictions = draw(generator, sizes, strength, ties)
        row: dict[str, float] = {}
        for name, true_value in true_values.items():
            found = estimate(name, predictions)
            low, high = found.interval
            row[f"{name}_error"] = found.value - true_value
            row[f"{name}_squared_error"] = (found.value - true_value) ** 2
            row[f"{name}_se"] = found.standard_error
            row[f"{name}_width"] = high - low
            row[f"{name}_covered"] = low <= true_value <= high
        rows.append(row)
    return {"smallest": int(sizes.min())} | pd.DataFrame(rows).mean().to_dict()


@functools.cache
def truth_of_design(name: str) -> dict[str, float]:
    design = DESIGNS[name]
    large = simulate(np.random.default_rng(1), POPULATION, design.means)
    as_drawn = simulate(
        np.random.default_rng(1), POPULATION, design.means, prevalence=design.prevalence
    )
    return {
        "dmf_auc": estimate("dmf_auc", *large).value,
        "hand_till": estimate("hand_till", *large).value,
        "informedness": estimate("informedness", *as_drawn).value,
    }


def hard_case(generator: np.random.Generator, design: str) -> list[dict]:
    """Estimate all measures of one sample of a design with every class."""
    chosen = DESIGNS[design]
    while True:
        y, scores = simulate(generator, chosen.n, chosen.means, prevalence=chosen.prevalence)
        if len(np.unique(y)) == len(chosen.means):
            break
    predictions = Predictions.from_arrays(y, scores)
    rows = []
    for name, true_value in truth_of_design(design).items():
        found = estimate(name, predictions)
        low, high = found.interval
        rows.append(
            {
                "measure": name,
                "truth": true_value,
                "value": found.value,
                "se": found.standard_error,
                "width": high - low,
                "covered": low <= true_value <= high,
            }
        )
    return rows


def resampled(
    generator: np.random.Generator, n_classes: int, n: int, skew: str, strength: str
) -> list[dict]:
    """Estimate M and the DMF-AUC of one sample by the bootstraps."""
    predictions = draw(generator, class_sizes(n_classes, n, skew), strength, ties=False)
    seed = int(generator.integers(2**31))
    true_values = truth(n_classes, n, skew, strength, False, BOOTSTRAP_MEASURES)
    rows = []
    for name, true_value in true_values.items():
        for method in ("bootstrap", "bayesian_bootstrap"):
            with mock.patch.object(replicates, "_MOST_BY_NUMPY", 0):  # JAX is faster in the end
                found = estimate(name, predictions, method=METHODS[method](1000), random_state=seed)
            percentiles = np.quantile(found.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            for interval_type, (low, high) in (
                ("bca", found.interval),
                ("percentile", percentiles),
            ):
                rows.append(
                    {
                        "measure": name,
                        "method": method,
                        "interval_type": interval_type,
                        "width": high - low,
                        "covered": low <= true_value <= high,
                    }
                )
    return rows


def posterior(generator: np.random.Generator, n_classes: int, n: int, strength: str) -> dict:
    """Sample the posterior of the DMF-AUC of one sample with balanced classes by NUTS."""
    predictions = draw(generator, class_sizes(n_classes, n, "balanced"), strength, ties=False)
    [true_value] = truth(n_classes, n, "balanced", strength, False, ("dmf_auc",)).values()
    found = bayesian_roc(
        predictions,
        n_chains=2,
        n_draws=500,
        level=LEVEL,
        random_state=int(generator.integers(2**31)),
    )
    low, high = found.interval
    jackknife = estimate("dmf_auc", predictions, level=LEVEL).interval
    return {
        "error": found.value - true_value,
        "sd": found.standard_error,
        "width": high - low,
        "jackknife_width": jackknife[1] - jackknife[0],
        "covered": low <= true_value <= high,
    }


def paired(generator: np.random.Generator, n_classes: int, n: int, gap: float) -> dict:
    """Compare two classifiers whose scores are correlated; with gap 0 they are equally good."""
    y = np.arange(n) % n_classes
    common = generator.normal(size=(n, n_classes))
    scores = {
        name: common + 0.7 * generator.normal(size=(n, n_classes)) + shift * np.eye(n_classes)[y]
        for name, shift in (("a", 1.5 + gap), ("b", 1.5))
    }
    row = {}
    for measure in BOOTSTRAP_MEASURES:
        [difference] = compare(y, scores, measures=measure).differences
        samples = {name: Predictions.from_arrays(y, s) for name, s in scores.items()}
        [unpaired] = compare(samples, measures=measure, paired=False).differences
        row[f"{measure}_rejects"] = difference.p_value < 0.05
        row[f"{measure}_rejects_unpaired"] = unpaired.p_value < 0.05
    return row


def standard_errors(generator: np.random.Generator, n_classes: int) -> list[dict]:
    """Return both standard errors of the ranking measures in one data set with rounded scores."""
    shares = 0.8 ** np.arange(n_classes)
    y = generator.choice(n_classes, size=RANKED, p=shares / shares.sum())
    scores = generator.normal(size=(RANKED, n_classes)) + 1.2 * np.eye(n_classes)[y]
    predictions = Predictions.from_arrays(y, np.round(scores, 2))
    rows = []
    for measure in MEASURES.values():
        if measure.family != "ranking" or ("vus" in measure.name) != (n_classes == 3):
            continue
        if measure.applies_to(predictions):
            by_jackknife, by_bootstrap = (
                estimate(measure, predictions, method=method).standard_error
                for method in ("jackknife", Bootstrap(RANKING_DRAWS))
            )
            rows.append({"measure": measure.name, "ratio": by_jackknife / by_bootstrap})
    return rows


def studies() -> dict[str, Study]:
    common = {"seed": 1, "directory": RESULTS}
    both = ["balanced", "skewed"]
    kinds = {"skew": both, "strength": list(STRENGTHS), "ties": [False, True]}
    cells = grid(n_classes=[2, 3, 5], n=[100, 1000], **kinds)
    cells += grid(n_classes=[10], n=[1000], **kinds)
    few = grid(n_classes=[3], n=[300], strength=["near-perfect", "good"], skew=both)
    fewest = grid(n_classes=[3], n=[300], strength=["near-perfect", "good"])
    comparisons = grid(n_classes=[2, 5], n=[300], gap=[0.0, 0.15])
    return {
        "designs": Study(
            "coverage_designs", hard_case, grid(design=list(DESIGNS)), replications=100, **common
        ),
        "grid": Study(
            "coverage", cell, cells, replications=GRID_SAMPLES // SAMPLES_PER_BATCH, **common
        ),
        "paired": Study("coverage_paired", paired, comparisons, replications=100, **common),
        "bootstrap": Study("coverage_bootstrap", resampled, few, replications=100, **common),
        "errors": Study(
            "ranking_errors",
            standard_errors,
            grid(n_classes=[5, 3]),
            replications=RANKED_SETS,
            **common,
        ),
        "bayes": Study("coverage_bayes", posterior, fewest, replications=100, **common),
    }


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def monte_carlo_error(n_samples: int) -> str:
    return percent(np.sqrt(LEVEL * (1 - LEVEL) / n_samples))


def cell_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell and measure."""
    keys = ["n_classes", "n", "skew", "strength", "ties"]
    by_cell = table.groupby(keys).mean()
    parts = []
    for name in GRID_MEASURES:
        error = by_cell[f"{name}_error"]
        sd = np.sqrt(by_cell[f"{name}_squared_error"] - error**2)
        part = pd.DataFrame(
            {
                "smallest": by_cell["smallest"].astype(int),
                "covered": by_cell[f"{name}_covered"],
                "width": by_cell[f"{name}_width"],
                "bias": error / sd,
                "se_ratio": by_cell[f"{name}_se"] / sd,
            }
        )
        parts.append(part.assign(measure=name).reset_index())
    return pd.concat(parts, ignore_index=True)


WITHIN_HEADER = [
    "smallest class",
    "cells",
    "coverage: least / median / most",
    "limits",
    "within, plus Monte Carlo error",
]


def rows_within(
    names: list[str], smallest: np.ndarray, covered: np.ndarray, n_samples: int
) -> list[list]:
    """Count the cells within the limits, rare classes and others apart."""
    error = 2 * np.sqrt(LEVEL * (1 - LEVEL) / n_samples)
    rows = []
    for label, chosen, (low, high) in (
        (f"at least {ENOUGH}", smallest >= ENOUGH, LIMITS),
        (f"5 to {ENOUGH - 1}", smallest < ENOUGH, FEW_LIMITS),
    ):
        if len(part := covered[chosen]) == 0:
            continue
        rows.append(
            [
                *names,
                label,
                len(part),
                " / ".join(map(percent, (part.min(), np.median(part), part.max()))),
                f"{percent(low)} to {percent(high)}",
                ((low - error <= part) & (part <= high + error)).sum(),
            ]
        )
    return rows


def summary(cells: pd.DataFrame, n_samples: int) -> str:
    """Count the cells of the grid within the limits."""
    rows = []
    for name in GRID_MEASURES:
        part = cells[cells["measure"] == name]
        smallest, covered = part["smallest"].to_numpy(), part["covered"].to_numpy()
        rows += rows_within([MEASURES[name].title], smallest, covered, n_samples)
    return markdown_table(["measure", *WITHIN_HEADER], rows)


def picture(cells: pd.DataFrame) -> Figure:
    """Draw the coverage of every cell against the size of its smallest class."""
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    colors = {"weak": "#0072B2", "good": "#009E73", "near-perfect": "#D55E00"}
    panels = figure.subplots(1, len(GRID_MEASURES), sharey=True)
    for ax, name in zip(panels, GRID_MEASURES, strict=True):
        for first, last, (low, high) in (
            (4, ENOUGH - 0.5, FEW_LIMITS),
            (ENOUGH - 0.5, 2000, LIMITS),
        ):
            ax.fill_between([first, last], 100 * low, 100 * high, color="0.9", linewidth=0)
        ax.axhline(100 * LEVEL, color="0.5", linewidth=0.8)
        for (strength, ties), part in cells[cells["measure"] == name].groupby(["strength", "ties"]):
            ax.scatter(
                part["smallest"],
                100 * part["covered"],
                s=22,
                color=colors[strength],
                facecolor="none" if ties else colors[strength],
                label=f"{strength}{', ties' if ties else ''}",
            )
        ax.set(xscale="log", title=MEASURES[name].title, xlabel="size of the smallest class")
        ax.set(xlim=(4, 2000))
    figure.axes[0].set_ylabel("coverage, %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


N_WORST = 8


def designs_table(table: pd.DataFrame) -> str:
    rows = []
    for (design, measure), part in table.groupby(["design", "measure"], sort=False):
        low, high = part["value"].quantile([0.025, 0.975])
        rows.append(
            [
                design,
                MEASURES[measure].title,
                f"{(part['value'] - part['truth']).mean():+.4f}",
                f"{part['se'].mean() / part['value'].std():.2f}",
                percent(part["covered"].mean()),
                f"{part['width'].mean() / (high - low):.2f}",
            ]
        )
    rows.sort(key=lambda row: float(row[4]))
    header = ["design", "measure", "bias", "mean SE / sd", "coverage, %"]
    return markdown_table([*header, "width / sampling range"], rows[:N_WORST])


def bootstrap_summary(table: pd.DataFrame, n_samples: int) -> str:
    """Count the cells of the bootstraps within the limits."""
    rows = []
    table, keys = table[table["method"] == "bootstrap"], ["measure", "interval_type"]
    for (measure, interval_type), part in table.groupby(keys, sort=False):
        covered = part.groupby(["n_classes", "n", "skew", "strength"])["covered"].mean()
        smallest = np.array([class_sizes(*cell[:3]).min() for cell in covered.index])
        names = [MEASURES[measure].title, interval_type]
        rows += rows_within(names, smallest, covered.to_numpy(), n_samples)
    return markdown_table(["measure", "interval", *WITHIN_HEADER], rows)


def posterior_table(table: pd.DataFrame) -> str:
    rows = [
        [
            n_classes,
            strength,
            percent(part["covered"].mean()),
            f"{part['error'].mean() / part['error'].std():+.2f}",
            f"{part['sd'].mean() / part['error'].std():.2f}",
            f"{part['width'].mean():.4f}",
            f"{part['jackknife_width'].mean():.4f}",
        ]
        for (n_classes, strength), part in table.groupby(["n_classes", "strength"], sort=False)
    ]
    header = ["K", "classifier", "coverage, %", "bias / sd", "mean posterior sd / sd", "width"]
    return markdown_table([*header, "width of the jackknife's"], rows)


def paired_table(table: pd.DataFrame) -> str:
    rows = []
    for (n_classes, gap), part in table.groupby(["n_classes", "gap"]):
        for measure in BOOTSTRAP_MEASURES:
            rows.append(
                [
                    MEASURES[measure].title,
                    n_classes,
                    "equally good" if gap == 0 else "one is better",
                    percent(part[f"{measure}_rejects"].mean()),
                    percent(part[f"{measure}_rejects_unpaired"].mean()),
                ]
            )
    header = ["measure", "K", "classifiers", "paired test rejects, %"]
    return markdown_table([*header, "as if samples were independent, %"], rows)


def errors_text(table: pd.DataFrame) -> str:
    """Return the least and the largest ratio of the standard errors, of means and of data sets."""
    means, ratios = table.groupby("measure")["ratio"].mean(), table["ratio"]
    return f"""\
The mean ratio of the jackknife's to the bootstrap's is {means.min():.2f} to {means.max():.2f} for
the {len(means)} measures. In single data sets it is {ratios.min():.2f} to {ratios.max():.2f}."""


def page(tables: dict[str, pd.DataFrame], cells: pd.DataFrame, samples: dict[str, int]) -> str:
    return f"""# Coverage of the intervals

Made by `experiments/coverage.py`. Nominal coverage is 95 %, and the level of the tests 5 %. The
truth is measured in about {POPULATION:,} observations with the same class proportions.

[Choosing](../choosing.md) says which method to use when.
[Can I trust it?](trust.md) has the same of every measure, and
[Intervals near perfection](near_perfect.md) and [Paired tests near perfection](paired_tests.md)
those of classifiers that hardly err.

## Every kind of sample

There are {len(cells) // len(GRID_MEASURES)} cells with {samples["grid"]} samples each. They combine
2, 3 and 5 classes with 100 or 1,000 observations, and 10 with 1,000. Classes are balanced, or drawn
from Dirichlet(1) with at least five of each, and fixed within a cell. Classifiers are weak, good
and near-perfect, and scores are continuous or rounded to tenths.

{summary(cells, samples["grid"])}

![Coverage of each cell against the size of its smallest class](../images/coverage.png)

The Monte Carlo error of a coverage,
{monte_carlo_error(samples["grid"])} points, is not included.

## Hard cases

There are {samples["designs"]} samples of each design; these are the {N_WORST} rows of 24 that
cover least. A to D
have random class sizes, in D about three cases of the rarest class. Informedness is estimated for
given class sizes. *SE* is the jackknife's standard error, *sd* the standard deviation of the values
over the samples, *sampling range* their middle 95 %.

{designs_table(tables["designs"])}

## Bootstraps

There are {samples["bootstrap"]} samples of each cell, with 1,000 draws. The Monte Carlo error
of a coverage is {monte_carlo_error(samples["bootstrap"])} points. The smallest class has 100 or 54
observations; with fewer than ten, draws alone are too short, with a warning. The Bayesian bootstrap
is in `experiments/results/coverage_bootstrap.parquet`.

{bootstrap_summary(tables["bootstrap"], samples["bootstrap"])}

## The Bayesian model

Credible intervals of the DMF-AUC come from the default model of `bayesian_roc`, NUTS, 2 chains of
500 draws. There are {samples["bayes"]} samples of 300 observations with balanced classes. The
Monte Carlo error of a coverage is {monte_carlo_error(samples["bayes"])} points.

{posterior_table(tables["bayes"])}

## Tests of two classifiers

There are {samples["paired"]} pairs of classifiers on the same 300 observations, with
correlated scores.

{paired_table(tables["paired"])}

## Standard errors of ranking measures

{samples["errors"]} data sets have five classes of unlike sizes, or three for the volumes. They have
{RANKED:,} observations, and scores of two digits. The bootstrap has {RANKING_DRAWS} draws within
the classes, so that one ratio has an error of {100 / np.sqrt(2 * RANKING_DRAWS):.0f} %. 

{errors_text(tables["errors"])}
"""


def main() -> None:
    global POPULATION, SAMPLES_PER_BATCH, RANKED, RANKING_DRAWS, bayesian_roc
    options = arguments(__doc__, is_study=True)
    if options.quick:
        POPULATION, SAMPLES_PER_BATCH, RANKED, RANKING_DRAWS = 6000, 2, 100, 100
        bayesian_roc = functools.partial(
            bayesian_roc, algorithm="laplace"
        )  # compiling chains takes long
    tables = run_studies(studies(), options)
    samples = {name: int(table["replication"].nunique()) for name, table in tables.items()}
    samples["grid"] *= SAMPLES_PER_BATCH
    cells = cell_table(tables["grid"])
    text = page(tables, cells, samples)
    if options.quick:
        print(text)
    else:
        write_figure("coverage", picture(cells))
        write_page("coverage", text)


if __name__ == "__main__":
    main()
