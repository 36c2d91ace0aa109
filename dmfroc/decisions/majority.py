"""Costs that favour or punish the majority class."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.options import positive
from dmfroc.inputs.predictions import Predictions


def majority_costs(
    y_true: Any, factor: float | int, *, labels: Any = None
) -> dict[Any, float | int]:
    """Return costs that favour (factor > 1) or punish (factor < 1) the majority class.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes; the most frequent one (the first of equals) is the majority class m.
    factor : float
        The alpha of Wang and Carvalho. Missing class m costs this much and taking another class
        for m costs 1/factor; every other error costs 1.
    labels : array-like of shape (K,), optional
        All classes; by default those that occur.

    Returns
    -------
    dict
        Cost of each ordered pair (observed, predicted) that involves m, for ``pair_weights=``.

    Raises
    ------
    ValueError
        If ``factor`` is not positive and finite.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, section 5.3.

    Examples
    --------
    >>> from dmfroc.decisions import majority_costs
    >>> majority_costs(["a", "b", "b", "c"], 4)
    {('b', 'a'): 4, ('a', 'b'): 0.25, ('b', 'c'): 4, ('c', 'b'): 0.25}
    """
    positive("factor", factor)
    predictions = (
        y_true
        if isinstance(y_true, Predictions)
        else Predictions.from_labels(y_true, y_true, labels=labels)
    )
    majority = predictions.labels[int(predictions.class_counts.argmax())]
    costs = {}
    for other in predictions.labels:
        if other != majority:
            costs[majority, other] = factor
            costs[other, majority] = 1 / factor
    return costs
