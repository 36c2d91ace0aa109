"""Operating points: what is predicted positive at each threshold, and how much of it rightly."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._roc_points import roc_points
from dmfroc.curves.cases import Cases, MultiClass, for_each_class


class Maximum(NamedTuple):
    """A largest value and every threshold that attains it, in falling order."""

    value: float
    thresholds: Float[np.ndarray, " t"]


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Counts of a two-class problem at every threshold; the exact data behind all curves.

    A case is predicted positive if its score is at least the threshold. There is one point per
    distinct score, so that ties move together, and before them the point of threshold infinity
    where nothing is predicted positive.

    Attributes
    ----------
    label : Hashable
        The positive class, or the pair (positive class, negative class).
    thresholds : numpy.ndarray, shape (t,)
        Falling, the first is infinite.
    true_positives, false_positives : numpy.ndarray, shape (t,)
        Total weight of the cases of each class that are predicted positive; counts without
        weights. Rising from 0.
    positives, negatives : float
        Total weight of each class, both > 0.

    Examples
    --------
    >>> points = operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> points.thresholds
    array([inf, 0.9, 0.4, 0.1])
    >>> points.true_positives, points.false_positives
    (array([0., 1., 2., 2.]), array([0., 0., 1., 2.]))
    """

    label: Hashable
    thresholds: Float[np.ndarray, " t"]
    true_positives: Float[np.ndarray, " t"]
    false_positives: Float[np.ndarray, " t"]
    positives: float
    negatives: float

    @property
    def total(self) -> float:
        """Total weight of both classes."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> float:
        """Share of the positive class."""
        return self.positives / self.total

    @property
    def true_positive_rate(self) -> Float[np.ndarray, " t"]:
        """Recall, sensitivity: TP/P."""
        return self.true_positives / self.positives

    @property
    def false_positive_rate(self) -> Float[np.ndarray, " t"]:
        """Fallout, 1 - specificity: FP/N."""
        return self.false_positives / self.negatives

    @property
    def bias(self) -> Float[np.ndarray, " t"]:
        """Share of the cases that is predicted positive."""
        return (self.true_positives + self.false_positives) / self.total

    @property
    def precision(self) -> Float[np.ndarray, " t"]:
        """TP/(TP + FP); NaN where nothing is predicted positive."""
        with np.errstate(invalid="ignore"):
            return self.true_positives / (self.true_positives + self.false_positives)

    @property
    def informedness(self) -> Float[np.ndarray, " t"]:
        """Youden's J, TPR - FPR; in [-1, 1], 0 under chance."""
        # One division, so that for counts equal values are equal numbers
        excess = self.true_positives * self.negatives - self.false_positives * self.positives
        return excess / (self.positives * self.negatives)

    @property
    def accuracy(self) -> Float[np.ndarray, " t"]:
        """Share of right predictions, (TP + TN)/(P + N)."""
        return (self.true_positives + (self.negatives - self.false_positives)) / self.total

    @property
    def cohen_kappa(self) -> Float[np.ndarray, " t"]:
        """Cohen's kappa; in [-1, 1], 0 under chance."""
        rate = self.prevalence
        mean = (rate + self.bias) / 2 - rate * self.bias
        return rate * (1 - rate) * self.informedness / mean

    def dual(self) -> OperatingPoints:
        """Return the points of the other class, which is predicted below the threshold."""
        return OperatingPoints(
            label=self.label,
            thresholds=self.thresholds[::-1],
            true_positives=self.negatives - self.false_positives[::-1],
            false_positives=self.positives - self.true_positives[::-1],
            positives=self.negatives,
            negatives=self.positives,
        )

    def at(self, index: Int[np.ndarray, " v"]) -> OperatingPoints:
        """Return some of the points."""
        return OperatingPoints(
            self.label,
            self.thresholds[index],
            self.true_positives[index],
            self.false_positives[index],
            self.positives,
            self.negatives,
        )

    def maximum(self, values: Float[np.ndarray, " t"]) -> Maximum:
        """Return the largest of a value per point, and the thresholds where it is attained."""
        largest = np.nanmax(values)
        return Maximum(float(largest), self.thresholds[values == largest])


def count_points(cases: Cases) -> OperatingPoints:
    """Count both classes at every distinct score."""
    points = roc_points(cases.scores, cases.is_positive, cases.weights)
    return OperatingPoints(
        label=cases.label,
        thresholds=points.thresholds,
        true_positives=points.true_positives.astype(float),
        false_positives=points.false_positives.astype(float),
        positives=points.positives,
        negatives=points.negatives,
    )


def operating_points(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    multi_class: MultiClass = "ovr",
) -> OperatingPoints | dict[Hashable, OperatingPoints]:
    """Count true and false positives at every threshold.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores, larger for a more likely class; a one-dimensional score is that of the second
        class.
    labels : array-like of shape (K,), optional
        The classes in column order; by default sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations; those of weight 0 are left out.
    pos_label : optional
        The class to consider, against the rest. By default the second of two classes; of more
        than two classes, every one.
    multi_class : {"ovr", "ovo"}
        For more than two classes: each against the rest, by its column, or each ordered pair of
        classes (i, j), where column i tells the cases of class i from those of class j.

    Returns
    -------
    OperatingPoints or dict
        For two classes or with `pos_label`, the points; else points by class or pair. A class
        without observations is left out with a warning.

    Raises
    ------
    TypeError, ValueError
        As for `Predictions.from_arrays`; ValueError if `pos_label` is no class with observations,
        or `multi_class` is unknown.

    Examples
    --------
    >>> operating_points(["a", "b", "a"], [[0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]).informedness
    array([ 0. , -0.5,  0.5,  0. ])
    """
    return for_each_class(
        count_points, y_true, y_score, labels, sample_weight, pos_label, multi_class
    )
