"""The multiclass ROC curve: the centre of the rates of all pairs (Wang and Carvalho 2024)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, PerPresentClass, after, before, value_and_pull_back
from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.options import RandomState, choice, is_one_of
from dmfroc._kit.remarks import warn
from dmfroc._kit.threads import one_blas_thread
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.arrays import OnDevice
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import labels_message
from dmfroc.measures.measure import warn_of_absent_classes
from dmfroc.measures.statistics.curves import one_curve
from dmfroc.multiclass.center import Problem, center, fit_problem, problem_of_counts
from dmfroc.multiclass.costs import PairsOfClasses, PairWeights, one_curve_message, weight_matrices
from dmfroc.multiclass.links import Link, link_of
from dmfroc.multiclass.rank_one import Center, RateDerivatives, binomial_deviance, drawn_in, sigmoid
from dmfroc.multiclass.rates import (
    DEFAULT_N_THRESHOLDS,
    DEFAULT_SHRINKAGE,
    CountsOfPlaces,
    CurveOptions,
    Preset,
    RateTable,
    ThresholdPool,
)
from dmfroc.results.result import AttributeTables

_LEAST_LOGIT = -350.0  # squares of its exponential are finite
_MOST_UNKNOWNS = 4000  # the derivative takes the cube of their number

Rates = Float[np.ndarray, " points"]
"""One rate for each point of a curve."""


def fit(table: RateTable, xp: Any) -> Center:
    """Factorize the rates of the pairs."""
    if xp is np:
        return fit_problem(_problem(table))
    rates = table.rates(xp)
    return center(rates, table.cell_weights / rates.shape[-1], table.shrinkage, xp=xp)


def _problem(table: RateTable) -> Problem:
    counts, draws = table.counts, table.totals.shape[:-1]
    if isinstance(counts, CountsOfPlaces):
        counts = counts.by_pair
    else:
        counts = counts.reshape(*draws, -1, *counts.shape[-2:])
    sizes = table.totals[..., table.counted].reshape(*draws, -1, 2)
    weights = table.cell_weights / counts.shape[-1]
    return problem_of_counts(counts, sizes, weights, float(table.shrinkage))


@dataclass(frozen=True)
class SummaryOfCenter:
    """A function of the centre of the rates: a summary, with its derivative.

    The centre is differentiated by the implicit function theorem, ``numbers_of`` by a library.
    """

    numbers_of: Callable[[Any, Any], Any]

    def __call__(self, table: RateTable, xp: Any) -> Any:
        return self._of_center(fit(table, xp), xp)

    def _of_center(self, solution: Center, xp: Any) -> Any:
        return self.numbers_of(curve_points(solution, xp), xp)

    def value_and_pull_back(self, table: RateTable) -> tuple[Any, Callable[[Any], RateTable]]:
        """Return the value, and what turns derivatives of it into those of the table."""
        problem = _problem(table)
        solution = fit_problem(problem)
        value, to_center = value_and_pull_back(self._of_center, solution)
        adjoint = functools.cache(lambda: problem.adjoint(solution))

        def pull_back(d_value: Any) -> RateTable:
            with one_blas_thread():
                d_rates = adjoint().pull_back(to_center(d_value), np)
            d_counts = _CountDerivatives(table, d_rates)
            return table._replace(counts=d_counts, totals=d_counts.for_totals(problem))

        return value, pull_back

    def derivative_by_pairs(self, table: RateTable) -> Float[np.ndarray, " q"]:
        """Return the derivative with respect to weights of the pairs, at weights of one.

        A pair counts with its weight in the deviance, in the prior, and in the mean pair effect.
        """
        problem = _problem(table)
        solution = fit_problem(problem)
        _, to_center = value_and_pull_back(self._of_center, solution)
        d_center = to_center(np.float64(1))
        with one_blas_thread():
            d_rates = problem.adjoint(solution).pull_back(d_center, np)
        rows, v = d_rates.row_adjoint, solution.column_effect
        residual = problem.fitted_times(solution, rows) - problem.times(rows)
        through_fit = (d_rates.weights[..., 0] * residual).sum(axis=1) * v
        # What takes the effects of the pairs takes their mean alone.
        through_mean = d_center.column_effect.sum() * (v - v.mean()) / len(v)
        return through_mean - through_fit


@dataclass(frozen=True)
class SummaryOfRank:
    """A function of the points of a curve of higher rank: a summary, with its derivative."""

    numbers_of: Callable[[Any, Any], Any]
    rank: int

    def __call__(self, table: RateTable, xp: Any) -> Any:
        if table.totals.ndim > 1:  # one draw after the other
            draws = zip(table.counts, table.totals, strict=True)
            return np.stack([self(table._replace(counts=x, totals=y), xp) for x, y in draws])
        with undisturbed():
            from dmfroc.multiclass.higher_rank import numbers_of_curve

        numbers = numbers_of_curve(*self._arguments(table, xp))
        return np.asarray(numbers) if xp is np else numbers

    def _arguments(self, table: RateTable, xp: Any) -> tuple[Any, ...]:
        rates = table.rates(xp)
        n_unknowns = self.rank * (len(rates) + rates[0].size)
        if n_unknowns > _MOST_UNKNOWNS:
            raise ValueError(
                f"rank={self.rank} with {len(rates)} pairs of classes and {rates.shape[-1]} "
                f"thresholds has {n_unknowns} effects, more than the {_MOST_UNKNOWNS} whose errors "
                "can be computed: take fewer thresholds (n_thresholds=), or rank 1"
            )
        options = self.rank, "logit", self.numbers_of
        return rates, table.cell_weights, table.shrinkage, *options

    def value_and_pull_back(self, table: RateTable) -> tuple[Any, Callable[[Any], RateTable]]:
        """Return the value, and what turns derivatives of it into those of the table."""
        with undisturbed():
            from dmfroc.multiclass.higher_rank import jacobian_of_curve

        value = self(table, np)
        rates, *arguments = self._arguments(table, np)
        jacobian = functools.cache(lambda: np.asarray(jacobian_of_curve(rates, *arguments)))

        def pull_back(d_value: Any) -> RateTable:
            d_rates = np.tensordot(d_value, jacobian(), np.ndim(value))
            shape = table.counted.shape
            totals = table.totals[table.counted.reshape(-1, 2)]
            d_counts = (d_rates / totals[..., None]).reshape(*shape, -1)
            through_totals = (d_rates * rates).sum(axis=-1) / totals
            d_totals = np.bincount(table.counted.ravel(), through_totals.ravel(), len(table.totals))
            return table._replace(counts=d_counts, totals=-d_totals)

        return value, pull_back


def _area_of_points(points: Any, xp: Any) -> Any:
    """Return the trapezoid area; the false and the true positive rates have their ends."""
    fpr, tpr = points
    return ((after(tpr) + before(tpr)) * (after(fpr) - before(fpr))).sum(axis=-1) / 2


def _inner_points(points: Any, xp: Any) -> Any:
    return xp.stack([rates[1:-1] for rates in points])


@dataclass(frozen=True, eq=False)
class _CountDerivatives:
    """Derivatives with respect to the counts, made group by group: together they are many."""

    table: RateTable
    of_rates: RateDerivatives

    def __getitem__(self, group: int) -> Float[np.ndarray, "p 2 t"]:
        counted = self.table.counted[group]
        pairs = slice(group * len(counted), (group + 1) * len(counted))
        return self.of_rates.columns(pairs) / self.table.totals[counted][..., None]

    def for_totals(self, problem: Problem) -> PerPresentClass:
        """Return the derivatives with respect to the totals, by which the counts are divided."""
        d, totals = self.of_rates, self.table.totals
        of_columns = np.stack([d.column_effect, d.column_adjoint], axis=1)
        products = problem.times(np.stack([d.row_adjoint, d.row_effect], axis=-1))
        by_half = (products * of_columns[:, None]).sum(axis=-1) * d.weights[..., 0]
        return -np.bincount(self.table.counted.ravel(), by_half.ravel(), len(totals)) / totals


area = SummaryOfCenter(_area_of_points)
"""The trapezoid area under the curve: a summary."""


def area_of(rank: int) -> SummaryOfCenter | SummaryOfRank:
    """Return the summary that is the area under the curve of some rank."""
    return area if rank == 1 else SummaryOfRank(_area_of_points, rank)


def rates_at_thresholds(rank: int) -> SummaryOfCenter | SummaryOfRank:
    """Return the summary that is the false (row 0) and true (row 1) positive rates of the curve."""
    return SummaryOfCenter(_inner_points) if rank == 1 else SummaryOfRank(_inner_points, rank)


def curve_points(
    solution: Center, xp: Any
) -> tuple[Float[AnyArray, "*draws points"], Float[AnyArray, "*draws points"]]:
    """Return the false and true positive rates of the centre, pinned at (0, 0) and (1, 1)."""
    effects = solution.row_effect * solution.column_effect.mean(axis=-1)[..., None, None]
    # The derivative of a rate of 0 must not be 0 times infinity
    inner = sigmoid(xp.maximum(effects, _LEAST_LOGIT), xp)
    zeros = xp.zeros((*inner.shape[:-1], 1))
    rates = xp.concatenate([zeros, inner, zeros + 1], axis=-1)
    return rates[..., 1, :], rates[..., 0, :]


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassROC(AttributeTables):
    """A multiclass ROC curve.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray of shape (T + 2,)
        The curve, from (0, 0) to (1, 1), both coordinates non-decreasing.
    auc : float
        Trapezoid area under the curve, in [0, 1]; 1/2 for guessing.
    threshold_effect : numpy.ndarray of shape (2, T)
        True (row 0) and false (row 1) positive rates of the centre on the scale of the link, by
        default their logits.
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

    fpr: Rates
    tpr: Rates
    auc: float
    threshold_effect: Float[np.ndarray, "2 t"]
    pair_effect: Float[np.ndarray, " q"]
    pairs: tuple[tuple[Hashable, Hashable], ...]
    pairwise_fpr: Float[np.ndarray, "q t"]
    pairwise_tpr: Float[np.ndarray, "q t"]
    deviance: float
    converged: bool
    n_iter: int


@dataclass(frozen=True, eq=False, repr=False)
class MeanROC(AttributeTables):
    """The mean of the curves of several folds: of their true positive rates, at each false one.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray of shape (points,)
        The mean, from the first to the last false positive rate; both coordinates non-decreasing.
    auc : float
        Area under it, the mean of the areas under the folds' curves.
    pairs : tuple of (label, label), length q
        The ordered pairs of classes.
    folds : tuple of MulticlassROC
        The curve of each fold.
    """

    fpr: Rates
    tpr: Rates
    auc: float
    pairs: tuple[tuple[Hashable, Hashable], ...]
    folds: tuple[MulticlassROC, ...]


def mean_curve_of(predictions: Predictions, options: CurveOptions) -> MeanROC:
    """Return the mean of the curves inside the folds of cross-validated predictions."""
    assert predictions.folds is not None
    if predictions.lacking_folds is not None:
        raise ValueError(predictions.lacking_folds)
    whole, folds = replace(predictions, folds=None), predictions.folds
    curves = tuple(curve_of(whole.rows(folds == fold), options) for fold in np.unique(folds))
    fpr, tpr = vertical_mean([(curve.fpr, curve.tpr) for curve in curves])
    return MeanROC(fpr, tpr, float(np.trapezoid(tpr, fpr)), curves[0].pairs, curves)


def vertical_mean(
    curves: Sequence[tuple[Float[np.ndarray, " _"], Float[np.ndarray, " _"]]],
) -> tuple[Rates, Rates]:
    """Return the mean of the second coordinates of curves at each of their first ones."""
    x = np.unique(np.concatenate([x for x, _ in curves]))
    # Where a curve rises straight up, it has a height on arriving there and another on leaving:
    # of equal abscissas `interp` takes the last.
    arriving = [np.interp(-x, -own_x[::-1], y[::-1]) for own_x, y in curves]
    leaving = [np.interp(x, own_x, y) for own_x, y in curves]
    return np.repeat(x, 2), np.mean([arriving, leaving], axis=1).T.ravel()


def multiclass_roc(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: float | int = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "column",
    link: Link = "logit",
    n_pairs: int | None = None,
    random_state: RandomState = 0,
    rank: int = 1,
    preset: Preset = "default",
) -> MulticlassROC:
    """Return the multiclass ROC curve of Wang and Carvalho.

    For every ordered pair of classes (i, j) the true and false positive rates of score column i
    are computed at thresholds that mean the same for all pairs. These are the quantiles of the
    scores of both classes in column i. A rank-one deviance matrix factorization gives the centre
    of these curves, whose areas Hand and Till's M averages, on the logit scale.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers, rows need not sum to one. Only ranks within columns count, unless
        ``threshold_pool`` is another. Two columns of two classes that are no complements are one
        score, their difference.
    labels : array-like of shape (K,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    pair_weights : {"equal", "prevalence"}, (K, K) costs, or a tuple of two such matrices
        What an error of each pair weighs. ``"equal"`` does not depend on how frequent the
        classes are; ``"prevalence"`` weights each rate by the size of the class it counts. Costs
        have observed classes in their rows and predicted classes in their columns. They are an
        array in the order of the labels, a pandas table with class names, or a dict
        ``{(observed, predicted): cost}`` in which every other pair costs 1. A tuple holds the
        weights of the true and of the false positive rates of the pairs (row: classification
        class, column: reference class). Only ratios matter.
    n_thresholds : int
        Number of quantile levels t / (n_thresholds + 1), at least 9; the median is always among
        them. By default the 99 percentiles; the AUC hardly depends on it, unless most pairs of
        classes are perfectly separated.
    shrinkage : float
        Strength of the prior that draws the pair effects towards one, relative to the deviance
        of one average pair. It stops perfectly separated pairs from hiding all others. With 0
        the fit is the paper's maximum likelihood. The stronger it is, the closer the area is to
        Hand and Till's M, and the left ends of curves change too, see `docs/method.md`. Less of it
        has more power where two classifiers differ in a pair that is easy beside the others, and
        less power where they differ in a hard one.
    threshold_pool : {"column", "balanced", "pooled"}
        The scores whose quantiles are the thresholds of a pair: those of both classes in column i,
        or in both columns, which then must share a scale. Both classes count equally, so that the
        curve does not depend on how frequent they are; with ``"pooled"`` every observation does,
        as in the paper. With ``"column"`` costs hardly move the curve: at every threshold the two
        rates of a pair add up to the same number.
    link : {"logit", "probit", "cloglog"}
        Scale on which the centre is taken: the logit, the probit, or the complementary log-log. It
        makes no difference for K = 2. Measures, bands and intervals have the logit. Other links are
        fitted as higher ranks are.
    n_pairs : int, optional
        Take a simple random sample of this many of the K(K - 1)/2 pairs of classes, each in both
        orders, if all of them are too many. At least 2; by default, and if there are fewer pairs,
        all.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of that sample; the same seed draws the same pairs.
    rank : int
        Number of factors of the model. With more than one, pairs may differ in the form of their
        curves, not only in how fast the rates rise. The centre is then the mean of the pairs'
        fitted curves on the scale of the link; the prior draws pairs towards it. The fit is
        compiled once for each number of classes and thresholds. `docs/experiments/real_data.md`
        compares ranks on real data.
    preset : {"default", "paper", "unweighted"}
        The estimators of Wang and Carvalho: ``shrinkage=0`` and ``threshold_pool="pooled"``, in
        place of the defaults, written out or not; other values are refused. ``"unweighted"`` is
        that of their sections 5.1, 5.2 and 5.4. ``"paper"`` also multiplies ``pair_weights`` by the
        sizes of the classes whose rates they weight (equation 14, section 5.3).

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
    (0.872, True)
    """
    options = CurveOptions(
        pair_weights, n_thresholds, shrinkage, threshold_pool, n_pairs, random_state, rank, preset
    )
    choice("link", link, get_args(Link))
    predictions = as_predictions(
        y_true, y_score, labels=labels, sample_weight=sample_weight, by_fold=True
    )
    warn_of_absent_classes(predictions)
    warn([labels_message(predictions)])
    curve = curve_of(predictions, options, link)
    if not is_one_of(pair_weights, ("equal",)):
        warn([one_curve_message(predictions)])
    return curve


def curve_of(
    predictions: Predictions, options: CurveOptions, link: Link = "logit"
) -> MulticlassROC:
    """Return the curve of predictions whose absent classes need no warning any more."""
    if predictions.folds is not None:
        raise ValueError(
            "predictions of several folds have no common curve, because scores of different fits "
            "are not compared: MulticlassROCDisplay draws the mean of the folds' curves"
        )
    predictions = predictions.counted
    if isinstance(predictions.scores, OnDevice):
        found: MulticlassROC | None = predictions.scores.room.curve(predictions, options, link)
        if found is not None:
            return found
    if predictions.n_classes == 2:
        weight_matrices(options.pair_weights, predictions)  # refuses what is none
        # With one column the factorization is saturated: the curve is the empirical one.
        points = one_curve(predictions.scores[:, 1], predictions.true == 1)
        counts = points.count(predictions.sample_weight, np)
        ends = points.ends(0)[1:]  # of the runs of equal scores
        return binary_curve(counts.tp[0, ends], counts.fp[0, ends], predictions.labels, link)
    table = options(predictions).count(predictions.sample_weight, np)
    classes = [predictions.labels[index] for index in predictions.present]
    return curve_of_rates(table, classes, link, options.rank)


def curve_of_rates(
    table: RateTable, classes: Sequence[Hashable], link: Link = "logit", rank: int = 1
) -> MulticlassROC:
    """Return the curve of the rates of pairs of classes, if there are three classes or more."""
    rates = table.rates(np)
    if (rank, link) == (1, "logit"):
        solution: Any = fit(table, np)
    else:
        with undisturbed():
            from dmfroc.multiclass import higher_rank

        solution = higher_rank.fit_center(rates, table.cell_weights, table.shrinkage, rank, link)
    return curve_of_numbers(
        numbers_of_fit(solution, rates, table.cell_weights, np), table.counted, classes
    )


def numbers_of_fit(
    solution: Any, rates: Float[AnyArray, "q 2 t"], weights: Float[AnyArray, "#q _ _"], xp: Any
) -> dict[str, Any]:
    """Return the curve of a fit of any rank, its area, its effects, and how well it fits."""
    if isinstance(solution, Center):
        fpr, tpr = curve_points(solution, xp)
        mean = solution.column_effect.mean()
        effects = solution.row_effect * mean, solution.column_effect / mean
        logits = solution.row_effect * solution.column_effect[:, None, None]
    else:
        fpr, tpr = solution.points
        effects, logits = (solution.row_effect, solution.pair_effect), solution.logits
    return {
        "fpr": fpr,
        "tpr": tpr,
        "auc": _area_of_points((fpr, tpr), xp),
        "threshold_effect": effects[0],
        "pair_effect": effects[1],
        "pairwise_fpr": rates[:, 1],
        "pairwise_tpr": rates[:, 0],
        "deviance": xp.maximum(binomial_deviance(rates, logits, weights, xp), 0.0),
        "converged": solution.converged,
        "n_iter": solution.n_sweeps,
    }


def curve_of_numbers(
    numbers: Mapping[str, Any], counted: PairsOfClasses, classes: Sequence[Hashable]
) -> MulticlassROC:
    """Return the curve with the numbers of a fit, whose pairs of classes are known by place."""
    given = ((name, np.asarray(x)) for name, x in numbers.items())
    fields: dict[str, Any] = {name: x if x.ndim else x.item() for name, x in given}
    return MulticlassROC(
        **fields, pairs=tuple((classes[i], classes[j]) for i, j in counted.reshape(-1, 2).tolist())
    )


def binary_curve(
    tp: Rates, fp: Rates, labels: Sequence[Hashable], link: Link = "logit"
) -> MulticlassROC:
    """Return the curve of two classes from the weights above falling thresholds, up to all."""
    tpr, fpr = tp / tp[-1], fp / fp[-1]
    fpr_points, tpr_points = np.append(0, fpr), np.append(0, tpr)
    rates = np.stack([tpr, fpr])
    return MulticlassROC(
        fpr=fpr_points,
        tpr=tpr_points,
        auc=float(np.trapezoid(tpr_points, fpr_points)),
        threshold_effect=link_of(drawn_in(rates), link),
        pair_effect=np.ones(1),
        pairs=((labels[1], labels[0]),),
        pairwise_fpr=fpr[None],
        pairwise_tpr=tpr[None],
        deviance=0.0,
        converged=True,
        n_iter=0,
    )
