"""Operating points: what is predicted positive at each threshold, and how much of it rightly."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num

# Not ``from dmfroc.measures import``, which would look for a measure and import all of them
import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc.curves.cases import Cases, compute_by_class
from dmfroc.measures.cells import Cells
from dmfroc.measures.hull import hull_of_counts
from dmfroc.measures.statistics.curves import CurvePoints, one_curve
from dmfroc.results.attributes import AttributeTables

_LARGEST_INTEGER = 2.0**63


class Maximum(NamedTuple):
    """A largest value and every threshold that attains it, in falling order."""

    value: float
    thresholds: Float[np.ndarray, " t"]

    @classmethod
    def of(cls, values: Float[np.ndarray, " t"], thresholds: Float[np.ndarray, " t"]) -> Maximum:
        """Return the largest of a value per threshold; NaN does not count."""
        largest = np.nanmax(values)
        return cls(float(largest), thresholds[values == largest])


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints(AttributeTables):
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
        Total weight of the cases of each class that are predicted positive. Rising from 0;
        integers where all weights are whole numbers, as they are without weights.
    positives, negatives : float
        Total weight of each class, both > 0.

    Examples
    --------
    >>> points = operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> points.thresholds
    array([inf, 0.9, 0.4, 0.1])
    >>> points.true_positives, points.false_positives
    (array([0, 1, 2, 2]), array([0, 0, 1, 2]))
    """

    label: Hashable
    thresholds: Float[np.ndarray, " t"]
    true_positives: Num[np.ndarray, " t"]
    false_positives: Num[np.ndarray, " t"]
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
    def false_negative_rate(self) -> Float[np.ndarray, " t"]:
        """Miss rate, 1 - recall: FN/P."""
        return (self.positives - self.true_positives) / self.positives

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
    def cells(self) -> Cells:
        """The four counts of each point."""
        return Cells(
            tp=self.true_positives.astype(np.float64),
            fp=self.false_positives.astype(np.float64),
            fn=(self.positives - self.true_positives).astype(np.float64),
            tn=(self.negatives - self.false_positives).astype(np.float64),
            xp=np,
        )

    @property
    def cohen_kappa(self) -> Float[np.ndarray, " t"]:
        """Cohen's kappa; in [-1, 1], 0 under chance."""
        chance_corrected, largest = curve_summaries.kappa_terms(
            self.true_positives, self.false_positives, self.positives, self.negatives
        )
        return chance_corrected / largest

    def dual(self) -> OperatingPoints:
        """Return the points of the other class, which is predicted below the threshold."""
        return replace(
            self,
            thresholds=self.thresholds[::-1],
            true_positives=self.negatives - self.false_positives[::-1],
            false_positives=self.positives - self.true_positives[::-1],
            positives=self.negatives,
            negatives=self.positives,
        )

    def at(self, index: Int[np.ndarray, " v"]) -> OperatingPoints:
        """Return some of the points."""
        return replace(
            self,
            thresholds=self.thresholds[index],
            true_positives=self.true_positives[index],
            false_positives=self.false_positives[index],
        )

    def with_counts(
        self, true_positives: Num[np.ndarray, " t"], false_positives: Num[np.ndarray, " t"]
    ) -> OperatingPoints:
        """Return points of the same classes with other counts, which have no threshold (NaN)."""
        return replace(
            self,
            thresholds=np.full(len(true_positives), np.nan),
            true_positives=true_positives,
            false_positives=false_positives,
        )

    def maximum(self, values: Float[np.ndarray, " t"]) -> Maximum:
        """Return the largest of a value per point, and the thresholds where it is attained."""
        return Maximum.of(values, self.thresholds)

    def summarise(self, summary: Callable[..., Any], **options: Any) -> float:
        """Return what a function of `dmfroc.measures.curve_summaries` makes of the counts."""
        tp, fp = (x.astype(np.float64) for x in (self.true_positives, self.false_positives))
        return float(summary(CurvePoints(tp, fp), np, **options))

    def hull_vertices(self) -> Int[np.ndarray, " v"]:
        """Return the positions of the vertices of the ROC curve's upper convex hull.

        Points on an edge are no vertices; for whole counts of any size this is decided exactly.
        """
        return hull_of_counts(self.false_positives, self.true_positives)


def count_points(cases: Cases) -> OperatingPoints:
    """Count both classes at every distinct score, as the measures do; integers have exact sums."""
    weights = cases.weights
    if (weights == np.round(weights)).all() and weights.sum() < _LARGEST_INTEGER:
        weights = weights.astype(np.int64)
    curve = one_curve(cases.scores, cases.is_positive)
    counts = curve.count(weights, np)
    points = curve.ends(0)
    last = curve.rows[0, points[1:] - 1]  # the last of the cases that a point counts
    thresholds, (tp, fp) = np.append(np.inf, cases.scores[last]), (counts.tp[0], counts.fp[0])
    sizes = float(tp[-1]), float(fp[-1])
    return OperatingPoints(cases.label, thresholds, tp[points], fp[points], *sizes)


@compute_by_class
def operating_points(cases: Cases) -> OperatingPoints:
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
        there is none.
    multi_class : {"ovr", "ovo"}, optional
        Instead of `pos_label`, asks for all classes: each against the rest, by its column, or each
        ordered pair of classes (i, j). There column i tells the cases of class i from those of
        class j.

    Returns
    -------
    OperatingPoints or dict
        The points; a dictionary if `multi_class` is given, also of two classes. Its keys are the
        classes, or the pairs (i, j), in the order of the labels. A class without observations is
        left out with a warning.

    Raises
    ------
    TypeError, ValueError
        As for `Predictions.from_arrays`; ValueError if there are more than two classes and neither
        `pos_label` nor `multi_class` is given, or if both are, `pos_label` is no class with
        observations, or `multi_class` is unknown.

    Examples
    --------
    >>> operating_points(["a", "b", "a"], [[0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]).informedness
    array([ 0. , -0.5,  0.5,  0. ])
    >>> list(operating_points(["a", "b", "a"], [0.4, 0.7, 0.8], multi_class="ovo"))
    [('a', 'b'), ('b', 'a')]
    """
    return count_points(cases)
