"""Calibration measures: published values, derivatives, and what recalibration does to them."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import dmfroc
from dmfroc import Predictions, compare, compare_subgroups, estimate, evaluate, measures
from dmfroc.extend import influences
from dmfroc.measures import MEASURES
from dmfroc.measures.measure import bind
from dmfroc.measures.smooth_calibration import SmoothCurves, SmoothFit
from dmfroc.measures.statistics.recalibration import BinaryFit

NAMES = [m.name for m in MEASURES.values() if m.family in ("calibration", "decisions")]


def forecasts(n, k, seed, sharpness=1.0):
    """Return classes and probabilities, which are calibrated where the sharpness is 1."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=1.3, size=(n, k))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    p = p**sharpness
    return y, p / p.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def published(external_directory):
    train = pd.read_csv(external_directory / "calibration_train.csv")
    test = pd.read_csv(external_directory / "calibration_test.csv")
    features = ["x1", "x2", "x3", "x4"]
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(train[features], train.y)
    return test.y.to_numpy(), model.predict_proba(test[features])[:, 1]


def test_published_slope(published):
    """CalibrationCurves: the sandwich's standard error is that of the influences, divisor n."""
    found = influences("calibration_slope", *published)
    assert MEASURES["calibration_slope"](*published) == pytest.approx(0.82278, abs=1e-5)
    assert np.sqrt(found @ found) == pytest.approx(0.08051, abs=1e-5)


def test_published_parts_of_the_brier_score(external_directory):
    data = pd.read_csv(external_directory / "precip_niamey.csv")
    parts = [0.232025, 0.018283, 0.030469, 0.244211]
    names = ["score", "miscalibration", "discrimination", "uncertainty"]
    for name, part in zip(names, parts, strict=True):
        assert MEASURES[f"brier_{name}"](data.obs, data.EMOS) == pytest.approx(part, abs=5e-7)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_estimates_have_the_values_of_direct_calls(k):
    """The rows that limits add, and others of weight 0, change nothing; whole weights repeat."""
    y, p = forecasts(60, k, 1)
    counts = np.arange(60) % 4
    samples = Predictions.from_arrays(y, p), Predictions.from_arrays(y, p, frequency_weight=counts)
    weighted = Predictions.from_arrays(y, p, sample_weight=counts)
    sizes = "squared_calibration_error", "spiegelhalter_z"  # depend on how many rows there are
    for name in NAMES:
        if not MEASURES[name].applies_to(samples[0]):
            continue
        values = [estimate(name, sample).value for sample in samples]
        repeated = MEASURES[name](y.repeat(counts), p.repeat(counts, axis=0))
        assert values == pytest.approx([MEASURES[name](y, p), repeated], abs=1e-12), name
        if name not in sizes:
            assert estimate(name, weighted).value == pytest.approx(repeated, abs=1e-12), name


@pytest.mark.parametrize("k", [2, 4])
def test_parts_of_the_brier_score_add_up(k):
    y, p = forecasts(80, k, 1, 1.7)
    w = np.random.default_rng(2).uniform(0, 2, size=80)
    score, mis, dis, unc = (
        MEASURES[f"brier_{x}"](y, p, sample_weight=w)
        for x in ("score", "miscalibration", "discrimination", "uncertainty")
    )
    assert score == pytest.approx(mis - dis + unc)
    assert mis >= 0
    assert 0 <= dis <= unc


def test_isotonic_losses_are_those_of_scikit_learn():
    y, p = forecasts(90, 2, 3, 2.0)
    p, w = np.round(p[:, 1], 1), np.random.default_rng(4).uniform(0.1, 2, size=90)
    fitted = IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    expected = np.average((p - y) ** 2 - (fitted - y) ** 2, weights=w)
    assert MEASURES["brier_miscalibration"](y, p, sample_weight=w) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_finite_differences(name, k):
    y, p = forecasts(70, k, 5, 1.4)
    w = np.random.default_rng(6).uniform(0.5, 2, size=70)
    predictions = Predictions.from_arrays(y, p, sample_weight=w)
    measure = MEASURES[name]
    if not measure.applies_to(predictions):
        measure = measures.FACTORIES[name](pos_label=1)
    bound = bind(measure, predictions)
    values, [gradient] = bound.values_and_gradients(w)
    shifts = 1e-5 * np.eye(70)
    expected = np.array([bound.values(w + s) - bound.values(w - s) for s in shifts])[:, 0] / 2e-5
    assert bound.values(w) == pytest.approx(values, abs=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    if name != "spiegelhalter_z":  # which grows with the number of observations
        assert gradient @ w == pytest.approx(0, abs=1e-9)


def test_slope_of_several_classes_maximises_the_likelihood():
    y, p = forecasts(150, 3, 7, 1.5)

    def loss(x):
        eta = np.append(0, x[:2]) + x[2] * np.log(p)
        return (np.log(np.exp(eta).sum(axis=1)) - eta[np.arange(150), y]).sum()

    best = minimize(loss, [0, 0, 1], tol=1e-12).x
    assert MEASURES["calibration_slope"](y, p) == pytest.approx(best[2], abs=1e-5)


def test_recalibrated_probabilities_have_slope_one_and_intercept_zero():
    y, p = forecasts(300, 2, 8, 2.5)
    x = logit(p[:, 1])[:, None]
    fitted = LogisticRegression(C=np.inf, tol=1e-12).fit(x, y).predict_proba(x)[:, 1]
    assert MEASURES["calibration_slope"](y, p) == pytest.approx(0.4, abs=0.15)
    assert MEASURES["calibration_slope"](y, fitted) == pytest.approx(1, abs=1e-4)
    assert MEASURES["calibration_intercept"](y, fitted) == pytest.approx(0, abs=1e-4)
    assert MEASURES["observed_expected_ratio"](y, fitted) == pytest.approx(1, abs=1e-4)


def test_spiegelhalter_is_his_formula():
    y, p = forecasts(100, 2, 9)
    p = p[:, 1]
    expected = ((y - p) * (1 - 2 * p)).sum() / np.sqrt(((1 - 2 * p) ** 2 * p * (1 - p)).sum())
    assert MEASURES["spiegelhalter_z"](y, p) == pytest.approx(expected)
    doubled = MEASURES["spiegelhalter_z"](np.tile(y, 2), np.tile(p, 2))
    assert doubled == pytest.approx(np.sqrt(2) * expected)


@pytest.mark.parametrize("name", ["calibration_intercept", "observed_expected_ratio"])
def test_one_of_several_classes_has_to_be_named(name):
    y, p = forecasts(60, 3, 10)
    labels = np.array(["ash", "fir", "oak"])
    with pytest.raises(ValueError, match="name the class, such as pos_label='oak'"):
        MEASURES[name](labels[y], p)
    measure = getattr(measures, name)(pos_label="fir")
    found = estimate(measure, labels[y], p)
    assert found.value == pytest.approx(MEASURES[name](y == 1, p[:, 1]))
    with pytest.raises(ValueError, match="none of the classes"):
        getattr(measures, name)(pos_label="elm")(labels[y], p)


@pytest.mark.parametrize(
    "label", [{}, {1}, len, pd.NA, np.array([1, 2]), pd.Series([1, 2])], ids=repr
)
def test_what_is_no_label_is_none_of_the_classes(label):
    y, p = forecasts(60, 2, 10)
    for measure in (measures.calibration_slope(label), measures.net_benefit(0.3, pos_label=label)):
        with pytest.raises(ValueError, match="none of the classes"):
            measure(y, p)


def test_certain_probabilities_have_no_logits():
    with pytest.raises(ValueError, match=r"row 1 \(counting from 0\) .* clip them"):
        MEASURES["calibration_slope"]([0, 1, 1], [0.2, 1.0, 0.4])


def test_separated_classes_have_no_slope():
    with pytest.warns(UserWarning, match="calibration_slope is nan"):
        assert np.isnan(MEASURES["calibration_slope"]([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8]))


@pytest.mark.parametrize("all_separated", [True, False])
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_separated_classes_have_no_slope_however_rounding_falls(all_separated):
    """The likelihood has no maximum; where it is flat to rounding, any slope looks like one."""
    rng = np.random.default_rng(15)
    for _ in range(40):
        y = rng.permutation(np.arange(60) % 3)
        logits = rng.normal(size=(60, 3)) / 5
        if all_separated:
            logits += 2.5 * np.eye(3)[y]
        else:  # the first class from both others, which overlap
            logits[:, 0] = np.where(y == 0, 4.0, -4.0) + logits[:, 0] / 10
            logits[:, 1:] = 0.3 * np.eye(2)[y % 2] + rng.normal(size=(60, 2)) / 5
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        if all_separated:
            assert (p.argmax(axis=1) == y).all()
        measure = MEASURES["calibration_slope"] if all_separated else measures.calibration_slope(0)
        with pytest.warns(UserWarning, match="calibration_slope"):
            assert np.isnan(measure(y, p))


def test_spiegelhalter_z_of_halves_without_variance():
    """Its bias is judged by halves of the sample; here all forecasts of some are 0 or 1."""
    y = np.repeat(np.arange(4), 2)
    p = np.eye(4)[[0, 0, 1, 2, 2, 2, 3, 3]]
    p[-1] = 0.1, 0.1, 0.2, 0.6
    found = estimate("spiegelhalter_z", y, p)
    assert found.value == pytest.approx(MEASURES["spiegelhalter_z"](y, p))
    assert np.isfinite(found.standard_error)


def test_debiased_error_is_zero_on_average_for_calibrated_forecasts():
    debiased = measures.expected_calibration_error(debiased=True)
    plain, corrected, covered = [], [], []
    for seed in range(100):
        y, p = forecasts(200, 2, seed)
        plain.append(MEASURES["expected_calibration_error"](y, p))
        found = estimate(debiased, y, p)
        corrected.append(found.value)
        covered.append(found.interval[0] <= 0)
    assert np.mean(plain) > 0.04
    assert np.mean(corrected) < 0.3 * np.mean(plain)
    assert np.mean(covered) > 0.92
    order = np.random.default_rng(0).permutation(200)
    assert debiased(y[order], p[order]) == pytest.approx(debiased(y, p))


def test_debiased_error_of_clear_gaps_is_the_error():
    rng = np.random.default_rng(11)
    p = rng.uniform(0.35, 0.95, size=20_000)
    y = (rng.random(20_000) < p - 0.3).astype(int)
    found = measures.expected_calibration_error(of="classes", debiased=True)(y, p)
    plain = measures.expected_calibration_error(of="classes")(y, p)
    assert found == pytest.approx(plain, abs=1e-4)
    assert found == pytest.approx(0.3, abs=0.02)


def test_calibration_indexes_are_ordered_and_close_to_the_truth():
    rng = np.random.default_rng(12)
    p = rng.uniform(0.05, 0.95, size=20_000)
    y = (rng.random(20_000) < expit(logit(p) + 0.5)).astype(int)
    gaps = expit(logit(p) + 0.5) - p
    predictions = Predictions.from_arrays(y, p)
    names = ["integrated_calibration_index", "e50", "e90", "emax"]
    with pytest.warns(UserWarning, match="biased upwards"):
        found = evaluate(predictions, measures=names).estimates
    truths = [gaps.mean(), np.median(gaps), np.quantile(gaps, 0.9), gaps.max()]
    for name, truth in zip(names, truths, strict=True):
        assert found[name].value == pytest.approx(truth, abs=0.015)
        assert not name.startswith("e") or "biased upwards" in found[name].warnings[0]


def test_smooth_curve_on_a_grid_is_that_of_the_observations():
    rng = np.random.default_rng(3)
    p = expit(rng.normal(-2, 1.5, size=9000))
    ones = np.ones(9000)
    fit = SmoothFit.on(p, (rng.random(9000) < p**1.2).astype(float), ones)
    weights = rng.integers(3, size=(4, 9000)).astype(float)
    exact = [BinaryFit(fit.outcome, fit.features).fitted(w) for w in weights]
    assert not np.array_equal(fit.fitted(weights), exact)
    assert fit.fitted(weights) == pytest.approx(np.array(exact), abs=2e-7)
    # One forecast next to 0 makes the grid too wide; the outcome itself as forecast has no fit.
    wide = SmoothFit.on(np.append(1e-290, p[1:]), fit.outcome, ones)
    assert np.array_equal(wide.fitted(weights[0]), BinaryFit.fitted(wide, weights[0]))
    assert np.isnan(SmoothFit.on(p, (p > 0.3).astype(float), ones).fitted(weights[0])).all()


def test_curves_side_by_side_are_those_of_each_event():
    rng = np.random.default_rng(6)
    p = expit(rng.normal(-2, 1.5, size=(3, 9000)))
    p[1, 0] = 1e-290  # the grid of the second event is too wide
    outcome, ones = (rng.random(p.shape) < p).astype(float), np.ones(9000)
    fits = tuple(SmoothFit.on(x, y, ones) for x, y in zip(p, outcome, strict=True))
    weights = rng.exponential(size=9000)
    found = SmoothCurves(fits, p, ones).count(weights, np).coefficients
    assert np.array(found) == pytest.approx(np.array([x.fitted(weights) for x in fits]), rel=1e-9)


def test_knots_of_whole_weights_are_those_of_repeated_rows():
    p, y = np.random.default_rng(4).uniform(size=(2, 57))
    z, y, weights = np.log(p / (1 - p)), (y < p).astype(float), np.arange(57) * 2 % 5.0
    knots = SmoothFit.on(p, y, weights).knots
    repeated = np.quantile(z.repeat(weights.astype(int)), [0.1, 0.5, 0.9])
    assert knots == pytest.approx(repeated, abs=1e-12)
    assert SmoothFit.on(p, y, 0.3 * weights).knots == pytest.approx(knots, abs=1e-12)
    equal = 0.1 * (weights == 1)
    of_some = np.quantile(z[weights == 1], [0.1, 0.5, 0.9])
    assert np.array_equal(SmoothFit.on(p, y, equal).knots, of_some)


@pytest.mark.parametrize("power", [1.0, 1.3])
def test_index_excludes_calibration_only_if_the_likelihood_does(power):
    rng, disagreements = np.random.default_rng(5), 0
    for _ in range(30):
        logs = rng.normal(size=(150, 2))
        p = np.exp(logs[:, 0]) / np.exp(logs).sum(axis=1)
        y = (rng.random(150) < p).astype(int)
        q = p**power / (p**power + (1 - p) ** power)
        z = logit(q)
        low, middle, high = np.quantile(z, [0.1, 0.5, 0.9])
        cubes = [np.maximum(z - knot, 0) ** 3 for knot in (low, middle, high)]
        ends = (cubes[2] * (middle - low) - cubes[1] * (high - low)) / (high - middle)
        features = np.column_stack([z, cubes[0] + ends])
        fit = LogisticRegression(C=np.inf, tol=1e-9, max_iter=9999).fit(features, y)
        fitted = fit.predict_proba(features)[np.arange(150), y]
        ratio = 2 * np.log(fitted / np.where(y == 1, q, 1 - q)).sum()
        low = estimate("integrated_calibration_index", y, q).interval[0]
        assert low < 0.005 or chi2.sf(ratio, 3) < 0.05
        disagreements += low == 0 and chi2.sf(ratio, 3) < 0.05
    assert disagreements < 6


def test_comparisons_subgroups_and_folds():
    y, p = forecasts(200, 2, 13)
    other = expit(2 * logit(p))
    with pytest.warns(UserWarning, match="calibration_slope is best at 1"):
        compared = compare(y, {"a": p, "b": other}, measures="calibration_slope")
    value, both = compared.differences[0].value, [e.value for e in compared.estimates.values()]
    assert value == pytest.approx(both[0] - both[1])
    assert both[1] == pytest.approx(both[0] / 2)
    assert compare_subgroups(
        y, p, np.arange(200) % 2, measures="observed_expected_ratio"
    ).differences
    folded = estimate("calibration_intercept", y, p, folds=np.arange(200) % 4)
    inside = [MEASURES["calibration_intercept"](y[f::4], p[f::4]) for f in range(4)]
    assert folded.value == pytest.approx(np.mean(inside))


def test_uncertainty_has_the_error_of_the_class_sizes_alone():
    y, p = forecasts(300, 2, 4)
    found = estimate("brier_uncertainty", y, p)
    share = y.mean()
    error = abs(1 - 2 * share) * np.sqrt(share * (1 - share) / len(y))
    assert found.standard_error == pytest.approx(error, rel=0.01)
    assert not found.warnings
    assert found.interval[0] < found.value < found.interval[1]
    fixed = estimate("brier_uncertainty", y, p, stratify=True)
    assert fixed.interval == pytest.approx((found.value, found.value))


@pytest.mark.parametrize("measure", ["brier_miscalibration", "expected_calibration_error"])
def test_bootstrap_intervals_of_biased_measures_hold_the_value(measure):
    y, p = forecasts(200, 3, 5)
    for folds in (None, np.arange(len(y)) % 5):
        found = estimate(measure, y, p, method=dmfroc.Bootstrap(100), folds=folds)
        assert found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize(
    "make", [measures.brier_miscalibration, measures.integrated_calibration_index]
)
def test_each_class_of_the_same_predictions_has_its_own_value(make):
    y, p = forecasts(90, 3, 1)
    predictions = Predictions.from_arrays(y, p)
    for label in [0, 1, 2, 0]:
        assert make(pos_label=label)(predictions) == make(pos_label=label)(y, p)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_interval_of_uncertainty_reaches_the_maximum_of_equal_classes(n_classes):
    """Samples lie below the maximum, and their derivative nearly vanishes there."""
    rng = np.random.default_rng(0)
    covers = 0
    for _ in range(100):
        forecasts = rng.dirichlet(np.ones(n_classes), size=150)
        true = rng.integers(n_classes, size=150)
        found = estimate("brier_uncertainty", true, forecasts)
        covers += found.interval[1] > (1 - 1 / n_classes) / 2 - 1e-5
    assert covers >= 85
