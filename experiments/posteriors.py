"""Whether posteriors cover, and whether comparisons by them hold their level."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest import mock

import arviz
import coverage
import numpy as np
import pandas as pd
from _chains import run_side_by_side, worth_optimising
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from coverage import LEVEL, class_sizes, draw, monte_carlo_error, percent, truth
from scipy.special import expit

from dmfroc import Predictions, compare, estimate
from dmfroc._kit.compiled import in_double_precision
from dmfroc.bayes import bayesian_roc, method, roc
from dmfroc.bayes.models import Structure
from dmfroc.bayes.pairs import areas
from dmfroc.bayes.sampling import Chains, default_kernel, draw_from_gaussian
from dmfroc.bayes.tables import table_posterior
from dmfroc.measures import MEASURES
from dmfroc.multiclass.rates import CurveOptions

approximated = functools.partial(roc.approximated, likelihood="ordinal")  # M and two classes
CELL_MEASURES = ("dmf_auc", "hand_till")
TABLE_MEASURES = ("informedness", "accuracy")
OTHER_MEASURES = ("one_vs_rest_auc",)
PAIRED_MEASURES = ("dmf_auc", "hand_till", "informedness")
N_WORST = 3  # cells in a table
N_DRAWS = 1000  # of the normal approximation, and of tables
SAMPLES_PER_BATCH = 20  # whose chains run side by side
CHAINS = Chains(default_kernel, n_chains=1, n_draws=500, n_warmup=200)
BY_CHAINS = {"n_draws": CHAINS.n_draws, "n_warmup": CHAINS.n_warmup}
BY_APPROXIMATION = {"algorithm": "laplace", "n_draws": N_DRAWS}
BY_CHAINS_OF = ("chains", "ten")
COVERAGE = (*BY_CHAINS_OF, "one_vs_rest", "tables")
PAIR_SAMPLE, N_POPULATION, N_THRESHOLDS = 400, 100_000, 15  # of pairs that differ
SHIFTS = (0.5, 3.0)
STRUCTURES: tuple[Structure, ...] = ("rank_one", "hierarchical")
PAIR_DESIGNS = {
    "pairs alike": (np.full(4, 1.5), 0.0),
    "pairs of different difficulty": (np.array([2.8, 2.2, 1.0, 0.6]), 0.0),
    "biased towards a class": (np.full(4, 1.5), 1.5),
}
KEYS = ["n_classes", "n", "skew", "strength"]


@contextmanager
def drawing(curve: Mapping[str, object]) -> Iterator[None]:
    """Let ``method="bayes"`` draw curves by these options, few tables, and no more.

    What only the remarks and the posterior predictive check need is left out.
    """
    curve = functools.partial(bayesian_roc, n_chains=1, **curve)
    table = functools.partial(table_posterior, size=(1, N_DRAWS))
    with (
        mock.patch.multiple(method, bayesian_roc=curve, table_posterior=table),
        mock.patch.multiple(roc, _warnings=lambda *_: [], _REPLICATES_PER_CHAIN=1),
        warnings.catch_warnings(),
        worth_optimising(),
    ):
        warnings.simplefilter("ignore")
        yield


def summary_of(name: str, draws: np.ndarray, true_value: float) -> dict:
    """Return error, standard deviation and coverage of a posterior."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {
        f"{name}_error": float(draws.mean() - true_value),
        f"{name}_sd": float(draws.std(ddof=1)),
        f"{name}_covered": bool(low <= true_value <= high),
    }


def of_jackknife(measure: str, predictions: Predictions, true_value: float) -> dict:
    found = estimate(measure, predictions, stratify=True, level=LEVEL)
    low, high = found.interval
    return {
        "jackknife_error": found.value - true_value,
        "jackknife_sd": found.standard_error,
        "jackknife_covered": bool(low <= true_value <= high),
    }


def hard_labels(
    generator: np.random.Generator, n_classes: int, n: int, skew: str, strength: str
) -> list[dict]:
    """Return posteriors of measures of hard labels of a batch of samples."""
    return by_name(generator, TABLE_MEASURES, n_classes, n, skew, strength)


def one_vs_rest(
    generator: np.random.Generator, n_classes: int, n: int, skew: str, strength: str
) -> list[dict]:
    """Return posteriors that take a curve for each class."""
    return by_name(generator, OTHER_MEASURES, n_classes, n, skew, strength)


def by_name(
    generator: np.random.Generator, measures: tuple[str, ...], *setting: int | str
) -> list[dict]:
    """Return what `estimate` says of a batch of samples, of few draws."""
    n_classes, n, skew, strength = setting
    true_values = truth(n_classes, n, skew, strength, False, measures)
    rows = []
    for _ in range(SAMPLES_PER_BATCH):
        sample = draw(generator, class_sizes(n_classes, n, skew), strength, ties=False)
        seed = int(generator.integers(2**31))
        for measure, true_value in true_values.items():
            with drawing(BY_CHAINS):
                found = estimate(measure, sample, method="bayes", random_state=seed)
            posterior = summary_of("posterior", found.draws, true_value)
            of_sample = of_jackknife(measure, sample, true_value)
            rows.append({"measure": measure, **posterior, **of_sample})
    return rows


def chains(
    generator: np.random.Generator, n_classes: int, n: int, skew: str, strength: str
) -> list[dict]:
    """Draw posteriors of areas of a batch of samples by Markov chains side by side."""
    sizes = class_sizes(n_classes, n, skew)
    true_values = truth(n_classes, n, skew, strength, False, CELL_MEASURES)
    samples = [draw(generator, sizes, strength, ties=False) for _ in range(SAMPLES_PER_BATCH)]
    seed = int(generator.integers(2**31))
    rows = []
    with in_double_precision():
        with worth_optimising():
            fits = [approximated(sample) for sample in samples]
        problem, data = fits[0].sampler, [fit.counts for fit in fits]
        x, diverging = run_side_by_side(
            problem, CHAINS, data, [fit.approximation for fit in fits], seed
        )
        for sample, fit, drawn, n_diverging in zip(
            samples, fits, x, diverging.tolist(), strict=True
        ):
            by_chain = values_of(problem.sites(fit.approximation.at(drawn[0]), fit.counts))
            normal = draw_from_gaussian(
                problem, fit.counts, fit.approximation, (1, N_DRAWS), seed
            ).sites
            by_normal = values_of({name: site[0] for name, site in normal.items()})
            for measure, true_value in true_values.items():
                draws = by_chain[measure]
                rows.append(
                    {
                        "measure": measure,
                        "n_diverging": n_diverging,
                        "ess": float(arviz.ess(draws[None], chain_axis=0, draw_axis=1)),
                        **summary_of("posterior", draws, true_value),
                        **summary_of("approximation", by_normal[measure], true_value),
                        **of_jackknife(measure, sample, true_value),
                    }
                )
    return rows


def values_of(sites: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the DMF-AUC and M of each draw."""
    drawn = (np.asarray(sites[name]) for name in ("threshold_effect", "pair_effect", "auc"))
    logits, effects, area = drawn
    of_pairs = np.stack([areas(expit(e[:, None, None] * logits), np) for e in effects.T])
    return {"dmf_auc": area, "hand_till": of_pairs.mean(axis=0)}


def pair(generator: np.random.Generator, n_classes: int, n: int, gap: float) -> list[dict]:
    """Compare two classifiers whose scores are correlated; with gap 0 they are equally good."""
    y = np.arange(n) % n_classes
    truly = np.eye(n_classes)[y]
    common = generator.normal(size=(n, n_classes))
    samples = {}
    for name, shift in (("better", 1.5 + gap), ("worse", 1.5)):
        scores = common + 0.7 * generator.normal(size=truly.shape) + shift * truly
        # The rows add up to nothing, so that two columns rank alike.
        samples[name] = Predictions.from_arrays(y, scores - scores.mean(axis=1, keepdims=True))
    seed = int(generator.integers(2**31))
    rows = []
    for measure in PAIRED_MEASURES:
        with drawing(BY_APPROXIMATION):
            [posterior] = compare(
                samples, measures=measure, method="bayes", random_state=seed
            ).differences
            [jackknife] = compare(samples, measures=measure, stratify=True).differences
        rows.append(
            {
                "measure": measure,
                "posterior_rejects": posterior.p_value < 1 - LEVEL,
                "jackknife_rejects": jackknife.p_value < 1 - LEVEL,
                "posterior_sd": posterior.standard_error,
                "jackknife_sd": jackknife.standard_error,
            }
        )
    return rows


def draw_pairs(
    generator: np.random.Generator, shifts: np.ndarray, bias: float, n: int
) -> Predictions:
    """Draw normal scores; each class has a shift of its own, and the first column another."""
    y = np.arange(n) % len(shifts)
    scores = generator.normal(size=(n, len(shifts)))
    scores[np.arange(n), y] += shifts[y]
    scores[:, 0] += bias
    return Predictions.from_arrays(y, scores)


def areas_of_pairs(shifts: np.ndarray, bias: float) -> np.ndarray:
    """Return the pairs' areas, between as many thresholds, in a sample of negligible error."""
    large = draw_pairs(np.random.default_rng(0), shifts, bias, N_POPULATION)
    table = CurveOptions(n_thresholds=N_THRESHOLDS)(large).count(large.sample_weight, np)
    return areas(table.rates(np), np)


def predictive_p_value(replicated: np.ndarray, observed: np.ndarray) -> float:
    """Return how often replicated areas are as far from their means as the observed ones are."""
    replicated = replicated.reshape(-1, len(observed))
    mean, sd = replicated.mean(axis=0), replicated.std(axis=0)
    distances = (((x - mean) / sd) ** 2 for x in (replicated, observed[None]))
    of_replicated, of_observed = (x.sum(axis=1) for x in distances)
    return float((of_replicated >= of_observed).mean())


def fit_pairs(generator: np.random.Generator, design: str) -> list[dict]:
    """Fit both models to a sample; return how far the pairs' areas are from the true ones."""
    shifts, bias = PAIR_DESIGNS.get(design) or (generator.uniform(*SHIFTS, 4), generator.normal())
    true_areas = areas_of_pairs(shifts, bias)
    sample = draw_pairs(generator, shifts, bias, PAIR_SAMPLE)
    seed = int(generator.integers(2**31))
    rows = []
    for structure in STRUCTURES:
        found = bayesian_roc(
            sample,
            likelihood="ordinal",
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


def studies() -> dict[str, Study]:
    common = {"seed": 1, "directory": RESULTS}
    both, strengths = ["balanced", "skewed"], ["near-perfect", "good", "weak"]
    cells = grid(n_classes=[2, 3, 5, 10], n=[300], skew=both, strength=strengths)
    few, ten = ([c for c in cells if (c["n_classes"] == 10) == is_ten] for is_ten in (False, True))
    skewed = grid(n_classes=[3], n=[300], skew=["skewed"], strength=strengths)
    pairs = grid(n_classes=[3, 2], n=[300], gap=[0.0, 0.15])
    designs, anew = grid(design=list(PAIR_DESIGNS)), grid(design=["drawn anew"])
    return {
        "chains": Study("posteriors", chains, few, replications=4, **common),
        "ten": Study("posteriors_ten", chains, ten, replications=2, **common),
        "tables": Study("posteriors_tables", hard_labels, cells, replications=10, **common),
        "one_vs_rest": Study(
            "posteriors_one_vs_rest", one_vs_rest, skewed, replications=10, **common
        ),
        "pairs": Study("posteriors_pairs", pair, pairs, replications=200, **common),
        "differing": Study("hierarchical", fit_pairs, designs, replications=50, **common),
        "anew": Study("hierarchical_anew", fit_pairs, anew, replications=30, **common),
    }


def with_error(shares: pd.Series) -> str:
    """Return a mean in percent with its Monte Carlo error."""
    return f"{percent(shares.mean())} ± {percent(shares.std() / len(shares) ** 0.5)}"


def row_of_cell(part: pd.DataFrame) -> list[str]:
    """Return coverage, bias and spread of a posterior, and what the jackknife covers."""
    error = part["posterior_error"]
    deviation = error.std()
    moved = (error - part["jackknife_error"]).mean() / part["jackknife_sd"].mean()
    return [
        percent(part["posterior_covered"].mean()),
        f"{error.mean() / deviation:+.2f}",
        f"{part['posterior_sd'].mean() / deviation:.2f}",
        f"{moved:+.2f}",
        percent(part["jackknife_covered"].mean()),
    ]


OF_POSTERIOR = ["coverage, %", "bias / sd", "posterior sd / sd", "shift / SE"]
OF_CELL = ["K", "classes", "smallest", "classifier"]


def cell_names(cell: tuple, part: pd.DataFrame) -> list[object]:
    n_classes, n, skew, strength = cell
    return [n_classes, skew, class_sizes(n_classes, n, skew).min(), strength]


def agreement_table(table: pd.DataFrame) -> str:
    """Compare the normal approximation with the chains, sample by sample."""
    rows = []
    for strength, part in table[table["measure"] == "dmf_auc"].groupby("strength", sort=False):
        moved = (part["approximation_error"] - part["posterior_error"]) / part["posterior_sd"]
        ratio = part["approximation_sd"] / part["posterior_sd"]
        rows.append(
            [
                strength,
                len(part),
                f"{moved.mean():+.2f}",
                f"{ratio.mean():.2f}",
                percent(part["posterior_covered"].mean()),
                percent(part["approximation_covered"].mean()),
                int((part["n_diverging"] > 0).sum()),
            ]
        )
    header = [
        "classifier",
        "samples",
        "difference of means / sd",
        "ratio of sd",
        "chains cover, %",
    ]
    header += ["approximation covers, %", "chains with a divergence"]
    return markdown_table(header, rows)


def cells_table(table: pd.DataFrame) -> str:
    """Return the cells that cover least."""
    parts = [
        (measure, cell, part)
        for measure, of_measure in table.groupby("measure", sort=False)
        for cell, part in of_measure.groupby(KEYS, sort=False)
    ]
    parts.sort(key=lambda x: x[2]["posterior_covered"].mean())
    rows = [
        [MEASURES[measure].title, *cell_names(cell, part), *row_of_cell(part)]
        for measure, cell, part in parts[:N_WORST]
    ]
    return markdown_table(["measure", *OF_CELL, *OF_POSTERIOR, "jackknife covers, %"], rows)


def summary_table(table: pd.DataFrame) -> str:
    """Put the cells of each measure and classifier together."""
    rows = []
    for (measure, strength), part in table.groupby(["measure", "strength"], sort=False):
        by_cell = part.groupby(KEYS)
        deviation = by_cell["posterior_error"].std()
        covered = [part[f"{name}_covered"].mean() for name in ("posterior", "jackknife")]
        rows.append(
            [
                MEASURES[measure].title,
                strength,
                by_cell.ngroups,
                f"{percent(covered[0])} ± {monte_carlo_error(len(part))}",
                f"{(by_cell['posterior_error'].mean() / deviation).median():+.2f}",
                f"{(by_cell['posterior_sd'].mean() / deviation).median():.2f}",
                percent(covered[1]),
            ]
        )
    header = ["measure", "classifier", "cells", "coverage, %", "median bias / sd"]
    return markdown_table([*header, "median posterior sd / sd", "jackknife covers, %"], rows)


def pairs_table(table: pd.DataFrame) -> str:
    rows = []
    table = table[table["n_classes"] == 3]
    for (measure, gap), part in table.groupby(["measure", "gap"], sort=False):
        rejects, other = part["posterior_rejects"], part["jackknife_rejects"]
        difference = 100 * (rejects.astype(float) - other.astype(float))
        rows.append(
            [
                MEASURES[measure].title,
                "equally good" if gap == 0 else "one is better",
                with_error(rejects),
                percent(other.mean()),
                f"{difference.mean():+.1f} ± {difference.std() / len(part) ** 0.5:.1f}",
                f"{(part['posterior_sd'] / part['jackknife_sd']).mean():.2f}",
            ]
        )
    header = ["measure", "classifiers", "posterior rejects, %", "jackknife, %"]
    return markdown_table([*header, "difference", "ratio of standard errors"], rows)


def differing_table(table: pd.DataFrame) -> str:
    """Return a row for each design and structure of the model."""
    rows = []
    for (design, structure), part in table.groupby(["design", "structure"], sort=False):
        error = np.sqrt(part["squared_error"].mean())
        rows.append(
            [
                design,
                structure.replace("_", " "),
                len(part),
                f"{error:.4f}",
                with_error(part["covered"]),
                f"{part['p_value'].median():.2f}",
            ]
        )
    header = [
        "design",
        "model",
        "samples",
        "error of the posterior mean of A(i\\|j)",
        "its 95 % interval covers (%)",
        "median predictive p",
    ]
    return markdown_table(header, rows)


def page(tables: dict[str, pd.DataFrame]) -> str:
    """Report the studies that have results."""
    every = pd.concat([tables[name] for name in COVERAGE if name in tables], ignore_index=True)
    least = every.groupby(["measure", *KEYS]).size().min()
    sections = [
        f"""# Posteriors and comparisons by them

Made by `experiments/posteriors.py`, in samples drawn as for [coverage](coverage.md): 300
observations, class sizes fixed, a weak, a good and a near-perfect classifier, continuous scores;
the skewed class sizes are a draw of Dirichlet(1) with at least five of each. Nominal coverage is 95
%. *sd* is the standard deviation of posterior means over samples, *bias* their mean difference
from the value in about 400,000 observations. The jackknife's interval is that for given class
sizes;
*shift* is the posterior mean less the value in the sample, SE the jackknife's.

## All measures

What `method="bayes"` returns, with fewer draws of each sample: curves by one Markov chain of
{CHAINS.n_draws} draws after {CHAINS.n_warmup}, tables of hard labels by {N_DRAWS:,} independent
draws. Curves have the ordinal likelihood. There are {least} samples of
each cell.

{summary_table(every)}

The {N_WORST} cells that cover least; a coverage of 95 % has a Monte Carlo error of
{monte_carlo_error(least)} points:

{cells_table(every)}
"""
    ]
    by_chains = [tables[name] for name in BY_CHAINS_OF if name in tables]
    if by_chains:
        sections.append(f"""## Markov chains and the normal approximation

Draws of `algorithm="laplace"` beside the chains of the same samples, and the health of the chains.

{agreement_table(pd.concat(by_chains, ignore_index=True))}
""")
    if "pairs" in tables:
        sections.append(f"""## Comparisons

`compare(..., method="bayes")` of {tables["pairs"]["replication"].nunique()} pairs of classifiers
on the same 300 observations of three
classes, with correlated scores, curves drawn from the normal approximation; the test rejects where
the posterior probability of the other sign is below 2.5 % (p < .05). Two classes are in
`experiments/results/posteriors_pairs.parquet`.

{pairs_table(tables["pairs"])}
""")
    if "differing" in tables:
        differing = pd.concat([tables["differing"], tables["anew"]])
        sections.append(f"""## Pairs that differ by more than a factor

Each sample has {PAIR_SAMPLE} observations of four classes, with {N_THRESHOLDS} thresholds,
`likelihood="ordinal"` and `algorithm="laplace"`; they were not compared with Markov chains. In the
last design
each sample has its own population: the shift of each class is uniform from
{SHIFTS[0]:g} to {SHIFTS[1]:g}, and the bias of one column is normal. Errors are root mean squares
over the 12 pairs and the samples. The predictive p-value is small if a model cannot have
such pairs ([Bayesian models](../bayes.md)).

{differing_table(differing)}
""")
    return "\n".join(sections)


def main() -> None:
    global SAMPLES_PER_BATCH, CHAINS, N_DRAWS, N_POPULATION
    options, skipped = arguments(__doc__, is_study=True), ()
    if options.quick:
        coverage.POPULATION = 6000
        SAMPLES_PER_BATCH, CHAINS = 2, CHAINS._replace(n_draws=20, n_warmup=10)
        N_DRAWS, N_POPULATION = 100, 4000
        skipped = "ten", "one_vs_rest", "pairs"  # which compile what others do, in other shapes
    chosen = {name: study for name, study in studies().items() if name not in skipped}
    tables = run_studies(chosen, options)
    text = page(tables)
    if options.quick:
        print(text)
    else:
        write_page("posteriors", text)


if __name__ == "__main__":
    main()
