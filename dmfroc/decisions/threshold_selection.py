"""Thresholds and class weights selected by cross-validation.

Both classifiers here fit a scikit-learn classifier and change its decisions only. They select on
the merged out-of-fold scores of an internal cross-validation, and then fit on all of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
)
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from dmfroc._kit.arrays import BoolPerRow, PerRow
from dmfroc._kit.options import integer, listed, n_jobs_of, unmasked
from dmfroc.curves.points import Cases, count_points
from dmfroc.decisions.class_weights import (
    check_costs,
    deployed_weights,
    log_scores,
    optimise,
    weighted_choice,
)
from dmfroc.decisions.iso_performance import Economy, check_choices, check_conditions
from dmfroc.inputs.arrays import Rows, as_array, as_scalar, is_missing
from dmfroc.inputs.messages import IN_MEMORY

__all__ = ["ClassWeightsClassifierCV", "IsoPerformanceClassifierCV"]

RESPONSE_METHODS = ("predict_proba", "decision_function")


def _estimator_has(method: str) -> Callable[[Callable[..., Any]], Any]:
    """Offer a method only if the estimator has it."""

    def check(self: Any) -> bool:
        getattr(self.estimator, method)  # its AttributeError is the explanation
        return True

    return available_if(check)


class _SelectingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both classifiers share: out-of-fold scores, and the fit to all of the data."""

    @np.errstate(under="ignore")  # in probabilities near 0
    def _fit_estimator(self, X: Any, y: Any, sample_weight: Any, method: str) -> tuple[Any, Any]:
        """Fit the estimator to all of the data; return its out-of-fold scores and the weights."""
        unmasked("sample_weight", sample_weight)
        parameters = {} if sample_weight is None else {"sample_weight": sample_weight}
        scores = cross_val_predict(
            self.estimator,
            X,
            y,
            cv=splitter(check_folds("cv", self.cv), y, self.random_state),
            method=method,
            params=parameters,
            n_jobs=n_jobs_of(self.n_jobs),
        )
        self.estimator_ = clone(self.estimator).fit(X, y, **parameters)
        self.classes_ = self.estimator_.classes_
        if not np.array_equal(self.classes_, np.unique(y)):
            raise ValueError(
                f"estimator must have its classes_ in sorted order, but {self.estimator!r} has "
                f"{np.asarray(self.classes_).tolist()}: its scores would be those of other classes"
            )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return scores, _check_sample_weight(sample_weight, y, dtype=np.float64)

    @_estimator_has("predict_proba")
    @np.errstate(under="ignore")
    def predict_proba(self, X: Any) -> Float[np.ndarray, "n k"]:
        """Return the probabilities of the fitted estimator; selection leaves them alone."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @_estimator_has("decision_function")
    @np.errstate(under="ignore")
    def decision_function(self, X: Any) -> Float[np.ndarray, "*n_and_k"]:
        """Return the decision function of the fitted estimator; selection leaves it alone."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def splitter(cv: Any, y: Any, random_state: Any) -> Any:
    """Take a number as that of shuffled stratified folds; scikit-learn would not shuffle."""
    if isinstance(cv, Integral):
        return StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv, y, classifier=True)


def check_estimator(estimator: Any) -> None:
    """Refuse what cannot be fitted."""
    is_class, kind = isinstance(estimator, type), type(estimator).__name__
    if is_class or not hasattr(estimator, "fit"):
        raise TypeError(
            "estimator must be one classifier of scikit-learn's kind, with a method fit, but it is "
            + (f"a class: pass {estimator.__name__}()" if is_class else f"a {kind}")
        )


def check_folds(name: str, cv: Any) -> Any:
    """Return folds as scikit-learn takes them: a number, what has ``split``, or a list of pairs."""
    if isinstance(cv, Integral):
        return integer(name, cv, 2, 2**31)
    if isinstance(cv, str | bytes) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise TypeError(
            f"{name} must be a number of folds, a splitter or pairs of training and test rows, but "
            f"it is of type {type(cv).__name__}"
        )
    if hasattr(cv, "split"):
        return cv
    splits = listed(name, cv, least=0)
    for split in splits:
        if not isinstance(split, tuple | list) or len(split) != 2:
            raise TypeError(
                f"{name} must yield pairs of training rows and test rows, but it yields a "
                f"{type(split).__name__}"
            )
    if not splits:
        raise ValueError(f"{name} yields no split: give two or more, or a number of folds")
    return splits


def splits_of(
    cv: Any, X: Any, y: Any, seed: Any, groups: Any = None
) -> list[tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]]:
    """Return the training rows and the test rows of each split, once no row counts twice."""
    cv = check_folds("cv", cv)
    if isinstance(cv, int) and groups is not None:
        cv = StratifiedGroupKFold(cv, shuffle=True, random_state=seed)
    splits = [
        (_rows(train, len(y)), _rows(test, len(y)))
        for train, test in splitter(cv, y, seed).split(X, y, groups)
    ]
    if len(splits) < 2:
        raise ValueError(
            f"cv yields {len(splits) or 'no'} split: give two or more, or a number of folds"
        )
    tested_by: dict[bytes, BoolPerRow] = {}  # training rows
    for place, (train, test) in enumerate(splits):
        counts = np.bincount(test, minlength=len(y))
        if counts.max() > 1:
            raise ValueError(
                f"cv names test row {counts.argmax()} twice in split {place} (counting from 0): "
                "a row counts once in each test set"
            )
        if counts[train].any():
            raise ValueError(
                f"cv has row {train[counts[train].argmax()]} (counting from 0) among both the "
                f"training and the test rows of split {place}: what was trained on cannot be judged"
            )
        is_tested = tested_by.setdefault(np.sort(train).tobytes(), np.zeros(len(y), bool))
        if is_tested[test].any():
            raise ValueError(
                f"cv has the training rows of split {place} (counting from 0) and test row "
                f"{test[is_tested[test].argmax()]} in an earlier split, too: a repeat must be "
                "another division of the rows"
            )
        is_tested[test] = True
    return splits


def each_row_once(
    splits: list[tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]], n: int
) -> list[tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]]:
    """Return the splits; refuse them unless each row is in one test set."""
    counts = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)
    if (counts != 1).any():
        row = int((counts != 1).argmax())
        raise ValueError(
            f"cv must put each observation in one test set, but row {row} (counting from 0) is in "
            f"{counts[row]}"
        )
    return splits


def _rows(rows: Any, n: int) -> Int[np.ndarray, " rows"]:
    """Return the places of rows, which may be given as a mask."""
    array = np.asarray(unmasked("a split of cv", rows))
    if array.dtype == bool and array.shape == (n,):
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim != 1 or not len(array):
        raise TypeError(
            "cv must yield pairs of training rows and test rows, as integers or as masks of "
            f"{n} rows, but it yields {array.dtype} values of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= n:
        wrong = array.min() if array.min() < 0 else array.max()
        raise ValueError(f"cv yields row {wrong}, but rows are counted from 0 to {n - 1}")
    return array.astype(np.intp)


def checked(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        X, y = indexable(X, y)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X and y must have one row per observation: {error}") from error
    rows, of_rows = Rows(unmasked("X", X), "X"), y
    values = as_array(y, "y")
    if values.dtype.kind == "O":
        missing = [row for row, item in enumerate(values.tolist()) if is_missing(item)]
        if missing:
            raise ValueError(
                f"y has a missing label at {IN_MEMORY.row(missing[0])}: give it a label or drop "
                "the row"
            )
    y = rows.arranged(column_or_1d(y, warn=True), of_rows, "y")
    rows.check_same(sample_weight, "sample_weight")
    check_classification_targets(y)
    labels = np.unique(y)
    if len(labels) < 2:
        problem = f"holds one class only ({as_scalar(labels[0])!r})" if len(labels) else "is empty"
        raise ValueError(f"y must hold at least two classes, but it {problem}")
    return X, y


@dataclass(eq=False, repr=False)
class IsoPerformanceClassifierCV(_SelectingClassifier):
    """A binary classifier with the threshold of least expected cost on its ROC curve.

    The scores of all folds of an internal cross-validation are merged. The threshold is taken where
    the iso-performance tangent touches their ROC curve, see
    `dmfroc.decisions.optimal_operating_points`. The estimator is fitted to all of the data.
    ``TunedThresholdClassifierCV`` of scikit-learn differs: it averages a metric over folds on a
    grid of thresholds, has no class ratio, and resolves ties by the grid.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba`` or ``decision_function``.
    prevalence : float, optional
        Assumed proportion of positives; by default that of the training set.
    cost_fp, cost_fn : float
        Costs of a false positive and of a false negative, as in
        `dmfroc.decisions.optimal_operating_points`. Equal costs maximise the accuracy.
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

    estimator: Any
    _: KW_ONLY
    prevalence: Any = None
    cost_fp: Any = 1.0
    cost_fn: Any = 1.0
    pos_label: Any = None
    tie_break: Any = "highest"
    placement: Any = "score"
    response_method: Any = "auto"
    cv: Any = 10
    n_jobs: Any = None
    random_state: Any = None

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
        X, y = checked(X, y, sample_weight)
        kind = type_of_target(y)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}; for "
                "more classes use ClassWeightsClassifierCV."
            )
        labels = np.unique(y)
        self.pos_label_ = labels[1] if self.pos_label is None else self.pos_label
        if np.ndim(self.pos_label_) > 0 or self.pos_label_ not in labels.tolist():
            raise ValueError(
                f"pos_label={self.pos_label!r} is not among the labels {labels.tolist()}"
            )
        self._response = self._method()
        self._is_second = bool(self.pos_label_ == labels[1])
        scores, weights = self._fit_estimator(X, y, sample_weight, self._response)
        is_positive = y == self.pos_label_
        for of_class in (is_positive, ~is_positive):
            if weights[of_class].sum() == 0:
                raise ValueError(
                    f"sample_weight is 0 for all of class {as_scalar(y[of_class][0])!r}"
                )
        cases = Cases(self.pos_label_, is_positive, self._scores_of_positive(scores), weights)
        points = count_points(cases)
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

    def positive_scores(self, X: Any) -> PerRow:
        """Return the scores of the positive class that `predict` compares with the threshold."""
        return self._scores_of_positive(getattr(self, self._response)(X))

    def _scores_of_positive(self, scores: Float[np.ndarray, "*n_and_k"]) -> PerRow:
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


@dataclass(eq=False, repr=False)
class ClassWeightsClassifierCV(_SelectingClassifier):
    """A classifier whose probabilities are multiplied by class weights before the largest wins.

    The probabilities of all folds of an internal cross-validation are merged, the class weights of
    least expected cost are selected on them (see `select_class_weights`), and the estimator
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

    estimator: Any
    _: KW_ONLY
    cost_matrix: Any = None
    prevalences: Any = None
    cv: Any = 10
    n_starts: Any = 20
    n_jobs: Any = None
    random_state: Any = None

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
        self.select(X, y, sample_weight)
        return self

    def select(self, X: Any, y: Any, sample_weight: Any) -> Float[np.ndarray, "n k"]:
        """Fit as `fit` does, and return the out-of-fold probabilities."""
        X, y = checked(X, y, sample_weight)
        labels, true = np.unique(y, return_inverse=True)
        costs = check_costs(self.cost_matrix, len(labels))
        scores, sample_weight = self._fit_estimator(X, y, sample_weight, "predict_proba")
        scores = scores.astype(float)
        weights = deployed_weights(true, sample_weight, self.prevalences, len(labels))
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        self.class_weights_, self.expected_cost_, self.unweighted_cost_ = optimise(
            log_scores(scores), true, weights, costs, self.n_starts, np.random.default_rng(seed)
        )
        return scores

    def predict(self, X: Any) -> Shaped[np.ndarray, " n"]:
        """Predict the class with the largest product of weight and probability."""
        probabilities = self.predict_proba(X).astype(float)
        return self.classes_[weighted_choice(probabilities, self.class_weights_)]
