"""Values at one point of a curve: a rate, precision or accuracy where another number is given.

Between its points the curve is straight. A point is uncertain for two reasons: the numbers at its
threshold are, and so is the threshold. In a standard error, the second part is the slope of the
curve there times the error of what is given. Neighbouring points show a slope too badly: it is that
of the chord over one and a half standard errors of what is given, to either side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from autograd.core import make_vjp

from dmfroc._kit.arrays import divide, last, take, value_and_pull_back
from dmfroc._kit.options import number, proportion
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import ranges
from dmfroc.measures.measure import (
    UNIT,
    IntervalProperties,
    Measure,
    WithOptions,
)
from dmfroc.measures.registry import also_called, family, register
from dmfroc.measures.statistics.curves import (
    CurveCounts,
    CurvePoints,
    no_lost_sums,
    one_curve,
    whole_curves,
)
from dmfroc.measures.statistics.forecasts import no_probabilities, probabilities_of
from dmfroc.measures.statistics.statistic import once_per_predictions

_ROUNDING = 1e-12
_CHORD = 1.5  # standard errors of what is given, to either side


@dataclass(frozen=True)
class AtPoint:
    """The mean over the curves of a value where one of their coordinates is given.

    Attributes
    ----------
    given : {"fpr", "tpr", "predicted"}
        Whether a share of the negatives, of the positives, or of all observations is given.
    share : float
        That share; from 1 on a number of observations, and each has a point of its own.
    value : {"tpr", "fpr", "tnr", "precision"}
        What is read off there.
    """

    given: str
    share: float
    value: str

    def __call__(self, points: CurvePoints, xp: Any) -> Any:
        x, total = self._along(points.tp, points.fp, last(points.tp), last(points.fp))
        at = self._around(x, self._share_of(x) * total, xp)
        return _mean(self._read(*_counts(points, at, xp)), points)

    def _along(self, tp: Any, fp: Any, positives: Any, negatives: Any) -> tuple[Any, Any]:
        if self.given == "fpr":
            return fp, negatives
        if self.given == "tpr":
            return tp, positives
        if self.given == "errors":  # half is predicted positive, if both classes weigh the same
            return tp * negatives + fp * positives, 2 * positives * negatives
        return tp + fp, positives + negatives

    def _share_of(self, x: Any) -> float:
        return self.share if self.share < 1 else self.share / (x.shape[-1] - 1)

    def _around(self, x: Any, target: Any, xp: Any) -> tuple[Any, Any]:
        """Return the two points around a place of the curve, and their shares.

        Where the curve is level there, it is the best point of that level.
        """
        if self.given == "tpr":
            is_before = x < target * (1 - _ROUNDING)
        else:
            is_before = x <= target * (1 + _ROUNDING)
        after = is_before.sum(-1, keepdims=True)
        places = xp.clip(after + np.array([-1, 0]), 0, x.shape[-1] - 1)
        around = xp.take_along_axis(x, places, -1)
        start, end = around[..., :1], around[..., 1:]
        part = divide(target - start, end - start, xp)
        return places, xp.concatenate([1 - part, part], axis=-1)

    def _read(self, tp: Any, fp: Any, positives: Any, negatives: Any) -> Any:
        if self.value == "tpr":
            return tp / positives
        if self.value == "fpr":
            return fp / negatives
        if self.value == "tnr":
            return 1 - fp / negatives
        return tp / (tp + fp)

    def value_and_pull_back(self, table: CurvePoints) -> tuple[Any, Callable[[Any], CurvePoints]]:
        """Return the value, and derivatives with the slope of a chord."""
        tp, fp = (np.asarray(x, np.float64) for x in table[:2])
        table, positives = table._replace(tp=tp, fp=fp), last(tp)
        x, total = self._along(tp, fp, positives, last(fp))
        given = self._share_of(x)
        n = np.count_nonzero(x[..., 1:] > x[..., :-1], axis=-1, keepdims=True)
        if table.above is not None:  # several have one score
            size = positives + last(fp) if self.given == "errors" else total
            n = np.maximum(n, size / positives * np.asarray(table.n_positives)[..., None])
        half = _CHORD * np.sqrt(given * (1 - given) / np.maximum(n, 1))
        low, high = np.clip(given - half, 0, 1), np.clip(given + half, 0, 1)
        at, start, end = (self._around(x, share * total, np) for share in (given, low, high))
        counts = _counts(table, at, np)
        by = make_vjp(lambda x: self._read(*x), counts)[0](np.ones_like(positives))
        ends = zip(by[:2], _counts(table, end, np), _counts(table, start, np), strict=False)
        slope = sum(d * (b - a) for d, b, a in ends) / ((high - low) * total)

        # The counts at the threshold change by themselves and with the threshold. It moves by the
        # change of what is given: its own count, less its share of the total.
        def with_chord(points: CurvePoints, xp: Any) -> Any:
            counts = _counts(points, at, xp)
            x, total = self._along(*counts)
            return _mean(self._read(*counts) - slope * (x - given * total), points)

        return _mean(self._read(*counts), table), value_and_pull_back(with_chord, table)[1]


def _counts(points: CurvePoints, at: tuple[Any, Any], xp: Any) -> tuple[Any, Any, Any, Any]:
    """Return true and false positives at a place between two points, and the largest of both."""
    places, shares = at
    tp, fp = ((take(x, places, xp) * shares).sum(-1, keepdims=True) for x in points[:2])
    return tp, fp, last(points.tp), last(points.fp)


def _mean(values: Any, points: CurvePoints) -> Any:
    return values[..., 0].sum(-1) * points.share


_operating_point = family("operating points", bounds=UNIT, obstacle=no_lost_sums)
_selective = family(
    "selective prediction",
    bounds=UNIT,
    needs="probabilities",
    in_given_order=True,
    obstacle=no_probabilities,
    caveats=(),
)


def _beyond_all(share: float, predictions: Predictions) -> str | None:
    """Say that no more than one case of a class is expected to lie beyond the threshold."""
    counts = predictions.class_counts[predictions.present]
    fewest = float(counts[-1] if len(counts) == 2 else counts.min())  # of positives
    if fewest * (1 - share) > 1 + _ROUNDING:
        return None
    return (
        f"A class has {fewest:g} cases, and the threshold for a share of {share:g} of them is "
        "expected to lie at the last or beyond all. The value is biased, and the interval covers "
        "less than it states."
    )


def _at_point(title: str, given: str, share: float, value: str, **attributes: Any) -> Measure:
    if given == "tpr":
        attributes["interval"] = IntervalProperties(caveat=WithOptions(_beyond_all, share))
    return _operating_point(title, whole_curves, AtPoint(given, share, value), **attributes)


@register()
def sensitivity_at(specificity: float = 0.95) -> Measure:
    """Return the sensitivity at the threshold of a given specificity.

    Parameters
    ----------
    specificity : float
        Between 0 and 1.

    Returns
    -------
    Measure
        In [0, 1]; 1 - specificity for guessing. The true positive rate on the ROC curve, straight
        between its points, at this false positive rate. With more than two classes the mean over
        the classes, each against the rest.

    Raises
    ------
    ValueError
        If the specificity is not between 0 and 1.

    References
    ----------
    Pepe (2003), The statistical evaluation of medical tests for classification and prediction,
    section 4.3; Hsieh and Turnbull (1996), on the variance.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> sensitivity_at(specificity=0.75)(y, score)
    0.75
    """
    given = 1 - proportion("specificity", specificity, "(0, 1)")
    return _at_point(
        f"Sensitivity at specificity {specificity:g}", "fpr", given, "tpr", chance=given
    )


@register()
def specificity_at(sensitivity: float = 0.95) -> Measure:
    """Return the specificity at the threshold of a given sensitivity.

    Parameters
    ----------
    sensitivity : float
        Between 0 and 1.

    Returns
    -------
    Measure
        In [0, 1]; 1 - sensitivity for guessing. As `sensitivity_at`, read the other way round.

    Raises
    ------
    ValueError
        If the sensitivity is not between 0 and 1.

    References
    ----------
    Pepe (2003), The statistical evaluation of medical tests for classification and prediction,
    section 4.3.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> specificity_at(sensitivity=0.75)(y, score)
    0.75
    """
    given = proportion("sensitivity", sensitivity, "(0, 1)")
    return _at_point(
        f"Specificity at sensitivity {sensitivity:g}", "tpr", given, "tnr", chance=1 - given
    )


@register()
def fpr_at(tpr: float = 0.95) -> Measure:
    """Return the false positive rate at the threshold of a given true positive rate.

    Parameters
    ----------
    tpr : float
        Between 0 and 1.

    Returns
    -------
    Measure
        In [0, 1]; the true positive rate for guessing, 0 is best. 1 - `specificity_at`.

    Raises
    ------
    ValueError
        If the true positive rate is not between 0 and 1.

    References
    ----------
    Hendrycks and Gimpel (2017), A baseline for detecting misclassified and out-of-distribution
    examples in neural networks, and later work, for "FPR at 95 % TPR".

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> fpr_at(tpr=0.75)(y, score)
    0.25
    """
    given = proportion("tpr", tpr, "(0, 1)")
    return _at_point(
        f"FPR at TPR {tpr:g}", "tpr", given, "fpr", chance=given, greater_is_better=False
    )


@register()
def precision_at(recall: float = 0.8) -> Measure:
    """Return the precision at the threshold of a given recall.

    Parameters
    ----------
    recall : float
        Between 0 and 1.

    Returns
    -------
    Measure
        In [0, 1]; the prevalence for guessing. Counts, not rates, are interpolated between points.
        With more than two classes the mean over the classes, each against the rest.

    Raises
    ------
    ValueError
        If the recall is not between 0 and 1.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves, on the
    interpolation.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> precision_at(recall=0.75)(y, score)
    0.75
    """
    given = proportion("recall", recall, "(0, 1)")
    return _at_point(f"Precision at recall {recall:g}", "tpr", given, "precision")


@also_called("eer")
@register()
def equal_error_rate() -> Measure:
    """Return the error rate at the threshold where it is the same among positives and negatives.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing, 0 is best. Where the ROC curve, straight between its points,
        crosses the other diagonal. With more than two classes the mean over the classes, each
        against the rest.

    References
    ----------
    Martin et al. (1997), The DET curve in assessment of detection task performance.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> equal_error_rate()(y, score)
    0.25
    """
    return _at_point("Equal error rate", "errors", 0.5, "fpr", chance=0.5, greater_is_better=False)


# The first k


def _too_few(k: float, predictions: Predictions) -> str | None:
    if k >= 1 and (n_rows := predictions.design.get("drawn_from")):
        share = f"k={k / n_rows:.3g}"
        return f"has k={k:g}, a number of all rows, but these are a sample: give a share, {share}"
    if k < 1 or k < predictions.n_observations:
        return no_lost_sums(predictions)
    return f"has k={k:g}, but there are {predictions.n_observations} observations: take fewer"


def _at_first(title: str, k: Any, value: str) -> Measure:
    size = number("k", k)
    if not (size > 0 and (size < 1 or size == int(size)) and size != np.inf):
        raise ValueError(
            f"k must be a whole number of observations, or a share of them below 1, not {k!r}"
        )
    # Counts in bins do not show how many observations there are
    statistic = whole_curves if size < 1 else WithOptions(whole_curves)
    summary, obstacle = AtPoint("predicted", size, value), WithOptions(_too_few, size)
    if size < 1:
        given: Any = {"range_of_shares": WithOptions(ranges.at_first, share=size, value=value)}
    else:
        given = {"of_sample": partial(_measure_at_share, title, size, value)}
        given["interval"] = IntervalProperties(is_of_weights=False)
    return _operating_point(title, statistic, summary, obstacle=obstacle, **given)


def _measure_at_share(title: str, k: float, value: str, predictions: Predictions) -> Measure:
    return _at_first(title, k / predictions.n_observations, value)


@register()
def recall_at(k: float | int = 10) -> Measure:
    """Return the share of the positives among the k observations with the largest scores.

    Parameters
    ----------
    k : int or float
        How many observations are looked at; below 1, which share of all.

    Returns
    -------
    Measure
        In [0, 1]; k / n for guessing. At most k divided by the number of positives. Observations
        that tie at the k-th place share it. With weights, k / n is a share of their sum. With more
        than two classes the mean over the classes, each against the rest.

    Raises
    ------
    ValueError
        If ``k`` is neither. Bound to no more than k observations.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, section 8.4.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> recall_at(k=4)(y, score)
    0.75
    """
    return _at_first(f"Recall at {k}", k, "tpr")


@register()
def precision_at_k(k: float | int = 10) -> Measure:
    """Return the share of positives among the k observations with the largest scores.

    Parameters
    ----------
    k : int or float
        As for `recall_at`.

    Returns
    -------
    Measure
        In [0, 1]; the prevalence for guessing.

    Raises
    ------
    ValueError
        As for `recall_at`.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, section 8.4.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.25, 0.5, 0.7, 0.9]
    >>> precision_at_k(k=3)(y, score)
    0.6666666666666666
    """
    return _at_first(f"Precision at {k}", k, "precision")


# Selective prediction


@once_per_predictions
def by_confidence(predictions: Predictions) -> CurveCounts:
    """Bind right decisions as positives, sorted by the largest probability."""
    probabilities = probabilities_of(predictions)
    is_right = probabilities.argmax(axis=1) == predictions.true
    n_right = np.array([is_right[predictions.sample_weight > 0].sum()])
    return replace(one_curve(probabilities.max(axis=1), is_right), n_positives=n_right)


def risk_area(points: CurvePoints, xp: Any) -> Any:
    """Return the mean over the observations of the error rate down to their confidence."""
    accepted = points.tp + points.fp
    step = accepted[..., 1:] - accepted[..., :-1]
    errors = divide(points.fp[..., 1:], accepted[..., 1:], xp)
    return (step * errors).sum() / accepted[..., -1].sum()


@also_called("aurc")
@register()
def risk_coverage_area() -> Measure:
    """Return the area under the risk-coverage curve, AURC.

    Returns
    -------
    Measure
        In [0, 1]; 0 is best, the error rate for a confidence that tells nothing. The mean error
        rate over all coverages: for each observation the rate among those that the classifier is at
        least as certain about, by the largest probability. It grows with the error rate.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Geifman, Uziel and El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
    classifiers.

    Examples
    --------
    >>> round(risk_coverage_area()([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3]), 4)
    0.0625
    """
    return _selective("Risk-coverage area", by_confidence, risk_area, greater_is_better=False)


@register()
def accuracy_at_coverage(coverage: float = 0.8) -> Measure:
    """Return the accuracy on the share of observations with the most certain decisions.

    Parameters
    ----------
    coverage : float
        That share, between 0 and 1.

    Returns
    -------
    Measure
        In [0, 1]; the accuracy of all for a confidence that tells nothing. Certainty is the largest
        probability; observations that tie at the limit share it.

    Raises
    ------
    ValueError
        If the coverage is not between 0 and 1. Bound to scores that are no probabilities.

    References
    ----------
    El-Yaniv and Wiener (2010), On the foundations of noise-free selective classification.

    Examples
    --------
    >>> accuracy_at_coverage(0.5)([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3])
    1.0
    """
    summary = AtPoint("predicted", proportion("coverage", coverage, "(0, 1)"), "precision")
    return _selective(f"Accuracy at coverage {coverage:g}", WithOptions(by_confidence), summary)
