"""Whether credible intervals of a meta-analysis cover, with few studies and with many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Any, NamedTuple

import arviz
import numpy as np
import pandas as pd
from _chains import run_side_by_side
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from scipy.special import expit, logit, softmax
from scipy.stats import norm

from dmfroc._kit.compiled import in_double_precision
from dmfroc.applications.meta_analysis.data import Studies, name_of, read_studies
from dmfroc.applications.meta_analysis.fit import careful_kernel, data_of
from dmfroc.applications.meta_analysis.models import (
    ModelName,
    SummaryPriors,
    area_under_line,
    logits_at,
    model_of,
)
from dmfroc.bayes.sampling import Chains, approximate, sampler_of

LOCATION, SD, CORRELATION = np.array([1.4, -2.0]), np.array([0.6, 0.5]), 0.4
SMALLEST, LARGEST = 40, 300  # people with the disease, and without it, in a study
RESULT_MEAN, RESULT_SCALE = np.array([2.0, 0.0]), np.array([1.0, 0.7])  # of cases, of non-cases
RESULT_SD, LOG_SCALE_SD = 0.5, 0.2
CUTOFFS, MOST_CUTOFFS = np.array([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5]), 4
AT = 1.0  # the threshold of the rates that are looked at
CLASSES = "abc"
PAIRS = list(permutations(range(len(CLASSES)), 2))
PAIR_SD, WITHIN_SD = 0.5, 0.2
SAME_PERSON = 0.5  # correlation of a person's results in several pairs
MEAN_LOG_ODDS = -2.0  # of being called one of the other classes, and not the true one
N_MEAN = 4000  # studies behind the true values of tables
BATCH = 20  # meta-analyses whose chains run side by side
N_CHAINS, N_DRAWS, N_WARMUP = 2, 500, 300
LEVEL = 0.95
COUNTS = ("tp", "fn", "fp", "tn")

Truth = dict[str, np.ndarray]
"""Logits of rates and areas; several of a kind where there are several pairs."""


def effects(generator: np.random.Generator, sd: np.ndarray, n_studies: int) -> np.ndarray:
    """Draw what a study adds to both logits, or to both means of test results."""
    covariance = np.outer(sd, sd) * [[1, CORRELATION], [CORRELATION, 1]]
    return generator.multivariate_normal(np.zeros(2), covariance, n_studies)


def sizes_of(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.integers(SMALLEST, LARGEST, size=shape, endpoint=True)


def cells(positives: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the four counts of rows of positives among cases and non-cases."""
    return np.stack([positives, sizes - positives], axis=-1).reshape(-1, 4)


def area(intercept: Any, slope: Any) -> np.ndarray:
    return logit(area_under_line(np.asarray(intercept), np.asarray(slope)))


def one_threshold(generator: np.random.Generator, n_studies: int) -> tuple[Truth, Studies]:
    """Draw one row of counts for each study."""
    rates = expit(LOCATION + effects(generator, SD, n_studies))
    sizes = sizes_of(generator, n_studies, 2)
    table = pd.DataFrame(cells(generator.binomial(sizes, rates), sizes), columns=COUNTS)
    return truth_of_rates(LOCATION, SD), read_studies(table, {name: name for name in COUNTS})


def several_thresholds(generator: np.random.Generator, n_studies: int) -> tuple[Truth, Studies]:
    """Draw counts at one to four thresholds for each study, which differ between studies."""
    means = RESULT_MEAN + effects(generator, np.full(2, RESULT_SD), n_studies)
    scales = RESULT_SCALE * np.exp(generator.normal(scale=LOG_SCALE_SD, size=(n_studies, 2)))
    sizes = sizes_of(generator, n_studies, 2)
    parts = []
    for study in range(n_studies):
        # The first has most of them: all tables have one shape.
        n_cutoffs = MOST_CUTOFFS if study == 0 else generator.integers(MOST_CUTOFFS) + 1
        cutoffs = generator.choice(CUTOFFS, n_cutoffs, replace=False)
        drawn = [
            generator.logistic(mean, scale, size)
            for mean, scale, size in zip(means[study], scales[study], sizes[study], strict=True)
        ]
        positives = np.stack([(x >= cutoffs[:, None]).sum(axis=1) for x in drawn], axis=1)
        part = pd.DataFrame(cells(positives, sizes[study]), columns=COUNTS)
        parts.append(part.assign(study=study, threshold=cutoffs))
    slope = RESULT_SCALE[1] / RESULT_SCALE[0]
    truth = truth_of(
        (RESULT_MEAN - AT) / RESULT_SCALE,
        area((RESULT_MEAN[0] - RESULT_MEAN[1]) / RESULT_SCALE[0], slope),
    )
    return truth, read_studies(pd.concat(parts), {x: x for x in ("study", "threshold", *COUNTS)})


def pairs(generator: np.random.Generator, n_studies: int) -> tuple[Truth, Studies]:
    """Draw counts of all ordered pairs of three classes; a person counts in several of them."""
    of_pairs = LOCATION + generator.normal(scale=PAIR_SD, size=(len(PAIRS), 2))
    of_studies = effects(generator, SD, n_studies)
    rows = []
    for study in range(n_studies):
        logits = of_pairs + of_studies[study]
        logits = logits + generator.normal(scale=WITHIN_SD, size=logits.shape)
        sizes = sizes_of(generator, len(CLASSES))
        persons = [
            np.sqrt(SAME_PERSON) * generator.normal(size=(n, 1))
            + np.sqrt(1 - SAME_PERSON) * generator.normal(size=(n, 2 * len(PAIRS)))
            for n in sizes
        ]
        for place, (pair, of_pair) in enumerate(zip(PAIRS, logits, strict=True)):
            positives = [
                (persons[c][:, 2 * place + side] < norm.ppf(expit(of_pair[side]))).sum()
                for side, c in enumerate(pair)
            ]
            [counts] = cells(np.array(positives), sizes[list(pair)])
            rows.append([study, name_of(tuple(CLASSES[c] for c in pair)), *counts])
    table = pd.DataFrame(rows, columns=["study", "pair", *COUNTS])
    sd = np.sqrt(SD**2 + WITHIN_SD**2)
    truth = truth_of_rates(LOCATION, sd)
    truth |= {f"{name} of a pair": x for name, x in rates_of(of_pairs).items()}
    return truth, read_studies(table, {x: x for x in table.columns})


def tables(generator: np.random.Generator, n_studies: int) -> tuple[Truth, Studies]:
    """Draw how often each of three classes was called each; both rates of all pairs are of it."""
    log_odds = log_odds_of_pairs(generator)
    rows = []
    for study, shares in enumerate(shares_of_studies(generator, log_odds, n_studies)):
        sizes = sizes_of(generator, len(CLASSES))
        called = generator.multinomial(sizes, shares)
        for true, reference in PAIRS:
            positives = np.array([called[true, true], called[reference, true]])
            [counts] = cells(positives, sizes[[true, reference]])
            rows.append([study, name_of((CLASSES[true], CLASSES[reference])), *counts])
    table = pd.DataFrame(rows, columns=["study", "pair", *COUNTS])
    truth = truth_of_rates(*average_table())
    of_pairs = logits_of_pairs(shares_of_studies(generator, log_odds, N_MEAN)).mean(axis=0)
    truth |= {f"{name} of a pair": x for name, x in rates_of(of_pairs).items()}
    return truth, read_studies(table, {x: x for x in table.columns})


def log_odds_of_pairs(generator: np.random.Generator) -> np.ndarray:
    """Draw the log odds of being called each other class; zero where the call is right."""
    shape = len(CLASSES), len(CLASSES)
    return (MEAN_LOG_ODDS + generator.normal(scale=PAIR_SD, size=shape)) * (1 - np.eye(*shape))


def shares_of_studies(
    generator: np.random.Generator, log_odds: np.ndarray, n_studies: int
) -> np.ndarray:
    """Return the shares of calls, study by true class by call, in studies as good as they come."""
    moved = generator.normal(scale=SD[0], size=(n_studies, 1, 1))
    moved = moved + generator.normal(scale=WITHIN_SD, size=(n_studies, *log_odds.shape))
    return softmax(log_odds + moved * (1 - np.eye(len(log_odds))), axis=2)


def logits_of_pairs(shares: np.ndarray) -> np.ndarray:
    """Return the logits of both rates, study by pair by rate."""
    true, reference = np.transpose(PAIRS)
    return logit(np.stack([shares[:, true, true], shares[:, reference, true]], axis=2))


@functools.cache
def average_table() -> tuple[np.ndarray, np.ndarray]:
    """Return the mean logits of all pairs that may be, and how much those of a pair differ."""
    generator = np.random.default_rng(0)
    found = [
        logits_of_pairs(shares_of_studies(generator, log_odds_of_pairs(generator), N_MEAN // 10))
        for _ in range(N_MEAN)
    ]
    variance = np.mean([x.var(axis=0, ddof=1) for x in found], axis=(0, 1))
    return np.mean(found, axis=(0, 1, 2)), np.sqrt(variance)


def rates_of(logits: np.ndarray) -> dict[str, np.ndarray]:
    return {"sensitivity": logits[..., 0], "specificity": -logits[..., 1]}


def truth_of(logits: np.ndarray, logit_of_area: np.ndarray) -> Truth:
    """Return what a meta-analysis is to find, as arrays of one number."""
    named = rates_of(logits) | {"AUC": logit_of_area}
    return {name: np.ravel(x) for name, x in named.items()}


def truth_of_rates(location: np.ndarray, sd: np.ndarray) -> Truth:
    """Return it for logits of rates that have this mean and these deviations."""
    slope = sd[0] / sd[1]
    return truth_of(location, area(location[0] - slope * location[1], slope))


def estimates_of(sites: Mapping[str, np.ndarray], model: ModelName, studies: Studies) -> Truth:
    """Return draws of the same; the last dimension is that of the truth."""
    location = sites["location"]
    if model == "ordinal":
        cutoff = studies.standardized(np.array([[AT]]))
        logits = logits_at(model, location, cutoff, np)[..., 0]
    else:
        logits = location
    found = rates_of(logits) | {"AUC": area(sites["curve_intercept"], sites["curve_slope"])}
    found = {name: x[:, None] for name, x in found.items()}
    if model == "multiclass":
        of_pairs = rates_of(sites["pair_location"])
        found |= {f"{name} of a pair": x for name, x in of_pairs.items()}
    return found


class Design(NamedTuple):
    """What is simulated, and the model that is fitted."""

    simulate: Callable[[np.random.Generator, int], tuple[Truth, Studies]]
    model: ModelName


DESIGNS = {
    "one threshold": Design(one_threshold, "bivariate"),
    "one threshold, hsroc": Design(one_threshold, "hsroc"),
    "several thresholds": Design(several_thresholds, "ordinal"),
    "six pairs": Design(pairs, "multiclass"),
    "six pairs of a table": Design(tables, "multiclass"),
}


def batch(generator: np.random.Generator, design: str, n_studies: int) -> list[dict]:
    """Fit a model to simulated meta-analyses; return how its intervals fare."""
    simulate, model = DESIGNS[design]
    priors = SummaryPriors()
    simulated = [simulate(generator, n_studies) for _ in range(BATCH)]
    with in_double_precision():
        data = [data_of(studies.counts, model, priors) for _, studies in simulated]
        problem = sampler_of(model_of(model, priors), data[0])
        approximations = [approximate(problem, counts) for counts in data]
        chains = Chains(careful_kernel, N_CHAINS, N_DRAWS, N_WARMUP)
        seed = int(generator.integers(2**31))
        drawn, diverging = run_side_by_side(problem, chains, data, approximations, seed)
        flat = [
            approximation.at(x.reshape(-1, problem.size))
            for approximation, x in zip(approximations, drawn, strict=True)
        ]
        sites = [
            {name: np.asarray(x) for name, x in problem.sites(parameters, counts).items()}
            for parameters, counts in zip(flat, data, strict=True)
        ]
    return [
        {"sample": sample, "n_diverging": int(n_diverging), **row}
        for sample, ((truth, studies), of_sample, n_diverging) in enumerate(
            zip(simulated, sites, diverging, strict=True)
        )
        for row in rows_of(truth, estimates_of(of_sample, model, studies))
    ]


def rows_of(truth: Truth, draws: Truth) -> Iterator[dict]:
    """Compare draws with the truth, a row for each number."""
    for name, values in truth.items():
        tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        low, high = np.quantile(draws[name], tails, axis=0)
        by_chain = draws[name].reshape(N_CHAINS, N_DRAWS, -1)
        r_hat = np.max(np.asarray(arviz.rhat(by_chain, chain_axis=0, draw_axis=1)))
        for i, value in enumerate(values):
            yield {
                "quantity": name,
                "error": float(draws[name][:, i].mean() - value),
                "sd": float(draws[name][:, i].std(ddof=1)),
                "below": bool(value < low[i]),
                "above": bool(value > high[i]),
                "r_hat": float(r_hat),
            }


def studies() -> dict[str, Study]:
    """Return the studies; those that take longest have the fewest replications."""
    common = {"seed": 1, "directory": RESULTS}
    one = grid(design=["one threshold", "one threshold, hsroc"], n_studies=[10, 30])
    several = grid(design=["several thresholds"], n_studies=[10, 30])
    six, of_table = (
        grid(design=[x], n_studies=[10]) for x in ("six pairs", "six pairs of a table")
    )
    return {
        "one": Study("meta_analysis", batch, one, replications=1, **common),
        "several": Study("meta_analysis_thresholds", batch, several, replications=1, **common),
        "pairs": Study("meta_analysis_pairs", batch, six, replications=1, **common),
        "table": Study("meta_analysis_table", batch, of_table, replications=1, **common),
    }


def report(table: pd.DataFrame) -> str:
    """Return a row for each design, number of studies, and quantity but specificities."""
    rows, of_specificities = [], []
    for design in DESIGNS:
        of_design = table[table["design"] == design]
        for n_studies, quantity in of_design[["n_studies", "quantity"]].drop_duplicates().values:
            is_part = (of_design["n_studies"] == n_studies) & (of_design["quantity"] == quantity)
            part = of_design[is_part]
            by_sample = part.groupby(["replication", "sample"])
            covered = 1 - by_sample[["below", "above"]].mean().sum(axis=1)
            if quantity.startswith("specificity"):
                of_specificities.append(100 * covered.mean())
                continue
            deviation = part["error"].std()
            rows.append(
                [
                    design,
                    n_studies,
                    quantity,
                    len(covered),
                    f"{100 * covered.mean():.1f} ± {100 * covered.sem():.1f}",
                    f"{part['error'].mean() / deviation:+.2f}",
                    f"{part['sd'].mean() / deviation:.2f}",
                ]
            )
    header = [
        "design",
        "studies",
        "quantity",
        "meta-analyses",
        "95 % interval covers (%)",
        "bias / sd",
        "posterior sd / sd",
    ]
    least, most = min(of_specificities), max(of_specificities)
    return f"""{markdown_table(header, rows)}

Specificities, which are in `experiments/results/meta_analysis*.parquet`, cover {least:.1f} to
{most:.1f} %."""


def page(table: pd.DataFrame) -> str:
    """Report the study."""
    return f"""# Coverage of meta-analyses

Made by `experiments/meta_analysis.py`: simulated meta-analyses of {SMALLEST} to {LARGEST} people of
each group (or class) in each study, fitted by the models of `summary_roc` with their default
priors, in {N_CHAINS} chains of {N_DRAWS} draws after {N_WARMUP}. Those of `summary_roc` are twice
as many and as long, and are run again where a draw diverges or chains disagree.

- One threshold: logits of sensitivity and false positive rate are normal about {LOCATION[0]:g} and
  {LOCATION[1]:g} with standard deviations {SD[0]:g} and {SD[1]:g} and correlation {CORRELATION:g}.
  The bivariate model, and hsroc.
- Several thresholds: each study has one to {MOST_CUTOFFS} of {len(CUTOFFS)} thresholds. Test
  results are logistic, with means {RESULT_MEAN[0]:g} and {RESULT_MEAN[1]:g} which vary between
  studies with standard deviation {RESULT_SD:g} and correlation {CORRELATION:g}, and scales
  {RESULT_SCALE[0]:g} and {RESULT_SCALE[1]:g}, whose logarithms vary with {LOG_SCALE_SD:g}. Rates
  are those at the threshold {AT:g}.
- Six pairs: the ordered pairs of three classes. Logits are those of one threshold, plus effects of
  the pair, with standard deviation {PAIR_SD:g}, and of the pair in this study, with {WITHIN_SD:g}.
  Every person counts in four pairs, with results that have latent correlations of
  {SAME_PERSON:g}. Rates are those of the average pair, and of each of the six.
- Six pairs of a table: each person of three classes is called one of them; both rates of all pairs
are of these calls. Log odds of each wrong call are normal about {MEAN_LOG_ODDS:g}, with the same
  deviations of pairs and of pairs in a study, and one of the study, {SD[0]:g}.

{report(table)}

Standard deviations and biases are those of logits, of the area too. With ten studies, nine degrees
of freedom of what studies differ make posteriors 1.13 times as wide.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        BATCH, N_DRAWS, N_WARMUP = 2, 20, 10
    chosen = studies()
    if options.quick:  # the models of the others are compiled for half a minute each
        chosen = {"one": chosen["one"]}
    found = pd.concat(run_studies(chosen, options).values(), ignore_index=True)
    if options.quick:
        print(report(found))
    else:
        write_page("meta_analysis", page(found))
