"""The corrected resampled t-test: its formulas, and that a difference has two directions."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from simulations import normal_scores

import dmfroc
from dmfroc import compare, estimate
from dmfroc.measures import hand_till

CLASSES, GOOD = normal_scores(1, 120, 3, 1.5)
POOR = GOOD + np.random.default_rng(2).normal(size=GOOD.shape)
FOLDS = np.arange(120) % 4
FACTOR = 1 / 4 + 1 / 3  # 1/J + n_test / n_train
OPTIONS = {"folds": dmfroc.Folds(FOLDS, target="learner")}


def of_folds(scores):
    return np.array([hand_till()(CLASSES[f::4], scores[f::4]) for f in range(4)])


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_is_that_of_student_on_the_logit_scale(level):
    values = of_folds(GOOD)
    found = estimate("hand_till", CLASSES, GOOD, level=level, **OPTIONS)
    mean, error = values.mean(), np.sqrt(FACTOR * values.var(ddof=1))
    half = stats.t.ppf((1 + level) / 2, 3) * error / (mean * (1 - mean))
    assert found.value == pytest.approx(mean, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.interval == pytest.approx(expit(logit(mean) + np.array([-half, half])), rel=1e-9)


def test_a_difference_is_students_in_both_directions():
    gaps = of_folds(GOOD) - of_folds(POOR)
    error = np.sqrt(FACTOR * gaps.var(ddof=1))
    half = stats.t.ppf(0.975, 3) * error
    p_value = 2 * stats.t.sf(abs(gaps.mean()) / error, 3)
    named = {"good": GOOD, "poor": POOR}
    for names, value in ((["good", "poor"], gaps.mean()), (["poor", "good"], -gaps.mean())):
        scores = {name: named[name] for name in names}
        [found] = compare(
            CLASSES, scores, measures="hand_till", test=dmfroc.Equivalence(0.01), **OPTIONS
        ).differences
        assert found.value == pytest.approx(value, rel=1e-12)
        assert found.interval == pytest.approx((value - half, value + half), rel=1e-9)
        assert found.p_value == pytest.approx(p_value, rel=1e-9)
        better = stats.t.cdf(value / error, 3)
        assert found.probability_better == pytest.approx(better, rel=1e-9)
        for test, tail in (
            (dmfroc.NonInferiority(0.02), stats.t.sf((value + 0.02) / error, 3)),
            ("less", stats.t.sf(-value / error, 3)),
        ):
            one_sided = {"test": test, **OPTIONS}
            [found_so] = compare(CLASSES, scores, measures="hand_till", **one_sided).differences
            assert found_so.p_value == pytest.approx(tail, rel=1e-9)
        of_rope = np.diff(stats.t.cdf((np.array([-0.01, 0.01]) - value) / error, 3))
        assert found.probability_equivalent == pytest.approx(of_rope[0], rel=1e-9)


@pytest.mark.parametrize("measure", ["hand_till", "accuracy", "brier_score"])
def test_a_learner_is_no_more_certain_than_its_fits(measure):
    classes = np.tile([0, 1, 2], 20)
    perfect = np.eye(3)[classes] * 0.98 + 0.01
    perfect /= perfect.sum(axis=1, keepdims=True)
    folds = np.arange(60) // 3 % 4
    learner = estimate(measure, classes, perfect, folds=dmfroc.Folds(folds, target="learner"))
    fits = estimate(measure, classes, perfect, folds=folds)
    assert learner.interval == pytest.approx(fits.interval)  # it was (1, 1)
    scores = {"a": perfect, "b": perfect**1.001}
    named = {"measures": measure}
    [difference] = compare(
        classes, scores, folds=dmfroc.Folds(folds, "learner"), **named
    ).differences
    [of_fits] = compare(classes, scores, folds=folds, **named).differences
    assert difference.interval == pytest.approx(of_fits.interval)
    assert difference.interval[0] < 0 < difference.interval[1]
    assert difference.p_value > 0.99
