"""Measure how often the default interval of every measure covers, and how long it is."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, note_check, run_study, write_page
from near_perfect import FRESH, peer_interval, pool, population_of, sample_of
from scipy import stats

from dmfroc import Predictions, evaluate
from dmfroc.measures import MEASURES, precision_at_k, recall_at

LEVEL = 0.95
POPULATION = 50_000
RARE, LARGER = 0.02, 10  # of the rarest class: below, the population is so much larger
COSTLY_POPULATION = 6000  # the volumes count triples
SAMPLES_PER_BATCH = 20
COSTLY_PER_BATCH = 4  # samples for which the measures that take longest are computed
COSTLY = (
    "vus",
    "ordinal_vus",
    "polytomous_discrimination_index",
    "calibration_slope",
    "expected_calibration_error",
    "integrated_calibration_index",
    "e50",
    "e90",
    "emax",
    "convex_hull_auc",
    "max_informedness",
    "h_measure",
    "kappa_area",
    "kappa_area_scott",
    "one_vs_rest_auc_bias",
    "precision_recall_gain_area",
    "expected_f_gain",
)
LEAST, MOST, CHANCE = 0.92, 0.975, 0.025  # what counts as holding, but for Monte Carlo error
MOST_ON_A_SIDE = 0.045  # of the misses, where a cell claims to hold
LOWEST = 0.85  # which no cell may miss, with a warning or without
LONGEST = 1.25  # oracles, of an interval that counts as short
N_SHOWN = 8  # cells in a table
SHOWN_BELOW = 0.8  # least coverage of a measure, in the table of measures
OFTEN = 0.9  # the share of estimates with a warning


@dataclass(frozen=True)
class Design:
    """How samples of one kind are drawn.

    Attributes
    ----------
    sizes : tuple of int
        Observations of each class; or, if they are random, what to expect.
    shift : float
        By how much the logit of an observation's own class exceeds the others on average.
    of_scores : callable
        What becomes of the probabilities: ties, saturation.
    has_random_sizes : bool
        Whether the classes are drawn, or in these numbers.
    clusters : tuple of int, optional
        Number of clusters and observations in each, which share half of their noise.
    spans_classes : bool
        Whether a cluster has observations of all classes.
    has_weights : bool
        Whether rows count unequally, such that 40 % as many of equal weight say as much.
    """

    sizes: tuple[int, ...]
    shift: float = 1.5
    of_scores: Callable[[np.ndarray], np.ndarray] = field(default=lambda x: x)
    has_random_sizes: bool = False
    clusters: tuple[int, int] | None = None
    spans_classes: bool = False
    has_weights: bool = False
    is_common: bool = True  # False for what shows the limits: classes or clusters below twenty

    @property
    def stratify(self) -> bool | None:
        """What a user says who knows the design: True where class shares are the same each time."""
        varies = self.has_random_sizes or self.has_weights or self.clusters is not None
        return None if varies else True


# Of `near_perfect`: resampled predictions of fitted models, wrong labels, heavy tails, and
# observations whose logits are inverted.
POOLS = (
    "digits, logistic",
    "digits, boosting",
    "K=2, 2 % label noise",
    "K=3, 3 % label noise",
    "K=3, Cauchy",
    "K=10, shift 2, heavy tails",
    "K=2, heavy tails",
    "K=8, 1 % inverted",
    *FRESH,
)


def _softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def tied(scores: np.ndarray) -> np.ndarray:
    """Return votes of five: scores with heavy ties."""
    return np.round(5 * scores) / 5


def saturated(scores: np.ndarray) -> np.ndarray:
    """Return probabilities of which most are 0 or 1 to two digits."""
    return np.round(_softmax(4 * np.log(scores)), 2)


def overconfident(scores: np.ndarray) -> np.ndarray:
    """Return probabilities that are too near to 0 and 1."""
    return _softmax(3 * np.log(scores))


def calibrated(scores: np.ndarray) -> np.ndarray:
    """Return the posterior probabilities, for a shift of 1.5 and classes of one size."""
    return _softmax(1.5 * np.log(scores))


even = (100, 100, 100)
CHOSEN = {
    "K=3, good": Design(even),
    "K=3, noise": Design(even, 0.0),
    "K=3, anti-classifier": Design(even, -1.5),
    "K=3, strong": Design(even, 3.0),
    "90/9/1, n=300": Design((270, 27, 3), has_random_sizes=True, is_common=False),
    "K=3, weak": Design(even, 0.6),
    "K=3, ties": Design(even, of_scores=tied),
    "K=2, noise": Design((100, 100), 0.0),
    "K=2, good": Design((100, 100)),
    "K=20, n=600": Design((30,) * 20),
    "K=3, random class sizes": Design((150, 90, 60), has_random_sizes=True),
    "K=3, 60 clusters of 5": Design(even, clusters=(60, 5)),
    "90/9/1, n=2000": Design((1800, 180, 20), has_random_sizes=True),
    "K=30, 5 of each": Design((5,) * 30, is_common=False),
    "K=3, 12 clusters of 25": Design(even, clusters=(12, 25), is_common=False),
    "K=2, strong, uneven": Design((200, 50), 3.0),
    "90/9/1, strong, n=2000": Design((1800, 180, 20), 3.0, has_random_sizes=True),
    "K=10, n=300": Design((30,) * 10, 2.0),
}
CONFIRMING = {
    "K=4, good, uneven": Design((120, 80, 60, 40), 1.2),
    "K=2, weak, uneven": Design((160, 40), 0.7),
    "K=3, saturated": Design(even, of_scores=saturated),
    "K=5, random class sizes": Design((100, 80, 60, 40, 40), 1.0, has_random_sizes=True),
    "K=3, weights": Design(even, has_weights=True),
    "K=3, calibrated": Design(even, of_scores=calibrated),
    "K=3, 40 clusters of 6, all classes": Design((80,) * 3, clusters=(40, 6), spans_classes=True),
    "K=50, n=500": Design((10,) * 50, is_common=False),
    "K=2, 14 clusters of 20, all classes": Design(
        (140, 140), clusters=(14, 20), spans_classes=True, is_common=False
    ),
}
NEW = {  # added after all rules
    "K=2, 5 % positives": Design((380, 20), 1.2, has_random_sizes=True),
    "K=3, overconfident": Design((140, 70, 40), 1.0, of_scores=overconfident),
    "K=6, random sizes, 100 clusters of 3": Design(
        (50,) * 6, 1.8, has_random_sizes=True, clusters=(100, 3)
    ),
    "K=12, good": Design((25,) * 12, 1.6),
}
DESIGNS = CHOSEN | CONFIRMING | NEW
ROLES = {
    "looked at": CHOSEN,
    "confirming": CONFIRMING,
    "pools": POOLS[:8],
    "new": (*NEW, *FRESH),
}


def draw(generator: np.random.Generator, design: Design, times: int = 1) -> dict:
    """Draw the arguments of `dmfroc.evaluate`: a sample, or several times as many."""
    sizes = times * np.array(design.sizes)
    n, n_classes = sizes.sum(), len(sizes)
    if design.has_random_sizes and times == 1:
        y = np.sort(generator.choice(n_classes, n, p=sizes / n))
    else:
        y = np.repeat(np.arange(n_classes), sizes)
    noise = generator.normal(size=(n, n_classes))
    found = {}
    if design.clusters is not None:
        n_clusters, of_each = design.clusters
        if design.spans_classes:
            y = generator.permuted(y)
        groups = np.arange(n) // of_each
        noise = np.sqrt(0.5) * (
            noise + generator.normal(size=(n_clusters * times, n_classes))[groups]
        )
        found["groups"] = groups
    if design.has_weights:
        # (sum w)^2 / sum w^2 = n / (1 + variance of the logarithm's exponential)
        found["sample_weight"] = np.exp(np.sqrt(np.log(2.5)) * generator.normal(size=n))
    scores = design.of_scores(_softmax(noise + design.shift * np.eye(n_classes)[y]))
    return found | {"y_true": y, "y_score": scores}


def sample(generator: np.random.Generator, name: str) -> dict:
    """Draw the arguments of `dmfroc.evaluate`."""
    if name in POOLS:
        y, scores = sample_of(name, generator)
        return {"y_true": y, "y_score": scores, "labels": range(scores.shape[1])}
    design = DESIGNS[name]
    while True:
        drawn = draw(generator, design)
        if len(np.unique(drawn["y_true"])) == len(design.sizes):
            return drawn | {"stratify": design.stratify}


@functools.cache
def truths(name: str, only: tuple[str, ...] = ()) -> dict[str, float]:
    """Return all measures, or some only, of a large sample with the same class proportions.

    The first k are the same share of a large sample. Spiegelhalter's z has no value there: it is a
    test statistic, and grows with the number of observations.
    """
    generator, found = np.random.default_rng(0), {}
    sizes = population_of(name).sizes if name in POOLS else DESIGNS[name].sizes
    n, times = sum(sizes), LARGER if min(sizes) < RARE * sum(sizes) else 1
    first_k = {"recall_at": recall_at(10 / n), "precision_at_k": precision_at_k(10 / n)}
    for size, costly in ((times * POPULATION, False), (COSTLY_POPULATION, True)):
        if name in POOLS:
            y, scores = pool(name)
            if costly:
                rows = generator.permutation(len(y))[:size]
                y, scores = y[rows], scores[rows]
        else:
            design = DESIGNS[name]
            alike = replace(design, sizes=(1,) * len(design.sizes))  # to volumes, sizes are alike
            drawn = alike if costly and design.clusters is None else design
            large = draw(generator, drawn, max(size // sum(drawn.sizes), 1))
            y, scores = large["y_true"], large["y_score"]
        large = Predictions.from_arrays(y, scores, labels=range(scores.shape[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found |= {
                measure_name: measure(large)
                for measure_name, measure in (MEASURES | first_k).items()
                if ("vus" in measure_name) == costly
                and (not only or measure_name in only)
                and measure.applies_to(large)
            }
    found.pop("spiegelhalter_z", None)  # of probabilities alone
    return found


def cell(generator: np.random.Generator, design: str, *, only: tuple[str, ...] = ()) -> list[dict]:
    """Estimate all measures of a batch of samples, or some only, one row of each."""
    true_values = truths(design, only)
    rows = []
    for number in range(SAMPLES_PER_BATCH):
        names = [n for n in true_values if number < COSTLY_PER_BATCH or n not in COSTLY]
        drawn = sample(generator, design)
        if not names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimates = evaluate(**drawn, measures=names, level=LEVEL).estimates
        for name, found in estimates.items():
            truth, value, error = true_values[name], found.value, found.standard_error
            low, high = found.interval
            is_defined = bool(np.isfinite([value, low, high, truth, error]).all())
            peer = (np.nan, np.nan)
            if is_defined:
                peer = peer_interval(name, value, error, len(drawn["y_true"]))
            rows.append(
                {
                    "measure": name,
                    "defined": is_defined,
                    "truth": truth,
                    "value": value,
                    "se": error,
                    "low": low,
                    "high": high,
                    "peer_low": peer[0],
                    "peer_high": peer[1],
                    "told": bool(found.warnings),
                }
            )
    return rows


def study() -> Study:
    settings = grid(design=[*DESIGNS, *POOLS])
    return Study("trust", cell, settings, replications=5, seed=4, directory=RESULTS)


def cells_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each design and measure, with lengths in oracles.

    Measures that are undefined in most samples of a design are left out.
    """
    is_often_defined = table.groupby(["design", "measure"])["defined"].transform("mean") >= 0.5
    table = table[table["defined"] & is_often_defined].assign(
        left=lambda t: t["truth"] < t["low"],
        right=lambda t: t["truth"] > t["high"],
        error=lambda t: t["value"] - t["truth"],
        length=lambda t: t["high"] - t["low"],
        peer=lambda t: (t["peer_low"] <= t["truth"]) & (t["truth"] <= t["peer_high"]),
        peer_length=lambda t: t["peer_high"] - t["peer_low"],
    )
    by = table.groupby(["design", "measure"], sort=False)
    n = by.size()
    cells = by[["left", "right", "told", "peer", "length", "peer_length"]].mean()
    low, high = (by["value"].quantile(q) for q in (0.025, 0.975))
    # The quantiles of few samples are closer together; by as much as those of normal values are
    expected = stats.norm.ppf((0.025 * (n - 1) + 0.625) / (n + 0.25))  # Blom 1958
    oracle = (high - low) * stats.norm.ppf(0.025) / expected
    oracle, sd = oracle.replace(0, np.nan), by["value"].std().replace(0, np.nan)
    for name in ("length", "peer_length"):
        cells[name] /= oracle
    lefts, rights = (np.round(n * cells[side]) for side in ("left", "right"))
    hits = n - lefts - rights
    found = cells.assign(
        samples=n,
        coverage=hits / n,
        # Beyond what chance does to one that is just good enough.
        is_short=stats.binom.cdf(hits, n, LEAST) < CHANCE,
        is_wide=stats.binom.sf(hits - 1, n, MOST) < CHANCE,
        is_lopsided=np.minimum(*(stats.binom.sf(x - 1, n, MOST_ON_A_SIDE) for x in (lefts, rights)))
        < CHANCE,
        is_long=cells["length"] > LONGEST,
        se_over_sd=by["se"].mean() / sd,
        bias_over_sd=by["error"].mean() / sd,
    )
    return found.reset_index()


def with_some_anew(chosen: Study, measures: str, designs: str | None) -> pd.DataFrame:
    """Return the stored cells, those of some measures and designs computed anew.

    They are of the same samples as if all were computed.
    """
    stored = pd.read_csv(RESULTS / "trust_cells.csv")
    only = tuple(stored["measure"].unique() if measures == "all" else measures.split(","))
    rows = [
        {"design": name, **row}
        for name in (designs.split(";") if designs else DESIGNS | dict.fromkeys(POOLS))
        for number in range(chosen.replications)
        for row in cell(chosen.generator({"design": name}, number), name, only=only)
    ]
    key = ["design", "measure"]
    cells = pd.concat([stored, cells_of(pd.DataFrame(rows))]).drop_duplicates(key, keep="last")
    return cells.set_index(key).reindex(pd.MultiIndex.from_frame(stored[key])).reset_index()


def check_equal(cells: pd.DataFrame, designs: Sequence[str]) -> int:
    """Return how many cells these designs have, which have to be the same as those stored."""
    stored, numbers = pd.read_csv(RESULTS / "trust_cells.csv"), ["coverage", "length", "told"]
    is_same = np.isclose(cells[numbers], stored[numbers], atol=1e-4, equal_nan=True).all(axis=1)
    if not is_same.all():
        raise SystemExit(
            f"these cells have changed:\n{stored.loc[~is_same, ['design', 'measure']]}"
        )
    return int(stored["design"].isin(designs).sum())


def peers_table(cells: pd.DataFrame) -> str:
    """Return coverage and length of measures over all designs, beside those of their peers."""
    rows = [
        [
            f"`{name}`",
            f"{100 * of['coverage'].min():.0f} / {100 * of['coverage'].median():.0f}",
            f"{of['length'].median():.2f}",
            f"{100 * of['peer'].min():.0f} / {100 * of['peer'].median():.0f}",
        ]
        for name in MEASURES
        if len(of := cells[cells["measure"] == name]) and of["coverage"].min() < SHOWN_BELOW
    ]
    header = ["measure", "coverage, least / median", "median length"]
    return markdown_table([*header, "peer's coverage"], rows)


def table_of_cells(cells: pd.DataFrame, n: int = N_SHOWN) -> str:
    """Return all numbers of the cells that cover least."""
    rows = [
        [
            f"`{row.measure}`",
            row.design,
            row.samples,
            f"{100 * row.coverage:.1f}",
            f"{100 * row.left:.1f} / {100 * row.right:.1f}",
            f"{row.se_over_sd:.2f}",
            f"{row.bias_over_sd:+.2f}",
            f"{100 * row.told:.0f}",
        ]
        for row in cells.sort_values("coverage").head(n).itertuples()
    ]
    if not rows:
        return "None."
    header = ["measure", "design", "samples", "coverage, %", "left / right misses, %"]
    return markdown_table([*header, "mean SE / sd", "bias / sd", "with a warning, %"], rows)


def failing(cells: pd.DataFrame) -> pd.Series:
    """Return which cells cover less or more than they may."""
    return cells["is_short"] | cells["is_wide"]


def counts_of(cells: pd.DataFrame) -> list:
    """Return how many cells hold, fail with a warning and fail without."""
    fails, is_told = failing(cells), cells["told"] >= OFTEN
    return [
        len(cells),
        int((~fails).sum()),
        int((fails & is_told).sum()),
        int((cells["is_short"] & ~is_told).sum()),
        int((cells["is_wide"] & ~is_told).sum()),
        int((~fails & ~cells["is_long"]).sum()),
    ]


def how_many(cells: pd.DataFrame, shown: int) -> str:
    """Say how many cells there are, and how many of them are shown."""
    n = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    return f"{n}; these are the {shown} that cover least." if len(cells) > shown else f"{n}."


def page(cells: pd.DataFrame) -> str:
    n, most = int(cells["samples"].median()), int(cells["samples"].max())
    fewest = int(cells["samples"].min())

    def monte_carlo(n: int) -> str:
        return f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / n):.1f}"

    common = cells["design"].map(lambda name: name in POOLS or DESIGNS[name].is_common)
    role = cells["design"].map(lambda name: next(role for role, of in ROLES.items() if name in of))
    counts = markdown_table(
        [
            "designs",
            "of each",
            "cells",
            "hold",
            "fail, with a warning",
            "too short",
            "too wide",
            "hold and are short",
        ],
        [
            [kind, size, *counts_of(some)]
            for kind in ROLES
            for size, large in (("at least 20", True), ("fewer", False))
            if len(some := cells[(role == kind) & (common == large)])
        ],
    )
    is_told = cells["told"] >= OFTEN
    fails = failing(cells)
    untold, claiming = cells[fails & ~is_told], cells[~fails & ~is_told]
    far = cells[(cells["coverage"] < LOWEST) & cells["is_short"] & is_told]
    missing = ", ".join(name for name in DESIGNS if name not in set(cells["design"]))
    not_run = f"\nNot run: {missing}.\n" if missing else ""
    return f"""# Can I trust it?

Made by `experiments/trust.py`. This page reports how often the default 95 % interval of every
measure covers the truth, and how long it is; [Can I trust it in use?](uses.md) studies other uses.
There are {most} samples
of each design for what is used most, {n} for most measures, and {fewest} or more for those that
take longest. The Monte Carlo error of a coverage is {monte_carlo(most)}, {monte_carlo(n)} and
{monte_carlo(fewest)} points, that of a length about
{100 / np.sqrt(most):.0f}, {100 / np.sqrt(n):.0f} and {100 / np.sqrt(fewest):.0f} %.
If class shares are the same in every sample, `stratify=True` is set.

The truth is the value in a population of {POPULATION:,}; of {LARGER * POPULATION:,} if a class has
less than {100 * RARE:g} % of it; of {COSTLY_POPULATION:,} for the volumes. Samples are fresh: none
was used to develop intervals. Rules were changed after a look at the confirming designs; the new
ones were added when all rules stood. The pools are those of [near_perfect](near_perfect.md).
{not_run}
A cell is a measure and a design; `experiments/_populations.py` has the designs, and
`experiments/results/trust_cells.csv` all cells.

* It **holds** if its coverage is between {100 * LEAST:g} and {100 * MOST:g} %. A coverage outside
  still holds if chance explains it in {100 * CHANCE:g} % of such cells.
* It is **short** if its mean length is at most {LONGEST:g} oracles. The oracle is the distance
  between the 2.5 and 97.5 % quantiles of the values in the samples, corrected for their number as
  if they were normal. Intervals of near-perfect classifiers cannot be that short
  ([why](../uncertainty.md)).
* It has **a warning** if at least {100 * OFTEN:.0f} % of its estimates have one.



{counts}

A miss on the *left* has the truth below the interval, a miss on the *right* above it. Of the
{len(claiming)} cells that hold without a warning, {int(claiming["is_lopsided"].sum())} misses on
one side in more than {100 * MOST_ON_A_SIDE:g} %, beyond chance. The median cell misses
{100 * claiming["left"].median():.1f} % on the left and {100 * claiming["right"].median():.1f} % on
the right.

## What fails without a warning

{how_many(untold, N_SHOWN)}

{table_of_cells(untold)}

## What covers less than {100 * LOWEST:.0f} %, with a warning

{how_many(far, N_SHOWN // 2)}

{table_of_cells(far, N_SHOWN // 2)}

## Measures and their peers

Measures that cover less than {100 * SHOWN_BELOW:g} % in a design. The peers are
the logit interval of areas (DeLong), Wilson's of accuracies, and Wald's of all others.

{peers_table(cells)}

Do not pool the scores of several cross-validation folds: they come from several classifiers, and
no interval here accounts for that. Name the folds by [`folds=`](../cross_validation.md)."""


def main() -> None:
    global POPULATION, COSTLY_POPULATION, SAMPLES_PER_BATCH
    options = arguments(
        __doc__,
        is_study=True,
        measures="compute only these anew, such as f1,hand_till, or all; the file keeps the others",
        designs="of these designs, such as 'K=2, good;K=3, good'; default: all",
    )
    chosen = study()
    if options.replications is not None:
        chosen = replace(chosen, replications=options.replications)
    if options.quick:
        POPULATION, COSTLY_POPULATION, SAMPLES_PER_BATCH = 6000, 600, 2
        chosen = replace(chosen, settings=chosen.settings[:1])
    if options.check:
        drawn = np.random.default_rng().choice([*DESIGNS, *POOLS], options.check, replace=False)
        cells = with_some_anew(chosen, "all", ";".join(drawn))
        note_check(check_equal(cells, drawn))
    elif options.measures:
        cells = with_some_anew(chosen, options.measures, options.designs)
    else:
        cells = cells_of(run_study(chosen, options))
    if options.quick:
        print(page(cells))
        return
    cells.round(4).to_csv(RESULTS / "trust_cells.csv", index=False)
    write_page("trust", page(cells), is_partial=bool(options.measures))


if __name__ == "__main__":
    main()
