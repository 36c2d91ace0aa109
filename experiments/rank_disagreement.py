"""How often AUPRG, AUPR and AUROC rank models differently: Flach and Kull (2015), section 4."""

from __future__ import annotations

import itertools
import warnings
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from _datasets import Dataset, design_matrix, load_dataset
from _known_data import NAMES as LOCAL
from _known_data import local_dataset
from _runner import Study
from _study import (
    RESULTS,
    arguments,
    claims_table,
    run_study,
    write_figure,
    write_page,
)
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from dmfroc import Predictions, measures, plots

SHIPPED = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "wine": load_wine,
}  # with scikit-learn
NAMES = (
    *("breast_cancer", "credit_a", "heart_c", "ionosphere", "tic_tac_toe", "vote"),
    *("car", "glass", "iris", "optdigits", "pendigits", "tae", "waveform5000", "wine", "zoo"),
    *("digits", *LOCAL),
)
REST = "rest"
TASK = ["data", "target", "against", "replication"]
MOST_ROWS = 600
FEWEST_ROWS = 60  # the training part holds fifty neighbours
N_FOLDS = 10
AREAS = {
    "AUPRG": measures.precision_recall_gain_area(),
    "AUPR": measures.precision_recall_area(),
    "AUROC": measures.one_vs_rest_auc(),
}


AREAS_OF_PR = ("AUPRG", "AUPR")


class Agreement(NamedTuple):
    """How two measures rank the models of many tasks."""

    top_1: float  # share of the tasks in which they disagree on the best model
    top_3: float  # on the best, the second or the third
    correlation: float  # of the ranks in all tasks


PRINTED = {
    ("AUPRG", "AUPR"): Agreement(0.24, 0.58, 0.95),
    ("AUPRG", "AUROC"): Agreement(0.22, 0.57, 0.96),
    ("AUPR", "AUROC"): Agreement(0.29, 0.65, 0.95),
}


def models(seed: int) -> dict[str, ClassifierMixin]:
    """Return thirty models of many kinds."""
    ensemble = {"n_estimators": 15, "random_state": seed}
    return {
        **{f"logistic, C={c:g}": LogisticRegression(C=c) for c in (0.01, 1, 100)},
        "ridge": RidgeClassifier(),
        "perceptron": Perceptron(random_state=seed),
        **{
            f"SGD, {loss}": SGDClassifier(loss, random_state=seed) for loss in ("log_loss", "hinge")
        },
        "linear discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        "naive Bayes, normal": GaussianNB(),
        "naive Bayes, binary": BernoulliNB(),
        **{f"{k}-nearest": KNeighborsClassifier(k) for k in (1, 5, 15, 50)},
        **{
            f"tree, depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=seed)
            for depth in (1, 3, 6, None)
        },
        "tree, leaves of 10": DecisionTreeClassifier(min_samples_leaf=10, random_state=seed),
        "bagging": BaggingClassifier(n_estimators=5, random_state=seed),
        "forest": RandomForestClassifier(**ensemble),
        "forest, depth 3": RandomForestClassifier(max_depth=3, **ensemble),
        "extra trees": ExtraTreesClassifier(**ensemble),
        "AdaBoost": AdaBoostClassifier(**ensemble),
        **{
            f"boosting, depth {depth}": GradientBoostingClassifier(max_depth=depth, **ensemble)
            for depth in (1, 3)
        },
        "SVM, linear": SVC(kernel="linear", C=0.1),
        **{f"SVM, C={c:g}": SVC(C=c) for c in (1, 100)},
        "neural network": MLPClassifier((10,), max_iter=50, random_state=seed),
    }


@lru_cache
def load(name: str) -> Dataset:
    if name in LOCAL:
        return local_dataset(name)
    if name not in SHIPPED:
        return load_dataset(name)
    bunch = SHIPPED[name](as_frame=True)
    return Dataset(name, bunch.data, bunch.target_names[bunch.target], "scikit-learn")


def tasks(names: tuple[str, ...], n_folds: int) -> list[dict]:
    """Return the binary tasks: each class against the rest, and each pair of more than two.

    Only classes that all folds hold make a task, and only pairs that are large enough.
    """
    settings = []
    for name in names:
        labels, counts = np.unique(load(name).y, return_counts=True)
        large = labels[counts >= n_folds].astype(str)
        sizes = dict(zip(labels.astype(str), counts, strict=True))
        pairs = [
            (x, z)
            for x, z in itertools.combinations(large if len(labels) > 2 else (), 2)
            if sizes[x] + sizes[z] >= FEWEST_ROWS
        ]
        targets = large if len(labels) > 2 else labels[[counts.argmin()]].astype(str)
        settings += [
            {"data": name, "target": str(x), "against": str(z), "n_folds": n_folds}
            for x, z in (*((x, REST) for x in targets), *pairs)
        ]
    return settings


def task_data(name: str, target: str, against: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the features and classes of one task; 1 is the smaller class."""
    dataset = load(name)
    labels = dataset.y.astype(str)
    chosen = np.flatnonzero(np.isin(labels, [target, against]) | (against == REST))
    y = (labels[chosen] == target).astype(int)
    y = y if 2 * y.sum() <= len(y) else 1 - y
    if len(y) - MOST_ROWS >= 2:  # both classes must be left out, too
        chosen, _, y, _ = train_test_split(
            chosen, y, train_size=MOST_ROWS, stratify=y, random_state=seed
        )
    return dataset.X.iloc[chosen], y


def scores_of(model: ClassifierMixin, X: np.ndarray) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def rank_disagreement(
    generator: np.random.Generator, data: str, target: str, against: str, n_folds: int
) -> list[dict]:
    """Cross-validate all models on one task; the smaller class is positive."""
    dataset, seed = load(data), int(generator.integers(2**31))
    X, y = task_data(data, target, against, seed)
    scores = {name: np.empty(len(y)) for name in models(seed)}
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        features = design_matrix(dataset).fit(X.iloc[train])
        seen, unseen = features.transform(X.iloc[train]), features.transform(X.iloc[test])
        for name, model in models(seed).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(seen, y[train])
            scores[name][test] = scores_of(model, unseen)
    found = {name: Predictions.from_arrays(y, of_model) for name, of_model in scores.items()}
    return [
        {"model": name, **{area: score(of_model) for area, score in AREAS.items()}}
        for name, of_model in found.items()
    ]


def study(settings: list[dict]) -> Study:
    return Study(
        "rank_disagreement",
        rank_disagreement,
        settings,
        replications=1,
        seed=1,
        directory=RESULTS,
    )


def best_of_all(table: pd.DataFrame, first: str, second: str) -> float:
    """Return in which share of all tasks no model is the best, alone or with others, by both."""
    areas, keys = table[[first, second]].round(12), [table[key] for key in TASK]
    is_best = areas == areas.groupby(keys).transform("max")
    return float(1 - is_best.all(axis=1).groupby(keys).any().mean())


def ranks_of(table: pd.DataFrame) -> pd.DataFrame:
    """Rank the models of each task by each area, the best first.

    Tasks in which an area has ties among the first three are left out: they have no such three.
    """
    areas = list(AREAS)
    keys = [table[key] for key in TASK]
    # What differs by rounding alone is a tie
    ranks = table[areas].round(12).groupby(keys).rank(ascending=False)
    is_decided = ranks.where(ranks <= 3).groupby(keys).nunique().eq(3).all(axis=1)
    return ranks.set_index(pd.MultiIndex.from_frame(table[TASK])).loc[is_decided.index[is_decided]]


def agreement(ranks: pd.DataFrame, first: str, second: str) -> Agreement:
    """Compare the ranks by two areas."""
    differ = ranks[first] != ranks[second]
    top_1, top_3 = (
        (differ & (ranks[first] <= n_top)).groupby(level=TASK).any().mean() for n_top in (1, 3)
    )
    return Agreement(float(top_1), float(top_3), float(ranks[first].corr(ranks[second])))


def errors_of(ranks: pd.DataFrame, first: str, second: str) -> Agreement:
    """Return standard errors by the jackknife over data sets, whose tasks are alike."""
    names = ranks.index.get_level_values("data")
    left_out = [agreement(ranks[names != name], first, second) for name in names.unique()]
    return Agreement(*np.sqrt((len(left_out) - 1) * np.var(left_out, axis=0)).tolist())


def picture(ranks: pd.DataFrame) -> Figure:
    """Draw how many models have which ranks (the paper's figure 4, left, for all three pairs)."""
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    edges = np.arange(int(ranks.max(axis=None)) + 1) + 0.5
    ticks = [1, *range(10, len(edges), 10)]
    counts = [np.histogram2d(ranks[a], ranks[b], (edges, edges))[0] for a, b in PRINTED]
    norm = LogNorm(1, np.max(counts))
    axes = figure.subplots(1, len(PRINTED))
    for ax, (first, second), count in zip(axes, PRINTED, counts, strict=True):
        image = ax.pcolormesh(edges, edges, count, norm=norm, cmap="viridis_r")
        ax.set(xlabel=f"rank by {second}", ylabel=f"rank by {first}", aspect="equal")
        ax.set(xticks=ticks, yticks=ticks, xlim=edges[[0, -1]], ylim=edges[[0, -1]])
    figure.colorbar(image, ax=axes, label="models", shrink=0.85)
    return figure


def task_at(table: pd.DataFrame, quantile: float) -> tuple[tuple, pd.DataFrame, float]:
    """Return the task whose AUPRG and AUPR are correlated in rank as in this quantile of tasks.

    Only tasks on which both areas vary, and agree on the best model as in the paper.
    """
    correlations = {}
    for key, part in table.groupby(TASK):
        is_best = part["AUPRG"].idxmax() == part["AUPR"].idxmax()
        correlation = part["AUPRG"].corr(part["AUPR"], method="spearman")
        if is_best and np.isfinite(correlation):
            correlations[key] = correlation
    wanted = np.quantile(list(correlations.values()), quantile, method="nearest")
    key = next(key for key, correlation in correlations.items() if correlation == wanted)
    return key, table.set_index(TASK).loc[key], float(wanted)


def most_discordant(part: pd.DataFrame) -> tuple[str, str]:
    """Return the two models, better than chance, that the areas put into opposite orders most.

    The first has the greater AUPRG, the second the greater AUPR.
    """
    good = part[part["AUPRG"] > 0]
    gain, area = (np.subtract.outer(good[x].to_numpy(), good[x].to_numpy()) for x in AREAS_OF_PR)
    discordance = np.where((gain > 0) & (area < 0), -gain * area, 0)
    first, second = np.unravel_index(discordance.argmax(), discordance.shape)
    return str(good["model"].iloc[first]), str(good["model"].iloc[second])


def scores_in_task(setting: dict, names: tuple[str, ...]) -> dict[str, Predictions]:
    """Return the scores that some of the models had in the study of one task."""
    seed = int(study([setting]).generator(setting, 0).integers(2**31))
    dataset = load(setting["data"])
    X, y = task_data(setting["data"], setting["target"], setting["against"], seed)
    folds = StratifiedKFold(setting["n_folds"], shuffle=True, random_state=seed)
    found = {}
    for name in names:
        model = models(seed)[name]
        has_decision = hasattr(model, "decision_function")
        scores = cross_val_predict(
            make_pipeline(design_matrix(dataset), model),
            X,
            y,
            cv=folds,
            method="decision_function" if has_decision else "predict_proba",
        )
        found[name] = Predictions.from_arrays(y, scores if has_decision else scores[:, 1])
    return found


def task_picture(table: pd.DataFrame, n_folds: int) -> Figure:
    """Draw the areas in two tasks, and curves of two models (figures 4, right, and 5)."""
    figure = Figure(figsize=(12.5, 8), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(0.8, 1))
    scatter = above.subplots(1, 2)
    for ax, quantile in zip(scatter, (0.25, 0.75), strict=True):
        key, part, correlation = task_at(table, quantile)
        shown = part[part["AUPRG"] > 0]
        ax.plot(shown["AUPR"], shown["AUPRG"], "^", color="0.4", markerfacecolor="none")
        ax.set(xlabel="AUPR", ylabel="AUPRG")
        ax.set_title(
            f"{key[0]}, {key[1]} against {key[2]}: rank correlation {correlation:.3f}",
            fontsize="medium",
        )
        if quantile > 0.5:
            continue
        names, task = most_discordant(part), dict(zip(TASK[:3], key, strict=False))
        chosen = shown.set_index("model").loc[list(names)]
        ax.plot(chosen["AUPR"], chosen["AUPRG"], "o", color="C3", markersize=13, fillstyle="none")
    found = scores_in_task(task | {"n_folds": n_folds}, names)
    displays = (plots.ROCDisplay, plots.PrecisionRecallDisplay, plots.PRGDisplay)
    bare = dict.fromkeys(("plot_break_even", "plot_isometrics", "plot_legend"), False)
    for ax, display in zip(below.subplots(1, 3), displays, strict=True):
        curves = [
            display.from_predictions(found[name], name=name, ax=ax, **bare).lines_ for name in names
        ]
        handles = [line for lines in curves for line in lines.values()]
        below_curve = "lower right" if display is plots.ROCDisplay else "lower left"
        ax.legend(handles=handles, loc=below_curve, fontsize="small")
    return figure


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def claims(found: dict[tuple[str, str], tuple[Agreement, Agreement]], table: pd.DataFrame) -> str:
    """Hold the paper's numbers against ours; they agree within two standard errors."""
    rows = []
    n_tasks = len(table) // table["model"].nunique()
    for (first, second), (measured, errors) in found.items():
        printed = PRINTED[first, second]
        for text, name in (
            ("disagree on the best model", "top_1"),
            ("disagree on the first three", "top_3"),
            ("have ranks with the correlation", "correlation"),
        ):
            value, error, paper = (getattr(x, name) for x in (measured, errors, printed))
            shown = (
                (f"{paper:g}", f"{value:.3f} ± {error:.3f}")
                if name == "correlation"
                else (
                    f"in {percent(paper)} of the tasks",
                    f"in {percent(value)} ± {percent(error)}",
                )
            )
            if name == "top_1":
                of_all = percent(best_of_all(table, first, second))
                shown = shown[0], f"{shown[1]}; in {of_all} of all {n_tasks}, where ties agree"
            rows.append(
                (
                    f"{first} and {second} {text} {shown[0]}",
                    shown[1],
                    abs(value - paper) <= 2 * error,
                )
            )
    return claims_table(rows)


def page(table: pd.DataFrame, n_folds: int) -> str:
    """Report the study."""
    ranks = ranks_of(table)
    n_tasks, n_decided = (len(x) // table["model"].nunique() for x in (table, ranks))
    found = {pair: (agreement(ranks, *pair), errors_of(ranks, *pair)) for pair in PRINTED}
    return f"""# Do AUPRG, AUPR and AUROC rank models differently?

Made by `experiments/rank_disagreement.py`, after section 4 of Flach and Kull (2015), who rank 30
models in each of 886 binary tasks of OpenML by the areas under the precision-recall-gain, the
precision-recall (with hyperbolic interpolation) and the ROC curve. Here
{table["model"].nunique()} scikit-learn models of many kinds are ranked in {n_tasks} tasks from
{table["data"].nunique()} data sets: their two classes, each class against the rest, and each pair
of classes. Scores come from {n_folds}-fold cross-validation, the smaller class is positive, and
{MOST_ROWS} rows are drawn from larger data sets. {n_tasks - n_decided} tasks have ties among the
first three models and are left out.

{claims(found, table)}

The first number of a row is that of the {n_decided} tasks without ties. A number holds if it is
within two standard errors, by the jackknife over data sets. The first three agree if all three have
the same places.

![Ranks of the models by two areas each](../images/rank_disagreement.png)

Above, both areas of all models in two tasks without such ties. They are at the lower and at the
upper quartile of the rank correlation, among the tasks in which AUPRG and AUPR agree on the best
model (the paper's figure 4, right). Models worse than chance are left out. Below, the curves of
the two encircled models, about which the two areas disagree most (figure 5). The paper's own
tasks, white-clover and ada-agnostic, are not among the data of this project.

![Areas in two tasks, and the curves of two models](../images/rank_disagreement_tasks.png)

The paper's models are runs that users of OpenML uploaded, on 426 data sets; ours are the same
thirty in every task, on few data sets, and some sets make ten tasks that are much alike. How often
the first places differ depends on how close the best models are to each other.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        small = study(tasks(("iris",), n_folds=2)[1:2])
        print(page(run_study(small, options), n_folds=2))
    else:
        table = run_study(study(tasks(NAMES, N_FOLDS)), options)
        ranks = ranks_of(table)
        is_decided = pd.MultiIndex.from_frame(table[TASK]).isin(ranks.index)
        write_figure("rank_disagreement", picture(ranks))
        write_figure("rank_disagreement_tasks", task_picture(table[is_decided], N_FOLDS))
        write_page("rank_disagreement", page(table, N_FOLDS))
