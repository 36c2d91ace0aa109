"""Scores on a device give the numbers of NumPy, and are counted where they lie."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dmfroc
from dmfroc import functional
from dmfroc.analyses.evidence import METHODS
from dmfroc.analyses.joint_evidence import _same_scores_message
from dmfroc.inputs import arrays
from dmfroc.inputs.arrays import OnDevice
from dmfroc.measures import hand_till

K = 4


@pytest.fixture(autouse=True)
def arrays_of_jax_are_on_a_device(monkeypatch):
    monkeypatch.setattr(arrays, "is_on_device", lambda x: isinstance(x, jax.Array))


def data(dtype=np.float32, n=200):
    generator = np.random.default_rng(3)
    y = np.arange(n) % K
    scores = np.round(generator.normal(size=(n, K)) + np.eye(K)[y], 2).astype(dtype)
    with jax.enable_x64(True):
        return y, scores, jnp.asarray(scores), generator.choice([0.5, 1, 1.5], n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name", ["hand_till", "one_vs_rest_auc", "auc_mu", "average_precision", "dmf_auc", "accuracy"]
)
def test_estimates_are_those_of_numpy(name, dtype):
    y, scores, there, weights = data(dtype)
    for w in (None, weights):
        expected = dmfroc.estimate(name, y, scores, sample_weight=w)
        found = dmfroc.estimate(name, y, there, sample_weight=w)
        numbers = [(x.value, x.standard_error, *x.interval) for x in (found, expected)]
        np.testing.assert_allclose(*numbers, rtol=1e-6)


def test_scores_stay_where_they_are():
    y, scores, there, _ = data()
    predictions = dmfroc.Predictions.from_arrays(y, there)
    assert isinstance(predictions.scores, OnDevice)
    dmfroc.estimate("hand_till", predictions)
    dmfroc.estimate("dmf_auc", predictions, method=dmfroc.Bootstrap(100))
    assert "host" not in vars(predictions.scores)
    np.testing.assert_array_equal(predictions.scores, scores)
    assert "host" in vars(predictions.scores)


@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_bootstraps_are_those_of_resample(method):
    y, scores, there, _ = data()
    found = dmfroc.estimate("hand_till", y, there, method=METHODS[method](100), random_state=5)
    model = functional.bootstrap_model(hand_till(), y, scores, kind=method)
    tree = functional.resample(model, n_draws=100, random_state=5)
    np.testing.assert_allclose(found.standard_error, np.std(tree["posterior/value"], ddof=1))


def test_tables_and_comparisons_are_those_of_numpy():
    y, scores, there, _ = data()
    other = scores[:, ::-1].copy()

    def numbers(of_a, of_b):
        each = dmfroc.evaluate(y, of_a).estimates.values()
        [difference] = dmfroc.compare(y, {"a": of_a, "b": of_b}).differences
        return [(x.value, x.standard_error, *x.interval) for x in (*each, difference)]

    expected = numbers(scores, other)
    np.testing.assert_allclose(numbers(there, jnp.asarray(other)), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["hand_till", "dmf_auc", "informedness"])
def test_a_perfect_classifier_has_an_error_that_was_not_seen(name):
    y, scores, _, _ = data()
    scores += 20 * np.eye(K, dtype=np.float32)[y]
    expected = dmfroc.estimate(name, y, scores)
    found = dmfroc.estimate(name, y, jnp.asarray(scores))
    assert found.interval == pytest.approx(expected.interval, rel=1e-6)
    assert found.interval[0] < 0.99 < found.value == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [{}, {"link": "probit", "rank": 2, "n_thresholds": 9}, {"pair_weights": "prevalence"}],
)
def test_curves_are_those_of_numpy_and_fitted_where_scores_lie(options, monkeypatch):
    y, scores, there, weights = data()
    expected = dmfroc.multiclass_roc(y, scores, sample_weight=weights, **options)
    monkeypatch.setattr(OnDevice, "host", property(lambda self: pytest.fail("copied")))
    found = dmfroc.multiclass_roc(y, there, sample_weight=weights, **options)
    assert (found.pairs, found.converged) == (expected.pairs, True)
    for name in ("fpr", "tpr", "auc", "pair_effect", "deviance", "pairwise_fpr", "pairwise_tpr"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-7)
    effects = [np.clip(x.threshold_effect, -20, 20) for x in (found, expected)]  # of rates of 1
    np.testing.assert_allclose(*effects, atol=1e-7)


def test_what_the_device_has_no_form_for_is_fitted_by_the_host():
    y, scores, there, _ = data()
    costs = 1.0 - np.eye(K)
    costs[0] *= 3
    for options in ({"pair_weights": costs}, {"preset": "paper"}, {"n_pairs": 3}):
        expected = dmfroc.multiclass_roc(y, scores, **options)
        assert dmfroc.multiclass_roc(y, there, **options).auc == expected.auc
    with pytest.raises(ValueError, match="rank must be at most 12"):
        dmfroc.multiclass_roc(y, there, rank=13)


CALLS = {
    "a score": lambda y, x: dmfroc.hand_till_score(y, x),
    "a curve": lambda y, x: dmfroc.evaluate(y, x).curve,
    "classifiers": lambda y, x: dmfroc.compare(y, {"a": x, "b": x[:, ::-1]}),
    "two classes": lambda y, x: dmfroc.compare(
        y % 2, {"a": x[:, :2], "b": x[:, 2:]}, measures="hand_till"
    ),
    "draws": lambda y, x: dmfroc.compare(
        y, {"a": x, "b": x[:, ::-1]}, measures="hand_till", method=dmfroc.Bootstrap(100)
    ),
    "subgroups": lambda y, x: dmfroc.compare_subgroups(y, x, np.arange(len(y)) // K % 2),
    "influences": lambda y, x: dmfroc.extend.influences("dmf_auc", y, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_analyses_copy_no_scores(name, monkeypatch):
    y, _, there, _ = data()
    copied = []
    monkeypatch.setattr(OnDevice, "host", property(copied.append))
    CALLS[name](y, there)
    assert not copied


def test_wrong_scores_have_the_message_of_numpy():
    y, _, there, _ = data()
    with pytest.raises(ValueError, match="row 3"):
        dmfroc.estimate("hand_till", y, there.at[3, 1].set(jnp.nan))
    with pytest.raises(ValueError, match="200 rows but y_score has 199"):
        dmfroc.estimate("hand_till", y, there[1:])


def test_half_precision_is_taken_as_single():
    y, scores, _, _ = data(np.float16)
    predictions = dmfroc.Predictions.from_arrays(y, jnp.asarray(scores))
    assert predictions.scores.dtype == np.float32
    expected = dmfroc.hand_till_score(y, scores)
    np.testing.assert_allclose(dmfroc.estimate("hand_till", predictions).value, expected)


@pytest.mark.filterwarnings("ignore:1 class has a column")
def test_a_missing_class_is_counted_by_the_host():
    y, scores, there, _ = data()
    y[y == 3] = 2
    found = dmfroc.estimate("hand_till", y, there, labels=range(K))
    expected = dmfroc.estimate("hand_till", y, scores, labels=range(K))
    np.testing.assert_allclose(found.standard_error, expected.standard_error)


def test_equal_scores_are_found_where_they_lie(monkeypatch):
    y, _, there, _ = data()
    monkeypatch.setattr(OnDevice, "host", property(lambda self: pytest.fail("copied")))
    named = {"a": there, "b": there + 0.0, "c": there[:, ::-1]}
    named = {name: dmfroc.Predictions.from_arrays(y, scores) for name, scores in named.items()}
    assert _same_scores_message(named).endswith("no difference: 'a' and 'b'")


def test_measures_of_one_statistic_have_limits_of_their_own():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    scores = (rng.normal(size=(90, 3)) + 1.5 * np.eye(3)[y]).astype(np.float32)
    names = ["average_precision", "lift_area", "gini"]
    together = dmfroc.evaluate(y, jax.numpy.asarray(scores), measures=names)
    for name in names:
        alone = dmfroc.estimate(name, y, jax.numpy.asarray(scores)).interval
        assert together[name].interval == pytest.approx(alone, abs=1e-9)
