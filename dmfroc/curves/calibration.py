"""Calibration: whether predicted probabilities come true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import BoolPerRow, PerRow
from dmfroc._kit.options import choice, integer, numbers, proportion
from dmfroc.curves.charts import line
from dmfroc.curves.curve import Curve, wilson_intervals
from dmfroc.curves.local_regression import loess
from dmfroc.curves.points import Cases, Number, compute_by_class, count_points
from dmfroc.measures.statistics.forecasts import MOST_BINS, bin_numbers, remedy_of_percent

Axes = Literal["standard", "vuk_curk"]

_GRID = np.linspace(0, 1, 41)  # of the display's LOESS curve


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CalibrationCurve(Curve):
    """A calibration curve of groups of cases with like predictions.

    It unpacks like scikit-learn's: ``fraction_positive, mean_predicted``.

    Attributes
    ----------
    mean_predicted, fraction_positive : numpy.ndarray, shape (g,)
        Mean prediction and share of positives in each group that has cases, by rising prediction;
        the x and y of the standard axes.
    counts : numpy.ndarray, shape (g,)
        Cases of each of these groups; their total weight if there are weights.
    brier : float
        Mean squared difference of prediction and outcome, in [0, 1].
    """

    mean_predicted: Float[np.ndarray, " g"]
    fraction_positive: Float[np.ndarray, " g"]
    counts: Float[np.ndarray, " g"]
    brier: float

    def __iter__(self) -> Iterator[Float[np.ndarray, " _"]]:
        return iter((self.fraction_positive, self.mean_predicted))

    @property
    def gaps(self) -> Float[np.ndarray, " g"]:
        """Absolute difference of mean prediction and share of positives in each group."""
        return np.abs(self.mean_predicted - self.fraction_positive)

    @property
    def expected_error(self) -> float:
        """Expected calibration error, ECE: the mean gap of a case; in [0, 1], 0 is best."""
        return float(np.average(self.gaps, weights=self.counts))

    def intervals(self, level: float = 0.95) -> Float[np.ndarray, "2 g"]:
        """Return Wilson's interval of the share of positives in each group.

        Parameters
        ----------
        level : float
            Nominal coverage of each, in (0, 1). Weights count as numbers of cases.

        Returns
        -------
        numpy.ndarray, shape (2, g)
            Lower and upper limits, in [0, 1].

        Raises
        ------
        ValueError
            If `level` is not in (0, 1).

        References
        ----------
        Wilson (1927), Probable inference, the law of succession, and statistical inference.

        Examples
        --------
        >>> curve = calibration_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], n_bins=2)
        >>> curve.intervals().round(3)
        array([[0.   , 0.342],
               [0.658, 1.   ]])
        """
        level = proportion("level", level, "(0, 1)")
        return wilson_intervals(self.fraction_positive, self.counts, level)


@compute_by_class
def calibration_curve(
    cases: Cases, *, n_bins: int | None = 10, axes: Axes = "standard"
) -> CalibrationCurve:
    """Return the share of positives among cases with like predicted probabilities.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities, in [0, 1].
    labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`.
    n_bins : int or None
        Number of bins of equal width, closed on their right; the first includes 0. None for one
        group per distinct probability.
    axes : {"standard", "vuk_curk"}
        Predictions on the x axis, or, as Vuk and Curk have it, on the y axis.

    Returns
    -------
    CalibrationCurve or dict
        One point per group with cases. The diagonal is perfect calibration (`break_even`: as many
        positives as predicted). ``thresholds`` are the mean predictions.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`, if a probability is not in [0, 1], or an option out of range.

    References
    ----------
    Vuk and Curk, ROC curve, lift chart and calibration plot, section 6, where the number and the
    closure of bins are open: these are scikit-learn's.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 0, 1, 1], [0.25, 0.25, 0.5, 0.75, 1], n_bins=2)
    >>> curve.x.round(3), curve.y.round(3), curve.counts
    (array([0.333, 0.875]), array([0.333, 1.   ]), array([3., 2.]))
    >>> round(curve.expected_error, 3)
    0.05
    """
    n_bins = n_bins if n_bins is None else integer("n_bins", n_bins, 1, MOST_BINS)
    choice("axes", axes, get_args(Axes))
    cases = _checked_probabilities(cases)
    probabilities, outcomes = cases.scores, cases.is_positive.astype(np.float64)
    group = probabilities
    if n_bins is not None:
        group = bin_numbers(probabilities.astype(cases.dtype), n_bins)
    group = np.unique(group, return_inverse=True)[1]
    counts, predicted, positive = (
        np.bincount(group, cases.weights * values)
        for values in (np.ones_like(probabilities), probabilities, outcomes)
    )
    predicted, positive = predicted / counts, positive / counts
    return CalibrationCurve(
        **_place(cases, axes, predicted, positive),
        break_even=line((0, 1), (0, 1)),
        points=count_points(cases),
        mean_predicted=predicted,
        fraction_positive=positive,
        counts=counts,
        brier=float(np.average((probabilities - outcomes) ** 2, weights=cases.weights)),
    )


@compute_by_class
def loess_calibration_curve(
    cases: Cases, *, at: Any = None, span: Number = 0.75, degree: int = 1, axes: Axes = "standard"
) -> Curve:
    """Return the share of positives as a smooth function of the predicted probability.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction, axes
        As for `calibration_curve`.
    at : array-like of shape (m,), optional
        Probabilities at which to fit; by default 41 evenly over the range of the predictions.
    span, degree
        As for `loess`.

    Returns
    -------
    Curve or dict
        The fit. Where lines through few distinct probabilities leave [0, 1], it is the nearer
        end, as between two of them that lie far apart; `loess` returns the lines themselves.

    Raises
    ------
    TypeError, ValueError
        As for `calibration_curve` and `loess`.

    References
    ----------
    Vuk and Curk, ROC curve, lift chart and calibration plot, section 6.

    Examples
    --------
    >>> curve = loess_calibration_curve(
    ...     [0, 0, 0, 1, 1, 1], [0, 0.2, 0.4, 0.6, 0.8, 1], at=[0.4, 0.5]
    ... )
    >>> curve.y.round(3)
    array([0.286, 0.5  ])
    """
    choice("axes", axes, get_args(Axes))
    cases = _checked_probabilities(cases)
    lowest, highest = cases.scores.min(), cases.scores.max()
    grid = lowest + (highest - lowest) * _GRID if at is None else numbers("at", at)
    outcomes = cases.is_positive.astype(np.float64)
    fit = loess(cases.scores, outcomes, grid, span=span, degree=degree, sample_weight=cases.weights)
    return Curve(
        **_place(cases, axes, grid, np.clip(fit.fitted, 0, 1)), break_even=line((0, 1), (0, 1))
    )


@compute_by_class
def isotonic_calibration_curve(cases: Cases, *, axes: Axes = "standard") -> Curve:
    """Return the rising step function of the score that fits the outcomes best.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pos_label, multi_class, direction
        As for `operating_points`: the scores need not be probabilities.
    axes : {"standard", "vuk_curk"}
        As for `calibration_curve`.

    Returns
    -------
    Curve or dict
        The calibrated score of each distinct score, in rising order. It is the slope of the ROC
        hull as a probability, so that its AUC is the area under the hull: fit it on other cases
        than those it is to be judged on.

    Raises
    ------
    TypeError, ValueError
        As for `operating_points`, or if `axes` is unknown.

    References
    ----------
    Fawcett and Niculescu-Mizil (2007), PAV and the ROC convex hull.

    Examples
    --------
    >>> curve = isotonic_calibration_curve([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    >>> curve.x, curve.y.round(3)
    (array([0.2, 0.4, 0.5, 0.6, 0.9]), array([0.   , 0.333, 0.333, 1.   , 1.   ]))
    """
    choice("axes", axes, get_args(Axes))
    points = count_points(cases)
    vertices = points.hull_vertices()
    hits, alarms = (
        np.diff(counts[vertices]) for counts in (points.true_positives, points.false_positives)
    )
    scores = points.thresholds[:0:-1]
    calibrated = np.repeat(hits / (hits + alarms), np.diff(vertices))[::-1]
    return Curve(**_place(cases, axes, scores, calibrated, "Score"), points=points)


def _place(
    cases: Cases,
    axes: Axes,
    predicted: np.ndarray,
    observed: np.ndarray,
    name: str = "Predicted probability",
) -> dict[str, Any]:
    """Return what the calibration curves of all kinds have in common."""
    x, y = (predicted, name), (observed, "Share of positives")
    if axes == "vuk_curk":
        x, y = y, x
    shared = {"kind": "calibration", "label": cases.label, "thresholds": predicted}
    return shared | dict(zip(("x", "x_name", "y", "y_name"), x + y, strict=True))


def _checked_probabilities(cases: Cases) -> Cases:
    cases = cases.of_probabilities
    check_in_unit_interval(f"the probabilities of class {cases.label!r}", cases.scores, "case")
    return cases


def check_in_unit_interval(name: str, values: PerRow, item: str) -> None:
    """Refuse numbers that are no probabilities, and name the first."""
    outside: BoolPerRow = ~((values >= 0) & (values <= 1))
    if outside.any():
        position = int(np.argmax(outside))
        raise ValueError(
            f"{name} must be in [0, 1], but that of {item} {position} (counting from 0) is "
            f"{values[position]:g}: {remedy_of_percent(values[:, None])}calibrate the scores "
            "first, see isotonic_calibration_curve"
        )
