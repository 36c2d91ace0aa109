"""Three classifiers on the six UCI data sets of Wang and Carvalho (2024), section 5.4."""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
import pandas as pd
from _datasets import Dataset, design_matrix, load_dataset
from _runner import Study, grid
from _study import (
    PAPER as PAPER_OPTIONS,
)
from _study import (
    RESULTS,
    arguments,
    claims_table,
    markdown_table,
    run_studies,
    write_figure,
    write_page,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import dmfroc
from dmfroc import Predictions, compare, hand_till_score, multiclass_roc
from dmfroc.measures import dmf_auc
from dmfroc.multiclass.higher_rank import fit_center
from dmfroc.multiclass.rank_one import binomial_deviance
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots import MulticlassROCDisplay
from dmfroc.results import Comparison

NAMES = ("car", "optdigits", "pendigits", "tae", "iris", "glass")
SEED = 1
N_SPLITS = 5
N_DRAWS = 500
PENALTIES = ("L2", "none")  # of the regression; scikit-learn's default is L2 with C = 1
MOST_STEPS = 2000
SHOWN = 0.2  # the least probability of an order in the table
RANKS, RANK_SHRINKAGES = (1, 2, 3), (1.0, 0.0)
# The probability of each order as printed in table 1, best first; a dash there is 0 here.
ORDERS = (
    "k-nearest > tree > multinomial",
    "k-nearest > multinomial > tree",
    "multinomial > tree > k-nearest",
    "multinomial > k-nearest > tree",
    "tree > k-nearest > multinomial",
    "tree > multinomial > k-nearest",
)
TABLE_1 = {
    "car": (0, 0, 0.84, 0, 0, 0.16),
    "optdigits": (0, 0.94, 0, 0.06, 0, 0),
    "pendigits": (0, 1, 0, 0, 0, 0),
    "tae": (0, 0, 0.99, 0.01, 0, 0),
    "iris": (0.16, 0.36, 0.15, 0.22, 0.04, 0.07),
    "glass": (0.25, 0.13, 0, 0.04, 0.37, 0.21),
}
PRINTED = {
    name: max(zip(ORDERS, probabilities, strict=True), key=lambda pair: pair[1])
    for name, probabilities in TABLE_1.items()
}
PAPER = dmf_auc(**PAPER_OPTIONS)
PRINTED_GLASS = {"multinomial": 0.8419, "k-nearest": 0.8440}
HIGH_LEVELS = 10  # highest thresholds of the 99: a tenth of the scores of a pair is above them
LOW_FPR = 0.1
BOXES = {
    "paper_bootstrap": "draws of the paper's bootstrap of its DMF-AUC",
    "bootstrap": "of the bootstrap of ours",
}
KINDS = {
    "jackknife": "jackknife",
    "bootstrap": dmfroc.Bootstrap(N_DRAWS),
    "paper_bootstrap": dmfroc.papers.PaperBootstrap(N_DRAWS),
}
UNCERTAIN = ("iris", "glass")  # the sets for which the paper finds many possible orders


@lru_cache
def data(name: str) -> Dataset:
    return load_dataset(name)


def predictions_of(name: str, seed: int, penalty: str = "L2") -> dict[str, Predictions]:
    """Fit each classifier to one half of the data and score the other half."""
    dataset = data(name)
    regression = LogisticRegression(C=1.0 if penalty == "L2" else np.inf, max_iter=MOST_STEPS)
    classifiers = {
        "multinomial": regression,
        "k-nearest": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=seed),
    }
    train, test, y_train, y_test = train_test_split(
        dataset.X, dataset.y, test_size=0.5, stratify=dataset.y, random_state=seed
    )
    found = {}
    for title, classifier in classifiers.items():
        model = make_pipeline(design_matrix(dataset), classifier)
        with warnings.catch_warnings():
            # Where classes are separable, the regression without a penalty has no optimum
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(train, y_train)
        found[title] = Predictions.from_arrays(
            y_test, model.predict_proba(test), labels=model.classes_
        )
    return found


def observed_order(comparison: Comparison) -> str:
    """Return the classifiers by their value in the sample, best first."""
    estimates = comparison.estimates
    return " > ".join(sorted(estimates, key=lambda title: -estimates[title].value))


def probability_of(order: str, comparison: Comparison) -> float:
    """Return the probability of an order of the classifiers."""
    return comparison.order_probabilities.get(tuple(order.split(" > ")), 0.0)


def high_tpr(predictions: Predictions) -> float:
    """Return the mean true positive rate of the curve at its highest thresholds."""
    return float(multiclass_roc(predictions).tpr[1 : HIGH_LEVELS + 1].mean())


def left_end(generator: np.random.Generator, name: str) -> list[dict]:
    """Return how high the left ends of the curves are after one random split."""
    rows = []
    for title, predictions in predictions_of(name, int(generator.integers(1 << 31))).items():
        for estimator, options in (("default", {}), ("paper", PAPER_OPTIONS)):
            curve = multiclass_roc(predictions, **options)
            rows.append(
                {
                    "classifier": title,
                    "estimator": estimator,
                    "high": float(curve.tpr[1 : HIGH_LEVELS + 1].mean()),
                    "low_fpr": float(np.interp(LOW_FPR, curve.fpr, curve.tpr)),
                }
            )
    return rows


def split(generator: np.random.Generator, name: str, penalty: str) -> dict:
    """Rank the classifiers after one random split."""
    found = predictions_of(name, int(generator.integers(1 << 31)), penalty)
    areas, in_paper = compare(found), compare(found, measures=PAPER)
    printed, _ = PRINTED[name]
    return {
        "order": observed_order(areas),
        "order_by_paper": observed_order(in_paper),
        "order_by_m": observed_order(compare(found, measures="hand_till")),
        "probability_of_printed": probability_of(printed, areas),
        "probability_by_paper": probability_of(printed, in_paper),
        "largest_probability": max(areas.order_probabilities.values()),
        **{f"area of {title}": x.value for title, x in areas.estimates.items()},
        **{f"the paper's of {title}": x.value for title, x in in_paper.estimates.items()},
        **{f"high tpr of {title}": high_tpr(predictions) for title, predictions in found.items()},
    }


def studies(names: tuple[str, ...]) -> dict[str, Study]:
    common = {"replications": N_SPLITS, "seed": SEED, "directory": RESULTS}
    left_ends = [{"name": name} for name in names if name == "glass"] or [{"name": "iris"}]
    return {
        "splits": Study("real_data", split, grid(name=names, penalty=PENALTIES), **common),
        "left": Study("real_data_left_end", left_end, left_ends, **common),
        "ranks": Study("rank", ranks, grid(name=names), **common),
    }


def split_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return for each data set how often the printed order came out."""
    rows = []
    for name, group in table.groupby("name", sort=False):
        printed, probability = PRINTED[name]
        counts = group["order"].value_counts()
        rows.append(
            [
                name,
                printed,
                f"{probability:.2f}",
                f"{counts.get(printed, 0)} of {len(group)}",
                f"{group['probability_of_printed'].mean():.2f}",
                f"{(group['order_by_paper'] == printed).sum()}, "
                f"{group['probability_by_paper'].mean():.2f}",
                f"{counts.index[0]} ({counts.iloc[0]})" if len(counts) else "",  # of a quick run
            ]
        )
    return rows


def claims(table: pd.DataFrame) -> str:
    """Hold the paper's claims against the splits."""
    n = len(table)
    n_same, n_same_by_paper = (
        int((table[name] == table["order_by_m"]).sum()) for name in ("order", "order_by_paper")
    )
    counts = table.groupby("name")["order"].agg(lambda orders: orders.value_counts().index[0])
    reproduced = [name for name in counts.index if counts[name] == PRINTED[name][0]]
    certainty = table.groupby("name", sort=False)["largest_probability"].mean()
    others = certainty.drop(list(UNCERTAIN), errors="ignore")
    return claims_table(
        [
            (
                "AUC and M tend to rank the classifiers alike",
                f"the same order in {n_same} of {n} splits ({100 * n_same / n:.0f} %), by the "
                f"paper's estimator in {n_same_by_paper}",
                min(n_same, n_same_by_paper) / n > 0.5,
            ),
            (
                "The order is more certain for car, optdigits, pendigits and tae than for "
                "iris and glass",
                "mean probability of the most probable order: "
                + ", ".join(f"{name} {p:.2f}" for name, p in certainty.items()),
                bool(others.min() > certainty.drop(others.index).max()),
            ),
            (
                "The leading orders of table 1",
                f"also the most frequent here for {len(reproduced)} of {len(counts)} data sets"
                + (f" ({', '.join(reproduced)})" if reproduced else ""),
                len(reproduced) == len(counts),
            ),
        ]
    )


def order_rows(name: str, comparisons: list[Comparison]) -> list[list[str]]:
    """Return the orders that anybody finds likely, with their probabilities and the printed."""
    rows = []
    for order, printed in zip(ORDERS, TABLE_1[name], strict=True):
        ours = [f"{probability_of(order, comparison):.2f}" for comparison in comparisons]
        if max(printed, *map(float, ours)) >= SHOWN:
            rows.append([name, order, *ours, f"{printed:.2f}" if printed else "-"])
    return rows


def leads(left: pd.DataFrame, estimator: str, height: str) -> int:
    """Count the splits in which the regression's curve is the highest at the left end."""
    of_estimator = left[left["estimator"] == estimator]
    heights = of_estimator.pivot_table(height, "replication", "classifier")
    return int((heights.idxmax(axis=1) == "multinomial").sum())


def glass(table: pd.DataFrame, left: pd.DataFrame) -> str:
    """Hold what the paper reads off the curves of GLASS against ours."""
    splits = table[table["name"] == "glass"]
    rows = []
    for title, predictions in predictions_of("glass", SEED).items():
        curve = multiclass_roc(predictions)
        printed = PRINTED_GLASS.get(title)
        rows.append(
            [
                title,
                f"{curve.auc:.4f}",
                f"{PAPER(predictions):.4f}",
                *(
                    f"{splits[column].mean():.4f} ± {splits[column].std():.4f}"
                    for column in (f"area of {title}", f"the paper's of {title}")
                ),
                "-" if printed is None else f"{printed:.4f}",
            ]
        )
    n_splits = left["replication"].nunique()
    high, high_by_default = (leads(left, name, "high") for name in ("paper", "default"))
    low, low_by_default = (leads(left, name, "low_fpr") for name in ("paper", "default"))
    header = ["classifier", "DMF-AUC", "the paper's", "of all splits", "the paper's of all splits"]
    header += ["printed"]
    claim = claims_table(
        [
            (
                "Of GLASS the multinomial regression has the highest TPR with a high threshold",
                f"by the paper's estimator in {high} of {n_splits} splits (mean of the "
                f"{HIGH_LEVELS} highest thresholds; {low} at a FPR of {LOW_FPR:g}), by the default "
                f"in {high_by_default} ({low_by_default})",
                high > n_splits / 2,
            )
        ]
    )
    return f"""The paper reads off its curves of GLASS that the multinomial regression and the
nearest neighbours have like areas, but not like curves:

{claim}

{markdown_table(header, rows)}"""


@lru_cache
def by_paper(name: str) -> Comparison:
    """Compare the classifiers of one split by the paper's estimator and its bootstrap."""
    found = predictions_of(name, SEED)
    return compare(found, measures=PAPER, method=dmfroc.papers.PaperBootstrap(N_DRAWS))


@lru_cache
def by_all_methods(name: str) -> dict[str, Comparison]:
    """Compare the classifiers of one split by each method."""
    found = predictions_of(name, SEED)
    return {kind: compare(found, method=method) for kind, method in KINDS.items()}


def width_rows(names: tuple[str, ...]) -> list[list[str]]:
    """Return how much the draws of the paper's bootstrap vary beside those of the bootstrap."""
    rows = []
    for name in names:
        ours = by_all_methods(name)
        found = predictions_of(name, SEED)
        papers = compare(found, measures=PAPER, method=dmfroc.Bootstrap(N_DRAWS))
        pairs = ((ours["paper_bootstrap"], ours["bootstrap"]), (by_paper(name), papers))
        shares = [
            np.mean([a.estimates[x].standard_error / b.estimates[x].standard_error for x in found])
            for a, b in pairs
        ]
        rows.append([f"{name}, boxes", *(f"{share:.2f}" for share in shares)])
    return rows


def boxes(names: tuple[str, ...]) -> Figure:
    """Draw the draws of the paper's bootstrap and of the bootstrap, and M (its figure 7)."""
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    handles = {}
    for name, ax in zip(names, figure.subplots(2, 3).ravel(), strict=True):
        found = predictions_of(name, SEED)
        for place, (title, predictions) in enumerate(found.items()):
            for shift, method, color in (
                (-0.17, "paper_bootstrap", "#D55E00"),
                (0.17, "bootstrap", "#0072B2"),
            ):
                is_paper = method == "paper_bootstrap"
                compared = by_paper(name) if is_paper else by_all_methods(name)[method]
                drawn = ax.boxplot(
                    compared.estimates[title].draws,
                    positions=[place + shift],
                    widths=0.28,
                    boxprops={"color": color},
                    medianprops={"color": color},
                    whiskerprops={"color": color},
                    capprops={"color": color},
                    flierprops={"markersize": 2, "markeredgecolor": color},
                )
                handles[BOXES[method]] = drawn["boxes"][0]
            [handles["Hand-Till M"]] = ax.plot(
                place, hand_till_score(predictions), "o", color="black", markersize=5
            )
        ax.set_xticks(range(place + 1), list(found))
        ax.set_title(name)
    for ax in figure.axes[::3]:
        ax.set_ylabel("DMF-AUC")
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3)
    return figure


def picture(names: tuple[str, ...], **options: object) -> Figure:
    """Draw the curves of one split."""
    figure = Figure(figsize=(12, 8.2), layout="constrained")
    for name, ax in zip(names, figure.subplots(2, 3).ravel(), strict=True):
        displays = {
            title: MulticlassROCDisplay.from_predictions(predictions, ax=ax, **options)
            for title, predictions in predictions_of(name, SEED).items()
        }
        ax.legend(
            [display.line_ for display in displays.values()],
            [f"{title}, AUC {display.curve.auc:.3f}" for title, display in displays.items()],
            loc="lower right",
            fontsize="small",
        )
        ax.set(title=name, xlabel="false positive rate", ylabel="true positive rate")
        ax.label_outer()
        if name.endswith("digits"):
            _zoom(ax)
    return figure


def _zoom(ax: Axes) -> None:
    """Show the corner of near-perfect curves larger."""
    inset = ax.inset_axes((0.42, 0.36, 0.54, 0.44), xlim=(-0.002, 0.1), ylim=(0.84, 1.004))
    for line in ax.lines:
        [copy] = inset.plot(*line.get_data())
        copy.update_from(line)  # which knows the dashes
        copy.set(transform=inset.transData, clip_path=inset.patch)
    inset.tick_params(labelsize="x-small")
    ax.indicate_inset_zoom(inset)


def ranks(generator: np.random.Generator, name: str) -> list[dict]:
    """Fit the rates of one half of the test set by each rank, and predict those of the other."""
    seed = int(generator.integers(2**31))
    rows = []
    for classifier, predictions in predictions_of(name, seed).items():
        is_first = halves(generator, predictions)
        for shrinkage in RANK_SHRINKAGES:
            options = CurveOptions(shrinkage=shrinkage)
            statistic = options(predictions)
            tables = [statistic.count(is_first == half, np) for half in (1.0, 0.0)]
            fitted, held_out = (table.rates(np) for table in tables)
            weights = tables[0].cell_weights
            for rank in RANKS:
                found = fit_center(fitted, weights, statistic.shrinkage, rank, "logit")
                deviances = [
                    float(binomial_deviance(rates, found.logits, weights)) / rates.size
                    for rates in (fitted, held_out)
                ]
                measure = dmf_auc(rank=rank, shrinkage=shrinkage)
                rows.append(
                    {
                        "classifier": classifier,
                        "shrinkage": shrinkage,
                        "rank": rank,
                        "area": measure(predictions),
                        "deviance": deviances[0],
                        "held_out": deviances[1],
                        "converged": bool(found.converged),
                    }
                )
    return rows


def halves(generator: np.random.Generator, predictions: Predictions) -> np.ndarray:
    """Divide the observations at random, half of each class, the odd one to the first half."""
    found = np.zeros(predictions.n_observations)
    for place in predictions.present:
        rows = generator.permutation(np.flatnonzero(predictions.true == place))
        found[rows[: (len(rows) + 1) // 2]] = 1.0
    return found


def rank_section(table: pd.DataFrame) -> str:
    """Report what a higher rank does to the fit and to the area."""
    default = table[table["shrinkage"] == RANK_SHRINKAGES[0]]
    by_rank = default.pivot_table("held_out", ["name", "classifier"], "rank")
    n_best = by_rank.idxmin(axis=1).value_counts().reindex(RANKS, fill_value=0)
    pivot = table.pivot_table(
        index=["name", "classifier", "replication"], columns=["shrinkage", "rank"], values="area"
    )
    moves = {
        (shrinkage, rank): (pivot[shrinkage, rank] - pivot[shrinkage, 1])
        for shrinkage in RANK_SHRINKAGES
        for rank in RANKS[1:]
    }
    held = default.pivot_table(
        index=["name", "classifier", "replication"], columns="rank", values="held_out"
    )
    gains = {rank: float((1 - held[rank] / held[1]).median()) for rank in RANKS[1:]}
    wins = {rank: float((held[rank] < held[1]).mean()) for rank in RANKS[1:]}
    spread = {
        shrinkage: float(pivot[shrinkage].groupby(level=[0, 1]).std().mean()[1])
        for shrinkage in RANK_SHRINKAGES
    }
    lines = [
        [
            f"{shrinkage:g}",
            rank,
            f"{moved.mean():+.4f}",
            f"{moved.abs().max():.4f}",
            f"{spread[shrinkage]:.4f}",
        ]
        for (shrinkage, rank), moved in moves.items()
    ]
    n_splits = default["replication"].nunique()
    changes = ["shrinkage", "rank", "mean change from rank one", "largest", "sd over splits"]
    return f"""## Does a higher rank earn its keep?

In {n_splits} splits, the rates of a random half of the scored rows are fitted by models of rank
one, two and three with shrinkage {RANK_SHRINKAGES[0]:g}. A smaller deviance of the other half's
rates from the fit means that the model predicts the rates of new observations better. By that, rank
one was best for {n_best[1]} of {len(by_rank)} classifiers, rank two for {n_best[2]}, and rank
three for {n_best[3]}. Rank two beat rank one in {100 * wins[2]:.0f} % of the splits, with a median
gain of {100 * gains[2]:.0f} % of the deviance; rank three did in {100 * wins[3]:.0f} %, with
{100 * gains[3]:.0f} %. What the rank does to the area, in all splits:

{markdown_table(changes, lines)}"""


def penalty_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return the orders with a regression without a penalty."""
    rows = []
    for name, group in table.groupby("name", sort=False):
        printed, _ = PRINTED[name]
        part = group[group["penalty"] == "none"]
        counts = part["order"].value_counts()
        most = f"{counts.index[0]} ({counts.iloc[0]})" if len(counts) else ""  # of a quick run
        rows.append([name, f"{counts.get(printed, 0)} of {len(part)}", most])
    return rows


def page(names: tuple[str, ...], tables: dict[str, pd.DataFrame]) -> str:
    """Report one split in detail and the study of many."""
    results, left = tables["splits"], tables["left"]
    table = results[results["penalty"] == "L2"]
    orders = []
    for name in names:
        orders += order_rows(name, [by_all_methods(name)["jackknife"], by_paper(name)])
    order_header = ["data", "order", "jackknife", "the paper's, of its DMF-AUC", "printed"]
    split_header = [
        "data",
        "leading order in table 1",
        "printed probability",
        "splits with this order",
        "mean of our probability of it",
        "both by the paper's DMF-AUC",
        "our most frequent order",
    ]
    penalty_header = ["data", "splits with the printed order", "most frequent order"]
    return f"""# Six real data sets

Made by `experiments/real_data.py`, after section 5.4 of Wang and Carvalho (2024): multinomial
logistic regression (L2 penalty), k-nearest neighbours and a decision tree, fitted to one half of
each data set (stratified) and evaluated on the other.

{claims(table)}

## One split

With seed {SEED}, and 95 % intervals by the jackknife. *The
paper's DMF-AUC* has `shrinkage=0` and `threshold_pool="pooled"`.

By the paper's estimator and its bootstrap (its figure 8), then by the package's defaults:

![ROC curves by the paper's estimator on six data sets](../images/real_data_paper.png)

![ROC curves of three classifiers on six data sets](../images/real_data.png)

The {N_DRAWS} draws of the paper's bootstrap of its DMF-AUC, as in its figure 7, beside those of the
bootstrap of ours, and M:

![Box plots of both bootstraps on six data sets](../images/real_data_boxes.png)

How much draws of the paper's bootstrap vary, in standard deviations of the bootstrap's draws of the
same estimator, on average over the classifiers:

{markdown_table(["data", "our DMF-AUC", "the paper's DMF-AUC"], width_rows(names))}

The probability of orders of the classifiers by DMF-AUC, best first, beside those that the
paper's table 1 prints, where one of them is {SHOWN:g} or more:

{markdown_table(order_header, orders)}

{glass(table, left) if "glass" in names else ""}

## {table["replication"].nunique()} splits

How often the order that the paper's table 1 prints as the most probable came out:

{markdown_table(split_header, split_rows(table))}

The regression above has scikit-learn's L2 penalty with C = 1. The paper names no penalty; without
one (at most {MOST_STEPS} steps, as separable classes have no optimum) the orders are:

{markdown_table(penalty_header, penalty_rows(results))}

{rank_section(tables["ranks"]) if "ranks" in tables else ""}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        N_DRAWS = 100
    names = ("iris",) if options.quick else NAMES
    chosen = studies(names)
    if options.quick:
        del chosen["ranks"]  # whose fits are compiled for a minute
    found = run_studies(chosen, options)
    text = page(names, found)
    if options.quick:
        print(text)
    else:
        write_figure("real_data", picture(NAMES))
        write_figure("real_data_paper", picture(NAMES, method="paper_bootstrap", **PAPER_OPTIONS))
        write_figure("real_data_boxes", boxes(NAMES))
        write_page("real_data", text)
