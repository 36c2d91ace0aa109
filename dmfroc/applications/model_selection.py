"""Measures as scorers of scikit-learn, and intervals for a learner by nested cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.parallel import Parallel, delayed

from dmfroc import Measure, Predictions
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    RandomState,
    Result,
    Rows,
    Spread,
    Table,
    check_estimator,
    check_finite,
    check_level,
    checked,
    choice,
    class_scores_of,
    get_measure,
    influences_on,
    integer,
    listed_measures,
    moments_of,
    scores_of,
    seed_of,
    splits_of,
    t_interval,
    track,
    units_of,
)
from dmfroc.measures import MEASURES
from dmfroc.results import Estimate

LearnerVariance = Literal["nested", "conservative_z"]
PerFold = Float[np.ndarray, " folds"]
_N_SPLITS = 15  # of all rows, and of each half, for the conservative Z


class MeasureScorer(BaseEstimator):  # type: ignore[misc]
    """A measure as a scorer: called with a fitted classifier, features and classes.

    Make it with `scorers`. It knows all classes of the classifier, also those that a fold lacks.
    With scikit-learn's metadata routing, ``set_score_request(sample_weight=True)`` lets it take
    weights.

    Parameters
    ----------
    measure : Measure
        What to compute; where it is an error, its negative is the score.
    """

    _MeasureScorer__metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(self, measure: Measure) -> None:
        self.measure = measure

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the measure of a fitted classifier.

        Parameters
        ----------
        estimator : scikit-learn classifier
            Fitted; for measures of scores with ``predict_proba`` or else ``decision_function``.
        X : array-like of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        sample_weight : array-like of shape (n,), optional
            Weights of the observations.

        Returns
        -------
        float
            Greater is better.

        Raises
        ------
        TypeError, ValueError
            If the classifier gives no score to each class, or as in `Predictions.from_arrays`.
        """
        if self.measure.needs == "labels":
            rows = Rows(X, "X")
            rows.check_same(y, "y")
            y_pred = rows.indexed(estimator.predict(X))
            predictions = Predictions.from_labels(
                y, y_pred, labels=estimator.classes_, sample_weight=sample_weight
            )
        else:
            predictions = Predictions.from_arrays(
                y,
                scores_of(estimator, X, y),
                labels=estimator.classes_,
                sample_weight=sample_weight,
            )
        value = self.measure(predictions)
        return value if self.measure.greater_is_better else -value

    __call__ = score


class _Scorers(dict[str, MeasureScorer]):
    """Scorers by name, one a line where they are printed."""

    def __repr__(self) -> str:
        size = max(map(len, self), default=0)
        lines = (f"{name:{size}}   scorer of {x.measure.title}" for name, x in self.items())
        return "\n".join(lines)


def scorers(measures: Any = ("dmf_auc", "hand_till", "informedness")) -> dict[str, MeasureScorer]:
    """Return measures as scorers, for ``scoring=`` of scikit-learn's functions.

    Parameters
    ----------
    measures : sequence of str or Measure, or one of them, or "all"
        Names of measures, or measures; all are those for any number of classes and of rows.

    Returns
    -------
    dict of str to MeasureScorer
        By name of the measure; errors as negative scores, ``"neg_..."``. It prints as a table.

    Raises
    ------
    TypeError, ValueError
        If there is no such measure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> result = cross_validate(GaussianNB(), X, y, scoring=scorers(["hand_till", "informedness"]))
    >>> result["test_hand_till"].round(3)
    array([1.   , 0.999, 0.994, 0.999, 1.   ])
    """
    named = listed_measures(measures)
    if not isinstance(named, list):
        three_classes = Predictions.from_arrays([0, 1, 2], np.eye(3))
        named = [m for m in MEASURES.values() if m.applies_to(three_classes)]
    chosen = map(get_measure, named)
    return _Scorers(
        (x.name if x.greater_is_better else f"neg_{x.name}", MeasureScorer(x)) for x in chosen
    )


@dataclass(frozen=True, eq=False, repr=False)
class NestedCrossValidation(Result):
    """A learner's performance with an interval that includes the variation of fits.

    Attributes
    ----------
    estimate : Estimate
        Value, corrected for the smaller training sets inside, standard error and interval.
    cross_validated : float
        The value of plain cross-validation, the mean over all repeats.
    bias : float
        By how much the nested value was corrected.
    naive_standard_error : float
        That of plain cross-validation, which takes the fits as given.
    n_fits : int
        Number of fits.
    """

    main_table = "estimates"
    json_names = ("n_fits",)

    estimate: Estimate
    cross_validated: float
    bias: float
    naive_standard_error: float
    n_fits: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know."""
        return self.estimate.warnings

    def tables(self) -> list[Table]:
        """Return the estimate, and plain cross-validation beside it."""
        columns = [
            Column("cross_validated", "plain cross-validation", [self.cross_validated]),
            Column("naive_standard_error", "its SE", [self.naive_standard_error]),
            Column("bias", "correction", [self.bias]),
        ]
        plain = Table("cross_validation", "Plain cross-validation", columns)
        return [*self.estimate.tables(), plain]


def nested_cross_validation(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: str | Measure = "dmf_auc",
    cv: int = 5,
    n_repeats: int = 20,
    variance: LearnerVariance = "nested",
    level: float = DEFAULT_LEVEL,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> NestedCrossValidation:
    """Estimate how well a learner does at this training size, by nested cross-validation.

    In each repeat every fold is held out once, and cross-validation inside the others estimates
    what the held-out fold then shows. How far the two differ, beyond the sampling of that fold, is
    the error of cross-validation as an estimate of the learner's performance. The conservative Z
    instead compares the values in two halves of the rows.

    Parameters
    ----------
    estimator : scikit-learn classifier
        With ``predict_proba`` or ``decision_function``.
    X : array-like of shape (n, p)
        Features.
    y : array-like of shape (n,)
        Labels.
    measure : str or Measure
        What to estimate, see `estimate`.
    cv : int
        Number of shuffled stratified folds, at least 3.
    n_repeats : int
        How often folds are drawn; each repeat fits ``cv * (cv + 1) / 2`` times. The variance is a
        small difference of noisy numbers: 20 are few, 100 are better.
    variance : {"nested", "conservative_z"}
        With ``"conservative_z"`` the value is the mean over 15 random splits, and 1 / `cv` of the
        rows is judged in each. Each repeat divides the rows into two halves, and takes the mean
        over 15 splits of each half, with as many rows judged. Half the mean squared difference of
        the two is the variance. It is too large, as each half has fewer rows to train on. Usual are
        ``cv=10`` and ``n_repeats=10``, with ``15 + 30 * n_repeats`` fits.
    level : float
        Nominal coverage, in (0, 1).
    n_jobs : int, optional
        Repeats at the same time.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the folds.

    Returns
    -------
    NestedCrossValidation
        Its ``estimate`` prints like any other.

    Raises
    ------
    TypeError, ValueError
        If the estimator gives no scores, a class has fewer observations than there are folds, or
        than twice as many for the conservative Z, or an option is out of its range.

    References
    ----------
    Bates, Hastie and Tibshirani (2024), Cross-validation: what does it estimate and how well does
    it do it?, Algorithm 1; where they have mean losses, here are a measure's values in the folds
    and the variances of their influences. Nadeau and Bengio (2003), Inference for the
    generalization error, on the conservative Z.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> found = nested_cross_validation(GaussianNB(), X[:, :2], y, measure="hand_till", n_repeats=5)
    >>> found.n_fits
    75
    >>> found.estimate.standard_error >= found.naive_standard_error
    True
    """
    chosen = get_measure(measure)
    check_level(level)
    cv, n_repeats = integer("cv", cv, 3), integer("n_repeats", n_repeats, 1)
    check_estimator(estimator)
    X, y = checked(X, y)
    labels, counts = np.unique(y, return_counts=True)
    in_halves = choice("variance", variance, get_args(LearnerVariance)) == "conservative_z"
    fewest = 2 * cv if in_halves else cv
    if counts.min() < fewest:
        parts = "each half needs one for each test set" if in_halves else "each fold needs one"
        raise ValueError(
            f"class {labels[counts.argmin()].item()!r} has {counts.min()} observations, fewer than "
            f"{f'twice the {cv}' if in_halves else f'the {cv} folds'}: {parts}"
        )
    n_jobs = None if n_jobs is None else integer("n_jobs", n_jobs, -(2**31), 2**31 - 1)
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: pass None for one job, -1 for all cores")
    seed, find = seed_of(random_state), _in_halves if in_halves else _in_nested_folds
    task = _Task(estimator, X, y, labels, chosen, cv)
    inside, cross_validated, naive, (error, freedom) = find(task, n_repeats, seed, n_jobs)
    check_finite(chosen, {"the classifier": cross_validated})
    bias = (1 + (cv - 2) / cv) * (inside - cross_validated)
    value = float(np.clip(inside - bias, *chosen.bounds))
    # No less than if the fits were given, no more than if all folds were one.
    error = float(np.clip(error, naive, np.inf if in_halves else np.sqrt(cv) * naive))
    ends = t_interval(value, Spread(error, freedom), 1 - level, chosen.bounds)
    return NestedCrossValidation(
        Estimate(
            measure=chosen.name,
            title=chosen.title,
            value=value,
            standard_error=error,
            interval=ends[:2],
            level=level,
            method="conservative_z" if in_halves else "nested_cross_validation",
            seed=seed,
        ),
        cross_validated,
        float(bias),
        naive,
        _N_SPLITS * (1 + 2 * n_repeats) if in_halves else n_repeats * cv * (cv + 1) // 2,
    )


class _Task(NamedTuple):
    """A learner, its data, and how it is judged."""

    estimator: Any
    X: Any
    y: Any
    labels: Any
    measure: Measure
    n_folds: int

    def fitted(self, train: Any) -> Any:
        """Return what the learner learns of some rows."""
        return clone(self.estimator).fit(rows_of(self.X, train), rows_of(self.y, train))

    def shown(self, fitted: Any, test: Any) -> Predictions:
        """Return predictions of other rows."""
        scores = class_scores_of(fitted, rows_of(self.X, test), self.labels)
        return Predictions.from_arrays(self.y[test], scores, labels=self.labels)

    def judged(self, fitted: Any, test: Any) -> tuple[float, float]:
        """Return the value in other rows, and its variance."""
        shown = self.shown(fitted, test)
        value, influences, _ = influences_on(self.measure, shown)
        return value, moments_of(influences, units_of(shown)).standard_error ** 2

    def of_splits(self, rows: Any, seed: int) -> tuple[float, float]:
        """Return the mean value in random splits of some of the rows, and its variance in one."""
        size = len(self.y) // self.n_folds
        splitter = StratifiedShuffleSplit(_N_SPLITS, test_size=size, random_state=seed % 2**32)
        splits = splitter.split(rows, self.y[rows])
        found = [self.judged(self.fitted(rows[train]), rows[test]) for train, test in splits]
        value, variance = np.mean(found, axis=0)
        return float(value), float(variance)

    def nested_repeat(self, seed: int) -> tuple[PerFold, PerFold, PerFold]:
        """Return cross-validation by the other folds, the value in the fold, and its variance."""
        n_folds = self.n_folds
        tests = [test for _, test in splits_of(n_folds, self.X, self.y, seed % 2**32)]
        fold = np.empty(len(self.y), int)
        for number, test in enumerate(tests):
            fold[test] = number
        inside = np.full((n_folds, n_folds), np.nan)  # by fold held out and fold judged
        held_out, variances = np.empty(n_folds), np.empty(n_folds)
        for first in range(n_folds):
            fitted = self.fitted(np.flatnonzero(fold != first))
            held_out[first], variances[first] = self.judged(fitted, tests[first])
            for second in range(first):
                fitted = self.fitted(np.flatnonzero((fold != first) & (fold != second)))
                for outer, judged in ((first, second), (second, first)):
                    inside[outer, judged] = self.measure(self.shown(fitted, tests[judged]))
        return np.nanmean(inside, axis=1), held_out, variances


def _in_nested_folds(
    task: _Task, n_repeats: int, seed: int, n_jobs: int | None
) -> tuple[float, float, float, Spread]:
    """Return the mean inside, that of plain cross-validation, its naive error, and the spread."""
    jobs = (delayed(task.nested_repeat)(seed + repeat) for repeat in range(n_repeats))
    finished = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    repeats = list(track(finished, n_repeats, "nested cross-validation"))
    nested, held_out, noise = map(np.stack, zip(*repeats, strict=True))
    mean_squared_error, n_folds = ((nested - held_out) ** 2).mean() - noise.mean(), task.n_folds
    error = float(np.sqrt(max((n_folds - 1) / n_folds * mean_squared_error, 0.0)))
    naive = float(np.sqrt(noise.mean() / n_folds))
    return float(nested.mean()), float(held_out.mean()), naive, Spread(error, nested.size - 1)


def _in_halves(
    task: _Task, n_repeats: int, seed: int, n_jobs: int | None
) -> tuple[float, float, float, Spread]:
    """Return the same of all rows, with the spread that halves of them show."""
    parts = [np.arange(len(task.y))]
    for repeat in range(n_repeats):
        parts += [test for _, test in splits_of(2, task.X, task.y, (seed + repeat) % 2**32)]
    jobs = (delayed(task.of_splits)(rows, seed + place) for place, rows in enumerate(parts))
    finished = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    means, noise = zip(*track(finished, len(parts), "conservative Z"), strict=True)
    gaps = np.diff(np.reshape(means[1:], (-1, 2)))
    naive = float(np.sqrt(noise[0] / task.n_folds))
    return means[0], means[0], naive, Spread(float(np.sqrt((gaps**2).mean() / 2)), np.inf)
