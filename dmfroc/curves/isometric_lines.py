"""Isometrics: the lines on a chart along which a measure is constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import choice, numbers, positive
from dmfroc.curves.curve import Curve, PerPoint, check_curve
from dmfroc.curves.points import Number, OperatingPoints
from dmfroc.results.result import AttributeTables

IsometricMeasure = Literal[
    "informedness", "accuracy", "f_beta", "precision", "g_measure", "mean_of_precision_and_recall"
]

_N_POINTS = 201
_TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

_INFORMEDNESS: IsometricMeasure = "informedness"
# What Powers and Flach and Kull draw on each chart
_USUAL: dict[str, IsometricMeasure] = {
    **dict.fromkeys(("pn", "delta_pn", "roc", "boc", "det", "lift", "gains"), _INFORMEDNESS),
    "bift": "accuracy",
    "accuracy": _INFORMEDNESS,
    "bprd": "accuracy",
    "pr": "mean_of_precision_and_recall",
    "reciprocal_pr": "f_beta",
    "log_pr": "g_measure",
    "prg": "f_beta",
}


@dataclass(frozen=True, eq=False, repr=False)
class Isometric(AttributeTables):
    """A line on a chart along which a measure is constant.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Its value.
    x, y : numpy.ndarray, shape (p,)
        Points of the line, close enough together to be joined where it is curved.
    """

    measure: IsometricMeasure
    value: float
    x: PerPoint
    y: PerPoint

    def __repr__(self) -> str:
        return f"Isometric({self.measure} = {self.value:.4g})"


def isometrics(
    curve: Curve,
    measure: IsometricMeasure | None = None,
    values: Sequence[Number] | Float[np.ndarray, " v"] = _TENTHS,
    *,
    beta: Number = 1.0,
) -> list[Isometric]:
    r"""Return the isometrics of a measure on the chart of a curve.

    Parameters
    ----------
    curve : Curve
        A curve of rates or counts: any but calibration and cost curves.
    measure : str, optional
        ``"informedness"``, ``"accuracy"``, ``"f_beta"``, ``"precision"``, ``"g_measure"`` or
        ``"mean_of_precision_and_recall"``. By default the one that belongs to the chart:
        informedness for ROC, lift and their relatives (accuracy where its isometrics would be
        horizontal). For PR it is the arithmetic mean of precision and recall, for reciprocal PR and
        PRG their harmonic mean F1, for log PR their geometric mean G.
    values : sequence of float
        Values of the measure.
    beta : float
        Weight of recall in ``"f_beta"``, > 0.

    Returns
    -------
    list of Isometric
        One per value, of the class balance of the curve. It is empty where no table has the
        value; measures of precision and recall alone are drawn for any number of negatives.

    Raises
    ------
    ValueError
        If the chart has no isometrics, the measure is unknown or `beta` is not positive.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, figure 1.

    Examples
    --------
    >>> from dmfroc.curves import roc_curve
    >>> (one,) = isometrics(roc_curve([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), values=[0.25])
    >>> one, one.x[[0, -1]], one.y[[0, -1]]
    (Isometric(informedness = 0.25), array([0.  , 0.75]), array([0.25, 1.  ]))
    """
    check_curve(curve)
    if curve.points is None or curve.projection is None:
        raise ValueError(f"there are no isometrics on a chart of kind {curve.kind!r}")
    beta = positive("beta", beta)
    if measure is None:
        if curve.kind not in _USUAL:
            raise ValueError(
                f"name a measure: no isometrics are usual on a chart of kind {curve.kind!r}"
            )
        measure = _USUAL[curve.kind]
    choice("measure", measure, get_args(IsometricMeasure))
    points, lines = curve.points, []
    for value in numbers("values", values).ravel().tolist():
        fpr, tpr = _rates(measure, value, points, beta)
        x, y = curve.projection(points.with_counts(tpr * points.positives, fpr * points.negatives))
        exist = np.isfinite(x) & np.isfinite(y)
        lines.append(Isometric(measure, value, x[exist], y[exist]))
    return lines


def _rates(
    measure: IsometricMeasure, value: float, points: OperatingPoints, beta: Number
) -> tuple[PerPoint, PerPoint]:
    """Return false and true positive rates with the given value of the measure."""
    skew = points.negatives / points.positives
    if measure in ("informedness", "accuracy"):
        correct = value * points.total / points.positives  # tpr + skew (1 - fpr)
        if measure == "informedness":  # as if there were as many negatives as positives
            skew, correct = 1.0, 1 + value
        fpr = _between(max(0.0, 1 - correct / skew), min(1.0, 1 - (correct - 1) / skew))
        return fpr, correct - skew * (1 - fpr)
    if not 0 < value <= 1:
        return np.empty(0), np.empty(0)
    # The others fix the false positives by the true ones: skew fpr = tpr (1/precision - 1)
    if measure == "precision":
        tpr = _between(0.0, 1.0)
        return tpr * (1 / value - 1) / skew, tpr
    if measure == "f_beta":
        weight = 1 + beta**2
        tpr = _between(beta**2 * value / (weight - value), 1.0)
        return (tpr * (weight / value - 1) - beta**2) / skew, tpr
    if measure == "g_measure":
        tpr = _between(value**2, 1.0)
        return (tpr**2 / value**2 - tpr) / skew, tpr
    tpr = _between(max(0.0, 2 * value - 1), min(1.0, 2 * value))
    with np.errstate(divide="ignore", invalid="ignore"):
        return tpr * (1 / (2 * value - tpr) - 1) / skew, tpr


def _between(low: float, high: float) -> PerPoint:
    return np.linspace(low, high, _N_POINTS) if low <= high else np.empty(0)
