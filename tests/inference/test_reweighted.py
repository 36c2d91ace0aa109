"""Values as functions of masses: derivatives against differences, and sums of values."""

import numpy as np
import pytest
from simulations import classifiers, normal_scores, tied_probabilities

import dmfroc
from dmfroc.analyses.evidence import evidence_of
from dmfroc.applications.item_means import MeanOfUnits
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.limits import limits_of_contrast, limits_of_difference, with_linear
from dmfroc.inference.options import Options
from dmfroc.measures import get_measure

N = 60
CLASSES, P = tied_probabilities(3, N, 3, levels=20)
GENERATOR = np.random.default_rng(4)
WEIGHTS = GENERATOR.uniform(0.5, 2, N)
GROUPS = np.arange(N) // 4
SHARES = {0: 0.2, 1: 0.3, 2: 0.5}
DESIGNS = {
    "rows": {},
    "weights": {"sample_weight": WEIGHTS},
    "fixed": {"stratify": True},
    "groups": {"groups": GROUPS},
    "groups and weights": {"groups": GROUPS, "sample_weight": WEIGHTS},
    "folds": {"folds": np.arange(N) % 3},
    "folds and groups": {"folds": GROUPS % 3, "groups": GROUPS},
    "shares": {"population": SHARES},
    "shares and groups": {"population": SHARES, "groups": GROUPS},
    "shares and folds": {"population": SHARES, "folds": np.arange(N) % 3},
}
MEASURES = ["accuracy", "hand_till", "macro_f1", "average_precision", "brier_score"]


def sample_in(design, scores=P, classes=CLASSES):
    given = dict(DESIGNS[design])
    of_rows = {x: given.pop(x) for x in ("sample_weight", "frequency_weight") if x in given}
    return evidence_of(classes, scores, Options(**given), of_rows, needs="scores").sample


def limits_in(design, name, scores=P):
    return facts_in(sample_in(design, scores), get_measure(name)).limits


def some_of(n, seed=0):
    """Return a few places among n."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:8])


def differences(function, units, unseen, step=1e-5):
    """Return derivatives with respect to a few masses of either kind, by central differences."""
    found = []
    for place, n in enumerate((len(units), len(unseen))):
        found.append([])
        for move in step * np.eye(n)[some_of(n)]:
            ends = []
            for sign in (1, -1):
                masses = [units, unseen]
                masses[place] = masses[place] + sign * move
                ends.append(function.value(*masses))
            found[-1].append((ends[0] - ends[1]) / (2 * step))
    return [np.array(x) for x in found]


def some_masses(limits, seed=5):
    generator = np.random.default_rng(seed)
    n_unseen = len(limits.of_unseen)
    return (
        generator.uniform(0.5, 2, len(limits.influences)),
        generator.uniform(0.5, 2, n_unseen) / n_unseen,
    )


def assert_slopes_are_differences(function, masses):
    found = function.slopes(*masses)
    assert found.value == pytest.approx(function.value(*masses), rel=1e-12, abs=1e-12)
    for slopes, expected in zip(found[1:], differences(function, *masses), strict=True):
        scale = np.abs(slopes).max()
        some = slopes[some_of(len(slopes))]
        np.testing.assert_allclose(some, expected, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", MEASURES)
def test_slopes_are_differences_of_values(name, design):
    limits = limits_in(design, name)
    assert_slopes_are_differences(limits.function, some_masses(limits))


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", MEASURES[:3])
def test_in_the_sample_they_are_the_influences(name, design):
    limits = limits_in(design, name)
    ones, none = np.ones(len(limits.influences)), np.zeros(len(limits.of_unseen))
    assert limits.function.value(ones, none) == pytest.approx(limits.value, rel=1e-12)
    found = limits.function.slopes(ones, none)
    np.testing.assert_allclose(found.of_units, limits.influences, rtol=0, atol=1e-10)
    places = some_of(len(none))
    ends = [limits.function.value(ones, 1e-6 * x) for x in np.eye(len(none))[places]]
    expected, scale = (np.array(ends) - limits.value) / 1e-6, np.abs(limits.of_unseen).max()
    # They are beside a little of all others, where a ratio cannot be 0 / 0
    np.testing.assert_allclose(limits.of_unseen[places], expected, rtol=0, atol=0.1 * scale)


@pytest.mark.parametrize("design", ["rows", "weights", "groups", "folds"])
def test_masses_have_no_unit(design):
    limits = limits_in(design, "macro_f1")
    units, unseen = some_masses(limits)
    expected = limits.function.value(units, unseen)
    assert limits.function.value(3 * units, 3 * unseen) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("design", ["shares", "shares and folds"])
def test_given_shares_stay_whatever_the_masses(design):
    """A case of a class weighs less if there are more; 60 copies of a class change nothing."""
    limits = limits_in(design, "accuracy")
    units = np.where(CLASSES == 1, 5.0, 1.0)
    none = np.zeros(len(limits.of_unseen))
    found = limits.function.value(units, none)
    assert found == pytest.approx(limits.value, rel=1e-12)


def test_an_unseen_row_has_the_weight_of_an_average_one():
    """So that a sample with weights has the limits of one with eight times the weights."""
    found, expected = (
        facts_in(
            evidence_of(
                CLASSES, P, Options(), {"sample_weight": x * WEIGHTS}, needs="scores"
            ).sample,
            get_measure("hand_till"),
        ).limits
        for x in (8, 1)
    )
    for side in (-1, 1):
        assert found.limit(side, 0.05) == pytest.approx(expected.limit(side, 0.05), rel=1e-9)


# Weights that are estimated


def followed(n_censored=20, n=80, seed=6):
    generator = np.random.default_rng(seed)
    kind, risk = generator.integers(2, size=n), generator.uniform(size=n)
    time = np.where(kind == 1, generator.uniform(0.1, 0.9, n), 2.0)
    gone = generator.permutation(n)[:n_censored]
    time[gone], kind[gone] = generator.uniform(0.05, 0.95, n_censored), 0
    return evidence_of(
        kind, risk, Options(follow_up=dmfroc.FollowUp(time, 1.0)), {}, needs="scores"
    ).sample


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["average_precision", "hand_till", "brier_score"])
def test_chances_to_stay_uncensored_are_estimated_again(name):
    """The derivative of the value has both parts, that of the rows and that of the chances."""
    limits = facts_in(followed(), get_measure(name)).limits
    ones, none = np.ones(len(limits.influences)), np.zeros(len(limits.of_unseen))
    assert limits.function.value(ones, none) == pytest.approx(limits.value, rel=1e-9)
    assert limits.function.slopes(ones, none) is None
    of_units, _ = differences(limits.function, ones, none + 1e-6)
    expected, scale = limits.influences[some_of(len(ones))], np.abs(limits.influences).max()
    np.testing.assert_allclose(of_units, expected, rtol=0, atol=1e-4 * scale)


def test_weights_by_a_model_change_by_their_derivatives():
    generator = np.random.default_rng(7)
    x, target = generator.normal(size=(N, 2)), generator.normal(0.3, size=(50, 2))
    sample = evidence_of(
        CLASSES, P, Options(population=dmfroc.Importance(x, target)), {}, needs="scores"
    ).sample
    limits = facts_in(sample, get_measure("hand_till"), allows_for_parts=True).limits
    ones, none = np.ones(N + 50), np.zeros(len(limits.of_unseen))
    assert limits.function.value(ones, none) == pytest.approx(limits.value, rel=1e-9)
    slopes = [(limits.function.value(ones + 1e-5 * x, none) - limits.value) for x in np.eye(N + 50)]
    slopes, scale = np.array(slopes) / 1e-5, np.abs(limits.influences).max()
    slopes[N:] = (slopes[N:] - slopes[N:].mean()) * np.sqrt(50 / 49)  # as an independent sample
    np.testing.assert_allclose(slopes, limits.influences, rtol=0, atol=1e-3 * scale)


# Sums of values


def both_limits(name, design="rows"):
    classes, scores = classifiers(seed=8, n=N)
    measure = get_measure(name)
    return [facts_in(sample_in(design, x, classes), measure).limits for x in scores.values()]


@pytest.mark.parametrize("design", ["rows", "groups", "folds", "shares"])
@pytest.mark.parametrize("name", ["hand_till", "accuracy", "average_precision"])
def test_a_paired_difference_is_a_function_of_the_same_masses(name, design):
    first, second = both_limits(name, design)
    both = limits_of_difference(first, second, first.value - second.value, 1.0, 1.0)
    ones, none = np.ones(len(both.influences)), np.zeros(len(both.of_unseen))
    assert both.function.value(ones, none) == pytest.approx(both.value, abs=1e-12)
    assert_slopes_are_differences(both.function, some_masses(both))
    # Where the one errs, the other is right
    n_first = len(first.unseen.errors)
    for of_one, sign in ((slice(0, n_first), -1), (slice(n_first, None), 1)):
        assert sign * both.of_unseen[of_one].mean() > 0
    turned = limits_of_difference(second, first, second.value - first.value, 1.0, 1.0)
    for side in (-1, 1):
        assert turned.limit(-side, 0.05) == pytest.approx(-both.limit(side, 0.05), rel=1e-6)


@pytest.mark.parametrize("name", ["hand_till", "accuracy", "average_precision"])
def test_a_difference_of_independent_values_is_one_of_all_masses(name):
    first, second = both_limits(name)
    both = limits_of_contrast((1.0, -1.0), (first, second), 1.0)
    assert len(both.influences) == 2 * N
    assert both.stratum.max() == first.stratum.max() + second.stratum.max() + 1
    masses = some_masses(both)
    assert_slopes_are_differences(both.function, masses)
    ones, none = np.ones(2 * N), np.zeros(len(both.of_unseen))
    assert both.function.value(ones, none) == pytest.approx(first.value - second.value)
    low, high = both.interval_at(0.05)
    assert low < both.value < high
    turned = limits_of_contrast((-1.0, 1.0), (first, second), 1.0)
    assert turned.interval_at(0.05) == pytest.approx((-high, -low), rel=1e-6)


def test_a_part_that_is_linear_adds_what_it_says():
    limits = limits_in("rows", "hand_till")
    more = np.array([0.02, -0.01, -0.01])
    both = with_linear(limits, more)
    masses = np.append(np.ones(N), [2.0, 1.0, 1.0]), np.zeros(len(limits.of_unseen))
    assert both.function.value(*masses) == pytest.approx(limits.value + 0.02, rel=1e-12)
    assert both.stratum[-1] == limits.stratum.max() + 1
    for side in (-1, 1):
        plain, wider = limits.limit(side, 0.05), both.limit(side, 0.05)
        assert side * (wider - plain) > 0


def test_a_weighted_mean_of_scores():
    generator = np.random.default_rng(9)
    weights, scores = generator.uniform(0.5, 2, 12), generator.uniform(size=12)
    mean = MeanOfUnits(weights * scores, weights, np.array([0.0, 1.0]), 1.25)
    masses = generator.uniform(0.5, 2, 12), np.array([0.3, 0.7])
    value = np.average(
        np.append(scores, [0, 1]), weights=np.append(masses[0] * weights, 1.25 * masses[1])
    )
    assert mean.value(*masses) == pytest.approx(value, rel=1e-12)
    assert_slopes_are_differences(mean, masses)


# Few censored rows


@pytest.mark.parametrize("n_censored", [1, 2])
def test_few_censored_rows_hardly_change_an_interval(n_censored):
    """200 rows with 100 events, of which one or two are not known at the horizon."""
    classes, scores = normal_scores(10, 200, 2)
    p = 1 / (1 + np.exp(-scores[:, 1] + scores[:, 0]))
    time = np.where(classes == 1, np.linspace(0.1, 0.9, 200), 2.0)
    censored, gone = classes.copy(), np.array([60, 120])[:n_censored]
    censored[gone] = 0
    early = time.copy()
    early[gone] = 0.5
    for name in ("hand_till", "average_precision", "brier_score"):
        plain, found = (
            facts_in(
                evidence_of(
                    y, p, Options(follow_up=dmfroc.FollowUp(t, 1.0)), {}, needs="scores"
                ).sample,
                get_measure(name),
            )
            for y, t in ((classes, time), (censored, early))
        )
        length = np.ptp(plain.interval_at(0.05))
        assert np.ptp(found.interval_at(0.05)) == pytest.approx(length, rel=0.05), name
        assert found.interval_at(0.05) == pytest.approx(plain.interval_at(0.05), abs=length / 5)
