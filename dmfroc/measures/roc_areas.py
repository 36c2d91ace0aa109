"""Areas and other numbers of one ROC curve; for several classes, means of each against the rest.

Two classes have one curve, in which the second is positive. With more, each class in turn is
positive and its column the score, and the mean over the classes that occur is taken.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from dmfroc.measures import _areas, _h_measure
from dmfroc.measures._one_vs_rest import bind_area, bind_hull_area
from dmfroc.measures.base import BoundMeasure, Measure, value_of
from dmfroc.predictions import Predictions, as_predictions

Ties = Literal["half", "lower", "upper"]
_SHARE_OF_TIES = {"lower": 0.0, "half": 0.5, "upper": 1.0}

_ranking = partial(Measure, family="ranking")


def _share_of_ties(ties: str) -> float:
    if ties not in _SHARE_OF_TIES:
        raise ValueError(f"ties must be one of {sorted(_SHARE_OF_TIES)}, but it is {ties!r}")
    return _SHARE_OF_TIES[ties]


def roc_area(ties: Ties = "half") -> Measure:
    """Return the area under the ROC curve as a measure, with ties as in `roc_area_score`."""
    share = _share_of_ties(ties)
    return _ranking(
        name="roc_area" if ties == "half" else f"roc_area_{ties}",
        title="ROC area" if ties == "half" else f"ROC area, {ties} staircase",
        bind=partial(bind_area, area=_areas.linear_area, parameters=(share, 0.0, 1.0)),
        bounds=(0.0, 1.0),
        chance=0.5 if ties == "half" else float("nan"),
    )


def lift_area(ties: Ties = "half") -> Measure:
    """Return the area under the lift curve as a measure, with ties as in `lift_area_score`."""
    share = _share_of_ties(ties)
    return _ranking(
        name="lift_area" if ties == "half" else f"lift_area_{ties}",
        title="Lift area" if ties == "half" else f"Lift area, {ties} staircase",
        bind=partial(bind_area, area=_areas.linear_area, parameters=(share, 1.0, 1.0)),
        bounds=(0.0, 1.0),
        chance=0.5 if ties == "half" else float("nan"),
    )


def partial_auc(max_fpr: float | int = 0.1) -> Measure:
    """Return McClish's standardised partial area as a measure, see `partial_auc_score`."""
    if not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr must be in (0, 1], such as 0.1, but it is {max_fpr!r}")
    # The area is at least 0, which for a limit below 1 is not the standardised 0.
    lowest = (1 - max_fpr / (2 - max_fpr)) / 2
    return _ranking(
        name="partial_auc",
        title=f"Partial AUC, FPR to {max_fpr:g}",
        bind=partial(bind_area, area=_areas.partial_area, parameters=(float(max_fpr),)),
        bounds=(lowest, 1.0),
        chance=0.5,
    )


def kappa_area(method: Literal["exact", "trapezoid"] = "exact") -> Measure:
    """Return the area under Cohen's kappa as a measure, see `kappa_area_score`."""
    if method not in ("exact", "trapezoid"):
        raise ValueError(f"method must be 'exact' or 'trapezoid', but it is {method!r}")
    area = _areas.kappa_area if method == "exact" else _areas.interpolated_kappa_area
    return _ranking(
        name="kappa_area",
        title="Area under kappa",
        bind=partial(bind_area, area=area),
        bounds=(-1.0, 1.0),
        chance=0.0,
    )


def h_measure(alpha: float | int = 2.0, beta: float | int = 2.0) -> Measure:
    """Return Hand's H as a measure, for a Beta(alpha, beta) distribution of costs."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be positive and finite, but it is {value!r}")
    return Measure(
        name="h_measure",
        title="H-measure",
        bind=partial(_bind_h_measure, alpha=float(alpha), beta=float(beta)),
        bounds=(0.0, 1.0),
        chance=0.0,
        family="costs",
        is_smooth=False,
    )


def _bind_h_measure(predictions: Predictions, alpha: float, beta: float) -> BoundMeasure:
    # Imported where it is used: with it the package would take a sixth of a second longer.
    from scipy.special import betaln

    parameters = (alpha, beta, float(betaln(alpha, beta)))
    return bind_hull_area(predictions, _h_measure.h_measure, parameters)


GINI = _ranking(
    name="gini",
    title="Gini coefficient",
    bind=partial(bind_area, area=_areas.linear_area, parameters=(0.5, 0.0, 2.0)),
    bounds=(-1.0, 1.0),
    chance=0.0,
)
CONVEX_HULL_AUC = _ranking(
    name="convex_hull_auc",
    title="Convex hull AUC",
    bind=partial(bind_hull_area, area=_areas.linear_area, parameters=(0.5, 0.0, 1.0)),
    bounds=(0.5, 1.0),
    chance=0.5,
    is_smooth=False,
)
MAX_INFORMEDNESS = _ranking(
    name="max_informedness",
    title="Maximal informedness",
    bind=partial(bind_area, area=_areas.max_informedness),
    bounds=(0.0, 1.0),
    chance=0.0,
    is_smooth=False,
)
ROC_AREAS = (
    partial_auc(),
    roc_area("lower"),
    roc_area("upper"),
    GINI,
    kappa_area(),
    lift_area(),
    CONVEX_HULL_AUC,
    MAX_INFORMEDNESS,
    h_measure(),
)


def roc_area_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    ties: Ties = "half",
) -> float:
    """Return the area under the ROC curve under one of three conventions for ties.

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
    ties : {"half", "lower", "upper"}
        What a pair with equal scores counts: 1/2 (the trapezoids under the curve), 0 (the lower
        staircase, A_ROC1 of Vuk and Curk) or 1 (the upper staircase).

    Returns
    -------
    float
        In [0, 1]; for guessing 1/2, or less and more with ties that count 0 and 1. Classes that
        never occur are left out, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``ties`` is another.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, equations 4.4 to 4.7.

    Examples
    --------
    >>> classes, scores = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    >>> [round(roc_area_score(classes, scores, ties=t), 4) for t in ("lower", "half", "upper")]
    [0.7778, 0.8333, 0.8889]
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(roc_area(ties), predictions)


def gini_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the Gini coefficient of the ROC curve, twice the area less one.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing. Ties count by half. Half of it is the area between the curve
        and the diagonal, and under informedness over the false positive rate (AUBOC).

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, theorem 1.

    Examples
    --------
    >>> round(gini_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(GINI, predictions)


def partial_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    max_fpr: float | int = 0.1,
) -> float:
    """Return the standardised area under the ROC curve up to a false positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.
    max_fpr : float
        The limit, in (0, 1].

    Returns
    -------
    float
        1/2 for guessing, 1 for a perfect classifier, and at least (1 - f / (2 - f)) / 2 for a
        limit f: the area is mapped linearly. Ties count by half; between its points the curve is
        straight. For two classes it is scikit-learn's ``roc_auc_score(..., max_fpr=f)``.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``max_fpr`` is not in (0, 1].

    References
    ----------
    McClish (1989), Analyzing a portion of the ROC curve.

    Examples
    --------
    >>> round(partial_auc_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.8246
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(partial_auc(max_fpr), predictions)


def kappa_area_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    method: Literal["exact", "trapezoid"] = "exact",
) -> float:
    """Return the area under Cohen's kappa over the false positive rate (AUK).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.
    method : {"exact", "trapezoid"}
        Whether kappa follows the straight lines of the ROC curve, or is itself taken to be
        straight between its points, as the literature does.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing. If half of the observations are positive it is half of the
        Gini coefficient.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``method`` is another.

    References
    ----------
    Kaymak, Ben-David and Potharst (2012), The AUK: a simple alternative to the AUC; Powers,
    Visualization of tradeoff in evaluation.

    Examples
    --------
    >>> round(kappa_area_score([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]), 6)
    0.431877
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(kappa_area(method), predictions)


def lift_area_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    ties: Ties = "half",
) -> float:
    """Return the area under the lift curve: recall over the predicted positive rate.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.
    ties : {"half", "lower", "upper"}
        As for `roc_area_score`; the pairs are those of a positive and any observation, itself
        included.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing (ties by half). With prevalence p and ROC area A it is
        p/2 + (1 - p) A, and so between p/2 and 1 - p/2: rescaled to [0, 1] it is A. Times the
        number of positives it is the area in the lift chart of Vuk and Curk (A_lift2, and A_lift1
        for ``"lower"``).

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``ties`` is another.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, equations 5.3 to 5.5.

    Examples
    --------
    >>> round(lift_area_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(lift_area(ties), predictions)


def convex_hull_auc_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the area under the convex hull of the ROC curve (AUCH).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.

    Returns
    -------
    float
        In [1/2, 1]; the ROC area after the best recalibration by a step function. A sample puts
        guessing above 1/2. It is not smooth where a point of the curve joins the hull.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Provost and Fawcett (2001), Robust classification for imprecise environments.

    Examples
    --------
    >>> round(convex_hull_auc_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.8889
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(CONVEX_HULL_AUC, predictions)


def max_informedness_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the largest informedness TPR - FPR of any threshold (Youden's J, Kolmogorov-Smirnov).

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.

    Returns
    -------
    float
        In [0, 1]; 0 for guessing, but more in a sample. It is not smooth where two thresholds are
        equally good.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Youden (1950), Index for rating diagnostic tests.

    Examples
    --------
    >>> round(max_informedness_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 4)
    0.6667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(MAX_INFORMEDNESS, predictions)


def h_measure_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    alpha: float | int = 2.0,
    beta: float | int = 2.0,
) -> float:
    """Return Hand's H: the share of the avoidable cost that the scores avoid.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `roc_area_score`.
    alpha, beta : float
        The cost c of a false positive, that of a miss being 1 - c, has a Beta(alpha, beta)
        distribution. The default is Hand's; a severity ratio r (cost of a false positive over
        that of a miss) at the mode is ``alpha=2, beta=1 + 1 / r``.

    Returns
    -------
    float
        In [0, 1]; 0 for guessing, but more in a sample. For every cost the best threshold is
        used, and the loss compared with that of the better constant prediction. It is not smooth
        where a point of the ROC curve joins the hull.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or if ``alpha`` or ``beta`` is
        not positive and finite.

    References
    ----------
    Hand (2009), Measuring classifier performance: a coherent alternative to the area under the
    ROC curve.

    Examples
    --------
    >>> round(h_measure_score([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]), 6)
    0.565432
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(h_measure(alpha, beta), predictions)
