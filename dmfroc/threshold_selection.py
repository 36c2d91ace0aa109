"""Thresholds and class weights selected by cross-validation, and evaluated by a nested one.

Both classifiers here fit a scikit-learn classifier and change its decisions only. They select on
the merged out-of-fold scores of an internal cross-validation, and then fit on all of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from jaxtyping import Float, Integer, Shaped
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    StratifiedKFold,
    check_cv,
    cross_val_predict,
)
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from dmfroc._inputs.arrays import plain
from dmfroc._roc_points import roc_points
from dmfroc._tables import format_table
from dmfroc.class_weights import (
    check_costs,
    deployed_weights,
    log_scores,
    optimise,
    weighted_choice,
)
from dmfroc.iso_performance import Economy, Placement, TieBreak, check_choices, check_conditions

__all__ = [
    "ClassWeightsClassifierCV",
    "ExpectedCost",
    "IsoPerformanceClassifierCV",
    "NestedCosts",
    "ThresholdSelection",
    "nested_class_weights",
    "nested_threshold_selection",
]

RESPONSE_METHODS = ("predict_proba", "decision_function")


def _estimator_has(method: str) -> Callable[[Callable[..., Any]], Any]:
    """Offer a method only if the estimator has it."""

    def check(self: Any) -> bool:
        getattr(self.estimator, method)  # its AttributeError is the explanation
        return True

    return available_if(check)


class _SelectingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both classifiers share: out-of-fold scores, and the fit to all of the data."""

    def _fit_estimator(self, X: Any, y: Any, sample_weight: Any, method: str) -> tuple[Any, Any]:
        """Fit the estimator to all of the data; return its out-of-fold scores and the weights."""
        parameters = {} if sample_weight is None else {"sample_weight": sample_weight}
        scores = cross_val_predict(
            self.estimator,
            X,
            y,
            cv=_splitter(self.cv, y, self.random_state),
            method=method,
            params=parameters,
            n_jobs=self.n_jobs,
        )
        self.estimator_ = clone(self.estimator).fit(X, y, **parameters)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return scores, _check_sample_weight(sample_weight, y, dtype=np.float64)

    @_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> Float[np.ndarray, "n k"]:
        """Return the probabilities of the fitted estimator; selection leaves them alone."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @_estimator_has("decision_function")
    def decision_function(self, X: Any) -> Float[np.ndarray, "*n_and_k"]:
        """Return the decision function of the fitted estimator; selection leaves it alone."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _splitter(cv: Any, y: Any, random_state: Any) -> Any:
    """Take a number as that of shuffled stratified folds; scikit-learn would not shuffle."""
    if isinstance(cv, Integral):
        return StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv, y, classifier=True)


def _checked(X: Any, y: Any) -> tuple[Any, Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    X, y = indexable(X, y)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    labels = np.unique(y)
    if len(labels) < 2:
        found = f"holds one class only ({plain(labels[0])!r})" if len(labels) else "is empty"
        raise ValueError(f"y must hold at least two classes, but it {found}")
    return X, y


class IsoPerformanceClassifierCV(_SelectingClassifier):
    """A binary classifier with the threshold of least expected cost on its ROC curve.

    The scores of all folds of an internal cross-validation are merged, the threshold is taken
    where the iso-performance tangent touches their ROC curve (see
    `dmfroc.optimal_operating_points`), and the estimator is fitted to all of the data.
    scikit-learn's ``TunedThresholdClassifierCV`` differs: it averages a metric over folds on a
    grid of thresholds, has no class ratio, and resolves ties by the grid.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba`` or ``decision_function``.
    prevalence : float, optional
        Assumed proportion of positives; by default that of the training set.
    cost_fp, cost_fn : float
        Costs of a false positive and of a false negative. Equal costs maximise the accuracy.
    pos_label : label, optional
        The positive class; by default the second of the sorted labels.
    tie_break : {"highest", "lowest"}
        Which of several optimal thresholds.
    placement : {"score", "midpoint"}
        Whether the threshold is the lowest score that is predicted positive, or the middle of the
        gap below it.
    response_method : {"auto", "predict_proba", "decision_function"}
        Where the scores come from; ``"auto"`` takes the first that the estimator has.
    cv : int, cross-validation generator or iterable
        The internal cross-validation; it must put each observation in one test set. A number is
        that of shuffled stratified folds.
    n_jobs : int, optional
        Folds fitted at the same time.
    random_state : int or numpy.random.RandomState, optional
        Source of the shuffling where `cv` is a number.

    Attributes
    ----------
    threshold_ : float
        The selected threshold; infinite if no observation should be predicted positive.
    optimum_ : OptimalOperatingPoints
        All optimal thresholds with their (optimistic) cost and accuracy.
    pos_label_ : label
        The positive class.
    estimator_ : classifier
        The estimator, fitted to all of the data.
    classes_ : numpy.ndarray of shape (2,)
        The labels.
    n_features_in_, feature_names_in_
        As of `estimator_`, where it has them.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot, sections 4.2 and 7; Provost
    and Fawcett (2001), Robust classification for imprecise environments.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = IsoPerformanceClassifierCV(GaussianNB(), cost_fp=5, random_state=0).fit(X, y)
    >>> float(classifier.threshold_) > 0.5
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        prevalence: Any = None,
        cost_fp: Any = 1.0,
        cost_fn: Any = 1.0,
        pos_label: Any = None,
        tie_break: Any = "highest",
        placement: Any = "score",
        response_method: Any = "auto",
        cv: Any = 10,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.prevalence = prevalence
        self.cost_fp = cost_fp
        self.cost_fn = cost_fn
        self.pos_label = pos_label
        self.tie_break = tie_break
        self.placement = placement
        self.response_method = response_method
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> IsoPerformanceClassifierCV:
        """Select the threshold and fit the estimator.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Features, as the estimator takes them.
        y : array-like of shape (n,)
            Labels of two classes.
        sample_weight : array-like of shape (n,), optional
            Weights, for the estimator and for the ROC curve.

        Returns
        -------
        IsoPerformanceClassifierCV
            Itself.

        Raises
        ------
        ValueError
            If there are not two classes, or an option is out of range.
        """
        check_choices(self.tie_break, self.placement)
        check_conditions(self.prevalence, self.cost_fp, self.cost_fn)
        X, y = _checked(X, y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}; for "
                "more classes use ClassWeightsClassifierCV."
            )
        labels = np.unique(y)
        self.pos_label_ = labels[1] if self.pos_label is None else self.pos_label
        if self.pos_label_ not in labels:
            raise ValueError(
                f"pos_label={self.pos_label!r} is not among the labels {labels.tolist()}"
            )
        self._response = self._method()
        self._is_second = bool(self.pos_label_ == labels[1])
        scores, weights = self._fit_estimator(X, y, sample_weight, self._response)
        is_positive = y == self.pos_label_
        for of_class in (is_positive, ~is_positive):
            if weights[of_class].sum() == 0:
                raise ValueError(f"sample_weight is 0 for all of class {plain(y[of_class][0])!r}")
        points = roc_points(self._of_positive(scores), is_positive, weights)
        self.optimum_ = Economy(points, self.prevalence, self.cost_fp, self.cost_fn).optima()
        self.threshold_ = self.optimum_.threshold(self.tie_break, self.placement)
        return self

    def _method(self) -> str:
        """Name the method that the scores come from."""
        known = ("auto", *RESPONSE_METHODS)
        if self.response_method not in known:
            raise ValueError(
                f"response_method must be one of {list(known)}, but it is {self.response_method!r}"
            )
        wanted = RESPONSE_METHODS if self.response_method == "auto" else (self.response_method,)
        for name in wanted:
            if hasattr(self.estimator, name):
                return name
        raise TypeError(f"estimator {self.estimator!r} has no {' or '.join(wanted)}")

    def predict(self, X: Any) -> Shaped[np.ndarray, " n"]:
        """Predict the positive class where its score reaches the threshold."""
        check_is_fitted(self)
        is_positive = self.positive_scores(X) >= self.threshold_
        return self.classes_[np.where(is_positive == self._is_second, 1, 0)]

    def positive_scores(self, X: Any) -> Float[np.ndarray, " n"]:
        """Return the scores of the positive class that `predict` compares with the threshold."""
        check_is_fitted(self)
        return self._of_positive(getattr(self.estimator_, self._response)(X))

    def _of_positive(self, scores: Float[np.ndarray, "*n_and_k"]) -> Float[np.ndarray, " n"]:
        if scores.ndim == 2:
            return scores[:, int(self._is_second)].astype(float)
        return scores.astype(float) if self._is_second else -scores.astype(float)

    @property
    def default_threshold(self) -> float:
        """The threshold of the estimator itself: 0.5 for probabilities, else 0."""
        check_is_fitted(self)
        return 0.5 if self._response == "predict_proba" else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ClassWeightsClassifierCV(_SelectingClassifier):
    """A classifier whose probabilities are multiplied by class weights before the largest wins.

    The probabilities of all folds of an internal cross-validation are merged, the class weights of
    least expected cost are selected on them (see `dmfroc.select_class_weights`), and the estimator
    is fitted to all of the data.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba``.
    cost_matrix : array-like of shape (K, K), optional
        Cost of deciding for the class of the column where that of the row is observed, both in
        sorted order; by default 1 for each error.
    prevalences : array-like of shape (K,), optional
        How often the classes occur where the classifier will be used, in sorted order; by default
        as in the training set.
    cv : int, cross-validation generator or iterable
        The internal cross-validation; it must put each observation in one test set. A number is
        that of shuffled stratified folds.
    n_starts : int
        Number of starts of the search.
    n_jobs : int, optional
        Folds fitted at the same time.
    random_state : int or numpy.random.RandomState, optional
        Source of the shuffling where `cv` is a number, and of the starts.

    Attributes
    ----------
    class_weights_ : numpy.ndarray of shape (K,)
        The selected weights, with a geometric mean of one.
    expected_cost_, unweighted_cost_ : float
        Cost of one decision on the out-of-fold scores, with these and with equal weights; the
        first is optimistic, see `nested_class_weights`.
    estimator_ : classifier
        The estimator, fitted to all of the data.
    classes_ : numpy.ndarray of shape (K,)
        The labels.
    n_features_in_, feature_names_in_
        As of `estimator_`, where it has them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 10], [1, 1, 0]]  # a missed class 1 is dear
    >>> classifier = ClassWeightsClassifierCV(GaussianNB(), cost_matrix=costs, random_state=0)
    >>> weights = classifier.fit(X, y).class_weights_
    >>> bool(weights[1] > weights[2])
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost_matrix: Any = None,
        prevalences: Any = None,
        cv: Any = 10,
        n_starts: Any = 20,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.prevalences = prevalences
        self.cv = cv
        self.n_starts = n_starts
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClassWeightsClassifierCV:
        """Select the class weights and fit the estimator.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Features, as the estimator takes them.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Weights, for the estimator and for the expected cost.

        Returns
        -------
        ClassWeightsClassifierCV
            Itself.

        Raises
        ------
        ValueError
            If there is one class only, or an option is out of range.
        """
        self._select(X, y, sample_weight)
        return self

    def _select(self, X: Any, y: Any, sample_weight: Any) -> Float[np.ndarray, "n k"]:
        """Fit, and return the out-of-fold probabilities."""
        X, y = _checked(X, y)
        labels, true = np.unique(y, return_inverse=True)
        costs = check_costs(self.cost_matrix, len(labels))
        scores, sample_weight = self._fit_estimator(X, y, sample_weight, "predict_proba")
        scores = scores.astype(float)
        weights = deployed_weights(true, sample_weight, self.prevalences, len(labels))
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        self.class_weights_, self.expected_cost_, self.unweighted_cost_ = optimise(
            log_scores(scores),
            true,
            weights,
            costs,
            self.n_starts,
            np.random.default_rng(seed),
        )
        return scores

    def predict(self, X: Any) -> Shaped[np.ndarray, " n"]:
        """Predict the class with the largest product of weight and probability."""
        check_is_fitted(self)
        probabilities = self.estimator_.predict_proba(X).astype(float)
        return self.classes_[weighted_choice(probabilities, self.class_weights_)]


@dataclass(frozen=True, eq=False)
class ThresholdSelection:
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

    def __str__(self) -> str:
        return (
            f"AUC {self.auc:.3f}, accuracy {self.default_accuracy:.3f} by default and "
            f"{self.selected_accuracy:.3f} with threshold {self.threshold_mean:.3f} "
            f"(sd {self.threshold_sd:.3f}): {self.difference:+.3f} (SE {self.standard_error:.3f})"
        )


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
    random_state: Any = 0,
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
    random_state : int or numpy.random.Generator
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
    X, y = _checked(X, y)
    generator = np.random.default_rng(random_state)
    thresholds, defaults, selections, areas, gains = [], [], [], [], []
    pooled_scores, pooled_positive = [], []
    for train, test in _splitter(cv, y, _seed(generator)).split(X, y):
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


@dataclass(frozen=True)
class ExpectedCost:
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


@dataclass(frozen=True, eq=False)
class NestedCosts:
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

    in_sample: ExpectedCost
    nested: ExpectedCost
    unweighted: ExpectedCost
    class_weights: Float[np.ndarray, "folds k"]

    @property
    def optimism(self) -> float:
        """By how much the cost in sample is too low: nested minus in-sample cost."""
        return self.nested.value - self.in_sample.value

    def __str__(self) -> str:
        rows = {
            "selected, in sample": self.in_sample,
            "selected, nested": self.nested,
            "equal weights": self.unweighted,
        }
        return format_table(
            ["class weights", "expected cost", "SE"],
            [[name, f"{c.value:.4f}", f"{c.standard_error:.4f}"] for name, c in rows.items()],
        )


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
    random_state: Any = 0,
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
    random_state : int or numpy.random.Generator
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
    X, y = _checked(X, y)
    labels, true, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"class {plain(labels[counts.argmin()])!r} has one observation only, but "
            "cross-validation needs at least two of each class"
        )
    costs = check_costs(cost_matrix, len(labels))
    weights = deployed_weights(true, np.ones(len(true)), prevalences, len(labels))
    generator = np.random.default_rng(random_state)

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
    scores = whole._select(X, y, None)
    in_sample = costs[true, weighted_choice(scores, whole.class_weights_)]
    nested, unweighted, class_weights = np.zeros(len(true)), np.zeros(len(true)), []
    for train, test in _splitter(cv, y, _seed(generator)).split(X, y):
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


def _expected(
    losses: Float[np.ndarray, " n"],
    true: Integer[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
) -> ExpectedCost:
    """Return the mean over classes whose observations share a weight, with its error."""
    variance = 0.0
    for label in np.unique(true):
        of_class = losses[true == label]
        prevalence = weights[true == label].sum()
        variance += prevalence**2 * of_class.var(ddof=1) / len(of_class)
    return ExpectedCost(float(weights @ losses), float(np.sqrt(variance)))
