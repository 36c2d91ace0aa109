"""The numbers behind a report, of one classifier."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from jaxtyping import Float, Int

from dmfroc._inputs.scores import Floats
from dmfroc.curves import calibration_curve, roc_curve
from dmfroc.curves.calibration import CalibrationCurve
from dmfroc.curves.curve import Curve
from dmfroc.estimation import estimates_of
from dmfroc.measures.contingency_table import ContingencyTable
from dmfroc.measures.ranking import hand_till, pairwise_auc_matrix
from dmfroc.multiclass.band import CurveBand, band_around
from dmfroc.multiclass.curve import MulticlassROC, curve_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.jackknife import Jackknife
from dmfroc.uncertainty.units import Sample, sample_of

# Each threshold of the band takes a time of the product of observations and classes, and of the
# square of the classes; in between it hardly differs from a straight line.
_MANY_SCORES, _MANY_CLASSES = 200_000, 50
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
    curve : Curve
        The ROC curve, one point per distinct score.
    calibration : CalibrationCurve or None
        None if the scores are no probabilities.
    """

    label: Hashable
    area: Estimate
    curve: Curve
    calibration: CalibrationCurve | None


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a report shows of one classifier.

    Attributes
    ----------
    curve : MulticlassROC
        The multiclass ROC curve.
    band : CurveBand
        Its band.
    n_band_thresholds : int
        At how many thresholds the band was computed; in between it is interpolated.
    areas : numpy.ndarray of shape (K, K)
        A(i|j), NaN where it does not exist.
    classes : dict of label to OfClass
        The classes that occur (of two, the second).
    confusion : numpy.ndarray of shape (K, K) or None
        Weights of the observations by observed (row) and predicted (column) class.
    rates : dict of str to numpy.ndarray of shape (K,)
        Recall, precision and informedness of each class, empty without hard labels.
    """

    curve: MulticlassROC
    band: CurveBand
    n_band_thresholds: int
    areas: Float[np.ndarray, "k k"]
    classes: dict[Hashable, OfClass]
    confusion: Float[np.ndarray, "k k"] | None
    rates: dict[str, Float[np.ndarray, " k"]]


def numbers_of(sample: Sample, curve_options: CurveOptions, level: float) -> Numbers:
    """Compute all that a report shows, the measures aside."""
    predictions = sample.predictions
    curve = curve_of(predictions, curve_options)
    n_thresholds = _band_thresholds(predictions, curve_options)
    band_options = replace(curve_options, n_thresholds=n_thresholds)
    table = (
        None if predictions.predicted is None else ContingencyTable.from_predictions(predictions)
    )
    return Numbers(
        curve=curve,
        band=band_around(curve, sample, level, band_options),
        n_band_thresholds=n_thresholds,
        areas=_areas(predictions),
        classes=_classes(predictions, level),
        confusion=None if table is None else table.counts.T,
        rates={}
        if table is None
        else {name: table.class_values[name] for name in ("recall", "precision", "informedness")},
    )


def _band_thresholds(predictions: Predictions, options: CurveOptions) -> int:
    if predictions.scores.size <= _MANY_SCORES:
        return options.n_thresholds
    few = _FEWER_THRESHOLDS if predictions.n_classes <= _MANY_CLASSES else _FEWEST_THRESHOLDS
    return min(few, options.n_thresholds)


def _areas(predictions: Predictions) -> Float[np.ndarray, "k k"]:
    areas = pairwise_auc_matrix(predictions)
    is_absent = predictions.class_counts == 0
    areas[is_absent] = areas[:, is_absent] = np.nan
    np.fill_diagonal(areas, np.nan)
    return areas


def _classes(predictions: Predictions, level: float) -> dict[Hashable, OfClass]:
    positions = predictions.present if predictions.n_classes > 2 else np.array([1])
    found = (_of_class(predictions, int(position), level) for position in positions)
    return {of_class.label: of_class for of_class in found}


def _of_class(predictions: Predictions, position: int, level: float) -> OfClass:
    scores, weights = predictions.scores[:, position], predictions.sample_weight
    is_class: Int[np.ndarray, " n"] = (predictions.true == position).astype(np.int32)
    against_rest = Predictions(
        (0, 1), is_class, cast(Floats, np.column_stack([-scores, scores])), weights, predicted=None
    )
    [area] = estimates_of([hand_till()], [Jackknife(level)], sample_of(against_rest))
    is_probability = float(scores.min()) >= 0 and float(scores.max()) <= 1
    return OfClass(
        label=predictions.labels[position],
        area=area,
        curve=roc_curve(is_class, scores, sample_weight=weights),
        calibration=calibration_curve(is_class, scores, sample_weight=weights)
        if is_probability
        else None,
    )
