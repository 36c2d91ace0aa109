"""Which scores the thresholds of a pair are quantiles of: a rule, and what it needs to be known."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from _datasets import design_matrix, load_dataset
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, simulate, write_page
from regularization import CONFUSED_3, CONFUSED_6
from scipy.stats import binom
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dmfroc import Measure, Predictions, compare, dmf_auc_score, estimate, hand_till_score
from dmfroc.measures import dmf_auc, hand_till
from dmfroc.measures.measure import bind

POOLS = ("column", "balanced")
POPULATION, REPLICATIONS, N_EXAMPLE = 120_000, 40, 1000
MOST_GAP, MOST_RMSE, LEAST_COVERAGE, CHANCE, MOST_CHANGE = 0.01, 1.1, 0.92, 0.025, 1e-12
SKEWED = (0.8, 0.15, 0.05)
STRENGTHS, N_THRESHOLDS, LEAST_SHARE = (0.01, 0.02, 0.05, 0.1, 0.2, 1.0), (9, 19, 49, 99), 0.01
FEW_CASES, N_SEEDS = ((3, 3.0), (8, 3.0), (8, 4.0), (15, 4.0), (30, 3.0), (30, 4.0), (30, 5.0)), 8
SETS = ("iris", "wine", "digits", "glass", "tae", "car", "zoo", "waveform5000")
SHIPPED = {"wine": load_wine, "digits": load_digits}
CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": GaussianNB(),
    "tree of depth 4": DecisionTreeClassifier(max_depth=4, random_state=0),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
}
RULE = f"""`threshold_pool="column"` is the default if all of this holds; it was written down
before the
study was run:

* **Invariance.** Increasing transformations of a column, and repeating all cases of a class,
  change the area by
  at most {MOST_CHANGE:g}.
* **Fidelity.** In populations whose columns share a scale it is at most {MOST_GAP:g} away from
  the centre that the
  paper calls unweighted: with the same strength of shrinkage, which is 0 there.
* **Error.** In every design, the root mean squared error about its own value in the population is
  at most
  {MOST_RMSE:g} times that of `"balanced"`.
* **Coverage.** Its default interval covers that value in at least {100 * LEAST_COVERAGE:g} % of
  the samples of every
  design, unless chance explains fewer in {100 * CHANCE:g} % of such designs, or `"balanced"`
  covers less, too."""


@dataclass(frozen=True)
class Design:
    """A population and a sample size."""

    n: int
    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
    has_one_scale: bool = True  # of all columns, so that the paper's pools mean something


def posterior(means: tuple[float, ...], prior: tuple[float, ...] | None = None) -> Callable:
    """Return what draws the exact posterior probabilities of classes on a line."""

    def draw(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        k = len(means)
        y = np.arange(n) % k if prior is None else generator.choice(k, n, p=prior)
        x = generator.normal(size=n) + np.array(means)[y]
        scores = np.exp(-((x[:, None] - np.array(means)) ** 2) / 2) * (prior or np.ones(k))
        return y, scores / scores.sum(axis=1, keepdims=True)

    return draw


def softmax(means: np.ndarray, round_to: int | None = None) -> Callable:
    """Return what draws the softmax of normal logits."""
    return functools.partial(_softmax, means=means, round_to=round_to)


def _softmax(generator: np.random.Generator, n: int, **options: object) -> tuple:
    return simulate(generator, n, **options)


LINE_3, LINE_6, FAR = (0, 1, 4.0), (0, 0.6, 1.2, 2.5, 4.5, 7), (0, 0.7, 1.4, 7)
DESIGNS = {
    "K=3, n=75": Design(75, softmax(1.85 * np.eye(3))),
    "K=3, n=300": Design(300, softmax(1.85 * np.eye(3))),
    "K=6, n=120": Design(120, softmax(1.95 * np.eye(6))),
    "K=6, n=120, rounded": Design(120, softmax(2.2 * np.eye(6), 5)),
    "K=3, n=300, near-perfect": Design(300, softmax(3.35 * np.eye(3))),
    "K=3, n=75, unequal": Design(75, softmax(1.85 * CONFUSED_3), has_one_scale=False),
    "K=6, n=120, unequal": Design(120, softmax(1.6 * CONFUSED_6), has_one_scale=False),
    "K=6, n=600, unequal": Design(600, softmax(1.6 * CONFUSED_6), has_one_scale=False),
    "K=12, n=240": Design(240, softmax(1.5 * np.eye(12))),
    "K=3 on a line, n=75": Design(75, posterior(LINE_3)),
    "K=3 on a line, n=300": Design(300, posterior(LINE_3)),
    "K=6 on a line, n=120": Design(120, posterior(LINE_6)),
    "K=4, one far away, n=150": Design(150, posterior(FAR)),
    "K=3, posterior of unequal classes, n=500": Design(
        500, posterior((0, 1, 2.5), SKEWED), has_one_scale=False
    ),
}


@functools.cache
def truths(name: str) -> dict[str, float]:
    """Return the areas in the population, without shrinkage too, and M."""
    large = Predictions.from_arrays(*DESIGNS[name].draw(np.random.default_rng(2), POPULATION))
    found = {pool: dmf_auc_score(large, threshold_pool=pool) for pool in POOLS}
    found["column, no shrinkage"] = dmf_auc_score(large, shrinkage=0)
    return found | {"paper": dmf_auc_score(large, preset="unweighted"), "M": hand_till_score(large)}


def intervals(generator: np.random.Generator, design: str) -> list[dict]:
    """Return the area and its default interval by both pools."""
    y, scores = DESIGNS[design].draw(generator, DESIGNS[design].n)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pool in POOLS:
            found = estimate(dmf_auc(threshold_pool=pool), y, scores)
            low, high = found.interval
            rows.append({"pool": pool, "value": found.value, "low": low, "high": high})
    return rows


def changes() -> dict[str, float]:
    """Return by how much the area of a sample changes with what must not change it."""
    y, p = DESIGNS["K=4, one far away, n=150"].draw(np.random.default_rng(5), 150)
    area = dmf_auc_score(y, p)
    repeated = np.concatenate([np.arange(len(y)), *[np.flatnonzero(y == 0)] * 9])
    ranks = p.argsort(axis=0).argsort(axis=0)
    transformed = {
        "exp of each column, times its number": np.exp(p) * np.arange(1, 5),
        "ranks in each column": ranks,
        "logits": np.log(p) - np.log1p(-p),
    }
    found = {name: dmf_auc_score(y, scores) for name, scores in transformed.items()}
    found["class 0 ten times"] = dmf_auc_score(y[repeated], p[repeated])
    return {name: abs(x - area) for name, x in found.items()}


def example() -> list[list[str]]:
    """Compare a posterior of unequal classes with the same scores for equal ones."""
    generator = np.random.default_rng(1)
    y = generator.choice(3, N_EXAMPLE, p=SKEWED)
    odds = np.exp(1.5 * generator.normal(size=(N_EXAMPLE, 3)) + 2.25 * np.eye(3)[y])
    named = {"posterior": odds * SKEWED, "equal": odds}
    named = {name: x / x.sum(axis=1, keepdims=True) for name, x in named.items()}
    rows = []
    for title, measure in (
        *((f"DMF-AUC, `{pool}`", dmf_auc(threshold_pool=pool)) for pool in POOLS),
        ("Hand-Till M", "hand_till"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(y, named, measures=measure)
        [difference] = found.differences
        values = [f"{estimate(measure, y, s).value:.3f}" for s in named.values()]
        rows.append([title, *values, f"{difference.value:+.3f}", f"{difference.p_value:.2g}"])
    return rows


def real_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes."""
    if name in SHIPPED:
        return SHIPPED[name](return_X_y=True)
    data = load_dataset(name)
    return design_matrix(data).fit_transform(data.X), data.y


def real_rows(*, quick: bool) -> tuple[list[list[str]], int, int]:
    """Return areas of cross-validated classifiers, and in how many sets they have M's order."""
    rows, same, n_sets = [], {pool: 0 for pool in (*POOLS, "paper")}, 0
    for name in SETS[: 1 if quick else None]:
        (features, y), of_set = real_data(name), []
        for title, model in CLASSIFIERS.items():
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p = cross_val_predict(model, features, y, cv=folds, method="predict_proba")
                p = np.round(p, 9)  # without differences that other computers do not have
                areas = [dmf_auc_score(y, p, preset="unweighted")]
                areas += [dmf_auc_score(y, p, threshold_pool=pool) for pool in POOLS[::-1]]
                of_set.append([*areas, hand_till_score(y, p)])
            rows.append([name, title, *(f"{x:.4f}" for x in of_set[-1])])
        orders = np.argsort(of_set, axis=0)
        for place, pool in enumerate(("paper", "balanced", "column")):
            same[pool] += bool((orders[:, place] == orders[:, 3]).all())
        n_sets += 1
    return rows, same, n_sets


def design_rows(table: pd.DataFrame) -> tuple[list[list[str]], dict[str, bool]]:
    """Return the table of the designs, and which parts of the rule hold."""
    rows, holds = [], {"Fidelity": True, "Error": True, "Coverage": True}
    for design, of_design in table.groupby("design", sort=False):
        known, errors, coverages = truths(design), {}, {}
        for pool, x in of_design.groupby("pool"):
            errors[pool] = float(np.sqrt(((x["value"] - known[pool]) ** 2).mean()))
            coverages[pool] = float(((x["low"] <= known[pool]) & (known[pool] <= x["high"])).mean())
        n = len(of_design) // len(POOLS)
        gap = known["column, no shrinkage"] - known["paper"]
        ratio = errors["column"] / errors["balanced"]
        is_low = binom.cdf(round(coverages["column"] * n), n, LEAST_COVERAGE) < CHANCE
        holds["Fidelity"] &= abs(gap) <= MOST_GAP or not DESIGNS[design].has_one_scale
        holds["Error"] &= ratio <= MOST_RMSE
        holds["Coverage"] &= not is_low or coverages["balanced"] <= coverages["column"]
        rows.append(
            [
                design,
                *(f"{known[x]:.4f}" for x in ("M", "paper", "column")),
                f"{gap:+.4f}" + ("" if DESIGNS[design].has_one_scale else " (no common scale)"),
                f"{ratio:.2f}",
                *(f"{100 * coverages[pool]:.1f}" for pool in POOLS),
            ]
        )
    return rows, holds


def error(measure: Measure, predictions: Predictions) -> tuple[float, float]:
    """Return the value and the standard error by the influences, without what guards against 0."""
    bound = bind(measure, predictions)
    [value], [gradient] = bound.values_and_gradients(np.ones(len(predictions.true)))
    sizes = np.bincount(predictions.true)[predictions.true]
    return float(value), float(np.sqrt((sizes / (sizes - 1) * gradient**2).sum()))


def shares(*, quick: bool) -> dict[tuple[int, float], float]:
    """Return by thresholds and strength the least share of M's loss, or of its error, that is left.

    Classes of two cases, most pairs of which are perfectly separated.
    """
    least = {(t, s): np.inf for t in N_THRESHOLDS for s in STRENGTHS}
    for n_classes, distance in FEW_CASES[: 1 if quick else None]:
        for seed in range(1 if quick else N_SEEDS):
            generator, y = np.random.default_rng(seed), np.repeat(np.arange(n_classes), 2)
            scores = generator.normal(size=(len(y), n_classes)) + distance * np.eye(n_classes)[y]
            predictions = Predictions.from_arrays(y, scores, labels=range(n_classes))
            m, of_m = error(hand_till(), predictions)
            for t, s in least if m < 1 - 1e-9 else ():
                area, of_area = error(dmf_auc(shrinkage=s, n_thresholds=t), predictions)
                least[t, s] = min(least[t, s], (1 - area) / (1 - m), of_area / of_m)
    return least


def strength_rows(least: dict[tuple[int, float], float]) -> list[list[str]]:
    """Return the least shares, those that are too small in bold."""

    def cell(share: float) -> str:
        return f"{share:.4f}" if share >= LEAST_SHARE else f"**{share:.4f}**"

    return [[t, *(cell(least[t, s]) for s in STRENGTHS)] for t in N_THRESHOLDS]


def study() -> Study:
    settings = grid(design=list(DESIGNS))
    options = {"replications": REPLICATIONS, "seed": 5, "directory": RESULTS}
    return Study("threshold_pools", intervals, settings, **options)


def page(table: pd.DataFrame, *, quick: bool) -> str:
    """Report the study."""
    rows, holds = design_rows(table)
    changed = changes()
    holds = {"Invariance": max(changed.values()) <= MOST_CHANGE} | holds
    real, same, n_sets = real_rows(quick=quick)
    far = sorted(real, key=lambda row: -abs(float(row[3]) - float(row[4])))[:3]
    least = shares(quick=quick)
    header = ["design", "M", "paper's", "column", "column - paper's, no shrinkage"]
    header += ["RMSE, column / balanced"]
    verdict = ", ".join(f"{name}: {'holds' if x else '**fails**'}" for name, x in holds.items())
    counts = ", ".join(f"{pool} {x}" for pool, x in same.items())
    return f"""# From which scores the thresholds come

Made by `experiments/threshold_pools.py`: {len(table) // len(POOLS) // table["design"].nunique()}
samples of each design, populations of {POPULATION:,} observations.

The thresholds of the ordered pair (i, j) are quantiles of a pool of scores: of both classes in
column i (`"column"`), or of both classes in both columns (`"balanced"`, and `"pooled"`, where every
observation counts equally, as in the paper). Two columns in one pool need a common scale.

## The rule

{RULE}

{verdict}.

## What it finds

{
        markdown_table(
            [*header, "coverage, %, column", "balanced"],
            rows,
        )
    }

Largest change of the area: {"; ".join(f"{name} {x:.1g}" for name, x in changed.items())}.

## Two classifiers of unequal classes

The exact posterior probabilities of classes with the shares {", ".join(map(str, SKEWED))}, and the
same scores for equal shares. The first predict better. Logits are normal, and 1.5 standard
deviations larger in the true class; the sample has {N_EXAMPLE:,} observations.

{markdown_table(["measure", "posterior", "equal shares", "difference", "p"], example())}

## Real data

Classifiers in five-fold cross-validation, their scores taken as one classifier's. *Paper's* is
`preset="unweighted"`. Sets of {n_sets} in which the area puts the classifiers in M's order:
{counts}. These are the three rows in which `"column"` is farthest from
`"balanced"`.

{markdown_table(["data", "classifier", "paper's", "balanced", "column", "M"], far)}

## How strongly pair effects are shrunk

The rule: the default strength, 0.05, is raised to the smallest that is enough, if with it and the
default number of thresholds a classifier with M below one has a perfect area or standard error. 1
less the area should be at least {LEAST_SHARE:g} times 1 less M, and the standard error of the area
at least {LEAST_SHARE:g} times that of M. The designs have two cases of each of {FEW_CASES[0][0]} to
{FEW_CASES[-1][0]} classes, with M from .94 to .9997, and {N_SEEDS} samples of each.

The rule holds for {", ".join(f"{s:g}" for s in STRENGTHS if least[99, s] >= LEAST_SHARE)}: the
default stays. The table has the least share of all samples, by the number of thresholds and the
strength, those that are too small in bold.

{markdown_table(["thresholds", *(f"{s:g}" for s in STRENGTHS)], strength_rows(least))}
"""


def main() -> None:
    options = arguments(__doc__, is_study=True)
    table = run_studies({"pools": study()}, options)["pools"]
    text = page(table, quick=options.quick)
    print(text) if options.quick else write_page("threshold_pools", text)


if __name__ == "__main__":
    main()
