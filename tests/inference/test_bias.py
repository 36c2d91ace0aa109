"""What intervals allow for where a value is biased."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import xlogy
from simulations import normal_scores

from dmfroc import Predictions, estimate, measures
from dmfroc.analyses.catalogue import get_measure
from dmfroc.inference.bias import bias_of_halves, notable_bias
from dmfroc.inference.units import sample_of
from dmfroc.measures.measure import Measure

MANY, FEW = 30, 6  # classes, and observations of each
ENTROPIES = (
    "entropy_predicted",
    "entropy_real_given_predicted",
    "entropy_predicted_given_real",
    "mutual_information",
)


def many_small_classes(seed=0):
    return Predictions.from_arrays(*normal_scores(seed, MANY * FEW, MANY, 1.5))


def entropies(joint):
    """Return the four entropies of a table, predictions in rows."""
    predicted, real, both = (-xlogy(p, p).sum() for p in (joint.sum(1), joint.sum(0), joint))
    return np.array([predicted, both - predicted, both - real, real + predicted - both])


@pytest.mark.parametrize(("n_classes", "n"), [(4, 60), (10, 100), (10, 1000), (20, 400)])
def test_tables_are_biased_by_at_most_what_is_allowed_for(n_classes, n):
    """Tables of fixed class sizes, from noise to good classifiers, by simulation."""
    generator, n_tables = np.random.default_rng(0), 400
    for share_right in (1 / n_classes, 0.5, 0.9):
        share_wrong = (1 - share_right) / (n_classes - 1)
        given = share_wrong + (share_right - share_wrong) * np.eye(n_classes)
        drawn = generator.multinomial(n // n_classes, given, (n_tables, n_classes))
        found = np.array([entropies(table.T / table.sum()) for table in drawn])
        biases = found.mean(axis=0) - entropies(given.T / n_classes)
        errors = found.std(axis=0) / np.sqrt(n_tables)
        for name, bias, error in zip(ENTROPIES, biases, errors, strict=True):
            allowed = get_measure(name).interval.bias_of_chance(1.0, n_classes) / n
            assert np.sign(allowed) * bias < abs(allowed) + 4 * error
            if share_right == 1 / n_classes and n >= 10 * n_classes**2:  # and not twice as much
                assert abs(allowed) < 1.4 * abs(bias) + 4 * error


def test_a_bias_within_the_error_is_not_allowed_for():
    measure = measures.mutual_information()
    bias = measure.interval.bias_of_chance(0.5, 3) / 300
    assert bias > 0
    assert notable_bias([0.0, bias], 3.9 * bias) == bias
    assert notable_bias([0.0, bias], 4.1 * bias) == 0
    assert measures.accuracy().interval.bias_of_chance is None


def test_a_bias_beyond_the_range_corrects_nothing_and_is_told():
    """Halves of eight rows show a bias that would make the quadratic kappa more than perfect."""
    y, predicted = [1, 2, 3, 1, 2, 3, 3, 2], [1, 2, 3, 2, 2, 3, 1, 2]
    found = estimate("weighted_kappa", y, y_pred=predicted)
    assert found.bias_corrected is None
    assert found.interval[1] == 1
    assert any("biased by as much as its standard error" in x for x in found.warnings)
    inside = estimate("cohen_kappa", y, y_pred=predicted)
    assert inside.value < inside.bias_corrected < 1
    assert inside.warnings == ()


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
    sample = sample_of(Predictions.from_arrays(classes, values), None)
    bias = bias_of_halves(measure, 0.0, sample)
    assert bias == pytest.approx(2 / n_classes**2)
    assert notable_bias([bias], 1.0) == 0  # a small part of such an error
    more = sample_of(Predictions.from_arrays(np.tile(classes, 9), np.tile(values, (9, 1))), None)
    assert bias_of_halves(measure, 0.0, more) == 0  # the classes are not so small


@pytest.mark.slow
def test_halves_show_the_bias_of_the_centre():
    """Six classes of twenty: the area is too large by a third of its standard deviation."""
    area = measures.dmf_auc()
    truth = area(*normal_scores(0, 60_000, 6, 2.0))
    errors, biases, lows = [], [], []
    for seed in range(1, 41):
        predictions = Predictions.from_arrays(*normal_scores(seed, 120, 6, 2.0))
        errors.append(area(predictions) - truth)
        biases.append(bias_of_halves(area, errors[-1] + truth, sample_of(predictions, None)))
        found = estimate(area, predictions)
        if found.bias_corrected is not None:
            assert found.bias_corrected == pytest.approx(found.value - biases[-1], abs=1e-9)
            lows.append(found.interval[0])
    assert len(lows) > 20
    assert np.std(biases) < 0.3 * np.std(errors)
    assert np.mean(biases) == pytest.approx(np.mean(errors), abs=3 * np.std(errors) / np.sqrt(40))
    assert np.mean(biases) > 0.2 * np.std(errors)
    large = Predictions.from_arrays(*normal_scores(1, 1200, 6, 2.0))
    assert bias_of_halves(area, area(large), sample_of(large, None)) == 0


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "hand_till"])
def test_halves_of_what_is_linear_show_no_bias(name):
    measure, even = get_measure(name), Predictions.from_arrays(*normal_scores(0, 120, 20, 1.5))
    sample = sample_of(even, None)
    assert bias_of_halves(measure, measure(even), sample) == pytest.approx(0, abs=1e-12)


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
    found = estimate("mutual_information", classes, scores, method=method, n_draws=300)
    assert found.draws.min() > 0.05
    assert found.interval[0] == pytest.approx(0, abs=1e-12)
    assert found.bias_corrected < found.value


@pytest.mark.parametrize("measure", ["max_informedness", "convex_hull_auc", "h_measure"])
def test_replicates_of_chosen_thresholds_are_told_to_be_too_good(measure):
    classes, scores = normal_scores(4, 150, 3)
    found = estimate(measure, classes, scores, method="bootstrap", n_draws=200)
    assert any("replicates of it even more so" in remark for remark in found.warnings)


@pytest.mark.parametrize("n", [30, 60])
def test_average_precision_reaches_to_where_it_would_be_without_its_own_share(n):
    """Intervals without the bias reach no further, and no warning is due."""
    classes, scores = normal_scores(5, n, 3, 0.0)
    plain, without = (
        estimate(m, classes, scores, stratify=True)
        for m in ("average_precision", "leave_one_out_average_precision")
    )
    bias = plain.value - without.value
    assert bias > plain.standard_error / 4
    assert without.interval[0] == pytest.approx(plain.interval[0], abs=0.3 * without.standard_error)
    assert plain.bias_corrected == pytest.approx(without.value)
    assert plain.warnings == without.warnings == ()


def test_reliability_and_resolution_reach_down_by_what_chance_adds():
    """Calibrated forecasts have a reliability of 0, and their parts add up to the Brier score."""
    generator, excess = np.random.default_rng(2), []
    for _ in range(40):
        p = generator.beta(2, 2, size=200)
        y = (generator.random(200) < p).astype(int)
        found = estimate("brier_reliability", y, np.stack([1 - p, p], axis=1))
        assert found.interval[0] == 0
        sample = Predictions.from_arrays(y, np.stack([1 - p, p], axis=1))
        parts = [measures.brier_reliability(), measures.brier_resolution()]
        less_biased = [(m, m.interval.less_biased) for m in parts]
        chance = [m(sample) - other(sample) for m, other in less_biased if other is not None]
        assert chance[0] == pytest.approx(chance[1], rel=1e-9)
        excess.append(found.value - chance[0])
    assert abs(np.mean(excess)) < 3 * np.std(excess) / np.sqrt(len(excess))


def test_unequal_weights_add_more_chance_to_reliability():
    """Calibrated forecasts have a reliability of 0, on average of samples less what chance adds."""
    generator, corrected, plain = np.random.default_rng(8), [], []
    measure = measures.brier_reliability()
    for _ in range(150):
        p = generator.beta(2, 2, size=150)
        y, weight = (generator.random(150) < p).astype(int), np.exp(generator.normal(size=150))
        scores = np.stack([1 - p, p], axis=1)
        corrected.append(measure.interval.less_biased(y, scores, sample_weight=weight))
        plain.append(measure(y, scores, sample_weight=weight))
    error = np.std(corrected) / np.sqrt(len(corrected))
    assert np.mean(corrected) == pytest.approx(0, abs=4 * error + 0.1 * np.mean(plain))
    alike = measure.interval.less_biased(y, scores, sample_weight=np.full(150, 3.0))
    assert alike == pytest.approx(measure.interval.less_biased(y, scores))


def test_bias_is_seen_in_halves_that_have_all_classes():
    """Halves without one gave no value, with warnings of NumPy, or that of fewer classes."""
    rng, biases = np.random.default_rng(2), []
    for _ in range(10):
        y = rng.permutation(np.arange(24) % 5)
        predictions = Predictions.from_arrays(y, rng.normal(size=(24, 5)) + np.eye(5)[y])
        sample = sample_of(predictions, rng.integers(0, 8, 24))
        counts = []
        number = Measure(name="number", bind=lambda p, c=counts: lambda w: _count(p, w, c))
        bias_of_halves(number, 5.0, sample)
        assert set(counts) <= {5}
        area = get_measure("one_vs_rest_auc")
        biases.append(bias_of_halves(area, area(predictions), sample))
    assert 0 < np.count_nonzero(biases) < 10


def _count(predictions, weights, counts):
    counts.append(np.count_nonzero(np.bincount(predictions.true, weights, 5)))
    return 5.0


def test_average_precision_at_a_small_share_is_too_large_and_says_so():
    generator, shares = np.random.default_rng(4), {0: 0.05, 1: 0.05, 2: 0.9}

    def sample(n):
        y = generator.integers(0, 3, n)
        return y, 1.4 * (generator.normal(size=(n, 3)) + 1.4 * np.eye(3)[y])

    def estimates(n, n_samples, **options):
        return [estimate("average_precision", *sample(n), **options) for _ in range(n_samples)]

    [truth] = estimates(60_000, 1, target_prevalence=shares)
    found = estimates(150, 30, target_prevalence=shares)
    assert sum("depends on few rows" in " ".join(one.warnings) for one in found) >= 25
    excess = np.mean([one.value for one in found]) - truth.value
    left = np.mean(
        [one.value if one.bias_corrected is None else one.bias_corrected for one in found]
    )
    assert abs(left - truth.value) < excess / 2
    assert sum(one.interval[0] <= truth.value <= one.interval[1] for one in found) >= 24
    assert not any(one.warnings for one in estimates(150, 3))
