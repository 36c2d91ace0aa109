"""Measures of how well scores rank pairs and triples of classes.

Hand and Till's M, one-vs-one and one-vs-rest AUCs are averages of the pairwise areas A(i|j). Each
area compares the scores in column i of the classes i and j. The area of class i against the rest is
the average of A(i|j) over j, weighted by the size of j. AUC-mu ranks each pair of classes by a
projection of its own, the volumes triples of observations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from scipy import special

from dmfroc._kit.arrays import AnyArray, PerClass, divide, sum_at
from dmfroc._kit.options import numbers
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.messages import IN_MEMORY
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import ROUNDING, outside_message
from dmfroc.measures.bound import SummariesOfCounts
from dmfroc.measures.measure import (
    UNBIASED,
    UNIT,
    Measure,
    WithOptions,
    absent_classes_message,
    alphabetical_message,
    no_hard_labels,
    nothing,
    warn_of_absent_classes,
    within,
)
from dmfroc.measures.registry import also_called, family, register
from dmfroc.measures.statistics.pairs import PairTable, pair_counts
from dmfroc.measures.statistics.projections import ProjectedPairTable, projected_pair_counts
from dmfroc.measures.statistics.statistic import once_per_predictions
from dmfroc.measures.statistics.tuples import (
    NominalTripleCounts,
    TripleTable,
    TupleCounts,
    absent_classes,
    no_table_of_triples,
    nominal_triple_counts,
    ordered_counts,
    too_many_tuples,
    tuple_counts,
)

Weighting = Literal["macro", "prevalence", "bias"]


def pairwise_areas(table: PairTable, xp: Any) -> Float[AnyArray, "columns c"]:
    """Return all A(i|j) of the table; where i is j, 0.

    Pairs of observations first, then division: for unit weights the sums are whole or half
    numbers, and do not depend on the order of the rows.
    """
    totals = table.totals
    is_pair = table.columns[:, None] != np.arange(len(totals))
    return xp.where(is_pair, table.won / (totals[table.columns][:, None] * totals), 0.0)


@dataclass(frozen=True)
class MeanPairwiseArea:
    """The mean of A(i|j) over the columns i and all other classes j: a summary.

    Of small samples autograd takes longer than all else, and limits ask for many derivatives.
    """

    def __call__(self, table: PairTable, xp: Any) -> Any:
        return pairwise_areas(table, xp).sum() / (table.n_columns * (len(table.totals) - 1))

    def value_and_pull_back(self, table: PairTable) -> tuple[Any, Callable[[Any], PairTable]]:
        """Return the value, and what turns derivatives of it into those of the table."""
        areas, totals = pairwise_areas(table, np), table.totals

        def pull_back(d_value: Any) -> PairTable:
            slope = d_value / (table.n_columns * (len(totals) - 1))
            of_won = pairwise_areas(table._replace(won=slope), np)
            of_classes = areas.sum(0) + sum_at(table.columns, areas.sum(1), len(totals), np)
            d_totals = -slope * of_classes / totals
            return table._replace(won=of_won, totals=d_totals, predicted=np.zeros_like(totals))

        return self(table, np), pull_back


mean_pairwise_area = MeanPairwiseArea()


def _area_by_size_of_pair(table: PairTable, xp: Any) -> Any:
    totals = table.totals
    sizes = totals[table.columns][:, None] + totals
    shares = sizes / (2 * (len(totals) - 1) * totals.sum())
    return (shares * pairwise_areas(table, xp)).sum()


def areas_against_the_rest(table: PairTable, xp: Any) -> Float[AnyArray, " c"]:
    """Return the area of each class against all others."""
    totals = table.totals
    won = (totals * pairwise_areas(table, xp)).sum(-1)
    # Not the total less that of the class, which would lose light classes beside a heavy one
    is_other = table.columns[:, None] != np.arange(len(totals))
    return won / (is_other * totals).sum(-1)


def _area_against_the_rest(table: PairTable, xp: Any, weighting: Weighting = "macro") -> Any:
    areas = areas_against_the_rest(table, xp)
    if weighting == "macro":
        return areas.sum() / table.n_columns
    if weighting == "prevalence":
        return (table.totals[table.columns] * areas).sum() / table.totals.sum()
    predicted = table.predicted.sum()
    # Where every prediction is of a class that does not occur, all count evenly.
    shares = divide(table.predicted, predicted, xp, 1 / table.n_columns)
    return (shares[table.columns] * areas).sum()


def _mean_projected_area(table: ProjectedPairTable, xp: Any) -> Any:
    return (table.won / (table.first * table.second)).sum() * table.share


def _volume(table: TripleTable, xp: Any) -> Any:
    return table.won / xp.prod(table.totals)


_MOST_ROWS = 2000  # whose softmax is compared


@once_per_predictions
@np.errstate(over="ignore", invalid="ignore")  # of huge scores
def scale_message(predictions: Predictions) -> str | None:
    """Say that the softmax of rows with different sums has another M, by more than its error."""
    is_whole = predictions.has_all_scores and predictions.folds is None
    if predictions.n_classes == 2 or not is_whole:
        return None
    rows = np.arange(0, len(predictions.true), 1 + len(predictions.true) // _MOST_ROWS)
    some = predictions.rows(rows)
    scores = np.asarray(getattr(some.scores, "values", some.scores), float)  # or of a device
    has_one_sum = np.ptp(scores.sum(axis=1)) <= ROUNDING * np.ptp(scores)
    if has_one_sum or (scores.min() >= 0 and scores.max() <= 1) or len(some.present) < 2:
        return None
    if outside_message(scores, IN_MEMORY):  # that some rows are no probabilities is said already
        return None
    both = (replace(some, scores=x) for x in (scores, special.softmax(scores, axis=1)))
    raw, normed = (SummariesOfCounts(pair_counts(x), (mean_pairwise_area,)) for x in both)
    [value], [influences] = raw.values_and_gradients(some.sample_weight)
    [other] = normed.values(some.sample_weight)
    if abs(other - value) <= np.linalg.norm(some.sample_weight * influences):
        return None
    return (
        "if the scores are logits, pass the softmax of each row: it moves Hand and Till's M by "
        "more than its standard error, since rank measures compare each column across rows"
    )


ranking = family("ranking", bounds=UNIT, chance=0.5)
_volume_under_surface = partial(ranking, summary=_volume, chance=math.nan, interval=UNBIASED)


@also_called("m, mauc, hand_till_score, hand_and_till, roc_auc_ovo, auc_ovo, ovo_auc")
@register()
def hand_till() -> Measure:
    """Return Hand and Till's M, the mean area under the ROC curves of all ordered pairs.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing. It does not depend on how frequent the classes are. Ties
        count by half. Pairs with a class that never occurs are left out, with a warning.

    References
    ----------
    Hand and Till (2001), A simple generalisation of the area under the ROC curve for multiple
    class classification problems, equation 7.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(hand_till()([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.791666666667
    """
    options: Any = {"interval": UNBIASED, "caveats": (absent_classes_message, scale_message)}
    return ranking("Hand-Till M", pair_counts, mean_pairwise_area, **options)


@also_called("roc_auc_ovo_weighted", of="one_vs_one_auc_prevalence")
@register()
def one_vs_one_auc(weighting: Literal["prevalence", "macro"] = "prevalence") -> Measure:
    """Return the average area under the ROC curves of all pairs of classes.

    Parameters
    ----------
    weighting : {"prevalence", "macro"}
        Whether a pair counts by how often its two classes occur, or as every other one, which
        gives Hand and Till's M.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing. Ties count by half. Pairs with a class that never occurs are
        left out, with a warning.

    Raises
    ------
    ValueError
        If ``weighting`` is another.

    References
    ----------
    Hand and Till (2001), equation 7; Ferri, Hernández-Orallo and Modroiu (2009), An experimental
    comparison of performance measures for classification (AU1P).

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(one_vs_one_auc()([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.776785714286
    """
    is_even = weighting == "macro"
    title = "One-vs-one AUC, " + ("even" if is_even else "by prevalence")
    summary = mean_pairwise_area if is_even else _area_by_size_of_pair
    return ranking(title, pair_counts, summary, name=f"one_vs_one_auc_{weighting}")


@also_called("roc_auc_ovr, auc_ovr, ovr_auc, roc_aunu")
@also_called("roc_auc_ovr_weighted, roc_aunp", of="one_vs_rest_auc_prevalence")
@register({}, {"weighting": "prevalence"}, {"weighting": "bias"})
def one_vs_rest_auc(weighting: Weighting = "macro") -> Measure:
    """Return the average area under the ROC curves of every class against all others.

    Parameters
    ----------
    weighting : {"macro", "prevalence", "bias"}
        Whether the classes count evenly, by how often they occur (Provost and Domingos) or by
        how often they are predicted (Powers), the predicted class being the column of the
        largest score, the first of equals.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing. Ties count by half. Unlike Hand and Till's M it depends on
        how frequent the classes are, whatever the weighting. Classes that never occur are left
        out, with a warning; predictions of such a class are left out of the bias.

    Raises
    ------
    ValueError
        If ``weighting`` is another. Bound to one-dimensional scores, which have no threshold, by
        ``"bias"``.

    References
    ----------
    Provost and Domingos (2003), Tree induction for probability-based ranking; Powers,
    Visualization of tradeoff in evaluation, conclusions.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(one_vs_rest_auc()([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.780555555556
    """
    name, title = "one_vs_rest_auc", "One-vs-rest AUC"
    if weighting != "macro":
        name, title = f"{name}_{weighting}", f"{title}, by {weighting}"
    summary = WithOptions(_area_against_the_rest, weighting=weighting)
    obstacle = no_hard_labels if weighting == "bias" else nothing
    return ranking(title, pair_counts, summary, name=name, obstacle=obstacle)


@register()
def auc_mu(partition: Any = None) -> Measure:
    """Return AUC-mu, the mean area of all pairs of classes by the scores' projections.

    A classifier with misclassification costs A decides between the classes i and j by the sign of
    (A_i - A_j) p. AUC-mu ranks the observations of both classes by that projection, for each pair
    by its own, so that the other classes' scores take no part unless the costs say so.

    Parameters
    ----------
    partition : array-like of shape (K, K), optional
        The partition matrix: entry (i, j) is the cost of predicting the i-th class where the
        j-th is true. By default every error costs 1, and the pair (i, j) is ranked by the
        difference of the two scores, which must have a meaning, as that of probabilities does.

    Returns
    -------
    Measure
        In [0, 1]; 1/2 for guessing; for two classes the ordinary area. It does not depend on how
        frequent the classes are. Equal projections count by half. Differences that differ only by
        rounding are equal, such as 0.3 - 0.1 and 0.4 - 0.2. Pairs with a class that never occurs
        are left out, with a warning.

    Raises
    ------
    ValueError
        If the matrix is not square and finite, or two of its rows are equal, so that they do not
        tell their classes apart. Bound to predictions with another number of classes.

    References
    ----------
    Kleiman and Page (2019), AUC-mu: a performance metric for multi-class machine learning models,
    equations 4 to 6.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(auc_mu()([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.805555555556
    """
    matrix = None if partition is None else _checked_partition(partition)
    statistic = WithOptions(projected_pair_counts, partition=matrix)
    attributes = {"in_given_order": True, "interval": UNBIASED}
    return ranking("AUC-mu", statistic, _mean_projected_area, **attributes)


def _checked_partition(partition: Any) -> tuple[tuple[float, ...], ...]:
    matrix = numbers("partition", partition)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"partition must be a square matrix, but its shape is {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("partition must be finite, but it holds NaN or infinity")
    if len(np.unique(matrix, axis=0)) < len(matrix):
        raise ValueError("partition must tell any two classes apart, but two of its rows are equal")
    return tuple(map(tuple, matrix.tolist()))


def _combinations(predictions: Predictions) -> NominalTripleCounts | TupleCounts:
    """Bind the combinations of one observation of each class."""
    return (nominal_triple_counts if predictions.n_classes == 3 else tuple_counts)(predictions)


def _no_combinations(predictions: Predictions) -> str | None:
    return (no_table_of_triples if predictions.n_classes <= 3 else too_many_tuples)(predictions)


@register()
def vus() -> Measure:
    """Return the volume under the ROC surface of three or more unordered classes.

    Sums of scores of different classes must have a meaning, as those of probabilities, or of
    log-probabilities, do.

    Returns
    -------
    Measure
        Take K random observations, one of each class, and the K! assignments of them to the
        classes. This is the probability that the assignment with the largest sum of scores is
        right. Equivalently, some offsets of the K scores make each the largest where it should be.
        In [0, 1]; 1/K! for guessing, 1/6 for three classes. It does not depend on how frequent the
        classes are. If m assignments share the largest sum and the right one is among them, they
        count 1/m. Sums that differ only by rounding are equal, such as 0.1 + 0.2 and 0.3.

    Raises
    ------
    ValueError
        Bound to predictions of two classes, or with a class that does not occur. If the smallest of
        three classes has more than 11,585 observations. If the product of the sizes of more classes
        and the number K! of assignments exceeds 268,435,456, as it does for four classes of 58
        observations each.

    Notes
    -----
    For three classes the time grows with the product of the sizes of the two largest, the space
    with the square of the smallest. For more classes all combinations are gone through.

    References
    ----------
    Mossman (1999), Three-way ROCs; Dreiseitl, Ohno-Machado and Binder (2000), Comparing
    three-class diagnostic tests by three-way ROC analysis.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(vus()([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.541666666667
    """
    return _volume_under_surface("VUS", _combinations, obstacle=_no_combinations)


@register()
def ordinal_vus() -> Measure:
    """Return the volume under the ROC surface of ordered classes, of any number.

    Observations are ranked by the expected class, in the order of the labels: the sum of the scores
    times 0, 1, 2, ... less the middle of these. For three classes that is the third score less the
    first. A single score x that grows with the class can be given as the columns (0, ..., 0, x).

    Returns
    -------
    Measure
        The probability that K random observations, one of each class, have scores in the order of
        their classes. In [0, 1]; 1/K! for guessing, 1/6 for three classes; of two classes it is the
        AUC. It does not depend on how frequent the classes are. If m scores next to each other are
        equal, the combination counts 1/m!. It takes time proportional to n (K + log n). A warning
        says so if text is in alphabetical order.

    Raises
    ------
    ValueError
        Bound to predictions with a class that does not occur.

    References
    ----------
    Mossman (1999), Three-way ROCs; Nakas and Yiannoutsos (2004), Ordered multiple-class ROC
    analysis with continuous measurements, equation 4.

    Examples
    --------
    >>> x = [0.1, 0.4, 0.3, 0.6, 0.8, 0.9]
    >>> ordinal_vus()([0, 0, 1, 1, 2, 2], np.column_stack([np.zeros(6), np.zeros(6), x]))
    0.75
    """
    caveats = (alphabetical_message,)
    return _volume_under_surface(
        "Ordinal VUS", ordered_counts, obstacle=absent_classes, caveats=caveats
    )


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
    return hand_till()(y_true, y_score, labels=labels, sample_weight=sample_weight)


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
        In row i and column j: the probability that a random observation of class i has a higher
        score in column i than one of class j, ties by half. In [0, 1]; 1/2 for guessing. The
        diagonal is 0, as in the paper, and so are the rows and columns of classes that never occur.
        The matrix is not symmetric for K > 2.

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
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    matrix = np.zeros((predictions.n_classes, predictions.n_classes))
    matrix[np.ix_(predictions.present, predictions.present)] = pairwise_areas(table, np)
    return matrix


def one_vs_rest_auc_per_class(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> PerClass:
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
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    areas = np.full(predictions.n_classes, np.nan)
    areas[predictions.present] = within(areas_against_the_rest(table, np), (0, 1))
    return areas
