"""The multiclass ROC curve: pairs, threshold grid, rates, centre, area (Wang and Carvalho 2024)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float

from dmfroc._backend import AnyArray, double_precision, share
from dmfroc.center import (
    Center,
    binomial_deviance,
    center,
    logit_of_rates,
    pull_back_center,
    sigmoid,
)
from dmfroc.measures._blocks import group_by_class
from dmfroc.measures._gradient import WithGradient
from dmfroc.measures._pairwise_rates import (
    PairwiseRates,
    bind_rates,
    pairwise_rates,
    pull_back_rates,
    rates_at,
)
from dmfroc.measures.base import BoundMeasure, Measure, value_of, warn_of_absent_classes
from dmfroc.measures.costs import PairWeights, cell_weights
from dmfroc.measures.ranking import bind_areas
from dmfroc.predictions import Predictions, as_predictions

DEFAULT_N_THRESHOLDS = 99
# Chosen by experiments/regularization.py: the AUC's largest bias, a sixth of its standard
# deviation, does not fall any further where the penalty is stronger.
DEFAULT_SHRINKAGE = 1.0
_FEW_CELLS = 1 << 17  # of rates, to fit which takes a twentieth of the time of compiling the fit
_LEAST_SHRINKAGE = 1e-6  # fixes the scale of the pair effects where nothing else does


class BoundCurve(NamedTuple):
    """A multiclass ROC curve as a function of observation weights."""

    rates: PairwiseRates
    cell_weights: Float[Array, "q 2 1"]
    shrinkage: Float[Array, ""]

    def pairwise(self, weights: Float[Array, " n"]) -> Float[Array, "q 2 t"]:
        """Return the rates of the pairs that enter the curve."""
        # Two classes have one curve, not two: that of column 1, whose positives are class 1.
        return pairwise_rates(self.rates, weights)[-len(self.cell_weights) :]

    def rates_at(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "q 2 t"]:
        """Return the same by NumPy."""
        rates = rates_at(PairwiseRates(*map(np.asarray, self.rates)), weights)
        return rates[-len(self.cell_weights) :]

    def fit(self, rates: Float[Array, "q 2 t"]) -> Center:
        """Factorize the rates."""
        return _fit(rates, self.cell_weights, self.shrinkage, jnp)


def _fit(
    rates: Float[AnyArray, "q 2 t"],
    cell_weights: Float[AnyArray, "q 2 1"],
    shrinkage: Float[AnyArray, ""],
    numpy: Any,
) -> Center:
    return center(rates, cell_weights / rates.shape[-1], shrinkage, numpy=numpy)


def bind_curve(
    predictions: Predictions, pair_weights: PairWeights, n_thresholds: int, shrinkage: float
) -> BoundCurve:
    """Bind the curve to predictions."""
    blocks = group_by_class(predictions)
    weights = predictions.sample_weight if predictions.is_weighted else None
    if predictions.n_classes == 2:
        weight_of_cells, shrinkage = np.ones((1, 2, 1)), 1.0
    else:
        weight_of_cells = cell_weights(pair_weights, predictions).reshape(-1, 2, 1)
    return BoundCurve(
        bind_rates(blocks, weights, n_thresholds),
        share(weight_of_cells),
        share(np.array(max(shrinkage, _LEAST_SHRINKAGE))),
    )


def curve_points(
    solution: Center, numpy: Any = jnp
) -> tuple[Float[AnyArray, " points"], Float[AnyArray, " points"]]:
    """Return the false and true positive rates of the centre, pinned at (0, 0) and (1, 1)."""
    tpr, fpr = sigmoid(solution.row_effect * solution.column_effect.mean(), numpy)
    return numpy.pad(fpr, 1, constant_values=(0, 1)), numpy.pad(tpr, 1, constant_values=(0, 1))


def _area(solution: Center) -> Float[Array, ""]:
    """Return the trapezoid area under the curve."""
    fpr, tpr = curve_points(solution)
    return jnp.trapezoid(tpr, fpr)


def _area_under_curve(bound: BoundCurve, weights: Float[Array, " n"]) -> Float[Array, ""]:
    return _area(bound.fit(bound.pairwise(weights)))


def _area_and_gradient(
    bound: BoundCurve, weights: Float[np.ndarray, " n"]
) -> tuple[Any, Float[np.ndarray, " n"]]:
    """Return the area and its derivative.

    What JAX compiles for many cells serves any number of observations; for few it is not worth it.
    """
    rates = bound.rates_at(weights)
    if rates.size <= _FEW_CELLS:
        area, of_rates = _area_of_few_rates(rates, bound.cell_weights, bound.shrinkage)
    else:
        area, of_rates = _area_of_rates(share(rates), bound.cell_weights, bound.shrinkage)
    return area, pull_back_rates(bound.rates, weights, rates, np.asarray(of_rates))


def _area_of_few_rates(
    rates: Float[np.ndarray, "q 2 t"],
    cell_weights: Float[AnyArray, "q 2 1"],
    shrinkage: Float[AnyArray, ""],
) -> tuple[Any, Float[np.ndarray, "q 2 t"]]:
    solution = _fit(rates, cell_weights, shrinkage, np)
    fpr, tpr = curve_points(solution, np)
    rows, mean = solution.row_effect, solution.column_effect.mean()
    # Of the rates between the two that are pinned
    of_points = np.stack([fpr[2:] - fpr[:-2], tpr[:-2] - tpr[2:]]) / 2
    inner = np.stack([tpr, fpr])[:, 1:-1]
    of_logits = of_points * inner * (1 - inner)
    of_columns = np.full(len(rates), (of_logits * rows).sum() / len(rates))
    of_effects = mean * of_logits, of_columns
    of_rates = pull_back_center(
        rates, cell_weights / rates.shape[-1], shrinkage, solution, of_effects
    )
    return np.trapezoid(tpr, fpr), of_rates


@jax.jit
def _area_of_rates(
    rates: Float[Array, "q 2 t"], cell_weights: Float[Array, "q 2 1"], shrinkage: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, "q 2 t"]]:
    return jax.value_and_grad(lambda rates: _area(_fit(rates, cell_weights, shrinkage, jnp)))(rates)


area_under_curve = WithGradient(_area_under_curve, _area_and_gradient)
"""The area under a `BoundCurve` as a function of the weights."""


def dmf_auc(
    *,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float = DEFAULT_SHRINKAGE,
) -> Measure:
    """Return the area under the multiclass ROC curve as a measure.

    Parameters
    ----------
    pair_weights, n_thresholds, shrinkage
        As for `multiclass_roc`.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing.
    """
    _check_options(n_thresholds, shrinkage)

    def bind(predictions: Predictions) -> BoundMeasure:
        if predictions.n_classes == 2:
            return bind_areas(predictions, columns=np.array([1]))
        bound = bind_curve(predictions, pair_weights, n_thresholds, shrinkage)
        return Partial(area_under_curve, bound)

    return Measure(
        "dmf_auc", "DMF-AUC", bind, bounds=(0.0, 1.0), chance=0.5, family="multiclass ROC"
    )


def _check_options(n_thresholds: int, shrinkage: float) -> None:
    if not (isinstance(n_thresholds, int | np.integer) and n_thresholds >= 1):
        raise ValueError(f"n_thresholds must be a positive integer, but it is {n_thresholds!r}")
    if not (np.isfinite(shrinkage) and shrinkage >= 0):
        raise ValueError(f"shrinkage must be finite and >= 0, but it is {shrinkage!r}")


@dataclass(frozen=True, eq=False)
class MulticlassROC:
    """A multiclass ROC curve.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray of shape (T + 2,)
        The curve, from (0, 0) to (1, 1), both coordinates non-decreasing.
    auc : float
        Trapezoid area under the curve, in [0, 1]; 1/2 for guessing.
    threshold_effect : numpy.ndarray of shape (2, T)
        Logits of the true (row 0) and false (row 1) positive rates of the centre.
    pair_effect : numpy.ndarray of shape (q,)
        Effect of each ordered pair; positive, with mean one.
    pairs : tuple of (label, label), length q
        The ordered pairs (classification class, reference class) in the order of `pair_effect`.
    pairwise_fpr, pairwise_tpr : numpy.ndarray of shape (q, T)
        Rates of each pair at the thresholds.
    deviance : float
        Weighted binomial deviance of the rates from the fit; >= 0.
    converged : bool
        Whether the fit reached a stationary point.
    n_iter : int
        Passes over rows and columns that the fit took.
    """

    fpr: Float[np.ndarray, " points"]
    tpr: Float[np.ndarray, " points"]
    auc: float
    threshold_effect: Float[np.ndarray, "2 t"]
    pair_effect: Float[np.ndarray, " q"]
    pairs: tuple[tuple[Hashable, Hashable], ...]
    pairwise_fpr: Float[np.ndarray, "q t"]
    pairwise_tpr: Float[np.ndarray, "q t"]
    deviance: float
    converged: bool
    n_iter: int


@double_precision
def multiclass_roc(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float = DEFAULT_SHRINKAGE,
) -> MulticlassROC:
    """Return the multiclass ROC curve of Wang and Carvalho.

    For every ordered pair of classes (i, j) the true and false positive rates of score column i
    are computed at thresholds that mean the same for all pairs: the quantiles of the scores of
    both classes in both columns. A rank-one deviance matrix factorization gives the centre of
    these curves on the logit scale.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers, rows need not sum to one. The thresholds of a pair are common
        to its two columns, so that all columns must be on one scale, as probabilities and logits
        are (Hand-Till M also takes columns on different scales).
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    pair_weights : {"equal", "prevalence"}, (K, K) costs, or a tuple of two such matrices
        What an error of each pair weighs. ``"equal"`` does not depend on how frequent the
        classes are; ``"prevalence"`` weights each rate by the size of the class it counts. Costs
        have observed classes in their rows and predicted classes in their columns: an array in
        the order of the labels, a pandas table with class names, or a dict
        ``{(observed, predicted): cost}`` in which every other pair costs 1. A tuple holds the
        weights of the true and of the false positive rates of the pairs (row: classification
        class, column: reference class). Only ratios matter.
    n_thresholds : int
        Number of quantile levels t / (n_thresholds + 1); the median is always among them. By
        default the 99 percentiles; the AUC hardly depends on it.
    shrinkage : float
        Strength of the prior that draws the pair effects towards one, relative to the deviance
        of one average pair. It stops perfectly separated pairs from hiding all others. With 0
        the fit is the paper's maximum likelihood.

    Returns
    -------
    MulticlassROC
        For K = 2 the empirical ROC curve of the second class, at every distinct score.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option out of its range.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, sections 3.2 to 3.6.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> curve = multiclass_roc([0, 0, 1, 1, 2, 2, 1], scores)
    >>> round(curve.auc, 3), curve.converged
    (0.841, True)
    """
    _check_options(n_thresholds, shrinkage)
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent_classes(predictions)
    if predictions.n_classes == 2:
        return _binary_roc(predictions)
    bound = bind_curve(predictions, pair_weights, n_thresholds, shrinkage)
    rates = bound.rates_at(predictions.sample_weight)
    solution, deviance = _fit_curve(bound, rates)
    fpr, tpr = (np.asarray(rate) for rate in curve_points(solution, np))
    mean_effect = float(solution.column_effect.mean())
    classes = [predictions.labels[index] for index in predictions.present]
    return MulticlassROC(
        fpr=fpr,
        tpr=tpr,
        auc=float(np.trapezoid(tpr, fpr)),
        threshold_effect=np.asarray(solution.row_effect * mean_effect),
        pair_effect=np.asarray(solution.column_effect / mean_effect),
        pairs=tuple((i, j) for i in classes for j in classes if i != j),
        pairwise_fpr=rates[:, 1],
        pairwise_tpr=rates[:, 0],
        deviance=float(deviance),
        converged=bool(solution.converged),
        n_iter=int(solution.n_sweeps),
    )


def _fit_curve(bound: BoundCurve, rates: Float[np.ndarray, "q 2 t"]) -> tuple[Center, Any]:
    """Return the solution, in NumPy's arrays, and its deviance."""
    if rates.size <= _FEW_CELLS:
        weights, shrinkage = np.asarray(bound.cell_weights), np.asarray(bound.shrinkage)
        return _fit_and_deviance(rates, weights, shrinkage, np)
    found = _compiled_fit_and_deviance(share(rates), bound.cell_weights, bound.shrinkage)
    solution, deviance = jax.tree.map(np.asarray, found)
    return solution, deviance


def _fit_and_deviance(
    rates: Float[AnyArray, "q 2 t"],
    cell_weights: Float[AnyArray, "q 2 1"],
    shrinkage: Float[AnyArray, ""],
    numpy: Any,
) -> tuple[Center, Any]:
    solution = _fit(rates, cell_weights, shrinkage, numpy)
    fitted = solution.row_effect * solution.column_effect[:, None, None]
    return solution, binomial_deviance(rates, fitted, cell_weights, numpy)


_compiled_fit_and_deviance = jax.jit(partial(_fit_and_deviance, numpy=jnp))


def _binary_roc(predictions: Predictions) -> MulticlassROC:
    """Return the empirical curve: with one column the factorization is saturated."""
    order = np.argsort(predictions.scores[:, 1], kind="stable")[::-1]
    scores, positive = predictions.scores[order, 1], predictions.true[order] == 1
    weights = predictions.sample_weight[order]
    is_last_of_run = np.append(scores[1:] != scores[:-1], True)
    tpr, fpr = (
        np.cumsum(weights * counted)[is_last_of_run] / weights[counted].sum()
        for counted in (positive, ~positive)
    )
    fpr_points, tpr_points = np.append(0, fpr), np.append(0, tpr)
    rates = np.stack([tpr, fpr])
    return MulticlassROC(
        fpr=fpr_points,
        tpr=tpr_points,
        auc=float(np.trapezoid(tpr_points, fpr_points)),
        threshold_effect=logit_of_rates(rates),
        pair_effect=np.ones(1),
        pairs=((predictions.labels[1], predictions.labels[0]),),
        pairwise_fpr=fpr[None],
        pairwise_tpr=tpr[None],
        deviance=0.0,
        converged=True,
        n_iter=0,
    )


def dmf_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float = DEFAULT_SHRINKAGE,
) -> float:
    """Return the area under the multiclass ROC curve of Wang and Carvalho.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pair_weights, n_thresholds, shrinkage
        As for `multiclass_roc`.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing, 1 only for perfect separation of every pair. For K = 2 the
        ordinary area under the ROC curve of the second class.

    Raises
    ------
    TypeError, ValueError
        As for `multiclass_roc`.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, equation 22.

    Examples
    --------
    >>> dmf_auc_score(["no", "no", "yes", "yes"], [0.1, 0.6, 0.4, 0.9])
    0.75
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    measure = dmf_auc(pair_weights=pair_weights, n_thresholds=n_thresholds, shrinkage=shrinkage)
    return value_of(measure, predictions)
