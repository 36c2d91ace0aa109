"""The numbers behind a report, of one classifier."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from jaxtyping import Float, Int

from dmfroc.analyses.evidence import estimates_of
from dmfroc.curves import calibration_curve, roc_curve
from dmfroc.curves.calibration import CalibrationCurve
from dmfroc.curves.curve import Line
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.units import Sample, sample_of
from dmfroc.inputs.arrays import Floats
from dmfroc.inputs.columns import Direction
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.contingency_table import ContingencyTable
from dmfroc.measures.ranking import hand_till
from dmfroc.measures.statistics.forecasts import scores_of_class
from dmfroc.multiclass.band import CurveBand, band_around
from dmfroc.multiclass.curve import MeanROC, MulticlassROC, curve_of, mean_curve_of, vertical_mean
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots.pairs import areas_of_pairs
from dmfroc.results.estimate import Estimate

# The time for a threshold of the band grows with the product of observations and classes, and with
# the square of the classes. Between thresholds the band hardly differs from a straight line.
_MANY_SCORES, _MANY_CLASSES = 200_000, 30
_FEWER_THRESHOLDS, _FEWEST_THRESHOLDS = 24, 12


@dataclass(frozen=True, eq=False)
class OfClass:
    """One class against the rest.

    Attributes
    ----------
    label : Hashable
        The class.
    area : Estimate
        Area under its ROC curve.
    curve : Line
        The ROC curve, one point per distinct score; of folds the mean of their curves.
    calibration : CalibrationCurve or None
        None if the scores are no probabilities.
    pooled : Sample
        The class as 1, all others as 0, without folds.
    direction : {">=", "<="}
        ``"<="`` if the scores that were given are minus those here.
    """

    label: Hashable
    area: Estimate
    curve: Line
    calibration: CalibrationCurve | None
    pooled: Sample
    direction: Direction = ">="


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a report shows of one classifier.

    Attributes
    ----------
    curve : MulticlassROC or MeanROC
        The multiclass ROC curve; of folds the mean of their curves.
    band : CurveBand or None
        Its band; None of a mean.
    n_band_thresholds : int
        At how many thresholds the band was computed; in between it is interpolated.
    areas : numpy.ndarray of shape (K, K)
        A(i|j), of folds the means over them, NaN where it does not exist.
    classes : dict of label to OfClass
        The classes that occur (of two, the second).
    confusion : numpy.ndarray of shape (K, K) or None
        Weights of the observations by observed (row) and predicted (column) class.
    rates : dict of str to numpy.ndarray of shape (K,)
        Recall, precision and informedness of each class, empty without hard labels.
    """

    curve: MulticlassROC | MeanROC
    band: CurveBand | None
    n_band_thresholds: int
    areas: Float[np.ndarray, "k k"]
    classes: dict[Hashable, OfClass]
    confusion: Float[np.ndarray, "k k"] | None
    rates: dict[str, Float[np.ndarray, " k"]]


ByClassifier = Mapping[str, Numbers]
"""The numbers of each classifier, by name."""


def numbers_of(sample: Sample, curve_options: CurveOptions, level: float) -> Numbers:
    """Compute all that a report shows, the measures aside."""
    predictions = sample.predictions
    curve: MulticlassROC | MeanROC
    if predictions.folds is None:
        n_thresholds = _band_thresholds(predictions, curve_options)
        band_options = replace(curve_options, n_thresholds=n_thresholds)
        curve = curve_of(predictions, curve_options)
        band = band_around(curve, sample, level, band_options)
    else:
        n_thresholds, band = 0, None
        curve = mean_curve_of(predictions, curve_options)
    confusion, rates = None, {}
    if predictions.predicted is not None:
        table = ContingencyTable.from_predictions(predictions)
        names = ("recall", "precision", "informedness")
        confusion, rates = table.counts.T, {name: table.class_values[name] for name in names}
    positions = predictions.present if predictions.n_classes > 2 else np.array([1])
    classes = [_of_class(sample, int(position), level) for position in positions]
    return Numbers(
        curve=curve,
        band=band,
        n_band_thresholds=n_thresholds,
        areas=np.mean([areas_of_pairs(part) for part in _by_fold(predictions)], axis=0),
        classes={of_class.label: of_class for of_class in classes},
        confusion=confusion,
        rates=rates,
    )


def _band_thresholds(predictions: Predictions, options: CurveOptions) -> int:
    if predictions.n_classes > _MANY_CLASSES:
        return min(_FEWEST_THRESHOLDS, options.n_thresholds)
    few = predictions.scores.size <= _MANY_SCORES
    return options.n_thresholds if few else min(_FEWER_THRESHOLDS, options.n_thresholds)


def _by_fold(predictions: Predictions) -> list[Predictions]:
    """Return the predictions of each fold, whose scores are comparable; without folds all."""
    if predictions.folds is None:
        return [predictions]
    whole, folds = replace(predictions, folds=None), predictions.folds
    return [whole.rows(folds == fold) for fold in np.unique(folds)]


def _of_class(sample: Sample, position: int, level: float) -> OfClass:
    predictions = sample.predictions
    scores, weights = scores_of_class(predictions, position), predictions.sample_weight
    is_class: Int[np.ndarray, " n"] = (predictions.true == position).astype(np.int32)
    against_rest = Predictions(
        (0, 1),
        is_class,
        cast(Floats, np.column_stack([-scores, scores])),
        weights,
        predicted=None,
        folds=predictions.folds,
        single=1,
    )
    units = sample_of(against_rest, sample.units.groups)
    [area] = estimates_of([hand_till()], [Jackknife().at(level)], units)
    is_probability = float(scores.min()) >= 0 and float(scores.max()) <= 1
    pooled = sample_of(replace(against_rest, folds=None), sample.units.groups)
    return OfClass(
        label=predictions.labels[position],
        area=area,
        curve=_roc(against_rest),
        calibration=calibration_curve(pooled.predictions) if is_probability else None,
        pooled=pooled,
        direction=">=" if is_probability else predictions.direction or ">=",
    )


def _roc(against_rest: Predictions) -> Line:
    """Return the ROC curve of two classes, of folds the mean of their curves."""
    curves = [roc_curve(part) for part in _by_fold(against_rest)]
    if len(curves) == 1:
        return Line(curves[0].x, curves[0].y)
    return Line(*vertical_mean([(curve.x, curve.y) for curve in curves]))
