"""Recompute the stored numbers from their inputs, in exact rational arithmetic.

``python tests/reference/recipe.py`` rewrites the files; the tests compare them with it.
"""

from __future__ import annotations

import json
from fractions import Fraction
from operator import mul
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def pairwise_areas(scores: list[list[float]], classes: list[int]) -> dict[str, Any]:
    """A(i|j) and their averages by counting every pair of observations, ties by half."""
    n_classes, n = len(scores[0]), len(scores)
    columns = [[Fraction(str(row[k])) for row in scores] for k in range(n_classes)]

    def area(i: int, others: set[int]) -> Fraction:
        own = [s for s, c in zip(columns[i], classes, strict=True) if c == i]
        other = [s for s, c in zip(columns[i], classes, strict=True) if c in others]
        won = sum(Fraction((a > b) - (a < b) + 1, 2) for a in own for b in other)
        return won / (len(own) * len(other))

    matrix = [
        [area(i, {j}) if i != j else Fraction(0) for j in range(n_classes)]
        for i in range(n_classes)
    ]
    mean = sum(map(sum, matrix)) / (n_classes * (n_classes - 1))
    labels = range(n_classes)
    against_rest = [area(i, set(labels) - {i}) for i in labels]
    predicted = [row.index(max(row)) for row in scores]
    prevalence = [Fraction(classes.count(k), n) for k in labels]
    bias = [Fraction(predicted.count(k), n) for k in labels]
    pairs = [(i, j) for i in labels for j in range(i)]
    of_pairs = [(prevalence[i] + prevalence[j]) * (matrix[i][j] + matrix[j][i]) for i, j in pairs]
    return {
        "a_given": matrix,
        "hand_till_m": mean,
        "ovr_auc": against_rest,
        "prevalence": prevalence,
        "bias": bias,
        "ovr_macro": sum(against_rest) / n_classes,
        "ovr_prevalence_weighted": sum(map(mul, prevalence, against_rest)),
        "ovr_bias_weighted": sum(map(mul, bias, against_rest)),
        "ovo_prevalence_weighted": sum(of_pairs) / (2 * (n_classes - 1)),
    }


def informedness(table: list[list[int]]) -> dict[str, Any]:
    """Informedness of a table with predicted classes in its rows, by Powers' payoffs.

    A bet on a label pays 1 / prevalence if its class comes and costs 1 / (1 - prevalence) if it
    does not; a class that never occurs, or always, cannot be bet on and counts as 0.
    """
    n_classes, n = len(table), sum(map(sum, table))
    prevalence = [Fraction(sum(row[k] for row in table), n) for k in range(n_classes)]
    bias = [Fraction(sum(row), n) for row in table]

    def mean_payoff(label: int) -> Fraction:
        p = prevalence[label]
        if p in (0, 1):
            return Fraction(0)
        hits = Fraction(table[label][label], n)
        return hits / p - (bias[label] - hits) / (1 - p)

    per_class = [mean_payoff(label) for label in range(n_classes)]

    def weighted(weights: list[Fraction]) -> Fraction:
        return sum((w * b for w, b in zip(weights, per_class, strict=True)), Fraction(0))

    return {
        "prevalence": prevalence,
        "bias": bias,
        "informedness_per_class": per_class,
        "informedness_bias_weighted": weighted(bias),
        "informedness_prevalence_weighted": weighted(prevalence),
        "informedness_macro": weighted([Fraction(1, n_classes)] * n_classes),
    }


def expected_of(family: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The exact values that belong to the inputs of one case."""
    if family == "multiclass_auc":
        return pairwise_areas(inputs["S"], inputs["y"])
    return informedness(inputs["C"])


def as_floats(value: Any) -> Any:
    """Nested lists of fractions as nested lists of floats."""
    return [as_floats(x) for x in value] if isinstance(value, list) else float(value)


def regenerate(family: str) -> None:
    """Rewrite one file."""
    path = HERE / f"{family}.json"
    cases = json.loads(path.read_text())
    for case in cases:
        exact = expected_of(family, case["inputs"])
        case["expected"] = {name: as_floats(value) for name, value in exact.items()}
        case["exact"] = {n: str(v) for n, v in exact.items() if isinstance(v, Fraction)}
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    regenerate("multiclass_auc")
    regenerate("multiclass_tables")
