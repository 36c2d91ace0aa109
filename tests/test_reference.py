"""The stored numbers: what their recipe gives, and what other formulas give."""

import numpy as np
import pytest
from golden import assert_golden, golden, load
from reference import recipe
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score


@pytest.mark.parametrize("family", ["multiclass_auc", "multiclass_tables"])
def test_files_are_what_their_recipe_writes(family):
    for case in load(family):
        exact = recipe.expected_of(family, case["inputs"])
        assert case["expected"] == {name: recipe.as_floats(x) for name, x in exact.items()}
        assert case["exact"] == {name: str(exact[name]) for name in case["exact"]}


@pytest.mark.parametrize("case", golden("multiclass_auc"))
def test_areas_from_midranks(case):
    scores, classes = np.array(case["inputs"]["S"]), np.array(case["inputs"]["y"])
    n_classes = scores.shape[1]
    areas = np.zeros((n_classes, n_classes))
    for i in range(n_classes):
        for j in set(range(n_classes)) - {i}:
            of_pair = np.isin(classes, [i, j])
            ranks = rankdata(scores[of_pair, i])
            own = classes[of_pair] == i
            n_i, n_j = own.sum(), (~own).sum()
            areas[i, j] = (ranks[own].sum() - n_i * (n_i + 1) / 2) / (n_i * n_j)
    assert_golden(areas, case, "a_given")
    assert_golden(roc_auc_score(classes, scores, multi_class="ovo"), case, "hand_till_m")


@pytest.mark.parametrize("case", golden("multiclass_tables"))
def test_informedness_from_rates(case):
    table = np.array(case["inputs"]["C"], float)
    n, hits = table.sum(), np.diag(table)
    real, predicted = table.sum(axis=0), table.sum(axis=1)
    with np.errstate(invalid="ignore"):
        per_class = np.nan_to_num(hits / real - (predicted - hits) / (n - real))
    per_class[real == 0] = 0
    assert_golden(per_class, case, "informedness_per_class")
    assert_golden(predicted @ per_class / n, case, "informedness_bias_weighted")
    assert_golden(real @ per_class / n, case, "informedness_prevalence_weighted")
    assert_golden(per_class.mean(), case, "informedness_macro")
