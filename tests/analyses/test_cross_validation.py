"""Cross-validation: agreement with scikit-learn and with the published formulas."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logit
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc import compare, cross_validate, estimate
from dmfroc.applications import nested_cross_validation

WINE = load_wine(return_X_y=True)
X, Y = WINE[0][:, :2], WINE[1]


def test_two_classes_agree_with_scikit_learn():
    features, y = load_breast_cancer(return_X_y=True)
    cv = StratifiedKFold(4)
    found = cross_validate(GaussianNB(), features[:, 1:3], y, cv=cv, measures=["hand_till"])
    expected = cross_val_score(
        GaussianNB(), features[:, 1:3], y, cv=cv, scoring=get_scorer("roc_auc")
    )
    assert found.estimates["hand_till"].value == pytest.approx(expected.mean(), rel=1e-12)


def test_repeats_come_in_long_format():
    found = cross_validate(GaussianNB(), X, Y, cv=4, n_repeats=3, measures=["hand_till"])
    assert found.predictions.n_observations == 3 * len(Y)
    assert len(np.unique(found.predictions.folds)) == 12
    single = cross_validate(GaussianNB(), X, Y, cv=4, measures=["hand_till"])
    ratio = (
        found.estimates["hand_till"].standard_error / single.estimates["hand_till"].standard_error
    )
    assert 0.8 < ratio < 1.1


def test_groups_stay_together():
    twice = np.repeat(np.arange(len(Y)), 2)
    found = cross_validate(GaussianNB(), X[twice], Y[twice], groups=twice, measures=["hand_till"])
    single = cross_validate(GaussianNB(), X, Y, measures=["hand_till"])
    error = found.estimates["hand_till"].standard_error
    assert error == pytest.approx(single.estimates["hand_till"].standard_error, rel=0.2)


def test_corrected_resampling_is_nadeau_and_bengios():
    predictions = cross_validate(GaussianNB(), X, Y, cv=5, measures=["hand_till"]).predictions
    folds = predictions.folds
    values = np.array([_value(predictions, folds == f) for f in range(5)])
    found = estimate("hand_till", predictions, folds=dmfroc.Folds(folds, target="learner"))
    factor = 1 / 5 + 1 / 4
    assert found.value == pytest.approx(values.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(factor * values.var(ddof=1)), rel=1e-12)
    half = estimate(
        "hand_till", predictions, folds=dmfroc.Folds(folds, target="learner", train_fraction=0.5)
    )
    assert half.standard_error == pytest.approx(np.sqrt(1.2 * values.var(ddof=1)), rel=1e-12)


def _value(predictions, rows):
    part = predictions.rows(rows)
    return estimate("hand_till", part.true, part.scores).value


def test_corrected_comparison_is_a_t_test_of_the_folds():
    a = cross_validate(GaussianNB(), X, Y, measures=["hand_till"])
    b = cross_validate(GaussianNB(), X[:, :1], Y, measures=["hand_till"])
    folds = a.predictions.folds
    both = {"a": a.predictions, "b": b.predictions}
    [found] = compare(
        both, measures="hand_till", folds=dmfroc.Folds(folds, target="learner")
    ).differences
    gaps = np.array(
        [_value(a.predictions, folds == f) - _value(b.predictions, folds == f) for f in range(5)]
    )
    error = np.sqrt(0.45 * gaps.var(ddof=1))
    assert found.value == pytest.approx(gaps.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(gaps.mean()) / error, 4), rel=1e-9)
    assert found.probability_better == pytest.approx(1 - found.p_value / 2, rel=1e-9)


@pytest.mark.slow
def test_nested_cross_validation():
    found = nested_cross_validation(GaussianNB(), X, Y, measure="hand_till", cv=4, n_repeats=5)
    plain = cross_validate(GaussianNB(), X, Y, cv=4, n_repeats=5, measures=["hand_till"])
    assert found.n_fits == 5 * (4 + 6)
    assert found.cross_validated == pytest.approx(plain.estimates["hand_till"].value, rel=1e-12)
    assert found.estimate.value == pytest.approx(found.cross_validated, abs=0.02)
    error = found.estimate.standard_error
    assert found.naive_standard_error <= error <= 2 * found.naive_standard_error
    error = found.estimate.standard_error / (found.estimate.value * (1 - found.estimate.value))
    low, high = np.log(np.divide(found.estimate.interval, np.subtract(1, found.estimate.interval)))
    assert high - low == pytest.approx(2 * stats.t.ppf(0.975, 4 * 5 - 1) * error, rel=1e-9)
    again = nested_cross_validation(
        GaussianNB(), X, Y, measure="hand_till", cv=4, n_repeats=5, n_jobs=2
    )
    assert again.estimate == found.estimate
    assert found.estimate.method in str(found)


def test_conservative_z_is_nadeau_and_bengios():
    """The variance is half the mean squared difference of halves, with as many rows judged."""

    def mean_of_splits(rows, seed):
        splits = StratifiedShuffleSplit(15, test_size=len(Y) // 5, random_state=seed)
        values = []
        for train, test in splits.split(rows, Y[rows]):
            fitted = GaussianNB().fit(X[rows[train]], Y[rows[train]])
            values.append((fitted.predict(X[rows[test]]) == Y[rows[test]]).mean())
        return np.mean(values)

    options = {"measure": "accuracy", "cv": 5, "n_repeats": 3, "variance": "conservative_z"}
    found = nested_cross_validation(GaussianNB(), X, Y, random_state=7, **options)
    halves = [
        test
        for repeat in range(3)
        for _, test in StratifiedKFold(2, shuffle=True, random_state=7 + repeat).split(X, Y)
    ]
    means = [mean_of_splits(rows, 8 + place) for place, rows in enumerate(halves)]
    error = np.sqrt(np.mean(np.subtract(means[::2], means[1::2]) ** 2) / 2)
    estimate = found.estimate
    assert estimate.value == pytest.approx(mean_of_splits(np.arange(len(Y)), 7), rel=1e-12)
    assert estimate.standard_error == pytest.approx(max(error, found.naive_standard_error))
    assert error > found.naive_standard_error / 2
    low, high = logit(estimate.interval)
    scale = estimate.standard_error / (estimate.value * (1 - estimate.value))
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * scale, rel=1e-9)
    assert (found.n_fits, found.bias, estimate.method) == (15 * 7, 0, "conservative_z")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "has a method of its own"),
        ({"method": dmfroc.Bootstrap(100)}, "has a method of its own"),
        ({"folds": dmfroc.Folds(target="learner")}, "target='learner' needs folds"),
    ],
)
def test_bad_targets_are_refused(options, message):
    folds = dmfroc.Folds(np.arange(len(Y)) % 4, "learner")
    scores = np.eye(3)[Y]
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", Y, scores, **({"folds": folds} | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "fit"}, "target must be one of"),
        ({"target": "learner", "train_fraction": 1.0}, "train_fraction must be in"),
        ({"train_fraction": 0.5}, "train_fraction is an option of target='learner'"),
    ],
)
def test_bad_folds_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.Folds([1, 2], **options)


@pytest.mark.parametrize(
    ("function", "options", "kind", "message"),
    [
        (cross_validate, {"n_repeats": 0}, ValueError, "n_repeats must be an integer >= 1"),
        (cross_validate, {"n_repeats": 2, "cv": StratifiedKFold(3)}, ValueError, "unless cv is"),
        (nested_cross_validation, {"cv": 2}, ValueError, "cv must be an integer >= 3"),
        (nested_cross_validation, {"cv": 60}, ValueError, "class 2 has 48 observations, fewer"),
        (
            nested_cross_validation,
            {"cv": 25, "variance": "conservative_z"},
            ValueError,
            "class 2 has 48 observations, fewer than twice the 25: each half needs one",
        ),
        (nested_cross_validation, {"variance": "z"}, ValueError, "variance must be one of"),
    ],
)
def test_bad_options_are_refused(function, options, kind, message):
    with pytest.raises(kind, match=message):
        function(GaussianNB(), X, Y, **options)


class Reversed(GaussianNB):
    """An estimator whose columns are in the reverse order, as its classes_ say."""

    def fit(self, X, y):
        super().fit(X, y)
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, ::-1]


class ReversedDecision(RidgeClassifier):
    """An estimator of two classes whose decision function is that of the first."""

    def fit(self, X, y):
        self.inner_ = RidgeClassifier().fit(X, y)
        return self

    @property
    def classes_(self):
        return self.inner_.classes_[::-1]

    def decision_function(self, X):
        return -self.inner_.decision_function(X)


@pytest.mark.parametrize("rows", [Y < 3, Y < 2])
def test_columns_are_those_of_the_classes(rows):
    value = {
        estimator: cross_validate(estimator, X[rows], Y[rows], measures=["hand_till"])
        for estimator in (GaussianNB(), Reversed())
    }
    plain, other = (found.estimates["hand_till"] for found in value.values())
    assert other.value == plain.value > 0.8
    nested = [
        nested_cross_validation(estimator, X[rows], Y[rows], measure="hand_till", cv=3, n_repeats=1)
        for estimator in (GaussianNB(), Reversed())
    ]
    assert nested[0].estimate == nested[1].estimate


def test_decisions_are_those_of_the_second_class():
    rows = Y < 2
    plain, other = (
        cross_validate(estimator, X[rows], Y[rows], measures=["hand_till"]).estimates["hand_till"]
        for estimator in (RidgeClassifier(), ReversedDecision())
    )
    assert other.value == plain.value


EVEN, ODD = np.arange(len(Y)) % 2 == 0, np.arange(len(Y)) % 2 == 1
A, B = np.flatnonzero(EVEN), np.flatnonzero(ODD)


@pytest.mark.parametrize(
    ("cv", "kind", "message"),
    [
        ([(A, B)] * 2, ValueError, "training rows of split 1 .* test row 1 in an earlier split"),
        ([(A, B), (A[::-1], B[3:])], ValueError, "training rows of split 1 .* test row 7 in an"),
        ([(A, B)], ValueError, "cv yields 1 split: give two or more"),
        ([(A, B), (B, A), (A[::-1], B[::-1])], ValueError, "training rows of split 2"),
        ([(A, B), (B, np.append(A, 0))], ValueError, "cv names test row 0 twice in split 1"),
        ([(A, B), (B, A - 2)], ValueError, "cv yields row -2, but rows are counted from 0 to 177"),
        ([(A, B), (B, A + 9)], ValueError, "cv yields row 185"),
        ([(A, B), (B, A / 2)], TypeError, "cv must yield pairs .* but it yields float64 values"),
        ([(A, B), (B, [])], TypeError, "cv must yield pairs"),
        ([], ValueError, "cv yields no split"),
        ([A, B], TypeError, "cv must yield pairs .* it yields a ndarray"),
        ([(A, B, A)], TypeError, "cv must yield pairs .* it yields a tuple"),
        ([1, 2], TypeError, "cv must yield pairs .* it yields a int"),
        ("five", TypeError, "cv must be a number of folds, a splitter or pairs of training"),
        (2.5, TypeError, "cv must be a number of folds, a splitter or pairs .* of type float"),
        (True, TypeError, "cv must be an integer >= 2"),
        (1, ValueError, "cv must be an integer >= 2"),
    ],
)
def test_splits_that_count_rows_twice_or_are_none_are_refused(cv, kind, message):
    with pytest.raises(kind, match=message):
        cross_validate(GaussianNB(), X, Y, cv=cv)


def test_splits_may_be_masks():
    rows, masks = (
        cross_validate(GaussianNB(), X, Y, cv=cv, measures=["hand_till"]).estimates
        for cv in ([(A, B), (B, A)], [(EVEN, ODD), (ODD, EVEN)])
    )
    assert rows == masks


def test_labels_and_groups_are_matched_by_the_index_of_the_features():
    order = np.random.default_rng(0).permutation(len(Y))
    names = pd.Index([f"case {row}" for row in range(len(Y))])
    patient = np.arange(len(Y)) // 2
    options = {"measures": ["hand_till"]}
    plain = cross_validate(GaussianNB(), X, Y, groups=patient, **options)
    found = cross_validate(
        GaussianNB(),
        pd.DataFrame(X, index=names),
        pd.Series(Y, names).iloc[order],
        groups=pd.Series(patient, names).iloc[order[::-1]],
        **options,
    )
    assert found.estimates == plain.estimates
    with pytest.raises(ValueError, match="of X and y hold the same values in another order"):
        cross_validate(GaussianNB(), pd.DataFrame(X), pd.Series(Y, order))


def test_estimators_without_scores_are_refused():
    with pytest.raises(TypeError, match="must be a fitted classifier that gives scores"):
        cross_validate(LinearRegression(), X, Y)


def test_nested_intervals_are_around_the_value():
    found = nested_cross_validation(
        GaussianNB(), X, Y, measure="accuracy", cv=3, n_repeats=2
    ).estimate
    low, high = found.interval
    assert low < found.value < high
    half_width = stats.t.ppf(0.975, 3 * 2 - 1) * found.standard_error
    assert high - low == pytest.approx(2 * half_width, rel=0.1)


@pytest.mark.parametrize(("n", "is_few"), [(100, True), (200, False)])
def test_few_observations_of_a_class_in_folds_get_a_warning(n, is_few):
    """Intervals of 100 in five folds held the risk of the fits in 88 to 96 % of samples."""
    y = np.arange(n) % 2
    scores = np.random.default_rng(0).normal(size=n) + y
    found = estimate("hand_till", y, scores, folds=np.arange(n) // 2 % 5)
    assert any("fits of folds share rows" in x for x in found.warnings) == is_few


def test_the_first_class_that_a_training_set_lacks_is_named():
    y = np.repeat([1, 2, 8], 20)
    folds = [(np.arange(20, 40), np.r_[0:20, 40:60]), (np.r_[0:20, 40:60], np.arange(20, 40))]
    with pytest.raises(ValueError, match="a training set lacks class 1: stratify"):
        cross_validate(GaussianNB(), X[:60], y, cv=folds)


def test_a_ratio_in_folds_of_few_rows_is_not_taken_for_that_of_all():
    rng, n = np.random.default_rng(5), 100
    y = rng.integers(0, 2, n)
    y_pred = (rng.normal(size=n) + 2 * y - 1 > 0).astype(int)
    # In a fold without a false alarm, the precision is 1 whatever the prevalence.
    options = {"y_pred": y_pred, "population": 0.02}
    of_all = estimate("precision", y, **options)
    in_folds = estimate("precision", y, folds=np.arange(n) % 10, **options)
    assert in_folds.value > of_all.interval[1]
    assert of_all.interval[0] < in_folds.bias_corrected < of_all.interval[1]
    assert in_folds.interval[0] < of_all.value < in_folds.interval[1]


def test_a_mean_over_small_folds_that_is_not_the_value_of_all_rows_is_told():
    rng, n = np.random.default_rng(1), 150
    y = np.repeat([0, 1, 2], n // 3)
    logits = 1.4 * (rng.normal(size=(n, 3)) + 1.4 * np.eye(3)[y])
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    options = {"folds": np.arange(n) % 10, "population": {0: 0.05, 1: 0.05, 2: 0.9}}
    told = {
        measure: any("for all rows at once" in text for text in found.warnings)
        for measure in ("average_precision", "hand_till", "brier_score", "accuracy")
        for found in [estimate(measure, y, scores, **options)]
    }
    assert told == dict.fromkeys(told, False) | {"average_precision": True}
