"""Jackknife: DeLong's variance, intervals, degenerate samples, coverage."""

import delong
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit
from simulations import area_of_shift, normal_scores

from dmfroc import Measure, Predictions, estimate
from dmfroc.extend import influences
from dmfroc.inference.evidence import facts_in, joint_covariance
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import Units, sample_of, units_of
from dmfroc.measures import get_measure, roc_area

MEASURES = ["dmf_auc", "hand_till", "informedness"]
SKEWED = [0.6, 0.3, 0.1]


# Standard errors


@pytest.mark.parametrize("rounding", [8, 0])
@pytest.mark.parametrize(
    ("n", "n_classes", "prior"), [(60, 3, None), (60, 3, SKEWED), (90, 5, None)]
)
def test_standard_error_of_m_is_delongs(n, n_classes, prior, rounding):
    classes, scores = normal_scores(1, n, n_classes, prior=prior)
    scores = np.round(scores, rounding)
    found = estimate("hand_till", classes, scores)
    expected = delong.standard_error(classes, scores)
    assert found.standard_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc"])
@pytest.mark.parametrize("rounding", [8, 0])
def test_two_classes_are_delongs(measure, rounding):
    classes, scores = normal_scores(2, 60, 2, prior=[0.7, 0.3])
    score = np.round(scores[:, 1], rounding)
    # As in the paper: the structural components V10 and V01 of one area.
    positive, negative = score[classes == 1], score[classes == 0]
    won = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    v10, v01 = won.mean(axis=1), won.mean(axis=0)
    expected = np.sqrt(v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01))
    found = estimate(measure, classes, score)
    assert found.value == pytest.approx(won.mean(), rel=0, abs=1e-12)
    assert found.standard_error == pytest.approx(expected, rel=1e-10)


def test_two_classes_with_informedness_are_two_proportions():
    classes, scores = normal_scores(3, 60, 2)
    found = estimate("informedness", classes, scores)
    hit = (scores.argmax(axis=1) == 1)[classes == 1]
    false_alarm = (scores.argmax(axis=1) == 1)[classes == 0]
    expected = np.sqrt(hit.var(ddof=1) / len(hit) + false_alarm.var(ddof=1) / len(false_alarm))
    assert found.value == pytest.approx(hit.mean() - false_alarm.mean(), rel=0, abs=1e-12)
    assert found.standard_error == pytest.approx(expected, rel=1e-10)


def test_standard_error_does_not_depend_on_the_order_of_rows():
    classes, scores = normal_scores(4, 60, 3)
    order = np.random.default_rng(5).permutation(60)
    for measure in MEASURES:
        found = estimate(measure, classes, scores)
        permuted = estimate(measure, classes[order], scores[order])
        assert permuted.standard_error == pytest.approx(found.standard_error, rel=1e-7)


def test_weights_scale_freely():
    classes, scores = normal_scores(6, 60, 3)
    weights = np.random.default_rng(7).uniform(0.5, 2, size=60)
    for measure in MEASURES:
        one = estimate(measure, classes, scores, sample_weight=weights)
        other = estimate(measure, classes, scores, sample_weight=8 * weights)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-7)
        assert one.standard_error != estimate(measure, classes, scores).standard_error


# Intervals


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_of_many_observations_are_normal_ones(measure, level):
    classes, scores = normal_scores(13, 3000, 3, 1.0, prior=SKEWED)
    found = estimate(measure, classes, scores, level=level, stratify=True)
    z = stats.norm.ppf((1 + level) / 2) * found.standard_error
    assert found.interval == pytest.approx((found.value - z, found.value + z), abs=0.05 * z)
    assert (found.level, found.method, found.measure) == (level, "jackknife", measure)
    assert (found.n_draws, found.seed) == (None, None)
    assert [x for x in found.warnings if "softmax" not in x] == []


@pytest.mark.parametrize("measure", MEASURES)
def test_an_interval_is_the_value_at_the_least_favourable_weights(measure):
    """A sample with these weights has that value, and twenty others as likely have larger ones."""
    predictions = Predictions.from_arrays(*normal_scores(13, 60, 3, 1.5, prior=SKEWED))
    limits = facts_in(sample_of(predictions), get_measure(measure)).limits
    found = limits.limit(-1, 0.05)
    base, ones = limits._bases[-1], np.ones(60)
    weights, unseen = limits._tilted(base, -1, 0.05)
    assert limits.function.value(weights, unseen) == pytest.approx(
        found, abs=0.02
    )  # linearised once
    seen = weights * 60 / weights.sum()
    distance = -2 * np.log(seen).sum()
    generator, larger = np.random.default_rng(0), 0
    for _ in range(20):
        other = np.exp(0.3 * generator.normal(size=60))
        step = 1.0
        while -2 * np.log(other**step * 60 / (other**step).sum()).sum() > distance:
            step /= 1.1
        other = other**step * 60 / (other**step).sum()
        larger += limits.function.value(other, 0 * unseen) > limits.function.value(seen, 0 * unseen)
    assert larger == 20
    assert limits.function.value(ones, 0 * unseen) == pytest.approx(limits.value)


@pytest.mark.filterwarnings("ignore:.*rows tie for the largest score:UserWarning")
@pytest.mark.parametrize("rounding", [8, 0])
@pytest.mark.parametrize("measure", [*MEASURES, "average_precision"])
def test_intervals_do_not_depend_on_the_order_of_rows(measure, rounding):
    classes, scores = normal_scores(4, 90, 3, 2.0)
    scores, order = np.round(scores, rounding), np.random.default_rng(5).permutation(90)
    found, permuted = (
        estimate(measure, classes[x], scores[x]).interval for x in (np.arange(90), order)
    )
    assert permuted == pytest.approx(found, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
@pytest.mark.filterwarnings("ignore:.* below chance")
@pytest.mark.parametrize("shift", [-2.0, 0.0, 1.0, 3.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_are_inside_the_range_and_widen_with_the_level(measure, shift):
    classes, scores = normal_scores(14, 60, 3, shift, prior=SKEWED)
    lowest = -1 if measure == "informedness" else 0
    inner = (np.inf, -np.inf)
    for level in (0.5, 0.9, 0.99, 0.999999):
        found = estimate(measure, classes, scores, level=level)
        low, high = found.interval
        assert lowest < low < found.value < high < 1
        assert low < inner[0]
        assert inner[1] < high
        inner = low, high


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, np.nan])
def test_wrong_levels_are_told(level):
    classes, scores = normal_scores(15, 60, 3)
    with pytest.raises(ValueError, match=r"level must be between 0 and 1, such as 0.95, but it"):
        estimate("hand_till", classes, scores, level=level)


# Samples without variation


def rule_of_three(level, n):
    """Return the exact lower limit of a proportion without errors in n trials, one-sided."""
    return (1 - level) ** (1 / n)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_classifier_has_a_one_sided_interval(measure, level):
    """It is as bad as one unseen error may make it, whose class is in two of three pairs."""
    classes = np.repeat([0, 1, 2], [30, 20, 10])
    scores = np.eye(3)[classes] + 0.01 * np.arange(60)[:, None] / 60
    found = estimate(measure, classes, scores, level=level)
    assert found.value == pytest.approx(1, abs=1e-6)
    assert found.standard_error < 1e-6
    assert found.interval[1] == pytest.approx(1, abs=1e-6)
    assert found.value <= found.interval[1] <= 1
    # More than errors among all rows, less than if a class of ten were missed
    least, most = (1 - rule_of_three(level, n) for n in (60, 10))
    assert least < 1 - found.interval[0] < most
    (warning,) = found.warnings
    assert "perfect in this sample" in warning
    assert "one observation that the sample does not show" in warning


@pytest.mark.parametrize("measure", [*MEASURES, "accuracy", "average_precision"])
def test_the_limit_of_a_perfect_sample_approaches_it_with_every_row(measure):
    lost = []
    for n in (30, 300, 3000):
        classes = np.arange(n) % 3
        lost.append(1 - estimate(measure, classes, np.eye(3)[classes]).interval[0])
    assert lost[0] / lost[1] == pytest.approx(10, rel=0.15)
    assert lost[1] / lost[2] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_accuracy_of_a_perfect_sample_has_about_the_bound_of_clopper_and_pearson(n_classes):
    classes = np.repeat(np.arange(n_classes), 20)
    found = estimate("accuracy", classes, y_pred=classes)
    low, high = found.interval
    exact = stats.binomtest(len(classes), len(classes)).proportion_ci(0.9).low
    assert 1 - low == pytest.approx(1 - exact, rel=0.1)
    assert high == 1


def test_a_single_error_makes_an_interval_lopsided():
    """One misranked observation of 60 is all that shows variation."""
    classes = np.repeat([0, 1], 30)
    scores = np.arange(60.0)
    scores[0] = 30.5
    predictions = Predictions.from_arrays(classes, scores)
    found = estimate("hand_till", predictions)
    moments = moments_of(influences("hand_till", predictions), units_of(predictions))
    assert moments.spread.degrees_of_freedom < 8
    low, high = found.interval
    assert high < 1
    assert found.value - low > 2 * (high - found.value)
    perfect = estimate("hand_till", classes, np.arange(60.0))
    assert perfect.interval[0] - low > 0.5 * (1 - found.value)
    assert found.warnings == ()
    classes, scores = normal_scores(15, 60, 2)
    assert estimate("hand_till", classes, scores[:, 1] - scores[:, 0]).warnings == ()


@pytest.mark.parametrize("prevalence", [0.001, 0.01, 0.1])
def test_many_errors_have_the_interval_of_ratios_whatever_the_first_ones_cost(prevalence):
    """With 70 false positives of 400 the precision is as uncertain as their ratio of rates."""
    classes, n, n_errors = np.repeat([0, 1], 400), 400, 70
    predicted = np.where(np.arange(2 * n) % n < n_errors, 1 - classes, classes)
    found = estimate("precision", classes, y_pred=predicted, population=prevalence)
    rates = np.array([1 - n_errors / n, n_errors / n])
    distances = 1.96 * np.sqrt(((1 - rates) / (n * rates)).sum()) * np.array([-1, 1])
    of_odds = logit(prevalence) + np.log(rates[0] / rates[1]) + distances
    assert found.interval == pytest.approx(expit(of_odds), rel=0.03)
    for name in ("f1", "markedness", "correlation", "cohen_kappa", "macro_f1"):
        other = estimate(name, classes, y_pred=predicted, population=prevalence)
        low, high = (x - other.value for x in other.interval)
        assert -low == pytest.approx(high, rel=0.3)
    scores = np.random.default_rng(0).normal(size=2 * n) + 1.5 * classes
    area = estimate("average_precision", classes, scores, population=prevalence)
    thresholds = np.linspace(8, -8, 10_001)
    tpr, fpr = stats.norm.sf(thresholds - 1.5), stats.norm.sf(thresholds)
    precision = prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)
    assert area.interval[0] < np.trapezoid(precision, tpr) < area.interval[1]


def test_errors_that_a_sample_lacks_cost_what_they_do_beside_those_that_it_has():
    """Without a false positive, 30 misses say nothing of what false positives would cost."""
    classes, n, prevalence = np.repeat([0, 1], 100), 100, 0.01
    predicted = np.where(np.arange(2 * n) >= 2 * n - 30, 0, classes)
    found = estimate("f1", classes, y_pred=predicted, population=prevalence)
    fallout = 1 - 0.05 ** (1 / n)
    hits, alarms = prevalence * 0.7, (1 - prevalence) * fallout
    unseen = 2 * hits / (hits + alarms + prevalence)
    assert found.interval[0] == pytest.approx(unseen, abs=0.05)
    perfect = estimate("f1", classes, y_pred=classes, population=prevalence)
    assert perfect.interval[0] == pytest.approx(2 * prevalence / (2 * prevalence + alarms), rel=0.1)


@pytest.mark.parametrize("bounds", [(0, 1), None])
def test_a_users_measure_has_the_limits_of_the_same_measure(bounds):
    """It is found out to depend on the weights alone; without bounds it has none but its values."""
    classes = np.repeat([0, 1], 30)
    predicted = np.where(np.arange(60) == 0, 1, classes)

    def bind(predictions):
        is_right = predictions.predicted == predictions.true
        return lambda weights: (weights * is_right).sum() / weights.sum()

    given = {} if bounds is None else {"bounds": bounds}
    share_right = Measure(name="share_right", bind=bind, needs="labels", **given)
    accuracy = estimate("accuracy", classes, y_pred=predicted)
    found = estimate(share_right, classes, y_pred=predicted)
    length = np.ptp(accuracy.interval)
    assert found.interval == pytest.approx(accuracy.interval, abs=0.1 * length)
    assert found.interval[1] < 1


def test_a_users_measure_that_fails_for_other_samples_has_linear_limits():
    classes = np.repeat([0, 1], 30)
    costs = np.linspace(1, 2, 60)

    def bind(predictions):
        is_right = predictions.predicted == predictions.true
        return lambda weights: (weights * is_right * costs).sum() / (weights * costs).sum()

    measure = Measure(name="saved", bind=bind, bounds=(0, 1), needs="labels")
    found = estimate(measure, classes, y_pred=np.where(np.arange(60) % 9, classes, 1))
    assert 0 < found.interval[0] < found.value < found.interval[1] < 1


@pytest.mark.parametrize(
    ("measure", "chance"), [("dmf_auc", 0.5), ("hand_till", 0.5), ("informedness", 0.0)]
)
def test_constant_scores_have_an_interval_around_chance(measure, chance):
    """Nothing shows how the value varies but one unseen observation, in either direction."""
    classes = np.repeat([0, 1, 2], [30, 20, 10])
    found = estimate(measure, classes, np.ones((60, 3)))
    assert found.value == pytest.approx(chance, abs=1e-9)
    assert found.standard_error == pytest.approx(0, abs=1e-9)
    low, high = found.interval
    for length in (chance - low, high - chance):
        assert 0.02 < length < 0.2
    [warning] = [w for w in found.warnings if "says nothing" in w]
    assert warning.startswith(
        f"check the predictions: {measure} is {chance:g} whichever observations of a class weigh"
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("shift", [1.0, 30.0])
def test_class_with_a_single_observation(measure, shift):
    classes = np.repeat([0, 1, 2], [30, 29, 1])
    scores = np.random.default_rng(16).normal(size=(60, 3)) + shift * np.eye(3)[classes]
    found = estimate(measure, classes, scores)
    low, high = found.interval
    assert np.isfinite([found.value, found.standard_error, low, high]).all()
    assert (-1 if measure == "informedness" else 0) <= low <= found.value <= high <= 1
    assert high - low > 0.05
    single = [w for w in found.warnings if w.startswith("class 2 has a single observation")]
    assert len(single) == 1
    if shift == 1.0:
        assert found.standard_error > 0
    if measure == "hand_till":
        # The pooled variance within the other two stands in for its own
        share = delong.placements(classes, scores)
        first, second = share[classes == 0], share[classes == 1]
        pooled = (29 * first.var(ddof=1) + 28 * second.var(ddof=1)) / 57
        variance = first.var(ddof=1) / 30 + second.var(ddof=1) / 29 + pooled
        assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("stratify", [None, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_single_observation_in_each_class(measure, stratify):
    scores = np.array([[3.0, 1, 2], [0, 4, 1], [2, 5, 3]])
    found = estimate(measure, [0, 1, 2], scores, stratify=stratify)
    low, high = found.interval
    assert np.isfinite([found.value, low, high]).all()
    assert low < found.value < high < 1
    assert high - low > 0.4
    assert any(w.startswith("every class has a single observation") for w in found.warnings)
    assert not any("stands in" in w for w in found.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    ["hand_till", "dmf_auc", "informedness", "accuracy", "correlation", "convex_hull_auc"],
)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_sample_with_a_few_misses_is_no_surer_than_a_perfect_one(measure, seed):
    generator = np.random.default_rng(seed)
    n_classes = generator.integers(2, 5)
    classes = np.repeat(np.arange(n_classes), generator.integers(8, 80, n_classes))
    scores = 2 * np.eye(n_classes)[classes] + generator.random((len(classes), n_classes))
    low, high = estimate(measure, classes, scores).interval
    for _ in range(3):
        # A case falls behind some of the others, or behind all.
        row = generator.integers(len(classes))
        scores[row, classes[row]] -= generator.uniform(1, 3)
        # Unseen errors are scored like cases, which misses move
        assert estimate(measure, classes, scores).interval[0] <= low + 0.1 * (high - low)


@pytest.mark.parametrize("sizes", [(30, 30), (19, 24), (100, 10)])
def test_each_error_makes_a_proportion_less_sure(sizes):
    classes = np.repeat([0, 1], sizes)
    predicted, ends = classes.copy(), []
    for place in range(9):
        found = estimate("accuracy", classes, y_pred=predicted, stratify=True)
        exact = stats.binomtest(place, len(classes)).proportion_ci(0.95).high
        assert found.interval[0] > 1 - 1.7 * exact
        ends.append(found.interval)
        predicted[-1 - place] = 0
    low, high = np.transpose(ends)
    assert (np.diff(low) < 0).all()
    assert (np.diff(high) < 1e-12).all()


def test_the_limit_falls_with_each_swapped_pair():
    classes = np.repeat([0, 1], 50)
    lows = []
    for n_swapped in range(8):
        scores = np.arange(100.0)
        scores[50 - n_swapped : 50 + n_swapped] = scores[50 - n_swapped : 50 + n_swapped][::-1]
        lows.append(estimate("hand_till", classes, scores).interval[0])
    # About a share that 100 need not show, of both classes, ranked in the midst of each other
    assert 1 - lows[0] == pytest.approx(1 - rule_of_three(0.95, 100), rel=0.15)
    assert (np.diff(lows) < 0).all()
    assert lows[1] == pytest.approx(lows[0], abs=1e-3)


def test_a_miss_without_weight_is_as_good_as_none():
    classes = np.repeat([0, 1], 30)
    scores, weights = np.arange(60.0), np.ones(60)
    scores[29], weights[29] = 100, 1e-4
    found = estimate("hand_till", classes, scores, sample_weight=weights).interval
    without = np.arange(60) != 29
    expected = estimate("hand_till", classes[without], scores[without]).interval
    assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("measure", MEASURES[:2])
def test_one_error_is_enough_for_a_standard_error(measure):
    classes = np.repeat([0, 1, 2], 20)
    scores = np.eye(3)[classes]
    scores[[0, 20]] = scores[[20, 0]]
    found = estimate(measure, classes, scores)
    assert found.value < 1
    if measure == "hand_till":
        expected = delong.standard_error(classes, scores)
        assert found.standard_error == pytest.approx(expected, rel=1e-10)
    assert found.standard_error > 0.001
    assert found.interval[0] < found.value < found.interval[1] < 1
    assert not any("perfect in this sample" in warning for warning in found.warnings)


# Coverage


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """Of 40 intervals with a coverage of 95 %, 33 or more hit with a probability of .998."""
    assert stats.binom(40, 0.95).sf(32) > 0.998
    truth = area_of_shift(1.5)
    hits = {"hand_till": 0, "dmf_auc": 0}
    for seed in range(40):
        classes, scores = normal_scores(1000 + seed, 60, 3, shift=1.5)
        for measure in hits:
            low, high = estimate(measure, classes, scores).interval
            # All pairs are alike, so that the centre is each pair's curve, with the same area.
            hits[measure] += low <= truth <= high
    assert min(hits.values()) >= 33


# Several values together


@pytest.mark.parametrize("sizes_are_random", [False, True])
@pytest.mark.parametrize("sizes", [[1, 1, 2], [1, 2, 3], [20, 30, 20]], ids=str)
def test_joint_covariance_gives_each_value_and_difference_its_variance(sizes, sizes_are_random):
    """Values also with classes of one unit, which borrow the variance within the others."""
    n = sum(sizes)
    strata = np.repeat([0, 1, 2], sizes)
    units = Units(np.arange(n), strata, np.array(sizes), np.array(sizes, float), sizes_are_random)
    influences_of_two = np.random.default_rng(1).normal(size=(2, n))
    influences_of_two -= influences_of_two.mean(axis=1, keepdims=True)  # as any measure's
    covariance = joint_covariance(influences_of_two, units)
    for contrast in ([1, 0], [0, 1], [1, -1])[: 2 if min(sizes) == 1 else 3]:
        contrast = np.array(contrast)
        expected = moments_of(contrast @ influences_of_two, units).spread.scale ** 2
        assert contrast @ covariance @ contrast == pytest.approx(expected, rel=1e-12)


def test_a_perfect_sample_does_not_fix_the_share_of_a_class():
    """The lift of a perfect sample is one over the share of positives, which is random."""
    classes = np.repeat([0, 1], [60, 40])
    found = estimate("lift", classes, y_pred=classes)
    assert found.value == pytest.approx(1 / 0.4)
    expected = np.sqrt(0.6 / 0.4**3 / 100)  # by the delta method
    assert found.standard_error == pytest.approx(expected, rel=1e-9)
    low, high = found.interval
    assert low < found.value - expected < found.value + expected < high


@pytest.mark.parametrize("n_swapped", [0, 1])
def test_without_ties_areas_have_nearly_one_interval_whatever_ties_count(n_swapped):
    """Unseen errors are scored like cases, and tie with them."""
    classes, scores = np.repeat([0, 1], 30), np.arange(60.0)
    scores[[29, 29 + n_swapped]] = scores[[29 + n_swapped, 29]]
    half, upper = (estimate(roc_area(ties), classes, scores) for ties in ("half", "upper"))
    assert upper.interval == pytest.approx(half.interval, abs=0.05 * np.ptp(half.interval))
    assert (upper.interval[1] < 1) == (half.interval[1] < 1)


def test_errors_that_a_sample_lacks_cost_areas_under_the_risk_about_as_much_as_accuracy():
    classes = np.repeat([0, 1], 30)
    probabilities = np.where(classes, 0.9, 0.1) + np.linspace(-0.05, 0.05, 60)
    risk, accuracy = (
        estimate(m, classes, np.stack([1 - probabilities, probabilities], axis=1))
        for m in ("risk_coverage_area", "accuracy")
    )
    assert risk.value == risk.interval[0] == 0
    assert risk.interval[1] == pytest.approx(1 - accuracy.interval[0], rel=0.15)


@pytest.mark.parametrize(("n_cases", "is_told"), [(20, True), (21, False)])
def test_a_threshold_beyond_all_cases_is_told(n_cases, is_told):
    """Of 20 cases no more than one is expected below the threshold of a sensitivity of 0.95."""
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], [100, n_cases])
    found = estimate("specificity_at", y, generator.normal(size=len(y)) + y)
    assert any("expected to lie at the last or beyond all" in x for x in found.warnings) == is_told
    assert not estimate("sensitivity_at", y, generator.normal(size=len(y)) + y).warnings
