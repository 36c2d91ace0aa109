"""How strongly the pair effects should be shrunk: bias of the DMF-AUC in ten designs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from _study import RESULTS, arguments, markdown_table, run_study, simulate, write_page
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from dmfroc import dmf_auc_score, hand_till_score
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE
from dmfroc.study import Study

STRENGTHS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0)
POPULATION = 240_000
REPLICATIONS = 400
CONFUSED_3 = np.array([[1, 0.3, -0.5], [0.2, 1, -0.8], [-0.6, -0.6, 1.4]])
CONFUSED_6 = np.random.default_rng(5).normal(size=(6, 6)) * 0.4 + np.eye(6)


@dataclass(frozen=True)
class Design:
    """A population and a sample size."""

    name: str
    n: int
    means: np.ndarray
    round_to: int | None = None


DESIGNS = (
    Design("K=3, continuous", 75, 1.85 * np.eye(3)),
    Design("K=6, continuous", 120, 1.95 * np.eye(6)),
    Design("K=6, rounded to 1/5", 120, 2.2 * np.eye(6), 5),
    Design("K=6, rounded to 1/5", 600, 2.05 * np.eye(6), 5),
    Design("K=3, near-perfect", 300, 3.35 * np.eye(3)),
    Design("K=3, unequal pairs", 75, 1.85 * CONFUSED_3),
    Design("K=6, unequal pairs", 120, 1.6 * CONFUSED_6),
    Design("K=6, unequal pairs, rounded to 1/5", 120, 2.2 * CONFUSED_6, 5),
    Design("K=6, unequal pairs, rounded to 1/5", 600, 2.0 * CONFUSED_6, 5),
    Design("K=3, unequal pairs, near-perfect", 300, 3.1 * CONFUSED_3),
)


def design_of(name: str, n: int) -> Design:
    return next(design for design in DESIGNS if (design.name, design.n) == (name, n))


def areas(generator: np.random.Generator, design: str, n: int) -> list[dict]:
    """Return the DMF-AUC of one sample for every strength."""
    found = design_of(design, n)
    sample = simulate(generator, n, found.means, round_to=found.round_to)
    return [{"strength": s, "dmf_auc": dmf_auc_score(*sample, shrinkage=s)} for s in STRENGTHS]


def study(designs: tuple[Design, ...]) -> Study:
    return Study(
        "regularization",
        areas,
        [{"design": design.name, "n": design.n} for design in designs],
        replications=REPLICATIONS,
        seed=2,
        directory=RESULTS,
    )


def bias_row(
    design: Design, aucs: pd.DataFrame, population: int
) -> tuple[list[str], dict[float, float]]:
    """Return a row of the table, and the ratio of bias to standard deviation by strength."""
    generator = np.random.default_rng(2)
    y, scores = simulate(generator, population, design.means, round_to=design.round_to)
    truth = {s: dmf_auc_score(y, scores, shrinkage=s) for s in STRENGTHS}
    cells, ratios = [], {}
    for strength in STRENGTHS:
        of_strength = aucs.loc[aucs["strength"] == strength, "dmf_auc"]
        bias = of_strength.mean() - truth[strength]
        ratios[strength] = bias / of_strength.std()
        cells.append(f"{bias:+.4f} ({ratios[strength]:+.2f})")
    m = hand_till_score(y, scores)
    head = [design.name, str(design.n), f"{m:.4f}", f"{truth[0.0]:.4f}", f"{truth[1.0]:.4f}"]
    return head + cells, ratios


def iris_rows(n_splits: int) -> list[list[str]]:
    """Return Hand-Till's M and the DMF-AUC of decision trees on halves of the iris data."""
    features, y = load_iris(return_X_y=True)
    rows = []
    for seed in range(n_splits):
        train, test, y_train, y_test = train_test_split(
            features, y, test_size=0.5, random_state=seed
        )
        tree = DecisionTreeClassifier(random_state=seed).fit(train, y_train)
        scores = tree.predict_proba(test)
        aucs = [dmf_auc_score(y_test, scores, shrinkage=s) for s in STRENGTHS]
        rows.append(
            [str(seed), f"{hand_till_score(y_test, scores):.3f}", *(f"{a:.3f}" for a in aucs)]
        )
    return rows


def page(table: pd.DataFrame, population: int, n_splits: int) -> str:
    """Report the study."""
    n_samples = table["replication"].nunique()
    results = [
        bias_row(design_of(*setting), aucs, population)
        for setting, aucs in table.groupby(["design", "n"], sort=False)
    ]
    worst = {s: max(abs(ratios[s]) for _, ratios in results) for s in STRENGTHS}
    strengths = [f"{s:g}" for s in STRENGTHS]
    bias_table = markdown_table(
        ["design", "n", "M", "AUC, no shrinkage", "AUC, shrinkage 1", *strengths],
        [row for row, _ in results],
    )
    worst_table = markdown_table(strengths, [[f"{worst[s]:.2f}" for s in STRENGTHS]])
    iris_table = markdown_table(["split", "M", *strengths], iris_rows(n_splits))
    return f"""# How strongly pair effects are shrunk

Made by `experiments/regularization.py`; {n_samples} samples of each design, populations of
{population:,} observations.

Without shrinkage, a pair of classes that is perfectly separated drives the centre of all pairs
to AUC 1. `shrinkage` draws the pair effects towards one. Its strength is relative to the deviance
of an average pair and does not fade as the sample grows: it is part of what the DMF-AUC *is*, so
the truth is the AUC of the same definition in the population.

## Bias

Bias of the DMF-AUC and, in brackets, its ratio to the standard deviation, for several strengths.
The Monte Carlo error of a ratio is {1 / np.sqrt(n_samples):.2f}.

{bias_table}

The largest ratio over all designs:

{worst_table}

The default is {DEFAULT_SHRINKAGE:g}. Where all pairs are equally difficult the strength makes no
difference to the truth, only to the bias. Where they are not, the AUC moves from the
maximum-likelihood centre towards M.

## Decision trees on iris

Halves of the data, M and the DMF-AUC for the same strengths. Setosa is separated perfectly from
the other two species.

{iris_table}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        print(page(run_study(study(DESIGNS[:1]), options), population=3000, n_splits=2))
    else:
        text = page(run_study(study(DESIGNS), options), POPULATION, n_splits=10)
        write_page("regularization", text)
