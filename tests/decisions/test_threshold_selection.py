"""Classifiers that select thresholds and class weights, and their nested evaluation."""

import numpy as np
import pandas as pd
import pytest
from golden import golden
from prediction_samples import exactly
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from dmfroc.decisions import (
    ClassWeightsClassifierCV,
    IsoPerformanceClassifierCV,
    nested_class_weights,
    nested_threshold_selection,
    optimal_operating_points,
    select_class_weights,
)

WHY_DIFFERENT = {"check_classifiers_train": "deciding otherwise than the estimator is the purpose"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize(
    "classifier",
    [
        IsoPerformanceClassifierCV(LogisticRegression(), cv=3),
        ClassWeightsClassifierCV(LogisticRegression(), cv=3, n_starts=2),
    ],
)
def test_scikit_learn_conventions(classifier):
    outcomes = check_estimator(
        classifier, expected_failed_checks=WHY_DIFFERENT, on_skip=None, on_fail=None
    )
    problems = {o["check_name"]: o["exception"] for o in outcomes if o["status"] == "failed"}
    assert problems == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "xfail"} == set(WHY_DIFFERENT)
    assert sum(o["status"] == "passed" for o in outcomes) > 40


class GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose features are its probabilities: fitting it changes nothing."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        X = np.asarray(X)
        return np.hstack([1 - X, X]) if X.shape[1] == 1 else X

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def binary_sample(seed=0, n=200):
    X, y = make_classification(n, 5, weights=[0.7], flip_y=0.2, random_state=seed)
    return X, y


@pytest.mark.parametrize("case", golden("threshold_selection"))
def test_stored_optima(case):
    """The merged out-of-fold scores of given scores are these scores."""
    y, s = np.array(case["inputs"]["labels"]), np.array(case["inputs"]["scores"])
    options = {
        name: case["inputs"][name] for name in ("cost_fp", "cost_fn") if name in case["inputs"]
    }
    if "pos_weight" in case["inputs"]:
        positive, negative = (case["inputs"][f"{name}_weight"] for name in ("pos", "neg"))
        options["prevalence"] = positive / (positive + negative)
    classifier = IsoPerformanceClassifierCV(GivenScores(), cv=5, random_state=1, **options)
    classifier.fit(s[:, np.newaxis], y)
    assert classifier.threshold_ == case["expected"]["optimal_thresholds"][0]
    accuracies = [point.accuracy for point in classifier.optimum_.points]
    np.testing.assert_allclose(
        accuracies, case["expected"]["expected_accuracy_at_optimum"], atol=case["tolerance"]
    )
    lowest = classifier.set_params(tie_break="lowest").fit(s[:, np.newaxis], y)
    assert lowest.threshold_ == case["expected"]["optimal_thresholds"][-1]
    np.testing.assert_array_equal(
        lowest.predict(s[:, np.newaxis]), (s >= lowest.threshold_).astype(int)
    )


def test_threshold_is_the_optimum_of_merged_out_of_fold_scores():
    X, y = binary_sample()
    folds = StratifiedKFold(7, shuffle=True, random_state=3)
    scores = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    found = optimal_operating_points(y, scores, cost_fn=3)
    for cv in (folds, list(folds.split(X, y))):
        classifier = IsoPerformanceClassifierCV(GaussianNB(), cost_fn=3, cv=cv).fit(X, y)
        assert classifier.optimum_ == found
    numbered = IsoPerformanceClassifierCV(GaussianNB(), cost_fn=3, cv=7, random_state=3).fit(X, y)
    assert numbered.optimum_ == found
    middle = numbered.set_params(placement="midpoint").fit(X, y)
    assert middle.threshold_ == found.midpoints[0] < found.threshold()
    whole = GaussianNB().fit(X, y)
    np.testing.assert_array_equal(middle.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("pos_label", ["ill", "well"])
@pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC(random_state=0)])
def test_predictions_are_those_of_a_fixed_threshold(estimator, pos_label):
    X, y = binary_sample(1)
    y = np.where(y == 1, "well", "ill")
    classifier = IsoPerformanceClassifierCV(
        estimator, cost_fp=2, pos_label=pos_label, cv=3, random_state=0
    ).fit(X, y)
    fixed = FixedThresholdClassifier(
        estimator, threshold=classifier.threshold_, pos_label=pos_label
    ).fit(X, y)
    np.testing.assert_array_equal(classifier.predict(X), fixed.predict(X))
    has_probabilities = hasattr(estimator, "predict_proba")
    assert hasattr(classifier, "predict_proba") == has_probabilities
    assert classifier.default_threshold == (0.5 if has_probabilities else 0)
    by_default = classifier.positive_scores(X) >= classifier.default_threshold
    np.testing.assert_array_equal(by_default, classifier.estimator_.predict(X) == pos_label)


def test_swapped_positive_class_and_costs_mirror_the_threshold():
    X, y = binary_sample(2)
    one = IsoPerformanceClassifierCV(GaussianNB(), cost_fp=4, cv=5, random_state=0).fit(X, y)
    other = IsoPerformanceClassifierCV(
        GaussianNB(), cost_fn=4, pos_label=0, tie_break="lowest", cv=5, random_state=0
    ).fit(X, y)
    assert other.optimum_.expected_cost == pytest.approx(one.optimum_.expected_cost)


def test_weights_reach_estimator_and_curve():
    X, y = binary_sample(3, n=90)
    w = np.arange(90) % 3 + 1.0
    test_fold = PredefinedSplit(np.arange(90) % 5)
    copies = PredefinedSplit(np.repeat(np.arange(90) % 5, w.astype(int)))
    weighted = IsoPerformanceClassifierCV(GaussianNB(), cv=test_fold).fit(X, y, w)
    copied = IsoPerformanceClassifierCV(GaussianNB(), cv=copies).fit(
        np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
    )
    assert weighted.threshold_ == pytest.approx(copied.threshold_)
    assert weighted.optimum_.expected_cost == pytest.approx(copied.optimum_.expected_cost)
    assert weighted.n_features_in_ == X.shape[1]
    named = pd.DataFrame(X).add_prefix("x")
    assert weighted.fit(named, y, w).feature_names_in_.tolist() == named.columns.tolist()
    costs = [[0, 1], [3, 0]]
    weighted = ClassWeightsClassifierCV(
        GaussianNB(), cost_matrix=costs, cv=test_fold, random_state=0
    )
    assert weighted.fit(X, y, w).expected_cost_ == pytest.approx(
        ClassWeightsClassifierCV(GaussianNB(), cost_matrix=costs, cv=copies, random_state=0)
        .fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
        .expected_cost_
    )


def test_class_weights_are_selected_on_merged_out_of_fold_scores():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    names = np.array(["b", "c", "a"])[y]
    costs = np.array([[0, 1, 4], [1, 0, 1], [2, 1, 0]])
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    scores = cross_val_predict(GaussianNB(), X, names, cv=folds, method="predict_proba")
    prevalences = [0.2, 0.5, 0.3]
    found = select_class_weights(
        names, scores, cost_matrix=costs, prevalences=prevalences, random_state=5
    )
    classifier = ClassWeightsClassifierCV(
        GaussianNB(), cost_matrix=costs, prevalences=prevalences, cv=folds, random_state=5
    ).fit(X, names)
    np.testing.assert_array_equal(classifier.class_weights_, found.weights)
    assert classifier.expected_cost_ == found.expected_cost < found.unweighted_cost
    assert classifier.unweighted_cost_ == found.unweighted_cost
    probabilities = GaussianNB().fit(X, names).predict_proba(X)
    np.testing.assert_array_equal(classifier.predict(X), found.predict(probabilities))


def test_nested_selection_by_hand():
    X, y = binary_sample(4, n=120)
    outer = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    inner = StratifiedKFold(3)
    found = nested_threshold_selection(GaussianNB(), X, y, cv=outer, inner_cv=inner)
    scores, decided = np.zeros(120), np.zeros(120, int)
    for fold, (train, test) in enumerate(outer):
        merged = cross_val_predict(
            GaussianNB(), X[train], y[train], cv=inner, method="predict_proba"
        )
        threshold = optimal_operating_points(y[train], merged).threshold()
        scores[test] = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        decided[test] = scores[test] >= threshold
        assert found.thresholds[fold] == threshold
        assert found.selected_accuracies[fold] == accuracy_score(y[test], decided[test])
        assert found.default_accuracies[fold] == accuracy_score(y[test], scores[test] >= 0.5)
    assert found.auc == roc_auc_score(y, scores)
    areas = [roc_auc_score(y[test], scores[test]) for _, test in outer]
    assert found.mean_auc == pytest.approx(np.mean(areas))
    right, by_default = decided == y, (scores >= 0.5) == y
    # The folds are of equal size, so that the mean over folds is the mean over observations
    assert found.difference == pytest.approx(right.mean() - by_default.mean())
    gain = right.astype(int) - by_default.astype(int)
    assert found.standard_error == pytest.approx(np.std(gain, ddof=1) / np.sqrt(120))
    assert found.threshold_mean == pytest.approx(np.mean(found.thresholds))
    assert found.threshold_sd == pytest.approx(np.std(found.thresholds, ddof=1))
    assert f"AUC {found.auc:.3f}" in str(found)
    assert f"{found.difference:+.3f}" in str(found)


def test_nested_selection_uses_training_data_alone():
    """Labels of a test fold change nothing of its own threshold."""
    X, y = binary_sample(5, n=100)
    outer = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    one = nested_threshold_selection(GaussianNB(), X, y, cv=outer, inner_cv=3)
    changed = y.copy()
    changed[outer[0][1]] = 1 - changed[outer[0][1]]
    other = nested_threshold_selection(GaussianNB(), X, changed, cv=outer, inner_cv=3)
    assert one.thresholds[0] == other.thresholds[0]
    assert (one.thresholds[1:] != other.thresholds[1:]).any()


def test_infinite_thresholds_are_reported_as_such():
    y = np.arange(60) % 3 == 0
    scores = np.full((60, 1), 0.6)
    found = nested_threshold_selection(GivenScores(), scores, y, cv=4, inner_cv=3)
    assert found.threshold_mean == found.threshold_sd == np.inf
    assert found.selected_accuracy == pytest.approx(2 / 3)
    assert found.default_accuracy == pytest.approx(1 / 3)


COSTS = [[0, 1, 6], [2, 0, 1], [1, 3, 0]]


def test_nested_costs_by_hand():
    X, y = load_iris(return_X_y=True)
    X, costs = X[:, :2], np.array(COSTS)
    outer = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    inner = StratifiedKFold(4)
    prevalences = np.array([0.6, 0.1, 0.3])
    found = nested_class_weights(
        GaussianNB(), X, y, cost_matrix=costs, prevalences=prevalences, cv=outer, inner_cv=inner
    )
    merged = cross_val_predict(GaussianNB(), X, y, cv=inner, method="predict_proba")
    whole = select_class_weights(y, merged, cost_matrix=costs, prevalences=prevalences)
    assert found.in_sample.value == pytest.approx(whole.expected_cost)
    nested, unweighted = np.zeros(150), np.zeros(150)
    for (train, test), weights in zip(outer, found.class_weights, strict=True):
        merged = cross_val_predict(
            GaussianNB(), X[train], y[train], cv=inner, method="predict_proba"
        )
        expected = select_class_weights(
            y[train], merged, cost_matrix=costs, prevalences=prevalences
        )
        of_training = (prevalences / np.bincount(y[train]))[y[train]]
        losses = costs[y[train], (merged * weights).argmax(axis=1)]
        assert (of_training * losses).sum() == pytest.approx(expected.expected_cost)
        scores = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        nested[test] = costs[y[test], (scores * weights).argmax(axis=1)]
        unweighted[test] = costs[y[test], scores.argmax(axis=1)]
    for cost, losses in ((found.nested, nested), (found.unweighted, unweighted)):
        means = [losses[y == k].mean() for k in range(3)]
        assert cost.value == pytest.approx(prevalences @ means)
        variances = [losses[y == k].var(ddof=1) / 50 for k in range(3)]
        assert cost.standard_error == pytest.approx(np.sqrt(prevalences**2 @ variances))
    assert found.optimism == pytest.approx(found.nested.value - found.in_sample.value)
    assert f"{found.nested.value:.4f}" in str(found)


def test_optimism_is_visible_where_there_is_nothing_to_learn():
    """Scores without information: weights fit the noise, and only the nested cost says so."""
    generator = np.random.default_rng(0)
    optimism, apparent, gains = [], [], []
    for seed in range(8):
        scores = generator.dirichlet(np.ones(3), 60)
        y = np.arange(60) % 3
        found = nested_class_weights(
            GivenScores(), scores, y, cv=5, inner_cv=2, n_starts=10, random_state=seed
        )
        optimism.append(found.optimism)
        apparent.append(2 / 3 - found.in_sample.value)
        gains.append(2 / 3 - found.nested.value)
    assert np.min(apparent) > 0
    assert np.mean(optimism) > 0.05
    error = np.std(gains, ddof=1) / np.sqrt(8)
    assert np.mean(gains) < 4 * error


def test_seeds():
    X, y = binary_sample(7, n=80)
    options = {"cv": 4, "inner_cv": 3}
    one, same, other = (
        nested_threshold_selection(GaussianNB(), X, y, random_state=seed, **options)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.thresholds, same.thresholds)
    assert (one.thresholds != other.thresholds).any()
    classifiers = [
        ClassWeightsClassifierCV(GaussianNB(), cv=3, random_state=np.random.RandomState(4))
        for _ in range(2)
    ]
    weights = [classifier.fit(X, y).class_weights_ for classifier in classifiers]
    np.testing.assert_array_equal(*weights)


X, Y = binary_sample(8, n=40)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: IsoPerformanceClassifierCV(GaussianNB(), pos_label=7).fit(X, Y),
            ValueError,
            "pos_label=7 is not among the labels [0, 1]",
        ),
        (
            lambda: IsoPerformanceClassifierCV(GaussianNB(), tie_break="first").fit(X, Y),
            ValueError,
            "tie_break must be one of ('highest', 'lowest'), but it is 'first'",
        ),
        (
            lambda: IsoPerformanceClassifierCV(GaussianNB(), placement="gap").fit(X, Y),
            ValueError,
            "placement must be one of ('score', 'midpoint'), but it is 'gap'",
        ),
        (
            lambda: IsoPerformanceClassifierCV(GaussianNB(), response_method="proba").fit(X, Y),
            ValueError,
            "response_method must be one of ['auto', 'predict_proba', 'decision_function'], but "
            "it is 'proba'",
        ),
        (
            lambda: IsoPerformanceClassifierCV(LinearSVC(), response_method="predict_proba").fit(
                X, Y
            ),
            TypeError,
            "estimator LinearSVC() has no predict_proba",
        ),
        (
            lambda: IsoPerformanceClassifierCV(GaussianNB()).fit(X, np.arange(40) % 3),
            ValueError,
            "Only binary classification is supported. The type of the target is multiclass; for "
            "more classes use ClassWeightsClassifierCV.",
        ),
        (
            lambda: IsoPerformanceClassifierCV(GivenScores()).fit(X, Y, np.where(Y == 1, 0.0, 1.0)),
            ValueError,
            "sample_weight is 0 for all of class 1",
        ),
        (
            lambda: ClassWeightsClassifierCV(GaussianNB()).fit(X, np.zeros(40)),
            ValueError,
            "y must hold at least two classes, but it holds one class only (0.0)",
        ),
        (
            lambda: nested_class_weights(GaussianNB(), X, [0] * 39 + [1]),
            ValueError,
            "class 1 has one observation only, but cross-validation needs at least two of each "
            "class",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=exactly(message)):
        call()


def test_ten_folds_are_the_default():
    X, y = load_wine(return_X_y=True)
    default, ten, twenty = (
        ClassWeightsClassifierCV(GaussianNB(), n_starts=1, random_state=0, **options)
        .fit(X[:, :2], y)
        .class_weights_.tolist()
        for options in ({}, {"cv": 10}, {"cv": 20})
    )
    assert default == ten != twenty
