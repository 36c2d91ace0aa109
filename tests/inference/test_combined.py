"""What is known of parts is carried over to the values that are put together from them."""

import numpy as np
import pytest

import dmfroc
from dmfroc.analyses.evidence import evidence_of
from dmfroc.applications.several_labels import freedom_of_mean
from dmfroc.inference.options import Options
from dmfroc.measures import get_measure

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RNG = np.random.default_rng(5)
N, N_VERIFIED = 700, 120
TRUE = (RNG.random(N) < 0.4).astype(int)
P = 1 / (1 + np.exp(-(2 * RNG.normal(size=N) + 3 * TRUE - 1)))
PROBABILITIES = np.column_stack([1 - P, P])
JUDGE = np.where(RNG.random(N) < 0.9, TRUE, 1 - TRUE)
IS_VERIFIED = np.arange(N) < N_VERIFIED
HIDDEN = np.where(IS_VERIFIED, TRUE, np.nan)
CHOOSE = ["brier_discrimination", "brier_miscalibration"]
BIASED = [
    "expected_calibration_error",
    "brier_reliability",
    "average_precision",
    "mutual_information",
]


def facts_with_judge(name, judge=JUDGE, **given):
    options = Options(groups=given.pop("groups", None), judge=judge)
    evidence = evidence_of(HIDDEN, PROBABILITIES, options, given, needs="scores")
    return evidence.facts(get_measure(name))


@pytest.mark.parametrize("name", BIASED)
def test_biases_add_up_as_the_values_do(name):
    facts = facts_with_judge(name)
    weights, parts = zip(*((t.coefficient, t.facts) for t in facts.terms), strict=True)
    assert weights[1] == -weights[2]
    low, high = facts.limits.bounds
    value = np.dot(weights, [x.value for x in parts])
    assert facts.value == pytest.approx(np.clip(value, low, high))
    bias, allowed = np.dot(weights, [(x.bias.of_value, x.bias.allowed) for x in parts])
    assert facts.bias.of_value == pytest.approx(bias)
    assert facts.bias.allowed == facts.limits.bias == pytest.approx(allowed)
    if bias:
        assert facts.corrected == pytest.approx(np.clip(facts.value - bias, low, high))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOOSE)
def test_recalibrations_of_each_part_are_fitted_by_others(name):
    facts = facts_with_judge(name)
    value = facts.cross_fitted
    parts = [(t.coefficient, t.facts.chosen_by_others.value) for t in facts.terms]
    total = np.clip(sum(weight * x for weight, x in parts), *facts.limits.bounds)
    assert value == facts.limits.value == pytest.approx(total, abs=1e-12)
    found = dmfroc.estimate(name, HIDDEN, PROBABILITIES, judge=JUDGE)
    assert found.bias_corrected == pytest.approx(value)


@pytest.mark.parametrize("name", ["accuracy", "brier_score", "hand_till"])
def test_a_judge_that_is_right_wherever_it_is_checked_may_err_elsewhere(name):
    """Nothing shows its errors, so that one may be lacking, as among all verified rows."""
    found = dmfroc.estimate(name, HIDDEN, PROBABILITIES, judge=TRUE)
    whole = dmfroc.estimate(name, TRUE, PROBABILITIES)
    assert found.value == pytest.approx(whole.value, abs=0.02)
    for end, plain in zip(found.interval, whole.interval, strict=True):
        assert abs(end - found.value) > abs(plain - whole.value)


def test_the_limit_of_a_mean_of_perfect_labels_counts_a_row_that_errs_in_all():
    """Nothing shows in how many labels a row errs, and all labels have it on the same side."""
    y = np.column_stack([np.arange(200) % 2, np.arange(200) % 20 == 0]).astype(float)
    found = dmfroc.applications.multilabel(y, y + 0.1, measure="hand_till")
    alone = [x["classifier"] for x in found.by_label.values()]
    [mean] = found.estimates.values()
    assert [x.value for x in alone] == [1, 1]
    expected = 1 - np.mean([x.interval[0] for x in alone])
    assert 1 - mean.interval[0] == pytest.approx(expected, rel=0.05)


def test_labels_err_together_as_often_as_they_do_in_the_sample():
    """Copies have the limit of one of them, labels with errors of their own a nearer one."""
    y = np.column_stack([np.arange(200) % 2] * 4)
    apart = np.arange(200)[:, None] == np.arange(4)  # four rows, each wrong in one label
    copies, lows = apart[:, [0] * 4], {}
    for name, wrong in (("copies", copies), ("apart", apart)):
        found = dmfroc.applications.multilabel(y, y_pred=y ^ wrong, measure="accuracy")
        [mean] = found.estimates.values()
        assert mean.value == pytest.approx(0.995)
        lows[name] = mean.interval[0]
    alone = dmfroc.estimate("accuracy", y[:, 0], y_pred=y[:, 0] ^ copies[:, 0])
    assert 1 - lows["copies"] == pytest.approx(1 - alone.interval[0], rel=0.05)
    assert lows["apart"] > lows["copies"]


@pytest.mark.parametrize("name", ["accuracy", "brier_score", "log_loss"])
def test_a_judge_without_information_leaves_the_verified_rows(name):
    y = np.arange(N) % 2
    p = np.clip(y + np.where(np.arange(N) < N_VERIFIED, 0.0, 0.6) * RNG.random(N), 0.03, 0.97)
    p = np.where(y == 1, np.maximum(p, 0.9), np.minimum(p, 0.1))
    hidden, scores = np.where(IS_VERIFIED, y, np.nan), np.column_stack([1 - p, p])
    plain = dmfroc.estimate(name, y[IS_VERIFIED], scores[IS_VERIFIED])
    found = dmfroc.estimate(name, hidden, scores, judge=np.zeros(N, int))
    assert found.judge.lambda_ == 0
    assert found.value == pytest.approx(plain.value)
    assert found.interval == pytest.approx(plain.interval, rel=1e-6)


@pytest.mark.slow
def test_copies_of_a_label_are_one_label():
    y, scores = np.column_stack([TRUE] * 3), np.column_stack([P] * 3)
    for name in (*CHOOSE, *BIASED, "specificity_at", "accuracy_at_coverage"):
        [found] = dmfroc.applications.multilabel(
            y, scores, measure=name, y_pred=scores > 0.5
        ).estimates.values()
        alone = dmfroc.estimate(name, TRUE, P, y_pred=(P > 0.5).astype(int), method="jackknife")
        assert found.value == pytest.approx(alone.value)
        assert found.bias_corrected == pytest.approx(alone.bias_corrected)
        width = np.ptp(alone.interval)
        assert found.interval == pytest.approx(alone.interval, abs=0.06 * width), name


def test_degrees_of_freedom_of_a_mean():
    """Satterthwaite's for independent values, and those of one for copies of it."""
    variances, freedoms = np.array([1.0, 4.0, 0.5]), np.array([5.0, 30.0, 8.0])
    expected = variances.sum() ** 2 / (variances**2 / freedoms).sum()
    assert freedom_of_mean(np.diag(variances), freedoms) == pytest.approx(expected)
    assert freedom_of_mean(np.full((3, 3), 2.0), np.full(3, 7.0)) == pytest.approx(7)
    assert freedom_of_mean(np.zeros((2, 2)), np.full(2, np.inf)) == np.inf


@pytest.mark.parametrize(("still", "is_said"), [(0, False), (1, True), (2, True), (3, False)])
def test_values_without_variation_in_a_mean_are_said_if_others_vary(still, is_said):
    y = np.column_stack([np.arange(60) % 2] * 3)
    wrong = np.arange(60)[:, None] < 5 * (np.arange(3) >= still)
    [found] = dmfroc.applications.multilabel(
        y, y_pred=y ^ wrong, measure="accuracy"
    ).estimates.values()
    said = [x for x in found.warnings if "show no variation" in x]
    assert len(said) == is_said
    assert not is_said or said[0].startswith(f"{still} of the 3 values")
