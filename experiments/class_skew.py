"""Whether class skew moves the measures: Wang and Carvalho (2024), section 5.2."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import (
    PAPER,
    RESULTS,
    arguments,
    claims_table,
    markdown_table,
    roc_axes,
    run_study,
    write_figure,
    write_page,
)
from matplotlib.figure import Figure
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from dmfroc import Predictions, estimate, multiclass_roc
from dmfroc.measures import dmf_auc
from dmfroc.simulation import MultinomialPopulation, SimulatedClassifier, simulate_predictions

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
N = 10_000
LEAST_CLASS = 10
REPLICATIONS = 30
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
    generator: np.random.Generator, n_available: int, concentration: float | None, n: int
) -> Predictions:
    """Draw a test set: balanced, or skewed by a Dirichlet distribution."""
    population = MultinomialPopulation.random(N_CLASSES, N_COVARIATES)
    sizes = {"prevalence": "balanced"} if concentration is None else {"skew": concentration}
    return simulate_predictions(
        population,
        n,
        SimulatedClassifier(n_available=n_available),
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


def study(
    n: int,
    available: Sequence[int] = AVAILABLE,
    concentrations: Sequence[int] = CONCENTRATIONS,
) -> Study:
    settings = grid(n_available=available, concentration=[*concentrations, None], n=[n])
    return Study(
        "class_skew", class_skew, settings, replications=REPLICATIONS, seed=1, directory=RESULTS
    )


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
                generator = study(n).generator(setting, replication)
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


def root_mean_square(x: pd.Series) -> float:
    return float(np.sqrt((x**2).mean()))


def claims(table: pd.DataFrame) -> str:
    """Hold the paper's claims against the numbers."""
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
    weighted, weighted_in_paper = (
        (deviation[a] / deviation[b]).groupby("n_available").mean()
        for a, b in (("prevalence", "equal"), ("paper_prevalence", "paper"))
    )
    best, worst = table["n_available"].max(), table["n_available"].min()
    weighted_deviation = deviation["prevalence"].groupby("n_available").mean()
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
                f"sd of its AUC {weighted[worst]:.1f} times that of the unweighted for the worst "
                f"classifier and {weighted[best]:.1f} times for the best (the paper's estimator: "
                f"{weighted_in_paper[worst]:.1f} and {weighted_in_paper[best]:.1f})",
                bool(weighted.min() > 1 and weighted_deviation[worst] > weighted_deviation[best]),
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
    concentrations = [None, *sorted(table["concentration"].dropna().unique())[::-1]]
    for p in sorted(table["n_available"].unique())[::-1]:
        for name, title in MEASURES.items():
            row = [str(p), title]
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


def page(table: pd.DataFrame, n: int) -> str:
    """Report the study."""
    return f"""# Class skew

Made by `experiments/class_skew.py`, after section 5.2 of Wang and Carvalho (2024). A multinomial
logit model with K = {N_CLASSES} and labels drawn from its probabilities; classifiers that know the
first {", ".join(map(str, AVAILABLE))} of {N_COVARIATES} covariates. Test sets of {n:,} observations
have class frequencies from a symmetric Dirichlet distribution, but at least {LEAST_CLASS}
observations of each class; {table["replication"].nunique()} test sets of each kind. No observation
is drawn twice.

{claims(table)}

How skewed the classes are, from {N_SKEWS:,} draws for each line (the paper's figure 4):

![Tail probabilities of the ratio of largest to smallest class](../images/skew_ratio.png)

The curves of all test sets by the paper's estimator (its figure 5):

![ROC curves under class skew](../images/class_skew.png)

Mean ± standard deviation over the test sets; in brackets the root mean square of the jackknife's
standard errors, which is what sampling alone explains. A measure that class skew does not move has
the same mean in each column, and a standard deviation equal to that number. (The rarer a class,
the larger both.)

{deviation_table(table)}

*The paper's* DMF-AUC has `shrinkage=0` and `threshold_pool="pooled"`; with prevalence weights it is
that of `preset="paper"`. One-vs-rest areas are
scikit-learn's. These classifiers know the true probabilities; for such as are trained on imbalanced
data see [Class skew and trained classifiers](trained_skew.md).
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        small = study(300, available=(10, 2), concentrations=(10, 1))
        print(page(run_study(small, options), 300))
    else:
        text = page(run_study(study(N), options), N)
        write_figure("skew_ratio", tail_picture())
        write_figure("class_skew", curve_picture(N))
        write_page("class_skew", text)
