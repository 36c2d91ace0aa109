"""One class against the rest, or against another: its cases and its operating points.

At each threshold an operating point says what is predicted positive, and how much of it rightly.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args, overload

import numpy as np
from jaxtyping import Num

# Not ``from dmfroc.measures import``, which would look for a measure and import all of them
import dmfroc.measures.curve_summaries as curve_summaries
from dmfroc._kit.arrays import BoolPerRow, PerRow, PerThreshold
from dmfroc._kit.habits import check_options
from dmfroc._kit.options import choice
from dmfroc._kit.remarks import warn
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.columns import Direction
from dmfroc.inputs.labels import place_of_class
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.cells import Cells
from dmfroc.measures.hull import ROUNDING, Counts, Vertices, hull_of_counts
from dmfroc.measures.statistics.curves import CurvePoints, one_curve
from dmfroc.results.result import AttributeTables

MultiClass = Literal["ovr", "ovo"]
Number = float | int | np.number
_LARGEST_INTEGER = 2.0**63


@dataclass(frozen=True, eq=False)
class Cases:
    """Scored observations of a positive and a negative class.

    Attributes
    ----------
    label : Hashable
        The positive class, or the pair (positive class, negative class).
    is_positive : numpy.ndarray of bool, shape (n,)
        Which observations are of the positive class.
    scores : numpy.ndarray of float64, shape (n,)
        Larger for a more likely positive class.
    weights : numpy.ndarray of float64, shape (n,)
        Weights of the observations, all > 0.
    dtype : numpy.dtype
        The type of the given scores.
    direction : {">=", "<="}
        Whether the scores are those that were given, or minus those.
    """

    label: Hashable
    is_positive: BoolPerRow
    scores: PerRow
    weights: PerRow
    dtype: np.dtype[Any]
    direction: Direction = ">="

    @property
    def of_probabilities(self) -> Cases:
        """The cases with the probability of the positive class if that of the other was given."""
        return replace(self, scores=self.scores + (self.direction == "<="), direction=">=")


class ByClass[T](Protocol):
    """Computes something for one class, or by class or pair of classes if ``multi_class`` is given.

    Further options are those of `compute_by_class` and of the function that says what to compute.
    """

    @overload
    def __call__(
        self, y_true: Any, y_score: Any = None, *, multi_class: None = None, **options: Any
    ) -> T: ...
    @overload
    def __call__(
        self, y_true: Any, y_score: Any = None, *, multi_class: MultiClass, **options: Any
    ) -> dict[Hashable, T]: ...


def compute_by_class[T](compute: Callable[..., T]) -> ByClass[T]:
    """Make a public function of classes and scores from a function of `Cases` and its options."""

    def compute_for_classes(
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        multi_class: Any = None,
        direction: Direction | None = None,
        **options: Any,
    ) -> Any:
        check_options(compute_for_classes, options)
        given: Any = {"pos_label": pos_label, "direction": direction, "against_rest": True}
        given |= {"labels": labels, "sample_weight": sample_weight}
        predictions = as_predictions(y_true, y_score, **given)
        return for_each_class(partial(compute, **options), predictions, pos_label, multi_class)

    # Not `functools.wraps`: it would show the signature of `compute`
    for attribute in ("__module__", "__name__", "__qualname__"):
        setattr(compute_for_classes, attribute, getattr(compute, attribute))
    compute_for_classes.__doc__ = inspect.getdoc(compute)
    signature = inspect.signature(compute_for_classes)
    *shared, _ = signature.parameters.values()
    _, *own = inspect.signature(compute).parameters.values()
    own = [x.replace(kind=x.KEYWORD_ONLY) for x in own]
    vars(compute_for_classes)["__signature__"] = signature.replace(parameters=[*shared, *own])
    return cast(ByClass[T], compute_for_classes)


def for_each_class[T](
    compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any, multi_class: Any
) -> T | dict[Hashable, T]:
    """Compute something for one class, or for each class or pair of classes by name."""
    if multi_class is None:
        return one_class(compute, predictions, pos_label)
    choice("multi_class", multi_class, get_args(MultiClass))
    if pos_label is not None:
        raise ValueError(
            f"pos_label is {pos_label!r} and multi_class {multi_class!r}, but only one of them can "
            "be given: pos_label chooses one class, multi_class asks for all"
        )
    if absent := predictions.absent_labels:
        warn([f"no curve is drawn of classes without observations: {listing(absent)}"])
    present = predictions.present.tolist()
    pairs = [(k, None) for k in present] if multi_class == "ovr" else permutations(present, 2)
    each = (_select_cases(predictions, *pair) for pair in pairs)
    return {cases.label: compute(cases) for cases in each}


def one_class[T](compute: Callable[[Cases], T], predictions: Predictions, pos_label: Any) -> T:
    """Compute something for one class against the rest, by default the second of two."""
    labels = predictions.labels
    if pos_label is None and len(labels) == 2:
        return compute(_select_cases(predictions, 1))
    if pos_label is None:
        raise ValueError(
            f"there are {len(labels)} classes, {listing(labels)}: pass "
            "pos_label= to choose the positive one, or multi_class='ovr' or 'ovo' for a dictionary "
            "by class or by pair of classes"
        )
    position = place_of_class(pos_label, labels)
    if position not in predictions.present:
        raise ValueError(
            f"pos_label is {pos_label!r}, a class without observations: no curve can be drawn of it"
        )
    return compute(_select_cases(predictions, position))


def _select_cases(predictions: Predictions, positive: int, negative: int | None = None) -> Cases:
    """Return the cases of one class and of another, or of all others, that have a weight."""
    label, rows = predictions.labels[positive], predictions.sample_weight > 0
    if negative is not None:
        label = label, predictions.labels[negative]
        rows &= np.isin(predictions.true, [positive, negative])
    return Cases(
        label=label,
        is_positive=predictions.true[rows] == positive,
        scores=predictions.scores[rows, positive].astype(np.float64),
        weights=predictions.sample_weight[rows],
        dtype=predictions.scores.dtype,
        direction=">=" if predictions.single in (None, positive) else "<=",
    )


class Maximum(NamedTuple):
    """A largest value and every threshold that attains it, the fewest positives first."""

    value: float
    thresholds: PerThreshold

    @classmethod
    def of(cls, values: PerThreshold, thresholds: Num[np.ndarray, " t"]) -> Maximum:
        """Return the largest of a value per threshold; NaN does not count.

        Values that differ by a 1e-12th, as by the rounding of weights, are equal.
        """
        largest = np.nanmax(values)
        size = np.abs(values[np.isfinite(values)]).max(initial=0.0)  # of terms that may cancel
        is_best = np.isclose(values, largest, rtol=ROUNDING, atol=ROUNDING * min(size, 1.0))
        return cls(float(largest), thresholds[is_best])


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints(AttributeTables):
    """Counts of a two-class problem at every threshold; the exact data behind all curves.

    A case is predicted positive if its score is at least the threshold, or at most where small
    scores speak for the class. There is one point per distinct score, so that ties move together,
    and before them the point of an infinite threshold where nothing is predicted positive.

    Attributes
    ----------
    label : Hashable
        The positive class, or the pair (positive class, negative class).
    thresholds : numpy.ndarray, shape (t,)
        Falling, or rising where small scores speak for the class; the first is infinite.
    true_positives, false_positives : numpy.ndarray, shape (t,)
        Total weight of the cases of each class that are predicted positive. Rising from 0;
        integers where all weights are whole numbers, as they are without weights.
    positives, negatives : float
        Total weight of each class, both > 0.
    direction : {">=", "<="}
        Whether a case is predicted positive if its score is at least, or at most, the threshold.

    Examples
    --------
    >>> points = operating_points([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> points.thresholds
    array([inf, 0.9, 0.4, 0.1])
    >>> points.true_positives, points.false_positives
    (array([0, 1, 2, 2]), array([0, 0, 1, 2]))
    """

    label: Hashable
    thresholds: PerThreshold
    true_positives: Counts
    false_positives: Counts
    positives: float
    negatives: float
    direction: Direction = ">="

    @property
    def sign(self) -> int:
        """Of the thresholds, by which the class is more likely the larger they are."""
        return 1 if self.direction == ">=" else -1

    @property
    def total(self) -> float:
        """Total weight of both classes."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> float:
        """Share of the positive class."""
        return self.positives / self.total

    @property
    def true_positive_rate(self) -> PerThreshold:
        """Recall, sensitivity: TP/P."""
        return self.true_positives / self.positives

    @property
    def false_positive_rate(self) -> PerThreshold:
        """Fallout, 1 - specificity: FP/N."""
        return self.false_positives / self.negatives

    @property
    def false_negative_rate(self) -> PerThreshold:
        """Miss rate, 1 - recall: FN/P."""
        return (self.positives - self.true_positives) / self.positives

    @property
    def bias(self) -> PerThreshold:
        """Share of the cases that is predicted positive."""
        return (self.true_positives + self.false_positives) / self.total

    @property
    def precision(self) -> PerThreshold:
        """TP/(TP + FP); NaN where nothing is predicted positive."""
        with np.errstate(invalid="ignore"):
            return self.true_positives / (self.true_positives + self.false_positives)

    @property
    def informedness(self) -> PerThreshold:
        """Youden's J, TPR - FPR; in [-1, 1], 0 under chance."""
        # One division, so that for counts equal values are equal numbers
        excess = self.true_positives * self.negatives - self.false_positives * self.positives
        return excess / (self.positives * self.negatives)

    @property
    def accuracy(self) -> PerThreshold:
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
    def cohen_kappa(self) -> PerThreshold:
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

    def at(self, index: Vertices) -> OperatingPoints:
        """Return some of the points."""
        return replace(
            self,
            thresholds=self.thresholds[index],
            true_positives=self.true_positives[index],
            false_positives=self.false_positives[index],
        )

    def with_counts(self, true_positives: Counts, false_positives: Counts) -> OperatingPoints:
        """Return points of the same classes with other counts, which have no threshold (NaN)."""
        return replace(
            self,
            thresholds=np.full(len(true_positives), np.nan),
            true_positives=true_positives,
            false_positives=false_positives,
        )

    def maximum(self, values: PerThreshold) -> Maximum:
        """Return the largest of a value per point, and the thresholds where it is attained."""
        return Maximum.of(values, self.thresholds)

    def summarise(self, summary: Callable[..., Any], **options: Any) -> float:
        """Return what a function of `dmfroc.measures.curve_summaries` makes of the counts."""
        tp, fp = (x.astype(np.float64) for x in (self.true_positives, self.false_positives))
        return float(summary(CurvePoints(tp, fp), np, **options))

    def hull_vertices(self) -> Vertices:
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
    sizes, side = (float(tp[-1]), float(fp[-1])), cases.direction
    found = OperatingPoints(cases.label, thresholds, tp[points], fp[points], *sizes, side)
    return replace(found, thresholds=found.sign * thresholds)


@compute_by_class
def operating_points(cases: Cases) -> OperatingPoints:
    """Count true and false positives at every threshold.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores, larger for a more likely class; a one-dimensional score is that of the positive
        class.
    labels : array-like of shape (K,), optional
        The classes in column order; by default sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations; those of weight 0 are left out.
    pos_label : optional
        The positive class, against the rest. By default the second of two classes; of more there
        is none.
    multi_class : {"ovr", "ovo"}, optional
        Instead of `pos_label`, asks for all classes: each against the rest, by its column, or each
        ordered pair of classes (i, j). There column i tells the cases of class i from those of
        class j.
    direction : {">=", "<="}, optional
        Of a one-dimensional score: ``"<="`` if small values speak for the positive class. The
        thresholds are still values of this score.

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
