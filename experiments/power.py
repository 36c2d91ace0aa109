"""Where M cannot tell two classifiers apart, can the DMF-AUC? Wang and Carvalho (2024), 5.4."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from _runner import Study
from _study import (
    RESULTS,
    arguments,
    claims_table,
    markdown_table,
    run_study,
    write_figure,
    write_page,
)
from matplotlib.figure import Figure
from scipy.stats import binomtest, norm

import dmfroc
from dmfroc import Predictions, compare
from dmfroc.measures import MEASURES, dmf_auc

COMPARED = {
    "dmf_auc": MEASURES["dmf_auc"],
    "unshrunk": dmf_auc(shrinkage=0),
    "paper": dmf_auc(shrinkage=0, threshold_pool="pooled"),
    "hand_till": MEASURES["hand_till"],
    "one_vs_rest_auc": MEASURES["one_vs_rest_auc"],
}
TITLES = {
    "dmf_auc": "DMF-AUC",
    "unshrunk": "without shrinkage",
    "paper": "the paper's",
    "hand_till": "Hand-Till M",
    "one_vs_rest_auc": "One-vs-rest AUC",
}
P_VALUES = [f"{name}_p" for name in COMPARED]
SETTING = ["contrast", "gap"]
SIGNIFICANCE = 0.05
REPLICATIONS = 100
PAPER_DRAWS = 100  # "we bootstrap with binomial weight 100 times"
N_CLASSES = 5
GOOD, NEAR_PERFECT, HARD, EASY = 1.5, 4.5, 0.5, 3.0  # distances between the classes of a pair
OWN_NOISE = 0.7  # standard deviation, where the noise that both classifiers share has 1
DIFFERENCE_SD = np.sqrt(2 * (1 + OWN_NOISE**2))
BALANCED = (80, 80, 80, 80, 80)
SKEWED = (200, 100, 60, 28, 12)

Means = tuple[np.ndarray, np.ndarray]
"""Mean scores of each class, one row per class, of the better and of the worse classifier."""


def all_pairs(distance: float, gap: float) -> Means:
    """Return two classifiers; one is better everywhere."""
    return (distance + gap) * np.eye(N_CLASSES), distance * np.eye(N_CLASSES)


def with_pairs(distances: dict[tuple[int, int], float]) -> np.ndarray:
    """Return the means of a good classifier for which some pairs have distances of their own."""
    means = GOOD * np.eye(N_CLASSES)
    for (i, j), distance in distances.items():
        means[i, j] = means[j, i] = GOOD - distance
    return means


def one_pair(pair: tuple[int, int], distance: float, gap: float) -> Means:
    """Return two classifiers; one is better at a single pair."""
    return with_pairs({pair: distance + gap}), with_pairs({pair: distance})


def trade(gap: float) -> Means:
    """Return classifiers with the same M: one is better at a hard pair, worse at an easy one."""
    gain, hard, easy = norm.cdf(np.array([HARD + gap, HARD, EASY]) / DIFFERENCE_SD)
    less_easy = DIFFERENCE_SD * norm.ppf(easy - (gain - hard))
    return (
        with_pairs({(0, 1): HARD + gap, (2, 3): less_easy}),
        with_pairs({(0, 1): HARD, (2, 3): EASY}),
    )


@dataclass(frozen=True)
class Contrast:
    """What distinguishes two classifiers, by how much, and on which data."""

    means: Callable[[float], Means]
    gaps: tuple[float, ...]
    class_sizes: tuple[int, ...]


EVEN_TRADE = "trade-off, M equal"
CONTRASTS = {
    "all pairs": Contrast(partial(all_pairs, GOOD), (0.0, 0.1, 0.2), BALANCED),
    "one hard pair": Contrast(partial(one_pair, (0, 1), HARD), (0.0, 0.6, 1.2), BALANCED),
    "one easy pair": Contrast(partial(one_pair, (0, 1), GOOD), (1.5,), BALANCED),
    "near-perfect": Contrast(partial(all_pairs, NEAR_PERFECT), (0.0, 0.4), BALANCED),
    "skewed, all pairs": Contrast(partial(all_pairs, GOOD), (0.0, 0.25), SKEWED),
    "skewed, large hard pair": Contrast(partial(one_pair, (0, 1), HARD), (0.0, 0.8), SKEWED),
    "skewed, small hard pair": Contrast(partial(one_pair, (3, 4), HARD), (0.0, 2.0), SKEWED),
    EVEN_TRADE: Contrast(trade, (1.0,), BALANCED),
}


def draw(generator: np.random.Generator, contrast: str, gap: float) -> dict[str, Predictions]:
    """Draw one test set and the scores of both classifiers."""
    chosen = CONTRASTS[contrast]
    y = np.repeat(np.arange(N_CLASSES), chosen.class_sizes)
    shared = generator.normal(size=(len(y), N_CLASSES))
    return {
        name: Predictions.from_arrays(
            y, shared + OWN_NOISE * generator.normal(size=shared.shape) + means[y]
        )
        for name, means in zip(("better", "worse"), chosen.means(gap), strict=True)
    }


def power(generator: np.random.Generator, contrast: str, gap: float) -> dict:
    """Compare two classifiers by each measure."""
    pair = draw(generator, contrast, gap)
    row = {}
    for name, measure in COMPARED.items():
        [difference] = compare(pair, measures=measure, random_state=0).differences
        row[name], row[f"{name}_p"] = difference.value, difference.p_value
    return row


def power_paper(generator: np.random.Generator, contrast: str, gap: float) -> dict:
    """Compare two classifiers by the paper's bootstrap of each."""
    pair = draw(generator, contrast, gap)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the paper's bootstrap takes cumulative counts")
        [difference] = compare(
            pair,
            measures="dmf_auc",
            method=dmfroc.papers.PaperBootstrap(PAPER_DRAWS),
            paired=False,  # each has draws of its own,
            random_state=int(generator.integers(2**31)),
        ).differences
    return {"paper_p": difference.p_value}


def studies(contrasts: Sequence[str] = tuple(CONTRASTS)) -> dict[str, Study]:
    settings = [{"contrast": c, "gap": gap} for c in contrasts for gap in CONTRASTS[c].gaps]
    equal = [{"contrast": "all pairs", "gap": 0.0}]
    common = {"seed": 1, "directory": RESULTS}
    return {
        "power": Study("power", power, settings, replications=REPLICATIONS, **common),
        "paper": Study("power_paper", power_paper, equal, replications=REPLICATIONS, **common),
    }


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def only_one(first: pd.Series, second: pd.Series) -> tuple[int, int, float]:
    """Count where one of two is true and the other is not, with the p-value of McNemar's test."""
    alone = int((first & ~second).sum()), int((second & ~first).sum())
    return *alone, binomtest(alone[0], sum(alone)).pvalue if sum(alone) else 1.0


def discrimination_claims(
    name: str, title: str, undecided: pd.DataFrame, rejects: pd.DataFrame
) -> list[tuple[str, str, bool]]:
    """Hold an estimator of the DMF-AUC against M where M does not decide."""
    decided, decided_by_m, p_value = only_one(rejects[f"{name}_p"], rejects["hand_till_p"])
    right, right_by_m, p_value_right = only_one(undecided[name] > 0, undecided["hand_till"] > 0)
    return [
        (
            "The DMF-AUC is more discriminative where M fails to tell classifiers apart",
            f"{title} decides {decided} of the {len(undecided)} test sets that M does not decide, "
            f"and M decides {decided_by_m} that it does not (McNemar's p = {p_value:.2g})",
            bool(decided > decided_by_m and p_value < SIGNIFICANCE),
        ),
        (
            "It ranks classifiers whose M differ by a negligible amount",
            f"Where M does not decide, {title[0].lower() + title[1:]} alone has the better one "
            f"first in {right} test sets, M alone in {right_by_m} (McNemar's "
            f"p = {p_value_right:.2g})",
            bool(right > right_by_m and p_value_right < SIGNIFICANCE),
        ),
    ]


def claims(table: pd.DataFrame, of_paper: pd.DataFrame) -> str:
    """Hold the paper's claims against the numbers."""
    unequal = table[(table["gap"] > 0) & (table["contrast"] != EVEN_TRADE)]
    same = {
        name: (np.sign(unequal[name]) == np.sign(unequal["hand_till"])).mean()
        for name in ("dmf_auc", "paper")
    }
    rejects = unequal[P_VALUES] < SIGNIFICANCE
    undecided = unequal[~rejects["hand_till_p"]]
    of_equal = of_paper["paper_p"] < SIGNIFICANCE
    by_chance = binomtest(int(of_equal.sum()), len(of_equal), SIGNIFICANCE).pvalue
    return claims_table(
        [
            (
                "M and the DMF-AUC tend to rank alike",
                f"the same order in {percent(same['dmf_auc'])} of {len(unequal):,} test sets with "
                f"unequal classifiers (the paper's estimator: {percent(same['paper'])})",
                bool(min(same.values()) > 0.9),
            ),
            *(
                row
                for name, title in (("dmf_auc", "Ours"), ("paper", "The paper's estimator"))
                for row in discrimination_claims(name, title, undecided, rejects)
            ),
            (
                "The paper's bootstrap says how sure the order is",
                f"at the {100 * SIGNIFICANCE:g} % level it calls equal classifiers different in "
                f"{percent(of_equal.mean())} of {len(of_equal)} test sets",
                bool(by_chance > 0.01),
            ),
        ]
    )


def power_table(table: pd.DataFrame) -> str:
    """Return how often each measure rejects."""
    rows = [
        [
            contrast,
            f"{gap:g}",
            *(percent(share) for share in (part[P_VALUES] < SIGNIFICANCE).mean()),
        ]
        for (contrast, gap), part in table.groupby(SETTING, sort=False)
    ]
    return markdown_table(["difference", "gap", *TITLES.values()], rows)


def picture(table: pd.DataFrame) -> Figure:
    """Draw the rejection rates of all settings."""
    figure = Figure(figsize=(8.5, 6.4), layout="constrained")
    ax = figure.subplots()
    groups = list(table.groupby(["contrast", "gap"], sort=False))[::-1]
    styles = {
        "dmf_auc": ("o", "#0072B2"),
        "paper": ("^", "#CC79A7"),
        "hand_till": ("s", "#D55E00"),
        "one_vs_rest_auc": ("D", "#009E73"),
    }
    shifts = np.linspace(0.27, -0.27, len(styles))
    for shift, (name, (marker, color)) in zip(shifts, styles.items(), strict=True):
        rates = np.array([(part[f"{name}_p"] < SIGNIFICANCE).mean() for _, part in groups])
        errors = np.sqrt(rates * (1 - rates) / [len(part) for _, part in groups])
        ax.errorbar(
            100 * rates,
            np.arange(len(groups)) + shift,
            xerr=100 * errors,
            fmt=marker,
            color=color,
            markersize=4.5,
            label="DMF-AUC, the paper's" if name == "paper" else TITLES[name],
        )
    ax.axvline(100 * SIGNIFICANCE, color="0.6", linewidth=1, linestyle=":")
    ax.set_yticks(range(len(groups)), [f"{contrast}, gap {gap:g}" for (contrast, gap), _ in groups])
    ax.set(xlim=(0, 100), xlabel="rejections at the 5 % level, % (± one standard error)")
    ax.grid(axis="y", alpha=0.2)
    ax.legend(loc="lower right")
    return figure


def page(table: pd.DataFrame, of_paper: pd.DataFrame) -> str:
    """Report the study."""
    of_equal = table[table["gap"] == 0]
    false_alarms = ", ".join(
        f"{TITLES[name]} {percent((of_equal[f'{name}_p'] < SIGNIFICANCE).mean())}"
        for name in COMPARED
    )
    means = table[table["gap"] > 0].groupby("contrast")[list(COMPARED)].mean()
    pairs = ["one hard pair", "one easy pair"]
    (hard, easy), (hard_in_paper, easy_in_paper) = (
        (means[name] / means["hand_till"]).reindex(pairs) for name in ("dmf_auc", "paper")
    )
    error = np.sqrt(SIGNIFICANCE * (1 - SIGNIFICANCE) / len(of_equal))
    return f"""# Power: telling two classifiers apart

Made by `experiments/power.py`. Section 5.4 of Wang and Carvalho (2024) finds the DMF-AUC more
discriminative than Hand and Till's M. Here the truth is known. Two simulated classifiers score the
same {sum(BALANCED)} observations of K = {N_CLASSES} classes, and `dmfroc.compare` tests their
difference by each measure and the same paired jackknife. Each setting has
{table["replication"].nunique()} test sets. *DMF-AUC* is that of the package, *without shrinkage*
the same with `shrinkage=0`, and *the paper's* with `threshold_pool="pooled"` besides, which makes a
difference where the classes are of different sizes.

{claims(table, of_paper)}

## How often equality is rejected

The scores of class c are normal about the means of class c; both classifiers share noise of
variance 1 and each has its own of variance {OWN_NOISE**2:.2g}. *Gap* is what the better one has
more:

- **all pairs**: of the distance between any two classes, {GOOD:g} for the worse;
- **one hard pair**: of that between two of the classes, {HARD:g} for the worse, where all others
  have {GOOD:g};
- **one easy pair**: the same, but {GOOD:g} for the worse as everywhere else;
- **near-perfect**: as all pairs, {NEAR_PERFECT:g} for the worse;
- **skewed**: class sizes {", ".join(map(str, SKEWED))} in place of equal ones; the hard pair is
  that of the two largest or of the two smallest classes;
- **{EVEN_TRADE}**: better at a hard pair, worse at an easy one (distance {EASY:g}), such that M is
  the same in the population. A rejection by M is false; one by another measure says what that
  measure prefers.

{power_table(table)}

![Rejection rates by kind of difference](../images/power.png)

With gap 0 the classifiers are equal, and {100 * SIGNIFICANCE:g} % rejections are due. Over all
such settings there are: {false_alarms} (± {percent(error)}).

One hard pair moves the DMF-AUC {hard:.2f} times as much as M, the paper's
{hard_in_paper:.2f} times; one easy pair moves them {easy:.2f} and {easy_in_paper:.2f} times as
much: the totals above depend on which differences are looked at. With equal class sizes the
one-vs-rest mean *is* M; with others it weighs pairs by the sizes of their classes.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    chosen = ("all pairs",) if options.quick else tuple(CONTRASTS)
    found = {name: run_study(study, options) for name, study in studies(chosen).items()}
    text = page(found["power"], found["paper"])
    if options.quick:
        print(text)
    else:
        write_figure("power", picture(found["power"]))
        write_page("power", text)
