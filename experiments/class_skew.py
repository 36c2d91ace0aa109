"""Whether class skew moves the measures: Wang and Carvalho (2024), section 5.2, and beyond."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
import pandas as pd
from _populations import MultinomialPopulation, MultinomialSample, simulate_predictions
from _runner import Study, grid
from _study import (
    PAPER,
    RESULTS,
    arguments,
    claims_table,
    markdown_table,
    roc_axes,
    run_studies,
    run_study,
    write_figure,
    write_page,
)
from matplotlib.figure import Figure
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dmfroc import Measure, Predictions, estimate, multiclass_roc
from dmfroc.measures import MEASURES as ALL_MEASURES
from dmfroc.measures import dmf_auc
from dmfroc.measures.measure import value_of

N_CLASSES = 5
N_COVARIATES = 10
AVAILABLE = (10, 6, 2)
CONCENTRATIONS = (1, 2, 5, 10)
AREAS = {
    "equal": dmf_auc(),
    "no_shrinkage": dmf_auc(shrinkage=0),
    "paper": dmf_auc(**PAPER),
    "prevalence": dmf_auc(pair_weights="prevalence"),
    "paper_prevalence": dmf_auc(pair_weights="prevalence", **PAPER),
}
WEIGHTINGS = ("equal", "prevalence")
WEIGHTED = (("paper_prevalence", "paper"), ("prevalence", "equal"))
N = 10_000
LEAST_CLASS = 10
REPLICATIONS = 30
MATRICES, SETS_OF_MATRIX = 12, 20
TRAININGS = ("balanced", "skewed")
CHOSEN: dict[str, Measure] = {
    "DMF-AUC": dmf_auc(),
    "DMF-AUC, no shrinkage": dmf_auc(shrinkage=0),
    "DMF-AUC, pooled thresholds": dmf_auc(threshold_pool="pooled"),
    "DMF-AUC, the paper's (neither)": dmf_auc(shrinkage=0, threshold_pool="pooled"),
    "Hand-Till M": ALL_MEASURES["hand_till"],
    "Informedness": ALL_MEASURES["informedness"],
    "Informedness, macro": ALL_MEASURES["informedness_macro"],
    "MCC (Gorodkin's R_K)": ALL_MEASURES["gorodkin_correlation"],
    "Cohen's kappa": ALL_MEASURES["cohen_kappa"],
    "Balanced accuracy": ALL_MEASURES["balanced_accuracy"],
    "Macro F1": ALL_MEASURES["macro_f1"],
}
NOT_SHOWN = (
    "DMF-AUC, no shrinkage",
    "DMF-AUC, pooled thresholds",
    "no_shrinkage",
    "auc_mu",
    "ovr_macro",
)
TRAINED_COVARIATES, N_TRAIN, N_TEST, LEAST_TRAINED = 6, 1000, 2000, 20
N_SKEWS = 10_000
MEASURES = {
    "equal": "DMF-AUC, equal weights",
    "no_shrinkage": "DMF-AUC, no shrinkage",
    "paper": "DMF-AUC, the paper's",
    "prevalence": "DMF-AUC, prevalence weights",
    "paper_prevalence": "DMF-AUC, the paper's, prevalence weights",
    "hand_till": "Hand-Till M",
    "auc_mu": "AUC-mu",
    "ovr_weighted": "one-vs-rest, weighted by prevalence",
    "ovr_macro": "one-vs-rest, macro",
}


def sample(
    generator: np.random.Generator,
    n_available: int,
    concentration: float | None,
    n: int,
    matrix: int = 0,
) -> Predictions:
    """Draw a test set: balanced, or skewed by a Dirichlet distribution."""
    population = MultinomialPopulation.random(N_CLASSES, N_COVARIATES, random_state=matrix)
    sizes = {"prevalence": "balanced"} if concentration is None else {"skew": concentration}
    return simulate_predictions(
        population,
        n,
        n_available,
        **sizes,
        min_class_size=LEAST_CLASS,
        random_state=generator,
    )


def class_skew(
    generator: np.random.Generator, n_available: int, concentration: float | None, n: int
) -> dict:
    """Evaluate all measures on one test set."""
    predictions = sample(generator, n_available, concentration, n)
    row = {"skew_ratio": predictions.class_counts.max() / predictions.class_counts.min()}
    for name in (*AREAS, "hand_till", "auc_mu"):
        found = estimate(AREAS.get(name, name), predictions)
        row[name], row[f"{name}_se"] = found.value, found.standard_error
    for average in ("weighted", "macro"):
        row[f"ovr_{average}"] = roc_auc_score(
            predictions.true,
            softmax(np.log(predictions.scores), axis=1),
            multi_class="ovr",
            average=average,
        )
    return row


def matrices(
    generator: np.random.Generator, matrix: int, n_available: int, concentration: float, n: int
) -> dict:
    """Return areas of a test set from one of several matrices of coefficients."""
    predictions = sample(generator, n_available, concentration, n, matrix)
    return {name: value_of(AREAS[name], predictions) for pair in WEIGHTED for name in pair}


def trained_skew(
    generator: np.random.Generator, training: str, concentration: float, n: int
) -> list[dict]:
    """Train one classifier, and evaluate it on a balanced and on a skewed test set."""
    seed = int(generator.integers(2**31))
    population = MultinomialPopulation.random(N_CLASSES, TRAINED_COVARIATES, random_state=seed)
    sizes = {"prevalence": "balanced"} if training == "balanced" else {"skew": 1.0}

    def draw(size: int, **sizes: object) -> MultinomialSample:
        return population.sample(
            size, min_class_size=LEAST_TRAINED, random_state=generator, **sizes
        )

    train = draw(N_TRAIN, **sizes)
    model = LogisticRegression(max_iter=2000).fit(train.covariates, train.classes)
    values = []
    for test in (draw(n, prevalence="balanced"), draw(n, skew=concentration)):
        predictions = Predictions.from_arrays(test.classes, model.predict_proba(test.covariates))
        values.append([value_of(measure, predictions) for measure in CHOSEN.values()])
    return [
        {"measure": name, "balanced": balanced, "skewed": skewed}
        for name, balanced, skewed in zip(CHOSEN, *values, strict=True)
    ]


def studies(
    n: int,
    n_test: int,
    available: Sequence[int] = AVAILABLE,
    concentrations: Sequence[int] = CONCENTRATIONS,
) -> dict[str, Study]:
    common = {"seed": 1, "directory": RESULTS}
    settings = grid(n_available=available, concentration=[*concentrations, None], n=[n])
    extremes = [max(available), min(available)]
    of_matrices = grid(
        matrix=range(MATRICES), n_available=extremes, concentration=[min(concentrations)], n=[n]
    )
    of_training = grid(training=TRAININGS, concentration=[1], n=[n_test])
    return {
        "known": Study("class_skew", class_skew, settings, replications=REPLICATIONS, **common),
        "matrices": Study(
            "class_skew_matrices", matrices, of_matrices, replications=SETS_OF_MATRIX, **common
        ),
        "trained": Study("trained_skew", trained_skew, of_training, replications=100, **common),
    }


def tail_picture() -> Figure:
    """Draw the tail probabilities of the skew ratio (the paper's figure 4)."""
    generator = np.random.default_rng(1)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    colors = matplotlib.colormaps["viridis"](np.linspace(0, 0.85, len(CONCENTRATIONS)))
    for ax, n_classes in zip(figure.subplots(1, 3, sharey=True), (3, 5, 10), strict=True):
        for concentration, color in zip(CONCENTRATIONS, colors, strict=True):
            shares = generator.dirichlet(np.full(n_classes, concentration), N_SKEWS)
            ratios = np.sort(shares.max(axis=1) / shares.min(axis=1))
            ax.plot(ratios, 1 - np.arange(N_SKEWS) / N_SKEWS, color=color, label=concentration)
        ax.set(xscale="log", xlim=(1, 1000), ylim=(0, 1.02), title=f"K = {n_classes}")
        ax.set(xlabel="ratio r of largest to smallest class", ylabel="probability of more than r")
        ax.grid(alpha=0.3)
        ax.label_outer()
    ax.legend(title="concentration", loc="upper right")
    return figure


def curve_picture(n: int) -> Figure:
    """Draw the paper's curves of all test sets by concentration (its figure 5)."""
    figure = Figure(figsize=(12, 6.6), layout="constrained")
    axes = figure.subplots(len(WEIGHTINGS), len(CONCENTRATIONS), sharex=True, sharey=True)
    for column, concentration in zip(axes.T, CONCENTRATIONS, strict=True):
        for p, color in zip(AVAILABLE, ("#0072B2", "#D55E00", "#009E73"), strict=True):
            setting = {"n_available": p, "concentration": concentration, "n": n}
            for replication in range(REPLICATIONS):
                generator = studies(n, N_TEST)["known"].generator(setting, replication)
                predictions = sample(generator, **setting)
                for ax, weighting in zip(column, WEIGHTINGS, strict=True):
                    curve = multiclass_roc(predictions, pair_weights=weighting, **PAPER)
                    label = f"{p} covariates" if replication == 0 else None
                    ax.plot(
                        curve.fpr, curve.tpr, color=color, linewidth=0.6, alpha=0.6, label=label
                    )
        for ax, weighting in zip(column, WEIGHTINGS, strict=True):
            roc_axes(ax, f"concentration {concentration}, {weighting} weights")
            ax.title.set_size("medium")
    legend = axes[0, 0].legend(loc="lower right", fontsize="small")
    for line in legend.get_lines():
        line.set(linewidth=2, alpha=1)
    return figure


def population_medians() -> list[float]:
    """Return the medians of the ratio of largest to smallest class, by rising concentration."""
    generator = np.random.default_rng(1)
    found = []
    for concentration in CONCENTRATIONS:
        shares = generator.dirichlet(np.full(N_CLASSES, concentration), N_SKEWS)
        found.append(float(np.median(shares.max(axis=1) / shares.min(axis=1))))
    return found


def range_of(x: pd.Series) -> str:
    """Return the least, the median and the largest."""
    return f"{x.min():.1f} to {x.max():.1f} (median {x.median():.1f})"


def root_mean_square(x: pd.Series) -> float:
    return float(np.sqrt((x**2).mean()))


def ratios_of_matrices(table: pd.DataFrame, weighted: str, unweighted: str) -> pd.DataFrame:
    """Return how much more the weighted area varies than the other: matrices by classifiers."""
    deviation = table.groupby(["matrix", "n_available"])[[weighted, unweighted]].std()
    return (deviation[weighted] / deviation[unweighted]).unstack()


def claims(table: pd.DataFrame, of_matrices: pd.DataFrame) -> str:
    """Hold the paper's claims against the numbers."""
    by_matrix, by_default = (ratios_of_matrices(of_matrices, *pair) for pair in WEIGHTED)
    skewed = table[table["concentration"].notna()]
    by_setting = skewed.groupby(["n_available", "concentration"])
    deviation = by_setting[list(MEASURES)].std()
    error, error_of_paper, error_of_mu = (
        by_setting[f"{name}_se"].agg(root_mean_square) for name in ("equal", "paper", "auc_mu")
    )
    medians = skewed.groupby("concentration")["skew_ratio"].median()
    expected = population_medians()
    balanced = table[table["concentration"].isna()].groupby("n_available")[list(MEASURES)].mean()
    strongest = skewed["concentration"].min()
    most_skewed = skewed[skewed["concentration"] == strongest]
    drifts = most_skewed.groupby("n_available")[list(MEASURES)].mean() - balanced
    drift, drift_of_paper, drift_of_mu = drifts.abs().max()[["equal", "paper", "auc_mu"]]
    excess = (deviation["equal"] / error).max()
    excess_of_paper = (deviation["paper"] / error_of_paper).max()
    excess_of_mu = (deviation["auc_mu"] / error_of_mu).max()
    against_m = deviation["ovr_weighted"] / deviation["hand_till"]
    best, worst = table["n_available"].max(), table["n_available"].min()
    more_for_worst = by_matrix[worst] > by_matrix[best]
    return claims_table(
        [
            (
                "The lower the concentration, the more skewed the classes",
                f"median ratio of largest to smallest class of {N_SKEWS:,} draws "
                + ", ".join(f"{x:.1f} ({c})" for c, x in zip(CONCENTRATIONS, expected, strict=True))
                + f"; of all test sets, {len(skewed) // len(medians)} of each concentration, "
                + ", ".join(f"{ratio:.1f}" for ratio in medians),
                bool(np.all(np.diff(expected) < 0)),
            ),
            (
                "The unweighted curve barely varies with the skew",
                f"its AUC moves by {drift:.4f} at most from balanced to most skewed; its sd is "
                f"at most {excess:.1f} times what sampling explains (the jackknife's SE); that of "
                f"the paper's estimator by {drift_of_paper:.4f} and {excess_of_paper:.1f} times",
                bool(max(drift, drift_of_paper) < 0.01 and max(excess, excess_of_paper) < 2),
            ),
            (
                "The weighted curve varies more, most of all for low-quality classifiers",
                f"sd of its AUC in the most skewed test sets of {len(by_matrix)} matrices of "
                f"coefficients, by the paper's estimator: {range_of(by_matrix[worst])} times that "
                f"of the unweighted for the worst classifier and {range_of(by_matrix[best])} for "
                f"the best, for which it is above 1 with {(by_matrix[best] > 1).sum()}; more for "
                f"the worst with {more_for_worst.sum()} matrices (by the default "
                f"{range_of(by_default[worst])} and {range_of(by_default[best])})",
                bool(by_matrix.median().min() > 1 and more_for_worst.mean() > 0.5),
            ),
            (
                "AUC-mu is invariant to class skew",
                f"it moves by {drift_of_mu:.4f} at most; its sd is at most {excess_of_mu:.1f} "
                "times what sampling explains",
                bool(drift_of_mu < 0.01 and excess_of_mu < 2),
            ),
            (
                "So is the one-vs-rest average of Provost and Domingos (by prevalence)",
                f"its sd is {against_m.min():.1f} to {against_m.max():.1f} times that of M in the "
                "same skewed test sets",
                bool(against_m.max() < 2),
            ),
        ]
    )


def deviation_table(table: pd.DataFrame) -> str:
    """Return the standard deviations over the test sets, by classifier and concentration."""
    rows = []
    concentrations = [None, *sorted(table["concentration"].dropna().unique())[:1]]
    for p in (table["n_available"].max(), table["n_available"].min()):
        for name in [x for x in MEASURES if x not in NOT_SHOWN]:
            row = [str(p), MEASURES[name]]
            for concentration in concentrations:
                wanted = table["concentration"].isna()
                if concentration is not None:
                    wanted = table["concentration"] == concentration
                group = table[wanted & (table["n_available"] == p)]
                error = (
                    f" ({root_mean_square(group[f'{name}_se']):.4f})"
                    if f"{name}_se" in group
                    else ""
                )
                row.append(f"{group[name].mean():.3f} ± {group[name].std():.4f}{error}")
            rows.append(row)
    titles = ["balanced" if c is None else f"Dirichlet({c:g})" for c in concentrations]
    return markdown_table(["covariates", "measure", *titles], rows)


def drifts(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean and spread of what a skewed test set changes, by measure and setting."""
    change = (table["skewed"] - table["balanced"]).rename("change")
    keys = [table[name] for name in ("measure", "training")]
    return change.groupby(keys).agg(["mean", "std"])


def claims_of_trained(table: pd.DataFrame) -> str:
    """Hold the paper's claims against classifiers whose training data were skewed."""
    found = drifts(table).xs("skewed", level="training")
    spread, mean = found["std"], found["mean"].abs()
    paper, of_m, mcc = "DMF-AUC, the paper's (neither)", "Hand-Till M", "MCC (Gorodkin's R_K)"

    of_setting = table[table["training"] == "skewed"]
    changes = of_setting.assign(change=of_setting["skewed"] - of_setting["balanced"]).pivot(
        index="replication", columns="measure", values="change"
    )
    pooling = changes["DMF-AUC, pooled thresholds"] - changes["DMF-AUC"]
    z = pooling.mean() / pooling.std() * np.sqrt(len(pooling))

    def told(name: str) -> str:
        return f"{name} {found['mean'][name]:+.3f} ± {spread[name]:.3f}"

    return claims_table(
        [
            (
                "The DMF-AUC does not depend on the class frequencies of the test set (ours, with "
                "balanced pools)",
                f"{told('DMF-AUC')}, where M moves by {told(of_m).removeprefix(of_m).strip()}",
                bool(mean["DMF-AUC"] < 0.01 and spread["DMF-AUC"] < 1.5 * spread[of_m]),
            ),
            (
                "Nor does that of the paper (pooled thresholds, no shrinkage)",
                f"{told(paper)}; beside balanced pools {pooling.mean():+.4f} on average (paired "
                f"z = {z:.1f}), by up to {pooling.abs().max():.4f}",
                abs(z) < 3,
            ),
            (
                "MCC deteriorates under imbalance (section 1.1: seriously)",
                f"{told(mcc)}; macro informedness {told('Informedness, macro').split(' ', 2)[2]}, "
                f"kappa {told('Cohen' + chr(39) + 's kappa').split(' ', 2)[2]}",
                bool(found["mean"][mcc] < -0.02 or spread[mcc] > 3 * spread["Informedness, macro"]),
            ),
        ]
    )


def trained_table(table: pd.DataFrame) -> str:
    """Return by how much measures change from the balanced to the most skewed test set."""
    found, rows = drifts(table), []
    for name in [x for x in CHOSEN if x not in NOT_SHOWN]:
        group = table[(table["measure"] == name) & (table["training"] == "skewed")]
        change = found.loc[(name, "skewed")]
        error = change["std"] / np.sqrt(group["replication"].nunique())
        cells = [f"{change['mean']:+.4f} ± {error:.4f}", f"{change['std']:.4f}"]
        rows.append(["skewed", name, f"{group['balanced'].mean():.3f}", *cells])
    header = ["training data", "measure", "mean, balanced test set", "mean change", "its sd"]
    return markdown_table(header, rows)


def page(tables: dict[str, pd.DataFrame], n: int) -> str:
    """Report the studies."""
    table, trained = tables["known"], tables["trained"]
    return f"""# Class skew

Made by `experiments/class_skew.py`, after section 5.2 of Wang and Carvalho (2024). Labels are drawn
from a multinomial logit model with K = {N_CLASSES}; classifiers know the first
{", ".join(map(str, AVAILABLE))} of its {N_COVARIATES} covariates. Test sets of {n:,} observations
have class frequencies from a symmetric Dirichlet distribution, but at least {LEAST_CLASS}
observations of each class; there are {table["replication"].nunique()} test sets of each kind, from
one matrix of coefficients. {MATRICES} other matrices with {SETS_OF_MATRIX} test sets each show how
much that matters to the weighted curve; their ratios have a Monte Carlo error of some
{100 / np.sqrt(SETS_OF_MATRIX - 1):.0f} %.

{claims(table, tables["matrices"])}

How skewed the classes are, from {N_SKEWS:,} draws for each line (the paper's figure 4):

![Tail probabilities of the ratio of largest to smallest class](../images/skew_ratio.png)

The curves of all test sets by the paper's estimator (its figure 5):

![ROC curves under class skew](../images/class_skew.png)

Mean ± standard deviation over the test sets; in brackets the root mean square of the jackknife's
standard errors, which is what sampling alone explains.

{deviation_table(table)}

*The paper's* DMF-AUC has `shrinkage=0` and `threshold_pool="pooled"`.

## Trained classifiers

The classifiers above know the true probabilities. These are logistic regressions on {N_TRAIN:,}
observations with {TRAINED_COVARIATES} covariates, whose classes are balanced or as frequent as a
Dirichlet(1) distribution says. Each has coefficients of its own, and two
test sets of {trained["n"].iloc[0]:,} observations, a balanced and a skewed one, with at least
{LEAST_TRAINED} of each class, in {trained["replication"].nunique()} replications. With the most
skewed test sets, and
classifiers trained on skewed data:

{claims_of_trained(trained)}

Change from the balanced to the most skewed test set, with the Monte Carlo error of its mean; the sd
of the change of M is what sampling explains, for areas. Balanced training data are in
`experiments/results/trained_skew.parquet`.

{trained_table(trained)}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        MATRICES = 1
        small = studies(300, 400, available=(10, 2), concentrations=(10, 1))
        print(page({name: run_study(study, options) for name, study in small.items()}, 300))
    else:
        text = page(run_studies(studies(N, N_TEST), options), N)
        write_figure("skew_ratio", tail_picture())
        write_figure("class_skew", curve_picture(N))
        write_page("class_skew", text)
