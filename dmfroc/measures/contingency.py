"""Measures of hard labels: functions of the table of predicted against observed classes."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int

from dmfroc._backend import double_precision, share
from dmfroc.measures.base import BoundMeasure, Measure, value_of
from dmfroc.predictions import Predictions

Weighting = Literal["bias", "prevalence", "macro"]


def confusion_matrix(
    true: Int[Array, " n"],
    predicted: Int[Array, " n"],
    weights: Float[Array, " n"],
    n_classes: int,
) -> Float[Array, "k k"]:
    """Return the weight of each cell as a proportion; rows are predicted, columns observed."""
    cells = jnp.zeros((n_classes, n_classes)).at[predicted, true].add(weights)
    return cells / weights.sum()


def informedness_of(
    proportions: Float[Array, "k k"], weighting: Weighting = "bias"
) -> Float[Array, ""]:
    """Return the multiclass informedness of a table with predicted classes in its rows."""
    bias, prevalence, hits = proportions.sum(axis=1), proportions.sum(axis=0), jnp.diag(proportions)
    excess = hits - bias * prevalence
    spread = prevalence * (1 - prevalence)
    # A class that never occurs cannot be bet on: it counts as chance.
    per_class = jnp.where(spread > 0, excess / jnp.where(spread > 0, spread, 1), 0.0)
    share_of_class = {
        "bias": bias,
        "prevalence": prevalence,
        "macro": jnp.full(len(bias), 1 / len(bias)),
    }[weighting]
    return jnp.vdot(share_of_class, per_class)


def _informedness(
    classes: Int[Array, " k"],
    true: Int[Array, " n"],
    predicted: Int[Array, " n"],
    weights: Float[Array, " n"],
    *,
    weighting: Weighting,
) -> Float[Array, ""]:
    return informedness_of(confusion_matrix(true, predicted, weights, len(classes)), weighting)


# One object per weighting, because JAX compiles anew for every new one.
_INFORMEDNESS = {
    weighting: partial(_informedness, weighting=weighting) for weighting in get_args(Weighting)
}


def informedness(weighting: Weighting = "bias") -> Measure:
    """Return multiclass Bookmaker informedness as a measure.

    Parameters
    ----------
    weighting
        How the one-against-rest informedness TPR - FPR of the classes is averaged: by how often
        each class is predicted (``"bias"``: Powers' definition, eq. 41), by how often it occurs
        (``"prevalence"``) or evenly (``"macro"``). All agree for two classes.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing.
    """
    if weighting not in _INFORMEDNESS:
        raise ValueError(
            f"weighting must be 'bias', 'prevalence' or 'macro', but it is {weighting!r}"
        )

    def bind(predictions: Predictions) -> BoundMeasure:
        if predictions.predicted is None:
            raise ValueError(
                "informedness needs hard labels, and a one-dimensional y_score has no threshold "
                "of its own: pass y_pred, or the scores of both classes"
            )
        classes = np.arange(predictions.n_classes)
        arrays = (classes, predictions.true, predictions.predicted)
        return Partial(_INFORMEDNESS[weighting], *(share(array) for array in arrays))

    return Measure(
        name="informedness",
        title="Informedness",
        bind=bind,
        bounds=(-1.0, 1.0),
        chance=0.0,
        family="contingency",
        needs="labels",
    )


@double_precision
def informedness_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    weighting: Weighting = "bias",
) -> float:
    """Return multiclass Bookmaker informedness: the probability of an informed decision.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed classes.
    y_pred : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (K,), optional
        All classes; by default those that occur in either.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    weighting : {"bias", "prevalence", "macro"}
        How the classes are averaged, see `informedness`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. A class that never occurs counts
        as 0.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Powers (2011), Evaluation: from precision, recall and F-measure to ROC, informedness,
    markedness and correlation, equation 41 (its simplification 42 is the prevalence weighting).

    Examples
    --------
    >>> round(informedness_score(["a", "a", "b", "c"], ["a", "b", "b", "c"]), 4)
    0.7083
    """
    predictions = Predictions.from_labels(
        y_true, y_pred, labels=labels, sample_weight=sample_weight
    )
    return value_of(informedness(weighting), predictions)
