"""Estimates: a measure's value with its standard error and interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dmfroc._backend import double_precision
from dmfroc._tables import decimals
from dmfroc.measures import get_measure
from dmfroc.measures.base import Measure, absent_classes_message, warn_of_absent_classes
from dmfroc.predictions import Predictions, as_predictions
from dmfroc.uncertainty.jackknife import (
    Influences,
    class_moments,
    influences_of,
    interval,
    standard_error,
)

Method = Literal["jackknife"]
METHODS = ("jackknife",)


@dataclass(frozen=True)
class Estimate:
    """A measure's value and how sure we are of it.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Value in the sample.
    standard_error : float
        Standard error of the value; 0 if the observations show no variation, see `warnings`.
    interval : tuple of float
        Lower and upper end, inside the range of the measure.
    level : float
        Nominal coverage of the interval.
    method : str
        How standard error and interval were obtained.
    n_draws, seed : int or None
        Number of draws and seed of methods that draw; None for the jackknife.
    warnings : tuple of str
        What a careful reader has to know about this estimate.
    """

    measure: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    method: str
    n_draws: int | None = None
    seed: int | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        digits = decimals(self.standard_error)
        low, high = self.interval
        return (
            f"{self.measure} {self.value:.{digits}f} "
            f"({100 * self.level:g} % {self.method} interval {low:.{digits}f} to {high:.{digits}f})"
        )


def estimate(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    method: Method | Literal["bayes"] = "jackknife",
    level: float = 0.95,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
) -> Estimate:
    """Estimate a measure with its standard error and interval.

    Parameters
    ----------
    measure : str or Measure
        ``"dmf_auc"``, ``"hand_till"``, ``"informedness"``, or a measure with options such as
        ``dmf_auc(pair_weights="prevalence")``.
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores.
    method : {"jackknife", "bayes"}
        Infinitesimal jackknife, conditional on the class sizes: the standard error of M is
        DeLong's. The interval is symmetric on the logit scale of the measure's range, with a t
        quantile (Satterthwaite, corrected for kurtosis and rare classes). Or the posterior mean,
        standard deviation and quantiles: of the DMF-AUC by `bayesian_roc`, of measures of hard
        labels by `bayesian_table`, which have options and return the draws.
    level : float
        Nominal coverage, in (0, 1).
    labels, sample_weight, y_pred
        As for `Predictions.from_arrays`. Rows are the independent units: a weight says how much a
        row counts, not how often it was observed.

    Returns
    -------
    Estimate
        If no observation makes a difference, as for a perfect classifier, the interval is the
        exact bound of Clopper and Pearson for as many sets of one observation per class as the
        smallest class allows, and a warning says so.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option out of its range.

    References
    ----------
    Jaeckel (1972), The infinitesimal jackknife; DeLong, DeLong and Clarke-Pearson (1988).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X[::2, :2], y[::2])
    >>> print(estimate("hand_till", y[1::2], model.predict_proba(X[1::2, :2])))
    hand_till 0.9315 (95 % jackknife interval 0.8751 to 0.9635)
    """
    measure = get_measure(measure)
    if method != "bayes":
        check_options(method, level)
    predictions = as_predictions(
        y_true, y_score, labels=labels, sample_weight=sample_weight, y_pred=y_pred
    )
    if method == "bayes":
        from dmfroc.uncertainty.bayes.dispatch import posterior_of  # an optional dependency

        return posterior_of(measure, predictions, level).to_estimate()
    warn_of_absent_classes(predictions)
    return jackknife_estimate(measure, predictions, influences(measure, predictions), level)


@double_precision
def influences(measure: Measure, predictions: Predictions) -> Influences:
    """Bind a measure and return its value and influences."""
    return influences_of(measure.bind(predictions), predictions)


def check_options(method: str, level: float) -> None:
    """Refuse an unknown method or a level outside (0, 1)."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, but it is {method!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, but it is {level!r}")


def jackknife_estimate(
    measure: Measure, predictions: Predictions, found: Influences, level: float
) -> Estimate:
    """Return the estimate that follows from a measure's influences."""
    value = float(found.values)
    moments = class_moments(found.influences, predictions)
    ends = interval(value, moments, level, measure.bounds)
    remarks = [absent_classes_message(predictions), _rare_class_message(predictions)]
    if ends.is_degenerate:
        remarks.append(_no_variation_message(value, measure, int(moments.sizes.min())))
    return Estimate(
        measure=measure.name,
        value=value,
        standard_error=0.0 if ends.is_degenerate else standard_error(moments),
        interval=(ends.low, ends.high),
        level=level,
        method="jackknife",
        warnings=tuple(remark for remark in remarks if remark is not None),
    )


def _rare_class_message(predictions: Predictions) -> str | None:
    sizes = predictions.class_counts
    single = [label for label, size in zip(predictions.labels, sizes, strict=True) if size == 1]
    if not single:
        return None
    return (
        f"class {single[0]!r} has a single observation, which shows no variation: "
        "the variance within the other classes stands in for its own"
    )


def _no_variation_message(value: float, measure: Measure, smallest_class: int) -> str:
    what = "perfect" if value >= measure.bounds[1] - 1e-6 else "the same for all observations"
    return (
        f"the classifier is {what} in this sample, so that its standard error is 0 and says "
        f"nothing; the interval is Clopper and Pearson's exact bound from {smallest_class} "
        "independent sets of one observation per class"
    )
