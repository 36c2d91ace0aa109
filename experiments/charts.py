"""Nine charts of a problem with six classes: Powers' figures 1 and 2 on real data."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from _datasets import design_matrix, load_dataset
from _study import arguments, claims_table, markdown_table, write_figure, write_page
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from dmfroc import Predictions
from dmfroc.curves import (
    Curve,
    OperatingPoints,
    bift_curve,
    bird_curve,
    boc_curve,
    precision_recall_curve,
    roc_curve,
)
from dmfroc.plots import overview

DATA = "glass"
N_FOLDS = 9  # as many as the smallest class has rows
N_TREES = 300
N_DIVISIONS = 20  # into folds, with other forests; the first is drawn


def fusion(n_trees: int, seed: int = 0) -> Predictions:
    """Return cross-validated scores of several classifiers fused, as Powers' are."""
    dataset = load_dataset(DATA)
    classifiers = [
        ("regression", LogisticRegression(max_iter=1000)),
        ("forest", RandomForestClassifier(n_trees, random_state=seed)),
        ("neighbours", KNeighborsClassifier()),
    ]
    scores = cross_val_predict(
        make_pipeline(design_matrix(dataset), VotingClassifier(classifiers, voting="soft")),
        dataset.X,
        dataset.y,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed),
        method="predict_proba",
    )
    return Predictions.from_arrays(dataset.y, scores)


@dataclass(frozen=True)
class Charted:
    """The numbers of one class that its charts show."""

    roc: Curve
    boc: Curve
    pr: Curve
    bift: Curve
    bird: Curve

    @property
    def points(self) -> OperatingPoints:
        """The counts behind all curves."""
        return self.roc.points

    @property
    def between_lift_and_fallout(self) -> float:
        """The area between the two curves of the lift chart."""
        gap = self.points.true_positive_rate - self.points.false_positive_rate
        return float(np.trapezoid(gap, self.points.bias))

    @property
    def drift(self) -> np.ndarray:
        """Bias over prevalence, without smoothing."""
        return self.points.bias / self.points.prevalence

    @property
    def at_break_even(self) -> int:
        """The point where the share predicted positive is nearest to the prevalence."""
        return int(np.abs(self.drift - 1).argmin())

    def means(self) -> dict[str, np.ndarray]:
        """Return the arithmetic, harmonic and geometric mean of precision and recall."""
        precision, recall = self.points.precision, self.points.true_positive_rate
        with np.errstate(invalid="ignore"):
            return {
                "A": (precision + recall) / 2,
                "F": 2 * precision * recall / (precision + recall),
                "G": np.sqrt(precision * recall),
            }


def charted(predictions: Predictions) -> dict[Hashable, Charted]:
    """Return the curves of each class against the rest."""
    charts = [
        chart(predictions, multi_class="ovr")
        for chart in (roc_curve, boc_curve, precision_recall_curve, bift_curve, bird_curve)
    ]
    return {label: Charted(*(chart[label] for chart in charts)) for label in predictions.labels}


def noisy_optima(share: float) -> tuple[float, float, float]:
    """Return the area, and the bias at the best accuracy and informedness, under label noise.

    A share of the negatives is labelled positive. Scores of positives and negatives are normal with
    means 1.5 and 0, three tenths are positive, and the rates are exact.
    """
    cuts = np.linspace(-5, 6.5, 20_001)
    tpr, fpr, prevalence = norm.sf(cuts - 1.5), norm.sf(cuts), 0.3
    moved = share * (1 - prevalence)
    seen = prevalence + moved  # the observed prevalence
    observed = (prevalence * tpr + moved * fpr) / seen
    bias = seen * observed + (1 - seen) * fpr
    accuracy = seen * observed + (1 - seen) * (1 - fpr)
    area = -np.trapezoid(observed, fpr)
    return float(area), float(bias[accuracy.argmax()]), float(bias[(observed - fpr).argmax()])


def dominance(n_pairs: int) -> tuple[int, int]:
    """Return how often two curves have the same order by precision and by fallout, at a recall.

    Of pairs of tables with the same recall above zero; the second number is how many there were.
    """
    generator = np.random.default_rng(1)
    positives, negatives = 40, 60
    tp = generator.integers(1, positives + 1, n_pairs)
    fp = generator.integers(0, negatives + 1, (2, n_pairs))
    precision = tp / (tp + fp)
    same = np.sign(precision[0] - precision[1]) == np.sign(fp[1] - fp[0])
    return int(same.sum()), n_pairs


def n_classes_where(classes: dict[Hashable, Charted]) -> dict[str, int]:
    """Return in how many classes each of the paper's statements on optima holds."""
    each = list(classes.values())
    n_off = {
        name: sum(np.nanargmax(c.means()[name]) != c.at_break_even for c in each) for name in "AFG"
    }
    return {
        **n_off,
        "right": sum(c.drift[c.points.informedness.argmax()] > 1 for c in each),
        "left": sum(c.bird.x[c.bird.y.argmin()] < 0 for c in each),
    }


def claims(divisions: list[dict[Hashable, Charted]]) -> str:
    """Hold the paper's statements against the six classes, in several divisions into folds."""
    each = [c for classes in divisions for c in classes.values()]
    n_classes = len(divisions[0])
    found = pd.DataFrame([n_classes_where(classes) for classes in divisions])

    def of_classes(name: str) -> str:
        n = found[name]
        return f"in {n.mean():.1f} of {n_classes} classes ({n.min()} to {n.max()})"

    areas = np.array(
        [
            (c.boc.area, c.bift.area, c.between_lift_and_fallout) - np.array(c.roc.area - 0.5)
            for c in each
        ]
    )
    exact = [c for c in each if (c.drift == 1).any()]
    unequal = np.array(
        [
            (
                c.points.true_positive_rate[c.at_break_even] - c.points.precision[c.at_break_even],
                c.points.informedness[c.at_break_even] - c.points.cohen_kappa[c.at_break_even],
            )
            for c in exact
        ]
    )
    best_drifts = np.array([c.drift[c.points.informedness.argmax()] for c in each])
    deepest = np.array([c.bird.x[c.bird.y.argmin()] for c in each])
    clean, noisy = noisy_optima(0.0), noisy_optima(0.15)
    n_same, n_pairs = dominance(10_000)
    most_drift = max(
        (c.roc.y[-1] / n_classes + c.roc.x[-1] * (1 - 1 / n_classes)) * n_classes for c in each
    )
    return claims_table(
        [
            (
                "The areas of BOC and BIFT, and that between lift and fallout, are AUC - 1/2 "
                "(theorems 1A and 1B)",
                f"they differ by {np.abs(areas).max():.1g} at most",
                bool(np.abs(areas).max() < 1e-12),
            ),
            (
                "At break-even, recall = precision and informedness = kappa",
                f"in {len(exact)} of {len(each)} curves with such a point they differ by "
                f"{np.abs(unequal).max():.1g} at most",
                bool(np.abs(unequal).max() < 1e-12),
            ),
            (
                "The optima of A, the arithmetic mean of precision and recall, are off break-even",
                of_classes("A"),
                found["A"].mean() > n_classes / 2,
            ),
            (
                "Reciprocal and logarithmic axes (harmonic mean F, geometric mean G) do not change "
                "that",
                f"F {of_classes('F')}, G {of_classes('G')}",
                found[["F", "G"]].mean().min() > n_classes / 2,
            ),
            (
                "The best informedness is right of break-even: overpredict",
                f"{of_classes('right')}, at {best_drifts.min():.2f} to {best_drifts.max():.2f} "
                "times the prevalence",
                found["right"].mean() > n_classes / 2,
            ),
            (
                "The best information is left of it: underpredict",
                f"{of_classes('left')}, at {deepest.min():.1f} to {deepest.max():.1f} doublings "
                "of the prevalence",
                found["left"].mean() > n_classes / 2,
            ),
            (
                "With equal prevalences relative drift is at most K",
                f"at most {most_drift:.2f} of {n_classes} where each class weighs the same; at "
                f"most 1 / prevalence in general, here {max(c.drift.max() for c in each):.1f}",
                most_drift <= n_classes + 1e-9,
            ),
            (
                "Label noise in one class slows its discovery and shifts the optimum",
                f"area {clean[0]:.3f} without noise, {noisy[0]:.3f} if 15 % of the negatives are "
                f"called positive; bias at the best accuracy {clean[1]:.3f} and {noisy[1]:.3f}, at "
                f"the best informedness {clean[2]:.3f} and {noisy[2]:.3f}: the threshold of the "
                "latter is not moved, as noise multiplies informedness by a constant",
                noisy[0] < clean[0] and noisy[1] > clean[1],
            ),
            (
                "A curve that dominates in precision-recall dominates in ROC, but for recall 0",
                f"the same order in {n_same} of {n_pairs} pairs of tables with a common recall "
                "above 0; at recall 0 every precision is 0 whatever the fallout",
                n_same == n_pairs,
            ),
        ]
    )


def span(classes: dict[Hashable, Charted], number: Callable[[Charted], float], form: str) -> str:
    """Name the classes with the smallest and the largest number."""
    found = {label: number(c) for label, c in classes.items()}
    low, high = min(found, key=found.get), max(found, key=found.get)
    return f"{found[low]:{form}} ({low}) to {found[high]:{form}} ({high})"


def chart_table(classes: dict[Hashable, Charted]) -> str:
    """Say what each chart shows, in the paper's terms, and what it shows here."""
    rows = [
        (
            "ROC",
            "recall against fallout; the area is the probability that a positive ranks above a "
            "negative",
            f"area {span(classes, lambda c: c.roc.area, '.3f')}",
        ),
        (
            "BOC",
            "informedness, the probability of an informed decision, against fallout: the corner of "
            "the ROC chart becomes its top",
            f"top {span(classes, lambda c: c.boc.maximum().value, '.3f')}",
        ),
        (
            "Lift and fallout",
            "recall and, below, fallout against bias, the share predicted positive; break-even is "
            "upright, where bias is the prevalence",
            f"break-even at {span(classes, lambda c: c.points.prevalence, '.3f')}",
        ),
        (
            "Precision-recall",
            "the only one of these where all classes break even on the same line",
            "recall there "
            + span(classes, lambda c: c.points.true_positive_rate[c.at_break_even], ".3f"),
        ),
        (
            "Reciprocal PR",
            "F1 is the same along straight lines",
            f"best F1 {span(classes, lambda c: np.nanmax(c.means()['F']), '.3f')}",
        ),
        (
            "Logarithmic PR",
            "G, the geometric mean, is the same along straight lines; in bits",
            f"best G {span(classes, lambda c: np.nanmax(c.means()['G']), '.3f')}",
        ),
        (
            "BIFT",
            "informedness against bias: lift minus fallout",
            f"area {span(classes, lambda c: c.bift.area, '.3f')}",
        ),
        (
            "BPRD",
            "informedness against relative drift, bias over prevalence; all classes break even "
            "at 1",
            "informedness there "
            + span(classes, lambda c: c.points.informedness[c.at_break_even], ".3f"),
        ),
        (
            "BIRD",
            "information (minus the logarithm of the likelihood ratio) against the logarithm of "
            "relative drift, both in bits: the deeper the better",
            f"depth {span(classes, lambda c: c.bird.y.min(), '.2f')}",
        ),
    ]
    return markdown_table(["chart", "what it shows", "here"], rows)


def page(divisions: list[Predictions], n_trees: int) -> str:
    """Report the figure, which is of the first division, and the claims in all of them."""
    predictions = divisions[0]
    classes = charted(predictions)
    return f"""# Nine charts of six classes

Made by `experiments/charts.py`, after figures 1 and 2 of Powers, *Visualization of tradeoff in
evaluation*, which show six facial emotions by a fusion of classifiers. His data are not public;
these are the {len(predictions.true)} fragments of six kinds of glass of the UCI repository, told
apart by the mean of the class probabilities of a multinomial regression, {n_trees} trees and five
nearest neighbours, with {N_FOLDS}-fold cross-validation. `dmfroc.plots.overview` draws all nine.

![Nine charts of six kinds of glass](../images/charts.png)

Each class against the rest; dashed is chance and dotted break-even, where as many are predicted
positive as there are positives.

{chart_table(classes)}

What the paper says of these charts, in {len(divisions)} divisions into folds with other forests:
the mean number of classes, the fewest and the most. What it says of all classes holds if it does
so in most:

{claims([charted(one) for one in divisions])}

BIRD and BPRD smooth counts by adding one, as the paper does; the drift of the best informedness is
that of the plain counts.
"""


if __name__ == "__main__":
    if arguments(__doc__).quick:
        print(page([fusion(5, seed) for seed in range(2)], n_trees=5))
    else:
        divisions = [fusion(N_TREES, seed) for seed in range(N_DIVISIONS)]
        figure = Figure(figsize=(10, 10.8), layout="constrained")
        write_figure("charts", overview(divisions[0], figure=figure))
        write_page("charts", page(divisions, N_TREES))
