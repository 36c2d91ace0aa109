"""Cross-fitted values: thresholds chosen by other observations than judge them."""

import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, estimate
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.influences import influences_of
from dmfroc.inference.units import Sample, units_of
from dmfroc.measures import MEASURES, average_precision, leave_one_out_average_precision
from dmfroc.measures.measure import bind

# Measures that choose thresholds; those with fitted calibration curves have tests of their own.
KINKS = [m for m in MEASURES.values() if m.interval.cross_fit and m.needs != "probabilities"]
assert len(KINKS) == 3


def cross_fit(measure, predictions, units):
    [plain] = influences_of([measure], bind(measure, predictions), predictions)
    return measure.interval.cross_fit(predictions, units, (plain.value, plain.influences))


@pytest.mark.slow
@pytest.mark.parametrize("measure", KINKS, ids=lambda m: m.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_guessing_is_no_better_than_chance(measure, n_classes):
    values, plain = [], []
    for seed in range(12):
        classes, scores = normal_scores(seed, 120, n_classes, 0.0)
        predictions = Predictions.from_arrays(classes, scores if n_classes > 2 else scores[:, 1])
        found, _ = cross_fit(measure, predictions, np.arange(120))
        values.append(found)
        plain.append(measure(predictions))
    error = np.std(values, ddof=1) / np.sqrt(12)
    assert abs(np.mean(values) - measure.chance) < 4 * error
    assert np.mean(plain) - measure.chance > 4 * np.std(plain, ddof=1) / np.sqrt(12)


@pytest.mark.parametrize("measure", KINKS, ids=lambda m: m.name)
def test_perfect_scores_stay_perfect_and_influences_add_up_to_nothing(measure):
    classes = np.repeat([0, 1, 2], 30)
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    value, influences = cross_fit(measure, predictions, np.arange(90))
    assert value == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(influences, 0, atol=1e-12)
    good = Predictions.from_arrays(*normal_scores(3, 90, 3, 1.0))
    value, influences = cross_fit(measure, good, np.arange(90))
    assert measure.chance < value < measure(good)
    assert influences.sum() == pytest.approx(0, abs=1e-9)


def test_intervals_are_about_the_cross_fitted_value():
    classes, scores = normal_scores(4, 150, 3, 0.5)
    found = estimate("max_informedness", classes, scores)
    low, high = found.interval
    assert low < found.bias_corrected < high
    assert found.bias_corrected < found.value
    assert found.warnings == ()
    assert f"bias-corrected {found.bias_corrected:.4f}" in str(found)
    few = estimate("max_informedness", [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.3, 0.35, 0.8, 0.9])
    assert few.bias_corrected is None
    assert any("a class has too few to choose them on others" in w for w in few.warnings)


def test_the_upper_limit_near_perfection_is_further_by_half_of_what_cross_fitting_loses():
    """That is much more there than the value gains."""
    classes, scores = normal_scores(9, 240, 4, 4.0)
    predictions = Predictions.from_arrays(classes, scores)
    measure = MEASURES["convex_hull_auc"]
    sample = Sample(predictions, units_of(predictions))
    [facts] = facts_of([measure], sample)
    assert 1 - facts.cross_fitted > 3 * (1 - facts.value)
    of_others, found = facts.limits.interval_at(0.05), facts.interval_at(0.05)
    further = of_others.high + (facts.value - facts.cross_fitted) / 2
    assert of_others.low == found.low < facts.cross_fitted < of_others.high
    assert found.high == pytest.approx(max(further, facts.value), abs=1e-12)


def test_noise_has_an_interval_that_begins_at_chance():
    classes, scores = normal_scores(7, 120, 3, -0.3)
    found = estimate("max_informedness", classes, scores)
    assert found.interval[0] == 0
    assert found.interval[1] > 0.02


def test_observations_of_a_group_judge_together():
    classes, scores = normal_scores(5, 120, 2, 1.0)
    doubled = Predictions.from_arrays(np.repeat(classes, 2), np.repeat(scores, 2, axis=0))
    measure = MEASURES["max_informedness"]
    once, _ = cross_fit(measure, Predictions.from_arrays(classes, scores), np.arange(120))
    together, _ = cross_fit(measure, doubled, np.repeat(np.arange(120), 2))
    assert together == pytest.approx(once, abs=1e-12)
    apart, _ = cross_fit(measure, doubled, np.arange(240))
    assert apart > together  # a copy of each observation chose the threshold


# Average precision


def test_no_positive_counts_towards_its_own_precision():
    y, scores = np.array([1, 0, 1, 0, 0, 1, 0]), np.array([7, 6, 5, 4, 4, 4, 1.0])
    precisions = []
    for row in np.flatnonzero(y):
        others = [i for i in np.flatnonzero(y) if i != row]
        recall = np.mean(scores[others] >= scores[row])
        fallout = np.mean(scores[y == 0] >= scores[row])
        hits, alarms = recall * 3 / 7, fallout * 4 / 7
        precisions.append(1 if fallout == 0 else hits / (hits + alarms))
    found = leave_one_out_average_precision()(y, scores)
    assert found == pytest.approx(np.mean(precisions), rel=1e-12)
    assert found < average_precision()(y, scores)
    assert leave_one_out_average_precision()(y, y) == 1
    assert leave_one_out_average_precision()([1, 0, 0], [3, 4, 2]) == average_precision()(
        [1, 0, 0], [3, 4, 2]
    )


def test_guessing_has_the_prevalence_as_its_precision():
    """With five positives the usual average is far above it."""
    generator = np.random.default_rng(6)
    y = np.repeat([1, 0], [5, 45])
    usual, left_out = (
        np.mean([measure()(y, generator.random(50)) for _ in range(300)])
        for measure in (average_precision, leave_one_out_average_precision)
    )
    assert usual > 0.15
    assert left_out == pytest.approx(0.1, abs=0.035)


def test_one_division_of_many_observations_is_nearly_as_good(monkeypatch):
    """It leaves areas within a tenth of a standard error; maximal informedness within a half."""
    many = normal_scores(6, 20_000, 3, 1.5)
    for name, bound in (("convex_hull_auc", 0.1), ("h_measure", 0.1), ("max_informedness", 0.5)):
        found = []
        for least in (10_000, 100_000):
            monkeypatch.setattr("dmfroc.measures.cross_fitting._MANY", least)
            found.append(estimate(name, *many))
        once, thrice = found
        assert once.bias_corrected != thrice.bias_corrected
        assert abs(once.bias_corrected - thrice.bias_corrected) < bound * thrice.standard_error
