"""Other links: the logit's solver, the general factorization, and what does not depend on them."""

import numpy as np
import pytest
from scipy import special
from simulations import normal_scores

from dmfroc import dmf, multiclass_roc
from dmfroc.multiclass.center import center
from dmfroc.multiclass.higher_rank import fit_center
from dmfroc.multiclass.links import link_of, log_rates

CLASSES, SCORES = normal_scores(2, 150, 3, 0.8)
OTHERS = pytest.mark.parametrize("link", ["probit", "cloglog"])


def test_the_logit_is_fitted_as_by_its_own_solver():
    curve = multiclass_roc(CLASSES, SCORES, n_thresholds=9)
    rates = np.stack([curve.pairwise_tpr, curve.pairwise_fpr], axis=1)
    weights = np.ones((6, 2, 1))
    expected, found = center(rates, weights, 1e-9), fit_center(rates, weights, 1e-9, 1, "logit")
    assert found.converged
    np.testing.assert_allclose(found.row_effect, expected.row_effect, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.pair_effect, expected.column_effect, rtol=0, atol=1e-6)


@OTHERS
def test_without_shrinkage_the_curve_is_that_of_the_general_factorization(link):
    curve = multiclass_roc(CLASSES, SCORES, n_thresholds=9, shrinkage=0, link=link)
    assert curve.converged
    rates = np.stack([curve.pairwise_tpr, curve.pairwise_fpr], axis=1)
    general = dmf(rates.reshape(6, -1).T, link=link)
    eta = curve.threshold_effect.reshape(-1, 1) * curve.pair_effect
    fitted = np.exp(log_rates(eta, link)[0])
    np.testing.assert_allclose(fitted, general.fitted, rtol=0, atol=1e-5)
    assert curve.deviance == pytest.approx(general.deviance, rel=1e-6)


@pytest.mark.slow
@OTHERS
def test_areas_differ_little_and_perfect_classifiers_stay_perfect(link):
    usual = multiclass_roc(CLASSES, SCORES).auc
    assert multiclass_roc(CLASSES, SCORES, link=link).auc == pytest.approx(usual, abs=0.02)
    assert multiclass_roc(CLASSES, np.eye(3)[CLASSES], link=link).auc > 1 - 1e-6


@OTHERS
def test_two_classes_have_the_empirical_curve(link):
    two = CLASSES > 0
    usual, other = (multiclass_roc(two, -SCORES[:, 0], link=x) for x in ("logit", link))
    np.testing.assert_array_equal(usual.tpr, other.tpr)
    inner = other.threshold_effect[:, (other.fpr[1:] < 1) & (other.fpr[1:] > 0)]
    rates = np.exp(log_rates(inner, link)[0])
    np.testing.assert_allclose(rates[1], other.fpr[1:][(other.fpr[1:] < 1) & (other.fpr[1:] > 0)])


def test_links_are_inverses_of_their_rates():
    rates = np.linspace(0.01, 0.99, 33)
    for link in ("logit", "probit", "cloglog"):
        log_p, log_q = log_rates(link_of(rates, link), link)
        np.testing.assert_allclose(np.exp(log_p), rates, rtol=1e-12)
        np.testing.assert_allclose(np.exp(log_q), 1 - rates, rtol=1e-11)
    assert link_of(np.array([0.975]), "probit")[0] == pytest.approx(special.ndtri(0.975))
