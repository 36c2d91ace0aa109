"""Coverage of the limits of mean scores, few items and rates near 0 and 1 included."""

from __future__ import annotations

import warnings

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.special import ndtri
from scipy.stats import binom

from dmfroc import estimate
from dmfroc.applications import items

SIZES = (10, 20, 50, 100)
RATES = np.arange(0.02, 0.981, 0.01)
F1_SIZES = (10, 30, 100)
N_SAMPLES = 1_000
N_SAMPLES_OF_F1 = 1_000
DISCORDANT = [(0.02, 0.02), (0.05, 0.0), (0.1, 0.1), (0.2, 0.05), (0.3, 0.0), (0.6, 0.1)]
GRADED = {
    "grades near 0.2, Beta(2, 8)": (2, 8, None),
    "grades at the ends, Beta(.2, .8)": (0.2, 0.8, None),
    "grades near 1, Beta(95, 5)": (95, 5, None),
    "5 repeats of items that differ, Beta(.5, .5)": (0.5, 0.5, 5),
    "3 repeats, nearly all right, Beta(9, .5)": (9, 0.5, 3),
}


def exact_coverage(n: int) -> list[object]:
    """Return smallest and mean coverage, and the mean length, over all true rates."""
    shares = np.arange(n + 1) / n
    of_all = [items({"m": np.arange(n) < k}).estimates["m"] for k in range(n + 1)]
    ends = np.array([x.interval for x in of_all])
    half = -ndtri(0.025) * np.sqrt(shares * (1 - shares) / n)
    plain = np.stack([shares - half, shares + half], axis=1)
    weights = binom.pmf(np.arange(n + 1)[:, None], n, RATES)
    found: list[object] = [n]
    for low, high in (ends.T, plain.T):
        coverage = (weights * ((low[:, None] <= RATES) & (high[:, None] >= RATES))).sum(axis=0)
        length = (weights * (high - low)[:, None]).sum(axis=0).mean()
        found += [f"{100 * coverage.min():.1f}", f"{100 * coverage.mean():.1f}", f"{length:.3f}"]
    return found


def coverage_of_limits(scores: np.ndarray, truth: float, bounds: tuple[float, float]) -> str:
    """Return how often the limits of the mean of each row hold the truth, and their length."""
    covers, lengths = [], []
    for row in scores:
        low, high = items({"m": row}, bounds=bounds).estimates["m"].interval
        covers.append(low <= truth <= high)
        lengths.append(high - low)
    return f"{100 * np.mean(covers):.1f} ({np.mean(lengths):.3f})"


def differences(generator: np.random.Generator) -> list[list[object]]:
    """Return the coverage of paired differences of zeros and ones."""
    rows = []
    for better, worse in DISCORDANT:
        row: list[object] = [f"{better:g} and {worse:g}"]
        for n in SIZES:
            draw = generator.random((N_SAMPLES, n))
            score = np.where(draw < better, 1.0, np.where(draw < better + worse, -1.0, 0.0))
            row.append(coverage_of_limits(score, better - worse, (-1.0, 1.0)))
        rows.append(row)
    return rows


def graded(generator: np.random.Generator) -> list[list[object]]:
    """Return the coverage of means of graded and of repeated scores."""
    rows = []
    for name, (a, b, repeats) in GRADED.items():
        row: list[object] = [name]
        for n in SIZES:
            score = generator.beta(a, b, (N_SAMPLES, n))
            if repeats is not None:
                score = generator.binomial(repeats, score) / repeats
            row.append(coverage_of_limits(score, a / (a + b), (0.0, 1.0)))
        rows.append(row)
    return rows


def f1(generator: np.random.Generator) -> list[list[object]]:
    """Return the coverage of F1 of small samples from tables drawn uniformly."""
    rows = []
    for n in F1_SIZES:
        covers, lengths = [], []
        for _ in range(N_SAMPLES_OF_F1):
            cells = generator.dirichlet(np.ones(4))
            counts = generator.multinomial(n, cells)  # tp, fp, fn, tn
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                true, said = np.repeat([1, 0, 1, 0], counts), np.repeat([1, 1, 0, 0], counts)
                found = estimate("f1", true, y_pred=said, labels=[0, 1])
            low, high = found.interval
            truth = 2 * cells[0] / (2 * cells[0] + cells[1] + cells[2])
            covers.append(not (truth < low or truth > high))
            lengths.append(high - low)
        rows.append([n, f"{100 * np.mean(covers):.1f}", f"{np.nanmean(lengths):.3f}"])
    return rows


def best_sets(generator: np.random.Generator) -> list[list[object]]:
    """Return how often the truly best of nine models is in the set, and the size of the set."""
    rows = []
    skills = np.array([0.9, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2, 0.1])
    for n in (20, 100):
        hits, sizes = [], []
        for _ in range(N_SAMPLES // 20):
            right = generator.random((n, len(skills))) < skills
            named = {str(place): right[:, place] for place in range(len(skills))}
            found = items(named).best_set()
            hits.append("0" in found)
            sizes.append(len(found))
        rows.append([n, f"{100 * np.mean(hits):.1f}", f"{np.mean(sizes):.1f}"])
    return rows


def page(generator: np.random.Generator) -> str:
    header = [f"n = {n}" for n in SIZES]
    measured = ["least, %", "mean, %", "length"]
    of_exact = ["n", *measured, *(f"plain: {x}" for x in measured)]
    return f"""# Mean scores of few items

Made by `experiments/items.py`. Nominal coverage is 95 % throughout.

Zeros and ones: exact coverage over true rates from .02 to .98, of the limits of `items` and of
*mean ± 1.96 standard errors*.

{markdown_table(of_exact, [exact_coverage(n) for n in SIZES])}

Paired differences of zeros and ones: the shares of the items that the first model alone and
the second model alone has right. Coverage in % (mean length), {N_SAMPLES:,} samples each.

{markdown_table(["first alone, second alone", *header], differences(generator))}

Graded and repeated scores: coverage in % (mean length), {N_SAMPLES:,} samples each.

{markdown_table(["scores", *header], graded(generator))}

F1 by `estimate`, of two classes and predictions whose four cells are drawn from
Dirichlet(1, 1, 1, 1), {N_SAMPLES_OF_F1:,} samples each:

{markdown_table(["n", "coverage, %", "length"], f1(generator))}

The best set of nine models with true rates .9, .9, .8, .7, .6, .5, .4, .2 and .1: how often it has
one of the best two, by name, and how many models it has; {N_SAMPLES // 20:,} samples each.

{markdown_table(["n", "holds it, %", "models"], best_sets(generator))}
"""


def main() -> None:
    global N_SAMPLES, N_SAMPLES_OF_F1, SIZES
    options = arguments(__doc__)
    if options.quick:
        N_SAMPLES, N_SAMPLES_OF_F1, SIZES = 20, 5, SIZES[:2]
    text = page(np.random.default_rng(1))
    if options.quick:
        print(text)
    else:
        write_page("items", text)


if __name__ == "__main__":
    main()
