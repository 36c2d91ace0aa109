"""Misclassification costs as weights of the pairwise true and false positive rates.

The pair (i, j) asks how well column i tells class i from class j. A miss of the pair is an
observation of class i taken for j, a false alarm an observation of class j taken for i. A cost
matrix C has observed classes in its rows and predicted classes in its columns. It therefore gives
the true positive rate of (i, j) the weight C[i, j] and its false positive rate C[j, i].
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.options import is_one_of, number, numbers
from dmfroc.inputs.predictions import Predictions

PairWeights = Any
"""``"equal"``, ``"prevalence"``, a cost matrix, or two matrices (of TPR and of FPR weights)."""

PairsOfClasses = Int[AnyArray, "g p 2"]
"""Both classes of each pair, by their places, in groups of pairs."""

Costs = Float[np.ndarray, "k k"]
"""A number for each ordered pair of classes."""


@dataclass(frozen=True, eq=False)
class TimesSizes:
    """Pair weights that are multiplied by class sizes, as in equation 14 of the paper."""

    costs: PairWeights


def check_kind(pair_weights: PairWeights) -> None:
    """Refuse pair weights that no classes fit; the rest is for `cell_weights` to check."""
    matrices = pair_weights if isinstance(pair_weights, tuple) else (pair_weights,)
    if isinstance(pair_weights, tuple) and len(pair_weights) != 2:
        raise ValueError(
            "pair_weights as a tuple must hold two matrices, of TPR and of FPR weights, but it "
            f"holds {len(pair_weights)}"
        )
    for matrix in () if is_one_of(pair_weights, ("equal", "prevalence")) else matrices:
        if isinstance(matrix, dict):
            numbers("pair_weights", list(matrix.values()))
        elif isinstance(matrix, str) or numbers("pair_weights", matrix).ndim != 2:
            kind = repr(matrix) if isinstance(matrix, str) else f"of shape {np.shape(matrix)}"
            raise ValueError(
                "pair_weights must be 'equal', 'prevalence', a cost matrix or a pair of weight "
                f"matrices, but it is {kind}"
            )


def one_curve_message(predictions: Predictions) -> str | None:
    """Say that pair_weights cannot move the curve of two classes."""
    if predictions.n_classes != 2:
        return None
    return (
        "use optimal_operating_points to choose a threshold by costs: two classes have one ROC "
        "curve, which pair_weights cannot move"
    )


def cell_weights(
    pair_weights: PairWeights, predictions: Predictions, counted: PairsOfClasses
) -> Float[np.ndarray, "g p 2"]:
    """Return the weights of the true and false positive rates of pairs of present classes.

    The pairs are given by their places among the classes that occur. The mean over all pairs is
    one; these may be a sample of them.
    """
    present = predictions.present
    matrices = list(weight_matrices(pair_weights, predictions))
    if len(present) < predictions.n_classes:
        matrices = [matrix[np.ix_(present, present)] for matrix in matrices]
    with np.errstate(invalid="ignore"):  # of weights that are all 0
        weights: Float[np.ndarray, "g p 2"] = weights_of_pairs(matrices, counted, np)
    if not (weights.sum(axis=(0, 1)) > 0).all():
        raise ValueError("pair_weights gives all true or all false positive rates the weight 0")
    return weights


def weights_of_pairs(
    matrices: Sequence[Any], counted: PairsOfClasses, xp: Any
) -> Float[AnyArray, "g p 2"]:
    """Return the weights of both rates of pairs, whose mean over all pairs is one."""
    is_pair = ~np.eye(len(matrices[0]), dtype=bool)  # the diagonal has no meaning
    mean = sum(matrix.mean(where=is_pair) for matrix in matrices) / 2
    i, j = np.moveaxis(counted, -1, 0)
    return xp.stack([matrix[i, j] for matrix in matrices], axis=-1) / mean


def weight_matrices(pair_weights: PairWeights, predictions: Predictions) -> tuple[Costs, Costs]:
    """Return the weights of the true and of the false positive rates by pair of classes."""
    if isinstance(pair_weights, TimesSizes):
        tpr, fpr = weight_matrices(pair_weights.costs, predictions)
        of_tpr, of_fpr = weight_matrices("prevalence", predictions)
        return tpr * of_tpr, fpr * of_fpr
    shape = predictions.n_classes, predictions.n_classes
    if is_one_of(pair_weights, ("equal",)):
        ones = np.broadcast_to(1.0, shape)
        return ones, ones
    if is_one_of(pair_weights, ("prevalence",)):
        sizes = np.broadcast_to(predictions.class_totals, shape)
        return sizes.T, sizes
    if isinstance(pair_weights, tuple):
        tpr, fpr = pair_weights
        return (
            _matrix(tpr, predictions, "the TPR weights"),
            _matrix(fpr, predictions, "the FPR weights"),
        )
    costs = _matrix(pair_weights, predictions, "the cost matrix")
    return costs, costs.T


def _matrix(weights: Any, predictions: Predictions, what: str) -> Costs:
    """Read a K x K matrix: by class names where it has them, else in the order of the labels."""
    labels = list(predictions.labels)
    if hasattr(weights, "reindex"):  # a pandas table; every other table has no row names
        missing = [x for x in labels if x not in weights.index or x not in weights.columns]
        if missing:
            raise ValueError(f"pair_weights: {what} lacks a row or column for class {missing[0]!r}")
        weights = weights.loc[labels, labels]
    elif isinstance(weights, dict):
        weights = _from_names(weights, labels, what)
    matrix = numbers("pair_weights", weights)
    if matrix.shape != (len(labels), len(labels)):
        raise ValueError(
            f"pair_weights: {what} must have shape {(len(labels), len(labels))}, one row and "
            f"column per class in the order {labels}, but its shape is {matrix.shape}"
        )
    relevant = matrix[~np.eye(len(labels), dtype=bool)]
    if not (np.isfinite(relevant).all() and (relevant >= 0).all()):
        raise ValueError(f"pair_weights: {what} must be finite and >= 0 off its diagonal")
    return matrix


def _from_names(weights: dict[Any, Any], labels: list[Hashable], what: str) -> Costs:
    """Read weights given for ordered pairs of classes by name; all other pairs have weight 1."""
    matrix = np.ones((len(labels), len(labels)))
    position = {label: index for index, label in enumerate(labels)}
    for pair, weight in weights.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and set(pair) <= position.keys()):
            raise ValueError(
                f"pair_weights: {what} has the key {pair!r}, which is not a pair of classes; the "
                f"classes are {labels}"
            )
        matrix[position[pair[0]], position[pair[1]]] = number(f"pair_weights of {pair!r}", weight)
    return matrix
