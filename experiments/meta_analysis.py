"""Whether credible intervals of a meta-analysis cover, with few studies and with many."""

from __future__ import annotations

import arviz
import numpy as np
import pandas as pd
from _chains import run_side_by_side
from _study import RESULTS, arguments, markdown_table, run_study, write_page
from scipy.special import expit

from dmfroc._compiled import in_double_precision
from dmfroc.bayes.sampling import Chains, Gaussian, Problem, approximate, problem_of
from dmfroc.meta_analysis.data import Counts
from dmfroc.meta_analysis.fit import careful_kernel, data_of
from dmfroc.meta_analysis.models import Data, SummaryPriors, model_of
from dmfroc.study import Study, grid

LOCATION, SD, CORRELATION = np.array([1.4, -2.0]), np.array([0.6, 0.5]), 0.4
SMALLEST, LARGEST = 40, 300  # people with the disease, and without it, in a study
N_STUDIES = (10, 30)
BATCH = 40  # meta-analyses whose chains run side by side
REPLICATIONS = 5
N_CHAINS, N_DRAWS, N_WARMUP = 2, 500, 300
LEVEL = 0.95


def simulate(generator: np.random.Generator, n_studies: int) -> Counts:
    """Draw the positives among the diseased and among the others of each study."""
    covariance = np.outer(SD, SD) * [[1, CORRELATION], [CORRELATION, 1]]
    rates = expit(generator.multivariate_normal(LOCATION, covariance, n_studies))
    sizes = generator.integers(SMALLEST, LARGEST, size=(n_studies, 2), endpoint=True)
    positives = generator.binomial(sizes, rates)
    between = np.stack([positives, sizes - positives], axis=-1).astype(float)
    return Counts(between, np.zeros((n_studies, 1)))


def run_together(
    problem: Problem, data: list[Data], approximations: list[Gaussian], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the parameters of all meta-analyses, and how many of each diverged."""
    chains = Chains(careful_kernel, N_CHAINS, N_DRAWS, N_WARMUP)
    return run_side_by_side(problem, chains, data, approximations, seed)


def batch(generator: np.random.Generator, n_studies: int) -> list[dict]:
    """Fit the bivariate model to simulated meta-analyses; return the intervals."""
    priors = SummaryPriors()
    with in_double_precision():
        data = [data_of(simulate(generator, n_studies), "bivariate", priors) for _ in range(BATCH)]
        problem = problem_of(model_of("bivariate", priors), data[0])
        approximations = [approximate(problem, counts) for counts in data]
        seed = int(generator.integers(2**31))
        x, diverging = run_together(problem, data, approximations, seed)
        rows = []
        for counts, approximation, drawn, n_diverging in zip(
            data, approximations, x, diverging.tolist(), strict=True
        ):
            flat = approximation.at(drawn.reshape(-1, problem.size))
            sites = problem.sites(flat, counts)
            location = np.asarray(sites["location"])
            low, high = np.quantile(location, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
            chains = location.reshape(N_CHAINS, N_DRAWS, 2)
            row = {
                "n_diverging": n_diverging,
                "r_hat": float(np.max(arviz.rhat(chains, chain_axis=0, draw_axis=1))),
            }
            for rate, name in enumerate(("sensitivity", "fpr")):
                row |= {
                    f"{name}_error": float(location[:, rate].mean() - LOCATION[rate]),
                    f"{name}_sd": float(location[:, rate].std(ddof=1)),
                    f"{name}_covered": bool(low[rate] <= LOCATION[rate] <= high[rate]),
                }
            rows.append(row)
    return rows


def study(n_studies: tuple[int, ...]) -> Study:
    return Study(
        "meta_analysis",
        batch,
        grid(n_studies=list(n_studies)),
        replications=REPLICATIONS,
        seed=1,
        directory=RESULTS,
    )


def report(table: pd.DataFrame) -> str:
    """Return a row for each number of studies and rate."""
    rows = []
    for n_studies, part in table.groupby("n_studies"):
        for name, title in (("sensitivity", "sensitivity"), ("fpr", "specificity")):
            covered = part[f"{name}_covered"].mean()
            error = np.sqrt(covered * (1 - covered) / len(part))
            deviation = part[f"{name}_error"].std()
            rows.append(
                [
                    n_studies,
                    title,
                    len(part),
                    f"{100 * covered:.1f} ± {100 * error:.1f}",
                    f"{part[f'{name}_error'].mean() / deviation:+.2f}",
                    f"{part[f'{name}_sd'].mean() / deviation:.2f}",
                    f"{100 * (part['n_diverging'] > 0).mean():.0f}",
                    f"{100 * (part['r_hat'] > 1.01).mean():.0f}",
                ]
            )
    header = [
        "studies",
        "rate",
        "meta-analyses",
        "95 % interval covers (%)",
        "bias / sd",
        "posterior sd / sd",
        "some draw diverged (%)",
        "R-hat > 1.01 (%)",
    ]
    return markdown_table(header, rows)


def page(table: pd.DataFrame) -> str:
    """Report the study."""
    return f"""# Coverage of meta-analyses

Made by `experiments/meta_analysis.py`: simulated meta-analyses of {SMALLEST} to {LARGEST} people
with and without the disease in each study, logits of sensitivity and false positive rate normal
about {LOCATION[0]:g} and {LOCATION[1]:g} with standard deviations {SD[0]:g} and {SD[1]:g} and
correlation {CORRELATION:g}, fitted by the bivariate model of `summary_roc` with its default
priors, in {N_CHAINS} chains of {N_DRAWS} draws after {N_WARMUP}. Those of `summary_roc` are twice
as many and as long, and are run again where a draw diverges or chains disagree.

{report(table)}

Standard deviations and biases are those of logits. With ten studies a posterior is wider than
estimates vary because it does not know how much studies differ: known by nine degrees of freedom,
that alone makes a t distribution of it, with 1.13 times the standard deviation.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    found = run_study(study(N_STUDIES[:1] if options.quick else N_STUDIES), options)
    if options.quick:
        print(report(found))
    else:
        write_page("meta_analysis", page(found))
