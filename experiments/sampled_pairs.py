"""Whether intervals from a sample of the pairs of classes cover the area of all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_study, write_page

from dmfroc import dmf_auc_score, estimate
from dmfroc.measures import dmf_auc

N_CLASSES = 30
N_ALL = N_CLASSES * (N_CLASSES - 1) // 2
SIZES = (20, 100)
N_PAIRS = (60, 200, N_ALL)
N_THRESHOLDS = 19
REPLICATIONS = 200
N_POPULATION = 200_000


def draw(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores of classes of which some are told apart well, and others hardly."""
    y = np.arange(n) % N_CLASSES
    scores = generator.normal(size=(n, N_CLASSES))
    scores[np.arange(n), y] += np.linspace(0.2, 3, N_CLASSES)[y]
    return y, scores


def truth() -> float:
    """Return the area of all pairs in a sample so large that its error does not matter."""
    scores = draw(np.random.default_rng(0), N_POPULATION)
    return dmf_auc_score(*scores, n_thresholds=N_THRESHOLDS)


def sampled_pairs(generator: np.random.Generator, size: int) -> list[dict]:
    """Return values, errors and intervals from samples of the pairs and from all of them."""
    sample = draw(generator, size * N_CLASSES)
    seed = int(generator.integers(2**31))
    rows = []
    for n_pairs in N_PAIRS:
        measure = dmf_auc(n_thresholds=N_THRESHOLDS, n_pairs=n_pairs, random_state=seed)
        found = estimate(measure, *sample)
        low, high = found.interval
        rows.append(
            {
                "n_pairs": n_pairs,
                "value": found.value,
                "standard_error": found.standard_error,
                "low": low,
                "high": high,
            }
        )
    return rows


def study(sizes: tuple[int, ...] = SIZES) -> Study:
    return Study(
        "sampled_pairs",
        sampled_pairs,
        grid(size=list(sizes)),
        replications=REPLICATIONS,
        seed=1,
        directory=RESULTS,
    )


def page(table: pd.DataFrame, true_area: float) -> str:
    """Report the study."""
    rows = []
    for (size, n_pairs), part in table.groupby(["size", "n_pairs"]):
        covers = (part["low"] <= true_area) & (true_area <= part["high"])
        deviation = part["value"].std()
        mean_square = np.sqrt((part["standard_error"] ** 2).mean())
        rows.append(
            [
                size,
                "all" if n_pairs == N_ALL else n_pairs,
                f"{part['value'].mean() - true_area:+.4f}",
                f"{deviation:.4f}",
                f"{mean_square / deviation:.2f}",
                f"{100 * covers.mean():.1f} %",
            ]
        )
    header = ["observations of a class", "pairs", "bias", "sd", "SE / sd", "95 % intervals cover"]
    return f"""# Samples of the pairs of classes

Made by `experiments/sampled_pairs.py`. {N_CLASSES} classes have {N_ALL} pairs; `n_pairs=`
draws some of them at random. Scores are normal; the column of the true class is shifted by 0.2 for
the first class to 3 for the last, so that pairs differ. The area of all pairs, from
{N_POPULATION:,} observations, is {true_area:.4f}; {table["replication"].nunique()} samples of
each size, each with pairs of its own.

{markdown_table(header, rows)}

The standard error adds what the draw of the pairs does to what the observations do. A pair of small
classes differs from others also by the chance in its observations, which then counts twice: the
standard error is a little too large.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        print(page(run_study(study(sizes=(5,)), options), 0.8))
    else:
        write_page("sampled_pairs", page(run_study(study(), options), truth()))
