"""Sign flips: McNemar's mid-p test, all signs of a small sample, and when they are used."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from simulations import normal_scores

import dmfroc
from dmfroc import Predictions, compare
from dmfroc.extend import influences
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import moments_of
from dmfroc.inference.sign_flips import p_value_of_flips, sign_flips, uses_sign_flips
from dmfroc.inference.units import Units, units_of


@pytest.mark.parametrize("stratify", [None, True])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_it_is_mcnemars_mid_p_test_for_accuracy(alternative, stratify):
    classes = np.repeat([0, 1, 2], [40, 80, 60])
    first, second = classes.copy(), classes.copy()
    second[[0, 1, 2, 3, 4, 5, 130]] = 1
    first[100] = 0
    results, options = {"a": np.eye(3)[first], "b": np.eye(3)[second]}, {"test": alternative}
    [found] = compare(
        classes, results, measures="accuracy", stratify=stratify, **options
    ).differences
    exact = stats.binomtest(7, 8, alternative=alternative).pvalue
    sides = 2 if alternative == "two-sided" else 1
    mid_p = exact - sides * stats.binom(8, 0.5).pmf(7) / 2
    assert found.p_value == pytest.approx(mid_p, abs=4 * np.sqrt(mid_p * (1 - mid_p) / 9999))


def test_five_errors_of_one_classifier_alone_are_significant():
    """By the exact test, p = .0625, no number of them below six is."""
    classes = np.repeat([0, 1], 60)
    first, second = classes.copy(), classes.copy()
    second[:5] = 1
    results = {"a": np.eye(2)[first], "b": np.eye(2)[second]}
    [found] = compare(classes, results, measures="accuracy").differences
    assert found.p_value == pytest.approx(1 / 32, abs=0.008)


def test_draws_of_signs_are_those_of_all_signs():
    """Of twelve units in two strata, the share of 4,096 signs that are as extreme."""
    rng = np.random.default_rng(1)
    strata, sizes = np.repeat([0, 1], [7, 5]), np.array([7, 5])
    units = Units(np.arange(12), strata, sizes, np.array([5.0]))
    influence, value = rng.normal(size=12) / sizes[strata], 0.4
    influence -= (np.bincount(strata, influence) / sizes)[strata]
    contributions = influence + value / 2 / sizes[strata]
    assert contributions.sum() == pytest.approx(value)
    sums = np.array(list(itertools.product([-1, 1], repeat=12))) @ contributions
    [flips] = sign_flips(influence[None], [value], units)
    assert flips[0] == pytest.approx(value)
    for alternative, share in (
        ("two-sided", np.mean(abs(sums) >= value - 1e-12)),
        ("greater", np.mean(sums >= value - 1e-12)),
        ("less", np.mean(sums <= value + 1e-12)),
    ):
        found = p_value_of_flips(flips, Hypothesis(alternative).sign, 0.0)
        assert found == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 9999))


def test_a_difference_beyond_all_draws_has_the_p_value_of_the_limits_if_that_is_less():
    flips = np.append(1.0, np.zeros(9999))
    assert p_value_of_flips(flips, 0, 1e-7) == 1e-7
    assert p_value_of_flips(flips, 0, 0.3) == 1e-4


@pytest.mark.parametrize("n_errors", [8, 20])
def test_a_p_value_that_flips_cannot_show_is_named_the_tail_of_the_limits(n_errors):
    """It is the error probability of the interval that ends at 0; others are multiples of 1/20000.

    By signs of so many errors of one classifier alone the mid-p value is 2^-n.
    """
    classes = np.repeat([0, 1], 500)
    second = np.where(np.arange(1000) < n_errors, 1, classes)
    results = {"a": np.eye(2)[classes], "b": np.eye(2)[second]}
    found = compare(classes, results, measures="accuracy")
    [d] = found.differences
    is_far = n_errors == 20
    assert (d.p_value < 1e-4) == is_far
    assert d.test == ("tail of the limits" if is_far else "sign flips")
    assert f"p-value by {d.test}\n" in f"{found}\n"
    if is_far:
        [same] = compare(classes, results, measures="accuracy", level=1 - d.p_value).differences
        assert same.interval[0] == pytest.approx(0, abs=1e-6)
    else:
        assert d.p_value == pytest.approx(2.0**-n_errors, abs=3e-3)
        assert 20_000 * d.p_value == pytest.approx(round(20_000 * d.p_value), abs=1e-6)


@pytest.mark.parametrize(
    ("shift", "n", "expected"), [(3.0, 300, True), (0.8, 300, False), (3.0, 50, False)]
)
def test_it_is_used_where_few_observations_decide_in_large_classes(shift, n, expected):
    classes, first = normal_scores(1, n, 3, shift)
    second = first + np.random.default_rng(2).normal(size=first.shape) * 0.3
    predictions = Predictions.from_arrays(classes, first)
    units = units_of(predictions)
    difference = influences("hand_till", classes, first) - influences("hand_till", classes, second)
    assert uses_sign_flips(moments_of(difference, units), units) == expected


def test_margins_are_tested_by_the_t_distribution_if_many_observations_decide():
    classes, first = normal_scores(1, 300, 3, 0.8)
    second = first + np.random.default_rng(2).normal(size=first.shape) * 0.3
    [found] = compare(
        classes, {"a": first, "b": second}, measures="hand_till", test=dmfroc.NonInferiority(0.01)
    ).differences
    df = stats.t.isf(found.p_value, np.array([5.0, 1e6]))  # whatever the degrees of freedom
    statistic = (found.value + 0.01) / found.standard_error
    assert df.min() <= statistic * 1.02
    assert df.max() >= statistic * 0.9


@pytest.mark.parametrize("measure", ["log_loss", "accuracy", "hand_till"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_flipped_signs_do_not_depend_on_the_order_of_names_or_on_others(measure, alternative):
    rng, n = np.random.default_rng(0), 90
    y = np.arange(n) % 3
    names = ["a", "b", "c", "d"]
    scores = {
        name: softmax(rng.normal(size=(n, 3)) + (2.5 + place / 2) * np.eye(3)[y], axis=1)
        for place, name in enumerate(names)
    }
    turned = {"greater": "less", "less": "greater"}.get(alternative, alternative)

    def p_values(chosen, test):
        both = {name: scores[name] for name in chosen}
        found = compare(y, both, measures=measure, test=test).differences
        return {(x.first, x.second): x.p_value for x in found if x.test == "sign flips"}

    of_all, of_turned = p_values(names, alternative), p_values(names[::-1], turned)
    assert len(of_all) > 1
    for pair, p_value in of_all.items():
        assert p_values(pair, alternative) == {pair: p_value}
        assert of_turned[pair[::-1]] == p_value


def test_flipped_signs_do_not_depend_on_the_order_of_rows_or_classes():
    rng, n = np.random.default_rng(0), 90
    y = np.arange(n) % 3
    first = rng.normal(size=(n, 3)) + 3 * np.eye(3)[y]
    second = first + (rng.random((n, 3)) < 0.1) * rng.normal(size=(n, 3))
    order, names = rng.permutation(n), np.array(["c", "a", "b"])
    first_sorted, second_sorted = first[:, [1, 2, 0]], second[:, [1, 2, 0]]
    p_values = [
        compare(y, {"a": first, "b": second}).differences[0].p_value,
        compare(y[order], {"a": first[order], "b": second[order]}).differences[0].p_value,
        compare(names[y], {"a": first_sorted, "b": second_sorted}).differences[0].p_value,
    ]
    draws = 20_000 * p_values[0]  # by flips it is a multiple of half a draw
    assert draws == pytest.approx(round(draws), abs=1e-6)
    assert p_values == pytest.approx([p_values[0]] * 3, rel=1e-12)


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "diagnostic_odds_ratio", "lift"])
def test_ratios_have_p_values_like_those_of_exchanged_predictions(name):
    """They are far from sums of contributions, whose signs would hide what rows decide."""
    generator = np.random.default_rng(0)
    y = np.repeat([1, 0], [50, 150])
    better = np.where(np.arange(200) < 45, 1, np.arange(200) >= 197)
    worse = better.copy()
    worse[:8], worse[60:66] = 0, 1
    found = compare(y, y_pred={"a": better, "b": worse}, measures=name).differences[0]
    measure = dmfroc.measures.get_measure(name)
    differences = []
    for _ in range(400):
        is_first = generator.random(200) < 0.5
        a, b = np.where(is_first, better, worse), np.where(is_first, worse, better)
        differences.append(measure(y, y_pred=a) - measure(y, y_pred=b))
    assert np.mean(np.abs(differences) >= found.value - 1e-9) < 0.01
    assert found.p_value < 0.01
    assert found.interval[0] > 0


def test_where_few_rows_decide_at_other_class_shares_p_values_are_those_of_the_limits():
    """Influences of such rows are no parts of a sum: flips rejected in 35 of 100 samples."""
    n_rejected = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        y, common = np.arange(200) % 2, rng.normal(size=200)
        scores = {x: 1.5 * y + 0.7 * common + 0.7 * rng.normal(size=200) for x in "ab"}
        found = compare(y, scores, measures="average_precision", population={0: 0.99, 1: 0.01})
        [d] = found.differences
        assert d.test == "tail of the limits"
        assert (d.p_value < 0.05) == (not d.interval[0] <= 0 <= d.interval[1])
        n_rejected += d.p_value < 0.05
    assert n_rejected <= 4
