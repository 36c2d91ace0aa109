"""What selecting a threshold or class weights gains, evaluated by nested cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer
from sklearn.metrics import roc_auc_score
from sklearn.utils import _safe_indexing as rows_of

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.options import RandomState, generator_of
from dmfroc.decisions.class_weights import check_costs, deployed_weights, weighted_choice
from dmfroc.decisions.iso_performance import Placement, TieBreak
from dmfroc.decisions.threshold_selection import (
    ClassWeightsClassifierCV,
    IsoPerformanceClassifierCV,
    check_estimator,
    check_folds,
    checked,
    each_row_once,
    splits_of,
)
from dmfroc.inputs.arrays import as_scalar
from dmfroc.results.result import AttributeTables
from dmfroc.results.table import Column, Table


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdSelection(AttributeTables):
    """What selecting a threshold changes: a row of Vuk and Curk's Table 4.

    Attributes
    ----------
    thresholds : numpy.ndarray of shape (folds,)
        The threshold selected inside each outer fold; infinite where none should be positive.
    default_accuracies, selected_accuracies : numpy.ndarray of shape (folds,)
        Accuracy on each outer fold with the default and with the selected threshold.
    standard_error : float
        Of the difference, from the paired decisions on the n observations. It takes the
        observations as independent, although training sets overlap.
    auc : float
        Area under the ROC curve of the pooled outer scores.
    mean_auc : float
        Mean of the areas of those outer folds that hold both classes.
    """

    thresholds: Float[np.ndarray, " folds"]
    default_accuracies: Float[np.ndarray, " folds"]
    selected_accuracies: Float[np.ndarray, " folds"]
    standard_error: float
    auc: float
    mean_auc: float

    @property
    def default_accuracy(self) -> float:
        """CA_d: mean accuracy over the folds with the default threshold."""
        return float(self.default_accuracies.mean())

    @property
    def selected_accuracy(self) -> float:
        """CA_o: mean accuracy over the folds with the selected thresholds."""
        return float(self.selected_accuracies.mean())

    @property
    def difference(self) -> float:
        """CA_o - CA_d."""
        return self.selected_accuracy - self.default_accuracy

    @property
    def threshold_mean(self) -> float:
        """Mean of the selected thresholds; infinite if one is."""
        return float(self.thresholds.mean())

    @property
    def threshold_sd(self) -> float:
        """Standard deviation of the selected thresholds over the folds; infinite if one is."""
        return float(self.thresholds.std(ddof=1)) if np.isfinite(self.thresholds).all() else np.inf

    def head(self) -> list[str]:
        """Return what selecting the threshold has gained."""
        return [
            f"AUC {self.auc:.3f}, accuracy {self.default_accuracy:.3f} by default and "
            f"{self.selected_accuracy:.3f} with threshold {self.threshold_mean:.3g} "
            f"(sd {self.threshold_sd:.3g}): {self.difference:+.3f} (SE {self.standard_error:.3f})"
        ]


def nested_threshold_selection(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    prevalence: float | None = None,
    cost_fp: float | int = 1.0,
    cost_fn: float | int = 1.0,
    pos_label: Any = None,
    tie_break: TieBreak = "highest",
    placement: Placement = "score",
    cv: Any = 10,
    inner_cv: Any = 10,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> ThresholdSelection:
    """Compare a selected with the default threshold by nested cross-validation.

    In each outer fold an `IsoPerformanceClassifierCV` selects the threshold on the training part
    alone, by its own cross-validation, and is tested on the rest. The default threshold (0.5 for
    probabilities, 0 for a decision function) is tested on the same folds and fits.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba`` or ``decision_function``.
    X : array-like of shape (n, p)
        Features, as the estimator takes them.
    y : array-like of shape (n,)
        Labels of two classes.
    prevalence, cost_fp, cost_fn, pos_label, tie_break, placement
        As in `IsoPerformanceClassifierCV`.
    cv, inner_cv : int, cross-validation generator or iterable
        Outer and internal cross-validation; numbers are those of shuffled stratified folds. The
        outer one must put each observation in one test set.
    n_jobs : int, optional
        Internal folds fitted at the same time.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Source of the shuffling.

    Returns
    -------
    ThresholdSelection
        Accuracies, thresholds and areas.

    Raises
    ------
    ValueError
        As in `IsoPerformanceClassifierCV.fit`.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, section 7 and Table 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = nested_threshold_selection(GaussianNB(), X, y, cv=5, inner_cv=5)
    >>> print(f"{found.default_accuracy:.2f}, {len(found.thresholds)} thresholds")
    0.94, 5 thresholds
    """
    check_estimator(estimator)
    X, y = checked(X, y)
    inner_cv = check_folds("inner_cv", inner_cv)
    generator = generator_of(random_state)
    thresholds, defaults, selections, areas, gains = [], [], [], [], []
    pooled_scores, pooled_positive = [], []
    for train, test in each_row_once(splits_of(cv, X, y, _seed(generator)), len(y)):
        classifier = IsoPerformanceClassifierCV(
            estimator,
            prevalence=prevalence,
            cost_fp=cost_fp,
            cost_fn=cost_fn,
            pos_label=pos_label,
            tie_break=tie_break,
            placement=placement,
            cv=inner_cv,
            n_jobs=n_jobs,
            random_state=_seed(generator),
        ).fit(rows_of(X, train), y[train])
        scores = classifier.positive_scores(rows_of(X, test))
        is_positive = y[test] == classifier.pos_label_
        is_right, is_right_by_default = (
            (scores >= threshold) == is_positive
            for threshold in (classifier.threshold_, classifier.default_threshold)
        )
        thresholds.append(classifier.threshold_)
        selections.append(is_right.mean())
        defaults.append(is_right_by_default.mean())
        gains.append(is_right.astype(float) - is_right_by_default)
        if 0 < is_positive.sum() < len(is_positive):
            areas.append(roc_auc_score(is_positive, scores))
        pooled_scores.append(scores)
        pooled_positive.append(is_positive)
    gain = np.concatenate(gains)
    return ThresholdSelection(
        thresholds=np.array(thresholds),
        default_accuracies=np.array(defaults),
        selected_accuracies=np.array(selections),
        standard_error=float(gain.std(ddof=1) / np.sqrt(len(gain))),
        auc=float(roc_auc_score(np.concatenate(pooled_positive), np.concatenate(pooled_scores))),
        mean_auc=float(np.mean(areas)),
    )


def _seed(generator: np.random.Generator) -> int:
    return int(generator.integers(2**31))


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedCost(AttributeTables):
    """The expected cost of one decision.

    Attributes
    ----------
    value : float
        Mean over the classes, by their prevalences.
    standard_error : float
        From the spread of the costs within each class.
    """

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False, repr=False)
class NestedCosts(AttributeTables):
    """What selecting class weights gains, and how much of it is only apparent.

    Attributes
    ----------
    in_sample : ExpectedCost
        Of weights selected on the out-of-fold scores of all observations, on these same scores.
    nested : ExpectedCost
        On outer folds that had no part in selecting the weights or fitting the estimator: what to
        expect on new observations.
    unweighted : ExpectedCost
        Of equal weights, on the outer folds.
    class_weights : numpy.ndarray of shape (folds, K)
        The weights selected in each outer fold.
    """

    main_table: ClassVar[str] = "costs"

    in_sample: ExpectedCost
    nested: ExpectedCost
    unweighted: ExpectedCost
    class_weights: Float[np.ndarray, "folds k"]

    @property
    def optimism(self) -> float:
        """By how much the cost in sample is too low: nested minus in-sample cost."""
        return self.nested.value - self.in_sample.value

    def tables(self) -> list[Table]:
        """Return the expected costs, and the weights selected in each fold."""
        rows = {
            "selected, in sample": self.in_sample,
            "selected, nested": self.nested,
            "equal weights": self.unweighted,
        }
        costs = [
            Column("class_weights", "class weights", rows, "name"),
            Column("value", "expected cost", [cost.value for cost in rows.values()]),
            Column("standard_error", "SE", [cost.standard_error for cost in rows.values()]),
        ]
        folds = [
            Column("fold", "fold", range(len(self.class_weights)), "count"),
            *(Column(f"w_{k}", f"class {k}", x) for k, x in enumerate(self.class_weights.T)),
        ]
        return [
            Table("costs", "Expected cost of one decision", costs, is_by_name=True),
            Table("folds", "Selected class weights", folds),
        ]


def nested_class_weights(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cost_matrix: Any = None,
    prevalences: Any = None,
    cv: Any = 10,
    inner_cv: Any = 10,
    n_starts: int = 20,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> NestedCosts:
    """Evaluate the selection of class weights by nested cross-validation.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba``.
    X : array-like of shape (n, p)
        Features, as the estimator takes them.
    y : array-like of shape (n,)
        Labels; at least two observations of each class.
    cost_matrix, prevalences, n_starts
        As in `ClassWeightsClassifierCV`.
    cv, inner_cv : int, cross-validation generator or iterable
        Outer and internal cross-validation; numbers are those of shuffled stratified folds. The
        outer one must put each observation in one test set.
    n_jobs : int, optional
        Internal folds fitted at the same time.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Source of the shuffling and of the starts.

    Returns
    -------
    NestedCosts
        Expected costs with standard errors. These take the observations as independent, although
        training sets overlap.

    Raises
    ------
    ValueError
        If a class has fewer than two observations, or as in `ClassWeightsClassifierCV.fit`.

    References
    ----------
    Powers (2015), Visualization of tradeoff in evaluation, section III.1, on selecting the
    thresholds; Varma and Simon (2006), Bias in error estimation when using cross-validation for
    model selection.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 5], [1, 5, 0]]
    >>> found = nested_class_weights(
    ...     KNeighborsClassifier(20), X, y, cost_matrix=costs, cv=5, inner_cv=5
    ... )
    >>> found.in_sample.value < found.unweighted.value
    True
    """
    check_estimator(estimator)
    X, y = checked(X, y)
    inner_cv = check_folds("inner_cv", inner_cv)
    labels, true, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"class {as_scalar(labels[counts.argmin()])!r} has one observation only, but "
            "cross-validation needs at least two of each class"
        )
    costs = check_costs(cost_matrix, len(labels))
    weights = deployed_weights(true, np.ones(len(true)), prevalences, len(labels))
    generator = generator_of(random_state)

    def selecting() -> ClassWeightsClassifierCV:
        return ClassWeightsClassifierCV(
            estimator,
            cost_matrix=cost_matrix,
            prevalences=prevalences,
            cv=inner_cv,
            n_starts=n_starts,
            n_jobs=n_jobs,
            random_state=_seed(generator),
        )

    whole = selecting()
    scores = whole.select(X, y, None)
    in_sample = costs[true, weighted_choice(scores, whole.class_weights_)]
    nested, unweighted, class_weights = np.zeros(len(true)), np.zeros(len(true)), []
    for train, test in each_row_once(splits_of(cv, X, y, _seed(generator)), len(y)):
        classifier = selecting().fit(rows_of(X, train), y[train])
        scores = classifier.predict_proba(rows_of(X, test)).astype(float)
        nested[test] = costs[true[test], weighted_choice(scores, classifier.class_weights_)]
        unweighted[test] = costs[true[test], scores.argmax(axis=1)]
        class_weights.append(classifier.class_weights_)
    return NestedCosts(
        in_sample=_expected(in_sample, true, weights),
        nested=_expected(nested, true, weights),
        unweighted=_expected(unweighted, true, weights),
        class_weights=np.array(class_weights),
    )


def _expected(losses: PerRow, true: Integer[np.ndarray, " n"], weights: PerRow) -> ExpectedCost:
    """Return the mean over classes whose observations share a weight, with its error."""
    variance = 0.0
    for label in np.unique(true):
        of_class = losses[true == label]
        prevalence = weights[true == label].sum()
        variance += prevalence**2 * of_class.var(ddof=1) / len(of_class)
    return ExpectedCost(float(weights @ losses), float(np.sqrt(variance)))
