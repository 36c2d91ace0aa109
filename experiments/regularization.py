"""How strongly the pair effects should be shrunk: bias, error, coverage and power."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import power
from _study import RESULTS, arguments, markdown_table, run_study, simulate, write_page
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from dmfroc import Predictions, compare, dmf_auc_score, estimate, hand_till_score
from dmfroc.measures import dmf_auc
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE
from dmfroc.simulation.study import Study

STRENGTHS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0)
POPULATION = 120_000
REPLICATIONS = 400
COMPARISONS = (
    ("all pairs", 0.1),
    ("one hard pair", 1.2),
    ("one easy pair", 1.5),
    ("near-perfect", 0.4),
    ("skewed, large hard pair", 0.8),
    ("skewed, small hard pair", 2.0),
)
INTERVAL_REPLICATIONS = 20
POWER_REPLICATIONS = 40
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


def intervals(generator: np.random.Generator, design: str, n: int) -> list[dict]:
    """Return the interval of the DMF-AUC of one sample for every strength."""
    found = design_of(design, n)
    sample = Predictions.from_arrays(*simulate(generator, n, found.means, round_to=found.round_to))
    rows = []
    for strength in STRENGTHS:
        low, high = estimate(dmf_auc(shrinkage=strength), sample).interval
        rows.append({"strength": strength, "low": low, "high": high})
    return rows


def decisions(generator: np.random.Generator, contrast: str, gap: float) -> dict:
    """Compare two classifiers by the DMF-AUC of every strength, and by M."""
    pair = power.draw(generator, contrast, gap)
    measures = {f"{s:g}": dmf_auc(shrinkage=s) for s in STRENGTHS} | {"M": "hand_till"}
    return {
        name: compare(pair, measure=measure).differences[0].p_value
        for name, measure in measures.items()
    }


def study(designs: tuple[Design, ...]) -> Study:
    return Study(
        "regularization",
        areas,
        [{"design": design.name, "n": design.n} for design in designs],
        replications=REPLICATIONS,
        seed=2,
        directory=RESULTS,
    )


def interval_study(designs: tuple[Design, ...]) -> Study:
    return replace(
        study(designs),
        name="regularization_intervals",
        function=intervals,
        replications=INTERVAL_REPLICATIONS,
    )


def power_study(comparisons: tuple[tuple[str, float], ...]) -> Study:
    return Study(
        "regularization_power",
        decisions,
        [{"contrast": contrast, "gap": gap} for contrast, gap in comparisons],
        replications=POWER_REPLICATIONS,
        seed=2,
        directory=RESULTS,
    )


@dataclass(frozen=True)
class Quality:
    """How well the DMF-AUC of one strength estimates its own value in the population."""

    truth: float
    bias: float
    sd: float
    coverage: float

    @classmethod
    def of(cls, values: pd.Series, ends: pd.DataFrame, truth: float) -> Quality:
        """Compare estimates and intervals with the truth."""
        return cls(
            truth=truth,
            bias=values.mean() - truth,
            sd=values.std(),
            coverage=((ends["low"] <= truth) & (truth <= ends["high"])).mean(),
        )

    @property
    def ratio(self) -> float:
        """Return the bias in standard deviations."""
        return self.bias / self.sd

    @property
    def rmse(self) -> float:
        """Return the root mean squared error."""
        return float(np.hypot(self.bias, self.sd))


@dataclass(frozen=True)
class OfDesign:
    """What was found in one design."""

    design: Design
    m: float
    qualities: dict[float, Quality]

    @classmethod
    def of(
        cls, design: Design, table: pd.DataFrame, ends: pd.DataFrame, population: int
    ) -> OfDesign:
        """Compare the estimates of all strengths with their values in a large sample."""
        generator = np.random.default_rng(2)
        y, scores = simulate(generator, population, design.means, round_to=design.round_to)
        return cls(
            design,
            hand_till_score(y, scores),
            {
                strength: Quality.of(
                    part["dmf_auc"],
                    ends[ends["strength"] == strength],
                    dmf_auc_score(y, scores, shrinkage=strength),
                )
                for strength, part in table.groupby("strength")
            },
        )

    def row(self, cells: list[str]) -> list[str]:
        """Return a row of a table that begins with the design."""
        return [self.design.name, str(self.design.n), *cells]

    def bias_row(self) -> list[str]:
        """Return a row of the table of biases."""
        truths = (f"{self.qualities[s].truth:.4f}" for s in (0.0, 1.0))
        cells = [f"{q.bias:+.4f} ({q.ratio:+.2f})" for q in self.qualities.values()]
        return self.row([f"{self.m:.4f}", *truths, *cells])


def worst_rows(found: list[OfDesign]) -> list[list[str]]:
    """Return for each strength what is worst of all designs."""
    rows = []
    for s in STRENGTHS:
        qualities = [of_design.qualities[s] for of_design in found]
        against_0 = [
            of_design.qualities[s].rmse / of_design.qualities[0.0].rmse for of_design in found
        ]
        coverages = [q.coverage for q in qualities]
        rows.append(
            [
                f"{s:g}",
                f"{max(abs(q.ratio) for q in qualities):.2f}",
                f"{min(against_0):.2f} / {np.median(against_0):.2f} / {max(against_0):.2f}",
                f"{100 * min(coverages):.1f} / {100 * np.median(coverages):.1f} / "
                f"{100 * max(coverages):.1f}",
            ]
        )
    return rows


def power_table(table: pd.DataFrame) -> str:
    """Return how often each strength, and M, reject equality."""
    names = [*(f"{s:g}" for s in STRENGTHS), "M"]
    rows = [
        [contrast, f"{gap:g}", *(f"{100 * (part[name] < 0.05).mean():.1f}" for name in names)]
        for (contrast, gap), part in table.groupby(["contrast", "gap"], sort=False)
    ]
    return markdown_table(["difference", "gap", *names], rows)


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


def page(
    table: pd.DataFrame,
    ends: pd.DataFrame,
    decided: pd.DataFrame,
    population: int,
    n_splits: int,
) -> str:
    """Report the studies."""
    n_samples, n_intervals = (x["replication"].nunique() for x in (table, ends))
    keys = ["design", "n"]
    of_design = dict(iter(ends.groupby(keys)))
    found = [
        OfDesign.of(design_of(*setting), part, of_design[setting], population)
        for setting, part in table.groupby(keys, sort=False)
    ]
    strengths = [f"{s:g}" for s in STRENGTHS]
    bias_table = markdown_table(
        ["design", "n", "M", "AUC, no shrinkage", "AUC, shrinkage 1", *strengths],
        [x.bias_row() for x in found],
    )
    coverage_table = markdown_table(
        ["design", "n", *strengths],
        [x.row([f"{100 * q.coverage:.1f}" for q in x.qualities.values()]) for x in found],
    )
    worst_table = markdown_table(
        ["strength", "largest bias / sd", "RMSE, times that of 0", "coverage, %"],
        worst_rows(found),
    )
    n_pairs = decided["replication"].nunique()
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

The default is {DEFAULT_SHRINKAGE:g}. Where all pairs are equally difficult the strength makes no
difference to the truth, only to the bias. Where they are not, the AUC moves from the
maximum-likelihood centre towards M.

## Bias, error and coverage of all designs

The largest ratio of bias to standard deviation; least, median and greatest root mean squared error
of all designs, in units of that without shrinkage, and coverage of the 95 % intervals (jackknife):

{worst_table}

Coverage in percent by design, of {n_intervals} samples each, with a Monte Carlo error of
{100 * np.sqrt(0.0475 / n_intervals):.1f} points:

{coverage_table}

## Power

How often two classifiers are told apart, in percent of {n_pairs} test sets of each kind, by the
DMF-AUC of each strength and by M; the kinds of differences are those of [power](power.md), the
level 5 %, the Monte Carlo error of a power of one half {50 / np.sqrt(n_pairs):.1f} points; all
columns have the same test sets.

{power_table(decided)}

Which of them sees more depends on where the classifiers differ: the less shrinkage, the more an
easy pair counts, and the less a hard one.

No strength is the best on all counts. The bias is least from 0.5 on. The root mean squared error,
of each strength about its own value, is least for maximum likelihood where the pairs of three
classes are unequal, whose AUC is closer to one, and hardly differs elsewhere. Power goes either
way. The default keeps the bias small.

## Decision trees on iris

Halves of the data, M and the DMF-AUC for the same strengths. Setosa is separated perfectly from
the other two species.

{iris_table}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        few = study(DESIGNS[:1]), interval_study(DESIGNS[:1]), power_study(COMPARISONS[:1])
        print(page(*(run_study(x, options) for x in few), population=3000, n_splits=2))
    else:
        all_three = study(DESIGNS), interval_study(DESIGNS), power_study(COMPARISONS)
        text = page(*(run_study(x, options) for x in all_three), POPULATION, n_splits=10)
        write_page("regularization", text)
