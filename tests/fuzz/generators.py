"""Inputs of all kinds, from a seed: ordinary ones, and ones with something wrong in them."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

NAMES = [
    "a",
    "b",
    "a b",
    "x[0]",
    "[/]",
    ":smile:",
    "$x$",
    "_hidden",
    "日本",
    "\x1b[2J",
    "0",
    "é",
    "nan",
]


@dataclass
class Sample:
    """Ordinary input in some container, with the arrays that it stands for."""

    arguments: dict[str, Any]
    codes: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    labels: list[Any]


def sample(rng):
    n_classes = int(rng.integers(2, 5))
    n = int(rng.integers(2 * n_classes, 25))
    codes = rng.permutation(np.arange(n) % n_classes)
    kind = rng.integers(3)
    if kind == 0:
        labels = sorted(int(x) for x in rng.choice(50, n_classes, replace=False) - 10)
    elif kind == 1 or n_classes > 2:
        labels = sorted(str(x) for x in rng.choice(NAMES, n_classes, replace=False))
    else:
        labels = [False, True]
    scores = rng.normal(size=(n, n_classes)) + rng.uniform(0, 3) * np.eye(n_classes)[codes]
    if rng.random() < 0.4:
        scores = np.round(scores, int(rng.integers(0, 2)))  # ties
    scores = scores * 10.0 ** rng.integers(-30, 30)
    weights = np.ones(n)
    y = [labels[code] for code in codes]
    arguments = {"y_true": container(rng, y), "y_score": None}
    shape = rng.integers(4)
    if shape == 0:
        names = [f"p_{label}" for label in labels]
        order = rng.permutation(n_classes)
        frame = pd.DataFrame(scores[:, order], columns=[names[k] for k in order])
        frame = frame.set_index(row_names(n))
        if isinstance(arguments["y_true"], pd.Series):
            arguments["y_true"].index = row_names(n)
            frame = frame.iloc[rng.permutation(n)]  # rows are matched by name
        arguments["y_score"] = frame
    elif shape == 1:
        arguments["y_score"] = scores.tolist()
    elif shape == 2:
        arguments["y_score"] = np.asfortranarray(scores)
    else:
        arguments["y_score"] = np.repeat(scores, 2, axis=0)[::2]
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, size=n).astype(float)
        for code in range(n_classes):
            weights[np.flatnonzero(codes == code)[0]] = 1
        arguments["sample_weight"] = container(rng, weights.tolist())
    return Sample(arguments, codes, scores, weights, labels)


def either_class(rng):
    """Two classes in any order, either of them positive, with options in their order."""
    order = [int(x) for x in rng.permutation([3, 7])]
    if rng.random() < 0.5:
        order = [str(x) for x in rng.choice(NAMES, 2, replace=False)]
    n = int(rng.integers(8, 30))
    codes, folds = rng.permutation(np.arange(n) % 2), np.zeros(n, int)
    for code in (0, 1):
        rows = np.flatnonzero(codes == code)
        folds[rows] = np.append([0, 1], rng.integers(2, size=len(rows) - 2))
    second = np.round(rng.beta(2, 2, n), int(rng.integers(1, 5)))
    probabilities = np.column_stack([1 - second, second])
    positive, side = (int(x) for x in rng.integers(2, size=2))
    one = {"y_score": probabilities[:, positive if side else 1 - positive], "direction": "<="}
    if side:
        one["direction"] = [">=", None][int(rng.integers(2))]
    of_both = {"y_score": probabilities, "direction": None}
    return (one if rng.random() < 0.5 else of_both) | {
        "y_true": container(rng, [order[code] for code in codes]),
        "codes": codes,
        "probabilities": probabilities,
        "order": order,
        "positive": order[positive],
        "costs": rng.uniform(0.5, 5, size=(2, 2)),
        "shares": rng.dirichlet([2, 2]),
        "folds": folds,
    }, ("order", "positive", "costs", "shares", "folds")


def row_names(n):
    return pd.Index(range(n, 0, -1))


def container(rng, values):
    makers = [list, tuple, np.array, pd.Series, lambda x: pd.Series(x, index=row_names(len(x)))]
    return makers[rng.integers(len(makers))](values)


ODD = [
    None, "0.95", "x", "", b"x", True, [], [1], {}, (1, 2), 1j, object(), np.nan, np.inf, -np.inf,
    -1, 0, 1.5, 10**400, Decimal("0.95"), Decimal("NaN"), Fraction(1, 2),
    datetime.date(2020, 1, 1),
    np.datetime64("2020-01-01"), np.float64(0.01), np.int8(3),
    np.array(0.9), np.array([0.9, 0.95]),
    np.ma.masked, pd.NA, pd.NaT, float, lambda: 0, [[1, 2], [3]], "jackknife", 1e308, 5e-324,
]  # fmt: skip

# By function, the options whose value may be odd
OPTIONS = {
    "estimate": ["level", "method", "random_state", "stratify", "groups", "folds", "judge",
                 "follow_up", "population", "measure", "sample_weight", "labels", "y_pred"],
    "evaluate": ["level", "method", "measures", "random_state", "stratify", "groups", "labels"],
    "compare": ["level", "test", "method", "paired", "random_state", "measures", "y_score"],
    "multiclass_roc": ["pair_weights", "n_thresholds", "shrinkage", "threshold_pool", "labels"],
    "optimal_operating_points": ["prevalence", "cost_fp", "cost_fn"],
    "operating_point": ["threshold", "prevalence", "cost_fp", "cost_fn"],
    "randomized_threshold": ["fpr", "tpr", "bias"],
    "calibration_curve": ["n_bins", "axes", "pos_label", "multi_class"],
    "loess_calibration_curve": ["span", "degree"],
    "bprd_curve": ["s"],
    "bird_curve": ["s", "smoothing"],
    "lift_curve": ["scale"],
    "roc_curve": ["pos_label", "multi_class", "sample_weight"],
    "select_class_weights": ["cost_matrix", "prevalences", "n_starts", "random_state"],
    "dmf": ["rates", "rank", "weights", "offset", "link", "max_iter"],
    "from_matrix": ["matrix", "rows", "labels"],
    "from_rates": ["tpr", "fpr", "skew"],
    "chi_squared_test": ["table"],
    "fisher_exact_test": ["table", "alternative"],
    "sellke_bayarri_berger": ["p_value"],
    "skew_sensitive_accuracy": ["tpr", "fpr", "c", "prevalence"],
    "majority_costs": ["factor"],
}  # fmt: skip


def spoil(rng, values):
    """Return what is like the input with something wrong, and what a message may name."""
    y, scores = list(values.arguments["y_true"]), values.scores.copy()
    row = int(rng.integers(len(y)))
    wrong = int(rng.integers(12))
    if wrong == 0:
        y[row] = None
    elif wrong == 1:
        y[row] = object()
    elif wrong == 2:
        scores[row, 0] = np.nan  # infinities are the highest and the lowest rank
    elif wrong == 3:
        y = y[:-1]
    elif wrong == 4:
        scores = scores[:, :, None]
    elif wrong == 5:
        scores = scores.astype(complex)
    elif wrong == 6:
        scores = scores.astype(str)
    elif wrong == 7:
        scores = scores.tolist()
        scores[row] = scores[row][:-1]
    elif wrong == 8:
        y = [y[0]] * len(y)
    elif wrong == 9:
        scores = np.array([[2**60 + k for k in range(scores.shape[1])]] * len(y))
        scores[row, 0] += 1
    elif wrong == 10:
        y = []
    else:
        return {"y_true": y, "y_score": scores, "sample_weight": [-1.0] * len(y)}
    return {"y_true": y, "y_score": scores}
