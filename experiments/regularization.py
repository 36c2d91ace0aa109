"""How strongly the pair effects should be shrunk: a rule, and what it needs to be known."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import power
import trust
from _study import RESULTS, arguments, markdown_table, run_studies, simulate, write_page
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from dmfroc import Predictions, compare, estimate, hand_till_score
from dmfroc.analyses.evidence import evidence_of
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.options import Options
from dmfroc.measures import dmf_auc
from dmfroc.measures.measure import bind
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE
from dmfroc.simulation.study import Study, grid

STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 1.0)
MEASURES = {s: dmf_auc(shrinkage=s) for s in STRENGTHS}
POPULATION = 120_000
REPLICATIONS, OF_MANY_CLASSES = 400, 100
IMPERFECT_REPLICATIONS = 100
LEAST_COVERAGE, CHANCE, MOST_RMSE, LEAST_SHARE = 0.92, 0.025, 1.1, 0.01
ERROR = 0.05
N_PROBES, STEP = 2, 0.25
COMPARISONS = (
    ("all pairs", 0.1),
    ("one hard pair", 1.2),
    ("one easy pair", 1.5),
    ("near-perfect", 0.4),
    ("skewed, large hard pair", 0.8),
    ("skewed, small hard pair", 2.0),
)
CONFUSED_3 = np.array([[1, 0.3, -0.5], [0.2, 1, -0.8], [-0.6, -0.6, 1.4]])
CONFUSED_6 = np.random.default_rng(5).normal(size=(6, 6)) * 0.4 + np.eye(6)
RULE = f"""The default is the smallest of the strengths {", ".join(f"{s:g}" for s in STRENGTHS)}
for which all of this holds; it was written down before the study was run:

* **No false perfection.** No classifier with M below one has an area or a standard error that is
  perfect: 1 less the area is at least a hundredth of 1 less M, and the standard error at least a
  hundredth of M's.
* **Coverage.** The standard interval covers its own value in the population in at least
  {100 * LEAST_COVERAGE:g} % of the samples of every design, unless chance explains fewer in
  {100 * CHANCE:g} % of such designs. A design in which every strength covers less does not count.
* **Error.** The root mean squared error about its own value is at most {MOST_RMSE:g} times that of
  the best strength, in every design."""


@dataclass(frozen=True)
class Design:
    """A population and a sample size."""

    n: int
    means: np.ndarray
    round_to: int | None = None
    is_on_line: bool = False  # one normal score; the classifier has the posterior probabilities

    def sample(self, generator: np.random.Generator, n: int) -> dict:
        """Draw the arguments of `dmfroc.evaluate`."""
        if self.is_on_line:
            y = np.arange(n) % len(self.means)
            x = generator.normal(size=n) + self.means[y]
            scores = np.exp(-((x[:, None] - self.means) ** 2) / 2)
            scores /= scores.sum(axis=1, keepdims=True)
            if self.round_to is not None:
                scores = np.round(scores * self.round_to) / self.round_to
        else:
            y, scores = simulate(generator, n, self.means, round_to=self.round_to)
        return {"y_true": y, "y_score": scores, "stratify": True}


_LINE_3, _LINE_6 = np.array([0, 1, 4.0]), np.array([0, 0.6, 1.2, 2.5, 4.5, 7])
SOFTMAX = {
    "K=3, n=75": Design(75, 1.85 * np.eye(3)),
    "K=6, n=120": Design(120, 1.95 * np.eye(6)),
    "K=6, n=120, rounded": Design(120, 2.2 * np.eye(6), 5),
    "K=6, n=600, rounded": Design(600, 2.05 * np.eye(6), 5),
    "K=3, n=300, near-perfect": Design(300, 3.35 * np.eye(3)),
    "K=3, n=75, unequal": Design(75, 1.85 * CONFUSED_3),
    "K=6, n=120, unequal": Design(120, 1.6 * CONFUSED_6),
    "K=6, n=120, unequal, rounded": Design(120, 2.2 * CONFUSED_6, 5),
    "K=6, n=600, unequal, rounded": Design(600, 2.0 * CONFUSED_6, 5),
    "K=3, n=300, unequal, near-perfect": Design(300, 3.1 * CONFUSED_3),
}
LINE = {
    "K=3 on a line, n=75": Design(75, _LINE_3, is_on_line=True),
    "K=3 on a line, n=300": Design(300, _LINE_3, is_on_line=True),
    "K=6 on a line, n=120": Design(120, _LINE_6, is_on_line=True),
    "K=6 on a line, n=600": Design(600, _LINE_6, is_on_line=True),
    "K=6 on a line, n=120, rounded": Design(120, _LINE_6, 5, is_on_line=True),
    "K=4, one far away, n=150": Design(150, np.array([0, 0.7, 1.4, 7]), is_on_line=True),
}
OWN = SOFTMAX | LINE
MANY_CLASSES = ("K=20, n=600", "K=30, 5 of each", "K=50, n=500")
OF_TRUST = (
    *(name for name, design in trust.DESIGNS.items() if len(design.sizes) > 2),
    *(name for name in trust.POOLS if len(trust.population_of(name).sizes) > 2),
)
OF_TRUST = tuple(x for x in OF_TRUST if x not in MANY_CLASSES and x != "breast cancer, naive Bayes")


def population(name: str) -> Predictions:
    """Return a large sample of a design."""
    generator = np.random.default_rng(2)
    if name in OWN:
        drawn = OWN[name].sample(generator, POPULATION)
        y, scores = drawn["y_true"], drawn["y_score"]
    elif name in trust.POOLS:
        y, scores = trust.pool(name)
    else:
        design = trust.DESIGNS[name]
        times = max(trust.POPULATION // sum(design.sizes), 1)
        drawn = trust.draw(generator, design, times)
        y, scores = drawn["y_true"], drawn["y_score"]
    return Predictions.from_arrays(y, scores, labels=range(scores.shape[1]))


@functools.cache
def truths(name: str) -> dict[float | str, float]:
    """Return M and the area of every strength in the population."""
    large = population(name)
    return {"M": hand_till_score(large)} | {s: m(large) for s, m in MEASURES.items()}


def probes(true: np.ndarray, unit_of_row: np.ndarray, step: float) -> np.ndarray:
    """Return weights 1 + step and 1 - step, each for half of the units of each class."""
    _, first_row = np.unique(unit_of_row, return_index=True)
    classes, generator, found = true[first_row], np.random.default_rng(0), []
    for _ in range(N_PROBES):
        order = np.lexsort((generator.random(len(classes)), classes))
        sign = np.empty(len(classes))
        sign[order] = np.where(np.arange(len(classes)) % 2 == 0, 1.0, -1.0)
        found += [1 + step * sign[unit_of_row], 1 - step * sign[unit_of_row]]
    return np.array(found)


def intervals(generator: np.random.Generator, design: str) -> list[dict]:
    """Return the area, its interval and its bias by probes, for every strength."""
    drawn = OWN[design].sample(generator, OWN[design].n) if design in OWN else None
    drawn = drawn or trust.sample(generator, design)
    options = Options(stratify=drawn.pop("stratify", None), groups=drawn.pop("groups", None))
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evidence = evidence_of(needs="scores", options=options, **drawn)
        predictions, units = evidence.sample
        for strength, measure in MEASURES.items():
            bound = bind(measure, predictions)
            [facts] = facts_of([measure], bound, evidence.sample)
            ends = facts.unbiased_interval_at(ERROR)
            row = {
                "strength": strength,
                "value": facts.value,
                "se": facts.moments.standard_error,
                "low": ends.low,
                "high": ends.high,
            }
            for name, step in (("halves", 1.0), ("curvature", STEP)):
                weights = probes(predictions.true, units.of_row, step)
                weights *= predictions.sample_weight
                near = bound.values_of_each(weights)
                row[name] = (float(np.mean(near)) - facts.value) / step**2
            rows.append(row)
    return rows


def decisions(generator: np.random.Generator, contrast: str, gap: float) -> dict:
    """Compare two classifiers by the DMF-AUC of every strength, and by M."""
    pair = power.draw(generator, contrast, gap)
    measures = {f"{s:g}": m for s, m in MEASURES.items()} | {"M": "hand_till"}
    return {
        name: compare(pair, measure=measure).differences[0].p_value
        for name, measure in measures.items()
    }


def _of_iris(model: object) -> Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]:
    def halves(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        features, y = load_iris(return_X_y=True)
        train, test, y_train, y_test = train_test_split(
            features, y, test_size=0.5, random_state=int(generator.integers(1 << 31))
        )
        return y_test, model.fit(train, y_train).predict_proba(test)

    return halves


def _separated(means: tuple[float, ...], n: int, round_to: int | None = None) -> Callable:
    design = Design(n, np.array(means), round_to, is_on_line=True)

    def sample(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        drawn = design.sample(generator, n)
        return drawn["y_true"], drawn["y_score"]

    return sample


IMPERFECT = {
    "tree on iris": _of_iris(DecisionTreeClassifier(random_state=0)),
    "tree of depth 2 on iris": _of_iris(DecisionTreeClassifier(max_depth=2, random_state=0)),
    "naive Bayes on iris": _of_iris(GaussianNB()),
    "neighbours on iris": _of_iris(KNeighborsClassifier(5)),
    "logistic on iris": _of_iris(LogisticRegression(max_iter=1000)),
    "one pair confused, two separated": _separated((0, 1, 12), 90),
    "one pair confused, five separated": _separated((0, 1, 12, 24), 120),
    "one pair separated, scores of two values": _separated((0, 1, 4), 75, 1),
    "two of six pairs confused, scores of six values": _separated((0, 1, 9, 10), 120, 5),
}


def imperfect(generator: np.random.Generator, kind: str) -> list[dict]:
    """Return areas and errors of a classifier of which some pairs are perfect, and M's."""
    y, scores = IMPERFECT[kind](generator)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_m = estimate("hand_till", y, scores)
        for strength, measure in MEASURES.items():
            found = estimate(measure, y, scores)
            rows.append(
                {
                    "strength": strength,
                    "M": of_m.value,
                    "M_se": of_m.standard_error,
                    "value": found.value,
                    "se": found.standard_error,
                }
            )
    return rows


def studies() -> dict[str, Study]:
    common = {"seed": 3, "directory": RESULTS}
    contrasts = [{"contrast": contrast, "gap": gap} for contrast, gap in COMPARISONS]
    return {
        "imperfect": Study(
            "regularization_imperfect",
            imperfect,
            grid(kind=list(IMPERFECT)),
            replications=IMPERFECT_REPLICATIONS,
            **common,
        ),
        "intervals": Study(
            "regularization_intervals",
            intervals,
            grid(design=[*OWN, *OF_TRUST]),
            replications=REPLICATIONS,
            **common,
        ),
        "power": Study(
            "regularization_power", decisions, contrasts, replications=REPLICATIONS, **common
        ),
        "many": Study(
            "regularization_many",
            intervals,
            grid(design=list(MANY_CLASSES)),
            replications=OF_MANY_CLASSES,
            **common,
        ),
    }


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    tables = run_studies(studies(), options)
