"""The bootstraps: seeds, standard errors, intervals, remarks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulations import cyclic_scores, normal_scores

import dmfroc
from dmfroc import Predictions, estimate, evaluate
from dmfroc.analyses.evidence import METHODS
from dmfroc.inference.replicates import INTERVAL_TYPES
from dmfroc.papers import PaperBootstrap

MEASURES = ["hand_till", "dmf_auc", "informedness"]


def test_seeds(predictions):
    def draws(random_state):
        found = estimate(
            "hand_till", predictions, method=dmfroc.Bootstrap(100), random_state=random_state
        )
        return found.draws

    np.testing.assert_array_equal(draws(5), draws(5))
    assert (draws(5) != draws(6)).any()
    np.testing.assert_array_equal(draws(np.random.default_rng(1)), draws(np.random.default_rng(1)))
    with pytest.raises(ValueError, match="random_state must be an integer >= 0, but it is -1"):
        draws(-1)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_standard_errors_agree_with_the_jackknife(measure, method):
    predictions = Predictions.from_arrays(*cyclic_scores(n=900))
    expected = estimate(measure, predictions).standard_error
    found = estimate(measure, predictions, method=METHODS[method](1000)).standard_error
    assert abs(found / expected - 1) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("interval_type", INTERVAL_TYPES)
@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_agree_in_large_samples(measure, interval_type):
    predictions = Predictions.from_arrays(*cyclic_scores(n=900))
    expected = estimate(measure, predictions)
    found = estimate(measure, predictions, method=dmfroc.Bootstrap(400, interval=interval_type))
    np.testing.assert_allclose(
        found.interval, expected.interval, rtol=0, atol=0.5 * expected.standard_error
    )
    assert found.interval[0] < found.value < found.interval[1]
    assert (found.method, found.n_draws, found.seed) == ("bootstrap", 400, 0)


@pytest.mark.parametrize("method", [dmfroc.Bootstrap, dmfroc.BayesianBootstrap])
def test_a_print_says_that_percentiles_are_extended_to_the_jackknife(method):
    """Few draws of a nearly perfect log loss show what an error costs; those of the paper stay."""
    y, noise = np.arange(60) % 2, 0.01 * np.random.default_rng(0).normal(size=60)
    score = 0.05 + 0.9 * y + np.clip(noise, -0.04, 0.04)
    found = estimate("log_loss", y, score, method=method(200, "percentile"))
    low, high = np.quantile(found.draws, [0.025, 0.975])
    of_jackknife = estimate("log_loss", y, score).interval
    assert found.interval == (min(low, of_jackknife[0]), max(high, of_jackknife[1]))
    assert high < of_jackknife[1] / 2
    said = "percentile, extended to the limits of the jackknife if these are wider"
    assert f"Interval type: {said}" in " ".join(str(found).split())
    three = np.arange(90) % 3
    scores = np.eye(3)[three] + np.random.default_rng(0).normal(size=(90, 3))
    plain = estimate("dmf_auc", three, scores, method=PaperBootstrap(100))
    assert plain.interval == tuple(np.quantile(plain.draws, [0.025, 0.975]))
    assert "Interval type: percentile" in str(plain).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_classifier_gets_an_honest_interval(measure, method):
    classes = np.repeat([0, 1, 2], 20)
    found = estimate(measure, classes, np.eye(3)[classes], method=METHODS[method](100))
    low, high = found.interval
    assert found.standard_error == 0
    assert high == pytest.approx(1)
    # No replicate shows an error: the interval is that of the one unseen observation
    of_jackknife = estimate(measure, classes, np.eye(3)[classes]).interval[0]
    assert low == pytest.approx(of_jackknife, abs=1e-9)
    assert any("is perfect in this sample" in warning for warning in found.warnings)


def test_class_sizes_are_drawn_where_they_matter():
    """Accuracy varies with them; M, bound beside it or alone, has the same replicates."""
    predictions = Predictions.from_arrays(*cyclic_scores(n=60))
    drawn = {
        name: estimate(name, predictions, method=dmfroc.Bootstrap(200))
        for name in ("accuracy", "hand_till")
    }
    fixed = estimate("accuracy", predictions, method=dmfroc.Bootstrap(200), stratify=True)
    free = estimate("accuracy", predictions, method=dmfroc.Bootstrap(200), stratify=False)
    np.testing.assert_array_equal(drawn["accuracy"].draws, free.draws)
    assert (fixed.draws != free.draws).any()
    sizes = [found.class_sizes for found in (*drawn.values(), fixed, free)]
    assert sizes == ["random", "fixed", "fixed", "random"]
    together = evaluate(predictions, measures=list(drawn), method=dmfroc.Bootstrap(200))
    for name, found in drawn.items():
        np.testing.assert_allclose(together.estimates[name].draws, found.draws, rtol=1e-12)


def test_few_observations_are_told():
    classes = np.repeat([0, 1, 2], [40, 40, 4])
    scores = np.random.default_rng(0).normal(size=(84, 3)) + np.eye(3)[classes]
    found = estimate("hand_till", classes, scores, method=dmfroc.Bootstrap(100))
    [told] = [w for w in found.warnings if "the rarest class has 4 independent" in w]
    assert told.startswith("use method='jackknife', whose intervals account for few observations: ")
    told = estimate("hand_till", *cyclic_scores(), method=dmfroc.Bootstrap(100)).warnings
    assert not [x for x in told if "softmax" not in x]


def test_wrong_options():
    with pytest.raises(ValueError, match="n_draws must be an integer >= 100"):
        dmfroc.Bootstrap(10)
    with pytest.raises(ValueError, match="interval must be one of"):
        dmfroc.Bootstrap(interval="basic")


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(0, 1000))
def test_draws_stay_in_range(n_classes, seed):
    classes, scores = cyclic_scores(n=40, n_classes=n_classes, seed=seed)
    found = estimate("hand_till", classes, scores, method=dmfroc.Bootstrap(100))
    assert (found.draws >= 0).all()
    assert (found.draws <= 1).all()
    assert 0 <= found.interval[0] <= found.interval[1] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gini", "partial_auc", "kappa_area", "precision_recall_area"])
def test_areas_under_straight_lines_vary_as_the_jackknife_says(name):
    """Only the corners of a curve are added up, also by the program of all replicates."""
    y, scores = normal_scores(0, 300, 3, 1.0)
    jackknife = estimate(name, y, scores)
    found = estimate(name, y, scores, method=dmfroc.Bootstrap(400))
    assert found.value == pytest.approx(jackknife.value, abs=1e-12)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.12)


def test_scores_without_ties_and_with_ties_are_one_kind_of_program():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    distinct = rng.normal(size=100) + y
    for scores in (distinct, np.round(distinct), distinct):
        found = estimate("gini", y, scores, method=dmfroc.Bootstrap(100))
        assert found.interval[0] < found.value < found.interval[1]


def test_measures_of_folds_are_as_each_by_itself():
    """Some depend on the class sizes and some do not, which asks for other draws."""
    y, scores = normal_scores(1, 200, 3, 1.0)
    options = {"folds": np.arange(200) % 4, "method": dmfroc.Bootstrap(100), "random_state": 0}
    names = ["accuracy", "balanced_accuracy"]
    together = dmfroc.evaluate(y, scores, measures=names, **options).estimates
    for name in names:
        alone = estimate(name, y, scores, **options)
        assert together[name].interval == pytest.approx(alone.interval, abs=1e-12)
        assert together[name].value == alone.value
