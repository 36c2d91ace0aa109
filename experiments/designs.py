"""Whether the designs beyond one test set hold what they promise: coverage, size and power."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from scipy import stats
from scipy.stats import qmc
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import dmfroc
from dmfroc import (
    Predictions,
    compare,
    compare_runs,
    compare_subgroups,
    dmf_auc_score,
    estimate,
)
from dmfroc.applications import nested_cross_validation, plan
from dmfroc.measures import MEASURES, dmf_auc

MEASURES_OF_DESIGNS = ("hand_till", "dmf_auc", "informedness")
LEARNERS = {
    "logistic": LogisticRegression(),
    "25 neighbours": KNeighborsClassifier(25, algorithm="brute"),
    "forest": RandomForestClassifier(20, min_samples_leaf=5, random_state=0),
}
CORRELATION = 0.7
STANDARD_ERROR = 0.018  # of the difference of two models' areas: the mean over 100 samples
LEVEL = 0.95
FRESH_OF_CLASS = 1 << 11
MANY, N_PAIRS, N_THRESHOLDS = 30, (60, 200, 435), 19  # classes, and the last are all pairs
POPULATION_OF_PAIRS = 200_000
PILOT = 300_000
TRAINING_SETS = 200  # behind the performance of a learner


def shifted(noise: np.ndarray, y: np.ndarray) -> np.ndarray:
    return noise + 1.3 * np.eye(3, 5)[y]


def features(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = generator.permutation(np.arange(n) % 3)
    return shifted(generator.normal(size=(n, 5)), y), y


@functools.cache
def population() -> tuple[np.ndarray, np.ndarray]:
    """Return fresh cases, quasi-random within each class: as good as many more random ones."""
    y = np.repeat(np.arange(3), FRESH_OF_CLASS)
    normal = [
        qmc.MultivariateNormalQMC(np.zeros(5), rng=c).random(FRESH_OF_CLASS) for c in range(3)
    ]
    return shifted(np.concatenate(normal), y), y


def splits(generator: np.random.Generator, y: np.ndarray, n_folds: int) -> list:
    seed = int(generator.integers(2**31))
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))


def folds(generator: np.random.Generator, learner: str, n: int, n_folds: int) -> dict:
    """Cross-validate once; the truth is the mean of the fitted models in the population."""
    x, y = features(generator, n)
    fresh, classes = population()
    scores, fold = np.empty((n, 3)), np.empty(n, int)
    truths: dict[str, list[float]] = {name: [] for name in MEASURES_OF_DESIGNS}
    for number, (train, test) in enumerate(splits(generator, y, n_folds)):
        fitted = clone(LEARNERS[learner]).fit(x[train], y[train])
        scores[test], fold[test] = fitted.predict_proba(x[test]), number
        large = fitted.predict_proba(fresh)
        for name in MEASURES_OF_DESIGNS:
            truths[name].append(MEASURES[name](classes, large))
    row = {}
    for name in MEASURES_OF_DESIGNS:
        truth = np.mean(truths[name])
        for kind, options in (("", {"folds": fold}), ("_pooled", {})):
            found = estimate(name, y, scores, **options)
            row[f"{name}{kind}_covered"] = found.interval[0] <= truth <= found.interval[1]
            row[f"{name}{kind}_error"] = found.value - truth
            row[f"{name}{kind}_se"] = found.standard_error
    return row


@functools.cache
def performance(learner: str, n: int) -> float:
    """Return the mean of M in the population, over training sets of n cases."""
    fresh, classes = population()
    generator = np.random.default_rng(n)
    values = []
    for _ in range(TRAINING_SETS):
        fitted = clone(LEARNERS[learner]).fit(*features(generator, n))
        values.append(MEASURES["hand_till"](classes, fitted.predict_proba(fresh)))
    return float(np.mean(values))


def algorithm(generator: np.random.Generator, learner: str, n: int, n_folds: int) -> dict:
    """Estimate how well a learner does: by nested cross-validation, and from the folds alone."""
    x, y = features(generator, n)
    seed = int(generator.integers(2**31))
    nested = nested_cross_validation(
        LEARNERS[learner], x, y, measure="hand_till", cv=n_folds, n_repeats=10, random_state=seed
    )
    scores, fold = np.empty((n, 3)), np.empty(n, int)
    for number, (train, test) in enumerate(splits(generator, y, n_folds)):
        scores[test] = clone(LEARNERS[learner]).fit(x[train], y[train]).predict_proba(x[test])
        fold[test] = number
    # The values in the folds are those of smaller training sets, for which only nesting corrects.
    inside = performance(learner, n - n // n_folds)
    found = {
        "nested": (nested.estimate, performance(learner, n)),
        "corrected": (
            estimate("hand_till", y, scores, folds=dmfroc.Folds(fold, target="learner")),
            inside,
        ),
        "fits": (estimate("hand_till", y, scores, folds=fold), inside),
    }
    row = {}
    for name, (of_learner, truth) in found.items():
        low, high = of_learner.interval
        row |= {f"{name}_covered": low <= truth <= high, f"{name}_width": high - low}
    return row


def models(generator: np.random.Generator, n_models: int, design: str) -> dict:
    """Compare models that are all equal, and perhaps one that is 4 standard errors apart."""
    n = 400
    y = np.repeat([0, 1], n // 2)
    area = np.full(n_models, stats.norm.cdf(1.2 / np.sqrt(2)))
    if design != "equal":
        gap = 4 * STANDARD_ERROR
        area = np.append(area, area[0] + (gap if design == "and a better one" else -gap))
    shifts = np.sqrt(2) * stats.norm.ppf(area)
    common = generator.normal(size=n)
    scores = {
        f"{place}": np.sqrt(CORRELATION) * common
        + np.sqrt(1 - CORRELATION) * generator.normal(size=n)
        + shift * y
        for place, shift in enumerate(shifts)
    }
    found = compare(y, scores, measures="hand_till", simultaneous=True)
    winner = found.winner
    truth = area[int(winner.name)]
    low, high = found.estimates[winner.name].interval
    stays = np.isin(list(scores), found.best_set())
    is_best, equal = area == area.max(), set(list(scores)[:n_models])
    return {
        "rejects": any(
            d.adjusted_p_value < 1 - LEVEL
            for d in found.differences
            if {d.first, d.second} <= equal
        ),
        "naive": low <= truth <= high,
        "covered": winner.interval[0] <= truth <= winner.interval[1],
        "best_kept": stays[is_best].mean(),
        "worse_excluded": np.nan if is_best.all() else 1 - stays[~is_best].mean(),
    }


def subgroups(generator: np.random.Generator, strength: float) -> dict:
    """Compare three groups of which none differs."""
    sizes = (200, 100, 60)
    by = np.repeat(["a", "b", "c"], sizes)
    y = np.concatenate([np.arange(size) % 3 for size in sizes])
    scores = generator.normal(size=(len(y), 3)) + strength * np.eye(3)[y]
    found = compare_subgroups(y, scores, by, measures="hand_till")
    return {
        "omnibus": found.omnibus.p_value < 1 - LEVEL,
        "covered": all(d.interval[0] <= 0 <= d.interval[1] for d in found.differences),
        "rejects": any(d.adjusted_p_value < 1 - LEVEL for d in found.differences),
    }


def runs(generator: np.random.Generator, n_runs: int) -> dict:
    """Compare equal learners whose runs vary by about as much as the sampling of cases."""
    n = 300
    y = np.arange(n) % 3
    case = generator.normal(size=(n, 3))

    def scores_of_runs() -> list[np.ndarray]:
        return [
            0.8 * case
            + 0.6 * generator.normal(size=(n, 3))
            + (1.2 + 0.12 * generator.normal()) * np.eye(3)[y]
            for _ in range(n_runs)
        ]

    scores = {"A": scores_of_runs(), "B": scores_of_runs()}
    [single] = compare(y, {k: v[0] for k, v in scores.items()}, measures="hand_till").differences
    row = {"single": single.p_value < 1 - LEVEL}
    for crossed in (True, False):
        found = compare_runs(y, scores, measures="hand_till", crossed=crossed)
        kind = "crossed" if crossed else "nested"
        row[f"{kind}_random"] = found.random_runs.p_value < 1 - LEVEL
        row[f"{kind}_fixed"] = found.fixed_runs.p_value < 1 - LEVEL
    return row


def paired(generator: np.random.Generator, n: int, gap: float) -> dict[str, Predictions]:
    y = np.arange(n) % 3
    common = generator.normal(size=(n, 3))
    return {
        name: Predictions.from_arrays(
            y, common + 0.7 * generator.normal(size=(n, 3)) + shift * np.eye(3)[y]
        )
        for name, shift in (("a", 1.5 + gap), ("b", 1.5))
    }


@functools.cache
def plans(measure: str) -> tuple:
    """Plan from a large pilot: for a half-width of 0.03, and for the pilot's own difference.

    Of a pilot of 6,000 the difference in informedness was a tenth too large, and so the power.
    """
    pilots = paired(np.random.default_rng(1), PILOT, 0.3)
    first = plan(pilots["a"], measure=measure, half_width=0.03)
    gap = estimate(measure, pilots["a"]).value - estimate(measure, pilots["b"]).value
    return first, plan(pilots, measure=measure, difference=gap, power=0.8)


def planned(generator: np.random.Generator, measure: str) -> dict:
    """Draw samples of the planned sizes."""
    of_width, of_power = plans(measure)
    low, high = estimate(measure, paired(generator, of_width.n, 0.3)["a"]).interval
    [difference] = compare(paired(generator, of_power.n, 0.3), measures=measure).differences
    return {"half_width": (high - low) / 2, "rejects": difference.p_value < 1 - LEVEL}


def many_classes(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores of classes some of which are told apart well, and others hardly."""
    y = np.arange(n) % MANY
    scores = generator.normal(size=(n, MANY))
    scores[np.arange(n), y] += np.linspace(0.2, 3, MANY)[y]
    return y, scores


@functools.cache
def area_of_all_pairs() -> float:
    """Return the area of all pairs in a sample so large that its error does not matter."""
    return dmf_auc_score(
        *many_classes(np.random.default_rng(0), POPULATION_OF_PAIRS), n_thresholds=N_THRESHOLDS
    )


def sampled_pairs(generator: np.random.Generator, size: int) -> list[dict]:
    """Return values, errors and intervals from samples of the pairs and from all of them."""
    sample = many_classes(generator, size * MANY)
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


REPLICATIONS = 100


def studies() -> dict[str, Study]:
    common = {"replications": REPLICATIONS, "seed": 1, "directory": RESULTS}
    few = grid(learner=list(LEARNERS), n=[300, 1000], n_folds=[5])
    few += grid(learner=list(LEARNERS), n=[300], n_folds=[10])
    many = grid(n_models=[5, 20], design=["equal"])
    many += grid(n_models=[50], design=["and a worse one", "and a better one"])
    learned = grid(learner=["logistic", "25 neighbours"], n=[300], n_folds=[5])
    return {
        "models": Study("designs_models", models, many, **common),
        "folds": Study("designs_folds", folds, few, **common),
        "algorithm": Study("designs_algorithm", algorithm, learned, **common),
        "subgroups": Study(
            "designs_subgroups",
            subgroups,
            grid(strength=[1.0, 2.0]),
            **common,
        ),
        "runs": Study("designs_runs", runs, grid(n_runs=[5]), **common),
        "pairs": Study("sampled_pairs", sampled_pairs, grid(size=[20, 100]), **common),
        "plans": Study(
            "designs_plans",
            planned,
            grid(measure=MEASURES_OF_DESIGNS),
            **common,
        ),
    }


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def with_error(shares: pd.Series) -> str:
    """Return a mean share in percent with its Monte Carlo error; nothing where there is none."""
    if shares.isna().all():
        return ""
    return f"{percent(shares.mean())} ± {percent(shares.std(ddof=0) / np.sqrt(len(shares)))}"


N_LEAST, N_MOST = 5, 3  # rows of the table of folds that cover least and most


def folds_table(table: pd.DataFrame) -> str:
    rows = [
        [
            learner,
            n,
            n_folds,
            MEASURES[name].title,
            percent(part[f"{name}_covered"].mean()),
            percent(part[f"{name}_pooled_covered"].mean()),
        ]
        for (learner, n, n_folds), part in table.groupby(["learner", "n", "n_folds"], sort=False)
        for name in MEASURES_OF_DESIGNS
    ]
    rows.sort(key=lambda row: float(row[4]))
    rows = rows[:N_LEAST] + rows[N_LEAST:][-N_MOST:]
    for name in MEASURES_OF_DESIGNS:
        of_folds, pooled = (
            with_error(table[f"{name}_{kind}"]) for kind in ("covered", "pooled_covered")
        )
        rows.append(["**all**", "", "", MEASURES[name].title, of_folds, pooled])
    header = ["learner", "n", "folds", "measure", "coverage, %"]
    return markdown_table([*header, "pooled scores cover, %"], rows)


def algorithm_table(table: pd.DataFrame) -> str:
    methods = {
        "nested": "nested cross-validation",
        "corrected": "corrected resampling",
        "fits": "these fits",
    }
    rows = [
        [
            learner,
            title,
            with_error(part[f"{name}_covered"]),
            f"{part[f'{name}_width'].mean():.4f}",
        ]
        for learner, part in table.groupby("learner", sort=False)
        for name, title in methods.items()
    ]
    return markdown_table(["learner", "interval", "coverage, %", "mean width"], rows)


def models_table(table: pd.DataFrame) -> str:
    rows = [
        [
            n_models,
            design,
            with_error(part["rejects"]),
            with_error(1 - part["naive"]),
            with_error(part["covered"]),
            with_error(part["best_kept"]),
            with_error(part["worse_excluded"]),
        ]
        for (n_models, design), part in table.groupby(["n_models", "design"], sort=False)
    ]
    header = ["models", "design", "a difference of equal ones significant, %"]
    header += ["naive interval of the winner misses, %", "ours covers, %"]
    return markdown_table([*header, "best set has the best, %", "excludes a worse one, %"], rows)


def subgroups_table(table: pd.DataFrame) -> str:
    rows = [
        [
            f"{strength:g}",
            *(with_error(part[name]) for name in ("omnibus", "rejects", "covered")),
        ]
        for strength, part in table.groupby("strength")
    ]
    header = ["strength", "omnibus test rejects, %", "some difference significant, %"]
    return markdown_table([*header, "all intervals cover, %"], rows)


def runs_table(table: pd.DataFrame) -> str:
    names = {
        "single": "paired test of one run each",
        "crossed_fixed": "these runs, crossed",
        "nested_fixed": "these runs, independent",
        "crossed_random": "new runs, crossed",
        "nested_random": "new runs, independent",
    }
    rows = [[title, with_error(table[name])] for name, title in names.items()]
    return markdown_table(["test", "rejects, %"], rows)


def plans_table(table: pd.DataFrame) -> str:
    rows = []
    for measure, part in table.groupby("measure", sort=False):
        of_width, of_power = plans(measure)
        rows.append(
            [
                MEASURES[measure].title,
                of_width.n,
                f"{of_width.half_width(of_width.n):.4f}",
                f"{part['half_width'].mean():.4f}",
                of_power.n,
                percent(of_power.power(of_power.n)),
                with_error(part["rejects"]),
            ]
        )
    header = ["measure", "planned n", "predicted half-width", "mean half-width"]
    return markdown_table([*header, "planned n", "predicted power, %", "power, %"], rows)


def pairs_table(table: pd.DataFrame) -> str:
    rows, true = [], area_of_all_pairs()
    for (size, n_pairs), part in table.groupby(["size", "n_pairs"]):
        error = part["value"] - true
        ratio = np.sqrt((part["standard_error"] ** 2).mean()) / error.std()
        covers = (part["low"] <= true) & (true <= part["high"])
        numbers = f"{error.mean():+.4f}", f"{error.std():.4f}", f"{ratio:.2f}"
        rows.append([size, "all" if n_pairs == max(N_PAIRS) else n_pairs, *numbers])
        rows[-1].append(with_error(covers))
    header = ["observations of a class", "pairs", "bias", "sd", "SE / sd", "coverage, %"]
    return markdown_table(header, rows)


def page(tables: dict[str, pd.DataFrame]) -> str:
    n = {name: table.replication.nunique() for name, table in tables.items()}
    return f"""# Designs beyond one test set

Made by `experiments/designs.py`. Nominal coverage is 95 %, the level of the tests 5 %; what follows
± is the Monte Carlo error of one standard deviation.

## Cross-validation, these fits

Three classes, five normal features. The truth of a sample is the mean, over its fitted models, of
their value in {3 * FRESH_OF_CLASS:,} fresh cases (quasi-random ones);
{n["folds"]} samples of each row. These are the {N_LEAST} of
{3 * len(studies()["folds"].settings)} rows that cover least, the {N_MOST} that cover most, and all
together;
`experiments/results/designs_folds.parquet` has the others.

{folds_table(tables["folds"])}

## Cross-validation, the learner

M of learners with 300 cases and five folds. The truth is the mean over {TRAINING_SETS} training
sets: of 300 cases for nested cross-validation (10 repeats), of 240 for the others, as in the folds.
There are {n["algorithm"]} samples.

{algorithm_table(tables["algorithm"])}

## The best of many models

Two classes of 200 cases, scores of the models correlated {CORRELATION}. The models are equally
good; in some designs there is one more, four standard errors of a difference worse or better.
Differences are those of the equal ones. The winner's naive interval is that of a model named
beforehand. Where several models are best, each counts. There are {n["models"]} samples.

{models_table(tables["models"])}

## Subgroups

Three equal groups of 200, 100 and 60 cases, three classes; the family of differences is that of
every two groups and of each and all others. There are {n["subgroups"]} samples.

{subgroups_table(tables["subgroups"])}

## Several training runs

Two equally good learners, five independent runs of each, whose quality varies by about as much as
the sampling of 300 cases; {n["runs"]} samples.

{runs_table(tables["runs"])}

## How many cases

Planned from a pilot of {PILOT:,} cases, then simulated at the planned number of cases
({n["plans"]} samples of each).

{plans_table(tables["plans"])}

## Samples of the pairs of classes

{MANY} classes have {max(N_PAIRS)} pairs; `n_pairs=` draws some of them at random. Scores are normal
and raised in the column of the true class, by 0.2 for the first class to 3 for the last, so that
pairs differ. The area of all pairs is {area_of_all_pairs():.4f} in {POPULATION_OF_PAIRS:,}
observations; {n["pairs"]} samples of each size.

{pairs_table(tables["pairs"])}

The standard error adds the error from the draw of the pairs to that from the observations.
"""


def main() -> None:
    global FRESH_OF_CLASS, TRAINING_SETS, PILOT, POPULATION_OF_PAIRS
    options = arguments(__doc__, is_study=True)
    if options.quick:
        FRESH_OF_CLASS, TRAINING_SETS, PILOT, POPULATION_OF_PAIRS = 256, 3, 20_000, 3000
    tables = run_studies(studies(), options)
    text = page(tables)
    if options.quick:
        print(text)
    else:
        write_page("designs", text)


if __name__ == "__main__":
    main()
