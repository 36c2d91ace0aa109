"""Estimates of several measures at once, and the options of all that estimate."""

import dataclasses
import inspect
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from option_names import option_names
from simulations import cyclic_scores, normal_scores

import dmfroc
from dmfroc import Measure, Predictions, compare, compare_subgroups, estimate, evaluate, measures
from dmfroc.analyses.evidence import estimates_of
from dmfroc.extend import influences
from dmfroc.inference.bootstrap import Bootstrap
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.units import Sample, units_of
from dmfroc.measures import informedness
from dmfroc.measures.measure import bind_in_groups

NAMES = ["accuracy", "convex_hull_auc", "hand_till", "recall", "max_informedness", "informedness"]


def two_classes():
    return Predictions.from_arrays(*normal_scores(1, 60, 2))


def test_each_measure_has_its_own_method():
    predictions = two_classes()
    chosen = [measures.MEASURES[name] for name in NAMES]
    jackknife, bootstrap = Jackknife().at(0.9), Bootstrap(100).at(0.8)
    methods = [bootstrap if name in NAMES[::2] else jackknife for name in NAMES]
    found = estimates_of(chosen, methods, Sample(predictions, units_of(predictions)))
    for name, method, one in zip(NAMES, methods, found, strict=True):
        alone = estimate(name, predictions, method=method, level=method.level)
        assert (one.measure, one.method, one.level) == (name, method.name, method.level)
        assert one.value == pytest.approx(alone.value, rel=0, abs=1e-14)
        np.testing.assert_allclose(one.interval, alone.interval, rtol=0, atol=1e-12)


def test_measures_that_share_their_work_are_bound_together():
    predictions = two_classes()
    weights = predictions.sample_weight
    groups = bind_in_groups([measures.MEASURES[name] for name in NAMES], predictions)
    # Those with kinks, which take the longest, first
    assert [positions for positions, _ in groups] == [[1, 4], [0, 3, 5], [2]]
    for positions, bind in groups:
        values, _ = bind().values_and_gradients(weights)
        expected = [estimate(NAMES[position], predictions).value for position in positions]
        np.testing.assert_allclose(np.atleast_1d(values), expected, rtol=0, atol=1e-15)


def test_a_users_measure_has_its_own_name_and_title():
    own = dataclasses.replace(informedness(), title="Above chance")
    found = estimate(own, two_classes())
    assert (found.measure, found.title) == ("informedness", "Above chance")
    assert estimate("informedness", two_classes()).title == "Informedness"


def own_auc(predictions):
    """Compare all scores of the two classes."""
    positive, negative = (predictions.true == k for k in (1, 0))
    scores = predictions.scores[:, 1]
    above = np.sign(scores[positive][:, None] - scores[negative]) / 2 + 1 / 2

    def area(weights):
        of_positives, of_negatives = weights[positive], weights[negative]
        return of_positives @ above @ of_negatives / of_positives.sum() / of_negatives.sum()

    return area


def own_accuracy(predictions):
    is_right = predictions.predicted == predictions.true
    return lambda weights: jnp.sum(weights * is_right) / jnp.sum(weights)


OWN = {
    "dmf_auc": Measure(name="own", bind=own_auc, bounds=(0, 1), chance=1 / 2),
    "accuracy": Measure(name="own", bind=own_accuracy, bounds=(0, 1), needs="labels"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": np.arange(60) // 2},
        {"method": dmfroc.Bootstrap(200)},
        {"method": dmfroc.BayesianBootstrap(200)},
    ],
    ids=["jackknife", "groups", "bootstrap", "bayesian"],
)
@pytest.mark.parametrize("name", OWN)
def test_a_plain_function_of_weights_is_a_measure(name, options):
    predictions, own = two_classes(), OWN[name]
    expected, found = (estimate(m, predictions, **options) for m in (name, own))
    assert (found.measure, found.title, found.method) == ("own", "own", expected.method)
    assert found.value == own(predictions) == pytest.approx(expected.value, rel=0, abs=1e-14)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-10)
    assert found.interval == pytest.approx(expected.interval, rel=0, abs=1e-10)
    if found.draws is not None:
        np.testing.assert_allclose(found.draws, expected.draws, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        influences(own, predictions), influences(name, predictions), rtol=0, atol=1e-16
    )


@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_a_users_measure_has_a_row_of_its_own():
    own = Measure(
        name="mean_score",
        title="Mean score of the first class",
        bind=lambda p: lambda weights: (weights * p.scores[:, 0]).sum() / weights.sum(),
    )
    predictions = Predictions.from_arrays(*cyclic_scores())
    found = evaluate(predictions, measures=["hand_till", own])
    assert found.estimates["mean_score"].value == pytest.approx(predictions.scores[:, 0].mean())
    assert "\nMean score of the first class " in str(found)
    compared = compare({"a": predictions, "b": predictions}, measures=own, paired=True)
    assert compared.differences[0].value == 0


# Options

COMMON = [
    "labels",
    "pos_label",
    "y_pred",
    "sample_weight",
    "frequency_weight",
    "groups",
    "stratify",
    "folds",
    "judge",
    "follow_up",
    "population",
    "method",
    "level",
    "random_state",
]


def test_common_options_have_one_order_and_one_default():
    functions = evaluate, estimate, compare
    for function in functions:
        assert option_names(function)[-len(COMMON) :] == COMMON
    signatures = [inspect.signature(function).parameters for function in functions]
    for name in [name for name in COMMON if name in signatures[0]]:
        assert all(p[name].kind is inspect.Parameter.KEYWORD_ONLY for p in signatures)
        assert len({p[name].default for p in signatures}) == 1


def test_interval_options_have_the_documented_defaults():
    """Each default, given, changes nothing; what is no option is refused by name."""
    given = normal_scores(1, 60, 3)
    defaults = dict.fromkeys(COMMON) | {"level": 0.95, "random_state": 0}
    without_two = {"judge", "population"}
    for function, without in ((estimate, set()), (compare_subgroups, without_two)):
        assert set(option_names(function)) >= set(defaults) - without
        shown = inspect.signature(function).parameters
        assert all(shown[x].default == defaults[x] for x in set(defaults) - without)
        assert not without & set(shown)
    assert estimate("hand_till", *given, **defaults) == estimate("hand_till", *given)
    calls = {
        "estimate": partial(estimate, "hand_till", *given),
        "evaluate": partial(evaluate, *given),
        "compare": partial(compare, *given),
        "compare_subgroups": partial(compare_subgroups, *given, given[0]),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword .* 'lvl'"):
            call(lvl=0.9)
        with pytest.raises(ValueError, match="level must be"):
            call(level=95)


def test_what_is_not_given_has_the_documented_default():
    bootstrap = partial(estimate, "hand_till", two_classes())
    default = bootstrap(method="bootstrap")
    assert default == bootstrap(method=dmfroc.Bootstrap(2000, "bca"))
    assert default.n_draws == 2000
    assert default != bootstrap(method="bootstrap", stratify=False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc", "auc_mu", "brier_score"])
def test_scores_are_used_where_they_are_and_left_as_they_were(measure, dtype):
    classes, scores = normal_scores(1, 60, 3)
    given = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)).astype(dtype)
    before = given.copy()
    value = estimate(measure, classes, given).value
    assert given.flags.writeable
    np.testing.assert_array_equal(given, before)
    assert value == estimate(measure, Predictions.from_arrays(classes, before)).value
