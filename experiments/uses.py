"""Measure how often intervals and tests hold in designs of use, by measure and population."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from scipy import stats
from scipy.special import softmax

import dmfroc
from dmfroc import Predictions
from dmfroc.analyses.catalogue import get_measure
from dmfroc.applications import choose_threshold

LEVEL = 0.95
POPULATION = 100_000
SAMPLES_PER_BATCH = 10
LEAST = 0.92  # coverage; of a test at 5 %, 7 % of rejections
CHANCE = 0.025
MEASURES = (
    *("hand_till", "dmf_auc", "one_vs_rest_auc", "average_precision"),
    *("accuracy", "informedness", "macro_f1", "gorodkin_correlation"),
    *("brier_score", "log_loss", "expected_calibration_error", "max_informedness"),
)
OF_LABELS = ("accuracy", "informedness", "macro_f1", "gorodkin_correlation")
CHEAP = (*MEASURES[:6], "macro_f1", "brier_score", "log_loss")
DRAWN = ("hand_till", "average_precision", "accuracy", "brier_score")  # for bootstraps

NUMBERS = ("held", "above", "length", "value", "told")  # of a row

Row = dict[str, Any]


@dataclass(frozen=True)
class Population:
    """Classes, and two classifiers whose logits are normal and share half of their noise.

    Attributes
    ----------
    n : int
        Size of a sample.
    shares : tuple of float
        How frequent the classes are.
    shift : float
        By how much the logit of the own class exceeds the others on average.
    """

    n: int
    shares: tuple[float, ...]
    shift: float

    def draw(
        self, generator: np.random.Generator, n: int, n_classifiers: int = 2, of_group: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw classes, and the probabilities of each classifier, which are calibrated.

        Groups have so many rows, of any class, which share half of their noise.
        """
        k = len(self.shares)
        while True:
            y = generator.choice(k, n, p=self.shares)
            if len(np.unique(y)) == k:
                break
        shape = (n_classifiers, n, k)
        noise = (generator.normal(size=shape) + generator.normal(size=shape[1:])) / np.sqrt(2)
        if of_group > 1:
            shared = generator.normal(size=(-(-n // of_group), k))
            noise = (noise + np.repeat(shared, of_group, axis=0)[:n]) / np.sqrt(2)
        logits = self.shift * (noise + self.shift * np.eye(k)[y]) + np.log(self.shares)
        return y, softmax(logits, axis=-1)


POPULATIONS = {
    "ordinary": Population(300, (0.4, 0.35, 0.25), 1.3),
    "rare class": Population(400, (0.6, 0.35, 0.05), 1.6),
    "near perfection": Population(200, (0.4, 0.3, 0.3), 3.6),
    "small": Population(60, (0.5, 0.5), 1.2),
}


@functools.cache
def truths(name: str) -> dict[str, float]:
    """Return the values of all measures in the population."""
    y, scores = POPULATIONS[name].draw(np.random.default_rng(0), POPULATION, 1)
    large = Predictions.from_arrays(y, scores[0])
    return {measure: _value(measure, large) for measure in MEASURES}


def _value(measure: str, predictions: Predictions) -> float:
    return float(get_measure(measure)(predictions))


@functools.cache
def truths_at(name: str, shares: tuple[float, ...]) -> dict[str, float]:
    """Return the values in a population with these class shares."""
    population = POPULATIONS[name]
    y, scores = population.draw(np.random.default_rng(0), POPULATION, 1)
    weights = np.array(shares)[y] / np.bincount(y)[y]
    large = Predictions.from_arrays(y, scores[0], sample_weight=weights * len(y))
    return {measure: _value(measure, large) for measure in MEASURES}


def _covered(measure: str, truth: float, estimate: Any) -> Row:
    low, high = estimate.interval
    return {
        "measure": measure,
        "held": bool(low <= truth <= high),
        "above": bool(truth < low),
        "length": high - low,
        "value": estimate.value,
        "told": bool(estimate.warnings),
    }


def _tested(measure: str, p_value: float, told: bool) -> Row:
    return {"measure": measure, "held": bool(p_value >= 1 - LEVEL), "told": told}


def _evaluated(true: dict[str, float], measures: tuple[str, ...], **given: Any) -> list[Row]:
    """Estimate each measure by itself, so that one that is refused does not hide the others."""
    rows = []
    for measure in measures:
        try:
            found = dmfroc.estimate(measure, level=LEVEL, **given)
        except (TypeError, ValueError) as error:
            rows.append({"measure": measure, "refused": str(error)[:60]})
            continue
        rows.append(_covered(measure, true[measure], found))
    return rows


# Designs of use: each yields a row for each measure


def plain(generator: np.random.Generator, name: str) -> list[Row]:
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    return _evaluated(truths(name), MEASURES, y_true=y, y_score=scores[0])


def groups(generator: np.random.Generator, name: str, *, n_groups: int) -> list[Row]:
    n = POPULATIONS[name].n
    of_group = n // n_groups
    y, scores = POPULATIONS[name].draw(generator, n, of_group=of_group)
    given = {"y_true": y, "y_score": scores[0], "groups": np.arange(n) // of_group}
    return _evaluated(truths(name), MEASURES, **given)


def folds(generator: np.random.Generator, name: str) -> list[Row]:
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    folds = np.empty(len(y), int)
    folds[np.argsort(y, kind="stable")] = np.arange(len(y)) % 5
    chosen = tuple(x for x in MEASURES if x not in ("average_precision", "max_informedness"))
    return _evaluated(truths(name), chosen, y_true=y, y_score=scores[0], folds=folds)


def judge(
    generator: np.random.Generator, name: str, *, drawn: str, right: float = 0.95
) -> list[Row]:
    population = POPULATIONS[name]
    n = 5 * population.n
    y, scores = population.draw(generator, n)
    k = len(population.shares)
    said = np.where(generator.random(n) < right, y, generator.integers(k, size=n))
    certain = scores[0].max(axis=1)
    given: dict[str, Any] = {}
    if drawn == "random":
        verified = generator.permutation(n) < population.n
    elif drawn == "probability":
        chance = 0.02 + 1 - certain
        chance = np.minimum(chance * population.n / chance.sum(), 1)
        verified, given = generator.random(n) < chance, {"probability": chance}
    else:
        strata = np.searchsorted(np.quantile(certain, [0.25, 0.5, 0.75]), certain)
        rank = pd.Series(generator.random(n)).groupby(strata).rank().to_numpy()
        verified, given = rank <= population.n / 4, {"strata": strata}
    hidden = np.where(verified, y.astype(float), np.nan)
    if len(np.unique(y[verified])) < k:
        return []
    return _evaluated(
        truths(name), MEASURES, y_true=hidden, y_score=scores[0], judge=dmfroc.Judge(said, **given)
    )


def labels(generator: np.random.Generator, name: str) -> list[Row]:
    """Estimate the mean over labels, each of which is whether a row is of one of the classes."""
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n, 1)
    true = np.eye(scores.shape[2])[y]
    rows = []
    for measure in MEASURES:
        given = {"y_pred": scores[0] > 0.5} if measure in OF_LABELS else {}
        found = dmfroc.applications.multilabel(
            true, scores[0], measure=measure, level=LEVEL, **given
        )
        rows.append(_covered(measure, truths_of_labels(name)[measure], *found.estimates.values()))
    return rows


@functools.cache
def truths_of_labels(name: str) -> dict[str, float]:
    y, scores = POPULATIONS[name].draw(np.random.default_rng(0), POPULATION, 1)
    parts = [
        Predictions.from_arrays(y == label, p, y_pred=p > 0.5)
        for label, p in enumerate(scores[0].T)
    ]
    return {x: float(np.mean([_value(x, part) for part in parts])) for x in MEASURES}


def target(generator: np.random.Generator, name: str) -> list[Row]:
    k = len(POPULATIONS[name].shares)
    shares = tuple((np.arange(k, 0, -1) / np.arange(k + 1).sum()).tolist())
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    given = {"y_true": y, "y_score": scores[0], "population": list(shares)}
    return _evaluated(truths_at(name, shares), MEASURES, **given)


def compared(generator: np.random.Generator, name: str, *, simultaneous: bool) -> list[Row]:
    """Compare equally good classifiers: two by a test, or four with simultaneous intervals."""
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n, 4 if simultaneous else 2)
    named = {f"c{i}": x for i, x in enumerate(scores)}
    rows = []
    for measure in CHEAP:
        options: dict[str, Any] = {"measures": measure, "simultaneous": simultaneous}
        found = dmfroc.compare(y, named, **options)
        told = bool(found.warnings)
        if simultaneous:
            covers = [d.interval[0] <= 0 <= d.interval[1] for d in found.differences]
            rows.append({"measure": measure, "held": all(covers), "told": told})
        else:
            rows.append(_tested(measure, found.differences[0].p_value, told))
    return rows


def margins(generator: np.random.Generator, name: str) -> list[Row]:
    """Test non-inferiority of a classifier that is worse by just the margin: 5 % may pass."""
    population = POPULATIONS[name]
    y, scores = population.draw(generator, population.n)
    spoilt = _spoilt(name, scores[0], generator)
    rows = []
    for measure in CHEAP:
        lost = _lost(name)[measure]
        found = dmfroc.compare(
            y,
            {"new": spoilt, "old": scores[1]},
            measures=measure,
            test=dmfroc.NonInferiority(abs(lost)),
        )
        rows.append(_tested(measure, found.differences[0].p_value, bool(found.warnings)))
    return rows


def _spoilt(name: str, scores: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    noise = generator.normal(size=scores.shape) * 0.6 * POPULATIONS[name].shift
    return softmax(np.log(scores + 1e-300) + noise, axis=-1)


@functools.cache
def _lost(name: str) -> dict[str, float]:
    generator = np.random.default_rng(1)  # of both on the same rows, whose noise cancels
    y, scores = POPULATIONS[name].draw(generator, 4 * POPULATION, 1)
    spoilt = _spoilt(name, scores[0], generator)
    better, worse = (Predictions.from_arrays(y, x) for x in (scores[0], spoilt))
    return {x: _value(x, better) - _value(x, worse) for x in CHEAP}


def subgroups(generator: np.random.Generator, name: str) -> list[Row]:
    population = POPULATIONS[name]
    y, scores = population.draw(generator, population.n)
    by = np.searchsorted([0.4, 0.75], generator.random(population.n)).astype(str)
    rows = []
    for measure in CHEAP:
        try:
            found = dmfroc.compare_subgroups(y, scores[0], by=by, measures=measure)
        except ValueError as error:
            rows.append({"measure": measure, "refused": str(error)[:60]})
            continue
        rows.append(_tested(measure, found.omnibus.p_value, bool(found.warnings)))
    return rows


def runs(generator: np.random.Generator, name: str) -> list[Row]:
    population = POPULATIONS[name]
    y, scores = population.draw(generator, population.n, 8)
    named = {"a": list(scores[:4]), "b": list(scores[4:])}
    return [
        _tested(measure, found.random_runs.differences[0].p_value, bool(found.warnings))
        for measure in CHEAP
        for found in [dmfroc.compare_runs(y, named, measures=measure)]
    ]


def chosen(generator: np.random.Generator, name: str) -> list[Row]:
    """Choose a threshold; the truth is the value of this threshold in the population."""
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    last = len(POPULATIONS[name].shares) - 1
    true, score = _population_of_last(name)
    rows = []
    for by in ("youden", "f1", "accuracy", "specificity", "sensitivity"):
        given: dict[str, Any] = {"by": by, "n_draws": 100, "random_state": 1}
        if by in ("specificity", "sensitivity"):
            given["at_least"] = 0.9
        found = choose_threshold(y == last, scores[0][:, last], **given)
        decided = score >= found.threshold.value
        tpr, fpr = decided[true].mean(), decided[~true].mean()
        truth = {
            "youden": tpr - fpr,
            "f1": 2 * decided[true].sum() / (decided.sum() + true.sum()),
            "accuracy": (decided == true).mean(),
            "specificity": tpr,
            "sensitivity": 1 - fpr,
        }[by]
        low, high = found.value.interval
        row = {
            "measure": f"by {by}",
            "held": bool(low <= truth <= high),
            "above": bool(truth < low),
        }
        rows.append(row | {"length": high - low, "told": bool(found.warnings)})
    return rows


@functools.cache
def _population_of_last(name: str) -> tuple[np.ndarray, np.ndarray]:
    y, scores = POPULATIONS[name].draw(np.random.default_rng(0), POPULATION, 1)
    last = len(POPULATIONS[name].shares) - 1
    return y == last, scores[0][:, last]


def bootstrap(generator: np.random.Generator, name: str) -> list[Row]:
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    given = {"y_true": y, "y_score": scores[0], "method": dmfroc.Bootstrap(200)}
    return _evaluated(truths(name), DRAWN, **given)


def bayes(generator: np.random.Generator, name: str) -> list[Row]:
    y, scores = POPULATIONS[name].draw(generator, POPULATIONS[name].n)
    given = {"y_true": y, "y_pred": scores[0].argmax(axis=1), "method": "bayes"}
    return _evaluated(truths(name), OF_LABELS, **given)


USES: dict[str, Callable[[np.random.Generator, str], list[Row]]] = {
    "plain": plain,
    "5 groups": functools.partial(groups, n_groups=5),
    "12 groups": functools.partial(groups, n_groups=12),
    "40 groups": functools.partial(groups, n_groups=40),
    "five folds": folds,
    "judge, random": functools.partial(judge, drawn="random"),
    "judge, by probability": functools.partial(judge, drawn="probability"),
    "judge, by strata": functools.partial(judge, drawn="strata"),
    "judge that hardly errs": functools.partial(judge, drawn="random", right=0.995),
    "labels": labels,
    "target prevalence": target,
    "test of two": functools.partial(compared, simultaneous=False),
    "four at once": functools.partial(compared, simultaneous=True),
    "margin": margins,
    "subgroups": subgroups,
    "training runs": runs,
    "threshold chosen": chosen,
    "bootstrap": bootstrap,
    "Bayes": bayes,
}


def cell(generator: np.random.Generator, use: str, population: str) -> list[dict]:
    """Return what a batch of samples shows: a row of each measure and sample."""
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(SAMPLES_PER_BATCH):
            rows += USES[use](generator, population)
    return [
        {"measure": row["measure"], "refused": row.get("refused", "")}
        | {name: float(row.get(name, np.nan)) for name in NUMBERS}
        for row in rows
    ]


def studies() -> dict[str, Study]:
    """Return the study of all uses but judges, and that of judges, which take longer."""
    of_judges = [use for use in USES if "judge" in use]
    return {
        name: Study(
            name,
            cell,
            grid(use=uses, population=[*POPULATIONS]),
            replications=replications,
            seed=1,
            directory=RESULTS,
        )
        for name, uses, replications in (
            ("uses", [use for use in USES if use not in of_judges], 20),
            ("uses_judges", of_judges, 20),
        )
    }


def cells_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each use, population and measure."""
    by = table.groupby(["use", "population", "measure"], sort=False)
    missed = table[table["held"] == 0].groupby(["use", "population", "measure"], sort=False)
    found = by["held"].agg(["count", "mean"]).rename(columns={"count": "samples"})
    found["above"] = by["above"].mean()
    sd, length = by["value"].std(), by["length"].median()
    found["length"] = length / (2 * stats.norm.ppf((1 + LEVEL) / 2) * sd.replace(0, np.nan))
    found["told_misses"] = missed["told"].mean()
    hits = np.round(found["mean"] * found["samples"])
    found["fails"] = stats.binom.cdf(hits, found["samples"], LEAST) < CHANCE
    return found.reset_index()


def _most_of_failing(n: int) -> float:
    """Return the largest share of samples that is below `LEAST` beyond chance."""
    return float(stats.binom.ppf(CHANCE, n, LEAST) - 1) / n


def _table(cells: pd.DataFrame) -> str:
    rows = [
        [
            f"`{row.measure}`",
            row.use,
            row.population,
            row.samples,
            f"{100 * row.mean:.1f}",
            "" if np.isnan(row.above) else f"{100 * row.above:.1f}",
            "" if np.isnan(row.length) else f"{row.length:.2f}",
            "" if np.isnan(row.told_misses) else f"{100 * row.told_misses:.0f}",
        ]
        for row in cells.itertuples()
    ]
    header = ["measure", "use", "population", "samples", "holds, %", "interval too high, %"]
    return markdown_table([*header, "length, oracles", "misses with a warning, %"], rows)


def _by_use(cells: pd.DataFrame) -> str:
    """Return how often all measures together hold in each use, and the worst of them."""
    populations, rows = sorted(cells["population"].unique()), []
    for use in USES:
        of = cells[cells["use"] == use]
        shares = [100 * of.loc[of["population"] == x, "mean"] for x in populations]
        if len(of):
            rows.append(
                [use, *(f"{x.min():.0f} / {x.median():.0f}" if len(x) else "" for x in shares)]
            )
    return markdown_table(["use", *populations], rows)


def page(cells: pd.DataFrame) -> str:
    """Return the page, with the worst cells first."""
    known = cells[cells["samples"] > 0].sort_values("mean")
    n = int(known["samples"].median())
    fails = known[known["fails"]]
    warned = fails["told_misses"].fillna(0) >= 0.9
    return f"""# Can I trust it in use?

Made by `experiments/uses.py`. [Can I trust it?](trust.md) studies every measure in plain calls.
This page studies measures in the designs of use in the second table, each in four populations:
ordinary, with a rare class, near perfection, and small. All
intervals and tests have the level 95 %.

An interval holds if it covers the truth. A test holds if it does not reject a null hypothesis
that is true. With a margin, the null hypothesis is that the new classifier is worse by exactly
the margin. There are {n} samples of most cells, and {known["samples"].min()} or more of each. The
Monte Carlo error of a share is {100 * np.sqrt(LEVEL * (1 - LEVEL) / n):.1f} points.

{len(known)} cells were studied. {len(fails)} of them hold less often than in {100 * LEAST:g} %,
beyond chance: of {n} samples in {100 * _most_of_failing(n):.0f} % or less.
In {int(warned.sum())} of these at least 90 % of the misses have a warning.
[Uncertainty](../uncertainty.md) says which
designs have a warning, and why.

## The worst cells

{_table(known.head(max(5, len(fails))))}

## All uses

How often they hold, in per cent: the measure for which it is least often, and the median.

{_by_use(known)}
"""


def main() -> None:
    options = arguments(__doc__, is_study=True)
    chosen = studies()
    if options.quick:
        del chosen["uses_judges"]
    table = pd.concat(run_studies(chosen, options).values())
    cells = cells_of(table)
    print(_table(cells.sort_values("mean").head(25)))
    if not options.quick:
        write_page("uses", page(cells))


if __name__ == "__main__":
    main()
