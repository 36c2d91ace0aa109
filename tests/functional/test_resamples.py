"""Bootstraps as NumPyro models: their weights, their spread, and the trees of their draws."""

from functools import partial

import jax
import numpy as np
import numpyro
import pytest
import xarray

import dmfroc
from dmfroc import functional, measures
from dmfroc.analyses.evidence import METHODS
from dmfroc.functional.resamples import bootstrap_model, rates_model, resample

GENERATOR = np.random.default_rng(0)
N, K = 90, 3
Y = GENERATOR.permutation(np.arange(N) % K)
SCORES = GENERATOR.normal(size=(N, K)) + np.eye(K)[Y]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bootstrap", "bayesian_bootstrap"])
def test_weights_and_values_are_those_of_estimate(kind):
    model = bootstrap_model(measures.hand_till(), Y, SCORES, kind=kind)
    tree = resample(model, n_draws=2000, random_state=3, with_weights=True)
    assert isinstance(tree, xarray.DataTree)
    draws = tree["posterior"]
    weights, values = draws["weights"].to_numpy()[0], draws["value"].to_numpy()[0]
    assert draws["weights"].dims == ("chain", "draw", "observation")
    assert weights.dtype == values.dtype == np.float64
    for place in range(K):
        np.testing.assert_allclose(weights[:, place == Y].sum(axis=1), 30, rtol=1e-12)
    variance = 29 / 30 if kind == "bootstrap" else 29 / 31
    assert abs(weights.var() - variance) < 0.03
    assert (weights == np.round(weights)).all() == (kind == "bootstrap")
    # The model's value is the measure under the weights of the same draw
    for row in (0, 1999):
        expected = dmfroc.hand_till_score(Y, SCORES, sample_weight=weights[row])
        np.testing.assert_allclose(values[row], expected, atol=1e-12)
    expected = dmfroc.estimate("hand_till", Y, SCORES, method=METHODS[kind](2000))
    np.testing.assert_allclose(values.std(), expected.standard_error, rtol=0.1)
    again = resample(model, n_draws=300, random_state=3)["posterior"]["value"].to_numpy()[0]
    np.testing.assert_array_equal(again, values[:300])
    other = resample(model, n_draws=300, random_state=4)["posterior"]["value"].to_numpy()[0]
    assert not np.array_equal(again, other)


def test_values_are_those_of_the_bound_measure():
    """Weights, labels of any kind, hard labels, and rows of weight zero, which are left out."""
    base = GENERATOR.integers(0, 3, N).astype(float)
    names = np.array(["b", "c", "a"])[Y]
    columns = ["b", "c", "a"]
    for measure in (measures.cohen_kappa(), measures.average_precision()):
        model = bootstrap_model(measure, names, SCORES, labels=columns, sample_weight=base)
        draws = resample(model, n_draws=100, with_weights=True)["posterior"]
        weights = np.zeros((100, N))
        weights[:, base > 0] = draws["weights"].to_numpy()[0] * base[base > 0]
        expected = [measure(names, SCORES, labels=columns, sample_weight=w) for w in weights[:5]]
        np.testing.assert_allclose(draws["value"].to_numpy()[0, :5], expected, atol=1e-12)


def test_thresholds_stay_where_the_data_place_them():
    measure = measures.dmf_auc(n_thresholds=9)
    model = bootstrap_model(measure, Y, SCORES)
    ones = {f"rows_{place}": np.arange(30) for place in range(K)}
    fixed = numpyro.handlers.substitute(model, ones)
    value = numpyro.handlers.trace(fixed).get_trace()["value"]["value"]
    np.testing.assert_allclose(value, measure(Y, SCORES), rtol=1e-6)
    found = resample(model, n_draws=300)["posterior"]["value"].std()
    jackknife = dmfroc.estimate(measure, Y, SCORES)
    np.testing.assert_allclose(found, jackknife.standard_error, rtol=0.2)


@pytest.mark.slow
def test_rates_are_drawn_about_the_fitted_curve():
    spread = {}
    for kind, tempering in (("ordinal", 1.0), ("ordinal", 0.5), ("binomial", 1.0)):
        model = rates_model(Y, SCORES, n_classes=K, kind=kind, n_thresholds=9, tempering=tempering)
        sites = numpyro.handlers.trace(numpyro.handlers.seed(model, 0)).get_trace()
        assert list(sites) == ["counts", "fpr", "tpr", "value"]
        draws = resample(model, n_draws=300)["posterior"]
        spread[kind, tempering] = float(draws["value"].std())
        area = np.trapezoid(draws["tpr"].mean("draw"), draws["fpr"].mean("draw"))[0]
        assert abs(area - dmfroc.dmf_auc_score(Y, SCORES, n_thresholds=9)) < 0.02
    measure = dmfroc.measures.dmf_auc(n_thresholds=9)
    jackknife = dmfroc.estimate(measure, Y, SCORES).standard_error
    paper = dmfroc.estimate(measure, Y, SCORES, method=dmfroc.papers.PaperBootstrap(300))
    assert 0.7 * jackknife < spread["ordinal", 1.0] < 1.1 * jackknife
    assert spread["ordinal", 1.0] < spread["ordinal", 0.5]
    np.testing.assert_allclose(spread["binomial", 1.0], paper.standard_error, rtol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hand_till", "dmf_auc", "accuracy"])
def test_models_are_traced_with_32_bits_and_then_resampled(name):
    def value_of(model, key):
        trace = numpyro.handlers.trace(numpyro.handlers.seed(model, key)).get_trace()
        return trace["value"]["value"]

    measure = measures.get_measure(name)
    model, other = (bootstrap_model(measure, Y, SCORES) for _ in range(2))
    expected = resample(other, n_draws=20)["posterior"]["value"].to_numpy()
    with jax.enable_x64(False):
        value = jax.jit(partial(value_of, model))(jax.random.PRNGKey(0))
        assert value.dtype == np.float32
        exact = dmfroc.estimate(name, Y, SCORES)
        assert abs(float(value) - exact.value) < 5 * exact.standard_error
    # Afterwards the process computes with 64 bits as before
    np.testing.assert_array_equal(resample(model, n_draws=20)["posterior"]["value"], expected)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda: bootstrap_model(measures.hand_till(), Y, SCORES, kind="x"),
            "kind must be",
        ),
        (lambda: rates_model(Y, SCORES, n_classes=K, kind="x"), "kind"),
        (lambda: rates_model(Y, SCORES, n_classes=K, tempering=0), "tempering"),
        (lambda: rates_model(Y > 0, SCORES[:, 1], n_classes=2), "at least 3"),
        (lambda: resample(lambda: None, n_draws=0), "n_draws"),
        (lambda: bootstrap_model(measures.hand_till(), Y, SCORES[:, :2]), "y_score"),
        (lambda: bootstrap_model(measures.convex_hull_auc(), Y, SCORES), "no form in JAX"),
    ],
)
def test_errors_name_the_argument(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_a_function_is_no_measure():
    with pytest.raises(TypeError, match=r"measures\.hand_till\(\)"):
        bootstrap_model(functional.hand_till, Y, SCORES)


def test_keys_of_jax_are_seeds():
    model = bootstrap_model(measures.hand_till(), [0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.9, 0.2])
    by_seed, by_key = (resample(model, n_draws=20, random_state=x) for x in (3, jax.random.key(3)))
    np.testing.assert_array_equal(by_seed["posterior/value"], by_key["posterior/value"])
