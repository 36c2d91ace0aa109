"""Measures of calibration: whether probabilities come true, and in which way they do not.

Two classes have one event, the second class. With more, a measure is that of the class that is
named, or, where that makes sense, of all classes together or their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import IntPerRow, PerRow, divide, value_and_derivatives
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import ranges
from dmfroc.measures.cross_fitting import folds_of, pools_of_others
from dmfroc.measures.measure import (
    FLAT_AT_ENDS,
    POSITIVE,
    UNIT,
    IntervalProperties,
    Measure,
    ValueAndInfluences,
    WithOptions,
)
from dmfroc.measures.registry import also_called, family, register
from dmfroc.measures.statistics.curves import no_lost_gain, one_curve, whole_curves
from dmfroc.measures.statistics.forecasts import (
    RowSums,
    indicators,
    is_positive,
    no_probabilities,
    no_single_class,
    probabilities_of,
    single_class,
    source_of,
)
from dmfroc.measures.statistics.recalibration import IsotonicLosses, LogisticFit, Losses
from dmfroc.measures.statistics.statistic import Sums, once_per_predictions

_LARGEST_ODDS = 1e6  # of the weights of one observation and of all others
_FEW_HEAVY_ROWS = 5.0

PerEvent = Float[np.ndarray, "events n"]
"""One number for each event and row."""

calibration = family("calibration", needs="probabilities", caveats=())
_of_sums = partial(calibration, adds_rows=True)


@once_per_predictions
def events(predictions: Predictions, pos_label: Hashable = None) -> tuple[PerEvent, PerEvent]:
    """Return outcomes and forecasts: of the named class, of the second of two, or of all."""
    if pos_label is None and predictions.n_classes > 2:
        both = indicators(predictions).T, probabilities_of(predictions).T
        return np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])
    outcome, forecast = single_class(predictions, pos_label)
    return outcome[None], forecast[None]


def no_events(pos_label: Hashable, predictions: Predictions) -> str | None:
    """Say so unless there are probabilities, of a class that is known if one is named."""
    is_single = pos_label is not None or predictions.n_classes == 2
    return no_single_class(pos_label, predictions) if is_single else no_probabilities(predictions)


def no_logits(
    needs: Callable[[Hashable, Predictions], str | None],
    pos_label: Hashable,
    predictions: Predictions,
) -> str | None:
    """Say so if the logits of the probabilities are not all finite."""
    if (obstacle := needs(pos_label, predictions)) is not None:
        return obstacle
    row = _first_certain(predictions, pos_label)
    if row is None:
        return no_lost_gain(predictions) or _no_lost_fit(predictions)
    return (
        f"takes logits of probabilities, but {source_of(predictions).row(row)} has one that is 0 "
        "or 1: clip them, as by numpy.clip(y_score, 0.001, 0.999), or take one without logits"
    )


@once_per_predictions
def _first_certain(predictions: Predictions, pos_label: Hashable) -> int | None:
    """Return the first row that has a probability of 0 or 1, if there is one."""
    p = probabilities_of(predictions)[:, predictions.present]
    if pos_label is not None:
        p = single_class(predictions, pos_label)[1][:, None]
    is_certain = ((p <= 0) | (p >= 1)).any(axis=1)
    return int(is_certain.argmax()) if is_certain.any() else None


def _no_lost_fit(predictions: Predictions) -> str | None:
    weights = predictions.sample_weight
    largest = weights.max()
    if largest <= _LARGEST_ODDS * (weights.sum() - largest):
        return None
    return (
        f"is fitted to all observations, but one of them has more than {_LARGEST_ODDS:.0e} times "
        "the weight of all others: give it a smaller weight"
    )


# Logistic recalibration


def logits(
    predictions: Predictions, pos_label: Hashable
) -> tuple[IntPerRow, Float[np.ndarray, "others n"]]:
    """Return classes and logarithms of their probabilities, the first class's taken away."""
    if pos_label is None:
        present = predictions.present
        logs = np.log(probabilities_of(predictions)[:, present].T)
        return np.searchsorted(present, predictions.true), logs[1:] - logs[0]
    p = single_class(predictions, pos_label)[1]
    return is_positive(predictions, pos_label).astype(int), np.log(p / (1 - p))[None]


@once_per_predictions
def recalibration(predictions: Predictions, pos_label: Hashable, has_slope: bool) -> LogisticFit:
    """Bind the recalibration by intercepts, and by one slope or none."""
    return LogisticFit(*logits(predictions, pos_label), has_slope, predictions.sample_weight)


def last_number(table: Any, xp: Any) -> Any:
    """Return the last number of a table, a summary."""
    return table.values[-1]


@also_called("citl, calibration_in_the_large")
@register()
def calibration_intercept(pos_label: Any = None) -> Measure:
    """Return the calibration intercept with the slope fixed at 1: calibration in the large.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns. By default the second of two; with more it must be named.

    Returns
    -------
    Measure
        Any number: what has to be added to the logits for the probabilities to be right on average.
        0 is best: negative where probabilities are too large, positive where they are too small.
        It is not the intercept that is estimated together with a slope.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, to a probability of 0 or 1, or to more than two
        classes without ``pos_label``.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression; Van Calster et al.
    (2016), A calibration hierarchy for risk models was defined.

    Examples
    --------
    >>> round(calibration_intercept()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    0.5533
    """
    statistic = WithOptions(recalibration, pos_label=pos_label, has_slope=False)
    obstacle = WithOptions(no_logits, no_single_class, pos_label)
    title = "Calibration intercept (slope 1)"
    return calibration(title, statistic, last_number, target=0.0, obstacle=obstacle)


def _heavy_rows_message(predictions: Predictions) -> str | None:
    """Say that a class counts for less than a few of the heaviest rows of another."""
    rows = predictions.class_totals[predictions.present].min() / predictions.sample_weight.max()
    if rows >= _FEW_HEAVY_ROWS or not predictions.is_weighted:
        return None
    return (
        f"a class has the weight of {rows:.1f} of the heaviest rows: few of these determine the "
        "calibration slope, and its interval may cover ten points less than it states"
    )


def all_the_same(predictions: Predictions) -> str:
    """Say why nothing of a curve on the probabilities is known, where it is not."""
    return "the probabilities are all the same, or separate the classes"


@register()
def calibration_slope(pos_label: Any = None) -> Measure:
    """Return the calibration slope: by what the logits have to be multiplied to be right.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns, against the rest. By default of all classes together: one slope
        of the logarithms of the probabilities, beside an intercept of each class.

    Returns
    -------
    Measure
        Any number; 1 is best. Below 1 probabilities are too extreme, as those of an overfitted
        model are; above 1 they are too moderate. About 0 for probabilities that tell nothing. The
        slope of a logistic regression of the outcome on the logit, with a free intercept.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, or to a probability of 0 or 1.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression; Van Hoorde et al. (2014),
    Assessing calibration of multinomial risk prediction models.

    Examples
    --------
    >>> round(calibration_slope()([0, 1, 0, 1, 0, 1], [0.2, 0.6, 0.4, 0.7, 0.6, 0.3]), 4)
    1.0591
    """
    statistic = WithOptions(recalibration, pos_label=pos_label, has_slope=True)
    obstacle = WithOptions(no_logits, no_events, pos_label)
    attributes: Any = {"obstacle": obstacle, "caveats": (_heavy_rows_message,)}
    attributes |= {"target": 1.0, "undefined": all_the_same}
    return calibration("Calibration slope", statistic, last_number, **attributes)


# Sums


def _observed_and_expected(predictions: Predictions, pos_label: Hashable) -> RowSums:
    return RowSums(np.column_stack(single_class(predictions, pos_label)))


def _ratio(table: Sums, xp: Any) -> Any:
    return divide(table.values[..., 0], table.values[..., 1], xp, np.nan)


def _no_expected_event(predictions: Predictions) -> str:
    return "the probabilities expect no event"


@also_called("oe")
@register()
def observed_expected_ratio(pos_label: Any = None) -> Measure:
    """Return how many events are observed for each that the probabilities expect, O/E.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns. By default the second of two; with more it must be named.

    Returns
    -------
    Measure
        Above 0; 1 is best. Below 1 the probabilities are too large on average.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, or to more than two classes without
        ``pos_label``.

    References
    ----------
    Debray et al. (2017), A guide to systematic review and meta-analysis of prediction model
    performance.

    Examples
    --------
    >>> round(observed_expected_ratio()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    1.25
    """
    statistic = WithOptions(_observed_and_expected, pos_label=pos_label)
    attributes: Any = {"obstacle": WithOptions(no_single_class, pos_label)}
    attributes |= {"target": 1.0, "undefined": _no_expected_event}
    return _of_sums("O/E ratio", statistic, _ratio, bounds=POSITIVE, **attributes)


def brier_excess(predictions: Predictions, pos_label: Hashable) -> tuple[PerRow, PerRow]:
    """Return by how much each Brier score exceeds its mean under calibration, and its variance."""
    if pos_label is None:
        p, true = probabilities_of(predictions), predictions.true
    else:
        outcome, forecast = single_class(predictions, pos_label)
        p, true = np.column_stack([1 - forecast, forecast]), outcome.astype(int)
    squares = (p**2).sum(axis=1)
    own = np.take_along_axis(p, true[:, None], axis=1)[:, 0]
    return squares - own, np.maximum((p**3).sum(axis=1) - squares**2, 0)


def _excesses(predictions: Predictions, pos_label: Hashable) -> RowSums:
    excess, variance = brier_excess(predictions, pos_label)
    return RowSums(np.column_stack([excess, variance * predictions.sample_weight]))


def _z(table: Sums, xp: Any) -> Any:
    excess, variance = table.values[..., 0], table.values[..., 1]
    varies = variance > 0
    return xp.where(varies, excess / xp.sqrt(xp.where(varies, variance, 1.0)), np.nan)


def _no_excess(pos_label: Hashable, predictions: Predictions) -> str | None:
    if (obstacle := no_events(pos_label, predictions)) is not None:
        return obstacle
    if brier_excess(predictions, pos_label)[1].any():
        return None
    return (
        "has no variance where all probabilities are certain or alike: take the calibration "
        "intercept or the O/E ratio"
    )


@register()
def spiegelhalter_z(pos_label: Any = None) -> Measure:
    """Return Spiegelhalter's z, by how many standard errors the Brier score is too large.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns, against the rest; by default all classes together.

    Returns
    -------
    Measure
        Any number: about standard normal for calibrated probabilities, positive where they are too
        extreme, negative where they are too moderate. It grows with the square root of the number
        of observations, so that it tests calibration and does not measure it; its interval is that
        of the mean of z in samples of this size.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, or all of whose variances are 0.

    References
    ----------
    Spiegelhalter (1986), Probabilistic prediction in patient management and clinical trials.

    Examples
    --------
    >>> round(spiegelhalter_z()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    -1.2039
    """
    statistic = WithOptions(_excesses, pos_label=pos_label)
    obstacle = WithOptions(_no_excess, pos_label)
    return _of_sums("Spiegelhalter's z", statistic, _z, target=0.0, obstacle=obstacle)


# Isotonic recalibration, the CORP decomposition of the Brier score


@once_per_predictions
def _isotonic_losses(predictions: Predictions, pos_label: Hashable) -> IsotonicLosses:
    outcome, forecast = events(predictions, pos_label)
    curves = whole_curves(predictions)
    if pos_label is not None:
        curves = one_curve(forecast[0], outcome[0] == 1)
    return IsotonicLosses(curves, outcome, ((forecast - outcome) ** 2).sum(axis=0))


@once_per_predictions
def _cross_fitted_losses(
    predictions: Predictions, pos_label: Hashable, unit_of_row: IntPerRow
) -> Losses:
    """Return the losses with recalibrations that are fitted to other observations."""
    statistic, weights = _isotonic_losses(predictions, pos_label), predictions.sample_weight
    outcome, forecast = events(predictions, pos_label)
    occurring = np.flatnonzero(outcome.any(axis=1))
    folds, squares = folds_of(predictions, unit_of_row), np.zeros(len(weights))
    for judges in folds:
        pools = pools_of_others(statistic.curves, weights, judges)
        for event, (ends, share) in zip(occurring, pools, strict=True):
            at, of_judges = forecast[event, ends.ravel()[::-1]], forecast[event, judges]
            fitted = np.interp(of_judges, at, np.repeat(share, 2)[::-1])
            squares[judges] += (fitted - outcome[event, judges]) ** 2
    return statistic.losses(weights, squares / folds.mean(axis=1).sum())


_BRIER, _ISOTONIC, _CONSTANT = range(3)
_up_to_uncertainty = WithOptions(ranges.brier_resolution, least=0.0)


def _brier_part(table: Losses, xp: Any, first: int, minus: int) -> Any:
    """Return the difference of two of the losses, each of them a part of the Brier score."""
    brier, isotonic, total = table.values[0], table.values[1], table.values[-1]
    constant = _loss_of_constants(Sums(table.values[2:]), xp)
    n_counted = 1 if len(table.values) == 4 else 2
    parts = brier / total / n_counted, isotonic / total / n_counted, constant
    return parts[first] - parts[minus]


def _loss_of_constants(table: Sums, xp: Any) -> Any:
    """Return the Brier score of the shares of the events."""
    event, total = table.values[..., :-1], table.values[..., -1:]
    losses = event * (total - event) / total**2
    return losses.sum(axis=-1) / (1 if event.shape[-1] == 1 else 2)


def _cross_fitted_part(
    predictions: Predictions,
    unit_of_row: IntPerRow,
    plain: ValueAndInfluences,
    *,
    part: WithOptions,
    pos_label: Hashable,
) -> ValueAndInfluences | None:
    """Return a part with recalibrations that are fitted to other observations."""
    weights = predictions.sample_weight
    table = _cross_fitted_losses(predictions, pos_label, unit_of_row)
    value, derivatives = value_and_derivatives(part, table)
    statistic = _isotonic_losses(predictions, pos_label)
    return float(value), weights * statistic.pull_back(weights, table, derivatives)


def _isotonic_part(
    title: str, first: int, minus: int, pos_label: Hashable, **attributes: Any
) -> Measure:
    part = WithOptions(_brier_part, first=first, minus=minus)
    return calibration(
        title,
        WithOptions(_isotonic_losses, pos_label=pos_label),
        part,
        bounds=UNIT,
        obstacle=WithOptions(no_events, pos_label),
        is_smooth=False,
        interval=IntervalProperties(
            cross_fit=WithOptions(_cross_fitted_part, part=part, pos_label=pos_label)
        ),
        **attributes,
    )


@register()
def brier_miscalibration(pos_label: Any = None) -> Measure:
    """Return the part of the Brier score that an isotonic recalibration saves.

    Parameters
    ----------
    pos_label : hashable, optional
        The class that it concerns, against the rest. By default half the sum over the classes, as
        the Brier score is; of two classes that is the same.

    Returns
    -------
    Measure
        In [0, 1]; 0 for calibrated probabilities, and in a sample above: the recalibration is
        chosen on the observations that it is judged by. The interval is about the value with
        recalibrations fitted to others. ``brier_score = brier_miscalibration -
        brier_discrimination + brier_uncertainty``. No bins are chosen.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic
    classifiers (CORP).

    Examples
    --------
    >>> round(brier_miscalibration()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    0.14
    """
    parts = _BRIER, _ISOTONIC
    return _isotonic_part("Brier miscalibration", *parts, pos_label, greater_is_better=False)


@register()
def brier_discrimination(pos_label: Any = None) -> Measure:
    """Return by how much the forecasts, recalibrated, improve on forecasting the class sizes.

    Parameters
    ----------
    pos_label : hashable, optional
        As for `brier_miscalibration`.

    Returns
    -------
    Measure
        In [0, 1], at most `brier_uncertainty`; 0 for forecasts that tell nothing, and in a sample
        above, as for `brier_miscalibration`.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic
    classifiers (CORP).

    Examples
    --------
    >>> round(brier_discrimination()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    0.24
    """
    attributes = {"chance": 0.0, "range_of_shares": _up_to_uncertainty}
    return _isotonic_part("Brier discrimination", _CONSTANT, _ISOTONIC, pos_label, **attributes)


def _event_sums(predictions: Predictions, pos_label: Hashable) -> RowSums:
    outcome = events(predictions, pos_label)[0]
    return RowSums(np.vstack([outcome, np.ones(outcome.shape[1])]).T)


@register()
def brier_uncertainty(pos_label: Any = None) -> Measure:
    """Return the Brier score of always forecasting how often the classes occur.

    Parameters
    ----------
    pos_label : hashable, optional
        As for `brier_miscalibration`.

    Returns
    -------
    Measure
        In [0, 1/2): p (1 - p) for a class of prevalence p. It says nothing of the classifier.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Murphy (1973), A new vector partition of the probability score.

    Examples
    --------
    >>> round(brier_uncertainty()([0, 1, 0, 1, 1], [0.2, 0.6, 0.4, 0.7, 0.5]), 4)
    0.24
    """
    return _of_sums(
        "Brier uncertainty",
        WithOptions(_event_sums, pos_label=pos_label),
        _loss_of_constants,
        bounds=(0.0, 0.5),
        range_of_shares=_up_to_uncertainty,
        interval=FLAT_AT_ENDS,  # equal classes are at the end of the range
        greater_is_better=False,
        obstacle=WithOptions(no_events, pos_label),
    )
