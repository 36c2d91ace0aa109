"""Simulated populations have the class frequencies, qualities and correlations they promise."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import chisquare

from dmfroc import hand_till_score

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))
from _populations import MultinomialPopulation, simulate_predictions

POPULATION = MultinomialPopulation.random(4, 6, random_state=3)


def calibration_error(predictions, n_bins=10):
    """Largest difference between mean score and observed frequency over bins of each column."""
    errors = []
    for k in range(predictions.n_classes):
        scores = predictions.scores[:, k]
        bins = np.minimum((scores * n_bins).astype(int), n_bins - 1)
        size = np.bincount(bins, minlength=n_bins)
        difference = np.bincount(bins, scores - (predictions.true == k), minlength=n_bins)
        errors.append(np.abs(difference[size > 1000] / size[size > 1000]).max())
    return max(errors)


def test_sampled_classes_follow_the_model():
    covariates, classes = POPULATION.sample(40_000, random_state=1)
    expected = softmax(covariates @ POPULATION.coefficients, axis=1).sum(axis=0)
    assert chisquare(np.bincount(classes), expected).pvalue > 1e-3
    full = simulate_predictions(POPULATION, 40_000, random_state=1)
    np.testing.assert_array_equal(full.true, classes)
    np.testing.assert_allclose(full.scores, softmax(covariates @ POPULATION.coefficients, axis=1))
    assert calibration_error(full) < 0.03


@pytest.mark.slow
def test_classifiers_that_see_less_are_calibrated_but_worse():
    found = [simulate_predictions(POPULATION, 40_000, p, random_state=1) for p in range(7)]
    ms = [hand_till_score(predictions) for predictions in found]
    assert ms[0] == pytest.approx(0.5, abs=1e-12)
    assert (np.diff(ms) > 0.005).all()
    assert all(calibration_error(x) < 0.035 for x in found[1:6])


def test_argmax_rule_makes_the_full_classifier_perfect():
    population = MultinomialPopulation(POPULATION.coefficients, "argmax")
    full = simulate_predictions(population, 5000, random_state=1)
    assert hand_till_score(full) > 0.9999
    np.testing.assert_array_equal(full.predicted, full.true)
    partial = simulate_predictions(population, 40_000, 4, random_state=1)
    assert calibration_error(partial) < 0.05


@given(
    n=st.integers(8, 300),
    skew=st.floats(0.05, 20),
    smallest=st.integers(0, 2),
    seed=st.integers(0, 100),
)
def test_class_sizes_add_up_and_respect_the_minimum(n, skew, smallest, seed):
    sample = POPULATION.sample(n, skew=skew, min_class_size=smallest, random_state=seed)
    sizes = np.bincount(sample.classes, minlength=4)
    assert sizes.sum() == n
    assert sizes.min() >= smallest
    assert len(np.unique(sample.covariates, axis=0)) == n


def test_prevalence_changes_class_sizes_and_nothing_else():
    prevalence = [0.7, 0.1, 0.1, 0.1]
    skewed = POPULATION.sample(60_000, prevalence=prevalence, random_state=1)
    assert chisquare(np.bincount(skewed.classes), np.multiply(prevalence, 60_000)).pvalue > 1e-3
    natural = POPULATION.sample(60_000, random_state=2)
    for k in range(4):
        ours, theirs = (x.covariates[x.classes == k] for x in (skewed, natural))
        error = np.sqrt(1 / len(ours) + 1 / len(theirs))
        assert np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max() < 4 * error
        assert np.abs(np.cov(ours.T) - np.cov(theirs.T)).max() < 6 * error
    balanced = POPULATION.sample(402, prevalence="balanced", random_state=1)
    assert sorted(np.bincount(balanced.classes)) == [100, 100, 101, 101]


def test_rows_are_in_random_order():
    classes = POPULATION.sample(1000, prevalence="balanced", random_state=1).classes
    assert (np.diff(classes) != 0).mean() > 0.6


def test_small_concentration_skews_more():
    def median_ratio(skew):
        sizes = [
            np.bincount(POPULATION.sample(400, skew=skew, min_class_size=1, random_state=s).classes)
            for s in range(30)
        ]
        return np.median([x.max() / x.min() for x in sizes])

    assert median_ratio(0.3) > 2 * median_ratio(1) > 4 * median_ratio(20)


def test_same_seed_same_predictions():
    first, again = (simulate_predictions(POPULATION, 50, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.scores, again.scores)
    other = simulate_predictions(POPULATION, 50, random_state=8)
    assert (first.scores != other.scores).any()
    generator = np.random.default_rng(7)
    np.testing.assert_array_equal(
        first.scores, simulate_predictions(POPULATION, 50, random_state=generator).scores
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: POPULATION.sample(0), "n_observations must be an integer >= 1, but it is 0"),
        (
            lambda: POPULATION.sample(9, skew=-1.0),
            "skew must be positive and finite, but it is -1.0",
        ),
        (
            lambda: POPULATION.sample(9, skew=1.0, prevalence="balanced"),
            "give either prevalence or skew",
        ),
        (lambda: POPULATION.sample(9, prevalence=[0.5, 0.5]), "prevalence must hold 4 finite"),
        (lambda: POPULATION.sample(9, prevalence=[0.0] * 4), "prevalence is 0 for every class"),
        (lambda: POPULATION.sample(9, min_class_size=1), "min_class_size needs prevalence or skew"),
        (
            lambda: POPULATION.sample(9, skew=1.0, min_class_size=3),
            "min_class_size 3 is too large for 9 observations of 4 classes",
        ),
        (
            lambda: MultinomialPopulation(np.array([[0.0, 0.0], [0.0, 0.0]]), "argmax").sample(
                9, prevalence="balanced"
            ),
            "class 1 hardly ever occurs in this population",
        ),
        (
            lambda: MultinomialPopulation(np.array([[0.0, 1.0, -1.0]]), "argmax").sample(
                9, prevalence="balanced"
            ),
            "class 0 hardly ever occurs in this population",
        ),
        (
            lambda: simulate_predictions(POPULATION, 9, 7),
            "n_available is 7, but the population has 6 covariates",
        ),
        (lambda: MultinomialPopulation(np.zeros((3, 1))), "their shape is (3, 1)"),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_scores_that_lack_covariates_depend_on_the_seed_alone():
    scores = [simulate_predictions(POPULATION, 20, 2, random_state=3).scores for _ in range(2)]
    np.testing.assert_array_equal(*scores)
