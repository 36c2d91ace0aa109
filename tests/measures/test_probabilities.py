"""Measures of probabilities: scikit-learn's namesakes, the parts of the Brier score, and biases."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from simulations import normal_scores
from sklearn import metrics

from dmfroc import Predictions, estimate, evaluate, measures
from dmfroc._kit.compiled import double_precision
from dmfroc.curves import calibration_curve
from dmfroc.measures import MEASURES
from dmfroc.measures.measure import bind
from dmfroc.measures.statistics.forecasts import squared_gaps

CLASSES, SCORES = normal_scores(3, 67, 3, prior=[0.5, 0.3, 0.2])
PROBABILITIES = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
TWO, OF_SECOND = (CLASSES > 0).astype(int), PROBABILITIES[:, 1:].sum(axis=1)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, size=67)
BOTH = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
NAMES = ["brier_score", "brier_skill_score", "log_loss", "brier_reliability", "brier_resolution"]
NAMES += ["expected_calibration_error"]


def value(name, *arrays, weights=None, **options):
    return getattr(measures, name)(**options)(*arrays, sample_weight=weights)


@BOTH
def test_two_classes_are_scikit_learns(weights):
    expected = metrics.brier_score_loss(TWO, OF_SECOND, sample_weight=weights)
    assert value("brier_score", TWO, OF_SECOND, weights=weights) == pytest.approx(
        expected, rel=1e-12
    )
    expected = metrics.d2_brier_score(TWO, OF_SECOND, sample_weight=weights)
    found = value("brier_skill_score", TWO, OF_SECOND, weights=weights)
    assert found == pytest.approx(expected, rel=1e-12)
    expected = metrics.log_loss(TWO, OF_SECOND, sample_weight=weights)
    assert value("log_loss", TWO, OF_SECOND, weights=weights) == pytest.approx(expected, rel=1e-12)


@BOTH
def test_three_classes_are_scikit_learns(weights):
    expected = metrics.log_loss(CLASSES, PROBABILITIES, sample_weight=weights)
    found = value("log_loss", CLASSES, PROBABILITIES, weights=weights)
    assert found == pytest.approx(expected, rel=1e-12)
    expected = metrics.brier_score_loss(
        CLASSES, PROBABILITIES, sample_weight=weights, scale_by_half=True
    )
    found = value("brier_score", CLASSES, PROBABILITIES, weights=weights)
    assert found == pytest.approx(expected, rel=1e-12)
    for k in (1, 2):
        expected = metrics.top_k_accuracy_score(CLASSES, SCORES, k=k, sample_weight=weights)
        found = value("top_k_accuracy", CLASSES, SCORES, weights=weights, k=k)
        assert found == pytest.approx(expected, rel=1e-12)


@BOTH
@pytest.mark.parametrize("n_bins", [1, 2, 10])
def test_the_brier_score_is_reliability_less_resolution_plus_uncertainty(n_bins, weights):
    prevalence = np.bincount(CLASSES, weights) / np.bincount(CLASSES, weights).sum()
    always = np.tile(prevalence, (67, 1))
    uncertainty = value("brier_score", CLASSES, always, weights=weights)
    assert uncertainty == pytest.approx((1 - prevalence @ prevalence) / 2, rel=1e-12)
    whole = value("brier_score", CLASSES, PROBABILITIES, weights=weights)
    reliability, resolution = (
        value(f"brier_{part}", CLASSES, PROBABILITIES, weights=weights, n_bins=n_bins)
        for part in ("reliability", "resolution")
    )
    assert reliability - resolution + uncertainty == pytest.approx(whole, rel=1e-12)
    skill = value("brier_skill_score", CLASSES, PROBABILITIES, weights=weights)
    assert skill == pytest.approx(1 - whole / uncertainty, rel=1e-12)
    of_constant = value("brier_skill_score", CLASSES, always, weights=weights)
    assert of_constant == pytest.approx(0, abs=1e-12)


def test_distinct_forecasts_in_bins_of_their_own_are_murphys_partition():
    # Then nothing is told within a bin: the resolution is the variance of what came true.
    generator = np.random.default_rng(4)
    forecast = generator.choice([0.15, 0.45, 0.85], size=200)
    classes = (generator.uniform(size=200) < forecast).astype(int)
    groups = [classes[forecast == p] for p in (0.15, 0.45, 0.85)]
    shares = np.array([len(group) for group in groups]) / 200
    came_true = np.array([group.mean() for group in groups])
    resolution = shares @ (came_true - classes.mean()) ** 2
    reliability = shares @ (came_true - [0.15, 0.45, 0.85]) ** 2
    assert value("brier_resolution", classes, forecast) == pytest.approx(resolution, rel=1e-12)
    assert value("brier_reliability", classes, forecast) == pytest.approx(reliability, rel=1e-12)


@BOTH
def test_the_calibration_error_is_that_of_the_calibration_curves(weights):
    curves = calibration_curve(CLASSES, PROBABILITIES, sample_weight=weights, multi_class="ovr")
    expected = np.mean([curve.expected_error for curve in curves.values()])
    found = value(
        "expected_calibration_error", CLASSES, PROBABILITIES, weights=weights, of="classes"
    )
    assert found == pytest.approx(expected, rel=1e-12)
    is_right = (PROBABILITIES.argmax(axis=1) == CLASSES).astype(int)
    top = calibration_curve(is_right, PROBABILITIES.max(axis=1), sample_weight=weights)
    found = value("expected_calibration_error", CLASSES, PROBABILITIES, weights=weights)
    assert found == pytest.approx(top.expected_error, rel=1e-12)


def test_the_calibration_errors_of_two_classes_have_a_name_each():
    """Classwise it is that of the positive class, as in reports; not so of the top label."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    p = 1 / (1 + np.exp(-(rng.normal(size=400) + y + 0.5)))
    ece = measures.expected_calibration_error
    top, classwise = ece(), ece(of="classes")
    positive = calibration_curve(y, p).expected_error
    assert classwise(y, p) == pytest.approx(positive, rel=1e-12)
    assert top(y, p) < 0.8 * positive
    assert (top.title, classwise.title) == ("Top-label ECE", "ECE (classes)")


def test_biases_of_calibrated_forecasts_are_as_the_docstrings_say():
    generator, n, n_bins = np.random.default_rng(5), 400, 5
    centres = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    found = {"brier_reliability": [], "expected_calibration_error": []}
    for _ in range(200):
        forecast = np.repeat(centres, n // n_bins)
        classes = (generator.uniform(size=n) < forecast).astype(int)
        for name, values in found.items():
            options = {"of": "classes"} if name.startswith("expected") else {}
            values.append(value(name, classes, forecast, n_bins=n_bins, **options))
    variances = centres * (1 - centres)
    reliability = 2 * variances.sum() / (2 * n)  # of two classes
    assert np.mean(found["brier_reliability"]) == pytest.approx(reliability, rel=0.15)
    gap = np.sqrt(2 * variances / n_bins / np.pi / n).sum()
    assert np.mean(found["expected_calibration_error"]) == pytest.approx(gap, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    [
        *(MEASURES[name] for name in [*NAMES, "top_k_accuracy"]),
        measures.expected_calibration_error(of="classes"),
    ],
    ids=lambda measure: measure.name,
)
def test_derivatives_are_finite_differences_and_jax_has_the_same_values(measure):
    bound = bind(measure, Predictions.from_arrays(CLASSES, PROBABILITIES, sample_weight=WEIGHTS))
    values, [gradient] = bound.values_and_gradients(WEIGHTS)
    shifts = 1e-6 * np.eye(67)
    expected = (bound.values(WEIGHTS + shifts) - bound.values(WEIGHTS - shifts))[:, 0] / 2e-6
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-8)
    assert np.abs(gradient).max() > 1e-4
    np.testing.assert_allclose(double_precision(bound)(WEIGHTS), values, rtol=1e-12)


@BOTH
@pytest.mark.parametrize("k", [1, 2])
def test_the_squared_calibration_error_is_the_mean_over_pairs_of_rows(weights, k):
    """Of each two rows of a joint bin, the product of the gaps of their k largest probabilities."""
    own = np.ones(67) if weights is None else weights
    extreme = PROBABILITIES**4 / (PROBABILITIES**4).sum(axis=1, keepdims=True)
    top = np.argsort(-extreme, axis=1)[:, :k]
    p = np.take_along_axis(extreme, top, axis=1)
    gaps = (top == CLASSES[:, None]) - p
    bins, expected = np.ceil(p * 4), 0.0
    for one in np.unique(bins, axis=0):
        rows = np.flatnonzero((bins == one).all(axis=1))
        pairs = [(own[i] * own[j], gaps[i] @ gaps[j]) for i, j in itertools.permutations(rows, 2)]
        if pairs:
            weight, product = np.transpose(pairs)
            expected += own[rows].sum() * (weight @ product) / weight.sum()
    found = value("squared_calibration_error", CLASSES, extreme, weights=weights, n_bins=4, k=k)
    assert found == pytest.approx(expected / own.sum(), rel=1e-12)
    assert found > 0.001


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_squared_calibration_error_has_no_bias(n, share):
    """Over all outcomes of n forecasts of 0.3 that come true in some share."""
    measure, mean = measures.squared_calibration_error(), 0.0
    for outcomes in itertools.product([0, 1], repeat=n):
        # One row of each class for certain, each right, in the last bin
        y = np.array([*outcomes, 0, 1])
        bins = bind(measure, Predictions.from_arrays(y, np.array([0.7] * n + [0.0, 1.0])))
        table = bins.statistic.count(np.ones(n + 2), np)
        raw = (table.weight * squared_gaps(table, np)).sum() / (n + 2)
        mean += np.prod(np.where(np.array(outcomes) == 1, share, 1 - share)) * raw
    assert mean == pytest.approx(n / (n + 2) * (share - 0.7) ** 2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("slope", "n_bins"), [(1.0, 20), (0.2, 20)])
def test_the_standard_error_of_the_squared_calibration_error_is_its_deviation(slope, n_bins):
    """Also of calibrated forecasts, where the squares of the influences add up to twice as much."""
    measure, rng = measures.squared_calibration_error(n_bins=n_bins), np.random.default_rng(1)
    values, errors, holds = [], [], []
    truth = (lambda p: ((p - expit(slope * logit(p))) ** 2).mean())(rng.random(100_000))
    for _ in range(150):
        p = rng.random(500)
        predictions = Predictions.from_arrays((rng.random(500) < expit(slope * logit(p))) * 1, p)
        table = bind(measure, predictions).statistic.count(np.ones(500), np)
        values.append((table.weight * squared_gaps(table, np)).sum() / 500)
        found = estimate(measure, predictions)
        errors.append(found.standard_error)
        holds.append(found.interval[0] <= truth <= found.interval[1])
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values), rel=0.2)
    assert np.mean(values) == pytest.approx(truth, abs=3 * np.std(values) / np.sqrt(150) + 1e-3)
    assert np.mean(holds) >= 0.92


def test_many_joint_bins_and_few_classes_are_refused():
    with pytest.raises(ValueError, match="n_bins=10 for k=7 probabilities are 10,000,000 bins"):
        measures.squared_calibration_error(k=7)
    with pytest.raises(ValueError, match="is of k=4 probabilities, and there are 3: take a small"):
        estimate(measures.squared_calibration_error(k=4), CLASSES, PROBABILITIES)
    all_alike = estimate("squared_calibration_error", np.arange(40) % 2, np.full((40, 2), 0.5))
    assert all_alike.value == 0 < all_alike.interval[1] < 0.05


def test_certain_and_right_forecasts_are_perfect():
    certain = np.eye(3)[CLASSES]
    uncertainty = (1 - ((np.bincount(CLASSES) / 67) ** 2).sum()) / 2
    expected = dict(zip(NAMES, [0, 1, 0, 0, uncertainty, 0], strict=True))
    for name in NAMES:
        assert value(name, CLASSES, certain) == pytest.approx(expected[name], abs=1e-15)


def test_ties_share_the_top_ranks():
    scores = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1, 1, 1]]
    assert value("top_k_accuracy", [0, 1, 2], scores, k=1) == pytest.approx(
        (1 / 2 + 1 / 2 + 1 / 3) / 3
    )


def test_the_error_of_a_mean_is_that_of_the_textbook():
    found = estimate("brier_score", CLASSES, PROBABILITIES, stratify=False)
    losses = ((PROBABILITIES - np.eye(3)[CLASSES]) ** 2).sum(axis=1) / 2
    assert found.standard_error == pytest.approx(losses.std(ddof=1) / np.sqrt(67), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scores_that_are_no_probabilities_are_refused(name):
    with pytest.raises(ValueError, match=rf"{name} needs probabilities.* row 0 .*outside \[0, 1\]"):
        estimate(name, CLASSES, SCORES - 9)
    with pytest.raises(ValueError, match=r"row 1 \(counting from 0\) sums to 1.1"):
        estimate(name, [0, 1, 2], [[0.5, 0.5, 0], [0.6, 0.5, 0], [0.3, 0.3, 0.4]])
    assert name not in evaluate(CLASSES, SCORES - 9, measures="all", method="jackknife").estimates


def test_options_out_of_range_are_refused():
    for name in NAMES[3:]:
        with pytest.raises(ValueError, match="n_bins must be an integer >= 1, but it is 0"):
            getattr(measures, name)(n_bins=0)
    with pytest.raises(ValueError, match="k must be a positive integer, but it is 0"):
        measures.top_k_accuracy(0)
    with pytest.raises(ValueError, match="3 of 3 classes may be named: take a smaller k"):
        estimate(measures.top_k_accuracy(3), CLASSES, SCORES)


def test_a_single_score_has_no_largest_column():
    y, score = [0, 1, 1, 0], [0.2, 0.9, 0.6, 0.7]
    for first in (score, [x - 2 for x in score]):
        with pytest.raises(ValueError, match="compares the scores of the classes: pass those of"):
            measures.top_k_accuracy(k=1)(y, first)
    both = [[1 - x, x] for x in score]
    assert measures.top_k_accuracy(k=1)(y, both) == measures.accuracy()(y, both) == 0.75


@pytest.mark.parametrize("scores", [100 * PROBABILITIES, 100 * PROBABILITIES[:, 0]])
def test_percent_are_divided_first(tmp_path, scores):
    y = CLASSES if scores.ndim == 2 else CLASSES == 0
    columns = {f"p_{k}": x for k, x in enumerate(scores.T)} if scores.ndim == 2 else {"p": scores}
    path = tmp_path / "percent.csv"
    pd.DataFrame(columns).assign(y=y.astype(int)).to_csv(path, index=False)
    read = Predictions.from_file(path, label="y")
    remedy = "divide the scores by 100 if they are percent, else calibrate the scores first"
    for given, row in (((y, scores), r"row 0 \(counting from 0\)"), ((read,), "data row 1")):
        with pytest.raises(ValueError, match=rf"{row} has a score outside \[0, 1\]: {remedy}"):
            estimate("brier_score", *given)
    with pytest.raises(ValueError, match=remedy):
        calibration_curve(CLASSES == 0, 100 * PROBABILITIES[:, 0])


@pytest.mark.parametrize("scores", [1.5 * SCORES[:, 0] - 1, 200 * PROBABILITIES, SCORES - 9])
def test_other_scores_are_not_called_percent(scores):
    with pytest.raises(ValueError, match=r"outside \[0, 1\]: calibrate the scores first"):
        estimate("brier_score", CLASSES if scores.ndim == 2 else CLASSES == 0, scores)


def test_a_difference_of_columns_is_no_probability():
    """Not even if it is in [0, 1] in all rows."""
    y, first = np.arange(40) % 2, np.linspace(0, 0.4, 40)
    columns = np.stack([first, 2 * first + 0.2 * y], axis=1)
    with pytest.raises(ValueError, match="as the difference of two columns has that do not sum"):
        estimate("brier_score", y, columns)


def test_round_probabilities_of_single_precision_meet_thresholds_and_edges():
    rng, twentieths = np.random.default_rng(1), np.arange(1, 20) / 20
    p = rng.choice(twentieths, 300)
    y, both = (rng.random(300) < p).astype(int), np.column_stack([1 - p, p]).round(2)
    made = [measures.net_benefit(t) for t in twentieths]
    made += [measures.get_measure(name) for name in [*NAMES, "squared_calibration_error"]]
    for measure in made:
        assert measure(y, both.astype("f4")) == pytest.approx(measure(y, both), abs=1e-6)
    for n_bins in (10, 15, 20):
        found, expected = (calibration_curve(y, x, n_bins=n_bins) for x in (p.astype("f4"), p))
        assert np.array_equal(found.counts, expected.counts)


def test_rounded_probabilities_are_told_to_be_divided_by_their_sum():
    scores = np.array([[0.332, 0.333, 0.333], [0.2, 0.302, 0.5], [0.1, 0.2, 0.7]])
    with pytest.raises(ValueError, match=r"to 0\.998: divide each row by its sum, if .* rounded"):
        estimate("brier_score", [0, 1, 2], scores)
    with pytest.raises(ValueError, match=r"sums to 1\.2: calibrate the scores first"):
        estimate("brier_score", [0, 1, 2], np.vstack([[0.4, 0.4, 0.4], scores[1:]]))
