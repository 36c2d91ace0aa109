"""The multiclass ROC curve: pairs, threshold grid, rates, centre, area (Wang and Carvalho 2024)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float

from dmfroc._backend import double_precision, share
from dmfroc.center import Center, binomial_deviance, center, logit_of_rates
from dmfroc.measures._blocks import group_by_class
from dmfroc.measures._pairwise_rates import PairwiseRates, bind_rates, pairwise_rates
from dmfroc.measures.base import BoundMeasure, Measure, value_of, warn_of_absent_classes
from dmfroc.measures.costs import PairWeights, cell_weights
from dmfroc.measures.ranking import bind_areas
from dmfroc.predictions import Predictions, as_predictions

DEFAULT_N_THRESHOLDS = 99
# Chosen by experiments/regularization.py: the AUC's largest bias, a sixth of its standard
# deviation, does not fall any further where the penalty is stronger.
DEFAULT_SHRINKAGE = 1.0
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

    def fit(self, rates: Float[Array, "q 2 t"]) -> Center:
        """Factorize the rates."""
        return center(rates, self.cell_weights / rates.shape[-1], self.shrinkage)


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


def curve_points(solution: Center) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
    """Return the false and true positive rates of the centre, pinned at (0, 0) and (1, 1)."""
    tpr, fpr = jax.nn.sigmoid(solution.row_effect * solution.column_effect.mean())
    return jnp.pad(fpr, 1, constant_values=(0, 1)), jnp.pad(tpr, 1, constant_values=(0, 1))


def area_under_curve(bound: BoundCurve, weights: Float[Array, " n"]) -> Float[Array, ""]:
    """Return the trapezoid area under the curve."""
    fpr, tpr = curve_points(bound.fit(bound.pairwise(weights)))
    return jnp.trapezoid(tpr, fpr)


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
    solution, rates, deviance = _fit_curve(bound, share(predictions.sample_weight))
    fpr, tpr = (np.asarray(rate) for rate in curve_points(solution))
    mean_effect = float(solution.column_effect.mean())
    classes = [predictions.labels[index] for index in predictions.present]
    return MulticlassROC(
        fpr=fpr,
        tpr=tpr,
        auc=float(np.trapezoid(tpr, fpr)),
        threshold_effect=np.asarray(solution.row_effect) * mean_effect,
        pair_effect=np.asarray(solution.column_effect) / mean_effect,
        pairs=tuple((i, j) for i in classes for j in classes if i != j),
        pairwise_fpr=np.asarray(rates[:, 1]),
        pairwise_tpr=np.asarray(rates[:, 0]),
        deviance=float(deviance),
        converged=bool(solution.converged),
        n_iter=int(solution.n_sweeps),
    )


@jax.jit
def _fit_curve(
    bound: BoundCurve, weights: Float[Array, " n"]
) -> tuple[Center, Float[Array, "q 2 t"], Float[Array, ""]]:
    rates = bound.pairwise(weights)
    solution = bound.fit(rates)
    fitted = solution.row_effect * solution.column_effect[:, None, None]
    return solution, rates, binomial_deviance(rates, fitted, bound.cell_weights)


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
