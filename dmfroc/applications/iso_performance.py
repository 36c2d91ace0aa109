"""Operating points of a binary classifier: which thresholds are optimal, and points in between.

An observation is predicted positive if its score is at least the threshold, or at most if small
scores speak for the positive class. That is the second of the two labels; of scores with two
columns, its column counts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float, Shaped

from dmfroc import Predictions
from dmfroc.curves import OperatingPoints
from dmfroc.extend import (
    AttributeTables,
    Direction,
    RandomState,
    as_predictions,
    choice,
    count_points,
    generator_of,
    nonnegative,
    number,
    numbers,
    one_class,
    unlabelled,
)

TieBreak = Literal["highest", "lowest"]
Placement = Literal["score", "midpoint"]


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(AttributeTables):
    """What a classifier achieves with one threshold, under assumed prevalence and costs.

    Attributes
    ----------
    threshold : float
        An observation is predicted positive if its score is at least this, or at most, see
        `direction`; an infinite one predicts no positives.
    fpr, tpr : float
        False and true positive rate, in [0, 1].
    bias : float
        Expected proportion of positive predictions, prevalence * tpr + (1 - prevalence) * fpr.
    accuracy : float
        Expected proportion of right predictions, prevalence * tpr + (1 - prevalence) * (1 - fpr).
    expected_cost : float
        Expected cost of one prediction,
        (1 - prevalence) * fpr * cost_fp + prevalence * (1 - tpr) * cost_fn.
    direction : {">=", "<="}
        Whether the score must be at least or at most the threshold.
    """

    threshold: float
    fpr: float
    tpr: float
    bias: float
    accuracy: float
    expected_cost: float
    direction: Direction = ">="


@dataclass(frozen=True, eq=False, repr=False)
class OptimalOperatingPoints(AttributeTables):
    """The points where the iso-performance tangent touches the ROC curve.

    Attributes
    ----------
    points : tuple of OperatingPoint
        All optima, that of the fewest positive predictions first. They share
        their expected cost; a vertex of the convex hull is always among them.
    midpoints : tuple of float
        For each optimum the middle between its threshold and the next score, which makes the
        same predictions in this sample. An infinite threshold and the last score have no gap to
        lie in and stay as they are.
    slope : float
        Slope of the tangent in the ROC plane,
        (1 - prevalence) * cost_fp / (prevalence * cost_fn), in [0, inf].
    lift_slope : float
        Slope of the tangent in this sample's lift chart (true positives against the proportion
        of positive predictions); half the number of observations for accuracy.
    expected_utility : float
        What one prediction saves, at the optimum, against predicting no positives; >= 0.
    """

    points: tuple[OperatingPoint, ...]
    midpoints: tuple[float, ...]
    slope: float
    lift_slope: float
    expected_utility: float

    @property
    def thresholds(self) -> Float[np.ndarray, " m"]:
        """The optimal thresholds, that of the fewest positive predictions first."""
        return np.array([point.threshold for point in self.points])

    @property
    def expected_cost(self) -> float:
        """Expected cost of one prediction at the optimum."""
        return self.points[0].expected_cost

    def threshold(self, tie_break: TieBreak = "highest", placement: Placement = "score") -> float:
        """Return one optimal threshold.

        Parameters
        ----------
        tie_break : {"highest", "lowest"}
            Which of several optima: that of the fewest, or of the most, positive predictions.
        placement : {"score", "midpoint"}
            At the last score that is predicted positive, or in the middle of the gap beyond it.

        Returns
        -------
        float
            The threshold; infinite if it is best to predict no positives.
        """
        choice("tie_break", tie_break, get_args(TieBreak))
        choice("placement", placement, get_args(Placement))
        thresholds = self.thresholds if placement == "score" else self.midpoints
        return float(thresholds[0 if tie_break == "highest" else -1])


class Economy:
    """What an error is worth: assumed prevalence and costs, as gains of the sample's counts."""

    def __init__(
        self,
        points: OperatingPoints,
        prevalence: float | None,
        cost_fp: float | int,
        cost_fn: float | int,
    ) -> None:
        if prevalence is not None:
            given, prevalence = prevalence, number("prevalence", prevalence)
            if not 0 < prevalence < 1:
                raise ValueError(
                    f"prevalence must lie strictly between 0 and 1, but it is {given}; for class "
                    "totals P and N pass P / (P + N)"
                )
        cost_fp, cost_fn = nonnegative("cost_fp", cost_fp), nonnegative("cost_fn", cost_fn)
        if cost_fp == 0 and cost_fn == 0:
            raise ValueError("cost_fp and cost_fn are both 0: then every threshold is optimal")
        self._points = points
        self._total = points.total
        # Each observation counts as one unless a prevalence is assumed: exact for whole numbers
        self._weight_of_positive = self._weight_of_negative = 1.0
        if prevalence is not None:
            self._weight_of_positive = prevalence * self._total / points.positives
            self._weight_of_negative = (1 - prevalence) * self._total / points.negatives
        # Costs near the ends of the range of floats, divided by a power of two: exact
        self._exponent = math.frexp(max(cost_fp, cost_fn))[1]
        self.gain_tp = math.ldexp(cost_fn, -self._exponent) * self._weight_of_positive
        self.loss_fp = math.ldexp(cost_fp, -self._exponent) * self._weight_of_negative

    def point(self, index: int, threshold: float) -> OperatingPoint:
        """Describe a point of the curve."""
        points = self._points
        hits, alarms = float(points.true_positives[index]), float(points.false_positives[index])
        misses, rejections = points.positives - hits, points.negatives - alarms
        predicted = self._weight_of_positive * hits + self._weight_of_negative * alarms
        right = self._weight_of_positive * hits + self._weight_of_negative * rejections
        cost = self.loss_fp * alarms + self.gain_tp * misses
        return OperatingPoint(
            threshold=threshold,
            fpr=alarms / points.negatives,
            tpr=hits / points.positives,
            bias=predicted / self._total,
            accuracy=right / self._total,
            expected_cost=math.ldexp(cost / self._total, self._exponent),
            direction=points.direction,
        )

    def optima(self) -> OptimalOperatingPoints:
        """Find the points of greatest gain."""
        points = self._points
        gains = self.gain_tp * points.true_positives - self.loss_fp * points.false_positives
        largest_gain = self.gain_tp * points.positives
        largest_loss = self.loss_fp * points.negatives
        best = np.flatnonzero(gains >= gains.max() - 1e-12 * (largest_gain + largest_loss))
        thresholds = points.thresholds.tolist()
        return OptimalOperatingPoints(
            points=tuple(self.point(index, thresholds[index]) for index in best.tolist()),
            midpoints=tuple(_midpoint(points, index) for index in best.tolist()),
            slope=largest_loss / largest_gain if largest_gain else np.inf,
            lift_slope=self._total * self.loss_fp / (self.gain_tp + self.loss_fp),
            expected_utility=math.ldexp(gains.max() / self._total, self._exponent),
        )


def binary_points(predictions: Predictions) -> OperatingPoints:
    """Return the points of predictions of two observed classes; the second is positive."""
    if predictions.n_classes != 2:
        raise ValueError(
            f"y_true and y_score have {predictions.n_classes} classes, but an operating point on "
            "a ROC curve needs two; pass one class against the rest, or select class weights "
            "with select_class_weights"
        )
    return one_class(count_points, predictions, None)


def _midpoint(points: OperatingPoints, index: int) -> float:
    own = float(points.thresholds[index])
    if np.isinf(own) or index + 1 == len(points.thresholds):
        return own
    beyond = float(points.thresholds[index + 1])
    middle = beyond + (own - beyond) / 2
    return middle if middle != beyond else own  # nothing lies between neighbouring floats


def _check_order(y_score: Any, labels: Any, pos_label: Any) -> None:
    """Refuse labels that may be meant to choose the positive class, but would name the columns."""
    if labels is None or pos_label is not None or np.ndim(y_score) < 2:
        return
    order = list(labels)
    if not hasattr(y_score, "columns") and len(order) == 2 and order != sorted(order):
        raise ValueError(
            f"labels={order!r} says that the first column of y_score is that of class "
            f"{order[0]!r}. Give pos_label= to choose the positive class. It is "
            f"pos_label={order[1]!r} if the columns are in that order; otherwise give labels= in "
            "the columns' order too"
        )


def operating_point(
    y_true: Any,
    y_score: Any,
    threshold: float | int,
    *,
    prevalence: float | None = None,
    cost_fp: float | int = 1.0,
    cost_fn: float | int = 1.0,
    labels: Any = None,
    pos_label: Any = None,
    direction: Direction | None = None,
    sample_weight: Any = None,
) -> OperatingPoint:
    """Describe what a classifier achieves with a given threshold.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes, two of them; the second of the sorted labels, or of `labels`, is
        positive unless `pos_label` is given.
    y_score : array-like of shape (n,) or (n, 2), optional
        Scores of the positive class, or of both classes.
    threshold : float
        Scores at or above it are predicted positive, with ``direction="<="`` those at or below it;
        may be infinite.
    prevalence, cost_fp, cost_fn
        As in `optimal_operating_points`.
    labels : array-like of shape (2,), optional
        Both classes in the order of the columns. In another order than the sorted one, two columns
        without names need `pos_label`, which says that it is meant.
    pos_label : hashable, optional
        The positive class, whose score a one-dimensional one is.
    direction : {">=", "<="}, optional
        Of a one-dimensional score: ``"<="`` if small values speak for the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    OperatingPoint
        Rates, accuracy and expected cost.

    Raises
    ------
    ValueError
        If the threshold is NaN, or as in `optimal_operating_points`.

    Examples
    --------
    >>> point = operating_point([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9], 0.5)
    >>> point.fpr, point.tpr, point.accuracy
    (0.5, 1.0, 0.75)
    """
    threshold = number("threshold", threshold)
    if np.isnan(threshold):
        raise ValueError("threshold must be a number or infinite, but it is NaN")
    predictions = _two_classes(y_true, y_score, labels, sample_weight, pos_label, direction)
    points = binary_points(predictions)
    falling = (-points.sign * points.thresholds).astype(predictions.scores.dtype)
    with np.errstate(over="ignore"):  # beyond all scores
        rounded = falling.dtype.type(-points.sign * threshold)
    index = int(np.searchsorted(falling, rounded, side="right")) - 1
    return Economy(points, prevalence, cost_fp, cost_fn).point(index, threshold)


def optimal_operating_points(
    y_true: Any,
    y_score: Any = None,
    *,
    prevalence: float | None = None,
    cost_fp: float | int = 1.0,
    cost_fn: float | int = 1.0,
    labels: Any = None,
    pos_label: Any = None,
    direction: Direction | None = None,
    sample_weight: Any = None,
) -> OptimalOperatingPoints:
    r"""Find all thresholds of least expected cost: where the iso-performance tangent touches.

    Points of equal expected cost lie on lines of slope
    :math:`(1-\pi) c_{FP} / (\pi c_{FN})` in the ROC plane. The optima are the points of the curve
    on the line nearest to (0, 1). With equal costs they maximise the accuracy.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes, two of them; the second of the sorted labels, or of `labels`, is
        positive unless `pos_label` is given.
    y_score : array-like of shape (n,) or (n, 2), optional
        Scores of the positive class, or of both classes. Tied scores share one threshold.
    prevalence : float, optional
        Assumed proportion of positives where the classifier will be used, strictly between 0 and
        1: P / (P + N) for class totals P and N. Default: that of the (weighted) sample.
    cost_fp, cost_fn : float
        Cost >= 0 of a false positive and of a false negative, not both 0: of a ``cost_matrix`` with
        observed classes in its rows, ``[[0, cost_fp], [cost_fn, 0]]``. Where right predictions
        have a value too, add it to the cost of the error they replace.
    labels : array-like of shape (2,), optional
        Both classes in the order of the columns. In another order than the sorted one, two columns
        without names need `pos_label`, which says that it is meant.
    pos_label : hashable, optional
        The positive class, whose score a one-dimensional one is.
    direction : {">=", "<="}, optional
        Of a one-dimensional score: ``"<="`` if small values speak for the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations. Observations of weight 0 make no threshold.

    Returns
    -------
    OptimalOperatingPoints
        All optima, fewest positives first, with the slope of the tangent. Costs that differ by
        less than a 1e-12th of the largest count as equal; with the sample's prevalence, whole
        weights and whole costs the comparison is exact in effect.

    Raises
    ------
    TypeError, ValueError
        If there are not exactly two classes, if an input is not what `Predictions.from_arrays`
        accepts, or if prevalence or costs are out of range.

    Notes
    -----
    Scores that carry no information have their optimum at a corner: all positive or none, and both
    where those cost the same.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, section 4.2 (equations 4.8
    and 4.9) and equations 5.6 and 5.7.

    Examples
    --------
    >>> y, s = ["n", "n", "p", "n", "p", "p"], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> found = optimal_operating_points(y, s)
    >>> found.thresholds, round(found.points[0].accuracy, 4), found.slope
    (array([0.5, 0.3]), 0.8333, 1.0)
    >>> optimal_operating_points(y, s, cost_fn=5).threshold(placement="midpoint")
    0.25
    """
    points = binary_points(
        _two_classes(y_true, y_score, labels, sample_weight, pos_label, direction)
    )
    return Economy(points, prevalence, cost_fp, cost_fn).optima()


def _two_classes(
    y_true: Any, y_score: Any, labels: Any, sample_weight: Any, pos_label: Any, direction: Any
) -> Predictions:
    """Return the predictions that the user hands in."""
    _check_order(y_score, labels, pos_label)
    given: Any = {"pos_label": pos_label, "direction": direction, "sample_weight": sample_weight}
    return as_predictions(y_true, y_score, labels=labels, **given)


@dataclass(frozen=True, eq=False, repr=False)
class RandomizedThreshold(AttributeTables):
    """A random choice between two thresholds, made anew for each observation.

    Attributes
    ----------
    labels : tuple, length 2
        The negative and the positive class.
    strict, lenient : float
        The thresholds of fewer and of more positive predictions; equal if the target is met
        without mixing.
    probability : float
        Probability of the lenient threshold, in [0, 1).
    fpr, tpr, bias : float
        Expected rates, and expected proportion of positive predictions, on the sample the
        thresholds were found on.
    is_turned : bool
        Whether columns of scores without names are in the reverse order of `labels`.
    direction : {">=", "<="}
        Whether a score must be at least or at most the threshold to be predicted positive.
    """

    labels: tuple[Hashable, ...]
    strict: float
    lenient: float
    probability: float
    fpr: float
    tpr: float
    bias: float
    is_turned: bool = False
    direction: Direction = ">="

    def predict(
        self, y_score: Any, *, random_state: RandomState = None
    ) -> Shaped[np.ndarray, " n"]:
        """Predict classes; only scores between the two thresholds are left to chance.

        Parameters
        ----------
        y_score : array-like of shape (n,) or (n, 2)
            Scores, as those the thresholds were found on.
        random_state : int, numpy.random.Generator or key of jax.random, optional
            Source of the random choices; by default fresh ones at each call.

        Returns
        -------
        numpy.ndarray of shape (n,)
            Labels.

        Raises
        ------
        TypeError, ValueError
            If the scores are not what `Predictions.from_arrays` accepts.
        """
        given = unlabelled(y_score, self.labels, self.direction, is_turned=self.is_turned)
        scores = given.scores[:, 1]
        is_lenient = generator_of(random_state).random(len(scores)) < self.probability
        sign = 1 if self.direction == ">=" else -1
        thresholds = sign * np.where(is_lenient, self.lenient, self.strict)
        return np.array(self.labels)[(scores >= thresholds).astype(int)]


def randomized_threshold(
    y_true: Any,
    y_score: Any = None,
    *,
    fpr: float | int | None = None,
    tpr: float | int | None = None,
    bias: float | int | None = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> RandomizedThreshold:
    """Realise a point of the ROC convex hull by mixing two thresholds at random.

    Between two vertices A and B of the hull every point of the segment is met in expectation by
    using B's threshold with the right probability and A's otherwise. No threshold does better.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes, two of them; the second of the sorted labels, or of `labels`, is
        positive.
    y_score : array-like of shape (n,) or (n, 2), optional
        Scores of the positive class, or of both classes.
    fpr, tpr, bias : float, optional
        The target, exactly one of them, in [0, 1]. A false positive rate is met with the largest
        true positive rate, a true positive rate with the smallest false positive rate. The third is
        a proportion of positive predictions in this sample.
    labels : array-like of shape (2,), optional
        The negative and the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    RandomizedThreshold
        The thresholds, the mixing probability and the expected rates; has a ``predict`` method.

    Raises
    ------
    TypeError, ValueError
        If not exactly one target is given, a target is outside [0, 1], or as in
        `optimal_operating_points`.

    Notes
    -----
    The hull fits this sample; on new observations the expected rates are optimistic.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, section 4; Powers (2015),
    Visualization of tradeoff in evaluation, section on ROCH.

    Examples
    --------
    >>> y, s = [0, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> mixed = randomized_threshold(y, s, fpr=1 / 6)
    >>> mixed.strict, mixed.lenient, round(mixed.probability, 4), round(mixed.tpr, 4)
    (0.6, 0.3, 0.5, 0.6667)
    >>> mixed.predict([0.7, 0.4, 0.4, 0.1], random_state=1)
    array([1, 0, 1, 0])
    """
    targets = {"fpr": fpr, "tpr": tpr, "bias": bias}
    given = {name: number(name, value) for name, value in targets.items() if value is not None}
    if len(given) != 1:
        raise TypeError(
            f"exactly one of fpr, tpr and bias must be given, but {sorted(given) or 'none'} "
            f"{'are' if given else 'is'}"
        )
    ((name, target),) = given.items()
    if not 0 <= target <= 1:
        raise ValueError(f"{name} must lie in [0, 1], but it is {target}")
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    points = binary_points(predictions)
    hull = points.at(points.hull_vertices())
    rates = {"fpr": hull.false_positive_rate, "tpr": hull.true_positive_rate}
    rates["bias"] = hull.prevalence * rates["tpr"] + (1 - hull.prevalence) * rates["fpr"]
    rates["bias"][-1] = 1.0  # where rounding would leave a target of 1 out of reach
    strict, lenient = _segment(rates[name], target, lowest=name == "tpr")
    probability = 0.0
    if lenient > strict:
        start, end = rates[name][[strict, lenient]]
        probability = (target - start) / (end - start)
    expected: dict[str, Any] = {
        key: float(values[strict] + probability * (values[lenient] - values[strict]))
        for key, values in rates.items()
    }
    high, low = hull.thresholds[[strict, lenient]].tolist()
    expected |= {"is_turned": predictions.is_turned, "direction": points.direction}
    return RandomizedThreshold(predictions.labels, high, low, float(probability), **expected)


def _segment(rates: Float[np.ndarray, " v"], target: float, *, lowest: bool) -> tuple[int, int]:
    """Return the vertices around a target; where vertices meet it, the first or last of these."""
    first, after = (int(np.searchsorted(rates, target, side)) for side in ("left", "right"))
    if first == after:  # it is between two vertices
        return first - 1, first
    return (first, first) if lowest else (after - 1, after - 1)


def skew_sensitive_accuracy(tpr: Any, fpr: Any, *, c: Any, prevalence: Any) -> Any:
    r"""Return the accuracy that weights errors by the calibrated score at which it decides.

    :math:`acc_c = 2 (1-c) \pi \, tpr + 2 c (1-\pi) (1 - fpr)`: a false positive costs c, a
    false negative 1 - c. A perfectly calibrated classifier should predict positive from the score
    c on. Its maxima over a curve are those of `optimal_operating_points` with ``cost_fp=c`` and
    ``cost_fn=1 - c``; c = 1/2 gives the accuracy.

    Parameters
    ----------
    tpr, fpr : float or array-like
        True and false positive rates, in [0, 1].
    c : float or array-like
        Relative cost of a false positive, in [0, 1].
    prevalence : float or array-like
        Proportion of positives, in [0, 1].

    Returns
    -------
    float or numpy.ndarray
        In [0, 2]; under chance (tpr = fpr) it depends on the bias unless c equals the prevalence.

    Raises
    ------
    ValueError
        If an argument leaves [0, 1].

    Notes
    -----
    Flach and Kull print c and 1 - c the other way round. Then the boundary would lie at 1 - c.
    But by their own calibration map :math:`c = \pi r / (\pi r + 1 - \pi)` of a hull segment of
    slope r, the points at either end of the segment are equally good. With the formula above they
    are.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves, section 1.

    Examples
    --------
    >>> round(skew_sensitive_accuracy(0.8, 0.3, c=0.5, prevalence=0.4), 4)  # the accuracy
    0.74
    >>> skew_sensitive_accuracy([0.5, 0.9], [0.1, 0.4], c=0.7, prevalence=0.5).round(2)
    array([0.78, 0.69])
    """
    arrays = {"tpr": tpr, "fpr": fpr, "c": c, "prevalence": prevalence}
    for name, value in arrays.items():
        array = arrays[name] = numbers(name, value)
        if not ((array >= 0) & (array <= 1)).all():
            raise ValueError(f"{name} must lie in [0, 1], but it is {value}")
    tpr, fpr, c, prevalence = arrays.values()
    accuracy = 2 * (1 - c) * prevalence * tpr + 2 * c * (1 - prevalence) * (1 - fpr)
    return accuracy if accuracy.ndim else float(accuracy)
