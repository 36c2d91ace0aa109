"""The multiclass ROC curve: pairs, threshold grid, rates, centre, area (Wang and Carvalho 2024)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Shaped

from dmfroc._backend import aligned_empty, double_precision, parallel, share
from dmfroc.center import Center, binomial_deviance, center, logit_of_rates
from dmfroc.measures._blocks import ClassBlocks, block_steps, count_below, group_by_class
from dmfroc.measures.base import BoundMeasure, Measure, value_of, warn_of_absent_classes
from dmfroc.measures.costs import PairWeights, cell_weights
from dmfroc.measures.ranking import bind_areas
from dmfroc.predictions import Predictions, as_predictions

DEFAULT_N_THRESHOLDS = 99
# Chosen by experiments/regularization.py: the weakest at which the AUC's bias stays below a
# quarter of its standard deviation in every design.
DEFAULT_SHRINKAGE = 1.0
_LEAST_SHRINKAGE = 1e-6  # fixes the scale of the pair effects where nothing else does
_CUMULATION_BLOCK = 32
_COLUMNS_PER_BATCH = 4
_PLACES_AT_ONCE = 1 << 18


class PairwiseRates(NamedTuple):
    """What turns observation weights into the rates of all ordered pairs.

    Arrays of shape (c, c - 1, ...) hold the ordered pairs (i, j): first the classification class
    i, whose score column is used, then the reference class j (`reference_classes`). An axis of
    length 2 is the class that is counted: class i (true positives), class j (false positives).
    """

    sorted_rows: Int[Array, "c places"]  # observation at each place of a sorted column
    block_class: Int[Array, "c c_minus_1 2"]
    starts: Int[Array, " c"]
    stops: Int[Array, " c"]
    at_least: Int[Array, "c c_minus_1 2 t"]  # places before the first score >= threshold
    above: Int[Array, "c c_minus_1 2 t"]  # places before the first score > threshold
    tied_share: Float[Array, "c c_minus_1 t"]  # share that counts of the scores at the threshold


def reference_classes(n_classes: int) -> Int[np.ndarray, "c c_minus_1"]:
    """Return the classes j != i, ascending, for each class i."""
    position = np.arange(n_classes - 1, dtype=np.int32)
    return position + (position >= np.arange(n_classes)[:, None])


def grid_levels(n_thresholds: int) -> tuple[Int[np.ndarray, " t"], int]:
    """Return the levels t/(T+1), and 1/2, as numerators over one denominator.

    The median of the pool is the one threshold that tells a perfectly ranked pair from all
    others; without it a perfect classifier would fall short of 1, or an imperfect one reach it.
    """
    numerators = np.union1d(2 * np.arange(1, n_thresholds + 1), [n_thresholds + 1])
    return numerators, 2 * (n_thresholds + 1)


def bind_rates(
    blocks: ClassBlocks, weights: Float[np.ndarray, " n"] | None, n_thresholds: int
) -> PairwiseRates:
    """Sort the columns, choose the thresholds and find every score's side of them.

    ``weights`` are those under which the thresholds are quantiles; None where all are equal.
    """
    sorted_rows, sorted_scores = _sort_within_classes(blocks)
    thresholds = _pool_quantiles(blocks, sorted_rows, sorted_scores, weights, n_thresholds)
    reference = reference_classes(blocks.n_classes)
    own = np.broadcast_to(np.arange(blocks.n_classes, dtype=np.int32)[:, None], reference.shape)
    block_class = np.stack([own, reference], axis=-1)
    starts, stops = blocks.starts[:-1], blocks.starts[1:]
    at_least, above = _locate_thresholds(
        share(sorted_scores),
        share(thresholds),
        share(starts[block_class]),
        share(stops[block_class]),
        n_steps=block_steps(blocks.starts),
    )
    rates = PairwiseRates(
        share(sorted_rows),
        share(block_class),
        share(starts),
        share(stops),
        at_least,
        above,
        tied_share=share(np.zeros(thresholds.shape)),
    )
    numerators, denominator = grid_levels(n_thresholds)
    # The place of the ordered pair (j, i) in the flattened order of the pairs (i, j).
    swapped = reference * (blocks.n_classes - 1) + own - (own > reference)
    base = None if weights is None else share(weights)
    tied_share = _split_ties(rates, base, share(numerators / denominator), share(swapped))
    return rates._replace(tied_share=tied_share)


def _sort_within_classes(
    blocks: ClassBlocks,
) -> tuple[Int[np.ndarray, "c places"], Shaped[np.ndarray, "c n"]]:
    """Sort every column within every class; place 0 and the padding hold no observation."""
    n = blocks.n_observations
    n_places = -(-(n + 1) // _CUMULATION_BLOCK) * _CUMULATION_BLOCK
    sorted_rows = aligned_empty((blocks.n_classes, n_places), np.int32)
    sorted_rows[:, 0], sorted_rows[:, n + 1 :] = n, n
    sorted_scores = aligned_empty(blocks.scores.shape, blocks.scores.dtype)

    def sort_column(column: int) -> None:
        scores, rows = blocks.scores[column], sorted_rows[column, 1 : n + 1]
        for block in blocks.slices():
            order = np.argsort(scores[block])
            sorted_scores[column, block] = scores[block][order]
            rows[block] = blocks.row_order[block][order]

    parallel(sort_column, range(blocks.n_classes), sorted_scores.size)
    return sorted_rows, sorted_scores


def _pool_quantiles(
    blocks: ClassBlocks,
    sorted_rows: Int[np.ndarray, "c places"],
    sorted_scores: Shaped[np.ndarray, "c n"],
    weights: Float[np.ndarray, " n"] | None,
    n_thresholds: int,
) -> Shaped[np.ndarray, "c c_minus_1 t"]:
    """Return each pair's thresholds: quantiles of the scores of both classes in both columns.

    A threshold is the smallest score above or at which at least its level of the pool lies.
    """
    numerators, denominator = grid_levels(n_thresholds)
    n_classes, slices = blocks.n_classes, blocks.slices()
    shape = (n_classes, n_classes - 1, len(numerators))
    thresholds = aligned_empty(shape, sorted_scores.dtype)

    def quantiles_with_first(i: int) -> None:
        for j in range(i + 1, n_classes):
            places = [(i, slices[i]), (i, slices[j]), (j, slices[j]), (j, slices[i])]
            pool = np.concatenate([sorted_scores[place] for place in places])
            if weights is None:
                # A stable sort merges the four sorted blocks, at a fifth of the cost.
                pool.sort(kind="stable")
                n_above = -(-numerators * len(pool) // denominator)
                quantiles = pool[len(pool) - n_above]
            else:
                rows = sorted_rows[:, 1:]
                pool_weights = weights[np.concatenate([rows[place] for place in places])]
                order = np.argsort(pool, kind="stable")[::-1]
                cumulative = np.cumsum(pool_weights[order])
                found = np.searchsorted(
                    cumulative * denominator, numerators * cumulative[-1], side="left"
                )
                quantiles = pool[order[found]]
            thresholds[i, j - 1] = thresholds[j, i] = quantiles

    parallel(quantiles_with_first, range(n_classes - 1), sorted_scores.size)
    return thresholds


@jax.jit(static_argnames="n_steps")
def _locate_thresholds(
    sorted_scores: Shaped[Array, "c n"],
    thresholds: Shaped[Array, "c c_minus_1 t"],
    starts: Int[Array, "c c_minus_1 2"],
    stops: Int[Array, "c c_minus_1 2"],
    n_steps: int,
) -> tuple[Int[Array, "c c_minus_1 2 t"], Int[Array, "c c_minus_1 2 t"]]:
    """Count the places before the first score >= and before the first score > each threshold."""
    # One search through all columns in a row: XLA makes one fast loop of it.
    scores = sorted_scores.ravel()
    offset = jnp.arange(len(sorted_scores), dtype=jnp.int32)[:, None, None, None]
    offset *= sorted_scores.shape[1]
    start, stop = starts[..., None] + offset, stops[..., None] + offset
    queries = jnp.broadcast_to(thresholds[:, :, None], (*starts.shape, thresholds.shape[-1]))
    at_least = count_below(scores, start, stop, queries, n_steps)

    def is_tied(place: Int[Array, "c c_minus_1 2 t"]) -> Bool[Array, "c c_minus_1 2 t"]:
        return (place < stop) & (scores.at[place].get(mode="clip") == queries)

    after_first = at_least + is_tied(at_least)
    above = lax.cond(
        is_tied(after_first).any(),
        lambda: count_below(scores, start, stop, queries, n_steps, or_equal=True),
        lambda: after_first,
    )
    return at_least - offset, above - offset


@jax.jit
def _split_ties(
    rates: PairwiseRates,
    weights: Float[Array, " n"] | None,
    quantile_levels: Float[Array, " t"],
    swapped: Int[Array, "c c_minus_1"],
) -> Float[Array, "c c_minus_1 t"]:
    """Split the ties at a threshold such that the pool above it has exactly its level."""
    if weights is None:
        start, stop = rates.starts[rates.block_class], rates.stops[rates.block_class]
        sides = stop - start, stop[..., None] - rates.above, rates.above - rates.at_least
    else:
        sides = _map_columns(lambda column: _block_weights(column, rates, weights), rates)

    def over_pool(x: Array) -> Array:
        of_pair = x.sum(axis=2)
        return of_pair + of_pair.reshape(-1, *of_pair.shape[2:])[swapped]

    total, greater, tied = (over_pool(x) for x in sides)
    return jnp.clip((quantile_levels * total[..., None] - greater) / tied, 0, 1)


_Column = tuple[Array, Array, Array, Array, Array]


def _map_columns[T](function: Callable[[_Column], T], rates: PairwiseRates) -> T:
    """Apply ``function`` to the rows of every array of ``rates`` that has one row per column."""
    columns = rates.sorted_rows, rates.block_class, rates.at_least, rates.above, rates.tied_share
    if rates.sorted_rows.size <= _PLACES_AT_ONCE:
        return jax.vmap(function)(columns)
    # A few columns at a time: what is summed and looked up stays in the processor's cache.
    return lax.map(function, columns, batch_size=_COLUMNS_PER_BATCH)


def _block_weights(
    column: _Column, rates: PairwiseRates, weights: Float[Array, " n"]
) -> tuple[
    Float[Array, "c_minus_1 2"], Float[Array, "c_minus_1 2 t"], Float[Array, "c_minus_1 2 t"]
]:
    """Return the weight of each block of a column, of its scores above and at each threshold."""
    sorted_rows, block_class, at_least, above, _ = column
    cumulative = _cumulative_sum(jnp.append(weights, 0.0)[sorted_rows])
    start, stop = (cumulative[x[block_class]] for x in (rates.starts, rates.stops))
    up_to = cumulative.at[above].get(mode="promise_in_bounds")
    tied = up_to - cumulative.at[at_least].get(mode="promise_in_bounds")
    return stop - start, stop[..., None] - up_to, tied


def _cumulative_sum(x: Float[Array, " places"]) -> Float[Array, " places"]:
    """Sum cumulatively: by blocks and a matrix product, which XLA does much faster."""
    blocks = x.reshape(-1, _CUMULATION_BLOCK)
    within = blocks @ jnp.triu(jnp.ones((_CUMULATION_BLOCK, _CUMULATION_BLOCK)))
    before = jnp.cumsum(within[:, -1]) - within[:, -1]
    return (within + before[:, None]).ravel()


def pairwise_rates(rates: PairwiseRates, weights: Float[Array, " n"]) -> Float[Array, "q 2 t"]:
    """Return the true and false positive rates of the ordered pairs at the thresholds."""

    def of_column(column: _Column) -> Float[Array, "c_minus_1 2 t"]:
        total, greater, tied = _block_weights(column, rates, weights)
        tied_share = column[-1]
        return (greater + tied_share[:, None] * tied) / total[..., None]

    by_column = _map_columns(of_column, rates)
    return by_column.reshape(-1, *by_column.shape[2:])


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
        Scores; any real numbers, rows need not sum to one.
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
        threshold_effect=np.asarray(logit_of_rates(rates)),
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
