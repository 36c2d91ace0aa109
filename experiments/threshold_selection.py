"""Accuracy before and after threshold selection: Table 4 of Vuk and Curk (2006), section 7."""

from __future__ import annotations

import itertools
import warnings
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from _datasets import Dataset, load_dataset
from _known_data import NAMES as LOCAL
from _known_data import local_dataset
from _pruned_tree import PrunedTree
from _selection import ThresholdSelection, nested_threshold_selection
from _study import DOCS, arguments, markdown_table, write_page
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_curve
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

from dmfroc import curves
from dmfroc.applications import (
    operating_point,
    optimal_operating_points,
    randomized_threshold,
)

PRINTED = pd.read_csv(Path(__file__).with_name("vuk_curk_table4.csv")).set_index(
    ["data", "learner"]
)
N_BINS = 5
N_REPETITIONS = 4
NOTABLE = 0.015  # change of accuracy
MISSING = "missing"


class Source(NamedTuple):
    """Where a data set of the paper comes from, and its positive class."""

    name: str
    positive: str


SOURCES = {
    "tic_tac_toe": Source("tic_tac_toe", "positive"),
    "shuttle-landing-control": Source("shuttle_landing_control", "1"),
    "ionosphere": Source("ionosphere", "g"),
    "voting": Source("vote", "republican"),
    "heart_disease": Source("heart_c", ">50_1"),
    "crx": Source("credit_a", "+"),
    "wdbc": Source("wdbc", "malignant"),
    "monks-1": Source("monks_1", "1"),
    "monks-2": Source("monks_2", "1"),
    "monks-3": Source("monks_3", "1"),
    "titanic": Source("titanic", "yes"),
    "adult_sample": Source("adult_sample", "<=50K"),
    "promoters": Source("promoters", "pp"),
    "bupa": Source("bupa", "2"),
}


@lru_cache
def load(title: str) -> Dataset:
    """Load a data set of the paper."""
    name = SOURCES[title].name
    if name == "wdbc":
        bunch = load_breast_cancer(as_frame=True)
        return Dataset(name, bunch.data, bunch.target_names[bunch.target], "scikit-learn")
    if name in LOCAL:
        return local_dataset(name)
    dataset = load_dataset(name)
    if name == "shuttle_landing_control":
        return expanded(dataset)
    constant = dataset.X.columns[dataset.X.nunique(dropna=False) == 1]
    return Dataset(name, dataset.X.drop(columns=constant), dataset.y, dataset.source)


def expanded(dataset: Dataset) -> Dataset:
    """Write out rules that leave some features open as all cases that they cover."""
    levels = [sorted(column.dropna().unique()) for _, column in dataset.X.items()]
    cases = {
        case: label
        for values, label in zip(dataset.X.to_numpy(), dataset.y, strict=True)
        for case in itertools.product(
            *(
                [value] if pd.notna(value) else every
                for value, every in zip(values, levels, strict=True)
            )
        )
    }
    X = pd.DataFrame(list(cases), columns=dataset.X.columns).astype(str).astype(object)
    return Dataset(dataset.name, X, np.array(list(cases.values())), dataset.source)


def features(dataset: Dataset, numeric: Pipeline) -> ColumnTransformer:
    """Encode the columns, the numeric ones first; a missing category is a category of its own."""
    is_text = dataset.X.dtypes == "object"
    texts = dataset.X.columns[is_text]
    levels = [sorted(dataset.X[name].fillna(MISSING).unique()) for name in texts]
    categorical = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=MISSING), OrdinalEncoder(categories=levels)
    )
    return ColumnTransformer(
        [
            ("numeric", numeric, list(dataset.X.columns[~is_text])),
            ("categorical", categorical, list(texts)),
        ]
    )


def naive_bayes(dataset: Dataset) -> Pipeline:
    """Naive Bayes on categories; numbers are cut at quantiles of the training data."""
    bins = KBinsDiscretizer(N_BINS, encode="ordinal", strategy="quantile")
    is_text = dataset.X.dtypes == "object"
    levels = [dataset.X[name].fillna(MISSING).nunique() for name in dataset.X.columns[is_text]]
    sizes = [N_BINS] * int((~is_text).sum()) + levels
    return make_pipeline(
        features(dataset, make_pipeline(SimpleImputer(strategy="median"), bins)),
        CategoricalNB(min_categories=sizes),
    )


def tree(dataset: Dataset) -> Pipeline:
    """Grow a tree by gain ratio and prune it with m = 2."""
    is_text = dataset.X.dtypes == "object"
    is_numeric = [True] * int((~is_text).sum()) + [False] * int(is_text.sum())
    return make_pipeline(
        features(dataset, make_pipeline(SimpleImputer(strategy="median"))),
        PrunedTree(is_numeric, m=2.0),
    )


LEARNERS = {"bayes": naive_bayes, "tree": tree}


def repeated(title: str, learner: str, n_repetitions: int, folds: int) -> list[ThresholdSelection]:
    """Run the experiment of one row of the table on several divisions into folds."""
    dataset = load(title)
    return [
        nested_threshold_selection(
            LEARNERS[learner](dataset),
            dataset.X,
            dataset.y,
            SOURCES[title].positive,
            folds=folds,
            seed=seed,
        )
        for seed in range(n_repetitions)
    ]


def mean(found: list[ThresholdSelection], name: str) -> float:
    """Average a quantity over repetitions."""
    return float(np.mean([getattr(one, name) for one in found]))


def row(key: tuple[str, str], found: list[ThresholdSelection]) -> list[str]:
    """Return a row of the table: the printed numbers in brackets."""
    printed = PRINTED.loc[key]
    cells = [
        f"{mean(found, name):.3f} ({printed[name]:.3f})"
        for name in ("auc", "default_accuracy", "selected_accuracy")
    ]
    change = (
        f"{mean(found, 'difference'):+.3f} ± {mean(found, 'standard_error'):.3f} "
        f"({printed['difference']:+.3f})"
    )
    centre, spread = mean(found, "threshold_mean"), mean(found, "threshold_sd")
    # Above all scores lies the optimum that calls nothing positive
    threshold = f"{centre:.2f} ± {spread:.2f}" if np.isfinite(centre) else "above all in some folds"
    return [*key, *cells, change, f"{threshold} ({printed['threshold']:.2f})"]


def draw_changes(ax: Axes, results: dict[tuple[str, str], list[ThresholdSelection]]) -> None:
    """Draw the change of accuracy in each row, ours and the printed one."""
    order = sorted(results, key=lambda key: PRINTED.loc[key, "difference"])
    places = np.arange(len(order))
    ax.axvline(0, color="0.7", linewidth=1)
    ax.errorbar(
        [mean(results[key], "difference") for key in order],
        places,
        xerr=[mean(results[key], "standard_error") for key in order],
        fmt="o",
        color="C0",
        capsize=3,
        label="here, ± one standard error",
    )
    ax.plot(
        [PRINTED.loc[key, "difference"] for key in order],
        places,
        "D",
        color="C1",
        markerfacecolor="none",
        label="Vuk and Curk",
    )
    ax.set_yticks(places, [f"{title}, {learner}" for title, learner in order])
    ax.set_xlabel("change of accuracy by selecting the threshold")
    ax.legend(loc="lower right")


def draw_curve(ax: Axes) -> None:
    """Draw naive Bayes on tic-tac-toe: hull, tangent and both thresholds (their Figure 9)."""
    y, scores = out_of_fold("tic_tac_toe", "bayes")
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    found, default = optimal_operating_points(y, scores), operating_point(y, scores, 0.5)
    best = found.points[0]
    grid = np.linspace(0, 1, 401)
    hull = [randomized_threshold(y, scores, fpr=rate).tpr for rate in grid]
    ax.plot(fpr, tpr, color="C0", label="ROC curve")
    ax.plot([0, *grid], [0, *hull], color="C0", linewidth=1, linestyle=":", label="convex hull")
    tangent = best.tpr + found.slope * (grid - best.fpr)
    ax.plot(grid, tangent, color="0.5", linewidth=1, label=f"tangent, slope {found.slope:.2f}")
    for point, marker, name in ((best, "o", "selected"), (default, "s", "default")):
        ax.plot(
            point.fpr,
            point.tpr,
            marker,
            color="C3",
            markerfacecolor="C3" if marker == "o" else "white",
            label=f"{name} threshold {point.threshold:.2f}: accuracy {point.accuracy:.3f}",
            linestyle="none",
        )
    ax.set(
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
        xlabel="false positive rate",
        ylabel="true positive rate",
        title="naive Bayes on tic_tac_toe, out-of-fold scores",
    )
    ax.legend(loc="lower right")


def out_of_fold(title: str, learner: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes (1 is positive) and the out-of-fold scores of one row of the table."""
    dataset = load(title)
    y = (dataset.y == SOURCES[title].positive).astype(int)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scores = cross_val_predict(
        LEARNERS[learner](dataset), dataset.X, y, cv=folds, method="predict_proba"
    )
    return y, scores[:, 1]


def promoters_figure() -> Figure:
    """Draw calibration plots and ROC curves of promoters (their Figures 10 and 11)."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    calibration, roc = figure.subplots(1, 2)
    for learner, colour in (("bayes", "C0"), ("tree", "C1")):
        y, scores = out_of_fold("promoters", learner)
        line = curves.loess_calibration_curve(y, scores)
        calibration.plot(line.x, line.y, color=colour, label=learner)
        for outcome, place in ((1, 1.03), (0, -0.03)):
            shift = 0.015 if learner == "tree" else 0
            seen = scores[y == outcome]
            height = np.full(len(seen), place + (shift if outcome else -shift))
            calibration.plot(seen, height, "|", color=colour, markersize=5)
        fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
        n_scores = len(np.unique(scores))
        roc.plot(fpr, tpr, color=colour, label=f"{learner}, {n_scores} distinct scores")
    for ax in (calibration, roc):
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":", zorder=0)
        ax.set(aspect="equal")
        ax.legend(loc="lower right")
    calibration.set(xlabel="predicted probability of pp", ylabel="LOESS share of pp")
    roc.set(xlabel="false positive rate", ylabel="true positive rate")
    return figure


def signs(differences: list[float]) -> list[str]:
    """Count rises and falls, with their mean and the sign test."""
    # What differs by rounding alone is no change
    rises, falls = (sum(sign * x > 1e-12 for x in differences) for sign in (1, -1))
    p_value = binomtest(rises, rises + falls).pvalue if rises + falls else 1.0
    same = len(differences) - rises - falls
    counts = map(str, (rises, falls, same))
    return [*counts, f"{np.mean(differences):+.4f}", f"{p_value:.3f}"]


def signs_of_one(results: list[list[ThresholdSelection]]) -> list[str]:
    """Return the tallies of each division alone: the median, the least and the most."""
    tallies = np.array(
        [
            [float(x) for x in signs([one.difference for one in division])]
            for division in zip(*results, strict=True)
        ]
    )
    return [
        f"{np.median(column):{form}} ({column.min():{form}} to {column.max():{form}})"
        for column, form in zip(tallies.T, (".0f", ".0f", ".0f", "+.4f", ".3f"), strict=True)
    ]


def promoters_section(found: list[ThresholdSelection]) -> str:
    """Report the data set on which selecting the threshold of the tree does most harm."""
    return f"""## Promoters

![Calibration plots and ROC curves](../images/threshold_selection_promoters.png)

Their Figures 10 and 11; marks at the top are scores of promoters. The standard deviation of
the tree's threshold over the outer folds, ours the mean of {len(found)} divisions:

| of promoters | here | printed |
| --- | --- | --- |
| standard deviation | {mean(found, "threshold_sd"):.3f} | 0.316 |
"""


def page(titles: tuple[str, ...], n_repetitions: int, folds: int, picture: bool) -> str:
    """Run the study and report it."""
    # Ties leave fewer bins than asked for; that is as good
    warnings.filterwarnings("ignore", "Bins whose width are too small")
    results = {
        (title, learner): repeated(title, learner, n_repetitions, folds)
        for title, learner in PRINTED.index
        if title in titles
    }
    if picture:
        figure = Figure(figsize=(13, 8.5), layout="constrained")
        changes, curve = figure.subplots(1, 2)
        draw_changes(changes, results)
        draw_curve(curve)
        with matplotlib.rc_context({"savefig.dpi": 90}):
            figure.savefig(DOCS / "images" / "threshold_selection.png")
            promoters_figure().savefig(DOCS / "images" / "threshold_selection_promoters.png")
    ours = [mean(found, "difference") for found in results.values()]
    printed = PRINTED["difference"]
    beyond = sum(
        abs(mean(found, "difference")) > 2 * mean(found, "standard_error")
        for found in results.values()
    )
    away = {
        name: {
            key: abs(mean(found, name) - PRINTED.loc[key, name]) for key, found in results.items()
        }
        for name in ("auc", "default_accuracy")
    }
    near = {name: sum(x <= 0.05 for x in distance.values()) for name, distance in away.items()}
    far = "; ".join(
        f"{', '.join(key)} {mean(results[key], 'auc'):.3f} ({PRINTED.loc[key, 'auc']:.3f})"
        for key in sorted(results, key=away["auc"].get)[-3:]
    )
    promoters = promoters_section(results["promoters", "tree"]) if "promoters" in titles else ""
    changes = PRINTED["difference"].loc[list(results)].round(3).abs()
    shown = [row(key, results[key]) for key in changes.index[(changes == 0) | (changes >= NOTABLE)]]
    header = ["data", "learner", "AUC", "CA default", "CA selected", "change", "threshold"]
    sizes = ", ".join(f"{title} {len(load(title).y)}" for title in titles)
    tally_header = ["changes", "up", "down", "unchanged", "mean", "p of the sign test"]
    tallies = [
        ["here", *signs(ours)],
        ["one division alone", *signs_of_one(list(results.values()))],
        ["printed", *signs(list(printed))],
    ]
    return f"""# Does selecting the threshold raise the accuracy?

Made by `experiments/threshold_selection.py` after section 7 of Vuk and Curk (2006): nested
{folds}-fold cross-validation, in which the threshold is the accuracy optimum on the merged
out-of-fold scores of the training part, with the class ratio of the training part (the highest of
several optima). Means over {n_repetitions} divisions into folds; the numbers of their Table 4 are
in brackets.

![Changes of accuracy, and a ROC curve with its tangent](../images/threshold_selection.png)

{markdown_table(header, shown)}

Rows are those that the paper leaves unchanged, or changes by {NOTABLE:g} or more. The change has
its
standard error over observations, the threshold its standard deviation over the outer folds.

{markdown_table(tally_header, tallies)}

"Here" is of the means over divisions; the paper has one and gives no test. {beyond} of our
{len(ours)} changes exceed two standard errors. Rows whose numbers are within .05 of those printed:

| within .05 | rows | of |
| --- | --- | --- |
| AUC | {near["auc"]} | {len(ours)} |
| default accuracy | {near["default_accuracy"]} | {len(ours)} |

The largest differences in AUC: {far}.

Samples are those of the paper, which came with Orange, and the tree is its tree
(`experiments/_pruned_tree.py`). Three things differ. Orange handles missing values by weights, here
they are a category of their own or the median; its naive Bayes smooths numbers by LOESS,
scikit-learn's `CategoricalNB` has {N_BINS} quantile bins; and the folds
are others. The paper does not state the positive class of all sets: a threshold
near 1 minus the printed one is that of the other class.

{promoters}
Rows: {sizes}.
"""


if __name__ == "__main__":
    if arguments(__doc__).quick:
        print(page(("shuttle-landing-control",), n_repetitions=1, folds=3, picture=False))
    else:
        write_page(
            "threshold_selection", page(tuple(SOURCES), N_REPETITIONS, folds=10, picture=True)
        )
