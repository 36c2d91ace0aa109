"""Measures in scikit-learn's cross-validation and searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import dmfroc

X, Y = load_wine(return_X_y=True)
X = X[:, :3]


def test_values_are_those_of_the_measures():
    model = GaussianNB().fit(X[::2], Y[::2])
    found = {
        name: score(model, X[1::2], Y[1::2])
        for name, score in dmfroc.applications.scorers().items()
    }
    evaluation = dmfroc.evaluate(Y[1::2], model.predict_proba(X[1::2]))
    expected = {name: estimate.value for name, estimate in evaluation.estimates.items()}
    assert found == pytest.approx(expected, rel=1e-12)


def test_errors_are_negative_scores():
    model = GaussianNB().fit(X, Y)
    scorer = dmfroc.applications.scorers(["entropy_real_given_predicted"])[
        "neg_entropy_real_given_predicted"
    ]
    table = dmfroc.measures.ContingencyTable.from_labels(Y, model.predict(X))
    expected = -table.measures()["entropy_real_given_predicted"]
    assert scorer(model, X, Y) == pytest.approx(expected, rel=1e-12)


def test_models_with_a_decision_function_only():
    scores = cross_val_score(
        RidgeClassifier(), X, Y, scoring=dmfroc.applications.scorers()["hand_till"]
    )
    assert np.all((scores > 0.5) & (scores <= 1))


def test_two_classes_by_name():
    is_two = Y < 2
    names = np.array(["white", "red"])[Y[is_two]]
    scorer = dmfroc.applications.scorers(["hand_till"])["hand_till"]
    for model in (RidgeClassifier(), GaussianNB()):
        expected = cross_val_score(model, X[is_two], names, scoring="roc_auc")
        np.testing.assert_allclose(
            cross_val_score(model, X[is_two], names, scoring=scorer), expected, rtol=1e-12
        )


@pytest.mark.filterwarnings("ignore:1 class")
def test_folds_may_lack_a_class():
    folds = KFold(n_splits=20, shuffle=True, random_state=0)
    lacking = [len(set(Y[test])) < 3 for _, test in folds.split(X)]
    assert any(lacking)
    result = cross_validate(
        GaussianNB(), X, Y, cv=folds, scoring=dmfroc.applications.scorers(), error_score="raise"
    )
    assert np.isfinite(result["test_hand_till"]).all()


def test_searches_refit_by_a_measure():
    search = GridSearchCV(
        LogisticRegression(solver="newton-cholesky"),
        {"C": [1e-6, 1.0]},
        scoring=dmfroc.applications.scorers(["hand_till", "informedness"]),
        refit="informedness",
    ).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}


def test_weights_are_routed():
    weights = np.where(Y == 0, 3.0, 1.0) * (1 + np.arange(len(Y)) % 2)
    scorer = dmfroc.applications.scorers(["accuracy"])["accuracy"]
    with config_context(enable_metadata_routing=True):
        weighted = cross_validate(
            GaussianNB().set_fit_request(sample_weight=False),
            X,
            Y,
            scoring={"accuracy": clone(scorer).set_score_request(sample_weight=True)},
            params={"sample_weight": weights},
        )["test_accuracy"]
        plain = cross_val_score(GaussianNB(), X, Y, scoring="accuracy")
    assert not np.allclose(weighted, plain)
    model = GaussianNB().fit(X, Y)
    assert scorer(model, X, Y, sample_weight=weights) == pytest.approx(
        np.average(model.predict(X) == Y, weights=weights), rel=1e-12
    )


class Wrapper(ClassifierMixin, BaseEstimator):
    """Passes everything on, and shows nothing of what is inside."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X, y):
        self._fitted = clone(self.inner).fit(X, y)
        self.classes_ = self._fitted.classes_
        return self

    def predict(self, X):
        return self._fitted.predict(X)

    def decision_function(self, X):
        return self._fitted.decision_function(X)


PAIRS = SVC(decision_function_shape="ovo")
SHAPE = "decision_function_shape"
SHAPES = {SHAPE: ["ovo"]}


@pytest.mark.parametrize(
    "model",
    [
        PAIRS,
        GridSearchCV(SVC(), SHAPES),
        make_pipeline(StandardScaler(), GridSearchCV(SVC(), SHAPES)),
        GridSearchCV(make_pipeline(StandardScaler(), SVC()), {f"svc__{SHAPE}": ["ovo"]}),
        RFE(SVC(kernel="linear", decision_function_shape="ovo"), n_features_to_select=2),
        Wrapper(PAIRS),
        Wrapper(Wrapper(GridSearchCV(SVC(kernel="linear"), SHAPES))),
    ],
    ids=range(7),
)
def test_scores_of_pairs_of_classes_are_refused(model):
    fitted = clone(model).fit(X, Y)
    for function in (
        lambda: dmfroc.applications.scorers()["hand_till"](fitted, X, Y),
        lambda: dmfroc.plots.ROCDisplay.from_estimator(fitted, X, Y),
        lambda: dmfroc.cross_validate(model, X, Y, measures=["hand_till"]),
    ):
        with pytest.raises(TypeError, match=r"one score per class.*shape='ovr'"):
            function()


def test_scores_of_six_pairs_of_four_classes_are_refused():
    y = np.arange(len(Y)) % 4
    with pytest.raises(TypeError, match=r"decision function of shape \(178, 6\)"):
        dmfroc.applications.scorers()["hand_till"](Wrapper(PAIRS).fit(X, y), X, y)


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        LinearSVC(),
        RidgeClassifier(),
        LinearDiscriminantAnalysis(),
        OneVsOneClassifier(LinearSVC()),
        OneVsRestClassifier(PAIRS),
        GridSearchCV(PAIRS, {"decision_function_shape": ["ovr"]}),
        Wrapper(SVC(kernel="linear", C=0.01)),
        AdaBoostClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("labels", [Y, np.random.default_rng(0).integers(7, size=len(Y))])
def test_scores_of_classes_are_taken(model, labels):
    assert (
        0.4
        < dmfroc.applications.scorers()["hand_till"](clone(model).fit(X, labels), X, labels)
        <= 1
    )


def test_labels_in_another_order_are_refused():
    model = GaussianNB().fit(X, Y)
    order = np.random.default_rng(0).permutation(len(Y))
    features, labels = pd.DataFrame(X), pd.Series(Y).iloc[order]
    for name in ("hand_till", "accuracy"):
        with pytest.raises(ValueError, match="indexes of X and y hold the same values in another"):
            dmfroc.applications.scorers([name])[name](model, features, labels)


def test_all_scorers_apply_to_any_number_of_classes():
    X, y = load_wine(return_X_y=True)
    found = cross_validate(
        GaussianNB(), X, y, scoring=dmfroc.applications.scorers("all"), error_score="raise", cv=3
    )
    assert {"test_dmf_auc", "test_neg_log_loss", "test_accuracy"} <= set(found)
    assert "test_f1" not in found
