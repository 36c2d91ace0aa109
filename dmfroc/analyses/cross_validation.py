"""Cross-validation of scikit-learn estimators, with intervals for these fits or for the learner."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing as rows_of

from dmfroc._kit.options import RandomState, integer, seed_of
from dmfroc._kit.progress import track
from dmfroc.analyses.catalogue import Measures
from dmfroc.analyses.evaluation import Evaluation, evaluate
from dmfroc.inference.method import IntervalMethod, Method
from dmfroc.inference.options import DEFAULT_LEVEL
from dmfroc.inputs.arrays import Rows, row_names
from dmfroc.inputs.estimators import class_scores_of
from dmfroc.inputs.of_rows import Folds, Target
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.splits import check_estimator, checked, splits_of


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    measures: Measures = None,
    groups: Any = None,
    target: Target = "fits",
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
) -> Evaluation:
    """Cross-validate a scikit-learn classifier, and evaluate its out-of-fold scores.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba`` or ``decision_function``.
    X : array-like of shape (n, p)
        Features, as the estimator takes them.
    y : array-like of shape (n,)
        Labels.
    cv : int, cross-validation generator or iterable
        A number is that of shuffled stratified folds, which keep `groups` together. Splits may
        hold rows or masks. No two splits may be the same.
    n_repeats : int
        How often a number of folds is drawn anew.
    measures, method, level
        As for `evaluate`.
    groups : array-like of shape (n,), optional
        Patient, document, ... of each observation.
    target : {"fits", "learner"}
        As for `estimate`.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the folds.

    Returns
    -------
    Evaluation
        Its `predictions` have one row per observation and repeat.

    Raises
    ------
    TypeError, ValueError
        If the estimator gives no scores, a fold lacks a class, `n_repeats` is given with folds that
        are no number, or as for `evaluate`.

    References
    ----------
    LeDell, Petersen and van der Laan (2015), Computationally efficient confidence intervals for
    cross-validated area under the ROC curve estimates; Nadeau and Bengio (2003), Inference for the
    generalization error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> found = cross_validate(GaussianNB(), X[:, :2], y, measures=["hand_till"])
    >>> print(found.estimates["hand_till"])
    hand_till 0.9113 (95 % jackknife interval 0.8656 to 0.9449)
    Folds: 5
    warning: report that 95 % intervals may cover 88 to 96 %: fits of folds share
      rows, and the rarest class has 48 observations in all
    """
    rows, of_y = Rows(X, "X"), y
    check_estimator(estimator)
    X, y = checked(X, y)
    rows.order(of_y, "y")
    seed = seed_of(random_state)
    n_repeats = integer("n_repeats", n_repeats, 1)
    if n_repeats > 1 and not isinstance(cv, Integral):
        raise ValueError(
            f"n_repeats must be 1 unless cv is a number of folds, but it is {n_repeats}"
        )
    if groups is not None:
        groups = row_names(groups, "groups", len(y), rows, "a group")
    splits = [
        (f"{repeat}.{fold}", train, test)
        for repeat in range(n_repeats)
        for fold, (train, test) in enumerate(splits_of(cv, X, y, (seed + repeat) % 2**32, groups))
    ]
    labels = np.unique(y)
    parts = []
    for name, train, test in track(splits, len(splits), "cross-validation"):
        fitted = clone(estimator).fit(rows_of(X, train), rows_of(y, train))
        parts.append((name, test, class_scores_of(fitted, rows_of(X, test), labels)))
    names, tests, scores = zip(*parts, strict=True)
    tested = np.concatenate(tests)
    predictions = Predictions.from_arrays(y[tested], np.concatenate(scores), labels=labels)
    units = groups
    if units is None and len(np.unique(tested)) < len(tested):
        units = np.arange(len(y))
    return evaluate(
        predictions,
        measures=measures,
        folds=Folds(np.repeat(names, list(map(len, tests))), target),
        groups=None if units is None else units[tested],
        method=method,
        level=level,
    )
