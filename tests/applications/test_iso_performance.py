"""Operating points of binary classifiers: stored numbers, brute force, and the hull."""

import itertools

import numpy as np
import pytest
from golden import golden
from hypothesis import given
from hypothesis import strategies as st
from prediction_samples import exactly
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import accuracy_score, roc_curve

from dmfroc import Predictions
from dmfroc.applications import (
    operating_point,
    optimal_operating_points,
    randomized_threshold,
    skew_sensitive_accuracy,
)
from dmfroc.applications.iso_performance import binary_points


def numbers(values):
    """Read stored numbers, where infinity and NaN are words."""
    return np.array(values, dtype=float)


def assert_close(value, case, key):
    expected = numbers(case["expected"][key])
    np.testing.assert_allclose(value, expected, rtol=0, atol=case["tolerance"], err_msg=key)


def conditions(inputs):
    """Translate the class totals and costs of a stored case."""
    found = {name: inputs[name] for name in ("cost_fp", "cost_fn") if name in inputs}
    if "pos_weight" in inputs:
        total = inputs["pos_weight"] + inputs["neg_weight"]
        found["prevalence"] = inputs["pos_weight"] / total
    return found


@pytest.mark.parametrize("case", golden("threshold_selection"))
def test_optima(case):
    y, s = case["inputs"]["labels"], case["inputs"]["scores"]
    given_conditions = conditions(case["inputs"])
    found = optimal_operating_points(y, s, **given_conditions)
    assert_close(found.thresholds, case, "optimal_thresholds")
    assert_close([point.fpr for point in found.points], case, "optimal_fpr")
    assert_close([point.tpr for point in found.points], case, "optimal_tpr")
    accuracies = [point.accuracy for point in found.points]
    assert_close(accuracies, case, "expected_accuracy_at_optimum")
    assert_close(found.expected_cost, case, "expected_cost_at_optimum")
    assert_close(found.slope, case, "slope_roc")
    if "prevalence" not in given_conditions:  # the stored numbers leave it open otherwise
        assert_close(found.lift_slope, case, "slope_lift")
    at_half = operating_point(y, s, 0.5)
    assert_close(at_half.accuracy, case, "accuracy_at_half")
    hull = binary_points(Predictions.from_arrays(y, s))
    on_hull = np.isin(found.thresholds, hull.thresholds[hull.hull_vertices()]).any()
    assert on_hull == case["expected"]["optimum_on_hull"]


@pytest.mark.parametrize("case", golden("roc_curves"))
def test_points_hull_and_tangents(case):
    y, s = np.array(case["inputs"]["labels"]), np.array(case["inputs"]["scores"])
    points = binary_points(Predictions.from_arrays(y, s))
    assert_close(points.thresholds, case, "thresholds")
    assert_close(points.true_positives, case, "tp")
    assert_close(points.false_positives, case, "fp")
    vertices = points.hull_vertices()
    assert_close(points.thresholds[vertices], case, "hull_thresholds")
    fpr, tpr = points.false_positive_rate[vertices], points.true_positive_rate[vertices]
    assert_close(fpr, case, "hull_fpr")
    assert_close(tpr, case, "hull_tpr")
    assert_close(np.trapezoid(tpr, fpr), case, "auch")
    with np.errstate(divide="ignore"):
        assert_close(np.diff(tpr) / np.diff(fpr), case, "hull_slopes")
    # Informedness is the gain where both classes weigh the same
    balanced = optimal_operating_points(y, s, prevalence=0.5)
    assert_close(balanced.thresholds, case, "max_informedness_thresholds")
    assert_close(balanced.points[0].tpr - balanced.points[0].fpr, case, "max_informedness")
    accuracies = [operating_point(y, s, t).accuracy for t in points.thresholds]
    assert_close(accuracies, case, "accuracy")
    assert optimal_operating_points(y, s).points[0].accuracy == pytest.approx(max(accuracies))


@pytest.mark.parametrize("case", golden("roc_curves"))
def test_slopes_of_the_hull_are_calibrated_scores(case):
    y, s = np.array(case["inputs"]["labels"]), np.array(case["inputs"]["scores"])
    points = binary_points(Predictions.from_arrays(y, s))
    vertices = points.hull_vertices()
    positive = np.diff(points.true_positives[vertices])
    fractions = positive / (positive + np.diff(points.false_positives[vertices]))
    assert_close(fractions, case, "hull_calibrated_c")
    calibrated = IsotonicRegression().fit_transform(s, y)
    segment = np.searchsorted(-points.thresholds[vertices], -s, side="left") - 1
    np.testing.assert_allclose(fractions[segment], calibrated, atol=1e-12)


few_scores = st.integers(0, 6).map(lambda x: x / 8)
samples = st.lists(st.tuples(st.booleans(), few_scores, st.integers(1, 3)), min_size=2).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)
costs = st.integers(1, 9)
prevalences = st.none() | st.floats(0.05, 0.95)


def split(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@given(samples, costs, costs, prevalences)
def test_optima_by_brute_force(rows, cost_fp, cost_fn, prevalence):
    y, s, w = split(rows)
    found = optimal_operating_points(
        y, s, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence, sample_weight=w
    )
    share = w[y].sum() / w.sum() if prevalence is None else prevalence
    thresholds = np.array([np.inf, *np.unique(s)[::-1]])
    cost = [
        share * cost_fn * np.average(s[y] < t, weights=w[y])
        + (1 - share) * cost_fp * np.average(s[~y] >= t, weights=w[~y])
        for t in thresholds
    ]
    best = thresholds[np.array(cost) < np.min(cost) + 1e-10]
    np.testing.assert_array_equal(found.thresholds, best)
    np.testing.assert_allclose([p.expected_cost for p in found.points], np.min(cost), atol=1e-12)
    assert found.expected_utility == pytest.approx(cost[0] - np.min(cost), abs=1e-12)
    assert found.threshold() == best[0]
    assert found.threshold(tie_break="lowest") == best[-1]
    points = binary_points(Predictions.from_arrays(y, s, sample_weight=w))
    assert np.isin(points.thresholds[points.hull_vertices()], best).any()


@given(samples, costs, costs, prevalences)
def test_tangents_leave_all_points_below(rows, cost_fp, cost_fn, prevalence):
    y, s, w = split(rows)
    found = optimal_operating_points(
        y, s, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence, sample_weight=w
    )
    points = binary_points(Predictions.from_arrays(y, s, sample_weight=w))
    best = found.points[0]
    line = best.tpr + found.slope * (points.false_positive_rate - best.fpr)
    assert (points.true_positive_rate <= line + 1e-9 * (1 + found.slope)).all()
    rate = (points.true_positives + points.false_positives) / w.sum()
    at_best = points.thresholds == best.threshold
    lift_line = points.true_positives[at_best] + found.lift_slope * (rate - rate[at_best])
    assert (points.true_positives <= lift_line + 1e-9 * w.sum()).all()


@given(samples, costs, costs)
def test_midpoints_decide_alike(rows, cost_fp, cost_fn):
    y, s, w = split(rows)
    found = optimal_operating_points(y, s, cost_fp=cost_fp, cost_fn=cost_fn, sample_weight=w)
    for threshold, midpoint in zip(found.thresholds, found.midpoints, strict=True):
        np.testing.assert_array_equal(s >= threshold, s >= midpoint)
        assert midpoint < threshold or np.isinf(threshold) or threshold == s.min()


def test_midpoint_of_neighbouring_floats_excludes_the_lower():
    upper = np.nextafter(0.5, 1)
    found = optimal_operating_points([0, 1], [0.5, upper])
    assert found.midpoints == (upper,)


@given(samples)
def test_points_are_those_of_roc_curve_and_lie_below_the_hull(rows):
    labels, s, w = split(rows)
    points = binary_points(Predictions.from_arrays(labels, s, sample_weight=w))
    fpr, tpr, thresholds = roc_curve(labels, s, sample_weight=w, drop_intermediate=False)
    np.testing.assert_array_equal(points.thresholds, thresholds)
    np.testing.assert_allclose(points.false_positive_rate, fpr, atol=1e-12)
    np.testing.assert_allclose(points.true_positive_rate, tpr, atol=1e-12)
    vertices = points.hull_vertices()
    x, y = points.false_positives, points.true_positives
    for i, j in itertools.pairwise(vertices):
        assert ((x[j] - x[i]) * (y - y[i]) <= (y[j] - y[i]) * (x - x[i])).all()
    turns = np.diff(np.arctan2(np.diff(tpr[vertices]), np.diff(fpr[vertices])))
    assert (turns < 0).all()


@given(samples)
def test_fractional_weights_give_the_same_hull(rows):
    y, s, w = split(rows)
    whole, thirds = (
        binary_points(Predictions.from_arrays(y, s, sample_weight=weights))
        for weights in (w, w / 3)
    )
    np.testing.assert_array_equal(whole.hull_vertices(), thirds.hull_vertices())


def test_weights_are_copied_rows():
    y, s = [0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.2, 0.8]
    w = [3, 1, 2, 4, 0]
    weighted = optimal_operating_points(y, s, cost_fp=2, sample_weight=[3, 1, 2, 4, 0])
    copied = optimal_operating_points(np.repeat(y, w), np.repeat(s, w), cost_fp=2)
    assert weighted == copied


def test_observations_without_weight_make_no_point():
    y, s, w = [0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5], [1, 0, 1, 1, 0]
    points = binary_points(Predictions.from_arrays(y, s, sample_weight=w))
    assert points.thresholds.tolist() == [np.inf, 0.4, 0.3, 0.1]


def test_ties_survive_rounding_of_costs():
    y, s = [1, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5]
    assert 0.3 * 1 != 0.3 * 2 - 0.1 * 3
    found = optimal_operating_points(y, s, cost_fp=0.1, cost_fn=0.3)
    assert found.thresholds.tolist() == [0.9, 0.5]


def test_two_columns_and_swapped_labels():
    y, s = np.array(list("nnppnp")), np.array([0.2, 0.6, 0.5, 0.9, 0.1, 0.4])
    one = optimal_operating_points(y, s)
    assert optimal_operating_points(y, np.stack([1 - s, s], axis=1)) == one
    assert optimal_operating_points(Predictions.from_arrays(y, s)) == one
    swapped = optimal_operating_points(y, 1 - s, labels=["p", "n"])
    assert swapped.expected_cost == pytest.approx(one.expected_cost)
    assert swapped.points[0].tpr == pytest.approx(1 - one.points[-1].fpr)


@given(samples, st.floats(-0.5, 1.5))
def test_operating_point_counts_predictions(rows, threshold):
    y, s, w = split(rows)
    point = operating_point(y, s, threshold, cost_fp=3, sample_weight=w)
    predicted = s >= threshold
    assert point.accuracy == pytest.approx(accuracy_score(y, predicted, sample_weight=w))
    assert point.bias == pytest.approx(np.average(predicted, weights=w))
    loss = np.where(predicted & ~y, 3, np.where(~predicted & y, 1, 0))
    assert point.expected_cost == pytest.approx(np.average(loss, weights=w))


@given(
    samples,
    st.sampled_from(["fpr", "tpr", "bias"]),
    st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1),
)
def test_randomized_threshold_meets_its_target_on_the_hull(rows, name, target):
    y, s, w = split(rows)
    found = randomized_threshold(y, s, sample_weight=w, **{name: target})
    assert 0 <= found.probability < 1
    assert found.strict >= found.lenient
    mixed = [
        found.probability * getattr(lenient, rate) + (1 - found.probability) * getattr(strict, rate)
        for strict, lenient in [
            [operating_point(y, s, t, sample_weight=w) for t in (found.strict, found.lenient)]
        ]
        for rate in ("fpr", "tpr", "bias")
    ]
    np.testing.assert_allclose(mixed, [found.fpr, found.tpr, found.bias], atol=1e-12)
    assert getattr(found, name) == pytest.approx(target, abs=1e-12)
    points = binary_points(Predictions.from_arrays(y, s, sample_weight=w))
    # No mixture of two points of the curve does better at the same target
    rates = {"fpr": points.false_positive_rate, "tpr": points.true_positive_rate}
    rates["bias"] = (points.true_positives + points.false_positives) / w.sum()
    for i in range(len(points.thresholds)):
        for j in range(i, len(points.thresholds)):
            low, high = rates[name][[i, j]]
            if low <= target <= high:
                part = (target - low) / (high - low) if high > low else 0.0
                fpr, tpr = ((1 - part) * rates[r][i] + part * rates[r][j] for r in ("fpr", "tpr"))
                assert tpr - fpr <= found.tpr - found.fpr + 1e-9


def test_randomized_predictions_have_the_expected_rates():
    generator = np.random.default_rng(5)
    y = np.repeat([0, 1], [400, 600])
    s = np.round(generator.normal(y, 1.0), 1)
    found = randomized_threshold(y, s, fpr=0.2)
    assert 0.1 < found.probability < 0.9
    n_draws = 400
    predicted = np.stack([found.predict(s, random_state=generator) for _ in range(n_draws)])
    rate = predicted.mean(axis=0)
    assert set(np.unique(rate[(s >= found.strict) | (s < found.lenient)])) == {0.0, 1.0}
    between = (s >= found.lenient) & (s < found.strict)
    # Independent draws for each observation: five standard errors
    margin = 5 * np.sqrt(0.25 / (n_draws * between.sum()))
    assert rate[between].mean() == pytest.approx(found.probability, abs=margin)
    assert rate[y == 0].mean() == pytest.approx(found.fpr, abs=margin)
    assert rate[y == 1].mean() == pytest.approx(found.tpr, abs=margin)
    assert np.ptp(predicted[:, between].mean(axis=1)) > 0
    same = [found.predict(s, random_state=3) for _ in range(2)]
    np.testing.assert_array_equal(*same)


def test_randomized_predictions_are_labels():
    y, s = ["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8]
    found = randomized_threshold(y, s, tpr=0.5)
    assert found.strict == found.lenient == 0.8
    assert found.predict([0.9, 0.2]).tolist() == ["yes", "no"]
    assert found.predict([[0.1, 0.9], [0.8, 0.2]]).tolist() == ["yes", "no"]


@pytest.mark.parametrize("case", golden("threshold_selection"))
@pytest.mark.parametrize("c", [0.1, 0.37, 0.7])
def test_skew_sensitive_accuracy_has_the_optima_of_its_costs(case, c):
    y, s = case["inputs"]["labels"], case["inputs"]["scores"]
    points = binary_points(Predictions.from_arrays(y, s))
    accuracy = skew_sensitive_accuracy(
        points.true_positive_rate, points.false_positive_rate, c=c, prevalence=np.mean(y)
    )
    found = optimal_operating_points(y, s, cost_fp=c, cost_fn=1 - c)
    best = points.thresholds[accuracy > accuracy.max() - 1e-10]
    np.testing.assert_array_equal(found.thresholds, best)
    assert accuracy.max() == pytest.approx(
        2 * ((1 - c) * np.mean(y) + c * (1 - np.mean(y)) - found.expected_cost)
    )


def test_skew_sensitive_accuracy_agrees_with_the_calibration_map():
    """Both ends of a hull segment are equally good at its calibrated score, not as printed."""
    case = next(p.values[0] for p in golden("roc_curves") if p.id.endswith("fawcett_20"))
    fpr, tpr = (numbers(case["expected"][f"hull_{name}"]) for name in ("fpr", "tpr"))
    c = numbers(case["expected"]["hull_calibrated_c"])
    ends = [
        skew_sensitive_accuracy(tpr[part], fpr[part], c=c, prevalence=0.5)
        for part in (slice(None, -1), slice(1, None))
    ]
    np.testing.assert_allclose(*ends, atol=1e-12)
    printed = [
        skew_sensitive_accuracy(tpr[part], fpr[part], c=1 - c, prevalence=0.5)
        for part in (slice(None, -1), slice(1, None))
    ]
    assert np.abs(printed[0] - printed[1]).max() > 0.1
    # The worked example at c = 0.7
    y, s = case["inputs"]["labels"], case["inputs"]["scores"]
    assert optimal_operating_points(y, s, cost_fp=0.7, cost_fn=0.3).thresholds.tolist() == [0.54]
    assert optimal_operating_points(y, s, cost_fp=0.3, cost_fn=0.7).thresholds.tolist() == [0.3]


def test_large_counts_are_exact():
    """Two slopes that differ by less than the rounding of fractional weights are told apart."""
    n = 3_000_000_000_019
    y, s = [0, 1, 0, 1], [0.4, 0.4, 0.2, 0.2]
    nearly = binary_points(Predictions.from_arrays(y, s, sample_weight=[n, n + 1, n, n]))
    assert nearly.hull_vertices().tolist() == [0, 1, 2]
    straight = binary_points(Predictions.from_arrays(y, s, sample_weight=[n, n, n, n]))
    assert straight.hull_vertices().tolist() == [0, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: optimal_operating_points([0, 1, 2], np.eye(3)),
            ValueError,
            "y_true and y_score have 3 classes, but an operating point on a ROC curve needs two; "
            "pass one class against the rest, or select class weights with select_class_weights",
        ),
        (
            lambda: optimal_operating_points([0, 1], [0.1, 0.2], prevalence=1.0),
            ValueError,
            "prevalence must lie strictly between 0 and 1, but it is 1.0; for class totals P and "
            "N pass P / (P + N)",
        ),
        (
            lambda: optimal_operating_points([0, 1], [0.1, 0.2], cost_fn=-1.0),
            ValueError,
            "cost_fn must be a finite number >= 0, but it is -1.0",
        ),
        (
            lambda: operating_point([0, 1], [0.1, 0.2], 0.5, cost_fp=0, cost_fn=0),
            ValueError,
            "cost_fp and cost_fn are both 0: then every threshold is optimal",
        ),
        (
            lambda: operating_point([0, 1], [0.1, 0.2], float("nan")),
            ValueError,
            "threshold must be a number or infinite, but it is NaN",
        ),
        (
            lambda: randomized_threshold([0, 1], [0.1, 0.2]),
            TypeError,
            "exactly one of fpr, tpr and bias must be given, but none is",
        ),
        (
            lambda: randomized_threshold([0, 1], [0.1, 0.2], fpr=0.1, tpr=0.2),
            TypeError,
            "exactly one of fpr, tpr and bias must be given, but ['fpr', 'tpr'] are",
        ),
        (
            lambda: randomized_threshold([0, 1], [0.1, 0.2], bias=1.5),
            ValueError,
            "bias must lie in [0, 1], but it is 1.5",
        ),
        (
            lambda: skew_sensitive_accuracy(0.5, 1.2, c=0.5, prevalence=0.5),
            ValueError,
            "fpr must lie in [0, 1], but it is 1.2",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=exactly(message)):
        call()


def test_bad_choices():
    found = optimal_operating_points([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="tie_break must be one of"):
        found.threshold(tie_break="first")


def test_targets_at_the_ends_are_met_by_the_best_vertex():
    y, s = [0, 1], [0.1, 0.9]
    assert randomized_threshold(y, s, tpr=1).fpr == 0
    assert randomized_threshold(y, s, fpr=0).tpr == 1
    assert randomized_threshold(y, s, bias=0.5).strict == 0.9


def test_thresholds_at_random_are_for_the_second_of_the_labels():
    rng = np.random.default_rng(0)
    y, scores = np.repeat(["a", "b"], 30), rng.normal(size=60)
    swapped = randomized_threshold(y, scores, fpr=0.2, labels=["b", "a"])
    assert swapped.labels == ("b", "a")
    other = randomized_threshold((y == "a").astype(int), scores, fpr=0.2)
    for name in ("strict", "lenient", "probability", "fpr", "tpr", "bias"):
        assert getattr(swapped, name) == getattr(other, name)


@pytest.mark.parametrize("direction", [">=", "<="])
def test_a_score_of_single_precision_meets_a_round_threshold(direction):
    twentieths = np.arange(1, 20) / 20
    y, scores = np.arange(95) % 2, np.repeat(twentieths, 5)
    for threshold in [*twentieths, -1e300, 1e300, np.inf]:
        found, expected = (
            operating_point(y, x, threshold, direction=direction)
            for x in (scores.astype("f4"), scores)
        )
        assert (found.fpr, found.tpr, found.threshold) == (expected.fpr, expected.tpr, threshold)
