"""Paired comparison: exact cases, DeLong's covariance, probabilities of orders, errors."""

import itertools
import re
from dataclasses import replace

import delong
import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from simulations import classifiers, normal_scores

import dmfroc
from dmfroc import Predictions, compare, estimate
from dmfroc._kit.text import on_one_line
from dmfroc.analyses.evidence import METHODS
from dmfroc.extend import influences
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import units_of
from dmfroc.measures import informedness
from dmfroc.reports.verdict import comparison_verdict

MEASURES = ["dmf_auc", "hand_till", "informedness"]


# Cases with a known answer


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_identical_classifiers_do_not_differ(measure):
    classes, scores = classifiers()
    result = compare(classes, {"a": scores["a"], "b": scores["a"].copy()}, measures=measure)
    (difference,) = result.differences
    assert (difference.value, difference.standard_error) == (0, 0)
    assert difference.p_value == 1
    assert difference.probability_better == 0.5
    assert difference.interval[0] < 0 < difference.interval[1]
    assert result.probability_better == {("a", "b"): 0.5, ("b", "a"): 0.5}
    # Neither order is favoured: 100,000 draws, five standard errors.
    assert result.order_probabilities["a", "b"] == pytest.approx(0.5, abs=0.008)


@pytest.mark.parametrize("measure", MEASURES)
def test_scale_of_the_scores_does_not_matter(measure):
    classes, scores = classifiers()
    result = compare(classes, {"a": scores["a"], "b": 2 * scores["a"] + 1}, measures=measure)
    assert result.differences[0].p_value == 1
    assert result.differences[0].probability_better == 0.5


@pytest.mark.parametrize("measure", MEASURES)
def test_constant_classifiers_do_not_differ(measure):
    classes, _ = classifiers()
    result = compare(classes, {"a": np.zeros((60, 3)), "b": np.ones((60, 3))}, measures=measure)
    assert result.differences[0].p_value == 1
    assert result.differences[0].probability_better == 0.5


@pytest.mark.parametrize("measure", ["dmf_auc", "hand_till"])
def test_marker_and_its_reverse_differ(measure):
    classes, scores = normal_scores(3, 150, 2, prior=[0.6, 0.4])
    score = scores[:, 1]
    result = compare(classes, {"marker": score, "reverse": -score}, measures=measure)
    (difference,) = result.differences
    marker, reverse = (result.estimates[name].value for name in ("marker", "reverse"))
    assert marker > 0.7
    assert marker + reverse == pytest.approx(1, rel=0, abs=1e-12)
    assert difference.value == pytest.approx(marker - reverse, rel=0, abs=1e-12)
    assert difference.p_value < 1e-6
    assert difference.interval[0] > 0
    assert difference.probability_better > 1 - 1e-6
    assert next(iter(result.order_probabilities)) == ("marker", "reverse")


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_perfect_against_worst_is_significant_without_variation():
    classes = np.arange(60) % 3
    scores = {"perfect": np.eye(3)[classes], "worst": -np.eye(3)[classes]}
    for measure in ("hand_till", "dmf_auc"):
        (difference,) = compare(classes, scores, measures=measure).differences
        assert difference.value == pytest.approx(1, abs=1e-6)
        assert 0 < difference.p_value < 1e-4
        assert 0 < difference.interval[0] < difference.interval[1] <= 1
        assert difference.probability_better > 0.999


# Formulas


@pytest.mark.parametrize("rounding", [8, 0])
def test_standard_error_of_the_difference_is_delongs(rounding):
    classes, scores = classifiers(4)
    scores = {name: np.round(x, rounding) for name, x in scores.items()}
    (difference,) = compare(classes, scores, measures="hand_till").differences
    expected = delong.standard_error(classes, scores["a"], scores["b"])
    assert difference.standard_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_differences_rest_on_the_differences_of_influences(groups):
    """Also where they are lost in the rounding of the influences' own squares."""
    classes, scores = classifiers(5, shifts=(1.5, 1.0, 0.5))
    scores["copy"] = scores["a"].copy()
    scores["nearly"] = scores["a"].copy()
    scores["nearly"][0] += 0.02
    result = compare(classes, scores, measures="hand_till", groups=groups)
    units = units_of(Predictions.from_arrays(classes, scores["a"]), groups)
    of_name = {k: influences("hand_till", classes, x) for k, x in scores.items()}
    for difference in result.differences:
        error = moments_of(
            of_name[difference.first] - of_name[difference.second], units
        ).standard_error
        assert difference.standard_error == pytest.approx(error, rel=1e-10)
        low, high = np.array(difference.interval) - difference.value
        assert low < -1.7 * error <= 1.7 * error < high


@pytest.mark.parametrize("measure", MEASURES)
def test_estimates_and_differences_agree(measure):
    classes, scores = classifiers(5)
    result = compare(classes, scores, measures=measure)
    (difference,) = result.differences
    assert difference.value == result.estimates["a"].value - result.estimates["b"].value
    for name, found in result.estimates.items():
        alone = estimate(measure, classes, scores[name])
        assert found.value == pytest.approx(alone.value, rel=0, abs=1e-12)
        assert found.standard_error == pytest.approx(alone.standard_error, rel=1e-9)
        np.testing.assert_allclose(found.interval, alone.interval, rtol=0, atol=1e-9)
    assert (result.measure, result.method, result.level) == (measure, "jackknife", 0.95)


def test_interval_p_value_and_probability_belong_together():
    classes, scores = classifiers(6)
    (difference,) = compare(classes, scores, measures="hand_till").differences
    assert 1e-6 < difference.p_value < 0.5
    # The interval of level 1 - p nearly reaches zero, though p is that of a t distribution
    level = 1 - difference.p_value
    (at_edge,) = compare(classes, scores, measures="hand_till", level=level).differences
    assert at_edge.interval[0] == pytest.approx(0, abs=0.05 * difference.standard_error)
    assert difference.probability_better == pytest.approx(1 - difference.p_value / 2, abs=1e-12)
    # A t distribution, and a little more than DeLong's scale
    z = difference.value / difference.standard_error
    assert difference.p_value > 2 * stats.norm.sf(z)


def test_differences_are_antisymmetric():
    classes, scores = classifiers(7)
    forward = compare(classes, scores)
    backward = compare(classes, dict(reversed(scores.items())))
    (one,), (other,) = forward.differences, backward.differences
    assert (one.first, one.second) == (other.second, other.first) == ("a", "b")
    assert other.value == -one.value
    assert other.standard_error == pytest.approx(one.standard_error, rel=1e-12)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
    np.testing.assert_allclose(other.interval, np.negative(one.interval)[::-1], atol=1e-12)
    assert one.probability_better + other.probability_better == pytest.approx(1, abs=1e-12)
    found = forward.probability_better
    assert found["a", "b"] + found["b", "a"] == pytest.approx(1, abs=1e-15)


# Orders


@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc", "brier_score"])
def test_probabilities_of_orders(measure):
    """Of few rows, differences know of what the sample does not show; so do orders."""
    classes, scores = classifiers(8, shifts=(1.3, 1.2, 1.1))
    scores["c"] = 0.9 * scores["a"] + 0.1 * scores["c"]  # nearly the same
    forecasts = {name: softmax(x, axis=1) for name, x in scores.items()}
    result = compare(classes, forecasts, measures=measure)
    orders = result.order_probabilities
    assert sum(orders.values()) == pytest.approx(1, rel=0, abs=1e-12)
    assert set(orders) <= set(itertools.permutations("abc"))
    assert list(orders.values()) == sorted(orders.values(), reverse=True)
    for pair, expected in result.probability_better.items():
        found = sum(p for order, p in orders.items() if order.index(pair[0]) < order.index(pair[1]))
        assert found == pytest.approx(expected, rel=0, abs=0.005)


@pytest.mark.parametrize("shifts", [(1.2, 1.1), (1.0, 1.3)])
def test_order_of_two_is_the_probability_that_one_is_better(shifts):
    classes, scores = classifiers(9, shifts=shifts)
    result = compare(classes, scores, measures="hand_till")
    expected = result.probability_better["a", "b"]
    assert 0.01 < expected < 0.99
    # 100,000 draws, five standard errors.
    error = 5 * np.sqrt(expected * (1 - expected) / 100_000)
    assert result.order_probabilities["a", "b"] == pytest.approx(expected, rel=0, abs=error)


def test_same_seed_same_numbers():
    classes, scores = classifiers(10, shifts=(1.2, 1.1, 1.0))

    def orders(random_state):
        result = compare(classes, scores, measures="hand_till", random_state=random_state)
        return result.order_probabilities, result.seed

    assert orders(3) == orders(3)
    assert orders(3)[1] == 3
    assert orders(3)[0] != orders(4)[0]
    drawn = orders(np.random.default_rng(3))
    assert drawn == orders(np.random.default_rng(3)) == orders(drawn[1])


def test_many_classifiers_show_what_decides_who_is_best():
    y, rng = np.arange(200) % 2, np.random.default_rng(0)
    named = {f"m{i}": y + rng.normal(size=200) * (1 + i % 7) for i in range(12)}
    result = compare(y, named, measures="auc")
    sorted_one = result.best_first()
    values = [e.value for e in sorted_one.estimates.values()]
    assert values == sorted(values, reverse=True)
    best = next(iter(sorted_one.estimates))
    assert all(d.first == best and d.value >= 0 for d in sorted_one.differences[:11])
    apart = {frozenset((d.first, d.second)): abs(d.value) for d in result.differences}
    for d in sorted_one.differences:
        assert d.value == pytest.approx(apart[frozenset((d.first, d.second))], abs=1e-15)
    lines = str(result).splitlines()
    assert lines[14:18] == [
        "p-value by t test, 166 to 198 degrees of freedom",
        "",
        "66 differences: see to_pandas('differences')",
        "10 order probabilities: see to_pandas('order_probabilities')",
    ]
    assert len(lines) <= 25
    ranked = [line.split() for line in lines[2:14]]
    assert [x[0] for x in ranked] == [*sorted_one.estimates]
    behind = sorted_one.differences[:11]
    assert [float(x[6]) for x in ranked[1:]] == [round(d.value, 4) for d in behind]
    assert [float(x[7]) for x in ranked[1:]] == pytest.approx(
        [d.adjusted_p_value for d in behind], rel=0.06
    )
    assert "order, best first" in result.as_text(all_rows=True)
    assert len(result.plot().ax_.get_yticks()) == 11
    assert [d.value for d in result.differences] == [*result.to_pandas()["difference"]]


def test_six_classifiers_have_fifteen_differences():
    classes, scores = classifiers(11, shifts=(1.5, 1.4, 1.3, 1.2, 1.1, 1.0))
    result = compare(classes, scores, measures="hand_till")
    pairs = [(d.first, d.second) for d in result.differences]
    assert pairs == list(itertools.combinations("abcdef", 2))
    assert len(result.probability_better) == 30
    table = result.to_pandas()
    assert table.shape == (15, 12)
    assert table["difference"][0] == result.differences[0].value
    text = str(result)
    for name in scores:
        assert f"\n{name} " in text
    assert "best - row" in text
    assert "15 differences: see to_pandas('differences')" in text


# What belongs together


def test_finished_predictions_are_compared_as_arrays_are():
    classes, scores = classifiers(12)
    weights = np.random.default_rng(13).uniform(0.5, 2, size=60)
    finished = {
        name: Predictions.from_arrays(classes, x, sample_weight=weights)
        for name, x in scores.items()
    }
    from_arrays = compare(classes, scores, measures="hand_till", sample_weight=weights)
    assert compare(finished, measures="hand_till").differences == from_arrays.differences


@pytest.mark.filterwarnings("ignore:.*y_pred is not the class")
def test_given_hard_labels_belong_to_their_classifier():
    classes, scores = classifiers(12)
    other = {"b": np.roll(classes, 1)}
    found = compare(classes, scores, measures="informedness", y_pred=other).estimates
    assert found["a"] == estimate("informedness", classes, scores["a"])
    assert found["b"] == estimate("informedness", classes, scores["b"], y_pred=other["b"])
    assert found["b"].value < 0
    # A single score says nothing of hard labels.
    classes, scores = classifiers(12, n_classes=2)
    scores = {name: x[:, 1] for name, x in scores.items()}
    with pytest.raises(ValueError, match="informedness needs hard labels"):
        compare(classes, scores, measures="informedness")
    predicted = {name: (x > 0.5).astype(int) for name, x in scores.items()}
    result = compare(classes, scores, measures="informedness", y_pred=predicted)
    expected = estimate("informedness", classes, scores["a"], y_pred=predicted["a"])
    assert result.estimates["a"] == expected


def test_hard_labels_alone():
    classes, scores = classifiers(12)
    predicted = {name: x.argmax(axis=1) for name, x in scores.items()}
    found = compare(classes, y_pred=predicted)
    assert found.measure == "informedness"
    assert found.differences == compare(classes, scores, measures="informedness").differences
    # The class 3 occurs in the labels of "b" alone, and its absence changes no value of the others.
    predicted["b"] = np.where(np.arange(len(classes)) < 3, 3, predicted["b"])
    found = compare(classes, y_pred=predicted, measures="accuracy")
    assert {p.labels for p in found.predictions.values()} == {(0, 1, 2, 3)}
    assert found.estimates["a"].value == pytest.approx(np.mean(predicted["a"] == classes))
    assert found.estimates["b"].value == pytest.approx(np.mean(predicted["b"] == classes))
    weights = np.arange(len(classes)) % 3 + 0.5
    weighted = compare(classes, y_pred=predicted, measures="accuracy", sample_weight=weights)
    assert weighted.estimates["a"].value == pytest.approx(
        np.average(predicted["a"] == classes, weights=weights)
    )
    with pytest.raises(ValueError, match="at least two classifiers are needed"):
        compare(classes, y_pred={"a": classes})
    with pytest.raises(ValueError, match=r"labels not in labels=: 3"):
        compare(classes, y_pred=predicted, labels=[0, 1, 2])


def test_wrong_forms_of_hard_labels_are_told():
    classes, scores = classifiers(12)
    message = r"y_pred has hard labels of 'c', but y_score has the classifiers \['a', 'b'\]"
    with pytest.raises(ValueError, match=message):
        compare(classes, scores, y_pred={"c": classes})
    finished = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    with pytest.raises(TypeError, match="y_pred cannot be given together with a Predictions"):
        compare(finished, y_pred={"a": classes})


def test_independent_samples_say_the_seed_of_their_own_replicates():
    classes, scores = classifiers(12)
    samples = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    result = compare(
        samples, measures="hand_till", paired=False, method=dmfroc.Bootstrap(100), random_state=4
    )
    for seed, (name, sample) in enumerate(samples.items(), start=4):
        alone = estimate("hand_till", sample, method=dmfroc.Bootstrap(100), random_state=seed)
        assert result.estimates[name] == alone


def test_tables_show_the_title_of_the_measure():
    classes, scores = classifiers(12)
    result = compare(classes, scores, measures=replace(informedness(), title="Above chance"))
    assert (result.measure, result.title) == ("informedness", "Above chance")
    assert str(result).splitlines()[0].split("  ")[1].strip() == "Above chance"


def test_absent_class_warns_once():
    classes, scores = classifiers(14)
    keep = classes != 1
    with pytest.warns(UserWarning, match="left out: 1") as caught:
        result = compare(
            classes[keep], {name: x[keep] for name, x in scores.items()}, labels=[0, 1, 2]
        )
    assert len(caught) == 1
    for found in result.estimates.values():
        assert "left out: 1" in found.warnings[0]


def test_other_observations_are_refused():
    classes, scores = classifiers(15)
    a, b = scores["a"], scores["b"]
    with pytest.raises(ValueError, match="y_true has 60 rows but y_score has 59"):
        compare(classes, {"a": a, "b": b[:-1]})

    def finished(other_classes, other_scores, **options):
        return {
            "a": Predictions.from_arrays(classes, a),
            "b": Predictions.from_arrays(other_classes, other_scores, **options),
        }

    with pytest.raises(ValueError, match="'a' has 60 observations and 'b' has 59"):
        compare(finished(classes[:-1], b[:-1]))
    moved = np.roll(classes, 1)
    row = np.flatnonzero(moved != classes)[0]
    message = rf"observed classes of 'a' and 'b' differ, first in row {row} \(counting from 0\)"
    with pytest.raises(ValueError, match=message):
        compare(finished(moved, b))
    with pytest.raises(
        ValueError, match=r"'a' has the classes \[0, 1, 2\] and 'b' has \[2, 1, 0\]"
    ):
        compare(finished(classes, b, labels=[2, 1, 0]))
    weights = np.ones(60)
    weights[7] = 2
    with pytest.raises(ValueError, match="the weights of 'a' and 'b' differ, first in row 7"):
        compare(finished(classes, b, sample_weight=weights))


def test_wrong_forms_are_told():
    classes, scores = classifiers(16)
    with pytest.raises(ValueError, match="at least two classifiers are needed, but there are 1"):
        compare(classes, {"a": scores["a"]})
    with pytest.raises(ValueError, match="at least two classifiers are needed, but there are 0"):
        compare(classes, {})
    with pytest.raises(TypeError, match="y_true as a dict must hold Predictions, but 'a' is a nda"):
        compare(scores)
    with pytest.raises(ValueError, match="auc is a measure of two classes, and there are 3"):
        compare(classes, scores, measures="auc")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        compare(classes, scores, level=95.0)
    finished = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    with pytest.raises(TypeError, match="labels cannot be given together with a Predictions"):
        compare(finished, labels=[0, 1, 2])


# Bootstrap, independent samples, many comparisons


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc"])
def test_bootstrap_agrees_with_the_jackknife(measure, method):
    classes, scores = classifiers(12, shifts=(1.3, 1.1, 1.0))
    expected = compare(classes, scores, measures=measure)
    found = compare(classes, scores, measures=measure, method=METHODS[method](1000))
    for a, b in zip(found.differences, expected.differences, strict=True):
        assert a.value == pytest.approx(b.value, abs=1e-12)
        assert a.standard_error == pytest.approx(b.standard_error, rel=0.12)
        assert a.interval == pytest.approx(b.interval, abs=0.4 * b.standard_error)
        assert a.probability_better == pytest.approx(b.probability_better, abs=0.06)
    assert sum(found.order_probabilities.values()) == pytest.approx(1)
    assert (found.method, found.n_draws) == (method, 1000)


@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_bootstrap_of_identical_classifiers():
    classes, scores = classifiers(13, shifts=(1.2,))
    twins = {"a": scores["a"], "b": scores["a"]}
    result = compare(classes, twins, measures="hand_till", method="bootstrap")
    difference = result.differences[0]
    assert (difference.value, difference.p_value) == (0, 1)
    assert difference.probability_better == 0.5
    [expected] = compare(classes, twins, measures="hand_till").differences
    assert difference.interval == pytest.approx(expected.interval)
    assert result.order_probabilities["a", "b"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_independent_samples_add_their_variances(method):
    samples = {}
    for seed, name in enumerate("ab"):
        classes, scores = classifiers(20 + seed, shifts=(1.2,))
        keep = slice(None, None, seed + 1)  # of different sizes
        samples[name] = Predictions.from_arrays(classes[keep], scores["a"][keep])
    with pytest.raises(ValueError, match="; compare different ones with paired=False"):
        compare(samples, measures="hand_till")
    result = compare(samples, measures="hand_till", paired=False, method=method)
    errors = [estimate("hand_till", p).standard_error for p in samples.values()]
    tolerance = 1e-9 if method == "jackknife" else 0.08
    assert result.differences[0].standard_error == pytest.approx(np.hypot(*errors), rel=tolerance)
    low, high = result.differences[0].interval
    assert low < result.differences[0].value < high


def test_p_values_are_adjusted_by_holm():
    classes, scores = classifiers(11, shifts=(1.5, 1.3, 1.2, 1.15))
    result = compare(classes, scores, measures="hand_till")
    plain = np.array([d.p_value for d in result.differences])
    adjusted = np.array([d.adjusted_p_value for d in result.differences])
    order = np.argsort(plain)
    # The definition, step by step.
    expected, largest = {}, 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1, plain[index] * (len(plain) - rank)))
        expected[index] = largest
    assert adjusted == pytest.approx([expected[index] for index in range(len(plain))])
    assert (adjusted >= plain).all()


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_region_of_practical_equivalence(method):
    classes, scores = classifiers(14, shifts=(1.3, 1.25))
    plain, wide, all_of_it = (
        compare(classes, scores, measures="hand_till", method=method, test=test).differences[0]
        for test in ("two-sided", dmfroc.Equivalence(0.02), dmfroc.Equivalence(1))
    )
    assert plain.probability_equivalent == pytest.approx(0, abs=0.01)
    assert 0.1 < wide.probability_equivalent < 1
    assert all_of_it.probability_equivalent == pytest.approx(1)
    assert plain.probability_better == wide.probability_better
    if method == "jackknife":
        z = stats.norm(wide.value, wide.standard_error)
        expected = z.cdf(0.02) - z.cdf(-0.02)
        assert wide.probability_equivalent == pytest.approx(expected, abs=0.02)
    with pytest.raises(ValueError, match=r"half_width must be positive and finite, but it is -1"):
        dmfroc.Equivalence(-1.0)


def test_groups_are_the_units_of_a_comparison():
    classes, scores = classifiers(15, shifts=(1.3, 1.1))
    thrice = {name: np.repeat(s, 3, axis=0) for name, s in scores.items()}
    groups = np.repeat(np.arange(len(classes)), 3)
    once = compare(classes, scores, measures="hand_till").differences[0]
    grouped = compare(
        np.repeat(classes, 3), thrice, measures="hand_till", groups=groups
    ).differences[0]
    assert grouped.standard_error == pytest.approx(once.standard_error, rel=1e-9)
    assert grouped.p_value == pytest.approx(once.p_value, rel=1e-6)


def test_posteriors_of_independent_samples():
    pytest.importorskip("numpyro")
    samples = {}
    for seed, name in enumerate("ab"):
        classes, scores = classifiers(30 + seed, shifts=(1.5 - 0.5 * seed,))
        samples[name] = Predictions.from_arrays(classes, scores["a"])
    result = compare(samples, measures="informedness", method="bayes", paired=False)
    errors = [e.standard_error for e in result.estimates.values()]
    difference = result.differences[0]
    assert difference.standard_error == pytest.approx(np.hypot(*errors), rel=0.05)
    assert difference.interval[0] < difference.value < difference.interval[1]
    assert (result.method, result.n_draws) == ("bayes", len(result.estimates["a"].draws))


@pytest.mark.filterwarnings("ignore:the same scores in every row")
def test_posteriors_of_the_same_observations():
    pytest.importorskip("numpyro")
    classes, scores = classifiers(30, shifts=(1.5, 1.3))
    options = {"measures": "informedness", "random_state": 1}
    found = compare(classes, scores, method="bayes", **options)
    [posterior], [jackknife] = found.differences, compare(classes, scores, **options).differences
    assert posterior.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)
    assert posterior.value == pytest.approx(jackknife.value, abs=jackknife.standard_error / 4)
    alone = estimate("informedness", classes, scores["a"], method="bayes", random_state=1)
    assert found.estimates["a"].interval == alone.interval
    same = compare(classes, {"a": scores["a"], "b": scores["a"]}, method="bayes", **options)
    [none] = same.differences
    assert (none.value, none.standard_error, none.probability_better) == (0, 0, 0.5)
    assert none.p_value == 1


# Comparisons by their formulas


def hand_made_t(shares):
    """Return the t distribution of a difference, from each class's shares in it."""
    sizes = np.array([len(x) for x in shares])
    parts = np.array([x.var(ddof=1) for x in shares]) / sizes
    excess = np.array([max(stats.kurtosis(x), 0) for x in shares])
    own = 2 / (excess / sizes + 2 / (sizes - 1))
    return np.sqrt(parts.sum()), stats.t(parts.sum() ** 2 / (parts**2 / own).sum())


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_a_difference_of_many_observations_is_tested_by_its_t_distribution(level):
    """The limits are others: they are near those of t."""
    classes, scores = classifiers(6, n=180)
    shares = {name: delong.placements(classes, x) for name, x in scores.items()}
    of_difference = [(shares["a"] - shares["b"])[classes == c] for c in range(3)]
    scale, t = hand_made_t(of_difference)
    samples = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    result = compare(samples, measures="hand_till", level=level, test=dmfroc.Equivalence(0.03))
    (found,) = result.differences
    ends = found.value + scale * np.array([-1, 1]) * t.ppf((1 + level) / 2)
    np.testing.assert_allclose(found.interval, ends, atol=0.1 * scale)
    assert found.p_value == pytest.approx(2 * t.sf(found.value / scale), rel=1e-7)
    assert found.probability_better == pytest.approx(t.cdf(found.value / scale), rel=1e-9)
    within = t.cdf((found.value + 0.03) / scale) - t.cdf((found.value - 0.03) / scale)
    assert found.probability_equivalent == pytest.approx(within, rel=1e-7)
    assert found.standard_error == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    ("method", "paired"), [("bootstrap", True), ("bootstrap", False), ("bayesian_bootstrap", True)]
)
def test_a_difference_is_judged_by_its_draws(method, paired, level):
    classes, scores = classifiers(14, shifts=(1.3, 1.25))
    samples = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    result = compare(
        samples,
        measures="hand_till",
        method=METHODS[method](400, "percentile"),
        paired=paired,
        level=level,
        test=dmfroc.Equivalence(0.02),
    )
    (found,) = result.differences
    draws = result.estimates["a"].draws - result.estimates["b"].draws
    assert (draws != 0).all()
    above = np.mean(draws > 0)
    assert 0.05 < above < 0.95
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    without_draws = compare(samples, measures="hand_till", paired=paired, level=level)
    tilted = without_draws.differences[0].interval
    reached = min(low, tilted[0]), max(high, tilted[1])
    assert found.interval == pytest.approx(reached, rel=1e-12)
    assert found.standard_error == pytest.approx(draws.std(ddof=1), rel=1e-12)
    assert found.probability_better == pytest.approx(above, abs=1e-12)
    assert result.order_probabilities["a", "b"] == pytest.approx(above, abs=1e-12)
    assert found.probability_equivalent == np.mean(np.abs(draws) <= 0.02)
    of_draws = (2 * min(above, 1 - above) * 400 + 2) / 401
    assert of_draws - 1e-12 <= found.p_value < of_draws + 0.1  # or of the tilted limits
    # On the same rows the replicates go together; on others a sixth is more than three errors
    correlation = np.corrcoef(*(e.draws for e in result.estimates.values()))[0, 1]
    assert (correlation > 1 / 6) == paired


def test_table_holds_the_differences():
    classes, scores = classifiers(11, shifts=(1.5, 1.3, 1.1))
    result = compare(classes, scores, measures="hand_till", test=dmfroc.Equivalence(0.01))
    table = result.to_pandas()
    for row, found in zip(table.itertuples(), result.differences, strict=True):
        assert (row.first, row.second) == (found.first, found.second)
        assert (row.difference, row.standard_error) == (found.value, found.standard_error)
        assert (row.low, row.high) == found.interval
        assert (row.p_value, row.adjusted_p_value) == (found.p_value, found.adjusted_p_value)
        assert row.probability_better == found.probability_better
        assert row.probability_equivalent == found.probability_equivalent


# One-sided tests


def shows_alternative(difference, alternative, margin):
    """Whether the limit lies beyond the margin."""
    low, high = difference.interval
    if alternative == "greater":
        assert high == np.inf
        return low > -margin
    assert low == -np.inf
    return high < margin


INTERVAL_OPTIONS = [
    {},
    {"paired": False},
    {"groups": np.arange(60) // 2},
    {"folds": np.arange(60) % 3},
    {"folds": dmfroc.Folds(np.arange(60) % 3, target="learner")},
    {"method": dmfroc.Bootstrap(200)},
    {"method": dmfroc.Bootstrap(200, interval="percentile")},
    {"method": dmfroc.BayesianBootstrap(200), "paired": False},
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the same scores in every row")
@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("options", INTERVAL_OPTIONS)
def test_one_sided_limits_belong_to_their_p_values(options, alternative):
    classes, scores = classifiers(3, shifts=(1.5, 1.0, 1.5))
    scores |= {"perfect": np.eye(3)[classes], "copy": np.eye(3)[classes]}
    predictions = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    shown = set()
    of_margins = [(0.0, 0.95), (0.06, 0.95), (0.06, 0.7), (0.3, 0.99)]
    for margin, level in of_margins if alternative == "greater" else of_margins[:1]:
        test = dmfroc.NonInferiority(margin) if margin else alternative
        result = compare(predictions, measures="hand_till", test=test, level=level, **options)
        for difference in result.differences:
            is_shown = shows_alternative(difference, alternative, margin)
            assert is_shown == (difference.p_value < 1 - level)
            shown.add(is_shown)
    assert shown == {True, False}


@pytest.mark.parametrize("paired", [True, False])
def test_one_sided_tests_halve_the_two_sided_one(paired):
    classes, scores = classifiers(6)
    named = {name: Predictions.from_arrays(classes, x) for name, x in scores.items()}
    (both,), (greater,), (less,) = (
        compare(named, measures="hand_till", paired=paired, test=side).differences
        for side in ("two-sided", "greater", "less")
    )
    assert both.value > 0
    assert greater.p_value == pytest.approx(both.p_value / 2, rel=1e-8)
    assert less.p_value == pytest.approx(1 - both.p_value / 2, rel=1e-8)
    assert greater.two_sided_p_value == both.p_value
    assert greater.probability_better == both.probability_better
    (at_90,) = compare(named, measures="hand_till", paired=paired, level=0.9).differences
    assert (greater.interval[0], less.interval[1]) == pytest.approx(at_90.interval, abs=1e-12)


def test_smaller_errors_are_better_where_better_is_tested():
    classes, scores = classifiers(6, shifts=(2.0, 1.0))
    probabilities = {k: np.exp(x) / np.exp(x).sum(axis=1)[:, None] for k, x in scores.items()}
    result = compare(
        classes, probabilities, measures="brier_score", test=dmfroc.NonInferiority(0.05)
    )
    (difference,) = result.differences
    assert difference.value < 0
    assert difference.p_value < 0.01
    assert difference.probability_better > 0.99
    claim = "A - B < 0.05, that is, A is not worse than B by 0.05 or more"
    assert claim in on_one_line(str(result))
    assert "P(A better)" in str(result)


@pytest.mark.filterwarnings("ignore:the same")
def test_limits_without_variation_are_those_of_one_unseen_row():
    """Of Dirichlet weights of n rows, one half an error of either classifier."""
    classes = np.arange(60) % 3
    options = {"measures": "accuracy"}
    predicted = dict.fromkeys("ab", classes)
    (difference,) = compare(classes, y_pred=predicted, test="greater", **options).differences
    drawn = np.random.default_rng(0).dirichlet([60, 0.5, 0.5], 400_000) @ [0, -1, 1]
    limit = difference.interval[0]
    assert limit == pytest.approx(np.quantile(drawn, 0.05), rel=0.04)
    assert difference.p_value == 0.5
    for closer, is_shown in ((1 + 1e-6, True), (1 - 1e-6, False)):
        result = compare(
            classes, y_pred=predicted, test=dmfroc.NonInferiority(-limit * closer), **options
        )
        assert (result.differences[0].p_value < 0.05) == is_shown


def test_several_one_sided_tests_are_adjusted():
    classes, scores = classifiers(2, shifts=(1.5, 1.2, 1.0, 0.5))
    options = {"test": dmfroc.NonInferiority(0.02)}
    single = compare(classes, scores, measures="hand_till", **options)
    together = compare(classes, scores, measures="hand_till", simultaneous=True, **options)
    two_sided = compare(classes, scores, measures="hand_till", simultaneous=True)
    for one, joint, both in zip(
        single.differences, together.differences, two_sided.differences, strict=True
    ):
        assert joint.p_value == one.p_value <= joint.adjusted_p_value <= min(6 * one.p_value, 1)
        # Less than Bonferroni's limit, more than that of a single test
        assert both.interval[0] < joint.interval[0] < one.interval[0]
        assert joint.interval[1] == np.inf
    assert together.winner == two_sided.winner
    assert single.best_set() == two_sided.best_set()
    assert (
        single.order_probabilities
        == compare(classes, scores, measures="hand_till").order_probabilities
    )


def test_what_is_tested_is_said_everywhere():
    classes, scores = classifiers(6)
    result = compare(classes, scores, measures="hand_till", test=dmfroc.NonInferiority(0.05))
    data = result.as_json()
    claim = "A - B > -0.05, that is, A is not worse than B by 0.05 or more"
    assert claim in data["tested"]
    assert (data["alternative"], data["margin"]) == ("greater", 0.05)
    assert data["differences"][0]["interval"][1] is None  # JSON has no infinity
    assert claim in on_one_line(str(result))
    assert "95 % limit (margin 0.05)" in str(result)
    assert claim.replace(">", "&gt;") in result._repr_html_()
    [sentence] = comparison_verdict(result)
    assert sentence.startswith("a is not worse than b by 0.05 or more: Hand-Till M ")
    assert "95 % limit: at least " in sentence
    ends = result.plot().intervals_.get_segments()[0][:, 0]
    assert ends[0] == pytest.approx(result.differences[0].interval[0])
    assert np.isfinite(ends).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "larger"}, "test must be one of"),
        ({"test": dmfroc.NonInferiority(1.0)}, "margin must be less than 1, the largest"),
        ({"test": "greater", "level": 0.5}, "a one-sided limit needs level > 0.5"),
    ],
)
def test_hypotheses_that_cannot_be_tested_are_refused(options, message):
    for margin in (-0.1, 0.0, float("nan")):
        with pytest.raises(ValueError, match="margin must be positive and finite"):
            dmfroc.NonInferiority(margin)
    classes, scores = classifiers()
    with pytest.raises(ValueError, match=message):
        compare(classes, scores, measures="hand_till", **options)


def test_orders_of_small_samples_are_nearly_those_of_each_difference():
    """Summed over where the others are, they are the probabilities of each two."""
    rng = np.random.default_rng(2)
    y = np.arange(14) % 2
    shifts = {"a": 3.0, "b": 1.0, "c": 0.3}
    scores = {name: rng.normal(size=14) + shift * y for name, shift in shifts.items()}
    found = compare(y, scores, measures="hand_till")
    assert min(d.p_value for d in found.differences) < 0.1
    for (first, second), expected in found.probability_better.items():
        total = sum(
            probability
            for order, probability in found.order_probabilities.items()
            if order.index(first) < order.index(second)
        )
        assert total == pytest.approx(expected, abs=0.02)


def test_order_of_classifiers_turns_signs_alone():
    """An error may cost alike in all classes for one of them alone; the first one decided that."""
    rng, y = np.random.default_rng(0), np.repeat([0, 1], [5, 46])
    noise, right = rng.dirichlet([1, 1], size=51), np.eye(2)[y]
    given = {"weak": 0.7 * noise + 0.3 * right, "strong": 0.2 * noise + 0.8 * right}
    for name in ("brier_resolution", "brier_score"):
        [first] = compare(y, given, measures=name).differences
        [second] = compare(y, dict(reversed(given.items())), measures=name).differences
        assert second.standard_error == pytest.approx(first.standard_error, rel=1e-9)
        assert second.p_value == pytest.approx(first.p_value, rel=1e-6)
        assert second.interval == pytest.approx([-x for x in first.interval[::-1]], rel=1e-6)


def test_several_measures_are_compared_one_by_one():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=90)
    scores = {name: rng.dirichlet(np.ones(3), 90) for name in "ab"}
    found = compare(y, scores, measures=["hand_till", "brier_score"], simultaneous=True)
    assert list(found) == ["hand_till", "brier_score"]
    for name, one in found.items():
        expected = compare(y, scores, measures=name, simultaneous=True)
        assert one.differences == expected.differences
    table = found.to_pandas()
    assert table["measure"].tolist() == list(found)
    assert found.to_markdown().count("| Brier score |") == 1
    for name, title in (("hand_till", "Hand-Till M"), ("brier_score", "Brier score")):
        assert f"{title}\n{'═' * len(title)}\n" in str(found)
        assert found[name].as_text(warnings=False) in str(found)
        assert name not in str(found)
    both = compare(y == 0, {x: s[:, 0] for x, s in scores.items()}, measures="dmf_auc, hand_till")
    assert str(both).count("AUC\n═══") == 1


def test_a_print_has_all_columns_of_three_classifiers_with_usual_names():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    names = ("random_forest", "logistic_regression", "gradient_boosting")
    scores = {name: rng.normal(size=(90, 3)) + np.eye(3)[y] for name in names}
    for options in (
        {"measures": "hand_till"},
        {"measures": "hand_till, accuracy", "simultaneous": True},
        {"measures": "auc", "pos_label": [0, 1, 2]},
    ):
        text = str(compare(y, scores, **options))
        assert "and columns of" not in text
        assert re.search("may be best: in the 9[58].* % confidence set for the best", text)
        assert max(map(len, text.splitlines())) <= 80
        assert re.search(r"(random|logistic|gradient)_ .*\n(forest|regression|boosting) ", text)


def test_two_long_names_share_a_column_in_print():
    rng = np.random.default_rng(0)
    y, names = np.arange(180) % 2, ("northern university", "southern university")
    by = [f"{names[i % 2]} clinic {i // 2 % 3}" for i in rng.permutation(180)]
    found = dmfroc.compare_subgroups(y, rng.normal(size=180) + y, by=by, measures="auc")
    rows = str(found).partition("A vs. B")[2].partition("p-value by")[0].splitlines()[3:]
    assert 20 < len(rows) <= 2 * 20 + 1
    assert "second" in found.to_pandas("differences")


@pytest.mark.parametrize("options", [{}, {"simultaneous": True}, {"test": "greater"}])
def test_a_print_names_the_differences_whose_p_value_and_interval_disagree(options):
    """By sign flips and by tilting: seeds at whose level one of them excludes no difference.

    Each is named in the direction in which it is printed.
    """
    n_named = n_turned = 0
    for seed in (98, 181, 0, 1):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([60, 150, 300]))
        y = rng.integers(0, 2, n)
        a = rng.normal(size=n) + 1.2 * y
        scores = {"a": a, "b": a + rng.normal(size=n) * 0.5 - 0.05 * y}
        if seed in (98, 0):  # the worse one first
            scores = dict(reversed(scores.items()))
        found = compare(y, scores, measures="hand_till", **options)
        [d] = found.differences
        name = (d if "test" in options else d.better_first()).name
        n_turned += name != d.name
        is_named = f"disagree: p-value and interval for {name}." in on_one_line(str(found))
        excludes = not d.interval[0] <= 0 <= d.interval[1]
        assert is_named == (excludes != (d.adjusted_p_value < 0.05))
        page = found.to_html()
        assert is_named == (f" interval for {name}." in page) == ("if its p-value does" in page)
        assert ("disagree" in str(found)) == is_named
        n_named += is_named
    assert n_named == (0 if "test" in options else 2)
    assert n_turned == (0 if "test" in options else 2)


def test_a_print_says_by_which_rule_a_classifier_is_excluded_as_the_best():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    a = rng.normal(size=300) + 1.2 * y
    scores = {"a": a, **{x: a + s * rng.normal(size=300) for x, s in [("b", 0.3), ("c", 0.5)]}}
    found = compare(y, scores)
    assert found.best_set() == ("a", "b")
    assert found.differences[1].adjusted_p_value > 0.05
    [line] = found.where_rules_differ()
    assert line in on_one_line(str(found))
    assert line.startswith("Cite the adjusted p-value for whether two differ, the interval for")
    assert line.endswith('adjusted p-value and "may be best" for c.')
    assert "Cite" not in str(compare(y, {"a": a, "c": scores["c"]}))


def test_differences_with_one_classifier_are_adjusted_for_these_alone():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    scores = {f"m{i}": rng.normal(size=200) + (1 + i / 8) * y for i in range(6)}
    found = compare(y, scores, measures="hand_till")
    own = found.against("m2")
    assert [(d.first, d.second) for d in own] == [
        *(("m0", "m2"), ("m1", "m2")),
        *(("m2", x) for x in ("m3", "m4", "m5")),
    ]
    p_values = sorted(d.p_value for d in own)
    expected = np.minimum(np.maximum.accumulate(p_values * np.arange(5, 0, -1)), 1)
    assert sorted(d.adjusted_p_value for d in own) == pytest.approx(expected)
    for d in own:
        [same] = [x for x in found.differences if (x.first, x.second) == (d.first, d.second)]
        assert d == replace(same, adjusted_p_value=d.adjusted_p_value)
    with pytest.raises(KeyError, match="reference 'm9' is none of m0, m1"):
        found.against("m9")
    with pytest.raises(ValueError, match="compare without simultaneous=True"):
        compare(y, scores, measures="hand_till", simultaneous=True).against("m2")
    with pytest.raises(TypeError, match=r"\.against\(.name.\) of the result adjusts"):
        compare(y, scores, reference="m2")


@pytest.mark.filterwarnings("ignore:if the scores are logits")
@pytest.mark.parametrize("seed", [10, 23])
def test_probabilities_of_a_comparison_are_those_of_its_p_values(seed):
    """Also where few rows determine a difference: versions of one classifier that hardly differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=300)
    scores = rng.normal(size=(300, 5)) + 2 * np.eye(5)[y]
    versions = {
        f"version {i}": scores + 0.01 * i * rng.exponential(size=(300, 5)) ** 2 for i in range(3)
    }
    found = compare(y, versions, measures="hand_till")
    for d in found.differences:
        half = d.p_value / 2
        assert d.probability_better == pytest.approx(1 - half if d.value > 0 else half)
        orders = found.order_probabilities.items()
        of_orders = sum(p for x, p in orders if x.index(d.first) < x.index(d.second))
        assert d.probability_better == pytest.approx(of_orders, abs=0.03)


def test_each_p_value_names_its_test():
    """The t test by its degrees of freedom; what stands in print, in frames and in JSON."""
    y, rng = np.arange(300) % 2, np.random.default_rng(0)
    scores = {name: y + rng.normal(size=300) for name in "ab"}
    scores["c"] = scores["a"] + (np.arange(300) < 3)  # three rows alone make a difference
    found = compare(y, scores, measures="auc")
    tests = {(d.first, d.second): d.test for d in found.differences}
    assert tests == {("a", "b"): "t test", ("a", "c"): "sign flips", ("b", "c"): "t test"}
    freedoms = []
    for d in found.differences:
        if d.test == "t test":
            t = abs(d.value) / d.standard_error
            assert d.p_value == pytest.approx(2 * stats.t.sf(t, d.degrees_of_freedom), rel=1e-9)
            freedoms.append(f"{d.degrees_of_freedom:.0f}")
        else:
            assert d.degrees_of_freedom is None
    [flipped] = [d.better_first().name for d in found.differences if d.test == "sign flips"]
    ends = " to ".join(sorted(set(freedoms), key=float))
    line = f"p-value by t test, {ends} degrees of freedom; {flipped} by sign flips"
    assert line in on_one_line(str(found))
    assert line in on_one_line(found._repr_html_())
    assert list(found.to_pandas()["test"]) == list(tests.values())
    assert [d["test"] for d in found.as_json()["differences"]] == list(tests.values())
    how = found.to_html().partition("How this was computed")[2]
    assert "by sign flips; P(A better): 1 - p/2 of the two-sided p-value" in how
    two = {name: scores[name] for name in "ab"}
    for options, test in (
        ({"method": "bootstrap"}, "share of draws"),
        ({"test": dmfroc.NonInferiority(0.1)}, "tail of the limits"),
    ):
        [d] = compare(y, two, measures="auc", **options).differences
        assert d.test == test


def test_warnings_of_two_classes_have_the_title_of_the_table():
    y = np.arange(100) % 2
    perfect = y + np.random.default_rng(0).random(100) / 2
    for result in (
        estimate("hand_till", y, perfect),
        dmfroc.evaluate(y, perfect, measures=["dmf_auc", "hand_till"]),
        compare(y, {"a": perfect, "b": perfect + 1}, measures="hand_till"),
    ):
        [warning] = result.warnings
        assert warning.startswith("AUC is perfect in this sample")


def test_a_bias_extends_the_interval_of_a_difference_and_moves_no_p_value():
    """Else a difference inside of the bias would have p = 1, whatever its standard error."""
    rng = np.random.default_rng(12)
    y = np.arange(90) % 3
    scores = rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]
    named = {"a": scores, "b": scores + 0.6 * rng.normal(size=(90, 3))}
    folds = np.arange(90) // 3 % 3
    by_limits, by_draws = (
        compare(y, named, measures="dmf_auc", folds=folds, method=x).differences[0]
        for x in ("jackknife", "bootstrap")
    )
    assert by_limits.test == by_draws.test == "tail of the limits"
    assert by_draws.p_value == pytest.approx(by_limits.p_value, rel=1e-3)
    low, high = by_limits.interval
    assert by_limits.value - low > 1.15 * (high - by_limits.value)
    assert by_limits.p_value < 0.3


def test_what_stands_below_a_table_names_its_measures():
    """Of several measures each line stands once, with the measures that it concerns."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    scores = {
        x: rng.normal(size=(60, 3)) + gain * np.eye(3)[y] for x, gain in {"a": 1, "b": 2}.items()
    }
    test = dmfroc.NonInferiority(0.1)
    found = dmfroc.compare(y, scores, measures=["hand_till", "accuracy"], test=test)
    of_each = {one.title: one.foot() for one in found.values()}
    assert all(of_each.values())
    for name, lines in of_each.items():
        for line in lines:
            is_common = all(line in other for other in of_each.values())
            assert (line if is_common else f"{name}: {line}") in found.foot()


def test_the_table_of_several_measures_names_the_test_of_each():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    a, b = (softmax(rng.normal(size=(240, 3)) + np.eye(3)[y], axis=1) for _ in "ab")
    measures = ("hand_till", "informedness", "log_loss")
    several = dmfroc.compare(y, {"a": a, "b": b}, measures=list(measures))
    own = [dmfroc.compare(y, {"a": a, "b": b}, measures=x).tables()[1].note for x in measures]
    assert len({*own}) == 3
    titles = ("Hand-Till M", "Informedness", "Log loss")
    told = "; ".join(f"{title}: {note}" for title, note in zip(titles, own, strict=True))
    assert several.tables()[1].note == told
    assert told in several.to_html()
