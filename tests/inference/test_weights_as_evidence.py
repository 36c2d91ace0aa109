"""Weights as evidence: rows of weight zero say nothing, unequal weights less than equal ones."""

import numpy as np
import pytest
from bands import curve_band
from simulations import normal_scores

from dmfroc import Predictions, compare, estimate, evaluate
from dmfroc.analyses.evidence import METHODS
from dmfroc.bayes import bayesian_table
from dmfroc.extend import influences
from dmfroc.inference.units import sample_of

N_ADDED = 25


def with_rows_of_weight_zero(n=60, n_classes=3, weighted=False):
    """Return a sample and the same with rows of weight zero strewn in, and where they are."""
    generator = np.random.default_rng(3)
    classes, scores = normal_scores(2, n, n_classes)
    weights = generator.uniform(0.5, 2, n) if weighted else np.ones(n)
    places = np.sort(generator.integers(0, n + 1, N_ADDED))
    added = generator.integers(n_classes, size=N_ADDED)
    more = Predictions.from_arrays(
        np.insert(classes, places, added),
        np.insert(scores, places, generator.normal(size=(N_ADDED, n_classes)), axis=0),
        sample_weight=np.insert(weights, places, 0.0),
    )
    return Predictions.from_arrays(classes, scores, sample_weight=weights), more


def assert_same(found, expected):
    for name in ("value", "standard_error", "interval"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0, atol=1e-12
        )
    assert found.warnings == expected.warnings
    if expected.draws is not None:
        np.testing.assert_allclose(found.draws, expected.draws, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["jackknife", "bootstrap", "bayesian_bootstrap"])
@pytest.mark.parametrize("measure", ["dmf_auc", "hand_till", "informedness", "convex_hull_auc"])
def test_rows_of_weight_zero_change_nothing(measure, method, weighted):
    plain, more = with_rows_of_weight_zero(weighted=weighted)
    options = {"method": method if method == "jackknife" else METHODS[method](100)}
    assert_same(estimate(measure, more, **options), estimate(measure, plain, **options))


def test_rows_of_weight_zero_change_no_measure():
    plain, more = with_rows_of_weight_zero()
    expected = evaluate(plain, measures="all", method="jackknife").estimates
    found = evaluate(more, measures="all", method="jackknife").estimates
    assert found.keys() == expected.keys()
    for name in expected:
        assert_same(found[name], expected[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_rows_of_weight_zero_change_no_posterior_curve_and_comparison():
    plain, more = with_rows_of_weight_zero()
    for name in ("low", "high", "tpr"):
        found, expected = (getattr(curve_band(p), name) for p in (more, plain))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    found, expected = (bayesian_table("informedness", p).interval for p in (more, plain))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    for paired in (True, False):
        found, expected = (
            compare({"a": p, "b": p}, measures="hand_till", paired=paired).differences[0]
            for p in (more, plain)
        )
        assert found == expected


def test_groups_of_rows_of_weight_zero_are_none():
    plain, more = with_rows_of_weight_zero()
    groups = np.arange(60) // 3
    with_added = np.full(more.n_observations, -1)
    with_added[more.sample_weight > 0] = groups
    assert_same(
        estimate("hand_till", more, groups=with_added), estimate("hand_till", plain, groups=groups)
    )


def test_influences_keep_the_rows():
    plain, more = with_rows_of_weight_zero()
    found = influences("dmf_auc", more)
    counts = more.sample_weight > 0
    assert (found[~counts] == 0).all()
    np.testing.assert_allclose(found[counts], influences("dmf_auc", plain), rtol=0, atol=1e-12)
    assert more.n_observations == 60 + N_ADDED


def test_evidence_is_kishs_effective_number():
    weights = np.array([1, 1, 4, 0, 2, 2, 2.0])
    predictions = Predictions.from_arrays(
        [0, 0, 0, 0, 1, 1, 1], np.arange(7.0), sample_weight=weights
    )
    units = sample_of(predictions).units
    np.testing.assert_allclose(units.effective_sizes, [36 / 18, 3])
    assert units.n_complete_sets == 2
    # Groups count by their total weights
    of_groups = sample_of(predictions, [0, 0, 1, 9, 2, 3, 3]).units
    np.testing.assert_allclose(of_groups.effective_sizes, [36 / 20, 36 / 20])


@pytest.mark.filterwarnings("ignore:check the weights, which few rows carry")
@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_a_perfect_classifier_is_as_sure_as_its_weights(method):
    """Thirty cases per class, of which ten have nearly all the weight."""
    classes = np.repeat([0, 1], 30)
    weights = np.tile(np.repeat([1, 1e-6], [10, 20]), 2)
    options = {"method": method if method == "jackknife" else METHODS[method](100)}
    heavy, scores = weights == 1, np.arange(60.0)
    for name, given in {"hand_till": {"y_score": scores}, "accuracy": {"y_pred": classes}}.items():
        found = estimate(name, classes, sample_weight=weights, **given, **options)
        few = {x: values[heavy] for x, values in given.items()}
        alone = estimate(name, classes[heavy], **few, **options)
        assert found.interval == pytest.approx(alone.interval, abs=0.02), name
        assert any("one observation that the sample does not show" in x for x in found.warnings)
