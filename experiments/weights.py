"""Whether costs move the curve of a naive classifier: Wang and Carvalho (2024), section 5.3."""

from __future__ import annotations

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

from dmfroc import Predictions, dmf_auc_score, multiclass_roc
from dmfroc.applications import majority_costs

CLASS_COUNTS = (3, 4, 5, 6, 7, 8)
FACTORS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
N = 10_000
CONCENTRATION = 1.0
LEAST_CLASS = 10
LEAD = 4.0  # of the majority class on the logit scale
NOISE = 0.3
REPLICATIONS = 50


def naive_classifier(generator: np.random.Generator, n_classes: int, n: int) -> Predictions:
    """Draw skewed classes, and scores that know only which class is the most frequent."""
    shares = generator.dirichlet(np.full(n_classes, CONCENTRATION))
    sizes = LEAST_CLASS + generator.multinomial(n - n_classes * LEAST_CLASS, shares)
    classes = np.repeat(np.arange(n_classes), sizes)
    logits = NOISE * generator.normal(size=(n, n_classes))
    logits[:, sizes.argmax()] += LEAD
    return Predictions.from_arrays(classes, softmax(logits, axis=1))


def weights(generator: np.random.Generator, n_classes: int, n: int) -> list[dict]:
    """Return the AUC of a naive classifier for every cost factor."""
    predictions = naive_classifier(generator, n_classes, n)
    majority = predictions.class_counts.argmax()
    assert (predictions.predicted == majority).mean() > 0.99
    return [
        {
            "factor": factor,
            "dmf_auc": dmf_auc_score(predictions, pair_weights=costs),
            "paper": dmf_auc_score(
                predictions, pair_weights=costs, shrinkage=0, threshold_pool="pooled"
            ),
        }
        for factor in FACTORS
        for costs in [majority_costs(predictions, factor)]
    ]


def study(n: int, class_counts: tuple[int, ...] = CLASS_COUNTS) -> Study:
    return Study(
        "weights",
        weights,
        grid(n_classes=class_counts, n=[n]),
        replications=REPLICATIONS,
        seed=1,
        directory=RESULTS,
    )


def picture(n: int) -> Figure:
    """Draw the paper's curves of the first replication (its figure 6)."""
    figure = Figure(figsize=(9.5, 6.8), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    colors = matplotlib.colormaps["coolwarm_r"](np.linspace(0, 1, len(FACTORS)))
    colors[len(FACTORS) // 2] = matplotlib.colors.to_rgba("0.3")
    for ax, n_classes in zip(axes.ravel(), CLASS_COUNTS, strict=True):
        generator = study(n).generator({"n_classes": n_classes, "n": n}, 0)
        predictions = naive_classifier(generator, n_classes, n)
        for factor, color in zip(FACTORS, colors, strict=True):
            costs = majority_costs(predictions, factor)
            curve = multiclass_roc(predictions, pair_weights=costs, **PAPER)
            ax.plot(curve.fpr, curve.tpr, color=color, label=f"{factor:g}")
        roc_axes(ax, f"K = {n_classes}")
    figure.legend(*ax.get_legend_handles_labels(), title="factor", loc="outside right center")
    return figure


def factor_table(aucs: pd.DataFrame) -> str:
    """Return means and standard deviations by factor, of the fewest and of the most classes."""
    k = aucs.index.get_level_values("n_classes")
    grouped = aucs[(k == k.min()) | (k == k.max())].groupby("n_classes")
    rows = [
        [str(k), *(f"{mean:.3f} ± {sd:.3f}" for mean, sd in zip(means, sds, strict=True))]
        for k, means, sds in zip(
            grouped.mean().index, grouped.mean().to_numpy(), grouped.std().to_numpy(), strict=True
        )
    ]
    return markdown_table(["K", *(f"{factor:g}" for factor in FACTORS)], rows)


def page(table: pd.DataFrame, n: int) -> str:
    """Report the study."""
    aucs, in_paper = (
        table.pivot(index=["n_classes", "replication"], columns="factor", values=name)
        for name in ("dmf_auc", "paper")
    )
    rising = (np.diff(in_paper, axis=1) > 0).all(axis=1)
    asymmetry = np.abs(in_paper + in_paper.to_numpy()[:, ::-1] - 1).to_numpy()
    neutral, least, most = (in_paper[factor] for factor in (1.0, FACTORS[0], FACTORS[-1]))
    found = claims_table(
        [
            (
                "With equal costs the curve is the diagonal",
                f"AUC {neutral.min():.3f} to {neutral.max():.3f}",
                bool((abs(neutral - 0.5) < 0.05).all()),
            ),
            (
                "It moves to the top left for factors above 1, to the bottom right below",
                f"AUC rises with every step of the factor in {rising.sum()} of {len(aucs)} samples",
                bool(rising.all()),
            ),
            (
                "The conclusion does not depend on the number of classes",
                f"smallest AUC at factor {FACTORS[-1]:g}: {most.min():.3f}, largest "
                f"at {FACTORS[0]:g}: {least.max():.3f}, over all K",
                bool(most.min() > 0.5 > least.max()),
            ),
        ]
    )
    return f"""# Cost weights

Made by `experiments/weights.py`, after section 5.3 of Wang and Carvalho (2024). A naive classifier
puts nearly all probability on the majority class, whatever it sees: its scores are the softmax of
normal noise (standard deviation {NOISE:g}) with a lead of {LEAD:g} for that class. Missing the
majority class costs the factor, taking another class for it one over the factor
(`majority_costs`). {n:,} labels with class frequencies from Dirichlet({CONCENTRATION:g}), at
least {LEAST_CLASS} of each class; {table["replication"].nunique()} samples for each K.

By the paper's estimator, `shrinkage=0` and `threshold_pool="pooled"`:

{found}

The curves of the first sample for each K (its figure 6):

![ROC curves of a naive classifier by cost factor](../images/weights.png)

Mean ± standard deviation of the area by factor. Areas of a factor and of one over it add up to 1
within {asymmetry.max():.3f} in every sample, and within {asymmetry.mean():.3f} on average.

{factor_table(in_paper)}

**The default does not do this.** It ranks within pairs of classes, and there these scores are
noise: the curve of every pair is the diagonal, so costs, which weight pairs, cannot move it.

{factor_table(aucs)}
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        print(page(run_study(study(1000, class_counts=(3, 4)), options), 1000))
    else:
        text = page(run_study(study(N), options), N)
        write_figure("weights", picture(N))
        write_page("weights", text)
