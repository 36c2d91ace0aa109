"""Curves against stored numbers of the papers, through the public functions."""

import numpy as np
import pytest
from golden import assert_golden, golden

from dmfroc import applications, curves


def inputs(case):
    return case["inputs"]["labels"], case["inputs"]["scores"]


@pytest.mark.parametrize("case", golden("roc_curves"))
def test_roc(case):
    roc, points = curves.roc_curve(*inputs(case)), curves.operating_points(*inputs(case))
    boc, pr = curves.boc_curve(*inputs(case)), curves.precision_recall_curve(*inputs(case))
    hull = curves.convex_hull(roc)
    best, accuracy = boc.maximum(), curves.accuracy_curve(*inputs(case))
    dual = points.dual()
    dual_informedness = dual.informedness
    found = {
        "thresholds": roc.thresholds,
        "tp": points.true_positives,
        "fp": points.false_positives,
        "tpr": roc.y,
        "fpr": roc.x,
        "a_roc1": roc.integral("left"),
        "a_roc2": roc.area,
        "a_roc_upper": roc.integral("right"),
        "gini": 2 * roc.area - 1,
        "hull_fpr": hull.x,
        "hull_tpr": hull.y,
        "hull_thresholds": hull.thresholds,
        "auch": hull.area,
        "hull_slopes": hull.slopes,
        "hull_calibrated_c": hull.scores,
        "informedness": boc.y,
        "max_informedness": best.value,
        "max_informedness_thresholds": best.thresholds,
        "bias": points.bias,
        "auboc": boc.area,
        "aubift": curves.bift_curve(*inputs(case)).area,
        "auboc_dual": np.trapezoid(dual_informedness, dual.false_positive_rate),
        "consistency": curves.certainty_consistency(points).consistency,
        "consistency_hull": curves.certainty_consistency(points, hull=True).consistency,
        "accuracy": accuracy.y,
        "expected_accuracy_uniform_rate": accuracy.area,
        "cohen_kappa": points.cohen_kappa,
        "auk_cohen_trapezoid": curves.area_under_kappa(points, method="trapezoid"),
        "auk_cohen_exact": curves.area_under_kappa(points),
        "average_precision": pr.integral("right"),
        "aupr_davis_goadrich": pr.area,
    }
    assert found.keys() == case["expected"].keys()
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("prg_curves"))
def test_prg(case):
    prg = curves.prg_curve(*inputs(case))
    points, hull = prg.points, curves.convex_hull(prg)
    best = curves.best_f_gain(points)
    found = {
        "thresholds": prg.thresholds,
        "recall_gain": prg.x,
        "precision_gain": prg.y,
        "fg1": curves.f_gains(points),
        "alpha": applications.operating_conditions(points),
        "y0": curves.crossing_gain(points),
        "auprg": prg.area,
        "expected_fg1": curves.expected_f_gain(points),
        "expected_inverse_f1": curves.expected_inverse_f(points),
        "hull_recall_gain": hull.x,
        "hull_precision_gain": hull.y,
        "hull_thresholds": hull.thresholds,
        "hull_calibrated_d": hull.scores,
        "max_fg1": best.value,
        "max_fg1_thresholds": best.thresholds,
        "max_f1": curves.f_from_gain(best.value, points.prevalence),
    }
    assert found.keys() == case["expected"].keys()
    for key, value in found.items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("prg_points"))
def test_prg_points(case):
    table = case["inputs"]
    assert_golden(applications.precision_gain(**table), case, "precision_gain")
    assert_golden(applications.recall_gain(**table), case, "recall_gain")
    for key, beta in (("fg1", 1), ("fg2", 2), ("fg0.5", 0.5)):
        assert_golden(applications.f_gain(**table, beta=beta), case, key)


@pytest.mark.parametrize("case", golden("prg_theorem1_interpolation"))
def test_theorem_1(case):
    values = case["inputs"]
    mixture = applications.interpolate_gains(values["c1"], values["c2"], values["lam"])
    assert mixture._asdict().keys() == case["expected"].keys()
    for key, value in mixture._asdict().items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("prg_theorem4_same_fbeta"))
def test_theorem_4(case):
    values = case["inputs"]
    same = applications.same_f_beta(values["p1"], values["r1"], values["p2"], values["r2"])
    assert same._asdict().keys() == case["expected"].keys()
    for key, value in same._asdict().items():
        assert_golden(value, case, key)


@pytest.mark.parametrize("case", golden("lift_areas"))
def test_lift(case):
    counts = curves.lift_curve(*inputs(case), scale="counts")
    recall = curves.lift_curve(*inputs(case))
    roc, truth = curves.roc_curve(*inputs(case)), np.array(case["inputs"]["labels"])
    perfect = curves.lift_curve(truth, truth, scale="counts")
    worst = curves.lift_curve(truth, 1 - truth, scale="counts")
    found = {
        "a_roc1": roc.integral("left"),
        "a_roc2": roc.area,
        "bias": recall.x,
        "aulift": recall.area,
        "aulift_fallout": np.trapezoid(roc.x, recall.x),
        "a_lift1": counts.integral("left"),
        "a_lift2": counts.area,
        "a_lift2_perfect": perfect.area,
        "a_lift2_chance": np.trapezoid(counts.chance.y, counts.chance.x),
        "a_lift2_worst": worst.area,
    }
    assert found.keys() == case["expected"].keys()
    for key, value in found.items():
        assert_golden(value, case, key)
    gains = curves.cumulative_gains_curve(*inputs(case))
    assert gains.area == recall.area


@pytest.mark.parametrize("case", golden("powers_charts"))
def test_powers_charts(case):
    s = case["inputs"]["s"]
    charts = {
        "pn": curves.pn_curve(*inputs(case)),
        "delta_pn": curves.delta_pn_curve(*inputs(case)),
        "roc": curves.roc_curve(*inputs(case)),
        "boc": curves.boc_curve(*inputs(case)),
        "lift": curves.lift_curve(*inputs(case)),
        "bift": curves.bift_curve(*inputs(case)),
        "lift_counts": curves.lift_curve(*inputs(case), scale="counts"),
        "pr": curves.precision_recall_curve(*inputs(case)),
        "reciprocal_pr": curves.reciprocal_precision_recall_curve(*inputs(case)),
        "log_pr": curves.log_precision_recall_curve(*inputs(case)),
        "bprd_raw": curves.bprd_curve(*inputs(case), s=0),
        "bprd": curves.bprd_curve(*inputs(case), s=s),
        "bird": curves.bird_curve(*inputs(case), s=s),
    }
    assert {"thresholds", *charts} == case["expected"].keys()
    for key, curve in charts.items():
        assert_golden(np.column_stack([curve.x, curve.y]), case, key)
        assert_golden(curve.thresholds, case, "thresholds")


@pytest.mark.parametrize("case", golden("calibration_bins"))
def test_calibration(case):
    values = case["inputs"]
    curve = curves.calibration_curve(values["labels"], values["probs"], n_bins=values.get("n_bins"))
    found = {
        "counts": curve.counts,
        "mean_predicted": curve.x,
        "fraction_positive": curve.y,
        "ece": curve.expected_error,
        "mce": curve.gaps.max(),
        "brier": curve.brier,
    }
    assert case["expected"].keys() - found.keys() <= {"counts_all_bins"}
    for key in case["expected"].keys() & found.keys():
        assert_golden(found[key], case, key)


@pytest.mark.parametrize("case", golden("calibration_loess"))
def test_loess(case):
    values = case["inputs"]
    options = {"span": values["span"], "degree": values.get("degree", 1)}
    fit = curves.loess(values["x"], values["y"], values["at"], **options)
    assert_golden(fit.fitted, case, "fitted")
    assert_golden(fit.n_neighbors, case, "k")
    curve = curves.loess_calibration_curve(values["y"], values["x"], at=values["at"], **options)
    np.testing.assert_array_equal(curve.y, np.clip(fit.fitted, 0, 1))  # a probability


@pytest.mark.parametrize("case", golden("isotonic_calibration"))
def test_isotonic(case):
    curve = curves.isotonic_calibration_curve(*inputs(case))
    assert_golden(curve.x, case, "scores")
    assert_golden(curve.y, case, "calibrated")


@pytest.mark.parametrize("case", golden("roc_from_calibration"))
def test_roc_from_calibration(case):
    values = case["inputs"]
    curve = applications.roc_from_calibration(values["p"], values["rho"])
    assert_golden(curve.area, case, "a_roc2")
    share = values["P"] / (values["P"] + values["N"])
    assert curve.points.positives == pytest.approx(share)


def test_numbers_printed_in_the_papers():
    """Vuk and Curk's tables 2 and 3, and the lift areas of the latter."""
    table2 = curves.roc_curve([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2])
    table3 = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2]
    assert table2.integral("left") == pytest.approx(5 / 6)
    assert table2.area == pytest.approx(11 / 12)
    assert curves.roc_curve(*table3).integral("left") == pytest.approx(7 / 9)
    assert curves.roc_curve(*table3).area == pytest.approx(5 / 6)
    lift = curves.lift_curve(*table3, scale="counts")
    assert lift.integral("left") == pytest.approx(5 / 3)
    assert lift.area == pytest.approx(2)
