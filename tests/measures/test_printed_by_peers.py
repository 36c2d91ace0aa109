"""Values that other packages print in their documentation, to the digits that they print."""

import numpy as np
import pytest

from dmfroc import evaluate
from dmfroc.applications import multilabel
from dmfroc.measures import get_measure

# pycm 3: the classes of its first example
ACTUAL = [2, 0, 2, 2, 0, 1, 1, 2, 2, 0, 1, 2]
PREDICTED = [0, 0, 2, 1, 0, 2, 1, 0, 2, 0, 2, 2]
OF_CLASSES = {
    "accuracy": (0.83333, 0.75, 0.58333),
    "f_beta(beta=0.5)": (0.65217, 0.45455, 0.57692),
    "f1": (0.75, 0.4, 0.54545),
    "f_beta(beta=2)": (0.88235, 0.35714, 0.51724),
    "precision": (0.6, 0.5, 0.6),
    "recall": (1.0, 0.33333, 0.5),
    "specificity": (0.77778, 0.88889, 0.66667),
    "negative_predictive_value": (1.0, 0.8, 0.57143),
    "false_discovery_rate": (0.4, 0.5, 0.4),
    "false_omission_rate": (0.0, 0.2, 0.42857),
    "miss_rate": (0.0, 0.66667, 0.5),
    "fallout": (0.22222, 0.11111, 0.33333),
    "fowlkes_mallows": (0.7746, 0.40825, 0.54772),
    "gmean": (0.88192, 0.54433, 0.57735),
    "jaccard": (0.6, 0.25, 0.375),
    "lift": (2.4, 2.0, 1.2),
    "correlation": (0.68313, 0.2582, 0.16903),
    "markedness": (0.6, 0.3, 0.17143),
    "informedness": (0.77778, 0.22222, 0.16667),
    "single_point_auc": (0.88889, 0.61111, 0.58333),
    "positive_likelihood_ratio": (4.5, 3.0, 1.5),
    "negative_likelihood_ratio": (0.0, 0.75, 0.75),
}
OF_ALL = {
    "f1_macro": 0.56515,
    "f1_micro": 0.58333,
    "precision_macro": 0.56667,
    "precision_micro": 0.58333,
    "recall_macro": 0.61111,
    "recall_micro": 0.58333,
    "accuracy": 0.58333,
    "cohen_kappa": 0.35484,
    "gwet_ac1": 0.38931,
    "scott_pi": 0.34426,
    "s_coefficient": 0.375,
    "gorodkin_correlation": 0.36667,
    "mutual_information": 0.52421 * np.log(2),  # in bits there
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_CLASSES)
def test_each_class_as_pycm_prints_it(name):
    found = evaluate(ACTUAL, y_pred=PREDICTED, measures=[name], pos_label=np.unique(ACTUAL))
    values = [next(iter(of_class.values())).value for of_class in found.values()]
    assert values == pytest.approx(OF_CLASSES[name], abs=5.1e-6)


@pytest.mark.parametrize("name", OF_ALL)
def test_all_classes_as_pycm_prints_them(name):
    assert get_measure(name)(ACTUAL, y_pred=PREDICTED) == pytest.approx(OF_ALL[name], abs=5.1e-6)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("f_beta_macro(beta=2)", 0.7963),
        ("f1_macro", 0.7778),
        ("precision_macro", 0.8333),
        ("recall_macro", 0.8333),
        ("jaccard_macro", 0.6667),
        ("specificity_macro", 0.8889),
        ("accuracy", 0.75),
        ("cohen_kappa", 0.6364),
        ("gorodkin_correlation", 0.7),
    ],
)
def test_several_classes_as_torchmetrics_prints_them(name, printed):
    found = get_measure(name)([2, 1, 0, 0], y_pred=[2, 1, 0, 1])
    assert found == pytest.approx(printed, abs=5.1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "printed", "of_labels"),
    [
        ("f_beta(beta=2)", 0.6111, (1.0, 0.0, 0.8333)),
        ("f1", 0.5556, (1.0, 0.0, 0.6667)),
        ("recall", 0.6667, (1.0, 0.0, 1.0)),
        ("jaccard", 0.5, (1.0, 0.0, 0.5)),
        ("accuracy", 0.6667, (1.0, 0.5, 0.5)),
    ],
)
def test_several_labels_as_torchmetrics_prints_them(name, printed, of_labels):
    true, hard = np.array([[0, 1, 0], [1, 0, 1]]), np.array([[0, 0, 1], [1, 0, 1]])
    found = multilabel(true, y_pred=hard, measure=name)
    assert found["classifier"].value == pytest.approx(printed, abs=5.1e-5)
    each = [of_label["classifier"].value for of_label in found.by_label.values()]
    assert each == pytest.approx(of_labels, abs=5.1e-5)
