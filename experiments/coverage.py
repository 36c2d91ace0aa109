"""Whether the jackknife's standard errors and 95 % intervals hold what they promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from _study import arguments, markdown_table, simulate, write_page

from dmfroc import Predictions, estimate
from dmfroc.measures import MEASURES

POPULATION = 400_000


@dataclass(frozen=True)
class Design:
    """A population and a sample size."""

    name: str
    n: int
    means: np.ndarray
    prevalence: tuple[float, ...] | None = None


DESIGNS = (
    Design("K=4, balanced", 600, 1.5 * np.eye(4)),
    Design("K=4, balanced", 200, 1.5 * np.eye(4)),
    Design("K=4, strong classifier", 600, 3.0 * np.eye(4)),
    Design("K=4, strong classifier", 200, 3.0 * np.eye(4)),
    Design("K=3, balanced (A)", 300, 0.95 * np.eye(3), (1 / 3, 1 / 3, 1 / 3)),
    Design("K=5, imbalanced (B)", 300, 1.5 * np.eye(5), (0.5, 0.25, 0.15, 0.07, 0.03)),
    Design("K=4, near-perfect (C)", 300, 2.8 * np.eye(4), (0.25, 0.25, 0.25, 0.25)),
    Design("K=3, about 3 rare cases (D)", 300, 1.5 * np.eye(3), (0.6, 0.39, 0.01)),
)


def truth(design: Design, population: int) -> dict[str, float]:
    """Return the measures in a large sample; prevalence matters to Informedness only."""
    generator = np.random.default_rng(1)
    y, scores = simulate(generator, population, design.means, prevalence=design.prevalence)
    balanced = simulate(generator, population, design.means)
    values = {}
    for name in MEASURES:
        sample = (y, scores) if name == "informedness" else balanced
        values[name] = estimate(name, *sample).value
    return values


def rows_of(design: Design, n_samples: int, population: int) -> list[list[str]]:
    """Return one row of the table per measure."""
    true_values = truth(design, population)
    generator = np.random.default_rng(3)
    estimates: dict[str, list] = {name: [] for name in MEASURES}
    while len(estimates["dmf_auc"]) < n_samples:
        y, scores = simulate(generator, design.n, design.means, prevalence=design.prevalence)
        if len(np.unique(y)) < len(design.means):
            continue  # a rare class without a case: its pairs do not exist
        predictions = Predictions.from_arrays(y, scores)
        for name, found in estimates.items():
            found.append(estimate(name, predictions))
    rows = []
    for name, found in estimates.items():
        true_value = true_values[name]
        values = np.array([e.value for e in found])
        covered = np.mean([e.interval[0] <= true_value <= e.interval[1] for e in found])
        width = np.mean([e.interval[1] - e.interval[0] for e in found])
        rows.append(
            [
                design.name,
                str(design.n),
                MEASURES[name].title,
                f"{true_value:.4f}",
                f"{values.mean() - true_value:+.4f}",
                f"{values.std(ddof=1):.4f}",
                f"{np.mean([e.standard_error for e in found]):.4f}",
                f"{100 * covered:.1f}",
                f"{width:.4f}",
            ]
        )
    return rows


def page(designs: tuple[Design, ...], n_samples: int, population: int) -> str:
    """Run the study and report it."""
    header = ["design", "n", "measure", "truth", "bias", "sd", "mean SE", "coverage, %", "width"]
    rows = [row for d in designs for row in rows_of(d, n_samples, population)]
    error = 100 * np.sqrt(0.95 * 0.05 / n_samples)
    return f"""# Coverage of the jackknife intervals

Made by `experiments/coverage.py`; {n_samples} samples of each design, the truth from
{population:,} observations. Nominal coverage is 95 %; its Monte Carlo error is {error:.1f} points.
*sd* is the standard deviation of the values over the samples, *mean SE* the mean of the
jackknife's standard errors: they should agree.

{markdown_table(header, rows)}

Scores are softmax values of normal logits; designs A to D are drawn with multinomial classes. In D
the rarest class has about three cases; there the interval rests on the other classes' variance.
Informedness depends on the class sizes and is estimated given those of the sample.
"""


if __name__ == "__main__":
    if arguments(__doc__).quick:
        print(page(DESIGNS[:1], n_samples=5, population=5000))
    else:
        write_page("coverage", page(DESIGNS, n_samples=1000, population=POPULATION))
