"""Averages of the pairwise areas A(i|j): Hand and Till's M, one-vs-one and one-vs-rest AUCs.

Every A(i|j) compares the scores in column i of the classes i and j. Each score is looked up once
among the sorted scores of its column's own class, so that K searches replace K(K-1) sorts. The
area of class i against the rest is the average of A(i|j) over j, weighted by the size of j.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Shaped

from dmfroc._backend import AnyArray, aligned_empty, double_precision, share
from dmfroc.measures._blocks import (
    ClassBlocks,
    block_steps,
    count_below,
    group_by_class,
    per_row,
    run_ends,
)
from dmfroc.measures._cumulative import cumulative_sum
from dmfroc.measures._gradient import WithGradient
from dmfroc.measures._once import once_per_predictions
from dmfroc.measures.base import (
    BoundMeasure,
    Measure,
    has_hard_labels,
    value_of,
    warn_of_absent_classes,
)
from dmfroc.predictions import Predictions, as_predictions

_FEW_SCORES = 1 << 17  # to search for which takes a tenth of the time of compiling the search

Average = Literal["macro", "prevalence", "bias"]


class Placements(NamedTuple):
    """Where each score falls among the sorted scores of its column's own class.

    A score between two neighbours, or inside a run of ties, is an entry of one table per class;
    entry ``lower + upper`` of the table stands for the mean of the cumulative weights at the
    sorted positions ``lower`` and ``upper``, which counts ties by half.
    """

    rows: Int[Array, " n"]  # grouped position -> observation
    row_class: Int[Array, " n"]
    sorted_rows: Int[Array, " n"]  # own-class rank -> observation
    starts: Int[Array, " c"]
    stops: Int[Array, " c"]
    lower: Int[Array, " entries"]
    upper: Int[Array, " entries"]
    entry_class: Int[Array, " entries"]
    columns: Int[Array, " columns"]
    entry: Int[Array, "columns n"]


def place(blocks: ClassBlocks, columns: Int[np.ndarray, " columns"]) -> Placements:
    """Find the placement of every score of ``columns`` among the scores of the column's class."""
    n, starts = blocks.n_observations, blocks.starts
    own_order = np.empty(n, np.int32)
    own_scores = aligned_empty((n,), blocks.scores.dtype)
    for column, block in enumerate(blocks.slices()):
        order = np.argsort(blocks.scores[column, block])
        own_order[block] = order + block.start
        own_scores[block] = blocks.scores[column, block][order]
    ends = run_ends(own_scores, starts[:-1])
    lower, upper, entry_class = _placement_table(ends, starts)
    all_columns = len(columns) == blocks.n_classes
    scores = blocks.scores if all_columns else blocks.scores[columns]
    columns = columns.astype(np.int32)
    if scores.size <= _FEW_SCORES:
        entry = share(_count_entries(own_scores, starts, columns, scores))
    else:
        arrays = own_scores, ends, starts, columns, scores
        entry = _find_entries(*map(share, arrays), n_steps=block_steps(starts))
    return Placements(
        rows=share(blocks.row_order),
        row_class=per_row(blocks),
        sorted_rows=share(blocks.row_order[own_order]),
        starts=share(starts[:-1]),
        stops=share(starts[1:]),
        lower=share(lower),
        upper=share(upper),
        entry_class=share(entry_class),
        columns=share(columns),
        entry=entry,
    )


def _placement_table(
    ends: Int[np.ndarray, " n"], starts: Int[np.ndarray, " c_plus_1"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, n_classes = len(ends), len(starts) - 1
    entry_class = np.repeat(np.arange(n_classes, dtype=np.int32), 2 * np.diff(starts) + 1)
    doubled = np.arange(2 * n + n_classes, dtype=np.int32) - entry_class
    lower, upper = doubled // 2, (doubled + 1) // 2
    firsts = np.flatnonzero(np.append(True, ends[1:] != ends[:-1]))
    last = ends[firsts]
    of_run = firsts + last + np.searchsorted(starts, firsts, "right") - 1
    lower[of_run], upper[of_run] = firsts, last
    return lower, upper, entry_class


def _count_entries(
    own_scores: Shaped[np.ndarray, " n"],
    starts: Int[np.ndarray, " c_plus_1"],
    columns: Int[np.ndarray, " columns"],
    scores: Shaped[np.ndarray, "columns n"],
) -> Int[np.ndarray, "columns n"]:
    """Return what `_find_entries` does, by NumPy; where there is little to search it is faster."""
    entry = np.empty(scores.shape, np.int32)
    for position, column in enumerate(columns):
        own = own_scores[starts[column] : starts[column + 1]]
        entry[position] = own.searchsorted(scores[position], "left")
        entry[position] += own.searchsorted(scores[position], "right")
        entry[position] += 2 * starts[column] + column
    return entry


@partial(jax.jit, static_argnames="n_steps")
def _find_entries(
    own_scores: Shaped[Array, " n"],
    ends: Int[Array, " n"],
    starts: Int[Array, " c_plus_1"],
    columns: Int[Array, " columns"],
    scores: Shaped[Array, "columns n"],
    n_steps: int,
) -> Int[Array, "columns n"]:
    column = columns[:, None]
    stop = starts[column + 1]
    lower = count_below(own_scores, starts[column], stop, scores, n_steps)
    is_tied = (lower < stop) & (own_scores.at[lower].get(mode="clip") == scores)
    upper = jnp.where(is_tied, ends.at[lower].get(mode="clip"), lower)
    return lower + upper + column


class _PairwiseAreas(NamedTuple):
    """The areas A(i|j) of the placed columns i, and the weights of the classes."""

    areas: Float[Array, "columns c"]
    is_pair: Bool[Array, "columns c"]  # whether i and j differ
    totals: Float[Array, " c"]


def _pairwise_areas(placements: Placements, weights: Float[Array, " n"]) -> _PairwiseAreas:
    """Return all A(i|j)."""
    cumulative = cumulative_sum(weights[placements.sorted_rows])
    start, stop = cumulative[placements.starts], cumulative[placements.stops]
    middle = (cumulative[placements.lower] + cumulative[placements.upper]) / 2
    above, totals = stop[placements.entry_class] - middle, stop - start
    grouped = weights[placements.rows]

    def of_column(entry: Int[Array, " n"]) -> Float[Array, " c"]:
        pairs = grouped * above.at[entry].get(mode="promise_in_bounds")
        zeros = jnp.zeros(len(totals))
        return zeros.at[placements.row_class].add(pairs, indices_are_sorted=True)

    columns = placements.columns
    areas = _divided(lax.map(of_column, placements.entry), columns, totals, jnp)
    return _PairwiseAreas(areas, columns[:, None] != jnp.arange(len(totals)), totals)


def _divided(
    won: Float[AnyArray, "columns c"],
    columns: Int[AnyArray, " columns"],
    totals: Float[AnyArray, " c"],
    numpy: Any,
) -> Any:
    """Divide the summed weights of the pairs, those in the right order, by those of all.

    Nothing is divided before: for unit weights the sums are whole or half numbers, and do not
    depend on the order of the rows.
    """
    return numpy.clip(won / (totals[columns, None] * totals), 0, 1)  # rounding exceeds 1


_compiled_pairwise_areas = jax.jit(_pairwise_areas)


class _Shares(IntEnum):
    """How much each pair counts. One compiled program serves all: which one is meant is data."""

    EVEN = 0
    BY_PREVALENCE_OF_PAIR = 1
    EVEN_AGAINST_THE_REST = 2
    BY_PREVALENCE_AGAINST_THE_REST = 3
    BY_BIAS_AGAINST_THE_REST = 4


def _shares(
    which: Int[AnyArray, ""],
    columns: Int[AnyArray, " columns"],
    totals: Float[AnyArray, " c"],
    predicted: Float[AnyArray, " c"],
    numpy: Any,
) -> Any:
    """Return how much each A(i|j) counts, from the weights of observed and predicted classes."""
    n_columns, n_classes, total = len(columns), len(totals), totals.sum()
    own, all_predicted = totals[columns, None], predicted.sum()
    any_predicted = all_predicted > 0
    bias = predicted[columns, None] / numpy.where(any_predicted, all_predicted, 1)
    of_column = numpy.select(
        [which == _Shares.EVEN_AGAINST_THE_REST, which == _Shares.BY_PREVALENCE_AGAINST_THE_REST],
        [1 / n_columns, own / total],
        numpy.where(any_predicted, bias, 1 / n_classes),
    )
    return numpy.select(
        [which == _Shares.EVEN, which == _Shares.BY_PREVALENCE_OF_PAIR],
        [1 / (n_columns * (n_classes - 1)), (own + totals) / (2 * (n_classes - 1) * total)],
        of_column * totals / (total - own),
    )


def _average_area(
    placements: Placements,
    predicted: Int[Array, " n"] | None,
    which: Int[Array, ""],
    weights: Float[Array, " n"],
) -> Float[Array, ""]:
    """Return the average of A(i|j) over the placed columns i and all other classes j.

    ``predicted`` holds hard labels as positions among the classes that occur, or the number of
    those for a class that does not; ``which`` is one of `_Shares`.
    """
    pairs = _pairwise_areas(placements, weights)
    of_predicted = jnp.zeros(len(placements.starts))
    if predicted is not None:
        of_predicted = of_predicted.at[predicted].add(weights, mode="drop")
    shares = _shares(which, placements.columns, pairs.totals, of_predicted, jnp)
    average = (shares * pairs.areas).sum(where=pairs.is_pair)
    return jnp.clip(average, 0, 1)  # rounding exceeds 1


def _average_area_and_gradient(
    placements: Placements,
    predicted: Int[np.ndarray, " n"] | None,
    which: Int[np.ndarray, ""],
    weights: Float[np.ndarray, " n"],
) -> tuple[float, Float[np.ndarray, " n"]]:
    """Return the average and its derivative, in one pass over the columns.

    An observation counts as a member of j, by what of class i is above it, and as one of i, by
    what of all j is below it; and by the weights of the classes.
    """
    starts, stops, columns = placements.starts, placements.stops, placements.columns
    n_classes = len(starts)
    totals = np.add.reduceat(weights[placements.rows], starts)
    of_predicted = np.zeros(n_classes)
    if predicted is not None:
        of_predicted = np.bincount(predicted, weights, n_classes)[:n_classes]
    is_pair = columns[:, None] != np.arange(n_classes)
    shares = np.where(is_pair, _shares(which, columns, totals, of_predicted, np), 0)
    passed = _pass_over_columns(placements, weights, shares / (totals[columns, None] * totals))
    areas = np.where(is_pair, _divided(passed.won, columns, totals, np), 0)
    of_totals, of_counts = _gradient_of_shares(which, columns, totals, of_predicted, areas)
    shared = shares * areas
    of_totals -= shared.sum(axis=0) / totals
    of_totals[columns] -= shared.sum(axis=1) / totals[columns]
    gradient = np.empty_like(weights)
    gradient[placements.sorted_rows] = passed.below
    gradient[placements.rows] += passed.above + np.repeat(of_totals, stops - starts)
    if predicted is not None:
        gradient += np.append(of_counts, 0)[predicted]
    return min(float(shared.sum()), 1.0), gradient


class _Pass(NamedTuple):
    """The weight of the pairs in the right order, and what each observation adds to it.

    That is what it has below it in its own column, sorted as there, and what it has above it in
    all others, grouped; each pair of classes with its factor.
    """

    won: Float[np.ndarray, "columns c"]
    below: Float[np.ndarray, " n"]
    above: Float[np.ndarray, " n"]


def _pass_over_columns(
    placements: Placements,
    weights: Float[np.ndarray, " n"],
    factors: Float[np.ndarray, "columns c"],
) -> _Pass:
    """Go through the columns one by one."""
    starts, sizes = placements.starts, placements.stops - placements.starts
    grouped, is_counted = weights[placements.rows], (weights == 1).all()
    found = _Pass(np.empty(factors.shape), np.zeros_like(grouped), np.zeros_like(grouped))
    for position, column in enumerate(placements.columns):
        start, stop = starts[column], placements.stops[column]
        # All entries of a column are those of its own class.
        first, last = 2 * start + column, 2 * stop + column + 1
        lower, upper = (x[first:last] - start for x in (placements.lower, placements.upper))
        up_to = cumulative_sum(weights[placements.sorted_rows[start:stop]])
        above = up_to[-1] - (up_to[lower] + up_to[upper]) / 2
        entry = placements.entry[position] - first
        above_each, factor = above[entry], np.repeat(factors[position], sizes)
        found.above[:] += factor * above_each
        if not is_counted:
            above_each, factor = grouped * above_each, grouped * factor
        found.won[position] = np.add.reduceat(above_each, starts)
        # A placement between two scores is below the upper one; ties count by half.
        half = np.bincount(entry, factor, len(above)) / 2
        of_places = sum(np.bincount(x, half, len(up_to)) for x in (lower, upper))
        found.below[start:stop] = np.cumsum(of_places)[:-1]
    return found


def _gradient_of_shares(
    which: Int[np.ndarray, ""],
    columns: Int[AnyArray, " columns"],
    totals: Float[np.ndarray, " c"],
    predicted: Float[np.ndarray, " c"],
    areas: Float[np.ndarray, "columns c"],
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
    """Return how the average changes with its shares if observed and predicted classes change."""
    total, n_classes = totals.sum(), len(totals)
    of_totals, of_counts = np.zeros(n_classes), np.zeros(n_classes)
    if which == _Shares.EVEN:
        return of_totals, of_counts
    if which == _Shares.BY_PREVALENCE_OF_PAIR:
        average = ((totals[columns, None] + totals) * areas).sum() / total
        of_totals += areas.sum(axis=0) - average
        of_totals[columns] += areas.sum(axis=1)
        return of_totals / (2 * (n_classes - 1) * total), of_counts
    rest = total - totals[columns]
    of_rest = areas @ totals / rest  # areas of each class against the rest
    if which == _Shares.EVEN_AGAINST_THE_REST:
        of_columns = np.full(len(columns), 1 / len(columns))
    elif which == _Shares.BY_PREVALENCE_AGAINST_THE_REST:
        of_columns = totals[columns] / total
        of_totals[columns] += of_rest / total
        of_totals -= (of_columns * of_rest).sum() / total
    elif predicted.any():
        of_columns = predicted[columns] / predicted.sum()
        of_counts[columns] = of_rest / predicted.sum()
        of_counts -= (of_columns * of_rest).sum() / predicted.sum()
    else:
        of_columns = np.full(len(columns), 1 / n_classes)
    of_totals += (of_columns / rest) @ areas - (of_columns * of_rest / rest).sum()
    of_totals[columns] += of_columns * of_rest / rest
    return of_totals, of_counts


average_pairwise_area = WithGradient(_average_area, _average_area_and_gradient)


def _bind_average(predictions: Predictions, which: _Shares) -> BoundMeasure:
    predicted = None
    if predictions.predicted is not None:
        n_present = len(predictions.present)
        position = np.full(predictions.n_classes, n_present, np.int32)
        position[predictions.present] = np.arange(n_present)
        predicted = share(position[predictions.predicted])
    arrays = (all_placements(predictions), predicted, share(np.array(which, np.int32)))
    return Partial(average_pairwise_area, *arrays)


@once_per_predictions
def all_placements(predictions: Predictions) -> Placements:
    """Return the placements of all columns."""
    blocks = group_by_class(predictions)
    return place(blocks, np.arange(blocks.n_classes))


def bind_areas(
    predictions: Predictions, columns: Int[np.ndarray, " columns"] | None = None
) -> BoundMeasure:
    """Bind the mean of A(i|j) over some columns (positions among the classes that occur)."""
    if columns is None:
        return _bind_average(predictions, _Shares.EVEN)
    placements = place(group_by_class(predictions), columns)
    return Partial(average_pairwise_area, placements, None, share(np.array(_Shares.EVEN, np.int32)))


def _bind_bias_weighted(predictions: Predictions) -> BoundMeasure:
    if predictions.predicted is None:
        raise ValueError(
            "the bias weighting needs hard labels, and a one-dimensional y_score has no threshold "
            "of its own: pass y_pred, or the scores of both classes"
        )
    return _bind_average(predictions, _Shares.BY_BIAS_AGAINST_THE_REST)


_area = partial(Measure, bounds=(0.0, 1.0), chance=0.5, family="ranking")

HAND_TILL = _area(name="hand_till", title="Hand-Till M", bind=bind_areas)
ONE_VS_ONE_BY_PREVALENCE = _area(
    name="one_vs_one_auc_prevalence",
    title="One-vs-one AUC, by prevalence",
    bind=partial(_bind_average, which=_Shares.BY_PREVALENCE_OF_PAIR),
)
ONE_VS_REST = {
    "macro": _area(
        name="one_vs_rest_auc",
        title="One-vs-rest AUC",
        bind=partial(_bind_average, which=_Shares.EVEN_AGAINST_THE_REST),
    ),
    "prevalence": _area(
        name="one_vs_rest_auc_prevalence",
        title="One-vs-rest AUC, by prevalence",
        bind=partial(_bind_average, which=_Shares.BY_PREVALENCE_AGAINST_THE_REST),
    ),
    "bias": _area(
        name="one_vs_rest_auc_bias",
        title="One-vs-rest AUC, by bias",
        bind=_bind_bias_weighted,
        applies_to=has_hard_labels,
    ),
}
PAIRWISE = (HAND_TILL, ONE_VS_ONE_BY_PREVALENCE, *ONE_VS_REST.values())


def hand_till_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return Hand and Till's M, the mean area under the ROC curves of all ordered pairs.

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

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing. It does not depend on how frequent the classes are. Ties
        count by half. Pairs with a class that never occurs are left out, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Hand and Till (2001), A simple generalisation of the area under the ROC curve for multiple
    class classification problems, equation 7.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(hand_till_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.791666666667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(HAND_TILL, predictions)


@double_precision
def pairwise_auc_matrix(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> Float[np.ndarray, "k k"]:
    """Return the matrix of A(i|j): how well column i tells class i from class j.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.

    Returns
    -------
    numpy.ndarray of shape (K, K)
        In row i and column j the probability that a random observation of class i has a higher
        score in column i than one of class j, ties by half; in [0, 1], 1/2 for guessing. The
        diagonal is 0, as in the paper, and so are the rows and columns of classes that never
        occur. The matrix is not symmetric for K > 2.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Hand and Till (2001), equation 3.

    Examples
    --------
    >>> pairwise_auc_matrix([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent_classes(predictions)
    pairs = _compiled_pairwise_areas(all_placements(predictions), share(predictions.sample_weight))
    areas = np.where(pairs.is_pair, pairs.areas, 0)
    matrix = np.zeros((predictions.n_classes, predictions.n_classes))
    matrix[np.ix_(predictions.present, predictions.present)] = areas
    return matrix


def one_vs_one_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    average: Literal["macro", "prevalence"] = "prevalence",
) -> float:
    """Return the average area under the ROC curves of all pairs of classes.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.
    average : {"prevalence", "macro"}
        Whether a pair counts by how often its two classes occur, or as every other one, which
        gives Hand and Till's M.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing. Ties count by half. Pairs with a class that never occurs are
        left out, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or ``average`` is another.

    References
    ----------
    Hand and Till (2001), equation 7; Ferri, Hernández-Orallo and Modroiu (2009), An experimental
    comparison of performance measures for classification (AU1P).

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(one_vs_one_auc_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.776785714286
    """
    if average not in ("macro", "prevalence"):
        raise ValueError(f"average must be 'macro' or 'prevalence', but it is {average!r}")
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(HAND_TILL if average == "macro" else ONE_VS_ONE_BY_PREVALENCE, predictions)


def one_vs_rest_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    average: Average = "macro",
) -> float:
    """Return the average area under the ROC curves of every class against all others.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.
    average : {"macro", "prevalence", "bias"}
        Whether the classes count evenly, by how often they occur (Provost and Domingos) or by
        how often they are predicted (Powers), the predicted class being the column of the
        largest score, the first of equals.

    Returns
    -------
    float
        In [0, 1]; 1/2 for guessing. Ties count by half. Unlike Hand and Till's M it depends on
        how frequent the classes are, whatever the average. Classes that never occur are left
        out, with a warning; predictions of such a class are left out of the bias.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, if ``average`` is another, or
        if it is ``"bias"`` and the scores are one-dimensional, which have no threshold.

    References
    ----------
    Provost and Domingos (2003), Tree induction for probability-based ranking; Powers,
    Visualization of tradeoff in evaluation, conclusions.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(one_vs_rest_auc_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.780555555556
    """
    if average not in ONE_VS_REST:
        raise ValueError(f"average must be one of {get_args(Average)}, but it is {average!r}")
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(ONE_VS_REST[average], predictions)


@double_precision
def one_vs_rest_auc_per_class(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> Float[np.ndarray, " k"]:
    """Return the area under the ROC curve of every class against all others.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As for `hand_till_score`.

    Returns
    -------
    numpy.ndarray of shape (K,)
        For each class the probability that one of its observations has a higher score in its
        column than one of another class, ties by half; in [0, 1], 1/2 for guessing. NaN for a
        class that never occurs, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts.

    References
    ----------
    Provost and Domingos (2003), Tree induction for probability-based ranking.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> one_vs_rest_auc_per_class([0, 0, 1, 1, 2, 2, 1], scores).round(4)
    array([0.9   , 0.5417, 0.9   ])
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent_classes(predictions)
    pairs = _compiled_pairwise_areas(all_placements(predictions), share(predictions.sample_weight))
    totals = np.asarray(pairs.totals)
    of_rest = totals / (totals.sum() - totals[:, None])
    shares = np.where(pairs.is_pair, of_rest * pairs.areas, 0)
    areas = np.full(predictions.n_classes, np.nan)
    areas[predictions.present] = np.clip(shares.sum(axis=1), 0, 1)
    return areas
