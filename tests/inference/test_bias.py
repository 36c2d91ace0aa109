"""What intervals allow for where a value is biased."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax
from simulations import normal_scores

import dmfroc
from dmfroc import Predictions, estimate, measures
from dmfroc.analyses.catalogue import get_measure
from dmfroc.analyses.evidence import METHODS
from dmfroc.inference.bias import _bias_of_halves, _halves, bias_of
from dmfroc.inference.evidence import facts_in, facts_of_classifiers, joint_facts
from dmfroc.inference.limits import limits_of_contrast
from dmfroc.inference.units import sample_of
from dmfroc.measures.measure import Measure

MANY, FEW = 30, 6  # classes, and observations of each


def many_small_classes(seed=0):
    return Predictions.from_arrays(*normal_scores(seed, MANY * FEW, MANY, 1.5))


def halves_of(name, *arrays, **options):
    """Return the bias that halves of a sample show, whether it is notable or not."""
    measure = get_measure(name) if isinstance(name, str) else name
    limits = facts_in(sample_of(Predictions.from_arrays(*arrays), **options), measure).limits
    return _bias_of_halves(limits.function, limits.value, limits.influences, 0.0)


@pytest.mark.parametrize(("n_classes", "n"), [(4, 60), (6, 120)])
@pytest.mark.parametrize("name", ["mutual_information", "entropy_real_given_predicted"])
def test_halves_show_the_bias_of_entropies(name, n_classes, n):
    """That of tables is known: (k - 1)^2 / 2n for the information, less k - 1 of the rows."""
    generator, found, values = np.random.default_rng(0), [], []
    for _ in range(40):
        y = generator.permutation(np.arange(n) % n_classes)
        predicted = np.where(generator.random(n) < 0.4, y, generator.integers(n_classes, size=n))
        scores = np.eye(n_classes)[predicted]
        found.append(halves_of(name, y, scores))
        values.append(get_measure(name)(y, scores))
    y = np.arange(400 * n) % n_classes
    predicted = np.where(
        generator.random(len(y)) < 0.4, y, generator.integers(n_classes, size=len(y))
    )
    bias = np.mean(values) - get_measure(name)(y, np.eye(n_classes)[predicted])
    error = np.std(values) / np.sqrt(40)
    assert np.sign(np.mean(found)) == np.sign(bias)
    assert abs(np.mean(found)) == pytest.approx(abs(bias), rel=0.4, abs=3 * error)


def test_a_bias_within_the_error_is_not_allowed_for():
    sample = sample_of(many_small_classes())
    measure = measures.mutual_information()
    limits = facts_in(sample, measure).limits
    bias = _bias_of_halves(limits.function, limits.value, limits.influences, 0.0)
    assert bias > 0
    for error, expected in ((3.5 * bias, bias), (4.5 * bias, 0.0)):  # a notable one is 1/4
        found = bias_of(measure, limits.value, error, sample, limits.function, limits.influences)
        assert found.of_value == pytest.approx(expected, rel=0.1)
        assert found.allowed == 2 * found.of_value  # halves show half of that of tiny classes
    unbiased = bias_of(measures.accuracy(), 0.8, 1e-9, sample, limits.function, limits.influences)
    assert unbiased.of_value == 0


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_repeated_in_groups_leave_errors_and_biases_of_bins_what_they_are(seed):
    generator = np.random.default_rng(seed)
    p = generator.random(200)
    y, scores = (generator.random(200) < p).astype(int), np.stack([1 - p, p], axis=1)
    measure, twice = get_measure("expected_calibration_error"), np.repeat(np.arange(200), 2)
    once = facts_in(sample_of(Predictions.from_arrays(y, scores)), measure)
    repeated = Predictions.from_arrays(y[twice], scores[twice])
    found = facts_in(sample_of(repeated, groups=twice), measure)
    assert found.moments.standard_error == pytest.approx(once.moments.standard_error)
    assert found.bias.allowed == pytest.approx(once.bias.allowed, rel=0.2)


def test_calibration_errors_of_folds_are_compared_with_debiased_ones_of_all_rows():
    generator = np.random.default_rng(1)
    p = generator.random(300)
    predictions = Predictions.from_arrays(generator.random(300) < p, np.stack([1 - p, p], axis=1))
    measure = get_measure("expected_calibration_error")
    found = facts_in(sample_of(predictions.in_folds(np.arange(300) % 5)), measure)
    assert found.limits.end_at(-1, 0.05) == 0  # the forecasts are calibrated
    assert found.bias.of_value > found.value - facts_in(sample_of(predictions), measure).value


def test_a_bias_leaves_the_range_to_neither_side():
    """Halves of a few rows can show a bias that would make an information less than none."""
    rng, n_corrected = np.random.default_rng(3), 0
    for _ in range(30):
        y = np.arange(9) % 3
        predicted = np.where(rng.random(9) < 0.2, y, rng.integers(3, size=9))
        found = estimate("mutual_information", y, y_pred=predicted)
        low, high = found.interval
        assert 0 <= low <= found.value <= high <= np.log(3)
        if found.bias_corrected is not None:
            assert found.bias_corrected != found.value
            assert 0 <= found.bias_corrected <= np.log(3)
            n_corrected += found.bias_corrected == 0
    assert n_corrected > 0


def test_halves_show_the_bias_of_a_square():
    """Of a mean of which one class's two values are 1 and -1, so that halves have 1/K or -1/K."""
    n_classes = 6
    classes = np.repeat(np.arange(n_classes), 2)
    values = np.zeros((2 * n_classes, n_classes))
    values[:2, 0] = 1, -1
    measure = Measure(
        name="squared_mean",
        bind=lambda predictions: lambda w: jnp.square(w @ predictions.scores[:, 0] / w.sum()),
    )
    bias = halves_of(measure, classes, values)
    assert bias == pytest.approx(1 / n_classes**2)
    # In a sample of nine copies that of a mean of nine times as many values is a ninth of it
    more = halves_of(measure, np.tile(classes, 9), np.tile(values, (9, 1)))
    assert 0 <= more < bias / 2


@pytest.mark.slow
def test_halves_show_the_bias_of_the_centre():
    """Six classes of twenty: the area is too large by a third of its standard deviation."""
    area = measures.dmf_auc()
    truth = area(*normal_scores(0, 60_000, 6, 2.0))
    errors, biases, lows = [], [], []
    for seed in range(1, 15):
        predictions = Predictions.from_arrays(*normal_scores(seed, 120, 6, 2.0))
        errors.append(area(predictions) - truth)
        limits = facts_in(sample_of(predictions), area).limits
        biases.append(_bias_of_halves(limits.function, limits.value, limits.influences, 0.0))
        found = estimate(area, predictions)
        if found.bias_corrected is not None:
            assert found.bias_corrected == pytest.approx(
                found.value - biases[-1], abs=0.25 * found.standard_error
            )
            lows.append(found.interval[0])
    assert len(lows) > 7
    assert np.std(biases) < 0.3 * np.std(errors)
    assert np.mean(biases) == pytest.approx(np.mean(errors), abs=3 * np.std(errors) / np.sqrt(14))
    assert np.mean(biases) > 0.2 * np.std(errors)
    large = facts_in(sample_of(Predictions.from_arrays(*normal_scores(1, 1200, 6, 2.0))), area)
    assert large.bias.of_value == 0  # it is not looked for


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy"])
def test_halves_of_what_is_linear_show_no_bias(name):
    assert halves_of(name, *normal_scores(0, 120, 20, 1.5)) == pytest.approx(0, abs=1e-12)


def test_intervals_reach_to_where_the_truth_is():
    """Of many small classes average precision is too large, and the estimate says by how much."""
    sample = many_small_classes()
    found = estimate("average_precision", sample)
    large = normal_scores(5, 30_000, MANY, 1.5)
    truth = measures.average_precision()(*large)
    low, high = found.interval
    assert found.value - truth > 2 * found.standard_error
    assert low < truth < found.value < high
    assert found.value - low > 1.5 * (high - found.value)
    assert low < found.bias_corrected < found.value - found.standard_error
    assert f"bias-corrected {found.bias_corrected:.4f}" in str(found)
    assert estimate("average_precision", *normal_scores(0, 600, 3, 1.5)).bias_corrected is None


def test_intervals_of_mutual_information_reach_down_and_of_conditional_entropy_up():
    sample = many_small_classes()
    information, entropy = (
        estimate(name, sample) for name in ("mutual_information", "entropy_real_given_predicted")
    )
    assert information.value - information.interval[0] > 3 * (
        information.interval[1] - information.value
    )
    assert entropy.interval[1] - entropy.value > 3 * (entropy.value - entropy.interval[0])
    assert entropy.interval[1] <= np.log(MANY)
    assert information.bias_corrected < information.value
    assert entropy.bias_corrected > entropy.value


@pytest.mark.parametrize("name", ["max_informedness", "convex_hull_auc", "h_measure"])
@pytest.mark.parametrize(("n", "n_classes"), [(150, 30), (60, 3), (300, 10)])
def test_intervals_about_cross_fitted_values_contain_the_value(name, n, n_classes):
    found = estimate(name, *normal_scores(3, n, n_classes, 1.5))
    low, high = found.interval
    assert low < found.bias_corrected < found.value <= high


@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_intervals_of_replicates_allow_for_the_same_bias(method):
    """All replicates of the information in a table of noise are above what is true, 0."""
    classes, scores = normal_scores(3, 300, 10, 0.0)
    found = estimate("mutual_information", classes, scores, method=METHODS[method](300))
    assert found.draws.min() > 0.05
    assert found.interval[0] == pytest.approx(0, abs=1e-12)
    assert found.bias_corrected < found.value


@pytest.mark.parametrize("measure", ["brier_miscalibration", "brier_discrimination"])
def test_replicates_of_recalibrations_are_told_to_be_too_good(measure):
    classes, scores = normal_scores(4, 150, 3)
    found = estimate(measure, classes, softmax(scores, axis=1), method=dmfroc.Bootstrap(200))
    assert any("replicates of it even more so" in remark for remark in found.warnings)


def test_reliability_reaches_down_to_that_of_calibrated_forecasts():
    """It is 0 in the population, and all samples show more, by chance."""
    generator, excess, left = np.random.default_rng(2), [], []
    for _ in range(30):
        p = generator.beta(2, 2, size=200)
        y = (generator.random(200) < p).astype(int)
        found = estimate("brier_reliability", y, np.stack([1 - p, p], axis=1))
        assert found.interval[0] == pytest.approx(0, abs=1e-9)
        excess.append(found.value)
        left.append(found.value if found.bias_corrected is None else found.bias_corrected)
    assert abs(np.mean(left)) < np.mean(excess) / 3


def all_halves(sample, influences):
    return np.array([*_halves(*sample, influences)]).reshape(-1, len(sample.units.stratum))


def test_bias_is_seen_in_halves_that_have_all_classes():
    """Halves of groups without one of the classes are left out."""
    rng, numbers = np.random.default_rng(2), []
    for _ in range(10):
        y = rng.permutation(np.arange(24) % 5)
        sample = sample_of(Predictions.from_arrays(y, np.eye(5)[y]), rng.integers(0, 8, 24))
        halves = all_halves(sample, np.arange(8.0))
        numbers.append(len(halves))
        np.testing.assert_array_equal(halves[::2] + halves[1::2], 2.0)
        for half in halves:
            weights = half[sample.units.unit_of_row]
            assert (np.bincount(y, weights, 5) > 0).all()
            assert abs(half.sum() - len(half)) <= 1
    assert 0 < np.count_nonzero(numbers) < 10


def test_halves_have_half_of_each_class_whatever_the_order_of_rows():
    y = np.repeat(np.arange(3), [11, 20, 4])
    sample = sample_of(Predictions.from_arrays(y, np.eye(3)[y]))
    halves = all_halves(sample, np.arange(35.0))
    assert len(halves) > 0
    for half in halves:
        counts = np.bincount(y, half / 2)
        assert (abs(counts - [5.5, 10, 2]) <= 0.5).all()
    order = np.random.default_rng(1).permutation(35)
    sample = sample_of(Predictions.from_arrays(y[order], np.eye(3)[y[order]]))
    np.testing.assert_array_equal(all_halves(sample, np.arange(35.0)[order]), halves[:, order])


@pytest.mark.parametrize("name", ["fpr_at", "precision_at", "max_informedness", "equal_error_rate"])
def test_limits_do_not_depend_on_the_order_of_rows_where_influences_tie(name):
    classes, scores = normal_scores(3, 90, 3, 1.0)
    order = np.random.default_rng(1).permutation(90)
    found, expected = estimate(name, classes[order], scores[order]), estimate(name, classes, scores)
    np.testing.assert_allclose(found.interval, expected.interval, rtol=1e-9)


def is_alike(of, order, name, **columns):
    """Whether an interval is the same for these rows in another order."""
    found = estimate(name, **{k: x[order] for k, x in of.items()}, **columns)
    return np.allclose(found.interval, estimate(name, **of, **columns).interval, rtol=1e-6)


def test_limits_do_not_depend_on_the_order_of_rows_that_differ_in_the_predicted_class_alone():
    """Two cells of as many errors, whose rows have the same influences."""
    table = np.array([[11, 2, 1], [2, 19, 2], [4, 4, 15]])
    y, predicted = np.repeat(np.indices((3, 3)).reshape(2, 9), table.ravel(), axis=1)
    of = {"y_true": y, "y_pred": predicted}
    orders = [np.random.default_rng(seed).permutation(len(of["y_true"])) for seed in range(8)]
    assert all(is_alike(of, x, "entropy_predicted_given_real") for x in orders)


@pytest.mark.parametrize("name", ["brier_discrimination", "integrated_calibration_index"])
def test_limits_do_not_depend_on_the_order_of_rows_in_groups_of_several_classes(name):
    rng = np.random.default_rng(5)
    classes, scores = normal_scores(5, 90, 3, 1.0)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    of = {"y_true": classes, "y_score": probabilities, "groups": rng.integers(0, 15, 90)}
    assert all(is_alike(of, rng.permutation(90), name) for _ in range(3))


@pytest.mark.parametrize("population", [None, {0: 0.8, 1: 0.2}])
@pytest.mark.parametrize(
    ("name", "other"),
    [("fpr_at", "specificity_at"), ("precision", "false_discovery_rate"), ("recall", "miss_rate")],
)
def test_limits_of_a_complement_are_those_of_the_value(name, other, population):
    for seed in range(20, 26):
        sample = Predictions.from_arrays(*normal_scores(seed, 80, 2, 1.0))
        a, b = (estimate(x, sample, population=population).interval for x in (name, other))
        np.testing.assert_allclose(a, 1 - np.array(b)[::-1], rtol=1e-6)


def table_of(tp, fn, fp, tn):
    return np.repeat([1, 1, 0, 0], [tp, fn, fp, tn]), np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])


@pytest.mark.parametrize("counts", [(27, 6, 8, 49), (40, 10, 4, 146), (24, 3, 13, 59)])
def test_limits_of_ratios_are_those_of_their_reciprocals(counts):
    """Halves of few errors have ratios that say nothing of a bias; their logarithms do."""
    y, predicted = table_of(*counts)
    low, high = estimate("positive_likelihood_ratio", y, y_pred=predicted).interval
    of_other = estimate("negative_likelihood_ratio", 1 - y, y_pred=1 - predicted).interval
    np.testing.assert_allclose([low, high], 1 / np.array(of_other)[::-1], rtol=0.03)
    first, second = (
        estimate("diagnostic_odds_ratio", y, y_pred=predicted, pos_label=x).interval for x in (0, 1)
    )
    np.testing.assert_allclose(first, second, rtol=1e-6)
    tp, fn, fp, tn = counts
    of_logarithm = 1 / tp - 1 / (tp + fn) + 1 / fp - 1 / (fp + tn)  # its variance
    ratio = tp / (tp + fn) / (fp / (fp + tn))
    assert math.log(ratio / low) == pytest.approx(1.96 * math.sqrt(of_logarithm), rel=0.15)


def test_a_bias_that_is_clearly_slight_is_looked_at_no_further():
    sample, measure = sample_of(many_small_classes()), measures.mutual_information()
    limits, n_values = facts_in(sample, measure).limits, []

    class Counted:
        rows, sample = limits.function.rows, limits.function.sample

        def value(self, units, unseen):
            n_values[-1] += 1
            return limits.function.value(units, unseen)

    for error in (1e-3, 1e9):
        n_values.append(0)
        _bias_of_halves(Counted(), limits.value, limits.influences, error)
    assert n_values == [32, 4]


def shares_of_noise(seed, n=180):
    y = np.random.default_rng(seed).integers(3, size=n)
    return y, np.eye(3)[y]


@pytest.mark.parametrize("of_each", [1, 2])
def test_halves_show_the_bias_of_class_shares_that_are_chance(of_each):
    """An entropy of K shares is too small by (K - 1) / 2n, of groups as of rows.

    It is largest where shares are equal, so that its influences are small: only the bias leads
    there.
    """
    name, found, reached = "entropy_predicted", [], []
    for seed in range(30):
        y, scores = (np.repeat(x, of_each, axis=0) for x in shares_of_noise(seed))
        groups = np.arange(len(y)) // of_each if of_each > 1 else None
        facts = facts_in(sample_of(Predictions.from_arrays(y, scores), groups), get_measure(name))
        found.append(facts.bias.of_value)
        reached.append(facts.interval_at(0.05).high >= np.log(3) - 1e-9)
    assert np.mean(found) == pytest.approx(-2 / (2 * 180), rel=0.25)
    assert np.mean(reached) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("name", ["brier_reliability", "expected_calibration_error"])
def test_intervals_of_errors_in_bins_reach_the_bias_that_a_formula_has(name):
    """Probabilities near 0 and 1 leave one row in a bin, whose bias halves do not show."""
    n_covered = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        p = 1 / (1 + np.exp(-8 * generator.standard_t(2, size=150)))
        y = (generator.random(150) < p).astype(int)
        found = estimate(name, y, np.stack([1 - p, p], axis=1))
        n_covered += found.interval[0] <= 1e-4  # in the population it is 0
        assert found.bias_corrected is None or 0 <= found.bias_corrected < found.value
    assert n_covered >= 34


def overconfident(seed, n):
    """Return classes, calibrated probabilities, and the same with twice their log-odds."""
    generator = np.random.default_rng(seed)
    y = (generator.random(n) < 0.4).astype(int)
    z = 1.5 * (1.5 * (y - 0.5) + generator.standard_normal(n)) + np.log(0.4 / 0.6)
    return y, {
        name: softmax(np.outer(x * z, [0, 1]), axis=1) for name, x in {"a": 1, "b": 2}.items()
    }


def test_the_bias_of_a_difference_is_the_difference_of_the_biases():
    """Only the calibrated classifier seems less so in a sample than it is: .04 of .09."""
    y, scores = overconfident(0, 200_000)
    measure = get_measure("expected_calibration_error")
    n_covered, n_without = 0, 0
    truth = measure(y, scores["a"]) - measure(y, scores["b"])
    for seed in range(40):
        y, scores = overconfident(seed, 300)
        samples = {name: sample_of(Predictions.from_arrays(y, s)) for name, s in scores.items()}
        facts = facts_of_classifiers(measure, samples)
        bias = facts["a"].limits.bias - facts["b"].limits.bias
        joint = joint_facts(facts)
        apart = limits_of_contrast((1.0, -1.0), [f.limits for f in facts.values()], 1.0)
        for limits in (joint.limits["a", "b"], apart):
            low, high = limits.interval_at(0.05)
            assert limits.bias == pytest.approx(bias, abs=1e-15)
            is_notable = abs(bias) >= 0.25 * math.sqrt(limits.square)
            below, above = limits.limit(-1, 0.05) - low, high - limits.limit(1, 0.05)
            assert below == pytest.approx(max(bias, 0) * is_notable)
            assert above == pytest.approx(max(-bias, 0) * is_notable)
        of_pair = joint.limits["a", "b"]
        low, high = of_pair.interval_at(0.05)
        n_covered += low <= truth <= high
        n_without += of_pair.limit(-1, 0.05) <= truth <= of_pair.limit(1, 0.05)
    assert n_covered >= n_without + 10  # 33 and 22 of 40


def test_average_precision_at_a_small_share_is_too_large_and_says_so():
    generator, shares = np.random.default_rng(4), {0: 0.05, 1: 0.05, 2: 0.9}

    def sample(n):
        y = generator.integers(0, 3, n)
        return y, 1.4 * (generator.normal(size=(n, 3)) + 1.4 * np.eye(3)[y])

    def estimates(n, n_samples, **options):
        return [estimate("average_precision", *sample(n), **options) for _ in range(n_samples)]

    [truth] = estimates(60_000, 1, population=shares)
    found = estimates(150, 30, population=shares)
    assert sum("depends on few rows" in " ".join(one.warnings) for one in found) >= 25
    excess = np.mean([one.value for one in found]) - truth.value
    left = np.mean(
        [one.value if one.bias_corrected is None else one.bias_corrected for one in found]
    )
    assert abs(left - truth.value) < excess / 2
    assert sum(one.interval[0] <= truth.value <= one.interval[1] for one in found) >= 24
    assert not any(one.warnings for one in estimates(150, 3))


def test_entropies_beside_their_maximum_are_biased_by_chance_in_the_class_sizes():
    """Eight classes of one size in the population: the entropy is too small, in every sample."""
    held = []
    for seed in range(20):
        y = np.random.default_rng(seed).integers(8, size=600)
        found = estimate("entropy_predicted", y, y_pred=y)
        held.append(found.interval[0] <= math.log(8) <= found.interval[1] + 1e-12)
        assert found.value < math.log(8)
    assert sum(held) >= 19


@pytest.mark.parametrize(("n_classes", "is_told"), [(3, False), (60, True)])
def test_small_classes_are_told_where_halves_lack_one(n_classes, is_told):
    """Halves by chance have each of three classes of four; they never have each of sixty."""
    classes, scores = normal_scores(0, 4 * n_classes, n_classes, 1.5)
    found = estimate("cohen_kappa", classes, scores)
    assert ("may be biased by as much" in " ".join(found.warnings)) == is_told


def test_a_bias_of_several_standard_errors_is_told():
    """Mutual information of 30 classes with five rows each, which halves hardly show."""
    y = np.arange(150) % 30
    predicted = np.random.default_rng(0).permutation(y)
    found = estimate("mutual_information", y, y_pred=predicted)
    assert any("30 classes" in x and "may miss it" in x for x in found.warnings)


def test_leave_one_out_average_precision_counts_an_error_that_was_not_seen():
    y = np.arange(200) % 2
    found, of_all = (
        estimate(name, y, y + np.random.default_rng(0).random(200) / 2)
        for name in ("leave_one_out_average_precision", "average_precision")
    )
    assert found.value == 1
    assert 0.95 < found.interval[0] < 0.995
    assert found.interval[0] == pytest.approx(of_all.interval[0], abs=0.02)


@pytest.mark.parametrize("name", ["leave_one_out_average_precision", "squared_calibration_error"])
def test_limits_of_a_corrected_value_are_those_of_the_plain_one_less_the_correction(name):
    """What is corrected follows from numbers of rows, which other weights do not change."""
    classes, scores = normal_scores(1, 120, 3, 1.5)
    scores = softmax(scores, axis=1)
    measure, sample = get_measure(name), sample_of(Predictions.from_arrays(classes, scores))
    found, plain = facts_in(sample, measure), facts_in(sample, measure.interval.plain)
    correction = found.value - plain.value
    assert abs(correction) > 0.05 * found.moments.standard_error
    for side in (-1, 1):
        expected = plain.limits.limit(side, 0.05) + correction
        assert found.limits.limit(side, 0.05) == pytest.approx(expected, rel=3e-3)


def test_a_corrected_value_reaches_as_far_as_its_halves_show_a_bias_before():
    """Rows that are alone in their bins do not count, and halves show nothing of them."""
    y = np.append(np.ones(150, int), [0, 0, 0, 0])
    p = np.append(np.full(150, 0.995), [0.55, 0.65, 0.75, 0.85])  # all four in bins of their own
    sample = sample_of(Predictions.from_arrays(y, np.stack([1 - p, p], axis=1)))
    facts = facts_in(sample, measures.squared_calibration_error())
    alone = (p[150:] ** 2).sum() / len(y)
    assert facts.value == pytest.approx(150 / 154 * 0.005**2)
    assert facts.bias.allowed == pytest.approx(-alone, rel=0.05)
    assert facts.interval_at(0.05).high > facts.value + alone
