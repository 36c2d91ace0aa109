"""What NumPy finds is what JAX makes of the same functions: values and their derivatives."""

import functools

import jax
import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, dmf_auc, evaluate, multiclass_roc
from dmfroc._backend import double_precision
from dmfroc.measures import MEASURES
from dmfroc.measures import multiclass_roc as roc
from dmfroc.measures._gradient import value_and_gradient, value_and_jacobian
from dmfroc.measures._pairwise_rates import pairwise_rates
from dmfroc.measures.auc_mu import auc_mu
from dmfroc.measures.contingency import CONTINGENCY, bind_together
from dmfroc.measures.precision_recall import precision_recall_gain_area
from dmfroc.measures.roc_areas import kappa_area

OF_SCORES = [
    *(measure for measure in MEASURES.values() if measure.needs == "scores"),
    auc_mu([[0, 1, 2], [1, 0, 3], [1, 1, 0]]),
    dmf_auc(pair_weights="prevalence", n_thresholds=20, shrinkage=0.2),
    kappa_area("trapezoid"),
    precision_recall_gain_area(clip=True),
]
OF_TABLES = [measure for measure in CONTINGENCY if measure.name != "correlation"]
WITHOUT = {"vus", "ordinal_vus"}  # which know no derivative of their own

by_jax = jax.jit(value_and_jacobian)


@functools.cache
def sample(n_classes, rounding, weighted):
    prior = {2: [0.6, 0.4], 3: [0.5, 0.3, 0.2]}[n_classes]
    # Of a bad classifier the precision gain changes its sign upwards and downwards.
    shift = 1.0 if rounding else 0.1
    classes, scores = normal_scores(n_classes, 60, n_classes, shift, prior)
    weights = np.random.default_rng(1).choice([0, 0.5, 1, 2.5], size=60)
    weights[:n_classes] = 1
    return Predictions.from_arrays(
        classes, np.round(scores, rounding), sample_weight=weights if weighted else None
    )


def assert_same(bound, predictions):
    weights = predictions.sample_weight
    values, gradients = value_and_gradient(bound, weights)
    expected_values, expected = (np.asarray(x) for x in by_jax(bound, weights))
    np.testing.assert_allclose(values, expected_values, rtol=1e-12, atol=1e-13)
    # An observation without weight has no influence, and may be where a derivative jumps.
    counts = weights > 0
    scale = np.abs(expected).max(axis=-1, keepdims=True)
    difference = np.abs(gradients - expected) / np.where(scale > 0, scale, 1)
    assert difference[..., counts].max() < 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rounding", [9, 0])
@pytest.mark.parametrize("n_classes", [2, 3])
@double_precision
def test_derivatives_are_those_of_jax(n_classes, rounding, weighted):
    predictions = sample(n_classes, rounding, weighted)
    for measure in OF_SCORES:
        is_of_three = measure.name == "auc_mu" and measure is not MEASURES["auc_mu"]
        if measure.applies_to(predictions) and not (is_of_three and n_classes == 2):
            bound = measure.bind(predictions)
            assert hasattr(bound.func, "value_and_gradient") == (measure.name not in WITHOUT)
            assert_same(bound, predictions)
    of_tables = [measure for measure in OF_TABLES if measure.applies_to(predictions)]
    assert_same(bind_together(of_tables, predictions), predictions)


@double_precision
def test_few_rates_have_the_centre_of_many(monkeypatch):
    """Few are fitted by NumPy, many by JAX."""
    classes, scores = normal_scores(5, 200, 4)
    predictions = Predictions.from_arrays(classes, scores)
    bound = dmf_auc().bind(predictions)
    area, gradient = value_and_gradient(bound, predictions.sample_weight)
    monkeypatch.setattr(roc, "_FEW_CELLS", 0)
    expected_area, expected = value_and_gradient(bound, predictions.sample_weight)
    assert area == pytest.approx(expected_area, rel=0, abs=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert area == pytest.approx(multiclass_roc(predictions).auc, rel=0, abs=1e-9)


@double_precision
def test_rates_are_those_of_jax():
    predictions = sample(3, 0, True)
    bound = dmf_auc().bind(predictions).args[0]
    expected = jax.jit(pairwise_rates)(bound.rates, predictions.sample_weight)
    np.testing.assert_allclose(
        bound.rates_at(predictions.sample_weight), expected, rtol=0, atol=1e-14
    )


@double_precision
def test_rounding_of_fractional_weights_leaves_rates_in_their_range():
    """A rate above 1 has no logit, and the area would be NaN."""
    generator = np.random.default_rng(8)
    of_jax = jax.jit(pairwise_rates)
    for seed in range(200):
        weights = generator.choice([0, 0.01, 0.3, 7, 100], size=20)
        weights[:4] = 0.1
        predictions = Predictions.from_arrays(
            *normal_scores(seed, 20, 4, prior=[0.25] * 4), sample_weight=weights
        )
        bound = dmf_auc().bind(predictions).args[0]
        for rates in (of_jax(bound.rates, weights), bound.rates_at(weights)):
            assert np.min(rates) >= 0
            assert np.max(rates) <= 1


def test_nothing_is_compiled_for_another_number_of_observations():
    compiled = []

    def listen(event, duration, **kwargs):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(kwargs)

    evaluate(*normal_scores(6, 70, 4), measures="all", method="jackknife")
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        evaluate(*normal_scores(7, 71, 4), measures="all", method="jackknife")
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled == []
