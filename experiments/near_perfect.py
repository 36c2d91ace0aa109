"""Coverage and length of the default intervals in populations that are nearly free of errors."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from _study import RESULTS, arguments, markdown_table, write_page
from scipy.special import expit, logit
from scipy.stats import binomtest

from dmfroc import Predictions, evaluate
from dmfroc.measures import get_measure

LEVEL, Z = 0.95, 1.96
POOL = 100_000  # observations of a population; its values are computed from all of them
N_WORST = 5  # cells in a table
N_SAMPLES = 200
MEASURES = (
    "hand_till",
    "dmf_auc",
    "one_vs_rest_auc",
    "average_precision",
    "informedness",
    "accuracy",
    "balanced_accuracy",
    "macro_f1",
    "weighted_f1",
    "correlation",
    "cohen_kappa",
    "brier_score",
    "brier_skill_score",
    "log_loss",
    "f1",
)

Pool = tuple[np.ndarray, np.ndarray]  # classes and probabilities
Noise = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True)
class Population:
    """What samples are drawn from, and how many of each class to expect.

    Attributes
    ----------
    sizes : tuple of int
        Expected observations of each class; the classes are drawn.
    shift : float
        By how much the logit of an observation's own class exceeds the others on average.
    noise : callable
        Draws the noise of the logits.
    label_noise, inverted : float
        Shares of the observations whose class is another one, and whose logits are reversed.
    is_tied : bool
        Whether the probabilities are votes of ten.
    model, data : str, optional
        Instead of normal logits: a model that was fitted to half of some data of scikit-learn, and
        predicts the other half, which is resampled.
    role : {"ordinary", "smooth", "noisy"}
        With what it is summarized.
    is_chosen : bool
        Whether the rule was looked at here; the others confirm it.
    """

    sizes: tuple[int, ...]
    shift: float = 3.0
    noise: Noise = lambda generator, shape: generator.normal(size=shape)
    label_noise: float = 0.0
    inverted: float = 0.0
    is_tied: bool = False
    model: str | None = None
    data: str = "digits"
    role: str = "smooth"
    is_chosen: bool = True


def heavy(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.standard_t(3, size=shape)


def cauchy(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.standard_t(1, size=shape)


def skewed(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.gamma(1.5, size=shape) - 1.5


POPULATIONS = {
    # Chosen
    "K=2, shift 2.5": Population((80, 80), 2.5),
    "K=3, shift 2.7": Population((60, 60, 60), 2.7),
    "K=10, shift 3": Population((30,) * 10, 3.0),
    "K=4, uneven, skewed": Population((150, 90, 60, 30), 3.2, skewed),
    "digits, logistic": Population((30,) * 10, model="logistic"),
    "digits, forest, n=600": Population((60,) * 10, model="forest"),
    "K=2, 2 % label noise": Population((80, 80), 5.0, label_noise=0.02, role="noisy"),
    "K=5, 1 % label noise": Population((60,) * 5, 5.0, label_noise=0.01, role="noisy"),
    "K=3, Cauchy": Population((60, 60, 60), 30.0, cauchy, role="noisy"),
    "K=3, tied votes": Population((60, 60, 60), 2.7, is_tied=True, role="noisy"),
    "K=2, 3 % inverted": Population((100, 100), 4.0, inverted=0.03, role="noisy"),
    "K=2, shift 1": Population((60, 60), 1.0, role="ordinary"),
    "K=3, shift 1.5": Population((60, 60, 60), 1.5, role="ordinary"),
    "K=4, uneven, shift 1.5": Population((120, 80, 60, 40), 1.5, role="ordinary"),
    "K=3, one class of 2 %": Population((300, 188, 12), 1.5, role="rare"),
    "K=3, one class of 1 %, shift 3": Population((1000, 480, 20), 3.0, role="rare"),
    # Confirming
    "K=2, heavy tails": Population((120, 60), 8.0, heavy, role="noisy", is_chosen=False),
    "K=2, uneven, shift 2.3": Population((200, 40), 2.3, is_chosen=False),
    "K=4, shift 3.1": Population((50,) * 4, 3.1, is_chosen=False),
    "K=6, skewed": Population((40,) * 6, 4.0, skewed, is_chosen=False),
    "K=20, shift 3.3": Population((20,) * 20, 3.3, is_chosen=False),
    "digits, neighbours": Population((40,) * 10, model="neighbours", is_chosen=False),
    "digits, boosting": Population((25,) * 10, model="boosting", is_chosen=False),
    "K=2, 1 % label noise, n=100": Population(
        (50, 50), 6.0, label_noise=0.01, role="noisy", is_chosen=False
    ),
    "K=3, 3 % label noise": Population(
        (100, 60, 40), 5.0, label_noise=0.03, role="noisy", is_chosen=False
    ),
    "K=8, 1 % inverted": Population((40,) * 8, 5.0, inverted=0.01, role="noisy", is_chosen=False),
    "K=5, heavy tails": Population((50,) * 5, 10.0, heavy, role="noisy", is_chosen=False),
    "K=2, shift 0.7, uneven": Population((150, 50), 0.7, role="ordinary", is_chosen=False),
    "K=5, shift 1.2": Population((50,) * 5, 1.2, role="ordinary", is_chosen=False),
    "K=10, shift 2, heavy tails": Population(
        (40,) * 10, 2.0, heavy, role="ordinary", is_chosen=False
    ),
    "K=2, one class of 2 %": Population((980, 20), 2.0, role="rare", is_chosen=False),
    "K=4, two classes of 2 %": Population((400, 368, 16, 16), 2.0, role="rare", is_chosen=False),
}


# Never looked at by anybody who chose a rule; `trust` draws from them
FRESH = {
    "breast cancer, naive Bayes": Population((100, 60), model="bayes", data="breast_cancer"),
    "wine, neighbours": Population((25, 30, 20), model="neighbours", data="wine"),
    "digits, tree": Population((30,) * 10, model="tree"),
    "K=4, lognormal noise": Population(
        (80, 60, 40, 30), 2.0, lambda generator, shape: generator.lognormal(size=shape)
    ),
}


def population_of(name: str) -> Population:
    """Return what a pool is drawn from."""
    return (POPULATIONS | FRESH)[name]


def _softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@functools.cache
def pool(name: str) -> Pool:
    """Return a population."""
    population = population_of(name)
    if population.model is not None:
        return _predicted(population.model, population.data)
    generator = np.random.default_rng(7)
    sizes = np.array(population.sizes)
    y = np.repeat(np.arange(len(sizes)), np.maximum(POOL * sizes // sizes.sum(), 1))
    n, k = len(y), len(sizes)
    sign = np.where(generator.random(n) < population.inverted, -1, 1)
    logits = population.noise(generator, (n, k))
    logits += population.shift * sign[:, None] * np.eye(k)[y]
    is_wrong = generator.random(n) < population.label_noise
    y = np.where(is_wrong, (y + generator.integers(1, k, n)) % k, y)
    scores = _softmax(np.clip(logits, -500, 500))
    return y, np.round(10 * scores) / 10 if population.is_tied else scores


def _predicted(model: str, data: str) -> Pool:
    from sklearn import datasets
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    models = {
        "logistic": LogisticRegression(C=0.01, max_iter=2000),
        "forest": RandomForestClassifier(100, random_state=0),
        "neighbours": KNeighborsClassifier(10),
        "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    }
    x, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    is_training = np.random.default_rng(5).permutation(len(y)) < len(y) // 2
    fitted = models[model].fit(x[is_training], y[is_training])
    return y[~is_training], fitted.predict_proba(x[~is_training])


def sample_of(name: str, generator: np.random.Generator) -> Pool:
    """Draw a sample in which every class occurs twice."""
    y, scores = pool(name)
    sizes = population_of(name).sizes
    while True:
        rows = generator.integers(len(y), size=sum(sizes))
        if np.bincount(y[rows], minlength=len(sizes)).min() >= 2:
            return y[rows], scores[rows]


def peer_interval(measure: str, value: float, error: float, n: int) -> tuple[float, float]:
    """Return the standard interval: logit of an area (DeLong), Wilson, or Wald."""
    if measure in ("accuracy", "balanced_accuracy"):
        found = binomtest(round(value * n), n).proportion_ci(LEVEL, method="wilson")
        return found.low, found.high
    if ("auc" in measure or measure == "hand_till") and 0 < value < 1:
        half = Z * error / (value * (1 - value))
        return tuple(expit(logit(value) + np.array([-half, half])))
    return value - Z * error, value + Z * error


def estimates(name: str, n_samples: int) -> list[dict]:
    """Return all estimates of a population's samples."""
    y, scores = pool(name)
    whole = Predictions.from_arrays(y, scores, labels=range(scores.shape[1]))
    names = [m for m in MEASURES if get_measure(m).applies_to(whole)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truths = {m: get_measure(m)(whole) for m in names}
        generator = np.random.default_rng([3, list(POPULATIONS).index(name)])
        rows = []
        for number in range(n_samples):
            drawn = sample_of(name, generator)
            found = evaluate(*drawn, measures=names, labels=range(scores.shape[1]))
            for measure, estimate in found.estimates.items():
                low, high = estimate.interval
                value, error = estimate.value, estimate.standard_error
                peer = peer_interval(measure, value, error, len(drawn[0]))
                truth = truths[measure]
                rows.append(
                    {
                        "population": name,
                        "measure": measure,
                        "number": number,
                        "truth": truth,
                        "value": value,
                        "left": truth < low,
                        "right": truth > high,
                        "length": high - low,
                        "told": bool(estimate.warnings),
                        "peer": peer[0] <= truth <= peer[1],
                        "peer_length": peer[1] - peer[0],
                    }
                )
    return rows


def cells_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each population and measure: coverage in percent, length in oracles."""
    by = rows.groupby(["population", "measure"], sort=False)
    means = by[["truth", "left", "right", "length", "told", "peer", "peer_length"]].mean()
    oracle = by["value"].quantile(0.975) - by["value"].quantile(0.025)
    cells = means.assign(samples=by.size(), oracle=oracle)
    cells[["length", "peer_length"]] = means[["length", "peer_length"]].div(oracle, axis=0)
    cells[["left", "right", "told", "peer"]] *= 100
    cells["coverage"] = 100 - cells["left"] - cells["right"]
    cells = cells.reset_index()
    cells["role"] = cells["population"].map(lambda name: POPULATIONS[name].role)
    cells["chosen"] = cells["population"].map(lambda name: POPULATIONS[name].is_chosen)
    return cells


def summary(cells: pd.DataFrame) -> str:
    """Return coverage and length by measure and kind of population."""
    rows = []
    for measure, of in cells[cells["role"] != "ordinary"].groupby("measure"):
        rows.append(
            [
                f"`{measure}`",
                f"{of['coverage'].min():.1f} / {of['coverage'].median():.1f}",
                f"{of['length'].mean():.2f}",
                f"{of['peer'].min():.1f} / {of['peer'].median():.1f}",
            ]
        )
    order = {name: place for place, name in enumerate(MEASURES)}
    rows.sort(key=lambda row: order[row[0].strip("`")])
    header = ["measure", "coverage, least / median", "length", "peer's coverage"]
    return markdown_table(header, rows)


def worst(cells: pd.DataFrame) -> str:
    """Return the cells that cover least."""
    rows = [
        [
            f"`{cell.measure}`",
            cell.population,
            f"{cell.coverage:.1f}",
            f"{cell.left:.1f} / {cell.right:.1f}",
            f"{cell.length:.2f}",
            f"{cell.told:.0f}",
        ]
        for cell in cells.sort_values("coverage", kind="stable").head(N_WORST).itertuples()
    ]
    header = ["measure", "population", "coverage, %", "left / right misses, %", "length"]
    return markdown_table([*header, "with a warning, %"], rows)


def page(cells: pd.DataFrame) -> str:
    n = int(cells["samples"].max())
    error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / n)
    n_populations = cells["population"].nunique()
    return f"""# Honest and short: intervals near perfection

Made by `experiments/near_perfect.py`: coverage and length of the default 95 % intervals in
{n} samples of each of {n_populations} populations. The Monte Carlo error of a coverage of 95 %
is {error:.1f} points.

Lengths are in oracles: the distance between the 2.5 and 97.5 % quantiles of the values in the
samples. If samples often have no error, no interval that covers is that short: about 1.5 to 1.9
is the least ([why](../uncertainty.md)).

The populations are smooth, noisy (wrong labels, heavy tails, ties, inverted observations), have a
rare class, or are ordinary (values below .97), which only the file of results has. Peers are the
logit interval of
areas (DeLong), Wilson's of accuracies, and Wald's of all others. All cells are in
`experiments/results/near_perfect.csv`.

## The worst cells

A miss on the left has the truth below the interval.

{worst(cells)}

## All measures

{summary(cells)}
"""


def main() -> None:
    options = arguments(__doc__)
    names = list(POPULATIONS)[:1] if options.quick else list(POPULATIONS)
    start = time.time()
    rows = []
    for name in names:
        rows += estimates(name, 5 if options.quick else N_SAMPLES)
        print(f"{name}: {time.time() - start:.0f} s", flush=True)
    cells = cells_of(pd.DataFrame(rows))
    if options.quick:
        print(summary(cells))
        return
    cells.round(4).to_csv(RESULTS / "near_perfect.csv", index=False)
    write_page("near_perfect", page(cells))


if __name__ == "__main__":
    main()
