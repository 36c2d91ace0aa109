"""Measures of one class against the rest, from its curve; for several classes, their mean.

Two classes have one curve, in which the second is positive. With more, each class in turn is
positive and its column the score, and the mean over the classes that occur is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from dmfroc._kit.options import flag, nonnegative, number, positive
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import curve_summaries, ranges
from dmfroc.measures.bound import Summary
from dmfroc.measures.measure import SIGNED, UNBIASED, UNIT, IntervalProperties, Measure, WithOptions
from dmfroc.measures.registry import also_called, family, register
from dmfroc.measures.statistics.curves import (
    CurveCounts,
    CurvePoints,
    counts_at_positives,
    curve_counts,
    no_lost_gain,
    no_lost_sums,
    whole_curves,
)

Ties = Literal["half", "lower", "upper"]
Kappa = Literal["cohen", "scott"]
_STRAIGHT = (curve_summaries.partial_area, curve_summaries.roc_area, curve_summaries.gini)
_SHARE_OF_TIES = {"lower": 0.0, "half": 0.5, "upper": 1.0}


def _mean_over_curves(points: CurvePoints, xp: Any, summary: Summary, **options: Any) -> Any:
    return summary(points, xp, **options).sum(-1) * points.share


_curve_family = family("ranking", bounds=UNIT)


def _measure(
    title: str,
    summary: Callable[..., Any],
    options: Mapping[str, Any] = MappingProxyType({}),
    statistic: Callable[[Predictions], CurveCounts] = curve_counts,
    **attributes: Any,
) -> Measure:
    """Make a measure of a summary of one curve and its options: the mean over all curves."""
    mean = WithOptions(_mean_over_curves, summary=summary, **options)
    return _curve_family(title, statistic, mean, **attributes)


def _measure_with_ties(
    title: str, summary: Callable[..., Any], ties: Ties, **attributes: Any
) -> Measure:
    options, name = {"ties": _SHARE_OF_TIES[ties]}, summary.__name__
    if ties == "half":
        return _measure(title, summary, options, chance=0.5, **attributes)
    title = f"{title}, {ties} staircase"
    return _measure(title, summary, options, name=f"{name}_{ties}", **attributes)


_precision_recall = partial(_measure, family="precision-recall")
_average_precision = partial(_precision_recall, statistic=counts_at_positives)


def _with_choice(title: str, summary: Callable[..., Any], **attributes: Any) -> Measure:
    """Make a measure that chooses thresholds."""
    interval = IntervalProperties(chooses=True)
    attributes |= {"obstacle": no_lost_sums, "is_smooth": False, "interval": interval}
    return _measure(title, summary, **attributes)


def is_straight_between_points(measure: Measure) -> bool:
    """Whether a measure is an area under the straight lines of ROC curves.

    Fewer points tell of it as well, and class sizes make no difference to the curves of each class.
    """
    options = getattr(measure.summary, "keywords", {})
    return options.get("summary") in _STRAIGHT and options.get("ties", 0.5) == 0.5


@also_called("pauc")
@register()
def partial_auc(max_fpr: float | int = 0.1) -> Measure:
    """Return the standardised area under the ROC curve up to a false positive rate.

    Parameters
    ----------
    max_fpr : float
        The limit, in (0, 1].

    Returns
    -------
    Measure
        1/2 for guessing, 1 for a perfect classifier, and at least (1 - f / (2 - f)) / 2 for a
        limit f: the area is mapped linearly. Ties count by half; between its points the curve is
        straight. For two classes it is scikit-learn's ``roc_auc_score(..., max_fpr=f)``.

    Raises
    ------
    ValueError
        If ``max_fpr`` is not in (0, 1].

    References
    ----------
    McClish (1989), Analyzing a portion of the ROC curve.

    Examples
    --------
    >>> round(partial_auc()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.8246
    """
    if not 0 < number("max_fpr", max_fpr) <= 1:
        raise ValueError(f"max_fpr must be in (0, 1], such as 0.1, but it is {max_fpr!r}")
    # The area is at least 0, which for a limit below 1 is not the standardised 0.
    lowest = (1 - max_fpr / (2 - max_fpr)) / 2
    return _measure(
        f"Partial AUC, FPR to {max_fpr:g}",
        curve_summaries.partial_area,
        {"max_fpr": float(max_fpr)},
        name="partial_auc" if max_fpr == 0.1 else f"partial_auc(max_fpr={max_fpr!r})",
        bounds=(lowest, 1.0),
        chance=0.5,
    )


@register({"ties": "lower"}, {"ties": "upper"})
def roc_area(ties: Ties = "half") -> Measure:
    """Return the area under the ROC curve under one of three conventions for ties.

    Parameters
    ----------
    ties : {"half", "lower", "upper"}
        What a pair with equal scores counts: 1/2 (the trapezoids under the curve), 0 (the lower
        staircase, A_ROC1 of Vuk and Curk) or 1 (the upper staircase).

    Returns
    -------
    Measure
        In [0, 1]; for guessing 1/2, or less and more with ties that count 0 and 1. Classes that
        never occur are left out, with a warning.

    Raises
    ------
    ValueError
        If ``ties`` is another.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, equations 4.4 to 4.7.

    Examples
    --------
    >>> classes, scores = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    >>> [round(roc_area(t)(classes, scores), 4) for t in ("lower", "half", "upper")]
    [0.7778, 0.8333, 0.8889]
    """
    return _measure_with_ties("ROC area", curve_summaries.roc_area, ties, interval=UNBIASED)


@also_called("gini_index, accuracy_ratio")
@register()
def gini() -> Measure:
    """Return the Gini coefficient of the ROC curve, twice the area less one.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing. Ties count by half. Half of it is the area between the curve
        and the diagonal, and under informedness over the false positive rate (AUBOC).

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, theorem 1.

    Examples
    --------
    >>> round(gini()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    attributes: Any = {"bounds": SIGNED, "chance": 0.0, "interval": UNBIASED}
    return _measure("Gini coefficient", curve_summaries.gini, **attributes)


@register({}, {"kappa": "scott"})
def kappa_area(method: Literal["exact", "trapezoid"] = "exact", kappa: Kappa = "cohen") -> Measure:
    """Return the area under a kappa over the false positive rate (AUK).

    Parameters
    ----------
    method : {"exact", "trapezoid"}
        Whether kappa follows the straight lines of the ROC curve, or is itself taken to be
        straight between its points, as the literature does.
    kappa : {"cohen", "scott"}
        Whether accuracy is corrected for chance with the margins of the table (Cohen's kappa) or
        with their mean (Scott's and Fleiss's pi).

    Returns
    -------
    Measure
        In [-1, 1]; for Cohen's kappa 0 for guessing, and half of the Gini coefficient if half of
        the observations are positive. Scott's pi is negative for guesses whose bias is not the
        prevalence, and so is its area.

    Raises
    ------
    ValueError
        If an option is another.

    References
    ----------
    Kaymak, Ben-David and Potharst (2012), The AUK: a simple alternative to the AUC; Powers,
    Visualization of tradeoff in evaluation.

    Examples
    --------
    >>> round(kappa_area()([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]), 6)
    0.431877
    """
    is_cohen = kappa == "cohen"
    return _measure(
        "Area under kappa",
        curve_summaries.kappa_area,
        {"method": method, "kappa": kappa},
        statistic=curve_counts if method == "exact" else whole_curves,
        obstacle=no_lost_sums,
        bounds=SIGNED,
        range_of_shares=WithOptions(ranges.kappa_area, method=method) if is_cohen else None,
        chance=0.0 if is_cohen else math.nan,
    )


@register()
def lift_area(ties: Ties = "half") -> Measure:
    """Return the area under the lift curve: recall over the predicted positive rate.

    Parameters
    ----------
    ties : {"half", "lower", "upper"}
        As for `roc_area_score`; the pairs are those of a positive and any observation, itself
        included.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing (ties by half). With prevalence p and ROC area A it is
        p/2 + (1 - p) A, and so between p/2 and 1 - p/2. Rescaled to [0, 1] it equals A. Multiplied
        by the number of positives it is the area in the lift chart of Vuk and Curk (A_lift2, and
        A_lift1 for ``"lower"``).

    Raises
    ------
    ValueError
        If ``ties`` is another.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, equations 5.3 to 5.5.

    Examples
    --------
    >>> round(lift_area()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    shares = WithOptions(ranges.lift_area, ties=ties)
    attributes = {"statistic": curve_counts if ties == "half" else whole_curves}
    summary = curve_summaries.lift_area
    return _measure_with_ties("Lift area", summary, ties, range_of_shares=shares, **attributes)


@register()
def convex_hull_auc() -> Measure:
    """Return the area under the convex hull of the ROC curve (AUCH).

    Returns
    -------
    Measure
        In [1/2, 1]; the ROC area after the best recalibration by a step function. A sample puts
        guessing above 1/2. It is not smooth where a point of the curve joins the hull.

    References
    ----------
    Provost and Fawcett (2001), Robust classification for imprecise environments.

    Examples
    --------
    >>> round(convex_hull_auc()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.8889
    """
    summary, bounds = curve_summaries.hull_area, (0.5, 1.0)
    return _with_choice("Convex hull AUC", summary, bounds=bounds, chance=0.5)


@also_called("ks, ks_stat, ks_statistic, kolmogorov_smirnov")
@register()
def max_informedness() -> Measure:
    """Return the largest informedness TPR - FPR of any threshold (Youden's J, Kolmogorov-Smirnov).

    Returns
    -------
    Measure
        In [0, 1]; 0 for guessing, but more in a sample. It is not smooth where two thresholds are
        equally good.

    References
    ----------
    Youden (1950), Index for rating diagnostic tests.

    Examples
    --------
    >>> round(max_informedness()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    return _with_choice("Maximal informedness", curve_summaries.max_informedness, chance=0.0)


@register()
def h_measure(alpha: float | int = 2.0, beta: float | int = 2.0) -> Measure:
    """Return Hand's H: the share of the avoidable cost that the scores avoid.

    Parameters
    ----------
    alpha, beta : float
        The cost c of a false positive, that of a miss being 1 - c, has a Beta(alpha, beta)
        distribution. The default is Hand's of 2009; a severity ratio r (cost of a false positive
        over that of a miss) at the mode is ``alpha=2, beta=1 + 1 / r``. The R package hmeasure
        has r = n1 / n0 by default, of n1 positives and n0 negatives.

    Returns
    -------
    Measure
        In [0, 1]; 0 for guessing, but more in a sample. For every cost the best threshold is
        used, and the loss compared with that of the better constant prediction. It is not smooth
        where a point of the ROC curve joins the hull.

    Raises
    ------
    ValueError
        If ``alpha`` or ``beta`` is not positive and finite.

    References
    ----------
    Hand (2009), Measuring classifier performance: a coherent alternative to the area under the
    ROC curve.

    Examples
    --------
    >>> round(h_measure()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.565432
    """
    options = {"alpha": positive("alpha", alpha), "beta": positive("beta", beta)}
    attributes: Any = {"options": options, "chance": 0.0, "family": "costs"}
    return _with_choice("H-measure", curve_summaries.h_measure, **attributes)


@register()
def leave_one_out_average_precision() -> Measure:
    """Return the average precision where no positive counts towards its own precision.

    At its score a positive always has itself among the true positives, which makes the average
    precision too large, the more so the fewer positives there are. Here the recall T at the score
    of a positive is that of the other positives, and with the false positive rate F and the
    prevalence p its precision is pT / (pT + (1 - p) F).

    Returns
    -------
    Measure
        In [0, 1]; the prevalence of the positive class for guessing, in small samples too. Equal
        scores are one threshold. A positive with no negative at or above its score has precision
        1; one positive alone has itself for all others. Of unequal weights the mean is left out.
        Classes that never occur are left out, with a warning.

    References
    ----------
    Boyd, Eng and Page (2013), Area under the precision-recall curve: point estimates and confidence
    intervals, on the bias of the average precision.

    Examples
    --------
    >>> round(leave_one_out_average_precision()([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.6]), 6)
    0.783333
    >>> round(average_precision()([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.6]), 6)
    0.805556
    """
    summary = curve_summaries.leave_one_out_average_precision
    plain = _average_precision("Average precision", curve_summaries.average_precision)
    interval = IntervalProperties(plain=plain)
    return _average_precision("Average precision, leave-one-out", summary, interval=interval)


@also_called("ap, average_precision_score")
@register()
def average_precision() -> Measure:
    """Return the average precision: the mean over the positives of the precision at their score.

    Returns
    -------
    Measure
        In [0, 1]; the prevalence of the positive class for guessing, more in small samples: see
        `leave_one_out_average_precision`. Equal scores are one threshold. Classes that never occur
        are left out, with a warning. It is scikit-learn's ``average_precision_score``.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.

    Examples
    --------
    >>> round(average_precision()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.866667
    """
    return _average_precision(
        "Average precision",
        curve_summaries.average_precision,
        range_of_shares=ranges.precision_recall,
    )


@register()
def precision_recall_area() -> Measure:
    """Return the area under the precision-recall curve, interpolated as it can be attained.

    Returns
    -------
    Measure
        In [0, 1]; the prevalence of the positive class for guessing. Between two points true and
        false positives grow together, so that precision follows a hyperbola; a straight line
        would promise too much.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.

    Examples
    --------
    >>> round(precision_recall_area()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.875902
    """
    summary, shares = curve_summaries.precision_recall_area, ranges.precision_recall
    return _precision_recall("Precision-recall area", summary, range_of_shares=shares)


@register()
def precision_recall_gain_area(clip: bool = False) -> Measure:
    """Return the area under the precision-recall-gain curve (AUPRG).

    Parameters
    ----------
    clip : bool
        Whether parts of the curve with a negative precision gain count as 0.

    Returns
    -------
    Measure
        In (-inf, 1], or [0, 1] if clipped; 0 for guessing and for a constant score. The area
        runs over recall gains from 0 to 1; where the curve crosses recall gain 0 it is
        interpolated in counts.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves: PR analysis done right, section 3.

    Examples
    --------
    >>> round(
    ...     precision_recall_gain_area()([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6
    ... )
    0.708333
    """
    return _precision_recall(
        "Precision-recall-gain area",
        curve_summaries.precision_recall_gain_area,
        {"clip": flag("clip", clip)},
        obstacle=no_lost_gain,
        bounds=(0.0 if clip else -math.inf, 1.0),
        chance=0.0,
    )


def _no_gain(predictions: Predictions) -> str:
    return "all negatives exceed the threshold at which the recall is the share of positives"


@register()
def expected_f_gain(beta: float | int = 1.0) -> Measure:
    """Return the F-gain to be expected where every operating condition is as likely, E[FG].

    Parameters
    ----------
    beta : float
        Weight of recall, >= 0.

    Returns
    -------
    Measure
        In (-inf, 1]. For beta = 1 and a curve that has precision gain 1 where recall gain is 0 it
        is half of `precision_recall_gain_area` plus 1/4. NaN where no true negative is left at
        recall gain 0.

    Raises
    ------
    ValueError
        If ``beta`` is negative or not finite.

    References
    ----------
    Flach and Kull (2015), Precision-recall-gain curves: PR analysis done right, theorem 3; for
    other weights the same integral.

    Examples
    --------
    >>> expected_f_gain()([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    0.625
    """
    return _precision_recall(
        "Expected F-gain",
        curve_summaries.expected_f_gain,
        {"beta": nonnegative("beta", beta)},
        obstacle=no_lost_gain,
        undefined=_no_gain,
        bounds=(-math.inf, 1.0),
    )


def average_precision_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the average precision: the mean over the positives of the precision at their score.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers. Of two classes the second is positive; of more, each against
        all others, and the mean is taken.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        In [0, 1]; the prevalence of the positive class for guessing. Equal scores are one
        threshold. Classes that never occur are left out, with a warning. It is scikit-learn's
        ``average_precision_score``.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Davis and Goadrich (2006), The relationship between precision-recall and ROC curves.

    Examples
    --------
    >>> round(average_precision_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.866667
    """
    return average_precision()(y_true, y_score, labels=labels, sample_weight=sample_weight)
