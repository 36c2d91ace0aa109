"""Whether class skew moves the measures of classifiers trained on imbalanced data: after 5.2."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, claims_table, markdown_table, run_study, write_page
from sklearn.linear_model import LogisticRegression

from dmfroc import Measure, Predictions
from dmfroc.measures import MEASURES, dmf_auc
from dmfroc.measures.measure import value_of
from dmfroc.simulation import MultinomialPopulation, MultinomialSample

N_CLASSES = 5
N_COVARIATES = 6
N_TRAIN = 1000
N = 2000
LEAST_CLASS = 20
CONCENTRATIONS = (1, 10)
TRAININGS = ("balanced", "skewed")
REPLICATIONS = 200
CHOSEN: dict[str, Measure] = {
    "DMF-AUC": dmf_auc(),
    "DMF-AUC, no shrinkage": dmf_auc(shrinkage=0),
    "DMF-AUC, pooled thresholds": dmf_auc(threshold_pool="pooled"),
    "DMF-AUC, the paper's (neither)": dmf_auc(shrinkage=0, threshold_pool="pooled"),
    "Hand-Till M": MEASURES["hand_till"],
    "Informedness": MEASURES["informedness"],
    "Informedness, macro": MEASURES["informedness_macro"],
    "MCC (Gorodkin's R_K)": MEASURES["gorodkin_correlation"],
    "Cohen's kappa": MEASURES["cohen_kappa"],
    "Balanced accuracy": MEASURES["balanced_accuracy"],
    "Macro F1": MEASURES["macro_f1"],
}


def trained_skew(
    generator: np.random.Generator, training: str, concentration: float, n: int
) -> list[dict]:
    """Train one classifier, and evaluate it on a balanced and on a skewed test set."""
    population = MultinomialPopulation.random(N_CLASSES, N_COVARIATES)
    sizes = {"prevalence": "balanced"} if training == "balanced" else {"skew": 1.0}

    def draw(size: int, **sizes: object) -> MultinomialSample:
        return population.sample(size, min_class_size=LEAST_CLASS, random_state=generator, **sizes)

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


def study(n: int) -> Study:
    settings = grid(training=TRAININGS, concentration=CONCENTRATIONS, n=[n])
    return Study(
        "trained_skew", trained_skew, settings, replications=REPLICATIONS, seed=1, directory=RESULTS
    )


def drifts(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean and spread of what a skewed test set changes, by measure and setting."""
    change = (table["skewed"] - table["balanced"]).rename("change")
    keys = [table[name] for name in ("measure", "training", "concentration")]
    return change.groupby(keys).agg(["mean", "std"])


def claims(table: pd.DataFrame) -> str:
    """Hold the paper's claims against classifiers whose training data were skewed."""
    strongest = table["concentration"].min()
    found = drifts(table).xs(("skewed", strongest), level=("training", "concentration"))
    spread, mean = found["std"], found["mean"].abs()
    paper, of_m, mcc = "DMF-AUC, the paper's (neither)", "Hand-Till M", "MCC (Gorodkin's R_K)"

    of_setting = table[(table["training"] == "skewed") & (table["concentration"] == strongest)]
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
                "MCC deteriorates seriously under imbalance (section 1.1)",
                f"{told(mcc)}; macro informedness {told('Informedness, macro').split(' ', 2)[2]}, "
                f"kappa {told('Cohen' + chr(39) + 's kappa').split(' ', 2)[2]}",
                bool(found["mean"][mcc] < -0.02 or spread[mcc] > 3 * spread["Informedness, macro"]),
            ),
        ]
    )


def page(table: pd.DataFrame, n: int) -> str:
    """Report the study."""
    found, rows = drifts(table), []
    concentrations = sorted(table["concentration"].unique(), reverse=True)
    for training in TRAININGS:
        for name in CHOSEN:
            group = table[(table["measure"] == name) & (table["training"] == training)]
            row = [training, name, f"{group['balanced'].mean():.3f}"]
            for concentration in concentrations:
                of_setting = found.loc[(name, training, concentration)]
                row.append(f"{of_setting['mean']:+.4f} ± {of_setting['std']:.4f}")
            rows.append(row)
    titles = [f"Dirichlet({c:g})" for c in concentrations]
    return f"""# Class skew and trained classifiers

Made by `experiments/trained_skew.py`, after section 5.2 of Wang and Carvalho (2024), with
classifiers that are *trained*: multinomial logistic regressions on {N_TRAIN:,} observations of a
multinomial logit model with K = {N_CLASSES} and {N_COVARIATES} covariates, whose classes are
balanced or, from one replication to the next, as frequent as a Dirichlet(1) distribution says. Each
classifier has two test sets of {n:,} observations, one balanced and one skewed (at least
{LEAST_CLASS} observations of each class); what is shown is by how much a measure changes from the
one to the other. The scores of a classifier that saw one class rarely are too low in its column:
there thresholds that depend on class sizes show. {table["replication"].nunique()} replications of
each setting.

With the most skewed test sets, and classifiers trained on skewed data:

{claims(table)}

Change from the balanced to the skewed test set, mean ± standard deviation; that of M is what
sampling alone explains, for areas:

{markdown_table(["training data", "measure", "mean, balanced test set", *titles], rows)}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    size = 400 if options.quick else N
    text = page(run_study(study(size), options), size)
    if options.quick:
        print(text)
    else:
        write_page("trained_skew", text)
