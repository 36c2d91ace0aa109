"""Jackknife: DeLong's variance, intervals, degenerate samples, coverage."""

import delong
import numpy as np
import pytest
from exact_limits import clipped, exact_limit, limit_of_no_errors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit, logit
from simulations import area_of_shift, normal_scores

from dmfroc import Measure, Predictions, estimate, evaluate, influences
from dmfroc.inference.evidence import joint_covariance
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import Units, units_of
from dmfroc.measures import get_measure, ranges, roc_area
from dmfroc.measures.measure import bind

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


def excess_kurtosis(x):
    return stats.kurtosis(x) if np.ptp(x) > 0 else 0.0


def exponent_of_others(sizes, variances, freedom):
    """Return b of s_c^2 ~ n_c^b: the best one of chi-squared variances, by brute force."""
    x = np.log(sizes) - freedom @ np.log(sizes) / freedom.sum()

    def surprise(b):
        of_model = (freedom * variances * np.exp(-b * x)).sum() / freedom.sum()
        return freedom.sum() / 2 * np.log(of_model) + b**2 / 2

    b = optimize.minimize_scalar(surprise, bounds=(-4, 4), options={"xatol": 1e-9}).x
    information = (freedom * x**2).sum() / 2
    return b * max(1 - 9 / (b**2 * information), 0) if b else 0.0


def lent_variances(sizes, variances, kurtoses):
    """Return what the variances of all classes say of each, by the exponents of the others."""
    squares = (sizes - 1) * variances
    common = squares @ kurtoses / squares.sum()
    freedom = 2 / (np.maximum(kurtoses, common) / sizes + 2 / (sizes - 1))
    pooled_variances = []
    for c in range(len(sizes)):
        others = np.arange(len(sizes)) != c
        b = exponent_of_others(sizes[others], variances[others], freedom[others])
        pooled_variances.append(
            (sizes - 1) @ (variances * (sizes[c] / sizes) ** b) / (sizes - 1).sum()
        )
    return np.array(pooled_variances)


def hand_made_interval(measure, classes, influence, value, level, low=0.0, high=1.0):
    """Return the interval on the logit scale, from the formulas of the documentation."""
    sizes, variances, kurtoses = [], [], []
    for c in np.unique(classes):
        x = influence[classes == c] * (classes == c).sum()
        sizes.append(len(x))
        variances.append(x.var(ddof=1))
        kurtoses.append(max(excess_kurtosis(x), 0))
    sizes, variances, kurtoses = map(np.array, (sizes, variances, kurtoses))
    parts = ((sizes - 1) * variances + lent_variances(sizes, variances, kurtoses)) / sizes / sizes
    own = 2 / (kurtoses / sizes + 2 / (sizes - 1))
    degrees_of_freedom = (1 + own) * sizes / (sizes - 1)
    total = parts.sum()
    df = min(total**2 / (parts**2 / degrees_of_freedom).sum(), (sizes - 1).sum())
    t = stats.t.ppf((1 + level) / 2, df)
    place = (value - low) / (high - low)
    half = t * np.sqrt(total) / ((high - low) * place * (1 - place))
    ends = low + (high - low) * expit(logit(place) + half * np.array([-1, 1]))
    return clipped(ends, measure, classes, value, np.sqrt(total), (low, high), 1 - level)


def excess_of_halves(predictions, whole):
    """Return by how much areas of halves exceed the whole's: two divisions, its thresholds."""
    generator, halves, classes = np.random.default_rng(0), [], predictions.true
    for _ in range(2):
        draws = generator.random(len(classes))
        before = (classes[:, None] == classes) & (draws < draws[:, None])
        place = before.sum(axis=1) + (classes < classes[:, None]).sum(axis=1)
        halves += [place % 2 == remainder for remainder in (0, 1)]
    of_halves = bind(get_measure("dmf_auc"), predictions).values_of_each(np.array(halves) * 1.0)
    return np.mean(of_halves) - whole


@pytest.mark.slow
@pytest.mark.parametrize(("level", "shift"), [(0.8, 1.0), (0.95, 1.0), (0.95, 2.5)])
@pytest.mark.parametrize("measure", MEASURES)
def test_interval_is_its_formula(measure, level, shift):
    classes, scores = normal_scores(13, 60, 3, shift, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    influence = influences(measure, predictions)
    found = estimate(measure, predictions, level=level, stratify=True)
    bounds = get_measure(measure).range_in(predictions, sizes_are_fixed=True)
    expected = hand_made_interval(measure, classes, influence, found.value, level, *bounds)
    if shift == 2.5:  # heavy tails, so that the kurtosis matters
        assert max(excess_kurtosis(influence[classes == c]) for c in range(3)) > 0.5
    if measure == "dmf_auc":  # three classes, the rarest of ten
        bias = excess_of_halves(predictions, found.value)
        is_notable = abs(bias) >= found.standard_error / 4
        assert is_notable == (shift == 2.5)
        assert found.bias_corrected == (pytest.approx(found.value - bias) if is_notable else None)
        expected[int(bias < 0)] -= bias * is_notable
    np.testing.assert_allclose(found.interval, expected, rtol=0, atol=1e-10)
    assert (found.level, found.method, found.measure) == (level, "jackknife", measure)
    assert (found.n_draws, found.seed, found.warnings) == (None, None, ())


@pytest.mark.filterwarnings("ignore:most rows of the classes")
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


def least(measure, classes, sizes_are_fixed=False):
    """Return the smallest value of a measure, of any classes where they are drawn together."""
    shares = np.bincount(classes) / len(classes)
    return ranges.informedness(shares, sizes_are_fixed)[0] if measure == "informedness" else 0


def rule_of_three(level, smallest_class):
    return (1 - level) ** (1 / smallest_class)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_classifier_has_a_one_sided_interval(measure, level):
    """It is as bad as it may be if as much is missed, of a class or of all, as need not be seen."""
    classes = np.repeat([0, 1, 2], [30, 20, 10])
    scores = np.eye(3)[classes] + 0.01 * np.arange(60)[:, None] / 60
    found = estimate(measure, classes, scores, level=level)
    assert found.value == pytest.approx(1, abs=1e-6)
    assert found.standard_error < 1e-6
    lowest = limit_of_no_errors(measure, classes, 1 - level, (least(measure, classes), 1))
    if measure == "hand_till" and level == 0.95:
        # The class that says least is in two of three pairs, ranked in the midst of the other
        assert lowest == pytest.approx(1 - (1 - rule_of_three(level, 10)) / 4, abs=1e-12)
    assert found.interval[0] == pytest.approx(lowest, abs=1e-6)
    assert found.interval[1] == pytest.approx(1, abs=1e-6)
    assert found.interval[0] < 1
    assert found.value <= found.interval[1] <= 1
    (warning,) = found.warnings
    assert "perfect in this sample" in warning
    assert "Clopper and Pearson's exact bound from 10 independent sets" in warning


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_accuracy_of_a_perfect_sample_has_the_bound_of_clopper_and_pearson(n_classes):
    classes = np.repeat(np.arange(n_classes), 20)
    found = estimate("accuracy", classes, y_pred=classes)
    low, high = found.interval
    assert f"bound from {len(classes)} independent observations, and is one" in found.warnings[0]
    exact = stats.binomtest(len(classes), len(classes)).proportion_ci(0.9).low
    assert (low, high) == (pytest.approx(exact, abs=1e-12), 1)


def test_a_single_error_has_an_exact_limit():
    """One misranked observation of 60 is all that shows variation: 1 of 60 x 4 is the unit."""
    classes = np.repeat([0, 1], 30)
    scores = np.arange(60.0)
    scores[0] = 30.5
    predictions = Predictions.from_arrays(classes, scores)
    found = estimate("hand_till", predictions)
    moments = moments_of(influences("hand_till", predictions), units_of(predictions))
    assert moments.spread.degrees_of_freedom < 8
    limits = [
        exact_limit(
            found.value,
            moments.spread.scale**2,
            (0, 1),
            limit_of_no_errors("hand_till", classes, 0.05),
            0.05,
            tail,
        )
        for tail in (0.025, 0.05)
    ]
    assert limits[0] <= found.interval[0] <= limits[1]
    assert found.warnings == ()
    classes, scores = normal_scores(15, 60, 2)
    many = estimate("hand_till", classes, scores[:, 1] - scores[:, 0])
    assert (many.exact_limit, many.warnings) == (None, ())


@pytest.mark.parametrize("prevalence", [0.001, 0.01, 0.1])
def test_a_sample_with_many_errors_has_no_exact_limit_whatever_the_first_ones_cost(prevalence):
    """With 70 false positives of 400 the precision is as uncertain as their ratio of rates."""
    classes, n, n_errors = np.repeat([0, 1], 400), 400, 70
    predicted = np.where(np.arange(2 * n) % n < n_errors, 1 - classes, classes)
    found = estimate("precision", classes, y_pred=predicted, target_prevalence=prevalence)
    rates = np.array([1 - n_errors / n, n_errors / n])
    distances = 1.96 * np.sqrt(((1 - rates) / (n * rates)).sum()) * np.array([-1, 1])
    of_odds = logit(prevalence) + np.log(rates[0] / rates[1]) + distances
    assert found.interval == pytest.approx(expit(of_odds), rel=0.01)
    for name in ("f1", "markedness", "correlation", "cohen_kappa", "macro_f1"):
        other = estimate(name, classes, y_pred=predicted, target_prevalence=prevalence)
        assert other.exact_limit is None
        low, high = (x - other.value for x in other.interval)
        assert -low == pytest.approx(high, rel=0.3)
    scores = np.random.default_rng(0).normal(size=2 * n) + 1.5 * classes
    area = estimate("average_precision", classes, scores, target_prevalence=prevalence)
    thresholds = np.linspace(8, -8, 10_001)
    tpr, fpr = stats.norm.sf(thresholds - 1.5), stats.norm.sf(thresholds)
    precision = prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)
    assert area.exact_limit is None
    assert area.interval[0] < np.trapezoid(precision, tpr) < area.interval[1]


def test_errors_that_a_sample_lacks_cost_what_they_do_beside_those_that_it_has():
    """Without a false positive, 30 misses say nothing of what false positives would cost."""
    classes, n, prevalence = np.repeat([0, 1], 100), 100, 0.01
    predicted = np.where(np.arange(2 * n) >= 2 * n - 30, 0, classes)
    found = estimate("f1", classes, y_pred=predicted, target_prevalence=prevalence)
    assert found.exact_limit == "lower"
    fallout = 1 - 0.05 ** (1 / n)
    hits, alarms = prevalence * 0.7, (1 - prevalence) * fallout
    unseen = 2 * hits / (hits + alarms + prevalence)
    assert found.interval[0] == pytest.approx(unseen, abs=0.05)
    perfect = estimate("f1", classes, y_pred=classes, target_prevalence=prevalence)
    assert perfect.interval[0] == pytest.approx(
        2 * prevalence / (2 * prevalence + alarms), rel=1e-6
    )


def test_a_limit_that_is_exact_is_told():
    classes = np.repeat([0, 1], 30)
    scores = np.arange(60.0)
    scores[[29, 30]] = scores[[30, 29]]
    assert estimate("hand_till", classes, scores).exact_limit == "lower"
    probabilities = np.where(classes, 0.9, 0.1) + 0.001 * scores
    assert estimate("brier_score", classes, probabilities).exact_limit == "upper"
    assert "exact lower limit" in str(estimate("hand_till", classes, scores))
    assert "exact limit: the one-sided limit for one more" in str(evaluate(classes, scores))


def test_few_decisive_observations_of_an_unknown_measure_are_told():
    """What a perfect sample would show is unknown if a measure has no best value."""
    classes = np.repeat([0, 1], 30)
    predicted = np.where(np.arange(60) == 0, 1, classes)

    def bind(predictions):
        is_right = predictions.predicted == predictions.true
        return lambda weights: (weights * is_right).sum() / weights.sum()

    bounded = Measure(name="share_right", bind=bind, bounds=(0, 1), needs="labels")
    accuracy = estimate("accuracy", classes, y_pred=predicted)
    assert estimate(bounded, classes, y_pred=predicted).interval == pytest.approx(
        accuracy.interval, abs=1e-12
    )
    unbounded = Measure(name="share_right", bind=bind, needs="labels")
    [warning] = estimate(unbounded, classes, y_pred=predicted).warnings
    assert "only a few observations determine this interval" in warning
    assert accuracy.warnings == ()


def test_a_users_measure_that_fails_for_other_samples_has_no_exact_limit():
    classes = np.repeat([0, 1], 30)
    costs = np.linspace(1, 2, 60)

    def bind(predictions):
        is_right = predictions.predicted == predictions.true
        return lambda weights: (weights * is_right * costs).sum() / (weights * costs).sum()

    measure = Measure(name="saved", bind=bind, bounds=(0, 1), needs="labels")
    found = estimate(measure, classes, y_pred=np.where(np.arange(60) % 9, classes, 1))
    assert found.exact_limit is None
    assert 0 < found.interval[0] < found.value < found.interval[1] < 1


@pytest.mark.parametrize(
    ("measure", "chance"), [("dmf_auc", 0.5), ("hand_till", 0.5), ("informedness", 0.0)]
)
def test_constant_scores_have_an_interval_around_chance(measure, chance):
    classes = np.repeat([0, 1, 2], [30, 20, 10])
    found = estimate(measure, classes, np.ones((60, 3)))
    assert found.value == pytest.approx(chance, abs=1e-9)
    assert found.standard_error == pytest.approx(0, abs=1e-9)
    low, high = found.interval
    share, lowest = rule_of_three(0.95, 10), least(measure, classes)
    expected = share * chance + (1 - share) * np.array([lowest, 1])
    np.testing.assert_allclose([low, high], expected, rtol=0, atol=1e-9)
    [warning] = [w for w in found.warnings if "says nothing" in w]
    assert warning.startswith(
        f"{measure} is {chance:g} whichever observations of a class weigh more"
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


@pytest.mark.parametrize("measure", MEASURES)
def test_a_single_observation_in_each_class(measure):
    scores = np.array([[3.0, 1, 2], [0, 4, 1], [2, 5, 3]])
    found = estimate(measure, [0, 1, 2], scores, stratify=True)
    low, high = found.interval
    assert np.isfinite([found.value, low, high]).all()
    # One set of a case of each class: the value is certain to 5 %
    expected = 0.05 * found.value + 0.95 * np.array([least(measure, [0, 1, 2], True), 1])
    np.testing.assert_allclose([low, high], expected, rtol=0, atol=1e-12)
    assert any(w.startswith("every class has a single observation") for w in found.warnings)
    assert not any("stands in" in w for w in found.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    ["hand_till", "dmf_auc", "informedness", "accuracy", "correlation", "convex_hull_auc"],
)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_sample_with_a_few_misses_is_no_surer_than_a_perfect_one(measure, seed):
    generator = np.random.default_rng(seed)
    n_classes = generator.integers(2, 5)
    classes = np.repeat(np.arange(n_classes), generator.integers(8, 80, n_classes))
    scores = 2 * np.eye(n_classes)[classes] + generator.random((len(classes), n_classes))
    lowest = estimate(measure, classes, scores).interval[0]
    for _ in range(3):
        # A case falls behind some of the others, or behind all.
        row = generator.integers(len(classes))
        scores[row, classes[row]] -= generator.uniform(1, 3)
        assert estimate(measure, classes, scores).interval[0] <= lowest + 1e-9


@pytest.mark.parametrize("sizes", [(30, 30), (19, 24), (100, 10)])
def test_each_error_makes_a_proportion_less_sure(sizes):
    classes = np.repeat([0, 1], sizes)
    predicted = classes.copy()
    lows = []
    for place in range(9):
        found = estimate("accuracy", classes, y_pred=predicted, stratify=True)
        exact = stats.binomtest(place, len(classes)).proportion_ci(0.95).high
        assert found.interval[0] > 1 - 1.7 * exact  # one error of 43 once meant anything above .68
        lows.append(found.interval[0])
        predicted[-1 - place] = 0
    assert (np.diff(lows) < 0).all()


def test_the_limit_falls_with_each_swapped_pair():
    classes = np.repeat([0, 1], 50)
    lows = []
    for n_swapped in range(8):
        scores = np.arange(100.0)
        scores[50 - n_swapped : 50 + n_swapped] = scores[50 - n_swapped : 50 + n_swapped][::-1]
        lows.append(estimate("hand_till", classes, scores).interval[0])
    # A share that 100 need not show, of both classes, ranked in the midst of each other
    assert lows[0] == pytest.approx(rule_of_three(0.95, 100), abs=1e-12)
    assert (np.diff(lows) < 0).all()
    assert lows[1] == pytest.approx(lows[0], abs=1e-3)


def test_a_miss_without_weight_is_as_good_as_none():
    classes = np.repeat([0, 1], 30)
    scores, weights = np.arange(60.0), np.ones(60)
    scores[29], weights[29] = 100, 1e-4
    low, _ = estimate("hand_till", classes, scores, sample_weight=weights).interval
    assert low == pytest.approx(rule_of_three(0.95, 59), abs=1e-4)


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
    """Count hits of nominal 95 % intervals in 200 samples.

    Of 200 intervals with that coverage 180 to 198 hit with a probability of 0.998.
    """
    plausible = stats.binom(200, 0.95)
    assert plausible.cdf(198) - plausible.cdf(179) > 0.998
    truth = area_of_shift(1.5)
    hits = {"hand_till": 0, "dmf_auc": 0}
    for seed in range(200):
        classes, scores = normal_scores(1000 + seed, 60, 3, shift=1.5)
        for measure in hits:
            low, high = estimate(measure, classes, scores).interval
            # All pairs are alike, so that the centre is each pair's curve, with the same area.
            hits[measure] += low <= truth <= high
    assert 180 <= hits["hand_till"] <= 198
    assert 180 <= hits["dmf_auc"] <= 198


# Several values together


@pytest.mark.parametrize("sizes_are_random", [False, True])
@pytest.mark.parametrize("sizes", [[1, 1, 2], [1, 2, 3], [20, 30, 20]], ids=str)
def test_joint_covariance_gives_each_value_and_difference_its_variance(sizes, sizes_are_random):
    """Also with classes of one and of two units, which lend and borrow variance."""
    n = sum(sizes)
    strata = np.repeat([0, 1, 2], sizes)
    units = Units(np.arange(n), strata, np.array(sizes), min(sizes), sizes_are_random)
    influences_of_two = np.random.default_rng(1).normal(size=(2, n))
    influences_of_two -= influences_of_two.mean(axis=1, keepdims=True)  # as any measure's
    covariance = joint_covariance(influences_of_two, units)
    for contrast in ([1, 0], [0, 1], [1, -1]):
        contrast = np.array(contrast)
        expected = moments_of(contrast @ influences_of_two, units).spread.scale ** 2
        assert contrast @ covariance @ contrast == pytest.approx(expected, rel=1e-12)


def test_joint_covariance_gives_values_their_variance_whose_classes_lend_by_their_sizes():
    sizes = [2, 30, 8]
    units = Units(np.arange(40), np.repeat([0, 1, 2], sizes), np.array(sizes), 2)
    influences_of_two = np.random.default_rng(1).normal(size=(2, 40))
    covariance = joint_covariance(influences_of_two, units)
    moments = [moments_of(influences, units) for influences in influences_of_two]
    assert any(np.ptp(m.pooled) > 0 for m in moments)
    expected = [m.spread.scale**2 for m in moments]
    np.testing.assert_allclose(covariance.diagonal(), expected, rtol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_a_perfect_sample_does_not_fix_the_share_of_a_class():
    """The lift of a perfect sample is one over the share of positives, which is random."""
    classes = np.repeat([0, 1], [60, 40])
    found = estimate("lift", classes, y_pred=classes)
    assert found.value == pytest.approx(1 / 0.4)
    expected = np.sqrt(0.6 / 0.4**3 / 99)  # by the delta method
    assert found.standard_error == pytest.approx(expected, rel=1e-9)
    low, high = found.interval
    assert low < found.value - expected < found.value + expected < high


@pytest.mark.parametrize("n_swapped", [0, 1])
def test_without_ties_areas_have_one_interval_whatever_ties_count(n_swapped):
    classes, scores = np.repeat([0, 1], 30), np.arange(60.0)
    scores[[29, 29 + n_swapped]] = scores[[29 + n_swapped, 29]]
    half, upper = (estimate(roc_area(ties), classes, scores) for ties in ("half", "upper"))
    assert upper.interval == pytest.approx(half.interval, abs=1e-12)


def test_errors_that_a_sample_lacks_cost_areas_under_the_risk_as_much_as_accuracy():
    classes = np.repeat([0, 1], 30)
    probabilities = np.where(classes, 0.9, 0.1) + np.linspace(-0.05, 0.05, 60)
    risk, accuracy = (
        estimate(m, classes, np.stack([1 - probabilities, probabilities], axis=1))
        for m in ("risk_coverage_area", "accuracy")
    )
    assert risk.interval == pytest.approx((0, 1 - accuracy.interval[0]), abs=1e-9)
    assert (risk.value, risk.exact_limit) == (0, "upper")


@pytest.mark.parametrize(("n_cases", "is_told"), [(19, True), (20, False)])
def test_a_threshold_beyond_all_cases_is_told(n_cases, is_told):
    """Of 19 cases less than one is expected below the threshold of a sensitivity of 0.95."""
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], [100, n_cases])
    found = estimate("specificity_at", y, generator.normal(size=len(y)) + y)
    assert any("expected to lie beyond all of them" in x for x in found.warnings) == is_told
    assert not estimate("sensitivity_at", y, generator.normal(size=len(y)) + y).warnings
