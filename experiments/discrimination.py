"""Whether the curve tells good classifiers from bad ones: Wang and Carvalho (2024), 5.1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, pairwise, product

import matplotlib
import numpy as np
import pandas as pd
from _populations import MultinomialPopulation
from _runner import Study
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
from sklearn.linear_model import LogisticRegression

from dmfroc import Predictions, dmf_auc_score, estimate, hand_till_score, multiclass_roc

N_CLASSES = 5
N_COVARIATES = 10
AVAILABLE = (10, 8, 6, 4, 2)
RULES = ("sampled", "argmax")
N = 50_000
REPLICATIONS = 10


def problems(generator: np.random.Generator, n: int) -> Iterator[tuple[str, list, list]]:
    """Draw training and test set, and covariates that matter for neither, by both label rules.

    Both kinds of labels have the same coefficients.
    """
    coefficients = generator.normal(size=(N_COVARIATES, N_CLASSES))
    for rule in RULES:
        population = MultinomialPopulation(coefficients, rule)
        samples = [population.sample(n, random_state=generator) for _ in range(2)]
        yield rule, samples, [generator.normal(size=x.covariates.shape) for x in samples]


def classifiers(generator: np.random.Generator, n: int) -> dict[tuple[str, int], Predictions]:
    """Fit multinomial regressions to their first covariates, and to none that matters (0)."""
    found = {}
    for rule, (train, test), irrelevant in problems(generator, n):
        for p in (*AVAILABLE, 0):
            seen = [train.covariates[:, :p], test.covariates[:, :p]] if p else irrelevant
            model = LogisticRegression(C=1e4, max_iter=5000).fit(seen[0], train.classes)
            found[rule, p] = Predictions.from_arrays(
                test.classes, model.predict_proba(seen[1]), labels=model.classes_
            )
    return found


def discrimination(generator: np.random.Generator, n: int) -> list[dict]:
    """Evaluate all classifiers on one simulated problem."""
    rows = []
    for (rule, p), predictions in classifiers(generator, n).items():
        auc = estimate("dmf_auc", predictions)
        rows.append(
            {
                "label_rule": rule,
                "n_available": p,
                "dmf_auc": auc.value,
                "low": auc.interval[0],
                "high": auc.interval[1],
                "paper": dmf_auc_score(predictions, shrinkage=0, threshold_pool="pooled"),
                "hand_till": hand_till_score(predictions),
                "largest_class": int(predictions.class_counts.max()),
                "smallest_class": int(predictions.class_counts.min()),
            }
        )
    return rows


def study(n: int) -> Study:
    return Study(
        "discrimination",
        discrimination,
        [{"n": n}],
        replications=REPLICATIONS,
        seed=1,
        directory=RESULTS,
    )


def picture(n: int) -> Figure:
    """Draw the curves of the first replication (the paper's figure 3), its estimator's above."""
    figure = Figure(figsize=(9.5, 9.6), layout="constrained")
    colors = matplotlib.colormaps["viridis"](np.linspace(0, 0.85, len(AVAILABLE)))
    styles = list(zip([*colors, "black"], cycle(("-", "--", "-.", ":")), strict=False))
    found = classifiers(study(n).generator({"n": n}, 0), n)
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    panels = product((("the paper's estimator", PAPER), ("default", {})), RULES)
    for ax, ((title, options), rule) in zip(axes.ravel(), panels, strict=True):
        for p, (color, dashes) in zip((*AVAILABLE, 0), styles, strict=True):
            curve = multiclass_roc(found[rule, p], **options)
            name = f"{p} of {N_COVARIATES} covariates" if p else "random"
            label = f"{name}, AUC {curve.auc:.3f}"
            ax.plot(curve.fpr, curve.tpr, dashes, color=color, label=label)
        kind = {"sampled": "sampled labels", "argmax": "deterministic labels"}[rule]
        roc_axes(ax, f"{kind}, {title}")
        ax.legend(loc="lower right", fontsize="small")
    return figure


def label_picture(n: int) -> Figure:
    """Draw how often each class occurs in the first problem (the paper's figure 2)."""
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    found = problems(study(n).generator({"n": n}, 0), n)
    axes = figure.subplots(1, len(RULES), sharey=True)
    for ax, (rule, (train, _), _) in zip(axes, found, strict=True):
        counts = np.bincount(train.classes, minlength=N_CLASSES)
        ax.bar(range(1, N_CLASSES + 1), counts, color="#0072B2")
        ax.set(title=f"{rule} labels", xlabel="class")
    axes[0].set_ylabel("observations")
    return figure


def claims(table: pd.DataFrame) -> str:
    """Hold the paper's claims against the numbers."""
    by_classifier = table.pivot_table("dmf_auc", ["label_rule", "replication"], "n_available")
    by_paper, by_m = (
        table.pivot_table(name, ["label_rule", "replication"], "n_available")
        for name in ("paper", "hand_till")
    )
    n_problems = len(by_classifier)

    def falls(values: pd.DataFrame) -> int:
        ordered = [(values[a] > values[b]).to_numpy() for a, b in pairwise((*AVAILABLE, 0))]
        return int(np.all(ordered, axis=0).sum())

    sampled, fixed = (by_classifier.loc[rule] for rule in RULES)
    gap = (fixed - sampled)[list(AVAILABLE)]
    gap_in_paper = (by_paper.loc["argmax"] - by_paper.loc["sampled"])[list(AVAILABLE)]
    perfect, perfect_in_paper = fixed[N_COVARIATES], by_paper.loc["argmax", N_COVARIATES]
    random = table[table["n_available"] == 0]
    n_covered = int(((random["low"] <= 0.5) & (random["high"] >= 0.5)).sum())
    return claims_table(
        [
            (
                "The AUC falls as covariates are taken away, and is least for the random "
                "classifier",
                f"in {falls(by_classifier)} of {n_problems} problems at every step "
                f"(the paper's estimator: {falls(by_paper)}, M: {falls(by_m)})",
                falls(by_classifier) == falls(by_paper) == n_problems,
            ),
            (
                "Curves of deterministic labels are higher",
                f"in {(gap > 0).to_numpy().sum()} of {gap.size} comparisons with the same "
                f"coefficients, on average by {gap.to_numpy().mean():.3f} (the paper's estimator: "
                f"{(gap_in_paper > 0).to_numpy().sum()})",
                bool((gap > 0).all(axis=None) and (gap_in_paper > 0).all(axis=None)),
            ),
            (
                "Deterministic labels and all covariates give AUC = 1",
                f"at least {perfect.min():.5f} (the paper's estimator: "
                f"{perfect_in_paper.min():.5f})",
                bool((perfect > 0.999).all() and (perfect_in_paper > 0.999).all()),
            ),
            (
                "The random classifier is on the diagonal (the paper's benchmark)",
                f"AUC {random['dmf_auc'].min():.3f} to {random['dmf_auc'].max():.3f}; "
                f"{n_covered} of {n_problems} intervals of 95 % hold 0.5",
                n_covered >= 0.85 * n_problems,
            ),
        ]
    )


def page(table: pd.DataFrame, n: int) -> str:
    """Report the study."""
    n_replications = table["replication"].nunique()
    grouped = table.groupby(["label_rule", "n_available"])
    rows = []
    for rule in RULES:
        for p in (*AVAILABLE, 0):
            group = grouped.get_group((rule, p))
            rows.append(
                [
                    rule,
                    str(p) if p else "none (random)",
                    f"{group['dmf_auc'].mean():.4f}",
                    f"{group['dmf_auc'].std():.4f}",
                    f"{(group['high'] - group['low']).mean():.4f}",
                    f"{group['paper'].mean():.4f}",
                    f"{group['hand_till'].mean():.4f}",
                ]
            )
    header = ["labels", "covariates", "mean DMF-AUC", "sd", "mean width of interval"]
    header += ["mean of the paper's", "mean M"]
    ratio = (table["largest_class"] / table["smallest_class"]).max()
    return f"""# Discrimination

Made by `experiments/discrimination.py`, after section 5.1 of Wang and Carvalho (2024). A
multinomial logit model with K = {N_CLASSES} classes and {N_COVARIATES} standard normal covariates;
the coefficients are standard normal too. Labels are drawn from its probabilities (*sampled*, eq.
27) or are the most probable class (*argmax*, eq. 28). Classifiers are multinomial regressions that
get the first covariates only; the random one gets covariates that have nothing to do with the
labels. Training and test sets have {n:,} observations each, where the paper evaluates on the
data of the fit. {n_replications} problems, with coefficients of their own, each with both kinds
of labels; the largest class is up to {ratio:.1f} times the smallest.

{claims(table)}

How often each class occurs in the first problem, as in the paper's figure 2:

![Histograms of the classes](../images/discrimination_labels.png)

The curves of the first problem, as in the paper's figure 3: above by the paper's estimator, below
by the package's default:

![ROC curves of classifiers with fewer and fewer covariates](../images/discrimination.png)

Over all problems; *sd* is that between problems, which differ in difficulty. *The paper's* is the
DMF-AUC with `shrinkage=0` and `threshold_pool="pooled"`:

{markdown_table(header, rows)}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    n_observations = 1500 if options.quick else N
    results = run_study(study(n_observations), options)
    text = page(results, n_observations)
    if options.quick:
        print(text)
    else:
        write_figure("discrimination_labels", label_picture(n_observations))
        write_figure("discrimination", picture(n_observations))
        write_page("discrimination", text)
