"""Weights of the classes that make the decisions of a multiclass classifier optimal, and costs.

A classifier with scores s decides for the class with the largest product of weight and score. Only
ratios of weights matter, so that K classes have K - 1 thresholds to choose; for two classes with
probabilities as scores this is the one threshold w0 / (w0 + w1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from dmfroc import Predictions
from dmfroc.extend import (
    AttributeTables,
    Direction,
    PerClass,
    PerRow,
    RandomState,
    Scores,
    as_predictions,
    generator_of,
    integer,
    numbers,
    positive,
    probabilities_of,
    unlabelled,
)

SAME = 1e-10
"""Logarithms of weights closer than this are not told apart."""
_ROUNDING = 1e-12  # relative to what is compared


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeights(AttributeTables):
    """Weights of the classes, by which their scores are multiplied before the largest wins.

    Attributes
    ----------
    labels : tuple, length K
        The classes.
    weights : numpy.ndarray of shape (K,)
        Positive, with a geometric mean of one.
    expected_cost : float
        Expected cost of one decision, on the observations the weights were selected on: it is too
        small for others.
    unweighted_cost : float
        The same with equal weights.
    direction : {">=", "<="} or None
        Of a single score: whether large or small values speak for the second class.
    """

    labels: tuple[Hashable, ...]
    weights: PerClass
    expected_cost: float
    unweighted_cost: float
    direction: Direction | None = None

    def predict(self, y_score: Any) -> Shaped[np.ndarray, " n"]:
        """Predict the class with the largest weighted score, the first of equals.

        Parameters
        ----------
        y_score : array-like or table of shape (n, K)
            Scores >= 0, as those the weights were selected on.

        Returns
        -------
        numpy.ndarray of shape (n,)
            Labels.

        Raises
        ------
        TypeError, ValueError
            If the scores are not what `Predictions.from_arrays` accepts, or negative.
        """
        scores = probabilities_of(unlabelled(y_score, self.labels, self.direction))
        chosen = (_log_scores(scores) + np.log(self.weights)).argmax(axis=1)  # the first of equals
        return np.array(self.labels)[chosen]


def select_class_weights(
    y_true: Any,
    y_score: Any = None,
    *,
    cost_matrix: Any = None,
    prevalences: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    n_starts: int = 20,
    random_state: RandomState = 0,
) -> ClassWeights:
    r"""Select the weights of the classes that minimise the expected cost.

    The expected cost :math:`\sum_i \pi_i \sum_j C_{ij} P(\text{decide } j \mid i)` is a step
    function of the weights. Along the weight of one class its minimum is found exactly, by sorting
    the values at which decisions change, in O(nK + n log n). This is repeated over the classes
    until none improves, from several starts.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), optional
        Scores >= 0 of all classes, such as probabilities; no row of zeros only.
    cost_matrix : array-like of shape (K, K), optional
        Cost of deciding for the class of the column where that of the row is observed, both in
        the order of the labels. Any finite numbers: a matrix of utilities is passed with its sign
        changed. Default: 1 for each error. Of two classes, ``cost_fp`` and ``cost_fn`` elsewhere
        are ``[[0, cost_fp], [cost_fn, 0]]``.
    prevalences : array-like of shape (K,), optional
        How often the classes occur where the classifier will be used, >= 0, in the order of the
        labels; only their ratios matter. Default: as in the (weighted) sample.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    n_starts : int
        Number of starts: equal weights, and weights between which a random observation leaves no
        choice. More starts are less likely to miss the best weights.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Source of the random starts.

    Returns
    -------
    ClassWeights
        The weights, their cost and a ``predict`` method. Where equal weights are optimal they are
        returned; otherwise weights lie inside a step of the expected cost, away from its edges.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, scores are negative or a row of
        them is all zeros, or costs, prevalences or ``n_starts`` are out of range.

    Notes
    -----
    A class without observations adds no cost when it is missed; give it a prevalence of 0. The
    cost at the selected weights is too small for new observations. Judge the decisions of
    ``predict`` on rows that had no part in the choice.

    References
    ----------
    Powers (2015), Visualization of tradeoff in evaluation, section III.1: with K classes there are
    K - 1 degrees of freedom, and to set the optimal thresholds is an optimisation problem.

    Examples
    --------
    >>> scores = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.6, 0.1, 0.3], [0.4, 0.3, 0.3]]
    >>> found = select_class_weights(["a", "b", "c", "a"], scores)
    >>> found.unweighted_cost, found.expected_cost
    (0.5, 0.25)
    """
    given = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    predictions = given.as_given
    logs = _log_scores(probabilities_of(predictions))
    weights = _deployed_weights(predictions, prevalences)
    costs = _checked_costs(cost_matrix, predictions.n_classes)
    losses = weights[:, np.newaxis] * costs[predictions.true]
    smallest_gain = _ROUNDING * float(np.abs(costs).max())
    best, generator = np.zeros(predictions.n_classes), generator_of(random_state)
    best_cost = unweighted = _cost(logs, losses)
    for start in _starts(logs, integer("n_starts", n_starts, 1), generator):
        offsets = _descend(logs, losses, start, smallest_gain, generator)
        cost = _cost(logs + offsets, losses)
        if cost < best_cost - smallest_gain:
            best, best_cost = offsets, cost
    weights = np.exp(best - best.mean())
    return ClassWeights(predictions.labels, weights, best_cost, unweighted, predictions.direction)


def _log_scores(scores: Scores) -> Scores:
    """Take logarithms, in which weights are offsets; minus infinity for a score of 0."""
    negative = scores < 0
    if negative.any():
        row, column = divmod(int(negative.argmax()), scores.shape[1])
        raise ValueError(
            f"y_score must be >= 0 to be multiplied by class weights, but it is "
            f"{scores[row, column]} at row {row} (counting from 0), column {column}; pass "
            "probabilities, one column for each class"
        )
    empty = (scores == 0).all(axis=1)
    if empty.any():
        raise ValueError(
            f"y_score is 0 for every class at row {int(empty.argmax())} (counting from 0): no "
            "weights can decide there; drop such rows"
        )
    with np.errstate(divide="ignore"):
        return np.log(scores)


def _checked_costs(cost_matrix: Any, n_classes: int) -> Float[np.ndarray, "k k"]:
    """Return the costs as a matrix."""
    if cost_matrix is None:
        return 1.0 - np.eye(n_classes)
    costs = numbers("cost_matrix", cost_matrix)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix must have shape {(n_classes, n_classes)}, observed classes in its rows "
            f"and decisions in its columns, but its shape is {costs.shape}"
        )
    if not np.isfinite(costs).all():
        raise ValueError("cost_matrix must be finite, but it holds NaN or infinite values")
    return costs


def _deployed_weights(predictions: Predictions, prevalences: Any) -> PerRow:
    """Weight the observations so that the classes have their prevalences and the sum is one."""
    totals, n_classes = predictions.class_totals, predictions.n_classes
    if prevalences is None:
        return predictions.sample_weight / predictions.sample_weight.sum()
    prevalence = numbers("prevalences", prevalences)
    if prevalence.shape != (n_classes,):
        raise ValueError(
            f"prevalences must hold {n_classes} numbers, one for each class in the order of the "
            f"labels, but its shape is {prevalence.shape}"
        )
    if not (np.isfinite(prevalence).all() and (prevalence >= 0).all() and prevalence.sum() > 0):
        raise ValueError(f"prevalences must be finite and >= 0, not all 0, but are {prevalences}")
    absent = np.flatnonzero((totals == 0) & (prevalence > 0))
    if len(absent):
        raise ValueError(
            f"prevalences gives class number {absent[0]} (counting from 0) the prevalence "
            f"{prevalence[absent[0]]}, but it has no observation: nothing is known about its costs"
        )
    of_class = prevalence / prevalence.sum() / np.where(totals > 0, totals, 1)
    return predictions.sample_weight * of_class[predictions.true]


def _cost(logs: Scores, losses: Scores) -> float:
    return float(_chosen(losses, logs).sum())


def _chosen(losses: Scores, logs: Scores) -> PerRow:
    """Return the loss of each observation if the class of the largest score wins."""
    return np.take_along_axis(losses, logs.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]


def _starts(logs: Scores, n_starts: int, generator: np.random.Generator) -> Iterator[PerClass]:
    """Equal weights, then offsets near those that make a random observation a tie."""
    n, n_classes = logs.shape
    yield np.zeros(n_classes)
    floor = logs[np.isfinite(logs)].min() - 1
    for row in generator.integers(n, size=n_starts - 1):
        yield generator.normal(scale=0.1, size=n_classes) - np.maximum(logs[row], floor)


def _descend(
    logs: Scores,
    losses: Scores,
    offsets: PerClass,
    smallest_gain: float,
    generator: np.random.Generator,
) -> PerClass:
    """Search along class after class, in random order, until none improves."""
    offsets = offsets.copy()
    improves = True
    while improves:
        improves = False
        for label in generator.permutation(logs.shape[1]):
            step, gain = _line_search(logs + offsets, losses, label)
            if gain > smallest_gain:
                offsets[label] += step
                improves = True
    return offsets


def _line_search(logs: Scores, losses: Scores, label: int | np.integer) -> tuple[float, float]:
    """Return by how much to raise the offset of a class, and what that gains.

    The class wins an observation when the step exceeds the lead of the best of the others, so
    that the cost changes at the leads only. Of several best gaps between leads the one nearest to
    0 is taken.
    """
    others = logs.copy()
    others[:, label] = -np.inf
    own_loss, others_loss = losses[:, label], _chosen(losses, others)
    lead = others.max(axis=1) - logs[:, label]
    order = np.argsort(lead)
    n_certain = int((lead == -np.inf).sum())  # all other scores are zero
    order, certain = order[n_certain:], order[:n_certain]
    order = order[lead[order] < np.inf]  # with a score of zero the class never wins
    cost_without = others_loss.sum() + (own_loss - others_loss)[certain].sum()
    lead, change = lead[order], (own_loss - others_loss)[order]

    breaks = np.concatenate([[-np.inf], lead, [np.inf]])
    costs = cost_without + np.concatenate([[0.0], np.cumsum(change)])
    costs[np.diff(breaks) <= SAME] = np.inf  # no room for a step between tied leads
    distance = np.maximum(breaks[:-1], -breaks[1:])
    is_best = costs <= costs.min() + _ROUNDING * np.abs(losses).max()
    nearest = int(np.where(is_best, distance, np.inf).argmin())
    return _inside(breaks[nearest], breaks[nearest + 1]), _cost(logs, losses) - costs[nearest]


def _inside(low: float, high: float) -> float:
    """Return the middle of a gap, or a point one outside of a single end."""
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - 1
    return low + 1 if np.isinf(high) else (low + high) / 2


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
    >>> from dmfroc.applications import majority_costs
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
