"""Posteriors of tables: exact Dirichlet cases, class sizes, weights."""

import re

import arviz
import numpy as np
import pytest
from scipy import stats
from simulations import normal_scores

from dmfroc import Measure, Predictions, estimate
from dmfroc.bayes import bayesian_table
from dmfroc.measures.statistics.confusion import confusion_counts
from dmfroc.results import Estimate


def recall_of_first(matrix, xp):
    return matrix.cells[0, 0] / matrix.cells[:, 0].sum()


FIRST_RECALL = Measure(
    name="recall", statistic=confusion_counts, summary=recall_of_first, needs="labels"
)


@pytest.mark.parametrize("given", ["class_sizes", "nothing"])
@pytest.mark.parametrize(("pseudo_count", "prior"), [(None, 0.5), (1, 1.0)])
def test_recall_of_two_classes_has_a_beta_posterior(given, pseudo_count, prior):
    predictions = Predictions.from_labels([0] * 10 + [1] * 20, [0] * 7 + [1] * 18 + [0] * 5)
    found = bayesian_table(
        FIRST_RECALL, predictions, given=given, pseudo_count=pseudo_count, n_draws=2500
    )
    exact = stats.beta(7 + prior, 3 + prior)
    draws = found.posterior["posterior"]["recall"].to_numpy().ravel()
    assert stats.kstest(draws, exact.cdf).pvalue > 1e-4
    assert found.interval == pytest.approx(exact.ppf([0.025, 0.975]), abs=0.015)


@pytest.mark.parametrize("given", ["class_sizes", "nothing"])
def test_leaving_one_out_is_exact(given):
    """Without an observation the posterior is Dirichlet again, whose mean its cell would have."""
    cells = np.array([[30, 8, 1], [5, 25, 9], [2, 3, 17]])  # predicted classes in the rows
    predicted, true = (np.repeat(x.ravel(), cells.ravel()) for x in np.indices(cells.shape))
    predictions = Predictions.from_labels(true, predicted)
    tree = bayesian_table("accuracy", predictions, given=given, pseudo_count=0.5).posterior
    sizes = cells.sum(axis=0)
    expected = (cells - 1 + 0.5) / (sizes - 1 + 1.5)
    if given == "nothing":
        expected *= (sizes - 1 + 1.5) / (sizes.sum() - 1 + 4.5)
    loo = arviz.loo(tree)
    assert float(loo.elpd) == pytest.approx((cells * np.log(expected)).sum(), abs=0.5)
    assert not loo.warning
    sensitivity = arviz.psense_summary(tree, var_names=["accuracy"]).loc["accuracy"]
    assert sensitivity["prior"] < sensitivity["likelihood"]


def test_tables_keep_class_sizes_or_vary_them():
    classes, scores = normal_scores(8, 60, 3, prior=[0.6, 0.3, 0.1])
    predictions = Predictions.from_arrays(classes, scores)
    shares = np.bincount(classes) / 60
    for given, varies in (("class_sizes", False), ("nothing", True)):
        found = bayesian_table("informedness", predictions, given=given, n_draws=500)
        table = found.posterior["posterior"]["table"]
        np.testing.assert_allclose(table.sum(["predicted", "class"]), 1, rtol=1e-12)
        of_class = table.sum("predicted")
        np.testing.assert_allclose(of_class.mean(["chain", "draw"]), shares, atol=0.02)
        assert (of_class.std(["chain", "draw"]) > 0.02).all() == varies


def test_accuracy_has_the_beta_posterior_of_all_rows():
    """Its interval includes the chance in the class sizes, as the jackknife's does."""
    true = np.repeat([0, 1, 2], [60, 30, 10])
    predicted = np.concatenate(
        [np.repeat([0, 1], [57, 3]), np.repeat([1, 0], [18, 12]), [2] * 4, [0] * 6]
    )
    found = estimate("accuracy", Predictions.from_labels(true, predicted), method="bayes")
    exact = stats.beta(79 + 3 / 6, 21 + 1)
    assert stats.kstest(found.draws, exact.cdf).pvalue > 1e-4
    assert found.standard_error == pytest.approx(exact.std(), rel=0.05)


def test_weighted_tables_have_the_class_shares_of_the_weights():
    classes, scores = normal_scores(10, 200, 2)
    weights = np.where(classes == 0, 3.0, np.random.default_rng(0).exponential(size=200))
    shares = np.bincount(classes, weights) / weights.sum()
    found = bayesian_table("accuracy", classes, scores, sample_weight=weights, given="nothing")
    drawn = found.posterior["posterior"]["table"].sum("predicted").mean(["chain", "draw"])
    np.testing.assert_allclose(drawn, shares, atol=0.01)


def test_small_classes_and_few_errors_get_a_warning():
    true = np.repeat([0, 1, 2], [40, 30, 6])
    wrong = np.where(np.arange(76) % 4 == 0, (true + 1) % 3, true)
    for predicted, measure, expected in [
        (wrong, "macro_f1", "the rarest class has 6 .* too few for the posterior of a table"),
        (true, "accuracy", "only a few observations .* ten points below"),
    ]:
        [warning] = bayesian_table(measure, Predictions.from_labels(true, predicted)).warnings
        assert re.search(expected, warning)
    assert not bayesian_table("accuracy", Predictions.from_labels(true, wrong)).warnings


def test_a_posterior_is_an_estimate_with_all_draws():
    true = np.repeat([0, 1, 2], 5)
    found = bayesian_table("accuracy", Predictions.from_labels(true, true[::-1]), n_draws=50)
    estimate = found.to_estimate()
    assert type(estimate) is Estimate
    assert vars(found) == vars(estimate) | {"posterior": found.to_datatree()}
    assert str(found) == repr(found)
    assert str(estimate).startswith("accuracy 0.3")
    assert "Accuracy" in found._repr_html_()


def test_informedness_is_near_the_jackknife():
    classes, scores = normal_scores(9, 600, 3)
    jackknife = estimate("informedness", classes, scores)
    found = estimate("informedness", classes, scores, method="bayes")
    assert found.value == pytest.approx(jackknife.value, abs=0.3 * jackknife.standard_error)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.1)
    assert (found.method, found.n_draws, found.seed) == ("bayes", 4000, 0)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_prior_is_one_error_in_the_whole_table(n_classes):
    true = np.repeat(np.arange(n_classes), 20)
    found = bayesian_table("accuracy", Predictions.from_labels(true, true), n_draws=4000)
    rate = 1 / n_classes / (20 + 1 / (n_classes - 1))
    assert 1 - found.value == pytest.approx(rate, rel=0.1)


def test_weighted_tables_have_the_effective_size():
    classes, scores = normal_scores(10, 200, 2)
    weights = np.random.default_rng(11).exponential(size=200)
    equal, weighted = (
        bayesian_table("informedness", classes, scores, sample_weight=w).standard_error
        for w in (None, weights)
    )
    # Exponential weights halve the effective size.
    assert weighted / equal == pytest.approx(np.sqrt(2), rel=0.15)


def test_absent_class_has_zeros_in_the_table():
    predictions = Predictions.from_labels([0, 0, 1, 1], [0, 0, 1, 2], labels=[0, 1, 2])
    with pytest.warns(UserWarning, match="no observation"):
        found = bayesian_table("informedness", predictions)
    table = found.posterior["posterior"]["table"]
    assert (table.sel({"class": 2}) == 0).all()
    assert (table.sel({"class": 1, "predicted": 2}) > 0).all()
    assert np.isfinite(found.value)
