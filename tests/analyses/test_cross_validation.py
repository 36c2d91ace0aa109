"""Cross-validation: agreement with scikit-learn and with the published formulas."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from dmfroc import compare, cross_validate, estimate, nested_cross_validation

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
    found = estimate("hand_till", predictions, folds=folds, target="algorithm")
    factor = 1 / 5 + 1 / 4
    assert found.value == pytest.approx(values.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(factor * values.var(ddof=1)), rel=1e-12)
    half = estimate("hand_till", predictions, folds=folds, target="algorithm", train_fraction=0.5)
    assert half.standard_error == pytest.approx(np.sqrt(1.2 * values.var(ddof=1)), rel=1e-12)


def _value(predictions, rows):
    part = predictions.rows(rows)
    return estimate("hand_till", part.true, part.scores).value


def test_corrected_comparison_is_a_t_test_of_the_folds():
    a = cross_validate(GaussianNB(), X, Y, measures=["hand_till"])
    b = cross_validate(GaussianNB(), X[:, :1], Y, measures=["hand_till"])
    folds = a.predictions.folds
    both = {"a": a.predictions, "b": b.predictions}
    [found] = compare(both, measure="hand_till", folds=folds, target="algorithm").differences
    gaps = np.array(
        [_value(a.predictions, folds == f) - _value(b.predictions, folds == f) for f in range(5)]
    )
    error = np.sqrt(0.45 * gaps.var(ddof=1))
    assert found.value == pytest.approx(gaps.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(gaps.mean()) / error, 4), rel=1e-9)
    assert found.probability_better == pytest.approx(1 - found.p_value / 2, rel=1e-9)


def test_nested_cross_validation():
    found = nested_cross_validation(GaussianNB(), X, Y, "hand_till", cv=4, n_repeats=5)
    plain = cross_validate(GaussianNB(), X, Y, cv=4, n_repeats=5, measures=["hand_till"])
    assert found.n_fits == 5 * (4 + 6)
    assert found.cross_validated == pytest.approx(plain.estimates["hand_till"].value, rel=1e-12)
    assert found.estimate.value == pytest.approx(found.cross_validated, abs=0.02)
    error = found.estimate.standard_error
    assert found.naive_standard_error <= error <= 2 * found.naive_standard_error
    again = nested_cross_validation(GaussianNB(), X, Y, "hand_till", cv=4, n_repeats=5, n_jobs=2)
    assert again.estimate == found.estimate
    assert found.estimate.method in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "algorithm", "method": "bootstrap"}, "has a method of its own"),
        ({"target": "algorithm", "n_draws": 100}, "n_draws is no option here"),
        ({"target": "algorithm", "train_fraction": 1.0}, "train_fraction must be between"),
        ({"train_fraction": 0.5}, "train_fraction is an option of target='algorithm'"),
        ({"target": "algorithm", "folds": None}, "target='algorithm' needs folds="),
    ],
)
def test_bad_targets_are_refused(options, message):
    folds = np.arange(len(Y)) % 4
    scores = np.eye(3)[Y]
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", Y, scores, **({"folds": folds} | options))


@pytest.mark.parametrize(
    ("function", "options", "kind", "message"),
    [
        (cross_validate, {"n_repeats": 0}, ValueError, "n_repeats must be >= 1"),
        (cross_validate, {"n_repeats": 2, "cv": StratifiedKFold(3)}, ValueError, "unless cv is"),
        (nested_cross_validation, {"cv": 2}, ValueError, "cv must be >= 3"),
        (nested_cross_validation, {"cv": 60}, ValueError, "class 2 has 48 observations, fewer"),
    ],
)
def test_bad_options_are_refused(function, options, kind, message):
    with pytest.raises(kind, match=message):
        function(GaussianNB(), X, Y, **options)


def test_estimators_without_scores_are_refused():
    with pytest.raises(TypeError, match="must be a fitted classifier that gives scores"):
        cross_validate(LinearRegression(), X, Y)


def test_nested_intervals_are_around_the_value():
    found = nested_cross_validation(GaussianNB(), X, Y, "accuracy", cv=3, n_repeats=2).estimate
    low, high = found.interval
    assert low < found.value < high
    half_width = stats.norm.ppf(0.975) * found.standard_error
    assert high - low == pytest.approx(2 * half_width, rel=0.1)


def test_the_first_class_that_a_training_set_lacks_is_named():
    y = np.repeat([1, 2, 8], 20)
    folds = [(np.arange(20, 40), np.r_[0:20, 40:60])]
    with pytest.raises(ValueError, match="a training set lacks class 1: stratify"):
        cross_validate(GaussianNB(), X[:60], y, cv=folds)
