"""Measures that choose thresholds on the observations that they judge, and average precision."""

import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, estimate
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.units import sample_of
from dmfroc.measures import MEASURES, average_precision, leave_one_out_average_precision

CHOOSE = [m for m in MEASURES.values() if m.interval.chooses]
assert len(CHOOSE) == 3


@pytest.mark.parametrize("measure", CHOOSE, ids=lambda m: m.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_guessing_is_within_the_interval(measure, n_classes):
    """The bias of the best of many is of the order of the error, of which halves show 41 %."""
    held, values, biases = [], [], []
    for seed in range(40):
        classes, scores = normal_scores(seed, 120, n_classes, 0.0)
        predictions = Predictions.from_arrays(classes, scores if n_classes > 2 else scores[:, 1])
        facts = facts_in(sample_of(predictions), measure)
        held.append(facts.interval_at(0.05).low <= measure.chance + 1e-12)
        values.append(facts.value)
        biases.append(facts.bias.allowed)
    assert np.mean(values) - measure.chance > 4 * np.std(values, ddof=1) / np.sqrt(40)
    assert np.mean(biases) > 0.4 * (np.mean(values) - measure.chance)
    assert np.mean(held) >= 0.75  # .82 to .99 of 240 samples


@pytest.mark.parametrize("measure", CHOOSE, ids=lambda m: m.name)
def test_perfect_scores_have_no_bias(measure):
    classes = np.repeat([0, 1, 2], 30)
    facts = facts_in(sample_of(Predictions.from_arrays(classes, np.eye(3)[classes])), measure)
    assert facts.bias.allowed == 0
    low, high = facts.interval_at(0.05)
    assert 0.85 < low < high == 1
    good = Predictions.from_arrays(*normal_scores(3, 90, 3, 1.0))
    facts = facts_in(sample_of(good), measure)
    assert measure.chance < facts.corrected < facts.value


def test_the_interval_of_a_nearly_perfect_hull_is_not_that_of_thresholds_chosen_by_others():
    """Those lose more than ten times as much as the value of a population with the same classes."""
    classes, scores = normal_scores(9, 240, 4, 4.0)
    found = estimate("convex_hull_auc", classes, scores)
    assert found.value > 0.995
    assert found.interval[0] > 0.97
    assert found.interval[1] > found.value


def test_intervals_reach_down_by_the_bias_of_the_choice():
    classes, scores = normal_scores(4, 150, 3, 0.5)
    found = estimate("max_informedness", classes, scores)
    low, high = found.interval
    assert low < found.bias_corrected < found.value < high
    assert found.value - low > high - found.value
    assert found.warnings == ()
    assert f"bias-corrected {found.bias_corrected:.4f}" in str(found)


@pytest.mark.parametrize("measure", CHOOSE, ids=lambda m: m.name)
def test_the_bias_of_a_choice_is_found_in_samples_of_any_size(measure):
    classes, scores = normal_scores(5, 40_000, 2, 0.0)  # more scores than halves of others have
    facts = facts_in(sample_of(Predictions.from_arrays(classes, scores)), measure)
    assert facts.bias.of_value > facts.moments.standard_error / 4


def test_noise_has_an_interval_that_begins_at_chance():
    classes, scores = normal_scores(7, 120, 3, -0.3)
    found = estimate("max_informedness", classes, scores)
    assert found.interval[0] == 0
    assert found.interval[1] > 0.02


def test_observations_of_a_group_are_in_the_same_half():
    classes, scores = normal_scores(0, 120, 2, 0.3)
    once = estimate("max_informedness", classes, scores)
    doubled = np.repeat(classes, 2), np.repeat(scores, 2, axis=0)
    together = estimate("max_informedness", *doubled, groups=np.repeat(np.arange(120), 2))
    assert together.bias_corrected == pytest.approx(once.bias_corrected, abs=0.02)
    apart = estimate("max_informedness", *doubled)  # a copy of each observation is in either half
    assert apart.bias_corrected is None or apart.bias_corrected > together.bias_corrected


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
