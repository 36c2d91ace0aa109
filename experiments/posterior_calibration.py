"""Whether the default posterior of the area is calibrated: ranks and coverage of true areas.

The data are scores of observations, so that columns share them, and the likelihood is tempered.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_study, simulate, write_page
from scipy.stats import chisquare

from dmfroc import Predictions, dmf_auc_score
from dmfroc.bayes import bayesian_roc

CLASSES, CASES, POPULATION = (2, 3, 5), 40, 30_000
REPLICATIONS, LEVEL, N_BINS = 200, 0.95, 10
SPREAD = 1.5  # of the distances of the classes from all others


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


def rows(table: pd.DataFrame) -> list[list[str]]:
    """Return how ranks and intervals turned out."""
    found = []
    for n_classes, x in table.groupby("n_classes"):
        counts = np.histogram(x["rank"], bins=N_BINS, range=(0, 1))[0]
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
    return found


def page(table: pd.DataFrame) -> str:
    """Report the study."""
    header = ["classes", "data sets", f"coverage of {100 * LEVEL:g} %", "mean error"]
    header += ["its standard deviation", "mean posterior deviation", "ranks in tenths", "p"]
    return f"""# Calibration of the default posterior

Made by `experiments/posterior_calibration.py`. Each data set has {CASES} cases of each class,
from a population of its own:
logits are normal, and those of class k are larger in its column by the absolute value of a normal
number with standard
deviation {SPREAD:g}. The true area is that of {POPULATION:,} observations. The posterior is that of
`bayesian_roc(y, scores, algorithm="laplace")`: thresholds of one column, binomial cells, tempered.

*Ranks in tenths* counts the data sets by the share of draws below the true area; *p* is that of a
chi-square test that they
are uniform. The populations are not drawn from the prior of the model, which has no distribution
of scores. So these
ranks need only be about uniform. [Calibration of the samplers](sbc.md) draws parameters from the
prior.

{markdown_table(header, rows(table))}
"""


def main() -> None:
    options = arguments(__doc__, is_study=True)
    settings = grid(n_classes=list(CLASSES))
    study = Study(
        "posterior_calibration",
        posterior_of_a_sample,
        settings,
        replications=REPLICATIONS,
        seed=8,
        directory=RESULTS,
    )
    text = page(run_study(study, options))
    print(text) if options.quick else write_page("posterior_calibration", text)


if __name__ == "__main__":
    main()
